"""What can be said on the suite's command line: its commands and their arguments.

Only argparse is imported here, and of the arguments those of the one command that was
typed: `--help` must start at once. A command's arguments are added by the function of
its name, in the module of its room.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

_COMMANDS: Final = (
    ("run", "run the cases and decide the gate", "running"),
    ("stability", "repeat cases and judgements, and say what flaps", "running"),
    ("verify", "write packets for a second judge", "judging"),
    ("agreement", "compare two runs that judged the same units", "judging"),
    ("canaries", "try to trick the judges, and count how often", "judging"),
    ("cache", "show or prune what is kept of judges' answers", "judging"),
    ("prep", "write packets for judging agents", "matrix"),
    ("aggregate", "turn verdict files into the scorecard", "matrix"),
    ("report", "show a run: dashboard and HTML", "running"),
    ("requests", "ask for changes of what fails, and read the answers", "improving"),
    ("loop", "say whether the loop around the runs goes on, and why", "improving"),
    ("audit", "look at the suite itself: what to trust", "improving"),
    ("cases", "list and filter the cases", "growing"),
    ("derive", "add regression cases out of runs", "growing"),
    ("expand", "add cases: tuples first, then their wording", "growing"),
    ("traces", "show what recorded traces are understood as", "observing"),
    ("profile", "show what recorded traces tell of the subject", "observing"),
    ("sample", "choose a few of many recorded traces", "observing"),
    ("labels", "read, import and export what people labelled", "judging"),
    ("validate", "hold the judges against people's labels", "judging"),
)
"""The commands in the order of the help: name, what it does, room of its arguments."""


_LONGEST: Final = max(len(name) for name, _, _ in _COMMANDS)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Knows the width of the terminal without importing shutil and its archives."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (ValueError, OSError):
            width = 80
        width = max(width, 40) - 2
        super().__init__(prog, width=width, max_help_position=26)
        # argparse forgets that commands are indented twice, and breaks their lines.
        self._action_max_length = _LONGEST + 4


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in two lines, where argparse would print every option."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where all is listed; exit with 2."""
        from ..safe_text import printable

        self.exit(
            2,
            f"error: {printable(message, 600)}\n  `{self.prog} --help` says what there is\n",
        )


class _Command(_Parser):
    """The parser of one command: what it does not know it says itself."""

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return the arguments and nothing left over; exit with 2 where some is."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            from ..refusal import close_match

            word = unknown[0].partition("=")[0]
            if not word.startswith("-"):
                self.error(f"{unknown[0]!r} is a word too many")
            known = [o for action in self._actions for o in action.option_strings]
            self.error(f"there is no option {word!r}{close_match(word, known)}")
        return found, []


def build_parser(prog: str, *, only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands; where `only` is one, of that one alone.

    One command is carried out at a time: the parsers of the others, which nobody asks
    for, would take a good part of a short run's start. Where `only` is none, they are
    there without their arguments, to be named. A word that is no command exits with 2.
    """
    parser = _Parser(
        prog=prog,
        description="Run this eval suite and decide its gate.",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="store_true", help="print the versions and exit"
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=prog, parser_class=_Command
    )
    is_known = any(name == only for name, _, _ in _COMMANDS)
    for name, what, room in _COMMANDS:
        if is_known and name != only:
            continue
        command = _command(commands, name, what)
        if only is None or only == name:
            arguments = import_module(f".{room}", __name__)
            getattr(arguments, name)(command)
    if only and not is_known:
        from ..refusal import close_match

        names = [name for name, _, _ in _COMMANDS]
        parser.error(f"there is no command {only!r}{close_match(only, names)}")
    return parser


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
