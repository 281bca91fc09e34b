"""The suite's own command: `run`, `prep`, `aggregate`, `report`, `cases` and the rest.

Only the parser is imported here: `--help` must start at once. A command's own module
(`commands/<name>.py`: `execute(args, folder) -> int`) is imported when it is called.
"""

from __future__ import annotations

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
from .streams import expect_json, give_up_stdout, is_stdouts, make_streams_safe

_OLDEST = (3, 11)


def main(package_file: str, argv: Sequence[str] | None = None) -> int:
    """Run one command of the suite and return its exit code.

    `package_file` is the `__file__` of the suite's `__main__.py`: the package lies
    in its folder, the suite one above. `argv` defaults to the process's arguments.
    """
    package = os.path.dirname(os.path.abspath(package_file))
    make_streams_safe()
    if sys.version_info[:2] < _OLDEST:
        version = ".".join(str(n) for n in sys.version_info[:3])
        needed = ".".join(map(str, _OLDEST))
        sys.stderr.write(
            f"error: this suite needs Python {needed} or later, and {sys.executable} "
            f"is Python {version}: run it with a newer one\n"
        )
        return USAGE
    argv = sys.argv[1:] if argv is None else argv
    parser = build_parser(
        f"python -m {os.path.basename(package)}", only=command_in(argv)
    )
    args = parser.parse_args(argv)
    if getattr(args, "json", False):
        expect_json()
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
        give_up_stdout()
        return 141
    except Exception as error:
        if isinstance(error, OSError) and is_stdouts(error):
            give_up_stdout()
            _complain([f"stdout can't be written: {error.strerror}"])
            return CANT_CARRY_OUT
        from .whole_file import is_full

        if is_full(error):
            _complain([f"nothing more can be written: {error}"])
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
    folders = [os.path.join(os.path.dirname(package), "runs")]
    try:
        folders.append(gettempdir())
    except OSError:
        pass  # nowhere can anything be written
    for folder in folders:
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
