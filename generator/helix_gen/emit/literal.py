"""From values to Python source: the one place where data becomes code.

Text from a spec is data from a stranger. `source` turns any value into an expression
that evaluates to it and to nothing else, in black's style, so that no formatter has to
run. Its result is `Code`, a type that only this module makes and the only one that the
templates print.

Layout: an expression stands on one line where it surely fits; else brackets open, each
element has its own line and a comma behind it (which black keeps), and a long text is
split at its words into a parenthesized concatenation.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from .trusted import Trusted
from .width import least_columns, most_columns

LINE_LENGTH: Final = 88
MAX_DEPTH: Final = 90
"""Levels of nesting that are written. Python's tokenizer stops at 200 brackets."""

_INDENT: Final = 4
_MIN_TEXT_COLUMNS: Final = 24
DOCSTRING_COLUMNS: Final = LINE_LENGTH - _INDENT - 6
# Python refuses to convert longer integers to decimal; hexadecimal has no limit.
_MAX_DECIMAL_BITS: Final = 4 * 1024


class Code(Trusted):
    """Python source that can be trusted."""

    __slots__ = ()


class Unwritable(ValueError):
    """A value that has no literal: nested too deep, or of a type that is no data."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as an expression; `exploded` writes one argument a line, come what may."""

    function: Code
    arguments: tuple[Any, ...] = ()
    keywords: tuple[tuple[Code, Any], ...] = ()
    exploded: bool = False


def name(text: str, *parts: str) -> Code:
    """Return an identifier, or a dotted name of several. Raises ValueError for others."""
    for part in (text, *parts):
        if not part.isascii() or not part.isidentifier():
            raise ValueError(f"not an ASCII identifier: {part!r}")
    return Code.by_encoder(".".join((text, *parts)))


def source(value: Any, *, indent: int = 0, before: int = 0, after: int = 0) -> Code:
    """Return the expression of a value: plain data, Code, a Call, or a mix of them.

    `indent` is the indentation of the line that it begins in, `before` the columns
    that are taken on that line (its indentation included), `after` the columns that
    must be left behind it. Tuples are written as lists. Raises Unwritable.
    """
    return Code.by_encoder(_put(value, indent, max(before, indent), after, 0))


def statement(head: str, value: Any, *, indent: int = 0, tail: str = "") -> Code:
    """Return `head` (constant text of ours, such as `return `) and the expression.

    The first line is not indented: the template has done that.
    """
    before = indent + len(head)
    text = _put(value, indent, before, len(tail), 0)
    return Code.by_encoder(head + text + tail)


def assignment(target: Code, value: Any, *, annotation: Code | None = None) -> Code:
    """Return `target = value` or `target: annotation = value`, at module level."""
    head = f"{target} = " if annotation is None else f"{target}: {annotation} = "
    return statement(head, value)


def import_from(module: str, names: Sequence[str], *, indent: int = 0) -> Code:
    """Return `from module import names`; a name may be given as `name as other`.

    The module and the names are ours; the first line is not indented.
    """
    for each in names:
        name(*each.split(" as "))
    if module != ".":
        name(*module.removeprefix(".").split("."))
    line = f"from {module} import {', '.join(names)}"
    if indent + len(line) > LINE_LENGTH:
        margin = "\n" + " " * indent
        lines = "".join(f"{margin}    {each}," for each in names)
        line = f"from {module} import ({lines}{margin})"
    return Code.by_encoder(line)


def docstring(text: str) -> Code:
    """Return a docstring of one line of constant text of ours; never a spec's.

    Raises ValueError for what doesn't stand safely between the quotes.
    """
    plain = text.isascii() and text.isprintable() and not set(text) & set('"\\')
    if not plain or not text or text != text.strip() or len(text) > DOCSTRING_COLUMNS:
        raise ValueError(f"not a line for a docstring: {text!r}")
    return Code.by_encoder(f'"""{text}"""')


# -- layout -------------------------------------------------------------------------


def _put(value: Any, indent: int, before: int, after: int, depth: int) -> str:
    if isinstance(value, str) and not isinstance(value, Code):
        return _put_text(value, indent, before, after)
    room = LINE_LENGTH - before - after
    if not (isinstance(value, Call) and value.exploded):
        flat = _flat(value, room)
        if flat is not None:
            return flat
    if depth >= MAX_DEPTH:
        raise Unwritable(f"data nested deeper than {MAX_DEPTH} levels")
    inner = indent + _INDENT
    head, tail = _brackets(value)
    if head is None:
        return _atom(value)
    margin = "\n" + " " * inner
    lines = [head]
    for prefix, element in _elements(value):
        lines.append(margin)
        lines.append(prefix)
        lines.append(
            _put(element, inner, inner + most_columns(prefix), 1, depth + 1) + ","
        )
    lines.append("\n" + " " * indent + tail)
    return "".join(lines)


def _brackets(value: Any) -> tuple[str | None, str]:
    """The opening and closing text of a value with elements; (None, "") of an atom."""
    if isinstance(value, Call):
        if value.arguments or value.keywords:
            return value.function + "(", ")"
    elif isinstance(value, Mapping):
        if value:
            return "{", "}"
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if value:
            return "[", "]"
    return None, ""


def _elements(value: Any) -> Iterator[tuple[str, Any]]:
    """The elements of a value, each with what stands before it (`key: `, `name=`)."""
    if isinstance(value, Call):
        for argument in value.arguments:
            yield "", argument
        for keyword, argument in value.keywords:
            yield keyword + "=", argument
    elif isinstance(value, Mapping):
        for key, element in value.items():
            yield _atom(key) + ": ", element
    else:
        for element in value:
            yield "", element


