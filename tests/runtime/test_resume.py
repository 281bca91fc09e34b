"""A run that was killed goes on where it was, and comes to the same scorecard."""

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from subprocess import Popen

import pytest
from helix_runtime.canonical import content_key
from support.live_suite import CHECKS, CODE, JUDGES, LiveSuite, live_suite, rows

# Each call leaves its case's id in a file of its own process, so that a kill can't
# tear what another wrote; with HOLD_AT set it stops there until it is killed.
LOGGING = """\
import os, time
from pathlib import Path

LOG = Path(__file__).parent.parent / "calls"


def target(case):
    LOG.mkdir(exist_ok=True)
    with open(LOG / str(os.getpid()), "a") as log:
        log.write(case.id + "\\n")
    if case.id in os.environ.get("HOLD_AT", "").split():
        (LOG.parent / f"holding-{case.id}").touch()
        time.sleep(600)
    if case.id.endswith("3"):
        raise RuntimeError("the subject can't do threes")
    return "It is " + case.query[8:-1] + "."
"""


def calls(suite: LiveSuite) -> Counter[str]:
    found: Counter[str] = Counter()
    if (suite.root / "calls").exists():
        for path in (suite.root / "calls").iterdir():
            found.update(path.read_text("utf-8").split())
    return found


def start_and_hold(suite: LiveSuite, *words: str, at: list[int]) -> "Popen[bytes]":
    """Start a run and wait until its threads hang in the cases `at`.

    By then all cases before those are done, and must be in the journal.
    """
    ids = [f"case-{number:04d}" for number in at]
    process = suite.start("run", *words, env={"HOLD_AT": " ".join(ids)})
    signs = [suite.root / f"holding-{name}" for name in ids]
    journal = suite.root / "runs/a/units.jsonl"
    done = 2 * at[0]
    while not all(sign.exists() for sign in signs) or (
        journal.read_bytes().count(b"\n") < done
    ):
        assert process.poll() is None
    for sign in signs:
        sign.unlink()
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX signal")
@pytest.mark.parametrize("concurrency", [1, 4])
def test_kill_9_loses_only_what_was_in_flight(tmp_path: Path, concurrency: int) -> None:
    whole = live_suite(tmp_path / "whole", cases=rows(60), target=LOGGING)
    assert whole.run("run", "--out", "runs/a").returncode == 3
    suite = live_suite(tmp_path / "killed", cases=rows(60), target=LOGGING)
    for first, words in ((25, ["--out", "runs/a"]), (41, ["--resume"])):
        words += ["--concurrency", str(concurrency)]
        held = list(range(first, first + concurrency))
        process = start_and_hold(suite, *words, at=held)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not (tmp_path / "killed/runs/a/scorecard.json").exists()
    done = suite.run("run", "--resume", "a")
    assert done.returncode == 3, done.stderr
    assert suite.scorecard("a")["digest"] == whole.scorecard("a")["digest"]
    # Two kills, each with `concurrency` calls in flight: those ran twice.
    assert sum(calls(suite).values()) == 60 + 2 * concurrency
    assert set(calls(suite)) == {row["id"] for row in rows(60)}
    ids = [record["traceId"] for record in suite.lines("a", "traces.jsonl")]
    assert len(ids) == len(set(ids)) == 60
    keys = [record["key"] for record in suite.lines("a", "units.jsonl")]
    assert len(keys) == len(set(keys)) == 120


