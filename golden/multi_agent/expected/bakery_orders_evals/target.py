"""How to reach the subject, a graph of LangGraph: yours to fill in.

`evals.toml` names `graph` as the target. The file is generated once and never again.
"""

from typing import Any

from ._runtime.case import Case
from ._runtime.targets import TargetNotWritten


def graph(case: Case) -> Any:
    """Return the compiled graph for one case: import yours here, and return it.

    Its nodes are the path of the trace; messages, tool calls and usage are read from
    what they add to the state. A compiled graph can be named in `evals.toml` itself, in
    place of this function: `langgraph:MODULE:GRAPH`. For a state without `messages`,
    `input` and `output` under `[target]` say what goes in and what is the answer.

    Two more functions are used if you write them here: `user_simulator(case, messages)`
    says what the user says next, or None at the end; `warm_up()` runs before the first
    case.
    """
    raise TargetNotWritten
