"""The cards: what is still to write, and that a stranger's text stays text."""

import json
from dataclasses import replace

from helix_gen.cards import make_cards, render_cards, unwritten_checks
from helix_gen.emit.render import render
from helix_gen.suite.model import Suite
from helix_runtime.case import case_from_row
from support.suite_cards import (
    HARNESS_TARGET,
    card,
    criterion,
    dataset,
    scenario,
    suite_of,
)

SPEC = card(
    criteria=[criterion("is-brief"), criterion("is-kind", "llm-judge")],
    scenarios=[scenario("rush-hour")],
)
CHECKS, TARGET = "desk_clerk_evals/checks.py", "desk_clerk_evals/target.py"


def cards_of(suite: Suite, **changed: bytes) -> dict[str, object]:
    files = {file.path: file.content for file in render(suite)}
    seeded = {file.path for file in render(suite) if file.ownership == "seeded"}
    names = {"checks": CHECKS, "target": TARGET, "settings": "evals.toml"}
    for name, content in changed.items():
        files[names[name]] = content
        seeded.discard(names[name])
    return make_cards(suite, after=files.get, untouched=seeded)


def places(cards: dict[str, object]) -> list[str]:
    to_write = json.loads(json.dumps(cards))["evals"]["toWrite"]
    return [item["file"] for item in to_write]


def test_a_fresh_suite_lists_all_that_its_owner_has_to_write() -> None:
    cards = cards_of(suite_of(SPEC))
    assert places(cards) == [CHECKS, TARGET, "evals.toml"]


def test_each_case_of_the_card_is_counted_somewhere() -> None:
    spec = card(
        criteria=[criterion("is-brief")],
        scenarios=[scenario("rush-hour"), scenario("lunch")],
        datasets=[dataset("orders", mapsTo={"scenarios": ["lunch"]})],
    )
    cards = cards_of(suite_of(spec))
    counted = json.loads(json.dumps(cards))["dataset"]
    loose = counted["cases"] - sum(counted["datasets"].values())
    assert loose > 0
    assert f", of no dataset {loose}\n" in render_cards(cards, heading=str, folder="f")


def test_what_its_owner_wrote_is_no_longer_listed() -> None:
    cards = cards_of(
        suite_of(SPEC),
        checks=b"x = 1\n",
        target=b"def target(case):\n    return case.query\n",
        settings=b'[judge]\nprovider = "openai"\nmodel = "m"\n',
    )
    assert places(cards) == []


def test_a_judge_that_the_overlay_names_stands_in_a_fresh_suite() -> None:
    judge = {"judge": {"provider": "openai", "model": "m-1"}}
    assert places(cards_of(suite_of(SPEC, judge))) == [CHECKS, TARGET]


def test_a_judge_on_this_machine_needs_no_key() -> None:
    judge = {
        "provider": "openai-http",
        "model": "m-1",
        "base_url": "http://localhost:8000/v1",
    }
    for url, key in (
        ("http://localhost:8000/v1", "not needed: the judge's server is on this"),
        ("https://judge.example/v1", "needed for 2 judges (openai-http)"),
    ):
        suite = suite_of(SPEC, {"judge": judge | {"base_url": url}})
        assert key in render_cards(cards_of(suite), heading=str, folder="f")


def test_a_suite_without_a_build_target_names_none() -> None:
    assert "unknown" not in render_cards(
        cards_of(suite_of(SPEC)), heading=str, folder="f"
    )


def test_of_several_targets_the_chosen_one_is_said_with_the_others() -> None:
    harness = {**HARNESS_TARGET, "id": "elsewhere"}
    criteria = SPEC["spec"]["evaluation"]["criteria"]
    both = suite_of(card(criteria=criteria, targets=[HARNESS_TARGET, harness]))
    said = f"of several targets: `{HARNESS_TARGET['id']}`; --target takes another: "
    text = render_cards(cards_of(both), heading=str, folder="f")
    assert f"{said}`elsewhere`" in text
    one = suite_of(card(criteria=criteria, targets=[harness]))
    assert "--target" not in render_cards(cards_of(one), heading=str, folder="f")


def test_a_native_suite_needs_neither_target_nor_judge() -> None:
    native = suite_of(
        card(criteria=SPEC["spec"]["evaluation"]["criteria"], targets=[HARNESS_TARGET])
    )
    cards = cards_of(native)
    assert places(cards) == [CHECKS]
    text = render_cards(cards, heading=str, folder="f")
    assert "code-written" not in text
    assert "harness" in text


def test_each_engine_says_what_it_depends_on() -> None:
    text = render_cards(cards_of(suite_of(SPEC)), heading=str, folder="f")
    for words in ("host with agents", "trace sink", "provider key", "portability"):
        assert text.count(words) == 2


def test_checks_are_unwritten_only_where_they_say_so() -> None:
    source = b"""
@check("open", "?")
def first(case, trace):
    return unwritten()


@check("half", "?")
def second(case, trace):
    if trace.answer:
        return passed("Seen.")
    return unwritten()


@check("done", "?")
def third(case, trace):
    return passed("It does not call unwritten().")


def helper():
    return unwritten()
"""
    assert unwritten_checks(source) == [("open", 2), ("half", 7)]
    assert unwritten_checks(source + b"def broken(:\n") == []
    assert unwritten_checks(b"\xff unwritten()") == []


def test_a_stranger_text_reaches_no_terminal_raw() -> None:
    suite = suite_of(SPEC)
    nasty = "\x1b[2J\u202e\n"
    labels = {"dataset": nasty, "category": nasty, "scenario": nasty}
    cases = tuple(case_from_row({**case.to_row(), **labels}) for case in suite.cases)
    suite = replace(suite, cases=cases, target=replace(suite.target, name=nasty))
    text = render_cards(cards_of(suite), heading=str, folder=nasty)
    assert "\x1b" not in text
    assert "\u202e" not in text
