"""A list, a call or a mapping taken apart: each element with its key and its place.

Elements are known by what they are: a keyword by its name, a criterion by its id, a
text by itself. Tuples and unpackings are one value.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .source import Place, References, Source, Value, opening
from .units import first_text

CRITERION: Final = "criterion"
SKIPPED: Final = "skipped"

ElementKey = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One element: its key, its first and last node, and the value that may nest.

    `text` is its source, brackets around it included, from `start` to `end`.
    """

    key: ElementKey
    first: ast.AST
    last: ast.AST
    value: ast.expr
    start: Place
    end: Place
    text: str
    decides: str = ""

    @property
    def is_row_name(self) -> bool:
        """Whether its owner gave the row of a criterion a name, which stands here."""
        return self.key[0] == CRITERION and isinstance(self.value, ast.Name)

    @property
    def dump(self) -> str:
        """The program that it is, however it is formatted.

        A reference to what decides a criterion is that criterion, whatever its owner
        calls the function.
        """
        if self.decides:
            return self.decides
        if self.first is self.last:
            return ast.dump(self.first)
        return ast.dump(self.first) + ast.dump(self.last)


def elements_of(value: Value) -> dict[ElementKey, Element] | None:
    """Return the elements of a value, None where it is not taken apart."""
    parts = _parts(value.node)
    if parts is None:
        return None
    spans = _spans(value, [(first, last) for _, first, last, _ in parts])
    if spans is None:
        return None
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for (given, first, last, node), (start, end) in zip(parts, spans, strict=True):
        kind, name = given or _element_name(node, value.source)
        key = (kind, name, seen[kind, name])
        seen[kind, name] += 1
        found[key] = Element(
            key=key,
            first=first,
            last=last,
            value=node,
            start=start,
            end=end,
            text=value.source.between(start, end),
            decides=_decides(key, node, value.source.names.references),
        )
    return found


def _decides(key: ElementKey, node: ast.expr, references: References) -> str:
    """Return the criterion that `check=` or `judge=` refers to; empty for others."""
    if key[:2] not in (("keyword", "check"), ("keyword", "judge")):
        return ""
    if not references or not isinstance(node, (ast.Name, ast.Attribute)):
        return ""
    spec_id = references.get(ast.unparse(node))
    return "" if spec_id is None else f"{key[1]} of {spec_id}"


_Part = tuple[tuple[str, str] | None, ast.AST, ast.AST, ast.expr]


def _parts(node: ast.expr) -> list[_Part] | None:
    """Return (key where it is known, first node, last node, value) of each element."""
    parts: list[_Part] = []
    if isinstance(node, (ast.List, ast.Set)):
        for item in node.elts:
            if isinstance(item, ast.Starred):
                return None
            parts.append((None, item, item, item))
    elif isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                return None
            parts.append((("key", ast.unparse(key)), key, item, item))
    elif isinstance(node, ast.Call):
        for number, item in enumerate(node.args):
            if isinstance(item, ast.Starred):
                return None
            parts.append((("argument", str(number)), item, item, item))
        for keyword in node.keywords:
            if keyword.arg is None:
                return None
            parts.append((("keyword", keyword.arg), keyword, keyword, keyword.value))
    else:
        return None
    return parts


def _element_name(node: ast.expr, source: Source) -> tuple[str, str]:
    """Return what an element of a list is known by."""
    if isinstance(node, ast.Name) and node.id in source.names.rows:
        return CRITERION, source.names.rows[node.id]
    if isinstance(node, ast.Call):
        criterion = row_criterion(node, source.names.references)
        if criterion is not None:
            return CRITERION, criterion
        text = first_text(node)
        if text is not None:
            return ast.unparse(node.func), text
    if isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            match key, item:
                case ast.Constant(value="id" | "name" | "to"), ast.Constant(value=said):
                    return "mapping", str(said)
    return "value", ast.unparse(node)


def row_criterion(node: ast.expr, references: References) -> str | None:
    """Return the criterion that `Criterion(...)` registers, None where it is unknown."""
    match node:
        case ast.Call(func=ast.Name(id="Criterion") | ast.Attribute(attr="Criterion")):
            pass
        case _:
            return None
    for keyword in node.keywords:
        if keyword.arg not in ("check", "judge"):
            continue
        match keyword.value:
            case ast.Call() as call:
                found = first_text(call)
            case other:
                found = references.get(ast.unparse(other))
        if found is not None:
            return found
    return None


def row_names(statements: Sequence[ast.stmt], references: References) -> dict[str, str]:
    """Return the names that a module gives to rows, with the criterion of each."""
    found: dict[str, str] = {}
    for node in statements:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as row):
                criterion = row_criterion(row, references)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as row):
                criterion = row_criterion(row, references)
            case _:
                continue
        if criterion is not None:
            found[name] = criterion
    return found


def is_skipped_row(node: ast.expr) -> bool:
    """Whether `Criterion(...)` stands for what is not there: `check=skipped(...)`."""
    return isinstance(node, ast.Call) and any(
        isinstance(k.value, ast.Call)
        and isinstance(k.value.func, ast.Name)
        and k.value.func.id == SKIPPED
        for k in node.keywords
    )


def _spans(
    value: Value, nodes: Sequence[tuple[ast.AST, ast.AST]]
) -> list[tuple[Place, Place]] | None:
    """Return where each element starts and ends, the brackets around it included.

    Between two elements stand commas, brackets, white space and comments alone. None
    where that is not so.
    """
    source = value.source
    line, column = value.end
    spans: list[tuple[Place, Place]] = []
    before = opening(value)
    for index, (first, last) in enumerate(nodes):
        node = source.start(first)
        gap = source.between(before, node)
        marks = _marks(gap, "([{" if index == 0 else ",)(")
        if index == 0:
            if not marks or gap[: marks[0]].strip():
                return None
            at = marks[0]
        else:
            commas = [mark for mark in marks if gap[mark] == ","]
            if len(commas) != 1:
                return None
            at = commas[0]
            closing = [m for m in marks if m < at and gap[m] == ")"]
            if closing:
                spans[-1] = (spans[-1][0], _moved(before, gap[: closing[-1] + 1]))
        brackets = [mark for mark in marks if mark > at]
        start = _moved(before, gap[: brackets[0]]) if brackets else node
        before = source.end(last)
        spans.append((start, before))
    if spans:
        gap = source.between(before, (line, column - 1))
        closing = [m for m in _marks(gap, ",)") if gap[m] == ")"]
        if closing:
            spans[-1] = (spans[-1][0], _moved(before, gap[: closing[-1] + 1]))
    return spans


def _marks(gap: str, marks: str) -> list[int]:
    """Return where marks stand outside of comments."""
    found = []
    in_comment = False
    for at, character in enumerate(gap):
        if in_comment:
            in_comment = character != "\n"
        elif character == "#":
            in_comment = True
        elif character in marks:
            found.append(at)
    return found


def _moved(start: Place, text: str) -> Place:
    """Return where a text ends that begins at a place."""
    lines = text.count("\n")
    if not lines:
        return start[0], start[1] + len(text)
    return start[0] + lines, len(text) - text.rindex("\n") - 1
