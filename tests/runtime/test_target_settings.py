"""`[target]` in evals.toml, and runs of whole suites that it directs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.refusal import Refusal
from helix_runtime.settings import settings_from
from helix_runtime.targets.options import options_of
from support.agent_server import Asked, Says, agent_server
from support.live_suite import live_suite, rows


def test_a_text_and_a_table_name_the_target() -> None:
    assert settings_from({"target": "python:a:b"}).target == "python:a:b"
    table = {"ref": "http:https://host/x", "preset": "openai-chat", "model": "m"}
    settings = settings_from({"target": table})
    assert settings.target == table["ref"]
    assert dict(settings.target_table) == table


@pytest.mark.parametrize(
    ("table", "faults"),
    [
        ({}, ["`target.ref` is missing"]),
        ({"ref": 3}, ["`target.ref` must be a text"]),
        ({"ref": "python:a:b", "prest": "x"}, ["`target.prest` is no setting"]),
        (
            {"ref": "python:a:b", "preset": "mastra"},
            ["`target.preset` is not for python: targets, only for http:"],
        ),
        ({"ref": "http:http://h", "preset": "soap"}, ["one of openai-chat, mastra, a"]),
        (
            {"ref": "http:http://h", "preset": "openai-chat"},
            ["`target.model` is missi"],
        ),
        (
            {"ref": "http:http://h", "preset": "a2a", "request": {}},
            ["stands beside `preset`"],
        ),
        ({"ref": "http:http://h", "model": "m"}, ['belongs to preset "openai-chat"']),
        ({"ref": "http:http://h", "version": "1.0"}, ['belongs to preset "a2a"']),
        ({"ref": "http:http://h", "body": {}}, ["adds to a preset"]),
        (
            {"ref": "http:http://h", "headers": {"Authorization": "Bearer abc"}},
            ["`target.headers.Authorization` can hold a secret"],
        ),
        (
            {"ref": "http:http://h", "headers": {"X-Api-Key": {"prefix": ""}}},
            ["must name a variable of the environment"],
        ),
        ({"ref": "http:http://h", "headers": {"X:Y": "a"}}, ["is no name of a header"]),
        (
            {"ref": "http:http://h", "response": {"outptu": "a"}},
            ["`target.response.outptu` is no setting (did you mean 'output'?)"],
        ),
        (
            {"ref": "http:http://h", "response": {"tool_calls": "a"}},
            ["needs `tool_calls` and `call`"],
        ),
        (
            {"ref": "http:http://h", "response": {"tool_calls": "a", "call": {}}},
            ["`target.response.call.name` is missing"],
        ),
        (
            {"ref": "http:http://h", "request": {"method": "TRACE"}},
            ["one of GET, POST"],
        ),
        (
            {"ref": "python:a:b", "concurrency": 0, "max_turns": True, "observes": []},
            ["target.concurrency", "target.max_turns", "target.observes"],
        ),
    ],
)
def test_every_fault_of_the_table_is_said_at_once_with_its_key(
    table: dict[str, Any], faults: list[str]
) -> None:
    with pytest.raises(Refusal) as refused:
        settings_from({"target": table, "concurrency": 0})
    said = str(refused.value)
    assert "evals.toml: `concurrency`" in said
    for fault in faults:
        assert fault in said


def test_the_command_line_keeps_what_fits_its_kind() -> None:
    table = {
        "ref": "http:https://host/x",
        "preset": "mastra",
        "max_turns": 3,
        "user": "m:user",
    }
    other = options_of("http:http://localhost:1/x", table)
    assert other.table == {"preset": "mastra", "max_turns": 3, "user": "m:user"}
    assert options_of("https://host/y", table).table["preset"] == "mastra"
    program = options_of("command:x", table)
    assert program.table == {"max_turns": 3, "user": "m:user"}


def test_a_run_reaches_a_server_as_the_table_says(tmp_path: Path) -> None:
    cases = rows(6)
    expected = {row["query"]: row["expected"] for row in cases}

    def answer(asked: Asked) -> Says:
        return Says({"said": {"text": expected[asked.body["q"]]}})

    with agent_server(answer) as server:
        settings = f"""
