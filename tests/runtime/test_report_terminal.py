"""The dashboard: readable at any width, without colour, and whatever strangers write."""

import re
from typing import Any

import pytest
from helix_runtime.criterion import mean, pass_k, rate
from helix_runtime.report.cells import cells, cut, fit, right, wrap
from helix_runtime.report.terminal import MIN_WIDTH, render_dashboard, share_out
from helix_runtime.report.words import (
    gate_summary,
    judge_words,
    needs,
    number,
    percent,
    span,
)
from helix_runtime.verdict import Ref, failed, passed, uncertain
from hypothesis import given, settings
from hypothesis import strategies as st
from support.decisions import (
    Said,
    criterion,
    decide,
    repeated,
    results,
    scorecard,
    suite,
)

STYLE = re.compile(r"\x1b\[[0-9;]*m")
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07 \u202egnp.exe \ud800 \r\n\u2028 日本語 👩‍💻 é e\u0301"
)

MIXED = suite(
    criterion("names-shelf", severity="CRIT"),
    criterion("is-kind", judged=True),
    criterion("asks-back", severity="MED"),
    criterion("is-quick", severity="LOW", passes=mean("<= 0.5")),
    criterion("is-stable", passes=rate(">= 0.5")),
)
MIXED_UNITS = [
    *results("pppf"),
    *results("ppmm", criterion="is-kind"),
    *results("uuuu", criterion="asks-back"),
    *results("nnnn", criterion="is-quick"),
    *results("pppf", criterion="is-stable"),
]


def board(
    asked: Any = MIXED, units: Any = MIXED_UNITS, *, width: int = 80, **changes: Any
) -> str:
    card = scorecard(asked, decide(asked, units, repeats=changes.pop("repeats", 1)))
    card["run"].update(changes.pop("run", {}))
    return render_dashboard(
        card, width=width, color=changes.pop("color", False), run_folder="runs/run-1"
    )


# -- what it says ---------------------------------------------------------------


def test_no_question_hides_behind_another() -> None:
    asked = suite(criterion("is-kind", judged=True), criterion("is-brief", judged=True))
    open_units = [
        Said(
            "is-kind", "c0", uncertain("Is it?", kind="normative", text="what is kind?")
        ),
        Said(
            "is-kind", "c1", uncertain("Who?", kind="factual-intent", text="who asks?")
        ),
        Said("is-kind", "c2", passed("It is.")),
        *results("uuu", criterion="is-brief"),
    ]
    text = board(asked, open_units, width=100)
    said = text[text.index("WHAT BLOCKS") :]
    one = "factual-intent (ground the fact again): who asks?\n      ▸ c1\n"
    other = "normative (ask the owner): what is kind?\n      ▸ c0\n"
    assert one in said and other in said


def test_it_says_what_fails_what_blocks_and_what_next() -> None:
    text = board()
    for words in (
        "Library desk 2.1.0",
        "✗ GATE FAIL    1 of 3 gating criteria fails, 1 is indeterminate",
        "✗ CRIT names-shelf",
        "3 pass 1 fail",
        "75%",
        "? HIGH is-kind",
        "2 pass 2 open",
        "[50–100%]",
        "all 4 na",
        "WHAT FAILS",
        "▸ books-3",
        "It names another shelf.",
        "↳ answer output: shelf 9",
        "WHAT BLOCKS",
        "scope: no judge was asked",
        "factual-intent (ground the fact again): Which book is meant?",
        "WHAT NEXT",
        "`run --judge PROVIDER:MODEL`",
        "runs/run-1",
    ):
        assert words in text, words


def test_what_gates_and_fails_comes_first() -> None:
    text = board()
    places = [
        text.index(f" {name}") for name in ("names-shelf  ", "is-kind  ", "is-stable  ")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("criteria", "units", "banner"),
    [
        (
            [criterion()],
            results("pp"),
            "✓ GATE PASS    the one gating criterion passes",
        ),
        (
            [criterion()],
            results("pu"),
            "? GATE INCOMPLETE    1 of 1 gating criterion is",
        ),
        ([criterion(severity="LOW")], results("p"), "no criterion gates"),
        ([], [], "no criterion gates"),
    ],
)
def test_the_banner_shows_the_gate(criteria: Any, units: Any, banner: str) -> None:
    assert banner in board(suite(*criteria), units)


def test_a_dataset_that_an_average_would_hide_is_named_in_the_banner() -> None:
    asked = suite(criterion(passes=rate(">= 0.75")))
    units = results("ppppp") + results("pf", dataset="maps")
    card = scorecard(asked, decide(asked, units))
    assert gate_summary(card) == "the whole passes, but dataset:maps fails"


