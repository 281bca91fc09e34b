"""How to reach the subject, an agent of Pydantic AI: yours to fill in.

`evals.toml` names `agent` as the target. The file is generated once and never again.
"""

from typing import Any

from ._runtime.case import Case
from ._runtime.targets import TargetNotWritten


def agent(case: Case) -> Any:
    """Return the agent for one case: import yours here, and return it.

    Messages, tool calls, usage and errors are read from its runs. An agent that keeps
    nothing between runs can be named in `evals.toml` itself, in place of this function:
    `pydantic-ai:MODULE:AGENT`. For dependencies, let `deps` under `[target]` name a
    function of the case that makes them.

    Two more functions are used if you write them here: `user_simulator(case, messages)`
    says what the user says next, or None at the end; `warm_up()` runs before the first
    case.
    """
    raise TargetNotWritten
