"""Small cards of both formats, to change and resolve in tests."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix_gen.problems import has_errors
from helix_gen.spec.overlay import read_overlay
from helix_gen.spec.read import read_spec
from helix_gen.suite.model import Suite
from helix_gen.suite.resolve import Resolved, resolve
from helix_gen.suite.target import EngineChoice

CODE_TARGET = {
    "id": "py",
    "type": "framework",
    "name": "pydantic-ai",
    "artifact": {"format": "code", "path": "src/agent.py"},
    "implementation": {"language": "python", "toolchain": "uv"},
    "capabilityFit": "All tools are there.",
    "documentation": [{"purpose": "api", "url": "https://docs.example/api"}],
}
HARNESS_TARGET = {
    "id": "host",
    "type": "harness",
    "name": "some-host",
    "artifact": {"format": "markdown", "path": ".host/agent.md"},
    "capabilityFit": "All tools are there.",
    "documentation": [{"purpose": "format", "url": "https://docs.example/host"}],
}


def scenario(name: str, **more: Any) -> dict[str, Any]:
    """Return a scenario of 0.3."""
    return {
        "id": name,
        "description": f"The situation {name}.",
        "expectedBehavior": f"Does right in {name}.",
        **more,
    }


def criterion(name: str, kind: str = "code-check", **more: Any) -> dict[str, Any]:
    """Return a criterion of 0.3."""
    return {
        "id": name,
        "description": f"{name} holds.",
        "type": kind,
        "goal": "No breach",
        **more,
    }


def dataset(name: str, **more: Any) -> dict[str, Any]:
    """Return a dataset of 0.3."""
    return {
        "id": name,
        "description": f"Cases of {name}.",
        "mapsTo": {},
        "categories": [],
        **more,
    }


def card(
    *,
    criteria: Any = (),
    scenarios: Any = (),
    datasets: Any = (),
    targets: Any = (CODE_TARGET,),
    actions: Any = (),
    context: Any = (),
    workflow: Any = None,
    **spec: Any,
) -> dict[str, Any]:
    """Return an Agent card of 0.3."""
    agent: dict[str, Any] = {
        "persona": {"role": "Clerk", "description": "Careful."},
        "systemPrompt": "Answer with care.",
        "operatingType": "conversational",
    }
    if workflow is not None:
        agent["workflow"] = {"inline": workflow}
    return {
        "apiVersion": "agentspec.mutagent.io/v0.3.0",
        "kind": "Agent",
        "metadata": {
            "id": "desk-clerk",
            "name": "Desk Clerk",
            "version": "1.0.0",
            "description": "Answers at the desk.",
        },
        "spec": {
            "intent": {
                "problem": "Nobody answers.",
                "outcomes": [],
                "sop": [],
                "jobs": [
                    {
                        "id": "answer",
                        "description": "Answer visitors.",
                        "expectedOutput": "An answer.",
                    }
                ],
                "constraints": ["Be brief."],
                "nonGoals": ["Sell"],
                "assumptions": [],
                "unknowns": [],
            },
            "context": list(context),
            "actions": list(actions),
            "capabilities": {"code": [], "skills": [], "delegates": []},
            "agent": agent,
            "targets": list(targets),
            "evaluation": {
                "criteria": list(criteria),
                "scenarios": list(scenarios),
                "datasets": list(datasets),
            },
            **spec,
        },
    }


def action(name: str, *operations: str, policy: str = "required") -> dict[str, Any]:
    """Return an outbound action of 0.3."""
    return {
        "id": name,
        "description": f"Does {name}.",
        "binding": {"kind": "mcp", "ref": "mcp://desk"},
        "allowedOperations": list(operations),
        "approval": {"policy": policy, "when": "Before each call."},
        "evidence": "A record.",
        "onFailure": "Stop.",
    }


def read(name: str, *operations: str) -> dict[str, Any]:
    """Return a piece of context of 0.3."""
    return {
        "id": name,
        "description": f"What {name} says",
        "modalities": ["text"],
        "source": "desk",
        "access": {
            "kind": "mcp",
            "ref": "mcp://desk",
            "allowedOperations": list(operations),
        },
    }


def card_v02(*, framework: str = "langgraph", **evals: Any) -> dict[str, Any]:
    """Return a spec of 0.2."""
    return {
        "schema_version": "0.2.0",
        "meta": {
            "spec_id": "old-clerk",
            "spec_version": "1",
            "loop_state": {"stage": "spec", "updated_at": "2026-01-01T00:00:00Z"},
        },
        "definition": {
            "identity": {
                "name": "Old Clerk",
                "version": "1",
                "description": "Answers at the desk.",
                "kind": "agent",
            },
            "persona": {"role": "Clerk", "persona": "Careful."},
            "system_prompt": "Answer with care.",
            "jobs_to_be_done": [
                {
                    "id": "answer",
                    "description": "Answer visitors.",
                    "expected_output": "An answer.",
                }
            ],
            "context_sources": [
                {
                    "id": "files",
                    "kind": "api",
                    "description": "The files.",
                    "where_from": "https://files.example",
                }
            ],
            "tools": {
                "integration": [
                    {
                        "id": "search",
                        "kind": "saas",
                        "ref": "search-api",
                        "description": "Searches.",
                    }
                ],
                "code": [
                    {
                        "id": "format",
                        "lang": "python",
                        "sandbox": True,
                        "description": "Formats.",
                    }
                ],
                "skills": [],
                "subagents": [],
            },
            "agent_type": "conversational",
            "triggers": [],
            "modeling": {
                "decision_graph": {"state": "S", "nodes": [], "edges": []},
                "workflows": [],
            },
            "sop": [],
            "evals": {
                "success_criteria": [],
                "scenarios": [],
                "dataset_categories": [],
                **evals,
            },
        },
        "build": {
            "target_framework": framework,
            "runtime": "python",
            "target_eval_framework": "any",
        },
    }


_PAIR = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")


def as_yaml(data: Any) -> bytes:
    """Return plain data as YAML in ASCII, whose escapes are those of JSON but one."""

    def astral(pair: re.Match[str]) -> str:
        high, low = (int(half, 16) for half in pair.groups())
        return f"\\U{0x10000 + ((high - 0xD800) << 10) + low - 0xDC00:08x}"

    return _PAIR.sub(astral, json.dumps(data, indent=1)).encode()


def resolved(
    spec: dict[str, Any],
    overlay: dict[str, Any] | None = None,
    *,
    engine: EngineChoice = "auto",
    target: str | None = None,
    folder: Path | None = None,
    items: Mapping[str, Path] | None = None,
) -> Resolved:
    """Return what a card, which must be valid, resolves to."""
    spec_read = read_spec(as_yaml(spec), file="clerk.yaml")
    assert not has_errors(spec_read.problems), spec_read.problems
    overlay_read = None
    if overlay is not None:
        overlay_read = read_overlay(
            as_yaml(overlay),
            file="clerk.evals.yaml",
            card=spec_read.card,
        )
        assert not has_errors(overlay_read.problems), overlay_read.problems
    return resolve(
        spec_read,
        overlay_read,
        engine=engine,
        target=target,
        folder=folder,
        items=items or {},
    )


def suite_of(
    spec: dict[str, Any], overlay: dict[str, Any] | None = None, **how: Any
) -> Suite:
    """Return the suite of a card; no error may stand."""
    result = resolved(spec, overlay, **how)
    assert result.suite is not None, result.problems
    return result.suite
