"""No trap of a real trace makes a check pass, or fail, on what did not happen.

Each row is a run that a check once could read wrong, by the trap that it sets. What a
trace does not show leaves a check uncertain.
"""

from typing import Any, Final

import pytest
from helix_runtime.case import Case
from helix_runtime.flow import graph_of
from helix_runtime.judges.evidence import evidence_of
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import trace_from_record
from helix_runtime.verdict import failed, nothing_there, passed
from hypothesis import given, settings
from hypothesis import strategies as st
from support.check_runs import (
    Row,
    answer,
    call,
    case,
    decide,
    node,
    primitive,
    run,
    said,
)

Trap = tuple[str, str, str, dict[str, Any], Trace, Case]


def trap(
    what: str,
    result: str,
    check: str,
    arguments: dict[str, Any],
    trace: Trace,
    of: Case | None = None,
) -> Trap:
    return what, result, check, arguments, trace, of or case()


def called(id: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"spanId": id, "name": name, "kind": "tool", "role": "tool", **fields}


def gave(id: str, **fields: Any) -> dict[str, Any]:
    """Return the record of a result, which bears no tool's name unless one is given."""
    named = {"name": "tool_result", "kind": "tool", "role": "toolResult"}
    return {"spanId": id, **named, **fields}


def read(*spans: dict[str, Any]) -> Trace:
    """Return the trace of a record, read as a file is, that ends with an answer."""
    end = {"spanId": "end", "name": "assistant", "kind": "llm", "role": "assistant"}
    spans = (*spans, {**end, "output": "Done."})
    return trace_from_record({"traceId": "t", "status": "ok", "spans": [*spans]})


def held(*spans: Span) -> Trace:
    return run(*spans, said("Done."))


def model(**tokens: Any) -> Trace:
    return run(Span(id="m", name="m", kind="llm", output="Hi.", tokens=tokens))


PAY: Final = {"name": "pay"}
IDS_AGAIN = read(
    called("1", "pay", toolCallId="call_0", input={"n": 1}),
    gave("2", toolCallId="call_0", output="ok"),
    called("3", "pay", toolCallId="call_0", input={"n": 2}),
    gave("4", toolCallId="call_0", output="boom", status="error"),
)
NO_IDS = read(
    called("1", "pay", input={"n": 1}),
    called("2", "pay", input={"n": 2}),
    gave("3", name="pay", output="ok"),
    gave("4", name="pay", output="boom", status="error"),
)
ONE_AS_TWO = read(
    {"spanId": "1", "name": "pay", "kind": "tool", "toolCallId": "c", "input": {}},
    {"spanId": "2", "name": "pay", "kind": "tool", "toolCallId": "c", "output": "ok"},
)
OPEN = run(call("pay", {"n": 1}, None), said("Done."))
NESTED = run(
    Span(id="r", name="desk", kind="agent", output="Refund done."),
    Span(id="t", name="ask-legal", kind="tool", parent_id="r", input={}),
    Span(id="s", name="legal", kind="agent", parent_id="t", output="No objection."),
)
LOOP = {
    "entry": "a",
    "nodes": [
        {
            "id": "a",
            "edges": [{"to": "a", "loop": {"maxIterations": 1}}, {"to": "b"}],
        },
        {"id": "b", "terminal": True},
    ],
}
CUT = '{"to": "a@b.org", "bcc": "evil@'
TWICE = '{"bcc": "evil@c.org", "bcc": null}'
NO_BCC = {"name": "mail", "condition": {"field": "bcc", "present": False}}
LARGE = "x" * 150_000 + " KB-1777"
NEEDS_A: dict[str, Any] = {"required": ["a"], "properties": {"a": {"minLength": 1}}}


def mail(arguments: Any) -> Trace:
    return run(call("mail", arguments), said("Sent."))


