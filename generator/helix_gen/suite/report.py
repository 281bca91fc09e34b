"""Where the problems of resolving stand, and the report in which they collect."""

from dataclasses import dataclass
from typing import Final

from ..problems import Level, Position, Problem
from ..spec.located import Located, Path

NO_EFFECT: Final = "HX511"
"""The code of what the overlay says and nothing reads."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file of items: where a row, or the fault of one, begins."""

    file: str
    position: Position = Position()
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class InSpec:
    """A place in the spec, by the path of its plain data."""

    path: Path


@dataclass(frozen=True, slots=True)
class InOverlay:
    """A place in the overlay, by the path of its plain data."""

    path: Path


Where = Place | InSpec | InOverlay


class Report:
    """The problems and notes of one resolution, in the order in which they came."""

    def __init__(self, *, spec: Located, overlay: Located | None) -> None:
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._spec = spec
        self._overlay = overlay

    def error(self, code: str, message: str, *, at: Where, hint: str = "") -> None:
        """Add an error: nothing is generated while one stands."""
        self._add("error", code, message, at, hint)

    def warning(self, code: str, message: str, *, at: Where, hint: str = "") -> None:
        """Add a warning: the suite is generated all the same."""
        self._add("warning", code, message, at, hint)

    def note(self, text: str) -> None:
        """Add a note: something to know, not to mend."""
        self.notes.append(text)

    @property
    def failed(self) -> bool:
        """Whether an error stands."""
        return any(problem.level == "error" for problem in self.problems)

    def _add(self, level: Level, code: str, message: str, at: Where, hint: str) -> None:
        if isinstance(at, Place):
            problem = Problem(
                code=code,
                level=level,
                message=message,
                file=at.file,
                position=at.position,
                excerpt=at.excerpt,
                hint=hint,
            )
        else:
            source = self._overlay if isinstance(at, InOverlay) else None
            problem = (source or self._spec).problem(
                code, at.path, message, hint=hint, level=level
            )
        self.problems.append(problem)
