"""`validate` as a user meets it: a bare interpreter, a judge's server, a suite's folder.

The judge of these suites errs in a way that is known case by case, so every figure that
is shown can be counted by hand.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.labels.file import Label, Word, write_labels
from helix_runtime.labels.splits import Splits
from helix_runtime.lock import suite_lock
from support.judge_server import JudgeServer, failure, judge_server
from support.live_suite import JUDGED, PACKAGE, LiveSuite, environment, live_suite, rows
from support.wires import CHAT, Asked, Weather, verdict_text

SETTINGS = """
[judge]
provider = "openai-http"
model = "judge-1"
base_url = "{url}"
"""
JUDGES = """\
from ._runtime.criterion import Judge

kind = Judge("kind", "The answer is kind.", "{pass_when}", "It is not.")
"""
MANY = 180
ASKED = re.compile(r"What is (\d+)\?")


def truth(number: int) -> Word:
    """What people say of the run of a case."""
    if number % 10 == 0:
        return "underdetermined"
    return "pass" if number % 2 == 0 else "fail"


def judged(number: int) -> str:
    """What the judge says of it: not always the same."""
    wrong = {4: "fail", 7: "pass", 6: "uncertain", 20: "pass"}
    if number % 50 in wrong:
        return wrong[number % 50]
    said = truth(number)
    return "uncertain" if said == "underdetermined" else said


def answer(asked: Asked) -> Weather:
    found = ASKED.search(asked.user)
    assert found is not None
    result = judged(int(found[1]))
    blocked = {"kind": "scope", "text": "can't be told"}
    text = verdict_text(
        result,
        critique=f"Of number {found[1]} I say {result}.",
        refs=[{"obs": "output", "path": "", "value": "It is"}],
        blocked_by=blocked if result == "uncertain" else None,
    )
    return CHAT.answer(text, model=str(asked.body["model"]))


@pytest.fixture(scope="module")
def running() -> Iterator[JudgeServer]:
    with judge_server() as found:
        found.answer = answer
        yield found


@pytest.fixture
def server(running: JudgeServer) -> JudgeServer:
    running.asked.clear()
    return running


def labels(numbers: Iterable[int] = range(MANY)) -> list[Label]:
    return [
        Label(
            trace_id=f"case-{n:04d}-r0",
            criterion_id="kind",
            label=truth(n),
            note=f"Number {n}.",
        )
        for n in numbers
    ]


SPLIT = Splits(labels())


def of_split(split: str) -> list[int]:
    return [n for n in range(MANY) if SPLIT.of(f"case-{n:04d}") == split]


def counted(split: str) -> dict[str, int]:
    """The counts that `validate` must come to, from the two functions above."""
    names = {
        ("pass", "pass"): "truePass",
        ("pass", "fail"): "falseFail",
        ("fail", "fail"): "trueFail",
        ("fail", "pass"): "falsePass",
        ("underdetermined", "uncertain"): "agreedAbstain",
        ("pass", "uncertain"): "overAbstain",
        ("fail", "uncertain"): "overAbstain",
        ("underdetermined", "pass"): "underAbstain",
    }
    found = dict.fromkeys(names.values(), 0)
    for n in of_split(split):
        found[names[truth(n), judged(n)]] += 1
    return found


@pytest.fixture(scope="module")
def labelled(
    tmp_path_factory: pytest.TempPathFactory, running: JudgeServer
) -> LiveSuite:
    """A suite whose run `one` was judged and labelled."""
    live = live_suite(
        tmp_path_factory.mktemp("labelled"),
        cases=rows(MANY),
        criteria=JUDGED,
        judges=JUDGES.format(pass_when="It is kind."),
        settings=SETTINGS.format(url=running.base_url),
    )
    done = live.run("run", "--out", "runs/one", "-q")
    assert done.returncode == 1, done.stderr
    write_labels(live.root / "labels.jsonl", labels())
    return live


@pytest.fixture
def suite(tmp_path: Path, labelled: LiveSuite) -> LiveSuite:
    """A copy of it, for one test to change."""
    return LiveSuite(shutil.copytree(labelled.root, tmp_path / "suite"))


def shown(suite: LiveSuite, *words: str, code: int = 0) -> dict[str, Any]:
    """The one judge that `validate --json` tells of."""
    done = suite.run("validate", "--json", *words)
    assert done.returncode == code, done.stderr
    (one,) = json.loads(done.stdout)["judges"]
    assert isinstance(one, dict)
    return one


def validation(suite: LiveSuite, run: str) -> dict[str, Any]:
    cards = {c["criterionId"]: c for c in suite.scorecard(run)["criteria"]}
    found = cards["kind"]["validation"]
    assert isinstance(found, dict)
    return found


def notes(suite: LiveSuite, run: str) -> list[str]:
    found = suite.scorecard(run)["run"].get("notes", [])
    return [note for note in found if note.startswith("validation: ")]


# -- what it finds ---------------------------------------------------------------------


def test_every_verdict_is_counted_and_every_disagreement_is_named(
    suite: LiveSuite,
) -> None:
    one = shown(suite)
    expected = counted("dev")
    assert one["counts"] == expected
    assert all(expected.values()), "the split must hold a case of every kind"
    good = expected["truePass"] + expected["falseFail"]
    bad = expected["trueFail"] + expected["falsePass"]
    assert one["tpr"] == pytest.approx(expected["truePass"] / good, abs=1e-6)
    assert one["tnr"] == pytest.approx(expected["trueFail"] / bad, abs=1e-6)
    assert one["status"] == "validated"
    as_said = {"pass": "pass", "fail": "fail", "underdetermined": "uncertain"}
    assert {entry["traceId"] for entry in one["disagreements"]} == {
        f"case-{n:04d}-r0" for n in of_split("dev") if judged(n) != as_said[truth(n)]
    }
    for entry in one["disagreements"]:
        number = int(entry["caseId"].removeprefix("case-"))
        assert entry["critique"] == f"Of number {number} I say {judged(number)}."
        assert entry["note"] == f"Number {number}."
    text = suite.run("validate").stdout
    for kind in ("false-pass", "false-fail", "over-abstain", "under-abstain"):
        assert re.search(rf"^  {kind} +case-\d+, trace case-\d+-r0$", text, re.M), kind
    assert "accuracy" not in text.lower() and "kappa" not in text.lower()


def test_later_runs_and_reports_show_what_was_found(suite: LiveSuite) -> None:
    before = suite.scorecard("one")
    assert validation(suite, "one")["status"] == "unvalidated"
    found = shown(suite)
    done = suite.run("run", "--out", "runs/two", "-q")
    assert done.returncode == 1, done.stderr
    keys = ("status", "tpr", "tnr", "corrected", "interval")
    assert list(validation(suite, "two")) == list(keys)
    assert validation(suite, "two") == {key: found[key] for key in keys}
    low, high = found["interval"]
    assert low <= found["corrected"] <= high
    # The run of before is told too, when it is looked at again: nothing else changes.
    shown_again = suite.run("report", "one")
    assert "JUDGES" in shown_again.stdout and "validated" in shown_again.stdout
    after = suite.scorecard("one")
    assert validation(suite, "one") == validation(suite, "two")
    page = (suite.root / "runs/one/report.html").read_text("utf-8")
    assert "judge, validated" in page and "TPR" in page
    assert after.pop("digest") != before.pop("digest")
    assert after["run"].pop("notes") == notes(suite, "one")
    for card in (before, after):
        for row in card["criteria"]:
            del row["validation"]
    assert before == after
    assert "dev alone" in notes(suite, "two")[0]


def test_a_report_gives_no_new_digest_to_a_scorecard_that_was_edited(
    suite: LiveSuite,
) -> None:
    shown(suite)
    card = suite.scorecard("one")
    card["gate"]["verdict"] = "pass"
    text = json.dumps(card)
    suite.write("runs/one/scorecard.json", text)
    assert suite.run("report", "one", "-q").returncode == 0
    assert (suite.root / "runs/one/scorecard.json").read_text("utf-8") == text


def test_the_gate_does_not_hang_on_it(suite: LiveSuite) -> None:
    gate = suite.scorecard("one")["gate"]
    # People who say the contrary of what the judge mostly says.
    contrary = [
        Label(
            trace_id=one.trace_id,
            criterion_id="kind",
            label="fail" if one.label == "pass" else "pass",
        )
        for one in labels()
    ]
    write_labels(suite.root / "labels.jsonl", contrary)
    assert shown(suite, code=1)["status"] == "failed"
    suite.run("run", "--out", "runs/two", "-q")
    assert validation(suite, "two")["status"] == "failed"
    assert validation(suite, "two")["corrected"] is None
    assert suite.scorecard("two")["gate"] == gate


# -- who was validated -----------------------------------------------------------------


def test_an_edited_judge_is_unvalidated_and_the_run_says_why(suite: LiveSuite) -> None:
    shown(suite)
    suite.write("desk_evals/judges.py", JUDGES.format(pass_when="It is friendly."))
    assert suite.run("run", "--out", "runs/two", "-q").returncode == 1
    assert validation(suite, "two")["status"] == "unvalidated"
    assert validation(suite, "two")["tpr"] is None
    (note,) = notes(suite, "two")
    assert "judge of kind is unvalidated since the judge was edited" in note
    # Its own run was judged by the one before, and stays what it was.
    done = suite.run("validate", "--run", "one")
    assert done.returncode == 0 and "measures the one before" in done.stderr
    assert "JUDGES" in suite.run("report", "one").stdout
    assert suite.run("validate", "--run", "two").returncode == 0
    suite.run("report", "two", "-q")
    assert validation(suite, "two")["status"] == "validated"


def test_an_audit_knows_the_judge_whatever_the_last_run_was(suite: LiveSuite) -> None:
    def found() -> set[str]:
        done = suite.run("audit", "--json")
        return {one["kind"] for one in json.loads(done.stdout)["findings"]}

    assert "unvalidated" in found()
    suite.run("validate", "--split", "test")
    before = found()
    assert "below-target" in before and "unvalidated" not in before
    # Runs of which no judge was asked, or not of this criterion.
    suite.run("run", "--no-judge", "--out", "runs/two", "-q")
    assert found() == before
    suite.run("run", "--criteria", "exact", "--out", "runs/three", "-q")
    assert found() == before
    # The judge was edited, and has judged nothing since.
    suite.write("desk_evals/judges.py", JUDGES.format(pass_when="It is very kind."))
    assert found() == (before - {"below-target"}) | {
        "unvalidated",
        "validation-outlived",
    }


def test_another_model_is_another_judge(suite: LiveSuite) -> None:
    shown(suite)
    other = ("--judge", "openai-http:judge-2", "--out", "runs/two", "-q")
    assert suite.run("run", *other).returncode == 1
    assert validation(suite, "two")["status"] == "unvalidated"
    (note,) = notes(suite, "two")
    assert "openai-http:judge-2 judges, and no longer openai-http:judge-1" in note
    dashboard = suite.run("report", "two").stdout
    assert "no longer" in " ".join(dashboard.split())
    # What was known of the first one is kept beside what is found of the second.
    assert suite.run("validate", "--run", "two").returncode == 0
    held = json.loads((suite.root / "validation.json").read_text("utf-8"))
    assert [one["pin"]["model"] for one in held["judges"]] == ["judge-1", "judge-2"]


def test_other_rules_for_all_judges_make_others_of_them(suite: LiveSuite) -> None:
    shown(suite)
    path = suite.package / "_runtime" / "judges" / "prompt.py"
    rules = path.read_text("utf-8")
    assert rules.count("8. Judge only.") == 1
    path.write_text(rules.replace("8. Judge only.", "8. Only judge."), "utf-8")
    assert suite.run("run", "--out", "runs/two", "-q").returncode == 1
    assert validation(suite, "two")["status"] == "unvalidated"
    assert "rules that all judges are told were changed" in notes(suite, "two")[0]


def test_a_new_version_of_the_subject_is_judged_by_the_same_judge(
    suite: LiveSuite, server: JudgeServer
) -> None:
    shown(suite)
    path = suite.package / "suite.py"
    own = path.read_text("utf-8")
    path.write_text(own.replace('version="1"', 'version="2"'), "utf-8")
    server.asked.clear()
    assert suite.run("run", "--out", "runs/two", "-q").returncode == 1
    assert len(server.asked) == MANY, "it is asked anew, for it is told another version"
    assert validation(suite, "two")["status"] == "validated"


def test_a_second_judge_is_a_part_of_the_judge(
    suite: LiveSuite, server: JudgeServer
) -> None:
    """It only takes away: what it refutes is an abstention, no wrong verdict."""
    second = SETTINGS.format(url=server.base_url).replace("judge-1", "judge-2")
    settings = (suite.root / "evals.toml").read_text("utf-8")
    suite.write("evals.toml", settings + second.replace("[judge]", "[verifier]"))

    def doubting(asked: Asked) -> Weather:
        if asked.body["model"] == "judge-1":
            return answer(asked)
        ref = {"obs": "output", "path": "", "value": "It is"}
        text = verdict_text("pass", refs=[ref])
        return CHAT.answer(text, model="judge-2")

    server.answer = doubting
    try:
        done = suite.run("run", "--out", "runs/two", "-q")
    finally:
        server.answer = answer
    assert done.returncode == 3, done.stderr
    one = shown(suite, "--run", "two", code=3)
    expected = counted("dev")
    assert one["counts"]["truePass"] == expected["truePass"]
    assert one["counts"]["trueFail"] == one["counts"]["falseFail"] == 0
    assert one["counts"]["overAbstain"] > expected["overAbstain"]
    assert {d["result"] for d in one["disagreements"]} == {"pass", "uncertain"}
    # The first judge alone is another one.
    suite.run("report", "one", "-q")
    assert validation(suite, "one")["tpr"] is None
    assert "the second judge is another one" in notes(suite, "one")[0]
    suite.run("report", "two", "-q")
    assert validation(suite, "two")["tpr"] == 1


def test_a_run_that_was_cut_short_counts_as_far_as_it_went(suite: LiveSuite) -> None:
    record = json.loads((suite.root / "runs/one/run.json").read_text("utf-8"))
    suite.write("runs/one/run.json", json.dumps({**record, "finished": False}))
    units = suite.root / "runs/one/units.jsonl"
    data = units.read_bytes()
    units.write_bytes(data[: len(data) * 2 // 3])
    done = suite.run("validate", "--json")
    (one,) = json.loads(done.stdout)["judges"]
    assert "one is not finished" in done.stderr
    assert 0 < len(one["notJudged"]) < len(of_split("dev"))
    assert sum(one["counts"].values()) == len(of_split("dev")) - len(one["notJudged"])
    # What is decided of it until now knows its judge too.
    shown_until_now = suite.run("report", "one").stdout
    assert "JUDGES" in shown_until_now


def test_a_verdict_that_was_edited_is_none_of_the_judges(suite: LiveSuite) -> None:
    units = suite.root / "runs/one/units.jsonl"
    whole = units.read_text("utf-8")
    lines = whole.splitlines(keepends=True)
    place = next(
        n
        for n, line in enumerate(lines)
        if '"by":"judge"' in line and '"result":"pass"' in line
    )
    lines[place] = lines[place].replace('"result":"pass"', '"result":"fail"')
    units.write_text("".join(lines), "utf-8")
    done = suite.run("validate")
    assert done.returncode == 2
    assert f"units.jsonl:{place + 1}: it was edited since" in done.stderr
    assert not (suite.root / "validation.json").exists()
    # Nor does its share of passes change what a run says of its judge.
    units.write_text(whole, "utf-8")
    assert suite.run("validate").returncode == 0
    suite.run("report", "one", "-q")
    known = validation(suite, "one")
    units.write_text("".join(lines), "utf-8")
    suite.run("report", "one", "-q")
    assert validation(suite, "one") == known
    # Gone on with, the run asks for that verdict again.
    assert suite.run("run", "--resume", "one", "-q").returncode == 1
    assert suite.run("validate").returncode == 0


def stopped_at_once(suite: LiveSuite, server: JudgeServer) -> None:
    """Go on with the run, and be refused by the judge's provider."""
    server.script += [failure(401, "who are you?")] * 20
    stopped = suite.run("run", "--resume", "one", "--no-cache", "-q")
    server.script.clear()
    assert stopped.returncode == 4, stopped.stderr