JOINS = [
    trap("ids that start anew", "fail", "tools.no_errors", {}, IDS_AGAIN),
    trap(
        "ids that start anew, what came of each",
        "pass",
        "tools.results",
        {**PAY, "condition": {"contains": "boom"}, "calls": "some"},
        IDS_AGAIN,
    ),
    trap("no ids", "fail", "tools.no_errors", {}, NO_IDS),
    trap(
        "no ids, as many calls", "pass", "tools.called", {**PAY, "at_most": 2}, NO_IDS
    ),
    trap(
        "no id and no name of the only call",
        "fail",
        "tools.no_errors",
        {},
        read(called("1", "pay"), gave("2", output="boom", status="error")),
    ),
    trap(
        "no id and no name of two calls",
        "uncertain",
        "tools.no_errors",
        {},
        read(called("1", "pay"), called("2", "look"), gave("3"), gave("4")),
    ),
    trap(
        "two results of one call",
        "uncertain",
        "tools.no_errors",
        {},
        read(
            called("1", "pay", toolCallId="c"),
            gave("2", toolCallId="c", output="ok"),
            gave("3", toolCallId="c", output="boom", status="error"),
        ),
    ),
    trap(
        "the result before its call",
        "fail",
        "tools.no_errors",
        {},
        read(
            gave("1", toolCallId="c", status="error"),
            called("2", "pay", toolCallId="c"),
        ),
    ),
    trap(
        "call and result without roles",
        "fail",
        "tools.called",
        {**PAY, "at_least": 2},
        ONE_AS_TWO,
    ),
    trap(
        "call and result without roles, as visits",
        "fail",
        "workflow.visit_count",
        {"node": "pay", "nodes": ["pay"], "at_least": 2},
        ONE_AS_TWO,
    ),
    trap(
        "a tool of another server",
        "fail",
        "tools.only_declared",
        {"declared": ["mcp__github__create_issue"]},
        run(call("mcp__jira__create_issue"), said("Done.")),
    ),
]

