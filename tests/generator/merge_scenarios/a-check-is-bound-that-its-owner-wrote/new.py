"""Code checks."""

from ._runtime.case import Case
from ._runtime.checks import output
from ._runtime.criterion import check
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


@check("a", "It holds.")
def a(case: Case, trace: Trace) -> Verdict:
    """Pass where there is an answer."""
    return output.present(case, trace)
