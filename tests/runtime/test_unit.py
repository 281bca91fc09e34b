"""How a unit comes to its verdict: scope, fidelity, code, and only then a judge."""

import json

import pytest
from helix_runtime.case import Case
from helix_runtime.criterion import Criterion, Judge, Scope, check, unwritten
from helix_runtime.trace import Trace
from helix_runtime.unit import (
    Judgement,
    JudgeUsage,
    NoJudge,
    Unit,
    decide_unit,
    unit_from_record,
    unit_key,
    unit_to_record,
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
    """Counts what it is asked and always passes."""

    digest = "recording"

    def __init__(self) -> None:
        self.asked = 0

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement:
        self.asked += 1
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


def decide(criterion: Criterion, judge: Recording, trace: Trace = ANSWERED) -> Unit:
    unit = decide_unit(
        criterion=criterion, case=CASE, trace=trace, repeat=0, key="k", judging=judge
    )
    assert unit is not None
    return unit


def test_a_case_out_of_scope_is_na_before_anything_is_called() -> None:
    judge = Recording()
    unit = decide(Criterion(judge=KIND, applies_to=Scope(datasets=["big"])), judge)
    assert (unit.verdict.result, unit.decided_by, judge.asked) == ("na", "scope", 0)


def test_an_incomplete_trace_is_not_judged() -> None:
    judge = Recording()
    for criterion in (Criterion(judge=KIND), Criterion(check=says_hi)):
        unit = decide(criterion, judge, CRASHED)
        assert unit.verdict.result == "uncertain"
        assert unit.verdict.blocked_by is not None
        assert unit.verdict.blocked_by.text.startswith("incomplete trace")
    assert judge.asked == 0


def test_a_deterministic_criterion_never_asks_a_judge() -> None:
    judge = Recording()
    for function in (says_hi, cannot_tell, broken):
        decide(Criterion(check=function), judge)
    assert judge.asked == 0


@pytest.mark.parametrize(
    ("function", "asked"), [(says_hi, 0), (broken, 0), (cannot_tell, 1)]
)
def test_a_hybrid_asks_its_judge_only_where_code_is_uncertain(
    function: object, asked: int
) -> None:
    judge = Recording()
    decide(Criterion(check=function, judge=KIND), judge)  # type: ignore[arg-type]
    assert judge.asked == asked


def test_an_exception_of_a_check_is_an_error_that_names_its_place() -> None:
    unit = decide(Criterion(check=broken), Recording())
    assert unit.verdict.result == "error"
    assert "test_unit.py:" in unit.verdict.critique
    assert "KeyError" in unit.verdict.critique


def test_a_check_that_returns_no_verdict_is_an_error() -> None:
    unit = decide(Criterion(check=returns_a_bool), Recording())
    assert unit.verdict.result == "error"
    assert "returned bool" in unit.verdict.critique


def test_an_unwritten_check_says_where_to_write_it() -> None:
    blocked = decide(Criterion(check=to_be_written), Recording()).verdict.blocked_by
    assert blocked is not None and blocked.kind == "scope"
    assert f"write it in {to_be_written.place}" in blocked.text


def test_without_a_judge_a_judged_unit_is_missing() -> None:
    unit = decide_unit(
        criterion=Criterion(judge=KIND),
        case=CASE,
        trace=ANSWERED,
        repeat=0,
        key="k",
        judging=NoJudge(),
    )
    assert unit is None


def key(criterion: Criterion, *, code: str = "c", judge: object = None) -> str:
    return unit_key(
        case=CASE,
        trace=ANSWERED,
        criterion=criterion,
        repeat=0,
        code_digest=code,
        judging=judge or NoJudge(),  # type: ignore[arg-type]
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


@pytest.mark.parametrize("record", [None, [], {}, {"key": 1}, {"key": "k"}])
def test_what_is_no_unit_is_refused(record: object) -> None:
    with pytest.raises(ValueError):
        unit_from_record(record)
