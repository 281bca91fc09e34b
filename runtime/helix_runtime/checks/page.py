"""An artifact as its reader sees it: the text of an HTML page, or of Markdown.

Of HTML only what shows counts: no scripts, styles, comments, templates, `<head>`, no
title, closed dialog or popover, nothing that stands in for a video or a canvas, and
nothing inside an element that is hidden (`hidden`, `display: none`, `visibility:
hidden`, `type=hidden`), which ends where it ends in a browser. What fields show counts: `value`, `placeholder`, `alt` and
`label`. Where links lead and what pictures are taken from is kept apart (`targets`).
What a style sheet or a script does to the page can't be known.

A **place** is where one value stands: in HTML an element (`#total`, `.price`, `td.sum`,
`[data-slot=total]`), anywhere a label that ends in a colon or a bar (`Total:`,
`Total |`): what stands behind it in its line, or in the next line where it ends there.

Tags are found here and read one at a time by the standard library's parser, which on
broken HTML would take time that grows with the square of the page.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from ..record import record
from .paths import fold

Format = Literal["auto", "html", "text"]

MAX_PAGE: Final = 1_000_000
"""So many characters of an artifact are read."""
MAX_PLACES: Final = 1_000
"""So many elements of one place are read."""
MAX_PLACE: Final = 10_000
"""So many characters of one element are read."""

_MAX_PICTURE: Final = 1_000
_VOID: Final = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()
)
_RAW: Final = frozenset("script style noscript noembed noframes iframe title".split())
_NOT_SHOWN: Final = _RAW | frozenset(
    "head template object datalist annotation annotation-xml".split()
)
_STANDS_IN: Final = ("audio", "canvas", "video")  # what is inside shows in their place
_FOREIGN: Final = ("svg", "math")
_BLOCK: Final = frozenset(
    "address article aside blockquote body br button caption dd details dialog div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li "
    "main nav ol optgroup option p pre section select summary table tbody textarea tfoot "
    "thead tr ul".split()
)
_CELLS: Final = frozenset(("td", "th"))
_ROW: Final = frozenset(("td", "th", "tr"))
# What an end tag can't close, by the tree construction of the HTML standard: a part of a
# table nothing outside its table, an inline element nothing outside a block, and other
# elements nothing outside a cell. Formatting goes on through blocks.
_TABLE: Final = frozenset(("table", "template"))
_SCOPE: Final = _TABLE | _CELLS | frozenset(("caption", "object", "marquee"))
_SPECIAL: Final = (
    _BLOCK - frozenset(("option", "optgroup", "dialog", "legend"))
) | _SCOPE
_OF_TABLES: Final = _ROW | frozenset("table tbody tfoot thead caption template".split())
_FORMATTING: Final = frozenset(
    "a b big code em font i nobr s small strike strong tt u".split()
)
_CLOSES: Final[Mapping[str, frozenset[str]]] = {
    "body": frozenset(("head",)),
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "td": _CELLS,
    "th": _CELLS,
    "tr": _ROW,
    "tbody": _ROW,
    "tfoot": _ROW | {"tbody"},
    "option": frozenset(("option",)),
    "optgroup": frozenset(("option", "optgroup")),
    **dict.fromkeys("div dl h1 h2 h3 ol p section table ul".split(), frozenset("p")),
}
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "img": ("alt",),
    "area": ("alt",),
    "input": ("value", "placeholder", "alt"),
    "textarea": ("placeholder",),
    "meter": ("value",),
    "progress": ("value",),
    "option": ("label",),
    "optgroup": ("label",),
}
_TARGETS: Final[Mapping[str, str]] = {
    "a": "href",
    "area": "href",
    "audio": "src",
    "img": "src",
    "source": "src",
    "video": "src",
}
_SILENT_INPUTS: Final = frozenset(("hidden", "password", "checkbox", "radio", "file"))

_HTML: Final = re.compile(r"<(?:!doctype|!--|/?[a-z][a-z0-9-]*(?:\s[^<>]*)?/?>)", re.I)
_NAME: Final = re.compile(r"/?([a-zA-Z][^\s/>]*)")
_BOGUS: Final = re.compile(r"<(?:[!?]|/[^a-zA-Z])")  # comments, for a browser
_IN_TAG: Final = re.compile(r"[\"'>]")
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)")
_LINK: Final = re.compile(r"\]\(([^()\s]{0,2000})\)")
_REMARK: Final = re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*(?:#|<>)[ \t].*$", re.M)
_MARKS: Final = re.compile(
    r"[*`]|~~|\\(?=[!-/:-@\[-`{-~])|^[ \t]{0,3}(?:#{1,6}|>)[ \t]", re.M
)
_SELECTOR: Final = re.compile(
    r"([A-Za-z][\w-]*)?(#[\w-]+)?((?:\.[\w-]+)*)"
    r"(?:\[([\w:-]+)(?:=(?:\"([^\"]*)\"|'([^']*)'|([^\]\"']*)))?\])?"
)


def place_fault(place: Any) -> str | None:
    """Return why a text names no place, or None."""
    if not place.strip():
        return "is blank"
    if _is_label(place):
        if any(letter.isalnum() for letter in place):
            return None
        return "is a label without letters"
    if _SELECTOR.fullmatch(place.strip()):
        return None
    return (
        f"is {place!r}: neither an element (`#total`, `.price`, `td.sum`, "
        "`[data-slot=total]`) nor a label that ends in a colon or a bar (`Total:`)"
    )


def _is_label(place: str) -> bool:
    return place.rstrip().endswith((":", "|"))


@record
class Element:
    """An element of a page and what it shows."""

    tag: str
    attributes: Mapping[str, str]
    text: str


@record(kw_only=True)
class Page:
    """What an artifact shows.

    `text` has its lines; cells of a row are parted by tabs. `spaced` also parts what
    elements stand side by side without a space, which a page may set apart by style.
    `targets` are where its links lead, and the addresses of its pictures. `unread` says that it was too large to be read whole.
    """

    text: str
    spaced: str
    is_html: bool
    targets: frozenset[str]
    unread: bool
    elements: Callable[[str], Sequence[Element]]

    def at(self, place: str, *, ignore_case: bool = False) -> list[str]:
        """Return what stands at a place: one text for each that is not blank."""
        if _is_label(place):
            found = _behind(self.text, place, ignore_case=ignore_case)
        else:
            found = [element.text for element in self.elements(place)]
        return [text for text in map(_trimmed, found) if text][:MAX_PLACES]


def _trimmed(text: str) -> str:
    return fold(text[:MAX_PLACE])


def read_page(source: str, *, format: Format = "auto") -> Page:
    """Return what an artifact shows; `auto` takes it for HTML where it has a tag."""
    unread = len(source) > MAX_PAGE
    source = source[:MAX_PAGE]
    if format == "html" or (format == "auto" and _HTML.search(source)):
        reader = _Reader(source)
        return Page(
            text="".join(reader.pieces),
            spaced=" ".join(reader.pieces),
            is_html=True,
            targets=frozenset(reader.targets),
            unread=unread,
            elements=reader.find,
        )
    text = plain_text(source)
    return Page(
        text=text,
        spaced=text,
        is_html=False,
        targets=frozenset(match.group(1) for match in _LINK.finditer(source)),
        unread=unread,
        elements=lambda _: (),
    )


def plain_text(text: str) -> str:
    """Return Markdown without its marks and remarks (`[//]: # (not shown)`).

    A link reads as its text.
    """
    return _MARKS.sub("", _LINK.sub("]", _REMARK.sub("", text)))


def _behind(text: str, label: str, *, ignore_case: bool) -> list[str]:
    wanted = fold(plain_text(label), ignore_case=ignore_case)
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        folded = " ".join(line.replace("\t", " \x1f ").split())
        at = -1
        searched = fold(folded, ignore_case=ignore_case)
        if len(searched) != len(folded):
            folded = searched
        while (at := searched.find(wanted, at + 1)) >= 0:
            if at and searched[at - 1].isalnum():
                continue
            end = at + len(wanted)
            rest = folded[end : end + MAX_PLACE].lstrip("\x1f ")
            if not rest:
                later = (
                    line for line in lines[number + 1 : number + 9] if line.strip()
                )
                rest = next(later, "").replace("\t", "\x1f").lstrip("\x1f ")
            found.append(re.split("[\x1f|]", rest, maxsplit=1)[0])
            if len(found) >= MAX_PLACES:
                return found
    return found


class _Open:
    """An element that is being read."""

    __slots__ = ("attributes", "hidden", "start", "tag")

    def __init__(
        self, tag: str, attributes: Mapping[str, str], start: int, hidden: bool
    ) -> None:
        self.tag = tag
        self.attributes = attributes
        self.start = start
        self.hidden = hidden


class _Reader:
    """Reads a page: its visible text in pieces, and which pieces an element holds."""

    def __init__(self, source: str) -> None:
        self.pieces: list[str] = []
        self.targets: set[str] = set()
        self._open: list[_Open] = []
        # where the open elements stand in `_open`: those of each tag, and by kind
        self._at: dict[str, list[int]] = {}
        self._bounds: dict[frozenset[str], list[int]] = {
            kind: [] for kind in (_TABLE, _SCOPE, _SPECIAL)
        }
        self._closed: list[tuple[str, Mapping[str, str], int, int]] = []
        self._read(source)
        while self._open:
            self._close()
        self._closed.sort(key=lambda one: (one[2], -one[3]))

    def find(self, selector: str) -> list[Element]:
        """Return the elements that a selector means, in the order of the page."""
        fits = _selects(selector)
        found = []
        for tag, attributes, start, end in self._closed:
            if fits(tag, attributes):
                found.append(Element(tag, attributes, self._text(start, end)))
                if len(found) >= MAX_PLACES:
                    break
        return found

    def _text(self, start: int, end: int) -> str:
        taken: list[str] = []
        length = 0
        for piece in self.pieces[start:end]:
            taken.append(piece)
            length += len(piece)
            if length > MAX_PLACE:
                break
        return "".join(taken)

    # -- the source, piece by piece

    def _read(self, source: str) -> None:
        from html import unescape

        parser = _tag_parser(self)
        at = 0
        while True:
            tag = source.find("<", at)
            text = source[at:] if tag < 0 else source[at:tag]
            if text:
                self._say(unescape(text))
            if tag < 0:
                return
            if source.startswith("<!--", tag):
                end = source.find("-->", tag + 4)
                at = end + 3
            elif _BOGUS.match(source, tag):
                end = source.find(">", tag)
                at = end + 1
            else:
                name = _NAME.match(source, tag + 1)
                if name is None:
                    self._say("<")
                    at = tag + 1
                    continue
                read, end = _tag(source, tag)
                if end >= 0:
                    parser.feed(read)
                    parser.reset()
                    at = self._skip(source, read, name.group(1).lower(), end)
                    if at < 0:
                        return
            if end < 0:
                # As in a browser: what is never closed takes the rest of the page.
                return

    def _skip(self, source: str, read: str, name: str, end: int) -> int:
        """Return where to go on behind a tag: behind the end of what shows nothing."""
        if name not in _RAW or read.startswith("</"):
            return end
        closing = re.compile(rf"</{name}(?=[\s/>])", re.I).search(source, end)
        return -1 if closing is None else closing.start()

    # -- what the tags say

    def start(
        self, tag: str, attributes: Mapping[str, str], *, closed: bool = False
    ) -> None:
        """Open an element, and close those that can't go on around it.

        `closed` (`<path/>`) says something in SVG and MathML alone.
        """
        closes = _CLOSES.get(tag, ())
        while self._open and self._open[-1].tag in closes:
            self._close()
        hidden = (
            bool(self._open and self._open[-1].hidden)
            or tag in _NOT_SHOWN
            or "hidden" in attributes
            or "popover" in attributes
            or (tag == "dialog" and "open" not in attributes)
            or (tag == "input" and attributes.get("type", "").lower() in _SILENT_INPUTS)
            or _HIDDEN.search(_style(attributes)) is not None
        )
        self._part(tag)
        stands_in = self._stands_in()
        at = len(self._open)
        self._open.append(_Open(tag, attributes, len(self.pieces), hidden))
        self._at.setdefault(tag, []).append(at)
        for kind, places in self._bounds.items():
            if tag in kind:
                places.append(at)
        target = attributes.get(_TARGETS.get(tag, ""))
        if target and not hidden and (tag == "source" or not stands_in):
            self.targets.add(target.strip())
        for field in _FIELDS.get(tag, ()):
            if attributes.get(field):
                self._say(f" {attributes[field]} ")
                if tag == "input":
                    break  # a field that is filled shows no placeholder
        if tag in _VOID or (closed and any(map(self._at.get, _FOREIGN))):
            self._close()

    def end(self, tag: str) -> None:
        """Close an element and those inside it that are still open, where it may."""
        open_at = self._at.get(tag)
        if not open_at or tag in ("body", "html"):
            return
        bounds = self._bounds[_ends_at(tag)]
        if bounds and bounds[-1] > open_at[-1]:
            return
        while self._close() != tag:
            pass

    def _stands_in(self) -> bool:
        return any(map(self._at.get, _STANDS_IN))

    def _close(self) -> str:
        element = self._open.pop()
        self._at[element.tag].pop()
        for kind, places in self._bounds.items():
            if element.tag in kind:
                places.pop()
        self._closed.append(
            (element.tag, element.attributes, element.start, len(self.pieces))
        )
        self._part(element.tag)
        return element.tag

    def _part(self, tag: str) -> None:
        if tag in _BLOCK:
            self.pieces.append("\n")
        elif tag in _CELLS:
            self.pieces.append("\t")

    def _say(self, text: str) -> None:
        if not (self._open and self._open[-1].hidden) and not self._stands_in():
            self.pieces.append(
                re.sub(r"[ \t\n\r\f]+", " ", text) if not self._at.get("pre") else text
            )


def _ends_at(tag: str) -> frozenset[str]:
    """Return the elements behind which an end tag closes nothing."""
    if tag in _OF_TABLES:
        return _TABLE
    return _SCOPE if tag in _FORMATTING or tag in _SPECIAL else _SPECIAL


def _style(attributes: Mapping[str, str]) -> str:
    """Return the style of an element in lower case, without comments."""
    first, *others = attributes.get("style", "").lower().split("/*")
    return first + "".join(other.partition("*/")[2] for other in others)


def _tag(source: str, at: int) -> tuple[str, int]:
    """Return the tag at a position and where it ends; -1 where it never does.

    Pictures that stand in the page are shortened.
    """
    kept: list[str] = []
    begin = at
    while True:
        stop = _IN_TAG.search(source, at + 1)
        if stop is None:
            return "", -1
        at = stop.start()
        if stop.group() == ">":
            kept.append(source[begin:at])
            return "".join(kept) + ">", at + 1
        # A quote opens a value only behind an equals sign.
        before = at - 1
        while source[before].isspace():
            before -= 1
        if source[before] != "=":
            continue
        close = source.find(stop.group(), at + 1)
        if close < 0:
            return "", -1
        picture = source.startswith("data:", at + 1)
        kept.append(
            source[begin : min(close, at + 1 + _MAX_PICTURE) if picture else close]
        )
        begin = at = close


def _tag_parser(reader: _Reader) -> Any:
    from html.parser import HTMLParser

    class Tags(HTMLParser):
        """Hands the tags that it is fed to the reader."""

        def handle_starttag(
            self, tag: str, attrs: list[tuple[str, str | None]]
        ) -> None:
            reader.start(tag, _first(attrs))

        def handle_startendtag(
            self, tag: str, attrs: list[tuple[str, str | None]]
        ) -> None:
            reader.start(tag, _first(attrs), closed=True)

        def handle_endtag(self, tag: str) -> None:
            reader.end(tag)

    return Tags()


def _first(attributes: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """Return attributes by name; of one that is there twice the first counts."""
    found: dict[str, str] = {}
    for name, value in attributes:
        found.setdefault(name, value or "")
    return found


def _selects(selector: str) -> Callable[[str, Mapping[str, str]], bool]:
    match = _SELECTOR.fullmatch(selector.strip())
    assert match is not None, selector
    tag, identity, classes, attribute, *values = match.groups()
    value = next((one for one in values if one is not None), None)
    wanted = {name for name in (classes or "").split(".") if name}

    def fits(name: str, attributes: Mapping[str, str]) -> bool:
        return (
            (tag is None or name == tag.lower())
            and (identity is None or attributes.get("id") == identity[1:])
            and wanted <= set(attributes.get("class", "").split())
            and (attribute is None or attribute.lower() in attributes)
            and (value is None or attributes.get((attribute or "").lower()) == value)
        )

    return fits
