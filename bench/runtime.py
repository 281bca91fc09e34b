"""The suite's runtime: its start, many cases, and the report of many."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from measure import Command, in_turn, once
from rows import Row, seconds, versus
from suites import PYTHON, WORK, floor_run, make_suite, remove, suite_run


def runtime_start(large: bool) -> Iterator[Row]:
    suite = make_suite("one", criteria=1, items=1)
    out = WORK / "out"
    ours, floor, loop = in_turn(
        Command(
            name="run", argv=suite_run(suite, out), prepare=remove(out), exit_codes=(0,)
        ),
        Command(name="plain loop", argv=floor_run(suite, WORK / "floor")),
        Command(
            name="asyncio loop", argv=floor_run(suite, WORK / "floor", "--asyncio")
        ),
        runs=9,
    )
    yield versus("one case, one check, from start", ours, floor, "≤ 2.5")
    yield versus("the same against asyncio", ours, loop, "–")
    ours, floor = in_turn(
        Command(name="--help", argv=[PYTHON, "-S", str(suite), "--help"]),
        Command(
            name="argparse + json",
            argv=[
                PYTHON,
                "-S",
                "-c",
                "import argparse, json; argparse.ArgumentParser().format_help()",
            ],
        ),
        runs=15,
    )
    yield versus("--help", ours, floor, "≤ 3")


def runtime_many(large: bool) -> Iterator[Row]:
    suite = make_suite("many", criteria=1, items=10_000)
    out = WORK / "out"
    ours, loop = in_turn(
        Command(name="run", argv=suite_run(suite, out), prepare=remove(out)),
        Command(
            name="asyncio loop", argv=floor_run(suite, WORK / "floor", "--asyncio")
        ),
    )
    yield versus("10,000 cases, one check", ours, loop, "≤ 3")
    size = sum(p.stat().st_size for p in out.iterdir() if p.suffix == ".jsonl")
    yield Row(
        name="size on disk per unit",
        measured=f"{size / 10_000 / 1000:.2f} KB",
        against="–",
        ratio="–",
        aim="≤ 0.7 KB",
    )
    more = 1_000_000 if large else 100_000
    big = WORK / "big.jsonl"
    grow_dataset(suite / "dataset.jsonl", big, more)
    shutil.copyfile(big, suite / "dataset.jsonl")
    sample = once(Command(name="run", argv=suite_run(suite, out), prepare=remove(out)))
    yield Row(
        name=f"{more:,} cases, one check",
        measured=f"{sample.wall:.1f} s, {sample.peak:.0f} MiB",
        against=f"10,000 cases: {seconds(ours)}",
        ratio=f"time × {sample.wall / ours.wall:.1f}, {sample.peak - ours.peak:+.0f} MiB",
        aim=f"time × {more // 10_000}, + 20 MiB",
    )
    resume = [PYTHON, "-S", str(suite), "run", "--resume", str(out), "-q"]
    resumed = once(Command(name="resume", argv=resume))
    yield Row(
        name=f"--resume of {more:,} decided units",
        measured=f"{resumed.wall:.1f} s, {resumed.peak:.0f} MiB",
        against=f"the run itself: {sample.wall:.1f} s",
        ratio="–",
        aim="–",
    )


def journal_opens(large: bool) -> Iterator[Row]:
    """Open the journal of a run of a million units, as `--resume` does at first."""
    suite = make_suite("journal", criteria=1, items=1_000)
    small, big = WORK / "out", WORK / "million"
    once(Command(name="run", argv=suite_run(suite, small), prepare=remove(small)))
    count = grow_journal(small, big, 1_000_000)
    opener = (
        f"import sys; sys.path.insert(0, {str(suite)!r})\n"
        "from pathlib import Path\n"
        "from bench_evals._runtime.journal import Journal\n"
        f"Journal(Path({str(big)!r})).close()"
    )
    start, opened = in_turn(
        Command(name="start", argv=[PYTHON, "-S", "-c", "import json"]),
        Command(name="open", argv=[PYTHON, "-S", "-c", opener]),
        runs=3,
    )
    remove(big)()
    yield Row(
        name=f"a journal of {count:,} units and as many traces opens",
        measured=f"{opened.wall - start.wall:.1f} s, {opened.peak:.0f} MiB",
        against="–",
        ratio="–",
        aim="≤ 5 s",
    )


def grow_journal(source: Path, target: Path, count: int) -> int:
    """Write the journal of a run again and again, its keys and ids made others."""
    remove(target)()
    target.mkdir(parents=True)
    for name, start in (
        ("units.jsonl", b'{"key":"'),
        ("traces.jsonl", b'{"unitf_version":"0.1","traceId":"'),
    ):
        lines = (source / name).read_bytes().splitlines(keepends=True)
        place = len(start) + 3
        with (target / name).open("wb") as out:
            for number in range(count // len(lines)):
                key = start + b"%03x" % number
                out.writelines([key + line[place:] for line in lines])
    return count


def grow_dataset(source: Path, target: Path, count: int) -> None:
    with source.open(encoding="utf-8") as lines:
        row = json.loads(next(lines))
    with target.open("w", encoding="utf-8") as out:
        for number in range(count):
            text = f"Ticket {number}: can order {100000 + number} be refunded?"
            row["id"] = f"{number:016x}"
            row["query"] = row["expected"]["output"] = text
            row["input"] = {"message": text}
            out.write(json.dumps(row, separators=(",", ":")) + "\n")


def runtime_report(large: bool) -> Iterator[Row]:
    suite = make_suite("report", criteria=20, items=10_000)
    out = WORK / "out"
    argv = [PYTHON, "-S", str(suite), "run", "--no-judge", "--out", str(out), "-q"]
    run = once(Command(name="run", argv=argv, prepare=remove(out), exit_codes=(3,)))
    (report,) = in_turn(
        Command(
            name="report", argv=[PYTHON, "-S", str(suite), "report", str(out), "-q"]
        ),
        runs=3,
    )
    yield Row(
        name="report on 10,000 cases × 10 criteria",
        measured=seconds(report),
        against=f"the run: {run.wall:.1f} s",
        ratio="–",
        aim="≤ 3 s",
    )
