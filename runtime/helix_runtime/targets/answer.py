"""What a target gave back, as a trace: text, data, tool calls, or a trace of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ..canonical import dump_line
from ..case import Case
from ..folder import blame, said_by
from ..record import replace
from ..trace import Span, Trace, as_text
from ..unitf import trace_from_record, trace_of_answer, trace_to_record

_CALL_KEYS: Final = frozenset(("name", "arguments", "result", "error", "id"))


def trace_of(value: Any, case: Case, *, trace_id: str) -> Trace:
    """Return the trace of what a target returned; a fault of it is on the trace.

    `value` is a Trace, a text, or JSON data; an object with `output` and
    `tool_calls` is the answer with its calls.
    """
    if value.__class__ is str:
        return trace_of_answer(trace_id=trace_id, query=case.query, output=value)
    if isinstance(value, Trace):
        return _own_trace(value, case, trace_id)
    if isinstance(value, Mapping) and "tool_calls" in value and "output" in value:
        return _with_calls(value, case, trace_id)
    if value is None:
        return failure("the target returned nothing", case, trace_id=trace_id)
    value, fault = as_plain(value)
    if fault is not None:
        return failure(f"the target returned {fault}", case, trace_id=trace_id)
    return trace_of_answer(trace_id=trace_id, query=case.query, output=value)


def failure(
    message: str, case: Case, *, trace_id: str, raised: BaseException | None = None
) -> Trace:
    """Return the trace of a subject that failed; with what it `raised`, if it did."""
    trace = trace_of_answer(
        trace_id=trace_id, query=case.query, output=None, error=message
    )
    if raised is None:
        return trace
    from ..failures import traceback_of

    helix = {**trace.ext["helix"], "traceback": traceback_of(raised)}
    return replace(trace, ext={**trace.ext, "helix": helix})


def not_data(value: Any) -> str | None:
    """Return why `value` is not JSON data, or None where it is."""
    return None if value.__class__ is str else as_plain(value)[1]


def as_plain(value: Any) -> tuple[Any, str | None]:
    """Return JSON data as plain Python, or why it is none.

    It is written and read again: what is kept is a copy that nobody else holds, and
    no class of a stranger's, whose methods may do anything, is in it.
    """
    kind = type(value).__name__
    try:
        return json.loads(dump_line(value)), None
    except (TypeError, ValueError) as error:
        return None, f"what is not JSON data ({kind}: {said_by(error)})"
    except RecursionError:
        return None, "data that is nested too deeply"
    except Exception as error:
        return None, f"what can't be read ({kind}: {blame(error)})"


def _own_trace(trace: Trace, case: Case, trace_id: str) -> Trace:
    """Take the trace over under its deterministic id."""
    taken = checked(trace)
    if isinstance(taken, str):
        return failure(f"the target returned {taken}", case, trace_id=trace_id)
    return replace(taken, id=trace_id)


def checked(trace: Trace) -> Trace | str:
    """Return a trace that a target built by hand, or what is wrong with it.

    It is read back from its record: a wrong role or data that is no JSON shows now,
    not in a check.
    """
    try:
        record, fault = as_plain(trace_to_record(trace))
        if fault is None:
            return trace_from_record(record)
    except (TypeError, ValueError, AttributeError) as error:
        fault = f"what can't be read ({error})"
    return f"a trace of {fault}"


def _with_calls(value: Mapping[str, Any], case: Case, trace_id: str) -> Trace:
    value, fault = as_plain(dict(value))
    fault = fault or fault_of_calls(value["tool_calls"])
    if fault is not None:
        return failure(f"the target returned {fault}", case, trace_id=trace_id)
    spans = [Span(id="user", name="user", kind="event", role="user", input=case.query)]
    for index, call in enumerate(value["tool_calls"]):
        call_id = str(call.get("id") or f"call-{index}")
        error = call.get("error")
        arguments, result = call.get("arguments"), call.get("result")
        spans.append(
            Span(
                id=f"call-{index}",
                name=call["name"],
                kind="tool",
                role="tool",
                input=arguments,
                tool_name=call["name"],
                tool_call_id=call_id,
            )
        )
        if error or "result" in call:
            spans.append(
                Span(
                    id=f"result-{index}",
                    name=call["name"],
                    kind="tool",
                    role="toolResult",
                    status="error" if error else "ok",
                    output=result if result is not None else error,
                    tool_name=call["name"],
                    tool_call_id=call_id,
                )
            )
    output = value["output"]
    if as_text(output) is not None:
        spans.append(
            Span(
                id="answer",
                name="assistant",
                kind="agent",
                role="assistant",
                output=output,
            )
        )
    return Trace(
        id=trace_id, spans=tuple(spans), observed=frozenset(("output", "tools"))
    )


def fault_of_calls(calls: Any) -> str | None:
    """Return what is wrong with a target's `tool_calls`, or None."""
    if not isinstance(calls, (list, tuple)):
        return "`tool_calls` that are no list"
    for index, call in enumerate(calls):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            return f"`tool_calls[{index}]` without a name"
        unknown = sorted(str(key) for key in call if key not in _CALL_KEYS)
        if unknown:
            return f"`tool_calls[{index}]` with unknown keys: {', '.join(unknown)}"
    return None
