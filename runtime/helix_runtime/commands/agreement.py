"""`agreement`: how far two runs agree that judged the same units."""

from __future__ import annotations

from argparse import Namespace

from ..folder import SuiteFolder
from ..judges.agreement import compare_runs
from ..refusal import Refusal
from ..safe_text import printable


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Print the agreement of two runs; the exit code is 0."""
    first, second = folder.run_folder(args.first), folder.run_folder(args.second)
    try:
        report = compare_runs(first, second)
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror}") from error
    print(f"{printable(first.name)} against {printable(second.name)}")
    for line in report.lines():
        print(printable(line))
    return 0
