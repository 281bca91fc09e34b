"""A goal that speaks of an earlier run: "no regression against the last release"."""

import re
from typing import Final

_EARLIER: Final = (
    r"(?:(?:the|its|our|any|a)\s+)?(?:(?:last|latest|previous|prior|preceding|current"
    r"|earlier|existing|released|deployed|production)\s+(?:\w+\s+)?(?:release|version|run"
    r"|model|prompt|agent|build|deployment|baseline)s?|baseline|release[ds]? version"
    r"|(?:last|previous|prior) one|version in production|main branch)\b"
)
_POINTS: Final = r"(\d+(?:\.\d+)?)\s*(?:%|percent(?:age)?(?:\s+points?)?|points?|pp)"

_ALLOWED: Final = re.compile(
    rf"\b(?:within|(?:at\s+most|no\s+more\s+than|not\s+more\s+than|up\s+to|less\s+than))\s+"
    rf"{_POINTS}\s+(?:of|worse\s+than|below|under|less\s+than|lower\s+than|behind)\s+"
    rf"{_EARLIER}"
    rf"|\b(?:drops?|falls?|regress(?:es)?|los(?:es?|s))\s+(?:by\s+)?(?:at\s+most"
    rf"|no\s+more\s+than|not\s+more\s+than|less\s+than)\s+{_POINTS}[^.;]{{0,30}}?{_EARLIER}",
    re.I,
)
_GAINED: Final = re.compile(
    rf"(?:\bat\s+least\s+|≥\s*|>=\s*)?{_POINTS}\s+(?:better\s+than|above|over|higher\s+than"
    rf"|more\s+than|ahead\s+of)\s+{_EARLIER}",
    re.I,
)
_NO_WORSE: Final = re.compile(
    rf"\b(?:no|not|never|isn't|is\s+not)\s+(?:any\s+)?(?:worse|lower|below|less)\s+(?:than\s+)?"
    rf"{_EARLIER}"
    rf"|\bat\s+least\s+as\s+(?:good|well|high|accurate|often)\s+as\s+(?:in\s+|with\s+)?{_EARLIER}"
    rf"|\b(?:match(?:es)?|equals?)\s+or\s+(?:exceeds?|beats?|betters?)\s+{_EARLIER}"
    rf"|\bdoes\s+not\s+(?:drop|fall|regress)\s+(?:below|behind|under|against|from)\s+{_EARLIER}"
    r"|\b(?:no|zero|without(?:\s+any)?)\s+(?:\w+\s+)?regressions?\b"
    r"(?!\s+(?:tests?|suites?|cases?|models?|analys\w+|equations?|lines?))",
    re.I,
)
_BETTER: Final = re.compile(
    rf"\b(?:better|higher|more|above|over)\s+(?:often\s+)?(?:than\s+)?(?:in\s+|with\s+)?{_EARLIER}"
    rf"|\b(?:beats?|outperforms?|exceeds?|surpass(?:es)?|improves?\s+(?:on|over|upon))\s+"
    rf"{_EARLIER}",
    re.I,
)
# "No higher than the last release" bounds an error rate or a cost, no rate of passes.
_BOUNDED: Final = re.compile(
    r"(?:\b(?:no|not|cannot|never|nor|without|at\s+most|(?:no|not)\s+more\s+than|up\s+to"
    r"|within|less\s+than)|n't)\s+(?:any\s+|be\s+|is\s+)?$",
    re.I,
)


def is_against_a_baseline(goal: str) -> bool:
    """Whether a goal holds a run against an earlier one, whatever it asks for."""
    return any(p.search(goal) for p in (_ALLOWED, _GAINED, _NO_WORSE, _BETTER))


def baseline_in(goal: str) -> str | None:
    """Return the condition on the difference to a baseline that a goal asks for, or None.

    As the overlay writes it: ">= 0" for no worse, "> 0" for better, ">= 0.05" for five
    points better, ">= -0.02" for two points worse at most.
    """
    found = _ALLOWED.search(goal)
    if found is not None:
        return _condition(-float(found[1] or found[2]))
    found = _GAINED.search(goal)
    if found is not None:
        return None if _is_bounded(goal, found) else _condition(float(found[1]))
    if _NO_WORSE.search(goal):
        return ">= 0"
    found = _BETTER.search(goal)
    return None if found is None or _is_bounded(goal, found) else "> 0"


def _is_bounded(goal: str, found: re.Match[str]) -> bool:
    """Whether what was found says how far a number may go at most."""
    return _BOUNDED.search(goal, 0, found.start()) is not None


def _condition(points: float) -> str | None:
    if not -100 < points < 100:
        return None
    return f">= {round(points / 100, 6):g}" if points else ">= 0"
