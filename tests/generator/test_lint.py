"""Smells of an eval design: found where they are, silent where there are none."""

from typing import Any

import pytest
from helix_gen.lint.bindings import examples
from helix_gen.lint.budgets import budget_in
from helix_gen.lint.rates import aggregate_in
from helix_gen.lint.smells import smells
from helix_gen.problems import Problem
from helix_gen.spec.overlay import read_aggregate, read_overlay
from helix_gen.spec.read import read_spec
from helix_gen.spec.yaml import read_yaml
from helix_gen.suite.primitives import argument_faults
from helix_runtime.improving.one_question import likert_in, second_claim_in
from hypothesis import given
from hypothesis import strategies as st
from support.spec_texts import AGENT, MULTI_AGENT, SKILL, V02, WORKFLOW, broken

BOUND = "criteria: { cites: { check: { output.contains: { texts: [order] } } } }"


def found(text: str, overlay: str = BOUND) -> list[Problem]:
    read = read_spec(text.encode(), file="shop.yaml")
    assert read.card is not None, [p.message for p in read.problems]
    said = read_overlay(overlay.encode(), file="shop.evals.yaml", card=read.card)
    assert said.overlay is not None, [p.message for p in said.problems]
    return smells(read, said)


def only(text: str, overlay: str = BOUND) -> Problem:
    problems = found(text, overlay)
    assert len(problems) == 1, [p.message for p in problems]
    assert problems[0].level == "warning"
    return problems[0]


def proposed(problem: Problem) -> str:
    """The lines for the overlay that a hint proposes."""
    return "\n".join(
        line[2:] for line in problem.hint.split("\n") if line.startswith("  ")
    )


def test_a_good_design_has_no_smell() -> None:
    assert found(AGENT) == []


def test_a_spec_with_errors_is_not_judged() -> None:
    text = broken(AGENT, "kind: Agent\n", "kind: Agnt\n")
    assert smells(read_spec(text.encode(), file="f"), None) == []


# -- wording ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Rate helpfulness from 1 to 5.",
        "Rated 4 of 5 or better",
        "The reply is rated 1-10 for tone.",
        "On a scale of 1 to 5 the answer is clear.",
        "The answer scores at least 4.",
        "A score of 4 or more.",
        "At least 4 out of 5.",
        "The report gets 8/10.",
        "Three stars or better.",
        "Partial credit where a step is missing.",
        "Assign a score between 0 and 10.",
        "Quality (1–5)",
        "How helpful is it (1 = bad, 5 = great)?",
        "The answer is rated poor, fair, good or excellent.",
        "A grade of A, B or C.",
        "Average rating above 4.2 of 5.",
        "A 5-star rating.",
        "Points out of 100.",
        "Rate it from 1 (worst) to 5 (best).",
        "It is rated 3 or higher.",
        "A Likert judgement of tone.",
        "Is excellent, good, fair or poor.",
    ],
)
def test_likert_wording_is_found(text: str) -> None:
    assert likert_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Every claim cites a source.",
        "Score 1.0 from the external scorer.",
        "Pass on 100/100 tasks.",
        "At most 5 tool calls.",
        "Answers within 10 seconds.",
        "The table has 5 rows.",
        "Runs 1 to 5 all pass.",
        "Passes 4 of 5 runs.",
        "At least 4/5 sources are cited.",
        "The total is at most 10/10 items.",
        "It recommends five-star hotels.",
        "A load rated 5 kN is refused.",
        "Good or bad news is told as it is.",
        "It keeps between 1 and 5 working days free.",
    ],
)
def test_numbers_that_are_no_scores_are_left_alone(text: str) -> None:
    assert likert_in(text) is None


def test_a_score_is_shown_where_it_stands() -> None:
    text = broken(AGENT, "The answer is polite.", "Rate politeness from 1 to 5.")
    problem = only(text)
    assert problem.code == "HX402"
    assert "`Rate politeness from 1 to 5`" in problem.message
    assert "Rate politeness" in problem.excerpt[problem.position.column - 1 :]


