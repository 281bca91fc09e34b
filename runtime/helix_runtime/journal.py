"""The journal of a run: what was recorded and decided, so that nothing is done twice.

`traces.jsonl` holds the traces (UniTF), `units.jsonl` the decided units, one line
each, appended in batches that are flushed together; a trace is written before its
units. A kill at any moment costs at most what was in flight: a torn last line is cut
when the journal is opened again.

A unit is found by its key, a content hash: what was edited since has another key and
is decided again. An error is no verdict (an outage, an answer that could not be read):
it is tried again too. Lines that the run in hand no longer stands on (an edited judge, a
case that is gone) move to `superseded.jsonl` when the run is finished, so that
`units.jsonl` is exactly what the scorecard counts. What they used was spent all the same.

Opening reads only the start of each line: a million units and their traces take about
two seconds and some 300 MB, their texts stay on disk.
"""

from __future__ import annotations

import json
import os
from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Final
from zlib import crc32

from .canonical import content_key, dump_line
from .criterion import Criterion
from .plain_lines import read_trace, unit_line
from .trace import Trace
from .unit import Judging, NoJudge, Unit, unit_from_record

UNITS: Final = "units.jsonl"
TRACES: Final = "traces.jsonl"
SUPERSEDED: Final = "superseded.jsonl"

# How the line of a trace begins.
_TRACE: Final = b'{"unitf_version":"0.1","traceId":"'
# What a unit in error holds; a trace, or a part of a unit, may hold it as well.
_ERROR: Final = b',"result":"error"'

_BLOCK: Final = 1 << 16
_MAX_BLOCKS: Final = 8


class Journal:
    """The two files of a run's folder, open for appending.

    `damaged` counts lines that can't be read, or whose unit is not as it was written:
    those units are decided again.
    """

    def __init__(self, folder: Path) -> None:
        self._units = _JournalFile(folder / UNITS, start=b'{"key":"', name="key")
        self._traces = _JournalFile(
            folder / TRACES,
            start=_TRACE,
            name="traceId",
        )
        self._superseded = folder / SUPERSEDED
        self.cut: Final = self._units.cut + self._traces.cut

    @property
    def damaged(self) -> int:
        """How many lines could not be read."""
        return self._units.damaged + self._traces.damaged

    def holds(self, key: str) -> bool:
        """Whether a unit of that key was decided earlier; safe from any thread."""
        index = self._units.index
        return bool(index) and key.encode() in index

    def take_unit(self, key: str) -> Unit | None:
        """Return the unit of that key and count it as used, or None."""
        if not self._units.index:
            return None
        line = self._units.take(key.encode())
        if line is None:
            return None
        try:
            unit = read_unit(line)
            if unit.key == key:
                return unit
        except (ValueError, RecursionError):
            pass
        self.spoil_unit(key)
        return None

    def spoil_unit(self, key: str) -> None:
        """Count a unit that was taken as one that can't be believed."""
        self._units.spoil(key.encode())

    def take_trace(self, trace_id: str) -> Trace | None:
        """Return the trace of that id and count it as used, or None."""
        if not self._traces.index:
            return None
        line = self._traces.take(_raw_id(trace_id))
        if line is None:
            return None
        try:
            return read_trace(line)
        except (ValueError, RecursionError):
            self._traces.spoil(_raw_id(trace_id))
            return None

    def drop_trace(self, trace_id: str) -> None:
        """Count a trace that was taken as superseded: the subject runs again."""
        self._traces.drop(_raw_id(trace_id))

    def holds_trace_line(self, trace_id: str, line: str) -> bool:
        """Whether exactly this line is there; another one of its id is superseded."""
        if not self._traces.index:
            return False
        key = _raw_id(trace_id)
        held = self._traces.take(key)
        if held is None:
            return False
        if held.rstrip(b"\n") == line.encode():
            return True
        self._traces.drop(key)
        return False

    def append(self, traces: Iterable[str], units: Iterable[str]) -> None:
        """Write lines, the traces first, and flush them. Raises OSError."""
        self._traces.append(traces)
        self._units.append(units)

    def append_unit(self, line: str) -> None:
        """Write the line of one unit at once; from any thread. Raises OSError."""
        self._units.append((line,))

    @property
    def errors(self) -> int:
        """How many units in error were there, which are to be judged again."""
        return len(self._units.errors)

    def spent_before(self) -> Iterator[Unit | Trace]:
        """Yield what was paid for and no longer stands as the journal is opened.

        Those are units in error, and what an earlier finish moved out of the way.
        """
        for offset in self._units.errors:
            try:
                yield read_unit(self._units.line_at(offset))
            except (ValueError, RecursionError):
                continue
        yield from spent_in(self._superseded)

    def finish(self) -> int:
        """Move what the run did not use out of the way; return how many lines."""
        return self._units.compact(self._superseded) + self._traces.compact(
            self._superseded
        )

    def spent_since(self, size: int) -> Iterator[Unit | Trace]:
        """Yield what finishing moved behind the first `size` bytes, without the errors."""
        for one in spent_in(self._superseded, start=size):
            if not (isinstance(one, Unit) and one.verdict.result == "error"):
                yield one

    @property
    def moved(self) -> int:
        """The size in bytes of what was moved out of the way."""
        try:
            return self._superseded.stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Close the files."""
        self._units.close()
        self._traces.close()


def unit_key(marks: str, parts: bytes) -> str:
    """Return the key of a unit, 18 characters.

    It begins with the two `marks`, of the case's wording and of what measures it (see
    `marks_of`); behind them stand 8 characters for all `parts`, which is what
    `canonical.key_bytes` returned.

    BLAKE2b, 48 bit, Base64: short, as it stands in each line. The ids beside it tell
    units of other cases, runs and criteria apart, so it tells only whether one unit
    was decided on the same grounds.
    """
    whole = blake2b(parts, digest_size=6).digest()
    return marks + b2a_base64(whole, newline=False).decode()


MARK: Final = 5
"""Characters of a mark, 20 bit: whether one case, or criterion, is the same as before."""


def case_mark(digest: str) -> str:
    """Return the mark of a case's wording, by the content hash of its row."""
    return digest[:MARK]


