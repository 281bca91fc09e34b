"""The criteria that a suite has beyond those of its spec: what the facts already say.

Each advises (MED) and is there only where the spec gives it something to compare
with. The overlay turns any of them off (`derive: {expected-path: off}`) and may change
it by its id, as it may a criterion of the spec.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final

from helix_runtime.case import Case

from .declaration import Facts
from .model import Constant, Criterion, Engine, PrimitiveCall, Scope

SCENARIO_BEHAVIOR: Final = "scenario-behavior"
EXPECTED_ACTIONS: Final = "expected-actions"
EXPECTED_PATH: Final = "expected-path"
EXPECTED_OUTPUTS: Final = "expected-outputs"
DECLARED_TOOLS: Final = "declared-tools"
WORKFLOW_FACTS: Final = "workflow-facts"
ACTION_HOLDERS: Final = "action-holders"

DERIVED: Final = (
    SCENARIO_BEHAVIOR,
    EXPECTED_ACTIONS,
    EXPECTED_PATH,
    EXPECTED_OUTPUTS,
    DECLARED_TOOLS,
    WORKFLOW_FACTS,
    ACTION_HOLDERS,
)
"""The names of all derived criteria, in the order in which they stand in a suite."""

_ACTION_FIELDS: Final = ("actionCalls", "hostActions")
_OUTPUT_FIELDS: Final = ("nodeOutputs", "workflowNodeOutputs", "memberOutputs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A derived criterion: decided by a call, or by a judge with two definitions."""

    name: str
    statement: str
    call: PrimitiveCall | None = None
    pass_when: str = ""
    fail_when: str = ""
    scope: Scope = Scope()


def derive(
    *, facts: Facts, cases: Iterable[Case], engine: Engine, off: Callable[[str], bool]
) -> Iterator[Derived]:
    """Yield what can be derived from the facts and the cases, in the order of DERIVED.

    `off` says whether the user turned a name off. Tools are compared with those
    declared only where code is judged: a harness has tools of its own.
    """
    seen = _look(cases)
    every = {
        SCENARIO_BEHAVIOR: _BEHAVIOR if seen.behaviors else None,
        EXPECTED_ACTIONS: _actions(facts) if seen.actions else None,
        EXPECTED_PATH: _EXPECTED_PATH if seen.paths and facts.nodes else None,
        EXPECTED_OUTPUTS: _outputs(facts) if seen.outputs else None,
        DECLARED_TOOLS: (
            _DECLARED_TOOLS if engine == "code-written" and facts.declared else None
        ),
        WORKFLOW_FACTS: _WORKFLOW_FACTS if facts.workflow is not None else None,
        ACTION_HOLDERS: _ACTION_HOLDERS if facts.holders else None,
    }
    for name in DERIVED:
        derived = every[name]
        if derived is not None and not off(name):
            yield derived


def same_question(
    derived: Derived, criteria: Iterable[Criterion], datasets: Set[str]
) -> Criterion | None:
    """Return the criterion of the spec whose check decides a derived one already.

    It runs the same primitive with the same arguments on every case that the derived
    one judges: a fact of the spec is the same in all, another one in its `datasets`.
    A list of tools that the overlay gives takes the place of the spec's own.
    """
    call = derived.call
    if call is None:
        return None
    for criterion in criteria:
        twin = None if criterion.check is None else criterion.check.call
        if twin is None or twin.primitive != call.primitive:
            continue
        alike = call.primitive == _DECLARED_TOOLS_BY or _given(twin) == _given(call)
        scope = criterion.scope
        everywhere = call.primitive.startswith("facts.") or (
            not scope.narrowed
            and (not scope.datasets or datasets <= set(scope.datasets))
        )
        if alike and everywhere:
            return criterion
    return None


def _given(call: PrimitiveCall) -> dict[str, Any]:
    """Return what a call is given; an empty list is what it has without one."""
    return {name: value for name, value in call.arguments.items() if value != []}