@pytest.mark.parametrize(
    "text",
    [
        "The reply is polite and never mentions a competitor.",
        "Answers in JSON; no secret is ever shown.",
        "The agent cites its sources and does not guess.",
        "The answer is correct. The tone is friendly.",
        "The file opens, holds one body, and passes the gate check.",
        "Each order is found, and every refund is approved first.",
        "Answers are accurate and concise.",
        "The report is complete, accurate, and well formatted.",
        "It names the order and the customer is never blamed.",
        "The agent refuses politely, and it escalates to a human.",
        "Response is factually correct. Response is in English.",
    ],
)
def test_two_failure_modes_are_found(text: str) -> None:
    assert second_claim_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Every change, risk and check claim cites repository evidence.",
        "No outbound action occurs without an approval record for the exact fields.",
        "Parses spoken product names and quantities correctly.",
        "The watchdog observes but never dispatches.",
        "Names the customer's plan and region (and no other field).",
        'The reply says "sorry and never again" to the customer.',
        "When no source supports it, the agent says so instead of guessing.",
        "Entry, terminal nodes, edges, and executors resolve.",
        "It checks that the order and the invoice are equal.",
        "The valid and the void tickets are told apart.",
        "The agent asks for name and address before booking.",
        "URGENT is used if and only if money or safety is at stake.",
    ],
)
def test_one_failure_mode_is_left_alone(text: str) -> None:
    assert second_claim_in(text) is None


def test_the_second_failure_mode_is_quoted() -> None:
    text = broken(
        AGENT, "The answer is polite.", "The answer is polite and never blames anyone."
    )
    problem = only(text)
    assert problem.code == "HX403"
    assert "`and never blames anyone`" in problem.message


def test_what_is_quoted_in_a_second_claim_keeps_its_place() -> None:
    statement = 'It is one list "rows"; each row has a "file" and a "line".'
    assert second_claim_in(statement) == "each row has a “…” and …"


def test_an_id_that_stands_twice_is_no_other_spelling_of_itself() -> None:
    criterion = "      - { id: cites, description: It cites the order."
    line = next(each for each in AGENT.split("\n") if each.startswith(criterion))
    read = read_spec(AGENT.replace(line, f"{line}\n{line}").encode(), file="shop.yaml")
    assert [problem.code for problem in read.problems] == ["HX201"]
    said = read_overlay(BOUND.encode(), file="o.yaml", card=read.card)
    assert smells(read, said) == []


