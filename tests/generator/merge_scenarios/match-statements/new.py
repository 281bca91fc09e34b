"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


def f(x):
    match x:
        case 1:
            return 1
        case [a, *rest]:
            return a
    return 9
