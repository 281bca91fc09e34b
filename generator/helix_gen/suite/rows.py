"""Read the rows of a file of items: JSON, JSON Lines, CSV or YAML.

A reader never raises for what a file holds and never loses a row in silence: each
row that can't be read is a fault with its place, and reading goes on where the format
lets it.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, Final, Literal

from ..problems import Position, quoted
from ..spec.yaml import read_yaml

Format = Literal["json", "jsonl", "csv", "yaml"]
FORMATS: Final[dict[str, Format]] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".yaml": "yaml",
    ".yml": "yaml",
}
MAX_BYTES: Final = 512 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 4000
LIST_KEYS: Final = ("items", "cases", "rows", "data", "examples", "tests")
"""Under which key of an object the list of rows may stand."""

_EXCERPT: Final = 500


@dataclass(frozen=True, slots=True)
class Row:
    """One row and where it begins."""

    data: dict[str, Any]
    at: Position


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a row, or the file from here on, can't be read, and what to do."""

    message: str
    at: Position = Position()
    hint: str = "mend the row or take it out"


@dataclass(slots=True)
class Rows:
    """What a file holds. `shapeless` says why it is not a file of rows at all.

    `cells` marks a table, in which every value is a text.
    """

    rows: list[Row] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    shapeless: str | None = None
    lines: list[bytes] = field(default_factory=list, repr=False)
    cells: bool = False

    def excerpt(self, position: Position) -> str:
        """Return the line that a position is in, or nothing where it is too long."""
        if not 0 < position.line <= len(self.lines):
            return ""
        line = self.lines[position.line - 1].decode("utf-8", "replace")
        fits = position.column <= _EXCERPT
        return line.removeprefix("\ufeff")[:_EXCERPT].rstrip("\r") if fits else ""


def read_rows(path: Path, *, name: str) -> Rows:
    """Return the rows of a file by the format that its suffix names.

    `name` is the file as messages show it. Raises OSError where it can't be read and
    KeyError for a suffix that is not in FORMATS.
    """
    format_ = FORMATS[path.suffix.lower()]
    size = path.stat().st_size
    if size > MAX_BYTES:
        return Rows(shapeless=f"it has {size:,} bytes; at most {MAX_BYTES:,} are read")
    data = path.read_bytes()
    rows = _read(data, format_, name)
    rows.lines = data.split(b"\n")
    return rows


def _read(data: bytes, format_: Format, name: str) -> Rows:
    if format_ == "jsonl":
        return _read_jsonl(data)
    if format_ == "yaml":
        return _read_yaml(data, name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Rows(faults=[_encoding_fault(data, error, line=1)])
    if format_ == "csv":
        return _read_csv(text)
    return _read_json(text)


def _encoding_fault(data: bytes, error: UnicodeDecodeError, *, line: int) -> Fault:
    before = data[: error.start]
    start = before.rfind(b"\n") + 1
    column = len(before[start:].decode("utf-8", "replace")) + 1
    position = Position(line + before.count(b"\n"), column)
    message, hint = f"not UTF-8: the byte 0x{data[error.start]:02x}", "save it as UTF-8"
    if data[:2] in _UTF_16:
        message = "not UTF-8 but UTF-16"
    elif data[:2] == _GZIP:
        message, hint = "packed with gzip", "unpack it"
    return Fault(message, position, hint)


_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_GZIP: Final = b"\x1f\x8b"


# -- JSON ------------------------------------------------------------------------------


class _Decoder:
    """A JSON decoder that counts the keys that stand twice in an object."""

    def __init__(self) -> None:
        self.twice: list[str] = []
        decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_int=_integer)
        self.decode_at = decoder.raw_decode

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.twice.append(key)
                seen.add(key)
        return data

    def row(self, text: str, start: int) -> tuple[Any, int, str | None]:
        """Return the value at `start`, its end, and what is wrong with it.

        Raises ValueError and RecursionError as the decoder does.
        """
        self.twice.clear()
        value, end = self.decode_at(text, start)
        wrong = None
        if self.twice:
            wrong = f"the key {quoted(self.twice[0])} stands twice in an object"
        elif _may_be_deep(text, start, end) and _depth(value) > MAX_DEPTH:
            wrong = f"nested more than {MAX_DEPTH} levels deep"
        return value, end, wrong


