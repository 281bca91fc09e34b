"""A run: cases to traces to units to the scorecard, streaming and in flat memory.

Worker threads reach the target, run the checks and ask the judge; the main thread
reads the cases, keeps the journal and counts. Each judged unit is a task of its own,
so that ten criteria of one case are judged side by side. `run`, `aggregate` and
pytest all go through `execute_run`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .canonical import content_key
from .case import Case
from .code_digest import CodeDigests, check_digests, suite_sha256
from .criterion import Criterion
from .decide import Tally
from .failures import SubjectFailures
from .folder import DatasetScan, SuiteFolder, blame, read_run_record
from .journal import TRACES, UNITS, Journal, lines_before
from .lock import FolderLock, FolderLocked
from .names import CaseNames
from .pin import same_model
from .plan import RunPlan, RunResult
from .pool import Pool, Watch
from .record import replace
from .redact import Redactor
from .refusal import CANT_CARRY_OUT, Refusal
from .scorecard import EXIT_CODE, RunInfo, build_scorecard, write_scorecard
from .selection import NARROWED
from .spending import Spending
from .targets import TargetNotWritten, TargetUnreachable
from .targets.recorded import (
    RecordedCount,
    coverage_of,
    index_cases,
    losses_of,
    read_recorded,
)
from .trace import Trace
from .unit import UNROUTED, Judging, Unit, decider_parts
from .verdict import not_applicable
from .whole_file import whole_file
from .worker import Outcome, Task, Worker

if TYPE_CHECKING:
    from .baseline.changes import Changes
    from .baseline.comparing import Comparing
    from .judges.judged_again import AgainTally

SCHEMA: Final = "helix-run/1"
NOT_COMPLETE: Final = "the run is not complete: "
MAX_HUNG: Final = 64
"""How many calls may hang for good before the run is stopped."""


def execute_run(plan: RunPlan) -> RunResult:
    """Carry out a run and write its folder: journal, scorecard and report.

    Raises Refusal where it can't be carried out; what was decided until then is in
    the journal, and `resume` goes on from there.
    """
    try:
        plan.out.mkdir(parents=True, exist_ok=True)
        was_there = (plan.out / "run.json").exists() or (plan.out / UNITS).exists()
        lock = FolderLock(plan.out)
        lock.take()
    except FolderLocked as held:
        raise Refusal(
            f"{plan.out} is in use by {held}: two runs can't share a folder"
        ) from held
    except OSError as error:
        raise Refusal(f"{plan.out} can't be written: {error.strerror}") from error
    with lock, _rare_collections():
        try:
            return _Run(plan, lock).carry_out()
        except Refusal:
            if not was_there:
                _leave_nothing(plan.out, lock)
            raise
        except OSError as error:
            raise Refusal(
                f"the run's folder can't be written: {error}; what is decided is "
                "kept, --resume goes on",
                exit_code=CANT_CARRY_OUT,
            ) from error


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for cycles less often while many small records come and go.

    What was there before the run is not looked at again; records hold no cycles.
    """
    import gc

    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _leave_nothing(out: Path, lock: FolderLock) -> None:
    """Remove the folder of a run that was refused before anything came of it."""
    journal = _journal(out)
    if any(path.exists() and path.stat().st_size for path in journal):
        return
    lock.close()
    for path in (*journal, out / "run.json"):
        path.unlink(missing_ok=True)
    try:
        out.rmdir()
    except OSError:
        pass  # it holds something of the user's


def _holds_a_run(out: Path) -> bool:
    """Whether a folder holds anything of a run; a kill at its start leaves empty files."""
    if (out / "run.json").exists():
        return (out / UNITS).exists()
    return any(path.exists() and path.stat().st_size for path in _journal(out))


def _journal(out: Path) -> tuple[Path, Path]:
    return out / UNITS, out / TRACES


