"""Graphs of LangGraph, the real package with fake chat models."""

import sys
from pathlib import Path

import pytest
from helix_runtime.refusal import Refusal
from helix_runtime.targets import open_target
from support.target_modules import agent_module, calls_of, case, error_of, opened, says

DESK = """
from typing import TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

USED = {
    "input_tokens": 30,
    "output_tokens": 4,
    "total_tokens": 34,
    "input_token_details": {"cache_read": 10},
}


def find(order: int) -> str:
    "Find an order."
    if order == 2:
        raise ValueError("there is no order 2")
    return "sea"


def think(state):
    messages = state["messages"]
    if messages[-1].type == "tool":
        people = sum(message.type == "human" for message in messages)
        return {"messages": [AIMessage(f"At sea ({people}).", usage_metadata=USED)]}
    if "boom" in messages[-1].content:
        raise KeyError("boom")
    number = len(messages)
    calls = [
        {"name": "find", "args": {"order": 1}, "id": f"a{number}"},
        {"name": "find", "args": {"order": 2}, "id": f"b{number}"},
    ]
    return {
        "messages": [
            AIMessage(
                [{"type": "text", "text": "Let me see."}],
                tool_calls=calls,
                usage_metadata=USED,
                response_metadata={"model_name": "fake-1"},
            )
        ]
    }


builder = StateGraph(MessagesState)
builder.add_node("think", think)
builder.add_node("look", ToolNode([find], handle_tool_errors=True))
builder.add_edge(START, "think")
builder.add_conditional_edges("think", tools_condition, {"tools": "look", END: END})
builder.add_edge("look", "think")
graph = builder.compile()
kept = builder.compile(checkpointer=InMemorySaver())



def search(query: str) -> list[dict[str, str]]:
    "Search."
    return [{"id": "KB-1"}]


def seek(state):
    if state["messages"][-1].type == "tool":
        return {"messages": [AIMessage("[KB-2]")]}
    call = {"name": "search", "args": {"query": "refund"}, "id": "s1"}
    return {"messages": [AIMessage("", tool_calls=[call])]}


searching = StateGraph(MessagesState)
searching.add_node("seek", seek)
searching.add_node("tools", ToolNode([search]))
searching.add_edge(START, "seek")
searching.add_conditional_edges("seek", tools_condition)
searching.add_edge("tools", "seek")
library = searching.compile()


class SyncSaver(InMemorySaver):
    pass


for name in ("aget_tuple", "alist", "aput", "aput_writes", "adelete_thread"):
    base = InMemorySaver.__mro__[1]
    setattr(SyncSaver, name, getattr(base, name))
sync = builder.compile(checkpointer=SyncSaver())


class State(TypedDict, total=False):
    question: str
    orders: list[str]
    answer: str


def classify(state):
    return {"orders": ["1"]}


def reply(state):
    return {"answer": f"{state['question']} -> {state['orders']}"}


steps = StateGraph(State)
steps.add_node("classify", classify)
steps.add_node("reply", reply)
steps.add_edge(START, "classify")
steps.add_edge("classify", "reply")
workflow = steps.compile()


def ask(state):
    said = interrupt("Shall I book it?")
    return {"messages": [AIMessage(f"They said {said}.")]}


asking = StateGraph(MessagesState)
asking.add_node("ask", ask)
asking.add_edge(START, "ask")
approval = asking.compile(checkpointer=InMemorySaver())

outer = StateGraph(MessagesState)
outer.add_node("desk", graph)
outer.add_node("sign", lambda state: {"messages": [AIMessage("Yours, the desk")]})
outer.add_edge(START, "desk")
outer.add_edge("desk", "sign")
nested = outer.compile()


def whose(state, runtime: Runtime[dict]):
    return {"messages": [AIMessage(f"For {runtime.context['id']}")]}


contextual = StateGraph(MessagesState, context_schema=dict)
contextual.add_node("whose", whose)
contextual.add_edge(START, "whose")
personal = contextual.compile()


def deps(case):
    return {"id": case.id}


def make():
    return builder.compile()


model = GenericFakeChatModel(messages=iter([AIMessage("one"), AIMessage("two")]))


async def call(state):
    return {"messages": [await model.ainvoke(state["messages"])]}


chatting = StateGraph(MessagesState)
chatting.add_node("call", call)
chatting.add_edge(START, "call")
chat = chatting.compile()
"""


def test_a_list_that_a_tool_returned_is_text_and_reads_as_a_list(
    tmp_path: Path,
) -> None:
    with opened("langgraph", tmp_path, DESK, "library") as target:
        trace = target.call(case(), trace_id="t-1", timeout=60)
    (call,) = trace.tool_calls
    assert isinstance(call.result, str)
    assert call.result_data == [{"id": "KB-1"}]
    assert call.arguments_data == {"query": "refund"}


@pytest.mark.parametrize("name", ["graph", "kept", "sync", "make"])
def test_nodes_messages_tools_and_usage_are_read_from_the_stream(
    tmp_path: Path, name: str
) -> None:
    with opened("langgraph", tmp_path, DESK, name) as target:
        trace = target.call(case(), trace_id="t-1", timeout=60)
    assert (trace.id, trace.status) == ("t-1", "ok")
    assert says(trace) == [
        ("user", "Where is order 1?"),
        ("assistant", "Let me see."),
        ("assistant", "At sea (1)."),
    ]
    path = [span.name for span in trace.spans if span.kind == "span"]
    assert path == ["think", "look", "think"] and "path" in trace.observed
    find, failed = calls_of(trace)
    assert find == ("find", {"order": 1}, "sea", False)
    assert failed[:2] == ("find", {"order": 2}) and failed[3]
    assert "there is no order 2" in failed[2]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (60, 8)
    blocks = [span for span in trace.spans if span.tokens]
    assert blocks[0].tokens == {"input": 30, "output": 4, "cachedInput": 10}
    assert blocks[0].extra == {"model": "fake-1"}


