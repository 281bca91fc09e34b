"""`sample`: choose a few of many recorded traces, and say why each was chosen."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any, Final

from ..canonical import content_key, dump_line
from ..case import Case
from ..folder import SuiteFolder, read_run_record
from ..journal import UNITS
from ..observing.sampling import (
    OUTLIER,
    Candidate,
    Chosen,
    Measures,
    failed_calls,
    measures_of,
    sampler,
)
from ..observing.standings import Standings
from ..observing.strata import FIELDS, Stratum, stratum_of
from ..plain_lines import trace_line
from ..record import field, record, replace
from ..redact import Redactor
from ..refusal import Refusal
from ..safe_text import printable
from ..targets.recorded import CaseIndex, TraceFiles, index_cases, match_case
from ..trace import Trace
from ..unitf import MAX_NAMED_FAULTS, ReadCount
from .trace_input import say_what_was_skipped, trace_files, traces_of
from .unitf_file import open_unitf

_BALANCED: Final = ("random", "outlier", "stratified")
_CHANGED: Final = "the traces changed while they were read: nothing was written"


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Choose, say why, and write; the exit code is 0, or 2 where nothing is chosen."""
    if args.strategy == "uncertainty" and not args.run:
        raise Refusal(
            "--strategy uncertainty reads what a run could not decide: give --run RUN"
        )
    if bool(args.by) != (args.strategy == "stratified"):
        raise Refusal(
            "--strategy stratified needs --by FIELD, and no other takes it; FIELD is "
            f"{', '.join(FIELDS)}, a dimension of the cases or a name in the traces' "
            "metadata"
        )
    if args.balance and not args.run:
        raise Refusal("--balance goes by what a run decided: give --run RUN")
    files = trace_files("sample", args.files, args, folder)
    if args.run:
        folder = folder.of_run(read_run_record(folder.run_folder(args.run)) or {})
    with ExitStack() as stack:
        out = None
        if args.out:
            out = open_unitf(args.out, files, stack, option="--out")
        seen = _Seen()
        chosen = _choose(args, folder, files, seen, stack)
        say_what_was_skipped(seen.read, *seen.complaints())
        if not chosen:
            raise Refusal(_why_nothing(args, seen))
        drawn = _Drawn(stack, {one.key: one for one in chosen})
        for key, trace, line in _lines(files, ReadCount(), _Seen()):
            drawn.look_at(key, trace, line)
        drawn.write(chosen, out)
    _show(args, chosen, drawn, seen)
    return 0


# -- the first pass: who is chosen -----------------------------------------------------


@record(frozen=False)
class _Seen:
    """What the traces came to. `unwritable` could not be a line, so not be chosen."""

    read: ReadCount = field(default_factory=ReadCount)
    unwritable: list[str] = field(default_factory=list)
    unwritable_count: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    without_stratum: int = 0
    damaged_units: int = 0

    def complaints(self) -> list[str]:
        lines = []
        if self.unwritable_count:
            named = ", ".join(self.unwritable)
            lines.append(
                f"{self.unwritable_count} traces can't be written and were left out: "
                f"{named}"
            )
        if self.damaged_units:
            lines.append(f"{self.damaged_units} lines of {UNITS} could not be read")
        return lines


def _choose(
    args: Namespace,
    folder: SuiteFolder,
    files: TraceFiles,
    seen: _Seen,
    stack: ExitStack,
) -> list[Chosen]:
    standings: Standings | None = None
    if args.run:
        standings = stack.enter_context(Standings(folder.load_suite().criteria))
        try:
            standings.read(folder.run_folder(args.run) / UNITS)
        except OSError as error:
            raise Refusal(
                f"the run {args.run} has no {UNITS} that can be read: {error.strerror}"
            ) from error
        seen.damaged_units = standings.damaged
    balance = args.balance
    if balance is None:
        balance = standings is not None and args.strategy in _BALANCED
    measures = Measures()
    choice = sampler(
        args.strategy,
        number=args.n,
        seed=args.seed,
        measures=measures,
        balance=balance,
    )
    stratum = stratum_of(args.by) if args.by else None
    index = _index(folder, stratum)
    for key, trace, _ in _lines(files, seen.read, seen):
        candidate = _candidate(key, trace, standings)
        if stratum is not None:
            case = match_case(trace, index)
            name = stratum(case, trace, candidate)
            seen.without_stratum += name is None
            candidate = replace(candidate, stratum=name)
        if standings is not None:
            outcome = candidate.outcome
            seen.outcomes[outcome] = seen.outcomes.get(outcome, 0) + 1
        measures.add(candidate.measures)
        choice.add(candidate)
    return choice.take(args.n)


def _index(folder: SuiteFolder, stratum: Stratum | None) -> CaseIndex:
    cases: Iterator[Case] = iter(())
    if stratum is not None and folder.dataset.is_file():
        cases = folder.cases()
    return index_cases(cases)


