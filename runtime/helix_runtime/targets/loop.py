"""One event loop in a thread of its own, where all coroutines of a target run.

Clients of a framework belong to the loop that they were first used in, so there is
one for the whole run. A coroutine that blocks its loop would hold every case: such a
loop is left to itself, and the next call gets a new one.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

_GRACE: Final = 2.0  # seconds that a cancelled coroutine has to clean up
MAX_BLOCKED: Final = 16
"""How many loops may be blocked for good before the run is stopped."""


class Late(Exception):
    """The coroutine did not end in time and was cancelled."""


class Blocked(Exception):
    """Too many coroutines block their loop: there is no use in going on."""


class BackgroundLoop:
    """Runs coroutines of many threads, each up to its own deadline."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._blocked = 0

    def run(self, make: Callable[[], Coroutine[Any, Any, _T]], *, timeout: float) -> _T:
        """Return what the coroutine of `make` returns, or raise what it raises.

        Raises Late after `timeout` seconds; the coroutine is cancelled and waited for.
        """
        loop = self._ready()
        future = asyncio.run_coroutine_threadsafe(_own_context(make), loop)
        try:
            return future.result(timeout)
        except concurrent.futures.CancelledError:
            raise RuntimeError("the call cancelled itself") from None
        except TimeoutError:
            if future.done() and not future.cancelled():
                return future.result()  # the error may be the subject's own
        self._cancel(future, loop)
        raise Late

    def close(self) -> None:
        """Cancel what still runs and stop the loop."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        try:
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(_GRACE)
        except Exception:
            return  # it is blocked: its thread is a daemon
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_GRACE)
        if not thread.is_alive():
            loop.close()

    def _ready(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._blocked > MAX_BLOCKED:
                raise Blocked
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_turn, args=(self._loop,), name="helix-target", daemon=True
                )
                self._thread.start()
            return self._loop

    def _cancel(
        self, future: concurrent.futures.Future[Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Cancel a call and see whether its loop still turns."""
        future.cancel()
        turned = threading.Event()
        loop.call_soon_threadsafe(turned.set)
        if turned.wait(_GRACE):
            return
        with self._lock:
            if self._loop is loop:
                self._loop = self._thread = None
                self._blocked += 1


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    """Keep the loop turning until it is stopped.

    A SystemExit in a task that the subject started would end it, and with it every
    other case.
    """
    while True:
        try:
            loop.run_forever()
            return
        except BaseException:
            continue


async def _own_context(make: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Make and await in the task: what it sets in context variables stays its own."""
    try:
        return await make()
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
