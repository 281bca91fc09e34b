"""Runs the benchmarks, prints a table and keeps it in `bench/RESULTS.md`.

python bench/run.py                all rows
python bench/run.py runtime        rows whose section or name holds the word
python bench/run.py --large        also 1,000,000 cases and 100,000 items
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inputs import (
    edit_checks,
    reword_criterion,
    write_overlay,
    write_spec,
    write_target,
)
from measure import Command, Result, in_turn, once

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYTHON = sys.executable
HELIX = str(Path(sys.executable).parent / "helix-gen")
WORK = ROOT / ".cache" / "bench"
PEERS = ROOT / ".cache" / "peers"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the table: what was measured, against what, and the aim."""

    section: str
    name: str
    measured: str
    against: str
    ratio: str
    aim: str


def seconds(result: Result) -> str:
    return f"{result.wall:.3f} s, {result.peak:.0f} MiB"


def versus(section: str, name: str, ours: Result, other: Result, aim: str) -> Row:
    return Row(
        section=section,
        name=name,
        measured=seconds(ours),
        against=f"{other.name}: {seconds(other)}",
        ratio=f"{ours.wall / other.wall:.2f}",
        aim=aim,
    )


def remove(path: Path) -> Callable[[], None]:
    return lambda: shutil.rmtree(path, ignore_errors=True)


