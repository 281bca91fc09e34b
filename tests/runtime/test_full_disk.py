"""A disk that takes no more: every command says so, and leaves no part of a file.

A limit on the size of files stands in for the disk: real processes, real errors.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from helix_runtime.labels.file import Label, write_labels
from support.live_suite import CODE, LiveSuite, environment, live_suite, rows

resource = pytest.importorskip("resource", reason="limits of processes are POSIX")

SIZES = (0, 700, 5_000)
COMMANDS = (
    "run --out runs/two",
    "run --resume one",
    "report one",
    "requests one",
    "sample --run one --strategy failure",
    "prep --run one --model m",
    "profile runs/one/traces.jsonl --out profile.json",
    "labels export out.jsonl",
    "labels export out.csv",
    "run --out runs/two --junit junit.xml",
)
TARGET = 'def target(case):\n    return "It is " + "a" * 300\n'


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> LiveSuite:
    live = live_suite(
        tmp_path_factory.mktemp("full"), cases=rows(30), criteria=CODE, target=TARGET
    )
    assert live.run("run", "--out", "runs/one", "-q").returncode == 1
    write_labels(
        live.root / "labels.jsonl",
        [
            Label(trace_id=f"case-{n:04d}-r0", criterion_id="exact", label="fail")
            for n in range(30)
        ],
    )
    return live


def limited(
    suite: LiveSuite, words: str, size: int
) -> "subprocess.CompletedProcess[str]":
    """Run a command that can write no file beyond so many bytes."""
    program = (
        "import os, resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    return subprocess.run(
        [sys.executable, "-S", "-c", program, *suite.command(*words.split())],
        cwd=suite.root,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("words", COMMANDS)
def test_a_full_disk_is_said_and_leaves_no_part_of_a_file(
    suite: LiveSuite, words: str
) -> None:
    for size in SIZES:
        done = limited(suite, words, size)
        assert "Traceback" not in done.stderr and done.returncode != 70, (size, done)
        if done.returncode in (2, 4):
            assert "error: " in done.stderr
        left = [path for path in suite.root.rglob("*.part*") if path.is_file()]
        assert left == [], (size, words)


def test_what_was_there_stays_where_nothing_can_be_written(suite: LiveSuite) -> None:
    card = suite.root / "runs/one/scorecard.json"
    assert suite.run("run", "--resume", "one", "-q").returncode == 1
    before = {
        path: path.read_bytes()
        for path in suite.root.rglob("*")
        if path.is_file() and "runs" not in path.parts
    }
    for words in COMMANDS:
        limited(suite, words, 0)
    assert {path: path.read_bytes() for path in before} == before
    assert card.is_file()


def test_a_link_beside_a_file_is_not_written_through(tmp_path: Path) -> None:
    live = live_suite(tmp_path, cases=rows(2), target=TARGET)
    live.run("run", "--out", "runs/one", "-q")
    precious = live.write("precious", "mine")
    for name in ("run.json", "scorecard.json", "report.html"):
        (live.root / f"runs/one/{name}.part").symlink_to(precious)
    assert live.run("run", "--resume", "one", "-q").returncode == 1
    assert precious.read_text("utf-8") == "mine"
    assert (live.root / "runs/one/scorecard.json").is_file()
