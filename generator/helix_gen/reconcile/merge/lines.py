"""Line merge: diff3 over two edits of one base, and the endings of the lines."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .result import Choice, Conflict, MergeResult, with_markers
from .split import ending_of, split_lines, with_lf

_SMALL: Final = 250_000
"""Pairs of lines that are still compared each with each."""


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
    ours = matches(base, yours)
    theirs = matches(base, new)
    i = j = 0
    while i < len(ours) and j < len(theirs):
        (a, in_yours, size), (b, in_new, length) = ours[i], theirs[j]
        start, end = max(a, b), min(a + size, b + length)
        if start < end:
            yield start, in_yours + start - a, in_new + start - b, end - start
        if a + size < b + length:
            i += 1
        else:
            j += 1
    yield len(base), len(yours), len(new), 0


def matches(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the stretches (in one, in other, length) that two texts share, in order.

    Patience diff: what both begin and end with, then the lines that stand once in
    each, and so on between those; only small rests are compared line with line. So a
    text of 50,000 lines, most of them alike, costs no square of its length.
    """
    pairs: list[tuple[int, int, int]] = []
    open_parts = [(0, len(one), 0, len(other))]
    while open_parts:
        a, a_end, b, b_end = open_parts.pop()
        head = 0
        while (
            a + head < a_end and b + head < b_end and one[a + head] == other[b + head]
        ):
            head += 1
        if head:
            pairs.append((a, b, head))
        a, b = a + head, b + head
        tail = 0
        while a < a_end - tail and b < b_end - tail:
            if one[a_end - tail - 1] != other[b_end - tail - 1]:
                break
            tail += 1
        a_end, b_end = a_end - tail, b_end - tail
        if tail:
            pairs.append((a_end, b_end, tail))
        if a == a_end or b == b_end:
            continue
        anchors = _anchors(one, other, (a, a_end, b, b_end))
        if anchors:
            for x, y in anchors:
                open_parts.append((a, x, b, y))
                pairs.append((x, y, 1))
                a, b = x + 1, y + 1
            open_parts.append((a, a_end, b, b_end))
        else:
            pairs.extend(_compared(one, other, (a, a_end, b, b_end)))
    return _joined(sorted(pairs))


def _anchors(
    one: Sequence[str], other: Sequence[str], part: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Return places of lines that stand once on each side, in the order of both."""
    from bisect import bisect_left

    a, a_end, b, b_end = part
    in_one = Counter(one[a:a_end])
    in_other = Counter(other[b:b_end])
    places = {
        other[y]: y
        for y in range(b, b_end)
        if in_other[other[y]] == 1 and in_one.get(other[y]) == 1
    }
    # The longest run of them that goes up on both sides (patience sorting).
    tops: list[int] = []
    piles: list[tuple[int, int, int]] = []
    last: list[int] = []
    for x in range(a, a_end):
        y = places.get(one[x])
        if y is None:
            continue
        pile = bisect_left(tops, y)
        before = last[pile - 1] if pile else -1
        piles.append((x, y, before))
        if pile == len(tops):
            tops.append(y)
            last.append(len(piles) - 1)
        else:
            tops[pile] = y
            last[pile] = len(piles) - 1
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        x, y, at = piles[at]
        found.append((x, y))
    return found[::-1]


def _compared(
    one: Sequence[str], other: Sequence[str], part: tuple[int, int, int, int]
) -> Iterator[tuple[int, int, int]]:
    from difflib import SequenceMatcher

    a, a_end, b, b_end = part
    is_large = (a_end - a) * (b_end - b) > _SMALL
    matcher = SequenceMatcher(None, one[a:a_end], other[b:b_end], autojunk=is_large)
    for block in matcher.get_matching_blocks():
        if block.size:
            yield a + block.a, b + block.b, block.size


def _joined(pairs: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join stretches that follow each other on both sides."""
    joined: list[tuple[int, int, int]] = []
    for a, b, size in pairs:
        if joined:
            x, y, length = joined[-1]
            if x + length == a and y + length == b:
                joined[-1] = (x, y, length + size)
                continue
        joined.append((a, b, size))
    return joined


def merge_text(
    base: str, yours: str, new: str, *, choice: Choice = "yours"
) -> MergeResult:
    """Merge three texts line by line; where both changed one place, yours stays."""
    merged: list[str] = []
    next_base: list[str] = []
    conflicts = []
    for region in regions(split_lines(base), split_lines(yours), split_lines(new)):
        lines = region.merged
        if lines is not None:
            merged.extend(lines)
            next_base.extend(region.new)
            continue
        first = len(merged) + 1
        last = max(first, len(merged) + len(region.yours))
        name = f"line {first}" if first == last else f"lines {first}-{last}"
        texts = ["".join(side) for side in (region.base, region.yours, region.new)]
        conflicts.append(
            Conflict(unit=name, base=texts[0], yours=texts[1], new=texts[2])
        )
        next_base.extend(region.base)
        if choice == "markers":
            merged.extend(split_lines(with_markers(*texts)))
        else:
            merged.extend(region.yours if choice == "yours" else region.new)
    return MergeResult(
        text="".join(merged), base="".join(next_base), conflicts=tuple(conflicts)
    )


def with_endings_of(text: str, model: str) -> str:
    """Return a text of LF lines with the line endings of the text it came from.

    Where the model mixes endings, each line that it still has keeps its own; other
    lines get the ending that most lines of the model have.
    """
    if "\r" not in model:
        return text
    endings = Counter(ending_of(line) for line in split_lines(model))
    del endings[""]
    usual = max(endings, key=lambda ending: (endings[ending], ending == "\n"))
    lines = split_lines(text)
    if len(endings) == 1:
        chosen = [usual] * len(lines)
    else:
        theirs = split_lines(model)
        chosen = [usual] * len(lines)
        plain = [with_lf(line) for line in theirs]
        for at, in_model, size in matches(lines, plain):
            for step in range(size):
                ending = ending_of(theirs[in_model + step])
                chosen[at + step] = ending or usual
    return "".join(
        line.removesuffix("\n") + (ending if line.endswith("\n") else "")
        for line, ending in zip(lines, chosen, strict=True)
    )