# -- rates -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "aggregate"),
    [
        ("At least 95% of golden cases", '{rate: ">= 0.95"}'),
        ("≥ 90 percent", '{rate: ">= 0.9"}'),
        ("more than 99.5 % of runs", '{rate: "> 0.995"}'),
        ("95% accuracy", '{rate: ">= 0.95"}'),
        ("in 19 of 20 cases", '{rate: ">= 0.95"}'),
        ("Pass on 95/100 tasks", '{rate: ">= 0.95"}'),
        ("Fewer than 2% of replies leak", '{rate: "> 0.98"}'),
        ("At most 5% wrong", '{rate: ">= 0.95"}'),
        ("an error rate of 5% or less", '{rate: ">= 0.95"}'),
        ("No more than 1 in 20 fails", '{rate: ">= 0.95"}'),
        ("At most 1 of 20 cases fails", '{rate: ">= 0.95"}'),
        ("nine of ten cases", '{rate: ">= 0.9"}'),
        ("Nine in ten of the customer replies", '{rate: ">= 0.9"}'),
        ("at least 0.95 of the cases", '{rate: ">= 0.95"}'),
        ("a success rate over 80", '{rate: "> 0.8"}'),
        ("accuracy above 0.9", '{rate: "> 0.9"}'),
        ("the majority of runs", '{rate: "> 0.5"}'),
        ("two thirds of the cases", '{rate: ">= 0.666666"}'),
        ("more than two thirds of the cases", '{rate: "> 0.666667"}'),
        ("2 of 3 cases", '{rate: ">= 0.666666"}'),
        ("more than 2 of 3 cases", '{rate: "> 0.666667"}'),
        ("at most 1 of 3 cases fails", '{rate: ">= 0.666666"}'),
        ("less than 0.1% of the replies leak", '{rate: "> 0.999"}'),
        ("a mean score of at least 12345.67", '{mean: ">= 12345.67"}'),
        ("the average is above 1234567", '{mean: "> 1234567"}'),
        ("in 3 consecutive runs", "{pass^k: 3}"),
        ("consistently across five runs", "{pass^k: 5}"),
        ("> 0.9 mean combined over all tasks", '{mean: "> 0.9"}'),
        ("The average exceeds 12", '{mean: "> 12"}'),
        ("Mean of at least 80%", '{mean: ">= 0.8"}'),
        ("Pass on all three runs", "{pass^k: 3}"),
        ("All 5 repeats pass", "{pass^k: 5}"),
        ("pass^3 holds", "{pass^k: 3}"),
        ("3/3 runs", "{pass^k: 3}"),
        ("p^3 on the golden set", "{pass^k: 3}"),
        ("p95 latency below 2s", '{rate: ">= 0.95"}'),
        ("p95 < 10 s", '{rate: ">= 0.95"}'),
        ("p99.5 under 300 ms", '{rate: ">= 0.995"}'),
        ("90th percentile within 4 minutes", '{rate: ">= 0.9"}'),
        ("median of at most 5 steps", '{rate: ">= 0.5"}'),
        ("under 4 hours in 95% of nights", '{rate: ">= 0.95"}'),
        ("average cost < $0.20", '{mean: "< 0.2"}'),
        ("mean latency of at most three seconds", '{mean: "<= 3000"}'),
        ("No regression against the last release", '{baseline: ">= 0"}'),
        ("no regressions", '{baseline: ">= 0"}'),
        ("Zero regressions vs. the previous version.", '{baseline: ">= 0"}'),
        ("No worse than the baseline", '{baseline: ">= 0"}'),
        ("not worse than the last released version", '{baseline: ">= 0"}'),
        ("at least as good as the previous release", '{baseline: ">= 0"}'),
        ("Matches or exceeds the baseline", '{baseline: ">= 0"}'),
        ("does not drop below the baseline", '{baseline: ">= 0"}'),
        ("Better than the baseline", '{baseline: "> 0"}'),
        ("Strictly above the baseline", '{baseline: "> 0"}'),
        ("Outperforms the current production model", '{baseline: "> 0"}'),
        ("improves on the last release", '{baseline: "> 0"}'),
        ("at least 5 points better than the baseline", '{baseline: ">= 0.05"}'),
        ("5% better than the previous version", '{baseline: ">= 0.05"}'),
        ("no more than 2% worse than the last release", '{baseline: ">= -0.02"}'),
        ("within 2.5 percentage points of the baseline", '{baseline: ">= -0.025"}'),
        (
            "drops by at most 3 points against the last release",
            '{baseline: ">= -0.03"}',
        ),
    ],
)
def test_a_goal_over_many_runs_has_its_aggregate(goal: str, aggregate: str) -> None:
    assert aggregate_in(goal) == aggregate
    source, problems = read_yaml(f"a: {aggregate}".encode(), file="f")
    assert problems == []
    assert source is not None
    read_aggregate(source.data["a"])


@given(st.integers(2, 400).flatmap(lambda n: st.tuples(st.integers(2, n), st.just(n))))
def test_what_a_goal_counts_meets_the_rate_that_is_proposed(
    counts: tuple[int, int],
) -> None:
    part, whole = counts
    for words, meets in (("", True), ("more than ", False)):
        proposed = aggregate_in(f"{words}{part} of {whole} cases")
        if part == whole:
            assert proposed is None
            continue
        assert proposed is not None
        source, _ = read_yaml(f"a: {proposed}".encode(), file="f")
        assert source is not None
        aggregate = read_aggregate(source.data["a"])
        assert aggregate.holds(part / whole) is meets
        assert aggregate.holds((part + 1) / whole)
        assert not aggregate.holds((part - 1) / whole)


