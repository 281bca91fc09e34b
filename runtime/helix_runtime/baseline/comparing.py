"""A tally that also holds criteria against a baseline, case by case."""

from __future__ import annotations

from typing import Final

from ..case import Case
from ..criterion import Criterion
from ..decide import Decision, Tally
from ..journal import case_mark, marks_of
from ..names import case_label
from ..pin import Pin
from ..plan import RunPlan
from ..suite import Suite
from ..unit import Unit
from .baseline import Baseline
from .difference import Compared, Outcome, compare
from .pairing import Wordings, not_compared, pair_up
from .side import BY_JUDGE, plus
from .yardstick import other_yardstick

MAX_NAMED: Final = 5
"""How many cases are named that got worse, and that got better."""


def comparing(tally: Tally, suite: Suite, plan: RunPlan) -> Comparing:
    """Return a tally of `suite` that holds it against the baseline of the plan."""
    assert plan.baseline is not None
    return Comparing(
        tally,
        suite,
        plan.baseline,
        pin=plan.pin,
        wordings=Wordings(plan.folder.rows),
    )


class _Seen:
    """One case under one criterion, as far as it came in."""

    __slots__ = ("dataset", "mark", "name", "order", "outcome")

    def __init__(self, case: Case, mark: str, order: int) -> None:
        # Not the case itself: it may be long, and there may be a million.
        self.dataset = case.dataset
        self.name = case.item or case.scenario
        self.mark = mark
        self.order = order
        self.outcome: Outcome = (0, 0, 0)


class Comparing:
    """Counts units in a tally, and remembers those of criteria against the baseline.

    `pin` is who judges now.
    """

    def __init__(
        self,
        tally: Tally,
        suite: Suite,
        baseline: Baseline,
        *,
        pin: Pin | None,
        wordings: Wordings,
    ) -> None:
        self._tally = tally
        self._baseline = baseline
        self._pin = pin
        self._wordings = wordings
        self._criteria = [c for c in suite.criteria if c.passes.kind == "baseline"]
        self._seen: dict[str, dict[str, _Seen]] = {c.id: {} for c in self._criteria}
        self._yardsticks: dict[str, set[str]] = {c.id: set() for c in self._criteria}
        self._judged: set[str] = set()

    def add(self, unit: Unit, *, case: Case, sequence: int) -> None:
        """Count a decided unit."""
        self._tally.add(unit, case=case, sequence=sequence)
        if unit.criterion_id not in self._seen:
            return
        if unit.decided_by == BY_JUDGE:
            self._judged.add(unit.criterion_id)
        marks = marks_of(unit.key)
        if marks is not None:
            self._yardsticks[unit.criterion_id].add(marks[1])
        mark = marks[0] if marks else None
        self._note(unit.criterion_id, case, mark, unit.verdict.result, sequence)

    def add_missing(
        self,
        *,
        criterion_id: str,
        case: Case,
        trace_id: str,
        repeat: int,
        sequence: int,
        why: str,
    ) -> None:
        """Count a unit that has no verdict, and `why`."""
        self._tally.add_missing(
            criterion_id=criterion_id,
            case=case,
            trace_id=trace_id,
            repeat=repeat,
            sequence=sequence,
            why=why,
        )
        if criterion_id in self._seen:
            # Open, as one that can't be told is.
            self._note(criterion_id, case, None, "uncertain", sequence)

    def _note(
        self, criterion_id: str, case: Case, mark: str | None, result: str, order: int
    ) -> None:
        cases = self._seen[criterion_id]
        seen = cases.get(case.id)
        if seen is None:
            mark = mark or case_mark(case.digest)
            seen = cases[case.id] = _Seen(case, mark, order)
        seen.order = min(seen.order, order)
        seen.outcome = plus(seen.outcome, result)

    def decide(self) -> Decision:
        """Return the decision of the tally, held against the baseline."""
        for criterion in self._criteria:
            self._tally.compare(criterion.id, self._compared(criterion))
        return self._tally.decide()

    def _compared(self, criterion: Criterion) -> Compared:
        baseline = self._baseline
        hindrance = other_yardstick(
            baseline,
            criterion.id,
            is_judged=criterion.judge is not None,
            pin=None if self._pin is None else self._pin.to_record(),
            marks=self._yardsticks[criterion.id],
            was_asked=criterion.id in self._judged,
        )
        if hindrance is not None:
            return Compared(digest=baseline.digest, pairs={}, hindrance=hindrance)
        seen = self._seen[criterion.id]
        ordered = sorted(seen.items(), key=lambda item: (item[1].order, item[0]))
        now = {case_id: (one.mark, one.outcome) for case_id, one in ordered}
        found = pair_up(now, baseline, criterion.id, self._wordings)
        pairs: dict[str | None, dict[tuple[Outcome, Outcome], int]] = {}
        changed: dict[int, list[str]] = {-1: [], 1: []}
        for case_id, outcome, before in found.pairs:
            one = seen[case_id]
            of = pairs.setdefault(one.dataset, {})
            of[outcome, before] = of.get((outcome, before), 0) + 1
            way = compare(outcome, before)
            if way:
                changed[way].append(case_label(case_id, one.name))
        return Compared(
            digest=baseline.digest,
            pairs=pairs,
            worse=tuple(changed[-1][:MAX_NAMED]),
            worse_count=len(changed[-1]),
            better=tuple(changed[1][:MAX_NAMED]),
            better_count=len(changed[1]),
            aside=not_compared(found.others),
        )
