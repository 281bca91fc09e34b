"""Showing a ChangeSet: as text, as JSON, and as a diff for `--check`."""

from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from typing import Any, Final

from helix_runtime.safe_text import printable

from .changes import Action, ChangeSet, FileChange
from .rows import RowChanges
from .stale import Stale
from .texts import with_lf

_SHOWN_ROWS: Final = 10
_DIFF_LINES: Final = 1000
_RUNTIME: Final = "/_runtime/"


def change_record(changes: ChangeSet) -> dict[str, Any]:
    """Return the changes as plain data, for `--json`."""
    rows = changes.rows
    return {
        "drift": bool(changes.drift),
        "recovered": changes.recovered,
        "files": [
            _file_record(c) for c in changes.files if c.action is not Action.SAME
        ],
        "skipped": list(changes.skipped),
        "stale": changes.stale.to_record(),
        "unchanged": sum(c.action is Action.SAME for c in changes.files),
        "rows": {
            "appended": list(rows.appended),
            "updated": list(rows.updated),
            "reworded": list(rows.reworded),
            "removed": list(rows.removed),
            "retired": list(rows.retired),
            "retiredReworded": list(rows.retired_reworded),
            "own": rows.own,
            "ownDatasets": dict(rows.own_datasets),
            "unreadable": [line for line, _ in rows.unreadable],
        },
    }


def _file_record(change: FileChange) -> dict[str, Any]:
    record: dict[str, Any] = {
        "path": change.path,
        "action": change.action.value,
        "note": change.note,
    }
    for name in ("conflicts", "retired", "skipped"):
        if names := getattr(change, name):
            record[name] = list(names)
    return record


def change_text(changes: ChangeSet) -> str:
    """Return the changes as lines: one a file, the vendored runtime's as one."""
    lines = list(_file_lines(changes))
    lines += _row_lines(changes.rows, is_new=changes.is_new)
    lines += _stale_lines(changes.stale)
    return "".join(f"{line}\n" for line in lines)


def _file_lines(changes: ChangeSet) -> Iterator[str]:
    shown = [c for c in changes.files if c.action is not Action.SAME]
    if changes.is_new and all(c.action is Action.CREATE for c in shown):
        shown = []
    vendored: dict[tuple[str, Action], int] = {}
    for change in shown:
        if _RUNTIME in change.path and not change.note:
            folder = change.path.partition(_RUNTIME)[0] + _RUNTIME
            vendored[folder, change.action] = (
                vendored.get((folder, change.action), 0) + 1
            )
            continue
        note = f"  ({printable(change.note)})" if change.note else ""
        yield f"  {change.action:<9}{printable(change.path)}{note}"
    for (folder, action), count in vendored.items():
        files = "1 file" if count == 1 else f"{count} files"
        yield f"  {action:<9}{printable(folder)}  ({files})"


def _row_lines(rows: RowChanges, *, is_new: bool) -> Iterator[str]:
    said = [
        ("appended", () if is_new else rows.appended, "new in the spec"),
        ("updated", rows.updated, "changed in the spec, untouched by you"),
        ("reworded", rows.reworded, "by you; kept so"),
        ("removed", rows.removed, "by you; kept away"),
        ("retired", rows.retired, "no longer in the spec; kept, and not run"),
        (
            "of these in your wording",
            rows.retired_reworded,
            "give such a row an id of its own, and it is run again",
        ),
    ]
    for name, ids, meaning in said:
        if ids:
            yield f"  dataset.jsonl: {len(ids)} {_rows(ids)} {name} ({meaning}): {_ids(ids)}"
    if rows.own:
        yield f"  dataset.jsonl: {rows.own} of your own"
    for line, why in rows.unreadable[:_SHOWN_ROWS]:
        fault = printable(why, 200)
        yield f"  dataset.jsonl:{line}: no row, kept as it is until you mend it: {fault}"
    more = len(rows.unreadable) - _SHOWN_ROWS
    if more > 0:
        yield f"  dataset.jsonl: {more} more lines that are no rows"


