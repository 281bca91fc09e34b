"""Python source as units: exact stretches of lines, each with a name of its own.

A unit is one statement of a module or class body with the blank lines and comments
above it. The texts of all units and the tail, joined, are the source. Statements that
share a line are one unit.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .lines import split_lines

Kind = Literal["docstring", "import", "function", "class", "assignment", "statement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One statement. `lead` is what stands above it, `text` its own lines.

    `name` is what it binds or, for a statement that binds nothing, its own syntax;
    `number` tells units of one kind and name apart, in order (overloads, setters).
    """

    kind: Kind
    name: str
    number: int
    lead: str
    text: str
    node: ast.stmt

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies the unit across the three versions of its file."""
        kind = "definition" if self.kind in ("function", "class") else self.kind
        return (kind, self.name, self.number)

    @property
    def source(self) -> str:
        """The whole stretch: lead and text."""
        return self.lead + self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A module's or class's units, and the comments and blank lines after the last."""

    units: tuple[Unit, ...]
    tail: str


def split_module(source: str) -> Body:
    """Split a module into units. Raises SyntaxError and ValueError as `ast.parse`."""
    lines = split_lines(source)
    return split_body(ast.parse(source).body, lines, 0, len(lines))


def split_body(
    statements: Sequence[ast.stmt], lines: Sequence[str], start: int, end: int
) -> Body:
    """Split the lines `start` to `end` (from 0) that hold `statements` into units."""
    units: list[Unit] = []
    seen: Counter[tuple[str, str]] = Counter()
    at = start
    for node in statements:
        first, last = first_line(node) - 1, (node.end_lineno or node.lineno)
        if units and first < at:
            # `a = 1; b = 2`: the line belongs to one unit.
            previous = units[-1]
            extended = "".join(lines[at : max(at, last)])
            units[-1] = Unit(
                kind="statement",
                name=previous.name,
                number=previous.number,
                lead=previous.lead,
                text=previous.text + extended,
                node=previous.node,
            )
            at = max(at, last)
            continue
        kind, name = identify(node, is_first=not units)
        number = seen[(kind, name)]
        seen[(kind, name)] += 1
        units.append(
            Unit(
                kind=kind,
                name=name,
                number=number,
                lead="".join(lines[at:first]),
                text="".join(lines[first:last]),
                node=node,
            )
        )
        at = last
    return Body(units=tuple(units), tail="".join(lines[at:end]))


def first_line(node: ast.stmt) -> int:
    """Return the line on which a statement starts, its decorators included."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return node.lineno


def identify(node: ast.stmt, *, is_first: bool) -> tuple[Kind, str]:
    """Return the kind and the name of a statement."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())) if is_first:
            return "docstring", ""
        case ast.Import() | ast.ImportFrom():
            return "import", import_source(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "function", node.name
        case ast.ClassDef():
            return "class", node.name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return "assignment", name
        case ast.AnnAssign(target=ast.Name(id=name)):
            return "assignment", name
        case ast.If():
            return "statement", "if " + ast.unparse(node.test)
        case ast.Try() | ast.TryStar():
            return "statement", "try"
        case ast.With():
            return "statement", "with " + ", ".join(map(ast.unparse, node.items))
        case ast.For() | ast.While():
            return "statement", ast.unparse(node).partition("\n")[0]
    return "statement", ast.unparse(node)


def import_source(node: ast.Import | ast.ImportFrom) -> str:
    """Return what an import statement imports from; a plain import names itself."""
    if isinstance(node, ast.Import):
        return "import " + ", ".join(sorted(alias.name for alias in node.names))
    return "from " + "." * node.level + (node.module or "")


def same_code(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements are the same program, however they are formatted."""
    return ast.dump(one) == ast.dump(other)


def comments(source: str) -> list[str]:
    """Return the comments of a stretch of source, in order.

    A stretch that does not stand alone (a `return` outside its function) is read as
    far as it goes; comments come from tokens, so a `#` in a string is none.
    """
    import io
    import tokenize

    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        return [line.strip() for line in split_lines(source) if "#" in line]
    return found
