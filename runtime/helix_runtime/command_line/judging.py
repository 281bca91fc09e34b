"""Arguments of the commands that are about judges, and about people's labels."""

from __future__ import annotations

import argparse

from .shared import as_json, count, recorded_traces, several


def verify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.add_argument("--model", metavar="M", help="the second judge's exact model")
    parser.add_argument(
        "--packets", metavar="DIR", help="what prep wrote (default: matrix/packets)"
    )
    parser.add_argument(
        "--verdicts", metavar="DIR", help="the first judge's (default: beside packets)"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="where to write (default: verify beside packets)"
    )
    parser.add_argument(
        "--passes", action="store_true", help="also verify passes that gate"
    )


def agreement(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `agreement`."""
    parser.add_argument("first", metavar="RUN", help="a run")
    parser.add_argument(
        "second", metavar="OTHER", help="another run of the same traces"
    )


def canaries(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `canaries`."""
    parser.add_argument(
        "--judge", metavar="PROVIDER:MODEL", help="the model that judges"
    )
    several(parser, "--criteria", "GLOB", "only judges of criteria whose id matches")
    parser.add_argument(
        "--limit", type=count, metavar="N", help="at most N attempts a judge"
    )
    parser.add_argument(
        "--concurrency", type=count, metavar="N", help="how many at the same time"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def cache(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `cache`."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("stats", "prune"),
        default="stats",
        help="what to do (default: stats)",
    )
    parser.add_argument(
        "--older-than",
        type=count,
        metavar="DAYS",
        help="prune only what is older than that",
    )


def labels(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `labels`."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("show", "import", "export", "splits", "examples"),
        default="show",
        help="what to do (default: show); splits: who is in train, dev and test; "
        "examples: print a judge's examples from TRAIN",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="what is imported, or exported to; of examples: the criterion",
    )
    recorded_traces(
        parser, "where labelled runs stand, beside runs/ and evals.toml's `traces`"
    )
    parser.add_argument(
        "--run",
        metavar="RUN",
        help="the run that was labelled: what is imported is on it, and examples are "
        "taken from it alone",
    )
    parser.add_argument(
        "--labels", metavar="FILE", help="the suite's labels (default: labels.jsonl)"
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("labels", "csv", "langfuse"),
        help="what is imported (default: found by its content)",
    )
    several(
        parser,
        "--map",
        "THEIRS=OURS",
        "a column or a score's name, and the field or the criterion it is",
    )
    parser.add_argument(
        "--annotator", metavar="WHO", help="who labelled, where the source is silent"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="what is imported holds for the criteria's words of now, too",
    )
    as_json(parser)


def validate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `validate`."""
    parser.epilog = (
        "exit codes: 0 every judge is validated or usable, 1 one failed, 3 one is "
        "unvalidated,\n2 usage or configuration\n"
    )
    what = parser.add_argument_group("whose verdicts")
    what.add_argument(
        "--run", metavar="RUN", help="those of this run (default: the latest)"
    )
    what.add_argument(
        "--verdicts", metavar="DIR", help="the verdict files of a host's agents"
    )
    what.add_argument(
        "--packets",
        metavar="DIR",
        help="with --verdicts: what prep wrote (default: matrix/packets)",
    )
    recorded_traces(
        what, "with --verdicts: the runs that were judged, in place of packets"
    )
    several(what, "--criteria", "GLOB", "only judges of criteria whose id matches")
    against = parser.add_argument_group("against which labels")
    against.add_argument(
        "--split",
        choices=("dev", "test"),
        default="dev",
        help="dev, as often as you like (the default), or test, once",
    )
    against.add_argument(
        "--again", action="store_true", help="look at a test split that was used"
    )
    against.add_argument(
        "--labels", metavar="FILE", help="the suite's labels (default: labels.jsonl)"
    )
    as_json(parser)
