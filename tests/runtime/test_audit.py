"""The suite's look at itself: each finding fires where it must, and only there."""

from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.checks import facts
from helix_runtime.criterion import (
    Criterion,
    Judge,
    Scope,
    check,
    skipped,
    unwritten,
)
from helix_runtime.improving.audit import audit
from helix_runtime.improving.audit.design import by_code
from helix_runtime.improving.audit.finding import Finding, Holdings
from helix_runtime.improving.audit.labels import MIN_LABELLED
from helix_runtime.improving.finished_run import CriterionOutcome, FinishedRun
from helix_runtime.labels.file import Label, summarize
from helix_runtime.labels.splits import Split
from helix_runtime.record import replace
from helix_runtime.suite import Tool
from helix_runtime.trace import Trace
from helix_runtime.trust.validation import MIN_CASES, Measurement
from helix_runtime.verdict import Verdict
from support.runs import CODE, HYBRID, SUBJECT, case, judged, suite, trace

ZERO = dict.fromkeys(("pass", "fail", "uncertain", "na", "error", "missing"), 0)


def outcome(criterion_id: str, **counts: int) -> CriterionOutcome:
    return CriterionOutcome(
        id=criterion_id,
        criterion_class="code",
        severity="HIGH",
        verdict="pass",
        threshold="rate >= 1",
        counts={**ZERO, **(counts or {"pass": 3, "fail": 1})},
    )


def run(*criteria: CriterionOutcome, **changes: Any) -> FinishedRun:
    values: dict[str, Any] = {
        "name": "run-1",
        "folder": None,
        "started": "2026-01-01T00:00:00Z",
        "spec_sha256": "0" * 64,
        "suite_sha256": "0" * 64,
        "target": "python:x:y",
        "repeats": 1,
        "model": None,
        "gate": "pass",
        "criteria": criteria or (outcome("has-answer"),),
        "failing": (),
        "open": (),
        "stability": "stable",
        "unrest": 0,
        "flapping": (),
        "judge_flapping": (),
        "decision": "",
    }
    return FinishedRun(**(values | changes))


def labels(number: int, word: Any = "pass", start: int = 0) -> list[Label]:
    return [
        Label(
            trace_id=f"t{start + n}",
            criterion_id="cites-order",
            label=word,
            annotator="ann",
        )
        for n in range(number)
    ]


def measured(
    tp: int = 20, fn: int = 0, tn: int = 20, fp: int = 0, split: Split = "test"
) -> Measurement:
    """A judge of which so many cases of each kind are known."""
    found = {
        (1, 0, 0, 0): tp,
        (0, 1, 0, 0): fn,
        (0, 0, 1, 0): tn,
        (0, 0, 0, 1): fp,
    }
    return Measurement(split=split, outcomes={k: n for k, n in found.items() if n})


def derived(case_id: str = "case-1", **changes: Any) -> Case:
    return case(case_id, source="derived", origin_trace_id="t0", **changes)


def holdings(*criteria: Criterion, **changes: Any) -> Holdings:
    """A suite in which there is nothing to find, with changes."""
    mine = criteria or (CODE,)
    values: dict[str, Any] = {
        "package": "desk_evals",
        "suite": suite(*mine),
        "runs": [run(*(outcome(c.id) for c in mine))],
        "labels": summarize([]),
        "cases": [derived()],
    }
    return Holdings(**(values | changes))


def well_judged(**changes: Any) -> Holdings:
    """The same with a judge that people have labelled enough for."""
    given = labels(MIN_LABELLED) + labels(MIN_LABELLED, "fail", start=MIN_LABELLED)
    values: dict[str, Any] = {
        "labels": summarize(given),
        "labelled": {one.trace_id: [trace(one.trace_id)] for one in given},
        "measured": {"cites-order": measured()},
    }
    return holdings(judged(), **(values | changes))


def kinds(held: Holdings) -> list[str]:
    return [one.kind for one in audit(held)]


def only(held: Holdings, kind: str) -> Finding:
    found = audit(held)
    assert [one.kind for one in found] == [kind]
    (one,) = found
    assert one.where and one.found and one.do
    return one


def test_a_sound_suite_has_no_finding() -> None:
    assert kinds(holdings()) == []
    assert kinds(well_judged()) == []


# -- grounded in runs? ----------------------------------------------------------------


def test_without_a_run_nothing_is_grounded() -> None:
    assert only(holdings(runs=[]), "no-run").area == "grounding"


def test_a_criterion_that_decided_nothing_is_named() -> None:
    one = run(outcome("has-answer", uncertain=4))
    assert only(holdings(runs=[one]), "never-decided").items == ("has-answer",)
    two = [one, run(outcome("has-answer", **{"pass": 1, "fail": 1}))]
    assert kinds(holdings(runs=two)) == []


