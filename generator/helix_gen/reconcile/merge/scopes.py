"""Which names of a module's code mean the module's own, by the scopes of Python.

Source: https://docs.python.org/3/reference/executionmodel.html#naming-and-binding
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .split import split_lines

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Place:
    """A word in a text that means a module's name: line (from 1), byte in it, word."""

    line: int
    offset: int
    name: str


@dataclass(slots=True)
class _Scope:
    """A function or a class: what it binds, and what is visible from around it."""

    bound: set[str]
    around: frozenset[str]
    is_class: bool = False
    shared: set[str] = field(default_factory=set)

    def hides(self, name: str) -> bool:
        return name not in self.shared and (name in self.bound or name in self.around)

    def inner(self) -> frozenset[str]:
        """Return what a function inside sees bound around it; a class shows nothing."""
        own = frozenset() if self.is_class else frozenset(self.bound)
        return (self.around | own) - self.shared


class _Walk:
    """One pass over a module: where its names stand, and where they would be hidden."""

    def __init__(self, text: str, moved: Mapping[str, str]) -> None:
        self.lines = split_lines(text)
        self.moved = moved
        self.places: list[Place] = []
        self.is_possible = True

    def name(self, node: ast.Name, scope: _Scope | None) -> None:
        if scope is not None and scope.is_class and not isinstance(node.ctx, ast.Load):
            scope.bound.add(node.id)
        if node.id in self.moved and not (scope and scope.hides(node.id)):
            self.found(node.lineno, node.col_offset, node.id, scope)

    def found(self, line: int, offset: int, name: str, scope: _Scope | None) -> None:
        """Note a place of a name, where the text has it as the tree says."""
        self.places.append(Place(line, offset, name))
        # (Before Python 3.12 what stands in an f-string is placed elsewhere, and a
        # name may be written in letters that Python reads as others.)
        is_there = self.lines[line - 1].encode()[offset:].startswith(name.encode())
        if not is_there or scope is not None and scope.hides(self.moved[name]):
            self.is_possible = False

    def visit(self, node: ast.AST, scope: _Scope | None) -> None:
        # Parameters of types (Python 3.12) have a scope of their own.
        if not self.moved.keys().isdisjoint(_names_of_types(node)):
            self.is_possible = False
        if isinstance(node, ast.Name):
            self.name(node, scope)
        elif isinstance(node, _FUNCTIONS):
            self.function(node, scope)
        elif isinstance(node, ast.ClassDef):
            self.class_(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self.comprehension(node, scope)
        elif isinstance(node, ast.Global):
            self.global_(node, scope)
        elif scope is None and _is_all(node):
            self.all_(node)
        else:
            for child in _in_order(node):
                self.visit(child, scope)
            self.binds(_bound_by(node), scope)

    def binds(self, names: set[str], scope: _Scope | None) -> None:
        """Note names that are bound by a word that is no `Name`, as by `def`."""
        if scope is not None and scope.is_class:
            scope.bound.update(names)
        if any(n in self.moved and not (scope and scope.hides(n)) for n in names):
            self.is_possible = False

    def function(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        scope: _Scope | None,
    ) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        outside: list[ast.AST] = [*arguments.defaults]
        outside += [d for d in arguments.kw_defaults if d is not None]
        outside += [a.annotation for a in every if a.annotation is not None]
        body: list[ast.stmt] | list[ast.expr]
        if isinstance(node, ast.Lambda):
            body = [node.body]
        else:
            outside += [*node.decorator_list, *([node.returns] if node.returns else [])]
            body = node.body
        for part in outside:
            self.visit(part, scope)
        if not isinstance(node, ast.Lambda):
            self.binds({node.name}, scope)
        bound, shared, outer = _own_names(body)
        around = scope.inner() if scope is not None else frozenset()
        bound = (bound | {a.arg for a in every}) - outer
        inner = _Scope(bound - shared, around, shared=shared)
        for statement in body:
            self.visit(statement, inner)

    def class_(self, node: ast.ClassDef, scope: _Scope | None) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part, scope)
        self.binds({node.name}, scope)
        around = scope.inner() if scope is not None else frozenset()
        _, shared, _ = _own_names(node.body)
        # A class reads the module's name until it has bound one of its own.
        inner = _Scope(set(), around, is_class=True, shared=shared)
        for statement in node.body:
            self.visit(statement, inner)

    def comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        scope: _Scope | None,
    ) -> None:
        first, *others = node.generators
        self.visit(first.iter, scope)
        bound: set[str] = set()
        for each in node.generators:
            bound |= _own_names([each.target])[0]
        around = scope.inner() if scope is not None else frozenset()
        inner = _Scope(bound, around)
        for part in (first.target, *first.ifs, *others):
            self.visit(part, inner)
        if isinstance(node, ast.DictComp):
            self.visit(node.key, inner)
            self.visit(node.value, inner)
        else:
            self.visit(node.elt, inner)

    def global_(self, node: ast.Global, scope: _Scope | None) -> None:
        line = self.lines[node.lineno - 1].encode()
        for name in node.names:
            if name in self.moved:
                word = re.compile(rb"(?<!\w)%b(?!\w)" % re.escape(name.encode()))
                there = word.search(line, node.col_offset)
                self.found(node.lineno, there.start() if there else 0, name, scope)

    def all_(self, node: ast.AST) -> None:
        for each in ast.walk(node):
            match each:
                case ast.Constant(value=str(name)) if name in self.moved:
                    self.found(each.lineno, each.col_offset + 1, name, None)


