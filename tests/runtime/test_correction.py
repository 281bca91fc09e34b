"""The corrected rate, and an interval that holds what it promises."""

from random import Random

import pytest
from helix_runtime.stats import drawn_again
from helix_runtime.trust.correction import (
    NO_GAIN,
    Observed,
    Outcome,
    correct,
    corrected_rate,
    rates,
)
from hypothesis import given, settings
from hypothesis import strategies as st

RIGHT_PASS: Outcome = (1, 0, 0, 0)
WRONG_FAIL: Outcome = (0, 1, 0, 0)
RIGHT_FAIL: Outcome = (0, 0, 1, 0)
WRONG_PASS: Outcome = (0, 0, 0, 1)

SHARES = st.floats(0, 1)
OUTCOMES = st.dictionaries(
    st.tuples(*[st.integers(0, 2)] * 4).filter(any),
    st.integers(1, 30),
    min_size=1,
    max_size=6,
)
OBSERVED = st.dictionaries(
    st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.integers(1, 60),
    min_size=1,
    max_size=5,
)


def labelled(tp: int, fn: int, tn: int, fp: int) -> dict[Outcome, int]:
    counts = {RIGHT_PASS: tp, WRONG_FAIL: fn, RIGHT_FAIL: tn, WRONG_PASS: fp}
    return {outcome: count for outcome, count in counts.items() if count}


def single(passes: int, fails: int) -> dict[Observed, int]:
    return {(1, 1): passes, (0, 1): fails}


def test_the_published_example_comes_out() -> None:
    assert corrected_rate(0.80, tpr=0.92, tnr=0.88) == pytest.approx(0.85)
    found = correct(labelled(92, 8, 88, 12), single(800, 200), seed="s")
    assert found is not None and found[0] == pytest.approx(0.85)


@given(truth=SHARES, tpr=SHARES, tnr=SHARES)
def test_it_undoes_what_an_erring_judge_does_to_a_rate(
    truth: float, tpr: float, tnr: float
) -> None:
    seen = truth * tpr + (1 - truth) * (1 - tnr)
    found = corrected_rate(seen, tpr=tpr, tnr=tnr)
    if tpr + tnr - 1 <= NO_GAIN:
        assert found is None
    else:
        assert found == pytest.approx(truth, abs=1e-9)


@given(observed=SHARES, tpr=SHARES, tnr=SHARES)
def test_it_is_a_share_or_nothing(observed: float, tpr: float, tnr: float) -> None:
    found = corrected_rate(observed, tpr=tpr, tnr=tnr)
    assert found is None or 0 <= found <= 1


@pytest.mark.parametrize(("tpr", "tnr"), [(0.5, 0.5), (1.0, 0.0), (0.3, 0.6)])
def test_a_judge_that_guesses_corrects_nothing(tpr: float, tnr: float) -> None:
    assert corrected_rate(0.7, tpr=tpr, tnr=tnr) is None
    outcomes = labelled(*[round(100 * x) for x in (tpr, 1 - tpr, tnr, 1 - tnr)])
    assert correct(outcomes, single(70, 30), seed="s") is None


def test_without_labels_of_both_classes_or_verdicts_there_is_nothing() -> None:
    assert rates(labelled(3, 1, 0, 0)) == (0.75, None)
    assert correct(labelled(30, 1, 0, 0), single(5, 5), seed="s") is None
    assert correct(labelled(0, 0, 30, 2), single(5, 5), seed="s") is None
    assert correct({}, single(5, 5), seed="s") is None
    assert correct(labelled(30, 1, 30, 1), {}, seed="s") is None


@settings(max_examples=40, deadline=None)
@given(outcomes=OUTCOMES, observed=OBSERVED)
def test_the_interval_holds_the_rate_and_no_order_or_rerun_changes_it(
    outcomes: dict[Outcome, int], observed: dict[Observed, int]
) -> None:
    found = correct(outcomes, observed, seed="s")
    backwards = correct(
        dict(reversed(outcomes.items())), dict(reversed(observed.items())), seed="s"
    )
    assert found == backwards
    if found is not None:
        rate, (low, high) = found
        assert 0 <= low <= rate <= high <= 1
        assert low < high, "an interval never collapses"


def test_more_labels_and_more_verdicts_narrow_it() -> None:
    def width(times: int, verdicts: int) -> float:
        outcomes = labelled(18 * times, 2 * times, 17 * times, 3 * times)
        found = correct(outcomes, single(14 * verdicts, 6 * verdicts), seed="s")
        assert found is not None
        return found[1][1] - found[1][0]

    assert width(1, 10) > width(5, 10) > width(25, 10)
    assert width(5, 1) > width(5, 10)


def test_a_judge_that_did_not_err_yet_is_not_held_for_infallible() -> None:
    found = correct(labelled(20, 0, 20, 0), single(60, 40), seed="s")
    assert found is not None and found[0] == pytest.approx(0.6)
    low, high = found[1]
    alone = correct(labelled(2000, 0, 2000, 0), single(60, 40), seed="s")
    assert alone is not None
    assert low < alone[1][0] and high > alone[1][1]


def test_repeats_of_a_case_are_no_new_cases() -> None:
    outcomes = labelled(90, 10, 85, 15)
    apart = correct(outcomes, {(1, 1): 70, (0, 1): 30}, seed="s")
    together = correct(outcomes, {(10, 10): 7, (0, 10): 3}, seed="s")
    assert apart is not None and together is not None
    assert apart[0] == together[0]
    assert together[1][0] < apart[1][0] and together[1][1] > apart[1][1]


@pytest.mark.parametrize(
    ("truth", "tpr", "tnr", "labels", "verdicts"),
    [
        (0.7, 0.9, 0.85, 40, 200),
        (0.95, 0.97, 0.95, 21, 50),
        (0.1, 0.8, 0.8, 20, 100),
        (0.97, 1.0, 1.0, 20, 100),
    ],
)
def test_in_95_of_100_experiments_it_holds_the_truth(
    truth: float, tpr: float, tnr: float, labels: int, verdicts: int
) -> None:
    """Simulated: labels and verdicts are drawn, the interval must cover the truth."""
    rng = Random(f"{truth} {tpr} {tnr}")
    tries = 100

    def draw(chance: float, times: int) -> int:
        return sum(rng.random() < chance for _ in range(times))

    held = 0
    for number in range(tries):
        tp, tn = draw(tpr, labels), draw(tnr, labels)
        good = draw(truth, verdicts)
        passes = draw(tpr, good) + draw(1 - tnr, verdicts - good)
        found = correct(
            labelled(tp, labels - tp, tn, labels - tn),
            single(passes, verdicts - passes),
            seed=str(number),
        )
        held += found is not None and found[1][0] <= truth <= found[1][1]
    # 90 of 100 lies three standard errors below 95; the seeds are fixed.
    assert held >= 90


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=8), seed=st.integers(0))
def test_a_resample_draws_as_many_cases_as_there_are(
    counts: list[int], seed: int
) -> None:
    drawn = drawn_again(counts, Random(seed))
    assert sum(drawn) == sum(counts)
    assert not any(
        times for times, count in zip(drawn, counts, strict=True) if not count
    )