@pytest.mark.parametrize(
    "goal",
    [
        "100% approval coverage",
        "Zero fabricated citations.",
        "1.0 per task.",
        "Pass on 100/100 tasks",
        "within 5% tolerance",
        "No more than 3 tool calls",
        "No more than 3 of 5 tools are called",
        "It picks one of the three labels",
        "1 of 3 labels",
        "It offers one of two sizes",
        "Two of the three sources are cited",
        "Half the budget is left",
        "95% confidence",
        "The regression tests pass",
        "No linear regression model is fitted",
        "No regression tests fail",
        "An error rate no higher than the last version",
        "Latency is no more than in the last release",
        "The cost does not exceed the baseline",
        "Latency at most 5% higher than the last release",
        "Cost up to 5% above the baseline",
        "Better than nothing",
        "It compares the baseline with the release",
        "The release notes are no worse",
        "All cases",
        "within 5 seconds",
        "p95",
        "≥95% of turns",
        "At least 90 percent of the factual claims",
        "",
    ],
)
def test_a_goal_of_every_run_needs_none(goal: str) -> None:
    assert aggregate_in(goal) is None


@given(st.text(max_size=200))
def test_any_goal_is_read(goal: str) -> None:
    aggregate_in(goal)
    likert_in(goal)
    second_claim_in(goal)


def test_the_proposed_lines_are_an_overlay_that_carries_the_rate() -> None:
    text = AGENT.replace(
        "type: code-check, goal: Always", "type: code-check, goal: 95%"
    )
    problem = only(text)
    assert problem.code == "HX404"
    assert "`shop.evals.yaml`" in problem.hint
    lines = proposed(problem)
    assert lines == 'criteria:\n  cites:\n    aggregate: {rate: ">= 0.95"}'
    both = lines + "\n    check: { output.present: {} }\n"
    assert found(text, both) == []


# -- checks ----------------------------------------------------------------------------


def test_a_code_check_without_a_check_is_told_how_to_bind_one() -> None:
    problem = only(AGENT, "")
    assert problem.code == "HX405"
    assert problem.excerpt[problem.position.column - 1 :].startswith("cites")
    lines = proposed(problem)
    assert found(AGENT, lines) == []


def test_a_check_that_is_said_to_be_written_by_hand_is_not_asked_for() -> None:
    assert "`criteria: {cites: {method: deterministic}}`" in only(AGENT, "").hint
    by_hand = "criteria: { cites: { method: deterministic } }"
    assert found(AGENT, by_hand) == []
    # What is said of other things says nothing of that.
    assert [p.code for p in found(AGENT, "criteria: { cites: { severity: LOW } }")] == [
        "HX405"
    ]


@pytest.mark.parametrize(
    ("goal", "call"),
    [
        ("p95 < 10 s", {"numbers.latency": {"at_most": 10000}}),
        ("p95 latency below 5 seconds", {"numbers.latency": {"at_most": 5000}}),
        ("under 4 hours in 95% of nights", {"numbers.latency": {"at_most": 14400000}}),
        ("within five minutes", {"numbers.latency": {"at_most": 300000}}),
        ("under sixty seconds", {"numbers.latency": {"at_most": 60000}}),
        ("at most sixteen steps", None),
        ("≤ 300ms", {"numbers.latency": {"at_most": 300}}),
        ("average cost < $0.20", {"numbers.cost": {"at_most": 0.2}}),
        ("at most 20 cents", {"numbers.cost": {"at_most": 0.2}}),
        ("no more than 12,500 tokens", {"numbers.tokens": {"at_most": 12500}}),
        ("fewer than 3k tokens", {"numbers.tokens": {"at_most": 3000}}),
        ("max 20 steps", {"numbers.steps": {"at_most": 20}}),
        ("within 30 days", None),
        ("below 5%", None),
        ("at most 20 € each", None),
        ("10 s", None),
        ("<", None),
    ],
)
def test_a_limit_in_a_goal_is_a_check(goal: str, call: Any) -> None:
    budget = budget_in(goal)
    assert (None if budget is None else budget.check) == call
    assert call is None or argument_faults(call) == []


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ("check: { output.present: {} }", "HX412"),
        ("check: { numbers.steps: { at_most: 9 } }, method: hybrid", "HX412"),
        # What is looked for may well be the question.
        ("check: { output.contains: { texts: [order] } }", None),
        ("check: { output.present: {} }, method: deterministic", None),
        ("method: llm-judge", None),
    ],
)
def test_a_judge_that_nobody_asks_is_told(says: str, code: str | None) -> None:
    bound = BOUND.replace("criteria: {", "criteria: { polite: { " + says + " },")
    assert [p.code for p in found(AGENT, bound)] == ([code] if code else [])


