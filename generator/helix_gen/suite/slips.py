"""Expectations with a slip in them: what they say is asked of nobody.

What an item expects is free data, and what a case does not expect is never missed. So a
key that is nearly one that checks read, a text where a list is read and a misspelt action
are told; what resembles none of them is the user's own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from helix_runtime.checks.names import Names
from helix_runtime.row_slips import EXPECTED, slips_in

from ..problems import quoted
from ..spec.close import CloseMatches
from .dataset import Declared, Item
from .declaration import Facts
from .items import yaml_key
from .report import InSpec, Report, Where

SLIP: Final = "HX413"
MAX_EACH: Final = 20
"""How many slips are named in one dataset."""

_ACTIONS: Final = ("actionCalls", "hostActions")
_LISTS: Final = (*_ACTIONS, "path")


@dataclass(frozen=True, slots=True)
class _Slip:
    """A slip in an expectation, and the steps from there to where it stands."""

    path: tuple[str | int, ...]
    message: str
    hint: str


def report_slips(
    datasets: Sequence[Declared], facts: Facts, says: Mapping[str, Any], report: Report
) -> None:
    """Warn of each part of an expectation that is nearly one that is read.

    A name that a check of the overlay (`says`) reads is none. Items of a file that share
    a slip are told once, at the first of them.
    """
    slips = _Slips(facts, frozenset(texts_in(says.get("criteria"))))
    for dataset in datasets:
        told: dict[tuple[str, str, str], tuple[Where, int]] = {}
        for item in dataset.items:
            for slip in slips.of(item):
                where, at = _place(item, slip)
                key = (where, slip.message, slip.hint)
                first, count = told.get(key, (at, 0))
                told[key] = (first, count + 1)
        for (_, message, hint), (at, count) in list(told.items())[:MAX_EACH]:
            rows = f" ({count} rows)" if count > 1 else ""
            report.warning(SLIP, f"{message}{rows}", at=at, hint=hint)


class _Slips:
    """What is read of an expectation, and by which names."""

    def __init__(self, facts: Facts, bound: frozenset[str]) -> None:
        self._bound = bound
        self._actions = [*(facts.outbound or ())]
        for name, operations in (facts.operations or {}).items():
            self._actions += [name, *operations]
        self._known = Names([*self._actions, *(facts.declared or ())])
        self._close = CloseMatches()

    def of(self, item: Item) -> Iterator[_Slip]:
        """Yield the slips in what an item expects."""
        if not isinstance(item.expected, Mapping):
            return
        for key, meant in slips_in(item.expected, EXPECTED):
            if key not in self._bound:
                yield _Slip(
                    (key,),
                    f"no check reads {quoted(key)} of an expectation by itself: what it "
                    "says is not asked for",
                    f"did you mean {quoted(meant)}? Else name it in a check: "
                    f"`expect.equals: {{ expected: {yaml_key(key)} }}`",
                )
        for field in _LISTS:
            value = item.expected.get(field)
            if isinstance(value, str) and field not in self._bound:
                yield from self._text(field, value, in_table=item.in_table)
            elif isinstance(value, list) and field in _ACTIONS:
                for index, name in enumerate(value):
                    yield from self._name(name, (field, index))

    def _text(self, field: str, value: str, *, in_table: bool) -> Iterator[_Slip]:
        """Yield a text where a list is read, if names were meant.

        Prose in a spec is prose; what stands in the column of a table was to be read.
        """
        words = [word.strip() for word in re.split(r"[,;|\n]", value) if word.strip()]
        meant = [self._meant(word) or word for word in words]
        is_named = field in _ACTIONS and any(self._meant(word) for word in words)
        if is_named and all(len(word.split()) == 1 for word in words):
            names = ", ".join(map(yaml_key, meant))
            yield _Slip(
                (field,),
                f"{quoted(field)} is a text: it is taken for prose, and the "
                f"{'action is' if len(words) == 1 else 'actions are'} not asked for",
                (
                    'write a JSON list in the cell, such as `["NAME"]`'
                    if in_table
                    else f"write a list: `[{names}]`"
                ),
            )
        elif in_table and words:
            yield _Slip(
                (field,),
                f"{quoted(field)} is a text: it is taken for prose, and nothing is "
                "asked for",
                'write a JSON list in the cell, such as `["NAME"]`; `[]` says that '
                "there is to be none",
            )

    def _meant(self, word: str) -> str | None:
        """Return the action that a word names, or is a slip of; else None."""
        if len(word.split()) != 1:
            return None
        if self._known.find(word) is not None:
            return word
        return self._close.closest(word, self._actions)

    def _name(self, name: Any, path: tuple[str | int, ...]) -> Iterator[_Slip]:
        if not isinstance(name, str):
            return  # an object names its action in one of many ways
        meant = self._meant(name)
        if meant is not None and meant != name:
            yield _Slip(
                path,
                f"the expectation names the action {quoted(name)}, which the spec does "
                "not declare: no run can meet it",
                f"did you mean {quoted(meant)}?",
            )


def _place(item: Item, slip: _Slip) -> tuple[str, Where]:
    """Return what groups the slips of an item, and where its own one stands."""
    if isinstance(item.at, InSpec):
        at = replace(item.at, path=(*item.at.path, "expected", *slip.path))
        return repr(at.path), at
    return "", item.at


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a part of the overlay, and the first step of each as a path."""
    if isinstance(value, str):
        yield value
        yield value.partition(".")[0]
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)
