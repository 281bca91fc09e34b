"""The dataset grows: what the spec adds arrives, what its owner did to a row stays."""

import json
from collections.abc import Mapping

import pytest
from helix_gen.reconcile.rows import MergedRows, merge_rows, read_memory, write_memory
from hypothesis import given
from hypothesis import strategies as st


def line(row_id: str, query: str) -> str:
    return json.dumps({"id": row_id, "query": query}, separators=(",", ":"))


def text(rows: Mapping[str, str]) -> bytes:
    return "".join(line(i, q) + "\n" for i, q in rows.items()).encode()


def first(rows: Mapping[str, str]) -> MergedRows:
    return merge_rows(memory={}, yours=None, new=text(rows))


def second(before: MergedRows, yours: bytes, rows: Mapping[str, str]) -> MergedRows:
    return merge_rows(memory=before.memory, yours=yours, new=text(rows))


def test_a_new_row_of_the_spec_is_appended() -> None:
    before = first({"a": "1"})
    merged = second(before, before.text, {"b": "2", "a": "1"})
    assert merged.text == text({"a": "1", "b": "2"})
    assert merged.changes.appended == ("b",)


def test_a_rewording_stays_also_when_the_spec_rewords_the_row() -> None:
    before = first({"a": "1"})
    yours = text({"a": "mine"})
    for query in ("1", "spec"):
        merged = second(before, yours, {"a": query})
        assert merged.text == yours
        assert merged.changes.reworded == ("a",)
        again = second(merged, yours, {"a": query})
        assert again.text == yours


def test_a_row_that_nobody_touched_follows_the_spec() -> None:
    before = first({"a": "1", "b": "2"})
    merged = second(before, before.text, {"a": "one", "b": "2"})
    assert merged.text == text({"a": "one", "b": "2"})
    assert merged.changes.updated == ("a",)


def test_a_removed_row_stays_away_and_is_listed() -> None:
    before = first({"a": "1", "b": "2"})
    merged = second(before, text({"b": "2"}), {"a": "1", "b": "2"})
    assert merged.text == text({"b": "2"})
    assert merged.changes.removed == ("a",)


def test_a_row_that_left_the_spec_stays_and_is_listed() -> None:
    before = first({"a": "1", "b": "2"})
    merged = second(before, before.text, {"b": "2"})
    assert merged.text == before.text
    assert merged.changes.retired == ("a",)


def test_a_row_that_left_was_removed_and_came_back_stays_away() -> None:
    before = first({"a": "1", "b": "2"})
    left = second(before, text({"b": "2"}), {"b": "2"})
    back = second(left, left.text, {"a": "1", "b": "2"})
    assert back.text == text({"b": "2"})
    assert back.changes.removed == ("a",)


def test_rows_of_the_owner_are_never_touched() -> None:
    before = first({"a": "1"})
    yours = text({"mine": "x"}) + before.text
    merged = second(before, yours, {"a": "1", "b": "2"})
    assert merged.text == yours + text({"b": "2"})
    assert merged.changes.own == 1


def test_lines_that_are_no_rows_are_kept_word_for_word() -> None:
    before = first({"a": "1"})
    yours = b'{"id": 7}\n\n# a note\n' + before.text + b'{"id":"torn","qu'
    merged = second(before, yours, {"a": "1", "b": "2"})
    assert merged.text == yours + b"\n" + text({"b": "2"})
    lines = [line for line, _ in merged.changes.unreadable]
    assert lines == [1, 3, 5]
    assert merged.changes.unreadable[0][1] == "it has no id"


def test_a_row_in_which_a_key_stands_twice_is_named_and_not_taken_for_removed() -> None:
    before = first({"a": "1", "b": "2"})
    yours = before.text.replace(b'"query":"1"', b'"query":"1","query":"3"')
    merged = second(before, yours, {"a": "one", "b": "2"})
    assert merged.text == yours
    ((line, why),) = merged.changes.unreadable
    assert line == 1 and "the key 'query' stands twice" in why
    assert merged.changes.removed == ()
    assert merged.changes.reworded == ()


def test_a_row_that_a_tool_wrote_with_other_white_space_is_no_rewording() -> None:
    before = first({"a": "1", "b": "2"})
    yours = b'{"id": "a", "query": "1"}\n{"id": "b", "query": "2"}\n'
    same = second(before, yours, {"a": "1", "b": "2"})
    assert same.text == yours
    assert same.changes.reworded == ()
    merged = second(before, yours, {"a": "one", "b": "2"})
    assert merged.text == text({"a": "one"}) + b'{"id": "b", "query": "2"}\n'


def test_a_byte_order_mark_and_crlf_stay() -> None:
    before = first({"a": "1"})
    yours = b"\xef\xbb\xbf" + before.text.replace(b"\n", b"\r\n")
    merged = second(before, yours, {"a": "one", "b": "2"})
    assert merged.text == b"\xef\xbb\xbf" + text({"a": "one", "b": "2"}).replace(
        b"\n", b"\r\n"
    )


def test_the_memory_survives_the_disk_with_any_id() -> None:
    ids = ["a b", "\u2028", 'quo"te', "back\\slash", "émoji 🦊", "\n"]
    memory = {row_id: f"{n:016x}" for n, row_id in enumerate(ids)}
    data = write_memory(memory)
    assert read_memory(data) == memory
    assert read_memory(data.replace(b"\n", b"\r\n")) == memory
    assert list(read_memory(data)) == ids


IDS = st.sampled_from("abcdefgh")
SPEC = st.dictionaries(IDS, st.sampled_from(["1", "2"]))


@given(
    specs=st.lists(SPEC, min_size=1, max_size=4),
    rewords=st.sets(IDS),
    removes=st.sets(IDS),
    own=st.lists(st.sampled_from(["x", "y"]), unique=True),
)
def test_no_row_of_the_owner_is_ever_lost_and_none_comes_back(
    specs: list[dict[str, str]], rewords: set[str], removes: set[str], own: list[str]
) -> None:
    merged = first(specs[0])
    rows = dict(specs[0])
    yours = {i: "mine" if i in rewords else q for i, q in rows.items()}
    yours = {i: q for i, q in yours.items() if i not in removes}
    yours |= dict.fromkeys(own, "mine")
    gone = rows.keys() & removes
    reworded = {i for i, q in yours.items() if q == "mine"}
    disk = text(yours)
    for spec in specs[1:]:
        merged = second(merged, disk, spec)
        disk = merged.text
        after = {r["id"]: r["query"] for r in map(json.loads, disk.splitlines())}
        assert gone.isdisjoint(after)
        assert all(after[i] == "mine" for i in reworded)
        assert spec.keys() - gone <= after.keys()
        assert list(after)[: len(yours)] == list(yours)
        assert second(merged, disk, spec).text == disk


@pytest.mark.parametrize(
    "line", [b"short x", b"0" * 16 + b' "torn', b"0" * 16 + b" " + b"[" * 100_000]
)
def test_a_memory_that_is_none_is_named_by_its_line(line: bytes) -> None:
    with pytest.raises(ValueError, match="line 2 is not a digest and an id"):
        read_memory(b"0" * 16 + b' "a"\n' + line + b"\n")
