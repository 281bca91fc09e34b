"""Criteria, scopes and aggregates refuse what makes no sense."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import helix_runtime.criterion
import pytest
from helix_runtime.case import Case
from helix_runtime.criterion import (
    Criterion,
    Judge,
    Scope,
    check,
    every,
    mean,
    pass_k,
    rate,
    skipped,
    unwritten,
)
from helix_runtime.suite import Subject, Suite
from helix_runtime.trace import Trace
from helix_runtime.verdict import Verdict, passed


@check("greets", "The answer greets.", goal="always")
def greets(case: Case, trace: Trace) -> Verdict:
    return passed("it greets")


KIND = Judge("kind", "The answer is kind.", "It is kind.", "It is rude.")


def case(**fields: str | bool | None) -> Case:
    return Case(id="c", query="q", dimensions={"d": "v"}, **fields)  # type: ignore[arg-type]


def test_a_check_carries_its_criterion_and_says_where_it_stands() -> None:
    assert (greets.criterion, greets.statement, greets.goal) == (
        "greets",
        "The answer greets.",
        "always",
    )
    line = greets.function.__code__.co_firstlineno
    assert greets.place == f"test_criterion.py:{line}"


def test_the_method_follows_from_who_decides() -> None:
    both = Judge("greets", "The answer greets.", "It does.", "It does not.")
    assert Criterion(check=greets).method == "deterministic"
    assert Criterion(judge=KIND).method == "llm-judge"
    assert Criterion(check=greets, judge=both).method == "hybrid"


def test_a_criterion_without_a_decider_or_with_two_subjects_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a check or a judge"):
        Criterion()
    with pytest.raises(ValueError, match="can't decide one criterion"):
        Criterion(check=greets, judge=KIND)


@pytest.mark.parametrize(
    ("severity", "gates"),
    [("CRIT", True), ("HIGH", True), ("MED", False), ("LOW", False)],
)
def test_crit_and_high_gate_med_and_low_advise(severity: str, gates: bool) -> None:
    assert Criterion(check=greets, severity=severity).gates is gates  # type: ignore[arg-type]


def test_an_edited_judge_has_another_digest() -> None:
    edited = Judge("kind", "The answer is kind.", "It is kind.", "It is very rude.")
    assert edited.digest != KIND.digest


def test_a_scope_narrows_by_each_list_that_is_given() -> None:
    scope = Scope(datasets=["a", "b"], categories=["x"])
    assert scope.excludes(case(dataset="a", category="x")) is None
    assert scope.excludes(case(dataset="c", category="x")) is not None
    assert scope.excludes(case(dataset="a", category="y")) is not None
    assert Scope().excludes(case()) is None


def test_a_recorded_trace_of_no_case_is_judged_unless_the_scope_was_narrowed() -> None:
    alone = case(recorded=True)
    assert Scope(datasets=["a"]).excludes(alone) is None
    assert Scope(datasets=["a"], narrowed=True).excludes(alone) is not None


def test_a_row_derived_from_such_a_trace_has_its_scope() -> None:
    derived = case(source="derived")
    assert Scope(datasets=["a"]).excludes(derived) is None
    assert Scope(datasets=["a"], narrowed=True).excludes(derived) is not None
    assert Scope(datasets=["a"]).excludes(case(source="derived", dataset="b"))
    assert Scope(datasets=["a"]).excludes(case()) is not None


@pytest.mark.parametrize(
    ("aggregate", "number", "holds"),
    [
        (every(), 1.0, True),
        (every(), 0.999, False),
        (rate(">= 0.95"), 0.95, True),
        (rate("> 0.95"), 0.95, False),
        (mean("<= 2"), 2.0, True),
        (mean("< 2"), 2.0, False),
        (pass_k(3), 1.0, True),
    ],
)
def test_aggregates_compare_as_they_read(
    aggregate: object, number: float, holds: bool
) -> None:
    assert aggregate.holds(number) is holds  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", "0.9", "= 0.9", ">= x", ">= nan", "> inf"])
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        rate(text)


def suite_of(criteria: Sequence[Criterion]) -> Suite:
    return Suite(
        subject=Subject(id="s", name="S", version="1", kind="agent", purpose="p"),
        criteria=criteria,
        engine="code-written",
        spec_sha256="0",
        generator="helix-gen",
    )


def test_two_criteria_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="two criteria have the id 'greets'"):
        suite_of([Criterion(check=greets), Criterion(check=greets)])


def test_an_unwritten_check_is_uncertain_and_routed() -> None:
    verdict = unwritten()
    assert verdict.result == "uncertain"
    assert verdict.blocked_by is not None and verdict.blocked_by.kind == "scope"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_skipped_criterion_gives_way_to_another_of_its_id(
    order: tuple[int, int],
) -> None:
    both = (Criterion(check=skipped("greets", "It.")), Criterion(check=greets))
    kind = Criterion(judge=KIND)
    suite = suite_of([kind, *(both[place] for place in order)])
    assert suite.criteria == [kind, both[1]]
    alone = suite_of([kind, both[0]])
    assert alone.criteria == [kind, both[0]]
    with pytest.raises(ValueError, match="two criteria have the id 'greets'"):
        suite_of([*both, Criterion(check=greets)])


def test_a_skipped_criterion_is_uncertain_and_says_why() -> None:
    trace = Trace(id="t")
    for made, why in (
        (skipped("greets", "It greets."), "skipped by the suite's owner"),
        (
            skipped("greets", "It greets.", why="checks.py is broken"),
            "checks.py is broken",
        ),
    ):
        assert Criterion(check=made).id == "greets"
        verdict = made(case(), trace)
        assert verdict.result == "uncertain"
        assert verdict.blocked_by is not None
        assert (verdict.blocked_by.kind, verdict.blocked_by.text) == ("scope", why)


untyped: Any = helix_runtime.criterion  # an owner's editor need not check types


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: untyped.Criterion(check=KIND),
            "`check` must be a function of checks.py",
        ),
        (
            lambda: untyped.Criterion(judge=greets),
            "`judge` must be a Judge of judges.py",
        ),
        (
            lambda: untyped.Criterion(check=greets, passes="all"),
            "`passes` must be every()",
        ),
        (lambda: untyped.Criterion(check=greets, applies_to=["a"]), "must be a Scope"),
        (
            lambda: untyped.Criterion(check=greets, severity="high"),
            "one of CRIT, HIGH, MED, LOW",
        ),
        # A text is a list of its letters, and "book" is in "books".
        (
            lambda: untyped.Scope(datasets="books"),
            r"`datasets` of a Scope .* \['books'\]",
        ),
        (
            lambda: untyped.Scope(categories=[5]),
            "`categories` of a Scope must be a list",
        ),
        (
            lambda: untyped.Judge("kind", 5, "It is.", "It is not."),
            "`statement` of a Judge",
        ),
        (
            lambda: untyped.Judge("kind", "Kind?", "", "It is not."),
            "`pass_when` of a Judge",
        ),
        (
            lambda: untyped.Judge("kind", "Kind?", "Yes.", "No.", inputs=["transcipt"]),
            "not 'transcipt'",
        ),
        (
            lambda: untyped.Judge(
                "kind", "Kind?", "Yes.", "No.", examples=["kind words"]
            ),
            r"must hold Example\(…\) alone",
        ),
        (
            lambda: untyped.check("greets", None)(greets.function),
            "`statement` of a Check",
        ),
        (lambda: untyped.check("greets", "It greets.")("greets"), "is no function"),
        (
            lambda: suite_of(cast(Any, [greets])),
            r"must be a Criterion\(…\), not a Check",
        ),
    ],
)
def test_what_an_owner_gets_wrong_in_the_suite_is_refused_where_it_stands(
    make: Callable[[], object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        make()
