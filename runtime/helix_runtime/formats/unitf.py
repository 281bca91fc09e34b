"""UniTF, the reference: lines, or a document or list of its records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..strict_json import why_unreadable
from ..trace import Trace
from ..unitf import ReadCount, trace_from_record
from .source import Value, is_lines, read_head, read_lines, read_records


def looks_like(record: Any) -> bool:
    """Whether one record of a file is UniTF's."""
    if not isinstance(record, dict):
        return False
    if "unitf_version" in record:
        return True
    return isinstance(record.get("traceId"), str) and (
        isinstance(record.get("spans"), list) or "sourcePlatform" in record
    )


def read(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the traces of a UniTF file. Raises OSError."""
    head = read_head(path)
    if not head.strip() or is_lines(path, head):
        return read_traces(path, count)
    return _traces(
        read_records(path, count, lists=frozenset(("data", "traces"))), count
    )


def read_traces(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the traces of a `.jsonl` or `.jsonl.gz` file, in flat memory.

    Malformed lines, a torn last line and a damaged end of a gzip stream are skipped
    and counted in `count`, never hidden. Raises OSError where the file can't be read.
    """
    return _traces(read_lines(path, count), count)


def _traces(values: Iterable[Value], count: ReadCount) -> Iterator[Trace]:
    for value in values:
        try:
            trace = trace_from_record(value.data)
        except (ValueError, RecursionError) as error:
            count.skip(value.place, why_unreadable(error))
            continue
        count.traces += 1
        yield trace
