"""`expand`: tuples first, then their wording; and real words for placeholders."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..canonical import dump_line
from ..case import Case
from ..folder import SuiteFolder
from ..growing.accept import Accepted, accept
from ..growing.expand import MAX_TUPLES, Covered, Space, Tuples, space_from, tuples_of
from ..growing.growth import Dataset, growing, read_dataset, tuple_key
from ..growing.situations import (
    case_of,
    dataset_of,
    descriptions_of,
    placeholders_of,
    space_of,
)
from ..growing.writing import (
    ANSWERS,
    INSTRUCTIONS_FILE,
    Answers,
    Situation,
    Task,
    WritingReport,
    read_answers,
    read_tasks,
    write_tasks,
)
from ..record import record, replace
from ..redact import holds_credential
from ..refusal import Refusal
from ..report.words import plural
from ..safe_text import printable
from ..selection import Selection
from .new_cases import next_step
from .outcome import typed_path

if TYPE_CHECKING:
    from ..growing.writer import Written

TUPLES = "matrix/writing"
PLACEHOLDERS = "matrix/rewording"
OPEN = 3
_SHOWN = 20
_WIDTH = 72


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Write tasks, or take their answers in.

    The exit code is 0, or 3 where answers are refused or missing.
    """
    if args.accept is not None:
        return _accept(args, folder)
    return _write(args, folder)


def _default_out(args: Namespace, folder: SuiteFolder) -> Path:
    name = PLACEHOLDERS if args.placeholders else TUPLES
    return Path(args.out or typed_path(folder.root / name))


# -- writing tasks ---------------------------------------------------------------------


def _write(args: Namespace, folder: SuiteFolder) -> int:
    dataset = read_dataset(folder)
    cases = _living(dataset)
    if args.placeholders:
        situations, found = _placeholders(args, cases), None
    else:
        found, situations = _tuples(args, cases, dataset)
    out = _default_out(args, folder)
    if args.dry_run:
        return _show_dry(args, situations, found)
    if not situations:
        return _show_nothing(args, found)
    with redirect_stdout(sys.stderr):
        suite = folder.load_suite()
    examples = [
        case
        for case in cases
        if not case.placeholder and not holds_credential(case.query)
    ]
    try:
        report = write_tasks(
            out, suite=suite, situations=situations, examples=examples, home=folder.root
        )
        written = _ask(args, folder, out, report, dataset) if args.writer else None
    except OSError as error:
        raise Refusal(
            f"{out}: the writing tasks can't be written: {error.strerror or error}"
        ) from error
    _show_tasks(args, folder, out, report, found, written)
    return 0 if written is None or not written.failed else OPEN


def _living(dataset: Dataset) -> list[Case]:
    return [c for c in dataset.cases.values() if c.id not in dataset.retired]


def _placeholders(args: Namespace, cases: Sequence[Case]) -> list[Situation]:
    wrong = [
        f"--{option.replace('_', '-')} is about new cases: leave it away with "
        "--placeholders"
        for option in ("dimensions", "over", "pairwise", "max")
        if getattr(args, option)
    ]
    if wrong:
        raise Refusal(*wrong)
    selection = Selection(cases=args.cases, category=args.category)
    wanted = [case for case in cases if selection.keeps(case)]
    if args.dataset is not None:
        dataset_of(cases, args.dataset, whose="--dataset")
        wanted = [case for case in wanted if case.dataset == args.dataset]
    return placeholders_of(wanted)


def _tuples(
    args: Namespace, cases: Sequence[Case], dataset: Dataset
) -> tuple[Tuples, list[Situation]]:
    if args.cases or args.category:
        raise Refusal("--cases and --category choose placeholders: see --placeholders")
    space = _space(args, cases)
    of = [case for case in cases if case.dataset == space.dataset]
    gone = dataset.removed.tuples
    there = Covered(space, (case.dimensions for case in of))
    found = tuples_of(
        space,
        there=there,
        limit=args.max or MAX_TUPLES,
        pairwise=args.pairwise,
    )
    meant = descriptions_of(space)
    situations = [
        Situation(tuple=values, dataset=space.dataset, descriptions=meant)
        for values in found.tuples
    ]

    def was_removed(situation: Situation) -> bool:
        row = case_of(situation, "-", cases)
        return tuple_key(row.dimensions) in gone

    kept = [one for one in situations if not (gone and was_removed(one))]
    removed = len(situations) - len(kept)
    return replace(found, removed=removed), kept


