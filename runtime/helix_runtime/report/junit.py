"""JUnit XML: the same decision, as a CI server reads it.

One test case a unit, and one for each component of the gate. A CI server turns red on
a failure or an error, so there is one exactly where the gate is not a pass: units of
a criterion that keeps the gate from passing are failures (fail) and errors
(uncertain, error, missing). What only advises, what a criterion's threshold
tolerates, and what does not apply is skipped, with its reason: never a pass.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, Literal

from ..canonical import escape_surrogates
from ..safe_text import printable
from .words import GATING, plural

MAX_TEXT: Final = 4_000

Outcome = Literal["passed", "failure", "error", "skipped"]

# The attributes of the head are written last, over this many blanks.
_ROOM: Final = 120


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


def write_junit(path: Path, units_path: Path, scorecard: Mapping[str, Any]) -> None:
    """Write the JUnit XML of a run, in flat memory.

    `units_path` is the run's journal; lines that can't be read are counted in a test
    case of their own, an error. Raises OSError.
    """
    import os

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    subject = scorecard["subject"]
    name = _attribute(f"{subject['name']} {subject['version']}")
    with part.open("wb") as file:
        totals = _Totals()
        _write(file, '<?xml version="1.0" encoding="UTF-8"?>\n')
        _write(file, f'<testsuites name="{name}" ')
        head = _reserve(file)
        _write(file, ">\n")
        for suite, cases in (
            ("gate", _components(scorecard)),
            ("units", _units(units_path, scorecard)),
        ):
            own = _Totals()
            _write(file, f'<testsuite name="{suite}" ')
            place = _reserve(file)
            _write(file, ">\n")
            for outcome, text in cases:
                own.counts[outcome] += 1
                totals.counts[outcome] += 1
                _write(file, text)
            _write(file, "</testsuite>\n")
            _fill(file, place, str(own))
        _write(file, "</testsuites>\n")
        _fill(file, head, str(totals))
    os.replace(part, path)


def _write(file: IO[bytes], text: str) -> None:
    file.write(escape_surrogates(text).encode())


def _reserve(file: IO[bytes]) -> int:
    place = file.tell()
    file.write(b" " * _ROOM)
    return place


def _fill(file: IO[bytes], place: int, text: str) -> None:
    end = file.tell()
    file.seek(place)
    file.write(text.encode())
    file.seek(end)


def _components(scorecard: Mapping[str, Any]) -> Iterator[tuple[Outcome, str]]:
    outcomes: Mapping[str, Outcome] = {"fail": "failure", "incomplete": "error"}
    for component in scorecard["gate"]["components"]:
        outcome = outcomes.get(component["verdict"], "passed")
        yield _case(
            "gate",
            component["id"],
            outcome,
            kind=component["verdict"],
            message="; ".join(component["because"][:3]),
            text="\n".join(component["because"]),
        )


def _units(
    units_path: Path, scorecard: Mapping[str, Any]
) -> Iterator[tuple[Outcome, str]]:
    criteria = {c["criterionId"]: c for c in scorecard["criteria"]}
    unreadable = 0
    with units_path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                criterion = criteria[record["criterionId"]]
                yield _unit(record, criterion)
            except (ValueError, KeyError, TypeError, RecursionError):
                unreadable += 1
    for criterion in scorecard["criteria"]:
        missing = criterion["counts"]["missing"]
        if missing:
            said = plural(missing, "unit") + " without a verdict"
            blocked = criterion["blockedBy"]
            text = said if blocked is None else f"{said}: {blocked['text']}"
            outcome, aside = _weigh("missing", criterion)
            yield _case(
                criterion["criterionId"],
                said,
                outcome,
                kind="missing",
                message=aside + text,
                text="",
            )
    if unreadable:
        text = f"{plural(unreadable, 'line')} of the journal can't be read"
        yield _case(
            "journal", "readable", "error", kind="journal", message=text, text=""
        )


def _unit(
    record: Mapping[str, Any], criterion: Mapping[str, Any]
) -> tuple[Outcome, str]:
    result = record["result"]
    name = record["caseId"]
    if record["repeat"]:
        name += f" (repeat {record['repeat'] + 1})"
    outcome, aside = _weigh(result, criterion)
    critique = record["critique"]
    details = [critique]
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
