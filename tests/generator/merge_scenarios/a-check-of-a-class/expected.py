"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


class A:
    """Holds."""

    def __call__(self, case, trace):
        return 1


@check("a", "New.")
def a(case: Case, trace: Trace) -> Verdict:
    """Not written yet."""
    return unwritten()


@check("a-two", "It holds.")
def a_two(case: Case, trace: Trace) -> Verdict:
    """Not written yet."""
    return unwritten()
