"""A lock on a folder: the operating system's own, so that it dies with its holder.

A lock file with a process id in it has to guess whether that process still lives,
and guesses wrong after a reboot or inside a container. An advisory lock of the kernel
(`flock`; `msvcrt.locking` on Windows) is gone as soon as its holder is, also after
`kill -9`. Where a file system can't lock, that is said and the run goes on.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Final

FILE_NAME: Final = "lock"

_HELD: Final = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
# Windows locks bytes, and nobody else may read those: one far behind the text.
_FAR: Final = 1 << 30


class FolderLocked(Exception):
    """Another process works on the folder."""


class FolderLock:
    """Holds the lock of a folder until it is closed, which takes its file away.

    `unsupported` says why the file system can't lock, or is None.
    """

    def __init__(self, folder: Path, *, name: str = FILE_NAME) -> None:
        self._path = folder / name
        self._file: IO[str] | None = None
        self.unsupported: str | None = None

    def take(self) -> None:
        """Take the lock at once. Raises FolderLocked where another holds it."""
        self._take(wait=False)

    def take_when_free(self) -> None:
        """Wait until the lock is free, and take it."""
        self._take(wait=True)

    def _take(self, *, wait: bool) -> None:
        while True:
            file = self._path.open("a+", encoding="utf-8")
            try:
                _lock(file, wait=wait)
            except OSError as error:
                if error.errno in _HELD:
                    file.close()
                    raise FolderLocked(self._holder()) from error
                self.unsupported = error.strerror or str(error)
            if self.unsupported or self._is_there(file):
                break
            file.close()  # who held it took the file away while this one waited
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()}\n")
        file.flush()
        self._file = file

    def close(self) -> None:
        """Take the file away while nobody else can hold the lock, and let it go."""
        if self._file is None:
            return
        if sys.platform == "win32":
            self._file.close()  # an open file can't be taken away, and a held one neither
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            pass  # a folder that can only be read by now
        self._file.close()
        self._file = None

    def _is_there(self, file: IO[str]) -> bool:
        """Whether the file that was locked is the one that others would open."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False

    def _holder(self) -> str:
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            text = ""
        return text or "another process"

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@contextmanager
def suite_lock(root: Path) -> Iterator[None]:
    """Hold a suite's own folder, which generating and growing it both change.

    The folder itself is what is locked: no lock file to leave behind or to trust.
    Raises FolderLocked where another process holds it, OSError where it can't be
    opened. A file system that can't lock does not stop the work.
    """
    if sys.platform == "win32":
        with _locked_by_file(root / ".helix-lock"):
            yield
        return
    import fcntl

    handle = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                raise FolderLocked(str(root)) from error
        yield
    finally:
        os.close(handle)


@contextmanager
def _locked_by_file(path: Path) -> Iterator[None]:
    """Hold a lock file that the system deletes when its holder dies (Windows)."""
    temporary = getattr(os, "O_TEMPORARY", 0)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | temporary)
    except FileExistsError as error:
        raise FolderLocked(str(path)) from error
    try:
        yield
    finally:
        os.close(handle)
        if not temporary:
            path.unlink(missing_ok=True)


def _lock(file: IO[str], *, wait: bool) -> None:
    if sys.platform == "win32":
        import msvcrt
        import time

        while True:
            file.seek(_FAR)
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                return
            except OSError:
                if not wait:
                    raise
            time.sleep(0.1)
    else:
        import fcntl

        mode = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        fcntl.flock(file.fileno(), mode)
