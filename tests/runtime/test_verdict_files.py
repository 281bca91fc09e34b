"""Verdict files: what is written is strict, what is read is tolerant and honest."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helix_runtime.matrix.verdict_files import (
    CONTRACT,
    FileReading,
    read_verdict_file,
)
from helix_runtime.matrix.verdict_folder import read_verdict_folder
from helix_runtime.matrix.verdict_schema import (
    VERDICT_FILE_SCHEMA,
    VERDICT_SCHEMA,
    verdict_file,
)
from helix_runtime.verdict import BlockedBy, Ref, Result, Verdict, not_applicable
from hypothesis import given
from hypothesis import strategies as st


def read(data: Any) -> FileReading:
    text = data if isinstance(data, str) else json.dumps(data)
    return read_verdict_file(text.encode(), name="x.verdict.json")


def item(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "criterionId": "c",
        "critique": "because",
        "result": "pass",
        "confidence": 0.8,
    }
    base.update(changes)
    return {key: value for key, value in base.items() if value is not ...}


def whole(*items: dict[str, Any], **changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "trajectoryId": "t",
        "judgeModel": "m-1",
        "temperature": 0,
        "verdicts": list(items or (item(),)),
    }
    base.update(changes)
    return {key: value for key, value in base.items() if value is not ...}


def results(reading: FileReading) -> dict[tuple[str, str], Result]:
    return {
        (e.trajectory_id, e.criterion_id): e.verdict.result for e in reading.entries
    }


# -- the strict writer -----------------------------------------------------------

VERDICTS = {
    "a": Verdict(
        result="pass", critique="x", confidence=0.5, refs=(Ref("output", "", "y"),)
    ),
    "b": Verdict(
        result="uncertain",
        critique="x",
        confidence=0,
        blocked_by=BlockedBy("normative", "ask"),
    ),
    "c": not_applicable("no order in this run"),
}


def test_what_is_written_follows_the_schema_and_reads_back_as_the_contract() -> None:
    record = verdict_file(trajectory_id="t", model="m-1", verdicts=VERDICTS)
    jsonschema.validate(record, VERDICT_FILE_SCHEMA)
    reading = read(record)
    assert reading.dialect == CONTRACT and reading.problems == []
    assert {e.criterion_id: e.verdict for e in reading.entries} == VERDICTS
    assert {e.model for e in reading.entries} == {"m-1"}


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(result="error", critique="x", confidence=1),
        Verdict(result="pass", critique="x"),
        Verdict(result="uncertain", critique="x", confidence=1),
        Verdict(
            result="pass", critique="x", confidence=1, blocked_by=BlockedBy("scope", "")
        ),
    ],
)
def test_the_writer_refuses_what_the_contract_cannot_say(verdict: Verdict) -> None:
    with pytest.raises(ValueError, match="^c: "):
        verdict_file(trajectory_id="t", model="m", verdicts={"c": verdict})


@pytest.mark.parametrize(("trajectory_id", "model"), [("", "m"), ("t", "")])
def test_the_writer_needs_a_trajectory_and_a_model(
    trajectory_id: str, model: str
) -> None:
    with pytest.raises(ValueError, match="names its trajectory"):
        verdict_file(trajectory_id=trajectory_id, model=model, verdicts={})


@pytest.mark.parametrize(
    "record",
    [
        whole(item(critique="")),
        whole(item(result="n/a")),
        whole(item(result="uncertain")),
        whole(item(blockedBy={"kind": "scope", "text": "t"})),
        whole(item(confidence=2)),
        whole(item(score=5)),
        whole(temperature=1),
        whole(judgeModel=...),
        whole(notes="n"),
    ],
)
def test_the_schema_refuses_what_departs_from_the_contract(
    record: dict[str, Any],
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, VERDICT_FILE_SCHEMA)


# -- dialects --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "departure"),
    [
        (whole(trajectoryId=..., trajectory="t"), "`trajectory` for `trajectoryId`"),
        (whole(trajectoryId=..., trace_id="t"), "`trace_id` for `trajectoryId`"),
        (whole(judgeModel=...), "no model"),
        (whole(temperature=...), "no temperature"),
        (whole(notes="n"), "extra keys"),
        (whole(item(result=..., verdict="pass")), "`verdict` for `result`"),
        (whole(item(result="PASS")), "results such as `PASS`"),
        (
            {**whole(verdicts=...), "criteria": {"c": item(criterionId=...)}},
            "`criteria` as a map",
        ),
        (whole(item(refs=["output: pass"])), "refs as strings"),
        (
            whole(item(refs=[{"obs": "o", "path": "", "value": 3}])),
            "ref values that are not texts",
        ),
        (whole(item(confidence=...)), "no confidence"),
        (whole(item(confidence="high")), "a confidence in words"),
        (whole(item(score=4)), "extra keys"),
        ([whole()], "an array of trajectories"),
        ({"t": {"criteria": {"c": item(criterionId=...)}}}, "a map of trajectories"),
        (
            '{"trajectoryId":"t","judgeModel":"m","temperature":0,"verdicts":'
            '[{"criterionId":"c","result":"pass","critique":"x","confidence":1}]}',
            "the result before the critique",
        ),
        (
            whole(
                item(assumptions=[{"text": "p", "status": "grounded", "kind": "scope"}])
            ),
            "assumptions of another status",
        ),
        ("\ufeff" + json.dumps(whole()), "a byte order mark"),
    ],
)
def test_a_dialect_is_taken_in_and_said(data: Any, departure: str) -> None:
    reading = read(data)
    assert results(reading) == {("t", "c"): "pass"}
    assert departure in reading.dialect.split("; ")
    assert reading.problems == []


@pytest.mark.parametrize(
    ("word", "result"),
    [("n/a", "na"), ("na", "na"), ("indeterminate", "uncertain"), (" Fail ", "fail")],
)
def test_other_words_for_a_result_are_understood(word: str, result: Result) -> None:
    assert results(read(whole(item(result=word)))) == {("t", "c"): result}


def test_several_trajectories_in_one_file_are_kept_apart() -> None:
    reading = read(
        [whole(trajectoryId="a"), whole(item(result="fail"), trajectoryId="b")]
    )
    assert results(reading) == {("a", "c"): "pass", ("b", "c"): "fail"}


def test_a_ref_that_is_a_text_cites_a_text_and_no_place() -> None:
    (entry,) = read(whole(item(refs=["the exact words"]))).entries
    assert entry.verdict.refs == (Ref("", "", "the exact words"),)


def test_the_dense_map_alone_can_say_na_with_its_reason() -> None:
    reading = read(
        whole(denseMap={"c": "pass", "d": "na"}, naRationale={"d": "no order"})
    )
    assert results(reading) == {("t", "c"): "pass", ("t", "d"): "na"}
    assert reading.entries[1].verdict.critique == "no order"


@pytest.mark.parametrize("rationale", [None, {}, {"d": " "}, {"c": "x"}, " ", 7])
def test_what_does_not_apply_for_no_reason_stays_open(rationale: Any) -> None:
    reading = read(whole(denseMap={"c": "pass", "d": "na"}, naRationale=rationale))
    assert results(reading) == {("t", "c"): "pass", ("t", "d"): "uncertain"}


def test_an_unrouted_abstention_is_taken_in_and_noted() -> None:
    (entry,) = read(whole(item(result="uncertain"))).entries
    assert entry.verdict.blocked_by is None
    assert "unrouted" in entry.notes[0]


# -- nothing is invented ---------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (whole(item(result="good")), "no result"),
        (whole(item(result=True)), "no result"),
        (whole(item(result=...)), "no result"),
        (whole(item(result=["pass"])), "no result"),
        (whole(item(critique="  ")), "no critique"),
        (whole(item(critique=...)), "no critique"),
        (whole(item(), item(result="fail")), "stands twice"),
        (
            whole(denseMap={"c": "fail"}),
            "`verdicts` say `pass`, `denseMap` says `fail`",
        ),
        (whole(verdicts=[], denseMap={"c": "pass"}), "no critique"),
        (whole(denseMap={"c": "perhaps"}), "denseMap says"),
        (whole(temperature=0.7), "temperature 0.7"),
        (whole(temperature=True), "temperature true"),
        (whole(temperature="0"), "temperature"),
        (whole(item(criterionId=...)), "a verdict of no criterion"),
        (whole(item(criterionId=7)), "a verdict of no criterion"),
        (whole(verdicts=...), "no verdicts"),
        (whole(verdicts="pass"), "is no list"),
        (whole(verdicts={"c": "pass"}), "is no object"),
        (whole(trajectoryId=7), "names no trajectory"),
        (whole(trajectoryId=""), "names no trajectory"),
        ({"summary": "all good"}, "not a verdict file"),
        ([1], "is no object"),
        ([], "an empty array"),
        ("7", "neither an object nor an array"),
        ("{", "not JSON: it breaks off"),
        ("", "empty"),
        ("[" * 100_000, "nested deeper"),
        ('{"trajectoryId": "t", "trajectoryId": "u"}', "stands twice"),
        ('{"trajectoryId":"t","verdicts":[{"confidence":NaN}]}', "NaN"),
    ],
)
def test_what_cannot_be_taken_in_is_left_out_and_said(data: Any, why: str) -> None:
    reading = read(data)
    assert reading.entries == []
    assert any(why in problem for problem in reading.problems), reading.problems
    assert all(problem.startswith("x.verdict.json: ") for problem in reading.problems)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (whole(item(verdict="fail")), '`verdict` "fail"'),
        (whole(item(verdict=None)), "`verdict` null"),
        (whole(trace_id="another"), "several trajectories"),
        (whole(trajectory="another"), "several trajectories"),
        (whole(model="m-2"), "several models"),
        (whole(item(model="m-2")), "judged by 'm-2'"),
        (whole(item(temperature=0.7)), "temperature 0.7"),
        (whole(item(confidence=93)), "confidence is 93"),
        (whole(item(confidence=-3)), "confidence is -3"),
        (whole(item(refs=[None])), "refs[0] is neither"),
        (whole(item(refs=["said", 7])), "refs[1] is neither"),
        (whole(item(refs=[{"obs": "output", "path": ""}])), "refs[0] cites no value"),
        (
            whole(verdicts=..., criteria={"c": item(criterionId="d")}),
            "says of itself that it is on",
        ),
        (whole(criteria={"c": item(result="fail")}), "stands twice"),
    ],
)
def test_what_contradicts_itself_is_refused_and_said(data: Any, why: str) -> None:
    reading = read(data)
    assert reading.entries == [] and reading.contested
    assert any(why in problem for problem in reading.problems), reading.problems


@pytest.mark.parametrize("result", ["pass", "fail", "na"])
@pytest.mark.parametrize(
    ("changes", "fidelity", "kind", "words"),
    [
        ({"blockedBy": {"kind": "normative", "text": "ask"}}, ..., "normative", "ask"),
        ({"blockedBy": "the owner"}, ..., "scope", "the owner"),
        ({}, {"complete": False, "reason": "torn"}, "scope", "torn"),
        ({}, {"complete": "partly"}, "scope", "incomplete trace"),
        ({}, "low", "scope", "low"),
    ],
)
def test_a_result_that_its_own_file_takes_back_is_uncertain(
    result: str, changes: dict[str, Any], fidelity: Any, kind: str, words: str
) -> None:
    given = whole(item(result=result, **changes), fidelity=fidelity)
    reading = read({**given, "denseMap": {"c": result}})
    (entry,) = reading.entries
    assert entry.verdict.result == "uncertain" and reading.problems == []
    blocked = entry.verdict.blocked_by
    assert blocked is not None
    assert blocked.kind == kind and words in blocked.text
    assert result in entry.notes[0]


@pytest.mark.parametrize("fidelity", [None, {"complete": True}, {}])
def test_a_whole_run_stays_judged(fidelity: Any) -> None:
    reading = read(whole(item(blockedBy=None), fidelity=fidelity))
    assert results(reading) == {("t", "c"): "pass"}


def test_one_bad_verdict_leaves_the_others_standing() -> None:
    reading = read(whole(item(), item(criterionId="d", critique="")))
    assert results(reading) == {("t", "c"): "pass"}
    assert len(reading.problems) == 1


def test_bytes_that_are_no_text_are_said() -> None:
    reading = read_verdict_file(b"\xff\xfe{", name="x.verdict.json")
    assert reading.problems == ["x.verdict.json: not UTF-8 but UTF-16"]


def test_a_huge_file_is_not_parsed() -> None:
    data = b'{"trajectoryId": "' + b"x" * (17 * 1024 * 1024)
    assert "larger than" in read_verdict_file(data, name="x").problems[0]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.sampled_from(["pass", "fail", "t", ""]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            [
                "trajectoryId",
                "trace_id",
                "verdicts",
                "criteria",
                "criterionId",
                "critique",
                "result",
                "verdict",
                "denseMap",
                "naRationale",
                "refs",
                "obs",
                "value",
                "blockedBy",
                "kind",
                "assumptions",
                "temperature",
                "judgeModel",
                "confidence",
            ]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)


@given(JSON)
def test_no_json_makes_the_reader_raise_and_no_result_is_made_up(data: Any) -> None:
    text = json.dumps(data)
    for entry in read(text).entries:
        assert entry.verdict.critique.strip()
        assert json.dumps(entry.verdict.result) in text


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(0, 2) | st.just("x"),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["obs", "path", "value", "text", "kind", "status", "complete"]),
        inner,
        max_size=3,
    ),
    max_leaves=5,
)


@given(st.sampled_from(sorted(VERDICT_SCHEMA["properties"])), ANYTHING)
def test_no_field_of_a_verdict_makes_the_reader_raise(field: str, value: Any) -> None:
    reading = read(whole(item(**{field: value}), item(criterionId="other")))
    assert ("t", "other") in results(reading) or reading.problems


@given(st.sampled_from(sorted(VERDICT_FILE_SCHEMA["properties"])), ANYTHING)
def test_no_field_of_a_verdict_file_makes_the_reader_raise(
    field: str, value: Any
) -> None:
    reading = read({**whole(), field: value})
    assert all(entry.verdict.critique.strip() for entry in reading.entries)


@pytest.mark.parametrize("refs", [3, True, 0.5, {"obs": "output", "path": ""}])
def test_refs_that_are_none_are_refused_also_where_they_are_no_list(refs: Any) -> None:
    reading = read(whole(item(refs=refs)))
    assert not reading.entries and "refs[0]" in reading.problems[0]


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    read_verdict_file(data, name="x")


# -- folders ---------------------------------------------------------------------


def write(folder: Path, name: str, data: Any) -> None:
    (folder / name).write_text(json.dumps(data), "utf-8")


def test_a_folder_is_joined_on_the_ids_inside_never_on_the_names(
    tmp_path: Path,
) -> None:
    write(tmp_path, "b.verdict.json", whole(trajectoryId="../../etc/passwd"))
    write(tmp_path, "whatever.json", [whole(trajectoryId="t2")])
    found = read_verdict_folder(tmp_path)
    assert set(found.entries) == {("../../etc/passwd", "c"), ("t2", "c")}
    assert found.dialects["b.verdict.json"] == CONTRACT
    assert found.models == ["m-1"] and found.problems == []


def test_packets_tasks_and_indexes_in_the_folder_are_no_verdicts(
    tmp_path: Path,
) -> None:
    for name in (
        "a.packet.json",
        "a.task.json",
        "index.json",
        "v.schema.json",
        "n.txt",
    ):
        write(tmp_path, name, {})
    (tmp_path / "folder.json").mkdir()
    found = read_verdict_folder(tmp_path)
    assert found.dialects == {} and found.problems == []


def test_two_files_that_disagree_both_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, "a.json", whole(item(), item(criterionId="d")))
    write(tmp_path, "b.json", whole(item(result="fail")))
    write(tmp_path, "c.json", whole(item()))
    found = read_verdict_folder(tmp_path)
    assert set(found.entries) == {("t", "d")}
    assert "neither counts" in found.problems[0]


@pytest.mark.parametrize(
    "other",
    [
        whole(item(result="fail", critique="")),
        whole(item(result="fail"), temperature=0.7),
        whole(item(result="dubious")),
        whole(item(result="fail", confidence=7)),
        whole(item(result="fail", verdict="pass")),
        whole(item(result="fail"), trace_id="u"),
        whole(verdicts=..., denseMap={"c": "fail"}),
        whole(verdicts="fail"),
        json.dumps(whole(item(result="fail")))[:-5],
        json.dumps(whole(item(result="fail"), trajectoryId="t"), indent=1) + "}",
    ],
)
@pytest.mark.parametrize("name", ["a.json", "z.json"])
def test_a_file_that_cannot_be_taken_in_contests_what_another_says(
    tmp_path: Path, other: Any, name: str
) -> None:
    (tmp_path / "m.json").write_text(
        json.dumps([whole(), whole(trajectoryId="elsewhere")])
    )
    text = other if isinstance(other, str) else json.dumps(other)
    (tmp_path / name).write_text(text)
    found = read_verdict_folder(tmp_path)
    assert list(found.entries) == [("elsewhere", "c")]
    contested = [line for line in found.problems if "contested" in line]
    assert contested and all("m.json" in x and name in x for x in contested)


def test_two_files_that_agree_are_one_verdict(tmp_path: Path) -> None:
    write(tmp_path, "a.json", whole(item(critique="first")))
    write(tmp_path, "b.json", whole(item(critique="second")))
    found = read_verdict_folder(tmp_path)
    assert found.entries[("t", "c")].verdict.critique == "first"
    assert found.problems == []


def test_the_answer_to_a_task_is_joined_by_the_index(tmp_path: Path) -> None:
    answer = {"critique": "x", "result": "pass", "confidence": 1}
    write(tmp_path, "0000000a.verdict.json", answer)
    write(tmp_path, "0000000b.verdict.json", answer)
    tasks = {"0000000a.verdict.json": [("t1", "c"), ("t2", "c")]}
    found = read_verdict_folder(tmp_path, tasks=tasks)
    assert set(found.entries) == {("t1", "c"), ("t2", "c")}
    assert found.problems == [
        "0000000b.verdict.json: the answer to a task that no index.json of packets names"
    ]
