"""Whole-process measures with the standard library only.

Peak memory is that of the largest single process of the measured tree; it can't read
below the measuring process's own.
"""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command to time; `prepare` runs before each run, untimed."""

    name: str
    argv: Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    prepare: Callable[[], None] | None = None
    exit_codes: tuple[int, ...] = (0,)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One run: wall and CPU seconds, peak MiB."""

    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """The medians of a command's runs."""

    name: str
    wall: float
    cpu: float
    peak: float


def once(command: Command) -> Sample:
    """Run a command and return its measures. Raises RuntimeError on another exit code."""
    if command.prepare is not None:
        command.prepare()
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    env |= {"NO_COLOR": "1", "CI": "1"}
    env.update(command.env or {})
    start = time.perf_counter()
    process = subprocess.Popen(
        command.argv,
        cwd=command.cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in command.exit_codes:
        raise RuntimeError(f"{command.name} ended with {process.returncode}")
    return Sample(
        wall=wall, cpu=used.ru_utime + used.ru_stime, peak=used.ru_maxrss / 1024
    )


def in_turn(*commands: Command, runs: int = 5, warmup: int = 1) -> list[Result]:
    """Run the commands in turn (A B A B ...) and return the medians of each.

    The machine's drift then hits all of them alike.
    """
    samples: list[list[Sample]] = [[] for _ in commands]
    for turn in range(runs + warmup):
        for place, command in enumerate(commands):
            sample = once(command)
            if turn >= warmup:
                samples[place].append(sample)
    return [
        Result(
            name=command.name,
            wall=statistics.median(s.wall for s in of_one),
            cpu=statistics.median(s.cpu for s in of_one),
            peak=statistics.median(s.peak for s in of_one),
        )
        for command, of_one in zip(commands, samples, strict=True)
    ]
