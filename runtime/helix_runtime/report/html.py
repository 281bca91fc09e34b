"""`report.html`: a run as one file that opens anywhere, with no network.

Its policy allows the page's own style and script by their hash and nothing else. The
table of criteria is plain HTML; what stands behind a criterion lies in a block of
JSON and is drawn when the criterion is opened.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..canonical import escape_surrogates
from ..names import CaseNames
from ..safe_text import printable
from ..scorecard import read_scorecard
from ..whole_file import whole_file
from .excerpt import Excerpt, read_excerpt, unit_entry
from .page import SCRIPT, STYLE
from .turns import block
from .words import (
    GATING,
    SCOPE,
    blocked_words,
    by_urgency,
    failure_lines,
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
    usage_line,
    variance_words,
)

if TYPE_CHECKING:
    from ..baseline.changes import Changes

FILE_NAME: Final = "report.html"
MAX_BECAUSE: Final = 12
MAX_COMPONENTS: Final = 200
MAX_PLAIN_CRITERIA: Final = 40
MAX_PLAIN_UNITS: Final = 3
MAX_NAMED: Final = 6

_WAITING: Final = ("fail", "uncertain", "error", "missing")

_BADGES: Final[Mapping[str, tuple[str, str]]] = {
    "pass": ("pass", "✓ pass"),
    "fail": ("fail", "✗ fail"),
    "indeterminate": ("open", "? indeterminate"),
    "incomplete": ("open", "? incomplete"),
    "not gated": ("none", "– not gated"),
}


def write_report(
    run_folder: Path,
    *,
    scorecard: Mapping[str, Any] | None = None,
    statements: Mapping[str, str] | None = None,
    names: CaseNames | None = None,
    changes: "Changes | None" = None,
) -> Path:
    """Write the page of a run and return its path.

    The scorecard is that of the folder unless one is given (an interrupted run has
    none yet); `statements` are the criteria's questions by id, `names` what the
    cases are called, `changes` what became other since a baseline. Raises OSError where the folder can't be read or written,
    ValueError for a scorecard that is none.
    """

    if scorecard is None:
        scorecard = read_scorecard(run_folder / "scorecard.json")
    criteria = by_urgency(scorecard["criteria"])
    names = names or CaseNames()
    planned = scorecard["run"]["target"] is not None
    excerpt = read_excerpt(run_folder, criteria, names=names, planned=planned)
    _add_missing(excerpt, scorecard, names)
    against = "" if changes is None else _against(changes, names)
    page = _page(scorecard, criteria, excerpt, statements or {}, against)
    path = run_folder / FILE_NAME
    with whole_file(path) as part:
        part.write_bytes(escape_surrogates(page).encode())
    return path


def _add_missing(
    excerpt: Excerpt, scorecard: Mapping[str, Any], names: CaseNames
) -> None:
    """Show the units that the journal can't hold: those that have no verdict."""
    for entry in scorecard["calibration"]:
        missing = [
            unit_entry(
                case_id=case["caseId"],
                trace_id=case["traceId"],
                repeat=case["repeat"],
                result="missing",
                critique=case["critique"],
                refs=(),
                blocked="",
                about="no verdict",
                names=names,
            )
            for case in entry["openCases"]
            if case["result"] == "missing"
        ]
        units = excerpt.units.setdefault(entry["criterionId"], [])
        units[:0] = missing


def _page(
    scorecard: Mapping[str, Any],
    criteria: Sequence[Mapping[str, Any]],
    excerpt: Excerpt,
    statements: Mapping[str, str],
    against: str,
) -> str:
    subject, run = scorecard["subject"], scorecard["run"]
    said = {
        entry["criterionId"]: entry["statement"]
        for entry in (*scorecard["handoff"], *scorecard["calibration"])
    }
    said.update(statements)
    verdict = scorecard["gate"]["verdict"]
    title = f"{verdict.upper()} · {subject['name']} {subject['version']}"
    steps = next_steps(scorecard)
    parts = [
        "<!doctype html>\n",
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        '<meta name="referrer" content="no-referrer">\n',
        f"<title>{_text(title)}</title>\n",
        f"<style>{STYLE}</style>\n</head>\n<body>\n",
        '<a class="skip" href="#criteria">Skip to the criteria</a>\n',
        _header(subject, run, scorecard),
        "<main>\n",
        _gate(scorecard, criteria),
        _broken(scorecard),
        f'<div class="two{"" if steps else " one"}">\n<section>\n',
        _components(
            scorecard["gate"]["components"],
            {c["criterionId"]: place for place, c in enumerate(criteria)},
        ),
        "</section>\n",
        _steps(steps),
        "</div>\n",
        against,
        _table(criteria, said),
        _plain_units(criteria, excerpt, scorecard),
        _cases(excerpt),
        "</main>\n",
        _footer(scorecard, excerpt),
        f'<script type="application/json" id="data">'
        f"{_json(_data(criteria, excerpt, scorecard))}</script>\n",
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{_source(STYLE)}'; "
        f"script-src '{_source(SCRIPT)}'; base-uri 'none'; form-action 'none'"
    )


