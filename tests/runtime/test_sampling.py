"""A sample: the seed and the traces alone decide it, and each strategy keeps its word."""

import statistics
import tracemalloc
from collections import Counter
from random import Random
from typing import Any

import pytest
from helix_runtime.observing.sampling import (
    STRATEGIES,
    Candidate,
    Chosen,
    Measures,
    Standing,
    Strategy,
    sampler,
)
from helix_runtime.observing.standings import Standings
from helix_runtime.record import replace
from helix_runtime.unit import Unit, Verification
from helix_runtime.verdict import BlockedBy, Verdict
from hypothesis import given
from hypothesis import strategies as st
from support.runs import CODE, judged

MEASURED = st.fixed_dictionaries(
    {},
    optional={
        "steps": st.integers(0, 60),
        "tokens": st.integers(0, 400),
        "latency": st.integers(0, 500),
        "errors": st.integers(0, 3),
    },
)
STANDINGS = st.builds(
    Standing,
    failing=st.integers(0, 3),
    worst=st.integers(1, 4),
    open=st.integers(0, 2),
    passing=st.booleans(),
    doubt=st.sampled_from([0.0, 0.2, 0.5]),
)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        key=st.integers(0, 10**6).map(lambda n: n.to_bytes(16, "big")),
        measures=MEASURED,
        stratum=st.sampled_from([None, "a", "b", "c", "d", "e"]),
        error=st.sampled_from([False, False, True]),
        failed_calls=st.integers(0, 2),
        standing=st.none() | STANDINGS,
    ),
    max_size=80,
    unique_by=lambda candidate: candidate.key,
)


def draw(
    candidates: list[Candidate],
    strategy: Strategy = "random",
    *,
    number: int = 10,
    seed: str = "0",
    balance: bool = False,
) -> list[Chosen]:
    measures = Measures()
    choice = sampler(
        strategy, number=number, seed=seed, measures=measures, balance=balance
    )
    for candidate in candidates:
        measures.add(candidate.measures)
        choice.add(candidate)
    return choice.take(number)


def many(number: int, **more: Any) -> list[Candidate]:
    return [Candidate(n.to_bytes(16, "big"), **more) for n in range(number)]


def keys(chosen: list[Chosen]) -> list[int]:
    return [int.from_bytes(one.key, "big") for one in chosen]


