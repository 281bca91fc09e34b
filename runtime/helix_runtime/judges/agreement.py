"""How far two runs agree that judged the same units: two judges, or the two paths.

Units are matched by trace and criterion (and repeat where both have it). Agreement is
counted over units that both decided; it says nothing about who is right.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..journal import read_unit
from ..record import field, record
from ..unit import Unit

MAX_NAMED: Final = 20
_DECIDED: Final = ("pass", "fail")


@record(kw_only=True, frozen=False)
class Compared:
    """The units that both runs judged, by how the two verdicts relate."""

    same: int = 0
    opposite: int = 0
    one_open: int = 0
    both_open: int = 0
    differ: list[str] = field(default_factory=list)

    @property
    def decided(self) -> int:
        """How many both decided."""
        return self.same + self.opposite

    def add(self, first: str, second: str, place: str) -> None:
        """Count one unit."""
        open_sides = (first not in _DECIDED) + (second not in _DECIDED)
        if open_sides == 2:
            self.both_open += 1
        elif open_sides == 1:
            self.one_open += 1
        elif first == second:
            self.same += 1
        else:
            self.opposite += 1
        if first != second and len(self.differ) < MAX_NAMED:
            self.differ.append(f"{place}: {first} against {second}")


@record(kw_only=True)
class AgreementReport:
    """By criterion, and how many units only one of the runs judged."""

    criteria: dict[str, Compared]
    only_first: int
    only_second: int

    def lines(self) -> list[str]:
        """Return the report as text, a line each."""
        lines = []
        for criterion_id, found in self.criteria.items():
            share = (
                f"{found.same} of {found.decided} agree"
                if found.decided
                else "both decided none"
            )
            lines.append(
                f"{criterion_id}: {share}; {found.one_open} open on one side, "
                f"{found.both_open} on both"
            )
            lines += [f"  {line}" for line in found.differ]
        if not self.criteria:
            lines.append("no unit was judged by both runs")
        if self.only_first or self.only_second:
            lines.append(
                f"judged by one run alone: {self.only_first} by the first, "
                f"{self.only_second} by the second"
            )
        return lines


def compare_runs(first: Path, second: Path) -> AgreementReport:
    """Return how the judged units of two runs' journals agree. Raises OSError."""
    before = {_place(unit): unit.verdict.result for unit in _judged(first)}
    criteria: dict[str, Compared] = {}
    both = only_second = 0
    for unit in _judged(second):
        place = _place(unit)
        result = before.get(place)
        if result is None:
            only_second += 1
            continue
        both += 1
        trace_id, criterion_id, _ = place
        compared = criteria.setdefault(criterion_id, Compared())
        compared.add(result, unit.verdict.result, trace_id)
    return AgreementReport(
        criteria=dict(sorted(criteria.items())),
        only_first=len(before) - both,
        only_second=only_second,
    )


def _judged(folder: Path) -> Iterator[Unit]:
    with (folder / "units.jsonl").open("rb") as lines:
        for line in lines:
            if b'"by":"judge"' not in line:
                continue
            try:
                unit = read_unit(line)
            except (ValueError, RecursionError):
                continue  # a torn last line, or one that was edited
            if unit.decided_by == "judge":
                yield unit


def _place(unit: Unit) -> tuple[str, str, int]:
    return unit.trace_id, unit.criterion_id, unit.repeat
