"""The two definitions of a judge in plain words, where the overlay gives none."""

import re
from typing import Final

from .texts import sentence

# A goal over many runs is the aggregate's; a judge sees one run.
_OVER_RUNS: Final = re.compile(
    r"\b(cases?|runs?|tasks?|trials?|sessions?|datasets?|samples?|mean|average|median"
    r"|pass\^|pass@)\b|[<>]=?|\b\d+/\d+\b|\bat least \d",
    re.I,
)


def pass_when(statement: str, goal: str) -> str:
    """Return when a judge passes a run."""
    words = f"Wherever the run gives occasion for it, the run shows: {_said(statement)}"
    return f"{words} Its bar is met: {_said(goal)}" if _tells(goal) else words


def fail_when(statement: str, goal: str) -> str:
    """Return when a judge fails a run."""
    words = (
        f"At least one place in the run contradicts {_said(statement)} "
        "Or what it asks for is missing at a place where it was due."
    )
    if _tells(goal):
        return f"{words} One place that misses the bar is enough: {_said(goal)}"
    return words


def _tells(goal: str) -> bool:
    return bool(goal.strip()) and not _OVER_RUNS.search(goal)


def _said(text: str) -> str:
    return f"“{sentence(text)}”"
