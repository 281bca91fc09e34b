"""Langfuse: its shapes of files, and messages in every framework's dialect."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import formats
from helix_runtime.formats.langfuse import messages_in
from helix_runtime.trace import Trace
from helix_runtime.unitf import ReadCount
from support.trace_samples import ANSWER, PROMPT, dumps, langfuse_trace, write

GIVEN = {"city": "Oslo"}
CALL = ("forecast", GIVEN)


def read(path: Path) -> list[Trace]:
    count = ReadCount()
    traces = list(formats.read([path], count=count))
    assert not count.faults
    return traces


def turns(value: Any, side: str = "input") -> list[tuple[Any, ...]]:
    """Each message as (role, text, calls, results)."""
    asked, replied = messages_in({side: value})
    found = asked if side == "input" else replied
    return [
        (
            m.role,
            m.text,
            [(c.name, c.arguments) for c in m.calls],
            [(r.id, r.output) for r in m.results],
        )
        for m in found or ()
    ]


Turn = tuple[str, str | None, list[Any], list[Any]]
ASKED: Turn = ("user", PROMPT, [], [])
CALLED: Turn = ("assistant", None, [CALL], [])
TOLD: Turn = ("tool", None, [], [("c1", "rain")])
SAID: Turn = ("assistant", ANSWER, [], [])
OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "forecast", "arguments": dumps(GIVEN)},
}

INPUTS: dict[str, tuple[Any, list[Any]]] = {
    "a bare text": (PROMPT, [ASKED]),
    "openai chat": (
        [
            {"role": "user", "content": PROMPT},
            {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        ],
        [ASKED, CALLED, TOLD],
    ),
    "openai responses": (
        [
            {"role": "user", "content": [{"type": "input_text", "text": PROMPT}]},
            {"type": "reasoning", "summary": []},
            {
                "type": "function_call",
                "call_id": "c1",
                "id": "fc_1",
                "name": "forecast",
                "arguments": dumps(GIVEN),
            },
            {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        ],
        [ASKED, CALLED, TOLD],
    ),
    "anthropic": (
        {
            "messages": [
                {"role": "user", "content": PROMPT},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {
                            "type": "tool_use",
                            "id": "c1",
                            "name": "forecast",
                            "input": GIVEN,
                        },
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": [{"type": "text", "text": "rain"}],
                        }
                    ],
                },
            ]
        },
        [ASKED, CALLED, TOLD],
    ),
    "langchain": (
        {
            "messages": [
                {"type": "human", "content": PROMPT},
                {
                    "type": "ai",
                    "content": "",
                    "additional_kwargs": {"tool_calls": [OPENAI_CALL]},
                },
                {"type": "tool", "content": "rain", "tool_call_id": "c1"},
            ]
        },
        [ASKED, ("assistant", "", [CALL], []), TOLD],
    ),
    "langchain, serialized": (
        [
            [
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "HumanMessage"],
                    "kwargs": {"content": PROMPT},
                }
            ]
        ],
        [ASKED],
    ),
    "tool definitions among the messages": (
        [
            {"role": "user", "content": PROMPT},
            {
                "role": "tool",
                "content": {
                    "type": "function",
                    "function": {"name": "forecast", "parameters": {}},
                },
            },
        ],
        [ASKED],
    ),
    "google": (
        {
            "model": "gemini",
            "config": {"system_instruction": "Be short."},
            "contents": [
                {"role": "user", "parts": [{"text": PROMPT}]},
                {
                    "role": "model",
                    "parts": [{"function_call": {"name": "forecast", "args": GIVEN}}],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "function_response": {
                                "name": "forecast",
                                "response": {"r": 1},
                            }
                        }
                    ],
                },
            ],
        },
        [
            ("system", "Be short.", [], []),
            ASKED,
            CALLED,
            ("tool", None, [], [(None, {"r": 1})]),
        ],
    ),
    "vercel": (
        [
            {"role": "user", "content": [{"type": "text", "text": PROMPT}]},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool-call",
                        "toolCallId": "c1",
                        "toolName": "forecast",
                        "input": GIVEN,
                    }
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c1",
                        "toolName": "forecast",
                        "output": {"type": "text", "value": "rain"},
                    }
                ],
            },
        ],
        [ASKED, CALLED, TOLD],
    ),
    "pydantic ai": (
        [
            {
                "kind": "request",
                "parts": [{"part_kind": "user-prompt", "content": PROMPT}],
            },
            {
                "kind": "response",
                "parts": [
                    {
                        "part_kind": "tool-call",
                        "tool_name": "forecast",
                        "tool_call_id": "c1",
                        "args": dumps(GIVEN),
                    }
                ],
            },
            {
                "kind": "request",
                "parts": [
                    {
                        "part_kind": "tool-return",
                        "tool_name": "forecast",
                        "tool_call_id": "c1",
                        "content": "rain",
                    }
                ],
            },
        ],
        [ASKED, CALLED, TOLD],
    ),
    "a prompt with its system": (
        {"prompt": PROMPT, "system": "Be short."},
        [("system", "Be short.", [], []), ASKED],
    ),
    "the names of a message's keys": ({"content": "role"}, []),
    "pictures": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": PROMPT},
                    {"type": "image_url", "image_url": {"url": "data:…"}},
                ],
            }
        ],
        [("user", PROMPT + "\n[image_url]", [], [])],
    ),
}


@pytest.mark.parametrize("name", sorted(INPUTS))
@pytest.mark.parametrize("packed", [0, 1, 2])
def test_what_a_model_was_asked_reads_in_every_dialect(name: str, packed: int) -> None:
    value, wanted = INPUTS[name]
    for _ in range(packed):
        if isinstance(value, str):
            break
        value = dumps(value)
    assert turns(value) == wanted


OUTPUTS: dict[str, tuple[Any, list[Any]]] = {
    "openai": (
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
        [SAID],
    ),
    "a choice": (
        {"index": 0, "message": {"role": "assistant", "content": ANSWER}},
        [SAID],
    ),
    "responses": (
        {
            "object": "response",
            "output": [
                {"type": "reasoning", "summary": []},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": ANSWER}],
                },
            ],
        },
        [SAID],
    ),
    "anthropic": (
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
        [SAID],
    ),
    "google": (
        {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}]},
        [SAID],
    ),
    "google, development kit": (
        {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "partial": False},
        [SAID],
    ),
    "langchain": ({"generations": [[{"text": ANSWER, "message": None}]]}, [SAID]),
    "vercel": (
        [{"toolCallId": "c1", "toolName": "forecast", "input": dumps(GIVEN)}],
        [CALLED],
    ),
    "vercel, text and calls": (
        {"text": ANSWER, "toolCalls": [{"toolName": "forecast", "args": GIVEN}]},
        [("assistant", ANSWER, [CALL], [])],
    ),
    "a bare text": (ANSWER, [SAID]),
}


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_what_a_model_replied_reads_in_every_dialect(name: str) -> None:
    value, wanted = OUTPUTS[name]
    assert turns(value, "output") == wanted
    assert turns(dumps(value), "output") == wanted


@pytest.mark.parametrize("shape", ["page", "list", "api", "lines of pages"])
def test_pages_lists_and_the_apis_own_traces_read_alike(
    shape: str, tmp_path: Path
) -> None:
    whole = [langfuse_trace("lf-1"), langfuse_trace("lf-2")]
    flat = [{**one["trace"], "observations": one["observations"]} for one in whole]
    content: Any = {
        "page": json.dumps({"data": flat, "meta": {"page": 1}}, indent=1),
        "list": json.dumps(whole),
        "api": json.dumps(flat, indent=2),
        "lines of pages": [{"data": [one]} for one in flat],
    }[shape]
    traces = read(write(tmp_path / "traces.json", content))
    assert [t.id for t in traces] == ["lf-1", "lf-2"]
    assert all(t.answer == ANSWER for t in traces)


def test_rows_of_several_traces_are_gathered_wherever_they_lie(tmp_path: Path) -> None:
    first = langfuse_trace("lf-1")["observations"]
    second = langfuse_trace("lf-2")["observations"]
    mixed = [row for pair in zip(first, second, strict=True) for row in pair]
    traces = read(write(tmp_path / "rows.jsonl", mixed))
    assert [(t.id, len(t.tool_calls)) for t in traces] == [("lf-1", 2), ("lf-2", 2)]


def test_a_model_call_around_another_adds_nothing_to_its_usage(tmp_path: Path) -> None:
    sample = langfuse_trace()
    for row in sample["observations"]:
        if row["id"] == "root":
            row["type"] = "GENERATION"
            row["usageDetails"] = {"input": 999, "output": 999, "total": 1998}
            row["costDetails"] = {"total": 9.0}
    (trace,) = read(write(tmp_path / "traces.json", [sample]))
    assert trace.usage.total_tokens == 30
    assert trace.cost_usd == pytest.approx(0.003)
    assert [m.content for m in trace.transcript if m.role == "assistant"] == [ANSWER]


def test_equal_usage_of_two_calls_in_a_row_is_that_of_two_calls(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"g{n}",
            "traceId": "t",
            "type": "GENERATION",
            "name": "classify",
            "startTime": f"2026-01-02T03:04:0{n}Z",
            "input": f"word {n}",
            "output": f"class {n}",
            "usageDetails": {"input": 7, "output": 1, "total": 8},
        }
        for n in range(3)
    ]
    (trace,) = read(write(tmp_path / "rows.jsonl", rows))
    assert trace.usage.total_tokens == 24


def test_what_belongs_to_the_trace_is_carried(tmp_path: Path) -> None:
    (trace,) = read(write(tmp_path / "t.jsonl", [langfuse_trace()]))
    assert trace.session_id == "s-1"
    assert trace.tags == ("dev", "case:oslo")
    assert trace.latency_ms == 6500
    assert trace.start == "2026-01-02T03:04:01.000Z"
    assert trace.ext["metadata"] == {"caseId": "oslo", "team": "blue"}
    assert trace.scores[0]["name"] == "right" and trace.scores[0]["value"] == 1
    (failed,) = [s for s in trace.spans if s.id == "tool-2"]
    assert failed.status == "error" and failed.extra["error"] == "no such city"


def test_pythons_spelling_of_a_tools_input_is_read_and_never_run(
    tmp_path: Path,
) -> None:
    def with_input(text: str) -> Any:
        row = {
            "id": "x",
            "traceId": "t",
            "type": "TOOL",
            "name": "forecast",
            "input": text,
            "output": "rain",
        }
        (trace,) = read(write(tmp_path / "rows.jsonl", [row]))
        return trace.tool_calls[0].arguments

    assert with_input("{'city': 'Oslo', 'days': None}") == {
        "city": "Oslo",
        "days": None,
    }
    for hostile in ("{'a': __import__('os')}", "{'a': 1 .__class__}", "[1, {2}]"):
        assert with_input(hostile) == hostile


def test_structured_replies_stay_data(tmp_path: Path) -> None:
    row = {
        "id": "g",
        "traceId": "t",
        "type": "GENERATION",
        "name": "extract",
        "input": "Oslo, 7",
        "output": dumps({"city": "Oslo", "degrees": 7}),
    }
    (trace,) = read(write(tmp_path / "rows.jsonl", [row]))
    assert trace.output == {"city": "Oslo", "degrees": 7}
    assert trace.prompt == "Oslo, 7"


def test_spans_alone_observe_no_tools(tmp_path: Path) -> None:
    rows = [
        {
            "id": name,
            "traceId": "t",
            "type": "SPAN",
            "name": name,
            "parentObservationId": parent,
            "input": "a question",
            "output": "an answer",
        }
        for name, parent in (("root", None), ("triage", "root"))
    ]
    (trace,) = read(write(tmp_path / "rows.jsonl", rows))
    assert trace.answer == "an answer"
    assert trace.prompt == "a question"
    assert trace.observed == {"output", "path"}
    assert "triage" in [span.name for span in trace.spans]


def test_a_list_of_traces_without_their_observations_has_prompts_and_answers(
    tmp_path: Path,
) -> None:
    bare = {**langfuse_trace()["trace"], "output": dumps({"answer": ANSWER})}
    listed = {**bare, "id": "lf-2", "observations": ["root", "first"], "scores": ["s"]}
    first, second = read(write(tmp_path / "t.jsonl", [bare, listed]))
    for trace in (first, second):
        assert (trace.prompt, trace.answer) == (PROMPT, ANSWER)
        assert trace.observed == {"output"}


def test_usage_that_only_the_frame_tells_is_that_of_the_run(tmp_path: Path) -> None:
    sample = langfuse_trace()
    for row in sample["observations"]:
        row.pop("usageDetails", None)
        row.pop("costDetails", None)
        if row["id"] == "root":
            row["type"] = "GENERATION"
            row["usageDetails"] = {"input": 20, "output": 10, "total": 30}
            row["costDetails"] = {"total": 0.5}
    (trace,) = read(write(tmp_path / "t.jsonl", [sample]))
    assert trace.usage.total_tokens == 30 and trace.cost_usd == 0.5


def test_rows_of_a_storage_export_are_read_by_their_own_names(tmp_path: Path) -> None:
    def snake(row: dict[str, Any]) -> dict[str, Any]:
        names = {
            "traceId": "trace_id",
            "parentObservationId": "parent_observation_id",
            "startTime": "start_time",
            "endTime": "end_time",
            "usageDetails": "usage_details",
            "costDetails": "cost_details",
            "statusMessage": "status_message",
        }
        found = {names.get(key, key): value for key, value in row.items()}
        stamp = found["start_time"].replace("T", " ").rstrip("Z")
        return found | {"start_time": stamp, "trace_name": "weather", "session_id": "s"}

    rows = [snake(row) for row in langfuse_trace()["observations"]]
    (trace,) = read(write(tmp_path / "o.jsonl", rows))
    assert (trace.agent_name, trace.session_id) == ("weather", "s")
    assert (trace.answer, trace.usage.total_tokens) == (ANSWER, 30)
    assert [c.error for c in trace.tool_calls] == [False, True]
