"""What broken specs are told, held word for word; `make golden` rewrites it."""

import difflib
from pathlib import Path

import pytest
from support.golden_texts import ROOT, SPECS, diagnosed, stored


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_the_words_are_the_golden_ones(spec: Path) -> None:
    wanted, said = stored(spec), diagnosed(spec)
    diff = "\n".join(
        difflib.unified_diff(
            wanted.split("\n"), said.split("\n"), "golden", "now", lineterm="", n=1
        )
    )
    assert said == wanted, f"\n{diff}\nIf that is meant: make golden"


def test_every_golden_text_belongs_to_a_spec() -> None:
    assert {p.stem for p in ROOT.glob("*.txt")} == {p.stem for p in SPECS}
    assert SPECS
