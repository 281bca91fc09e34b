"""Labelled examples: of each kind, few, and never from dev or test."""

from typing import Any

import pytest
from helix_runtime.criterion import Example, Judge
from helix_runtime.examples import MAX_EXAMPLES, HeldOut, judge_faults, leaks


def example(label: Any = "pass", **changes: Any) -> Example:
    values: dict[str, Any] = {
        "label": label,
        "excerpt": f"The order was sent ({label}).",
        "critique": "It says so.",
        "result": "uncertain" if label == "borderline" else label,
        "case_id": f"case-{label}",
        "trace_id": f"run-{label}",
    }
    return Example(**{**values, **changes})


ALL = (example("pass"), example("fail"), example("borderline"))


def judge(*examples: Example) -> Judge:
    return Judge("cites", "It cites.", "It does.", "It does not.", examples=examples)


def test_a_judge_without_examples_is_fine_until_there_are_labels() -> None:
    assert judge_faults(judge()) == []


def test_one_of_each_kind_is_enough() -> None:
    assert judge_faults(judge(*ALL)) == []


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_kind_that_is_missing_is_named(missing: int) -> None:
    kept = [e for number, e in enumerate(ALL) if number != missing]
    (fault,) = judge_faults(judge(*kept))
    assert f"none is labelled {ALL[missing].label}" in fault


def test_more_than_eight_are_too_many() -> None:
    many = [example(excerpt=f"Order {n}.") for n in range(MAX_EXAMPLES)]
    faults = judge_faults(judge(*ALL[1:], *many))
    assert any("at most 8" in fault for fault in faults)


def test_a_label_and_its_result_must_agree() -> None:
    assert judge_faults(judge(*ALL, example(excerpt="x", result="fail")))


def test_one_text_with_two_results_is_a_fault() -> None:
    twice = example("borderline", excerpt=ALL[0].excerpt.upper(), result="fail")
    assert judge_faults(judge(*ALL, twice))


@pytest.mark.parametrize(
    "held_out",
    [
        HeldOut(split="dev", case_id="case-fail"),
        HeldOut(split="test", trace_id="run-pass"),
        HeldOut(split="test", text="  the ORDER was\n sent (borderline). "),
    ],
)
def test_a_leak_is_found_by_case_by_run_and_by_content(held_out: HeldOut) -> None:
    (line,) = leaks([judge(*ALL)], [held_out])
    assert "leaks" in line and held_out.split in line


def test_what_is_held_out_elsewhere_leaks_nothing() -> None:
    others = [HeldOut(split="dev", case_id="c", trace_id="t", text="else")]
    assert leaks([judge(*ALL)], others) == []


def test_examples_without_ids_are_compared_by_content_alone() -> None:
    bare = [example(label, case_id="", trace_id="") for label in ("pass", "fail")]
    assert leaks([judge(*bare)], [HeldOut(split="dev")]) == []


def test_a_change_of_the_examples_is_a_change_of_the_judge() -> None:
    assert judge(*ALL).digest != judge(*ALL[:2]).digest
