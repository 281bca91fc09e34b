"""One span of a UniTF record: what may be a tool call is never lost on the way.

A check of the sort "it never calls X" passes where no call is seen. So whatever can be
read as a call is one (a kind `TOOL` or `tool_call`, the role `tool` on another kind, a
tool's name on a span of any kind), and what may have been one and can't be read is a
doubt: the trace does not observe tool calls then.
"""

from __future__ import annotations

from typing import Any, Final

from .asked_calls import unshown_calls
from .trace import Kind, Role, Span, Status, Trace

_KINDS: Final[dict[str, Kind]] = {
    "llm": "llm",
    "tool": "tool",
    "retrieval": "retrieval",
    "agent": "agent",
    "event": "event",
    "span": "span",
    "toolcall": "tool",
    "tooluse": "tool",
    "function": "tool",
    "functioncall": "tool",
}
_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "toolcall": "tool",
    "tooluse": "tool",
    "toolresult": "toolResult",
}
_STATUSES: Final[tuple[Status, ...]] = ("ok", "error", "unknown")
# Kinds that platforms have beside these, and that are no calls of tools.
_HARMLESS: Final = frozenset(
    (
        "chain",
        "chat",
        "client",
        "completion",
        "embedding",
        "evaluator",
        "generation",
        "guardrail",
        "handoff",
        "internal",
        "log",
        "message",
        "node",
        "prompt",
        "reasoning",
        "reranker",
        "root",
        "server",
        "session",
        "step",
        "task",
        "thinking",
        "turn",
        "workflow",
    )
)
_KEYS: Final = frozenset(
    (
        "spanId",
        "parentSpanId",
        "name",
        "kind",
        "role",
        "status",
        "startTime",
        "endTime",
        "input",
        "output",
        "toolName",
        "toolCallId",
        "tokens",
    )
)
_MAX_DOUBTS: Final = 5


def read_span(record: Any, index: int, doubts: list[str]) -> Span | None:
    """Return the span of a record; what is unknown of it is kept in `extra`.

    What may hide a call of a tool is added to `doubts`; None for what is no object.
    """
    if not isinstance(record, dict):
        doubts.append(f"span {index} is not an object")
        return None
    extra = {key: value for key, value in record.items() if key not in _KEYS}
    told_kind, told_role = record.get("kind", "span"), record.get("role")
    kind = _KINDS.get(_folded(told_kind))
    role = None if told_role is None else _ROLES.get(_folded(told_role))
    strange = _strange(told_kind, told_role, kind, role)
    tool = _text(record.get("toolName"))
    kind, role = _as_call(kind or "span", role, tool=tool)
    if told_kind != kind:
        # A kind that is left out is `span`: what it is read as must be written then.
        if "kind" in record:
            extra["kind"] = told_kind
    if told_role is not None and told_role != role:
        extra["role"] = told_role
    status = record.get("status", "ok")
    if status not in _STATUSES:
        extra["status"] = status
        status = "unknown"
    name = _text(record.get("name"))
    is_call = kind == "tool" and role in ("tool", None)
    if is_call and not tool and not name:
        doubts.append(f"span {index} is a call of a tool without a name")
    elif kind == "tool" and role not in ("tool", "toolResult", None):
        doubts.append(f"span {index} is of the kind tool and the role {role}")
    elif not is_call and role != "toolResult" and strange is not None:
        doubts.append(f"span {index} has {strange}")
    return Span(
        id=_text(record.get("spanId")) or f"span-{index}",
        name=name or kind,
        kind=kind,
        role=role,
        status=status,
        parent_id=_text(record.get("parentSpanId")),
        start=_text(record.get("startTime")),
        end=_text(record.get("endTime")),
        input=record.get("input"),
        output=record.get("output"),
        tool_name=tool,
        tool_call_id=_text(record.get("toolCallId")),
        tokens=_mapping(record.get("tokens")),
        extra=extra,
    )


def doubts_of(trace: Trace) -> list[str]:
    """Return what else says that a trace may have made calls that can't be seen."""
    found = []
    counted = (trace.computed or {}).get("toolCallCount")
    if (
        isinstance(counted, (int, float))
        and not isinstance(counted, bool)
        and counted > 0
        and not trace.tool_calls
    ):
        found.append(f"it counts {counted:.6g} tool calls and shows none")
    names = {call.name for call in trace.tool_calls}
    found += [
        f"span {span.id!r} names the tool {span.tool_name!r}, and no call does"
        for span in trace.spans
        if span.tool_name is not None
        and span.role in ("assistant", None)
        and span.tool_name not in names
    ]
    joined = {back for _, back in trace.call_positions}
    found += [
        f"the result {span.id!r} is of a call that can't be told"
        for at, span in enumerate(trace.spans)
        if span.role == "toolResult" and at not in joined
    ]
    return found + unshown_calls(trace)


def bounded(doubts: list[str]) -> list[str]:
    """Return the first doubts, and how many more there are."""
    more = len(doubts) - _MAX_DOUBTS
    return doubts[:_MAX_DOUBTS] + ([f"and {more} more"] if more > 0 else [])


def _as_call(kind: Kind, role: Role | None, *, tool: str | None) -> tuple[Kind, Any]:
    """Return kind and role, of what can be read as a call those of a call."""
    if role == "tool":
        return "tool", role
    if role == "toolResult":
        return kind, role
    if tool is not None and kind == "tool" and role == "assistant":
        return "tool", "tool"
    if tool is not None and kind in ("span", "event", "retrieval") and role is None:
        return "tool", role
    return kind, role


def _strange(
    told_kind: Any, told_role: Any, kind: Kind | None, role: Role | None
) -> str | None:
    """Return which of kind and role is unknown, where it could stand for a call."""
    if kind is None and role is None and _folded(told_kind) not in _HARMLESS:
        return f"the unknown kind {str(told_kind)[:60]!r}"
    if told_role is not None and role is None and kind not in ("llm", "agent"):
        return f"the unknown role {str(told_role)[:60]!r}"
    return None


def _folded(value: Any) -> str:
    if not isinstance(value, str):
        return "(no text)"
    return value.lower().replace("_", "").replace("-", "").replace(" ", "")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _mapping(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