def test_verdicts_of_before_an_edit_are_not_those_of_the_judge_after_it(
    suite: LiveSuite, server: JudgeServer
) -> None:
    suite.write(f"{PACKAGE}/judges.py", JUDGES.format(pass_when="It is most kind."))
    # The run is gone on with, and stopped before the new judge said anything.
    stopped_at_once(suite, server)
    done = suite.run("validate", "--json")
    (one,) = json.loads(done.stdout)["judges"]
    assert one["status"] == "unvalidated" and one["tpr"] is None
    assert len(one["notJudged"]) == len(of_split("dev"))
    assert not (suite.root / "validation.json").exists()
    # Nor does what is shown of it until now count them.
    shown_until_now = suite.run("report", "one").stdout
    assert "what decides was edited" in " ".join(shown_until_now.split())
    assert "INCOMPLETE" in shown_until_now
    assert suite.run("run", "--resume", "one", "-q").returncode == 1
    assert suite.run("validate").returncode == 0


def test_what_was_judged_counts_where_a_run_is_stopped_twice(
    suite: LiveSuite, server: JudgeServer
) -> None:
    units = suite.root / "runs/one/units.jsonl"
    whole = units.read_text("utf-8").splitlines(keepends=True)
    units.write_text("".join(whole[: len(whole) // 2]), "utf-8")
    stopped_at_once(suite, server)
    # Nothing was edited: what was said before it stopped still stands.
    (one,) = json.loads(suite.run("validate", "--json").stdout)["judges"]
    assert 0 < len(one["notJudged"]) < len(of_split("dev"))


def test_two_at_once_look_at_the_test_split_once(suite: LiveSuite) -> None:
    processes = [
        subprocess.Popen(
            suite.command("validate", "--split", "test", "--json"),
            cwd=suite.root,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(4)
    ]
    shown = [process.communicate(timeout=120)[0] for process in processes]
    held = json.loads((suite.root / "validation.json").read_text("utf-8"))
    assert sum(bool(text) for text in shown) == held["testUsed"]["kind"] == 1


def test_nothing_is_shown_while_another_process_works_on_the_suite(
    suite: LiveSuite,
) -> None:
    with suite_lock(suite.root):
        done = suite.run("validate")
    assert done.returncode == 2 and "another process works on" in done.stderr
    assert done.stdout == "" and not (suite.root / "validation.json").exists()


def test_a_run_that_nobody_judged_validates_nobody(suite: LiveSuite) -> None:
    suite.run("run", "--no-judge", "--out", "runs/two", "-q")
    done = suite.run("validate", "--run", "two")
    assert done.returncode == 2 and "nobody can tell who judged two" in done.stderr
    assert not (suite.root / "validation.json").exists()


# -- the test split --------------------------------------------------------------------


def test_the_test_split_is_looked_at_once(suite: LiveSuite) -> None:
    assert shown(suite, "--split", "test")["counts"] == counted("test")
    held = (suite.root / "validation.json").read_bytes()
    refused = suite.run("validate", "--split", "test")
    assert refused.returncode == 2
    assert "the test split of 'kind' was used once" in refused.stderr
    assert "--again" in refused.stderr and not refused.stdout
    assert (suite.root / "validation.json").read_bytes() == held
    shown(suite, "--split", "test", "--again")
    refused = suite.run("validate", "--split", "test")
    assert "was used 2 times" in refused.stderr
    # Test tells before dev, and then nothing has to be said of dev.
    shown(suite)
    suite.run("report", "one", "-q")
    assert notes(suite, "one") == []
    expected = counted("test")
    good = expected["truePass"] + expected["falseFail"]
    assert validation(suite, "one")["tpr"] == pytest.approx(
        expected["truePass"] / good, abs=1e-6
    )


def test_a_test_split_without_a_label_is_not_used_up(suite: LiveSuite) -> None:
    alone = next(
        n for n in range(MANY) if Splits(labels([n])).of(f"case-{n:04d}") == "dev"
    )
    write_labels(suite.root / "labels.jsonl", labels([alone]))
    for _ in range(2):
        one = shown(suite, "--split", "test", code=3)
        assert one["status"] == "unvalidated" and one["tpr"] is None
    assert not (suite.root / "validation.json").exists()


# -- few labels, odd labels --------------------------------------------------------------


def test_few_labels_leave_a_judge_unvalidated_and_its_rate_corrected(
    suite: LiveSuite,
) -> None:
    write_labels(suite.root / "labels.jsonl", labels(range(30)))
    one = shown(suite, code=3)
    assert one["status"] == "unvalidated"
    assert one["tpr"] is not None and one["corrected"] is not None
    suite.run("report", "one", "-q")
    assert validation(suite, "one")["status"] == "unvalidated"
    assert validation(suite, "one")["corrected"] == one["corrected"]
    text = suite.run("validate").stdout
    assert "20 of each are needed" in text


def test_labels_of_one_class_say_nothing_of_the_other(suite: LiveSuite) -> None:
    good = [n for n in range(MANY) if truth(n) == "pass"]
    write_labels(suite.root / "labels.jsonl", labels(good))
    one = shown(suite, code=3)
    assert one["status"] == "unvalidated"
    assert one["tnr"] is None and one["tpr"] is not None and one["corrected"] is None
    assert "unknown: no label of that class" in suite.run("validate").stdout


def test_no_labels_at_all_is_no_validation(suite: LiveSuite) -> None:
    (suite.root / "labels.jsonl").unlink()
    done = suite.run("validate")
    assert done.returncode == 3 and "labels        none" in done.stdout
    assert not (suite.root / "validation.json").exists()


def test_odd_labels_are_left_out_and_told(suite: LiveSuite) -> None:
    first = of_split("dev")[:4]
    disputed, deferred, twice, _ = (f"case-{n:04d}-r0" for n in first)
    kinds = {truth(n) for n in first}
    assert kinds  # whatever they are, the second opinion below differs
    other: Word = "fail" if truth(first[0]) != "fail" else "pass"
    extra = [
        Label(trace_id=disputed, criterion_id="kind", label=other, annotator="bob"),
        Label(trace_id="never-run", criterion_id="kind", label="pass"),
        Label(trace_id=twice, criterion_id="kindd", label="pass"),
        Label(trace_id=twice, criterion_id="exact", label="pass"),
        Label(trace_id=deferred, criterion_id="kind", label="defer"),
        # Said again: it counts once.
        *labels(first[2:3]),
    ]
    write_labels(suite.root / "labels.jsonl", [*labels(), *extra])
    done = suite.run("validate", "--json")
    (one,) = json.loads(done.stdout)["judges"]
    assert one["labels"]["disputed"] == one["labels"]["deferred"] == 1
    assert sum(one["counts"].values()) == len(of_split("dev")) - 2
    assert "labels on 'kindd' are left out" in done.stderr
    assert "did you mean" in done.stderr
    assert "labels on 'exact' are left out: no judge decides it" in done.stderr
    stray = Splits([*labels(), *extra]).of("never-run")
    assert stray is not None
    assert one["notJudged"] == (["never-run"] if stray == "dev" else [])


def test_a_label_that_cannot_be_read_stops_it(suite: LiveSuite) -> None:
    with (suite.root / "labels.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"traceId": "x", "criterionId": "kind", "label": "good"}\n{torn\n')
    done = suite.run("validate")
    assert done.returncode == 2
    assert done.stderr.count("labels.jsonl:") == 2 and not done.stdout


def test_a_run_under_the_same_ids_that_says_something_else_is_not_mistaken(
    suite: LiveSuite,
) -> None:
    target = 'def target(case):\n    return "It is not " + case.query[8:-1] + "."\n'
    suite.write("desk_evals/target.py", target)
    assert suite.run("run", "--out", "runs/two", "-q").returncode == 1
    # Which of the two was labelled?
    one = shown(suite, code=3)
    assert len(one["ambiguous"]) == len(of_split("dev"))
    assert not any(one["counts"].values())
    assert shown(suite, "--run", "one")["counts"] == counted("dev")


def test_labels_count_for_the_run_that_was_labelled_alone(suite: LiveSuite) -> None:
    assert suite.run("labels", "import", "labels.jsonl").returncode == 0
    # As in a clean clone: the runs are gone, the agent is another one, the ids are not.
    shutil.rmtree(suite.root / "runs" / "one")
    target = 'def target(case):\n    return "It is not " + case.query[8:-1] + "."\n'
    suite.write("desk_evals/target.py", target)
    assert suite.run("run", "--out", "runs/two", "-q").returncode == 1
    done = suite.run("validate", "--json")
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    (one,) = found["judges"]
    assert not any(one["counts"].values()) and one["disagreements"] == []
    number = len(of_split("dev"))
    assert found["labels"] == {"otherRun": number, "otherWords": 0, "unmarked": 0}
    assert f"note: {number} labels are left out: the runs at hand" in done.stderr
    assert not (suite.root / "validation.json").exists()


def test_a_label_with_a_mark_tells_which_of_several_runs_it_is_on(
    suite: LiveSuite,
) -> None:
    imported = suite.run("labels", "import", "labels.jsonl", "--run", "one")
    assert imported.returncode == 0
    target = 'def target(case):\n    return "It is not " + case.query[8:-1] + "."\n'
    suite.write("desk_evals/target.py", target)
    assert suite.run("run", "--out", "runs/two", "-q").returncode == 1
    assert not any(shown(suite, "--run", "two", code=3)["counts"].values())
    assert shown(suite, "--run", "one")["counts"] == counted("dev")


def test_labels_under_other_words_of_the_criterion_are_left_out(
    suite: LiveSuite,
) -> None:
    assert suite.run("labels", "import", "labels.jsonl").returncode == 0
    judges = JUDGES.format(pass_when="It is kind, and tuned.")
    suite.write("desk_evals/judges.py", judges)
    # What a judge is told beside what is asked is tuned by these very labels.
    assert shown(suite)["counts"] == counted("dev")
    reworded = judges.replace("The answer is kind.", "The answer is friendly.")
    suite.write("desk_evals/judges.py", reworded)
    done = suite.run("validate")
    assert done.returncode == 3
    number = len(of_split("dev"))
    assert f"{number} labels are left out: 'kind' was reworded" in done.stderr
    again = suite.run("labels", "import", "labels.jsonl", "--again")
    assert again.returncode == 0 and f"{MANY} of them say again" in again.stdout
    assert shown(suite)["counts"] == counted("dev")


def test_labels_by_hand_count_as_they_are_and_it_is_said(suite: LiveSuite) -> None:
    done = suite.run("validate")
    assert done.returncode == 0
    number = len(of_split("dev"))
    assert f"{number} labels have no word of which run was labelled" in done.stderr


def test_labels_of_runs_that_are_examples_of_the_judge_stop_it(
    suite: LiveSuite,
) -> None:
    shown_to_it = "".join(
        f'        Example(label="{label}", excerpt="It is {n}.", critique="So.", '
        f'result="{result}", case_id="case-{n:04d}"),\n'
        for n, label, result in zip(
            of_split("dev")[:3],
            ("pass", "fail", "borderline"),
            ("pass", "fail", "uncertain"),
            strict=True,
        )
    )
    judges = (
        "from ._runtime.criterion import Example, Judge\n\nkind = Judge(\n"
        '    "kind", "The answer is kind.", "It is.", "It is not.",\n'
        f"    examples=[\n{shown_to_it}    ],\n)\n"
    )
    suite.write("desk_evals/judges.py", judges)
    done = suite.run("validate")
    assert done.returncode == 2 and "dev" in done.stderr


# -- a file that was edited --------------------------------------------------------------


def test_a_broken_file_stops_a_judged_run_before_it_costs_anything(
    suite: LiveSuite, server: JudgeServer
) -> None:
    shown(suite)
    path = suite.root / "validation.json"
    held = json.loads(path.read_text("utf-8"))
    held["judges"][0]["counts"]["falsePass"] = 0
    path.write_text(json.dumps(held), "utf-8")
    server.asked.clear()
    for words in (("run", "--no-cache", "--out", "runs/two"), ("validate",)):
        done = suite.run(*words)
        assert done.returncode == 2, words
        assert "validation.json can't be read" in done.stderr
        assert "don't add up" in done.stderr and "Traceback" not in done.stderr
    assert server.asked == []
    assert not (suite.root / "runs/two").exists()
    # A run by code alone does not ask how good a judge is.
    assert suite.run("run", "--no-judge", "--out", "runs/two", "-q").returncode != 2


# -- the other path ----------------------------------------------------------------------


def as_verdict_files(suite: LiveSuite, packets: Path) -> Path:
    """Answer the packets as the model answered, through the files of a host's agents."""
    index = json.loads((packets / "index.json").read_text("utf-8"))
    for entry in index["packets"]:
        packet = json.loads((packets / entry["packet"]).read_text("utf-8"))
        number = int(packet["trajectoryId"].removeprefix("case-").removesuffix("-r0"))
        result = judged(number)
        verdict = {
            "criterionId": "kind",
            "critique": f"Of number {number} I say {result}.",
            "result": result,
            "confidence": 0.9,
            "refs": [{"obs": "output", "path": "", "value": "It is"}],
        }
        if result == "uncertain":
            verdict["blockedBy"] = {"kind": "scope", "text": "can't be told"}
        record = {
            "trajectoryId": packet["trajectoryId"],
            "judgeModel": packet["pin"]["model"],
            "temperature": 0,
            "verdicts": [verdict],
        }
        (packets / entry["verdictFile"]).write_text(json.dumps(record), "utf-8")
    return suite.root / "matrix" / "verdicts"


def test_verdict_files_are_validated_and_both_paths_show_it_alike(
    suite: LiveSuite,
) -> None:
    done = suite.run("prep", "--run", "one", "--model", "host-1", "-q")
    assert done.returncode == 0, done.stderr
    (suite.root / "matrix/verdicts").mkdir(exist_ok=True)
    verdicts = as_verdict_files(suite, suite.root / "matrix" / "packets")
    one = shown(suite, "--verdicts", str(verdicts))
    assert one["counts"] == counted("dev") and one["status"] == "validated"
    traces = suite.root / "runs/one/traces.jsonl"
    rolled = suite.run("aggregate", "--out", "runs/a", "-q")
    assert rolled.returncode == 1, rolled.stderr
    words = ("--traces", traces, "--replay", verdicts, "--out", "runs/b", "-q")
    assert suite.run("run", *words).returncode == 1
    keys = ("status", "tpr", "tnr", "corrected", "interval")
    for run in ("a", "b"):
        assert validation(suite, run) == {key: one[key] for key in keys}
    a, b = suite.scorecard("a"), suite.scorecard("b")
    for card in (a, b):
        del card["run"]["id"], card["run"]["started"], card["run"]["mode"]
        del card["digest"]
    assert a == b
    # A model that is called is another judge than the agents of a host.
    suite.run("report", "one", "-q")
    assert validation(suite, "one")["status"] == "unvalidated"
    # From the rolled-up run it is the same as from the files.
    assert shown(suite, "--run", "a")["counts"] == one["counts"]


def test_verdicts_on_packets_of_an_earlier_judge_are_refused(suite: LiveSuite) -> None:
    suite.run("prep", "--run", "one", "--model", "host-1", "-q")
    (suite.root / "matrix/verdicts").mkdir(exist_ok=True)
    verdicts = as_verdict_files(suite, suite.root / "matrix" / "packets")
    suite.write("desk_evals/judges.py", JUDGES.format(pass_when="It is friendly."))
    done = suite.run("validate", "--verdicts", verdicts)
    assert done.returncode == 2 and "edited after the packets" in done.stderr


def test_a_verdict_on_other_words_than_those_of_the_run_validates_nobody(
    suite: LiveSuite,
) -> None:
    suite.run("prep", "--run", "one", "--model", "host-1", "-q")
    (suite.root / "matrix/verdicts").mkdir(exist_ok=True)
    verdicts = as_verdict_files(suite, suite.root / "matrix" / "packets")
    text = (suite.root / "runs/one/traces.jsonl").read_text("utf-8")
    again = suite.write("again.jsonl", text.replace("It is", "Go away. It is"))
    done = suite.run("validate", "--verdicts", verdicts, "--traces", again, "--json")
    assert "verdicts on runs that say something else than those" in done.stderr
    (one,) = json.loads(done.stdout)["judges"]
    assert one["status"] == "unvalidated"
    assert set(one["counts"].values()) == {0}


def test_runs_that_cannot_be_read_are_told(suite: LiveSuite) -> None:
    suite.run("prep", "--run", "one", "--model", "host-1", "-q")
    (suite.root / "matrix/verdicts").mkdir(exist_ok=True)
    verdicts = as_verdict_files(suite, suite.root / "matrix" / "packets")
    lines = (suite.root / "runs/one/traces.jsonl").read_text("utf-8").splitlines()
    torn = suite.write("torn.jsonl", "\n".join([*lines[:-1], lines[-1][:40]]))
    done = suite.run("validate", "--verdicts", verdicts, "--traces", torn)
    assert done.returncode == 0, done.stderr
    assert "1 line of torn.jsonl could not be read" in done.stderr
    empty = suite.write("empty.jsonl", "")
    done = suite.run("validate", "--verdicts", verdicts, "--traces", empty)
    assert done.returncode == 2 and "there is no trace in" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "one", "--verdicts", "matrix/verdicts"), "give one of the two"),
        (("--packets", "matrix/packets"), "goes with --verdicts"),
        (("--verdicts", "nowhere"), "there are no traces"),
        (("--run", "on"), "did you mean"),
        (("--criteria", "exact"), "no judge decides"),
        (("--criteria", "nonsense"), "matches no criterion"),
        (("--labels", "nowhere.jsonl"), "there is no file nowhere.jsonl"),
        (("--split", "train"), "invalid choice"),
    ],
)
def test_what_cannot_be_done_is_said(
    suite: LiveSuite, words: tuple[str, ...], said: str
) -> None:
    done = suite.run("validate", *words)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [("validate",), ("audit",), ("derive", "--run", "one")]
)
def test_labels_that_cannot_be_read_are_said_in_one_way(
    suite: LiveSuite, command: tuple[str, ...]
) -> None:
    labels = suite.root / "labels.jsonl"
    labels.unlink(missing_ok=True)
    labels.mkdir()
    done = suite.run(*command)
    assert done.returncode == 2
    assert "labels.jsonl: can't be read: Is a directory" in done.stderr


