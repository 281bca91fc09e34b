"""The information-flow graph: what a step gave, where it went, and what was lost."""

from typing import Any

import pytest
from helix_runtime.flow import (
    ANSWER,
    MAX_SOURCES,
    MODEL,
    PROMPT,
    Edge,
    FlowGraph,
    graph_of,
    links,
)
from helix_runtime.trace import Span, Trace
from helix_runtime.values import scalars, words_of
from hypothesis import given, settings
from hypothesis import strategies as st
from support.check_runs import call, run, said


def user(text: str) -> Span:
    return Span(id="user", name="user", kind="event", role="user", input=text)


def agent(
    name: str, given: Any, output: Any = None, *, id: str = "", parent: str | None = "0"
) -> Span:
    key = id or name
    return Span(
        id=key, name=name, kind="agent", input=given, output=output, parent_id=parent
    )


def drawn(graph: FlowGraph) -> list[tuple[str, str, str]]:
    """Return the edges as (source, target, kind), by name."""
    names = [node.name for node in graph.nodes]
    return [(names[e.source], names[e.target], e.kind) for e in graph.edges]


def lost(graph: FlowGraph) -> list[str]:
    return [graph.nodes[index].name for index in graph.dropped]


def test_a_result_reaches_a_later_call_and_the_answer() -> None:
    graph = graph_of(
        run(
            user("My refund, please."),
            call("lookup", {"name": "Ada"}, {"order": "A-1007", "state": "open"}),
            said("One moment."),
            call("refund", {"order": "a 1007"}, {"receipt": "R-2041"}),
            said("Refunded: receipt R-2041."),
        )
    )
    assert [(node.kind, node.name) for node in graph.nodes] == [
        ("turn", PROMPT),
        ("tool", "lookup"),
        ("model", MODEL),
        ("tool", "refund"),
        ("answer", ANSWER),
    ]
    assert drawn(graph) == [
        ("lookup", "refund", "threaded"),
        ("refund", "answer", "threaded"),
    ]
    slot = graph.edges[0].slots[0]
    assert (slot.path, slot.value) == ("order", "A-1007")
    assert graph.dropped == ()


def test_a_result_that_nothing_takes_up_is_dropped() -> None:
    graph = graph_of(
        run(
            call("search", {"q": "x"}, {"hits": [{"id": "KB-1007"}]}),
            call("weather", {}, {"city": "Berlin"}),
            said("It is nice in Berlin."),
        )
    )
    assert lost(graph) == ["search"]


def test_what_was_given_is_not_produced_by_an_echo() -> None:
    echoed = call("lookup", {"order": "A-1007"}, {"order": "A-1007", "ok": True})
    graph = graph_of(run(echoed, said("A-1007 is fine.")))
    assert graph.nodes[0].produces == ()
    asked = run(
        user("What of A-1007?"),
        call("list", {}, ["A-1007"]),
        said("A-1007 is fine."),
    )
    assert drawn(graph_of(asked)) == [("prompt", "answer", "threaded")]


def test_a_result_is_not_known_before_it_came_back() -> None:
    first, back = call("lookup", {}, {"order": "A-1007"})
    graph = graph_of(run(first, call("refund", {"order": "A-1007"}), back))
    assert graph.edges == ()
    assert lost(graph) == ["lookup"]


def test_an_error_is_no_output_that_had_to_be_used() -> None:
    graph = graph_of(
        run(call("fetch", {}, "timeout of host-7731", error=True), said("No."))
    )
    assert graph.dropped == ()


def test_a_sub_agent_gets_a_handoff_and_its_report_counts() -> None:
    graph = graph_of(
        run(
            agent("team", "Order 70012 is late.", parent=None, id="0"),
            call("lookup", {"q": "late"}, {"carrier": "DHL", "parcel": "JD-0146"}),
            agent("courier", "Find parcel JD-0146.", "It is at Depot-9921."),
            said("Your parcel is at depot 9921."),
        )
    )
    assert drawn(graph) == [
        ("lookup", "courier", "handoff"),
        ("courier", "answer", "threaded"),
    ]


