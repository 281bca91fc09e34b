"""Labels from elsewhere: tables (CSV) and the scores of Langfuse; and out as CSV.

A table has a row for each label (columns for the trace, the criterion and the label),
or a row for each trace with a column for each criterion. Of Langfuse only what people
annotated is taken: what a model scored is no label.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..record import field, record
from ..refusal import close_match
from ..whole_file import whole_file
from .file import WORDS, Label, Word, read_labels

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "traceId": ("traceid", "trace", "id"),
    "criterionId": ("criterionid", "criterion", "criteria"),
    "label": ("label", "verdict", "result", "value"),
    "note": ("note", "comment", "critique", "reason"),
    "annotator": ("annotator", "labeler", "labeller", "reviewer", "user"),
    "traceDigest": ("tracedigest",),
    "criterionDigest": ("criteriondigest",),
}
_WORDS: Final[Mapping[str, Word]] = {
    "pass": "pass",
    "passed": "pass",
    "p": "pass",
    "true": "pass",
    "yes": "pass",
    "y": "pass",
    "1": "pass",
    "1.0": "pass",
    "good": "pass",
    "fail": "fail",
    "failed": "fail",
    "f": "fail",
    "false": "fail",
    "no": "fail",
    "n": "fail",
    "0": "fail",
    "0.0": "fail",
    "bad": "fail",
    "defer": "defer",
    "deferred": "defer",
    "skip": "defer",
    "underdetermined": "underdetermined",
    "unsure": "underdetermined",
    "uncertain": "underdetermined",
    "unclear": "underdetermined",
    "?": "underdetermined",
}
_EMPTY: Final = frozenset(("", "-", "n/a", "na", "null", "none"))
# A cell that starts so is a formula to a spreadsheet: it gets an apostrophe in front.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@record(frozen=False)
class Imported:
    """What was read: labels, faults at their place, and what is no label, by reason."""

    labels: list[Label] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, why: str) -> None:
        """Count what is no label, and no fault."""
        self.left_out[why] = self.left_out.get(why, 0) + 1


@record(kw_only=True)
class Naming:
    """Whose names are what: the suite's criteria, and `--map THEIRS=OURS`."""

    criteria: Collection[str]
    given: Mapping[str, str] = field(default_factory=dict)
    annotator: str | None = None

    def criterion(self, name: str) -> str | None:
        """Return the criterion that a stranger's name is, or None."""
        named = self.given.get(name, name)
        return named if named in self.criteria else None

    def unknown(self, name: str) -> str:
        """Return what to say of a name that is no criterion."""
        hint = close_match(name, sorted(self.criteria))
        return f"{name!r} is no criterion of the suite{hint}: --map {name}=CRITERION"


def kind_of(path: Path) -> str:
    """Return what a file holds: `labels`, `csv` or `langfuse`. Raises OSError."""
    from ..formats.source import read_head

    head = read_head(path, 1 << 16).lstrip()
    if head[:1] not in (b"{", b"["):
        return "csv"
    return "labels" if b'"criterionId"' in head else "langfuse"


def import_labels(path: Path, kind: str, naming: Naming) -> Imported:
    """Return the labels of a file of that kind. Raises OSError."""
    if kind == "labels":
        found = read_labels(path)
        done = Imported(labels=list(found.labels), problems=list(found.problems))
        for label in found.labels:
            if label.criterion_id not in naming.criteria:
                done.problems.append(
                    f"{path.name}: {naming.unknown(label.criterion_id)}"
                )
        done.problems = list(dict.fromkeys(done.problems))
        return done
    return _csv(path, naming) if kind == "csv" else _langfuse(path, naming)


def word_of(value: Any) -> Word | None:
    """Return the label that a stranger's word or number is, or None."""
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if isinstance(value, (int, float)):
        if value == 1:
            return "pass"
        return "fail" if value == 0 else None
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return None


# -- tables ------------------------------------------------------------------------------


def _csv(path: Path, naming: Naming) -> Imported:
    done = Imported()
    with path.open(encoding="utf-8-sig", errors="strict", newline="") as file:
        try:
            sample = file.read(1 << 14)
            file.seek(0)
            rows = csv.reader(file, delimiter=_delimiter(sample))
            header = next(rows, None)
            if header is None:
                done.problems.append(f"{path.name}: an empty table")
                return done
            columns = _columns(header, naming)
            fault = _lacking(columns, header, naming)
            if fault is not None:
                done.problems.append(f"{path.name}:1: {fault}")
                return done
            for name in _unread(columns, header):
                hint = close_match(name, sorted(naming.criteria))
                done.leave_out(
                    f"column {name!r}, which is no criterion{hint} (--map maps it)"
                )
            for row in rows:
                place = f"{path.name}:{rows.line_num}"
                if any(cell.strip() for cell in row):
                    _row(row, columns, naming, place, done)
        except (csv.Error, UnicodeDecodeError) as error:
            done.problems.append(f"{path.name}: not a table that can be read: {error}")
    return done


def _delimiter(sample: str) -> str:
    first = sample.partition("\n")[0]
    return max((",", ";", "\t"), key=first.count)


def _columns(header: list[str], naming: Naming) -> dict[str, int]:
    """Return the place of each of our fields; of a criterion, under its own id."""
    columns: dict[str, int] = {}
    for index, name in enumerate(header):
        name = name.strip()
        ours = naming.given.get(name)
        if ours is None:
            plain = "".join(c for c in name.lower() if c.isalnum())
            ours = next((o for o, names in _COLUMNS.items() if plain in names), None)
        if ours is None and name in naming.criteria:
            ours = name
        if ours is not None:
            columns.setdefault(ours, index)
    return columns


