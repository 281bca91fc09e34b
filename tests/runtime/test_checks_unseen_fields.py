"""No condition on a field that nothing in the run has makes a pass.

A misspelt field reads as one that is absent. Whatever a check asks of it, and however the
check is turned around, the run can't show it: the answer is open, or the check fails.
"""

from typing import Any, Final

import pytest
from helix_runtime.checks.conditions import held, unseen
from helix_runtime.trace import Trace
from helix_runtime.verdict import Verdict, failed, passed
from hypothesis import given
from hypothesis import strategies as st
from support.check_runs import Row, answer, call, decide, node, primitive, run, said

ORDERS: Final = answer(
    {
        "orders": [
            {"id": 1, "status": "open", "by": {"name": "Ann"}},
            {"id": 2, "status": "held", "by": {"name": "Bob"}, "note": "late"},
        ],
        "none": [],
    }
)
CALLED: Final = run(
    call("ask", {"for": "refund"}, {"status": "denied", "by": "lead"}),
    call("pay", {"status": "open", "to": "a@b.org"}, {"status": "sent"}),
    node("triage", {"status": "open"}),
    said("Done."),
)

# What a check says of the field that the data has, and what it says of the misspelt one.
ABSENCES: Final[list[dict[str, Any]]] = [
    {"field": "sttatus", "not": {"equals": "closed"}},
    {"field": "sttatus", "not": {"contains": "closed"}},
    {"field": "sttatus", "not": {"regex": "^closed"}},
    {"field": "sttatus", "not": {"one_of": ["closed"]}},
    {"field": "sttatus", "not": {"at_least": 3}},
    {"field": "sttatus", "not": {"json_schema": {"const": "closed"}}},
    {"field": "sttatus", "not": {"not": {"not": {"equals": "closed"}}}},
    {"not": {"field": "sttatus", "equals": "closed"}},
    {"field": "", "not": {"field": "sttatus.name", "equals": "closed"}},
    {"field": "sttatus", "present": False},
    {"field": "Status", "present": False},
    {"not": {"field": "sttatus", "present": True}},
    {
        "not": {
            "json_schema": {
                "required": ["sttatus"],
                "properties": {"sttatus": {"const": "closed"}},
            }
        }
    },
]
WHAT_IS_FORBIDDEN: Final[list[dict[str, Any]]] = [
    {"field": "sttatus", "equals": "open"},
    {"field": "sttatus", "present": True},
    {"field": "sttatus", "contains": "open"},
    {"field": "by.nam", "equals": "Ann"},
    {"json_schema": {"required": ["sttatus"], "properties": {"sttatus": {}}}},
]


def _asks(condition: dict[str, Any]) -> list[tuple[str, dict[str, Any], Trace]]:
    """Return each check that takes a condition, with one."""
    orders = {"path": "orders", "condition": condition}
    narrowed = {"path": "orders", "condition": {"present": True}, "where": condition}
    of = {"nodes": ["triage"], "condition": condition, "node": "triage"}
    approval = {"actions": ["pay"], "approvals": ["ask"], "granted": condition}
    page = {
        "slots": ["status"],
        "source": "ask",
        "artifact": "pay",
        "path": "to",
        "where": condition,
    }
    return [
        ("lists.every", orders, ORDERS),
        ("lists.some", orders, ORDERS),
        ("lists.none", orders, ORDERS),
        ("lists.count", {**orders, "at_most": 5}, ORDERS),
        ("lists.count", {**orders, "at_least": 1}, ORDERS),
        ("lists.every", narrowed, ORDERS),
        ("lists.some", narrowed, ORDERS),
        ("lists.none", {**narrowed, "condition": {"equals": 1}}, ORDERS),
        ("lists.unique", {"path": "orders", "where": condition}, ORDERS),
        (
            "lists.ordered",
            {"path": "orders", "field": "id", "where": condition},
            ORDERS,
        ),
        ("tools.arguments", {"name": "pay", "condition": condition}, CALLED),
        (
            "tools.arguments",
            {"name": "pay", "condition": condition, "calls": "some"},
            CALLED,
        ),
        ("tools.results", {"name": "pay", "condition": condition}, CALLED),
        (
            "tools.results",
            {"name": "pay", "condition": condition, "calls": "some"},
            CALLED,
        ),
        ("tools.approved", approval, CALLED),
        ("workflow.node_output", of, CALLED),
        ("workflow.node_output", {**of, "visits": "every"}, CALLED),
        ("ui.rendered", page, CALLED),
        (
            "ui.faithful",
            {**page, "slots": {"status": "#a"}},
            CALLED,
        ),
        (
            "ui.no_orphan",
            {k: v for k, v in page.items() if k != "slots"} | {"places": ["#a"]},
            CALLED,
        ),
    ]