NOT_RECORDED = [
    trap("an open call may have failed", "uncertain", "tools.no_errors", {}, OPEN),
    trap(
        "more failures than allowed are enough",
        "fail",
        "tools.no_errors",
        {},
        run(call("a", error=True), call("b", {}, None), said("Done.")),
    ),
    trap(
        "a span that ended is a whole call",
        "pass",
        "tools.no_errors",
        {},
        held(Span(id="1", name="pay", kind="tool", end="2026-01-01T00:00:01Z")),
    ),
    trap("an open call is no recovery", "uncertain", "tools.recovered", {}, OPEN),
    trap(
        "a call made beside the one that failed is no recovery",
        "fail",
        "tools.recovered",
        {},
        run(
            call("fetch", {"n": 1}, None, id="1"),
            call("fetch", {"n": 2}, None, id="2"),
            call("fetch", id="1", error=True)[1],
            call("fetch", id="2")[1],
            said("Done."),
        ),
    ),
    trap(
        "an open call may have failed after the one that went well began",
        "uncertain",
        "tools.recovered",
        {},
        run(
            call("fetch", id="0", error=True),
            call("fetch", {"n": 1}, None, id="1"),
            call("fetch", {"n": 2}, id="2"),
            said("Done."),
        ),
    ),
    trap(
        "what an open call gave may be nothing to hand on",
        "uncertain",
        "flow.matches",
        {"edges": [{"from": "pay", "to": "receipt"}]},
        OPEN,
    ),
    trap(
        "what an open call gave is not known",
        "uncertain",
        "tools.results",
        {**PAY, "condition": {"field": "error", "present": False}},
        OPEN,
    ),
    trap(
        "an open call may have been complete",
        "uncertain",
        "tools.before",
        {"first": "look", "then": "pay"},
        run(call("look", {}, None), call("pay"), said("Done.")),
    ),
    trap(
        "an approval in a trace without results",
        "uncertain",
        "tools.approved",
        {"actions": ["pay"], "approvals": ["ask"]},
        run(call("ask", {}, None), call("pay", {}, None), said("Done.")),
    ),
    trap(
        "an approval that never came, in a trace with results",
        "fail",
        "tools.approved",
        {"actions": ["pay"], "approvals": ["ask"]},
        run(call("look"), call("ask", {}, None), call("pay"), said("Done.")),
    ),
    trap(
        "an id may stand in what was not recorded",
        "uncertain",
        "references.retrieved",
        {"pattern": r"KB-\d+"},
        run(call("search", {}, None), said("See KB-17.")),
    ),
    trap(
        "what was not recorded may be dropped",
        "uncertain",
        "flow.no_dropped",
        {},
        run(call("a", {}, {"id": "KB-1777"}), call("b", {}, None), said("KB-1777")),
    ),
    trap(
        "an edge may come from what was not recorded",
        "uncertain",
        "flow.matches",
        {"edges": [{"from": "a", "to": "answer"}], "extra": "refused"},
        run(call("a", {}, {"id": "KB-1777"}), call("b", {}, None), said("KB-1777")),
    ),
    trap(
        "an edge may lie in what was not read",
        "uncertain",
        "flow.matches",
        {"edges": [{"from": "a", "to": "answer"}], "extra": "refused"},
        run(call("a", {}, {"id": "KB-1777"}), call("b", {"q": LARGE}), said("KB-1777")),
    ),
    trap(
        "a bool can't be found in what is told",
        "uncertain",
        "flow.handoff",
        {"to": "courier", "values": ["id", "urgent"]},
        held(Span(id="s", name="courier", kind="agent", parent_id="r", input="AB-123")),
        case(given={"id": "AB-123", "urgent": True}),
    ),
    trap(
        "spans in a row may be turns of a loop",
        "uncertain",
        "workflow.follows_edges",
        {"workflow": LOOP},
        held(*(node("a", id=str(n)) for n in range(3)), node("b")),
    ),
    trap(
        "spans in a row that the loop allows",
        "pass",
        "workflow.follows_edges",
        {"workflow": LOOP},
        held(node("a", id="1"), node("a", id="2"), node("b")),
    ),
    trap("arguments cut off", "uncertain", "tools.arguments", NO_BCC, mail(CUT)),
    trap(
        "a key that stands twice", "uncertain", "tools.arguments", NO_BCC, mail(TWICE)
    ),
    trap(
        "a JSON text in the arguments cut off",
        "uncertain",
        "tools.arguments",
        {"name": "mail", "condition": {"field": "body.bcc", "present": False}},
        mail({"body": CUT}),
    ),
    trap(
        "a JSON text in the arguments",
        "fail",
        "tools.arguments",
        {"name": "mail", "condition": {"field": "body.bcc", "present": False}},
        mail({"body": '{"bcc": "evil@c.org"}'}),
    ),
    trap(
        "an approval's result cut off",
        "uncertain",
        "tools.approved",
        {
            "actions": ["pay"],
            "approvals": ["ask"],
            "granted": {"field": "denied", "present": False},
        },
        run(call("ask", {}, '{"denied": tru'), call("pay"), said("Done.")),
    ),
    trap(
        "a node's output cut off",
        "uncertain",
        "workflow.node_output",
        {
            "node": "a",
            "nodes": ["a"],
            "condition": {"field": "error", "present": False},
        },
        held(node("a", '{"error": "bo')),
    ),
    trap(
        "tokens as texts",
        "uncertain",
        "numbers.tokens",
        {"at_most": 9},
        model(input="99"),
    ),
    trap(
        "tokens that are no numbers",
        "uncertain",
        "numbers.tokens",
        {"at_most": 9},
        model(input=float("nan"), output=5),
    ),
    trap(
        "tokens as a total alone",
        "fail",
        "numbers.tokens",
        {"at_most": 9},
        model(total=50),
    ),
]

