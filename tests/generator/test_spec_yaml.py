"""YAML becomes plain data with places, by the rules of YAML 1.2, or is refused."""

import gc
import subprocess
import sys
from typing import Any

import pytest
import yaml
from helix_gen.problems import Position, Problem
from helix_gen.spec import yaml as reader
from helix_gen.spec.located import Located
from helix_gen.spec.yaml import read_yaml
from hypothesis import given
from hypothesis import strategies as st


def data_of(text: str) -> Any:
    source, problems = read_yaml(text.encode(), file="f.yaml")
    assert problems == []
    assert source is not None
    return source.data


def refused(text: str | bytes) -> list[tuple[str, int, int]]:
    data = text.encode() if isinstance(text, str) else text
    _, problems = read_yaml(data, file="f.yaml")
    assert all(problem.level == "error" for problem in problems)
    return [(p.code, p.position.line, p.position.column) for p in problems]


@pytest.fixture(params=["libyaml", "pure"])
def either_parser(request: pytest.FixtureRequest) -> None:
    if request.param == "libyaml":
        assert hasattr(yaml, "CSafeLoader"), "PyYAML has libyaml on every platform here"
        return
    request.getfixturevalue("monkeypatch").delattr(yaml, "CSafeLoader")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("012", "012"),
        ("1:30", "1:30"),
        ("2026-01-31", "2026-01-31"),
        ("0.3.0", "0.3.0"),
        ("1_000", "1_000"),
        ("<<", "<<"),
        ("=", "="),
        ("NaN", "NaN"),
        ("nothing", "nothing"),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("", None),
        ("true", True),
        ("False", False),
        ("-7", -7),
        ("+7", 7),
        ("0", 0),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("-.5e3", -500.0),
        ("1e3", 1000.0),
        ("6.", 6.0),
        ('"5"', "5"),
        ("'true'", "true"),
        ("|-\n  5", "5"),
    ],
)
@pytest.mark.usefixtures("either_parser")
def test_scalars_follow_the_core_schema_of_yaml_1_2(text: str, value: Any) -> None:
    found = data_of(f"a: {text}\n")["a"]
    assert found == value
    assert type(found) is type(value)


def test_negative_zero_keeps_its_sign() -> None:
    assert str(data_of("a: -0.0")["a"]) == "-0.0"


