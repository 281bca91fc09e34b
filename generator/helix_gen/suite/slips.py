"""Keys of expectations with a slip in them: what they say is asked of nobody.

What an item expects is free data, and what a case does not expect is never missed. So a
key that is nearly one that checks read is told; one that resembles none is the user's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from helix_runtime.row_slips import EXPECTED, slips_in

from ..problems import quoted
from .dataset import Declared, Item
from .items import yaml_key
from .report import InSpec, Report, Where

SLIP: Final = "HX413"
MAX_EACH: Final = 20
"""How many slips are named in one dataset."""


def report_slips(
    datasets: Sequence[Declared], says: Mapping[str, Any], report: Report
) -> None:
    """Warn of each key of an expectation that is nearly one that is read.

    A name that a check of the overlay (`says`) reads is none. Items of a file that share
    a slip are told once, at the first of them.
    """
    bound = frozenset(texts_in(says.get("criteria")))
    for dataset in datasets:
        told: dict[tuple[str, str, str], tuple[Where, int]] = {}
        for item in dataset.items:
            for key, meant in _slips(item, bound):
                where, at = _place(item, key)
                first, count = told.get((where, key, meant), (at, 0))
                told[where, key, meant] = (first, count + 1)
        for (_, key, meant), (at, count) in list(told.items())[:MAX_EACH]:
            rows = f" ({count} rows)" if count > 1 else ""
            report.warning(
                SLIP,
                f"no check reads {quoted(key)} of an expectation by itself: what it says "
                f"is not asked for{rows}",
                at=at,
                hint=f"did you mean {quoted(meant)}? Else name it in a check: "
                f"`expect.equals: {{ expected: {yaml_key(key)} }}`",
            )


def _slips(item: Item, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
    if isinstance(item.expected, Mapping):
        for key, meant in slips_in(item.expected, EXPECTED):
            if key not in bound:
                yield key, meant


def _place(item: Item, key: str) -> tuple[str, Where]:
    """Return what groups the slips of an item, and where its own one stands."""
    if isinstance(item.at, InSpec):
        at = replace(item.at, path=(*item.at.path, "expected", key))
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
