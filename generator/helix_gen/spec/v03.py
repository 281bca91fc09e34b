"""AgentSpec 0.3.0: its structure, closed at every level; keys are in camel case.

What holds between its parts (references, graphs, the body that fits the kind) is
checked in `semantics`.
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from .base import Camel, Maybe, Text

BindingKind = Literal["cli", "saas", "mcp", "sdk", "host-tool"]


class Metadata(Camel):
    """The identity of a card."""

    id: Text
    name: Text
    version: Text
    description: Text


class Procedure(Camel):
    """A standard operating procedure."""

    id: Text
    when: Text
    description: Text
    on_failure: Maybe[Text] = None


class Job(Camel):
    """A job to be done."""

    id: Text
    description: Text
    expected_output: Text


class Intent(Camel):
    """What the subject is for. Every key stands; lists may be empty."""

    problem: Text
    outcomes: list[Text]
    sop: list[Procedure]
    jobs: list[Job]
    constraints: list[Text]
    non_goals: list[Text]
    assumptions: list[Text]
    unknowns: list[Text]


class Access(Camel):
    """How a piece of context is read."""

    kind: BindingKind
    ref: Text
    allowed_operations: list[Text]
    auth_ref: Maybe[Text] = None


class Context(Camel):
    """Information that comes in, and the access to it."""

    id: Text
    description: Text
    modalities: list[Text]
    source: Text
    freshness: Maybe[Text] = None
    sensitivity: Maybe[Text] = None
    access: Access


class Binding(Camel):
    """What carries out an action."""

    kind: BindingKind
    ref: Text
    auth_ref: Maybe[Text] = None


class Approval(Camel):
    """Who must agree to an action, and when."""

    policy: Text
    when: Text


class Action(Camel):
    """An effect outside of the subject."""

    id: Text
    description: Text
    binding: Binding
    allowed_operations: list[Text]
    approval: Approval
    evidence: Text
    on_failure: Text


class CodeConstraints(Camel):
    """What code must keep to."""

    sandbox: bool


class CodeCapability(Camel):
    """Code that the subject needs."""

    id: Text
    description: Text
    constraints: Maybe[CodeConstraints] = None


class Capabilities(Camel):
    """What the subject needs of its own."""

    code: list[CodeCapability]
    skills: list[Text]
    delegates: list[Text]


class Executor(Camel):
    """What carries out a workflow node."""

    kind: Literal["member", "agent", "skill", "action", "integration", "code"]
    ref: Text


class Loop(Camel):
    """What bounds an edge that returns."""

    max_iterations: Maybe[Annotated[int, Field(ge=1)]] = None
    exit_when: Maybe[Text] = None


class Edge(Camel):
    """An edge from one workflow node to the next."""

    to: Text
    condition: Maybe[Text] = None
    loop: Maybe[Loop] = None


class Node(Camel):
    """A step of a workflow."""

    id: Text
    description: Text
    executor: Maybe[Executor] = None
    context_refs: Maybe[list[Text]] = None
    edges: Maybe[list[Edge]] = None
    terminal: Maybe[bool] = None


class Workflow(Camel):
    """A workflow graph."""

    state: Text
    entry: Text
    nodes: list[Node]


class WorkflowSlot(Camel):
    """A workflow that stands here, or a reference to one."""

    inline: Maybe[Workflow] = None
    ref: Maybe[Text] = None


class Persona(Camel):
    """Who the subject is to its users."""

    role: Text
    description: Text


class Trigger(Camel):
    """What activates an agent."""

    id: Text
    description: Text
    kind: Literal["a2a", "webhook", "schedule", "queue", "event", "mcp", "manual"]


class Agent(Camel):
    """The body of a card of the kind Agent."""

    persona: Persona
    system_prompt: Text
    operating_type: Literal["conversational", "automation", "orchestrator"]
    triggers: Maybe[list[Trigger]] = None
    workflow: Maybe[WorkflowSlot] = None


class SkillInput(Camel):
    """An input of a skill."""

    name: Text
    description: Text
    required: Maybe[bool] = None


class SkillOutput(Camel):
    """An output of a skill."""

    name: Text
    description: Text


class SkillResource(Camel):
    """A file that a skill brings."""

    id: Text
    kind: Text
    path: Text
    description: Text


class Skill(Camel):
    """The body of a card of the kind Skill."""

    purpose: Text
    invocation: Text
    instructions: Text
    inputs: list[SkillInput]
    outputs: list[SkillOutput]
    resources: list[SkillResource]
    host_requirements: list[Text]
    failure_behavior: Text
    progressive_disclosure: bool
    subagents: Maybe[list[Text]] = None


class MemberSpec(Camel):
    """The spec of an embedded member: references to its parent's parts, or its own."""

    intent_ref: Maybe[Text] = None
    context_refs: Maybe[list[Text]] = None
    action_refs: Maybe[list[Text]] = None
    intent: Maybe[Intent] = None
    context: Maybe[list[Context]] = None
    actions: Maybe[list[Action]] = None
    capabilities: Maybe[Capabilities] = None
    agent: Maybe[Agent] = None
    skill: Maybe[Skill] = None