def test_keys_are_texts_as_they_are_written() -> None:
    assert data_of("1: a\ntrue: b\nnull: c\n1.50: d") == {
        "1": "a",
        "true": "b",
        "null": "c",
        "1.50": "d",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", [("HX006", 3, 1)]),
        ('a: 1\n"a": 2', [("HX006", 2, 1)]),
        ("{a: 1, b: {c: 1, c: 2}}", [("HX006", 1, 18)]),
        ("a: !!str 5\nb: !x [1]\nc: !y {}", [("HX007", i, 4) for i in (1, 2, 3)]),
        ("a: !!python/object:os.system x", [("HX007", 1, 4)]),
        ("a: 1\n---\nb: 2\n", [("HX008", 2, 1)]),
        ("[" * 65 + "]" * 65, [("HX009", 1, 65)]),
        ("a: [*b]", [("HX010", 1, 5)]),
        ("a: &x [1, *x]", [("HX010", 1, 11)]),
        ("? [a]\n: 1", [("HX011", 1, 3)]),
        ("? {a: b}\n: 1", [("HX011", 1, 3)]),
        ("a: 1e400", [("HX012", 1, 4)]),
        ("a: .nan\nb: -.INF", [("HX012", 1, 4), ("HX012", 2, 4)]),
        ("a: " + "9" * 5000, [("HX012", 1, 4)]),
        ("a: 0x" + "f" * 5000, [("HX012", 1, 4)]),
        ("x: &x {a: 1}\ny:\n  <<: *x", [("HX013", 3, 3)]),
        ("a: b: c", [("HX004", 1, 5)]),
        ("a:\n\t- b", [("HX004", 2, 1)]),
        ("a: [1", [("HX004", 1, 4)]),
        ("a: 'x\nb: 1\n", [("HX004", 1, 4)]),
        ("b: 1\na: {x: 1,\n  y: 2\n", [("HX004", 2, 4)]),
        ("a: [{x:\n\n", [("HX004", 1, 8)]),
        ("a: 1\rb: b: c\r", [("HX004", 2, 5)]),
        ("a: 1\r\nb: b: c\r\n", [("HX004", 2, 5)]),
        (b"\xff\xfea\x00", [("HX001", 1, 1)]),
        ("a: 1\n".encode("utf-16-le"), [("HX001", 1, 1)]),
        ("a: 1\n".encode("utf-16-be"), [("HX001", 1, 1)]),
        (b"a: 1\nb: \xc3(", [("HX001", 2, 4)]),
        (b"\xef\xbb\xbfa: \xff", [("HX001", 1, 4)]),
        ("a: x\x00y\nb: \x1b[31m", [("HX003", 1, 5), ("HX003", 2, 4)]),
        ("a: \x7f", [("HX003", 1, 4)]),
        ("\ufeff\ufeffa: 1", [("HX003", 1, 1)]),
        ("a: \ufffe", [("HX003", 1, 4)]),
    ],
)
@pytest.mark.usefixtures("either_parser")
def test_what_readers_would_differ_on_is_refused_at_its_place(
    text: str | bytes, expected: list[tuple[str, int, int]]
) -> None:
    assert refused(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: b: c", "put a value that holds"),
        ("a:\n\t- b", "indent with spaces"),
        ("a: 'x\n", "close the quote"),
        ("a: [1\n", "close the bracket"),
        ("a: @x", "in quotes"),
        ("a: *", "`*` in quotes"),
        ('a: "\\q"', "double the backslash"),
        ("- a\nb: c", "look for an indentation"),
        ("? [a]\n: 1", "write the key as a text"),
        ("[" * 65, "flatten"),
    ],
)
@pytest.mark.usefixtures("either_parser")
def test_what_is_no_yaml_is_told_what_to_do(text: str, hint: str) -> None:
    _, (problem,) = read_yaml(text.encode(), file="f.yaml")
    assert hint in problem.hint


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeff", "---\n", "\n\n"])
def test_an_empty_file_is_no_data_and_no_problem(text: str) -> None:
    assert data_of(text) is None


def test_a_byte_order_mark_is_dropped_and_shifts_no_place() -> None:
    source, problems = read_yaml("\ufeffa: [1, b]".encode(), file="f.yaml")
    assert problems == []
    assert source is not None
    assert source.position(("a", 1)) == Position(1, 8)


def test_a_file_over_the_limit_is_refused_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "MAX_BYTES", 10)
    assert refused(b"a: 1234567890") == [("HX002", 0, 0)]


def test_aliases_share_their_value_and_know_both_places() -> None:
    source, problems = read_yaml(b"a: &x {k: 1}\nb: *x\nc: [*x, 2]\n", file="f")
    assert problems == []
    assert source is not None
    assert source.data == {"a": {"k": 1}, "b": {"k": 1}, "c": [{"k": 1}, 2]}
    assert source.position(("b",)) == Position(2, 4)
    assert source.position(("b", "k")) == Position(1, 11)
    assert source.position(("c", 1)) == Position(3, 9)


def test_aliases_that_expand_without_bound_stop_at_the_budget() -> None:
    lines = ["a0: &a0 [" + "x, " * 9 + "x]"]
    for i in range(1, 12):
        lines.append(f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]")
    assert [code for code, _, _ in refused("\n".join(lines))] == ["HX010"]


def test_levels_count_through_aliases() -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 100)]
    assert [code for code, _, _ in refused("\n".join(lines))] == ["HX009"]


def test_64_levels_are_read() -> None:
    assert data_of("[" * 64 + "]" * 64)