ONE_FOR_TWO = {"actions": ["pay"], "approvals": ["ask"]}
TWO_PAID = (*call("pay", id="1"), *call("pay", id="2"))
DEEDS = [
    trap(
        "the result of an approval is no second one",
        "fail",
        "tools.approved",
        ONE_FOR_TWO,
        held(
            Span(id="1", name="ask", kind="tool", role="tool", tool_call_id="k"),
            Span(
                id="2",
                name="ask",
                kind="event",
                role="toolResult",
                output="approved",
                tool_call_id="k",
                tool_name="ask",
            ),
            *TWO_PAID,
        ),
    ),
    trap(
        "the server behind an approval is no second one",
        "fail",
        "tools.approved",
        ONE_FOR_TWO,
        held(
            Span(id="1", name="ask", kind="tool", output="approved"),
            Span(id="2", name="ask", parent_id="1", output="approved"),
            *TWO_PAID,
        ),
    ),
    trap(
        "null on both sides is no common order",
        "fail",
        "tools.approved",
        {**ONE_FOR_TWO, "same_fields": ["order"]},
        run(
            call("ask", {"order": None}, "approved"),
            call("pay", {"order": None}),
            said("Done."),
        ),
    ),
    trap(
        "the same arguments in another spelling",
        "fail",
        "tools.no_repeats",
        {},
        run(
            call("a", '{"x":1,"y":2}', id="1"),
            call("a", '{"y": 2, "x": 1}', id="2"),
            said("Done."),
        ),
    ),
    trap(
        "no arguments are the same as empty ones",
        "fail",
        "tools.no_repeats",
        {},
        run(call("a", None, id="1"), call("a", {}, id="2"), said("Done.")),
    ),
    trap(
        "arguments that look like a message",
        "fail",
        "tools.arguments",
        {"name": "mail", "condition": {"field": "role", "present": False}},
        mail({"role": "user", "content": "x"}),
    ),
    trap(
        "a result whose elements have types",
        "pass",
        "tools.results",
        {"name": "list", "condition": {"field": "0.id", "equals": 7}},
        run(call("list", {}, [{"type": "invoice", "id": 7}]), said("Done.")),
    ),
    trap(
        "expected arguments as a text of JSON",
        "fail",
        "expect.actions",
        {"outbound": ["pay"]},
        run(call("pay", {"n": 2}), said("Done.")),
        case({"actionCalls": [{"action": "pay", "arguments": '{"n": 1}'}]}),
    ),
    trap(
        "made arguments as a text of JSON",
        "pass",
        "expect.actions",
        {"outbound": ["pay"]},
        run(call("pay", '{"n": 1}'), said("Done.")),
        case({"actionCalls": [{"action": "pay", "arguments": {"n": 1}}]}),
    ),
    trap(
        "expected arguments in words",
        "na",
        "expect.actions",
        {"outbound": ["pay"]},
        run(call("pay", {"n": 2}), said("Done.")),
        case({"actionCalls": [{"action": "pay", "arguments": "all of it"}]}),
    ),
    trap(
        "an empty list is expected and another is given",
        "fail",
        "expect.actions",
        {"outbound": ["pay"]},
        run(call("pay", {"cc": ["x"]}), said("Done.")),
        case({"actionCalls": [{"action": "pay", "arguments": {"cc": []}}]}),
    ),
    trap(
        "no outbound action is known",
        "na",
        "expect.actions",
        {"outbound": []},
        run(call("pay"), said("Done.")),
        case({"actionCalls": []}),
    ),
    trap(
        "many equal calls",
        "pass",
        "expect.actions",
        {"outbound": ["pay"]},
        run(*(call("pay", id=str(n)) for n in range(1200)), said("Done.")),
        case({"actionCalls": ["pay"] * 1200}),
    ),
    trap(
        "a tool with the name of the answer",
        "pass",
        "flow.threaded",
        {"source": "a"},
        run(
            call("a", {}, {"id": "KB-1777"}), call("answer", {"t": 1}), said("KB-1777")
        ),
    ),
]


def odd(condition: dict[str, Any], item: Any, result: str = "fail") -> Trap:
    what = f"{condition} on {item}"
    return trap(
        what, result, "lists.every", {"condition": condition}, answer([{"q": item}])
    )


