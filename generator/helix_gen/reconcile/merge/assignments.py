"""Three-way merge of an assignment: its value, element by element."""

import ast

from .how import Sides
from .source import Names, Source, Value
from .units import Unit, first_line
from .values import ValueMerge


def merge_assignment(
    old: Unit | None,
    mine: Unit,
    fresh: Unit,
    *,
    values: ValueMerge,
    name: str,
    names: Names,
    references: Sides,
) -> str | None:
    """Merge the values of an assignment; None where more than those changed.

    `name` is for the user; `names` are those of the user's module, `references` what
    decides which criterion in each of the three.
    """
    now = _value(mine, names)
    then = _value(fresh, Names(references=references.new))
    known = Names(references=references.base)
    was = None if old is None else _value(old, known)
    if now is None or then is None or (old is not None and was is None):
        return None
    sides = [side for side in (was, now, then) if side is not None]
    if len({_head(side) for side in sides}) > 1:
        return None
    text = values.merge(was, now, then, name)
    last = len(now.source.lines) - 1
    end = (last, len(now.source.lines[last]))
    head = now.source.between((0, 0), now.source.start(now.node))
    return head + text + now.source.between(now.end, end)


def _value(unit: Unit, names: Names) -> Value | None:
    """Return the value of an assignment where it stands."""
    node = getattr(unit.node, "value", None)
    if not isinstance(node, ast.expr):
        return None
    return Value(node, Source(unit.text, first_line(unit.node), names))


def _head(value: Value) -> str:
    """Return what stands before a value, however it is spaced and bracketed."""
    text = value.source.between((0, 0), value.source.start(value.node))
    return " ".join(text.replace("(", " ").split())
