"""A criterion: one binary question, what decides it, where it applies, when it passes."""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from .canonical import canonical, content_key
from .case import Case
from .record import record
from .trace import Trace
from .verdict import Verdict, uncertain

Severity = Literal["CRIT", "HIGH", "MED", "LOW"]
SEVERITIES: Final[tuple[Severity, ...]] = ("CRIT", "HIGH", "MED", "LOW")
GATING: Final[frozenset[str]] = frozenset(("CRIT", "HIGH"))

Method = Literal["deterministic", "hybrid", "llm-judge"]
CriterionClass = Literal["code", "judge", "hybrid"]
CheckFunction = Callable[[Case, Trace], Verdict]


def _hold_to_texts(owner: object, needed: Sequence[str], free: Sequence[str]) -> None:
    """Raise ValueError where a field is no text, or a needed one is empty."""
    for name in (*needed, *free):
        value = getattr(owner, name)
        if not isinstance(value, str) or (name in needed and not value):
            what = "a text that is not empty" if name in needed else "a text"
            raise ValueError(f"`{name}` of a {type(owner).__name__} must be {what}")


def _hold_to_lists(owner: object, *names: str) -> None:
    """Raise ValueError where a field is no list of texts: a text would match its parts."""
    for name in names:
        value = getattr(owner, name)
        if isinstance(value, str) or not all(isinstance(one, str) for one in value):
            like = f": [{value!r}]" if isinstance(value, str) else ""
            kind = type(owner).__name__
            raise ValueError(f"`{name}` of a {kind} must be a list of texts{like}")


@record
class Check:
    """A code check: the criterion it decides and the function that decides it.

    The function is pure: it reads the case and the trace, and never a clock, a
    random source or the network. `is_skipped` marks the place of a check that is not
    there (see `skipped`). Raises ValueError where it is no check.
    """

    criterion: str
    statement: str
    goal: str
    function: CheckFunction
    is_skipped: bool = False

    def __post_init__(self) -> None:
        _hold_to_texts(self, ("criterion", "statement"), ("goal",))
        if not callable(self.function):
            raise ValueError(f"the check of {self.criterion!r} is no function")

    def __call__(self, case: Case, trace: Trace) -> Verdict:
        """Return the verdict of the function on one case and its trace."""
        return self.function(case, trace)

    @property
    def place(self) -> str:
        """Where the function stands: `checks.py:LINE`."""
        code = self.function.__code__
        name = code.co_filename.replace("\\", "/").rpartition("/")[2]
        return f"{name}:{code.co_firstlineno}"


def check(
    criterion: str, statement: str, *, goal: str = ""
) -> Callable[[CheckFunction], Check]:
    """Turn a function of (case, trace) into the check of one criterion."""

    def decorate(function: CheckFunction) -> Check:
        return Check(criterion, statement, goal, function)

    return decorate


NO_CHECK_YET: Final = "no executable check yet"


def unwritten() -> Verdict:
    """Return what a check says until it is written: uncertain, blocked by scope.

    The runner adds where the function stands. It is never a pass.
    """
    return uncertain(NO_CHECK_YET)


SKIPPED: Final = "skipped by the suite's owner"
NOBODY: Final = "Nobody decides this: "


def skipped(criterion: str, statement: str, *, why: str = SKIPPED) -> Check:
    """Return a check in the place of one that is not there: it is always uncertain.

    A generation writes it for a criterion whose check or judge was deleted, so that
    the criterion is never silently absent. `why` says what else keeps it away. Where
    the suite's table has another row of that criterion, this one gives way.
    """

    def decide(case: Case, trace: Trace) -> Verdict:
        return uncertain(f"{NOBODY}{why}.", text=why)

    return Check(criterion, statement, "", decide, is_skipped=True)


@record(kw_only=True)
class Example:
    """A labelled example for a judge: the excerpt of a run and the right verdict.

    `label` is pass, fail or borderline; a borderline example carries the `result` it
    should get. `case_id` and `trace_id` guard against leakage across the splits.
    """

    label: Literal["pass", "fail", "borderline"]
    excerpt: str
    critique: str
    result: Literal["pass", "fail", "uncertain"]
    case_id: str = ""
    trace_id: str = ""


@record
class Judge:
    """A judge: one criterion, one failure mode.

    `pass_when` and `fail_when` are its definitions; `notes` is what a judge should
    know beyond them; `inputs` narrows what it is shown to some of JUDGE_INPUTS (all
    when empty); `examples` come from the TRAIN split of labelled runs. Raises ValueError
    where it is no judge.
    """

    criterion: str
    statement: str
    pass_when: str
    fail_when: str
    goal: str = ""
    notes: str = ""
    inputs: Sequence[str] = ()
    examples: Sequence[Example] = ()

    def __post_init__(self) -> None:
        needed = ("criterion", "statement", "pass_when", "fail_when")
        _hold_to_texts(self, needed, ("goal", "notes"))
        _hold_to_lists(self, "inputs")
        unknown = [name for name in self.inputs if name not in JUDGE_INPUTS]
        if unknown:
            raise ValueError(
                f"the Judge of {self.criterion!r}: `inputs` are of "
                f"{', '.join(JUDGE_INPUTS)}, not {unknown[0]!r}"
            )
        if any(not isinstance(one, Example) for one in self.examples):
            raise ValueError(
                f"the Judge of {self.criterion!r}: `examples` must hold Example(…) alone"
            )

    @property
    def digest(self) -> str:
        """The content hash of the judge: an edited judge is judged again."""
        examples = [
            [e.label, e.excerpt, e.critique, e.result, e.case_id, e.trace_id]
            for e in self.examples
        ]
        return content_key(
            canonical(
                [
                    self.criterion,
                    self.statement,
                    self.pass_when,
                    self.fail_when,
                    self.goal,
                    self.notes,
                    list(self.inputs),
                    examples,
                ]
            )
        )