def _unread(columns: Mapping[str, int], header: list[str]) -> list[str]:
    """Return the columns that are read as nothing, of a table of criteria.

    In a table with a row for each label no other column can hold labels.
    """
    if "criterionId" in columns:
        return []
    read = set(columns.values())
    return [
        name.strip()
        for index, name in enumerate(header)
        if index not in read and name.strip()
    ]


def _lacking(
    columns: Mapping[str, int], header: list[str], naming: Naming
) -> str | None:
    told = ", ".join(header[:20])
    if "traceId" not in columns:
        return f"no column says the trace ({told}): --map COLUMN=traceId"
    if "criterionId" in columns and "label" not in columns:
        return f"no column says the label ({told}): --map COLUMN=label"
    if "criterionId" not in columns and not set(columns) & set(naming.criteria):
        return (
            f"no column says the criterion, and none is one ({told}): "
            "--map COLUMN=criterionId, or COLUMN=CRITERION for a column of its labels"
        )
    return None


def _row(
    row: list[str],
    columns: Mapping[str, int],
    naming: Naming,
    place: str,
    done: Imported,
) -> None:
    def cell(name: str) -> str:
        index = columns.get(name)
        return _bare(row[index]) if index is not None and index < len(row) else ""

    trace_id = cell("traceId").strip()
    if not trace_id:
        done.problems.append(f"{place}: the row names no trace")
        return
    said: list[tuple[str, str]] = []
    if "criterionId" in columns:
        name = cell("criterionId").strip()
        criterion = naming.criterion(name)
        if criterion is None:
            done.problems.append(f"{place}: {naming.unknown(name)}")
            return
        said.append((criterion, cell("label")))
    else:
        said += [(name, cell(name)) for name in columns if name in naming.criteria]
    for criterion, text in said:
        if text.strip().lower() in _EMPTY:
            done.leave_out("cells without a label")
            continue
        word = word_of(text)
        if word is None:
            done.problems.append(
                f"{place}: {text!r} is no label: it must be one of {', '.join(WORDS)}"
            )
            continue
        done.labels.append(
            Label(
                trace_id=trace_id,
                criterion_id=criterion,
                label=word,
                note=cell("note") or None,
                annotator=cell("annotator").strip() or naming.annotator,
                trace_digest=cell("traceDigest").strip() or None,
                criterion_digest=cell("criterionDigest").strip() or None,
            )
        )


def write_csv(path: Path, labels: Iterable[Label]) -> None:
    """Write labels as a table, at once and whole. Raises OSError."""
    with (
        whole_file(path) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out,
    ):
        table = csv.writer(out, lineterminator="\n")
        table.writerow(_COLUMNS)
        for one in labels:
            table.writerow(
                _safe(cell or "")
                for cell in (
                    one.trace_id,
                    one.criterion_id,
                    one.label,
                    one.note,
                    one.annotator,
                    one.trace_digest,
                    one.criterion_digest,
                )
            )


def _safe(cell: str) -> str:
    return "'" + cell if cell.startswith((*_FORMULA, "'")) else cell


def _bare(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:2] in (*_FORMULA, "'") else cell


# -- Langfuse ----------------------------------------------------------------------------


def _langfuse(path: Path, naming: Naming) -> Imported:
    from ..formats.source import read_records
    from ..unitf import ReadCount

    done = Imported()
    count = ReadCount()
    for value in read_records(path, count, lists=frozenset(("data", "scores"))):
        for score, trace_id in _scores_in(value.data):
            _score(score, trace_id, value.place, naming, done)
    done.problems += count.faults
    return done


def _scores_in(record: Any) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Yield each score of a record with the trace that it is of."""
    if not isinstance(record, dict):
        return
    if "name" in record and ("value" in record or "stringValue" in record):
        yield record, record.get("traceId", record.get("trace_id"))
        return
    inner = record.get("trace")
    trace = inner if isinstance(inner, dict) else record
    scores = trace.get("scores")
    for score in scores if isinstance(scores, list) else ():
        if isinstance(score, dict):
            yield score, score.get("traceId") or trace.get("id")


def _score(
    score: Mapping[str, Any],
    trace_id: Any,
    place: str,
    naming: Naming,
    done: Imported,
) -> None:
    name, source = score.get("name"), score.get("source")
    if not isinstance(name, str) or not isinstance(trace_id, str) or not trace_id:
        done.problems.append(f"{place}: a score without a name or a trace")
        return
    criterion = naming.criterion(name)
    if criterion is None:
        done.leave_out(f"scores named {name!r}, which is no criterion (--map maps it)")
        return
    if source == "EVAL":
        done.leave_out("scores that a model gave")
        return
    if source != "ANNOTATION" and naming.annotator is None:
        done.leave_out(
            "scores that a program sent (with --annotator WHO they are taken as WHO's)"
        )
        return
    said = score.get("stringValue", score.get("string_value"))
    word = word_of(said) if isinstance(said, str) and said else None
    word = word or word_of(score.get("value"))
    if word is None:
        told = said if isinstance(said, str) and said else score.get("value")
        done.problems.append(
            f"{place}: the score {name!r} is {str(told)[:80]!r}, which is neither a pass "
            "nor a fail"
        )
        return
    author = score.get("authorUserId", score.get("author_user_id"))
    comment = score.get("comment")
    done.labels.append(
        Label(
            trace_id=trace_id,
            criterion_id=criterion,
            label=word,
            note=comment if isinstance(comment, str) and comment else None,
            annotator=(
                author if isinstance(author, str) and author else naming.annotator
            ),
        )
    )
