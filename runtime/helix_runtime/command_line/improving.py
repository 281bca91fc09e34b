"""Arguments of the commands around a suite: requests, the loop, the audit."""

from __future__ import annotations

import argparse

from .shared import as_json, count, positive, recorded_traces, seconds


def requests(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `requests`."""
    parser.epilog = (
        "exit codes: 0 done, 2 as in run; with --responses: 0 something was amended, 1 "
        "all\nwas rejected, 3 some requests have no answer"
    )
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="the run (default: the latest)"
    )
    parser.add_argument(
        "--swing",
        type=count,
        metavar="N",
        help="which swing it is (default: its place among the runs in runs/)",
    )
    _since(parser)
    parser.add_argument(
        "--remedy",
        choices=("agentspec", "impl"),
        help="where a change is to be sought (default: by the evidence)",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="also write the requests as JSON Lines"
    )
    parser.add_argument(
        "--responses", metavar="FILE", help="read what was answered to its requests"
    )
    as_json(parser)


def loop(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `loop`."""
    parser.epilog = "exit codes: 0 full green, 1 stop short of it, 3 go on, 2 as in run"
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="the swings so far, the earliest first (default: all of runs/ by start)",
    )
    _since(parser)
    parser.add_argument(
        "--elapsed",
        type=seconds,
        metavar="S",
        help="seconds since the loop began; no clock is read",
    )
    parser.add_argument(
        "--max-swings",
        type=count,
        metavar="N",
        default=6,
        help="stop after N swings (default: 6)",
    )
    parser.add_argument(
        "--max-elapsed",
        type=positive,
        metavar="S",
        default=1800.0,
        help="stop after S seconds (default: 1800)",
    )
    parser.add_argument(
        "--patience",
        type=count,
        metavar="N",
        default=2,
        help="stop after N swings in a row without improvement (default: 2)",
    )
    parser.add_argument(
        "--allow-flapping",
        action="store_true",
        help="take the gate as it is, also where nobody knows whether verdicts flap",
    )
    as_json(parser)


def audit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `audit`."""
    parser.epilog = "exit codes: 0 nothing was found, 1 findings, 2 as in run"
    recorded_traces(
        parser, "where labelled runs stand, beside runs/ and evals.toml's `traces`"
    )
    as_json(parser)


def _since(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="RUN", help="the run that was the loop's first swing"
    )
