"""Three-way merge of Python, unit by unit.

Scope: a module's statements, a class's members, and of a function its decorators,
signature, docstring and body apart. One side changed: it is taken. Both changed: the
parts merge each for itself, a body line by line. What still clashes keeps the user's
unit and is reported. The user's order wins; a new unit goes after its neighbour.

Accepted trade-offs: source is cut at whole lines, so statements that share a line are
one unit; Python that does not parse falls back to a line merge of the whole file.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .imports import merge_import, needed_names
from .lines import merge_text, split_lines
from .result import Conflict, MergeResult
from .units import Body, Unit, comments, first_line, same_code, split_body, split_module

Key = tuple[str, str, int]


def merge_python(
    base: str, yours: str, new: str, *, renames: Mapping[str, str] | None = None
) -> MergeResult:
    """Merge three versions of a Python file.

    `renames` maps a unit's name in `base` to its name in `new`, so that the user's
    body moves along. Line endings and a byte order mark are yours. Raises SyntaxError
    where `yours` does not parse: such a file is the user's to mend first.
    """
    if yours == base:
        return MergeResult(text=new)
    if new == base or yours == new:
        return MergeResult(text=yours)
    mark = "\ufeff" if yours.startswith("\ufeff") else ""
    ending = "\r\n" if _is_crlf(yours) else "\n"
    texts = [_plain(text, ending) for text in (base, yours, new)]
    merge = _Merge(dict(renames or {}))
    try:
        bodies = [split_module(text) for text in texts]
    except ValueError as error:
        raise SyntaxError(str(error)) from error
    text = merge.bodies(*bodies, inside="")
    text = _with_needed_imports(text, texts, bodies)
    if not _is_sound(text, bodies):
        return merge_text(base, yours, new)
    return MergeResult(
        text=mark + (text.replace("\n", ending) if ending != "\n" else text),
        conflicts=tuple(merge.conflicts),
        retired=tuple(merge.retired),
        deleted=tuple(merge.deleted),
    )


def next_base(base: str, new: str, conflicts: Sequence[Conflict]) -> str:
    """Return the base of the next merge: `new`, but as in `base` where it clashed.

    So a conflict comes again until it is resolved, and nothing else does. Where the
    clash was not one of units, the whole base stays as it was.
    """
    if not conflicts:
        return new
    names = {conflict.unit.partition(".")[0] for conflict in conflicts}
    try:
        old = {unit.name: unit for unit in split_module(base).units}
        body = split_module(new)
    except (SyntaxError, ValueError):
        return base
    if not names <= {unit.name for unit in body.units} | set(old):
        return base
    pieces = []
    for unit in body.units:
        if unit.name not in names:
            pieces.append(unit.source)
        elif unit.name in old:
            pieces.append(old[unit.name].source)
    return "".join(_closed(pieces, body.tail)) + body.tail


class _Merge:
    """One merge: it collects what is to be said while bodies merge."""

    def __init__(self, renames: dict[str, str]) -> None:
        self.renames = renames
        self.conflicts: list[Conflict] = []
        self.retired: list[str] = []
        self.deleted: list[str] = []

    def bodies(self, base: Body, yours: Body, new: Body, *, inside: str) -> str:
        """Return the merged source of three bodies; `inside` is the class's name."""
        old = {self._key(unit, inside): unit for unit in base.units}
        mine = {self._key(unit, inside): unit for unit in yours.units}
        fresh = {unit.key: unit for unit in new.units}
        merged: dict[Key, str] = {}
        for key, unit in mine.items():
            source = self._unit(old.get(key), unit, fresh.get(key), inside)
            if source is not None:
                merged[key] = source
        order = list(merged)
        previous: Key | None = None
        for key, unit in fresh.items():
            if key not in mine and key in old:
                if unit.kind in ("function", "class", "assignment"):
                    self.deleted.append(inside + unit.name)
            elif key not in mine:
                place = order.index(previous) + 1 if previous in merged else 0
                order.insert(place, key)
                merged[key] = unit.source
            if key in merged:
                previous = key
        pieces = [merged[key] for key in order]
        tail = self._tail(base.tail, yours.tail, new.tail)
        return "".join(_closed(pieces, tail)) + tail

    def _key(self, unit: Unit, inside: str) -> Key:
        """The unit's key, a renamed unit's under its new name."""
        kind, name, number = unit.key
        return (kind, name if inside else self.renames.get(name, name), number)

    def _unit(
        self, old: Unit | None, mine: Unit, fresh: Unit | None, inside: str
    ) -> str | None:
        """Return the merged source of one unit that the user has; None removes it."""
        if old is None:
            if fresh is not None and not _same(mine, fresh):
                self._conflict(inside + mine.name, None, mine, fresh)
            return mine.source
        if fresh is None:
            if _same(mine, old):
                return None
            if mine.kind in ("function", "class", "assignment"):
                self.retired.append(inside + mine.name)
            return mine.source
        if fresh.source == old.source:
            return mine.source
        if mine.source == old.source or mine.source == fresh.source:
            return fresh.source
        lead = self._lead(old.lead, mine.lead, fresh.lead)
        if same_code(fresh.node, old.node) and fresh.text == old.text:
            return lead + mine.text
        if _same_text(mine, old) or _same_text(mine, fresh):
            return lead + fresh.text
        text = self._changed(old, mine, fresh, inside)
        if text is None:
            self._conflict(inside + mine.name, old, mine, fresh)
            return mine.source
        return lead + text

    def _changed(self, old: Unit, mine: Unit, fresh: Unit, inside: str) -> str | None:
        """Return the merged text of a unit that both sides changed, or None."""
        kinds = {old.kind, mine.kind, fresh.kind}
        if kinds == {"import"}:
            return merge_import(old, mine, fresh)
        if kinds == {"function"}:
            return _merge_function(old, mine, fresh)
        if kinds == {"class"}:
            return self._class(old, mine, fresh, inside)
        merged = merge_text(old.text, mine.text, fresh.text)
        if merged.conflicts or not _parses(merged.text):
            return None
        return merged.text

    def _class(self, old: Unit, mine: Unit, fresh: Unit, inside: str) -> str | None:
        parts = [_class_parts(unit) for unit in (old, mine, fresh)]
        if any(part is None for part in parts):
            return None
        heads = [part[0] for part in parts if part is not None]
        bodies = [part[1] for part in parts if part is not None]
        head = merge_text(*heads)
        if head.conflicts:
            return None
        before = len(self.conflicts), len(self.retired), len(self.deleted)
        text = head.text + self.bodies(*bodies, inside=f"{inside}{mine.name}.")
        if _parses(text):
            return text
        del self.conflicts[before[0] :]
        del self.retired[before[1] :]
        del self.deleted[before[2] :]
        return None

    def _lead(self, old: str, mine: str, fresh: str) -> str:
        """Merge what stands above a unit; the user's comments always stay."""
        if mine == old:
            return fresh
        if fresh == old or mine == fresh:
            return mine
        merged = merge_text(old, mine, fresh)
        return mine if merged.conflicts else merged.text

    def _tail(self, old: str, mine: str, fresh: str) -> str:
        return self._lead(old, mine, fresh)

    def _conflict(self, name: str, old: Unit | None, mine: Unit, fresh: Unit) -> None:
        self.conflicts.append(
            Conflict(
                unit=name,
                base="" if old is None else old.source,
                yours=mine.source,
                new=fresh.source,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    """The four parts of a function's text; each is whole lines."""

    decorators: str
    signature: str
    docstring: str
    body: str


def _function_parts(unit: Unit) -> _Function | None:
    """Cut a function at whole lines; None where parts share a line."""
    node = unit.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    lines = split_lines(unit.text)
    offset = first_line(node)
    starts_at = node.lineno - offset
    first = node.body[0]
    body_at = first_line(first) - offset
    signature_ends = max([node.lineno, *_end_lines(node.args)])
    if node.returns is not None:
        signature_ends = max(signature_ends, node.returns.end_lineno or 0)
    if first.lineno <= signature_ends:
        return None
    # Comments between the signature and the first statement belong to the body.
    while body_at > starts_at + 1 and not lines[body_at - 1].rstrip().endswith(":"):
        body_at -= 1
    docstring_ends = body_at
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        docstring_ends = (first.end_lineno or first.lineno) - offset + 1
    if any(s.lineno - offset < docstring_ends for s in node.body[1:]):
        return None
    return _Function(
        decorators="".join(lines[:starts_at]),
        signature="".join(lines[starts_at:body_at]),
        docstring="".join(lines[body_at:docstring_ends]),
        body="".join(lines[docstring_ends:]),
    )


def _end_lines(arguments: ast.arguments) -> list[int]:
    return [
        part.end_lineno or 0
        for part in ast.walk(arguments)
        if isinstance(part, (ast.expr, ast.arg))
    ]


def _merge_function(old: Unit, mine: Unit, fresh: Unit) -> str | None:
    """Merge the parts of a function each for itself; None where one clashes."""
    cut = [_function_parts(unit) for unit in (old, mine, fresh)]
    if cut[0] is None or cut[1] is None or cut[2] is None:
        return None
    b, y, n = cut[0], cut[1], cut[2]
    parts = []
    for before, yours, new in (
        (b.decorators, y.decorators, n.decorators),
        (b.signature, y.signature, n.signature),
        (b.docstring, y.docstring, n.docstring),
        (b.body, y.body, n.body),
    ):
        merged = merge_text(before, yours, new)
        if merged.conflicts:
            return None
        parts.append(merged.text)
    text = "".join(parts)
    return text if _parses(text) else None


def _class_parts(unit: Unit) -> tuple[str, Body] | None:
    node = unit.node
    assert isinstance(node, ast.ClassDef)
    lines = split_lines(unit.text)
    offset = first_line(node)
    body_at = first_line(node.body[0]) - offset
    while body_at > 0 and not lines[body_at - 1].rstrip().endswith(":"):
        body_at -= 1
    if body_at <= node.lineno - offset:
        return None
    shifted = [ast.increment_lineno(_copy(s), 1 - offset) for s in node.body]
    return "".join(lines[:body_at]), split_body(shifted, lines, body_at, len(lines))


def _copy(node: ast.stmt) -> ast.stmt:
    import copy

    return copy.deepcopy(node)


def _same(one: Unit, other: Unit) -> bool:
    """Whether two units differ in their format at most; comments count."""
    return _same_text(one, other) and comments(one.lead) == comments(other.lead)


def _same_text(one: Unit, other: Unit) -> bool:
    if one.text == other.text:
        return True
    if not same_code(one.node, other.node) or one.kind != other.kind:
        return False
    return comments(one.text) == comments(other.text)


def _parses(text: str) -> bool:
    import textwrap

    try:
        ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return False
    return True


def _closed(pieces: Sequence[str], tail: str) -> list[str]:
    """Give each piece but the last its line ending (a file may end without one)."""
    closed = list(pieces)
    for place, piece in enumerate(closed):
        is_last = place == len(closed) - 1 and not tail
        if piece and not piece.endswith(("\n", "\r")) and not is_last:
            closed[place] = piece + "\n"
    return closed


def _with_needed_imports(
    text: str, texts: Sequence[str], bodies: Sequence[Body]
) -> str:
    """Add the imports that the merged code uses and that either side had."""
    missing = needed_names(text)
    if not missing:
        return text
    available: dict[str, str] = {}
    for body in (bodies[1], bodies[2]):
        for unit in body.units:
            if isinstance(unit.node, (ast.Import, ast.ImportFrom)):
                for alias in unit.node.names:
                    name = (alias.asname or alias.name).partition(".")[0]
                    available[name] = _import_line(unit.node, alias)
    lines = [available[name] for name in sorted(missing) if name in available]
    if not lines:
        return text
    units = split_module(text).units
    place = 0
    for index, unit in enumerate(units):
        if unit.kind == "import" or (index == 0 and unit.kind == "docstring"):
            place = index + 1
    before = "".join(unit.source for unit in units[:place])
    return before + "".join(lines) + text[len(before) :]


def _import_line(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    single = (
        ast.Import(names=[alias])
        if isinstance(node, ast.Import)
        else ast.ImportFrom(module=node.module, names=[alias], level=node.level)
    )
    return ast.unparse(single) + "\n"


def _is_sound(text: str, bodies: Sequence[Body]) -> bool:
    """Whether the merged text parses and defines nothing twice that no side does."""
    try:
        units = split_module(text).units
    except (SyntaxError, ValueError):
        return False
    known = {unit.key for body in bodies[1:] for unit in body.units}
    return all(
        unit.number == 0 or unit.key in known
        for unit in units
        if unit.kind in ("function", "class", "assignment")
    )


def _is_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _plain(text: str, ending: str) -> str:
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n") if ending == "\r\n" else text
