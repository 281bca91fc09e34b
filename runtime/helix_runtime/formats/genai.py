"""OpenTelemetry's semantic conventions for generative AI, in all their generations.

Messages stand in `gen_ai.input.messages` and `gen_ai.output.messages` (since 1.37), in
events or log records (`gen_ai.user.message`, `gen_ai.choice`), in the event attributes
`gen_ai.prompt` and `gen_ai.completion`, in numbered attributes (`gen_ai.prompt.0.role`,
OpenLLMetry's), in `events` (Pydantic AI) or in `ai.*` (the Vercel AI SDK). Without
content capture there are none, and the trace says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..trace import Status
from .attributes import counts, first, money, nested, text, tool_parts
from .chat import ChatMessage, messages_of
from .chat_parts import data_of
from .conversation import Kind, Observation

_OPERATIONS: Final[Mapping[str, Kind]] = {
    "chat": "model",
    "text_completion": "model",
    "completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "step",
    "create_agent": "step",
    "invoke_workflow": "step",
    "embeddings": "step",
    "retrieval": "retrieval",
}
_TRACELOOP: Final[Mapping[str, Kind]] = {
    "workflow": "step",
    "agent": "step",
    "task": "step",
    "tool": "tool",
}
_MODEL_KEYS: Final = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.prompt.0.content",
    "gen_ai.prompt.0.role",
    "gen_ai.completion.0.content",
    "llm.request.type",
)
_DETAILS: Final = "gen_ai.client.inference.operation.details"


def observation_of(span: Mapping[str, Any]) -> Observation:
    """Return one span as an observation."""
    attributes: Mapping[str, Any] = span["attributes"]
    events: Sequence[Mapping[str, Any]] = span.get("events") or ()
    for event in events:
        if event.get("name") == _DETAILS:
            attributes = {**event["attributes"], **attributes}
    kind = kind_of(attributes, events)
    status: Status = "error" if span.get("status") == "error" else "ok"
    asked = replied = None
    tool_name = call_id = None
    given: Any = data_of(
        first(attributes, "traceloop.entity.input", "ai.prompt", "input.value")
    )
    gave: Any = data_of(
        first(
            attributes,
            "traceloop.entity.output",
            "ai.response.object",
            "final_result",
            "output.value",
        )
    )
    if kind == "tool":
        tool_name, call_id, given, gave = tool_parts(attributes)
        tool_name = tool_name or span["name"].removeprefix("execute_tool ")
    elif kind != "retrieval":
        asked, replied = messages_in(attributes, events)
        if asked is None:
            asked = messages_of(given, role="user")
        if replied is None and kind == "model":
            replied = messages_of(gave, role="assistant")
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
        tool_name=tool_name,
        tool_call_id=call_id,
        tokens=_tokens(attributes),
        cost=money(first(attributes, "gen_ai.usage.cost", "operation.cost")),
        extra=_extra(span, attributes, events),
    )


def kind_of(attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Kind:
    """Return what a span is a record of."""
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _OPERATIONS:
        return _OPERATIONS[operation]
    traceloop = attributes.get("traceloop.span.kind")
    if isinstance(traceloop, str) and traceloop in _TRACELOOP:
        return _TRACELOOP[traceloop]
    vercel = attributes.get("ai.operationId")
    if isinstance(vercel, str):
        if vercel == "ai.toolCall":
            return "tool"
        return "step" if vercel.startswith("ai.embed") else "model"
    if any(key in attributes for key in ("gen_ai.tool.name", "gen_ai.tool.call.id")):
        return "tool"
    if "agent_name" in attributes or "all_messages_events" in attributes:
        return "step"
    if any(key in attributes for key in _MODEL_KEYS):
        return "model"
    names = {event.get("name") for event in events}
    if names & {"gen_ai.choice", "gen_ai.content.completion", "gen_ai.user.message"}:
        return "model"
    if "gen_ai.request.model" in attributes and _tokens(attributes):
        return "model"
    return "step"


def messages_in(
    attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> tuple[tuple[ChatMessage, ...] | None, tuple[ChatMessage, ...] | None]:
    """Return what a model was asked and what it replied; None where not recorded."""
    asked = messages_of(data_of(attributes.get("gen_ai.input.messages")), role="user")
    replied = messages_of(
        data_of(attributes.get("gen_ai.output.messages")), role="assistant"
    )
    if asked is not None or replied is not None:
        return _with_system(attributes, asked), replied
    for read in (_numbered, _of_events, _of_event_list, _of_vercel):
        asked, replied = read(attributes, events)
        if asked is not None or replied is not None:
            break
    return _with_system(attributes, asked), replied


def _with_system(
    attributes: Mapping[str, Any], asked: tuple[ChatMessage, ...] | None
) -> tuple[ChatMessage, ...] | None:
    told = data_of(attributes.get("gen_ai.system_instructions"))
    system = messages_of(told, role="system")
    if not system or any(m.role == "system" for m in asked or ()):
        return asked
    return (*system, *(asked or ()))


_Pair = tuple[tuple[ChatMessage, ...] | None, tuple[ChatMessage, ...] | None]


def _numbered(
    attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> _Pair:
    """OpenLLMetry: `gen_ai.prompt.0.role`, `gen_ai.completion.0.tool_calls.0.name`."""
    asked = nested(attributes, "gen_ai.prompt")
    replied = nested(attributes, "gen_ai.completion")
    return (
        messages_of(_with_roles(asked, "user"), role="user"),
        messages_of(_with_roles(replied, "assistant"), role="assistant"),
    )


def _with_roles(value: Any, role: str) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {"role": role, "content": None, **item} if isinstance(item, Mapping) else item
        for item in value
    ]


def _of_events(
    attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> _Pair:
    """Span events or log records, one for each message."""
    asked: list[ChatMessage] = []
    replied: list[ChatMessage] = []
    for event in events:
        name = str(event.get("name"))
        found = event.get("attributes")
        inside = found if isinstance(found, Mapping) else {}
        if name == "gen_ai.content.prompt":
            asked += messages_of(inside.get("gen_ai.prompt"), role="user") or ()
        elif name == "gen_ai.content.completion":
            replied += (
                messages_of(inside.get("gen_ai.completion"), role="assistant") or ()
            )
        else:
            _take_event(name, inside, asked, replied)
    return tuple(asked) or None, tuple(replied) or None


def _of_event_list(
    attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> _Pair:
    """Pydantic AI: the same events, as JSON in one attribute."""
    listed = data_of(first(attributes, "events", "all_messages_events"))
    asked: list[ChatMessage] = []
    replied: list[ChatMessage] = []
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping):
            _take_event(str(item.get("event.name")), item, asked, replied)
    if not asked and not replied:
        told = messages_of(
            data_of(attributes.get("pydantic_ai.all_messages")), role="user"
        )
        asked = list(told or ())
    if asked and not replied:
        # All messages of a run: what came before the first answer was asked.
        at = next((i for i, m in enumerate(asked) if m.role == "assistant"), len(asked))
        asked, replied = asked[:at], [m for m in asked[at:] if m.role == "assistant"]
    return tuple(asked) or None, tuple(replied) or None


def _take_event(
    name: str,
    inside: Mapping[str, Any],
    asked: list[ChatMessage],
    replied: list[ChatMessage],
) -> None:
    if name == "gen_ai.choice":
        message = data_of(inside.get("message"))
        source = message if isinstance(message, Mapping) else inside
        replied += _event_message(source, "assistant")
        return
    start, _, end = name.removeprefix("gen_ai.").partition(".")
    if end == "message" and start in ("system", "user", "assistant", "tool"):
        asked += _event_message(inside, start)


def _event_message(inside: Mapping[str, Any], role: str) -> tuple[ChatMessage, ...]:
    message = {"content": None, **inside}
    message["role"] = text(inside.get("role")) or role
    message["content"] = data_of(message["content"])
    if isinstance(message["content"], Mapping):
        message["content"] = inside.get("content")
    return messages_of([message], role="user") or ()


def _of_vercel(
    attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> _Pair:
    asked = messages_of(
        data_of(first(attributes, "ai.prompt.messages", "ai.prompt")), role="user"
    )
    reply = {
        "role": "assistant",
        "content": first(attributes, "ai.response.text", "ai.result.text"),
        "tool_calls": first(attributes, "ai.response.toolCalls", "ai.result.toolCalls"),
    }
    if reply["content"] is None and reply["tool_calls"] is None:
        return asked, None
    return asked, messages_of([reply], role="assistant")


def _tokens(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    return counts(
        attributes,
        input=(
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "ai.usage.promptTokens",
            "ai.usage.inputTokens",
        ),
        output=(
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "ai.usage.completionTokens",
            "ai.usage.outputTokens",
        ),
        total=("llm.usage.total_tokens", "gen_ai.usage.total_tokens"),
        cachedInput=(
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.details.cache_read_tokens",
        ),
    )


def _extra(
    span: Mapping[str, Any],
    attributes: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    model = text(first(attributes, "gen_ai.response.model", "gen_ai.request.model"))
    if model:
        extra["model"] = model
    why = text(span.get("message"))
    for event in events:
        if event.get("name") == "exception" and why is None:
            why = text(event["attributes"].get("exception.message"))
    if why is None and span.get("status") == "error":
        why = text(attributes.get("error.type"))
    if why:
        extra["error"] = why
    return extra
