"""Train, dev and test: disjoint by case, in their shares, and never moved by more labels."""

from collections import Counter
from typing import Any

import pytest
from helix_runtime.labels.file import WORDS, Label
from helix_runtime.labels.splits import SHARES, SPLITS, Splits, split_by_hash
from hypothesis import given
from hypothesis import strategies as st


def label(trace: str, criterion: str = "polite", word: Any = "pass") -> Label:
    return Label(trace_id=trace, criterion_id=criterion, label=word)


IDS = st.sampled_from([f"case-{number}" for number in range(60)])
LABELS = st.lists(
    st.builds(
        label,
        st.builds(
            lambda case, end: case + end, IDS, st.sampled_from(["", "-r0", "#2"])
        ),
        st.sampled_from(["polite", "true"]),
        st.sampled_from(WORDS),
    ),
    max_size=80,
)


@given(before=LABELS, more=LABELS)
def test_what_is_added_moves_nothing(before: list[Label], more: list[Label]) -> None:
    then, now = Splits(before), Splits([*before, *more])
    for one in before:
        assert then.of(one.trace_id) == now.of(one.trace_id)


@given(labels=LABELS)
def test_all_runs_of_a_case_are_in_one_split(labels: list[Label]) -> None:
    splits = Splits(labels)
    for one in labels:
        case = one.trace_id.partition("-r")[0].partition("#")[0]
        assert splits.of(one.trace_id) == splits.of(case) == splits.of(f"{case}-r7")
        assert splits.of(one.trace_id) in SPLITS


@pytest.mark.parametrize("many", [30, 200, 1500])
def test_every_criterion_and_label_is_split_in_its_shares(many: int) -> None:
    words = {"pass": many, "fail": many // 3, "underdetermined": many // 10}
    labels = [
        label(f"{criterion} {word} {number}", criterion, word)
        for criterion in ("polite", "true")
        for word, count in words.items()
        for number in range(count)
    ]
    splits = Splits(labels)
    for criterion in ("polite", "true"):
        for word, count in words.items():
            found = Counter(
                splits.of(one.trace_id)
                for one in labels
                if (one.criterion_id, one.label) == (criterion, word)
            )
            for split in SPLITS:
                behind = SHARES[split] * count - found[split]
                assert behind < max(1.0, count / 20) + 1, (criterion, word, found)


@given(
    ids=st.lists(st.text(min_size=1), min_size=10, max_size=60, unique=True),
    seed=st.text(),
)
def test_no_split_stays_empty_for_long(ids: list[str], seed: str) -> None:
    ids = [f"x{n} {i}" for n, i in enumerate(ids)]
    splits = Splits([label(name) for name in ids], seed=seed)
    assert {splits.of(name) for name in ids} == set(SPLITS)


def test_the_hash_alone_gives_the_shares() -> None:
    found = Counter(split_by_hash(f"case-{number}") for number in range(20_000))
    for split in SPLITS:
        assert abs(found[split] / 20_000 - SHARES[split]) < 0.015


def test_the_order_of_later_labels_of_a_case_is_of_no_weight() -> None:
    first = [label(f"c-{number}") for number in range(40)]
    again = [label(f"c-{number}", "true", "fail") for number in range(40)]
    one = Splits([*first, *again])
    other = Splits([*first, *reversed(again)])
    assert all(one.of(f"c-{n}") == other.of(f"c-{n}") for n in range(40))


def test_another_seed_is_another_split() -> None:
    labels = [label(f"c-{number}") for number in range(40)]
    one, other = Splits(labels), Splits(labels, seed="another")
    assert any(one.of(x.trace_id) != other.of(x.trace_id) for x in labels)


@given(labels=LABELS, groups=st.lists(st.lists(IDS, max_size=4), max_size=6))
def test_copies_are_in_the_split_of_the_first_of_them(
    labels: list[Label], groups: list[list[str]]
) -> None:
    alone, splits = Splits(labels), Splits(labels, copies=groups)
    for group in groups:
        assert len({splits.of(case) for case in group}) <= 1
    for one in labels:
        # What nobody need know of copies to tell, nobody who knows tells otherwise.
        if splits.is_first(one.trace_id):
            assert splits.of(one.trace_id) == alone.of(one.trace_id)


@given(labels=LABELS, case=IDS, word=st.sampled_from(WORDS))
def test_where_a_run_would_be_is_where_it_comes_to_be(
    labels: list[Label], case: str, word: str
) -> None:
    expected = Splits(labels).would_be(case, "polite", word)
    assert Splits([*labels, label(case, "polite", word)]).of(case) == expected


def test_what_is_not_labelled_is_in_no_split() -> None:
    assert Splits([label("c-1")]).of("c-2") is None
    assert Splits([]).of("c-1") is None
