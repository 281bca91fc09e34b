"""How many columns a text takes: bounds, because nobody agrees on one number.

Formatters, terminals and Python's own tables differ from one Unicode version to the
next. What is laid out by these bounds holds for all of them, and the same text is laid
out the same on every machine: the tables are those of Unicode 3.2, which every Python
carries, and what is younger is taken as unknown.
"""

from functools import cache
from typing import Final

_ASCII_ONLY: Final = (1, 1)


def most_columns(text: str) -> int:
    """Return the most columns that the text can take; never less than its length."""
    if text.isascii():
        return len(text)
    return sum(_bounds(character)[1] for character in text)


def least_columns(text: str) -> int:
    """Return the least columns that the text can take."""
    if text.isascii():
        return len(text)
    return sum(_bounds(character)[0] for character in text)


@cache
def _bounds(character: str) -> tuple[int, int]:
    point = ord(character)
    if point < 0x300:
        return _ASCII_ONLY
    from unicodedata import ucd_3_2_0 as table

    category = table.category(character)
    if category in ("Mn", "Me", "Mc", "Cf"):
        return 0, 1
    if category == "Cn" or 0x1100 <= point <= 0x11FF:
        # Younger than the table, or a part of a Hangul syllable.
        return 0, 2
    if table.east_asian_width(character) in ("W", "F"):
        return 2, 2
    if category == "So" or category == "Sm" or 0x2190 <= point <= 0x2BFF:
        # Symbols that became emoji, and wide with that.
        return 1, 2
    return 1, 1
