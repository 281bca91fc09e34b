"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, failed, passed


@check("a", "It holds.")
def my_own_name(case: Case, trace: Trace) -> Verdict:
    """Ask for an answer."""
    if not trace.answer:
        return failed("There is no answer.")
    return passed("There is one.")
