"""Chat messages in every dialect, read as what a person would read.

One reader takes the shapes of OpenAI (chat and responses), Anthropic, Google, the
Vercel AI SDK, LangChain, Pydantic AI and both generations of OpenTelemetry's GenAI
messages, as objects or as JSON in a text. It never raises: what is no message is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ..record import record
from ..trace import parse_json
from .chat_parts import (
    CALL_PARTS,
    RESULT_PARTS,
    SILENT_PARTS,
    Call,
    Result,
    as_json,
    call_of,
    calls_in,
    content_text,
    has_parts,
    is_part,
    is_parts,
    is_tool_definition,
    kind_of,
    read_part,
    result_of,
    text_of,
)

Role = Literal["user", "assistant", "system", "tool"]

_DEPTH: Final = 8


@record
class ChatMessage:
    """One message; `text` is None where it says nothing but its calls or results."""

    role: Role
    text: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    name: str | None = None


_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "SystemMessage": "system",
    "tool": "tool",
    "function": "tool",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
    "ipython": "tool",
}
# -- what there is to say ------------------------------------------------------------


def messages_of(
    value: Any, *, role: Role, depth: int = 0
) -> tuple[ChatMessage, ...] | None:
    """Return the messages that `value` holds, or None where it holds none.

    A bare text, and a message that names no role, is one of `role`.
    """
    if depth > _DEPTH or value is None:
        return None
    if isinstance(value, str):
        parsed = parse_json(value)
        if not isinstance(parsed, str):
            found = messages_of(parsed, role=role, depth=depth + 1)
            if found is not None:
                return found
        return (ChatMessage(role, value),) if value.strip() else None
    if isinstance(value, list):
        return _of_list(value, role, depth)
    if isinstance(value, Mapping):
        return _of_object(value, role, depth)
    return None


def last_text(messages: Sequence[ChatMessage] | None) -> str | None:
    """Return the text of the last assistant message that has one."""
    for message in reversed(messages or ()):
        if message.role == "assistant" and message.text and message.text.strip():
            return message.text
    return None


def _of_list(
    value: list[Any], role: Role, depth: int
) -> tuple[ChatMessage, ...] | None:
    if not value:
        return None
    if all(isinstance(item, list) for item in value):
        # LangChain calls its models with batches: a list of lists of messages.
        found: list[ChatMessage] = []
        for item in value:
            found += _of_list(item, role, depth + 1) or () if depth < _DEPTH else ()
        return tuple(found) or None
    if not all(isinstance(item, (Mapping, str)) for item in value):
        return None
    if any(isinstance(item, str) for item in value):
        return _of_mixed(value, role, depth)
    if all(is_part(item) for item in value) and not any(
        _role_of(item) for item in value
    ):
        message = _message(role, value)
        return None if message is None else (message,)
    if all("toolName" in item or "toolCallId" in item for item in value):
        calls = tuple(call for item in value if (call := call_of(item)) is not None)
        return (ChatMessage("assistant", None, calls),) if calls else None
    messages: list[ChatMessage] = []
    for item in value:
        if is_tool_definition(item):
            continue
        one = _of_item(item, role, depth + 1)
        if one is None:
            return None
        messages += one
    return tuple(_joined(messages)) or None


def _of_mixed(
    value: list[Any], role: Role, depth: int
) -> tuple[ChatMessage, ...] | None:
    """A list with texts in it: bare user turns, or LangChain's `[role, text]`."""
    if len(value) == 2 and all(isinstance(item, str) for item in value):
        named = _ROLES.get(value[0])
        if named is not None:
            return (ChatMessage(named, value[1]),)
    messages: list[ChatMessage] = []
    for item in value:
        found = messages_of(item, role=role, depth=depth + 1)
        if found is None:
            if isinstance(item, str):
                continue
            return None
        messages += found
    return tuple(messages) or None


def _of_item(
    item: Mapping[str, Any], role: Role, depth: int
) -> tuple[ChatMessage, ...] | None:
    kind = kind_of(item)
    if kind in CALL_PARTS and "role" not in item:
        call = call_of(item)
        return None if call is None else (ChatMessage("assistant", None, (call,)),)
    if kind in RESULT_PARTS and "role" not in item:
        return (ChatMessage("tool", None, (), (result_of(item),)),)
    if kind in SILENT_PARTS and "role" not in item:
        return ()
    if kind.endswith("_call") and "role" not in item:
        # A call of a hosted tool (web_search_call …) carries its own result.
        call = Call(
            text_of(item.get("id")), kind.removesuffix("_call"), item.get("action")
        )
        return (ChatMessage("assistant", None, (call,)),)
    return _of_object(item, role, depth)


