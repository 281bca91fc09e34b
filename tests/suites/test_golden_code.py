"""The code of the golden suites: it compiles, and every tool accepts it as it is."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import helix_runtime
import helix_templates
from support.golden import Written

REPOSITORY = Path(__file__).resolve().parents[2]


def tool(*words: str, cwd: Path) -> None:
    """Run one of the environment's tools; its whole output is in the failure."""
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_compiles(written: dict[str, Written]) -> None:
    for suite in written.values():
        for path in suite.root.rglob("*.py"):
            source = path.read_bytes()
            compile(source, str(path), "exec")
            assert source.isascii() or source.decode("utf-8")


def test_no_docstring_and_no_comment_holds_a_text_of_the_spec(
    written: dict[str, Written],
) -> None:
    """Docstrings and comments of the hostile suite are those of a plain one."""

    def words(suite: Written) -> set[str]:
        found = set()
        for path in suite.root.rglob("*.py"):
            if "_runtime" in path.parts:
                continue
            text = path.read_text("utf-8")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.Module, ast.FunctionDef)):
                    found.add(ast.get_docstring(node) or "")
            found |= {
                line.partition("#")[2]
                for line in text.split("\n")
                if line.lstrip().startswith("#")
            }
        return found

    primitives = set()
    for path in (Path(helix_runtime.__file__).parent / "checks").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef):
                primitives.add((ast.get_docstring(node) or "").partition("\n")[0])
    plain = words(written["agent_overlay"])
    for template in Path(helix_templates.__file__).parent.glob("target*.py.jinja"):
        # One of them for each way to reach a subject; none has a place for a text.
        tree = ast.parse(template.read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.FunctionDef)):
                plain.add(ast.get_docstring(node) or "")
    assert words(written["hostile"]) - plain <= primitives


def test_black_leaves_every_suite_as_it_is(written: dict[str, Written]) -> None:
    home = next(iter(written.values())).root.parent
    # The runtime is the repository's, which is checked there.
    runtime = "--extend-exclude=/_runtime/"
    tool("black", "--check", "--quiet", "--diff", runtime, ".", cwd=home)


def test_ruff_finds_nothing_with_the_settings_of_each_suite(
    written: dict[str, Written],
) -> None:
    home = next(iter(written.values())).root.parent
    tool("ruff", "check", "--no-cache", ".", cwd=home)


def test_a_suite_type_checks_strictly_in_its_own_folder(
    written: dict[str, Written],
) -> None:
    cache = f"--cache-dir={REPOSITORY / '.cache' / 'mypy-suite'}"
    tool("mypy", "--strict", cache, ".", cwd=written["agent_overlay"].root)


def test_every_suite_type_checks_strictly_against_the_runtime(
    written: dict[str, Written], tmp_path: Path
) -> None:
    """All suites in one run: their runtime is the repository's, checked there once."""
    words = ["mypy", "--strict", f"--cache-dir={REPOSITORY / '.cache' / 'mypy-suites'}"]
    for suite in written.values():
        package = tmp_path / suite.package
        shutil.copytree(
            suite.root / suite.package,
            package,
            ignore=shutil.ignore_patterns("_runtime"),
        )
        _forward(suite.root / suite.package / "_runtime", package / "_runtime")
        words += ["-p", suite.package]
    tool(*words, cwd=tmp_path)


def _forward(runtime: Path, to: Path) -> None:
    """Write modules that pass on the names of the repository's runtime."""
    for path in runtime.rglob("*.py"):
        relative = path.relative_to(runtime)
        target = to / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        parts = relative.with_suffix("").parts
        module = ".".join(("helix_runtime", *(p for p in parts if p != "__init__")))
        target.write_text(f"from {module} import *\n", "utf-8")
