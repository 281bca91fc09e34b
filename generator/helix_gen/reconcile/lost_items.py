"""Cases that would be retired only because their file of items is not read this time.

A file that was moved, emptied or not named again is seldom a decision, and a suite without
its cases still passes its gate. So what came from a file leaves a suite only where the
file has other rows, or where the spec and the overlay name none any more.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..inputs import Inputs
from ..problems import Problem, quoted
from .changes import ChangeSet
from .dataset import retired_before
from .manifest import parse_manifest
from .paths import Folder

DATASET: Final = "dataset.jsonl"
_BY_HAND: Final = f"remove the rows from {DATASET}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lost:
    """A dataset as the last run had it, and why none of its items are read now."""

    dataset: str
    why: str
    back: str
    otherwise: str = _BY_HAND


def lost_items(
    changes: ChangeSet,
    folder: Folder,
    inputs: Inputs,
    *,
    named: Mapping[str, str],
    empty: Sequence[str],
) -> list[Problem]:
    """Return a problem for each dataset whose cases would go with their file.

    `named` maps each dataset that has a file of items now to how it is called, `empty`
    are those of them from which no item came.
    """
    if changes.manifest_before is None or not changes.rows.retired:
        return []
    before = parse_manifest(changes.manifest_before).inputs
    lost = list(_lost(before, inputs, named, empty))
    if not lost:
        return []
    rows = _newly_retired(changes, folder)
    problems = []
    for one in lost:
        count = sum(_is_of(row, one.dataset) for row in rows)
        if count:
            cases = "1 case" if count == 1 else f"{count} cases"
            problems.append(
                Problem(
                    code="HX712",
                    level="error",
                    message=f"{one.why}, and {cases} of this suite came from it: nothing "
                    "was written, nothing is retired",
                    file=os.path.join(folder.root, DATASET),
                    hint=f"{one.back}; to give {'it' if count == 1 else 'them'} up, "
                    f"{one.otherwise}",
                )
            )
    return problems


def _lost(
    before: Mapping[str, Any],
    inputs: Inputs,
    named: Mapping[str, str],
    empty: Sequence[str],
) -> Iterator[_Lost]:
    items = before.get("items")
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict) or item.get("sha256") is None:
            continue  # it was not read then either
        dataset, file = item.get("dataset"), item.get("file")
        if not isinstance(dataset, str):
            continue
        option = f"`--items {dataset}=FILE`"
        now = [name for name in empty if dataset == name or file == named[name]]
        if now:
            yield _Lost(
                dataset=dataset,
                why=f"no item of {quoted(now[0])} is read from "
                f"{quoted(named[now[0]])} this time",
                back=f"put the file back as it was, or name another with {option}",
                otherwise=(
                    _BY_HAND
                    if now[0] in inputs.items
                    else "remove the file's name from the spec and the overlay"
                ),
            )
        elif file is None and dataset not in inputs.items:
            yield _Lost(
                dataset=dataset,
                why=f"the items of {quoted(dataset)} were given with `--items` last "
                "time, and are not this time",
                back=f"give them again, with {option}",
            )
        elif (
            dataset not in named
            and before.get("overlay") is not None
            and inputs.overlay is None
        ):
            yield _Lost(
                dataset=dataset,
                why=f"no file of items is named for {quoted(dataset)}; last time there "
                "was an overlay",
                back=f"name the overlay with `--overlay FILE`, or the items with {option}",
            )


def _newly_retired(changes: ChangeSet, folder: Folder) -> list[Mapping[str, Any]]:
    """Return the rows that the last run did not retire, as they stand on disk."""
    new = set(changes.rows.retired) - retired_before(folder)
    rows: list[Mapping[str, Any]] = []
    for line in (folder.read(DATASET) or b"").split(b"\n"):
        try:
            row = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and row.get("id") in new:
            rows.append(row)
    return rows


def _is_of(row: Mapping[str, Any], dataset: str) -> bool:
    """Whether a row came from an item of a dataset, not from what the spec describes."""
    if row.get("dataset", dataset) != dataset:
        return False
    return row.get("placeholder") is not True or any(
        key in row for key in ("item", "input", "expected")
    )
