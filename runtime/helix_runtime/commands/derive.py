"""`derive`: regression cases out of runs that failed, are in doubt or stand out."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..canonical import dump_line
from ..folder import SuiteFolder
from ..growing.derive import (
    GONE,
    KNOWN,
    WHYS,
    Candidate,
    Derived,
    Distiller,
    Reason,
    Why,
    add_label,
    derive,
    reasons_of_run,
)
from ..growing.growth import Dataset, growing, words_of
from ..growing.near_duplicates import THRESHOLD
from ..journal import TRACES, UNITS
from ..labels.file import Label, summarize
from ..labels.marks import digest_of_trace, other_run_line
from ..observing.sampling import OUTLIER, Measures, measures_of
from ..record import field, record
from ..redact import Redactor
from ..refusal import Refusal, close_match
from ..safe_text import printable
from ..targets.recorded import RecordedCount, TraceFiles, index_cases, read_recorded
from ..trace import Trace
from ..unitf import ReadCount
from .label_input import labels_of
from .new_cases import next_step
from .outcome import typed_path
from .trace_input import say_what_was_skipped, traces_of

MIN_FOR_OUTLIERS = 10
"""Of fewer traces none is called an outlier: there is nothing to stand out from."""
_SHOWN = 20
_WIDTH = 72


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Add the cases and say which; the exit code is 0."""
    whys = _whys(args.why)
    files = _files(args, folder)
    with growing(folder, dry=args.dry_run) as dataset:
        seen = _Seen()
        found = _find(args, folder, files, dataset, whys, seen)
        words = {i: words_of(c) for i, c in dataset.cases.items() if not c.placeholder}
        derived = derive(
            found,
            dataset,
            words,
            whys=whys,
            limit=args.n,
            threshold=args.similar or THRESHOLD,
        )
        if not args.dry_run and derived.added:
            dataset.change(added=[one.case for one in derived.added])
    say_what_was_skipped(seen.count.read, *seen.notes)
    if args.json:
        print(json.dumps(_record(args, derived, seen), ensure_ascii=False))
        return 0
    for line in _lines(args, folder, dataset, derived, seen):
        print(printable(line))
    return 0


@record(frozen=False)
class _Seen:
    """What reading came to; `left_out` maps a reason to the ids of its traces."""

    count: RecordedCount = field(default_factory=RecordedCount)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    chosen: int = 0


# -- what is asked for -----------------------------------------------------------------


def _whys(text: str | None) -> tuple[Why, ...]:
    if text is None:
        return WHYS
    words = [word.strip() for word in text.split(",") if word.strip()]
    faults = [
        f"--why {word!r} is none of {', '.join(WHYS)}{close_match(word, list(WHYS))}"
        for word in words
        if word not in WHYS
    ]
    if faults or not words:
        raise Refusal(*faults or [f"--why names none of {', '.join(WHYS)}"])
    found = dict.fromkeys(words)
    return tuple(why for word in found for why in WHYS if why == word)


def _files(args: Namespace, folder: SuiteFolder) -> list[TraceFiles]:
    if not args.files and not args.run:
        raise Refusal(
            "derive needs runs to learn from: give --run RUN, files of recorded "
            "traces, or both"
        )
    files: list[TraceFiles] = []
    if args.run:
        run = folder.run_folder(args.run)
        missing = [name for name in (TRACES, UNITS) if not (run / name).is_file()]
        if missing:
            raise Refusal(f"the run {args.run} holds no {' and no '.join(missing)}")
        files.append(TraceFiles.of([run / TRACES], format="unitf"))
    paths = [Path(name) for name in args.files]
    missing = [f"there is no trace file {path}" for path in paths if not path.is_file()]
    if missing:
        raise Refusal(*missing)
    if paths:
        settings = folder.settings()
        files.append(
            TraceFiles.of(
                paths,
                format=args.format or settings.trace_format,
                mapping=settings.trace_map,
            )
        )
    return files


def _reasons(
    args: Namespace, folder: SuiteFolder, seen: _Seen
) -> dict[str, list[Reason]]:
    """Return what a run's units say, by the ids of traces."""
    reasons: dict[str, list[Reason]] = {}
    if args.run:
        path = folder.run_folder(args.run) / UNITS
        try:
            reasons, damaged = reasons_of_run(path)
        except OSError as error:
            raise Refusal(f"{path}: can't be read: {error.strerror}") from error
        if damaged:
            seen.notes.append(f"{damaged} lines of {UNITS} could not be read")
    return reasons


# -- which runs ------------------------------------------------------------------------


