"""Strict reading of JSON that strangers wrote: models, hosts, files."""

import json
from collections.abc import Iterable
from typing import Any, Final

MAX_DEPTH: Final = 64


def strict_loads(text: str) -> Any:
    """Return the data of one JSON text; objects keep the order of their keys.

    Raises ValueError, with a sentence that says why, for what Python's own reader
    lets through or dies of: a key that stands twice, NaN and infinities, nesting
    deeper than MAX_DEPTH, numbers with thousands of digits.
    """
    try:
        data = unambiguous(text)
        # What opens so few objects and lists can't be nested deeper.
        if text.count("{") + text.count("[") > MAX_DEPTH:
            _check_depth(data)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    return data


def unambiguous(text: str) -> Any:
    """Return the data of one JSON text of any depth, in which no key stands twice.

    Raises ValueError as `strict_loads` does, and RecursionError.
    """
    if text.startswith("\ufeff"):
        return json.loads(text)  # raises, and says that there is a mark
    return _UNAMBIGUOUS.decode(text)


def one_reading(text: str) -> Any:
    """Return the data of one JSON text in which no key stands twice; NaN may stand.

    Raises ValueError and RecursionError.
    """
    return json.loads(text, object_pairs_hook=_object)


def why_unreadable(error: Exception) -> str:
    """Return in words why a text or record could not be read, without Python's own."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        if error.object.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "not UTF-8 but UTF-16"
        return f"not UTF-8: the byte 0x{error.object[error.start]:02x}"
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterm"):
            return "not JSON: it breaks off" if error.doc.strip() else "empty"
        place = f"column {error.colno}"
        if "\n" in error.doc.strip():
            place = f"line {error.lineno}, {place}"
        return f"not JSON: {error.msg[0].lower()}{error.msg[1:]} ({place})"
    said = str(error)
    return "a number of thousands of digits" if "int_max_str_digits" in said else said


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        once_each(pairs)
    return data


def once_each(pairs: Iterable[tuple[str, Any]]) -> None:
    """Raise ValueError that names the first key that stands twice."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            # Readers differ in which of the two they keep: a judge's answer could
            # show one result to a person and another to the gate.
            raise ValueError(f"the key {key[:80]!r} stands twice in one object")
        seen.add(key)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# Made once: `json.loads` makes one for each text that it is to read with a hook.
_UNAMBIGUOUS: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_no_constant
)


def _check_depth(data: Any) -> None:
    level: list[Any] = [data]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH + 1:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
        level = below
