"""The names that a text of a package defines, reads, and decides criteria by."""

import re
from collections.abc import Collection

from .importable import body_of
from .merge.imports import needed_names
from .merge.sound import decided
from .merge.split import with_lf
from .merge.units import Body, parse

_DEFINED = re.compile(
    r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.M
)


def defined(text: str) -> set[str]:
    """Return the names that stand at the start of a line of Python as definitions."""
    return {one or other for one, other in _DEFINED.findall(with_lf(text))}


def read_in(text: str, names: Collection[str]) -> set[str]:
    """Return which of some names a module reads and binds nowhere."""
    if not any(name in text for name in names):
        return set()
    try:
        tree = parse(with_lf(text.removeprefix("\ufeff")))
    except SyntaxError:
        return set()
    return needed_names(tree) & set(names)


def names_of(body: Body | None) -> dict[str, str]:
    """Return which name decides which criterion in a module, none where it is none."""
    return {} if body is None else decided(body)


def names_in(text: str) -> dict[str, str]:
    """Return which name decides which criterion in a text; cheap where none does."""
    if "check(" not in text and "Judge(" not in text:
        return {}
    return names_of(body_of(text))
