"""The JSON values of a file, one at a time: lines, a document, a list in a document.

A file of JSON Lines is read line by line, so a bad line costs that line alone. A single
document is walked with a buffer: the elements of its big lists (which lists those are,
the format says) are yielded one by one and never held together. Both read gzip, and a
byte order mark is passed over.

Limits: one line, and one value of a walked document, may take 512 MiB.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

from ..record import record
from ..strict_json import why_unreadable
from ..unitf import ReadCount

MAX_VALUE: Final = 512 * 1024 * 1024
_CHUNK: Final = 1 << 16
_HEAD: Final = 1 << 18
_LONG_LINE: Final = 1 << 26
_WHITE: Final = " \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"

Keys = tuple[str, ...]
Descend = Callable[[Keys], bool]

ELEMENT: Final = "[]"
"""Stands in `Value.keys` for the place of a list's element."""


class _End:
    """What is yielded in place of a value where a walked object ends."""


END: Final = _End()


@record
class Value:
    """One JSON value, where it stands (`FILE:LINE`) and the keys that lead to it.

    A line, and a document that is not walked into, has no keys; an element of a list
    has the list's and ELEMENT. `data` is END where a walked object ends.
    """

    place: str
    keys: Keys
    data: Any


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, through gzip where its first bytes say so. Raises OSError."""
    raw = path.open("rb")
    packed = raw.read(2) == b"\x1f\x8b"
    if not packed:
        raw.seek(0)
        return raw
    raw.close()
    import gzip

    return cast(IO[bytes], gzip.open(path, "rb"))


def read_head(path: Path, size: int = _HEAD) -> bytes:
    """Return the first bytes of a file's content, as far as they can be read."""
    with open_bytes(path) as file:
        chunks: list[bytes] = []
        left = size
        try:
            while left > 0:
                chunk = file.read(min(left, _CHUNK))
                if not chunk:
                    break
                chunks.append(chunk)
                left -= len(chunk)
        except Exception as error:
            if not is_damage(error):
                raise
    return b"".join(chunks).removeprefix(_BOM)


def is_damage(error: BaseException) -> bool:
    """Whether an error is that of a damaged gzip stream, not of the file system."""
    import zlib

    if isinstance(error, OSError):
        return error.errno is None
    return isinstance(error, (EOFError, zlib.error))


def is_lines(path: Path, head: bytes) -> bool:
    """Whether a file that starts with `head` is read line by line.

    It is unless its first line opens a value that goes on in the next one, or a list,
    or is no shorter than 64 MiB. Raises OSError.
    """
    text = head.lstrip()
    if text[:1] not in (b"{", b"["):
        return bool(text)
    first, newline, _ = text.partition(b"\n")
    if not newline:
        if len(head) < _HEAD:
            return text[:1] == b"{"
        first = _long_line(path)
        if not first:
            return False
    try:
        json.loads(first.decode("utf-8"))
    except (ValueError, RecursionError):
        # A torn or bad first line, or the first line of an indented document.
        return len(first.strip()) > 2 and not _is_indented(text)
    return text[:1] == b"{"


def _long_line(path: Path) -> bytes:
    """Return the first line of a file where it is no longer than it may be."""
    with open_bytes(path) as file:
        try:
            size = 0
            while size < _LONG_LINE:
                # Looked for first, and then read: a file without lines is not held.
                chunk = file.read(_CHUNK)
                if not chunk:
                    return b""
                at = chunk.find(b"\n")
                if at >= 0:
                    file.seek(0)
                    return file.read(size + at).removeprefix(_BOM)
                size += len(chunk)
        except Exception as error:
            if not is_damage(error):
                raise
    return b""


def _is_indented(head: bytes) -> bool:
    lines = [line for line in head.split(b"\n", 3)[:3] if line.strip()]
    return len(lines) > 1 and lines[1][:1] in (b" ", b"\t", b"}", b"]", b'"')


def read_values(path: Path, count: ReadCount, descend: Descend) -> Iterator[Value]:
    """Yield the JSON values of a file; what can't be read is counted and named.

    `descend` says which containers of a single document are walked into, by their
    keys; the document's own are `()`. Raises OSError where the file can't be read.
    """
    if is_lines(path, read_head(path)):
        yield from read_lines(path, count)
    else:
        yield from _read_document(path, count, descend)


