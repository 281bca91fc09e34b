"""A limit on time, cost, tokens or steps in a goal: the check and the aggregate for it.

"p95 < 10 s" is a limit for each run (10 s) and a share of the runs that must keep to it
(95 %); "average cost < $0.20" is a limit for the mean.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from helix_runtime.improving.one_question import MAX_READ

NUMBERS: Final = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "sixty": 60,
}
"""Numbers that goals write as words."""

_SECOND: Final = 1000.0
_UNITS: Final[Mapping[str, tuple[str, float]]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("latency", 1.0)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("latency", _SECOND)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("latency", 60 * _SECOND)),
    **dict.fromkeys(("h", "hour", "hours"), ("latency", 3600 * _SECOND)),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), ("cost", 1.0)),
    **dict.fromkeys(("cent", "cents", "¢"), ("cost", 0.01)),
    **dict.fromkeys(("token", "tokens"), ("tokens", 1.0)),
    **dict.fromkeys(("step", "steps"), ("steps", 1.0)),
}
"""Unit → what is measured of a run, and how much of its own unit (ms, USD) one is."""

_BELOW: Final = (
    r"<|(?:(?:in|within) )?(?:under|less than|fewer than)|below|faster than|cheaper than"
)
_AT_MOST: Final = (
    r"<=|≤|=<|at most|no more than|not more than|not (?:to )?exceed(?:ing)?|up to|within"
    r"|max(?:\.|imum)?(?: of)?"
)
_LIMIT: Final = re.compile(
    rf"(?:(?P<below>{_BELOW})|{_AT_MOST})\s*(?:US)?(?P<sign>\$)?\s*"
    r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,9}(?:\.\d{1,6})?"
    rf"|(?:{'|'.join(NUMBERS)})\b)"
    r"(?P<thousand>k)?(?:[ \t]?(?P<unit>[a-z$¢]+))?",
    re.I,
)
_PERCENTILE: Final = re.compile(
    r"\bp(?P<short>[5-9]\d(?:\.\d)?)\b|\b(?P<long>[5-9]\d)th percentile\b", re.I
)
_MEDIAN: Final = re.compile(r"\bmedian\b", re.I)
_MEAN: Final = re.compile(r"\b(?:mean|average|averaged|avg)\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A limit on one measure of a run.

    `check` decides one run; `aggregate` is what the goal says over many, as the overlay
    writes it, None where it says nothing of them.
    """

    check: Mapping[str, Any]
    aggregate: str | None


def budget_in(text: str) -> Budget | None:
    """Return the limit that a text sets on time, cost, tokens or steps, or None."""
    text = text[:MAX_READ]
    for found in _LIMIT.finditer(text):
        unit = "$" if found["sign"] else (found["unit"] or "").lower()
        if unit not in _UNITS:
            continue
        measure, scale = _UNITS[unit]
        number = _number(found["number"]) * scale * (1000 if found["thousand"] else 1)
        limit = _plain(number)
        check = {f"numbers.{measure}": {"at_most": limit}}
        operator = "<" if found["below"] else "<="
        return Budget(check=check, aggregate=_aggregate(text, operator, limit))
    return None


def _number(text: str) -> float:
    return NUMBERS.get(text.lower()) or float(text.replace(",", ""))


def _plain(number: float) -> int | float:
    rounded = round(number, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def _aggregate(text: str, operator: str, limit: int | float) -> str | None:
    percentile = _PERCENTILE.search(text)
    if percentile is not None:
        share = float(percentile["short"] or percentile["long"]) / 100
        return f'{{rate: ">= {_plain(share)}"}}'
    if _MEDIAN.search(text):
        return '{rate: ">= 0.5"}'
    if _MEAN.search(text):
        return f'{{mean: "{operator} {limit}"}}'
    return None