def test_a_limit_over_many_runs_is_proposed_as_check_and_aggregate() -> None:
    text = broken(
        AGENT, "type: code-check, goal: Always", "type: code-check, goal: p95 < 10 s"
    )
    unbound, rate = found(text, "")
    assert (unbound.code, rate.code) == ("HX405", "HX404")
    check = proposed(unbound)
    assert check.endswith("check: {numbers.latency: {at_most: 10000}}")
    (line,) = [each for each in proposed(rate).split("\n") if "aggregate" in each]
    assert found(text, f"{check}\n{line}") == []


def test_a_tool_that_a_statement_names_is_proposed() -> None:
    text = broken(AGENT, "It cites the order.", "The orders tool is called once.")
    text = text.replace("cites", "looks-it-up")
    assert "check: {tools.called: {name: orders}}" in proposed(only(text, ""))


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("The run takes the path that the case expects.", "{expect.path: {}}"),
        ("Each node gives the output that is expected.", "{expect.outputs: {}}"),
        ("Exactly the expected actions are called.", "{expect.actions: {}}"),
        (
            "All expected terms occur in it.",
            "{expect.keyword_recall: {expected: FIELD}}",
        ),
        # What is only said of a path or of terms is none of a case's expectations.
        ("The path of the file is named.", "{output.contains: {texts: [WORDS]}}"),
    ],
)
def test_what_a_case_expects_is_proposed_as_its_comparison(
    statement: str, check: str
) -> None:
    text = broken(AGENT, "It cites the order.", statement)
    text = text.replace("cites", "agreed")
    assert f"check: {check}" in proposed(only(text, ""))


def test_an_approval_is_proposed_with_the_actions_of_the_spec() -> None:
    text = broken(AGENT, "It cites the order.", "No refund without an approval.")
    assert "actions: [refund]" in only(text, "").hint


@pytest.mark.parametrize(
    ("statement", "proposed_call"),
    [
        ("The number in the answer equals the expected value.", "expect.equals"),
        ("The SQL holds no INSERT and no DROP.", "output.contains_none"),
        ("The reply never mentions a competitor.", "output.contains_none"),
        ("It makes no more than 4 tool calls.", "tools.count: {at_most: 4}"),
        ("The reply mentions the order.", "output.contains:"),
    ],
)
def test_what_is_proposed_says_what_the_criterion_says(
    statement: str, proposed_call: str
) -> None:
    text = broken(AGENT, "It cites the order.", statement).replace("cites", "right")
    assert proposed_call in only(text, "").hint


