"""Medians and spreads from buckets are those of the numbers themselves."""

import math
import statistics
from random import Random

import pytest
from helix_runtime.observing.distribution import Distribution
from hypothesis import given
from hypothesis import strategies as st

COUNTS = st.lists(st.integers(0, 511), min_size=1, max_size=200)
FIGURES = st.lists(
    st.floats(0, 1e15, allow_nan=False, allow_subnormal=False), min_size=1, max_size=200
)


def of(values: list[float]) -> Distribution:
    found = Distribution()
    for value in values:
        found.add(value)
    return found


@given(COUNTS)
def test_of_counts_all_is_exact(values: list[int]) -> None:
    scale = of([float(v) for v in values]).scale()
    assert scale is not None
    median = statistics.median(values)
    assert scale.median == median
    assert scale.mad == statistics.median([abs(v - median) for v in values])
    assert scale.mean_deviation == pytest.approx(
        statistics.fmean([abs(v - median) for v in values])
    )


@given(FIGURES)
def test_other_numbers_are_at_most_0_4_percent_too_low(values: list[float]) -> None:
    found = of(values)
    for share in (0.0, 0.5, 0.95, 1.0):
        exact = sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
        near = found.quantile(share)
        assert near is not None
        assert exact * (1 - 1 / 256) <= near <= exact
    assert (found.lowest, found.highest) == (min(values), max(values))


@given(FIGURES)
def test_no_figure_lies_outside_of_what_was_seen(values: list[float]) -> None:
    found = of(values)
    shown = found.to_record()
    for figure in (found.quantile(0.5), found.quantile(0.95)):
        assert figure is not None
        assert found.lowest <= figure <= found.highest
    assert shown["lowest"] <= shown["median"] <= shown["highest"]


@given(FIGURES, st.integers())
def test_the_order_leaves_no_trace(values: list[float], seed: int) -> None:
    again = list(values)
    Random(seed).shuffle(again)
    assert of(again).to_record() == of(values).to_record()
    assert of(again).scale() == of(values).scale()


def test_what_is_no_number_of_at_least_0_is_not_taken_in() -> None:
    found = Distribution()
    for value in (None, -1, math.nan, math.inf):
        found.add(value)
    assert found.to_record() == {"count": 0}
    assert found.scale() is None and found.quantile(0.5) is None


def test_a_million_different_numbers_take_a_few_thousand_buckets() -> None:
    found = Distribution()
    rng = Random(1)
    for _ in range(20_000):
        found.add(rng.uniform(0, 1e6))
    assert len(found._buckets) < 3_000
