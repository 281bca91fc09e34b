"""A desk with a spec and its suite, to edit and to generate again."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from helix_gen.generate import Outcome, Request, generate
from helix_gen.reconcile.show import change_record

from support.command_line import tree, write_json

PACKAGE = "desk_clerk_evals"
_TARGET = '''"""An echo."""

from ._runtime.case import Case


def target(case: Case) -> str:
    """Echo the query."""
    return case.query
'''


class Desk:
    """A folder with `clerk.yaml` and the suite that was made of it."""

    def __init__(
        self,
        folder: Path,
        spec: dict[str, Any],
        overlay: dict[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self.root = folder / "suite"
        self.criteria: list[str] = []
        self.again(spec, overlay)
        self.path("target.py").write_text(_TARGET, "utf-8")

    def path(self, name: str) -> Path:
        """Return a module of the package, or a file of the folder."""
        is_module = name.endswith(".py") and "/" not in name
        return self.root / PACKAGE / name if is_module else self.root / name

    def text(self, name: str) -> str:
        return self.path(name).read_text("utf-8")

    def edit(self, name: str, *pairs: tuple[str, str]) -> None:
        """Replace texts of a file; each must be there."""
        text = self.text(name)
        for old, new in pairs:
            assert old in text, f"{name}: no {old!r} in\n{text}"
            text = text.replace(old, new)
        self.path(name).write_text(text, "utf-8")

    def again(
        self,
        spec: dict[str, Any],
        overlay: dict[str, Any] | None = None,
        **how: Any,
    ) -> Outcome:
        """Generate again. What was said before is what is done, and doing it again is
        nothing."""
        write_json(self.folder / "clerk.yaml", spec)
        place = self.folder / "clerk.evals.yaml"
        place.unlink(missing_ok=True)
        if overlay is not None:
            write_json(place, overlay)
        self.criteria = [c["id"] for c in spec["spec"]["evaluation"]["criteria"]]
        before = tree(self.root) if self.root.exists() else {}
        said = [self._generate(mode, **how) for mode in ("dry-run", "check", "diff")]
        assert (tree(self.root) if self.root.exists() else {}) == before
        done = self._generate("write", **how)
        for outcome in said:
            assert record(outcome) == record(done)
        after = tree(self.root)
        how.pop("rebuild", None)
        repeated = self._generate("write", **how)
        assert repeated.changes is None or repeated.changes.writes() == ()
        assert tree(self.root) == after
        return done

    def _generate(self, mode: Any, **how: Any) -> Outcome:
        spec = str(self.folder / "clerk.yaml")
        outcome = generate(Request(spec=spec, out=self.root, mode=mode, **how))
        assert not outcome.failed, outcome.problems
        return outcome

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the suite's own command in a bare interpreter."""
        return subprocess.run(
            [sys.executable, "-S", "-B", "-m", PACKAGE, *words],
            cwd=self.root,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def results(self) -> dict[str, str]:
        """Return what each criterion came to in a run; it must list its cases too."""
        listed = self.command("cases")
        assert listed.returncode == 0, listed.stderr
        out = self.folder / "run"
        target = f"python:{PACKAGE}.target:target"
        words = ("run", "--no-judge", "--json", "--target", target, "--out", str(out))
        done = self.command(*words)
        assert done.returncode in (0, 1, 3), done.stderr
        card = json.loads(done.stdout)
        import shutil

        shutil.rmtree(out)
        found = {c["criterionId"]: c["verdict"] for c in card["criteria"]}
        self.blocked = {
            c["criterionId"]: (c.get("blockedBy") or {}).get("text", "")
            for c in card["criteria"]
        }
        assert set(self.criteria) <= set(found), "a criterion is silently absent"
        return found


def record(outcome: Outcome) -> Any:
    """Return what a run did or would do, as data."""
    return None if outcome.changes is None else change_record(outcome.changes)


def actions(outcome: Outcome) -> dict[str, str]:
    """Return what happened to each file that is not as generated, by its path."""
    assert outcome.changes is not None
    return {
        change.path.removeprefix(f"{PACKAGE}/"): change.action.value
        for change in outcome.changes.files
        if change.action.value != "same"
    }


def notes(outcome: Outcome) -> str:
    """Return everything that is said of the files."""
    assert outcome.changes is not None
    return "\n".join(f"{c.path}: {c.note}" for c in outcome.changes.files if c.note)
