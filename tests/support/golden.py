"""The golden suites: specs and the exact trees that they generate.

A tree is stored without `_runtime/` (it is the runtime of this repository, file by
file) and without `.helix/` (checksums of the rest).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from helix_gen.emit.plan import VENDORED
from helix_gen.emit.render import render
from helix_gen.problems import has_errors
from helix_gen.spec.overlay import read_overlay
from helix_gen.spec.read import read_spec
from helix_gen.suite.model import Suite
from helix_gen.suite.resolve import resolve

ROOT: Final = Path(__file__).resolve().parents[2] / "golden"
REWRITE: Final = "make golden"


@dataclass(frozen=True, slots=True)
class Golden:
    """One golden: its folder holds the spec, maybe an overlay, and the tree."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the golden."""
        return self.folder.name

    @property
    def spec(self) -> Path:
        """The spec."""
        return self.folder / "agentspec.yaml"

    @property
    def expected(self) -> Path:
        """The folder of the tree."""
        return self.folder / "expected"

    def suite(self) -> Suite:
        """Return the suite of the spec. Raises AssertionError where there is none."""
        read = read_spec(self.spec.read_bytes(), file=self.spec.name)
        overlay = None
        path = self.folder / "agentspec.evals.yaml"
        if path.exists():
            overlay = read_overlay(path.read_bytes(), file=path.name, card=read.card)
        resolved = resolve(
            read, overlay, engine="auto", target=None, folder=self.folder, items={}
        )
        problems = read.problems + (overlay.problems if overlay else [])
        problems = [*problems, *resolved.problems]
        assert not has_errors(problems), (self.name, problems)
        assert resolved.suite is not None
        return resolved.suite

    def generated(self) -> dict[str, bytes]:
        """Return the tree as it is generated now, by path."""
        suite = self.suite()
        prefix = f"{suite.package}/{VENDORED}/"
        return {
            file.path: file.content
            for file in render(suite)
            if not file.path.startswith(prefix)
        }

    def stored(self) -> dict[str, bytes]:
        """Return the tree as it is stored, by path."""
        return {
            path.relative_to(self.expected).as_posix(): path.read_bytes()
            for path in sorted(self.expected.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    def write(self, root: Path) -> Suite:
        """Write the whole suite, its runtime included, into a new folder."""
        suite = self.suite()
        for file in render(suite):
            path = root / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        return suite


@dataclass(frozen=True, slots=True)
class Written:
    """A golden suite on disk, as a user gets it."""

    golden: Golden
    suite: Suite
    root: Path

    @property
    def package(self) -> str:
        """The import name of its package."""
        return self.suite.package


GOLDENS: Final = tuple(
    Golden(path.parent) for path in sorted(ROOT.glob("*/agentspec.yaml"))
)
