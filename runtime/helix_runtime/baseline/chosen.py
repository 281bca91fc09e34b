"""Which baseline a run has, what is kept of it in `run.json`, and how it is found again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..folder import SuiteFolder
from ..refusal import Refusal
from ..settings import Settings
from ..suite import Suite
from .baseline import Baseline, named_baseline, read_baseline

CONTENT: Final = "baseline_content"
"""What `run.json` keeps of a baseline: the content hash of all that is compared."""


def chosen_baseline(
    name: str | None, settings: Settings, folder: SuiteFolder, suite: Suite
) -> Baseline | None:
    """Return the baseline that the command line or `evals.toml` names, if any.

    Raises Refusal where it can't be compared with.
    """
    place = named_baseline(name, settings.baseline, folder)
    return None if place is None else read_baseline(place, suite)


def baseline_of_run(
    record: Mapping[str, Any], settings: Settings, folder: SuiteFolder, suite: Suite
) -> Baseline | str | None:
    """Return the baseline that a run was held against, by its `run.json`.

    None where it had none, and why where it is not there any more.
    """
    told = record.get("arguments")
    told = told if isinstance(told, Mapping) else {}
    content = told.get(CONTENT)
    if content is None:
        return None
    name = told.get("baseline")
    try:
        found = chosen_baseline(
            name if isinstance(name, str) else None, settings, folder, suite
        )
    except Refusal as refusal:
        return "; ".join(refusal.lines)
    if found is None or found.content != content:
        return "the baseline that the run was held against is not there any more"
    return found
