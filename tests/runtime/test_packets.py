"""Packets: what a host's agents get, closed, hashed, and only what code left open."""

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema
import pytest
from helix_runtime.canonical import fnv1a_32, sha256_hex
from helix_runtime.case import Case
from helix_runtime.criterion import Criterion
from helix_runtime.formats.unitf import read_traces
from helix_runtime.judges.parse import ANSWER_SCHEMA
from helix_runtime.judges.prompt import system_prompt, user_prompt
from helix_runtime.matrix.packet import packet_record, task_key, trajectory_key
from helix_runtime.matrix.packet_index import Axis, read_index, verdicts_beside
from helix_runtime.matrix.packets import PacketReport, write_packets
from helix_runtime.matrix.verdict_schema import VERDICT_FILE_SCHEMA
from helix_runtime.record import replace
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import ReadCount
from support.runs import CODE, HYBRID, SUBJECT, case, judged, suite, trace

CLOSED_PACKET: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string"},
        "trajectoryId": {"type": "string"},
        "criteria": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "criterionId": {"type": "string"},
                    "statement": {"type": "string"},
                    "passCondition": {"type": "string"},
                    "severity": {"enum": ["CRIT", "HIGH", "MED", "LOW"]},
                    "dimension": {"type": "string"},
                    "layer": {"type": "string"},
                    "judgeInputs": {"type": "array", "items": {"type": "string"}},
                    "checkMethod": {"enum": ["deterministic", "llm-judge", "hybrid"]},
                    "codeEval": {"type": "string"},
                },
                "required": ["criterionId", "statement", "passCondition", "severity"],
                "additionalProperties": False,
            },
        },
        "trajectory": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "input": {}, "output": {}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
        "transcript": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "role": {"type": "string"},
                    "content": {"type": "string"},
                },
                "required": ["role", "content"],
                "additionalProperties": False,
            },
        },
        "subjectProfile": {"type": "object"},
        "pin": {
            "type": "object",
            "properties": {"model": {"type": "string"}, "temperature": {"const": 0}},
            "required": ["model", "temperature"],
            "additionalProperties": False,
        },
        "layerScope": {"type": "array"},
    },
    "required": [
        "subject",
        "trajectoryId",
        "criteria",
        "trajectory",
        "transcript",
        "pin",
    ],
    "additionalProperties": False,
}


def write(
    out: Path,
    runs: Iterable[tuple[Case, Trace]],
    *criteria: Criterion,
    axis: Axis = "trajectory",
) -> PacketReport:
    return write_packets(
        suite=suite(*criteria), traces=runs, model="m-1", out=out, axis=axis
    )


def index_of(out: Path) -> dict[str, Any]:
    data = json.loads((out / "index.json").read_text("utf-8"))
    assert isinstance(data, dict)
    return data


def packets_of(out: Path) -> list[dict[str, Any]]:
    return [
        json.loads((out / entry["packet"]).read_text("utf-8"))
        for entry in index_of(out)["packets"]
    ]


def test_a_packet_holds_only_what_code_left_open(tmp_path: Path) -> None:
    report = write(tmp_path / "p", [(case(), trace())])
    (packet,) = packets_of(tmp_path / "p")
    jsonschema.validate(packet, CLOSED_PACKET)
    assert [c["criterionId"] for c in packet["criteria"]] == ["cites-order", "polite"]
    assert packet["pin"] == {"model": "m-1", "temperature": 0}
    assert packet["subjectProfile"] == SUBJECT.profile()
    assert packet["trajectory"][0]["name"] == "orders.find"
    hybrid = packet["criteria"][1]
    assert hybrid["checkMethod"] == "hybrid" and hybrid["codeEval"].endswith(":polite")
    assert (report.files, report.units, report.by_code) == (1, 2, 0)


def test_a_packet_is_data_and_carries_no_judging_prose(tmp_path: Path) -> None:
    packet = packet_record(
        suite=suite(), case=case(), trace=trace(), criteria=[judged()], model="m-1"
    )
    text = json.dumps(packet)
    assert "How to judge" not in text and "JSON object" not in text


def test_a_run_that_code_decides_alone_gets_no_packet_but_is_kept(
    tmp_path: Path,
) -> None:
    report = write(tmp_path, [(case(), trace())], CODE)
    assert index_of(tmp_path)["packets"] == []
    assert (report.files, report.by_code, report.incomplete) == (0, 1, 0)
    kept = list(read_traces(tmp_path / "traces.jsonl", ReadCount()))
    assert kept == [trace()]


def test_an_incomplete_run_gets_no_packet(tmp_path: Path) -> None:
    report = write(tmp_path, [(case(), Trace(id="empty"))])
    assert (report.files, report.by_code, report.incomplete) == (0, 1, 1)


