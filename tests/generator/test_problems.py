"""Problems on a terminal, as JSON, as annotations: the same, and harmless."""

import json

import pytest
from helix_gen.problems import (
    EXCERPT_WIDTH,
    Position,
    Problem,
    count_line,
    has_errors,
    in_order,
    quoted,
    render_github,
    render_json,
    render_text,
)
from hypothesis import given
from hypothesis import strategies as st
from support.nasty_texts import NASTY


def problem(
    message: str = "it is wrong",
    *,
    line: int = 3,
    column: int = 5,
    excerpt: str = "    bad: 1",
    hint: str = "",
    file: str = "spec.yaml",
) -> Problem:
    return Problem(
        code="HX101",
        level="error",
        message=message,
        file=file,
        position=Position(line, column),
        excerpt=excerpt,
        hint=hint,
    )


def test_a_problem_is_a_line_an_excerpt_with_a_caret_and_a_hint() -> None:
    assert render_text([problem(hint="do this\nand that")]) == (
        "spec.yaml:3:5: error[HX101]: it is wrong\n"
        "    3 |     bad: 1\n"
        "      |     ^\n"
        "      hint: do this\n"
        "            and that\n"
    )


def test_without_excerpt_and_hint_it_is_one_line() -> None:
    assert render_text([problem(excerpt="")]) == (
        "spec.yaml:3:5: error[HX101]: it is wrong\n"
    )
    assert render_text([]) == ""


def test_problems_stand_in_the_order_of_the_file_each_once() -> None:
    first, second = problem(line=1), problem(line=2)
    other = problem(line=1, file="a.yaml")
    assert in_order([second, first, first, other]) == [other, first, second]


def caret_at(excerpt: str, column: int) -> tuple[str, str]:
    """The rendered excerpt, and what stands over the caret."""
    _, shown, caret = render_text([problem(excerpt=excerpt, column=column)]).split(
        "\n"
    )[:3]
    place = caret.index("^")
    return shown, shown[place:]


def test_controls_are_made_visible_and_the_caret_follows() -> None:
    shown, under = caret_at("a: \x1b[31m\u202ered bad", 16)
    assert shown.endswith(r"a: \x1b[31m\u202ered bad")
    assert under == "d"
    shown, under = caret_at("\tx: 1\r", 2)
    assert shown.endswith("| \\tx: 1")
    assert under.startswith("x: 1")


def test_wide_characters_take_two_cells() -> None:
    text = render_text([problem(excerpt="漢字: x", column=5)]).split("\n")
    assert text[2].index("^") - text[1].index("漢") == 6


def test_combining_characters_take_none() -> None:
    text = render_text([problem(excerpt="e\u0301: x", column=5)]).split("\n")
    assert text[2].index("^") - text[1].index("e") == 3


@pytest.mark.parametrize("column", [1, 2, 200, 4_000, 100_000, 100_001])
def test_a_long_line_is_cut_around_its_column(column: int) -> None:
    excerpt = "".join(str(i % 10) for i in range(100_000))
    shown, under = caret_at(excerpt, column)
    assert len(shown) <= EXCERPT_WIDTH + 12
    if column <= 100_000:
        assert under[0] == excerpt[column - 1]


def test_a_column_behind_the_line_is_shown_at_its_end() -> None:
    _, _, caret, _ = render_text([problem(excerpt="ab", column=99)]).split("\n")
    assert caret == "      |   ^"


@pytest.mark.parametrize("nasty", NASTY)
def test_no_text_leaves_its_line_or_reaches_the_terminal_raw(nasty: str) -> None:
    rendered = render_text(
        [problem(nasty, excerpt=nasty, file=nasty.replace("\n", ""), column=4)]
    )
    for line in rendered.split("\n"):
        assert line.isprintable()
    assert rendered.split("\n")[0].count(": error[HX101]: ") >= 1
    rendered.encode()


@given(st.text(), st.text(), st.text(), st.integers(1, 200), st.text())
def test_any_text_renders_in_each_form(
    message: str, excerpt: str, hint: str, column: int, file: str
) -> None:
    problems = [problem(message, excerpt=excerpt, hint=hint, column=column, file=file)]
    render_text(problems).encode()
    (row,) = json.loads(render_json(problems).encode())
    assert row["code"] == "HX101"
    assert row["caret"] >= 0
    annotation = render_github(problems)
    assert annotation.count("\n") == 1
    annotation.encode()


def test_json_has_a_row_for_each() -> None:
    rows = json.loads(render_json([problem(line=2), problem(line=1, hint="h")]))
    assert [row["line"] for row in rows] == [1, 2]
    assert rows[0] == {
        "code": "HX101",
        "level": "error",
        "message": "it is wrong",
        "file": "spec.yaml",
        "line": 1,
        "column": 5,
        "excerpt": "    bad: 1",
        "caret": 4,
        "hint": "h",
    }
    assert json.loads(render_json([])) == []


def test_an_annotation_can_not_be_broken_out_of() -> None:
    text = render_github([problem("100% a\n::error::b", file="a,b:c.yaml", hint="h")])
    assert text == (
        "::error file=a%2Cb%3Ac.yaml,line=3,col=5,title=HX101::"
        "100%25 a\\n::error::b%0Ah\n"
    )


def test_counting() -> None:
    warning = Problem(code="HX1", level="warning", message="", file="")
    assert count_line([]) == "no problems"
    assert count_line([problem()]) == "1 error"
    assert count_line([problem(), problem(), warning]) == "2 errors, 1 warning"
    assert has_errors([warning]) is False
    assert has_errors([warning, problem()]) is True


def test_quoting_cuts_and_escapes() -> None:
    assert quoted("a\nb") == "`a\\nb`"
    assert len(quoted("x" * 1000)) == 62
