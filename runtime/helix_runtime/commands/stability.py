"""`stability`: whether repeats agree, before accuracy means anything.

Each case is run several times, and the judge is asked several times about the same run.
It is a run like any other, with its folder, and can be gone on with; what it says is not
how good the subject is but how much of that can be believed.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..decide import CriterionVariance
from ..folder import SuiteFolder, read_run_record
from ..plan import RunResult
from ..progress import open_progress
from ..report.words import number, plural, reservations
from ..safe_text import printable
from ..scorecard import variance_record
from ..settings import Settings
from ..spread import Short, Spread, Steadiness, Who, steadiness
from .outcome import typed_path
from .run import run_suite

SCHEMA: Final = "helix-stability/1"
EXIT_CODE: Final[Mapping[Steadiness, int]] = {
    "stable": 0,
    "unstable": 1,
    "under-sampled": 3,
    "not-measured": 3,
}
_MARK: Final[Mapping[Steadiness, str]] = {
    "stable": "✓",
    "unstable": "✗",
    "under-sampled": "?",
    "not-measured": "–",
}


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Run the phase and show the spread; the exit code says whether it is stable.

    0 stable, 1 unstable, 3 under-sampled or not measured.
    """
    _plan(args, folder, folder.settings())
    result = run_suite(
        args, folder, watcher=open_progress(os.environ, quiet=args.quiet)
    )
    verdict: Steadiness = result.scorecard["variance"]["verdict"]
    if args.json:
        print(json.dumps(_record(result), indent=2))
    elif args.quiet:
        said = [typed_path(result.out), *reservations(result.scorecard)]
        print(f"stability: {verdict} ({printable('; '.join(said))})")
    else:
        for line in _lines(result, _typed(result.out, folder)):
            print(printable(line))
    if not args.quiet:
        for line in result.coverage:
            print(printable(line), file=sys.stderr)
    return EXIT_CODE[verdict]


def _plan(args: Namespace, folder: SuiteFolder, settings: Settings) -> None:
    """Fill in how often: as told, as the run that is gone on with, as `evals.toml`."""
    before: Any = None
    if args.resume is not None:
        record = read_run_record(folder.run_folder(args.resume)) or {}
        before = record.get("arguments")
    own = settings.stability
    args.repeats = args.repeats or _earlier(before, "repeats", 2) or own.repeats
    args.judge_repeats = (
        args.judge_repeats
        or _earlier(before, "judge_repeats", 1)
        or own.judge_repeats
        or args.repeats
    )


def _typed(run: Path, folder: SuiteFolder) -> str:
    """Return a run as `--resume` takes it: its id, or its path where it lies elsewhere."""
    if run.resolve().parent == folder.runs.resolve():
        return run.name
    return typed_path(run)


def _earlier(before: Any, name: str, least: int) -> int | None:
    value = before.get(name) if isinstance(before, dict) else None
    return value if value.__class__ is int and value >= least else None


def _record(result: RunResult) -> dict[str, Any]:
    """Return the scorecard's variance, with what is under-sampled by name."""
    decision = result.decision
    record = variance_record(decision, repeats=result.scorecard["run"]["repeats"])
    by_id = {found.id: found for found in decision.variance}
    for criterion in record["criteria"]:
        found = by_id[criterion["criterionId"]]
        criterion["severity"] = found.severity
        criterion["verdict"] = steadiness([found.subject, found.judge])
        criterion["underSampled"] = [
            {
                "caseId": short.case_id,
                "of": short.who,
                "finished": short.finished,
                "planned": short.planned,
            }
            for short in found.short
        ]
    return {
        "schema": SCHEMA,
        "run": result.scorecard["run"]["id"],
        **record,
        "notes": list(result.scorecard["run"].get("notes", ())),
    }


def _lines(result: RunResult, run: str) -> Iterator[str]:
    variance = result.scorecard["variance"]
    yield f"{_MARK[variance['verdict']]} {variance['verdict'].upper()}  {_how(result)}"
    for note in result.scorecard["run"].get("notes", ()):
        yield f"  {note}"
    for found in result.decision.variance:
        yield ""
        yield from _criterion_lines(found, result)
    yield ""
    for step in _next_steps(result, run):
        yield f"  → {step}"
    yield f"  run  {run}"


def _how(result: RunResult) -> str:
    rule = result.decision.rule
    said = []
    if result.scorecard["run"]["target"] is not None:
        repeats = result.scorecard["run"]["repeats"]
        said.append(f"{plural(repeats, 'run')} of each case")
    else:
        said.append(f"recorded runs, {rule.runs} needed where a case has several")
    if rule.judgements > 1:
        said.append(f"{rule.judgements} judgements of one run")
    if rule.ceiling:
        said.append(f"at most {number(rule.ceiling, share=True)} may differ")
    return "; ".join(said)


