"""A file that appears whole or not at all, under the name that its readers look for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the place beside `path` to write to; afterwards it takes `path`'s place.

    Where anything is raised (a full disk) `path` is as it was, and nothing lies beside
    it. A link that lies at that place is not followed. Raises OSError.
    """
    part = path.with_name(path.name + ".part")
    if part.is_symlink():
        part.unlink()
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def is_full(error: BaseException) -> bool:
    """Whether an error says that nothing more can be written where it was to be."""
    import errno

    if not isinstance(error, OSError):
        return False
    full = (errno.ENOSPC, errno.EFBIG, errno.EROFS, getattr(errno, "EDQUOT", -1))
    return error.errno in full or "usable temporary directory" in str(error)
