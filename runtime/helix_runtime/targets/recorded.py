"""Recorded traces as the runs of cases: which trace belongs to which case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..canonical import content_key
from ..case import Case
from ..disk_table import DiskTable
from ..names import recorded_case_id
from ..plain_lines import LINE, trace_line
from ..record import field, record, replace
from ..refusal import Refusal
from ..trace import Trace
from ..unitf import MAX_NAMED_FAULTS, ReadCount
from .turns import said_in

if TYPE_CHECKING:
    from ..formats.mapped import Mapped
    from ..settings import Settings

ORIGIN: Final = "recorded-trace"
NO_PROMPT: Final = "(no prompt recorded)"

_SAID: Final = 16
_NEXT: Final = 8

# What is added to a case's id: which repeat, and which of two runs of one id.
_REPEAT: Final = re.compile(r"(-r\d+)?(#\d+)?$")
_NAMES: Final = (
    "caseId",
    "case_id",
    "case",
    "case.id",
    "datasetItemId",
    "dataset_item_id",
)


class TraceFiles(tuple[Path, ...]):
    """Files of recorded traces and how they are read.

    `format` is one of `formats.FORMATS`, None to find out by the content of each;
    `mapping` is what a team's own records are read by.
    """

    format: str | None = None
    mapping: Mapped | None = None

    @classmethod
    def of(
        cls,
        paths: Iterable[Path],
        *,
        format: str | None = None,
        mapping: Mapped | None = None,
    ) -> TraceFiles:
        """Return the files with how they are read. Raises Refusal for no format."""
        from ..formats import check

        check(format, mapping)
        files = cls(paths)
        files.format = format
        files.mapping = mapping
        return files


def configured_traces(settings: Settings, root: Path) -> list[Path]:
    """Return the files that `traces` of `evals.toml` names. Raises Refusal."""
    found: list[Path] = []
    for glob in settings.traces:
        try:
            matches = sorted(root.glob(glob))
        except (ValueError, NotImplementedError):
            matches = [Path(glob)]  # an absolute path is no glob
        if not matches:
            raise Refusal(f"evals.toml: `traces`: nothing matches {glob!r}")
        found += matches
    return found


@record
class CaseIndex:
    """The cases by id and by what the user says in them (white space normalized): the
    query, or all turns where there are several. Of two that say the same, and are
    judged alike, the first; those that are not judged alike are `confusable`."""

    by_id: Mapping[str, Case]
    by_words: Mapping[str, Case]
    confusable: Mapping[str, tuple[Case, ...]] = field(default_factory=dict)


def index_cases(cases: Iterable[Case]) -> CaseIndex:
    """Return the index that `match_case` reads.

    A placeholder is matched by its id alone. A row that stands for a recorded trace
    is left out: its trace makes it again, and with it its wider scope.
    """
    by_id: dict[str, Case] = {}
    by_words: dict[str, Case] = {}
    confusable: dict[str, tuple[Case, ...]] = {}
    for case in cases:
        if case.dimensions.get("origin") == ORIGIN and case.origin_trace_id:
            continue
        by_id.setdefault(case.id, case)
        if case.placeholder:
            continue
        words = normal(*said_in(case))
        first = by_words.setdefault(words, case)
        if first is not case and not _judged_alike(first, case):
            confusable[words] = (*confusable.get(words, (first,)), case)
    for words in confusable:
        del by_words[words]
    return CaseIndex(by_id, by_words, confusable)


def _judged_alike(one: Case, other: Case) -> bool:
    """Whether it makes no difference to which of two cases a run is said to belong."""
    return all(getattr(one, name) == getattr(other, name) for name in _JUDGED_BY)


_JUDGED_BY: Final = (
    "dataset",
    "category",
    "scenario",
    "expected_behavior",
    "input",
    "expected",
)


def match_case(trace: Trace, index: CaseIndex) -> Case:
    """Return the case that a recorded trace is a run of.

    It is the case that the trace names (its id, with or without `-rN`, a tag, a
    value of its metadata), else the case in which the user says the same, else the
    one whose only message is the trace's prompt, else a case of its own (`recorded`).
    Where several cases say the same and expect different things nobody can tell which
    of them was run: such a trace stands for itself too, under no one's expectation.
    """
    for name in names_of(trace):
        case = index.by_id.get(name)
        if case is not None:
            return case
    for words in _words_of(trace):
        if words in index.by_words:
            return index.by_words[words]
        if words in index.confusable:
            break
    return own_case(trace)


def _words_of(trace: Trace) -> Iterator[str]:
    said = said_to(trace)
    for texts in (said, said[:1]) if said else ():
        yield normal(*texts)


def confused_with(trace: Trace, index: CaseIndex) -> tuple[Case, ...]:
    """Return the cases that a trace that stands for itself may be a run of."""
    for words in _words_of(trace):
        if words in index.confusable:
            return index.confusable[words]
    return ()


def said_to(trace: Trace) -> list[str]:
    """Return all that the user said in a trace, in order; its prompt where no turn is
    the user's."""
    said = [
        span.text
        for span in trace.spans
        if span.effective_role == "user" and span.text is not None
    ]
    if not said and trace.prompt is not None:
        said = [trace.prompt]
    return said


