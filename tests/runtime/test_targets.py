"""Every way to reach the subject, and every way in which it can misbehave."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.refusal import Refusal
from helix_runtime.targets import (
    MAX_OUTPUT,
    Target,
    TargetNotWritten,
    TargetUnreachable,
    open_target,
)
from helix_runtime.targets.command_target import CommandTarget
from helix_runtime.trace import Trace

CASE = Case(
    id="case-1",
    query="Where is order 4711?",
    dimensions={"origin": "seed"},
    expected={"response": "secret"},
    expected_behavior="It says where.",
    input={"order": 4711},
)


def error_of(trace: Trace) -> str:
    assert trace.status == "error"
    assert trace.answer is None
    error: str = trace.ext["helix"]["error"]
    return error


# -- python: ---------------------------------------------------------------------


@pytest.fixture
def module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], str]]:
    """Write a module and give back its name; it is forgotten after the test."""
    before = list(sys.path)
    names: list[str] = []

    def write(source: str) -> str:
        name = f"agent_{tmp_path.name}_{len(names)}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(source, "utf-8")
        names.append(name)
        return name

    yield write
    sys.path[:] = before
    for name in names:
        sys.modules.pop(name, None)


def python(root: Path, module: Callable[[str], str], source: str, path: str) -> Target:
    return open_target(f"python:{module(source)}:{path}", root=root)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("def run(case): return 'to ' + case.query[-5:]", "run"),
        ("async def run(case): return 'to ' + case.query[-5:]", "run"),
        (
            "class Agent:\n"
            "    def __call__(self, case): return 'to ' + case.query[-5:]\n"
            "agent = Agent()",
            "agent",
        ),
        (
            "class Agent:\n"
            "    async def __call__(self, case): return 'to ' + case.query[-5:]",
            "Agent",
        ),
        (
            "class Agent:\n"
            "    def answer(self, case): return 'to ' + case.query[-5:]\n"
            "agent = Agent()",
            "agent.answer",
        ),
        (
            "from functools import partial\n"
            "async def ask(word, case): return word + case.query[-5:]\n"
            "run = partial(ask, 'to ')",
            "run",
        ),
        (
            "import functools\n"
            "async def ask(case): return 'to ' + case.query[-5:]\n"
            "@functools.wraps(ask)\n"
            "def run(case): return ask(case)",
            "run",
        ),
    ],
)
def test_whatever_can_be_called_with_a_case_is_a_target(
    tmp_path: Path, module: Callable[[str], str], source: str, path: str
) -> None:
    target = python(tmp_path, module, source, path)
    trace = target.call(CASE, trace_id="t", timeout=30)
    assert (trace.id, trace.answer, trace.prompt) == ("t", "to 4711?", CASE.query)
    assert trace.observed == {"output"}
    target.close()


def test_data_with_tool_calls_is_an_answer_and_its_calls(
    tmp_path: Path, module: Callable[[str], str]
) -> None:
    source = """
def run(case):
    return {
        "output": {"status": "sent"},
        "tool_calls": [
            {"name": "find", "arguments": {"id": 4711}, "result": {"at": "sea"}},
            {"name": "find", "arguments": {"id": 1}, "error": "unknown"},
            {"name": "log", "arguments": {}},
        ],
    }
"""
    target = python(tmp_path, module, source, "run")
    trace = target.call(CASE, trace_id="t", timeout=30)
    assert trace.output == {"status": "sent"}
    assert [(c.name, c.result, c.answered, c.error) for c in trace.tool_calls] == [
        ("find", {"at": "sea"}, True, False),
        ("find", "unknown", True, True),
        ("log", None, False, False),
    ]
    assert trace.observed == {"output", "tools"}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def run(case): raise ValueError('no \\x1b[31m luck')", "ValueError: no"),
        ("def run(case): raise SystemExit(3)", "SystemExit: 3"),
        ("def run(case): return {1, 2}", "not JSON data (set"),
        ("def run(case): return object()", "not JSON data (object"),
        ("def run(case): return b'bytes'", "not JSON data (bytes"),
        ("def run(case):\n    a = []\n    a.append(a)\n    return a", "JSON data"),
        ("def run(case): return None", "returned nothing"),
        (f"def run(case): return 'x' * {MAX_OUTPUT + 1}", "more than"),
        ("def run(case): return {'output': 'x', 'tool_calls': 'y'}", "no list"),
        ("def run(case): return {'output': 'x', 'tool_calls': [{}]}", "without a name"),
        (
            "def run(case): return {'output': 'x', "
            "'tool_calls': [{'name': 'a', 'args': 1}]}",
            "unknown keys: args",
        ),
        ("async def run(case): raise ValueError('no luck')", "ValueError: no luck"),
        ("async def run(case): raise TimeoutError('theirs')", "TimeoutError: theirs"),
    ],
)
def test_a_subject_that_fails_fails_its_case_and_not_the_run(
    tmp_path: Path, module: Callable[[str], str], source: str, said: str
) -> None:
    target = python(tmp_path, module, source, "run")
    trace = target.call(CASE, trace_id="t", timeout=30)
    assert said in error_of(trace)
    assert trace.incomplete is not None and said in trace.incomplete
    target.close()


def test_a_crash_names_the_line_of_the_subject_that_broke(
    tmp_path: Path, module: Callable[[str], str]
) -> None:
    source = "def run(case):\n    return helper()\n\ndef helper():\n    return 1 / 0\n"
    target = python(tmp_path, module, source, "run")
    error = error_of(target.call(CASE, trace_id="t", timeout=30))
    assert error.endswith(".py:5: ZeroDivisionError: division by zero")


def test_a_coroutine_that_takes_too_long_is_cancelled(
    tmp_path: Path, module: Callable[[str], str]
) -> None:
    source = """