def _stale_lines(stale: Stale) -> Iterator[str]:
    judges, checks = (
        [i for i in ids if i not in stale.deciders]
        for ids in (stale.judges, stale.checks)
    )
    for ids, meaning in (
        (judges, "judges that are asked in other words: judge their cases again"),
        (stale.statements, "criteria that ask something else now"),
        (checks, "checks in other code"),
        (
            [f"{i} ({by})" for i, by in stale.deciders.items()],
            "criteria that something else decides now: judge their cases again",
        ),
        (stale.gone, "criteria that are gone"),
        (
            [f"{old} -> {new}" for old, new in stale.renamed.items()],
            "criteria with a new id: give it to your labels, and they hold",
        ),
    ):
        if ids:
            yield f"  stale    {meaning}: {_ids(ids, 80)}"
    for count, what in (
        (stale.labels, "labels.jsonl: lines about one of these criteria"),
        (stale.verdicts, "matrix/verdicts: files with a verdict that no longer counts"),
        (stale.runs, "runs: no longer to be compared with"),
    ):
        if count:
            yield f"  stale    {what}: {count}"
    if stale.retired:
        yield (
            f"  stale    {len(stale.retired)} {_rows(stale.retired)} retired now: what "
            "labels and earlier runs say of them is of no case that is run; lines of "
            f"labels.jsonl: {stale.retired_labels}"
        )


def _rows(ids: Sequence[str]) -> str:
    return "row" if len(ids) == 1 else "rows"


def _ids(ids: Sequence[str], width: int = 40) -> str:
    text = ", ".join(printable(row_id, width) for row_id in ids[:_SHOWN_ROWS])
    more = len(ids) - _SHOWN_ROWS
    return f"{text} and {more} more" if more > 0 else text


def diff_text(
    changes: ChangeSet, *, good: Callable[[str], str], bad: Callable[[str], str]
) -> str:
    """Return what the files would change by, as a unified diff.

    Whole files of the vendored runtime are named, not shown.
    """
    lines: list[str] = []
    for change in changes.drift:
        for line in _diff(change):
            paint: Callable[[str], str] = str
            if line.startswith("+"):
                paint = good
            elif line.startswith("-"):
                paint = bad
            lines.append(paint(printable(line)))
    return "".join(f"{line}\n" for line in lines)


def _diff(change: FileChange) -> Iterator[str]:
    before, after = _lines(change.before), _lines(change.after)
    old, new = f"a/{change.path}", f"b/{change.path}"
    if before == after:
        return
    if change.before is None or change.after is None:
        added = change.before is None
        yield f"--- {'/dev/null' if added else old}"
        yield f"+++ {new if added else '/dev/null'}"
        whole = after if added else before
        mark = "+" if added else "-"
        yield f"@@ -{0 if added else 1} +{1 if added else 0} @@ {len(whole)} lines"
        if _RUNTIME not in change.path:
            yield from _cut([mark + line for line in whole])
        return
    # A whole dataset lies on both sides: only what differs is compared.
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    context = 3
    start = max(0, head - context)
    ends = [len(side) - max(0, tail - context) for side in (before, after)]
    hunks = unified_diff(
        before[start : ends[0]], after[start : ends[1]], old, new, lineterm=""
    )
    yield from _cut([_shifted(line, start) for line in hunks])


def _lines(data: bytes | None) -> list[str]:
    if data is None:
        return []
    text = with_lf(data).decode("utf-8", "backslashreplace")
    return text.removesuffix("\n").split("\n") if text else []


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _shifted(line: str, lines: int) -> str:
    """Move the line numbers of a hunk's head by the lines that were left out."""
    if not line.startswith("@@ ") or not lines:
        return line
    parts = line.split(" ")
    for place in (1, 2):
        number, comma, length = parts[place][1:].partition(",")
        parts[place] = f"{parts[place][0]}{int(number) + lines}{comma}{length}"
    return " ".join(parts)


def _cut(lines: list[str]) -> Iterator[str]:
    yield from lines[:_DIFF_LINES]
    more = len(lines) - _DIFF_LINES
    if more > 0:
        yield f"(and {more} more lines)"
