"""A criterion against a baseline: pairs of cases, the difference, what hinders it."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.baseline.baseline import Baseline
from helix_runtime.baseline.changes import changes_of
from helix_runtime.baseline.comparing import Comparing
from helix_runtime.baseline.difference import (
    NO_BASELINE,
    NO_PAIR,
    compare,
    difference,
    interval_of,
    points,
)
from helix_runtime.baseline.pairing import Wordings
from helix_runtime.baseline.side import Side
from helix_runtime.canonical import content_key
from helix_runtime.case import Case
from helix_runtime.criterion import Aggregate, Scope, baseline
from helix_runtime.decide import CriterionDecision, Decision, Tally
from helix_runtime.journal import case_mark
from helix_runtime.pin import Pin
from helix_runtime.record import replace as changed
from helix_runtime.scorecard import dump_scorecard
from helix_runtime.spread import SpreadRule
from helix_runtime.suite import Suite
from helix_runtime.verdict import BlockedBy
from hypothesis import example, given
from hypothesis import strategies as st
from support.decisions import (
    NO_JUDGE,
    PIN,
    RUN,
    Said,
    case_of,
    criterion,
    decide,
    repeated,
    results,
    scorecard,
    suite,
    unit_of,
)

NO_WORSE = baseline(">= 0")


def baseline_of(
    asked: Suite, said: Sequence[Said], *, repeats: int = 1, pin: Pin | None = None
) -> Baseline:
    """Return those units as a baseline, as reading their files gives it."""
    side = Side()
    for sequence, one in enumerate(said):
        if one.verdict is not None:
            side.add(unit_of(one, sequence))
    decision = decide(asked, said, repeats=repeats)
    run = changed(RUN, repeats=repeats)
    card = scorecard(asked, decision, run=run, pin=pin)
    return Baseline(
        folder=Path("baseline"),
        digest=card["digest"],
        content=content_key(card["digest"], side.digest),
        card=card,
        side=side,
    )


def against(
    asked: Suite,
    said: Sequence[Said],
    before: Baseline,
    *,
    repeats: int = 1,
    order: Sequence[int] | None = None,
    pin: Pin | None = None,
    rows: Sequence[tuple[Case, str]] = (),
    rule: SpreadRule | None = None,
) -> Decision:
    """Decide units against a baseline."""
    tally = Comparing(
        Tally(asked, repeats=repeats, rule=rule),
        asked,
        before,
        pin=pin,
        wordings=Wordings(lambda: rows),
    )
    for sequence in order or range(len(said)):
        one = said[sequence]
        if one.verdict is None:
            tally.add_missing(
                criterion_id=one.criterion,
                case=case_of(one),
                trace_id=one.trace_id,
                repeat=one.repeat,
                sequence=sequence,
                why=NO_JUDGE,
            )
        else:
            tally.add(unit_of(one, sequence), case=case_of(one), sequence=sequence)
    return tally.decide()


def held(now: str, then: str, passes: Aggregate = NO_WORSE) -> CriterionDecision:
    """Decide one unit a case: p(ass), f(ail), u(ncertain), n(a), e(rror), m(issing)."""
    asked = suite(criterion(passes=passes))
    decision = against(asked, results(now), baseline_of(asked, results(then)))
    (found,) = decision.criteria
    return found


# -- the verdict ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "then", "condition", "verdict"),
    [
        ("pppp", "pppp", ">= 0", "pass"),
        ("ffff", "ffff", ">= 0", "pass"),
        ("pppf", "pfpp", ">= 0", "pass"),
        ("pppf", "pppp", ">= 0", "fail"),
        ("pppf", "pppp", ">= -0.25", "pass"),
        ("pppf", "pppp", "> -0.25", "fail"),
        ("pppp", "pppp", "> 0", "fail"),
        ("pppp", "pppf", "> 0", "pass"),
        ("pppp", "pppf", ">= 0.25", "pass"),
        ("pppp", "pppf", ">= 0.26", "fail"),
        # What is open now may fail, what was open then may have passed.
        ("pppu", "pppp", ">= 0", "indeterminate"),
        ("pppe", "pppp", ">= 0", "indeterminate"),
        ("pppm", "pppp", ">= 0", "indeterminate"),
        ("pppf", "pppu", ">= 0", "indeterminate"),
        ("pppp", "pppu", ">= 0", "pass"),
        ("pppu", "pppf", ">= 0", "pass"),
        ("pppu", "pppf", "> 0", "fail"),
        ("pppu", "ppff", ">= 0", "pass"),
        # A fail over what is decided is a fail, whatever is open.
        ("fppu", "pppf", ">= 0", "fail"),
        # Nothing that is open could make it meet the threshold.
        ("pfffu", "pffff", ">= 0.5", "fail"),
        # What is out of scope on either side is no pair.
        ("pppn", "pppp", ">= 0", "pass"),
        ("pppf", "pppn", ">= 0", "pass"),
        ("nnnn", "pppp", ">= 0", "indeterminate"),
        ("pppp", "uuuu", "> 0", "indeterminate"),
        ("uuuu", "ffff", ">= 0", "indeterminate"),
        # Cases of one of the runs alone don't count.
        ("ppppff", "pppp", ">= 0", "pass"),
        ("ppp", "ppppp", ">= 0", "pass"),
    ],
)
def test_the_difference_over_decided_pairs_decides(
    now: str, then: str, condition: str, verdict: str
) -> None:
    assert held(now, then, baseline(condition)).verdict == verdict


def test_units_that_the_baseline_lacks_may_have_passed() -> None:
    assert held("ppp", "ppm").verdict == "pass"
    assert held("ppf", "ppm").verdict == "indeterminate"
    # Which cases a baseline that was cut short had, nobody knows.
    assert held("ppff", "ppm").verdict == "indeterminate"
    assert held("ppff", "pp").verdict == "pass"


def test_the_numbers_of_the_criterion_stay_those_of_the_run() -> None:
    found, plain = held("pppu", "pppp"), decide(suite(criterion()), results("pppu"))
    (alone,) = plain.criteria
    assert (found.rate, found.bounds) == (1.0, (0.75, 1.0))
    assert found.interval == alone.interval
    assert found.counts == alone.counts
    assert found.threshold == "baseline >= 0"


def test_the_critique_says_the_difference_its_interval_and_which_cases() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, results("pppppf"))
    (found,) = against(asked, results("ppfffpp"), before).criteria
    assert found.verdict == "fail"
    assert found.reason == (
        "50% pass of the 6 cases decided in both runs, 83.3% in the baseline: 33.3 "
        "points lower, needs baseline >= 0"
    )
    pairs = {((1, 0, 0), (1, 0, 0)): 2, ((0, 1, 0), (1, 0, 0)): 3}
    low, high = interval_of({**pairs, ((1, 0, 0), (0, 1, 0)): 1}, seed=found.id) or (
        9,
        9,
    )
    assert low < -1 / 3 < high
    assert found.critique == (
        f"{found.reason}. Baseline {before.digest[:12]}; 95% interval of the difference "
        f"{points(low)} to {points(high)} points, resampled by case. "
        "3 cases got worse: books-2, books-3, books-4. 1 case got better: books-5. "
        "Not compared: 1 case is in this run alone."
    )
    assert found.source_trace_ids == ("books-2-r0", "books-3-r0", "books-4-r0")


def test_only_the_first_changed_cases_are_named_in_the_datasets_order() -> None:
    found = held("f" * 7, "p" * 7)
    named = ", ".join(f"books-{n}" for n in range(5))
    assert f"7 cases got worse: {named}, …." in found.critique


def test_without_a_baseline_it_is_open_and_the_run_is_decided() -> None:
    asked = suite(criterion("a", passes=NO_WORSE), criterion("b"))
    said = [*results("pf", criterion="a"), *results("pp", criterion="b")]
    first, second = decide(asked, said).criteria
    assert first.verdict == "indeterminate"
    assert first.blocked_by == BlockedBy("scope", NO_BASELINE)
    assert first.critique == NO_BASELINE
    assert "--baseline RUN" in NO_BASELINE
    assert second.verdict == "pass"


def test_what_keeps_a_pair_open_is_said() -> None:
    found = held("ppu", "ppp")
    assert found.reason.endswith(
        "but 1 case that in this run or in the baseline is still open could change that"
    )
    assert found.blocked_by == BlockedBy("factual-intent", "Which book is meant?")
    then = held("pf", "pu")
    assert then.blocked_by is not None and then.blocked_by.kind == "scope"
    assert held("pp", "uu", baseline("> 0")).reason == NO_PAIR


def test_a_dataset_that_got_worse_is_not_hidden_by_one_that_got_better() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    then = [*results("fpp"), *results("ppp", dataset="films")]
    now = [*results("ppp"), *results("ppf", dataset="films")]
    decision = against(asked, now, baseline_of(asked, then))
    assert {c.id: c.verdict for c in decision.components} == {
        "subject": "pass",
        "dataset:books": "pass",
        "dataset:films": "fail",
    }
    assert decision.gate == "fail"


# -- repeats -----------------------------------------------------------------------


def test_a_case_counts_once_by_its_repeats_however_many_there_were() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, results("pf"))
    forced = SpreadRule(forced=True)
    now = repeated("pppf", "pfff")
    (found,) = against(asked, now, before, repeats=4, rule=forced).criteria
    # 3/4 and 1/4 against 1 and 0.
    assert found.verdict == "pass"
    now = repeated("ppff", "pfff")
    (found,) = against(asked, now, before, repeats=4, rule=forced).criteria
    assert found.verdict == "fail" and "12.5 points lower" in found.reason


def test_repeats_that_flap_pass_nothing() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, results("pf"))
    (found,) = against(asked, repeated("ppp", "pff"), before, repeats=3).criteria
    assert found.verdict == "indeterminate" and "1 case flaps" in found.reason


def test_repeats_that_the_baseline_lacks_may_have_passed() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, repeated("pp", "fm"), repeats=2)
    now = repeated("pp", "ff")
    (found,) = against(asked, now, before, repeats=2).criteria
    assert found.verdict == "indeterminate"


# -- all small cases, one by one ------------------------------------------------------


def share(case: str) -> Fraction:
    return Fraction(case.count("p"), case.count("p") + case.count("f"))


def filled(cases: Sequence[str]) -> Any:
    """Yield the cases with each open unit as a pass and as a fail, in every way."""
    open_units = "".join(cases).count("u")
    for answers in product("pf", repeat=open_units):
        left = list(answers)
        yield [
            "".join(left.pop() if unit == "u" else unit for unit in case)
            for case in cases
        ]


def expected(now: Sequence[str], then: Sequence[str], condition: str) -> str:
    """Return the verdict by the rule's words, every way to fill what is open tried."""
    passes = baseline(condition)

    def holds(pairs: Sequence[tuple[str, str]]) -> bool:
        total = sum(share(one) - share(other) for one, other in pairs)
        return passes.holds(float(total / len(pairs)))

    decided = [
        (one.replace("u", ""), other.replace("u", ""))
        for one, other in zip(now, then, strict=True)
        if one.strip("u") and other.strip("u")
    ]
    if decided and not holds(decided):
        return "fail"
    ways = [
        holds(list(zip(one, other, strict=True)))
        for one in filled(now)
        for other in filled(then)
    ]
    if not any(ways) and any("f" in case for case in now):
        return "fail"
    return "pass" if decided and all(ways) else "indeterminate"


