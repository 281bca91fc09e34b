"""Near-duplicates: exact against a comparison of all pairs, and not quadratic."""

import random
from fractions import Fraction

from helix_runtime.growing.near_duplicates import (
    THRESHOLD,
    NearDuplicates,
    Tokens,
    tokens_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

LIMIT = Fraction(*THRESHOLD)


def jaccard(first: Tokens, second: Tokens) -> Fraction:
    return Fraction(len(first & second), len(first | second))


def similar(first: Tokens, second: Tokens) -> bool:
    return jaccard(first, second) >= LIMIT


def first_by_comparing_all(
    sets: list[Tokens], looked_for: Tokens, limit: Fraction = LIMIT
) -> int | None:
    for number, tokens in enumerate(sets):
        if jaccard(tokens, looked_for) >= limit:
            return number
    return None


# Few tokens, so that sets overlap, and sizes around where the fifth of a set rounds.
SETS = st.frozensets(st.sampled_from("abcdefghijklmno"), min_size=1, max_size=14)


SHARES = st.one_of(st.just(LIMIT), st.fractions(Fraction(1, 10), 1, max_denominator=20))


@settings(max_examples=400, deadline=None)
@given(st.lists(SETS, max_size=40), SETS, st.booleans(), SHARES)
def test_the_first_that_is_similar_is_found_as_by_comparing_all(
    sets: list[Tokens], looked_for: Tokens, counted: bool, limit: Fraction
) -> None:
    index: NearDuplicates[int] = NearDuplicates(
        sets if counted else (), threshold=limit.as_integer_ratio()
    )
    for number, tokens in enumerate(sets):
        index.add(tokens, number)
    found = first_by_comparing_all(sets, looked_for, limit)
    assert index.find(looked_for) == found


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_also_among_long_sets_of_a_common_template(seed: int) -> None:
    dice = random.Random(seed)
    template = [f"w{n}" for n in range(30)]

    def near() -> Tokens:
        words = dice.sample(template, dice.randint(20, 30))
        words += [f"x{dice.randint(0, 8)}" for _ in range(dice.randint(0, 6))]
        return frozenset(words)

    sets = [near() for _ in range(40)]
    index: NearDuplicates[int] = NearDuplicates(sets)
    for number, tokens in enumerate(sets):
        index.add(tokens, number)
    for looked_for in [*(near() for _ in range(20)), *sets]:
        assert index.find(looked_for) == first_by_comparing_all(sets, looked_for)


class Counted(frozenset[str]):
    """A set that counts how often it is compared with another."""

    compared = 0

    def __and__(self, other: object) -> frozenset[str]:
        Counted.compared += 1
        return frozenset.__and__(self, other)  # type: ignore[operator]


def comparisons(count: int) -> int:
    """How many pairs are compared where all but a name is the same in all texts."""
    texts = [f"what is the state of my order {n} and where is it" for n in range(count)]
    sets = [Counted(tokens_of(t) | {f"a{i}", f"b{i}"}) for i, t in enumerate(texts)]
    index: NearDuplicates[int] = NearDuplicates(sets)
    Counted.compared = 0
    for number, tokens in enumerate(sets):
        assert index.find(tokens) is None
        index.add(tokens, number)
    return Counted.compared


def test_texts_of_one_template_are_not_all_compared() -> None:
    assert comparisons(3_000) <= 3_000


def test_tokens_are_words_without_case_and_punctuation() -> None:
    assert tokens_of("Where's  ORDER R-1001?") == {"where", "s", "order", "r", "1001"}
    assert tokens_of("ＦＵＬＬ width") == {"full", "width"}


def test_a_script_without_spaces_has_tokens_too() -> None:
    first = tokens_of("我想退回上周买的杯子")
    assert similar(first, tokens_of("我想退回上周买的杯子。"))
    assert not similar(first, tokens_of("请告诉我退货的期限是多久"))
    assert tokens_of("iPhone的价格") == {"iphone", "的价", "价格"}


def test_a_text_without_words_is_its_own_token_and_an_empty_one_has_none() -> None:
    assert tokens_of(" ??? ") == {"???"}
    assert tokens_of("  ") == frozenset()


def test_a_set_without_tokens_is_like_nothing() -> None:
    index: NearDuplicates[str] = NearDuplicates()
    index.add(frozenset(), "empty")
    assert index.find(frozenset()) is None


def test_of_equal_sets_the_first_key_is_found() -> None:
    index: NearDuplicates[str] = NearDuplicates()
    index.add(frozenset("ab"), "first")
    index.add(frozenset("ab"), "second")
    assert index.find(frozenset("ab")) == "first"
