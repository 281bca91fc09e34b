"""`labels splits` and `labels examples`: who is in TRAIN, and what a judge may be shown."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from ..criterion import Criterion
from ..folder import SuiteFolder
from ..journal import TRACES
from ..judges.examples import text_of
from ..labels.example_source import (
    KINDS,
    Kind,
    Said,
    choose,
    example_of,
    said_of,
    source_of,
)
from ..labels.file import WORDS, Label, LabelFile, no_labels, summarize
from ..labels.labelled import (
    LabelledRun,
    cases_of,
    copies_among,
    distinct_runs,
    find_runs,
    ids_at_hand,
    runs_of,
)
from ..labels.leakage import files_of
from ..labels.marks import (
    SortedLabels,
    contents_of,
    digest_of_words,
    digests_of_words,
    labelled_among,
    sort_labels,
)
from ..labels.splits import SEED, SPLITS, Split, Splits
from ..record import replace
from ..redact import Redactor, holds_credential
from ..refusal import Refusal, close_match
from ..report.words import plural
from ..safe_text import printable
from ..targets.recorded import (
    CaseIndex,
    RecordedCount,
    TraceFiles,
    case_of,
    read_recorded,
)

MAX_NAMED: Final = 5
MAX_UNKNOWN: Final = 20
"""So many labelled runs that are not at hand are named, with what may be meant."""
MAX_NEAR: Final = 5_000
# What somebody labels a run so that it becomes an example of that kind.
_LABEL_OF: Final[Mapping[Kind, str]] = {
    "pass": "pass",
    "fail": "fail",
    "borderline": "underdetermined",
}


# -- splits ----------------------------------------------------------------------------


def show_splits(
    args: Namespace, folder: SuiteFolder, found: LabelFile, path: Path
) -> int:
    """Show how many cases of each criterion and label each split has."""
    labels = summarize(found.labels).current
    splits, _ = _splits_of(args, folder, found)
    with redirect_stdout(sys.stderr):
        criteria = folder.load_suite().criteria
    sorted_labels = sort_labels(
        labels,
        contents=contents_at_hand(args, folder, labels),
        words=digests_of_words(criteria),
    )
    _tell(sorted_labels)
    labels = sorted_labels.counting
    counts = _counts(labels, splits)
    if args.json:
        runs = {label.trace_id: splits.of(label.trace_id) for label in labels}
        print(json.dumps({"criteria": counts, "runs": runs}))
    elif not labels:
        for line in no_labels(path):
            print(printable(line))
    else:
        for line in _table(labels, splits, counts, path):
            print(printable(line))
    return 2 if found.problems else 0


def _tell(found: SortedLabels) -> None:
    for line in found.lines():
        print(f"note: {printable(line)}", file=sys.stderr)


def _counts(
    labels: Iterable[Label], splits: Splits
) -> dict[str, dict[str, dict[Split, int]]]:
    """Cases by criterion, label and split."""
    counted = set()
    counts: dict[str, dict[str, dict[Split, int]]] = {}
    for label in labels:
        split = splits.of(label.trace_id)
        one = (label.criterion_id, label.label, case_of(label.trace_id))
        if split is None or one in counted:
            continue
        counted.add(one)
        words = counts.setdefault(
            label.criterion_id, {word: dict.fromkeys(SPLITS, 0) for word in WORDS}
        )
        words[label.label][split] += 1
    return {name: counts[name] for name in sorted(counts)}


def _table(
    labels: Sequence[Label],
    splits: Splits,
    counts: Mapping[str, Mapping[str, Mapping[Split, int]]],
    path: Path,
) -> list[str]:
    cases = {case_of(label.trace_id) for label in labels}
    of = [splits.of(case) for case in cases]
    sums = ", ".join(f"{of.count(split)} {split}" for split in SPLITS)
    on = f"{plural(len(labels), 'label')} on {plural(len(cases), 'case')}"
    lines = [f"{on} in {path}: {sums}"]
    for name, words in counts.items():
        lines.append(f"  {name}")
        for word, row in words.items():
            if any(row.values()):
                cells = "  ".join(f"{row[split]:>4} {split}" for split in SPLITS)
                lines.append(f"    {word:<15} {cells}")
    return lines


# -- examples --------------------------------------------------------------------------


def print_examples(args: Namespace, folder: SuiteFolder, found: LabelFile) -> int:
    """Print a judge's examples as Python; 0, or 2 where TRAIN lacks a kind."""
    if found.problems:
        return 2
    criterion = _criterion(folder, args.files[0])
    splits, runs = _splits_of(args, folder, found)
    sorted_labels = sort_labels(
        [
            label
            for label in summarize(found.labels).current
            if label.criterion_id == criterion.id
        ],
        contents=contents_of(run for some in runs.values() for run in some),
        words={criterion.id: digest_of_words(criterion)},
    )
    runs = labelled_among(runs, sorted_labels.counting)
    _tell(sorted_labels)
    secret = {
        name
        for name, some in runs.items()
        if any(holds_credential(text_of(run.case, run.trace)) for run in some)
    }
    kept = {
        name: some[0]
        for name, some in runs.items()
        if len(some) == 1 and name not in secret
    }
    said = said_of(sorted_labels.counting, criterion.id)
    # The first of copies alone: its split is the same where no run is at hand.
    train = [
        one
        for one in said
        if splits.of(one.trace_id) == "train" and splits.is_first(one.trace_id)
    ]
    chosen = choose(
        _one_a_case(one for one in train if one.trace_id in kept),
        seed=f"{SEED} {criterion.id}",
    )
    for line in _not_used(train, runs, secret):
        print(f"note: {printable(line)}", file=sys.stderr)
    lacking = [kind for kind in KINDS if not any(one.kind == kind for one in chosen)]
    if lacking:
        lines = [f"TRAIN has no {kind} example of {criterion.id!r}" for kind in lacking]
        raise Refusal(
            *lines, *_what_to_label(args, folder, splits, criterion.id, lacking, said)
        )
    clean = Redactor(os.environ).clean
    examples = [
        replace(found, excerpt=clean(found.excerpt), critique=clean(found.critique))
        for found in (example_of(one, kept[one.trace_id], criterion) for one in chosen)
    ]
    sys.stdout.write(source_of(examples))
    print(
        f"paste this into the Judge of {printable(criterion.id)!r} in judges.py, and "
        "import Example beside Judge",
        file=sys.stderr,
    )
    mute = sum(not one.critique for one in chosen)
    if mute:
        print(
            f"{mute} of them have no critique, because their labels have no note: "
            "write why they are what they are; without that a run stops",
            file=sys.stderr,
        )
    return 0


