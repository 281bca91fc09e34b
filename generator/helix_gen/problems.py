"""Problems: errors as values that collect, each with a code, a place and a hint.

Code outside this module makes them with `Problem(...)` and hands lists of them up;
exceptions are for bugs. The codes and their meaning stand in `codes`.
"""

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: line and column, both from 1, columns in characters."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of an input.

    `code` is documented and stable (`HX` and three digits); `file` is the name as the
    user gave it; `excerpt` is the source line that `position` points into; `hint`
    says what to do.
    """

    code: str
    level: Level
    message: str
    file: str
    position: Position = Position()
    excerpt: str = ""
    hint: str = ""
