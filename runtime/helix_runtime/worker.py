"""What a worker thread does with one task: reach the subject, check, ask the judge.

Nothing here touches the journal's files or the tally: those are the main thread's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Final

from .canonical import content_key, dump_line, key_bytes
from .case import Case
from .criterion import Criterion
from .folder import said_by
from .journal import case_mark, seal, unit_key, yardsticks
from .plain_lines import LINE, trace_line, unit_line
from .pool import GaveUp, Watch
from .record import like, made
from .redact import Redactor
from .targets import MAX_OUTPUT, Target
from .targets.answer import failure
from .trace import Trace
from .unit import (
    DecidedBy,
    Judgement,
    Judging,
    NoJudge,
    Unit,
    decide_by_code,
    trace_id_of,
    unit_from_record,
    unit_to_record,
)
from .unitf import trace_from_record, trace_to_record
from .untouched import CHANGED, Untouched
from .verdict import Verdict, could_not_judge

MAX_LINE: Final = 4 * MAX_OUTPUT
MAX_TAILS: Final = 64


class Task:
    """One run of a case, or with `index` one of its units.

    `base` is the place of its first unit in the order of the suite; `trace` is None
    until the subject was run; `key` is set where only the judge is to be asked.
    """

    __slots__ = (
        "base",
        "case",
        "digest",
        "in_journal",
        "index",
        "key",
        "repeat",
        "trace",
    )

    def __init__(self, case: Case, digest: str, repeat: int, base: int) -> None:
        self.case = case
        self.digest = digest
        self.repeat = repeat
        self.base = base
        self.trace: Trace | None = None
        self.in_journal = False
        self.index: int | None = None
        self.key: str | None = None

    @property
    def trace_id(self) -> str:
        """The id of the trace, known before the subject is run."""
        if self.trace is not None:
            return self.trace.id
        return trace_id_of(self.case.id, self.repeat)

    @property
    def wording(self) -> str:
        """The beginning of the case's hash: enough to tell that the row was edited."""
        return self.digest[:10]

    def again(self, trace: Trace | None, *, only: int) -> Task:
        """Return the task of deciding one unit of a trace that is there."""
        task = Task(self.case, self.digest, self.repeat, self.base)
        task.trace = trace
        task.in_journal = True
        task.index = only
        return task

    def judge(self, trace: Trace | None, *, index: int, key: str) -> Task:
        """Return the task of asking the judge for one unit."""
        task = self.again(trace, only=index)
        task.key = key
        return task

    def indexes(self, criteria: int) -> Iterable[int]:
        """Return the places of the criteria that the task is about."""
        return range(criteria) if self.index is None else (self.index,)


class Outcome:
    """What came of a task.

    `line` is the trace's line for the journal; `units` are (place, unit, line);
    `held` and `to_judge` are (place, key); `missing` are places without a verdict,
    `again` those to be decided anew;
    `stop` is what ends the whole run. `is_run` says that a run of the subject came
    in, and not only units of it.
    """

    __slots__ = (
        "again",
        "held",
        "is_run",
        "line",
        "missing",
        "stop",
        "task",
        "to_judge",
        "trace",
        "units",
    )

    def __init__(self, task: Task) -> None:
        self.task = task
        self.trace: Trace | None = task.trace
        self.line: str | None = None
        self.units: list[tuple[int, Unit, str | None]] = []
        self.held: list[tuple[int, str]] = []
        self.to_judge: list[tuple[int, str]] = []
        self.missing: list[int] = []
        self.again: list[int] = []
        self.stop: BaseException | None = None
        self.is_run = task.index is None


