"""Names: valid, distinct, readable, and the same whatever else stands in the spec."""

import keyword
import random

import pytest
from helix_gen.emit import names as names_module
from helix_gen.emit.names import MAX_LENGTH, RESERVED, Scope, ascii_words, taken
from hypothesis import given
from hypothesis import strategies as st
from support.nasty_texts import NASTY

SCOPE = Scope("check", taken(["Case", "expect"]))

ids = st.lists(st.one_of(st.text(max_size=80), st.sampled_from(NASTY)), max_size=30)


@given(ids)
def test_each_id_gets_a_valid_name_of_its_own(spec_ids: list[str]) -> None:
    names = SCOPE.allocate(spec_ids)
    assert list(dict.fromkeys(spec_ids)) == sorted(names, key=spec_ids.index)
    assert len({name.casefold() for name in names.values()}) == len(set(spec_ids))
    for name in names.values():
        assert name.isascii() and name.isidentifier()
        assert not keyword.iskeyword(name) and not keyword.issoftkeyword(name)
        assert name not in RESERVED and name not in SCOPE.taken


@given(ids, st.randoms(use_true_random=False))
def test_the_order_of_the_ids_changes_no_name(
    spec_ids: list[str], shuffle: random.Random
) -> None:
    shuffled = list(spec_ids)
    shuffle.shuffle(shuffled)
    assert SCOPE.allocate(shuffled) == SCOPE.allocate(spec_ids)


@given(ids, ids)
def test_a_name_stays_when_ids_that_read_otherwise_come_and_go(
    spec_ids: list[str], others: list[str]
) -> None:
    before = SCOPE.allocate(spec_ids)
    after = SCOPE.allocate([*others, *spec_ids])
    words = {ascii_words(other) for other in set(others) - set(spec_ids)}
    for spec_id, name in before.items():
        collides = any(
            word == ascii_words(spec_id) or f"{word}_check" == name or word == name
            for word in words
        )
        assert collides or after[spec_id] == name


@pytest.mark.parametrize(
    ("spec_id", "expected"),
    [
        ("no-unapproved-write", "no_unapproved_write"),
        ("NoUnapprovedWrite", "no_unapproved_write"),
        ("pass^3 >= 1", "pass_3_1"),
        ("class", "class_check"),
        ("match", "match_check"),
        ("json", "json_check"),
        ("conftest", "conftest_check"),
        ("con", "con_check"),
        ("LPT1", "lpt1_check"),
        ("Case", "case_check"),
        ("expect", "expect_check"),
        ("\U0001d41d\U0001d41e\U0001d41f", "def_check"),
        ("\uff23\uff2f\uff2e", "con_check"),
        ("1st", "check_1st"),
        ("Prüfung-Größe", "prufung_gro_e"),
        ("../x", "x"),
        ("C:\\x", "c_x"),
        ("__init__", "init"),
        ("self", "self_check"),
    ],
)
def test_a_name_reads_like_its_id(spec_id: str, expected: str) -> None:
    assert SCOPE.allocate([spec_id])[spec_id] == expected


@pytest.mark.parametrize("spec_id", ["", "😀", "日本語", "—", "\x00", "\ud800", "__"])
def test_an_id_that_leaves_nothing_is_named_after_its_hash(spec_id: str) -> None:
    name = SCOPE.allocate([spec_id])[spec_id]
    assert name.startswith("check_") and len(name) == len("check_") + 8


def test_ids_that_differ_in_spelling_only_are_told_apart_in_any_order() -> None:
    found = SCOPE.allocate(["A_b", "a_b", "a-b", "\ufb01", "fi"])
    assert found["a-b"] == "a_b" and found["fi"] == "fi"
    for other in ("A_b", "a_b"):
        assert found[other].startswith("a_b_")
    assert found["\ufb01"].startswith("fi_")
    assert SCOPE.allocate(["a_b", "x", "a-b"])["a_b"] == found["a_b"]


def test_a_long_id_is_cut_at_a_word_and_keeps_its_hash() -> None:
    spec_id = "every-answer-cites-the-record-that-it-was-taken-from-in-full"
    name = SCOPE.allocate([spec_id])[spec_id]
    assert len(name) <= MAX_LENGTH
    assert name.startswith("every_answer_cites_the_record_that_")
    other = SCOPE.allocate([spec_id + "-or-not"])[spec_id + "-or-not"]
    assert other != name


def test_a_suffix_never_takes_a_name_that_another_id_has() -> None:
    suffixed = SCOPE.allocate(["a-b", "a_b"])["a_b"]
    found = SCOPE.allocate(["a-b", "a_b", suffixed])
    assert len(set(found.values())) == 3


def test_the_reserved_words_cover_those_of_this_python() -> None:
    import builtins
    import sys

    words = {*keyword.kwlist, *keyword.softkwlist} - {"_"}
    assert words <= names_module.KEYWORDS
    lower = {name for name in dir(builtins) if name.islower() and name[0] != "_"}
    assert lower <= names_module.BUILTINS | names_module.KEYWORDS
    known = set(sys.stdlib_module_names) | {"conftest", "pytest", "test", "tests"}
    assert names_module.MODULES <= known
