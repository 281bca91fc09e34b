"""The encoder: what it writes means the value, is safe, and is in black's style."""

import ast
import math
import sys
import unicodedata
from typing import Any

import black
import pytest
from black.strings import char_width
from helix_gen.emit import literal
from helix_gen.emit.literal import (
    MAX_DEPTH,
    Call,
    Code,
    Unwritable,
    assignment,
    docstring,
    import_from,
    name,
    quoted,
    source,
    statement,
)
from helix_gen.emit.trusted import Trusted
from helix_gen.emit.width import least_columns, most_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from support.nasty_texts import NASTY

MODE = black.Mode()

characters = st.one_of(
    st.characters(),
    st.sampled_from("\"'\\ \n\r\t\x00\x85\u2028\ud800\u202e{}%#"),
    st.sampled_from("abcdef "),
)
texts = st.one_of(
    st.text(characters, max_size=200),
    st.sampled_from(NASTY),
    st.lists(
        st.sampled_from(["word", "longer-word", "\n", "it's", '"so"']), max_size=60
    ).map(" ".join),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(texts, inner, max_size=5)
    ),
    max_leaves=12,
)


def in_every_place(value: Any) -> str:
    """The source of a module that holds a value wherever an expression may stand."""
    call = Call(name("call"), (value, value), ((name("keyword"), value),))
    return "\n".join(
        [
            assignment(name("VALUE"), value),
            assignment(name("VALUES"), [value]),
            assignment(name("TYPED"), {"key": value}, annotation=name("Any")),
            "",
            "",
            statement("@", Call(name("decorate"), (value,))),
            "def function() -> Any:",
            "    " + docstring("Return it."),
            "    " + statement("return ", call, indent=4),
            "",
        ]
    )


@given(values)
@settings(max_examples=150, deadline=None)
def test_what_is_written_means_the_value_and_black_leaves_it_alone(value: Any) -> None:
    text = in_every_place(value)
    module = ast.parse(text)
    assignments = [
        node for node in module.body if isinstance(node, (ast.Assign, ast.AnnAssign))
    ]
    found = [ast.literal_eval(node.value) for node in assignments if node.value]
    assert found == [value, [value], {"key": value}]
    assert black.format_str(text, mode=MODE) == text


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
@pytest.mark.parametrize("copies", [1, 3])
def test_a_nasty_text_is_kept_and_nothing_of_it_becomes_code(
    text: str, copies: int
) -> None:
    value = " and ".join([text] * copies)
    written = in_every_place([value, {value: value}])
    module = ast.parse(written)
    first = module.body[0]
    assert isinstance(first, ast.Assign)
    assert ast.literal_eval(first.value) == [value, {value: value}]
    harmless = ast.parse(in_every_place(["x", {"x": "x"}]))
    assert shape(module) == shape(harmless)
    assert black.format_str(written, mode=MODE) == written