def _space(args: Namespace, cases: Sequence[Case]) -> Space:
    if not args.dimensions:
        dataset = dataset_of(cases, args.dataset, whose="--dataset")
        return space_of(cases, dataset, args.over)
    if args.over:
        raise Refusal("--over names dimensions of the suite, --dimensions a file: one")
    from ..strict_json import strict_loads

    path = Path(args.dimensions)
    try:
        data = strict_loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise Refusal(f"{path}: is not JSON: {error}") from error
    space = space_from(data, path.name)
    if args.dataset and space.dataset and args.dataset != space.dataset:
        raise Refusal(f"--dataset {args.dataset!r}: {path.name} says {space.dataset!r}")
    wanted = args.dataset or space.dataset
    whose = "--dataset" if args.dataset else path.name
    return replace(space, dataset=dataset_of(cases, wanted, whose=whose))


# -- asking a model --------------------------------------------------------------------


@record(kw_only=True)
class _Asked:
    model: str
    written: int
    failed: tuple[str, ...]
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None

    def to_record(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "written": self.written,
            "failed": list(self.failed),
            "usage": {
                "writer": {
                    "calls": self.calls,
                    "inputTokens": self.input_tokens,
                    "outputTokens": self.output_tokens,
                    "costUsd": self.cost_usd,
                }
            },
        }


def _ask(
    args: Namespace,
    folder: SuiteFolder,
    out: Path,
    report: WritingReport,
    dataset: Dataset,
) -> _Asked:
    """Let a model answer the tasks that have no answer; each is kept as it comes."""
    from concurrent.futures import ThreadPoolExecutor

    from ..growing.growth import words_of
    from ..growing.near_duplicates import NearDuplicates, tokens_of
    from ..growing.wording import faults_of
    from ..growing.writer import MAX_TOKENS, TIMEOUT, ModelWriter
    from ..growing.writing import write_answer
    from ..judges.judging import named_model, open_model, warn_of
    from ..judges.prices import price_of
    from ..refusal import CANT_CARRY_OUT

    settings = folder.settings()
    wanted = named_model(args.writer, settings.judge, option="--writer")
    pin, provider = open_model(wanted, "the writer")
    warn_of(pin)
    index: NearDuplicates[str] = NearDuplicates()
    for case in dataset.cases.values():
        if not case.placeholder:
            index.add(words_of(case), case.id)

    def write(task: Task) -> Written:
        data = json.loads((out / task.file).read_bytes())
        situation = task.situation

        def wrong(query: str) -> list[str]:
            faults = faults_of(query, situation=situation.tuple, told=situation.told)
            if index.find(tokens_of(query)) is not None:
                faults.append("is nearly what another user wrote already")
            return faults

        written = writer.write(data["system"], data["user"], wrong)
        if written.query is not None:
            write_answer(out, task, written.query)
        return written

    try:
        writer = ModelWriter(
            provider=provider,
            pin=pin,
            price=price_of(wanted.model, settings.prices),
            max_tokens=wanted.max_tokens or MAX_TOKENS,
            timeout=wanted.timeout or TIMEOUT,
        )
        with ThreadPoolExecutor(args.concurrency or settings.concurrency) as pool:
            results = list(pool.map(write, report.unanswered))
    finally:
        provider.close()
    if writer.fatal is not None:
        raise Refusal(f"the writer: {writer.fatal}", exit_code=CANT_CARRY_OUT)
    return _asked(pin.model, report.unanswered, results)


