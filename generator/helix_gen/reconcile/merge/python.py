"""Three-way merge of Python, unit by unit.

Scope: a module's statements, a class's members, and of a function its decorators,
signature, docstring and body apart; of an assignment its value, element by element.
One side changed: it is taken. Both changed: the parts merge each for itself, a body
line by line. What still clashes keeps the user's unit and is reported. The user's
order wins; a new unit goes after its neighbour.

Accepted trade-offs: source is cut at whole lines, so statements that share a line are
one unit. The text is spliced, never printed anew: what nobody touched stays byte for
byte. Where the result would be no Python, the whole file is merged by lines, and where
that is none either it stays the user's and is one conflict.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .functions import header_end, merge_function
from .imports import (
    import_lines,
    imported,
    merge_import,
    needed_names,
    with_binding,
)
from .lines import merge_text, with_endings_of
from .order import is_reordered, weave
from .result import (
    WHOLE_FILE,
    Choice,
    Conflict,
    MergeResult,
    with_markers,
    without_markers,
)
from .scopes import with_new_names
from .split import split_lines, with_lf
from .units import (
    DEFINITIONS,
    Body,
    Key,
    Unit,
    comments,
    compiles,
    first_line,
    parse,
    renamed,
    same_code,
    split_body,
    split_module,
    split_tree,
)
from .values import Findings, Names, References, Source, Value, ValueMerge, row_names

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What references like `checks.is_brief` stand for in each of the three texts."""

    base: References = field(default_factory=dict)
    yours: References = field(default_factory=dict)
    new: References = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a merge is to go.

    `renames` maps a criterion's earlier id to its id now; `keep` are names that other
    files of the suite still use, so that they must not vanish; `restore` are names
    that their owner deleted and that something still uses; `references` serve the rows
    of criteria; `choice` is what stands where both sides changed one thing.
    """

    renames: Mapping[str, str] = field(default_factory=dict)
    keep: Collection[str] = ()
    restore: Collection[str] = ()
    references: Sides = field(default_factory=Sides)
    choice: Choice = "yours"


def merge_python(
    base: str, yours: str, new: str, how: How | None = None
) -> MergeResult:
    """Merge three versions of a Python file.

    Line endings and a byte order mark are yours. Raises SyntaxError where `yours`
    does not parse: such a file is the user's to mend first.
    """
    how = how or How()
    texts = [with_lf(text.removeprefix(_BOM)) for text in (base, yours, new)]
    mine = split_module(texts[1])
    result = _merged(texts, mine, how)
    if texts[0] == texts[2] and not how.restore:
        # Nothing is new: not a byte changes, whatever could be said about it.
        result = replace(result, text=texts[1], conflicts=(), base=texts[2])
    if result.text == texts[1]:
        return replace(result, text=yours)
    mark = _BOM if yours.startswith(_BOM) else ""
    return replace(result, text=mark + with_endings_of(result.text, yours))


def _merged(texts: Sequence[str], mine: Body, how: How) -> MergeResult:
    if texts[0] == texts[1] and not how.keep:
        return MergeResult(text=texts[2], base=texts[2], names=_names(texts[2]))
    try:
        bodies = [split_module(texts[0]), mine, split_module(texts[2])]
    except SyntaxError:
        # What is generated always parses; a base was maybe damaged.
        return _by_lines(texts, how)
    try:
        result = _Merge(how, bodies).module()
    except RecursionError:
        result = None
    return _by_lines(texts, how) if result is None else result


def _by_lines(texts: Sequence[str], how: How) -> MergeResult:
    """Merge a file that can't be merged by units; else it is one conflict."""
    base, yours, new = texts
    merged = merge_text(base, yours, new)
    # Lines know no criterion: where they clash, what they come to may decide another.
    if not merged.conflicts and _is_python(merged.text, (yours, new)):
        again = merge_text(merged.base, merged.text, new)
        if again.text == merged.text:
            return replace(merged, names=_names(merged.text))
    conflict = Conflict(unit=WHOLE_FILE, base=base, yours=yours, new=new)
    text = new if how.choice == "new" else yours
    if how.choice == "markers":
        text = with_markers(base, yours, new)
    return MergeResult(text=text, base=base, conflicts=(conflict,), names=_names(text))