def _source(code: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(code.encode()).digest()).decode()}"


# -- the plain part -------------------------------------------------------------


def _header(
    subject: Mapping[str, Any], run: Mapping[str, Any], scorecard: Mapping[str, Any]
) -> str:
    pin = scorecard["pin"]
    judge = "none" if pin is None else f"{pin['model']} ({pin['provider']})"
    variance = scorecard["variance"]
    measured_repeats = variance["verdict"] != "not-measured"
    facts = [
        ("Run", run["id"]),
        ("Started", run["started"]),
        ("Mode", run["mode"]),
        ("Target", run["target"]),
        ("Repeats", run["repeats"]),
        ("Variance", variance_words(variance) if measured_repeats else None),
        ("Judge", judge),
        ("Used", usage_line(scorecard["usage"])),
    ]
    items = "".join(
        f"<li>{name} <b>{_text(str(value), 300)}</b></li>"
        for name, value in facts
        if value not in (None, "")
    )
    return (
        f'<header class="top">\n<h1>{_text(subject["name"], 300)} '
        f'<small>{_text(subject["version"], 100)}</small></h1>\n'
        f'<ul class="meta">{items}</ul>\n</header>\n'
    )


def _link(place: int, html: str) -> str:
    """Return a link to the criterion at this place of the table."""
    return f'<a href="#k{place}">{html}</a>'


def _gate(scorecard: Mapping[str, Any], criteria: Sequence[Mapping[str, Any]]) -> str:
    verdict = scorecard["gate"]["verdict"]
    mark = _BADGES[verdict][1].split(" ")[0]
    held = "".join(
        f'<p class="held">{_text(note, 600)}</p>' for note in reservations(scorecard)
    )
    return (
        f'<section class="gate {verdict}" aria-label="Gate">'
        f"<strong>{mark} GATE {verdict.upper()}</strong>"
        f"<div><p>{_text(gate_summary(scorecard))}</p>{_named(criteria)}{held}</div>"
        "</section>\n"
    )


def _named(criteria: Sequence[Mapping[str, Any]]) -> str:
    """Return links to the criteria that keep the gate from passing."""
    found = [
        (place, criterion)
        for place, criterion in enumerate(criteria)
        if criterion["severity"] in GATING and criterion["verdict"] != "pass"
    ]
    if not found:
        return ""
    links = []
    for place, criterion in found[:MAX_NAMED]:
        style, words = _BADGES[criterion["verdict"]]
        said = f'{words.split(" ")[0]} {_text(criterion["criterionId"], 80)}'
        links.append(f'<li class="{style}">{_link(place, said)}</li>')
    if len(found) > MAX_NAMED:
        links.append(
            f'<li><a href="#criteria">{len(found) - MAX_NAMED:,} more</a></li>'
        )
    return f'<ul class="named">{"".join(links)}</ul>'


def _broken(scorecard: Mapping[str, Any]) -> str:
    items = "".join(
        f"<li><b>{_text(cause, 1000)}</b>"
        + (f'<p class="why">{_text(cases, 1000)}</p>' if cases else "")
        + "</li>\n"
        for cause, cases in failure_lines(scorecard)
    )
    if not items:
        return ""
    return f'<h2>What breaks</h2>\n<ul class="card broken">\n{items}</ul>\n'


