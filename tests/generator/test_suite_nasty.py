"""Texts of strangers go through resolving as they are, and break nothing on the way."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.canonical import dump_line
from helix_runtime.case import case_from_row
from support.nasty_texts import NASTY
from support.suite_cards import (
    action,
    card,
    criterion,
    dataset,
    read,
    scenario,
    suite_of,
)

# YAML has no lone surrogates; they come in rows of JSON (see the tests of items).
TEXTS = [t for t in NASTY if t.strip() and not re.search("[\ud800-\udfff]", t)]


def nasty_card(text: str) -> dict[str, Any]:
    """Return a card with `text` wherever the format takes a text of one's own."""
    spec = card(
        criteria=[
            criterion(text, description=text, goal=text),
            criterion("j", "llm-judge"),
        ],
        scenarios=[scenario(text, description=text, expectedBehavior=text)],
        context=[read(text, text)],
        actions=[action(text + "!", text + "!")],
        datasets=[
            dataset(
                text,
                description=text,
                mapsTo={"criteria": [text], "scenarios": [text]},
                categories=[
                    {"id": text, "description": text, "requiredCases": [{text: text}]},
                    {"id": "other", "description": text},
                ],
                caseDimensions={text: {"description": text, "values": [text, "z"]}},
                items=[
                    {
                        "id": text,
                        "category": text,
                        "scenarioRef": text,
                        "case": {text: text},
                        "input": {"ticket": text, text: [text]},
                        "expected": {text: text},
                    }
                ],
                itemsRef=text,
            )
        ],
    )
    spec["metadata"] |= {"id": text, "name": text, "description": text}
    return spec


@pytest.mark.parametrize("text", TEXTS)
def test_a_nasty_text_is_kept_word_for_word(text: str, tmp_path: Path) -> None:
    suite = suite_of(nasty_card(text), folder=tmp_path)
    assert suite.subject.name == text
    assert suite.criteria[0].id == suite.criteria[0].statement == text
    first = suite.cases[0]
    assert (first.query, first.item, first.scenario) == (text, text, text)
    assert first.dimensions["category"] == text or text == "category"
    for case in suite.cases:
        assert case_from_row(json.loads(dump_line(case.to_row()))) == case
    assert suite.package.isidentifier() and suite.package.isascii()
