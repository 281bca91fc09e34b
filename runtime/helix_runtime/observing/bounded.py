"""Counts of names in flat memory: of what strangers name, there may be millions."""

from __future__ import annotations

from typing import Final

from ..safe_text import ELLIPSIS

MAX_NAME: Final = 200


class Counts:
    """How often each name was met; the first `most` names have counts of their own.

    `others` counts what was met of further names: then the table is cut.
    """

    __slots__ = ("_most", "_of", "others")

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: dict[str, int] = {}
        self.others = 0

    def add(self, name: str, times: int = 1) -> None:
        """Count a name."""
        name = short_name(name)
        if name in self._of or len(self._of) < self._most:
            self._of[name] = self._of.get(name, 0) + times
        else:
            self.others += times

    def ranked(self) -> list[tuple[str, int]]:
        """Return names and counts, the most frequent first, equal ones by name."""
        return sorted(self._of.items(), key=lambda entry: (-entry[1], entry[0]))

    def __len__(self) -> int:
        return len(self._of)

    def __getitem__(self, name: str) -> int:
        return self._of.get(short_name(name), 0)


def short_name(name: str) -> str:
    """Return a name as it is kept: at most MAX_NAME characters of it."""
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + ELLIPSIS
