"""Spread over repeats: whether the subject, and whether the judge, says the same twice.

Two questions, kept apart. Where the subject ran again, its runs have traces of their
own: verdicts that differ between traces are the subject's spread (and, for a judged
criterion, may be the judge's). Where one trace was judged again, verdicts that differ
are the judge's spread alone.

The spread of a series is the share of its finished repeats that differ from what most
of them say: 0 where all agree. A series flaps where that is above the ceiling. One
that is short of finished repeats is under-sampled, and that is not stable.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from .earliest import Earliest, Order
from .record import record

MAX_FLAPPING: Final = 20
"""How many flapping cases of a criterion are named, and how many under-sampled ones."""
FORCED: Final = "forced: "
"""How the note begins that accuracy was let stand on a flapping suite."""
MAX_CEILING: Final = 0.5
"""A ceiling lies below: of two results the rarer one never has more than a half."""

Stability = Literal["stable", "flapping", "under-sampled"]
Steadiness = Literal["stable", "unstable", "under-sampled", "not-measured"]
Who = Literal["subject", "judge"]


@record(kw_only=True)
class SpreadRule:
    """What counts as flapping, and whether accuracy may stand on it.

    `ceiling` is the largest spread that is no flapping, 0 up to below 0.5. `runs` is
    how many recorded runs a case needs that has several (0: as many as there are),
    `judgements` how many of one trace are planned. With `forced` a flapping criterion
    may pass.
    """

    ceiling: float = 0.0
    runs: int = 0
    judgements: int = 1
    forced: bool = False


@record
class Spread:
    """How many series of repeats agree, differ, or are too short to tell.

    A series is the repeats of a case (for the subject) or the judgements of a trace
    (for the judge). Under-sampled is not stable.
    """

    stable: int = 0
    flapping: int = 0
    under_sampled: int = 0

    @property
    def measured(self) -> int:
        """How many series there are."""
        return self.stable + self.flapping + self.under_sampled

    def __add__(self, other: "Spread") -> "Spread":
        return Spread(
            self.stable + other.stable,
            self.flapping + other.flapping,
            self.under_sampled + other.under_sampled,
        )


def steadiness(spreads: Iterable[Spread]) -> Steadiness:
    """Return what several spreads come to together: the worst of them."""
    whole = sum(spreads, Spread())
    if whole.flapping:
        return "unstable"
    if whole.under_sampled:
        return "under-sampled"
    return "stable" if whole.measured else "not-measured"


@record(kw_only=True)
class Flapping:
    """A case whose repeats don't agree: `passes` of `decided` passed.

    `name` is what the spec calls the case.
    """

    case_id: str
    name: str | None = None
    passes: int
    decided: int


@record(kw_only=True)
class JudgeFlapping:
    """A trace on which the judge contradicts itself: how often it said what."""

    case_id: str
    name: str | None = None
    trace_id: str
    results: Mapping[str, int]


@record(kw_only=True)
class Short:
    """A case that is short of repeats: `finished` of `planned`, of whom.

    For the subject, finished is decided: a run whose verdict is open may still turn out
    either way. For the judge, whatever it says is finished, what it could not say is not.
    """

    case_id: str
    who: Who
    finished: int
    planned: int


class SpreadTally:
    """The spread of one criterion, case by case."""

    def __init__(self, rule: SpreadRule) -> None:
        self.subject = _nothing()
        self.judge = _nothing()
        self.flapping: Earliest[str, Flapping] = Earliest(MAX_FLAPPING)
        self.judge_flapping: Earliest[str, JudgeFlapping] = Earliest(MAX_FLAPPING)
        self.short: Earliest[tuple[str, Who], Short] = Earliest(MAX_FLAPPING)
        self._rule = rule

    def add_case(
        self,
        case_id: str,
        results: Sequence[tuple[str, str]],
        *,
        repeats: int,
        order: Order,
        name: str | None = None,
    ) -> bool:
        """Add a case with the (trace id, result) of each of its repeats.

        A result is pass, fail, na, or anything else for an open one. `repeats` is
        how many were planned: those that did not come in are open too. A case that
        was not to be repeated shows no spread either way. Returns whether the judge
        contradicts itself on one of its traces.
        """
        if repeats <= 1 and len(results) == 1:
            return False
        traces: dict[str, list[str]] = {}
        for trace_id, result in results:
            traces.setdefault(trace_id, []).append(result)
        again = sorted(trace for trace, said in traces.items() if len(said) > 1)
        differs = False
        for place, trace in enumerate(again, 1):
            # An order of its own for each trace, so that the earliest are the same ones.
            at = (*order[:3], place)
            counts = _counted(traces[trace])
            differs |= self._add_judge(case_id, trace, counts, at, name)
        planned = max(repeats - len(results) + len(traces), len(traces))
        if planned > 1 or not again:
            # What a trace that flaps under its judge says of the subject is open.
            outcomes = [self._outcome(found) for found in traces.values()]
            self._add_subject(case_id, _counted(outcomes), planned, order, name)
        return differs

    def add_runs(
        self,
        case_id: str,
        counts: Mapping[str, int],
        *,
        order: Order,
        name: str | None = None,
    ) -> None:
        """Add a case by how many of its recorded runs had each result.

        Each run has a trace of its own. A case of a single run shows no spread; one of
        several needs as many as the rule says.
        """
        total = sum(counts.values())
        if total > 1:
            planned = max(total, self._rule.runs)
            self._add_subject(case_id, counts, planned, order, name)

    def _add_subject(
        self,
        case_id: str,
        counts: Mapping[str, int],
        planned: int,
        order: Order,
        name: str | None,
    ) -> None:
        """Count the runs of a case; nothing where the criterion does not apply to it.

        A run that is `na` says nothing, and needs not to.
        """
        passes, fails = counts.get("pass", 0), counts.get("fail", 0)
        expected = planned - counts.get("na", 0)
        if expected <= 0:
            return
        decided = passes + fails
        if contradict(passes, fails, ceiling=self._rule.ceiling):
            self.subject["flapping"] += 1
            found = Flapping(case_id=case_id, name=name, passes=passes, decided=decided)
            self.flapping.add(order, case_id, found)
        elif decided >= 2 and decided == expected:
            self.subject["stable"] += 1
        else:
            self.subject["under-sampled"] += 1
            needed = max(expected, 2)
            self.short.add(
                order,
                (case_id, "subject"),
                Short(case_id=case_id, who="subject", finished=decided, planned=needed),
            )

    def _add_judge(
        self,
        case_id: str,
        trace_id: str,
        counts: Mapping[str, int],
        order: Order,
        name: str | None,
    ) -> bool:
        """Count the judgements of one trace; return whether they differ.

        The trace is the same each time, so every answer counts as what it is: a judge
        that once says `na` or `uncertain` and once `pass` has no settled verdict.
        """
        finished = _finished(counts)
        total = sum(counts.values())
        if self._differs(counts):
            self.judge["flapping"] += 1
            found = JudgeFlapping(
                case_id=case_id,
                name=name,
                trace_id=trace_id,
                results=dict(sorted(counts.items())),
            )
            self.judge_flapping.add(order, trace_id, found)
            return True
        if finished == total:
            self.judge["stable"] += 1
        else:
            self.judge["under-sampled"] += 1
            self.short.add(
                order,
                (trace_id, "judge"),
                Short(case_id=case_id, who="judge", finished=finished, planned=total),
            )
        return False

    def _differs(self, counts: Mapping[str, int]) -> bool:
        finished = _finished(counts)
        if not finished:
            return False
        most = max(counts.get(result, 0) for result in _SAID)
        return (finished - most) / finished > self._rule.ceiling

    def _outcome(self, results: Sequence[str]) -> str:
        """Return what the judgements of one trace come to; "open" where they differ."""
        counts = _counted(results)
        if self._differs(counts):
            return "open"
        return max(_SAID, key=lambda r: counts.get(r, 0)) if _finished(counts) else ""


def contradict(passes: int, fails: int, *, ceiling: float) -> bool:
    """Whether the repeats of a case contradict each other by more than the ceiling."""
    return bool(passes and fails) and min(passes, fails) / (passes + fails) > ceiling


def spread_of(counts: dict[Stability, int]) -> Spread:
    """Return the counts as a record."""
    return Spread(counts["stable"], counts["flapping"], counts["under-sampled"])


def _nothing() -> dict[Stability, int]:
    return {"stable": 0, "flapping": 0, "under-sampled": 0}


# What a judge can say; an error or a missing judgement is none.
_SAID: Final = ("pass", "fail", "uncertain", "na")


def _finished(counts: Mapping[str, int]) -> int:
    return sum(counts.get(result, 0) for result in _SAID)


def _counted(results: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for result in results:
        counts[result] = counts.get(result, 0) + 1
    return counts
