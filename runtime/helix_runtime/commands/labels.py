"""`labels`: what people labelled, from and to tables; its splits, and examples of them."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..folder import SuiteFolder
from ..labels.file import (
    FILE_NAME,
    Label,
    LabelFile,
    LabelSummary,
    Standing,
    add_labels,
    no_labels,
    read_labels,
    summarize,
    write_labels,
)
from ..refusal import Refusal
from ..report.words import plural
from ..safe_text import printable
from .outcome import typed_path


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Show, import or export labels; 0, or 2 where there is a fault."""
    path = Path(args.labels or typed_path(folder.root / FILE_NAME))
    try:
        return _ACTIONS[args.action](args, folder, path)
    except OSError as error:
        raise Refusal(f"{error.filename or path}: {error.strerror or error}") from error


def _read(path: Path) -> LabelFile:
    found = read_labels(path)
    _complain(found.problems)
    return found


def _complain(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"error: {printable(line)}", file=sys.stderr)


# -- show ------------------------------------------------------------------------------


def _show(args: Namespace, folder: SuiteFolder, path: Path) -> int:
    if args.files:
        raise Refusal("labels show takes no FILE: --labels FILE names another one")
    found = _read(path)
    total = summarize(found.labels)
    known = {criterion.id for criterion in folder.load_suite().criteria}
    unknown = sorted(name for name in total.counts if name not in known)
    if args.json:
        print(json.dumps(_record(total, found, unknown)))
    else:
        for line in _lines(total, path, unknown):
            print(printable(line))
    return 2 if found.problems else 0


def _lines(total: LabelSummary, path: Path, unknown: list[str]) -> list[str]:
    if not total.current:
        return no_labels(path)
    width = max(len(name) for name in total.counts)
    labels = plural(len(total.current), "label")
    criteria = plural(len(total.counts), "criterion", "criteria")
    lines = [f"{labels} on {criteria} in {path}"]
    for name, counts in total.counts.items():
        words = ", ".join(
            f"{number} {word}" for word, number in counts.items() if number
        )
        lines.append(f"  {name:<{width}}  {words}")
    if total.duplicates:
        lines.append(
            "1 line says again what was said"
            if total.duplicates == 1
            else f"{total.duplicates:,} lines say again what was said"
        )
    if total.changed:
        were = "1 label was" if total.changed == 1 else f"{total.changed:,} labels were"
        lines.append(f"{were} changed by a later line")
    if unknown:
        lines.append(f"no criteria of this suite: {', '.join(unknown)}")
    if total.disagreements:
        lines.append(f"{plural(len(total.disagreements), 'disagreement')}:")
        lines += [f"  {one}" for one in total.disagreements]
    return lines


def _record(
    total: LabelSummary, found: LabelFile, unknown: list[str]
) -> dict[str, Any]:
    return {
        "labels": len(total.current),
        "criteria": {name: dict(counts) for name, counts in total.counts.items()},
        "duplicates": total.duplicates,
        "changed": total.changed,
        "unknownCriteria": unknown,
        "disagreements": [
            {
                "traceId": one.trace_id,
                "criterionId": one.criterion_id,
                "labels": [label.to_record() for label in one.labels],
            }
            for one in total.disagreements
        ],
        "problems": list(found.problems),
    }


# -- import ----------------------------------------------------------------------------


def _import(args: Namespace, folder: SuiteFolder, path: Path) -> int:
    from ..labels.sources import Naming, import_labels, kind_of

    if not args.files:
        raise Refusal("labels import needs a FILE: a table, scores of Langfuse, labels")
    naming = Naming(
        criteria={criterion.id for criterion in folder.load_suite().criteria},
        given=_mapping(args.map),
        annotator=args.annotator,
    )
    labels: list[Label] = []
    problems: list[str] = []
    left_out: dict[str, int] = {}
    for name in args.files:
        file = Path(name)
        if not file.is_file():
            raise Refusal(f"there is no file {name}")
        kind = args.source or kind_of(file)
        found = import_labels(file, kind, naming)
        labels += found.labels
        problems += found.problems
        for why, number in found.left_out.items():
            left_out[why] = left_out.get(why, 0) + number
        if not args.json:
            print(f"{printable(file.name)}: {kind}, {len(found.labels)} labels")
    for why, number in left_out.items():
        print(f"left out: {number} {printable(why)}", file=sys.stderr)
    if not problems:
        problems += read_labels(path).problems
    if problems:
        _complain(problems)
        print("nothing was imported: mend these and try again", file=sys.stderr)
        return 2
    labels = _marked(args, folder, path, labels)
    unknown = _unknown_runs(args, folder, labels)
    done = add_labels(path, labels)
    total = summarize(read_labels(path).labels)
    if args.json:
        print(
            json.dumps(
                {
                    "added": done.added,
                    "duplicates": done.duplicates,
                    "changed": done.changed,
                    "marked": done.marked,
                    "leftOut": left_out,
                    "unknownRuns": unknown,
                    "disagreements": len(total.disagreements),
                }
            )
        )
        return 0
    print(
        f"{done.added} labels added to {printable(str(path))}, {done.changed} changed, "
        f"{done.duplicates} were there already"
    )
    if done.marked:
        were = "1 of them says" if done.marked == 1 else f"{done.marked:,} of them say"
        print(f"{were} again what stood, and now of which run and words")
    if total.disagreements:
        print(f"{len(total.disagreements)} disagreements: `labels` lists them")
    return 0


