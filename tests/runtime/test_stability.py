"""`stability`, as users run it: a subject that flaps, a judge that flaps, and trouble."""

import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.matrix.packet_index import read_index
from support.judge_server import JudgeServer, failure, judge_server
from support.live_suite import JUDGED, LiveSuite, live_suite, rows
from support.wires import CHAT, Asked, Weather, verdict_text

HALF = "Criterion(check=checks.exact, passes=rate('>= 0.5'))"
FLAPS = """
from threading import Lock

SEEN = {}
LOCK = Lock()


def target(case):
    with LOCK:
        number = SEEN[case.id] = SEEN.get(case.id, -1) + 1
    if case.id == "case-0001" and number % 2:
        WHAT
    return "It is " + case.query[8:-1] + "."
"""
WRONG = FLAPS.replace("WHAT", 'return "It is something else."')
BREAKS = FLAPS.replace("WHAT", 'raise ConnectionError("no route to the desk")')
SETTINGS = """
concurrency = 4
[judge]
provider = "openai-http"
model = "judge-1"
base_url = "{url}"
{more}
"""
APPLIES = """
from ._runtime.case import Case
from ._runtime.criterion import check
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, not_applicable, passed


@check("exact", "Where it answers with a number, that is the one.")
def exact(case: Case, trace: Trace) -> Verdict:
    if "something" in (trace.answer or ""):
        return not_applicable("it named no number")
    return passed("it is")
"""


class FlappingJudge:
    """Says `result(prompt, how often it was asked about that prompt)`."""

    def __init__(self, server: JudgeServer, result: Callable[[str, int], str]) -> None:
        server.answer = self.answer
        self.asked: Counter[str] = Counter()
        self.calls = 0
        self.victim: int | None = None
        self.at = 0
        self.signal = signal.SIGKILL
        self._result = result
        self._lock = threading.Lock()

    def answer(self, asked: Asked) -> Weather:
        with self._lock:
            number = self.asked[asked.user]
            self.asked[asked.user] += 1
            self.calls += 1
            if self.victim is not None and self.calls == self.at:
                os.kill(self.victim, self.signal)
        result = self._result(asked.user, number)
        if result == "error":
            return failure(500, "The server had an error")
        ref = {"obs": "output", "path": "", "value": "It is"}
        blocked = {"kind": "normative", "text": "Is that kind?"}
        text = verdict_text(
            result, refs=[ref], blocked_by=blocked if result == "uncertain" else None
        )
        return CHAT.answer(text, model="judge-1")


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        yield running


def code_suite(
    root: Path, target: str, *, criteria: str = HALF, **more: Any
) -> LiveSuite:
    live = live_suite(root, cases=rows(3), target=target, criteria=criteria, **more)
    path = live.package / "suite.py"
    text = path.read_text("utf-8").replace("import Criterion", "import Criterion, rate")
    path.write_text(text, "utf-8")
    return live


def judged_suite(
    root: Path, server: JudgeServer, *, cases: int = 3, more: str = "", **changes: Any
) -> LiveSuite:
    settings = SETTINGS.format(url=server.base_url, more=more)
    return live_suite(
        root, cases=rows(cases), criteria=JUDGED, settings=settings, **changes
    )


def steady(prompt: str, number: int) -> str:
    return "pass"


