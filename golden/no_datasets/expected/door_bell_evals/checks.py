"""Code checks: one function for each criterion that code decides.

A check reads the case and the trace, and says what it saw with `passed`, `failed`,
`not_applicable` or `uncertain` of `_runtime.verdict`. It reads no clock, no random
source and no network. `_runtime.checks` has ready-made ones. What a tool gave
back may be JSON text: look into `call.result_data`, not into `call.result`.
"""

from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict


@check(
    "names-the-visitor",
    "The message names the visitor, or says that nobody knows.",
    goal="Always",
)
def names_the_visitor(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()
