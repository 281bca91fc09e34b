"""`target.py` and `evals.toml` fit what the subject is built with, and all is typed."""

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from helix_gen.emit.reach import Reach, reach_of
from helix_gen.emit.render import render
from helix_runtime.settings import settings_from
from support.sample_suites import suite

PACKAGE = "library_desk_evals"
CASES = {
    "pydantic-ai": "pydantic-ai:{}.target:agent",
    "Pydantic AI": "pydantic-ai:{}.target:agent",
    "langgraph": "langgraph:{}.target:graph",
    "deepagents": "langgraph:{}.target:graph",
    "openai-agents": "openai-agents:{}.target:agent",
    "OpenAI Agents SDK": "openai-agents:{}.target:agent",
    "plain-python": "python:{}.target:target",
    "something new": "python:{}.target:target",
}


def built(name: str, language: str = "python") -> dict[str, bytes]:
    """The files of a suite whose subject is built so."""
    of = suite()
    made = replace(of, target=replace(of.target, name=name, language=language))
    return {file.path: file.content for file in render(made)}


@pytest.mark.parametrize(("name", "ref"), CASES.items(), ids=CASES)
def test_a_framework_in_python_is_called_in_this_process(name: str, ref: str) -> None:
    files = built(name)
    target = tomllib.loads(files["evals.toml"].decode())["target"]
    assert target == ref.format(PACKAGE)
    source = files[f"{PACKAGE}/target.py"].decode()
    assert f"def {target.rpartition(':')[2]}(case: Case)" in source
    assert source.rstrip().endswith("raise TargetNotWritten")
    assert "**Reach the subject.** Fill in" in files["README.md"].decode()


@pytest.mark.parametrize(
    ("name", "language", "preset"),
    [
        ("mastra", "TypeScript", "mastra"),
        ("a2a", "go", "a2a"),
        ("langgraph", "typescript", None),
        ("vercel-ai", "bun", None),
    ],
)
def test_what_is_built_in_another_language_is_reached_over_http(
    name: str, language: str, preset: str | None
) -> None:
    files = built(name, language)
    settings = settings_from(tomllib.loads(files["evals.toml"].decode()))
    assert settings.target is not None and settings.target.startswith("http:http://")
    assert settings.target_table.get("preset") == preset
    assert settings.timeout == 600, "the table stands after the plain settings"
    assert b"def user_simulator" in files[f"{PACKAGE}/target.py"]
    assert "fill in its URL" in files["README.md"].decode()


def test_a_workflow_of_mastra_is_started_at_its_own_endpoint() -> None:
    of = suite()
    made = replace(
        of,
        subject=replace(of.subject, kind="workflow"),
        target=replace(of.target, name="mastra", language="typescript"),
    )
    files = {file.path: file.content for file in render(made)}
    settings = settings_from(tomllib.loads(files["evals.toml"].decode()))
    url = "http:http://localhost:4111/api/workflows/library-desk/start-async"
    assert settings.target == url
    assert dict(settings.target_table) == {
        "ref": url,
        "request": {"body": {"inputData": "{input}"}},
        "response": {"output": "result"},
    }


def test_every_target_py_type_checks_strictly(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "c"),
    ]
    languages = {"mastra": "typescript"}
    for number, name in enumerate([*CASES, "mastra"]):
        package = f"desk_{number}"
        runtime = tmp_path / package / "_runtime"
        runtime.mkdir(parents=True)
        for module in ("case", "targets", "trace"):
            text = f"from helix_runtime.{module} import *\n"
            (runtime / f"{module}.py").write_text(text, "utf-8")
        for init in (runtime, runtime.parent):
            (init / "__init__.py").write_text("", "utf-8")
        files = built(name, languages.get(name, ""))
        (runtime.parent / "target.py").write_bytes(files[f"{PACKAGE}/target.py"])
        words += ["-p", package]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout


def test_an_overlays_target_goes_before_what_the_spec_is_built_with() -> None:
    of = suite(target_ref="command:./desk")
    reach: Reach = reach_of(replace(of, target=replace(of.target, name="langgraph")))
    assert reach.template == "target_named.py"
