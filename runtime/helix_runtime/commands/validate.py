"""`validate`: how far the judges can be trusted, by people's labels."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from ..folder import SuiteFolder, read_run_record
from ..judged import judged_in_files, judged_in_run
from ..labelled import cases_of
from ..labels import FILE_NAME, Label, read_labels, summarize
from ..leakage import check_examples, files_of, place_labels
from ..names import case_label
from ..packet_index import INDEX_FILE, TRACES_FILE, read_index, verdicts_beside
from ..record import record
from ..refusal import Refusal, close_match
from ..replay import ReplayJudge
from ..report.trust_words import percent
from ..report.words import plural, span
from ..safe_text import printable
from ..selection import Selection
from ..settings import Settings
from ..splits import Split, Splits
from ..suite import Suite
from ..targets.recorded import CaseIndex, RecordedCount, TraceFiles, read_recorded
from ..trust import read_held, who_judged, who_judges
from ..unit import Unit
from ..validating import Disagreed, JudgeReport, validate
from ..validation import MIN_CASES, People, people_of
from ..validation_file import FILE_NAME as HELD_FILE
from ..validation_file import Validated, ValidationFile, WhoJudges, write_validation
from .outcome import typed_path

FAILED: Final = 1
OPEN: Final = 3
MAX_NAMED: Final = 5


@record(kw_only=True)
class _Source:
    """Verdicts, and who gave them, by criterion.

    `is_named` says whether the user named them: then it is these runs that were
    labelled. `files` are traces beside those that the suite knows of.
    """

    name: str
    who: Mapping[str, WhoJudges]
    units: Iterable[Unit]
    is_named: bool
    files: TraceFiles


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
    labels = _labels(args, folder)
    index = cases_of(folder)
    source = _source(args, folder, settings, suite, index)
    check_examples(suite, folder, settings, traces=source.files)
    placed = place_labels(labels, folder, files_of(folder, settings, source.files))
    people = people_of(summarize(labels).current)
    held = read_held(folder.root)
    split: Split = "test" if args.split == "test" else "dev"
    if split == "test" and not args.again:
        _only_once(held, people, placed.splits, names)
    ambiguous = frozenset(name for name, runs in placed.runs.items() if len(runs) > 1)
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
    _keep(held, reports, source, folder)
    for line in _beside(labels, whole, source, suite):
        print(f"note: {printable(line)}", file=sys.stderr)
    if args.json:
        print(json.dumps(_record(reports, source, split), indent=2))
    else:
        for line in _lines(reports, source, split, index):
            print(printable(line))
    return _exit_code(reports)


def _exit_code(reports: Iterable[JudgeReport]) -> int:
    found = {report.measurement.status for report in reports}
    if "failed" in found:
        return FAILED
    return OPEN if "unvalidated" in found else 0


# -- what goes in ----------------------------------------------------------------------


def _labels(args: Namespace, folder: SuiteFolder) -> Sequence[Label]:
    path = Path(args.labels or typed_path(folder.root / FILE_NAME))
    if args.labels and not path.is_file():
        raise Refusal(f"there is no file {path}")
    try:
        found = read_labels(path)
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror or error}") from error
    if found.problems:
        # A label that can't be read may be the one that a judge gets wrong.
        raise Refusal(*found.problems)
    return found.labels


def _source(
    args: Namespace,
    folder: SuiteFolder,
    settings: Settings,
    suite: Suite,
    index: CaseIndex,
) -> _Source:
    if args.verdicts and args.run:
        raise Refusal("--run and --verdicts: give one of the two")
    if args.verdicts:
        return _of_files(args, folder, settings, suite, index)
    if args.packets or args.traces:
        option = "--packets" if args.packets else "--traces"
        raise Refusal(f"{option} goes with --verdicts: a run has its own traces")
    run_folder = folder.run_folder(args.run)
    run = read_run_record(run_folder) or {}
    who = who_judged(run)
    if not who:
        raise Refusal(
            f"nobody can tell who judged {run_folder.name}: no judge was asked, no single "
            "model stands behind its verdicts, or an earlier runtime made it. Name "
            "another run with --run, or take verdict files with --verdicts"
        )
    return _Source(
        name=f"run {run_folder.name}",
        who=who,
        units=judged_in_run(run_folder),
        is_named=bool(args.run),
        files=TraceFiles.of([]),
    )


def _of_files(
    args: Namespace,
    folder: SuiteFolder,
    settings: Settings,
    suite: Suite,
    index: CaseIndex,
) -> _Source:
    """Return the verdicts of a host's agents, on the runs that they were shown."""
    verdicts = Path(args.verdicts)
    packets = Path(args.packets or typed_path(folder.root / "matrix" / "packets"))
    files = [Path(name) for name in args.traces] or [packets / TRACES_FILE]
    missing = [path for path in files if not path.is_file()]
    if missing:
        raise Refusal(
            *(f"there are no traces {path}" for path in missing),
            "the runs that were judged are needed to look the evidence up: name the "
            "folder that `prep` wrote with --packets, or their file with --traces",
        )
    judging = _replay(verdicts, packets, suite)
    if judging.pin is None:
        raise Refusal(
            f"{verdicts}: no single model stands behind the verdicts, so nobody can tell "
            "whom the labels would validate"
        )
    traces = TraceFiles.of(
        files,
        format=(args.format or settings.trace_format) if args.traces else "unitf",
        mapping=settings.trace_map,
    )
    return _Source(
        name=f"verdicts {typed_path(verdicts)}",
        who=who_judges(suite, judging.pin),
        units=judged_in_files(
            judging, suite, read_recorded(traces, index, RecordedCount())
        ),
        is_named=True,
        files=traces,
    )


