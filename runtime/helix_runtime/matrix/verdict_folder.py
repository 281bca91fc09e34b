"""A folder of verdict files: what all of them together say of each unit.

What was refused in one file **contests** its unit: no other file decides it, until
somebody has taken one of the two away. So does a file that can't be read at all, for
every run whose id stands in it; and two files that say two things of a unit.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ..canonical import dump_line
from ..record import field, record
from .verdict_files import MAX_FILE, FileReading, VerdictEntry, read_verdict_file


@record(frozen=False)
class VerdictFolder:
    """The verdicts of a folder by (trajectory id, criterion id).

    `dialects` says for each file what it was written in; `problems` what could not
    be taken in. `models` are those that the files name, in order of appearance; an
    empty text stands for a file that names none. `seen` is every verdict that could be
    read, also where two of them differ or where it is outdated.
    """

    seen: list[tuple[tuple[str, str], VerdictEntry]] = field(default_factory=list)
    entries: dict[tuple[str, str], VerdictEntry] = field(default_factory=dict)
    dialects: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)


def read_verdict_folder(
    folder: Path,
    *,
    tasks: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    outdated: Collection[str] = (),
    packets: Mapping[str, str] | None = None,
) -> VerdictFolder:
    """Return the verdicts of every JSON file of a folder, in the order of the names.

    `tasks` says for the name of a task's verdict file which (trajectory, criterion)
    pairs it answers; `outdated` are the digests of verdicts that don't count, because
    they are on an earlier packet of their run; `packets` are the SHA-256 of packets by
    trajectory: what says that it is on another packet does not count. Packets, tasks and indexes in the folder
    are passed over.
    Raises OSError where the folder can't be read.
    """
    found = VerdictFolder()
    refused: set[tuple[str, str]] = set()
    contested: list[tuple[str, str, str | None]] = []
    unread: list[FileReading] = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if not _may_hold_verdicts(path):
            continue
        try:
            reading = _read(path)
        except OSError as error:
            found.problems.append(f"{path.name}: can't be read: {error.strerror}")
            continue
        found.dialects[path.name] = reading.dialect
        found.problems += reading.problems
        contested += [(reading.file, *unit) for unit in reading.contested]
        if reading.unread:
            unread.append(reading)
        for entry in reading.entries:
            for key in _keys_of(entry, tasks, found):
                found.seen.append((key, entry))
                if outdated and entry.digest(key) in outdated:
                    found.problems.append(
                        f"{entry.file}: {key[0][:80]!r}, {key[1][:80]!r} was judged on "
                        "an earlier packet of this run: take it out, or judge it again"
                    )
                elif _is_on_another(entry, (packets or {}).get(key[0])):
                    found.problems.append(
                        f"{entry.file}: {key[0][:80]!r}, {key[1][:80]!r} says that it "
                        "judged another packet than the one that is there now "
                        "(`context.packetSha256`): judge this run again"
                    )
                else:
                    _take_in(found, refused, key, entry)
    for key in refused:
        found.entries.pop(key, None)
    for reading in unread:
        contested += [
            (reading.file, trajectory_id, None)
            for trajectory_id in sorted({key[0] for key in found.entries})
            if _may_be_of(reading, trajectory_id)
        ]
    _contest(found, contested, tasks)
    return found


def _is_on_another(entry: VerdictEntry, sha256: str | None) -> bool:
    copied = entry.packet_sha256
    return sha256 is not None and copied is not None and copied != sha256


def _contest(
    found: VerdictFolder,
    contested: Iterable[tuple[str, str, str | None]],
    tasks: Mapping[str, Sequence[tuple[str, str]]] | None,
) -> None:
    """Take out the verdicts of units that another file speaks of and can't be read."""
    of_trajectory: dict[str, list[tuple[str, str]]] = {}
    for pair in found.entries:
        of_trajectory.setdefault(pair[0], []).append(pair)
    for file, trajectory_id, criterion_id in contested:
        if not trajectory_id:
            pairs = list((tasks or {}).get(file, ()))
        elif criterion_id is None:
            pairs = of_trajectory.get(trajectory_id, [])
        else:
            pairs = [(trajectory_id, criterion_id)]
        for pair in pairs:
            entry = found.entries.pop(pair, None)
            if entry is not None:
                found.problems.append(
                    f"{entry.file}: {pair[0][:80]!r}, {pair[1][:80]!r} is contested: "
                    f"{file} speaks of it too and can't be taken in, so neither counts"
                )


def _may_be_of(reading: FileReading, trajectory_id: str) -> bool:
    """Whether a file that could not be read seems to be on a run."""
    spellings = {dump_line(trajectory_id), _ascii(trajectory_id)}
    return any(text.encode("utf-8", "replace") in reading.unread for text in spellings)


def _ascii(text: str) -> str:
    import json

    return json.dumps(text)


def _may_hold_verdicts(path: Path) -> bool:
    name = path.name
    passed_over = (".packet.json", ".task.json", ".schema.json")
    return (
        name.endswith(".json")
        and not name.endswith(passed_over)
        and name not in ("index.json", "criteria.json")
        and path.is_file()
    )


def _read(path: Path) -> FileReading:
    with path.open("rb") as file:
        return read_verdict_file(file.read(MAX_FILE + 1), name=path.name)


def _keys_of(
    entry: VerdictEntry,
    tasks: Mapping[str, Sequence[tuple[str, str]]] | None,
    found: VerdictFolder,
) -> Sequence[tuple[str, str]]:
    if entry.trajectory_id:
        return [(entry.trajectory_id, entry.criterion_id)]
    pairs = (tasks or {}).get(entry.file)
    if pairs is None:
        found.problems.append(
            f"{entry.file}: the answer to a task that no index.json of packets names"
        )
        return ()
    return pairs


def _take_in(
    found: VerdictFolder,
    refused: set[tuple[str, str]],
    key: tuple[str, str],
    entry: VerdictEntry,
) -> None:
    model = entry.model or ""
    if model not in found.models:
        found.models.append(model)
    earlier = found.entries.setdefault(key, entry)
    if earlier.verdict.result != entry.verdict.result:
        refused.add(key)
        found.problems.append(
            f"{entry.file}: {key[0][:80]!r}, {key[1][:80]!r} is "
            f"`{entry.verdict.result}`, but `{earlier.verdict.result}` in "
            f"{earlier.file}: neither counts"
        )