CASE = st.text("pfu", min_size=1, max_size=2)


@given(
    st.lists(st.tuples(CASE, CASE), min_size=1, max_size=3),
    st.sampled_from([">= 0", "> 0", ">= 0.5", ">= -0.5", "> -0.25", ">= 0.25"]),
)
@example([("pf", "p"), ("u", "f")], ">= 0")
@example([("pp", "pf"), ("fu", "fu"), ("u", "u")], "> 0")
def test_every_small_run_is_decided_by_the_words_of_the_rule(
    cases: list[tuple[str, str]], condition: str
) -> None:
    now, then = [one for one, _ in cases], [other for _, other in cases]
    asked = suite(criterion(passes=baseline(condition)))
    before = baseline_of(asked, repeated(*then), repeats=2)
    forced = SpreadRule(forced=True)
    found = against(asked, repeated(*now), before, repeats=2, rule=forced)
    assert found.criteria[0].verdict == expected(now, then, condition)


@given(st.permutations(range(6)))
def test_the_order_of_arrival_leaves_no_trace(order: list[int]) -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, results("ppfpup"))
    said = results("pffupp")
    texts = {
        dump_scorecard(scorecard(asked, against(asked, said, before, order=one)))
        for one in (list(range(6)), order)
    }
    assert len(texts) == 1


