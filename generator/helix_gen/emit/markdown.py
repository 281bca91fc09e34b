"""Text as Markdown: inline text and code spans that stay what they are.

What a spec says becomes one line of plain text: no markup, no HTML, no links, no table
cells of its own.
"""

import re
from typing import Final

from .literal import INVISIBLE, escaped
from .trusted import Trusted


class Markdown(Trusted):
    """Markdown that can be trusted."""

    __slots__ = ()


_SPACE: Final = re.compile(r"[ \t\r\n]+")
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")
# Backslashes keep these from being markup; the colon and the dot from becoming links.
# An underscore inside a word is none.
_MARKUP: Final = re.compile(
    r"[\\`*\[\]<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)"
    r"|(?<=\w):(?=//)|(?<=www)\.|(?<=\w)@(?=\w)"
)
# At the start of a line more is markup: lists, quotes, headings, rules.
_LINE_MARKUP: Final = re.compile(r"^(>|[-+=#]|\d{1,9}[.)])")


def text(value: str) -> Markdown:
    """Return a text as inline Markdown, on one line; an empty text is a dash."""
    line = _one_line(value)
    line = _MARKUP.sub(lambda match: "\\" + match[0], line)
    line = _LINE_MARKUP.sub(lambda match: _escape_marker(match[0]), line)
    return Markdown.by_encoder(line or "\N{EN DASH}")


def code(value: str) -> Markdown:
    """Return a text as a code span that may stand in a table's cell."""
    line = _one_line(value)
    if not line:
        return Markdown.by_encoder("(empty)")
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    # A table's cell ends at a bar, in a code span as well.
    body = line.replace("|", "\\|")
    return Markdown.by_encoder(f"{fence}{pad}{body}{pad}{fence}")


def name(value: str) -> Markdown:
    """Return an ASCII identifier as it is, for code blocks."""
    if not value.isascii() or not value.isidentifier():
        raise ValueError(f"not an ASCII identifier: {value!r}")
    return Markdown.by_encoder(value)


def number(value: int) -> Markdown:
    """Return a whole number."""
    return Markdown.by_encoder(f"{value:d}")


def _one_line(value: str) -> str:
    line = _SPACE.sub(" ", value).strip()
    return _INVISIBLE.sub(lambda match: escaped(match[0]), line)


def _escape_marker(marker: str) -> str:
    return marker[:-1] + "\\" + marker[-1]