import asyncio
seen = []
async def run(case):
    try:
        await asyncio.Event().wait()
    finally:
        seen.append("cancelled")
"""
    target = python(tmp_path, module, source, "run")
    trace = target.call(CASE, trace_id="t", timeout=0.05)
    assert error_of(trace) == "timed out after 0.05 s"
    target.close()
    name = target.name.split(":")[1]
    assert sys.modules[name].seen == ["cancelled"]


def test_a_trace_of_the_subject_is_taken_over_under_our_id(
    tmp_path: Path, module: Callable[[str], str]
) -> None:
    source = """
from helix_runtime.trace import Span, Trace
shared = Trace(id="theirs", spans=(Span(id="a", name="a", kind="llm", output="Hi."),))
def run(case): return shared
"""
    target = python(tmp_path, module, source, "run")
    trace = target.call(CASE, trace_id="t", timeout=30)
    assert (trace.id, trace.answer) == ("t", "Hi.")
    assert "tools" in trace.observed
    assert sys.modules[target.name.split(":")[1]].shared is not trace


def test_a_trace_that_is_none_is_the_subjects_fault(
    tmp_path: Path, module: Callable[[str], str]
) -> None:
    source = """
from helix_runtime.trace import Trace
def run(case): return Trace(id="x", spans=("no span",))
"""
    target = python(tmp_path, module, source, "run")
    assert "a trace of" in error_of(target.call(CASE, trace_id="t", timeout=30))


def test_a_target_may_say_that_it_is_not_written_or_not_there(
    tmp_path: Path, module: Callable[[str], str]
) -> None:
    source = """
