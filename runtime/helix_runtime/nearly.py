"""Names that are nearly the same: what somebody typed with a slip in it."""

from collections.abc import Iterable
from typing import Final

_LONG: Final = 5


def nearly(word: str, name: str) -> bool:
    """Whether two names differ in case and signs alone, or, if longer, in one letter.

    One letter is missing, there twice, another, or changed places with the next.
    """
    one, other = ("".join(filter(str.isalnum, x.casefold())) for x in (word, name))
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _LONG or len(long) - len(short) > 1:
        return False
    at = next((i for i, sign in enumerate(short) if sign != long[i]), len(short))
    rest, longer = short[at:], long[at:]
    if len(short) < len(long):
        return rest == longer[1:]
    swapped = rest[:2] == longer[:2][::-1] and rest[2:] == longer[2:]
    return rest[1:] == longer[1:] or swapped


def meant_by(word: str, names: Iterable[str]) -> str | None:
    """Return the name that a word nearly is, or None; None where it is one of them."""
    held = list(names)
    if word in held:
        return None
    return next((name for name in held if nearly(word, name)), None)
