"""`loop`: whether the loop around the evaluation goes on, by the runs so far.

A script or a coding agent calls it between two swings. It looks at finished runs and
changes nothing.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ..folder import SuiteFolder, read_run_record
from ..improving.finished_run import (
    FinishedRun,
    in_swings,
    list_runs,
    order_of,
    read_finished_runs,
    teller_of,
    why_partial,
)
from ..improving.loop import Budget, LoopDecision, Swing, decide_loop
from ..refusal import Refusal
from ..safe_text import printable

GREEN: Final = 0
STOPPED: Final = 1
GOES_ON: Final = 3
SCHEMA: Final = "helix-loop/1"
_NAMED: Final = 5
_REPEATS: Final = 5


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Say whether to go on; 0 full green, 1 stopped short of it, 3 go on."""
    with redirect_stdout(sys.stderr):
        subject = folder.load_suite().subject.id
    places, notes, unfinished = _history(args, folder)
    runs = read_finished_runs(places, subject=subject)
    _refuse_another_yardstick(folder, runs)
    notes += _edited(runs)
    if not args.runs:
        told = in_swings(runs)
        notes += _unchanged(told)
        runs = [teller_of(swing) for swing in told]
    budget = Budget(
        max_swings=args.max_swings,
        max_elapsed=args.max_elapsed,
        patience=args.patience,
    )
    swings = [run.to_swing() for run in runs]
    decision = decide_loop(
        swings,
        elapsed=args.elapsed,
        budget=budget,
        allow_flapping=args.allow_flapping,
    )
    if decision.is_green and unfinished:
        raise Refusal(
            f"the gate of {runs[-1].name} passes, but {unfinished[-1]} began after it and "
            "is not finished",
            f"`run --resume {unfinished[-1]}` goes on with it; or name the runs that count",
        )
    if decision.reason == "max-swings" and not args.runs and args.since is None:
        notes.append("a new loop begins with --since RUN, and counts from that run on")
    if args.elapsed is None and not decision.stops:
        notes.append("nobody watches the time: pass --elapsed SECONDS")
    if args.json:
        print(json.dumps(_record(args, runs, swings, decision, budget, notes)))
    else:
        for line in _lines(folder, runs, swings, decision, notes):
            print(printable(line))
    if decision.is_green:
        return GREEN
    return STOPPED if decision.stops else GOES_ON


def _history(
    args: Namespace, folder: SuiteFolder
) -> tuple[list[Path], list[str], Sequence[str]]:
    """Return the runs to look back on, the earliest first, and what is left out.

    Of that apart: runs that began after them all and are not finished.
    """
    if not args.runs:
        found = list_runs(folder, since=args.since)
        left_out = [f"left out: {line}" for line in found.left_out]
        return list(found.runs), left_out, found.unfinished
    if args.since is not None:
        raise Refusal("runs are named: leave --since out")
    places: list[Path] = []
    faults: list[str] = []
    for name in args.runs:
        try:
            place = folder.run_folder(name)
            order_of(place)
        except Refusal as refusal:
            faults += refusal.lines
            continue
        why = why_partial(read_run_record(place) or {})
        if why is not None:
            faults.append(f"the run {name} is no swing: {why}")
        elif any(place.resolve() == other.resolve() for other in places):
            faults.append(f"the run {name} is named twice")
        places.append(place)
    if faults:
        raise Refusal(*faults)
    return places, [], ()


def _refuse_another_yardstick(folder: SuiteFolder, runs: Sequence[FinishedRun]) -> None:
    """Refuse runs of which a later one is measured by less than an earlier one.

    A gate that turned green because a criterion or a case went away, or a threshold
    sank, would end the loop with nothing mended.
    """
    faults = _fewer_cases(folder, runs)
    for before, after in pairwise(runs):
        now = {c.id: c for c in after.criteria if c.gates}
        for one in before.criteria:
            if not one.gates:
                continue
            other = now.get(one.id)
            if other is None:
                faults.append(f"`{one.id}` gates in {before.name}, not in {after.name}")
            elif other.threshold != one.threshold:
                faults.append(
                    f"`{one.id}` had to meet {one.threshold} in {before.name}, and "
                    f"{other.threshold} in {after.name}"
                )
    if faults:
        raise Refusal(
            *faults,
            "these runs can't be compared: where the change is meant, begin the loop "
            f"anew with --since {runs[-1].name}",
        )


def _fewer_cases(folder: SuiteFolder, runs: Sequence[FinishedRun]) -> list[str]:
    """Return where a run went over fewer cases of the dataset than the one before it."""
    if len(runs) < 2:
        return []
    rows: set[str] = set()
    if any(run.target is None for run in runs):
        rows = {case.id for case in folder.cases()}
    try:
        covered = [run.covered(rows) for run in runs]
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror or error}") from error
    return [
        f"{after.name} has fewer cases than {before.name} ({now} after {then})"
        for (before, then), (after, now) in pairwise(zip(runs, covered, strict=True))
        if now < then
    ]


def _edited(runs: Sequence[FinishedRun]) -> list[str]:
    """Return where what decides was edited between two runs: checks, judges, criteria."""
    return [
        f"the suite was edited between {before.name} and {after.name}: what changed may "
        "be the yardstick, and not the subject"
        for before, after in pairwise(runs)
        if before.suite_sha256 != after.suite_sha256
    ]


