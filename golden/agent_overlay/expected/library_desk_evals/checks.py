"""Code checks: one function for each criterion that code decides.

A check reads the case and the trace, and says what it saw with `passed`, `failed`,
`not_applicable` or `uncertain` of `_runtime.verdict`. It reads no clock, no random
source and no network. `_runtime.checks` has ready-made ones. What a tool gave
back may be JSON text: look into `call.result_data`, not into `call.result`.
"""

from ._runtime.case import Case
from ._runtime.checks import combine, expect, facts, flow, output, tools
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict
from .subject import ACTION_OPERATIONS, OUTBOUND_ACTIONS, WORKFLOW


@check(
    "names-the-shelf",
    "The answer names the shelf of the catalogue's record.",
    goal="In at least 95% of the cases with a copy.",
)
def names_the_shelf(case: Case, trace: Trace) -> Verdict:
    """Decide by `then` where the condition passes; `na` where it does not."""
    return combine.when(
        condition=tools.called(case, trace, name="catalogue.find"),
        then=flow.threaded(case, trace, source="catalogue.find", value="*.shelf"),
    )


@check(
    "reserves-only-when-asked",
    "No reservation is made before the reader has said yes.",
    goal="Never",
)
def reserves_only_when_asked(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "looks-up-first",
    "The catalogue is asked before anything is said about a shelf.",
    goal="Always",
)
def looks_up_first(case: Case, trace: Trace) -> Verdict:
    """Pass where the run called the tool `name`, within limits of how often."""
    return tools.called(case, trace, name="catalogue.find")


@check(
    "short-answers",
    "The answer fits into three sentences.",
    goal="Mean share of answers above 0.9",
)
def short_answers(case: Case, trace: Trace) -> Verdict:
    """Pass where something stands at `path`: not null, blank, or an empty list."""
    return output.present(case, trace)


@check(
    "expected-actions",
    "The run calls the outbound actions that its case expects, and no other.",
)
def expected_actions(case: Case, trace: Trace) -> Verdict:
    """Pass where the run calls the outbound actions its case expects, and no other."""
    return expect.actions(
        case,
        trace,
        outbound=OUTBOUND_ACTIONS,
        operations=ACTION_OPERATIONS,
    )


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
