"""Agents of Pydantic AI, the real package with its own models for tests."""

from pathlib import Path

import pytest
from helix_runtime.refusal import CANT_CARRY_OUT, USAGE, Refusal
from helix_runtime.targets import TargetUnreachable, open_target
from support.target_modules import (
    agent_module,
    calls_of,
    case,
    error_of,
    opened,
    says,
)

DESK = """
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel


def said(messages):
    return [
        part.content
        for message in messages
        for part in message.parts
        if part.part_kind == "user-prompt"
    ]


def think(messages, info):
    if messages[-1].parts[-1].part_kind == "user-prompt":
        return ModelResponse(
            parts=[
                TextPart("Let me see."),
                ToolCallPart("find", '{"order": 1}', f"a{len(messages)}"),
                ToolCallPart("find", {"order": 2}, f"b{len(messages)}"),
            ]
        )
    return ModelResponse(parts=[TextPart(f"At sea ({len(said(messages))}).")])


agent = Agent(FunctionModel(think), name="desk", instructions="Help readers.")


@agent.tool_plain(retries=3)
def find(order: int) -> dict[str, str]:
    if order == 2:
        raise ModelRetry("there is no order 2")
    return {"at": "sea"}


class Shelf(BaseModel):
    shelf: str
    copies: int


def decide(messages, info):
    return ModelResponse(
        parts=[ToolCallPart(info.output_tools[0].name, {"shelf": "A3", "copies": 2})]
    )


typed = Agent(FunctionModel(decide), output_type=Shelf)
plain = Agent(TestModel(custom_output_text="Done."))


def crash(messages, info):
    if messages[-1].parts[-1].part_kind == "user-prompt":
        return ModelResponse(parts=[ToolCallPart("burn", {}, "c1")])
    raise AssertionError


broken = Agent(FunctionModel(crash))


@broken.tool_plain
def burn() -> str:
    raise ConnectionRefusedError("the database is down")


with_deps = Agent(TestModel(call_tools=["whose"]), deps_type=dict)
made = []


@with_deps.tool
def whose(ctx: RunContext[dict]) -> str:
    ctx.deps["seen"] += 1
    return f"{ctx.deps['id']} seen {ctx.deps['seen']} times"


def deps(case):
    made.append(case.id)
    return {"id": case.id, "seen": 0}


def make(case):
    return Agent(TestModel(custom_output_text=f"made for {case.id}"))


async def make_slowly():
    return plain


def user(case, messages):
    assert messages[-1]["role"] == "assistant"
    return "And order 3?" if len(messages) < 4 else None
"""


def test_messages_tools_and_usage_are_read_from_the_run_itself(tmp_path: Path) -> None:
    with opened("pydantic-ai", tmp_path, DESK, "agent") as target:
        trace = target.call(case(), trace_id="t-1", timeout=60)
    assert (trace.id, trace.status, trace.agent_name) == ("t-1", "ok", "desk")
    assert says(trace) == [
        ("user", "Where is order 1?"),
        ("assistant", "Let me see."),
        ("assistant", "At sea (1)."),
    ]
    assert trace.spans[0].role == "system" and trace.spans[0].input == "Help readers."
    assert calls_of(trace) == [
        ("find", {"order": 1}, {"at": "sea"}, False),
        ("find", {"order": 2}, "there is no order 2", True),
    ]
    assert trace.observed == {"output", "tools"}
    blocks = [span.tokens for span in trace.spans if span.tokens]
    assert len(blocks) == 2
    assert trace.usage.input_tokens == sum(block["input"] for block in blocks) > 0
    assert trace.usage.output_tokens == sum(block["output"] for block in blocks) > 0
    assert {span.extra["model"] for span in trace.spans if span.kind == "llm"}


def test_a_typed_answer_is_data_and_its_tool_is_none_of_the_subjects(
    tmp_path: Path,
) -> None:
    with opened("pydantic-ai", tmp_path, DESK, "typed") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert trace.output == {"shelf": "A3", "copies": 2}
    assert trace.tool_calls == ()
    assert trace.steps == 1


def test_scripted_turns_share_one_conversation_and_stand_in_the_trace(
    tmp_path: Path,
) -> None:
    script = case(input={"turns": ["Where is order 1?", {"content": "And order 2?"}]})
    with opened("pydantic-ai", tmp_path, DESK, "agent") as target:
        trace = target.call(script, trace_id="t", timeout=60)
        alone = target.call(case(), trace_id="t", timeout=60)
    assert [text for role, text in says(trace) if role == "user"] == [
        "Where is order 1?",
        "And order 2?",
    ]
    assert trace.answer == "At sea (2)."
    assert len(trace.tool_calls) == 4 and trace.ext["helix"]["turns"] == 2
    assert alone.answer == "At sea (1).", "no case sees another one's messages"


def test_what_was_said_before_is_the_agents_history(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello! What is it?"},
        {"role": "user", "content": "Where is order 1?"},
    ]
    with opened("pydantic-ai", tmp_path, DESK, "agent") as target:
        given = case(input={"messages": messages})
        trace = target.call(given, trace_id="t", timeout=60)
    assert trace.answer == "At sea (2)."
    assert says(trace)[:3] == [(m["role"], m["content"]) for m in messages]


