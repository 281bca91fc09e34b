"""The dataset while it grows: rows come in and are reworded, and nothing else changes.

Pattern: read under the suite's lock, change in memory, put the whole file back by a
rename. A kill leaves the old file or the new one; what somebody edits meanwhile is
noticed and not overwritten; no row is removed, no line that stays is touched.

`.helix/grown.jsonl` remembers each row that was grown (its id, what its user says, its
tuple), so that a row which its owner removed is known and does not come back. It is
brought up to date before the dataset is changed and after it. `.helix/rows.txt` is the
generator's own memory, of the rows that it made of the spec.

Accepted trade-off: the dataset is held in memory, as its near-duplicates are.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..canonical import canonical, content_key, dump_line
from ..case import Case, case_from_row
from ..folder import SuiteFolder
from ..lock import FolderLocked, suite_lock
from ..record import field, record
from ..refusal import Refusal
from ..targets.turns import said_in
from .near_duplicates import Tokens, tokens_of

GROWN: Final = ".helix/grown.jsonl"
GENERATED: Final = ".helix/rows.txt"
_BOM: Final = b"\xef\xbb\xbf"


def words_of(case: Case) -> Tokens:
    """Return the tokens of all that the user says in a case."""
    return tokens_of(" ".join(said_in(case)))


def words_key(tokens: Tokens) -> str:
    """Return the content key of what is said, whatever its order and punctuation."""
    return content_key(*sorted(tokens))


def tuple_key(dimensions: Mapping[str, str]) -> str:
    """Return the content key of a tuple, whatever the order of its dimensions."""
    return content_key(canonical(dict(dimensions)))


@record(kw_only=True)
class Grown:
    """One row that was grown, as it is remembered."""

    id: str
    words: str
    tuple: str

    def to_record(self) -> dict[str, str]:
        """Return the line of the memory as plain data."""
        return {"id": self.id, "words": self.words, "tuple": self.tuple}


@record(kw_only=True)
class Removed:
    """What was in the dataset once and was taken out by its owner.

    `ids` are rows of every kind, `words` and `tuples` the keys of grown ones.
    """

    ids: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    tuples: frozenset[str] = frozenset()


@record(kw_only=True)
class Dataset:
    """The dataset as it was read: all rows by id, the retired ones too, in order."""

    cases: Mapping[str, Case]
    retired: frozenset[str] = frozenset()
    removed: Removed = Removed()
    path: Path
    text: bytes = b""
    _lines: Mapping[str, int] = field(default_factory=dict)
    _memory: Mapping[str, Grown] = field(default_factory=dict)

    def change(
        self, *, added: Sequence[Case] = (), reworded: Mapping[str, str] | None = None
    ) -> None:
        """Put the dataset back with new rows, and rows in other words.

        `reworded` maps the id of a row to its new query; the row keeps its id and is
        no placeholder any more. Raises Refusal where the file was changed since it was
        read, or can't be written; nothing has changed then.
        """
        lines = self.text.split(b"\n")
        end = b"\r" if lines[0].endswith(b"\r") else b""
        for row_id, query in (reworded or {}).items():
            number = self._lines[row_id]
            line = lines[number]
            bom = _BOM if number == 0 and line.startswith(_BOM) else b""
            row = json.loads(line.removeprefix(bom).decode())
            row["query"] = query
            row.pop("placeholder", None)
            lines[number] = bom + dump_line(row).encode() + end
        if added:
            if lines[-1].strip():
                lines[-1] = lines[-1].rstrip(b"\r") + end
                lines.append(b"")
            tail = lines.pop()
            lines += [dump_line(case.to_row()).encode() + end for case in added]
            lines.append(tail)
        memory = dict(self._memory)
        memory.update((case.id, _grown(case)) for case in added)
        try:
            self._remember(self._memory)
            text = b"\n".join(lines)
            if text != self.text:
                if self.path.read_bytes() != self.text:
                    raise Refusal(
                        f"{self.path.name} was changed meanwhile: nothing was written; "
                        "try again"
                    )
                replace_file(self.path, text)
            self._remember(memory)
        except OSError as error:
            place = error.filename or self.path
            raise Refusal(
                f"{place}: can't be written: {error.strerror or error}"
            ) from error

    def _remember(self, memory: Mapping[str, Grown]) -> None:
        if not memory:
            return
        path = self.path.parent / GROWN
        text = "".join(dump_line(one.to_record()) + "\n" for one in memory.values())
        data = text.encode()
        try:
            if path.read_bytes() == data:
                return
        except FileNotFoundError:
            path.parent.mkdir(exist_ok=True)
        replace_file(path, data)


@contextmanager
def growing(folder: SuiteFolder, *, dry: bool = False) -> Iterator[Dataset]:
    """Yield the dataset, held for this process alone unless it is only looked at.

    Raises Refusal where another process works on the suite, and with every row that
    can't be read.
    """
    if dry:
        yield read_dataset(folder)
        return
    try:
        with suite_lock(folder.root):
            yield read_dataset(folder)
    except FolderLocked as error:
        raise Refusal(
            f"another process works on {folder.root}: wait until it is done"
        ) from error


def read_dataset(folder: SuiteFolder) -> Dataset:
    """Return the dataset. Raises Refusal with every row that can't be read."""
    folder.scan_dataset(lambda row: True)
    text = folder.dataset.read_bytes()
    cases: dict[str, Case] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split(b"\n")):
        if number == 0:
            line = line.removeprefix(_BOM)
        if line.strip():
            case = case_from_row(json.loads(line.decode()))
            cases[case.id] = case
            lines[case.id] = number
    memory = _read_memory(folder.root / GROWN)
    for case in cases.values():
        if case.source != "seed":
            memory.setdefault(case.id, _grown(case))
    gone = [one for one in memory.values() if one.id not in cases]
    once = _generated(folder.root / GENERATED)
    return Dataset(
        cases=cases,
        retired=folder.retired(),
        removed=Removed(
            ids=frozenset(i for i in (*once, *memory) if i not in cases),
            words=frozenset(one.words for one in gone),
            tuples=frozenset(one.tuple for one in gone),
        ),
        path=folder.dataset,
        text=text,
        _lines=lines,
        _memory=memory,
    )