@pytest.mark.parametrize(
    ("statement", "check", "expected"),
    [
        (
            "The SQL holds no INSERT and no DROP.",
            "output.regex: { pattern: INSERT }",
            "combine.negate",
        ),
        (
            "The reply never mentions a rival.",
            "output.contains: { texts: [Acme] }",
            "output.contains_none",
        ),
        (
            "The reply doesn't mention a rival.",
            "output.contains: { texts: [Acme] }",
            "output.contains_none",
        ),
        ("No key is shown.", "output.regex: { pattern: sk }", "combine.negate"),
        ("The SQL holds a LIMIT.", "output.regex: { pattern: LIMIT }", ""),
        ("The SQL holds no INSERT.", "output.contains_none: { texts: [INSERT] }", ""),
        ("It holds no INSERT.", "output.regex: { pattern: '^(?!.*INSERT)' }", ""),
        ("It never says yes without a number.", "output.regex: { pattern: '1' }", ""),
        ("No answer lacks a number.", "output.regex: { pattern: '1' }", ""),
    ],
)
def test_a_check_that_passes_where_its_criterion_forbids(
    statement: str, check: str, expected: str
) -> None:
    text = broken(AGENT, "It cites the order.", statement)
    overlay = f"criteria: {{ cites: {{ check: {{ {check} }} }} }}"
    smells = [p for p in found(text, overlay) if p.code == "HX410"]
    assert len(smells) == (1 if expected else 0)
    assert all(expected in problem.hint for problem in smells)


@pytest.mark.parametrize(
    ("statement", "said", "count"),
    [
        (
            "Given an invalid batch, nothing is written.",
            "check: { tools.none_called: { names: [refund] } }",
            1,
        ),
        (
            "When the order is unknown, the reply asks for it.",
            "check: { output.contains: { texts: [order] } }",
            1,
        ),
        (
            "When the order is unknown, the reply asks for it.",
            "check: { output.contains: { texts: [order] } }, "
            "applies_to: { scenarios: [lost] }",
            0,
        ),
        (
            "When a refund is made, the order was read before.",
            "check: { tools.before: { first: orders, then: refund } }",
            0,
        ),
        (
            "The reply says when the order comes, in words.",
            "check: { output.contains: { texts: [order] } }",
            0,
        ),
    ],
)
def test_a_condition_that_the_check_does_not_ask_for(
    statement: str, said: str, count: int
) -> None:
    text = broken(AGENT, "It cites the order.", f'"{statement}"')
    smells = found(text, f"criteria: {{ cites: {{ {said} }} }}")
    assert [p.code for p in smells].count("HX411") == count


def test_a_judge_for_a_code_check_is_no_missing_check() -> None:
    assert found(AGENT, "criteria: { cites: { method: llm-judge } }") == []


def test_facts_are_proposed_only_where_there_are_any() -> None:
    dangling = "Zero dangling references."
    text = broken(WORKFLOW, "It routes.", dangling)
    assert "facts.workflow_resolves" in found(text, "")[0].hint
    text = broken(SKILL, "It cites., type: llm-judge", f"{dangling}, type: code-check")
    assert "facts." not in found(text, "")[0].hint


@pytest.mark.parametrize("example", examples(), ids=lambda e: next(iter(e)))
def test_every_proposed_check_can_be_bound(example: dict[str, object]) -> None:
    assert argument_faults(example) == []


# -- coverage --------------------------------------------------------------------------

_EMPTY_DATASET = """\
      - id: empty
        description: To come.
        mapsTo: { criteria: [cites] }
        categories: []
"""


def test_a_criterion_that_nothing_exercises() -> None:
    text = broken(AGENT, "    datasets:\n", "    datasets:\n" + _EMPTY_DATASET)
    text = broken(text, "criteria: [polite, cites] }", "criteria: [polite] }")
    problem = only(text)
    assert problem.code == "HX401"
    assert "`empty` has no items" in problem.message
    overlay = proposed(problem) + "\n" + BOUND
    assert found(text, overlay) == []


def test_a_named_file_of_rows_exercises_and_a_uri_does_not() -> None:
    text = broken(AGENT, "    datasets:\n", "    datasets:\n" + _EMPTY_DATASET)
    text = broken(text, "criteria: [polite, cites] }", "criteria: [polite] }")
    place = "        categories: []\n"
    assert found(text.replace(place, place + "        itemsRef: rows.jsonl\n")) == []
    assert only(text.replace(place, place + "        itemsRef: hf://x\n")).code == (
        "HX401"
    )


