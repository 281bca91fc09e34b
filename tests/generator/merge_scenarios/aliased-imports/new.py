"""Code checks."""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict

import numpy as np
from .x import a as b, c as d
