"""The corrected rate: how much really passes, given how often the judge errs.

A judge that passes 80 % has not found that 80 % are good: it misses some, and lets
others through. How often is known from labels, and can be taken out of the rate again.
The 95 % interval carries both doubts, that of the labels and that of the verdicts.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from ..stats import RESAMPLES, drawn_again, wilson

if TYPE_CHECKING:
    from random import Random

NO_GAIN: Final = 0.01
"""Up to this TPR + TNR - 1 a judge tells nothing: guessing has 0, and worse has less."""

# How one case was judged against its labels: true passes, false fails, true fails and
# false passes. A case has more than one of them where several of its runs are labelled.
Outcome = tuple[int, int, int, int]
# How one case was judged: passes, and decided verdicts.
Observed = tuple[int, int]

# One case of every kind, beside those that there are: a judge that did not err on
# twenty labels may still err, and resampling alone would never see it.
_UNSEEN: Final[tuple[Outcome, ...]] = (
    (1, 0, 0, 0),
    (0, 1, 0, 0),
    (0, 0, 1, 0),
    (0, 0, 0, 1),
)
_UNSEEN_VERDICTS: Final[tuple[Observed, ...]] = ((1, 1), (0, 1))
_Case = TypeVar("_Case", Outcome, Observed)


def corrected_rate(observed: float, *, tpr: float, tnr: float) -> float | None:
    """Return the share that really passes, None where the judge tells nothing.

    `observed` is the share that the judge passes. (observed + TNR - 1) / (TPR + TNR -
    1), clipped to [0, 1]: W. J. Rogan and B. Gladen, Am. J. Epidemiol. 107 (1978),
    71-76.
    """
    gain = tpr + tnr - 1
    if gain <= NO_GAIN:
        return None
    return min(1.0, max(0.0, (observed + tnr - 1) / gain))


def rates(outcomes: Mapping[Outcome, int]) -> tuple[float | None, float | None]:
    """Return TPR and TNR over cases by outcome; None where no label is of the class."""
    tp, fn, tn, fp = (
        sum(outcome[place] * count for outcome, count in outcomes.items())
        for place in range(4)
    )
    return (
        tp / (tp + fn) if tp + fn else None,
        tn / (tn + fp) if tn + fp else None,
    )


def correct(
    outcomes: Mapping[Outcome, int], observed: Mapping[Observed, int], *, seed: str
) -> tuple[float, tuple[float, float]] | None:
    """Return the corrected rate and its 95 % interval, None where there is none.

    Both mappings count cases: by how they were judged against their labels, and by how
    they were judged in the run. The interval is the percentile bootstrap that
    resamples both by case, each with one more case of every kind than there is (as A.
    Agresti and B. Caffo do, Am. Stat. 54 (2000), 280-288), so that it never collapses.
    A resample in which the judge tells nothing counts as 0 at the lower end and as 1
    at the upper. It is never narrower than the doubt of the verdicts alone leaves it
    (Wilson over cases, corrected), nor than what so many cases can show at best.
    """
    from random import Random

    tpr, tnr = rates(outcomes)
    passes, decided = _sum(observed)
    if tpr is None or tnr is None or not decided:
        return None
    rate = corrected_rate(passes / decided, tpr=tpr, tnr=tnr)
    if rate is None:
        return None
    labelled = _with(outcomes, _UNSEEN)
    judged = _with(observed, _UNSEEN_VERDICTS)
    rng = Random(f"{seed}:{sorted(labelled.items())}:{sorted(judged.items())}")
    found = [_resampled(labelled, judged, rng) for _ in range(RESAMPLES)]
    lows = sorted(0.0 if one is None else one for one in found)
    highs = sorted(1.0 if one is None else one for one in found)
    tail = RESAMPLES // 40
    cases = sum(observed.values())
    alone = [
        corrected_rate(end, tpr=tpr, tnr=tnr) or 0.0
        for end in wilson(passes / decided * cases, cases)
    ]
    return rate, (
        min(rate, lows[tail - 1], *alone, wilson(cases, cases)[0]),
        max(rate, highs[RESAMPLES - tail], *alone, wilson(0, cases)[1]),
    )


def _resampled(
    labelled: Mapping[Outcome, int], judged: Mapping[Observed, int], rng: "Random"
) -> float | None:
    tpr, tnr = rates(_drawn(labelled, rng))
    passes, decided = _sum(_drawn(judged, rng))
    if tpr is None or tnr is None or not decided:
        return None
    return corrected_rate(passes / decided, tpr=tpr, tnr=tnr)


def _drawn(cases: Mapping[_Case, int], rng: "Random") -> dict[_Case, int]:
    return dict(zip(cases, drawn_again(list(cases.values()), rng), strict=True))


def _with(cases: Mapping[_Case, int], unseen: tuple[_Case, ...]) -> dict[_Case, int]:
    """The cases in one order, with one more of each kind that may have been missed."""
    found = dict(cases)
    for kind in unseen:
        found[kind] = found.get(kind, 0) + 1
    return dict(sorted(found.items()))


def _sum(observed: Mapping[Observed, int]) -> tuple[int, int]:
    passes = sum(each * count for (each, _), count in observed.items())
    decided = sum(each * count for (_, each), count in observed.items())
    return passes, decided