def test_thirds_differ_by_nothing() -> None:
    thirds = {((1, 2, 0), (1, 2, 0)): 7, ((2, 1, 0), (2, 1, 0)): 3}
    assert difference(thirds).number == 0.0
    assert difference({((1, 19, 0), (0, 20, 0)): 1}).number == 0.05


@given(
    st.dictionaries(
        st.tuples(
            st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)),
            st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)),
        ).filter(lambda pair: any(pair[0]) and any(pair[1])),
        st.integers(1, 30),
        max_size=5,
    )
)
def test_the_interval_holds_the_difference_and_keeps_a_width(pairs: Any) -> None:
    found = difference(pairs)
    interval = interval_of(pairs, seed="s")
    assert (interval is None) == (found.number is None)
    if interval is not None and found.number is not None:
        low, high = interval
        assert -1 <= low <= found.number + 1e-12
        assert found.number - 1e-12 <= high <= 1
        assert high - low > 1 / (found.cases + 2)
        assert interval == interval_of(dict(reversed(pairs.items())), seed="s")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.125, "12.5"), (1.0, "100"), (-1 / 3, "-33.3"), (0.0, "0"), (0.00001, "0.001")],
)
def test_points_never_hide_a_difference(share: float, text: str) -> None:
    assert points(share) == text
    assert points(0.99999) == "99.999"


