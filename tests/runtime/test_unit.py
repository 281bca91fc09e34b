"""How a unit comes to its verdict: scope, fidelity, code, and only then a judge."""

import json

import pytest
from helix_runtime.canonical import content_key
from helix_runtime.case import Case
from helix_runtime.criterion import Check, Criterion, Judge, Scope, check, unwritten
from helix_runtime.record import replace
from helix_runtime.trace import Trace
from helix_runtime.unit import (
    Judgement,
    JudgeUsage,
    NoJudge,
    Unit,
    decide_by_code,
    decider_parts,
    unit_from_record,
    unit_to_record,
    with_defaults,
)
from helix_runtime.unitf import trace_of_answer
from helix_runtime.verdict import (
    Assumption,
    BlockedBy,
    Ref,
    Verdict,
    failed,
    passed,
    uncertain,
)

CASE = Case(id="c1", query="Hello?", dimensions={"d": "v"}, dataset="small")
ANSWERED = trace_of_answer(trace_id="t1", query="Hello?", output="Hi.")
CRASHED = trace_of_answer(trace_id="t1", query="Hello?", output=None, error="boom")
KIND = Judge("kind", "The answer is kind.", "It is kind.", "It is rude.")


class Recording:
    """Always passes."""

    digest = "recording"

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement:
        return Judgement(verdict=passed("kind words"), model="judge-1")


@check("kind", "The answer is kind.")
def says_hi(case: Case, trace: Trace) -> Verdict:
    return passed("it says hi") if trace.answer == "Hi." else failed("it does not")


@check("kind", "The answer is kind.")
def cannot_tell(case: Case, trace: Trace) -> Verdict:
    return uncertain("the tone can't be read by code")


@check("kind", "The answer is kind.")
def broken(case: Case, trace: Trace) -> Verdict:
    raise KeyError("tone")


@check("kind", "The answer is kind.")
def returns_a_bool(case: Case, trace: Trace) -> Verdict:
    return True  # type: ignore[return-value]


@check("kind", "The answer is kind.")
def to_be_written(case: Case, trace: Trace) -> Verdict:
    return unwritten()


def decide(criterion: Criterion, trace: Trace = ANSWERED) -> tuple[Verdict, str]:
    verdict, decided_by = decide_by_code(criterion, CASE, trace)
    assert verdict is not None
    return verdict, decided_by


def test_a_case_out_of_scope_is_na_before_anything_is_called() -> None:
    out_of_scope = Criterion(judge=KIND, applies_to=Scope(datasets=["big"]))
    verdict, decided_by = decide(out_of_scope)
    assert (verdict.result, decided_by) == ("na", "scope")


def test_an_incomplete_trace_is_not_judged() -> None:
    for criterion in (Criterion(judge=KIND), Criterion(check=says_hi)):
        verdict, decided_by = decide(criterion, CRASHED)
        assert (verdict.result, decided_by) == ("uncertain", "fidelity")
        assert verdict.blocked_by is not None
        assert verdict.blocked_by.text.startswith("incomplete trace")


def test_a_deterministic_criterion_never_asks_a_judge() -> None:
    for function in (says_hi, cannot_tell, broken):
        assert decide(Criterion(check=function))[1] == "code"


@pytest.mark.parametrize(
    ("function", "decided_by"),
    [(says_hi, "code"), (broken, "code"), (cannot_tell, "judge")],
)
def test_a_hybrid_asks_its_judge_only_where_code_is_uncertain(
    function: Check, decided_by: str
) -> None:
    hybrid = Criterion(check=function, judge=KIND)
    assert decide_by_code(hybrid, CASE, ANSWERED)[1] == decided_by


def test_an_exception_of_a_check_is_an_error_that_names_its_place() -> None:
    verdict, _ = decide(Criterion(check=broken))
    assert verdict.result == "error"
    assert "test_unit.py:" in verdict.critique
    assert "KeyError" in verdict.critique


def test_a_check_that_returns_no_verdict_is_an_error() -> None:
    verdict, _ = decide(Criterion(check=returns_a_bool))
    assert verdict.result == "error"
    assert "returned bool" in verdict.critique


def test_an_unwritten_check_says_where_to_write_it() -> None:
    blocked = decide(Criterion(check=to_be_written))[0].blocked_by
    assert blocked is not None and blocked.kind == "scope"
    assert f"write it in {to_be_written.place}" in blocked.text


def key(criterion: Criterion, *, code: str = "c", judge: object = None) -> str:
    return content_key(
        *decider_parts(
            criterion,
            code_digest=code,
            judging=judge or NoJudge(),  # type: ignore[arg-type]
        )
    )


def test_a_key_changes_with_what_decides_and_with_nothing_else() -> None:
    by_code, by_judge = Criterion(check=says_hi), Criterion(judge=KIND)
    other = Judge("kind", "The answer is kind.", "It is kind.", "It shouts.")
    assert key(by_code) != key(by_code, code="edited")
    assert key(by_code) == key(by_code, judge=Recording())
    assert key(by_judge) == key(by_judge, code="edited")
    assert key(by_judge) != key(Criterion(judge=other))
    assert key(by_judge) != key(by_judge, judge=Recording())


def test_a_unit_survives_the_journal() -> None:
    unit = Unit(
        key="k",
        case_id="c1",
        criterion_id="kind",
        repeat=2,
        trace_id="t1",
        decided_by="judge",
        verdict=Verdict(
            result="uncertain",
            critique="no customer is named",
            refs=(Ref("output", "", "Hi."),),
            blocked_by=BlockedBy("factual-intent", "who is the customer?"),
            value=0.5,
            confidence=0.25,
            assumptions=(Assumption("one customer", "unverified", "normative"),),
        ),
        model="judge-1",
        usage=JudgeUsage(input_tokens=9, output_tokens=3, calls=1),
        raw="{",
        notes=("downgraded",),
    )
    assert unit_from_record(json.loads(json.dumps(unit_to_record(unit)))) == unit


def test_a_record_leaves_out_what_most_units_have_in_common() -> None:
    plain = Unit(
        key="k",
        case_id="c",
        criterion_id="kind",
        repeat=0,
        trace_id="c-r0",
        verdict=passed("fine", Ref("output", "", "Hi."), Ref("output", "a", "b")),
        decided_by="code",
    )
    short = unit_to_record(plain)
    assert list(short) == ["key", "caseId", "criterionId", "critique", "result", "refs"]
    assert short["refs"][0] == {"obs": "output", "value": "Hi."}
    assert unit_from_record(short) == plain
    whole = with_defaults(json.loads(json.dumps(short)))
    assert (whole["repeat"], whole["traceId"], whole["by"]) == (0, "c-r0", "code")
    assert [ref["path"] for ref in whole["refs"]] == ["", "a"]
    # A journal may spell all of it out.
    assert unit_from_record(whole) == plain

    again = replace(plain, repeat=3, trace_id="c-r3", decided_by="judge")
    assert "traceId" not in unit_to_record(again)
    assert unit_from_record(unit_to_record(again)) == again
    recorded = replace(plain, trace_id="of-a-producer")
    assert unit_to_record(recorded)["traceId"] == "of-a-producer"


@pytest.mark.parametrize("record", [[], None, "x", {}, {"traceId": "t"}])
def test_defaults_are_of_units_alone(record: object) -> None:
    with pytest.raises((KeyError, TypeError)):
        with_defaults(record)


@pytest.mark.parametrize("record", [None, [], {}, {"key": 1}, {"key": "k"}])
def test_what_is_no_unit_is_refused(record: object) -> None:
    with pytest.raises(ValueError):
        unit_from_record(record)
