"""The same runs judged again: whether the judge says the same twice.

When a run is decided its judge is asked again about runs that it judged, under the same
pin, and nothing is taken from the cache. It is asked about the first run of each case,
and where the runs of a case came out differently about all of them: only so can the
judge's part in that be told from the subject's.

These judgements are no units. They stand in a journal of their own and change no count
and no rate; an interrupted run goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..canonical import content_key
from ..case import Case
from ..criterion import Criterion
from ..decide import Decision, Tally
from ..earliest import Order
from ..formats.unitf import read_traces
from ..journal import TRACES, UNITS, Journal, read_unit
from ..plan import RunPlan
from ..pool import Pool
from ..redact import Redactor
from ..refusal import CANT_CARRY_OUT, Refusal
from ..spending import Spending
from ..spread import SpreadRule
from ..suite import Suite
from ..trace import Trace
from ..unit import Unit
from ..unitf import ReadCount
from ..worker import Outcome, Task, Worker

FOLDER: Final = "judged-again"
"""The folder of that journal, in the folder of the run."""


class _Run:
    """One run of a case under a criterion: its unit's key and what was said of it.

    `key` is None where the judge said nothing that could be asked again.
    """

    __slots__ = ("key", "planned", "results", "sequence")

    def __init__(self, result: str, key: str | None, sequence: int) -> None:
        self.results = [result]
        self.key = key
        self.sequence = sequence
        self.planned = 1


class _Series:
    """The runs of one case under one criterion, by the ids of their traces."""

    __slots__ = ("case", "order", "runs")

    def __init__(self, case: Case, order: Order) -> None:
        self.case = case
        self.order = order
        self.runs: dict[str, _Run] = {}

    def to_ask_about(self) -> list[tuple[str, _Run]]:
        """Return the runs to be judged again: the first, or all where they differ."""
        judged = sorted(
            (item for item in self.runs.items() if item[1].key is not None),
            key=lambda item: item[1].sequence,
        )
        differ = len({run.results[0] for _, run in judged}) > 1
        return judged if differ else judged[:1]


class AgainTally(Tally):
    """A tally that keeps the runs of judged criteria until they are judged again.

    Memory grows with the judged units: there are as many as calls were paid for.
    """

    def __init__(self, suite: Suite, *, repeats: int, rule: SpreadRule) -> None:
        super().__init__(suite, repeats=repeats, rule=rule)
        self._planned = repeats
        self._needed = rule
        self._judged = {c.id for c in suite.criteria if c.judge is not None}
        self._series: dict[tuple[str, str], _Series] = {}
        for criterion_id in self._judged:
            self.defer_spread(criterion_id)

    def add(self, unit: Unit, *, case: Case, sequence: int) -> None:
        """Count a decided unit, and note what was judged."""
        super().add(unit, case=case, sequence=sequence)
        result = unit.verdict.result
        asked = unit.decided_by == "judge" and result != "error"
        self._note(
            unit.criterion_id,
            case,
            unit.trace_id,
            _Run(result, unit.key if asked else None, sequence),
        )

    def add_missing(
        self,
        *,
        criterion_id: str,
        case: Case,
        trace_id: str,
        repeat: int,
        sequence: int,
        why: str,
    ) -> None:
        """Count a unit that has no verdict, and `why`."""
        super().add_missing(
            criterion_id=criterion_id,
            case=case,
            trace_id=trace_id,
            repeat=repeat,
            sequence=sequence,
            why=why,
        )
        self._note(criterion_id, case, trace_id, _Run("missing", None, sequence))

    def _note(self, criterion_id: str, case: Case, trace_id: str, run: _Run) -> None:
        if criterion_id not in self._judged:
            return
        order = (run.sequence, case.id, 0, 0)
        series = self._series.get((criterion_id, case.id))
        if series is None:
            series = self._series[criterion_id, case.id] = _Series(case, order)
        series.order = min(series.order, order)
        series.runs[trace_id] = run

    def plan_again(self) -> dict[str, list[tuple[str, Case, _Run]]]:
        """Return what to judge again, by trace: the criterion, the case and its run."""
        work: dict[str, list[tuple[str, Case, _Run]]] = {}
        for (criterion_id, _), series in self._series.items():
            for trace_id, run in series.to_ask_about():
                run.planned = self._needed.judgements
                work.setdefault(trace_id, []).append((criterion_id, series.case, run))
        return work

    def add_again(self, unit: Unit) -> None:
        """Take in a further judgement of a run."""
        series = self._series[unit.criterion_id, unit.case_id]
        series.runs[unit.trace_id].results.append(unit.verdict.result)

    def decide(self) -> Decision:
        """Return the decision: the spread with what was judged again."""
        for (criterion_id, _), series in self._series.items():
            results = []
            for trace_id, run in series.runs.items():
                short = ["missing"] * (run.planned - len(run.results))
                results += [(trace_id, said) for said in run.results + short]
            further = len(results) - len(series.runs)
            self.add_series(
                criterion_id,
                series.case,
                results,
                repeats=self._runs(series) + further,
                order=series.order,
            )
        return super().decide()

    def _runs(self, series: _Series) -> int:
        """Return how many runs of the subject a case was to have."""
        if self._planned:
            return self._planned
        there = len(series.runs)
        return max(there, self._needed.runs) if there > 1 else there


def judge_again(
    plan: RunPlan,
    criteria: Sequence[Criterion],
    tally: AgainTally,
    *,
    redactor: Redactor,
    spending: Spending,
) -> str | None:
    """Ask the judge again about runs of the plan's folder; return what there is to say.

    Nothing is asked once a budget is used up: what was not asked is short. Raises
    Refusal where the judge can't be used any more, OSError for the folder.
    """
    work = tally.plan_again()
    if not work:
        return None
    folder = plan.out / FOLDER
    folder.mkdir(exist_ok=True)
    again = _Again(plan, criteria, tally, folder, redactor, spending)
    try:
        again.carry_out(work)
    finally:
        again.close()
    judged = sum(len(runs) for runs in work.values())
    units = "1 unit was" if judged == 1 else f"{judged:,} units were"
    return (
        f"{units} to be judged {plan.spread.judgements} times for the judge's spread "
        f"({FOLDER}/ holds what was said)"
    )


def take_again(run_folder: Path, tally: AgainTally) -> None:
    """Take in what a run that was cut short holds of its further judgements.

    What was said of a run that was judged anew since is left out. Raises OSError.
    """
    known = {
        _key(run, case.id, criterion_id, trace_id, number)
        for trace_id, some in tally.plan_again().items()
        for criterion_id, case, run in some
        for number in range(1, run.planned)
    }
    path = run_folder / FOLDER / UNITS
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                unit = read_unit(line)
            except (ValueError, RecursionError):
                continue
            if unit.key in known and unit.verdict.result != "error":
                known.discard(unit.key)
                tally.add_again(unit)


def _key(run: _Run, case_id: str, criterion_id: str, trace_id: str, number: int) -> str:
    return content_key(run.key or "", case_id, criterion_id, trace_id, str(number))


class _Again:
    """The further judgements of a run, while they are asked for."""

    def __init__(
        self,
        plan: RunPlan,
        criteria: Sequence[Criterion],
        tally: AgainTally,
        folder: Path,
        redactor: Redactor,
        spending: Spending,
    ) -> None:
        self._plan = plan
        self._criteria = list(criteria)
        self._places = {c.id: place for place, c in enumerate(criteria)}
        self._tally = tally
        self._folder = folder
        self._spending = spending
        self._journal = Journal(folder)
        self._done = self._planned = 0
        worker = Worker(
            criteria=criteria,
            deciders=(),
            judging=plan.judging,
            target=None,
            timeout=plan.timeout,
            redactor=redactor,
            holds=self._journal.holds,
            keep=self._journal.append_unit,
        )
        self._pool: Pool[Task, Outcome] = Pool(
            worker.do, size=plan.concurrency, watch=None
        )

    def carry_out(self, work: dict[str, list[tuple[str, Case, _Run]]]) -> None:
        further = self._plan.spread.judgements - 1
        self._planned = further * sum(len(runs) for runs in work.values())
        window = max(4 * self._plan.concurrency, 64)
        for task in self._tasks(work):
            if self._spending.over is not None:
                break
            self._pool.submit(task)
            while self._pool.in_flight >= window:
                self._collect()
        while self._pool.in_flight:
            self._collect()
            if self._spending.over is not None:
                self._pool.take_back()
        self._journal.finish()

    def close(self) -> None:
        self._pool.close()
        self._journal.close()
        traces = self._folder / TRACES
        if traces.exists() and not traces.stat().st_size:
            traces.unlink()  # they stand in the folder of the run

    def _tasks(self, work: dict[str, list[tuple[str, Case, _Run]]]) -> Iterator[Task]:
        """Yield what is to be asked; what an interrupted run was told is taken as it is."""
        for trace in read_traces(self._plan.out / TRACES, ReadCount()):
            for criterion_id, case, run in work.get(trace.id, ()):
                for number in range(1, self._plan.spread.judgements):
                    task = self._task(criterion_id, case, trace, run, number)
                    if not self._is_held(task):
                        yield task

    def _task(
        self, criterion_id: str, case: Case, trace: Trace, run: _Run, number: int
    ) -> Task:
        task = Task(case, "", number, 0)
        task.trace = trace
        task.in_journal = True
        task.index = self._places[criterion_id]
        task.key = _key(run, case.id, criterion_id, trace.id, number)
        return task

    def _is_held(self, task: Task) -> bool:
        assert task.key is not None and task.index is not None
        unit = self._journal.take_unit(task.key)
        if unit is None:
            return False
        told = (unit.criterion_id, unit.case_id, unit.trace_id, unit.repeat)
        criterion_id = self._criteria[task.index].id
        if told != (criterion_id, task.case.id, task.trace_id, task.repeat):
            self._journal.spoil_unit(task.key)
            return False
        self._take(unit)
        return True

    def _collect(self) -> None:
        done, _ = self._pool.collect()
        for _, outcome in done:
            if outcome.stop is not None:
                raise outcome.stop
            for _, unit, _ in outcome.units:
                self._take(unit)
        fatal = getattr(self._plan.judging, "fatal", None)
        if fatal is not None:
            raise Refusal(f"the judge: {fatal}", exit_code=CANT_CARRY_OUT)
        if self._plan.watcher is not None:
            self._plan.watcher.update(
                done=self._done,
                total=self._planned,
                failed=0,
                waiting="judging the same runs again",
            )

    def _take(self, unit: Unit) -> None:
        self._done += 1
        self._tally.add_again(unit)
        self._spending.add_judgement(unit)