# -- what is no comparison --------------------------------------------------------------


def test_an_edited_case_does_not_count_and_is_said() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, results("ppp"))
    mark, outcome = before.side.cases["names-shelf"]["books-2"]
    before.side.cases["names-shelf"]["books-2"] = ("other", outcome)
    (found,) = against(asked, results("ppf"), before).criteria
    assert found.verdict == "pass"
    assert "Not compared: 1 case is edited since." in found.critique
    # Unless the dataset says that both marks are of one row, as it is spelled there.
    case = case_of(results("ppf")[2])
    assert mark == case_mark(case.digest)
    rows = [(case, "other-than-its-content")]
    (found,) = against(asked, results("ppf"), before, rows=rows).criteria
    assert found.verdict == "fail"


def test_another_check_or_another_judge_is_no_comparison() -> None:
    asked = suite(criterion(passes=NO_WORSE))
    before = baseline_of(asked, results("ppp"))
    before.side.yardsticks["names-shelf"] = {"other"}
    (found,) = against(asked, results("fff"), before).criteria
    assert found.verdict == "indeterminate"
    assert found.blocked_by is not None and found.blocked_by.kind == "scope"
    assert found.reason.startswith("what decides it was edited since the baseline")
    assert "`run --traces` and its traces.jsonl" in found.reason


def test_a_judged_criterion_needs_the_same_pin_and_a_checked_one_does_not() -> None:
    judged = criterion("kind", judged=True, passes=NO_WORSE)
    asked = suite(judged, criterion("exact", passes=NO_WORSE))
    said = [*results("pp", criterion="kind"), *results("pp", criterion="exact")]
    before = baseline_of(asked, said, pin=PIN)
    other = changed(PIN, model="judge-2-2026-01-01")
    for pin, verdict in (
        (PIN, "pass"),
        (other, "indeterminate"),
        (None, "indeterminate"),
    ):
        kind, exact = against(asked, said, before, pin=pin).criteria
        assert (kind.verdict, exact.verdict) == (verdict, "pass")
    kind, _ = against(asked, said, before, pin=other).criteria
    assert (
        f"was judged by {PIN.model} (openai), this run by {other.model}" in kind.reason
    )