def _names(text: str) -> dict[str, str]:
    try:
        return decided(split_module(text))
    except SyntaxError:
        return {}


def decided(body: Body) -> dict[str, str]:
    """Return which name decides which criterion in a module."""
    units = {
        unit.criterion: unit.name
        for unit in reversed(body.units)
        if unit.criterion is not None
    }
    return {**{i: name for i, (name, _) in body.nested.items()}, **units}


def _is_python(text: str, sides: Iterable[str]) -> bool:
    try:
        tree = parse(text)
        body = split_tree(tree, text)
        known = [split_module(side) for side in sides]
    except SyntaxError:
        return False
    return _is_sound(tree, body, known)


def _is_sound(tree: ast.Module, body: Body, sides: Iterable[Body]) -> bool:
    """Whether a merged module compiles and defines nothing twice that no side does."""
    if not compiles(tree):
        return False
    twice = _twice(body)
    return not twice or twice <= {name for side in sides for name in _twice(side)}


def _twice(body: Body) -> set[str]:
    """Return the names and criteria that a module defines more than once."""
    keys = {unit.key: unit for unit in body.units if unit.kind in DEFINITIONS}
    names = Counter(unit.name for unit in keys.values() if unit.number == 0)
    found = {name for name, count in names.items() if count > 1 and name}
    return found | {str(key) for key in keys if key[2] > 0}


