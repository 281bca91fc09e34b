"""What a message is made of: words, tool calls and tool results, in every spelling.

The parts of OpenAI's, Anthropic's, Google's, LangChain's, Vercel's and OpenTelemetry's
messages differ in their names alone. Nothing here knows which source a part is from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import dump_line
from ..record import record
from ..trace import parse_json


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


TEXT_PARTS: Final = frozenset(
    ("text", "input_text", "output_text", "summary_text", "refusal")
)
SILENT_PARTS: Final = frozenset(
    ("thinking", "redacted_thinking", "reasoning", "step-start", "step-finish")
)
CALL_PARTS: Final = frozenset(
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
RESULT_PARTS: Final = frozenset(
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


def data_of(value: Any) -> Any:
    """Return the object or list that a text is JSON of, else the value itself."""
    return parse_json(value) if isinstance(value, str) else value


def read_part(
    part: Mapping[str, Any],
    texts: list[str],
    calls: list[Call],
    results: list[Result],
) -> None:
    """Add what one part holds to `texts`, `calls` or `results`; thoughts are left out."""
    kind = kind_of(part)
    if kind in SILENT_PARTS:
        return
    if kind in CALL_PARTS:
        call = call_of(part)
        if call is not None:
            calls.append(call)
        return
    if kind in RESULT_PARTS:
        results.append(result_of(part))
        return
    for key in ("function_call", "functionCall"):
        if isinstance(part.get(key), Mapping):
            call = call_of(part[key])
            if call is not None:
                calls.append(call)
            return
    for key in ("function_response", "functionResponse"):
        inner = part.get(key)
        if isinstance(inner, Mapping):
            results.append(
                Result(
                    text_of(inner.get("id")),
                    text_of(inner.get("name")),
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


def calls_in(value: Mapping[str, Any]) -> tuple[Call, ...]:
    """Return the calls that a message lists beside its content."""
    places = [value.get("tool_calls"), value.get("toolCalls")]
    extra = value.get("additional_kwargs")
    if not any(places) and isinstance(extra, Mapping):
        places.append(extra.get("tool_calls"))
    found: list[Call] = []
    for place in places:
        calls = data_of(place)
        for item in calls if isinstance(calls, list) else ():
            item = data_of(item)
            call = call_of(item) if isinstance(item, Mapping) else None
            if call is not None:
                found.append(call)
        if found:
            return tuple(found)
    single = value.get("function_call")
    if isinstance(single, Mapping) and "role" in value:
        call = call_of(single)
        return () if call is None else (call,)
    return ()


def call_of(item: Mapping[str, Any]) -> Call | None:
    """Return the call that a part or an entry of `tool_calls` is, or None without a name."""
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


def result_of(item: Mapping[str, Any]) -> Result:
    """Return the result that a part is, out of the wrapping that some sources give it."""
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
    text = content_text(output)
    if text is not None and not isinstance(output, str):
        output = text
    name = item.get("name") or item.get("toolName") or item.get("tool_name")
    return Result(call_id, text_of(name), output, failed)


def is_part(item: Any) -> bool:
    """Whether it is a part of a content and no message."""
    if not isinstance(item, Mapping):
        return False
    if "role" in item:
        return False
    kind = kind_of(item)
    if kind in TEXT_PARTS or kind in SILENT_PARTS or kind in ("image", "image_url"):
        return True
    return set(item) == {"text"} and isinstance(item["text"], str)


def is_parts(value: Any) -> bool:
    """Whether it is a list of parts alone."""
    return isinstance(value, list) and bool(value) and all(map(is_part, value))


def has_parts(content: Any, kinds: frozenset[str]) -> bool:
    """Whether a content has a part of one of `kinds`."""
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and kind_of(part) in kinds for part in content
    )


def is_tool_definition(item: Mapping[str, Any]) -> bool:
    """Whether it declares a tool: some frameworks record them among the messages."""
    content = item.get("content") if "role" in item else item
    if not isinstance(content, Mapping) or kind_of(content) not in _TOOL_DEFINITIONS:
        return False
    inner = content.get("function", content)
    return isinstance(inner, Mapping) and "parameters" in inner and "name" in inner


def content_text(content: Any) -> str | None:
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


def as_json(value: Any) -> str:
    """Return data as JSON text; of what is none the name of its type."""
    try:
        return dump_line(value)
    except (ValueError, TypeError, RecursionError):
        return str(type(value).__name__)


def kind_of(item: Mapping[str, Any]) -> str:
    """Return what an item says it is, "" where it says nothing that is a word."""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def text_of(value: Any) -> str | None:
    """Return a text that is not empty, or None."""
    return value if isinstance(value, str) and value else None
