"""How to reach the subject where naming it is not enough: yours to fill in.

`evals.toml` names the target of this suite, and nothing here is used until it names
this file's function. The file is generated once and never again.
"""

from typing import Any

from ._runtime.case import Case
from ._runtime.targets import TargetNotWritten
from ._runtime.trace import Trace


def target(case: Case) -> str | dict[str, Any] | Trace:
    """Run the subject on one case and return what it did.

    `case.query` is what the user says, `case.input` the data that comes with it. Return
    the answer (a text, or data), `{"output": answer, "tool_calls": [...]}`, or a `Trace`
    with the spans that you recorded. An exception says that the subject failed.
    """
    raise TargetNotWritten
