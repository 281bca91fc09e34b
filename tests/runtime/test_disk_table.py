"""A table of values by keys: the same in memory and in a file, and flat."""

import tracemalloc
from hashlib import blake2b

import pytest
from helix_runtime.disk_table import DiskTable
from hypothesis import given
from hypothesis import strategies as st

# Few different beginnings: keys that want the same place.
KEYS = st.builds(
    lambda start, end: start + end.to_bytes(8, "big"),
    st.sampled_from([bytes(8), b"\xff" * 8, bytes(7) + b"\x0f", bytes(7) + b"\x10"]),
    st.integers(0, 40),
)
STEPS = st.lists(st.tuples(KEYS, st.binary(min_size=3, max_size=3)), max_size=300)


@given(STEPS, st.sampled_from([0, 1, 5, 1000]))
def test_it_holds_what_a_dictionary_holds(
    steps: list[tuple[bytes, bytes]], in_memory: int
) -> None:
    expected: dict[bytes, bytes] = {}
    with DiskTable(3, in_memory=in_memory) as table:
        for key, value in steps:
            assert table.get(key) == expected.get(key)
            table.put(key, value)
            expected[key] = value
        assert {key: table.get(key) for key in expected} == expected
        assert table.get(b"\x77" * 16) is None


def test_it_grows_in_its_file_and_not_in_memory() -> None:
    peaks = []
    for number in (3_000, 12_000):
        tracemalloc.start()
        with DiskTable(4, in_memory=1_000) as table:
            for n in range(number):
                table.put(key(n), n.to_bytes(4, "big"))
            assert all(table.get(key(n)) == n.to_bytes(4, "big") for n in range(number))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 100_000, peaks


def key(number: int) -> bytes:
    return blake2b(str(number).encode(), digest_size=16).digest()


def test_a_closed_table_has_let_go_of_its_file() -> None:
    table = DiskTable(1, in_memory=0)
    table.put(key(1), b"x")
    places = table._file
    assert places is not None
    table.close()
    with pytest.raises(ValueError):
        places.get(key(1))
