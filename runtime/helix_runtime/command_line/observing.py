"""Arguments of the commands about recorded traces."""

from __future__ import annotations

import argparse

from .shared import as_json, count, trace_format


def traces(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `traces`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded traces")
    trace_format(parser)
    parser.add_argument(
        "--to",
        nargs=2,
        metavar=("unitf", "OUT"),
        help="also write them as UniTF, gzip where OUT ends in .gz",
    )
    parser.add_argument(
        "--limit",
        type=count,
        metavar="N",
        default=20,
        help="show that many one by one (default: 20); all are counted",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON Lines: every trace, then the sum",
    )


def profile(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `profile`."""
    _trace_input(parser)
    parser.add_argument("--out", metavar="FILE", help="also write the profile as JSON")
    as_json(parser)


def sample(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `sample`."""
    _trace_input(parser)
    parser.add_argument(
        "--strategy",
        choices=("random", "outlier", "failure", "uncertainty", "stratified"),
        default="random",
        help="how traces are chosen (default: random)",
    )
    parser.add_argument(
        "--by",
        metavar="FIELD",
        help="with stratified: category, scenario, dataset, outcome, status, tools, "
        "agent, source, model, tag, a dimension of the cases, or a name in the traces' "
        "metadata",
    )
    parser.add_argument(
        "--n",
        type=count,
        metavar="N",
        default=20,
        help="how many are chosen (default: 20)",
    )
    parser.add_argument(
        "--seed",
        metavar="S",
        default="0",
        help="the same seed chooses the same of the same traces (default: 0)",
    )
    parser.add_argument(
        "--balance",
        action=argparse.BooleanOptionalAction,
        help="half that fail and half that pass; the default with --run, but for "
        "failure and uncertainty",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write them as UniTF, gzip where it ends in .gz"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON Lines: every trace that is chosen, then the sum",
    )


def _trace_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="recorded traces")
    parser.add_argument("--run", metavar="RUN", help="take the traces of this run")
    trace_format(parser)