def test_a_finished_run_that_is_resumed_calls_nothing_and_stays_as_it_is(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a")
    before = {
        name: (tmp_path / "runs/a" / name).read_bytes()
        for name in ("units.jsonl", "traces.jsonl", "scorecard.json")
    }
    suite.run("run", "--resume")
    assert sum(calls(suite).values()) == 10
    for name, data in before.items():
        assert (tmp_path / "runs/a" / name).read_bytes() == data


@pytest.mark.parametrize("name", ["units.jsonl", "traces.jsonl"])
@pytest.mark.parametrize("damage", ["torn", "torn at once", "nulls", "words"])
def test_a_damaged_journal_is_mended_by_deciding_again(
    tmp_path: Path, name: str, damage: str
) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a")
    digest = suite.scorecard("a")["digest"]
    path = tmp_path / "runs/a" / name
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    if damage == "torn":
        path.write_bytes(data[:-20])
    elif damage == "torn at once":
        path.write_bytes(lines[0][:9])
    elif damage == "nulls":
        path.write_bytes(data[: len(lines[0])] + b"\0" * 4096)
    else:
        lines[4] = lines[4][:60] + b" no JSON any more\n"
        path.write_bytes(b"".join(lines))
    done = suite.run("run", "--resume")
    assert done.returncode == 3, done.stderr
    assert "decided again" in done.stdout
    assert suite.scorecard("a")["digest"] == digest
    assert len(suite.lines("a", "units.jsonl")) == 20
    assert len(suite.lines("a", "traces.jsonl")) == 10


def test_an_edited_check_is_decided_again_and_nothing_else(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a")
    before = {r["key"]: r for r in suite.lines("a", "units.jsonl")}
    # `short` reads a constant beside it: that counts as the check's own text.
    suite.write("desk_evals/checks.py", CHECKS.replace("LIMIT = 200", "LIMIT = 3"))
    assert suite.run("run", "--resume").returncode == 3
    after = {r["key"]: r for r in suite.lines("a", "units.jsonl")}
    changed = [r["criterionId"] for key, r in after.items() if key not in before]
    assert Counter(changed) == {"short": 10}
    assert sum(calls(suite).values()) == 10
    assert suite.counts("a", "short") == {"fail": 9, "uncertain": 1}
    old = suite.lines("a", "superseded.jsonl")
    assert Counter(r["criterionId"] for r in old) == {"short": 10}


def test_an_edited_case_runs_again_and_no_other(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a")
    edited = rows(10)
    edited[4]["query"] = "What is four?"
    text = "".join(json.dumps(row) + "\n" for row in edited)
    suite.write("dataset.jsonl", text)
    suite.run("run", "--resume")
    assert calls(suite)["case-0004"] == 2
    assert sum(calls(suite).values()) == 11
    assert len(suite.lines("a", "traces.jsonl")) == 10
    assert len(suite.lines("a", "units.jsonl")) == 20


def test_rows_that_were_added_or_taken_away_are_all_that_changes(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a")
    text = "".join(json.dumps(row) + "\n" for row in rows(12)[2:])
    suite.write("dataset.jsonl", text)
    suite.run("run", "--resume")
    assert sum(calls(suite).values()) == 12
    assert {r["caseId"] for r in suite.lines("a", "units.jsonl")} == {
        row["id"] for row in rows(12)[2:]
    }


def test_more_repeats_go_on_with_the_repeats_that_are_there(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(4)[:3], target=LOGGING)
    assert suite.run("run", "--out", "runs/a").returncode == 0
    assert suite.run("run", "--resume", "--repeats", "3").returncode == 0
    assert calls(suite) == {f"case-000{n}": 3 for n in range(3)}
    assert suite.counts("a", "exact") == {"pass": 9}


def test_a_resumed_run_keeps_what_it_was_started_with(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a", "--cases", "*1", "*2", "--repeats", "2")
    done = suite.run("run", "--resume")
    assert sum(calls(suite).values()) == 4
    assert suite.counts("a", "exact") == {"pass": 4}
    assert done.returncode == 0
    done = suite.run("run", "--resume", "--cases", "*4")
    assert done.returncode == 2
    assert "start a new run" in done.stderr


def test_two_runs_refuse_to_share_a_folder_and_a_dead_one_holds_nothing(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(5), target=LOGGING)
    process = start_and_hold(suite, "--out", "runs/a", "--concurrency", "1", at=[2])
    for words in (["--resume", "a"], ["--out", "runs/a"]):
        done = suite.run("run", *words)
        assert done.returncode == 2
        assert f"in use by process {process.pid}" in done.stderr
    process.kill()
    process.communicate()
    assert (tmp_path / "runs/a/lock").exists()
    assert suite.run("run", "--resume").returncode == 3
    assert not (tmp_path / "runs/a/lock").exists()
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 2
    assert "holds a run already" in done.stderr
    assert not (tmp_path / "runs/a/lock").exists()


def test_the_journal_is_whole_after_every_batch(tmp_path: Path) -> None:
    """What a kill leaves: every trace before its units, each on a line of its own."""
    suite = live_suite(tmp_path, cases=rows(30), target=LOGGING)
    process = start_and_hold(suite, "--out", "runs/a", at=[20])
    process.kill()
    process.communicate()
    traces = {r["traceId"] for r in suite.lines("a", "traces.jsonl")}
    units = suite.lines("a", "units.jsonl")
    assert {r["traceId"] for r in units} == traces
    assert len(units) == 2 * len(traces) >= 40


def test_a_judge_is_not_asked_twice_and_an_edited_one_is_asked_again(
    tmp_path: Path,
) -> None:
    criteria = f"{CODE}, Criterion(judge=judges.kind), Criterion(judge=judges.brief)"
    judges = JUDGES + 'brief = Judge("brief", "It is brief.", "It is.", "It is not.")\n'
    suite = live_suite(
        tmp_path, cases=rows(3), target=LOGGING, judges=judges, criteria=criteria
    )
    verdicts = tmp_path / "verdicts"
    verdicts.mkdir()
    for row in rows(3):
        verdict = {
            "trajectoryId": f"{row['id']}-r0",
            "judgeModel": "judge-2026-01-01",
            "temperature": 0,
            "verdicts": [
                {
                    "criterionId": name,
                    "critique": "It is what it should be.",
                    "result": "pass",
                    "confidence": 0.9,
                    "refs": [{"obs": "output", "path": "", "value": row["expected"]}],
                }
                for name in ("kind", "brief")
            ],
        }
        (verdicts / f"{row['id']}.verdict.json").write_text(json.dumps(verdict))
    suite.run("run", "--out", "runs/a", "--replay", "verdicts")
    first = {r["key"] for r in suite.lines("a", "units.jsonl")}
    assert suite.counts("a", "kind") == {"pass": 3}
    suite.write("desk_evals/judges.py", judges.replace("It is brief", "It is terse"))
    suite.run("run", "--resume")
    again = [r for r in suite.lines("a", "units.jsonl") if r["key"] not in first]
    assert Counter(r["criterionId"] for r in again) == {"brief": 3}
    assert sum(calls(suite).values()) == 3


def test_a_run_is_gone_on_with_by_no_other_subject(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    suite.write("other.py", "def answer(case):\n    return 'something else'\n")
    assert suite.run("run", "-q", "--out", "runs/a").returncode == 0
    before = (tmp_path / "runs/a/run.json").read_bytes()
    for settings in (
        'target = "python:other:answer"\n',
        '[target]\nref = "http:http://localhost:1/"\n',
        'traces = ["t.jsonl"]\n',
    ):
        suite.write("evals.toml", settings)
        suite.write("t.jsonl", "")
        done = suite.run("run", "--resume", "a")
        assert done.returncode == 2, settings
        assert "start a new run" in done.stderr
        assert (tmp_path / "runs/a/run.json").read_bytes() == before


def test_an_edited_target_is_told_as_long_as_its_earlier_runs_count(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    assert suite.run("run", "-q", "--out", "runs/a").returncode == 0
    path = suite.package / "target.py"
    path.write_text(path.read_text("utf-8") + "\n# mended\n", "utf-8")
    for _ in range(2):
        done = suite.run("run", "-q", "--resume", "a")
        assert "of before: target.py was edited" in done.stdout
    assert "of before" not in suite.run("run", "-q").stdout


def test_a_check_that_was_edited_leaves_no_green_gate_of_before_it(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=LOGGING)
    assert suite.run("run", "--out", "runs/a", "-q").returncode == 0
    # Gone on with under another check, and killed as soon as it has begun.
    line = "    if trace.answer == case.expected:\n"
    assert line in CHECKS
    kills = "    os.kill(os.getpid(), signal.SIGKILL)\n"
    edited = CHECKS.replace(line, kills + line)
    suite.write("desk_evals/checks.py", f"import os, signal\n{edited}")
    assert suite.run("run", "--resume", "a", "-q").returncode == -signal.SIGKILL
    shown = suite.run("report", "a")
    assert "GATE INCOMPLETE" in shown.stdout, shown.stderr
    assert "what decides was edited" in " ".join(shown.stdout.split())


def test_a_run_that_ends_without_a_scorecard_does_not_show_that_of_before(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=LOGGING)
    assert suite.run("run", "--out", "runs/a", "-q").returncode == 0
    edited = CHECKS.replace("trace.answer == case.expected", "not trace.answer")
    suite.write("desk_evals/checks.py", edited)
    # The disk takes the run's record and no scorecard any more.
    (tmp_path / "runs/a/scorecard.json.part").mkdir()
    assert suite.run("run", "--resume", "a", "-q").returncode == 4
    assert suite.run("loop", "a").returncode == 2
    assert "GATE PASS" not in suite.run("report", "a").stdout


def test_runs_of_an_earlier_runtime_are_not_made_again(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(10), target=LOGGING)
    suite.run("run", "--out", "runs/a", "-q")
    path = tmp_path / "runs/a/traces.jsonl"
    text = path.read_text("utf-8")
    for line in (tmp_path / "dataset.jsonl").read_text("utf-8").splitlines():
        # It wrote down 16 digits of the row's hash.
        digits = content_key(line)
        assert f'"case":"{digits[:10]}"' in text
        text = text.replace(f'"case":"{digits[:10]}"', f'"case":"{digits[:16]}"')
    path.write_text(text, "utf-8")
    suite.run("run", "--resume", "a", "-q")
    assert sum(calls(suite).values()) == 10


def test_a_run_that_was_killed_before_it_began_stands_in_nobodys_way(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(3), target=LOGGING)
    # A kill between the journal's files and the run's record leaves these.
    for name in ("lock", "units.jsonl", "traces.jsonl"):
        suite.write(f"runs/a/{name}", "")
    assert suite.run("run", "--out", "runs/a", "-q").returncode == 0
    again = suite.run("run", "--out", "runs/a", "-q")
    assert again.returncode == 2 and "holds a run already" in again.stderr
