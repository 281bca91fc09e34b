"""The overlay is read as the spec is: unknown keys, unknown ids, wrong arguments."""

import typing
from typing import Any

import pytest
from helix_gen.problems import Problem
from helix_gen.spec.overlay import (
    DerivedName,
    ProviderName,
    ReadOverlay,
    is_field_of_ours,
    read_aggregate,
    read_overlay,
)
from helix_gen.spec.read import read_spec
from helix_gen.suite.derive import DERIVED
from helix_runtime.criterion import baseline, mean, pass_k, rate
from hypothesis import given
from hypothesis import strategies as st
from support.spec_texts import AGENT, OVERLAY, V02

CARD = read_spec(AGENT.encode(), file="spec.yaml").card
OLD_CARD = read_spec(V02.encode(), file="spec.yaml").card


def read(text: str, card: Any = CARD) -> ReadOverlay:
    return read_overlay(text.encode(), file="spec.evals.yaml", card=card)


def only(text: str, card: Any = CARD) -> Problem:
    problems = read(text, card).problems
    assert len(problems) == 1, [p.message for p in problems]
    return problems[0]


def test_a_whole_overlay_is_typed_and_without_a_problem() -> None:
    result = read(OVERLAY)
    assert result.problems == []
    assert result.overlay is not None
    assert result.overlay.criteria is not None
    assert result.overlay.criteria["polite"].severity == "CRIT"
    assert result.overlay.derive == {"expected-path": "off", "declared-tools": "on"}
    assert result.source.data["judge"]["model"] == "m-1"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}"])
def test_an_empty_overlay_says_nothing(text: str) -> None:
    result = read(text)
    assert result.problems == []
    assert result.overlay is not None
    assert result.overlay.criteria is None


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"),
    [
        ("criterias: {}", "HX101", "unknown key `criterias`", "`criteria`"),
        ("criteria: { polite: { sever: LOW } }", "HX101", "`sever`", "`severity`"),
        ("judge: { provider: openia }", "HX104", "`openia`", "`openai`"),
        ("judge: { provider: bedrock }", "HX104", "`bedrock`", "`openai-http`"),
        ("criteria: { polit: {} }", "HX305", "no criterion `polit`", "`polite`"),
        ("criteria: { polite: { severity: 3 } }", "HX104", "the number `3`", "`CRIT`"),
        (
            "criteria: { polite: { aggregate: { rate: '> 1' } } }",
            "HX301",
            "no rate is above 1",
            "write all, ",
        ),
        (
            "criteria: { polite: { aggregate: { rate: '>= 97.5' } } }",
            "HX301",
            "not at 97.5",
            '97.5 % is `rate: ">= 0.975"`',
        ),
        (
            "criteria: { polite: { aggregate: { baseline: '>= -5' } } }",
            "HX301",
            "not at -5",
            '-5 % is `baseline: ">= -0.05"`',
        ),
        (
            "datasets: { golden: { items: a.csv, map: { a: expcted.x } } }",
            "HX302",
            "no field `expcted.x`",
            "did you mean `expected.x`?",
        ),
        (
            "criteria: { polite: { applies_to: { datasets: [gold] } } }",
            "HX305",
            "no dataset `gold`",
            "`golden`",
        ),
        (
            "criteria: { polite: { applies_to: { categories: [x] } } }",
            "HX305",
            "no category `x`",
            "categories of the spec: `parcels`",
        ),
        (
            "criteria: { polite: { applies_to: { scenarios: [losd] } } }",
            "HX305",
            "no scenario `losd`",
            "`lost`",
        ),
        (
            "criteria: { cites: { check: { output.contain: {} } } }",
            "HX306",
            "no primitive",
            "`output.contains`",
        ),
        (
            "criteria: { cites: { check: { output.not_contains: {} } } }",
            "HX306",
            "no primitive",
            "`output.contains_none`",
        ),
        (
            "criteria: { cites: { check: { output.not_regex: {} } } }",
            "HX306",
            "no primitive",
            "{combine.negate: {verdict: {output.regex: …}}}",
        ),
        (
            "criteria: { cites: { check: { output.contains: { texts: a } } } }",
            "HX306",
            "expected a list of texts",
            "[value]",
        ),
        (
            "criteria: { polite: { renamed_from: cites } }",
            "HX307",
            "still has the criterion `cites`",
            "no longer",
        ),
        (
            "criteria: { polite: { renamed_from: a }, cites: { renamed_from: a } }",
            "HX307",
            "both have been `a`",
            "line 1",
        ),
        (
            "criteria: { polite: { method: llm-judge, check: { output.present: {} } } }",
            "HX308",
            "never asked",
            "hybrid",
        ),
        (
            "criteria: { expected-path: { method: hybrid } }",
            "HX308",
            "derived criterion `expected-path`",
            "`derive`",
        ),
        (
            'criteria: { polite: { aggregate: { mean: "> 0.9" } } }',
            "HX309",
            "a judge only passes or fails",
            "rate",
        ),
        ("datasets: { gold: {} }", "HX305", "no dataset `gold`", "`golden`"),
        (
            "datasets: { golden: { map: { a: quer } } }",
            "HX302",
            "no field `quer`",
            "`query`",
        ),
        (
            "datasets: { golden: { map: { a: query, b: query } } }",
            "HX311",
            "filled twice",
            "",
        ),
        (
            "datasets: { golden: { map: { a: { to: category, values: { A: parcel } } } } }",
            "HX305",
            "no category `parcel`",
            "`parcels`",
        ),
        (
            "datasets: { golden: { map: { a: tuple.mod } } }",
            "HX305",
            "no dimension `mod`",
            "`mood`",
        ),
        (
            "datasets: { golden: { map: { a: { to: tuple.mood, values: { A: wild } } } } }",
            "HX305",
            "`wild`",
            "`calm`, `angry`",
        ),
        ("judge: { modle: x }", "HX101", "`modle`", "`model`"),
        ("judge: { base_url: localhost }", "HX304", "no address", "https://"),
        ("target: python:thing", "HX303", "no target", "python:MODULE:CALLABLE"),
        ("target: ftp:x", "HX303", "no target", "http:URL"),
        (
            "derive: { expected-paths: off }",
            "HX101",
            "`expected-paths`",
            "`expected-path`",
        ),
        ("derive: { expected-path: false }", "HX104", "`false`", "`on`, `off`"),
        ("[]", "HX103", "a list", ""),
    ],
)
def test_every_fault_is_named_with_what_would_be_right(
    text: str, code: str, message: str, hint: str
) -> None:
    problem = only(text)
    assert (problem.code, problem.level, problem.file) == (
        code,
        "error",
        "spec.evals.yaml",
    )
    assert message in problem.message
    assert hint in problem.hint
    assert read(text).overlay is None


