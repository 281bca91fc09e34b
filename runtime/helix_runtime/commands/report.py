"""`report`: the dashboard and the HTML page of a run, also of one that was cut short."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..folder import SuiteFolder, read_run_record
from ..names import CaseNames
from ..progress import is_lively
from ..refusal import Refusal
from ..report.html import write_report
from ..report.terminal import render_dashboard
from ..safe_text import printable
from ..scorecard import masked_digest, read_scorecard, write_scorecard
from ..strict_json import why_unreadable
from .outcome import terminal_width, typed_path

if TYPE_CHECKING:
    from ..baseline.changes import Changes

_REMEDY: Final = "remove it, and `report` decides the run from its journal"


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Print the dashboard of a run and write its page; return 0."""
    run_folder = folder.run_folder(args.run)
    try:
        return _show(args, folder, run_folder)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        path = run_folder / "scorecard.json"
        if not path.is_file() or _is_as_written(path):
            raise
        raise Refusal(
            f"{typed_path(path)}: edited since it was written, and not to "
            f"be shown: {_REMEDY}"
        ) from error


def _is_as_written(path: Path) -> bool:
    """Whether a scorecard has the digest of what it says."""
    try:
        scorecard = read_scorecard(path)
        return bool(scorecard["digest"] == masked_digest(scorecard))
    except (LookupError, TypeError, ValueError):
        return False


def _show(args: Namespace, folder: SuiteFolder, run_folder: Path) -> int:
    record = read_run_record(run_folder) or {}
    # What the suite's own modules print must not mix with the dashboard.
    with redirect_stdout(sys.stderr):
        scorecard, statements = _read(folder, run_folder, record)
        names = _names(folder, record)
        changes, said = _changes(args, folder, run_folder, record, scorecard)
    try:
        page = write_report(
            run_folder,
            scorecard=scorecard,
            statements=statements,
            names=names,
            changes=changes,
        )
    except OSError as error:
        raise Refusal(f"{run_folder}: {error.strerror}") from error
    shown = typed_path(page)
    if not args.quiet:
        dashboard = render_dashboard(
            scorecard,
            width=terminal_width(),
            color=is_lively(sys.stdout, os.environ),
            run_folder=typed_path(run_folder),
            changes=changes,
            names=names,
        )
        print(dashboard.rstrip("\n"))
        if said:
            print(f"\n  {printable(said)}")
        coverage = record.get("coverage")
        if isinstance(coverage, list) and coverage:
            print("\nCoverage")
            for line in coverage:
                print(f"  {printable(str(line))}")
        print()
    print(f"report: {printable(shown)}")
    return 0


def _changes(
    args: Namespace,
    folder: SuiteFolder,
    run_folder: Path,
    record: Mapping[str, Any],
    scorecard: Mapping[str, Any],
) -> tuple[Changes | None, str]:
    """Return what became other since the baseline, and what is to be said of that.

    The baseline is the one that is named, else the one that the run was held against: a
    run is shown although that one is gone, or the suite is broken now. Raises Refusal
    where the one that is named can't be compared with.
    """
    try:
        return _compared(args, folder, run_folder, record, scorecard)
    except Refusal as refusal:
        if args.baseline:
            raise
        return None, f"not shown against its baseline: {'; '.join(refusal.lines)}"


def _compared(
    args: Namespace,
    folder: SuiteFolder,
    run_folder: Path,
    record: Mapping[str, Any],
    scorecard: Mapping[str, Any],
) -> tuple[Changes | None, str]:
    from ..baseline.chosen import CONTENT, baseline_of_run, chosen_baseline

    arguments = record.get("arguments")
    held = arguments.get(CONTENT) if isinstance(arguments, Mapping) else None
    if not args.baseline and held is None:
        return None, ""
    if record.get("finished") is False:
        if not args.baseline:
            return None, ""
        raise Refusal(
            f"{typed_path(run_folder)} was not finished: `run --resume` goes on with "
            "it; then it can be compared"
        )
    suite, settings = folder.load_suite(), folder.settings()
    said = ""
    if args.baseline:
        baseline = chosen_baseline(args.baseline, settings, folder, suite)
        if baseline is not None and baseline.content != held:
            said = (
                "compared with the baseline that is named here; nothing is decided anew: "
                "what stands above was decided "
                + ("against another one" if held else "without one")
            )
    else:
        found = baseline_of_run(record, settings, folder, suite)
        if isinstance(found, str):
            raise Refusal(found)
        baseline = found
    if baseline is None:
        return None, ""
    from ..baseline.changes import changes_in

    try:
        return changes_in(run_folder, scorecard, baseline, folder), said
    except (OSError, ValueError) as error:
        raise Refusal(
            f"{typed_path(run_folder)} can't be compared: {error}: start a new run"
        ) from error


def _read(
    folder: SuiteFolder, run_folder: Path, record: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Return the scorecard of a run and the criteria's questions.

    A run that was not finished is decided from its journal, also where a scorecard
    of before it was resumed still lies there. What `validate` found of its judges since
    is taken into the scorecard.
    """
    path = run_folder / "scorecard.json"
    if record.get("finished") is False or not path.is_file():
        from ..report.interrupted import decide_interrupted

        scorecard = decide_interrupted(folder, run_folder, record)
    else:
        try:
            scorecard = _up_to_date(path, folder, record)
        except OSError as error:
            raise Refusal(f"{path}: {error.strerror}") from error
        except ValueError as error:
            said = why_unreadable(error).removeprefix(f"{path.name}: ")
            raise Refusal(f"{typed_path(path)}: {said}: {_REMEDY}") from error
    try:
        suite = folder.load_suite()
    except Refusal:
        # The run is over: it can be shown although the suite is broken now.
        return scorecard, {}
    return scorecard, {c.id: c.statement for c in suite.criteria}


def _up_to_date(
    path: Path, folder: SuiteFolder, record: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a run's scorecard, written anew where more is known of its judges by now.

    One that was edited is left as it is: a new digest would hide it.
    """
    scorecard = read_scorecard(path)
    if record.get("pin") is None or scorecard.get("digest") != masked_digest(scorecard):
        return scorecard
    from ..trust.known import trusted

    known = trusted(scorecard, root=folder.root, run_folder=path.parent, run=record)
    if known is not scorecard:
        write_scorecard(path, known)
    return known


def _names(folder: SuiteFolder, record: Mapping[str, Any]) -> CaseNames:
    """Return what the cases of a run are called, as far as they can be read now."""
    from ..report.interrupted import selection_of

    keeps = selection_of(record).keeps
    try:
        return CaseNames(case for case in folder.of_run(record).cases() if keeps(case))
    except (Refusal, OSError):
        return CaseNames()
