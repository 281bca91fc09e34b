"""The leakage guard: no judge is asked while it is shown what it is measured on."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..criterion import Judge
from ..folder import SuiteFolder
from ..judges.examples import HeldOut, example_faults, leaks, text_of
from ..record import record
from ..refusal import Refusal
from ..safe_text import printable
from ..settings import Settings
from ..suite import Suite
from ..targets.recorded import TraceFiles, case_of, configured_traces
from .file import FILE_NAME, Label, read_labels
from .labelled import LabelledRun, cases_of, copies_among, distinct_runs, runs_of
from .marks import labelled_among
from .splits import Splits


def check_examples(
    suite: Suite,
    folder: SuiteFolder,
    settings: Settings,
    *,
    traces: Sequence[Path] = (),
) -> None:
    """Refuse judges whose examples break the rules or leak, before anybody is asked.

    `traces` are files of recorded traces beside those that `evals.toml` names. Says on
    stderr what could only be compared by its id.
    """
    faults = example_faults(suite)
    judges = [c.judge for c in suite.criteria if c.judge and c.judge.examples]
    if judges and not faults:
        faults = _leaks(judges, folder, settings, traces)
    if faults:
        raise Refusal(*faults)


def _leaks(
    judges: Sequence[Judge],
    folder: SuiteFolder,
    settings: Settings,
    traces: Sequence[Path],
) -> list[str]:
    file = read_labels(folder.root / FILE_NAME)
    if file.problems:
        # What can't be read may be what leaks.
        return list(file.problems)
    if not file.labels:
        return []
    placed = place_labels(
        file.labels,
        folder,
        files_of(folder, settings, traces),
        more=[e.case_id for judge in judges for e in judge.examples],
    )
    splits, by_id = placed.splits, placed.runs
    wanted = {label.trace_id for label in file.labels}
    found = [run for runs in by_id.values() for run in runs]
    lines = leaks(judges, held_out(splits, wanted, found), split_of=splits.of)
    absent = len(wanted - by_id.keys())
    if absent and not lines:
        print(
            f"warning: {absent} labelled runs are not at hand (runs/, `traces`): the "
            "judges' examples are compared with them by id alone",
            file=sys.stderr,
        )
    unknown = sum(
        splits.of(e.case_id or e.trace_id) is None
        for judge in judges
        for e in judge.examples
    )
    if unknown and not lines:
        print(
            f"warning: {unknown} of the judges' examples are of no labelled run: take "
            "examples from TRAIN, `labels examples CRITERION` prints some",
            file=sys.stderr,
        )
    return [printable(line) for line in lines]


@record(kw_only=True)
class PlacedLabels:
    """The splits of labels, and the labelled runs at hand, several where they differ.

    A run that bears the id of a labelled one, and is another by the label's mark, is none.
    """

    splits: Splits
    runs: Mapping[str, Sequence[LabelledRun]]


def place_labels(
    labels: Sequence[Label],
    folder: SuiteFolder,
    files: TraceFiles,
    *,
    more: Iterable[str] = (),
) -> PlacedLabels:
    """Return the splits of labels, with copies of one case kept together.

    The labelled runs are looked up in `files` and in the suite's runs; `more` are ids of
    cases that may be copies too. Raises Refusal where a file can't be read.
    """
    wanted = {label.trace_id for label in labels}
    index = cases_of(folder)
    runs = labelled_among(
        distinct_runs(wanted, files=files, runs=runs_of(folder), index=index), labels
    )
    names = {case_of(trace_id) for trace_id in wanted} | set(more)
    cases = [case for name in sorted(names) if (case := index.by_id.get(name))]
    found = [run for some in runs.values() for run in some]
    return PlacedLabels(
        splits=Splits(labels, copies=copies_among(found, cases)), runs=runs
    )


def held_out(
    splits: Splits, wanted: set[str], found: Sequence[LabelledRun]
) -> list[HeldOut]:
    """Return the labelled runs of dev and test, with what was said in them."""
    rows = []
    for trace_id in sorted(wanted):
        split = splits.of(trace_id)
        if split in ("dev", "test"):
            rows.append(
                HeldOut(split=split, case_id=case_of(trace_id), trace_id=trace_id)
            )
    for run in found:
        split = splits.of(run.trace.id)
        if split in ("dev", "test"):
            rows.append(
                HeldOut(
                    split=split,
                    case_id="" if run.case.recorded else run.case.id,
                    trace_id=run.trace.id,
                    text=text_of(run.case, run.trace),
                )
            )
    return rows


def files_of(
    folder: SuiteFolder, settings: Settings, more: Sequence[Path] = ()
) -> TraceFiles:
    """Return the files of recorded traces that labels may be on, each once.

    What `evals.toml` names and is not there is passed over: a run says it.
    """
    files = list(more)
    try:
        files += configured_traces(settings, folder.root)
    except Refusal:
        pass
    format = more.format if isinstance(more, TraceFiles) else None
    return TraceFiles.of(
        dict.fromkeys(path for path in files if path.is_file()),
        format=format or settings.trace_format,
        mapping=settings.trace_map,
    )
