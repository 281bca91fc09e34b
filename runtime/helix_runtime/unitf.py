"""UniTF, the reference format of traces: records to traces and back.

Files of them are read by `formats`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .record import field, like, record, replace
from .span_record import bounded, doubts_of, read_span
from .trace import MAX_COUNT, Span, Status, Trace

UNITF_VERSION: Final = "0.1"
MAX_NAMED_FAULTS: Final = 20

_STATUSES: Final[tuple[Status, ...]] = ("ok", "error", "unknown")
TOOLS: Final = "tools"
_EVERYTHING: Final = frozenset(("output", "tools", "path"))

_TRACE_KEYS: Final = frozenset(
    (
        "unitf_version",
        "traceId",
        "sessionId",
        "agentName",
        "sourcePlatform",
        "status",
        "startTime",
        "latencyMs",
        "costUsd",
        "tags",
        "scores",
        "tokens",
        "spans",
        "computed",
        "ext",
    )
)


@record(frozen=False)
class ReadCount:
    """What a reader met: traces read, blank lines, and the lines it had to skip.

    `faults` names the first skipped lines, `FILE:LINE: why`; `formats` counts the files
    of each format, `left_out` the records that are no part of a run, by their kind.
    `doubted` counts traces that may have made calls which could not be read; `doubts`
    names the first, `TRACE: what`.
    """

    traces: int = 0
    blank: int = 0
    skipped: int = 0
    faults: list[str] = field(default_factory=list)
    doubted: int = 0
    doubts: list[str] = field(default_factory=list)
    formats: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def found(self, format: str) -> None:
        """Count a file of that format."""
        self.formats[format] = self.formats.get(format, 0) + 1

    def told_formats(self) -> str:
        """Return the formats of the files as ` (langfuse, otel)`; nothing for UniTF."""
        others = [name for name in self.formats if name != "unitf"]
        return f" ({', '.join(self.formats)})" if others else ""

    def leave_out(self, kind: str) -> None:
        """Count a record of a kind that is no part of a run; it is no fault."""
        kind = kind[:60]
        if kind in self.left_out or len(self.left_out) < MAX_NAMED_FAULTS:
            self.left_out[kind] = self.left_out.get(kind, 0) + 1

    def look_at(self, trace: Trace) -> None:
        """Count a trace with spans that could not be read."""
        unread = unread_of(trace)
        if not unread:
            return
        self.doubted += 1
        if len(self.doubts) < MAX_NAMED_FAULTS:
            self.doubts.append(f"{trace.id}: {'; '.join(unread)}")

    def skip(self, place: str, why: str) -> None:
        """Count a skipped line and name it, up to MAX_NAMED_FAULTS."""
        self.skipped += 1
        if len(self.faults) < MAX_NAMED_FAULTS:
            self.faults.append(f"{place}: {why}")


def trace_from_record(record: Any) -> Trace:
    """Return the trace of one UniTF record; what is unknown is kept in `extra`.

    Kinds and roles read as `span_record` says, unknown statuses as `unknown`; all stay
    in `extra` as they were. Where a call of a tool may be lost the trace does not
    observe tool calls (`doubted`). Raises ValueError where it is no trace at all.
    """
    if not isinstance(record, dict):
        raise ValueError("a trace is a JSON object")
    trace_id = record.get("traceId")
    if not isinstance(trace_id, str) or not trace_id:
        raise ValueError("no `traceId`: not a UniTF trace")
    spans = record.get("spans", [])
    if not isinstance(spans, list):
        raise ValueError("`spans` must be a list")
    ext = _mapping(record.get("ext")) or {}
    observed = _EVERYTHING
    helix = ext.get("helix")
    if isinstance(helix, dict) and isinstance(helix.get("observed"), list):
        observed = frozenset(str(name) for name in helix["observed"])
        ext = {key: value for key, value in ext.items() if key != "helix"}
        rest = {key: value for key, value in helix.items() if key != "observed"}
        if rest:
            ext["helix"] = rest
    extra = {key: value for key, value in record.items() if key not in _TRACE_KEYS}
    status = record.get("status", "unknown")
    if status not in _STATUSES:
        extra["status"] = status
        status = "unknown"
    tags = record.get("tags")
    scores = record.get("scores")
    doubts: list[str] = []
    read = (read_span(span, index, doubts) for index, span in enumerate(spans))
    trace = Trace(
        id=trace_id,
        spans=tuple(span for span in read if span is not None),
        status=status,
        session_id=_text(record.get("sessionId")),
        agent_name=_text(record.get("agentName")),
        source=_text(record.get("sourcePlatform")) or "unknown",
        start=_text(record.get("startTime")),
        latency_ms=_number(record.get("latencyMs")),
        cost_usd=_number(record.get("costUsd")),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        scores=(
            tuple(score for score in scores if isinstance(score, dict))
            if isinstance(scores, list)
            else ()
        ),
        tokens=_mapping(record.get("tokens")),
        computed=_mapping(record.get("computed")),
        ext=ext,
        extra=extra,
        observed=observed,
    )
    return doubted(trace, doubts)


def doubted(trace: Trace, doubts: Sequence[str] = ()) -> Trace:
    """Return a trace that does not observe tool calls where one may have been lost.

    `doubts` are what was met on the way; what the trace itself says is added. They
    stand in `ext.helix.unread`.
    """
    if TOOLS not in trace.observed:
        return trace
    found = [*doubts, *doubts_of(trace)]
    if not found:
        return trace
    helix = trace.ext.get("helix")
    helix = {**helix} if isinstance(helix, dict) else {}
    helix["unread"] = bounded(found)
    return replace(
        trace,
        ext={**trace.ext, "helix": helix},
        observed=trace.observed - {TOOLS},
    )


def unread_of(trace: Trace) -> list[str]:
    """Return what of a trace could not be read and may have been a call of a tool."""
    helix = trace.ext.get("helix")
    found = helix.get("unread") if isinstance(helix, dict) else None
    return [str(one) for one in found] if isinstance(found, list) else []


def trace_to_record(trace: Trace) -> dict[str, Any]:
    """Return the UniTF record of a trace; reading it again gives an equal trace."""
    record: dict[str, Any] = {"unitf_version": UNITF_VERSION, "traceId": trace.id}
    if trace.session_id is not None:
        record["sessionId"] = trace.session_id
    if trace.agent_name is not None:
        record["agentName"] = trace.agent_name
    record["sourcePlatform"] = trace.source
    record["status"] = trace.status
    if trace.start is not None:
        record["startTime"] = trace.start
    if trace.latency_ms is not None:
        record["latencyMs"] = trace.latency_ms
    if trace.cost_usd is not None:
        record["costUsd"] = trace.cost_usd
    if trace.tags:
        record["tags"] = list(trace.tags)
    if trace.scores:
        record["scores"] = [dict(score) for score in trace.scores]
    if trace.tokens is not None:
        record["tokens"] = dict(trace.tokens)
    record["spans"] = [_span_record(span) for span in trace.spans]
    if trace.computed is not None:
        record["computed"] = dict(trace.computed)
    ext = dict(trace.ext)
    if trace.observed != _EVERYTHING:
        held = ext.get("helix")
        helix = dict(held) if isinstance(held, Mapping) else {}
        helix.pop("observed", None)  # at the end, where reading it again puts it
        helix["observed"] = sorted(trace.observed)
        ext["helix"] = helix
    if ext:
        record["ext"] = ext
    record.update(trace.extra)
    return record


def _span_record(span: Span) -> dict[str, Any]:
    record: dict[str, Any] = {"spanId": span.id}
    if span.parent_id is not None:
        record["parentSpanId"] = span.parent_id
    record["name"] = span.name
    record["kind"] = span.kind
    if span.role is not None:
        record["role"] = span.role
    record["status"] = span.status
    if span.tool_name is not None:
        record["toolName"] = span.tool_name
    if span.tool_call_id is not None:
        record["toolCallId"] = span.tool_call_id
    if span.start is not None:
        record["startTime"] = span.start
    if span.end is not None:
        record["endTime"] = span.end
    if span.input is not None:
        record["input"] = span.input
    if span.output is not None:
        record["output"] = span.output
    if span.tokens is not None:
        record["tokens"] = dict(span.tokens)
    record.update(span.extra)
    return record


def trace_of_answer(
    *, trace_id: str, query: str, output: Any, error: str | None = None
) -> Trace:
    """Return the trace of a target that returned only its answer.

    The trace observes the output alone, so a check on tools is uncertain. With
    `error`, the subject failed: there is no answer, and the error stands on the
    trace (`ext.helix.error`).
    """
    asked = like(_ASKED, input=query)
    if error is not None:
        ext = {"helix": {"error": error}}
        return like(_ANSWER_ONLY, id=trace_id, spans=(asked,), status="error", ext=ext)
    if output is None:
        return like(_ANSWER_ONLY, id=trace_id, spans=(asked,))
    answered = like(_ANSWERED, output=output)
    trace = like(_ANSWER_ONLY, id=trace_id, spans=(asked, answered))
    if output.__class__ is str and not output.isspace() and output:
        # What the views of such a trace would come to, where they keep it.
        own = vars(trace)
        own.update(answer=output, incomplete=None)
        own[TEXTS] = trace.spans
    return trace


TEXTS: Final = "spans_of_texts"
"""Where a trace keeps its spans that are known to be one question and one answer, both
texts: who writes it down, or watches it, need not look at them again."""


# Made for each case of a run: copies of these, not calls of their constructors.
_ASKED: Final = Span(id="user", name="user", kind="event", role="user")
_ANSWERED: Final = Span(id="answer", name="assistant", kind="agent", role="assistant")
_ANSWER_ONLY: Final = Trace(id="", observed=frozenset(("output",)))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # NaN and infinities, which lenient JSON lets through, measure nothing; neither
    # does what nobody can have paid or waited.
    return value if 0 <= value < MAX_COUNT else None


def _mapping(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