def _find(
    args: Namespace,
    folder: SuiteFolder,
    files: Sequence[TraceFiles],
    dataset: Dataset,
    whys: Sequence[Why],
    seen: _Seen,
) -> list[Candidate]:
    """Return the rows that the chosen runs could become."""
    reasons = _reasons(args, folder, seen)
    labels: dict[str, list[Label]] = {}
    for label in summarize(labels_of(folder, args.labels)).current:
        labels.setdefault(label.trace_id, []).append(label)
    other_runs: dict[Label, None] = {}
    measures = _measures(files, seen) if "outlying" in whys else None
    distiller = Distiller(
        dataset, redactor=Redactor(os.environ), dimensions=args.dimensions
    )
    found = []
    for trace in _traces(files, seen.count):
        of_run = list(reasons.get(trace.id, ()))
        for label in labels.get(trace.id, ()):
            if label.trace_digest in (None, digest_of_trace(trace)):
                add_label(of_run, label)
            else:
                other_runs[label] = None
        said = [r for r in of_run if r.why in whys]
        if trace.status == "error" and "failed" in whys:
            said.append(Reason("failed", "the run ended in an error"))
        if measures is not None:
            outlying = measures.outlying(measures_of(trace))
            if outlying is not None and outlying.score >= OUTLIER:
                said.append(Reason("outlying", str(outlying)))
        if not said:
            continue
        seen.chosen += 1
        candidate = distiller.distil(trace, said)
        if isinstance(candidate, str):
            seen.left_out.setdefault(candidate, []).append(trace.id)
        else:
            found.append(candidate)
    if other_runs:
        seen.notes.append(other_run_line(tuple(other_runs)))
    return found


def _traces(files: Sequence[TraceFiles], count: RecordedCount) -> Iterator[Trace]:
    # Which case each is a run of is asked of the dataset with its retired rows.
    nothing = index_cases(())
    for some in files:
        for _, trace in read_recorded(some, nothing, count):
            yield trace


def _measures(files: Sequence[TraceFiles], seen: _Seen) -> Measures | None:
    """Return what is usual of the traces, None where they are too few to say."""
    measures = Measures()
    number = 0
    for some in files:
        for trace in traces_of(some, ReadCount()):
            measures.add(measures_of(trace))
            number += 1
    if number < MIN_FOR_OUTLIERS:
        return None
    return measures


# -- what is said ----------------------------------------------------------------------


def _record(args: Namespace, derived: Derived, seen: _Seen) -> dict[str, Any]:
    left_out = dict(seen.left_out)
    for reason, some in ((KNOWN, derived.known), (GONE, derived.gone)):
        if some:
            left_out.setdefault(reason, []).extend(one.trace_id for one in some)
    return {
        "traces": seen.count.read.traces,
        "chosen": seen.chosen,
        "written": len(derived.added) if not args.dry_run else 0,
        "added": [
            {
                "row": json.loads(dump_line(one.case.to_row())),
                "why": [str(reason) for reason in one.reasons],
                "edgeCase": one.edge,
            }
            for one in derived.added
        ],
        "nearDuplicates": [
            {
                "traceId": near.candidate.trace_id,
                "query": near.candidate.case.query,
                "of": near.of,
            }
            for near in derived.near
        ],
        "leftOut": left_out,
        "leftOver": [one.trace_id for one in derived.left_over],
    }


def _lines(
    args: Namespace,
    folder: SuiteFolder,
    dataset: Dataset,
    derived: Derived,
    seen: _Seen,
) -> Iterator[str]:
    read = seen.count.read
    new = len(derived.added)
    would = "would become" if args.dry_run else "became"
    cases = "a new case" if new == 1 else "new cases"
    yield (
        f"{_plural(read.traces, 'trace')}{read.told_formats()}, "
        f"{seen.chosen} of them chosen; {new} {would} {cases} of "
        f"{typed_path(dataset.path)}"
    )
    if not seen.chosen:
        yield (
            "none failed, is in doubt, was labelled or stands out"
            if args.why is None
            else f"none is {' or '.join(_whys(args.why))}"
        )
        if args.run is None:
            yield (
                f"for verdicts: python -m {folder.package} run --traces FILE, then "
                "derive --run RUN"
            )
    for one in derived.added[:_SHOWN]:
        edge = "edge case, " if one.edge else ""
        why = "; ".join(str(reason) for reason in one.reasons[:3])
        more = len(one.reasons) - 3
        why += f" and {more} more" if more > 0 else ""
        yield f"  + {one.case.id}  {_query(one)}"
        yield f"      {edge}{why}  (trace {one.trace_id})"
    if new > _SHOWN:
        yield f"  and {new - _SHOWN} more"
    if derived.near:
        yield f"not added, as near-duplicates: {len(derived.near)}"
        for near in derived.near[:_SHOWN]:
            yield f"  - {_query(near.candidate)}"
            yield f"      says what {near.of} says  (trace {near.candidate.trace_id})"
        if len(derived.near) > _SHOWN:
            yield f"  and {len(derived.near) - _SHOWN} more"
    left_out = _record(args, derived, seen)["leftOut"]
    for reason, ids in left_out.items():
        named = ", ".join(ids[:5]) + (" …" if len(ids) > 5 else "")
        yield f"left out, because {reason}: {len(ids)} ({named})"
    if derived.left_over:
        yield f"left for another time (--n {args.n}): {len(derived.left_over)}"
    if new and not args.dry_run:
        yield next_step(folder, [one.case.id for one in derived.added[:_SHOWN]])


def _query(candidate: Candidate) -> str:
    return printable(json.dumps(candidate.case.query, ensure_ascii=False), _WIDTH)


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
