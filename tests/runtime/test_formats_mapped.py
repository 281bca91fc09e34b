"""A team's own records, by a mapping of paths."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import formats
from helix_runtime.formats.mapped import mapping_of
from helix_runtime.refusal import Refusal
from helix_runtime.settings import settings_from
from helix_runtime.trace import Trace
from helix_runtime.unitf import ReadCount
from support.trace_samples import chat, write

RECORD = {
    "trace_id": "own-1",
    "started": "2026-01-02T03:04:05Z",
    "input": {"prompt": "Plan a trip.", "subject": "Trip", "body": {"text": "to Oslo"}},
    "meta": {"case": "trip", "scenario": "happy"},
    "result": {"plan": ["fly", "stay"], "ok": True},
    "took": 1.5,
    "steps": [
        {"tool": "search", "args": '{"q": "Oslo"}', "returned": {"hits": 2}},
        {"tool": "book", "args": {}, "returned": None, "failed": "no seats"},
    ],
    "cost": {"in": 12, "out": 3},
}
TABLE: dict[str, Any] = {
    "trace_id": "trace_id",
    "prompt": "input.prompt",
    "output": "result",
    "metadata": "meta",
    "case": ["labels.case", "meta.case"],
    "start": "started",
    "latency_s": "took",
    "input_tokens": "cost.in",
    "output_tokens": "cost.out",
    "tool_calls": {
        "list": "steps",
        "name": "tool",
        "arguments": "args",
        "result": "returned",
        "error": "failed",
    },
}


def read(tmp_path: Path, record: Any, table: dict[str, Any]) -> Trace:
    mapping = settings_from({"trace_map": table}).trace_map
    path = write(tmp_path / "own.jsonl", [record])
    count = ReadCount()
    (trace,) = formats.read([path], mapping=mapping, count=count)
    assert count.formats == {"mapped": 1} and not count.faults
    return trace


def test_a_record_reads_as_the_mapping_says(tmp_path: Path) -> None:
    trace = read(tmp_path, RECORD, TABLE)
    assert trace.id == "own-1"
    assert trace.prompt == "Plan a trip."
    assert trace.output == {"plan": ["fly", "stay"], "ok": True}
    assert trace.ext == {"caseId": "trip", "metadata": RECORD["meta"]}
    assert trace.start == "2026-01-02T03:04:05Z"
    assert trace.usage.total_tokens == 15 and trace.usage.latency_ms == 1500
    assert [(c.name, c.arguments, c.error) for c in trace.tool_calls] == [
        ("search", {"q": "Oslo"}, False),
        ("book", {}, True),
    ]
    assert [c.result for c in trace.tool_calls] == [{"hits": 2}, "no seats"]
    assert trace.observed == {"output", "tools"}
    assert trace.incomplete is None


def test_templates_are_filled_with_data_and_run_nothing(tmp_path: Path) -> None:
    table = {"prompt": "{input.subject}: {input.body.text}", "output": "result"}
    assert read(tmp_path, RECORD, table).prompt == "Trip: to Oslo"
    hostile = {"a": "{b}", "b": "secret", "result": 1}
    table = {"prompt": "{a} {a.__class__} {0} {b!r} {} {{b}}", "output": "result"}
    filled = read(tmp_path, hostile, table).prompt
    # What was filled in is not filled again, and no attribute of Python is reached.
    assert filled is not None and filled.startswith("{b} ")
    assert "class" not in filled


def test_tools_are_observed_only_where_they_are_mapped(tmp_path: Path) -> None:
    without = {k: v for k, v in TABLE.items() if k != "tool_calls"}
    assert read(tmp_path, RECORD, without).observed == {"output"}
    missing = {k: v for k, v in RECORD.items() if k != "steps"}
    assert read(tmp_path, missing, TABLE).observed == {"output"}
    none = read(tmp_path, {**RECORD, "steps": []}, TABLE)
    assert none.observed == {"output", "tools"} and none.tool_calls == ()


def test_steps_are_the_path_and_messages_a_conversation(tmp_path: Path) -> None:
    table = {
        "messages": "messages",
        "steps": {"list": "nodes", "name": "node", "output": "out"},
    }
    record = {
        **chat(),
        "nodes": [{"node": "triage", "out": {"to": "sky"}}, {"node": "sky"}],
    }
    mapping = settings_from({"trace_map": table}).trace_map
    path = write(tmp_path / "own.jsonl", [record])
    (trace,) = formats.read([path], format="mapped", mapping=mapping, count=ReadCount())
    assert trace.observed == {"output", "tools", "path"}
    names = [s.name for s in trace.spans if s.kind == "span"]
    assert names == ["triage", "sky"]
    assert len(trace.tool_calls) == 2


@pytest.mark.parametrize(
    ("status", "expected"),
    [("failed", "error"), ("ok", "ok"), (False, "error"), ("held", "unknown")],
)
def test_the_status_is_a_word_or_a_truth(
    status: Any, expected: str, tmp_path: Path
) -> None:
    record = {**RECORD, "state": status}
    assert read(tmp_path, record, {**TABLE, "status": "state"}).status == expected


def test_records_inside_a_document_are_found_by_their_key(tmp_path: Path) -> None:
    document = {"version": 1, "runs": [RECORD, {**RECORD, "trace_id": "own-2"}]}
    path = write(tmp_path / "own.json", json.dumps(document, indent=1))
    mapping = settings_from({"trace_map": {**TABLE, "records": "runs"}}).trace_map
    count = ReadCount()
    found = [t.id for t in formats.read([path], mapping=mapping, count=count)]
    assert found == ["own-1", "own-2"]


def test_a_record_in_which_nothing_is_found_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", [RECORD, {"other": 1}, [], 7])
    mapping = settings_from({"trace_map": TABLE}).trace_map
    count = ReadCount()
    assert len(list(formats.read([path], mapping=mapping, count=count))) == 1
    assert count.skipped == 3
    assert count.faults[0] == "own.jsonl:2: the mapping finds nothing in it"


def test_a_known_format_is_known_beside_a_mapping(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", [chat()])
    mapping = settings_from({"trace_map": TABLE}).trace_map
    count = ReadCount()
    list(formats.read([path], mapping=mapping, count=count))
    assert count.formats == {"openai-chat": 1}


def test_every_fault_of_a_mapping_is_told_at_once() -> None:
    table = {
        "promt": "input",
        "output": 3,
        "tool_calls": {"nam": "tool"},
        "steps": "nodes",
    }
    with pytest.raises(Refusal) as refused:
        settings_from({"trace_map": table})
    told = "\n".join(refused.value.lines)
    assert "`trace_map.promt` is no field of a trace (did you mean 'prompt'?)" in told
    assert "`trace_map.output` must be a path" in told
    assert "`trace_map.tool_calls.nam` is not read (did you mean 'name'?)" in told
    assert "`trace_map.tool_calls.list` is missing" in told
    assert "`trace_map.steps` must be a table" in told


def test_an_empty_mapping_is_a_fault() -> None:
    faults: list[str] = []
    mapping_of({}, lambda key, what: faults.append(what))
    assert faults
