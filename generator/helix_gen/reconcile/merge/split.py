"""Lines of a text as an editor counts them, and their endings.

Only LF, CRLF and CR end a line (never `str.splitlines`, which also splits at form
feeds and U+2028).
"""

import re
from collections.abc import Iterable

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, each with its ending; their join is the text."""
    return _LINE.findall(text)


def with_lf(text: str) -> str:
    """Return a text with LF as its only line ending."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def ending_of(line: str) -> str:
    """Return the ending of a line; empty where the text ends without one."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\n", "\r")) else ""


def joined(pieces: Iterable[str], tail: str) -> str:
    """Join pieces, each but the last with a line ending of its own."""
    closed = [piece for piece in pieces if piece]
    if tail:
        closed.append(tail)
    for place, piece in enumerate(closed[:-1]):
        if not piece.endswith("\n"):
            closed[place] = piece + "\n"
    return "".join(closed)
