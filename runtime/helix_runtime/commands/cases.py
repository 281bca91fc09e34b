"""`cases`: lists the cases, and says which still need a realistic query."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import redirect_stdout

from ..canonical import dump_line
from ..case import Case
from ..folder import SuiteFolder
from ..record import replace
from ..refusal import Refusal
from ..row_slips import dataset_slips
from ..safe_text import printable
from ..selection import Selection

_QUERY_WIDTH = 72


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Print the selected cases, one a line; `--json` prints their rows.

    Cases that the spec no longer has are listed only by `--retired`.
    """
    selection = Selection(cases=args.cases, category=args.category)
    if args.criteria:
        raise Refusal("--criteria selects nothing here: cases have no criteria")
    scan = folder.scan_dataset(selection.keeps_row)
    retired = folder.retired() if args.retired else frozenset()
    shown = placeholders = 0
    datasets: dict[str, int] = {}
    for case in replace(folder, with_retired=args.retired).cases():
        if args.retired and case.id not in retired:
            continue
        if not selection.keeps(case):
            continue
        placeholders += case.placeholder
        if case.dataset is not None:
            datasets[case.dataset] = datasets.get(case.dataset, 0) + 1
        if args.placeholders and not case.placeholder:
            continue
        shown += 1
        print(dump_line(case.to_row()) if args.json else _line(case))
    of = f"{scan.retired} retired" if args.retired else f"{scan.cases}"
    said = f"{shown} of {of} cases"
    if placeholders:
        need = "needs" if placeholders == 1 else "need"
        said += (
            f"; {placeholders} still {need} a realistic query: theirs only describes the "
            "situation (`expand --placeholders` has them worded; or rewrite `query` in "
            "dataset.jsonl and remove `placeholder`)"
        )
    if scan.retired and not args.retired:
        said += (
            f"; {scan.retired} more retired, for the spec no longer has what they were "
            "made from (`cases --retired`)"
        )
    if args.json:
        print(said, file=sys.stderr)
    else:
        print(said)
    for line in dataset_slips(folder.dataset, folder.package_folder):
        print(f"warning: {printable(line)}", file=sys.stderr)
    if datasets and not args.retired:
        for line in _strange_datasets(folder, datasets):
            print(f"warning: {printable(line, 400)}", file=sys.stderr)
    return 0


def _strange_datasets(folder: SuiteFolder, datasets: Mapping[str, int]) -> list[str]:
    """Return a line for each dataset of cases that nothing of the suite names.

    None where the suite's own code breaks: a run says so, and the list is whole.
    """
    try:
        with redirect_stdout(sys.stderr):
            known = folder.load_suite().datasets()
    except Refusal:
        return []
    return [
        f"{count} of the cases {'is' if count == 1 else 'are'} of the dataset {name!r}, "
        "which no criterion and no job of the suite names: criteria that are mapped to "
        "datasets don't judge "
        f"{'it' if count == 1 else 'them'}; the suite knows "
        f"{', '.join(map(repr, sorted(known)))}"
        for name, count in sorted(datasets.items())
        if known and name not in known
    ]


def _line(case: Case) -> str:
    mark = "!" if case.placeholder else " "
    place = " / ".join(
        part for part in (case.dataset, case.category, case.scenario) if part
    )
    query = printable(case.query, _QUERY_WIDTH)
    item = f"  {printable(case.item)}" if case.item else ""
    return f"{mark} {printable(case.id)}{item}  [{printable(place)}]  {query}"
