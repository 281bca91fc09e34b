"""One side of a comparison: what a run's journal says of each case under a criterion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..canonical import canonical, content_key
from ..journal import is_sealed, marks_of, read_unit
from ..unit import Unit
from ..verdict import RESULTS
from .difference import Outcome

_FIELDS: Final = ("key", "caseId", "criterionId", "result")
BY_JUDGE: Final = "judge"
_AT: Final[Mapping[str, int]] = {"pass": 0, "fail": 1, "uncertain": 2, "error": 2}


class Side:
    """The units of a run, counted by criterion and case.

    `cases` is by criterion, then by case: the mark of its wording and its outcome,
    (0, 0, 0) where every unit of it is `na`. `yardsticks` are the marks of what
    measured a criterion: one, unless the journal is of several. `judged` are the
    criteria of which a judge decided a unit.
    """

    def __init__(self) -> None:
        self.cases: dict[str, dict[str, tuple[str, Outcome]]] = {}
        self.yardsticks: dict[str, set[str]] = {}
        self.judged: set[str] = set()
        # Millions of units share a few thousand ids, marks and outcomes.
        self._shared: dict[Any, Any] = {}

    def add(self, unit: Unit) -> None:
        """Count a unit. Raises EarlierRuntime where its key has no marks."""
        if unit.decided_by == BY_JUDGE:
            self.judged.add(unit.criterion_id)
        self._add(unit.key, unit.case_id, unit.criterion_id, unit.verdict.result)

    def add_line(self, line: bytes) -> None:
        """Count the unit of a journal's line.

        Raises EarlierRuntime, and ValueError where it is none or was edited since, and
        RecursionError. Of a line as it was written only what counts is looked at.
        """
        if not is_sealed(line):
            self.add(read_unit(line))
            return
        try:
            record = json.loads(line)
            texts = [record[name] for name in _FIELDS]
        except (KeyError, TypeError) as error:
            raise ValueError("is no unit") from error
        if not all(text.__class__ is str for text in texts) or texts[3] not in RESULTS:
            raise ValueError("is no unit")
        if record.get("by") == BY_JUDGE:
            self.judged.add(texts[2])
        self._add(*texts)

    def _add(self, key: str, case_id: str, criterion_id: str, result: str) -> None:
        marks = marks_of(key)
        if marks is None:
            raise EarlierRuntime
        cases = self.cases.get(criterion_id)
        if cases is None:
            cases = self.cases[criterion_id] = {}
            self.yardsticks[criterion_id] = set()
        self.yardsticks[criterion_id].add(marks[1])
        mark, before = cases.get(case_id, (marks[0], (0, 0, 0)))
        entry = (mark, plus(before, result))
        case_id = self._shared.setdefault(case_id, case_id)
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
                side.add_line(line)
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