def read_records(
    path: Path, count: ReadCount, *, lists: frozenset[str] = frozenset()
) -> Iterator[Value]:
    """Yield the records of a file: its lines, a list's elements, or the document.

    `lists` names keys of a document whose lists hold the records (`data` of a page of
    an API); what else stands in such a document is yielded after them, if anything.
    """

    def descend(keys: Keys) -> bool:
        return not keys or (len(keys) == 1 and keys[0] in lists)

    rest: dict[str, Any] = {}
    for value in read_values(path, count, descend):
        keys = value.keys
        if value.data is END:
            if rest:
                yield Value(value.place, (), rest)
            rest = {}
        elif len(keys) == 1 and keys[0] != ELEMENT:
            rest[keys[0]] = value.data
        elif not keys and isinstance(value.data, dict):
            yield from _unpacked(value, lists)
        else:
            yield value


def _unpacked(value: Value, lists: frozenset[str]) -> Iterator[Value]:
    """Yield the records that one line holds: itself, or those of its list."""
    inner = next((k for k in lists if isinstance(value.data.get(k), list)), None)
    if inner is None:
        yield value
        return
    for item in value.data[inner]:
        yield Value(value.place, (inner, ELEMENT), item)
    rest = {key: data for key, data in value.data.items() if key != inner}
    if rest:
        yield Value(value.place, (), rest)


def read_lines(path: Path, count: ReadCount) -> Iterator[Value]:
    """Yield the JSON value of each line."""
    with open_bytes(path) as lines:
        number = 0
        while True:
            number += 1
            place = f"{path.name}:{number}"
            try:
                line = lines.readline(MAX_VALUE)
                if len(line) == MAX_VALUE and not line.endswith(b"\n"):
                    count.skip(place, "a line of more than 512 MiB")
                    while line and not line.endswith(b"\n"):
                        line = lines.readline(_CHUNK)
                    continue
            except Exception as error:
                if not is_damage(error):
                    raise
                count.skip(place, f"damaged gzip stream: {error}")
                return
            if not line:
                return
            if number == 1:
                line = line.removeprefix(_BOM)
            if not line.strip():
                count.blank += 1
                continue
            try:
                data = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                count.skip(place, why_unreadable(error))
                continue
            yield Value(place, (), data)


def opening(head: bytes) -> dict[str, Any]:
    """Return what can be seen of a document's own keys in its first bytes.

    A value that goes on behind them stands as an empty list.
    """
    from io import BytesIO

    found: dict[str, Any] = {}

    def descend(keys: Keys) -> bool:
        if len(keys) == 1:
            found[keys[0]] = []
        return not keys

    walker = _Walker(BytesIO(head), "")
    try:
        for value in walker.value((), descend):
            if len(value.keys) == 1 and value.keys[0] != ELEMENT:
                found[value.keys[0]] = value.data
    except (_Bad, UnicodeDecodeError, RecursionError):
        pass  # it ends in the middle, as it must
    return found


# -- a single document ---------------------------------------------------------------


class _Incomplete(Exception):
    """The buffer ends before the value does."""


class _Bad(Exception):
    """The document is no JSON from here on."""


def _read_document(path: Path, count: ReadCount, descend: Descend) -> Iterator[Value]:
    with open_bytes(path) as file:
        walker = _Walker(file, path.name)
        try:
            while walker.more():
                yield from walker.value((), descend)
        except _Bad as error:
            count.skip(walker.place(), f"{error}; the rest can't be read")
        except RecursionError:
            count.skip(walker.place(), "nested too deeply; the rest can't be read")
        except UnicodeDecodeError as error:
            count.skip(walker.place(), f"not UTF-8 ({error.reason}): can't be read on")
        except Exception as error:
            if not is_damage(error):
                raise
            count.skip(walker.place(), f"damaged gzip stream: {error}")