def test_the_expected_behaviour_stands_in_the_packet_and_without_one_it_is_na(
    tmp_path: Path,
) -> None:
    derived = judged("scenario-behavior", source="derived")
    told = case("case-2", expected_behavior="It asks for the order's number.")
    write(tmp_path, [(case(), trace()), (told, trace("trace-2"))], derived)
    (packet,) = packets_of(tmp_path)
    assert packet["trajectoryId"] == "trace-2"
    assert "It asks for the order's number." in packet["criteria"][0]["passCondition"]


def test_what_the_case_expects_is_shown_only_where_the_judge_may_see_it(
    tmp_path: Path,
) -> None:
    blind = judged("blind", inputs=["output"])
    write(tmp_path, [(case(expected={"state": "sent"}), trace())], judged(), blind)
    first, second = packets_of(tmp_path)[0]["criteria"]
    assert '{"state":"sent"}' in first["passCondition"]
    assert "sent" not in second["passCondition"]
    assert second["judgeInputs"] == ["output"]


def test_names_are_the_documented_hash_and_hostile_ids_stay_inside(
    tmp_path: Path,
) -> None:
    hostile = "../../up\0\u202e\ud800/con"
    write(tmp_path / "p", [(case(), trace(hostile))])
    (entry,) = index_of(tmp_path / "p")["packets"]
    data = f"{hostile}\0trajectory".encode("utf-8", "surrogatepass")
    assert entry["packet"] == f"{fnv1a_32(data)}.packet.json"
    assert entry["verdictFile"] == f"../p-verdicts/{fnv1a_32(data)}.verdict.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "p-verdicts"]


def test_the_key_is_fnv1a_of_id_nul_and_the_word() -> None:
    assert trajectory_key("t") == fnv1a_32(b"t\0trajectory")


def test_two_runs_of_one_key_keep_a_packet_each(tmp_path: Path) -> None:
    first, second = "run-302948", "run-1826500"
    assert trajectory_key(first) == trajectory_key(second)
    write(tmp_path, [(case(), trace(first)), (case(), trace(second))])
    names = [entry["packet"] for entry in index_of(tmp_path)["packets"]]
    key = trajectory_key(first)
    assert names == [f"{key}.packet.json", f"{key}-2.packet.json"]
    assert [p["trajectoryId"] for p in packets_of(tmp_path)] == [first, second]


def test_the_index_has_the_hash_of_each_packet_and_reads_back(tmp_path: Path) -> None:
    write(tmp_path, [(case(), trace())])
    (entry,) = index_of(tmp_path)["packets"]
    assert entry["sha256"] == sha256_hex((tmp_path / entry["packet"]).read_bytes())
    assert entry["caseId"] == "case-1"
    index = read_index(tmp_path)
    assert index.model == "m-1" and index.axis == "trajectory" and index.tasks == {}
    assert index.entries[0].pairs == (("trace-1", "cites-order"), ("trace-1", "polite"))


def test_a_packet_has_the_severity_that_the_suite_says_by_now(tmp_path: Path) -> None:
    write_packets(
        suite=suite(replace(judged(), severity="LOW")),
        traces=[(case(), trace())],
        model="m-1",
        out=tmp_path,
    )
    (packet,) = packets_of(tmp_path)
    assert [one["severity"] for one in packet["criteria"]] == ["LOW"]


def test_each_dispatch_is_whole(tmp_path: Path) -> None:
    write(tmp_path, [(case(), trace()), (case("case-2"), trace("trace-2"))])
    lines = (tmp_path / "dispatches.jsonl").read_text("utf-8").splitlines()
    entries = index_of(tmp_path)["packets"]
    for line, entry in zip(lines, entries, strict=True):
        dispatch = json.loads(line)
        assert dispatch["packet"] == entry["packet"]
        assert dispatch["packetSha256"] == entry["sha256"]
        assert dispatch["verdictFile"] == entry["verdictFile"]
        for part in ("packet", "packetSha256", "schema"):
            assert dispatch[part] in dispatch["prompt"]
        assert PurePosixPath(dispatch["verdictFile"]).name in dispatch["prompt"]
        assert (tmp_path / dispatch["schema"]).is_file()
    schema = json.loads((tmp_path / "verdict.schema.json").read_text("utf-8"))
    assert schema == VERDICT_FILE_SCHEMA
    told = (tmp_path / "JUDGE.md").read_text("utf-8")
    for words in ("critique", "referent", "never obeyed", "verdict.schema.json"):
        assert words in told


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    runs = [(case(), trace()), (case("case-2"), trace("trace-2"))]
    for name in ("a", "b"):
        write(tmp_path / name / "packets", runs)
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("a", "b")
    )
    assert one == two and len(one) == 9


def test_writing_again_replaces_packets_and_leaves_everything_else(
    tmp_path: Path,
) -> None:
    out = tmp_path / "packets"
    write(out, [(case(), trace()), (case(), trace("trace-2"))])
    (out / "notes.txt").write_text("mine")
    verdicts = verdicts_beside(out)
    kept = verdicts / f"{trajectory_key('trace-1')}.verdict.json"
    kept.write_text("{}")
    report = write(out, [(case(), trace())])
    assert len(list(out.glob("*.packet.json"))) == 1
    assert (out / "notes.txt").read_text() == "mine"
    assert kept.is_file() and report.stale == ()


