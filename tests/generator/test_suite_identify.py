"""Content ids of many rows at once are those of each row."""

from helix_gen.suite.identify import identify
from helix_runtime.canonical import fnv1a_64
from hypothesis import given
from hypothesis import strategies as st


def one_by_one(rows: list[bytes]) -> list[str]:
    return [fnv1a_64(row) for row in rows]


@given(st.lists(st.binary(max_size=40), max_size=60))
def test_each_row_has_the_id_that_it_has_alone(rows: list[bytes]) -> None:
    assert identify(rows) == one_by_one(rows)


def test_rows_of_every_length_and_more_than_go_together() -> None:
    rows = [bytes([n % 256, 255, 0]) * (n * 7 % 90) for n in range(1500)]
    assert identify(rows) == one_by_one(rows)


def test_one_long_row_among_short_ones() -> None:
    rows = [b"ab"] * 40 + [b"x" * 200_000] + [b""] * 9
    assert identify(rows) == one_by_one(rows)


def test_the_values_of_the_specification() -> None:
    assert identify([b"", b"a", b"foobar"] * 5)[:3] == [
        "cbf29ce484222325",
        "af63dc4c8601ec8c",
        "85944171f73967e8",
    ]
