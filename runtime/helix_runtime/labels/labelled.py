"""The runs that labels are on, looked up where a suite has runs.

They are in the files of traces that `evals.toml` (or the command line) names, and in
the folders of `runs/`. A label names its run by the trace's id alone, and a case that
was run again has the same id in each run: all of them are found.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..canonical import canonical, content_key
from ..case import Case
from ..folder import SuiteFolder
from ..journal import TRACES
from ..judges.examples import text_of
from ..record import record
from ..refusal import Refusal
from ..targets.recorded import (
    NO_PROMPT,
    CaseIndex,
    RecordedCount,
    TraceFiles,
    index_cases,
    match_case,
    normal,
    read_recorded,
)
from ..targets.turns import said_in
from ..trace import Trace
from ..unitf import trace_from_record


@record(kw_only=True)
class LabelledRun:
    """A run that is at hand, its case, and the file that it stands in."""

    case: Case
    trace: Trace
    file: Path


def find_runs(
    wanted: Collection[str],
    *,
    files: TraceFiles,
    runs: Iterable[Path],
    index: CaseIndex,
) -> Iterator[LabelledRun]:
    """Yield the runs whose trace ids are wanted, in `files` and in the folders `runs`.

    One id may be met more than once. Raises Refusal where a file can't be read.
    """
    for path in files:
        one = TraceFiles.of([path], format=files.format, mapping=files.mapping)
        for case, trace in read_recorded(one, index, RecordedCount()):
            if trace.id in wanted:
                yield LabelledRun(case=case, trace=trace, file=path)
    for folder in runs:
        path = folder / TRACES
        for trace in _journaled(path, wanted):
            yield LabelledRun(case=match_case(trace, index), trace=trace, file=path)


def distinct_runs(
    wanted: Collection[str],
    *,
    files: TraceFiles,
    runs: Iterable[Path],
    index: CaseIndex,
) -> dict[str, list[LabelledRun]]:
    """Return the runs by their trace id: several of one id only where they differ."""
    found: dict[str, list[LabelledRun]] = {}
    texts: set[tuple[str, str]] = set()
    for run in find_runs(wanted, files=files, runs=runs, index=index):
        said = (run.trace.id, content_key(text_of(run.case, run.trace)))
        if said not in texts:
            texts.add(said)
            found.setdefault(run.trace.id, []).append(run)
    return found


def cases_of(folder: SuiteFolder) -> CaseIndex:
    """Return the index of the suite's cases; an empty one where it has no dataset."""
    try:
        return index_cases(folder.cases())
    except FileNotFoundError:
        return index_cases(())


# A journal's line begins with the id: the others need not be read as JSON.
_START: Final = re.compile(rb'\{"unitf_version":"0\.1","traceId":("(?:[^"\\]|\\.)*")')


def _journaled(path: Path, wanted: Collection[str]) -> Iterator[Trace]:
    try:
        with path.open("rb") as lines:
            for line in lines:
                start = _START.match(line)
                try:
                    if start is not None and json.loads(start[1]) in wanted:
                        yield trace_from_record(json.loads(line))
                except (ValueError, RecursionError):
                    continue  # a torn last line
    except FileNotFoundError:
        return
    except OSError as error:
        raise Refusal(
            f"the traces {path} can't be read: {error.strerror or error}"
        ) from error


def ids_at_hand(
    wanted: Collection[str], *, files: TraceFiles, runs: Iterable[Path]
) -> set[str]:
    """Return the trace ids of all runs in `files` and in the folders `runs`.

    It stops as soon as all that are wanted were met. Raises Refusal where a file can't
    be read.
    """
    found: set[str] = set()
    missing = set(wanted)
    for name in _ids(files, runs):
        found.add(name)
        missing.discard(name)
        if not missing:
            break
    return found


def _ids(files: TraceFiles, runs: Iterable[Path]) -> Iterator[str]:
    for folder in runs:
        try:
            with (folder / TRACES).open("rb") as lines:
                for line in lines:
                    start = _START.match(line)
                    if start is not None:
                        yield json.loads(start[1])
        except OSError as error:
            raise Refusal(
                f"the traces {folder / TRACES} can't be read: {error.strerror or error}"
            ) from error
    index = index_cases(())
    for path in files:
        one = TraceFiles.of([path], format=files.format, mapping=files.mapping)
        for _, trace in read_recorded(one, index, RecordedCount()):
            yield trace.id


def runs_of(folder: SuiteFolder) -> list[Path]:
    """Return the folders of the suite's runs, by name."""
    if not folder.runs.is_dir():
        return []
    return sorted(path for path in folder.runs.iterdir() if (path / TRACES).is_file())


def case_content(case: Case) -> str | None:
    """Return what is the same of copies of a case, None where nothing tells it apart.

    All that its user says and its input, whatever their white space and case.
    """
    if case.query == NO_PROMPT or case.placeholder:
        return None
    try:
        given = "" if case.input is None else canonical(case.input)
    except (TypeError, ValueError, RecursionError):
        return None
    return content_key(normal(*said_in(case)).casefold(), given)


def copies_among(
    found: Iterable[LabelledRun], cases: Iterable[Case]
) -> list[Sequence[str]]:
    """Return groups of ids, of traces and cases, that are copies of one case.

    `cases` are those of the dataset that are of interest.
    """
    groups: dict[str, dict[str, None]] = {}
    for run in found:
        own = groups.setdefault(f"case {run.case.id}", {run.case.id: None})
        own[run.trace.id] = None
        content = case_content(run.case)
        if content is not None:
            groups.setdefault(f"content {content}", {})[run.trace.id] = None
    for case in cases:
        content = case_content(case)
        if content is not None:
            groups.setdefault(f"content {content}", {})[case.id] = None
    return [list(group) for group in groups.values() if len(group) > 1]
