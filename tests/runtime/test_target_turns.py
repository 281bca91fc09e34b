"""Cases of several turns, what runs before the first case, and what a case leaves."""

from pathlib import Path
from typing import Any

import pytest
from helix_runtime.refusal import CANT_CARRY_OUT, USAGE, Refusal
from helix_runtime.targets import TargetUnreachable, open_target
from helix_runtime.targets.options import TargetOptions
from support.target_modules import agent_module, calls_of, case, error_of, opened, says

TALK = """
import asyncio
import sys


def talk(case, messages):
    heard = [m["content"] for m in messages if m["role"] == "user"]
    return f"I heard {', '.join(heard)}"


async def talk_slowly(case, messages):
    await asyncio.sleep(0)
    return talk(case, messages)


class Talker:
    def __init__(self):
        self.calls = 0

    def __call__(self, case, messages):
        self.calls += 1
        return f"call {self.calls} with {len(messages)} messages"


def with_tools(case, messages):
    return {
        "output": f"turn {len(messages)}",
        "tool_calls": [{"name": "find", "arguments": {"n": len(messages)}, "result": 1}],
    }


def own_trace(case, messages):
    from helix_runtime.trace import Span, Trace

    spans = (
        Span(id="x", name="find", kind="tool", role="tool", input={}, output="sea"),
        Span(id="y", name="bot", kind="llm", role="assistant", output="Found it."),
    )
    return Trace(id="theirs", spans=spans)


def breaks(case, messages):
    if len(messages) > 1:
        raise KeyError("second turn")
    return "fine"


def polite(case, messages):
    said = sum(m["role"] == "user" for m in messages)
    return f"Thanks ({said})" if said < 3 else None


async def polite_slowly(case, messages):
    return polite(case, messages)


def endless(case, messages):
    return "and?"


def no_text(case, messages):
    return 3


def broken(case, messages):
    raise ValueError("no idea what to say")
"""


def script(*turns: Any, key: str = "turns", **changes: Any) -> Any:
    return case(input={key: list(turns)}, **changes)


@pytest.mark.parametrize("name", ["talk", "talk_slowly"])
def test_a_function_of_case_and_messages_is_called_for_each_turn(
    tmp_path: Path, name: str
) -> None:
    with opened("python", tmp_path, TALK, name) as target:
        trace = target.call(script("One", "Two"), trace_id="t", timeout=60)
    assert says(trace) == [
        ("user", "One"),
        ("assistant", "I heard One"),
        ("user", "Two"),
        ("assistant", "I heard One, Two"),
    ]
    assert trace.ext["helix"]["turns"] == 2
    assert trace.observed == {"output"}


def test_a_class_is_made_anew_for_each_turn_and_case(tmp_path: Path) -> None:
    with opened("python", tmp_path, TALK, "Talker") as target:
        for _ in range(2):
            trace = target.call(script("One", "Two"), trace_id="t", timeout=60)
            assert trace.answer == "call 1 with 3 messages"


def test_tools_of_every_turn_stand_in_the_trace(tmp_path: Path) -> None:
    with opened("python", tmp_path, TALK, "with_tools") as target:
        trace = target.call(script("One", "Two"), trace_id="t", timeout=60)
    assert calls_of(trace) == [
        ("find", {"n": 1}, 1, False),
        ("find", {"n": 3}, 1, False),
    ]
    assert trace.observed == {"output", "tools"}


def test_a_trace_of_each_turn_is_joined_under_ids_of_its_own(tmp_path: Path) -> None:
    with opened("python", tmp_path, TALK, "own_trace") as target:
        trace = target.call(script("One", "Two"), trace_id="t", timeout=60)
    assert len({span.id for span in trace.spans}) == len(trace.spans) == 6
    assert [call.name for call in trace.tool_calls] == ["find", "find"]
    assert trace.answer == "Found it."