def _asked(model: str, tasks: Sequence[Task], results: Sequence[Written]) -> _Asked:
    """Return what the answers to tasks come to; a sum is None where a part of it is."""
    usages = [one.usage for one in results]

    def total(values: Sequence[Any]) -> Any:
        return None if any(value is None for value in values) else sum(values)

    return _Asked(
        model=model,
        written=sum(one.query is not None for one in results),
        failed=tuple(
            f"{task.file}: {one.why}"
            for task, one in zip(tasks, results, strict=True)
            if one.query is None
        ),
        calls=sum(usage.calls for usage in usages),
        input_tokens=total([usage.input_tokens for usage in usages]),
        output_tokens=total([usage.output_tokens for usage in usages]),
        cost_usd=total([usage.cost_usd for usage in usages]),
    )


# -- accepting -------------------------------------------------------------------------


def _accept(args: Namespace, folder: SuiteFolder) -> int:
    places = _places(args, folder)
    tasks: list[Task] = []
    faults: list[str] = []
    answers: list[Any] = []
    for place in places:
        try:
            found = read_tasks(place)
            read = read_answers(place)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Refusal(f"{place}: no writing tasks can be read: {reason}") from error
        tasks += found
        shown = typed_path(place)
        faults += [f"{shown}/{fault}" for fault in read.faults]
        answers += [replace(a, place=f"{shown}/{a.place}") for a in read.answers]
    given = Answers(answers=tuple(answers), faults=tuple(faults))
    with growing(folder, dry=args.dry_run) as dataset:
        accepted = accept(tasks, given, dataset)
        if not args.dry_run:
            if accepted.added or accepted.reworded:
                dataset.change(added=accepted.added, reworded=accepted.reworded)
            for path in accepted.refused:
                _set_aside(path)
    if args.json:
        print(json.dumps(_accepted_record(accepted), ensure_ascii=False))
    else:
        for line in _accepted_lines(args, folder, accepted):
            print(printable(line))
    for fault in accepted.faults:
        print(f"error: {printable(fault)}", file=sys.stderr)
    return OPEN if accepted.faults or accepted.unanswered else 0


def _places(args: Namespace, folder: SuiteFolder) -> list[Path]:
    if args.accept:
        return [Path(args.accept)]
    if args.out:
        raise Refusal("--accept DIR names the folder of the tasks: leave --out away")
    places = [
        Path(typed_path(folder.root / name))
        for name in (PLACEHOLDERS, TUPLES)
        if (folder.root / name).is_dir()
    ]
    if not places:
        raise Refusal(
            "there are no writing tasks yet: `expand --placeholders` writes those of "
            "the cases that need a realistic query, `expand` those of new cases"
        )
    return places


def _set_aside(path: Path) -> None:
    """Rename a refused answer, so that its task is open again."""
    try:
        path.replace(path.with_name(f"{path.name}.refused"))
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror or error}") from error


# -- what is said ----------------------------------------------------------------------


def _told(found: Tuples | None) -> list[str]:
    if found is None:
        return []
    parts = [(found.there, "have a case"), (found.excluded, "are excluded")]
    parts.append((found.removed, "had a case that you removed"))
    parts.append((found.impossible, "pairs of values can't occur together"))
    return [f"{number:,} {what}" for number, what in parts if number]


def _show_dry(
    args: Namespace, situations: Sequence[Situation], found: Tuples | None
) -> int:
    if args.json:
        print(json.dumps(_tasks_record([s.tuple for s in situations], found)))
        return 0
    for situation in situations:
        print(printable(_values(situation)))
    print("; ".join([f"{len(situations):,} to be worded", *_told(found)]))
    return 0


def _show_nothing(args: Namespace, found: Tuples | None) -> int:
    if args.json:
        print(json.dumps(_tasks_record([], found)))
        return 0
    if found is None:
        print("nothing to word: every case chosen has a realistic query")
    else:
        print("; ".join(["nothing to word: no new tuple", *_told(found)]))
    return 0


def _tasks_record(tuples: Sequence[Any], found: Tuples | None) -> dict[str, Any]:
    data: dict[str, Any] = {"tasks": len(tuples), "tuples": [dict(t) for t in tuples]}
    if found is not None:
        data |= {
            "there": found.there,
            "excluded": found.excluded,
            "removed": found.removed,
            "impossiblePairs": found.impossible,
        }
    return data


