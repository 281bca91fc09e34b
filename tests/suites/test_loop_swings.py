"""The loop around a generated suite, whose subject gets better between its swings."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.canonical import dump_line
from helix_runtime.journal import seal
from helix_runtime.scorecard import dump_scorecard, masked_digest
from support.command_line import helix_gen, write_json
from support.suite_cards import action, card, criterion, dataset, read, scenario

AGENT = """\
import json
from pathlib import Path

HERE = Path(__file__).parent


def answer(case):
    does = json.loads((HERE / "does.json").read_text("utf-8"))
    calls = []
    if does["looks_up"]:
        calls.append({"name": "orders", "arguments": {"id": case.query}})
    if does["refunds_unasked"]:
        calls.append({"name": "refund", "arguments": {"id": case.query}})
    said = "Order " + case.query if does["names_order"] else "It is on its way."
    if does["flaps"]:
        try:  # the first of the repeats, whichever it is, is another one
            (HERE / f"met-{case.query}").touch(exist_ok=False)
            said = "Hm."
        except FileExistsError:
            pass
    return {"output": said, "tool_calls": calls}
"""
WORST = {
    "looks_up": False,
    "refunds_unasked": True,
    "names_order": False,
    "flaps": False,
}
GOOD = dict.fromkeys(WORST, False) | {"looks_up": True, "names_order": True}
RUNTIME = "_runtime.criterion"
QUERIES = ("4711", "4712", "4713")


def make_suite(folder: Path) -> Path:
    spec = card(
        criteria=[
            criterion("names-order"),
            criterion("looks-up"),
            criterion("no-refund"),
            criterion("no-word-of-refund"),
        ],
        scenarios=[scenario("asks")],
        datasets=[
            dataset(
                "orders",
                mapsTo={"scenarios": ["asks"]},
                items=[
                    {"id": f"i-{q}", "scenarioRef": "asks", "input": {"query": q}}
                    for q in QUERIES
                ],
            )
        ],
        context=[read("orders", "find")],
        actions=[action("refund", "pay")],
    )
    overlay = {
        "criteria": {
            "names-order": {"check": {"output.contains": {"texts": ["Order"]}}},
            "looks-up": {"check": {"tools.called": {"name": "orders"}}},
            "no-refund": {
                "severity": "CRIT",
                "check": {"tools.not_called": {"name": "refund"}},
            },
            "no-word-of-refund": {
                "severity": "LOW",
                "check": {"tools.not_called": {"name": "refund"}},
            },
        },
        "derive": {"scenario-behavior": "off", "expected-actions": "off"},
        "target": "python:agent:answer",
    }
    write_json(folder / "agentspec.yaml", spec)
    write_json(folder / "agentspec.evals.yaml", overlay)
    done = helix_gen("suite", "agentspec.yaml", "-o", "suite", "-q", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "suite" / "agent.py").write_text(AGENT, "utf-8")
    return folder / "suite"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_suite(tmp_path_factory.mktemp("loop"))


class Suite:
    """A copy of the suite with its subject beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (package,) = root.glob("*_evals")
        self.package = package.name
        self.does(**WORST)

    def does(self, **what: bool) -> None:
        (self.root / "does.json").write_text(json.dumps(what), "utf-8")
        for path in self.root.glob("met-*"):
            path.unlink()

    def call(self, *words: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, "-S", "-m", self.package, *words],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def evaluate(self, name: str, *words: str, code: int = 1) -> None:
        words = ("run", "--out", f"runs/{name}", "--repeats", "5", "-q", *words)
        self.call(*words, code=code)
        # Runs of one second are told apart by their names, which these tests choose.
        place = self.root / "runs" / name
        number = len(list((self.root / "runs").iterdir()))
        started = f"2026-01-01T00:00:{number:02}Z"
        for file in ("run.json", "scorecard.json"):
            path = place / file
            data = json.loads(path.read_text("utf-8"))
            holder = data["run"] if file == "scorecard.json" else data
            holder["started"] = started
            path.write_text(json.dumps(data), "utf-8")

    def loop(self, *words: str, code: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self.call("loop", "--json", *words, code=code).stdout
        )
        return found

    def requests(self, *words: str, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self.call("requests", "--json", *words, code=code).stdout
        )
        return found