def _components(
    components: Sequence[Mapping[str, Any]], known: Mapping[str, int]
) -> str:
    items = []
    met: set[str] = set()
    for component in components[:MAX_COMPONENTS]:
        # What stands above already is not said again.
        fresh = [text for text in component["because"] if text not in met]
        met.update(fresh)
        reasons = grouped(fresh)
        because = [_because(text, known) for text in reasons[:MAX_BECAUSE]]
        more = len(reasons) - len(because)
        if component["because"] and not fresh:
            because = ["for the same reasons"]
        if more > 0:
            because.append(f"and {more:,} more: see scorecard.json")
        whys = "".join(f'<p class="why">{text}</p>' for text in because)
        items.append(
            f"<li>{_badge('not gated' if is_not_gated(component) else component['verdict'])}"
            f'<span class="name">{_text(component["id"], 200)}</span>{whys}</li>\n'
        )
    left = len(components) - MAX_COMPONENTS
    if left > 0:
        items.append(
            f'<li><span></span><p class="why">and {plural(left, "component")} more: '
            "see scorecard.json</p></li>\n"
        )
    return f'<h2>Components</h2>\n<ul class="card parts">\n{"".join(items)}</ul>\n'


def _against(changes: "Changes", names: CaseNames) -> str:
    """Return what became other since the baseline, the worse before the better."""
    from . import against as words

    items = []
    for turned in changes.turned[: words.MAX_TURNED]:
        said = words.turned_words(turned)
        items.append(
            f"<li>{_badge(turned.now or 'indeterminate')}"
            f'<span class="name">{_text(turned.criterion_id, 200)}</span>'
            f'<p class="why">{_text(turned.severity)}: {_text(said)}</p></li>\n'
        )
    more = len(changes.turned) - words.MAX_TURNED
    if more > 0:
        items.append(_more(f"{plural(more, 'criterion', 'criteria')} more"))
    for way, count, moved in words.groups(changes):
        badge = '"badge fail">✗' if way == "worse" else '"badge pass">✓'
        for one in moved:
            items.append(
                f"<li><span class={badge} {way}</span>"
                f'<span class="name">{_text(one.criterion_id, 200)}</span>'
                f'<p class="why">{_text(words.moved_words(one, names), 400)}</p></li>\n'
            )
        if count > len(moved):
            items.append(_more(f"{count - len(moved):,} more {way}"))
    listed = f'<ul class="parts">\n{"".join(items)}</ul>\n' if items else ""
    aside = words.aside_words(changes)
    return (
        f'<section class="against">\n<h2>{words.TITLE}</h2>\n<div class="card">\n'
        f'<p class="note">{_text(words.about(changes), 400)}</p>\n'
        f'<p class="note"><b>{_text(words.count_words(changes))}</b></p>\n{listed}'
        + (f'<p class="note">{_text(aside, 800)}</p>\n' if aside else "")
        + "</div>\n</section>\n"
    )


def _more(what: str) -> str:
    return f'<li><span></span><p class="why">and {what}</p></li>\n'


def _steps(steps: Sequence[str]) -> str:
    if not steps:
        return ""
    items = "".join(f"<li>{_step(step)}</li>\n" for step in steps)
    return f'<section><h2>What next</h2>\n<ol class="card steps">\n{items}</ol></section>\n'


def _table(criteria: Sequence[Mapping[str, Any]], said: Mapping[str, str]) -> str:
    verdicts = _options("every verdict", ("fail", "indeterminate", "pass"))
    severities = _options("every severity", ("CRIT", "HIGH", "MED", "LOW"))
    head = "".join(
        f'<th scope="col"{extra}>{name}</th>'
        for name, extra in (
            ("Verdict", ""),
            ("Severity", ""),
            ("Criterion", ""),
            ("Units", ""),
            ("Rate", ' class="num"'),
            ("95% interval", ' class="num"'),
            ("Bounds", ' class="num" title="open units as fails, as passes"'),
        )
    )
    rows = "".join(
        _row(place, criterion, said.get(criterion["criterionId"], ""))
        for place, criterion in enumerate(criteria)
    )
    return (
        '<h2 id="criteria" tabindex="-1">Criteria</h2>\n'
        '<div class="card">\n<div class="filters">'
        '<label>Find <input type="search" id="search"></label>'
        f'<label>Verdict <select id="verdict">{verdicts}</select></label>'
        f'<label>Severity <select id="severity">{severities}</select></label>'
        '<output id="shown" aria-live="polite"></output></div>\n'
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n{rows}'
        "</table></div></div>\n"
    )


