"""The dashboard: what a run comes to, on one screen of a terminal.

It holds at MIN_WIDTH columns and wider, and says the same without colour: a glyph carries
what a colour repeats. Every text of the scorecard is a stranger's: it is made
printable before it is measured, and colours are put around it last.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..names import CaseNames, sample_label
from ..record import record
from ..rollup import FLAPS
from .cells import cells, cut, fit, one_line, right, safe, wrap
from .words import (
    GATING,
    SCOPE,
    blocked_words,
    by_urgency,
    failure_lines,
    flapping_words,
    gate_summary,
    grouped,
    is_idle,
    is_not_gated,
    is_share,
    judge_words,
    measured,
    needs,
    next_steps,
    number,
    open_units,
    other_notes,
    plural,
    reservations,
    span,
    unmeasured,
    usage_line,
    variance_words,
)

if TYPE_CHECKING:
    from ..baseline.changes import Changes

MIN_WIDTH: Final = 40
MAX_WIDTH: Final = 140
WIDE: Final = 112
"""From this width on, a criterion takes one line."""
NARROW: Final = 64
"""Below this width, what stands side by side elsewhere stands below each other."""

MAX_CRITERIA: Final = 40
MAX_COMPONENTS: Final = 12
MAX_DETAILS: Final = 8
MAX_SAMPLES: Final = 3

_MARKS: Final[Mapping[str, str]] = {
    "pass": "✓",
    "fail": "✗",
    "indeterminate": "?",
    "incomplete": "?",
}
_COLORS: Final[Mapping[str, str]] = {
    "pass": "32",
    "fail": "31",
    "indeterminate": "33",
    "incomplete": "33",
}
_BANNERS: Final[Mapping[str, str]] = {
    "pass": "1;30;42",
    "fail": "1;97;41",
    "incomplete": "1;30;43",
}
_TRUST_COLORS: Final[Mapping[str, str]] = {"validated": "32", "failed": "31"}
_PASS, _FAIL, _OPEN = "█", "▚", "░"

Paint = Callable[[str, str], str]


def render_dashboard(
    scorecard: Mapping[str, Any],
    *,
    width: int,
    color: bool,
    run_folder: str | None,
    changes: "Changes | None" = None,
    names: CaseNames | None = None,
) -> str:
    """Return the dashboard of a scorecard, lines ended by a line feed.

    `width` is that of the terminal, in cells; no line is wider (below MIN_WIDTH, than
    that), but for `run_folder`, where the run lies, and the digest: both stay whole.
    `color` says whether escape sequences may be used. `changes` is what became other
    since a baseline, `names` what the cases are called.
    """
    wide = max(MIN_WIDTH, min(width, MAX_WIDTH))
    board = _Board(scorecard, width=wide, paint=_ansi if color else _plain)
    sections = [
        [*board.header(), "", *board.banner()],
        list(board.broken()),
        list(board.components()),
        list(board.criteria()),
        list(board.judges()),
        list(board.failures()),
        list(board.waiting()),
        list(board.against(changes, names or CaseNames())),
        list(board.facts()),
        list(board.next(run_folder)),
    ]
    lines: list[str] = []
    for section in sections:
        if section:
            lines += ["", *section]
    return "\n".join(line.rstrip() for line in lines) + "\n\n"


def _plain(style: str, text: str) -> str:
    return text


def _ansi(style: str, text: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text else text


@record
class _Figures:
    rate: str
    interval: str
    bounds: str
    counts: str


@record
class _Widths:
    """How wide the columns are: what is shown fits, so that no figure is cut."""

    interval: int
    bounds: int
    pair: int
    counts: int

    @staticmethod
    def of(rows: Sequence[_Figures]) -> "_Widths":
        return _Widths(
            interval=max(13, *(cells(row.interval) for row in rows)),
            bounds=max(12, *(cells(row.bounds) for row in rows)),
            pair=max(cells(f"{row.interval} {row.bounds}".strip()) for row in rows),
            counts=max(20, *(cells(row.counts) for row in rows)),
        )


class _Board:
    def __init__(
        self, scorecard: Mapping[str, Any], *, width: int, paint: Paint
    ) -> None:
        self.card = scorecard
        self.width = width
        self.inner = width - 2
        self.narrow = width < NARROW
        self.paint = paint

    # -- head -------------------------------------------------------------------

    def header(self) -> Iterator[str]:
        subject, run = self.card["subject"], self.card["run"]
        left = safe(f"{subject['name']} {subject['version']}", 200)
        about = [run["mode"], run["id"]]
        if self.card["pin"] is not None:
            about.insert(1, self.card["pin"]["model"])
        aside = safe(" · ".join(str(a) for a in about), 200)
        if self.narrow:
            for style, text in (("1", left), ("2", aside)):
                for line in wrap(text, self.inner, lines=2):
                    yield f"  {self.paint(style, line)}"
        else:
            aside = cut(aside, self.inner // 2)
            room = self.inner - cells(aside) - 2
            title = self.paint("1", fit(left, room))
            yield f"  {title}  {self.paint('2', aside)}"
        yield "  " + self.paint("2", "─" * self.inner)

    def banner(self) -> Iterator[str]:
        verdict = self.card["gate"]["verdict"]
        label = f"  {_MARKS[verdict]} GATE {verdict.upper()}  "
        banner = self.paint(_BANNERS[verdict], label)
        indent = 4 if self.narrow else cells(label) + 4
        room = self.width - indent
        first, *more = wrap(gate_summary(self.card), room, lines=3) or [""]
        if self.narrow:
            yield f"  {banner}"
            yield " " * indent + self.paint("1", first)
        else:
            yield f"  {banner}  {self.paint('1', first)}"
        for line in more:
            yield " " * indent + self.paint("1", line)
        for note in reservations(self.card):
            for line in wrap(safe(note, 400), room, lines=8 if self.narrow else 3):
                yield " " * indent + self.paint("33", line)

    def components(self) -> Iterator[str]:
        rank = ("fail", "incomplete", "pass")
        found = sorted(
            self.card["gate"]["components"], key=lambda c: rank.index(c["verdict"])
        )
        # The whole subject stays on top.
        found.sort(key=lambda c: c["id"] != "subject")
        shown = found[:MAX_COMPONENTS]
        names = [safe(c["id"], 80) for c in shown]
        room = min(max([cells(n) for n in names], default=0), self.inner * 2 // 5)
        said: set[str] = set()
        for component, name in zip(shown, names, strict=True):
            verdict = component["verdict"]
            # What stands above already is not said again.
            fresh = [text for text in component["because"] if text not in said]
            because = [safe(text, 400) for text in grouped(fresh)]
            said.update(component["because"])
            text = "; ".join(because[:2])
            if len(because) > 2:
                text += f"; and {len(because) - 2} more"
            style = ""
            if not because and component["because"]:
                style, text = "2", "for the same reasons"
            color, mark, word = _COLORS[verdict], _MARKS[verdict], verdict
            if is_not_gated(component):
                color, mark, word = "2", "–", "not gated"
            mark = self.paint(color, mark)
            if self.narrow:
                state = self.paint(color, word)
                yield f"  {mark} {cut(name, self.inner - 14)}  {state}"
                for line in wrap(text, self.inner - 2, lines=6):
                    yield f"    {self.paint(style, line) if style else line}"
                continue
            state = self.paint(color, fit(word, 10))
            rest = self.inner - room - 16
            lines = wrap(text, rest, lines=3 if component is shown[0] else 2)
            first = (
                self.paint(style, lines[0]) if lines and style else "".join(lines[:1])
            )
            yield f"  {mark} {fit(name, room)}  {state}  {first}"
            for line in lines[1:]:
                yield " " * (room + 18) + line
        if len(found) > len(shown):
            yield self._aside(
                f"and {plural(len(found) - len(shown), 'component')} more"
            )

    # -- criteria ---------------------------------------------------------------

    def criteria(self) -> Iterator[str]:
        found = by_urgency(self.card["criteria"])
        if not found:
            return
        title = "CRITERIA"
        legend = f"{_PASS} pass  {_FAIL} fail  {_OPEN} open"
        columns = "rate · 95% interval · [bounds]"
        if self.width < 76:
            columns = ""
        gap = self.inner - len(title) - len(legend) - len(columns) - 4
        yield (
            f"  {self._title(title)}  {self.paint('2', columns)}  {' ' * gap}"
            f"{self._bar_legend()}"
        )
        shown = found[:MAX_CRITERIA]
        names = [safe(c["criterionId"], 200) for c in shown]
        rows = [
            (name, criterion, self._figures(criterion))
            for name, criterion in zip(names, shown, strict=True)
        ]
        widths = _Widths.of([figures for _, _, figures in rows])
        for name, criterion, figures in rows:
            if self.width >= WIDE and self._spare(widths) >= 40:
                yield self._wide_row(criterion, name, figures, widths)
            else:
                yield from self._narrow_rows(criterion, name, figures, widths)
        if len(found) > len(shown):
            rest = found[MAX_CRITERIA:]
            passing = sum(1 for c in rest if c["verdict"] == "pass")
            yield self._aside(
                f"and {len(rest):,} more, {passing:,} of which pass: see scorecard.json"
            )

    def _bar_legend(self) -> str:
        return "  ".join(
            (
                self.paint("32", _PASS) + " pass",
                self.paint("31", _FAIL) + " fail",
                self.paint("33", _OPEN) + " open",
            )
        )

    def _lead(self, criterion: Mapping[str, Any], name: str, room: int) -> str:
        verdict = criterion["verdict"]
        gates = criterion["severity"] in GATING
        mark = self.paint(_COLORS[verdict], _MARKS[verdict])
        severity = self.paint("1" if gates else "2", fit(criterion["severity"], 4))
        return f"  {mark} {severity} {self.paint('1', fit(name, room))}"

    def _spare(self, widths: "_Widths") -> int:
        """Return what is left of a line for a criterion's name and its bar."""
        taken = widths.interval + 1 + widths.bounds + 1 + widths.counts
        return self.inner - 21 - taken

    def _wide_row(
        self,
        criterion: Mapping[str, Any],
        name: str,
        figures: "_Figures",
        widths: "_Widths",
    ) -> str:
        spare = self._spare(widths)
        room = spare * 3 // 5
        return (
            f"{self._lead(criterion, name, room)}  "
            f"{self._bar(criterion['counts'], spare - room)}  "
            f"{right(figures.rate, 7)}  "
            f"{self.paint('2', fit(figures.interval, widths.interval))} "
            f"{self.paint('2', fit(figures.bounds, widths.bounds))} "
            f"{fit(figures.counts, widths.counts)}"
        )

    def _narrow_rows(
        self,
        criterion: Mapping[str, Any],
        name: str,
        figures: "_Figures",
        widths: "_Widths",
    ) -> Iterator[str]:
        aside = f"{criterion['class']}, {needs(criterion['threshold'])}"
        room = self.inner - 7 - cells(aside) - 2
        if self.narrow:
            yield self._lead(criterion, name, self.inner - 7)
            yield f"         {self.paint('2', cut(aside, self.inner - 7))}"
        else:
            yield f"{self._lead(criterion, name, room)}  {self.paint('2', aside)}"
        said = f"{figures.interval} {figures.bounds}".strip()
        pair = max(widths.pair, 22)
        bar_room = min(self.inner - 58, self.width - 16 - pair - widths.counts)
        if bar_room >= 10:
            yield (
                f"    {self._bar(criterion['counts'], bar_room)} "
                f"{right(figures.rate, 7)}  "
                f"{self.paint('2', fit(said, pair))}  {figures.counts}"
            )
            return
        bar = self._bar(criterion["counts"], 10)
        if 24 + cells(said) > self.width:
            yield f"    {bar} {right(figures.rate, 7)}"
            yield f"    {self.paint('2', cut(said, self.inner - 2))}"
        else:
            yield f"    {bar} {right(figures.rate, 7)}  {self.paint('2', said)}"
        yield f"    {cut(figures.counts, self.inner - 2)}"

    def _figures(self, criterion: Mapping[str, Any]) -> "_Figures":
        share = is_share(criterion["threshold"])
        rate = criterion["rate"]
        interval = span(criterion["interval"], share=share)
        bounds = span(criterion["bounds"], share=share)
        shaky = criterion["bounds"] is not None and open_units(criterion["counts"])
        return _Figures(
            rate="–" if rate is None else number(rate, share=share),
            interval="" if criterion["interval"] is None else interval,
            bounds=f"[{bounds}]" if shaky else "",
            counts=self._counts(criterion),
        )

    @staticmethod
    def _counts(criterion: Mapping[str, Any]) -> str:
        counts = criterion["counts"]
        waiting = open_units(counts)
        said = []
        if counts["pass"]:
            idle = ", untested" if is_idle(criterion) else ""
            said.append(f"{counts['pass']:,} pass{idle}")
        if counts["fail"]:
            said.append(f"{counts['fail']:,} fail")
        if waiting:
            said.append(f"{waiting:,} open")
        if not said:
            return f"all {counts['na']:,} na" if counts["na"] else "no units"
        return " ".join(said)

    def _bar(self, counts: Mapping[str, int], width: int) -> str:
        parts = share_out([counts["pass"], counts["fail"], open_units(counts)], width)
        if not any(parts):
            return self.paint("2", "·" * width)
        return "".join(
            self.paint(style, glyph * part)
            for style, glyph, part in zip(
                ("32", "31", "33"), (_PASS, _FAIL, _OPEN), parts, strict=True
            )
        )

    # -- judges -----------------------------------------------------------------

    def judges(self) -> Iterator[str]:
        """Yield how the judges did against people's labels, where that is known."""
        known = [c for c in by_urgency(self.card["criteria"]) if measured(c)]
        if not known:
            return
        aside = "against people's labels · corrected rate (95% interval)"
        aside = cut(aside, self.inner - 8)
        yield f"  {self._title('JUDGES')}  {self.paint('2', aside)}"
        for criterion in known[:MAX_CRITERIA]:
            status = safe(criterion["validation"]["status"], 40)
            figures = judge_words(criterion)
            room = self.inner - 15 - cells(figures)
            name = safe(criterion["criterionId"], 200)
            shown = self.paint(_TRUST_COLORS.get(status, "33"), fit(status, 11))
            if room >= 12:
                yield f"  {shown}  {fit(name, room)}  {figures}"
                continue
            yield f"  {shown}  {cut(name, self.inner - 13)}"
            for line in wrap(figures, self.inner - 2, lines=3):
                yield f"    {line}"
        if len(known) > MAX_CRITERIA:
            yield self._aside(f"and {plural(len(known) - MAX_CRITERIA, 'judge')} more")

    # -- details ----------------------------------------------------------------

    def broken(self) -> Iterator[str]:
        """Yield how the subject failed: once, however many criteria that keeps open."""
        lines = failure_lines(self.card)
        if not lines:
            return
        yield "  " + self._title("WHAT BREAKS")
        for cause, cases in lines:
            first, *more = wrap(safe(cause, 900), self.inner - 4, lines=8)
            yield f"  {self.paint('31', '✗')} {self.paint('1', first)}"
            for line in more:
                yield f"    {line}"
            if cases:
                for line in wrap("▸ " + safe(cases), self.inner - 4, lines=3):
                    yield f"    {self.paint('36', line)}"

    def failures(self) -> Iterator[str]:
        entries = _most_severe_first(self.card["handoff"])
        if not entries:
            return
        yield "  " + self._title("WHAT FAILS")
        for entry in entries[:MAX_DETAILS]:
            yield from self._heading(entry, "31")
            yield from self._samples(entry["failingCases"])
            more = entry["failing"] - len(entry["failingCases"])
            if more > 0:
                yield self._aside(f"and {plural(more, 'failing unit')} more", indent=4)
        if len(entries) > MAX_DETAILS:
            more = len(entries) - MAX_DETAILS
            yield self._aside(f"and {plural(more, 'criterion', 'criteria')} more")

    def waiting(self) -> Iterator[str]:
        entries = _most_severe_first(self.card["calibration"])
        if not entries:
            return
        yield "  " + self._title("WHAT BLOCKS")
        groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for entry in entries:
            reasons = dict.fromkeys(_blocks(entry))
            flaps = entry["blockedBy"]["text"].endswith(FLAPS)
            of_its_own = (entry["criterionId"],) if flaps or len(reasons) > 1 else ()
            groups.setdefault((*reasons, *of_its_own), []).append(entry)
        for (text, *_), those in list(groups.items())[:MAX_DETAILS]:
            if len(those) == 1:
                yield from self._heading(those[0], "33")
                yield from self._reasons(text, those[0]["openCases"])
                for line in flapping_words(self.card, those[0])[:MAX_SAMPLES]:
                    named = cut(f"▸ {safe(line, 300)}", self.inner - 6)
                    yield f"      {self.paint('36', named)}"
                continue
            yield from self._headings(those)
            yield from self._reason(text)
        if len(groups) > MAX_DETAILS:
            more = sum(len(those) for those in list(groups.values())[MAX_DETAILS:])
            yield self._aside(f"and {plural(more, 'criterion', 'criteria')} more")
        if any(text.startswith("scope: ") for texts in groups for text in texts):
            yield "  " + self.paint("2", cut(f"({SCOPE})", self.inner))

    def _reasons(self, text: str, cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield why a criterion is open, most frequent first, and for which cases.

        One question must not hide another. Where all wait for the same work of the
        suite's owner (a check to write, a judge to name) the cases say nothing.
        """
        whose: dict[str, list[str]] = {text: []}
        for case in cases:
            if case["blockedBy"] is not None:
                names = whose.setdefault(blocked_words(case["blockedBy"]), [])
                names.append(_case_name(case))
        for reason, names in list(whose.items())[:MAX_SAMPLES]:
            yield from self._reason(reason)
            if names and (len(whose) > 1 or not reason.startswith("scope: ")):
                named = cut("▸ " + ", ".join(names), self.inner - 6)
                yield f"      {self.paint('36', named)}"
        if len(whose) > MAX_SAMPLES:
            more = plural(len(whose) - MAX_SAMPLES, "reason")
            yield self._aside(f"and {more} more", indent=6)

    def _reason(self, text: str) -> Iterator[str]:
        for line in wrap(safe(text, 900), self.inner - 4, lines=self._lines(6)):
            yield f"      {line}"

    def _headings(self, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield the criteria that wait for the same thing, without their statements."""
        for severity in dict.fromkeys(entry["severity"] for entry in entries):
            names = [
                safe(e["criterionId"], 200)
                for e in entries
                if e["severity"] == severity
            ]
            lead = f"{_MARKS['indeterminate']} {fit(severity, 4)} "
            first, *more = wrap(", ".join(names), self.inner - 7, lines=4)
            yield f"  {self.paint('33', lead)}{self.paint('1', first)}"
            for line in more:
                yield f"         {self.paint('1', line)}"

    def _heading(self, entry: Mapping[str, Any], style: str) -> Iterator[str]:
        mark = _MARKS["fail"] if style == "31" else _MARKS["indeterminate"]
        name = safe(entry["criterionId"], 200)
        lead = f"{mark} {fit(entry['severity'], 4)} "
        yield (
            f"  {self.paint(style, lead)}{self.paint('1', cut(name, self.inner - 7))}"
        )
        for line in wrap(
            safe(entry["statement"], 400), self.inner - 4, lines=self._lines(2)
        ):
            yield f"    {self.paint('2', line)}"

    def _samples(self, cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield each critique once, under all the cases that it was said of."""
        same: dict[str, list[Mapping[str, Any]]] = {}
        for case in cases:
            same.setdefault(case["critique"], []).append(case)
        for critique, those in list(same.items())[:MAX_SAMPLES]:
            names = ", ".join(_case_name(case) for case in those)
            yield f"    {self.paint('36', cut('▸ ' + names, self.inner - 2))}"
            if len(those) == 1 and those[0].get("query"):
                asked = cut(
                    f'"{safe(one_line(those[0]["query"]), 200)}"', self.inner - 4
                )
                yield f"      {self.paint('2', asked)}"
            for line in wrap(safe(critique, 800), self.inner - 4, lines=self._lines(3)):
                yield f"      {line}"
            for ref in those[0]["refs"][:2]:
                place = safe(f"{ref['obs']} {ref['path']}".strip(), 80)
                text = f"↳ {place}: {safe(ref['value'], 300)}"
                yield f"      {self.paint('2', cut(text, self.inner - 4))}"
        left_out = sum(len(those) for those in list(same.values())[MAX_SAMPLES:])
        if left_out:
            yield self._aside(f"and {plural(left_out, 'sample')} more", indent=4)

    def against(self, changes: "Changes | None", names: CaseNames) -> Iterator[str]:
        """Yield what became other since the baseline, the worse before the better."""
        if changes is None:
            return
        from . import against as words

        yield "  " + self._title(words.TITLE.upper())
        yield from self._reason(words.about(changes))
        for turned in changes.turned[:MAX_DETAILS]:
            verdict = turned.now or "indeterminate"
            lead = f"{_MARKS[verdict]} {fit(turned.severity, 4)} "
            said = f"{safe(turned.criterion_id, 160)}: {words.turned_words(turned)}"
            yield f"    {self.paint(_COLORS[verdict], lead)}{cut(said, self.inner - 9)}"
        if len(changes.turned) > MAX_DETAILS:
            more = plural(len(changes.turned) - MAX_DETAILS, "criterion", "criteria")
            yield self._aside(f"and {more} more", indent=4)
        yield from self._reason(words.count_words(changes))
        for way, count, moved in words.groups(changes):
            mark = self.paint(*(("31", "✗") if way == "worse" else ("32", "✓")))
            for one in moved[:MAX_DETAILS]:
                said = f"{way} {one.criterion_id} {words.moved_words(one, names)}"
                yield f"    {mark} {cut(safe(said, 400), self.inner - 4)}"
            if count > MAX_DETAILS:
                yield self._aside(f"and {count - MAX_DETAILS:,} more {way}", indent=4)
        if changes.aside:
            yield from self._reason(words.aside_words(changes))
        if again := words.again_words(changes):
            yield from self._reason(again)

    # -- foot -------------------------------------------------------------------

    def facts(self) -> Iterator[str]:
        for note in other_notes(self.card):
            yield from self._fact("note", safe(note, 600))
        unknown = unmeasured(self.card)
        if unknown:
            names = safe(", ".join(unknown), 600)
            yield from self._fact("judges", f"unvalidated against labels: {names}")
        variance = self.card["variance"]
        if variance["verdict"] != "not-measured":
            yield from self._fact("variance", variance_words(variance))
        used = usage_line(self.card["usage"])
        if used:
            yield from self._fact("used", used)

    def _fact(self, name: str, text: str) -> Iterator[str]:
        lines = wrap(text, self.inner - 11, lines=4)
        for place, line in enumerate(lines):
            yield f"  {self.paint('2', fit('' if place else name, 9))}  {line}"

    def next(self, run_folder: str | None) -> Iterator[str]:
        steps = [safe(step, 600) for step in next_steps(self.card)]
        if steps:
            yield "  " + self._title("WHAT NEXT")
            for place, step in enumerate(steps, 1):
                first, *more = wrap(step, self.inner - 5, lines=self._lines(3))
                yield f"  {place:>2}. {first}"
                for line in more:
                    yield f"      {line}"
            yield ""
        if run_folder is not None:
            yield f"  {self.paint('2', fit('run', 9))}{safe(run_folder)}"
        yield f"  {self.paint('2', fit('digest', 9) + self.card['digest'])}"

    def _lines(self, usual: int) -> int:
        """Return how many lines a text may take: more where lines are short."""
        return usual * 3 if self.narrow else usual

    def _title(self, text: str) -> str:
        return self.paint("1", text)

    def _aside(self, text: str, *, indent: int = 2) -> str:
        return " " * indent + self.paint("2", cut(f"… {text}", self.width - indent))


def share_out(counts: Sequence[int], width: int) -> list[int]:
    """Return how many of `width` cells each count gets.

    In proportion, the largest remainders rounded up, and at least one cell for each
    count above zero: one failure in a million units shows. All zero without units.
    """
    total = sum(counts)
    if not total:
        return [0] * len(counts)
    parts = [count * width // total for count in counts]
    remainders = sorted(
        range(len(counts)), key=lambda i: (-(counts[i] * width % total), i)
    )
    for place in remainders[: width - sum(parts)]:
        parts[place] += 1
    for place, count in enumerate(counts):
        if count and not parts[place]:
            parts[parts.index(max(parts))] -= 1
            parts[place] = 1
    return parts


def _blocks(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what blocks a criterion: most of its units first, then each open case."""
    yield blocked_words(entry["blockedBy"])
    for case in entry["openCases"]:
        if case["blockedBy"] is not None:
            yield blocked_words(case["blockedBy"])


def _case_name(case: Mapping[str, Any]) -> str:
    name = safe(sample_label(case), 160)
    return f"{name} (repeat {case['repeat'] + 1})" if case["repeat"] else name


def _most_severe_first(
    entries: Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    rank = ("CRIT", "HIGH", "MED", "LOW")
    return sorted(entries, key=lambda entry: rank.index(entry["severity"]))
