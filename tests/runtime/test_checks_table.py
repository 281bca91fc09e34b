"""Every primitive gives the right result: pass, fail, na, uncertain and error.

The table is the specification in examples. A test holds that no primitive is left
out of it, and another that every ref of every verdict resolves again.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from helix_gen.suite.primitives import argument_faults, catalog
from helix_runtime.checks.paths import MISSING, lookup, text_of
from helix_runtime.criterion import Criterion, Judge
from helix_runtime.judges.evidence import evidence_of
from helix_runtime.judges.grounding import Ground, resolves
from helix_runtime.suite import Subject
from helix_runtime.trace import Span, Trace
from support.check_runs import (
    NOTHING_SEEN,
    ONLY_OUTPUT,
    Row,
    answer,
    call,
    case,
    decide,
    node,
    run,
    said,
)

ROUTE = answer({"route": {"queue": "billing", "score": 0.9, "ok": True}, "none": None})
STEPS = answer(
    {
        "steps": [
            {"id": "a", "app": "Slack", "needs": [], "cost": 1},
            {"id": "b", "app": "Sheets", "needs": ["a"], "cost": 2},
            {"id": "c", "app": "Sheets", "needs": ["a", "z"], "cost": 2, "ask": True},
        ],
        "empty": [],
        "word": "x",
    }
)
NO_ANSWER = run(call("search", {"q": "x"}))
IDLE = answer("I leave the ticket as it is.")
WORK = run(
    call("search", {"q": "refund"}, '{"hits": [{"id": "doc-1"}]}', id="1"),
    call("mcp__support__update_ticket", {"id": 7, "route": "billing"}, id="2"),
    said("Ticket 7 goes to billing [doc-1]."),
)
RETRY = run(
    call("fetch", {"url": "u"}, "timeout", id="1", error=True),
    call("fetch", {"url": "u"}, "page", id="2"),
    said("Read."),
)
STUCK = run(
    call("fetch", {"url": "u"}, "page", id="1"),
    call("fetch", {"url": "u"}, "timeout", id="2", error=True),
    said("Not read."),
)
NODES = ["intake", "retrieve", "page", "stopped"]
PATH = run(
    node("intake", {"valid": True, "at": 1}),
    node("retrieve", '{"complete": false}'),
    node("stopped"),
    said("Stopped."),
)
WORKFLOW: dict[str, Any] = {
    "entry": "intake",
    "nodes": [
        {"id": "intake", "edges": [{"to": "retrieve"}], "contextRefs": ["record"]},
        {
            "id": "retrieve",
            "edges": [
                {"to": "page", "condition": "approved"},
                {"to": "stopped", "condition": "otherwise"},
                {
                    "to": "intake",
                    "condition": "incomplete",
                    "loop": {"maxIterations": 1},
                },
            ],
        },
        {
            "id": "page",
            "executor": {"kind": "action", "ref": "page-on-call"},
            "terminal": True,
        },
        {"id": "stopped", "terminal": True},
    ],
    "actions": [{"id": "page-on-call", "approval": "required"}],
    "contexts": ["record"],
    "members": ["pager"],
}


def changed(**fields: Any) -> dict[str, Any]:
    """Return WORKFLOW with other fields."""
    return WORKFLOW | fields


def with_node(index: int, **fields: Any) -> dict[str, Any]:
    """Return WORKFLOW with other fields of one node."""
    nodes = list(WORKFLOW["nodes"])
    nodes[index] = nodes[index] | fields
    return changed(nodes=nodes)


APPROVED = {"actions": ["update-ticket"], "approvals": ["request-approval"]}

LOOKED_UP = call("lookup", {"name": "Ada"}, {"order": "A-1007", "lines": 3}, id="1")
REFUND = run(
    LOOKED_UP,
    call("refund", {"order": "A-1007", "note": "3 lines"}, {"receipt": "R-2041"}),
    said("Refunded; your receipt is R-2041."),
)
LOST = run(
    LOOKED_UP,
    call("refund", {"order": "A-1070"}, {"receipt": "R-2041"}),
    said("Refunded."),
)
REVERSED = run(call("refund", {"order": "A-1007"}), LOOKED_UP, said("Done."))
OPEN = run(
    call("lookup", {"name": "Ada"}, None, id="1"),
    call("refund", {"order": "A-1007"}),
    said("Done."),
)
LONE_RESULT = run(
    LOOKED_UP,
    Span(
        id="r",
        name="refund",
        kind="tool",
        role="toolResult",
        tool_name="refund",
        output="ok",
    ),
)
TOLD = run(
    LOOKED_UP,
    call("Task", {"agent": "courier", "prompt": "Find A-1007 for Ada, 3 lines."}),
    said("Sent."),
)
AGENTS = run(
    LOOKED_UP,
    Span(id="0", name="desk", kind="agent", input="Refund?"),
    Span(id="1", name="courier", kind="agent", parent_id="0", input="Find A-1007."),
    said("Sent."),
)
ORDER_OF_ADA = case(given={"customer": {"name": "Ada"}, "order": "A-1007"})
INVOICE = {
    "total": 1234.5,
    "customer": {"name": "A < B & Co"},
    "items": [{"price": 2, "sku": "S-1"}, {"price": 1200.25, "sku": "S-2"}],
    "paid": True,
}
PAGE = """<!doctype html><head><title>Invoice 99</title></head>
<body><script>var paid = 4711</script><p hidden>4712</p>
<h1>Invoice for <b class=name>A &lt; B &amp; Co</b></h1>
<table><tr><td class=price>2.00<tr><td class=price>1&nbsp;200,25 &euro;</table>
<p>Total: <span id="total">1,234.50 EUR</span></p></body>"""


def paged(html: Any, *more: Span | tuple[Span, ...]) -> Trace:
    """Return a run that computes INVOICE and publishes a page."""
    return run(
        call("invoice", {"id": 7}, INVOICE),
        *more,
        call("publish", {"html": html, "to": "web"}, "ok"),
        said("It is online."),
    )


PAGED = paged(PAGE)
NO_TOTAL = paged(PAGE.replace("1,234.50", "1,234.60").replace("1&nbsp;200,25", "12"))
PUBLISHED: dict[str, Any] = {
    "source": "invoice",
    "artifact": "publish",
    "path": "html",
}
NAME_AND_TOTAL = {"customer.name": ".name", "total": "#total"}
FIELD = answer({"sum": 64, "page": "**Sum:** 64\n\nName: Ada", "name": "Ada Lovelace"})


def asked(result: Any, arguments: Any = None, *, id: str = "ask") -> tuple[Span, ...]:
    return call("request_approval", arguments, result, id=id)


def update(arguments: Any = None, *, id: str = "do") -> tuple[Span, ...]:
    return call("update_ticket", arguments, id=id)


TABLE: Mapping[str, list[Row]] = {
    # -- flow ---------------------------------------------------------------------
    "flow.threaded": [
        Row("pass", {"source": "lookup", "target": "refund"}, REFUND),
        Row("pass", {"source": "refund"}, REFUND),
        Row(
            "pass",
            {
                "source": "lookup",
                "target": "refund",
                "value": "order",
                "argument": "order",
            },
            REFUND,
        ),
        Row(
            "pass",
            {"source": "lookup", "target": "refund", "value": "lines"},
            REFUND,
        ),
        Row(
            "fail",
            {
                "source": "lookup",
                "target": "refund",
                "value": "order",
                "argument": "note",
            },
            REFUND,
        ),
        Row("fail", {"source": "lookup", "target": "refund"}, LOST),
        Row("fail", {"source": "lookup", "target": "refund"}, REVERSED),
        Row("fail", {"source": "search", "target": "refund"}, REFUND),
        Row("fail", {"source": "lookup"}, REVERSED),
        Row("fail", {"source": "search"}, NO_ANSWER),
        Row(
            "pass",
            {"source": "lookup", "target": "fetch", "calls": "some"},
            run(
                LOOKED_UP,
                call("fetch", {"id": "B-2008"}, id="2"),
                call("fetch", {"id": "A-1007"}, id="3"),
            ),
        ),
        Row("na", {"source": "lookup", "target": "cancel"}, REFUND),
        Row("na", {"source": "search"}, REFUND),
        Row(
            "na", {"source": "fetch"}, run(RETRY.spans[0], RETRY.spans[1], said("No."))
        ),
        Row("uncertain", {"source": "lookup", "target": "refund"}, OPEN),
        Row("uncertain", {"source": "lookup", "target": "refund"}, LONE_RESULT),
        Row(
            "uncertain",
            {"source": "count"},
            run(call("count", {}, {"n": 64}), said("There are 64.")),
        ),
        Row(
            "pass",
            {"source": "count", "value": "n"},
            run(call("count", {}, {"n": 64}), said("There are 64.")),
        ),
        Row("uncertain", {"source": "lookup", "value": "id"}, REFUND),
        Row("uncertain", {"source": "lookup"}, ONLY_OUTPUT),
        Row("uncertain", {"source": "lookup"}, NOTHING_SEEN),
        Row(
            "uncertain",
            {"source": "read"},
            run(call("read", {}, "KB-1007 " + "word " * 30_000), said("Read.")),
        ),
        Row(
            "pass",
            {"source": "intake", "target": "route"},
            run(
                node("intake", {"ticket": "T-4410"}),
                Span(id="2", name="route", input={"ticket": "T-4410"}),
                observed=frozenset(("output", "path")),
            ),
        ),
        Row("error", {"source": "answer"}, REFUND),
        Row("error", {"source": "lookup", "target": "prompt"}, REFUND),
        Row("error", {"source": "lookup", "value": "a..b"}, REFUND),
    ],
    "flow.no_dropped": [
        Row("pass", {}, REFUND),
        Row("pass", {"names": ["lookup"]}, REFUND),
        Row("pass", {"values": ["order"]}, REFUND),
        Row("pass", {"names": ["lookup"], "values": ["lines", "order"]}, REFUND),
        Row("fail", {}, LOST),
        Row("fail", {"names": ["refund"]}, LOST),
        Row("fail", {"names": ["lookup"]}, REVERSED),
        Row("fail", {"names": ["lookup"], "values": ["lines"]}, LOST),
        Row("uncertain", {}, RETRY),
        Row("na", {}, IDLE),
        Row("na", {"names": ["search"]}, REFUND),
        Row("uncertain", {"names": ["lookup"]}, OPEN),
        Row("uncertain", {"names": ["count"]}, run(call("count", {}, {"n": 64}))),
        Row("uncertain", {}, ONLY_OUTPUT),
        Row(
            "uncertain",
            {},
            run(LOOKED_UP, said("Done."), observed=frozenset(("tools",))),
        ),
        Row("error", {"values": [""]}, REFUND),
        Row("error", {"names": "lookup"}, REFUND),
    ],
    "flow.handoff": [
        Row(
            "pass",
            {"to": "courier", "values": ["order"], "through": ["task"]},
            TOLD,
            ORDER_OF_ADA,
        ),
        Row(
            "pass",
            {
                "to": "courier",
                "source": "lookup",
                "values": ["order", "lines"],
                "through": ["Task"],
            },
            TOLD,
        ),
        Row(
            "pass",
            {"to": "courier", "source": "lookup", "values": ["order"]},
            AGENTS,
        ),
        Row(
            "fail",
            {"to": "courier", "source": "lookup", "values": ["order", "lines"]},
            AGENTS,
        ),
        Row(
            "fail",
            {"to": "courier", "values": ["customer.name"]},
            AGENTS,
            ORDER_OF_ADA,
        ),
        Row(
            "fail",
            {"to": "refund", "source": "lookup", "values": ["order"]},
            LOST,
        ),
        Row("na", {"to": "courier", "values": ["order"]}, REFUND, ORDER_OF_ADA),
        Row("na", {"to": "courier", "values": ["parcel"]}, AGENTS, ORDER_OF_ADA),
        Row("na", {"to": "refund", "source": "search", "values": ["id"]}, REFUND),
        Row(
            "uncertain",
            {"to": "refund", "source": "lookup", "values": ["order"]},
            OPEN,
        ),
        Row(
            "uncertain",
            {"to": "refund", "source": "lookup", "values": ["order"]},
            LONE_RESULT,
        ),
        Row("uncertain", {"to": "courier", "values": ["order"]}, ONLY_OUTPUT),
        Row("error", {"to": "courier", "values": []}, AGENTS),
        Row("error", {"to": " ", "values": ["order"]}, AGENTS),
    ],
    "flow.matches": [
        Row(
            "pass",
            {
                "edges": [
                    {"from": "lookup", "to": "refund", "value": "order"},
                    {"from": "refund", "to": "answer", "kind": "threaded"},
                ],
                "extra": "refused",
            },
            REFUND,
        ),
        Row(
            "pass",
            {
                "edges": [{"from": "lookup", "to": "Task", "kind": "handoff"}],
                "dispatches": ["task"],
            },
            TOLD,
        ),
        Row(
            "fail",
            {"edges": [{"from": "lookup", "to": "Task", "kind": "handoff"}]},
            TOLD,
        ),
        Row("fail", {"edges": [{"from": "lookup", "to": "refund"}]}, LOST),
        Row("fail", {"edges": [{"from": "lookup", "to": "refund"}]}, REVERSED),
        Row("fail", {"edges": [{"from": "lookup", "to": "cancel"}]}, REFUND),
        Row(
            "fail",
            {
                "edges": [
                    {"from": "refund", "to": "answer"},
                    {"from": "search", "to": "answer"},
                ]
            },
            REFUND,
        ),
        Row(
            "fail",
            {"edges": [{"from": "refund", "to": "answer"}], "extra": "refused"},
            REFUND,
        ),
        Row("na", {"edges": [{"from": "search", "to": "answer"}]}, REFUND),
        Row("uncertain", {"edges": [{"from": "lookup", "to": "refund"}]}, OPEN),
        Row(
            "uncertain",
            {"edges": [{"from": "lookup", "to": "answer", "value": "id"}]},
            REFUND,
        ),
        Row("uncertain", {"edges": [{"from": "a", "to": "b"}]}, ONLY_OUTPUT),
        Row("error", {"edges": []}, REFUND),
        Row("error", {"edges": [{"from": "a"}]}, REFUND),
        Row("error", {"edges": [{"from": "answer", "to": "b"}]}, REFUND),
        Row("error", {"edges": [{"from": "a", "to": "b", "via": "c"}]}, REFUND),
        Row("error", {"edges": [{"from": "a", "to": "b", "kind": "x"}]}, REFUND),
        Row("error", {"edges": [{"from": "a", "to": "b", "value": ""}]}, REFUND),
    ],
    # -- ui -----------------------------------------------------------------------
    "ui.rendered": [
        Row("pass", {"slots": ["total", "customer.name"]} | PUBLISHED, PAGED),
        Row("pass", {"slots": ["items.*.price", "paid"]} | PUBLISHED, PAGED),
        Row("fail", {"slots": ["total"]} | PUBLISHED, NO_TOTAL),
        Row("fail", {"slots": ["items.*.sku"]} | PUBLISHED, PAGED),
        Row(
            "fail",
            {"slots": ["n"]} | PUBLISHED,
            paged(PAGE, call("invoice", {}, {"n": 4711}, id="i")),
        ),
        Row(
            "fail",
            {"slots": ["n"]} | PUBLISHED,
            paged(PAGE, call("invoice", {}, {"n": 4712}, id="i")),
        ),
        Row(
            "fail",
            {"slots": ["n"]} | PUBLISHED,
            paged(PAGE, call("invoice", {}, {"n": 99}, id="i")),
        ),
        Row("pass", {"slots": ["sum"], "path": "page"}, FIELD),
        Row("fail", {"slots": ["name"], "path": "page"}, FIELD),
        Row(
            "pass",
            {"slots": ["url"], "source": "search"},
            run(
                call("search", {}, {"url": "https://lab.example"}),
                said("See [the lab](https://lab.example)."),
            ),
        ),
        Row("fail", {"slots": ["sum"], "path": "html"}, FIELD),
        Row(
            "fail",
            {"slots": ["n"], "source": "count"},
            run(call("count", {}, {"n": 64})),
        ),
        Row(
            "pass",
            {"slots": ["n"], "source": "count"},
            run(call("count", {}, {"n": 64}), said("`64` it is.")),
        ),
        Row(
            "fail",
            {"slots": ["n"], "source": "count"},
            run(call("count", {}, {"n": 64}), said("About 640.")),
        ),
        Row(
            "pass",
            {"slots": ["n"], "source": "count", "decimals": 1},
            run(call("count", {}, {"n": 2.25}), said("It is 2.3.")),
        ),
        Row(
            "fail",
            {"slots": ["n"], "source": "count"},
            run(call("count", {}, {"n": 2.25}), said("It is 2.3.")),
        ),
        Row(
            "pass",
            {
                "slots": ["total"],
                "source": "invoice",
                "artifact": "render",
                "part": "result",
            },
            run(call("invoice", {}, INVOICE), call("render", {}, PAGE)),
        ),
        Row(
            "na",
            {"slots": ["total"], "where": {"field": "to", "equals": "mail"}}
            | PUBLISHED,
            PAGED,
        ),
        Row("na", {"slots": ["tax"]} | PUBLISHED, PAGED),
        Row("na", {"slots": ["paid"]} | PUBLISHED, PAGED),
        Row(
            "na",
            {
                "slots": ["total"],
                "source": "invoice",
                "artifact": "mail",
                "path": "html",
            },
            PAGED,
        ),
        Row(
            "na",
            {
                "slots": ["total"],
                "source": "quote",
                "artifact": "publish",
                "path": "html",
            },
            PAGED,
        ),
        Row(
            "uncertain", {"slots": ["total"]} | PUBLISHED, paged(" " * 1_000_000 + PAGE)
        ),
        Row(
            "uncertain",
            {"slots": ["total"]} | PUBLISHED,
            run(call("invoice", {}, None), call("publish", {"html": PAGE})),
        ),
        Row("uncertain", {"slots": ["total"]} | PUBLISHED, ONLY_OUTPUT),
        Row("uncertain", {"slots": ["sum"], "path": "page"}, NOTHING_SEEN),
        Row("error", {"slots": ["total"]}, PAGED),
        Row(
            "error",
            {"slots": ["total"], "source": "invoice", "artifact": "publish"},
            PAGED,
        ),
        Row(
            "error", {"slots": ["total"], "source": "invoice", "part": "result"}, PAGED
        ),
        Row("error", {"slots": []} | PUBLISHED, PAGED),
        Row("error", {"slots": ["total"], "decimals": -1} | PUBLISHED, PAGED),
    ],
    "ui.faithful": [
        Row("pass", {"slots": NAME_AND_TOTAL} | PUBLISHED, PAGED),
        Row("pass", {"slots": {"items.*.price": "td.price"}} | PUBLISHED, PAGED),
        Row("pass", {"slots": {"total": "Total:"}} | PUBLISHED, PAGED),
        Row("pass", {"slots": {"sum": "Sum:"}, "path": "page"}, FIELD),
        Row("fail", {"slots": {"name": "Name:"}, "path": "page"}, FIELD),
        Row("fail", {"slots": NAME_AND_TOTAL} | PUBLISHED, NO_TOTAL),
        Row("fail", {"slots": {"items.*.price": "td.price"}} | PUBLISHED, NO_TOTAL),
        Row("fail", {"slots": {"total": ".sum"}} | PUBLISHED, PAGED),
        Row("fail", {"slots": {"total": "[data-slot=total]"}} | PUBLISHED, PAGED),
        Row("na", {"slots": {"tax": "#total"}} | PUBLISHED, PAGED),
        Row("na", {"slots": {"paid": "#total"}} | PUBLISHED, PAGED),
        Row("uncertain", {"slots": {"total": "body"}} | PUBLISHED, PAGED),
        Row("uncertain", {"slots": {"total": "#total"}} | PUBLISHED, ONLY_OUTPUT),
        Row("error", {"slots": {"total": "the total"}} | PUBLISHED, PAGED),
        Row("error", {"slots": {"total": "p > b"}} | PUBLISHED, PAGED),
        Row("error", {"slots": {}} | PUBLISHED, PAGED),
        Row("error", {"slots": ["total"]} | PUBLISHED, PAGED),
    ],
    "ui.no_orphan": [
        Row("pass", {"places": ["#total", ".name", ".price"]} | PUBLISHED, PAGED),
        Row(
            "pass", {"places": ["#total"], "artifact": "publish", "path": "html"}, PAGED
        ),
        Row("fail", {"places": ["#total", ".name"]} | PUBLISHED, NO_TOTAL),
        Row(
            "fail",
            {"places": ["#total"], "artifact": "publish", "path": "html"},
            NO_TOTAL,
        ),
        Row("pass", {"places": ["Sum:", "Name:"], "path": "page"}, FIELD),
        Row(
            "fail",
            {"places": ["Sum:"], "path": "page"},
            answer({"page": "Sum: 64", "sum": 65}),
        ),
        Row(
            "pass",
            {"places": ["Weather:"], "ignore_case": True},
            run(
                call("weather", {}, "Berlin: Cloudy, 59 F"),
                said("Weather: cloudy, 59 F"),
            ),
        ),
        Row("na", {"places": [".tax"]} | PUBLISHED, PAGED),
        Row(
            "na",
            {
                "places": ["#total"],
                "source": "quote",
                "artifact": "publish",
                "path": "html",
            },
            PAGED,
        ),
        Row("uncertain", {"places": ["#total"]} | PUBLISHED, ONLY_OUTPUT),
        Row(
            "uncertain",
            {"places": ["#total"], "artifact": "render", "part": "result"},
            run(call("render", {}, None)),
        ),
        Row("error", {"places": []} | PUBLISHED, PAGED),
        Row("error", {"places": ["??"]} | PUBLISHED, PAGED),
    ],
    # -- output -------------------------------------------------------------------
    "output.present": [
        Row("pass", {}, IDLE),
        Row("pass", {"path": "route.score"}, ROUTE),
        Row("pass", {"path": "n"}, answer({"n": 0})),
        Row("pass", {"path": "n"}, answer({"n": False})),
        Row("fail", {"path": "none"}, ROUTE),
        Row("fail", {"path": "empty"}, STEPS),
        Row("fail", {"path": "n"}, answer({"n": " \n"})),
        Row("fail", {"path": "route.missing"}, ROUTE),
        Row("fail", {"path": "route"}, IDLE),
        Row("fail", {}, NO_ANSWER),
        Row("uncertain", {}, NOTHING_SEEN),
        Row("error", {"path": 3}, IDLE),
    ],
    "output.equals": [
        Row("pass", {"value": "billing", "path": "route.queue"}, ROUTE),
        Row("pass", {"value": "Cafe\u0301  now"}, answer(" Caf\u00e9\nnow ")),
        Row("pass", {"value": "YES", "ignore_case": True}, answer("yes")),
        Row("pass", {"value": 42}, answer("42")),
        Row("pass", {"value": 42.0}, answer("42")),
        Row("pass", {"value": True}, answer("true")),
        Row("pass", {"value": {"b": [1], "a": None}}, answer('{"a": null, "b": [1]}')),
        Row("fail", {"value": "YES"}, answer("yes")),
        Row("fail", {"value": 1, "path": "ok"}, answer({"ok": True})),
        Row("fail", {"value": True, "path": "ok"}, answer({"ok": 1})),
        Row("fail", {"value": 1, "path": "n"}, answer({"n": "1"})),
        Row("fail", {"value": [1, 2]}, answer("[2, 1]")),
        Row("fail", {"value": 1, "path": "x.y"}, ROUTE),
        Row("fail", {"value": None, "path": "x"}, ROUTE),
        Row("pass", {"value": None, "path": "none"}, ROUTE),
        Row("uncertain", {"value": 1}, NOTHING_SEEN),
        Row("error", {"value": 1, "ignore_case": "yes"}, IDLE),
    ],
    "output.contains": [
        Row("pass", {"texts": ["leave", "as it is"]}, IDLE),
        Row("pass", {"texts": ["a  b"]}, answer("x a\n b y")),
        Row("pass", {"texts": ["STRASSE"], "ignore_case": True}, answer("die Straße")),
        Row("pass", {"texts": ["no", "leave"], "match": "any"}, IDLE),
        Row("pass", {"texts": ["billing"], "path": "route"}, ROUTE),
        Row("fail", {"texts": ["leave", "refund"]}, IDLE),
        Row("fail", {"texts": ["refund", "pay"], "match": "any"}, IDLE),
        Row("fail", {"texts": ["x"], "path": "nowhere"}, ROUTE),
        Row("fail", {"texts": ["x"]}, NO_ANSWER),
        Row("uncertain", {"texts": ["x"]}, NOTHING_SEEN),
        Row("error", {"texts": []}, IDLE),
        Row("error", {"texts": "leave"}, IDLE),
        Row("error", {"texts": [" "]}, IDLE),
        Row("error", {"texts": ["x"], "match": "most"}, IDLE),
    ],
    "output.contains_none": [
        Row("pass", {"texts": ["refund"]}, IDLE),
        Row("pass", {"texts": ["refund"]}, NO_ANSWER),
        Row("fail", {"texts": ["refund", "ticket"]}, IDLE),
        Row("fail", {"texts": ["TICKET"], "ignore_case": True}, IDLE),
        Row("fail", {"texts": ["refund"], "path": "mispelt"}, ROUTE),
        Row("uncertain", {"texts": ["refund"]}, NOTHING_SEEN),
        Row("error", {"texts": []}, IDLE),
    ],
    "output.regex": [
        Row("pass", {"pattern": r"t\w+et"}, IDLE),
        Row("pass", {"pattern": "[A-Z]{2}-\\d+", "match": "full"}, answer(" AB-12\n")),
        Row("pass", {"pattern": "LEAVE", "ignore_case": True}, IDLE),
        Row("pass", {"pattern": "(?i)LEAVE"}, IDLE),
        Row("pass", {"pattern": "(?s)x.y", "match": "full"}, answer("x\ny")),
        Row("fail", {"pattern": "^ticket"}, IDLE),
        Row("fail", {"pattern": "[A-Z]+", "match": "full"}, answer("AB-12")),
        Row("fail", {"pattern": "a|ab", "match": "full"}, answer("ba")),
        Row("pass", {"pattern": "a|ab", "match": "full"}, answer("ab")),
        Row("fail", {"pattern": "x", "path": "nowhere"}, ROUTE),
        Row("uncertain", {"pattern": "x"}, answer("x" * 100_001)),
        Row("uncertain", {"pattern": "x"}, NOTHING_SEEN),
        Row("error", {"pattern": "(unclosed"}, IDLE),
        Row("error", {"pattern": None}, IDLE),
    ],
    "output.one_of": [
        Row("pass", {"values": ["sales", "billing"], "path": "route.queue"}, ROUTE),
        Row("pass", {"values": [1, 2]}, answer("2")),
        Row("pass", {"values": ["Yes"], "ignore_case": True}, answer("YES ")),
        Row("fail", {"values": ["sales"], "path": "route.queue"}, ROUTE),
        Row("fail", {"values": [1], "path": "route.ok"}, ROUTE),
        Row("fail", {"values": [1], "path": "nowhere"}, ROUTE),
        Row("uncertain", {"values": [1]}, NOTHING_SEEN),
        Row("error", {"values": []}, ROUTE),
        Row("error", {"values": "ab"}, ROUTE),
    ],
    "output.json_schema": [
        Row("pass", {"schema": {"required": ["route"]}}, ROUTE),
        Row(
            "pass",
            {
                "schema": {"type": "array", "items": {"required": ["id"]}},
                "path": "steps",
            },
            STEPS,
        ),
        Row("fail", {"schema": {"required": ["queue"]}}, ROUTE),
        Row("fail", {"schema": {"type": "object"}}, IDLE),
        Row("fail", {"schema": {"type": "number"}, "path": "route.ok"}, ROUTE),
        Row("fail", {"schema": {"type": "object"}, "path": "nowhere"}, ROUTE),
        Row("uncertain", {"schema": {"type": "object"}}, NOTHING_SEEN),
        Row("error", {"schema": {"unevaluatedProperties": False}}, ROUTE),
        Row("error", {"schema": {"type": "text"}}, ROUTE),
        Row("error", {"schema": {"properties": {"a": {"pattern": "("}}}}, ROUTE),
        Row("error", {"schema": {"$ref": "https://example.test/a"}}, ROUTE),
    ],
    "output.format": [
        Row("pass", {"name": "json"}, answer(' {"a": 1} ')),
        Row("fail", {"name": "json"}, answer('```json\n{"a": 1}\n```')),
        Row("fail", {"name": "json"}, answer("[NaN]")),
        Row("pass", {"name": "json-list"}, answer("[]")),
        Row("fail", {"name": "json-list"}, answer("{}")),
        Row("pass", {"name": "integer"}, answer("-12")),
        Row("fail", {"name": "integer"}, answer("1.0")),
        Row("fail", {"name": "integer"}, answer("١٢")),
        Row("fail", {"name": "number"}, answer("1e999")),
        Row("fail", {"name": "number"}, answer("NaN")),
        Row("pass", {"name": "date"}, answer("2024-02-29")),
        Row("fail", {"name": "date"}, answer("2023-02-29")),
        Row("fail", {"name": "date"}, answer("20240229")),
        Row("pass", {"name": "date-time"}, answer("2024-02-29T10:00:00.5Z")),
        Row("fail", {"name": "date-time"}, answer("2024-02-29T10:00:00")),
        Row("fail", {"name": "date-time"}, answer("2024-02-29T10:00:00+29:00")),
        Row("pass", {"name": "email"}, answer("a.b+c@example.test")),
        Row("fail", {"name": "email"}, answer("Mail a@example.test")),
        Row("fail", {"name": "email"}, answer("a..b@example.test")),
        Row("pass", {"name": "url"}, answer("https://example.test/a?b=c")),
        Row("fail", {"name": "url"}, answer("javascript:alert(1)")),
        Row("fail", {"name": "url"}, answer("https://a b")),
        Row("pass", {"name": "markdown-free"}, answer("2 * 3 is snake_case, 5 * 4.")),
        Row("fail", {"name": "markdown-free"}, answer("Go **now**")),
        Row("fail", {"name": "markdown-free"}, answer("see\n- one")),
        Row("fail", {"name": "markdown-free"}, answer("see [this](https://x.test)")),
        Row("pass", {"name": "one-line"}, answer("one\n")),
        Row("fail", {"name": "one-line"}, answer("one\u2028two")),
        Row("fail", {"name": "uuid", "path": "nowhere"}, ROUTE),
        Row("uncertain", {"name": "json"}, NOTHING_SEEN),
        Row("error", {"name": "xml"}, IDLE),
    ],
    "output.length": [
        Row("pass", {"unit": "words", "at_most": 8}, IDLE),
        Row("pass", {"unit": "items", "at_least": 3, "path": "steps"}, STEPS),
        Row("fail", {"unit": "words", "at_most": 6}, IDLE),
        Row("fail", {"at_least": 100}, IDLE),
        Row("fail", {"unit": "items", "at_most": 9, "path": "word"}, STEPS),
        Row("fail", {"at_most": 9, "path": "nowhere"}, STEPS),
        Row("uncertain", {"at_most": 1}, NOTHING_SEEN),
        Row("error", {"at_least": 2, "at_most": 1}, IDLE),
        Row("error", {"at_most": True}, IDLE),
    ],
    # -- expectations -------------------------------------------------------------
    "expect.equals": [
        Row(
            "pass",
            {"expected": "queue", "path": "route.queue"},
            ROUTE,
            case({"queue": "billing"}),
        ),
        Row("pass", {"expected": "n"}, answer("42"), case({"n": 42})),
        Row("fail", {"expected": "n"}, answer("43"), case({"n": 42})),
        Row("fail", {"expected": "n", "path": "n"}, ROUTE, case({"n": 42})),
        Row("na", {"expected": "n"}, answer("42"), case({"m": 42})),
        Row("na", {"expected": "n"}, answer("42"), case({"n": None})),
        Row("na", {}, answer("42"), case()),
        Row("uncertain", {"expected": "n"}, NOTHING_SEEN, case({"n": 42})),
        Row("error", {"expected": 1}, IDLE, case({"n": 42})),
    ],
    "expect.superset": [
        Row("pass", {}, answer("[3, 1, 2]"), case([1, 2])),
        Row("pass", {}, answer('{"a": {"x": 1, "y": 2}}'), case({"a": {"x": 1}})),
        Row("pass", {"path": "word", "expected": "w"}, STEPS, case({"w": "x"})),
        Row("fail", {}, answer("[1]"), case([1, 2])),
        Row("fail", {}, answer('{"a": {"y": 2}}'), case({"a": {"x": 1}})),
        Row("fail", {}, answer('{"a": 1}'), case(["a"])),
        Row("fail", {"path": "x"}, answer("[1]"), case([1])),
        Row("na", {}, answer("[1]"), case([])),
        Row("na", {}, answer("[1]"), case()),
        Row("uncertain", {}, NOTHING_SEEN, case([1])),
        Row("error", {"path": None}, IDLE, case([1])),
    ],
    "expect.subset": [
        Row("pass", {}, answer("[2, 2]"), case([1, 2])),
        Row("pass", {}, answer("[]"), case([])),
        Row("pass", {"ignore_case": True}, answer('["A"]'), case(["a"])),
        Row("fail", {}, answer("[2, 3]"), case([1, 2])),
        Row("fail", {}, answer("[1]"), case([])),
        Row("fail", {}, answer("[true]"), case([1])),
        Row("fail", {}, answer('{"a": 1}'), case(["a"])),
        Row("fail", {"path": "x"}, answer("[1]"), case([1])),
        Row("na", {}, answer("[1]"), case()),
        Row("uncertain", {}, NOTHING_SEEN, case([1])),
        Row("error", {}, answer("[1]"), case({"a": 1})),
    ],
    "expect.keyword_recall": [
        Row("pass", {}, IDLE, case({"keywords": ["TICKET", "leave"]})),
        Row("pass", {"at_least": 0.5}, IDLE, case({"keywords": ["ticket", "refund"]})),
        Row("pass", {"expected": "k"}, IDLE, case({"k": "ticket"})),
        Row("fail", {}, IDLE, case({"keywords": ["ticket", "refund"]})),
        Row("fail", {"ignore_case": False}, IDLE, case({"keywords": ["TICKET"]})),
        Row("fail", {"path": "x"}, IDLE, case({"keywords": ["ticket"]})),
        Row("na", {}, IDLE, case({"keywords": []})),
        Row("na", {}, IDLE, case({})),
        Row("uncertain", {}, NOTHING_SEEN, case({"keywords": ["a"]})),
        Row("error", {"at_least": 2.0}, IDLE, case({"keywords": ["a"]})),
        Row("error", {}, IDLE, case({"keywords": {"a": 1}})),
    ],
    "expect.near": [
        Row("pass", {"relative": 0.01}, answer("100.9"), case(100)),
        Row("pass", {"absolute": 1}, answer("99"), case(100)),
        Row("pass", {}, answer("100.0"), case(100)),
        Row("fail", {"relative": 0.01}, answer("101.1"), case(100)),
        Row("fail", {"absolute": 1}, answer("about 100"), case(100)),
        Row("fail", {"absolute": 1, "path": "n"}, answer({"n": True}), case(1)),
        Row("fail", {"absolute": 1, "path": "n"}, answer({"n": "1"}), case(1)),
        Row("na", {}, answer("1"), case()),
        Row("uncertain", {}, NOTHING_SEEN, case(1)),
        Row("error", {"absolute": -1}, answer("1"), case(1)),
        Row("error", {}, answer("1"), case("one")),
        Row("error", {}, answer("1"), case(True)),
        # A table (CSV) has texts alone.
        Row("pass", {"absolute": 1}, answer("99"), case("100")),
        Row("fail", {"absolute": 1}, answer("98.5"), case("100.0")),
        Row("error", {}, answer("1"), case("true")),
        Row("error", {}, answer("1"), case("NaN")),
    ],
    "expect.actions": [
        Row("pass", {"outbound": ["update-ticket"]}, IDLE, case({"actionCalls": []})),
        Row("pass", {"outbound": ["search"]}, IDLE, case({"hostActions": []})),
        Row(
            "pass",
            {"outbound": ["update-ticket"]},
            WORK,
            case({"actionCalls": ["update-ticket"]}),
        ),
        Row(
            "pass",
            {"outbound": ["act"], "operations": {"act": ["update.ticket"]}},
            WORK,
            case({"actionCalls": [{"action": "act", "arguments": {"id": 7}}]}),
        ),
        Row(
            "fail",
            {"outbound": ["update-ticket"]},
            WORK,
            case({"actionCalls": [{"tool": "update-ticket", "args": {"id": 8}}]}),
        ),
        Row("fail", {"outbound": ["update-ticket"]}, WORK, case({"actionCalls": []})),
        Row(
            "fail",
            {"outbound": ["update-ticket"]},
            IDLE,
            case({"actionCalls": ["update-ticket"]}),
        ),
        Row(
            "fail",
            {"outbound": ["update-ticket"]},
            WORK,
            case({"actionCalls": ["update-ticket", "update-ticket"]}),
        ),
        Row(
            "fail",
            {"outbound": ["act"], "operations": {"act": ["update.ticket", "close"]}},
            WORK,
            case({"actionCalls": [{"action": "act", "operation": "close"}]}),
        ),
        Row("na", {"outbound": ["a"]}, WORK, case({"actionCalls": ["Do the thing"]})),
        Row("na", {"outbound": ["a"]}, WORK, case({"actionCalls": "none at all"})),
        Row("na", {"outbound": ["a"]}, WORK, case({"response": "x"})),
        Row("na", {"outbound": ["a"]}, WORK, case()),
        Row("uncertain", {"outbound": ["a"]}, ONLY_OUTPUT, case({"actionCalls": []})),
        Row("error", {"outbound": "a"}, WORK, case({"actionCalls": []})),
    ],
    "expect.path": [
        Row(
            "pass",
            {"nodes": NODES},
            PATH,
            case({"path": ["intake", "retrieve", "stopped"]}),
        ),
        Row("fail", {"nodes": NODES}, PATH, case({"path": ["intake", "stopped"]})),
        Row(
            "fail",
            {"nodes": NODES},
            PATH,
            case({"path": ["intake", "retrieve", "stopped", "page"]}),
        ),
        Row("na", {"nodes": NODES}, PATH, case({"path": []})),
        Row("na", {"nodes": NODES}, PATH, case({"path": "in then out"})),
        Row("na", {"nodes": NODES}, PATH, case()),
        Row("uncertain", {"nodes": NODES}, ONLY_OUTPUT, case({"path": ["intake"]})),
        Row("uncertain", {"nodes": NODES}, IDLE, case({"path": ["intake"]})),
        Row("error", {"nodes": [1]}, PATH, case({"path": ["intake"]})),
    ],
    "expect.outputs": [
        Row(
            "pass",
            {"nodes": NODES},
            PATH,
            case(
                {
                    "nodeOutputs": [
                        {"nodeRef": "intake", "output": {"valid": True}},
                        {"nodeRef": "retrieve", "output": {"complete": False}},
                        {"nodeRef": "stopped", "output": "It stops and says why."},
                    ]
                }
            ),
        ),
        Row(
            "fail",
            {"nodes": NODES},
            PATH,
            case({"nodeOutputs": [{"nodeRef": "intake", "output": {"valid": 1}}]}),
        ),
        Row(
            "fail",
            {"nodes": NODES},
            PATH,
            case({"workflowNodeOutputs": [{"nodeRef": "page", "output": "paged"}]}),
        ),
        Row(
            "na",
            {"nodes": NODES},
            PATH,
            case({"nodeOutputs": [{"nodeRef": "intake", "output": "All is well."}]}),
        ),
        Row("na", {"nodes": NODES}, PATH, case({"nodeOutputs": []})),
        Row("na", {"nodes": NODES}, PATH, case()),
        Row(
            "uncertain",
            {"nodes": NODES},
            PATH,
            case({"nodeOutputs": [{"nodeRef": "stopped", "output": "stopped"}]}),
        ),
        Row(
            "uncertain",
            {"nodes": NODES},
            PATH,
            case({"memberOutputs": [{"memberRef": "pager", "output": "quiet"}]}),
        ),
        Row(
            "uncertain",
            {"nodes": NODES},
            ONLY_OUTPUT,
            case({"nodeOutputs": [{"nodeRef": "intake", "output": "ok"}]}),
        ),
        Row("error", {"nodes": None}, PATH, case({"nodeOutputs": []})),
    ],
    # -- lists --------------------------------------------------------------------
    "lists.every": [
        Row(
            "pass", {"path": "steps", "condition": {"field": "id", "regex": "."}}, STEPS
        ),
        Row(
            "pass",
            {
                "path": "steps",
                "where": {"field": "app", "equals": "Sheets"},
                "condition": {"field": "cost", "at_least": 2, "at_most": 2},
            },
            STEPS,
        ),
        Row(
            "pass",
            {"path": "steps.*.needs", "condition": {"one_of": ["a", "z"]}},
            STEPS,
        ),
        Row(
            "fail",
            {"path": "steps", "condition": {"field": "cost", "at_least": 2}},
            STEPS,
        ),
        Row(
            "fail",
            {"path": "steps", "condition": {"field": "needs", "present": True}},
            STEPS,
        ),
        Row("fail", {"path": "word", "condition": {"present": True}}, STEPS),
        Row("fail", {"path": "nowhere", "condition": {"present": True}}, STEPS),
        Row("na", {"path": "empty", "condition": {"present": True}}, STEPS),
        Row("uncertain", {"condition": {"present": True}}, NOTHING_SEEN),
        Row("error", {"path": "steps", "condition": {}}, STEPS),
        Row("error", {"path": "steps", "condition": {"matches": "x"}}, STEPS),
        Row("error", {"path": "steps", "condition": {"regex": "("}}, STEPS),
    ],
    "lists.some": [
        Row(
            "pass",
            {"path": "steps", "condition": {"field": "needs", "contains": "z"}},
            STEPS,
        ),
        Row(
            "fail",
            {"path": "steps", "condition": {"field": "id", "equals": "q"}},
            STEPS,
        ),
        Row("fail", {"path": "empty", "condition": {"present": True}}, STEPS),
        Row("fail", {"path": "nowhere", "condition": {"present": True}}, STEPS),
        Row("uncertain", {"condition": {"present": True}}, NOTHING_SEEN),
        Row("error", {"condition": {"at_most": math.inf}}, STEPS),
    ],
    "lists.none": [
        Row(
            "pass",
            {"path": "steps", "condition": {"field": "id", "equals": "q"}},
            STEPS,
        ),
        Row("pass", {"path": "empty", "condition": {"present": True}}, STEPS),
        Row(
            "na",
            {
                "path": "steps",
                "condition": {"field": "id", "equals": "a"},
                "where": {"field": "ap", "equals": "Slack"},
            },
            STEPS,
        ),
        Row(
            "fail",
            {"path": "steps", "condition": {"field": "ask", "not": {"present": False}}},
            STEPS,
        ),
        Row("fail", {"path": "mispelt", "condition": {"present": True}}, STEPS),
        Row("uncertain", {"condition": {"present": True}}, NOTHING_SEEN),
        Row("error", {"condition": {"one_of": []}}, STEPS),
    ],
    "lists.count": [
        Row("pass", {"path": "steps", "at_least": 3, "at_most": 3}, STEPS),
        Row(
            "pass",
            {
                "path": "steps",
                "condition": {"field": "app", "equals": "SHEETS", "ignore_case": True},
                "at_most": 2,
            },
            STEPS,
        ),
        Row("pass", {"path": "empty", "at_most": 0}, STEPS),
        Row("fail", {"path": "steps", "at_most": 2}, STEPS),
        Row("fail", {"path": "nowhere", "at_most": 2}, STEPS),
        Row("uncertain", {"at_most": 2}, NOTHING_SEEN),
        Row("error", {"at_least": 3, "at_most": 2}, STEPS),
    ],
    "lists.unique": [
        Row("pass", {"path": "steps", "field": "id"}, STEPS),
        Row("pass", {"path": "l"}, answer({"l": [1, True, "1", "a", "A", [1], None]})),
        Row("fail", {"path": "steps", "field": "app"}, STEPS),
        Row("fail", {"path": "l"}, answer({"l": [1, 1.0]})),
        Row("fail", {"path": "l"}, answer({"l": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]})),
        Row("fail", {"path": "l", "ignore_case": True}, answer({"l": ["a", "A"]})),
        Row("fail", {"path": "nowhere"}, STEPS),
        Row("na", {"path": "empty"}, STEPS),
        Row("na", {"path": "steps", "field": "nothing"}, STEPS),
        Row("uncertain", {}, NOTHING_SEEN),
        Row("error", {"where": {"equal": 1}}, STEPS),
    ],
    "lists.ordered": [
        Row("pass", {"path": "steps", "field": "cost"}, STEPS),
        Row(
            "pass", {"path": "l", "direction": "descending"}, answer({"l": [3, 2.5, 2]})
        ),
        Row("pass", {"path": "l"}, answer({"l": ["2024-01-01", "2024-02-01"]})),
        Row("fail", {"path": "l"}, answer({"l": [3, 2]})),
        Row("fail", {"path": "l"}, answer({"l": [1, "2"]})),
        Row("fail", {"path": "l"}, answer({"l": [False, True]})),
        Row("fail", {"path": "nowhere"}, STEPS),
        Row("na", {"path": "empty"}, STEPS),
        Row("uncertain", {}, NOTHING_SEEN),
        Row("error", {"direction": "up"}, STEPS),
    ],
    # -- tools --------------------------------------------------------------------
    "tools.called": [
        Row("pass", {"name": "search"}, WORK),
        Row("pass", {"name": "update-ticket"}, WORK),
        Row("pass", {"name": "UpdateTicket"}, WORK),
        Row("pass", {"name": "functions.search", "at_most": 1}, WORK),
        Row("fail", {"name": "refund"}, WORK),
        Row("fail", {"name": "fetch", "at_most": 1}, RETRY),
        Row("fail", {"name": "search"}, IDLE),
        Row("uncertain", {"name": "search"}, ONLY_OUTPUT),
        Row("error", {"name": "search", "at_least": 2, "at_most": 1}, WORK),
        Row("error", {"name": "search", "at_least": -1}, WORK),
    ],
    "tools.not_called": [
        Row("pass", {"name": "refund"}, WORK),
        Row("pass", {"name": "refund"}, IDLE),
        Row("fail", {"name": "ticket.update"}, run(call("ticket_update"), said("x"))),
        Row("fail", {"name": "update-ticket"}, WORK),
        Row("uncertain", {"name": "refund"}, ONLY_OUTPUT),
        Row("error", {"name": ["refund"]}, WORK),
    ],
    "tools.any_called": [
        Row("pass", {"names": ["refund", "search"]}, WORK),
        Row("fail", {"names": ["refund", "pay"]}, WORK),
        Row("uncertain", {"names": ["refund"]}, ONLY_OUTPUT),
        Row("error", {"names": []}, WORK),
    ],
    "tools.none_called": [
        Row("pass", {"names": ["refund", "pay"]}, WORK),
        Row("fail", {"names": ["refund", "search"]}, WORK),
        Row("uncertain", {"names": ["refund"]}, ONLY_OUTPUT),
        Row("error", {"names": []}, WORK),
    ],
    "tools.count": [
        Row("pass", {"at_most": 2}, WORK),
        Row("pass", {"at_most": 0}, IDLE),
        Row("pass", {"names": ["search"], "at_least": 1, "at_most": 1}, WORK),
        Row("fail", {"at_most": 1}, WORK),
        Row("fail", {"names": ["pay"], "at_least": 1}, WORK),
        Row("uncertain", {"at_most": 1}, ONLY_OUTPUT),
        Row("error", {"at_most": -1}, WORK),
    ],
    "tools.only_declared": [
        Row("pass", {"declared": ["search", "update-ticket"]}, WORK),
        Row("pass", {"declared": []}, IDLE),
        Row("fail", {"declared": ["search"]}, WORK),
        Row("uncertain", {"declared": ["search"]}, ONLY_OUTPUT),
        Row("error", {"declared": "search"}, WORK),
    ],
    "tools.no_repeats": [
        Row("pass", {}, WORK),
        Row("pass", {"at_most": 2}, RETRY),
        Row("pass", {"names": ["search"]}, RETRY),
        Row("fail", {}, RETRY),
        Row("uncertain", {}, ONLY_OUTPUT),
        Row("error", {"at_most": "1"}, WORK),
    ],
    "tools.order": [
        Row("pass", {"names": ["search", "update-ticket"]}, WORK),
        Row("fail", {"names": ["update-ticket", "search"]}, WORK),
        Row("fail", {"names": ["search", "search"]}, WORK),
        Row("uncertain", {"names": ["search"]}, ONLY_OUTPUT),
        Row("error", {"names": []}, WORK),
    ],
    "tools.before": [
        Row("pass", {"first": "search", "then": "update-ticket"}, WORK),
        Row("pass", {"first": "search", "then": "refund"}, WORK),
        Row("fail", {"first": "update-ticket", "then": "search"}, WORK),
        Row(
            "fail",
            {"first": "a", "then": "b"},
            run(call("a", result="no", error=True), call("b"), said("x")),
        ),
        Row("uncertain", {"first": "a", "then": "b"}, ONLY_OUTPUT),
        Row("error", {"first": 1, "then": "b"}, WORK),
    ],
    "tools.arguments": [
        Row(
            "pass",
            {"name": "search", "condition": {"field": "q", "contains": "fun"}},
            WORK,
        ),
        Row(
            "pass",
            {
                "name": "update-ticket",
                "condition": {"json_schema": {"required": ["id", "route"]}},
            },
            WORK,
        ),
        Row(
            "pass",
            {"name": "fetch", "condition": {"field": "url", "equals": "u"}},
            run(call("fetch", '{"url": "u"}'), said("x")),
        ),
        Row(
            "fail",
            {"name": "search", "condition": {"field": "q", "equals": "pay"}},
            WORK,
        ),
        Row(
            "fail",
            {"name": "pay", "condition": {"present": True}, "calls": "some"},
            WORK,
        ),
        Row("na", {"name": "pay", "condition": {"present": True}}, WORK),
        Row("uncertain", {"name": "pay", "condition": {"present": True}}, ONLY_OUTPUT),
        Row("error", {"name": "pay", "condition": {"json_schema": {"x": 1}}}, WORK),
    ],
    "tools.results": [
        Row(
            "pass",
            {"name": "search", "condition": {"field": "hits.0.id", "equals": "doc-1"}},
            WORK,
        ),
        Row(
            "pass",
            {"name": "fetch", "condition": {"equals": "page"}, "calls": "some"},
            RETRY,
        ),
        Row("fail", {"name": "fetch", "condition": {"equals": "page"}}, RETRY),
        Row(
            "uncertain",
            {"name": "fetch", "condition": {"not": {"contains": "error"}}},
            run(call("fetch", {}, None), said("x")),
        ),
        Row("na", {"name": "pay", "condition": {"present": True}}, WORK),
        Row("uncertain", {"name": "pay", "condition": {"present": True}}, ONLY_OUTPUT),
        Row("error", {"name": "pay", "condition": "present"}, WORK),
    ],
    "tools.no_errors": [
        Row("pass", {}, WORK),
        Row("pass", {"at_most": 1}, RETRY),
        Row("pass", {"names": ["search"]}, RETRY),
        Row("fail", {}, RETRY),
        Row("fail", {"pattern": "doc-\\d"}, WORK),
        Row("uncertain", {}, ONLY_OUTPUT),
        Row("error", {"pattern": "*"}, WORK),
    ],
    "tools.recovered": [
        Row("pass", {}, RETRY),
        Row("pass", {"by": "any-tool"}, RETRY),
        Row("fail", {}, STUCK),
        Row("na", {}, WORK),
        Row("na", {"names": ["search"]}, STUCK),
        Row("uncertain", {}, ONLY_OUTPUT),
        Row("error", {"by": "hope"}, WORK),
    ],
    "tools.approved": [
        Row("pass", APPROVED, IDLE),
        Row("pass", APPROVED, run(asked("Approved."), update(), said("x"))),
        Row("pass", APPROVED, run(asked({"approved": True}), update(), said("x"))),
        Row("pass", APPROVED, run(node("request-approval"), update(), said("x"))),
        Row(
            "pass",
            APPROVED | {"same_fields": ["id", "to.queue"]},
            run(
                asked("yes", {"id": 7, "to": {"queue": "b"}, "note": "n"}),
                update({"id": 7, "to": {"queue": "b"}}),
                said("x"),
            ),
        ),
        Row(
            "pass",
            APPROVED | {"covers": "later-calls"},
            run(asked("yes"), update(id="1"), update(id="2"), said("x")),
        ),
        Row(
            "pass",
            APPROVED | {"granted": {"field": "code", "equals": 1}},
            run(asked({"code": 1}), update(), said("x")),
        ),
        Row("fail", APPROVED, run(update(), said("x"))),
        Row("fail", APPROVED, run(update(), asked("yes"), said("x"))),
        Row("fail", APPROVED, run(asked("rejected"), update(), said("x"))),
        Row("fail", APPROVED, run(asked({"status": "Denied"}), update(), said("x"))),
        Row("fail", APPROVED, run(asked(False), update(), said("x"))),
        Row(
            "fail",
            APPROVED,
            run(asked({"approved": True, "status": "pending"}), update(), said("x")),
        ),
        Row(
            "fail",
            APPROVED,
            run(asked("yes"), update(id="1"), update(id="2"), said("x")),
        ),
        Row(
            "fail",
            APPROVED,
            run(asked("yes", id="1"), asked("no", id="2"), update(), said("x")),
        ),
        Row(
            "fail",
            APPROVED | {"same_fields": ["id"]},
            run(asked("yes", {"id": 7}), update({"id": 8}), said("x")),
        ),
        Row(
            "fail",
            APPROVED | {"same_fields": ["id"]},
            run(asked("yes", {}), update({}), said("x")),
        ),
        Row(
            "fail",
            APPROVED | {"granted": {"field": "code", "equals": 1}},
            run(asked({"code": 2}), update(), said("x")),
        ),
        Row("fail", APPROVED, run(asked(None), update(), said("x"))),
        Row("uncertain", APPROVED, run(asked("see ticket"), update(), said("x"))),
        Row("uncertain", APPROVED, run(asked({"status": "ok"}), update(), said("x"))),
        Row("uncertain", APPROVED, run(asked({"result": True}), update(), said("x"))),
        Row("fail", APPROVED, run(asked({"result": False}), update(), said("x"))),
        Row("uncertain", APPROVED, ONLY_OUTPUT),
        Row("error", APPROVED | {"granted": {"equal": 1}}, WORK),
        Row("error", APPROVED | {"actions": []}, WORK),
    ],
    # -- references ---------------------------------------------------------------
    "references.retrieved": [
        Row("pass", {"pattern": r"\[([a-z]+-\d+)\]"}, WORK),
        Row("pass", {"pattern": r"doc-\d+", "known": "hits.*.id"}, WORK),
        Row(
            "pass",
            {"cited": "sources.*.id"},
            run(
                Span(id="r", name="kb", kind="retrieval", output=[{"id": "d1"}]),
                said({"sources": [{"id": "d1"}]}),
            ),
        ),
        Row("fail", {"pattern": r"\d"}, WORK),
        Row("fail", {"pattern": r"doc-\d+", "tools": ["update-ticket"]}, WORK),
        Row(
            "fail",
            {"pattern": r"doc-\d+"},
            run(call("search", {}, "doc-12"), said("See doc-1.")),
        ),
        Row("fail", {"pattern": r"doc-\d+"}, answer("See doc-1.")),
        Row("fail", {"pattern": r"\[x\]", "at_least": 1}, WORK),
        Row("na", {"pattern": r"\[x\]"}, WORK),
        Row("na", {"pattern": r"\[x\]"}, NO_ANSWER),
        Row("uncertain", {"pattern": "x"}, ONLY_OUTPUT),
        Row("error", {}, WORK),
        Row("error", {"pattern": "x", "cited": "y"}, WORK),
        Row("error", {"pattern": "("}, WORK),
    ],
    "references.in_case": [
        Row("pass", {"pattern": r"doc-\d"}, WORK, case(given={"docs": ["doc-1"]})),
        Row("pass", {"pattern": r"doc-\d"}, WORK, case(query="Read doc-1.")),
        Row("fail", {"pattern": r"doc-\d"}, WORK, case(given={"docs": ["doc-10"]})),
        Row("na", {"pattern": r"\[x\]"}, WORK),
        Row("uncertain", {"pattern": "x"}, NOTHING_SEEN),
        Row("error", {"cited": None}, WORK),
    ],
    "references.resolved": [
        Row(
            "pass",
            {"cited": "l.*.needs", "known": "l.*.id"},
            answer({"l": [{"id": 1, "needs": [1]}]}),
        ),
        Row("fail", {"cited": "steps.*.needs.*", "known": "steps.*.id"}, STEPS),
        Row("na", {"cited": "empty", "known": "steps.*.id"}, STEPS),
        Row("uncertain", {"cited": "a", "known": "b"}, NOTHING_SEEN),
        Row("error", {"cited": "a", "known": None}, STEPS),
    ],
    # -- numbers ------------------------------------------------------------------
    "numbers.steps": [
        Row("pass", {"at_most": 3}, WORK),
        Row("fail", {"at_most": 2}, WORK),
        Row("uncertain", {"at_most": 9}, ONLY_OUTPUT),
        Row("error", {"at_most": 1.5}, WORK),
    ],
    "numbers.tokens": [
        Row("pass", {"at_most": 10}, answer("x", tokens={"total": 10})),
        Row("fail", {"at_most": 9}, answer("x", tokens={"total": 10})),
        Row("uncertain", {"at_most": 9}, IDLE),
        Row("error", {"at_least": 9, "at_most": 1}, IDLE),
    ],
    "numbers.cost": [
        Row("pass", {"at_most": 0.5}, answer("x", cost_usd=0.5)),
        Row("fail", {"at_most": 0.4}, answer("x", cost_usd=0.5)),
        Row("uncertain", {"at_most": 0.4}, IDLE),
        Row("uncertain", {"at_most": 0.4}, answer("x", cost_usd=math.nan)),
        Row("error", {"at_most": math.nan}, IDLE),
    ],
    "numbers.latency": [
        Row("pass", {"at_most": 100}, answer("x", latency_ms=100)),
        Row("pass", {"at_most": 100}, answer("x", computed={"durationMs": 99.5})),
        Row("fail", {"at_most": 99}, answer("x", latency_ms=100)),
        Row("uncertain", {"at_most": 99}, IDLE),
        Row("error", {"at_most": True}, IDLE),
    ],
    "numbers.score": [
        Row("pass", {"name": "s"}, answer("x", scores=({"name": "s", "value": 0},))),
        Row(
            "pass",
            {"name": "fit", "at_least": 0.9},
            answer("x", ext={"eval": {"results": [{"verifier": {"fit": 0.95}}]}}),
        ),
        Row(
            "fail",
            {"name": "s", "at_least": 0.9},
            answer("x", scores=({"name": "s", "value": 0.5},)),
        ),
        Row(
            "uncertain",
            {"name": "s"},
            answer("x", scores=({"name": "s", "value": math.inf},)),
        ),
        Row(
            "uncertain",
            {"name": "s"},
            answer("x", scores=({"name": "s", "value": True},)),
        ),
        Row(
            "uncertain",
            {"name": "s"},
            answer("x", scores=({"name": "s", "value": 1}, {"name": "s", "value": 2})),
        ),
        Row("uncertain", {"name": "s"}, IDLE),
        Row("error", {"name": "s", "at_least": 2, "at_most": 1}, IDLE),
    ],
    "numbers.in_range": [
        Row("pass", {"path": "route.score", "at_most": 1}, ROUTE),
        Row("pass", {"at_least": 42}, answer(" 42 ")),
        Row("fail", {"path": "route.score", "at_least": 1}, ROUTE),
        Row("fail", {"path": "route.ok"}, ROUTE),
        Row("fail", {"path": "n"}, answer({"n": math.nan})),
        Row("fail", {"path": "n"}, answer({"n": "42"})),
        Row("fail", {}, answer("Infinity")),
        Row("fail", {"path": "nowhere"}, ROUTE),
        Row("uncertain", {}, NOTHING_SEEN),
        Row("error", {"at_least": "1"}, ROUTE),
    ],
    # -- workflow -----------------------------------------------------------------
    "workflow.equals": [
        Row("pass", {"path": ["intake", "retrieve", "stopped"], "nodes": NODES}, PATH),
        Row("fail", {"path": ["intake", "stopped"], "nodes": NODES}, PATH),
        Row("uncertain", {"path": ["intake"], "nodes": NODES}, ONLY_OUTPUT),
        Row("uncertain", {"path": ["intake"], "nodes": NODES}, IDLE),
        Row("error", {"path": [], "nodes": NODES}, PATH),
    ],
    "workflow.visits": [
        Row("pass", {"path": ["intake", "stopped"], "nodes": NODES}, PATH),
        Row("fail", {"path": ["stopped", "intake"], "nodes": NODES}, PATH),
        Row("fail", {"path": ["page"], "nodes": NODES}, PATH),
        Row("uncertain", {"path": ["intake"], "nodes": NODES}, ONLY_OUTPUT),
        Row("error", {"path": [], "nodes": NODES}, PATH),
    ],
    "workflow.ends_at": [
        Row("pass", {"ends": ["page", "stopped"], "nodes": NODES}, PATH),
        Row("fail", {"ends": ["page"], "nodes": NODES}, PATH),
        Row("uncertain", {"ends": ["page"], "nodes": NODES}, ONLY_OUTPUT),
        Row("error", {"ends": [], "nodes": NODES}, PATH),
    ],
    "workflow.never_visits": [
        Row("pass", {"avoided": ["page"], "nodes": NODES}, PATH),
        Row("fail", {"avoided": ["page", "retrieve"], "nodes": NODES}, PATH),
        Row("uncertain", {"avoided": ["page"], "nodes": NODES}, IDLE),
        Row("uncertain", {"avoided": ["page"], "nodes": NODES}, ONLY_OUTPUT),
        Row("error", {"avoided": [], "nodes": NODES}, PATH),
    ],
    "workflow.visit_count": [
        Row("pass", {"node": "intake", "nodes": NODES, "at_most": 1}, PATH),
        Row("pass", {"node": "page", "nodes": NODES, "at_most": 0}, PATH),
        Row("fail", {"node": "page", "nodes": NODES, "at_least": 1}, PATH),
        Row(
            "fail",
            {"node": "intake", "nodes": NODES, "at_most": 1},
            run(node("intake", id="1"), node("intake", id="2"), said("x")),
        ),
        Row(
            "pass",
            {"node": "intake", "nodes": NODES, "at_most": 1},
            run(node("intake", id="1"), node("intake", id="2", parent="1"), said("x")),
        ),
        Row("uncertain", {"node": "page", "nodes": NODES, "at_most": 1}, IDLE),
        Row("uncertain", {"node": "page", "nodes": NODES, "at_most": 1}, ONLY_OUTPUT),
        Row(
            "error", {"node": "page", "nodes": NODES, "at_least": 2, "at_most": 1}, PATH
        ),
    ],
    "workflow.follows_edges": [
        Row("pass", {"workflow": WORKFLOW}, PATH),
        Row(
            "pass",
            {"workflow": WORKFLOW},
            run(
                node("intake", id="1"),
                node("retrieve", id="2"),
                node("intake", id="3"),
                node("retrieve", id="4"),
                node("page", id="5"),
                said("x"),
            ),
        ),
        Row(
            "fail",
            {"workflow": WORKFLOW},
            run(
                node("intake", id="1"),
                node("retrieve", id="2"),
                node("intake", id="3"),
                node("retrieve", id="4"),
                node("intake", id="5"),
                node("retrieve", id="6"),
                node("page", id="7"),
                said("x"),
            ),
        ),
        Row(
            "fail", {"workflow": WORKFLOW}, run(node("intake"), node("page"), said("x"))
        ),
        Row("fail", {"workflow": WORKFLOW}, run(node("retrieve"), said("x"))),
        Row("fail", {"workflow": WORKFLOW}, run(node("intake"), said("x"))),
        Row("na", {"workflow": {}}, PATH),
        Row("uncertain", {"workflow": WORKFLOW}, IDLE),
        Row("uncertain", {"workflow": WORKFLOW}, ONLY_OUTPUT),
        Row("error", {"workflow": {"nodes": []}}, PATH),
    ],
    "workflow.node_output": [
        Row(
            "pass",
            {
                "node": "retrieve",
                "nodes": NODES,
                "condition": {"field": "complete", "equals": False},
            },
            PATH,
        ),
        Row(
            "fail",
            {"node": "intake", "nodes": NODES, "condition": {"contains": "wrong"}},
            PATH,
        ),
        Row(
            "na",
            {"node": "page", "nodes": NODES, "condition": {"present": True}},
            PATH,
        ),
        Row(
            "uncertain",
            {"node": "stopped", "nodes": NODES, "condition": {"present": True}},
            PATH,
        ),
        Row(
            "uncertain",
            {"node": "page", "nodes": NODES, "condition": {"present": True}},
            ONLY_OUTPUT,
        ),
        Row("error", {"node": "page", "nodes": NODES, "condition": {"is": 1}}, PATH),
    ],
    # -- facts --------------------------------------------------------------------
    "facts.workflow_resolves": [
        Row("pass", {"workflow": WORKFLOW}, NOTHING_SEEN),
        Row("fail", {"workflow": changed(entry="start")}, IDLE),
        Row("fail", {"workflow": changed(contexts=[])}, IDLE),
        Row("fail", {"workflow": changed(actions=[])}, IDLE),
        Row("fail", {"workflow": with_node(3, id="page")}, IDLE),
        Row("fail", {"workflow": with_node(0, edges=[{"to": "nowhere"}])}, IDLE),
        Row(
            "fail",
            {"workflow": with_node(3, executor={"kind": "member", "ref": "nobody"})},
            IDLE,
        ),
        Row("fail", {"workflow": with_node(3, edges=[{"to": "intake"}])}, IDLE),
        Row(
            "fail",
            {
                "workflow": {
                    "entry": "a",
                    "nodes": [{"id": "a", "edges": [{"to": "a"}]}],
                }
            },
            IDLE,
        ),
        Row("na", {"workflow": {}}, IDLE),
        Row("error", {"workflow": {"entry": "a", "nodes": [{}]}}, IDLE),
    ],
    "facts.nodes_reachable": [
        Row("pass", {"workflow": WORKFLOW}, IDLE),
        Row("fail", {"workflow": with_node(0, edges=[])}, IDLE),
        Row("na", {"workflow": {}}, IDLE),
        Row("error", {"workflow": {"entry": "a"}}, IDLE),
    ],
    "facts.loops_bounded": [
        Row("pass", {"workflow": WORKFLOW}, IDLE),
        Row(
            "pass",
            {
                "workflow": with_node(
                    3, edges=[{"to": "intake", "loop": {"exitWhen": "x"}}]
                )
            },
            IDLE,
        ),
        Row("fail", {"workflow": with_node(3, edges=[{"to": "intake"}])}, IDLE),
        Row(
            "fail",
            {
                "workflow": with_node(
                    3, edges=[{"to": "intake", "loop": {"maxIterations": 0}}]
                )
            },
            IDLE,
        ),
        Row("na", {"workflow": {}}, IDLE),
        Row("error", {"workflow": []}, IDLE),
    ],
    "facts.approval_gated": [
        Row("pass", {"workflow": WORKFLOW}, IDLE),
        Row("pass", {"workflow": WORKFLOW, "gates": ["APPROVED"]}, IDLE),
        Row("fail", {"workflow": WORKFLOW, "gates": ["signed"]}, IDLE),
        Row("fail", {"workflow": with_node(1, edges=[{"to": "page"}])}, IDLE),
        Row(
            "fail",
            {
                "workflow": with_node(0, executor={"kind": "member", "ref": "pager"}),
                "holders": {"page-on-call": ["pager"]},
            },
            IDLE,
        ),
        Row("na", {"workflow": with_node(2, executor=None)}, IDLE),
        Row("na", {"workflow": WORKFLOW, "actions": ["refund"]}, IDLE),
        Row("na", {"workflow": {}}, IDLE),
        Row("error", {"workflow": WORKFLOW, "gates": "approved"}, IDLE),
    ],
    "facts.single_holders": [
        Row("pass", {"holders": {"publish": ["publisher"], "read": []}}, IDLE),
        Row("fail", {"holders": {"publish": ["publisher", "researcher"]}}, IDLE),
        Row("na", {"holders": {}}, IDLE),
        Row("na", {"holders": {"publish": []}}, IDLE),
        Row("error", {"holders": {"publish": "publisher"}}, IDLE),
    ],
    "facts.held_only_by": [
        Row(
            "pass",
            {"action": "p", "members": ["a", "b"], "holders": {"p": ["a"]}},
            IDLE,
        ),
        Row(
            "fail",
            {"action": "p", "members": ["a"], "holders": {"p": ["a", "b"]}},
            IDLE,
        ),
        Row("fail", {"action": "q", "members": ["a"], "holders": {"p": ["a"]}}, IDLE),
        Row("error", {"action": "p", "members": "a", "holders": {}}, IDLE),
    ],
    "facts.observers_never_dispatch": [
        Row("pass", {"observers": ["w"], "dispatch": {"c": ["r"], "w": []}}, IDLE),
        Row("fail", {"observers": ["w"], "dispatch": {"w": ["r"]}}, IDLE),
        Row("fail", {"observers": ["w"], "dispatch": {"c": ["w"]}}, IDLE),
        Row(
            "fail",
            {
                "observers": ["pager"],
                "dispatch": {},
                "workflow": with_node(3, executor={"kind": "member", "ref": "pager"}),
            },
            IDLE,
        ),
        Row("na", {"observers": [], "dispatch": {"c": ["r"]}}, IDLE),
        Row("error", {"observers": ["w"], "dispatch": ["c"]}, IDLE),
    ],
}


def rows() -> Iterator[Any]:
    for name, table in TABLE.items():
        for number, row in enumerate(table):
            yield pytest.param(name, row, id=f"{name}-{number}-{row.result}")


ROWS = list(rows())


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_a_primitive_gives_the_right_result(name: str, row: Row) -> None:
    verdict = decide(name, row)
    assert verdict.result == row.result, verdict.critique


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_a_verdict_says_why_and_an_abstention_says_to_whom(name: str, row: Row) -> None:
    verdict = decide(name, row)
    assert verdict.critique.rstrip().endswith((".", "…"))
    assert (verdict.blocked_by is not None) == (verdict.result == "uncertain")
    assert verdict.refs or verdict.result != "fail", "a fail without any evidence"


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_every_ref_resolves_again(name: str, row: Row) -> None:
    verdict = decide(name, row)
    criterion = Criterion(judge=Judge("c", "s", "p", "f"))
    subject = Subject(id="s", name="s", version="1", kind="agent", purpose="p")
    place = Ground(
        criterion=criterion,
        case=row.case,
        trace=row.trace,
        evidence=evidence_of(row.trace),
        subject=subject,
    )
    for ref in verdict.refs:
        assert ref.value
        if ref.obs == "spec":
            found = lookup(row.arguments, ref.path)
            assert found is not MISSING
            assert ref.value in text_of(found) or ref.value == ref.path.split(".")[-1]
        elif len(ref.value) > 2:
            # Shorter ones stand by chance: from a judge they would not count.
            assert resolves(ref, place), ref


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("output.regex", {"pattern": ""}),
        ("output.regex", {"pattern": ".*"}),
        ("output.regex", {"pattern": "(x|)"}),
        ("output.json_schema", {"schema": {}}),
        ("output.json_schema", {"schema": True}),
        ("output.json_schema", {"schema": {"title": "A route"}}),
        ("output.contains", {"texts": []}),
        ("output.contains", {"texts": [""]}),
        ("output.one_of", {"values": []}),
        ("output.length", {}),
        ("output.length", {"at_least": 0}),
        ("tools.count", {}),
        ("tools.count", {"at_least": 0}),
        ("tools.none_called", {"names": []}),
        ("lists.count", {}),
        ("lists.every", {"path": "a", "condition": {"contains": ""}}),
        ("lists.every", {"path": "a", "condition": {"regex": ""}}),
        ("numbers.steps", {}),
        ("numbers.tokens", {}),
        ("numbers.cost", {"at_least": 0}),
        ("numbers.latency", {}),
        ("workflow.visit_count", {"node": "a", "nodes": ["a"]}),
        ("flow.matches", {"edges": []}),
        ("flow.handoff", {"to": "a", "values": []}),
        ("ui.rendered", {"slots": [], "source": "a"}),
        ("ui.rendered", {"slots": ["a"]}),
        ("ui.faithful", {"slots": {"a": ":"}, "source": "a"}),
        ("ui.no_orphan", {"places": [], "source": "a"}),
    ],
)
def test_a_check_that_nothing_can_fail_is_refused_and_never_passes(
    name: str, arguments: dict[str, Any]
) -> None:
    row = Row("error", arguments, ROUTE)
    assert decide(name, row).result == "error"
    assert argument_faults({name: arguments})


def test_no_primitive_is_missing_from_the_table() -> None:
    primitives = {n for n in catalog() if not n.startswith("combine.")}
    assert set(TABLE) == primitives


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_a_primitive_shows_each_result_it_can_give(name: str) -> None:
    shown = {row.result for row in TABLE[name]}
    needed = {"pass", "fail", "error"}
    if not name.startswith("facts."):
        needed.add("uncertain")
    assert needed <= shown
    says_na = "`na`" in catalog()[name].doc
    assert says_na == ("na" in shown)
