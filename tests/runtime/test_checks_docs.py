"""docs/primitives.md says what the code does, primitive by primitive."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import pytest
import yaml
from helix_gen.suite.primitives import Parameter, argument_faults, catalog
from helix_runtime.checks.conditions import TESTS
from helix_runtime.checks.formats import FORMATS, SCHEMA_FORMATS
from helix_runtime.checks.schema import ANNOTATIONS, SUPPORTED

PAGE = (Path(__file__).parents[2] / "docs" / "primitives.md").read_text("utf-8")


class Section(NamedTuple):
    """What the page says of one primitive."""

    arguments: list[tuple[str, str, str]]
    results: list[str]
    example: Any


def read_section(text: str) -> Section:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| .+ \|$", text, re.MULTILINE)
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return Section(
        arguments=rows,
        results=re.findall(r"^- \*\*(\w+)\*\*: \S", text, re.MULTILINE),
        example=yaml.safe_load(example),
    )


SECTIONS = {
    name: read_section(text)
    for name, text in re.findall(
        r"^### (\w+\.\w+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL
    )
}


def test_the_index_leads_to_each_primitive() -> None:
    index = PAGE.partition("## Which one")[2].partition("\n## ")[0]
    linked = re.findall(r"\[`(\w+)`\]\(#(\w+)\)", index)
    assert [anchor for _, anchor in linked] == [n.replace(".", "") for n in SECTIONS]
    assert all(anchor.endswith(name) for name, anchor in linked)


def words(annotation: Any, *, many: bool = False) -> str:
    """Return a type as the page spells it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return "data"
    plain = {str: "text", int: "whole number", float: "number"}
    if annotation in plain:
        return plain[annotation] + ("s" if many else "")
    if annotation is bool:
        return "true or false"
    if origin is Literal:
        return " or ".join(f"`{choice}`" for choice in inner)
    if origin in (Union, UnionType):
        return " or ".join(words(each) for each in inner if each is not NoneType)
    if origin is Sequence:
        return "list of " + words(inner[0], many=True)
    assert origin is Mapping
    if many:
        return "objects"
    return "object" if inner[1] is Any else "object of " + words(inner[1], many=True)


def row(parameter: Parameter) -> tuple[str, str, str]:
    """Return an argument's row as the page should have it."""
    kinds = {"verdict": "check", "verdicts": "list of checks"}
    kind = kinds.get(parameter.takes) or words(parameter.annotation)
    if parameter.name in ("condition", "where", "granted") and kind == "object":
        kind = "condition"
    if parameter.constant is not None:
        return parameter.name, kind, "*from the spec*"
    if parameter.required:
        return parameter.name, kind, "required"
    default = parameter.default
    spelled = "none" if default is None else f"`{json.dumps(default)}`"
    return parameter.name, kind, spelled


def test_the_page_has_a_section_for_each_primitive_and_for_nothing_else() -> None:
    assert set(SECTIONS) == set(catalog())


@pytest.mark.parametrize("name", catalog())
def test_the_arguments_are_those_of_the_code(name: str) -> None:
    expected = [row(parameter) for parameter in catalog()[name].parameters]
    assert SECTIONS[name].arguments == expected


@pytest.mark.parametrize("name", catalog())
def test_the_page_says_what_each_result_means(name: str) -> None:
    results = SECTIONS[name].results
    assert results[:2] == ["pass", "fail"]
    if name.startswith("combine."):
        assert results == ["pass", "fail", "na", "uncertain", "error"]
        return
    assert ("na" in results) == ("`na`" in catalog()[name].doc)
    assert ("uncertain" in results) == (not name.startswith("facts."))


@pytest.mark.parametrize("name", catalog())
def test_the_example_is_a_check_that_an_overlay_may_have(name: str) -> None:
    example = SECTIONS[name].example
    assert list(example) == [name]
    assert argument_faults(example) == []


def test_the_conditions_are_those_of_the_code() -> None:
    (table,) = re.findall(r"^## Conditions\n(.*?)^##", PAGE, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.M)))
    assert set(named) == {*TESTS, "field", "ignore_case"}


def test_the_keywords_and_formats_of_schemas_are_those_of_the_code() -> None:
    (part,) = re.findall(r"^## JSON Schema\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    checked, free, formats = part.split("\n\n")[1:4]
    assert re.findall(r"`([^`]+)`", checked) == list(SUPPORTED)
    assert set(re.findall(r"`([^`]+)`", free)) == ANNOTATIONS
    assert re.findall(r"`([^`]+)`", formats)[1 : len(SCHEMA_FORMATS) + 1] == list(
        SCHEMA_FORMATS
    )


def test_the_formats_of_the_output_are_those_of_the_code() -> None:
    (text,) = re.findall(
        r"^\| `name` \| text \| required \| (`json`.*) \|$", PAGE, re.M
    )
    assert re.findall(r"`([^`]+)`", text) == list(FORMATS)
    doc = catalog()["output.format"].doc
    assert all(name in doc for name in FORMATS)