def _show_tasks(
    args: Namespace,
    folder: SuiteFolder,
    out: Path,
    report: WritingReport,
    found: Tuples | None,
    asked: _Asked | None,
) -> None:
    if args.json:
        data = _tasks_record([t.situation.tuple for t in report.tasks], found)
        data |= {"out": str(out), "unanswered": len(report.unanswered)}
        if asked is not None:
            data["writer"] = asked.to_record()
        print(json.dumps(data, ensure_ascii=False))
        return
    said = [f"{plural(len(report.tasks), 'writing task')} in {out}", *_told(found)]
    print(printable("; ".join(said)))
    answered = len(report.tasks) - len(report.unanswered)
    if answered:
        print(f"{answered:,} of them have an answer already")
    if asked is not None:
        for line in _asked_lines(asked):
            print(printable(line))
    elif report.unanswered:
        dispatches = out / "dispatches.jsonl"
        print(
            printable(
                f"next: give each line of {dispatches} to a writing agent (see "
                f"{INSTRUCTIONS_FILE} there; answers go to {out / ANSWERS}), or let a "
                "model write with --writer PROVIDER:MODEL"
            )
        )
    where = "" if not args.out else f" {out}"
    print(
        printable(
            f"then: read them, and python -m {folder.package} expand --accept{where}"
        )
    )


def _asked_lines(asked: _Asked) -> Iterator[str]:
    tokens = "unknown tokens"
    if asked.input_tokens is not None and asked.output_tokens is not None:
        tokens = f"{asked.input_tokens:,} + {asked.output_tokens:,} tokens"
    cost = "" if asked.cost_usd is None else f", ${asked.cost_usd:.4f}"
    yield f"{asked.model} wrote {asked.written:,}: {asked.calls:,} calls, {tokens}{cost}"
    for line in asked.failed[:_SHOWN]:
        yield f"  not written: {line}"
    if len(asked.failed) > _SHOWN:
        yield f"  and {len(asked.failed) - _SHOWN} more"


def _accepted_record(accepted: Accepted) -> dict[str, Any]:
    return {
        "added": [json.loads(dump_line(case.to_row())) for case in accepted.added],
        "reworded": dict(accepted.reworded),
        "done": accepted.done,
        "removed": accepted.removed,
        "unanswered": [task.id for task in accepted.unanswered],
        "faults": list(accepted.faults),
    }


def _accepted_lines(
    args: Namespace, folder: SuiteFolder, accepted: Accepted
) -> Iterator[str]:
    would = "would be " if args.dry_run else ""
    new, other = len(accepted.added), len(accepted.reworded)
    yield (
        f"{plural(new, 'new case')} {would}added, {plural(other, 'case')} {would}put "
        "into a user's words"
    )
    rows = [(case.id, case.query) for case in accepted.added]
    rows += accepted.reworded.items()
    for row_id, query in rows[:_SHOWN]:
        yield f"  {row_id}  {_quoted(query)}"
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN} more"
    if accepted.done:
        were = "1 was" if accepted.done == 1 else f"{accepted.done:,} were"
        yield f"{were} accepted before"
    if accepted.removed:
        yield (
            "1 is of a case that you removed: it stays away"
            if accepted.removed == 1
            else f"{accepted.removed:,} are of cases that you removed: they stay away"
        )
    if accepted.unanswered:
        yield f"{plural(len(accepted.unanswered), 'task')} without an answer yet"
    if accepted.faults:
        ended = accepted.refused and not args.dry_run
        kept = "; refused files now end in .refused" if ended else ""
        yield f"{plural(len(accepted.faults), 'fault')} (see below){kept}"
    if rows and not args.dry_run:
        yield next_step(folder, [row_id for row_id, _ in rows[:_SHOWN]])


def _quoted(text: str) -> str:
    return printable(json.dumps(text, ensure_ascii=False), _WIDTH)


def _values(situation: Situation) -> str:
    values = ", ".join(f"{k}: {v}" for k, v in situation.tuple.items())
    return f"{situation.case_id}  {values}" if situation.case_id else values
