"""Which case a recorded trace is a run of, and what is said of those that are none."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.targets.recorded import (
    RecordedCount,
    index_cases,
    losses_of,
    match_case,
    own_case,
    read_recorded,
)
from helix_runtime.unitf import trace_from_record
from support.live_suite import CHECKS, JUDGED, live_suite, rows


def case(case_id: str, query: str, **more: Any) -> Case:
    return Case(id=case_id, query=query, dimensions={"origin": "seed"}, **more)


CASES = [
    case("case-a", "Where is my order?"),
    case("case-b", "Where is my order?"),
    case("case-c", "A customer asks for a refund", placeholder=True),
]


def record(trace_id: str = "t", prompt: str = "Hello", **more: Any) -> dict[str, Any]:
    return {
        "traceId": trace_id,
        "status": "ok",
        "spans": [
            {"kind": "event", "role": "user", "input": prompt},
            {"kind": "llm", "role": "assistant", "output": "It is 1."},
        ],
        **more,
    }


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (record("case-b"), "case-b"),
        (record("case-b-r12"), "case-b"),
        (record(tags=["x", "case-c"]), "case-c"),
        (record(tags=["case:case-c"]), "case-c"),
        (record(tags=["case=case-c"]), "case-c"),
        (record(ext={"caseId": "case-c"}), "case-c"),
        (record(ext={"agent": {"case_id": "case-c"}}), "case-c"),
        (record(metadata={"datasetItemId": "case-c"}), "case-c"),
        (record(prompt="Where is\n my  order? "), "case-a"),
        (record(prompt="Where is\n my order?", tags=["case-b"]), "case-b"),
        (record(prompt="A customer asks for a refund"), None),
        (record(ext={"caseId": "case-d"}), None),
        (record(ext={"caseId": ["case-a"]}), None),
        (record(tags=["case"]), None),
        ({"traceId": "empty"}, None),
    ],
)
def test_a_trace_belongs_to_the_case_that_it_names_or_whose_query_it_carries(
    trace: dict[str, Any], expected: str | None
) -> None:
    found = match_case(trace_from_record(trace), index_cases(CASES))
    if expected is None:
        assert found.recorded and found.id.startswith("trace-")
        assert found.origin_trace_id == trace["traceId"]
    else:
        assert found.id == expected and not found.recorded


def conversation(*texts: str) -> dict[str, Any]:
    spans = [
        span
        for text in texts
        for span in (
            {"kind": "event", "role": "user", "input": text},
            {"kind": "llm", "role": "assistant", "output": "Yes?"},
        )
    ]
    return {"traceId": "t", "status": "ok", "spans": spans}


def test_a_conversation_belongs_to_the_case_of_all_its_turns() -> None:
    two = case("two", "Hi", input={"turns": ["Hi", "Where is R-1?"]})
    told = {"messages": [{"role": "user", "content": "Hi"}, "Cancel R-2."]}
    cases = [two, case("told", "Hi", input=told), case("one", "Hello")]
    index = index_cases(cases)
    for said, expected in (
        (("Hi", "Where is  R-1?"), "two"),
        (("Hi", "Cancel R-2."), "told"),
        (("Hi",), None),
        (("Hi", "Something else."), None),
        (("Hello",), "one"),
        (("Hello", "Something else."), "one"),
    ):
        found = match_case(trace_from_record(conversation(*said)), index)
        assert (None if found.recorded else found.id) == expected, said


def test_of_cases_that_say_the_same_and_expect_different_things_none_is_guessed(
    tmp_path: Path,
) -> None:
    yes = case("yes", "Can I return it?", expected={"decision": "return"})
    no = case("no", "Can I\nreturn it?", expected={"decision": "refuse"})
    index = index_cases([yes, no, *CASES])
    silent = trace_from_record(record(prompt="Can I return it?"))
    assert match_case(silent, index) == own_case(silent)
    assert (
        match_case(trace_from_record(record("no-r1", "Can I return it?")), index) == no
    )
    path = tmp_path / "t.jsonl"
    lines = [record("t", "Can I return it?"), record("no"), record("u", "Hello")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    count = RecordedCount()
    assert len(list(read_recorded([path], index, count))) == 3
    assert count.confused == 1 and set(count.confusable) == {"yes", "no"}
    assert "1 recorded run says what several cases say" in " ".join(
        losses_of(count, files=[path], cases=5)
    )


def test_a_case_whose_turns_cant_be_read_is_known_by_its_query() -> None:
    index = index_cases([case("odd", "Hi", input={"turns": [3]})])
    assert match_case(trace_from_record(record(prompt="Hi")), index).id == "odd"


def test_a_trace_of_its_own_is_the_same_case_wherever_it_is_read() -> None:
    trace = trace_from_record(record("x", "Hi"))
    mine = own_case(trace)
    assert mine.query == "Hi"
    assert mine.dimensions == {"origin": "recorded-trace"}
    # Its row, once written down, must not catch the trace as an ordinary case.
    assert match_case(trace, index_cases([mine])) == mine
    assert own_case(trace_from_record({"traceId": "y"})).query == "(no prompt recorded)"


def test_files_are_read_in_order_and_what_is_left_out_is_counted(
    tmp_path: Path,
) -> None:
    first = tmp_path / "a.jsonl"
    lines = [json.dumps(record("case-a")), "", "{torn", json.dumps(record("z"))]
    first.write_text("\n".join(lines))
    second = tmp_path / "b.jsonl.gz"
    with gzip.open(second, "wt") as file:
        flagged = {"eval": {"incomplete": True}}
        file.write(json.dumps(record("case-a", "again")) + "\n")
        file.write(json.dumps(record("case-a")) + "\n")
        file.write(json.dumps(record("f", ext=flagged)) + "\n")
    count = RecordedCount()
    found = list(read_recorded([first, second], index_cases(CASES), count))
    assert [trace.id for _, trace in found] == ["case-a", "z", "case-a#2", "f"]
    assert (count.matched, count.own, count.repeats, count.flagged) == (2, 2, 1, 1)
    assert count.renamed == 1 and found[2][0].id == "case-a"
    assert count.repeated == ["case-a"]
    assert count.covered == {"case-a"}
    assert (count.read.skipped, count.read.blank) == (1, 1)
    assert count.read.faults[0].startswith("a.jsonl:3: ")


def test_a_run_over_traces_calls_no_target_and_says_what_it_covered(
    tmp_path: Path,
) -> None:
    suite = live_suite(
        tmp_path,
        cases=rows(3),
        criteria=JUDGED,
        target="raise RuntimeError('nobody may call me')\n",
    )
    lines = [
        json.dumps(record("case-0001")),
        json.dumps(record("case-0001-r1")),
        json.dumps(record("stranger")),
        json.dumps({"traceId": "empty", "spans": []}),
        "\x1b[31mno trace",
        json.dumps(record("stranger")),
    ]
    suite.write("t.jsonl", "\n".join(lines))
    done = suite.run("run", "--traces", "t.jsonl", "--no-judge", "--out", "runs/a")
    assert done.returncode == 1, done.stderr
    assert suite.counts("a", "exact") == {"pass": 2, "fail": 1, "uncertain": 1}
    assert suite.counts("a", "kind") == {"uncertain": 1, "missing": 3}
    assert "2 belong to a case of the dataset, 2 stand for themselves" in done.stdout
    assert "2 of 3 cases have no recorded run" in done.stdout
    assert "1 traces say word for word what one before said" in done.stdout
    lost = "1 line of t.jsonl could not be read: its run is not judged"
    assert lost in suite.scorecard("a")["run"]["notes"]
    assert "1 lines could not be read and were skipped:" in done.stdout
    assert "t.jsonl:5: " in done.stdout
    assert "\x1b" not in done.stdout
    repeats = {r["traceId"]: r["repeat"] for r in suite.lines("a", "units.jsonl")}
    assert repeats["case-0001"] == 0 and repeats["case-0001-r1"] == 1
    card = suite.scorecard("a")
    assert card["run"]["target"] is None
    assert suite.run("run", "--resume").returncode == 1
    assert suite.scorecard("a") == card
    assert len(suite.lines("a", "traces.jsonl")) == 4


def test_a_native_only_suite_is_decided_from_its_traces(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2), engine="native-matrix", checks=CHECKS)
    suite.write("t.jsonl", json.dumps(record("case-0001")) + "\n")
    assert suite.run("run", "--traces", "t.jsonl").returncode == 0


def test_what_recorded_runs_cost_is_usage_and_spends_no_budget(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    lines = [{**record(run), "costUsd": 3.0} for run in ("case-0001", "case-0001-r1")]
    suite.write("t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    words = ["--traces", "t.jsonl", "--budget-usd", "1", "--budget-tokens", "1"]
    assert suite.run("run", "--out", "runs/a", *words).returncode == 0
    card = suite.scorecard("a")
    assert card["usage"]["subject"]["costUsd"] == 6
    assert not any("budget" in note for note in card["run"].get("notes", []))