def _criterion_lines(found: CriterionVariance, result: RunResult) -> Iterator[str]:
    state = steadiness([found.subject, found.judge])
    advises = "" if found.gates else " (advises)"
    yield f"{_MARK[state]} {found.severity:<4} {found.id}{advises}: {state}"
    for who, spread in (("subject", found.subject), ("judge", found.judge)):
        if spread.measured:
            yield f"    {who:<8}{_spread(spread, of_runs=who == 'judge')}"
    if found.pass_hat_k is not None and found.pass_at_k is not None:
        k = result.decision.rule.runs or result.scorecard["run"]["repeats"]
        if k > 1:
            every = number(found.pass_hat_k, share=True)
            some = number(found.pass_at_k, share=True)
            yield f"    pass^{k} {every}, pass@{k} {some}"
    label = result.names.label
    for case in found.flapping:
        yield (
            f"    flaps   {label(case.case_id)}: "
            f"{case.passes} of {plural(case.decided, 'run')} pass"
        )
    for trace in found.judge_flapping:
        said = ", ".join(f"{n} {result}" for result, n in trace.results.items())
        yield (
            f"    flaps   {label(trace.case_id)}: the judge says {said} "
            f"of the run {trace.trace_id}"
        )
    undecided = _undecided(found, result)
    if undecided is not None:
        yield f"    short   no run is decided: {undecided}"
        return
    for short in found.short:
        what = "runs decided" if short.who == "subject" else "judgements finished"
        why = "" if _waits(short, found) else ", for the judge contradicts itself"
        yield (
            f"    short   {label(short.case_id)}: "
            f"{short.finished} of {short.planned} {what}{why}"
        )
    left = found.subject.under_sampled + found.judge.under_sampled - len(found.short)
    left += found.subject.flapping - len(found.flapping)
    left += found.judge.flapping - len(found.judge_flapping)
    if left > 0:
        yield f"    and {left:,} more"


def _undecided(found: CriterionVariance, result: RunResult) -> str | None:
    """Return why no run of any case is decided, None where one is or was asked about."""
    if found.judge.measured:
        return None
    for criterion in result.scorecard["criteria"]:
        if criterion["criterionId"] == found.id:
            counts, blocked = criterion["counts"], criterion["blockedBy"]
            if blocked is not None and counts["pass"] + counts["fail"] == 0:
                return str(blocked["text"])
    return None


def _waits(short: Short, found: CriterionVariance) -> bool:
    """Whether more repeats could help: not where it is the judge that leaves runs open."""
    flaps = any(trace.case_id == short.case_id for trace in found.judge_flapping)
    return short.who == "judge" or not flaps


def _spread(spread: Spread, *, of_runs: bool) -> str:
    what = "run" if of_runs else "case"
    said = [f"{spread.stable:,} of {plural(spread.measured, what)} stable"]
    if spread.flapping:
        said.append(f"{spread.flapping:,} flapping")
    if spread.under_sampled:
        said.append(f"{spread.under_sampled:,} under-sampled")
    return ", ".join(said)


def _next_steps(result: RunResult, run: str) -> Iterator[str]:
    """Yield what to do next, and what was not looked at."""
    found = result.decision.variance
    subject = sum((c.subject for c in found), Spread())
    judge = sum((c.judge for c in found), Spread())
    if judge.flapping:
        names = ", ".join(f"`{c.id}`" for c in found if c.judge.flapping)
        yield (
            f"The judge contradicts itself on the same run: sharpen `pass_when` and "
            f"`fail_when` of {names}, or take another model."
        )
    if subject.flapping:
        yield (
            "The subject answers differently each time: steady it on the cases above "
            "before its rate means anything, or set `ceiling` under [stability] in "
            "evals.toml."
        )
    if any(_waits(short, c) for c in found for short in c.short):
        yield (
            "Too few repeats are finished: `report` says what keeps them open; "
            f"`stability --resume {run}` asks again what was in error."
        )
    if not subject.measured:
        yield from _not_measured("subject", result)
    if not judge.measured:
        yield from _not_measured("judge", result)


def _not_measured(who: Who, result: RunResult) -> Iterator[str]:
    if who == "subject":
        if result.scorecard["run"]["target"] is None:
            yield (
                "Of the subject nothing is known: no case has several recorded runs."
            )
        return
    criteria = result.scorecard["criteria"]
    if any(c["class"] != "code" for c in criteria):
        asked = result.decision.rule.judgements > 1
        why = "it judged nothing" if asked else "nobody was asked twice"
        yield f"Of the judge nothing is known: {why}."
