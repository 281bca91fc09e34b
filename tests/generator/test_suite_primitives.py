"""The catalog says what the runtime's checks take; the overlay is held to it."""

import importlib
import inspect
from typing import Any

import pytest
from helix_gen.suite.model import Constant, PrimitiveCall
from helix_gen.suite.primitives import (
    argument_faults,
    bind,
    catalog,
    constants_of,
)
from helix_runtime.case import Case
from helix_runtime.trace import Trace
from helix_runtime.verdict import Verdict
from hypothesis import given, settings
from hypothesis import strategies as st


def only_fault(call: Any) -> tuple[tuple[str | int, ...], str, str]:
    (fault,) = argument_faults(call)
    return fault


def test_the_catalog_holds_every_family_and_each_has_a_first_line() -> None:
    families = {name.partition(".")[0] for name in catalog()}
    assert families >= {
        "output",
        "expect",
        "lists",
        "tools",
        "references",
        "numbers",
        "workflow",
        "facts",
        "combine",
    }
    for primitive in catalog().values():
        assert primitive.summary.endswith("."), primitive.name


def test_every_name_of_the_catalog_is_a_function_that_decides() -> None:
    for name, primitive in catalog().items():
        module, _, function = name.partition(".")
        found = getattr(
            importlib.import_module(f"helix_runtime.checks.{module}"), function
        )
        assert found is primitive.function
        assert inspect.signature(found).return_annotation in (Verdict, "Verdict")


def test_helpers_of_the_runtime_are_no_primitives() -> None:
    assert not [n for n in catalog() if n.startswith(("paths.", "arguments."))]


@pytest.mark.parametrize(
    "call",
    [
        {"output.present": {}},
        {"output.present": None},
        {"output.equals": {"value": [1, {"a": None}]}},
        {"output.contains": {"texts": ["refund"], "match": "any"}},
        {"tools.called": {"name": "search", "at_least": 2}},
        {"numbers.cost": {"at_most": 1}},
        {"tools.only_declared": {}},
        {"flow.matches": {"edges": [{"from": "a", "to": "answer", "value": "x.id"}]}},
        {"ui.faithful": {"slots": {"items.*.price": "td.price"}, "source": "a"}},
        {"facts.workflow_resolves": None},
        {
            "combine.when": {
                "condition": {"output.equals": {"value": "x"}},
                "then": {
                    "combine.all_of": {
                        "verdicts": [
                            {"output.present": {}},
                            {"combine.negate": {"verdict": {"output.present": {}}}},
                        ]
                    }
                },
            }
        },
    ],
)
def test_a_right_call_has_no_fault(call: Any) -> None:
    assert argument_faults(call) == []


def test_a_pattern_that_python_wonders_about_is_read_without_a_word(
    recwarn: pytest.WarningsRecorder,
) -> None:
    assert argument_faults({"output.regex": {"pattern": "[[({]"}}) == []
    assert [warning.message for warning in recwarn] == []


@pytest.mark.parametrize(
    ("call", "path", "words"),
    [
        ("output.present", (), "a check is a mapping"),
        ([], (), "one primitive"),
        ({}, (), "one primitive"),
        ({"a.b": {}, "c.d": {}}, (), "one primitive"),
        ({"output.presnt": {}}, ("output.presnt",), "no primitive `output.presnt`"),
        ({3: {}}, (3,), "no primitive `3`"),
        ({"output.present": []}, ("output.present",), "a mapping of names"),
        ({"output.equals": {}}, ("output.equals",), "needs `value`"),
        (
            {"output.present": {"pth": "a"}},
            ("output.present", "pth"),
            "takes no argument `pth`",
        ),
        (
            {"output.contains": {"texts": "refund"}},
            ("output.contains", "texts"),
            "a list of texts, not a text",
        ),
        (
            {"output.contains": {"texts": ["a", 3]}},
            ("output.contains", "texts", 1),
            "a text, not a number",
        ),
        (
            {"output.contains": {"texts": ["a"], "match": "both"}},
            ("output.contains", "match"),
            "one of all, any",
        ),
        (
            {"output.contains": {"texts": ["a"], "ignore_case": "yes"}},
            ("output.contains", "ignore_case"),
            "true or false",
        ),
        (
            {"tools.called": {"name": "x", "at_least": True}},
            ("tools.called", "at_least"),
            "a whole number, not true",
        ),
        (
            {"tools.called": {"name": "x", "at_least": 1.5}},
            ("tools.called", "at_least"),
            "a whole number",
        ),
        (
            {"numbers.cost": {"at_most": float("inf")}},
            ("numbers.cost", "at_most"),
            "a number",
        ),
        (
            {"output.json_schema": {"schema": []}},
            ("output.json_schema", "schema"),
            "a mapping, not a list",
        ),
        (
            {"output.regex": {"pattern": "("}},
            ("output.regex",),
            "not a regular expression",
        ),
        # Facts of the spec that are left out hide no fault of what is given.
        (
            {"workflow.node_output": {"node": "a", "condition": {"regex": "("}}},
            ("workflow.node_output",),
            "not a regular expression",
        ),
        (
            {"workflow.never_visits": {"avoided": []}},
            ("workflow.never_visits",),
            "at least one name",
        ),
        (
            {"facts.approval_gated": {"gates": [" "]}},
            ("facts.approval_gated",),
            "item 0 is blank",
        ),
        (
            {"flow.matches": {"edges": [{"from": "a", "too": "b"}]}},
            ("flow.matches",),
            'item 0 has the unknown key "too"',
        ),
        (
            {"flow.matches": {"edges": ["a"]}},
            ("flow.matches", "edges", 0),
            "a mapping, not a text",
        ),
        (
            {"flow.threaded": {"source": "answer"}},
            ("flow.threaded",),
            "`source` can't be `answer`, which hands nothing on",
        ),
        (
            {"ui.rendered": {"slots": ["total"]}},
            ("ui.rendered",),
            "the answer can't be compared with itself",
        ),
        (
            {"ui.rendered": {"slots": ["a"], "source": "b", "artifact": "write"}},
            ("ui.rendered",),
            '`path` must say where in the arguments of "write" the page stands',
        ),
        (
            {"ui.faithful": {"slots": {"a": "the total"}, "source": "b"}},
            ("ui.faithful",),
            "`slots` at 'a' is 'the total': neither an element",
        ),
        (
            {"combine.all_of": {"verdicts": []}},
            ("combine.all_of", "verdicts"),
            "a list of checks",
        ),
        (
            {"combine.all_of": {"verdicts": [{"output.present": {}}, {"no.ne": {}}]}},
            ("combine.all_of", "verdicts", 1, "no.ne"),
            "no primitive",
        ),
        (
            {"combine.negate": {"verdict": True}},
            ("combine.negate", "verdict"),
            "a mapping of one primitive",
        ),
    ],
)
def test_a_fault_names_its_place(
    call: Any, path: tuple[str | int, ...], words: str
) -> None:
    at, message, _ = only_fault(call)
    assert at == path
    assert words in message


