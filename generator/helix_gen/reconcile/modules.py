"""The modules of a package: what each says in its base, its owner's text, its result."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..emit.plan import Rendered
from .importable import body_of, import_faults, still_offers
from .merge.how import Sides
from .merge.result import MergeResult
from .merge.sound import decided
from .merge.units import Body
from .named import names_in, names_of
from .unite import as_text

_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(\S+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)", re.M
)


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


class Modules:
    """The merged modules by their names, the package's other files, and the results.

    `deciders` are the modules that hold checks or judges, or held some before.
    """

    def __init__(self, modules: Sequence[Module], others: Mapping[str, bytes]) -> None:
        self.by_stem = {module.stem: module for module in modules}
        self.others = {
            path.rpartition("/")[2].removesuffix(".py"): as_text(data)
            for path, data in others.items()
        }
        self.renames = {
            old: new for module in modules for new, old in module.file.renamed
        }
        self.results: dict[str, MergeResult] = {}
        self._bodies: dict[str, Body | None] = {}
        self.deciders = [stem for stem in self.by_stem if self._is_decider(stem)]

    def _is_decider(self, stem: str) -> bool:
        """Whether a module holds checks or judges, or held some before."""
        module = self.by_stem[stem]
        if module.file.units:
            return True
        before = as_text(module.base or b"")
        return module.file.adapt is None and bool(names_in(before))

    def body(self, stem: str, side: str) -> Body | None:
        """Return the units of a module's base, or of its owner's text."""
        key = f"{stem}.{side}"
        if key not in self._bodies:
            module = self.by_stem[stem]
            data = module.yours if side == "yours" else module.base
            if side == "base" and not module.is_yours:
                data = module.yours
            self._bodies[key] = None if data is None else body_of(as_text(data))
        return self._bodies[key]

    def used(self, stem: str) -> set[str]:
        """Return the names of a module that the package's other files use."""
        used = {"SUITE"} if self.by_stem[stem].file.adapt is not None else set[str]()
        texts = [r.text for other, r in self.results.items() if other != stem]
        for text in [*texts, *self.others.values()]:
            used.update(re.findall(rf"\b{stem}\.(\w+)", text))
            if stem not in text:
                continue
            for source, names in _IMPORT.findall(text):
                if source.rpartition(".")[2] == stem:
                    used.update(re.findall(r"\w+", re.sub(r"#[^\n]*", "", names)))
        return used

    def is_said(self, stem: str, spec_id: str) -> bool:
        """Whether a criterion's id stands as a text in a module or in its owner's own.

        What its owner wrote in a way of their own may decide it; where its id is
        nowhere, it can't.
        """
        pattern = re.compile(rf"(['\"]){re.escape(spec_id)}\1")
        texts = [self.results[stem].text, *self.others.values()]
        return any(pattern.search(text) for text in texts)

    def renames_of(self, stem: str) -> Mapping[str, str]:
        """Return the criteria that a module knows by an earlier id, with their new one.

        A rename stays in the overlay; once its base has the new id, a unit of the old
        one is another: a copy that its owner made.
        """
        result = self.results.get(stem)
        if result is not None and result.is_unmerged:
            return {}  # nothing of the new version is there, nor are its ids
        if not self.renames:
            return self.renames
        base = self.body(stem, "base")
        if base is None:
            return self.renames
        known = decided(base)
        renames = {old: new for old, new in self.renames.items() if old in known}
        yours = self.body(stem, "yours")
        mine = set[str]() if yours is None else set(decided(yours))
        for old, new in list(renames.items()):
            is_taken = new in known or {old, new} <= mine
            if is_taken and new not in renames:
                renames[new] = f"{new} (earlier)"  # another had the id, and is gone
        return renames

    def references(self, stem: str, deciders: Iterable[str]) -> Sides:
        """Return what `checks.NAME` stands for in the three texts of the table."""
        base: dict[str, str] = {}
        yours: dict[str, str] = {}
        new: dict[str, str] = {}
        for other in deciders:
            renames = self.renames_of(other)
            before = names_of(self.body(other, "base"))
            now = names_of(self.body(other, "yours"))
            generated = {i: n for n, i in self.by_stem[other].file.units}
            merged = self.results[other].names
            for side, known in (
                (base, (generated, _renamed(now, renames), _renamed(before, renames))),
                (yours, (generated, _renamed(before, renames), _renamed(now, renames))),
                (new, (generated, merged)),
            ):
                for names in known:
                    for spec_id, name in names.items():
                        side[f"{other}.{name}"] = spec_id
        own = [*self.others.items(), (stem, as_text(self.by_stem[stem].yours or b""))]
        for other, text in own:
            if other in self.by_stem and other != stem:
                continue
            for spec_id, name in names_in(text).items():
                yours[f"{other}.{name}"] = yours[name] = spec_id
        for side in (base, yours, new):
            for reference, spec_id in list(side.items()):
                side.setdefault(reference.rpartition(".")[2], spec_id)
        return Sides(base=base, yours=yours, new=new)

    def import_as_before(self) -> bool:
        """Whether the package imports as it did before, as far as can be seen."""
        if not any(module.is_yours for module in self.by_stem.values()):
            return True
        changed = self._changed()
        faults = self._faults({s: r.text for s, r in self.results.items()}, changed)
        if not faults:
            return True
        yours = {
            stem: as_text(module.yours)
            for stem, module in self.by_stem.items()
            if module.yours is not None
        }
        new = {s: as_text(module.file.content) for s, module in self.by_stem.items()}
        return not faults - self._faults(yours) - self._faults(new)

    def _changed(self) -> set[str] | None:
        """Return the modules in which alone something can have come to be wrong.

        None where it may be anywhere: a module lost a name that others may use, or
        lets one decide something else.
        """
        changed = set[str]()
        for stem, module in self.by_stem.items():
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


def _renamed(names: Mapping[str, str], renames: Mapping[str, str]) -> Mapping[str, str]:
    """Return which name decides which criterion, by the ids that they have now."""
    return {renames.get(spec_id, spec_id): name for spec_id, name in names.items()}
