"""Judged runs as users start them: budgets, estimates, the cache, canaries, Path A.

The suites run in a bare interpreter: the plain path judges without any SDK.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.judges.prompt import REFUTE
from support.judge_server import JudgeServer, judge_server
from support.live_suite import JUDGED, JUDGES, LiveSuite, live_suite, rows
from support.wires import CHAT, Asked, Weather, verdict_text

NAMED = """
[judge]
provider = "openai-http"
model = "{model}"
base_url = "{url}"
"""
PRICE = """
[prices."judge-1"]
input = 1000.0
output = 1000.0
"""


def answer(asked: Asked) -> Weather:
    """A pass that cites the answer of the run."""
    ref = {"obs": "output", "path": "", "value": "It is"}
    return CHAT.answer(verdict_text(refs=[ref]), model=str(asked.body["model"]))


def unfounded(asked: Asked) -> Weather:
    """A pass that cites nothing."""
    return CHAT.answer(verdict_text(refs=[]), model=str(asked.body["model"]))


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        running.answer = answer
        yield running


def suite(
    tmp_path: Path, server: JudgeServer, more: str = "", **changes: Any
) -> LiveSuite:
    settings = NAMED.format(model="judge-1", url=server.base_url) + more
    values: dict[str, Any] = {"cases": rows(6), "criteria": JUDGED, **changes}
    return live_suite(tmp_path, settings=settings, **values)


def test_a_judged_run_gates_and_counts_tokens_and_cost_by_role(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, PRICE)
    done = live.run("run", "--out", "runs/one", "-q")
    assert done.returncode == 0, done.stderr
    usage = live.scorecard("one")["usage"]
    assert usage["judge"]["calls"] == 6
    assert usage["judge"]["inputTokens"] == 1200
    assert usage["judge"]["costUsd"] == 1.38
    assert usage["subject"]["costUsd"] is None, "unknown is never zero"
    assert usage["verifier"]["calls"] == 0


def test_an_unknown_price_is_an_unknown_cost(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    assert live.run("run", "--out", "runs/one", "-q").returncode == 0
    assert live.scorecard("one")["usage"]["judge"]["costUsd"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget-usd", "0.5"], "budget of 0.5 USD is used up"),
        (["--budget-tokens", "500"], "budget of 500 tokens is used up"),
    ],
)
def test_a_used_up_budget_stops_cleanly_with_an_incomplete_run(
    tmp_path: Path, server: JudgeServer, words: list[str], said: str
) -> None:
    live = suite(tmp_path, server, PRICE)
    done = live.run(
        "run", "--out", "runs/one", "--concurrency", "1", "--no-cache", *words
    )
    assert done.returncode == 3, done.stderr
    card = live.scorecard("one")
    assert any(said in note for note in card["run"]["notes"])
    asked = len(server.asked)
    assert 0 < asked < 6
    counts = live.counts("one", "kind")
    assert counts["missing"] == 6 - counts["pass"]
    again = live.run("run", "--resume", "one", "-q")
    assert again.returncode == 0, again.stderr
    assert len(server.asked) == 6, "what was judged is not judged again"


def test_a_budget_in_dollars_without_a_price_is_refused(
    tmp_path: Path, server: JudgeServer
) -> None:
    done = suite(tmp_path, server).run("run", "--budget-usd", "1")
    assert done.returncode == 2
    assert '[prices."judge-1"]' in done.stderr and server.asked == []


def test_an_estimate_calls_nobody_and_needs_no_credentials(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, PRICE)
    text = (
        (live.root / "evals.toml").read_text().replace(server.base_url, "https://x.y")
    )
    live.write("evals.toml", text)
    done = live.run("run", "--estimate", "--repeats", "3")
    assert done.returncode == 0, done.stderr
    assert "18 calls of judge-1" in done.stdout and "US dollars" in done.stdout
    assert "assumed" in done.stdout
    assert server.asked == [] and not (live.root / "runs").exists()


def test_an_estimate_of_recorded_traces_measures_them(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    live.run("run", "--out", "runs/one", "-q")
    traces = live.root / "runs/one/traces.jsonl"
    done = live.run("run", "--estimate", "--traces", traces)
    assert "6 calls" in done.stdout and "measured on the recorded" in done.stdout
    assert "price of judge-1 is not known" in done.stdout
    done = live.run("run", "--estimate")
    assert "measured on 6 runs" in done.stdout


# -- the cache -------------------------------------------------------------------------


def test_a_second_run_pays_for_nothing_and_comes_to_the_same(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, PRICE)
    live.run("run", "--out", "runs/one", "-q")
    done = live.run("run", "--out", "runs/two")
    assert done.returncode == 0 and len(server.asked) == 6
    assert "6 judgements are those of earlier runs" in done.stdout
    assert live.scorecard("one")["digest"] == live.scorecard("two")["digest"]
    live.run("run", "--out", "runs/three", "--no-cache", "-q")
    assert len(server.asked) == 12


def test_what_is_asked_anew_is_what_later_runs_take(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, PRICE)
    better, server.answer = server.answer, unfounded
    assert live.run("run", "--out", "runs/one", "-q").returncode == 3
    server.answer = better
    assert live.run("run", "--out", "runs/two", "--no-cache", "-q").returncode == 0
    assert live.run("run", "--out", "runs/three", "-q").returncode == 0
    assert len(server.asked) == 12


def test_what_errors_used_stays_counted_when_they_are_asked_again(
    tmp_path: Path, server: JudgeServer
) -> None:
    def used(run: str) -> tuple[int, int, float]:
        found = live.scorecard(run)["usage"]["judge"]
        return found["calls"], found["inputTokens"], round(found["costUsd"] / 0.23, 6)

    def unreadable(asked: Asked) -> Weather:
        return CHAT.answer("no verdict", model="judge-1")

    live = suite(tmp_path, server, PRICE)
    server.answer = unreadable
    assert live.run("run", "--out", "runs/one", "-q").returncode == 3
    assert live.counts("one", "kind")["error"] == 6
    calls = len(server.asked)
    assert used("one") == (calls, 200 * calls, calls)
    # Once more in vain, then at last; a finished run that is gone on with adds nothing.
    live.run("run", "--resume", "one", "-q")
    server.answer = answer
    for _ in range(2):
        done = live.run("run", "--resume", "one", "-q")
        assert done.returncode == 0, done.stderr
        calls = len(server.asked)
        assert used("one") == (calls, 200 * calls, calls)
    assert calls == 2 * 12 + 6
    assert "edited" not in done.stdout


def test_errors_that_are_asked_again_are_called_so(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    server.answer = lambda asked: CHAT.answer("no verdict", model="judge-1")
    live.run("run", "--out", "runs/one", "-q")
    server.answer = answer
    done = live.run("run", "--resume", "one")
    assert "6 errors were there, and asked for again" in " ".join(done.stdout.split())
    assert "edited" not in done.stdout
    judges = live.package / "judges.py"
    judges.write_text(judges.read_text("utf-8").replace("It is kind.", "It is nice."))
    done = live.run("run", "--resume", "one")
    told = " ".join(done.stdout.split())
    assert "6 lines of the journal stand no longer" in told and "edited since" in told


def test_what_errors_used_is_charged_to_the_budget(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    server.answer = lambda asked: CHAT.answer("no verdict", model="judge-1")
    live.run("run", "--out", "runs/one", "-q")
    before = len(server.asked)
    words = ["--concurrency", "1", "--budget-tokens", str(230 * before + 100)]
    done = live.run("run", "--resume", "one", "-q", *words)
    assert done.returncode == 3, done.stderr
    assert before < len(server.asked) < before + 12


def test_a_run_that_asks_anew_does_so_too_when_it_goes_on(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, PRICE)
    assert live.run("run", "--out", "runs/one", "-q").returncode == 0
    limit = ["--concurrency", "1", "--budget-tokens", "500"]
    stopped = live.run("run", "--out", "runs/two", "--no-cache", "-q", *limit)
    assert stopped.returncode == 3, stopped.stderr
    assert 6 < len(server.asked) < 12
    assert live.run("run", "--resume", "two", "-q").returncode == 0
    assert len(server.asked) == 12


def test_what_the_cache_gives_is_not_charged_to_the_budget(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, PRICE)
    live.run("run", "--out", "runs/one", "-q")
    done = live.run("run", "--out", "runs/two", "--budget-usd", "0.01", "-q")
    assert done.returncode == 0, done.stderr


def test_the_cache_command_shows_and_prunes(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    assert "empty" in live.run("cache").stdout
    live.run("run", "--out", "runs/one", "-q")
    shown = live.run("cache", "stats")
    assert "6 answers" in shown.stdout and "judge-1" in shown.stdout
    assert "0 answers removed" in live.run("cache", "prune", "--older-than", "9").stdout
    assert "6 answers removed" in live.run("cache", "prune").stdout
    live.run("run", "--out", "runs/two", "-q")
    assert len(server.asked) == 12


# -- what stops a run --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("openai", "pip install openai"),
        ("openai-responses", "pip install openai"),
        ("anthropic", "pip install anthropic"),
        ("google", "pip install google-genai"),
    ],
)
def test_a_missing_sdk_is_one_line_before_anything_runs(
    tmp_path: Path, provider: str, said: str
) -> None:
    live = live_suite(tmp_path, cases=rows(2), criteria=JUDGED)
    done = live.run("run", "--judge", f"{provider}:m-1")
    assert done.returncode == 4
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not (live.root / "runs").exists()


def test_a_missing_key_is_one_line_before_anything_runs(tmp_path: Path) -> None:
    live = live_suite(tmp_path, cases=rows(2), criteria=JUDGED)
    done = live.run("run", "--judge", "openai-http:m-1")
    assert done.returncode == 4 and "set OPENAI_API_KEY" in done.stderr


def test_a_refused_parameter_stops_the_run_and_names_the_setting(
    tmp_path: Path, server: JudgeServer
) -> None:
    server.answer = lambda asked: CHAT.failure("temperature")
    live = suite(tmp_path, server)
    done = live.run("run", "--out", "runs/one")
    assert done.returncode == 4
    assert 'sampling = "model-default"' in done.stderr
    text = (live.root / "evals.toml").read_text()
    server.answer = answer
    live.write("evals.toml", text + 'sampling = "model-default"\n')
    assert live.run("run", "--out", "runs/two", "-q").returncode == 0
    card = live.scorecard("two")
    assert card["pin"]["temperature"] is None
    assert any("reruns can differ" in note for note in card["run"]["notes"])


def test_a_used_up_account_ends_every_unit_as_an_error_with_its_cause(
    tmp_path: Path, server: JudgeServer
) -> None:
    server.script = [answer_of(server), CHAT.failure("quota")]
    live = suite(tmp_path, server)
    done = live.run("run", "--out", "runs/one", "--concurrency", "1", "-q")
    assert done.returncode == 3, done.stderr
    assert live.counts("one", "kind") == {"pass": 1, "error": 5}
    assert len(server.asked) == 2


def answer_of(server: JudgeServer) -> Weather:
    ref = {"obs": "output", "path": "", "value": "It is"}
    return CHAT.answer(verdict_text(refs=[ref]), model="judge-1")


def test_a_floating_alias_is_said_before_it_costs_anything(
    tmp_path: Path, server: JudgeServer
) -> None:
    done = suite(tmp_path, server).run("run", "--judge", "openai-http:gpt-4.1", "-q")
    assert "warning: gpt-4.1 names no dated version" in done.stderr


def test_examples_that_break_the_rules_stop_the_run(
    tmp_path: Path, server: JudgeServer
) -> None:
    judges = (
        "from ._runtime.criterion import Example, Judge\n\n"
        'ONE = Example(label="pass", excerpt="a", critique="b", result="pass")\n'
        'kind = Judge("kind", "Kind.", "It is.", "It is not.", examples=[ONE])\n'
    )
    done = suite(tmp_path, server, judges=judges).run("run")
    assert done.returncode == 2 and "fail, borderline" in done.stderr


# -- the second judge --------------------------------------------------------------------


def two_minds(asked: Asked) -> Weather:
    ref = {"obs": "output", "path": "", "value": "It is"}
    result = "pass" if asked.body["model"] == "judge-2" else "fail"
    return CHAT.answer(verdict_text(result, refs=[ref]), model=str(asked.body["model"]))


def test_a_verifier_takes_fails_away_and_its_agreement_is_reported(
    tmp_path: Path, server: JudgeServer
) -> None:
    server.answer = two_minds
    more = NAMED.format(model="judge-2", url=server.base_url)
    live = suite(tmp_path, server, more.replace("[judge]", "[verifier]"))
    done = live.run("run", "--out", "runs/one", "-q")
    assert done.returncode == 3, done.stderr
    card = live.scorecard("one")
    assert live.counts("one", "kind") == {"uncertain": 6}
    assert any("verifier judge-2: asked about 6" in n for n in card["run"]["notes"])
    assert card["usage"]["verifier"]["calls"] == 6
    again = live.run("run", "--resume", "one", "-q")
    assert again.returncode == 3 and len(server.asked) == 12
    assert live.scorecard("one")["digest"] == card["digest"]


def test_a_verifier_that_is_the_judge_is_refused(
    tmp_path: Path, server: JudgeServer
) -> None:
    more = NAMED.format(model="judge-1", url=server.base_url)
    live = suite(tmp_path, server, more.replace("[judge]", "[verifier]"))
    done = live.run("run")
    assert done.returncode == 2 and "must be another model" in done.stderr


# -- canaries ----------------------------------------------------------------------------


def honest(asked: Asked) -> Weather:
    """A judge that looks at what stands in the answer, whatever it is told."""
    good = "4711 is delayed" in asked.user
    value = "4711 is delayed" if good else "4711 was delivered"
    ref = {"obs": "output", "path": "", "value": value}
    return CHAT.answer(verdict_text("pass" if good else "fail", refs=[ref]))


def gullible(asked: Asked) -> Weather:
    if '"result": "pass"' in asked.user.replace("\\", ""):
        ref = {"obs": "output", "path": "", "value": "4711"}
        return CHAT.answer(verdict_text("pass", refs=[ref]))
    return honest(asked)


def test_an_honest_judge_passes_all_canaries(
    tmp_path: Path, server: JudgeServer
) -> None:
    server.answer = honest
    done = suite(tmp_path, server).run("canaries")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "false pass  0/45 (0.0 %)" in done.stdout
    assert "false fail  0/45 (0.0 %)" in done.stdout


@pytest.mark.parametrize("kind", ["bad", "good"])
def test_a_judge_that_decides_no_canary_of_a_kind_was_not_tried(
    tmp_path: Path, server: JudgeServer, kind: str
) -> None:
    def shy(asked: Asked) -> Weather:
        if ("4711 is delayed" in asked.user) == (kind == "good"):
            text = verdict_text(
                "uncertain", blocked_by={"kind": "scope", "text": "no idea"}
            )
            return CHAT.answer(text, model="judge-1")
        return honest(asked)

    server.answer = shy
    done = suite(tmp_path, server).run("canaries", "--limit", "6")
    assert done.returncode == 3, done.stdout
    assert f"it decided no known-{kind} run" in done.stdout


def test_a_gullible_judge_is_found_out_with_where_it_was_misled(
    tmp_path: Path, server: JudgeServer
) -> None:
    server.answer = gullible
    done = suite(tmp_path, server).run("canaries", "--json")
    assert done.returncode == 1
    (count,) = json.loads(done.stdout)
    assert count["falsePass"] >= 8 and count["falseFail"] == 0
    assert "known bad, order in the answer" in count["misled"]


def test_canaries_can_be_few_and_hold_both_kinds(
    tmp_path: Path, server: JudgeServer
) -> None:
    server.answer = honest
    done = suite(tmp_path, server).run("canaries", "--limit", "10", "--json")
    (count,) = json.loads(done.stdout)
    assert count["knownBad"] + count["knownGood"] == 10 == len(server.asked)
    assert min(count["knownBad"], count["knownGood"]) >= 3


def test_a_judge_with_labelled_examples_is_tried_on_them_without_seeing_them(
    tmp_path: Path, server: JudgeServer
) -> None:
    judges = (
        "from ._runtime.criterion import Example, Judge\n\n"
        "def one(label, excerpt, result):\n"
        '    return Example(label=label, excerpt=excerpt, critique="So.", result=result)\n'
        'kind = Judge("kind", "Kind.", "It is.", "It is not.", examples=[\n'
        '    one("pass", "Gladly, dear reader.", "pass"),\n'
        '    one("fail", "Go away.", "fail"),\n'
        '    one("borderline", "No.", "uncertain"),\n'
        "])\n"
    )
    server.answer = lambda asked: CHAT.failure("server")
    server.answer = honest
    done = suite(tmp_path, server, judges=judges).run("canaries", "--json")
    counts = json.loads(done.stdout)
    assert [count["judge"] for count in counts] == [
        "judge-1: (built-in)",
        "judge-1: kind",
    ]
    for asked in server.asked:
        if "Go away." in asked.user:
            assert "Go away." not in asked.system


# -- Path A ------------------------------------------------------------------------------


def host(live: LiveSuite, folder: str, result: str) -> None:
    """Judge every packet of a folder as a host's agents would."""
    packets = live.root / "matrix" / folder
    for line in (packets / "dispatches.jsonl").read_text().splitlines():
        dispatch = json.loads(line)
        packet = json.loads((packets / dispatch["packet"]).read_text())
        verdicts = [
            {
                "criterionId": criterion["criterionId"],
                "critique": "Looked at it.",
                "result": result,
                "confidence": 0.8,
                "refs": [{"obs": "output", "path": "", "value": "It is"}],
            }
            for criterion in packet["criteria"]
        ]
        path = packets / dispatch["verdictFile"]
        path.write_text(
            json.dumps(
                {
                    "trajectoryId": packet["trajectoryId"],
                    "judgeModel": packet["pin"]["model"],
                    "temperature": 0,
                    "verdicts": verdicts,
                }
            )
        )


