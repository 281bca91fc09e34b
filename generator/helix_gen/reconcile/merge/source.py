"""Expressions where they stand in a text, and what the names in it stand for."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .split import split_lines

_BRACKETED: Final = (ast.List, ast.Set, ast.Dict, ast.Call, ast.Tuple)

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


def opening(value: Value) -> Place:
    """Return where to look for a value's opening bracket."""
    if isinstance(value.node, ast.Call):
        return value.source.end(value.node.func)
    return value.source.start(value.node)
