"""The verdicts of a judge, from a run's journal or from the verdict files of a host.

What code decided, what is out of scope and what stops short says nothing of a judge: it
is left out here, also where a verdict file speaks of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from .case import Case
from .journal import UNITS
from .replay import ReplayJudge
from .suite import Suite
from .trace import Trace
from .unit import Unit, decide_by_code, unit_from_record


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


def judged_in_files(
    judging: ReplayJudge, suite: Suite, runs: Iterable[tuple[Case, Trace]]
) -> Iterator[Unit]:
    """Yield what verdict files decide of the runs, as the roll-up would count it."""
    judged = [criterion for criterion in suite.criteria if criterion.judge is not None]
    for case, trace in runs:
        for criterion in judged:
            if not judging.has(trace.id, criterion.id):
                continue
            verdict, _ = decide_by_code(criterion, case, trace)
            judgement = None
            if verdict is None:
                judgement = judging.judge(criterion, case, trace, 0)
            if judgement is not None:
                yield Unit(
                    key="",
                    case_id=case.id,
                    criterion_id=criterion.id,
                    repeat=0,
                    trace_id=trace.id,
                    verdict=judgement.verdict,
                    decided_by="judge",
                    model=judgement.model,
                    notes=judgement.notes,
                )
