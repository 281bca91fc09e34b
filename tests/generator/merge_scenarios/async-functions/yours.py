"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


async def f() -> int:
    await g()
    return 1


async def g() -> int:
    return 2
