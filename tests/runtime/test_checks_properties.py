"""No primitive raises, whatever it is given, and none depends on the order of keys."""

import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from helix_gen.suite.primitives import Parameter, catalog
from helix_runtime.case import Case
from helix_runtime.checks import combine
from helix_runtime.checks.arguments import fault
from helix_runtime.checks.conditions import TESTS
from helix_runtime.checks.formats import FORMATS
from helix_runtime.checks.names import Names, match
from helix_runtime.checks.paths import gather, key_of, lookup, same
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import trace_from_record, trace_to_record
from helix_runtime.verdict import (
    RESULTS,
    NothingThere,
    Verdict,
    could_not_judge,
    nothing_there,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.check_runs import primitive

DECIDING = sorted(name for name in catalog() if not name.startswith("combine."))
WORDS = ["a", "b", "id", "name", "intake", "search", "update-ticket", "mcp__s__a", ""]

words = st.sampled_from(WORDS) | st.text(max_size=6)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    words,
    st.just("\ud800"),
)
data = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)
    ),
    max_leaves=8,
)
spans = st.builds(
    Span,
    id=st.sampled_from(["1", "2", "3"]),
    name=words,
    kind=st.sampled_from(["llm", "tool", "retrieval", "agent", "event", "span"]),
    role=st.sampled_from([None, "user", "assistant", "system", "tool", "toolResult"]),
    status=st.sampled_from(["ok", "error", "unknown"]),
    parent_id=st.sampled_from([None, "1", "2", "3"]),
    input=data,
    output=data,
    tool_call_id=st.sampled_from([None, "c1", "c2"]),
)
traces = st.builds(
    Trace,
    id=st.just("t"),
    spans=st.lists(spans, max_size=5).map(tuple),
    latency_ms=st.none() | st.floats(),
    cost_usd=st.none() | st.floats(),
    scores=st.lists(st.fixed_dictionaries({"name": words, "value": data}), max_size=2),
    tokens=st.none() | st.dictionaries(st.sampled_from(["input", "total"]), scalars),
    ext=st.dictionaries(st.sampled_from(["eval", "x"]), data, max_size=2),
    observed=st.sampled_from(
        [frozenset(("output", "tools", "path")), frozenset(("output",)), frozenset()]
    ),
)
expectations = data | st.fixed_dictionaries(
    {},
    optional={
        "actionCalls": data | st.lists(words, max_size=3),
        "path": data | st.lists(words, max_size=3),
        "nodeOutputs": st.lists(
            st.fixed_dictionaries({"nodeRef": words, "output": data}), max_size=2
        ),
        "memberOutputs": data,
        "keywords": data,
    },
)
cases = st.builds(
    Case,
    id=st.just("c"),
    query=words,
    dimensions=st.just({"d": "v"}),
    input=data,
    expected=expectations,
)
conditions = st.fixed_dictionaries(
    {}, optional={"field": words} | dict.fromkeys(TESTS, data)
) | st.sampled_from(
    [
        {"present": True},
        {"field": "id", "equals": 1},
        {"regex": "a"},
        {"json_schema": {"type": ["object", "string"]}},
        {"not": {"field": "a", "at_least": 0}},
    ]
)
edges = st.fixed_dictionaries(
    {"to": words},
    optional={"condition": words, "loop": data | st.just({"maxIterations": 1})},
)
workflows = data | st.fixed_dictionaries(
    {
        "entry": words,
        "nodes": st.lists(
            st.fixed_dictionaries(
                {"id": words, "edges": st.lists(edges, max_size=3)},
                optional={
                    "executor": st.fixed_dictionaries(
                        {"kind": st.sampled_from(["action", "member"]), "ref": words}
                    ),
                    "contextRefs": st.lists(words, max_size=2),
                    "terminal": st.booleans(),
                },
            ),
            max_size=4,
        ),
    },
    optional={"actions": data, "contexts": data, "members": data},
)
flows = st.lists(
    st.fixed_dictionaries(
        {"from": words, "to": words},
        optional={
            "value": words | st.sampled_from(["id", "*.a"]),
            "kind": st.sampled_from(["threaded", "handoff"]),
        },
    ),
    min_size=1,
    max_size=3,
)
places = st.sampled_from(["#a", ".a", "a", "[id=a]", "a:", "name |", "a b", ""])
SPECIAL: Mapping[str, st.SearchStrategy[Any]] = {
    "condition": conditions,
    "where": st.none() | conditions,
    "granted": st.none() | conditions,
    "workflow": workflows,
    "schema": st.dictionaries(st.sampled_from(["type", "items", "$ref"]), data)
    | st.sampled_from([{"type": "object"}, {"$ref": "#"}, {"items": {"$ref": "#"}}]),
    "edges": flows,
    "slots": st.dictionaries(st.sampled_from(["a", "id", "*.a"]), places, min_size=1)
    | st.lists(st.sampled_from(["a", "id", "*.a"]), min_size=1),
    "places": st.lists(places, min_size=1, max_size=3),
    "pattern": words | st.sampled_from(["(", "a*", r"\d+", "(?P<a>.)"]),
}


