"""What the tables of primitives can't show: names, paths, order, critiques, refs."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import helix_runtime
import pytest
from helix_runtime.checks import (
    combine,
    expect,
    facts,
    lists,
    numbers,
    output,
    references,
    tools,
    workflow,
)
from helix_runtime.checks.arguments import MAX_REFS, fault
from helix_runtime.checks.matching import pair
from helix_runtime.checks.names import Names, match
from helix_runtime.checks.nodes import visits
from helix_runtime.checks.paths import MAX_EXCERPT, MISSING, gather, lookup
from helix_runtime.trace import Span
from helix_runtime.verdict import Ref, could_not_judge, failed, not_applicable, passed
from support.check_runs import answer, call, case, node, run, said

CASE = case()


# -- names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("update-ticket", "update_ticket"),
        ("update-ticket", "updateTicket"),
        ("ticket.route.update", "ticket/route/update"),
        ("Bash", "bash"),
        ("search", "functions.search"),
        ("search", "mcp__kb__search"),
        ("search", "functions.mcp__kb__search"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_a_host_may_write_a_name_its_own_way(one: str, other: str) -> None:
    assert match(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("search", "search2"),
        ("search", "kb__search"),
        ("-", "_"),
        ("mcp__a", "a"),
        ("mcp__github__create_issue", "mcp__jira__create_issue"),
        ("functions.mcp__kb__search", "mcp__web__search"),
    ],
)
def test_other_names_stay_other_names(one: str, other: str) -> None:
    assert not match(one, other)


def test_an_exact_name_is_preferred_to_another_spelling() -> None:
    names = Names(["get-user", "get_user"])
    assert [names.find(n) for n in ("get_user", "get-user")] == ["get_user", "get-user"]
    assert names.find("getUser") == "get-user"
    assert names.find("get_users") is None


def test_a_tool_of_one_server_is_preferred_to_that_of_another() -> None:
    names = Names(["mcp__web__search", "mcp__kb__search"])
    assert names.find("MCP__kb__Search") == "mcp__kb__search"
    assert names.find("mcp__files__search") is None


# -- paths ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", {"a": {"b.c": [1, {"d": None}]}, "a.b": 5}),
        ("a.b.c.0", 1),
        ("a.b.c.-1.d", None),
        ("a.b", 5),
        ("a.b.c.2", MISSING),
        ("a.b.c.١", MISSING),
        ("a.b.c.", MISSING),
        ("a.x", MISSING),
    ],
)
def test_a_path_finds_keys_positions_and_keys_with_dots(path: str, found: Any) -> None:
    data = {"a": {"b.c": [1, {"d": None}]}, "a.b": 5}
    assert lookup(data, path) == found


def test_a_star_stands_for_each_element_and_the_paths_that_come_back_are_plain() -> (
    None
):
    data = {"a": [{"b": 1}, {"c": 2}, {"b": 3}], "o": {"x": 4}}
    assert gather(data, "a.*.b") == [("a.0.b", 1), ("a.2.b", 3)]
    assert gather(data, "o.*") == [("o.x", 4)]
    assert gather(data, "*.none") == []


def test_a_text_is_not_a_list_of_characters() -> None:
    assert lookup("abc", "0") is MISSING
    assert gather("abc", "*") == []


# -- critiques and refs ---------------------------------------------------------------


def test_a_ref_shows_the_piece_of_a_long_answer_that_matters() -> None:
    text = "x " * 500 + "the refund is due" + " y" * 500
    verdict = output.contains_none(CASE, answer(text), texts=["refund"])
    (ref,) = verdict.refs
    assert "refund" in ref.value and ref.value in text
    assert len(ref.value) <= MAX_EXCERPT


def test_a_verdict_has_few_refs_however_many_calls_there_were() -> None:
    many = run(*(call("a", {"n": n}, id=str(n)) for n in range(50)), said("x"))
    verdict = tools.not_called(CASE, many, name="a")
    assert len(verdict.refs) == MAX_REFS == len(set(verdict.refs))
    assert verdict.critique == 'The run called "a" ×50.'


def test_a_critique_says_why_an_answer_has_no_fields() -> None:
    fenced = answer('```json\n{"queue": "billing"}\n```')
    verdict = output.equals(CASE, fenced, path="queue", value="billing")
    assert "code fence" in verdict.critique
    prose = output.present(CASE, answer("billing"), path="queue")
    assert "text, not JSON" in prose.critique


def test_a_failed_schema_says_each_place() -> None:
    schema = {
        "required": ["queue"],
        "properties": {"score": {"maximum": 1}, "tags": {"items": {"type": "string"}}},
    }
    verdict = output.json_schema(
        CASE, answer({"score": 3, "tags": ["a", 5]}), schema=schema
    )
    assert verdict.critique == (
        "The answer breaks the schema: the answer lacks `queue`; `score` is 3, more "
        "than 1; `tags.1` is 5, not of type string."
    )
    assert Ref("output", "tags.1", "5") in verdict.refs


def test_a_wrong_argument_names_the_primitive_and_the_argument() -> None:
    verdict = output.regex(CASE, answer("x"), pattern="(")
    assert verdict.result == "error"
    assert verdict.critique.startswith("output.regex: `pattern` is not a regular")
    wrong: Any = "search"
    assert "tools.order: `names` must be a list" in (
        tools.order(CASE, answer("x"), names=wrong).critique
    )


def test_faults_of_arguments_are_found_without_a_run() -> None:
    assert fault(output.regex, {"pattern": "a+"}) is None
    assert fault(expect.near, {"absolute": 1.0}) is None
    assert "`pattern`" in (fault(output.regex, {"pattern": "("}) or "")
    assert "pattern" in (fault(output.regex, {}) or "")
    assert "colour" in (fault(output.present, {"colour": "red"}) or "")
    assert "at_most" in (fault(numbers.cost, {"at_least": 2, "at_most": 1}) or "")


def test_measured_values_are_there_for_a_criterion_that_takes_their_mean() -> None:
    keywords = case({"keywords": ["a", "b", "c", "d"]})
    recall = expect.keyword_recall(keywords, answer("a c d"))
    assert (recall.result, recall.value) == ("fail", 0.75)
    scored = answer("x", scores=({"name": "s", "value": 0.5},))
    assert numbers.score(CASE, scored, name="s").value == 0.5
    items = answer({"l": [1, 2, 3, 4]})
    every = lists.every(CASE, items, path="l", condition={"at_least": 2})
    assert (every.result, every.value) == ("fail", 0.75)


# -- tools ----------------------------------------------------------------------------

APPROVED: dict[str, Any] = {"actions": ["pay"], "approvals": ["ask"]}


def test_an_approval_counts_from_its_answer_not_from_its_request() -> None:
    """The action runs while the approval is still waiting for its answer."""
    ask, answered = call("ask", {}, "yes")
    pay, paid = call("pay", {})
    early = run(ask, pay, answered, paid, said("x"))
    assert tools.approved(CASE, early, **APPROVED).result == "fail"
    late = run(ask, answered, pay, paid, said("x"))
    assert tools.approved(CASE, late, **APPROVED).result == "pass"


def test_before_asks_for_a_completed_call() -> None:
    check, checked = call("check", {}, "fine")
    act, acted = call("act", {})
    early = run(check, act, checked, acted, said("x"))
    assert tools.before(CASE, early, first="check", then="act").result == "fail"


def test_each_of_two_approvals_covers_the_call_with_its_own_fields() -> None:
    crossed = run(
        call("ask", {"id": 1}, "yes", id="1"),
        call("ask", {"id": 2}, "no", id="2"),
        call("pay", {"id": 1}, id="3"),
        said("x"),
    )
    verdict = tools.approved(
        CASE, crossed, actions=["pay"], approvals=["ask"], same_fields=["id"]
    )
    assert verdict.result == "pass"


def test_an_approval_may_stand_in_an_event_that_says_for_what() -> None:
    event = Span(
        id="e", name="approval", kind="event", input={"id": 1, "status": "granted"}
    )
    paid = run(event, call("pay", {"id": 1}), said("x"))
    verdict = tools.approved(
        CASE, paid, actions=["pay"], approvals=["approval"], same_fields=["id"]
    )
    assert verdict.result == "pass"
    assert verdict.refs[0].obs == "e"


def test_calls_whose_spans_share_an_id_keep_their_own_places() -> None:
    twin = [
        Span(id="same", name="ask", kind="tool", role="tool", output="yes"),
        Span(id="same", name="pay", kind="tool", role="tool", output="done"),
    ]
    assert tools.approved(CASE, run(*twin, said("x")), **APPROVED).result == "pass"
    turned = run(*reversed(twin), said("x"))
    assert tools.approved(CASE, turned, **APPROVED).result == "fail"


def test_expected_calls_are_paired_so_that_no_fault_is_invented() -> None:
    """A greedy choice would give the wide expectation the only narrow call."""
    expected = case(
        {
            "actionCalls": [
                {"tool": "pay"},
                {"tool": "pay", "arguments": {"id": 1}},
            ]
        }
    )
    made = run(
        call("pay", {"id": 1}, id="1"), call("pay", {"id": 2}, id="2"), said("x")
    )
    assert expect.actions(expected, made, outbound=["pay"]).result == "pass"


def test_the_largest_pairing_is_found() -> None:
    wanted, found = ["ab", "a"], ["a", "b"]
    assert pair(wanted, found, lambda want, item: item in want) == {0: 1, 1: 0}
    assert pair(["a", "a"], ["a"], lambda want, item: item == want) == {0: 0}
    assert pair([], ["a"], lambda want, item: True) == {}


def test_a_call_with_other_arguments_than_expected_is_said() -> None:
    expected = case({"actionCalls": [{"action": "pay", "arguments": {"id": 8}}]})
    made = run(call("pay", {"id": 7}), said("x"))
    verdict = expect.actions(expected, made, outbound=["pay"])
    assert '{"id":8}; one was made with {"id":7}' in verdict.critique


# -- workflow and facts ---------------------------------------------------------------


def test_a_wrapper_and_its_inner_span_are_one_visit() -> None:
    nested = run(
        node("plan", id="1"),
        Span(id="2", name="llm", kind="llm", parent_id="1"),
        node("plan", id="3", parent="2"),
        node("act", id="4"),
        node("plan", id="5"),
    )
    assert [visit.node for visit in visits(nested, ["plan", "act"])] == [
        "plan",
        "act",
        "plan",
    ]


def test_a_circle_of_parents_ends() -> None:
    circle = run(node("a", id="1", parent="2"), node("b", id="2", parent="1"))
    assert [visit.node for visit in visits(circle, ["a", "b"])] == ["a", "b"]


def test_a_message_is_no_visit() -> None:
    talk = run(
        Span(id="1", name="user", kind="event", role="user", input="hi"), said("x")
    )
    verdict = workflow.never_visits(CASE, talk, avoided=["page"], nodes=["user"])
    assert verdict.result == "uncertain"


def test_every_fault_of_a_workflow_is_named_with_its_place() -> None:
    broken = {
        "entry": "a",
        "nodes": [
            {"id": "a", "edges": [{"to": "b"}, {"to": "nowhere"}]},
            {"id": "b", "edges": [{"to": "a"}]},
            {"id": "c", "terminal": True},
        ],
    }
    verdict = facts.workflow_resolves(CASE, answer("x"), workflow=broken)
    assert verdict.result == "fail"
    for words in (
        '"a" leads to "nowhere"',
        'nothing leads from the entry to "c"',
        "no terminal node can be reached",
        'the loop from "b" back to "a" has no bound',
    ):
        assert words.lower() in verdict.critique.lower()
    assert Ref("spec", "workflow.nodes.0.edges.1.to", "nowhere") in verdict.refs


def test_the_way_around_a_gate_is_shown() -> None:
    graph = {
        "entry": "a",
        "nodes": [
            {
                "id": "a",
                "edges": [{"to": "pay", "condition": "approved"}, {"to": "b"}],
            },
            {"id": "b", "edges": [{"to": "pay"}]},
            {"id": "pay", "executor": {"kind": "action", "ref": "p"}, "terminal": True},
        ],
        "actions": [{"id": "p", "approval": "required"}],
    }
    verdict = facts.approval_gated(CASE, answer("x"), workflow=graph)
    assert verdict.result == "fail" and "a → b → pay" in verdict.critique


# -- combinations ---------------------------------------------------------------------


def test_a_part_that_does_not_apply_does_not_count() -> None:
    na = not_applicable("not here")
    assert combine.all_of(na, passed("ok")).result == "pass"
    assert combine.any_of(na, failed("no")).result == "fail"
    assert combine.all_of(na, na).result == "na"
    assert combine.any_of(na).result == "na"


def test_a_fail_of_a_part_is_not_hidden_behind_what_is_uncertain() -> None:
    unseen = tools.called(CASE, answer("x", observed=frozenset(("output",))), name="a")
    assert unseen.result == "uncertain"
    assert combine.all_of(unseen, failed("no")).result == "fail"
    assert combine.any_of(unseen, passed("yes")).result == "pass"
    assert combine.all_of(unseen, passed("yes")) is unseen


def test_a_whole_says_what_its_deciding_parts_say() -> None:
    ref = Ref("output", "", "x")
    whole = combine.all_of(
        failed("First.", ref, value=0.5), passed("Fine."), failed("Second.", ref)
    )
    assert whole.critique == "First. Second."
    assert whole.refs == (ref,)
    assert whole.value == 0.5


def test_what_is_no_verdict_is_an_error() -> None:
    wrong: Any = True
    assert combine.all_of().result == "error"
    assert combine.all_of(passed("ok"), wrong).result == "error"
    assert combine.negate(wrong).result == "error"
    assert combine.when(wrong, passed("ok")).result == "error"
    assert combine.when(could_not_judge("broke"), passed("ok")).result == "error"


# -- hostile data ---------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[", "[](", "`", "*a", "|", "- ", "#", "**", "_a_"])
def test_the_cost_of_looking_for_markdown_grows_with_the_text_alone(text: str) -> None:
    """Were a pattern quadratic, 90,000 characters would take minutes."""
    long = text * (90_000 // len(text))
    assert output.format(CASE, answer(long), name="markdown-free").result in (
        "pass",
        "fail",
    )


def test_deep_data_is_an_error_and_not_a_crash() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    verdict = output.equals(CASE, answer({"a": deep}), value=deep, path="a")
    assert verdict.result == "error"
    assert verdict.critique == "output.equals: the data is nested too deeply."


def test_data_that_is_not_json_is_shown_and_never_passes() -> None:
    strange = answer({"n": float("nan"), "o": object(), "big": 10**5000})
    assert output.present(CASE, strange, path="o").result == "pass"
    assert numbers.in_range(CASE, strange, path="n").result == "fail"
    assert numbers.in_range(CASE, strange, path="big", at_least=1).result == "fail"
    assert output.equals(CASE, strange, path="n", value=1).result == "fail"


def test_ids_are_whole_words_also_at_the_edges_of_a_text() -> None:
    found = run(call("kb", {}, "doc-12 and (doc-1)"), said("doc-1"))
    verdict = references.retrieved(CASE, found, pattern=r"doc-\d+")
    assert verdict.result == "pass"
    assert verdict.refs[0].obs == "result-kb"


# -- cost -----------------------------------------------------------------------------


def test_importing_every_family_brings_in_nothing_heavy() -> None:
    """A run of one code check starts at once (asyncio alone costs 80 ms)."""
    families = "combine, expect, facts, lists, numbers, output, references, tools"
    code = (
        "import sys, json, dataclasses, typing, functools, hashlib, pathlib\n"
        "before = set(sys.modules)\n"
        f"from helix_runtime.checks import {families}, workflow\n"
        "print(*sorted(m for m in set(sys.modules) - before"
        " if not m.startswith('helix_runtime')))\n"
    )
    root = Path(helix_runtime.__file__).parent.parent
    found = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(root)!r})\n{code}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(found.stdout.split()) <= {"__future__", "types"}