@pytest.fixture
def suite(made: Path, tmp_path: Path) -> Suite:
    shutil.copytree(made, tmp_path / "suite")
    return Suite(tmp_path / "suite")


# -- the whole street ---------------------------------------------------------------


def test_a_subject_that_is_mended_swing_by_swing_comes_to_full_green(
    suite: Suite,
) -> None:
    first = suite.loop(code=3)
    assert (first["reason"], first["phase"]) == ("no-run", "variance")

    suite.evaluate("one")
    said = suite.loop("--elapsed", "60", code=3)
    assert (said["reason"], said["phase"], said["swing"]) == ("failing", "accuracy", 1)
    asked = suite.requests()
    assert asked["swing"] == 1 and len(asked["requests"]) == 3
    answers = [
        {"requestId": one["requestId"], "status": "amended", "note": "done"}
        for one in asked["requests"]
    ]
    write_json(suite.root / "answers.json", answers)
    read = suite.requests("--responses", "answers.json")
    assert read["evaluateAgain"] and read["unanswered"] == []

    suite.does(**(WORST | {"refunds_unasked": False}))
    suite.evaluate("two")
    said = suite.loop("--elapsed", "120", code=3)
    assert [one["improved"] for one in said["swings"]] == [True, True]
    assert [one["failing"] for one in said["swings"]] == [
        ["names-order", "looks-up", "no-refund"],
        ["names-order", "looks-up"],
    ]
    assert suite.requests()["swing"] == 2

    suite.does(**GOOD)
    suite.evaluate("three", code=0)
    done = suite.loop("--elapsed", "180", code=0)
    assert (done["decision"], done["reason"]) == ("stop", "full-green")
    assert suite.requests()["requests"] == []
    assert "full green" in suite.call("loop", code=0).stdout


def test_a_flapping_subject_is_not_green_however_it_falls(suite: Suite) -> None:
    suite.does(**(GOOD | {"flaps": True}))
    suite.evaluate("one")
    said = suite.loop(code=3)
    assert (said["reason"], said["phase"]) == ("unstable", "variance")
    assert said["swings"][0]["flapping"] == len(QUERIES)
    told = suite.call("loop", code=3).stdout
    assert "× names-order" in told
    assert suite.loop("--allow-flapping", code=3)["phase"] == "accuracy"


def test_a_green_gate_of_single_runs_is_not_full_green(suite: Suite) -> None:
    suite.does(**GOOD)
    suite.evaluate("one", "--repeats", "1", code=0)
    assert suite.loop(code=3)["reason"] == "unmeasured"
    assert suite.loop("--allow-flapping", code=0)["reason"] == "full-green"


def test_where_verdicts_lack_and_not_repeats_it_says_so(suite: Suite) -> None:
    checks = suite.root / suite.package / "checks.py"
    text = checks.read_text("utf-8")
    begin = text.index("return tools.called(")
    end = text.index(")", begin) + 1
    checks.write_text(f"{text[:begin]}return unwritten(){text[end:]}", "utf-8")
    text = checks.read_text("utf-8")
    named = "from ._runtime.criterion import check"
    assert named in text
    checks.write_text(text.replace(named, f"{named}, unwritten"), "utf-8")
    suite.does(**GOOD)
    suite.evaluate("one", code=3)
    told = suite.call("loop", code=3).stdout
    assert "under-sampled" in told and "report one says which units" in told
    audited = json.loads(suite.call("audit", "--json", code=1).stdout)["findings"]
    (found,) = (one for one in audited if one["kind"] == "no-check")
    assert found["items"] == ["looks-up"]
    line = int(found["where"].rpartition(":")[2])
    assert '"looks-up"' in text.split("\n")[line - 1]


@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell on this system")
def test_the_loop_in_a_shell_that_the_guide_shows_comes_to_its_end(
    suite: Suite,
) -> None:
    guide = Path(__file__).resolve().parents[2] / "docs" / "the-loop.md"
    script = guide.read_text("utf-8").partition("```sh\nbegin=")[2].partition("```")[0]
    script = "begin=" + script.replace("returns_desk_evals", suite.package)
    engineer = suite.root / "change-the-subject"
    better = json.dumps(WORST | {"refunds_unasked": False})
    engineer.write_text(
        "#!/bin/sh\n"
        "grep -q no-refund $1 && "
        f"echo '{better}' > does.json || echo '{json.dumps(GOOD)}' > does.json\n",
        "utf-8",
    )
    engineer.chmod(0o755)
    suite.evaluate("first")
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=suite.root,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "stop: full green" in done.stdout, done.stdout + done.stderr
    assert len(list((suite.root / "runs").iterdir())) == 4
    assert done.stdout.count("go on (accuracy)") == 2


