"""What a page shows, and what a value reads as where it is shown."""

import subprocess
import sys
from decimal import Decimal
from time import process_time
from typing import Any

import pytest
from helix_runtime.checks.page import MAX_PAGE, place_fault, read_page
from helix_runtime.checks.readings import numbers_in, readings_of, readings_of_text
from hypothesis import given, settings
from hypothesis import strategies as st


def lines(source: str) -> list[str]:
    """Return the lines that a page shows, without outer white space."""
    text = read_page(source, format="html").text
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<p>a &amp; b&nbsp;&lt;c&gt;</p>", ["a & b <c>"]),
        ("<p>1</p><p>2</p>", ["1", "2"]),
        ("<b>1</b>2<i>3</i>", ["123"]),
        ("1<br>2<hr/>3", ["1", "2", "3"]),
        ("<td>1<td>2", ["1 2"]),
        ("<head><title>x</title></head><body>y</body>", ["y"]),
        ("<head><title>x</title><body>y", ["y"]),
        ("<script>var a='</p>x'; if (a<b) {}</script>y", ["y"]),
        ("<style>p{color:red}</style>y<SCRIPT src=a>x</SCRIPT >z", ["yz"]),
        ("<script>x", []),
        ("<!-- x --> y <!-- <p>z</p> -->", ["y"]),
        ("y<!-- x", ["y"]),
        ("<!doctype html><?xml version='1'?>y<![CDATA[x]]>", ["y"]),
        ("<p hidden>x</p>y", ["y"]),
        ("<div style='Display : none'><b>x</b></div>y", ["y"]),
        ("<p style='visibility:hidden'>x</p>y", ["y"]),
        ("<template><p>x</p></template><noscript>x</noscript>y", ["y"]),
        ("<input type=hidden value=x><input value=y>", ["y"]),
        ("<input type=password value=x><input placeholder=y>", ["y"]),
        ("<img alt='y' src='data:" + "A" * 50_000 + "'>", ["y"]),
        ("a < b > c", ["a < b > c"]),
        ("</p></nothing>y", ["y"]),
        ("<p title='>x'>y</p>", ["y"]),
        ("y<p title='x", ["y"]),
        ("<div hidden><p>x</div>y", ["y"]),
        ("<pre>a\n  b</pre>", ["a", "b"]),
        ("<title>x</title><p>y", ["y"]),
        ("<svg><title>x</title><path hidden/><text>y</text></svg>", ["y"]),
        ("<template><template></template>x</template>y", ["y"]),
        ("<dialog>x</dialog><dialog open>y</dialog><p popover>x</p>", ["y"]),
        ("<datalist><option value=x>x</datalist>y", ["y"]),
        ("<video><source src=a>x</video><canvas>x</canvas><audio>x</audio>y", ["y"]),
        ("<p style='display:/**/none'>x</p>y", ["y"]),
        (f"<p style='{'color:red;' * 300}display:none'>x</p>y", ["y"]),
        (f"<p {'a=1 ' * 9_000} hidden>x</p>y", ["y"]),
        ("<p title=" + " " * 40 + "'>x'>y</p>", ["y"]),
        ("y</ x></1x></>", ["y"]),
        ("<input value=y placeholder=x>", ["y"]),
    ],
)
def test_only_what_shows_counts(source: str, shown: list[str]) -> None:
    assert lines(source) == shown


@pytest.mark.parametrize(
    "source",
    [
        "y<div hidden />x",
        "y<span hidden><div></span>x</div>",
        "y<div hidden><table><tr><td></div>x</table>",
        "y<div hidden><template></div></template>x",
        "y<div hidden></body></html>x",
    ],
)
def test_what_is_hidden_ends_where_it_ends_in_a_browser(source: str) -> None:
    assert lines(source) == ["y"]


def test_remarks_of_markdown_do_not_show() -> None:
    page = read_page("[//]: # (total 12)\n[Total]: 13", format="text")
    assert page.text == "\n[Total]: 13"


PAGE = """<body><div id=sum class="big total"> 12 </div>
<ul><li class=i>one<li class=i>two<li class=i> </ul>
<table><tr><th>Name:</th><td data-slot="who">Ada</td></tr><tr><th>City:<td>Rome</table>
<p>Subtotal: 3 | Total: <b>15</b> EUR</p><dl><dt>State:</dt><dd>open</dd></dl>"""


@pytest.mark.parametrize(
    ("place", "texts"),
    [
        ("#sum", ["12"]),
        (".big", ["12"]),
        (".total.big", ["12"]),
        ("div", ["12"]),
        ("p.big", []),
        ("li", ["one", "two"]),
        ("LI.i", ["one", "two"]),
        ("[data-slot]", ["Ada"]),
        ("[data-slot=who]", ["Ada"]),
        ("td[data-slot='who']", ["Ada"]),
        ("[data-slot=whom]", []),
        ("Name:", ["Ada"]),
        ("City:", ["Rome"]),
        ("Total:", ["15 EUR"]),
        ("Subtotal:", ["3"]),
        ("State:", ["open"]),
        ("Nothing:", []),
    ],
)
def test_a_place_is_found(place: str, texts: list[str]) -> None:
    assert place_fault(place) is None
    assert read_page(PAGE).at(place) == texts


