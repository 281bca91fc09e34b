"""Paths inside a suite folder: what a manifest may name, and where it really leads."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..problems import Problem

STATE = ".helix"
"""The folder of the generator's own memory inside a suite."""

_LONGEST: Final = 1000
_DEEPEST: Final = 64


def path_fault(path: object) -> str | None:
    """Return why `path` may not name a file of a suite, or None where it may.

    A manifest comes from a stranger: with `..`, an absolute path, a drive or a
    backslash it could name any file of the machine.
    """
    if not isinstance(path, str) or not path:
        return "it is not a text"
    if not path.isprintable():
        return "it holds a control character or another that can't be shown"
    if "\\" in path or ":" in path:
        return "it holds a backslash or a colon"
    parts = path.split("/")
    if len(path) > _LONGEST or len(parts) > _DEEPEST:
        return "it is too long"
    if parts[0] == "":
        return "it is absolute"
    if ".." in parts:
        return "it leads out of the folder (`..`)"
    if "" in parts or "." in parts:
        return "it has an empty part"
    hidden = [part for part in parts if part.startswith(".")]
    if hidden and parts[0] != STATE and path != ".gitignore":
        return f"`{hidden[0]}` is hidden: no file of a suite is"
    return None


_TOP: Final = frozenset(
    (
        ".gitignore",
        "README.md",
        "__main__.py",
        "dataset.jsonl",
        "evals.toml",
        "pyproject.toml",
        "retired.txt",
    )
)


def may_remove(path: str, package: str) -> bool:
    """Whether a file that is generated no more may be removed.

    A manifest from a stranger could name anything in the folder: an owner's notes,
    labels, runs and verdicts are never the generator's to remove.
    """
    top, _, rest = path.partition("/")
    if not rest:
        return top in _TOP
    if top == "matrix":
        return "/" not in rest
    return top == package or path == "tests/test_evals.py"


class Folder:
    """A suite folder as it is on disk, read through one door.

    `pending` holds what an interrupted run had decided but not yet moved into place
    (None: deleted): it reads as if it were done. Reading never follows a link out of
    the folder. Every fault is collected in `problems`.
    """

    def __init__(self, root: Path, *, pending: Mapping[str, Path | None]) -> None:
        self.root = root
        self.pending = pending
        self.problems: list[Problem] = []
        self._real_root = os.path.realpath(root)
        self._folders: dict[str, str | None] = {"": os.fspath(root)}

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
            with open(place, "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            self.refuse(path, "a folder is in the way of this file")
        except OSError as error:
            self.refuse(path, f"can't be read: {error.strerror or error}")
        return None

    def names(self, folder: str, ending: str) -> list[str]:
        """Return the regular files of a folder whose names end so, sorted; no links."""
        place = self._folder(folder, folder)
        try:
            entries = [] if place is None else list(os.scandir(place))
        except OSError:
            return []
        return sorted(
            f"{folder}/{entry.name}"
            for entry in entries
            if entry.name.endswith(ending) and entry.is_file(follow_symlinks=False)
        )

    def place(self, path: str) -> str | None:
        """Return where `path` stands, links inside the folder followed.

        A link that leaves the folder, a file where a folder is needed, and anything
        that is neither file nor folder are problems, and None.
        """
        parent, _, name = path.rpartition("/")
        folder = self._folder(parent, path)
        if folder is None:
            return None
        place = self._inside(os.path.join(folder, name), path)
        if place is None:
            return None
        mode = _mode(place)
        # A pipe or a device would block, or never end.
        if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            self.refuse(path, "it is neither a file nor a folder")
            return None
        return place

    def _folder(self, name: str, path: str) -> str | None:
        """Return where a folder of this folder stands; each is looked at once."""
        if name in self._folders:
            if self._folders[name] is None:
                self.refuse(path, f"`{name}` is in the way")
            return self._folders[name]
        above, _, last = name.rpartition("/")
        parent = self._folder(above, path)
        place = None
        if parent is not None:
            place = self._inside(os.path.join(parent, last), path)
            mode = None if place is None else _mode(place)
            if mode is not None and not stat.S_ISDIR(mode):
                self.refuse(path, f"`{name}` is in the way: it is not a folder")
                place = None
        self._folders[name] = place
        return place

    def _inside(self, place: str, path: str) -> str | None:
        """Return a place, or where its link leads; None where that is outside."""
        if not os.path.islink(place):
            return place
        real = os.path.realpath(place)
        if os.path.islink(real):
            self.refuse(path, "a link leads in a circle")
            return None
        if not Path(real).is_relative_to(self._real_root):
            self.refuse(path, "a link leads out of the folder")
            return None
        return real

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


def _mode(place: str) -> int | None:
    """Return the mode of what stands at a place, None where nothing does."""
    try:
        return os.stat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_needed(path: str) -> bool:
    """Whether the suite does not run without this file: a module of its package."""
    return path.endswith(".py") and not path.startswith("tests/")
