"""Small runs and cases for the tests of check primitives."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from helix_runtime.case import Case
from helix_runtime.trace import Span, Trace
from helix_runtime.verdict import Verdict


def case(expected: Any = None, *, given: Any = None, query: str = "Route it.") -> Case:
    """Return a case that expects something, or nothing."""
    return Case(
        id="c-1",
        query=query,
        dimensions={"scenario": "routing"},
        input=given,
        expected=expected,
    )


def said(output: Any) -> Span:
    """Return the span of an answer."""
    return Span(id="answer", name="assistant", role="assistant", output=output)


def call(
    name: str,
    arguments: Any = None,
    result: Any = "ok",
    *,
    id: str = "",
    error: bool = False,
) -> tuple[Span, ...]:
    """Return the spans of a call and of its result; `result=None` leaves it open."""
    key = id or name
    made = Span(
        id=f"call-{key}",
        name=name,
        kind="tool",
        role="tool",
        input=arguments,
        tool_call_id=key,
    )
    if result is None:
        return (made,)
    back = Span(
        id=f"result-{key}",
        name="tool_result",
        kind="tool",
        role="toolResult",
        output=result,
        status="error" if error else "ok",
        tool_call_id=key,
    )
    return (made, back)


def node(name: str, output: Any = None, *, id: str = "", parent: str = "") -> Span:
    """Return the span of a workflow's node."""
    return Span(
        id=id or f"node-{name}", name=name, output=output, parent_id=parent or None
    )


def run(*parts: Span | tuple[Span, ...], **fields: Any) -> Trace:
    """Return a trace of spans and of calls, which are several spans each."""
    spans: list[Span] = []
    for part in parts:
        spans += [part] if isinstance(part, Span) else part
    return Trace(id="t-1", spans=tuple(spans), **fields)


def answer(output: Any, **fields: Any) -> Trace:
    """Return a run that only answers, and of which everything was observed."""
    return run(said(output), **fields)


NOTHING_SEEN = run(said("Done."), observed=frozenset())
ONLY_OUTPUT = run(said("Done."), observed=frozenset(("output",)))


NO_EXPECTATION = case()


class Row(NamedTuple):
    """One line of a table: a primitive on one case and run, and the right result."""

    result: str
    arguments: Mapping[str, Any]
    trace: Trace
    case: Case = NO_EXPECTATION


def primitive(name: str) -> Callable[..., Verdict]:
    """Return the primitive of a name such as `output.present`."""
    module, _, function = name.partition(".")
    found = getattr(importlib.import_module(f"helix_runtime.checks.{module}"), function)
    assert callable(found)
    checked: Callable[..., Verdict] = found
    return checked


def decide(name: str, row: Row) -> Verdict:
    """Return what a primitive says of a row."""
    return primitive(name)(row.case, row.trace, **row.arguments)
