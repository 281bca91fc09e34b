"""A file that recorded traces are written to as UniTF."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

from ..refusal import Refusal
from ..whole_file import whole_file


def open_unitf(
    target: str, files: Iterable[Path], stack: ExitStack, *, option: str
) -> IO[bytes]:
    """Open a file for lines of UniTF, gzip where its name ends in `.gz`.

    It appears when `stack` ends without an error, and not before. Raises Refusal where
    it can't be written or is one of the `files` that are read.
    """
    path = Path(target)
    if any(path.resolve() == file.resolve() for file in files):
        raise Refusal(f"{option} {target}: that is a file that is read")
    if path.is_dir():
        raise Refusal(f"{option} {target}: that is a folder")
    try:
        # First in, last out: it takes its place when the files below are closed.
        raw = stack.enter_context(whole_file(path)).open("wb")
    except OSError as error:
        raise Refusal(f"{target}: can't be written: {error.strerror}") from error
    stack.enter_context(raw)
    if path.suffix != ".gz":
        return raw
    import gzip

    # No name and no time in it: the same traces give the same bytes.
    packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    return cast(IO[bytes], stack.enter_context(packed))
