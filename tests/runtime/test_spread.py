"""Variance first: which repeats flap, whose spread that is, and what the gate says."""

import dataclasses
from itertools import product
from random import Random

import pytest
from helix_runtime.criterion import Aggregate, mean, pass_k, rate
from helix_runtime.decide import Decision
from helix_runtime.judges.judged_again import AgainTally
from helix_runtime.record import replace
from helix_runtime.report.words import next_steps, reservations
from helix_runtime.scorecard import variance_record
from helix_runtime.spread import (
    Spread,
    SpreadRule,
    SpreadTally,
    contradict,
    spread_of,
    steadiness,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.decisions import (
    VERDICTS,
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

HALF = rate(">= 0.5")
ORDER = (0, "case", 0, 0)
SAID = {"p": "pass", "f": "fail", "u": "uncertain", "n": "na", "e": "error"}


def gate_of(
    *cases: str,
    passes: Aggregate = HALF,
    rule: SpreadRule | None = None,
    repeats: int | None = None,
) -> Decision:
    asked = suite(criterion(passes=passes))
    planned = len(cases[0]) if repeats is None else repeats
    return decide(asked, repeated(*cases), repeats=planned, rule=rule)


# -- accuracy on a flapping suite ------------------------------------------------


@pytest.mark.parametrize("repeats", [3, 0])
def test_a_rate_over_cases_that_flap_is_no_pass_and_says_so(repeats: int) -> None:
    found = gate_of("ppp", "ppf", repeats=repeats)
    assert found.gate == "incomplete"
    assert found.criteria[0].verdict == "indeterminate"
    assert found.criteria[0].rate == 5 / 6
    assert found.components[0].because == (
        "`names-shelf` is indeterminate: 5 of 6 decided units pass, but 1 case flaps: "
        "repeats must agree before a rate means anything",
    )
    blocked = found.criteria[0].blocked_by
    assert blocked is not None and "1 case flaps" in blocked.text
    card = scorecard(suite(criterion(passes=HALF)), found)
    assert any("`stability`" in step for step in next_steps(card))


@pytest.mark.parametrize("cases", [("ppp", "fff"), ("ppp", "ppn"), ("p", "f")])
def test_repeats_that_agree_let_the_rate_stand(cases: tuple[str, ...]) -> None:
    assert gate_of(*cases).gate == "pass"


def test_a_fail_stays_a_fail_whether_it_flaps_or_not() -> None:
    assert gate_of("fff", "ppf").gate == "fail"
    assert gate_of("ppp", "ppf", passes=rate(">= 1")).gate == "fail"


def test_forced_the_rate_stands_and_the_scorecard_says_so_beside_the_gate() -> None:
    found = gate_of("ppp", "ppf", "pff", rule=SpreadRule(forced=True))
    assert found.gate == "pass"
    assert found.notes == ("forced: `names-shelf` passes although 2 cases flap",)
    card = scorecard(suite(criterion(passes=HALF)), found)
    assert reservations(card) == list(found.notes)


def test_nothing_is_forced_where_nothing_flaps() -> None:
    assert gate_of("ppp", "ppp", rule=SpreadRule(forced=True)).notes == ()
    assert gate_of("fff", "ppf", rule=SpreadRule(forced=True)).notes == ()


@pytest.mark.parametrize(
    ("case", "ceiling", "gate"),
    [
        ("ppppf", 0.2, "pass"),
        ("ppppf", 0.19, "incomplete"),
        ("pppff", 0.2, "incomplete"),
        ("pppff", 0.4, "pass"),
        ("ppppp", 0.0, "pass"),
    ],
)
def test_a_ceiling_says_how_far_the_repeats_of_a_case_may_differ(
    case: str, ceiling: float, gate: str
) -> None:
    found = gate_of(case, rule=SpreadRule(ceiling=ceiling))
    assert found.gate == gate
    record = variance_record(found, repeats=5)
    assert record.get("ceiling") == (ceiling or None)
    assert record["verdict"] == ("stable" if gate == "pass" else "unstable")


def test_a_mean_is_refused_as_a_rate_is() -> None:
    assert gate_of("ppp", "ppf", passes=mean(">= 0.5")).gate == "incomplete"


def test_a_dataset_that_flaps_leaves_the_others_as_they_are() -> None:
    units = repeated("ppp") + repeated("ppf", dataset="maps")
    found = decide(suite(criterion(passes=HALF)), units, repeats=3)
    assert {c.id: c.verdict for c in found.components} == {
        "subject": "incomplete",
        "dataset:books": "pass",
        "dataset:maps": "incomplete",
    }


def test_what_only_advises_flaps_without_a_word_at_the_gate() -> None:
    asked = suite(criterion(), criterion("borrows", severity="MED", passes=HALF))
    units = repeated("ppp") + repeated("ppf", criterion="borrows")
    found = decide(asked, units, repeats=3)
    assert found.gate == "pass"
    assert [c.verdict for c in found.criteria] == ["pass", "indeterminate"]
    assert variance_record(found, repeats=3)["verdict"] == "stable"


def test_a_single_run_of_each_case_flaps_nowhere() -> None:
    found = decide(suite(criterion(passes=HALF)), results("pf"))
    assert (found.gate, found.variance, found.notes) == ("pass", (), ())


@given(st.lists(st.text("pfu", min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_rate_passes_exactly_where_it_would_and_no_case_contradicts_itself(
    cases: list[str],
) -> None:
    found = gate_of(*cases, rule=SpreadRule())
    forced = gate_of(*cases, rule=SpreadRule(forced=True))
    flapping = [case for case in cases if "p" in case and "f" in case]
    assert (found.gate == "pass") == (forced.gate == "pass" and not flapping)
    assert (found.gate == "fail") == (forced.gate == "fail")
    assert bool(forced.notes) == bool(forced.gate == "pass" and flapping)


# -- series ----------------------------------------------------------------------


def tally(
    *judgements: str, repeats: int | None = None, ceiling: float = 0.0
) -> SpreadTally:
    """Return the spread of one case: a text a trace, a letter a judgement of it."""
    found = SpreadTally(SpreadRule(ceiling=ceiling))
    units = [
        (f"t{number}", SAID.get(letter, "missing"))
        for number, text in enumerate(judgements)
        for letter in text
    ]
    planned = len(units) if repeats is None else repeats
    found.add_case("case", units, repeats=planned, order=ORDER)
    return found


STABLE, FLAPS, SHORT = Spread(1), Spread(0, 1), Spread(0, 0, 1)


@pytest.mark.parametrize(
    ("judgements", "judge", "subject"),
    [
        # The subject alone was run again.
        (("p", "p", "p"), Spread(), STABLE),
        (("p", "f", "p"), Spread(), FLAPS),
        (("p", "n", "p"), Spread(), STABLE),
        (("p", "n", "n"), Spread(), SHORT),
        (("p", "u", "p"), Spread(), SHORT),
        (("p", "e", "p"), Spread(), SHORT),
        (("p", "m", "p"), Spread(), SHORT),
        (("n", "n", "n"), Spread(), Spread()),
        # The judge was asked again about the first run.
        (("ppp", "p", "p"), STABLE, STABLE),
        (("ppp", "p", "f"), STABLE, FLAPS),
        (("ppf", "p", "p"), FLAPS, SHORT),
        (("ppu", "p", "p"), FLAPS, SHORT),
        (("ppn", "p", "p"), FLAPS, SHORT),
        (("uuu", "p", "p"), STABLE, SHORT),
        (("ppe", "p", "p"), SHORT, STABLE),
        (("pmm", "p", "p"), SHORT, STABLE),
        # About one recorded run: nothing is known of the subject.
        (("ppp",), STABLE, Spread()),
        (("pfp",), FLAPS, Spread()),
        # Each run settled by itself, and they differ: that is the subject.
        (("ppp", "fff"), Spread(2), FLAPS),
    ],
)
def test_the_spread_of_judge_and_subject_is_told_apart(
    judgements: tuple[str, ...], judge: Spread, subject: Spread
) -> None:
    found = tally(*judgements)
    assert spread_of(found.judge) == judge
    assert spread_of(found.subject) == subject


def test_too_few_finished_repeats_are_named_and_not_stable() -> None:
    found = tally("pe", "p", repeats=4)
    assert {(s.who, s.finished, s.planned) for s in found.short.values()} == {
        ("judge", 1, 2),
        ("subject", 2, 3),
    }
    assert steadiness([spread_of(found.subject)]) == "under-sampled"


def test_a_trace_that_the_judge_contradicts_itself_on_is_named() -> None:
    (found,) = tally("ppfpu", "p").judge_flapping.values()
    assert (found.trace_id, dict(found.results)) == (
        "t0",
        {"pass": 3, "fail": 1, "uncertain": 1},
    )


def test_the_ceiling_holds_for_judgements_too() -> None:
    assert spread_of(tally("ppppf", ceiling=0.2).judge) == STABLE
    assert spread_of(tally("pppuf", ceiling=0.2).judge) == FLAPS
    # What a trace comes to within the ceiling is what most judgements say.
    assert spread_of(tally("ppppf", "p", ceiling=0.2).subject) == STABLE
    assert spread_of(tally("ppppf", "f", ceiling=0.2).subject) == FLAPS


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.0, 0.1, 0.25, 0.4]))
def test_contradiction_is_the_share_of_the_rarer_result(
    passes: int, fails: int, ceiling: float
) -> None:
    found = contradict(passes, fails, ceiling=ceiling)
    assert found == contradict(fails, passes, ceiling=ceiling)
    if not passes or not fails:
        assert not found
    elif ceiling == 0:
        assert found
    else:
        # Without rounding: a share in tenths of thousandths.
        assert found == (
            10_000 * min(passes, fails) > ceiling * 10_000 * (passes + fails)
        )


def test_the_worst_spread_counts() -> None:
    assert steadiness([]) == "not-measured"
    assert steadiness([STABLE, Spread()]) == "stable"
    assert steadiness([STABLE, SHORT]) == "under-sampled"
    assert steadiness([FLAPS, SHORT, STABLE]) == "unstable"


# -- pass^k and pass@k -----------------------------------------------------------


@given(
    st.lists(st.text("pfun", min_size=1, max_size=5), min_size=1, max_size=3),
    st.integers(2, 4),
)
def test_pass_k_is_estimated_over_the_repeats_that_finished(
    cases: list[str], k: int
) -> None:
    found = decide(
        suite(criterion(passes=HALF)),
        repeated(*cases),
        repeats=0,
        rule=SpreadRule(runs=k),
    ).variance[0]
    every, some = [], []
    for case in cases:
        decided = [letter for letter in case if letter in "pf"]
        if len(decided) < k:
            continue
        # All ways to draw k of the finished repeats, in order, without putting back.
        draws = [
            [decided[i] for i in places]
            for places in product(range(len(decided)), repeat=k)
            if len(set(places)) == k
        ]
        every.append(sum(set(draw) == {"p"} for draw in draws) / len(draws))
        some.append(sum("p" in draw for draw in draws) / len(draws))
    if not every:
        assert found.pass_hat_k is None and found.pass_at_k is None
        return
    assert found.pass_hat_k == pytest.approx(sum(every) / len(every))
    assert found.pass_at_k == pytest.approx(sum(some) / len(some))


def test_recorded_runs_of_a_case_are_held_against_how_many_are_needed() -> None:
    units = repeated("ppp", "ppppp", "p")
    (found,) = decide(
        suite(criterion()), units, repeats=0, rule=SpreadRule(runs=5)
    ).variance
    assert found.subject == Spread(stable=1, under_sampled=1)
    (short,) = found.short
    assert (short.case_id, short.finished, short.planned) == ("books-0", 3, 5)


def test_pass_k_of_fewer_than_all_is_no_matter_of_the_ceiling() -> None:
    passes = Aggregate(kind="pass^k", operator=">=", limit=0.5, k=2)
    assert gate_of("pppp", "pppf", passes=passes).gate == "pass"
    assert gate_of("ppp", "ppf", passes=pass_k(3)).gate == "fail"


# -- intervals -------------------------------------------------------------------


def test_repeats_of_few_cases_are_not_taken_for_many_cases() -> None:
    few = decide(suite(criterion()), repeated("pppppppppp", "ffffffffff"), repeats=10)
    many = decide(suite(criterion()), results("p" * 10 + "f" * 10))
    one, other = few.criteria[0].interval, many.criteria[0].interval
    assert one is not None and other is not None
    assert one[1] - one[0] > other[1] - other[0]


# -- judged again ----------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.text("pfu", min_size=1, max_size=3), min_size=2, max_size=2),
        min_size=1,
        max_size=3,
    ),
    st.randoms(use_true_random=False),
)
def test_what_is_judged_again_and_in_which_order_leaves_no_trace_but_the_spread(
    cases: list[list[str]], shuffler: Random
) -> None:
    asked = suite(criterion(judged=True, passes=HALF))
    said = [
        Said(
            "names-shelf",
            f"case-{number}",
            VERDICTS[SAID[text[0]]],
            repeat=repeat,
            dataset=None,
        )
        for number, runs in enumerate(cases)
        for repeat, text in enumerate(runs)
    ]
    texts = {
        unit.trace_id: text for unit, text in zip(said, sum(cases, []), strict=True)
    }

    def decided(order: list[int]) -> tuple[Decision, set[str]]:
        rule = SpreadRule(judgements=3)
        found = AgainTally(asked, repeats=2, rule=rule)
        for place in order:
            unit = replace(unit_of(said[place], place), decided_by="judge")
            found.add(unit, case=case_of(said[place]), sequence=place)
        work = found.plan_again()
        for trace_id in work:
            (first,) = [one for one in said if one.trace_id == trace_id]
            for letter in texts[trace_id][1:]:
                verdict = VERDICTS[SAID[letter]]
                again = dataclasses.replace(first, verdict=verdict)
                found.add_again(unit_of(again, 0))
        return found.decide(), set(work)

    straight, chosen = decided(list(range(len(said))))
    order = list(range(len(said)))
    shuffler.shuffle(order)
    shuffled, same = decided(order)
    assert straight == shuffled and chosen == same
    # Counts and rates are those of the runs alone.
    plain = decide(asked, said, repeats=2)
    assert straight.criteria[0].counts == plain.criteria[0].counts
    assert straight.criteria[0].rate == plain.criteria[0].rate
    variance = straight.variance[0]
    flapping = short = 0
    for number, runs in enumerate(cases):
        differ = runs[0][0] != runs[1][0]
        assert f"case-{number}-r0" in chosen
        assert (f"case-{number}-r1" in chosen) == differ
        for text in runs if differ else runs[:1]:
            flapping += len(set(text)) > 1
            short += len(set(text)) == 1 and len(text) < 3
    assert (variance.judge.flapping, variance.judge.under_sampled) == (flapping, short)
    if flapping:
        assert straight.gate != "pass"


def test_an_error_of_the_judge_is_not_asked_about_again() -> None:
    asked = suite(criterion(judged=True))
    found = AgainTally(asked, repeats=2, rule=SpreadRule(judgements=2))
    for place, unit in enumerate(repeated("ep")):
        judged = replace(unit_of(unit, place), decided_by="judge")
        found.add(judged, case=case_of(unit), sequence=place)
    assert set(found.plan_again()) == {"books-0-r1"}


def test_what_code_decides_is_never_judged_again() -> None:
    asked = suite(criterion(), criterion("kind", judged=True))
    found = AgainTally(asked, repeats=1, rule=SpreadRule(judgements=2))
    (code,), (hybrid,) = results("p"), results("p", criterion="kind")
    found.add(unit_of(code, 0), case=case_of(code), sequence=0)
    found.add(unit_of(hybrid, 1), case=case_of(hybrid), sequence=1)
    assert found.plan_again() == {}
