"""Text as TOML: basic strings on one line."""

import re
from typing import Final

from .literal import INVISIBLE
from .trusted import Trusted


class Toml(Trusted):
    """TOML that can be trusted."""

    __slots__ = ()


NOTHING: Final = Toml.by_encoder("")
COMMENT: Final = Toml.by_encoder("# ")

_UNSAFE: Final = re.compile(f'["\\\\{INVISIBLE}]')
_SHORT: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def string(value: str) -> Toml:
    """Return a text as a basic string.

    TOML holds Unicode scalar values only: a lone surrogate becomes U+FFFD.
    """
    return Toml.by_encoder('"' + _UNSAFE.sub(_escape, value) + '"')


def bare(value: str) -> Toml:
    """Return a name as it is: letters, digits, `-`, `_` and `.` only."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", value):
        raise ValueError(f"not a bare TOML name: {value!r}")
    return Toml.by_encoder(value)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    known = _SHORT.get(character)
    if known is not None:
        return known
    point = ord(character)
    if 0xD800 <= point <= 0xDFFF:
        return "\\ufffd"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
