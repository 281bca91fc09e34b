"""Refs are resolved again; a verdict without standing evidence is downgraded only."""

import json
from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.judges.evidence import evidence_of
from helix_runtime.judges.grounding import Ground, ground, resolves, weigh
from helix_runtime.trace import Span, Trace
from helix_runtime.verdict import BlockedBy, Ref, Result, Verdict
from hypothesis import given
from hypothesis import strategies as st
from support.runs import SUBJECT, case, judged, trace


def place(run: Trace | None = None, situation: Case | None = None) -> Ground:
    run = run or trace()
    return Ground(
        criterion=judged(),
        case=situation
        or case(
            expected={"state": "sent", "items": []}, expected_behavior="Says when."
        ),
        trace=run,
        evidence=evidence_of(run),
        subject=SUBJECT,
    )


@pytest.mark.parametrize(
    ("obs", "path", "value"),
    [
        ("output", "", "Order 4711 was sent on Monday."),
        ("output", "", "was sent  on\nMonday"),  # white space is normalized
        ("trajectory[0]", "output.orders.0.id", "4711"),
        ("trajectory[0]", "output.orders[0].id", "4711"),
        ("trajectory[0].output", "orders.0.state", "sent on Monday"),
        ("trajectory[0]", "output.orders.0.state", "sent\\non Monday"),
        (
            "trajectory[0]",
            "output.orders.0",
            '{"id": "4711", "state": "sent\\non Monday"}',
        ),
        ("trajectory[0]", "output", '"id": "4711", "state"'),
        ("trajectory[0]", "output.orders.length", "1"),
        ("trajectory[0]", "input.number", "4711"),
        ("trajectory[0]", "", "orders.find"),
        ("trajectory", "length", "1"),
        ("trajectory", "0.name", "orders.find"),
        ("transcript[0]", "content", "Where is 4711?"),
        ("transcript[0]", "role", "user"),
        ("transcript[2]", "", "sent on Monday"),
        ("s2", "input.number", "4711"),  # a span by its id
        ("orders.find", "output.orders.0.id", '"4711"'),  # by its name, as JSON
        ("trace-1", "output", "4711"),  # the trace by its id
        ("trace-1", "spans.0.input", "Where is 4711?"),
        ("case", "query", "my order 4711"),
        ("case", "expected.state", "sent"),
        ("case", "expected.items", "[]"),
        ("case", "expected.items", ""),
        ("case", "expectedBehavior", "Says when."),
        ("trajectory[0]", "output.error", "null"),  # an absent field
        ("spec", "purpose", "Answers questions about orders."),
        ("spec", "systemPrompt", "help customers"),
        ("agentspec:help-desk", "spec.agent.systemPrompt", "You help customers"),
        ("agentspec.yaml", "", "The answer cites the order that was found."),
        ("", "", "sent on Monday"),  # anywhere in the run
    ],
)
def test_a_ref_that_stands_there_resolves(obs: str, path: str, value: str) -> None:
    assert resolves(Ref(obs, path, value), place())


@pytest.mark.parametrize(
    ("obs", "path", "value"),
    [
        ("output", "", "Order 4711 was lost."),
        ("output", "", "Order 4711 … on Monday."),  # an ellipsis is no quotation
        ("output", "", ""),  # nothing is part of everything
        ("output", "", "on"[:1]),  # a letter stands by chance
        ("trajectory[1]", "", "orders.find"),
        ("trajectory[-2]", "", "orders.find"),
        ("trajectory[0]", "output.orders.5.id", "4711"),
        ("trajectory[0]", "output.nothing.id", "null"),
        ("trajectory[0]", "output.orders.length", "2"),
        ("trajectory[0]", "output.orders", "null"),
        ("trajectory[0]", "output.typo", "4711"),
        ("trajectory[0]", "output.typo", ""),
        ("transcript[0]", "role", "assistant"),
        ("nowhere", "", "4711"),
        ("case", "expected.state", "lost"),
        ("spec", "", "Never refund."),
        ("", "", "lost"),
    ],
)
def test_a_ref_that_does_not_stand_there_is_dead(
    obs: str, path: str, value: str
) -> None:
    assert not resolves(Ref(obs, path, value), place())


def test_data_inside_a_json_text_can_be_cited_by_its_path() -> None:
    run = Trace(
        id="t",
        spans=(
            Span(
                id="a",
                name="x",
                kind="tool",
                role="tool",
                output='{"ok": [true, null]}',
            ),
        ),
    )
    assert resolves(Ref("a", "output.ok.0", "true"), place(run))
    assert resolves(Ref("a", "output.ok.1", "null"), place(run))
    assert not resolves(Ref("a", "output.ok.0", "1"), place(run))


def test_a_key_may_hold_dots() -> None:
    run = trace(answer='{"ticket.route": {"to": "billing"}}')
    assert resolves(Ref("output", "ticket.route.to", "billing"), place(run))


def verdict(result: Result, *refs: Ref) -> Verdict:
    return Verdict(result=result, critique="because", refs=refs)


GOOD = Ref("output", "", "was sent on Monday")
DEAD = Ref("trajectory[7]", "output", "a refund of 12")


@pytest.mark.parametrize("result", ["pass", "fail"])
def test_a_decided_verdict_with_a_dead_ref_becomes_uncertain_and_says_which(
    result: Result,
) -> None:
    found, notes = ground(verdict(result, GOOD, DEAD), place())
    assert found.result == "uncertain"
    assert found.blocked_by is not None
    assert found.blocked_by.kind == "factual-intent"
    assert "trajectory[7].output" in found.blocked_by.text
    assert "a refund of 12" in found.blocked_by.text
    assert result in notes[0]
    assert found.refs == (GOOD, DEAD) and found.critique == "because"


