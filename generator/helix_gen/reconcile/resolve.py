"""Ending a conflict: what its owner decides becomes the base of the next merge.

Nothing here needs the spec: the texts that clash are all in the suite's memory. With
"ours" the file stays as it is, with "theirs" the new version stands where both had
changed the same, with "edited" the file is as its owner brought it together. For a
file that its owner deleted, "theirs" brings it back.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ..problems import Problem
from .changes import Action, ChangeSet, FileChange, Write
from .conflicts import CONFLICTS_NOTE, conflicts_note
from .importable import import_faults
from .manifest import (
    MANIFEST,
    Entry,
    Manifest,
    base_path,
    conflict_path,
    pending_path,
    read_manifest,
)
from .merge.how import How
from .merge.result import has_markers, without_markers
from .merge.units import parse
from .paths import Folder, path_fault
from .steps import free_place, memory_write
from .texts import checksum
from .unite import as_bytes, as_text, merge

Decision = Literal["ours", "theirs", "edited"]


def find_suite(path: Path) -> Path | None:
    """Return the suite's folder that a path lies in, None where it lies in none."""
    place = Path(os.path.abspath(path))
    for folder in (place, *place.parents):
        if (folder / MANIFEST).is_file():
            return folder
    return None


def resolve(root: Path, folder: Folder, path: str, decision: Decision) -> ChangeSet:
    """Decide what ends the conflict of a file; `path` "" stands for all of them.

    Reads the disk and writes nothing. What can't be done is a problem.
    """
    manifest = read_manifest(folder)
    if manifest is None or folder.problems:
        return ChangeSet(problems=tuple(folder.problems))
    paths = [path] if path else list(manifest.conflicts)
    resolving = _Resolving(root, folder, manifest, decision)
    for each in paths:
        resolving.one(each)
    resolving.look_whether_it_imports()
    return resolving.changes()


