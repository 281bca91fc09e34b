"""What became other since the baseline: criteria, and cases under criteria.

For people who look at a run; nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..folder import SuiteFolder
from ..journal import UNITS
from ..record import record
from .baseline import Baseline
from .difference import Outcome, compare
from .pairing import Why, Wordings, not_compared, pair_up
from .side import Side, read_side
from .yardstick import other_yardstick

MAX_MOVED: Final = 20
"""How many cases x criteria are listed that got worse, and that got better."""
_RANK: Final = {"CRIT": 0, "HIGH": 1, "MED": 2, "LOW": 3}


@record(kw_only=True)
class Turned:
    """A criterion whose verdict is another one than in the baseline.

    `before` is None where the baseline has no such criterion, `now` where the run has
    none; `comparable` says whether the same check or judge measured it.
    """

    criterion_id: str
    severity: str
    before: str | None
    now: str | None
    comparable: bool


@record(kw_only=True)
class Moved:
    """A case that passes more, or less, of its repeats under a criterion than before."""

    criterion_id: str
    severity: str
    case_id: str
    before: str
    now: str


@record(kw_only=True)
class Changes:
    """What became other since the baseline.

    `verdicts` is the baseline's gate and this run's; `version` the subject's then.
    `worse` and `better` are the first of so many, what gates first. `compared` counts
    the cases x criteria that are decided on both sides. `aside` says what was not
    compared. `place` is the baseline's folder where its runs would have to be judged
    again for that, None where nothing asks for it.
    """

    digest: str
    run: str
    version: str
    verdicts: tuple[str, str]
    turned: tuple[Turned, ...]
    worse: tuple[Moved, ...]
    worse_count: int
    better: tuple[Moved, ...]
    better_count: int
    compared: int
    aside: tuple[str, ...]
    place: Path | None = None


def changes_in(
    run: Path, scorecard: Mapping[str, Any], baseline: Baseline, folder: SuiteFolder
) -> Changes:
    """Return what a finished run changed. Raises OSError, ValueError for its journal."""
    now = read_side(run / UNITS)
    return changes_of(scorecard, now, baseline, Wordings(folder.rows))


def changes_of(
    scorecard: Mapping[str, Any], now: Side, baseline: Baseline, wordings: Wordings
) -> Changes:
    """Return what became other between a baseline and a run."""
    criteria = sorted(scorecard["criteria"], key=lambda one: _RANK[one["severity"]])
    moves = _Moves(baseline, now, wordings)
    turned: list[Turned] = []
    for one in criteria:
        name = one["criterionId"]
        before = baseline.criteria.get(name)
        hindrance = other_yardstick(
            baseline,
            name,
            is_judged=one["class"] != "code",
            pin=scorecard["pin"],
            marks=now.yardsticks.get(name, ()),
            was_asked=name in now.judged,
        )
        comparable = hindrance is None
        was = None if before is None else before["verdict"]
        if was != one["verdict"]:
            turned.append(_turned(one, was, one["verdict"], comparable))
        if comparable:
            moves.add(one)
        elif before is not None:
            moves.other.append(name)
    here = {one["criterionId"] for one in criteria}
    for name, one in baseline.criteria.items():
        if name not in here:
            turned.append(_turned(one, one["verdict"], None, False))
    card = baseline.card
    return Changes(
        digest=baseline.digest,
        run=str(card["run"].get("id")),
        version=str(card["subject"].get("version")),
        verdicts=(card["gate"]["verdict"], scorecard["gate"]["verdict"]),
        turned=tuple(turned),
        worse=tuple(moves.worse[:MAX_MOVED]),
        worse_count=len(moves.worse),
        better=tuple(moves.better[:MAX_MOVED]),
        better_count=len(moves.better),
        compared=moves.compared,
        aside=moves.aside(),
        place=baseline.folder if moves.other else None,
    )


class _Moves:
    """The cases x criteria of two runs, as far as one yardstick measured both."""

    def __init__(self, baseline: Baseline, now: Side, wordings: Wordings) -> None:
        self._baseline = baseline
        self._now = now
        self._wordings = wordings
        self._others: dict[Why, set[str]] = {
            "edited": set(),
            "now": set(),
            "then": set(),
            "scope": set(),
        }
        self.other: list[str] = []
        self.worse: list[Moved] = []
        self.better: list[Moved] = []
        self.compared = 0

    def add(self, criterion: Mapping[str, Any]) -> None:
        """Take in the cases of a criterion, by their ids."""
        name = criterion["criterionId"]
        cases = dict(sorted(self._now.cases.get(name, {}).items()))
        found = pair_up(cases, self._baseline, name, self._wordings)
        for why, ids in found.others.items():
            self._others[why].update(ids)
        for case_id, outcome, before in found.pairs:
            if not (outcome[0] + outcome[1] and before[0] + before[1]):
                continue
            self.compared += 1
            way = compare(outcome, before)
            if way:
                moved = Moved(
                    criterion_id=name,
                    severity=criterion["severity"],
                    case_id=case_id,
                    before=_words(before),
                    now=_words(outcome),
                )
                (self.worse if way < 0 else self.better).append(moved)

    def aside(self) -> tuple[str, ...]:
        """Return what was not compared, in words."""
        # What is out of scope under one criterion may count under another.
        said = not_compared({**self._others, "scope": ()})
        if not self.other:
            return said
        names = ", ".join(f"`{name}`" for name in self.other[:_MAX_NAMES])
        more = len(self.other) - _MAX_NAMES
        names += f" and {more:,} more" if more > 0 else ""
        verb = "was" if len(self.other) == 1 else "were"
        return (*said, f"{names} {verb} decided by another check or judge then")


_MAX_NAMES: Final = 5


def _turned(
    one: Mapping[str, Any], before: str | None, now: str | None, comparable: bool
) -> Turned:
    return Turned(
        criterion_id=one["criterionId"],
        severity=one["severity"],
        before=before,
        now=now,
        comparable=comparable,
    )


def _words(outcome: Outcome) -> str:
    """Return what a case came to: `pass`, `fail`, or how many of its repeats pass."""
    passes, fails, _ = outcome
    if passes + fails == 1:
        return "pass" if passes else "fail"
    return f"{passes:,} of {passes + fails:,} pass"
