"""The suite's Python files, which name each other, brought to their next texts together.

`suite.py` registers what stands in `checks.py` and `judges.py`, and those use what
`subject.py` says. So they are merged in that order: first what decides, then the
table that registers it, rendered for what really stands there, then what the others
use. A name that is still used somewhere stays where it is, also when the spec has no
more need of it: whatever a merge comes to, the suite imports and runs.
"""

import ast
import gc
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..emit.plan import Rendered, Standing
from .importable import (
    body_of,
    bound_names,
    calls_in,
    decided_by,
    import_faults,
    registered_twice,
    still_offers,
)
from .merge.how import How, Sides
from .merge.imports import imports_of, needed_names, without_unused
from .merge.lines import with_endings_of
from .merge.result import WHOLE_FILE, Choice, Conflict, MergeResult
from .merge.sound import decided
from .merge.split import with_lf
from .merge.units import Body, parse
from .merge.values import row_criterion
from .texts import in_style_of
from .unite import as_text, merge

_DEFINED = re.compile(
    r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.M
)
_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(\S+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)", re.M
)


ROW_DELETED = "its row in suite.py was deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One merged Python file of the package.

    `base` is the pristine text that it was generated with, None where that is lost
    or the file is new; `yours` is what stands there, None for no file; `is_yours`
    says whether its owner changed it.
    """

    file: Rendered
    base: bytes | None
    yours: bytes | None
    is_yours: bool

    @property
    def stem(self) -> str:
        """The name of the module."""
        return self.file.path.rpartition("/")[2].removesuffix(".py")


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
        self.modules = {module.stem: module for module in modules}
        self.others = {
            path.rpartition("/")[2].removesuffix(".py"): as_text(data)
            for path, data in others.items()
        }
        self.choice = choice
        self.renames = {
            old: new for module in modules for new, old in module.file.renamed
        }
        self.results: dict[str, MergeResult] = {}
        self.skipped: dict[str, str] = {}
        self.references: dict[str, Sides] = {}
        self.plain = {stem: module.file for stem, module in self.modules.items()}
        self._bodies: dict[str, Body | None] = {}
        self.deciders = [stem for stem in self.modules if self._is_decider(stem)]

    def _is_decider(self, stem: str) -> bool:
        """Whether a module holds checks or judges, or held some before."""
        module = self.modules[stem]
        if module.file.units:
            return True
        before = as_text(module.base or b"")
        return module.file.adapt is None and bool(_names_in(before))

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
        if not self._holds():
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
            if module.file.adapt is None and stem not in self.deciders
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
                renames=self._renames(stem),
                keep=keep,
                restore=restore,
                references=self.references.get(stem, Sides()),
                choice=self.choice,
            ),
        )

    # -- the table ---------------------------------------------------------------------

    def _adapt(self, stem: str) -> None:
        """Merge a module that registers what the others define."""
        deciders = self.deciders
        names: dict[str, dict[str, str]] = {}
        for other in deciders:
            result = self.results[other]
            names[other] = {}
            for name, spec_id in self.modules[other].file.units:
                standing = self._standing(other, name, spec_id)
                if standing is not None:
                    names[other][spec_id] = standing
                else:
                    why = _why_missing(self.modules[other], result, spec_id)
                    self.skipped.setdefault(spec_id, why)
        module = self.modules[stem]
        references = Sides()
        if module.is_yours or ROW_DELETED in as_text(module.yours or b""):
            references = self.references[stem] = self._references(stem, deciders)
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
            there = _rows(self._body(stem, "yours"), references.yours) or {}
            if self.skipped.keys() - there.keys():
                # Its owner took out rows that say that nothing decides a criterion.
                # They come again: to the merge they are new.
                plain = self.plain[stem].content
                self.modules[stem] = replace(module, file=file, base=plain)
        self._merge(stem)
        result = self.results[stem]
        if module.is_yours and not result.broken and self.choice != "markers":
            texts = {other: self.results[other].text for other in self.deciders}
            ids = decided_by({**self.others, **texts, stem: result.text})
            yours = as_text(module.yours or b"")
            if registered_twice(result.text, ids) - registered_twice(yours, ids):
                self._leave(stem)

    def _rows_deleted(self, stem: str, references: Sides) -> list[str]:
        """Return the criteria whose row its owner took out of the table.

        One that its owner registers in a way that can't be seen is among them: the
        row that says so gives way to it.
        """
        yours = _rows(self._body(stem, "yours"), references.yours)
        before = _rows(self._body(stem, "base"), references.base)
        if yours is None or before is None:
            return []
        gone = [i for i in before if i not in yours]
        known = {i for m in self.modules.values() for _, i in m.file.units}
        still = [i for i, reason in yours.items() if reason == ROW_DELETED]
        return [i for i in (*gone, *still) if i in known]

    def _standing(self, stem: str, name: str, spec_id: str) -> str | None:
        """Return the name under which a criterion's unit stands, None where it's not."""
        result, module = self.results[stem], self.modules[stem]
        if not result.broken:
            if spec_id in result.unseen and not self._is_said(stem, spec_id):
                return None
            return result.names.get(spec_id)
        # It can't be read: what was registered there before is taken to stand still.
        earlier = _names_of(self._body(stem, "base"))
        known = earlier.get(spec_id)
        text = as_text(module.yours or b"")
        return known if known is not None and known in defined(text) else None

    def _is_said(self, stem: str, spec_id: str) -> bool:
        """Whether a criterion's id stands as a text in a module or in its owner's own.

        What its owner wrote in a way of their own may decide it; where its id is
        nowhere, it can't.
        """
        pattern = re.compile(rf"(['\"]){re.escape(spec_id)}\1")
        texts = [self.results[stem].text, *self.others.values()]
        return any(pattern.search(text) for text in texts)

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
            names=_names_of(body_of(yours)),
        )

    def _tidy(self) -> None:
        """Take out the imports of ours that nothing uses where a module was merged.

        Its owner deleted what used them; what its owner imports is not looked at.
        """
        for stem, module in self.modules.items():
            result, base = self.results[stem], self._body(stem, "base")
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
            tidy = without_unused(text, ours=ours, used=self._used(stem))
            if tidy != text:
                tidy = mark + with_endings_of(tidy, result.text)
                self.results[stem] = replace(result, text=tidy)

    # -- what holds in the end ---------------------------------------------------------

    def _holds(self) -> bool:
        """Whether the package imports as it did before, as far as can be seen."""
        if self.choice == "markers":
            return True  # no Python until its owner has taken them out
        if not any(module.is_yours for module in self.modules.values()):
            return True
        changed = self._changed()
        faults = self._faults({s: r.text for s, r in self.results.items()}, changed)
        if not faults:
            return True
        yours = {
            stem: as_text(module.yours)
            for stem, module in self.modules.items()
            if module.yours is not None
        }
        new = {s: as_text(module.file.content) for s, module in self.modules.items()}
        return not faults - self._faults(yours) - self._faults(new)

    def _changed(self) -> set[str] | None:
        """Return the modules in which alone something can have come to be wrong.

        None where it may be anywhere: a module lost a name that others may use, or
        lets one decide something else.
        """
        changed = set[str]()
        for stem, module in self.modules.items():
            text = self.results[stem].text
            yours = None if module.yours is None else as_text(module.yours)
            if text == yours and text == as_text(module.file.content):
                continue
            if yours is None or not still_offers(yours, text):
                return None
            changed.add(stem)
        return changed

    def _faults(
        self, texts: Mapping[str, str], only: Collection[str] | None = None
    ) -> set[str]:
        return import_faults({**self.others, **texts}, only)

    def _references(self, stem: str, deciders: Iterable[str]) -> Sides:
        """Return what `checks.NAME` stands for in the three texts of the table."""
        base: dict[str, str] = {}
        yours: dict[str, str] = {}
        new: dict[str, str] = {}
        for other in deciders:
            renames = self._renames(other)
            before = _names_of(self._body(other, "base"))
            now = _names_of(self._body(other, "yours"))
            generated = {i: n for n, i in self.modules[other].file.units}
            merged = self.results[other].names
            for side, known in (
                (base, (generated, _renamed(now, renames), _renamed(before, renames))),
                (yours, (generated, _renamed(before, renames), _renamed(now, renames))),
                (new, (generated, merged)),
            ):
                for names in known:
                    for spec_id, name in names.items():
                        side[f"{other}.{name}"] = spec_id
        own = [*self.others.items(), (stem, as_text(self.modules[stem].yours or b""))]
        for other, text in own:
            if other in self.modules and other != stem:
                continue
            for spec_id, name in _names_in(text).items():
                yours[f"{other}.{name}"] = yours[name] = spec_id
        for side in (base, yours, new):
            for reference, spec_id in list(side.items()):
                side.setdefault(reference.rpartition(".")[2], spec_id)
        return Sides(base=base, yours=yours, new=new)

    def _renames(self, stem: str) -> Mapping[str, str]:
        """Return the criteria that a module knows by an earlier id, with their new one.

        A rename stays in the overlay; once its base has the new id, a unit of the old
        one is another: a copy that its owner made.
        """
        result = self.results.get(stem)
        if result is not None and result.is_unmerged:
            return {}  # nothing of the new version is there, nor are its ids
        if not self.renames:
            return self.renames
        base = self._body(stem, "base")
        if base is None:
            return self.renames
        known = decided(base)
        renames = {old: new for old, new in self.renames.items() if old in known}
        for new in list(renames.values()):
            if new in known and new not in renames:
                renames[new] = f"{new} (earlier)"  # another had the id, and is gone
        return renames

    def _body(self, stem: str, side: str) -> Body | None:
        """Return the units of a module's base, or of its owner's text."""
        key = f"{stem}.{side}"
        if key not in self._bodies:
            module = self.modules[stem]
            data = module.yours if side == "yours" else module.base
            if side == "base" and not module.is_yours:
                data = module.yours
            self._bodies[key] = None if data is None else body_of(as_text(data))
        return self._bodies[key]

    # -- what others use ---------------------------------------------------------------

    def _keep_what_is_used(self) -> None:
        """Keep names that a file still uses: those that the spec has no more need of,
        and those that their owner deleted by mistake."""
        tables = [s for s, m in self.modules.items() if m.file.adapt is not None]
        rest = [s for s in self.modules if s not in tables and s not in self.deciders]
        for stem in [*tables, *self.deciders, *rest]:
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
            used = self._used(stem)
            keep = gone & (used | _read(result.text, gone))
            restore = deleted & (used | _read(result.text, deleted))
            if keep or restore:
                self._merge(stem, keep=keep, restore=restore)

    def _used(self, stem: str) -> set[str]:
        """Return the names of a module that the package's other files use."""
        used = {"SUITE"} if self.modules[stem].file.adapt is not None else set[str]()
        texts = [r.text for other, r in self.results.items() if other != stem]
        for text in [*texts, *self.others.values()]:
            used.update(re.findall(rf"\b{stem}\.(\w+)", text))
            if stem not in text:
                continue
            for source, names in _IMPORT.findall(text):
                if source.rpartition(".")[2] == stem:
                    used.update(re.findall(r"\w+", re.sub(r"#[^\n]*", "", names)))
        return used