@pytest.mark.parametrize("result", ["pass", "fail"])
def test_a_decided_verdict_without_evidence_becomes_uncertain(result: Result) -> None:
    found, _ = ground(verdict(result), place())
    assert found.result == "uncertain" and found.blocked_by is not None


@pytest.mark.parametrize("result", ["pass", "fail"])
def test_a_decided_verdict_with_standing_evidence_is_left_alone(
    result: Result,
) -> None:
    given_verdict = verdict(result, GOOD)
    assert ground(given_verdict, place()) == (given_verdict, ())


@pytest.mark.parametrize("result", ["uncertain", "na", "error"])
def test_what_is_not_decided_is_left_alone(result: Result) -> None:
    given_verdict = Verdict(
        result=result,
        critique="c",
        refs=(DEAD,),
        blocked_by=BlockedBy("normative", "whom to ask"),
    )
    assert ground(given_verdict, place()) == (given_verdict, ())


@pytest.mark.parametrize(
    ("obs", "path", "value"),
    [
        ("trace", "nosuch", "null"),  # a name of ours that is made up
        ("nosuch", "", "null"),
        ("case", "zz", "absent"),
        ("s2", "zz", "null"),
        ("output", "", '":"'),
        ("output", "", "{"),
        ("output", "", '"'),
        ("output", "", "on"),  # two letters stand by chance
        ("trajectory[0]", "", "null"),
        ("trajectory", "", "1"),
        ("spec", "", "a"),
    ],
)
@pytest.mark.parametrize("result", ["pass", "fail"])
def test_what_stands_anywhere_by_chance_is_no_ref_at_all(
    result: Result, obs: str, path: str, value: str
) -> None:
    ref = Ref(obs, path, value)
    assert weigh(ref, place()) == "dead"
    found, _ = ground(verdict(result, ref), place())
    assert found.result == "uncertain"


@pytest.mark.parametrize(
    ("obs", "path", "value"),
    [
        ("spec", "criterion.statement", "The answer cites the order"),
        ("case", "query", "my order 4711"),
        ("expected", "state", "sent"),
        ("transcript[0]", "content", "Where is 4711?"),  # the user's words, not its own
        ("s1", "input", "Where is 4711?"),
        ("trace-1", "spans.0.input", "Where is 4711?"),
        ("trace-1", "prompt", "Where is 4711?"),
        ("", "", "Where is 4711?"),
        ("trace", "status", "ok"),
        ("transcript[0]", "role", "user"),
        ("transcript[0]", "", "user"),
        ("trace", "spans.0.kind", "event"),
        ("output", "length", "30"),
        ("trajectory", "length", "1"),
        ("trajectory[0]", "output.error", "null"),
        ("trajectory", "7", "absent"),
    ],
)
@pytest.mark.parametrize("result", ["pass", "fail"])
def test_what_is_true_of_any_run_or_is_not_of_the_run_only_supports(
    result: Result, obs: str, path: str, value: str
) -> None:
    ref = Ref(obs, path, value)
    assert weigh(ref, place()) == "supporting"
    found, notes = ground(verdict(result, ref), place())
    assert found.result == "uncertain"
    assert "no evidence from the run is cited" in notes[0]
    beside = verdict(result, ref, GOOD)
    assert ground(beside, place()) == (beside, ())


@pytest.mark.parametrize("item", [True, False, 2, 0.5, "ok", "数"])
def test_the_whole_scalar_at_a_path_is_evidence_however_short(item: Any) -> None:
    run = trace(answer=json.dumps({"flag": item, "other": "words"}))
    ref = Ref("output", "flag", item if isinstance(item, str) else json.dumps(item))
    given_verdict = verdict("pass", ref)
    assert ground(given_verdict, place(run)) == (given_verdict, ())


TEXT = st.text(max_size=12)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(
    result=st.sampled_from(["pass", "fail", "uncertain", "na", "error"]),
    refs=st.lists(st.builds(Ref, TEXT, TEXT, TEXT), max_size=3),
    output=DATA,
)
def test_grounding_never_flips_and_never_raises(
    result: Result, refs: list[Ref], output: Any
) -> None:
    run = Trace(
        id="t", spans=(Span(id="a", name="b", kind="tool", role="tool", output=output),)
    )
    found, _ = ground(verdict(result, *refs), place(run))
    assert found.result in (result, "uncertain")


@given(st.lists(st.integers() | st.booleans() | TEXT, min_size=1, max_size=4))
def test_any_item_of_a_list_can_be_cited_as_json(items: list[Any]) -> None:
    run = Trace(
        id="t", spans=(Span(id="a", name="b", kind="tool", role="tool", output=items),)
    )
    for index, item in enumerate(items):
        ref = Ref("trajectory[0]", f"output.{index}", json.dumps(item))
        assert resolves(ref, place(run)), ref


@pytest.mark.parametrize(
    "path",
    ["[" + " " * 50_000, "[" * 50_000, "." * 50_000, "a." * 50_000, "[ ] " * 9_000],
)
def test_a_hostile_path_is_followed_to_nothing(path: str) -> None:
    assert not resolves(Ref("output", path, "never said"), place())


def test_a_run_that_is_nested_very_deeply_resolves_nothing_and_breaks_nothing() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    run = Trace(
        id="t", spans=(Span(id="a", name="b", kind="tool", role="tool", output=deep),)
    )
    assert not resolves(Ref("a", "output", "y"), place(run))
