"""Calls that a model asked for in its messages, and that no span of the trace shows.

Some recorders keep what went to a model and what came back, and no span for each tool:
the calls then stand inside the messages alone. A check of the sort "it never calls X"
must not pass because nobody looked there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from .trace import Span, Trace, parse_json

if TYPE_CHECKING:
    from .formats.chat_parts import Call

# What a text holds that is the JSON of a message with a call: all others are not read.
_SIGNS: Final = ("call", "Call", "tool_use", "toolName", "tool-")
_KEYS: Final = ("messages", "contents")
_USERS: Final = ("user", "human", "HumanMessage")
_OF_SPAN: Final = ("tool_calls", "toolCalls")


def unshown_calls(trace: Trace) -> list[str]:
    """Return what a trace's models asked for and no call of it shows, a line each.

    A call that has an id is known by it, else by the name of its tool. Of what a model
    was given only what follows the user's last message counts: what stands before may be
    of an earlier run.
    """
    asked: dict[tuple[str, str], str] = {}
    for span in trace.spans:
        if span.effective_role == "assistant":
            for call in _asked_in(span):
                asked.setdefault((call.name, call.id or ""), span.id)
    if not asked:
        return []
    ids = {call.call_id for call in trace.tool_calls}
    asked_ids = {call_id for _, call_id in asked}
    shown: dict[str, int] = {}
    for made in trace.tool_calls:
        if made.call_id not in asked_ids:
            shown[made.name] = shown.get(made.name, 0) + 1
    lines = []
    for (name, call_id), span_id in asked.items():
        if call_id in ids:
            continue
        if shown.get(name, 0) > 0:
            # A source whose spans have no ids: a span stands for one call with an id.
            shown[name] -= 1 if call_id else 0
            continue
        lines.append(
            f"the model asks for {name!r} in {span_id!r}, and no call shows it"
        )
    return lines


def _asked_in(span: Span) -> Iterator[Call]:
    yield from _calls(span.output)
    if span.role == "assistant" and span.output is None:
        yield from _calls(span.input)
    else:
        yield from _calls(_since_the_user(span.input))
    for key in _OF_SPAN:
        if span.extra and key in span.extra:
            yield from _calls({"role": "assistant", key: span.extra[key]})


def _calls(value: Any) -> Iterator[Call]:
    """Yield the calls of the messages that `value` is, an object or its JSON."""
    value = _data(value)
    if value is None:
        return
    from .formats.chat import messages_of

    if isinstance(value, Mapping) and "parts" in value and "role" not in value:
        value = {"role": "model", **value}  # Google's content, without its own role
    for message in messages_of(value, role="assistant") or ():
        yield from message.calls


def _since_the_user(value: Any) -> Any:
    """Return the messages after the user's last one, None where there is no such list."""
    value = _data(value)
    if isinstance(value, Mapping):
        value = next((value[key] for key in _KEYS if key in value), None)
    if not isinstance(value, list):
        return None
    for index in range(len(value) - 1, -1, -1):
        message = value[index]
        if not isinstance(message, Mapping):
            return None
        if message.get("role", message.get("type")) in _USERS and _says(message):
            return value[index + 1 :] or None
    return None


def _says(message: Mapping[str, Any]) -> bool:
    """Whether a user says something: results of tools come in that role too."""
    content = message.get("content", message.get("parts"))
    if not isinstance(content, list):
        return True
    return any(
        isinstance(part, str)
        or (isinstance(part, Mapping) and isinstance(part.get("text"), str))
        for part in content
    )


def _data(value: Any) -> Any:
    """Return an object or a list, also of a text that may hold a call; else None."""
    if isinstance(value, str):
        if not any(sign in value for sign in _SIGNS):
            return None
        value = parse_json(value)
    return value if isinstance(value, (Mapping, list)) and value else None
