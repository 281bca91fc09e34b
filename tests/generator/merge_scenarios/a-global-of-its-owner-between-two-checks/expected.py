"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, failed, passed


WORDS = {"sorry": 1}
WORDS["oops"] = 2
print_later = [w for w in WORDS]


@check("b", "New.")
def b(case: Case, trace: Trace) -> Verdict:
    """Ask for an answer."""
    if not trace.answer:
        return failed("There is no answer.")
    return passed("There is one.")
