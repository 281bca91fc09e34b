"""Three-way merge of values: lists, calls and mappings, element by element.

A table of criteria is one long list: a severity that its owner set and a criterion
that the spec added must not clash because they stand on neighbouring lines. Elements
are known by what they are: a keyword by its name, a criterion by its id, a text by
itself. Where each element has lines of its own, whole lines are spliced; else the
value is put together anew from the elements' own source.

Accepted trade-offs: tuples and unpackings are one value; where a comment stands in a
value whose elements share lines, the value is not taken apart.
"""

import ast
from dataclasses import dataclass, field

from .elements import CRITERION, Element, ElementKey, elements_of, is_skipped_row
from .layout import rows_in, written
from .order import is_reordered, weave
from .result import Conflict
from .source import Value
from .units import comments


@dataclass(slots=True)
class Findings:
    """What a merge of values has to say."""

    conflicts: list[Conflict] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


class ValueMerge:
    """One merge of values. With `new_wins`, the new side stands where both changed."""

    def __init__(self, findings: Findings, *, new_wins: bool) -> None:
        self.findings = findings
        self.new_wins = new_wins

    def merge(self, old: Value | None, mine: Value, fresh: Value, name: str) -> str:
        """Return the text that takes the place of `mine`; `name` is for the user.

        `old` is None where both sides added it, or where it is lost.
        """
        if _same(mine, fresh) or old is not None and _same(old, fresh):
            return mine.text
        if old is not None and _same(mine, old):
            if comments(mine.text) == comments(old.text):
                return fresh.standing
        merged = self._elements(old, mine, fresh, name)
        if merged is not None:
            return merged
        was = "" if old is None else old.text
        return self._clash(name, was, mine.text, fresh.standing)

    def _clash(self, name: str, old: str, mine: str, fresh: str) -> str:
        self.findings.conflicts.append(
            Conflict(unit=name, base=old, yours=mine, new=fresh)
        )
        return fresh if self.new_wins else mine

    def _elements(
        self, old: Value | None, mine: Value, fresh: Value, name: str
    ) -> str | None:
        sides = [value for value in (old, mine, fresh) if value is not None]
        if len({_shape(value) for value in sides}) > 1:
            return None
        before = {} if old is None else elements_of(old)
        yours, new = elements_of(mine), elements_of(fresh)
        if before is None or yours is None or new is None:
            return None
        rows = rows_in(mine, list(yours.values()))
        if rows is None and comments(mine.text):
            return None
        texts: dict[ElementKey, str] = {}
        for key, element in yours.items():
            text = self._element(
                before.get(key), element, new.get(key), (old, mine, fresh), name
            )
            if text is not None:
                texts[key] = text
                continue
            stretch = element.text if rows is None else rows.stretch(key)
            was = before.get(key)
            if element.is_row_name and not comments(stretch):
                continue  # what it names stays where its owner wrote it
            if was is None or was.dump != element.dump or comments(stretch):
                # It decides nothing any more, and its owner wrote on it.
                self.findings.dropped.append(stretch)
        for key, element in new.items():
            if key in yours:
                continue
            if key not in before or _is_skipped(element):
                texts[key] = element.text
        order, other = list(yours), list(new)
        if is_reordered(list(before), other) and not is_reordered(list(before), order):
            order, other = other, order
        woven = weave(order, other, texts)
        if not woven:
            return None
        if rows is not None:
            return rows.text([(key, texts[key]) for key in woven])
        return written(mine, [texts[key] for key in woven])

    def _element(
        self,
        old: Element | None,
        mine: Element,
        fresh: Element | None,
        sides: tuple[Value | None, Value, Value],
        name: str,
    ) -> str | None:
        """Return the merged text of an element that the user has; None removes it."""
        place = f"{name}{_label(mine)}"
        if fresh is None:
            if old is None:
                return mine.text
            if old.dump == mine.dump or mine.key[0] == CRITERION:
                return None
            if mine.key[0] == "keyword":
                return self._clash(place, old.text, mine.text, "") or None
            self.findings.retired.append(place)
            return mine.text
        if mine.dump == fresh.dump:
            # What decides it may be called otherwise now.
            moved = old is not None and mine.decides and old.text != fresh.text
            return fresh.text if moved else mine.text
        if old is not None and old.dump == fresh.dump:
            return mine.text
        if old is not None and mine.dump == old.dump:
            if comments(mine.text) == comments(old.text):
                return fresh.text
        before, yours, new = sides
        if mine.is_row_name and old is not None and before is not None:
            if _same_row(
                Value(old.value, before.source), Value(fresh.value, new.source)
            ):
                return mine.text
        was = None
        if old is not None and before is not None:
            was = Value(old.value, before.source)
        now, then = Value(mine.value, yours.source), Value(fresh.value, new.source)
        if not mine.text.endswith(now.text):
            text = "" if old is None else old.text
            return self._clash(place, text, mine.text, fresh.text)
        head = mine.text[: len(mine.text) - len(now.text)]
        return head + self.merge(was, now, then, place)


def _same(one: Value, other: Value) -> bool:
    return one.text == other.text or ast.dump(one.node) == ast.dump(other.node)


def _same_row(one: Value, other: Value) -> bool:
    """Whether two rows say the same of a criterion, whatever decides it is called."""
    said = [elements_of(value) for value in (one, other)]
    dumps = [{k: e.dump for k, e in part.items()} for part in said if part is not None]
    return len(dumps) == 2 and dumps[0] == dumps[1]


def _shape(value: Value) -> str:
    if isinstance(value.node, ast.Call):
        return f"call {value.source.names.called(value.node.func)}"
    return type(value.node).__name__


def _label(element: Element) -> str:
    kind, name, _ = element.key
    if kind == "keyword":
        return f".{name}"
    return f"[{name[:60]}]"


def _is_skipped(element: Element) -> bool:
    """Whether it is the row of a criterion that its owner skips: it must not vanish."""
    return element.key[0] == CRITERION and is_skipped_row(element.value)
