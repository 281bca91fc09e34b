"""A goal that speaks of many runs: the aggregate that would carry it.

"At least 95% of the golden cases" is no question about one run; without an aggregate
every run must pass.
"""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final

from helix_runtime.improving.one_question import MAX_READ

from ..suite.baseline_goal import baseline_in, is_against_a_baseline
from ..suite.wording import WITHIN_RUN
from .budgets import NUMBERS, budget_in

_NUMBER: Final = r"(\d+(?:\.\d+)?)"
_COUNT: Final = rf"(\d+|{'|'.join(NUMBERS)})"
_REPEATS: Final = r"(?:runs?|repeats?|repetitions|trials?|attempts|tries|times)"

_PASS_K: Final = re.compile(r"\bp(?:ass)?\s*\^\s*(\d+)\b", re.I)
_ALL_RUNS: Final = re.compile(
    rf"\b(?:all|each of(?: the)?|every one of(?: the)?)\s+{_COUNT}\s+{_REPEATS}\b"
    rf"|\b{_COUNT}\s+(?:consecutive|successive|independent|repeated)\s+{_REPEATS}\b"
    rf"|\b{_COUNT}\s+{_REPEATS}\s+in\s+a\s+row\b"
    rf"|\bconsisten\w*\s+(?:across|over|in)\s+(?:all\s+)?{_COUNT}\s+{_REPEATS}\b",
    re.I,
)
_K_OF_K: Final = re.compile(
    rf"\b{_COUNT}\s*(?:/|of|out of)\s*(?:the\s+)?{_COUNT}\s+{_REPEATS}\b", re.I
)
_MEAN: Final = re.compile(r"\b(mean|average|averaged|avg)\b", re.I)
_OPERATOR: Final = (
    r"(>=|≥|=>|<=|≤|>|<|at least|no less than|not less than|no fewer than|minimum(?: of)?"
    r"|more than|greater than|above|over|exceed(?:s|ing)?|at most|no more than"
    r"|not more than|maximum(?: of)?|up to|less than|fewer than|below|under)"
)
_COMPARED: Final = re.compile(rf"{_OPERATOR}\s*{_NUMBER}\s*(%|percent)?", re.I)
_AT_MOST: Final = (
    r"(?:at most|no more than|not more than|maximum(?: of)?|up to|less than"
    r"|fewer than|below|under|<=?|≤)"
)
# "5% or less", "5% at most"
_CEILING: Final = re.compile(
    r"\s*(?:\w+\s+){0,3}?(?:or\s+(?:less|fewer|lower|below)|at\s+most|maximum)\b", re.I
)
_SHARE: Final = re.compile(rf"(?<![\d.]){_NUMBER}\s*(?:%|percent\b)", re.I)
_OF: Final = re.compile(
    rf"\b(?:(?P<most>{_AT_MOST})\s+|(?P<more>more than|over|above)\s+)?(?P<part>{_COUNT})"
    rf"\s*(?:/|of|out of|in)\s*(?:the\s+|every\s+)?(?P<whole>{_COUNT})\b",
    re.I,
)
_RUNS: Final = (
    r"(?:case|run|task|trial|attempt|answer|repl(?:y|ie)|response|request|question|quer(?:y|ie)"
    r"|prompt|conversation|ticket|sample|item|row)s?\b"
)
_THEN_RUNS: Final = re.compile(
    rf"\s+(?:of\s+)?(?:\w+\s+){{0,2}}?(?:{_RUNS}|{_REPEATS}\b)", re.I
)
_FRACTION: Final = re.compile(
    r"\b(more than\s+)?(half|two[- ]thirds|three[- ]quarters|(?:the\s+)?majority)\s+"
    rf"(?:of\s+)?(?:the\s+|all\s+)?(?:\w+\s+)?{_RUNS}",
    re.I,
)
_FAIL: Final = re.compile(rf"{_RUNS}|\b(?:fail|err|leak|violat|wrong|miss)", re.I)
_FRACTIONS: Final = {"half": 0.5, "twothirds": 2 / 3, "threequarters": 0.75}
# A number that is a share by the name before it: "a success rate over 0.8", "… over 80".
_NAMED: Final = re.compile(
    r"\b(?:accuracy|(?:pass|success|hit|completion|compliance) rates?)\b"
    rf"(?:[^.,;]|\.\d){{0,20}}?{_OPERATOR}\s*(0?\.\d+|\d+)(?![\d.]|\s*(?:%|percent))",
    re.I,
)
# "At least 0.95 of the cases"
_DECIMAL: Final = re.compile(
    rf"{_OPERATOR}\s*(0?\.\d+)\s+of\s+(?:the\s+|all\s+)?[a-z]", re.I
)
# What fails, and how seldom: the rest must pass.
_FAULTS: Final = re.compile(r"\b(?:error|failure|fault|hallucination) rates?\b", re.I)
_NO_RATE: Final = re.compile(
    r"\b(tolerance|deviation|deviat\w*|within|margin|discount|error bars?"
    r"|confiden\w+)\b|±",
    re.I,
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
    if is_against_a_baseline(goal):
        against = baseline_in(goal)
        return None if against is None else f'{{baseline: "{against}"}}'
    budget = budget_in(goal)
    if budget is not None and budget.aggregate is not None:
        return budget.aggregate
    if _MEAN.search(goal):
        for operator, number, percent in _comparisons(goal):
            limit = number / 100 if percent else number
            return f'{{mean: "{operator} {_shown(operator, limit)}"}}'
    if _NO_RATE.search(goal) or WITHIN_RUN.search(goal):
        return None
    share = _rate(goal)
    return None if share is None else f'{{rate: "{share[0]} {_shown(*share)}"}}'


def _repeats(goal: str) -> int | None:
    found = _PASS_K.search(goal)
    if found:
        k = int(found[1][:4])
        return k if k > 1 else None
    found = _ALL_RUNS.search(goal)
    if found is not None:
        k = _count(next(filter(None, found.groups())))
        return k if k > 1 else None
    found = _K_OF_K.search(goal)
    if found is None:
        return None
    k = _count(found[1])
    return k if k == _count(found[2]) and k > 1 else None


def _count(word: str) -> int:
    return NUMBERS.get(word.lower()) or int(word[:9])


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
        share = float(found[1]) / 100
        if _CEILING.match(goal, found.end()) or _FAULTS.search(goal):
            return ">=", 1 - share
        return ">=", share
    return _named_rate(goal) or _counted_rate(goal)


def _named_rate(goal: str) -> tuple[str, float] | None:
    for pattern in (_NAMED, _DECIMAL):
        found = pattern.search(goal)
        if found is not None:
            operator = _SYMBOLS.get(found[1].lower(), ">")
            share = float(found[2])
            share = share / 100 if share > 1 else share
            if 0 < share < 1 and operator not in _FLIPPED:
                return operator, share
    return None


def _counted_rate(goal: str) -> tuple[str, float] | None:
    found = _OF.search(goal)
    if found:
        part, whole = _count(found["part"]), _count(found["whole"])
        if 0 < part < whole:
            if not found["most"] and _CEILING.match(goal, found.end()) is None:
                operator = ">" if found["more"] else ">="
                return (operator, part / whole) if _counts_runs(found) else None
            # "At most 3 of 5 tools are called" is about one run.
            return (">=", 1 - part / whole) if _FAIL.search(goal) else None
    found = _FRACTION.search(goal)
    if found is None:
        return None
    share = _FRACTIONS.get(re.sub(r"[\s-]", "", found[2].lower()))
    if share is None:
        return ">", 0.5  # a majority
    return (">" if found[1] else ">="), share


def _counts_runs(found: re.Match[str]) -> bool:
    """Whether "N of M" is about runs, and not a choice: "one of the three labels"."""
    if _count(found["part"]) == 1:
        return False
    in_digits = found["part"].isdigit() and found["whole"].isdigit()
    return in_digits or _THEN_RUNS.match(found.string, found.end()) is not None


def _shown(operator: str, number: float) -> str:
    """Return a limit in at most six decimals, rounded to the side that what meets it meets.

    Two of three cases are at least two thirds: `>= 0.666666`, not `>= 0.666667`.
    """
    limit = Decimal(repr(round(number, 12)))
    side = ROUND_FLOOR if operator in (">=", "<") else ROUND_CEILING
    return f"{limit.quantize(_SIXTH, side).normalize():f}"


_SIXTH: Final = Decimal("0.000001")
