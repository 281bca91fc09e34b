"""Every scenario in merge_scenarios/: three versions of a file and what they come to."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helix_gen.reconcile.merge.how import How, Sides
from helix_gen.reconcile.merge.python import merge_python
from helix_gen.reconcile.merge.result import MergeResult, has_markers, without_markers
from helix_gen.reconcile.merge.units import parse

FOLDER = Path(__file__).parent / "merge_scenarios"
SCENARIOS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


@dataclass(frozen=True)
class Scenario:
    base: str
    yours: str
    new: str
    expected: str
    report: dict[str, Any]
    how: dict[str, Any]

    def merge(self, base: str, yours: str, new: str, choice: Any) -> MergeResult:
        references = self.how.get("references", {})
        if "base" not in references:
            references = dict.fromkeys(("base", "yours", "new"), references)
        how = How(
            renames=self.how.get("renames", {}),
            keep=self.how.get("keep", ()),
            references=Sides(**references),
            choice=choice,
        )
        return merge_python(base, yours, new, how)

    @property
    def merged(self) -> MergeResult:
        return self.merge(self.base, self.yours, self.new, "yours")


def load(name: str) -> Scenario:
    folder = FOLDER / name

    def text(file: str) -> str:
        return (folder / file).read_bytes().decode("utf-8", "surrogateescape")

    how = folder / "how.json"
    return Scenario(
        base=text("base.py"),
        yours=text("yours.py"),
        new=text("new.py"),
        expected=text("expected.py"),
        report=json.loads(text("report.json")),
        how=json.loads(how.read_bytes()) if how.exists() else {},
    )


def reported(result: MergeResult) -> dict[str, Any]:
    report: dict[str, Any] = {
        "conflicts": [conflict.unit for conflict in result.conflicts],
        "retired": list(result.retired),
        "deleted": list(result.deleted),
        "dropped": list(result.dropped),
        "names": dict(result.names),
    }
    return {key: value for key, value in report.items() if value}


def test_there_are_scenarios_of_every_kind() -> None:
    assert len(SCENARIOS) >= 100


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str) -> None:
    scenario = load(name)
    if "broken" in scenario.report:
        with pytest.raises(SyntaxError) as caught:
            _ = scenario.merged
        assert scenario.report["broken"] == f"line {caught.value.lineno}"
        assert scenario.expected == scenario.yours
        return
    result = scenario.merged
    assert result.text == scenario.expected
    assert reported(result) == scenario.report


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_second_run_changes_nothing_and_says_the_same_conflicts(name: str) -> None:
    scenario = load(name)
    if "broken" in scenario.report:
        return
    result = scenario.merged
    again = scenario.merge(result.base, result.text, scenario.new, "yours")
    assert again.text == result.text
    assert again.base == result.base
    assert again.conflicts == result.conflicts


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_other_ways_to_settle_it_are_python_too(name: str) -> None:
    scenario = load(name)
    if "broken" in scenario.report:
        return
    theirs = scenario.merge(scenario.base, scenario.yours, scenario.new, "new")
    parse(theirs.text.removeprefix("\ufeff"))
    marked = scenario.merge(scenario.base, scenario.yours, scenario.new, "markers")
    assert has_markers(marked.text) == bool(marked.conflicts)
    assert bool(marked.conflicts) == ("conflicts" in scenario.report)
    parse(without_markers(marked.text).removeprefix("\ufeff"))
    if "conflicts" not in scenario.report:
        assert theirs.text == marked.text == scenario.expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_word_of_its_owner_is_lost(name: str) -> None:
    scenario = load(name)
    if "broken" in scenario.report:
        return
    result = scenario.merged
    kept = "\n".join(
        [result.text, *result.dropped, *(c.yours for c in result.conflicts)]
    )
    # Elements of one line merge apart, so words are counted here, not lines.
    lost = words(scenario.yours) - words(scenario.base) - words(kept)
    assert not lost


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))
