"""Gather the records of each trace from a file in which they are mixed.

Spans of many runs lie in one file as they ended. They are gathered in memory up to a
limit, beyond it in a temporary file: what stays in memory is 16 bytes for each record
and a key for each trace. Traces come out in the order of their first record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any, Final

from ..canonical import dump_line

IN_MEMORY: Final = 32 * 1024 * 1024


class Groups:
    """Records by key; use as a context, which removes the temporary file."""

    def __init__(self, *, in_memory: int | None = None) -> None:
        from array import array
        from tempfile import SpooledTemporaryFile

        self._array = array
        self._places: dict[str, Any] = {}
        self._file: IO[bytes] = SpooledTemporaryFile(
            max_size=IN_MEMORY if in_memory is None else in_memory
        )
        self._end = 0

    def __enter__(self) -> Groups:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, key: str, record: Any) -> None:
        """Keep a record of plain JSON data. Raises ValueError for what is none."""
        line = dump_line(record).encode("utf-8", "surrogatepass")
        places = self._places.get(key)
        if places is None:
            places = self._places[key] = self._array("Q")
        places.append(self._end)
        places.append(len(line))
        self._file.write(line)
        self._end += len(line)

    def each(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield each key with its records, in the order they were added."""
        for key, places in self._places.items():
            records = []
            for index in range(0, len(places), 2):
                self._file.seek(places[index])
                data = self._file.read(places[index + 1])
                records.append(json.loads(data.decode("utf-8", "surrogatepass")))
            yield key, records
