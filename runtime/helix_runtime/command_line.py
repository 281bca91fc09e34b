"""What can be said on the suite's command line: its commands and their arguments.

Only argparse is imported here: `--help` must start at once.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

_REFS = """\
REF says how to reach the subject:
  python:MODULE:CALLABLE       a function (or coroutine function) of one case
  command:PROGRAM ARGS         JSON on stdin, an answer or a UniTF line on stdout
  http:URL                     an endpoint; [target] in evals.toml says its format
  pydantic-ai:MODULE:AGENT     an agent of Pydantic AI
  langgraph:MODULE:GRAPH       a compiled graph of LangGraph
  openai-agents:MODULE:AGENT   an agent of the OpenAI Agents SDK
"""
_EXITS = """\
exit codes: 0 gate pass, 1 gate fail, 3 gate incomplete, 2 usage or configuration,
4 the run could not be carried out, 130 interrupted, 143 terminated by SIGTERM
(after both `run --resume` goes on)
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Knows the width of the terminal without importing shutil and its archives."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (ValueError, OSError):
            width = 80
        super().__init__(prog, width=max(width, 40) - 2)


def build_parser(prog: str, *, only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands; with `only`, of no arguments but that one's.

    One command is carried out at a time: the arguments of the others, which nobody
    asks for, would take a good part of a short run's start.
    """
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Run this eval suite and decide its gate.",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="store_true", help="print the versions and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", prog=prog)
    for name, what, add_arguments in _commands():
        command = _command(commands, name, what)
        if only is None or only == name:
            add_arguments(command)
    return parser


_AddArguments = Callable[[argparse.ArgumentParser], None]


def _commands() -> tuple[tuple[str, str, _AddArguments], ...]:
    """Return the commands in the order of the help: name, what it does, arguments."""
    return (
        ("run", "run the cases and decide the gate", _run_arguments),
        (
            "stability",
            "repeat cases and judgements, and say what flaps",
            _stability_arguments,
        ),
        ("verify", "write packets for a second judge", _verify_arguments),
        (
            "agreement",
            "compare two runs that judged the same units",
            _agreement_arguments,
        ),
        (
            "canaries",
            "try to trick the judges, and count how often",
            _canaries_arguments,
        ),
        ("cache", "show or prune what is kept of judges' answers", _cache_arguments),
        ("prep", "write packets for judging agents", _prep_arguments),
        ("aggregate", "turn verdict files into the scorecard", _aggregate_arguments),
        ("report", "show a run: dashboard and HTML", _report_arguments),
        (
            "requests",
            "ask for changes of what fails, and read the answers",
            _requests_arguments,
        ),
        (
            "loop",
            "say whether the loop around the runs goes on, and why",
            _loop_arguments,
        ),
        ("audit", "look at the suite itself: what to trust", _audit_arguments),
        ("cases", "list and filter the cases", _cases_arguments),
        ("derive", "add regression cases out of runs", _derive_arguments),
        ("expand", "add cases: tuples first, then their wording", _expand_arguments),
        ("traces", "show what recorded traces are understood as", _traces_arguments),
        (
            "profile",
            "show what recorded traces tell of the subject",
            _profile_arguments,
        ),
        ("sample", "choose a few of many recorded traces", _sample_arguments),
        ("labels", "read, import and export what people labelled", _labels_arguments),
        ("validate", "hold the judges against people's labels", _validate_arguments),
    )


def command_in(argv: Sequence[str]) -> str:
    """Return the command that is meant, as it was typed; empty where there is none."""
    return next((word for word in argv if not word.startswith("-")), "")


def _command(commands: Any, name: str, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    return parser


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _REFS + "\n" + _EXITS
    what = _what_is_run(parser)
    what.add_argument(
        "--repeats", type=_count, metavar="N", help="run each case N times"
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
    _flapping(how)
    # What `stability` asks for: a run does not ask a judge twice about the same.
    parser.set_defaults(judge_repeats=None, ceiling=None)
    _output(parser)


def _stability_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        f"{_REFS}\n"
        "exit codes: 0 stable, 1 unstable, 3 under-sampled or not measured, 2, 4, 130 and\n"
        "143 as in run (after both `stability --resume` goes on)\n"
    )
    what = _what_is_run(parser)
    what.add_argument(
        "--repeats",
        type=_repeats,
        metavar="N",
        help="run each case N times (default: 5); so many recorded runs are needed "
        "of a case that has several",
    )
    what.add_argument(
        "--judge-repeats",
        type=_count,
        metavar="N",
        help="judge one run N times (default: as many as --repeats)",
    )
    what.add_argument(
        "--ceiling",
        type=_ceiling,
        metavar="SHARE",
        help="the share of the repeats of a case that may differ (default: 0)",
    )
    _who_judges(parser)
    _how_it_is_run(parser)
    # An answer of an earlier run would hide the judge's spread.
    parser.set_defaults(no_cache=True, fail_fast=False, allow_flapping=False)
    output = parser.add_argument_group("what comes out")
    output.add_argument(
        "--out", metavar="DIR", help="the run's folder (default: runs/<run-id>)"
    )
    output.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )
    output.add_argument("-q", "--quiet", action="store_true", help="say less")


def _what_is_run(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    what = parser.add_argument_group("what is run")
    what.add_argument(
        "--target", metavar="REF", help="how to reach the subject; see below"
    )
    _traces(what, "judge recorded traces; no target is called")
    _selection(what)
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
        "--concurrency", type=_count, metavar="N", help="how many at the same time"
    )
    how.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="RUN",
        help="go on with a run (default: the latest)",
    )
    how.add_argument(
        "--timeout", type=_positive, metavar="S", help="seconds that a case may take"
    )
    how.add_argument(
        "--budget-usd", type=_positive, metavar="X", help="stop when X dollars are used"
    )
    how.add_argument(
        "--budget-tokens", type=_count, metavar="N", help="stop when N tokens are used"
    )
    return how


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
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


def _agreement_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="RUN", help="a run")
    parser.add_argument(
        "second", metavar="OTHER", help="another run of the same traces"
    )


def _canaries_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge", metavar="PROVIDER:MODEL", help="the model that judges"
    )
    _several(parser, "--criteria", "GLOB", "only judges of criteria whose id matches")
    parser.add_argument(
        "--limit", type=_count, metavar="N", help="at most N attempts a judge"
    )
    parser.add_argument(
        "--concurrency", type=_count, metavar="N", help="how many at the same time"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _cache_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("stats", "prune"),
        default="stats",
        help="what to do (default: stats)",
    )
    parser.add_argument(
        "--older-than",
        type=_count,
        metavar="DAYS",
        help="prune only what is older than that",
    )


def _prep_arguments(parser: argparse.ArgumentParser) -> None:
    _traces(parser, "recorded traces to write packets from")
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
        type=_count,
        metavar="N",
        default=60_000,
        help="about how many tokens a batch may have (default: 60000)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say less")


def _aggregate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXITS
    parser.add_argument(
        "--packets", metavar="DIR", help="what prep wrote (default: matrix/packets)"
    )
    parser.add_argument(
        "--verdicts", metavar="DIR", help="the verdict files (default: beside packets)"
    )
    parser.add_argument(
        "--verify", metavar="DIR", help="a second judge's packets, see `verify`"
    )
    _flapping(parser)
    _output(parser)


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="the run (default: the latest)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say less")


def _requests_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "exit codes: 0 done, 2 as in run; with --responses: 0 something was amended, 1 "
        "all\nwas rejected, 3 some requests have no answer"
    )
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="the run (default: the latest)"
    )
    parser.add_argument(
        "--swing",
        type=_count,
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
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _loop_arguments(parser: argparse.ArgumentParser) -> None:
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
        type=_seconds,
        metavar="S",
        help="seconds since the loop began; no clock is read",
    )
    parser.add_argument(
        "--max-swings",
        type=_count,
        metavar="N",
        default=6,
        help="stop after N swings (default: 6)",
    )
    parser.add_argument(
        "--max-elapsed",
        type=_positive,
        metavar="S",
        default=1800.0,
        help="stop after S seconds (default: 1800)",
    )
    parser.add_argument(
        "--patience",
        type=_count,
        metavar="N",
        default=2,
        help="stop after N swings in a row without improvement (default: 2)",
    )
    parser.add_argument(
        "--allow-flapping",
        action="store_true",
        help="take the gate as it is, also where nobody knows whether verdicts flap",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _since(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="RUN", help="the run that was the loop's first swing"
    )


def _audit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit codes: 0 nothing was found, 1 findings, 2 as in run"
    _traces(parser, "where labelled runs stand, beside runs/ and evals.toml's `traces`")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _cases_arguments(parser: argparse.ArgumentParser) -> None:
    _selection(parser)
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


def _derive_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="recorded traces")
    _format(parser)
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
    parser.add_argument("--n", type=_count, metavar="N", help="at most N new cases")
    parser.add_argument(
        "--similar",
        type=_share,
        metavar="SHARE",
        help="the share of words from which on two texts are near-duplicates "
        "(default: 0.8)",
    )
    _several(
        parser,
        "--dimensions",
        "NAME",
        "names in the traces' tags and metadata that are dimensions too",
    )
    _dry_run(parser)


def _expand_arguments(parser: argparse.ArgumentParser) -> None:
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
    _several(
        what, "--cases", "GLOB", "only placeholders whose id, item or scenario matches"
    )
    _several(what, "--category", "GLOB", "only placeholders of a category that matches")
    what.add_argument(
        "--dimensions", metavar="FILE", help="dimensions and rules as JSON"
    )
    _several(what, "--over", "NAME", "these dimensions of the suite's own cases")
    what.add_argument("--dataset", metavar="ID", help="the dataset of the cases")
    what.add_argument(
        "--pairwise",
        action="store_true",
        help="each pair of values in some case, in place of every combination",
    )
    what.add_argument(
        "--max", type=_count, metavar="N", help="allow N new tuples (default: 200)"
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
        "--concurrency", type=_count, metavar="N", help="how many at the same time"
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
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _traces_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded traces")
    _format(parser)
    parser.add_argument(
        "--to",
        nargs=2,
        metavar=("unitf", "OUT"),
        help="also write them as UniTF, gzip where OUT ends in .gz",
    )
    parser.add_argument(
        "--limit",
        type=_count,
        metavar="N",
        default=20,
        help="show that many one by one (default: 20); all are counted",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON Lines: every trace, then the sum",
    )


def _profile_arguments(parser: argparse.ArgumentParser) -> None:
    _trace_input(parser)
    parser.add_argument("--out", metavar="FILE", help="also write the profile as JSON")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _sample_arguments(parser: argparse.ArgumentParser) -> None:
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
        type=_count,
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
    _format(parser)


def _labels_arguments(parser: argparse.ArgumentParser) -> None:
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
    _traces(parser, "where labelled runs stand, beside runs/ and evals.toml's `traces`")
    parser.add_argument(
        "--run", metavar="RUN", help="take the examples' text from this run alone"
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
    _several(
        parser,
        "--map",
        "THEIRS=OURS",
        "a column or a score's name, and the field or the criterion it is",
    )
    parser.add_argument(
        "--annotator", metavar="WHO", help="who labelled, where the source is silent"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _validate_arguments(parser: argparse.ArgumentParser) -> None:
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
    _traces(what, "with --verdicts: the runs that were judged, in place of packets")
    _several(what, "--criteria", "GLOB", "only judges of criteria whose id matches")
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
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object in place of text"
    )


def _several(
    parser: argparse._ActionsContainer, option: str, metavar: str, what: str
) -> None:
    """Add an option that takes several values, and may be given several times."""
    parser.add_argument(
        option, metavar=metavar, nargs="+", action="extend", default=[], help=what
    )


def _traces(parser: argparse._ActionsContainer, what: str) -> None:
    _several(parser, "--traces", "FILE", what)
    _format(parser)


def _format(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="the traces' format (default: found by their content): unitf, langfuse, "
        "otel, openinference, openai-chat, claude-code, inspect, mapped",
    )


def _selection(parser: argparse._ActionsContainer) -> None:
    for option, what in (
        ("--cases", "only cases whose id, item or scenario matches"),
        ("--category", "only cases of a category that matches"),
        ("--criteria", "only criteria whose id matches, or class:code"),
    ):
        _several(parser, option, "GLOB", what)


def _flapping(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--allow-flapping",
        action="store_true",
        help="let a rate pass whose repeats contradict each other, and say so",
    )


def _output(parser: argparse.ArgumentParser) -> None:
    output = parser.add_argument_group("what comes out")
    output.add_argument(
        "--out", metavar="DIR", help="the run's folder (default: runs/<run-id>)"
    )
    output.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    output.add_argument(
        "--json", action="store_true", help="print the scorecard as JSON"
    )
    output.add_argument("-q", "--quiet", action="store_true", help="say less")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, not {text}")
    return number


def _repeats(text: str) -> int:
    number = _count(text)
    if number < 2:
        raise argparse.ArgumentTypeError("must be at least 2: one shows no spread")
    return number


def _ceiling(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 0.5:
        raise argparse.ArgumentTypeError(
            f"must be a share from 0 to below 0.5, such as 0.2, not {text}"
        )
    return number


def _share(text: str) -> tuple[int, int]:
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


def _seconds(text: str) -> float:
    return 0.0 if text == "0" else _positive(text)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")
    return number
