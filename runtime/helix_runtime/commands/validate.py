"""`validate`: how far the judges can be trusted, by people's labels."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from ..folder import SuiteFolder
from ..labels.file import Label, summarize
from ..labels.labelled import cases_of, find_runs
from ..labels.leakage import check_examples, files_of, place_labels
from ..labels.marks import SortedLabels, contents_of, digests_of_words, sort_labels
from ..labels.splits import Split, Splits
from ..lock import FolderLocked, suite_lock
from ..refusal import Refusal, close_match
from ..report.judge_lines import judge_lines
from ..safe_text import printable
from ..selection import Selection
from ..settings import Settings
from ..suite import Suite
from ..targets.recorded import CaseIndex, TraceFiles
from ..trust.judged import JournalEdited
from ..trust.judged_source import JudgedSource, source_of_files, source_of_run
from ..trust.known import read_held
from ..trust.validating import JudgeReport, validate
from ..trust.validation import People, people_of
from ..trust.validation_file import (
    FILE_NAME,
    Validated,
    ValidationFile,
    write_validation,
)
from .label_input import labels_of
from .outcome import typed_path

FAILED: Final = 1
OPEN: Final = 3


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Hold the judges' verdicts against the labels, show and keep what comes of it.

    The exit code is 0 where every judge is validated or usable, 1 where one failed, 3
    where one is unvalidated.
    """
    settings = folder.settings()
    with redirect_stdout(sys.stderr):
        whole = folder.load_suite()
        suite = Selection(criteria=args.criteria).narrow(whole)
    names = [criterion.id for criterion in suite.criteria if criterion.judge]
    if not names:
        raise Refusal(
            "no judge decides any of these criteria: there is none to validate"
        )
    labels = labels_of(folder, args.labels)
    index = cases_of(folder)
    source = _source(args, folder, settings, whole, suite, index)
    check_examples(suite, folder, settings, traces=source.files)
    placed = place_labels(labels, folder, files_of(folder, settings, source.files))
    sorted_labels = _sorted(labels, source, whole, index)
    people = people_of(sorted_labels.counting)
    split: Split = "test" if args.split == "test" else "dev"

    def may(held: ValidationFile) -> None:
        if split == "test" and not args.again:
            _only_once(held, people, placed.splits, names)

    may(read_held(folder.root))
    unmarked = {label.trace_id for label in sorted_labels.unmarked}
    ambiguous = frozenset(
        name for name, runs in placed.runs.items() if len(runs) > 1 and name in unmarked
    )
    try:
        with redirect_stdout(sys.stderr):  # what checks print is no result
            reports = validate(
                names,
                source.units,
                people,
                splits=placed.splits,
                split=split,
                ambiguous=frozenset() if source.is_named else ambiguous,
            )
    except OSError as error:
        raise Refusal(f"{source.name} can't be read: {error.strerror}") from error
    except JournalEdited as error:
        raise Refusal(
            f"{source.name}: {error}: only what the judge itself said can be held "
            "against labels; `run --resume` asks again for what was edited"
        ) from error
    # Before anything is shown: a test split that was seen is a used one.
    _keep(reports, source, folder, may=may)
    told = _of(sorted_labels, names, placed.splits, split)
    for line in (
        *source.notes,
        *_left_out(labels, whole),
        *told.lines(),
        *_outdated(suite, source),
    ):
        print(f"note: {printable(line)}", file=sys.stderr)
    if args.json:
        record = {
            "source": source.name,
            "split": split,
            "judges": [report.to_record() for report in reports],
            "labels": {
                "otherRun": len(told.other_run),
                "otherWords": len(told.other_words),
                "unmarked": len(told.unmarked),
            },
        }
        print(json.dumps(record, indent=2))
    else:
        print(printable(f"{source.name} against the labels of {split}"))
        for report in reports:
            print()
            for line in judge_lines(report, source.who.get(report.criterion_id), index):
                print(printable(line))
    return _exit_code(reports)


def _exit_code(reports: Iterable[JudgeReport]) -> int:
    found = {report.measurement.status for report in reports}
    if "failed" in found:
        return FAILED
    return OPEN if "unvalidated" in found else 0


