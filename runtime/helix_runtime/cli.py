"""The suite's own command: `run`, `prep`, `aggregate`, `report`, `cases` and the rest.

Only the parser is imported here: `--help` must start at once. A command's own module
(`commands/<name>.py`: `execute(args, folder) -> int`) is imported when it is called.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from .command_line import build_parser, command_in
from .refusal import (
    CANT_CARRY_OUT,
    INTERNAL,
    INTERRUPTED,
    TERMINATED,
    USAGE,
    Refusal,
)


def main(package_file: str, argv: Sequence[str] | None = None) -> int:
    """Run one command of the suite and return its exit code.

    `package_file` is the `__file__` of the suite's `__main__.py`: the package lies
    in its folder, the suite one above. `argv` defaults to the process's arguments.
    """
    package = os.path.dirname(os.path.abspath(package_file))
    _make_streams_safe()
    argv = sys.argv[1:] if argv is None else argv
    parser = build_parser(
        f"python -m {os.path.basename(package)}", only=command_in(argv)
    )
    args = parser.parse_args(argv)
    try:
        code = _execute(args, package)
        sys.stdout.flush()
        return code
    except Refusal as refusal:
        # Who interrupts a run knows that it is no error.
        stopped = refusal.exit_code in (INTERRUPTED, TERMINATED)
        label = "" if stopped else "error: "
        _complain(refusal.lines, label=label)
        return refusal.exit_code
    except KeyboardInterrupt:
        _complain(["interrupted"], label="")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`, a pager) went away: nothing more to say to it.
        _give_up_stdout()
        return 141
    except Exception as error:
        if isinstance(error, OSError) and _is_stdouts(error):
            _give_up_stdout()
            _complain([f"stdout can't be written: {error.strerror}"])
            return CANT_CARRY_OUT
        return _internal_error(package)
    except BaseException as error:
        # A stranger's `sys.exit(0)` must never look like a gate that passes.
        from .folder import blame

        _complain([f"the command was ended from inside: {blame(error)}"])
        return INTERNAL


def _execute(args: argparse.Namespace, package: str) -> int:
    from pathlib import Path

    from .folder import SuiteFolder

    folder = SuiteFolder(root=Path(package).parent, package=os.path.basename(package))
    if args.version:
        print(folder.versions())
        return 0
    if args.command is None:
        build_parser(f"python -m {folder.package}", only="").print_help()
        return USAGE
    code: int = _command_module(args.command).execute(args, folder)
    return code


def _command_module(name: str) -> Any:
    from importlib import import_module

    return import_module(f".commands.{name}", __package__)


def _is_stdouts(error: OSError) -> bool:
    """Whether it was stdout that could not be written (a full disk behind `>`)."""
    try:
        sys.stdout.write("\n")  # an unbuffered stream has nothing left to flush
        sys.stdout.flush()
    except OSError as again:
        return again.errno == error.errno
    return False


def _give_up_stdout() -> None:
    """Let the interpreter end without writing into stdout once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _make_streams_safe() -> None:
    # Python has no stream where the caller closed it (`>&-`): what is said goes nowhere.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    # A pipe on Windows or an ASCII locale can't hold every character: what it can't
    # hold is escaped, it must not stop a run.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _complain(lines: Sequence[str], *, label: str = "error: ") -> None:
    from .safe_text import printable_lines

    for line in lines:
        first, *rest = printable_lines(line)
        print(f"{label}{first}", file=sys.stderr)
        for more in rest:
            print(f"  {more}", file=sys.stderr)


def _internal_error(package: str) -> int:
    import traceback
    from tempfile import gettempdir

    text = traceback.format_exc()
    runs = os.path.join(os.path.dirname(package), "runs")
    for folder in (runs, gettempdir()):
        path = os.path.join(folder, f"internal-error-{os.getpid()}.txt")
        try:
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        _complain([f"this is a bug of the suite's runtime; its traceback is in {path}"])
        return INTERNAL
    _complain(["this is a bug of the suite's runtime", text])
    return INTERNAL
