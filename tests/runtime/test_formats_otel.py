"""Spans: OTLP and its relatives, in both conventions, mixed, late and without content."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import formats
from helix_runtime.trace import Trace
from helix_runtime.unitf import ReadCount
from support.trace_samples import (
    ANSWER,
    CALL_PARTS,
    CHAT,
    PROMPT,
    USED,
    agent_span,
    dumps,
    genai_messages,
    key_values,
    openinference,
    otlp,
    otlp_span,
    parts,
    said,
    tool_spans,
    write,
)


def read(path: Path) -> list[Trace]:
    count = ReadCount()
    traces = list(formats.read([path], count=count))
    assert not count.faults
    return traces


def test_traces_that_lie_mixed_in_a_file_come_out_whole(tmp_path: Path) -> None:
    lines = []
    for span in genai_messages():
        for trace_id in ("aa" * 16, "bb" * 16):
            lines.append(otlp([{**span, "traceId": trace_id}]))
    traces = read(write(tmp_path / "spans.jsonl", lines))
    assert [t.id for t in traces] == ["aa" * 16, "bb" * 16]
    assert all(t.answer == ANSWER and len(t.tool_calls) == 2 for t in traces)


def test_an_agents_sum_and_a_span_sent_twice_are_not_counted_again(
    tmp_path: Path,
) -> None:
    spans = genai_messages()
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp([*spans, *spans])]))
    assert trace.usage.total_tokens == 30
    assert len(trace.tool_calls) == 2


def test_log_records_join_the_spans_that_they_belong_to(tmp_path: Path) -> None:
    def log(name: str, body: dict[str, Any]) -> dict[str, Any]:
        return {
            "traceId": "ab" * 16,
            "spanId": "b1",
            "eventName": name,
            "body": {"kvlistValue": {"values": key_values(body)}},
        }

    records = [
        log("gen_ai.user.message", {"content": PROMPT}),
        log("gen_ai.choice", {"index": 0, "message": {"content": ANSWER}}),
    ]
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    spans = otlp([otlp_span("b1", "chat m-1", 1, CHAT | USED, parent=None)])
    (trace,) = read(write(tmp_path / "s.jsonl", [logs, spans]))
    assert trace.prompt == PROMPT
    assert trace.answer == ANSWER


def test_spans_without_content_say_what_they_do_not_know(tmp_path: Path) -> None:
    spans = [
        agent_span(),
        otlp_span("b1", "chat m-1", 1, CHAT | USED),
        otlp_span("b2", "chat m-1", 5, CHAT | USED),
    ]
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp(spans)]))
    assert trace.observed == {"path"}
    assert trace.answer is None
    assert trace.steps == 2
    assert trace.usage.total_tokens == 30
    (with_tools,) = read(write(tmp_path / "t.jsonl", [otlp([*spans, *tool_spans()])]))
    assert with_tools.observed == {"path", "tools"}
    assert [c.name for c in with_tools.tool_calls] == ["forecast", "forecast"]


def test_times_status_and_errors_are_carried(tmp_path: Path) -> None:
    root = otlp_span("a0", "run", 0, {}, parent=None, failed="out of memory")
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp([root, *genai_messages()[1:]])]))
    assert trace.status == "error"
    assert trace.start == "2026-01-02T03:04:01.000000Z"
    assert trace.latency_ms == 5500
    failed = [s for s in trace.spans if s.role == "toolResult" and s.status == "error"]
    assert failed[0].extra["error"] == "no such city"
    assert trace.agent_name == "weather"


@pytest.mark.parametrize("indent", [None, 2])
def test_one_document_of_many_resources_is_walked(
    indent: int | None, tmp_path: Path
) -> None:
    whole = otlp(genai_messages())
    whole["resourceSpans"] += otlp(
        [{**s, "traceId": "cd" * 16} for s in openinference()]
    )["resourceSpans"]
    traces = read(write(tmp_path / "s.json", json.dumps(whole, indent=indent)))
    assert [t.source for t in traces] == ["otel", "openinference"]
    assert [t.answer for t in traces] == [ANSWER, ANSWER]


def plain(span: dict[str, Any]) -> dict[str, Any]:
    """Return a span's attributes as an object."""
    found = {}
    for item in span["attributes"]:
        (value,) = item["value"].values()
        found[item["key"]] = int(value) if "intValue" in item["value"] else value
    return found


def test_what_pythons_console_exporter_prints_reads_as_spans(tmp_path: Path) -> None:
    printed = [
        {
            "name": span["name"],
            "context": {"trace_id": "0x" + "ab" * 16, "span_id": "0x" + span["spanId"]},
            "kind": "SpanKind.INTERNAL",
            "parent_id": (
                f"0x{span['parentSpanId']}" if "parentSpanId" in span else None
            ),
            "start_time": f"2026-01-02T03:04:0{n}.000000Z",
            "end_time": f"2026-01-02T03:04:0{n}.500000Z",
            "status": {"status_code": "ERROR" if span["status"] else "UNSET"},
            "attributes": plain(span),
            "events": [],
            "resource": {"attributes": {"service.name": "weather"}},
        }
        for n, span in enumerate(genai_messages())
    ]
    # One indented object after the other: no lines, and no list.
    text = "\n".join(json.dumps(one, indent=4) for one in printed)
    (trace,) = read(write(tmp_path / "console.json", text))
    assert trace.id == "ab" * 16
    assert trace.answer == ANSWER
    assert [c.error for c in trace.tool_calls] == [False, True]


