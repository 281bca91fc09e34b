"""The values of data: the scalars that show where a piece of information went.

A **value** is a scalar that is evidence, because it hardly stands in two places by
chance. It is looked for as whole words, without case and punctuation, so `KB-17` is not
in `KB-170`. Evidence is, in results, arguments and the answer's data

- a text of one to four words with a digit and at least four letters or digits; one
  capitalized word of four letters that is no mere status (`Success`); several words
  with a capital after the first one, or with twelve letters;
- a number of four digits, or of three with decimals (`1,234.50` is `1234.5`);
- inside a longer text: ids, paths and addresses (`KB-17`, `src/main.py`, `a@b.org`) and
  numbers as above;

and in results and turns also each run of four words with twelve letters in all. Bools
and nulls never are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from .record import record
from .trace import parse_json, parts_text

MAX_TEXT: Final = 100_000
"""So many characters of what a node consumes, and of what it produces, are read."""
MAX_PARTS: Final = 20_000
"""So many scalars, lists and objects of one side of a node are read."""
MAX_DEPTH: Final = 100
"""Data nested deeper than this is not read."""
_MOST: Final = 4
_RUN_LETTERS: Final = 12
_LETTERS: Final = 4
_PATH_LETTERS: Final = 8
# Scripts that are written without spaces: each sign is a word of its own.
_SIGNS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# A number of many groups is bounded, so that no text is scanned twice from end to end.
_WORD: Final = re.compile(
    r"\d+(?:,\d{3}){0,6}(?:\.\d+)?(?![^\W_])" rf"|[{_SIGNS}]|[^\W_{_SIGNS}]+"
)
_SIGN: Final = re.compile(rf"[{_SIGNS}]")
_JOINTS: Final = frozenset("-_.:/@#")
_PATH_JOINTS: Final = frozenset("_/@")
_STATES: Final = frozenset(
    "accepted active cancelled closed complete completed created done error errors "
    "failed failure false found inactive none null okay open pending ready rejected "
    "succeeded success successful true unknown updated warning".split()
)


@record
class Slot:
    """A value in a node: the path of the scalar that holds it, and how it stands there.

    `path` is dotted and empty for a text; `key` is the form in which values compare.
    """

    path: str
    value: str
    key: str


Word = tuple[str, int, int]
"""A word of a text: its key, where it starts and where it ends."""


def words_of(text: str) -> list[Word]:
    """Return the words of a text in the form in which values compare.

    Letters and digits without case; a number without grouping commas and without zeros
    behind its decimals.
    """
    found = []
    for match in _WORD.finditer(text):
        key = match.group()
        if "," in key or "." in key:
            key = key.replace(",", "")
            if "." in key:
                key = key.rstrip("0").rstrip(".")
        found.append((key.casefold(), *match.span()))
    return found


def scalars(data: Any) -> Iterator[tuple[str, str | None]]:
    """Yield (path, text) of the texts and numbers of data, in order.

    Texts that are JSON, and the text of chat content, are read as what they hold. The
    last pair is ("", None) where the data was too large to be read whole.
    """
    stack: list[tuple[str, Any, int]] = [("", data, 0)]
    parts = letters = 0
    cut = False
    while stack:
        path, value, depth = stack.pop()
        parts += 1
        if parts > MAX_PARTS:
            cut = True
            break
        if isinstance(value, list):
            value = _chat_text(value)
        if isinstance(value, str):
            inner = parse_json(value)
            if inner is not value and not isinstance(inner, str):
                value = inner
        if isinstance(value, (list, tuple, Mapping)):
            if depth >= MAX_DEPTH:
                cut = cut or bool(value)
                continue
            room = MAX_PARTS - parts
            cut = cut or len(value) > room
            prefix = f"{path}." if path else ""
            below = [
                (f"{prefix}{key}", item, depth + 1)
                for key, item in _first(value, room)
                if isinstance(key, (str, int))
            ]
            stack += reversed(below)
            continue
        read = value if isinstance(value, str) else _number(value)
        if read is None or not read:
            continue
        if letters + len(read) > MAX_TEXT:
            cut = True
            read = read[: MAX_TEXT - letters]
        letters += len(read)
        if read:
            if not read.isascii():
                from unicodedata import normalize

                read = normalize("NFC", read)
            yield path, read
    if cut:
        yield "", None


def _chat_text(value: Any) -> Any:
    try:
        text = parts_text(value)
    except RecursionError:
        return value
    return value if text is None else text


def _first(value: Any, room: int) -> Iterator[tuple[Any, Any]]:
    from itertools import islice

    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    return islice(iter(items), max(room, 0))


def _number(value: Any) -> str | None:
    """Return a finite number as its text; None for what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int):
        # Python refuses to spell out numbers of thousands of digits.
        return str(value) if value.bit_length() < 1024 else None
    if value - value != 0:
        return None
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def marks(text: str, words: Sequence[Word], *, runs: bool) -> Iterator[str]:
    """Yield the keys of the values in a scalar; with `runs` those of its runs too."""
    if not words:
        return
    if len(words) <= _MOST and _tells(text, words):
        yield _key(words)
    for start, end in _compounds(text, words):
        whole = words[start:end]
        if len(whole) <= _MOST and _is_id(text, whole):
            yield _key(whole)
    if runs and len(words) > _MOST:
        for start in range(len(words) - _MOST + 1):
            key = _key(words[start : start + _MOST])
            if len(key) - _MOST + 1 >= _RUN_LETTERS:
                yield key


