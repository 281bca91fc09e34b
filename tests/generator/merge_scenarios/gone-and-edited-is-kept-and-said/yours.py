"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, failed, passed


@check("a", "It holds.")
def a(case: Case, trace: Trace) -> Verdict:
    """Ask for an answer."""
    if not trace.answer:
        return failed("There is no answer.")
    return passed("There is one.")


@check("b", "It holds.")
def b(case: Case, trace: Trace) -> Verdict:
    """Not written yet."""
    return unwritten()