from helix_runtime.targets import TargetNotWritten, TargetUnreachable
def unwritten(case): raise TargetNotWritten
async def unreachable(case): raise TargetUnreachable("no route")
"""
    with pytest.raises(TargetNotWritten):
        python(tmp_path, module, source, "unwritten").call(
            CASE, trace_id="t", timeout=30
        )
    target = python(tmp_path, module, source, "unreachable")
    with pytest.raises(TargetUnreachable, match="no route"):
        target.call(CASE, trace_id="t", timeout=30)
    target.close()


@pytest.mark.parametrize("name", ["beside_it.py", "beside_it/__init__.py"])
def test_an_agent_beside_the_suite_is_told_how_to_be_found(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    root = tmp_path / "desk-evals"
    root.mkdir()
    agent = tmp_path / name
    agent.parent.mkdir(exist_ok=True)
    agent.write_text("import no_such_thing_inside\n", encoding="utf-8")
    with pytest.raises(Refusal) as refusal:
        open_target("python:beside_it:x", root=root)
    assert f"set PYTHONPATH={tmp_path}" in str(refusal.value)
    with pytest.raises(Refusal) as refusal:
        open_target("python:not_here_at_all:x", root=root)
    assert "it is looked for in" in str(refusal.value)
    assert "PYTHONPATH=" not in str(refusal.value)
    # What the agent itself imports is another matter.
    with pytest.raises(Refusal) as refusal:
        open_target("python:beside_it:x", root=tmp_path)
    assert "no_such_thing_inside" in str(refusal.value)
    assert "it is looked for in" not in str(refusal.value)


@pytest.mark.parametrize(
    ("ref", "code", "said"),
    [
        ("python:", 2, "must read python:MODULE:CALLABLE"),
        ("python:json", 2, "must read python:MODULE:CALLABLE"),
        ("python:no_such_module_here:x", 2, "can't be imported"),
        ("python:json:nothing", 2, "json has no nothing"),
        ("python:json:__name__", 2, "of the type str, which can't be called"),
        ("python:pathlib:PurePath.match.x", 2, "pathlib has no"),
        ("command:", 2, "names no program"),
        ("command:'unclosed", 2, "can't be split"),
        ("command:no-such-program-at-all --x", 4, "no program"),
        ("command:./not-here", 4, "no program"),
        ("http:localhost", 2, "must read http:URL"),
        ("pydantic-ai:agent", 2, "must read pydantic-ai:MODULE:AGENT"),
        ("langgraph:no_such_module_here:graph", 2, "can't be imported"),
        ("openai-agents:no_such_module_here:agent", 2, "can't be imported"),
        ("agent.py", 2, "none that can be reached"),
        ("", 2, "none that can be reached"),
    ],
)
def test_a_ref_that_leads_nowhere_is_refused_with_what_is_supported(
    tmp_path: Path, ref: str, code: int, said: str
) -> None:
    with pytest.raises(Refusal, match=".") as caught:
        open_target(ref, root=tmp_path)
    assert said in str(caught.value)
    assert caught.value.exit_code == code


# -- command: --------------------------------------------------------------------


def program(root: Path, source: str) -> Target:
    (root / "agent.py").write_text(source, "utf-8")
    return CommandTarget("command:agent", [sys.executable, "agent.py"], folder=root)


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("print(' The answer. ')", "The answer."),
        ("print('a\\nb')", "a\nb"),
        ("print('\"quoted\"')", "quoted"),
        ("print('{\"a\": [1, null]}')", {"a": [1, None]}),
        ("print('{not json')", "{not json"),
        ("print('42')", "42"),
        ("import sys; sys.stdin.close(); print('deaf')", "deaf"),
        ("import sys; print('noise', file=sys.stderr); print('x')", "x"),
    ],
)
def test_what_a_program_prints_is_its_answer(
    tmp_path: Path, source: str, answer: Any
) -> None:
    trace = program(tmp_path, source).call(CASE, trace_id="t", timeout=60)
    assert trace.status == "ok"
    assert trace.output == answer


def test_a_program_reads_the_case_without_what_it_should_answer(
    tmp_path: Path,
) -> None:
    target = program(tmp_path, "import sys; print(sys.stdin.read())")
    trace = target.call(CASE, trace_id="t", timeout=60)
    assert trace.output == {
        "id": "case-1",
        "query": "Where is order 4711?",
        "tuple": {"origin": "seed"},
        "input": {"order": 4711},
    }


def test_a_program_may_print_a_whole_trace(tmp_path: Path) -> None:
    record = {
        "traceId": "theirs",
        "status": "ok",
        "spans": [
            {"kind": "tool", "name": "find", "input": {"id": 1}, "output": "sea"},
            {"kind": "llm", "role": "assistant", "output": "At sea."},
        ],
    }
    target = program(tmp_path, f"print({json.dumps(json.dumps(record))})")
    trace = target.call(CASE, trace_id="t", timeout=60)
    assert (trace.id, trace.answer) == ("t", "At sea.")
    assert [call.name for call in trace.tool_calls] == ["find"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "import sys; print('it broke', file=sys.stderr); sys.exit(3)",
            "the program ended with exit code 3; stderr: it broke",
        ),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
        (
            "import sys; sys.stdout.buffer.write(b'caf\\xe9')",
            "not UTF-8 (unexpected end of data), at byte 3",
        ),
        (
            "import sys\nwhile True: sys.stdout.write('x' * 65536)",
            f"printed more than {MAX_OUTPUT} bytes",
        ),
        (
            "import sys\nsys.stderr.write('e' * 10_000_000 + 'end'); sys.exit(1)",
            "eeeend",
        ),
        ('print(\'{"traceId": "", "spans": []}\')', "a trace that can't be read"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_program_that_fails_says_how_with_its_last_words(
    tmp_path: Path, source: str, said: str
) -> None:
    trace = program(tmp_path, source).call(CASE, trace_id="t", timeout=60)
    error = error_of(trace)
    assert said in error
    assert len(error) < 5000


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_a_program_that_hangs_dies_with_its_children(tmp_path: Path) -> None:
    source = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child", "w").write(str(child.pid))
print("partial", flush=True)
print("stuck", file=sys.stderr, flush=True)
time.sleep(600)
"""
    target = program(tmp_path, source)
    trace = target.call(CASE, trace_id="t", timeout=2)
    assert error_of(trace) == "timed out after 2 s; stderr: stuck"
    assert ends(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_a_child_that_keeps_the_pipes_does_not_hold_the_run(tmp_path: Path) -> None:
    source = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child", "w").write(str(child.pid))
print("done")
"""
    trace = program(tmp_path, source).call(CASE, trace_id="t", timeout=60)
    assert trace.answer == "done"
    assert ends(int((tmp_path / "child").read_text()))


def test_a_program_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    target = CommandTarget("command:x", [str(tmp_path / "gone")], folder=tmp_path)
    with pytest.raises(TargetUnreachable, match="can't be started"):
        target.call(CASE, trace_id="t", timeout=1)


def ends(pid: int) -> bool:
    """Whether a process that was killed is gone; the kernel takes a moment."""
    patience = monotonic() + 60
    while monotonic() < patience:
        if not is_running(pid):
            return True
    return False


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
