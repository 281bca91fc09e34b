"""Chat messages in every dialect, read as what a person would read.

One reader takes the shapes of OpenAI (chat and responses), Anthropic, Google, the
Vercel AI SDK, LangChain, Pydantic AI and both generations of OpenTelemetry's GenAI
messages, as objects or as JSON in a text. It never raises: what is no message is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ..canonical import dump_line
from ..record import record
from ..trace import parse_json

Role = Literal["user", "assistant", "system", "tool"]

_DEPTH: Final = 8


@record
class Call:
    """A tool call that a model asked for; `id` is None where the source has none."""

    id: str | None
    name: str
    arguments: Any


@record
class Result:
    """What a tool gave back to the model, for the call `id` (or of the tool `name`)."""

    id: str | None
    name: str | None
    output: Any
    error: bool = False


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
_TEXT_PARTS: Final = frozenset(
    ("text", "input_text", "output_text", "summary_text", "refusal")
)
_SILENT_PARTS: Final = frozenset(
    ("thinking", "redacted_thinking", "reasoning", "step-start", "step-finish")
)
_CALL_PARTS: Final = frozenset(
    (
        "tool_use",
        "tool-call",
        "tool_call",
        "function_call",
        "custom_tool_call",
        "mcp_call",
        "server_tool_use",
        "server_tool_call",
    )
)
_RESULT_PARTS: Final = frozenset(
    (
        "tool_result",
        "tool-result",
        "tool_call_response",
        "function_call_output",
        "custom_tool_call_output",
        "web_search_tool_result",
        "code_execution_tool_result",
        "mcp_tool_result",
        "server_tool_call_response",
    )
)
_MEDIA: Final = frozenset(
    (
        "audio",
        "blob",
        "document",
        "file",
        "image",
        "image_url",
        "input_audio",
        "input_file",
        "input_image",
        "media",
        "uri",
        "video",
    )
)
_TOOL_DEFINITIONS: Final = frozenset(("function", "tool"))


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


def data_of(value: Any) -> Any:
    """Return the object or list that a text is JSON of, else the value itself."""
    return parse_json(value) if isinstance(value, str) else value


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
    if all(_is_part(item) for item in value) and not any(
        _role_of(item) for item in value
    ):
        message = _message(role, value)
        return None if message is None else (message,)
    if all("toolName" in item or "toolCallId" in item for item in value):
        calls = tuple(call for item in value if (call := _call_of(item)) is not None)
        return (ChatMessage("assistant", None, calls),) if calls else None
    messages: list[ChatMessage] = []
    for item in value:
        if _is_tool_definition(item):
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
    kind = _kind(item)
    if kind in _CALL_PARTS and "role" not in item:
        call = _call_of(item)
        return None if call is None else (ChatMessage("assistant", None, (call,)),)
    if kind in _RESULT_PARTS and "role" not in item:
        return (ChatMessage("tool", None, (), (_result_of(item),)),)
    if kind in _SILENT_PARTS and "role" not in item:
        return ()
    if kind.endswith("_call") and "role" not in item:
        # A call of a hosted tool (web_search_call …) carries its own result.
        call = Call(
            _text(item.get("id")), kind.removesuffix("_call"), item.get("action")
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
    if own is not None and ("content" in value or "parts" in value or _calls_in(value)):
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
        if isinstance(content, str) or _is_parts(content):
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
        text = _content_text(place)
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
    calls = _calls_in(value)
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
    name = _text(value.get("name"))
    if role == "tool" and not _has_parts(content, _RESULT_PARTS):
        if isinstance(content, Mapping) and _is_tool_definition(content):
            return ()
        return (_tool_message(value, content),)
    message = _message(role, content, calls=_calls_in(value), name=name)
    if message is None:
        return (ChatMessage(role, None, _calls_in(value), (), name),)
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
    text = _content_text(content)
    output = content if text is None else text
    result = Result(_text(call_id), _text(value.get("name")), output, failed)
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
        content = [content] if _is_part(content) else content
    if not isinstance(content, list):
        return ChatMessage(role, _as_json(content), calls, (), name)
    texts: list[str] = []
    more: list[Call] = []
    results: list[Result] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            _read_part(part, texts, more, results)
    if more and calls:
        # LangChain keeps a call both as a part and in `tool_calls`.
        known = {call.id for call in calls if call.id}
        more = [call for call in more if call.id not in known]
    text = "\n".join(texts) if texts else None
    return ChatMessage(role, text, (*calls, *more), tuple(results), name)


def _read_part(
    part: Mapping[str, Any],
    texts: list[str],
    calls: list[Call],
    results: list[Result],
) -> None:
    kind = _kind(part)
    if kind in _SILENT_PARTS:
        return
    if kind in _CALL_PARTS:
        call = _call_of(part)
        if call is not None:
            calls.append(call)
        return
    if kind in _RESULT_PARTS:
        results.append(_result_of(part))
        return
    for key in ("function_call", "functionCall"):
        if isinstance(part.get(key), Mapping):
            call = _call_of(part[key])
            if call is not None:
                calls.append(call)
            return
    for key in ("function_response", "functionResponse"):
        inner = part.get(key)
        if isinstance(inner, Mapping):
            results.append(
                Result(
                    _text(inner.get("id")),
                    _text(inner.get("name")),
                    inner.get("response"),
                )
            )
            return
    if part.get("thought") is True:
        return
    for key in ("text", "content", "refusal"):
        if isinstance(part.get(key), str):
            texts.append(part[key])
            return
    if kind:
        # A picture, a sound, a file: what it is, in its place among the words.
        texts.append(f"[{kind}]")


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
            messages.append(ChatMessage("system", _content_text(content)))
        elif kind == "user-prompt":
            messages.append(ChatMessage("user", _content_text(content)))
        elif kind in ("tool-return", "retry-prompt") and part.get("tool_call_id"):
            result = Result(
                _text(part.get("tool_call_id")),
                _text(part.get("tool_name")),
                content,
                kind == "retry-prompt",
            )
            messages.append(ChatMessage("tool", None, (), (result,)))
        elif kind == "retry-prompt":
            messages.append(ChatMessage("user", _content_text(content)))
        elif kind == "text" and isinstance(content, str):
            texts.append(content)
        elif kind == "tool-call":
            call = _call_of(part)
            if call is not None:
                calls.append(call)
    if texts or calls:
        text = "\n".join(texts) if texts else None
        messages.append(ChatMessage("assistant", text, tuple(calls)))
    return tuple(messages)


# -- calls and results ---------------------------------------------------------------


def _calls_in(value: Mapping[str, Any]) -> tuple[Call, ...]:
    places = [value.get("tool_calls"), value.get("toolCalls")]
    extra = value.get("additional_kwargs")
    if not any(places) and isinstance(extra, Mapping):
        places.append(extra.get("tool_calls"))
    found: list[Call] = []
    for place in places:
        calls = data_of(place)
        for item in calls if isinstance(calls, list) else ():
            item = data_of(item)
            call = _call_of(item) if isinstance(item, Mapping) else None
            if call is not None:
                found.append(call)
        if found:
            return tuple(found)
    single = value.get("function_call")
    if isinstance(single, Mapping) and "role" in value:
        call = _call_of(single)
        return () if call is None else (call,)
    return ()


def _call_of(item: Mapping[str, Any]) -> Call | None:
    inner = item.get("function")
    inner = inner if isinstance(inner, Mapping) else item
    name: Any = inner if isinstance(inner, str) else None
    for key in ("name", "toolName", "tool_name", "function"):
        name = inner.get(key)
        if isinstance(name, str) and name:
            break
    if not isinstance(name, str) or not name:
        return None
    call_id: Any = None
    for key in ("call_id", "toolCallId", "tool_call_id", "id"):
        if isinstance(item.get(key), str) and item[key]:
            call_id = item[key]
            break
    arguments: Any = None
    for key in ("arguments", "input", "args", "parameters"):
        if key in inner and inner[key] is not None:
            arguments = inner[key]
            break
    return Call(call_id, name, data_of(arguments))


def _result_of(item: Mapping[str, Any]) -> Result:
    call_id: Any = None
    for key in ("tool_use_id", "call_id", "toolCallId", "tool_call_id", "id"):
        if isinstance(item.get(key), str) and item[key]:
            call_id = item[key]
            break
    output: Any = None
    for key in ("content", "output", "response", "result"):
        if key in item and item[key] is not None:
            output = item[key]
            break
    failed = item.get("is_error") is True or item.get("isError") is True
    if isinstance(output, Mapping) and isinstance(output.get("type"), str):
        # Vercel: the value with its kind, `{type: "error-text", value: …}`.
        if "value" in output and set(output) <= {"type", "value", "providerOptions"}:
            failed = failed or output["type"].startswith("error")
            output = output["value"]
    text = _content_text(output)
    if text is not None and not isinstance(output, str):
        output = text
    name = item.get("name") or item.get("toolName") or item.get("tool_name")
    return Result(call_id, _text(name), output, failed)


# -- small things ---------------------------------------------------------------------


def _is_part(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    if "role" in item:
        return False
    kind = _kind(item)
    if kind in _TEXT_PARTS or kind in _SILENT_PARTS or kind in ("image", "image_url"):
        return True
    return set(item) == {"text"} and isinstance(item["text"], str)


def _is_parts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_part, value))


def _has_parts(content: Any, kinds: frozenset[str]) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and _kind(part) in kinds for part in content
    )


def _is_tool_definition(item: Mapping[str, Any]) -> bool:
    """Whether it declares a tool: some frameworks record them among the messages."""
    content = item.get("content") if "role" in item else item
    if not isinstance(content, Mapping) or _kind(content) not in _TOOL_DEFINITIONS:
        return False
    inner = content.get("function", content)
    return isinstance(inner, Mapping) and "parameters" in inner and "name" in inner


def _content_text(content: Any) -> str | None:
    """Return the words of a content, or None where it is data."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if isinstance(content.get("text"), str):
            return str(content["text"])
        if isinstance(content.get("parts"), list):
            content = content["parts"]
    if isinstance(content, list) and content:
        texts: list[str] = []
        for part in content:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif isinstance(part, Mapping) and isinstance(part.get("type"), str):
                if part["type"] == "text" and isinstance(part.get("content"), str):
                    texts.append(part["content"])
                elif part["type"] in _MEDIA:
                    texts.append(f"[{part['type']}]")
                else:
                    return None
            else:
                return None
        return "\n".join(texts)
    return None


def _as_json(value: Any) -> str:
    try:
        return dump_line(value)
    except (ValueError, TypeError, RecursionError):
        return str(type(value).__name__)


def _kind(item: Mapping[str, Any]) -> str:
    """Return what an item says it is, "" where it says nothing that is a word."""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
