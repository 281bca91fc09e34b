"""How far the judges of a run are validated, in words, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .words import number, span


def measured(criterion: Mapping[str, Any]) -> bool:
    """Whether a criterion's judge was held against labels at all."""
    known = criterion["validation"]
    return known["tpr"] is not None or known["tnr"] is not None


def judge_words(criterion: Mapping[str, Any]) -> str:
    """Return TPR, TNR and the corrected rate of a measured judge."""
    known = criterion["validation"]
    said = [
        f"{name} {percent(known[key])}"
        for name, key in (("TPR", "tpr"), ("TNR", "tnr"))
        if known[key] is not None
    ]
    if known["corrected"] is not None:
        interval = span([round(end, 3) for end in known["interval"]], share=True)
        said.append(f"corrected {percent(known['corrected'])} ({interval})")
    return " · ".join(said)


def unmeasured(scorecard: Mapping[str, Any]) -> list[str]:
    """Return the criteria that were judged and of whose judges nothing is known."""
    return [
        criterion["criterionId"]
        for criterion in scorecard["criteria"]
        if scorecard["pin"] is not None
        and criterion["class"] != "code"
        and not measured(criterion)
    ]


def percent(value: float) -> str:
    """Return a share as a percentage, to a tenth of one."""
    return number(round(value, 3), share=True)