def _integer(digits: str) -> int | float:
    # Python refuses to read (and to write) a longer one; infinity is what marks it
    # as a number that no JSON reader holds, and so as a fault of the row.
    return int(digits) if len(digits) <= MAX_DIGITS else float("inf")


def _may_be_deep(text: str, start: int, end: int) -> bool:
    opened = text.count("{", start, end) + text.count("[", start, end)
    return opened > MAX_DEPTH


def _depth(value: Any) -> int:
    deepest = 0
    stack = [(value, 0)]
    while stack:
        each, depth = stack.pop()
        deepest = max(deepest, depth)
        if isinstance(each, dict):
            stack += ((child, depth + 1) for child in each.values())
        elif isinstance(each, list):
            stack += ((child, depth + 1) for child in each)
    return deepest


class _Text:
    """A text whose character indexes become positions, in one pass from its start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._index = self._start = 0
        self._line = 1

    def position(self, index: int) -> Position:
        """Return the position of an index; none may go back."""
        # Only what lies between is looked at: a file may be one line of 40 MB.
        newlines = self.text.count("\n", self._index, index)
        if newlines:
            self._line += newlines
            self._start = self.text.rindex("\n", self._index, index) + 1
        self._index = index
        return self.here

    @property
    def here(self) -> Position:
        """The position that was asked for last."""
        return Position(self._line, self._index - self._start + 1)

    def skip_space(self, index: int) -> int:
        """Return the index of the next character that is not JSON white space."""
        while self.text[index : index + 1] in (" ", "\t", "\n", "\r"):
            index += 1
        return index


def _read_json(text: str) -> Rows:
    rows = Rows()
    source = _Text(text)
    decoder = _Decoder()
    start, key = source.skip_space(0), ""
    try:
        if text[start : start + 1] == "{":
            key, start = _list_in_object(source, decoder, start)
            if not key:
                keys = ", ".join(f"`{each}`" for each in LIST_KEYS)
                rows.shapeless = f"it is an object with no list of rows under {keys}"
                if source.skip_space(start) < len(text):
                    rows.shapeless = "it is JSON Lines: name it .jsonl"
                return rows
        elif text[start : start + 1] != "[":
            rows.shapeless = "it is not a list of rows"
            if start == len(text):
                rows.shapeless = "it is empty"
            return rows
        for value, at, wrong in _list_items(source, decoder, start, key):
            _take(rows, value, at, wrong)
    except json.JSONDecodeError as error:
        rows.faults.append(
            Fault(_json_fault(error, "file"), source.position(error.pos))
        )
    except RecursionError:
        message = f"nested more than {MAX_DEPTH} levels deep"
        rows.faults.append(Fault(message, source.here))
    return _judge_shape(rows)


def _json_fault(error: json.JSONDecodeError, whole: str) -> str:
    torn = error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg
    return f"the {whole} breaks off" if torn else f"not JSON: {error.msg}"


def _list_in_object(source: _Text, decoder: _Decoder, start: int) -> tuple[str, int]:
    """Return under which of LIST_KEYS a list begins first, and where.

    Where there is none: no key, and where the object ends.
    """
    text = source.text
    index = source.skip_space(start + 1)
    while text[index : index + 1] == '"':
        key, index = _key(source, decoder, index)
        if key in LIST_KEYS and text[index : index + 1] == "[":
            return key, index
        index = _past_value(source, decoder, index)
    if text[index : index + 1] != "}":
        raise json.JSONDecodeError("Expecting ',' delimiter or '}'", text, index)
    return "", index + 1


def _key(source: _Text, decoder: _Decoder, index: int) -> tuple[str, int]:
    key, index, _ = decoder.row(source.text, index)
    index = source.skip_space(index)
    if source.text[index : index + 1] != ":":
        raise json.JSONDecodeError("Expecting ':' delimiter", source.text, index)
    return key, source.skip_space(index + 1)


def _past_value(source: _Text, decoder: _Decoder, index: int) -> int:
    _, index, _ = decoder.row(source.text, index)
    return _past_comma(source, index)


def _past_comma(source: _Text, index: int) -> int:
    index = source.skip_space(index)
    if source.text[index : index + 1] == ",":
        index = source.skip_space(index + 1)
    return index


def _read_on(source: _Text, decoder: _Decoder, index: int, key: str) -> None:
    """Read what follows the list of rows, which stood under `key`, to the file's end.

    Raises json.JSONDecodeError: what nobody reads may be rows.
    """
    text = source.text
    if key:
        index = _past_comma(source, index)
        while text[index : index + 1] == '"':
            at = index
            other, index = _key(source, decoder, index)
            if other == key:
                raise json.JSONDecodeError(f"a second {quoted(key)}", text, at)
            index = _past_value(source, decoder, index)
        if text[index : index + 1] != "}":
            raise json.JSONDecodeError("Expecting ',' delimiter or '}'", text, index)
        index += 1
    index = source.skip_space(index)
    if index < len(text):
        raise json.JSONDecodeError("more stands behind the rows", text, index)


def _list_items(
    source: _Text, decoder: _Decoder, start: int, key: str
) -> Iterator[tuple[Any, Position, str | None]]:
    """Yield each item of the list that begins at `start`, with its position.

    Raises json.JSONDecodeError where the list or what follows it (in an object, where
    it stands under `key`) can't be read, with the items before already given.
    """
    text = source.text
    index = source.skip_space(start + 1)
    if text[index : index + 1] == "]":
        return _read_on(source, decoder, index + 1, key)
    while True:
        at = source.position(index)
        value, index, wrong = decoder.row(text, index)
        yield value, at, wrong
        index = source.skip_space(index)
        if text[index : index + 1] == "]":
            return _read_on(source, decoder, index + 1, key)
        if text[index : index + 1] != ",":
            raise json.JSONDecodeError("Expecting ',' or ']'", text, index)
        index = source.skip_space(index + 1)


_ONE_LINE: Final = "write each row in one line, or name the file .json"


def _read_jsonl(data: bytes) -> Rows:
    rows = Rows()
    decoder = _Decoder()
    # Never str.splitlines: U+2028 and its like may stand inside a JSON text.
    for number, line in enumerate(data.split(b"\n"), 1):
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not line.strip():
            continue
        at = Position(number)
        try:
            text = line.decode("utf-8").rstrip("\r")
            start = len(text) - len(text.lstrip(" \t"))
            value, end, wrong = decoder.row(text, start)
            rest = text[end:].lstrip()
            if rest:
                raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))
        except UnicodeDecodeError as error:
            if data[:2] in _UTF_16 or data[:2] == _GZIP:
                # No line of the file is one: this says it once.
                rows.faults = [_encoding_fault(data, error, line=1)]
                break
            rows.faults.append(_encoding_fault(line, error, line=number))
        except json.JSONDecodeError as error:
            what, at = _json_fault(error, "line"), Position(number, error.pos + 1)
            if line.strip() in (b"{", b"["):
                # JSON over several lines: each of them would be a fault of its own.
                rows.faults.append(Fault(what, at, _ONE_LINE))
                break
            rows.faults.append(Fault(what, at))
        except RecursionError:
            message = f"nested more than {MAX_DEPTH} levels deep"
            rows.faults.append(Fault(message, at))
        else:
            _take(rows, value, at, wrong)
    if not rows.rows and not rows.faults:
        rows.shapeless = "it is empty"
    return _judge_shape(rows)


# -- YAML ------------------------------------------------------------------------------


def _read_yaml(data: bytes, name: str) -> Rows:
    rows = Rows()
    located, problems = read_yaml(data, file=name)
    for problem in problems:
        if problem.level == "error":
            rows.faults.append(Fault(problem.message, problem.position, problem.hint))
    if located is None or rows.faults:
        return rows
    prefix: tuple[str | int, ...] = ()
    items = located.data
    if isinstance(items, dict):
        key = next((k for k in LIST_KEYS if isinstance(items.get(k), list)), None)
        if key is None:
            keys = ", ".join(f"`{each}`" for each in LIST_KEYS)
            rows.shapeless = f"it is a mapping with no list of rows under {keys}"
            return rows
        items, prefix = items[key], (key,)
    if not isinstance(items, list):
        rows.shapeless = "it is empty" if items is None else "it is not a list of rows"
        return rows
    for index, value in enumerate(items):
        _take(rows, value, located.position((*prefix, index)), None)
    return _judge_shape(rows)


# -- CSV -------------------------------------------------------------------------------


def _read_csv(text: str) -> Rows:
    """Read comma-separated rows under a header; an empty cell is no value at all.

    A dotted column (`input.ticket`, `case.path`) is a place inside the row.
    """
    rows = Rows(cells=True)
    limit = csv.field_size_limit(max(len(text), 1))
    try:
        # newline="" keeps CR and CRLF inside quotes as they are.
        reader = csv.reader(StringIO(text, newline=""), strict=True)
        header = next(reader, None)
        if not header or not any(cell.strip() for cell in header):
            rows.shapeless = "it is empty" if not text.strip() else "it has no header"
            return rows
        header = [cell.strip() for cell in header]
        rows.faults += _header_faults(header)
        if rows.faults:
            return rows
        line = reader.line_num + 1
        for cells in reader:
            at = Position(line)
            line = reader.line_num + 1
            if not any(cells):
                continue
            if len(cells) != len(header):
                cell = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                message = f"{cell} under a header of {len(header)}"
                rows.faults.append(Fault(message, at))
                continue
            data: dict[str, Any] = {}
            wrong = None
            for column, cell in zip(header, cells, strict=True):
                if cell and not _put(data, column.split("."), cell):
                    wrong = f"the column {quoted(column)} is a value and a group both"
            _take(rows, data, at, wrong)
    except csv.Error as error:
        at = Position(max(reader.line_num, 1))
        rows.faults.append(Fault(f"not CSV: {error}", at))
    finally:
        csv.field_size_limit(limit)
    if not rows.rows and not rows.faults:
        rows.shapeless = "it has a header and no rows"
    return rows


def _header_faults(header: list[str]) -> Iterator[Fault]:
    seen: set[str] = set()
    for cell in header:
        if not cell:
            yield Fault(
                "a column of the header has no name", hint="name it, or take it out"
            )
        elif cell in seen:
            yield Fault(
                f"the header names the column {quoted(cell)} twice",
                hint="give one of the two another name",
            )
        seen.add(cell)
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        yield Fault(
            "the cells are not separated by commas",
            hint="save the table as comma-separated values",
        )


def _put(data: dict[str, Any], path: list[str], value: Any) -> bool:
    """Put a value at a path of nested objects; False where a value is in the way."""
    for step in path[:-1]:
        below = data.setdefault(step, {})
        if not isinstance(below, dict):
            return False
        data = below
    if path[-1] in data:
        return False
    data[path[-1]] = value
    return True


# -- rows ------------------------------------------------------------------------------


def _take(rows: Rows, value: Any, at: Position, wrong: str | None) -> None:
    if wrong is None and not isinstance(value, dict):
        wrong = _NOT_A_ROW
    if wrong is None:
        rows.rows.append(Row(value, at))
    else:
        rows.faults.append(Fault(wrong, at))


_NOT_A_ROW: Final = "a row is an object of fields and values"


def _judge_shape(rows: Rows) -> Rows:
    """Say that a file holds no rows at all rather than that each one is wrong."""
    if not rows.rows and not rows.faults and rows.shapeless is None:
        rows.shapeless = "it has no rows"
    if not rows.rows and rows.faults:
        if all(fault.message == _NOT_A_ROW for fault in rows.faults):
            return Rows(shapeless="its rows are not objects of fields and values")
    return rows
