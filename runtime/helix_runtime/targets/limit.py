"""A target that may be called only so many times at once."""

from __future__ import annotations

from threading import Semaphore
from typing import Final

from ..case import Case
from ..trace import Trace
from . import Target


class Limited:
    """Passes calls on to another target.

    `turnstile` is what a worker goes through before the clock of its call starts: to
    wait for one's turn is not to be slow. A call that is given up goes out of it too.
    """

    def __init__(self, target: Target, concurrency: int) -> None:
        self._target = target
        self.name: Final = target.name
        self.kills: Final = target.kills
        self.turnstile: Final = Semaphore(concurrency)

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one call."""
        return self._target.call(case, trace_id=trace_id, timeout=timeout)

    def close(self) -> None:
        """Close the other target."""
        self._target.close()
