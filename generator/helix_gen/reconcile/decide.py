"""What a run would do to a suite folder, decided without touching the disk.

`reconcile` compares three things for each file: what was generated before (the
manifest and the bases), what is on disk, and what is generated now. Its ChangeSet is
all that `--check`, `--dry-run` and a real run show, and all that `write` carries out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..emit.plan import Ownership, Rendered
from .changes import Action, ChangeSet, FileChange, Write
from .conflicts import CONFLICTS_NOTE, conflicts_note
from .dataset import dataset_step, retired_before, retired_list
from .manifest import MANIFEST, Entry, Manifest, kept_path, read_manifest
from .merge.result import Choice
from .paths import Folder, is_needed, may_remove, path_fault
from .rebuild import looks_like, rebuilt_manifest
from .refusals import package_of, refuse_folder
from .rows import RowChanges
from .settings import SETTINGS, followed, lines_to_write, settings_of
from .shared import SharedFiles
from .stale import Stale, find_stale
from .steps import Step, Steps
from .texts import checksum, same_text


def reconcile(
    rendered: Sequence[Rendered],
    folder: Folder,
    *,
    slug: str,
    generator: Mapping[str, str],
    inputs: Mapping[str, Any],
    choice: Choice = "yours",
    rebuild: bool = False,
) -> ChangeSet:
    """Decide what a run does to a folder; reads the disk and writes nothing.

    `slug`, `generator` and `inputs` go into the manifest. `choice` is what stands in
    a file where both sides changed one thing. With `rebuild`, a manifest that is
    broken or missing is made anew. Every problem of the folder is in the result, all
    at once.
    """
    previous = read_manifest(folder)
    unusable: bytes | None = None
    if rebuild and previous is None and _can_be_rebuilt(rendered, folder):
        folder.problems.clear()
        unusable = folder.read(MANIFEST)
        previous = rebuilt_manifest(rendered, folder, slug=slug)
    refuse_folder(rendered, folder, previous, slug=slug)
    if folder.problems:
        return ChangeSet(problems=tuple(folder.problems))
    run = _Run(
        rendered, folder, previous, choice=choice, rebuild=rebuild, unusable=unusable
    )
    for file in rendered:
        run.generated(file)
    if not folder.problems:
        run.shared.unite()
    retired = retired_list(run.rows)
    for file in retired:
        run.generated(file)
    known = run.steps.known
    generated_now = {file.path for file in (*rendered, *retired)}
    for path in sorted(known.keys() - generated_now):
        run.gone(path, known[path])
    if folder.problems:
        return ChangeSet(problems=tuple(folder.problems))
    return run.result(slug=slug, generator=generator, inputs=inputs)


def _can_be_rebuilt(rendered: Sequence[Rendered], folder: Folder) -> bool:
    """Whether the manifest alone is what is wrong with a folder."""
    faults = {problem.code for problem in folder.problems}
    return faults <= {"HX704"} and looks_like(rendered, folder)


class _Run:
    """One reconciliation: it takes files one by one and collects the steps."""

    def __init__(
        self,
        rendered: Sequence[Rendered],
        folder: Folder,
        previous: Manifest | None,
        *,
        choice: Choice,
        rebuild: bool,
        unusable: bytes | None,
    ) -> None:
        self.rendered = rendered
        self.folder = folder
        self.rebuild = rebuild
        self.unusable = unusable
        known: Mapping[str, Entry] = {} if previous is None else previous.files
        self.manifest_before = None if previous is None else folder.read(MANIFEST)
        self.steps = Steps(folder, known)
        self.shared = SharedFiles(rendered, self.steps, choice)
        self.rows = RowChanges()

    def generated(self, file: Rendered) -> None:
        """Decide about a file that is generated now."""
        fault = path_fault(file.path)
        if fault is not None:
            raise ValueError(f"can't generate {file.path!r}: {fault}")
        faults = len(self.folder.problems)
        before = self.folder.read(file.path)
        if len(self.folder.problems) > faults:
            return
        entry = self.steps.known.get(file.path)
        step: Step | None
        if file.ownership == Ownership.APPEND_ONLY:
            step = self._dataset(file, entry, before)
        elif entry is None:
            step = self._first(file, before)
        elif file.ownership == Ownership.SEEDED:
            step = self._seeded(file, entry, before)
        elif file.ownership == Ownership.OWNED:
            step = self._owned(file, entry, before)
        elif before is None and not is_needed(file.path):
            note = "you deleted it; it stays away"
            step = self.steps.leave(file.path, entry, Action.SKIP, before, note)
        elif before is None:
            step = self.steps.write(file, Action.CREATE, before, "was missing")
        else:
            self.shared.add(file, entry, before)
            return
        if step is not None:
            self.steps.by_path[file.path] = step

    def _first(self, file: Rendered, before: bytes | None) -> Step | None:
        """A file that this folder's manifest does not know."""
        if before is not None and not same_text(before, file.content):
            self.folder.refuse(
                file.path, "a file that helix-gen did not write is in the way"
            )
            return None
        if before is None:
            return self.steps.write(file, Action.CREATE, before)
        return self.steps.write(file, Action.SAME, before)

    def _seeded(self, file: Rendered, entry: Entry, before: bytes | None) -> Step:
        if before is None:
            note = "you deleted it; it stays away"
            return self.steps.leave(file.path, entry, Action.SKIP, before, note)
        is_yours = checksum(before) != entry.generated
        note = "yours" if is_yours else ""
        if file.path == SETTINGS:
            entry, wanted = self._settings(file, entry, before)
            if wanted:
                note = f"yours; the overlay has changed: to follow it, write {wanted}"
        elif file.path.endswith(".py") and checksum(file.content) != entry.generated:
            note = "yours; what is written once would differ by now"
        action = Action.KEEP if note else Action.SAME
        return self.steps.leave(file.path, entry, action, before, note)

    def _settings(
        self, file: Rendered, entry: Entry, before: bytes
    ) -> tuple[Entry, str]:
        """Return the entry of `evals.toml`, and what the overlay asks of its owner."""
        now, yours = settings_of(file.content), settings_of(before)
        # Where it is not known what the file was written with, nothing is asked.
        known = entry.settings or yours
        wanted = ", ".join(lines_to_write(known, now, yours))
        return replace(entry, settings=followed(known, now, yours)), wanted

    def _owned(self, file: Rendered, entry: Entry, before: bytes | None) -> Step:
        if before is None:
            return self.steps.write(file, Action.CREATE, before, "was missing")
        if same_text(before, file.content):
            return self.steps.write(file, Action.SAME, before)
        if checksum(before) == entry.generated:
            return self.steps.write(file, Action.UPDATE, before)
        step = self.steps.write(file, Action.REPLACE, before)
        return self.steps.aside(step, file.path, before)

    def _dataset(
        self, file: Rendered, entry: Entry | None, before: bytes | None
    ) -> Step | None:
        decided = dataset_step(file, entry, before, self.steps, rebuild=self.rebuild)
        if decided is None:
            return None
        step, self.rows = decided
        return step

    def gone(self, path: str, entry: Entry) -> None:
        """Decide about a file that is generated no more."""
        if not may_remove(path, package_of(self.rendered)):
            return  # never one of ours, whatever the manifest says
        before = self.folder.read(path)
        if before is None:
            if len(self.folder.problems) == 0:
                step = self.steps.leave(path, None, Action.SAME, None)
                self.steps.forget(step, path)
                self.steps.by_path[path] = step
            return
        if checksum(before) == entry.generated:
            step = self.steps.leave(path, None, Action.DELETE, before)
        elif entry.ownership == Ownership.OWNED:
            step = self.steps.leave(path, None, Action.DELETE, before)
            step = self.steps.aside(step, path, before)
        else:
            note = "no longer generated; kept, because you edited it"
            step = self.steps.leave(path, entry, Action.RETIRE, before, note)
            assert step.entry is not None
            step.entry = replace(step.entry, retired=True, pending=None, report=None)
            self.steps.close_conflict(step, path)
        if step.change.action is Action.DELETE:
            step.change = replace(step.change, after=None)
            self.steps.forget(step, path)
        step.ownership = entry.ownership
        self.steps.by_path[path] = step

    def _say_kept_rows(self, entries: Mapping[str, Entry]) -> None:
        """Say where the row lies that a criterion had which comes back."""
        table = f"{package_of(self.rendered)}/suite.py"
        step = self.steps.by_path.get(table)
        come = _criteria(entries) - _criteria(self.steps.known)
        if self.manifest_before is None or step is None or not come:
            return
        place = kept_path(table, 1)
        names = {
            f"{path.rpartition('/')[2].removesuffix('.py')}.{name}": spec_id
            for path, entry in entries.items()
            for name, spec_id in entry.units.items()
            if spec_id in come
        }
        for kept in self.folder.names(place.rpartition("/")[0], ""):
            if not kept.startswith(place):
                continue
            text = (self.folder.read(kept) or b"").decode("utf-8", "replace")
            words = set(re.findall(r"\w+\.\w+", text))
            back = sorted({names[word] for word in words & names.keys()})
            if back:
                said = f"an earlier row of yours for {', '.join(back)} lies in {kept}"
                note = f"{step.change.note}; {said}" if step.change.note else said
                step.change = replace(step.change, note=note)

    def _stale(
        self, entries: Mapping[str, Entry], changes: Sequence[FileChange]
    ) -> Stale:
        """Return what was judged before and no longer matches."""
        if self.manifest_before is None:
            return Stale()
        before, now = _criteria(self.steps.known), _criteria(entries)
        pairs = {old: new for file in self.rendered for new, old in file.renamed}
        renamed = {
            old: new
            for old, new in pairs.items()
            if old in before - now and new in now - before
        }
        gone = before - now - renamed.keys()
        files = {
            change.path.rpartition("/")[2].removesuffix(".py"): (
                change.before,
                change.after,
            )
            for change in changes
            if is_needed(change.path) and "/_runtime/" not in change.path
        }
        is_same = all(before == after for before, after in files.values())
        retired = set(self.rows.retired) - retired_before(self.folder)
        if is_same and not (gone or renamed or self.rows.updated or retired):
            return Stale()
        return find_stale(
            self.folder.root,
            files,
            gone=gone,
            renamed=renamed,
            cases=self.rows.updated,
            retired=retired,
            deciders=(_deciders(self.steps.known), _deciders(entries)),
        )

    def result(
        self, *, slug: str, generator: Mapping[str, str], inputs: Mapping[str, Any]
    ) -> ChangeSet:
        """Return the change set of all steps."""
        steps = [self.steps.by_path[path] for path in sorted(self.steps.by_path)]
        entries = {
            step.change.path: step.entry for step in steps if step.entry is not None
        }
        self._say_kept_rows(entries)
        changes = tuple(
            step.change
            for step in steps
            if step.change.before is not None
            or step.change.after is not None
            or step.change.action is not Action.SAME
        )
        note = Step(
            change=FileChange(
                path=CONFLICTS_NOTE, action=Action.SAME, before=None, after=None
            ),
            entry=None,
            ownership="",
        )
        open_conflicts = [
            (c.path, c.conflicts) for c in changes if c.action is Action.CONFLICT
        ]
        text = conflicts_note(open_conflicts) if open_conflicts else None
        self.steps.remember(note, CONFLICTS_NOTE, text, CONFLICTS_NOTE)
        if self.unusable is not None:
            self.steps.aside(note, MANIFEST.rpartition("/")[2], self.unusable)
        return ChangeSet(
            files=changes,
            rows=self.rows,
            memory=tuple(_flat(step.writes for step in (*steps, note))),
            manifest=Manifest(
                generator=generator, inputs=inputs, slug=slug, files=entries
            ),
            manifest_before=self.manifest_before,
            recovered=bool(self.folder.pending),
            skipped=self.shared.skipped,
            stale=self._stale(entries, changes),
            problems=tuple(self.folder.problems),
        )


def _criteria(entries: Mapping[str, Entry]) -> set[str]:
    return {i for entry in entries.values() for i in entry.units.values()}


def _deciders(entries: Mapping[str, Entry]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for path, entry in entries.items():
        stem = path.rpartition("/")[2].removesuffix(".py")
        if stem in ("checks", "judges"):
            for spec_id in entry.units.values():
                found[spec_id] = found.get(spec_id, frozenset()) | {stem}
    return found


def _flat(lists: Iterable[Iterable[Write]]) -> Iterable[Write]:
    for writes in lists:
        yield from writes