def make_suite(name: str, *, criteria: int, items: int, judged: bool = False) -> Path:
    """Generate a suite whose code checks compare exactly and whose target echoes."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spec = folder / "agentspec.yaml"
    write_spec(spec, criteria=criteria, items=items, judged=judged)
    write_overlay(folder / "agentspec.evals.yaml", criteria=0 if judged else criteria)
    suite = folder / "suite"
    subprocess.run([HELIX, "suite", spec, "-o", suite, "-q"], check=True)
    write_target(suite, "bench_evals")
    return suite


def suite_run(suite: Path, out: Path, *words: str) -> list[str]:
    return [
        PYTHON,
        "-S",
        str(suite),
        "run",
        "--no-judge",
        "--criteria",
        "criterion-0",
        "--out",
        str(out),
        "-q",
        *words,
    ]


def floor_run(suite: Path, out: Path, *words: str) -> list[str]:
    floor = str(HERE / "floors" / "runtime_floor.py")
    return [PYTHON, "-S", floor, str(suite / "dataset.jsonl"), str(out), *words]


# -- the suite's runtime ---------------------------------------------------------------


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
    yield versus("runtime", "one case, one check, from start", ours, floor, "≤ 2.5")
    yield versus("runtime", "the same against asyncio", ours, loop, "–")
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
    yield versus("runtime", "--help", ours, floor, "≤ 3")


def runtime_many(large: bool) -> Iterator[Row]:
    suite = make_suite("many", criteria=1, items=10_000)
    out = WORK / "out"
    ours, loop = in_turn(
        Command(name="run", argv=suite_run(suite, out), prepare=remove(out)),
        Command(
            name="asyncio loop", argv=floor_run(suite, WORK / "floor", "--asyncio")
        ),
    )
    yield versus("runtime", "10,000 cases, one check", ours, loop, "≤ 3")
    size = sum(p.stat().st_size for p in out.iterdir() if p.suffix == ".jsonl")
    yield Row(
        section="runtime",
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
        section="runtime",
        name=f"{more:,} cases, one check",
        measured=f"{sample.wall:.1f} s, {sample.peak:.0f} MiB",
        against=f"10,000 cases: {seconds(ours)}",
        ratio=f"time × {sample.wall / ours.wall:.1f}, {sample.peak - ours.peak:+.0f} MiB",
        aim=f"time × {more // 10_000}, + 20 MiB",
    )
    resume = [PYTHON, "-S", str(suite), "run", "--resume", str(out), "-q"]
    resumed = once(Command(name="resume", argv=resume))
    yield Row(
        section="runtime",
        name=f"--resume of {more:,} decided units",
        measured=f"{resumed.wall:.1f} s, {resumed.peak:.0f} MiB",
        against=f"the run itself: {sample.wall:.1f} s",
        ratio="–",
        aim="opens 1,000,000 in ≤ 5 s",
    )


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
        section="runtime",
        name="report on 10,000 cases × 10 criteria",
        measured=seconds(report),
        against=f"the run: {run.wall:.1f} s",
        ratio="–",
        aim="≤ 3 s",
    )


# -- judging ------------------------------------------------------------------------


@contextmanager
def judge_server(latency_ms: int) -> Iterator[str]:
    server = subprocess.Popen(
        [PYTHON, str(HERE / "judge_server.py"), "--latency-ms", str(latency_ms)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def judging(large: bool) -> Iterator[Row]:
    """The SDK path against the bare SDK, the plain path against raw `http.client`."""
    calls = 500
    suite = make_suite("judged", criteria=1, items=calls, judged=True)
    paths = (
        ("openai", "bare openai SDK", "sdk_floor.py", "≤ 1.1, CPU ≤ 1.1"),
        ("openai-http", "raw http.client", "http_floor.py", "≤ 1.15"),
    )
    for provider, name, floor, aim in paths:
        for concurrency in (10, 64):
            with judge_server(50) as url:
                ours, bare = in_turn(
                    _judged_run(suite, provider, url, concurrency),
                    Command(
                        name=name,
                        argv=[
                            PYTHON,
                            str(HERE / "floors" / floor),
                            url,
                            str(calls),
                            "--concurrency",
                            str(concurrency),
                        ],
                    ),
                    runs=3,
                )
            yield Row(
                section="judging",
                name=f"{calls} judged units, {provider}, concurrency {concurrency}",
                measured=f"{ours.wall:.2f} s, CPU {ours.cpu:.2f} s",
                against=f"{bare.name}: {bare.wall:.2f} s, CPU {bare.cpu:.2f} s",
                ratio=f"{ours.wall / bare.wall:.2f}, CPU {ours.cpu / bare.cpu:.2f}",
                aim=aim,
            )


def _judged_run(suite: Path, provider: str, url: str, concurrency: int) -> Command:
    (suite / "evals.toml").write_text(
        'target = "python:bench_evals.target:target"\n'
        f"concurrency = {concurrency}\n"
        f'[judge]\nprovider = "{provider}"\nmodel = "judge-1"\n'
        f'base_url = "{url}"\ncache = false\n',
        "utf-8",
    )
    out = WORK / "out"
    words = ["run", "--criteria", "criterion-0", "--out", str(out), "-q"]
    return Command(
        name="run",
        argv=[PYTHON, str(suite), *words],
        prepare=remove(out),
        env={"OPENAI_API_KEY": "bench"},
    )


# -- the generator --------------------------------------------------------------------


def generator_start(large: bool) -> Iterator[Row]:
    program = WORK / "bare_typer.py"
    WORK.mkdir(parents=True, exist_ok=True)
    program.write_text(
        "import typer\napp = typer.Typer()\n"
        "@app.command()\ndef one(name: str) -> None: ...\n"
        "@app.command()\ndef two(name: str) -> None: ...\napp()\n",
        "utf-8",
    )
    ours, floor = in_turn(
        Command(name="helix-gen --help", argv=[HELIX, "--help"]),
        Command(name="bare typer program", argv=[PYTHON, str(program), "--help"]),
        runs=11,
    )
    yield versus("generator", "helix-gen --help", ours, floor, "≤ 1.3")


def generation(large: bool) -> Iterator[Row]:
    peer = PEERS / "datamodel-codegen" / "bin" / "datamodel-codegen"
    sizes = [(10, 100), (100, 10_000), (5_000, 100)]
    sizes += [(100, 100_000)] if large else []
    first: dict[tuple[int, int], Result] = {}
    for criteria, items in sizes:
        spec = WORK / f"spec-{criteria}-{items}.yaml"
        WORK.mkdir(parents=True, exist_ok=True)
        write_spec(spec, criteria=criteria, items=items)
        out, floor_out = WORK / "generated", WORK / "floor-generated"
        floor = [PYTHON, str(HERE / "floors" / "generator_floor.py"), str(spec)]
        ours = Command(
            name="suite",
            argv=[HELIX, "suite", str(spec), "-o", str(out), "-q"],
            prepare=remove(out),
        )
        runs = 5 if criteria * items < 1_000_000 else 3
        name = f"{criteria:,} criteria, {items:,} items, from nothing"
        result, base = in_turn(
            ours,
            Command(
                name="f-string floor",
                argv=[*floor, str(floor_out)],
                prepare=remove(floor_out),
            ),
            runs=runs,
        )
        first[(criteria, items)] = result
        yield versus("generator", name, result, base, "≤ 2" if items >= 10_000 else "–")
        if (criteria, items) == (10, 100):
            if peer.exists():
                schema = WORK / "peer.json"
                schema.write_text(json.dumps(peer_schema()), "utf-8")
                argv = [str(peer), "--input", str(schema), "--output"]
                result, other = in_turn(
                    ours,
                    Command(
                        name="datamodel-codegen",
                        argv=[*argv, str(WORK / "peer_models.py")],
                    ),
                )
                yield versus(
                    "generator", "a typical spec against a peer", result, other, "≤ 0.8"
                )
        if items <= 10_000 and criteria <= 100:
            once(ours)
            again, checked = in_turn(
                Command(name="again", argv=ours.argv),
                Command(name="checksum floor", argv=[*floor, str(floor_out), "--skip"]),
            )
            row = versus(
                "generator", f"{name[:-14]}, nothing changed", again, checked, ""
            )
            yield Row(
                section=row.section,
                name=row.name,
                measured=row.measured,
                against=f"{row.against}; first: {result.wall:.3f} s",
                ratio=f"{again.wall / first[(criteria, items)].wall:.2f} of the first",
                aim="≤ 0.4 of the first",
            )


def regeneration(large: bool) -> Iterator[Row]:
    """One criterion changed in the spec, 300 of 5,000 edited by hand."""
    WORK.mkdir(parents=True, exist_ok=True)
    spec, out = WORK / "spec-regenerated.yaml", WORK / "regenerated"
    changed, edited = WORK / "spec-changed.yaml", WORK / "edited"
    write_spec(spec, criteria=5_000, items=100)
    write_spec(changed, criteria=5_000, items=100)
    reword_criterion(changed, 16)
    for folder in (out, edited):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([HELIX, "suite", spec, "-o", edited, "-q"], check=True)
    edit_checks(edited, "bench_evals", count=300)
    again, copy = WORK / "again", shutil.copytree

    def fresh_copy() -> None:
        shutil.rmtree(again, ignore_errors=True)
        copy(edited, again)

    ours, first = in_turn(
        Command(
            name="again",
            argv=[HELIX, "suite", str(changed), "-o", str(again), "-q"],
            prepare=fresh_copy,
        ),
        Command(
            name="first generation",
            argv=[HELIX, "suite", str(spec), "-o", str(out), "-q"],
            prepare=remove(out),
        ),
        runs=3,
    )
    name = "one of 5,000 criteria changed, 300 edited by hand"
    yield versus("generator", name, ours, first, "≤ 2")


def peer_schema() -> dict[str, object]:
    properties = {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    models = {
        f"Model{n}": {"type": "object", "required": ["id"], "properties": properties}
        for n in range(10)
    }
    refs = {f"m{n}": {"$ref": f"#/$defs/Model{n}"} for n in range(10)}
    return {"type": "object", "properties": refs, "$defs": models}


SECTIONS = (
    runtime_start,
    runtime_many,
    runtime_report,
    judging,
    generator_start,
    generation,
    regeneration,
)


def table(rows: list[Row]) -> str:
    lines = [
        "| what | measured | against | ratio | aim |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {r.name} | {r.measured} | {r.against} | {r.ratio} | {r.aim} |" for r in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    rows = []
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