class _Resolving:
    def __init__(
        self, root: Path, folder: Folder, manifest: Manifest, decision: Decision
    ) -> None:
        self.root = root
        self.folder = folder
        self.manifest = manifest
        self.decision = decision
        self.entries = dict(manifest.files)
        self.files: list[FileChange] = []
        self.memory: list[Write] = []
        self.problems: list[Problem] = []

    def changes(self) -> ChangeSet:
        """Return what was decided, the overview of what is left to resolve included."""
        problems = (*self.folder.problems, *self.problems)
        if problems:
            return ChangeSet(problems=problems)
        manifest = self.manifest
        if self.entries != manifest.files:
            # No checksums of inputs: the next run must look at everything again.
            manifest = replace(manifest, files=self.entries, inputs={}, summary="")
        left = [(path, ()) for path, e in sorted(self.entries.items()) if e.pending]
        self._put(
            CONFLICTS_NOTE, conflicts_note(left) if left else None, CONFLICTS_NOTE
        )
        return ChangeSet(
            files=tuple(self.files),
            memory=tuple(self.memory),
            manifest=manifest,
            manifest_before=self.folder.read(MANIFEST),
        )

    def one(self, path: str) -> None:
        """Decide about one file."""
        entry = None if path_fault(path) else self.entries.get(path)
        if entry is None:
            self._refuse(path, "it is no file that helix-gen knows of", "")
            return
        before = self.folder.read(path)
        if before is None:
            self._deleted(path, entry)
        elif entry.pending is None:
            self.files.append(
                FileChange(
                    path=path,
                    action=Action.SAME,
                    note="there is no conflict in it",
                    before=before,
                    after=before,
                )
            )
        else:
            self._conflict(path, entry, before)

    def _deleted(self, path: str, entry: Entry) -> None:
        if self.decision != "theirs":
            note = "you deleted it; it stays away"
            change = FileChange(
                path=path, action=Action.SKIP, note=note, before=None, after=None
            )
            self.files.append(change)
            return
        text = self.folder.read(pending_path(path)) or self.folder.read(base_path(path))
        note = "is back"
        if text is None:
            # Nothing of it is remembered; forgotten, it counts as new.
            del self.entries[path]
            note = "comes back with the next `helix-gen suite`"
        else:
            self._settle(path, entry, text, text)
        self.files.append(
            FileChange(
                path=path, action=Action.CREATE, note=note, before=None, after=text
            )
        )

    def _conflict(self, path: str, entry: Entry, before: bytes) -> None:
        new = self.folder.read(pending_path(path))
        if new is None or checksum(new) != entry.pending:
            why = f"the new version is not in {pending_path(path)} any more"
            self._refuse(path, why, "run `helix-gen suite` again: it brings it back")
            return
        text = as_text(before)
        note, action = "yours stays", Action.KEEP
        if self.decision == "theirs":
            after, note = self._theirs(path, before, new)
            action = Action.UPDATE
        elif has_markers(text):
            if self.decision == "edited":
                hint = "take the markers out of it, or say --ours or --theirs"
                self._refuse(path, "it still holds the markers of a conflict", hint)
                return
            after = as_bytes(without_markers(text))
        else:
            after = before
        fault = _syntax_fault(path, after)
        if fault is not None:
            hint = "mend it first; or take the new version whole with --theirs"
            self._refuse(path, f"Python can't read it: {fault}", hint)
            return
        self.files.append(
            FileChange(path=path, action=action, note=note, before=before, after=after)
        )
        self._settle(path, entry, new, after)

    def look_whether_it_imports(self) -> None:
        """Refuse what would keep the suite from being imported, and say what it is."""
        decided = {c.path: c for c in self.files if c.path.endswith(".py")}
        for folder in sorted({path.rpartition("/")[0] for path in decided}):
            if not folder or folder == "tests":
                continue
            faults = self._faults(folder, decided)
            if faults:
                self._refuse(
                    next(path for path in decided if path.startswith(f"{folder}/")),
                    "resolved so, the suite could not be imported: it would lack "
                    + ", ".join(sorted(faults)[:3]),
                    "take what uses it out of your files first; or bring both together "
                    "by hand and say --edited",
                )

    def _faults(self, folder: str, decided: Mapping[str, FileChange]) -> set[str]:
        """Return what a package would lack that it does not lack now."""
        now, then = dict[str, str](), dict[str, str]()
        for path in {*self.folder.names(folder, ".py"), *decided}:
            if path.rpartition("/")[0] != folder:
                continue
            stem = path.rpartition("/")[2].removesuffix(".py")
            there = self.folder.read(path)
            if there is not None:
                now[stem] = then[stem] = as_text(there)
            after = decided[path].after if path in decided else None
            if after is not None:
                then[stem] = as_text(after)
        return set() if now == then else import_faults(then) - import_faults(now)

    def _theirs(self, path: str, before: bytes, new: bytes) -> tuple[bytes, str]:
        """Return the file with the new version where both changed the same."""
        yours = before
        if has_markers(as_text(before)):
            yours = as_bytes(without_markers(as_text(before)))
        result = merge(
            path=path,
            base=self.folder.read(base_path(path)),
            yours=yours,
            new=new,
            how=How(choice="new"),
        )
        note = "the new version stands"
        folder = path.rpartition("/")[0]
        change = FileChange(
            path=path,
            action=Action.UPDATE,
            before=before,
            after=as_bytes(result.text),
        )
        if path.endswith(".py") and self._faults(folder, {path: change}):
            # Rows know no criterion here, so the list may hold one twice.
            whole = replace(change, after=new)
            if not self._faults(folder, {path: whole}):
                place = self._aside(path, before)
                return new, f"{note} as a whole; yours was put aside in {place}"
        if result.broken or result.is_unmerged:
            place = self._aside(path, before)
            note += f"; yours was put aside in {place}"
        return as_bytes(result.text), note

    def _aside(self, path: str, text: bytes) -> str:
        place = free_place(self.folder, path, text)
        self._put(place, text, path)
        return place

    def _settle(self, path: str, entry: Entry, base: bytes, left: bytes) -> None:
        self.entries[path] = replace(
            entry,
            generated=checksum(base),
            left=checksum(left),
            pending=None,
            report=None,
        )
        if entry.ownership == "merged":
            self._put(base_path(path), base, path)
        self._put(pending_path(path), None, path)
        self._put(conflict_path(path), None, path)

    def _put(self, path: str, data: bytes | None, group: str) -> None:
        write = memory_write(self.folder, path, data, group)
        if write is not None:
            self.memory.append(write)

    def _refuse(self, path: str, why: str, hint: str) -> None:
        self.problems.append(
            Problem(
                code="HX710",
                level="error",
                message=why,
                file=os.path.join(self.root, path),
                hint=hint,
            )
        )


def _syntax_fault(path: str, data: bytes) -> str | None:
    if not path.endswith(".py"):
        return None
    try:
        parse(as_text(data).removeprefix("\ufeff"))
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    return None