def _criterion(folder: SuiteFolder, name: str) -> Criterion:
    with redirect_stdout(sys.stderr):
        criteria = folder.load_suite().criteria
    judged = {c.id: c for c in criteria if c.judge is not None}
    if name not in judged:
        close = close_match(name, list(judged))
        decided = ", ".join(judged) or "none"
        raise Refusal(
            f"no judge decides a criterion {name!r}{close}; a judge decides {decided}"
        )
    return judged[name]


def _one_a_case(said: Iterable[Said]) -> list[Said]:
    """One run of a case, the first in the file: repeats of it teach nothing new."""
    found: dict[tuple[str, str], Said] = {}
    for one in said:
        found.setdefault((case_of(one.trace_id), one.kind), one)
    return list(found.values())


def _not_used(
    train: Sequence[Said],
    runs: Mapping[str, Sequence[LabelledRun]],
    secret: Collection[str],
) -> list[str]:
    absent = [one.trace_id for one in train if one.trace_id not in runs]
    differ = [one.trace_id for one in train if len(runs.get(one.trace_id, ())) > 1]
    keys = [one.trace_id for one in train if one.trace_id in secret]
    lines = []
    if keys:
        lines.append(f"they hold what looks like a key, so not used: {_named(keys)}")
    if absent:
        lines.append(
            f"not at hand, so not used: {_named(absent)}: name the file that they are "
            "in with --traces"
        )
    if differ:
        lines.append(
            f"several runs bear one id and differ, so not used: {_named(differ)}: name "
            "the run that was labelled with --run"
        )
    return lines


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _what_to_label(
    args: Namespace,
    folder: SuiteFolder,
    splits: Splits,
    criterion_id: str,
    lacking: Sequence[Kind],
    said: Sequence[Said],
) -> list[str]:
    """Name runs that are not labelled yet and would be in TRAIN."""
    labelled = {case_of(one.trace_id) for one in said}
    lines = []
    fresh = _unlabelled(args, folder, labelled)
    for kind in lacking:
        word = _LABEL_OF[kind]
        names = [
            name
            for name in fresh
            if splits.would_be(name, criterion_id, word) == "train"
        ]
        if names:
            lines.append(
                f"a run that is {word} would be in TRAIN if it is one of these: "
                f"{_named(names)}"
            )
    if not lines:
        lines.append("label more runs: about one in seven comes to be in TRAIN")
    if "borderline" in lacking:
        lines.append(
            "a borderline run is one that is labelled underdetermined, or one on which "
            "people differ"
        )
    return lines


