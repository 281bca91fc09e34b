"""Imports merge as bindings: what each side added and removed, the user's order first."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from .units import Body, Unit, children, import_source, parse, split_tree, walk

WIDTH = 88

Binding = tuple[str, str | None]
"""A name as it is where it comes from, and its name here."""

Import = tuple[str, Binding]
"""What an import statement imports from, as `import_source` has it, and one binding."""


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


def with_binding(text: str, alias: ast.alias) -> str:
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
    for node in walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            continue
        match node:
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


def read_unbound(tree: ast.Module) -> set[str]:
    """Return the names that a module reads and binds nowhere, or only further down.

    What stands in a function is read later; its decorators and defaults are not.
    """
    found = needed_names(tree)
    bound = [stored(node) for node in tree.body]
    later = set[str]().union(*bound)
    above: set[str] = set()
    for node, names in zip(tree.body, bound, strict=True):
        parts, is_block = _read_at_once(node)
        read = {
            each.id
            for part in parts
            for each in _outside_functions(part)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
        }
        inside = names if is_block else set[str]().union(*map(stored, parts))
        found |= (read & later) - above - inside
        above |= names
    return found


def _read_at_once(node: ast.stmt) -> tuple[Sequence[ast.AST], bool]:
    """Return the parts that are read before a statement binds its own name.

    Of a block (a condition, a loop, a class) the order inside is not looked at.
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            return [*node.decorator_list, *defaults], False
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return [value], False
    return [node], True


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a part of a module and what is in it, the bodies of functions left out."""
    todo = [node]
    while todo:
        each = todo.pop()
        yield each
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += [*each.decorator_list, each.args]
        elif isinstance(each, ast.Lambda):
            todo.append(each.args)
        else:
            todo += children(each)


def stored(node: ast.AST) -> set[str]:
    """Return the names that a part of a module binds, functions' own left out."""
    found: set[str] = set()
    for each in _outside_functions(node):
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Import() | ast.ImportFrom():
                found.update(bound_name(alias) for alias in each.names)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
    return found


def without_unused(
    text: str, *, ours: Collection[Import], used: Collection[str]
) -> str:
    """Return a module without the imports of `ours` that nothing needs any more.

    `used` are names that other files take from the module. A statement with a comment
    in it stays, and so does what its owner imports otherwise.
    """
    tree = parse(text)
    words = _words(tree) | set(used)
    pieces: dict[int, tuple[Unit, list[Binding]]] = {}
    body = split_tree(tree, text)
    for place, unit in enumerate(body.units):
        if not isinstance(unit.node, ast.ImportFrom) or "#" in unit.text:
            continue
        source = import_source(unit.node)
        names = bindings(unit.node)
        idle = [b for b in names if (source, b) in ours and (b[1] or b[0]) not in words]
        if idle:
            pieces[place] = (unit, [b for b in names if b not in idle])
    if not pieces:
        return text
    texts = []
    for place, unit in enumerate(body.units):
        if place in pieces:
            left = _statement(unit.node, pieces[place][1])
            texts.append(unit.lead + left if left else unit.lead.lstrip("\n"))
        else:
            texts.append(unit.source)
    return "".join([*texts, body.tail])


def imports_of(body: Body) -> set[Import]:
    """Return what a module imports from others: where from, and what."""
    return {
        (import_source(unit.node), binding)
        for unit in body.units
        if isinstance(unit.node, ast.ImportFrom)
        for binding in bindings(unit.node)
    }


def _words(tree: ast.Module) -> set[str]:
    """Return the names that a module reads, also in `__all__` and in annotations."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                found.add(name)
            case ast.Constant(value=str(text)) if not re.search(r"\s", text):
                found.update(re.findall(r"\w+", text))
            case ast.arg(annotation=ast.Constant(value=str(text))):
                found.update(re.findall(r"\w+", text))
            case ast.AnnAssign(annotation=ast.Constant(value=str(text))):
                found.update(re.findall(r"\w+", text))
            case ast.FunctionDef(returns=ast.Constant(value=str(text))):
                found.update(re.findall(r"\w+", text))
            case ast.AsyncFunctionDef(returns=ast.Constant(value=str(text))):
                found.update(re.findall(r"\w+", text))
    return found
