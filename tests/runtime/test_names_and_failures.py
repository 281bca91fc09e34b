"""What people call a case, and how a subject failed, in words."""

import random

import pytest
from helix_runtime.case import Case
from helix_runtime.failures import (
    MAX_CASES,
    MAX_CAUSE,
    MAX_TRACEBACK,
    SubjectFailures,
    cause_of,
    traceback_of,
)
from helix_runtime.names import CaseNames, case_label, in_test_id, sample_label
from helix_runtime.report.words import failure_lines, grouped, next_steps
from helix_runtime.rollup import NO_CASE_IN_SCOPE
from helix_runtime.targets.recorded import own_case
from helix_runtime.unitf import trace_of_answer

HASH = "65333ebbc448a217"


def case(number: int) -> Case:
    return Case(
        id=f"{number:016x}",
        query=f"What is {number}?",
        dimensions={"a": "b"},
        item=f"item-{number}",
    )


@pytest.mark.parametrize(
    ("case_id", "name", "label", "in_test"),
    [
        (HASH, "pressed", "pressed (65333ebb…)", "pressed-65333ebb"),
        (HASH, "late at night", "late at night (65333ebb…)", "late-at-night-65333ebb"),
        (HASH, None, HASH, HASH),
        ("case-7", "pressed", "pressed (case-7)", "pressed-case-7"),
        ("pressed", "pressed", "pressed", "pressed"),
    ],
)
def test_a_case_is_called_by_its_item_and_told_apart_by_its_id(
    case_id: str, name: str | None, label: str, in_test: str
) -> None:
    assert case_label(case_id, name) == label
    assert in_test_id(case_id, name) == in_test


def test_a_recorded_run_that_stands_for_itself_is_called_by_its_own_id() -> None:
    run = trace_of_answer(trace_id="log-1", query="q", output="a")
    sample = {"caseId": own_case(run).id, "traceId": "log-1"}
    assert sample_label(sample) == "log-1"
    # A row of that name is another thing.
    assert sample_label({"caseId": "trace-9", "traceId": "log-1"}) == "trace-9"
    assert sample_label({"caseId": HASH, "traceId": "log-1"}) == HASH


def test_names_sort_as_the_dataset_does_and_unknown_ids_come_last() -> None:
    names = CaseNames([case(9), case(2)])
    ids = ["zzz", case(2).id, case(9).id, "aaa"]
    assert names.in_order(ids) == [case(9).id, case(2).id, "aaa", "zzz"]
    assert names.in_order([case(2).id]) == [case(2).id]
    assert names.label("zzz") == "zzz" and names.query("zzz") == ""


TRACEBACK = """the program ended with exit code 1; stderr: Traceback (most recent call last):
  File "/home/someone/agents/desk.py", line 22, in <module>
    import nothing_here
ModuleNotFoundError: No module named 'nothing_here'"""


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("target.py:22: KeyError: 'x'", "KeyError: 'x' (target.py:22)"),
        (
            TRACEBACK,
            "the program ended with exit code 1: ModuleNotFoundError: No module named "
            "'nothing_here' (desk.py:22)",
        ),
        ("timed out after 5 s", "timed out after 5 s"),
        ("HTTP 500:\n  busy", "HTTP 500: busy"),
    ],
)
def test_a_cause_is_one_line_with_its_place_last(error: str, cause: str) -> None:
    assert cause_of(error) == cause


def test_a_long_cause_is_cut_in_its_middle() -> None:
    cause = cause_of("ValueError: " + "x" * 5_000 + " what matters")
    assert len(cause) <= MAX_CAUSE
    assert cause.startswith("ValueError: ") and cause.endswith(" what matters")


def test_a_traceback_is_bounded_and_survives_an_exception_that_cannot_be_read() -> None:
    class Worse(Exception):
        def __str__(self) -> str:
            raise ValueError

    try:
        raise Worse
    except Worse as error:
        assert "Worse" in traceback_of(error)
    try:
        raise ValueError("x" * 100_000)
    except ValueError as error:
        text = traceback_of(error)
    assert len(text) <= MAX_TRACEBACK and "test_names_and_failures.py" in text


def failures_of(order: list[int]) -> SubjectFailures:
    found = SubjectFailures()
    for number in order:
        error = None if number % 4 == 3 else f"target.py:{number % 2}: E: no"
        trace = trace_of_answer(
            trace_id=f"{number}", query="q", output="fine", error=error
        )
        found.add(trace, case=case(number), sequence=number, repeat=0)
    return found


def test_failures_are_grouped_by_cause_whatever_the_order_of_arrival() -> None:
    order = list(range(40))
    expected = failures_of(order).to_record(40)
    assert expected is not None
    assert (expected["failed"], expected["of"]) == (30, 40)
    assert [(c["text"], c["runs"]) for c in expected["causes"]] == [
        ("E: no (target.py:0)", 20),
        ("E: no (target.py:1)", 10),
    ]
    assert len(expected["causes"][0]["cases"]) == MAX_CASES
    random.Random(7).shuffle(order)
    assert failures_of(order).to_record(40) == expected


def test_the_failure_is_said_once_with_cases_and_what_to_do() -> None:
    found = SubjectFailures()
    error = "target.py:22: ModuleNotFoundError: No module named 'x'"
    for number in range(7):
        trace = trace_of_answer(
            trace_id=f"{number}", query="q", output=None, error=error
        )
        found.add(trace, case=case(number), sequence=number, repeat=0)
    card = {
        "run": {"failures": found.to_record(7), "repeats": 1, "target": "python:a:b"},
        "handoff": [],
        "calibration": [],
        "criteria": [{"severity": "HIGH"}],
    }
    ((line, cases),) = failure_lines(card)
    assert line == (
        "The subject failed on 7 of 7 cases: "
        "ModuleNotFoundError: No module named 'x' (target.py:22)"
    )
    assert cases.startswith("item-0 (00000000…), item-1 (00000000…)")
    assert cases.endswith("and 2 more")
    (step,) = next_steps(card)
    assert "PYTHONPATH" in step and "target.py:22" in step and "traces.jsonl" in step


@pytest.mark.parametrize(
    ("severity", "why", "said"),
    [
        ("HIGH", NO_CASE_IN_SCOPE, "scope of kind: of those of this run none was"),
        ("MED", NO_CASE_IN_SCOPE, None),
        (
            "HIGH",
            "incomplete trace: "
            + str(trace_of_answer(trace_id="t", query="q", output=" ").incomplete),
            "it returned no answer",
        ),
    ],
)
def test_what_blocks_a_gate_has_a_next_step(
    severity: str, why: str, said: str | None
) -> None:
    waiting = {
        "criterionId": "kind",
        "severity": severity,
        "blockedBy": {"kind": "scope", "text": why},
        "openCases": [],
    }
    card = {
        "run": {"repeats": 1, "target": "python:a:b"},
        "handoff": [],
        "calibration": [waiting],
        "criteria": [{"severity": "HIGH"}],
    }
    steps = next_steps(card)
    assert len(steps) == (said is not None)
    assert said is None or said in steps[0]


def test_reasons_that_are_the_same_are_one_sentence() -> None:
    because = [
        "`a` fails: 1 of 2 decided units pass",
        "`b` is indeterminate: no unit is decided, 2 units open",
        "`c` is indeterminate: no unit is decided, 2 units open",
        'no case of this run exercises the job "j"',
    ]
    assert grouped(because) == [
        "`a` fails: 1 of 2 decided units pass",
        "`b`, `c` are indeterminate: no unit is decided, 2 units open",
        'no case of this run exercises the job "j"',
    ]
