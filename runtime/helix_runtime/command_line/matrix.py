"""Arguments of the commands of Path A: packets out, verdict files in."""

from __future__ import annotations

import argparse

from .shared import EXITS, baseline, count, flapping, recorded_traces, run_output


def prep(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `prep`."""
    recorded_traces(parser, "recorded traces to write packets from")
    parser.add_argument("--run", metavar="RUN", help="write packets from this run")
    parser.add_argument("--model", metavar="M", help="the exact model that will judge")
    parser.add_argument(
        "--out", metavar="DIR", help="where to write (default: matrix/packets)"
    )
    parser.add_argument(
        "--axis",
        choices=("trajectory", "criterion"),
        default="trajectory",
        help="a packet for each run, or a task for each criterion of each run",
    )
    parser.add_argument(
        "--batch-tokens",
        type=count,
        metavar="N",
        default=60_000,
        help="about how many tokens a batch may have (default: 60000)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say less")


def aggregate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `aggregate`."""
    parser.epilog = EXITS
    parser.add_argument(
        "--packets", metavar="DIR", help="what prep wrote (default: matrix/packets)"
    )
    parser.add_argument(
        "--verdicts", metavar="DIR", help="the verdict files (default: beside packets)"
    )
    parser.add_argument(
        "--verify", metavar="DIR", help="a second judge's packets, see `verify`"
    )
    baseline(parser)
    flapping(parser)
    run_output(parser)
