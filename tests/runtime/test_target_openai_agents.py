"""Agents of the OpenAI Agents SDK, the real package with a fake model."""

import sys
from pathlib import Path

import pytest
from helix_runtime.refusal import Refusal
from helix_runtime.targets import TargetUnreachable, open_target
from support.target_modules import agent_module, calls_of, case, error_of, opened, says

DESK = """
import asyncio

import httpx
from agents import Agent, RunContextWrapper, function_tool, set_trace_processors
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import InputTokensDetails, Usage
from openai import APIConnectionError, APITimeoutError, AuthenticationError
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic import BaseModel

set_trace_processors([])
ended = []


def text(said):
    part = ResponseOutputText(annotations=[], text=said, type="output_text")
    return ResponseOutputMessage(
        id="m", content=[part], role="assistant", status="completed", type="message"
    )


def call(name, arguments, call_id):
    return ResponseFunctionToolCall(
        arguments=arguments, call_id=call_id, name=name, type="function_call"
    )


class FakeModel(Model):
    def __init__(self, think):
        self.think = think

    async def get_response(self, system_instructions, input, *args, **keywords):
        output = await self.think(input)
        details = InputTokensDetails(cached_tokens=2, cache_write_tokens=0)
        usage = Usage(
            requests=1,
            input_tokens=10,
            input_tokens_details=details,
            output_tokens=5,
            total_tokens=15,
        )
        return ModelResponse(output=output, usage=usage, response_id=None)

    def stream_response(self, *args, **keywords):
        raise NotImplementedError


@function_tool
def find(order: int) -> str:
    "Find an order."
    if order == 2:
        raise ValueError("there is no order 2")
    return "sea"


async def think(input):
    if input[-1].get("type") == "function_call_output":
        people = sum(item.get("role") == "user" for item in input)
        return [text(f"At sea ({people}).")]
    number = len(input)
    return [
        text("Let me see."),
        call("find", '{"order": 1}', f"a{number}"),
        call("find", '{"order": 2}', f"b{number}"),
    ]


agent = Agent(name="desk", instructions="Help.", tools=[find], model=FakeModel(think))


async def crash(input):
    if input[-1].get("type") == "function_call_output":
        raise KeyError("boom")
    return [call("find", '{"order": 1}', "c1")]


broken = Agent(name="broken", tools=[find], model=FakeModel(crash))


async def again(input):
    return [call("find", '{"order": 1}', f"c{len(input)}")]


endless = Agent(name="endless", tools=[find], model=FakeModel(again))


async def other(input):
    return [text("From the shelf desk.")]


async def hand_over(input):
    return [call("transfer_to_shelf_desk", "{}", "h1")]


shelf = Agent(name="shelf desk", model=FakeModel(other))
front = Agent(name="front", handoffs=[shelf], model=FakeModel(hand_over))


class Shelf(BaseModel):
    shelf: str


async def decide(input):
    return [text('{"shelf": "A3"}')]


typed = Agent(name="typed", output_type=Shelf, model=FakeModel(decide))
REQUEST = httpx.Request("POST", "https://example.test")


async def no_route(input):
    raise APIConnectionError(request=REQUEST)


async def slow(input):
    raise APITimeoutError(request=REQUEST)


async def no_key(input):
    response = httpx.Response(401, request=REQUEST)
    raise AuthenticationError("bad key", response=response, body=None)


async def hang(input):
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


lost = Agent(name="lost", model=FakeModel(no_route))
timid = Agent(name="timid", model=FakeModel(slow))
keyless = Agent(name="keyless", model=FakeModel(no_key))
hangs = Agent(name="hangs", model=FakeModel(hang))


@function_tool
def whose(context: RunContextWrapper[dict]) -> str:
    "Whose case it is."
    return context.context["id"]


async def ask_whose(input):
    if input[-1].get("type") == "function_call_output":
        return [text(input[-1]["output"])]
    return [call("whose", "{}", "w1")]


personal = Agent(name="personal", tools=[whose], model=FakeModel(ask_whose))


def deps(case):
    return {"id": case.id}


def make(case):
    return Agent(name=f"for {case.id}", model=FakeModel(other))


@function_tool(needs_approval=True)
def book(order: int) -> str:
    "Book."
    return "booked"


async def want_to_book(input):
    return [call("book", '{"order": 1}', "b1")]


careful = Agent(name="careful", tools=[book], model=FakeModel(want_to_book))
"""


