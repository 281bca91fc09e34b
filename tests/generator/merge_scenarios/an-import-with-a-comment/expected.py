"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten  # both of them
from ._runtime.criterion import rate
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


@check("a", "It holds.")
def a(case: Case, trace: Trace) -> Verdict:
    """Not written yet."""
    return unwritten()

R = rate
