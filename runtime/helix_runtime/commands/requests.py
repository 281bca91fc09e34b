"""`requests`: what a run asks of whoever changes the subject, and what they answer.

The suite judges: it routes failures onward as data, with the evidence, and changes
nothing. Requests are kept in the run's folder, so that the answers can be held against
what was really asked.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import IO, Final

from ..canonical import dump_line, escape_surrogates
from ..criterion import SEVERITIES, Aggregate
from ..folder import SuiteFolder, read_run_record, with_thresholds
from ..growing.growth import replace_file
from ..improving.change_requests import (
    FILE_NAME,
    SCHEMA,
    Asked,
    Finding,
    Issued,
    NotGrounded,
    Requesting,
    Response,
    issued_record,
    read_issued,
    read_responses,
)
from ..improving.finished_run import FinishedRun, list_runs, order_of, read_finished_run
from ..improving.roots import Grounded, ground_refs
from ..journal import TRACES, UNITS, read_unit
from ..judges.evidence import evidence_of
from ..judges.grounding import Ground
from ..record import field, record
from ..refusal import Refusal
from ..safe_text import printable
from ..suite import Suite
from ..targets.recorded import RecordedCount, TraceFiles, index_cases, read_recorded
from ..trace import Trace
from ..unit import Unit
from .outcome import shown_path

AMENDED: Final = 0
ALL_REJECTED: Final = 1
UNANSWERED: Final = 3
_SHOWN: Final = 5
_WIDTH: Final = 160


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Write a run's requests, or read what was answered to them.

    Returns 0 where requests were written (also where there are none). Of answers: 0
    where each request has one and something was amended, 1 where all were rejected, 3
    where some have none.
    """
    place = folder.run_folder(args.run)
    settings = folder.settings()
    with redirect_stdout(sys.stderr):
        suite = with_thresholds(folder.load_suite(), settings)
    run = read_finished_run(place, subject=suite.subject.id)
    if args.responses:
        return _read_answers(args, folder, run)
    return _write(args, folder, run, suite)


# -- asking -----------------------------------------------------------------------------


@record(frozen=False)
class _Reading:
    """What reading a run came to.

    `fails` counts the units that fail by their criterion, `damaged` lines that are not
    as they were written.
    """

    not_grounded: list[NotGrounded] = field(default_factory=list)
    failing: int = 0
    damaged: int = 0
    fails: dict[str, int] = field(default_factory=dict)


