"""Arguments of the commands that carry out a run or show one."""

from __future__ import annotations

import argparse

from .shared import (
    EXITS,
    as_json,
    baseline,
    ceiling,
    count,
    flapping,
    positive,
    recorded_traces,
    repeats,
    run_output,
    selection,
)

_REFS = """\
REF says how to reach the subject:
  python:MODULE:CALLABLE       a function (or coroutine function) of one case
  command:PROGRAM ARGS         JSON on stdin, an answer or a UniTF line on stdout
  http:URL                     an endpoint; [target] in evals.toml says its format
  pydantic-ai:MODULE:AGENT     an agent of Pydantic AI
  langgraph:MODULE:GRAPH       a compiled graph of LangGraph
  openai-agents:MODULE:AGENT   an agent of the OpenAI Agents SDK
"""


def run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    parser.epilog = _REFS + "\n" + EXITS
    what = _what_is_run(parser)
    what.add_argument(
        "--repeats", type=count, metavar="N", help="run each case N times"
    )
    judges = _who_judges(parser)
    judges.add_argument(
        "--no-cache",
        action="store_true",
        help="ask for every verdict, also where an earlier run has the answer",
    )
    judges.add_argument(
        "--estimate",
        action="store_true",
        help="say how many calls, tokens and dollars judging takes; call nobody",
    )
    how = _how_it_is_run(parser)
    how.add_argument(
        "--fail-fast", action="store_true", help="stop at the first failure that gates"
    )
    baseline(how)
    flapping(how)
    # What `stability` asks for: a run does not ask a judge twice about the same.
    parser.set_defaults(judge_repeats=None, ceiling=None)
    run_output(parser)


def stability(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `stability`."""
    parser.epilog = (
        f"{_REFS}\n"
        "exit codes: 0 stable, 1 unstable, 3 under-sampled or not measured, 2, 4, 130 and\n"
        "143 as in run (after both `stability --resume` goes on)\n"
    )
    what = _what_is_run(parser)
    what.add_argument(
        "--repeats",
        type=repeats,
        metavar="N",
        help="run each case N times (default: 5); so many recorded runs are needed "
        "of a case that has several",
    )
    what.add_argument(
        "--judge-repeats",
        type=count,
        metavar="N",
        help="judge one run N times (default: as many as --repeats)",
    )
    what.add_argument(
        "--ceiling",
        type=ceiling,
        metavar="SHARE",
        help="the share of the repeats of a case that may differ (default: 0)",
    )
    _who_judges(parser)
    _how_it_is_run(parser)
    # An answer of an earlier run would hide the judge's spread.
    parser.set_defaults(
        no_cache=True, fail_fast=False, allow_flapping=False, baseline=None
    )
    output = parser.add_argument_group("what comes out")
    output.add_argument(
        "--out", metavar="DIR", help="the run's folder (default: runs/<run-id>)"
    )
    as_json(output)
    output.add_argument("-q", "--quiet", action="store_true", help="say less")


def report(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `report`."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="the run (default: the latest)"
    )
    baseline(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say less")


def _what_is_run(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    what = parser.add_argument_group("what is run")
    what.add_argument(
        "--target", metavar="REF", help="how to reach the subject; see below"
    )
    recorded_traces(what, "judge recorded traces; no target is called")
    selection(what)
    what.add_argument(
        "--retired",
        action="store_true",
        help="also the cases that the spec no longer has",
    )
    return what


def _who_judges(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    judges = parser.add_argument_group("who judges")
    who = judges.add_mutually_exclusive_group()
    who.add_argument("--judge", metavar="PROVIDER:MODEL", help="the model that judges")
    who.add_argument(
        "--no-judge", action="store_true", help="decide only what code can decide"
    )
    who.add_argument(
        "--replay", metavar="DIR", help="take verdict files in place of calls"
    )
    return judges


def _how_it_is_run(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    how = parser.add_argument_group("how it is run")
    how.add_argument(
        "--concurrency", type=count, metavar="N", help="how many at the same time"
    )
    how.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="RUN",
        help="go on with a run (default: the latest)",
    )
    how.add_argument(
        "--timeout", type=positive, metavar="S", help="seconds that a case may take"
    )
    how.add_argument(
        "--budget-usd", type=positive, metavar="X", help="stop when X dollars are used"
    )
    how.add_argument(
        "--budget-tokens", type=count, metavar="N", help="stop when N tokens are used"
    )
    return how
