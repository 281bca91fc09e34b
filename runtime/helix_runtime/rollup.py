"""From counted units to the verdict of one criterion over them.

A `Bucket` counts the units of one criterion in one dataset; buckets add up, so the
same rule decides a dataset, a job and the whole subject. `settle` is that rule.
"""

from collections.abc import Iterable, Sequence
from math import fsum, isfinite
from typing import TYPE_CHECKING, Final, Literal

from .criterion import Aggregate
from .record import record
from .spread import SpreadRule, contradict
from .stats import bootstrap_by_case, pass_hat_k, wilson

if TYPE_CHECKING:
    from .baseline.difference import Compared

CriterionVerdict = Literal["pass", "fail", "indeterminate"]
Range = tuple[float, float]

SCALE: Final = 10**12
"""Measured values are added in units of 1e-12, as integers: exact in any order."""
FLAPS: Final = "repeats must agree before a rate means anything"
"""What is said of a criterion that would pass, but for cases that flap."""
IDLE: Final = "Exercised in 0 of "
"""How the critique of a criterion begins that passes by runs that never put it to the test."""
NO_CASE_IN_SCOPE: Final = "no case is in its scope: every unit is na"
NOTHING_GATES: Final = "nothing gates here: no CRIT or HIGH criterion judges its cases"


@record
class Counts:
    """How many units had each result. `missing` units have no verdict at all."""

    passed: int = 0
    failed: int = 0
    uncertain: int = 0
    na: int = 0
    error: int = 0
    missing: int = 0

    @property
    def decided(self) -> int:
        """Units with a pass or a fail."""
        return self.passed + self.failed

    @property
    def open(self) -> int:
        """Units that could still be a pass or a fail."""
        return self.uncertain + self.error + self.missing

    @property
    def judged(self) -> int:
        """Units that count: all but `na`."""
        return self.decided + self.open

    @property
    def total(self) -> int:
        """All units."""
        return self.judged + self.na


class Bucket:
    """The units of one criterion in one dataset, counted.

    `results` counts by result and "missing"; `later` counts decided units whose
    repeat is not the first. `cases` counts, where repeats are kept together, the
    cases of each outcome (passes, fails, open units); `wavering` counts further cases,
    on which the judge alone contradicts itself. The rest is for means: the sum
    (in units of 1/SCALE), number and range of measured values, and the decided units
    that have none.
    """

    __slots__ = (
        "cases",
        "highest",
        "later",
        "lowest",
        "plain_fails",
        "plain_passes",
        "results",
        "value_count",
        "value_sum",
        "wavering",
    )

    def __init__(self) -> None:
        self.results = dict.fromkeys(
            ("pass", "fail", "uncertain", "na", "error", "missing"), 0
        )
        self.later = 0
        self.cases: dict[tuple[int, int, int], int] = {}
        self.wavering = 0
        self.value_sum = 0
        self.value_count = 0
        self.lowest = 0.0
        self.highest = 1.0
        self.plain_passes = 0
        self.plain_fails = 0

    def add_case(self, passes: int, fails: int, still_open: int) -> None:
        """Count a finished case; one without a unit that counts is left out."""
        if passes or fails or still_open:
            outcome = (passes, fails, still_open)
            self.cases[outcome] = self.cases.get(outcome, 0) + 1

    def add_value(self, value: float | None, *, passed: bool) -> None:
        """Take in what a decided unit measured; not finite is not measured."""
        if value is not None and isfinite(value) and abs(value) < 1e290:
            self.value_sum += round(value * SCALE)
            self.value_count += 1
            self.lowest = min(self.lowest, value)
            self.highest = max(self.highest, value)
        elif passed:
            self.plain_passes += 1
        else:
            self.plain_fails += 1

    def flapping(self, ceiling: float) -> int:
        """Return how many cases have repeats that contradict each other by more."""
        return self.wavering + sum(
            count
            for (passes, fails, _), count in self.cases.items()
            if contradict(passes, fails, ceiling=ceiling)
        )

    def is_of_shares(self, passes: Aggregate) -> bool:
        """Whether a mean is one of shares, in which a pass is worth 1 and a fail 0.

        That is so where every value seen and the limit lie in [0, 1] and the mean must
        be high. Nothing says how high a time or a cost can be that nobody measured.
        """
        return (
            passes.operator in (">=", ">")
            and 0.0 <= passes.limit <= 1.0
            and self.lowest >= 0.0
            and self.highest <= 1.0
        )

    def counts(self) -> Counts:
        """Return the counts as a record."""
        found = self.results
        return Counts(
            passed=found["pass"],
            failed=found["fail"],
            uncertain=found["uncertain"],
            na=found["na"],
            error=found["error"],
            missing=found["missing"],
        )


