"""The example's generated suite over an agent that changes its mind, and the judge too."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from support.command_line import helix_gen
from support.judge_server import judge_server
from support.wires import CHAT, Asked, Weather, verdict_text

ROOT = Path(__file__).resolve().parents[2]
AGENT = """\
from threading import Lock

from returns_desk.agent import answer as steady

SEEN, LOCK = {}, Lock()


def answer(case):
    with LOCK:
        number = SEEN[case.id] = SEEN.get(case.id, -1) + 1
    found = steady(case)
    if "R-1003" in case.query and number == 3:
        found["output"]["decision"] = "later"
    return found
"""
DECISION = re.compile(r"decision[^a-z]+(return|refuse|hold|ask|later)[^a-z]")
JUDGE = """
[judge]
provider = "openai-http"
model = "judge-2026-01-01"
base_url = "{url}"
"""


def test_a_generated_suite_tells_which_cases_flap_and_by_whom(tmp_path: Path) -> None:
    spec = ROOT / "examples/returns_desk/agentspec.yaml"
    suite = tmp_path / "suite"
    done = helix_gen("suite", str(spec), "-o", str(suite), "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "flapping.py").write_text(AGENT, "utf-8")
    asked: Counter[str] = Counter()

    def answer(request: Asked) -> Weather:
        number = asked[request.user]
        asked[request.user] += 1
        decision = DECISION.findall(request.user)[-1]
        wavers = "Return the poster" in request.user and number in (6, 8)
        ref = {"obs": "output", "path": "decision", "value": decision}
        text = verdict_text("fail" if wavers else "pass", refs=[ref])
        return CHAT.answer(text, model="judge-2026-01-01")

    with judge_server() as server:
        server.answer = answer
        settings = (suite / "evals.toml").read_text("utf-8").split("[judge]")[0]
        settings = settings.removesuffix("# ") + JUDGE.format(url=server.base_url)
        (suite / "evals.toml").write_text(settings, "utf-8")
        run = subprocess.run(
            [
                *(sys.executable, "-S", str(suite), "stability"),
                *("--target", "python:flapping:answer"),
                *("--criteria", "known-decision", "explains-decision"),
            ],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'examples'}",
                "PYTHONIOENCODING": "utf-8",
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert run.returncode == 1, run.stderr
    text = run.stdout
    assert "flaps   chair-too-late (24a0ad9f…): 4 of 5 runs pass" in text
    assert re.search(
        r"flaps   poster-changed-mind \(\w+…\): the judge says 2 fail, 3 pass", text
    )
    assert "judge   5 of 6 runs stable, 1 flapping" in text
    assert "subject 5 of 6 cases stable, 1 flapping" in text
