"""Code checks: one function for each criterion that code decides.

A check reads the case and the trace, and says what it saw with `passed`, `failed`,
`not_applicable` or `uncertain` of `_runtime.verdict`. It reads no clock, no random
source and no network. `_runtime.checks` has ready-made ones. What a tool gave
back may be JSON text: look into `call.result_data`, not into `call.result`.
"""

from ._runtime.case import Case
from ._runtime.checks import expect, facts, tools
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict
from .subject import ACTION_HOLDERS, DECLARED_TOOLS, WORKFLOW, WORKFLOW_NODES


@check(
    "one-writer",
    "Only the clerk writes into the order book.",
    goal="No write by another member",
)
def one_writer(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "expected-outputs",
    (
        "The nodes and members of the run give the outputs that its case expects, "
        "where those are data."
    ),
)
def expected_outputs(case: Case, trace: Trace) -> Verdict:
    """Pass where each node and member gives the output that its case expects."""
    return expect.outputs(case, trace, nodes=WORKFLOW_NODES)


@check("declared-tools", "The run calls no tool that the spec does not declare.")
def declared_tools(case: Case, trace: Trace) -> Verdict:
    """Pass where every call is of a declared tool; also where there is no call."""
    return tools.only_declared(case, trace, declared=DECLARED_TOOLS)


@check(
    "workflow-facts",
    (
        "The workflow's entry, edges, contexts and executors resolve, and each node "
        "can be reached."
    ),
)
def workflow_facts(case: Case, trace: Trace) -> Verdict:
    """Pass where the workflow's graph is sound."""
    return facts.workflow_resolves(case, trace, workflow=WORKFLOW)


@check("action-holders", "No outbound action is held by more than one member.")
def action_holders(case: Case, trace: Trace) -> Verdict:
    """Pass where no action is held by more than one member."""
    return facts.single_holders(case, trace, holders=ACTION_HOLDERS)
