"""The subject as a program: `command:PROGRAM ARGS`, JSON in, an answer out.

The program gets one JSON object on stdin: the case without what it should answer. It
prints its answer (text or JSON) or one UniTF trace. It runs in the suite's folder, in
a process group of its own, so that one that hangs dies with all its children. Where
the user has more than one thing to say it is started for each, with the conversation
so far as `messages`.

Pipes are read by threads: selectors can't wait for pipes on Windows. What is kept of
a flood is bounded, and the program is killed at the bound.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from ..canonical import dump_line
from ..case import Case
from ..refusal import Refusal
from ..trace import Trace
from ..unitf import trace_from_record
from . import MAX_ERROR_TEXT, MAX_OUTPUT, Target, TargetUnreachable, unreachable
from .answer import failure, trace_of
from .hooks import simulator_of
from .options import TargetOptions
from .turns import UserSimulator, script_of

_CHUNK: Final = 1 << 16
_MAX_LOOKS: Final = 200
_MARK: Final = "HELIX_SUBJECT"
_GRACE: Final = 2.0  # seconds for the pipes to end after the program has


class CommandTarget:
    """Starts the program once for each case."""

    kills: Final = True

    def __init__(
        self,
        name: str,
        words: list[str],
        *,
        folder: Path,
        options: TargetOptions | None = None,
        simulator: UserSimulator | None = None,
    ) -> None:
        self.name: Final = name
        self._words = words
        self._folder = folder
        self._options = options or TargetOptions()
        self._simulator = simulator
        self._alive: set[subprocess.Popen[bytes]] = set()

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one run of the program, or of one run for each turn."""
        if not script_of(case, simulated=self._simulator is not None).single:
            return self._converse(case, trace_id=trace_id, timeout=timeout)
        value, fault = self._answer(case_for_subject(case), timeout)
        if fault is not None:
            return failure(fault, case, trace_id=trace_id)
        return trace_of(value, case, trace_id=trace_id)

    def _converse(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        from .conversation import SubjectFailed, converse
        from .recording import OUTPUT, TOOLS, Recording

        def say(text: str, recording: Recording, left: float) -> None:
            messages = [dict(message) for message in recording.messages]
            more = {"query": text, "messages": messages}
            value, fault = self._answer(case_for_subject(case, more), left)
            if fault is None:
                fault = recording.take(value)
            if fault is not None:
                raise SubjectFailed(fault)

        return converse(
            case,
            trace_id=trace_id,
            timeout=timeout,
            observed=self._options.observes or (OUTPUT, TOOLS),
            simulator=self._simulator,
            say=say,
            max_turns=self._options.max_turns,
        )

    def _answer(self, message: bytes, timeout: float) -> tuple[Any, str | None]:
        """Return the answer of one run of the program, or why there is none."""
        mark = f"{_MARK}={os.urandom(16).hex()}"
        process = self._start(mark)
        self._alive.add(process)
        try:
            talk = _Talk(process, message)
            late = not talk.wait(timeout)
        finally:
            _kill_group(process)
            self._alive.discard(process)
        if late or talk.held:
            _kill_marked(mark)
        fault = talk.fault(late=late, timeout=timeout)
        if fault is not None:
            return None, fault
        value = _read(talk.output)
        return value, value.why if isinstance(value, _Unreadable) else None

    def close(self) -> None:
        """Kill what still runs."""
        for process in list(self._alive):
            _kill_group(process)

    def _start(self, mark: str) -> subprocess.Popen[bytes]:
        name, _, value = mark.partition("=")
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
                env={**os.environ, name: value},
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
        self.held = False
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
            self.held = True
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
            while chunk := _read_some(pipe):
                size += len(chunk)
                if size > MAX_OUTPUT:
                    self._flooded = True
                    _kill_group(self._process)
                    return
                self._output.append(chunk)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := _read_some(pipe):
                self._errors = (self._errors + chunk)[-MAX_ERROR_TEXT:]


def open_command(
    rest: str, *, root: Path, options: TargetOptions | None = None
) -> Target:
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
    options = options or TargetOptions()
    return CommandTarget(
        name,
        [found, *words[1:]],
        folder=root,
        options=options,
        simulator=simulator_of(options, root=root),
    )


def case_for_subject(case: Case, more: Mapping[str, Any] | None = None) -> bytes:
    """Return the line that the program reads: the row without what it should answer."""
    row = case.to_row()
    for key in ("expected", "expectedBehavior", "placeholder", "source"):
        row.pop(key, None)
    row.update(more or {})
    return dump_line(row).encode("utf-8", "backslashreplace") + b"\n"


class _Unreadable:
    """What a program printed that is no answer; why, for the trace."""

    def __init__(self, why: str) -> None:
        self.why = why


def _read(data: bytes) -> Any:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"the program printed what is not UTF-8 ({error.reason})"
        return _Unreadable(f"{what}, at byte {error.start}")
    value = _parse(text)
    if isinstance(value, dict) and "traceId" in value and "spans" in value:
        try:
            return trace_from_record(value)
        except ValueError as error:
            return _Unreadable(
                f"the program printed a trace that can't be read: {error}"
            )
    return value


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


def _read_some(pipe: IO[bytes]) -> bytes:
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


def _kill_marked(mark: str) -> None:
    """Kill what a program started and put into a process group of its own.

    On Linux every process tells the environment that it was started with; a program's
    own carries a mark that its children inherit, whatever session they move to.
    Elsewhere the group is all that can be found.
    """
    if sys.platform != "linux":
        return
    import signal

    # Again until there is none: one may start another while this looks.
    for _ in range(_MAX_LOOKS):
        found = _marked(mark.encode())
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue  # another user's, or gone


def _marked(needle: bytes) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as environment:
                if needle in environment.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            continue
    return found


def _signal_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform != "win32":
        import signal

        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
