"""`requests`: what a run asks of whoever changes the subject, and what they answer.

The suite judges: it routes failures onward as data, with the evidence, and changes
nothing. Requests are kept in the run's folder, so that the answers can be held against
what was really asked.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from ..canonical import dump_line, escape_surrogates
from ..criterion import SEVERITIES
from ..folder import SuiteFolder, with_thresholds
from ..growing.growth import replace_file
from ..improving.change_requests import (
    FILE_NAME,
    Asked,
    Finding,
    Requesting,
    issued_record,
)
from ..improving.failing_runs import Reading, read_failing_runs
from ..improving.finished_run import (
    FinishedRun,
    in_swings,
    list_runs,
    order_of,
    read_finished_run,
)
from ..names import CaseNames
from ..refusal import Refusal
from ..report.words import plural
from ..safe_text import printable
from ..suite import Suite
from ..whole_file import whole_file
from .outcome import typed_path

WIDTH: Final = 160
"""Characters of a stranger's text that a line shows."""
_SHOWN: Final = 5


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Write a run's requests and return 0, or read what was answered to them.

    The exit code of answers is that of `responses.read_answers`.
    """
    place = folder.run_folder(args.run)
    settings = folder.settings()
    with redirect_stdout(sys.stderr):
        suite = with_thresholds(folder.load_suite(), settings)
    run = read_finished_run(place, subject=suite.subject.id)
    if args.responses:
        from .responses import read_answers

        return read_answers(args, folder, run)
    return _write(args, folder, run, suite)


def _write(args: Namespace, folder: SuiteFolder, run: FinishedRun, suite: Suite) -> int:
    out = _out(args)
    swing = args.swing or _place_in_loop(args, folder, run, suite.subject.id)
    asked = _asked(run, suite)
    requesting = Requesting(
        subject=suite.subject.id, swing=swing, criteria=list(asked.values())
    )
    reading = Reading()
    if asked:
        reading = read_failing_runs(folder, run, suite, asked, requesting)
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
        with whole_file(path) as part:
            part.write_bytes(f"{text}\n".encode())
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


def _place_in_loop(
    args: Namespace, folder: SuiteFolder, run: FinishedRun, subject: str
) -> int:
    """Return which swing a run is, by the runs that started before it."""
    order = order_of(run.folder)
    runs: list[FinishedRun] = []
    unread = 0
    for place in list_runs(folder, since=args.since).runs:
        if order_of(place) < order:
            try:
                runs.append(read_finished_run(place, subject=subject))
            except Refusal:
                unread += 1  # `loop` says what is wrong with it
    return len(in_swings([*runs, run])) + unread


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


def _names(folder: SuiteFolder) -> CaseNames:
    """Return what the cases are called, where that can be read."""
    try:
        return CaseNames(folder.cases())
    except (Refusal, OSError):
        return CaseNames()


def _lines(
    folder: SuiteFolder,
    run: FinishedRun,
    swing: int,
    findings: list[Finding],
    reading: Reading,
) -> Iterator[str]:
    number = len(findings)
    names = _names(folder)
    yield (
        f"{plural(number, 'change request')} of swing {swing}, {run.name}: "
        f"{plural(reading.failing, 'failing unit')}"
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
                f"{plural(symptom.runs, 'failing run')}"
            )
        if one.places:
            yield f"  seen at {', '.join(one.places)}"
        for case in one.request.failing_cases[:_SHOWN]:
            said = printable(case.critique, WIDTH)
            yield f"  - {names.label(case.case_id)} × {case.criterion_id}: {said}"
            ref = case.refs[0]
            where = f"{ref.obs} {ref.path}".strip()
            yield f"      ↳ {where}: {printable(ref.value, WIDTH)}"
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
            said = printable(lost.why, WIDTH)
            yield f"  - {names.label(lost.case_id)} × {lost.criterion_id}: {said}"
        if len(reading.not_grounded) > _SHOWN:
            yield f"  and {len(reading.not_grounded) - _SHOWN} more"
    if run.stability == "unstable":
        yield ""
        yield f"note: verdicts of {run.name} flap; mend that before anything else"
    yield ""
    yield f"requests: {typed_path(run.folder / FILE_NAME)}"
    if findings:
        yield (
            f"then: python -m {folder.package} requests {run.name} --responses FILE "
            "reads the answers"
        )