ANSWERS = [
    trap(
        "a sub-agent's words are not the answer",
        "pass",
        "output.equals",
        {"value": "Refund done."},
        NESTED,
    ),
    trap(
        "an answer whose elements have types",
        "fail",
        "output.contains_none",
        {"texts": ["secret"]},
        answer([{"type": "bug", "title": "secret"}]),
    ),
    trap(
        "an answer that looks like a message",
        "pass",
        "output.equals",
        {"path": "role", "value": "admin"},
        answer({"role": "admin", "content": "x"}),
    ),
    trap(
        "an answer in parts of another kind",
        "pass",
        "output.equals",
        {"value": "Hi."},
        answer([{"type": "output_text", "text": "Hi."}]),
    ),
    trap(
        "a key of the answer stands twice",
        "fail",
        "output.equals",
        {"path": "status", "value": "approved"},
        answer('{"status": "refused", "status": "approved"}'),
    ),
    trap(
        "NaN is no JSON",
        "fail",
        "output.json_schema",
        {"schema": {"type": "object", "required": ["score"]}},
        answer('{"score": NaN}'),
    ),
    trap(
        "NaN is within no limit",
        "fail",
        "output.json_schema",
        {"schema": {"properties": {"score": {"minimum": 0.5}}}},
        answer({"score": float("nan")}),
    ),
    trap(
        "prose has no keys that could be missing",
        "fail",
        "output.json_schema",
        {"schema": NEEDS_A},
        answer("I can't do this."),
    ),
    trap(
        "prose is nothing that could be referred to",
        "fail",
        "output.json_schema",
        {"schema": {"$ref": "#/$defs/a", "$defs": {"a": NEEDS_A}}},
        answer("I can't do this."),
    ),
    trap(
        "prose is no object",
        "pass",
        "output.json_schema",
        {"schema": {"not": {"type": "object"}}},
        answer("I can't do this."),
    ),
    trap("signs nobody sees", "fail", "output.present", {}, answer("\u200b\u2060")),
    *(
        trap(f"{text!r} in data", "fail", "output.contains_none", {"texts": [text]}, of)
        for text, of in (
            ('say "hi"', answer({"m": 'we say "hi" now'})),
            ("C:\\temp", answer({"m": "C:\\temp"})),
            ("a b", answer({"m": "a\nb"})),
            ("caf\u00e9", answer('{"m": "caf\\u00e9"}')),
        )
    ),
    trap(
        "a keyword that JSON writes in another way",
        "pass",
        "expect.keyword_recall",
        {},
        answer('{"m": "caf\\u00e9"}'),
        case({"keywords": ["caf\u00e9"]}),
    ),
    trap(
        "an expected text of JSON",
        "pass",
        "expect.equals",
        {},
        answer('{"a": 1}'),
        case('{"a":1}'),
    ),
    trap(
        "a distance in decimals",
        "pass",
        "expect.near",
        {"absolute": 0.1},
        answer("0.4"),
        case(0.3),
    ),
    trap(
        "a share in decimals",
        "pass",
        "expect.keyword_recall",
        {"at_least": 0.1},
        answer("one"),
        case({"keywords": ["one", *(f"none{n}" for n in range(9))]}),
    ),
    trap(
        "an empty list is expected in the answer",
        "fail",
        "expect.superset",
        {},
        answer({"flags": ["x"]}),
        case({"flags": []}),
    ),
    odd({"field": "q", "contains": 1}, 10),
    odd({"field": "q", "not": {"at_least": 100}}, "150"),
    odd({"field": "q", "not": {"at_least": 100}}, 15, "pass"),
    odd({"field": "q", "at_most": 100}, "15"),
    odd({"field": "q.x", "present": False}, '{"x": 1}'),
    odd({"field": "q.*", "present": False}, [1], "error"),
    odd({"not": {"field": "q.*", "equals": 1}}, [1], "error"),
    trap(
        "one of several lists is none",
        "fail",
        "lists.none",
        {"path": "o.*.l", "condition": {"field": "s", "equals": "bad"}},
        answer({"o": [{"l": [{"s": "ok"}]}, {"l": {"s": "bad"}}]}),
    ),
    trap(
        "an id inside a number",
        "fail",
        "references.retrieved",
        {"cited": "ids"},
        run(call("s", {}, "score 1.5"), said({"ids": [1]})),
    ),
    trap(
        "an address inside a longer one",
        "fail",
        "references.retrieved",
        {"cited": "urls"},
        run(call("s", {}, "https://x.org/a/b"), said({"urls": ["https://x.org/a"]})),
    ),
    trap(
        "an address at the end of a sentence",
        "pass",
        "references.retrieved",
        {"cited": "urls"},
        run(call("s", {}, "See https://x.org/a."), said({"urls": ["https://x.org/a"]})),
    ),
    trap(
        "an id that JSON writes in another way",
        "pass",
        "references.retrieved",
        {"cited": "file"},
        run(call("ls", {}, ["C:\\a.txt"]), said({"file": "C:\\a.txt"})),
    ),
    trap(
        "an object among the ids",
        "uncertain",
        "references.retrieved",
        {"cited": "ids"},
        run(call("s", {}, "KB-1"), said({"ids": ["KB-1", {"id": "KB-9"}]})),
    ),
]

