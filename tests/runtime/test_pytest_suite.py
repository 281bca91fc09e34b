"""The suite under pytest, as its owner starts it: once a session, honest at the end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.live_suite import (
    CODE,
    JUDGED,
    UNWRITTEN,
    LiveSuite,
    environment,
    live_suite,
    rows,
)

HALF = """\
import os
from pathlib import Path


def target(case):
    folder = Path(__file__).parent.parent / "calls"
    folder.mkdir(exist_ok=True)
    with open(folder / str(os.getpid()), "a") as log:
        log.write(case.id + "\\n")
    said = "It is " + case.query[8:-1] + "."
    return said if case.id != "case-0001" else "x" * 300
"""
LENIENT = (
    "Criterion(check=checks.exact, passes=rate('>= 0.5')), "
    "Criterion(check=checks.short, severity='MED')"
)


UNREACHABLE_JUDGE = """\
[judge]
provider = "openai-http"
model = "judge-1-2025-01-01"
base_url = "http://127.0.0.1:9/v1"
"""


def pytest_run(
    suite: LiveSuite, *words: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *words],
        cwd=suite.root,
        env=environment() | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def calls(suite: LiveSuite) -> list[str]:
    files = (suite.root / "calls").iterdir()
    return sorted(line for f in files for line in f.read_text("utf-8").split())


def lenient(root: Path) -> LiveSuite:
    suite = live_suite(root, cases=rows(3), target=HALF, criteria=LENIENT)
    text = (suite.package / "suite.py").read_text("utf-8")
    suite.write(
        "desk_evals/suite.py",
        text.replace("import Criterion", "import Criterion, rate"),
    )
    return suite


def test_a_gating_failure_fails_its_test_and_the_gates(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=HALF)
    done = pytest_run(suite)
    assert done.returncode == 1, done.stdout
    assert "PASSED tests/test_evals.py::test_unit[case-0000/exact]" in done.stdout
    assert "FAILED tests/test_evals.py::test_unit[case-0001/exact]" in done.stdout
    assert "XFAIL tests/test_evals.py::test_unit[case-0001/short]" in done.stdout
    assert "FAILED tests/test_evals.py::test_gate" in done.stdout
    assert "not It is 1." in done.stdout
    assert "Traceback" not in done.stdout
    assert len(calls(suite)) == 3


def test_a_tolerated_failure_is_expected_and_the_session_is_green(
    tmp_path: Path,
) -> None:
    done = pytest_run(lenient(tmp_path))
    assert done.returncode == 0, done.stdout
    assert "XFAIL tests/test_evals.py::test_unit[case-0001/exact]" in done.stdout
    assert "passes at rate >= 0.5" in done.stdout
    assert "PASSED tests/test_evals.py::test_gate" in done.stdout


def test_what_no_judge_decided_is_no_pass(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(3, item="ask"), criteria=JUDGED)
    done = pytest_run(suite)
    assert done.returncode == 1
    # Skipped with the reason, not three failures that say the same; the gate is red.
    assert "test_unit[ask-case-0000/exact]" in done.stdout
    assert "no verdict: no judge was asked" in done.stdout
    assert "1 failed, 6 passed, 3 skipped" in done.stdout
    assert "the gate is incomplete" in done.stdout
    assert "no verdict on 3 units of `kind`" in done.stdout
    assert "--judge PROVIDER:MODEL" in done.stdout


def test_out_of_scope_is_skipped_with_its_reason(tmp_path: Path) -> None:
    criteria = CODE.replace(
        "checks.exact", "checks.exact, applies_to=Scope(datasets=['other'])"
    )
    suite = live_suite(tmp_path, cases=rows(1, dataset="golden"), criteria=criteria)
    text = (suite.package / "suite.py").read_text("utf-8")
    suite.write(
        "desk_evals/suite.py",
        text.replace("import Criterion", "import Criterion, Scope"),
    )
    done = pytest_run(suite)
    assert "SKIPPED" in done.stdout
    assert "its dataset does not map to this criterion" in done.stdout
    # Nothing decided the one criterion that gates: that is no pass.
    assert done.returncode == 1


def test_repeats_are_one_test_and_the_worst_of_them_counts(tmp_path: Path) -> None:
    flapping = (
        "from itertools import count\n"
        "numbers = count()\n"
        "def target(case):\n"
        "    said = 'It is ' + case.query[8:-1] + '.'\n"
        "    return said if next(numbers) != 1 else 'no'\n"
    )
    suite = live_suite(
        tmp_path, cases=rows(1), target=flapping, settings="repeats = 3\n"
    )
    done = pytest_run(suite)
    assert done.returncode == 1
    assert "case-0000: fail (repeat 1 of 3)" in done.stdout


def test_workers_of_xdist_share_one_run(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(6), target=HALF)
    done = pytest_run(suite, "-n", "2")
    assert done.returncode == 1, done.stdout
    assert calls(suite) == [row["id"] for row in rows(6)]
    assert "FAILED tests/test_evals.py::test_unit[case-0001/exact]" in done.stdout
    assert len(list((tmp_path / "runs").iterdir())) == 1


@pytest.mark.parametrize("words", [[], ["-n", "2"]])
def test_a_suite_that_cannot_be_run_says_why_once(
    tmp_path: Path, words: list[str]
) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=UNWRITTEN)
    done = pytest_run(suite, *words)
    assert done.returncode == 1
    assert "fill in desk_evals/target.py" in done.stdout
    assert "1 failed, 6 skipped" in done.stdout


@pytest.mark.parametrize("words", [[], ["-n", "2"], ["-k", "short"]])
def test_a_suite_that_cannot_be_run_is_red_without_the_gates_test(
    tmp_path: Path, words: list[str]
) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=UNWRITTEN)
    gate = "tests/test_evals.py::test_gate"
    done = pytest_run(suite, "--deselect", gate, *words)
    assert done.returncode == 1, done.stdout
    assert "fill in desk_evals/target.py" in done.stdout


def test_a_judge_that_cannot_be_reached_is_red_without_the_gates_test(
    tmp_path: Path,
) -> None:
    suite = live_suite(
        tmp_path, cases=rows(3), criteria=JUDGED, settings=UNREACHABLE_JUDGE
    )
    done = pytest_run(suite, "--deselect", "tests/test_evals.py::test_gate")
    assert done.returncode == 1, done.stdout
    assert "the suite was not run" in done.stdout
    assert "1 failed, 8 skipped" in done.stdout


def test_a_run_that_stopped_is_red_without_the_gates_test(tmp_path: Path) -> None:
    stops = (
        "from desk_evals._runtime.targets import TargetUnreachable\n"
        "def target(case):\n"
        "    if case.id != 'case-0000':\n"
        "        raise TargetUnreachable('no route')\n"
        "    return 'It is ' + case.query[8:-1] + '.'\n"
    )
    suite = live_suite(
        tmp_path, cases=rows(3), target=stops, settings="concurrency = 1\n"
    )
    done = pytest_run(suite, "--deselect", "tests/test_evals.py::test_gate")
    assert done.returncode == 1, done.stdout
    assert "no route" in done.stdout
    assert "1 failed" in done.stdout


def test_code_alone_can_be_asked_for_where_the_judge_has_no_key(
    tmp_path: Path,
) -> None:
    suite = live_suite(
        tmp_path, cases=rows(3), criteria=JUDGED, settings=UNREACHABLE_JUDGE
    )
    done = pytest_run(suite, EVALS_CODE_ONLY="1")
    assert done.returncode == 0, done.stdout
    assert "/kind" not in done.stdout
    assert "7 passed" in done.stdout
    suite.write("desk_evals/target.py", "def target(case):\n    return 'no'\n")
    done = pytest_run(suite, EVALS_CODE_ONLY="1")
    assert done.returncode == 1
    assert "FAILED tests/test_evals.py::test_gate" in done.stdout
    assert "narrowed" in done.stdout
    # Off, and not there, are the same: the whole suite.
    done = pytest_run(suite, EVALS_CODE_ONLY="0")
    assert done.returncode == 1 and "the suite was not run" in done.stdout


def test_a_suite_that_cannot_be_read_is_one_error_without_a_traceback(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=[{"id": "x"}])
    done = pytest_run(suite)
    assert done.returncode == 2
    assert "dataset.jsonl:1:" in done.stdout
    assert "Traceback" not in done.stdout


def test_recorded_traces_of_the_settings_are_the_population(tmp_path: Path) -> None:
    suite = live_suite(
        tmp_path,
        cases=rows(2),
        engine="native-matrix",
        settings="traces = ['recorded/*.jsonl']\n",
    )
    record = {
        "traceId": "case-0001",
        "status": "ok",
        "spans": [{"role": "assistant", "kind": "llm", "output": "It is 1."}],
    }
    suite.write("recorded/a.jsonl", json.dumps(record) + "\n")
    done = pytest_run(suite)
    assert done.returncode == 0, done.stdout
    assert "PASSED tests/test_evals.py::test_unit[case-0001/exact]" in done.stdout
    assert "case-0000" not in done.stdout