[target]
ref = "http:{server.url}/ask"
headers = {{ Authorization = {{ env = "DESK_LOGIN", prefix = "Bearer " }} }}

[target.request]
body = {{ q = "{{query}}" }}

[target.response]
output = "said.text"
"""
        suite = live_suite(tmp_path, cases=cases, settings=settings)
        env = {"DESK_LOGIN": "open-sesame-123"}
        done = suite.run("run", "--out", "runs/a", env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        missing = suite.run("run", "--out", "runs/b")
    assert suite.counts("a", "exact") == {"pass": 6}
    assert {a.headers["authorization"] for a in server.asked} == {
        "Bearer open-sesame-123"
    }
    assert missing.returncode == 4 and "set DESK_LOGIN" in missing.stderr
    for path in (tmp_path / "runs").rglob("*"):
        if path.is_file():
            assert b"open-sesame" not in path.read_bytes(), path
    gone = suite.run("run", "--out", "runs/c", env=env)
    assert gone.returncode == 4 and "can't be reached" in gone.stderr
    assert "Traceback" not in gone.stderr


TALKING = """
seen = []


def target(case, messages):
    said = "It is " + case.query[8:-1] + "."
    return said if messages[-1]["content"] == "Please" else "Go on."


def user_simulator(case, messages):
    return "Please" if len(messages) < 3 else None


def warm_up():
    print("warm")
"""


def test_target_py_may_hold_the_simulator_and_the_warm_up(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=TALKING)
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("warm\n") == 1
    traces = suite.lines("a", "traces.jsonl")
    roles = [[span["role"] for span in trace["spans"]] for trace in traces]
    assert roles == [["user", "assistant", "user", "assistant"]] * 3


CROWDED = """
import threading

inside = 0
most = 0
lock = threading.Lock()
together = threading.Barrier(2)


def target(case):
    global inside, most
    with lock:
        inside += 1
        most = max(most, inside)
    together.wait(30)
    with lock:
        inside -= 1
    said = "It is " + case.query[8:-1] + "."
    return said if most <= 2 else f"{most} at once"
"""


def test_the_subject_is_called_only_so_many_times_at_once(tmp_path: Path) -> None:
    settings = """
concurrency = 6

[target]
ref = "python:desk_evals.target:target"
concurrency = 2
"""
    suite = live_suite(tmp_path, cases=rows(12), target=CROWDED, settings=settings)
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 0, done.stdout + done.stderr


HANGING = """
import threading


def target(case):
    if case.id == "case-0000":
        threading.Event().wait()
    return "It is " + case.query[8:-1] + "."
"""


def test_waiting_for_ones_turn_is_not_being_slow(tmp_path: Path) -> None:
    settings = """
concurrency = 4
timeout = 1

[target]
ref = "python:desk_evals.target:target"
concurrency = 1
"""
    suite = live_suite(tmp_path, cases=rows(5), target=HANGING, settings=settings)
    suite.run("run", "--out", "runs/a")
    traces = suite.lines("a", "traces.jsonl")
    status = {trace["traceId"]: trace["status"] for trace in traces}
    assert [status[f"case-{n:04d}-r0"] for n in range(5)] == ["error"] + ["ok"] * 4


def test_a_program_may_be_named_by_a_table_too(tmp_path: Path) -> None:
    source = "import json, sys; print('It is ' + json.load(sys.stdin)['id'][-1] + '.')"
    settings = f"[target]\nref = {json.dumps(f'command:{sys.executable} agent.py')}\n"
    suite = live_suite(tmp_path, cases=rows(2), settings=settings)
    suite.write("agent.py", source)
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 0, done.stdout + done.stderr
