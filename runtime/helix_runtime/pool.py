"""Worker threads: tasks in, results out, and a thread that hangs is given up.

Threads, not asyncio: targets and SDKs are plain functions, and a thread costs a
hundredth of an asyncio import. A thread can't be killed; one whose call takes too
long is left to itself (a daemon, so that it does not hold the process) and another
takes its place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final, Generic, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

MAX_BATCH: Final = 512
_SLOW: Final = 0.003  # seconds without a result that call for more threads
_LOOK: Final = 1.0  # seconds; a blocked wait must notice Ctrl-C on Windows too


class GaveUp(Exception):
    """Raised in a thread whose call the pool has given up: it ends quietly."""


class Watch:
    """What the running calls of all threads are allowed: each `limit` seconds."""

    def __init__(self, limit: float) -> None:
        self.limit: Final = limit
        self._started: dict[int, float] = {}

    def start(self, number: int) -> None:
        """Note that the call of a task begins."""
        self._started[number] = monotonic()

    def end(self, number: int) -> None:
        """Note that it came back. Raises GaveUp where that was too late."""
        if self._started.pop(number, None) is None:
            raise GaveUp

    def late(self) -> list[int]:
        """Return the tasks whose calls are over their limit, and give them up."""
        now = monotonic()
        found = []
        for number, started in list(self._started.items()):
            over = now - started >= self.limit
            # Whoever pops it first decides: the thread that came back, or we.
            if over and self._started.pop(number, None) is not None:
                found.append(number)
        return found

    def patience(self) -> float:
        """Return how long to wait at most until a call may be late."""
        started = min(list(self._started.values()), default=None)
        if started is None:
            return min(self.limit, _LOOK)
        return min(max(started + self.limit - monotonic(), 0.001), _LOOK)


class Pool(Generic[_T, _R]):
    """Runs `work(number, task)` on up to `size` threads.

    It begins with one: tasks that are over in no time gain nothing from threads that
    fight for the interpreter. When results keep it waiting, the others are started.

    `work` must not raise except GaveUp: its result carries what went wrong.
    """

    def __init__(
        self, work: Callable[[int, _T], _R], *, size: int, watch: Watch | None
    ) -> None:
        self._work = work
        self._size = size
        self._watch = watch
        self._tasks: SimpleQueue[tuple[int, _T] | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[int, _T, _R]] = SimpleQueue()
        self._ready: list[tuple[_T, _R]] = []
        self._threads = 0
        self._number = 0
        self._open: dict[int, _T] = {}
        self.given_up = 0

    @property
    def in_flight(self) -> int:
        """How many tasks have no result yet."""
        return len(self._open)

    def submit(self, task: _T) -> None:
        """Queue a task."""
        self._number += 1
        self._open[self._number] = task
        self._tasks.put((self._number, task))
        if not self._threads:
            self._spawn()

    def collect(self) -> tuple[list[tuple[_T, _R]], list[_T]]:
        """Wait for results; return what there is, and the tasks that hung too long."""
        patience = _LOOK if self._watch is None else self._watch.patience()
        if self._threads < self._wanted:
            patience = _SLOW
        try:
            try:
                number, task, result = self._results.get(timeout=patience)
            except Empty:
                # One may have come in while this thread waited for its turn.
                number, task, result = self._results.get_nowait()
            while True:
                self._ready.append((task, result))
                del self._open[number]
                if len(self._ready) >= MAX_BATCH:
                    break
                number, task, result = self._results.get_nowait()
        except Empty:
            pass
        done, self._ready = self._ready, []
        if not done:
            self._spawn_as_needed()
        hung = []
        if self._watch is not None:
            for number in self._watch.late():
                hung.append(self._open.pop(number))
                self.given_up += 1
                self._threads -= 1
        if hung:
            self._spawn_as_needed()
        return done, hung

    def drain(self) -> list[tuple[_T, _R]]:
        """Return the results that came in and were not collected, without waiting.

        It is for a run that is interrupted: what is decided must not be lost, also
        where the interrupt came in the midst of `collect`.
        """
        done, self._ready = self._ready, []
        try:
            while True:
                number, task, result = self._results.get_nowait()
                self._open.pop(number, None)
                done.append((task, result))
        except Empty:
            return done

    def take_back(self) -> list[_T]:
        """Return the tasks that no thread has begun; they will not be run."""
        back = []
        try:
            while True:
                entry = self._tasks.get_nowait()
                if entry is not None:
                    back.append(self._open.pop(entry[0]))
        except Empty:
            return back

    def close(self) -> None:
        """Let the threads end when they are done with what they are at."""
        for _ in range(self._threads):
            self._tasks.put(None)

    @property
    def _wanted(self) -> int:
        """How many threads there is work for."""
        return min(self._size, len(self._open))

    def _spawn_as_needed(self) -> None:
        while self._threads < self._wanted:
            self._spawn()

    def _spawn(self) -> None:
        self._threads += 1
        threading.Thread(target=self._loop, name="helix-worker", daemon=True).start()

    def _loop(self) -> None:
        tasks, results, work = self._tasks, self._results, self._work
        while (entry := tasks.get()) is not None:
            number, task = entry
            try:
                result = work(number, task)
            except GaveUp:
                return
            results.put((number, task, result))
            del entry, task, result
