"""`run` as a user types it: a process, its streams, its exit code, its folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.live_suite import (
    CODE,
    JUDGED,
    TARGET,
    UNWRITTEN,
    environment,
    live_suite,
    rows,
)

WRONG = "def target(case):\n    return 'Nobody knows.'\n"


@pytest.mark.parametrize(
    ("changes", "words", "code", "gate"),
    [
        ({}, [], 0, "pass"),
        ({"target": WRONG}, [], 1, "fail"),
        ({"criteria": JUDGED}, [], 3, "incomplete"),
        ({"criteria": JUDGED}, ["--no-judge"], 3, "incomplete"),
        ({"target": WRONG}, ["--criteria", "short"], 3, "incomplete"),
    ],
)
def test_the_exit_code_is_the_gates(
    tmp_path: Path, changes: dict[str, str], words: list[str], code: int, gate: str
) -> None:
    suite = live_suite(tmp_path, cases=rows(3), **changes)
    done = suite.run("run", "--out", "runs/a", *words)
    assert done.returncode == code, done.stderr
    assert suite.scorecard("a")["gate"]["verdict"] == gate
    for name in ("run.json", "traces.jsonl", "units.jsonl", "report.html"):
        assert (tmp_path / "runs/a" / name).is_file()


@pytest.mark.parametrize(
    ("changes", "words", "code", "said"),
    [
        ({"target": UNWRITTEN}, [], 2, "fill in desk_evals/target.py"),
        ({"target": "import nowhere\n"}, [], 2, "target.py:1: ModuleNotFoundError"),
        ({"target": "x = (\n"}, [], 2, "target.py:1: SyntaxError"),
        ({}, ["--target", "python:desk_evals.target:nothing"], 2, "has no nothing"),
        ({}, ["--target", "localhost:80"], 2, "python:MODULE:CALLABLE"),
        ({}, ["--target", "http:localhost"], 2, "must read http:URL"),
        ({}, ["--target", "langgraph:desk_evals.target:target"], 4, "pip install la"),
        (
            {"target": UNWRITTEN},
            ["--target", "langgraph:desk_evals.target:target"],
            2,
            "fill in desk_evals/target.py",
        ),
        ({}, ["--target", "command:no-such-program-at-all"], 4, "no program"),
        ({"engine": "native-matrix"}, [], 2, "native-only"),
        ({}, ["--traces", "nowhere.jsonl"], 2, "no trace file nowhere.jsonl"),
        ({}, ["--traces", "dataset.jsonl", "--target", "python:a:b"], 2, "one of"),
        ({}, ["--traces", "dataset.jsonl", "--repeats", "2"], 2, "are not run"),
        ({}, ["--cases", "nothing-*"], 2, "--cases 'nothing-*' matches no case"),
        ({}, ["--cases", "case-0001", "case-001x"], 2, "'case-001x' matches no case"),
        ({}, ["--cases", "*", "--category", "x"], 2, "--category 'x' matches no case"),
        ({}, ["--criteria", "exakt"], 2, "did you mean 'exact'"),
        ({}, ["--resume"], 2, "no run yet"),
        ({}, ["--resume", "other"], 2, "no run 'other'"),
        ({}, ["--concurrency", "0"], 2, "at least 1"),
        ({}, ["--timeout", "nan"], 2, "above 0"),
        ({}, ["--judge", "openai"], 2, "PROVIDER:MODEL"),
        ({"criteria": JUDGED}, ["--judge", "nobody:m"], 2, "nobody"),
        ({"criteria": JUDGED}, ["--judge", "openai:m-1"], 4, "openai"),
        ({}, ["--replay", "nowhere"], 2, "no such folder"),
        ({"settings": "concurency = 2\n"}, [], 2, "did you mean 'concurrency'"),
        ({"settings": "[thresholds]\nexakt = '>= 0.9'\n"}, [], 2, "'exact'"),
        ({"checks": "import nowhere\n"}, [], 2, "checks.py:1"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words_before_anything_is_written(
    tmp_path: Path, changes: dict[str, str], words: list[str], code: int, said: str
) -> None:
    suite = live_suite(tmp_path, cases=rows(2), **changes)
    done = suite.run("run", *words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [p for p in (tmp_path / "runs").rglob("*") if p.is_file()] == []


def test_every_fault_of_the_dataset_is_named_before_the_target_is_called(
    tmp_path: Path,
) -> None:
    good = rows(3)
    suite = live_suite(
        tmp_path,
        cases=[*good, {"id": "x"}, good[1]],
        target="def target(case):\n    open('called', 'w')\n    return ''\n",
    )
    done = suite.run("run")
    assert done.returncode == 2
    assert "dataset.jsonl:4: `query`" in done.stderr
    assert "dataset.jsonl:5: the id 'case-0001' stands in line 2" in done.stderr
    assert not (tmp_path / "called").exists()


def test_a_dataset_without_a_case_says_where_cases_come_from(tmp_path: Path) -> None:
    done = live_suite(tmp_path, cases=[]).run("run")
    assert done.returncode == 2
    assert "dataset.jsonl holds no case: give the spec scenarios" in done.stderr
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_json_on_stdout_is_the_scorecard_whatever_the_target_prints(
    tmp_path: Path,
) -> None:
    noisy = TARGET.replace("return", "print('noise')\n    return")
    suite = live_suite(tmp_path, cases=rows(2), target=noisy)
    done = suite.run("run", "--out", "runs/a", "--json")
    assert json.loads(done.stdout) == suite.scorecard("a")
    assert "noise" in done.stderr


def test_the_dashboard_has_no_colour_and_no_progress_where_nobody_looks(
    tmp_path: Path,
) -> None:
    done = live_suite(tmp_path, cases=rows(2)).run("run")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stderr
    assert "GATE PASS" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
@pytest.mark.parametrize(
    ("variables", "lively"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "", "CI": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "CI": "true"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_on_a_terminal_colour_and_progress_come_and_go_together(
    tmp_path: Path, variables: dict[str, str], lively: bool
) -> None:
    import pty

    def answering(terminal: int) -> bytes:
        try:
            return os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            return b""

    # The progress is drawn ten times a second: the subject takes its time.
    slow = TARGET.replace("    return", "    time.sleep(0.15)\n    return")
    suite = live_suite(tmp_path, cases=rows(2), target=f"import time\n{slow}")
    here, there = pty.openpty()
    process = subprocess.Popen(
        suite.command("run", "--concurrency", "1"),
        cwd=tmp_path,
        env={**environment(), "NO_COLOR": "", "CI": "", **variables},
        stdin=there,
        stdout=there,
        stderr=there,
    )
    os.close(there)
    shown = b"".join(iter(lambda: answering(here), b"")).decode()
    os.close(here)
    assert process.wait(60) == 0
    assert "GATE PASS" in shown
    assert ("\x1b[1m" in shown, "/2 runs" in shown) == (lively, lively)
    assert ("\x1b" in shown) == lively


def test_quiet_says_the_gate_in_one_line(tmp_path: Path) -> None:
    done = live_suite(tmp_path, cases=rows(2)).run("run", "-q", "--out", "runs/a")
    assert done.stdout == "gate: pass (runs/a)\n"


def test_a_run_without_a_judge_says_how_to_add_one(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2), criteria=JUDGED)
    done = suite.run("run", "--out", "runs/a")
    assert suite.counts("a", "kind") == {"missing": 2}
    assert "--judge" in done.stdout


def test_it_runs_from_anywhere_moved_and_by_its_folder(tmp_path: Path) -> None:
    live_suite(tmp_path / "first", cases=rows(2))
    moved = tmp_path / "a moved folder"
    shutil.move(tmp_path / "first", moved)
    (moved / "__main__.py").write_text(
        "import sys\nfrom desk_evals.__main__ import main\nsys.exit(main())\n"
    )
    for path in (moved, moved / "desk_evals"):
        done = subprocess.run(
            [sys.executable, "-S", path, "run", "-q"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if path == moved:
            assert done.returncode in (0, 1), done.stderr
        assert "gate:" in done.stdout, done.stderr
    assert len(list((moved / "runs").iterdir())) == 2


def test_a_command_is_the_target_and_sees_no_expectation(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2, expectedBehavior="It answers."))
    suite.write(
        "agent.py",
        "import json, sys\n"
        "row = json.load(sys.stdin)\n"
        "assert 'expected' not in row and 'expectedBehavior' not in row, row\n"
        "number = row['query'].split()[-1].rstrip('?')\n"
        "print(f'It is {number}.')\n",
    )
    done = suite.run(
        "run", "--target", f"command:{sys.executable} agent.py", "--out", "runs/a"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert suite.counts("a", "exact") == {"pass": 2}


def test_junit_is_written_beside_the_scorecard(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    assert suite.run("run", "--junit", "out/j.xml").returncode == 0
    assert "<testsuite" in (tmp_path / "out/j.xml").read_text("utf-8")


def test_what_cannot_be_written_to_is_refused_before_anything_is_run(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    (tmp_path / "file").write_text("mine", "utf-8")
    (tmp_path / "folder").mkdir()
    done = suite.run("run", "--out", "file", "--junit", "folder")
    assert done.returncode == 2
    assert "--out file is a file: name a folder" in done.stderr
    assert "--junit folder is a folder: name a file" in done.stderr
    assert not (tmp_path / "runs").exists()
    assert (tmp_path / "file").read_text("utf-8") == "mine"


def test_secrets_of_the_environment_reach_no_file(tmp_path: Path) -> None:
    leaky = (
        "import os\n"
        "def target(case):\n"
        "    if case.id.endswith('0'):\n"
        "        raise RuntimeError('bad key ' + os.environ['DESK_API_KEY'])\n"
        "    return os.environ['DESK_API_KEY']\n"
    )
    suite = live_suite(tmp_path, cases=rows(2), target=leaky)
    secret = 'sk-"quoted"-0123456789'
    done = suite.run("run", "--out", "runs/a", env={"DESK_API_KEY": secret})
    assert done.returncode == 1
    for path in (tmp_path / "runs/a").iterdir():
        text = path.read_text("utf-8")
        assert secret not in text
        assert "0123456789" not in text, path.name
    assert "[DESK_API_KEY redacted]" in json.dumps(suite.lines("a", "traces.jsonl"))
    assert "0123456789" not in done.stdout


def test_placeholders_and_cases_are_listed(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=[*rows(2), {**rows(3)[2], "placeholder": True}])
    done = suite.run("run")
    assert "1 of the cases are placeholders" in done.stdout
    done = suite.run("cases", "--placeholders")
    assert "case-0002" in done.stdout and "case-0001" not in done.stdout
    assert "1 still needs a realistic query" in done.stdout
    done = suite.run("cases", "--json", "--cases", "*1")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [
        "case-0001"
    ]


def test_a_threshold_of_the_settings_takes_the_place_of_the_suites(
    tmp_path: Path,
) -> None:
    half = (
        "def target(case):\n"
        "    said = 'It is ' + case.query[8:-1] + '.'\n"
        "    return said if case.id.endswith('0') else 'no'\n"
    )
    suite = live_suite(
        tmp_path, cases=rows(2), target=half, settings="[thresholds]\nexact='>= 0.5'\n"
    )
    assert suite.run("run").returncode == 0


def test_two_runs_of_one_second_get_two_folders(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1), criteria=CODE)
    for _ in range(3):
        assert suite.run("run", "-q").returncode == 0
    assert len(list((tmp_path / "runs").iterdir())) == 3


def test_a_threshold_that_nothing_can_miss_is_refused_where_it_stands(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(2), target=WRONG)
    place = suite.package / "suite.py"
    text = place.read_text("utf-8")
    for old, new in (
        ("import Criterion\n", "import Criterion, rate\n"),
        ("checks.exact", 'checks.exact, passes=rate(">= 0")'),
        ("checks.short", 'checks.short, passes=rate("< 1")'),
    ):
        assert old in text
        text = text.replace(old, new)
    place.write_text(text, "utf-8")
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 2
    assert "desk_evals/suite.py: `exact`: a rate of at least 0" in done.stderr
    assert "desk_evals/suite.py: `short`: a rate < 1 passes by being low" in done.stderr
    assert not (tmp_path / "runs").exists()
