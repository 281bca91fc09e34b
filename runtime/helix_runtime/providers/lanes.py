"""SDK clients, each with a thread of its own: a call is over at its deadline.

The timeouts of the SDKs' HTTP libraries are those of one read: a server that sends a
byte now and then holds a call for ever. So a call runs in the thread of its client,
and whoever waits for it waits no longer than the deadline; a client that is late is
closed and left to itself (a daemon thread, so that it does not hold the process).

A client for each call in flight is also what keeps the SDKs fast: one shared client
would look through all its connections at every request.
"""

import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

_C = TypeVar("_C")
_R = TypeVar("_R")


class DeadlinePassed(Exception):
    """The call did not come back in time."""


class Lanes(Generic[_C]):
    """As many clients as there are calls in flight. Safe to use from many threads."""

    def __init__(
        self, make: Callable[[], _C], *, close: Callable[[_C], object]
    ) -> None:
        self._make = make
        self._close = close
        self._free: deque[_Lane[_C]] = deque()
        self._all: list[_Lane[_C]] = []

    def prepare(self) -> None:
        """Make the client of the first call now. Raises what making one raises."""
        lane = _Lane(self._make())
        self._all.append(lane)
        self._free.append(lane)

    def call(self, function: Callable[[_C], _R], *, timeout: float) -> _R:
        """Return what the function makes of a client, or raise what it raises.

        Raises DeadlinePassed after `timeout` seconds.
        """
        try:
            lane = self._free.pop()
        except IndexError:
            lane = _Lane(self._make())
            self._all.append(lane)
        try:
            result = lane.call(function, timeout)
        except DeadlinePassed:
            self._all.remove(lane)
            lane.end()
            self._quietly_close(lane.client)
            raise
        except BaseException:
            self._free.append(lane)
            raise
        self._free.append(lane)
        return result

    def close(self) -> None:
        """End the threads and close the clients."""
        for lane in self._all:
            lane.end()
            self._quietly_close(lane.client)
        self._all.clear()
        self._free.clear()

    def _quietly_close(self, client: _C) -> None:
        try:
            self._close(client)
        except Exception:
            pass  # it is being used by the call that is left behind


class _Lane(Generic[_C]):
    def __init__(self, client: _C) -> None:
        self.client = client
        self._todo: SimpleQueue[Callable[[_C], Any] | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        threading.Thread(target=self._loop, name="helix-judge", daemon=True).start()

    def call(self, function: Callable[[_C], _R], timeout: float) -> _R:
        self._todo.put(function)
        try:
            result, error = self._done.get(timeout=timeout)
        except Empty:
            raise DeadlinePassed from None
        if error is not None:
            raise error
        value: _R = result
        return value

    def end(self) -> None:
        self._todo.put(None)

    def _loop(self) -> None:
        while (function := self._todo.get()) is not None:
            try:
                self._done.put((function(self.client), None))
            except BaseException as error:
                self._done.put((None, error))
            del function