@pytest.mark.parametrize("condition", [*ABSENCES, *WHAT_IS_FORBIDDEN], ids=str)
def test_no_check_passes_on_a_field_that_nothing_has(
    condition: dict[str, Any],
) -> None:
    negate, when = primitive("combine.negate"), primitive("combine.when")
    for check, arguments, trace in _asks(condition):
        verdict = decide(check, Row("", arguments, trace))
        for found in (
            verdict,
            negate(verdict),
            when(verdict, passed("It does.")),
            when(negate(verdict), passed("It does.")),
        ):
            said_so = f"{check} {arguments}: {found.critique}"
            assert found.result in ("uncertain", "na", "fail"), said_so


def test_every_check_that_takes_a_condition_is_asked() -> None:
    from helix_gen.suite.primitives import catalog

    takes = {
        name
        for name, one in catalog().items()
        if {"condition", "where", "granted"} & {each.name for each in one.parameters}
    } - {"combine.when"}
    assert takes == {check for check, _, _ in _asks({"present": True})}


def test_an_open_answer_names_the_field_the_nearest_one_and_who_can_mend_it() -> None:
    condition = {"field": "sttatus", "not": {"equals": "closed"}}
    verdict = decide(
        "lists.every", Row("", {"path": "orders", "condition": condition}, ORDERS)
    )
    assert verdict.result == "uncertain"
    assert "`sttatus`" in verdict.critique and '"status"' in verdict.critique
    assert verdict.blocked_by is not None and verdict.blocked_by.kind == "scope"


RIGHT: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("one item has it", "pass", {"field": "note", "not": {"equals": "lost"}}),
    ("absent as asked", "pass", {"field": "error", "present": False}),
    (
        "absent or another",
        "pass",
        {"field": "x", "not": {"present": True, "at_most": 1}},
    ),
    ("short names differ", "pass", {"field": "ids", "present": False}),
    ("inside", "pass", {"field": "by.name", "not": {"equals": "Cid"}}),
    ("the item itself", "pass", {"not": {"equals": "x"}}),
    ("required is asked", "pass", {"not": {"json_schema": {"required": ["error"]}}}),
    ("a plain miss", "fail", {"field": "status", "equals": "open"}),
]


@pytest.mark.parametrize(
    ("result", "condition"), [row[1:] for row in RIGHT], ids=[row[0] for row in RIGHT]
)
def test_what_the_run_can_show_is_decided(
    result: str, condition: dict[str, Any]
) -> None:
    arguments = {"path": "orders", "condition": condition}
    verdict = decide("lists.every", Row(result, arguments, ORDERS))
    assert verdict.result == result, verdict.critique


def test_an_empty_list_holds_nothing_that_is_forbidden() -> None:
    arguments = {"path": "none", "condition": {"field": "status", "equals": "open"}}
    assert decide("lists.none", Row("", arguments, ORDERS)).result == "pass"


def test_an_optional_field_that_chooses_items_leaves_none_or_not_applicable() -> None:
    arguments = {
        "path": "orders",
        "condition": {"field": "status", "equals": "open"},
        "where": {"field": "archived", "equals": True},
    }
    assert decide("lists.every", Row("", arguments, ORDERS)).result == "na"


@pytest.mark.parametrize(
    ("check", "arguments"),
    [
        ("references.resolved", {"cited": "cites.*", "known": "orders.*.idd"}),
        (
            "references.resolved",
            {"cited": "ctes.*", "known": "orders.*.id", "at_least": 1},
        ),
        ("references.in_case", {"cited": "ctes.*", "at_least": 1}),
        ("references.retrieved", {"cited": "cites.*", "known": "hts.*.id"}),
    ],
)
def test_no_reference_is_missing_because_its_place_is_misspelt(
    check: str, arguments: dict[str, Any]
) -> None:
    trace = run(
        call("search", {"q": "x"}, {"hits": [{"id": "a"}]}),
        said({"cites": ["a"], "orders": [{"id": "a"}]}),
    )
    verdict = decide(check, Row("", arguments, trace))
    assert verdict.result == "fail"
    assert primitive("combine.negate")(verdict).result == "fail"


names = st.text("abcdeé_-", min_size=1, max_size=7)
rows = st.lists(st.dictionaries(names, st.integers(), max_size=4), max_size=4)


@given(rows, names, st.booleans())
def test_a_verdict_stands_where_some_of_the_data_has_the_field(
    data: list[dict[str, int]], name: str, negated: bool
) -> None:
    test = {"equals": 1}
    condition = {"field": name, "not": test} if negated else {"field": name, **test}
    has = not data or any(name in row for row in data)
    verdicts: list[Verdict] = [passed("It does."), failed("It does not.")]
    for verdict in verdicts:
        found = held(verdict, data, condition)
        assert (found is verdict) == has
        assert found.result == (
            "uncertain" if verdict.result == "pass" and not has else verdict.result
        )
    assert (unseen(data, condition) is None) == has
