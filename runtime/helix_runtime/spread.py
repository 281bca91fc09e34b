"""Spread over repeats: whether the subject, and whether the judge, says the same twice.

Two questions, kept apart. Where the subject ran again, its runs have traces of their
own: verdicts that differ between traces are the subject's spread (and, for a judged
criterion, may be the judge's). Where one trace was judged again, verdicts that differ
are the judge's spread alone.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from .earliest import Earliest, Order
from .record import record

MAX_FLAPPING: Final = 20
"""How many flapping cases of a criterion are named."""

Stability = Literal["stable", "flapping", "under-sampled"]


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


@record(kw_only=True)
class Flapping:
    """A case whose repeats don't agree: `passes` of `decided` passed."""

    case_id: str
    passes: int
    decided: int


class SpreadTally:
    """The spread of one criterion, case by case."""

    def __init__(self) -> None:
        self.subject = _nothing()
        self.judge = _nothing()
        self.flapping: Earliest[str, Flapping] = Earliest(MAX_FLAPPING)

    def add_case(
        self,
        case_id: str,
        results: Sequence[tuple[str, str]],
        *,
        repeats: int,
        order: Order,
    ) -> None:
        """Add a case with the (trace id, result) of each of its repeats.

        A result is pass, fail, na, or anything else for an open one. `repeats` is
        how many were planned: those that did not come in are open too. A case that
        was not to be repeated shows no spread either way.
        """
        if repeats <= 1 and len(results) == 1:
            return
        traces: dict[str, list[str]] = {}
        for trace_id, result in results:
            traces.setdefault(trace_id, []).append(result)
        again = [found for found in traces.values() if len(found) > 1]
        for found in again:
            _add(self.judge, _counted(found), len(found))
        if len(traces) > 1 or not again:
            # What a trace that flaps under its judge says of the subject is open.
            outcomes = [_outcome(found) for found in traces.values()]
            planned = max(repeats - len(results) + len(traces), len(traces))
            _add(self.subject, _counted(outcomes), planned)
        self._name(case_id, _counted([result for _, result in results]), order)

    def add_runs(
        self, case_id: str, counts: Mapping[str, int], *, order: Order
    ) -> None:
        """Add a case by how many of its runs had each result.

        Each run has a trace of its own, and none was planned beside them. A case of a
        single run shows no spread.
        """
        total = sum(counts.values())
        if total > 1:
            _add(self.subject, counts, total)
            self._name(case_id, counts, order)

    def _name(self, case_id: str, counts: Mapping[str, int], order: Order) -> None:
        passes, fails = counts.get("pass", 0), counts.get("fail", 0)
        if passes and fails:
            found = Flapping(case_id=case_id, passes=passes, decided=passes + fails)
            self.flapping.add(order, case_id, found)


def spread_of(counts: dict[Stability, int]) -> Spread:
    """Return the counts as a record."""
    return Spread(counts["stable"], counts["flapping"], counts["under-sampled"])


def _nothing() -> dict[Stability, int]:
    return {"stable": 0, "flapping": 0, "under-sampled": 0}


def _add(tally: dict[Stability, int], counts: Mapping[str, int], planned: int) -> None:
    """Count what a series shows; nothing where the criterion does not apply to it."""
    passes, fails = counts.get("pass", 0), counts.get("fail", 0)
    expected = planned - counts.get("na", 0)
    if expected <= 0:
        return
    decided = passes + fails
    if passes and fails:
        tally["flapping"] += 1
    elif decided >= 2 and decided == expected:
        tally["stable"] += 1
    else:
        tally["under-sampled"] += 1


def _counted(results: Sequence[str]) -> dict[str, int]:
    return {result: results.count(result) for result in set(results)}


def _outcome(results: Sequence[str]) -> str:
    first = results[0]
    return first if all(result == first for result in results) else "open"
