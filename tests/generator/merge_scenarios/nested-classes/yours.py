"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


class Outer:
    class Inner:
        def f(self) -> int:
            return 11

        def g(self) -> int:
            return 2