def _joined(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Put the calls of one assistant turn, which some list one by one, together."""
    joined: list[ChatMessage] = []
    for message in messages:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.role == message.role == "assistant"
            and message.text is None
            and before.calls
            and before.text is None
        ):
            joined[-1] = ChatMessage(
                "assistant", None, before.calls + message.calls, (), before.name
            )
        else:
            joined.append(message)
    return joined


def _of_object(
    value: Mapping[str, Any], role: Role, depth: int
) -> tuple[ChatMessage, ...] | None:
    if depth > _DEPTH:
        return None
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), Mapping):
        # LangChain's serialized message: the class in `id`, the rest in `kwargs`.
        names = value.get("id")
        named = names[-1] if isinstance(names, list) and names else None
        kwargs = dict(value["kwargs"])
        if isinstance(named, str):
            kwargs["type"] = named
        return _of_object(kwargs, role, depth + 1)
    own = _role_of(value)
    if own is not None and ("content" in value or "parts" in value or calls_in(value)):
        return _turns(own, value)
    for read in (_of_request, _of_response):
        found = read(value, role, depth + 1)
        if found is not None:
            return found
    if set(value) == {"content"}:
        content = value["content"]
        # Some exporters walk over a message and record the names of its keys.
        if content in ("role", "content"):
            return None
        if isinstance(content, str) or is_parts(content):
            return messages_of(content, role=role, depth=depth + 1)
    return None


def _of_request(
    value: Mapping[str, Any], role: Role, depth: int
) -> tuple[ChatMessage, ...] | None:
    """What a model, an agent or a graph was given."""
    asked: tuple[ChatMessage, ...] | None = None
    for key in ("messages", "new_message", "contents", "message", "chat_history"):
        if key in value:
            found = messages_of(value[key], role=role, depth=depth)
            if found is not None:
                asked = (asked or ()) + found
                if key != "chat_history":
                    break
    if asked is None and ("prompt" in value or "system" in value):
        asked = messages_of(value.get("prompt"), role=role, depth=depth)
    if asked is None and role == "user":
        for key in ("input", "query", "question", "user_input", "user_prompt", "task"):
            if isinstance(value.get(key), (str, list)):
                asked = messages_of(value[key], role=role, depth=depth)
                if asked is not None:
                    break
    if asked is None:
        return None
    system = _system_of(value)
    if system and not any(m.role == "system" and m.text == system for m in asked):
        asked = (ChatMessage("system", system), *asked)
    return asked


def _system_of(value: Mapping[str, Any]) -> str | None:
    places = [
        value.get(key) for key in ("system", "instructions", "system_instruction")
    ]
    config = value.get("config")
    if isinstance(config, Mapping):
        places += [config.get("system_instruction"), config.get("systemInstruction")]
    for place in places:
        text = content_text(place)
        if text:
            return text
    return None


def _of_response(
    value: Mapping[str, Any], role: Role, depth: int
) -> tuple[ChatMessage, ...] | None:
    """What came back, in the envelopes that the makers of models send it in."""
    for key in ("choices", "candidates", "generations"):
        inner = value.get(key)
        if isinstance(inner, list) and inner:
            first = inner[0]
            while isinstance(first, list) and first:
                first = first[0]
            return messages_of(first, role="assistant", depth=depth)
    content = value.get("content")
    if isinstance(content, Mapping) and "parts" in content:
        # Google: the message is the content, and it says its own role.
        return _of_object({"role": "model", **content}, "assistant", depth)
    if isinstance(value.get("output"), list) and (
        value.get("object") == "response" or "role" not in value
    ):
        return messages_of(value["output"], role="assistant", depth=depth)
    calls = calls_in(value)
    text = value.get("text")
    if calls:
        words = text if isinstance(text, str) and text.strip() else None
        return (ChatMessage("assistant", words, calls),)
    if role == "assistant":
        for key in ("text", "output", "response", "answer", "result", "completion"):
            if isinstance(value.get(key), str) and value[key].strip():
                return (ChatMessage("assistant", value[key]),)
    return None


# -- one message ---------------------------------------------------------------------


def _role_of(value: Mapping[str, Any]) -> Role | None:
    for key in ("role", "type", "kind"):
        word = value.get(key)
        if isinstance(word, str):
            if key == "kind":
                # Pydantic AI: a request holds what went to the model.
                known: Mapping[str, Role] = {"request": "user", "response": "assistant"}
                return known.get(word) if "parts" in value else None
            if word in _ROLES and (key == "role" or "content" in value):
                return _ROLES[word]
    return None


def _turns(role: Role, value: Mapping[str, Any]) -> tuple[ChatMessage, ...] | None:
    """Return the turns of one message: its results stand apart from its words."""
    content = value.get("content")
    if "parts" in value and not content:
        content = value["parts"]
    if isinstance(content, list) and any(
        isinstance(part, Mapping) and "part_kind" in part for part in content
    ):
        return _of_pydantic(content)
    name = text_of(value.get("name"))
    if role == "tool" and not has_parts(content, RESULT_PARTS):
        if isinstance(content, Mapping) and is_tool_definition(content):
            return ()
        return (_tool_message(value, content),)
    message = _message(role, content, calls=calls_in(value), name=name)
    if message is None:
        return (ChatMessage(role, None, calls_in(value), (), name),)
    if message.results and (message.text is not None or message.calls):
        return (
            ChatMessage("tool", None, (), message.results),
            ChatMessage(role, message.text, message.calls, (), name),
        )
    if message.results:
        return (ChatMessage("tool", None, (), message.results),)
    return (message,)


def _tool_message(value: Mapping[str, Any], content: Any) -> ChatMessage:
    call_id = value.get("tool_call_id") or value.get("toolCallId") or value.get("id")
    failed = value.get("status") == "error" or value.get("is_error") is True
    text = content_text(content)
    output = content if text is None else text
    result = Result(text_of(call_id), text_of(value.get("name")), output, failed)
    return ChatMessage("tool", None, (), (result,))


def _message(
    role: Role,
    content: Any,
    *,
    calls: tuple[Call, ...] = (),
    name: str | None = None,
) -> ChatMessage | None:
    """Return the message of one content: a text, a part or a list of parts."""
    if content is None:
        return ChatMessage(role, None, calls, (), name) if calls else None
    if isinstance(content, str):
        return ChatMessage(role, content, calls, (), name)
    if isinstance(content, Mapping):
        content = [content] if is_part(content) else content
    if not isinstance(content, list):
        return ChatMessage(role, as_json(content), calls, (), name)
    texts: list[str] = []
    more: list[Call] = []
    results: list[Result] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            read_part(part, texts, more, results)
    if more and calls:
        # LangChain keeps a call both as a part and in `tool_calls`.
        known = {call.id for call in calls if call.id}
        more = [call for call in more if call.id not in known]
    text = "\n".join(texts) if texts else None
    return ChatMessage(role, text, (*calls, *more), tuple(results), name)


def _of_pydantic(parts: list[Any]) -> tuple[ChatMessage, ...]:
    """Pydantic AI keeps one request's system prompt, words and results in one list."""
    messages: list[ChatMessage] = []
    texts: list[str] = []
    calls: list[Call] = []
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        kind = part.get("part_kind")
        content = part.get("content")
        if kind == "system-prompt":
            messages.append(ChatMessage("system", content_text(content)))
        elif kind == "user-prompt":
            messages.append(ChatMessage("user", content_text(content)))
        elif kind in ("tool-return", "retry-prompt") and part.get("tool_call_id"):
            result = Result(
                text_of(part.get("tool_call_id")),
                text_of(part.get("tool_name")),
                content,
                kind == "retry-prompt",
            )
            messages.append(ChatMessage("tool", None, (), (result,)))
        elif kind == "retry-prompt":
            messages.append(ChatMessage("user", content_text(content)))
        elif kind == "text" and isinstance(content, str):
            texts.append(content)
        elif kind == "tool-call":
            call = call_of(part)
            if call is not None:
                calls.append(call)
    if texts or calls:
        text = "\n".join(texts) if texts else None
        messages.append(ChatMessage("assistant", text, tuple(calls)))
    return tuple(messages)
