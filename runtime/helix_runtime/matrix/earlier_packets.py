"""What an earlier call left in the folder: its packets, and verdicts on them."""

from collections.abc import Collection, Iterable, Mapping
from errno import EEXIST
from pathlib import Path
from typing import Any, Final

from .dispatch import (
    BATCHES_FILE,
    DISPATCHES_FILE,
    INSTRUCTIONS_FILE,
    SCHEMA_FILE,
    TASK_SCHEMA_FILE,
)
from .packet_index import (
    CASES_FILE,
    INDEX_FILE,
    TRACES_FILE,
    PacketEntry,
    PacketIndex,
    entries_of,
    file_name,
    read_index,
)

_FIXED: Final = (
    INDEX_FILE,
    TRACES_FILE,
    CASES_FILE,
    DISPATCHES_FILE,
    BATCHES_FILE,
    INSTRUCTIONS_FILE,
)


def earlier_packets(out: Path) -> PacketIndex | None:
    """Return the index of an earlier call, None where there was none.

    Raises FileExistsError where files of our names are there and no index of ours
    is: a run's folder has a `traces.jsonl` too.
    """
    try:
        return read_index(out)
    except (FileNotFoundError, ValueError):
        taken = [name for name in _FIXED if (out / name).exists()]
        if taken:
            raise FileExistsError(
                EEXIST, f"it holds {taken[0]}, which is not of packets: choose another"
            ) from None
        return None


def remove_others(out: Path, *, keep: Collection[str]) -> None:
    """Remove earlier packets, tasks and schemas: only files of our own names."""
    import re

    ours = re.compile(r"[0-9a-f]{8}(-\d+)?\.(packet|task)\.json")
    for path in out.iterdir():
        name = path.name
        if name not in keep and (
            ours.fullmatch(name) or name in (SCHEMA_FILE, TASK_SCHEMA_FILE)
        ):
            path.unlink()


def set_aside(
    entries: Iterable[Mapping[str, Any]],
    earlier: PacketIndex | None,
    verdicts: Path,
) -> tuple[str, ...]:
    """Rename the verdict files that answer an earlier packet; return their names."""
    if earlier is None:
        return ()
    before = {file_name(e.verdict_file): e.sha256 for e in earlier.entries}
    stale = []
    for entry in entries:
        name = file_name(entry["verdictFile"])
        path = verdicts / name
        if before.get(name) != entry["sha256"] and path.is_file():
            path.replace(path.with_name(f"{name}.stale"))
            stale.append(name)
    return tuple(stale)


def outdated_verdicts(
    index: Mapping[str, Any], earlier: PacketIndex | None, verdicts: Path
) -> tuple[list[str], tuple[str, ...]]:
    """Return the digests of verdicts that are on another packet, and their files.

    A verdict that is there now was written before this call: it is on the packet that
    the run had then. One that is outdated already stays so, however often the same
    packets are written.
    """
    from .verdict_folder import read_verdict_folder

    if earlier is None:
        return [], ()
    now = _packets_by_pair(entries_of(index))
    before = _packets_by_pair(earlier.entries)
    # Of every file, also where two of them differ: neither may come back alone.
    found = read_verdict_folder(verdicts, tasks=earlier.tasks).seen
    marked: set[str] = set()
    files: set[str] = set()
    for pair, entry in found:
        digest = entry.digest(pair)
        if pair in now and (
            now[pair] != before.get(pair) or digest in earlier.outdated
        ):
            marked.add(digest)
            files.add(entry.file)
        elif digest in earlier.outdated:
            marked.add(digest)
    return sorted(marked), tuple(sorted(files))


def _packets_by_pair(
    entries: Iterable[PacketEntry],
) -> dict[tuple[str, str], str]:
    return {pair: entry.sha256 for entry in entries for pair in entry.pairs}
