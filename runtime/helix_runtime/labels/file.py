"""What people said of traces: `labels.jsonl`, one label a line, only ever added to.

`{"traceId", "criterionId", "label": pass|fail|defer|underdetermined, "note"?,
"annotator"?}`. A later line of one annotator on one trace and criterion replaces the
earlier one; two annotators who differ are a disagreement, and it is listed, not solved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..canonical import dump_line
from ..record import field, record
from ..refusal import close_match
from ..strict_json import unambiguous, why_unreadable
from ..whole_file import whole_file

FILE_NAME: Final = "labels.jsonl"

Word = Literal["pass", "fail", "defer", "underdetermined"]
WORDS: Final[tuple[Word, ...]] = get_args(Word)

_KEYS: Final = ("traceId", "criterionId", "label", "note", "annotator")


@record(kw_only=True)
class Label:
    """What one person (or nobody named) said of one trace under one criterion."""

    trace_id: str
    criterion_id: str
    label: Word
    note: str | None = None
    annotator: str | None = None

    @property
    def subject(self) -> tuple[str, str]:
        """What is labelled: the trace and the criterion."""
        return self.trace_id, self.criterion_id

    def to_record(self) -> dict[str, Any]:
        """Return the line of `labels.jsonl` as plain data."""
        line: dict[str, Any] = {
            "traceId": self.trace_id,
            "criterionId": self.criterion_id,
            "label": self.label,
        }
        if self.note is not None:
            line["note"] = self.note
        if self.annotator is not None:
            line["annotator"] = self.annotator
        return line


@record(kw_only=True)
class LabelFile:
    """The labels of a file in their order, and every fault, `FILE:LINE: what`."""

    labels: tuple[Label, ...] = ()
    problems: tuple[str, ...] = ()


def read_labels(path: Path) -> LabelFile:
    """Return the labels of a JSON Lines file; a missing file has none.

    Every fault is told at its line; the lines without a fault are read all the same.
    Raises OSError where the file can't be read.
    """
    labels: list[Label] = []
    problems: list[str] = []
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line.strip():
                    continue
                try:
                    data = unambiguous(line.decode("utf-8"))
                except (ValueError, RecursionError) as error:
                    problems.append(f"{path.name}:{number}: {why_unreadable(error)}")
                    continue
                label, faults = label_of(data)
                problems += [f"{path.name}:{number}: {fault}" for fault in faults]
                if label is not None:
                    labels.append(label)
    except FileNotFoundError:
        pass
    return LabelFile(labels=tuple(labels), problems=tuple(problems))


def no_labels(path: Path) -> list[str]:
    """Return what is said where nobody has labelled a run yet: how to begin."""
    return [
        f"no labels in {path}",
        'label whole runs, one label a line: {"traceId": "…", "criterionId": "…", '
        '"label": "pass", "note": "why", "annotator": "who"}',
        f"label: {', '.join(WORDS)}; a run's id is the `traceId` in runs/RUN/"
        "traces.jsonl (`sample` chooses runs, `labels import FILE` takes a table)",
    ]


def label_of(data: Any) -> tuple[Label | None, list[str]]:
    """Return the label of one line, or None, with every fault of it."""
    if not isinstance(data, dict):
        return None, ["a label is a JSON object"]
    faults = [
        f"`{key}` is no field of a label{close_match(key, list(_KEYS))}"
        for key in data
        if key not in _KEYS
    ]
    for key in ("traceId", "criterionId"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            faults.append(f"`{key}` must be a text that is not empty")
    word = data.get("label")
    if word not in WORDS:
        guess = close_match(word, list(WORDS)) if isinstance(word, str) else ""
        faults.append(f"`label` must be one of {', '.join(WORDS)}{guess}")
    for key in ("note", "annotator"):
        if data.get(key) is not None and not isinstance(data[key], str):
            faults.append(f"`{key}` must be a text")
    if faults:
        return None, faults
    return (
        Label(
            trace_id=data["traceId"],
            criterion_id=data["criterionId"],
            label=data["label"],
            note=data.get("note") or None,
            annotator=data.get("annotator") or None,
        ),
        [],
    )


# -- what they come to -----------------------------------------------------------------


@record(kw_only=True)
class Disagreement:
    """Annotators who said different things of one trace under one criterion."""

    trace_id: str
    criterion_id: str
    labels: tuple[Label, ...]

    def __str__(self) -> str:
        said = ", ".join(
            f"{one.annotator or '(nobody)'}: {one.label}" for one in self.labels
        )
        return f"{self.trace_id} × {self.criterion_id}: {said}"


@record(kw_only=True)
class LabelSummary:
    """What the lines of a file come to.

    `current` are the labels that stand: the last of each annotator on each trace and
    criterion. `duplicates` are lines that say again what stands, `changed` those that
    replace an earlier word. `counts` is criterion → word → how many stand.
    """

    current: tuple[Label, ...]
    duplicates: int
    changed: int
    disagreements: tuple[Disagreement, ...]
    counts: Mapping[str, Mapping[str, int]]


def summarize(labels: Iterable[Label]) -> LabelSummary:
    """Return what labels in the order of their lines come to."""
    standing: dict[tuple[str, str, str], Label] = {}
    duplicates = changed = 0
    for label in labels:
        key = (*label.subject, label.annotator or "")
        before = standing.get(key)
        if before is not None:
            same = (before.label, before.note) == (label.label, label.note)
            duplicates += same
            changed += not same
        standing[key] = label
    subjects: dict[tuple[str, str], list[Label]] = {}
    counts: dict[str, dict[str, int]] = {}
    for label in standing.values():
        subjects.setdefault(label.subject, []).append(label)
        words = counts.setdefault(label.criterion_id, dict.fromkeys(WORDS, 0))
        words[label.label] += 1
    return LabelSummary(
        current=tuple(standing.values()),
        duplicates=duplicates,
        changed=changed,
        disagreements=tuple(
            Disagreement(trace_id=trace, criterion_id=criterion, labels=tuple(said))
            for (trace, criterion), said in subjects.items()
            if len({one.label for one in said}) > 1
        ),
        counts={name: counts[name] for name in sorted(counts)},
    )


# -- writing -----------------------------------------------------------------------------


@record(frozen=False)
class Added:
    """What adding labels to a file came to."""

    added: int = 0
    duplicates: int = 0
    changed: int = 0
    lines: list[str] = field(default_factory=list)


def add_labels(path: Path, labels: Sequence[Label]) -> Added:
    """Append the labels that say anything new; earlier lines are left as they are.

    Raises OSError where the file can't be written.
    """
    standing = {
        (*label.subject, label.annotator or ""): label
        for label in read_labels(path).labels
    }
    done = Added()
    for label in labels:
        key = (*label.subject, label.annotator or "")
        before = standing.get(key)
        if before is not None and (before.label, before.note) == (
            label.label,
            label.note,
        ):
            done.duplicates += 1
            continue
        done.changed += before is not None
        done.added += before is None
        standing[key] = label
        done.lines.append(dump_line(label.to_record()))
    if done.lines:
        _append(path, done.lines)
    return done


def _append(path: Path, lines: Sequence[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    if not _ends_its_line(path):
        text = "\n" + text  # a torn last line must not swallow the first new one
    with path.open("ab") as file:
        file.write(text.encode("utf-8", "backslashreplace"))
        file.flush()
        os.fsync(file.fileno())


def _ends_its_line(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except FileNotFoundError:
        return True


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Write labels as JSON Lines, at once and whole. Raises OSError."""
    with (
        whole_file(path) as part,
        part.open(
            "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as out,
    ):
        for label in labels:
            out.write(dump_line(label.to_record()) + "\n")
