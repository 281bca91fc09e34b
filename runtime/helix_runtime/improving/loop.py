"""Whether the loop around an evaluation goes on: one pure function of its history.

A swing is one evaluation of the subject: a run. Between two swings an engineer changes
the subject; nothing here does. First the verdicts must hold still (variance), then they
must be right (accuracy). The loop ends when both hold, after so many swings, after so
much time, or when swing after swing brings nothing. No clock is read: how much time has
passed is passed in.
"""

from collections.abc import Sequence
from typing import Final, Literal

from ..decide import GateVerdict
from ..record import record
from ..spread import Steadiness

MAX_SWINGS: Final = 6
MAX_ELAPSED: Final = 30 * 60.0
"""Seconds of wall clock."""
PATIENCE: Final = 2
"""How many swings in a row may bring no improvement."""

Phase = Literal["variance", "accuracy"]
Reason = Literal[
    "full-green",
    "max-swings",
    "wall-clock",
    "no-improvement",
    "no-run",
    "unstable",
    "unmeasured",
    "failing",
    "open",
]
STOPS: Final[tuple[Reason, ...]] = (
    "full-green",
    "max-swings",
    "wall-clock",
    "no-improvement",
)


@record(kw_only=True)
class Swing:
    """What one evaluation came to.

    `failing` and `open` count the gating criteria that fail, or are indeterminate,
    over the whole or in a part of the gate; `failed` of `judged` units of gating
    criteria failed; `flapping` series of repeats do not agree.
    """

    run: str
    gate: GateVerdict
    stability: Steadiness
    failing: int = 0
    open: int = 0
    failed: int = 0
    judged: int = 0
    flapping: int = 0


@record(kw_only=True)
class Budget:
    """How long the loop may go on; `max_elapsed` is in seconds."""

    max_swings: int = MAX_SWINGS
    max_elapsed: float = MAX_ELAPSED
    patience: int = PATIENCE


@record(kw_only=True)
class LoopDecision:
    """Whether the loop stops, and why.

    `phase` is what the next swing is about, None where there is none. `best` is the
    place in the history (from 0) of the best swing, the earliest of several as good;
    `improved` says of each swing whether it is better than every one before it.
    """

    stops: bool
    reason: Reason
    why: str
    phase: Phase | None
    best: int | None
    improved: tuple[bool, ...]

    @property
    def is_green(self) -> bool:
        """Whether there is nothing left to do."""
        return self.reason == "full-green"


def decide_loop(
    swings: Sequence[Swing],
    *,
    elapsed: float | None = None,
    budget: Budget | None = None,
    allow_flapping: bool = False,
) -> LoopDecision:
    """Decide over the history of swings, the earliest first.

    `elapsed` is the seconds since the loop began, None where nobody watches the time.
    Success comes first: a swing that is green ends the loop as green whatever it took.
    `allow_flapping` takes the gate as it is, also where the verdicts were not shown
    to hold still.
    """
    limits = budget or Budget()
    improved, best = _progress(swings, allow_flapping)
    reason, why = _reason(swings, improved, elapsed, limits, allow_flapping)
    phase: Phase | None = None
    if reason not in STOPS:
        by_gate = allow_flapping or reason in ("failing", "open")
        phase = "accuracy" if by_gate else "variance"
    return LoopDecision(
        stops=phase is None,
        reason=reason,
        why=why,
        phase=phase,
        best=best,
        improved=improved,
    )


def _reason(
    swings: Sequence[Swing],
    improved: Sequence[bool],
    elapsed: float | None,
    limits: Budget,
    allow_flapping: bool,
) -> tuple[Reason, str]:
    last = swings[-1] if swings else None
    holds = last is not None and (allow_flapping or last.stability == "stable")
    if last is not None and holds and last.gate == "pass":
        still = "" if allow_flapping else ", and its verdicts hold still"
        return "full-green", f"the gate of {last.run} passes{still}"
    if len(swings) >= limits.max_swings:
        return "max-swings", f"{_counted(len(swings))} of {limits.max_swings} are done"
    if elapsed is not None and elapsed >= limits.max_elapsed:
        return (
            "wall-clock",
            f"{elapsed:g} of {limits.max_elapsed:g} seconds have passed",
        )
    stale = _stale(improved)
    if stale >= limits.patience:
        return "no-improvement", f"{_counted(stale)} in a row brought no improvement"
    if last is None:
        return "no-run", "there is no swing yet"
    if not holds:
        if last.stability == "unstable":
            return (
                "unstable",
                f"verdicts of {last.run} flap ({last.flapping} series of repeats): its "
                "accuracy means nothing before they hold still",
            )
        why = "no repeats were compared"
        if last.stability == "under-sampled":
            why = "too few repeats are decided"
        return (
            "unmeasured",
            f"whether the verdicts of {last.run} hold still is not known: {why}",
        )
    if last.gate == "fail":
        return "failing", f"{last.run} fails: {_criteria(last.failing)} not met"
    return "open", f"{last.run} is incomplete: {_criteria(last.open)} indeterminate"


def _progress(
    swings: Sequence[Swing], allow_flapping: bool
) -> tuple[tuple[bool, ...], int | None]:
    """Whether each swing is better than all before it, and which one is the best."""
    improved: list[bool] = []
    best: int | None = None
    for place, swing in enumerate(swings):
        better = best is None or (
            standing(swing, allow_flapping) < standing(swings[best], allow_flapping)
        )
        improved.append(better)
        if better:
            best = place
    return tuple(improved), best


def standing(swing: Swing, allow_flapping: bool = False) -> tuple[float, ...]:
    """Return where a swing stands: the smaller in the order of its parts is the better.

    First that the verdicts hold still: stable, then the fewer flapping series, then
    what is not known. Then the fewer gating criteria that fail, the fewer that are
    indeterminate, and the smaller share of units that failed.
    """
    share = swing.failed / swing.judged if swing.judged else 0.0
    accuracy = (float(swing.failing), float(swing.open), share)
    if allow_flapping:
        return accuracy
    unrest = 0.0
    if swing.stability == "unstable":
        unrest = float(max(swing.flapping, 1))
    elif swing.stability != "stable":
        unrest = float("inf")
    return (unrest, *accuracy)


def _stale(improved: Sequence[bool]) -> int:
    """How many swings at the end, in a row, brought no improvement."""
    stale = 0
    for better in reversed(improved):
        if better:
            break
        stale += 1
    return stale


def _counted(number: int) -> str:
    return "1 swing" if number == 1 else f"{number} swings"


def _criteria(number: int) -> str:
    return f"{number} gating " + ("criterion is" if number == 1 else "criteria are")