@pytest.mark.parametrize("shape", ["nested", "columns"])
def test_rows_of_phoenix_read_nested_and_as_columns(shape: str, tmp_path: Path) -> None:
    rows = []
    for n, span in enumerate(openinference()):
        attributes = plain(span)
        kind = attributes.pop("openinference.span.kind")
        tags = attributes.pop("tag.tags", None)
        row: dict[str, Any] = {
            "name": span["name"],
            "span_kind": kind,
            "parent_id": span.get("parentSpanId"),
            "start_time": f"2026-01-02T03:04:0{n}+00:00",
            "end_time": f"2026-01-02T03:04:0{n + 1}+00:00",
            "status_code": "ERROR" if span["status"] else "OK",
        }
        if shape == "columns":
            row |= {"context.span_id": span["spanId"], "context.trace_id": "ab" * 16}
            row |= {f"attributes.{key}": value for key, value in attributes.items()}
        else:
            row["context"] = {"span_id": span["spanId"], "trace_id": "ab" * 16}
            row["attributes"] = _nested(attributes)
        assert tags is None or tags
        rows.append(row)
    (trace,) = read(write(tmp_path / "phoenix.jsonl", rows))
    assert (trace.source, trace.prompt, trace.answer) == (
        "openinference",
        PROMPT,
        ANSWER,
    )
    assert [c.answered for c in trace.tool_calls] == [True, True]
    assert trace.usage.total_tokens == 30


def _nested(attributes: dict[str, Any]) -> dict[str, Any]:
    """Phoenix's own nesting: objects for dots, lists of objects for numbers."""
    from helix_runtime.formats.attributes import nested

    found: dict[str, Any] = {}
    for key, value in attributes.items():
        start = key.partition(".")[0]
        found[start] = nested(attributes, start) if "." in key else value
    return found


def test_retrieved_documents_are_evidence(tmp_path: Path) -> None:
    attributes = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.content": "It rains in Oslo.",
        "retrieval.documents.1.document.id": "d2",
    }
    spans = [*openinference(), otlp_span("d0", "search", 1, attributes)]
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp(spans)]))
    (found,) = [s for s in trace.spans if s.kind == "retrieval"]
    assert found.output == [
        {"id": "d1", "content": "It rains in Oslo."},
        {"id": "d2"},
    ]


def test_pydantic_ai_keeps_its_messages_in_one_attribute(tmp_path: Path) -> None:
    events = [
        {"event.name": "gen_ai.user.message", "content": PROMPT, "role": "user"},
        {
            "event.name": "gen_ai.choice",
            "message": {"role": "assistant", "content": ANSWER},
        },
    ]
    spans = [
        otlp_span(
            "a0",
            "agent run",
            0,
            {"agent_name": "forecaster", "final_result": ANSWER, **USED},
            parent=None,
        ),
        otlp_span("b1", "chat m-1", 1, CHAT | USED | {"events": dumps(events)}),
    ]
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp(spans)]))
    assert (trace.prompt, trace.answer) == (PROMPT, ANSWER)
    assert trace.agent_name == "forecaster"
    assert trace.usage.total_tokens == 15


def test_the_vercel_sdk_frames_its_own_calls(tmp_path: Path) -> None:
    inner = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": dumps(
            [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]
        ),
        "ai.response.text": ANSWER,
        **USED,
    }
    outer = {
        "ai.operationId": "ai.generateText",
        "ai.prompt": dumps({"prompt": PROMPT}),
        "ai.response.text": ANSWER,
        "ai.usage.promptTokens": 10,
        "ai.usage.completionTokens": 5,
    }
    spans = [
        otlp_span("a0", "ai.generateText", 0, outer, parent=None),
        otlp_span("b1", "ai.generateText.doGenerate", 1, inner),
    ]
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp(spans)]))
    assert [m.content for m in trace.transcript] == [PROMPT, ANSWER]
    assert trace.usage.total_tokens == 15


def test_a_call_without_an_id_is_joined_by_its_arguments(tmp_path: Path) -> None:
    asked = [
        {key: value for key, value in part.items() if key != "id"}
        for part in CALL_PARTS
    ]
    model = CHAT | {
        "gen_ai.input.messages": dumps([parts("user", said(PROMPT))]),
        "gen_ai.output.messages": dumps([parts("assistant", *asked)]),
    }
    # The tools answer the other way round, with ids of the framework's own.
    tools = [
        {**span, "startTimeUnixNano": str(1_767_323_050_000_000_000 - n)}
        for n, span in enumerate(tool_spans())
    ]
    spans = [agent_span(), otlp_span("b1", "chat", 1, model), *tools]
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp(spans)]))
    assert [(c.arguments, c.result) for c in trace.tool_calls] == [
        ({"city": "Oslo"}, "rain, 7 °C"),
        ({"city": "Atlantis"}, "no such city"),
    ]


def test_usage_that_only_the_agent_tells_is_that_of_the_run(tmp_path: Path) -> None:
    spans = [agent_span(), *tool_spans()]
    (trace,) = read(write(tmp_path / "s.jsonl", [otlp(spans)]))
    assert trace.usage.total_tokens == 30
