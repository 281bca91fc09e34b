"""A packet: one run as a judging agent of a host is given it, as data, and its name."""

from collections.abc import Callable, Sequence
from typing import Any

from ..canonical import dump_line, fnv1a_32
from ..case import Case
from ..criterion import Criterion
from ..judges.evidence import Evidence, evidence_of
from ..judges.prompt import (
    expected_text,
    first_verdict_text,
    observed_text,
    says,
    shown_inputs,
)
from ..suite import Suite
from ..trace import Trace
from ..verdict import Verdict

FirstVerdict = Callable[[Criterion, Case, Trace], Verdict | None]
"""Gives the first judge's verdict on a criterion of a run, where there is one."""


def trajectory_key(trajectory_id: str) -> str:
    """Return the key of a packet's name: FNV-1a of the id, a NUL and `trajectory`."""
    data = f"{trajectory_id}\0trajectory".encode("utf-8", "surrogatepass")
    return fnv1a_32(data)


def task_key(system: str, user: str) -> str:
    """Return the key of a task's name: FNV-1a of both prompts, a NUL between them."""
    return fnv1a_32(f"{system}\0{user}".encode("utf-8", "surrogatepass"))


def packet_record(
    *,
    suite: Suite,
    case: Case,
    trace: Trace,
    criteria: Sequence[Criterion],
    model: str,
    evidence: Evidence | None = None,
    first: FirstVerdict | None = None,
) -> dict[str, Any]:
    """Return the packet of one run: data only, by the closed contract of packets.

    `first` gives the first judge's verdicts, where a second one is to refute them.
    """
    if evidence is None:
        evidence = evidence_of(trace)
    return {
        "subject": suite.subject.id,
        "trajectoryId": trace.id,
        "criteria": [
            criterion_record(
                c, case, trace, first=None if first is None else first(c, case, trace)
            )
            for c in criteria
        ],
        "trajectory": list(evidence.trajectory),
        "transcript": list(evidence.transcript),
        "subjectProfile": suite.subject.profile(),
        "pin": {"model": model, "temperature": 0},
    }


def criterion_record(
    criterion: Criterion, case: Case, trace: Trace, *, first: Verdict | None = None
) -> dict[str, Any]:
    """Return a criterion as a packet states it.

    A packet is of one run, so the pass condition also says what this run's case
    expects, where the judge is to know, what was not recorded of the run, and the
    `first` verdict, where this judge is to refute it.
    """
    judge = criterion.judge
    assert judge is not None
    shown = shown_inputs(criterion)
    condition = [f"Pass: {judge.pass_when}", f"Fail: {judge.fail_when}"]
    if judge.goal and not says(judge.pass_when, judge.goal):
        condition.append(f"Goal: {judge.goal}")
    if judge.notes:
        condition.append(f"Notes: {judge.notes}")
    for example in judge.examples:
        condition.append(
            f"A {example.label} example: {example.excerpt} → {example.result}, because "
            f"{example.critique}"
        )
    if "case" in shown and case.input is not None:
        condition.append(f"Input of this case: {dump_line(case.input)}")
    if "expected" in shown:
        condition.append(expected_text(case))
    condition.append(observed_text(trace))
    if first is not None:
        condition.append(f"First verdict: {first_verdict_text(first)}")
    record: dict[str, Any] = {
        "criterionId": criterion.id,
        "statement": criterion.statement,
        "passCondition": "\n".join(part for part in condition if part),
        "severity": criterion.severity,
    }
    if judge.inputs:
        record["judgeInputs"] = list(shown)
    record["checkMethod"] = criterion.method
    if criterion.check is not None:
        function = criterion.check.function
        record["codeEval"] = f"{function.__module__}:{function.__name__}"
    return record