JUDGE_INPUTS: Final = ("case", "expected", "transcript", "trajectory", "output")


@record(kw_only=True)
class Scope:
    """Which cases a criterion judges; an empty list narrows nothing.

    A case is in scope when it is in one of `datasets`, one of `categories` and one
    of `scenarios`, each where given. A recorded trace without a row belongs to no
    dataset, and so may a row that was derived from one: they are in scope of every
    criterion whose scope is not narrower than the spec's own mapping (`narrowed` is
    false). Raises ValueError for what is no list of names.
    """

    datasets: Sequence[str] = ()
    categories: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    narrowed: bool = False

    def __post_init__(self) -> None:
        _hold_to_lists(self, "datasets", "categories", "scenarios")

    def excludes(self, case: Case) -> str | None:
        """Return why the case is out of scope, or None where it is in scope."""
        if not self.narrowed and case.is_of_no_dataset:
            return None
        if self.datasets and case.dataset not in self.datasets:
            return "its dataset does not map to this criterion"
        if self.categories and case.category not in self.categories:
            return "its category is out of the criterion's scope"
        if self.scenarios and case.scenario not in self.scenarios:
            return "its scenario is out of the criterion's scope"
        return None


EVERYWHERE: Final = Scope()


@record(kw_only=True)
class Aggregate:
    """When a criterion passes over its units.

    `kind` "rate": the share of passes compares with `limit` ("all" is a rate of at
    least 1); "mean": the mean of the verdicts' `value`; "pass^k": the unbiased
    estimate that `k` repeats of a case all pass, averaged over cases, is at least
    `limit`; "baseline": the share of passes minus that of a baseline run, over the
    cases of both, compares with `limit`.
    """

    kind: Literal["rate", "mean", "pass^k", "baseline"]
    operator: Literal[">=", ">", "<=", "<"]
    limit: float
    k: int = 1

    def holds(self, number: float) -> bool:
        """Whether `number` meets the limit."""
        if self.operator == ">=":
            return number >= self.limit
        if self.operator == ">":
            return number > self.limit
        if self.operator == "<=":
            return number <= self.limit
        return number < self.limit

    def __str__(self) -> str:
        name = f"pass^{self.k}" if self.kind == "pass^k" else self.kind
        short = f"{self.limit:g}"
        limit = short if float(short) == self.limit else repr(self.limit)
        return f"{name} {self.operator} {limit}"


def every() -> Aggregate:
    """Every decided unit must pass."""
    return Aggregate(kind="rate", operator=">=", limit=1.0)


def rate(condition: str) -> Aggregate:
    """The share of passes must meet a condition such as ">= 0.95"."""
    operator, limit = _condition(condition)
    return Aggregate(kind="rate", operator=operator, limit=limit)


def mean(condition: str) -> Aggregate:
    """The mean of the measured values must meet a condition such as "> 0.9"."""
    operator, limit = _condition(condition)
    return Aggregate(kind="mean", operator=operator, limit=limit)


def baseline(condition: str) -> Aggregate:
    """The share of passes minus the baseline run's must meet one such as ">= 0"."""
    operator, limit = _condition(condition)
    return Aggregate(kind="baseline", operator=operator, limit=limit)


def limit_fault(aggregate: Aggregate) -> str | None:
    """Return why nothing could miss or meet an aggregate, or None where it decides.

    A rate lies in [0, 1], and more passes must never make it worse. A mean may be of
    anything measured; one of shares that must be high is the rate of passes where
    nothing is.
    """
    limit, operator = aggregate.limit, aggregate.operator
    if aggregate.kind == "rate":
        if not 0 <= limit <= 1:
            return f"a rate lies between 0 and 1, not at {limit:g}"
        if operator in ("<", "<="):
            return (
                f"a rate {operator} {limit:g} passes by being low; say what must hold "
                'in the criterion, and how often as ">= 0.95"'
            )
        if operator == ">" and limit == 1:
            return "no rate is above 1; every unit passes at `>= 1`"
    if aggregate.kind == "baseline":
        return _difference_fault(operator, limit)
    if aggregate.kind != "pass^k" and (operator, limit) == (">=", 0):
        return f"a {aggregate.kind} of at least 0 can't be missed: write `> 0`"
    return None


