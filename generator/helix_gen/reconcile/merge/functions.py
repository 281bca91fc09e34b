"""Three-way merge of one function: decorators, signature, docstring and body apart."""

import ast
import io
import tokenize
from dataclasses import dataclass

from .lines import merge_text
from .source import NO_NAMES, Names, Source, Value
from .split import split_lines
from .units import Unit, first_line
from .values import ValueMerge


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The four parts of a function's text; each is whole lines."""

    decorators: str
    signature: str
    docstring: str
    body: str


def header_end(lines: list[str], start: int) -> int | None:
    """Return the line (from 0) below the one whose colon ends a header.

    `start` is the line of `def` or `class`. None where the body shares that line.
    """
    depth = 0
    reader = io.StringIO("".join(lines[start:])).readline
    try:
        ended = 0
        for token in tokenize.generate_tokens(reader):
            if ended:
                if token.type == tokenize.COMMENT:
                    continue
                return start + ended if token.type == tokenize.NEWLINE else None
            if token.type != tokenize.OP:
                continue
            if token.string in "([{":
                depth += 1
            elif token.string in ")]}":
                depth -= 1
            elif token.string == ":" and depth == 0:
                ended = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return None


def function_parts(unit: Unit) -> Parts | None:
    """Cut a function at whole lines; None where parts share a line."""
    node = unit.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    lines = split_lines(unit.text)
    offset = first_line(node)
    starts_at = node.lineno - offset
    body_at = header_end(lines, starts_at)
    if body_at is None:
        return None
    first = node.body[0]
    docstring_ends = body_at
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        docstring_ends = (first.end_lineno or first.lineno) - offset + 1
    if any(s.lineno - offset < docstring_ends for s in node.body[1:]):
        return None
    return Parts(
        decorators="".join(lines[:starts_at]),
        signature="".join(lines[starts_at:body_at]),
        docstring="".join(lines[body_at:docstring_ends]),
        body="".join(lines[docstring_ends:]),
    )


def merge_function(
    old: Unit, mine: Unit, fresh: Unit, *, values: ValueMerge, name: str, names: Names
) -> tuple[str, bool] | None:
    """Merge the parts of a function each for itself; None where it can't be cut.

    `names` are what the owner's module calls things. Returns the text and whether a
    part clashed; that part is then the user's.
    """
    cut = [function_parts(unit) for unit in (old, mine, fresh)]
    b, y, n = cut[0], cut[1], cut[2]
    if b is None or y is None or n is None:
        return None
    clashed = False
    decorators = merge_text(b.decorators, y.decorators, n.decorators)
    head = decorators.text
    if decorators.conflicts:
        sides = _decorators(old), _decorators(mine, names), _decorators(fresh)
        source = Source(y.decorators, first_line(mine.node))
        by_value = _merge_decorators(sides, source, values, name)
        clashed = by_value is None
        head = y.decorators if by_value is None else by_value
    parts = [head]
    for before, yours, new in (
        (b.signature, y.signature, n.signature),
        (b.docstring, y.docstring, n.docstring),
        (b.body, y.body, n.body),
    ):
        merged = merge_text(before, yours, new)
        clashed = clashed or bool(merged.conflicts)
        parts.append(yours if merged.conflicts else merged.text)
    return "".join(parts), clashed


_Decorators = dict[tuple[str, int], Value]


def _merge_decorators(
    sides: tuple[_Decorators, _Decorators, _Decorators],
    source: Source,
    values: ValueMerge,
    name: str,
) -> str | None:
    """Merge decorators each for itself, known by what they call; None where they clash.

    Its owner's own stay where they stand.
    """
    was, now, then = sides
    before = len(values.findings.conflicts)
    pieces: list[str] = []
    at = (0, 0)
    for key, value in now.items():
        merged = value.text
        if key in was and key in then:
            merged = values.merge(was[key], value, then[key], f"{name}'s decorator")
        elif key in then or key in was and was[key].text != value.text:
            return None
        pieces.append(source.between(at, source.start(value.node)))
        pieces.append(merged)
        at = source.end(value.node)
    gone = [key for key in was if key not in now]
    if any(k in then and then[k].text != was[k].text for k in gone):
        return None
    if any(key not in was and key not in now for key in then):
        return None
    if any(key in was and key not in then for key in now):
        return None
    last = len(source.lines) - 1
    pieces.append(source.between(at, (last, len(source.lines[last]))))
    if len(values.findings.conflicts) > before:
        del values.findings.conflicts[before:]
        return None
    return "".join(pieces)


def _decorators(unit: Unit, names: Names = NO_NAMES) -> _Decorators:
    """Return a function's decorators by what they call, several of one in order."""
    node = unit.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    source = Source(unit.text, first_line(node), names)
    found: _Decorators = {}
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        key = (names.called(called), 0)
        while key in found:
            key = (key[0], key[1] + 1)
        found[key] = Value(decorator, source)
    return found
