"""Imports merge as bindings: what each side added and removed, the user's order first."""

import ast
import builtins

from .lines import merge_text
from .units import Unit

WIDTH = 88


def merge_import(old: Unit, mine: Unit, fresh: Unit) -> str | None:
    """Merge an import statement that both sides changed; None where it can't be."""
    merged = merge_text(old.text, mine.text, fresh.text)
    if not merged.conflicts:
        try:
            ast.parse(merged.text)
        except SyntaxError:
            pass
        else:
            return merged.text
    nodes = (old.node, mine.node, fresh.node)
    if not all(isinstance(node, ast.ImportFrom) for node in nodes) or "#" in mine.text:
        return None
    base, yours, new = (_bindings(node) for node in nodes)
    removed = [b for b in base if b not in new]
    names = [b for b in yours if b not in removed]
    names += [b for b in new if b not in base and b not in names]
    if yours == sorted(yours):
        names.sort()
    if not names:
        return None
    module = fresh.name.removeprefix("from ")
    head = f"from {module} import "
    texts = [name if alias is None else f"{name} as {alias}" for name, alias in names]
    line = head + ", ".join(texts)
    if len(line) <= WIDTH:
        return line + "\n"
    return head + "(\n" + "".join(f"    {text},\n" for text in texts) + ")\n"


def _bindings(node: ast.stmt) -> list[tuple[str, str | None]]:
    assert isinstance(node, ast.ImportFrom)
    return [(alias.name, alias.asname) for alias in node.names]


def needed_names(source: str) -> set[str]:
    """Return the names that a module reads and binds nowhere (builtins aside).

    Scopes are not told apart: a name bound anywhere counts as bound. A star import
    binds what can't be known, so nothing is needed then.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
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
                for alias in node.names:
                    if alias.name == "*":
                        return set()
                    bound.add((alias.asname or alias.name).partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
    return read - bound
