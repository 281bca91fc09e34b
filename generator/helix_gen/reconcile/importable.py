"""Whether a package's files, which name each other, can be imported together.

Nothing is run: what is looked at are the names that each file takes from the others,
those that it reads and binds nowhere, and the criteria that a table registers.
"""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from .merge.elements import is_skipped_row, row_criterion, row_names
from .merge.imports import read_unbound, stored
from .merge.split import with_lf
from .merge.units import Body, parse, split_module, walk


def import_faults(
    texts: Mapping[str, str], only: Collection[str] | None = None
) -> set[str]:
    """Return what keeps modules from being imported, a text for each; by their names.

    With `only`, what keeps these from it. A module that Python can't read is its
    owner's to mend, and is passed over.
    """
    faults = set[str]()
    bound: dict[str, set[str]] = {}
    ids: dict[str, str] | None = None
    for stem, text in texts.items():
        if only is not None and stem not in only:
            continue
        try:
            tree = parse(with_lf(text.removeprefix("\ufeff")))
        except SyntaxError:
            continue
        faults.update(f"`{name}` in {stem}.py" for name in read_unbound(tree))
        for other, name in _uses(tree):
            if other not in texts:
                continue
            if other not in bound:
                bound[other] = bound_names(texts[other])
            if name not in bound[other]:
                faults.add(f"`{other}.{name}`, which {stem}.py uses")
        if "CRITERIA" in text:
            ids = decided_by(texts) if ids is None else ids
            twice = registered_twice(text, ids)
            faults.update(f"one row for `{i}` ({stem}.py has two)" for i in twice)
    return faults


def still_offers(before: str, after: str) -> bool:
    """Whether a module that others use still has its names, and they decide the same."""
    if not bound_names(before) <= bound_names(after):
        return False
    decided = decided_by({"": before})
    return decided.items() <= decided_by({"": after}).items()


def decided_by(texts: Mapping[str, str]) -> dict[str, str]:
    """Return which criterion `checks.NAME` (or `NAME`) decides in modules."""
    known: dict[str, str] = {}
    for stem, text in texts.items():
        if "check(" not in text and "Judge(" not in text:
            continue
        body = body_of(text)
        for unit in () if body is None else body.units:
            if unit.criterion is not None:
                known[f"{stem}.{unit.name}"] = unit.criterion
                known.setdefault(unit.name, unit.criterion)
    return known


def registered_twice(text: str, ids: Mapping[str, str]) -> set[str]:
    """Return the criteria that a table registers more than once, as far as is seen.

    What its list holds is looked at, also by the name of a row; where the list is put
    together in another way, every row of the module.
    """
    try:
        nodes = parse(with_lf(text.removeprefix("\ufeff"))).body
    except SyntaxError:
        return set()
    named = row_names(nodes, ids)
    found: list[str | None] = []
    for node in nodes:
        rows = _table(node)
        if rows is not None:
            for row in rows:
                if isinstance(row, ast.Name):
                    found.append(named.get(row.id))
                elif not is_skipped_row(row):
                    found.append(row_criterion(row, ids))
            break
    else:
        found = [
            row_criterion(row, ids)
            for node in nodes
            for row in calls_in(node)
            if not is_skipped_row(row)
        ]
    return {spec_id for spec_id, n in Counter(found).items() if n > 1 and spec_id}


def _table(node: ast.stmt) -> list[ast.expr] | None:
    """Return the elements of the list `CRITERIA`; None where this is no such list."""
    match node:
        case ast.Assign(targets=[ast.Name(id="CRITERIA")], value=ast.List(elts=rows)):
            pass
        case ast.AnnAssign(target=ast.Name(id="CRITERIA"), value=ast.List(elts=rows)):
            pass
        case _:
            return None
    return None if any(isinstance(row, ast.Starred) for row in rows) else rows


def calls_in(node: ast.stmt) -> list[ast.Call]:
    """Return the calls in a statement that may be rows."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def bound_names(text: str) -> set[str]:
    """Return the names that a module binds, also under a condition or in a `try`."""
    try:
        statements = parse(with_lf(text.removeprefix("\ufeff"))).body
    except SyntaxError:
        return set()
    return {
        name
        for node in statements
        for name in ([node.name] if isinstance(node, ast.ClassDef) else stored(node))
    }


def body_of(text: str) -> Body | None:
    """Return the units of a module, or None where it is no Python."""
    try:
        return split_module(with_lf(text.removeprefix("\ufeff")))
    except SyntaxError:
        return None


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each thing that a module of the package uses."""
    modules = set[str]()
    attributes: set[tuple[str, str]] = set()
    for node in walk(tree):
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name):
                attributes.add((node.value.id, node.attr))
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            for alias in node.names:
                if node.module is None:
                    modules.add(alias.asname or alias.name)
                elif alias.name != "*":
                    yield node.module, alias.name
    for name, attribute in attributes:
        if name in modules:
            yield name, attribute