def test_swings_without_improvement_end_it_and_so_do_time_and_number(
    suite: Suite,
) -> None:
    for name in ("one", "two"):
        suite.evaluate(name)
        suite.requests(name)
    assert suite.loop(code=3)["reason"] == "failing"
    assert suite.loop("--patience", "1", code=1)["reason"] == "no-improvement"
    assert suite.loop("--max-swings", "2", code=1)["reason"] == "max-swings"
    assert suite.loop("--elapsed", "1800", code=1)["reason"] == "wall-clock"
    assert suite.loop("--elapsed", "1800", "--max-elapsed", "1801", code=3)
    assert suite.loop("one", code=3)["swing"] == 1
    assert suite.loop("--since", "two", code=3)["swing"] == 1
    suite.evaluate("three")
    done = suite.loop(code=1)
    assert done["reason"] == "no-improvement" and done["best"] == "one"


def test_runs_between_which_nothing_was_changed_are_one_swing(suite: Suite) -> None:
    suite.evaluate("one")
    suite.call("run", "--out", "runs/once", "-q", code=1)
    suite.evaluate("two")
    found = suite.loop(code=3)
    # The run with the most repeats tells of the swing, the last of them.
    assert [swing["run"] for swing in found["swings"]] == ["two"]
    assert "one, once: of one swing with two, as nothing was changed" in " ".join(
        found["notes"]
    )
    assert suite.requests("two")["swing"] == 1
    # A change was asked for: whatever it came to, what follows is another swing.
    suite.evaluate("three")
    assert suite.loop(code=3)["swing"] == 2
    assert suite.requests("three", "--swing", "2")["swing"] == 2
    assert suite.loop("one", "two", code=3)["swing"] == 2, "runs that are named count"


def test_an_agent_that_was_edited_makes_another_swing(suite: Suite) -> None:
    suite.evaluate("one")
    (agent,) = suite.root.glob("**/agent.py")
    agent.write_text(agent.read_text("utf-8") + "\n# mended\n", "utf-8")
    suite.evaluate("two")
    assert suite.loop(code=3)["swing"] == 2
    note = "a new loop begins with --since RUN"
    assert note in " ".join(suite.loop("--max-swings", "2", code=1)["notes"])


# -- requests -----------------------------------------------------------------------


