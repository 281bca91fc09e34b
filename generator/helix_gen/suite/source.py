"""Where the items of a dataset come from: one file, and never one we should not read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .report import Where
from .rows import FORMATS

MAX_NAME: Final = 255

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_A_NAME: Final = re.compile(r"[*?\[\]{}\x00-\x1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the items of a dataset come from.

    `named` marks a file that the user named: what can't be read there is an error,
    and it may lie anywhere if `anywhere` says so. `map` is the overlay's.
    """

    reference: str
    at: Where
    named: bool
    anywhere: bool
    map: Mapping[str, Any] | None
    map_at: Where

    @property
    def is_name(self) -> bool:
        """Whether the reference could be the name of one file beside the spec."""
        text = self.reference
        if len(text.encode("utf-8", "surrogatepass")) > MAX_NAME:
            return False
        return not (_URL.match(text) or _NOT_IN_A_NAME.search(text))


def find(source: Source, folder: Path | None) -> Path | str:
    """Return the file that a reference names, or why it is not read."""
    reference = source.reference
    if not source.anywhere:
        if _URL.match(reference):
            return "it is a URL or a drive, and only files beside the spec are read"
        if folder is None:
            return "the spec has no folder: it came from standard input"
        if not source.is_name:
            return "it is not the name of one file"
    try:
        root = Path() if folder is None else folder.resolve()
        path = (root / reference).resolve() if not source.anywhere else Path(reference)
        # Resolved on both sides: a link inside the folder may lead out of it.
        if not source.anywhere and not path.is_relative_to(root):
            return "it leads out of the spec's folder"
        if path.is_dir():
            return "it is a folder"
        if not path.exists():
            return "there is no such file"
        # A pipe or a device would block or never end.
        if not path.is_file():
            return "it is not a regular file"
    except (OSError, ValueError, RuntimeError):
        return "it is not the name of a file"
    if path.suffix.lower() not in FORMATS:
        return "it is none of " + ", ".join(sorted(FORMATS))
    return path
