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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from errno import EEXIST
from pathlib import Path
from typing import IO, Any, Final

from ..canonical import dump_line, escape_surrogates, sha256_hex
from ..case import Case
from ..criterion import Criterion
from ..judges.evidence import evidence_of
from ..judges.parse import ANSWER_SCHEMA
from ..judges.prompt import (
    system_prompt,
    user_prompt,
)
from ..pin import Pin
from ..record import field, record
from ..suite import Suite
from ..targets.answer import failure
from ..trace import Trace
from ..unit import decide_by_code
from ..unitf import trace_from_record, trace_to_record
from ..whole_file import whole_file
from .dispatch import (
    BATCHES_FILE,
    DISPATCHES_FILE,
    INSTRUCTIONS_FILE,
    SCHEMA_FILE,
    TASK_SCHEMA_FILE,
    Batches,
    instructions,
    packet_dispatch,
    task_dispatch,
)
from .packet import FirstVerdict, packet_record, task_key, trajectory_key
from .packet_index import (
    CASES_FILE,
    INDEX_FILE,
    INDEX_SCHEMA,
    TRACES_FILE,
    Axis,
    PacketEntry,
    PacketIndex,
    entries_of,
    file_name,
    file_sha256,
    judge_digests,
    read_index,
    verdicts_beside,
)
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
) -> PacketReport:
    """Write the folder of packets for runs whose ids differ from each other.

    `clean` takes secrets out of the JSON line of a trace, before anything is written.
    `asks` says which criteria of a run are asked about, where it is not all that code
    left open; `verifies` are the results that a second judge is to refute, and `first`
    gives the first one's verdicts. When all runs
    are read, `losses` says which lack (what stands beside the gate), and `more_cases` are
    rows that runs must not be taken for. `dataset` is the digest of all cases that there
    were to run (`cases_digest`).

    What an earlier call wrote there is replaced. Verdicts stay, but for those of a
    packet that is another one now: they get the ending `.stale`, and in a file that is
    on other runs too they are marked in the index. Raises ValueError without a model,
    OSError where the folder can't be written or is someone else's.
    """
    pin = Pin(provider=HOST, model=model)
    out.mkdir(parents=True, exist_ok=True)
    earlier = _earlier(out)
    verdicts = verdicts_beside(out)
    verdicts.mkdir(parents=True, exist_ok=True)

    def suite_asks(case: Case, trace: Trace) -> list[Criterion]:
        return _left_to_a_judge(suite, case, trace)

    # Until the end what an earlier call wrote stays: its traces may be the ones that
    # are read now, and a call that breaks off leaves no half folder behind.
    with ExitStack() as files:
        dispatches = _lines(files, out / DISPATCHES_FILE)
        writer = _Writer(
            suite=suite,
            model=pin.model,
            out=out,
            verdicts=f"../{verdicts.name}",
            dispatches=dispatches,
            batches=Batches(batch_tokens),
            first=first,
        )
        trace_lines = _lines(files, out / TRACES_FILE)
        case_lines = _lines(files, out / CASES_FILE)
        cases: set[str] = set()
        count = by_code = incomplete = 0
        for case, trace in traces:
            count += 1
            trace, line = _kept(case, trace, clean)
            trace_lines.write(line + "\n")
            # A run without a row stands for its own case: readers derive it again.
            if not case.recorded and case.id not in cases:
                cases.add(case.id)
                case_lines.write(dump_line(case.to_row()) + "\n")
            asked = (asks or suite_asks)(case, trace)
            if not asked:
                by_code += 1
                incomplete += trace.incomplete is not None
            elif axis == "criterion":
                writer.tasks(case, trace, asked)
            else:
                writer.packet(case, trace, asked)
        for case in more_cases():
            if case.id not in cases:
                case_lines.write(dump_line(case.to_row()) + "\n")
        writer.finish_tasks()
        for opened in (dispatches, trace_lines, case_lines):
            opened.flush()  # a full disk is told here, before any of them appears
    schema, schema_file = (
        (ANSWER_SCHEMA, TASK_SCHEMA_FILE)
        if axis == "criterion"
        else (VERDICT_FILE_SCHEMA, SCHEMA_FILE)
    )
    _write(out / schema_file, _pretty(schema))
    _write(out / INSTRUCTIONS_FILE, instructions(axis, verifies=verifies))
    writer.batches.close()
    lines = [dump_line(batch) + "\n" for batch in writer.batches.done]
    _write(out / BATCHES_FILE, "".join(lines))
    index = _index(suite, model, axis, writer)
    for key, name in (("traces", TRACES_FILE), ("cases", CASES_FILE)):
        index[f"{key}Sha256"] = file_sha256(out / name)
    stale = _set_aside(writer.entries, earlier, verdicts)
    marked, outdated = _outdated(index, earlier, verdicts)
    if marked:
        index["outdated"] = marked
    if verifies:
        index["verifies"] = list(verifies)
    if dataset:
        index["dataset"] = dataset
    lost = list(losses())
    if lost:
        index["losses"] = lost
    _write(out / INDEX_FILE, _pretty(index))
    _remove_others(out, keep={*writer.files, schema_file})
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


