"""Whether the same check, or the same judge, measured a criterion in a baseline."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from .baseline import Baseline

_AGAIN: Final = (
    # Where it lies is no part of a scorecard: the reports say that.
    "judge the baseline's recorded runs by what is there now (`run --traces` and its "
    "traces.jsonl), and compare with that run"
)


def other_yardstick(
    baseline: Baseline,
    criterion_id: str,
    *,
    is_judged: bool,
    pin: Mapping[str, Any] | None,
    marks: Collection[str],
    was_asked: bool,
) -> str | None:
    """Return why a criterion can't be compared at all, or None.

    A changed yardstick is no comparison, nor is one that nobody can tell. Now: `marks`
    are those of what measured it, `is_judged` says whether it has a judge, `was_asked`
    whether that decided any unit, `pin` who it is.
    """
    named = f"the baseline {baseline.digest[:12]}"
    if criterion_id not in baseline.criteria:
        return f"{named} has no such criterion: {_AGAIN}"
    if is_judged:
        before: Mapping[str, Any] | None = baseline.card["pin"]
        if pin != before:
            return (
                f"{named} was judged by {_who(before)}, this run by {_who(pin)}: another "
                f"yardstick is no comparison; {_AGAIN}"
            )
        if pin is None and (was_asked or criterion_id in baseline.side.judged):
            return (
                f"nobody can tell who judged {named} and this run, as their verdict "
                "files name no single model: let one judge both, and name it in each "
                "file as `judgeModel`"
            )
    then = baseline.side.yardsticks.get(criterion_id, set())
    if marks and then and set(marks) != then:
        return (
            f"what decides it was edited since {named}: another yardstick is no "
            f"comparison; {_AGAIN}"
        )
    return None


def _who(pin: Mapping[str, Any] | None) -> str:
    if pin is None:
        return "nobody"
    sampling = "" if pin.get("temperature") == 0 else ", at the model's own sampling"
    return f"{pin.get('model')} ({pin.get('provider')}{sampling})"
