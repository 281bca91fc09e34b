"""Whether a check left the case and the trace as they were.

Checks are handed the records themselves. One that sorts a list in place, or clears an
expectation, would change what the next check and the judge see. Free data is written
down before the first check of a run and compared after each one: a changed one is put
back, and the check that ran is in error. Texts and numbers can't be changed, so a run
that holds nothing else costs a look at each span.
"""

from __future__ import annotations

import json
from marshal import dumps, loads
from typing import Any, Final

from .canonical import dump_line
from .case import Case
from .record import fields
from .trace import Trace
from .unitf import TEXTS

_VERSION: Final = 2  # later ones write down who refers to what, not only what is there
_FREE: Final = frozenset((dict, list))
CHANGED: Final = "it changed the case or the trace, which others read too"


class Untouched:
    """Watches the free data of a case and of a trace."""

    __slots__ = ("_before", "_data", "_trace")

    def __init__(self, case: Case, trace: Trace) -> None:
        found = [case.input, case.expected, case.dimensions, case.extra]
        found += (trace.ext, trace.extra, trace.tokens, trace.computed, *trace.scores)
        spans = trace.spans
        for span in () if vars(trace).get(TEXTS) is spans else spans:
            found += (span.input, span.output, span.extra, span.tokens)
        self._trace = trace
        self._data = [part for part in found if part.__class__ in _FREE]
        self._before = _written(self._data) if self._data else None

    def changed(self) -> bool:
        """Return whether the data was changed since; it is put back."""
        views = vars(self._trace)
        # A view of data that was parsed for a check is that check's own.
        if views.get("output").__class__ in (dict, list):
            del views["output"]
        before = self._before
        if before is None or _written(self._data) == before:
            return False
        for part, was in zip(self._data, _read(before), strict=True):
            part.clear()
            if isinstance(part, dict):
                part.update(was)
            else:
                part.extend(was)
        for name in set(views).difference(fields(self._trace), ("digest",)):
            del views[name]
        return True


def _written(data: Any) -> bytes | str | None:
    try:
        return dumps(data, _VERSION)
    except ValueError:
        pass  # nested too deeply, or what JSON data never holds
    try:
        return dump_line(data)
    except (ValueError, TypeError, RecursionError):
        return None


def _read(written: bytes | str) -> Any:
    return loads(written) if isinstance(written, bytes) else json.loads(written)
