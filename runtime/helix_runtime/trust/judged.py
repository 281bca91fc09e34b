"""The verdicts of a run's judge, from its journal.

What code decided, what is out of scope and what stops short says nothing of a judge.
Nor does a line that was edited: a judge is worth what it said, and not what somebody
made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..folder import read_run_record
from ..journal import UNITS, lines_before, read_unit
from ..strict_json import why_unreadable
from ..unit import Unit


class JournalEdited(ValueError):
    """A verdict of the judge is not as it was written."""


def judged_in_run(folder: Path) -> Iterator[Unit]:
    """Yield the judged units of a run's journal, each as it was decided last.

    Of a run that was gone on with and not finished, those that another judge may have
    decided before an edit are left out.
    A torn last line is no unit. Raises OSError where the journal can't be read,
    JournalEdited that names the line where one is not as it was written.
    """
    before = lines_before(read_run_record(folder) or {})
    last: dict[tuple[str, str, int], int] = {}
    for place, unit in _judged_lines(folder / UNITS, before):
        last[unit.trace_id, unit.criterion_id, unit.repeat] = place
    for place, unit in _judged_lines(folder / UNITS, before):
        if last[unit.trace_id, unit.criterion_id, unit.repeat] == place:
            yield unit


def _judged_lines(path: Path, before: int) -> Iterator[tuple[int, Unit]]:
    offset = 0
    with path.open("rb") as lines:
        for place, line in enumerate(lines, 1):
            offset += len(line)
            # Most lines of most runs are code's: they need not be read.
            if offset <= before or b'"by":"judge"' not in line:
                continue
            try:
                unit = read_unit(line)
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    continue
                said = why_unreadable(error)
                raise JournalEdited(f"{path.name}:{place}: {said}") from error
            if unit.decided_by == "judge":
                yield place, unit