class MemberCard(Camel):
    """An embedded card of a member."""

    api_version: Literal["agentspec.mutagent.io/v0.3.0"]
    kind: Literal["Agent", "Skill"]
    metadata: Metadata
    spec: MemberSpec


class MemberReference(Camel):
    """A member whose card is in another file."""

    spec_ref: Text


MEMBER_CARD = "(card)"
MEMBER_REFERENCE = "(reference)"


def _member_form(value: Any) -> str:
    is_reference = isinstance(value, dict) and "specRef" in value
    return MEMBER_REFERENCE if is_reference else MEMBER_CARD


Member = Annotated[
    Annotated[MemberCard, Tag(MEMBER_CARD)]
    | Annotated[MemberReference, Tag(MEMBER_REFERENCE)],
    Discriminator(_member_form),
]


class Relations(Camel):
    """Who dispatches whom, and who watches whom."""

    subagents: dict[str, list[Text]]
    observes: dict[str, list[Text]]


class MultiAgent(Camel):
    """The body of a card of the kind MultiAgent."""

    orchestrator: Text
    members: list[Member]
    relations: Relations
    workflow: WorkflowSlot


class Artifact(Camel):
    """What a target is built as."""

    format: Literal["markdown", "code", "platform-config"]
    path: Text


class Implementation(Camel):
    """How a code target is built."""

    language: Text
    toolchain: Text


class Documentation(Camel):
    """What to read about a target."""

    purpose: Text
    url: Text


class Target(Camel):
    """What the subject is built for."""

    id: Text
    type: Literal["harness", "framework", "platform", "custom"]
    name: Text
    artifact: Artifact
    implementation: Maybe[Implementation] = None
    capability_fit: Text
    documentation: list[Documentation]


class Criterion(Camel):
    """A binary criterion."""

    id: Text
    description: Text
    type: Literal["llm-judge", "code-check"]
    goal: Text


class Scenario(Camel):
    """A situation and what the subject should do in it."""

    id: Text
    description: Text
    expected_behavior: Text
    edge_case: Maybe[bool] = None


class MapsTo(Camel):
    """What a dataset exercises."""

    jobs: Maybe[list[Text]] = None
    scenarios: Maybe[list[Text]] = None
    criteria: Maybe[list[Text]] = None


class Category(Camel):
    """A slice of a dataset; `required_cases` are combinations it must hold."""

    id: Text
    description: Text
    generation_guidance: Maybe[Text] = None
    required_cases: Maybe[list[dict[str, str]]] = None


class Dimension(Camel):
    """An axis along which the cases of a dataset vary."""

    description: Text
    values: list[Text]


class Item(Camel):
    """A row of a dataset; `input` and `expected` are free data."""

    id: Text
    category: Maybe[Text] = None
    scenario_ref: Text
    case: Maybe[dict[str, Any]] = None
    input: Any = None
    expected: Any = None


class Dataset(Camel):
    """A dataset: its rows stand here, in another file, or are still to be made."""

    id: Text
    description: Text
    maps_to: MapsTo
    categories: list[Category]
    case_dimensions: Maybe[dict[str, Dimension]] = None
    items: Maybe[list[Item]] = None
    items_ref: Maybe[Text] = None


class Evaluation(Camel):
    """What the subject is judged by. Every key stands; lists may be empty."""

    criteria: list[Criterion]
    scenarios: list[Scenario]
    datasets: list[Dataset]


class Spec(Camel):
    """The spec of a card; of the four bodies, the one that the kind names stands."""

    intent: Intent
    context: list[Context]
    actions: list[Action]
    capabilities: Capabilities
    agent: Maybe[Agent] = None
    skill: Maybe[Skill] = None
    multi_agent: Maybe[MultiAgent] = None
    workflow: Maybe[Workflow] = None
    targets: list[Target]
    evaluation: Evaluation
    decisions_ref: Maybe[Text] = None


class Status(Camel):
    """The stamp of an internal card; never on a public one."""

    adl_stage: Text = Field(alias="adl_stage")
    updated_at: Text = Field(alias="updated_at")
    last_verdict: Text = Field(alias="last_verdict")


class AgentSpec(Camel):
    """An AgentSpec 0.3.0."""

    api_version: Literal["agentspec.mutagent.io/v0.3.0"]
    kind: Literal["Agent", "Skill", "MultiAgent", "Workflow"]
    metadata: Metadata
    spec: Spec
    status: Maybe[Status] = None