# -- the runs at hand ------------------------------------------------------------------


def _splits_of(
    args: Namespace, folder: SuiteFolder, found: LabelFile
) -> tuple[Splits, dict[str, list[LabelledRun]]]:
    """Return the splits, and the runs at hand by id: more than one where they differ."""
    wanted = {label.trace_id for label in found.labels}
    index = cases_of(folder)
    runs = distinct_runs(
        wanted, files=_files(args, folder), runs=_runs(args, folder), index=index
    )
    cases = [index.by_id[n] for n in sorted(map(case_of, wanted)) if n in index.by_id]
    those = labelled_among(runs, found.labels)
    labelled = [run for some in those.values() for run in some]
    return Splits(found.labels, copies=copies_among(labelled, cases)), runs


def _unlabelled(
    args: Namespace, folder: SuiteFolder, labelled: Collection[str]
) -> list[str]:
    """The ids of the runs at hand whose case is not labelled, each case once."""
    found: dict[str, str] = {}
    index = CaseIndex({}, {})
    journals = [path / TRACES for path in _runs(args, folder)]
    for files in (_files(args, folder), TraceFiles.of(journals, format="unitf")):
        for _, trace in read_recorded(files, index, RecordedCount()):
            case_id = case_of(trace.id)
            if case_id not in labelled:
                found.setdefault(case_id, trace.id)
    return sorted(found.values())


def contents_at_hand(
    args: Namespace, folder: SuiteFolder, labels: Iterable[Label]
) -> dict[str, set[str]]:
    """Return the marks of the runs at hand that labels may be on, by their trace ids."""
    return contents_of(
        find_runs(
            {label.trace_id for label in labels},
            files=_files(args, folder),
            runs=_runs(args, folder) if args.traces else _shown(args, folder),
            index=CaseIndex({}, {}),
        )
    )


def _shown(args: Namespace, folder: SuiteFolder) -> list[Path]:
    """The folders of runs that somebody may have labelled, or the one that is named."""
    if args.run:
        return [folder.run_folder(args.run)]
    packets = folder.root / "matrix" / "packets"
    found = runs_of(folder)
    return [*found, packets] if (packets / TRACES).is_file() else found


def runs_not_at_hand(
    args: Namespace, folder: SuiteFolder, labels: Iterable[Label]
) -> dict[str, str]:
    """Return the labelled trace ids that no run at hand bears, each with what is meant.

    That is ` (did you mean X?)`, or an empty text where none is near.
    """
    wanted = {label.trace_id for label in labels}
    known = ids_at_hand(wanted, files=_files(args, folder), runs=_shown(args, folder))
    near = sorted(known)[:MAX_NEAR]
    unknown = sorted(wanted - known)
    return {
        name: close_match(name, near) if at < MAX_UNKNOWN else ""
        for at, name in enumerate(unknown)
    }


def _files(args: Namespace, folder: SuiteFolder) -> TraceFiles:
    given = [Path(name) for name in args.traces]
    missing = [f"there is no trace file {path}" for path in given if not path.is_file()]
    if missing:
        raise Refusal(*missing)
    settings = folder.settings()
    if args.run and not given:
        return TraceFiles.of([])
    if given:
        return TraceFiles.of(
            given,
            format=args.format or settings.trace_format,
            mapping=settings.trace_map,
        )
    return files_of(folder, settings)


def _runs(args: Namespace, folder: SuiteFolder) -> list[Path]:
    if args.run:
        return [folder.run_folder(args.run)]
    return [] if args.traces else runs_of(folder)
