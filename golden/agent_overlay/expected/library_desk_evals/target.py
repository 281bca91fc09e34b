"""How to reach the subject: yours to fill in. It is generated once and never again."""

from typing import Any

from ._runtime.case import Case
from ._runtime.targets import TargetNotWritten
from ._runtime.trace import Trace


def target(case: Case) -> str | dict[str, Any] | Trace:
    """Run the subject on one case and return what it did.

    `case.query` is what the user says, `case.input` the data that comes with it. Return

    - the answer: a text, or an object where the subject answers with data;
    - `{"output": answer, "tool_calls": [{"name": ..., "arguments": {...}, "result":
      ...}]}`, so that checks on tools can decide too;
    - or a `Trace` with the spans that you recorded.

    An exception says that the subject failed on this case. A coroutine function will do
    as well: write `async def`.
    """
    raise TargetNotWritten
