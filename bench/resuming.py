"""A judged run that is killed halfway and goes on: what is lost, repeated and waited."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from judging import write_settings
from measure import Command, once
from rows import Row
from suites import PYTHON, WORK, judge_server, make_suite, remove

UNITS, CONCURRENCY, LATENCY_MS = 1_000, 10, 20


def resuming(large: bool) -> Iterator[Row]:
    """Kill a run at half of its units, go on, and compare with one that was let be."""
    suite = make_suite("resumed", criteria=1, items=UNITS, judged=True)
    whole, killed, single = WORK / "whole", WORK / "killed", WORK / "single"
    argv = [PYTHON, "-S", str(suite), "run", "--criteria", "criterion-0", "-q"]
    with judge_server(LATENCY_MS) as url:
        write_settings(suite, "openai-http", url, CONCURRENCY)
        once(_run("whole", [*argv, "--out", str(whole)], whole))
        first = json.loads((suite / "dataset.jsonl").open().readline())["id"]
        start = once(
            _run("one", [*argv, "--cases", first, "--out", str(single)], single)
        )
        before = calls(url)
        held = kill_at_half([*argv, "--out", str(killed)], killed)
        rest = once(
            Command(
                name="resume",
                argv=[PYTHON, "-S", str(suite), "run", "--resume", str(killed), "-q"],
                env={"OPENAI_API_KEY": "bench"},
            )
        )
        asked = calls(url) - before
    ideal = (UNITS - held) * LATENCY_MS / 1000 / CONCURRENCY + start.wall
    same = digest(killed) == digest(whole)
    units = sum(1 for _ in (killed / "units.jsonl").open())
    yield Row(
        name=f"kill −9 at {held} of {UNITS:,} judged units, go on",
        measured=f"{rest.wall:.2f} s; {UNITS - units} lost, {asked - UNITS} asked twice, "
        f"scorecard {'the same' if same else 'ANOTHER'}",
        against=f"ideal remainder + start: {ideal:.2f} s",
        ratio=f"{rest.wall / ideal:.2f}",
        aim=f"≤ 1.3; lost 0, twice ≤ {CONCURRENCY}",
    )


def _run(name: str, argv: list[str], out: Path) -> Command:
    return Command(
        name=name, argv=argv, prepare=remove(out), env={"OPENAI_API_KEY": "bench"}
    )


def kill_at_half(argv: list[str], out: Path) -> int:
    """Start a run, kill it when half is journaled; return how many units that were."""
    remove(out)()
    units = out / "units.jsonl"
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    process = subprocess.Popen(argv, env=env | {"OPENAI_API_KEY": "bench", "CI": "1"})
    held = 0
    while process.poll() is None and held < UNITS // 2:
        time.sleep(0.005)
        held = units.read_bytes().count(b"\n") if units.exists() else 0
    process.send_signal(signal.SIGKILL)
    process.wait()
    return units.read_bytes().count(b"\n")


def calls(url: str) -> int:
    """Return how many judge calls the server has answered."""
    with urllib.request.urlopen(f"{url}/calls") as answer:
        return int(answer.read())


def digest(out: Path) -> str:
    """Return the masked digest of a run's scorecard."""
    return str(json.loads((out / "scorecard.json").read_text("utf-8"))["digest"])