def test_faults_stand_where_they_are() -> None:
    text = "criteria:\n  cites:\n    check: { tools.called: { nam: x, name: 3 } }\n"
    found = read(text).problems
    places = [
        text.split("\n")[p.position.line - 1][p.position.column - 1 :] for p in found
    ]
    assert [place.split()[0] for place in places] == ["nam:", "3"]


def test_faults_inside_nested_checks_stand_inside_them() -> None:
    text = (
        "criteria:\n  cites:\n    check:\n      combine.any_of:\n        verdicts:\n"
        "          - output.present: {}\n          - output.presnt: {}\n"
    )
    problem = only(text)
    assert (problem.position.line, problem.position.column) == (7, 13)


def test_a_score_without_limits_is_an_error_unless_its_mean_is_taken() -> None:
    check = "{ numbers.score: { name: s } }"
    problem = only(f"criteria: {{ cites: {{ check: {check} }} }}")
    assert (problem.code, problem.message) == (
        "HX306",
        "without a limit every score passes",
    )
    assert not read(
        f"criteria: {{ cites: {{ check: {check}, aggregate: {{ mean: '> 0.9' }} }} }}"
    ).problems


@pytest.mark.parametrize("key", ["datasets", "categories", "scenarios"])
def test_a_scope_of_nothing_is_an_error(key: str) -> None:
    problem = only(f"criteria: {{ cites: {{ applies_to: {{ {key}: [] }} }} }}")
    assert (problem.code, problem.message) == (
        "HX105",
        "an empty list selects nothing",
    )


def test_a_judged_criterion_that_nothing_decides_is_a_warning() -> None:
    problem = only("criteria: { polite: { method: deterministic } }")
    assert (problem.code, problem.level) == ("HX310", "warning")
    assert "no check is bound" in problem.message


def test_a_code_check_that_a_judge_decides_is_a_warning() -> None:
    problem = only("criteria: { cites: { method: llm-judge } }")
    assert (problem.code, problem.level) == ("HX310", "warning")


def test_a_mean_over_measured_numbers_is_fine() -> None:
    text = (
        "criteria: { cites: { check: { numbers.score: { name: s, at_least: 0.5 } }, "
        'aggregate: { mean: "> 0.9" } } }'
    )
    assert read(text).problems == []