def test_a_failure_in_a_later_turn_keeps_the_turns_before(tmp_path: Path) -> None:
    with opened("python", tmp_path, TALK, "breaks") as target:
        trace = target.call(script("One", "Two", "Three"), trace_id="t", timeout=60)
    assert "KeyError: 'second turn'" in error_of(trace)
    assert says(trace) == [("user", "One"), ("assistant", "fine"), ("user", "Two")]
    assert trace.incomplete is not None, "half a conversation is not judged"


@pytest.mark.parametrize("user", ["polite", "polite_slowly"])
def test_the_simulator_speaks_when_the_script_is_used_up(
    tmp_path: Path, user: str
) -> None:
    with opened("python", tmp_path, TALK, "talk", user="{module}:" + user) as target:
        trace = target.call(script("One"), trace_id="t", timeout=60)
    users = [text for role, text in says(trace) if role == "user"]
    assert users == ["One", "Thanks (1)", "Thanks (2)"]


def test_a_simulator_without_end_is_ended_and_the_trace_says_so(tmp_path: Path) -> None:
    with opened(
        "python", tmp_path, TALK, "talk", user="{module}:endless", max_turns=4
    ) as target:
        trace = target.call(case(), trace_id="t", timeout=60)
    assert len([1 for role, _ in says(trace) if role == "user"]) == 4
    assert trace.ext["helix"] == {"turns": 4, "stopped": "after 4 turns (max_turns)"}
    assert trace.incomplete is None


@pytest.mark.parametrize(
    ("user", "said"),
    [("broken", "ValueError: no idea"), ("no_text", "returned a int")],
)
def test_a_simulator_that_fails_stops_the_run_and_blames_no_case(
    tmp_path: Path, user: str, said: str
) -> None:
    with opened("python", tmp_path, TALK, "talk", user="{module}:" + user) as target:
        with pytest.raises(TargetUnreachable, match="the user simulator failed") as why:
            target.call(case(), trace_id="t", timeout=60)
    assert said in str(why.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"turns": ["One", 2]}, r"`input.turns\[1\]`"),
        ({"turns": [""]}, r"`input.turns\[0\]`"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "`role`"),
        ({"messages": [{"role": "user"}]}, r"`input.messages\[0\]`"),
    ],
)
def test_a_script_that_cant_be_read_is_refused_with_its_place(
    tmp_path: Path, given: Any, said: str
) -> None:
    with opened("python", tmp_path, TALK, "talk") as target:
        with pytest.raises(Refusal, match=said) as refused:
            target.call(case(input=given), trace_id="t", timeout=60)
    assert refused.value.exit_code == USAGE


@pytest.mark.parametrize("given", [{"turns": []}, {"messages": "text"}, [1], "x", None])
def test_an_input_that_is_no_script_is_left_alone(tmp_path: Path, given: Any) -> None:
    with opened("python", tmp_path, TALK, "talk") as target:
        trace = target.call(case("Only this", input=given), trace_id="t", timeout=60)
    assert says(trace) == [("user", "Only this"), ("assistant", "I heard Only this")]


def test_a_conversation_has_one_deadline(tmp_path: Path) -> None:
    source = """
import asyncio
async def run(case, messages):
    if len(messages) > 1:
        await asyncio.Event().wait()
    return "fine"
"""
    with opened("python", tmp_path, source, "run") as target:
        trace = target.call(script("One", "Two"), trace_id="t", timeout=0.3)
    assert error_of(trace) == "timed out after 0.3 s"
    assert says(trace)[1] == ("assistant", "fine")


STATE = """
from contextvars import ContextVar

SEEN = ContextVar("SEEN", default=0)


def run(case):
    SEEN.set(SEEN.get() + 1)
    return f"seen {SEEN.get()}"


async def run_slowly(case):
    return run(case)


class Agent:
    def __init__(self):
        self.seen = 0

    def __call__(self, case):
        self.seen += 1
        return f"seen {self.seen}"


class Async(Agent):
    async def __call__(self, case):
        return super().__call__(case)
"""


