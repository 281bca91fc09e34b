"""Paths inside a suite folder: what a manifest may name, and where it really leads."""

import os
from pathlib import Path

from ..problems import Problem

STATE = ".helix"
"""The folder of the generator's own memory inside a suite."""


def path_fault(path: object) -> str | None:
    """Return why `path` may not name a file of a suite, or None where it may.

    A manifest comes from a stranger: with `..`, an absolute path, a drive or a
    backslash it could name any file of the machine.
    """
    if not isinstance(path, str) or not path:
        return "it is not a text"
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        return "it holds a control character"
    if "\\" in path or ":" in path:
        return "it holds a backslash or a colon"
    parts = path.split("/")
    if parts[0] == "":
        return "it is absolute"
    if ".." in parts:
        return "it leads out of the folder (`..`)"
    if "" in parts or "." in parts:
        return "it has an empty part"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    return None


class Folder:
    """A suite folder as it is on disk, read through one door.

    `pending` holds what an interrupted run had decided but not yet moved into place
    (None: deleted): it reads as if it were done. Reading never follows a link out of
    the folder. Every fault is collected in `problems`.
    """

    def __init__(self, root: Path, *, pending: dict[str, Path | None]) -> None:
        self.root = root
        self.pending = pending
        self.problems: list[Problem] = []

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None where there is none.

        Where something that is no file of this folder is in the way, a problem is
        collected and None returned.
        """
        if path in self.pending:
            staged = self.pending[path]
            return None if staged is None else staged.read_bytes()
        place = self.place(path)
        if place is None:
            return None
        try:
            if place.is_dir():
                self.refuse(path, "a folder is in the way of this file")
                return None
            return place.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.refuse(path, f"can't be read: {error.strerror or error}")
            return None

    def place(self, path: str) -> Path | None:
        """Return where `path` stands, links inside the folder followed.

        A link that leaves the folder, a file where a folder is needed, and anything
        that is neither file nor folder are problems, and None.
        """
        place = self.root
        parts = path.split("/")
        for number, part in enumerate(parts, 1):
            place = place / part
            if place.is_symlink():
                try:
                    real = place.resolve()
                except (OSError, RuntimeError):
                    self.refuse(path, "a link leads in a circle")
                    return None
                if not real.is_relative_to(self.root.resolve()):
                    self.refuse(path, "a link leads out of the folder")
                    return None
                place = real
            if number < len(parts) and place.exists() and not place.is_dir():
                name = "/".join(parts[:number])
                self.refuse(path, f"`{name}` is in the way: it is not a folder")
                return None
        if place.exists() and not (place.is_file() or place.is_dir()):
            self.refuse(path, "it is neither a file nor a folder")
            return None
        return place

    def refuse(self, path: str, why: str) -> None:
        """Collect the problem that `path` can't be used."""
        self.problems.append(
            Problem(
                code="HX703",
                level="error",
                message=f"{why}; nothing was written",
                file=os.path.join(self.root, path),
                hint="move it away, or generate into another folder with -o",
            )
        )
