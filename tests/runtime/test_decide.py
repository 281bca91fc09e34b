"""The one function that decides: criteria, components, the gate."""

import tracemalloc
from itertools import product

import pytest
from helix_runtime.criterion import Aggregate, Criterion, Scope, mean, pass_k, rate
from helix_runtime.decide import (
    MAX_ASSUMPTIONS,
    MAX_SAMPLES,
    MAX_TRACES,
    CriterionDecision,
    Decision,
    Tally,
)
from helix_runtime.scorecard import dump_scorecard
from helix_runtime.spread import Spread
from helix_runtime.verdict import (
    Assumption,
    BlockedBy,
    Ref,
    Verdict,
    failed,
    passed,
    uncertain,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.decisions import (
    NO_JUDGE,
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

AT_LEAST_HALF = rate(">= 0.5")


def only(decision: Decision) -> CriterionDecision:
    (found,) = decision.criteria
    return found


def decided(text: str, passes: Aggregate | None = None) -> CriterionDecision:
    return only(decide(suite(criterion(passes=passes)), results(text)))


# -- a criterion over its units -------------------------------------------------


@pytest.mark.parametrize(
    ("units", "passes", "verdict"),
    [
        ("ppp", None, "pass"),
        ("pppnnn", None, "pass"),
        ("ppf", None, "fail"),
        # A fail stands, whatever the open units come to.
        ("pfuuuu", None, "fail"),
        ("ppu", None, "indeterminate"),
        ("ppe", None, "indeterminate"),
        ("ppm", None, "indeterminate"),
        ("", None, "indeterminate"),
        ("nnn", None, "indeterminate"),
        ("uuu", None, "indeterminate"),
        ("mmm", rate(">= 0"), "indeterminate"),
        ("pf", AT_LEAST_HALF, "pass"),
        ("pff", AT_LEAST_HALF, "fail"),
        # The open unit can't bring two of three below a half.
        ("ppu", AT_LEAST_HALF, "pass"),
        ("pu", AT_LEAST_HALF, "pass"),
        ("puu", AT_LEAST_HALF, "indeterminate"),
        # Below the threshold over what is decided: a fail, though it could be mended.
        ("pffuuuuu", AT_LEAST_HALF, "fail"),
        ("p" * 19 + "f", rate(">= 0.95"), "pass"),
        ("p" * 19 + "f", rate("> 0.95"), "fail"),
        # At most: the worst case is that open units pass.
        ("pffff", rate("<= 0.2"), "pass"),
        ("pfffu", rate("<= 0.25"), "indeterminate"),
        ("ppfff", rate("<= 0.2"), "fail"),
    ],
)
def test_a_criterion_comes_to_its_verdict(
    units: str, passes: Aggregate | None, verdict: str
) -> None:
    assert decided(units, passes).verdict == verdict


@given(st.text("pfunem", max_size=7), st.sampled_from([">= 1", ">= 0.5", "<= 0.4"]))
def test_a_pass_is_what_no_outcome_of_the_open_units_can_change(
    units: str, condition: str
) -> None:
    passes = rate(condition)
    outcomes = set()
    for filled in product("pf", repeat=sum(map(units.count, "uem"))):
        rest = iter(filled)
        whole = [next(rest) if unit in "uem" else unit for unit in units]
        passed_units, failed_units = whole.count("p"), whole.count("f")
        if passed_units + failed_units:
            outcomes.add(passes.holds(passed_units / (passed_units + failed_units)))
    so_far = units.count("p") + units.count("f")
    verdict = decided(units, passes).verdict
    if so_far and not passes.holds(units.count("p") / so_far):
        assert verdict == "fail"
    else:
        assert (verdict == "pass") == (bool(so_far) and outcomes == {True})
        assert verdict in ("pass", "indeterminate")


def test_bounds_count_the_open_units_as_fails_and_as_passes() -> None:
    found = decided("ppfuem")
    assert found.rate == 2 / 3
    assert found.bounds == (2 / 6, 5 / 6)
    assert decided("pfnn").bounds == (0.5, 0.5)
    assert decided("nn").bounds is None
    assert decided("nn").rate is None
    assert decided("uu").bounds == (0, 1)
    assert decided("uu").interval is None


def test_an_interval_keeps_a_width_at_100_percent() -> None:
    found = decided("p" * 10)
    assert found.interval is not None
    assert found.interval[0] < 0.75
    assert found.interval[1] == 1


# -- means and pass^k -----------------------------------------------------------


def measured(*values: float | None, extra: str = "") -> list[Said]:
    said = [
        Said("names-shelf", f"case-{n}", passed("measured", value=value))
        for n, value in enumerate(values)
    ]
    return said + results(extra)


@pytest.mark.parametrize(
    ("values", "extra", "condition", "verdict", "number", "bounds"),
    [
        ((0.8, 1.0), "", "> 0.85", "pass", 0.9, (0.9, 0.9)),
        ((0.9, 0.9, 0.9), "", "> 0.9", "fail", 0.9, (0.9, 0.9)),
        ((0.1, 0.2, 0.3), "", "<= 0.2", "pass", 0.2, (0.2, 0.2)),
        # Without a value a pass counts 1 and a fail 0.
        ((None, 0.5), "f", ">= 0.5", "pass", 0.5, (0.5, 0.5)),
        # An open unit is worth anything from 0 to 1.
        ((0.9, 0.9), "u", ">= 0.6", "pass", 0.9, (0.6, 2.8 / 3)),
        ((0.9, 0.9), "u", ">= 0.7", "indeterminate", 0.9, (0.6, 2.8 / 3)),
        # Beyond [0, 1] it is worth anything at all.
        ((120.0, 80.0), "", "<= 100", "pass", 100.0, (100.0, 100.0)),
        ((120.0, 80.0), "u", "<= 100", "indeterminate", 100.0, None),
        ((120.0, 80.0), "m", "<= 90", "fail", 100.0, None),
        ((120.0, 80.0, None), "", "<= 100", "indeterminate", 100.0, None),
        ((), "u", ">= 0", "indeterminate", None, (0, 1)),
        # Seconds, a cost: that those seen are small says nothing of one not seen.
        ((0.2, 0.3), "", "<= 0.5", "pass", 0.25, (0.25, 0.25)),
        ((0.2, 0.3), "u", "<= 2", "indeterminate", 0.25, None),
        ((0.2, 0.3), "e", "< 0.9", "indeterminate", 0.25, None),
        ((0.2, 0.3, None), "", "<= 0.5", "indeterminate", 0.25, None),
        # Where a low number is wanted, a fail is not worth 0.
        ((), "fff", "<= 0.5", "indeterminate", None, None),
        ((), "ppp", "<= 0.5", "indeterminate", None, None),
        # A limit beyond [0, 1] says that it is no share, whatever was seen.
        ((0.9, 1.0), "u", ">= -1", "indeterminate", 0.95, None),
        ((0.9, 1.0), "", ">= -1", "pass", 0.95, (0.95, 0.95)),
        ((), "ppp", ">= 3", "indeterminate", None, None),
        ((float("nan"), 0.5), "", ">= 0.75", "pass", 0.75, (0.75, 0.75)),
    ],
)
def test_a_mean_is_taken_over_measured_values(
    values: tuple[float | None, ...],
    extra: str,
    condition: str,
    verdict: str,
    number: float | None,
    bounds: tuple[float, float] | None,
) -> None:
    asked = suite(criterion(passes=mean(condition)))
    found = only(decide(asked, measured(*values, extra=extra)))
    assert (found.verdict, found.rate) == (verdict, number)
    assert found.bounds == (None if bounds is None else pytest.approx(bounds))


def test_a_mean_without_a_failing_unit_says_what_is_wrong_with_it() -> None:
    found = only(decide(suite(criterion(passes=mean("> 0.9"))), measured(0.5, 0.7)))
    assert found.verdict == "fail"
    assert found.critique == "the mean of 2 units is 0.6, needs mean > 0.9"


def test_a_mean_says_how_many_values_it_is_of() -> None:
    asked = suite(criterion(passes=mean("<= 90")))
    subject, _ = decide(asked, measured(120.0, 80.0, None)).components
    assert subject.because == (
        "`names-shelf` fails: the mean of 2 units is 100, needs mean <= 90",
    )
    low = only(decide(suite(criterion(passes=mean("<= 0.5"))), results("fff")))
    assert low.critique == "3 units decided without a measured value"


def test_a_number_that_just_misses_is_not_shown_as_one_that_meets() -> None:
    asked = suite(criterion(passes=mean(">= 0.9")))
    (found,) = decide(asked, measured(0.8999999)).criteria
    assert found.critique == "the mean of 1 unit is 0.8999999, needs mean >= 0.9"
    close = decided("p" * 9 + "f", rate(">= 0.9999999"))
    assert close.threshold == "rate >= 0.9999999"


def test_one_dataset_on_a_scale_shows_it_for_all() -> None:
    units = [
        Said("names-shelf", "a", passed("measured", value=0.9), dataset="a"),
        Said("names-shelf", "b", passed("measured", value=40.0), dataset="b"),
        *results("u", dataset="a"),
    ]
    decision = decide(suite(criterion(passes=mean(">= 0.4"))), units)
    verdicts = {c.id: c.verdict for c in decision.components}
    assert verdicts["dataset:a"] == "incomplete"
    assert verdicts["dataset:b"] == "pass"


@pytest.mark.parametrize(
    ("cases", "k", "repeats", "verdict"),
    [
        (("ppp", "ppp"), 3, 3, "pass"),
        (("ppp", "ppf"), 3, 3, "fail"),
        # Under-sampled is not stable, and not a pass.
        (("ppp", "pp"), 3, 3, "indeterminate"),
        (("p", "p"), 3, 1, "indeterminate"),
        (("ppp", "ppu"), 3, 3, "indeterminate"),
        (("ppp", "ppm"), 3, 3, "indeterminate"),
        # A repeat failed: no further repeat can make all of them pass.
        (("f",), 3, 1, "fail"),
        (("ppp", "pf"), 3, 3, "fail"),
        # A case that it does not apply to has nothing to say.
        (("ppp", "nnn"), 3, 3, "pass"),
        (("nnn",), 3, 3, "indeterminate"),
        (("uuu",), 3, 3, "indeterminate"),
        (("ppppp", "pppp"), 3, 5, "pass"),
        (("p", "p"), 1, 1, "pass"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_pass_k_needs_k_finished_repeats_of_each_case(
    cases: tuple[str, ...], k: int, repeats: int, verdict: str, known: bool
) -> None:
    asked = suite(criterion(passes=pass_k(k)))
    found = only(decide(asked, repeated(*cases), repeats=repeats if known else 0))
    assert found.verdict == verdict


def test_pass_k_is_the_unbiased_estimate_averaged_over_cases() -> None:
    wanted = Aggregate(kind="pass^k", operator=">=", limit=0.5, k=2)
    asked = suite(criterion(passes=wanted))
    found = only(decide(asked, repeated("pppp", "ppff"), repeats=4))
    assert found.rate == pytest.approx((1 + 1 / 6) / 2)
    assert found.verdict == "pass"


def test_a_blocked_pass_k_says_how_many_repeats_it_needs() -> None:
    found = only(decide(suite(criterion(passes=pass_k(3))), repeated("p", "p")))
    assert found.blocked_by == BlockedBy(
        "scope", "pass^3 needs 3 finished repeats of each case: 2 of 2 have fewer"
    )


# -- why ------------------------------------------------------------------------


def test_the_critique_is_that_of_the_earliest_unit_that_explains_the_verdict() -> None:
    units = [
        Said("names-shelf", "a", passed("good")),
        Said("names-shelf", "b", failed("bad, first", Ref("answer", "output", "x"))),
        Said("names-shelf", "c", failed("bad, second")),
    ]
    backwards = decide(suite(criterion()), units, order=[2, 1, 0])
    found = only(backwards)
    assert found.critique == "bad, first"
    assert found.refs == (Ref("answer", "output", "x"),)
    assert found.source_trace_ids == ("b-r0", "c-r0")
    assert [sample.case_id for sample in found.failing] == ["b", "c"]
    assert only(decide(suite(criterion()), units[:1])).critique == "good"


@pytest.mark.parametrize(
    ("units", "kind", "text"),
    [
        ("puu", "factual-intent", "Which book is meant?"),
        ("pmmu", "scope", NO_JUDGE),
        ("peeu", "scope", "could not be judged: checks.py:7 raised KeyError: 'shelf'"),
        # A draw goes to what is plainly undone.
        ("pmu", "scope", NO_JUDGE),
        ("nn", "scope", "no case is in its scope: every unit is na"),
        ("", "scope", "no case was run"),
    ],
)
def test_an_indeterminate_criterion_says_what_blocks_most_of_it(
    units: str, kind: str, text: str
) -> None:
    blocked = decided(units).blocked_by
    assert blocked is not None
    assert (blocked.kind, blocked.text) == (kind, text)


def test_a_decided_criterion_is_blocked_by_nothing() -> None:
    assert decided("pf").blocked_by is None
    assert decided("pp").blocked_by is None


def test_an_unrouted_abstention_counts_as_a_matter_of_scope() -> None:
    said = Said("names-shelf", "a", Verdict(result="uncertain", critique="who knows"))
    found = only(decide(suite(criterion()), [said]))
    assert found.blocked_by == BlockedBy("scope", "who knows")


def test_samples_traces_and_assumptions_are_bounded_and_the_earliest() -> None:
    units = [
        Said(
            "names-shelf",
            f"case-{n}",
            Verdict(
                result="fail",
                critique=f"bad {n}",
                assumptions=(
                    Assumption(f"shared {n % 3}", "unverified"),
                    Assumption(f"own {n}", "hypothesis", "normative"),
                ),
            ),
        )
        for n in range(60)
    ]
    found = only(decide(suite(criterion()), units, order=reversed(range(60))))
    assert [s.critique for s in found.failing] == [
        f"bad {n}" for n in range(MAX_SAMPLES)
    ]
    assert found.source_trace_ids == tuple(f"case-{n}-r0" for n in range(MAX_TRACES))
    assert len(found.assumptions) == MAX_ASSUMPTIONS
    assert [a.text for a in found.assumptions[:4]] == [
        "shared 0",
        "own 0",
        "shared 1",
        "own 1",
    ]


# -- the gate -------------------------------------------------------------------


def gate(*criteria_and_units: tuple[str, str], **changes: object) -> Decision:
    """Decide a suite of one criterion a severity."""
    criteria: list[Criterion] = []
    units: list[Said] = []
    for severity, text in criteria_and_units:
        name = f"c-{len(criteria)}"
        criteria.append(criterion(name, severity=severity))
        units += results(text, criterion=name)
    return decide(suite(*criteria, **changes), units)


@pytest.mark.parametrize(
    ("criteria", "verdict"),
    [
        ([("HIGH", "pp"), ("CRIT", "pp")], "pass"),
        ([("HIGH", "pf"), ("CRIT", "uu")], "fail"),
        ([("HIGH", "pp"), ("CRIT", "pu")], "incomplete"),
        ([("HIGH", "pp"), ("MED", "ff"), ("LOW", "uu")], "pass"),
        # Never green for want of something to decide.
        ([("MED", "pp"), ("LOW", "pp")], "incomplete"),
        ([("HIGH", "")], "incomplete"),
        ([("HIGH", "nn")], "incomplete"),
        ([("HIGH", "pp"), ("HIGH", "nn")], "incomplete"),
        ([], "incomplete"),
    ],
)
def test_the_gate_takes_the_worst_of_what_gates(
    criteria: list[tuple[str, str]], verdict: str
) -> None:
    decision = gate(*criteria)
    assert decision.gate == verdict
    assert decision.components[0].id == "subject"
    assert all(component.because for component in decision.components)


def test_components_are_the_subject_each_dataset_and_each_job() -> None:
    asked = suite(
        criterion(),
        jobs={"find": ["books", "maps", "books"], "lend": ["maps"], "idle": ["films"]},
    )
    units = results("pp") + results("pf", dataset="maps")
    units += results("p", dataset=None)
    decision = decide(asked, units)
    assert [(c.id, c.verdict) for c in decision.components] == [
        ("subject", "fail"),
        ("dataset:books", "pass"),
        ("dataset:maps", "fail"),
        ("job:find", "fail"),
        ("job:lend", "fail"),
    ]
    assert decision.components[0].because == (
        "`names-shelf` fails: 4 of 5 decided units pass, and every one must",
        'no case of this run exercises the job "idle"',
    )
    assert decision.components[3].because == (
        "`names-shelf` fails: 3 of 4 decided units pass, and every one must",
    )


def test_an_average_hides_no_dataset_that_misses_the_threshold() -> None:
    asked = suite(criterion(passes=rate(">= 0.75")))
    units = results("ppppp") + results("pf", dataset="maps")
    decision = decide(asked, units)
    assert only(decision).verdict == "pass"
    assert decision.gate == "fail"
    assert [c.id for c in decision.components if c.verdict == "fail"] == [
        "dataset:maps"
    ]


def test_a_criterion_that_applies_to_no_case_of_a_dataset_says_nothing_of_it() -> None:
    asked = suite(
        criterion(), criterion("borrows", applies_to=Scope(datasets=["maps"]))
    )
    units = results("pp") + results("nn", criterion="borrows")
    units += results("nn", dataset="maps")
    units += results("pp", criterion="borrows", dataset="maps")
    assert decide(asked, units).gate == "pass"


def test_a_dataset_under_no_gating_criterion_says_so() -> None:
    asked = suite(criterion(), criterion("borrows", severity="LOW"))
    units = results("pp") + results("pp", criterion="borrows", dataset="maps")
    components = {c.id: c for c in decide(asked, units).components}
    assert components["dataset:maps"].because == (
        "nothing gates here: no CRIT or HIGH criterion judges its cases",
    )


def test_a_dataset_that_the_suite_does_not_know_is_told_from_one_that_only_advises() -> (
    None
):
    asked = suite(
        criterion(applies_to=Scope(datasets=["books"])), jobs={"find": ["films"]}
    )
    units = results("pp") + results("n", dataset="boks") + results("n", dataset="films")
    components = {c.id: c for c in decide(asked, units).components}
    assert "misspelt" in components["dataset:boks"].because[-1]
    for name in ("dataset:books", "dataset:films", "job:find"):
        assert len(components[name].because) == 1


def test_cases_without_a_dataset_that_no_gate_looks_at_are_said() -> None:
    scoped = criterion(applies_to=Scope(datasets=["books"]))
    low = criterion("borrows", severity="LOW")
    outside = results("n", dataset=None)
    outside += results("p", criterion="borrows", dataset=None)
    (note,) = decide(suite(scoped, low), results("pp") + outside).notes
    assert "name no dataset" in note
    judged = results("pp") + outside + results("p", dataset=None)
    assert decide(suite(scoped, low), judged).notes == ()
    # Where a criterion is about every case, its check itself said that it does not apply.
    assert decide(suite(criterion(), low), results("pp") + outside).notes == ()


def test_cases_of_a_dataset_that_nothing_names_are_said() -> None:
    scoped = criterion(applies_to=Scope(datasets=["books"]))
    whole = criterion("borrows")
    units = results("pp") + results("n", dataset="boks")
    units += results("p", criterion="borrows", dataset="boks")
    (note,) = decide(suite(scoped, whole), units).notes
    assert "'boks'" in note and "It knows 'books'" in note
    # A dataset that a job names is known, if only to be judged by what is about all.
    known = suite(scoped, whole, jobs={"find": ["boks"]})
    assert decide(known, units).notes == ()


# -- variance -------------------------------------------------------------------


def test_the_spread_of_the_subject_is_taken_over_its_runs() -> None:
    asked = suite(criterion(passes=rate(">= 0")))
    cases = ("ppp", "fff", "ppf", "ppu", "nnn", "pp")
    (found,) = decide(asked, repeated(*cases), repeats=3).variance
    assert found.subject == Spread(stable=2, flapping=1, under_sampled=2)
    assert found.judge == Spread()
    assert [(f.case_id, f.passes, f.decided) for f in found.flapping] == [
        ("books-2", 2, 3)
    ]
    assert found.pass_hat_k == pytest.approx(1 / 3)
    assert found.pass_at_k == pytest.approx(2 / 3)


def test_the_spread_of_the_judge_is_taken_over_one_trace() -> None:
    asked = suite(criterion(passes=rate(">= 0")))
    units = [
        Said("names-shelf", f"case-{n}", VERDICTS[result], repeat=r, trace=f"t{n}")
        for n, results_of_case in enumerate([["pass", "pass"], ["pass", "fail"]])
        for r, result in enumerate(results_of_case)
    ]
    (found,) = decide(asked, units, repeats=2).variance
    assert found.judge == Spread(stable=1, flapping=1)
    assert found.subject == Spread()


def test_a_trace_that_flaps_under_its_judge_leaves_the_subject_open() -> None:
    asked = suite(criterion(passes=rate(">= 0")))
    units = [
        Said("names-shelf", "case-0", VERDICTS[result], repeat=r, trace=trace)
        for r, (trace, result) in enumerate(
            [("t0", "pass"), ("t0", "fail"), ("t1", "pass"), ("t1", "pass")]
        )
    ]
    (found,) = decide(asked, units, repeats=4).variance
    assert found.judge == Spread(stable=1, flapping=1)
    assert found.subject == Spread(under_sampled=1)


def test_one_repeat_measures_no_variance() -> None:
    assert decide(suite(criterion()), results("pp")).variance == ()


def test_recorded_runs_of_one_case_are_not_taken_for_independent_cases() -> None:
    asked = suite(criterion())
    together = only(decide(asked, repeated("pppp", "pppp"), repeats=0)).interval
    apart = only(decide(asked, results("pp"))).interval
    assert together == apart


# -- streaming ------------------------------------------------------------------

ANY_VERDICT = st.sampled_from(
    [
        passed("good", value=0.25),
        passed("good"),
        failed("bad", Ref("o", "p", "v"), value=0.5),
        failed("bad", value=3.5),
        uncertain("who?", kind="normative", text="ask the owner"),
        VERDICTS["error"],
        VERDICTS["na"],
        None,
    ]
)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Said], int, list[int]]:
    repeats = draw(st.integers(1, 3))
    units = [
        Said(name, f"case-{n}", draw(ANY_VERDICT), repeat=r, dataset=dataset)
        for n, dataset in enumerate(draw(st.lists(st.sampled_from(["a", "b", None]))))
        for r in range(repeats)
        for name in ("rate", "mean", "pass-k")
    ]
    order = draw(st.permutations(range(len(units))))
    return units, draw(st.sampled_from([repeats, 0])), order


@settings(max_examples=40, deadline=None)
@given(runs())
def test_the_order_of_arrival_leaves_no_trace(
    run: tuple[list[Said], int, list[int]],
) -> None:
    units, repeats, order = run
    asked = suite(
        criterion("rate", passes=AT_LEAST_HALF),
        criterion("mean", passes=mean("> 0.3")),
        criterion("pass-k", passes=pass_k(2)),
        jobs={"both": ["a", "b"]},
    )
    straight = scorecard(asked, decide(asked, units, repeats=repeats))
    shuffled = scorecard(asked, decide(asked, units, repeats=repeats, order=order))
    assert dump_scorecard(straight) == dump_scorecard(shuffled)


def _memory_of(units: int, *, repeats: int, cases: int | None = None) -> int:
    tally = Tally(
        suite(criterion(), criterion("mean", passes=mean("> 0"))), repeats=repeats
    )
    tracemalloc.start()
    try:
        for sequence in range(units):
            if cases is None:
                number, repeat = divmod(sequence, repeats)
            else:
                repeat, number = divmod(sequence, cases)
            verdict = VERDICTS["fail" if number % 5 == 2 else "pass"]
            for name in ("names-shelf", "mean"):
                said = Said(name, f"case-{number}", verdict, repeat=repeat)
                tally.add(
                    unit_of(said, sequence), case=case_of(said), sequence=sequence
                )
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("repeats", [1, 4])
def test_memory_does_not_grow_with_the_units(repeats: int) -> None:
    small = _memory_of(1_000, repeats=repeats)
    assert _memory_of(10_000, repeats=repeats) < small + 8_192


def test_memory_does_not_grow_with_the_recorded_runs_of_a_case() -> None:
    small = _memory_of(1_000, repeats=0, cases=10)
    assert _memory_of(10_000, repeats=0, cases=10) < small + 8_192


@given(st.lists(st.text("pfune", min_size=1, max_size=6), max_size=6))
def test_recorded_runs_show_the_spread_of_as_many_planned_repeats(
    cases: list[str],
) -> None:
    asked = suite(criterion(passes=pass_k(2)))
    recorded = decide(asked, repeated(*cases), repeats=0)
    (found,) = recorded.variance
    # Cases of one length each, so that their repeats can have been planned.
    for length in {len(case) for case in cases if len(case) > 1}:
        alike = [case for case in cases if len(case) == length]
        planned = decide(asked, repeated(*alike), repeats=length)
        again = decide(asked, repeated(*alike), repeats=0)
        assert again.variance[0].subject == planned.variance[0].subject
        assert only(again).rate == only(planned).rate
    together = sum(
        (
            decide(asked, repeated(case), repeats=0).variance[0].subject
            for case in cases
        ),
        Spread(),
    )
    assert found.subject == together


def test_a_unit_of_an_unknown_criterion_is_a_fault_of_the_caller() -> None:
    with pytest.raises(KeyError):
        decide(suite(criterion()), results("p", criterion="another"))
