"""Every row of a file of items is read, or is a fault with its line and column."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from helix_gen.problems import Position
from helix_gen.suite.rows import Rows, read_rows
from hypothesis import given, settings
from hypothesis import strategies as st


def rows_of(folder: Path, name: str, content: str | bytes) -> Rows:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_rows(path, name=name)


def data(rows: Rows) -> list[dict[str, Any]]:
    assert rows.shapeless is None, rows.shapeless
    assert not rows.faults, rows.faults
    return [row.data for row in rows.rows]


def faults(rows: Rows) -> list[tuple[int, int, str]]:
    return [(f.at.line, f.at.column, f.message) for f in rows.faults]


# -- JSON ------------------------------------------------------------------------------


def test_json_rows_stand_where_they_begin(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.json", '\ufeff[{"a": 1},\n  {"a": 2}]')
    assert data(rows) == [{"a": 1}, {"a": 2}]
    assert [row.at for row in rows.rows] == [Position(1, 2), Position(2, 3)]


@pytest.mark.parametrize("key", ["items", "cases", "rows", "data"])
def test_json_rows_may_stand_under_a_key(tmp_path: Path, key: str) -> None:
    text = f'{{"version": [1, {{}}], "{key}": [{{"a": 1}}], "more": 2}}'
    assert data(rows_of(tmp_path, "a.json", text)) == [{"a": 1}]


def test_a_torn_json_list_keeps_the_rows_before_the_tear(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.json", '[{"a": 1},\n {"a": ')
    assert [row.data for row in rows.rows] == [{"a": 1}]
    assert faults(rows) == [(2, 8, "the file breaks off")]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('[{"a": 1}\n {"a": 2}]', 2, 2), ('[{"a": 1},\n]', 2, 1), ("[nope]", 1, 2)],
)
def test_broken_json_is_located(
    tmp_path: Path, text: str, line: int, column: int
) -> None:
    ((at_line, at_column, message),) = faults(rows_of(tmp_path, "a.json", text))
    assert (at_line, at_column) == (line, column)
    assert message.startswith("not JSON")


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        ('[{"a": 1}]\n[{"a": 2}]', 2, 1, "more stands behind the rows"),
        ('[{"a": 1}] {', 1, 12, "more stands behind the rows"),
        ('{"rows": [{"a": 1}], "n": 1', 1, 28, "breaks off"),
        ('{"rows": [{"a": 1}], "n": }', 1, 27, "Expecting value"),
        ('{"rows": [{"a": 1}]} {"rows": []}', 1, 22, "more stands behind the rows"),
        ('{"rows": [{"a": 1}], "rows": [{"a": 2}]}', 1, 22, "a second `rows`"),
    ],
)
def test_what_stands_behind_the_rows_is_not_passed_over(
    tmp_path: Path, text: str, line: int, column: int, why: str
) -> None:
    rows = rows_of(tmp_path, "a.json", text)
    assert [row.data for row in rows.rows] == [{"a": 1}]
    ((at_line, at_column, message),) = faults(rows)
    assert (at_line, at_column) == (line, column)
    assert why in message


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("a.jsonl", '{"a": 1}\n{"b": 2}\n'.encode("utf-16"), "UTF-16", "as UTF-8"),
        (
            "a.jsonl",
            gzip.compress(b'{"a": 1}\n', mtime=0),
            "packed with gzip",
            "unpack",
        ),
        ("a.csv", gzip.compress(b"a\n1\n", mtime=0), "packed with gzip", "unpack"),
        ("a.jsonl", b'{\n "a": 1\n}\n{\n "a": 2\n}\n', "breaks off", "in one line"),
        ("a.jsonl", b'[\n {"a": 1}\n]\n', "breaks off", "in one line"),
        ("a.csv", b"a;b\n1;2\n", "not separated", "comma-separated"),
        ("a.csv", b"a,a\n1,2\n", "twice", "another name"),
        ("a.yaml", b"- a: 1\n---\n- a: 2\n", "second document", "split it"),
    ],
)
def test_a_file_of_another_make_is_one_fault_that_says_what_to_do(
    tmp_path: Path, name: str, content: bytes, message: str, hint: str
) -> None:
    (fault,) = rows_of(tmp_path, name, content).faults
    assert message in fault.message
    assert hint in fault.hint


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.json", "", "it is empty"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "it is JSON Lines: name it .jsonl"),
        ("a.json", "3", "not a list"),
        ("a.json", '{"a": {"id": 1}}', "no list of rows"),
        ("a.json", '["a", "b"]', "not objects"),
        ("a.json", "[]", "it has no rows"),
        ("a.json", '{"items": []}', "it has no rows"),
        ("a.yaml", "cases: []", "it has no rows"),
        ("a.jsonl", "\n \n", "it is empty"),
        ("a.jsonl", "1\n2\n", "not objects"),
        ("a.csv", "", "it is empty"),
        ("a.csv", "a,b\n", "no rows"),
        ("a.csv", ",\n1,2\n", "no header"),
        ("a.yaml", "", "it is empty"),
        ("a.yaml", "a: 1", "no list of rows"),
        ("a.yaml", "text", "not a list"),
    ],
)
def test_a_file_without_rows_says_what_it_is(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    rows = rows_of(tmp_path, name, text)
    assert rows.shapeless is not None
    assert why in rows.shapeless
    assert not rows.rows


def test_a_key_that_stands_twice_is_a_fault_of_its_row_alone(tmp_path: Path) -> None:
    rows = rows_of(
        tmp_path, "a.json", '[{"a": 1, "a": 2}, {"a": {"b": 1, "b": 1}}, {}]'
    )
    assert [row.data for row in rows.rows] == [{}]
    assert [message for *_, message in faults(rows)] == [
        "the key `a` stands twice in an object",
        "the key `b` stands twice in an object",
    ]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("depth", [70, 100_000])
def test_deep_nesting_is_a_fault_and_no_crash(
    tmp_path: Path, name: str, depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    text = f'[{{"a": {deep}}}]' if name == "a.json" else f'{{"a": {deep}}}\n{{"a": 1}}'
    rows = rows_of(tmp_path, name, text)
    ((line, _, message),) = faults(rows)
    assert (line, message) == (1, "nested more than 64 levels deep")
    if name == "a.jsonl":
        assert [row.data for row in rows.rows] == [{"a": 1}]


def test_wide_rows_are_not_deep(tmp_path: Path) -> None:
    wide = json.dumps([{"a": [[1]] * 200}])
    assert data(rows_of(tmp_path, "a.json", wide)) == json.loads(wide)


def test_a_number_too_long_to_read_does_not_stop_the_file(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.json", f'[{{"a": 1{"0" * 5000}}}, {{"a": 2}}]')
    assert [row.data for row in rows.rows] == [{"a": float("inf")}, {"a": 2}]


def test_lone_surrogates_are_read(tmp_path: Path) -> None:
    assert data(rows_of(tmp_path, "a.json", r'[{"a": "\ud800"}]')) == [{"a": "\ud800"}]


# -- JSON Lines ------------------------------------------------------------------------


def test_lines_are_split_at_line_feeds_alone(tmp_path: Path) -> None:
    text = '\ufeff{"a": "x\u2028y\x85z"}\r\n\r\n{"a": 2}'
    rows = rows_of(tmp_path, "a.jsonl", text)
    assert data(rows) == [{"a": "x\u2028y\x85z"}, {"a": 2}]
    assert [row.at.line for row in rows.rows] == [1, 3]


def test_each_broken_line_is_a_fault_and_the_others_are_read(tmp_path: Path) -> None:
    text = b'{"a": 1}\n{"a": 1} x\nnope\n{"b"\xff: 1}\n[1]\n{"a": 2}\n{"a": "to'
    rows = rows_of(tmp_path, "a.jsonl", text)
    assert [row.data for row in rows.rows] == [{"a": 1}, {"a": 2}]
    assert faults(rows) == [
        (2, 10, "not JSON: Extra data"),
        (3, 1, "not JSON: Expecting value"),
        (4, 5, "not UTF-8: the byte 0xff"),
        (5, 1, "a row is an object of fields and values"),
        (7, 7, "the line breaks off"),
    ]
    assert rows.excerpt(Position(3, 1)) == "nope"


@pytest.mark.parametrize("cut", ['{"a": 1, ', '{"a":', '{"a"', "{", '{"a": "b'])
def test_a_torn_line_is_said_to_break_off(tmp_path: Path, cut: str) -> None:
    rows = rows_of(tmp_path, "a.jsonl", '{"a": 1}\n' + cut)
    ((line, _, message),) = faults(rows)
    assert (line, message) == (2, "the line breaks off")


# -- CSV -------------------------------------------------------------------------------


def test_csv_reads_what_spreadsheets_write(tmp_path: Path) -> None:
    text = (
        "\ufeffid,query,case.path,expected.response\r\n"
        '1,"Say ""hi"",\r\nplease",happy,\r\n'
        "\r\n"
        "2,Bye,,It leaves\r\n"
    )
    rows = rows_of(tmp_path, "a.csv", text)
    assert data(rows) == [
        {"id": "1", "query": 'Say "hi",\r\nplease', "case": {"path": "happy"}},
        {"id": "2", "query": "Bye", "expected": {"response": "It leaves"}},
    ]
    assert [row.at.line for row in rows.rows] == [2, 5]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a,b,a\n1,2,3\n", 1, "names the column `a` twice"),
        ("a,,b\n1,2,3\n", 1, "has no name"),
        ("a;b\n1;2\n", 1, "not separated by commas"),
        ("a,b\n1,2\n1,2,3\n", 3, "3 cells under a header of 2"),
        ("a,b\n1\n", 2, "1 cell under a header of 2"),
        ('a,b\n1,"x"y\n', 2, "not CSV"),
        ('a,b\n1,2\n1,"x', 3, "not CSV"),
        ("a,a.b\n1,2\n", 2, "a value and a group both"),
        ("a.b,a\n1,2\n", 2, "a value and a group both"),
    ],
)
def test_csv_faults_are_located(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    ((at_line, _, message),) = faults(rows_of(tmp_path, "a.csv", text))
    assert at_line == line
    assert words in message


def test_a_large_cell_is_read_and_the_limit_is_put_back(tmp_path: Path) -> None:
    import csv

    limit = csv.field_size_limit()
    assert data(rows_of(tmp_path, "a.csv", "a\n" + "x" * 200_000))[0]["a"][:2] == "xx"
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_another_encoding_is_a_fault(tmp_path: Path, encoding: str) -> None:
    rows = rows_of(tmp_path, "a.csv", "a\nGröße\n".encode(encoding))
    ((_, _, message),) = faults(rows)
    assert message.startswith("not UTF-8")
    assert ("UTF-16" in message) == (encoding == "utf-16")


# -- YAML ------------------------------------------------------------------------------


def test_yaml_rows_stand_where_they_begin(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.yml", "items:\n  - a: no\n  - a: 2\n")
    assert data(rows) == [{"a": "no"}, {"a": 2}]
    assert [row.at.line for row in rows.rows] == [2, 3]


@pytest.mark.parametrize(
    "text", ["- a: 1\n- a: 1\n  a: 2\n", "- a: [1\n", "- a: .nan\n", "- !x 1\n"]
)
def test_broken_yaml_is_located(tmp_path: Path, text: str) -> None:
    rows = rows_of(tmp_path, "a.yaml", text)
    assert rows.faults
    assert not rows.rows


# -- all -------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=6),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), min_size=1)


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_json_and_json_lines_give_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    as_json = rows_of(folder, "a.json", json.dumps(rows, indent=1))
    as_lines = rows_of(folder, "a.jsonl", "\n".join(map(json.dumps, rows)))
    # A pair of surrogates is one character in JSON.
    meant = json.loads(json.dumps(rows))
    assert data(as_json) == data(as_lines) == meant


@settings(max_examples=50, deadline=None)
@given(
    st.binary(max_size=200), st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.yaml"])
)
def test_no_bytes_raise(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    rows = rows_of(tmp_path_factory.mktemp("rows"), name, content)
    for fault in rows.faults:
        assert fault.at.line >= 1 and fault.at.column >= 1
        rows.excerpt(fault.at)
