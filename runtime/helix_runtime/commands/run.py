"""`run`: the cases through the target, the checks and the judge, to the gate."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..folder import SuiteFolder, read_run_record, with_thresholds
from ..judges.judging import HOW_TO_JUDGE, ChosenJudge, open_judge, wanted_judge
from ..plan import RunPlan, RunResult, Watcher
from ..progress import open_progress
from ..record import replace
from ..refusal import INTERRUPTED, TERMINATED, Refusal
from ..resuming import same_baseline, same_code, same_subject, subject_record
from ..runner import execute_run, not_written
from ..safe_text import printable
from ..selection import Selection
from ..settings import Settings
from ..spread import MAX_CEILING, SpreadRule
from ..suite import Suite
from ..targets import Target, TargetNotWritten, open_target
from ..targets.loaded_code import code_of_target
from ..targets.options import options_of
from ..targets.recorded import configured_traces
from ..termination import Terminated, terminable
from .outcome import check_outputs, show, typed_path, warn_of_left_over

if TYPE_CHECKING:
    from ..baseline.baseline import Baseline

# What a resumed run takes over from the run that it goes on with, unless the command
# line says otherwise.
_KEPT: Final = (
    "target",
    "traces",
    "format",
    "cases",
    "category",
    "criteria",
    "retired",
    "judge",
    "no_judge",
    "replay",
    "no_cache",
    "baseline",
    "repeats",
    "judge_repeats",
    "ceiling",
    "allow_flapping",
    "timeout",
)
# What decides which units there are: to change it is another run.
_FIXED: Final = (
    "target",
    "traces",
    "format",
    "cases",
    "category",
    "criteria",
    "retired",
)


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Run the suite, show what came of it, return the gate's exit code."""
    if args.estimate:
        return show_estimate(args, folder)
    check_outputs(args)
    _warn_of_slips(folder)
    result = run_suite(
        args, folder, watcher=open_progress(os.environ, quiet=args.quiet)
    )
    return show(result, args)


def _warn_of_slips(folder: SuiteFolder) -> None:
    """Say which keys of the dataset nothing reads; of a large one, `cases` says it."""
    dataset = folder.dataset
    try:
        # A pipe in its place would keep its reader for ever.
        if not dataset.is_file() or dataset.stat().st_size > _MAX_LOOKED_AT:
            return
        from ..row_slips import dataset_slips

        lines = dataset_slips(dataset, folder.package_folder)
    except OSError:
        return  # the run says why it can't be read
    for line in lines:
        print(f"warning: {printable(line)}", file=sys.stderr)


_MAX_LOOKED_AT: Final = 100_000
"""So many bytes of a dataset are looked through at each run."""


def run_suite(
    args: Namespace, folder: SuiteFolder, *, watcher: Watcher | None = None
) -> RunResult:
    """Carry out a run as `args` and `evals.toml` say. Raises Refusal."""
    resumed: Path | None = None
    if args.resume is not None:
        resumed = folder.run_folder(args.resume)
        args = _take_over(args, resumed)
    record = {name: getattr(args, name) for name in _KEPT if _is_given(args, name)}
    folder = replace(folder, with_retired=args.retired)
    settings = folder.settings()
    # What the target and the checks print must not mix with the scorecard.
    with redirect_stdout(sys.stderr), terminable():
        suite = with_thresholds(folder.load_suite(), settings)
        judge = open_judge(args, settings, suite, folder)
        traces = _traces(args, settings, suite, folder)
        record |= subject_record(args.target, settings, traces)
        baseline = baseline_for(args, settings, folder, suite, record)
        notes: list[str] = []
        if resumed is not None:
            same_subject(resumed, record)
            same_baseline(resumed, record)
        loaded = set(sys.modules)
        target = None if traces else _target(args, settings, folder)
        if target is not None:
            own = code_of_target(target.name, package=folder.package, before=loaded)
            notes = same_code(resumed, record, own)
        plan: RunPlan | None = None
        try:
            plan = _plan(
                args=args,
                folder=folder,
                settings=settings,
                suite=suite,
                judge=judge,
                traces=traces,
                target=target,
                resumed=resumed,
                record=record,
                notes=notes,
                baseline=baseline,
                watcher=watcher,
            )
            result = execute_run(plan)
            if judge.replay is not None and not (args.cases or args.category):
                warn_of_left_over(judge.replay, result)
            return result
        except KeyboardInterrupt as stop:
            code = TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
            raise _interrupted(plan, folder, code) from None
        finally:
            if target is not None:
                target.close()
            judge.close()


