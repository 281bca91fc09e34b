"""Whether a merged module is sound, and what decides which criterion in it."""

import ast
from collections import Counter
from collections.abc import Iterable

from .units import DEFINITIONS, Body, compiles, parse, split_module, split_tree


def decided(body: Body) -> dict[str, str]:
    """Return which name decides which criterion in a module."""
    units = {
        unit.criterion: unit.name
        for unit in reversed(body.units)
        if unit.criterion is not None
    }
    return {**{i: name for i, (name, _) in body.nested.items()}, **units}


def decided_in(text: str) -> dict[str, str]:
    """Return which name decides which criterion in a text, none in no Python."""
    try:
        return decided(split_module(text))
    except SyntaxError:
        return {}


def is_python(text: str, sides: Iterable[str]) -> bool:
    """Whether a merged text is a sound module, held against its sides' texts."""
    try:
        tree = parse(text)
        body = split_tree(tree, text)
        known = [split_module(side) for side in sides]
    except SyntaxError:
        return False
    return is_sound(tree, body, known)


def is_sound(tree: ast.Module, body: Body, sides: Iterable[Body]) -> bool:
    """Whether a merged module compiles and defines nothing twice that no side does."""
    if not compiles(tree):
        return False
    twice = _twice(body)
    return not twice or twice <= {name for side in sides for name in _twice(side)}


def _twice(body: Body) -> set[str]:
    """Return the names and criteria that a module defines more than once."""
    keys = {unit.key: unit for unit in body.units if unit.kind in DEFINITIONS}
    names = Counter(unit.name for unit in keys.values() if unit.number == 0)
    found = {name for name, count in names.items() if count > 1 and name}
    return found | {str(key) for key in keys if key[2] > 0}