def test_a_user_simulator_goes_on_until_it_has_nothing_to_say(tmp_path: Path) -> None:
    with opened("pydantic-ai", tmp_path, DESK, "plain", user="{module}:user") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert says(trace) == [
        ("user", "Where is order 1?"),
        ("assistant", "Done."),
        ("user", "And order 3?"),
        ("assistant", "Done."),
    ]


def test_a_tool_that_breaks_is_the_subjects_failure_with_all_before_it(
    tmp_path: Path,
) -> None:
    with opened("pydantic-ai", tmp_path, DESK, "broken") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert "ConnectionRefusedError: the database is down" in error_of(trace)
    assert calls_of(trace) == [("burn", {}, None, False)]
    assert trace.incomplete is not None


def test_dependencies_are_made_for_each_case(tmp_path: Path) -> None:
    with opened(
        "pydantic-ai", tmp_path, DESK, "with_deps", deps="{module}:deps"
    ) as target:
        traces = [
            target.call(case(id=name), trace_id=name, timeout=60) for name in "ab"
        ]
    results = [trace.tool_calls[0].result for trace in traces]
    assert results == ["a seen 1 times", "b seen 1 times"]


@pytest.mark.parametrize(
    ("name", "answer"), [("make", "made for case-1"), ("make_slowly", "Done.")]
)
def test_a_function_makes_the_agent_of_each_case(
    tmp_path: Path, name: str, answer: str
) -> None:
    with opened("pydantic-ai", tmp_path, DESK, name) as target:
        assert target.call(case(), trace_id="t", timeout=60).answer == answer


UNREACHABLE = """
from openai import APIConnectionError
import httpx
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.function import FunctionModel


def refuse(messages, info):
    raise ModelHTTPError(401, "m-1", {"message": "bad key"})


def overload(messages, info):
    raise ModelHTTPError(503, "m-1", {"message": "busy"})


refused = Agent(FunctionModel(refuse))
overloaded = Agent(FunctionModel(overload))
"""


def test_a_model_that_refuses_the_key_stops_the_run_and_a_busy_one_fails_a_case(
    tmp_path: Path,
) -> None:
    with opened("pydantic-ai", tmp_path, UNREACHABLE, "refused") as target:
        with pytest.raises(TargetUnreachable, match="bad key"):
            target.call(case(), trace_id="t", timeout=60)
    with opened("pydantic-ai", tmp_path, UNREACHABLE, "overloaded") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert "busy" in error_of(trace)


ENTERED = """
import asyncio
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

log = []


class Server(FunctionToolset):
    async def __aenter__(self):
        self.task = asyncio.current_task()
        log.append("started")
        return self

    async def __aexit__(self, *args):
        assert asyncio.current_task() is self.task
        log.append("stopped")


agent = Agent(TestModel(), toolsets=[Server()])


class Dead(FunctionToolset):
    async def __aenter__(self):
        raise OSError("no such server")


dead = Agent(TestModel(), toolsets=[Dead()])
"""


def test_servers_of_tools_start_before_the_first_case_and_stop_after_the_last(
    tmp_path: Path,
) -> None:
    with agent_module(tmp_path, ENTERED) as module:
        target = open_target(f"pydantic-ai:{module}:agent", root=tmp_path)
        import sys

        log = sys.modules[module].log
        assert log == ["started"]
        target.call(case(), trace_id="a", timeout=60)
        target.close()
        assert log[-1] == "stopped"
        with pytest.raises(Refusal, match="no such server") as refused:
            open_target(f"pydantic-ai:{module}:dead", root=tmp_path)
        assert refused.value.exit_code == CANT_CARRY_OUT


HANGS = """
import asyncio
import threading
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

ended = []


async def wait(messages, info):
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


def answer(messages, info):
    return ModelResponse(parts=[TextPart("here")])


agent = Agent(FunctionModel(wait))
"""


def test_an_agent_that_hangs_is_cancelled_and_its_case_fails(tmp_path: Path) -> None:
    with agent_module(tmp_path, HANGS) as module:
        target = open_target(f"pydantic-ai:{module}:agent", root=tmp_path)
        trace = target.call(case(), trace_id="t", timeout=0.3)
        target.close()
        import sys

        assert error_of(trace) == "timed out after 0.3 s"
        assert sys.modules[module].ended == ["cancelled"]


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("nothing", USAGE, "has no nothing"),
        ("Shelf.model_fields", USAGE, "neither an agent nor a function"),
    ],
)
def test_what_is_no_agent_is_refused(
    tmp_path: Path, name: str, code: int, said: str
) -> None:
    with agent_module(tmp_path, DESK) as module:
        with pytest.raises(Refusal, match=said) as refused:
            open_target(f"pydantic-ai:{module}:{name}", root=tmp_path)
    assert refused.value.exit_code == code


def test_many_cases_run_side_by_side_on_one_loop(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with opened("pydantic-ai", tmp_path, DESK, "agent") as target:
        with ThreadPoolExecutor(8) as pool:
            traces = list(
                pool.map(
                    lambda n: target.call(
                        case(f"Question {n}"), trace_id=f"t{n}", timeout=60
                    ),
                    range(24),
                )
            )
    assert [trace.prompt for trace in traces] == [f"Question {n}" for n in range(24)]
    assert {trace.answer for trace in traces} == {"At sea (1)."}
