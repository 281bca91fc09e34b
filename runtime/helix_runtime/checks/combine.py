"""Combine verdicts: all of them, any of them, the opposite, or only under a condition.

A part that is an `error` makes the whole an `error`, whatever surrounds it: a broken
check must come to light. A part that is uncertain makes the whole uncertain, unless
another part settles the matter alone (a fail in `all_of`, a pass in `any_of`). Parts
that do not apply (`na`) do not count; where none applies, neither does the whole.
"""

from collections.abc import Sequence

from ..verdict import (
    UNTESTED,
    NothingThere,
    Ref,
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    nothing_there,
    passed,
)
from .arguments import MAX_REFS


def all_of(*verdicts: Verdict) -> Verdict:
    """Pass where every part that applies passes.

    The measured value is that of the only part that has one.
    """
    return _joined("combine.all_of", verdicts, settles="fail")


def any_of(*verdicts: Verdict) -> Verdict:
    """Pass where at least one part that applies passes.

    The measured value is that of the only part that has one.
    """
    return _joined("combine.any_of", verdicts, settles="pass")


def negate(verdict: Verdict) -> Verdict:
    """Turn a pass into a fail and a fail into a pass; nothing else changes.

    Where nothing stands at the path of the check, it stays a fail.
    """
    wrong = _fault("combine.negate", (verdict,))
    if wrong is not None:
        return wrong
    if verdict.result == "pass":
        return failed(f"This must not be so: {verdict.critique}", *verdict.refs)
    if isinstance(verdict, NothingThere):
        # A misspelt path never passes, whatever is looked for there.
        return verdict
    if verdict.result == "fail":
        return passed(f"As it must be, not so: {verdict.critique}", *verdict.refs)
    return verdict


def when(condition: Verdict, then: Verdict) -> Verdict:
    """Decide by `then` where the condition passes; `na` where it does not.

    A condition that is uncertain or an error stays so: whether the criterion applies
    is not known.
    """
    wrong = _fault("combine.when", (condition, then))
    if wrong is not None:
        return wrong
    if condition.result == "pass":
        return then
    if condition.result in ("fail", "na"):
        return not_applicable(f"The condition does not hold: {condition.critique}")
    return condition


def _fault(name: str, verdicts: Sequence[object]) -> Verdict | None:
    """Return the error for parts that are none, or None."""
    if not verdicts:
        return could_not_judge(f"{name}: there is no check to combine.")
    for part in verdicts:
        if not isinstance(part, Verdict):
            kind = type(part).__name__
            return could_not_judge(f"{name}: a part is {kind}, not a verdict.")
    return None


def _joined(name: str, verdicts: Sequence[Verdict], *, settles: str) -> Verdict:
    wrong = _fault(name, verdicts)
    if wrong is not None:
        return wrong
    by_result: dict[str, list[Verdict]] = {}
    for part in verdicts:
        by_result.setdefault(part.result, []).append(part)
    if "error" in by_result:
        return by_result["error"][0]
    if settles in by_result:
        # Each of them settles it alone: one that a negation turns is enough.
        parts = by_result[settles]
        turns = not all(isinstance(part, NothingThere) for part in parts)
        return _whole(settles, parts, verdicts, turns=turns)
    if "uncertain" in by_result:
        return by_result["uncertain"][0]
    rest = "pass" if settles == "fail" else "fail"
    if rest in by_result:
        parts = by_result[rest]
        turns = not any(isinstance(part, NothingThere) for part in parts)
        return _whole(rest, parts, verdicts, turns=turns)
    return not_applicable(_critiques(by_result["na"]))


def _whole(
    result: str, parts: Sequence[Verdict], verdicts: Sequence[Verdict], *, turns: bool
) -> Verdict:
    """Return the verdict of a whole that `parts` decide.

    `turns` says whether a negation makes a pass of it where it is a fail.
    """
    # What was put to the test says more than what was not.
    parts = sorted(parts, key=lambda part: part.critique.startswith(UNTESTED))
    refs: dict[Ref, None] = {}
    for part in parts:
        refs.update(dict.fromkeys(part.refs))
    values = [part.value for part in verdicts if part.value is not None]
    fail = failed if turns else nothing_there
    decide = passed if result == "pass" else fail
    return decide(
        _critiques(parts),
        *list(refs)[:MAX_REFS],
        value=values[0] if len(values) == 1 else None,
    )


def _critiques(parts: Sequence[Verdict]) -> str:
    return " ".join(dict.fromkeys(part.critique for part in parts))
