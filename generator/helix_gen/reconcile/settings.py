"""What `evals.toml` was written with, and what the overlay says by now.

The file is its owner's and never written again. So a judge or a target that changes in
the overlay later does not reach it: that is said, with the lines to write. What was
said stays said until the file follows, or the overlay goes back.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Final

SETTINGS: Final = "evals.toml"

_KEYS: Final = (
    (None, "target"),
    ("target", "ref"),
    ("target", "preset"),
    ("judge", "provider"),
    ("judge", "model"),
    ("judge", "base_url"),
)


def settings_of(data: bytes) -> dict[str, str]:
    """Return what a text sets of what an overlay can say, by `table.key`.

    Empty for a text that is no TOML: its owner hears that from the suite.
    """
    try:
        record = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    found = {}
    for table, key in _KEYS:
        place = record if table is None else record.get(table)
        value = place.get(key) if isinstance(place, dict) else None
        if isinstance(value, str):
            found[_name(table, key)] = value
    return found


def followed(
    known: Mapping[str, str], now: Mapping[str, str], yours: Mapping[str, str]
) -> dict[str, str]:
    """Return what the file is known to follow, after this run."""
    names = [_name(table, key) for table, key in _KEYS]
    same = {
        name for name in names if now.get(name) in (yours.get(name), known.get(name))
    }
    kept = {name: (now if name in same else known).get(name) for name in names}
    return {name: value for name, value in kept.items() if value is not None}


def lines_to_write(
    known: Mapping[str, str], now: Mapping[str, str], yours: Mapping[str, str]
) -> Iterator[str]:
    """Yield what its owner may write, a setting each, where the overlay moved on."""
    from ..emit.toml import string

    for table, key in _KEYS:
        name = _name(table, key)
        value = now.get(name)
        if value == known.get(name) or value == yours.get(name):
            continue
        place = f" under [{table}]" if table is not None else ""
        if value is None:
            yield f"no `{key}`{place}"
        else:
            yield f"`{key} = {string(value)}`{place}"


def _name(table: str | None, key: str) -> str:
    return key if table is None else f"{table}.{key}"
