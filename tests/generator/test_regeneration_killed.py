"""Kill -9 while a suite with edits is written: the old one or the new, never both."""

import os
import random
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helix_gen.emit.plan import Rendered
from helix_gen.emit.render import render
from helix_gen.reconcile.changes import ChangeSet
from helix_gen.reconcile.decide import reconcile
from helix_gen.reconcile.manifest import STAGING
from helix_gen.reconcile.paths import Folder
from helix_gen.reconcile.write import apply, pending, recover, suite_folder
from support.killing import killed_at
from support.suite_cards import action, card, criterion, scenario, suite_of

PACKAGE = "desk_clerk_evals"
Tree = dict[str, bytes]


def rendered(*criteria: dict[str, Any], **parts: Any) -> tuple[Rendered, ...]:
    scenarios = [scenario(name) for name in parts.pop("scenarios", ("rush",))]
    overlay = parts.pop("overlay", None)
    suite = suite_of(card(criteria=criteria, scenarios=scenarios, **parts), overlay)
    # A few files of the runtime stand for all.
    return tuple(
        file
        for file in render(suite)
        if "/_runtime/" not in file.path or file.path.endswith(("case.py", "unit.py"))
    )


BRIEF, KIND = criterion("is-brief"), criterion("is-kind", "llm-judge")
OLD = rendered(BRIEF, KIND, criterion("is-true"), criterion("is-safe"))
NEW = rendered(
    {**BRIEF, "description": "Every answer is brief."},
    {**KIND, "id": "is-warm"},
    criterion("is-safe"),
    criterion("is-new"),
    scenarios=("rush", "dawn"),
    actions=[action("send", "send.mail")],
    overlay={
        "criteria": {
            "is-warm": {"renamed_from": "is-kind"},
            "is-safe": {"check": {"output.present": {}}},
        }
    },
)


def decide(root: Path, files: Sequence[Rendered]) -> ChangeSet:
    changes = reconcile(
        files,
        Folder(root, pending=pending(root)),
        slug="desk-clerk",
        generator={"version": "1"},
        inputs={},
    )
    assert not changes.problems, changes.problems
    return changes


def run(root: Path, files: Sequence[Rendered]) -> None:
    with suite_folder(root):
        recover(root)
        apply(decide(root, files), root)


def tree(root: Path) -> Tree:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and STAGING not in path.relative_to(root).as_posix()
    }


def edit(root: Path) -> None:
    """Fill in, tune, set, delete and break, as owners do."""
    checks = root / PACKAGE / "checks.py"
    text = checks.read_text("utf-8")
    brief, safe = text.index('@check("is-brief"'), text.index('@check("is-safe"')
    text = (
        text[:brief]
        + text[brief:safe].replace("return unwritten()", 'return passed("mine")', 1)
        + text[safe:].replace("return unwritten()", 'return passed("safe")', 1)
        + "\n\ndef helper() -> int:\n    return 1\n"
    )
    checks.write_text(text.replace("import Verdict\n", "import Verdict, passed\n"))
    for path, old, new in (
        (f"{PACKAGE}/judges.py", "fail_when=", "notes='mine',\n    fail_when="),
        (f"{PACKAGE}/suite.py", 'is_safe, severity="HIGH"', 'is_safe, severity="LOW"'),
        ("README.md", "## Run it", "Mine.\n\n## Run it"),
        ("dataset.jsonl", "rush", "RUSH"),
    ):
        place = root / path
        assert old in place.read_text("utf-8")
        place.write_text(place.read_text("utf-8").replace(old, new, 1), "utf-8")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_200_kills_at_random_moments_leave_the_old_suite_or_the_new(
    tmp_path: Path,
) -> None:
    edited = tmp_path / "edited"
    run(edited, OLD)
    edit(edited)
    old = tree(edited)
    finished = tmp_path / "finished"
    shutil.copytree(edited, finished)
    actions = {change.action.value for change in decide(finished, NEW).files}
    assert {"merge", "conflict", "update", "same"} <= actions
    run(finished, NEW)
    new = tree(finished)

    touches = 1
    while killed_at(touches, _copy(edited, tmp_path), partial(_run_copy, tmp_path)):
        touches += 25
    chance = random.Random(20)
    outcomes = {"old": 0, "new": 0}
    for _ in range(200):
        root = _copy(edited, tmp_path)
        moment = chance.randint(1, touches)
        killed = killed_at(moment, root, partial(run, root, NEW))
        view = Folder(root, pending=pending(root))
        seen = {path: view.read(path) for path in {*old, *new}}
        decided = not killed or (root / STAGING / "journal.json").exists()
        decided = decided or tree(root) == new
        assert seen == {path: (new if decided else old).get(path) for path in seen}
        outcomes["new" if decided else "old"] += 1
        run(root, NEW)
        assert tree(root) == new
    assert min(outcomes.values()) > 20


def _copy(edited: Path, tmp_path: Path) -> Path:
    root = tmp_path / "killed"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(edited, root)
    return root


def _run_copy(tmp_path: Path) -> None:
    run(tmp_path / "killed", NEW)
