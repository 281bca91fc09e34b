"""What a check's hash covers: whatever can change its verdict."""

import ast
from pathlib import Path

import helix_runtime
from helix_runtime.code_digest import DECIDING, own_files

RUNTIME = Path(helix_runtime.__file__).parent


def imported(path: Path) -> set[Path]:
    """The modules of the runtime that one imports, at its top or where it needs them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1]
            module = base.joinpath(*(node.module or "").split("."))
            for candidate in (module, *(module / alias.name for alias in node.names)):
                if candidate.with_suffix(".py").is_file():
                    found.add(candidate.with_suffix(".py"))
    return found


def test_whatever_a_primitive_decides_by_is_in_the_hash() -> None:
    known = {RUNTIME / name for name in DECIDING}
    known |= set((RUNTIME / "checks").glob("*.py"))
    # They say where an exception was raised, or how it is kept; they decide nothing.
    beside = {RUNTIME / "folder.py", RUNTIME / "failures.py", RUNTIME / "safe_text.py"}
    for path in sorted(known):
        more = imported(path) - known - beside
        assert not more, f"{path.name} decides by {more}: name it in DECIDING"


def test_the_files_of_a_package_are_those_that_can_decide(tmp_path: Path) -> None:
    for name in ("checks.py", "more/rules.py", "_runtime/trace.py", "judges.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "more" / "_runtime").mkdir()
    (tmp_path / "more" / "_runtime" / "own.py").write_text("")
    names = [path.relative_to(tmp_path).as_posix() for path in own_files(tmp_path)]
    assert names == ["checks.py", "more/_runtime/own.py", "more/rules.py"]
