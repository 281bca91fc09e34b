"""Code checks."""

from typing import TYPE_CHECKING

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict

if TYPE_CHECKING:
    from .things import one, three
    from .mine import two
