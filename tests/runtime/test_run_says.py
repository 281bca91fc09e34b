"""What a run says of itself where its gate is not about everything, or breaks."""

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from support.live_suite import CHECKS, JUDGED, live_suite, rows

CRASHING = """\
def target(case):
    import no_such_agent

    return no_such_agent.answer(case)
"""


def test_a_narrowed_run_says_so_wherever_its_gate_is_shown(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(6, item="ask"), criteria=JUDGED)
    words = ["run", "--cases", "case-0001", "--criteria", "class:code", "--out", "r/a"]
    done = suite.run(*words, "--junit", "junit.xml")
    note = "narrowed: 1 of 2 gating criteria, 1 of 6 cases"
    assert done.returncode == 0, done.stderr
    head = done.stdout.partition("CRITERIA")[0]
    assert "GATE PASS" in head and note in head
    card = json.loads((tmp_path / "r/a/scorecard.json").read_text("utf-8"))
    assert card["run"]["notes"] == [note]
    page = (tmp_path / "r/a/report.html").read_text("utf-8")
    assert f'<p class="held">{note}</p>' in page
    root = ET.parse(tmp_path / "junit.xml").getroot()
    names = [case.attrib["name"] for case in root.iter("testcase")]
    assert note in names and "ask (case-0001)" in names
    assert suite.run("run", "--criteria", "class:code", "-q").stdout.endswith(
        "; narrowed: 1 of 2 gating criteria)\n"
    )
    shown = suite.run("report", str(tmp_path / "r/a")).stdout
    assert note in shown
    assert note in (tmp_path / "r/a/report.html").read_text("utf-8")


def test_a_run_that_leaves_nothing_out_has_no_such_note(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    done = suite.run("run", "--cases", "*", "--criteria", "*", "--out", "runs/a")
    assert done.returncode == 0
    assert "narrowed" not in done.stdout
    assert "notes" not in suite.scorecard("a")["run"]


def test_cases_are_selected_by_item_and_scenario_and_listed_with_them(
    tmp_path: Path,
) -> None:
    cases = rows(4)
    cases[1]["item"] = "pressed-for-approval"
    cases[2]["scenario"] = "late at night"
    suite = live_suite(tmp_path, cases=cases)
    for glob, case_id in (("pressed*", "case-0001"), ("late at*", "case-0002")):
        listed = suite.run("cases", "--cases", glob).stdout
        assert case_id in listed and "1 of 4 cases" in listed
    assert "pressed-for-approval" in suite.run("cases").stdout


def test_a_subject_that_crashes_is_one_finding(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(5), target=CRASHING)
    done = suite.run("run", "--out", "runs/a", env={"API_KEY": "no_such_agent"})
    assert done.returncode == 3
    plain = " ".join(done.stdout.split())
    assert plain.count("The subject failed on 5 of 5 cases: ModuleNotFoundError") == 1
    assert "(target.py:2)" in plain
    assert "PYTHONPATH" in plain
    assert "Record traces to their end" not in plain
    helix = suite.lines("a", "traces.jsonl")[0]["ext"]["helix"]
    assert "target.py" in helix["traceback"]
    assert "ModuleNotFoundError" in helix["traceback"]
    assert "_runtime" not in helix["traceback"]
    # What may be a secret is not in it.
    assert "no_such_agent" not in json.dumps(helix)
    assert "[API_KEY redacted]" in helix["traceback"]


def test_a_check_that_breaks_is_named_by_its_line(tmp_path: Path) -> None:
    broken = CHECKS.replace(
        "    if trace.answer ==", '    {}["shelf"]\n    if trace.answer =='
    )
    suite = live_suite(tmp_path, cases=rows(1), checks=broken)
    done = suite.run("run")
    plain = " ".join(done.stdout.split())
    assert "Mend checks.py:7: it raised KeyError: 'shelf' (at checks.py:9)" in plain


def test_without_a_judge_nobody_is_sent_to_packets_that_are_not_there(
    tmp_path: Path,
) -> None:
    suite = live_suite(tmp_path, cases=rows(1), criteria=JUDGED)
    done = suite.run("run")
    assert done.returncode == 3
    assert "run --judge PROVIDER:MODEL" in done.stdout
    assert "Judge the packets" not in done.stdout


def test_a_folder_without_verdicts_is_refused(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1), criteria=JUDGED)
    (tmp_path / "verdicts").mkdir()
    done = suite.run("run", "--replay", "verdicts")
    assert done.returncode == 2
    assert "no verdict is in this folder" in done.stderr
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_an_installed_suite_says_where_it_runs(tmp_path: Path) -> None:
    root = tmp_path / "site-packages"
    suite = live_suite(root, cases=rows(1))
    (root / "dataset.jsonl").unlink()
    done = suite.run("run")
    assert done.returncode == 2
    assert "a suite runs from its folder" in done.stderr


INTERRUPTING = """\
import os
import signal


def target(case):
    if case.id == "case-0003":
        os.kill(os.getpid(), signal.{signal})
    return case.expected or "?"
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("signal", "code", "word"),
    [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")],
)
def test_who_ends_a_run_is_told_how_to_go_on(
    tmp_path: Path, signal: str, code: int, word: str
) -> None:
    target = INTERRUPTING.replace("{signal}", signal)
    suite = live_suite(tmp_path, cases=rows(2_000), target=target)
    done = suite.run("run", "--out", "runs/a", "--concurrency", "1")
    assert done.returncode == code
    assert done.stderr == (
        "interrupted: what is decided is kept in runs/a; `run --resume a` goes on from "
        "there\n"
    )
    assert f"{code} {word}" in suite.run("run", "--help").stdout
    # What was decided before the signal is there, and the rest is done.
    (tmp_path / "desk_evals" / "target.py").write_text(
        "def target(case):\n    return case.expected or '?'\n", "utf-8"
    )
    units = tmp_path / "runs" / "a" / "units.jsonl"
    before = units.read_bytes()
    assert before.count(b"\n") >= 2
    resumed = suite.run("run", "--resume", "a")
    assert resumed.returncode in (0, 1), resumed.stderr
    assert units.read_bytes().startswith(before)
    assert units.read_bytes().count(b"\n") == 2 * 2_000
