"""Hostile texts in every place that takes one: read or refused, and shown harmlessly."""

import json
import re
from typing import Any

import pytest
from helix_gen.lint.smells import smells
from helix_gen.problems import render_github, render_json, render_text
from helix_gen.spec.overlay import read_overlay
from helix_gen.spec.read import read_spec
from helix_gen.spec.yaml import read_yaml
from support.nasty_texts import NASTY
from support.spec_texts import AGENT

TEXTS = tuple(text for text in NASTY if not re.search("[\ud800-\udfff]", text))


def as_yaml(data: Any) -> str:
    """JSON that YAML reads: no pair of surrogates for a character."""

    def whole(found: re.Match[str]) -> str:
        pair = bytes.fromhex(found[1] + found[2]).decode("utf-16-be")
        return f"\\U{ord(pair):08x}"

    escape = r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})"
    return re.sub(escape, whole, json.dumps(data))


def poisoned(text: str) -> Any:
    source, _ = read_yaml(AGENT.encode(), file="f")
    assert source is not None
    card = source.data
    card["metadata"] |= {"id": text, "name": text, "description": text}
    evaluation = card["spec"]["evaluation"]
    evaluation["criteria"][0] |= {"id": text, "description": text, "goal": text}
    evaluation["scenarios"][0] |= {"id": text, "description": text}
    dataset = evaluation["datasets"][0]
    dataset["id"] = text
    dataset["mapsTo"] |= {"criteria": [text, "cites"], "scenarios": [text, "lost"]}
    dataset["items"][0] |= {"scenarioRef": text, "input": {text: text}}
    return card


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_read_as_it_is_and_shown_without_harm(text: str) -> None:
    card = poisoned(text)
    read = read_spec(as_yaml(card).encode(), file=text)
    assert read.card is not None, [p.message for p in read.problems]
    assert read.source.data == card
    says = {
        "criteria": {text: {"severity": "LOW"}, f"{text}?": {}},
        "datasets": {text: {"map": {text: text}}},
        "target": text,
    }
    overlay = read_overlay(as_yaml(says).encode(), file=text, card=read.card)
    assert overlay.overlay is None, "`target` and the second criterion are wrong"
    problems = [*read.problems, *overlay.problems, *smells(read, None)]
    assert all(line.isprintable() for line in render_text(problems).split("\n"))
    assert len(json.loads(render_json(problems))) == len(set(problems))
    commands = render_github(problems).split("\n")
    assert all(re.match("::(error|warning) file=", line) for line in commands[:-1])


@pytest.mark.parametrize("number", ["1e400", ".nan", "-.inf", "9" * 5001])
def test_numbers_that_json_can_not_hold_are_refused_anywhere(number: str) -> None:
    text = AGENT.replace('{ message: "Where is it?" }', f"[{number}]")
    (problem,) = read_spec(text.encode(), file="f").problems
    assert problem.code == "HX012"


def test_a_pair_of_surrogates_is_the_character_that_json_means() -> None:
    read = read_spec(b'{"a": "\\ud83d\\ude00"}', file="f")
    assert read.source.get(("a",)) == "\U0001f600"


def test_half_a_pair_of_surrogates_is_told_what_to_write() -> None:
    (problem,) = read_spec(b'{"a": "\\ud83d"}', file="f").problems
    assert problem.code == "HX004"
    assert problem.hint.startswith("write the character itself")


def test_two_hundred_levels_are_refused() -> None:
    text = AGENT.replace('{ message: "Where is it?" }', "[" * 200 + "]" * 200)
    (problem,) = read_spec(text.encode(), file="f").problems
    assert problem.code == "HX009"


def test_five_thousand_criteria_are_read() -> None:
    rows = "".join(
        f"      - {{ id: c{i}, description: D {i}., type: llm-judge, goal: G }}\n"
        for i in range(5000)
    )
    text = AGENT.replace("    criteria:\n", "    criteria:\n" + rows)
    read = read_spec(text.encode(), file="f")
    assert read.card is not None
    assert {p.code for p in read.problems} == {"HX221"}
