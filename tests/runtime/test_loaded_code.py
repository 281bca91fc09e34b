"""Which of the user's files a target was loaded from, and what a resumed run says."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helix_runtime.targets import open_target
from helix_runtime.targets.loaded_code import code_of_target
from support.live_suite import live_suite, rows

AGENT = """\
import json
from agent_tools import find
from . import words

def answer(case):
    return words.SAY + find(case)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an agent of several files; what it loads is forgotten after."""
    files = {
        "agent_one/__init__.py": "",
        "agent_one/main.py": AGENT,
        "agent_one/words.py": "SAY = 'It is '\n",
        "agent_one/unused.py": "",
        "agent_tools.py": "def find(case):\n    return '1'\n",
        "site-packages/agent_library.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def loaded(root: Path) -> dict[str, str]:
    before = set(sys.modules)
    target = open_target("python:agent_one.main:answer", root=root)
    return code_of_target(target.name, package="desk_evals", before=before)


OWN = ["agent_one/__init__.py", "agent_one/main.py", "agent_one/words.py"]


def test_all_that_the_agent_imports_and_nothing_else_is_its_code(root: Path) -> None:
    path = root / "agent_one/main.py"
    path.write_text("import agent_library\n" + AGENT, "utf-8")
    sys.path.append(str(root / "site-packages"))
    try:
        found = loaded(root)
    finally:
        sys.path.remove(str(root / "site-packages"))
    assert list(found) == [*OWN, "agent_tools.py"]
    assert str(root) not in json.dumps(found)


def test_what_somebody_else_loaded_before_is_its_code_all_the_same(root: Path) -> None:
    import importlib

    fresh = loaded(root)
    importlib.import_module("agent_one.unused")
    again = loaded(root)
    assert set(again) >= {"agent_one/main.py", "agent_one/words.py", "agent_tools.py"}
    assert again.items() <= fresh.items()


def test_one_file_is_another_one_once_it_is_edited(root: Path) -> None:
    before = loaded(root)
    (root / "agent_tools.py").write_text("def find(case):\n    return '2'\n", "utf-8")
    after = loaded(root)
    assert before.keys() >= after.keys()
    assert [n for n in after if after[n] != before[n]] == ["agent_tools.py"]


def test_an_edited_module_of_the_agent_is_told_when_its_run_is_gone_on_with(
    tmp_path: Path,
) -> None:
    target = "from my_agent import answer as target\n"
    suite = live_suite(tmp_path, cases=rows(2), target=target)
    answer = 'def answer(case):\n    return "It is " + case.query[8:-1] + "."\n'
    suite.write("my_agent.py", answer)
    # A check may load it first.
    checks = suite.package / "checks.py"
    checks.write_text("import my_agent\n" + checks.read_text("utf-8"), "utf-8")
    assert suite.run("run", "-q", "--out", "runs/a").returncode == 0
    record = json.loads((suite.root / "runs/a/run.json").read_text("utf-8"))
    assert list(record["arguments"]["target_code"]) == ["my_agent.py", "target.py"]
    assert "of before" not in suite.run("run", "-q", "--resume", "a").stdout
    suite.write("my_agent.py", answer + "# another one\n")
    for _ in range(2):
        done = suite.run("run", "-q", "--resume", "a")
        assert "of before: my_agent.py was edited after some of its runs" in done.stdout
        assert done.returncode == 0


def test_what_only_says_that_it_is_a_module_is_none(root: Path) -> None:
    # As `cffi` does: its library has no dictionary that could be looked into.
    pretends = (
        "import sys\n"
        "from types import ModuleType\n"
        "class Library:\n"
        "    __slots__ = ()\n"
        "    __class__ = ModuleType\n"
        "sys.modules['agent_one.library'] = Library()\n"
    )
    path = root / "agent_one/main.py"
    path.write_text(pretends + AGENT, "utf-8")
    assert sorted(loaded(root)) == [*OWN, "agent_tools.py"]