def report(live: LiveSuite, *words: str) -> tuple[int, dict[str, Any]]:
    done = live.run("stability", "--json", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def of(found: dict[str, Any], criterion: str) -> dict[str, Any]:
    (row,) = [c for c in found["criteria"] if c["criterionId"] == criterion]
    return dict(row)


# -- the subject -----------------------------------------------------------------


def test_a_subject_that_says_the_same_each_time_is_stable(tmp_path: Path) -> None:
    live = live_suite(tmp_path, cases=rows(3))
    done = live.run("stability", "--out", "runs/one")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("✓ STABLE  5 runs of each case")
    assert len(live.lines("one", "traces.jsonl")) == 15
    variance = live.scorecard("one")["variance"]
    assert (variance["repeats"], variance["verdict"]) == (5, "stable")
    assert not (tmp_path / "runs/one/judged-again").exists()


def test_a_subject_that_flaps_is_named_by_case(tmp_path: Path) -> None:
    live = code_suite(tmp_path, WRONG)
    code, found = report(live, "--out", "runs/one")
    assert (code, found["verdict"]) == (1, "unstable")
    row = of(found, "exact")
    assert row["subject"] == {"stable": 2, "flapping": 1, "underSampled": 0}
    assert row["flapping"] == [{"caseId": "case-0001", "passes": 3, "decided": 5}]
    assert row["passHatK"] == pytest.approx(2 / 3)
    text = live.run("stability", "--repeats", "2").stdout
    assert "flaps   case-0001: 1 of 2 runs pass" in text


def test_a_subject_that_breaks_half_the_time_is_under_sampled_not_stable(
    tmp_path: Path,
) -> None:
    code, found = report(code_suite(tmp_path, BREAKS), "--repeats", "4")
    assert (code, found["verdict"]) == (3, "under-sampled")
    assert of(found, "exact")["underSampled"] == [
        {"caseId": "case-0001", "of": "subject", "finished": 2, "planned": 4}
    ]


def test_runs_to_which_a_criterion_does_not_apply_are_no_contradiction(
    tmp_path: Path,
) -> None:
    live = code_suite(
        tmp_path, WRONG, checks=APPLIES, criteria="Criterion(check=checks.exact)"
    )
    code, found = report(live)
    assert (code, of(found, "exact")["subject"]["stable"]) == (0, 3)
    # One run of two does not apply: a single one is left, and shows no spread.
    code, found = report(live, "--repeats", "2")
    assert (code, found["verdict"]) == (3, "under-sampled")


def test_a_ceiling_is_taken_from_the_option_or_from_evals_toml(tmp_path: Path) -> None:
    live = code_suite(tmp_path, WRONG, settings="[stability]\nceiling = 0.4\n")
    code, found = report(live)
    assert (code, found["ceiling"], found["verdict"]) == (0, 0.4, "stable")
    assert report(live, "--ceiling", "0")[0] == 1
    assert live.run("run", "--repeats", "5", "-q").returncode == 0
    live.write("evals.toml", "[stability]\nrepeats = 3\n")
    code, found = report(live)
    assert (code, found["repeats"]) == (1, 3)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ("repeats = 1", "`stability.repeats` must be a whole number of at least 2"),
        ("ceiling = 0.5", "`stability.ceiling` must be a share from 0 to below 0.5"),
        ("ceiling = true", "`stability.ceiling` must be a share"),
        ("repeat = 3", "`stability.repeat` is no setting (did you mean 'repeats'?)"),
    ],
)
def test_what_could_not_fail_is_refused(
    tmp_path: Path, settings: str, fault: str
) -> None:
    live = live_suite(tmp_path, cases=rows(1), settings=f"[stability]\n{settings}\n")
    done = live.run("stability")
    assert done.returncode == 2
    assert fault in done.stderr


