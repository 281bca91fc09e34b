"""One side of a comparison: what a run's journal says of each case under a criterion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..canonical import canonical, content_key
from ..journal import marks_of, read_unit
from ..unit import Unit
from .difference import Outcome

_AT: Final[Mapping[str, int]] = {"pass": 0, "fail": 1, "uncertain": 2, "error": 2}


class Side:
    """The units of a run, counted by criterion and case.

    `cases` is by criterion, then by case: the mark of its wording and its outcome,
    (0, 0, 0) where every unit of it is `na`. `yardsticks` are the marks of what
    measured a criterion: one, unless the journal is of several.
    """

    def __init__(self) -> None:
        self.cases: dict[str, dict[str, tuple[str, Outcome]]] = {}
        self.yardsticks: dict[str, set[str]] = {}
        # Millions of units share a few thousand ids, marks and outcomes.
        self._shared: dict[Any, Any] = {}

    def add(self, unit: Unit) -> None:
        """Count a unit. Raises EarlierRuntime where its key has no marks."""
        marks = marks_of(unit.key)
        if marks is None:
            raise EarlierRuntime
        cases = self.cases.setdefault(unit.criterion_id, {})
        self.yardsticks.setdefault(unit.criterion_id, set()).add(marks[1])
        mark, before = cases.get(unit.case_id, (marks[0], (0, 0, 0)))
        entry = (mark, plus(before, unit.verdict.result))
        case_id = self._shared.setdefault(unit.case_id, unit.case_id)
        cases[case_id] = self._shared.setdefault(entry, entry)

    @property
    def digest(self) -> str:
        """The content hash of all it holds."""
        rows = [
            [criterion, sorted(self.yardsticks[criterion]), sorted(cases.items())]
            for criterion, cases in sorted(self.cases.items())
        ]
        return content_key(canonical(rows))

    def counts(self, criterion_id: str) -> Outcome:
        """Return how many units of a criterion pass, fail and are open."""
        found = self.cases.get(criterion_id, {}).values()
        first, second, third = (sum(of[n] for _, of in found) for n in range(3))
        return first, second, third


class EarlierRuntime(ValueError):
    """The units are of a runtime that did not keep what they were decided by."""


def read_side(path: Path) -> Side:
    """Return what a journal says, read as a stream.

    Raises OSError, EarlierRuntime, and ValueError that names the first line that is not
    as it was written.
    """
    side = Side()
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                side.add(read_unit(line))
            except EarlierRuntime:
                raise
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{path.name}:{number}: {_why(error)}") from error
    return side


def plus(outcome: Outcome, result: str) -> Outcome:
    """Return an outcome with one more unit; `na` is none."""
    at = _AT.get(result)
    if at is None:
        return outcome
    passes, fails, still_open = outcome
    return passes + (at == 0), fails + (at == 1), still_open + (at == 2)


def _why(error: Exception) -> str:
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError)):
        return "is no unit: torn, or edited"
    return str(error)
