"""The progress of a run, one line on stderr, and only where a person looks at it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from time import monotonic
from typing import IO, Final

_EVERY: Final = 0.1
_CLEAR: Final = "\r\x1b[2K"


class Progress:
    """Draws one line over itself; says nothing where stderr is no terminal."""

    def __init__(self, stream: IO[str], *, shown: bool) -> None:
        self._stream = stream
        self._shown = shown
        self._started = self._drawn = monotonic()

    def update(
        self, *, done: int, total: int | None, failed: int, waiting: str | None = None
    ) -> None:
        """Draw the state, ten times a second at most."""
        if not self._shown:
            return
        now = monotonic()
        if now - self._drawn < _EVERY:
            return
        self._drawn = now
        rate = done / max(now - self._started, 0.001)
        text = f"{done} runs" if total is None else f"{done}/{total} runs"
        if failed:
            text += f", {failed} failing units"
        text += f", {rate:.0f}/s" if rate >= 1 else f", {60 * rate:.0f}/min"
        if waiting:
            text += f"; {waiting}"
        self._write(_CLEAR + text[: self._room()])

    def _room(self) -> int:
        """Return how much fits on the line now: one that wraps can't be drawn over."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return (columns or 80) - 1  # 0: a terminal that knows no size

    def close(self) -> None:
        """Clear the line."""
        if self._shown:
            self._write(_CLEAR)
            self._shown = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._shown = False  # nobody looks any more; the run goes on


def open_progress(environment: Mapping[str, str], *, quiet: bool) -> Progress:
    """Return the progress line of this process: where colour would be shown too."""
    return Progress(sys.stderr, shown=not quiet and is_lively(sys.stderr, environment))


def is_lively(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Whether colour and progress may go to a stream.

    A terminal that knows more than plain text, without NO_COLOR or CI.
    """
    if environment.get("NO_COLOR") or environment.get("CI"):
        return False
    return is_terminal(stream) and environment.get("TERM") != "dumb"


def is_terminal(stream: IO[str]) -> bool:
    """Whether a stream goes to a terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False
