"""JSON of strangers: what Python's reader lets through is refused with a reason."""

import json

import pytest
from helix_runtime.strict_json import MAX_DEPTH, strict_loads, why_unreadable
from hypothesis import given
from hypothesis import strategies as st

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(PLAIN)
def test_plain_data_comes_back_as_it_was(data: object) -> None:
    assert strict_loads(json.dumps(data)) == data


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('[{"b": {"a": 1, "a": 1}}]', "'a' stands twice"),
        ("[NaN]", "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ("[" * 100 + "]" * 100, "nested deeper"),
        ("[" * 100_000, "nested deeper"),
        ("[" + "9" * 5000 + "]", "digits"),
        ("{", "Expecting"),
        ("", "Expecting"),
    ],
)
def test_what_is_refused_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        strict_loads(text)


def test_the_allowed_depth_is_read() -> None:
    assert strict_loads("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None


def test_keys_keep_their_order() -> None:
    assert list(strict_loads('{"z": 1, "a": 2}')) == ["z", "a"]


def test_why_a_text_can_not_be_read_is_said_without_pythons_own_words() -> None:
    for text, said in (
        ("9" * 5_000, "a number of thousands of digits"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "not JSON: it breaks off"),
        ('{"a": "b', "not JSON: it breaks off"),
        (" ", "empty"),
        ("garbage", "not JSON: expecting value (column 1)"),
        ('{"a": 1,\n"b" 2}', "not JSON: expecting ':' delimiter (line 2, column 5)"),
        ('{"a": 1} x', "not JSON: extra data (column 10)"),
    ):
        with pytest.raises((ValueError, RecursionError)) as caught:
            json.loads(text)
        assert why_unreadable(caught.value) == said
    with pytest.raises(UnicodeDecodeError) as undecodable:
        b"caf\xe9".decode()
    assert why_unreadable(undecodable.value) == "not UTF-8: the byte 0xe9"
    # As PowerShell writes what is redirected into a file.
    with pytest.raises(UnicodeDecodeError) as undecodable:
        "{}".encode("utf-16").decode()
    assert why_unreadable(undecodable.value) == "not UTF-8 but UTF-16"
