"""Units to criteria, criteria to components, components to the gate.

The one place that decides: the terminal, the scorecard, JUnit and the exit code all
read the `Decision` made here. Units stream in, in any order: a tally of a million
units of one repeat stays as small as one of ten, and the order leaves no trace.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Final, Literal

from .case import Case
from .criterion import Criterion, CriterionClass, Severity
from .earliest import Earliest, Order
from .names import beginning
from .record import record
from .rollup import (
    IDLE,
    NOTHING_GATES,
    Bucket,
    Counts,
    CriterionVerdict,
    Range,
    Settled,
    interval,
    merged,
    settle,
)
from .spread import (
    FORCED,
    Flapping,
    JudgeFlapping,
    Short,
    Spread,
    SpreadRule,
    SpreadTally,
    contradict,
    spread_of,
)
from .stats import pass_at_k, pass_hat_k
from .suite import Suite
from .unit import Unit
from .verdict import UNTESTED, Assumption, BlockedBy, Ref, Result, Verdict

if TYPE_CHECKING:
    from .baseline.difference import Compared

MAX_SAMPLES: Final = 5
"""How many units of a criterion are kept as samples of a kind, earliest first."""
MAX_TRACES: Final = 20
"""How many trace ids a criterion names as the source of its verdict."""
MAX_ASSUMPTIONS: Final = 20
"""How many distinct assumptions of its units a criterion lists."""

GateVerdict = Literal["pass", "fail", "incomplete"]

# What an undecided unit waits for, in the order in which a draw is resolved.
_OPEN_KINDS: Final = ("missing", "error", "factual-intent", "normative", "scope")


@record(kw_only=True)
class Sample:
    """One unit that shows why: its critique, refs, and for an open one what blocks it.

    `name` is what the spec calls the case (its item or scenario), `query` its
    beginning.
    """

    case_id: str
    trace_id: str
    repeat: int
    result: Result | Literal["missing"]
    critique: str
    refs: tuple[Ref, ...] = ()
    blocked_by: BlockedBy | None = None
    name: str | None = None
    query: str = ""


@record(kw_only=True)
class CriterionDecision:
    """A criterion over all its units.

    `rate` is what the threshold is about (a share, a mean or pass^k; against a baseline
    the share, and the difference stands in the critique), with its 95 % `interval` and
    its `bounds` (open units as fails, as passes). `critique`, `refs`
    and `source_trace_ids` come from the earliest units that explain the verdict;
    `blocked_by` is what keeps most of the open units open. `failing` and `open` are
    samples, earliest first.
    """

    id: str
    statement: str
    criterion_class: CriterionClass
    severity: Severity
    source: Literal["spec", "derived"]
    gates: bool
    verdict: CriterionVerdict
    threshold: str
    counts: Counts
    rate: float | None
    interval: Range | None
    bounds: Range | None
    reason: str
    critique: str
    refs: tuple[Ref, ...]
    assumptions: tuple[Assumption, ...]
    blocked_by: BlockedBy | None
    source_trace_ids: tuple[str, ...]
    failing: tuple[Sample, ...]
    open: tuple[Sample, ...]


@record(kw_only=True)
class Component:
    """A part of the gate: the whole subject, a dataset or a job."""

    id: str
    verdict: GateVerdict
    because: tuple[str, ...]


@record(kw_only=True)
class CriterionVariance:
    """The spread of a criterion over repeats.

    `pass_hat_k` and `pass_at_k` are the unbiased estimates for k = the planned
    repeats, over the cases with as many finished ones; None where there is none.
    `flapping`, `judge_flapping` and `short` are the earliest of what is not stable.
    """

    id: str
    severity: Severity
    gates: bool
    subject: Spread
    judge: Spread
    pass_hat_k: float | None
    pass_at_k: float | None
    flapping: tuple[Flapping, ...]
    judge_flapping: tuple[JudgeFlapping, ...]
    short: tuple[Short, ...]


@record(kw_only=True)
class Decision:
    """What a run comes to. `variance` is empty where cases were not repeated.

    `rule` is what its spread was held against; `notes` say where it was let stand.
    """

    gate: GateVerdict
    components: tuple[Component, ...]
    criteria: tuple[CriterionDecision, ...]
    variance: tuple[CriterionVariance, ...]
    rule: SpreadRule = SpreadRule()
    notes: tuple[str, ...] = ()


class Tally:
    """Takes in units one by one, in any order, and decides.

    `repeats` is how many repeats of each case are planned; 0 where that is not known
    (recorded runs, each with a trace of its own). With one repeat nothing is remembered
    of a case, nor of a case that a recorded trace stands for by itself; recorded runs
    of a case are counted, however many; otherwise the units of a case are kept together
    until all of its repeats are in. `rule` says which of them flap.
    """

    def __init__(
        self, suite: Suite, *, repeats: int, rule: SpreadRule | None = None
    ) -> None:
        self._suite = suite
        self._repeats = repeats
        self._rule = rule = rule or SpreadRule()
        self._tallies = {
            criterion.id: _CriterionTally(criterion, repeats=repeats, rule=rule)
            for criterion in suite.criteria
        }

    def add(self, unit: Unit, *, case: Case, sequence: int) -> None:
        """Count a decided unit. Raises KeyError for a criterion the suite has not."""
        verdict = unit.verdict
        self._tallies[unit.criterion_id].add(
            verdict.result,
            verdict,
            case=case,
            trace_id=unit.trace_id,
            repeat=unit.repeat,
            sequence=sequence,
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
        self._tallies[criterion_id].add(
            "missing",
            why,
            case=case,
            trace_id=trace_id,
            repeat=repeat,
            sequence=sequence,
        )

    def add_series(
        self,
        criterion_id: str,
        case: Case,
        results: Sequence[tuple[str, str]],
        *,
        repeats: int,
        order: Order,
    ) -> None:
        """Take in the repeats of a case for their spread alone: see `defer_spread`."""
        self._tallies[criterion_id].add_series(
            case, results, repeats=repeats, order=order
        )

    def defer_spread(self, criterion_id: str) -> None:
        """Leave the spread of a criterion to `add_series`: its traces are judged again."""
        self._tallies[criterion_id].defers_spread = True

    def compare(self, criterion_id: str, compared: "Compared") -> None:
        """Say how the units of a criterion stand to those of a baseline run."""
        self._tallies[criterion_id].compared = compared

    def decide(self) -> Decision:
        """Return the decision. Call it when all is in: it closes unfinished cases."""
        tallies = tuple(self._tallies.values())
        for tally in tallies:
            tally.close_cases()
        components = tuple(_components(self._suite, tallies, self._datasets(tallies)))
        measured = self._repeats != 1 or self._rule.judgements > 1
        return Decision(
            gate=_worst(component.verdict for component in components),
            components=components,
            criteria=tuple(tally.decide() for tally in tallies),
            variance=tuple(t.variance() for t in tallies) if measured else (),
            rule=self._rule,
            notes=(
                *(note for t in tallies if (note := t.forced()) is not None),
                *_ungated(tallies),
                *_strange(self._suite, tallies),
                *_idle(tallies),
            ),
        )

    def _datasets(self, tallies: Iterable["_CriterionTally"]) -> list[str]:
        seen = {dataset for tally in tallies for dataset in tally.buckets}
        return sorted(dataset for dataset in seen if dataset is not None)


def _ungated(tallies: Iterable["_CriterionTally"]) -> Iterable[str]:
    """Yield what is said of cases that name no dataset, where no gate looks at them."""
    gating = [t for t in tallies if t.criterion.gates]
    counts = [t.buckets[None].counts() for t in gating if None in t.buckets]
    if (
        any(c.na for c in counts)
        and not any(c.judged for c in counts)
        and all(t.criterion.applies_to.datasets for t in gating)
    ):
        yield (
            "cases that name no dataset are in the scope of no CRIT or HIGH criterion "
            "of this run (`audit` lists them): for the gate they are not judged"
        )


def _strange(suite: Suite, tallies: Iterable["_CriterionTally"]) -> Iterable[str]:
    """Yield what is said of cases whose dataset nothing of the suite names."""
    mapped = [
        t for t in tallies if t.criterion.gates and t.criterion.applies_to.datasets
    ]
    known = suite.datasets()
    met = {d for t in mapped for d, b in t.buckets.items() if b.counts().na}
    for name in sorted(d for d in met if d is not None and d not in known):
        which = (
            f"`{mapped[0].criterion.id}` is"
            if len(mapped) == 1
            else f"{len(mapped)} CRIT or HIGH criteria are"
        )
        yield (
            f"cases of the dataset {name!r} are judged by no criterion that is mapped to "
            f"datasets ({which}): nothing of this run names it. Was it renamed? It knows "
            f"{', '.join(map(repr, sorted(known)[:_NAMED]))}: give the rows one of "
            "those in dataset.jsonl"
        )


def _idle(tallies: Iterable["_CriterionTally"]) -> Iterable[str]:
    """Yield what is said of the gating criteria that no run put to the test."""
    names = [t.criterion.id for t in tallies if t.criterion.gates and t.is_idle]
    if names:
        listed = ", ".join(f"`{name}`" for name in names[:_NAMED])
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield (
            f"never exercised: {listed}{more}. Nothing that "
            f"{'it looks' if len(names) == 1 else 'they look'} at happened in any run, so "
            "the pass says only that: add cases in which it does"
        )


_NAMED: Final = 5


def _is_untested(said: Verdict | str) -> bool:
    return isinstance(said, Verdict) and said.critique.startswith(UNTESTED)


_UNKNOWN_DATASET: Final = "is it misspelt? No job, and nothing of this run, names it"


def _components(
    suite: Suite, tallies: Sequence["_CriterionTally"], datasets: Sequence[str]
) -> Iterable[Component]:
    """Yield the whole subject, each dataset and each job that cases exercise.

    In a dataset or a job a criterion is decided over the units there, so an average
    can't hide a dataset that misses the threshold; where all of its units are `na`
    it has nothing to say.
    """
    gating = [tally for tally in tallies if tally.criterion.gates]
    idle = [
        job for job, used in suite.jobs.items() if not any(d in datasets for d in used)
    ]
    notes = [f'no case of this run exercises the job "{job}"' for job in idle]
    if gating:
        whole = [(tally, tally.settled(None)) for tally in gating]
        yield _component("subject", whole, notes)
    else:
        why = "no criterion gates: none is CRIT or HIGH"
        yield Component(id="subject", verdict="incomplete", because=(why, *notes))
    known = suite.datasets()
    parts: list[tuple[str, Sequence[str]]] = []
    parts += [(f"dataset:{dataset}", (dataset,)) for dataset in datasets]
    parts += [
        (f"job:{job}", tuple(d)) for job, d in suite.jobs.items() if job not in idle
    ]
    for name, part in parts:
        settled = [(tally, tally.settled(part)) for tally in gating]
        unknown = [] if known.intersection(part) else [_UNKNOWN_DATASET]
        judging = [s for s in settled if s[1].counts.judged]
        yield _component(name, judging, unknown if known and not judging else [])


def _component(
    name: str, settled: Sequence[tuple["_CriterionTally", Settled]], notes: list[str]
) -> Component:
    failing = [(t, s) for t, s in settled if s.verdict == "fail"]
    waiting = [(t, s) for t, s in settled if s.verdict == "indeterminate"]
    verdict: GateVerdict = "pass"
    if not settled:
        because = [NOTHING_GATES]
    elif failing:
        verdict = "fail"
        because = [f"`{t.criterion.id}` fails: {s.reason}" for t, s in failing]
    elif waiting:
        verdict = "incomplete"
        because = [
            f"`{t.criterion.id}` is indeterminate: {s.reason}" for t, s in waiting
        ]
    elif len(settled) == 1:
        because = ["its one gating criterion passes"]
    else:
        because = [f"all {len(settled)} gating criteria pass"]
    return Component(id=name, verdict=verdict, because=(*because, *notes))


def _worst(verdicts: Iterable[GateVerdict]) -> GateVerdict:
    found = set(verdicts)
    if "fail" in found:
        return "fail"
    return "incomplete" if "incomplete" in found else "pass"


class _Witnesses:
    """The earliest units of one kind: a few as samples, more by their trace's id."""

    __slots__ = ("count", "samples", "traces")

    def __init__(self) -> None:
        self.count = 0
        self.samples: Earliest[Order, Sample] = Earliest(MAX_SAMPLES)
        self.traces: Earliest[str, None] = Earliest(MAX_TRACES)


