"""A goal that speaks of many runs: the aggregate that would carry it.

"At least 95% of the golden cases" is no question about one run; without an aggregate
every run must pass.
"""

import re
from typing import Final

from .wording import MAX_READ

_NUMBER: Final = r"(\d+(?:\.\d+)?)"
_WORDS_OF_K: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
_REPEATS: Final = r"(?:runs?|repeats?|repetitions|trials?|attempts|tries|times)"

_PASS_K: Final = re.compile(r"\bpass\s*\^\s*(\d+)\b", re.I)
_ALL_RUNS: Final = re.compile(
    rf"\b(?:all|each of(?: the)?|every one of(?: the)?)\s+"
    rf"({'|'.join(_WORDS_OF_K)}|\d+)\s+{_REPEATS}\b|\b(\d+)\s*/\s*(\d+)\s+{_REPEATS}\b",
    re.I,
)
_MEAN: Final = re.compile(r"\b(mean|average|averaged|avg)\b", re.I)
_OPERATOR: Final = (
    r"(>=|≥|=>|<=|≤|>|<|at least|no less than|not less than|no fewer than|minimum(?: of)?"
    r"|more than|greater than|above|over|exceed(?:s|ing)?|at most|no more than"
    r"|not more than|maximum(?: of)?|up to|less than|fewer than|below|under)"
)
_COMPARED: Final = re.compile(rf"{_OPERATOR}\s*{_NUMBER}\s*(%|percent)?", re.I)
_SHARE: Final = re.compile(rf"(?<![\d.]){_NUMBER}\s*(?:%|percent\b)", re.I)
_OF: Final = re.compile(r"\b(\d+)\s*(?:/|of|out of)\s*(?:the\s+)?(\d+)\b", re.I)
_NO_RATE: Final = re.compile(
    r"\b(tolerance|deviation|deviat\w*|within|margin|discount|error bars?)\b|±", re.I
)
_SYMBOLS: Final = {
    ">=": ">=",
    "≥": ">=",
    "=>": ">=",
    "at least": ">=",
    "no less than": ">=",
    "not less than": ">=",
    "no fewer than": ">=",
    "minimum": ">=",
    "minimum of": ">=",
    "<=": "<=",
    "≤": "<=",
    "at most": "<=",
    "no more than": "<=",
    "not more than": "<=",
    "maximum": "<=",
    "maximum of": "<=",
    "up to": "<=",
    "<": "<",
    "less than": "<",
    "fewer than": "<",
    "below": "<",
    "under": "<",
}
_FLIPPED: Final = {"<=": ">=", "<": ">"}


def aggregate_in(goal: str) -> str | None:
    """Return the aggregate that a goal asks for, as the overlay writes it, or None.

    A goal of 100 % asks for none: every decided unit must pass as it is.
    """
    goal = goal[:MAX_READ]
    k = _repeats(goal)
    if k is not None:
        return f"{{pass^k: {k}}}"
    if _MEAN.search(goal):
        for operator, number, percent in _comparisons(goal):
            limit = number / 100 if percent else number
            return f'{{mean: "{operator} {_shown(limit)}"}}'
    if _NO_RATE.search(goal):
        return None
    share = _rate(goal)
    return None if share is None else f'{{rate: "{share[0]} {_shown(share[1])}"}}'


def _repeats(goal: str) -> int | None:
    found = _PASS_K.search(goal)
    if found:
        k = int(found[1][:4])
        return k if k > 1 else None
    found = _ALL_RUNS.search(goal)
    if found is None:
        return None
    if found[1] is None:
        return int(found[3][:4]) if found[2] == found[3] and found[3] != "1" else None
    k = _WORDS_OF_K.get(found[1].lower()) or int(found[1][:4])
    return k if k > 1 else None


def _comparisons(goal: str) -> list[tuple[str, float, bool]]:
    return [
        (_SYMBOLS.get(found[1].lower(), ">"), float(found[2]), bool(found[3]))
        for found in _COMPARED.finditer(goal)
    ]


def _rate(goal: str) -> tuple[str, float] | None:
    for operator, number, percent in _comparisons(goal):
        if not percent:
            continue
        if operator in _FLIPPED:
            # "Fewer than 2% of the replies leak": what may fail, so 98% must pass.
            if 0 < number < 100:
                return _FLIPPED[operator], 1 - number / 100
        elif 0 < number < 100:
            return operator, number / 100
        else:
            return None
    found = _SHARE.search(goal)
    if found and 0 < float(found[1]) < 100:
        return ">=", float(found[1]) / 100
    found = _OF.search(goal)
    if found:
        part, whole = int(found[1][:9]), int(found[2][:9])
        if 0 < part < whole and whole > 1:
            return ">=", part / whole
    return None


def _shown(number: float) -> str:
    return f"{round(number, 6):g}"