def merged(buckets: Iterable[Bucket]) -> Bucket:
    """Return the sum of buckets; the same for every order."""
    whole = Bucket()
    for bucket in buckets:
        for result, count in bucket.results.items():
            whole.results[result] += count
        for outcome, count in bucket.cases.items():
            whole.cases[outcome] = whole.cases.get(outcome, 0) + count
        whole.later += bucket.later
        whole.wavering += bucket.wavering
        whole.value_sum += bucket.value_sum
        whole.value_count += bucket.value_count
        whole.lowest = min(whole.lowest, bucket.lowest)
        whole.highest = max(whole.highest, bucket.highest)
        whole.plain_passes += bucket.plain_passes
        whole.plain_fails += bucket.plain_fails
    return whole


@record(kw_only=True)
class Settled:
    """A criterion over some units.

    `rate` is the share of passes, the mean or pass^k over what is decided; None where
    nothing is. The threshold is about it, but for one against a baseline. `bounds` are
    the rate with every open unit counted as a fail and as a pass, None where that has
    no limit. `reason` says in words why the verdict is what it is. `flapping` counts the
    cases whose repeats contradict each other: those that keep it from passing, or, where
    it passes, those that it was let stand on.
    """

    verdict: CriterionVerdict
    counts: Counts
    rate: float | None
    bounds: Range | None
    reason: str
    flapping: int = 0


def settle(
    passes: Aggregate,
    bucket: Bucket,
    *,
    repeats: int,
    rule: SpreadRule,
    compared: "Compared | None" = None,
    datasets: Sequence[str] | None = None,
) -> Settled:
    """Return the verdict of a criterion over the units of a bucket.

    Fail where the number over decided units misses the threshold (or nothing that is
    open could make it meet it); else indeterminate where nothing is decided or the
    open units could still change the answer; else indeterminate where the repeats of
    cases contradict each other by more than the rule's ceiling: a rate over verdicts
    that flap means nothing. Else pass. `na` units don't count. `repeats` is how many
    repeats of a case are planned. Where the threshold is about the difference to a
    baseline, `compared` says how the units of these `datasets` (None is all) stand to
    its.
    """
    counts = bucket.counts()
    rate, reach, hindrance = _figures(passes, bucket, counts, repeats=repeats)
    verdict: CriterionVerdict
    flapping = 0
    of = counts.decided
    if passes.kind == "mean" and not bucket.is_of_shares(passes):
        of = bucket.value_count
    number, bounds, waiting = rate, reach, _units(counts.open)
    said = "" if number is None else _said(passes, counts, number, of=of)
    if passes.kind == "baseline":
        from .baseline.difference import difference_in, hindrance_of

        found = difference_in(compared, datasets)
        number, bounds, said = found.number, found.bounds, found.said
        waiting = found.waiting
        hindrance = hindrance_of(compared, found) if counts.judged else None
    if number is not None and not passes.holds(number):
        verdict = "fail"
        reason = f"{said}, {_needs(passes)}"
    elif counts.failed and bounds is not None and not any(map(passes.holds, bounds)):
        verdict = "fail"
        reason = f"{_units(counts.failed)} failed: {_needs(passes)}"
    elif number is None:
        verdict = "indeterminate"
        reason = hindrance or _nothing_decided(counts)
    elif hindrance is not None:
        verdict = "indeterminate"
        reason = hindrance
    elif bounds is None or not all(map(passes.holds, bounds)):
        verdict = "indeterminate"
        reason = f"{said}, but {waiting} still open could change that"
    else:
        verdict = "pass"
        reason = f"{said}, {_needs(passes)}"
        # The limit of a pass^k says itself how far runs may differ; judgements may not.
        is_of_repeats = passes.kind == "pass^k"
        flapping = bucket.wavering if is_of_repeats else bucket.flapping(rule.ceiling)
        if flapping and not rule.forced:
            verdict = "indeterminate"
            reason = f"{said}, {_flaps(flapping)}"
    return Settled(
        verdict=verdict,
        counts=counts,
        rate=rate,
        bounds=reach,
        reason=reason,
        flapping=flapping,
    )


_OF_PASSES: Final = ("rate", "baseline")


def interval(passes: Aggregate, bucket: Bucket, *, seed: str) -> Range | None:
    """Return the 95 % interval of the rate that `settle` returns.

    Wilson's for independent cases; with repeats kept together, resampled by case,
    seeded by `seed` and the counts. A mean of shares takes Wilson's too, which is wide
    enough for any values in [0, 1]; other values have no range to speak of, hence None.
    So has what is not decided at all.
    """
    if passes.kind == "pass^k":
        groups = [
            (pass_hat_k(p, p + f, passes.k), 1, count)
            for (p, f, _), count in bucket.cases.items()
            if p + f >= passes.k
        ]
        return _resampled(groups, seed=seed) if groups else None
    counts = bucket.counts()
    if not counts.decided:
        return None
    groups = [
        (float(p), p + f, count) for (p, f, _), count in bucket.cases.items() if p + f
    ]
    if passes.kind in _OF_PASSES and any(total > 1 for _, total, _ in groups):
        return _resampled(groups, seed=seed)
    # Repeats that are not kept together may say nothing new: only the first of a
    # case counts as independent.
    independent = sum(count for _, _, count in groups)
    independent = independent or max(1, counts.decided - bucket.later)
    number, _, _ = _figures(passes, bucket, counts, repeats=1)
    is_bounded = passes.kind in _OF_PASSES or bucket.is_of_shares(passes)
    if number is None or not is_bounded:
        return None
    return wilson(number * independent, independent)


