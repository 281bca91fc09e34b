"""A value put together from its elements: by their lines, or anew."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .elements import Element, ElementKey
from .source import Value, opening

WIDTH: Final = 88


def written(value: Value, texts: Sequence[str]) -> str:
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
class Rows:
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


def rows_in(value: Value, elements: Sequence[Element]) -> Rows | None:
    """Return a value's rows, None where elements share lines."""
    if not elements:
        return None
    source = value.source
    at = opening(value)[0]
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
    return Rows(head=head, rows=rows, tail=tail)
