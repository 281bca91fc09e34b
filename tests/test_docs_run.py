"""The commands of the README and the tutorial work, and print what the pages show."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
BIN = Path(sys.executable).parent

# What a network, a key or the checkout's own environment is needed for.
NOT_HERE = ("pip install", "OPENAI_API_KEY", "--judge openai:", "activate")
EXIT = {
    "helix-gen lint": 0,
    "helix-gen suite": 0,
    "cd ": 0,
    "export ": 0,
    "python -m returns_desk_evals run --no-judge": 1,
    "python -m returns_desk_evals run --replay": 1,
    "python -m returns_desk_evals prep": 0,
    "python -m returns_desk_evals aggregate": 3,  # no agent has judged
    "python -m returns_desk_evals aggregate --verdicts": 1,
    "pytest": 1,
}


def commands(page: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
    lines = [
        line.partition("   #")[0].strip() for b in blocks for line in b.split("\n")
    ]
    return [line for line in lines if line]


def test_the_tutorial_goes_through_from_start_to_end(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "examples",
        tmp_path / "examples",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    folder = tmp_path
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    env.update(NO_COLOR="1", PYTHONDONTWRITEBYTECODE="1")
    env.pop("PYTEST_XDIST_TESTRUNUID", None)
    ran = set()
    for line in commands(TUTORIAL):
        if any(words in line for words in NOT_HERE):
            continue
        line = line.replace(".venv/bin/", "")
        known = max((start for start in EXIT if line.startswith(start)), key=len)
        ran.add(known)
        if known == "cd ":
            folder = folder / line.removeprefix("cd ")
        elif known == "export ":
            name, _, value = line.removeprefix("export ").partition("=")
            env[name] = value
        else:
            done = subprocess.run(
                line,
                shell=True,
                cwd=folder,
                env=env,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            assert done.returncode == EXIT[known], (line, done.stdout, done.stderr)
    assert ran == set(EXIT)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of the demo's run."""
    out = tmp_path_factory.mktemp("demo") / "returns-desk-evals"
    env = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": "examples", "COLUMNS": "100"}
    spec = "examples/returns_desk/agentspec.yaml"
    verdicts = "examples/returns_desk/verdicts"
    subprocess.run(
        [sys.executable, "-m", "helix_gen", "suite", spec, "-o", str(out), "-q"],
        cwd=ROOT,
        check=True,
    )
    run = [str(out), "run", "--replay", verdicts, "--out", str(out / "runs" / "demo")]
    done = subprocess.run(
        [sys.executable, *run],
        cwd=ROOT,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout.split("\n")


def test_the_readme_shows_what_the_demo_prints(shown: list[str]) -> None:
    (sample,) = re.findall(r"```text\n(  Returns Desk.*?)```", README, re.S)
    at = 0
    for line in sample.split("\n"):
        if line.strip() in ("", "…"):  # cut here
            continue
        assert line in shown[at:], line
        at = shown.index(line, at) + 1


def test_the_readme_shows_files_of_one_suite() -> None:
    (tree,) = re.findall(r"```text\n(\S+-evals/\n.*?)```", README, re.S)
    assert tree.startswith("returns-desk-evals/") and "support" not in tree
