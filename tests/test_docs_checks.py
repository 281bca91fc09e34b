"""The page on checks by hand: its examples run, and it leaves no attribute out."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import helix_runtime
import pytest
from helix_runtime import verdict
from helix_runtime.case import Case
from helix_runtime.flow import Edge, FlowGraph, Node
from helix_runtime.trace import Message, Span, ToolCall, Trace, Usage
from helix_runtime.values import Slot

PAGE = Path(__file__).resolve().parents[1] / "docs" / "writing-checks.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.S)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite's package with the checks of the page, and its test."""
    (test,) = (block for block in BLOCKS if block.startswith("# tests/"))
    package = tmp_path / "my_suite_evals"
    assert helix_runtime.__file__ is not None
    shutil.copytree(
        Path(helix_runtime.__file__).parent,
        package / "_runtime",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (package / "__init__.py").write_text("", "utf-8")
    blocks = [block for block in BLOCKS if block is not test]
    (package / "checks.py").write_text("\n\n".join(blocks), "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_checks.py").write_text(test, "utf-8")
    return tmp_path


def test_the_examples_decide_what_the_page_says(suite: Path) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(suite)]
    done = subprocess.run(
        [sys.executable, *words, "tests"],
        cwd=suite,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def public(kind: type) -> set[str]:
    fields = set(getattr(kind, "__annotations__", {}))
    found = fields | {name for name in vars(kind) if not callable(vars(kind)[name])}
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize(
    "kind",
    [Case, Trace, Span, ToolCall, Message, Usage, FlowGraph, Node, Edge, Slot],
    ids=lambda k: str(k.__name__),
)
def test_every_public_attribute_is_named(kind: type) -> None:
    named = set(re.findall(r"`(\w+)`", TEXT))
    assert not public(kind) - named


def test_every_constructor_of_a_verdict_is_named() -> None:
    made = [
        name
        for name, made_by in vars(verdict).items()
        if getattr(made_by, "__annotations__", {}).get("return")
        in (verdict.Verdict, verdict.NothingThere)
        and not name.startswith("_")
    ]
    assert len(made) == 7
    for name in made:
        assert f"`{name}(" in TEXT
