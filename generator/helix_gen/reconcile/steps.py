"""The steps of a run: what happens to one file, and what goes with it.

Beside a file go its base, what waits for its owner to decide, the page that shows a
conflict, and edits that were put aside.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..emit.plan import Ownership, Rendered
from .changes import Action, FileChange, Write
from .manifest import Entry, base_path, conflict_path, kept_path, pending_path
from .paths import Folder
from .settings import SETTINGS, settings_of
from .texts import checksum, in_style_of, same_text


@dataclass(kw_only=True)
class Step:
    """One file on its way: the change, its next entry, and what goes with it."""

    change: FileChange
    entry: Entry | None
    ownership: str
    writes: list[Write] = field(default_factory=list)


class Steps:
    """The steps so far, by path; it makes new ones and writes nothing itself.

    `known` is what the manifest says of each file.
    """

    def __init__(self, folder: Folder, known: Mapping[str, Entry]) -> None:
        self.folder = folder
        self.known = known
        self.by_path: dict[str, Step] = {}

    def write(
        self,
        file: Rendered,
        action: Action,
        before: bytes | None,
        note: str = "",
    ) -> Step:
        """The step after which the generator has nothing more for the file."""
        after = before
        if before is None or not same_text(before, file.content):
            after = in_style_of(file.content, before)
        assert after is not None
        step = Step(
            change=FileChange(
                path=file.path, action=action, note=note, before=before, after=after
            ),
            entry=Entry(
                ownership=file.ownership.value,
                generated=checksum(file.content),
                left=checksum(after),
                units=dict(file.units),
                settings=settings_of(file.content) if file.path == SETTINGS else {},
            ),
            ownership=file.ownership.value,
        )
        if file.ownership == Ownership.MERGED:
            self.remember(step, base_path(file.path), file.content, file.path)
            self.close_conflict(step, file.path)
        return step

    def leave(
        self,
        path: str,
        entry: Entry | None,
        action: Action,
        before: bytes | None,
        note: str = "",
    ) -> Step:
        """The step that leaves a file as it is."""
        return Step(
            change=FileChange(
                path=path, action=action, note=note, before=before, after=before
            ),
            entry=left(entry, before),
            ownership="" if entry is None else entry.ownership,
        )

    def aside(self, step: Step, path: str, text: bytes) -> Step:
        """Put an edited text aside, under a name that is free."""
        place = free_place(self.folder, path, text)
        self.remember(step, place, text, path)
        note = f"your edits were put aside in {place}"
        if step.change.note:
            note = f"{step.change.note}; {note}"
        step.change = replace(step.change, note=note)
        return step

    def remember(self, step: Step, path: str, data: bytes | None, group: str) -> None:
        """Write a file of the memory, or delete it where there is no data."""
        write = memory_write(self.folder, path, data, group)
        if write is not None:
            step.writes.append(write)

    def forget(self, step: Step, path: str) -> None:
        """Clear away all that goes with a file."""
        self.remember(step, base_path(path), None, path)
        self.close_conflict(step, path)

    def close_conflict(self, step: Step, path: str) -> None:
        """Clear away what an open conflict had put beside a file."""
        self.remember(step, pending_path(path), None, path)
        self.page(step, self.known.get(path), path, None)

    def page(
        self, step: Step, entry: Entry | None, path: str, page: bytes | None
    ) -> None:
        """Write or remove the page of a conflict; what its owner wrote on it is kept."""
        there = self.folder.read(conflict_path(path))
        ours = (page, None if entry is None else entry.report)
        if there is not None and not same_text(there, page or b""):
            if checksum(there) != ours[1]:
                self.aside(step, f"{path}.md", there)
        self.remember(step, conflict_path(path), page, path)


def free_place(folder: Folder, path: str, text: bytes) -> str:
    """Return where an edited text is put aside: a name that is free, or that has it."""
    number = 1
    while True:
        place = kept_path(path, number)
        there = folder.read(place)
        if there is None or there == text:
            return place
        number += 1


def memory_write(
    folder: Folder, path: str, data: bytes | None, group: str
) -> Write | None:
    """Return the write of a file of the memory, None where it says the same already."""
    before = folder.read(path)
    if before == data:
        return None
    if before is not None and data is not None and same_text(before, data):
        return None
    return Write(path=path, data=data, before=before, group=group)


def left(entry: Entry | None, text: bytes | None) -> Entry | None:
    """Return an entry with what the file is left as."""
    if entry is None:
        return None
    return replace(entry, left=None if text is None else checksum(text))
