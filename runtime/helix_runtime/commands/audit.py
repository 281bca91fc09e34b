"""`audit`: the suite looks at itself, on demand: what of it can't be trusted yet."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from ..folder import SuiteFolder, read_run_record
from ..growing.growth import read_dataset
from ..improving.audit import AREAS, audit
from ..improving.audit.finding import Finding, Holdings
from ..improving.finished_run import FinishedRun, read_finished_run, runs_by_start
from ..labels.file import LabelSummary, summarize, summary_of
from ..labels.labelled import cases_of, distinct_runs, runs_of
from ..labels.leakage import files_of
from ..labels.marks import digests_of_words, labelled_among, sort_labels
from ..record import replace
from ..refusal import Refusal
from ..safe_text import printable
from ..settings import Settings
from ..suite import Suite
from ..trace import Trace
from ..trust.known import judges_record, known_of, read_held, who_judged
from ..trust.validation import Measurement
from ..trust.validation_file import WhoJudges
from .label_input import labels_of
from .run import read_as

SOUND: Final = 0
FINDINGS: Final = 1
SCHEMA: Final = "helix-audit/1"
_QUESTIONS: Final[Mapping[str, str]] = {
    "grounding": "are the criteria grounded in runs?",
    "design": "one question each, and code before judge?",
    "judges": "are the judges validated?",
    "people": "did people label whole runs?",
    "labels": "are there enough labels of both classes?",
    "hygiene": "does it grow, and keep up with what changes?",
}


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Print what was found, where, and what to do; 0 for nothing, 1 for findings."""
    settings = folder.settings()
    held = _holdings(args, folder, settings)
    findings = audit(held)
    if args.json:
        print(json.dumps(_record(held, findings)))
    else:
        for line in _lines(held, findings):
            print(printable(line))
    return FINDINGS if findings else SOUND


# -- what the suite holds ---------------------------------------------------------------


def _holdings(args: Namespace, folder: SuiteFolder, settings: Settings) -> Holdings:
    with redirect_stdout(sys.stderr):
        suite = folder.load_suite()
    said = sort_labels(
        summarize(labels_of(folder)).current,
        contents={},  # whether their runs are at hand is a finding
        words=digests_of_words(suite.criteria),
    )
    for line in said.lines():
        print(f"warning: {printable(line)}", file=sys.stderr)
    labels = summary_of(said.counting)
    runs = _runs(folder, suite.subject.id)
    measured, outdated = _trust(folder, suite, runs)
    dataset = read_dataset(folder)
    return Holdings(
        package=folder.package,
        suite=suite,
        runs=runs,
        measured=measured,
        outdated=outdated,
        labels=labels,
        labelled=_labelled(args, folder, settings, labels),
        cases=[c for i, c in dataset.cases.items() if i not in dataset.retired],
        removed=sorted(dataset.removed.ids),
        model=None if settings.judge is None else settings.judge.model,
    )


def _runs(folder: SuiteFolder, subject: str) -> list[FinishedRun]:
    """Return the finished runs by their start; says on stderr which can't be read."""
    found: list[FinishedRun] = []
    faults: list[str] = []
    for place in runs_by_start(folder, faults):
        if (read_run_record(place) or {}).get("finished") is False:
            continue
        try:
            found.append(read_finished_run(place, subject=subject))
        except Refusal as refusal:
            faults += refusal.lines
    for line in faults:
        print(f"warning: left out: {printable(line)}", file=sys.stderr)
    return found


def _trust(
    folder: SuiteFolder, suite: Suite, runs: Sequence[FinishedRun]
) -> tuple[Mapping[str, Measurement], Sequence[str]]:
    """Return how the judges were measured as they are now, and which are others by now.

    The models are those of the last run in which each judge was asked: a run without
    judges, or of a part of the suite, says nothing of the rest.
    """
    asked: dict[str, WhoJudges] = {}
    for run in runs:
        asked |= who_judged(read_run_record(run.folder) or {})
    now = judges_record(suite)
    return known_of(
        read_held(folder.root),
        {
            criterion_id: replace(who, judge=digest, prompt=now["prompt"])
            for criterion_id, digest in now["of"].items()
            if (who := asked.get(criterion_id)) is not None
        },
    )


def _labelled(
    args: Namespace, folder: SuiteFolder, settings: Settings, labels: LabelSummary
) -> Mapping[str, Sequence[Trace]]:
    """Return the labelled traces that are at hand, by their id."""
    wanted = {label.trace_id for label in labels.current}
    if not wanted:
        return {}
    given = [Path(name) for name in args.traces]
    missing = [path for path in given if not path.is_file()]
    if missing:
        raise Refusal(*(f"there is no trace file {path}" for path in missing))
    found = distinct_runs(
        wanted,
        files=files_of(folder, settings, read_as(given, args.format, settings)),
        runs=runs_of(folder),
        index=cases_of(folder),
    )
    those = labelled_among(found, labels.current)
    return {name: [run.trace for run in some] for name, some in those.items()}


# -- what is said -----------------------------------------------------------------------


def _looked_at(held: Holdings) -> dict[str, int]:
    return {
        "criteria": len(held.suite.criteria),
        "judges": len(held.judged),
        "cases": len(held.cases),
        "runs": len(held.runs),
        "labels": len(held.labels.current),
    }


def _record(held: Holdings, findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "subject": held.suite.subject.id,
        "lookedAt": _looked_at(held),
        "findings": [one.to_record() for one in findings],
    }


def _lines(held: Holdings, findings: Sequence[Finding]) -> Iterator[str]:
    looked = ", ".join(
        f"{number:,} {name[:-1] if number == 1 and name != 'criteria' else name}"
        for name, number in _looked_at(held).items()
    )
    number = len(findings)
    told = "nothing" if not number else f"{number} finding{'s' if number > 1 else ''}"
    yield f"{held.suite.subject.name}: {told} in {looked}"
    for area in AREAS:
        some = [one for one in findings if one.area == area]
        if some:
            yield ""
            yield f"{area}: {_QUESTIONS[area]}"
        for one in some:
            yield f"  {one.where}: {one.found}"
            yield f"    → {one.do}"
