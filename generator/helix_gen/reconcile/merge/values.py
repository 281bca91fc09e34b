"""Three-way merge of values: lists, calls and mappings, element by element.

A table of criteria is one long list: a severity that its owner set and a criterion
that the spec added must not clash because they stand on neighbouring lines. Elements
are known by what they are: a keyword by its name, a criterion by its id, a text by
itself. Where each element has lines of its own, whole lines are spliced; else the
value is put together anew from the elements' own source.

Accepted trade-offs: tuples and unpackings are one value; where a comment stands in a
value whose elements share lines, the value is not taken apart.
"""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .order import is_reordered, weave
from .result import Conflict
from .split import split_lines
from .units import comments, first_text

WIDTH: Final = 88
_CRITERION: Final = "criterion"
SKIPPED: Final = "skipped"

_BRACKETED: Final = (ast.List, ast.Set, ast.Dict, ast.Call, ast.Tuple)

ElementKey = tuple[str, str, int]
Place = tuple[int, int]
"""A line and a character in it, both from 0."""

References = Mapping[str, str]
"""What names like `checks.is_brief` stand for: the id of a criterion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What names of a module stand for.

    `references` are those of what decides a criterion, `rows` those that its owner
    gave to rows of criteria, each with the criterion's id; `aliases` are other names
    of what is called, with the name that is generated.
    """

    references: References = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def called(self, node: ast.expr) -> str:
        """Return what a call calls, by the name that is generated."""
        name = ast.unparse(node)
        return self.aliases.get(name, name)


NO_NAMES: Final = Names()


