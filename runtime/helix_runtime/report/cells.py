"""Text measured in terminal cells: East Asian text and emoji take two, marks none."""

from typing import Final
from unicodedata import category, east_asian_width

from ..safe_text import ELLIPSIS, printable

# Variation selectors: whether a terminal then draws one cell or two is anyone's guess.
_SELECTORS: Final = {0xFE0E: None, 0xFE0F: None}


def safe(text: str, limit: int | None = None) -> str:
    """Return a stranger's text, printable on one line and of a width that is known."""
    shown = printable(text, limit)
    return shown if shown.isascii() else shown.translate(_SELECTORS)


def one_line(text: str) -> str:
    """Return a stranger's text of several lines, printable on one."""
    return printable(" ".join(text.split()))


def cells(text: str) -> int:
    """Return how many cells a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if character < "\u0300":
        return 1
    if east_asian_width(character) in "WF":
        return 2
    # Medial and final Hangul letters join the initial one before them.
    if "\u1160" <= character <= "\u11ff" or category(character) in ("Mn", "Me"):
        return 0
    return 1


def cut(text: str, width: int) -> str:
    """Return `text`, cut to `width` cells, the last of them an ellipsis."""
    if cells(text) <= width:
        return text
    return _head(text, width - 1) + ELLIPSIS if width > 0 else ""


def fit(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells: cut, or padded on the right."""
    shown = cut(text, width)
    return shown + " " * (width - cells(shown))


def right(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells: cut, or padded on the left."""
    shown = cut(text, width)
    return " " * (width - cells(shown)) + shown


def wrap(text: str, width: int, *, lines: int) -> list[str]:
    """Return `text` in at most `lines` lines of `width` cells, broken at blanks.

    A word that is too long is broken where the line ends; what does not fit any more
    is cut with an ellipsis. `width` is at least 2, so that a wide character fits.
    """
    width = max(width, 2)
    rest = text.strip()
    found: list[str] = []
    while rest and len(found) < lines:
        if cells(rest) <= width:
            found.append(rest)
            return found
        if len(found) == lines - 1:
            break
        head = _head(rest, width)
        blank = head.rfind(" ")
        if rest[len(head)] != " " and blank > 0:
            head = head[:blank]
        found.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    if rest and lines > 0:
        found.append(cut(rest, width))
    return found


def _head(text: str, width: int) -> str:
    """Return as much of the start of `text` as fits into `width` cells."""
    if text.isascii():
        return text[:width]
    used = 0
    for place, character in enumerate(text):
        used += _cells(character)
        if used > width:
            return text[:place]
    return text