def _kept(
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


def _index(suite: Suite, model: str, axis: Axis, writer: "_Writer") -> dict[str, Any]:
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


# -- files -----------------------------------------------------------------------


@record(kw_only=True, frozen=False)
class _Task:
    file: str
    verdict_file: str
    sha256: str
    answers: list[dict[str, str]]


@record(kw_only=True, frozen=False)
class _Writer:
    suite: Suite
    model: str
    out: Path
    verdicts: str
    dispatches: IO[str]
    batches: Batches
    first: FirstVerdict | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)
    units: int = 0
    files: set[str] = field(default_factory=set)
    _names: set[str] = field(default_factory=set)
    _tasks: dict[str, _Task] = field(default_factory=dict)

    def packet(self, case: Case, trace: Trace, criteria: Sequence[Criterion]) -> None:
        name = self._free_name(trajectory_key(trace.id))
        file = f"{name}.packet.json"
        self.files.add(file)
        verdict_file = f"{self.verdicts}/{name}.verdict.json"
        record = packet_record(
            suite=self.suite,
            case=case,
            trace=trace,
            criteria=criteria,
            model=self.model,
            first=self.first,
        )
        text = _pretty(record)
        sha256 = _write(self.out / file, text)
        self.batches.add(file, len(text.encode()))
        ids = [criterion.id for criterion in criteria]
        self.units += len(ids)
        self.entries.append(
            {
                "trajectoryId": trace.id,
                "caseId": case.id,
                "packet": file,
                "sha256": sha256,
                "verdictFile": verdict_file,
                "criteria": ids,
            }
        )
        dispatch = packet_dispatch(
            file=file,
            sha256=sha256,
            verdict_file=verdict_file,
            model=self.model,
            criteria=ids,
        )
        self.dispatches.write(dump_line(dispatch) + "\n")

    def tasks(self, case: Case, trace: Trace, criteria: Sequence[Criterion]) -> None:
        evidence = evidence_of(trace)
        for criterion in criteria:
            system = system_prompt(criterion, self.suite.subject)
            user = user_prompt(criterion, case, trace, evidence)
            # A key match is not proof of one prompt: the whole prompt is the key here.
            prompt = sha256_hex(f"{system}\0{user}".encode())
            task = self._tasks.get(prompt)
            if task is None:
                task = self._new_task(system, user)
                self._tasks[prompt] = task
            self.units += 1
            task.answers.append(
                {
                    "trajectoryId": trace.id,
                    "caseId": case.id,
                    "criterionId": criterion.id,
                }
            )

    def _new_task(self, system: str, user: str) -> _Task:
        name = self._free_name(task_key(system, user))
        file = f"{name}.task.json"
        self.files.add(file)
        verdict_file = f"{self.verdicts}/{name}.verdict.json"
        record = {
            "system": system,
            "user": user,
            "verdictFile": verdict_file,
            "pin": {"model": self.model, "temperature": 0},
        }
        text = _pretty(record)
        sha256 = _write(self.out / file, text)
        self.batches.add(file, len(text.encode()))
        dispatch = task_dispatch(
            file=file, sha256=sha256, verdict_file=verdict_file, model=self.model
        )
        self.dispatches.write(dump_line(dispatch) + "\n")
        return _Task(file=file, verdict_file=verdict_file, sha256=sha256, answers=[])

    def finish_tasks(self) -> None:
        for task in self._tasks.values():
            self.entries.append(
                {
                    "task": task.file,
                    "sha256": task.sha256,
                    "verdictFile": task.verdict_file,
                    "answers": task.answers,
                }
            )

    def _free_name(self, key: str) -> str:
        """The key, with a suffix where another run of this folder has it already."""
        name, number = key, 1
        while name in self._names:
            number += 1
            name = f"{key}-{number}"
        self._names.add(name)
        return name