def right(annotation: Any) -> st.SearchStrategy[Any]:
    """Return values of a parameter's type."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return data
    if annotation is str:
        return words
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.integers(-2, 4)
    if annotation is float:
        return st.floats(-2, 4) | st.integers(-2, 4)
    if annotation is NoneType:
        return st.none()
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, UnionType):
        return st.one_of([right(each) for each in inner])
    if origin is Sequence:
        return st.lists(right(inner[0]), max_size=3)
    assert origin is Mapping
    return st.dictionaries(words, right(inner[1]), max_size=3)


def values(parameter: Parameter) -> st.SearchStrategy[Any]:
    fitting = right(parameter.annotation)
    if parameter.name in SPECIAL:
        fitting = fitting | SPECIAL[parameter.name]
    if parameter.name == "name":
        fitting = fitting | st.sampled_from(list(FORMATS))
    return fitting


@st.composite
def arguments(draw: st.DrawFn, name: str, *, wild: bool) -> dict[str, Any]:
    """Return arguments of a primitive: of the right types, or of any."""
    chosen = {}
    for parameter in catalog()[name].parameters:
        needed = parameter.required or parameter.constant is not None
        if needed or draw(st.booleans()):
            drawn = data if wild else values(parameter)
            chosen[parameter.name] = draw(drawn)
    return chosen


FEW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def check_record(verdict: object) -> None:
    assert isinstance(verdict, Verdict)
    assert verdict.result in RESULTS
    assert verdict.value is None or math.isfinite(verdict.value)
    assert (verdict.blocked_by is not None) == (verdict.result == "uncertain")


def reversed_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: reversed_keys(v) for k, v in reversed(list(value.items()))}
    if isinstance(value, list | tuple):
        return [reversed_keys(item) for item in value]
    return value


def situation(case: Case, *, given: Any, expected: Any) -> Case:
    """Return the same case with other data."""
    return Case(
        id=case.id,
        query=case.query,
        dimensions=case.dimensions,
        input=given,
        expected=expected,
    )


def turned(case: Case) -> Case:
    return situation(
        case,
        given=reversed_keys(case.input),
        expected=reversed_keys(case.expected),
    )


@pytest.mark.parametrize("name", DECIDING)
@FEW
@given(st.data())
def test_no_primitive_raises_on_any_run_case_or_argument(
    name: str, draws: st.DataObject
) -> None:
    chosen = draws.draw(arguments(name, wild=True))
    check_record(primitive(name)(draws.draw(cases), draws.draw(traces), **chosen))


@pytest.mark.parametrize("name", DECIDING)
@FEW
@given(st.data())
def test_a_primitive_is_sure_of_its_arguments_and_blind_to_the_order_of_keys(
    name: str, draws: st.DataObject
) -> None:
    """Well-typed arguments: what is wrong shows ahead; key order changes nothing."""
    chosen = draws.draw(arguments(name, wild=False))
    drawn, case = draws.draw(traces), draws.draw(cases)
    check_record(primitive(name)(case, drawn, **chosen))
    trace = trace_from_record(trace_to_record(drawn))
    verdict = primitive(name)(case, trace, **chosen)
    other = primitive(name)(
        turned(case),
        trace_from_record(reversed_keys(trace_to_record(trace))),
        **reversed_keys(chosen),
    )
    assert (verdict.result, verdict.value) == (other.result, other.value)
    plain = situation(case, given=case.input, expected=None)
    unexpecting = primitive(name)(plain, trace, **chosen)
    found = fault(primitive(name), chosen)
    assert (found is not None) == (unexpecting.result == "error")


verdicts = st.sampled_from(RESULTS).map(
    lambda result: Verdict(result=result, critique=f"it is {result}")
)
nowhere = st.just(nothing_there("no such field"))


@given(verdicts | nowhere)
def test_negation_turns_only_pass_and_fail(verdict: Verdict) -> None:
    turned = {"pass": "fail", "fail": "pass"}
    expected = turned.get(verdict.result, verdict.result)
    if isinstance(verdict, NothingThere):
        expected = "fail"
    assert combine.negate(verdict).result == expected


@given(st.lists(verdicts, min_size=1, max_size=4))
def test_no_combination_hides_an_error(parts: list[Verdict]) -> None:
    broken = [*parts, could_not_judge("it broke")]
    for whole in (combine.all_of(*broken), combine.any_of(*broken)):
        assert whole.result == "error"
        assert combine.negate(combine.negate(whole)).result == "error"


@given(st.lists(verdicts, min_size=1, max_size=4))
def test_what_is_uncertain_never_becomes_a_pass_of_all_or_a_fail_of_any(
    parts: list[Verdict],
) -> None:
    results = {part.result for part in parts} | {"uncertain"}
    unsure = [*parts, Verdict(result="uncertain", critique="not seen")]
    assert combine.all_of(*unsure).result in ("uncertain", "error", "fail")
    assert combine.any_of(*unsure).result in ("uncertain", "error", "pass")
    if not results & {"fail", "error"}:
        assert combine.all_of(*unsure).result == "uncertain"
    if not results & {"pass", "error"}:
        assert combine.any_of(*unsure).result == "uncertain"


sure = verdicts.filter(lambda verdict: verdict.result != "uncertain") | nowhere


@given(st.lists(verdicts, min_size=1, max_size=5) | st.lists(sure, min_size=1))
def test_all_and_any_are_each_others_mirror(parts: list[Verdict]) -> None:
    mirrored = combine.any_of(*(combine.negate(part) for part in parts))
    assert combine.negate(combine.all_of(*parts)).result == mirrored.result


@given(verdicts, verdicts)
def test_a_condition_decides_only_whether_the_rest_applies(
    condition: Verdict, then: Verdict
) -> None:
    found = combine.when(condition, then).result
    if condition.result == "pass":
        assert found == then.result
    elif condition.result in ("fail", "na"):
        assert found == "na"
    else:
        assert found == condition.result


@given(data, data)
def test_equal_data_has_equal_keys_and_no_other(left: Any, right: Any) -> None:
    # NaN equals nothing, itself included; a key of it is never asked for equality.
    if "nan" in repr((left, right)):
        return
    assert same(left, right) == (key_of(left) == key_of(right))
    assert same(left, left)


@given(data, words)
def test_a_plain_path_and_its_gathering_agree(value: Any, path: str) -> None:
    if "*" in path:
        return
    found = gather(value, path)
    assert [item for _, item in found][:1] == (
        [lookup(value, path)] if found else []
    ) or "nan" in repr(value)


@given(st.text(max_size=12), st.text(max_size=12))
def test_names_match_both_ways_and_always_themselves(left: str, right: str) -> None:
    assert match(left, left)
    assert match(left, right) == match(right, left)
    assert (Names([left]).find(right) is not None) == match(left, right)
