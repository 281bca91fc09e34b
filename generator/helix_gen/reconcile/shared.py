"""The files that their owner and the generator both may change.

The Python files of a package are brought to their next texts together, because they
name each other; every other file for itself.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..emit.plan import Ownership, Rendered
from .changes import Action, FileChange
from .conflicts import conflict_page
from .manifest import Entry, base_path, conflict_path, pending_path
from .merge.how import How
from .merge.result import Choice, MergeResult
from .modules import Module
from .package import unite_package
from .paths import is_needed
from .steps import Step, Steps, left
from .table import ROW_DELETED
from .texts import checksum, in_style_of, same_text
from .unite import as_bytes, as_text, merge


class SharedFiles:
    """The shared files of one run: they are added one by one and decided together.

    `skipped` are the criteria whose check or judge their owner deleted, once `unite`
    has been called.
    """

    def __init__(
        self, rendered: Sequence[Rendered], steps: Steps, choice: Choice
    ) -> None:
        self.rendered = rendered
        self.steps = steps
        self.folder = steps.folder
        self.choice: Choice = choice
        self.files: list[tuple[Rendered, Entry, bytes]] = []
        self.skipped: tuple[str, ...] = ()

    def add(self, file: Rendered, entry: Entry, before: bytes) -> None:
        """Add a file that is there, with what the manifest says of it."""
        self.files.append((file, entry, before))

    def unite(self) -> None:
        """Decide about the files that are shared, those of the package together."""
        modules: dict[str, list[Module]] = {}
        for file in self.rendered:
            folder = file.path.rpartition("/")[0]
            if file.ownership == Ownership.MERGED and is_needed(file.path):
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
        for file, entry, before in self.files:
            file, result = united.get(file.path) or (
                file,
                self._text_result(file, entry, before),
            )
            if file.path in waiting:
                note = "waits until the file that Python can't read is mended"
                self.steps.by_path[file.path] = self.steps.leave(
                    file.path, entry, Action.WAIT, before, note
                )
                continue
            self.steps.by_path[file.path] = self._united(file, entry, before, result)
        for path, (file, _) in united.items():
            step = self.steps.by_path[path]
            if step.change.action is Action.CREATE:
                note = step.change.note
                self.steps.by_path[path] = self.steps.write(
                    file, Action.CREATE, None, note
                )

    def _module(self, file: Rendered) -> Module:
        before, entry = self.folder.read(file.path), self.steps.known.get(file.path)
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
    ) -> Step:
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
            step = self.steps.write(file, action, before, _note(result, action))
            step.change = replace(step.change, after=after)
            step.entry = left(step.entry, after)
        step.change = replace(
            step.change,
            conflicts=tuple(conflict.unit for conflict in result.conflicts),
            retired=result.retired,
            skipped=result.deleted,
        )
        if result.dropped:
            self.steps.aside(step, path, as_bytes("\n".join(result.dropped)))
        if result.broken and self.choice == "new":
            self.steps.aside(step, path, before)
        damaged = self.folder.read(base_path(path))
        if damaged is not None and checksum(damaged) != entry.generated:
            self.steps.aside(step, f"{path}.base", damaged)
        return step

    def _conflict(
        self,
        file: Rendered,
        entry: Entry,
        before: bytes,
        after: bytes,
        result: MergeResult,
    ) -> Step:
        path, base = file.path, as_bytes(result.base)
        page = conflict_page(path, result, base=result.base, new=as_text(file.content))
        step = Step(
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
        self.steps.remember(step, base_path(path), base, path)
        self.steps.remember(step, pending_path(path), file.content, path)
        self.steps.page(step, entry, path, page)
        return step


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
