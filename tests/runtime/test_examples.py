"""Labelled examples: of each kind, few, and never from dev or test."""

from typing import Any

import pytest
from helix_runtime.criterion import Example, Judge
from helix_runtime.judges.examples import MAX_EXAMPLES, HeldOut, judge_faults, leaks


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


RUN_TEXT = (
    "Where is my order 4711?\nuser: Where is my order 4711?\n"
    "assistant: Your order 4711 was sent on Monday and comes by Thursday at the latest."
)


@pytest.mark.parametrize(
    "excerpt",
    [
        "user: Where is my ORDER 4711?\nassistant:  Your order 4711 was sent on Monday "
        "and comes by Thursday at the latest.",
        "Q: Where is my order 4711?\nA: Your order 4711 was sent on […] Monday "
        "[… 12 characters cut …] and comes by Thursday at the latest.",
        "Your order 4711 was sent on Monday and comes by Thursday at the latest.\n"
        "Where is my order 4711?",
    ],
)
def test_an_excerpt_that_was_shortened_or_turned_round_is_still_found(
    excerpt: str,
) -> None:
    excerpt = excerpt.replace("[…]", "…")
    shown = judge(*ALL[:2], example("borderline", excerpt=excerpt))
    (line,) = leaks([shown], [HeldOut(split="test", text=RUN_TEXT)])
    assert "example 3 of 'cites' leaks" in line and "test split" in line
    assert "`labels examples cites`" in line, "what to do is said"


@pytest.mark.parametrize(
    "excerpt",
    [
        "Your order 4711 was sent",  # too short to be of one run alone
        "user: And order 4712?\nassistant: Your order 4711 was sent on Monday and comes "
        "by Thursday at the latest.",
    ],
)
def test_an_answer_that_another_run_gave_too_is_no_leak(excerpt: str) -> None:
    shown = judge(*ALL[:2], example("borderline", excerpt=excerpt))
    assert leaks([shown], [HeldOut(split="test", text=RUN_TEXT)]) == []


def test_a_copy_of_a_case_leaks_as_the_case_does() -> None:
    found = leaks([judge(*ALL)], [], split_of={"case-pass": "dev"}.get)
    assert len(found) == 1 and "its case 'case-pass' is in the dev split" in found[0]
    assert leaks([judge(*ALL)], [], split_of={"case-pass": "train"}.get) == []


def test_a_change_of_the_examples_is_a_change_of_the_judge() -> None:
    assert judge(*ALL).digest != judge(*ALL[:2]).digest
