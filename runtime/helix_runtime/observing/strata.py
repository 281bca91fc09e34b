"""By what traces are told apart in a stratified sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..case import Case
from ..trace import Trace, as_text
from .sampling import Candidate
from .sequences import tool_sequence

Stratum = Callable[[Case, Trace, Candidate], str | None]
MAX_NAME: Final = 200

_FIELDS: Final[Mapping[str, Stratum]] = {
    "category": lambda case, trace, candidate: case.category,
    "scenario": lambda case, trace, candidate: case.scenario,
    "dataset": lambda case, trace, candidate: case.dataset,
    "outcome": lambda case, trace, candidate: candidate.outcome,
    "status": lambda case, trace, candidate: trace.status,
    "tools": lambda case, trace, candidate: tool_sequence(trace),
    "agent": lambda case, trace, candidate: trace.agent_name,
    "source": lambda case, trace, candidate: trace.source,
    "model": lambda case, trace, candidate: ", ".join(trace.models) or None,
    "tag": lambda case, trace, candidate: trace.tags[0] if trace.tags else None,
}
FIELDS: Final = tuple(_FIELDS)


def stratum_of(field: str) -> Stratum:
    """Return what tells the stratum of a trace by a field; None where it has none.

    A field is one of FIELDS, a dimension of the trace's case, or a path into the
    trace's own metadata (`plan`, `user.plan`): the first that is there.
    """
    known = _FIELDS.get(field)

    def of(case: Case, trace: Trace, candidate: Candidate) -> str | None:
        found = None if known is None else known(case, trace, candidate)
        return found or case.dimensions.get(field) or _in_metadata(trace, field)

    return of


def _in_metadata(trace: Trace, path: str) -> str | None:
    for block in (trace.ext.get("metadata"), trace.extra.get("metadata")):
        value = _at(block, path)
        if value is not None:
            return value
    return _at(trace.ext, path) or _at(trace.extra, path)


def _at(data: Any, path: str) -> str | None:
    if isinstance(data, Mapping) and path in data:
        found = data[path]
    else:
        found = data
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    if found is None or found == "":
        return None
    return (as_text(found) or "")[:MAX_NAME] or None
