"""Chat logs in OpenAI's shape: one conversation a line, or requests with responses.

Read are `{messages: […]}` (fine-tuning files, exported chats), a bare list of messages,
`{request|body: {messages}, response: {choices}}` (logged calls, results of the batch
API) and calls of the responses API (`input`, `output`). A log of words alone observes
no tools: a check on them is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..canonical import fnv1a_64
from ..trace import Status, Trace
from ..unitf import ReadCount
from .attributes import counts, first, money, text
from .chat import ChatMessage, messages_of
from .chat_parts import data_of
from .conversation import Conversation, Observation
from .source import ELEMENT, Value, read_records
from .times import iso_of

_ROLES: Final = frozenset(
    ("user", "assistant", "system", "tool", "developer", "function")
)
_IDS: Final = (
    "trace_id",
    "traceId",
    "id",
    "custom_id",
    "conversation_id",
    "request_id",
)
_SESSIONS: Final = ("session_id", "sessionId", "thread_id", "conversation_id")
_KNOWN: Final = frozenset(
    (
        "messages",
        "request",
        "response",
        "body",
        "choices",
        "input",
        "output",
        "usage",
        "tools",
        "metadata",
        "tags",
    )
)
_REPLY: Final = ("choices", "usage", "model", "id", "created")
_SHORT: Final = 1000


def looks_like(record: Any) -> bool:
    """Whether one record of a file is a chat log's."""
    if isinstance(record, list):
        return bool(record) and all(map(is_message, record[:20]))
    if not isinstance(record, dict):
        return False
    if is_message(record):
        return False  # one message alone is a part of a conversation
    for key in ("messages", "request", "body", "response"):
        inner = record.get(key)
        if key == "messages" and isinstance(inner, list):
            return bool(inner) and all(map(is_message, inner[:20]))
        if isinstance(inner, dict) and (
            looks_like(inner) or isinstance(inner.get("choices"), list)
        ):
            return True
    body = record.get("body")
    if isinstance(body, dict) and isinstance(body.get("choices"), list):
        return True
    choices = record.get("choices")
    return isinstance(choices, list) and bool(choices) and "model" in record


def is_message(item: Any) -> bool:
    """Whether it is one message of OpenAI's."""
    return (
        isinstance(item, dict)
        and str(item.get("role")) in _ROLES
        and ("content" in item or "tool_calls" in item or "function_call" in item)
        and "sessionId" not in item
    )


