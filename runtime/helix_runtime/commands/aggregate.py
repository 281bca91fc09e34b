"""`aggregate`: the verdict files of a host's agents to the scorecard.

The roll-up is exactly that of `run --traces … --replay …`; before it stands the
readiness gate, which lists what is missing and rolls nothing up.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import redirect_stdout
from pathlib import Path

from ..folder import SuiteFolder, with_thresholds
from ..judges.replay import ReplayJudge
from ..matrix.packet_index import (
    CASES_FILE,
    INDEX_FILE,
    TRACES_FILE,
    PacketIndex,
    read_index,
    verdicts_beside,
)
from ..matrix.readiness import changed_firsts, edited_cases, gaps, outlived
from ..plan import RunPlan
from ..progress import open_progress
from ..refusal import Refusal
from ..runner import execute_run
from ..safe_text import printable
from ..scorecard import EXIT_CODE
from ..spread import SpreadRule
from ..suite import Suite
from ..targets.recorded import index_cases
from ..unit import Judging
from .outcome import check_outputs, show, typed_path, warn_of_left_over
from .run import baseline_for, make_folder, now


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Roll the verdicts up, show what came of it, return the gate's exit code."""
    check_outputs(args)
    packets = Path(args.packets or typed_path(folder.root / "matrix" / "packets"))
    verdicts = Path(args.verdicts) if args.verdicts else verdicts_beside(packets)
    index = _index(packets)
    settings = folder.settings()
    with redirect_stdout(sys.stderr):
        suite = with_thresholds(folder.load_suite(), settings)
    if not args.verdicts:
        # git keeps no empty folder: without the default one, every verdict is missing.
        verdicts.mkdir(parents=True, exist_ok=True)
    try:
        judging = ReplayJudge(
            verdicts,
            subject=suite.subject,
            criteria=[criterion.id for criterion in suite.criteria],
            packets=packets,
        )
    except OSError as error:
        raise Refusal(
            f"the verdicts {verdicts} can't be read: {error.strerror or error}"
        ) from error
    for line in judging.lines():
        print(f"warning: {printable(line)}", file=sys.stderr)
    open_gaps = gaps(
        index=index,
        packets=packets,
        verdicts=verdicts,
        suite=suite,
        judging=judging,
    )
    index_now = index_cases(folder.cases())
    open_gaps += edited_cases(folder.cases(packets / CASES_FILE), index_now)
    judge: Judging = judging
    second: ReplayJudge | None = None
    if args.verify:
        judge, second, more = _verified(judging, Path(args.verify), suite)
        open_gaps += more
    if open_gaps:
        for line in open_gaps:
            print(printable(line), file=sys.stderr)
        print(
            f"nothing was rolled up: {len(open_gaps)} missing or unfit (see above); "
            "dispatch those packets again, or run prep again",
            file=sys.stderr,
        )
        return EXIT_CODE["incomplete"]
    record: dict[str, str] = {"baseline": args.baseline} if args.baseline else {}
    with redirect_stdout(sys.stderr):
        baseline = baseline_for(args, settings, folder, suite, record)
    started = now()
    name = started.replace("-", "").replace(":", "")
    out = Path(args.out) if args.out else make_folder(folder.runs, name)
    with redirect_stdout(sys.stderr):
        result = execute_run(
            RunPlan(
                folder=folder,
                suite=suite,
                out=out,
                run_id=out.resolve().name,
                started=started,
                mode="native-matrix",
                traces=(packets / TRACES_FILE,),
                dataset=packets / CASES_FILE,
                judging=judge,
                pin=judging.pin,
                notes=judging.notes,
                losses=(*outlived(index, suite, index_now), *index.losses),
                verifier=None if second is None else second.pin,
                why_missing="no verdict file decides it",
                baseline=baseline,
                record=record,
                spread=SpreadRule(
                    ceiling=settings.stability.ceiling, forced=args.allow_flapping
                ),
                concurrency=1,
                environment=os.environ,
                watcher=open_progress(os.environ, quiet=args.quiet),
            )
        )
    warn_of_left_over(judging, result)
    return show(result, args)


def _verified(
    judging: ReplayJudge, packets: Path, suite: Suite
) -> tuple[Judging, ReplayJudge, list[str]]:
    """Return the verdicts with those of a second judge behind them, and what lacks."""
    from ..judges.verification import VerifiedReplay

    index = _index(packets)
    if not index.verifies:
        raise Refusal(f"{packets} holds no packets of a second judge: `verify` does")
    verdicts = verdicts_beside(packets)
    verdicts.mkdir(parents=True, exist_ok=True)
    second = ReplayJudge(verdicts, subject=suite.subject, packets=packets)
    lacking = gaps(
        index=index, packets=packets, verdicts=verdicts, suite=suite, judging=second
    )
    lacking += changed_firsts(index=index, packets=packets, first=judging)
    passes = "pass" in index.verifies
    return VerifiedReplay(judging, second, passes=passes), second, lacking


def _index(packets: Path) -> PacketIndex:
    try:
        return read_index(packets)
    except OSError:
        raise Refusal(
            f"there are no packets in {packets}: `prep` writes them"
        ) from None
    except ValueError as error:
        raise Refusal(
            f"{packets / INDEX_FILE} can't be read: {error}: run prep again"
        ) from error
