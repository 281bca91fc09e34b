"""OpenInference: the attributes that Phoenix and its instrumentations record.

Messages are flattened (`llm.input_messages.0.message.content`) or lists of objects; what
is not recorded as messages stands in `input.value` and `output.value`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..trace import Status
from .attributes import counts, first, money, nested, text, tool_parts
from .chat import ChatMessage, messages_of
from .chat_parts import data_of
from .conversation import Kind, Observation

_KINDS: Final[Mapping[str, Kind]] = {
    "LLM": "model",
    "TOOL": "tool",
    "RETRIEVER": "retrieval",
}


def speaks(attributes: Mapping[str, Any]) -> bool:
    """Whether a span's attributes are OpenInference's."""
    if "openinference.span.kind" in attributes:
        return True
    openinference = attributes.get("openinference")
    return isinstance(openinference, Mapping) and "span" in openinference


def observation_of(span: Mapping[str, Any]) -> Observation:
    """Return one span as an observation."""
    attributes = flat(span["attributes"])
    kind = _KINDS.get(str(attributes.get("openinference.span.kind")).upper(), "step")
    status: Status = "error" if span.get("status") == "error" else "ok"
    given = data_of(attributes.get("input.value"))
    gave = data_of(attributes.get("output.value"))
    asked = replied = None
    tool_name = call_id = None
    if kind == "model":
        asked = _messages(nested(attributes, "llm.input_messages"), "user")
        replied = _messages(nested(attributes, "llm.output_messages"), "assistant")
        if asked is None:
            asked = messages_of(given, role="user")
        if replied is None:
            replied = messages_of(gave, role="assistant")
        if replied and not any(m.role == "assistant" for m in replied):
            replied = None
    elif kind == "tool":
        tool_name, call_id, given, gave = tool_parts(attributes)
        if isinstance(gave, Mapping) and gave.get("type") == "tool":
            inner = messages_of({"role": "tool", **gave}, role="tool")
            if inner and inner[-1].results:
                result = inner[-1].results[-1]
                gave, call_id = result.output, call_id or result.id
    elif kind == "retrieval":
        documents = nested(attributes, "retrieval.documents")
        if isinstance(documents, list):
            gave = [
                item.get("document", item) if isinstance(item, Mapping) else item
                for item in documents
            ]
    extra: dict[str, Any] = {}
    model = text(attributes.get("llm.model_name"))
    if model:
        extra["model"] = model
    if span.get("message"):
        extra["error"] = span["message"]
    return Observation(
        id=span["spanId"],
        name=span["name"],
        kind=kind,
        parent_id=span.get("parentSpanId"),
        start=span.get("start"),
        end=span.get("end"),
        status=status,
        asked=asked,
        replied=replied,
        input=given,
        output=None if kind == "model" and replied else gave,
        tool_name=tool_name or (span["name"] if kind == "tool" else None),
        tool_call_id=call_id,
        tokens=counts(
            attributes,
            input=("llm.token_count.prompt",),
            output=("llm.token_count.completion",),
            total=("llm.token_count.total",),
            cachedInput=("llm.token_count.prompt_details.cache_read",),
        ),
        cost=money(attributes.get("llm.cost.total")),
        extra=extra,
    )


def flat(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested attributes (Phoenix's JSON) under dotted keys, lists as they are."""
    found: dict[str, Any] = {}

    def walk(prefix: str, value: Any, depth: int) -> None:
        if isinstance(value, Mapping) and depth < 16:
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else str(key), inner, depth + 1)
        elif prefix and value is not None:
            found[prefix] = value

    for key, value in attributes.items():
        if key in ("metadata", "input.value", "output.value"):
            found[key] = value
        else:
            walk(key, value, 0)
    return found


def _messages(value: Any, role: Any) -> tuple[ChatMessage, ...] | None:
    if not isinstance(value, list):
        return None
    plain = [_message(item) for item in value if isinstance(item, Mapping)]
    return messages_of(plain, role=role)


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return one message as OpenAI would write it."""
    inner = item.get("message")
    source: Mapping[str, Any] = inner if isinstance(inner, Mapping) else item
    message: dict[str, Any] = {
        key: source[key]
        for key in ("role", "content", "name", "tool_call_id")
        if source.get(key) is not None
    }
    message.setdefault("role", "user")
    parts = source.get("contents")
    if "content" not in message and isinstance(parts, list):
        message["content"] = [
            part.get("message_content", part) if isinstance(part, Mapping) else part
            for part in parts
        ]
    message.setdefault("content", None)
    calls = source.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [
            call.get("tool_call", call) for call in calls if isinstance(call, Mapping)
        ]
    single = source.get("function_call_name")
    if single:
        message["tool_calls"] = [
            {
                "name": single,
                "arguments": source.get("function_call_arguments_json"),
            }
        ]
    return message


def trace_parts(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a span says of its trace: `session`, `tags`, `metadata`."""
    metadata = data_of(first(attributes, "metadata"))
    tags = data_of(attributes.get("tag.tags"))
    return {
        "session": text(attributes.get("session.id")),
        "tags": (
            [t for t in tags if isinstance(t, str)] if isinstance(tags, list) else []
        ),
        "metadata": metadata if isinstance(metadata, Mapping) else {},
    }
