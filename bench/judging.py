"""Judged units: the SDK path against the bare SDK, the plain path against raw HTTP."""

from collections.abc import Iterator
from pathlib import Path

from measure import Command, in_turn
from rows import Row
from suites import HERE, PYTHON, WORK, judge_server, make_suite, remove

# Units at a concurrency; the ideal is 10 s for the first, 0.4 s for the second.
SIZES = ((2_000, 10), (500, 64))


def judging(large: bool) -> Iterator[Row]:
    """The SDK path against the bare SDK, the plain path against raw `http.client`."""
    paths = (
        ("openai", "bare openai SDK", "sdk_floor.py", "≤ 1.1, CPU ≤ 1.1"),
        ("openai-http", "raw http.client", "http_floor.py", "≤ 1.15"),
    )
    for units, concurrency in SIZES:
        suite = make_suite(f"judged-{units}", criteria=1, items=units, judged=True)
        for provider, name, floor, aim in paths:
            kept = str(WORK / "floor.jsonl")
            words = [str(units), kept, "--concurrency", str(concurrency)]
            with judge_server(50) as url:
                ours, bare = in_turn(
                    _judged_run(suite, provider, url, concurrency),
                    Command(
                        name=name,
                        argv=[PYTHON, str(HERE / "floors" / floor), url, *words],
                    ),
                    runs=3,
                )
            more = 1000 * (ours.cpu - bare.cpu) / units
            yield Row(
                name=f"{units:,} judged units, {provider}, concurrency {concurrency}",
                measured=f"{ours.wall:.2f} s, CPU {ours.cpu:.2f} s",
                against=f"{bare.name}: {bare.wall:.2f} s, CPU {bare.cpu:.2f} s",
                ratio=f"{ours.wall / bare.wall:.2f}, CPU {ours.cpu / bare.cpu:.2f} "
                f"({more:+.2f} ms a call)",
                aim=aim,
            )


def write_settings(suite: Path, provider: str, url: str, concurrency: int) -> None:
    """Let a suite ask the judge at that URL, by that path, without its cache."""
    (suite / "evals.toml").write_text(
        'target = "python:bench_evals.target:target"\n'
        f"concurrency = {concurrency}\n"
        f'[judge]\nprovider = "{provider}"\nmodel = "judge-1"\n'
        f'base_url = "{url}"\ncache = false\n',
        "utf-8",
    )


def _judged_run(suite: Path, provider: str, url: str, concurrency: int) -> Command:
    write_settings(suite, provider, url, concurrency)
    out = WORK / "out"
    words = ["run", "--criteria", "criterion-0", "--out", str(out), "-q"]
    return Command(
        name="run",
        argv=[PYTHON, str(suite), *words],
        prepare=remove(out),
        env={"OPENAI_API_KEY": "bench"},
    )
