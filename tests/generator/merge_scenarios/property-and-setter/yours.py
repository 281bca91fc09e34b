"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


class P:
    @property
    def x(self) -> int:
        return 11

    @x.setter
    def x(self, value: int) -> None:
        self.y = value