def case_of(trace_id: str) -> str:
    """Return a trace's id without the number of its repeat: its case's, where it ran."""
    return _REPEAT.sub("", trace_id) or trace_id


def own_case(trace: Trace) -> Case:
    """Return the case that a trace stands for by itself."""
    return Case(
        id=recorded_case_id(trace.id),
        query=trace.prompt or NO_PROMPT,
        dimensions={"origin": ORIGIN},
        source="derived",
        origin_trace_id=trace.id,
        recorded=True,
    )


@record(frozen=False)
class RecordedCount:
    """What reading recorded traces met; `matched` are traces that name a row's case.

    `repeats` are lines that say again what a line before said, `renamed` other runs
    under an id that was met already. `confused` are traces that say what several cases
    say, `confusable` those cases by their ids.
    """

    read: ReadCount = field(default_factory=ReadCount)
    matched: int = 0
    own: int = 0
    repeated: list[str] = field(default_factory=list)
    repeats: int = 0
    renamed: int = 0
    covered: set[str] = field(default_factory=set)
    flagged: int = 0
    confused: int = 0
    confusable: dict[str, Case] = field(default_factory=dict)


def read_recorded(
    paths: Sequence[Path], index: CaseIndex, count: RecordedCount
) -> Iterator[tuple[Case, Trace]]:
    """Yield each trace of the files with its case, in order, in flat memory.

    `paths` may be TraceFiles, which say how they are read; of others the format is
    found by their content. A trace that says word for word what one of its id said
    is left out; any other one of that id is a run too, under the id with `#2`: a run
    that fails must not vanish behind one that passes. Raises Refusal where a file
    can't be read.
    """
    from ..formats import read_file

    files = paths if isinstance(paths, TraceFiles) else TraceFiles(paths)
    with _Runs() as runs:
        for path in files:
            try:
                for trace in read_file(
                    path, format=files.format, mapping=files.mapping, count=count.read
                ):
                    known = runs.take(trace)
                    if known is None:
                        count.repeats += 1
                        if len(count.repeated) < MAX_NAMED_FAULTS:
                            count.repeated.append(trace.id)
                        continue
                    case = match_case(trace, index)
                    if known is not trace:
                        count.renamed += 1
                        trace = known
                        if case.recorded:
                            case = own_case(trace)
                    if case.recorded:
                        count.own += 1
                        rivals = confused_with(trace, index) if index.confusable else ()
                        if rivals:
                            count.confused += 1
                            count.confusable.update((one.id, one) for one in rivals)
                    else:
                        count.matched += 1
                        count.covered.add(case.id)
                    if trace.flagged_incomplete and trace.incomplete is None:
                        count.flagged += 1
                    yield case, trace
            except OSError as error:
                reason = error.strerror or str(error)
                raise Refusal(f"the traces {path} can't be read: {reason}") from error


