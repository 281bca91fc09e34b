"""Where the units of a merged body stand."""

import ast
from collections.abc import Container, Mapping

from .order import is_reordered, weave
from .units import Key, Unit


def placed(
    old: Mapping[Key, Unit],
    mine: Mapping[Key, Unit],
    fresh: Mapping[Key, Unit],
    merged: Container[Key],
    *,
    is_module: bool,
) -> list[Key]:
    """Return the keys of the units that are `merged`, in their order."""
    order, other = list(mine), list(fresh)
    if _takes_order(old, mine, fresh):
        order, other = other, order
    woven = weave(order, other, merged)
    if is_module:
        woven = _future_first(_below_imports(woven, mine))
    return woven


def _takes_order(
    old: Mapping[Key, Unit], mine: Mapping[Key, Unit], fresh: Mapping[Key, Unit]
) -> bool:
    """Whether the new order is taken: only it changed, and nothing depends on it.

    What its owner added may have to stand above what uses it.
    """
    own = any(k not in old and k not in fresh and k[0] != "import" for k in mine)
    if own or is_reordered(list(old), list(mine)):
        return False
    return is_reordered(list(old), list(fresh))


def _future_first(order: list[Key]) -> list[Key]:
    """Let `from __future__` stand where Python wants it: above all other imports."""
    future = [key for key in order if key[:2] == ("import", "from __future__")]
    if not future:
        return order
    rest = [key for key in order if key not in future]
    head = [key for key in rest if key[0] == "docstring"]
    first = order.index(future[0])
    if order[:first] == head:
        return order
    return [*head, *future, *(key for key in rest if key not in head)]


def _below_imports(order: list[Key], mine: Mapping[Key, Unit]) -> list[Key]:
    """Let what is new stand below the imports at the top, which it may need.

    Its owner may have sorted those in another way, or put one under a condition.
    """
    head: list[Key] = []
    new: list[Key] = []
    for key in order:
        unit = mine.get(key)
        if key[0] in ("docstring", "import") or unit is not None and _imports(unit):
            head.append(key)
        elif unit is None:
            new.append(key)
        else:
            break
    return [*head, *new, *order[len(head) + len(new) :]]


def _imports(unit: Unit) -> bool:
    """Whether a unit is a condition or a `try` over imports."""
    if unit.kind != "statement":
        return False
    nodes = [node for each in unit.nodes for node in ast.walk(each)]
    return any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes)
