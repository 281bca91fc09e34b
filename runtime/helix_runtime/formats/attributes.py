"""Attributes of spans: OTLP's typed values, dotted keys, and what tools say in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..trace import as_count
from .chat_parts import data_of

_DEPTH: Final = 64
_MOST_ELEMENTS: Final = 100_000


def attributes_of(value: Any) -> dict[str, Any]:
    """Return attributes as a plain object, from OTLP's list or from an object."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    found: dict[str, Any] = {}
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping) and isinstance(item.get("key"), str):
            found[item["key"]] = plain(item.get("value"))
    return found


def plain(value: Any, depth: int = 0) -> Any:
    """Return OTLP's `{stringValue: …}` as the value itself; other data as it is."""
    if depth > _DEPTH or not isinstance(value, Mapping) or len(value) != 1:
        return value
    (kind, inner), *_ = value.items()
    if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        return inner
    if kind == "intValue":
        # 64 bit integers are texts in OTLP's JSON.
        if isinstance(inner, str) and inner.lstrip("-").isdigit() and len(inner) < 24:
            return int(inner)
        return inner
    if kind == "arrayValue" and isinstance(inner, Mapping):
        values = inner.get("values", [])
        if isinstance(values, list):
            return [plain(item, depth + 1) for item in values]
    if kind == "kvlistValue" and isinstance(inner, Mapping):
        values = inner.get("values", [])
        if isinstance(values, list):
            return {
                item["key"]: plain(item.get("value"), depth + 1)
                for item in values
                if isinstance(item, Mapping) and isinstance(item.get("key"), str)
            }
    return value


def first(attributes: Mapping[str, Any], *keys: str) -> Any:
    """Return the first of these that is there."""
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return value
    return None


def text(value: Any) -> str | None:
    """Return a text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def nested(attributes: Mapping[str, Any], prefix: str) -> Any:
    """Return what stands under a prefix as data: `a.0.b.c` becomes `[{b: {c: …}}]`.

    Objects inside may have dotted keys of their own. None where nothing is there.
    """
    own = attributes.get(prefix)
    if own is not None:
        return _unfolded(data_of(own), 0)
    start = prefix + "."
    found: dict[str, Any] = {}
    for key in sorted(attributes):
        if key.startswith(start):
            _put(found, key[len(start) :].split(".")[:_DEPTH], attributes[key])
    return _listed(found, 0) if found else None


def _put(into: dict[str, Any], keys: list[str], value: Any) -> None:
    for key in keys[:-1]:
        inner = into.get(key)
        if not isinstance(inner, dict):
            # A key that has a value and parts at once: the parts say more.
            inner = into[key] = {}
        into = inner
    if not isinstance(into.get(keys[-1]), dict):
        into[keys[-1]] = value


def _listed(value: Any, depth: int) -> Any:
    """Make a list of each object whose keys are all numbers."""
    if not isinstance(value, dict) or depth > _DEPTH:
        return value
    inner = {key: _listed(item, depth + 1) for key, item in value.items()}
    if inner and all(key.isascii() and key.isdigit() and len(key) < 9 for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def _unfolded(value: Any, depth: int) -> Any:
    if depth > _DEPTH:
        return value
    if isinstance(value, list):
        return [_unfolded(item, depth + 1) for item in value[:_MOST_ELEMENTS]]
    if isinstance(value, Mapping):
        if any(isinstance(key, str) and "." in key for key in value):
            found: dict[str, Any] = {}
            for key in value:
                _put(found, str(key).split(".")[:_DEPTH], value[key])
            value = found
        return _listed(
            {str(k): _unfolded(inner, depth + 1) for k, inner in value.items()}, 0
        )
    return value


def tool_parts(
    attributes: Mapping[str, Any],
) -> tuple[str | None, str | None, Any, Any]:
    """Return (name, call id, arguments, result) as a tool's span tells them."""
    name = first(attributes, "gen_ai.tool.name", "tool.name", "ai.toolCall.name")
    call_id = first(
        attributes, "gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"
    )
    given = first(
        attributes,
        "gen_ai.tool.call.arguments",
        "tool_arguments",
        "ai.toolCall.args",
        "gcp.vertex.agent.tool_call_args",
        "input.value",
        "traceloop.entity.input",
        "tool.parameters",
    )
    gave = first(
        attributes,
        "gen_ai.tool.call.result",
        "tool_response",
        "ai.toolCall.result",
        "gcp.vertex.agent.tool_response",
        "output.value",
        "traceloop.entity.output",
    )
    return text(name), text(call_id), data_of(given), data_of(gave)


def counts(
    attributes: Mapping[str, Any], **names: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return the token counts under our names, or None where there are none."""
    found: dict[str, Any] = {}
    for ours, theirs in names.items():
        value = first(attributes, *theirs)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value) if len(value) < 24 else None
        amount = as_count(value)
        if amount is not None:
            found[ours] = amount
    return found if any(found.values()) else None


def money(value: Any) -> float | None:
    """Return a cost, or None for what is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, float | int):
        return None
    if isinstance(value, int) and value > 2**63:
        return None
    return float(value) if value >= 0 and value - value == 0 else None