@pytest.mark.parametrize("when", ["now", "then"])
def test_judges_that_nobody_can_name_are_no_yardstick(when: str) -> None:
    asked = suite(criterion("kind", judged=True, passes=NO_WORSE))
    said = results("pp", criterion="kind")
    before = baseline_of(asked, said)
    tally = Comparing(
        Tally(asked, repeats=1), asked, before, pin=None, wordings=Wordings(list)
    )
    for sequence, one in enumerate(said):
        unit = changed(unit_of(one, sequence), decided_by="judge")
        if when == "then":
            before.side.add(unit)
            unit = changed(unit, decided_by="code")
        tally.add(unit, case=case_of(one), sequence=sequence)
    (found,) = tally.decide().criteria
    assert found.verdict == "indeterminate"
    assert found.reason.startswith("nobody can tell who judged the baseline")
    # What code decided without a judge has one yardstick.
    assert against(asked, said, baseline_of(asked, said)).criteria[0].verdict == "pass"


def test_a_criterion_that_the_baseline_has_not_is_open() -> None:
    asked = suite(criterion("new", passes=NO_WORSE), criterion("old"))
    before = baseline_of(suite(criterion("old")), results("p", criterion="old"))
    said = [*results("p", criterion="new"), *results("p", criterion="old")]
    new, _ = against(asked, said, before).criteria
    assert new.verdict == "indeterminate" and "has no such criterion" in new.reason


# -- what became other --------------------------------------------------------------------


def test_changes_name_what_got_worse_first_and_what_was_not_compared() -> None:
    asked = suite(
        criterion("advises", severity="LOW"),
        criterion("gates"),
        criterion("edited"),
        criterion("new"),
    )
    earlier = suite(*asked.criteria[:3], criterion("gone"))
    then = [
        *results("ppf", criterion="advises"),
        *results("ppp", criterion="gates"),
        *results("ppp", criterion="edited"),
        *results("p", criterion="gone"),
    ]
    now = [
        *results("fpp", criterion="advises"),
        *results("pfu", criterion="gates"),
        *results("fff", criterion="edited"),
        *results("ppp", criterion="new"),
        *[replace(one, case="extra") for one in results("p", criterion="gates")],
    ]
    before = baseline_of(earlier, then)
    before.side.yardsticks["edited"] = {"other"}
    after = baseline_of(asked, now)
    found = changes_of(after.card, after.side, before, Wordings(lambda: ()))
    assert found.verdicts == ("pass", "fail")
    assert [(t.criterion_id, t.before, t.now, t.comparable) for t in found.turned] == [
        ("gates", "pass", "fail", True),
        ("edited", "pass", "fail", False),
        ("new", None, "pass", False),
        ("gone", "pass", None, False),
    ]
    worse = [(m.criterion_id, m.case_id, m.before, m.now) for m in found.worse]
    assert worse == [
        ("gates", "books-1", "pass", "fail"),
        ("advises", "books-0", "pass", "fail"),
    ]
    assert [(m.criterion_id, m.case_id) for m in found.better] == [
        ("advises", "books-2")
    ]
    assert (found.worse_count, found.better_count, found.compared) == (2, 1, 5)
    assert found.aside == (
        "1 case is in this run alone",
        "`edited` was decided by another check or judge then",
    )


def test_repeats_move_by_how_many_pass() -> None:
    asked = suite(criterion())
    before = baseline_of(asked, repeated("ppp", "pff"), repeats=3)
    after = baseline_of(asked, repeated("ppf", "ppf"), repeats=3)
    found = changes_of(after.card, after.side, before, Wordings(lambda: ()))
    assert [(m.before, m.now) for m in found.worse] == [("3 of 3 pass", "2 of 3 pass")]
    assert [(m.before, m.now) for m in found.better] == [("1 of 3 pass", "2 of 3 pass")]
    assert compare((2, 1, 0), (4, 2, 0)) == 0


def test_a_narrower_scope_is_no_change() -> None:
    asked = suite(criterion(applies_to=Scope(datasets=["books"])))
    before, after = baseline_of(asked, results("ppn")), baseline_of(
        asked, results("pnp")
    )
    found = changes_of(after.card, after.side, before, Wordings(lambda: ()))
    assert (found.compared, found.worse, found.aside) == (1, (), ())
