"""The suites that are measured, and the commands that run them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from inputs import write_overlay, write_spec, write_target

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYTHON = sys.executable
HELIX = str(Path(sys.executable).parent / "helix-gen")
# Two measurements at once must not clear each other's folders away.
WORK = ROOT / ".cache" / "bench" / str(os.getpid())
PEERS = ROOT / ".cache" / "peers"


def remove(path: Path) -> Callable[[], None]:
    """Return a function that clears a folder away."""
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
    """Return the command that decides one code check for all cases."""
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
    """Return the command of the floor on the same cases."""
    floor = str(HERE / "floors" / "runtime_floor.py")
    return [PYTHON, "-S", floor, str(suite / "dataset.jsonl"), str(out), *words]


@contextmanager
def judge_server(latency_ms: int) -> Iterator[str]:
    """Serve a judge of that latency in a process of its own; yield its base URL."""
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
