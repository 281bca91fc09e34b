"""The runs of the subject that fail, out of a finished run's folder, with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from ..case import Case
from ..criterion import Aggregate
from ..folder import SuiteFolder, read_run_record
from ..journal import TRACES, UNITS, read_unit
from ..judges.evidence import evidence_of
from ..judges.grounding import Ground
from ..record import field, record
from ..refusal import Refusal
from ..report.words import plural
from ..suite import Suite
from ..targets.recorded import RecordedCount, TraceFiles, index_cases, read_recorded
from ..trace import Trace
from ..unit import Unit
from .change_requests import Asked, NotGrounded, Requesting
from .finished_run import FinishedRun
from .roots import Grounded, ground_refs


@record(frozen=False)
class Reading:
    """What reading a run came to: how many units fail, and which cite nothing.

    `fails` counts the units that fail by their criterion, `damaged` lines that are not
    as they were written.
    """

    not_grounded: list[NotGrounded] = field(default_factory=list)
    failing: int = 0
    damaged: int = 0
    fails: dict[str, int] = field(default_factory=dict)


def read_failing_runs(
    folder: SuiteFolder,
    run: FinishedRun,
    suite: Suite,
    asked: Mapping[str, Asked],
    requesting: Requesting,
) -> Reading:
    """Give every run of the subject that fails to `requesting`, with its evidence.

    `asked` are the criteria that are looked at. Raises Refusal where the run's files
    are missing, or don't hold what its scorecard says.
    """
    reading = Reading()
    units, traces = run.folder / UNITS, run.folder / TRACES
    missing = [path.name for path in (units, traces) if not path.is_file()]
    if missing:
        raise Refusal(f"the run {run.name} holds no {' and no '.join(missing)}")
    means = {
        c.id: c.passes
        for c in suite.criteria
        if c.id in asked and c.passes.kind == "mean"
    }
    failing = _failing_units(units, asked, means, reading)
    cases = list(folder.of_run(read_run_record(run.folder) or {}).cases())
    places = {case.id: number for number, case in enumerate(cases)}
    index = index_cases(cases)
    del cases
    with units.open("rb") as journal:
        for case, trace in read_recorded(
            TraceFiles.of([traces], format="unitf"), index, RecordedCount()
        ):
            offsets = failing.pop(trace.id, None)
            if offsets is None:
                continue
            those = [_unit_at(journal, offset) for _, offset in sorted(offsets.items())]
            grounded = _ground(those, case, trace, suite, reading)
            if grounded:
                case_id, repeat = those[0].case_id, those[0].repeat
                sequence = places.get(case_id, len(places))
                requesting.add_run(case_id, (sequence, case_id, repeat, 0), grounded)
        for offsets in failing.values():
            for offset in offsets.values():
                why = f"its trace is not in {TRACES}"
                reading.not_grounded.append(_lost(_unit_at(journal, offset), why))
    reading.failing += sum(map(len, failing.values()))
    rank = {criterion_id: place for place, criterion_id in enumerate(asked)}
    reading.not_grounded.sort(
        key=lambda one: (
            rank[one.criterion_id],
            places.get(one.case_id, len(places)),
            one.case_id,
            one.trace_id,
        )
    )
    _refuse_gaps(run, asked, reading)
    return reading


def _ground(
    units: Sequence[Unit], case: Case, trace: Trace, suite: Suite, reading: Reading
) -> dict[str, tuple[str, Grounded]]:
    """Return critique and evidence of a run's failing units that have some."""
    evidence = evidence_of(trace)
    grounded: dict[str, tuple[str, Grounded]] = {}
    for unit in units:
        criterion = suite.criterion(unit.criterion_id)
        assert criterion is not None  # `asked` holds none that is gone
        ground = Ground(
            criterion=criterion,
            case=case,
            trace=trace,
            evidence=evidence,
            subject=suite.subject,
        )
        refs = unit.verdict.refs
        found = ground_refs(refs, ground, by_code=unit.decided_by == "code")
        if found.refs:
            grounded[unit.criterion_id] = (unit.verdict.critique, found)
            continue
        why = "its verdict cites no evidence"
        if refs:
            where = f"{refs[0].obs}.{refs[0].path}" if refs[0].path else refs[0].obs
            cited = f"{where} = {refs[0].value[:80]!r}"
            why = f"what its verdict cites is not there: {cited}"
        reading.not_grounded.append(_lost(unit, why))
    reading.failing += len(units)
    return grounded


def _lost(unit: Unit, why: str) -> NotGrounded:
    return NotGrounded(unit.criterion_id, unit.case_id, unit.trace_id, why)


def _refuse_gaps(
    run: FinishedRun, asked: Mapping[str, Asked], reading: Reading
) -> None:
    """Refuse a journal that does not hold what the scorecard says of it.

    Fewer requests than fails would pass for all there is to mend.
    """
    faults = []
    if reading.damaged:
        are = "line is" if reading.damaged == 1 else "lines are"
        faults.append(f"{reading.damaged:,} {are} not as written")
    for one in run.criteria:
        found = reading.fails.get(one.id, 0)
        if one.id in asked and found != one.counts["fail"]:
            faults.append(
                f"`{one.id}` fails {plural(one.counts['fail'], 'unit')} by the "
                f"scorecard, and {found:,} here"
            )
    if faults:
        units = run.folder / UNITS
        raise Refusal(
            *(f"{units}: {fault}" for fault in faults),
            f"`run --resume {run.name}` decides again what was edited, or is missing",
        )


def _failing_units(
    units: Path,
    asked: Mapping[str, Asked],
    means: Mapping[str, Aggregate],
    reading: Reading,
) -> dict[str, dict[str, int]]:
    """Return where the failing units stand in the journal: trace id → criterion → offset.

    Of a criterion in `means`, no unit need fail for their mean to miss its limit: those
    fail whose own value misses it. Of several lines of one unit the last one stands.
    """
    found: dict[str, dict[str, int]] = {}
    fails: dict[str, set[tuple[str, int]]] = {name: set() for name in asked}
    offset = 0
    with units.open("rb") as lines:
        for line in lines:
            here, offset = offset, offset + len(line)
            try:
                unit = read_unit(line)
            except (ValueError, RecursionError):
                reading.damaged += bool(line.strip())
                continue
            if unit.criterion_id not in asked:
                continue
            place = (unit.trace_id, unit.repeat)
            if unit.verdict.result == "fail":
                fails[unit.criterion_id].add(place)
            else:
                fails[unit.criterion_id].discard(place)
            if _fails(unit, means.get(unit.criterion_id)):
                found.setdefault(unit.trace_id, {})[unit.criterion_id] = here
            elif unit.trace_id in found:
                found[unit.trace_id].pop(unit.criterion_id, None)
    reading.fails = {name: len(those) for name, those in fails.items()}
    return {trace_id: some for trace_id, some in found.items() if some}


def _fails(unit: Unit, mean: Aggregate | None) -> bool:
    verdict = unit.verdict
    if mean is None or verdict.value is None or verdict.result not in ("pass", "fail"):
        return verdict.result == "fail"
    return not mean.holds(verdict.value)


def _unit_at(journal: IO[bytes], offset: int) -> Unit:
    journal.seek(offset)
    return read_unit(journal.readline())
