"""The index of a folder of packets: what stands where, and what its verdicts answer.

`packets` writes it; whoever reads verdicts joins by it. It may have been edited since: it
names files of its own folder and of the verdicts' one, and nothing else.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from ..canonical import content_key
from ..case import Case
from ..record import field, record
from ..suite import Suite

INDEX_FILE: Final = "index.json"
TRACES_FILE: Final = "traces.jsonl"
CASES_FILE: Final = "cases.jsonl"
INDEX_SCHEMA: Final = "helix-packets/1"

Axis = Literal["trajectory", "criterion"]


@record(kw_only=True)
class PacketEntry:
    """One packet or task: its file, hash and verdict file, and what it asks for.

    `pairs` are the (trajectory id, criterion id) that its verdict file answers.
    """

    file: str
    sha256: str
    verdict_file: str
    pairs: tuple[tuple[str, str], ...]


@record(kw_only=True)
class PacketIndex:
    """The index of a folder of packets. `judges` are the digests when it was written.

    `verifies` are the results that a second judge was asked to refute; empty where
    the packets are a first judge's. `outdated` are digests of verdicts on earlier
    packets; `losses` say which runs lack; `dataset` and `spec` are the digests of
    the cases and of the spec at that time, `sha256` the hashes of TRACES_FILE and
    CASES_FILE as they were written.
    """

    model: str
    axis: Axis
    judges: Mapping[str, str]
    entries: tuple[PacketEntry, ...]
    verifies: tuple[str, ...] = ()
    outdated: frozenset[str] = frozenset()
    losses: tuple[str, ...] = ()
    dataset: str = ""
    spec: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """What each task's verdict file answers, by the file's own name."""
        if self.axis == "trajectory":
            return {}
        return {file_name(entry.verdict_file): entry.pairs for entry in self.entries}

    @property
    def packets(self) -> dict[str, str]:
        """The SHA-256 of each packet, by its trajectory."""
        if self.axis != "trajectory":
            return {}
        return {pair[0]: entry.sha256 for entry in self.entries for pair in entry.pairs}


def read_index(folder: Path) -> PacketIndex:
    """Return the index of a folder of packets.

    Raises OSError where there is none, ValueError where it can't be read.
    """
    from ..strict_json import strict_loads, why_unreadable

    text = (folder / INDEX_FILE).read_bytes()
    try:
        data = strict_loads(text.decode("utf-8-sig"))
    except ValueError as error:
        raise ValueError(why_unreadable(error)) from error
    try:
        if data["schema"] != INDEX_SCHEMA:
            raise ValueError(f"its schema is {str(data['schema'])[:40]!r}")
        axis: Axis = "criterion" if data["axis"] == "criterion" else "trajectory"
        return PacketIndex(
            model=_text(data["pin"]["model"]),
            axis=axis,
            judges={key: _text(value) for key, value in data["judges"].items()},
            entries=entries_of(data),
            verifies=tuple(_text(result) for result in data.get("verifies", ())),
            outdated=frozenset(_text(digest) for digest in data.get("outdated", ())),
            losses=tuple(_text(line) for line in data.get("losses", ())),
            dataset=_text(data.get("dataset", "")),
            spec=_text(data["suite"]["specSha256"]),
            sha256={
                TRACES_FILE: _text(data.get("tracesSha256", "")),
                CASES_FILE: _text(data.get("casesSha256", "")),
            },
        )
    except KeyError as error:
        raise ValueError(f"it is no index of packets: it lacks {error}") from error
    except (TypeError, AttributeError) as error:
        raise ValueError("it is no index of packets, or was edited") from error


def entries_of(data: Mapping[str, Any]) -> tuple[PacketEntry, ...]:
    """Return the entries of an index's data. Raises KeyError and TypeError."""
    if data["axis"] == "criterion":
        return tuple(_task_entry(entry) for entry in data["tasks"])
    return tuple(_packet_entry(entry) for entry in data["packets"])


def _packet_entry(data: Any) -> PacketEntry:
    trajectory_id = _text(data["trajectoryId"])
    return PacketEntry(
        file=_path(data["packet"]),
        sha256=_text(data["sha256"]),
        verdict_file=_path(data["verdictFile"]),
        pairs=tuple((trajectory_id, _text(c)) for c in data["criteria"]),
    )


def _task_entry(data: Any) -> PacketEntry:
    return PacketEntry(
        file=_path(data["task"]),
        sha256=_text(data["sha256"]),
        verdict_file=_path(data["verdictFile"]),
        pairs=tuple(
            (_text(answer["trajectoryId"]), _text(answer["criterionId"]))
            for answer in data["answers"]
        ),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return value


def _path(value: Any) -> str:
    """Return a text that a file system may take for a path. Raises TypeError."""
    path = _text(value)
    if "\0" in path or any("\ud800" <= char <= "\udfff" for char in path):
        raise TypeError("expected the name of a file")
    return path


def verdicts_beside(packets: Path) -> Path:
    """Return the folder of the verdicts: beside that of the packets."""
    if packets.name in ("", ".."):
        packets = packets.resolve()
    name = packets.name
    return packets.parent / ("verdicts" if name == "packets" else f"{name}-verdicts")


def packets_of(verdicts: Path) -> Path | None:
    """Return the folder of packets that verdicts answer, or None where it is not known.

    It is their own folder, or the one beside them, the other way round than
    `verdicts_beside`; an index is in it.
    """
    if verdicts.name in ("", ".."):
        verdicts = verdicts.resolve()
    name = "packets" if verdicts.name == "verdicts" else verdicts.name
    beside = verdicts.parent / name.removesuffix("-verdicts")
    found = (one for one in (verdicts, beside) if (one / INDEX_FILE).is_file())
    return next(found, None)


def cases_digest(cases: Iterable[Case]) -> str:
    """Return the content hash of cases, whatever their order."""
    return content_key(*sorted(case.digest for case in cases))


def judge_digests(suite: Suite) -> dict[str, str]:
    """Return the content hash of each judge by its criterion's id."""
    return {c.id: c.judge.digest for c in suite.criteria if c.judge is not None}


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read piece by piece. Raises OSError."""
    import hashlib

    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def file_name(path: str) -> str:
    """Return the last part of a path of an index, which may have been edited."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]
