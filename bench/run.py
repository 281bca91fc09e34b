"""Runs the benchmarks, prints a table and keeps it in `bench/RESULTS.md`.

python bench/run.py                all rows
python bench/run.py runtime        sections whose name holds the word
python bench/run.py --large        also 1,000,000 cases and 100,000 items
"""

import argparse
import os
import platform
import shutil
import sys

from judging import judging
from peers import peers
from resuming import resuming
from rows import Row, table
from soak import soaking
from suites import HERE, WORK

from generator import generation, generator_start, regeneration
from runtime import journal_opens, runtime_many, runtime_report, runtime_start

SECTIONS = (
    runtime_start,
    runtime_many,
    journal_opens,
    runtime_report,
    judging,
    resuming,
    soaking,
    generator_start,
    generation,
    regeneration,
    peers,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []
    for section in SECTIONS:
        if options.word in section.__name__:
            for row in section(options.large):
                rows.append(row)
                print(f"{row.name}: {row.measured} ({row.ratio}; aim {row.aim})")
    shutil.rmtree(WORK, ignore_errors=True)
    if not options.word:
        cpus = len(os.sched_getaffinity(0))
        head = (
            "# Results\n\nWritten by `make bench`: medians of runs taken in turn, on "
            f"Python {platform.python_version()} with {cpus} cores. Read the ratios; "
            "the seconds belong to one machine.\n\n"
        )
        (HERE / "RESULTS.md").write_text(head + table(rows), "utf-8")
    print("\n" + table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
