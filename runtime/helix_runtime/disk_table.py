"""A table of small values by 16-byte keys that does not grow in memory.

The first entries are kept in a dictionary; with more of them all move to a temporary
file, a hash table with open addressing that is read and written in place. So millions
of traces can be known again at the cost of one look into a file each.
"""

from __future__ import annotations

from contextlib import suppress
from typing import IO, Any, Final

IN_MEMORY: Final = 1 << 16
"""How many entries are kept in memory: some 15 MB."""
KEY: Final = 16
_PROBE: Final = 16
"""How many places are read at once; with half of them free, one look mostly does."""
_EMPTY: Final = bytes(KEY)


class DiskTable:
    """Values of `width` bytes by keys of 16; use as a context, which ends the file."""

    def __init__(self, width: int, *, in_memory: int | None = None) -> None:
        self._width = width
        self._limit = IN_MEMORY if in_memory is None else in_memory
        self._memory: dict[bytes, bytes] = {}
        self._file: _Places | None = None

    def __enter__(self) -> DiskTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        self._memory.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, or None. Raises OSError."""
        if self._file is None:
            return self._memory.get(key)
        return self._file.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Set the value of a key. Raises OSError where the disk is full."""
        if self._file is not None:
            self._file.put(key, value)
            return
        self._memory[key] = value
        if len(self._memory) > self._limit:
            self._file = _Places(self._width, 8 * self._limit)
            for known, held in self._memory.items():
                self._file.put(known, held)
            self._memory.clear()


class _Places:
    """The hash table in a file: `size` places, never more than half of them taken."""

    def __init__(self, width: int, size: int) -> None:
        self._width = width
        self._step = KEY + width
        self._size = 1 << max(4, (size - 1).bit_length())
        self._taken = 0
        self._file = self._fresh(self._size)

    def _fresh(self, size: int) -> IO[bytes]:
        from tempfile import TemporaryFile

        file: Any = TemporaryFile(buffering=0)
        # A file is zero where nothing was written, and takes no room there.
        file.truncate((size + _PROBE) * self._step)
        found: IO[bytes] = file
        return found

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    def get(self, key: bytes) -> bytes | None:
        _, value = self._find(_safe(key))
        return value

    def put(self, key: bytes, value: bytes) -> None:
        key = _safe(key)
        place, held = self._find(key)
        if held is None:
            if 2 * (self._taken + 1) > self._size:
                self._grow()
                place, _ = self._find(key)
            self._taken += 1
        elif held == value:
            return
        self._write(place, key + value)

    def _find(self, key: bytes) -> tuple[int, bytes | None]:
        """Return the place of a key and its value; None where the place is free."""
        step, size = self._step, self._size
        place = int.from_bytes(key[:8], "big") & (size - 1)
        while True:
            self._file.seek(place * step)
            block = self._read(_PROBE * step)
            for at in range(0, len(block), step):
                held = block[at : at + KEY]
                if held == key:
                    return place + at // step, block[at + KEY : at + step]
                if held == _EMPTY:
                    return place + at // step, None
            place += _PROBE
            if place >= size:
                # Behind the last place a few more follow; then it starts anew.
                place = 0

    def _read(self, number: int) -> bytes:
        # An unbuffered read may be short.
        parts = []
        while number > 0:
            part = self._file.read(number)
            if not part:
                break
            parts.append(part)
            number -= len(part)
        return b"".join(parts)

    def _write(self, place: int, data: bytes) -> None:
        self._file.seek(place * self._step)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def _grow(self) -> None:
        old, old_size, step = self._file, self._size, self._step
        self._size *= 4
        self._file = self._fresh(self._size)
        old.seek(0)
        left = (old_size + _PROBE) * step
        while left > 0:
            chunk = old.read(min(left, 256 * step))
            while len(chunk) % step and (more := old.read(step - len(chunk) % step)):
                chunk += more
            if not chunk:
                break
            left -= len(chunk)
            for at in range(0, len(chunk), step):
                key = chunk[at : at + KEY]
                if key != _EMPTY:
                    place, _ = self._find(key)
                    self._write(place, chunk[at : at + step])
        old.close()


def _safe(key: bytes) -> bytes:
    """Return a key that can't be taken for a free place."""
    return key if key != _EMPTY else b"\x01" + key[1:]
