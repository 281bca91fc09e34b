"""What `report.html` shows of a run: its units and its traces, bounded and readable.

A page that holds everything would not open; one that holds a sample must say so. Of
each criterion the first failing, open, passing and `na` units of the journal are
taken, up to a share of MAX_UNITS; of the traces those that these units are about,
failing first, up to MAX_TEXT characters in all; of the cases MAX_CASES, failing first.
A run of no more than MAX_UNITS units is shown whole. The whole always stays in `units.jsonl` and
`traces.jsonl`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from ..names import CaseNames
from ..record import field, record
from ..safe_text import printable
from ..unit import with_defaults
from .cells import one_line
from .turns import MAX_REF, block, show_run
from .words import GATING

MAX_UNITS: Final = 4_000
MAX_UNITS_OF_A_CRITERION: Final = 300
MAX_TRACES: Final = 400
MAX_CASES: Final = 1_000
MAX_SORTED: Final = 20_000
"""How many cases are looked at to find those to show: memory stays flat."""
MAX_TEXT: Final = 3_000_000
MAX_CRITIQUE: Final = 1_500
MAX_REFS: Final = 6

# What is shown first, and which share of a criterion's units each kind may take.
_KINDS: Final = ("fail", "open", "pass", "na")
_LETTERS: Final = " npuef"
"""How a case came out under a criterion, the worst of its repeats: a later letter."""
_RESULTS: Final[Mapping[bytes, tuple[str, int]]] = {
    b"na": ("na", 1),
    b"pass": ("pass", 2),
    b"uncertain": ("open", 3),
    b"error": ("open", 4),
    b"fail": ("fail", 5),
}
"""Of each result its kind and its rank, the place of its letter."""
_OPEN: Final = ("open", 3)
_URGENT: Final = ("fail", "uncertain", "error", "missing")
_SHARES: Final[Mapping[str, float]] = {
    "fail": 1 / 2,
    "open": 1 / 3,
    "pass": 1 / 9,
    "na": 1 / 18,
}


@record(frozen=False)
class Excerpt:
    """The units to show, by criterion, most urgent first; the traces that they name.

    `cases` are [label, id, query, results]: a letter for each criterion (_LETTERS).
    `more_cases` says that there are others. `unreadable` counts lines of the journal
    that could not be read.
    """

    units: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    cases: list[list[str]] = field(default_factory=list)
    more_cases: bool = False
    unreadable: int = 0


def read_excerpt(
    run_folder: Path,
    criteria: Sequence[Mapping[str, Any]],
    *,
    names: CaseNames | None = None,
    planned: bool = False,
) -> Excerpt:
    """Read the journal once and the traces once; keep what the page shows.

    `planned` says that each case of `names` is a case of the run, also one of which
    nothing is decided.
    """
    excerpt = Excerpt()
    names = names or CaseNames()
    came_out: dict[str, bytearray] = {}  # by case: a rank for each criterion
    room, limits = _limits(criteria)
    chosen: dict[str, dict[str, list[dict[str, Any]]]] = {
        criterion["criterionId"]: {kind: [] for kind in _KINDS}
        for criterion in criteria
    }
    slots = {
        _raw(name): (place, kinds) for place, (name, kinds) in enumerate(chosen.items())
    }
    blank = bytes(len(criteria))
    plain = re.compile(_PLAIN) if room < MAX_UNITS else None
    for line in _lines(run_folder / "units.jsonl"):
        try:
            found = plain and plain.match(line)
            if found and line.endswith(b'"}\n'):  # nothing tore it
                unit = None
                raw_id, criterion, result = found.groups()
                case_id = raw_id.decode()
            else:
                unit = with_defaults(json.loads(line))
                case_id = unit["caseId"]
                criterion, result = _raw(unit["criterionId"]), _raw(unit["result"])
            slot = slots.get(criterion)
            if slot is None:
                continue
            place, kinds = slot
            kind, rank = _RESULTS.get(result, _OPEN)
            of_kind = kinds[kind]
            if len(of_kind) < limits[kind]:
                of_kind.append(_unit(unit or with_defaults(json.loads(line)), names))
            case = came_out.get(case_id)
            if case is None:
                if len(came_out) >= MAX_SORTED:
                    excerpt.more_cases = True
                    continue
                case = came_out[case_id] = bytearray(blank)
            if rank > case[place]:
                case[place] = rank
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            excerpt.unreadable += 1 if line.strip() else 0
    excerpt.units = {
        name: [unit for kind in _KINDS for unit in kinds[kind]][:room]
        for name, kinds in chosen.items()
    }
    shown = [unit for units in excerpt.units.values() for unit in units]
    shown.sort(
        key=lambda unit: _KINDS.index(_RESULTS.get(_raw(unit["result"]), _OPEN)[0])
    )
    wanted = dict.fromkeys(unit["traceId"] for unit in shown)
    wanted_first = dict.fromkeys(list(wanted)[:MAX_TRACES])
    excerpt.traces = _traces(run_folder / "traces.jsonl", wanted_first, excerpt, shown)
    _show_cases(excerpt, came_out, criteria, names, planned=planned)
    return excerpt


def _show_cases(
    excerpt: Excerpt,
    came_out: dict[str, bytearray],
    criteria: Sequence[Mapping[str, Any]],
    names: CaseNames,
    *,
    planned: bool,
) -> None:
    """Choose the cases to show: what fails a gating criterion first, then what is open."""
    if planned:
        for case_id in names.ids():
            if len(came_out) >= MAX_SORTED:
                excerpt.more_cases = True
                break
            came_out.setdefault(case_id, bytearray(len(criteria)))
    gates = [c["severity"] in GATING for c in criteria]
    lacking = [bool(c["counts"]["missing"]) for c in criteria]

    @cache  # cases come out alike
    def urgency(ranks: bytes) -> int:
        if any(rank == 5 and gate for rank, gate in zip(ranks, gates, strict=True)):
            return 0
        if 5 in ranks:
            return 1
        waits = any(
            not rank and lack for rank, lack in zip(ranks, lacking, strict=True)
        )
        return 2 if waits or 3 in ranks or 4 in ranks else 3

    ordered = names.in_order(came_out)
    if any(c["counts"][kind] for c in criteria for kind in _URGENT):
        by_urgency: tuple[list[str], ...] = ([], [], [], [])
        for case_id in ordered:
            by_urgency[urgency(bytes(came_out[case_id]))].append(case_id)
        ordered = [case_id for cases in by_urgency for case_id in cases]
    excerpt.more_cases = excerpt.more_cases or len(ordered) > MAX_CASES
    excerpt.cases = [
        [
            printable(names.label(case_id), 200),
            printable(case_id, 200),
            one_line(names.query(case_id)),
            "".join(_LETTERS[rank] for rank in came_out[case_id]),
        ]
        for case_id in ordered[:MAX_CASES]
    ]


def _limits(criteria: Sequence[Mapping[str, Any]]) -> tuple[int, dict[str, int]]:
    """Return how many units of a criterion are shown, and how many of each kind."""
    total = sum(sum(criterion["counts"].values()) for criterion in criteria)
    if total <= MAX_UNITS:
        return MAX_UNITS, dict.fromkeys(_KINDS, MAX_UNITS)
    room = max(1, min(MAX_UNITS_OF_A_CRITERION, MAX_UNITS // len(criteria)))
    return room, {kind: max(1, int(room * share)) for kind, share in _SHARES.items()}


def _lines(path: Path) -> Iterator[bytes]:
    try:
        lines = path.open("rb")
    except FileNotFoundError:
        return
    with lines:
        yield from lines


# The start of a unit's line as the journal writes it: its case, its criterion and its
# result. Of most units of a large run no more is shown, and reading all of each would
# take longer than the page.
_PLAIN: Final = (
    rb'\{"key":"[^"\\]*","caseId":"([^"\\]*)","criterionId":"([^"\\]*)",'
    rb'(?:"repeat":\d+,)?(?:"traceId":"[^"\\]*",)?(?:"by":"[a-z]+",)?'
    rb'"critique":"[^"\\]*(?:\\.[^"\\]*)*","result":"([a-z]+)"[,}]'
)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _unit(unit: Mapping[str, Any], names: CaseNames) -> dict[str, Any]:
    about = [
        {
            "code": "decided by code",
            "scope": "out of scope",
            "fidelity": "incomplete trace",
            "judge": "judged",
        }.get(str(unit.get("by")), "")
    ]
    if unit.get("model"):
        about[0] = f"{about[0]} by {unit['model']}".strip()
    if unit.get("value") is not None:
        about.append(f"measured {unit['value']:.6g}")
    if unit.get("confidence") is not None:
        about.append(f"confidence {unit['confidence']:.2g}")
    blocked = unit.get("blockedBy")
    notes = [str(note) for note in unit.get("notes") or ()]
    return unit_entry(
        case_id=unit["caseId"],
        trace_id=unit["traceId"],
        repeat=unit["repeat"],
        result=unit["result"],
        critique=unit["critique"],
        refs=unit.get("refs") or (),
        blocked=f"{blocked['kind']}: {blocked['text']}" if blocked else "",
        about=" · ".join(word for word in (*about, *notes) if word),
        names=names,
    )


def unit_entry(
    *,
    case_id: str,
    trace_id: str,
    repeat: int,
    result: str,
    critique: str,
    refs: Sequence[Mapping[str, str]],
    blocked: str,
    about: str,
    names: CaseNames,
) -> dict[str, Any]:
    """Return a unit as the page shows it: every text readable and bounded.

    `cited` holds the refs as they are; each of `refs` gets, beside its place and its
    value, the turn of its run that it quotes, where that run is shown. Raises TypeError
    where a journal holds something else than a text for one.
    """
    for text in (case_id, trace_id, result, critique):
        _must_be_text(text)
    for ref in refs[:MAX_REFS]:
        for key in ("obs", "path", "value"):
            _must_be_text(ref[key])
    name = printable(names.label(case_id), 200)
    if repeat:
        name += f" (repeat {repeat + 1})"
    cited = [
        {"obs": ref["obs"], "path": ref["path"], "value": ref["value"][:MAX_REF]}
        for ref in refs[:MAX_REFS]
    ]
    shown: list[list[Any]] = [
        [
            printable(f"{ref['obs']} {ref['path']}".strip(), 200),
            block(ref["value"], MAX_REF),
        ]
        for ref in refs[:MAX_REFS]
    ]
    if len(refs) > MAX_REFS:
        shown.append([f"and {len(refs) - MAX_REFS} more refs", ""])
    # What blocks often says no more than the critique.
    extra = blocked.partition(": ")[2] != critique
    return {
        "name": name,
        "case": printable(case_id, 200),
        "query": one_line(names.query(case_id)),
        "traceId": trace_id,
        "result": printable(result, 20),
        "critique": block(critique, MAX_CRITIQUE),
        "refs": shown,
        "cited": cited,
        "blocked": f"Blocked by {block(blocked, MAX_REF)}" if blocked and extra else "",
        "about": printable(about, 300),
    }


def _must_be_text(value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")


# -- traces ---------------------------------------------------------------------

_START: Final = b'{"unitf_version":"0.1","traceId":"'


def _traces(
    path: Path,
    wanted: Mapping[str, None],
    excerpt: Excerpt,
    units: Sequence[Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    from ..plain_lines import read_trace

    if not wanted:
        return {}
    about: dict[str, list[Mapping[str, Any]]] = {}
    for unit in units:
        about.setdefault(unit["traceId"], []).append(unit)
    found: dict[str, dict[str, Any]] = {}
    room = MAX_TEXT
    # Most traces are not shown: reading all of each would take longer than the page.
    plain = {_raw(name) for name in wanted}
    first = len(_START)
    for line in _lines(path):
        if line.startswith(_START):
            name = line[first : line.find(b'"', first)]
            if name not in plain and b"\\" not in name:
                continue
        try:
            trace = read_trace(line)
        except (ValueError, RecursionError):
            excerpt.unreadable += 1 if line.strip() else 0
            continue
        if trace.id in wanted:
            quoting = about[trace.id]
            refs = [ref for unit in quoting for ref in unit["cited"]]
            shown, places = show_run(trace, refs)
            room -= sum(len(turn["text"]) for turn in shown["turns"])
            if room < 0:
                break
            found[trace.id] = shown
            spelled = [
                shown_ref
                for unit in quoting
                for shown_ref in unit["refs"][: len(unit["cited"])]
            ]
            for shown_ref, place in zip(spelled, places, strict=True):
                shown_ref.append(place)
            if len(found) == len(wanted):
                break
    return found
