"""The subject as a Python callable: `python:MODULE:CALLABLE`.

It is called with the case, or, where it takes a second parameter `messages`, once for
each turn of the user with the case and the conversation so far.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from time import monotonic
from typing import Any, Final

from ..case import Case
from ..folder import blame
from ..refusal import Refusal
from ..trace import Trace
from . import MAX_ERROR_TEXT, MAX_OUTPUT, Target, TargetNotWritten, TargetUnreachable
from .answer import failure, trace_of
from .given import given
from .importing import import_object
from .options import TargetOptions

FORM: Final = "python:MODULE:CALLABLE"
# Flags of the inspect module, without importing it.
_CO_GENERATOR: Final = 0x20
_CO_COROUTINE: Final = 0x80
_CO_ASYNC_GENERATOR: Final = 0x200

Function = Callable[..., Any]


class PythonTarget:
    """Calls a function of one case; an exception of it is the subject's failure.

    A thread can't be killed from outside: a call that takes too long is given up by
    the runner.
    """

    kills: Final = False

    def __init__(self, name: str, function: Function) -> None:
        self.name: Final = name
        self._function = function
        self._process = os.getpid()

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one call."""
        try:
            # What it sets in context variables must not be there for the next case.
            value = copy_context().run(self._function, given(case))
            if hasattr(value, "__await__"):
                value = _await(value)
        except (TargetNotWritten, TargetUnreachable):
            raise
        except BaseException as error:  # SystemExit too: a subject must not end a run
            return failure(_crash(error), case, trace_id=trace_id, raised=error)
        if os.getpid() != self._process:
            os._exit(0)  # a child that it forked and forgot must not go on with the run
        return _trace_of(value, case, trace_id)

    def close(self) -> None:
        """Hold nothing."""


class CoroutineTarget:
    """Awaits a coroutine function, all calls on one loop in one background thread."""

    kills: Final = True

    def __init__(self, name: str, function: Function) -> None:
        from .loop import BackgroundLoop

        self.name: Final = name
        self._function = function
        self._loop = BackgroundLoop()

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one awaited call, cancelled after `timeout` seconds."""
        from .loop import Blocked, Late

        try:
            value = self._loop.run(lambda: self._function(given(case)), timeout=timeout)
        except (TargetNotWritten, TargetUnreachable):
            raise
        except Late:
            return failure(timed_out(timeout), case, trace_id=trace_id)
        except Blocked:
            raise TargetUnreachable(blocked(self.name)) from None
        except Exception as error:
            return failure(_crash(error), case, trace_id=trace_id, raised=error)
        return _trace_of(value, case, trace_id)

    def close(self) -> None:
        """Cancel what still runs and stop the loop."""
        self._loop.close()


class TalkingTarget:
    """Calls a function of the case and the conversation once for each turn."""

    def __init__(
        self, name: str, function: Function, *, options: TargetOptions, root: Path
    ) -> None:
        from .hooks import simulator_of

        self.name: Final = name
        self._options = options
        self._simulator = simulator_of(options, root=root)
        self._function = function
        self._loop: Any = None
        if _flags(function) & _CO_COROUTINE:
            from .loop import BackgroundLoop

            self._loop = BackgroundLoop()
        self.kills: Final = self._loop is not None

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one conversation."""
        from .conversation import SubjectFailed, converse
        from .recording import OUTPUT, TOOLS, Recording

        context = copy_context()

        def say(text: str, recording: Recording, left: float) -> None:
            messages = [dict(message) for message in recording.messages]
            value = self._answer(case, messages, context, monotonic() + left)
            fault = recording.take(value)
            if fault is not None:
                raise SubjectFailed(f"the target returned {fault}")

        return converse(
            case,
            trace_id=trace_id,
            timeout=timeout,
            observed=self._options.observes or (OUTPUT, TOOLS),
            simulator=self._simulator,
            say=say,
            max_turns=self._options.max_turns,
        )

    def close(self) -> None:
        """Cancel what still runs."""
        if self._loop is not None:
            self._loop.close()

    def _answer(
        self,
        case: Case,
        messages: list[dict[str, str]],
        context: Any,
        deadline: float,
    ) -> Any:
        from .conversation import SubjectFailed, SubjectLate

        try:
            if self._loop is None:
                value = context.run(self._function, given(case), messages)
                return _await(value) if hasattr(value, "__await__") else value
            return self._loop.run(
                lambda: self._function(given(case), messages),
                timeout=deadline - monotonic(),
            )
        except (TargetNotWritten, TargetUnreachable):
            raise
        except BaseException as error:
            if type(error).__name__ == "Late" and self._loop is not None:
                raise SubjectLate from None
            if type(error).__name__ == "Blocked" and self._loop is not None:
                raise TargetUnreachable(blocked(self.name)) from None
            raise SubjectFailed(_crash(error)) from error