def test_a_misspelt_argument_is_one_fault_that_says_what_was_meant() -> None:
    (fault,) = argument_faults({"tools.called": {"nam": "lookup"}})
    assert fault.path == ("tools.called", "nam")
    assert fault.hint.startswith(
        "did you mean `name`? tools.called takes name (a text)"
    )
    assert "Literal" not in fault.hint and "None" not in fault.hint


def test_every_fault_is_found_at_once() -> None:
    faults = argument_faults({"output.contains": {"texts": 3, "match": 3, "no": 1}})
    assert [fault.path[-1] for fault in faults] == ["texts", "match", "no"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("output.presnt", "output.present"),
        ("called", "tools.called"),
        ("workflow.path", "expect.path"),
    ],
)
def test_a_misspelt_primitive_is_suggested(wrong: str, right: str) -> None:
    _, _, hint = only_fault({wrong: {}})
    assert hint == f"did you mean `{right}`?"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("output.nonempty", "of `output` there are: output.contains, "),
        ("nothing.like_it", "the primitives are: "),
    ],
)
def test_where_none_is_near_the_hint_says_what_there_is(wrong: str, told: str) -> None:
    _, _, hint = only_fault({wrong: {}})
    assert hint is not None and hint.startswith(told)


def test_facts_of_the_spec_stand_in_for_arguments_that_are_left_out() -> None:
    call = bind({"expect.path": None}, facts={"WORKFLOW_NODES"})
    assert call == PrimitiveCall(
        primitive="expect.path", arguments={"nodes": Constant("WORKFLOW_NODES")}
    )
    given = bind({"expect.path": {"nodes": ["a"]}}, facts={"WORKFLOW_NODES"})
    assert given.arguments == {"nodes": ["a"]}


def test_an_optional_argument_gets_a_fact_only_where_there_is_one() -> None:
    call = bind({"expect.actions": {}}, facts={"OUTBOUND_ACTIONS"})
    assert constants_of(call) == {"OUTBOUND_ACTIONS"}
    call = bind({"expect.actions": {}}, facts={"ACTION_OPERATIONS"})
    assert constants_of(call) == {"OUTBOUND_ACTIONS", "ACTION_OPERATIONS"}


def test_nested_calls_are_bound_and_their_facts_are_found() -> None:
    call = bind(
        {
            "combine.any_of": {
                "verdicts": [
                    {"tools.only_declared": {}},
                    {"combine.negate": {"verdict": {"facts.single_holders": {}}}},
                ]
            }
        },
        facts=(),
    )
    verdicts = call.arguments["verdicts"]
    assert isinstance(verdicts, tuple)
    assert [each.primitive for each in verdicts] == [
        "tools.only_declared",
        "combine.negate",
    ]
    assert constants_of(call) == {"DECLARED_TOOLS", "ACTION_HOLDERS"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_what_has_no_fault_can_be_called_and_what_has_one_never_raises(
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(sorted(catalog())))
    primitive = catalog()[name]
    arguments = {}
    for parameter in primitive.parameters:
        if parameter.required or data.draw(st.booleans()):
            arguments[parameter.name] = data.draw(JSON)
    faults = argument_faults({name: arguments})
    if not faults and all(p.takes == "data" for p in primitive.parameters):
        for parameter in primitive.parameters:
            if parameter.constant is not None and not parameter.has_default:
                arguments.setdefault(parameter.name, {"nodes": []})
        case = Case(id="c", query="q", dimensions={"a": "b"})
        primitive.function(case, Trace(id="t"), **arguments)
