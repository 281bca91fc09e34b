"""What a run would do to a suite folder, decided without touching the disk.

`reconcile` compares three things for each file: what was generated before (the
manifest and the bases), what is on disk, and what is generated now. Its ChangeSet is
all that `--check`, `--dry-run` and a real run show, and all that `write` carries out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from helix_runtime.folder import RETIRED
from helix_runtime.safe_text import printable

from ..emit.plan import VENDORED, Ownership, Rendered
from ..problems import Problem
from .conflicts import CONFLICTS_NOTE, conflict_page, conflicts_note
from .manifest import (
    MANIFEST,
    REBUILD_HINT,
    ROWS,
    SUMMARY,
    Entry,
    Manifest,
    base_path,
    conflict_path,
    kept_path,
    pending_path,
    read_manifest,
)
from .merge.how import How
from .merge.result import Choice, MergeResult
from .package import ROW_DELETED, Module, unite_package
from .paths import STATE, Folder, may_remove, path_fault
from .rebuild import looks_like, rebuilt_manifest
from .rows import (
    RowChanges,
    merge_rows,
    read_memory,
    rebuilt_memory,
    write_memory,
)
from .settings import SETTINGS, followed, lines_to_write, settings_of
from .stale import Stale, find_stale
from .texts import checksum, in_style_of, same_text
from .unite import as_bytes, as_text, merge

_HARMLESS: Final = frozenset((".git", ".DS_Store", ".helix-lock"))


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
    if previous is None and not folder.problems:
        _refuse_strangers(folder)
    elif previous is not None and previous.slug != slug:
        folder.problems.append(_other_suite(folder, previous.slug, slug))
    elif previous is not None:
        _refuse_renamed_package(rendered, folder, previous)
    if folder.problems:
        return ChangeSet(problems=tuple(folder.problems))
    run = _Run(rendered, folder, previous, choice)
    run.unusable = unusable
    run.rebuild = rebuild
    for file in rendered:
        run.generated(file)
    if not folder.problems:
        run.unite()
    retired = retired_list(run.rows)
    for file in retired:
        run.generated(file)
    generated_now = {file.path for file in (*rendered, *retired)}
    for path in sorted(run.known.keys() - generated_now):
        run.gone(path, run.known[path])
    if folder.problems:
        return ChangeSet(problems=tuple(folder.problems))
    return run.result(slug=slug, generator=generator, inputs=inputs)


def _can_be_rebuilt(rendered: Sequence[Rendered], folder: Folder) -> bool:
    """Whether the manifest alone is what is wrong with a folder."""
    faults = {problem.code for problem in folder.problems}
    return faults <= {"HX704"} and looks_like(rendered, folder)


def retired_list(rows: RowChanges) -> tuple[Rendered, ...]:
    """Return the file that keeps retired rows out of runs, where there are any.

    The rows themselves are their owner's and stay byte for byte, so what became of
    them stands beside them.
    """
    if not rows.retired:
        return ()
    text = "".join(f"{line}\n" for line in (*_RETIRED_HEAD, *rows.retired))
    return (Rendered(path=RETIRED, content=text.encode(), ownership=Ownership.OWNED),)


_RETIRED_HEAD: Final = (
    "# Rows of dataset.jsonl that the spec no longer has. They stay there and are not",
    "# run, unless `run --retired` is said. A row with an id of its own is yours again.",
)


def _refuse_strangers(folder: Folder) -> None:
    """Refuse a folder that is not empty and holds no suite of ours."""
    root = folder.root
    if root.is_symlink() and not root.exists():
        folder.refuse("", "it is a link that leads nowhere")
        return
    if not root.exists():
        return
    if not root.is_dir():
        folder.refuse("", "a file is in the way of the suite's folder")
        return
    names = {entry.name for entry in root.iterdir()} - _HARMLESS
    if names == {STATE} and not _has_memory(folder):
        return
    if not names:
        return
    if STATE in names or any((root / n / "_runtime").is_dir() for n in names):
        folder.problems.append(
            Problem(
                code="HX704",
                level="error",
                message="this looks like a suite, but its manifest is missing "
                f"(`{MANIFEST}`); nothing was written",
                file=str(root),
                hint=REBUILD_HINT,
            )
        )
        return
    folder.problems.append(
        Problem(
            code="HX702",
            level="error",
            message="this folder is not empty and not a suite of helix-gen; nothing "
            "was written",
            file=str(root),
            hint="name a new or an empty folder with -o",
        )
    )


def _other_suite(folder: Folder, theirs: str, ours: str) -> Problem:
    # A slip of `-o` would take apart one suite to build another in its place.
    return Problem(
        code="HX702",
        level="error",
        message=f"this is the suite of `{printable(theirs, 80)}`, not of `{ours}`; "
        "nothing was written",
        file=str(folder.root),
        hint="name another folder with -o; where the subject has a new id, bring your "
        "edits over from this one",
    )


def _refuse_renamed_package(
    rendered: Sequence[Rendered], folder: Folder, previous: Manifest
) -> None:
    """Refuse to make a package anew where the old one stands there by another name."""
    package = _package_of(rendered)
    known = any(path.startswith(f"{package}/") for path in previous.files)
    if not package or not known or (folder.root / package).exists():
        return
    others = sorted(
        place.name
        for place in folder.root.iterdir()
        if (place / VENDORED / "__init__.py").is_file() and not place.is_symlink()
    )
    if others:
        name = printable(others[0], 80)
        folder.problems.append(
            Problem(
                code="HX711",
                level="error",
                message=f"the suite's package `{package}` is not there, and `{name}` "
                "looks like it; nothing was written",
                file=str(folder.root / others[0]),
                hint=f"name it `{package}` again; the folder around it may have any "
                "name",
            )
        )


def _package_of(rendered: Sequence[Rendered]) -> str:
    """Return the name of the suite's package."""
    for file in rendered:
        package, found, _ = file.path.partition(f"/{VENDORED}/")
        if found:
            return package
    return ""


