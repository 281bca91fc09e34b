"""The JSON Schema subset agrees with the reference validator, or says it can't."""

import math
from typing import Any

import jsonschema
import pytest
from helix_runtime.checks.schema import SUPPORTED, breaches, equal, schema_fault
from hypothesis import given, settings
from hypothesis import strategies as st

names = st.sampled_from(["a", "b", "c"])
data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, -2.5])
    | st.sampled_from(["", "a", "ab", "2024-01-01"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=6,
)
sizes = st.integers(0, 3)
numbers = st.integers(-3, 3) | st.sampled_from([0.5, 1.0])
types = st.sampled_from(
    ["null", "boolean", "integer", "number", "string", "array", "object"]
)


def optional(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(data, min_size=1, max_size=3),
        "const": data,
        "minimum": numbers,
        "maximum": numbers,
        "exclusiveMinimum": numbers,
        "exclusiveMaximum": numbers,
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": sizes,
        "maxLength": sizes,
        "pattern": st.sampled_from(["a", "^a$", "b"]),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "contains": inner,
        "minContains": sizes,
        "maxContains": sizes,
        "minItems": sizes,
        "maxItems": sizes,
        "uniqueItems": st.booleans(),
        "properties": st.dictionaries(names, inner, max_size=2),
        "patternProperties": st.dictionaries(
            st.sampled_from(["a", "^b"]), inner, max_size=1
        ),
        "additionalProperties": inner,
        "propertyNames": inner,
        "required": st.lists(names, max_size=2, unique=True),
        "minProperties": sizes,
        "maxProperties": sizes,
        "dependentRequired": st.dictionaries(
            names, st.lists(names, max_size=2, unique=True), max_size=1
        ),
        "dependentSchemas": st.dictionaries(names, inner, max_size=1),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=optional(inner))


schemas = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=4)


@settings(max_examples=300, deadline=None)
@given(schemas, data)
def test_the_subset_agrees_with_the_reference_validator(
    schema: Any, value: Any
) -> None:
    assert schema_fault(schema) is None
    reference = jsonschema.Draft202012Validator(schema)
    assert (breaches(schema, value) == []) == reference.is_valid(value)


def test_every_supported_keyword_is_compared_or_tested_here() -> None:
    assert {*optional(st.booleans()), "$ref", "$defs", "format"} == set(SUPPORTED)


TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "required": ["id"],
            "properties": {"next": {"$ref": "#/$defs/node"}},
            "additionalProperties": {"type": "integer"},
        }
    },
    "$ref": "#/$defs/node",
}


def test_a_schema_may_refer_to_itself() -> None:
    assert schema_fault(TREE) is None
    assert breaches(TREE, {"id": 1, "next": {"id": 2}}) == []
    assert breaches(TREE, {"id": 1, "next": {"next": {"id": 3}}}) == [
        ("next", "lacks `id`")
    ]


def test_the_pointer_of_a_reference_is_unescaped() -> None:
    schema = {"$defs": {"a/b~c": {"type": "null"}}, "$ref": "#/$defs/a~1b~0c"}
    assert schema_fault(schema) is None
    assert breaches(schema, 1) != []


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"unevaluatedProperties": False}, "additionalProperties"),
        ({"definitions": {}}, "$defs"),
        ({"nullable": True}, "null"),
        ({"properties": {"a": {"contentEncoding": "base64"}}}, "#/properties/a"),
        ({"items": [{}]}, "prefixItems"),
        ({"type": "text"}, "it knows"),
        ({"type": []}, "it knows"),
        ({"pattern": "("}, "not a regular expression"),
        ({"patternProperties": {"(": {}}}, "not a regular expression"),
        ({"format": "iban"}, "it knows"),
        ({"$ref": "other.json"}, "does not point into the schema"),
        ({"$ref": "#/$defs/none"}, "where no schema stands"),
        ({"$ref": "#"}, "only points back to itself"),
        ({"minimum": math.nan}, "must have a number"),
        ({"minimum": True}, "must have a number"),
        ({"minLength": -1}, "at least 0"),
        ({"required": "a"}, "list of texts"),
        ({"anyOf": []}, "list of schemas"),
        ({"multipleOf": 0}, "above 0"),
        ("string", "object or a bool"),
    ],
)
def test_what_is_not_supported_is_said_with_its_place(schema: Any, said: str) -> None:
    found = schema_fault(schema)
    assert found is not None and said in found


def test_format_is_checked_and_not_only_noted() -> None:
    schema = {"properties": {"on": {"format": "date"}}}
    assert breaches(schema, {"on": "2024-02-30"}) == [
        ("on", 'is "2024-02-30", not a date')
    ]
    assert breaches(schema, {"on": 5}) == []


def test_decimal_fractions_are_multiples_as_a_person_reads_them() -> None:
    assert breaches({"multipleOf": 0.1}, 0.3) == []
    assert breaches({"multipleOf": 0.1}, 0.35) != []
    assert breaches({"multipleOf": 0.1}, 10**400) == []


def test_data_deeper_than_the_limit_is_an_error_not_a_crash() -> None:
    deep: Any = {}
    for _ in range(500):
        deep = {"a": deep}
    schema = {"properties": {"a": {"$ref": "#"}}}
    with pytest.raises(RecursionError):
        breaches(schema, deep)


def test_a_bool_is_no_number_wherever_it_stands() -> None:
    assert not equal([True], [1])
    assert not equal({"a": False}, {"a": 0})
    assert equal([1, {"a": 2}], [1.0, {"a": 2.0}])
    assert breaches({"uniqueItems": True}, [1, True, 0, False]) == []
    assert breaches({"uniqueItems": True}, [1, 1.0]) != []


def test_only_the_first_faults_are_listed() -> None:
    assert len(breaches({"items": {"type": "null"}}, list(range(50)))) == 5