def _plain_units(
    criteria: Sequence[Mapping[str, Any]],
    excerpt: Excerpt,
    scorecard: Mapping[str, Any],
) -> str:
    """Return what stands behind the criteria, for a reader whose browser runs no script."""
    reasons = _reasons(scorecard)
    parts = []
    waiting = [c for c in criteria if c["verdict"] != "pass"]
    for criterion in waiting[:MAX_PLAIN_CRITERIA]:
        name = criterion["criterionId"]
        units = [
            unit
            for unit in excerpt.units.get(name, ())
            if unit["result"] not in ("pass", "na")
        ]
        lines = "".join(
            f'<p class="lead {style}">{_plain(text)}</p>\n'
            for style, text in _lead(criterion, reasons.get(name))
        )
        cards = "".join(_plain_unit(unit) for unit in units[:MAX_PLAIN_UNITS])
        more = sum(criterion["counts"][kind] for kind in _WAITING) - min(
            len(units), MAX_PLAIN_UNITS
        )
        if more > 0:
            cards += f'<p class="dim small">and {more:,} more: see units.jsonl</p>\n'
        parts.append(
            f'<section class="card plain"><h3>{_badge(criterion["verdict"])} '
            f"{_text(name, 200)}</h3>\n{lines}{cards}</section>\n"
        )
    if not parts:
        return ""
    more = len(waiting) - len(parts)
    if more > 0:
        parts.append(
            f'<p class="note">and {plural(more, "criterion", "criteria")} more: '
            "see scorecard.json</p>\n"
        )
    return (
        "<noscript>\n<h2>What fails and what is open</h2>\n"
        f"{''.join(parts)}</noscript>\n"
    )


def _plain_unit(unit: Mapping[str, Any]) -> str:
    style = "fail" if unit["result"] == "fail" else "open"
    query = f'<p class="query">“{_text(unit["query"])}”</p>' if unit["query"] else ""
    blocked = f'<p class="said dim small">{_plain(unit["blocked"])}</p>'
    refs = "".join(
        f'<li><span class="place mono">{_text(ref[0])}</span>'
        f"<pre>{_plain(ref[1])}</pre></li>"
        for ref in unit["refs"]
    )
    listed = f'<ul class="refs">{refs}</ul>'
    return (
        f'<article class="unit"><header><span class="badge {style}">'
        f'{_text(unit["result"])}</span><h4 class="mono">{_text(unit["name"])}</h4>'
        f'<span class="dim small">{_text(unit["about"])}</span></header>{query}'
        f'<p class="said">{_plain(unit["critique"])}</p>'
        f'{blocked if unit["blocked"] else ""}'
        f'{listed if refs else ""}</article>\n'
    )


def _cases(excerpt: Excerpt) -> str:
    if not excerpt.cases:
        return ""
    results = _options("every case", ("failing", "open", "passing"))
    more = ""
    if excerpt.more_cases:
        more = (
            f'<p class="note">{len(excerpt.cases):,} cases are shown, failing and open '
            "ones first; all are in units.jsonl.</p>\n"
        )
    keys = "".join(
        f'<span class="key"><span class="chip {style}">{mark}</span> {words}</span>'
        for style, mark, words in (
            ("pass", "✓", "pass"),
            ("fail", "✗", "fail"),
            ("open", "?", "uncertain, error or no verdict"),
            ("none", "–", "does not apply"),
        )
    )
    return (
        '<section class="scripted">\n'
        '<h2 id="cases" tabindex="-1">Cases</h2>\n<div class="card">\n'
        '<div class="filters"><label>Search <input type="search" id="case-search" '
        'placeholder="id, item or query"></label>'
        f'<label>Result <select id="case-result">{results}</select></label>'
        '<output id="cases-shown" aria-live="polite"></output></div>\n'
        f'<p class="note legend">A box for each criterion, in the order above:{keys}</p>\n'
        f'{more}<div id="case-list"></div>\n'
        '<button type="button" class="more" id="more-cases" hidden>Show more</button>'
        "</div>\n</section>\n"
    )


def _options(every: str, names: Sequence[str]) -> str:
    return f'<option value="">{every}</option>' + "".join(
        f'<option value="{name}">{name}</option>' for name in names
    )


