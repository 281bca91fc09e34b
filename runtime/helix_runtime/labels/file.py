"""What people said of traces: `labels.jsonl`, one label a line, only ever added to.

`{"traceId", "criterionId", "label": pass|fail|defer|underdetermined, "note"?,
"annotator"?, "traceDigest"?, "criterionDigest"?}`. A later line of one annotator on one
trace and criterion replaces the earlier one; two annotators who differ are a
disagreement, and it is listed, not solved. The digests say which run was labelled, as a
trace's id is the same in each run of a case, and under which words of the criterion
(`marks`): commands write them, people need not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..canonical import dump_line
from ..record import field, record, replace
from ..refusal import close_match
from ..strict_json import unambiguous, why_unreadable
from ..whole_file import whole_file

FILE_NAME: Final = "labels.jsonl"

Word = Literal["pass", "fail", "defer", "underdetermined"]
WORDS: Final[tuple[Word, ...]] = get_args(Word)

_TEXTS: Final = ("note", "annotator", "traceDigest", "criterionDigest")
_KEYS: Final = ("traceId", "criterionId", "label", *_TEXTS)


@record(kw_only=True)
class Label:
    """What one person (or nobody named) said of one trace under one criterion.

    `trace_digest` says which of the runs under the trace's id was labelled, and
    `criterion_digest` what the criterion's words were; None where nobody knows.
    """

    trace_id: str
    criterion_id: str
    label: Word
    note: str | None = None
    annotator: str | None = None
    trace_digest: str | None = None
    criterion_digest: str | None = None

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
        if self.trace_digest is not None:
            line["traceDigest"] = self.trace_digest
        if self.criterion_digest is not None:
            line["criterionDigest"] = self.criterion_digest
        return line

    def says_the_same(self, other: Label) -> bool:
        """Whether it is the same word, with the same note."""
        return (self.label, self.note) == (other.label, other.note)

    def may_be_of(self, other: Label) -> bool:
        """Whether both may be of one run: nobody knows that they are of two."""
        return (
            None in (self.trace_digest, other.trace_digest)
            or self.trace_digest == other.trace_digest
        )


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
    for key in _TEXTS:
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
            trace_digest=data.get("traceDigest") or None,
            criterion_digest=data.get("criterionDigest") or None,
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

    `current` are the labels that stand: the last of each annotator on each run and
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
    standing = Standing()
    steps = [standing.take(label) for label in labels]
    return summary_of(
        standing.labels,
        duplicates=steps.count("again"),
        changed=steps.count("changed"),
    )


def summary_of(
    current: Sequence[Label], *, duplicates: int = 0, changed: int = 0
) -> LabelSummary:
    """Return what labels that stand come to."""
    subjects: dict[tuple[str, str], list[Label]] = {}
    counts: dict[str, dict[str, int]] = {}
    for label in current:
        subjects.setdefault(label.subject, []).append(label)
        words = counts.setdefault(label.criterion_id, dict.fromkeys(WORDS, 0))
        words[label.label] += 1
    return LabelSummary(
        current=tuple(current),
        duplicates=duplicates,
        changed=changed,
        disagreements=tuple(
            Disagreement(trace_id=trace, criterion_id=criterion, labels=differing)
            for (trace, criterion), said in subjects.items()
            if (differing := _differing(said))
        ),
        counts={name: counts[name] for name in sorted(counts)},
    )


def _differing(said: Sequence[Label]) -> tuple[Label, ...]:
    """The labels of a subject that differ from another one on what may be one run."""
    return tuple(
        one
        for one in said
        if any(one.label != other.label and one.may_be_of(other) for other in said)
    )


Step = Literal["new", "again", "changed", "marked"]


class Standing:
    """The labels that stand while lines are taken in, one after the other.

    A line replaces what its annotator said before of that trace and criterion, unless
    the two are known to be of two runs.
    """

    def __init__(self) -> None:
        self._said: dict[tuple[str, str, str], list[Label]] = {}

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels that stand."""
        return tuple(label for said in self._said.values() for label in said)

    def before(self, label: Label) -> Sequence[Label]:
        """Return what stands of its annotator on its trace and criterion."""
        return self._said.get((*label.subject, label.annotator or ""), ())

    def take(self, label: Label) -> Step:
        """Take in a line, and return what it does.

        "marked" is one that says the same, and of which run or under which words.
        """
        said = self._said.setdefault((*label.subject, label.annotator or ""), [])
        rivals = [one for one in said if one.may_be_of(label)]
        if not rivals:
            said.append(label)
            return "new"
        last = rivals[-1]
        step: Step = "changed"
        if last.says_the_same(label):
            step = "marked"
            told = (label.trace_digest, label.criterion_digest)
            known = (last.trace_digest, last.criterion_digest)
            if all(new in (None, old) for new, old in zip(told, known, strict=True)):
                return "again"
            label = replace(
                label,
                trace_digest=label.trace_digest or last.trace_digest,
                criterion_digest=label.criterion_digest or last.criterion_digest,
            )
        place = said.index(rivals[0])
        said[:] = [one for one in said if one not in rivals]
        said.insert(place, label)
        return step


# -- writing -----------------------------------------------------------------------------


@record(frozen=False)
class Added:
    """What adding labels to a file came to.

    `marked` are lines that say again what stood, and of which run or words it is.
    """

    added: int = 0
    duplicates: int = 0
    changed: int = 0
    marked: int = 0
    lines: list[str] = field(default_factory=list)


def add_labels(path: Path, labels: Sequence[Label]) -> Added:
    """Append the labels that say anything new; earlier lines are left as they are.

    Raises OSError where the file can't be written.
    """
    standing = Standing()
    for label in read_labels(path).labels:
        standing.take(label)
    done = Added()
    for label in labels:
        step = standing.take(label)
        done.added += step == "new"
        done.duplicates += step == "again"
        done.changed += step == "changed"
        done.marked += step == "marked"
        if step != "again":
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