def _resampled(groups: list[tuple[float, int, int]], *, seed: str) -> Range:
    return bootstrap_by_case(groups, seed=f"{seed}:{sorted(groups)}")


_Figures = tuple[float | None, Range | None, str | None]


def _figures(
    passes: Aggregate, bucket: Bucket, counts: Counts, *, repeats: int
) -> _Figures:
    """Return the number, its bounds, and what keeps it from passing whatever they are."""
    if passes.kind == "mean":
        return _mean(passes, bucket, counts)
    if passes.kind == "pass^k":
        return _pass_k(bucket, k=passes.k, repeats=repeats)
    if not counts.judged:
        return None, None, None
    bounds = (
        counts.passed / counts.judged,
        (counts.passed + counts.open) / counts.judged,
    )
    rate = counts.passed / counts.decided if counts.decided else None
    return rate, bounds, None


def _mean(passes: Aggregate, bucket: Bucket, counts: Counts) -> _Figures:
    """A mean of measured values.

    A decided unit that measured nothing counts 1 for a pass and 0 for a fail in a mean
    of shares; elsewhere its value, like that of an open unit, is unknown without limit,
    and the criterion can't pass while there is one.
    """
    mean: float | None = None
    if not bucket.is_of_shares(passes):
        if bucket.value_count:
            mean = bucket.value_sum / (bucket.value_count * SCALE)
        plain = bucket.plain_passes + bucket.plain_fails
        if plain:
            return mean, None, f"{_units(plain)} decided without a measured value"
        if mean is None or counts.open:
            return mean, None, None
        return mean, (mean, mean), None
    if not counts.judged:
        return None, None, None
    total = bucket.value_sum + bucket.plain_passes * SCALE
    bounds = (
        total / (counts.judged * SCALE),
        (total + counts.open * SCALE) / (counts.judged * SCALE),
    )
    if counts.decided:
        mean = total / (counts.decided * SCALE)
    return mean, bounds, None


def _pass_k(bucket: Bucket, *, k: int, repeats: int) -> _Figures:
    """The mean over cases of the unbiased estimate that k repeats all pass.

    A case with fewer than k finished repeats is under-sampled: it says nothing yet,
    and the criterion can't pass while there is one.
    """
    estimates: list[float] = []
    lows: list[float] = []
    highs: list[float] = []
    cases = short = 0
    for (passes, fails, still_open), count in sorted(bucket.cases.items()):
        cases += count
        decided = passes + fails
        if decided >= k:
            estimates.append(count * pass_hat_k(passes, decided, k))
        else:
            short += count
        at_worst = max(k, decided + still_open)
        at_best = max(at_worst, repeats)
        lows.append(count * pass_hat_k(passes, at_worst, k))
        highs.append(count * pass_hat_k(at_best - fails, at_best, k))
    if not cases:
        return None, None, None
    bounds = (fsum(lows) / cases, fsum(highs) / cases)
    hindrance = None
    if short:
        verb = "has" if short == 1 else "have"
        hindrance = (
            f"pass^{k} needs {k} finished repeats of each case: "
            f"{short} of {cases} {verb} fewer"
        )
    number = fsum(estimates) / (cases - short) if estimates else None
    return number, bounds, hindrance


def _needs(passes: Aggregate) -> str:
    if passes.kind == "rate" and passes.operator == ">=" and passes.limit == 1:
        return "and every one must"
    return f"needs {passes}"


def _said(passes: Aggregate, counts: Counts, number: float, *, of: int) -> str:
    decided = f"{counts.passed} of {counts.decided} decided units pass"
    if passes.kind == "mean":
        return f"the mean of {_units(of)} is {_shown(passes, number)}"
    if passes.kind == "pass^k":
        return f"pass^{passes.k} is {_shown(passes, number)} ({decided})"
    return decided


def _shown(passes: Aggregate, number: float) -> str:
    """Return a number in six digits, or in all where those would meet another answer."""
    short = f"{number:.6g}"
    same = passes.holds(float(short)) == passes.holds(number)
    return short if same else repr(number)


def _flaps(cases: int) -> str:
    what = "1 case flaps" if cases == 1 else f"{cases} cases flap"
    return f"but {what}: {FLAPS}"


def _nothing_decided(counts: Counts) -> str:
    if counts.judged:
        return f"no unit is decided, {_units(counts.open)} open"
    if counts.na:
        return NO_CASE_IN_SCOPE
    return "no case was run"


def _units(count: int) -> str:
    return "1 unit" if count == 1 else f"{count} units"
