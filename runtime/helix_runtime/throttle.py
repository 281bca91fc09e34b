"""How many requests may be under way: halved by a 429, then slowly more again.

Additive increase, multiplicative decrease, as TCP does it (Chiu and Jain, 1989). Of
many 429s that answer requests of one moment only the first halves: the others began
before it could have helped.
"""

import threading
from typing import Final

_UNLIMITED: Final = float("inf")


class Throttle:
    """Counts the requests under way. Safe to use from many threads."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._limit = _UNLIMITED
        self._under_way = 0
        self._most = 0
        self._held = 0
        self._era = 0

    @property
    def limit(self) -> float:
        """How many may be under way at the same time; infinite in good weather."""
        return self._limit

    @property
    def held(self) -> int:
        """How many wait for their turn."""
        return self._held

    def enter(self, timeout: float) -> int | None:
        """Wait for a turn; return its ticket, or None where none came in time."""
        with self._free:
            if not self._has_room():
                self._held += 1
                try:
                    if not self._free.wait_for(self._has_room, timeout):
                        return None
                finally:
                    self._held -= 1
            self._under_way += 1
            self._most = max(self._most, self._under_way)
            return self._era

    def leave(self, ticket: int, *, limited: bool) -> None:
        """Give a turn back; `limited` says that the answer was a 429."""
        with self._free:
            if limited:
                if ticket == self._era:
                    self._limit = max(1.0, self._under_way // 2)
                    self._era += 1
            elif self._limit < _UNLIMITED:
                # One more for each round of as many answers as may be under way.
                self._limit += 1 / self._limit
                if self._limit > self._most:
                    self._limit = _UNLIMITED
            self._under_way -= 1
            self._free.notify_all()

    def _has_room(self) -> bool:
        return self._under_way < self._limit
