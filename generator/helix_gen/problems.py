"""Problems: errors as values that collect, each with a code, a place and a hint.

Code outside this module makes them with `Problem(...)` and hands lists of them up;
exceptions are for bugs. The codes and their meaning stand in `codes`. The three
renderings say the same: a text for people, JSON for programs, annotations for GitHub.
Everything in a problem may be a stranger's text, so every rendering escapes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from helix_runtime.safe_text import ELLIPSIS, printable

Level = Literal["error", "warning"]

EXCERPT_WIDTH: Final = 100
MESSAGE_LIMIT: Final = 600
HINT_LIMIT: Final = 4000
_BEFORE: Final = 60


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: line and column, both from 1, columns in characters."""

    line: int = 1
    column: int = 1


NOWHERE: Final = Position(0, 0)
"""The place of what stands in no line: a folder, an argument, a file as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of an input.

    `code` is documented and stable (`HX` and three digits); `file` is the name as the
    user gave it; `excerpt` is the source line that `position` points into; `hint`
    says what to do, in one line or several.
    """

    code: str
    level: Level
    message: str
    file: str
    position: Position = NOWHERE
    excerpt: str = ""
    hint: str = ""


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems by file and position, without exact repetitions."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.file, p.position, p.code, p.message))


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether one of the problems is an error."""
    return any(p.level == "error" for p in problems)


def quoted(text: str, limit: int = 60) -> str:
    """Return a stranger's text for a message: printable, cut, in backticks."""
    return f"`{printable(text, limit)}`"


def listed(words: Iterable[str], *, limit: int = 12) -> str:
    """Return the words quoted and joined by commas; more than `limit` are counted."""
    words = list(words)
    text = ", ".join(quoted(word) for word in words[:limit])
    rest = len(words) - limit
    return f"{text} and {rest} more" if rest > 0 else text


def render_text(problems: Iterable[Problem]) -> str:
    """Return the problems for people: a line each, the excerpt and the hint below it.

    Ends with a line feed unless there are none.
    """
    lines: list[str] = []
    for problem in in_order(problems):
        lines += _paragraph(problem)
    return "".join(f"{line}\n" for line in lines)


def render_json(problems: Iterable[Problem]) -> str:
    """Return the problems as a JSON array of objects, a line each."""
    from helix_runtime.canonical import dump_line

    rows = []
    for problem in in_order(problems):
        shown, caret = excerpt_window(problem)
        rows.append(
            dump_line(
                {
                    "code": problem.code,
                    "level": problem.level,
                    "message": printable(problem.message, MESSAGE_LIMIT),
                    "file": problem.file,
                    "line": max(problem.position.line, 1),
                    "column": max(problem.position.column, 1),
                    "excerpt": shown,
                    "caret": caret,
                    "hint": "\n".join(_hint_lines(problem)),
                }
            )
        )
    return "[" + ",\n ".join(rows) + "]\n"


def render_github(problems: Iterable[Problem]) -> str:
    """Return the problems as GitHub workflow commands, an annotation each."""
    lines = []
    for problem in in_order(problems):
        place = {
            "file": printable(problem.file),
            "line": str(max(problem.position.line, 1)),
            "col": str(max(problem.position.column, 1)),
            "title": problem.code,
        }
        properties = ",".join(f"{k}={_property(v)}" for k, v in place.items())
        text = "\n".join(
            [printable(problem.message, MESSAGE_LIMIT), *_hint_lines(problem)]
        )
        lines.append(f"::{problem.level} {properties}::{_data(text)}\n")
    return "".join(lines)


def count_line(problems: Sequence[Problem]) -> str:
    """Return how many problems there are: `2 errors, 1 warning`."""
    errors = sum(1 for p in problems if p.level == "error")
    warnings = len(problems) - errors
    parts = []
    for number, word in ((errors, "error"), (warnings, "warning")):
        if number:
            parts.append(f"{number} {word}" + ("s" if number > 1 else ""))
    return ", ".join(parts) or "no problems"


def excerpt_window(problem: Problem) -> tuple[str, int]:
    """Return the excerpt made visible and cut, and the caret's place in it.

    The place counts terminal cells from 0: escapes before the column lengthen it, and
    a wide character counts twice.
    """
    text = problem.excerpt.rstrip("\r\n")
    column = min(max(problem.position.column - 1, 0), len(text))
    start = 0
    if len(text) > EXCERPT_WIDTH:
        start = max(0, min(column - _BEFORE, len(text) - EXCERPT_WIDTH))
    before = printable(text[start:column])
    after = printable(text[column : start + EXCERPT_WIDTH])
    head = ELLIPSIS if start else ""
    tail = ELLIPSIS if start + EXCERPT_WIDTH < len(text) else ""
    return head + before + after + tail, _cells(head + before)


def _paragraph(problem: Problem) -> list[str]:
    place = max(problem.position.line, 1), max(problem.position.column, 1)
    where = f"{printable(problem.file)}:{place[0]}:{place[1]}"
    message = printable(problem.message, MESSAGE_LIMIT)
    lines = [f"{where}: {problem.level}[{problem.code}]: {message}"]
    if problem.excerpt.strip():
        shown, caret = excerpt_window(problem)
        number = f"{problem.position.line:>5}"
        lines.append(f"{number} | {shown}".rstrip())
        lines.append(f"{' ' * len(number)} | {' ' * caret}^")
    hint = _hint_lines(problem)
    if hint:
        lines.append(f"      hint: {hint[0]}")
        lines += [f"            {line}".rstrip() for line in hint[1:]]
    return lines


def _hint_lines(problem: Problem) -> list[str]:
    if not problem.hint:
        return []
    return [printable(line, HINT_LIMIT) for line in problem.hint.split("\n")]


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    import unicodedata

    cells = 0
    for character in text:
        if unicodedata.category(character) in ("Mn", "Me"):
            continue
        cells += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return cells


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
