"""`helix-gen resolve`: its owner's word on a conflict, carried out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from helix_runtime.safe_text import printable

from . import console
from .problems import Problem, render_json

if TYPE_CHECKING:
    from .reconcile.changes import ChangeSet
    from .reconcile.resolve import Decision

DONE: Final = 0
REFUSED: Final = 2


def execute(
    *, paths: Sequence[Path], decision: "Decision", json_format: bool, quiet: bool
) -> int:
    """Resolve the conflicts of some files, or of all files of a suite.

    Each path is decided and written for itself; the exit code is 2 if any was
    refused, and what was refused stays as it was.
    """
    records = []
    problems: list[Problem] = []
    for path in paths:
        root, changes, faults = _resolve(path, decision)
        problems += faults
        if changes is None or root is None:
            continue
        for change in changes.files:
            records.append(
                {
                    "path": (root / change.path).as_posix(),
                    "action": change.action.value,
                    "note": change.note,
                }
            )
    if json_format:
        found = json.loads(render_json(problems))
        console.say(json.dumps({"files": records, "problems": found}, indent=2) + "\n")
    else:
        console.tell_problems(problems)
        for record in () if quiet else records:
            console.say(f"{printable(record['path'])}: {printable(record['note'])}\n")
        if not records and not problems and not quiet:
            console.say("no conflict is open\n")
    return REFUSED if problems else DONE


def _resolve(
    path: Path, decision: "Decision"
) -> "tuple[Path | None, ChangeSet | None, list[Problem]]":
    from .reconcile.paths import Folder
    from .reconcile.resolve import find_suite, resolve
    from .reconcile.write import (
        BrokenJournal,
        ChangedMeanwhile,
        FolderInUse,
        apply,
        folder_problem,
        recover,
        suite_folder,
    )

    found = find_suite(path)
    if found is None:
        problem = Problem(
            code="HX710",
            level="error",
            message="it lies in no suite of helix-gen",
            file=str(path),
            hint="name a file of a suite, or the suite's folder for all its conflicts",
        )
        return None, None, [problem]
    import os

    name = Path(os.path.abspath(path)).relative_to(found).as_posix()
    root = Path(os.path.relpath(found))
    try:
        with suite_folder(root):
            recover(root)
            folder = Folder(root, pending={})
            changes = resolve(root, folder, "" if name == "." else name, decision)
            if changes.problems:
                return root, None, list(changes.problems)
            apply(changes, root)
            return root, changes, []
    except (FolderInUse, ChangedMeanwhile, BrokenJournal, OSError) as error:
        return root, None, [folder_problem(root, error)]
