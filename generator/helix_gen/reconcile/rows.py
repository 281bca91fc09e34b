"""The dataset, append-only: what the spec adds arrives, what its owner did stays.

Rows are matched by id. `.helix/rows.txt` remembers each row that was ever generated,
a line each: the digest of its text, a space, its id as a JSON text. So a row that its
owner removed is known and stays away, one that its owner rewrote is told from one
that is as generated, and a row that was never generated is its owner's own.

A line of the file on disk is parsed only where it is not word for word a generated
one. Lines that are no rows (torn, invalid, blank) are kept as they are.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from json.decoder import scanstring  # type: ignore[attr-defined]

from helix_runtime.row_json import row_data
from helix_runtime.strict_json import why_unreadable

from ..emit import json_text

_BOM = b"\xef\xbb\xbf"
_ID_FIRST = b'{"id":"'


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChanges:
    """What happens to the rows of a dataset, each a sequence of ids.

    `appended` are new; `updated` follow the spec, untouched by their owner;
    `reworded` keep their owner's wording; `removed` were taken out by their owner and
    stay away; `retired` are no longer in the spec: they stay, and are not run (those
    in their owner's wording are also in `retired_reworded`). `own` counts the rows
    that were never generated, `own_datasets` those of them by the dataset that they
    name, `unreadable` names the lines (from 1) that are no rows,
    each with the reason.
    """

    appended: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    retired_reworded: tuple[str, ...] = ()
    own: int = 0
    own_datasets: Mapping[str, int] = field(default_factory=dict)
    unreadable: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRows:
    """The dataset's new text, the rows ever generated, and what changed."""

    text: bytes
    memory: Mapping[str, str]
    changes: RowChanges


def merge_rows(
    *, memory: Mapping[str, str], yours: bytes | None, new: bytes
) -> MergedRows:
    """Bring generated rows and the file on disk together.

    `memory` maps each id that was ever generated to its digest; `yours` is None where
    there is no file: then all of `new` is written, also what was removed before.
    """
    generated = dict(_generated_rows(new))
    after = dict(memory)
    after.update((row_id, _digest(line)) for row_id, line in generated.items())
    if yours is None:
        changes = RowChanges(appended=tuple(generated))
        return MergedRows(text=new, memory=after, changes=changes)

    by_digest = {digest: row_id for row_id, digest in memory.items()}
    lines = yours.split(b"\n")
    end = b"\r" if lines[0].endswith(b"\r") else b""
    on_disk: set[str] = set()
    updated, reworded, retired, unreadable = [], [], [], []
    retired_reworded = []
    own = 0
    own_datasets: dict[str, int] = {}
    for index, raw in enumerate(lines):
        line = raw.rstrip(b"\r")
        if index == 0:
            line = line.removeprefix(_BOM)
        if not line.strip():
            continue
        row_id = by_digest.get(_digest(line))
        untouched = row_id is not None
        if row_id is None:
            try:
                row = _parsed(line)
            except ValueError as fault:
                unreadable.append((index + 1, str(fault)))
                named = _id_of(line)
                if named is not None:
                    on_disk.add(named)  # to be mended, not removed
                continue
            row_id = str(row["id"])
            untouched = _is_same_row(row, memory.get(row_id))
        if row_id in on_disk:
            continue  # a second row of one id: the suite's own check names it
        on_disk.add(row_id)
        if row_id not in memory and row_id not in generated:
            own += 1
            name = (_parse(line) or {}).get("dataset")
            if isinstance(name, str):
                own_datasets[name] = own_datasets.get(name, 0) + 1
        elif row_id not in generated:
            retired.append(row_id)
            if not untouched:
                retired_reworded.append(row_id)
        elif line == generated[row_id]:
            continue
        elif not untouched:
            if not _is_same_row(_parse(line), after[row_id]):
                reworded.append(row_id)
        elif after[row_id] != memory.get(row_id):
            updated.append(row_id)
            bom = _BOM if raw.startswith(_BOM) else b""
            lines[index] = bom + generated[row_id] + end
    appended = [i for i in generated if i not in on_disk and i not in memory]
    removed = [i for i in generated if i not in on_disk and i in memory]
    if appended:
        _append(lines, [generated[row_id] for row_id in appended], end)
    return MergedRows(
        text=b"\n".join(lines) if appended or updated else yours,
        memory=after,
        changes=RowChanges(
            appended=tuple(appended),
            updated=tuple(updated),
            reworded=tuple(reworded),
            removed=tuple(removed),
            retired=tuple(retired),
            retired_reworded=tuple(retired_reworded),
            own=own,
            own_datasets=own_datasets,
            unreadable=tuple(unreadable),
        ),
    )


def _append(lines: list[bytes], rows: Iterable[bytes], end: bytes) -> None:
    """Add rows below the last line of a file, which keeps what stands at its end."""
    if lines[-1].strip():  # the last line has no end: torn, or an editor's way
        lines[-1] += end
        lines.append(b"")
    tail = lines.pop()
    lines.extend(row + end for row in rows)
    lines.append(tail)


def rebuilt_memory(*, yours: bytes, new: bytes) -> dict[str, str]:
    """Return a memory that was lost, as far as the file on disk tells it.

    A row that is there under an id of the spec was generated. Of one that is not,
    nothing is known: it comes in as new.
    """
    there = set()
    for line in yours.removeprefix(_BOM).split(b"\n"):
        row_id = _id_of(line)
        if row_id is not None:
            there.add(row_id)
    return {i: _digest(line) for i, line in _generated_rows(new) if i in there}


def read_memory(data: bytes) -> dict[str, str]:
    """Return the rows ever generated. Raises ValueError, naming the line."""
    memory: dict[str, str] = {}
    for number, line in enumerate(data.removeprefix(_BOM).split(b"\n"), 1):
        line = line.rstrip(b"\r")
        if not line:
            continue
        digest, _, name = line.partition(b" ")
        try:
            row_id = json.loads(name)
        except (ValueError, RecursionError):
            row_id = None
        if not isinstance(row_id, str) or len(digest) != 16:
            raise ValueError(f"line {number} is not a digest and an id")
        memory[row_id] = digest.decode("ascii", "replace")
    return memory


def write_memory(memory: Mapping[str, str]) -> bytes:
    """Return the text of the rows ever generated, in the order of their coming."""
    return "".join(f"{memory[i]} {json.dumps(i)}\n" for i in memory).encode()


def _generated_rows(text: bytes) -> Iterator[tuple[str, bytes]]:
    for line in text.split(b"\n"):
        if not line:
            continue
        if line.startswith(_ID_FIRST):
            # The id stands first in what we write: no need to parse the rest.
            yield scanstring(line.decode(), len(_ID_FIRST))[0], line
        else:
            yield json.loads(line)["id"], line


def _parse(line: bytes) -> dict[str, object] | None:
    try:
        return _parsed(line)
    except ValueError:
        return None


def _parsed(line: bytes) -> dict[str, object]:
    """Return a row as a run reads it. Raises ValueError that says why it is none."""
    try:
        row = row_data(line.decode().strip())
    except (ValueError, RecursionError) as error:
        raise ValueError(why_unreadable(error)) from error
    if not isinstance(row, dict):
        raise ValueError("not an object")
    if not isinstance(row.get("id"), str) or not row["id"]:
        raise ValueError("it has no id")
    return row


def _id_of(line: bytes) -> str | None:
    """Return the id that a line names, also where it is no row that a run would read."""
    try:
        row = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    row_id = row.get("id") if isinstance(row, dict) else None
    return row_id if isinstance(row_id, str) and row_id else None


def _is_same_row(row: dict[str, object] | None, digest: str | None) -> bool:
    """Whether a row is the generated one, written with other white space."""
    if row is None or digest is None:
        return False
    try:
        return _digest(json_text.line(row).encode()) == digest
    except (ValueError, RecursionError):
        return False


def _digest(line: bytes) -> str:
    return blake2b(line, digest_size=8).hexdigest()