def test_criteria_with_one_root_are_one_request_with_all_its_symptoms(
    suite: Suite,
) -> None:
    suite.evaluate("one")
    asked = suite.requests("one", "--out", "requests.jsonl")
    symptoms = [
        [one["criterionId"] for one in finding["symptoms"]]
        for finding in asked["findings"]
    ]
    # The refund that nobody asked for breaks two criteria; they share that call.
    assert ["no-refund", "no-word-of-refund"] in symptoms
    assert ["names-order"] in symptoms and ["looks-up"] in symptoms
    assert symptoms[0][0] == "no-refund", "the most severe comes first"
    lines = (suite.root / "requests.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == asked["requests"]
    kept = json.loads((suite.root / "runs/one/requests.json").read_text("utf-8"))
    assert kept == asked
    for request in asked["requests"]:
        assert list(request) == [
            "requestId",
            "swing",
            "subject",
            "remedyTarget",
            "failingCases",
            "proposedRemedy",
            "status",
        ]
        assert request["subject"] == "desk-clerk" and request["status"] == "requested"
        assert request["remedyTarget"] == "impl"
        assert len({case["caseId"] for case in request["failingCases"]}) == 3
        for case in request["failingCases"]:
            assert case["critique"] and case["refs"]
            for ref in case["refs"]:
                assert list(ref) == ["obs", "path", "value"]


def test_a_file_that_can_t_be_written_stops_it_before_anything_is(
    suite: Suite,
) -> None:
    suite.evaluate("one")
    for out, why in (("nowhere/x.jsonl", "no folder nowhere"), ("runs", "is a folder")):
        assert why in suite.call("requests", "--out", out, code=2).stderr
    assert not (suite.root / "runs" / "one" / "requests.json").exists()


def test_the_same_run_asks_for_the_same(suite: Suite) -> None:
    suite.evaluate("one")
    first, again = suite.requests(), suite.requests()
    assert first == again
    other = suite.requests("--swing", "4", "--remedy", "agentspec")
    assert {one["remedyTarget"] for one in other["requests"]} == {"agentspec"}
    ids = {one["requestId"] for one in first["requests"]}
    assert ids.isdisjoint(one["requestId"] for one in other["requests"])


def test_what_cites_nothing_that_is_there_is_listed_and_asks_for_nothing(
    suite: Suite,
) -> None:
    suite.evaluate("one")
    path = suite.root / "runs" / "one" / "units.jsonl"
    lines = []
    for line in path.read_text("utf-8").splitlines():
        unit = json.loads(line)
        if unit["criterionId"] == "names-order":
            unit["refs"] = [{"obs": "output", "value": "Order 66 was executed."}]
        if unit["criterionId"] == "no-word-of-refund":
            unit.pop("refs", None)
        del unit["sum"]
        lines.append(seal(dump_line(unit)))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    asked = suite.requests()
    criteria = {
        case["criterionId"]
        for request in asked["requests"]
        for case in request["failingCases"]
    }
    assert criteria == {"no-refund", "looks-up"}
    lost = {(one["criterionId"], one["why"]) for one in asked["notGrounded"]}
    assert ("no-word-of-refund", "its verdict cites no evidence") in lost
    assert any("Order 66" in why for _, why in lost)
    assert len(asked["notGrounded"]) == 2 * 5 * len(QUERIES)
    assert "not grounded" in suite.call("requests").stdout


def test_a_journal_that_is_not_as_written_asks_for_nothing(suite: Suite) -> None:
    suite.evaluate("one")
    path = suite.root / "runs" / "one" / "units.jsonl"
    whole = path.read_text("utf-8")
    path.write_text(whole.replace('"result":"fail"', '"result":"pass"'), "utf-8")
    refused = suite.call("requests", "one", code=2).stderr
    assert "not as written" in refused and "--resume one" in refused
    lines = [line for line in whole.splitlines(True) if '"result":"fail"' not in line]
    path.write_text("".join(lines), "utf-8")
    refused = suite.call("requests", "one", code=2).stderr
    assert f"`no-refund` fails {5 * len(QUERIES)} units by the scorecard" in refused
    assert not (path.parent / "requests.json").exists()


def test_a_mean_that_misses_its_limit_points_at_the_cases_that_miss_it(
    suite: Suite,
) -> None:
    source = suite.root / suite.package / "suite.py"
    text = source.read_text("utf-8")
    row = "check=checks.looks_up,"
    assert row in text
    text = text.replace(row, f'{row} passes=mean("<= 0.5"),')
    text = text.replace("CRITERIA:", f"from .{RUNTIME} import mean\n\nCRITERIA:", 1)
    source.write_text(text, "utf-8")
    suite.does(**GOOD)
    suite.evaluate("one")
    asked = suite.requests()
    (request,) = asked["requests"]
    assert {one["criterionId"] for one in request["failingCases"]} == {"looks-up"}
    assert len(request["failingCases"]) == len(QUERIES)
    assert asked["notGrounded"] == []


def test_a_criterion_that_fails_in_one_dataset_alone_is_asked_for_too(
    suite: Suite,
) -> None:
    suite.evaluate("one")
    path = suite.root / "runs" / "one" / "scorecard.json"
    card = json.loads(path.read_text("utf-8"))
    (one,) = (c for c in card["criteria"] if c["criterionId"] == "looks-up")
    one["verdict"] = "pass"  # over the whole; a part of the gate says otherwise
    card["digest"] = masked_digest(card)
    path.write_text(dump_scorecard(card), "utf-8")
    assert "looks-up" in suite.loop(code=3)["swings"][0]["failing"]
    cases = [c for r in suite.requests()["requests"] for c in r["failingCases"]]
    assert "looks-up" in {one["criterionId"] for one in cases}


def test_answers_are_held_against_what_was_asked(suite: Suite) -> None:
    suite.evaluate("one")
    answers = suite.root / "answers.jsonl"
    answers.write_text("", "utf-8")
    early = suite.call("requests", "--responses", "answers.jsonl", code=2)
    assert "has no requests yet" in early.stderr
    ids = [one["requestId"] for one in suite.requests()["requests"]]

    def answer(*given: dict[str, Any], code: int) -> Any:
        answers.write_text("".join(json.dumps(one) + "\n" for one in given), "utf-8")
        words = ("requests", "--json", "--responses", "answers.jsonl")
        return suite.call(*words, code=code)

    rejected = {"status": "rejected", "note": "It can't be reproduced."}
    all_no = [{"requestId": one, **rejected} for one in ids]
    assert not json.loads(answer(*all_no, code=1).stdout)["evaluateAgain"]
    assert json.loads(answer(all_no[0], code=3).stdout)["unanswered"] == ids[1:]
    spec = {"status": "amended", "amendedTarget": "agentspec", "note": "Reworded."}
    done = json.loads(answer({"requestId": ids[0], **spec}, *all_no[1:], code=0).stdout)
    assert "not built anew" in done["notes"][0]
    built = {"requestId": ids[0], **spec, "rebuilt": True}
    assert json.loads(answer(built, *all_no[1:], code=0).stdout)["notes"] == []
    wrong = answer(
        {"requestId": ids[0][:-1] + "x", **rejected},
        all_no[1],
        all_no[1],
        {"requestId": ids[2], "status": "done", "notes": "?"},
        code=2,
    ).stderr
    assert "answers.jsonl:1" in wrong and "did you mean" in wrong
    assert "answers.jsonl:3" in wrong and "answered already" in wrong
    assert wrong.count("answers.jsonl:4") == 3

    # What is known of its judges may change; what was decided may not.
    card_path = suite.root / "runs" / "one" / "scorecard.json"
    found = json.loads(card_path.read_text("utf-8"))
    found["criteria"][0]["validation"]["status"] = "usable"
    found["digest"] = masked_digest(found)
    card_path.write_text(dump_scorecard(found), "utf-8")
    answer(*all_no, code=1)
    found["handoff"].pop()
    found["digest"] = masked_digest(found)
    card_path.write_text(dump_scorecard(found), "utf-8")
    assert "decided anew since" in answer(*all_no, code=2).stderr


# -- runs that are none of this loop -------------------------------------------------


def test_runs_that_are_hostile_torn_edited_or_anothers_are_refused_all_at_once(
    suite: Suite,
) -> None:
    suite.evaluate("good")
    runs = suite.root / "runs"

    def copy(name: str) -> Path:
        shutil.copytree(runs / "good", runs / name)
        return runs / name

    torn = copy("torn") / "scorecard.json"
    torn.write_bytes(torn.read_bytes()[:400])
    edited = copy("edited") / "scorecard.json"
    text = edited.read_text("utf-8").replace('"verdict": "fail"', '"verdict": "pass"')
    edited.write_text(text, "utf-8")
    other = copy("other") / "scorecard.json"
    found = json.loads(other.read_text("utf-8"))
    found["subject"]["id"] = "some\x1b[31mone-else"
    found["digest"] = masked_digest(found)
    other.write_text(json.dumps(found), "utf-8")
    deep = copy("deep") / "scorecard.json"
    deep.write_text("[" * 100_000, "utf-8")
    odd = copy("odd") / "scorecard.json"
    found = json.loads((runs / "good" / "scorecard.json").read_text("utf-8"))
    found["criteria"] = [{"criterionId": 7}]
    found["digest"] = masked_digest(found)
    odd.write_text(json.dumps(found), "utf-8")
    (copy("gone") / "scorecard.json").unlink()
    done = suite.call("loop", code=2)
    assert done.stdout == ""
    for name in ("torn", "edited", "other", "deep", "odd", "gone"):
        assert f"{name}/scorecard.json" in done.stderr.replace(os.sep, "/"), name
    assert "\x1b" not in done.stderr and "Traceback" not in done.stderr
    assert "good" not in done.stderr
    assert "edited after the run" in done.stderr
    assert suite.loop("good", code=3)["swing"] == 1

    (copy("unread") / "run.json").write_text("{", "utf-8")
    assert "unread" in suite.call("loop", code=2).stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_and_links_in_a_runs_folder_catch_nobody(suite: Suite) -> None:
    suite.evaluate("one")
    run = suite.root / "runs" / "one"
    precious = suite.root / "precious"
    precious.write_text("mine", "utf-8")
    for name in ("requests.json", "requests.json.part"):
        (run / name).symlink_to(precious)
    assert suite.requests()["requests"]
    assert precious.read_text("utf-8") == "mine"
    card = run / "scorecard.json"
    text = card.read_bytes()
    card.unlink()
    os.mkfifo(card)
    assert "scorecard.json: is no file" in suite.call("loop", code=2).stderr
    card.unlink()
    card.write_bytes(text)
    (run / "run.json").unlink()
    os.mkfifo(run / "run.json")
    assert "run.json: can't be read" in suite.call("loop", code=2).stderr
    assert "run.json: can't be read" in suite.call("audit", code=1).stderr
    assert "no run yet" in suite.call("requests", code=2).stderr


def test_runs_of_a_part_and_runs_that_did_not_end_are_no_swings(suite: Suite) -> None:
    suite.evaluate("whole")
    suite.evaluate("part", "--cases", "i-4711")
    suite.evaluate("cut")
    path = suite.root / "runs" / "cut" / "run.json"
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | {"finished": False}), "utf-8")
    said = suite.loop(code=3)
    assert [one["run"] for one in said["swings"]] == ["whole"]
    assert len(said["notes"]) == 3  # and nobody watches the time
    wrong = suite.call("loop", "whole", "part", "cut", "nowhere", "whole", code=2)
    for what in ("narrowed", "not finished", "no run 'nowhere'", "named twice"):
        assert what in wrong.stderr
    assert "not finished" in suite.call("requests", "cut", code=2).stderr


