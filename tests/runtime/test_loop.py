"""When the loop around an evaluation ends: the pure function over its history."""

from typing import Any

from helix_runtime.improving.loop import (
    MAX_SWINGS,
    STOPS,
    Budget,
    LoopDecision,
    Swing,
    decide_loop,
    standing,
)
from hypothesis import given
from hypothesis import strategies as st


def swing(gate: Any = "fail", stability: Any = "stable", **more: Any) -> Swing:
    values: dict[str, Any] = {"run": "r", "gate": gate, "stability": stability}
    if gate == "fail":
        values |= {"failing": 1, "failed": 1, "judged": 10}
    if gate == "incomplete":
        values |= {"open": 1, "judged": 10}
    return Swing(**(values | more))


GREEN = swing("pass", judged=10)


def decide(*swings: Swing, **more: Any) -> LoopDecision:
    return decide_loop(swings, **more)


def failing(*numbers: int) -> list[Swing]:
    return [swing(failing=number) for number in numbers]


# -- each end -----------------------------------------------------------------------


def test_green_needs_a_gate_that_passes_and_verdicts_that_hold_still() -> None:
    done = decide(swing(), GREEN)
    assert done.stops and done.is_green and done.reason == "full-green"
    assert done.phase is None and done.best == 1
    for stability in ("unstable", "under-sampled", "not-measured"):
        again = decide(swing("pass", stability, judged=10))
        assert not again.stops and again.phase == "variance"


def test_success_comes_before_every_limit() -> None:
    swings = [*failing(*[1] * 7), GREEN]
    assert decide(*swings, elapsed=1e9).reason == "full-green"


def test_a_green_swing_of_before_does_not_end_a_loop_that_went_on() -> None:
    assert not decide(GREEN, swing()).is_green


def test_the_sixth_swing_is_the_last() -> None:
    swings = failing(9, 8, 7, 6, 5, 4)
    assert not decide(*swings[:-1]).stops
    assert decide(*swings).reason == "max-swings"
    assert decide(*swings, budget=Budget(max_swings=7)).reason == "failing"


def test_half_an_hour_ends_it_and_only_where_the_time_is_told() -> None:
    assert decide(swing(), elapsed=1799.9).reason == "failing"
    assert decide(swing(), elapsed=1800).reason == "wall-clock"
    assert decide(elapsed=1800).reason == "wall-clock"
    assert not decide(swing(), elapsed=None).stops


def test_two_swings_in_a_row_without_improvement_end_it() -> None:
    assert decide(*failing(3, 3)).reason == "failing"
    assert decide(*failing(3, 3, 3)).reason == "no-improvement"
    assert decide(*failing(3, 3, 2)).reason == "failing"
    assert decide(*failing(3, 3), budget=Budget(patience=1)).reason == "no-improvement"


def test_coming_back_to_where_it_was_is_no_improvement() -> None:
    done = decide(*failing(2, 3, 2))
    assert done.reason == "no-improvement"
    assert done.improved == (True, False, False) and done.best == 0


# -- the order: variance, then accuracy ---------------------------------------------


def test_accuracy_is_not_looked_at_while_verdicts_flap() -> None:
    first = decide(swing(stability="unstable", flapping=2))
    assert first.reason == "unstable" and first.phase == "variance"
    assert decide(swing(stability="not-measured")).phase == "variance"
    assert decide(swing()).phase == "accuracy"
    assert decide(swing("incomplete")).reason == "open"


def test_less_flapping_is_an_improvement_whatever_the_accuracy() -> None:
    swings = [
        swing(stability="not-measured", failing=1),
        swing(stability="unstable", flapping=5, failing=2),
        swing(stability="unstable", flapping=3, failing=3),
        swing(stability="stable", failing=4),
    ]
    assert decide(*swings).improved == (True, True, True, True)


