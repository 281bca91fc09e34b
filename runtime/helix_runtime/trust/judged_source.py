"""Whose verdicts are held against labels: those of a run, or the files of a host's agents."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..case import Case
from ..criterion import Criterion
from ..folder import SuiteFolder, read_run_record
from ..judges.replay import ReplayJudge
from ..matrix.packet_index import (
    INDEX_FILE,
    TRACES_FILE,
    PacketIndex,
    packets_of,
    read_index,
    verdicts_beside,
)
from ..record import record
from ..refusal import Refusal
from ..safe_text import printable
from ..suite import Suite
from ..targets.recorded import (
    CaseIndex,
    RecordedCount,
    TraceFiles,
    losses_of,
    read_recorded,
)
from ..trace import Trace
from ..unit import Unit, decide_by_code
from .judged import judged_in_run
from .known import who_judged, who_judges
from .validation_file import WhoJudges


@record(kw_only=True)
class JudgedSource:
    """Verdicts, and who gave them, by criterion.

    `is_named` says whether the user named them: then it is these runs that were
    labelled. `files` are traces beside those that the suite knows of; the runs that were
    judged stand there, or in the folders `runs`. `notes` is what to know of the source.
    """

    name: str
    who: Mapping[str, WhoJudges]
    units: Iterable[Unit]
    is_named: bool
    files: TraceFiles
    runs: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def source_of_run(folder: SuiteFolder, name: str | None) -> JudgedSource:
    """Return the verdicts of a run, the latest where it is not named. Raises Refusal."""
    run_folder = folder.run_folder(name)
    run = read_run_record(run_folder) or {}
    who = who_judged(run)
    if not who:
        raise Refusal(
            f"nobody can tell who judged {run_folder.name}: no judge was asked, no single "
            "model stands behind its verdicts, or an earlier runtime made it. Name "
            "another run with --run, or take verdict files with --verdicts"
        )
    cut_short = f"{run_folder.name} is not finished: what it judged until now counts"
    return JudgedSource(
        name=f"run {run_folder.name}",
        who=who,
        units=judged_in_run(run_folder),
        is_named=bool(name),
        files=TraceFiles.of([]),
        runs=(run_folder,),
        notes=(cut_short,) if run.get("finished") is False else (),
    )


def source_of_files(
    verdicts: Path,
    *,
    packets: Path | None,
    traces: TraceFiles,
    whole: Suite,
    suite: Suite,
    index: CaseIndex,
) -> JudgedSource:
    """Return the verdicts of a folder on the runs that the agents were shown.

    Those are `traces`, or where none are given what `prep` wrote to `packets`. `suite`
    is the part of the `whole` one that is of interest. Raises Refusal.
    """
    if packets is not None and not traces:
        traces = TraceFiles.of([packets / TRACES_FILE], format="unitf")
    missing = [path for path in traces if not path.is_file()]
    if missing:
        raise Refusal(
            *(f"there are no traces {path}" for path in missing),
            "the runs that were judged are needed to look the evidence up: name the "
            "folder that `prep` wrote with --packets, or their file with --traces",
        )
    answered = packets or packets_of(verdicts)
    before = None if answered is None else _not_edited(answered, suite)
    judging = _replay(verdicts, packets, whole)
    if answered is not None and before is not None:
        from ..matrix.readiness import judged_runs

        judging.judged_on(cases={}, runs=judged_runs(before, answered) or {})
    if judging.pin is None:
        raise Refusal(
            f"{verdicts}: no single model stands behind the verdicts, so nobody can tell "
            "whom the labels would validate"
        )
    return JudgedSource(
        name=f"verdicts {verdicts}",
        who=who_judges(suite, judging.pin),
        units=_judged(judging, suite, traces, index),
        is_named=True,
        files=traces,
    )


def _not_edited(packets: Path, suite: Suite) -> PacketIndex | None:
    """Refuse verdicts on what a judge was before it was edited.

    Returns the index of the packets, None where there is none.
    """
    if not (packets / INDEX_FILE).is_file():
        return None
    try:
        index = read_index(packets)
    except (OSError, ValueError) as error:
        raise Refusal(f"{packets / INDEX_FILE} can't be read: {error}") from error
    edited = [
        criterion.id
        for criterion in suite.criteria
        if criterion.judge is not None
        and index.judges.get(criterion.id, criterion.judge.digest)
        != criterion.judge.digest
    ]
    if edited:
        raise Refusal(
            *(f"the judge of {name!r} was edited after the packets" for name in edited),
            "run prep again and judge anew, or leave them out with --criteria",
        )
    return index


def _replay(verdicts: Path, packets: Path | None, whole: Suite) -> ReplayJudge:
    if not verdicts.is_dir():
        raise Refusal(f"--verdicts {verdicts}: there is no such folder")
    known: Sequence[str] = [criterion.id for criterion in whole.criteria]
    try:
        judging = ReplayJudge(
            verdicts, subject=whole.subject, criteria=known, packets=packets
        )
    except OSError as error:
        raise Refusal(f"{verdicts} can't be read: {error.strerror}") from error
    for line in judging.lines():
        print(f"warning: {printable(line)}", file=sys.stderr)
    if judging.empty:
        where = "" if packets is None else f", such as {verdicts_beside(packets)}"
        raise Refusal(
            f"--verdicts {verdicts}: no verdict is in this folder: give the one that the "
            f"judging agents wrote to{where}"
        )
    return judging


def _judged(
    judging: ReplayJudge, suite: Suite, traces: TraceFiles, index: CaseIndex
) -> Iterator[Unit]:
    """Yield what verdict files decide of the runs, as the roll-up would count it.

    What code decides of a run is left out, also where a file speaks of it. Raises Refusal
    where the files hold no run at all.
    """
    count = RecordedCount()
    judged = [criterion for criterion in suite.criteria if criterion.judge is not None]
    for case, trace in read_recorded(traces, index, count):
        for criterion in judged:
            unit = _unit(judging, criterion, case, trace)
            if unit is not None:
                yield unit
    if not count.read.traces:
        names = ", ".join(str(path) for path in traces)
        raise Refusal(f"there is no trace in {names}")
    lost = losses_of(count, files=traces, cases=len(count.covered))
    for line in (*lost, *judging.on_other_runs()):
        print(f"warning: {printable(line)}", file=sys.stderr)


def _unit(
    judging: ReplayJudge, criterion: Criterion, case: Case, trace: Trace
) -> Unit | None:
    if not judging.has(trace.id, criterion.id):
        return None
    if decide_by_code(criterion, case, trace)[0] is not None:
        return None
    judgement = judging.judge(criterion, case, trace, 0)
    if judgement is None:
        return None
    return Unit(
        key="",
        case_id=case.id,
        criterion_id=criterion.id,
        repeat=0,
        trace_id=trace.id,
        verdict=judgement.verdict,
        decided_by="judge",
        model=judgement.model,
        notes=judgement.notes,
    )
