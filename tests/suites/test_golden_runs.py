"""The golden suites at work, each in an interpreter that has the standard library alone."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from helix_gen.emit.plan import needs_target
from support.golden import GOLDENS, Written

NAMES = [golden.name for golden in GOLDENS]
GATE = {0: "pass", 1: "fail", 3: "incomplete"}

STAND_IN = '''\
"""A subject that answers every question in the same way."""


def answer(case):
    return {
        "output": f"I have looked it up: {case.query}",
        "tool_calls": [
            {"name": "catalogue.find", "arguments": {"q": case.query}, "result": []}
        ],
    }
'''


@pytest.fixture
def moved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the named suite, in a folder whose path has a space and a script."""
    suites: dict[str, Written] = request.getfixturevalue("written")
    to = tmp_path / "moved dir 文" / "renamed"
    shutil.copytree(suites[request.param].root, to)
    return to


def bare(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in an interpreter without site-packages."""
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-s", "-B", *words],
        cwd=root,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def package_of(root: Path) -> str:
    """The import name of the suite in a folder."""
    (found,) = root.glob("*/_runtime")
    return found.parent.name


def scorecard_of(root: Path) -> dict[str, object]:
    """The scorecard of the only run."""
    (path,) = root.glob("runs/*/scorecard.json")
    card: dict[str, object] = json.loads(path.read_text("utf-8"))
    return card


@pytest.mark.parametrize("moved", NAMES, indirect=True)
def test_help_and_cases_run_however_the_suite_is_started(moved: Path) -> None:
    package = package_of(moved)
    rows = (moved / "dataset.jsonl").read_text("utf-8").split("\n")[:-1]
    for start in (["-m", package], [package], ["."], [str(moved)]):
        shown = bare(moved, *start, "--help")
        assert shown.returncode == 0 and "aggregate" in shown.stdout, shown.stderr
        listed = bare(moved, *start, "cases", "--json")
        assert listed.returncode == 0, listed.stderr
        ids = [json.loads(line)["id"] for line in listed.stdout.split("\n") if line]
        assert ids == [json.loads(row)["id"] for row in rows]


@pytest.mark.parametrize("moved", NAMES, indirect=True)
def test_a_run_decides_what_code_can_decide(moved: Path) -> None:
    package = package_of(moved)
    (moved / "stand_in.py").write_text(STAND_IN, "utf-8")
    native = "target" not in tomllib.loads((moved / "evals.toml").read_text("utf-8"))
    given = ["--target", "python:stand_in:answer"]
    if native:
        given = ["--traces", str(_trace(moved))]
    done = bare(moved, "-m", package, "run", "--no-judge", *given)
    assert done.returncode in GATE, done.stdout + done.stderr
    card = scorecard_of(moved)
    gate = card["gate"]
    assert isinstance(gate, dict) and gate["verdict"] == GATE[done.returncode]
    criteria = card["criteria"]
    assert isinstance(criteria, list)
    matrix = json.loads((moved / "matrix" / "criteria.json").read_text("utf-8"))
    assert {each["criterionId"] for each in criteria} == {
        each["criterionId"] for each in matrix["criteria"]
    }
    for each in criteria:
        if each["class"] == "judge":
            assert each["verdict"] == "indeterminate"


@pytest.mark.parametrize("moved", NAMES, indirect=True)
def test_packets_are_written_and_missing_verdicts_stop_the_roll_up(moved: Path) -> None:
    package = package_of(moved)
    traces = str(_trace(moved))
    done = bare(moved, "-m", package, "prep", "--traces", traces, "--model", "m-1")
    assert done.returncode == 0, done.stderr
    packets = list((moved / "matrix" / "packets").glob("*.packet.json"))
    assert len(packets) == 1
    done = bare(moved, "-m", package, "aggregate")
    assert done.returncode == 3
    assert "missing" in (done.stdout + done.stderr).lower()


def _trace(root: Path) -> Path:
    """A recorded run of the suite's first case."""
    row = json.loads((root / "dataset.jsonl").read_bytes().split(b"\n")[0])
    spans = [
        {"spanId": "s1", "name": "user", "kind": "event", "role": "user"},
        {"spanId": "s2", "name": "answer", "kind": "llm", "role": "assistant"},
    ]
    spans[0]["input"] = row["query"]
    spans[1]["output"] = "I can't say."
    record = {
        "unitf_version": "0.1",
        "traceId": "t-1",
        "sourcePlatform": "test",
        "status": "ok",
        "tags": [row["id"]],
        "spans": spans,
    }
    path = root / "recorded.jsonl"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    return path


def test_a_target_that_is_not_written_stops_the_run_and_says_where(
    written: dict[str, Written], tmp_path: Path
) -> None:
    for name, suite in written.items():
        if not needs_target(suite.suite):
            continue
        root = tmp_path / name
        shutil.copytree(suite.root, root)
        done = bare(root, "-m", suite.package, "run", "--no-judge")
        assert done.returncode == 2, done.stdout + done.stderr
        assert "target.py" in done.stderr and "Traceback" not in done.stderr


def test_a_native_suite_asks_for_traces(
    written: dict[str, Written], tmp_path: Path
) -> None:
    for name in ("skill_native", "agent_v02_native"):
        root = tmp_path / name
        shutil.copytree(written[name].root, root)
        done = bare(root, "-m", written[name].package, "run")
        assert done.returncode == 2
        assert "--traces" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("moved", ["agent_overlay", "hostile"], indirect=True)
def test_pytest_has_a_test_for_each_case_and_criterion_and_one_for_the_gate(
    moved: Path,
) -> None:
    (moved / "stand_in.py").write_text(STAND_IN, "utf-8")
    settings = moved / "evals.toml"
    text = settings.read_text("utf-8")
    lines = [
        'target = "python:stand_in:answer"' if line.startswith("target = ") else line
        for line in text.partition("[judge]")[0].split("\n")
    ]
    settings.write_text("\n".join(lines), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA"]
    done = subprocess.run(
        command,
        cwd=moved,
        capture_output=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    card = scorecard_of(moved)
    criteria = card["criteria"]
    assert isinstance(criteria, list)
    cases = (moved / "dataset.jsonl").read_bytes().count(b"\n")
    counted = done.stdout.rstrip().rsplit("\n", 1)[-1]
    total = sum(int(word) for word in counted.split() if word.isdigit())
    assert total == cases * len(criteria) + 1, counted
    assert "test_gate" in done.stdout and "Traceback" not in done.stdout