class _Walker:
    """A pull parser over `json`'s scanner: the buffer grows until a value fits."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        from codecs import getincrementaldecoder

        self._file = file
        self._name = name
        self._decode = getincrementaldecoder("utf-8")("strict").decode
        self._scan = json.JSONDecoder().raw_decode
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._ended = False
        self._first = True

    def place(self) -> str:
        return f"{self._name}:{self._line}"

    def more(self) -> bool:
        """Whether anything but white space is left."""
        return self._peek() != ""

    def value(self, keys: Keys, descend: Descend) -> Iterator[Value]:
        """Yield the value that starts here, or the parts of it to walk into."""
        start = self._peek()
        if start in ("{", "[") and start and descend(keys):
            self._move(self._at + 1)
            if start == "[":
                yield from self._list(keys, descend)
            else:
                yield from self._object(keys, descend)
                yield Value(self.place(), keys, END)
        else:
            place = self.place()
            yield Value(place, keys, self._whole())

    def _list(self, keys: Keys, descend: Descend) -> Iterator[Value]:
        if self._peek() == "]":
            self._move(self._at + 1)
            return
        inner = (*keys, ELEMENT)
        while True:
            yield from self.value(inner, descend)
            if self._comma("]"):
                return

    def _object(self, keys: Keys, descend: Descend) -> Iterator[Value]:
        if self._peek() == "}":
            self._move(self._at + 1)
            return
        while True:
            if self._peek() != '"':
                raise _Bad("a key was expected")
            key = self._whole()
            if self._peek() != ":":
                raise _Bad("a colon was expected")
            self._move(self._at + 1)
            yield from self.value((*keys, key), descend)
            if self._comma("}"):
                return

    def _comma(self, end: str) -> bool:
        mark = self._peek()
        if mark not in (",", end) or not mark:
            raise _Bad(f"a comma or {end} was expected")
        self._move(self._at + 1)
        return mark == end

    def _whole(self) -> Any:
        """Return the value that starts at the buffer's position."""
        want = _CHUNK
        while True:
            try:
                return self._try()
            except _Incomplete:
                if self._ended:
                    raise _Bad("the file ends inside a value") from None
                if want > MAX_VALUE:
                    raise _Bad("a value of more than 512 MiB") from None
                # Twice as much each time: a value is scanned again only log n times.
                want = max(want, len(self._buffer) - self._at) * 2
                self._fill(want)

    def _try(self) -> Any:
        buffer, at = self._buffer, self._at
        try:
            data, end = self._scan(buffer, at)
        except json.JSONDecodeError as error:
            open_text = error.msg.startswith("Unterminated string")
            # A cut number, word or escape is complained of shortly before the end.
            if open_text or error.pos >= len(buffer) - 16:
                raise _Incomplete from None
            raise _Bad(f"{error.msg} (line {self._line_of(error.pos)})") from None
        except ValueError as error:
            raise _Bad(why_unreadable(error)) from None
        if end == len(buffer) and not self._ended and buffer[end - 1] not in '}]"':
            raise _Incomplete  # a number may go on
        self._move(end)
        return data

    def _line_of(self, position: int) -> int:
        return self._line + self._buffer.count("\n", self._at, position)

    def _peek(self) -> str:
        """Return the next character that is no white space, "" at the end."""
        while True:
            buffer = self._buffer
            at, size = self._at, len(buffer)
            while at < size and buffer[at] in _WHITE:
                at += 1
            self._move(at)
            if at < size:
                return buffer[at]
            if self._ended:
                return ""
            self._fill(_CHUNK)

    def _move(self, at: int) -> None:
        self._line += self._buffer.count("\n", self._at, at)
        self._at = at

    def _fill(self, want: int) -> None:
        """Let go of what was read and read on, `want` characters or to the end."""
        parts = [self._buffer[self._at :]]
        self._at = 0
        size = len(parts[0])
        while size < want and not self._ended:
            chunk = self._file.read(max(_CHUNK, min(want - size, 1 << 22)))
            if self._first:
                chunk = chunk.removeprefix(_BOM)
                self._first = False
            self._ended = not chunk
            text = self._decode(chunk, self._ended)
            parts.append(text)
            size += len(text)
        self._buffer = "".join(parts)
