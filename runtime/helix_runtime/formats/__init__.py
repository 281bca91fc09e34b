"""Recorded traces in the formats that agents and platforms write, through one reader.

`read` is that reader: it finds out what each file is by its content (or is told), and
yields its traces one by one. A format is one module with `looks_like(record)` and
`read(path, count)`; this module knows their names and nothing of their insides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..refusal import Refusal as Refusal
from ..refusal import close_match
from ..unitf import doubted

if TYPE_CHECKING:
    from ..trace import Trace
    from ..unitf import ReadCount
    from .mapped import Mapped

FORMATS: Final = (
    "unitf",
    "langfuse",
    "otel",
    "openinference",
    "openai-chat",
    "claude-code",
    "inspect",
    "mapped",
)
AUTO: Final = "auto"


def read(
    paths: Sequence[Path],
    *,
    format: str | None = None,
    mapping: Mapped | None = None,
    count: ReadCount,
) -> Iterator[Trace]:
    """Yield the traces of the files in order, in flat memory.

    `format` is one of FORMATS, or None to find out file by file; `mapping` is what
    `mapped` reads by. What can't be read is counted and named in `count`, and so is the
    format of each file. Raises OSError where a file can't be read, Refusal for a format
    that there is not, for a file whose format can't be told, and for one that this
    Python can't unpack.
    """
    check(format, mapping)
    for path in paths:
        yield from read_file(path, format=format, mapping=mapping, count=count)


def read_file(
    path: Path,
    *,
    format: str | None = None,
    mapping: Mapped | None = None,
    count: ReadCount,
) -> Iterator[Trace]:
    """Yield the traces of one file; see `read`."""
    found = None if format == AUTO else format
    if found is None:
        found = _found(path, mapping)
    count.found(found)
    if found == "mapped":
        from . import mapped

        assert mapping is not None
        read = mapped.read(path, count, mapping)
    else:
        read = _reader(found).read(path, count)
    for trace in read:
        trace = doubted(trace)
        count.look_at(trace)
        yield trace


def _found(path: Path, mapping: Mapped | None) -> str:
    with path.open("rb") as file:
        if file.read(16) == b'{"unitf_version"':
            return "unitf"  # as this runtime writes it: nothing else is looked at
    from . import detect

    found = detect.format_of(path, mapped=mapping is not None)
    if found is None:
        raise Refusal(f"{path}: {detect.UNKNOWN}")
    return found


def check(format: str | None, mapping: Mapped | None) -> None:
    """Raise Refusal for a format that there is not, or `mapped` without a mapping."""
    if format is None or format == AUTO:
        return
    if format not in FORMATS:
        raise Refusal(
            f"--format {format}: there is no such format"
            f"{close_match(format, list(FORMATS))}; there are {', '.join(FORMATS)}"
        )
    if format == "mapped" and mapping is None:
        raise Refusal(
            "--format mapped needs a mapping: say in [trace_map] of evals.toml where "
            "`trace_id`, `prompt` and `output` stand in your records"
        )


def _reader(name: str) -> Any:
    # By hand and late: a run of UniTF alone imports none of the others.
    if name == "unitf":
        from . import unitf

        return unitf
    if name == "langfuse":
        from . import langfuse

        return langfuse
    if name in ("otel", "openinference"):
        from . import otel

        return otel
    if name == "openai-chat":
        from . import openai_chat

        return openai_chat
    if name == "claude-code":
        from . import claude_code

        return claude_code
    from . import inspect_log

    return inspect_log