def _difference_fault(operator: str, limit: float) -> str | None:
    if not -1 <= limit <= 1:
        return f"a difference of two rates lies between -1 and 1, not at {limit:g}"
    if operator in ("<", "<="):
        return (
            f"a difference {operator} {limit:g} passes by getting worse; say how much "
            'better, or how little worse, as ">= 0" or ">= -0.05"'
        )
    if (operator, limit) == (">=", -1):
        return "no rate is lower than its baseline's by more than 1: write `>= 0`"
    if (operator, limit) == (">", 1):
        return "no rate is higher than its baseline's by more than 1"
    return None


def pass_k(k: int) -> Aggregate:
    """Each case must pass on `k` repeats out of `k` (pass^k)."""
    if k < 1:
        raise ValueError("pass^k needs a k of at least 1")
    return Aggregate(kind="pass^k", operator=">=", limit=1.0, k=k)


def _condition(text: str) -> tuple[Literal[">=", ">", "<=", "<"], float]:
    import math

    operators: tuple[Literal[">=", ">", "<=", "<"], ...] = (">=", "<=", ">", "<")
    for operator in operators:
        if text.startswith(operator):
            number = text[len(operator) :]
            # What Python takes for a number beyond that means another one to readers.
            if "_" in number or not number.isascii():
                break
            limit = float(number)
            if not math.isfinite(limit):
                break
            return operator, limit
    raise ValueError(f"not a condition such as '>= 0.95': {text!r}")


# The ids of the derived criterion "does the run show its scenario's expected
# behaviour"; the second where the spec has a criterion of the first id.
SCENARIO_BEHAVIOR: Final = ("scenario-behavior", "scenario-behavior-derived")


@record(kw_only=True)
class Criterion:
    """One criterion of the suite: its check, its judge or both (hybrid).

    `source` is "spec" for what the spec asks, "derived" for what the generator
    added. CRIT and HIGH gate; MED and LOW advise. Raises ValueError where neither a
    check nor a judge is given, where the two decide different criteria, and where a
    part of it is of another kind: the row is the owner's to edit.
    """

    check: Check | None = None
    judge: Judge | None = None
    severity: Severity = "HIGH"
    source: Literal["spec", "derived"] = "spec"
    applies_to: Scope = EVERYWHERE
    passes: Aggregate = every()

    def __post_init__(self) -> None:
        if self.check is None and self.judge is None:
            raise ValueError("a criterion needs a check or a judge")
        self._hold_to_kinds()
        if (
            self.check is not None
            and self.judge is not None
            and self.check.criterion != self.judge.criterion
        ):
            raise ValueError(
                f"the check of {self.check.criterion!r} and the judge of "
                f"{self.judge.criterion!r} can't decide one criterion"
            )
        if self.severity not in SEVERITIES:
            raise ValueError(
                f"unknown severity {self.severity!r}: it is one of "
                f"{', '.join(SEVERITIES)}"
            )

    def _hold_to_kinds(self) -> None:
        """Raise ValueError where a part is not of its kind, and name what belongs there."""
        kinds = (
            ("check", Check, "a function of checks.py with @check above it"),
            ("judge", Judge, "a Judge of judges.py"),
            ("applies_to", Scope, "a Scope(…)"),
            (
                "passes",
                Aggregate,
                "every(), rate(…), mean(…), pass_k(…) or baseline(…)",
            ),
        )
        for name, kind, what in kinds:
            value = getattr(self, name)
            if not isinstance(value, kind) and not (
                value is None and name in ("check", "judge")
            ):
                found = type(value).__name__
                raise ValueError(f"`{name}` must be {what}, not of the type {found}")

    @property
    def id(self) -> str:
        """The criterion's id, as in the spec."""
        decider = self.judge or self.check
        assert decider is not None
        return decider.criterion

    @property
    def statement(self) -> str:
        """The question in words."""
        decider = self.judge or self.check
        assert decider is not None
        return decider.statement

    @property
    def goal(self) -> str:
        """The spec's goal in words; may be empty."""
        decider = self.judge or self.check
        assert decider is not None
        return decider.goal

    @property
    def is_skipped(self) -> bool:
        """Whether nothing decides it: the row stands for what is not there."""
        return self.check is not None and self.check.is_skipped

    @property
    def method(self) -> Method:
        """How it is decided: code alone, a judge alone, or code first."""
        if self.judge is None:
            return "deterministic"
        return "llm-judge" if self.check is None else "hybrid"

    @property
    def criterion_class(self) -> CriterionClass:
        """The scorecard's word for the method."""
        if self.judge is None:
            return "code"
        return "judge" if self.check is None else "hybrid"

    @property
    def needs_expected_behavior(self) -> bool:
        """Whether it compares a run with its case's expected behaviour.

        Such a criterion is `na` where the case states none.
        """
        return self.source == "derived" and self.id in SCENARIO_BEHAVIOR

    def excludes(self, case: Case) -> str | None:
        """Return why the case is out of the criterion's scope, or None."""
        if self.needs_expected_behavior and not case.expected_behavior:
            return "the case states no expected behaviour"
        return self.applies_to.excludes(case)

    @property
    def gates(self) -> bool:
        """Whether a fail of it fails the gate."""
        return self.severity in GATING
