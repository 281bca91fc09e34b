"""What several commands have in common: options, and the kinds of their values.

The kinds raise `argparse.ArgumentTypeError` for what is none of theirs.
"""

from __future__ import annotations

import argparse

EXITS = """\
exit codes: 0 gate pass, 1 gate fail, 3 gate incomplete, 2 usage or configuration,
4 the run could not be carried out, 130 interrupted, 143 terminated by SIGTERM
(after both `run --resume` goes on)
"""


def several(
    parser: argparse._ActionsContainer, option: str, metavar: str, what: str
) -> None:
    """Add an option that takes several values, and may be given several times."""
    parser.add_argument(
        option, metavar=metavar, nargs="+", action="extend", default=[], help=what
    )


def as_json(parser: argparse._ActionsContainer) -> None:
    """Add `--json` of a command that prints text otherwise."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def recorded_traces(parser: argparse._ActionsContainer, what: str) -> None:
    """Add `--traces` and `--format`."""
    several(parser, "--traces", "FILE", what)
    trace_format(parser)


def trace_format(parser: argparse._ActionsContainer) -> None:
    """Add `--format`."""
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="the traces' format (default: found by their content): unitf, langfuse, "
        "otel, openinference, openai-chat, claude-code, inspect, mapped",
    )


def selection(parser: argparse._ActionsContainer) -> None:
    """Add the options that narrow cases and criteria."""
    for option, what in (
        ("--cases", "only cases whose id, item or scenario matches"),
        ("--category", "only cases of a category that matches"),
        ("--criteria", "only criteria whose id matches, or class:code"),
    ):
        several(parser, option, "GLOB", what)


def flapping(parser: argparse._ActionsContainer) -> None:
    """Add `--allow-flapping`."""
    parser.add_argument(
        "--allow-flapping",
        action="store_true",
        help="let a rate pass whose repeats contradict each other, and say so",
    )


def baseline(parser: argparse._ActionsContainer) -> None:
    """Add `--baseline`."""
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="compare with this run, or with a folder that holds its scorecard.json "
        "and units.jsonl",
    )


def run_output(parser: argparse.ArgumentParser) -> None:
    """Add what says where a run goes and how its result is told."""
    output = parser.add_argument_group("what comes out")
    output.add_argument(
        "--out", metavar="DIR", help="the run's folder (default: runs/<run-id>)"
    )
    output.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    output.add_argument(
        "--json", action="store_true", help="print the scorecard as JSON"
    )
    output.add_argument("-q", "--quiet", action="store_true", help="say less")


def count(text: str) -> int:
    """Return a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, not {text}")
    return number


def repeats(text: str) -> int:
    """Return a number of repeats that can show a spread."""
    number = count(text)
    if number < 2:
        raise argparse.ArgumentTypeError("must be at least 2: one shows no spread")
    return number


def ceiling(text: str) -> float:
    """Return a share from 0 to below 0.5."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 0.5:
        raise argparse.ArgumentTypeError(
            f"must be a share from 0 to below 0.5, such as 0.2, not {text}"
        )
    return number


def share(text: str) -> tuple[int, int]:
    """Return a share above 0 and at most 1, as a fraction of whole numbers."""
    # As a fraction of whole numbers: what is compared must not depend on rounding.
    whole, point, part = text.partition(".")
    digits = whole + part
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        share = int(digits), 10 ** len(part)
        if 0 < share[0] <= share[1]:
            return share
    raise argparse.ArgumentTypeError(
        f"must be a share above 0 and at most 1, such as 0.9, not {text}"
    )


def seconds(text: str) -> float:
    """Return seconds; 0 is allowed."""
    return 0.0 if text == "0" else positive(text)


def positive(text: str) -> float:
    """Return a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")
    return number
