"""Smells of items: the user's words, written so that nothing reads them.

An input is free data: a key with a slip in it takes the words away without a word. So
what was clearly meant is told. (What an item expects in vain: `suite.slips`.)
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..problems import Problem, quoted
from ..spec.located import Path
from ..suite.dataset import QUERY_KEYS, Declared, query_of
from ..suite.report import InSpec
from .design import Design

MAX_EACH: Final = 20
"""How many slips are named in one dataset."""


def item_smells(design: Design) -> Iterator[Problem]:
    """Yield what the items of each dataset say, and nothing reads."""
    for dataset in design.declared.datasets:
        named = 0
        for problem in _slips(design, dataset):
            named += 1
            if named > MAX_EACH:
                break
            yield problem


def _slips(design: Design, dataset: Declared) -> Iterator[Problem]:
    """Yield the smells of a dataset's items that stand in the spec."""
    if not isinstance(dataset.at, InSpec):
        return
    for number, item in enumerate(dataset.items):
        if isinstance(item.input, Mapping):
            at = (*dataset.at.path, "items", number, "input")
            yield from _words(design, item.input, at)


def _words(design: Design, given: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """Yield the key that was to hold the user's words, where none is read."""
    if not (query_of(given) or "").startswith("{") or any(
        given.get(key) for key in QUERY_KEYS
    ):
        return
    for key, value in given.items():
        meant = _query_key(key) if isinstance(value, str) else None
        if meant is not None:
            yield design.warn(
                "HX414",
                (*at, key),
                f"the user's words are not taken from {quoted(key)}: the query is "
                "all of the input, as JSON",
                f"call it {quoted(meant)}",
            )
            return


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
