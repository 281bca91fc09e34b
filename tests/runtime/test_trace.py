"""The views of a trace read real files right, traps included."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.formats.unitf import read_traces
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import (
    ReadCount,
    trace_from_record,
    trace_of_answer,
    trace_to_record,
)
from hypothesis import given
from hypothesis import strategies as st


def span(number: int, **fields: Any) -> dict[str, Any]:
    return {"spanId": f"s{number}", "name": "step", "kind": "llm", **fields}


def trace(*spans: dict[str, Any], **fields: Any) -> Trace:
    return trace_from_record(
        {"traceId": "t", "status": "ok", "spans": [*spans]} | fields
    )


ASK = span(0, kind="event", role="user", input="Route ticket 7.")
CALL = span(
    1, kind="tool", role="tool", toolName="route", toolCallId="c1", input={"id": 7}
)
RESULT = span(2, kind="tool", role="toolResult", toolCallId="c1", output="routed")
ANSWER = span(3, role="assistant", output="Done.")


def test_the_answer_is_the_last_assistant_text_not_the_last_assistant_span() -> None:
    silent = span(4, role="assistant")
    assert trace(ASK, ANSWER, silent).answer == "Done."


@pytest.mark.parametrize("side", ["input", "output"])
def test_text_may_stand_in_input_or_output_whatever_the_role(side: str) -> None:
    said = trace(
        span(0, kind="event", role="user", **{side: "Hello"}),
        span(1, role="assistant", **{side: "Hi"}),
    )
    assert (said.prompt, said.answer) == ("Hello", "Hi")
    assert [m.content for m in said.transcript] == ["Hello", "Hi"]


def test_without_a_user_turn_the_prompt_is_the_first_model_spans_input() -> None:
    assert trace(span(0, input="Summarize.", output="Short.")).prompt == "Summarize."


def test_a_role_less_span_reads_by_its_kind() -> None:
    found = trace(span(0, kind="agent", output="Hi"), span(1, kind="tool", input={}))
    assert [s.effective_role for s in found.spans] == ["assistant", "tool"]
    assert found.answer == "Hi"


def test_a_model_spans_input_is_not_its_answer() -> None:
    assert trace(span(0, kind="llm", input="Question?")).answer is None


def test_call_and_result_are_one_tool_call_joined_by_id() -> None:
    (call,) = trace(ASK, CALL, RESULT, ANSWER).tool_calls
    assert (call.name, call.arguments, call.result) == ("route", {"id": 7}, "routed")
    assert call.answered and not call.error
    assert (call.span_id, call.result_span_id) == ("s1", "s2")


def test_a_call_whose_result_is_an_error_is_an_error_though_its_span_is_ok() -> None:
    (call,) = trace(ASK, CALL, RESULT | {"status": "error"}, ANSWER).tool_calls
    assert call.error


def test_a_tool_span_that_carries_its_own_output_is_answered() -> None:
    (call,) = trace(ASK, CALL | {"output": "routed"}, ANSWER).tool_calls
    assert call.answered and call.result == "routed"


@pytest.mark.parametrize(
    ("recorded", "data"),
    [
        ('[{"id": "KB-1"}]', [{"id": "KB-1"}]),
        (' {"id": 7}\n', {"id": 7}),
        ({"id": 7}, {"id": 7}),
        ("routed", "routed"),
        ("7", "7"),
        ("", ""),
        (None, None),
        ('{"id": 7, "id": 8}', '{"id": 7, "id": 8}'),
        ('{"id": NaN}', '{"id": NaN}'),
        ('{"id": 7', '{"id": 7'),
        ('see {"id": 7}', 'see {"id": 7}'),
    ],
)
def test_what_a_tool_took_and_gave_reads_as_data(recorded: Any, data: Any) -> None:
    spans = (CALL | {"input": recorded}, RESULT | {"output": recorded})
    (call,) = trace(ASK, *spans, ANSWER).tool_calls
    assert call.result_data == data and call.arguments_data == data
    # What refs resolve against stays as it was recorded.
    assert call.result == recorded and call.arguments == recorded


def test_a_result_of_chat_parts_reads_as_the_data_that_they_tell() -> None:
    parts = [{"type": "text", "text": '[{"id": 7}]'}]
    spans = (CALL | {"input": parts}, RESULT | {"output": parts})
    (call,) = trace(ASK, *spans, ANSWER).tool_calls
    assert call.result_data == [{"id": 7}]
    assert call.arguments_data == parts


def test_chat_parts_are_joined_as_text_and_data_stays_data() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert trace(ASK, span(1, role="assistant", output=parts)).answer == "a\nb"
    data = trace(ASK, span(1, role="assistant", output={"route": "billing"}))
    assert data.output == {"route": "billing"}
    assert data.answer == '{"route":"billing"}'
    text = trace(ASK, span(1, role="assistant", output='{"route": "billing"}'))
    assert text.output == {"route": "billing"}


def test_repeated_token_blocks_of_one_message_count_once() -> None:
    block = {"input": 10, "output": 5}
    usage = trace(
        ASK,
        span(1, role="assistant", output="Plan.", tokens=block),
        span(2, role="assistant", tokens=block),
        CALL,
        RESULT,
        span(5, role="assistant", output="Done.", tokens=block),
        tokens={"input": 30, "output": 15, "total": 45},
    ).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (20, 10, 30)


def test_usage_that_is_not_recorded_is_unknown_not_zero() -> None:
    usage = trace(ASK, ANSWER).usage
    assert usage.total_tokens is None and usage.cost_usd is None
    assert trace(ASK, ANSWER, tokens={"input": 3, "output": 4}).usage.total_tokens == 7


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ((), "empty"),
        ((ASK,), "before the subject answered"),
        ((ASK, CALL), "stops in a call of route"),
        ((ASK, ANSWER, CALL), "stops in a call of route"),
    ],
)
def test_a_trace_that_is_empty_or_stops_in_a_call_is_incomplete(
    spans: tuple[dict[str, Any], ...], why: str
) -> None:
    assert why in (trace(*spans).incomplete or "")


# A model or an agent that was asked and gave nothing: its `input` is no answer.
ASKED_MODEL = span(7, kind="llm", input="What is the prompt?")
BROKEN_MODEL = span(8, kind="llm", input="And now?", status="error")
BROKEN_AGENT = span(8, kind="agent", input=[{"role": "user", "content": "q"}])
SAYS_NOTHING = span(9, kind="event", role=None)


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ((ASK, ASKED_MODEL), "before the subject answered"),
        ((ASK, BROKEN_MODEL), "before the subject answered"),
        ((ASK, BROKEN_AGENT), "before the subject answered"),
        ((ASK, CALL, RESULT, BROKEN_MODEL), "which gave nothing"),
        ((ASK, ANSWER, ASKED_MODEL, SAYS_NOTHING), "which gave nothing"),
        ((ASK, CALL, SAYS_NOTHING), "stops in a call of route"),
        ((ASK, CALL, ASKED_MODEL), "gave nothing"),
    ],
)
def test_a_trace_that_stops_in_a_call_of_the_model_is_incomplete(
    spans: tuple[dict[str, Any], ...], why: str
) -> None:
    assert why in (trace(*spans).incomplete or "")
    failed = trace(*spans, status="error").incomplete or ""
    assert failed.startswith("the subject failed before it answered")


@pytest.mark.parametrize(
    "output",
    [
        [{"type": "thinking", "thinking": "Hm."}],
        [{"type": "text", "text": " "}],
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "Hm."}]},
    ],
)
def test_thoughts_and_blank_messages_are_no_answer(output: Any) -> None:
    thought = span(2, kind="llm", output=output)
    assert trace(ASK, thought).incomplete is not None


@pytest.mark.parametrize(
    "spans",
    [
        (ASK, BROKEN_MODEL, ANSWER),
        (ASK, ASKED_MODEL, CALL, RESULT),
        (ASK, span(2, role="assistant"), CALL, RESULT, span(5, role="assistant")),
        (
            ASK,
            span(2, kind="agent", output="All done."),
            span(3, kind="llm", input="q", parentSpanId="s2"),
        ),
        (ASK, span(2, kind="agent", output=[{"type": "image", "url": "x"}])),
    ],
)
def test_a_silent_span_in_a_run_that_ends_leaves_it_complete(
    spans: tuple[dict[str, Any], ...],
) -> None:
    assert trace(*spans).incomplete is None


@pytest.mark.parametrize("spans", [(ASK, ANSWER), (ASK, CALL, RESULT)])
def test_a_trace_that_ends_is_complete_whatever_its_producers_flag_says(
    spans: tuple[dict[str, Any], ...],
) -> None:
    flagged = trace(*spans, ext={"eval": {"incomplete": True}})
    assert flagged.incomplete is None
    assert flagged.flagged_incomplete is not None


def test_a_subject_that_failed_gave_no_answer_and_observed_no_tools() -> None:
    failed = trace_of_answer(
        trace_id="t", query="q", output=None, error="ValueError: x"
    )
    assert failed.incomplete == "the subject failed before it answered: ValueError: x"
    assert failed.answer is None
    assert failed.observed == {"output"}


def test_the_reader_skips_and_counts_what_it_cannot_read(tmp_path: Path) -> None:
    good = json.dumps({"traceId": "a", "spans": []})
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + f"{good}\n\nnot json\n[]\n{{}}\n".encode() + b'\xff\n{"tra'
    )
    count = ReadCount()
    assert [t.id for t in read_traces(path, count)] == ["a"]
    assert (count.traces, count.blank, count.skipped) == (1, 1, 5)
    assert [fault.split(": ")[0] for fault in count.faults] == [
        f"t.jsonl:{n}" for n in (3, 4, 5, 6, 7)
    ]


def test_gzip_is_read_and_a_cut_stream_is_counted(tmp_path: Path) -> None:
    lines = "".join(
        json.dumps({"traceId": f"t{n}", "spans": [], "noise": f"{n * 7919}" * 50})
        + "\n"
        for n in range(300)
    )
    packed = gzip.compress(lines.encode())
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(packed)
    count = ReadCount()
    assert len(list(read_traces(path, count))) == 300
    path.write_bytes(packed[: len(packed) // 2])
    count = ReadCount()
    assert 0 < len(list(read_traces(path, count))) < 300
    assert count.skipped == 1 and "gzip" in count.faults[0]


def test_what_the_format_does_not_know_survives_the_round_trip() -> None:
    record = {
        "unitf_version": "0.1",
        "traceId": "t",
        "sourcePlatform": "acme",
        "status": "ok",
        "spans": [
            {"spanId": "s", "name": "n", "kind": "span", "status": "ok", "mood": 1}
        ],
        "ext": {"eval": {"incomplete": False}},
        "vendor": {"x": [1]},
    }
    assert trace_to_record(trace_from_record(record)) == record


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SPANS = st.builds(
    Span,
    id=st.text(min_size=1, max_size=4),
    name=st.text(min_size=1, max_size=4),
    kind=st.sampled_from(["llm", "tool", "retrieval", "agent", "event", "span"]),
    role=st.sampled_from([None, "user", "assistant", "system", "tool", "toolResult"]),
    status=st.sampled_from(["ok", "error", "unknown"]),
    input=JSON,
    output=JSON,
    tool_name=st.none() | st.text(min_size=1, max_size=4),
    tool_call_id=st.none() | st.text(min_size=1, max_size=2),
    tokens=st.none() | st.dictionaries(st.sampled_from(["input", "output"]), JSON),
)


@given(st.lists(SPANS, max_size=6))
def test_any_trace_survives_unitf_and_every_view_reads_it(spans: list[Span]) -> None:
    built = json.loads(json.dumps(trace_to_record(Trace(id="t", spans=tuple(spans)))))
    before = trace_from_record(built)
    assert trace_to_record(before)["spans"] == built["spans"]
    after = trace_from_record(json.loads(json.dumps(trace_to_record(before))))
    assert after == before
    assert after.digest == before.digest
    for view in ("transcript", "answer", "output", "prompt", "tool_calls", "steps"):
        getattr(after, view)
    for call in after.tool_calls:
        assert isinstance(call.result_data, type(call.result)) or call.result
        assert isinstance(call.arguments_data, type(call.arguments)) or call.arguments
    assert after.usage is not None
    assert after.incomplete is None or after.incomplete