class _OpenCase:
    """A case whose repeats are not all in: how many had each result.

    Where they are planned, `results` are their (trace id, result) pairs as well.
    """

    __slots__ = ("counts", "dataset", "name", "order", "results")

    def __init__(self, case: Case, order: Order) -> None:
        self.dataset = case.dataset
        self.name = case.item or case.scenario
        self.order = order
        self.counts: dict[str, int] = {}
        self.results: list[tuple[str, str]] = []


class _CriterionTally:
    """The units of one criterion: counts by dataset, witnesses by kind."""

    def __init__(self, criterion: Criterion, *, repeats: int, rule: SpreadRule) -> None:
        self.criterion = criterion
        self.buckets: dict[str | None, Bucket] = {}
        self.defers_spread = False
        self.compared: Compared | None = None
        # Only code says that nothing of what it looks at happened; what a judge writes
        # is a stranger's text.
        self._exercised = criterion.judge is not None
        self._repeats = repeats
        self._rule = rule
        self._measures = criterion.passes.kind == "mean"
        self._by_case = repeats != 1 or criterion.passes.kind == "pass^k"
        self._open_cases: dict[str, _OpenCase] = {}
        self._witnesses: dict[str, _Witnesses] = {}
        self._assumptions: Earliest[Assumption, Assumption] = Earliest(MAX_ASSUMPTIONS)
        self._spread = SpreadTally(rule)

    # -- taking in --------------------------------------------------------------

    def add(
        self,
        result: Result | Literal["missing"],
        said: Verdict | str,
        *,
        case: Case,
        trace_id: str,
        repeat: int,
        sequence: int,
    ) -> None:
        """Count a unit; `said` is its verdict, or why it is missing.

        The unit of a recorded run without a row is the only one of its case.
        """
        dataset, case_id = case.dataset, case.id
        bucket = self.buckets.get(dataset)
        if bucket is None:
            bucket = self.buckets[dataset] = Bucket()
        bucket.results[result] += 1
        if self._by_case:
            if case.recorded or self._repeats == 1:
                _count_case(bucket, {result: 1})
            else:
                order = (sequence, case_id, repeat, 0)
                self._add_to_case(case, trace_id, result, order)
        if result == "na":
            return
        if result == "pass" or result == "fail":
            kind: str = result
            if not self._exercised:
                self._exercised = not _is_untested(said)
            if repeat:
                bucket.later += 1
            if self._measures and isinstance(said, Verdict):
                bucket.add_value(said.value, passed=result == "pass")
        else:
            kind = _open_kind(result, said)
        witnesses = self._witnesses.get(kind)
        if witnesses is None:
            witnesses = self._witnesses[kind] = _Witnesses()
        witnesses.count += 1
        if witnesses.traces.wants(sequence) or witnesses.samples.wants(sequence):
            order = (sequence, case_id, repeat, 0)
            witnesses.traces.add(order, trace_id, None)
            if witnesses.samples.wants(sequence):
                sample = _sample(result, said, case, trace_id, repeat)
                witnesses.samples.add(order, order, sample)
        if (
            isinstance(said, Verdict)
            and said.assumptions
            and self._assumptions.wants(sequence)
        ):
            for place, assumption in enumerate(said.assumptions):
                order = (sequence, case_id, repeat, place)
                self._assumptions.add(order, assumption, assumption)

    def _add_to_case(
        self, case: Case, trace_id: str, result: str, order: Order
    ) -> None:
        found = self._open_cases.get(case.id)
        if found is None:
            found = self._open_cases[case.id] = _OpenCase(case, order)
        found.order = min(found.order, order)
        found.counts[result] = found.counts.get(result, 0) + 1
        if self._repeats:
            found.results.append((trace_id, result))
            if len(found.results) == self._repeats:
                self._close(case.id, self._open_cases.pop(case.id))

    def close_cases(self) -> None:
        """Take the cases in whose repeats did not all come in."""
        for case_id, case in self._open_cases.items():
            self._close(case_id, case)
        self._open_cases = {}

    def _close(self, case_id: str, case: _OpenCase) -> None:
        _count_case(self.buckets[case.dataset], case.counts)
        if self.defers_spread:
            return
        if self._repeats:
            self._spread.add_case(
                case_id,
                case.results,
                repeats=self._repeats,
                order=case.order,
                name=case.name,
            )
        else:
            self._spread.add_runs(
                case_id, case.counts, order=case.order, name=case.name
            )

    def add_series(
        self,
        case: Case,
        results: Sequence[tuple[str, str]],
        *,
        repeats: int,
        order: Order,
    ) -> None:
        """Take in the spread of a case, the judgements of each trace together."""
        differs = self._spread.add_case(
            case.id,
            results,
            repeats=repeats,
            order=order,
            name=case.item or case.scenario,
        )
        # Where its runs contradict each other too, the case is counted with those.
        first = dict(reversed(results)).values()
        passes = sum(result == "pass" for result in first)
        fails = sum(result == "fail" for result in first)
        if differs and not contradict(passes, fails, ceiling=self._rule.ceiling):
            self.buckets[case.dataset].wavering += 1

    # -- deciding ---------------------------------------------------------------

    def settled(self, datasets: Sequence[str] | None) -> Settled:
        """Return the criterion over some datasets; None is everything."""
        return settle(
            self.criterion.passes,
            self._bucket(datasets),
            repeats=self._repeats,
            rule=self._rule,
            compared=self.compared,
            datasets=datasets,
        )

    def forced(self) -> str | None:
        """Return what is said of a pass that was let stand on flapping cases."""
        settled = self.settled(None)
        cases = settled.flapping
        if not cases or settled.verdict != "pass":
            return None
        many = "1 case flaps" if cases == 1 else f"{cases} cases flap"
        return f"{FORCED}`{self.criterion.id}` passes although {many}"

    @property
    def is_idle(self) -> bool:
        """Whether it passes by runs in which nothing happened that it looks at."""
        return not self._exercised and self.settled(None).verdict == "pass"

    def _idle(self) -> str:
        """Return how a criterion's critique begins that no run exercised, or nothing."""
        passes = sum(bucket.results["pass"] for bucket in self.buckets.values())
        runs = "1 run" if passes == 1 else f"{passes} runs"
        return f"{IDLE}{runs}. " if self.is_idle else ""

    def _bucket(self, datasets: Sequence[str] | None) -> Bucket:
        if datasets is None:
            return merged(self.buckets.values())
        # A job may name a dataset twice.
        chosen = sorted(set(datasets) & self.buckets.keys())
        part = merged(self.buckets[dataset] for dataset in chosen)
        # All datasets are measured on one scale, whatever of it one of them shows.
        for bucket in self.buckets.values():
            part.lowest = min(part.lowest, bucket.lowest)
            part.highest = max(part.highest, bucket.highest)
        return part

    def decide(self) -> CriterionDecision:
        """Return the criterion over everything."""
        criterion = self.criterion
        bucket = self._bucket(None)
        settled = self.settled(None)
        waiting_for = self._dominating()
        hindered = False
        explaining = waiting_for
        if settled.verdict != "indeterminate":
            upward = criterion.passes.operator in (">=", ">")
            explaining = "pass" if upward == (settled.verdict == "pass") else "fail"
        elif settled.flapping:
            explaining = "fail"
        witnesses = self._witnesses.get(explaining or "", None)
        first = None
        if witnesses is not None:
            first = next(iter(witnesses.samples.values()), None)
        blocked_by = None
        critique = None
        if criterion.passes.kind == "baseline":
            hindered = self.compared is None or self.compared.hindrance is not None
            critique = self._compared_critique(settled.reason)
        if settled.verdict == "indeterminate":
            blocked_by = BlockedBy("scope", settled.reason)
            if settled.flapping or hindered:
                first = None
            elif first is not None and first.blocked_by is not None:
                blocked_by = first.blocked_by
        failing = self._witnesses.get("fail")
        return CriterionDecision(
            id=criterion.id,
            statement=criterion.statement,
            criterion_class=criterion.criterion_class,
            severity=criterion.severity,
            source=criterion.source,
            gates=criterion.gates,
            verdict=settled.verdict,
            threshold=str(criterion.passes),
            counts=settled.counts,
            rate=settled.rate,
            interval=interval(criterion.passes, bucket, seed=criterion.id),
            bounds=settled.bounds,
            reason=settled.reason,
            critique=self._idle()
            + (critique or (settled.reason if first is None else first.critique)),
            refs=() if first is None else first.refs,
            assumptions=self._assumptions.values(),
            blocked_by=blocked_by,
            source_trace_ids=() if witnesses is None else witnesses.traces.keys(),
            failing=() if failing is None else failing.samples.values(),
            open=self._open_samples(),
        )

    def _compared_critique(self, reason: str) -> str:
        if self.compared is None:
            return reason
        return self.compared.critique(reason, seed=self.criterion.id)

    def _dominating(self) -> str | None:
        """Return what most of the open units wait for."""
        found = [kind for kind in _OPEN_KINDS if kind in self._witnesses]
        if not found:
            return None
        return max(found, key=lambda kind: self._witnesses[kind].count)

    def _open_samples(self) -> tuple[Sample, ...]:
        merge: Earliest[Order, Sample] = Earliest(MAX_SAMPLES)
        for kind in _OPEN_KINDS:
            if kind in self._witnesses:
                samples = self._witnesses[kind].samples
                for order, sample in zip(samples.keys(), samples.values(), strict=True):
                    merge.add(order, order, sample)
        return merge.values()

    def variance(self) -> CriterionVariance:
        """Return the spread of the criterion over the repeats of its cases."""
        k = max(self._repeats or self._rule.runs, 1)
        sampled = [
            (p, p + f, count)
            for (p, f, _), count in sorted(self._bucket(None).cases.items())
            if p + f >= k
        ]
        cases = sum(count for _, _, count in sampled)
        hat = at = None
        if cases:
            hat = fsum(n * pass_hat_k(p, total, k) for p, total, n in sampled) / cases
            at = fsum(n * pass_at_k(p, total, k) for p, total, n in sampled) / cases
        return CriterionVariance(
            id=self.criterion.id,
            severity=self.criterion.severity,
            gates=self.criterion.gates,
            subject=spread_of(self._spread.subject),
            judge=spread_of(self._spread.judge),
            pass_hat_k=hat,
            pass_at_k=at,
            flapping=self._spread.flapping.values(),
            judge_flapping=self._spread.judge_flapping.values(),
            short=self._spread.short.values(),
        )