class _Merge:
    """One merge: it collects what is to be said while bodies merge."""

    def __init__(self, how: How, bodies: Sequence[Body]) -> None:
        self.how = how
        self.base, self.yours, self.new = bodies
        nodes = [node for unit in self.yours.units for node in unit.nodes]
        references = how.references.yours
        self.names = Names(
            references=references,
            rows=row_names(nodes, references),
            aliases=self.yours.aliases,
        )
        self.findings = Findings()
        self.deleted: list[str] = []
        self.clashes: set[Key] = set()
        self.moved: dict[str, str] = {}
        self.opaque: dict[str, str] = {}

    # -- the module --------------------------------------------------------------------

    def module(self) -> MergeResult | None:
        """Return the merged module, None where it would be no sound Python."""
        pieces = self._bodies(self.base, self.yours, self.new, inside="")
        tail = self._lead(self.base.tail, self.yours.tail, self.new.tail)
        text = _joined(pieces.values(), tail)
        is_marked = self.how.choice == "markers" and bool(self.findings.conflicts)
        if is_marked:
            names, unseen = _names(without_markers(text)), dict[str, str]()
        else:
            try:
                tree = parse(text)
                needed = self._needed(tree, text)
                if needed:
                    text = self._with_imports(pieces, tail, needed)
                    tree = parse(text)
                if self.moved:
                    followed = self._followed(text, tree)
                    if followed is None:
                        return None
                    text, tree = followed
            except SyntaxError:
                return None
            body = split_tree(tree, text)
            if not _is_sound(tree, body, (self.yours, self.new)):
                return None
            seen = decided(body)
            unseen = self._still_bound(body)
            names = {**unseen, **seen}
            for spec_id in seen:
                unseen.pop(spec_id, None)
        return MergeResult(
            text=text,
            base=self._next_base(),
            conflicts=tuple(
                # In the order of the text, whatever order they were met in.
                sorted(
                    self.findings.conflicts,
                    key=lambda c: (text.find(c.yours.strip("\n")), c.unit),
                )
            ),
            retired=tuple(self.findings.retired),
            deleted=tuple(self.deleted),
            dropped=tuple(self.findings.dropped),
            names=names,
            unseen=unseen,
        )

    def _still_bound(self, body: Body) -> dict[str, str]:
        """Return the criteria whose unit its owner wrote so that its id can't be seen.

        `is_brief = make_check("is-brief")` stands where the check stood.
        """
        bound = {unit.name for unit in body.units if unit.kind in DEFINITIONS}
        names = {c: self.moved.get(name, name) for c, name in self.opaque.items()}
        return {c: name for c, name in names.items() if name in bound}

    def _next_base(self) -> str:
        if not self.clashes:
            return _joined([u.source for u in self.new.units], self.new.tail)
        old = {self._old_key(unit): unit for unit in self.base.units}
        pieces = []
        for unit in self.new.units:
            if unit.key not in self.clashes:
                pieces.append(unit.source)
            elif unit.key in old:
                pieces.append(old[unit.key].source)
        return _joined(pieces, self.new.tail)

    # -- bodies ------------------------------------------------------------------------

    def _bodies(
        self, base: Body, yours: Body, new: Body, *, inside: str
    ) -> dict[Key, str]:
        """Return the merged source of each unit, in its order.

        `inside` is the name of the class, with a dot behind it.
        """
        old = {self._old_key(unit): unit for unit in base.units}
        fresh = {unit.key: unit for unit in new.units}
        mine = self._matched(yours, old, fresh)
        merged: dict[Key, str] = {}
        for key, unit in mine.items():
            source = self._unit(key, old.get(key), unit, fresh.get(key), inside)
            if source is not None:
                merged[key] = source
        nested = set[str]()
        if not inside and yours.nested:
            nested = self._nested(yours, old, mine, fresh)
        for key, unit in fresh.items():
            if key in mine:
                continue
            if key[0] == "criterion" and key[1] in nested:
                if key in self.clashes and self.how.choice == "new":
                    merged[key] = unit.source
                elif key in self.clashes and self.how.choice == "markers":
                    was = old[key].source if key in old else ""
                    merged[key] = with_markers(was, "", unit.source)
            elif key not in old or unit.name in self.how.restore and not inside:
                merged[key] = unit.source
            elif unit.kind in DEFINITIONS:
                self.deleted.append(inside + (unit.criterion or unit.label))
        order, other = list(mine), list(fresh)
        if self._takes_order(old, mine, fresh):
            order, other = other, order
        woven = weave(order, other, merged)
        if not inside:
            woven = _future_first(_below_imports(woven, mine))
        return {key: merged[key] for key in woven}

    def _nested(
        self,
        yours: Body,
        old: Mapping[Key, Unit],
        mine: Mapping[Key, Unit],
        fresh: Mapping[Key, Unit],
    ) -> set[str]:
        """Return the criteria that its owner's code decides inside another statement.

        They stay as they are. Where the generator has something new for one, it
        clashes; where it is generated no more, that is said.
        """
        found = set()
        for spec_id, (name, unit) in yours.nested.items():
            key = ("criterion", self.how.renames.get(spec_id, spec_id), 0)
            if key in mine:
                continue
            found.add(key[1])
            was, now = old.get(key), fresh.get(key)
            if now is None:
                if was is not None:
                    self.findings.retired.append(name)
            elif was is None or not _same_text(was, now):
                base = "" if was is None else was.source
                self.findings.conflicts.append(
                    Conflict(unit=name, base=base, yours=unit.source, new=now.source)
                )
                self.clashes.add(key)
        return found

    @staticmethod
    def _takes_order(
        old: Mapping[Key, Unit], mine: Mapping[Key, Unit], fresh: Mapping[Key, Unit]
    ) -> bool:
        """Whether the new order is taken: only it changed, and nothing depends on it.

        What its owner added may have to stand above what uses it.
        """
        own = any(k not in old and k not in fresh and k[0] != "import" for k in mine)
        if own or is_reordered(list(old), list(mine)):
            return False
        return is_reordered(list(old), list(fresh))

    def _old_key(self, unit: Unit) -> Key:
        """The unit's key, a renamed criterion's under its new id."""
        kind, name, number = unit.key
        if kind == "criterion":
            name = self.how.renames.get(name, name)
        return (kind, name, number)

    def _matched(
        self, yours: Body, old: Mapping[Key, Unit], fresh: Mapping[Key, Unit]
    ) -> dict[Key, Unit]:
        """Return the user's units under the keys of those that they come from.

        By what they are first; what its owner rewrote beyond that, by its name; of
        several of one name, those that are alike first.
        """
        found: dict[Key, Unit] = {}
        others: list[Unit] = []
        for unit in yours.units:
            key = self._old_key(unit)
            if unit.criterion is None or key in old or key in fresh:
                found[key] = unit
            else:
                others.append(unit)
        by_name: dict[str, Key] = {}
        for side in (fresh, old):
            for key, unit in side.items():
                if unit.name and key[2] == 0:
                    by_name[unit.name] = key
        strangers = [k for k, u in found.items() if k not in old and k not in fresh]
        for unit in [*others, *(found[key] for key in strangers)]:
            known = by_name.get(unit.name) if unit.name else None
            key = unit.key if known is None or known in found else known
            found[key] = unit
            if key[0] == "criterion" and key in old and _may_decide(unit):
                self.opaque[key[1]] = unit.name
        self._align(found, old)
        place = {id(unit): index for index, unit in enumerate(yours.units)}
        seen: set[int] = set()
        ordered: dict[Key, Unit] = {}
        for key in sorted(
            found, key=lambda k: (place[id(found[k])], k not in old, k not in fresh)
        ):
            unit = found[key]
            if id(unit) not in seen:
                seen.add(id(unit))
                ordered[key] = unit
        return ordered

    @staticmethod
    def _align(found: dict[Key, Unit], old: Mapping[Key, Unit]) -> None:
        """Number several units of one ident so that those that are alike meet."""
        groups: dict[tuple[str, str], list[Key]] = {}
        for key in found:
            groups.setdefault(key[:2], []).append(key)
        for name, keys in groups.items():
            if len(keys) < 2:
                continue
            keys.sort(key=lambda key: key[2])
            units = [found[key] for key in keys]
            before = {k: u for k, u in old.items() if k[:2] == name}
            taken: dict[Key, Unit] = {}
            for unit in units:
                for key, other in before.items():
                    if key not in taken and other.text == unit.text:
                        taken[key] = unit
                        break
            rest = [u for u in units if all(u is not t for t in taken.values())]
            free = [key for key in keys if key not in taken]
            number = max([key[2] for key in (*keys, *before)], default=0)
            for unit in rest:
                if free:
                    key = free.pop(0)
                else:
                    number += 1
                    key = (*name, number)
                taken[key] = unit
            for key in keys:
                del found[key]
            found.update(taken)

    # -- one unit ----------------------------------------------------------------------

    def _unit(
        self, key: Key, old: Unit | None, mine: Unit, fresh: Unit | None, inside: str
    ) -> str | None:
        """Return the merged source of one unit that the user has; None removes it."""
        name = inside + mine.label
        if fresh is None:
            return mine.source if old is None else self._gone(old, mine, name)
        if old is None:
            if _same(mine, fresh):
                return mine.source
            return self._merged(key, name, None, mine, fresh, inside)
        if not inside:
            old, mine, fresh = self._one_name(old, mine, fresh)
            name = mine.label
        if fresh.source == old.source:
            return mine.source
        if mine.source == old.source or mine.source == fresh.source:
            return fresh.source
        lead = self._lead(old.lead, mine.lead, fresh.lead)
        if fresh.text == old.text or _same_text(old, fresh):
            return lead + mine.text
        if _same_text(mine, old) or _same_text(mine, fresh):
            return lead + fresh.text
        return self._merged(key, name, old, mine, fresh, inside)

    def _merged(
        self,
        key: Key,
        name: str,
        old: Unit | None,
        mine: Unit,
        fresh: Unit,
        inside: str,
    ) -> str:
        """Return the merged source of a unit that both sides changed or added."""
        lead = self._lead("" if old is None else old.lead, mine.lead, fresh.lead)
        before = len(self.findings.conflicts)
        text = self._changed(old, mine, fresh, name)
        if text is None:
            return self._settled(key, name, old, mine, fresh, lead + mine.text, inside)
        if not text:  # an import of which no binding is left
            return lead if comments(lead) else ""
        if len(self.findings.conflicts) == before:
            return lead + text
        if self.how.choice == "markers":
            del self.findings.conflicts[before:]
            return self._settled(key, name, old, mine, fresh, lead + mine.text, inside)
        self._clashed(key, inside)
        for place in range(before, len(self.findings.conflicts)):
            conflict = self.findings.conflicts[place]
            if conflict.unit == name and mine.kind == "function":
                # Shown as it stands now, so that a second run shows the same.
                shown = replace(conflict, yours=lead + text)
                self.findings.conflicts[place] = shown
        return lead + text

    def _clashed(self, key: Key, inside: str) -> None:
        if not inside:
            self.clashes.add(key)

    def _settled(
        self,
        key: Key,
        name: str,
        old: Unit | None,
        mine: Unit,
        fresh: Unit,
        text: str,
        inside: str,
    ) -> str:
        """Report a conflict and return what stands in the text for now."""
        base = "" if old is None else old.source
        self.findings.conflicts.append(
            Conflict(unit=name, base=base, yours=text, new=fresh.source)
        )
        self._clashed(key, inside)
        if self.how.choice == "new":
            return self._lead("", mine.lead, fresh.lead) + fresh.text
        if self.how.choice == "markers":
            was = "" if old is None else old.text
            return mine.lead + with_markers(was, mine.text, fresh.text)
        return text

    def _gone(self, old: Unit, mine: Unit, name: str) -> str | None:
        """Return what stays of a unit that the generator no longer makes."""
        if mine.kind == "import" and old.kind == "import":
            text = merge_import(old, mine, None)
            if not text and comments(mine.lead) != comments(old.lead):
                return mine.lead
            return mine.lead + text if text else None
        if _same(mine, old):
            return mine.source if mine.name in self.how.keep else None
        if mine.kind in DEFINITIONS:
            self.findings.retired.append(name)
        return mine.source

    def _one_name(self, old: Unit, mine: Unit, fresh: Unit) -> tuple[Unit, Unit, Unit]:
        """Give the three versions of a unit one name: the user's, else the new one.

        What others still use keeps its name.
        """
        stays = mine.name != old.name or mine.name in self.how.keep
        name = mine.name if stays else fresh.name
        if not name or old.name == mine.name == fresh.name:
            return old, mine, fresh
        if mine.name != name:
            self.moved[mine.name] = name
        return renamed(old, name), renamed(mine, name), renamed(fresh, name)

    def _changed(
        self, old: Unit | None, mine: Unit, fresh: Unit, name: str
    ) -> str | None:
        """Return the merged text of a unit that both sides changed, or None.

        What clashes inside it is the user's in the text, and reported.
        """
        kinds = {unit.kind for unit in (old, mine, fresh) if unit is not None}
        if kinds == {"import"}:
            return merge_import(old, mine, fresh)
        new_wins = self.how.choice == "new"
        before = len(self.findings.conflicts)
        if kinds == {"assignment"}:
            said = len(self.findings.retired), len(self.findings.dropped)
            value = self._assignment(old, mine, fresh, name, new_wins=new_wins)
            if value is not None and _parses(value):
                return value
            del self.findings.conflicts[before:]
            del self.findings.retired[said[0] :]
            del self.findings.dropped[said[1] :]
        if old is None:
            return None
        if kinds == {"function"}:
            values = ValueMerge(self.findings, new_wins=new_wins)
            merged = merge_function(
                old, mine, fresh, values=values, name=name, names=self.names
            )
            if merged is None or not _parses(merged[0]):
                return None
            text, clashed = merged
            if clashed:
                self.findings.conflicts.append(
                    Conflict(
                        unit=name, base=old.source, yours=mine.source, new=fresh.source
                    )
                )
                return fresh.text if new_wins else text
            return text
        if kinds == {"class"} or _are_blocks(old, mine, fresh):
            return self._block(old, mine, fresh, name)
        lines = merge_text(old.text, mine.text, fresh.text)
        if lines.conflicts or not _parses(lines.text):
            return None
        return lines.text

    def _assignment(
        self, old: Unit | None, mine: Unit, fresh: Unit, name: str, *, new_wins: bool
    ) -> str | None:
        """Merge the values of an assignment; None where more than those changed."""
        references = self.how.references
        now = _value(mine, self.names)
        then = _value(fresh, Names(references=references.new))
        known = Names(references=references.base)
        was = None if old is None else _value(old, known)
        if now is None or then is None or (old is not None and was is None):
            return None
        sides = [side for side in (was, now, then) if side is not None]
        if len({_head(side) for side in sides}) > 1:
            return None
        values = ValueMerge(self.findings, new_wins=new_wins)
        text = values.merge(was, now, then, name)
        last = len(now.source.lines) - 1
        end = (last, len(now.source.lines[last]))
        head = now.source.between((0, 0), now.source.start(now.node))
        return head + text + now.source.between(now.end, end)

    def _block(self, old: Unit, mine: Unit, fresh: Unit, name: str) -> str | None:
        parts = [_block_parts(unit) for unit in (old, mine, fresh)]
        heads = [part[0] for part in parts if part is not None]
        bodies = [part[1] for part in parts if part is not None]
        if len(bodies) < 3:
            return None
        head = merge_text(heads[0], heads[1], heads[2])
        if head.conflicts:
            return None
        before = len(self.findings.conflicts), len(self.findings.retired)
        deleted = len(self.deleted)
        pieces = self._bodies(bodies[0], bodies[1], bodies[2], inside=f"{name}.")
        tail = self._lead(bodies[0].tail, bodies[1].tail, bodies[2].tail)
        text = head.text + _joined(pieces.values(), tail)
        if _parses(text):
            return text
        del self.findings.conflicts[before[0] :]
        del self.findings.retired[before[1] :]
        del self.deleted[deleted:]
        return None

    def _lead(self, old: str, mine: str, fresh: str) -> str:
        """Merge what stands above a unit; the user's comments always stay."""
        if mine == old:
            return fresh
        if fresh == old or mine == fresh:
            return mine
        merged = merge_text(old, mine, fresh)
        return mine if merged.conflicts else merged.text

    # -- names -------------------------------------------------------------------------

    def _needed(self, tree: ast.Module, text: str) -> set[str]:
        """Return the names that the merged code needs and that an import once bound."""
        known = imported((self.yours, self.new))
        body = split_tree(tree, text)
        candidates = set(known) - set(imported((body,)))
        if not candidates or candidates.isdisjoint(re.findall(r"\w+", text)):
            return set()
        return candidates & needed_names(tree)

    def _with_imports(
        self, pieces: dict[Key, str], tail: str, needed: Collection[str]
    ) -> str:
        """Return the module with the imports that its code needs.

        They come into the statement that imports from the same module, or stand where
        the statement stood that bound them.
        """
        known = imported((self.yours, self.new))
        pieces = dict(pieces)
        extra: dict[Key, tuple[Unit, list[ast.alias]]] = {}
        for name in sorted(needed):
            unit, node, alias = known[name]
            lines = pieces.get(unit.key, "")
            lead = unit.lead if lines.startswith(unit.lead) else ""
            text = lines[len(lead) :]
            is_from = isinstance(node, ast.ImportFrom) and _is_import(text)
            if is_from and "#" not in text and "*" not in text:
                pieces[unit.key] = lead + with_binding(unit, text, alias)
            else:
                extra.setdefault(unit.key, (unit, []))[1].append(alias)
        order = list(pieces)
        for key, (unit, aliases) in extra.items():
            at = self._place_of_import(key, order)
            added = ("import", f"needed {key[1]}", key[2])
            is_below_text = at > 0 and order[at - 1][0] == "docstring"
            pieces[added] = "\n" * is_below_text + import_lines(unit.node, aliases)
            order.insert(at, added)
        return _joined([pieces[key] for key in order], tail)

    def _place_of_import(self, key: Key, order: Sequence[Key]) -> int:
        """Return where an import goes: below what stands above it in a version."""
        for body in (self.yours, self.new):
            keys = [unit.key for unit in body.units]
            above = keys[: keys.index(key) + 1] if key in keys else []
            for other in reversed(above):
                if other[0] in ("import", "docstring") and other in order:
                    return order.index(other) + 1
        heads = [other for other in order if other[0] == "docstring"]
        return order.index(heads[0]) + 1 if heads else 0

    def _followed(self, text: str, tree: ast.Module) -> tuple[str, ast.Module] | None:
        """Let what the user wrote call renamed units by their new names.

        None where a new name means something else in a function of the user's.
        """
        bound = {u.name for u in split_tree(tree, text).units if u.name}
        moved = {a: b for a, b in self.moved.items() if a not in bound and b in bound}
        followed = with_new_names(text, tree, moved)
        if followed is None or followed == text:
            return None if followed is None else (text, tree)
        return followed, parse(followed)


