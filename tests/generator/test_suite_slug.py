"""The slug is a safe folder and package name whatever the subject's id is."""

import re

import pytest
from helix_gen.suite.slug import slug
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("subject_id", "expected"),
    [
        ("support-triage", "support-triage"),
        ("Support_Triage  v2", "support-triage-v2"),
        ("../x", "x"),
        ("C:\\x", "c-x"),
        ("Crème ﬁn", "creme-fin"),
        ("𝐝𝐞𝐟", "def"),
        ("--a--b--", "a-b"),
        ("a" * 59 + "-b", "a" * 59),
        ("STRASSE ß", "strasse-ss"),
    ],
)
def test_an_id_keeps_its_ascii_letters_and_digits(
    subject_id: str, expected: str
) -> None:
    assert slug(subject_id) == expected


@pytest.mark.parametrize("subject_id", ["", "🙂", "日本", "---", "\ud800", "\x00"])
def test_an_id_with_nothing_left_is_named_by_its_hash(subject_id: str) -> None:
    assert re.fullmatch(r"subject-[0-9a-f]{8}", slug(subject_id))


def test_two_ids_with_nothing_left_have_two_slugs() -> None:
    assert slug("日本") != slug("中国")


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(), max_size=80))
def test_a_slug_is_a_path_segment_of_plain_ascii(subject_id: str) -> None:
    result = slug(subject_id)
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?", result)
    assert slug(result) == result
