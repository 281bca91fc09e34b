"""The overlay's map: which field of a foreign row is which of ours."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from helix_runtime.canonical import dump_line

ABSENT: Final = object()
"""What a row has that lacks a field (null is something)."""


class Rule(NamedTuple):
    """One line of a map: their field, the path of ours, their values to ours."""

    theirs: str
    ours: tuple[str, ...]
    values: Mapping[str, Any] | None


def rules_of(fields: Mapping[str, Any] | None) -> list[Rule]:
    """Return the rules of a map that the overlay's reader found faultless."""
    rules = []
    for theirs, says in (fields or {}).items():
        ours, values = says, None
        if isinstance(says, Mapping):
            ours = says["to"]
            values = says.get("values")
        head, _, rest = ours.partition(".")
        # A dimension's name may hold dots; a path into free data is one of steps.
        path = (head, rest) if head == "tuple" else tuple(ours.split("."))
        rules.append(Rule(theirs, path, values))
    return rules


def field_of(row: Mapping[str, Any], name: str) -> Any:
    """Return the field of a row by its name, or by a dotted path into it."""
    if name in row:
        return row[name]
    value: Any = row
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return ABSENT
        value = value[step]
    return value


def label_of(value: Any) -> str | None:
    """Return a value that names something (an id, a category) as text, or None."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return dump_line(value) if abs(value) < 1e300 else None
    return value if isinstance(value, str) and value else None


def put(data: Any, path: tuple[str, ...], value: Any) -> Any:
    """Return `data` with a value at a path of nested objects."""
    if not path:
        return value
    below = dict(data) if isinstance(data, Mapping) else {}
    below[path[0]] = put(below.get(path[0]), path[1:], value)
    return below