@pytest.mark.parametrize(
    ("place", "texts"),
    [
        ("Total:", ["1,234.50 EUR"]),
        ("Name |", ["Ada"]),
        ("State:", ["open"]),
        ("#total", []),
    ],
)
def test_markdown_reads_without_its_marks(place: str, texts: list[str]) -> None:
    text = "## Offer\n\n**Total:** `1,234.50` EUR\n\n| Name | *Ada* |\n\nState:\n\nopen"
    page = read_page(text)
    assert not page.is_html
    assert page.at(place) == texts


def test_where_links_lead_is_kept_apart() -> None:
    html = "<a href='/a?x=1&amp;y=2'>b</a><img src=c><p hidden><a href=d>e</a></p>"
    assert read_page(html).targets == {"/a?x=1&y=2", "c"}
    assert read_page("See [it](/a) now").targets == {"/a"}
    assert read_page("See [it](/a) now").text == "See [it] now"


@pytest.mark.parametrize(
    "place", ["", " ", "the total", "p > b", "a, b", ":", "#", "?"]
)
def test_what_names_no_place_is_refused(place: str) -> None:
    assert place_fault(place)


def test_a_page_is_read_up_to_a_limit_and_says_so() -> None:
    page = read_page("<p>" + "a " * MAX_PAGE + "</p>")
    assert page.unread
    assert len(page.text) <= MAX_PAGE


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<!",
        "<?",
        "<![",
        "<",
        "</",
        "<a ",
        "<a",
        '<a x="',
        "<a b='\"",
        "<a b=",
        "<div>",
        "</a>",
        "<script>",
        "<b>1</i>",
        "&",
        "&#",
        "Total: ",
        "1,111",
        "1 ",
        "](",
        "*",
    ],
)
def test_no_broken_page_takes_time_that_explodes(piece: str) -> None:
    def spent(size: int) -> float:
        source = piece * (size // len(piece))
        start = process_time()
        page = read_page(source, format="html")
        page.at("div")
        page.at("Total:")
        for _ in numbers_in(page.text):
            pass
        read_page(source, format="text").at("Total:")
        return process_time() - start

    # Eight times the text: far less than the 64 times of what grows by the square.
    small = max(spent(25_000) for _ in range(2))
    assert spent(200_000) < 24 * small + 0.5


@settings(deadline=None)
@given(st.text(alphabet="<>/!-?&;='\" \nabp#[]:|", max_size=80))
def test_any_text_can_be_read_as_a_page(source: str) -> None:
    for format in ("html", "text", "auto"):
        page = read_page(source, format=format)
        for place in ("p", "a:", "[a=b]"):
            assert all(text.strip() for text in page.at(place))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.50", 1234.5),
        ("1.234,5", 1234.5),
        ("1 234.5", 1234.5),
        ("1\u202f234,50", 1234.5),
        ("1'234.50", 1234.5),
        ("12,34,567", 1234567),
        ("1,234", 1234),
        ("1,234", 1.234),
        ("0,234", 0.234),
        ("1.234.567", 1234567),
        ("\u22125", -5),
        ("(12.5)", -12.5),
        ("(12.5)", 12.5),
        ("EUR 12", 12),
        ("12 %", 0.12),
        ("12%", 12),
        ("5kg", 5),
        ("1e3", 1000),
        ("100", 100.0),
        ("x 7.", 7),
    ],
)
def test_a_number_is_one_however_it_is_spelled(text: str, value: float) -> None:
    read = frozenset().union(*numbers_in(text))
    assert readings_of(value) & read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.50", 1234.51),
        ("12", 120),
        ("0,234", 234),
        ("12.5", 12),
        ("5f3a", 5),
        ("A5", 5),
        ("12", -12),
        ("12", 0.12),
        ("2.3", 2.25),
        ("9" * 500, 9),
    ],
)
def test_another_number_is_another(text: str, value: float) -> None:
    read: frozenset[Any] = frozenset().union(*numbers_in(text))
    assert not readings_of(value) & read


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(2.25, 1, "2.3"), (2.25, 1, "2.2"), (1234.567, 0, "1,235"), (2, 2, "2.00")],
)
def test_a_page_may_round_where_it_is_told_to(
    value: float, decimals: int, text: str
) -> None:
    assert readings_of(value, decimals=decimals) & readings_of_text(text)


def test_what_is_cut_off_is_not_rounded() -> None:
    assert not readings_of(1234.567, decimals=0) & readings_of_text("1,234")


@pytest.mark.parametrize("value", [True, None, "", " ", [], float("nan"), 10**400])
def test_what_shows_in_too_many_ways_has_no_reading(value: Any) -> None:
    assert readings_of(value) == frozenset()


@given(st.decimals(-(10**9), 10**9, places=2))
def test_a_formatted_number_reads_as_itself(number: Decimal) -> None:
    value = float(number)
    swiss = f"{number:,.2f}".replace(",", "'")
    german = f"{number:,.2f}".translate(str.maketrans(",.", ".,"))
    for text in (f"{number:,.2f}", swiss, german, f"{number:,.2f} EUR"):
        assert readings_of(value) & frozenset().union(*numbers_in(text))
        assert not readings_of(value + 1) & frozenset().union(*numbers_in(text))


def test_what_only_pages_need_is_imported_when_a_page_is_read() -> None:
    code = "import sys, helix_runtime.checks.ui, helix_runtime.checks.flow\n"
    code += "print(sorted({'html', 'html.parser', 'decimal'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
