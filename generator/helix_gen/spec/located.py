"""Plain data that knows where each of its parts stands in the file it came from."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from ..problems import Level, Position, Problem

Path: TypeAlias = tuple[str | int, ...]
Part: TypeAlias = Literal["key", "value"]

_LINE_END: Final = re.compile("\r\n?|\n")
"""What ends a line in YAML, and in editors."""


@dataclass(frozen=True)
class Located:
    """Plain data, and the place of each of its parts.

    `places` maps the `id` of each mapping and list of `data` to character indexes:
    its own start, then, in order, each key and value (a mapping) or each item (a
    list).
    """

    file: str
    text: str
    data: Any
    places: dict[int, list[int]] = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _lines(self) -> dict[int, str]:
        return {}

    @cached_property
    def _ordinals(self) -> dict[int, dict[str | int, int]]:
        return {}

    def position(self, path: Path, part: Part = "value") -> Position:
        """Return where the value at `path` stands, or its key.

        A path that leads out of the data gives the place of the last part that is
        there, so that what is missing is reported at what lacks it.
        """
        return self.position_of(self._index(path, part))

    def position_of(self, index: int) -> Position:
        """Return line and column of a character index."""
        line = bisect_right(self._line_starts, index)
        return Position(line, index - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return the text of a line, from 1, without its end."""
        if number not in self._lines:
            start = self._line_starts[number - 1]
            end = _LINE_END.search(self.text, start)
            self._lines[number] = self.text[start : end.start() if end else None]
        return self._lines[number]

    def problem(
        self,
        code: str,
        path: Path,
        message: str,
        *,
        hint: str = "",
        level: Level = "error",
        part: Part = "value",
    ) -> Problem:
        """Return a problem at the value at `path`, or at its key."""
        return self.problem_at(
            self._index(path, part), code, message, hint=hint, level=level
        )

    def problem_at(
        self,
        index: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        level: Level = "error",
    ) -> Problem:
        """Return a problem at a character index."""
        position = self.position_of(index)
        return Problem(
            code=code,
            level=level,
            message=message,
            file=self.file,
            position=position,
            excerpt=self.line(position.line),
            hint=hint,
        )

    def get(self, path: Path) -> Any:
        """Return the value at `path`, or None where the path leads out of the data."""
        value = self.data
        for step in path:
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and isinstance(step, int):
                if not 0 <= step < len(value):
                    return None
                value = value[step]
            else:
                return None
        return value

    def _index(self, path: Path, part: Part) -> int:
        value = self.data
        own = self.places.get(id(value))
        index = own[0] if own else 0
        for number, step in enumerate(path, 1):
            marks = self.places.get(id(value))
            if marks is None:
                break
            if isinstance(value, dict):
                at = self._ordinal(value, step)
                if at is None:
                    break
                wants_key = part == "key" and number == len(path)
                index = marks[1 + 2 * at + (0 if wants_key else 1)]
                value = value[step]
            elif isinstance(step, int) and 0 <= step < len(value):
                index = marks[1 + step]
                value = value[step]
            else:
                break
        return index

    def _ordinal(self, mapping: dict[str | int, Any], key: str | int) -> int | None:
        # One map per mapping that is asked for: a search for each of many problems in
        # one large mapping would grow with the square.
        known = self._ordinals.get(id(mapping))
        if known is None:
            known = {k: number for number, k in enumerate(mapping)}
            self._ordinals[id(mapping)] = known
        return known.get(key)
