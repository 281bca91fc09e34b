"""JUnit XML: the same decision, as a CI server reads it.

One test case a unit, and one for each component of the gate. A CI server turns red on
a failure or an error, so there is one exactly where the gate is not a pass: units of
a criterion that keeps the gate from passing are failures (fail) and errors
(uncertain, error). What only advises, what a criterion's threshold tolerates, what
does not apply and what has no verdict at all is skipped, with its reason: never a
pass. For what has no verdict the gate's own test case is red, once; pytest does the
same.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal

from ..canonical import escape_surrogates
from ..names import CaseNames
from ..safe_text import printable
from ..unit import with_defaults
from ..whole_file import whole_file
from .words import GATING, is_not_gated, plural, reservations

MAX_TEXT: Final = 4_000

Outcome = Literal["passed", "failure", "error", "skipped"]


class _Totals:
    def __init__(self) -> None:
        self.counts: dict[Outcome, int] = {
            "passed": 0,
            "failure": 0,
            "error": 0,
            "skipped": 0,
        }

    def __str__(self) -> str:
        counts = self.counts
        return (
            f'tests="{sum(counts.values())}" failures="{counts["failure"]}" '
            f'errors="{counts["error"]}" skipped="{counts["skipped"]}"'
        )


def write_junit(
    path: Path,
    units_path: Path,
    scorecard: Mapping[str, Any],
    *,
    names: CaseNames | None = None,
) -> None:
    """Write the JUnit XML of a run, in flat memory.

    `units_path` is the run's journal; lines that can't be read are counted in a test
    case of their own, an error. `names` is what the cases are called. Raises OSError.
    """

    path.parent.mkdir(parents=True, exist_ok=True)
    bodies: list[tuple[Path, str, _Totals]] = []
    totals = _Totals()
    try:
        for suite, cases in (
            ("gate", _gate(scorecard)),
            ("units", _units(units_path, scorecard, names or CaseNames())),
        ):
            body = path.with_name(f"{path.name}.{suite}.part")
            own = _Totals()
            bodies.append((body, suite, own))
            with body.open("wb") as file:
                for outcome, text in cases:
                    own.counts[outcome] += 1
                    totals.counts[outcome] += 1
                    _write(file, text)
        with whole_file(path) as part:
            _put_together(part, scorecard, bodies, totals)
    finally:
        for body, _, _ in bodies:
            body.unlink(missing_ok=True)


def _put_together(
    path: Path,
    scorecard: Mapping[str, Any],
    bodies: Sequence[tuple[Path, str, _Totals]],
    totals: _Totals,
) -> None:
    """Write the file: its heads hold the counts of what stands below them."""
    from shutil import copyfileobj

    subject = scorecard["subject"]
    name = _attribute(f"{subject['name']} {subject['version']}")
    with path.open("wb") as file:
        _write(file, '<?xml version="1.0" encoding="UTF-8"?>\n')
        _write(file, f'<testsuites name="{name}" {totals}>\n')
        for body, suite, own in bodies:
            _write(file, f'<testsuite name="{suite}" {own}>\n')
            with body.open("rb") as lines:
                copyfileobj(lines, file, 1 << 13)
            _write(file, "</testsuite>\n")
        _write(file, "</testsuites>\n")


def _write(file: IO[bytes], text: str) -> None:
    file.write(escape_surrogates(text).encode())


def _gate(scorecard: Mapping[str, Any]) -> Iterator[tuple[Outcome, str]]:
    yield from _components(scorecard)
    for note in reservations(scorecard):
        # Not red, for the gate decides that; but nobody shall take it for the whole.
        yield _case("gate", note, "skipped", kind="note", message=note, text="")


def _components(scorecard: Mapping[str, Any]) -> Iterator[tuple[Outcome, str]]:
    outcomes: Mapping[str, Outcome] = {"fail": "failure", "incomplete": "error"}
    for component in scorecard["gate"]["components"]:
        # Where nothing gates, nothing has passed either.
        idle = is_not_gated(component)
        outcome = outcomes.get(component["verdict"], "skipped" if idle else "passed")
        yield _case(
            "gate",
            component["id"],
            outcome,
            kind=component["verdict"],
            message="; ".join(component["because"][:3]),
            text="\n".join(component["because"]),
        )


def _units(
    units_path: Path, scorecard: Mapping[str, Any], names: CaseNames
) -> Iterator[tuple[Outcome, str]]:
    criteria = {c["criterionId"]: c for c in scorecard["criteria"]}
    unreadable = 0
    with units_path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                record = with_defaults(json.loads(line))
                criterion = criteria[record["criterionId"]]
                yield _unit(record, criterion, names)
            except (ValueError, KeyError, TypeError, RecursionError):
                unreadable += 1
    for criterion in scorecard["criteria"]:
        missing = criterion["counts"]["missing"]
        if missing:
            said = plural(missing, "unit") + " without a verdict"
            blocked = criterion["blockedBy"]
            text = said if blocked is None else f"{said}: {blocked['text']}"
            yield _case(
                criterion["criterionId"],
                said,
                "skipped",
                kind="missing",
                message=text,
                text="",
            )
    if unreadable:
        text = f"{plural(unreadable, 'line')} of the journal can't be read"
        yield _case(
            "journal", "readable", "error", kind="journal", message=text, text=""
        )


def _unit(
    record: Mapping[str, Any], criterion: Mapping[str, Any], names: CaseNames
) -> tuple[Outcome, str]:
    result = record["result"]
    name = names.label(record["caseId"])
    if record["repeat"]:
        name += f" (repeat {record['repeat'] + 1})"
    outcome, aside = _weigh(result, criterion)
    critique = record["critique"]
    query = names.query(record["caseId"])
    details = [critique, *([f"query: {query}"] if query else ())]
    blocked = record.get("blockedBy")
    if blocked:
        details.append(f"blocked by {blocked['kind']}: {blocked['text']}")
    details += [
        f"{ref['obs']} {ref['path']}: {ref['value']}" for ref in record.get("refs", ())
    ]
    return _case(
        criterion["criterionId"],
        name,
        outcome,
        kind=result,
        message=aside + critique,
        text="\n".join(details),
    )


def _weigh(result: str, criterion: Mapping[str, Any]) -> tuple[Outcome, str]:
    """Return what a unit's result is to a CI server, and why where it is not red."""
    if result == "pass":
        return "passed", ""
    if result == "na":
        return "skipped", "does not apply: "
    if criterion["severity"] not in GATING:
        return "skipped", f"{result}, but {criterion['severity']} only advises: "
    if criterion["verdict"] == "pass":
        return "skipped", f"{result}, but {criterion['threshold']} holds: "
    return ("failure" if result == "fail" else "error"), ""


def _case(
    classname: str, name: str, outcome: Outcome, *, kind: str, message: str, text: str
) -> tuple[Outcome, str]:
    head = f'<testcase classname="{_attribute(classname)}" name="{_attribute(name)}"'
    if outcome == "passed":
        return outcome, f"{head}/>\n"
    said = _attribute(message[:MAX_TEXT])
    if outcome == "skipped":
        return outcome, f'{head}><skipped message="{said}"/></testcase>\n'
    inner = _content(text[:MAX_TEXT])
    return outcome, (
        f'{head}><{outcome} type="{_attribute(kind)}" message="{said}">{inner}'
        f"</{outcome}></testcase>\n"
    )


def _attribute(text: str) -> str:
    """Return a stranger's text for a quoted attribute, on one line."""
    return _escape(printable(text))


def _content(text: str) -> str:
    """Return a stranger's text of several lines for an element.

    What XML can't hold (controls, lone surrogates, U+FFFE) and what would repaint a
    terminal becomes a visible escape.
    """
    return _escape("\n".join(printable(line) for line in text.split("\n")))


def _escape(text: str) -> str:
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
    )
