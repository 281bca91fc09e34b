"""What `validate` says of a judge, line by line. It may hold strangers' text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..names import case_label
from ..targets.recorded import CaseIndex
from ..trust.validating import Disagreed, JudgeReport
from ..trust.validation import MIN_CASES
from ..trust.validation_file import WhoJudges
from .words import percent, plural, span

MAX_NAMED: Final = 5


def judge_lines(
    report: JudgeReport, who: WhoJudges | None, index: CaseIndex
) -> Iterator[str]:
    """Yield how a judge did, then every disagreement."""
    yield from _figures(report, who)
    for one in report.disagreements:
        yield from _disagreement(one, index)


def _figures(report: JudgeReport, who: WhoJudges | None) -> Iterator[str]:
    found = report.measurement
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
    yield from _rate(report)
    if found.status == "unvalidated":
        yield (
            f"  unvalidated   {found.good_cases} good and {found.bad_cases} bad cases "
            f"of {found.split} are labelled and decided, {MIN_CASES} of each are needed"
        )
    if report.not_judged:
        yield f"  not judged    {_named(report.not_judged)}"
    if report.ambiguous:
        yield (
            f"  left out      {_named(report.ambiguous)}: several runs bear these ids "
            "and differ; name the run that was labelled with --run"
        )


def _rate(report: JudgeReport) -> Iterator[str]:
    """Yield the rate of what was judged, corrected; nothing where labels are missing."""
    block = report.block
    passes = sum(p * n for (p, _), n in report.observed.items())
    decided = sum(d * n for (_, d), n in report.observed.items())
    if block["corrected"] is not None:
        yield (
            f"  rate          {percent(passes / decided)} of "
            f"{plural(decided, 'judged unit')} pass; corrected "
            f"{percent(block['corrected'])}, 95% interval {span(block['interval'], share=True)}"
        )
    elif None not in (block["tpr"], block["tnr"]):
        yield "  rate          can't be corrected: the judge does no better than chance"


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