def _marked(
    args: Namespace, folder: SuiteFolder, path: Path, labels: Sequence[Label]
) -> list[Label]:
    """Return the labels with the marks of the runs at hand and of the criteria.

    Warns of those that may be on several runs.
    """
    from ..labels.marks import digests_of_words, marked
    from .label_splits import contents_at_hand

    standing = Standing()
    for label in read_labels(path).labels:
        standing.take(label)
    contents = contents_at_hand(args, folder, labels)
    found = marked(
        labels,
        standing=standing,
        contents=contents,
        words=digests_of_words(folder.load_suite().criteria),
        run_named=bool(args.run or args.traces),
        again=args.again,
    )
    several = sum(
        label.trace_digest is None and len(contents.get(label.trace_id, ())) > 1
        for label in found
    )
    if several:
        print(
            f"warning: of {plural(several, 'label')} nobody can tell on which run "
            "they are: several runs bear one id and differ. Name the run that was "
            "labelled with --run",
            file=sys.stderr,
        )
    return found


def _unknown_runs(
    args: Namespace, folder: SuiteFolder, labels: Iterable[Label]
) -> list[str]:
    """Warn of labels on runs that are not at hand; return their trace ids.

    They are taken all the same: a run may lie elsewhere, or come later.
    """
    from .label_splits import MAX_UNKNOWN, runs_not_at_hand

    unknown = runs_not_at_hand(args, folder, labels)
    for name, meant in list(unknown.items())[:MAX_UNKNOWN]:
        print(
            f"warning: no run at hand has the trace id {printable(name)!r}"
            f"{printable(meant)}",
            file=sys.stderr,
        )
    if len(unknown) > MAX_UNKNOWN:
        print(f"warning: nor {len(unknown) - MAX_UNKNOWN} more", file=sys.stderr)
    if unknown:
        print(
            "a label counts where a run has its trace id: mend the id in the table and "
            "import it again, or name the file that the run is in with --traces",
            file=sys.stderr,
        )
    return list(unknown)


def _mapping(words: Iterable[str]) -> dict[str, str]:
    given = {}
    for word in words:
        theirs, equals, ours = word.rpartition("=")
        if not equals or not theirs or not ours:
            raise Refusal(f"--map {word!r} must read THEIRS=OURS")
        given[theirs] = ours
    return given


# -- export ----------------------------------------------------------------------------


def _export(args: Namespace, folder: SuiteFolder, path: Path) -> int:
    if len(args.files) != 1:
        raise Refusal("labels export needs one FILE: OUT.csv or OUT.jsonl")
    out = Path(args.files[0])
    if out.suffix not in (".csv", ".jsonl"):
        raise Refusal(f"{out}: labels are exported to .csv or .jsonl")
    if out.resolve() == path.resolve():
        raise Refusal(f"{out}: that is the file that is exported")
    found = _read(path)
    labels = summarize(found.labels).current
    try:
        if out.suffix == ".csv":
            from ..labels.sources import write_csv

            write_csv(out, labels)
        else:
            write_labels(out, labels)
    except OSError as error:
        raise Refusal(f"{out}: can't be written: {error.strerror}") from error
    if not args.json:
        print(f"{len(labels)} labels written to {printable(str(out))}")
    return 2 if found.problems else 0


# -- splits and examples ---------------------------------------------------------------


def _splits(args: Namespace, folder: SuiteFolder, path: Path) -> int:
    from .label_splits import show_splits

    if args.files:
        raise Refusal("labels splits takes no FILE: --labels FILE names another one")
    return show_splits(args, folder, _read(path), path)


def _examples(args: Namespace, folder: SuiteFolder, path: Path) -> int:
    from .label_splits import print_examples

    if len(args.files) != 1:
        raise Refusal("labels examples needs one CRITERION that a judge decides")
    return print_examples(args, folder, _read(path))


_ACTIONS = {
    "show": _show,
    "import": _import,
    "export": _export,
    "splits": _splits,
    "examples": _examples,
}