def test_the_same_critique_is_told_once_for_all_its_cases() -> None:
    text = board(suite(criterion()), results("fff"))
    assert text.count("It names another shelf.") == 1
    assert "▸ books-0, books-1, books-2" in text


def test_more_failing_units_than_samples_are_counted() -> None:
    assert "… and 35 failing units more" in board(suite(criterion()), results("f" * 40))


def test_many_criteria_are_cut_and_counted() -> None:
    names = [f"c-{n:03}" for n in range(50)]
    asked = suite(*map(criterion, names))
    units = [said for name in names for said in results("p", criterion=name)]
    text = board(asked, units)
    assert "c-039" in text and "c-040" not in text
    assert "… and 10 more, 10 of which pass" in text


def test_an_unwritten_check_leads_to_its_line() -> None:
    said = uncertain(
        "no executable check yet",
        text="no executable check yet: write it in checks.py:34",
    )
    text = board(suite(criterion()), [Said("names-shelf", "a", said)])
    assert "Write 1 check: checks.py:34." in text


def test_a_short_pass_k_leads_to_repeats() -> None:
    text = board(suite(criterion(passes=pass_k(4))), repeated("pp"), repeats=2)
    assert "Repeat each case: `run --repeats 4`." in text


def test_variance_is_shown_where_it_was_measured() -> None:
    asked = suite(criterion(passes=rate(">= 0.1")))
    text = board(asked, repeated("pp", "pf"), repeats=2)
    assert "unstable (subject 1 of 2 series stable, 1 flapping)" in text
    assert "variance" not in board(asked, results("pp"))


# -- how it looks ---------------------------------------------------------------


def plain_lines(text: str) -> list[str]:
    return STYLE.sub("", text).split("\n")


def cut_lines(text: str) -> list[str]:
    """Return the lines that hold to the width: a path and a digest stay whole."""
    whole = ("  run ", "  digest ")
    return [line for line in plain_lines(text) if not line.startswith(whole)]


@pytest.mark.parametrize("width", [40, 50, 60, 64, 80, 100, 111, 112, 120, 140])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, color: bool) -> None:
    long = failed("日本語の説明です。" * 30, Ref("s" * 90, "p.q", "v" * 400))
    units = [*MIXED_UNITS, Said("names-shelf", "長い名前-" * 20, long)]
    text = board(units=units, width=width, color=color, run={"notes": ["note " * 60]})
    assert max(map(cells, cut_lines(text))) <= width


def test_a_narrow_terminal_gets_the_least_width_and_a_wide_one_is_not_filled() -> None:
    assert max(map(cells, cut_lines(board(width=10)))) <= MIN_WIDTH
    assert max(map(cells, cut_lines(board(width=400)))) <= 140


@pytest.mark.parametrize("width", [40, 50, 64, 80, 112, 140])
def test_no_figure_and_no_next_step_is_cut_at_any_width(width: int) -> None:
    asked = suite(criterion("c" * 90, judged=True), criterion("d"))
    units = [
        *results("p" * 4000 + "f" * 2000 + "u" * 1000, criterion="c" * 90),
        *results("p" * 7000, criterion="d"),
    ]
    text = " ".join(board(asked, units, width=width).split())
    for figure in (
        "4,000 pass 2,000 fail 1,000 open",
        "66.7%",
        "65.5–67.8% [57.1–71.4%]",
        "7,000 pass",
        "`requests` asks for the changes as data.",
    ):
        assert figure in text, figure
    digest = next(word for word in text.split() if len(word) == 64)
    assert set(digest) <= set("0123456789abcdef")


def test_the_columns_stay_aligned_beside_wide_characters() -> None:
    names = ["plain", "日本語の基準", "mixed 語 e\u0301"]
    asked = suite(*map(criterion, names))
    units = [said for name in names for said in results("pppf", criterion=name)]
    rows = [
        line for line in plain_lines(board(asked, units, width=120)) if "75%" in line
    ]
    assert len(rows) == 3
    assert len({cells(row[: row.index("75%")]) for row in rows}) == 1


def test_without_colour_there_is_no_escape_and_with_colour_the_same_text() -> None:
    plain = board()
    assert "\x1b" not in plain
    colored = board(color=True)
    assert "\x1b[" in colored
    assert [x.rstrip() for x in plain_lines(colored)] == plain_lines(plain)


