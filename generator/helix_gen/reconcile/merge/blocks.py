"""Classes and conditions as a head over a body of units."""

import ast
import copy

from .functions import header_end
from .split import split_lines
from .units import Body, Unit, first_line, split_body


def are_conditions(*units: Unit) -> bool:
    """Whether units are the same condition over a body, with nothing else to it."""
    return all(isinstance(u.node, ast.If) and not u.node.orelse for u in units)


def block_parts(unit: Unit) -> tuple[str, Body] | None:
    """Return the head of a class or a condition, and the units of its body, or None.

    None where they can't be cut apart at whole lines.
    """
    node = unit.node
    if len(unit.nodes) > 1:
        return None
    assert isinstance(node, (ast.ClassDef, ast.If))
    lines = split_lines(unit.text)
    offset = first_line(node)
    body_at = header_end(lines, node.lineno - offset)
    if body_at is None or first_line(node.body[0]) - offset < body_at:
        return None
    # The members' own lines, counted from the first of the unit.
    shifted = [ast.increment_lineno(copy.deepcopy(s), 1 - offset) for s in node.body]
    body = split_body(shifted, lines, body_at, len(lines))
    return "".join(lines[:body_at]), body