def _may_decide(unit: Unit) -> bool:
    """Whether a unit may be a check or a judge, though its criterion can't be seen."""
    match unit.node:
        case ast.FunctionDef(decorator_list=[_, *_]):
            return unit.criterion is None
        case ast.AsyncFunctionDef(decorator_list=[_, *_]):
            return unit.criterion is None
        case ast.Assign(value=ast.Call() | ast.Name() | ast.Attribute()):
            return unit.criterion is None
        case ast.AnnAssign(value=ast.Call() | ast.Name() | ast.Attribute()):
            return unit.criterion is None
    return False


def _is_import(text: str) -> bool:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    return len(body) == 1 and isinstance(body[0], ast.ImportFrom)


def _value(unit: Unit, names: Names) -> Value | None:
    """Return the value of an assignment where it stands."""
    node = getattr(unit.node, "value", None)
    if not isinstance(node, ast.expr):
        return None
    return Value(node, Source(unit.text, first_line(unit.node), names))


def _head(value: Value) -> str:
    """Return what stands before a value, however it is spaced and bracketed."""
    text = value.source.between((0, 0), value.source.start(value.node))
    return " ".join(text.replace("(", " ").split())


def _future_first(order: list[Key]) -> list[Key]:
    """Let `from __future__` stand where Python wants it: above all other imports."""
    future = [key for key in order if key[:2] == ("import", "from __future__")]
    if not future:
        return order
    rest = [key for key in order if key not in future]
    head = [key for key in rest if key[0] == "docstring"]
    first = order.index(future[0])
    if order[:first] == head:
        return order
    return [*head, *future, *(key for key in rest if key not in head)]