@pytest.mark.parametrize("name", ["run", "run_slowly", "Agent", "Async"])
def test_what_a_case_leaves_is_not_there_for_the_next(
    tmp_path: Path, name: str
) -> None:
    with opened("python", tmp_path, STATE, name) as target:
        for _ in range(3):
            assert target.call(case(), trace_id="t", timeout=60).answer == "seen 1"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def run(case): yield 'x'", "piece by piece"),
        ("async def run(case): yield 'x'", "piece by piece"),
        ("class run:\n    def answer(self, case): return 'x'", "without a __call__"),
        ("class run:\n    def __init__(self, key): pass", "without arguments"),
    ],
)
def test_what_cant_be_called_for_a_whole_answer_is_refused(
    tmp_path: Path, source: str, said: str
) -> None:
    with agent_module(tmp_path, source) as module:
        with pytest.raises(Refusal, match=said) as refused:
            open_target(f"python:{module}:run", root=tmp_path)
    assert refused.value.exit_code == USAGE


def test_a_coroutine_that_exits_fails_its_case_and_no_other(tmp_path: Path) -> None:
    source = """
import asyncio, sys

async def leave():
    sys.exit(3)

async def run(case):
    if case.id == "leaves":
        sys.exit(3)
    if case.id == "task":
        task = asyncio.ensure_future(leave())
        await asyncio.wait([task])
        task.exception()
        return "left alone"
    return "stays"
"""
    with opened("python", tmp_path, source, "run") as target:
        leaves = target.call(case(id="leaves"), trace_id="a", timeout=60)
        task = target.call(case(id="task"), trace_id="b", timeout=60)
        stays = target.call(case(id="stays"), trace_id="c", timeout=60)
    assert "SystemExit: 3" in error_of(leaves)
    assert (task.answer, stays.answer) == ("left alone", "stays")


# -- what runs before the first case --------------------------------------------------

HOOKS = """
ready = []


def run(case):
    return f"ready {len(ready)}"


def warm_up():
    ready.append(1)


async def warm_up_slowly():
    ready.extend([1, 2])


def cold():
    raise OSError("no database")


NOT_CALLABLE = 3
"""


def test_warm_up_runs_once_before_the_first_case(tmp_path: Path) -> None:
    with agent_module(tmp_path, HOOKS) as module:
        for name, count in (("warm_up", 1), ("warm_up_slowly", 3)):
            options = TargetOptions({"warm_up": f"{module}:{name}"})
            target = open_target(f"python:{module}:run", root=tmp_path, options=options)
            for _ in range(2):
                trace = target.call(case(), trace_id="t", timeout=60)
                assert trace.answer == f"ready {count}"


def test_hooks_are_found_by_name_in_the_suites_own_module(tmp_path: Path) -> None:
    with agent_module(tmp_path, HOOKS) as module:
        options = TargetOptions(hooks=module)
        target = open_target(f"python:{module}:run", root=tmp_path, options=options)
        assert target.call(case(), trace_id="t", timeout=60).answer == "ready 1"


@pytest.mark.parametrize(
    ("hook", "code", "said"),
    [
        ("cold", CANT_CARRY_OUT, "no database"),
        ("NOT_CALLABLE", USAGE, "can't be called"),
        ("nothing", USAGE, "has no nothing"),
    ],
)
def test_a_warm_up_that_fails_stops_the_run_before_the_first_case(
    tmp_path: Path, hook: str, code: int, said: str
) -> None:
    with agent_module(tmp_path, HOOKS) as module:
        options = TargetOptions({"warm_up": f"{module}:{hook}"})
        with pytest.raises(Refusal, match=said) as refused:
            open_target(f"python:{module}:run", root=tmp_path, options=options)
    assert refused.value.exit_code == code