def test_a_criterion_that_never_failed_is_named_unless_a_label_says_so() -> None:
    never = [run(outcome("has-answer", **{"pass": 9}))]
    assert only(holdings(runs=never), "never-failed").items == ("has-answer",)
    said = [Label(trace_id="t", criterion_id="has-answer", label="fail", annotator="a")]
    by_label = holdings(
        runs=never, labels=summarize(said), labelled={"t": [trace("t")]}
    )
    assert kinds(by_label) == []


def test_facts_of_the_spec_and_what_was_derived_need_no_run_that_fails() -> None:
    @check("has-answer", "The graph resolves.")
    def resolves(case: Case, trace: Trace) -> Verdict:
        return facts.workflow_resolves(case, trace, workflow={})

    never = [run(outcome("has-answer", **{"pass": 9}))]
    for mine in (
        Criterion(check=resolves),
        Criterion(check=CODE.check, source="derived"),
    ):
        assert kinds(holdings(mine, runs=never)) == []
    assert kinds(holdings(CODE, runs=never)) == ["never-failed"]


# -- one question each, code before judge? ---------------------------------------------


def test_a_score_and_a_second_question_are_found_in_a_judges_words() -> None:
    score = Judge("cites-order", "It is polite.", "Rated 4 or 5 out of 5.", "Else.")
    found = audit(well_judged(suite=suite(Criterion(judge=score))))
    assert [one.kind for one in found] == ["score"]
    assert found[0].where == "desk_evals/judges.py"
    two = Judge(
        "cites-order",
        "The answer names the order and never mentions another customer.",
        "It does.",
        "It does not.",
    )
    assert kinds(well_judged(suite=suite(Criterion(judge=two)))) == ["two-questions"]


def test_a_check_that_is_not_written_is_found_with_its_line() -> None:
    @check("has-answer", "The run ends with an answer.")
    def not_yet(case: Case, trace: Trace) -> Verdict:
        return unwritten()

    one = only(holdings(Criterion(check=not_yet)), "no-check")
    assert one.where.startswith("desk_evals/test_audit.py:")


def test_what_nobody_decides_is_no_finding_of_the_criterion() -> None:
    gone = Criterion(check=skipped("has-answer", "The run ends with an answer."))
    assert kinds(holdings(gone, runs=[run(outcome("has-answer", uncertain=3))])) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("The answer is valid JSON.", "valid JSON"),
        ("The summary has at most 40 words.", "at most 40 words"),
        ("orders.refund is called after the customer agrees.", "orders.refund"),
        ("The answer is helpful and grounded in what was found.", None),
        ("The customer can search on their own.", None),
        ("It explains the JSON to a beginner.", None),
    ],
)
def test_what_code_can_decide_is_known_by_its_words(
    statement: str, words: str | None
) -> None:
    tools = [*SUBJECT.tools, Tool("search", "Searches.")]
    assert by_code(statement, tools) == words


def test_a_judge_alone_for_what_code_decides_is_found_and_a_hybrid_is_not() -> None:
    words = "The answer is valid JSON."
    alone = Criterion(judge=Judge("cites-order", words, "It is.", "It is not."))
    assert kinds(well_judged(suite=suite(alone))) == ["code-first"]

    @check("cites-order", words)
    def parses(case: Case, trace: Trace) -> Verdict:
        raise NotImplementedError

    both = Criterion(check=parses, judge=alone.judge)
    assert kinds(well_judged(suite=suite(both))) == []


# -- judges validated? -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "kind", "told"),
    [
        (measured(tp=17, fn=3), "below-target", "TPR 0.85, TNR 1.00"),
        (measured(tn=10, fp=10), "failed", "TPR 1.00, TNR 0.50"),
        (measured(tp=MIN_CASES - 1), "unvalidated", "how often it errs is unknown"),
        (None, "unvalidated", "how often it errs is unknown"),
        (measured(split="dev"), "dev-only", "validated on dev alone"),
    ],
)
def test_a_judge_that_is_not_validated_is_found(
    judge: Measurement | None, kind: str, told: str
) -> None:
    known = {} if judge is None else {"cites-order": judge}
    found = only(well_judged(measured=known), kind)
    assert found.area == "judges" and found.items == ("cites-order",)
    assert told in found.found


# -- people labelled whole runs? -------------------------------------------------------


def test_judges_without_labels_are_found_and_code_needs_none() -> None:
    found = kinds(well_judged(labels=summarize([]), labelled={}))
    assert found == ["no-labels"]
    assert kinds(holdings(CODE)) == []


def test_a_judge_whose_criterion_nobody_labelled_is_found() -> None:
    held = well_judged(
        suite=suite(judged(), HYBRID),
        runs=[run(outcome("cites-order"), outcome("polite"))],
        measured=dict.fromkeys(("cites-order", "polite"), measured()),
    )
    assert only(held, "not-labelled").items == ("polite",)


