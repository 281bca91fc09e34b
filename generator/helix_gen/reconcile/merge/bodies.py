"""Three-way merge of a body, a module's or a class's, unit by unit.

A unit that one side changed is taken from it. What both changed merges by what it is:
an import by its bindings, an assignment by its value, a function by its parts, a class
or a condition by its own body, all else by lines. What still clashes keeps the user's
unit and is reported.
"""

from collections.abc import Mapping
from dataclasses import replace

from .assignments import merge_assignment
from .blocks import are_conditions, block_parts
from .elements import row_names
from .functions import merge_function
from .how import How
from .imports import merge_import
from .lines import merge_text
from .pairs import matched, old_key
from .placing import placed
from .result import Conflict, with_markers
from .source import Names
from .split import joined
from .units import (
    DEFINITIONS,
    Body,
    Key,
    Unit,
    comments,
    parses,
    renamed,
    same,
    same_text,
)
from .values import Findings, ValueMerge


class BodyMerge:
    """One merge: it collects what is to be said while bodies merge.

    `deleted` names what the user deleted and the generator still makes; `clashes` are
    the units of the module in which both sides changed the same; `moved` maps names of
    the user's to those that their units have now; `opaque` are the criteria whose unit
    its owner wrote so that its id can't be seen, each with the unit's name.
    """

    def __init__(self, how: How, yours: Body) -> None:
        self.how = how
        nodes = [node for unit in yours.units for node in unit.nodes]
        references = how.references.yours
        self.names = Names(
            references=references,
            rows=row_names(nodes, references),
            aliases=yours.aliases,
        )
        self.findings = Findings()
        self.deleted: list[str] = []
        self.clashes: set[Key] = set()
        self.moved: dict[str, str] = {}
        self.opaque: dict[str, str] = {}

    def merge(
        self, base: Body, yours: Body, new: Body, *, inside: str
    ) -> dict[Key, str]:
        """Return the merged source of each unit, in its order.

        `inside` is the name of the class, with a dot behind it.
        """
        old = {old_key(unit, self.how.renames): unit for unit in base.units}
        fresh = {unit.key: unit for unit in new.units}
        found = matched(yours, old, fresh, self.how.renames)
        mine = found.units
        self.opaque |= found.opaque
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
        order = placed(old, mine, fresh, merged, is_module=not inside)
        return {key: merged[key] for key in order}

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
            elif was is None or not same_text(was, now):
                base = "" if was is None else was.source
                self.findings.conflicts.append(
                    Conflict(unit=name, base=base, yours=unit.source, new=now.source)
                )
                self.clashes.add(key)
        return found

    # -- one unit ----------------------------------------------------------------------

    def _unit(
        self, key: Key, old: Unit | None, mine: Unit, fresh: Unit | None, inside: str
    ) -> str | None:
        """Return the merged source of one unit that the user has; None removes it."""
        name = inside + mine.label
        if fresh is None:
            return mine.source if old is None else self._gone(old, mine, name)
        if old is None:
            if same(mine, fresh):
                return mine.source
            return self._merged(key, name, None, mine, fresh, inside)
        if not inside:
            old, mine, fresh = self._one_name(old, mine, fresh)
            name = mine.label
        if fresh.source == old.source:
            return mine.source
        if mine.source == old.source or mine.source == fresh.source:
            return fresh.source
        lead = self.lead(old.lead, mine.lead, fresh.lead)
        if fresh.text == old.text or same_text(old, fresh):
            return lead + mine.text
        if same_text(mine, old) or same_text(mine, fresh):
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
        lead = self.lead("" if old is None else old.lead, mine.lead, fresh.lead)
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
            return self.lead("", mine.lead, fresh.lead) + fresh.text
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
        if same(mine, old):
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
            value = merge_assignment(
                old,
                mine,
                fresh,
                values=ValueMerge(self.findings, new_wins=new_wins),
                name=name,
                names=self.names,
                references=self.how.references,
            )
            if value is not None and parses(value):
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
            if merged is None or not parses(merged[0]):
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
        if kinds == {"class"} or are_conditions(old, mine, fresh):
            return self._block(old, mine, fresh, name)
        lines = merge_text(old.text, mine.text, fresh.text)
        if lines.conflicts or not parses(lines.text):
            return None
        return lines.text

    def _block(self, old: Unit, mine: Unit, fresh: Unit, name: str) -> str | None:
        parts = [block_parts(unit) for unit in (old, mine, fresh)]
        heads = [part[0] for part in parts if part is not None]
        bodies = [part[1] for part in parts if part is not None]
        if len(bodies) < 3:
            return None
        head = merge_text(heads[0], heads[1], heads[2])
        if head.conflicts:
            return None
        before = len(self.findings.conflicts), len(self.findings.retired)
        deleted = len(self.deleted)
        pieces = self.merge(bodies[0], bodies[1], bodies[2], inside=f"{name}.")
        tail = self.lead(bodies[0].tail, bodies[1].tail, bodies[2].tail)
        text = head.text + joined(pieces.values(), tail)
        if parses(text):
            return text
        del self.findings.conflicts[before[0] :]
        del self.findings.retired[before[1] :]
        del self.deleted[deleted:]
        return None

    def lead(self, old: str, mine: str, fresh: str) -> str:
        """Merge what stands above a unit; the user's comments always stay."""
        if mine == old:
            return fresh
        if fresh == old or mine == fresh:
            return mine
        merged = merge_text(old, mine, fresh)
        return mine if merged.conflicts else merged.text
