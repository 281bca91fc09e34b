"""Compare computed values with what a page shows of them, by what both read as."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from ..record import record
from .matching import pair
from .page import Page, plain_text
from .paths import MISSING, fold, is_list
from .readings import Reading, numbers_in, readings_of, readings_of_text

MAX_KNOWN: Final = 50_000
"""So many values are known to have been computed."""
_MAX_DEPTH: Final = 100


@record
class Value:
    """A computed value: its path, itself, and what it reads as."""

    path: str
    value: Any
    readings: frozenset[Reading]


def scalars_of(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the scalars of data with their paths; MISSING for what is left out."""
    stack = [(path, value, 0)]
    seen = 0
    while stack:
        at, one, depth = stack.pop()
        seen += 1
        if isinstance(one, Mapping) or is_list(one):
            if depth >= _MAX_DEPTH or seen + len(one) > MAX_KNOWN:
                yield at, MISSING
                continue
            items = one.items() if isinstance(one, Mapping) else enumerate(one)
            prefix = f"{at}." if at else ""
            below = [(f"{prefix}{key}", item, depth + 1) for key, item in items]
            stack += reversed(below)
        elif seen > MAX_KNOWN:
            yield at, MISSING
            return
        else:
            yield at, one


class Shown:
    """What a page shows, to look values up in."""

    def __init__(self, page: Page, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._plain = not page.is_html
        self._targets = page.targets
        texts = dict.fromkeys((page.text, page.spaced))
        self._texts = [_marked(fold(text, ignore_case=ignore_case)) for text in texts]
        self._numbers: set[Reading] = set()
        for text in texts:
            for read in numbers_in(text):
                self._numbers |= read

    def shows(self, one: Value) -> bool:
        """Whether a value stands on the page, as whole words, or a link leads there."""
        if any(read[0] == "number" and read in self._numbers for read in one.readings):
            return True
        if not isinstance(one.value, str):
            return False
        if one.value.strip() in self._targets:
            return True
        wanted = _marked(self._spelled(one.value))
        return bool(wanted) and any(wanted in text for text in self._texts)

    def note(self, one: Value) -> str:
        """Return what stands there of a long text instead, as a clause."""
        if not isinstance(one.value, str):
            return ""
        text = self._spelled(one.value)
        half = _marked(text[: len(text) // 2]).rstrip(_MARK)
        if len(half) >= 12 and any(half in page for page in self._texts):
            return "; only the beginning of it"
        return ""

    def _spelled(self, value: str) -> str:
        text = plain_text(value) if self._plain else value
        return fold(text, ignore_case=self._ignore_case)


_MARK: Final = "\x1f"
_WORD: Final = re.compile(r"[^\W_]+")


def _marked(text: str) -> str:
    """Return a text with its words marked off: so it is found as whole words alone."""
    return _WORD.sub(rf"{_MARK}\g<0>{_MARK}", text)


State = Literal["same", "other", "unclear"]


def compared(
    values: Sequence[Value], texts: Sequence[str], *, ignore_case: bool
) -> Iterator[tuple[Value, str, State]]:
    """Yield each value with the text that shows it, or the one that stands in its place."""
    read = [readings_of_text(text, ignore_case=ignore_case) for text in texts]
    if len(values) == 1:
        one = values[0]
        states = [
            (text, _state(one, reading, text))
            for text, reading in zip(texts, read, strict=True)
        ]
        worst = {"other": 0, "unclear": 1, "same": 2}
        states.sort(key=lambda found: worst[found[1]])
        text, state = states[0] if states else ("", "other")
        yield one, text, state
        return
    if len(values) == len(texts):
        yield from _one_each(values, texts, read)
        return
    index: dict[Reading, int] = {}
    for at, reading in enumerate(read):
        for key in reading:
            index.setdefault(key, at)
    for number, one in enumerate(values):
        hit = next((index[key] for key in sorted(one.readings) if key in index), None)
        if hit is not None:
            yield one, texts[hit], "same"
        else:
            text = texts[number] if number < len(texts) else ""
            yield one, text, _state(one, frozenset(), text)


def _one_each(
    values: Sequence[Value], texts: Sequence[str], read: Sequence[frozenset[Reading]]
) -> Iterator[tuple[Value, str, State]]:
    """Yield each value with a text of its own: as many places show one each.

    A page may show them in another order; one place is not there for two values.
    """
    states = [
        _state(one, reading, text)
        for one, reading, text in zip(values, read, texts, strict=True)
    ]
    if any(state != "same" for state in states):
        numbers = [list(numbers_in(text)) for text in texts]

        def fits(one: Value, at: int) -> bool:
            if one.readings & read[at]:
                return True
            alone = len(numbers[at]) == 1 and not isinstance(one.value, str)
            return alone and bool(numbers[at][0] & one.readings)

        pairs = pair(values, range(len(texts)), fits)
        for number, one in enumerate(values):
            if number in pairs:
                yield one, texts[pairs[number]], "same"
            else:
                state = "other" if states[number] == "same" else states[number]
                yield one, texts[number], state
        return
    for one, text in zip(values, texts, strict=True):
        yield one, text, "same"


def _state(one: Value, read: frozenset[Reading], text: str) -> State:
    if one.readings & read:
        return "same"
    numbers = list(numbers_in(text))
    hits = [each for each in numbers if each & one.readings]
    if not hits:
        return "other"
    if isinstance(one.value, str):
        return "other"
    # Words around a number (a unit, a currency) are the page's own.
    return "same" if len(numbers) == 1 else "unclear"


class Known:
    """All values of some data, to look up what a page shows."""

    def __init__(
        self, sources: Sequence[Any], *, decimals: int | None, ignore_case: bool
    ) -> None:
        self._ignore_case = ignore_case
        self._read: set[Reading] = set()
        self.unread = False
        texts: list[str] = []
        for data in sources:
            for _, value in scalars_of(data, ""):
                if value is MISSING:
                    self.unread = True
                    continue
                self._read |= readings_of(
                    value, decimals=decimals, ignore_case=ignore_case
                )
                if isinstance(value, str):
                    texts.append(fold(value, ignore_case=ignore_case))
                    for read in numbers_in(value):
                        self._read |= read
        self._text = _marked("\n".join(texts))

    def holds(self, text: str) -> bool:
        """Whether what a page shows is one of the values, or stands in a text of them."""
        if readings_of_text(text, ignore_case=self._ignore_case) & self._read:
            return True
        numbers = list(numbers_in(text))
        if len(numbers) == 1 and numbers[0] & self._read:
            return True
        wanted = _marked(fold(text, ignore_case=self._ignore_case))
        return bool(wanted) and wanted in self._text
