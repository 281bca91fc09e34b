"""OpenTelemetry: spans of OTLP JSON (a document or lines), and of OpenInference.

Which of the two conventions a span speaks is seen span by span: the containers are the
same, and instrumentations mix them in one trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..trace import Trace
from ..unitf import ReadCount
from . import genai, openinference
from .attributes import first, text
from .chat_parts import data_of
from .conversation import Observation, tell
from .span_files import read_groups
from .times import millis_between, span_of_times

_PREFIXES: Final = (
    "langfuse.trace.metadata.",
    "traceloop.association.properties.",
    "metadata.",
    "helix.",
)
_SHORT: Final = 1000
_LONG: Final = ("gen_ai.", "llm.", "input.", "output.", "ai.", "telemetry.", "logfire.")


def read(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the traces of a file of spans. Raises OSError."""
    for trace_id, spans in read_groups(path, count):
        trace = trace_of(trace_id, spans)
        if trace is None:
            continue  # log records of a trace whose spans lie elsewhere
        count.traces += 1
        yield trace


def trace_of(trace_id: str, records: Sequence[Mapping[str, Any]]) -> Trace | None:
    """Return the trace of its spans; log records join the spans they belong to."""
    spans = [record for record in records if "event" not in record]
    if not spans:
        return None
    by_id: dict[str, Any] = {}
    unique = []
    for index, span in enumerate(spans):
        span = {**span, "spanId": span.get("spanId") or f"span-{index}"}
        if span["spanId"] not in by_id:
            # An exporter that tries again sends a span twice.
            by_id[span["spanId"]] = span
            unique.append(span)
    for record in records:
        owner = by_id.get(str(record.get("spanId"))) if "event" in record else None
        if owner is not None:
            owner["events"] = [*(owner.get("events") or ()), record["event"]]
    observations = [_observation(span) for span in unique]
    told = tell(observations)
    times = [t for o in observations for t in (o.start, o.end) if t]
    start, end = span_of_times(times)
    roots = [s for s in unique if s.get("parentSpanId") not in by_id]
    flat = [openinference.flat(s["attributes"]) for s in (*roots, *unique)]
    metadata, tags = _metadata(flat)
    dialect = any(openinference.speaks(s["attributes"]) for s in unique)
    return Trace(
        id=trace_id,
        spans=told.spans,
        status=told.status,
        session_id=_named(flat, "session.id", "gen_ai.conversation.id", "thread.id"),
        agent_name=_named(flat, "gen_ai.agent.name", "agent_name", "agent.name")
        or next((text(s.get("service")) for s in unique if s.get("service")), None),
        source="openinference" if dialect else "otel",
        start=start,
        latency_ms=millis_between(start, end),
        cost_usd=told.cost,
        tokens=told.tokens,
        tags=tuple(tags),
        ext={"metadata": metadata} if metadata else {},
        observed=told.observed,
    )


def _observation(span: Mapping[str, Any]) -> Observation:
    if openinference.speaks(span["attributes"]):
        return openinference.observation_of(span)
    return genai.observation_of(span)


def _named(blocks: Sequence[Mapping[str, Any]], *keys: str) -> str | None:
    for block in blocks:
        found = text(first(block, *keys))
        if found is not None:
            return found
    return None


def _metadata(
    blocks: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, Any], list[str]]:
    """Return what the spans say of their trace beyond the conventions: root first."""
    metadata: dict[str, Any] = {}
    tags: list[str] = []
    for block in blocks:
        found = openinference.trace_parts(block)
        for tag in (*found["tags"], *_tags(block)):
            if tag not in tags:
                tags.append(tag)
        for key, value in found["metadata"].items():
            metadata.setdefault(str(key), value)
        for key, value in block.items():
            if key.startswith(_LONG) or not _is_short(value):
                continue
            for prefix in _PREFIXES:
                key = key.removeprefix(prefix)
            metadata.setdefault(key, value)
    return metadata, tags


def _tags(block: Mapping[str, Any]) -> list[str]:
    tags = data_of(first(block, "langfuse.trace.tags", "tags"))
    if not isinstance(tags, list):
        return []
    return [tag for tag in tags if isinstance(tag, str)]


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHORT
    return isinstance(value, (bool, int, float))