TWO_PRICES = call("calc", {}, {"items": [{"p": 5}, {"p": 8}]})
ONE_PRICE_TWICE = call("calc", {}, {"items": [{"p": 5}, {"p": 5}]})
PRICES = {"slots": {"items.*.p": ".p"}, "source": "calc"}
WRITE = {"source": "calc", "slots": ["total"], "artifact": "write", "path": "content"}
TOTAL = call("calc", {}, {"total": 12.5})


def priced(*prices: Any) -> Span:
    return said("".join(f'<b class="p">{price}</b>' for price in prices))


PAGES = [
    trap(
        "one place is not there for two values",
        "fail",
        "ui.faithful",
        PRICES,
        run(ONE_PRICE_TWICE, priced(5, 7)),
    ),
    trap(
        "two values at two places in another order",
        "pass",
        "ui.faithful",
        PRICES,
        run(TWO_PRICES, priced("8 EUR", "5 EUR")),
    ),
    trap(
        "one of two values twice",
        "fail",
        "ui.faithful",
        PRICES,
        run(TWO_PRICES, priced(8, 8)),
    ),
    trap(
        "a page cut off",
        "uncertain",
        "ui.rendered",
        WRITE,
        run(TOTAL, call("write", '{"content": "<p>12.5'), said("Done.")),
    ),
    trap(
        "a page beside a role",
        "pass",
        "ui.rendered",
        WRITE,
        run(TOTAL, call("write", {"role": "user", "content": "12.5"}), said("Done.")),
    ),
    trap(
        "a heading under a line",
        "fail",
        "output.format",
        {"name": "markdown-free"},
        answer("Title\n=====\nText"),
    ),
    trap(
        "a table without outer bars",
        "fail",
        "output.format",
        {"name": "markdown-free"},
        answer("a | b\n--- | ---\n1 | 2"),
    ),
    trap(
        "JSON in which a key stands twice",
        "fail",
        "output.format",
        {"name": "json-object"},
        answer('{"a": 1, "a": 2}'),
    ),
    trap(
        "a last visit that failed",
        "fail",
        "expect.outputs",
        {"nodes": ["a"]},
        held(
            node("a", {"n": 1}), node("b", {}), Span(id="2", name="a", status="error")
        ),
        case({"nodeOutputs": [{"nodeRef": "a", "output": {"n": 1}}]}),
    ),
    trap(
        "a blank gate is in every condition",
        "error",
        "facts.approval_gated",
        {"workflow": LOOP, "holders": {}, "gates": [""]},
        answer("Done."),
    ),
]

BLANK = [
    trap(f"a blank name for {check}", "error", check, arguments, IDS_AGAIN)
    for check, arguments in (
        ("tools.not_called", {"name": ""}),
        ("tools.none_called", {"names": [" "]}),
        ("tools.no_errors", {"names": [""]}),
        ("tools.no_repeats", {"names": [""]}),
        ("tools.before", {"first": "a", "then": ""}),
        ("tools.approved", {"actions": [""], "approvals": ["a"]}),
        ("workflow.never_visits", {"avoided": [""], "nodes": ["a"]}),
        ("flow.no_dropped", {"names": [""]}),
        ("numbers.score", {"name": " "}),
    )
]

TRAPS = [*JOINS, *NOT_RECORDED, *DEEDS, *ANSWERS, *PAGES, *BLANK]