def baseline_for(
    args: Namespace,
    settings: Settings,
    folder: SuiteFolder,
    suite: Suite,
    record: dict[str, Any],
) -> Baseline | None:
    """Return the baseline of a run, and put what is kept of it into `record`."""
    if not (args.baseline or settings.baseline):
        return None
    from ..baseline.chosen import CONTENT, chosen_baseline

    baseline = chosen_baseline(args.baseline, settings, folder, suite)
    if baseline is not None:
        record[CONTENT] = baseline.content
    return baseline


def _interrupted(plan: RunPlan | None, folder: SuiteFolder, exit_code: int) -> Refusal:
    """Return what is said where somebody interrupts a run."""
    said = "interrupted before anything was decided"
    if plan is not None and (plan.out / "run.json").is_file():
        where = typed_path(plan.out)
        run = (
            plan.out.name
            if plan.out.resolve().parent == folder.runs.resolve()
            else where
        )
        said = (
            f"interrupted: what is decided is kept in {where}; "
            f"`run --resume {run}` goes on from there"
        )
    return Refusal(said, exit_code=exit_code)


def show_estimate(args: Namespace, folder: SuiteFolder) -> int:
    """Say what judging would take; nobody is called, no credentials are needed."""
    from itertools import islice

    from ..formats.unitf import read_traces
    from ..judges.estimate import MAX_MEASURED, estimate_live, estimate_recorded
    from ..judges.prices import price_of
    from ..targets.recorded import RecordedCount, index_cases, read_recorded
    from ..unitf import ReadCount

    folder = replace(folder, with_retired=args.retired)
    settings = folder.settings()
    wanted = wanted_judge(args, settings)
    if wanted is None:
        raise Refusal(HOW_TO_JUDGE)
    selection = Selection(
        cases=args.cases, category=args.category, criteria=args.criteria
    )
    with redirect_stdout(sys.stderr):
        suite = selection.narrow(with_thresholds(folder.load_suite(), settings))
        traces = _traces(args, settings, suite, folder)
    price = price_of(wanted.model, settings.prices)
    if traces:
        runs = read_recorded(traces, index_cases(folder.cases()), RecordedCount())
        kept = ((c, t) for c, t in runs if selection.keeps(c))
        found = estimate_recorded(suite, kept, price)
    else:
        measured = []
        try:
            latest = folder.latest_run() / "traces.jsonl"
            measured = list(islice(read_traces(latest, ReadCount()), MAX_MEASURED))
        except (Refusal, OSError):
            pass  # nothing was run yet
        found = estimate_live(
            suite,
            (c for c in folder.cases() if selection.keeps(c)),
            repeats=args.repeats or settings.repeats,
            measured=measured,
            price=price,
        )
    for line in found.lines(wanted.model):
        print(printable(line))
    return 0


def _plan(
    *,
    args: Namespace,
    folder: SuiteFolder,
    settings: Settings,
    suite: Suite,
    judge: ChosenJudge,
    traces: tuple[Path, ...],
    target: Target | None,
    resumed: Path | None,
    record: Mapping[str, Any],
    notes: Sequence[str],
    baseline: Baseline | None,
    watcher: Watcher | None,
) -> RunPlan:
    if traces and args.repeats and not args.judge_repeats:
        raise Refusal(
            "--repeats runs the subject again, and recorded traces are not run: "
            "leave it out"
        )
    started = now()
    out, run_id = resumed, ""
    if resumed is not None:
        before = read_run_record(resumed) or {}
        run_id = str(before.get("id") or resumed.name)
        started = str(before.get("started") or started)
    elif args.out:
        out = Path(args.out)
        run_id = out.resolve().name
    else:
        out = make_folder(folder.runs, started.replace("-", "").replace(":", ""))
        run_id = out.name
    assert out is not None
    return RunPlan(
        folder=folder,
        suite=suite,
        out=out,
        run_id=run_id,
        started=started,
        mode="code-written",
        target=target,
        traces=traces,
        judging=judge.judging,
        pin=judge.pin,
        verifier=judge.verifier,
        why_missing=judge.why_missing,
        notes=(*judge.notes, *notes),
        allow_self_judging=settings.allow_self_judging,
        selection=Selection(
            cases=args.cases, category=args.category, criteria=args.criteria
        ),
        repeats=1 if traces else (args.repeats or settings.repeats),
        spread=_spread_rule(args, settings, recorded=bool(traces)),
        concurrency=args.concurrency or settings.concurrency,
        timeout=args.timeout or settings.timeout,
        budget_usd=args.budget_usd or settings.budget_usd,
        budget_tokens=args.budget_tokens or settings.budget_tokens,
        fail_fast=args.fail_fast,
        resume=resumed is not None,
        baseline=baseline,
        record=record,
        environment=os.environ,
        watcher=watcher,
    )


