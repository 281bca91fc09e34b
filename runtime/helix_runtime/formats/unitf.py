"""UniTF, the reference: lines, or a document or list of its records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..trace import Trace
from ..unitf import ReadCount, read_traces, trace_from_record
from .source import is_lines, read_head, read_records


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
        yield from read_traces(path, count)
        return
    for value in read_records(path, count, lists=frozenset(("data", "traces"))):
        try:
            trace = trace_from_record(value.data)
        except ValueError as error:
            count.skip(value.place, str(error))
            continue
        count.traces += 1
        yield trace