def _row(place: int, criterion: Mapping[str, Any], statement: str) -> str:
    share = is_share(criterion["threshold"])
    counts = criterion["counts"]
    rate = "–" if criterion["rate"] is None else number(criterion["rate"], share=share)
    gates = criterion["severity"] in GATING
    words = printable(f"{criterion['criterionId']} {statement}", 1000).lower()
    derived = ", derived" if criterion["source"] == "derived" else ""
    kind = f"{criterion['class']}{derived}"
    if criterion["class"] != "code":
        kind += f", {criterion['validation']['status']}"
    idle = f"<p>{_text(criterion['critique'], 500)}</p>" if is_idle(criterion) else ""
    figures = f"<p>{judge_words(criterion)}</p>" if measured(criterion) else ""
    opened = "data-open " if gates and criterion["verdict"] == "fail" else ""
    described = f"<p>{_text(statement, 500)}</p>" if statement else ""
    return (
        f'<tbody id="k{place}" data-criterion data-verdict="{criterion["verdict"]}" {opened}'
        f'data-severity="{criterion["severity"]}" data-text="{_text(words)}">\n<tr>'
        f'<td>{_badge(criterion["verdict"])}</td>'
        f'<td><span class="sev{"" if gates else " advises"}">{criterion["severity"]}'
        f'</span><br><span class="dim small">{"gates" if gates else "advises"}</span>'
        "</td>"
        f'<td class="criterion"><button type="button" aria-expanded="false" '
        f'aria-controls="c{place}">{_text(criterion["criterionId"], 200)}</button>'
        f"{described}<p>{_text(kind)}</p>{figures}{idle}</td>"
        f'<td class="units">{_bar(counts, idle=is_idle(criterion))}</td>'
        f'<td class="num" data-label="rate"><b>{rate}</b>'
        f'<small>{_text(needs(criterion["threshold"]))}</small></td>'
        f'<td class="num" data-label="95% interval">'
        f'{span(criterion["interval"], share=share)}</td>'
        f'<td class="num" data-label="bounds">'
        f'{span(criterion["bounds"], share=share)}</td></tr>\n'
        f'<tr class="detail" id="c{place}" hidden>'
        '<td class="panel" colspan="7"></td></tr>\n</tbody>\n'
    )


def _bar(counts: Mapping[str, int], *, idle: bool) -> str:
    parts = [
        ("p", counts["pass"], "pass"),
        ("f", counts["fail"], "fail"),
        ("o", open_units(counts), "open"),
    ]
    total = sum(count for _, count, _ in parts)
    tally = ", ".join(f"{count:,} {word}" for _, count, word in parts if count)
    if idle:
        tally += ", untested"
    if counts["na"]:
        tally += (", " if tally else "") + f"{counts['na']:,} na"
    boxes = []
    left = 0.0
    for style, count, _ in parts:
        if count:
            # At least two of the 170 units of width: one fail in a million shows.
            width = max(170 * count / total, 2.0)
            boxes.append(
                f'<rect class="{style}" x="{left:.2f}" width="{width:.2f}" '
                'height="10"/>'
            )
            left += width
    if not boxes:
        boxes = ['<rect class="n" x="0" width="170" height="10"/>']
    return (
        f'<svg class="bar" viewBox="0 0 {max(left, 170):.2f} 10" aria-hidden="true" '
        f'preserveAspectRatio="none">{"".join(boxes)}</svg>'
        f'<span class="tally">{tally or "no units"}</span>'
    )


def _badge(verdict: str) -> str:
    style, words = _BADGES[verdict]
    return f'<span class="badge {style}">{words}</span>'


def _footer(scorecard: Mapping[str, Any], excerpt: Excerpt) -> str:
    # What has no verdict stands in no journal.
    shown = sum(
        unit["result"] != "missing"
        for units in excerpt.units.values()
        for unit in units
    )
    total = sum(
        sum(c["counts"].values()) - c["counts"]["missing"]
        for c in scorecard["criteria"]
    )
    lines = [_text(note, 800) for note in other_notes(scorecard)]
    if shown < total:
        lines.append(
            f"This page holds {shown:,} of {plural(total, 'unit')}, failing and open "
            f"ones first, and {plural(len(excerpt.traces), 'trace')}; all are in "
            "units.jsonl and traces.jsonl beside it."
        )
    if excerpt.unreadable:
        lines.append(
            f"{plural(excerpt.unreadable, 'line')} of the journal could not be read."
        )
    lines += [
        f"Digest <code>{_text(scorecard['digest'])}</code>",
        f"Suite <code>{_text(scorecard['suite']['sha256'])}</code>, "
        f"{_text(scorecard['suite']['generator'])}; "
        f"spec <code>{_text(scorecard['subject']['spec_sha256'])}</code>",
    ]
    return "<footer>" + "".join(f"<p>{line}</p>\n" for line in lines) + "</footer>\n"


def _text(text: str, limit: int | None = None) -> str:
    """Return a stranger's text for an element or a quoted attribute."""
    return _plain(printable(text, limit))


def _plain(shown: str) -> str:
    """Return a text of several lines that was made printable before."""
    for character, entity in _ENTITIES:
        shown = shown.replace(character, entity)
    return shown


