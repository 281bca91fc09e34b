"""`prep`: packets for the judging agents of a host, from recorded traces or a run."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from ..folder import SuiteFolder, read_run_record
from ..labels.leakage import check_examples
from ..matrix.packet_index import cases_digest
from ..matrix.packets import PacketReport, write_packets
from ..pin import floating_alias
from ..redact import Redactor
from ..refusal import Refusal
from ..runner import NOT_COMPLETE
from ..safe_text import printable
from ..targets.recorded import (
    RecordedCount,
    TraceFiles,
    index_cases,
    losses_of,
    read_recorded,
)
from .outcome import typed_path


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Write the packets and say what is left to do; the exit code is 0."""
    if not args.model or not args.model.strip():
        raise Refusal(
            "prep needs --model M: the exact model that will judge; there is no default"
        )
    files = _trace_files(args, folder)
    if args.run:
        folder = folder.of_run(read_run_record(folder.run_folder(args.run)) or {})
    out = Path(args.out or typed_path(folder.root / "matrix" / "packets"))
    suite = folder.load_suite()
    check_examples(suite, folder, folder.settings(), traces=files)
    count = RecordedCount()
    index = index_cases(folder.cases())
    lost = _losses_of_run(folder.run_folder(args.run)) if args.run else []

    def losses() -> list[str]:
        more = losses_of(count, files=files, cases=len(index.by_id))
        return list(dict.fromkeys([*lost, *more]))

    try:
        report = write_packets(
            suite=suite,
            traces=read_recorded(files, index, count),
            losses=losses,
            more_cases=lambda: count.confusable.values(),
            dataset=cases_digest(index.by_id.values()),
            model=args.model.strip(),
            out=out,
            home=folder.root,
            axis=args.axis,
            batch_tokens=args.batch_tokens,
            clean=Redactor(os.environ).clean,
        )
    except OSError as error:
        raise Refusal(
            f"{out}: the packets can't be written: {error.strerror or error}"
        ) from error
    warning = floating_alias(args.model)
    if warning is not None:
        print(f"warning: {printable(warning)}", file=sys.stderr)
    for line in packet_faults(count, report):
        print(f"warning: {printable(line)}", file=sys.stderr)
    if not args.quiet:
        aside = bool(args.out)
        for line in packet_summary(report, count, package=folder.package, aside=aside):
            print(printable(line))
    return 0


def _trace_files(args: Namespace, folder: SuiteFolder) -> TraceFiles:
    if args.traces and args.run:
        raise Refusal("--traces and --run: give one of the two")
    if not args.traces and not args.run:
        raise Refusal(
            "prep needs recorded traces: give --traces FILE, or --run RUN to take "
            "those of a run"
        )
    if args.run:
        files = [folder.run_folder(args.run) / "traces.jsonl"]
    else:
        files = [Path(name) for name in args.traces]
    missing = [f"there is no trace file {path}" for path in files if not path.is_file()]
    if missing:
        raise Refusal(*missing)
    if args.run:
        return TraceFiles.of(files, format="unitf")
    settings = folder.settings()
    return TraceFiles.of(
        files,
        format=args.format or settings.trace_format,
        mapping=settings.trace_map,
    )


def _losses_of_run(run: Path) -> list[str]:
    """Return which runs lack in the traces of a run, by its own word."""
    record = read_run_record(run) or {}
    if record.get("finished") is not True:
        return [
            f"{NOT_COMPLETE}{run.name}, which the runs were taken from, did not end"
        ]
    lines = record.get("losses")
    return [str(line) for line in lines] if isinstance(lines, list) else []


def packet_faults(count: RecordedCount, report: PacketReport) -> list[str]:
    """Return what was wrong on the way to the packets, a line each."""
    read = count.read
    lines = []
    if read.skipped:
        named = "; ".join(read.faults)
        lines.append(f"{read.skipped} lines are no traces and were skipped: {named}")
    if count.repeats:
        named = ", ".join(count.repeated)
        lines.append(f"{count.repeats} traces repeat an id and were left out: {named}")
    lines += [
        f"{name} answers an earlier packet of that name: it is now {name}.stale"
        for name in report.stale
    ]
    lines += [
        f"{name} holds verdicts on earlier packets of these runs: they don't count; "
        "judge those runs again"
        for name in report.outdated
    ]
    return lines


def packet_summary(
    report: PacketReport,
    count: RecordedCount,
    *,
    package: str | None,
    aside: bool = True,
) -> list[str]:
    """Return what was written and what comes next, a line each.

    Without the suite's `package`, there is nobody to aggregate the verdicts; `aside`
    says that the packets lie elsewhere than `aggregate` looks for them.
    """
    what = "packets" if report.axis == "trajectory" else "tasks"
    lines = [
        f"{report.traces} traces{count.read.told_formats()}: "
        f"{count.matched} belong to a case of the dataset, "
        f"{count.own} stand for themselves",
        *_without_judge(report),
        f"{report.files} {what} with {report.units} judgements in {report.out}",
    ]
    if report.files:
        lines += [
            f"next: dispatch a judge for each line of {report.out / 'dispatches.jsonl'}"
            f" (see JUDGE.md there); verdicts go to {report.verdicts}",
        ]
    if report.files and package is not None:
        where = f" --packets {report.out}" if aside else ""
        lines.append(f"then: python -m {package} aggregate{where}")
    return lines


def _without_judge(report: PacketReport) -> Iterator[str]:
    if report.by_code:
        need = "1 needs" if report.by_code == 1 else f"{report.by_code:,} need"
        short = f": {report.incomplete:,} incomplete" if report.incomplete else ""
        yield f"{need} no judge{short}"