def test_the_gate_can_be_taken_as_it_is() -> None:
    done = decide(swing("pass", "unstable"), allow_flapping=True)
    assert done.is_green
    assert decide(swing("fail", "unstable"), allow_flapping=True).phase == "accuracy"


def test_a_fail_that_became_open_is_better_and_fewer_failing_units_are() -> None:
    better = [
        swing(failing=1, open=0, failed=5),
        swing(failing=1, open=0, failed=4),
        swing("incomplete", failing=0, open=3, failed=0),
        swing("incomplete", failing=0, open=1, failed=0),
    ]
    assert decide(*better).improved == (True,) * 4


def test_no_swing_yet_asks_for_the_first() -> None:
    first = decide()
    assert (first.stops, first.reason, first.phase, first.best) == (
        False,
        "no-run",
        "variance",
        None,
    )


# -- for every history --------------------------------------------------------------

COUNTS = st.integers(0, 6)


@st.composite
def swings(draw: st.DrawFn) -> Swing:
    stability: Any = draw(
        st.sampled_from(("stable", "unstable", "under-sampled", "not-measured"))
    )
    gate: Any = draw(st.sampled_from(("pass", "fail", "incomplete")))
    judged = draw(st.integers(0, 50))
    return Swing(
        run=draw(st.text(max_size=3)),
        gate=gate,
        stability=stability,
        failing=0 if gate != "fail" else draw(st.integers(1, 6)),
        open=0 if gate == "pass" else draw(COUNTS),
        failed=draw(st.integers(0, judged)),
        judged=judged,
        flapping=draw(st.integers(1, 6)) if stability == "unstable" else 0,
    )


HISTORIES = st.lists(swings(), max_size=9)
ELAPSED = st.none() | st.floats(0, 4000)
BUDGETS = st.builds(
    Budget,
    max_swings=st.integers(1, 8),
    max_elapsed=st.floats(0.1, 3000),
    patience=st.integers(1, 4),
)


@given(HISTORIES, ELAPSED, BUDGETS, st.booleans())
def test_every_history_is_decided_and_the_reason_is_true(
    history: list[Swing], elapsed: float | None, budget: Budget, anyway: bool
) -> None:
    done = decide_loop(history, elapsed=elapsed, budget=budget, allow_flapping=anyway)
    assert done == decide_loop(
        history, elapsed=elapsed, budget=budget, allow_flapping=anyway
    )
    assert done.stops == (done.reason in STOPS) == (done.phase is None)
    last = history[-1] if history else None
    green = bool(
        last and last.gate == "pass" and (anyway or last.stability == "stable")
    )
    assert done.is_green == green
    if green:
        return
    over = len(history) >= budget.max_swings
    late = elapsed is not None and elapsed >= budget.max_elapsed
    best = [standing(one, anyway) for one in history]
    tail = history[-budget.patience :]
    stale = len(history) > budget.patience and all(
        min(best[:place]) <= best[place]
        for place in range(len(history) - len(tail), len(history))
    )
    assert done.stops == (over or late or stale)
    if done.phase == "accuracy":
        assert anyway or (last is not None and last.stability == "stable")


@given(st.lists(swings(), min_size=MAX_SWINGS, max_size=12))
def test_no_loop_is_longer_than_its_swings(history: list[Swing]) -> None:
    assert decide_loop(history).stops


@given(HISTORIES, st.floats(0, 4000), st.floats(0, 4000))
def test_time_only_ever_ends_a_loop(
    history: list[Swing], one: float, other: float
) -> None:
    early, late = sorted((one, other))
    before = decide_loop(history, elapsed=early)
    after = decide_loop(history, elapsed=late)
    assert not before.stops or after.stops
    assert before.is_green == after.is_green


@given(HISTORIES)
def test_the_best_swing_is_not_beaten(history: list[Swing]) -> None:
    done = decide_loop(history)
    if done.best is None:
        assert not history
        return
    first = standing(history[done.best])
    assert all(first <= standing(one) for one in history)
    assert all(first < standing(one) for one in history[: done.best])
