"""Strangers' text can't move, hide or reorder what a terminal shows."""

import unicodedata

import pytest
from helix_runtime.safe_text import printable, printable_lines
from hypothesis import given
from hypothesis import strategies as st

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("𝐝𝐞𝐟 ﬁ 日本語 العربية é", "𝐝𝐞𝐟 ﬁ 日本語 العربية é"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\r\nb\tc\x00", "a\\r\\nb\\tc\\x00"),
        ("\x9b1A", "\\x9b1A"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("a\u2028b\u2029c\u0085d", "a\\u2028b\\u2029c\\x85d"),
        ("\ufeffbom\u200b", "\\ufeffbom\\u200b"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("", ""),
    ],
)
def test_each_dangerous_character_becomes_a_visible_escape(
    text: str, shown: str
) -> None:
    assert printable(text) == shown


@given(ANY_TEXT)
def test_no_control_format_surrogate_or_separator_survives(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    for character in shown:
        category = unicodedata.category(character)
        assert category not in ("Cc", "Cf", "Cs", "Zl", "Zp"), hex(ord(character))


@given(ANY_TEXT, st.integers(1, 40))
def test_a_limit_holds_and_a_cut_shows(text: str, limit: int) -> None:
    shown = printable(text, limit)
    whole = printable(text)
    assert len(shown) <= limit
    if len(whole) > limit:
        assert shown == whole[: limit - 1] + "…"
    else:
        assert shown == whole


@given(ANY_TEXT)
def test_printable_text_is_left_alone_when_shown_again(text: str) -> None:
    once = printable(text)
    assert printable(once) == once


def test_lines_are_kept_apart_and_nothing_else_ends_one() -> None:
    assert printable_lines("a\r\nb\tc\u2028d\re") == ["a", "b    c\\u2028d\\re"]
