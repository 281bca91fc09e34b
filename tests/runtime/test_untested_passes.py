"""A pass of a run in which nothing happened that it looks at says so, at each level.

Inaction can be success, so it stays a pass. But who reads a green gate must see where no
run has put a criterion to the test.
"""

from pathlib import Path
from typing import Any, Final

import pytest
from helix_runtime.decide import Decision
from helix_runtime.report.html import write_report
from helix_runtime.report.terminal import render_dashboard
from helix_runtime.report.words import next_steps, other_notes
from helix_runtime.suite import Suite
from helix_runtime.trace import Trace
from helix_runtime.verdict import (
    UNTESTED,
    Verdict,
    failed,
    passed,
    uncertain,
    untested,
)
from support.check_runs import Row, answer, call, decide, node, primitive, run, said
from support.decisions import Said, criterion, suite, write_run
from support.decisions import decide as decided

IDLE: Final = run(call("look", {"id": 1}), said({"orders": []}))
NO_CALL: Final = answer({"orders": []})
SILENT: Final = Trace(id="t")
PAID: Final = run(
    call("ask", {"n": 1}, {"approved": True}),
    call("pay", {"n": 1}),
    node("triage"),
    said({"orders": [{"id": 1}]}),
)

# Each check that passes where nothing of what it looks at happened, with a run of that
# kind; on PAID each of them is put to the test.
UNTESTED_RUNS: Final[list[tuple[str, dict[str, Any], Trace]]] = [
    ("tools.before", {"first": "ask", "then": "pay"}, IDLE),
    ("tools.approved", {"actions": ["pay"], "approvals": ["ask"]}, IDLE),
    ("tools.only_declared", {"declared": ["ask", "pay"]}, NO_CALL),
    ("tools.no_errors", {}, NO_CALL),
    ("tools.no_errors", {"names": ["pay"]}, IDLE),
    ("tools.no_repeats", {}, NO_CALL),
    ("tools.no_repeats", {"names": ["pay"]}, IDLE),
    ("tools.count", {"names": ["pay"], "at_most": 2}, IDLE),
    ("tools.called", {"name": "pay", "at_least": 0, "at_most": 2}, IDLE),
    (
        "lists.none",
        {"path": "orders", "condition": {"field": "id", "equals": 2}},
        IDLE,
    ),
    ("lists.count", {"path": "orders", "at_most": 3}, IDLE),
    (
        "workflow.visit_count",
        {"node": "triage", "nodes": ["look", "triage"], "at_most": 2},
        run(node("look"), said("Done.")),
    ),
    ("output.contains_none", {"texts": ["lorem"]}, SILENT),
]


@pytest.mark.parametrize(("check", "arguments", "trace"), UNTESTED_RUNS)
def test_a_pass_that_nothing_put_to_the_test_says_so(
    check: str, arguments: dict[str, Any], trace: Trace
) -> None:
    idle = decide(check, Row("pass", arguments, trace))
    assert idle.result == "pass" and idle.critique.startswith(UNTESTED)
    tested = decide(check, Row("pass", arguments, PAID))
    assert tested.result == "pass", tested.critique
    assert not tested.critique.startswith(UNTESTED)


@pytest.mark.parametrize(
    ("check", "arguments"),
    [
        ("tools.not_called", {"name": "pay"}),
        ("tools.none_called", {"names": ["pay"]}),
        ("tools.count", {"names": ["pay"], "at_most": 0}),
        ("lists.count", {"path": "orders", "at_most": 0}),
    ],
)
def test_what_must_not_happen_is_put_to_the_test_by_every_run(
    check: str, arguments: dict[str, Any]
) -> None:
    found = decide(check, Row("pass", arguments, IDLE))
    assert found.result == "pass" and not found.critique.startswith(UNTESTED)


