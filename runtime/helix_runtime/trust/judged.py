"""The verdicts of a run's judge, from its journal.

What code decided, what is out of scope and what stops short says nothing of a judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ..journal import UNITS
from ..unit import Unit, unit_from_record


def judged_in_run(folder: Path) -> Iterator[Unit]:
    """Yield the judged units of a run's journal, each as it was decided last.

    Raises OSError where the journal can't be read; a torn line is no unit.
    """
    last: dict[tuple[str, str, int], int] = {}
    for place, unit in _judged_lines(folder / UNITS):
        last[unit.trace_id, unit.criterion_id, unit.repeat] = place
    for place, unit in _judged_lines(folder / UNITS):
        if last[unit.trace_id, unit.criterion_id, unit.repeat] == place:
            yield unit


def _judged_lines(path: Path) -> Iterator[tuple[int, Unit]]:
    with path.open("rb") as lines:
        for place, line in enumerate(lines):
            # Most lines of most runs are code's: they need not be read.
            if b'"by":"judge"' not in line:
                continue
            try:
                unit = unit_from_record(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if unit.decided_by == "judge":
                yield place, unit