def _source(
    args: Namespace,
    folder: SuiteFolder,
    settings: Settings,
    whole: Suite,
    suite: Suite,
    index: CaseIndex,
) -> JudgedSource:
    if args.verdicts and args.run:
        raise Refusal("--run and --verdicts: give one of the two")
    if args.verdicts:
        packets = Path(args.packets) if args.packets else None
        if packets is None and not args.traces:
            packets = Path(typed_path(folder.root / "matrix" / "packets"))
        return source_of_files(
            Path(args.verdicts),
            packets=packets,
            traces=TraceFiles.of(
                map(Path, args.traces),
                format=args.format or settings.trace_format,
                mapping=settings.trace_map,
            ),
            whole=whole,
            suite=suite,
            index=index,
        )
    if args.packets or args.traces:
        option = "--packets" if args.packets else "--traces"
        raise Refusal(f"{option} goes with --verdicts: a run has its own traces")
    return source_of_run(folder, args.run)


def _sorted(
    labels: Sequence[Label], source: JudgedSource, whole: Suite, index: CaseIndex
) -> SortedLabels:
    """Return which labels count for the runs that were judged."""
    current = summarize(labels).current
    judged = find_runs(
        {label.trace_id for label in current},
        files=source.files,
        runs=source.runs,
        index=index,
    )
    return sort_labels(
        current,
        contents=contents_of(judged),
        words=digests_of_words(whole.criteria),
    )


def _of(
    found: SortedLabels, names: Container[str], splits: Splits, split: Split
) -> SortedLabels:
    """Return of the labels those on some criteria, in one split."""

    def those(labels: Iterable[Label]) -> tuple[Label, ...]:
        return tuple(
            label
            for label in labels
            if label.criterion_id in names and splits.of(label.trace_id) == split
        )

    return SortedLabels(
        counting=those(found.counting),
        other_run=those(found.other_run),
        other_words=those(found.other_words),
        unmarked=those(found.unmarked),
    )


def _only_once(
    held: ValidationFile, people: People, splits: Splits, names: Iterable[str]
) -> None:
    """Refuse to look at the test split again: who tunes by it has no test any more."""
    there = {name for trace, name in people.truths if splits.of(trace) == "test"}
    used = [name for name in names if name in there and held.test_used.get(name)]
    if used:
        raise Refusal(
            *(
                f"the test split of {name!r} was used "
                + ("once" if (times := held.test_used[name]) == 1 else f"{times} times")
                for name in used
            ),
            "what a judge is measured on twice it is tuned on. Label new cases and use "
            "dev; or look again with --again, which is counted, and leave others out "
            "with --criteria",
        )


def _keep(
    reports: Iterable[JudgeReport],
    source: JudgedSource,
    folder: SuiteFolder,
    *,
    may: Callable[[ValidationFile], None],
) -> None:
    """Write down what was measured, and that a test split was used.

    The file is read anew while no other process may change it, and `may` refuses what
    another one made of it meanwhile.
    """
    measured = [
        Validated(
            criterion_id=report.criterion_id,
            who=source.who[report.criterion_id],
            measurement=report.measurement,
        )
        for report in reports
        if report.is_measured and report.criterion_id in source.who
    ]
    if not measured:
        return
    path = folder.root / FILE_NAME
    try:
        with suite_lock(folder.root):
            held = read_held(folder.root)
            may(held)
            write_validation(path, held.having(measured))
    except FolderLocked as error:
        raise Refusal(
            f"another process works on {folder.root}: wait until it is done"
        ) from error
    except OSError as error:
        raise Refusal(f"{path} can't be written: {error.strerror}") from error


def _left_out(labels: Iterable[Label], whole: Suite) -> list[str]:
    """Return which labels say nothing of any judge."""
    lines = []
    judged = {criterion.id for criterion in whole.criteria if criterion.judge}
    known = [criterion.id for criterion in whole.criteria]
    for name in sorted({label.criterion_id for label in labels}):
        if name not in known:
            lines.append(
                f"labels on {name!r} are left out: no criterion of this suite"
                f"{close_match(name, known)}"
            )
        elif name not in judged:
            lines.append(f"labels on {name!r} are left out: no judge decides it")
    return lines


def _outdated(suite: Suite, source: JudgedSource) -> list[str]:
    """Return which judges are measured that are others by now."""
    lines = []
    for criterion in suite.criteria:
        who = source.who.get(criterion.id)
        judge = criterion.judge
        if who is not None and judge is not None and who.judge != judge.digest:
            lines.append(
                f"the judge of {criterion.id!r} was edited after {source.name}: this "
                "measures the one before"
            )
    return lines