_FIXED: Final = (
    INDEX_FILE,
    TRACES_FILE,
    CASES_FILE,
    DISPATCHES_FILE,
    BATCHES_FILE,
    INSTRUCTIONS_FILE,
)


def _earlier(out: Path) -> PacketIndex | None:
    """Return the index of an earlier call, None where there was none.

    Raises FileExistsError where files of our names are there and no index of ours
    is: a run's folder has a `traces.jsonl` too.
    """
    try:
        return read_index(out)
    except (FileNotFoundError, ValueError):
        taken = [name for name in _FIXED if (out / name).exists()]
        if taken:
            raise FileExistsError(
                EEXIST, f"it holds {taken[0]}, which is not of packets: choose another"
            ) from None
        return None


def _remove_others(out: Path, *, keep: Collection[str]) -> None:
    """Remove earlier packets, tasks and schemas: only files of our own names."""
    import re

    ours = re.compile(r"[0-9a-f]{8}(-\d+)?\.(packet|task)\.json")
    for path in out.iterdir():
        name = path.name
        if name not in keep and (
            ours.fullmatch(name) or name in (SCHEMA_FILE, TASK_SCHEMA_FILE)
        ):
            path.unlink()


def _set_aside(
    entries: Iterable[Mapping[str, Any]],
    earlier: PacketIndex | None,
    verdicts: Path,
) -> tuple[str, ...]:
    """Rename the verdict files that answer an earlier packet; return their names."""
    if earlier is None:
        return ()
    before = {file_name(e.verdict_file): e.sha256 for e in earlier.entries}
    stale = []
    for entry in entries:
        name = file_name(entry["verdictFile"])
        path = verdicts / name
        if before.get(name) != entry["sha256"] and path.is_file():
            path.replace(path.with_name(f"{name}.stale"))
            stale.append(name)
    return tuple(stale)


def _outdated(
    index: Mapping[str, Any], earlier: PacketIndex | None, verdicts: Path
) -> tuple[list[str], tuple[str, ...]]:
    """Return the digests of verdicts that are on another packet, and their files.

    A verdict that is there now was written before this call: it is on the packet that
    the run had then. One that is outdated already stays so, however often the same
    packets are written.
    """
    from .verdict_folder import read_verdict_folder

    if earlier is None:
        return [], ()
    now = _packets_by_pair(entries_of(index))
    before = _packets_by_pair(earlier.entries)
    # Of every file, also where two of them differ: neither may come back alone.
    found = read_verdict_folder(verdicts, tasks=earlier.tasks).seen
    marked: set[str] = set()
    files: set[str] = set()
    for pair, entry in found:
        digest = entry.digest(pair)
        if pair in now and (
            now[pair] != before.get(pair) or digest in earlier.outdated
        ):
            marked.add(digest)
            files.add(entry.file)
        elif digest in earlier.outdated:
            marked.add(digest)
    return sorted(marked), tuple(sorted(files))


def _packets_by_pair(
    entries: Iterable[PacketEntry],
) -> dict[tuple[str, str], str]:
    return {pair: entry.sha256 for entry in entries for pair in entry.pairs}


def _lines(files: ExitStack, path: Path) -> IO[str]:
    """Open a file for lines; it appears when `files` ends without an error."""
    part = files.enter_context(whole_file(path))
    return files.enter_context(part.open("w", encoding="utf-8", newline="\n"))


def _write(path: Path, text: str) -> str:
    """Write a file whole, by way of a temporary name; return its SHA-256."""
    data = text.encode("utf-8")
    with whole_file(path) as part:
        part.write_bytes(data)
    return sha256_hex(data)


def _pretty(record: Mapping[str, Any]) -> str:
    """Return readable JSON, in key order as given, that always encodes to UTF-8."""
    # By way of the line form, which spells what JSON does not have.
    plain = json.loads(dump_line(record))
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return escape_surrogates(text) + "\n"