def test_a_tool_that_dispatches_is_named_by_who_knows() -> None:
    trace = run(
        call("lookup", {}, {"parcel": "JD-0146"}),
        call("Task", {"prompt": "Find JD-0146."}, "At Depot-9921."),
        said("At Depot-9921."),
    )
    assert drawn(graph_of(trace))[0] == ("lookup", "Task", "threaded")
    assert drawn(graph_of(trace, dispatches=["task"]))[0][2] == "handoff"


def test_what_encloses_the_answer_is_the_run_and_loses_nothing() -> None:
    root = Span(id="0", name="workflow", output="All is well with A-1007.")
    inner = Span(id="1", name="step", parent_id="0", output="All is well with A-1007.")
    last = Span(
        id="2",
        name="llm",
        kind="llm",
        parent_id="1",
        output="All is well with A-1007.",
    )
    graph = graph_of(run(root, inner, last))
    assert [node.kind for node in graph.nodes] == ["step", "answer"]
    assert graph.dropped == ()


def test_an_agent_span_around_the_whole_run_answers_after_it() -> None:
    root = agent("bot", "Refund?", "Receipt R-2041.", parent=None, id="0")
    graph = graph_of(run(root, call("refund", {}, {"receipt": "R-2041"})))
    assert drawn(graph) == [("refund", "answer", "threaded")]


def test_the_conversation_that_a_framework_repeats_is_no_input() -> None:
    history = {"messages": [{"role": "tool", "content": "KB-1007"}]}
    step = Span(id="s", name="should_continue", input=history, output="end")
    graph = graph_of(run(call("search", {}, "see KB-1007"), step, said("Nothing.")))
    assert lost(graph) == ["search"]


def test_steps_of_a_workflow_hand_on_data() -> None:
    one = Span(id="1", name="intake", input="mail", output={"ticket": "T-4410"})
    two = Span(id="2", name="route", input='{"ticket": "T-4410"}', output={"q": 1})
    assert drawn(graph_of(run(one, two))) == [("intake", "route", "threaded")]


@pytest.mark.parametrize(
    ("result", "answer", "found"),
    [
        ({"total": 1234.5}, "It comes to 1,234.50 euros.", True),
        ({"total": 1234.5}, "It comes to 1,234.51 euros.", False),
        ({"id": "KB-17"}, "See KB-17.", True),
        ({"id": "KB-17"}, "See KB-170.", False),
        ({"name": "Caf\u00e9 Blau"}, "CAFE\u0301 BLAU it is.", True),
        ({"city": "北京"}, "我住在北京。", True),
        ("Weather in Berlin: Cloudy, 59°F", "**Berlin**: Cloudy, 59°F", True),
        ('{"hits": "[{\\"id\\": \\"KB-1007\\"}]"}', "See KB-1007.", True),
        ({"mail": "ask ada@lab.example today"}, "Write to ada@lab.example", True),
        ({"status": "Success"}, "It was a success.", False),
        ({"queue": "billing"}, "It goes to billing.", False),
        ({"count": 64}, "There are 64.", False),
        ({"ok": True, "why": None}, "True, null.", False),
        ({"message": "not found"}, "It was not found.", False),
    ],
)
def test_what_is_evidence(result: Any, answer: str, found: bool) -> None:
    graph = graph_of(run(call("tool", {}, result), said(answer)))
    assert drawn(graph) == ([("tool", "answer", "threaded")] if found else [])


def test_an_edge_comes_from_the_newest_of_each_name() -> None:
    graph = graph_of(
        run(
            call("a", {}, "KB-1007", id="1"),
            call("a", {}, "KB-1007", id="2"),
            call("b", {}, "KB-1007", id="3"),
            call("c", {"id": "KB-1007"}, id="4"),
        )
    )
    assert [(e.source, e.target) for e in graph.edges] == [(1, 3), (2, 3)]
    assert graph.dropped == ()
    assert links(graph.named("a"), graph.named("c")) == [
        Edge(0, 3, "threaded", graph.nodes[0].produces)
    ]


