"""Data as JSON text that no reader trips over.

JSON lets controls such as U+2028 and U+0085 stand in its strings; tools that split
lines at them, and terminals, do not. They are escaped, which JSON's readers undo.
"""

import json
import re
from typing import Any, Final

from helix_runtime.canonical import dump_line

from .literal import INVISIBLE

_UNSAFE: Final = re.compile(f"[{INVISIBLE.replace(chr(0) + '-' + chr(0x1F), '')}]")


def line(value: Any) -> str:
    """Return a value as one JSON line, keys as they stand, without a line feed."""
    return _safe(dump_line(value))


def document(value: Any) -> str:
    """Return a value as an indented JSON document that ends with a line feed."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return _safe(text) + "\n"


def _safe(text: str) -> str:
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point <= 0xFFFF:
        return f"\\u{point:04x}"
    point -= 0x10000
    return f"\\u{0xD800 + (point >> 10):04x}\\u{0xDC00 + (point & 0x3FF):04x}"
