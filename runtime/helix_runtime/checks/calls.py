"""The tool calls of a trace: which bear a name, where they stand, how to cite them."""

from collections.abc import Sequence

from ..trace import ToolCall, Trace
from ..verdict import Ref, Verdict, uncertain
from .names import Names
from .paths import ref, shown


def calls_of(trace: Trace, names: Sequence[str]) -> list[ToolCall]:
    """Return the calls that bear one of `names`, in trace order."""
    known = Names(names)
    return [call for call in trace.tool_calls if known.find(call.name) is not None]


def unknown_arguments(calls: Sequence[ToolCall]) -> Verdict | None:
    """Return the abstention where it is not recorded what a tool was called with."""
    unknown = next((call for call in calls if not call.known), None)
    if unknown is None:
        return None
    return uncertain(
        f"Only the result of a call of {shown(unknown.name)} is recorded, and not what "
        "it was called with.",
        text="record the call itself in the trace, not only its result",
    )


def is_open(call: ToolCall) -> bool:
    """Whether what came of a call was not recorded: it may have gone well or not."""
    return not call.answered and not call.error


def unknown_result(calls: Sequence[ToolCall]) -> Verdict:
    """Return the abstention where the result of the first of some calls is needed."""
    return uncertain(
        f"The result of call {calls[0].index} of {shown(calls[0].name)} is not recorded.",
        call_ref(calls[0]),
        text="record the results of calls in the trace",
    )


def unread(call: ToolCall, part: str, note: str) -> Verdict:
    """Return the abstention where what a call was given, or gave, can't be read."""
    return uncertain(
        f"The {part} of call {call.index} of {shown(call.name)} can't be read{note}.",
        result_ref(call) if part == "result" else call_ref(call),
        text=f"record the whole {part} in the trace",
    )


def call_ref(call: ToolCall) -> Ref:
    """Return the citation of a call: its arguments, or its name where it has none."""
    if not call.known:
        return result_ref(call)
    if call.arguments is None:
        return Ref(call.span_id, "name", call.name)
    return ref(call.span_id, "input", call.arguments)


def result_ref(call: ToolCall) -> Ref:
    """Return the citation of a call's result, or of its status where it has none."""
    span_id = call.result_span_id or call.span_id
    if call.result is None:
        return Ref(span_id, "status", "error" if call.error else "ok")
    return ref(span_id, "output", call.result)
