"""What an AgentSpec 0.3.0 declares, of all four kinds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from helix_runtime.canonical import dump_line

from ..problems import quoted
from ..spec import v03
from ..spec.members import names_in
from .dataset import Category, Declared, Dimension, Item, Scenario
from .declaration import Declaration, DeclaredCriterion, Facts, Reference, unique
from .model import Subject, Target, Tool
from .report import InSpec
from .texts import sentence

_EVALUATION: Final = ("spec", "evaluation")
_DATASETS: Final = (*_EVALUATION, "datasets")
_KINDS: Final[Mapping[str, Any]] = {
    "Agent": "agent",
    "Skill": "skill",
    "MultiAgent": "multi-agent",
    "Workflow": "workflow",
}


def declaration(card: v03.AgentSpec) -> Declaration:
    """Return what the card declares."""
    evaluation = card.spec.evaluation
    scenarios = {
        scenario.id: Scenario(
            id=scenario.id,
            description=scenario.description,
            expected_behavior=scenario.expected_behavior,
            edge=scenario.edge_case is True,
        )
        for scenario in evaluation.scenarios
    }
    datasets = [
        _dataset(dataset, index) for index, dataset in enumerate(evaluation.datasets)
    ]
    exercised = {name for dataset in datasets for name in dataset.scenarios}
    exercised |= {
        item.scenario for dataset in datasets for item in dataset.items if item.scenario
    }
    rest = Declared(
        id=None,
        description=card.metadata.description,
        at=InSpec((*_EVALUATION, "scenarios")),
        scenarios=[name for name in scenarios if name not in exercised],
    )
    return Declaration(
        subject=_subject(card),
        targets=tuple(_target(target) for target in card.spec.targets),
        criteria=_criteria(evaluation),
        scenarios=scenarios,
        datasets=(*datasets, rest),
        references={
            dataset.id: Reference(
                text=dataset.items_ref, at=InSpec((*_DATASETS, index, "itemsRef"))
            )
            for index, dataset in enumerate(evaluation.datasets)
            if dataset.items_ref is not None
        },
        jobs=_jobs(evaluation),
        facts=_facts(card),
        spec_version="0.3.0",
    )


def _dataset(dataset: v03.Dataset, index: int) -> Declared:
    path = (*_DATASETS, index)
    return Declared(
        id=dataset.id,
        description=dataset.description,
        at=InSpec(path),
        categories=[
            Category(
                id=category.id,
                description=category.description,
                required=category.required_cases or (),
            )
            for category in dataset.categories
        ],
        scenarios=dataset.maps_to.scenarios or (),
        dimensions=[
            Dimension(
                name=name,
                description=dimension.description,
                values=unique(dimension.values),
            )
            for name, dimension in (dataset.case_dimensions or {}).items()
        ],
        items=[
            Item(
                at=InSpec((*path, "items", number)),
                id=item.id,
                category=item.category,
                scenario=item.scenario_ref,
                dimensions={k: _label(v) for k, v in (item.case or {}).items()},
                input=item.input,
                expected=item.expected,
            )
            for number, item in enumerate(dataset.items or ())
        ],
    )


def _label(value: Any) -> str:
    return value if isinstance(value, str) else dump_line(value)


def _criteria(evaluation: v03.Evaluation) -> tuple[DeclaredCriterion, ...]:
    mapped: dict[str, list[str]] = {}
    for dataset in evaluation.datasets:
        for criterion_id in dataset.maps_to.criteria or ():
            mapped.setdefault(criterion_id, []).append(dataset.id)
    return tuple(
        DeclaredCriterion(
            id=criterion.id,
            statement=criterion.description,
            goal=criterion.goal,
            judged=criterion.type == "llm-judge",
            datasets=tuple(unique(mapped.get(criterion.id, []))),
            at=InSpec((*_EVALUATION, "criteria", index)),
        )
        for index, criterion in enumerate(evaluation.criteria)
    )


def _jobs(evaluation: v03.Evaluation) -> dict[str, tuple[str, ...]]:
    """Return the jobs that a dataset exercises, each with those datasets."""
    jobs: dict[str, list[str]] = {}
    for dataset in evaluation.datasets:
        for job in unique(dataset.maps_to.jobs or []):
            jobs.setdefault(job, []).append(dataset.id)
    return {job: tuple(unique(datasets)) for job, datasets in jobs.items()}


def _target(target: v03.Target) -> Target:
    why = ""
    if target.type == "harness":
        why = f"its target {quoted(target.id)} is a harness"
    elif target.artifact.format != "code":
        why = f"its target {quoted(target.id)} is built as {target.artifact.format}, not code"
    return Target(
        id=target.id,
        type=target.type,
        name=target.name,
        code=not why,
        why_native=why,
        language=getattr(target.implementation, "language", ""),
    )


# -- the subject -----------------------------------------------------------------------


def _subject(card: v03.AgentSpec) -> Subject:
    """Return the subject; its harness is set when a target is chosen."""
    spec, metadata = card.spec, card.metadata
    purpose = metadata.description if spec.skill is None else spec.skill.purpose
    intent = spec.intent
    scope = [job.description for job in intent.jobs]
    scope += intent.constraints
    scope += [f"Not in scope: {text}" for text in intent.non_goals]
    return Subject(
        id=metadata.id,
        name=metadata.name,
        version=metadata.version,
        kind=_KINDS[card.kind],
        purpose=purpose.strip(),
        scope=tuple(text.strip() for text in scope),
        tools=_tools(card),
        harness="unknown",
        system_prompt=_system_prompt(spec),
    )


def _system_prompt(spec: v03.Spec) -> str:
    """Return what the subject is told; of a multi-agent, what each member is told."""
    if spec.agent is not None:
        return spec.agent.system_prompt
    if spec.skill is not None:
        return spec.skill.instructions
    if spec.multi_agent is None:
        return ""
    prompts = []
    for member in _cards(spec):
        body = member.spec
        prompt = ""
        if body.agent is not None:
            prompt = body.agent.system_prompt
        elif body.skill is not None:
            prompt = body.skill.instructions
        role = ""
        if member.metadata.id == spec.multi_agent.orchestrator:
            role = " (orchestrator)"
        if prompt:
            prompts.append(f"{member.metadata.id}{role}: {prompt.strip()}")
    return "\n\n".join(prompts)


def _cards(spec: v03.Spec) -> Iterator[v03.MemberCard]:
    """Yield the embedded cards of a multi-agent's members."""
    if spec.multi_agent is not None:
        for member in spec.multi_agent.members:
            if isinstance(member, v03.MemberCard):
                yield member