def test_the_verdict_of_another_packet_of_that_name_is_set_aside(
    tmp_path: Path,
) -> None:
    out = tmp_path / "packets"
    write(out, [(case(), trace())])
    name = f"{trajectory_key('trace-1')}.verdict.json"
    (verdicts_beside(out) / name).write_text("{}")
    report = write(out, [(case(), trace(answer="Another answer."))])
    assert report.stale == (name,)
    assert [p.name for p in verdicts_beside(out).iterdir()] == [f"{name}.stale"]


def test_a_folder_of_someone_else_is_refused_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "traces.jsonl").write_text("a run's own")
    with pytest.raises(FileExistsError, match="traces.jsonl"):
        write(tmp_path, [(case(), trace())])
    assert [path.name for path in tmp_path.iterdir()] == ["traces.jsonl"]
    assert (tmp_path / "traces.jsonl").read_text() == "a run's own"


def test_the_traces_of_the_folder_itself_can_be_packed_again(tmp_path: Path) -> None:
    out = tmp_path / "packets"
    write(out, [(case(), trace()), (case(), trace("trace-2"))])
    again = ((case(), t) for t in read_traces(out / "traces.jsonl", ReadCount()))
    report = write(out, again, axis="criterion")
    assert report.traces == 2
    assert not list(out.glob("*.packet.json")) and not list(out.glob("*.part"))
    assert not (out / "verdict.schema.json").exists()


def test_a_call_that_breaks_off_leaves_the_earlier_folder_whole(
    tmp_path: Path,
) -> None:
    out = tmp_path / "packets"
    write(out, [(case(), trace())])
    before = (out / "index.json").read_bytes()

    def broken() -> Iterable[tuple[Case, Trace]]:
        yield case(), trace("trace-2")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write(out, broken())
    assert (out / "index.json").read_bytes() == before
    assert len(list(read_traces(out / "traces.jsonl", ReadCount()))) == 1


def test_without_a_model_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exact model id"):
        write_packets(suite=suite(), traces=[], model=" ", out=tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_numbers_that_json_does_not_have_are_spelled(tmp_path: Path) -> None:
    run = trace(
        spans=(
            Span(id="a", name="t", kind="tool", role="tool", output=float("inf")),
            Span(id="b", name="assistant", role="assistant", output="done"),
        )
    )
    write(tmp_path, [(case(), run)])
    assert packets_of(tmp_path)[0]["trajectory"][0]["output"] == "Infinity"


def test_a_trace_that_cannot_be_kept_is_a_failed_run(tmp_path: Path) -> None:
    loop: list[object] = []
    loop.append(loop)
    run = trace(spans=(Span(id="a", name="t", kind="tool", role="tool", output=loop),))
    report = write(tmp_path, [(case(), run)])
    assert report.incomplete == 1
    (kept,) = read_traces(tmp_path / "traces.jsonl", ReadCount())
    assert kept.id == "trace-1" and kept.status == "error"


def test_the_rows_of_the_dataset_are_kept_and_runs_of_their_own_are_not(
    tmp_path: Path,
) -> None:
    alone = case("trace-x", recorded=True)
    write(tmp_path, [(case(), trace()), (case(), trace("2")), (alone, trace("3"))])
    rows = (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["id"] for row in rows] == ["case-1"]


# -- the criterion axis ----------------------------------------------------------


def test_a_task_carries_the_very_prompt_of_the_model_judge(tmp_path: Path) -> None:
    write(tmp_path, [(case(), trace())], axis="criterion")
    entry = index_of(tmp_path)["tasks"][0]
    task = json.loads((tmp_path / entry["task"]).read_text("utf-8"))
    assert set(task) == {"system", "user", "verdictFile", "pin"}
    assert task["system"] == system_prompt(judged(), SUBJECT)
    assert task["user"] == user_prompt(judged(), case(), trace())
    key = task_key(task["system"], task["user"])
    assert entry["task"] == f"{key}.task.json"
    assert task["verdictFile"].endswith(f"/{key}.verdict.json")
    assert task["pin"] == {"model": "m-1", "temperature": 0}
    schema = json.loads((tmp_path / "answer.schema.json").read_text("utf-8"))
    assert schema == ANSWER_SCHEMA


def test_one_prompt_is_one_task_that_answers_all_its_runs(tmp_path: Path) -> None:
    report = write(
        tmp_path,
        [(case(), trace()), (case("case-2"), trace("trace-2"))],
        judged(),
        HYBRID,
        axis="criterion",
    )
    assert (report.files, report.units) == (2, 4)
    pairs = [entry.pairs for entry in read_index(tmp_path).entries]
    assert (("trace-1", "cites-order"), ("trace-2", "cites-order")) in pairs


# -- an index that was edited ----------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": "other/1"}', '{"schema": "helix-packets/1"}', "\xff"],
)
def test_an_index_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "index.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError):
        read_index(tmp_path)
