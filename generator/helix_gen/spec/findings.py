"""Collecting findings: plain data walked with its paths, ids, and what refers to them.

The checks of meaning read plain data, not the typed card, so that a card with a fault
of structure shows its faults of meaning in the same go. What has the wrong shape is
passed over here: `structure` reports it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..problems import Level, Problem, listed, quoted
from .close import CloseMatches
from .located import Located, Part, Path
from .structure import dotted


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a reference may name.

    `ids` maps each id to where it stands, None where the list itself is broken: then
    nothing that refers to it can be called wrong. `home` is where more of them would
    be declared; `open` says that more exist in other files. `nowhere` says what to do
    where a card of this kind has no place for any.
    """

    one: str
    many: str
    ids: Mapping[str, Path] | None
    home: Path
    open: bool = False
    nowhere: str = ""


@dataclass(slots=True)
class Findings:
    """The problems of one file, and how to find them in its plain data."""

    source: Located
    close: CloseMatches
    problems: list[Problem] = field(default_factory=list)

    def error(
        self,
        code: str,
        path: Path,
        message: str,
        *,
        hint: str = "",
        part: Part = "value",
    ) -> None:
        """Add an error at `path`."""
        self.problems.append(
            self.source.problem(code, path, message, hint=hint, part=part)
        )

    def warning(
        self,
        code: str,
        path: Path,
        message: str,
        *,
        hint: str = "",
        part: Part = "value",
    ) -> None:
        """Add a warning at `path`."""
        self.problems.append(
            self.source.problem(
                code, path, message, hint=hint, level="warning", part=part
            )
        )

    def rows(self, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield the mappings of the list at `path`, with their paths."""
        rows = self.source.get(path)
        if isinstance(rows, list):
            for number, row in enumerate(rows):
                if isinstance(row, dict):
                    yield (*path, number), row

    def texts(self, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield the texts of the list at `path`, with their paths."""
        texts = self.source.get(path)
        if isinstance(texts, list):
            for number, text in enumerate(texts):
                if isinstance(text, str):
                    yield (*path, number), text

    def text(self, path: Path) -> str | None:
        """Return the text at `path`, or None."""
        value = self.source.get(path)
        return value if isinstance(value, str) and value else None

    def names(self, path: Path, one: str, many: str, *, key: str = "id") -> Names:
        """Return the ids of the list at `path`; an id that repeats is an error."""
        rows = self.source.get(path)
        ids: dict[str, Path] | None = {} if isinstance(rows, list) else None
        for row_path, row in self.rows(path):
            self.declare(ids, (*row_path, key), row.get(key), one)
        return Names(one=one, many=many, ids=ids, home=path)

    def declare(
        self, ids: dict[str, Path] | None, path: Path, value: Any, one: str
    ) -> None:
        """Add an id to those that are there; a repeated one is an error."""
        if ids is None or not isinstance(value, str):
            return
        first = ids.setdefault(value, path)
        if first is not path:
            line = self.source.position(first).line
            self.error(
                "HX201",
                path,
                f"the {one} {quoted(value)} stands here a second time",
                hint=f"the first is in line {line}; give one of them another id",
            )

    def resolve(
        self, path: Path, value: Any, names: Names, *, level: Level = "error"
    ) -> bool:
        """Check that the reference at `path` names one of `names`."""
        if names.ids is None or not isinstance(value, str) or value in names.ids:
            return True
        if names.open:
            level = "warning"
        self.problems.append(
            self.source.problem(
                "HX204",
                path,
                f"there is no {names.one} {quoted(value)}",
                hint=self._other_end(value, names),
                level=level,
            )
        )
        return False

    def _other_end(self, value: str, names: Names) -> str:
        assert names.ids is not None
        if names.nowhere:
            return names.nowhere
        line = self.source.position(names.home, "key").line
        home = f"`{dotted(names.home)}` (line {line})"
        close = self.close.closest(value, names.ids)
        if close is not None:
            there = self.source.position(names.ids[close]).line
            return f"did you mean {quoted(close)} (line {there})?"
        if names.ids:
            others = "; cards in files of their own are not read" if names.open else ""
            return f"{names.many} in {home}: {listed(names.ids)}{others}"
        return f"there are no {names.many} in {home}; declare it there"