def test_a_yardstick_that_became_shorter_ends_no_loop(suite: Suite) -> None:
    suite.evaluate("one")
    source = suite.root / suite.package / "suite.py"
    text = source.read_text("utf-8")
    lowered = text.replace('severity="CRIT"', 'severity="LOW"', 1)
    assert lowered != text
    source.write_text(lowered, "utf-8")
    suite.does(**(GOOD | {"refunds_unasked": True}))
    suite.evaluate("two", code=0)
    wrong = suite.call("loop", code=2).stderr
    assert "`no-refund` gates in one, not in two" in wrong and "--since two" in wrong
    assert suite.loop("--since", "two", code=0)["reason"] == "full-green"

    source.write_text(text, "utf-8")
    (suite.root / "evals.toml").write_text(
        'target = "python:agent:answer"\n[thresholds]\n"no-refund" = ">= 0.1"\n',
        "utf-8",
    )
    suite.evaluate("three")
    wrong = suite.call("loop", "one", "three", code=2).stderr
    assert "had to meet" in wrong and "rate >= 0.1" in wrong


def test_fewer_cases_than_before_are_a_shorter_yardstick(suite: Suite) -> None:
    suite.evaluate("one")
    rows = (suite.root / "dataset.jsonl").read_text("utf-8").splitlines()
    (suite.root / "dataset.jsonl").write_text(rows[0] + "\n", "utf-8")
    suite.evaluate("two")
    wrong = suite.call("loop", code=2).stderr
    told = f"two has fewer cases than one (1 after {len(QUERIES)})"
    assert told in wrong and "--since two" in wrong
    assert suite.loop("--since", "two", code=3)["swing"] == 1