@pytest.mark.parametrize(
    ("result", "check", "arguments", "trace", "of"),
    [one[1:] for one in TRAPS],
    ids=[one[0] for one in TRAPS],
)
def test_a_trap_is_not_walked_into(
    result: str, check: str, arguments: dict[str, Any], trace: Trace, of: Case
) -> None:
    verdict = decide(check, Row(result, arguments, trace, of))
    assert verdict.result == result, verdict.critique


def test_no_negation_passes_on_a_misspelt_path() -> None:
    negate = primitive("combine.negate")
    trace = answer({"text": "lorem ipsum"})
    for path, result in (("text", "fail"), ("txt", "fail")):
        found = decide(
            "output.regex", Row("", {"pattern": "lorem", "path": path}, trace)
        )
        assert negate(found).result == result
    other = decide("output.regex", Row("", {"pattern": "dolor", "path": "text"}, trace))
    assert negate(other).result == "pass"


def test_what_a_critique_says_does_not_keep_a_fail_from_being_negated() -> None:
    negate = primitive("combine.negate")
    assert negate(failed("Nothing stands at the door.")).result == "pass"
    reworded = nothing_there("There is no such field.")
    assert negate(reworded).result == "fail"


def test_a_misspelt_path_keeps_a_whole_from_passing_only_where_it_decides() -> None:
    negate, all_of, any_of = (
        primitive(f"combine.{name}") for name in ("negate", "all_of", "any_of")
    )
    nowhere, fails = nothing_there("No such field."), failed("It says lorem.")
    for parts in ((nowhere, fails), (fails, nowhere)):
        assert negate(all_of(*parts)).result == "pass"
        assert negate(any_of(*parts)).result == "fail"
    assert negate(all_of(nowhere, passed("It does."))).result == "fail"


def test_a_judge_sees_each_call_with_what_came_of_it() -> None:
    trajectory = evidence_of(NO_IDS).trajectory
    assert [entry.get("output") for entry in trajectory] == [
        "ok",
        {"status": "error", "result": "boom"},
    ]
    alone = read(gave("1", name="lost", output="found"), called("2", "pay", input=1))
    assert evidence_of(alone).trajectory == [
        {"name": "lost", "output": "found"},
        {"name": "pay", "input": 1},
    ]


def test_a_run_is_read_once_for_all_its_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0

    def count(drafts: Any) -> Any:
        nonlocal reads
        reads += 1
        return whole(drafts)

    from helix_runtime import flow

    whole = flow._read
    monkeypatch.setattr(flow, "_read", count)
    trace = run(
        call("a", {}, {"n": 7, "id": "KB-1777"}), said({"count": 7, "of": "KB-1777"})
    )
    plain = graph_of(trace)
    chosen = graph_of(trace, values=[("a", "n")], dispatches=["a"])
    assert reads == 1
    assert [node.kind for node in chosen.nodes] == ["dispatch", "answer"]
    # What one asks for is nothing that the other sees.
    assert graph_of(trace) == plain == graph_of(run(*trace.spans))
    assert {slot.value for slot in chosen.nodes[1].consumes} == {"7", "KB-1777"}
    assert {slot.value for slot in plain.nodes[1].consumes} == {"KB-1777"}


# -- what is left out of a trace --------------------------------------------------------

VALUES = st.sampled_from(["KB-1777", "AB-1234", "approved", "rejected", 7, True, None])
OBJECTS = st.dictionaries(
    st.sampled_from(["id", "status", "error"]), VALUES, max_size=3
)
ASKED: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("tools.no_errors", {}),
    ("tools.no_errors", {"names": ["a"], "at_most": 1, "pattern": "KB"}),
    ("tools.recovered", {}),
    ("tools.recovered", {"by": "any-tool"}),
    ("tools.before", {"first": "a", "then": "b"}),
    ("tools.results", {"name": "a", "condition": {"field": "error", "present": False}}),
    (
        "tools.results",
        {"name": "a", "condition": {"contains": "KB-1777"}, "calls": "some"},
    ),
    ("tools.approved", {"actions": ["a"], "approvals": ["b"]}),
    ("tools.approved", {"actions": ["a"], "approvals": ["b"], "same_fields": ["id"]}),
    ("references.retrieved", {"cited": "id"}),
    ("references.retrieved", {"pattern": "[A-Z]{2}-[0-9]+", "known": "id"}),
    ("flow.threaded", {"source": "a"}),
    ("flow.threaded", {"source": "a", "target": "b", "value": "id", "argument": "id"}),
    ("flow.no_dropped", {}),
    ("flow.no_dropped", {"names": ["a"], "values": ["id"]}),
    ("flow.handoff", {"to": "b", "source": "a", "values": ["id"], "through": ["c"]}),
    ("flow.matches", {"edges": [{"from": "a", "to": "b"}]}),
    ("flow.matches", {"edges": [{"from": "a", "to": "answer"}], "extra": "refused"}),
    ("ui.rendered", {"slots": ["id"], "source": "a", "artifact": "b", "path": "id"}),
)


