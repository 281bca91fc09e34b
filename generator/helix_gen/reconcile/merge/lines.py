"""Line merge: diff3 over two edits of one base.

Lines end with their own line ending; only LF, CRLF and CR end a line (never
`str.splitlines`, which also splits at form feeds and U+2028).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .result import Conflict, MergeResult

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, each with its ending; their join is the text."""
    return _LINE.findall(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A stretch of the three texts; `stable` where none of them differs."""

    stable: bool
    base: Sequence[str]
    yours: Sequence[str]
    new: Sequence[str]

    @property
    def merged(self) -> Sequence[str] | None:
        """The lines that this stretch merges to, or None where both sides differ."""
        if self.stable or self.new == self.base or self.yours == self.new:
            return self.yours
        return self.new if self.yours == self.base else None


def regions(
    base: Sequence[str], yours: Sequence[str], new: Sequence[str]
) -> Iterator[Region]:
    """Yield the stretches of three texts, stable and changed in turn (diff3)."""
    at_base = at_yours = at_new = 0
    for start, in_yours, in_new, length in _common(base, yours, new):
        if start > at_base or in_yours > at_yours or in_new > at_new:
            yield Region(
                stable=False,
                base=base[at_base:start],
                yours=yours[at_yours:in_yours],
                new=new[at_new:in_new],
            )
        if length:
            end = start + length
            same = base[start:end]
            yield Region(stable=True, base=same, yours=same, new=same)
        at_base, at_yours, at_new = start + length, in_yours + length, in_new + length


def _common(
    base: Sequence[str], yours: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (base, yours, new, length) of the stretches that all three share."""
    ours = SequenceMatcher(None, base, yours, autojunk=False).get_matching_blocks()
    theirs = SequenceMatcher(None, base, new, autojunk=False).get_matching_blocks()
    i = j = 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i], theirs[j]
        start = max(a.a, b.a)
        end = min(a.a + a.size, b.a + b.size)
        if start < end:
            yield start, a.b + start - a.a, b.b + start - b.a, end - start
        if a.a + a.size < b.a + b.size:
            i += 1
        else:
            j += 1
    yield len(base), len(yours), len(new), 0


def merge_text(base: str, yours: str, new: str) -> MergeResult:
    """Merge three texts line by line; where both changed one place, yours stays."""
    merged: list[str] = []
    conflicts = []
    for region in regions(split_lines(base), split_lines(yours), split_lines(new)):
        lines = region.merged
        if lines is None:
            first = len(merged) + 1
            last = max(first, len(merged) + len(region.yours))
            conflicts.append(
                Conflict(
                    unit=f"lines {first}-{last}",
                    base="".join(region.base),
                    yours="".join(region.yours),
                    new="".join(region.new),
                )
            )
            lines = region.yours
        merged.extend(lines)
    return MergeResult(text="".join(merged), conflicts=tuple(conflicts))