def _is_all(node: ast.AST) -> bool:
    match node:
        case (
            ast.Assign(targets=[ast.Name(id="__all__")])
            | ast.AnnAssign(target=ast.Name(id="__all__"))
            | ast.AugAssign(target=ast.Name(id="__all__"))
        ):
            return True
    return False


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node in the order in which they are read and bound."""
    later: list[ast.AST] = []
    match node:
        case ast.Assign(targets=targets):
            later = [*targets]
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            later = [target]
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield node.iter
            yield target
            yield from (*node.body, *node.orelse)
            return
    for child in ast.iter_child_nodes(node):
        if child not in later:
            yield child
    yield from later


def _names_of_types(node: ast.AST) -> Iterator[str]:
    """Yield the names that stand in a node's parameters of types."""
    for parameter in getattr(node, "type_params", ()):
        yield parameter.name
        for each in ast.walk(parameter):
            if isinstance(each, ast.Name):
                yield each.id


def _bound_by(node: ast.AST) -> set[str]:
    """Return the names that a node binds beside those that stand in it as `Name`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return {(a.asname or a.name).partition(".")[0] for a in node.names}
        case ast.ExceptHandler(name=str(name)):
            return {name}
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.MatchMapping(rest=str(name)):
            return {name}
    return set()


def _own_names(
    body: list[ast.stmt] | list[ast.expr],
) -> tuple[set[str], set[str], set[str]]:
    """Return what a scope binds, what it says is global, and what nonlocal."""
    bound: set[str] = set()
    shared: set[str] = set()
    outer: set[str] = set()
    todo: list[tuple[ast.AST, bool]] = [(each, False) for each in body]
    while todo:
        node, is_inside = todo.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
                continue
            case ast.ClassDef(name=name):
                bound.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Global(names=names):
                shared.update(names)
            case ast.Nonlocal(names=names):
                outer.update(names)
            case ast.NamedExpr(target=ast.Name(id=name)):
                bound.add(name)  # also out of a comprehension
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not is_inside:
                bound.add(name)
        bound |= _bound_by(node)
        is_inside = is_inside or isinstance(node, _COMPREHENSIONS)
        todo += [(child, is_inside) for child in ast.iter_child_nodes(node)]
    return bound, shared, outer


def with_new_names(text: str, tree: ast.Module, moved: Mapping[str, str]) -> str | None:
    """Return a module in which the module's names that moved have their new ones.

    What a function or a class binds for itself under such a name is its own and stays.
    `moved` maps old names to new ones. None where it can't be done: a new name means
    something else at a place that has to use it, or a name can't be found in the text.
    """
    walk = _Walk(text, moved)
    walk.visit(tree, None)
    if not walk.is_possible:
        return None
    lines = split_lines(text)
    for place in sorted(walk.places, key=lambda p: (p.line, p.offset), reverse=True):
        line = lines[place.line - 1].encode()
        end = place.offset + len(place.name.encode())
        name = moved[place.name].encode()
        lines[place.line - 1] = (line[: place.offset] + name + line[end:]).decode()
    return "".join(lines)
