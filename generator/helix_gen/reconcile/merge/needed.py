"""The imports that merged code still needs, where the merge of the imports lost them.

Code of one side may need what the other side no longer imports.
"""

import ast
import re
from collections.abc import Collection, Mapping, Sequence

from .imports import import_lines, imported, needed_names, with_binding
from .split import joined
from .units import Body, Key, Unit, split_tree


def needed_imports(tree: ast.Module, text: str, sides: Sequence[Body]) -> set[str]:
    """Return the names that merged code needs and that an import of a side bound."""
    known = imported(sides)
    body = split_tree(tree, text)
    candidates = set(known) - set(imported((body,)))
    if not candidates or candidates.isdisjoint(re.findall(r"\w+", text)):
        return set()
    return candidates & needed_names(tree)


def with_imports(
    pieces: Mapping[Key, str],
    tail: str,
    needed: Collection[str],
    sides: Sequence[Body],
) -> str:
    """Return the module with the imports that its code needs.

    They come into the statement that imports from the same module, or stand where
    the statement stood that bound them.
    """
    known = imported(sides)
    pieces = dict(pieces)
    extra: dict[Key, tuple[Unit, list[ast.alias]]] = {}
    for name in sorted(needed):
        unit, node, alias = known[name]
        lines = pieces.get(unit.key, "")
        lead = unit.lead if lines.startswith(unit.lead) else ""
        text = lines[len(lead) :]
        is_from = isinstance(node, ast.ImportFrom) and _is_from_import(text)
        if is_from and "#" not in text and "*" not in text:
            pieces[unit.key] = lead + with_binding(text, alias)
        else:
            extra.setdefault(unit.key, (unit, []))[1].append(alias)
    order = list(pieces)
    for key, (unit, aliases) in extra.items():
        at = _place_of_import(key, order, sides)
        added = ("import", f"needed {key[1]}", key[2])
        is_below_text = at > 0 and order[at - 1][0] == "docstring"
        pieces[added] = "\n" * is_below_text + import_lines(unit.node, aliases)
        order.insert(at, added)
    return joined([pieces[key] for key in order], tail)


def _place_of_import(key: Key, order: Sequence[Key], sides: Sequence[Body]) -> int:
    """Return where an import goes: below what stands above it in a version."""
    for body in sides:
        keys = [unit.key for unit in body.units]
        above = keys[: keys.index(key) + 1] if key in keys else []
        for other in reversed(above):
            if other[0] in ("import", "docstring") and other in order:
                return order.index(other) + 1
    heads = [other for other in order if other[0] == "docstring"]
    return order.index(heads[0]) + 1 if heads else 0


def _is_from_import(text: str) -> bool:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    return len(body) == 1 and isinstance(body[0], ast.ImportFrom)
