"""Python source as units: exact stretches of lines, each with a name of its own.

A unit is one statement of a module or class body with the blank lines and comments
above it. The texts of all units and the tail, joined, are the source. Statements that
share a line are one unit. A check and a judge are known by the criterion that they
decide, whatever their function is called.
"""

import ast
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

from .split import split_lines

Kind = Literal["docstring", "import", "function", "class", "assignment", "statement"]
Key = tuple[str, str, int]

DEFINITIONS = ("function", "class", "assignment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One statement. `lead` is what stands above it, `text` its own lines.

    `name` is what it binds, empty where that is no single name; `ident` tells it from
    the others of its kind, `number` those of one ident, in order; `criterion` is the
    id of the criterion that it decides. `nodes` is its syntax: one statement, or
    those that share a line.
    """

    kind: Kind
    name: str
    ident: str
    criterion: str | None
    number: int
    lead: str
    text: str
    nodes: tuple[ast.stmt, ...]

    @property
    def key(self) -> Key:
        """What identifies the unit across the three versions of its file."""
        if self.criterion is not None:
            return ("criterion", self.criterion, self.number)
        kind = "definition" if self.kind in ("function", "class") else self.kind
        return (kind, self.ident, self.number)

    @property
    def node(self) -> ast.stmt:
        """The first statement."""
        return self.nodes[0]

    @property
    def source(self) -> str:
        """The whole stretch: lead and text."""
        return self.lead + self.text

    @property
    def label(self) -> str:
        """What the user knows it by."""
        return self.name or self.ident.partition("\n")[0][:60] or self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A module's or class's units, and the comments and blank lines after the last.

    `nested` are the checks and judges that stand inside a unit of the module (under a
    condition, say): the criterion's id, the name that it binds, and the unit.
    `aliases` are other names that a module imports `check` and `Judge` by.
    """

    units: tuple[Unit, ...]
    tail: str
    nested: Mapping[str, tuple[str, Unit]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a module says about its names.

    `aliases` are other names of `check` and `Judge`; `members` are the checks that
    stand in a class, as `Class.name`, with the criterion that each decides.
    """

    aliases: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, str] = field(default_factory=dict)


NOTHING: Final = Known()


@lru_cache(maxsize=12)
def parse(source: str) -> ast.Module:
    """Return the syntax tree of a source. Raises SyntaxError, whatever was wrong.

    The tree is shared with whoever asks for it next: who changes it takes a copy.
    """
    with warnings.catch_warnings():
        # A stray backslash in a user's text is theirs to hear of, from Python.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from error


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a part of a module and all that is in it, but for the marks of contexts.

    It is `ast.walk` at half its price: a merge looks through large modules many times.
    """
    todo = [node]
    while todo:
        each = todo.pop()
        yield each
        todo += children(each)


def children(node: ast.AST) -> list[ast.AST]:
    """Return what stands right below a node, but for the mark of its context."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            found.append(value)
    return found


def compiles(tree: ast.Module) -> bool:
    """Whether Python takes a tree: also what the grammar alone does not forbid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(tree, "<merged>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def parses(text: str) -> bool:
    """Whether a stretch of lines is Python, however far it is indented."""
    try:
        parse(textwrap.dedent(text))
    except SyntaxError:
        return False
    return True


def split_module(source: str) -> Body:
    """Split a module (LF lines) into units. Raises SyntaxError."""
    return split_tree(parse(source), source)


def split_tree(tree: ast.Module, source: str) -> Body:
    """Split a module whose syntax tree is known into units."""
    lines = split_lines(source)
    known = _known(tree.body)
    body = split_body(tree.body, lines, 0, len(lines), known=known)
    nested = {
        criterion: (name, unit)
        for unit in body.units
        if unit.kind == "statement"
        for criterion, name in _nested(unit.nodes, known)
    }
    return replace(body, nested=nested, aliases=known.aliases)


def _known(statements: Sequence[ast.stmt]) -> Known:
    aliases: dict[str, str] = {}
    members: dict[str, str] = {}
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname is not None and alias.name in ("check", "Judge"):
                    aliases[alias.asname] = alias.name
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                criterion = criterion_of(member, Known(aliases=aliases))
                if criterion is not None:
                    members[f"{node.name}.{_bound(member)}"] = criterion
    return Known(aliases=aliases, members=members)


def _nested(nodes: Iterable[ast.stmt], known: Known) -> Iterator[tuple[str, str]]:
    """Yield the criterion and the name of each check or judge inside of statements."""
    for node in nodes:
        for part in ("body", "orelse", "finalbody", "handlers"):
            for child in getattr(node, part, ()):
                if isinstance(child, ast.stmt):
                    criterion = criterion_of(child, known)
                    if criterion is not None:
                        yield criterion, _bound(child)
                if not isinstance(child, _SCOPES):
                    yield from _nested([child], known)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound(node: ast.stmt) -> str:
    return identify(node, is_first=False)[1]


def split_body(
    statements: Sequence[ast.stmt],
    lines: Sequence[str],
    start: int,
    end: int,
    *,
    known: Known = NOTHING,
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
            nodes = (*previous.nodes, node)
            extended = "".join(lines[at : max(at, last)])
            units[-1] = replace(
                previous,
                kind="statement",
                name="",
                ident="; ".join(ast.unparse(each) for each in nodes),
                criterion=None,
                text=previous.text + extended,
                nodes=nodes,
            )
            at = max(at, last)
            continue
        last = _with_inner_comments(node, lines, last, end)
        kind, name, ident = identify(node, is_first=not units)
        criterion = criterion_of(node, known)
        counted = ("criterion", criterion) if criterion is not None else (kind, ident)
        number = seen[counted]
        seen[counted] += 1
        units.append(
            Unit(
                kind=kind,
                name=name,
                ident=ident,
                criterion=criterion,
                number=number,
                lead="".join(lines[at:first]),
                text="".join(lines[first:last]),
                nodes=(node,),
            )
        )
        at = last
    return Body(units=tuple(units), tail="".join(lines[at:end]))


def _with_inner_comments(
    node: ast.stmt, lines: Sequence[str], last: int, end: int
) -> int:
    """Return where a block ends, the comments at the foot of its body included.

    They are indented as the body is: they are about it, not about what follows.
    """
    if not isinstance(node, _BLOCKS):
        return last
    place = last
    while place < end:
        line = lines[place]
        text = line.strip()
        if text.startswith("#"):
            if len(line) - len(line.lstrip()) <= node.col_offset:
                break
            last = place + 1
        elif text:
            break
        place += 1
    return last


_BLOCKS = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)


def first_line(node: ast.stmt) -> int:
    """Return the line on which a statement starts, its decorators included."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return node.lineno


def identify(node: ast.stmt, *, is_first: bool) -> tuple[Kind, str, str]:
    """Return the kind of a statement, the name that it binds, and what tells it apart.

    The variants of one name (a setter, an overload) are told apart by what they are.
    """
    match node:
        case ast.Expr(value=ast.Constant(value=str())) if is_first:
            return "docstring", "", ""
        case ast.Import() | ast.ImportFrom():
            return "import", "", import_source(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "function", node.name, node.name + _variant(node)
        case ast.ClassDef():
            return "class", node.name, node.name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return "assignment", name, name
        case ast.AnnAssign(target=ast.Name(id=name)):
            return "assignment", name, name
        case ast.Assign(targets=targets):
            return "assignment", "", " = ".join(map(ast.unparse, targets))
        case ast.AnnAssign(target=target):
            return "assignment", "", ast.unparse(target)
        case ast.AugAssign():
            return "statement", "", f"augmented {ast.unparse(node.target)}"
        case ast.If():
            return "statement", "", "if " + ast.unparse(node.test)
        case ast.Try() | ast.TryStar():
            return "statement", "", "try"
        case ast.With() | ast.AsyncWith():
            return "statement", "", "with " + ", ".join(map(ast.unparse, node.items))
        case ast.For() | ast.While() | ast.AsyncFor() | ast.Match():
            return "statement", "", ast.unparse(node).partition("\n")[0]
    alias = getattr(ast, "TypeAlias", None)
    if alias is not None and isinstance(node, alias):
        return "assignment", ast.unparse(node.name), ast.unparse(node.name)
    return "statement", "", ast.unparse(node)


def _variant(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Attribute(attr="setter" | "deleter" | "getter" as part):
                return f".{part}"
            case ast.Name(id="overload") | ast.Attribute(attr="overload"):
                return f"({ast.unparse(node.args)})"
    return ""


def criterion_of(node: ast.stmt, known: Known = NOTHING) -> str | None:
    """Return the id of the criterion that a check or a judge decides, else None.

    A check is a decorated function, the result of a call (`is_brief = check("is-brief",
    ...)(function)`) or a member of a class (`is_brief = Checks.is_brief`).
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            calls: list[ast.expr] = list(node.decorator_list)
            word = "check"
        case ast.Assign(
            targets=[ast.Name()], value=ast.expr() as value
        ) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
            if known.members and isinstance(value, ast.Attribute):
                return known.members.get(ast.unparse(value).replace("()", ""))
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Call):
                calls, word = [value.func], "check"
            else:
                calls, word = [value], "Judge"
        case _:
            return None
    for call in calls:
        if isinstance(call, ast.Call):
            called = _called(call)
            if known.aliases.get(called, called) == word:
                return first_text(call)
    return None


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def first_text(call: ast.Call) -> str | None:
    """Return the criterion's id in a call: the first argument, or `criterion=`."""
    match call:
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return text
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="criterion", value=ast.Constant(value=str(text))):
                return text
    return None


def import_source(node: ast.Import | ast.ImportFrom) -> str:
    """Return what an import statement imports from; a plain import names itself."""
    if isinstance(node, ast.Import):
        return "import " + ", ".join(sorted(alias.name for alias in node.names))
    return "from " + "." * node.level + (node.module or "")


def renamed(unit: Unit, name: str) -> Unit:
    """Return a unit of a module that binds `name` in place of its own name."""
    if unit.name == name or not unit.name or len(unit.nodes) != 1:
        return unit
    node = unit.node
    line = node.lineno - first_line(node)
    lines = split_lines(unit.text)
    column = len(lines[line].encode()[: node.col_offset].decode())
    before, after = lines[line][:column], lines[line][column:]
    word = r"(def\s+|class\s+|^)" if unit.kind != "assignment" else "(^)"
    after, count = re.subn(
        rf"{word}{re.escape(unit.name)}\b", rf"\g<1>{name}", after, count=1
    )
    if not count:
        return unit
    lines[line] = before + after
    text = "".join(lines)
    # Read again: what stands behind the name has moved along its line.
    return replace(
        unit, name=name, ident=name, text=text, nodes=tuple(parse(text).body)
    )


def same_code(one: Unit, other: Unit) -> bool:
    """Whether two units are the same program, however they are formatted."""
    if len(one.nodes) != len(other.nodes) or one.kind != other.kind:
        return False
    try:
        return [ast.dump(n) for n in one.nodes] == [ast.dump(n) for n in other.nodes]
    except RecursionError:
        return one.text == other.text


def comments(source: str) -> list[str]:
    """Return the comments of a stretch of source, in order.

    A stretch that does not stand alone (a `return` outside its function) is read as
    far as it goes; comments come from tokens, so a `#` in a string is none.
    """
    import io
    import tokenize

    if "#" not in source:
        return []
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        return [line.strip() for line in split_lines(source) if "#" in line]
    return found


def same(one: Unit, other: Unit) -> bool:
    """Whether two units differ in their format at most; comments count."""
    return same_text(one, other) and comments(one.lead) == comments(other.lead)


def same_text(one: Unit, other: Unit) -> bool:
    """Whether two units differ in their format at most, what stands above them aside."""
    if one.text == other.text:
        return True
    return same_code(one, other) and comments(one.text) == comments(other.text)
