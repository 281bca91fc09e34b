"""The calls of actions that a case expects, and the calls that were made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..record import record
from ..trace import ToolCall
from ..verdict import Verdict, not_applicable
from .names import Names, match
from .paths import covers, is_empty, parsed, shown

_NAME_KEYS: Final = (
    "action",
    "actionRef",
    "tool",
    "toolName",
    "name",
    "ref",
    "id",
)
_ARGUMENT_KEYS: Final = ("arguments", "args", "input", "fields", "parameters")


@record
class Expected:
    """An expected call: its name, and its arguments where the case gives them.

    `operation` is the one operation of the action that is meant, where it is named.
    """

    name: str
    operation: str | None
    arguments: Mapping[str, Any] | None
    path: str


def expected_calls(
    entries: Iterable[tuple[str, Any]], known: Sequence[str]
) -> list[Expected] | Verdict:
    """Return the calls that a case expects, or `na` where one is described in words.

    `entries` are what it says, each with its path; `known` the names of actions and
    operations.
    """
    wanted = []
    for path, entry in entries:
        read = _expected_call(entry, path)
        if read is None or _is_prose(read.name, known):
            return not_applicable(
                f"`expected.{path}` describes an action in words: {shown(entry)}."
            )
        wanted.append(read)
    return wanted


def fits(one: Expected, call: ToolCall, held: Mapping[str, Sequence[str]]) -> bool:
    """Whether a call is the expected one; `held` are the operations of each action."""
    if not any(match(name, call.name) for name in _spellings(one, held)):
        return False
    return one.arguments is None or covers(parsed(call.arguments), one.arguments)


def _expected_call(entry: Any, path: str) -> Expected | None:
    if isinstance(entry, str):
        entry = {"name": entry}
    if not isinstance(entry, Mapping):
        return None
    operation = _name_in(entry, ("operation",))
    name = _name_in(entry, _NAME_KEYS) or operation
    if name is None:
        return None
    given = (parsed(entry.get(key)) for key in _ARGUMENT_KEYS)
    # An empty object asks nothing of the arguments.
    arguments = next((one for one in given if not is_empty(one)), None)
    if arguments is not None and not isinstance(arguments, Mapping):
        return None
    return Expected(name, operation, arguments, path)


def _name_in(entry: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    given = (entry.get(key) for key in keys)
    return next((n.strip() for n in given if isinstance(n, str) and n.strip()), None)


def _spellings(one: Expected, held: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the names that a call may bear to be the expected one."""
    yield one.name
    if one.operation is not None:
        yield one.operation
        return
    for action, operations in held.items():
        if match(action, one.name):
            yield from operations


def _is_prose(name: str, known: Sequence[str]) -> bool:
    """Whether a text is a sentence: it has white space and is no known name."""
    return len(name.split()) > 1 and Names(known).find(name) is None


def argument_note(lacking: Sequence[Expected], made: Sequence[ToolCall]) -> str:
    """Say so where a call of the name was made and only its arguments differ."""
    for one in lacking:
        if one.arguments is not None:
            for call in made:
                if match(one.name, call.name):
                    return (
                        f" with the arguments {shown(one.arguments)}; "
                        f"one was made with {shown(call.arguments)}"
                    )
    return ""