def open_python(
    rest: str, *, root: Path, options: TargetOptions | None = None
) -> Target:
    """Return the target of `MODULE:CALLABLE`; dots in CALLABLE go into objects.

    A class is made anew for each case. Raises Refusal where the module can't be
    imported or the name is nothing that can be called with a case.
    """
    name = f"python:{rest}"
    options = options or TargetOptions()
    function: Any = import_object(rest, name=name, form=FORM, root=root)
    if not callable(function):
        kind = type(function).__name__
        raise Refusal(
            f"the target {name!r} is of the type {kind}, which can't be called"
        )
    sample = function
    if isinstance(function, type):
        sample = _instance(function, name)
        if not callable(sample):
            raise Refusal(
                f"the target {name!r} is a class without a __call__ method: name a "
                f"method of an instance, or a function"
            )
    flags = _flags(sample)
    if flags & (_CO_GENERATOR | _CO_ASYNC_GENERATOR):
        raise Refusal(
            f"the target {name!r} yields its answer piece by piece: return it whole"
        )
    if isinstance(function, type):
        function = _anew(function, is_async=bool(flags & _CO_COROUTINE))
    if _takes_messages(sample):
        return TalkingTarget(name, function, options=options, root=root)
    if flags & _CO_COROUTINE:
        return CoroutineTarget(name, function)
    return PythonTarget(name, function)


def timed_out(timeout: float) -> str:
    """Return the message of a subject that took too long."""
    return f"timed out after {timeout:g} s"


def blocked(name: str) -> str:
    """Return the message of a subject whose coroutines block their loop for good."""
    return (
        f"the target {name!r} blocks its event loop again and again: an `async` "
        "function of it waits without `await`"
    )


def _trace_of(value: Any, case: Case, trace_id: str) -> Trace:
    if value.__class__ is str and len(value) > MAX_OUTPUT:
        flood = f"the target returned more than {MAX_OUTPUT} characters"
        return failure(flood, case, trace_id=trace_id)
    try:
        return trace_of(value, case, trace_id=trace_id)
    except Exception as error:  # a class of its own whose methods raise
        what = f"what can't be read ({_crash(error)})"
        return failure(f"the target returned {what}", case, trace_id=trace_id)


def _anew(kind: type, *, is_async: bool) -> Function:
    """Return a function that calls a fresh instance: no state goes from case to case."""
    if not is_async:
        return lambda *arguments: kind()(*arguments)

    async def call(*arguments: Any) -> Any:
        return await kind()(*arguments)

    return call


def _instance(kind: type, name: str) -> Any:
    try:
        return kind()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Refusal(
            f"the target {name!r} is a class that can't be made without arguments: "
            f"{blame(error)}"
        ) from error


def _code(function: Any) -> Any:
    """Return the code that a call runs, and how many arguments are bound already."""
    bound = 0
    while function.__class__.__name__ == "partial" and hasattr(function, "func"):
        bound += len(function.args)
        function = function.func
    if hasattr(function, "__func__"):
        return function.__func__.__code__, bound + 1
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(type(function).__call__, "__code__", None)
        bound += 1
    return code, bound


def _flags(function: Any) -> int:
    code, _ = _code(function)
    return 0 if code is None else int(code.co_flags)


def _takes_messages(function: Any) -> bool:
    """Whether a function's second parameter is the conversation: `messages`."""
    code, bound = _code(function)
    if code is None:
        return False
    names = code.co_varnames[bound : code.co_argcount]
    return len(names) > 1 and names[1] == "messages"


def _await(value: Any) -> Any:
    """Await what a plain function gave back (a wrapped coroutine function)."""
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _crash(error: BaseException) -> str:
    return blame(error)[:MAX_ERROR_TEXT]
