"""The subject as a Python callable: `python:MODULE:CALLABLE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from ..case import Case
from ..folder import blame
from ..refusal import Refusal
from ..trace import Trace
from . import MAX_ERROR_TEXT, MAX_OUTPUT, Target, TargetNotWritten, TargetUnreachable
from .answer import failure, trace_of

_CO_COROUTINE: Final = 0x80  # inspect.CO_COROUTINE, without importing inspect


class PythonTarget:
    """Calls a function of one case; an exception of it is the subject's failure.

    A thread can't be killed from outside: a call that takes too long is given up by
    the runner.
    """

    kills: Final = False

    def __init__(self, name: str, function: Callable[[Case], Any]) -> None:
        self.name: Final = name
        self._function = function

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one call."""
        try:
            value = self._function(case)
            if hasattr(value, "__await__"):
                value = _await(value)
        except (TargetNotWritten, TargetUnreachable):
            raise
        except BaseException as error:  # SystemExit too: a subject must not end a run
            return failure(_crash(error), case, trace_id=trace_id)
        if value.__class__ is str and len(value) > MAX_OUTPUT:
            return failure(_flood(), case, trace_id=trace_id)
        return trace_of(value, case, trace_id=trace_id)

    def close(self) -> None:
        """Hold nothing."""


class CoroutineTarget:
    """Awaits a coroutine function, all calls on one loop in one background thread."""

    kills: Final = True

    def __init__(
        self, name: str, function: Callable[[Case], Coroutine[Any, Any, Any]]
    ) -> None:
        import asyncio
        import threading

        self.name: Final = name
        self._function = function
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="helix-target-loop", daemon=True
        )
        self._thread.start()

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one awaited call, cancelled after `timeout` seconds."""
        import asyncio
        import concurrent.futures

        try:
            coroutine = self._function(case)
        except Exception as error:
            return failure(_crash(error), case, trace_id=trace_id)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            value = future.result(timeout)
        except (TargetNotWritten, TargetUnreachable):
            raise
        except (TimeoutError, concurrent.futures.CancelledError) as error:
            if future.done() and not future.cancelled():
                return failure(_crash(error), case, trace_id=trace_id)
            future.cancel()
            return failure(timed_out(timeout), case, trace_id=trace_id)
        except Exception as error:
            return failure(_crash(error), case, trace_id=trace_id)
        if value.__class__ is str and len(value) > MAX_OUTPUT:
            return failure(_flood(), case, trace_id=trace_id)
        return trace_of(value, case, trace_id=trace_id)

    def close(self) -> None:
        """Cancel what still runs and stop the loop."""
        import asyncio

        async def cancel_all() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        if not self._thread.is_alive():
            return
        try:
            asyncio.run_coroutine_threadsafe(cancel_all(), self._loop).result(2)
        except Exception:
            return  # a coroutine that blocks the loop: its thread is a daemon
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2)
        if not self._thread.is_alive():
            self._loop.close()


def open_python(rest: str, *, root: Path) -> Target:
    """Return the target of `MODULE:CALLABLE`; dots in CALLABLE go into objects.

    Raises Refusal where the module can't be imported or the name is no callable.
    """
    name = f"python:{rest}"
    module_name, colon, path = rest.partition(":")
    if not colon or not module_name or not path:
        raise Refusal(f"the target {name!r} must read python:MODULE:CALLABLE")
    function: Any = _import(module_name, name, root)
    for part in path.split("."):
        try:
            function = getattr(function, part)
        except AttributeError:
            raise Refusal(f"the target {name!r}: {module_name} has no {path}") from None
    if isinstance(function, type):
        function = _instance(function, name)
    if not callable(function):
        kind = type(function).__name__
        raise Refusal(f"the target {name!r} is a {kind}, which can't be called")
    if _is_coroutine_function(function):
        return CoroutineTarget(name, function)
    return PythonTarget(name, function)


def timed_out(timeout: float) -> str:
    """Return the message of a subject that took too long."""
    return f"timed out after {timeout:g} s"


def _import(module_name: str, name: str, root: Path) -> Any:
    from importlib import import_module

    # The suite's own folder for its target.py, the working directory for the agent;
    # at the end, so that neither can hide a module of the standard library.
    for folder in (str(root), os.getcwd()):
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        return import_module(module_name)
    except TargetNotWritten:
        raise
    except Exception as error:
        raise Refusal(
            f"the target {name!r} can't be imported: {blame(error)}"
        ) from error


def _instance(kind: type, name: str) -> Any:
    try:
        return kind()
    except Exception as error:
        raise Refusal(
            f"the target {name!r} is a class that can't be made without arguments: "
            f"{blame(error)}"
        ) from error


def _is_coroutine_function(function: Any) -> bool:
    while function.__class__.__name__ == "partial" and hasattr(function, "func"):
        function = function.func
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(type(function).__call__, "__code__", None)
    if code is None and hasattr(function, "__func__"):
        code = function.__func__.__code__
    return code is not None and bool(code.co_flags & _CO_COROUTINE)


def _await(value: Any) -> Any:
    """Await what a plain function gave back (a wrapped coroutine function)."""
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _crash(error: BaseException) -> str:
    return blame(error)[:MAX_ERROR_TEXT]


def _flood() -> str:
    return f"the target returned more than {MAX_OUTPUT} characters"
