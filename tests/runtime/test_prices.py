"""Costs: known from a table or from the owner, else unknown, and never zero for that."""

from helix_runtime.judges.prices import LISTED, Price, price_of
from helix_runtime.unit import JudgeUsage


def test_tokens_cost_by_the_million() -> None:
    price = Price(input=2.0, output=8.0)
    assert price.cost(JudgeUsage(input_tokens=500_000, output_tokens=250_000)) == 3.0


def test_cached_tokens_cost_what_the_cache_costs() -> None:
    usage = JudgeUsage(input_tokens=1_000_000, output_tokens=0, cached_tokens=400_000)
    assert Price(input=2.0, output=8.0, cached_input=0.5).cost(usage) == 1.4
    assert Price(input=2.0, output=8.0).cost(usage) == 2.0


def test_unknown_tokens_are_an_unknown_cost() -> None:
    assert Price(input=2.0, output=8.0).cost(JudgeUsage(input_tokens=5)) is None


def test_the_owners_price_goes_before_the_listed_one() -> None:
    own = Price(input=0.0, output=0.0)
    model = "gpt-4.1-2025-04-14"
    assert price_of(model, {}) == LISTED[model]
    assert price_of(model, {model: own}) == own


def test_an_alias_or_a_stranger_has_no_price() -> None:
    assert price_of("gpt-4.1", {}) is None
    assert price_of("qwen2.5-7b-instruct", {}) is None
