"""Smells of items: what one says or expects, written so that nothing reads it.

Both are free data, and what a case does not expect is never missed: a key with a slip
in it, or a text in place of a list, takes an expectation or the user's words away
without a word. So what was clearly meant is told.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from helix_runtime.checks.names import Names

from ..problems import Problem, quoted
from ..spec.close import CloseMatches
from ..spec.located import Path
from ..suite.dataset import QUERY_KEYS, Declared, query_of
from ..suite.report import InSpec
from .design import Design, yaml_text

MAX_EACH: Final = 20
"""How many slips are named in one dataset."""

_ACTIONS: Final = ("actionCalls", "hostActions")


def item_smells(design: Design) -> Iterator[Problem]:
    """Yield what the items of each dataset say or expect, and nothing reads."""
    slips = _Slips(design)
    for dataset in design.declared.datasets:
        named = 0
        for problem in slips.of(dataset):
            named += 1
            if named > MAX_EACH:
                break
            yield problem


class _Slips:
    """What is read of an expectation, and by which names."""

    def __init__(self, design: Design) -> None:
        facts = design.declared.facts
        self._design = design
        self._actions = [*(facts.outbound or ())]
        for name, operations in (facts.operations or {}).items():
            self._actions += [name, *operations]
        self._known = Names([*self._actions, *(facts.declared or ())])
        self._close = CloseMatches()

    def of(self, dataset: Declared) -> Iterator[Problem]:
        """Yield the smells of a dataset's items that stand in the spec."""
        if not isinstance(dataset.at, InSpec):
            return
        for number, item in enumerate(dataset.items):
            at = (*dataset.at.path, "items", number)
            if isinstance(item.input, Mapping):
                yield from self._words(item.input, (*at, "input"))
            if isinstance(item.expected, Mapping):
                yield from self._calls(item.expected, (*at, "expected"))

    def _words(self, given: Mapping[str, Any], at: Path) -> Iterator[Problem]:
        """Yield the key that was to hold the user's words, where none is read."""
        if not (query_of(given) or "").startswith("{") or any(
            given.get(key) for key in QUERY_KEYS
        ):
            return
        for key, value in given.items():
            meant = _query_key(key) if isinstance(value, str) else None
            if meant is not None:
                yield self._design.warn(
                    "HX414",
                    (*at, key),
                    f"the user's words are not taken from {quoted(key)}: the query is "
                    "all of the input, as JSON",
                    f"call it {quoted(meant)}",
                )
                return

    def _calls(self, expected: Mapping[str, Any], at: Path) -> Iterator[Problem]:
        for field in _ACTIONS:
            value = expected.get(field)
            if isinstance(value, str) and self._known.find(value) is not None:
                yield self._design.warn(
                    "HX413",
                    (*at, field),
                    f"{quoted(field)} is a text: it is taken for prose, and the action "
                    "is not asked for",
                    f"write a list: `[{yaml_text(value)}]`",
                )
            if isinstance(value, list):
                for index, name in enumerate(value):
                    yield from self._name(name, (*at, field, index))

    def _name(self, name: Any, at: Path) -> Iterator[Problem]:
        if not isinstance(name, str) or len(name.split()) != 1:
            return  # an object names its action in one of many ways; words are prose
        if self._known.find(name) is not None:
            return
        meant = self._close.closest(name, self._actions)
        if meant is not None:
            yield self._design.warn(
                "HX413",
                at,
                f"the expectation names the action {quoted(name)}, which the spec does "
                "not declare: no run can meet it",
                f"did you mean {quoted(meant)}?",
            )


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _query_key(key: str) -> str | None:
    """Return the key of a query that a key ends in or nearly is: `user_query`, `qeury`."""
    words: list[str] = re.findall(r"[A-Z]?[^\W_A-Z]+", key)
    if words and words[-1].casefold() in QUERY_KEYS:
        return words[-1].casefold()
    folded = _folded(key)
    # A slip leaves the length about as it was; `ticket_id` is a name of its own.
    alike = [name for name in QUERY_KEYS if abs(len(name) - len(folded)) <= 1]
    if not alike:
        return None
    from difflib import get_close_matches

    found = get_close_matches(folded, alike, n=1, cutoff=0.8)
    return found[0] if found else None