def _replay(verdicts: Path, packets: Path, suite: Suite) -> ReplayJudge:
    """Return the verdict files as a judge. Raises Refusal."""
    if not verdicts.is_dir():
        raise Refusal(f"--verdicts {verdicts}: there is no such folder")
    if (packets / INDEX_FILE).is_file():
        try:
            before = read_index(packets).judges
        except (OSError, ValueError) as error:
            raise Refusal(f"{packets / INDEX_FILE} can't be read: {error}") from error
        edited = [
            criterion.id
            for criterion in suite.criteria
            if criterion.judge is not None
            and before.get(criterion.id, criterion.judge.digest)
            != criterion.judge.digest
        ]
        if edited:
            raise Refusal(
                *(f"the judge of {n!r} was edited after the packets" for n in edited),
                "run prep again and judge anew, or leave them out with --criteria",
            )
    try:
        judging = ReplayJudge(
            verdicts,
            subject=suite.subject,
            packets=packets if (packets / INDEX_FILE).is_file() else None,
        )
    except OSError as error:
        raise Refusal(f"{verdicts} can't be read: {error.strerror}") from error
    for line in judging.lines():
        print(f"warning: {printable(line)}", file=sys.stderr)
    if judging.empty:
        raise Refusal(
            f"--verdicts {verdicts}: no verdict is in this folder: give the one that the "
            f"judging agents wrote to, such as {typed_path(verdicts_beside(packets))}"
        )
    return judging


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
                + ("once" if held.test_used[name] == 1 else _times(held, name))
                for name in used
            ),
            "what a judge is measured on twice it is tuned on. Label new cases and use "
            "dev; or look again with --again, which is counted, and leave others out "
            "with --criteria",
        )


def _times(held: ValidationFile, name: str) -> str:
    return f"{held.test_used[name]} times"


# -- what comes out --------------------------------------------------------------------


def _keep(
    held: ValidationFile,
    reports: Iterable[JudgeReport],
    source: _Source,
    folder: SuiteFolder,
) -> None:
    measured = [report for report in reports if report.is_measured]
    for report in measured:
        who = source.who.get(report.criterion_id)
        if who is not None:
            held = held.with_entry(
                Validated(
                    criterion_id=report.criterion_id,
                    who=who,
                    measurement=report.measurement,
                )
            )
    if not measured:
        return
    path = folder.root / HELD_FILE
    try:
        write_validation(path, held)
    except OSError as error:
        raise Refusal(f"{path} can't be written: {error.strerror}") from error