def _count_case(bucket: Bucket, counts: Mapping[str, int]) -> None:
    passes, fails = counts.get("pass", 0), counts.get("fail", 0)
    decided = passes + fails + counts.get("na", 0)
    bucket.add_case(passes, fails, sum(counts.values()) - decided)


def _open_kind(result: str, said: Verdict | str) -> str:
    if result != "uncertain" or isinstance(said, str):
        return result
    return "scope" if said.blocked_by is None else said.blocked_by.kind


def _sample(
    result: Result | Literal["missing"],
    said: Verdict | str,
    case: Case,
    trace_id: str,
    repeat: int,
) -> Sample:
    blocked_by: BlockedBy | None
    if isinstance(said, str):
        critique, blocked_by = said, BlockedBy("scope", said)
    else:
        critique, blocked_by = said.critique, said.blocked_by
        if result == "error":
            blocked_by = BlockedBy("scope", f"could not be judged: {critique}")
        elif result == "uncertain" and blocked_by is None:
            blocked_by = BlockedBy("scope", critique)
    return Sample(
        case_id=case.id,
        trace_id=trace_id,
        repeat=repeat,
        result=result,
        critique=critique,
        refs=() if isinstance(said, str) else said.refs,
        blocked_by=blocked_by,
        name=case.item or case.scenario,
        query=beginning(case.query),
    )