@st.composite
def recorded_twice(draw: st.DrawFn) -> tuple[Trace, Trace]:
    """Return a run, and the same with some results that were not recorded."""
    spans: list[Span] = []
    pending: list[Span] = []
    number = draw(st.integers(1, 4))
    for at in range(number):
        made, back = call(
            draw(st.sampled_from(["a", "b", "c"])),
            draw(OBJECTS),
            draw(OBJECTS | st.sampled_from(["approved", "KB-1777"])),
            id=str(at),
            error=draw(st.integers(0, 3)) == 0,
        )
        spans.append(made)
        pending.append(back)
        for _ in range(draw(st.integers(0, len(pending)))):
            spans.append(pending.pop(0))
    spans += [*pending, said(draw(OBJECTS))]
    hidden = draw(st.sets(st.integers(0, number - 1), min_size=1))
    names = {f"result-{at}" for at in hidden}
    return run(*spans), run(*(span for span in spans if span.id not in names))


@pytest.mark.parametrize(("check", "arguments"), ASKED)
@settings(max_examples=60, deadline=None)
@given(runs=recorded_twice())
def test_no_fail_turns_into_a_pass_where_results_are_not_recorded(
    check: str, arguments: dict[str, Any], runs: tuple[Trace, Trace]
) -> None:
    whole, less = (decide(check, Row("", arguments, trace)) for trace in runs)
    assert whole.result != "error", whole.critique
    assert (whole.result, less.result) not in (("fail", "pass"), ("uncertain", "pass"))


def test_a_page_that_is_blank_is_called_what_it_is() -> None:
    shown = read(
        called("1", "price", toolCallId="a", input={}),
        gave("2", toolCallId="a", output={"total": 12}),
        called("3", "page", toolCallId="b", input={"html": " "}),
        gave("4", toolCallId="b", output="  "),
    )
    asked = {"slots": ["total"], "source": "price", "artifact": "page"}
    for more, told in (
        ({"part": "result"}, 'Nothing stands at the page of "page".'),
        ({"path": "html"}, 'Nothing stands at `html` of "page".'),
    ):
        verdict = primitive("ui.rendered")(case(), shown, **asked, **more)
        assert (verdict.result, verdict.critique) == ("fail", told)


@pytest.mark.parametrize(
    "pattern", ["[[a-z]+", "[0-9--a]", "[a||b]", "[a&&b]", "[a~~b]"]
)
def test_a_pattern_that_a_later_python_may_read_otherwise_makes_no_noise(
    pattern: str,
) -> None:
    """Python warns of each of these; here a warning is an exception."""
    trace = answer("KB-1 [ a")
    seen = decide("output.regex", Row("", {"pattern": pattern}, trace))
    assert seen.result in ("pass", "fail")
    whole = {"pattern": pattern, "match": "full"}
    assert decide("output.regex", Row("", whole, trace)).result in ("pass", "fail")
    cited = {"pattern": pattern, "known": "id"}
    found = run(call("search", {}, [{"id": "a"}]), said("KB-1 [ a"))
    assert decide("references.retrieved", Row("", cited, found)).result != "error"
    schema = {"type": "string", "pattern": pattern}
    shape = decide("output.json_schema", Row("", {"schema": schema}, trace))
    assert shape.result != "error"