def test_without_a_card_ids_are_not_compared() -> None:
    assert read("criteria: { whatever: {} }\ndatasets: { x: {} }", None).problems == []


def test_an_older_spec_has_its_categories_for_datasets() -> None:
    assert read("datasets: { facts: { items: a.csv } }", OLD_CARD).problems == []
    assert only("datasets: { fact: {} }", OLD_CARD).hint == "did you mean `facts`?"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"rate": ">= 0.95"}, rate(">= 0.95")),
        ({"rate": ">0.1"}, rate("> 0.1")),
        ({"mean": "> 12"}, mean("> 12")),
        ({"pass^k": 3}, pass_k(3)),
        ({"baseline": ">= 0"}, baseline(">= 0")),
        ({"baseline": "> 0"}, baseline("> 0")),
        ({"baseline": ">= -0.05"}, baseline(">= -0.05")),
    ],
)
def test_aggregates_mean_what_the_runtime_means(value: Any, expected: Any) -> None:
    assert read_aggregate(value) == expected


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("some", "an aggregate is `all`"),
        ({}, "an aggregate is `all`"),
        ({"rate": ">= 0.5", "mean": "> 1"}, "an aggregate is `all`"),
        ({"median": "> 1"}, "`median` is no aggregate"),
        ({"rate": 0.95}, "a condition in quotes"),
        ({"rate": "0.95"}, "no condition"),
        ({"rate": ">= 95%"}, "95% is 0.95"),
        ({"rate": ">= 95"}, "between 0 and 1"),
        ({"mean": "> inf"}, "no condition"),
        ({"mean": "> 1_0"}, "no condition"),
        ({"rate": ">= \u0661"}, "no condition"),
        ({"pass^k": 0}, "at least 1"),
        ({"baseline": 0}, "a condition in quotes"),
        ({"baseline": ">= 5%"}, "5% is 0.05"),
        ({"baseline": ">= 5"}, "between -1 and 1"),
        ({"baseline": "< 0"}, "passes by getting worse"),
        ({"baseline": "<= 0"}, "passes by getting worse"),
        ({"baseline": ">= -1"}, "by more than 1: write"),
        ({"baseline": "> 1"}, "no rate is higher"),
        ({"baseline": "runs/a"}, "no condition"),
        ({"pass^k": True}, "at least 1"),
        ({"pass^k": "3"}, "at least 1"),
    ],
)
def test_other_aggregates_are_refused_in_plain_words(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("^", r"\^")):
        read_aggregate(value)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("query", True),
        ("tuple.mood", True),
        ("input.a.b", True),
        ("input", False),
        ("input.", False),
        ("query.x", False),
        ("output.x", False),
    ],
)
def test_fields_of_ours(name: str, fine: bool) -> None:
    assert is_field_of_ours(name) is fine


def test_the_derived_criteria_are_those_that_are_derived() -> None:
    assert set(typing.get_args(DerivedName)) == set(DERIVED)


@given(st.text(alphabet="acdeghijlmnoprstuvx_: {}[]-\n\"'", max_size=60))
def test_no_text_raises(text: str) -> None:
    result = read(text)
    assert result.overlay is not None or result.problems


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("criteria", "polite", "check", "aggregate", "datasets", "golden"),
                    *("map", "to", "values", "output.contains", "texts", "applies_to"),
                    *("derive", "judge", "method", "combine.when", "then", "rate"),
                ]
            ),
            inner,
            max_size=4,
        ),
        max_leaves=12,
    )
)
def test_no_shape_of_data_raises(value: Any) -> None:
    import json

    result = read(json.dumps(value))
    assert result.overlay is not None or result.problems


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"rate": ">= 0"}, "can't be missed"),
        ({"rate": ">= 2"}, "between 0 and 1"),
        ({"rate": "> 1"}, "no rate is above 1"),
        ({"rate": "<= 1"}, "passes by being low"),
        ({"rate": "< 0.1"}, "passes by being low"),
        ({"mean": ">= 0"}, "can't be missed"),
    ],
)
def test_a_limit_that_nothing_can_miss_or_meet_is_refused(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_aggregate(value)


def test_the_judges_provider_is_one_that_the_runtime_has() -> None:
    from helix_gen.emit import documents
    from helix_runtime.providers import PROVIDERS

    names = set(typing.get_args(ProviderName))
    assert names == set(PROVIDERS) == set(documents._PROVIDERS)
