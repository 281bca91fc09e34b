"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


class Reader:
    """Reads."""

    limit = 3

    def one(self) -> int:
        return 1

    def two(self) -> int:
        return 2