def _member_names(spec: v03.Spec) -> list[str]:
    """Return the ids of the members.

    Of one whose card is elsewhere only its name stands here: in the file's name, in
    the relations, or where a node is given to it.
    """
    body = spec.multi_agent
    if body is None:
        return []
    names = [member.metadata.id for member in _cards(spec)]
    references = [m for m in body.members if isinstance(m, v03.MemberReference)]
    if references:
        sent = body.relations.subagents
        names += [body.orchestrator, *sent, *body.relations.observes]
        names += [name for others in sent.values() for name in others]
        if body.workflow.inline is not None:
            names += [
                node.executor.ref
                for node in body.workflow.inline.nodes
                if node.executor is not None and node.executor.kind == "member"
            ]
        stems = [names_in(each.spec_ref)[:1] for each in references]
        names += [name for found in stems for name in found]
    return unique(names)


def _contexts(spec: v03.Spec) -> Iterator[v03.Context]:
    yield from spec.context
    for member in _cards(spec):
        yield from member.spec.context or ()


def _actions(spec: v03.Spec) -> Iterator[v03.Action]:
    yield from spec.actions
    for member in _cards(spec):
        yield from member.spec.actions or ()


def _capabilities(spec: v03.Spec) -> Iterator[v03.Capabilities]:
    yield spec.capabilities
    for member in _cards(spec):
        if member.spec.capabilities is not None:
            yield member.spec.capabilities


def _tools(card: v03.AgentSpec) -> tuple[Tool, ...]:
    """Return the tools: reads, actions, code, skills, delegates and members.

    A read changes nothing, nor does sandboxed code; what an action does can be taken
    back or not, which the spec does not say.
    """
    spec = card.spec
    tools = [
        Tool(
            name=context.id,
            description=_with_operations(
                context.description, context.access.allowed_operations
            ),
            reversibility="none",
            outbound=False,
        )
        for context in _contexts(spec)
    ]
    tools += [
        Tool(
            name=action.id,
            description=_with_operations(action.description, action.allowed_operations),
            reversibility="unknown",
            outbound=True,
        )
        for action in _actions(spec)
    ]
    members = {member.metadata.id: member for member in _cards(spec)}
    for capabilities in _capabilities(spec):
        tools += [
            Tool(
                name=code.id,
                description=code.description.strip(),
                reversibility=(
                    "none"
                    if code.constraints is not None and code.constraints.sandbox
                    else "unknown"
                ),
                outbound=False,
            )
            for code in capabilities.code
        ]
        tools += [_other(name, "A skill.") for name in capabilities.skills]
        tools += [
            _other(name, "A delegate.")
            for name in capabilities.delegates
            if name not in members
        ]
    tools += [
        _other(member.metadata.id, member.metadata.description.strip())
        for member in members.values()
    ]
    if spec.skill is not None:
        tools += [_other(name, "A subagent.") for name in spec.skill.subagents or ()]
    return tuple({tool.name: tool for tool in reversed(tools)}.values())[::-1]