@given(
    CANDIDATES,
    st.sampled_from(STRATEGIES),
    st.integers(1, 100),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_the_order_and_repetitions_of_traces_change_nothing(
    candidates: list[Candidate],
    strategy: Strategy,
    number: int,
    balance: bool,
    rng: Random,
) -> None:
    first = draw(candidates, strategy, number=number, balance=balance)
    again = list(candidates)
    rng.shuffle(again)
    assert draw(again, strategy, number=number, balance=balance) == first
    if strategy != "outlier":  # whose medians count a repetition
        more = [*again, *again[:7]]
        assert draw(more, strategy, number=number, balance=balance) == first
    assert len(first) <= number
    assert len({one.key for one in first}) == len(first)


@given(CANDIDATES, st.integers(1, 100), st.booleans())
def test_a_random_sample_is_as_large_as_it_can_be(
    candidates: list[Candidate], number: int, balance: bool
) -> None:
    chosen = draw(candidates, number=number, balance=balance)
    assert len(chosen) == min(number, len(candidates))


def test_another_seed_draws_others_and_each_trace_has_its_chance() -> None:
    candidates = many(40)
    assert keys(draw(candidates, seed="1")) != keys(draw(candidates, seed="2"))
    drawn = Counter(
        key for seed in range(400) for key in keys(draw(candidates, seed=str(seed)))
    )
    # 100 times each is expected: 4000 draws of 40 traces, standard deviation 8.7.
    assert len(drawn) == 40
    assert 60 < min(drawn.values()) and max(drawn.values()) < 140


# -- outliers --------------------------------------------------------------------------


@given(CANDIDATES, st.integers(1, 30))
def test_outliers_are_those_of_the_largest_score_of_all(
    candidates: list[Candidate], number: int
) -> None:
    def score(candidate: Candidate) -> float:
        best = 0.0
        for name, value in candidate.measures.items():
            values = [c.measures[name] for c in candidates if name in c.measures]
            median = statistics.median(values)
            away = [abs(v - median) for v in values]
            mad = statistics.median(away)
            if mad:
                best = max(best, 0.6745 * abs(value - median) / mad)
            elif any(away):
                best = max(
                    best, abs(value - median) / (1.253314 * statistics.fmean(away))
                )
        return best

    scores = sorted(map(score, candidates), reverse=True)[:number]
    found = draw(candidates, "outlier", number=number)
    assert [one.score for one in found] == pytest.approx(
        [s for s in scores if s > 0], rel=1e-9
    )


def test_an_outlier_says_what_tells_it_from_the_others() -> None:
    candidates = [
        Candidate(n.to_bytes(16, "big"), measures={"steps": 4 + n % 3, "errors": 0})
        for n in range(20)
    ]
    candidates.append(Candidate(b"x" * 16, measures={"steps": 90, "errors": 0}))
    (found,) = draw(candidates, "outlier", number=1)
    assert found.key == b"x" * 16
    assert found.why == "steps 90 where the median is 5 (score 57.3)"


def test_among_traces_that_are_all_alike_is_no_outlier() -> None:
    assert draw(many(30, measures={"steps": 4, "tokens": 100}), "outlier") == []


# -- what a run decided ----------------------------------------------------------------


def test_failures_come_worst_first_and_nothing_else_comes() -> None:
    candidates = [
        Candidate(b"\1" * 16, standing=Standing(failing=9, worst=2)),
        Candidate(b"\2" * 16, standing=Standing(failing=1, worst=4)),
        Candidate(b"\3" * 16, standing=Standing(failing=3, worst=4)),
        Candidate(b"\4" * 16, standing=Standing(passing=True, open=3)),
        Candidate(b"\5" * 16, error=True, standing=Standing(open=1)),
        Candidate(b"\6" * 16, failed_calls=4, standing=Standing(passing=True)),
    ]
    found = draw(candidates, "failure")
    assert [one.key[0] for one in found] == [3, 2, 1, 5]
    assert [one.why for one in found] == [
        "3 units failed, worst CRIT",
        "1 unit failed, worst CRIT",
        "9 units failed, worst MED",
        "the run ended in an error",
    ]


def test_without_a_run_a_failed_call_is_a_failure() -> None:
    candidates = [*many(3), Candidate(b"x" * 16, failed_calls=2)]
    (found,) = draw(candidates, "failure")
    assert found.why == "2 tool calls failed"


def test_doubts_come_undecided_first() -> None:
    candidates = [
        Candidate(b"\1" * 16, standing=Standing(passing=True, doubt=0.4)),
        Candidate(b"\2" * 16, standing=Standing(open=1)),
        Candidate(b"\3" * 16, standing=Standing(open=2, failing=1)),
        Candidate(b"\4" * 16, standing=Standing(passing=True)),
        Candidate(b"\5" * 16),
    ]
    found = draw(candidates, "uncertainty")
    assert [one.key[0] for one in found] == [3, 2, 1]
    assert [one.why for one in found] == [
        "2 units are undecided",
        "1 unit is undecided",
        "a judge was 60% sure",
    ]


@given(CANDIDATES, st.integers(1, 40))
def test_a_balanced_sample_is_half_and_half_as_far_as_both_reach(
    candidates: list[Candidate], number: int
) -> None:
    there = Counter(c.outcome for c in candidates)
    of = {c.key: c.outcome for c in candidates}
    got = Counter(of[c.key] for c in draw(candidates, number=number, balance=True))
    decided = min(number, there["fail"] + there["pass"])
    assert got["fail"] + got["pass"] == decided
    half = decided // 2
    assert got["fail"] >= min(half, there["fail"])
    assert got["pass"] >= min(half, there["pass"])


# -- strata ----------------------------------------------------------------------------


@given(CANDIDATES, st.integers(1, 100))
def test_no_stratum_has_two_more_than_another_that_could_have_more(
    candidates: list[Candidate], number: int
) -> None:
    there = Counter(c.stratum for c in candidates if c.stratum is not None)
    got = Counter(one.why for one in draw(candidates, "stratified", number=number))
    assert sum(got.values()) == min(number, sum(there.values()))
    for name, size in there.items():
        if got[name] < size:
            assert max(got.values()) <= got[name] + 1


def test_of_more_strata_than_traces_to_draw_each_is_drawn_once() -> None:
    candidates = [
        Candidate(n.to_bytes(16, "big"), stratum=f"s{n % 500}") for n in range(2_000)
    ]
    got = Counter(one.why for one in draw(candidates, "stratified", number=7))
    assert len(got) == 7 and set(got.values()) == {1}
    other = draw(candidates, "stratified", number=7, seed="1")
    assert {one.why for one in other} != set(got)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_traces_and_strata_take_no_more_memory_than_few(
    strategy: Strategy,
) -> None:
    peaks = []
    for number in (2_000, 8_000):
        measures = Measures()
        choice = sampler(strategy, number=50, seed="0", measures=measures, balance=True)
        tracemalloc.start()
        for n in range(number):
            candidate = Candidate(
                (n * 7919).to_bytes(16, "big"),
                measures={"steps": n % 400, "tokens": (n * 31) % 500},
                stratum=f"s{n}",
                standing=Standing(failing=n % 2, worst=1, open=n % 3, passing=True),
            )
            measures.add(candidate.measures)
            choice.add(candidate)
        assert len(choice.take(50)) == 50
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.3 + 50_000, peaks


# -- standings -------------------------------------------------------------------------


def unit(
    result: Any, by: Any = "judge", criterion: str = "cites-order", **more: Any
) -> Unit:
    verdict = more.pop("verdict", {})
    if result == "uncertain":
        verdict["blocked_by"] = BlockedBy("scope", "x")
    return Unit(
        key="k",
        case_id="c",
        criterion_id=criterion,
        repeat=0,
        trace_id="t",
        verdict=Verdict(result=result, critique="x", **verdict),
        decided_by=by,
        **more,
    )


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([], None),
        ([unit("na", "scope"), unit("uncertain", "fidelity")], None),
        ([unit("pass"), unit("fail")], Standing(1, 3, 0, True, 0.0)),
        ([unit("fail", "code", "short")], Standing(1, 1, 0, False, 0.0)),
        ([unit("error"), unit("uncertain", "code")], Standing(0, 0, 2, False, 0.0)),
        (
            [
                unit("pass", verdict={"confidence": 0.75}),
                unit("pass", verdict={"confidence": 1}),
                unit("pass", "code", verdict={"confidence": 0.1}),
            ],
            Standing(0, 0, 0, True, 0.25),
        ),
        (
            [unit("pass", verification=Verification(result="abstained"))],
            Standing(0, 0, 1, True, 0.0),
        ),
        (
            [unit("fail", verification=Verification(result="upheld"))],
            Standing(1, 3, 0, False, 0.0),
        ),
        ([unit("fail", "code", "unheard-of")], Standing(1, 1, 0, False, 0.0)),
        ([unit("fail")] * 70_000, Standing(65_535, 3, 0, False, 0.0)),
    ],
)
def test_the_standing_of_a_trace_is_what_its_units_came_to(
    units: list[Unit], expected: Standing | None
) -> None:
    criteria = [judged(), replace(CODE, severity="LOW")]
    with Standings(criteria) as standings:
        for one in units:
            standings.add(one)
        assert standings.of("t") == expected
        assert standings.of("another") is None