def shape(tree: ast.AST) -> str:
    """The dump of a tree in which all texts are the same."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "x"
    return ast.dump(tree)


@given(values, st.integers(min_value=0, max_value=100))
@settings(max_examples=60, deadline=None)
def test_a_value_means_the_same_at_any_indentation(value: Any, indent: int) -> None:
    written = source(value, indent=indent, before=indent + 7, after=1)
    assert ast.literal_eval(f"({written})") == value


@given(texts)
def test_no_line_is_longer_than_it_must_be(text: str) -> None:
    for line in assignment(name("VALUE"), [text]).split("\n"):
        assert most_columns(line) <= 88 or least_columns(text) < most_columns(text)


def test_source_holds_no_character_that_is_not_seen() -> None:
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        for shown in quoted(character)[1:-1]:
            # What is not assigned in this Python's tables may be in a later one.
            assert shown.isprintable() or unicodedata.category(shown) == "Cn", hex(
                point
            )


def test_printable_text_stays_readable_in_any_script() -> None:
    for text in (
        "Grüße",
        "日本語",
        "русский",
        "العربية",
        "हिन्दी",
        "😀",
        "naïve café ½ €",
    ):
        assert quoted(text) == f'"{text}"'


def test_the_columns_of_a_character_are_bounded_for_the_formatter() -> None:
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if 0xD800 <= point <= 0xDFFF or literal._UNSAFE.match(character):
            continue
        wide = char_width(character)
        assert least_columns(character) <= wide <= most_columns(character), hex(point)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ("it's", '"it\'s"'),
        ('say "so"', "'say \"so\"'"),
        ('it\'s "so"', "'it\\'s \"so\"'"),
        ("'\"", '"\'\\""'),
        ("tab\tand\\", '"tab\\tand\\\\"'),
        ("\x00\x1b\x7f\x85", '"\\x00\\x1b\\x7f\\x85"'),
        ("\u2028\ud800\U000e0001", '"\\u2028\\ud800\\U000e0001"'),
    ],
)
def test_quotes_and_escapes_are_those_of_a_formatter(text: str, expected: str) -> None:
    assert quoted(text) == expected


def test_a_long_text_is_split_at_its_words_and_its_lines() -> None:
    text = (
        "Look the book up first, then name the shelf.\n"
        + "one two three " * 9
        + "\nend"
    )
    written = assignment(name("PROMPT"), text)
    assert written.startswith('PROMPT = (\n    "Look the book up first, then name')
    assert written.split("\n")[1].endswith('shelf.\\n"')
    assert all(line.endswith((' "', '\\n"', '"')) for line in written.split("\n")[1:-1])
    assert written.endswith('\n    "end"\n)')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-0.0, "-0.0"),
        (1e16, "1e16"),
        (1e-05, "1e-05"),
        (1.5e300, "1.5e300"),
        (math.inf, 'float("inf")'),
        (-math.inf, 'float("-inf")'),
        (math.nan, 'float("nan")'),
        (True, "True"),
        (None, "None"),
        ([], "[]"),
        ((), "[]"),
        ({}, "{}"),
        ((1, 2), "[1, 2]"),
    ],
)
def test_numbers_and_empty_values(value: Any, expected: str) -> None:
    assert source(value) == expected
    text = f"VALUE = {source(value)}\n"
    assert black.format_str(text, mode=MODE) == text


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), 10**4299, 2**4096],
    ids=["huge", "negative", "longest", "power"],
)
def test_an_integer_of_any_size_is_written(value: int) -> None:
    written = source([value])
    assert ast.literal_eval(written) == [value]
    text = f"VALUE = {written}\n"
    assert black.format_str(text, mode=MODE) == text


def test_data_may_be_nested_deep_but_not_deeper_than_python_reads() -> None:
    def nested(levels: int) -> Any:
        value: Any = "the innermost text is too long for the line it stands in" * 2
        for level in range(levels):
            value = [value] if level % 2 else {"key": value}
        return value

    deep = nested(MAX_DEPTH)
    assert ast.literal_eval(source(deep)) == deep
    with pytest.raises(Unwritable, match="nested deeper"):
        source(nested(MAX_DEPTH + 1))
    with pytest.raises(Unwritable, match="nested deeper"):
        source(nested(100_000))


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), [object()], {"a": b""}])
def test_what_is_no_data_has_no_literal(value: Any) -> None:
    with pytest.raises(Unwritable, match="no literal"):
        source(value)


def test_a_text_does_not_become_code_by_a_conversion() -> None:
    with pytest.raises(TypeError):
        Code("import os")
    with pytest.raises(TypeError):
        Trusted("text")
    for derived in (quoted("a") + "b", quoted("a").upper(), f"{quoted('a')}"):
        assert type(derived) is str


@pytest.mark.parametrize("text", ["", "a b", "1a", "é", "a.b", "a\n", "x;y"])
def test_a_name_is_an_ascii_identifier(text: str) -> None:
    with pytest.raises(ValueError, match="identifier"):
        name(text)


@pytest.mark.parametrize("text", ["", " a", 'a"', "a\\", "é", "a\nb", "x" * 79])
def test_a_docstring_is_one_plain_line(text: str) -> None:
    with pytest.raises(ValueError, match="docstring"):
        docstring(text)


def test_a_long_import_is_written_as_the_formatter_writes_it() -> None:
    written = import_from(".subject", [f"NAME_OF_A_CONSTANT_{n}" for n in range(9)])
    text = f"{written}\n"
    assert black.format_str(text, mode=MODE) == text
    assert import_from(".subject", ["A", "B"]) == "from .subject import A, B"
    with pytest.raises(ValueError, match="identifier"):
        import_from(".subject", ["A; import os"])
