"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict

A = [{"名": "前", "x": "è"}, 1]
