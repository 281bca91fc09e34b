"""Intervals that keep a width, and estimates that are unbiased."""

from collections import Counter
from itertools import combinations, product
from random import Random

import pytest
from helix_runtime.stats import (
    _binomial,
    bootstrap_by_case,
    pass_at_k,
    pass_hat_k,
    wilson,
)
from hypothesis import given, settings
from hypothesis import strategies as st

GROUPS = st.dictionaries(
    st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.integers(1, 40),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize(
    ("passes", "total", "low", "high"),
    [
        (8, 10, 0.490162, 0.943318),
        (10, 10, 0.722467, 1.0),
        (0, 10, 0.0, 0.277533),
        (1, 1, 0.206549, 1.0),
        (950, 1000, 0.934687, 0.961874),
    ],
)
def test_wilson_gives_the_known_interval(
    passes: int, total: int, low: float, high: float
) -> None:
    assert list(wilson(passes, total)) == pytest.approx([low, high], abs=1e-5)


@given(
    st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
)
def test_wilson_holds_the_rate_and_never_collapses(counts: tuple[int, int]) -> None:
    passes, total = counts
    low, high = wilson(passes, total)
    assert 0 <= low <= passes / total <= high <= 1
    assert low < high


@given(st.integers(0, 7), st.integers(1, 7), st.integers(1, 7))
def test_pass_k_counts_the_subsets_of_the_repeats(
    passes: int, total: int, k: int
) -> None:
    passes, k = min(passes, total), min(k, total)
    outcomes = [True] * passes + [False] * (total - passes)
    subsets = list(combinations(outcomes, k))
    every = sum(map(all, subsets)) / len(subsets)
    some = sum(map(any, subsets)) / len(subsets)
    assert pass_hat_k(passes, total, k) == pytest.approx(every)
    assert pass_at_k(passes, total, k) == pytest.approx(some)


class Scripted:
    """A source of one given bit after the other."""

    def __init__(self, bits: tuple[int, ...]) -> None:
        self.bits = list(bits)

    def getrandbits(self, k: int) -> int:
        assert k == 1
        return self.bits.pop(0) if self.bits else 1


@pytest.mark.parametrize("share", range(9))
def test_a_trial_succeeds_on_exactly_its_share_of_the_random_fractions(
    share: int,
) -> None:
    # Eighths are decided after three bits, so all eight fractions can be tried.
    hits = [
        _binomial(1, share, 8, Scripted(bits))  # type: ignore[arg-type]
        for bits in product((0, 1), repeat=3)
    ]
    assert sum(hits) == share


@settings(max_examples=25)
@given(GROUPS, st.randoms())
def test_the_bootstrap_depends_on_content_alone(
    groups: dict[tuple[int, int], int], shuffler: object
) -> None:
    rows = [(float(passes), total, count) for (passes, total), count in groups.items()]
    first = bootstrap_by_case(rows, seed="s")
    shuffler.shuffle(rows)  # type: ignore[attr-defined]
    assert bootstrap_by_case(rows, seed="s") == first


@settings(max_examples=25)
@given(GROUPS)
def test_the_bootstrap_holds_the_rate_and_never_collapses(
    groups: dict[tuple[int, int], int],
) -> None:
    rows = [(float(passes), total, count) for (passes, total), count in groups.items()]
    low, high = bootstrap_by_case(rows, seed="s")
    rate = sum(p * n for p, _, n in rows) / sum(t * n for _, t, n in rows)
    assert 0 <= low <= rate <= high <= 1
    assert low < high


def test_all_cases_stable_gives_the_interval_of_as_many_independent_cases() -> None:
    # Five repeats of ten spotless cases are ten pieces of evidence, not fifty.
    assert bootstrap_by_case([(5.0, 5, 10)], seed="s") == wilson(10, 10)


def test_repeats_of_a_case_stay_together() -> None:
    # All-or-nothing cases: the interval is as wide as that of the cases, far wider
    # than that of as many independent repeats.
    low, high = bootstrap_by_case([(0.0, 10, 20), (10.0, 10, 20)], seed="s")
    narrow = wilson(200, 400)
    assert high - low > 2 * (narrow[1] - narrow[0])


def test_the_bootstrap_comes_close_to_the_binomial_where_cases_are_single() -> None:
    low, high = bootstrap_by_case([(0.0, 1, 100), (1.0, 1, 300)], seed="s")
    expected = wilson(300, 400)
    assert low == pytest.approx(expected[0], abs=0.015)
    assert high == pytest.approx(expected[1], abs=0.015)


def test_cases_that_all_fail_give_the_interval_of_as_many_too() -> None:
    assert bootstrap_by_case([(0.0, 5, 10)], seed="s") == wilson(0, 10)


@pytest.mark.parametrize(
    ("cases", "repeats", "rate", "alike"),
    [
        # `alike` is the correlation of the repeats of one case.
        (5, 5, 0.5, 0.3),
        (20, 5, 0.8, 1.0),
        (10, 3, 0.95, 0.5),
    ],
)
def test_in_95_of_100_experiments_the_bootstrap_holds_the_truth(
    cases: int, repeats: int, rate: float, alike: float
) -> None:
    """Simulated: cases differ (beta), their repeats are drawn; the truth is covered."""
    rng = Random(f"{cases} {rate} {alike}")
    # How far apart cases are: a = b = 0 is all or nothing.
    spread = (1 - alike) / alike

    def case() -> int:
        if spread:
            chance = rng.betavariate(rate * spread, (1 - rate) * spread)
        else:
            chance = float(rng.random() < rate)
        return sum(rng.random() < chance for _ in range(repeats))

    held = 0
    for number in range(100):
        found = Counter(case() for _ in range(cases))
        low, high = bootstrap_by_case(
            [(float(passes), repeats, n) for passes, n in found.items()],
            seed=str(number),
        )
        held += low <= rate <= high
    # Three standard errors below 95; the seeds are fixed.
    assert held >= 90
