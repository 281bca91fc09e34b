"""Chat logs, Claude Code sessions and Inspect logs: what they tell, and what not."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import formats
from helix_runtime.trace import Trace
from helix_runtime.unitf import ReadCount
from support.trace_samples import (
    ANSWER,
    PROMPT,
    chat,
    inspect_log,
    inspect_sample,
    inspect_zip,
    session,
    write,
)

WORDS = [
    {"role": "user", "content": PROMPT},
    {"role": "assistant", "content": ANSWER},
]


def read(path: Path, count: ReadCount | None = None) -> list[Trace]:
    count = count or ReadCount()
    traces = list(formats.read([path], count=count))
    assert not count.faults
    return traces


# -- chats -----------------------------------------------------------------------------


def test_a_log_of_words_alone_observes_no_tools(tmp_path: Path) -> None:
    (trace,) = read(write(tmp_path / "c.jsonl", [{"messages": WORDS}]))
    assert trace.observed == {"output"}
    assert trace.usage.total_tokens is None
    (offered,) = read(write(tmp_path / "d.jsonl", [{"messages": WORDS, "tools": []}]))
    assert offered.observed == {"output", "tools"}
    assert offered.tool_calls == ()


RESPONSE = {
    "id": "resp-1",
    "model": "m-1",
    "choices": [{"message": WORDS[1], "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
}
SHAPES: dict[str, Any] = {
    "request and response": [
        {"id": "r-1", "request": {"messages": WORDS[:1]}, "response": RESPONSE}
    ],
    "batch result with its request": [
        {
            "custom_id": "r-1",
            "body": {"messages": WORDS[:1]},
            "response": {"status_code": 200, "body": RESPONSE},
        }
    ],
    "messages with choices": [{"id": "r-1", "messages": WORDS[:1], **RESPONSE}],
    "one list of messages": json.dumps(WORDS, indent=1),
    "a list a line": [WORDS],
    "a list of conversations": json.dumps([{"id": "r-1", "messages": WORDS}]),
    "responses api": [
        {
            "id": "r-1",
            "request": {"input": PROMPT, "instructions": "Be short.", "messages": None},
            "response": {
                "object": "response",
                "choices": [],
                "output": [
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": ANSWER}],
                    }
                ],
            },
        }
    ],
}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_every_shape_of_a_chat_log_is_one_conversation(
    shape: str, tmp_path: Path
) -> None:
    (trace,) = read(write(tmp_path / "c.json", SHAPES[shape]))
    assert (trace.prompt, trace.answer) == (PROMPT, ANSWER)
    assert trace.source == "openai-chat"


def test_conversations_without_an_id_are_named_after_their_line(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", [{"messages": WORDS}, {"messages": WORDS}])
    first = [trace.id for trace in read(path)]
    assert len(set(first)) == 2
    assert [trace.id for trace in read(path)] == first


def test_a_call_that_was_never_answered_stops_the_trace(tmp_path: Path) -> None:
    record = chat()
    record["messages"] = record["messages"][:3]
    (trace,) = read(write(tmp_path / "c.jsonl", [record]))
    assert [c.answered for c in trace.tool_calls] == [False, False]
    assert trace.incomplete == "the trace stops in a call of forecast"


# -- Claude Code -------------------------------------------------------------------------


def test_a_session_says_what_it_left_out(tmp_path: Path) -> None:
    count = ReadCount()
    (trace,) = read(write(tmp_path / "s.jsonl", session()), count)
    assert count.left_out == {"summary": 1}
    assert trace.id == "5e55"
    assert trace.ext["agent"] == {"model": "claude-x"}
    assert trace.latency_ms == 7000
    assert trace.observed == {"output", "tools"}


def test_a_message_of_several_lines_has_the_usage_of_its_last(tmp_path: Path) -> None:
    (trace,) = read(write(tmp_path / "s.jsonl", session()))
    assert trace.usage.input_tokens == 20
    assert trace.usage.output_tokens == 10
    cached = [s.tokens["cachedInput"] for s in trace.spans if s.tokens]
    assert cached == [100, 100]


def test_sub_agents_are_steps_and_no_turns_of_the_session(tmp_path: Path) -> None:
    lines = session()
    side = [
        {
            **lines[2],
            "isSidechain": True,
            "uuid": "side-1",
            "message": {"role": "user", "content": "Look at the sky."},
        },
        {
            **lines[-1],
            "isSidechain": True,
            "uuid": "side-2",
            "message": {
                "id": "m9",
                "role": "assistant",
                "content": [{"type": "text", "text": "It is grey."}],
                "usage": {"input_tokens": 3, "output_tokens": 2},
            },
        },
    ]
    (trace,) = read(write(tmp_path / "s.jsonl", [*lines[:-1], *side, lines[-1]]))
    assert trace.prompt == PROMPT
    assert [m.content for m in trace.transcript if m.role == "assistant"] == [ANSWER]
    assert trace.usage.total_tokens == 35
    assert "It is grey." in [span.output for span in trace.spans]


def test_lines_that_a_resumed_session_repeats_are_read_once(tmp_path: Path) -> None:
    lines = session()
    (trace,) = read(write(tmp_path / "s.jsonl", [*lines, *lines[1:]]))
    assert len(trace.tool_calls) == 2
    assert trace.usage.total_tokens == 30


def test_sessions_in_one_file_are_traces_of_their_own(tmp_path: Path) -> None:
    mixed = [
        line
        for pair in zip(session("s-1"), session("s-2"), strict=True)
        for line in pair
    ]
    for number, line in enumerate(mixed):
        line["uuid"] = f"{line.get('sessionId')}-{number}"
    traces = read(write(tmp_path / "s.jsonl", mixed))
    assert [(t.id, t.answer) for t in traces] == [("s-1", ANSWER), ("s-2", ANSWER)]


def test_what_stream_json_prints_reads_as_a_session(tmp_path: Path) -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "/x"}
    turns = [
        {
            "type": line["type"],
            "session_id": "s-1",
            "uuid": line["uuid"],
            "parent_tool_use_id": None,
            "message": line["message"],
        }
        for line in session()[2:]
    ]
    result = {
        "type": "result",
        "subtype": "success",
        "session_id": "s-1",
        "is_error": False,
        "duration_ms": 1234,
        "total_cost_usd": 0.5,
        "result": ANSWER,
    }
    (trace,) = read(write(tmp_path / "s.jsonl", [init, *turns, result]))
    assert trace.answer == ANSWER
    assert (trace.cost_usd, trace.latency_ms) == (0.5, 1234)


# -- Inspect -----------------------------------------------------------------------------


def test_each_sample_of_each_epoch_is_a_run_of_its_own(tmp_path: Path) -> None:
    samples = [inspect_sample("a", 1), inspect_sample("a", 2), inspect_sample(7, 1)]
    packed = read(write(tmp_path / "l.eval", inspect_zip(*samples)))
    plain = read(
        write(tmp_path / "l.json", json.dumps(inspect_log(*samples), indent=1))
    )
    assert [t.id for t in packed] == [t.id for t in plain]
    assert len({t.id for t in packed}) == 3
    assert [t.ext["caseId"] for t in packed] == ["a", "a", "7"]


def test_scores_measures_and_errors_of_a_sample_are_carried(tmp_path: Path) -> None:
    sample = {**inspect_sample(), "error": {"message": "the sandbox is gone"}}
    (trace,) = read(write(tmp_path / "l.eval", inspect_zip(sample)))
    assert trace.scores == ({"name": "match", "value": 1, "comment": "it matches"},)
    assert trace.latency_ms == 6500
    assert trace.status == "error"
    assert trace.ext["helix"] == {"error": "the sandbox is gone"}
    assert trace.ext["metadata"] == {"kind": "weather"}
    assert trace.agent_name == "weather"


def test_a_sample_without_messages_has_its_input_and_its_output(tmp_path: Path) -> None:
    sample = inspect_sample()
    sample["messages"] = []
    sample["output"] = {"choices": [{"message": {"role": "assistant", "content": "x"}}]}
    (trace,) = read(
        write(tmp_path / "l.json", json.dumps(inspect_log(sample), indent=1))
    )
    assert (trace.prompt, trace.answer) == (PROMPT, "x")