class _Run:
    """One run, while it lasts."""

    def __init__(self, plan: RunPlan, lock: FolderLock) -> None:
        self.plan = plan
        self.suite = plan.selection.narrow(plan.suite)
        self.criteria = list(self.suite.criteria)
        digests = CodeDigests(plan.folder.package_folder)
        self.suite_sha256 = suite_sha256(plan.suite, digests)
        code = check_digests(self.suite, digests)
        self.recorded = RecordedCount() if plan.target is None else None
        self.scan = self._scan()
        self.judges = self._judges()
        self.notes = list(plan.notes)
        self.losses: list[str] = []
        self.coverage: list[str] = []
        if lock.unsupported is not None:
            self.coverage.append(
                f"the folder can't be locked here ({lock.unsupported}): make sure "
                "that no other run writes to it"
            )
        if not plan.resume and _holds_a_run(plan.out):
            # Verdict files are rolled up anew: `aggregate` goes on with nothing.
            resume = ", or go on with --resume" if plan.mode == "code-written" else ""
            raise Refusal(
                f"{plan.out} holds a run already: choose another --out{resume}"
            )
        self.journal = Journal(plan.out)
        self.redactor = Redactor(plan.environment)
        deciders = [
            decider_parts(c, code_digest=code[c.id], judging=plan.judging)
            for c in self.criteria
        ]
        self.deciders = content_key(*(part for of_one in deciders for part in of_one))
        self.decided_before = self._decided_before() if plan.resume else 0
        self.worker = Worker(
            criteria=self.criteria,
            deciders=deciders,
            judging=plan.judging,
            target=plan.target,
            timeout=plan.timeout,
            redactor=self.redactor,
            holds=self.journal.holds,
            keep=self.journal.append_unit if _calls(plan.judging) else None,
        )
        self.target_name: str | None = None
        if plan.target is not None:
            self.target_name = self.redactor.clean(plan.target.name)
        self.again: AgainTally | None = None
        self.tally: Tally | Comparing = self._open_tally()
        if plan.baseline is not None:
            from .baseline.comparing import comparing

            self.tally = comparing(self.tally, self.suite, plan)
        self.spending = Spending(
            usd=plan.budget_usd,
            tokens=plan.budget_tokens,
            recorded=bool(plan.traces),
        )
        self.names = CaseNames()
        self.failures = SubjectFailures()
        self.read_runs = self.kept_runs = self.with_rows = 0
        self.done = self.failed = self.placeholders = 0
        self.self_judged = self.unrouted = self.judged_away = 0
        self.stopped: str | None = None
        self.pending: deque[Task] = deque()
        watch = self.worker.watch = Watch(plan.timeout)
        self.pool: Pool[Task, Outcome] = Pool(
            self.worker.do, size=plan.concurrency, watch=watch
        )

    def _judges(self) -> dict[str, Any] | None:
        """Return what `run.json` keeps of who judges, None where nobody does.

        What is held of them is read here too: what is wrong with it is said at once.
        """
        if self.plan.pin is None:
            return None
        from .trust.known import judges_record, read_held

        read_held(self.plan.folder.root)
        verifies = getattr(self.plan.judging, "verifies", ())
        return judges_record(self.suite, verifies=verifies)

    def _decided_before(self) -> int:
        """Return how much of the journal was written before what decides was edited.

        In bytes of its units. Until the run is finished nothing but a key tells which
        of those lines still stand; who only reads the journal leaves them out.
        """
        before = read_run_record(self.plan.out) or {}
        if before.get("deciders") != self.deciders:
            return (self.plan.out / UNITS).stat().st_size
        return lines_before(before)

    def _open_tally(self) -> Tally:
        plan = self.plan
        repeats = plan.repeats if plan.target else 0
        rule = plan.spread
        if rule.judgements == 1 or not _calls(plan.judging):
            # Verdict files say the same each time: there is nobody to ask again.
            return Tally(self.suite, repeats=repeats, rule=replace(rule, judgements=1))
        from .judges.judged_again import AgainTally

        self.again = AgainTally(self.suite, repeats=repeats, rule=rule)
        return self.again

    def _scan(self) -> DatasetScan:
        plan = self.plan
        self.watched = plan.selection.watched()
        scan = plan.folder.scan_dataset(self.watched.keeps_row, path=plan.dataset)
        if plan.target is None:
            return scan
        if not scan.cases:
            raise Refusal(
                "dataset.jsonl holds no case: give the spec scenarios or items and "
                "generate the suite again, or judge recorded traces with --traces FILE"
            )
        if self.watched.idle:
            raise Refusal(*self.watched.idle)
        if not scan.selected:
            raise Refusal(
                "no case matches --cases and --category: `cases` lists what there is"
            )
        return scan

    # -- the whole -------------------------------------------------------------------

    def carry_out(self) -> RunResult:
        plan = self.plan
        self._write_run_record()
        try:
            if plan.resume:
                for spent in self.journal.spent_before():
                    self.spending.add_before(spent)
            self._go_through(self._tasks())
            superseded = self._finish_journal()
            self._judge_again()
        except KeyboardInterrupt:
            self._take([outcome for _, outcome in self.pool.drain()])
            raise
        finally:
            self.pool.close()
            self.journal.close()
            if plan.watcher is not None:
                plan.watcher.close()
        self._cover(superseded)
        decision = self.tally.decide()
        scorecard = build_scorecard(
            suite=self.suite,
            suite_sha256=self.suite_sha256,
            decision=decision,
            run=RunInfo(
                id=plan.run_id,
                mode=plan.mode,
                started=plan.started,
                target=self.target_name,
                repeats=plan.repeats,
                notes=self.notes,
                failures=self.failures.to_record(self.done),
            ),
            pin=plan.pin,
            usage=self.spending.usage,
        )
        # A kill from here on leaves a finished run without a scorecard, which is said:
        # never with the one of before it was gone on with.
        (plan.out / "scorecard.json").unlink(missing_ok=True)
        self._write_run_record(coverage=self.coverage)
        scorecard = self._trusted(scorecard)
        write_scorecard(plan.out / "scorecard.json", scorecard)
        changes = self._changes(scorecard)
        from .report.html import write_report

        write_report(
            plan.out,
            scorecard=scorecard,
            statements={c.id: c.statement for c in self.criteria},
            names=self.names,
            changes=changes,
        )
        return RunResult(
            out=plan.out,
            decision=decision,
            scorecard=scorecard,
            exit_code=EXIT_CODE[decision.gate],
            coverage=self.coverage,
            names=self.names,
            changes=changes,
        )

    def _changes(self, scorecard: dict[str, Any]) -> Changes | None:
        """Return what became other since the baseline, if there is one."""
        plan = self.plan
        if plan.baseline is None:
            return None
        from .baseline.changes import changes_in

        return changes_in(plan.out, scorecard, plan.baseline, plan.folder)

    def _trusted(self, scorecard: dict[str, Any]) -> dict[str, Any]:
        """Return the scorecard with how far its judges are validated."""
        if self.plan.pin is None:
            return scorecard
        from .trust.known import trusted

        folder, out = self.plan.folder, self.plan.out
        return trusted(
            scorecard, root=folder.root, run_folder=out, run=read_run_record(out) or {}
        )

    def _go_through(self, tasks: Iterator[Task]) -> None:
        pool, pending = self.pool, self.pending
        # Few enough that what they hold is still in the processor's cache.
        window = max(4 * self.plan.concurrency, 64)
        more = True
        while True:
            while pool.in_flight < window and self.stopped is None:
                if pending:
                    pool.submit(pending.popleft())
                    continue
                task = next(tasks, None) if more else None
                if task is None:
                    more = False
                    break
                pool.submit(task)
            if self.stopped is not None:
                for left in pool.take_back():
                    self._leave(left)
                while pending:
                    self._leave(pending.popleft())
            if not pool.in_flight:
                break
            done, hung = pool.collect()
            if done:
                self._take([outcome for _, outcome in done])
            for task in hung:
                self._take([self.worker.hung(task)])
            self._show()
            if pool.given_up > MAX_HUNG:
                raise Refusal(
                    f"{pool.given_up} calls of the target or checks did not come back in "
                    f"{self.plan.timeout:g} s each: the run is stopped",
                    exit_code=CANT_CARRY_OUT,
                )
        for left in tasks:
            self._leave(left)

    def _judge_again(self) -> None:
        """Ask the judge again about what it judged, where its spread is looked for."""
        if self.again is None:
            return
        from .judges.judged_again import judge_again

        said = judge_again(
            self.plan,
            self.criteria,
            self.again,
            redactor=self.redactor,
            spending=self.spending,
        )
        self._keep_to_the_budget()
        if said is not None:
            self.coverage.append(said)

    # -- what is to be done ------------------------------------------------------------

    def _tasks(self) -> Iterator[Task]:
        if self.recorded is not None:
            yield from self._recorded_tasks(self.recorded)
            return
        plan = self.plan
        number = 0
        step = len(self.criteria)
        keeps_all = not (plan.selection.cases or plan.selection.category)
        keeps = plan.selection.keeps
        for case, digest in plan.folder.rows(plan.dataset, self.scan):
            if not (keeps_all or keeps(case)):
                continue
            if case.placeholder:
                self.placeholders += 1
            self.names.add(case)
            for repeat in range(plan.repeats):
                task = Task(case, digest, repeat, number * step)
                if plan.resume:
                    task.trace = self._journaled(task)
                number += 1
                yield task

    def _journaled(self, task: Task) -> Trace | None:
        trace = self.journal.take_trace(task.trace_id)
        if trace is None:
            return None
        if self.worker.is_run_of(trace, task):
            task.in_journal = True
            return trace
        # The case was edited since: the subject has not answered this one yet.
        self.journal.drop_trace(task.trace_id)
        return None

    def _recorded_tasks(self, count: RecordedCount) -> Iterator[Task]:
        plan = self.plan
        digests: dict[str, str] = {}

        def rows() -> Iterator[Case]:
            for case, digest in plan.folder.rows(plan.dataset, self.scan):
                digests[case.id] = digest
                yield case

        index = index_cases(rows())
        self.with_rows = len(index.by_id)
        keeps = self.watched.keeps
        runs: dict[str, int] = {}
        number = 0
        for case, trace in read_recorded(plan.traces, index, count):
            self.read_runs += 1
            if not keeps(case):
                continue
            self.kept_runs += 1
            self.names.add(case)
            repeat = 0
            if case.recorded:
                digest = case.digest
            else:
                repeat = runs[case.id] = runs.get(case.id, -1) + 1
                digest = digests[case.id]
                if case.placeholder and repeat == 0:
                    self.placeholders += 1
            task = Task(case, digest, repeat, number * len(self.criteria))
            task.trace = trace
            number += 1
            yield task

    # -- what comes back ---------------------------------------------------------------

    def _take(self, outcomes: Sequence[Outcome]) -> None:
        """Journal a batch, traces before units, then count it."""
        traces: list[str] = []
        lines: list[str] = []
        counted: list[tuple[Unit, Task, int]] = []
        stop: BaseException | None = None
        for outcome in outcomes:
            if outcome.stop is not None:
                stop = stop or outcome.stop
                continue
            task = outcome.task
            if outcome.is_run:
                self._take_run(outcome, traces)
            for index, unit, line in outcome.units:
                if line is not None:
                    lines.append(line)
                counted.append((unit, task, index))
            stop = stop or self._take_rest(outcome, counted)
        self.journal.append(traces, lines)
        for unit, task, index in counted:
            self._count(unit, task, index)
        if stop is not None:
            self._refuse(stop)
        fatal = getattr(self.plan.judging, "fatal", None)
        if fatal is not None:
            raise Refusal(f"the judge: {fatal}", exit_code=CANT_CARRY_OUT)

    def _show(self) -> None:
        if self.plan.watcher is None:
            return
        waiting = getattr(self.plan.judging, "waiting", None)
        self.plan.watcher.update(
            done=self.done,
            total=self._total,
            failed=self.failed,
            waiting=None if waiting is None else waiting(),
        )

    def _take_run(self, outcome: Outcome, traces: list[str]) -> None:
        trace = outcome.trace
        assert trace is not None
        self.done += 1
        task = outcome.task
        if trace.status == "error":
            self.failures.add(
                trace, case=task.case, sequence=task.base, repeat=task.repeat
            )
        self.spending.add_run(trace)
        if self.spending.over is not None:
            self._keep_to_the_budget()
        line = outcome.line
        if not outcome.task.in_journal and line is not None:
            if not self.journal.holds_trace_line(trace.id, line):
                traces.append(line)

    def _take_rest(
        self, outcome: Outcome, counted: list[tuple[Unit, Task, int]]
    ) -> Refusal | None:
        """Take the units that the journal holds, and see to those still to judge."""
        task = outcome.task
        judged = bool(outcome.to_judge)
        for index, key in outcome.held:
            unit = self._held(key, task, index)
            if unit is None:
                # Its line is damaged: decide this one again.
                self.pending.append(task.again(outcome.trace, only=index))
                continue
            judged = judged or unit.decided_by == "judge"
            counted.append((unit, task, index))
        if judged and outcome.is_run and outcome.trace is not None:
            refusal = self._self_judging(outcome.trace)
            if refusal is not None:
                return refusal
        for index, key in outcome.to_judge:
            if self.worker.judges:
                self.pending.append(task.judge(outcome.trace, index=index, key=key))
            else:
                self._miss(task, index, self.plan.why_missing)
        for index in outcome.missing:
            self._miss(task, index, self.plan.why_missing)
        for index in outcome.again:
            self.pending.append(task.again(outcome.trace, only=index))
        return None

    def _held(self, key: str, task: Task, index: int) -> Unit | None:
        """Return a unit of the journal, if it is what its key stands for."""
        unit = self.journal.take_unit(key)
        if unit is None:
            return None
        told = (unit.criterion_id, unit.case_id, unit.trace_id, unit.repeat)
        meant = (self.criteria[index].id, task.case.id, task.trace_id, task.repeat)
        if told == meant:
            return unit
        self.journal.spoil_unit(key)
        return None

    def _count(self, unit: Unit, task: Task, index: int) -> None:
        self.tally.add(unit, case=task.case, sequence=task.base + index)
        if unit.usage is not None or unit.verification is not None:
            self.spending.add_unit(unit)
            self._keep_to_the_budget()
        self.unrouted += UNROUTED in unit.notes
        if unit.verdict.result == "na" and unit.decided_by == "judge":
            self.judged_away += 1
        if unit.verdict.result == "fail":
            self.failed += 1
            if self.plan.fail_fast and self.stopped is None:
                if needs_every_unit(self.criteria[index]):
                    self.stopped = "--fail-fast: stopped at the first failure"

    def _keep_to_the_budget(self) -> None:
        if self.stopped is None:
            self.stopped = self.spending.over

    def _miss(self, task: Task, index: int, why: str) -> None:
        self.tally.add_missing(
            criterion_id=self.criteria[index].id,
            case=task.case,
            trace_id=task.trace_id,
            repeat=task.repeat,
            sequence=task.base + index,
            why=why,
        )

    def _leave(self, task: Task) -> None:
        """Count a task that is not run any more: what the journal holds, the rest not.

        Out of scope stays `na`: nothing would have been called for it.
        """
        why = f"not run: {self.stopped}"
        if task.trace is not None and task.index is None:
            outcome = self.worker.look_up(task)
            self._take_run(outcome, [])
            for index, key in outcome.held:
                unit = self._held(key, task, index)
                if unit is not None:
                    self._count(unit, task, index)
                else:
                    self._miss(task, index, why)
            for index in outcome.missing:
                self._miss_unless_excluded(task, index, why)
            return
        for index in task.indexes(len(self.criteria)):
            self._miss_unless_excluded(task, index, why)

    def _miss_unless_excluded(self, task: Task, index: int, why: str) -> None:
        criterion = self.criteria[index]
        excluded = criterion.excludes(task.case)
        if excluded is None:
            self._miss(task, index, why)
            return
        unit = Unit(
            key="",
            case_id=task.case.id,
            criterion_id=criterion.id,
            repeat=task.repeat,
            trace_id=task.trace_id,
            verdict=not_applicable(excluded),
            decided_by="scope",
        )
        self._count(unit, task, index)

    # -- rules -------------------------------------------------------------------------

    def _self_judging(self, trace: Trace) -> Refusal | None:
        """Reviewer is not executor: refuse, unless the owner allows it; then say it."""
        pin = self.plan.pin
        if pin is None or not any(same_model(m, pin.model) for m in trace.models):
            return None
        if not self.plan.allow_self_judging:
            return Refusal(
                f"the subject of the run {trace.id!r} is {pin.model}, which is also "
                "the judge: take another judge, or set `allow_self_judging = true` "
                "under [judge] in evals.toml"
            )
        self.self_judged += 1
        return None

    def _refuse(self, stop: BaseException) -> None:
        if isinstance(stop, TargetNotWritten):
            raise not_written(self.plan.folder, stop) from stop
        if isinstance(stop, TargetUnreachable):
            raise Refusal(str(stop), exit_code=CANT_CARRY_OUT) from stop
        if not isinstance(stop, Exception):
            # Never out of the process by its own way: `sys.exit(0)` is no green run.
            raise Refusal(
                f"the run was ended from inside: {blame(stop)}",
                exit_code=CANT_CARRY_OUT,
            ) from stop
        raise stop

    @property
    def _total(self) -> int | None:
        if self.recorded is not None:
            return None
        return self.scan.selected * self.plan.repeats

    # -- what is said ------------------------------------------------------------------

    def _finish_journal(self) -> int:
        """Move what stands no longer out of the way; return how many lines.

        What they used stays counted.
        """
        before = self.journal.moved
        superseded = self.journal.finish()
        if superseded:
            for spent in self.journal.spent_since(before):
                self.spending.add_before(spent)
        return superseded

    def _cover(self, superseded: int) -> None:
        narrowed = self._narrowed()
        if narrowed is not None:
            self.notes.insert(0, narrowed)
        if self.plan.baseline is not None:
            self.notes += self.plan.baseline.reservations(self.suite)
        if self.stopped is not None:
            self.notes.append(f"{NOT_COMPLETE}{self.stopped}")
        self.notes += self.spending.notes()
        self.coverage += self.watched.idle
        if self.spending.from_cache:
            self.coverage.append(
                f"{self.spending.from_cache} judgements are those of earlier runs on the same "
                "prompts (--no-cache asks again)"
            )
        if self.self_judged:
            self.notes.append(
                f"{self.self_judged} runs of the subject were judged by the model "
                "that made them (allow_self_judging)"
            )
        if self.judged_away:
            self.notes.append(
                "1 judgement says that its criterion does not apply: it does not count"
                if self.judged_away == 1
                else f"{self.judged_away:,} judgements say that their criterion does not "
                "apply: they do not count"
            )
        if self.unrouted:
            self.notes.append(
                "1 abstention of the judge says nothing of who could resolve it: it "
                "counts as a matter of scope"
                if self.unrouted == 1
                else f"{self.unrouted:,} abstentions of the judge say nothing of who "
                "could resolve them: they count as a matter of scope"
            )
        if self.placeholders:
            self.coverage.append(
                f"{self.placeholders} of the cases are placeholders: their query only "
                "describes the situation (`cases --placeholders` lists them)"
            )
        if self.scan.retired:
            count = self.scan.retired
            are = "1 case is" if count == 1 else f"{count} cases are"
            self.coverage.append(
                f"{are} retired and left out: the spec no longer has what they were "
                "made from (`cases --retired` lists them, `run --retired` takes them in)"
            )
        if self.recorded is not None:
            self.losses = (
                list(self.plan.losses)
                if self.plan.losses is not None
                else losses_of(
                    self.recorded, files=self.plan.traces, cases=self.with_rows
                )
            )
            self.coverage += coverage_of(self.recorded)
        self.notes += self.losses
        cut = self.journal.cut
        if cut or self.journal.damaged:
            self.coverage.append(
                f"the journal had {cut} torn and {self.journal.damaged} damaged lines: "
                "those were decided again"
            )
        errors = self.journal.errors
        if errors:
            were = "1 error was" if errors == 1 else f"{errors:,} errors were"
            self.coverage.append(
                f"{were} there, and asked for again: kept in superseded.jsonl; what they "
                "used is counted"
            )
        edited = superseded - errors - self.journal.damaged
        if edited > 0:
            lines = "1 line" if edited == 1 else f"{edited:,} lines"
            stand = "stands" if edited == 1 else "stand"
            self.coverage.append(
                f"{lines} of the journal {stand} no longer, as what was run or what "
                "decides was edited since: kept in superseded.jsonl; what they used is "
                "counted"
            )

    def _narrowed(self) -> str | None:
        plan = self.plan
        kept, of, what = self.scan.selected, self.scan.cases, "case"
        if self.recorded is not None:
            kept, of, what = self.kept_runs, self.read_runs, "recorded run"
        return plan.selection.note(plan.suite, kept=kept, of=of, what=what)

    def _not_there(self) -> list[str]:
        """Return which runs lack in the traces that this run leaves, and why.

        Cases that were not selected need not be named: whoever reads the traces sees
        that they have none.
        """
        lines = []
        if self.recorded is not None and self.kept_runs < self.read_runs:
            kept = f"{self.kept_runs:,} of {self.read_runs:,} recorded runs"
            lines.append(f"{NARROWED}{kept}")
        if self.stopped is not None:
            lines.append(f"{NOT_COMPLETE}{self.stopped}")
        return lines + self.losses

    def _write_run_record(self, *, coverage: Sequence[str] | None = None) -> None:
        from . import RUNTIME_VERSION

        plan = self.plan
        record: dict[str, Any] = {
            "schema": SCHEMA,
            "id": plan.run_id,
            "mode": plan.mode,
            "started": plan.started,
            "finished": coverage is not None,
            "target": self.target_name,
            "repeats": plan.repeats,
            "concurrency": plan.concurrency,
            "timeout": plan.timeout,
            "pin": None if plan.pin is None else plan.pin.to_record(),
            **({"verifier": plan.verifier.to_record()} if plan.verifier else {}),
            **({"judges": self.judges} if self.judges else {}),
            "suite": {
                "generator": plan.suite.generator,
                "sha256": self.suite_sha256,
                "specSha256": plan.suite.spec_sha256,
                "runtime": RUNTIME_VERSION,
            },
            "deciders": self.deciders,
            "selection": plan.selection.to_record(),
            "arguments": dict(plan.record),
        }
        if coverage is not None:
            record["coverage"] = list(coverage)
            record["losses"] = self._not_there()
        elif self.decided_before:
            record["decidedBefore"] = self.decided_before
        text = self.redactor.clean(json.dumps(record, indent=2))
        with whole_file(plan.out / "run.json") as part:
            part.write_text(text + "\n", encoding="utf-8")


def _calls(judging: Judging) -> bool:
    """Whether a verdict takes a call to a provider."""
    return hasattr(judging, "fatal")


def not_written(folder: SuiteFolder, error: BaseException) -> Refusal:
    """Return the refusal of a target that is as it was generated."""
    said = f" ({error})" if str(error) else ""
    return Refusal(
        f"the target is not written yet{said}: fill in {folder.package}/target.py, "
        "name another one with --target REF, or judge recorded traces with "
        "--traces FILE"
    )


def needs_every_unit(criterion: Criterion) -> bool:
    """Whether one failing unit fails the gate."""
    passes = criterion.passes
    return (
        criterion.gates
        and passes.kind in ("rate", "pass^k")
        and passes.operator == ">="
        and passes.limit >= 1
    )
