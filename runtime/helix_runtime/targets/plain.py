"""What a framework holds, as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_DEEPEST: Final = 100
_LONGEST_REPR: Final = 2000


def plain(value: Any) -> Any:
    """Return a value as JSON data, as close to what it is as JSON can say.

    Models, dataclasses and mappings become objects, sequences and sets lists, times
    their ISO text; what has no such form becomes its `repr`. Never raises.
    """
    try:
        return _plain(value, 0)
    except Exception as error:  # a property or `__iter__` of the value's own
        return f"<{type(value).__name__}: {type(error).__name__}>"


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value if value is None or type(value) in (bool, int) else int(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return value if value - value == 0 else repr(value)
    if depth >= _DEEPEST:
        return "<nested too deeply>"
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key], depth + 1) for key in value}
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        if names is not None and isinstance(value, tuple):
            return {name: _plain(getattr(value, name), depth + 1) for name in names}
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        # A set has no order of its own, and a trace must not depend on hashes.
        return sorted((_plain(item, depth + 1) for item in value), key=repr)
    return _object(value, depth)


def _object(value: Any, depth: int) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if isinstance(value, type):
        return f"<class {value.__name__}>"
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return _plain(dump(mode="json"), depth + 1)
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is not None:
        return {name: _plain(getattr(value, name), depth + 1) for name in names}
    moment = getattr(value, "isoformat", None)
    if callable(moment):
        return str(moment())
    member = getattr(value, "value", None)
    if type(type(value)).__name__ == "EnumType" or hasattr(value, "_value_"):
        return _plain(member, depth + 1)
    return repr(value)[:_LONGEST_REPR]
