"""Which run a label is on, and under which words of the criterion: its two marks.

A trace's id names the case and the repeat, so each run of a suite bears the same ones. A
label with a mark counts for the run that was labelled alone, and under the words that the
criterion had; one without counts for whatever run bears the id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ..canonical import content_key
from ..criterion import Criterion
from ..judges.evidence import evidence_of, view_digest
from ..record import record, replace
from ..trace import Trace
from .file import Label, Standing
from .labelled import LabelledRun

_NAMED: Final = 5


def digest_of_trace(trace: Trace) -> str:
    """Return the mark of a run: the content hash of what a judge is shown of it.

    Neither ids nor times are part of it.
    """
    return view_digest(trace, evidence_of(trace))


def digest_of_words(criterion: Criterion) -> str:
    """Return the mark of what a criterion asks: its statement, whatever the white space.

    What its judge is told beyond that (`pass_when`, `fail_when`, `notes`) is tuned by the
    labels, and is no part of it.
    """
    return content_key("criterion", " ".join(criterion.statement.split()))


def digests_of_words(criteria: Iterable[Criterion]) -> dict[str, str]:
    """Return the mark of each criterion by its id."""
    return {criterion.id: digest_of_words(criterion) for criterion in criteria}


def contents_of(runs: Iterable[LabelledRun]) -> dict[str, set[str]]:
    """Return the marks of the runs by their trace ids; of a file the last of each id."""
    last: dict[tuple[Path, str], str] = {}
    for run in runs:
        last[run.file, run.trace.id] = digest_of_trace(run.trace)
    found: dict[str, set[str]] = {}
    for (_, trace_id), digest in last.items():
        found.setdefault(trace_id, set()).add(digest)
    return found


def labelled_among(
    runs: Mapping[str, Sequence[LabelledRun]], labels: Iterable[Label]
) -> dict[str, list[LabelledRun]]:
    """Return those of the runs, by their trace ids, that the labels may be on."""
    marks: dict[str, set[str | None]] = {}
    for label in labels:
        marks.setdefault(label.trace_id, set()).add(label.trace_digest)
    found = {}
    for trace_id, some in runs.items():
        wanted = marks.get(trace_id, set())
        if None not in wanted:
            some = [run for run in some if digest_of_trace(run.trace) in wanted]
        if some:
            found[trace_id] = list(some)
    return found


# -- which labels count ------------------------------------------------------------------


@record(kw_only=True)
class SortedLabels:
    """Labels by whether they count for the runs at hand and the criteria of now.

    `other_run` are those on a run whose id another one bears here, `other_words` those
    given under other words of the criterion. `unmarked` are those of the `counting` on a
    run at hand that don't say which one was labelled.
    """

    counting: tuple[Label, ...]
    other_run: tuple[Label, ...]
    other_words: tuple[Label, ...]
    unmarked: tuple[Label, ...]

    def lines(self) -> list[str]:
        """Return what to tell the user of labels that don't count, or may not."""
        lines = []
        if self.other_run:
            lines.append(other_run_line(self.other_run))
        by_criterion: dict[str, list[Label]] = {}
        for label in self.other_words:
            by_criterion.setdefault(label.criterion_id, []).append(label)
        lines += [
            f"{_left_out(labels)}: {name!r} was reworded after they were given: label "
            "again; where they hold for its words of now too, `labels import "
            "labels.jsonl --again` says so"
            for name, labels in sorted(by_criterion.items())
        ]
        if self.unmarked:
            lines.append(
                f"{_counted(self.unmarked)} no word of which run was labelled: taken for "
                "the one at hand under the id. `labels import labels.jsonl --run RUN` "
                "marks them"
            )
        return lines


def sort_labels(
    labels: Iterable[Label],
    *,
    contents: Mapping[str, Collection[str]],
    words: Mapping[str, str],
) -> SortedLabels:
    """Return which labels count.

    `contents` are the marks of the runs at hand by their trace ids, `words` those of the
    criteria by theirs. A label on a run that is not at hand counts: nothing contradicts it.
    """
    counting, other_run, other_words, unmarked = [], [], [], []
    for label in labels:
        at_hand = contents.get(label.trace_id)
        now = words.get(label.criterion_id)
        if label.criterion_digest is not None and now not in (
            None,
            label.criterion_digest,
        ):
            other_words.append(label)
            continue
        if at_hand and label.trace_digest is None:
            unmarked.append(label)
        elif at_hand and label.trace_digest not in at_hand:
            other_run.append(label)
            continue
        counting.append(label)
    return SortedLabels(
        counting=tuple(counting),
        other_run=tuple(other_run),
        other_words=tuple(other_words),
        unmarked=tuple(unmarked),
    )


def other_run_line(labels: Sequence[Label]) -> str:
    """Return what to tell of labels on other runs than those at hand."""
    return (
        f"{_left_out(labels)}: the runs at hand under their ids say something else than "
        f"those that were labelled ({_traces(labels)}): label these, or give the labelled "
        "ones"
    )


def _left_out(labels: Sequence[Label]) -> str:
    return (
        "1 label is left out"
        if len(labels) == 1
        else f"{len(labels):,} labels are left out"
    )


def _counted(labels: Sequence[Label]) -> str:
    return "1 label has" if len(labels) == 1 else f"{len(labels):,} labels have"


def _traces(labels: Iterable[Label]) -> str:
    names = list(dict.fromkeys(label.trace_id for label in labels))
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


# -- giving marks ------------------------------------------------------------------------


def marked(
    labels: Iterable[Label],
    *,
    standing: Standing,
    contents: Mapping[str, Collection[str]],
    words: Mapping[str, str],
    run_named: bool,
    again: bool,
) -> list[Label]:
    """Return the labels with the marks that can be told; what they bear already is kept.

    One that says again what stands is that very label, with its marks: unless the run is
    named, or the words of now are meant (`again`). Where several runs bear an id and
    differ, nobody knows which was labelled.
    """
    found = []
    for label in labels:
        same = [one for one in standing.before(label) if one.says_the_same(label)]
        trace, asked = label.trace_digest, label.criterion_digest
        if trace is None and not run_named:
            trace = next((o.trace_digest for o in same if o.trace_digest), None)
        at_hand = contents.get(label.trace_id, ())
        if trace is None and len(at_hand) == 1:
            trace = next(iter(at_hand))
        if asked is None:
            asked = next((o.criterion_digest for o in same if o.criterion_digest), None)
        if trace is not None and (asked is None or again):
            asked = words.get(label.criterion_id)
        found.append(replace(label, trace_digest=trace, criterion_digest=asked))
    return found
