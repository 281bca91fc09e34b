"""A file that recorded traces are written to as UniTF."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

from ..refusal import Refusal


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
    part = path.with_name(path.name + ".part")

    def publish(kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            os.replace(part, path)
        else:
            part.unlink(missing_ok=True)

    try:
        raw = part.open("wb")
    except OSError as error:
        raise Refusal(f"{target}: can't be written: {error.strerror}") from error
    stack.push(publish)  # first in, last out: when the files below are closed
    stack.enter_context(raw)
    if path.suffix != ".gz":
        return raw
    import gzip

    # No name and no time in it: the same traces give the same bytes.
    packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    return cast(IO[bytes], stack.enter_context(packed))
