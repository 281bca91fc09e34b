"""Did people label whole runs, and do they agree?"""

from __future__ import annotations

from collections.abc import Iterator

from ...report.words import plural
from ...trace import Trace
from .finding import Finding, Holdings, ids_of, named, share_of


def find_people(held: Holdings) -> Iterator[Finding]:
    """Yield what is found in this area."""
    labels = held.labels
    if not held.judged and not labels.current:
        return
    if not labels.current:
        yield Finding(
            area="people",
            kind="no-labels",
            where="labels.jsonl",
            found="nobody has labelled a run: no judge can be validated",
            do="let people who know the domain label whole runs (`sample` chooses some, "
            "`labels import` takes tables in)",
        )
        return
    said = {label.criterion_id for label in labels.current}
    silent = [c for c in held.judged if c.id not in said]
    if silent:
        yield Finding(
            area="people",
            kind="not-labelled",
            where="labels.jsonl",
            found=f"{named(silent)}: judged, and no run is labelled",
            do="label runs under these criteria too",
            items=ids_of(silent),
        )
    yield from _labelled_runs(held)
    unsigned = sum(label.annotator is None for label in labels.current)
    if unsigned:
        yield Finding(
            area="people",
            kind="unsigned",
            where="labels.jsonl",
            found=f"{share_of(unsigned, len(labels.current), 'label')} signed by nobody: "
            "whether a person gave it is unknown",
            do="name the `annotator`",
        )
    if labels.disagreements:
        yield Finding(
            area="people",
            kind="disputed",
            where="labels.jsonl",
            found=f"people differ on {plural(len(labels.disagreements), 'verdict')}: nobody "
            "knows what is true there",
            do="let them settle it, and label again; sharpen the criterion where they "
            "can't",
            items=tuple(
                f"{one.trace_id} × {one.criterion_id}" for one in labels.disagreements
            ),
        )


def _labelled_runs(held: Holdings) -> Iterator[Finding]:
    """Yield which labelled runs are not at hand, and which were not recorded whole."""
    wanted = dict.fromkeys(label.trace_id for label in held.labels.current)
    absent = [name for name in wanted if name not in held.labelled]
    if absent:
        yield Finding(
            area="people",
            kind="run-not-at-hand",
            where="labels.jsonl",
            found=f"{share_of(len(absent), len(wanted), 'labelled run')} not at hand: what people "
            "looked at can't be seen again",
            do="keep its traces in runs/, or name their file as `traces` in evals.toml",
            items=tuple(absent),
        )
    partial = [
        name
        for name in wanted
        if any(_is_partial(trace, held) for trace in held.labelled.get(name, ()))
    ]
    if partial:
        yield Finding(
            area="people",
            kind="not-whole",
            where="labels.jsonl",
            found=f"{share_of(len(partial), len(wanted), 'labelled run')} not recorded whole: "
            "it broke off, or only its answer was seen",
            do="label runs with every step recorded, not answers",
            items=tuple(partial),
        )


def _is_partial(trace: Trace, held: Holdings) -> bool:
    if trace.incomplete is not None:
        return True
    return bool(held.suite.subject.tools) and "tools" not in trace.observed
