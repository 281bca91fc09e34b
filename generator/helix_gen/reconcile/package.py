"""The suite's Python files, which name each other, brought to their next texts together.

`suite.py` registers what stands in `checks.py` and `judges.py`, and those use what
`subject.py` says. So they are merged in that order: first what decides, then the
table that registers it, rendered for what really stands there, then what the others
use. A name that is still used somewhere stays where it is, also when the spec has no
more need of it: whatever a merge comes to, the suite imports and runs.
"""

import gc
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..emit.plan import Rendered, Standing
from .importable import body_of, bound_names, decided_by, registered_twice
from .merge.how import How, Sides
from .merge.imports import imports_of, without_unused
from .merge.lines import with_endings_of
from .merge.result import WHOLE_FILE, Choice, Conflict, MergeResult
from .merge.split import with_lf
from .merge.units import parse
from .modules import Module, Modules
from .named import defined, names_of, read_in
from .table import ROW_DELETED, rows_deleted, rows_of
from .texts import in_style_of
from .unite import as_text, merge


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The package's files after the merge.

    `files` are the files as they are generated for what stands in the others, and
    `results` what each comes to, both by path. `skipped` are the criteria that
    nothing decides, each with the reason (empty: their owner deleted what does).
    `waiting` are the files that stay as they are while one that they need is broken.
    """

    files: Mapping[str, Rendered]
    results: Mapping[str, MergeResult]
    skipped: Mapping[str, str]
    waiting: Collection[str] = ()


def unite_package(
    modules: Sequence[Module], *, others: Mapping[str, bytes], choice: Choice = "yours"
) -> Package:
    """Merge the modules of a package; `others` are its files of other kinds, by path."""
    was_on = gc.isenabled()
    # Syntax trees are many objects that all live on: looking for dead ones among them
    # would cost two fifths of a merge.
    gc.disable()
    try:
        return _Union(modules, others, choice).package()
    finally:
        parse.cache_clear()
        if was_on:
            gc.enable()


class _Union:
    def __init__(
        self, modules: Sequence[Module], others: Mapping[str, bytes], choice: Choice
    ) -> None:
        self.texts = Modules(modules, others)
        self.modules, self.results = self.texts.by_stem, self.texts.results
        self.choice = choice
        self.skipped: dict[str, str] = {}
        self.references: dict[str, Sides] = {}
        self.plain = {stem: module.file for stem, module in self.modules.items()}

    def package(self) -> Package:
        """Return the package's files after the merge."""
        for stem, module in self.modules.items():
            if module.file.adapt is None:
                self._merge(stem)
        waiting = self._waiting()
        if waiting:
            return self._result(waiting)
        for stem, module in self.modules.items():
            if module.file.adapt is not None:
                self._adapt(stem)
        standing = {stem: result.names for stem, result in self.results.items()}
        self._keep_what_is_used()
        if any(self.results[stem].names != n for stem, n in standing.items()):
            # What stays for its users may go by another name than what was registered.
            self.skipped.clear()
            for stem, module in self.modules.items():
                if module.file.adapt is not None:
                    self._adapt(stem)
        self._tidy()
        if self.choice != "markers" and not self.texts.import_as_before():
            self.skipped.clear()
            for stem, module in self.modules.items():
                if module.yours is not None and module.yours != module.file.content:
                    self._leave(stem)
        return self._result(())

    def _waiting(self) -> list[str]:
        """Return the modules that wait: what they need of another can't be said.

        New code would import facts from a file that its owner has broken, and does
        not hold them yet.
        """
        needed = [
            stem
            for stem, module in self.modules.items()
            if module.file.adapt is None and stem not in self.texts.deciders
        ]
        if not any(self.results[stem].broken for stem in needed):
            return []
        return [
            stem
            for stem, module in self.modules.items()
            if stem not in needed and module.yours is not None
        ]

    def _result(self, waiting: Collection[str]) -> Package:
        for stem, module in self.modules.items():
            if stem in waiting and module.yours is not None:
                text = as_text(module.yours)
                self.results[stem] = MergeResult(text=text, base="")
            elif stem not in self.results:
                self._merge(stem)
        files = {module.file.path: module.file for module in self.modules.values()}
        results = {
            module.file.path: self.results[stem]
            for stem, module in self.modules.items()
        }
        return Package(
            files=files,
            results=results,
            skipped=self.skipped,
            waiting=[self.modules[stem].file.path for stem in waiting],
        )

    def _merge(
        self,
        stem: str,
        *,
        keep: Collection[str] = (),
        restore: Collection[str] = (),
    ) -> None:
        """Merge one module as it stands now."""
        module = self.modules[stem]
        new = module.file.content
        if module.yours is None or not module.is_yours and not keep:
            text = as_text(in_style_of(new, module.yours))
            names = {spec_id: name for name, spec_id in module.file.units}
            self.results[stem] = MergeResult(text=text, base=as_text(new), names=names)
            return
        self.results[stem] = merge(
            path=module.file.path,
            base=module.base if module.is_yours else module.yours,
            yours=module.yours,
            new=new,
            how=How(
                renames=self.texts.renames_of(stem),
                keep=keep,
                restore=restore,
                references=self.references.get(stem, Sides()),
                choice=self.choice,
            ),
        )

    # -- the table ---------------------------------------------------------------------

    def _adapt(self, stem: str) -> None:
        """Merge a module that registers what the others define."""
        deciders = self.texts.deciders
        names: dict[str, dict[str, str]] = {}
        for other in deciders:
            result = self.results[other]
            names[other] = {}
            for _, spec_id in self.modules[other].file.units:
                standing = self._standing(other, spec_id)
                if standing is not None:
                    names[other][spec_id] = standing
                else:
                    why = _why_missing(self.modules[other], result, spec_id)
                    self.skipped.setdefault(spec_id, why)
        module = self.modules[stem]
        references = Sides()
        if module.is_yours or ROW_DELETED in as_text(module.yours or b""):
            references = self.references[stem] = self.texts.references(stem, deciders)
            for spec_id in self._rows_deleted(stem, references):
                self.skipped.setdefault(spec_id, ROW_DELETED)
        is_plain = not self.skipped and all(
            names[other] == {i: n for n, i in self.modules[other].file.units}
            for other in deciders
        )
        file = self.plain[stem]
        assert file.adapt is not None
        if not is_plain:
            content = file.adapt(Standing(names=names, skipped=self.skipped))
            file = replace(file, content=content)
        self.modules[stem] = replace(module, file=file)
        if module.is_yours and module.base == file.content:
            there = rows_of(self.texts.body(stem, "yours"), references.yours) or {}
            if self.skipped.keys() - there.keys():
                # Its owner took out rows that say that nothing decides a criterion.
                # They come again: to the merge they are new.
                plain = self.plain[stem].content
                self.modules[stem] = replace(module, file=file, base=plain)
        self._merge(stem)
        result = self.results[stem]
        if module.is_yours and not result.broken and self.choice != "markers":
            texts = {other: self.results[other].text for other in deciders}
            ids = decided_by({**self.texts.others, **texts, stem: result.text})
            yours = as_text(module.yours or b"")
            if registered_twice(result.text, ids) - registered_twice(yours, ids):
                self._leave(stem)

    def _rows_deleted(self, stem: str, references: Sides) -> list[str]:
        known = {i for m in self.modules.values() for _, i in m.file.units}
        base, yours = (self.texts.body(stem, side) for side in ("base", "yours"))
        return rows_deleted(base, yours, references, known)

    def _standing(self, stem: str, spec_id: str) -> str | None:
        """Return the name under which a criterion's unit stands, None where it's not."""
        result, module = self.results[stem], self.modules[stem]
        if not result.broken:
            if spec_id in result.unseen and not self.texts.is_said(stem, spec_id):
                return None
            return result.names.get(spec_id)
        # It can't be read: what was registered there before is taken to stand still.
        earlier = names_of(self.texts.body(stem, "base"))
        known = earlier.get(spec_id)
        text = as_text(module.yours or b"")
        return known if known is not None and known in defined(text) else None

    def _leave(self, stem: str) -> None:
        """Let a module be its owner's: what else it could come to would not import."""
        module = self.modules[stem]
        assert module.yours is not None
        yours, new = as_text(module.yours), as_text(module.file.content)
        base = as_text((module.base if module.is_yours else module.yours) or b"")
        conflict = Conflict(unit=WHOLE_FILE, base=base, yours=yours, new=new)
        self.results[stem] = MergeResult(
            text=yours,
            base=base,
            conflicts=(conflict,),
            names=names_of(body_of(yours)),
        )

    def _tidy(self) -> None:
        """Take out the imports of ours that nothing uses where a module was merged.

        Its owner deleted what used them; what its owner imports is not looked at.
        """
        for stem, module in self.modules.items():
            result, base = self.results[stem], self.texts.body(stem, "base")
            if (
                not module.is_yours
                or base is None
                or result.broken
                or result.is_unmerged
            ):
                continue
            if module.base == module.file.content and not result.deleted:
                continue  # nothing is new: not a byte changes
            if self.choice == "markers" and result.conflicts:
                continue
            mark = "\ufeff" if result.text.startswith("\ufeff") else ""
            text = with_lf(result.text.removeprefix("\ufeff"))
            new = body_of(as_text(module.file.content))
            ours = imports_of(base) | (set() if new is None else imports_of(new))
            tidy = without_unused(text, ours=ours, used=self.texts.used(stem))
            if tidy != text:
                tidy = mark + with_endings_of(tidy, result.text)
                self.results[stem] = replace(result, text=tidy)

    # -- what others use ---------------------------------------------------------------

    def _keep_what_is_used(self) -> None:
        """Keep names that a file still uses: those that the spec has no more need of,
        and those that their owner deleted by mistake."""
        tables = [s for s, m in self.modules.items() if m.file.adapt is not None]
        rest = [
            s for s in self.modules if s not in tables and s not in self.texts.deciders
        ]
        for stem in [*tables, *self.texts.deciders, *rest]:
            module, result = self.modules[stem], self.results[stem]
            if module.yours is None or result.broken:
                continue
            if self.choice == "markers" and result.conflicts:
                continue  # no Python until its owner has taken them out
            there = defined(result.text)
            gone = defined(as_text(module.yours)) - there
            deleted = set[str]()
            if module.is_yours:
                deleted = defined(as_text(module.file.content)) - there
            if gone or deleted:
                bound = bound_names(result.text)
                gone, deleted = gone - bound, deleted - bound
            if not gone and not deleted:
                continue
            used = self.texts.used(stem)
            keep = gone & (used | read_in(result.text, gone))
            restore = deleted & (used | read_in(result.text, deleted))
            if keep or restore:
                self._merge(stem, keep=keep, restore=restore)


def _why_missing(module: Module, result: MergeResult, spec_id: str) -> str:
    if result.broken:
        return f"{module.stem}.py can't be read by Python"
    if spec_id in result.deleted or not result.conflicts:
        return ""
    return f"what decides it is in conflict: see .helix/conflicts ({module.stem}.py)"
