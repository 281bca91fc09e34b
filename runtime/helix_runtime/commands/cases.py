"""`cases`: lists the cases, and says which still need a realistic query."""

from __future__ import annotations

import sys
from argparse import Namespace

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
    for case in replace(folder, with_retired=args.retired).cases():
        if args.retired and case.id not in retired:
            continue
        if not selection.keeps(case):
            continue
        placeholders += case.placeholder
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
    return 0


def _line(case: Case) -> str:
    mark = "!" if case.placeholder else " "
    place = " / ".join(
        part for part in (case.dataset, case.category, case.scenario) if part
    )
    query = printable(case.query, _QUERY_WIDTH)
    item = f"  {printable(case.item)}" if case.item else ""
    return f"{mark} {printable(case.id)}{item}  [{printable(place)}]  {query}"