def _write(args: Namespace, folder: SuiteFolder, run: FinishedRun, suite: Suite) -> int:
    out = _out(args)
    swing = args.swing or _place_in_loop(args, folder, run)
    asked = _asked(run, suite)
    requesting = Requesting(
        subject=suite.subject.id, swing=swing, criteria=list(asked.values())
    )
    reading = _Reading()
    if asked:
        _read_run(folder, run, suite, asked, requesting, reading)
        _refuse_gaps(run, asked, reading)
    findings = requesting.findings(args.remedy)
    data = issued_record(
        run=run.name,
        decision=run.decision,
        swing=swing,
        subject=suite.subject.id,
        findings=findings,
        not_grounded=reading.not_grounded,
    )
    path = run.folder / FILE_NAME
    text = escape_surrogates(json.dumps(data, ensure_ascii=False, indent=2))
    try:
        _put(path, f"{text}\n".encode())
        if out is not None:
            path = out
            lines = (dump_line(one.request.to_record()) for one in findings)
            replace_file(out, "".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        raise Refusal(f"{path}: can't be written: {error.strerror or error}") from error
    if args.json:
        print(json.dumps(data))
    else:
        for line in _lines(folder, run, swing, findings, reading):
            print(printable(line))
    return 0


def _out(args: Namespace) -> Path | None:
    """Return the file of `--out`. Raises Refusal where it can be none."""
    if not args.out:
        return None
    out = Path(args.out)
    if out.is_dir():
        raise Refusal(f"--out {out}: is a folder, not a file")
    if not out.absolute().parent.is_dir():
        raise Refusal(f"--out {out}: there is no folder {out.parent}")
    return out


def _put(path: Path, data: bytes) -> None:
    """Write a file of a run's folder; a link that lies in its place is not followed."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with part.open("xb") as file:
        file.write(data)
    os.replace(part, path)


def _place_in_loop(args: Namespace, folder: SuiteFolder, run: FinishedRun) -> int:
    """Return which swing a run is, by the runs that started before it."""
    order = order_of(run.folder)
    earlier = list_runs(folder, since=args.since).runs
    return 1 + sum(order_of(other) < order for other in earlier)


def _asked(run: FinishedRun, suite: Suite) -> dict[str, Asked]:
    """Return the criteria that fail, over the whole or in a part of the gate.

    The more severe come first. Raises Refusal where the suite has one no more.
    """
    failing = [c.id for c in run.criteria if c.verdict == "fail" or c.id in run.failing]
    known = {criterion.id: criterion for criterion in suite.criteria}
    gone = [name for name in failing if name not in known]
    if gone:
        raise Refusal(
            *(
                f"`{name}` fails in {run.name}, and the suite has it no more"
                for name in gone
            ),
            "run again with the suite as it is now",
        )
    severity = {c.id: c.severity for c in run.criteria}
    failing.sort(key=lambda name: SEVERITIES.index(severity[name]))
    return {
        name: Asked(
            id=name,
            severity=severity[name],
            statement=known[name].statement,
            goal=known[name].goal,
        )
        for name in failing
    }


def _read_run(
    folder: SuiteFolder,
    run: FinishedRun,
    suite: Suite,
    asked: Mapping[str, Asked],
    requesting: Requesting,
    reading: _Reading,
) -> None:
    """Give every run of the subject that fails to `requesting`, with its evidence."""
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
            evidence = evidence_of(trace)
            grounded: dict[str, tuple[str, Grounded]] = {}
            case_id, repeat = case.id, 0
            for name, offset in sorted(offsets.items()):
                unit = _unit_at(journal, offset)
                case_id, repeat = unit.case_id, unit.repeat
                criterion = suite.criterion(name)
                assert criterion is not None  # `asked` holds none that is gone
                ground = Ground(
                    criterion=criterion,
                    case=case,
                    trace=trace,
                    evidence=evidence,
                    subject=suite.subject,
                )
                found = ground_refs(
                    unit.verdict.refs, ground, by_code=unit.decided_by == "code"
                )
                reading.failing += 1
                if found.refs:
                    grounded[name] = (unit.verdict.critique, found)
                else:
                    reading.not_grounded.append(_not_grounded(unit, trace))
            if grounded:
                sequence = places.get(case_id, len(places))
                requesting.add_run(case_id, (sequence, case_id, repeat, 0), grounded)
        for trace_id, offsets in sorted(failing.items()):
            for offset in offsets.values():
                unit = _unit_at(journal, offset)
                reading.failing += 1
                reading.not_grounded.append(
                    NotGrounded(
                        unit.criterion_id,
                        unit.case_id,
                        trace_id,
                        f"its trace is not in {TRACES}",
                    )
                )
    reading.not_grounded.sort(
        key=lambda one: (
            list(asked).index(one.criterion_id),
            places.get(one.case_id, len(places)),
            one.case_id,
            one.trace_id,
        )
    )


def _refuse_gaps(
    run: FinishedRun, asked: Mapping[str, Asked], reading: _Reading
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
                f"`{one.id}` fails {_plural(one.counts['fail'], 'unit')} by the "
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
    reading: _Reading,
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


def _not_grounded(unit: Unit, trace: Trace) -> NotGrounded:
    why = "its verdict cites no evidence"
    if unit.verdict.refs:
        ref = unit.verdict.refs[0]
        where = f"{ref.obs}.{ref.path}" if ref.path else ref.obs
        why = f"what its verdict cites is not there: {where} = {ref.value[:80]!r}"
    return NotGrounded(unit.criterion_id, unit.case_id, trace.id, why)


def _lines(
    folder: SuiteFolder,
    run: FinishedRun,
    swing: int,
    findings: list[Finding],
    reading: _Reading,
) -> Iterator[str]:
    number = len(findings)
    yield (
        f"{_plural(number, 'change request')} of swing {swing}, {run.name}: "
        f"{_plural(reading.failing, 'failing unit')}"
    )
    if not reading.failing:
        yield "no case fails: there is nothing to ask for"
    for one in findings:
        yield ""
        yield f"{one.request.id}  → {one.request.remedy_target}"
        for symptom in one.symptoms:
            criterion = symptom.criterion
            yield (
                f"  {criterion.severity:<4} {criterion.id}: "
                f"{_plural(symptom.runs, 'failing run')}"
            )
        if one.places:
            yield f"  seen at {', '.join(one.places)}"
        for case in one.request.failing_cases[:_SHOWN]:
            yield f"  - {case.case_id} × {case.criterion_id}: {_cut(case.critique)}"
            ref = case.refs[0]
            where = f"{ref.obs} {ref.path}".strip()
            yield f"      ↳ {where}: {_cut(ref.value)}"
        more = len(one.request.failing_cases) - _SHOWN
        if more > 0:
            yield f"  and {more} more"
    if reading.not_grounded:
        yield ""
        yield (
            f"not grounded, so nothing is asked for: {len(reading.not_grounded)} "
            "(look at the run, or let the check cite what it saw)"
        )
        for lost in reading.not_grounded[:_SHOWN]:
            yield f"  - {lost.case_id} × {lost.criterion_id}: {_cut(lost.why)}"
        if len(reading.not_grounded) > _SHOWN:
            yield f"  and {len(reading.not_grounded) - _SHOWN} more"
    if run.stability == "unstable":
        yield ""
        yield f"note: verdicts of {run.name} flap; mend that before anything else"
    yield ""
    yield f"requests: {shown_path(run.folder / FILE_NAME, folder.root)}"
    if findings:
        yield (
            f"then: python -m {folder.package} requests {run.name} --responses FILE "
            "reads the answers"
        )


# -- what is answered -------------------------------------------------------------------


def _read_answers(args: Namespace, folder: SuiteFolder, run: FinishedRun) -> int:
    for name in ("swing", "since", "remedy", "out"):
        if getattr(args, name) is not None:
            raise Refusal(f"--responses only reads: leave --{name} out")
    issued = _issued(folder, run)
    path = Path(args.responses)
    try:
        found = read_responses(path, known=list(issued.targets))
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    if found.problems:
        raise Refusal(*found.problems)
    by_id = {response.request_id: response for response in found.responses}
    open_ids = [name for name in issued.targets if name not in by_id]
    amended = [one for one in found.responses if one.status == "amended"]
    code = AMENDED if amended else ALL_REJECTED
    if open_ids:
        code = UNANSWERED
    notes = list(_notes(issued, amended))
    if args.json:
        print(
            json.dumps(
                {
                    "schema": SCHEMA,
                    "run": run.name,
                    "swing": issued.swing,
                    "responses": [one.to_record() for one in found.responses],
                    "unanswered": open_ids,
                    "evaluateAgain": code == AMENDED,
                    "notes": notes,
                }
            )
        )
        return code
    for line in _answer_lines(folder, run, issued, by_id, open_ids, code):
        print(printable(line))
    for note in notes:
        print(printable(f"note: {note}"))
    return code


def _issued(folder: SuiteFolder, run: FinishedRun) -> Issued:
    path = run.folder / FILE_NAME
    write = f"`python -m {folder.package} requests {run.name}` writes them"
    try:
        issued = read_issued(path)
    except FileNotFoundError:
        raise Refusal(f"{run.name} has no requests yet: {write}") from None
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise Refusal(f"{path}: {error}; {write}") from error
    if issued.decision != run.decision:
        raise Refusal(f"{path}: the run was decided anew since; {write}")
    return issued


def _notes(issued: Issued, amended: list[Response]) -> Iterator[str]:
    for one in amended:
        target = one.amended_target or issued.targets[one.request_id]
        if target == "agentspec" and one.rebuilt is not True:
            yield (
                f"{one.request_id}: the agentspec was amended and the subject was not "
                "built anew: build it, and generate the suite again, before the next "
                "swing"
            )


def _answer_lines(
    folder: SuiteFolder,
    run: FinishedRun,
    issued: Issued,
    by_id: Mapping[str, Response],
    open_ids: list[str],
    code: int,
) -> Iterator[str]:
    for name in issued.targets:
        response = by_id.get(name)
        if response is None:
            yield f"{name}  unanswered"
            continue
        target = response.amended_target or issued.targets[name]
        told = f" ({target})" if response.status == "amended" else ""
        yield f"{name}  {response.status}{told}: {_cut(response.note)}"
    if open_ids:
        yield f"{len(open_ids)} of {len(issued.targets)} requests have no answer yet"
    elif code == AMENDED:
        yield f"next: python -m {folder.package} run --repeats 5 (swing {issued.swing + 1})"
    else:
        yield (
            "every request was rejected: nothing has changed, so another swing would "
            f"show what {run.name} shows"
        )


def _cut(text: str) -> str:
    return printable(text, _WIDTH)


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