def yardsticks(
    criteria: Sequence[Criterion],
    deciders: Sequence[tuple[str, ...]],
    judging: Judging,
) -> list[str]:
    """Return the mark of what measures each criterion: its check, its judge's words.

    `deciders` are their `decider_parts`. Who judges is no part of it: the pin stands on
    the scorecard. Where somebody does, how they are asked is.
    """
    marks = []
    for criterion, parts in zip(criteria, deciders, strict=True):
        if criterion.judge is not None:
            parts = parts[:-1]
            if not isinstance(judging, NoJudge):
                from .judges.prompt import PROMPT_DIGEST

                parts += (PROMPT_DIGEST,)
        marks.append(content_key(criterion.id, *parts)[:MARK])
    return marks


def marks_of(key: str) -> tuple[str, str] | None:
    """Return the marks of the case and of the yardstick that a unit's key begins with.

    None where it is the key of an earlier runtime, which has none.
    """
    if len(key) != 2 * MARK + 8:
        return None
    return key[:MARK], key[MARK : 2 * MARK]


def seal(line: str) -> str:
    """Return a unit's line with a checksum at its end: 17 bytes.

    It finds what was edited by hand, or flipped on a disk; who wants to forge a result
    can compute it too.
    """
    return f'{line[:-1]},"sum":"{_sum(line.encode())}"}}'


def read_unit(line: bytes) -> Unit:
    """Return the unit of a line, if it stands there as it was written.

    Raises ValueError where it is none or was edited since, and RecursionError.
    """
    record = json.loads(line)
    unit = unit_from_record(record)
    try:
        if is_sealed(line) or _agrees(record, unit):
            return unit
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not a unit record: {error}") from error
    raise ValueError("it was edited since it was written")


def spent_in(superseded: Path, *, start: int = 0) -> Iterator[Unit | Trace]:
    """Yield what a file of superseded lines holds that can still be believed."""
    try:
        lines = superseded.open("rb")
    except FileNotFoundError:
        return
    with lines:
        lines.seek(start)
        for line in lines:
            try:
                if line.startswith(_TRACE):
                    yield read_trace(line)
                else:
                    yield read_unit(line)
            except (ValueError, RecursionError):
                continue


def lines_before(run: Mapping[str, Any]) -> int:
    """Return how many bytes of a run's units are of before an edit, by its `run.json`.

    What decides was another thing then: those lines may not stand any more. A finished
    run has none.
    """
    size = run.get("decidedBefore")
    if run.get("finished") is not False or size.__class__ is not int:
        return 0
    return max(int(size), 0)


def _sum(line: bytes) -> str:
    return f"{crc32(line):08x}"


_SEAL: Final = len(',"sum":"01234567"}')


def is_sealed(line: bytes) -> bool:
    """Whether a line is to the letter as `seal` returned it."""
    line = line.rstrip(b"\n")
    bare = line[:-_SEAL] + b"}"
    return line[-_SEAL:] == f',"sum":"{_sum(bare)}"}}'.encode()


def _agrees(record: Any, unit: Unit) -> bool:
    """Whether a line that was spelled anew (keys in another order) still holds it."""
    return bool(record.get("sum") == _sum(unit_line(unit).encode()))


