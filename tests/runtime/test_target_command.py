"""Programs that misbehave in earnest, and programs that converse."""

import json
import sys
import threading
from pathlib import Path

import pytest
from helix_runtime.targets import MAX_OUTPUT, Target
from helix_runtime.targets.command_target import CommandTarget
from helix_runtime.trace import Trace
from support.target_modules import calls_of, case, error_of, says

posix = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def program(root: Path, source: str) -> Target:
    (root / "agent.py").write_text(source, "utf-8")
    return CommandTarget("command:agent", [sys.executable, "agent.py"], folder=root)


def run(root: Path, source: str, *, timeout: float = 60) -> Trace:
    return program(root, source).call(case(), trace_id="t", timeout=timeout)


def test_an_answer_of_100_mb_is_cut_off_with_a_clear_error(tmp_path: Path) -> None:
    trace = run(
        tmp_path,
        "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)\n",
    )
    assert error_of(trace).startswith(f"the program printed more than {MAX_OUTPUT} b")
    assert sum(len(str(span.output)) for span in trace.spans) < 1000


def test_a_flood_on_stderr_is_kept_in_part_and_holds_nothing_up(tmp_path: Path) -> None:
    source = """
import sys
for number in range(100_000):
    print(f"line {number} " + "e" * 100, file=sys.stderr)
print("last words", file=sys.stderr)
sys.exit(3)
"""
    error = error_of(run(tmp_path, source))
    assert error.startswith("the program ended with exit code 3; stderr: ")
    assert error.endswith("last words") and len(error) < 5000


def test_a_flood_on_stderr_does_not_spoil_the_answer(tmp_path: Path) -> None:
    source = "import sys\nsys.stderr.write('e' * 50_000_000)\nprint('At sea.')\n"
    assert run(tmp_path, source).answer == "At sea."


@pytest.mark.parametrize(
    "data", [b"\\xff\\xfe", b'{\\"a\\": \\"caf\\xe9\\"}', b"\\xed\\xa0\\x80"]
)
def test_invalid_utf_8_is_the_subjects_failure_with_its_place(
    tmp_path: Path, data: bytes
) -> None:
    source = f'import sys\nsys.stdout.buffer.write(b"{data.decode()}")\n'
    assert "is not UTF-8" in error_of(run(tmp_path, source))


def test_invalid_utf_8_on_stderr_is_shown_escaped(tmp_path: Path) -> None:
    source = "import sys\nsys.stderr.buffer.write(b'\\xff broke')\nsys.exit(1)\n"
    assert error_of(run(tmp_path, source)).endswith("\\xff broke")


GRANDCHILD = """
import os, subprocess, sys, time
code = "import os, time; open('{name}', 'w').write(str(os.getpid())); time.sleep(600)"
middle = (
    "import subprocess, sys, time; "
    "subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True, "
    "stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
    "time.sleep(600)"
)
subprocess.Popen([sys.executable, "-c", middle.format(code=code.format(name="pid"))])
while not (os.path.exists("pid") and open("pid").read()):
    time.sleep(0.01)
print("ready", file=sys.stderr, flush=True)
time.sleep(600)
"""


@linux
def test_a_program_that_hangs_dies_with_grandchildren_of_other_sessions(
    tmp_path: Path,
) -> None:
    trace = run(tmp_path, GRANDCHILD, timeout=5)
    assert error_of(trace) == "timed out after 5 s; stderr: ready"
    killed = int((tmp_path / "pid").read_text())
    waited = threading.Event()
    for _ in range(1000):  # the signal is sent; the kernel takes a moment to obey
        if not _runs(killed):
            break
        waited.wait(0.01)
    assert not _runs(killed)


@posix
def test_closing_the_target_kills_what_still_runs(tmp_path: Path) -> None:
    source = "import time\nopen('up', 'w').close()\ntime.sleep(600)\n"
    target = program(tmp_path, source)
    found: list[Trace] = []
    thread = threading.Thread(
        target=lambda: found.append(target.call(case(), trace_id="t", timeout=60))
    )
    thread.start()
    waited = threading.Event()
    while not (tmp_path / "up").exists():
        waited.wait(0.01)
    target.close()
    thread.join(30)
    assert "killed by signal 9" in error_of(found[0])


TALKER = """
import json, sys
row = json.load(sys.stdin)
heard = [m["content"] for m in row["messages"] if m["role"] == "user"]
call = {"name": "hear", "arguments": {"n": len(heard)}, "result": None}
print(json.dumps({"output": f"{row['query']} of {len(heard)}", "tool_calls": [call]}))
"""


def test_a_program_is_started_for_each_turn_with_the_conversation_so_far(
    tmp_path: Path,
) -> None:
    target = program(tmp_path, TALKER)
    script = case(input={"turns": ["One", "Two"]})
    trace = target.call(script, trace_id="t", timeout=60)
    assert says(trace) == [
        ("user", "One"),
        ("assistant", "One of 1"),
        ("user", "Two"),
        ("assistant", "Two of 2"),
    ]
    assert calls_of(trace) == [
        ("hear", {"n": 1}, None, False),
        ("hear", {"n": 2}, None, False),
    ]


def test_a_program_that_breaks_in_a_turn_keeps_the_turns_before(tmp_path: Path) -> None:
    source = """
import json, sys
row = json.load(sys.stdin)
if len(row["messages"]) > 1:
    sys.exit("no more")
print("fine")
"""
    target = program(tmp_path, source)
    script = case(input={"turns": ["One", "Two"]})
    trace = target.call(script, trace_id="t", timeout=60)
    assert error_of(trace) == "the program ended with exit code 1; stderr: no more"
    assert says(trace)[:2] == [("user", "One"), ("assistant", "fine")]


def test_a_case_with_a_lone_surrogate_still_reaches_the_program(tmp_path: Path) -> None:
    target = program(tmp_path, "import sys; print(len(sys.stdin.buffer.read()) > 9)")
    trace = target.call(case("half \ud800"), trace_id="t", timeout=60)
    assert trace.answer == "True"
    assert json.dumps(trace.prompt)


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
