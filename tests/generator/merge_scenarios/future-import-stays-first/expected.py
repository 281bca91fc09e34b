"""Code checks."""

from __future__ import annotations

from typing import Any

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


@check("a", "It holds.")
def a(case: Case, trace: Trace) -> Verdict:
    """Not written yet."""
    x: Any = 1
    return unwritten()