class _Runs:
    """The runs that were met: each id with the hash of what its first trace said.

    Further ones of an id have entries of their own; with the first stands the number
    that the next one may take. Millions of them are kept in a temporary file.
    """

    def __init__(self) -> None:
        self._table = DiskTable(_SAID + _NEXT)

    def __enter__(self) -> _Runs:
        return self

    def __exit__(self, *_: object) -> None:
        self._table.close()

    def take(self, trace: Trace) -> Trace | None:
        """Return the trace, or itself under a new id; None where it says nothing new."""
        said = _said(trace)
        key = bytes.fromhex(content_key(trace.id))
        held = self._table.get(key)
        if held is None:
            self._table.put(key, said + _number(2))
            return trace
        again = bytes.fromhex(content_key(trace.id, said.hex()))
        if held[:_SAID] == said or self._table.get(again) is not None:
            return None
        self._table.put(again, said + _number(0))
        number = int.from_bytes(held[_SAID:], "big")
        while True:
            renamed = f"{trace.id}#{number}"
            own = bytes.fromhex(content_key(renamed))
            number += 1
            if self._table.get(own) is None:
                break
        self._table.put(key, held[:_SAID] + _number(number))
        trace = replace(trace, id=renamed)
        self._table.put(own, _said(trace) + _number(2))
        return trace


def _number(number: int) -> bytes:
    return number.to_bytes(_NEXT, "big")


def _said(trace: Trace) -> bytes:
    """Return what tells a trace from another one of its id."""
    try:
        line = trace_line(trace)
    except (TypeError, ValueError, AttributeError, RecursionError):
        return urandom(_SAID)  # what can't be compared is no repetition
    vars(trace)[LINE] = line
    return bytes.fromhex(content_key(line))


def names_of(trace: Trace) -> Iterator[str]:
    """Yield the names by which a trace may say which case it is a run of."""
    yield trace.id
    yield case_of(trace.id)
    for tag in trace.tags:
        yield tag
        # Tags are often `key:value` or `key=value`.
        for separator in (":", "="):
            if separator in tag:
                yield tag.partition(separator)[2].strip()
    yield from _values(trace.ext)
    yield from _values(trace.extra)


def _values(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that name a case in metadata, one level into its objects."""
    for block in (data, *data.values()):
        if isinstance(block, Mapping):
            for name in _NAMES:
                value = block.get(name)
                if isinstance(value, str):
                    yield value


def normal(*texts: str) -> str:
    """Return texts as one, each white space one space: how what is said is compared."""
    return " ".join(" ".join(text.split()) for text in texts)


def losses_of(count: RecordedCount, *, files: Sequence[Path], cases: int) -> list[str]:
    """Return what stands beside the gate: runs that it lacks, or that it has twice.

    `cases` is how many the dataset has.
    """
    lines = []
    lacking = cases - len(count.covered)
    if lacking > 0:
        have = "has" if lacking == 1 else "have"
        lines.append(f"{lacking:,} of {cases:,} cases {have} no recorded run")
    if count.confused:
        runs = (
            "1 recorded run says"
            if count.confused == 1
            else (f"{count.confused:,} recorded runs say")
        )
        lines.append(
            f"{runs} what several cases say that expect different things, and names none "
            "by its id: judged without any expectation"
        )
    if count.read.skipped:
        number = count.read.skipped
        where = (
            files[0].name if len(files) == 1 else f"the {len(files)} files of traces"
        )
        lines.append(
            f"1 line of {where} could not be read: its run is not judged"
            if number == 1
            else f"{number} lines of {where} could not be read: their runs are not "
            "judged"
        )
    if count.renamed:
        lines.append(
            f"{count.renamed} recorded runs bear the id of another one and say "
            "something else: each is judged, under its id with a number"
        )
    return lines


def coverage_of(count: RecordedCount) -> list[str]:
    """Return what was read and what of it is a run of which case, a line each."""
    read = count.read
    lines = [
        f"{read.traces} traces read{read.told_formats()}: "
        f"{count.matched} belong to a case of the dataset, "
        f"{count.own} stand for themselves",
    ]
    if count.repeats:
        named = ", ".join(count.repeated)
        lines.append(
            f"{count.repeats} traces say word for word what one before said and were "
            f"left out: {named}"
        )
    if read.doubted:
        lines.append(
            f"{read.doubted} traces may hold tool calls that can't be read; checks on "
            "tool calls are uncertain there:"
        )
        lines += [f"  {doubt}" for doubt in read.doubts]
    if read.skipped:
        lines.append(f"{read.skipped} lines could not be read and were skipped:")
        lines += [f"  {fault}" for fault in read.faults]
        if read.skipped > len(read.faults):
            lines.append(f"  and {read.skipped - len(read.faults)} more")
    if count.flagged:
        lines.append(
            f"{count.flagged} traces are flagged incomplete by their producer but end "
            "with an answer: they are judged"
        )
    return lines