@pytest.mark.usefixtures("either_parser")
def test_characters_that_only_some_call_line_breaks_shift_no_place() -> None:
    text = 'a: "x\u2028y\u2029z\u0085w"\nb: x\u2028y\nc: [1, 2]\r\nd: 3\n'
    source, problems = read_yaml(text.encode(), file="f")
    assert problems == []
    assert source is not None
    assert source.data["a"] == "x\u2028y\u2029z\u0085w"
    assert source.data["b"] == "x\u2028y"
    assert source.position(("c", 1)) == Position(3, 8)
    assert source.position(("d",), "key") == Position(4, 1)


@pytest.mark.usefixtures("either_parser")
def test_a_lone_surrogate_has_no_way_in() -> None:
    assert [code for code, _, _ in refused('a: "\\ud800"')] == ["HX004"]


def test_escapes_may_hold_what_the_file_may_not() -> None:
    assert data_of(r'a: "\0\e\x07\N\u202e"') == {"a": "\0\x1b\x07\x85\u202e"}


def test_a_missing_part_is_placed_at_the_last_that_is_there() -> None:
    source, _ = read_yaml(b"a:\n  - b: 1\n", file="f")
    assert source is not None
    assert source.position(("a", 0, "c")) == Position(2, 5)
    assert source.position(("a", 7)) == Position(2, 3)
    assert source.position(("z",)) == Position(1, 1)
    assert source.get(("a", 0, "c")) is None


def test_the_collector_is_on_again_afterwards() -> None:
    assert gc.isenabled()
    read_yaml(b"a: [", file="f")
    assert gc.isenabled()


def test_a_repeated_key_loses_to_the_first_and_keeps_the_places_right() -> None:
    source, problems = read_yaml(b"a: 1\na: [2, 3]\nb: 4\n", file="f")
    assert [p.code for p in problems] == ["HX006"]
    assert source is not None
    assert source.data == {"a": 1, "b": 4}
    assert source.position(("b",)) == Position(3, 4)


def test_a_flood_of_repeats_is_named_whole() -> None:
    text = "".join(f"k{i}: 1\n" for i in range(20_000)) * 2
    source, problems = read_yaml(text.encode(), file="f")
    assert len(problems) == 20_000
    assert source is not None
    assert len(source.data) == 20_000
    assert source.position(("k19999",)) == Position(20_000, 9)


def test_the_readers_start_without_what_only_some_runs_need() -> None:
    code = (
        "import sys, helix_gen.spec.read, helix_gen.problems, helix_gen.codes;"
        "print(sorted({m.split('.')[0] for m in sys.modules}"
        " & {'pydantic', 'pydantic_core', 'yaml', 'jinja2', 'libcst', 'difflib'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


# -- properties ------------------------------------------------------------------------

_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=15,
)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    source, problems = read_yaml(data, file="f")
    assert source is not None or problems


@given(st.text(alphabet="{}[]:,-?*&!|>#%@`'\" \n\tab01.~<", max_size=40))
def test_no_punctuation_raises(text: str) -> None:
    source, problems = read_yaml(text.encode(), file="f")
    assert source is not None or problems
    for problem in problems:
        assert isinstance(problem, Problem)


@given(_DATA)
def test_json_is_read_as_the_data_that_it_is(value: Any) -> None:
    text = _as_json(value)
    source, problems = read_yaml(text.encode(), file="f")
    assert problems == []
    assert source is not None
    assert source.data == value


def _as_json(value: Any) -> str:
    """JSON with escapes that YAML has too, and a space behind each separator."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_as_json(k)}: {_as_json(v)}" for k, v in value.items())
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_json, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
    if value is None:
        return "null"
    return str(value).lower()


@given(
    st.lists(
        st.text(st.sampled_from("ab é\u2028\u2029\x85😀漢"), max_size=6), max_size=6
    )
)
def test_every_value_stands_where_its_place_says(values: list[str]) -> None:
    text = "".join(f'- "{value}"\n' for value in values)
    source, problems = read_yaml(text.encode(), file="f")
    assert problems == []
    assert isinstance(source, Located)
    for number, value in enumerate(values):
        position = source.position((number,))
        assert position == Position(number + 1, 3)
        assert source.line(position.line) == f'- "{value}"'
