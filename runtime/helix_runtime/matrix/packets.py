"""Path A, first half: packets (or tasks) for the judging agents of a host.

A folder of packets is complete in itself:
- `<key>.packet.json`, one a run: what code could not decide, as data, closed; or
  `<key>.task.json`, one a prompt, on the criterion axis;
- `index.json`: which run, case and criteria each of them stands for, its SHA-256, and
  where its verdict belongs; the SHA-256 of the two files below; and which verdicts
  that lie beside are of an earlier packet of their run, so that they don't count;
- `traces.jsonl` and `cases.jsonl`: every run, also those that code decided alone,
  and the rows of the dataset that they are runs of;
- what the host's agents are told (see `dispatch`), one by one and in batches.

Names are hashes. A name is never proof: readers join on the ids inside the files.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

from ..canonical import dump_line
from ..case import Case
from ..criterion import Criterion
from ..judges.parse import ANSWER_SCHEMA
from ..pin import Pin
from ..record import field, record
from ..suite import Suite
from ..targets.answer import failure
from ..trace import Trace
from ..unit import decide_by_code
from ..unitf import trace_from_record, trace_to_record
from .dispatch import (
    BATCHES_FILE,
    DISPATCHES_FILE,
    INSTRUCTIONS_FILE,
    SCHEMA_FILE,
    TASK_SCHEMA_FILE,
    Batches,
    instructions,
    place_of,
)
from .earlier_packets import (
    earlier_packets,
    outdated_verdicts,
    remove_others,
    set_aside,
)
from .packet import FirstVerdict
from .packet_index import (
    CASES_FILE,
    INDEX_FILE,
    INDEX_SCHEMA,
    TRACES_FILE,
    Axis,
    file_sha256,
    judge_digests,
    verdicts_beside,
)
from .packet_writer import PacketWriter, open_lines, pretty, write_file
from .verdict_schema import VERDICT_FILE_SCHEMA

HOST: Final = "host"
BATCH_TOKENS: Final = 60_000


@record(kw_only=True)
class PacketReport:
    """What was written.

    `by_code` runs needed no judge, `incomplete` of them because they can't be judged;
    `units` is how many judgements are asked for. `stale` are verdict files that
    answered an earlier packet of the name; they were renamed out of the way. `outdated`
    are those that still lie there, with verdicts on an earlier packet of a run.
    """

    out: Path
    verdicts: Path
    axis: Axis
    traces: int
    files: int
    units: int
    by_code: int
    incomplete: int
    stale: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()


def write_packets(
    *,
    suite: Suite,
    traces: Iterable[tuple[Case, Trace]],
    model: str,
    out: Path,
    axis: Axis = "trajectory",
    clean: Callable[[str], str] | None = None,
    batch_tokens: int = BATCH_TOKENS,
    asks: Callable[[Case, Trace], list[Criterion]] | None = None,
    verifies: Sequence[str] = (),
    first: FirstVerdict | None = None,
    losses: Callable[[], Sequence[str]] = tuple,
    more_cases: Callable[[], Iterable[Case]] = tuple,
    dataset: str = "",
    home: Path | None = None,
) -> PacketReport:
    """Write the folder of packets for runs whose ids differ from each other.

    `clean` takes secrets out of the JSON line of a trace, before anything is written.
    `asks` says which criteria of a run are asked about, where it is not all that code
    left open; `verifies` are the results that a second judge is to refute, and `first`
    gives the first one's verdicts. When all runs
    are read, `losses` says which lack (what stands beside the gate), and `more_cases` are
    rows that runs must not be taken for. `dataset` is the digest of all cases that there
    were to run (`cases_digest`). `home` is the
    folder of the suite, from which dispatches name their paths.

    What an earlier call wrote there is replaced. Verdicts stay, but for those of a
    packet that is another one now: they get the ending `.stale`, and in a file that is
    on other runs too they are marked in the index. Raises ValueError without a model,
    OSError where the folder can't be written or is someone else's.
    """
    pin = Pin(provider=HOST, model=model)
    out.mkdir(parents=True, exist_ok=True)
    earlier = earlier_packets(out)
    verdicts = verdicts_beside(out)
    verdicts.mkdir(parents=True, exist_ok=True)
    place = place_of(out, suite=home, answers=f"../{verdicts.name}")

    def suite_asks(case: Case, trace: Trace) -> list[Criterion]:
        return _left_to_a_judge(suite, case, trace)

    # Until the end what an earlier call wrote stays: its traces may be the ones that
    # are read now, and a call that breaks off leaves no half folder behind.
    with ExitStack() as files:
        dispatches = open_lines(files, out / DISPATCHES_FILE)
        writer = PacketWriter(
            suite=suite,
            model=pin.model,
            out=out,
            verdicts=f"../{verdicts.name}",
            dispatches=dispatches,
            batches=Batches(batch_tokens, place),
            place=place,
            first=first,
        )
        kept = _Kept(
            traces=open_lines(files, out / TRACES_FILE),
            cases=open_lines(files, out / CASES_FILE),
            clean=clean,
        )
        count = by_code = incomplete = 0
        for case, trace in traces:
            count += 1
            trace = kept.run(case, trace)
            asked = (asks or suite_asks)(case, trace)
            if not asked:
                by_code += 1
                incomplete += trace.incomplete is not None
            elif axis == "criterion":
                writer.tasks(case, trace, asked)
            else:
                writer.packet(case, trace, asked)
        for case in more_cases():
            if case.id not in kept.known:
                kept.row(case)
        writer.finish_tasks()
        for opened in (dispatches, kept.traces, kept.cases):
            opened.flush()  # a full disk is told here, before any of them appears
    schema_file = _write_instructions(out, axis, verifies)
    writer.batches.close()
    lines = [dump_line(batch) + "\n" for batch in writer.batches.done]
    write_file(out / BATCHES_FILE, "".join(lines))
    index = _index(suite, model, axis, writer)
    for key, name in (("traces", TRACES_FILE), ("cases", CASES_FILE)):
        index[f"{key}Sha256"] = file_sha256(out / name)
    stale = set_aside(writer.entries, earlier, verdicts)
    marked, outdated = outdated_verdicts(index, earlier, verdicts)
    more = {
        "outdated": marked,
        "verifies": list(verifies),
        "dataset": dataset,
        "losses": list(losses()),
    }
    index.update((key, value) for key, value in more.items() if value)
    write_file(out / INDEX_FILE, pretty(index))
    remove_others(out, keep={*writer.files, schema_file})
    return PacketReport(
        out=out,
        verdicts=verdicts,
        axis=axis,
        traces=count,
        files=len(writer.entries),
        units=writer.units,
        by_code=by_code,
        incomplete=incomplete,
        stale=stale,
        outdated=outdated,
    )


@record(kw_only=True, frozen=False)
class _Kept:
    """The lines of the runs, and of the rows of the dataset that they are runs of.

    `known` are the ids of the rows that were written for a run.
    """

    traces: IO[str]
    cases: IO[str]
    clean: Callable[[str], str] | None
    known: set[str] = field(default_factory=set)

    def run(self, case: Case, trace: Trace) -> Trace:
        """Write a run and its row; return the trace as it may be kept."""
        trace, line = _as_kept(case, trace, self.clean)
        self.traces.write(line + "\n")
        # A run without a row stands for its own case: readers derive it again.
        if not case.recorded and case.id not in self.known:
            self.known.add(case.id)
            self.row(case)
        return trace

    def row(self, case: Case) -> None:
        """Write a row."""
        self.cases.write(dump_line(case.to_row()) + "\n")


def _as_kept(
    case: Case, trace: Trace, clean: Callable[[str], str] | None
) -> tuple[Trace, str]:
    """Return the trace as it may be kept, and its line; one that can't be is a failure."""
    try:
        line = dump_line(trace_to_record(trace))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the run's trace can't be kept: {type(error).__name__}: {error}"
        trace = failure(message, case, trace_id=trace.id)
        line = dump_line(trace_to_record(trace))
    cleaned = line if clean is None else clean(line)
    if cleaned is line:
        return trace, line
    trace = trace_from_record(json.loads(cleaned))
    return trace, dump_line(trace_to_record(trace))


