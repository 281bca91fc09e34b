"""What a run would do to a suite folder, as data: files, writes, and what is said."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from ..problems import Problem
from .manifest import MANIFEST, SUMMARY, Manifest
from .rows import RowChanges
from .stale import Stale
from .texts import checksum, same_text


class Action(StrEnum):
    """What happens to a file."""

    SAME = "same"
    """It is as generated."""
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    """Its owner's edits and the generator's changes both stand in it."""
    KEEP = "keep"
    """Its owner's edits stay; the generator has nothing new for it."""
    REPLACE = "replace"
    """It is the generator's own: edits were put aside and the file renewed."""
    WAIT = "wait"
    """It changes together with a file that Python can't read, once that is mended."""
    CONFLICT = "conflict"
    """Both changed the same in it; there its owner's version stays for now."""
    SKIP = "skip"
    """Its owner deleted it; it stays deleted."""
    RETIRE = "retire"
    """It is generated no more, and kept for its edits."""
    DELETE = "delete"
    """It is generated no more, and nobody edited it."""


_DRIFT: Final = frozenset(
    (
        Action.CREATE,
        Action.UPDATE,
        Action.MERGE,
        Action.REPLACE,
        Action.CONFLICT,
        Action.WAIT,
        Action.DELETE,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file: what happens to it, its bytes before and after (None: no file).

    `conflicts`, `retired` and `skipped` name the parts of it that clash, that are
    generated no more but stay for their owner's edits, and that their owner deleted.
    """

    path: str
    action: Action
    note: str = ""
    before: bytes | None
    after: bytes | None
    conflicts: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One file to be written, or deleted where `data` is None.

    `before` is what stands there now; `group` names the file of the suite that it
    belongs to, so that a file and its base stay together.
    """

    path: str
    data: bytes | None
    before: bytes | None
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """Everything that a run would do.

    `files` are the suite's files, sorted by path; `rows` are the dataset's; `memory`
    the writes to the generator's own memory, the manifest aside; `skipped` the
    criteria whose check or judge their owner deleted, `stale` what was judged before
    and no longer matches. With `problems`, nothing may be written.
    """

    files: tuple[FileChange, ...] = ()
    rows: RowChanges = RowChanges()
    memory: tuple[Write, ...] = ()
    manifest: Manifest | None = None
    manifest_before: bytes | None = None
    recovered: bool = False
    skipped: tuple[str, ...] = ()
    stale: Stale = Stale()
    problems: tuple[Problem, ...] = ()

    @property
    def drift(self) -> tuple[FileChange, ...]:
        """The files that are not as they would be generated."""
        return tuple(change for change in self.files if change.action in _DRIFT)

    @property
    def conflicts(self) -> tuple[FileChange, ...]:
        """The files that their owner has to decide."""
        return tuple(c for c in self.files if c.action is Action.CONFLICT)

    @property
    def is_new(self) -> bool:
        """Whether there was no suite before."""
        return self.manifest_before is None

    def after(self, path: str) -> bytes | None:
        """Return the bytes of a file of the suite once the changes are made."""
        for change in self.files:
            if change.path == path:
                return change.after
        return None

    def with_summary(self, data: bytes, before: bytes | None) -> "ChangeSet":
        """Return the changes with `.helix/summary.json` as part of them."""
        if self.manifest is None:
            return self
        writes = self.memory
        if before != data:
            write = Write(path=SUMMARY, data=data, before=before, group=SUMMARY)
            writes = (*writes, write)
        manifest = replace(self.manifest, summary=checksum(data))
        return replace(self, memory=writes, manifest=manifest)

    def writes(self) -> tuple[Write, ...]:
        """Return every write in its order, the manifest last."""
        writes = [
            Write(path=c.path, data=c.after, before=c.before, group=c.path)
            for c in self.files
            if c.after != c.before
        ]
        writes += self.memory
        if self.manifest is not None:
            data = self.manifest.to_bytes()
            before = self.manifest_before
            # It closes every run that writes at all: its coming marks the end.
            if writes or before is None or not same_text(before, data):
                last = Write(path=MANIFEST, data=data, before=before, group=MANIFEST)
                writes.append(last)
        return tuple(writes)