@dataclass(slots=True)
class _Seen:
    """What the cases give to compare with."""

    behaviors: bool = False
    actions: bool = False
    paths: bool = False
    outputs: bool = False


def _look(cases: Iterable[Case]) -> _Seen:
    seen = _Seen()
    for case in cases:
        seen.behaviors = seen.behaviors or bool(case.expected_behavior)
        expected = case.expected
        if not isinstance(expected, Mapping):
            continue
        seen.actions = seen.actions or any(
            isinstance(expected.get(field), list) for field in _ACTION_FIELDS
        )
        seen.paths = seen.paths or isinstance(expected.get("path"), list)
        seen.outputs = seen.outputs or any(
            _has_data(expected.get(field)) for field in _OUTPUT_FIELDS
        )
    return seen


def _has_data(outputs: Any) -> bool:
    """Whether an expected output is data, not a description of the right one."""
    return isinstance(outputs, list) and any(
        isinstance(output, Mapping) and _is_data(output.get("output"))
        for output in outputs
    )


def _is_data(value: Any) -> bool:
    if isinstance(value, str):
        return len(value.split()) == 1
    return value is not None


# It needs no scope: where a case states no behaviour, the runtime reads it as `na`.
_BEHAVIOR: Final = Derived(
    name=SCENARIO_BEHAVIOR,
    statement="The run shows the behaviour that its scenario expects.",
    pass_when=(
        "The run does everything that the case's expected behaviour says, and the "
        "places that show it can be cited. Where the right behaviour is to refuse, "
        "to hold or to do nothing, a run that does so passes."
    ),
    fail_when=(
        "The run leaves out a part of the case's expected behaviour, or does "
        "something that it rules out, and the place (or what is missing where it "
        "was due) can be cited."
    ),
)


def _actions(facts: Facts) -> Derived | None:
    if not facts.outbound:
        return None
    arguments = {"outbound": Constant("OUTBOUND_ACTIONS")}
    if facts.operations is not None:
        arguments["operations"] = Constant("ACTION_OPERATIONS")
    return Derived(
        name=EXPECTED_ACTIONS,
        statement=(
            "The run calls the outbound actions that its case expects, and no other."
        ),
        call=PrimitiveCall(primitive="expect.actions", arguments=arguments),
    )


def _outputs(facts: Facts) -> Derived:
    return Derived(
        name=EXPECTED_OUTPUTS,
        statement=(
            "The nodes and members of the run give the outputs that its case expects, "
            "where those are data."
        ),
        call=PrimitiveCall(
            primitive="expect.outputs",
            arguments={"nodes": Constant("WORKFLOW_NODES") if facts.nodes else []},
        ),
    )


_EXPECTED_PATH: Final = Derived(
    name=EXPECTED_PATH,
    statement="The run takes the path through the workflow that its case expects.",
    call=PrimitiveCall(
        primitive="expect.path", arguments={"nodes": Constant("WORKFLOW_NODES")}
    ),
)
_DECLARED_TOOLS_BY: Final = "tools.only_declared"
_DECLARED_TOOLS: Final = Derived(
    name=DECLARED_TOOLS,
    statement="The run calls no tool that the spec does not declare.",
    call=PrimitiveCall(
        primitive=_DECLARED_TOOLS_BY,
        arguments={"declared": Constant("DECLARED_TOOLS")},
    ),
)
_WORKFLOW_FACTS: Final = Derived(
    name=WORKFLOW_FACTS,
    statement=(
        "The workflow's entry, edges, contexts and executors resolve, and each node "
        "can be reached."
    ),
    call=PrimitiveCall(
        primitive="facts.workflow_resolves",
        arguments={"workflow": Constant("WORKFLOW")},
    ),
)
_ACTION_HOLDERS: Final = Derived(
    name=ACTION_HOLDERS,
    statement="No outbound action is held by more than one member.",
    call=PrimitiveCall(
        primitive="facts.single_holders",
        arguments={"holders": Constant("ACTION_HOLDERS")},
    ),
)