def _unchanged(swings: Sequence[Sequence[FinishedRun]]) -> list[str]:
    """Return which runs are of a swing that another one tells of."""
    lines = []
    for swing in swings:
        teller = teller_of(swing)
        others = [run.name for run in swing if run is not teller]
        if others:
            more = len(others) - _NAMED
            named = ", ".join(others[:_NAMED]) + (
                f" and {more} more" if more > 0 else ""
            )
            lines.append(
                f"{named}: of one swing with {teller.name}, as nothing was changed between "
                "them"
            )
    return lines


# -- what is said -----------------------------------------------------------------------


def _lines(
    folder: SuiteFolder,
    runs: Sequence[FinishedRun],
    swings: Sequence[Swing],
    decision: LoopDecision,
    notes: Sequence[str],
) -> list[str]:
    lines = []
    width = max((len(swing.run) for swing in swings), default=0)
    for number, swing in enumerate(swings, 1):
        better = "better" if decision.improved[number - 1] else "no better"
        lines.append(
            f"swing {number}  {swing.run:<{width}}  {_told(swing)}"
            + (f"  ({better})" if number > 1 else "")
        )
    if decision.is_green:
        lines.append(f"stop: full green: {decision.why}")
    elif decision.stops:
        lines.append(f"stop: {decision.reason}: {decision.why}")
        lines += _delta(swings, decision)
    else:
        lines.append(f"go on ({decision.phase}): {decision.why}")
        lines += _next(folder, runs, decision)
    return lines + [f"note: {note}" for note in notes]


def _told(swing: Swing) -> str:
    """What a swing came to, in the order in which it counts: variance, accuracy."""
    still: str = swing.stability
    if swing.stability == "unstable":
        still = f"unstable ({swing.flapping} series flap)"
    told = []
    if swing.failing:
        told.append(f"{_criteria(swing.failing, 'fail')}")
    if swing.open:
        told.append(f"{swing.open} indeterminate")
    if swing.failed:
        told.append(f"{swing.failed} of {swing.judged} units fail")
    return f"{still}; gate {swing.gate}" + (f": {', '.join(told)}" if told else "")


def _criteria(number: int, verb: str) -> str:
    return f"1 criterion {verb}s" if number == 1 else f"{number} criteria {verb}"


def _delta(swings: Sequence[Swing], decision: LoopDecision) -> list[str]:
    if decision.best is None:
        return []
    best = swings[decision.best]
    lines = [f"best: swing {decision.best + 1}, {best.run}: {_told(best)}"]
    first, last = swings[0], swings[-1]
    if len(swings) > 1:
        lines.append(
            f"from the first swing to the last: {first.failing} → {last.failing} "
            f"gating criteria fail, {first.open} → {last.open} are indeterminate"
        )
    return lines


def _next(
    folder: SuiteFolder, runs: Sequence[FinishedRun], decision: LoopDecision
) -> list[str]:
    suite = f"python -m {folder.package}"
    again = f"{suite} run --repeats {_REPEATS}"
    if decision.reason == "no-run":
        return [f"next: {again}"]
    last = runs[-1]
    if decision.reason == "unstable" and last.judge_flapping:
        # A run does not ask a judge twice about the same.
        again = f"{suite} stability"
    elif last.target is None:
        again = "record each case several times, and judge those traces"
    if decision.reason == "unmeasured":
        lines = [f"next: {again} (--allow-flapping takes the gate as it is)"]
        if last.stability == "under-sampled" and last.repeats >= _REPEATS:
            # Once more would be as much: what lacks are verdicts, not repeats.
            lines.insert(
                0,
                f"first: {suite} report {last.name} says which units nobody decided; "
                "while they are open they show no spread",
            )
        return lines
    if decision.reason == "open":
        return [
            f"next: {suite} report {last.name} says what blocks each of them; no change "
            "of the subject settles that"
        ]
    lines = []
    if decision.reason == "unstable":
        if last.flapping:
            lines.append(f"flapping: {_series(last.flapping)}")
        if last.judge_flapping:
            judges = ", ".join(dict.fromkeys(c for c, _ in last.judge_flapping))
            lines += [
                f"the judge contradicts itself: {_series(last.judge_flapping)}",
                f"first: sharpen `pass_when` and `fail_when` of {judges}; no change of "
                "the subject settles that",
            ]
        if not last.flapping:
            return [*lines, f"next: {again}"]
    return [
        *lines,
        f"next: {suite} requests {last.name}, for whoever changes the subject",
        f"then: {again}",
    ]


def _series(pairs: Sequence[tuple[str, str]]) -> str:
    named = [f"{case} × {criterion}" for criterion, case in pairs]
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _record(
    args: Namespace,
    runs: Sequence[FinishedRun],
    swings: Sequence[Swing],
    decision: LoopDecision,
    budget: Budget,
    notes: Sequence[str],
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "decision": "stop" if decision.stops else "go-on",
        "reason": decision.reason,
        "why": decision.why,
        "phase": decision.phase,
        "swing": len(swings),
        "best": None if decision.best is None else swings[decision.best].run,
        "elapsed": args.elapsed,
        "budget": {
            "maxSwings": budget.max_swings,
            "maxElapsed": budget.max_elapsed,
            "patience": budget.patience,
        },
        "swings": [
            {
                "run": swing.run,
                "stability": swing.stability,
                "flapping": swing.flapping,
                "gate": swing.gate,
                "failing": list(run.failing),
                "indeterminate": list(run.open),
                "failedUnits": swing.failed,
                "units": swing.judged,
                "improved": better,
            }
            for run, swing, better in zip(runs, swings, decision.improved, strict=True)
        ],
        "notes": list(notes),
    }