@pytest.mark.parametrize("color", [False, True])
def test_strangers_text_can_neither_paint_nor_reorder_nor_break_lines(
    color: bool,
) -> None:
    name = HOSTILE
    asked = suite(criterion(name), criterion(f"{name}2", judged=True))
    said = failed(HOSTILE, Ref(HOSTILE, HOSTILE, HOSTILE))
    units = [
        Said(name, HOSTILE, said, dataset=HOSTILE),
        Said(f"{name}2", HOSTILE, uncertain(HOSTILE), dataset=HOSTILE),
    ]
    card = scorecard(asked, decide(asked, units))
    for key in ("name", "version"):
        card["subject"][key] = HOSTILE
    card["run"].update(id=HOSTILE, notes=[HOSTILE])
    text = render_dashboard(card, width=80, color=color, run_folder=HOSTILE)
    left = STYLE.sub("", text) if color else text
    assert all(c == "\n" or c.isprintable() for c in left)
    assert left.encode()


@settings(max_examples=25, deadline=None)
@given(st.text(), st.integers(40, 160), st.text("pfunem", max_size=6))
def test_any_text_fits_any_width(text: str, width: int, units: str) -> None:
    name = text or "x"
    asked = suite(criterion(name))
    said = [Said(name, s.case, s.verdict, dataset=text) for s in results(units)]
    said.append(Said(name, text, failed(text.strip() and text or "bad")))
    shown = board(asked, said, width=width)
    assert max(map(cells, cut_lines(shown))) <= max(width, MIN_WIDTH)


# -- its parts ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "parts"),
    [
        ([1, 1, 0], [10, 10, 0]),
        ([0, 0, 0], [0, 0, 0]),
        ([999_999, 1, 0], [19, 1, 0]),
        ([999_998, 1, 1], [18, 1, 1]),
        ([0, 3, 0], [0, 20, 0]),
    ],
)
def test_a_bar_shows_even_one_failure_in_a_million(
    counts: list[int], parts: list[int]
) -> None:
    assert share_out(counts, 20) == parts


@given(st.lists(st.integers(0, 10**6), min_size=3, max_size=3), st.integers(3, 60))
def test_a_bar_is_always_full(counts: list[int], width: int) -> None:
    parts = share_out(counts, width)
    assert sum(parts) == (width if any(counts) else 0)
    assert all(
        (part > 0) == (count > 0) for part, count in zip(parts, counts, strict=True)
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "100%"),
        (0.0, "0%"),
        (0.8, "80%"),
        (2 / 3, "66.7%"),
        (0.9996, "99.96%"),
        (0.0004, "0.04%"),
        (0.999999, "99.9999%"),
        (0.9999999999, "<100%"),
        (1e-12, ">0%"),
        # What misses 95 % does not read as if it met it.
        (0.9499, "94.99%"),
        (0.949999, "94.9999%"),
        (0.95 - 1e-9, "<95%"),
        (0.9004, "90.04%"),
        (0.07, "7%"),
        (0.29, "29%"),
    ],
)
def test_a_rate_reads_a_whole_percentage_only_where_it_is(
    value: float, text: str
) -> None:
    assert number(value, share=True) == text
    assert percent(value) == text


def test_a_judges_figures_read_100_percent_only_where_they_are() -> None:
    known = {"tpr": 0.9996, "tnr": 0.9, "corrected": 0.9997, "interval": [0.72, 0.9999]}
    assert judge_words({"validation": known}) == (
        "TPR 99.96% · TNR 90% · corrected 99.97% (72–99.99%)"
    )


def test_numbers_read_as_people_write_them() -> None:
    assert number(1234.5678, share=False) == "1235"
    assert span([0.5, 1], share=True) == "50–100%"
    assert span([0.5, 0.5], share=True) == "50%"
    assert span(None, share=True) == "–"
    assert needs("rate >= 1") == "all must pass"
    assert needs("pass^3 >= 1") == "pass^3: all repeats must pass"
    assert needs("mean <= 0.5") == "mean ≤ 0.5"


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("👍", 2), ("한글", 4), ("ｱ", 1)],
)
def test_cells_are_counted_as_a_terminal_draws_them(text: str, width: int) -> None:
    assert cells(text) == width


def test_text_is_cut_and_padded_in_cells() -> None:
    assert cut("日本語", 4) == "日…"
    assert fit("日本語", 4) == "日… "
    assert right("日", 4) == "  日"
    assert cut("abc", 0) == ""


def test_text_wraps_at_blanks_and_breaks_what_is_too_long() -> None:
    assert wrap("one two three", 8, lines=5) == ["one two", "three"]
    assert wrap("abcdefghij", 4, lines=2) == ["abcd", "efg…"]
    assert wrap("日本語です", 4, lines=5) == ["日本", "語で", "す"]
    assert wrap("   ", 4, lines=5) == []


def test_a_measured_number_is_no_percentage() -> None:
    asked = suite(criterion(passes=mean("> 0.9")))
    text = board(asked, [Said("names-shelf", "a", passed("fine", value=0.93))])
    assert "0.93" in text and "93%" not in text