class Source:
    """The lines that nodes stand in; `first` is the number of the first (from 1)."""

    def __init__(self, text: str, first: int, names: Names = NO_NAMES) -> None:
        self.lines = split_lines(text)
        self.first = first
        self.names = names

    def column(self, line: int, offset: int) -> int:
        """Return the character that a byte offset of a line is."""
        text = self.lines[line]
        return offset if text.isascii() else len(text.encode()[:offset].decode())

    def start(self, node: ast.AST) -> Place:
        """Return the line (from 0) and the character where a node starts."""
        line = node.lineno - self.first  # type: ignore[attr-defined]
        return line, self.column(line, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> Place:
        """Return the line (from 0) and the character where a node ends."""
        line = node.end_lineno - self.first  # type: ignore[attr-defined]
        return line, self.column(line, node.end_col_offset)  # type: ignore[attr-defined]

    def between(self, start: Place, end: Place) -> str:
        """Return the text from one place to another."""
        (line, column), (last, stop) = start, end
        if line == last:
            return self.lines[line][column:stop]
        middle = self.lines[line + 1 : last]
        return "".join([self.lines[line][column:], *middle, self.lines[last][:stop]])


@dataclass(frozen=True, slots=True)
class Value:
    """An expression where it stands."""

    node: ast.expr
    source: Source

    @property
    def text(self) -> str:
        """Its own source."""
        return self.source.between(self.source.start(self.node), self.end)

    @property
    def standing(self) -> str:
        """Its own source, in brackets where it needs them to span lines."""
        text = self.text
        if "\n" in text and not isinstance(self.node, _BRACKETED):
            return f"({text})"
        return text

    @property
    def end(self) -> Place:
        """Where it ends: line and character."""
        return self.source.end(self.node)


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
        return self.key[0] == _CRITERION and isinstance(self.value, ast.Name)

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


@dataclass(slots=True)
class Findings:
    """What a merge of values has to say."""

    conflicts: list[Conflict] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


class ValueMerge:
    """One merge of values. With `new_wins`, the new side stands where both changed."""

    def __init__(self, findings: Findings, *, new_wins: bool) -> None:
        self.findings = findings
        self.new_wins = new_wins

    def merge(self, old: Value | None, mine: Value, fresh: Value, name: str) -> str:
        """Return the text that takes the place of `mine`; `name` is for the user.

        `old` is None where both sides added it, or where it is lost.
        """
        if _same(mine, fresh) or old is not None and _same(old, fresh):
            return mine.text
        if old is not None and _same(mine, old):
            if comments(mine.text) == comments(old.text):
                return fresh.standing
        merged = self._elements(old, mine, fresh, name)
        if merged is not None:
            return merged
        was = "" if old is None else old.text
        return self._clash(name, was, mine.text, fresh.standing)

    def _clash(self, name: str, old: str, mine: str, fresh: str) -> str:
        self.findings.conflicts.append(
            Conflict(unit=name, base=old, yours=mine, new=fresh)
        )
        return fresh if self.new_wins else mine

    def _elements(
        self, old: Value | None, mine: Value, fresh: Value, name: str
    ) -> str | None:
        sides = [value for value in (old, mine, fresh) if value is not None]
        if len({_shape(value) for value in sides}) > 1:
            return None
        before = {} if old is None else _elements(old)
        yours, new = _elements(mine), _elements(fresh)
        if before is None or yours is None or new is None:
            return None
        rows = _rows(mine, list(yours.values()))
        if rows is None and comments(mine.text):
            return None
        texts: dict[ElementKey, str] = {}
        for key, element in yours.items():
            text = self._element(
                before.get(key), element, new.get(key), (old, mine, fresh), name
            )
            if text is not None:
                texts[key] = text
                continue
            stretch = element.text if rows is None else rows.stretch(key)
            was = before.get(key)
            if element.is_row_name and not comments(stretch):
                continue  # what it names stays where its owner wrote it
            if was is None or was.dump != element.dump or comments(stretch):
                # It decides nothing any more, and its owner wrote on it.
                self.findings.dropped.append(stretch)
        for key, element in new.items():
            if key in yours:
                continue
            if key not in before or _is_skipped(element):
                texts[key] = element.text
        order, other = list(yours), list(new)
        if is_reordered(list(before), other) and not is_reordered(list(before), order):
            order, other = other, order
        woven = weave(order, other, texts)
        if not woven:
            return None
        if rows is not None:
            return rows.text([(key, texts[key]) for key in woven])
        return _written(mine, [texts[key] for key in woven])

    def _element(
        self,
        old: Element | None,
        mine: Element,
        fresh: Element | None,
        sides: tuple[Value | None, Value, Value],
        name: str,
    ) -> str | None:
        """Return the merged text of an element that the user has; None removes it."""
        place = f"{name}{_label(mine)}"
        if fresh is None:
            if old is None:
                return mine.text
            if old.dump == mine.dump or mine.key[0] == _CRITERION:
                return None
            if mine.key[0] == "keyword":
                return self._clash(place, old.text, mine.text, "") or None
            self.findings.retired.append(place)
            return mine.text
        if mine.dump == fresh.dump:
            # What decides it may be called otherwise now.
            moved = old is not None and mine.decides and old.text != fresh.text
            return fresh.text if moved else mine.text
        if old is not None and old.dump == fresh.dump:
            return mine.text
        if old is not None and mine.dump == old.dump:
            if comments(mine.text) == comments(old.text):
                return fresh.text
        before, yours, new = sides
        if mine.is_row_name and old is not None and before is not None:
            if _same_row(
                Value(old.value, before.source), Value(fresh.value, new.source)
            ):
                return mine.text
        was = None
        if old is not None and before is not None:
            was = Value(old.value, before.source)
        now, then = Value(mine.value, yours.source), Value(fresh.value, new.source)
        if not mine.text.endswith(now.text):
            text = "" if old is None else old.text
            return self._clash(place, text, mine.text, fresh.text)
        head = mine.text[: len(mine.text) - len(now.text)]
        return head + self.merge(was, now, then, place)


def _same(one: Value, other: Value) -> bool:
    return one.text == other.text or ast.dump(one.node) == ast.dump(other.node)


def _same_row(one: Value, other: Value) -> bool:
    """Whether two rows say the same of a criterion, whatever decides it is called."""
    said = [_elements(value) for value in (one, other)]
    dumps = [{k: e.dump for k, e in part.items()} for part in said if part is not None]
    return len(dumps) == 2 and dumps[0] == dumps[1]


def _shape(value: Value) -> str:
    if isinstance(value.node, ast.Call):
        return f"call {value.source.names.called(value.node.func)}"
    return type(value.node).__name__


def _label(element: Element) -> str:
    kind, name, _ = element.key
    if kind == "keyword":
        return f".{name}"
    return f"[{name[:60]}]"


def _is_skipped(element: Element) -> bool:
    """Whether it is the row of a criterion that its owner skips: it must not vanish."""
    return element.key[0] == _CRITERION and is_skipped_row(element.value)


def is_skipped_row(node: ast.expr) -> bool:
    """Whether `Criterion(...)` stands for what is not there: `check=skipped(...)`."""
    return isinstance(node, ast.Call) and any(
        isinstance(k.value, ast.Call)
        and isinstance(k.value.func, ast.Name)
        and k.value.func.id == SKIPPED
        for k in node.keywords
    )


def _elements(value: Value) -> dict[ElementKey, Element] | None:
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
        return _CRITERION, source.names.rows[node.id]
    if isinstance(node, ast.Call):
        criterion = row_criterion(node, source.names.references)
        if criterion is not None:
            return _CRITERION, criterion
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


def _opening(value: Value) -> Place:
    """Return where to look for a value's opening bracket."""
    if isinstance(value.node, ast.Call):
        return value.source.end(value.node.func)
    return value.source.start(value.node)


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
    before = _opening(value)
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


def _written(value: Value, texts: Sequence[str]) -> str:
    """Put a value together from its elements' own source."""
    text = value.text
    if isinstance(value.node, ast.Call):
        start = value.source.start(value.node)
        head = value.source.between(start, value.source.end(value.node.func)) + "("
    else:
        head = text[0]
    line = f"{head}{', '.join(texts)}{text[-1]}"
    row, column = value.source.start(value.node)
    last, stop = value.end
    rest = len(value.source.lines[last].rstrip("\n")) - stop
    if "\n" not in line and column + len(line) + rest <= WIDTH:
        return line
    start_of_line = value.source.lines[row]
    indent = start_of_line[: len(start_of_line) - len(start_of_line.lstrip())]
    inner = "".join(f"{indent}    {text},\n" for text in texts)
    return f"{head}\n{inner}{indent}{text[-1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """A value whose elements have lines of their own, comments above them included."""

    head: str
    rows: Mapping[ElementKey, tuple[str, str, str, str]]
    """Of each element: what stands above it, its indentation, its text, the rest."""
    tail: str

    def stretch(self, key: ElementKey) -> str:
        """Return the whole lines of an element."""
        return "".join(self.rows[key])

    def text(self, elements: Sequence[tuple[ElementKey, str]]) -> str:
        """Return the value with these elements in this order."""
        indent = next(iter(self.rows.values()))[1]
        pieces = [self.head]
        for key, text in elements:
            lead, margin, _, rest = self.rows.get(key, ("", indent, "", ",\n"))
            if "," not in rest.partition("#")[0]:
                rest = "," + rest
            pieces.append(f"{lead}{margin}{text}{rest}")
        return "".join([*pieces, self.tail])


def _rows(value: Value, elements: Sequence[Element]) -> _Rows | None:
    """Return a value's rows, None where elements share lines."""
    if not elements:
        return None
    source = value.source
    at = _opening(value)[0]
    head = source.between(source.start(value.node), (at, len(source.lines[at])))
    rows: dict[ElementKey, tuple[str, str, str, str]] = {}
    for element in elements:
        (first, column), (last, stop) = element.start, element.end
        margin = source.lines[first][:column]
        rest = source.lines[last][stop:]
        if first <= at or margin.strip():
            return None
        if rest.partition("#")[0].strip() not in ("", ","):
            return None
        lead = "".join(source.lines[at + 1 : first])
        rows[element.key] = (lead, margin, element.text, rest)
        at = last
    last, stop = value.end
    closing = source.lines[last][:stop]
    if last <= at or len(closing.strip()) != 1:
        return None
    tail = "".join(source.lines[at + 1 : last]) + closing
    return _Rows(head=head, rows=rows, tail=tail)
