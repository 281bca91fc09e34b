"""JSON Schemas (draft 2020-12) of the formats, for editors.

They come from the same models that read the files. What only holds between parts of a
file (references, graphs) no schema says: `helix-gen lint` does.
"""

from typing import Any, Final

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
NAMES: Final = ("agentspec-0.2", "agentspec-0.3", "overlay")

_BODIES: Final = {
    "Agent": "agent",
    "Skill": "skill",
    "MultiAgent": "multiAgent",
    "Workflow": "workflow",
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format. Raises KeyError for a name not in NAMES."""
    if name == "agentspec-0.2":
        from .v02 import AgentSpec as Model02

        return _finished(Model02.model_json_schema(), "AgentSpec 0.2.0")
    if name == "agentspec-0.3":
        from .v03 import AgentSpec as Model03

        schema = _finished(Model03.model_json_schema(), "AgentSpec 0.3.0")
        schema["allOf"] = [_body_of(kind) for kind in _BODIES]
        return schema
    if name == "overlay":
        from .overlay import Overlay

        schema = _finished(Overlay.model_json_schema(), "helix-gen overlay")
        _describe_overlay(schema["$defs"])
        return schema
    raise KeyError(name)


def _finished(schema: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": DIALECT, **_without_null(schema), "title": title}


def _without_null(value: Any) -> Any:
    """Return a schema in which a key that may be left out may not be null.

    pydantic writes `T | None = None` as a choice with null and a null default; the
    models refuse null (`base.Maybe`).
    """
    if isinstance(value, list):
        return [_without_null(each) for each in value]
    if not isinstance(value, dict):
        return value
    result = {key: _without_null(each) for key, each in value.items()}
    choices = result.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        rest = [choice for choice in choices if choice != {"type": "null"}]
        del result["anyOf"]
        if result.get("default", ...) is None:
            del result["default"]
        result.update(rest[0] if len(rest) == 1 else {"anyOf": rest})
    elif result.get("default", ...) is None and "default" in result:
        del result["default"]
    if isinstance(result.get("title"), str):
        # Titles only repeat the names of keys; editors would show both.
        del result["title"]
    return result


def _body_of(kind: str) -> dict[str, Any]:
    """Return the rule that a card of a kind has its own body, and no other's."""
    others = [body for other, body in _BODIES.items() if other != kind]
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {
            "properties": {
                "spec": {
                    "required": [_BODIES[kind]],
                    "properties": dict.fromkeys(others, False),
                }
            }
        },
    }


def _describe_overlay(definitions: dict[str, Any]) -> None:
    """Add what validators say: checks by name, aggregates, fields of ours, targets."""
    from ..suite.primitives import catalog

    properties = definitions["CriterionOverlay"]["properties"]
    properties["check"] = {
        "description": "One primitive and its arguments.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {
            primitive.name: {
                "description": primitive.summary,
                "type": ["object", "null"],
                "properties": {p.name: {} for p in primitive.parameters},
                "required": [p.name for p in primitive.parameters if p.required],
                "additionalProperties": False,
            }
            for primitive in catalog().values()
        },
        "additionalProperties": False,
    }
    condition = r"^(>=|<=|>|<)\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
    properties["aggregate"] = {
        "description": "When the criterion passes over its cases.",
        "oneOf": [
            {"const": "all"},
            *(
                {
                    "type": "object",
                    "properties": {kind: rule},
                    "required": [kind],
                    "additionalProperties": False,
                }
                for kind, rule in (
                    ("rate", {"type": "string", "pattern": condition}),
                    ("mean", {"type": "string", "pattern": condition}),
                    ("baseline", {"type": "string", "pattern": condition}),
                    ("pass^k", {"type": "integer", "minimum": 1}),
                )
            ),
        ],
    }
