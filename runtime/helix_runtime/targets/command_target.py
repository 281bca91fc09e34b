"""The subject as a program: `command:PROGRAM ARGS`, JSON in, an answer out.

The program gets one JSON object on stdin: the case without what it should answer. It
prints its answer (text or JSON) or one UniTF trace. It runs in the suite's folder, in
a process group of its own, so that one that hangs dies with all its children.

Pipes are read by threads: selectors can't wait for pipes on Windows. What is kept of
a flood is bounded, and the program is killed at the bound.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Final

from ..canonical import dump_line
from ..case import Case
from ..refusal import Refusal
from ..trace import Trace
from ..unitf import trace_from_record
from . import MAX_ERROR_TEXT, MAX_OUTPUT, Target, TargetUnreachable, unreachable
from .answer import failure, trace_of

_CHUNK: Final = 1 << 16
_GRACE: Final = 2.0  # seconds for the pipes to end after the program has


class CommandTarget:
    """Starts the program once for each case."""

    kills: Final = True

    def __init__(self, name: str, words: list[str], *, folder: Path) -> None:
        self.name: Final = name
        self._words = words
        self._folder = folder
        self._alive: set[subprocess.Popen[bytes]] = set()

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one run of the program."""
        process = self._start()
        self._alive.add(process)
        try:
            talk = _Talk(process, case_for_subject(case))
            late = not talk.wait(timeout)
        finally:
            _kill_group(process)
            self._alive.discard(process)
        message = talk.fault(late=late, timeout=timeout)
        if message is not None:
            return failure(message, case, trace_id=trace_id)
        return _read_answer(talk.output, case, trace_id)

    def close(self) -> None:
        """Kill what still runs."""
        for process in list(self._alive):
            _kill_group(process)

    def _start(self) -> subprocess.Popen[bytes]:
        flags: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            flags = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        try:
            return subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder,
                **flags,
            )
        except OSError as error:
            raise TargetUnreachable(
                f"the target {self.name!r} can't be started: {error}"
            ) from error


class _Talk:
    """The three pipes of a program, each with a thread of its own."""

    def __init__(self, process: subprocess.Popen[bytes], message: bytes) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self._output: list[bytes] = []
        self._errors = b""
        self._flooded = False
        self._threads = [
            _start(self._write, process.stdin, message),
            _start(self._read_output, process.stdout),
            _start(self._read_errors, process.stderr),
        ]

    @property
    def output(self) -> bytes:
        return b"".join(self._output)

    def wait(self, timeout: float) -> bool:
        """Wait for the program and its pipes; whether it ended in time."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            _kill_group(self._process)
            self._process.wait()
            self._join()
            return False
        if not self._join():
            # The program is gone, but children of it still hold its pipes.
            _signal_group(self._process)
            self._join()
        return True

    def fault(self, *, late: bool, timeout: float) -> str | None:
        """Return why there is no answer, with the end of stderr, or None."""
        code = self._process.returncode
        if self._flooded:
            what = f"the program printed more than {MAX_OUTPUT} bytes"
        elif late:
            what = f"timed out after {timeout:g} s"
        elif code < 0:
            what = f"the program was killed by signal {-code}"
        elif code > 0:
            what = f"the program ended with exit code {code}"
        else:
            return None
        errors = self._errors.decode("utf-8", "backslashreplace").strip()
        return f"{what}; stderr: {errors}" if errors else what

    def _join(self) -> bool:
        for thread in self._threads:
            thread.join(_GRACE)
        return not any(thread.is_alive() for thread in self._threads)

    def _write(self, pipe: IO[bytes], message: bytes) -> None:
        try:
            with pipe:
                pipe.write(message)
        except OSError:
            pass  # a program that does not read its input is not at fault

    def _read_output(self, pipe: IO[bytes]) -> None:
        size = 0
        with pipe:
            while chunk := _read(pipe):
                size += len(chunk)
                if size > MAX_OUTPUT:
                    self._flooded = True
                    _kill_group(self._process)
                    return
                self._output.append(chunk)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := _read(pipe):
                self._errors = (self._errors + chunk)[-MAX_ERROR_TEXT:]


def open_command(rest: str, *, root: Path) -> Target:
    """Return the target of `PROGRAM ARGS`, words split as a shell does.

    Raises Refusal: exit 2 for words that can't be split, 4 where there is no such
    program.
    """
    import shlex
    from shutil import which

    name = f"command:{rest}"
    try:
        words = shlex.split(rest, posix=os.name != "nt")
    except ValueError as error:
        raise Refusal(f"the target {name!r} can't be split into words: {error}") from (
            error
        )
    if not words:
        raise Refusal(f"the target {name!r} names no program")
    program = words[0]
    if os.path.dirname(program):
        program = str(root / program)
    found = which(program)
    if found is None:
        raise unreachable(
            f"the target {name!r}: there is no program {words[0]!r} that can be run "
            f"(the suite's folder is where it is started)"
        )
    return CommandTarget(name, [found, *words[1:]], folder=root)


def case_for_subject(case: Case) -> bytes:
    """Return the line that the program reads: the row without what it should answer."""
    row = case.to_row()
    for key in ("expected", "expectedBehavior", "placeholder", "source"):
        row.pop(key, None)
    return dump_line(row).encode() + b"\n"


def _read_answer(data: bytes, case: Case, trace_id: str) -> Trace:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the program printed what is not UTF-8 ({error.reason})"
        return failure(f"{message}, at byte {error.start}", case, trace_id=trace_id)
    value = _parse(text)
    if isinstance(value, dict) and "traceId" in value and "spans" in value:
        try:
            value = trace_from_record(value)
        except ValueError as error:
            message = f"the program printed a trace that can't be read: {error}"
            return failure(message, case, trace_id=trace_id)
    return trace_of(value, case, trace_id=trace_id)


def _parse(text: str) -> Any:
    import json

    stripped = text.strip()
    if stripped[:1] in ("{", "[", '"'):
        try:
            return json.loads(stripped, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            pass
    return stripped


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read(pipe: IO[bytes]) -> bytes:
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except OSError:
        return b""


def _start(work: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs, with its children.

    One that was waited for already is left alone: its number may be another's now.
    """
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        subprocess.run(
            ["taskkill", "/T", "/F", "/PID", str(process.pid)],
            capture_output=True,
            check=False,
        )
    else:
        _signal_group(process)


def _signal_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform != "win32":
        import signal

        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