class _JournalFile:
    """One file of lines: an index of what it held when it was opened, and its end."""

    def __init__(self, path: Path, *, start: bytes, name: str) -> None:
        self._path = path
        self._dead: set[int] = set()
        self.errors: list[int] = []
        self._taken: dict[bytes, int] = {}
        self._blocks: dict[int, bytes] = {}
        self.damaged = 0
        self.cut = 0
        self.index: dict[bytes, int] = {}
        # A write moves the place that is read from: one at a time.
        self._lock = Lock()
        self._file = path.open("a+b", buffering=0)
        self._cut_torn_line()
        self._scan(start, name)

    def _cut_torn_line(self) -> None:
        """Cut what follows the last line feed: a kill tore it, it is not whole."""
        size = end = self._file.seek(0, os.SEEK_END)
        while end:
            begin = max(end - (1 << 16), 0)
            self._file.seek(begin)
            found = self._file.read(end - begin).rfind(b"\n")
            end = begin
            if found >= 0:
                end += found + 1
                break
        if end < size:
            self._file.truncate(end)
            self.cut = 1

    def _scan(self, start: bytes, name: str) -> None:
        """Index the lines by their keys, which stand at the `start` of what we write.

        A few operations a line: a million lines are to be there in a second or two.
        """
        offset = 0
        index, dead = self.index, self._dead
        first = len(start)
        key: bytes | None
        with self._path.open("rb", buffering=1 << 20) as lines:
            for line in lines:
                if line.startswith(start):
                    key = line[first : line.find(b'"', first)]
                    if b"\\" in key:
                        key = _read_key(line, name)
                else:
                    key = _read_key(line, name)
                if key is None:
                    self.damaged += 1
                    dead.add(offset)
                elif _ERROR in line and _is_error(line):
                    dead.add(offset)
                    self.errors.append(offset)
                else:
                    earlier = index.setdefault(key, offset)
                    if earlier != offset:
                        dead.add(earlier)
                        index[key] = offset
                offset += len(line)

    def take(self, key: bytes) -> bytes | None:
        offset = self.index.pop(key, None)
        if offset is None:
            return None
        self._taken[key] = offset
        return self.line_at(offset)

    def line_at(self, offset: int) -> bytes:
        """Return a line that was there when the file was opened."""
        parts = []
        number, start = divmod(offset, _BLOCK)
        while True:
            block = self._block(number)
            end = block.find(b"\n", start)
            if end >= 0 or len(block) < _BLOCK:
                parts.append(block[start : end + 1 if end >= 0 else None])
                return b"".join(parts)
            parts.append(block[start:])
            number, start = number + 1, 0

    def _block(self, number: int) -> bytes:
        """Return a block of the file, from memory where it was read a moment ago.

        Lines are taken nearly in the order in which they were written.
        """
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) >= _MAX_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            with self._lock:
                self._file.seek(number * _BLOCK)
                block = self._blocks[number] = self._file.read(_BLOCK)
        return block

    def drop(self, key: bytes) -> None:
        offset = self._taken.get(key)
        if offset is not None:
            self._dead.add(offset)

    def spoil(self, key: bytes) -> None:
        """Count a line that was taken as one that can't be read."""
        self.damaged += 1
        self.drop(key)

    def append(self, lines: Iterable[str]) -> None:
        data = "\n".join(lines)
        if data:
            view = memoryview(data.encode() + b"\n")
            with self._lock:
                # An unbuffered write may be short where a disk is nearly full.
                while view:
                    view = view[self._file.write(view) :]

    def compact(self, superseded: Path) -> int:
        dead = self._dead.union(self.index.values())
        if not dead:
            return 0
        fresh = self._path.with_suffix(".tmp")
        offset = 0
        with (
            self._path.open("rb") as lines,
            fresh.open("wb") as kept,
            superseded.open("ab") as moved,
        ):
            for line in lines:
                (moved if offset in dead else kept).write(line)
                offset += len(line)
        self._file.close()
        os.replace(fresh, self._path)
        self._file = self._path.open("a+b", buffering=0)
        self.index.clear()
        self._blocks.clear()
        self._dead.clear()
        return len(dead)

    def close(self) -> None:
        self._file.close()


def _raw_id(trace_id: str) -> bytes:
    return dump_line(trace_id)[1:-1].encode()


def _is_error(line: bytes) -> bool:
    try:
        record = json.loads(line)
        return "criterionId" in record and record["result"] == "error"
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def _read_key(line: bytes, name: str) -> bytes | None:
    """Return the key of a line in whatever style, or None where it has none."""
    try:
        value = json.loads(line)[name]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return _raw_id(value) if isinstance(value, str) else None
