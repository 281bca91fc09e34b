"""The pass rate of a run minus that of its baseline, over the cases that both have.

A case counts once on each side, by the share of its decided repeats that pass, so
that neither more repeats nor more runs of it weigh more. The difference is exact
until it is rounded, once, to a float.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import lcm
from typing import Final

from ..record import record
from ..stats import difference_by_case

Outcome = tuple[int, int, int]
"""The units of one case that pass, that fail and that are open."""
Pairs = Mapping[tuple[Outcome, Outcome], int]
"""How many cases came out so: now, and then."""

NO_BASELINE: Final = (
    "no baseline run: name one with `--baseline RUN`, or as `baseline` in evals.toml"
)
NO_PAIR: Final = "no case is decided both in this run and in the baseline"


@record(kw_only=True)
class Compared:
    """How the units of a criterion stand to those of a baseline.

    `digest` names the baseline; `pairs` are by the dataset of their case. `hindrance`
    says why nothing can be compared, where that is so. `worse` and `better` name the
    first cases that changed, `*_count` says how many did; `aside` says which cases have
    no pair, and why.
    """

    digest: str
    pairs: Mapping[str | None, Pairs]
    hindrance: str | None = None
    worse: tuple[str, ...] = ()
    worse_count: int = 0
    better: tuple[str, ...] = ()
    better_count: int = 0
    aside: tuple[str, ...] = ()

    def over(
        self, datasets: Iterable[str] | None
    ) -> dict[tuple[Outcome, Outcome], int]:
        """Return the pairs of some datasets, of all where None."""
        chosen = self.pairs.keys() if datasets is None else set(datasets)
        found: dict[tuple[Outcome, Outcome], int] = {}
        for dataset, pairs in self.pairs.items():
            if dataset in chosen:
                for pair, count in pairs.items():
                    found[pair] = found.get(pair, 0) + count
        return found

    def critique(self, reason: str, *, seed: str) -> str:
        """Return what the scorecard says of the comparison: numbers, then cases."""
        said = [f"{reason}."]
        interval = interval_of(self.over(None), seed=seed)
        if interval is not None:
            low, high = map(points, interval)
            said.append(
                f"Baseline {self.digest[:12]}; 95% interval of the difference {low} to "
                f"{high} points, resampled by case."
            )
        for many, verb, names in (
            (self.worse_count, "worse", self.worse),
            (self.better_count, "better", self.better),
        ):
            if many:
                what = "1 case" if many == 1 else f"{many:,} cases"
                more = "" if many == len(names) else ", …"
                said.append(f"{what} got {verb}: {', '.join(names)}{more}.")
        if self.aside:
            said.append(f"Not compared: {'; '.join(self.aside)}.")
        return " ".join(said)


@record(kw_only=True)
class Difference:
    """The difference over `cases` that are decided on both sides.

    `number` lies in [-1, 1], None where no case is decided on both; `bounds` count
    what is open as the worst (a fail now, a pass then) and the best, None without a
    pair. `undecided` is how many pairs have something open.
    """

    number: float | None
    bounds: tuple[float, float] | None
    now: float
    then: float
    cases: int
    undecided: int

    @property
    def waiting(self) -> str:
        """What is not decided, in words."""
        where = "that in this run or in the baseline"
        if self.undecided == 1:
            return f"1 case {where} is"
        return f"{self.undecided:,} cases {where} are"

    @property
    def said(self) -> str:
        """The difference in words, without what it needs."""
        over = "the 1 case" if self.cases == 1 else f"the {self.cases:,} cases"
        change = "no difference"
        if self.number:
            way = "higher" if self.number > 0 else "lower"
            change = f"{points(abs(self.number))} points {way}"
        return (
            f"{points(self.now)}% pass of {over} decided in both runs, "
            f"{points(self.then)}% in the baseline: {change}"
        )


def difference_in(
    compared: Compared | None, datasets: Iterable[str] | None
) -> Difference:
    """Return the difference over some datasets, over none where nothing is compared."""
    return difference({} if compared is None else compared.over(datasets))


def hindrance_of(compared: Compared | None, found: Difference) -> str | None:
    """Return why the difference can't be told, or None where it can."""
    if compared is None:
        return NO_BASELINE
    if compared.hindrance is not None:
        return compared.hindrance
    return NO_PAIR if found.number is None else None


def difference(pairs: Pairs) -> Difference:
    """Return the difference over pairs of outcomes."""
    decided = [
        (now[0], now[0] + now[1], then[0], then[0] + then[1], count)
        for (now, then), count in pairs.items()
        if now[0] + now[1] and then[0] + then[1]
    ]
    cases = sum(count for *_, count in decided)
    rate_now = _share([(p, n, c) for p, n, _, _, c in decided])
    rate_then = _share([(p, n, c) for _, _, p, n, c in decided])
    number = None
    if cases:
        number = _minus(rate_now, rate_then)
    bounds = None
    if pairs:
        bounds = (
            _minus(_reach(pairs, 0, best=False), _reach(pairs, 1, best=True)),
            _minus(_reach(pairs, 0, best=True), _reach(pairs, 1, best=False)),
        )
    return Difference(
        number=number,
        bounds=bounds,
        now=rate_now[0] / rate_now[1],
        then=rate_then[0] / rate_then[1],
        cases=cases,
        undecided=sum(n for (now, then), n in pairs.items() if now[2] or then[2]),
    )


def interval_of(pairs: Pairs, *, seed: str) -> tuple[float, float] | None:
    """Return the 95 % interval of the difference, None where no pair is decided."""
    groups: dict[float, int] = {}
    for pair, count in pairs.items():
        number = difference({pair: 1}).number
        if number is not None:
            groups[number] = groups.get(number, 0) + count
    if not groups:
        return None
    ordered = sorted(groups.items())
    return difference_by_case(ordered, seed=f"{seed}:{ordered}")


def compare(now: Outcome, then: Outcome) -> int:
    """Return 1 where a case got better, -1 where worse, 0 where neither is known."""
    units, before = now[0] + now[1], then[0] + then[1]
    if not (units and before):
        return 0
    better = now[0] * before - then[0] * units
    return (better > 0) - (better < 0)


def points(share: float) -> str:
    """Return a share in percent, to a tenth; never 0 or 100 where it is not exactly so."""
    number = round(share * 100, 1) + 0.0
    if number in (0, 100, -100) and number != share * 100:
        return f"{share * 100:.5g}"
    return f"{number:g}"


# -- fractions of whole numbers ---------------------------------------------------------

_Fraction = tuple[int, int]


def _share(groups: Iterable[tuple[int, int, int]]) -> _Fraction:
    """Return the mean over cases of passes / units, as a fraction; 0 of none."""
    found = list(groups)
    whole = lcm(*(units for _, units, _ in found))
    passes = sum(p * (whole // units) * count for p, units, count in found)
    return passes, whole * max(sum(count for *_, count in found), 1)


def _reach(pairs: Pairs, side: int, *, best: bool) -> _Fraction:
    """Return the share of a side with what is open counted as passes, or as fails."""
    return _share(
        (pair[side][0] + best * pair[side][2], sum(pair[side]), count)
        for pair, count in pairs.items()
    )


def _minus(first: _Fraction, second: _Fraction) -> float:
    """Return a difference, rounded once: 1/3 less 1/3 is 0, whatever it is a part of."""
    above = first[0] * second[1] - second[0] * first[1]
    return above / (first[1] * second[1])
