"""A run that is told to end (SIGTERM, as CI does) ends as one that is interrupted.

Programs that it started die with it, and what is decided is kept.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


class Terminated(KeyboardInterrupt):
    """Somebody told the process to end."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated in the main thread where SIGTERM comes meanwhile.

    A host that has a handler of its own keeps it, and so does a run in a thread.
    """
    mine = current_thread() is main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(number: int, frame: Any) -> None:
    raise Terminated
