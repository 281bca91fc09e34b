"""The guide to traces shows what `profile` and `sample` print of the demo's run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "traces.md").read_text("utf-8")
COMMAND = "$ python -m returns_desk_evals "


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("traces") / "returns-desk-evals"
    spec = "examples/returns_desk/agentspec.yaml"
    subprocess.run(
        [sys.executable, "-m", "helix_gen", "suite", spec, "-o", str(out), "-q"],
        cwd=ROOT,
        check=True,
    )
    verdicts = str(ROOT / "examples" / "returns_desk" / "verdicts")
    assert said(out, f"run --replay {verdicts} --out runs/demo -q")
    return out


def said(suite: Path, words: str) -> list[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "examples")}
    done = subprocess.run(
        [sys.executable, "-u", "-m", "returns_desk_evals", *words.split()],
        cwd=suite,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout
    return done.stdout.split("\n")


@pytest.mark.parametrize("name", ["profile", "sample"])
def test_the_page_shows_what_is_printed(name: str, suite: Path) -> None:
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.S)
    (block,) = [b for b in blocks if b.startswith(f"{COMMAND}{name} ")]
    first, *shown = block.rstrip("\n").split("\n")
    printed = said(suite, first.removeprefix(COMMAND))
    at = 0
    for line in shown:
        if line.strip() != "…":  # cut here
            assert line in printed[at:], line
            at = printed.index(line, at) + 1
    assert len([line for line in shown if line.strip() != "…"]) > 3


def test_the_limits_and_fields_are_those_of_the_code() -> None:
    from helix_runtime.disk_table import IN_MEMORY
    from helix_runtime.observing.observed import MAX_GRAPHS, REVERSIBILITIES
    from helix_runtime.observing.sampling import MEASURES, OUTLIER, STRATEGIES
    from helix_runtime.observing.strata import FIELDS

    part = PAGE.partition("## From traces to suite")[2].partition("\n## ")[0]
    told = [*STRATEGIES, *FIELDS, *REVERSIBILITIES]
    assert [name for name in told if f"`{name}`" not in part] == []
    assert [name for name in MEASURES if name not in part] == []
    assert f"at most {MAX_GRAPHS} traces" in part and f"; {OUTLIER:g} and more" in part
    assert f"{IN_MEMORY:,} runs" in PAGE


def test_the_command_line_knows_the_same_fields_and_strategies() -> None:
    from helix_runtime.command_line import build_parser
    from helix_runtime.observing.sampling import STRATEGIES
    from helix_runtime.observing.strata import FIELDS

    parser = build_parser("suite")
    commands = next(action for action in parser._actions if action.choices)
    assert isinstance(commands.choices, dict)
    options = {a.dest: a for a in commands.choices["sample"]._actions}
    assert tuple(options["strategy"].choices) == STRATEGIES
    named = re.findall(r"\w+", str(options["by"].help))
    assert [name for name in FIELDS if name not in named] == []