def _has_memory(folder: Folder) -> bool:
    """Whether `.helix` holds more than what a first run was staging when it died."""
    state = folder.root / STATE
    return (
        not state.is_dir() or {e.name for e in state.iterdir()} - {"staging"} != set()
    )


@dataclass(kw_only=True)
class _Step:
    """One file on its way: the change, its next entry, and what goes with it."""

    change: FileChange
    entry: Entry | None
    ownership: str
    writes: list[Write] = field(default_factory=list)


class _Run:
    """One reconciliation: it takes files one by one and collects the steps."""

    def __init__(
        self,
        rendered: Sequence[Rendered],
        folder: Folder,
        previous: Manifest | None,
        choice: Choice,
    ) -> None:
        self.rendered = rendered
        self.folder = folder
        self.choice: Choice = choice
        self.merged: list[tuple[Rendered, Entry, bytes]] = []
        self.skipped: tuple[str, ...] = ()
        self.unusable: bytes | None = None
        self.rebuild = False
        self.known: Mapping[str, Entry] = {} if previous is None else previous.files
        self.manifest_before = None if previous is None else folder.read(MANIFEST)
        self.steps: dict[str, _Step] = {}
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
        entry = self.known.get(file.path)
        step: _Step | None
        if file.ownership == Ownership.APPEND_ONLY:
            step = self._dataset(file, entry, before)
        elif entry is None:
            step = self._first(file, before)
        elif file.ownership == Ownership.SEEDED:
            step = self._seeded(file, entry, before)
        elif file.ownership == Ownership.OWNED:
            step = self._owned(file, entry, before)
        elif before is None and not _is_needed(file.path):
            note = "you deleted it; it stays away"
            step = self._leave(file.path, entry, Action.SKIP, before, note)
        elif before is None:
            step = self._write(file, Action.CREATE, before, "was missing")
        else:
            self.merged.append((file, entry, before))
            return
        if step is not None:
            self.steps[file.path] = step

    def _first(self, file: Rendered, before: bytes | None) -> _Step | None:
        """A file that this folder's manifest does not know."""
        if before is not None and not same_text(before, file.content):
            self.folder.refuse(
                file.path, "a file that helix-gen did not write is in the way"
            )
            return None
        if before is None:
            return self._write(file, Action.CREATE, before)
        return self._write(file, Action.SAME, before)

    def _seeded(self, file: Rendered, entry: Entry, before: bytes | None) -> _Step:
        if before is None:
            note = "you deleted it; it stays away"
            return self._leave(file.path, entry, Action.SKIP, before, note)
        is_yours = checksum(before) != entry.generated
        note = "yours" if is_yours else ""
        if file.path == SETTINGS:
            entry, wanted = self._settings(file, entry, before)
            if wanted:
                note = f"yours; the overlay has changed: to follow it, write {wanted}"
        elif file.path.endswith(".py") and checksum(file.content) != entry.generated:
            note = "yours; what is written once would differ by now"
        action = Action.KEEP if note else Action.SAME
        return self._leave(file.path, entry, action, before, note)

    def _settings(
        self, file: Rendered, entry: Entry, before: bytes
    ) -> tuple[Entry, str]:
        """Return the entry of `evals.toml`, and what the overlay asks of its owner."""
        now, yours = settings_of(file.content), settings_of(before)
        # Where it is not known what the file was written with, nothing is asked.
        known = entry.settings or yours
        wanted = ", ".join(lines_to_write(known, now, yours))
        return replace(entry, settings=followed(known, now, yours)), wanted

    def _owned(self, file: Rendered, entry: Entry, before: bytes | None) -> _Step:
        if before is None:
            return self._write(file, Action.CREATE, before, "was missing")
        if same_text(before, file.content):
            return self._write(file, Action.SAME, before)
        if checksum(before) == entry.generated:
            return self._write(file, Action.UPDATE, before)
        step = self._write(file, Action.REPLACE, before)
        return self._aside(step, file.path, before)

    # -- files that both may change ----------------------------------------------------

    def unite(self) -> None:
        """Decide about the files that are shared, those of the package together."""
        modules: dict[str, list[Module]] = {}
        for file in self.rendered:
            folder = file.path.rpartition("/")[0]
            if file.ownership == Ownership.MERGED and _is_needed(file.path):
                modules.setdefault(folder, []).append(self._module(file))
        united: dict[str, tuple[Rendered, MergeResult]] = {}
        waiting: set[str] = set()
        for folder, group in modules.items():
            package = unite_package(
                group, others=self._others(folder), choice=self.choice
            )
            for path, file in package.files.items():
                united[path] = (file, package.results[path])
            self.skipped += tuple(
                i for i, why in package.skipped.items() if why in ("", ROW_DELETED)
            )
            waiting.update(package.waiting)
        for file, entry, before in self.merged:
            file, result = united.get(file.path) or (
                file,
                self._text_result(file, entry, before),
            )
            if file.path in waiting:
                note = "waits until the file that Python can't read is mended"
                self.steps[file.path] = self._leave(
                    file.path, entry, Action.WAIT, before, note
                )
                continue
            self.steps[file.path] = self._united(file, entry, before, result)
        for path, (file, _) in united.items():
            step = self.steps[path]
            if step.change.action is Action.CREATE:
                note = step.change.note
                self.steps[path] = self._write(file, Action.CREATE, None, note)

    def _module(self, file: Rendered) -> Module:
        before, entry = self.folder.read(file.path), self.known.get(file.path)
        if before is None or entry is None:
            return Module(file=file, base=None, yours=before, is_yours=False)
        base = self._base(file.path, entry)
        is_yours = checksum(before) != entry.generated
        return Module(file=file, base=base, yours=before, is_yours=is_yours)

    def _others(self, folder: str) -> dict[str, bytes]:
        """Return the package's Python files that are not merged, its runtime aside."""
        merged = {file.path for file in self.rendered if file.ownership == "merged"}
        found = {}
        for path in self.folder.names(folder, ".py"):
            if path not in merged:
                data = self.folder.read(path)
                if data is not None:
                    found[path] = data
        return found

    def _text_result(self, file: Rendered, entry: Entry, before: bytes) -> MergeResult:
        new = file.content
        if checksum(before) == entry.generated:
            text = before if same_text(before, new) else in_style_of(new, before)
            return MergeResult(text=as_text(text), base=as_text(new))
        return merge(
            path=file.path,
            base=self._base(file.path, entry),
            yours=before,
            new=new,
            how=How(choice=self.choice),
        )

    def _base(self, path: str, entry: Entry) -> bytes | None:
        """Return the text that both sides started from, None where it is lost."""
        text = self.folder.read(base_path(path))
        if text is not None and checksum(text) != entry.generated:
            return None  # edited or damaged: it is not what was generated
        return text

    def _united(
        self, file: Rendered, entry: Entry, before: bytes, result: MergeResult
    ) -> _Step:
        """The step that a merge comes to."""
        path, after = file.path, as_bytes(result.text)
        if same_text(after, before):
            after = before
        if result.conflicts:
            step = self._conflict(file, entry, before, after, result)
        else:
            if same_text(before, file.content):
                action = Action.SAME
            elif after == before:
                action = Action.KEEP
            elif checksum(before) == entry.generated and same_text(after, file.content):
                action = Action.UPDATE
            else:
                action = Action.MERGE
            step = self._write(file, action, before, _note(result, action))
            step.change = replace(step.change, after=after)
            step.entry = _left(step.entry, after)
        step.change = replace(
            step.change,
            conflicts=tuple(conflict.unit for conflict in result.conflicts),
            retired=result.retired,
            skipped=result.deleted,
        )
        if result.dropped:
            self._aside(step, path, as_bytes("\n".join(result.dropped)))
        if result.broken and self.choice == "new":
            self._aside(step, path, before)
        damaged = self.folder.read(base_path(path))
        if damaged is not None and checksum(damaged) != entry.generated:
            self._aside(step, f"{path}.base", damaged)
        return step

    def _conflict(
        self,
        file: Rendered,
        entry: Entry,
        before: bytes,
        after: bytes,
        result: MergeResult,
    ) -> _Step:
        path, base = file.path, as_bytes(result.base)
        page = conflict_page(path, result, base=result.base, new=as_text(file.content))
        step = _Step(
            change=FileChange(
                path=path,
                action=Action.CONFLICT,
                note=_conflict_note(path, result),
                before=before,
                after=after,
            ),
            entry=Entry(
                ownership=file.ownership.value,
                generated=checksum(base),
                left=checksum(after),
                pending=checksum(file.content),
                report=checksum(page),
                units=dict(file.units),
            ),
            ownership=file.ownership.value,
        )
        self._memory(step, base_path(path), base, path)
        self._memory(step, pending_path(path), file.content, path)
        self._page(step, entry, path, page)
        return step

    def _page(
        self, step: _Step, entry: Entry | None, path: str, page: bytes | None
    ) -> None:
        """Write or remove the page of a conflict; what its owner wrote on it is kept."""
        there = self.folder.read(conflict_path(path))
        ours = (page, None if entry is None else entry.report)
        if there is not None and not same_text(there, page or b""):
            if checksum(there) != ours[1]:
                self._aside(step, f"{path}.md", there)
        self._memory(step, conflict_path(path), page, path)

    def _dataset(
        self, file: Rendered, entry: Entry | None, before: bytes | None
    ) -> _Step | None:
        memory: dict[str, str] = {}
        if entry is None and before is not None:
            if not same_text(before, file.content):
                self.folder.refuse(
                    file.path, "a file that helix-gen did not write is in the way"
                )
                return None
        elif entry is not None:
            known = self._memory_of_rows()
            if known is None and self.rebuild and before is not None:
                self.folder.problems.pop()
                known = rebuilt_memory(yours=before, new=file.content)
            if known is None:
                return None
            memory = known
        merged = merge_rows(memory=memory, yours=before, new=file.content)
        self.rows = merged.changes
        if before is None:
            action, note = Action.CREATE, "" if entry is None else "was missing"
        elif merged.text == before:
            edited = merged.changes.reworded or merged.changes.own
            action, note = Action.KEEP if edited else Action.SAME, ""
        else:
            action, note = Action.UPDATE, ""
        step = _Step(
            change=FileChange(
                path=file.path,
                action=action,
                note=note,
                before=before,
                after=merged.text,
            ),
            entry=Entry(
                ownership=file.ownership.value,
                generated=checksum(file.content),
                left=checksum(merged.text),
            ),
            ownership=file.ownership.value,
        )
        self._memory(step, ROWS, write_memory(merged.memory), file.path)
        return step

    def _memory_of_rows(self) -> dict[str, str] | None:
        data = self.folder.read(ROWS)
        if data is None:
            self._broken_rows("it is missing")
            return None
        try:
            return read_memory(data)
        except ValueError as error:
            self._broken_rows(str(error))
            return None

    def _broken_rows(self, why: str) -> None:
        self.folder.problems.append(
            Problem(
                code="HX704",
                level="error",
                message=f"the suite's memory of its dataset rows is broken: {why}; "
                "nothing was written",
                file=str(self.folder.root / ROWS),
                hint=REBUILD_HINT,
            )
        )

    def gone(self, path: str, entry: Entry) -> None:
        """Decide about a file that is generated no more."""
        if not may_remove(path, _package_of(self.rendered)):
            return  # never one of ours, whatever the manifest says
        before = self.folder.read(path)
        if before is None:
            if len(self.folder.problems) == 0:
                step = self._leave(path, None, Action.SAME, None)
                self._forget(step, path)
                self.steps[path] = step
            return
        if checksum(before) == entry.generated:
            step = self._leave(path, None, Action.DELETE, before)
        elif entry.ownership == Ownership.OWNED:
            step = self._leave(path, None, Action.DELETE, before)
            step = self._aside(step, path, before)
        else:
            note = "no longer generated; kept, because you edited it"
            step = self._leave(path, entry, Action.RETIRE, before, note)
            assert step.entry is not None
            step.entry = replace(step.entry, retired=True, pending=None, report=None)
            self._close_conflict(step, path)
        if step.change.action is Action.DELETE:
            step.change = replace(step.change, after=None)
            self._forget(step, path)
        step.ownership = entry.ownership
        self.steps[path] = step

    def _write(
        self,
        file: Rendered,
        action: Action,
        before: bytes | None,
        note: str = "",
    ) -> _Step:
        """The step after which the generator has nothing more for the file."""
        after = before
        if before is None or not same_text(before, file.content):
            after = in_style_of(file.content, before)
        assert after is not None
        step = _Step(
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
            self._memory(step, base_path(file.path), file.content, file.path)
            self._close_conflict(step, file.path)
        return step

    def _close_conflict(self, step: _Step, path: str) -> None:
        """Clear away what an open conflict had put beside a file."""
        self._memory(step, pending_path(path), None, path)
        self._page(step, self.known.get(path), path, None)

    def _leave(
        self,
        path: str,
        entry: Entry | None,
        action: Action,
        before: bytes | None,
        note: str = "",
    ) -> _Step:
        """The step that leaves a file as it is."""
        return _Step(
            change=FileChange(
                path=path, action=action, note=note, before=before, after=before
            ),
            entry=_left(entry, before),
            ownership="" if entry is None else entry.ownership,
        )

    def _aside(self, step: _Step, path: str, text: bytes) -> _Step:
        """Put an edited text aside, under a name that is free."""
        number = 1
        while True:
            place = kept_path(path, number)
            there = self.folder.read(place)
            if there is None or there == text:
                break
            number += 1
        self._memory(step, place, text, path)
        note = f"your edits were put aside in {place}"
        if step.change.note:
            note = f"{step.change.note}; {note}"
        step.change = replace(step.change, note=note)
        return step

    def _memory(self, step: _Step, path: str, data: bytes | None, group: str) -> None:
        before = self.folder.read(path)
        if before == data:
            return
        if before is not None and data is not None and same_text(before, data):
            return
        step.writes.append(Write(path=path, data=data, before=before, group=group))

    def _forget(self, step: _Step, path: str) -> None:
        self._memory(step, base_path(path), None, path)
        self._close_conflict(step, path)

    def _stale(
        self, entries: Mapping[str, Entry], changes: Sequence[FileChange]
    ) -> Stale:
        """Return what was judged before and no longer matches."""
        if self.manifest_before is None:
            return Stale()
        before, now = _criteria(self.known), _criteria(entries)
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
            if _is_needed(change.path) and "/_runtime/" not in change.path
        }
        is_same = all(before == after for before, after in files.values())
        if is_same and not gone and not renamed and not self.rows.updated:
            return Stale()
        return find_stale(
            self.folder.root,
            files,
            gone=gone,
            renamed=renamed,
            cases=self.rows.updated,
        )

    def result(
        self, *, slug: str, generator: Mapping[str, str], inputs: Mapping[str, Any]
    ) -> ChangeSet:
        """Return the change set of all steps."""
        steps = [self.steps[path] for path in sorted(self.steps)]
        entries = {
            step.change.path: step.entry for step in steps if step.entry is not None
        }
        changes = tuple(
            step.change
            for step in steps
            if step.change.before is not None
            or step.change.after is not None
            or step.change.action is not Action.SAME
        )
        note = _Step(
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
        self._memory(note, CONFLICTS_NOTE, text, CONFLICTS_NOTE)
        if self.unusable is not None:
            self._aside(note, MANIFEST.rpartition("/")[2], self.unusable)
        return ChangeSet(
            files=changes,
            rows=self.rows,
            memory=tuple(_flat(step.writes for step in (*steps, note))),
            manifest=Manifest(
                generator=generator, inputs=inputs, slug=slug, files=entries
            ),
            manifest_before=self.manifest_before,
            recovered=bool(self.folder.pending),
            skipped=self.skipped,
            stale=self._stale(entries, changes),
            problems=tuple(self.folder.problems),
        )


def _criteria(entries: Mapping[str, Entry]) -> set[str]:
    return {i for entry in entries.values() for i in entry.units.values()}


def _note(result: MergeResult, action: Action) -> str:
    parts = ["edited by you"] if action is Action.KEEP else []
    if result.retired:
        names = ", ".join(result.retired)
        parts.append(f"no longer generated, kept for your edits: {names}")
    if result.deleted:
        parts.append(f"deleted by you, stays away: {', '.join(result.deleted)}")
    return "; ".join(parts)


def _conflict_note(path: str, result: MergeResult) -> str:
    if result.broken:
        return f"Python can't read it ({result.broken}); left alone until you mend it"
    names = ", ".join(conflict.unit for conflict in result.conflicts)
    more = _note(result, Action.CONFLICT)
    note = f"both you and helix-gen changed {names}: see {conflict_path(path)}"
    return f"{note}; {more}" if more else note


def _flat(lists: Iterable[Iterable[Write]]) -> Iterable[Write]:
    for writes in lists:
        yield from writes


def _left(entry: Entry | None, text: bytes | None) -> Entry | None:
    if entry is None:
        return None
    return replace(entry, left=None if text is None else checksum(text))


def _is_needed(path: str) -> bool:
    """Whether the suite does not run without this file: a module of its package."""
    return path.endswith(".py") and not path.startswith("tests/")
