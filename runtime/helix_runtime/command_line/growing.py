"""Arguments of the commands by which a dataset grows."""

from __future__ import annotations

import argparse

from .shared import as_json, count, selection, several, share, trace_format


def cases(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `cases`."""
    selection(parser)
    parser.add_argument(
        "--placeholders",
        action="store_true",
        help="only cases whose query still has to be written",
    )
    parser.add_argument(
        "--retired",
        action="store_true",
        help="the cases that the spec no longer has, which are not run",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the rows as JSON Lines"
    )


def derive(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `derive`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="recorded traces")
    trace_format(parser)
    parser.add_argument(
        "--run", metavar="RUN", help="this run's traces, and what it decided of them"
    )
    parser.add_argument(
        "--labels", metavar="FILE", help="what people said (default: labels.jsonl)"
    )
    parser.add_argument(
        "--why",
        metavar="WHY,WHY",
        help="which runs: failed, uncertain, labelled, outlying (default: all of them, "
        "in this order)",
    )
    parser.add_argument("--n", type=count, metavar="N", help="at most N new cases")
    parser.add_argument(
        "--similar",
        type=share,
        metavar="SHARE",
        help="the share of words from which on two texts are near-duplicates "
        "(default: 0.8)",
    )
    several(
        parser,
        "--dimensions",
        "NAME",
        "names in the traces' tags and metadata that are dimensions too",
    )
    _dry_run(parser)


def expand(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `expand`."""
    parser.epilog = (
        "`expand` writes a task for each tuple without a case, `expand --placeholders` "
        "one\nfor each case that needs a realistic query; agents of a host or --writer "
        "answer\nthem, and `expand --accept` checks the answers in.\n"
        "exit codes: 0 done, 3 answers are refused or missing, 2, 4 as in run\n"
    )
    what = parser.add_argument_group("what is to be worded")
    what.add_argument(
        "--placeholders", action="store_true", help="cases whose query only describes"
    )
    several(
        what, "--cases", "GLOB", "only placeholders whose id, item or scenario matches"
    )
    several(what, "--category", "GLOB", "only placeholders of a category that matches")
    what.add_argument(
        "--dimensions", metavar="FILE", help="dimensions and rules as JSON"
    )
    several(what, "--over", "NAME", "these dimensions of the suite's own cases")
    what.add_argument("--dataset", metavar="ID", help="the dataset of the cases")
    what.add_argument(
        "--pairwise",
        action="store_true",
        help="each pair of values in some case, in place of every combination",
    )
    what.add_argument(
        "--max", type=count, metavar="N", help="allow N new tuples (default: 200)"
    )
    how = parser.add_argument_group("how they are worded")
    how.add_argument(
        "--out",
        metavar="DIR",
        help="where tasks go (default: matrix/writing, matrix/rewording)",
    )
    how.add_argument(
        "--writer", metavar="PROVIDER:MODEL", help="let this model answer the tasks"
    )
    how.add_argument(
        "--concurrency", type=count, metavar="N", help="how many at the same time"
    )
    how.add_argument(
        "--accept",
        nargs="?",
        const="",
        metavar="DIR",
        help="check the answers of a folder of tasks in (default: both above)",
    )
    _dry_run(parser)


def _dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="write nothing; show what would happen"
    )
    as_json(parser)
