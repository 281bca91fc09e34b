"""The schemas for editors accept what the readers accept, and refuse what they refuse."""

import json
from typing import Any

import pytest
from helix_gen.spec.overlay import read_overlay
from helix_gen.spec.read import read_spec
from helix_gen.spec.schema import NAMES, json_schema
from helix_gen.spec.yaml import read_yaml
from jsonschema import Draft202012Validator
from support.spec_texts import AGENT, OVERLAY, SKILL, V02, VALID, broken


def data_of(text: str) -> Any:
    source, _ = read_yaml(text.encode(), file="f")
    assert source is not None
    return source.data


def faults(name: str, text: str) -> list[str]:
    validator = Draft202012Validator(json_schema(name))
    return [error.message for error in validator.iter_errors(data_of(text))]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_of_draft_2020_12(name: str) -> None:
    schema = json_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.dumps(schema) == json.dumps(json_schema(name))


def test_an_unknown_name_is_no_schema() -> None:
    with pytest.raises(KeyError):
        json_schema("agentspec-0.1")


@pytest.mark.parametrize("name", VALID)
def test_valid_specs_are_valid(name: str) -> None:
    schema = "agentspec-0.2" if name == "0.2" else "agentspec-0.3"
    assert faults(schema, VALID[name]) == []


def test_a_valid_overlay_is_valid() -> None:
    assert faults("overlay", OVERLAY) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("systemPrompt: Answer.", "sytemPrompt: Answer."),
        ("access: { kind: mcp", "access: { kind: fax"),
        ('version: "1.0.0"', "version: 1.5"),
        ("source: shop", "source: shop\n      freshness: null"),
        ("evidence: Receipt.", 'evidence: ""'),
        ("maxIterations: 2", "maxIterations: 0"),
        ("    constraints: []\n", ""),
    ],
)
def test_faults_of_structure_are_faults_of_the_schema(old: str, new: str) -> None:
    text = broken(AGENT, old, new)
    assert faults("agentspec-0.3", text)
    assert read_spec(text.encode(), file="f").card is None


def test_the_body_of_another_kind_is_a_fault_of_the_schema() -> None:
    assert faults("agentspec-0.3", broken(SKILL, "kind: Skill", "kind: Agent"))


def test_the_older_schema_is_closed_too() -> None:
    assert faults("agentspec-0.2", V02 + "links: []\n")


@pytest.mark.parametrize(
    "condition",
    [">= 0.5", ">=.5", "> 0.", ">= +0.5", "< 1", ">= 5e-1 ", ">=1_0", ">= .", ">= ١"],
)
def test_the_schema_reads_a_condition_as_the_reader_does(condition: str) -> None:
    text = json.dumps({"criteria": {"x": {"aggregate": {"mean": condition}}}})
    read = read_overlay(text.encode(), file="f", card=None)
    assert (read.overlay is None) == bool(faults("overlay", text))


@pytest.mark.parametrize(
    "text",
    [
        "criteria: { x: { severity: BAD } }",
        "criteria: { x: { check: { no.such: {} } } }",
        "criteria: { x: { check: { output.contains: { text: a } } } }",
        "criteria: { x: { aggregate: { rate: 0.9 } } }",
        "criteria: { x: { aggregate: { pass^k: 0 } } }",
        "criteria: { x: { aggregate: { baseline: 0 } } }",
        "criteria: { x: { aggregate: { baseline: runs/a } } }",
        "derive: { nothing: off }",
        "derive: { expected-path: maybe }",
        "judge: { modle: x }",
        "datasets: { x: { map: { a: { values: {} } } } }",
    ],
)
def test_faults_of_an_overlay_are_faults_of_its_schema(text: str) -> None:
    assert faults("overlay", text)