def _candidate(key: bytes, trace: Trace, standings: Standings | None) -> Candidate:
    return Candidate(
        key=key,
        measures=measures_of(trace),
        error=trace.status == "error",
        failed_calls=failed_calls(trace),
        standing=None if standings is None else standings.of(trace.id),
    )


def _lines(
    files: TraceFiles, count: ReadCount, seen: _Seen
) -> Iterator[tuple[bytes, Trace, str]]:
    """Yield each trace with the hash of its content and its line."""
    for trace in traces_of(files, count):
        try:
            line = trace_line(trace)
        except (TypeError, ValueError, RecursionError):
            seen.unwritable_count += 1
            if len(seen.unwritable) < MAX_NAMED_FAULTS:
                seen.unwritable.append(trace.id)
            continue
        yield bytes.fromhex(content_key(line)), trace, line


# -- the second pass: what they are ----------------------------------------------------


class _Drawn:
    """The lines of the chosen traces, in a file until they are put in order."""

    def __init__(self, stack: ExitStack, chosen: Mapping[bytes, Chosen]) -> None:
        from tempfile import TemporaryFile

        self._chosen = chosen
        self._redactor = Redactor(os.environ)
        self._file: IO[bytes] = stack.enter_context(TemporaryFile())
        self._places: dict[bytes, tuple[int, int]] = {}
        self.ids: dict[bytes, str] = {}

    def look_at(self, key: bytes, trace: Trace, line: str) -> None:
        """Keep the line of a chosen trace, once."""
        if key not in self._chosen or key in self._places:
            return
        data = self._redactor.clean(line).encode("utf-8", "backslashreplace") + b"\n"
        self._places[key] = (self._file.tell(), len(data))
        self._file.write(data)
        self.ids[key] = trace.id

    def write(self, chosen: list[Chosen], out: IO[bytes] | None) -> None:
        """Write the lines in the order of the draw. Raises Refusal if one is gone."""
        if len(self._places) != len(chosen):
            raise Refusal(_CHANGED)
        if out is None:
            return
        for one in chosen:
            start, size = self._places[one.key]
            self._file.seek(start)
            while size > 0 and (piece := self._file.read(min(size, 1 << 20))):
                out.write(piece)
                size -= len(piece)


# -- what is said ----------------------------------------------------------------------


def _why_nothing(args: Namespace, seen: _Seen) -> str:
    if not seen.read.traces:
        return "there is no trace to choose from"
    if args.strategy == "stratified" and seen.without_stratum == seen.read.traces:
        return (
            f"--by {args.by}: no trace has it; FIELD is {', '.join(FIELDS)}, a "
            "dimension of the cases or a name in the traces' metadata"
        )
    told = {
        "failure": "none of them fails",
        "uncertainty": "of none of them was anything left undecided or doubted",
        "outlier": "none of them differs from the others in any measure",
    }
    why = told.get(args.strategy, "none of them can be written")
    return f"{seen.read.traces} traces were read, and {why}: nothing is chosen"


def _show(args: Namespace, chosen: list[Chosen], drawn: _Drawn, seen: _Seen) -> None:
    for one in chosen:
        trace_id = drawn.ids[one.key]
        if args.json:
            told: dict[str, Any] = {
                "record": "chosen",
                "traceId": trace_id,
                "why": one.why,
            }
            if one.score is not None:
                told["score"] = round(one.score, 6)
            print(dump_line(told))
        else:
            print(f"{printable(trace_id, 60)}: {printable(one.why, 200)}")
    far = [one for one in chosen if one.score is not None and one.score >= OUTLIER]
    if args.json:
        total = {
            "record": "sum",
            "strategy": args.strategy,
            "by": args.by,
            "seed": args.seed,
            "n": args.n,
            "chosen": len(chosen),
            "traces": seen.read.traces,
            "outliers": len(far) if args.strategy == "outlier" else None,
            "outcomes": seen.outcomes or None,
            "withoutStratum": seen.without_stratum if args.by else None,
            "formats": seen.read.formats,
            "skipped": seen.read.skipped,
            "unwritable": seen.unwritable_count,
        }
        print(json.dumps({k: v for k, v in total.items() if v is not None}))
        return
    how = args.strategy + (f" by {args.by}" if args.by else "")
    lines = [
        f"{len(chosen)} of {seen.read.traces:,} traces{seen.read.told_formats()}: "
        f"{how}, seed {args.seed}"
    ]
    if args.strategy == "outlier":
        lines.append(f"{len(far)} of them are outliers (score {OUTLIER} and more)")
    if seen.outcomes:
        told_of = {"fail": "fail", "pass": "pass", "open": "are undecided"}
        counts = [f"{seen.outcomes.get(k, 0):,} {v}" for k, v in told_of.items()]
        lines.append("of all traces, " + ", ".join(counts))
    if args.by and seen.without_stratum:
        lines.append(f"{seen.without_stratum:,} traces have no {args.by}")
    if args.out:
        lines.append(f"written as UniTF: {args.out}")
    for line in lines:
        print(printable(line), file=sys.stderr)
