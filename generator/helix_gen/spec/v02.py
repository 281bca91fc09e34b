"""AgentSpec 0.2.0: its structure, closed at every level."""

from typing import Any, Literal

from pydantic import Field

from .base import Closed, Maybe, Text

SCHEMA_VERSION = "0.2.0"


class LoopState(Closed):
    """Where the subject stands in its life cycle."""

    stage: Literal["spec", "build", "eval", "ship", "diagnose", "discover", "improve"]
    last_verdict: Maybe[str] = None
    updated_at: Text


class Meta(Closed):
    """The identity of the spec itself."""

    spec_id: Text
    spec_version: Text
    loop_state: LoopState


class Identity(Closed):
    """What the subject is."""

    name: Text
    version: Text
    description: Text
    kind: Literal["agent", "skill", "composite"]


class Persona(Closed):
    """Who the subject is to its users."""

    role: Text
    persona: Text


class Job(Closed):
    """A job to be done; `backed_by` names code tools."""

    id: Text
    description: Text
    expected_output: Text
    backed_by: Maybe[list[str]] = None


class ContextSource(Closed):
    """Where the subject reads from."""

    id: Text
    kind: Literal["api", "saas", "internal-service", "mcp", "cli"]
    description: Text
    where_from: Text
    auth_ref: Maybe[str] = None


class IntegrationTool(Closed):
    """A tool of another system."""

    id: Text
    kind: Literal["cli", "saas", "mcp"]
    ref: Text
    description: Text


class CodeTool(Closed):
    """A tool that is code of the subject."""

    id: Text
    lang: Text
    sandbox: bool
    description: Text


class SkillTool(Closed):
    """A skill that the subject loads."""

    id: Text
    ref: Text
    description: Text


class Subagent(Closed):
    """An agent that the subject dispatches."""

    name: Text
    description: Text
    instructions: Text
    tools: Maybe[list[str]] = None
    model: Maybe[str] = None


class Tools(Closed):
    """The four sorts of tools."""

    integration: list[IntegrationTool]
    code: list[CodeTool]
    skills: list[SkillTool]
    subagents: list[Subagent]


class Trigger(Closed):
    """What activates the subject."""

    id: Text
    kind: Literal["a2a", "webhook", "schedule", "queue", "event", "mcp", "manual"]
    description: Text
    config: Maybe[dict[str, Any]] = None


class GraphEdge(Closed):
    """An edge of the decision graph."""

    from_: Text = Field(alias="from")
    to: Text
    condition: Maybe[str] = None


class DecisionGraph(Closed):
    """The decision graph: nodes are names."""

    state: Text
    nodes: list[str]
    edges: list[GraphEdge]


class Modeling(Closed):
    """The decision graph and workflows in prose."""

    decision_graph: DecisionGraph
    workflows: list[str]


class Outcome(Closed):
    """What follows a procedure."""

    success: Maybe[str] = None
    failure: Maybe[str] = None


class Procedure(Closed):
    """A standard operating procedure."""

    id: Text
    when: Text
    context: Text
    procedure: Text
    on_outcome: Maybe[Outcome] = None


class SuccessCriterion(Closed):
    """A binary criterion."""

    id: Text
    criterion: Text
    type: Literal["llm-judge", "code-check"]
    goal: Text


class Scenario(Closed):
    """A situation and what the subject should do in it."""

    id: Text
    description: Text
    expected_behavior: Text
    category: Maybe[str] = None
    edge_case: Maybe[bool] = None


class DatasetCategory(Closed):
    """A slice of the dataset, with the edge cases that it must hold."""

    id: Text
    description: Text
    edge_cases: list[str]


class Evals(Closed):
    """What the subject is judged by."""

    success_criteria: list[SuccessCriterion]
    scenarios: list[Scenario]
    dataset_categories: list[DatasetCategory]


class Definition(Closed):
    """What the subject is, whatever it is built with."""

    identity: Identity
    persona: Persona
    system_prompt: Text
    jobs_to_be_done: list[Job]
    context_sources: list[ContextSource]
    tools: Tools
    agent_type: Literal["conversational", "automation", "orchestrator"]
    triggers: list[Trigger]
    modeling: Modeling
    sop: list[Procedure]
    evals: Evals


class Build(Closed):
    """What the subject is built with."""

    target_framework: Text
    runtime: Text
    target_eval_framework: Text


class Appendix(Closed):
    """Documents to read."""

    framework_docs: dict[str, list[str]]
    references: list[str]


class AgentSpec(Closed):
    """An AgentSpec 0.2.0."""

    schema_version: Literal["0.2.0"]
    meta: Meta
    definition: Definition
    build: Build
    appendix: Maybe[Appendix] = None