def test_a_whole_is_put_to_the_test_where_one_of_its_parts_is() -> None:
    idle, tested = untested("There was no call."), passed("It is kind.")
    for check in ("combine.all_of", "combine.any_of"):
        for parts in ((idle, tested), (tested, idle)):
            assert not primitive(check)(*parts).critique.startswith(UNTESTED)
        assert primitive(check)(idle, idle).critique.startswith(UNTESTED)


IDLE_PASS: Final = untested("There was no call.")


def asked(severity: Any = "HIGH") -> Suite:
    return suite(criterion("approves", severity=severity), criterion("answers"))


def units(*verdicts: Verdict) -> list[Said]:
    found = [Said("approves", f"c{n}", v) for n, v in enumerate(verdicts)]
    answers = passed("It does.")
    return [*found, *(Said("answers", said.case, answers) for said in found)]


def outcome(*verdicts: Verdict, severity: Any = "HIGH") -> Decision:
    return decided(asked(severity), units(*verdicts))


def test_a_criterion_that_no_run_exercised_says_so_and_still_passes() -> None:
    decision = outcome(IDLE_PASS, IDLE_PASS)
    one, other = decision.criteria
    assert decision.gate == "pass" and one.verdict == "pass"
    assert one.critique == f"Exercised in 0 of 2 runs. {IDLE_PASS.critique}"
    assert other.critique == "It does."
    (note,) = decision.notes
    assert note.startswith("never exercised: `approves`. ")


@pytest.mark.parametrize(
    "verdicts",
    [
        (IDLE_PASS, passed("Approved.")),
        (passed("Approved."), IDLE_PASS),
        (IDLE_PASS, failed("Not approved.")),
        (IDLE_PASS, uncertain("Who knows?")),
    ],
)
def test_one_run_that_exercised_it_is_enough(verdicts: tuple[Verdict, ...]) -> None:
    decision = outcome(*verdicts)
    assert decision.notes == ()
    assert not decision.criteria[0].critique.startswith("Exercised")


def test_what_only_advises_says_so_without_a_note_beside_the_gate() -> None:
    decision = outcome(IDLE_PASS, severity="MED")
    assert decision.criteria[0].critique.startswith("Exercised in 0 of 1 run. ")
    assert decision.notes == ()


def test_the_terminal_and_the_page_say_it(tmp_path: Path) -> None:
    card = write_run(tmp_path, asked(), units(IDLE_PASS, IDLE_PASS))
    assert any(note.startswith("never exercised") for note in other_notes(card))
    text = render_dashboard(card, width=100, color=False, run_folder=None)
    assert "2 pass, untested" in text and "never exercised: `approves`" in text
    assert text.count("untested") == 1
    page = write_report(tmp_path).read_text("utf-8")
    assert page.count("2 pass, untested") == 1
    assert page.count("<p>Exercised in 0 of 2 runs. Not put to the test: ") == 1


def test_where_only_what_advises_fails_the_next_step_says_how_to_look_at_it(
    tmp_path: Path,
) -> None:
    advises = units(failed("Not approved."))
    card = write_run(tmp_path / "advises", asked("MED"), advises)
    assert card["gate"]["verdict"] == "pass"
    (step,) = next_steps(card)
    assert "approves" in step and "handoff[]" in step and "report.html" in step
    text = render_dashboard(card, width=100, color=False, run_folder=None)
    assert "WHAT NEXT" in text and "without gating: approves" in text
    gates = write_run(tmp_path / "gates", asked(), advises)
    assert not any("without gating" in step for step in next_steps(gates))


@pytest.mark.parametrize("begin", [UNTESTED, "Exercised in 0 of 2 runs. "])
def test_no_word_of_a_judge_calls_a_criterion_untested(
    begin: str, tmp_path: Path
) -> None:
    judged = suite(criterion("approves", judged=True))
    said = [Said("approves", "c0", passed(f"{begin}There was no call."))]
    card = write_run(tmp_path, judged, said)
    assert card["criteria"][0]["verdict"] == "pass"
    assert not any(note.startswith("never exercised") for note in other_notes(card))
    text = render_dashboard(card, width=100, color=False, run_folder=None)
    assert "untested" not in text
