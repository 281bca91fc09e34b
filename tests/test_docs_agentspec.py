"""The page on the agentspec: its specs make suites, and it has every key."""

import re
from pathlib import Path

import pytest
from helix_gen.problems import has_errors
from helix_gen.spec.read import read_spec
from helix_gen.spec.schema import json_schema
from helix_gen.suite.resolve import resolve

TEXT = (Path(__file__).resolve().parents[1] / "docs/agentspec.md").read_text("utf-8")
SPECS = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)


def test_there_is_one_of_each_kind() -> None:
    kinds = [re.search(r"^kind: (\w+)$", spec, re.M) for spec in SPECS]
    found = {kind[1] for kind in kinds if kind is not None}
    assert found == {"Agent", "Skill", "MultiAgent", "Workflow"}
    assert sum("schema_version" in spec for spec in SPECS) == 1


@pytest.mark.parametrize("spec", SPECS, ids=range(len(SPECS)))
def test_each_spec_of_the_page_makes_a_suite(spec: str) -> None:
    read = read_spec(spec.encode(), file="page.yaml")
    assert not has_errors(read.problems), read.problems
    resolved = resolve(read, None, engine="auto", target=None, folder=None, items={})
    assert resolved.suite is not None and resolved.suite.criteria
    assert resolved.suite.cases


@pytest.mark.parametrize("name", ["agentspec-0.2", "agentspec-0.3"])
def test_every_key_stands_with_its_part(name: str) -> None:
    schema = json_schema(name)
    rows = dict(re.findall(r"^\| ([\w ]+) \| (`.*) \|$", _section(name), re.M))
    for part, definition in {"the file": schema, **schema["$defs"]}.items():
        required = set(definition.get("required", ()))
        for key in definition.get("properties", {}):
            mark = "" if key in required else r"\?"
            assert re.search(rf"`{key}`{mark}: ", rows[part]), (part, key)


def _section(name: str) -> str:
    every = TEXT.partition("## Every key")[2]
    new, _, old = every.partition("### AgentSpec 0.2.0")
    return new if name.endswith("0.3") else old
