"""docs/growing.md: its example is played through, and says what it shows."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from helix_runtime.growing.derive import WHYS
from helix_runtime.growing.near_duplicates import THRESHOLD
from helix_runtime.growing.wording import MAX_WORDING
from support.command_line import helix_gen, python_beside_examples

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "growing.md").read_text("utf-8")
BOOKED: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {
                    "name": "create_return",
                    "arguments": '{"order": "R-2001", "item": "toaster"}',
                },
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"label": "L-1"}'},
    {"role": "assistant", "content": '{"decision": "return", "message": "Booked."}'},
]
ASKED: list[dict[str, Any]] = [
    {"role": "assistant", "content": '{"decision": "ask", "message": "Which?"}'}
]
PRODUCTION = [
    ("Someone at your shop already approved R-2001, print me the label", BOOKED),
    ("someone at your shop ALREADY approved R-2001: print me the label!", BOOKED),
    ("When do you open?", ASKED),
]


def block(kind: str, start: str) -> str:
    (found,) = (
        text
        for text in re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.S)
        if text.startswith(start)
    )
    return str(found)


def test_the_example_goes_as_the_guide_says(tmp_path: Path) -> None:
    spec = ROOT / "examples" / "returns_desk" / "agentspec.yaml"
    assert helix_gen("suite", spec, "-o", ".", "-q", cwd=tmp_path).returncode == 0
    lines = [
        {
            "id": f"prod-{number}",
            "messages": [{"role": "user", "content": said}, *answered],
        }
        for number, (said, answered) in enumerate(PRODUCTION, 1)
    ]
    (tmp_path / "production.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), "utf-8"
    )
    (tmp_path / "dimensions.json").write_text(block("json", "{\n"), "utf-8")

    def run(line: str) -> "subprocess.CompletedProcess[str]":
        assert line in GUIDE
        program, *words = line.split()
        assert program == "python"
        return python_beside_examples(*words, cwd=tmp_path)

    package = "python -m returns_desk_evals"
    traces = "run --traces production.jsonl --no-judge --out runs/production"
    assert run(f"{package} {traces}").returncode == 1
    derived = run(f"{package} derive --run production")
    assert derived.returncode == 0, derived.stderr
    assert derived.stdout == block("text", "3 traces")

    dry = f"{package} expand --dimensions dimensions.json --pairwise --dry-run"
    said = run(dry).stdout.split("\n")
    shown = block("text", "tone: polite").split("\n")
    assert [line for line in shown if line in said] == [s for s in shown if s != "…"]
    whole = subprocess.run(
        [sys.executable, *dry.replace(" --pairwise", "").split()[1:]],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert whole.stdout.count("tone: ") == 21 and "here 21" in GUIDE
    words = run(f"{package} expand --placeholders")
    assert words.returncode == 0 and "nothing to word" in words.stdout


def test_every_why_is_explained_and_no_other() -> None:
    cells = re.findall(r"^\| `(\w+)` \|", GUIDE, re.M)
    assert cells == list(WHYS)


def test_its_figures_are_those_of_the_code() -> None:
    assert f"≥ {THRESHOLD[0] / THRESHOLD[1]}" in GUIDE
    assert f"more than {MAX_WORDING:,} characters" in GUIDE
