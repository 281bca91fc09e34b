"""The golden trees: what is generated is what is stored, byte for byte."""

import difflib
import os
import subprocess
import sys
from pathlib import Path

import helix_runtime
import pytest
from helix_gen.emit.render import render
from support.golden import GOLDENS, REWRITE, ROOT, Golden

ids = [golden.name for golden in GOLDENS]


def difference(path: str, stored: bytes | None, now: bytes | None) -> str:
    """The diff of one file, every line printable."""
    before = (stored or b"").decode("utf-8").split("\n")
    after = (now or b"").decode("utf-8").split("\n")
    lines = difflib.unified_diff(
        before, after, f"stored/{path}", f"now/{path}", n=2, lineterm=""
    )
    return "\n".join(ascii(line)[1:-1] for line in list(lines)[:80])


def assert_same(name: str, stored: dict[str, bytes], now: dict[str, bytes]) -> None:
    """Fail with the diff, and with the command that takes it over."""
    changed = [
        difference(path, stored.get(path), now.get(path))
        for path in sorted(stored.keys() | now.keys())
        if stored.get(path) != now.get(path)
    ]
    if changed:
        shown = "\n".join(changed)
        pytest.fail(
            f"golden/{name}/expected is not what is generated now. If the change is "
            f"meant, run `{REWRITE}` and look at the diff.\n{shown}",
            pytrace=False,
        )


def test_there_is_a_golden_of_every_kind_of_spec() -> None:
    assert set(ids) == {
        "agent_overlay",
        "agent_v02",
        "agent_v02_native",
        "hostile",
        "multi_agent",
        "no_datasets",
        "skill_native",
        "workflow",
    }
    suites = {golden.name: golden.suite() for golden in GOLDENS}
    natives = {name for name, of in suites.items() if of.engine == "native-matrix"}
    assert natives == {"agent_v02_native", "skill_native"}
    kinds = {of.subject.kind for of in suites.values()}
    assert kinds == {"agent", "skill", "multi-agent", "workflow"}
    assert {of.spec_version for of in suites.values()} == {"0.2.0", "0.3.0"}


@pytest.mark.parametrize("golden", GOLDENS, ids=ids)
def test_a_tree_is_generated_byte_for_byte(golden: Golden) -> None:
    assert_same(golden.name, golden.stored(), golden.generated())


def test_a_golden_that_fails_shows_its_diff_and_the_command() -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        assert_same("x", {"a.py": b"one\ntwo\n"}, {"a.py": b"one\n\x1b[2J\n"})
    said = str(failure.value)
    assert "make golden" in said and "-two" in said and "+\\x1b[2J" in said


def test_the_runtime_of_each_suite_is_that_of_the_repository() -> None:
    source = Path(helix_runtime.__file__).parent
    for golden in GOLDENS:
        suite = golden.suite()
        prefix = f"{suite.package}/_runtime/"
        vendored = {
            file.path.removeprefix(prefix): file.content
            for file in render(suite)
            if file.path.startswith(prefix)
        }
        files = {
            path.relative_to(source).as_posix(): path.read_bytes()
            for path in source.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert files and vendored == files, golden.name


PROGRAM = """
import hashlib
from support.golden import GOLDENS
for golden in GOLDENS:
    for path, content in golden.generated().items():
        print(golden.name, path, hashlib.sha256(content).hexdigest())
"""


def test_the_trees_are_the_same_under_any_hash_seed_zone_and_locale() -> None:
    def run(**changes: str) -> str:
        path = os.pathsep.join([str(ROOT.parent / "tests"), *filter(None, sys.path)])
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": path, **changes}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=env, capture_output=True, check=True
        )
        return done.stdout.decode("ascii")

    first = run(PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8")
    second = run(PYTHONHASHSEED="4711", TZ="Asia/Kolkata", LC_ALL="C", LANG="C")
    assert first == second
    assert first.count("\n") > 100


@pytest.mark.parametrize("golden", GOLDENS, ids=ids)
def test_the_command_generates_the_same_tree(golden: Golden, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "helix_gen", "suite", str(golden.spec)]
    done = subprocess.run(
        [*command, "-o", str(out), "-q"], capture_output=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr.decode()
    made = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }
    tree = {
        path: content
        for path, content in made.items()
        if "/_runtime/" not in path and not path.startswith(".helix/")
    }
    assert_same(golden.name, golden.stored(), tree)