def test_both_paths_on_the_same_runs_and_how_far_they_agree(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    assert live.run("run", "--out", "runs/api", "-q").returncode == 0
    prep = live.run("prep", "--run", "api", "--model", "host-1")
    assert prep.returncode == 0, prep.stderr
    host(live, "packets", "fail")
    done = live.run("aggregate", "--out", "runs/host", "-q")
    assert done.returncode == 1, done.stderr
    shown = live.run("agreement", "api", "host")
    assert shown.returncode == 0
    assert "kind: 0 of 6 agree" in shown.stdout and "pass against fail" in shown.stdout


def test_where_no_fail_gates_it_is_said_how_passes_are_verified(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    live.run("run", "--out", "runs/api", "--no-judge", "-q")
    live.run("prep", "--run", "api", "--model", "host-1")
    host(live, "packets", "pass")
    wrote = live.run("verify", "--model", "host-2")
    assert wrote.returncode == 0, wrote.stderr
    assert "0 verdicts to refute" in wrote.stdout and "--passes" in wrote.stdout
    wrote = live.run("verify", "--model", "host-2", "--passes", "--out", "matrix/all")
    assert "6 packets with 6 verdicts to refute in matrix/all" in wrote.stdout


def test_a_second_host_judge_can_only_take_away(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    live.run("run", "--out", "runs/api", "--no-judge", "-q")
    live.run("prep", "--run", "api", "--model", "host-1")
    host(live, "packets", "fail")
    wrote = live.run("verify", "--model", "host-2")
    assert wrote.returncode == 0, wrote.stderr
    assert "6 packets with 6 verdicts to refute in matrix/verify" in wrote.stdout
    told = (live.root / "matrix/verify/JUDGE.md").read_text()
    assert "You are the second judge" in told and REFUTE in told
    # It is shown what the second judge of the other path is shown.
    file = next((live.root / "matrix/verify").glob("*.packet.json"))
    packet = json.loads(file.read_text())
    condition = packet["criteria"][0]["passCondition"]
    assert "First verdict: Everything between a line <<<BEGIN" in condition
    assert '"critique":"Looked at it."' in condition
    assert '"refs":[["output","","It is"]],"result":"fail"' in condition
    words = ("aggregate", "--verify", "matrix/verify", "-q", "--out")
    early = live.run(*words, "runs/early")
    assert early.returncode == 3 and "missing" in early.stderr
    host(live, "verify", "pass")
    done = live.run(*words, "runs/two")
    assert done.returncode == 3, done.stderr
    assert live.counts("two", "kind") == {"uncertain": 6}
    notes = live.scorecard("two")["run"]["notes"]
    assert any("6 refuted" in note for note in notes)


def test_a_first_verdict_that_changed_since_is_not_refuted_by_what_was_said_before(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    live.run("run", "--out", "runs/api", "--no-judge", "-q")
    live.run("prep", "--run", "api", "--model", "host-1")
    host(live, "packets", "fail")
    live.run("verify", "--model", "host-2")
    host(live, "verify", "pass")
    file = sorted((live.root / "matrix/verdicts").glob("*.verdict.json"))[0]
    file.write_text(file.read_text().replace("Looked at it.", "Looked once more."))
    done = live.run("aggregate", "--verify", "matrix/verify", "-q")
    assert done.returncode == 3
    assert done.stderr.count("is not the one that was to be refuted") == 1
    live.run("verify", "--model", "host-2")
    again = live.run("aggregate", "--verify", "matrix/verify", "-q")
    assert again.returncode == 3 and "missing" in again.stderr, "it is asked again"
    host(live, "verify", "pass")
    done = live.run("aggregate", "--verify", "matrix/verify", "--out", "runs/x", "-q")
    assert live.counts("x", "kind") == {"uncertain": 6}, done.stderr


def test_a_second_judge_of_the_same_model_is_refused(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server)
    live.run("run", "--out", "runs/api", "--no-judge", "-q")
    live.run("prep", "--run", "api", "--model", "host-1")
    done = live.run("verify", "--model", "host-1")
    assert done.returncode == 2 and "another model" in done.stderr


def test_batches_hold_every_dispatch_once_within_their_tokens(
    tmp_path: Path, server: JudgeServer
) -> None:
    live = suite(tmp_path, server, judges=JUDGES)
    live.run("run", "--out", "runs/api", "--no-judge", "-q")
    live.run("prep", "--run", "api", "--model", "host-1", "--batch-tokens", "500")
    packets = live.root / "matrix/packets"
    batches = [
        json.loads(line)
        for line in (packets / "batches.jsonl").read_text().splitlines()
    ]
    dispatched = [
        json.loads(line)["packet"]
        for line in (packets / "dispatches.jsonl").read_text().splitlines()
    ]
    assert [file for batch in batches for file in batch["files"]] == dispatched
    assert len(batches) > 1
    for batch in batches:
        size = sum((packets / file).stat().st_size for file in batch["files"])
        assert abs(batch["tokens"] - size / 4) < len(batch["files"])
        assert batch["overLimit"] == (batch["tokens"] > 500)
        assert len(batch["files"]) == 1 or not batch["overLimit"]
