"""The root of a failure: where in the run the evidence of a failing unit stands.

Two failing criteria have one root where every run that the one fails is also failed by
the other, and both cite the same place of it: the same step (a call of the same tool
with the same arguments, whichever of its two spans is cited, by whatever name), or the
same text at the same place of what was said. What only supports a verdict (the case,
what the user said) is the same for every criterion and joins none. A criterion joins
the one with the most failing runs that it shares its root with, and opens a finding of
its own where there is none: one finding, several symptoms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, permutations
from typing import Any, Final

from ..canonical import content_key, dump_line
from ..judges.grounding import Ground, weigh
from ..record import record
from ..trace import Span
from ..verdict import Ref

MAX_NAMED: Final = 50
"""Spans of one name that are looked at for what a ref quotes."""

_STEP: Final = re.compile(r"trajectory(?:\[|\.)(\d{1,9})\]?")
_SPEC: Final = re.compile(r"\s*(agent)?spec\b", re.IGNORECASE)


@record
class Mark:
    """A place that a verdict cites: its key, how people call it, and whether it is of
    the spec in place of the run."""

    key: str
    label: str
    is_of_spec: bool = False


@record(kw_only=True)
class Grounded:
    """The refs of a verdict that resolve, and the places of the run they cite."""

    refs: tuple[Ref, ...]
    marks: frozenset[Mark]


def ground_refs(refs: Iterable[Ref], place: Ground, *, by_code: bool) -> Grounded:
    """Return the refs that resolve, with their places.

    A fact of the spec that code cites is one that code read: the spec is not part of a
    run, and its whole text is not at hand to look it up again.
    """
    kept: list[Ref] = []
    marks: set[Mark] = set()
    for ref in refs:
        if by_code and _SPEC.match(ref.obs) is not None:
            kept.append(ref)
            label = f"spec {ref.path}".strip()
            marks.add(Mark(content_key("spec", ref.path), label, is_of_spec=True))
            continue
        worth = weigh(ref, place)
        if worth == "dead":
            continue
        kept.append(ref)
        if worth == "evidence":
            marks.update(_places(ref, place))
    return Grounded(refs=tuple(kept), marks=frozenset(marks))


def _places(ref: Ref, place: Ground) -> list[Mark]:
    obs = ref.obs.strip()
    named = (s for s in place.trace.spans if obs in (s.id, s.name, s.tool_name))
    steps = [
        _step_of(span, place)
        for span in islice(named, MAX_NAMED)
        if weigh(Ref(span.id, ref.path, ref.value), place) == "evidence"
    ]
    found = [step for step in steps if step is not None]
    numbered = _STEP.match(f"{obs}.{ref.path}")
    trajectory = place.evidence.trajectory
    if numbered is not None and int(numbered[1]) < len(trajectory):
        entry = trajectory[int(numbered[1])]
        found.append(_step(str(entry.get("name")), entry.get("input")))
    if found:
        return found
    said = " ".join(ref.value.split())
    label = f"{obs} {ref.path}".strip()
    return [Mark(content_key("text", obs, ref.path, said), label)]


def _step_of(span: Span, place: Ground) -> Mark | None:
    """The step that a span is of, None where it only says something."""
    for call in place.trace.tool_calls:
        if span.id in (call.span_id, call.result_span_id):
            return _step(call.name, call.arguments)
    if span.role in ("user", "assistant", "system"):
        return None
    return _step(span.tool_name or span.name, span.input)


def _step(name: str, given: Any) -> Mark:
    try:
        said = dump_line(given)
    except (ValueError, TypeError):
        said = repr(type(given))
    return Mark(content_key("step", name, said), name)


# -- which criteria are symptoms of one finding --------------------------------------------


class Roots:
    """Counts which failing criteria cite the same places; flat in the number of runs."""

    def __init__(self) -> None:
        self._fails: dict[str, int] = {}
        self._shared: dict[tuple[str, str], int] = {}
        self._labels: dict[str, dict[str, int]] = {}

    def add_run(self, marks: Mapping[str, frozenset[Mark]]) -> None:
        """Take in one run: the places that each criterion which it fails cites."""
        for criterion_id, found in marks.items():
            self._fails[criterion_id] = self._fails.get(criterion_id, 0) + 1
            labels = self._labels.setdefault(criterion_id, {})
            for label in {mark.label for mark in found}:
                labels[label] = labels.get(label, 0) + 1
        cited: dict[Mark, list[str]] = {}
        for criterion_id, found in marks.items():
            for mark in found:
                cited.setdefault(mark, []).append(criterion_id)
        pairs = {pair for some in cited.values() for pair in permutations(some, 2)}
        for pair in pairs:
            self._shared[pair] = self._shared.get(pair, 0) + 1

    def findings(self, order: Sequence[str]) -> list[list[str]]:
        """Return the findings, each a list of criteria in `order`.

        Findings come in the order of their first criteria; criteria that fail no run
        are in none.
        """
        rank = {criterion_id: place for place, criterion_id in enumerate(order)}
        failing = sorted(
            (c for c in rank if c in self._fails),
            key=lambda c: (-self._fails[c], rank[c]),
        )
        found: list[list[str]] = []
        for criterion_id in failing:
            for group in found:
                shared = self._shared.get((group[0], criterion_id), 0)
                if shared == self._fails[criterion_id]:
                    group.append(criterion_id)
                    break
            else:
                found.append([criterion_id])
        for group in found:
            group.sort(key=rank.__getitem__)
        return sorted(found, key=lambda group: rank[group[0]])

    def places(self, criteria: Iterable[str], limit: int = 3) -> list[str]:
        """Return what the places are called that criteria cite most, at most `limit`."""
        total: dict[str, int] = {}
        for criterion_id in criteria:
            for label, number in self._labels.get(criterion_id, {}).items():
                total[label] = total.get(label, 0) + number
        return sorted(total, key=lambda label: (-total[label], label))[:limit]