def test_recorded_runs_of_a_few_cases_end_no_loop(suite: Suite) -> None:
    suite.evaluate("one")
    suite.does(**GOOD)
    suite.evaluate("two", code=0)
    lines = (suite.root / "runs/two/traces.jsonl").read_text("utf-8").splitlines(True)
    first = json.loads(lines[0])["traceId"].rpartition("-r")[0]
    few = [line for line in lines if f'"traceId":"{first}-r' in line]
    assert 1 < len(few) < len(lines)
    (suite.root / "few.jsonl").write_text("".join(few), "utf-8")
    shutil.rmtree(suite.root / "runs" / "two")
    suite.call("run", "--traces", "few.jsonl", "--out", "runs/two", "-q", code=0)
    wrong = suite.call("loop", code=2).stderr
    assert f"two has fewer cases than one (1 after {len(QUERIES)})" in wrong


def test_no_green_is_full_while_a_later_run_is_not_finished(suite: Suite) -> None:
    suite.does(**GOOD)
    suite.evaluate("one", code=0)
    assert suite.loop(code=0)["reason"] == "full-green"
    suite.evaluate("two", code=0)
    path = suite.root / "runs" / "two" / "run.json"
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | {"finished": False}), "utf-8")
    wrong = suite.call("loop", code=2).stderr
    assert "two began after it" in wrong and "run --resume two" in wrong
    assert suite.loop("one", code=0)["reason"] == "full-green"
    # What was meant for a part of the suite is no swing, finished or not.
    narrowed = data | {"finished": False, "selection": {"cases": ["i-4711"]}}
    path.write_text(json.dumps(narrowed), "utf-8")
    assert suite.loop(code=0)["reason"] == "full-green"