def _renamed(names: Mapping[str, str], renames: Mapping[str, str]) -> Mapping[str, str]:
    """Return which name decides which criterion, by the ids that they have now."""
    return {renames.get(spec_id, spec_id): name for spec_id, name in names.items()}


def _read(text: str, names: Collection[str]) -> set[str]:
    """Return which of some names a module reads and binds nowhere."""
    if not any(name in text for name in names):
        return set()
    try:
        tree = parse(with_lf(text.removeprefix("\ufeff")))
    except SyntaxError:
        return set()
    return needed_names(tree) & set(names)


def _why_missing(module: Module, result: MergeResult, spec_id: str) -> str:
    if result.broken:
        return f"{module.stem}.py can't be read by Python"
    if spec_id in result.deleted or not result.conflicts:
        return ""
    return f"what decides it is in conflict: see .helix/conflicts ({module.stem}.py)"


def _names_of(body: Body | None) -> dict[str, str]:
    return {} if body is None else decided(body)


def _names_in(text: str) -> dict[str, str]:
    """Return which name decides which criterion in a text; cheap where none does."""
    if "check(" not in text and "Judge(" not in text:
        return {}
    return _names_of(body_of(text))


def defined(text: str) -> set[str]:
    """Return the names that stand at the start of a line of Python as definitions."""
    return {one or other for one, other in _DEFINED.findall(with_lf(text))}


def _rows(body: Body | None, references: Mapping[str, str]) -> dict[str, str] | None:
    """Return the criteria that a table registers, each with the reason it is skipped.

    None for no table. Rows stand in every list of the module; a row whose criterion
    can't be seen is left out.
    """
    if body is None or all(unit.name != "CRITERIA" for unit in body.units):
        return None
    found: dict[str, str] = {}
    for unit in body.units:
        for row in calls_in(unit.node):
            criterion = row_criterion(row, references)
            if criterion is not None:
                found[criterion] = _reason(row)
    return found


def _reason(row: ast.expr) -> str:
    """Return the `why` of a row that says `skipped(...)`; empty for any other."""
    for node in ast.walk(row):
        match node:
            case ast.keyword(arg="why", value=ast.Constant(value=str(why))):
                return why
    return ""
