"""UniTF, the reference format of traces: JSON Lines, one trace a line, gzip too."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, cast

from .trace import Kind, Role, Span, Status, Trace, as_text

UNITF_VERSION: Final = "0.1"
MAX_NAMED_FAULTS: Final = 20

_KINDS: Final[tuple[Kind, ...]] = (
    "llm",
    "tool",
    "retrieval",
    "agent",
    "event",
    "span",
)
_ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system", "tool", "toolResult")
_STATUSES: Final[tuple[Status, ...]] = ("ok", "error", "unknown")
_EVERYTHING: Final = frozenset(("output", "tools", "path"))

_SPAN_KEYS: Final = frozenset(
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


@dataclass
class ReadCount:
    """What a reader met: traces read, blank lines, and the lines it had to skip.

    `faults` names the first skipped lines, `FILE:LINE: why`.
    """

    traces: int = 0
    blank: int = 0
    skipped: int = 0
    faults: list[str] = field(default_factory=list)

    def skip(self, place: str, why: str) -> None:
        """Count a skipped line and name it, up to MAX_NAMED_FAULTS."""
        self.skipped += 1
        if len(self.faults) < MAX_NAMED_FAULTS:
            self.faults.append(f"{place}: {why}")


def read_traces(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the traces of a `.jsonl` or `.jsonl.gz` file, in flat memory.

    Malformed lines, a torn last line and a damaged end of a gzip stream are skipped
    and counted in `count`, never hidden. Raises OSError where the file can't be read.
    """
    import json

    # Many producers write NaN, and 1e400 reads as infinity. Neither is JSON: such a
    # number is unknown, the trace is still a trace.
    loads = json.JSONDecoder(parse_constant=_unknown, parse_float=_finite).decode
    with _open(path) as lines:
        number = 0
        while True:
            number += 1
            try:
                line = lines.readline()
            except (EOFError, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                count.skip(f"{path.name}:{number}", f"damaged gzip stream: {error}")
                return
            except _zlib_error() as error:
                count.skip(f"{path.name}:{number}", f"damaged gzip stream: {error}")
                return
            if not line:
                return
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                count.blank += 1
                continue
            try:
                trace = trace_from_record(loads(line.decode("utf-8")))
            except (ValueError, RecursionError) as error:
                count.skip(f"{path.name}:{number}", str(error))
                continue
            count.traces += 1
            yield trace


def _open(path: Path) -> IO[bytes]:
    raw = path.open("rb")
    packed = raw.read(2) == b"\x1f\x8b"
    if not packed:
        raw.seek(0)
        return raw
    raw.close()
    import gzip

    return cast(IO[bytes], gzip.open(path, "rb"))


def _unknown(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if number - number == 0 else None


def _zlib_error() -> type[Exception]:
    import zlib

    return zlib.error


def trace_from_record(record: Any) -> Trace:
    """Return the trace of one UniTF record; what is unknown is kept in `extra`.

    Unknown kinds, roles and statuses read as `span`, none and `unknown`, and stay in
    `extra` as they were. Raises ValueError where it is no trace at all.
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
    return Trace(
        id=trace_id,
        spans=tuple(
            _span(span, index)
            for index, span in enumerate(spans)
            if isinstance(span, dict)
        ),
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


def _span(record: dict[str, Any], index: int) -> Span:
    extra = {key: value for key, value in record.items() if key not in _SPAN_KEYS}
    kind = record.get("kind", "span")
    if kind not in _KINDS:
        extra["kind"] = kind
        kind = "span"
    role = record.get("role")
    if role is not None and role not in _ROLES:
        extra["role"] = role
        role = None
    status = record.get("status", "ok")
    if status not in _STATUSES:
        extra["status"] = status
        status = "unknown"
    return Span(
        id=_text(record.get("spanId")) or f"span-{index}",
        name=_text(record.get("name")) or kind,
        kind=kind,
        role=role,
        status=status,
        parent_id=_text(record.get("parentSpanId")),
        start=_text(record.get("startTime")),
        end=_text(record.get("endTime")),
        input=record.get("input"),
        output=record.get("output"),
        tool_name=_text(record.get("toolName")),
        tool_call_id=_text(record.get("toolCallId")),
        tokens=_mapping(record.get("tokens")),
        extra=extra,
    )


def trace_to_record(trace: Trace) -> dict[str, Any]:
    """Return the UniTF record of a trace; reading it again gives an equal trace."""
    record: dict[str, Any] = {
        "unitf_version": UNITF_VERSION,
        "traceId": trace.id,
        "sessionId": trace.session_id,
        "agentName": trace.agent_name,
        "sourcePlatform": trace.source,
        "status": trace.status,
        "startTime": trace.start,
        "latencyMs": trace.latency_ms,
        "costUsd": trace.cost_usd,
        "tags": list(trace.tags) or None,
        "scores": [dict(score) for score in trace.scores] or None,
        "tokens": None if trace.tokens is None else dict(trace.tokens),
    }
    record = {key: value for key, value in record.items() if value is not None}
    record["spans"] = [_span_record(span) for span in trace.spans]
    if trace.computed is not None:
        record["computed"] = dict(trace.computed)
    ext = dict(trace.ext)
    if trace.observed != _EVERYTHING:
        helix = dict(ext.get("helix") or {})
        helix["observed"] = sorted(trace.observed)
        ext["helix"] = helix
    if ext:
        record["ext"] = ext
    record.update(trace.extra)
    return record


def _span_record(span: Span) -> dict[str, Any]:
    record: dict[str, Any] = {
        "spanId": span.id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "kind": span.kind,
        "role": span.role,
        "status": span.status,
        "toolName": span.tool_name,
        "toolCallId": span.tool_call_id,
        "startTime": span.start,
        "endTime": span.end,
        "input": span.input,
        "output": span.output,
        "tokens": None if span.tokens is None else dict(span.tokens),
    }
    record = {key: value for key, value in record.items() if value is not None}
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
    spans = [Span(id="user", name="user", kind="event", role="user", input=query)]
    if error is None:
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
        return Trace(id=trace_id, spans=tuple(spans), observed=frozenset(("output",)))
    return Trace(
        id=trace_id,
        spans=tuple(spans),
        status="error",
        observed=frozenset(("output",)),
        ext={"helix": {"error": error}},
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


def _mapping(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