def test_a_hybrid_is_measured_by_what_its_judge_decided(
    tmp_path: Path, server: JudgeServer
) -> None:
    """Code decides odd numbers, the judge the others: it has no part in what code said."""
    checks = (
        "from ._runtime.criterion import check\n"
        "from ._runtime.verdict import failed, uncertain\n\n\n"
        '@check("kind", "The answer is kind.")\n'
        "def kind(case, trace):\n"
        "    if int(case.query[8:-1]) % 2:\n"
        '        return failed("an odd number")\n'
        '    return uncertain("who knows")\n'
    )
    live = live_suite(
        tmp_path,
        cases=rows(40),
        checks=checks,
        judges=JUDGES.format(pass_when="It is kind."),
        criteria="Criterion(check=checks.kind, judge=judges.kind)",
        settings=SETTINGS.format(url=server.base_url),
    )
    assert live.run("run", "--out", "runs/one", "-q").returncode == 1
    write_labels(live.root / "labels.jsonl", labels(range(40)))
    one = shown(live, code=3)
    numbers = [
        n for n in range(40) if Splits(labels(range(40))).of(f"case-{n:04d}") == "dev"
    ]
    even = [n for n in numbers if n % 2 == 0]
    assert sum(one["counts"].values()) == len(even) > 0
    assert set(one["notJudged"]) == {f"case-{n:04d}-r0" for n in numbers if n % 2 == 1}
