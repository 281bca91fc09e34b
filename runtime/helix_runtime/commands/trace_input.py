"""The recorded traces that a command reads: files, or those of a run."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from ..folder import SuiteFolder
from ..formats import read_file
from ..journal import TRACES
from ..refusal import Refusal
from ..report.words import plural
from ..safe_text import printable
from ..targets.recorded import TraceFiles
from ..trace import Trace
from ..unitf import ReadCount


def trace_files(
    command: str, files: list[str], args: Namespace, folder: SuiteFolder
) -> TraceFiles:
    """Return the files, or those of `--run`. Raises Refusal for both, or for neither."""
    if bool(files) == bool(args.run):
        raise Refusal(
            f"{command} needs recorded traces: give files, or --run RUN to take those "
            "of a run"
        )
    if args.run:
        path = folder.run_folder(args.run) / TRACES
        if not path.is_file():
            raise Refusal(f"the run {args.run} holds no {TRACES}")
        return TraceFiles.of([path], format="unitf")
    paths = [Path(name) for name in files]
    missing = [f"there is no trace file {path}" for path in paths if not path.is_file()]
    if missing:
        raise Refusal(*missing)
    settings = folder.settings()
    return TraceFiles.of(
        paths,
        format=args.format or settings.trace_format,
        mapping=settings.trace_map,
    )


def traces_of(files: TraceFiles, count: ReadCount) -> Iterator[Trace]:
    """Yield the traces of the files, one at a time. Raises Refusal for a bad file."""
    for path in files:
        try:
            yield from read_file(
                path, format=files.format, mapping=files.mapping, count=count
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise Refusal(f"the traces {path} can't be read: {reason}") from error


def say_what_was_skipped(read: ReadCount, *more: str) -> None:
    """Print to stderr what could not be read, and `more`."""
    lines = []
    if read.skipped:
        lines.append(
            f"{plural(read.skipped, 'line or record', 'lines or records')} "
            "could not be read:"
        )
        lines += [f"  {fault}" for fault in read.faults]
        if read.skipped > len(read.faults):
            lines.append(f"  and {read.skipped - len(read.faults)} more")
    if read.left_out:
        kinds = ", ".join(f"{n} {kind}" for kind, n in read.left_out.items())
        lines.append(f"left out, as no part of a run: {kinds}")
    for line in (*lines, *more):
        print(printable(line), file=sys.stderr)
