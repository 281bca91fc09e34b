"""The plan: which files a suite consists of, and whose each of them is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..suite.model import Suite
from .reach import reach_of


class Ownership(StrEnum):
    """Whose a file is, and so what becomes of edits to it."""

    OWNED = "owned"
    """The generator's: written anew each time."""
    MERGED = "merged"
    """Shared: what changed in the spec is merged with what its reader changed."""
    SEEDED = "seeded"
    """The reader's: written once and never again."""
    APPEND_ONLY = "append-only"
    """Rows that only grow; each is matched by its id."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A file of the suite: its path from the suite's folder, and whose it is."""

    path: str
    ownership: Ownership


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A file as it is generated now.

    `units` are the functions and assignments of a Python file that stand for a
    criterion, each with the criterion's id; `renamed` are the ids among them that had
    another id before, each with that id. `adapt` gives the text of a file that names
    the units of others for what stands in those after a merge.
    """

    path: str
    content: bytes
    ownership: Ownership
    units: tuple[tuple[str, str], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    adapt: Callable[["Standing"], bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What stands in the suite's files after a merge.

    `names` maps the file's stem (`checks`, `judges`) to the name there of each
    criterion's unit, by id; `skipped` are the criteria that nothing decides, each
    with the reason (empty: their owner deleted what decides them).
    """

    names: Mapping[str, Mapping[str, str]]
    skipped: Mapping[str, str]


VENDORED: Final = "_runtime"


def plan(suite: Suite) -> tuple[Planned, ...]:
    """Return every file of the suite except the vendored runtime, sorted by path."""
    return tuple(sorted(_files(suite), key=lambda planned: planned.path))


def needs_target(suite: Suite) -> bool:
    """Whether the suite has a `target.py` to fill in.

    A native suite calls no subject, an overlay may name a target that exists, and what
    is reached over HTTP is a setting.
    """
    return suite.engine == "code-written" and bool(
        suite.target_ref is None and reach_of(suite).kind
    )


def has_judges(suite: Suite) -> bool:
    """Whether any criterion is decided by a judge."""
    return any(criterion.judge is not None for criterion in suite.criteria)


def _files(suite: Suite) -> Iterator[Planned]:
    yield Planned(".gitignore", Ownership.SEEDED)
    yield Planned("README.md", Ownership.MERGED)
    yield Planned("__main__.py", Ownership.OWNED)
    yield Planned("dataset.jsonl", Ownership.APPEND_ONLY)
    yield Planned("evals.toml", Ownership.SEEDED)
    yield Planned("matrix/JUDGE.md", Ownership.OWNED)
    yield Planned("matrix/ORCHESTRATE.md", Ownership.OWNED)
    yield Planned("matrix/README.md", Ownership.OWNED)
    yield Planned("matrix/criteria.json", Ownership.OWNED)
    yield Planned("matrix/helix-judge.md", Ownership.OWNED)
    yield Planned("pyproject.toml", Ownership.MERGED)
    yield Planned("tests/test_evals.py", Ownership.MERGED)
    package = suite.package
    yield Planned(f"{package}/__init__.py", Ownership.OWNED)
    yield Planned(f"{package}/__main__.py", Ownership.OWNED)
    yield Planned(f"{package}/checks.py", Ownership.MERGED)
    yield Planned(f"{package}/judges.py", Ownership.MERGED)
    yield Planned(f"{package}/subject.py", Ownership.MERGED)
    yield Planned(f"{package}/suite.py", Ownership.MERGED)
    if suite.engine == "code-written":
        yield Planned(f"{package}/target.py", Ownership.SEEDED)
