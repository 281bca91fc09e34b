"""`verify`: packets for a second judge on the verdicts that gate, on the host's path.

The second judge gets the same packet with the criteria that the first one failed (and,
on request, passed), and is told to refute them. `aggregate` takes its verdicts in and
can only downgrade by them.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from ..case import Case
from ..criterion import Criterion
from ..folder import SuiteFolder, with_thresholds
from ..judges.replay import ReplayJudge
from ..judges.verification import results_to_verify, to_verify
from ..labels.leakage import check_examples
from ..matrix.packet_index import CASES_FILE, TRACES_FILE, read_index, verdicts_beside
from ..matrix.packets import PacketReport, write_packets
from ..pin import floating_alias, same_model
from ..redact import Redactor
from ..refusal import Refusal
from ..safe_text import printable
from ..suite import Subject
from ..targets.recorded import RecordedCount, index_cases, read_recorded
from ..trace import Trace
from ..unit import decide_by_code
from ..verdict import Verdict
from .outcome import typed_path

FOLDER: Final = "verify"


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Write the second judge's packets; the exit code is 0."""
    model = (args.model or "").strip()
    if not model:
        raise Refusal("verify needs --model M: the exact model of the second judge")
    packets = Path(args.packets or typed_path(folder.root / "matrix" / "packets"))
    verdicts = Path(args.verdicts) if args.verdicts else verdicts_beside(packets)
    out = Path(args.out or packets.parent / FOLDER)
    settings = folder.settings()
    with redirect_stdout(sys.stderr):
        suite = with_thresholds(folder.load_suite(), settings)
    check_examples(suite, folder, settings)
    first = _first_judge(packets, verdicts, suite.subject, model)
    results = results_to_verify(passes=args.passes)

    def gating(case: Case, trace: Trace) -> list[Criterion]:
        found = []
        for criterion in suite.criteria:
            if decide_by_code(criterion, case, trace)[0] is not None:
                continue
            judgement = first.judge(criterion, case, trace, 0)
            if judgement and to_verify(criterion, judgement.verdict, results):
                found.append(criterion)
        return found

    def verdict_of(criterion: Criterion, case: Case, trace: Trace) -> Verdict | None:
        judgement = first.judge(criterion, case, trace, 0)
        return None if judgement is None else judgement.verdict

    rows = folder.cases(packets / CASES_FILE)
    report = write_packets(
        suite=suite,
        traces=read_recorded(
            [packets / TRACES_FILE], index_cases(rows), RecordedCount()
        ),
        model=model,
        out=out,
        home=folder.root,
        clean=Redactor(os.environ).clean,
        asks=gating,
        verifies=results,
        first=verdict_of,
    )
    warning = floating_alias(model)
    if warning is not None:
        print(f"warning: {printable(warning)}", file=sys.stderr)
    for line in _lines(report, packets, out, folder.package, passes=args.passes):
        print(printable(line))
    return 0


def _first_judge(
    packets: Path, verdicts: Path, subject: Subject, model: str
) -> ReplayJudge:
    """Return the first judge's verdicts; `model` is the second one's.

    Raises Refusal where there are none, and where both judges are one model.
    """
    try:
        index = read_index(packets)
        if same_model(index.model, model):
            raise Refusal(
                f"{model} is the first judge: the second one must be another model"
            )
        return ReplayJudge(verdicts, subject=subject, packets=packets)
    except OSError:
        raise Refusal(
            f"there is nothing to verify in {packets}: `prep` writes packets, and "
            f"judging agents their verdicts into {verdicts}"
        ) from None
    except ValueError as error:
        raise Refusal(f"there is nothing to verify in {packets}: {error}") from error


def _lines(
    report: PacketReport, packets: Path, out: Path, package: str, *, passes: bool
) -> list[str]:
    """Return what was written, and what to do with it."""
    lines = [f"{report.files} packets with {report.units} verdicts to refute in {out}"]
    if report.files:
        lines += [
            f"next: dispatch a judge for each line of {out / 'dispatches.jsonl'} (see "
            f"JUDGE.md there); verdicts go to {report.verdicts}",
            f"then: python -m {package} aggregate --packets {packets} "
            f"--verify {out}",
        ]
    elif not passes:
        lines.append("no fail gates; passes that gate are verified too with --passes")
    return lines
