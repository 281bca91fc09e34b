"""`report.html`: one file, no network, no word of a stranger as markup."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.criterion import rate
from helix_runtime.names import CaseNames
from helix_runtime.report.excerpt import MAX_TRACES, MAX_UNITS
from helix_runtime.report.html import write_report
from helix_runtime.report.turns import MAX_TURN, MAX_TURNS, show_run
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import trace_to_record
from helix_runtime.verdict import Ref, failed
from playwright.sync_api import Browser, Page, expect
from support.browser import open_browser
from support.decisions import Said, criterion, results, suite, write_run
from support.nasty_texts import NASTY

BREAKOUTS = (
    "</script><script>window.owned = 1</script>",
    "<!--<script>",
    "]]>",
    "<img src=x onerror='window.owned = 1'>",
    '" onmouseover="window.owned = 1',
    "javascript:window.owned = 1",
    "&lt;b&gt;",
    "a\u2028b\u2029c",
    "</style><style>*{display:none}</style>",
)

ASKED = suite(
    criterion("names-shelf", severity="CRIT"),
    criterion("is-kind", judged=True),
    criterion("asks-back", severity="MED"),
    criterion("is-stable", passes=rate(">= 0.5")),
)
UNITS = [
    *results("pppf"),
    *results("ppmm", criterion="is-kind"),
    *results("uenn", criterion="asks-back"),
    *results("pppf", criterion="is-stable"),
]


class Tags(HTMLParser):
    """Collects the tags and their attributes, and what stands in scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag in self.code else ""
        if self._open:
            self.code[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.code[self._open][-1] += data


def parse(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def data_of(page: str) -> Any:
    return json.loads(parse(page).code["script"][0])


def hostile_run(folder: Path, text: str) -> None:
    asked = suite(criterion(text), criterion(f"{text} 2", judged=True))
    said = failed(f"bad: {text}", Ref(text, text, text))
    units = [
        Said(text, f"case {text}", said, dataset=text),
        Said(f"{text} 2", f"case {text}", None, dataset=text),
    ]
    card = write_run(folder, asked, units, answer=f"answer {text}")
    card["run"]["notes"] = [text]
    card["run"]["target"] = text
    for key in ("name", "version"):
        card["subject"][key] = text
    (folder / "scorecard.json").write_text(json.dumps(card))


# -- the file -------------------------------------------------------------------


def test_the_page_takes_nothing_from_anywhere(tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    tags = parse(write_report(tmp_path).read_text("utf-8"))
    for tag, attributes in tags.tags:
        assert tag not in ("link", "img", "iframe", "object", "base", "form")
        assert not attributes.keys() & {"src", "srcset", "style", "onclick", "action"}
        assert (attributes.get("href") or "#").startswith("#")


def test_the_policy_allows_only_the_pages_own_style_and_script(tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    tags = parse(write_report(tmp_path).read_text("utf-8"))
    (policy,) = (
        attributes["content"]
        for tag, attributes in tags.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for code in (tags.code["style"][0], tags.code["script"][1]):
        digest = b64encode(sha256(code.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


@pytest.mark.parametrize("text", [*BREAKOUTS, *NASTY])
def test_no_text_becomes_markup(tmp_path: Path, text: str) -> None:
    hostile_run(tmp_path / "hostile", text or "empty")
    hostile_run(tmp_path / "tame", "x")
    found = parse(write_report(tmp_path / "hostile").read_text("utf-8"))
    tame = parse(write_report(tmp_path / "tame").read_text("utf-8"))
    shape = [(tag, sorted(attributes)) for tag, attributes in found.tags]
    assert shape == [(tag, sorted(attributes)) for tag, attributes in tame.tags]
    assert len(found.code["script"]) == 2
    assert found.code["script"][1] == tame.code["script"][1]


@pytest.mark.parametrize("text", NASTY)
def test_the_page_holds_no_character_that_hides_or_reorders(
    tmp_path: Path, text: str
) -> None:
    hostile_run(tmp_path, text or "empty")
    page = write_report(tmp_path).read_bytes().decode("utf-8")
    assert all(c == "\n" or c.isprintable() for c in page)
    for value in re.findall(r'"(?:[^"\\]|\\.)*"', parse(page).code["script"][0]):
        assert all(c == "\n" or c.isprintable() for c in json.loads(value))


def test_the_same_run_gives_the_same_bytes_and_no_rest(tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    first = write_report(tmp_path).read_bytes()
    assert write_report(tmp_path).read_bytes() == first
    assert not list(tmp_path.glob("*.part"))


def test_a_run_without_a_scorecard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        write_report(tmp_path)


# -- what it shows and what it leaves out ---------------------------------------


def test_a_small_run_is_shown_whole(tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page = write_report(tmp_path).read_text("utf-8")
    shown = [unit["result"] for c in data_of(page)["criteria"] for unit in c["units"]]
    assert sorted(shown) == sorted(
        ["pass"] * 8
        + ["fail"] * 2
        + ["missing"] * 2
        + ["uncertain", "error", "na", "na"]
    )
    assert "This page holds" not in page


def test_a_large_run_is_cut_and_says_so(tmp_path: Path) -> None:
    asked = suite(criterion())
    write_run(tmp_path, asked, results("pf" * MAX_UNITS))
    page = write_report(tmp_path).read_text("utf-8")
    data = data_of(page)
    units = data["criteria"][0]["units"]
    assert 100 < len(units) < 1000
    assert units[0]["result"] == "fail"
    assert len(data["traces"]) <= MAX_TRACES
    assert f"This page holds {len(units):,} of {2 * MAX_UNITS:,} units" in page
    assert "units.jsonl" in data["criteria"][0]["lead"][-1][1]


def test_what_has_no_verdict_is_not_said_to_be_in_the_journal(tmp_path: Path) -> None:
    write_run(tmp_path, suite(criterion()), results("p" + "m" * 40))
    page = write_report(tmp_path).read_text("utf-8")
    assert "This page holds" not in page
    (shown,) = data_of(page)["criteria"]
    unseen = 41 - len(shown["units"])
    assert unseen > 0
    (line,) = (text for _, text in shown["lead"] if "without a verdict" in text)
    assert line == f"{unseen} more units without a verdict."


def test_a_query_of_several_lines_is_read_on_one(tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    query = "Write a part.\n\n  It is\tround.\x1b"
    names = CaseNames([Case(id="books-3", query=query, dimensions={"d": "v"})])
    data = data_of(write_report(tmp_path, names=names).read_text("utf-8"))
    queries = {unit["query"] for c in data["criteria"] for unit in c["units"]}
    assert "Write a part. It is round.\\x1b" in queries


def test_many_criteria_keep_the_page_small(tmp_path: Path) -> None:
    names = [f"c-{n}" for n in range(1_000)]
    asked = suite(*map(criterion, names))
    units = [said for name in names for said in results("pffuun", criterion=name)]
    write_run(tmp_path, asked, units)
    path = write_report(tmp_path)
    data = data_of(path.read_text("utf-8"))
    assert sum(len(c["units"]) for c in data["criteria"]) <= MAX_UNITS
    assert all(c["units"] for c in data["criteria"])
    assert path.stat().st_size < 5_000_000


def test_long_texts_are_cut(tmp_path: Path) -> None:
    said = failed("x" * 100_000, *[Ref("o", "p", "y" * 100_000)] * 50)
    write_run(tmp_path, suite(criterion()), [Said("names-shelf", "a", said)])
    assert write_report(tmp_path).stat().st_size < 100_000


def test_a_long_run_of_the_subject_is_cut_and_counted(tmp_path: Path) -> None:
    write_run(tmp_path, suite(criterion()), results("f"))
    spans = [
        Span(id=f"s{n}", name="assistant", kind="llm", output=f"turn {n}")
        for n in range(MAX_TURNS + 5)
    ]
    record = trace_to_record(Trace(id="books-0-r0", spans=spans))
    (tmp_path / "traces.jsonl").write_text(json.dumps(record) + "\n")
    (trace,) = data_of(write_report(tmp_path).read_text("utf-8"))["traces"]
    assert len(trace["turns"]) == MAX_TURNS
    assert trace["cut"] == (
        f"The first {MAX_TURNS} of {MAX_TURNS + 5} turns; all are in traces.jsonl."
    )


def a_run(*spans: Span) -> Trace:
    return Trace(id="t", spans=spans)


ASKS = Span(id="s1", name="user", kind="event", role="user", input="A kettle, please.")
LOOKS = Span(
    id="s2", name="find", kind="tool", tool_call_id="c1", input={"q": "kettle"}
)
FINDS = Span(
    id="s3",
    name="find",
    kind="tool",
    role="toolResult",
    tool_call_id="c1",
    output={"shelf": 9, "of": "kettle"},
)
SAYS = Span(id="s4", name="assistant", kind="llm", output={"say": "Shelf 9."})


@pytest.mark.parametrize(
    ("ref", "turn"),
    [
        (Ref("s3", "output.shelf", "9"), 2),
        (Ref("find", "output", "shelf"), 2),
        (Ref("trajectory[0]", "input.q", "kettle"), 1),
        (Ref("trajectory[0]", "output.of", "kettle"), 2),
        (Ref("trace", "trajectory.0.name", "find"), 1),
        (Ref("transcript[2]", "content", "Shelf"), 3),
        (Ref("output", "say", "Shelf 9."), 3),
        (Ref("", "", "A  kettle,"), 0),
        # What the run doesn't hold is quoted by no turn.
        (Ref("", "", "A teapot"), None),
        (Ref("case", "expected.0", "kettle"), None),
        (Ref("spec", "tools.0", "find"), None),
        (Ref("trajectory[7]", "input", "kettle"), None),
        (Ref("trajectory[99999999999]", "input", "kettle"), None),
    ],
)
def test_a_ref_leads_to_the_turn_that_it_quotes(ref: Ref, turn: int | None) -> None:
    run, places = show_run(
        a_run(ASKS, LOOKS, FINDS, SAYS),
        [{"obs": ref.obs, "path": ref.path, "value": ref.value}],
    )
    assert [shown["who"] for shown in run["turns"]] == [
        "user",
        "calls find",
        "tool result",
        "assistant",
    ]
    assert places == [turn]


def test_what_is_quoted_is_shown_however_far_back_it_stands() -> None:
    spans = [
        Span(id=f"s{n}", name="assistant", kind="llm", output=f"turn {n}")
        for n in range(MAX_TURNS + 30)
    ]
    far = MAX_TURNS + 20
    text = "word " * MAX_TURN + "the proof stands here" + " word" * MAX_TURN
    spans[far] = Span(id="far", name="assistant", kind="llm", output=text)
    run, (place,) = show_run(
        a_run(*spans), [{"obs": "far", "path": "content", "value": "the proof"}]
    )
    assert place is not None
    shown = run["turns"]
    assert "the proof stands here" in shown[place]["text"]
    assert len(shown[place]["text"]) < 2 * MAX_TURN
    assert shown[place - 1]["who"] == "20 turns are left out here"
    assert len(shown) == MAX_TURNS + 2
    assert "and those that are quoted" in run["cut"]


def test_lines_that_cant_be_read_are_counted(tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    for name in ("units.jsonl", "traces.jsonl"):
        with (tmp_path / name).open("ab") as file:
            file.write(b'\n[]\n{"torn')
    assert "lines of the journal could not be read" in write_report(tmp_path).read_text(
        "utf-8"
    )


# -- in a browser ---------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that counts every complaint and every request beyond its own file."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = context.new_page()
    faults: list[str] = []
    found.on("console", lambda message: faults.append(message.text))
    found.on("pageerror", lambda error: faults.append(str(error)))
    found.on(
        "request",
        lambda request: (
            None if request.url.startswith("file:") else faults.append(request.url)
        ),
    )
    yield found
    context.close()
    assert faults == []


def test_a_criterion_opens_by_keyboard_down_to_the_run(
    page: Page, tmp_path: Path
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.goto(write_report(tmp_path).as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("Library desk")
    expect(page.get_by_label("Gate")).to_contain_text("GATE FAIL")
    button = page.get_by_role("button", name="names-shelf")
    # It fails the gate: that is what the page is opened for.
    expect(button).to_have_attribute("aria-expanded", "true")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    # Only what needs a look is shown at first.
    units = page.get_by_role("article")
    expect(units).to_have_count(1)
    expect(units).to_contain_text("It names another shelf.")
    expect(units).to_contain_text("answer output")
    page.get_by_label("Filter the units by result").select_option("")
    expect(units).to_have_count(4)
    page.get_by_label("Filter the units by case").fill("books-3")
    expect(units).to_have_count(1)
    units.get_by_role("button", name="Show the run").press("Space")
    expect(units).to_contain_text("Where is it?")
    expect(units).to_contain_text("calls books.find")
    units.get_by_role("button", name="Hide the run").click()
    expect(units.get_by_text("Where is it?")).to_be_hidden()
    button.press("Enter")
    expect(units).to_be_hidden()


def test_a_ref_leads_into_the_run_and_the_quotation_is_marked(
    page: Page, tmp_path: Path
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.goto(write_report(tmp_path).as_uri())
    unit = page.get_by_role("article").first
    unit.get_by_role("button", name="answer output").press("Enter")
    expect(unit.locator("mark")).to_have_text(["shelf 9"])
    quoted = unit.locator(".turn.quoted")
    expect(quoted).to_have_count(1)
    expect(quoted).to_contain_text("quoted as evidence")
    expect(quoted).to_be_focused()
    # It is there already: a second time hides nothing.
    unit.get_by_role("button", name="answer output").click()
    expect(quoted).to_be_visible()


def test_the_gate_leads_to_the_criteria_that_keep_it_from_passing(
    page: Page, tmp_path: Path
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.goto(write_report(tmp_path).as_uri())
    links = page.get_by_label("Gate").get_by_role("link")
    expect(links).to_have_text(["✗ names-shelf", "? is-kind"])
    is_kind = page.get_by_role("button", name="is-kind")
    expect(is_kind).to_have_attribute("aria-expanded", "false")
    page.get_by_label("Gate").get_by_role("link", name="is-kind").press("Enter")
    expect(is_kind).to_have_attribute("aria-expanded", "true")
    expect(is_kind).to_be_focused()
    # A link that is passed on opens what it names.
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(is_kind).to_have_attribute("aria-expanded", "true")


def test_without_script_what_fails_is_read_with_its_evidence(
    browser: Browser, tmp_path: Path
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(write_report(tmp_path).as_uri())
    expect(plain.get_by_label("Gate")).to_contain_text("GATE FAIL")
    units = plain.get_by_role("article")
    # One fails names-shelf; two of is-kind and two of asks-back are open.
    expect(units).to_have_count(5)
    expect(units.first).to_contain_text("It names another shelf.")
    expect(units.first).to_contain_text("shelf 9")
    # Nothing is shown that would not work.
    expect(plain.get_by_role("searchbox")).to_have_count(0)
    expect(plain.get_by_role("combobox")).to_have_count(0)
    context.close()


@pytest.mark.parametrize("width", [390, 760, 900, 1000, 1100, 1440])
def test_at_no_width_is_a_figure_out_of_sight(
    page: Page, tmp_path: Path, width: int
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(write_report(tmp_path).as_uri())
    for figure in page.locator("td.num, td.units, .unit").all():
        box = figure.bounding_box()
        assert box is not None
        assert 0 <= box["x"] and box["x"] + box["width"] <= width


def test_on_paper_every_figure_is_there(page: Page, tmp_path: Path) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 less its margins
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(write_report(tmp_path).as_uri())
    for figure in page.locator("td.num").all():
        box = figure.bounding_box()
        assert box is not None and box["x"] + box["width"] <= 718
    # Paper is white, whatever the screen.
    ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert ink == "rgb(26, 31, 43)"
    expect(page.get_by_role("searchbox")).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_count(0)


def test_the_table_filters_by_word_verdict_and_severity(
    page: Page, tmp_path: Path
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.goto(write_report(tmp_path).as_uri())
    rows = page.locator("tbody[data-criterion]:visible")
    expect(rows).to_have_count(4)
    page.get_by_label("Find").fill("KIND")
    expect(rows).to_have_count(1)
    expect(page.locator("#shown")).to_have_text("1 of 4 criteria")
    page.get_by_label("Find").fill("")
    page.get_by_label("Verdict").select_option("indeterminate")
    expect(rows).to_have_count(2)
    page.get_by_label("Severity").select_option("MED")
    expect(rows).to_have_count(1)


@pytest.mark.parametrize("text", BREAKOUTS)
def test_no_text_runs_in_a_browser(page: Page, tmp_path: Path, text: str) -> None:
    hostile_run(tmp_path, text)
    page.goto(write_report(tmp_path).as_uri())
    for button in page.locator("td.criterion button").all():
        button.click()
    page.get_by_role("button", name="Show the run").first.click()
    expect(page.get_by_role("article").first).to_be_visible()
    assert page.evaluate("window.owned") is None
    shown = page.get_by_role("article").first.inner_text()
    assert text.split("\u2028")[0] in shown


def _contrast(page: Page, selector: str) -> float:
    """Return the WCAG 2 contrast of an element's text with what lies behind it."""
    found = page.evaluate(
        """(selector) => {
          const node = document.querySelector(selector);
          let back = node;
          const parse = (text) => text.match(/[\\d.]+/g).map(Number);
          while (parse(getComputedStyle(back).backgroundColor)[3] === 0) {
            back = back.parentElement;
          }
          const light = (text) => parse(text).slice(0, 3)
            .map((c) => c / 255)
            .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
          return [light(getComputedStyle(node).color),
                  light(getComputedStyle(back).backgroundColor)];
        }""",
        selector,
    )
    high, low = max(found), min(found)
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_in_dark(
    page: Page, tmp_path: Path, scheme: Any
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    page.emulate_media(color_scheme=scheme)
    page.goto(write_report(tmp_path).as_uri())
    page.get_by_role("button", name="names-shelf").click()
    for selector in (
        "h1",
        ".meta li",
        ".gate strong",
        ".badge.pass",
        ".badge.fail",
        ".badge.open",
        ".parts .why",
        "th",
        "td.num small",
        ".tally",
        ".sev.advises",
        ".unit .said",
        ".refs .place",
        "footer p",
    ):
        assert _contrast(page, selector) >= 4.5, selector


@pytest.mark.parametrize("text", ["long-" * 60, "n" * 300, "مرحبا" * 60, "这是" * 150])
def test_nothing_scrolls_sideways_on_a_phone(
    page: Page, tmp_path: Path, text: str
) -> None:
    hostile_run(tmp_path, text)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(write_report(tmp_path).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_large_run_draws_only_what_is_looked_at(page: Page, tmp_path: Path) -> None:
    asked = suite(*[criterion(f"c-{n}") for n in range(10)])
    units = [said for n in range(10) for said in results("f" * 600, criterion=f"c-{n}")]
    write_run(tmp_path, asked, units)
    page.goto(write_report(tmp_path).as_uri())
    nodes = "document.getElementsByTagName('*').length"
    assert page.evaluate(nodes) < 1_000
    # Of each of the first that fail the gate, three units are open from the start.
    articles = page.get_by_role("article")
    expect(articles).to_have_count(15)
    page.get_by_role("button", name="c-7").click()
    articles = page.locator("#c7").get_by_role("article")
    expect(articles).to_have_count(25)
    page.locator("#c7").get_by_role("button", name="Show more").click()
    expect(articles).to_have_count(50)


def test_the_cases_are_found_by_item_query_or_id_and_open_what_fails(
    page: Page, tmp_path: Path
) -> None:
    write_run(tmp_path, ASKED, UNITS)
    names = CaseNames(
        Case(
            id=f"books-{number}",
            query=f"Where is volume {number}?",
            dimensions={"d": "v"},
            item=f"volume-{number}",
        )
        for number in range(6)
    )
    page.goto(write_report(tmp_path, names=names).as_uri())
    rows = page.locator(".case")
    # What fails the gate comes first; a case without any unit is a case as well.
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("volume-3 (books-3)")
    for words in ("volume-2", "books-2", "is volume 2"):
        page.get_by_label("Search").fill(words)
        expect(rows).to_have_count(1)
    page.get_by_label("Search").fill("")
    page.locator("#case-result").select_option("failing")
    expect(rows).to_have_count(1)
    rows.get_by_role("button").first.click()
    expect(rows.get_by_role("article").first).to_contain_text("It names another shelf.")