def _below_imports(order: list[Key], mine: Mapping[Key, Unit]) -> list[Key]:
    """Let what is new stand below the imports at the top, which it may need.

    Its owner may have sorted those in another way, or put one under a condition.
    """
    head: list[Key] = []
    new: list[Key] = []
    for key in order:
        unit = mine.get(key)
        if key[0] in ("docstring", "import") or unit is not None and _imports(unit):
            head.append(key)
        elif unit is None:
            new.append(key)
        else:
            break
    return [*head, *new, *order[len(head) + len(new) :]]


def _imports(unit: Unit) -> bool:
    """Whether a unit is a condition or a `try` over imports."""
    if unit.kind != "statement":
        return False
    nodes = [node for each in unit.nodes for node in ast.walk(each)]
    return any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes)


def _are_blocks(*units: Unit) -> bool:
    """Whether units are the same condition over a body, with nothing else to it."""
    return all(isinstance(u.node, ast.If) and not u.node.orelse for u in units)


def _block_parts(unit: Unit) -> tuple[str, Body] | None:
    node = unit.node
    if len(unit.nodes) > 1:
        return None
    assert isinstance(node, (ast.ClassDef, ast.If))
    lines = split_lines(unit.text)
    offset = first_line(node)
    body_at = header_end(lines, node.lineno - offset)
    if body_at is None or first_line(node.body[0]) - offset < body_at:
        return None
    # The members' own lines, counted from the first of the unit.
    import copy

    shifted = [ast.increment_lineno(copy.deepcopy(s), 1 - offset) for s in node.body]
    body = split_body(shifted, lines, body_at, len(lines))
    return "".join(lines[:body_at]), body


def _same(one: Unit, other: Unit) -> bool:
    """Whether two units differ in their format at most; comments count."""
    return _same_text(one, other) and comments(one.lead) == comments(other.lead)


def _same_text(one: Unit, other: Unit) -> bool:
    if one.text == other.text:
        return True
    return same_code(one, other) and comments(one.text) == comments(other.text)


def _parses(text: str) -> bool:
    import textwrap

    try:
        parse(textwrap.dedent(text))
    except SyntaxError:
        return False
    return True


def _joined(pieces: Iterable[str], tail: str) -> str:
    """Join pieces, each but the last with a line ending of its own."""
    closed = [piece for piece in pieces if piece]
    if tail:
        closed.append(tail)
    for place, piece in enumerate(closed[:-1]):
        if not piece.endswith("\n"):
            closed[place] = piece + "\n"
    return "".join(closed)