def test_messages_tools_errors_and_usage_are_read_from_the_run(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "agent") as target:
        trace = target.call(case(), trace_id="t-1", timeout=60)
    assert (trace.id, trace.status, trace.agent_name) == ("t-1", "ok", "desk")
    assert says(trace) == [
        ("user", "Where is order 1?"),
        ("assistant", "Let me see."),
        ("assistant", "At sea (1)."),
    ]
    assert trace.spans[0].input == "Help."
    first, failed = calls_of(trace)
    assert first == ("find", {"order": 1}, "sea", False)
    assert failed[:2] == ("find", {"order": 2}) and failed[3]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (20, 10)
    block = next(span.tokens for span in trace.spans if span.tokens)
    assert block == {"input": 10, "output": 5, "cachedInput": 2}


def test_turns_share_a_conversation_and_cases_do_not(tmp_path: Path) -> None:
    script = case(input={"turns": ["Where is order 1?", "And order 2?"]})
    with opened("openai-agents", tmp_path, DESK, "agent") as target:
        for _ in range(2):
            trace = target.call(script, trace_id="t", timeout=60)
            assert trace.answer == "At sea (2)."
    assert len(trace.tool_calls) == 4
    assert [call.error for call in trace.tool_calls] == [False, True, False, True]


def test_a_handoff_is_an_event_and_no_tool_of_the_subject(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "front") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert trace.tool_calls == ()
    event = next(span for span in trace.spans if span.name == "shelf desk")
    assert event.input == {"from": "front"}
    assert trace.answer == "From the shelf desk."


def test_a_typed_answer_is_data(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "typed") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert trace.output == {"shelf": "A3"}


def test_what_came_before_a_crash_is_kept(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "broken") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert "KeyError: 'boom'" in error_of(trace)
    assert calls_of(trace) == [("find", {"order": 1}, "sea", False)]
    assert trace.usage.total_tokens == 15


def test_a_run_without_end_is_the_subjects_failure(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "endless") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert "MaxTurnsExceeded" in error_of(trace)
    assert len(trace.tool_calls) == 10


def test_a_tool_that_waits_for_approval_leaves_its_call_open(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "careful") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert trace.ext["helix"]["approvals"] == ["book"]
    assert [call.answered for call in trace.tool_calls] == [False]


def test_the_context_is_made_for_each_case(tmp_path: Path) -> None:
    with opened(
        "openai-agents", tmp_path, DESK, "personal", deps="{module}:deps"
    ) as target:
        answers = [
            target.call(case(id=name), trace_id=name, timeout=60).answer
            for name in ("one", "two")
        ]
    assert answers == ["one", "two"]


def test_a_function_makes_the_agent_of_each_case(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "make") as target:
        trace = target.call(case(id="case-9"), trace_id="t", timeout=60)
    assert trace.agent_name == "for case-9"


@pytest.mark.parametrize("name", ["lost", "keyless"])
def test_a_model_that_is_not_there_stops_the_run(tmp_path: Path, name: str) -> None:
    with opened("openai-agents", tmp_path, DESK, name) as target:
        with pytest.raises(TargetUnreachable, match="can't be reached"):
            target.call(case(), trace_id="t", timeout=60)


def test_a_model_that_is_slow_fails_its_case_only(tmp_path: Path) -> None:
    with opened("openai-agents", tmp_path, DESK, "timid") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert "APITimeoutError" in error_of(trace)


def test_an_agent_that_hangs_is_cancelled(tmp_path: Path) -> None:
    with agent_module(tmp_path, DESK) as module:
        target = open_target(f"openai-agents:{module}:hangs", root=tmp_path)
        trace = target.call(case(), trace_id="t", timeout=0.3)
        target.close()
        assert error_of(trace) == "timed out after 0.3 s"
        assert sys.modules[module].ended == ["cancelled"]


def test_what_is_no_agent_is_refused(tmp_path: Path) -> None:
    with agent_module(tmp_path, DESK) as module:
        with pytest.raises(Refusal, match="neither an agent nor"):
            open_target(f"openai-agents:{module}:REQUEST", root=tmp_path)
