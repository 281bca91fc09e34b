"""A run in one process: what stops it, what it refuses, what it never counts wrongly."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from helix_runtime.canonical import key_bytes
from helix_runtime.case import Case
from helix_runtime.criterion import Check, Criterion, Judge, Scope, check, rate
from helix_runtime.folder import SuiteFolder
from helix_runtime.journal import case_mark, marks_of, unit_key, yardsticks
from helix_runtime.pin import Pin
from helix_runtime.plan import RunPlan, RunResult
from helix_runtime.pool import GaveUp, Pool, Watch
from helix_runtime.record import replace
from helix_runtime.refusal import Refusal
from helix_runtime.runner import execute_run
from helix_runtime.suite import Suite
from helix_runtime.targets.python_target import PythonTarget
from helix_runtime.trace import Span, Trace
from helix_runtime.unit import (
    UNROUTED,
    Judgement,
    JudgeUsage,
    Judging,
    NoJudge,
    Unit,
    decider_parts,
    unit_from_record,
)
from helix_runtime.unitf import trace_from_record, trace_of_answer
from helix_runtime.verdict import Verdict, could_not_judge, failed, passed, uncertain
from helix_runtime.worker import Task, Worker
from support.decisions import suite as some_suite
from support.live_suite import rows

ANYTHING: Any = object()
PIN = Pin(provider="openai", model="judge-2026-01-01")


@check("exact", "The answer is the expected text.")
def exact(case: Case, trace: Trace) -> Verdict:
    return passed("it is") if trace.answer == case.expected else failed("it is not")


def said_to(case: Case) -> str:
    """The expected text, from the query: a subject never sees what it should say."""
    return f"It is {case.query[8:-1]}."


def named(name: str) -> Check:
    return Check(name, exact.statement, "", exact.function)


def judge(name: str) -> Judge:
    return Judge(name, f"It is {name}.", "It is.", "It is not.")


class Kind:
    """Judges everything kind, and remembers what it was asked."""

    digest = "kind-1"

    def __init__(self, say: Callable[[Case], Judgement | None] | None = None) -> None:
        self.asked: Counter[tuple[str, str, int]] = Counter()
        self._say = say

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        self.asked[(case.id, criterion.id, repeat)] += 1
        if self._say is not None:
            return self._say(case)
        return Judgement(verdict=passed("it is kind"), model=PIN.model)


class Runs:
    """A folder with a dataset, and runs over it."""

    def __init__(self, root: Path, cases: Iterable[Mapping[str, Any]]) -> None:
        (root / "p").mkdir(parents=True)
        text = "".join(json.dumps(row) + "\n" for row in cases)
        (root / "dataset.jsonl").write_text(text, "utf-8")
        self.folder = SuiteFolder(root=root, package="p")
        self.out = root / "runs" / "a"

    def run(
        self,
        *criteria: Criterion,
        target: Callable[[Case], Any] = lambda case: said_to(case),
        judging: Judging | None = None,
        **changes: Any,
    ) -> RunResult:
        return execute_run(
            RunPlan(
                folder=self.folder,
                suite=self.suite(*criteria),
                out=self.out,
                run_id="a",
                started="2026-01-01T00:00:00Z",
                mode="code-written",
                target=PythonTarget("python:t:t", target),
                judging=judging or NoJudge(),
                pin=None if judging is None else PIN,
                **changes,
            )
        )

    def suite(self, *criteria: Criterion) -> Suite:
        return some_suite(*(criteria or (Criterion(check=exact),)))

    def records(self, name: str) -> list[dict[str, Any]]:
        text = (self.out / name).read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]


def counts(result: RunResult, criterion: str = "exact") -> dict[str, int]:
    for row in result.scorecard["criteria"]:
        if row["criterionId"] == criterion:
            return {name: n for name, n in row["counts"].items() if n}
    raise KeyError(criterion)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path, rows(6))


# -- what comes out ----------------------------------------------------------------


def test_the_same_run_gives_the_same_digest_at_any_concurrency(tmp_path: Path) -> None:
    found = set()
    for concurrency in (1, 3, 16):
        runs = Runs(tmp_path / str(concurrency), rows(40))
        result = runs.run(
            Criterion(check=exact),
            Criterion(judge=judge("kind"), severity="CRIT"),
            Criterion(judge=judge("brief"), passes=rate(">= 0.5")),
            target=lambda case: said_to(case) if case.id[-1] != "7" else "no",
            judging=Kind(),
            repeats=2,
            concurrency=concurrency,
        )
        assert counts(result) == {"pass": 72, "fail": 8}
        assert counts(result, "brief") == {"pass": 80}
        found.add(result.scorecard["digest"])
    assert len(found) == 1


def test_every_key_is_that_of_the_unit_however_it_came_about(runs: Runs) -> None:
    criteria = (Criterion(check=exact), Criterion(judge=judge("kind")))
    judging = Kind()
    runs.run(*criteria, judging=judging, repeats=2)
    cases = {case.id: (case, line) for case, line in runs.folder.rows()}
    traces = {r["traceId"]: trace_from_record(r) for r in runs.records("traces.jsonl")}
    by_id = {criterion.id: criterion for criterion in criteria}
    from helix_runtime.code_digest import CodeDigests

    digests = CodeDigests(runs.folder.package_folder)
    for record in runs.records("units.jsonl"):
        unit = unit_from_record(record)
        _, line_digest = cases[unit.case_id]
        criterion = by_id[unit.criterion_id]
        code = "" if criterion.check is None else digests.of(criterion.check)
        decider = decider_parts(criterion, code_digest=code, judging=judging)
        parts = key_bytes(
            line_digest,
            traces[unit.trace_id].digest,
            criterion.id,
            str(unit.repeat),
            *decider,
        )
        (yardstick,) = yardsticks([criterion], [decider], judging)
        assert unit.key == unit_key(case_mark(line_digest) + yardstick, parts)
        assert marks_of(unit.key) == (case_mark(line_digest), yardstick)


def test_a_yardstick_is_the_criterions_own_whoever_judges(runs: Runs) -> None:
    def mark(criterion: Criterion, judging: Judging, code: str = "c") -> str:
        decider = decider_parts(criterion, code_digest=code, judging=judging)
        (found,) = yardsticks([criterion], [decider], judging)
        return found

    kind, other = Kind(), Kind()
    other.digest = "another model"
    judged, checked = Criterion(judge=judge("kind")), Criterion(check=exact)
    assert mark(judged, kind) == mark(judged, other) != mark(judged, NoJudge())
    assert mark(checked, kind) == mark(checked, NoJudge())
    assert mark(checked, kind) != mark(checked, kind, code="edited")
    reworded = Criterion(judge=replace(judge("kind"), pass_when="It smiles."))
    assert mark(judged, kind) != mark(reworded, kind)
    assert marks_of("k" * 12) is None


def test_the_unit_of_a_check_is_what_its_constructor_makes(runs: Runs) -> None:
    (case, digest), *_ = runs.folder.rows()
    trace = trace_of_answer(trace_id="t", query="q", output="a")
    verdict = passed("fine")
    unit = Worker._unit(
        Task(case, digest, 2, 0), trace, Criterion(check=exact), "k", verdict
    )
    assert vars(unit) == vars(
        Unit(
            key="k",
            case_id=case.id,
            criterion_id="exact",
            repeat=2,
            trace_id="t",
            verdict=verdict,
            decided_by="code",
        )
    )


def test_a_case_out_of_scope_is_na_before_any_judge_is_asked(runs: Runs) -> None:
    judging = Kind()
    scope = Scope(datasets=["golden"])
    result = runs.run(Criterion(judge=judge("kind"), applies_to=scope), judging=judging)
    assert counts(result, "kind") == {"na": 6}
    assert not judging.asked
    assert result.exit_code == 3


def test_a_hybrid_asks_its_judge_only_where_code_could_not_decide(runs: Runs) -> None:
    @check("kind", "It is kind.")
    def maybe(case: Case, trace: Trace) -> Verdict:
        return passed("clearly") if case.id[-1] in "024" else uncertain("unclear")

    judging = Kind()
    result = runs.run(Criterion(check=maybe, judge=judge("kind")), judging=judging)
    assert counts(result, "kind") == {"pass": 6}
    assert {case_id for case_id, _, _ in judging.asked} == {
        "case-0001",
        "case-0003",
        "case-0005",
    }


def test_a_unit_that_no_judge_decides_is_missing_and_never_a_pass(runs: Runs) -> None:
    result = runs.run(Criterion(judge=judge("kind")))
    assert counts(result, "kind") == {"missing": 6}
    assert result.exit_code == 3
    assert runs.records("units.jsonl") == []
    (row,) = result.scorecard["criteria"]
    assert row["blockedBy"] == {"kind": "scope", "text": "no judge was asked"}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda case, trace: 1 / 0, "ZeroDivisionError"),
        (lambda case, trace: True, "returned bool"),
        (lambda case, trace: None, "returned NoneType"),
        (lambda case, trace: passed("x", ANYTHING), "a ref that is none"),
        (lambda case, trace: passed("x", value=ANYTHING), "value is no number"),
        (lambda case, trace: Verdict(result="pass", critique=" "), "critique"),
        (lambda case, trace: Verdict(result=ANYTHING, critique="x"), "unknown result"),
    ],
)
def test_a_broken_check_is_an_error_and_decides_nothing(
    runs: Runs, function: Any, said: str
) -> None:
    broken = Criterion(check=Check("broken", "It is broken.", "", function))
    result = runs.run(broken, Criterion(check=exact))
    assert counts(result, "broken") == {"error": 6}
    assert counts(result) == {"pass": 6}
    assert result.exit_code == 3
    assert all(
        said in r["critique"]
        for r in runs.records("units.jsonl")
        if r["criterionId"] == "broken"
    )


def test_a_judge_that_raises_is_an_error_of_its_unit(runs: Runs) -> None:
    def say(case: Case) -> Judgement:
        raise RuntimeError("out of order")

    result = runs.run(Criterion(judge=judge("kind")), judging=Kind(say))
    assert counts(result, "kind") == {"error": 6}


def test_units_in_error_are_decided_again_when_a_run_goes_on(runs: Runs) -> None:
    def down(case: Case) -> Judgement:
        if case.id[-1] in "24":
            return Judgement(verdict=could_not_judge("an outage"))
        return Judgement(verdict=passed("kind"))

    criterion = Criterion(judge=judge("kind"))
    assert runs.run(criterion, judging=Kind(down)).exit_code == 3
    up = Kind()
    result = runs.run(criterion, judging=up, resume=True)
    assert {case_id for case_id, _, _ in up.asked} == {"case-0002", "case-0004"}
    assert counts(result, "kind") == {"pass": 6}
    assert len(runs.records("units.jsonl")) == 6


# -- what stops a run ------------------------------------------------------------


def test_fail_fast_stops_and_counts_the_rest_as_missing(runs: Runs) -> None:
    called: list[str] = []

    def target(case: Case) -> str:
        called.append(case.id)
        return "no"

    rate_tolerated = Criterion(check=named("often"), passes=rate(">= 0.5"))
    narrow = Criterion(check=named("narrow"), applies_to=Scope(datasets=["x"]))
    big = Runs(runs.folder.root / "big", rows(2000))
    result = big.run(
        Criterion(check=exact), rate_tolerated, narrow, target=target, fail_fast=True
    )
    assert result.exit_code == 1
    found = counts(result)
    assert found["fail"] >= 1 and sum(found.values()) == 2000
    assert found["fail"] == len(called) < 2000
    assert counts(result, "narrow") == {"na": 2000}
    assert "--fail-fast" in result.scorecard["run"]["notes"][0]
    # The rest is run when it goes on, and only the rest.
    again = big.run(
        Criterion(check=exact), rate_tolerated, narrow, target=target, resume=True
    )
    assert counts(again) == {"fail": 2000}
    assert sorted(called) == [row["id"] for row in rows(2000)]


def test_a_budget_that_is_used_up_stops_the_run(tmp_path: Path) -> None:
    def say(case: Case) -> Judgement:
        usage = JudgeUsage(input_tokens=1, output_tokens=1, cost_usd=1.0, calls=1)
        return Judgement(verdict=passed("kind"), usage=usage)

    runs = Runs(tmp_path, rows(500))
    judging = Kind(say)
    result = runs.run(
        Criterion(judge=judge("kind")), judging=judging, budget_usd=3, concurrency=1
    )
    assert result.exit_code == 3
    found = counts(result, "kind")
    assert found["pass"] == len(judging.asked) >= 4
    assert sum(found.values()) == 500 and found["missing"] > 0
    assert "budget of 3 USD" in result.scorecard["run"]["notes"][0]


def test_a_budget_says_what_it_cannot_count(tmp_path: Path) -> None:
    def target(case: Case) -> Trace:
        span = {"spanId": "s", "kind": "llm", "name": "m", "output": said_to(case)}
        cost = {} if case.id == "case-0001" else {"costUsd": 0.1}
        return trace_from_record({"traceId": case.id, "spans": [span], **cost})

    def notes(**budget: Any) -> list[str]:
        runs = Runs(tmp_path / repr(budget), rows(4))
        result = runs.run(Criterion(check=exact), target=target, **budget)
        found: list[str] = result.scorecard["run"].get("notes", [])
        return [note for note in found if "budget" in note]

    assert notes() == []
    said = "the budget leaves out what {} of the subject used: it is not known"
    assert notes(budget_usd=9) == [said.format("1 run")]
    assert notes(budget_tokens=9) == [said.format("4 runs")]


def test_a_call_that_hangs_is_given_up_and_the_run_goes_on(runs: Runs) -> None:
    gate = threading.Event()

    def target(case: Case) -> str:
        if case.id in ("case-0001", "case-0004"):
            gate.wait()
        return said_to(case)

    try:
        result = runs.run(target=target, timeout=0.2, concurrency=1)
    finally:
        gate.set()
    assert counts(result) == {"pass": 4, "uncertain": 2}
    errors = [r["ext"]["helix"].get("error") for r in runs.records("traces.jsonl")]
    assert errors.count("timed out after 0.2 s") == 2
    assert len(runs.records("traces.jsonl")) == 6


def test_a_target_that_never_comes_back_ends_the_run(tmp_path: Path) -> None:
    gate = threading.Event()
    runs = Runs(tmp_path, rows(200))

    def target(case: Case) -> str:
        gate.wait()
        return ""

    try:
        with pytest.raises(Refusal, match="did not come back") as caught:
            runs.run(target=target, timeout=0.05, concurrency=16)
    finally:
        gate.set()
    assert caught.value.exit_code == 4


def test_an_interrupted_run_keeps_what_it_decided(runs: Runs) -> None:
    class Impatient:
        def update(
            self,
            *,
            done: int,
            total: int | None,
            failed: int,
            waiting: str | None = None,
        ) -> None:
            raise KeyboardInterrupt

        def close(self) -> None:
            pass

    with pytest.raises(KeyboardInterrupt):
        runs.run(watcher=Impatient())
    held = len(runs.records("units.jsonl"))
    assert held
    called: list[str] = []

    def target(case: Case) -> Any:
        called.append(case.id)
        return said_to(case)

    result = runs.run(target=target, resume=True)
    assert len(called) == 6 - held
    assert result.exit_code == 0


def test_abstentions_that_go_to_nobody_are_counted_beside_the_gate(runs: Runs) -> None:
    unsure = Verdict(result="uncertain", critique="Who is the customer?")
    judging = Kind(lambda case: Judgement(verdict=unsure, notes=(UNROUTED,)))
    result = runs.run(Criterion(judge=judge("kind")), judging=judging)
    assert result.exit_code == 3
    (note,) = result.scorecard["run"]["notes"]
    assert note.startswith("6 abstentions")
    # The same where the journal holds them.
    again = runs.run(Criterion(judge=judge("kind")), judging=judging, resume=True)
    assert again.scorecard["run"]["notes"] == [note]


# -- reviewer is not executor ----------------------------------------------------


def answered_by(model: str) -> Callable[[Case], Trace]:
    def target(case: Case) -> Trace:
        span = Span(id="a", name="a", kind="llm", output=said_to(case))
        return Trace(id="x", spans=(span,), ext={"agent": {"model": model}})

    return target


@pytest.mark.parametrize("model", [PIN.model, f"openai/{PIN.model.upper()}", "judge"])
def test_a_model_is_not_accepted_as_its_own_judge(runs: Runs, model: str) -> None:
    judging = Kind()
    with pytest.raises(Refusal, match="allow_self_judging") as caught:
        runs.run(
            Criterion(judge=judge("kind")), target=answered_by(model), judging=judging
        )
    assert caught.value.exit_code == 2
    assert not judging.asked
    # Where no judge is needed, it may be whoever it is.
    assert (
        runs.run(target=answered_by(model), judging=judging, resume=True).exit_code == 0
    )


def test_self_judging_that_is_allowed_stands_on_the_scorecard(runs: Runs) -> None:
    result = runs.run(
        Criterion(judge=judge("kind")),
        target=answered_by(PIN.model),
        judging=Kind(),
        allow_self_judging=True,
    )
    assert result.exit_code == 0
    assert "6 runs" in result.scorecard["run"]["notes"][0]


def test_another_model_may_judge(runs: Runs) -> None:
    result = runs.run(
        Criterion(judge=judge("kind")), target=answered_by("other"), judging=Kind()
    )
    assert result.exit_code == 0
    assert "notes" not in result.scorecard["run"]


# -- threads ---------------------------------------------------------------------


def test_one_thread_serves_until_results_keep_it_waiting() -> None:
    barrier = threading.Barrier(4)
    threads: set[int] = set()

    def work(number: int, task: str) -> str:
        threads.add(threading.get_ident())
        if task == "slow":
            barrier.wait(60)
        return task

    pool: Pool[str, str] = Pool(work, size=4, watch=None)
    for _ in range(4):
        pool.submit("slow")  # over only when four threads are at it
    done: list[str] = []
    while pool.in_flight:
        results, hung = pool.collect()
        assert not hung
        done += [result for _, result in results]
    pool.close()
    assert done == ["slow"] * 4
    assert len(threads) == 4


def test_more_threads_are_called_for_only_while_a_task_waits_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    class Nothing:
        """No result comes in."""

        def get(self, timeout: float) -> None:
            waits.append(timeout)
            raise Empty

        def get_nowait(self) -> None:
            raise Empty

        def put(self, result: object) -> None:
            """Lose it."""

    free = threading.Event()
    pool: Pool[str, bool] = Pool(lambda number, task: free.wait(60), size=4, watch=None)
    monkeypatch.setattr(pool, "_results", Nothing())
    for task in ("one", "two"):
        pool.submit(task)
    for _ in range(3):
        pool.collect()
    soon, *later = waits
    # The second task has its thread now: there is nothing to look for.
    assert later == [later[0]] * 2 and soon < later[0]
    free.set()
    pool.close()


def test_whoever_is_first_decides_whether_a_call_was_late() -> None:
    watch = Watch(0.0)
    watch.start(1)
    assert watch.late() == [1]
    with pytest.raises(GaveUp):
        watch.end(1)
    watch = Watch(1000)
    watch.start(1)
    assert watch.late() == []
    watch.end(1)