def _left_to_a_judge(suite: Suite, case: Case, trace: Trace) -> list[Criterion]:
    return [
        criterion
        for criterion in suite.criteria
        if decide_by_code(criterion, case, trace)[0] is None
    ]


def _index(
    suite: Suite, model: str, axis: Axis, writer: PacketWriter
) -> dict[str, Any]:
    return {
        "schema": INDEX_SCHEMA,
        "axis": axis,
        "subject": suite.subject.id,
        "suite": {"generator": suite.generator, "specSha256": suite.spec_sha256},
        "pin": {"model": model, "temperature": 0},
        "judges": judge_digests(suite),
        "traces": TRACES_FILE,
        "cases": CASES_FILE,
        "packets" if axis == "trajectory" else "tasks": writer.entries,
    }


def _write_instructions(out: Path, axis: Axis, verifies: Sequence[str]) -> str:
    """Write what the host's agents are told; return the name of the schema's file."""
    schema, schema_file = (
        (ANSWER_SCHEMA, TASK_SCHEMA_FILE)
        if axis == "criterion"
        else (VERDICT_FILE_SCHEMA, SCHEMA_FILE)
    )
    write_file(out / schema_file, pretty(schema))
    write_file(out / INSTRUCTIONS_FILE, instructions(axis, verifies=verifies))
    return schema_file
