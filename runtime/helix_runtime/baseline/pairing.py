"""The cases of two runs brought together: one case, one wording, under one criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, Final, Literal

from ..case import Case
from ..journal import case_mark
from ..record import record
from .baseline import Baseline
from .difference import Outcome

Cases = Mapping[str, tuple[str, Outcome]]
"""The mark of the wording and the outcome of each case, by its id."""

_NONE: Final[Outcome] = (0, 0, 0)


class Wordings:
    """Tells whether two marks are of one wording of a case.

    A run over `dataset.jsonl` marks a row as it is spelled there, one over packets as
    the row's content: the `rows` of the dataset, each with the hash of its line, tell
    that both are one. They are read only where marks differ.
    """

    def __init__(self, rows: Callable[[], Iterable[tuple[Case, str]]]) -> None:
        self._rows = rows
        self._marks: dict[str, set[str]] | None = None

    def same(self, case_id: str, first: str, second: str) -> bool:
        """Whether both are marks of one wording."""
        if first == second:
            return True
        if self._marks is None:
            self._marks = {
                case.id: {case_mark(line), case_mark(case.digest)}
                for case, line in self._rows()
            }
        return {first, second} <= self._marks.get(case_id, set())


@record(kw_only=True)
class PairedUp:
    """The cases of a criterion that two runs have in common, and those that they have not.

    `pairs` are (case id, outcome now, outcome then); `others` are ids of the cases that
    do not count, by why.
    """

    pairs: tuple[tuple[str, Outcome, Outcome], ...]
    others: Mapping[Why, tuple[str, ...]]


Why = Literal["edited", "now", "then", "scope"]
"""A case was edited since, is in one of the runs alone, or in scope in one alone."""
_WORDS: Final[Mapping[Why, str]] = {
    "edited": "edited since",
    "now": "in this run alone",
    "then": "in the baseline alone",
    "scope": "in scope in one of the two alone",
}


def not_compared(others: Mapping[Why, Sized]) -> tuple[str, ...]:
    """Return how many cases do not count, and why, in words."""
    return tuple(
        f"1 case is {what}" if count == 1 else f"{count:,} cases are {what}"
        for why, what in _WORDS.items()
        if (count := len(others[why]))
    )


def pair_up(
    now: Cases, baseline: Baseline, criterion_id: str, wordings: Wordings
) -> PairedUp:
    """Return the cases of a criterion by pairs, in the order of `now`.

    Units that the baseline lacks are open: where it has any, so is each case that it does
    not show.
    """
    then = baseline.side.cases.get(criterion_id, {})
    lacks = _lacking(baseline, criterion_id)
    pairs: list[tuple[str, Outcome, Outcome]] = []
    others: dict[Why, list[str]] = {why: [] for why in _WORDS}
    for case_id, (mark, outcome) in now.items():
        before = then.get(case_id)
        if before is None:
            if outcome == _NONE:
                continue
            if lacks(_NONE):
                pairs.append((case_id, outcome, (0, 0, lacks(_NONE))))
            else:
                others["now"].append(case_id)
            continue
        told, (passes, fails, still_open) = before
        if outcome == _NONE == before[1]:
            continue
        if not wordings.same(case_id, mark, told):
            others["edited"].append(case_id)
        elif outcome == _NONE or before[1] == _NONE:
            others["scope"].append(case_id)
        else:
            still_open += lacks(before[1])
            pairs.append((case_id, outcome, (passes, fails, still_open)))
    others["then"] = [
        case_id
        for case_id, (_, outcome) in then.items()
        if case_id not in now and outcome != _NONE
    ]
    return PairedUp(
        pairs=tuple(pairs), others={why: tuple(ids) for why, ids in others.items()}
    )


def _lacking(baseline: Baseline, criterion_id: str) -> Callable[[Outcome], int]:
    """Return what tells how many units of a case may be missing in the baseline.

    Of a subject that was called the repeats tell; of recorded runs nobody knows how many
    a case has: one more, then.
    """
    counts: Mapping[str, Any] = baseline.criteria[criterion_id]["counts"]
    run = baseline.card["run"]
    if not counts["missing"]:
        return lambda outcome: 0
    if run["target"] is None:
        return lambda outcome: 1
    return lambda outcome: max(int(run["repeats"]) - sum(outcome), 0)