def test_without_scenarios_and_datasets_nothing_is_exercised() -> None:
    start = SKILL.index("    scenarios:")
    text = SKILL[:start] + "    scenarios: []\n    datasets: []\n"
    problem = only(text, "")
    assert problem.code == "HX401"
    assert "there is no scenario and no dataset" in problem.message


def test_a_dataset_without_a_realistic_query() -> None:
    text = broken(AGENT, '            input: { message: "Where is it?" }\n', "")
    problem = only(text)
    assert problem.code == "HX406"
    assert "none of its items has an `input`" in problem.message
    assert found(text, BOUND + "\n" + proposed(problem)) == []


def test_a_spec_without_datasets_has_only_descriptions() -> None:
    assert only(SKILL, "").code == "HX406"
    old = [p for p in found(V02, "") if p.code == "HX406"]
    assert len(old) == 1
    assert old[0].excerpt == "    dataset_categories:"
    assert "facts:" in proposed(old[0])


def test_two_criteria_that_ask_the_same() -> None:
    text = broken(AGENT, "It cites the order.", "the answer is  polite")
    assert [p.code for p in found(text)] == ["HX407"]


def test_ids_that_only_people_who_look_twice_tell_apart() -> None:
    text = AGENT.replace("cites", "Poli-te").replace("Poli-te the", "cites the")
    overlay = BOUND.replace("cites", "Poli-te")
    assert [p.code for p in found(text, overlay)] == ["HX409"]


def test_expectations_that_no_run_can_meet() -> None:
    problem = only(broken(AGENT, "path: [look, pay, done]", "path: [look, pai, done]"))
    assert problem.code == "HX408"
    assert problem.excerpt[problem.position.column - 1 :].startswith("pai")
    assert "`look`, `pay`, `done`" in problem.hint


@pytest.mark.parametrize(
    ("given", "key", "meant"),
    [
        ('qeury: "Where is it?", order: 7', "qeury", "query"),
        ('user_query: "Where is it?", order: "7"', "user_query", "query"),
        ('customerMessage: "Where is it?", order: 7', "customerMessage", "message"),
    ],
)
def test_words_that_become_no_query_are_told(given: str, key: str, meant: str) -> None:
    problem = only(broken(AGENT, 'message: "Where is it?"', given))
    assert problem.code == "HX414"
    assert f"`{key}`" in problem.message and problem.hint == f"call it `{meant}`"


@pytest.mark.parametrize(
    "given",
    [
        'context: "A parcel.", order: 7',
        'ticket_id: "T-7", order: 7',
        'query: "Where is it?", user_query: "?"',
        'turns: ["Where is it?"], user_query: "?"',
        'qeury: "Where is it?"',  # the only field: it is the query
    ],
)
def test_other_inputs_are_let_be(given: str) -> None:
    assert found(broken(AGENT, 'message: "Where is it?"', given)) == []


def test_an_expectation_that_a_check_names_is_read() -> None:
    bound = (
        "criteria: { cites: { check: { expect.equals: { expected: actioncalls.0 } } } }"
    )
    assert found(broken(AGENT, "actionCalls: []", "actioncalls: [x]"), bound) == []


def test_expected_members_and_nodes_are_compared_too() -> None:
    dataset = """\
    datasets:
      - id: golden
        description: G.
        mapsTo: { criteria: [good], scenarios: [plain] }
        categories: []
        items:
          - id: one
            scenarioRef: plain
            input: { q: Go. }
            expected:
              memberOutputs: [{ memberRef: writer, output: x }, { memberRef: w, output: y }]
              workflowNodeOutputs: [{ nodeRef: draft, output: x }, { nodeRef: d, output: y }]
"""
    text = broken(MULTI_AGENT, "    datasets: []\n", dataset)
    assert [p.message.split(",")[0] for p in found(text, "")] == [
        "the expectation names the member `w`",
        "the expectation names the node `d`",
    ]