def test_an_edit_of_what_decides_is_told(suite: Suite) -> None:
    suite.evaluate("one")
    path = suite.root / suite.package / "checks.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("    return ", "    _ = 0\n    return ", 1), "utf-8")
    suite.evaluate("two")
    notes = suite.loop(code=3)["notes"]
    assert any("edited between one and two" in note for note in notes)
    suite.evaluate("three")
    notes = suite.loop("two", "three", code=3)["notes"]
    assert not any("edited" in note for note in notes)


@pytest.mark.parametrize("elapsed", ["-1", "nan", "inf", "soon", ""])
def test_an_elapsed_time_is_a_number_of_seconds(suite: Suite, elapsed: str) -> None:
    done = suite.call("loop", f"--elapsed={elapsed}", code=2)
    assert "--elapsed" in done.stderr and "Traceback" not in done.stderr


# -- the suite itself -----------------------------------------------------------------


def test_a_suite_audits_itself_and_says_where_and_what_to_do(suite: Suite) -> None:
    def found(code: int) -> dict[str, Any]:
        done = json.loads(suite.call("audit", "--json", code=code).stdout)
        return {one["kind"]: one for one in done["findings"]}

    assert set(found(1)) == {"no-run", "not-growing"}
    suite.evaluate("one")
    assert set(found(1)) == {"not-growing"}
    text = suite.call("audit", code=1).stdout
    assert "dataset.jsonl: all 3 cases come from the spec" in text and "→" in text

    # A row of a run that happened, and a label on that: nothing is left.
    rows = (suite.root / "dataset.jsonl").read_text("utf-8").splitlines()
    row = json.loads(rows[0]) | {"id": "0" * 16, "query": "What about 4799, then?"}
    row |= {"source": "derived", "originTraceId": "prod-1"}
    row.pop("item", None)
    text = "".join(f"{line}\n" for line in [*rows, json.dumps(row)])
    (suite.root / "dataset.jsonl").write_text(text, "utf-8")
    label = {"traceId": "prod-1", "criterionId": "looks-up", "label": "fail"}
    line = json.dumps(label | {"annotator": "ann"}) + "\n"
    (suite.root / "labels.jsonl").write_text(line, "utf-8")
    assert set(found(1)) == {"run-not-at-hand"}
    trace = {
        "unitf_version": "0.1",
        "traceId": "prod-1",
        "status": "ok",
        "spans": [
            {"spanId": "1", "kind": "event", "role": "user", "input": "4799?"},
            {"spanId": "2", "kind": "llm", "role": "assistant", "output": "Sent."},
        ],
    }
    (suite.root / "prod.jsonl").write_text(json.dumps(trace) + "\n", "utf-8")
    done = suite.call("audit", "--traces", "prod.jsonl", code=0)
    assert done.stdout.startswith("Desk Clerk: nothing in ")

    # What was taken out is remembered, and a torn run is told and left out.
    (suite.root / "dataset.jsonl").write_text("\n".join(rows[1:]) + "\n", "utf-8")
    shrunk = found(1)["shrunk"]
    assert shrunk["items"] == [json.loads(rows[0])["id"]]
    (suite.root / "runs" / "one" / "scorecard.json").write_text("{", "utf-8")
    done = suite.call("audit", code=1)
    assert "left out" in done.stderr and "no finished run" in done.stdout
    (suite.root / "labels.jsonl").write_text('{"traceId": 7}\n', "utf-8")
    wrong = suite.call("audit", code=2)
    assert "labels.jsonl:1" in wrong.stderr and wrong.stdout == ""
