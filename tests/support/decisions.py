"""Suites and units of an invented library desk, for tests of deciding and reporting."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helix_runtime.canonical import content_key, dump_line
from helix_runtime.case import Case
from helix_runtime.criterion import Aggregate, Criterion, Judge, check, every
from helix_runtime.decide import Decision, Tally
from helix_runtime.journal import MARK, case_mark, seal
from helix_runtime.pin import Pin
from helix_runtime.plain_lines import unit_line
from helix_runtime.scorecard import (
    RunInfo,
    UsageTally,
    build_scorecard,
    write_scorecard,
)
from helix_runtime.spread import SpreadRule
from helix_runtime.suite import Subject, Suite
from helix_runtime.trace import Span, Trace
from helix_runtime.unit import Unit
from helix_runtime.unitf import trace_to_record
from helix_runtime.verdict import (
    Ref,
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    passed,
    uncertain,
)

SUBJECT = Subject(
    id="library-desk",
    name="Library desk",
    version="2.1.0",
    kind="agent",
    purpose="Helps readers to find and to borrow books.",
)
RUN = RunInfo(
    id="run-1",
    mode="code-written",
    started="2025-01-02T03:04:05Z",
    target="python:desk:answer",
    repeats=1,
)
PIN = Pin(provider="openai", model="judge-1-2025-01-01")
NO_JUDGE = "no judge was asked"

VERDICTS: dict[str, Verdict] = {
    "pass": passed("It names the shelf."),
    "fail": failed("It names another shelf.", Ref("answer", "output", "shelf 9")),
    "uncertain": uncertain("Which book is meant?", kind="factual-intent"),
    "na": not_applicable("The reader asks for no book."),
    "error": could_not_judge("checks.py:7 raised KeyError: 'shelf'"),
}


@dataclass(frozen=True)
class Said:
    """One unit, or a missing one (`verdict` None), as a test writes it down."""

    criterion: str
    case: str
    verdict: Verdict | None
    repeat: int = 0
    dataset: str | None = "books"
    trace: str | None = None

    @property
    def trace_id(self) -> str:
        return self.trace or f"{self.case}-r{self.repeat}"


def criterion(
    criterion_id: str = "names-shelf",
    *,
    passes: Aggregate | None = None,
    judged: bool = False,
    **changes: Any,
) -> Criterion:
    statement = f"The answer holds to {criterion_id}."
    if judged:
        judge = Judge(criterion_id, statement, "It does.", "It does not.")
        return Criterion(judge=judge, passes=passes or every(), **changes)
    decide = check(criterion_id, statement)(lambda case, trace: passed("fine"))
    return Criterion(check=decide, passes=passes or every(), **changes)


def suite(*criteria: Criterion, **changes: Any) -> Suite:
    values: dict[str, Any] = {
        "subject": SUBJECT,
        "criteria": criteria,
        "engine": "code-written",
        "spec_sha256": "0" * 64,
        "generator": "tests",
    }
    return Suite(**(values | changes))


def results(
    text: str, *, criterion: str = "names-shelf", dataset: str | None = "books"
) -> list[Said]:
    """Return one unit a case: p(ass), f(ail), u(ncertain), n(a), e(rror), m(issing)."""
    names = {"p": "pass", "f": "fail", "u": "uncertain", "n": "na", "e": "error"}
    return [
        Said(
            criterion,
            f"{dataset}-{number}",
            None if letter == "m" else VERDICTS[names[letter]],
            dataset=dataset,
        )
        for number, letter in enumerate(text)
    ]


def repeated(
    *texts: str, criterion: str = "names-shelf", dataset: str | None = "books"
) -> list[Said]:
    """Return one case a text, one repeat a letter."""
    found = []
    for number, text in enumerate(texts):
        for repeat, said in enumerate(results(text, criterion=criterion)):
            case = f"{dataset}-{number}"
            found.append(replace(said, case=case, repeat=repeat, dataset=dataset))
    return found


def case_of(said: Said) -> Case:
    return Case(
        id=said.case, query="Where is it?", dimensions={"d": "v"}, dataset=said.dataset
    )


def key_of(said: Said, sequence: int) -> str:
    """Return a key with the marks that a runner gives it."""
    marks = case_mark(case_of(said).digest) + content_key(said.criterion)[:MARK]
    return f"{marks}{sequence:08x}"


def unit_of(said: Said, sequence: int) -> Unit:
    assert said.verdict is not None
    return Unit(
        key=key_of(said, sequence),
        case_id=said.case,
        criterion_id=said.criterion,
        repeat=said.repeat,
        trace_id=said.trace_id,
        verdict=said.verdict,
        decided_by="code",
    )


def decide(
    asked: Suite,
    units: Sequence[Said],
    *,
    repeats: int = 1,
    order: Iterable[int] | None = None,
    rule: SpreadRule | None = None,
) -> Decision:
    """Decide; `order` is the order in which the units arrive, each at its sequence."""
    tally = Tally(asked, repeats=repeats, rule=rule)
    for sequence in range(len(units)) if order is None else order:
        said = units[sequence]
        if said.verdict is None:
            tally.add_missing(
                criterion_id=said.criterion,
                case=case_of(said),
                trace_id=said.trace_id,
                repeat=said.repeat,
                sequence=sequence,
                why=NO_JUDGE,
            )
        else:
            unit = unit_of(said, sequence)
            tally.add(unit, case=case_of(said), sequence=sequence)
    return tally.decide()


def scorecard(
    asked: Suite,
    decision: Decision,
    *,
    run: RunInfo = RUN,
    pin: Pin | None = None,
    usage: UsageTally | None = None,
) -> dict[str, Any]:
    return build_scorecard(
        suite=asked,
        suite_sha256="1" * 64,
        decision=decision,
        run=run,
        pin=pin,
        usage=usage or UsageTally(),
    )


def trace_of(said: Said, *, answer: str = "It is on shelf 9.") -> Trace:
    spans = (
        Span(id="ask", name="user", kind="event", role="user", input="Where is it?"),
        Span(id="find", name="books.find", kind="tool", input={"title": "Emma"}),
        Span(id="answer", name="assistant", kind="llm", output=answer),
    )
    return Trace(id=said.trace_id, spans=spans)


def write_run(
    folder: Path,
    asked: Suite,
    units: Sequence[Said],
    *,
    repeats: int = 1,
    run: RunInfo = RUN,
    answer: str = "It is on shelf 9.",
) -> dict[str, Any]:
    """Write the folder of a run (journal, traces, scorecard); return the scorecard."""
    folder.mkdir(parents=True, exist_ok=True)
    card = scorecard(asked, decide(asked, units, repeats=repeats), run=run)
    lines = [
        seal(unit_line(unit_of(said, sequence)))
        for sequence, said in enumerate(units)
        if said.verdict is not None
    ]
    (folder / "units.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    traces = {said.trace_id: trace_of(said, answer=answer) for said in units}
    with (folder / "traces.jsonl").open("w", encoding="utf-8") as file:
        for trace in traces.values():
            file.write(dump_line(trace_to_record(trace)) + "\n")
    write_scorecard(folder / "scorecard.json", card)
    (folder / "run.json").write_text(json.dumps({"id": run.id, "finished": True}))
    return card
