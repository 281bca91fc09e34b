"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, failed, passed


@check("new-id", "Now in other words.")
def new_id(case: Case, trace: Trace) -> Verdict:
    """Ask for an answer."""
    if not trace.answer:
        return failed("There is no answer.")
    return passed("There is one.")
