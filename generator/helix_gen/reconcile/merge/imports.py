"""Imports merge as bindings: what each side added and removed, the user's order first."""

import ast
import builtins
from collections.abc import Iterable, Mapping

from .units import Body, Unit

WIDTH = 88

Binding = tuple[str, str | None]


def merge_import(old: Unit | None, mine: Unit, fresh: Unit | None) -> str:
    """Merge an import statement that both sides changed or, with no `old`, added.

    `fresh` is None where it is gone.

    Where its owner wrote a comment into it, it stays as it is: what else is needed
    comes in beside it. Empty where no binding is left.
    """
    nodes = [unit.node for unit in (old, mine, fresh) if unit is not None]
    if not all(isinstance(node, ast.ImportFrom) for node in nodes) or "#" in mine.text:
        return mine.text
    base = [] if old is None else bindings(old.node)
    yours = bindings(mine.node)
    new = [] if fresh is None else bindings(fresh.node)
    names = [b for b in yours if b in new or b not in base]
    names += [b for b in new if b not in base and b not in names]
    if names == yours:
        return mine.text
    if fresh is not None and names == new:
        return fresh.text
    return _statement(mine.node, _in_order(names, yours))


def with_binding(unit: Unit, text: str, alias: ast.alias) -> str:
    """Return a from-import's text with one more binding."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.ImportFrom)
    yours = bindings(node)
    return _statement(node, _in_order([*yours, (alias.name, alias.asname)], yours))


def _in_order(names: list[Binding], yours: list[Binding]) -> list[Binding]:
    """Sort bindings where its owner had them sorted, as import sorters do."""
    return sorted(names, key=_rank) if yours == sorted(yours, key=_rank) else names


def _rank(binding: Binding) -> tuple[int, str, str]:
    name, alias = binding
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name, alias or ""


def bindings(node: ast.stmt) -> list[Binding]:
    """Return what a from-import binds: the name there, and its name here."""
    assert isinstance(node, ast.ImportFrom)
    return [(alias.name, alias.asname) for alias in node.names]


def bound_name(alias: ast.alias) -> str:
    """Return the name that an import makes known."""
    return (alias.asname or alias.name).partition(".")[0]


def _statement(node: ast.stmt, names: Iterable[Binding]) -> str:
    assert isinstance(node, ast.ImportFrom)
    texts = [name if alias is None else f"{name} as {alias}" for name, alias in names]
    if not texts:
        return ""
    head = f"from {'.' * node.level}{node.module or ''} import "
    line = head + ", ".join(texts)
    if len(line) <= WIDTH:
        return line + "\n"
    return head + "(\n" + "".join(f"    {text},\n" for text in texts) + ")\n"


def import_lines(node: ast.stmt, aliases: Iterable[ast.alias]) -> str:
    """Return what imports some bindings from where a statement imports them."""
    if isinstance(node, ast.Import):
        return "".join(ast.unparse(ast.Import(names=[a])) + "\n" for a in aliases)
    return _statement(node, [(alias.name, alias.asname) for alias in aliases])


def imported(
    bodies: Iterable[Body],
) -> Mapping[str, tuple[Unit, ast.Import | ast.ImportFrom, ast.alias]]:
    """Return what the import statements of modules bind, by name."""
    known: dict[str, tuple[Unit, ast.Import | ast.ImportFrom, ast.alias]] = {}
    for body in bodies:
        for unit in body.units:
            if isinstance(unit.node, (ast.Import, ast.ImportFrom)):
                for alias in unit.node.names:
                    if alias.name != "*":
                        known.setdefault(bound_name(alias), (unit, unit.node, alias))
    return known


def needed_names(tree: ast.Module) -> set[str]:
    """Return the names that a module reads and binds nowhere (builtins aside).

    Scopes are not told apart: a name bound anywhere counts as bound.
    """
    read: set[str] = set()
    bound: set[str] = set(dir(builtins)) | {"__file__", "__name__", "__package__"}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name):
                bound.add(name)
            case ast.arg(arg=name):
                bound.add(name)
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                bound.add(name)
            case ast.Import() | ast.ImportFrom():
                bound.update(bound_name(alias) for alias in node.names)
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
    return read - bound