def _spread_rule(args: Namespace, settings: Settings, *, recorded: bool) -> SpreadRule:
    """Return what the spread over repeats is held against.

    In `stability`, which says how often a run is judged, `repeats` are also how many
    recorded runs a case needs.
    """
    judgements = args.judge_repeats or 1
    return SpreadRule(
        ceiling=settings.stability.ceiling if args.ceiling is None else args.ceiling,
        runs=args.repeats if recorded and args.judge_repeats else 0,
        judgements=judgements,
        forced=args.allow_flapping,
    )


# -- what is run -----------------------------------------------------------------


def _traces(
    args: Namespace, settings: Settings, suite: Suite, folder: SuiteFolder
) -> tuple[Path, ...]:
    """Return the recorded traces to judge; none where a target is to be called."""
    if args.traces and args.target:
        raise Refusal("--traces and --target: give one of the two")
    found = [Path(name) for name in args.traces]
    if not found and not args.target:
        found = configured_traces(settings, folder.root)
    missing = [path for path in found if not path.is_file()]
    if missing:
        raise Refusal(*(f"there is no trace file {path}" for path in missing))
    if not found and suite.engine == "native-matrix" and not args.target:
        raise Refusal(
            "this suite is native-only: its subject runs in a host and can't be "
            "called from Python. Give recorded traces with --traces FILE, or use "
            "`prep` and `aggregate`"
        )
    return read_as(found, args.format, settings)


def read_as(
    files: Sequence[Path], format: str | None, settings: Settings
) -> tuple[Path, ...]:
    """Return trace files with how they are read: as told, or as `evals.toml` says."""
    if not files:
        return ()
    from ..targets.recorded import TraceFiles

    return TraceFiles.of(
        files,
        format=format or settings.trace_format,
        mapping=settings.trace_map,
    )


def _target(args: Namespace, settings: Settings, folder: SuiteFolder) -> Target:
    own = f"{folder.package}.target"
    ref = args.target or settings.target or f"python:{own}:target"
    options = options_of(ref, settings.target_table, hooks=own)
    try:
        return open_target(ref, root=folder.root, options=options)
    except TargetNotWritten as error:
        raise not_written(folder, error) from error


def _take_over(args: Namespace, run: Path) -> Namespace:
    """Return the arguments with those of the run that is gone on with."""
    record = read_run_record(run) or {}
    if record.get("mode") == "native-matrix":
        raise Refusal(
            f"{run.name} is the roll-up of verdict files, which `aggregate` does anew: "
            "there is nothing to go on with"
        )
    before = record.get("arguments")
    before = before if isinstance(before, dict) else {}
    for name in _KEPT:
        if name in before and not _is_argument(name, before[name]):
            raise Refusal(
                f"{run / 'run.json'}: `arguments.{name}` was edited to what it can't "
                "be: start a new run"
            )
    if args.out:
        raise Refusal("--resume goes on in the run's own folder: leave --out away")
    faults = [
        f"--{name} differs from the run that is resumed: start a new run for it"
        for name in _FIXED
        if getattr(args, name) and getattr(args, name) != before.get(name)
    ]
    if faults:
        raise Refusal(*faults)
    merged = dict(vars(args))
    # A judge named now replaces whoever judged before, in whatever way.
    judged = args.judge or args.no_judge or args.replay
    for name in _KEPT:
        if judged and name in ("judge", "no_judge", "replay"):
            continue
        if not _is_given(args, name) and name in before:
            merged[name] = before[name]
    return Namespace(**merged)


def _is_given(args: Namespace, name: str) -> bool:
    """Whether the command line gave a value; a ceiling of 0 is one."""
    value = getattr(args, name)
    return bool(value) or (name == "ceiling" and value is not None)


def _is_argument(name: str, value: Any) -> bool:
    """Whether a value of a run.json is what the command line would have given."""
    if name in ("retired", "no_judge", "no_cache", "allow_flapping"):
        return isinstance(value, bool)
    if name == "ceiling":
        return value.__class__ in (int, float) and 0 <= value < MAX_CEILING
    if name in ("traces", "cases", "category", "criteria"):
        return isinstance(value, list) and all(isinstance(v, str) for v in value)
    if name in ("repeats", "judge_repeats"):
        return value.__class__ is int and 0 < value < 1_000_000
    if name == "timeout":
        return value.__class__ in (int, float) and 0 < value < 1e9
    return isinstance(value, str)


# -- run folders -------------------------------------------------------------------


def now() -> str:
    """Return the time as ISO 8601 text, in UTC and whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def make_folder(runs: Path, name: str) -> Path:
    """Make a new folder of that name, numbered where there is one already."""
    number = 1
    while True:
        folder = runs / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1
        except OSError as error:
            raise Refusal(f"{folder} can't be made: {error.strerror}") from error
