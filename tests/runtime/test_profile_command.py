"""`profile`: each fact says whether the spec gives it, the traces show it, or nobody."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.checks import flow
from helix_runtime.commands import profile
from helix_runtime.folder import SuiteFolder
from helix_runtime.observing import observed as observing
from helix_runtime.observing.bounded import Counts
from helix_runtime.observing.observed import Observed, annotated, script_of
from helix_runtime.observing.profile import Input, expected_flow, profile_record
from helix_runtime.refusal import Refusal
from helix_runtime.suite import Subject, Tool
from helix_runtime.trace import Span, Trace
from support.runs import SUBJECT, case, trace
from support.suite_folder import make_suite_folder, parsed, write_traces
from support.trace_samples import EVERY, write


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return make_suite_folder(tmp_path / "suite", cases=[case("a")])


def call(
    tool: str, number: int, given: Any, result: Any, **more: Any
) -> tuple[Span, Span]:
    name: dict[str, Any] = {
        "name": tool,
        "tool_name": tool,
        "tool_call_id": f"c{number}",
    }
    asked = Span(id=f"s{number}", kind="tool", role="tool", input=given, **name)
    told: dict[str, Any] = {"kind": "tool", "role": "toolResult", "output": result}
    return asked, Span(id=f"r{number}", **{**name, **told, **more})


def said(role: Any, text: str, span_id: str) -> Span:
    key = "input" if role == "user" else "output"
    kind: Any = "event" if role == "user" else "llm"
    words: dict[str, Any] = {key: text}
    return Span(id=span_id, name=role, kind=kind, role=role, **words)


def shop(number: int, *more: Span, **changes: Any) -> Trace:
    """A run that finds an order, and books a refund with what it found."""
    ref = f"REF-{number}77"
    return Trace(
        id=f"shop-{number}",
        spans=(
            said("user", "Refund my kettle, please", "u"),
            *call("orders.find", 1, {"q": "kettle"}, {"ref": ref}),
            *call("bookRefund", 2, {"order": ref}, {"receipt": f"RC-{number}88"}),
            *more,
            said("assistant", f"Your receipt is RC-{number}88.", "a"),
        ),
        **changes,
    )


def profiled(
    traces: list[Trace], subject: Subject = SUBJECT, declared: Any = None
) -> Any:
    observed = Observed()
    for one in traces:
        observed.add(one)
    names = declared or [tool.name for tool in subject.tools]
    return profile_record(subject, names, observed, Input(formats={"unitf": 1}))


def tool_of(found: Any, name: str) -> Any:
    return next(tool for tool in found["tools"] if tool["name"] == name)


# -- facts -----------------------------------------------------------------------------


def test_tools_of_the_spec_and_of_the_traces_are_brought_together() -> None:
    failed = shop(
        3, *call("orders_find", 3, {"q": "x", "max": 2}, "no", status="error")
    )
    found = profiled([shop(1), shop(2), failed])
    find = tool_of(found, "orders.find")
    assert find["declared"] and find["from"] == "given"
    assert find["reversibility"] == {"value": "none", "from": "given"}
    first, second = find["observed"]
    assert (first["name"], first["calls"], first["traces"]) == ("orders.find", 3, 3)
    assert (second["name"], second["errors"]) == ("orders_find", 1)
    assert second["errorRate"] == 1
    assert [one["key"] for one in second["arguments"]] == ["max", "q"]
    book = tool_of(found, "bookRefund")
    assert not book["declared"] and book["from"] == "observed"
    assert book["reversibility"] == {"value": "unknown", "from": "unknown"}


def test_an_operation_belongs_to_the_tool_that_it_stands_behind() -> None:
    subject = Subject(
        id="s",
        name="S",
        version="1",
        kind="agent",
        purpose="p",
        tools=[Tool("desk", "A desk."), Tool("book", "A book.")],
    )
    declared = ["desk", "orders.find", "book", "book.cancel"]
    found = profiled([shop(1)], subject, declared)
    (seen,) = tool_of(found, "desk")["observed"]
    assert seen["name"] == "orders.find"
    kinds = {(one["kind"], one["tool"]) for one in found["contradictions"]}
    assert kinds == {
        ("called-not-declared", "bookRefund"),
        ("declared-never-called", "book"),
    }


def test_what_spec_and_traces_say_differently_is_listed() -> None:
    note = {"annotations": {"readOnlyHint": True}}
    spans = call("orders.refund", 4, {}, "ok", extra=note)
    found = profiled([shop(1, *spans)])
    assert found["contradictions"] == [
        {"kind": "called-not-declared", "tool": "bookRefund", "calls": 1, "traces": 1},
        {
            "kind": "reversibility-differs",
            "tool": "orders.refund",
            "given": "irreversible-external",
            "observed": ["none"],
        },
    ]


def test_where_no_tool_calls_are_recorded_no_tool_was_never_called() -> None:
    only = trace(observed=frozenset(("output",)))
    found = profiled([only])
    assert found["contradictions"] == []
    assert found["flow"]["from"] == "unknown" and found["flow"]["modal"] is None
    assert "tool calls: not in 1 of 1 traces" in found["unknown"]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({"reversibility": "reversible"}, "reversible"),
        ({"annotations": {"readOnlyHint": True}}, "none"),
        ({"metadata": {"annotations": {"readOnlyHint": True}}}, "none"),
        ({"metadata": {"reversibility": "irreversible-external"}},) * 1
        + ("irreversible-external",),
        ({"annotations": {"readOnlyHint": False, "destructiveHint": True}}, None),
        ({"annotations": {"readOnlyHint": "true"}}, None),
        ({"reversibility": "sometimes"}, None),
        ({"reversibility": ["none"]}, None),
        ({}, None),
        ("none", None),
    ],
)
def test_reversibility_is_what_annotations_say_and_never_a_guess(
    data: Any, word: str | None
) -> None:
    assert annotated(data) == word


def test_annotations_make_it_observed_and_two_that_differ_unknown() -> None:
    def noted(number: int, word: str) -> Trace:
        extra = {"reversibility": word}
        return shop(number, *call("send", 5, {}, "ok", extra=extra))

    found = profiled([noted(1, "reversible"), noted(2, "reversible")])
    assert tool_of(found, "send")["reversibility"] == {
        "value": "reversible",
        "from": "observed",
        "calls": 2,
    }
    found = profiled([noted(1, "reversible"), noted(2, "none")])
    assert tool_of(found, "send")["reversibility"] == {
        "value": "unknown",
        "from": "unknown",
        "annotations": {"none": 1, "reversible": 1},
    }


def test_an_unknown_harness_is_inferred_from_what_recorded_all_traces() -> None:
    found = profiled([shop(1, source="claude-code"), shop(2, source="claude-code")])
    assert found["subject"]["harness"] == {
        "value": "claude-code",
        "from": "inferred",
        "traces": 2,
    }
    found = profiled([shop(1, source="claude-code"), shop(2, source="langfuse")])
    assert found["subject"]["harness"] == {"value": "unknown", "from": "unknown"}
    assert found["subject"]["identity"] == {"value": "Help desk", "from": "given"}


def test_agents_inside_the_run_are_sub_agents_and_the_run_itself_is_none() -> None:
    def agent(name: str, parent: str | None) -> Span:
        return Span(id=name, name=name, kind="agent", parent_id=parent, output="x")

    spans = (agent("desk", None), agent("clerk", "desk"), agent("loop", "loop"))
    found = profiled([Trace(id="t", spans=spans), Trace(id="u", spans=spans)])
    assert found["subAgents"] == [{"name": "clerk", "count": 2, "from": "observed"}]


def test_figures_and_scripts() -> None:
    traces = [
        shop(n, latency_ms=1000.0 + n, tokens={"input": 10, "output": n})
        for n in range(3)
    ]
    found = profiled(traces)
    assert found["figures"]["toolCalls"]["median"] == 2
    assert found["figures"]["totalTokens"]["highest"] == 12
    assert found["figures"]["costUsd"] == {"count": 0, "from": "unknown"}
    assert found["scripts"] == [{"name": "Latin", "count": 3, "from": "inferred"}]
    assert script_of("Где мой заказ R-1?") == "Cyrillic"
    assert script_of("注文はどこですか") in ("Kana", "Han")
    assert script_of("4711 !") == "no letters"


# -- flow ------------------------------------------------------------------------------


def test_the_modal_flow_and_how_modal_it_is() -> None:
    other = shop(9, *call("bookRefund", 6, {}, "again"))
    found = profiled([shop(1), shop(2), shop(3), other])["flow"]
    assert found["modal"] == {
        "sequence": "orders.find → bookRefund",
        "traces": 3,
        "share": 0.75,
    }
    assert (found["asFrequent"], found["differentSequences"]) == (1, 2)
    assert found["sequences"][1]["sequence"] == "orders.find → bookRefund ×2"
    assert found["transitions"] == [
        {"from": "orders.find", "to": "bookRefund", "traces": 4, "share": 1.0}
    ]


def test_the_expected_flow_is_a_check_that_these_runs_pass() -> None:
    traces = [shop(n) for n in range(10, 15)]
    expected = profiled(traces)["expectedFlow"]
    assert expected == {
        "edges": [
            {"from": "bookRefund", "to": "answer"},
            {"from": "orders.find", "to": "bookRefund"},
        ]
    }
    for one in traces:
        assert flow.matches(case(), one, **expected).result == "pass"
    lost = shop(20)
    spans = [s for s in lost.spans if s.id != "a"]
    broken = Trace(id="x", spans=(*spans, said("assistant", "Done.", "a")))
    assert flow.matches(case(), broken, **expected).result == "fail"


def test_an_edge_that_is_not_usual_is_not_expected() -> None:
    lone = [Trace(id=f"n-{n}", spans=shop(n).spans[:3]) for n in range(9)]
    found = profiled([shop(1), shop(2), *lone])
    assert {"from": "orders.find", "to": "bookRefund"} not in found["expectedFlow"][
        "edges"
    ]
    edges = {(e["from"], e["to"]): e["share"] for e in found["flow"]["edges"]}
    assert edges["orders.find", "bookRefund"] == pytest.approx(2 / 11, abs=1e-5)


def test_the_flow_is_read_in_an_even_choice_whatever_the_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observing, "MAX_GRAPHS", 8)
    traces = [shop(n) for n in range(60)]
    first, second = Observed(), Observed()
    for one in traces:
        first.add(one)
    for one in reversed(traces):
        second.add(one)
    edges = first.edges()
    assert 1 <= edges.graphs <= 8
    assert second.edges().edges == edges.edges
    assert second.edges().nodes.ranked() == edges.nodes.ranked()
    assert expected_flow(edges)["edges"]
    found = profile_record(SUBJECT, [], first, Input(formats={}))
    assert any(f"in {edges.graphs} of 60 traces" in line for line in found["cut"])


# -- bounds ----------------------------------------------------------------------------


def test_tables_are_cut_and_it_is_said() -> None:
    counts = Counts(2)
    for name in ("b", "a", "c", "a", "x" * 900):
        counts.add(name)
    assert counts.ranked() == [("a", 2), ("b", 1)] and counts.others == 2
    spans = [s for n in range(600) for s in call(f"tool-{n}", n, {"k": n}, "r")]
    keys = call("tool-0", 999, {f"k{n}": n for n in range(90)}, "r")
    found = profiled([Trace(id="t", spans=(*spans, *keys))])
    assert len(found["tools"]) == 500 + len(SUBJECT.tools)
    assert "100 calls of tools beyond the first 500" in found["cut"]
    assert "arguments of 1 tools beyond the first 50 keys" in found["cut"]


def test_a_deep_chain_of_spans_is_walked_once() -> None:
    spans = [
        Span(
            id=f"s{n}",
            name="x",
            kind="agent" if n % 2 else "span",
            parent_id=f"s{n - 1}" if n else None,
        )
        for n in range(40_000)
    ]
    observed = Observed()
    observed.add(Trace(id="t", spans=tuple(spans), observed=frozenset()))
    assert observed.sub_agents["x"] == 1


# -- the command -----------------------------------------------------------------------


def test_the_text_is_short_and_the_file_is_the_json(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_traces(tmp_path / "t.jsonl", [shop(1), shop(2)])
    out = tmp_path / "profile.json"
    assert profile.execute(parsed("profile", path, "--out", out), folder) == 0
    text = capsys.readouterr().out
    assert "Help desk 1.0.0 (agent, given by the spec), seen in 2 traces" in text
    assert "orders.find: in the spec; reversibility none (given)" in text
    assert "bookRefund is called (2 times in 2 traces), and the spec does not" in text
    assert (
        "orders.refund is declared, and not called in 2 traces with tool calls" in text
    )
    assert len(text.splitlines()) < 40
    (check,) = [line for line in text.splitlines() if "as a check" in line]
    pasted = json.loads(check.partition("check: ")[2])
    found = json.loads(out.read_text("utf-8"))
    assert pasted == {"flow.matches": found["expectedFlow"]}
    assert profile.execute(parsed("profile", path, "--json"), folder) == 0
    assert json.loads(capsys.readouterr().out) == found


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_format_is_profiled(
    name: str, folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "recorded", EVERY[name][1])
    assert profile.execute(parsed("profile", path, "--json"), folder) == 0
    found = json.loads(capsys.readouterr().out)
    (seen,) = tool_of(found, "forecast")["observed"]
    assert (seen["calls"], seen["errors"]) == (2, 1)


def test_hostile_traces_are_profiled_and_shown_safely(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = Trace(
        id="\x1b[2J",
        spans=(
            *call("\x1b]0;x\x07\u202e", 1, {"\x00\ud800": 1}, float("nan")),
            Span(id="p", name="", kind="agent", parent_id="p", extra={"model": "\x1b"}),
        ),
        agent_name="\u202e",
        source="\x1b",
    )
    path = write_traces(tmp_path / "t\x1b.jsonl", [strange])
    out = tmp_path / "o.json"
    assert profile.execute(parsed("profile", path, "--out", out), folder) == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\u202e" not in shown.out
    json.loads(out.read_bytes().decode("utf-8"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "needs recorded traces"),
        (["EMPTY"], "there is no trace in what was read"),
        (["FILE", "--out", "FILE"], "that is a file that is read"),
        (["FILE", "--format", "nope"], "there is no such format"),
    ],
)
def test_what_cannot_be_done_is_refused(
    words: list[str], told: str, folder: SuiteFolder, tmp_path: Path
) -> None:
    names = {
        "FILE": str(write_traces(tmp_path / "t.jsonl", [shop(1)])),
        "EMPTY": str(write(tmp_path / "e.jsonl", "")),
    }
    with pytest.raises(Refusal, match=told):
        words = [names.get(word, word) for word in words]
        profile.execute(parsed("profile", *words), folder)