def _because(text: str, known: Mapping[str, int]) -> str:
    """Return a reason as HTML, the criteria that it starts with as links to them.

    Only a name of the scorecard becomes a link: what else stands between backticks is
    a stranger's.
    """
    shown = []
    rest = text
    while rest.startswith("`"):
        names = [name for name in known if rest.startswith(f"`{name}`")]
        if not names:
            break
        name = max(names, key=len)
        shown.append(_link(known[name], f"<code>{_text(name, 200)}</code>"))
        rest = rest[len(name) + 2 :]
        for glue in (", ", " and "):
            if rest.startswith(f"{glue}`"):
                shown.append(glue)
                rest = rest[len(glue) :]
    return "".join(shown) + _text(rest, 600)


_COMMANDS: Final = re.compile(
    r"`(run(?: --[a-z-]+(?: (?:PROVIDER:MODEL|class:code|S|\d+))?)?|prep|aggregate|stability|requests)`"
)


def _step(text: str) -> str:
    """Return a next step as HTML, our own commands as code."""
    return _COMMANDS.sub(r"<code>\1</code>", _text(text, 800))


_ENTITIES: Final = (
    ("&", "&amp;"),
    ("<", "&lt;"),
    (">", "&gt;"),
    ('"', "&quot;"),
    ("'", "&#39;"),
)


# -- the data behind it ---------------------------------------------------------


_INNER: Final = ("traceId", "cited")
"""What a unit holds for this code alone."""


def _data(
    criteria: Sequence[Mapping[str, Any]],
    excerpt: Excerpt,
    scorecard: Mapping[str, Any],
) -> dict[str, Any]:
    reasons = _reasons(scorecard)
    places: dict[str, int] = {name: n for n, name in enumerate(excerpt.traces)}
    shown = []
    for criterion in criteria:
        units = excerpt.units.get(criterion["criterionId"], [])
        shown.append(
            {
                "id": printable(criterion["criterionId"], 200),
                "lacks": bool(criterion["counts"]["missing"]),
                "lead": [
                    *_lead(criterion, reasons.get(criterion["criterionId"])),
                    *_partly(criterion, units),
                ],
                "units": [
                    {
                        **{k: v for k, v in unit.items() if k not in _INNER},
                        "trace": places.get(unit["traceId"]),
                    }
                    for unit in units
                ],
            }
        )
    return {
        "criteria": shown,
        "cases": excerpt.cases,
        "traces": list(excerpt.traces.values()),
    }


def _reasons(scorecard: Mapping[str, Any]) -> dict[str, str]:
    return {
        entry["criterionId"]: entry["reason"]
        for entry in (*scorecard["handoff"], *scorecard["calibration"])
    }


def _lead(criterion: Mapping[str, Any], reason: str | None) -> list[list[str]]:
    """Return the lines above the units, each a style and a text."""
    lines = []
    if reason is not None:
        lines.append(["", block(reason, 600)])
    blocked = criterion["blockedBy"]
    if blocked is not None and blocked["text"] != reason:
        lines.append(["", f"Blocked by {block(blocked_words(blocked), 900)}"])
        if blocked["kind"] == "scope":
            lines.append(["dim small", f"({SCOPE})"])
    for assumption in criterion["assumptions"]:
        text = block(assumption["text"], 300)
        lines.append(["dim small", f"Assumes ({assumption['status']}): {text}"])
    return lines


def _partly(criterion: Mapping[str, Any], units: Sequence[Any]) -> list[list[str]]:
    """Return the line that says how many units are not shown, if any."""
    missing = criterion["counts"]["missing"]
    total = sum(criterion["counts"].values()) - missing
    decided = sum(unit["result"] != "missing" for unit in units)
    said = []
    if decided < total:
        said.append(
            f"{decided:,} of {plural(total, 'unit')} shown, failing and open ones "
            "first; the others are in units.jsonl."
        )
    unseen = missing - (len(units) - decided)
    if unseen > 0:
        said.append(f"{plural(unseen, 'more unit')} without a verdict.")
    return [["dim small", " ".join(said)]] if said else []


def _json(value: Any) -> str:
    """Return JSON that can't end or open anything inside a `script` element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _SCRIPT_ESCAPES:
        text = text.replace(character, escape)
    return text


_SCRIPT_ESCAPES: Final = (
    ("<", "\\u003c"),
    (">", "\\u003e"),
    ("&", "\\u0026"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)
