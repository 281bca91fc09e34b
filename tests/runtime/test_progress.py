"""The progress of a run is one line that draws over itself, however narrow it is."""

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Iterator
from typing import IO

import pytest
from helix_runtime import progress
from helix_runtime.progress import Progress


@pytest.fixture
def terminal() -> Iterator[tuple[IO[str], int]]:
    """A terminal's two ends: what a command writes to, what a person sees."""
    seen, written = pty.openpty()
    with os.fdopen(written, "w") as stream:
        yield stream, seen
    os.close(seen)


def resize(stream: IO[str], columns: int) -> None:
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(stream.fileno(), termios.TIOCSWINSZ, size)


def drawn(seen: int) -> str:
    return os.read(seen, 4096).decode().removeprefix("\r\x1b[2K")


def test_the_line_never_wraps_also_after_the_terminal_was_made_narrower(
    terminal: tuple[IO[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, seen = terminal
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    whole = "5/9 runs, 2 failing units, 5/s; waits for the judge"
    for columns in (80, 30, 12, 0):
        resize(stream, columns)
        line = Progress(stream, shown=True)
        now[0] += 1
        line.update(done=5, total=9, failed=2, waiting="waits for the judge")
        assert drawn(seen) == whole[: (columns or 80) - 1]
    line.close()
    assert drawn(seen) == ""