@pytest.mark.parametrize(
    "words", [("--repeats", "1"), ("--ceiling", "0.5"), ("--ceiling", "nan")]
)
def test_one_repeat_and_a_ceiling_above_all_are_refused(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = live_suite(tmp_path, cases=rows(1)).run("stability", *words)
    assert done.returncode == 2
    assert words[0] in done.stderr and "Traceback" not in done.stderr


# -- accuracy on a flapping suite ------------------------------------------------


def test_a_run_of_repeats_that_flap_never_shows_a_pass_unless_forced(
    tmp_path: Path,
) -> None:
    live = code_suite(tmp_path, WRONG)
    done = live.run("run", "--repeats", "4", "--out", "runs/one")
    assert done.returncode == 3
    assert (
        "`exact` is indeterminate: 10 of 12 decided units pass, but 1 case"
        in " ".join(done.stdout.split())
    )
    assert "▸ case-0001: 2 of 4 runs pass" in done.stdout
    assert "unstable (subject 2 of 3 series stable" in (
        tmp_path / "runs/one/report.html"
    ).read_text("utf-8")
    forced = live.run("run", "--repeats", "4", "--allow-flapping", "-q")
    assert forced.returncode == 0
    assert "forced: `exact` passes although 1 case flaps" in forced.stdout
    once = live.run("run", "-q")
    assert (once.returncode, once.stdout.count("forced")) == (0, 0)


def test_recorded_runs_that_contradict_each_other_are_held_to_the_same(
    tmp_path: Path,
) -> None:
    live = code_suite(tmp_path, WRONG)
    live.run("run", "--repeats", "4", "--out", "runs/one", "-q")
    traces = "runs/one/traces.jsonl"
    assert live.run("run", "--traces", traces, "-q").returncode == 3
    words = ("--traces", traces, "--allow-flapping", "-q")
    assert live.run("run", *words).returncode == 0
    live.write("evals.toml", f'traces = ["{traces}"]\n[stability]\nrepeats = 4\n')
    code, found = report(live)
    assert (code, found["recordedRuns"]) == (1, 4)
    assert of(found, "exact")["flapping"][0]["caseId"] == "case-0001"
    # Four recorded runs where five are needed: what agrees is not stable yet.
    code, found = report(live, "--repeats", "5", "--cases", "case-0000")
    assert (code, found["verdict"]) == (3, "under-sampled")


def test_an_interrupted_run_is_held_to_the_same_where_it_is_reported(
    tmp_path: Path,
) -> None:
    live = code_suite(tmp_path, WRONG)
    live.run("run", "--repeats", "4", "--out", "runs/one", "-q")
    (tmp_path / "runs/one/scorecard.json").unlink()
    assert "1 case flaps" in " ".join(live.run("report", "one").stdout.split())


# -- the judge -------------------------------------------------------------------


def test_a_judge_that_contradicts_itself_is_told_from_a_subject_that_does(
    tmp_path: Path, server: JudgeServer
) -> None:
    def result(prompt: str, number: int) -> str:
        if "What is 2?" in prompt:
            return (
                "fail" if number == 6 else "pass"
            )  # the second time it is asked again
        return "fail" if "something else" in prompt else "pass"

    judge = FlappingJudge(server, result)
    live = judged_suite(tmp_path, server, target=WRONG)
    code, found = report(live, "--out", "runs/one")
    assert (code, found["judgements"]) == (1, 5)
    row = of(found, "kind")
    # The subject's runs of case 1 differ, and each of them is judged the same each time.
    assert row["flapping"] == [{"caseId": "case-0001", "passes": 3, "decided": 5}]
    assert row["judgeFlapping"] == [
        {
            "caseId": "case-0002",
            "traceId": "case-0002-r0",
            "results": {"fail": 1, "pass": 4},
        }
    ]
    assert row["judge"] == {"stable": 6, "flapping": 1, "underSampled": 0}
    assert row["subject"] == {"stable": 1, "flapping": 1, "underSampled": 1}
    # One run of each case is judged again, and all of the one whose runs differ.
    assert judge.calls == 15 + 4 * (1 + 5 + 1)
    again = live.lines("one/judged-again", "units.jsonl")
    assert len(again) == 28
    # What is asked again is no unit: no count and no rate has it.
    assert live.counts("one", "kind") == {"pass": 13, "fail": 2}


def test_a_judge_that_flaps_keeps_the_gate_from_passing(
    tmp_path: Path, server: JudgeServer
) -> None:
    FlappingJudge(server, lambda prompt, number: "fail" if number == 6 else "pass")
    live = judged_suite(tmp_path, server, cases=1)
    assert report(live, "--out", "runs/one")[0] == 1
    gate = live.scorecard("one")["gate"]
    assert gate["verdict"] == "incomplete"
    assert "1 case flaps" in gate["components"][0]["because"][0]
    assert live.counts("one", "kind") == {"pass": 5}
    # The loop points at the judge: nobody is asked to change the subject.
    done = live.run("loop")
    assert done.returncode == 3 and "(1 series flap)" in done.stdout
    told = "the judge contradicts itself: case-0000 × kind\nfirst: sharpen `pass_when`"
    assert told in done.stdout
    assert "requests" not in done.stdout
    assert "next: python -m desk_evals stability\n" in done.stdout


def test_what_only_advises_is_no_unrest_of_the_loop(tmp_path: Path) -> None:
    advises = "Criterion(check=checks.exact, severity='MED', passes=rate('>= 0.5'))"
    live = code_suite(
        tmp_path, WRONG, criteria=f"{advises}, Criterion(check=checks.short)"
    )
    code, found = report(live, "--out", "runs/one")
    assert (code, found["subject"]["flapping"]) == (0, 1)
    done = live.run("loop", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (swing,) = json.loads(done.stdout)["swings"]
    assert (swing["stability"], swing["flapping"]) == ("stable", 0)


def test_the_loop_names_who_flaps(tmp_path: Path, server: JudgeServer) -> None:
    def result(prompt: str, number: int) -> str:
        if "What is 2?" in prompt:
            return "fail" if number == 6 else "pass"
        return "fail" if "something else" in prompt else "pass"

    FlappingJudge(server, result)
    live = judged_suite(tmp_path, server, target=WRONG)
    report(live, "--out", "runs/one")
    told = live.run("loop").stdout
    assert "flapping: case-0001 × exact, case-0001 × kind\n" in told
    assert "the judge contradicts itself: case-0002 × kind\n" in told
    assert told.index("first: sharpen") < told.index("next: python -m desk_evals req")
    assert "then: python -m desk_evals stability\n" in told


def test_a_judge_that_once_abstains_on_the_same_run_flaps(
    tmp_path: Path, server: JudgeServer
) -> None:
    FlappingJudge(server, lambda prompt, number: "uncertain" if number == 6 else "pass")
    code, found = report(judged_suite(tmp_path, server, cases=1))
    assert code == 1
    assert of(found, "kind")["judge"]["flapping"] == 1


def test_what_only_the_judge_leaves_open_asks_for_no_more_repeats(
    tmp_path: Path, server: JudgeServer
) -> None:
    FlappingJudge(server, lambda prompt, number: "fail" if number == 6 else "pass")
    text = judged_suite(tmp_path, server, cases=1).run("stability").stdout
    assert "4 of 5 runs decided, for the judge contradicts itself" in text
    assert "sharpen `pass_when`" in text and "Too few repeats" not in text


def test_no_verdict_of_an_earlier_run_hides_what_the_judge_says_now(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=1)
    assert live.run("run", "--repeats", "5", "-q").returncode == 0
    assert judge.calls == 5
    judge._result = lambda prompt, number: "fail" if number % 2 else "pass"
    code, _ = report(live)
    assert code == 1
    # Five runs, and because they were judged differently each of them again.
    assert judge.calls == 5 + 5 + 5 * 4


def test_a_recorded_run_shows_the_spread_of_the_judge_alone(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server)
    live.run("run", "--no-judge", "--out", "runs/one", "-q")
    done = live.run(
        "stability", "--traces", "runs/one/traces.jsonl", "--out", "runs/two"
    )
    assert done.returncode == 0, done.stderr
    assert "Of the subject nothing is known: no case has several" in done.stdout
    assert "judge   3 of 3 runs stable" in done.stdout
    assert judge.calls == 15
    judge._result = lambda prompt, number: "fail" if number == 7 else "pass"
    assert live.run("stability", "--traces", "runs/one/traces.jsonl").returncode == 1


def test_without_a_judge_what_is_judged_is_under_sampled(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = judged_suite(tmp_path, server)
    done = live.run("stability", "--no-judge")
    assert done.returncode == 3
    assert "Of the judge nothing is known: nobody was asked twice." in done.stdout
    # Why is said once for the criterion, not once for each of its cases.
    assert "short   no run is decided: no judge was asked (--no-judge)" in done.stdout
    assert "runs decided" not in done.stdout
    only_code = live.run("stability", "--no-judge", "--criteria", "class:code")
    assert only_code.returncode == 0


def test_one_judgement_in_error_is_short_and_is_asked_again_by_resume(
    tmp_path: Path, server: JudgeServer
) -> None:
    broken = [True]
    judge = FlappingJudge(
        server,
        lambda prompt, number: "error" if broken[0] and number >= 6 else "pass",
    )
    live = judged_suite(tmp_path, server, cases=1, more="deadline = 1.0\ntimeout = 0.5")
    code, found = report(live, "--out", "runs/one")
    assert (code, found["verdict"]) == (3, "under-sampled")
    (short,) = of(found, "kind")["underSampled"]
    assert (short["of"], short["planned"]) == ("judge", 5)
    assert short["finished"] < 5
    broken[0] = False
    before = judge.calls
    code, found = report(live, "--resume", "one")
    assert (code, found["verdict"]) == (0, "stable")
    # Nothing is asked again that was answered.
    assert judge.calls - before == 5 - short["finished"]


def test_a_budget_that_runs_out_leaves_the_rest_short(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=1)
    code, found = report(live, "--budget-tokens", "1300", "--concurrency", "1")
    assert (code, found["verdict"]) == (3, "under-sampled")
    assert 5 < judge.calls < 9
    assert any("1300 tokens is used up" in note for note in found["notes"])
    # A token budget that the runs use up leaves nothing to ask again with.
    judge.calls = 0
    code, found = report(live, "--budget-tokens", "1", "--concurrency", "1")
    assert (code, found["verdict"]) == (3, "under-sampled")
    assert judge.calls < 5


def test_credentials_that_are_refused_in_the_second_part_end_it_with_4(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=2)

    def refuse(asked: Asked) -> Weather:
        if judge.calls >= 10:
            return failure(401, "Incorrect API key", code="invalid_api_key")
        return judge.answer(asked)

    server.answer = refuse
    done = live.run("stability", "--out", "runs/one")
    assert done.returncode == 4
    assert "the judge: " in done.stderr and "Traceback" not in done.stderr
    assert json.loads((tmp_path / "runs/one/run.json").read_text())["finished"] is False
    server.answer = judge.answer
    assert live.run("stability", "--resume", "one", "-q").returncode == 0
    assert judge.calls == 10 + 2 * 4


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of POSIX")
@pytest.mark.parametrize("at", [2, 7])
def test_interrupted_it_says_how_to_go_on(
    tmp_path: Path, server: JudgeServer, at: int
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=1)
    judge.signal = signal.SIGINT
    with judge._lock:
        process = live.start("stability", "--out", "runs/one", "-q")
        judge.victim, judge.at = process.pid, at
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert b"run --resume one" in errors and b"Traceback" not in errors
    judge.victim = None
    assert live.run("run", "--resume", "one", "-q").returncode == 0
    variance = live.scorecard("one")["variance"]
    assert (variance["verdict"], variance["judge"]["stable"]) == ("stable", 1)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX signal")
@pytest.mark.parametrize("at", [3, 13, 17])
def test_killed_anywhere_it_goes_on_and_comes_to_the_same(
    tmp_path: Path, server: JudgeServer, at: int
) -> None:
    def result(prompt: str, number: int) -> str:
        return "fail" if "What is 1?" in prompt and number % 2 else "pass"

    judge = FlappingJudge(server, result)
    whole = judged_suite(tmp_path / "whole", server, cases=2)
    assert whole.run("stability", "--out", "runs/one", "-q").returncode == 1
    calls = judge.calls
    judge.asked.clear()
    judge.calls = 0
    live = judged_suite(tmp_path / "killed", server, cases=2)
    with judge._lock:
        process = live.start("stability", "--out", "runs/one", "-q")
        judge.victim, judge.at = process.pid, at
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    judge.victim = None
    again = live.run("stability", "--resume", "one", "-q")
    assert again.returncode == 1, again.stderr
    # Twice only what was under way.
    assert judge.calls <= calls + 4
    variance = live.scorecard("one")["variance"]
    assert variance["judge"] == whole.scorecard("one")["variance"]["judge"]
    units = live.lines("one/judged-again", "units.jsonl")
    assert len({unit["key"] for unit in units}) == len(units)


def test_a_judge_that_flaps_passes_in_no_report_of_a_run_that_was_cut_short(
    tmp_path: Path, server: JudgeServer
) -> None:
    def result(prompt: str, number: int) -> str:
        return "fail" if number == 3 else "pass"

    FlappingJudge(server, result)
    live = judged_suite(tmp_path, server, cases=1)
    words = ("--repeats", "2", "--judge-repeats", "3", "--out", "runs/one", "-q")
    assert live.run("stability", *words).returncode == 1
    whole = live.scorecard("one")["gate"]["verdict"]
    assert whole == "incomplete"
    (tmp_path / "runs/one/scorecard.json").unlink()
    shown = live.run("report", "one").stdout
    assert "GATE INCOMPLETE" in shown and "GATE PASS" not in shown


def test_run_resume_goes_on_with_the_phase_too(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=1)
    assert report(live, "--out", "runs/one", "--repeats", "3")[0] == 0
    before, digest = judge.calls, live.scorecard("one")["digest"]
    assert live.run("run", "--resume", "one", "-q").returncode == 0
    assert judge.calls == before
    assert live.scorecard("one")["digest"] == digest
    assert live.scorecard("one")["variance"]["judge"]["stable"] == 1


def test_an_edited_judge_is_asked_again_about_everything(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=1)
    assert report(live, "--out", "runs/one", "--repeats", "2")[0] == 0
    assert judge.calls == 3
    path = live.package / "judges.py"
    path.write_text(path.read_text("utf-8").replace("It is kind.", "It is very kind."))
    assert report(live, "--resume", "one")[0] == 0
    assert judge.calls == 6
    assert len(live.lines("one/judged-again", "units.jsonl")) == 1


def test_an_ordinary_run_can_be_gone_on_with_as_the_phase(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)
    live = judged_suite(tmp_path, server, cases=1)
    assert live.run("run", "--out", "runs/one", "-q").returncode == 0
    code, found = report(live, "--resume", "one")
    assert (code, found["repeats"], found["judgements"]) == (0, 5, 5)
    # The first run and its verdict are kept.
    assert judge.calls == 1 + 4 + 4


def test_a_second_judge_is_part_of_what_is_asked_again_and_not_of_its_agreement(
    tmp_path: Path, server: JudgeServer
) -> None:
    judge = FlappingJudge(server, steady)

    def two_minds(asked: Asked) -> Weather:
        if asked.body["model"] == "judge-1":
            return judge.answer(asked)
        ref = {"obs": "output", "path": "", "value": "It is"}
        return CHAT.answer(verdict_text("pass", refs=[ref]), model="judge-2")

    server.answer = two_minds
    judge._result = lambda prompt, number: "fail"
    more = (
        '[verifier]\nprovider = "openai-http"\nmodel = "judge-2"\n'
        f'base_url = "{server.base_url}"'
    )
    live = judged_suite(tmp_path, server, cases=1, more=more)
    code, found = report(live, "--out", "runs/one", "--repeats", "2")
    # Each fail is refuted: both say the same each time, and it decides nothing.
    row = of(found, "kind")
    assert row["judge"] == {"stable": 1, "flapping": 0, "underSampled": 0}
    assert (code, row["subject"]["underSampled"]) == (3, 1)
    assert any("judge-2: asked about 2 verdicts" in note for note in found["notes"])
    usage = live.scorecard("one")["usage"]
    assert usage["judge"]["calls"] == usage["verifier"]["calls"] == 3


# -- both paths ------------------------------------------------------------------


def test_verdict_files_of_a_flapping_suite_are_held_to_the_same(tmp_path: Path) -> None:
    criteria = f"{HALF}, Criterion(judge=judges.kind)"
    live = code_suite(tmp_path, WRONG, criteria=criteria)
    live.run("run", "--no-judge", "--repeats", "2", "--out", "runs/one", "-q")
    done = live.run("prep", "--run", "one", "--model", "judge-2026-01-01", "-q")
    assert done.returncode == 0, done.stderr
    packets = tmp_path / "matrix/packets"
    for entry in read_index(packets).entries:
        packet = json.loads((packets / entry.file).read_text("utf-8"))
        answer = packet["transcript"][-1]["content"]
        verdict = {
            "criterionId": "kind",
            "critique": "It answers.",
            "result": "pass",
            "confidence": 0.8,
            "refs": [{"obs": "output", "path": "", "value": answer}],
        }
        record = {
            "trajectoryId": packet["trajectoryId"],
            "judgeModel": "judge-2026-01-01",
            "temperature": 0,
            "verdicts": [verdict],
        }
        (packets / entry.verdict_file).write_text(json.dumps(record), "utf-8")
    assert live.run("aggregate", "--out", "runs/two", "-q").returncode == 3
    because = live.scorecard("two")["gate"]["components"][0]["because"]
    assert "`exact` is indeterminate" in because[0] and "1 case flaps" in because[0]
    forced = live.run("aggregate", "--allow-flapping", "-q", "--out", "runs/three")
    assert forced.returncode == 0, forced.stderr
    assert "forced: `exact` passes" in forced.stdout
    words = ("--traces", "runs/one/traces.jsonl", "--replay", "matrix/verdicts")
    replayed = live.run("run", *words, "--out", "runs/four", "-q")
    assert replayed.returncode == 3
    assert (
        live.scorecard("four")["variance"] == live.scorecard("two")["variance"]
    ), "both paths see the same spread"
    # Of the judge, verdict files show nothing.
    code, found = report(live, *words, "--repeats", "2")
    assert (code, found["judge"]["stable"], "judgements" in found) == (1, 0, False)