def read(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the conversations of a chat log. Raises OSError."""
    loose: list[Any] = []
    place = path.name
    for value in read_records(path, count, lists=frozenset(("data", "conversations"))):
        record = value.data
        if value.keys == (ELEMENT,) and is_message(record):
            # The elements of one list of messages are one conversation.
            place = value.place if not loose else place
            loose.append(record)
            continue
        trace = conversation_of(value)
        if trace is None:
            count.skip(value.place, "no messages of a chat")
            continue
        count.traces += 1
        yield trace
    if loose:
        trace = conversation_of(Value(place, (), {"messages": loose}))
        if trace is not None:
            count.traces += 1
            yield trace


def conversation_of(value: Value) -> Trace | None:
    """Return the trace of one record, or None where it holds no messages."""
    record = value.data
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, Mapping):
        return None
    request, response = _halves(record)
    asked = messages_of(_asked(request), role="user")
    replied = messages_of(response, role="assistant") if response else None
    if not asked and not replied:
        return None
    conversation = Conversation()
    messages = [*(asked or ()), *(replied or ())]
    usage = _usage(response) or _usage(record)
    last = max(
        (i for i, m in enumerate(messages) if m.role == "assistant"), default=None
    )
    base = _identity(record, request, response, value)
    for index, message in enumerate(messages):
        seen = Observation(
            id=f"message-{index + 1}",
            name=message.name or message.role,
            kind="model" if message.role == "assistant" else "event",
            tokens=usage if index == last else None,
        )
        if message.role == "assistant":
            conversation.turn(message, of=seen)
        else:
            conversation.turn(message, span_id=seen.id)
    tools = _tools_seen(messages, request, record)
    return Trace(
        id=base,
        spans=tuple(conversation.spans),
        status=_status(record),
        session_id=text(first(record, *_SESSIONS)),
        agent_name=text(first(record, "agent", "agent_name", "agentName")),
        source="openai-chat",
        start=iso_of(
            first(record, "timestamp", "created_at", "created", "start_time")
            or first(response, "created", "created_at")
        ),
        cost_usd=money(first(record, "cost", "cost_usd", "total_cost")),
        tags=_tags(record),
        ext=_ext(record, request, response),
        observed=frozenset(("output", "tools") if tools else ("output",)),
    )


def _halves(
    record: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the request and the response of a record, each empty where there is none."""
    request: Any = data_of(record.get("request"))
    response: Any = data_of(record.get("response"))
    body = data_of(record.get("body"))
    if not isinstance(request, Mapping):
        request = body if isinstance(body, Mapping) and "messages" in body else record
    if isinstance(request, Mapping) and isinstance(request.get("body"), Mapping):
        request = request["body"]
    if not isinstance(response, Mapping):
        response = {key: record[key] for key in _REPLY if key in record}
        response = response if "choices" in response else {}
    inner = data_of(response.get("body"))
    if isinstance(inner, Mapping):
        response = inner
    return (request if isinstance(request, Mapping) else {}), response


def _asked(request: Mapping[str, Any]) -> Any:
    kept = {
        key: request[key]
        for key in ("messages", "input", "instructions", "system", "prompt")
        if request.get(key) is not None
    }
    if "messages" not in kept and isinstance(kept.get("input"), str):
        kept["messages"] = [{"role": "user", "content": kept.pop("input")}]
    elif "messages" not in kept and isinstance(kept.get("input"), list):
        kept["messages"] = kept.pop("input")
    return kept or None


def _identity(
    record: Mapping[str, Any],
    request: Mapping[str, Any],
    response: Mapping[str, Any],
    value: Value,
) -> str:
    for source in (record, request, response):
        for key in _IDS:
            found = source.get(key)
            if isinstance(found, str) and found:
                return found
            if isinstance(found, int) and not isinstance(found, bool):
                return str(found) if abs(found) < 2**63 else "number"
    # Named after its place, so that a run again names it alike.
    return "chat-" + fnv1a_64(value.place.encode("utf-8", "surrogatepass"))


def _usage(source: Mapping[str, Any]) -> dict[str, Any] | None:
    usage = data_of(source.get("usage"))
    if not isinstance(usage, Mapping):
        return None
    details = first(usage, "prompt_tokens_details", "input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return counts(
        {**usage, "cached": cached},
        input=("prompt_tokens", "input_tokens"),
        output=("completion_tokens", "output_tokens"),
        total=("total_tokens",),
        cachedInput=("cached",),
    )


def _tools_seen(
    messages: list[ChatMessage], request: Mapping[str, Any], record: Mapping[str, Any]
) -> bool:
    """Whether a call of a tool would have been seen: one was, or tools were offered."""
    if any(m.calls or m.results for m in messages):
        return True
    return any(
        isinstance(source.get(key), list)
        for source in (request, record)
        for key in ("tools", "functions")
    )


def _status(record: Mapping[str, Any]) -> Status:
    failed = record.get("error") or record.get("status") in ("error", "failed")
    return "error" if failed else "ok"


def _tags(record: Mapping[str, Any]) -> tuple[str, ...]:
    tags = record.get("tags")
    if not isinstance(tags, list):
        return ()
    return tuple(tag for tag in tags if isinstance(tag, str))


def _ext(
    record: Mapping[str, Any], request: Mapping[str, Any], response: Mapping[str, Any]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for source in (record, request, response):
        inner = data_of(source.get("metadata"))
        if isinstance(inner, Mapping):
            for key, found in inner.items():
                metadata.setdefault(str(key), found)
    for key, found in record.items():
        if key not in _KNOWN and _is_short(found):
            metadata.setdefault(str(key), found)
    model = text(first(response, "model") or first(request, "model"))
    ext: dict[str, Any] = {"metadata": metadata} if metadata else {}
    if model:
        ext["agent"] = {"model": model}
    return ext


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHORT
    return isinstance(value, (bool, int, float))
