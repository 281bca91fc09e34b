"""What an AgentSpec 0.2.0 declares."""

from typing import Final

from ..problems import quoted
from ..spec import v02
from .dataset import Category, Declared, Scenario
from .declaration import Declaration, DeclaredCriterion, Facts, unique
from .model import Reversibility, Subject, Target, Tool
from .report import InSpec

_EVALS: Final = ("definition", "evals")
_HARNESS: Final = "harness:"


def declaration(card: v02.AgentSpec) -> Declaration:
    """Return what the spec declares. It has no datasets: all its cases stand in none."""
    evals = card.definition.evals
    scenarios = {
        scenario.id: Scenario(
            id=scenario.id,
            description=scenario.description,
            expected_behavior=scenario.expected_behavior,
            category=scenario.category,
            edge=scenario.edge_case is True,
        )
        for scenario in evals.scenarios
    }
    cases = Declared(
        id=None,
        description=card.definition.identity.description,
        at=InSpec(_EVALS),
        categories=[
            Category(
                id=category.id,
                description=category.description,
                edge_cases=category.edge_cases,
            )
            for category in evals.dataset_categories
        ],
        scenarios=list(scenarios),
    )
    criteria = tuple(
        DeclaredCriterion(
            id=criterion.id,
            statement=criterion.criterion,
            goal=criterion.goal,
            judged=criterion.type == "llm-judge",
            datasets=(),
            at=InSpec((*_EVALS, "success_criteria", index)),
        )
        for index, criterion in enumerate(evals.success_criteria)
    )
    target = _target(card.build.target_framework, card.build.runtime)
    return Declaration(
        subject=_subject(card, target),
        targets=(target,),
        criteria=criteria,
        scenarios=scenarios,
        datasets=(cases,),
        references={},
        jobs={},
        facts=_facts(card),
        spec_version=v02.SCHEMA_VERSION,
    )


def _target(framework: str, runtime: str) -> Target:
    harness = framework.startswith(_HARNESS)
    name = framework.removeprefix(_HARNESS).strip() or framework
    return Target(
        id=framework,
        type="harness" if harness else "framework",
        name=name,
        code=not harness,
        why_native=f"its target {quoted(framework)} is a harness" if harness else "",
        language=runtime,
    )


def _subject(card: v02.AgentSpec, target: Target) -> Subject:
    definition = card.definition
    identity, tools = definition.identity, definition.tools
    listed = [
        _tool(source.id, source.description, "none")
        for source in definition.context_sources
    ]
    listed += [_tool(tool.id, tool.description) for tool in tools.integration]
    listed += [
        _tool(tool.id, tool.description, "none" if tool.sandbox else "unknown")
        for tool in tools.code
    ]
    listed += [_tool(skill.id, skill.description) for skill in tools.skills]
    listed += [_tool(agent.name, agent.description) for agent in tools.subagents]
    return Subject(
        id=card.meta.spec_id,
        name=identity.name,
        version=identity.version,
        kind=identity.kind,
        purpose=identity.description.strip(),
        scope=tuple(job.description.strip() for job in definition.jobs_to_be_done),
        tools=tuple({tool.name: tool for tool in listed}.values()),
        harness=target.name,
        system_prompt=definition.system_prompt,
    )


def _tool(
    name: str, description: str, reversibility: Reversibility = "unknown"
) -> Tool:
    # The format does not say which tools have effects outside.
    return Tool(
        name=name,
        description=description.strip(),
        reversibility=reversibility,
        outbound=False,
    )


def _facts(card: v02.AgentSpec) -> Facts:
    """Return the facts; the format knows no outbound actions and no node bodies."""
    tools = card.definition.tools
    names = [source.id for source in card.definition.context_sources]
    for integration in tools.integration:
        names += [integration.id, integration.ref]
    names += [tool.id for tool in tools.code]
    for skill in tools.skills:
        names += [skill.id, skill.ref]
    names += [agent.name for agent in tools.subagents]
    nodes = unique(card.definition.modeling.decision_graph.nodes)
    return Facts(
        declared=unique(names) or None,
        nodes=nodes or None,
    )
