"""The runtime that every suite carries: the files of `helix_runtime`, as they are."""

from collections.abc import Iterator
from pathlib import Path

import helix_runtime


def runtime_files() -> Iterator[tuple[str, bytes]]:
    """Yield each file of the runtime with its path in the runtime, sorted."""
    root = Path(helix_runtime.__file__).parent
    paths = sorted(
        (path.relative_to(root).as_posix(), path)
        for path in root.rglob("*")
        if path.is_file() and not _is_litter(path.relative_to(root))
    )
    for relative, path in paths:
        yield relative, path.read_bytes()


def _is_litter(path: Path) -> bool:
    """Whether an interpreter, an editor or a tool left it there."""
    return any(
        part == "__pycache__" or part.startswith(".") for part in path.parts
    ) or (path.suffix in (".pyc", ".orig", ".rej", ".swp") or path.name.endswith("~"))