def _key(words: Sequence[Word]) -> str:
    return " ".join([key for key, _, _ in words])


def _tells(text: str, words: Sequence[Word]) -> bool:
    """Whether a whole scalar of up to four words is evidence."""
    letters = sum([len(key) for key, _, _ in words])
    if _SIGN.search(text):
        return letters > 1
    if letters < _LETTERS:
        return False
    if any(_has_digit(key) for key, _, _ in words):
        return True
    if len(words) == 1:
        key, start, end = words[0]
        return text[start:end] != key and key not in _STATES
    if letters >= _RUN_LETTERS:
        return True
    return any(text[start].isupper() for _, start, _ in words[1:])


def _compounds(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words that one sign joins (`KB-17`, `a@b.org`), alone too."""
    start = 0
    for at in range(1, len(words) + 1):
        if at < len(words):
            end, begin = words[at - 1][2], words[at][1]
            if begin - end == 1 and text[end] in _JOINTS:
                continue
        yield start, at
        start = at


def _is_id(text: str, words: Sequence[Word]) -> bool:
    letters = sum([len(key) for key, _, _ in words])
    if any(_has_digit(key) for key, _, _ in words):
        return letters >= _LETTERS
    joints = {text[end] for _, _, end in words[:-1]}
    return letters >= _PATH_LETTERS and bool(joints & _PATH_JOINTS)


def _has_digit(key: str) -> bool:
    return any(letter.isdecimal() for letter in key)


def chosen_slots(value: Any, path: str) -> list[Slot]:
    """Return the values in data that count whatever they look like.

    A text of more than four words is as many values as it has runs of four words.
    """
    slots = []
    for below, text in scalars(value):
        words = words_of(text or "")
        for start in range(max(len(words) - _MOST + 1, min(len(words), 1))):
            run = words[start : start + _MOST]
            at = ".".join(part for part in (path, below) if part)
            slots.append(Slot(at, (text or "")[run[0][1] : run[-1][2]], _key(run)))
    return slots


class Finder:
    """Finds some values, by their keys, in data."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._known = set(keys)
        self._begins = {key.partition(" ")[0] for key in self._known}

    def find(self, data: Any) -> dict[str, Slot]:
        """Return which of the values stand in data, and where, in order."""
        found: dict[str, Slot] = {}
        for path, text in scalars(data):
            if text is None:
                continue
            words = words_of(text)
            for at, (first, start, _) in enumerate(words):
                if first not in self._begins:
                    continue
                key = ""
                for word, _, end in words[at : at + _MOST]:
                    key = f"{key} {word}" if key else word
                    if key in self._known and key not in found:
                        found[key] = Slot(path, text[start:end], key)
        return found