def test_labelled_runs_that_are_gone_or_not_whole_are_found() -> None:
    held = well_judged()
    found = dict(held.labelled)
    del found["t0"]
    assert only(well_judged(labelled=found), "run-not-at-hand").items == ("t0",)
    answer_only = Trace(
        id="t1", spans=trace().spans[-1:], observed=frozenset(("output",))
    )
    for partial in (answer_only, Trace(id="t1")):
        labelled = {**held.labelled, "t1": [partial]}
        assert only(well_judged(labelled=labelled), "not-whole").items == ("t1",)


def test_labels_that_nobody_signed_and_that_differ_are_found() -> None:
    held = well_judged()
    unsigned = Label(trace_id="t0", criterion_id="cites-order", label="pass")
    other = Label(
        trace_id="t1", criterion_id="cites-order", label="fail", annotator="bo"
    )
    given = summarize([*held.labels.current, unsigned])
    assert only(well_judged(labels=given), "unsigned").found.startswith("1 of")
    given = summarize([*held.labels.current, other])
    assert only(well_judged(labels=given), "disputed").items == ("t1 × cites-order",)


# -- enough of both classes? -----------------------------------------------------------


@pytest.mark.parametrize("short", ["pass", "fail"])
def test_too_few_labels_of_either_class_are_found(short: str) -> None:
    many, few = MIN_LABELLED, MIN_LABELLED - 1
    passes, fails = (few, many) if short == "pass" else (many, few)
    given = labels(passes) + labels(fails, "fail", start=passes)
    held = well_judged(
        labels=summarize(given),
        labelled={one.trace_id: [trace(one.trace_id)] for one in given},
    )
    assert str(few) in only(held, "too-few").found


def test_repeats_of_a_case_count_once_and_enough_is_what_a_validation_needs() -> None:
    words: list[Any] = ["pass", "fail"] * MIN_LABELLED
    given = [
        Label(
            trace_id=f"t0-r{n}", criterion_id="cites-order", label=word, annotator="a"
        )
        for n, word in enumerate(words)
    ]
    held = well_judged(
        labels=summarize(given),
        labelled={one.trace_id: [trace(one.trace_id)] for one in given},
    )
    assert "1 passing and 1 failing" in only(held, "too-few").found
    assert MIN_LABELLED * 0.425 >= MIN_CASES


# -- still alive? ----------------------------------------------------------------------


def test_a_dataset_that_shrank_or_does_not_grow_is_found() -> None:
    assert only(holdings(removed=["r1"]), "shrunk").items == ("r1",)
    only(holdings(cases=[case()]), "not-growing")
    assert kinds(holdings(cases=[case("a"), derived("b", query="Hm?")])) == []


def test_cases_that_no_gate_looks_at_are_found() -> None:
    scoped = replace(CODE, applies_to=Scope(datasets=["orders"]))
    cases = [
        derived("a"),  # of no dataset, as the trace that it was made from
        case("b", query="Hm?", dataset="orders"),
        case("c", query="And now?", dataset="order"),
        case("d", query="Any news?"),
    ]
    assert only(holdings(scoped, cases=cases), "not-gated").items == ("c", "d")
    advising = replace(scoped, severity="LOW")
    assert kinds(holdings(advising, cases=cases)) == []
    assert kinds(holdings(CODE, cases=cases)) == []


def test_described_cases_and_near_duplicates_are_found() -> None:
    told = derived("case-2", query="A user who asks.", placeholder=True)
    assert only(holdings(cases=[derived(), told]), "placeholders").items == ("case-2",)
    again = derived("case-2", query="where is my order 4711")
    assert only(holdings(cases=[derived(), again]), "near-duplicates").items == (
        "case-2 = case-1",
    )
    other = derived("case-2", input={"orders": {"4711": "lost"}})
    assert kinds(holdings(cases=[derived(), other])) == []


def test_criteria_that_went_away_are_found() -> None:
    runs = [run(outcome("has-answer"), outcome("was-here"))]
    assert only(holdings(runs=runs), "criterion-gone").items == ("was-here",)


def test_another_model_or_another_spec_than_the_last_runs_is_found() -> None:
    last = [run(outcome("cites-order"), model="judge-1")]
    assert kinds(well_judged(runs=last, model="judge-1")) == []
    changed = only(well_judged(runs=last, model="judge-2"), "model-changed")
    assert changed.items == ("judge-2", "judge-1")
    # A run that nobody judged since changes nothing of that.
    unjudged = [*last, run(outcome("cites-order"), name="run-2")]
    assert only(well_judged(runs=unjudged, model="judge-2"), "model-changed")
    older = [run(outcome("has-answer"), spec_sha256="1" * 64)]
    only(holdings(runs=older), "spec-changed")
    assert kinds(holdings(runs=[*older, *holdings().runs])) == []


def test_a_validation_that_the_judge_outlived_is_found() -> None:
    why = "the judge of cites-order is unvalidated since the judge was edited"
    found = only(well_judged(outdated=[why]), "validation-outlived")
    assert found.found == why
