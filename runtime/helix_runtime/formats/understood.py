"""What was understood of a recorded trace, and what is missing from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..record import field, record
from ..trace import Trace, as_text

_EXCERPT: Final = 200


@record(kw_only=True)
class Understood:
    """What one trace tells: its turns by role, its calls, its measures, what lacks."""

    trace: Trace
    turns: Mapping[str, int]
    calls: int
    answered: int
    failed: int
    missing: tuple[str, ...]

    def to_record(self, *, case_id: str | None) -> dict[str, Any]:
        """Return it as plain data; `case_id` is the dataset's case, None without one."""
        trace, usage = self.trace, self.trace.usage
        return {
            "traceId": trace.id,
            "source": trace.source,
            "status": trace.status,
            "case": case_id,
            "prompt": _excerpt(trace.prompt),
            "answer": _excerpt(trace.answer),
            "turns": dict(self.turns),
            "toolCalls": {
                "total": self.calls,
                "answered": self.answered,
                "failed": self.failed,
            },
            "usage": {
                "inputTokens": usage.input_tokens,
                "outputTokens": usage.output_tokens,
                "totalTokens": usage.total_tokens,
                "costUsd": usage.cost_usd,
                "latencyMs": usage.latency_ms,
            },
            "observed": sorted(trace.observed),
            "scores": len(trace.scores),
            "tags": list(trace.tags),
            "missing": list(self.missing),
        }


def understand(trace: Trace) -> Understood:
    """Return what a trace tells and what it does not."""
    turns: dict[str, int] = {}
    for message in trace.transcript:
        turns[message.role] = turns.get(message.role, 0) + 1
    calls = trace.tool_calls
    answered = sum(1 for call in calls if call.answered)
    return Understood(
        trace=trace,
        turns=turns,
        calls=len(calls),
        answered=answered,
        failed=sum(1 for call in calls if call.error),
        missing=tuple(_missing(trace, len(calls) - answered)),
    )


def _missing(trace: Trace, open_calls: int) -> list[str]:
    missing = []
    if trace.incomplete is not None:
        missing.append(trace.incomplete)
    if trace.prompt is None:
        missing.append("no prompt")
    if "output" not in trace.observed:
        missing.append("output not recorded")
    elif trace.answer is None and trace.incomplete is None:
        missing.append("no answer")
    if "tools" not in trace.observed:
        missing.append("tool calls not recorded")
    if open_calls:
        missing.append(f"results of {open_calls} tool calls")
    if "path" not in trace.observed:
        missing.append("steps not recorded")
    usage = trace.usage
    if usage.total_tokens is None:
        missing.append("usage")
    if usage.latency_ms is None:
        missing.append("duration")
    return missing


def _excerpt(value: Any) -> str | None:
    text = as_text(value)
    if text is None or len(text) <= _EXCERPT:
        return text
    return text[: _EXCERPT - 1] + "…"


@record(frozen=False)
class Sum:
    """What many traces come to together; a figure is None where no trace tells it."""

    traces: int = 0
    turns: int = 0
    calls: int = 0
    answered: int = 0
    failed: int = 0
    tokens: int | None = None
    cost: float | None = None
    errors: int = 0
    missing: dict[str, int] = field(default_factory=dict)

    def add(self, one: Understood) -> None:
        """Count one trace in."""
        self.traces += 1
        self.turns += sum(one.turns.values())
        self.calls += one.calls
        self.answered += one.answered
        self.failed += one.failed
        self.errors += one.trace.status == "error"
        usage = one.trace.usage
        if usage.total_tokens is not None:
            self.tokens = (self.tokens or 0) + usage.total_tokens
        if usage.cost_usd is not None:
            self.cost = (self.cost or 0.0) + usage.cost_usd
        for what in one.missing:
            kind = _kind(what)
            self.missing[kind] = self.missing.get(kind, 0) + 1

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "traces": self.traces,
            "turns": self.turns,
            "toolCalls": {
                "total": self.calls,
                "answered": self.answered,
                "failed": self.failed,
            },
            "totalTokens": self.tokens,
            "costUsd": self.cost,
            "failedRuns": self.errors,
            "missing": dict(self.missing),
        }


def _kind(what: str) -> str:
    """Return what is missing without what is of one trace alone."""
    if what.startswith("results of "):
        return "results of tool calls"
    if what.startswith("the trace stops in a call"):
        return "the trace stops in a call"
    if what.startswith("the subject failed"):
        return "the subject failed before it answered"
    return what
