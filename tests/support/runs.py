"""Small runs of an invented help desk, for tests of judges and packets."""

from collections.abc import Sequence
from typing import Any

from helix_runtime.case import Case
from helix_runtime.criterion import Criterion, Judge, check
from helix_runtime.suite import Subject, Suite, Tool
from helix_runtime.trace import Span, Trace
from helix_runtime.verdict import Verdict, passed, uncertain

SUBJECT = Subject(
    id="help-desk",
    name="Help desk",
    version="1.0.0",
    kind="agent",
    purpose="Answers questions about orders.",
    scope=["orders"],
    tools=[
        Tool("orders.find", "Looks an order up.", "none"),
        Tool("orders.refund", "Refunds an order.", "irreversible-external", True),
    ],
    system_prompt="You help customers with their orders.",
)


def judged(
    criterion_id: str = "cites-order",
    *,
    inputs: Sequence[str] = (),
    source: Any = "spec",
) -> Criterion:
    return Criterion(
        judge=Judge(
            criterion_id,
            "The answer cites the order that was found.",
            pass_when="The answer names the number of the order.",
            fail_when="The answer names no order, or another one.",
            goal="Always",
            inputs=inputs,
        ),
        source=source,
    )


@check("has-answer", "The run ends with an answer.")
def has_answer(case: Case, trace: Trace) -> Verdict:
    return passed("there is an answer")


@check("polite", "The answer is polite.")
def polite(case: Case, trace: Trace) -> Verdict:
    return uncertain("code can't tell")


HYBRID = Criterion(
    check=polite,
    judge=Judge("polite", "The answer is polite.", "It is.", "It is not."),
)
CODE = Criterion(check=has_answer)


def suite(*criteria: Criterion) -> Suite:
    return Suite(
        subject=SUBJECT,
        criteria=criteria or (judged(), HYBRID, CODE),
        engine="code-written",
        spec_sha256="0" * 64,
        generator="tests",
    )


def case(case_id: str = "case-1", **changes: Any) -> Case:
    values: dict[str, Any] = {
        "id": case_id,
        "query": "Where is my order 4711?",
        "dimensions": {"topic": "orders"},
    }
    return Case(**{**values, **changes})


def trace(
    trace_id: str = "trace-1", *, answer: str | None = None, **changes: Any
) -> Trace:
    """A run that looks an order up, then answers."""
    spans = [
        Span(id="s1", name="user", kind="event", role="user", input="Where is 4711?"),
        Span(
            id="s2",
            name="orders.find",
            kind="tool",
            role="tool",
            input={"number": 4711},
            tool_call_id="call-1",
        ),
        Span(
            id="s3",
            name="orders.find",
            kind="tool",
            role="toolResult",
            output={"orders": [{"id": "4711", "state": "sent\non Monday"}]},
            tool_call_id="call-1",
        ),
        Span(
            id="s4",
            name="assistant",
            kind="llm",
            role="assistant",
            output="Order 4711 was sent on Monday." if answer is None else answer,
        ),
    ]
    return Trace(id=trace_id, **{"spans": tuple(spans), **changes})
