"""Roots of failures, and requests as data: what joins them, what they may say."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.improving.change_requests import (
    MAX_CASES,
    Asked,
    FailingCase,
    Finding,
    Requesting,
    issued_record,
    read_issued,
)
from helix_runtime.improving.responses import read_responses, response_of
from helix_runtime.improving.roots import Grounded, Mark, Roots, ground_refs
from helix_runtime.judges.evidence import evidence_of
from helix_runtime.judges.grounding import Ground
from helix_runtime.verdict import Ref
from hypothesis import given
from hypothesis import strategies as st
from support.runs import SUBJECT, case, judged, trace

NAMES = ("a", "b", "c", "d")
ASKED = [Asked(id=name, severity="HIGH", statement=f"{name} holds.") for name in NAMES]


def grounded(*refs: Ref, by_code: bool = True) -> Grounded:
    run = trace()
    place = Ground(
        criterion=judged(),
        case=case(),
        trace=run,
        evidence=evidence_of(run),
        subject=SUBJECT,
    )
    return ground_refs(refs, place, by_code=by_code)


def marks(*names: str) -> Grounded:
    return Grounded(
        refs=(Ref("output", "", "x"),),
        marks=frozenset(Mark(name, name) for name in names),
    )


def order(number: int) -> tuple[int, str, int, int]:
    return (number, f"case-{number}", 0, 0)


def requested(runs: Sequence[dict[str, Grounded]], **more: Any) -> list[Finding]:
    requesting = Requesting(subject="desk", swing=more.pop("swing", 1), criteria=ASKED)
    for number, units in enumerate(runs):
        said = {name: (f"{name} broke", one) for name, one in units.items()}
        requesting.add_run(f"case-{number}", order(number), said)
    return requesting.findings(**more)


def symptoms(found: Sequence[Finding]) -> list[list[str]]:
    return [[one.criterion.id for one in each.symptoms] for each in found]


# -- refs ---------------------------------------------------------------------------


def test_only_what_is_found_again_is_kept() -> None:
    good, bad = Ref("output", "", "4711 was sent"), Ref("output", "", "never said")
    assert grounded(good, bad).refs == (good,)
    assert grounded(bad) == Grounded(refs=(), marks=frozenset())


def test_a_step_is_one_place_by_whichever_name_and_span_it_is_cited() -> None:
    ways = [
        Ref("s2", "input", "4711"),
        Ref("s2", "input.number", "4711"),
        Ref("s3", "output.orders.0.id", "4711"),
        Ref("trajectory[0]", "input.number", "4711"),
        Ref("trajectory[0].output", "orders.0.state", "sent on Monday"),
        Ref("orders.find", "input", "4711"),
    ]
    places = {grounded(ref).marks for ref in ways}
    assert len(places) == 1
    (mark,) = next(iter(places))
    assert mark.label == "orders.find"


def test_text_at_another_place_is_another_place() -> None:
    one = grounded(Ref("output", "", "sent on Monday")).marks
    assert one == grounded(Ref("output", "", "sent  on\nMonday")).marks
    assert not one & grounded(Ref("output", "", "Order 4711")).marks


def test_what_is_the_same_for_every_criterion_is_no_place() -> None:
    same = grounded(
        Ref("case", "query", "Where is my order"),
        Ref("transcript[0]", "content", "Where is 4711?"),
        Ref("trace", "spans.length", "4"),
    )
    assert len(same.refs) == 3 and not same.marks


def test_a_fact_of_the_spec_is_codes_to_cite_and_no_judges() -> None:
    fact = Ref("spec", "workflow.edges.0", "nowhere")
    (mark,) = grounded(fact).marks
    assert mark.is_of_spec
    assert grounded(fact, by_code=False).refs == ()


# -- roots --------------------------------------------------------------------------


def test_one_root_is_one_request_and_other_places_are_others() -> None:
    one = {"a": marks("x"), "b": marks("x", "y"), "c": marks("z")}
    assert symptoms(requested([one])) == [["a", "b"], ["c"]]
    assert symptoms(requested([one, one])) == [["a", "b"], ["c"]]


def test_a_criterion_that_fails_fewer_of_the_same_runs_is_a_symptom() -> None:
    runs = [{"b": marks("x")}, {"a": marks("x"), "b": marks("x")}]
    assert symptoms(requested(runs)) == [["a", "b"]]


def test_a_criterion_that_also_fails_elsewhere_is_a_finding_of_its_own() -> None:
    runs = [
        {"a": marks("x"), "b": marks("x")},
        {"a": marks("x")},
        {"b": marks("x")},
    ]
    assert symptoms(requested(runs)) == [["a"], ["b"]]


def test_what_shares_a_place_in_one_run_only_is_not_of_one_root() -> None:
    runs = [{"a": marks("x"), "b": marks("x")}, {"a": marks("x"), "b": marks("y")}]
    assert symptoms(requested(runs)) == [["a"], ["b"]]


PLACES = st.frozensets(st.sampled_from("xyz"), max_size=2).map(lambda s: marks(*s))
RUNS = st.lists(st.dictionaries(st.sampled_from(NAMES), PLACES, min_size=1), max_size=6)


@given(RUNS)
def test_every_failing_criterion_is_in_exactly_one_finding(
    runs: list[dict[str, Grounded]],
) -> None:
    found = symptoms(requested(runs))
    failing = {name for units in runs for name in units}
    assert sorted(name for group in found for name in group) == sorted(failing)
    for group in found:
        # One of them fails every run that another one fails.
        sets = [{n for n, r in enumerate(runs) if name in r} for name in group]
        assert any(all(other <= lead for other in sets) for lead in sets)


@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_in_which_runs_come_leaves_no_trace(
    runs: list[dict[str, Grounded]], random: Any
) -> None:
    def requests(places: Sequence[int]) -> list[Any]:
        requesting = Requesting(subject="desk", swing=1, criteria=ASKED)
        for number in places:
            said = {name: (f"{name} broke", o) for name, o in runs[number].items()}
            requesting.add_run(f"case-{number}", order(number), said)
        return [one.request.to_record() for one in requesting.findings()]

    shuffled = list(range(len(runs)))
    random.shuffle(shuffled)
    assert requests(shuffled) == requests(range(len(runs)))


def test_criteria_that_fail_nothing_are_in_no_finding() -> None:
    assert Roots().findings(NAMES) == [] and requested([]) == []


# -- requests -----------------------------------------------------------------------


def test_a_request_names_at_most_so_many_cases_and_the_first_ones() -> None:
    (found,) = requested([{"a": marks("x")}] * (MAX_CASES + 5))
    named = [one.case_id for one in found.request.failing_cases]
    assert named == [f"case-{n}" for n in range(MAX_CASES)]
    assert found.symptoms[0].runs == MAX_CASES + 5


def test_a_case_that_fails_in_several_repeats_is_named_once() -> None:
    requesting = Requesting(subject="desk", swing=1, criteria=ASKED)
    for repeat in (1, 0, 2):
        said = {"a": (f"broke in {repeat}", marks("x"))}
        requesting.add_run("case-1", (0, "case-1", repeat, 0), said)
    (found,) = requesting.findings()
    (one,) = found.request.failing_cases
    assert one.critique == "broke in 0" and found.symptoms[0].runs == 3


def test_the_id_is_of_what_fails_in_which_swing_and_of_nothing_else() -> None:
    runs = [{"a": marks("x")}]
    (one,), (two,) = requested(runs), requested(runs, remedy="agentspec")
    assert one.request.id == two.request.id
    (third,) = requested(runs, swing=2)
    assert third.request.id != one.request.id
    (fourth,) = requested([{"b": marks("x")}])
    assert fourth.request.id != one.request.id


def test_where_a_remedy_is_sought_follows_the_evidence() -> None:
    spec = Grounded(
        refs=(Ref("spec", "workflow", "x"),),
        marks=frozenset((Mark("s", "spec workflow", is_of_spec=True),)),
    )
    (found,) = requested([{"a": spec}])
    assert found.request.remedy_target == "agentspec"
    (found,) = requested([{"a": spec}, {"a": marks("x")}])
    assert found.request.remedy_target == "impl"
    absent = Grounded(refs=(Ref("trace", "spans.length", "4"),), marks=frozenset())
    (found,) = requested([{"a": absent}])
    assert found.request.remedy_target == "impl"


def test_the_remedy_says_what_must_hold_and_leaves_the_how_to_the_engineer() -> None:
    (found,) = requested([{"a": marks("pay"), "b": marks("pay")}])
    said = found.request.proposed_remedy
    for words in ("a must hold", "b holds.", "Seen at: pay.", "left to the engineer"):
        assert words in said
    assert "\n" not in said


# -- responses ----------------------------------------------------------------------

GOOD: dict[str, Any] = {"requestId": "r1", "status": "amended", "note": "Done."}


def read(path: Path, text: str) -> tuple[list[str], list[str]]:
    path.write_text(text, "utf-8")
    found = read_responses(path, known=["r1", "r2"])
    return [one.request_id for one in found.responses], list(found.problems)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("many", [True, False])
def test_responses_are_read_as_lines_as_one_object_and_as_a_list(
    tmp_path: Path, indent: int | None, many: bool
) -> None:
    path = tmp_path / "r.json"
    two = [GOOD, GOOD | {"requestId": "r2"}]
    text = json.dumps(two if many else GOOD, indent=indent)
    assert read(path, text) == (["r1", "r2"] if many else ["r1"], [])
    lines = "\n".join(json.dumps(one) for one in two)
    assert read(path, f"\n{lines}\n\n") == (["r1", "r2"], [])
    assert read(path, "\ufeff" + lines) == (["r1", "r2"], [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no response"),
        ("[]", "holds no response"),
        ("{", "r.json:1: is not JSON"),
        (json.dumps(GOOD) + "\n{", "r.json:2: is not JSON"),
        ("[\n {\n", "is not JSON"),
        ("7", "r.json:1: a response is a JSON object"),
        (json.dumps([GOOD, 7]), "r.json[1]: a response is a JSON object"),
        ('{"requestId": "r1", "requestId": "r2"}', "stands twice"),
        (json.dumps(GOOD | {"note": " "}), "`note` must be"),
        (json.dumps(GOOD | {"status": ["amended"]}), "`status` must be"),
        (json.dumps(GOOD | {"amendedTarget": "both"}), "`amendedTarget` must be"),
        (json.dumps(GOOD | {"rebuilt": "yes"}), "`rebuilt` must be"),
        (json.dumps(GOOD | {"Note": "x"}), "did you mean 'note'?"),
        (json.dumps(GOOD | {"requestId": "r9"}), "no request of this run"),
        ("[" * 500 + "]" * 500, "deeper"),
    ],
)
def test_a_fault_of_a_response_is_told_at_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    _, problems = read(tmp_path / "r.json", text)
    assert any(said in line for line in problems), problems


def test_a_rejection_amends_nothing() -> None:
    rejected = {"requestId": "r1", "status": "rejected", "note": "No."}
    assert response_of(rejected)[0] is not None
    for more in ({"amendedTarget": "impl"}, {"rebuilt": True}):
        response, faults = response_of({**rejected, **more})
        assert response is None and "amends nothing" in faults[0]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b"\xff\xfe{}")
    assert "not UTF-8" in read_responses(path, known=[]).problems[0]


# -- on disk ------------------------------------------------------------------------


def test_what_was_issued_is_read_again(tmp_path: Path) -> None:
    found = requested([{"a": marks("x")}])
    data = issued_record(
        run="one",
        decision="d",
        swing=3,
        subject="desk",
        findings=found,
        not_grounded=[],
    )
    path = tmp_path / "requests.json"
    path.write_text(json.dumps(data), "utf-8")
    issued = read_issued(path)
    assert issued.decision == "d" and issued.swing == 3
    assert issued.targets == {found[0].request.id: "impl"}
    for wrong in (
        {},
        {"schema": "x"},
        data | {"requests": [{}]},
        data | {"swing": "1"},
    ):
        path.write_text(json.dumps(wrong), "utf-8")
        with pytest.raises(ValueError):
            read_issued(path)


def test_a_failing_case_is_plain_data() -> None:
    one = FailingCase(
        case_id="c", criterion_id="a", critique="x", refs=(Ref("o", "p", "v"),)
    )
    assert one.to_record() == {
        "caseId": "c",
        "criterionId": "a",
        "critique": "x",
        "refs": [{"obs": "o", "path": "p", "value": "v"}],
    }