class Worker:
    """Does tasks; its methods may be called by many threads at once.

    `keep` writes the line of a judged unit to the journal at once, where its verdict
    took a call that is not to be made again.
    """

    def __init__(
        self,
        *,
        criteria: Sequence[Criterion],
        deciders: Sequence[tuple[str, ...]],
        judging: Judging,
        target: Target | None,
        timeout: float,
        redactor: Redactor,
        holds: Callable[[str], bool],
        keep: Callable[[str], None] | None = None,
    ) -> None:
        self._criteria = list(enumerate(criteria))
        self._deciders = deciders
        self._tails: dict[int, list[tuple[str, bytes]]] = {}
        self._judging = judging
        self._target = target
        self._turnstile = getattr(target, "turnstile", None)
        self._timeout = timeout
        self._redactor = redactor
        self._holds = holds
        self._keep = keep
        self.judges: Final = not isinstance(judging, NoJudge)
        self.watch: Watch | None = None
        self._watches_subject = target is not None and not target.kills
        # The tasks whose checks are running, and which of them.
        self._deciding: dict[Task, tuple[Outcome, int]] = {}

    def do(self, number: int, task: Task) -> Outcome:
        """Return what came of a task; what ends the run is in it, not raised."""
        outcome = Outcome(task)
        try:
            if task.key is not None:
                self._ask_judge(outcome, task)
            else:
                if task.trace is None:
                    outcome.trace = self._run_subject(number, task)
                self._decide(outcome, task, number)
        except GaveUp:
            raise
        except BaseException as error:
            outcome.stop = error
        return outcome

    def hung(self, task: Task) -> Outcome:
        """Return the outcome of a task that was given up.

        Where a check did not come back its unit is in error, and the criteria after
        it are to be decided again; else the subject failed.
        """
        deciding = self._deciding.pop(task, None)
        if deciding is not None:
            return self._check_hung(task, *deciding)
        if self._turnstile is not None:
            self._turnstile.release()
        outcome = Outcome(task)
        trace = failure(
            f"timed out after {self._timeout:g} s", task.case, trace_id=task.trace_id
        )
        outcome.trace = self._stamp(trace, task, None)
        self._decide(outcome, task)
        return outcome

    def _check_hung(self, task: Task, at: Outcome, index: int) -> Outcome:
        trace = at.trace
        assert trace is not None
        outcome = Outcome(task)
        outcome.trace, outcome.line = trace, at.line
        outcome.units = [unit for unit in at.units if unit[0] < index]
        outcome.held = [held for held in at.held if held[0] < index]
        outcome.to_judge = [asked for asked in at.to_judge if asked[0] < index]
        criterion = self._criteria[index][1]
        place = "the check" if criterion.check is None else criterion.check.place
        key = self._keys(outcome, task)[index]
        verdict = could_not_judge(
            f"{place} did not come back within {self._timeout:g} s"
        )
        self._add(outcome, index, self._unit(task, trace, criterion, key, verdict))
        if task.index is None:
            outcome.again = list(range(index + 1, len(self._criteria)))
        return outcome

    def look_up(self, task: Task) -> Outcome:
        """Return which units of a trace the journal holds; nothing is decided."""
        outcome = Outcome(task)
        for index, key in enumerate(self._keys(outcome, task)):
            if self._holds(key):
                outcome.held.append((index, key))
            else:
                outcome.missing.append(index)
        return outcome

    @staticmethod
    def is_run_of(trace: Trace, task: Task) -> bool:
        """Whether a journaled trace is a run of the case as it stands now."""
        helix = trace.ext.get("helix")
        told = helix.get("case") if isinstance(helix, dict) else None
        # An earlier runtime wrote down more of the hash: its runs stay runs.
        return (
            isinstance(told, str)
            and len(told) >= len(task.wording)
            and task.digest.startswith(told)
        )

    # -- the subject -----------------------------------------------------------------

    def _run_subject(self, number: int, task: Task) -> Trace:
        target, watch = self._target, self.watch
        assert target is not None
        trace_id = task.trace_id
        turnstile = self._turnstile
        if turnstile is not None:
            turnstile.acquire()
        started = perf_counter()
        if watch is not None and self._watches_subject:
            watch.start(number)
        try:
            trace = target.call(task.case, trace_id=trace_id, timeout=self._timeout)
        finally:
            if watch is not None and self._watches_subject:
                watch.end(number)  # raises where `hung` has let the next one in
            if turnstile is not None:
                turnstile.release()
        milliseconds = round((perf_counter() - started) * 1000, 1)
        return self._stamp(trace, task, milliseconds)

    @staticmethod
    def _stamp(trace: Trace, task: Task, milliseconds: float | None) -> Trace:
        """Say on the trace which wording of the case it is a run of, and its latency."""
        # The trace is fresh and nobody else's yet; `replace` would cost more than all
        # the rest of a small case.
        own = vars(trace)
        helix = {"case": task.wording}
        if trace.ext:
            helix.update(trace.ext.get("helix") or {})
            own["ext"] = {**trace.ext, "helix": helix}
        else:
            own["ext"] = {"helix": helix}
        if trace.latency_ms is None:
            own["latency_ms"] = milliseconds
        return trace

    # -- units -----------------------------------------------------------------------

    def _decide(self, outcome: Outcome, task: Task, number: int | None = None) -> None:
        """Let scope, fidelity and code decide; with a `number`, under the watch."""
        keys = self._keys(outcome, task)
        watch = None if number is None else self.watch
        if watch is None or number is None:
            self._check(outcome, task, keys)
            return
        watch.start(number)
        try:
            self._check(outcome, task, keys)
        finally:
            # Raises where `hung` has told what came of it.
            watch.end(number)
            self._deciding.pop(task, None)

    def _check(self, outcome: Outcome, task: Task, keys: list[str]) -> None:
        trace = outcome.trace
        assert trace is not None
        case = task.case
        only = task.index
        untouched: Untouched | None = None
        for index, criterion in self._criteria:
            if only is not None and index != only:
                continue
            key = keys[index]
            if only is None and self._holds(key):
                outcome.held.append((index, key))
                continue
            if criterion.check is not None:
                self._deciding[task] = (outcome, index)
                if untouched is None:
                    untouched = Untouched(case, trace)
            verdict, decided_by = decide_by_code(criterion, case, trace)
            if untouched is not None and criterion.check is not None:
                if untouched.changed():
                    place = criterion.check.place
                    verdict = could_not_judge(f"{place} can't be believed: {CHANGED}")
                    decided_by = "code"
            if verdict is None:
                outcome.to_judge.append((index, key))
                continue
            unit = self._unit(task, trace, criterion, key, verdict, decided_by)
            self._add(outcome, index, unit)

    @staticmethod
    def _unit(
        task: Task,
        trace: Trace,
        criterion: Criterion,
        key: str,
        verdict: Verdict,
        decided_by: DecidedBy = "code",
    ) -> Unit:
        return made(
            Unit,
            {
                "key": key,
                "case_id": task.case.id,
                "criterion_id": criterion.id,
                "repeat": task.repeat,
                "trace_id": trace.id,
                "verdict": verdict,
                "decided_by": decided_by,
                "model": None,
                "usage": None,
                "raw": None,
                "notes": (),
                "verification": None,
            },
        )

    def _keys(self, outcome: Outcome, task: Task) -> list[str]:
        """Return the key of the unit of each criterion, in order.

        The parts that all cases share are made once a repeat, and let go where a case
        has very many recorded runs.
        """
        tails = self._tails.get(task.repeat)
        if tails is None:
            repeat = str(task.repeat)
            if len(self._tails) >= MAX_TAILS:
                self._tails.clear()
            tails = self._tails[task.repeat] = [
                (mark, key_bytes(criterion.id, repeat, *self._deciders[index]))
                for (index, criterion), mark in zip(
                    self._criteria, self._marks(), strict=True
                )
            ]
        start = key_bytes(task.digest, self._digest(outcome, task))
        case = case_mark(task.digest)
        return [unit_key(case + mark, start + tail) for mark, tail in tails]

    def _marks(self) -> list[str]:
        criteria = [criterion for _, criterion in self._criteria]
        return yardsticks(criteria, self._deciders, self._judging)

    def _digest(self, outcome: Outcome, task: Task) -> str:
        """Serialize the trace once, for its digest and for the journal."""
        trace = outcome.trace
        assert trace is not None
        if "digest" not in trace.__dict__:
            fault = None
            try:
                line = vars(trace).pop(LINE, None) or trace_line(trace)
                if len(line) > MAX_LINE:
                    fault = f"it is larger than {MAX_LINE} characters"
            except (TypeError, ValueError, AttributeError, RecursionError) as error:
                fault = f"{type(error).__name__}: {error}"
            if fault is not None:
                message = f"the run's trace can't be kept: {fault}"
                trace = failure(message, task.case, trace_id=trace.id)
                line = dump_line(trace_to_record(trace))
            clean = self._redactor.clean(line)
            if clean is not line:
                import json

                trace = trace_from_record(json.loads(clean))
                line = dump_line(trace_to_record(trace))
            # Where `cached_property` keeps it: the same hash, without a second dump.
            trace.__dict__["digest"] = content_key(line)
            outcome.trace = trace
            if not task.in_journal:
                outcome.line = line
        return trace.digest

    def _ask_judge(self, outcome: Outcome, task: Task) -> None:
        assert task.index is not None and task.key is not None
        trace = task.trace
        assert trace is not None
        criterion = self._criteria[task.index][1]
        judgement: Judgement | None
        try:
            judgement = self._judging.judge(criterion, task.case, trace, task.repeat)
        except BaseException as error:
            what = f"the judge failed: {type(error).__name__}: {said_by(error)}"
            judgement = Judgement(verdict=could_not_judge(what))
        if judgement is None:
            outcome.missing.append(task.index)
            return
        unit = self._unit(task, trace, criterion, task.key, judgement.verdict, "judge")
        unit = like(
            unit,
            model=judgement.model,
            usage=judgement.usage,
            raw=judgement.raw,
            notes=judgement.notes,
            verification=judgement.verification,
        )
        self._add(outcome, task.index, unit)
        if self._keep is not None:
            # Before this thread asks for the next one: a kill costs what is under way.
            for number, (index, unit, line) in enumerate(outcome.units):
                if line is not None:
                    self._keep(line)
                    outcome.units[number] = (index, unit, None)

    def _add(self, outcome: Outcome, index: int, unit: Unit) -> None:
        try:
            line = unit_line(unit)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            # A verdict that a check built by hand: a NaN, a ref that is none.
            what = f"the verdict can't be kept: {type(error).__name__}: {error}"
            unit = Unit(
                key=unit.key,
                case_id=unit.case_id,
                criterion_id=unit.criterion_id,
                repeat=unit.repeat,
                trace_id=unit.trace_id,
                verdict=could_not_judge(what),
                decided_by=unit.decided_by,
            )
            line = dump_line(unit_to_record(unit))
        clean = self._redactor.clean(line)
        if clean is not line:
            import json

            unit = unit_from_record(json.loads(clean))
        outcome.units.append((index, unit, seal(clean)))
