"""Kill -9 in the middle of judging, and go on: nothing judged twice, nothing lost.

The server kills the run itself, when it has been asked a given number of times: with
ten calls under way, at a moment that no thread of the run chose.
"""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from support.judge_server import JudgeServer, judge_server
from support.live_suite import JUDGED, LiveSuite, live_suite, rows
from support.wires import CHAT, Asked, Weather, verdict_text

CASES = 60
CONCURRENCY = 10
SETTINGS = """
concurrency = 10
[judge]
provider = "openai-http"
model = "judge-1"
base_url = "{url}"
cache = {cache}
"""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="kill -9 is a POSIX signal"
)


class Killer:
    """Answers, counts by prompt, and kills the run at a call of its choice."""

    def __init__(self, server: JudgeServer) -> None:
        server.answer = self.answer
        self.asked: Counter[str] = Counter()
        self.calls = 0
        self.at = 0
        self.victim: int | None = None
        self._lock = threading.Lock()

    def answer(self, asked: Asked) -> Weather:
        with self._lock:
            self.calls += 1
            self.asked[asked.user] += 1
            if self.victim is not None and self.calls == self.at:
                os.kill(self.victim, signal.SIGKILL)
        ref = {"obs": "output", "path": "", "value": "It is"}
        return CHAT.answer(verdict_text(refs=[ref]), model="judge-1")


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        yield running


def suite(root: Path, server: JudgeServer, *, cache: bool) -> LiveSuite:
    settings = SETTINGS.format(url=server.base_url, cache=str(cache).lower())
    return live_suite(root, cases=rows(CASES), criteria=JUDGED, settings=settings)


def killed_until_done(
    live: LiveSuite, killer: Killer, moments: Iterator[int]
) -> tuple[int, int]:
    """Kill the run after so many calls, again and again; return kills and calls."""
    kills, before = 0, killer.calls
    words = ["run", "--out", "runs/one", "-q"]
    while True:
        # The victim is named before it can have called anybody.
        with killer._lock:
            process = live.start(*words)
            killer.victim, killer.at = process.pid, killer.calls + next(moments)
        _, errors = process.communicate(timeout=120)
        if process.returncode != -signal.SIGKILL:
            assert process.returncode == 0, errors
            return kills, killer.calls - before
        kills += 1
        if (live.root / "runs/one/run.json").exists():
            words = ["run", "--resume", "one", "-q"]


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_killed_while_it_judges_goes_on_and_comes_to_the_same(
    tmp_path: Path, server: JudgeServer, cache: bool, seed: int
) -> None:
    killer = Killer(server)
    whole = suite(tmp_path / "whole", server, cache=cache)
    assert whole.run("run", "--out", "runs/one", "-q").returncode == 0
    assert killer.calls == CASES
    live = suite(tmp_path / "killed", server, cache=cache)
    killer.asked.clear()
    random = Random(f"{seed} {cache}")
    moments = iter([random.randint(1, CASES // 2) for _ in range(4)] + [10**9])
    kills, calls = killed_until_done(live, killer, moments)
    assert kills >= 1
    # Twice only what was under way when it was killed.
    assert calls <= CASES + kills * CONCURRENCY
    assert max(killer.asked.values()) <= kills + 1
    assert len(killer.asked) == CASES
    assert live.scorecard("one")["digest"] == whole.scorecard("one")["digest"]
    assert live.counts("one", "kind") == {"pass": CASES}
    keys = [unit["key"] for unit in live.lines("one", "units.jsonl")]
    assert len(keys) == len(set(keys)) == 3 * CASES