@pytest.mark.parametrize("name", ["graph", "kept", "sync"])
def test_turns_share_a_thread_and_cases_do_not(tmp_path: Path, name: str) -> None:
    script = case(input={"turns": ["Where is order 1?", "And order 2?"]})
    with opened("langgraph", tmp_path, DESK, name) as target:
        for _ in range(2):
            trace = target.call(script, trace_id="t", timeout=60)
            assert trace.answer == "At sea (2)."
        assert len(trace.tool_calls) == 4


def test_a_chat_model_of_the_framework_is_awaited(tmp_path: Path) -> None:
    with opened("langgraph", tmp_path, DESK, "chat") as target:
        answers = [
            target.call(case(), trace_id=name, timeout=60).answer for name in "ab"
        ]
    assert answers == ["one", "two"]


def test_what_was_said_before_stands_at_the_head_of_the_state(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "What is it?"},
        {"role": "user", "content": "Where is order 1?"},
    ]
    with opened("langgraph", tmp_path, DESK, "graph") as target:
        given = case(input={"messages": messages})
        assert target.call(given, trace_id="t", timeout=60).answer == "At sea (2)."


def test_a_graph_without_messages_takes_what_a_template_says(tmp_path: Path) -> None:
    with opened(
        "langgraph",
        tmp_path,
        DESK,
        "workflow",
        input={"question": "{query}"},
        output="answer",
    ) as target:
        trace = target.call(case("Which?"), trace_id="t", timeout=60)
    assert trace.answer == "Which? -> ['1']"
    spans = [(s.name, s.output) for s in trace.spans if s.kind == "span"]
    assert spans == [
        ("classify", {"orders": ["1"]}),
        ("reply", {"answer": "Which? -> ['1']"}),
    ]


def test_a_graph_without_messages_and_without_a_template_is_refused(
    tmp_path: Path,
) -> None:
    with agent_module(tmp_path, DESK) as module:
        with pytest.raises(Refusal, match="no `messages` in its state"):
            open_target(f"langgraph:{module}:workflow", root=tmp_path)
        with pytest.raises(Refusal, match="is not compiled"):
            open_target(f"langgraph:{module}:builder", root=tmp_path)


def test_a_question_of_the_graph_is_its_answer_and_the_next_turn_resumes_it(
    tmp_path: Path,
) -> None:
    script = case(input={"turns": ["Book it", "yes"]})
    with opened("langgraph", tmp_path, DESK, "approval") as target:
        trace = target.call(script, trace_id="t", timeout=60)
    assert says(trace) == [
        ("user", "Book it"),
        ("assistant", "Shall I book it?"),
        ("user", "yes"),
        ("assistant", "They said yes."),
    ]


def test_messages_of_a_graph_inside_a_graph_stand_once(tmp_path: Path) -> None:
    with opened("langgraph", tmp_path, DESK, "nested") as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert [span.name for span in trace.spans if span.kind == "span"] == [
        "think",
        "look",
        "think",
        "desk",
        "sign",
    ]
    assert len(trace.tool_calls) == 2
    assert trace.answer == "Yours, the desk"


def test_the_context_is_made_for_each_case(tmp_path: Path) -> None:
    with opened(
        "langgraph", tmp_path, DESK, "personal", deps="{module}:deps"
    ) as target:
        trace = target.call(case(id="case-7"), trace_id="t", timeout=60)
    assert trace.answer == "For case-7"


def test_a_node_that_breaks_fails_its_case_with_the_line(tmp_path: Path) -> None:
    with opened("langgraph", tmp_path, DESK, "graph") as target:
        trace = target.call(case("boom"), trace_id="t", timeout=60)
    assert "KeyError: 'boom'" in error_of(trace) and ".py:" in error_of(trace)
    assert trace.incomplete is not None


BLOCKING = """
import asyncio
import threading
from langgraph.graph import START, MessagesState, StateGraph

free = threading.Event()
ended = []


async def block(state):
    if state["messages"][-1].content == "block":
        free.wait()
    return {"messages": [{"role": "assistant", "content": "free"}]}


async def hang(state):
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


builder = StateGraph(MessagesState)
builder.add_node("block", block)
builder.add_edge(START, "block")
graph = builder.compile()

hanging = StateGraph(MessagesState)
hanging.add_node("hang", hang)
hanging.add_edge(START, "hang")
hangs = hanging.compile()
"""


def test_a_node_that_blocks_its_loop_holds_no_other_case(tmp_path: Path) -> None:
    with agent_module(tmp_path, BLOCKING) as module:
        target = open_target(f"langgraph:{module}:graph", root=tmp_path)
        late = target.call(case("block"), trace_id="a", timeout=0.3)
        other = target.call(case("go on"), trace_id="b", timeout=60)
        sys.modules[module].free.set()
        target.close()
    assert error_of(late) == "timed out after 0.3 s"
    assert other.answer == "free"


def test_a_node_that_hangs_is_cancelled(tmp_path: Path) -> None:
    with agent_module(tmp_path, BLOCKING) as module:
        target = open_target(f"langgraph:{module}:hangs", root=tmp_path)
        trace = target.call(case(), trace_id="t", timeout=0.3)
        target.close()
        assert error_of(trace) == "timed out after 0.3 s"
        assert sys.modules[module].ended == ["cancelled"]
