"""What became other since the baseline, in the terminal and in the page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.baseline.changes import Changes, Moved, Turned
from helix_runtime.names import CaseNames
from helix_runtime.report.cells import cells
from helix_runtime.report.html import write_report
from helix_runtime.report.terminal import MIN_WIDTH, render_dashboard
from playwright.sync_api import Browser, Page, expect
from support.browser import open_browser
from support.decisions import criterion, results, suite, write_run
from support.nasty_texts import NASTY

ASKED = suite(criterion("names-shelf", severity="CRIT"))
MARKUP = (
    "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
)


def moved(
    case_id: str = "books-1", *, way: str = "fail", name: str = "names-shelf"
) -> Moved:
    before = "pass" if way == "fail" else "fail"
    return Moved(
        criterion_id=name, severity="CRIT", case_id=case_id, before=before, now=way
    )


def changes(**other: Any) -> Changes:
    values: dict[str, Any] = {
        "digest": "0123456789abcdef" * 4,
        "run": "run-0",
        "version": "2.0.0",
        "verdicts": ("pass", "fail"),
        "turned": (
            Turned(
                criterion_id="names-shelf",
                severity="CRIT",
                before="pass",
                now="fail",
                comparable=True,
            ),
            Turned(
                criterion_id="is-gone",
                severity="LOW",
                before="pass",
                now=None,
                comparable=False,
            ),
        ),
        "worse": (moved(),),
        "worse_count": 1,
        "better": (moved("books-2", way="pass"),),
        "better_count": 1,
        "compared": 4,
        "aside": ("1 case is edited since", "`is-kind` was decided by another judge"),
    }
    return Changes(**(values | other))


def board(found: Changes | None, card: Any, *, width: int = 80) -> str:
    return render_dashboard(
        card, width=width, color=False, run_folder=None, changes=found
    )


def test_the_worse_stands_before_the_better_and_says_what_was_not_compared(
    tmp_path: Path,
) -> None:
    card = write_run(tmp_path, ASKED, results("pfpp"))
    text = board(changes(), card, width=100)
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index("AGAINST THE BASELINE")
    assert lines[start + 1 : start + 9] == [
        "baseline 0123456789ab (run run-0, version 2.0.0): the gate is fail, was pass",
        "✗ CRIT names-shelf: pass → fail",
        "? LOW  is-gone: was pass, is not in this run",
        "1 worse, 1 better, of 4 cases × criteria",
        "✗ worse names-shelf books-1: pass → fail",
        "✓ better names-shelf books-2: fail → pass",
        "not compared: 1 case is edited since; `is-kind` was decided by another judge",
        "",
    ]
    assert "AGAINST" not in board(None, card)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    card = write_run(tmp_path, ASKED, results("pfpp"))
    many = tuple(moved(f"books-{n}") for n in range(20))
    found = changes(worse=many, worse_count=45, better=(), better_count=0)
    text = board(found, card)
    assert text.count("✗ worse") == 8 and "and 37 more worse" in text
    page = write_report(tmp_path, changes=found).read_text("utf-8")
    assert page.count("✗ worse") == 20 and "and 25 more worse" in page
    quiet = changes(turned=(), worse=(), worse_count=0, better=(), better_count=0)
    assert "none of 4 cases × criteria got worse or better" in board(quiet, card)
    nothing = changes(compared=0, worse_count=0, better_count=0, worse=(), better=())
    assert "no case is decided in both runs" in board(nothing, card)


@pytest.mark.parametrize("width", [40, 64, 80, 112, 140])
@pytest.mark.parametrize("text", ["books-1", "x" * 300, "長い名前" * 40, *NASTY[:6]])
def test_no_line_is_wider_than_the_terminal_whatever_strangers_wrote(
    tmp_path: Path, width: int, text: str
) -> None:
    card = write_run(tmp_path, ASKED, results("pfpp"))
    found = changes(
        run=text, version=text, worse=(moved(text, name=text),), aside=(text,)
    )
    shown = board(found, card, width=width)
    lines = [x for x in shown.splitlines() if not x.lstrip().startswith("digest")]
    digest = card["digest"]
    lines = [line for line in lines if digest[:20] not in line]
    assert max(map(cells, lines)) <= max(width, MIN_WIDTH)
    assert "\x1b" not in shown and "\u202e" not in shown


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that counts every complaint of the browser."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = context.new_page()
    faults: list[str] = []
    found.on("console", lambda message: faults.append(message.text))
    found.on("pageerror", lambda error: faults.append(str(error)))
    yield found
    context.close()
    assert faults == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_shows_it_at_every_width(
    page: Page, tmp_path: Path, width: int
) -> None:
    write_run(tmp_path, ASKED, results("pfpp"))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(write_report(tmp_path, changes=changes()).as_uri())
    part = page.locator("section.against")
    expect(part.get_by_role("heading")).to_have_text("Against the baseline")
    items = part.get_by_role("listitem")
    expect(items).to_have_count(4)
    expect(items.nth(0)).to_contain_text("pass → fail")
    expect(items.nth(2)).to_contain_text("worse")
    expect(items.nth(3)).to_contain_text("better")
    expect(part).to_contain_text("1 worse, 1 better, of 4 cases × criteria")
    for item in items.all():
        box = item.bounding_box()
        assert box is not None and 0 <= box["x"] and box["x"] + box["width"] <= width
    page.goto(write_report(tmp_path).as_uri())
    expect(page.locator("section.against")).to_have_count(0)


def test_no_text_of_it_runs_in_a_browser(page: Page, tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, results("pfpp"))
    turned = Turned(
        criterion_id=MARKUP, severity="CRIT", before=None, now="fail", comparable=False
    )
    found = changes(
        run=MARKUP,
        version=MARKUP,
        turned=(turned,),
        worse=(moved(MARKUP, name=MARKUP),),
        aside=(MARKUP,),
    )
    page.goto(write_report(tmp_path, changes=found, names=CaseNames()).as_uri())
    part = page.locator("section.against")
    expect(part).to_contain_text("window.owned = 1")
    assert page.evaluate("window.owned") is None
    expect(part.locator("img, script")).to_have_count(0)