def _beside(
    labels: Iterable[Label], whole: Suite, source: _Source, suite: Suite
) -> list[str]:
    """Return what was left out, and what is measured that is not what is there now."""
    lines = []
    judged = {c.id: c.judge for c in whole.criteria if c.judge is not None}
    known = [criterion.id for criterion in whole.criteria]
    for name in sorted({label.criterion_id for label in labels}):
        if name not in known:
            lines.append(
                f"labels on {name!r} are left out: no criterion of this suite"
                f"{close_match(name, known)}"
            )
        elif name not in judged:
            lines.append(f"labels on {name!r} are left out: no judge decides it")
    for criterion in suite.criteria:
        who = source.who.get(criterion.id)
        judge = criterion.judge
        if who is not None and judge is not None and who.judge != judge.digest:
            lines.append(
                f"the judge of {criterion.id!r} was edited after {source.name}: this "
                "measures the one before"
            )
    return lines


def _record(
    reports: Iterable[JudgeReport], source: _Source, split: Split
) -> dict[str, object]:
    return {
        "source": source.name,
        "split": split,
        "judges": [report.to_record() for report in reports],
    }


def _lines(
    reports: Sequence[JudgeReport], source: _Source, split: Split, index: CaseIndex
) -> Iterator[str]:
    yield f"{source.name} against the labels of {split}"
    for report in reports:
        yield ""
        yield from _about(report, source.who.get(report.criterion_id), split)
        for one in report.disagreements:
            yield from _disagreement(one, index)


def _about(report: JudgeReport, who: WhoJudges | None, split: Split) -> Iterator[str]:
    found, block = report.measurement, report.block
    model = "" if who is None else f"  {who.pin['provider']}:{who.pin['model']}"
    yield f"{report.criterion_id}  {found.status}{model}"
    counts = [f"{count:,} {word}" for word, count in report.labels.items() if count]
    yield f"  labels        {', '.join(counts) or 'none'}"
    tp, fn, tn, fp = found.confusion
    if tp + fn + tn + fp:
        yield f"  TPR           {_share(tp, tp + fn, 'good runs pass')}"
        yield f"  TNR           {_share(tn, tn + fp, 'bad runs fail')}"
    abstained = found.agreed + found.over
    if abstained or found.under:
        yield (
            f"  abstentions   {found.agreed:,} of {abstained:,} as people do; "
            f"{found.under:,} decided where people don't"
        )
    if block["corrected"] is not None:
        passes = sum(p * n for (p, _), n in report.observed.items())
        decided = sum(d * n for (_, d), n in report.observed.items())
        yield (
            f"  rate          {percent(passes / decided)} of "
            f"{plural(decided, 'judged unit')} pass; corrected "
            f"{percent(block['corrected'])}, 95% interval "
            f"{span([round(end, 3) for end in block['interval']], share=True)}"
        )
    elif tp + fn and tn + fp and report.observed:
        yield "  rate          can't be corrected: the judge does no better than chance"
    if found.status == "unvalidated":
        yield f"  unvalidated   {_lacking(report, split)}"
    if report.not_judged:
        yield f"  not judged    {_named(report.not_judged)}"
    if report.ambiguous:
        yield (
            f"  left out      {_named(report.ambiguous)}: several runs bear these ids "
            "and differ; name the run that was labelled with --run"
        )


def _lacking(report: JudgeReport, split: Split) -> str:
    found = report.measurement
    return (
        f"{found.good_cases} good and {found.bad_cases} bad cases of {split} are labelled "
        f"and decided, {MIN_CASES} of each are needed"
    )


def _share(part: int, whole: int, what: str) -> str:
    if not whole:
        return "unknown: no label of that class was decided"
    return f"{percent(part / whole)}  {part:,} of {whole:,} {what}"


def _disagreement(one: Disagreed, index: CaseIndex) -> Iterator[str]:
    place = f"trace {one.trace_id}"
    case = index.by_id.get(one.case_id)
    if case is not None:
        place = f"{case_label(case.id, case.item or case.scenario)}, {place}"
    yield f"  {one.kind:<13} {place}"
    yield f"    judge ({one.result}): {' '.join(one.critique.split())}"
    if one.note:
        yield f"    people ({one.label}): {one.note}"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return f"{plural(len(names), 'labelled run')}: {', '.join(names[:MAX_NAMED])}{more}"
