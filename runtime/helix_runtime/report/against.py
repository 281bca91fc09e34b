"""What became other since the baseline, in words: for the terminal and the page alike."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from ..baseline.changes import Changes, Moved, Turned
from ..names import CaseNames
from .words import plural

TITLE: Final = "Against the baseline"
MAX_TURNED: Final = 20


def about(changes: Changes) -> str:
    """Return which run is the baseline, and both gates. May hold strangers' text."""
    before, now = changes.verdicts
    gate = f"the gate is {now}" + (" as then" if now == before else f", was {before}")
    return (
        f"baseline {changes.digest[:12]} (run {changes.run}, version {changes.version}): "
        f"{gate}"
    )


def turned_words(turned: Turned) -> str:
    """Return how a criterion's verdict changed."""
    if turned.before is None:
        return f"new: {turned.now}"
    if turned.now is None:
        return f"was {turned.before}, is not in this run"
    said = f"{turned.before} → {turned.now}"
    return said if turned.comparable else f"{said}, by another check or judge"


def count_words(changes: Changes) -> str:
    """Return how many cases x criteria got worse and better, of how many."""
    if not changes.compared:
        return "no case is decided in both runs under the same check or judge"
    of = plural(changes.compared, "case × criterion", "cases × criteria")
    if not (changes.worse_count or changes.better_count):
        return f"none of {of} got worse or better"
    return f"{changes.worse_count:,} worse, {changes.better_count:,} better, of {of}"


def groups(changes: Changes) -> list[tuple[str, int, Sequence[Moved]]]:
    """Return what got worse, then what got better, where there is any."""
    found = (
        ("worse", changes.worse_count, changes.worse),
        ("better", changes.better_count, changes.better),
    )
    return [group for group in found if group[1]]


def moved_words(moved: Moved, names: CaseNames) -> str:
    """Return which case it is, and what it came to then and now."""
    return f"{names.label(moved.case_id)}: {moved.before} → {moved.now}"


def again_words(changes: Changes) -> str:
    """Return how the baseline's runs are judged again, nothing where there is no need."""
    from ..commands.outcome import typed_path
    from ..journal import TRACES

    if changes.place is None:
        return ""
    traces = changes.place / TRACES
    then = "and compare with that run: `--baseline` and its name"
    if not traces.is_file():
        return (
            f"to compare these too, judge the runs of the baseline again, {then}. Their "
            f"{TRACES} is not in {typed_path(changes.place)}: take it from the run itself"
        )
    return f"to compare these too: `run --traces {shlex.quote(typed_path(traces))}`, {then}"


def aside_words(changes: Changes) -> str:
    """Return what was not compared, nothing where all was."""
    return f"not compared: {'; '.join(changes.aside)}" if changes.aside else ""
