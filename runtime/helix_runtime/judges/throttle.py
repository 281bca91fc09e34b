"""How many requests may be under way: halved by a 429, then more again.

Back up by half of what is missing in each round of answers, and beyond where the 429
came by one a round: a binary search for what the provider stands, as L. Xu, K. Harfoush
and I. Rhee (BIC, 2004) do it for congestion. Of many 429s that answer requests of one
moment only the first halves: the others began before it could have helped.

Whoever has to wait is let in in order, by whoever leaves: nobody is passed by, and an
answer wakes those alone who may go.
"""

import threading
from collections import deque
from typing import Final

_UNLIMITED: Final = float("inf")

Ticket = tuple[int, int]
"""The era that a request began in, and how many were under way with it."""


class Throttle:
    """Counts the requests under way. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[_Turn] = deque()
        self._limit = _UNLIMITED
        self._ceiling = 0.0
        self._under_way = 0
        self._most = 0
        self._era = 0

    @property
    def limit(self) -> float:
        """How many may be under way at the same time; infinite in good weather."""
        return self._limit

    @property
    def held(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    def enter(self, timeout: float) -> Ticket | None:
        """Wait for a turn; return its ticket, or None where none came in time."""
        with self._lock:
            if not self._waiting and self._under_way < self._limit:
                return self._begin()
            turn = _Turn()
            self._waiting.append(turn)
        if not turn.came(timeout):
            with self._lock:
                if turn.ticket is None:
                    self._waiting.remove(turn)
        return turn.ticket

    def leave(self, ticket: Ticket, *, limited: bool) -> None:
        """Give a turn back; `limited` says that the answer was a 429."""
        with self._lock:
            if limited:
                era, load = ticket
                if era == self._era:
                    # What there was of it when it was sent, or is now that it failed.
                    self._ceiling = max(load, self._under_way)
                    self._limit = max(1.0, self._ceiling // 2)
                    self._era += 1
            elif self._limit < _UNLIMITED:
                # A round is as many answers as may be under way.
                step = max((self._ceiling - self._limit) / 2, 1.0)
                self._limit += step / self._limit
                if self._limit > self._most:
                    self._limit = _UNLIMITED
            self._under_way -= 1
            while self._waiting and self._under_way < self._limit:
                self._waiting.popleft().give(self._begin())

    def _begin(self) -> Ticket:
        self._under_way += 1
        self._most = max(self._most, self._under_way)
        return self._era, self._under_way


class _Turn:
    """The wait of one request: its ticket is given by whoever leaves."""

    def __init__(self) -> None:
        self.ticket: Ticket | None = None
        self._gate = threading.Lock()
        self._gate.acquire()

    def give(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self._gate.release()

    def came(self, timeout: float) -> bool:
        return self._gate.acquire(timeout=timeout)
