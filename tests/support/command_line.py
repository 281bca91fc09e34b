"""Running `helix-gen` as its users do: a process, its streams and its exit code."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HEAVY = ("pydantic", "pydantic_core", "jinja2", "yaml", "libcst", "black", "rich")


def helix_gen(
    *words: str | Path,
    cwd: Path,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run `helix-gen` with these words in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "helix_gen", *map(str, words)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
        check=False,
    )


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def python_beside_examples(
    *words: str | Path, cwd: Path
) -> "subprocess.CompletedProcess[str]":
    """Run Python in a folder, with the agents of the examples to be imported."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def heavy_modules(*words: str | Path, cwd: Path) -> set[str]:
    """Return which of the heavy modules a `helix-gen` of these words imports."""
    program = (
        "import json, sys\n"
        f"sys.argv = ['helix-gen', *{[str(word) for word in words]!r}]\n"
        "from helix_gen.__main__ import main\n"
        "code = main()\n"
        "sys.stdout.flush()\n"
        f"print(json.dumps([code, [m for m in {HEAVY!r} if m in sys.modules]]),"
        " file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


def write_json(path: Path, data: Any) -> Path:
    """Write a spec or an overlay as JSON, which YAML reads too."""
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False), "utf-8")
    return path


def tree(root: Path) -> dict[str, bytes]:
    """Return every file below a folder, by its path from there; no bytecode."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
