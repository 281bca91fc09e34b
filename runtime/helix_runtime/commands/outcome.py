"""What `run` and `aggregate` show of a run when it is over."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ..plan import RunResult
from ..progress import is_lively, is_terminal
from ..refusal import Refusal
from ..safe_text import printable

if TYPE_CHECKING:
    from ..judges.replay import ReplayJudge


def check_outputs(args: Namespace) -> None:
    """Refuse what can't be written to before anything is run. Raises Refusal."""
    wrong = []
    if args.out and os.path.exists(args.out) and not os.path.isdir(args.out):
        wrong.append(f"--out {args.out} is a file: name a folder")
    if args.junit and os.path.isdir(args.junit):
        wrong.append(f"--junit {args.junit} is a folder: name a file")
    if wrong:
        raise Refusal(*wrong)


def warn_of_left_over(replay: ReplayJudge, result: RunResult) -> None:
    """Say on stderr which recorded verdicts were on none of the runs."""
    for line in replay.left_over(result.out / "traces.jsonl"):
        print(f"warning: {printable(line)}", file=sys.stderr)


def show(result: RunResult, args: Namespace) -> int:
    """Print the dashboard or the scorecard, write JUnit; return the exit code."""
    if args.junit:
        from ..report.junit import write_junit

        try:
            path = Path(args.junit)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_junit(
                path, result.out / "units.jsonl", result.scorecard, names=result.names
            )
        except OSError as error:
            raise Refusal(f"--junit {args.junit}: {error.strerror}") from error
    if args.json:
        from ..scorecard import dump_scorecard

        sys.stdout.write(dump_scorecard(result.scorecard))
    elif args.quiet:
        from ..report.words import reservations

        said = "; ".join([typed_path(result.out), *reservations(result.scorecard)])
        print(f"gate: {result.decision.gate} ({printable(said)})")
    else:
        from ..report.terminal import render_dashboard

        print(
            render_dashboard(
                result.scorecard,
                width=terminal_width(),
                color=is_lively(sys.stdout, os.environ),
                run_folder=typed_path(result.out),
                changes=result.changes,
                names=result.names,
            ).rstrip("\n")
        )
    if not args.quiet:
        stream = sys.stderr if args.json else sys.stdout
        if result.coverage:
            print("\nCoverage", file=stream)
        for line in result.coverage:
            print(f"  {printable(line)}", file=stream)
    return result.exit_code


def typed_path(path: Path) -> str:
    """Return a path as a user would type it here: relative where it is shorter."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):  # another drive, or no working folder any more
        return str(path)
    return min(near.replace(os.sep, "/"), str(path), key=len)


def terminal_width() -> int:
    """Return how wide stdout is, in cells; 100 where it is no terminal."""
    if not is_terminal(sys.stdout):
        return 100
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, 40)
    except OSError:
        return 100