def _flat(value: Any, room: int) -> str | None:
    """Return the one-line form if it surely fits into `room` columns, else None.

    The work is bounded by `room`, whatever the size of the value.
    """
    if room <= 0:
        return None
    head, tail = _brackets(value)
    if head is None:
        # A text that is longer than the line need not be encoded to know that.
        if isinstance(value, (str, int)) and _is_longer(value, room):
            return None
        text = _atom(value)
        return text if most_columns(text) <= room else None
    room -= len(head) + len(tail)
    parts: list[str] = []
    for prefix, element in _elements(value):
        if parts:
            room -= 2
        room -= most_columns(prefix)
        text_or_none = _flat(element, room)
        if text_or_none is None:
            return None
        room -= most_columns(text_or_none)
        parts.append(prefix + text_or_none)
    return head + ", ".join(parts) + tail if room >= 0 else None


def _is_longer(value: str | int, room: int) -> bool:
    if isinstance(value, str):
        return len(value) > room
    return value.bit_length() > 4 * room


def _put_text(text: str, indent: int, before: int, after: int) -> str:
    """Lay out a text: in place, in parentheses, or split at its words.

    Where nobody can say how wide a character is, the text stays in one piece: that
    is the one form that black keeps whether it fits or not.
    """
    inner = indent + _INDENT
    whole = quoted(text)
    if before + most_columns(whole) + after <= LINE_LENGTH:
        return whole
    least = least_columns(whole)
    if before + least + after <= LINE_LENGTH:
        return whole
    if inner + most_columns(whole) <= LINE_LENGTH:
        pieces = [whole]
    elif inner + least <= LINE_LENGTH:
        return whole
    else:
        room = max(LINE_LENGTH - inner, _MIN_TEXT_COLUMNS)
        pieces = [quoted(piece) for piece in _broken(text, room)]
        if len(pieces) < 2:
            return whole
    margin = "\n" + " " * inner
    return "(" + "".join(margin + piece for piece in pieces) + "\n" + " " * indent + ")"


# Spaces and line feeds stay with the word before them.
_WORD: Final = re.compile(r"[^ \n]*[ ]*\n*")


def _broken(text: str, room: int) -> Iterator[str]:
    """Yield the pieces of a text, each literal at most `room` columns where it can be."""
    piece: list[str] = []
    used = 2
    for word in _WORD.findall(text):
        width = _columns(word)
        if piece and used + width > room:
            yield "".join(piece)
            piece, used = [], 2
        if used + width > room:
            *full, word = _chopped(word, room - 2)
            yield from full
            width = _columns(word)
        piece.append(word)
        used += width
        if word.endswith("\n"):
            yield "".join(piece)
            piece, used = [], 2
    if used > 2:
        yield "".join(piece)


def _chopped(word: str, room: int) -> Iterator[str]:
    """Yield the parts of one long word, each of at most `room` columns.

    It is cut behind punctuation (of a path, of a list without spaces) where that
    leaves no short part.
    """
    start = used = 0
    for at, character in enumerate(word):
        width = _character_columns(character)
        if used + width > room and at > start:
            cut = at
            while cut > start and word[cut - 1].isalnum():
                cut -= 1
            if cut - start <= (at - start) // 2:
                cut = at
            yield word[start:cut]
            used = sum(map(_character_columns, word[cut:at]))
            start = cut
        used += width
    yield word[start:]


def _columns(text: str) -> int:
    """The most columns that a text takes inside double quotes."""
    body = _UNSAFE.sub(lambda match: escaped(match[0]), text)
    return most_columns(body) + text.count('"')


@cache
def _character_columns(character: str) -> int:
    return _columns(character)


# -- atoms --------------------------------------------------------------------------


def _atom(value: Any) -> str:
    """Return the literal of a value without elements, on one line."""
    if isinstance(value, Code):
        return value
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[]"
    if isinstance(value, Call):
        return value.function + "()"
    raise Unwritable(f"no literal for a value of type {type(value).__name__}")


def _integer(value: int) -> str:
    if value.bit_length() <= _MAX_DECIMAL_BITS:
        return int.__repr__(value)
    sign = "-" if value < 0 else ""
    return f"{sign}0x{abs(value):X}"


def _float(value: float) -> str:
    if math.isnan(value):
        return 'float("nan")'
    if math.isinf(value):
        return 'float("inf")' if value > 0 else 'float("-inf")'
    return float.__repr__(value).replace("e+", "e")


_ESCAPES: Final = {
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}

# What must never stand in source as it is: controls (a lone CR or a form feed moves
# lines, NUL ends the file), format and bidi characters (they make code look like what
# it is not), separators that some tools take for line ends, lone surrogates (no UTF-8),
# private use, fillers and whatever else is drawn as nothing. The ranges are spelt out,
# not asked of `unicodedata`, so that every Python gives the same bytes.
INVISIBLE: Final = (
    "\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u2800\u3000\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_UNSAFE: Final = re.compile(f"[\\\\{INVISIBLE}]")


def escaped(character: str) -> str:
    r"""Return the shortest escape of one character: `\n`, `\x85`, `\u202e`, ..."""
    known = _ESCAPES.get(character)
    if known is not None:
        return known
    point = ord(character)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def quoted(text: str) -> Code:
    """Return the string literal of a text, on one line, in black's quotes.

    Double quotes, or single ones where that saves escapes. Printable text of any
    script stays as it is.
    """
    body = _UNSAFE.sub(lambda match: escaped(match[0]), text)
    double = body.count('"')
    if not double:
        return Code.by_encoder(f'"{body}"')
    if double > body.count("'"):
        body = body.replace("'", "\\'")
        return Code.by_encoder(f"'{body}'")
    body = body.replace('"', '\\"')
    return Code.by_encoder(f'"{body}"')
