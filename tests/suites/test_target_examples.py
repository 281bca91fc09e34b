"""The order desk of examples/targets, reached in every way: each passes its gate."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.settings import read_settings
from support.order_desk import EXAMPLES, mastra_server, own_server

IN_PROCESS = (
    "python:python_desk:answer",
    "pydantic-ai:pydantic_ai_desk:agent",
    "langgraph:langgraph_desk:graph",
    "openai-agents:openai_agents_desk:agent",
    f"command:{sys.executable} {EXAMPLES / 'command_desk.py'}",
)
OVER_HTTP = ("openai_chat.toml", "a2a.toml", "mapping.toml")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the example's agentspec."""
    out = tmp_path_factory.mktemp("targets") / "suite"
    done = subprocess.run(
        [sys.executable, "-m", "helix_gen", "suite", str(EXAMPLES / "agentspec.yaml")]
        + ["-o", str(out), "-q"],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def suite(generated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(generated, tmp_path / "suite"))


@pytest.fixture
def port() -> Iterator[int]:
    """The port of the example's own server, while it runs."""
    with own_server() as port:
        yield port


@pytest.fixture
def mastra(tmp_path: Path) -> Iterator[int]:
    """The port of the example's agent on a real Mastra, while it runs."""
    with mastra_server(tmp_path / "mastra") as port:
        yield port


def run(suite: Path, *words: str) -> list[dict[str, Any]]:
    """Run the suite, which must pass, and return its traces by their number of turns."""
    done = subprocess.run(
        [sys.executable, "-m", "order_desk_evals", "run", "--out", "runs/a", *words],
        cwd=suite,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(EXAMPLES)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    text = (suite / "runs" / "a" / "traces.jsonl").read_text("utf-8")
    traces = [json.loads(line) for line in text.splitlines()]
    return sorted(traces, key=lambda trace: len(turns(trace)))


def turns(trace: dict[str, Any]) -> list[str]:
    return [span["input"] for span in trace["spans"] if span.get("role") == "user"]


@pytest.mark.parametrize("ref", IN_PROCESS, ids=lambda ref: ref.partition(":")[0])
def test_the_suite_passes_however_its_subject_is_built(suite: Path, ref: str) -> None:
    traces = run(suite, "--target", ref)
    assert len(traces) == 3
    assert turns(traces[-1]) == ["Where is order 2?", "And order 1?"]
    for trace in traces:
        names = {s["toolName"] for s in trace["spans"] if s["kind"] == "tool"}
        assert names == {"find_order"} and trace["status"] == "ok"


@pytest.mark.parametrize("name", OVER_HTTP)
def test_the_suite_passes_over_http_as_its_table_says(
    suite: Path, name: str, port: int
) -> None:
    table = (EXAMPLES / name).read_text("utf-8").replace("8137", str(port))
    (suite / "evals.toml").write_text(table, "utf-8")
    # What an A2A agent does inside is not seen: its tools can't be checked.
    only = ["--criteria", "names-the-place"] if name == "a2a.toml" else []
    traces = run(suite, *only)
    assert turns(traces[-1]) == ["Where is order 2?", "And order 1?"]


def test_the_suite_passes_on_a_real_mastra(suite: Path, mastra: int) -> None:
    table = (EXAMPLES / "mastra.toml").read_text("utf-8")
    (suite / "evals.toml").write_text(table.replace("4111", str(mastra)), "utf-8")
    traces = run(suite)
    assert turns(traces[-1]) == ["Where is order 2?", "And order 1?"]
    calls = [s for t in traces for s in t["spans"] if s["kind"] == "tool"]
    assert {call["toolName"] for call in calls} == {"find_order"}
    # The tool that failed says so, and what each response used was counted.
    assert [call["status"] for call in calls].count("error") == 1
    card = json.loads((suite / "runs" / "a" / "scorecard.json").read_text("utf-8"))
    assert card["usage"]["subject"]["inputTokens"] == 8 * 20


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.name)
def test_every_table_of_the_examples_is_one(path: Path) -> None:
    settings = read_settings(path)
    assert settings.target is not None and settings.target_table["ref"]


def test_the_guide_shows_the_examples_as_they_are() -> None:
    guide = (EXAMPLES.parents[1] / "docs" / "targets.md").read_text("utf-8")
    for path in EXAMPLES.glob("*.toml"):
        assert path.read_text("utf-8").strip() in guide, path.name
    for name in re.findall(r"examples/targets/([\w./]+)", guide):
        assert (EXAMPLES / name).exists(), name