def replace_file(path: Path, data: bytes) -> None:
    """Put a file's new bytes in its place at once, on the disk. Raises OSError.

    A disk that refuses leaves the file as it was, and nothing beside it.
    """
    import stat

    place = Path(os.path.realpath(path))  # a link stays a link
    part = place.with_name(f".{place.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            os.chmod(part, stat.S_IMODE(place.stat().st_mode))
        os.replace(part, place)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _grown(case: Case) -> Grown:
    return Grown(
        id=case.id,
        words=words_key(words_of(case)),
        tuple=tuple_key(case.dimensions),
    )


def _read_memory(path: Path) -> dict[str, Grown]:
    """Return what is remembered. Raises Refusal where it can't be read."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    memory: dict[str, Grown] = {}
    faults = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            values = [data[key] for key in ("id", "words", "tuple")]
            if not all(isinstance(value, str) for value in values):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            faults.append(
                f"{GROWN}:{number}: is not a row that was grown: mend the line, or "
                "remove it (a row that you removed from the dataset may come back then)"
            )
            continue
        memory[values[0]] = Grown(id=values[0], words=values[1], tuple=values[2])
    if faults:
        raise Refusal(*faults)
    return memory


def _generated(path: Path) -> Iterable[str]:
    """Return the ids of all rows that were ever generated, as far as they can be read.

    The generator checks this file of its own; here it only keeps a row away.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return ()
    found = []
    for line in lines:
        try:
            name = json.loads(line.partition(b" ")[2])
        except (ValueError, RecursionError):
            continue
        if isinstance(name, str):
            found.append(name)
    return found