def _other(name: str, description: str) -> Tool:
    return Tool(
        name=name, description=description, reversibility="unknown", outbound=False
    )


def _with_operations(description: str, operations: Sequence[str]) -> str:
    if not operations:
        return description.strip()
    return f"{sentence(description)} Operations: {', '.join(operations)}."


# -- facts -----------------------------------------------------------------------------


def _facts(card: v03.AgentSpec) -> Facts:
    spec = card.spec
    reads: list[str] = []
    outbound: list[str] = []
    names: list[str] = []
    for context in _contexts(spec):
        reads += context.access.allowed_operations
        names += [context.id, *context.access.allowed_operations]
    for action in _actions(spec):
        outbound += [action.id, *action.allowed_operations]
    names += outbound
    operations = {
        action.id: unique(action.allowed_operations)
        for action in _actions(spec)
        if action.allowed_operations
    }
    for capabilities in _capabilities(spec):
        names += [code.id for code in capabilities.code]
        names += [*capabilities.skills, *capabilities.delegates]
    names += _member_names(spec)
    if spec.skill is not None:
        names += spec.skill.subagents or ()
    relations = None if spec.multi_agent is None else spec.multi_agent.relations
    workflow = _workflow(spec)
    nodes = None if workflow is None else unique([node.id for node in workflow.nodes])
    return Facts(
        outbound=unique(outbound) or None,
        operations=operations or None,
        declared=unique(names) or None,
        workflow=None if workflow is None else _graph(workflow, card),
        nodes=nodes,
        holders=_holders(spec),
        observers=None if relations is None else list(relations.observes),
        dispatch=None if relations is None else dict(relations.subagents),
        shared=sorted(set(reads) & set(outbound)),
    )


def _workflow(spec: v03.Spec) -> v03.Workflow | None:
    """Return the workflow that stands in the card itself, or None."""
    if spec.workflow is not None:
        return spec.workflow
    slot = None
    if spec.agent is not None:
        slot = spec.agent.workflow
    elif spec.multi_agent is not None:
        slot = spec.multi_agent.workflow
    return None if slot is None else slot.inline


def _graph(workflow: v03.Workflow, card: v03.AgentSpec) -> dict[str, Any]:
    spec = card.spec
    return {
        "entry": workflow.entry,
        "nodes": [
            {
                "id": node.id,
                "executor": (
                    None
                    if node.executor is None
                    else {"kind": node.executor.kind, "ref": node.executor.ref}
                ),
                "contextRefs": list(node.context_refs or ()),
                "edges": [
                    {
                        "to": edge.to,
                        "condition": edge.condition,
                        "loop": None if edge.loop is None else _loop(edge.loop),
                    }
                    for edge in node.edges or ()
                ],
                "terminal": node.terminal is True,
            }
            for node in workflow.nodes
        ],
        "actions": [
            {"id": action.id, "approval": action.approval.policy}
            for action in _actions(spec)
        ],
        "contexts": unique([context.id for context in _contexts(spec)]),
        "members": _member_names(spec),
    }


def _loop(loop: v03.Loop) -> dict[str, Any]:
    bounds = {"maxIterations": loop.max_iterations, "exitWhen": loop.exit_when}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _holders(spec: v03.Spec) -> dict[str, list[str]] | None:
    """Return which members hold each action of a multi-agent.

    None where a member's card is elsewhere: nobody here knows what that one holds.
    """
    if spec.multi_agent is None:
        return None
    if not all(isinstance(m, v03.MemberCard) for m in spec.multi_agent.members):
        return None
    holders: dict[str, list[str]] = {action.id: [] for action in _actions(spec)}
    for member in _cards(spec):
        own = [action.id for action in member.spec.actions or ()]
        for action_id in unique([*(member.spec.action_refs or ()), *own]):
            holders.setdefault(action_id, []).append(member.metadata.id)
    return holders or None