def test_a_value_at_a_named_path_counts_whatever_it_looks_like() -> None:
    trace = run(
        call("count", {"n": 7}, {"hits": [{"n": 64}, {"n": 7}], "open": True}),
        call("report", {"text": "There are 64."}),
    )
    assert graph_of(trace).edges == ()
    paths = ["hits.*.n", "open", "nowhere"]
    graph = graph_of(trace, values=[("Count", path) for path in paths])
    count, report = graph.nodes
    assert [slot.path for slot in count.chosen["hits.*.n"]] == ["hits.0.n", "hits.1.n"]
    assert count.chosen["open"] == count.chosen["nowhere"] == ()
    (edge,) = links([count], [report], path="hits.*.n")
    assert [slot.value for slot in edge.slots] == ["64"]
    assert links([count], [report], path="open") == []
    assert graph_of(trace, values=[(None, "hits.*.n")]).nodes[0].chosen.keys() == {
        "hits.*.n"
    }


def test_many_that_hold_one_value_make_few_edges() -> None:
    parts = [
        call(f"t{i % 40}", {} if i % 2 else {"id": "KB-1007"}, "KB-1007", id=str(i))
        for i in range(2_000)
    ]
    graph = graph_of(run(*parts))
    assert len(graph.edges) <= 1_000 * MAX_SOURCES


def test_data_too_large_is_said_and_not_taken_for_lost() -> None:
    long = "word " * 30_000 + "KB-1007"
    graph = graph_of(run(call("read", {}, long), said("See KB-1007.")))
    assert graph.unread and graph.nodes[0].unread
    assert not graph.nodes[1].unread


def test_data_of_any_depth_and_in_circles_is_read_up_to_a_limit() -> None:
    circle: dict[str, Any] = {"id": "KB-1007"}
    circle["a"] = circle["b"] = circle
    deep: Any = "KB-1008"
    for _ in range(50_000):
        deep = {"role": "user", "content": deep}
    found = list(scalars([circle, deep]))
    assert ("0.id", "KB-1007") in found
    assert found[-1] == ("", None)


def test_a_number_that_python_does_not_spell_out_is_left_out() -> None:
    assert list(scalars([10**5000, float("nan"), float("inf"), 1e300, 7.0])) == [
        ("3", "1e+300"),
        ("4", "7"),
    ]


def test_no_text_is_scanned_over_and_over() -> None:
    assert len(words_of("1,111" * 20_000 + "x")) > 20_000
    assert [key for key, _, _ in words_of("1" * 50_000 + "x")] == ["1" * 50_000 + "x"]


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.sampled_from(["KB-1007", "Berlin", "\ud800 A-1", '{"a": "A-2001"}', "[["])
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
SPANS = st.builds(
    Span,
    id=st.sampled_from("123"),
    name=st.sampled_from(["a", "b", "answer", ""]),
    kind=st.sampled_from(["llm", "tool", "retrieval", "agent", "event", "span"]),
    role=st.sampled_from([None, "user", "assistant", "system", "tool", "toolResult"]),
    parent_id=st.sampled_from([None, "1", "2", "3"]),
    input=DATA,
    output=DATA,
    tool_call_id=st.sampled_from([None, "c1", "c2"]),
)


@settings(deadline=None)
@given(st.lists(SPANS, max_size=8))
def test_any_trace_has_a_graph_that_holds_together(spans: list[Span]) -> None:
    trace = Trace(id="t", spans=tuple(spans))
    graph = graph_of(trace, dispatches=["a"])
    again = graph_of(Trace(id="t", spans=tuple(spans)), dispatches=["a"])
    assert (graph.edges, graph.dropped) == (again.edges, again.dropped)
    assert [node.index for node in graph.nodes] == list(range(len(graph.nodes)))
    reached = set()
    for edge in graph.edges:
        source, target = graph.nodes[edge.source], graph.nodes[edge.target]
        assert source.until < target.at
        assert edge.slots
        assert {s.key for s in edge.slots} <= {s.key for s in source.produces}
        assert {s.key for s in edge.slots} <= {s.key for s in target.consumes}
        reached.add(edge.source)
    assert not reached & set(graph.dropped)
