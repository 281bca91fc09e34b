"""Langfuse exports: a trace with its observations, or rows of observations.

Read are `{trace, observations}`, a trace of the API (`observations` inside it), lists
and pages (`{data: […]}`) and lines of these, and rows of observations alone, which are
gathered by their trace. `input`, `output` and `metadata` are often JSON in a text, at
times twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..canonical import fnv1a_64
from ..trace import Status, Trace, as_count
from ..unitf import ReadCount
from .attributes import tool_parts
from .chat import ChatMessage, messages_of
from .chat_parts import data_of
from .conversation import Kind, Observation, tell
from .group import Groups
from .source import read_records
from .times import iso_of, millis_between, span_of_times

_TYPES: Final = frozenset(
    (
        "GENERATION",
        "SPAN",
        "EVENT",
        "AGENT",
        "TOOL",
        "CHAIN",
        "RETRIEVER",
        "EVALUATOR",
        "EMBEDDING",
        "GUARDRAIL",
    )
)
_KINDS: Final[Mapping[str, Kind]] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "RETRIEVER": "retrieval",
    "EVENT": "event",
}
_NOT_METADATA: Final = frozenset(("resourceAttributes", "scope", "attributes"))
_SHORT: Final = 1000


def looks_like(record: Any) -> bool:
    """Whether one record of a file is Langfuse's."""
    if not isinstance(record, dict):
        return False
    if isinstance(record.get("observations"), list):
        return isinstance(record.get("trace"), dict) or (
            "id" in record and ("timestamp" in record or "projectId" in record)
        )
    return _is_row(record) or _is_bare(record)


def read(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the traces of a Langfuse export. Raises OSError."""
    with Groups() as groups:
        for value in read_records(path, count, lists=frozenset(("data", "traces"))):
            record = value.data
            if isinstance(record, dict) and isinstance(
                record.get("observations"), list
            ):
                inner = record.get("trace")
                trace = inner if isinstance(inner, dict) else record
                yield trace_of(trace, record["observations"], count, value.place)
                count.traces += 1
            elif _is_row(record):
                key = _first(record, "traceId", "trace_id") or "unknown"
                groups.add(str(key), record)
            elif _is_bare(record):
                yield trace_of(record, (), count, value.place)
                count.traces += 1
            elif isinstance(record, dict) and set(record) <= {"meta", "nextCursor"}:
                continue
            else:
                count.skip(value.place, "no Langfuse trace and no observation of one")
        for key, rows in groups.each():
            yield trace_of({"id": key}, rows, count, path.name)
            count.traces += 1


def _is_row(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and str(record.get("type")) in _TYPES
        and isinstance(_first(record, "traceId", "trace_id"), str)
    )


def _is_bare(record: Any) -> bool:
    """Whether it is a trace without its observations: what went in and came out."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("id"), str)
        and "timestamp" in record
        and any(key in record for key in ("projectId", "project_id", "htmlPath"))
        and any(key in record for key in ("input", "output"))
    )


def trace_of(
    trace: Mapping[str, Any], rows: Sequence[Any], count: ReadCount, place: str
) -> Trace:
    """Return the trace of one export; its rows may be in any order."""
    observations: list[Observation] = []
    for index, row in enumerate(rows):
        if isinstance(row, dict):
            observations.append(observation_of(row, index))
        elif not isinstance(row, str):  # a list of traces names them by their ids
            count.skip(place, f"observation {index} is no object")
    told = tell(
        observations,
        input=_unpacked(trace.get("input")),
        output=_unpacked(trace.get("output")),
    )
    ext = _ext(trace, rows)
    times = [t for o in observations for t in (o.start, o.end) if t]
    first, last = span_of_times(times)
    start = iso_of(trace.get("timestamp")) or first
    latency = _number(trace.get("latency"))
    cost = told.cost
    if cost is None:
        cost = _number(_first(trace, "totalCost", "total_cost")) or None
    return Trace(
        id=_trace_id(trace, rows),
        spans=told.spans,
        status=told.status,
        session_id=_word(trace, rows, "sessionId", "session_id"),
        agent_name=_text(trace.get("name"))
        or _word({}, rows, "traceName", "trace_name"),
        source="langfuse",
        start=start,
        latency_ms=(
            round(latency * 1000, 3)
            if latency is not None
            else millis_between(first, last)
        ),
        cost_usd=cost,
        tokens=told.tokens,
        tags=_tags(trace, rows),
        scores=tuple(_scores(trace)),
        ext=ext,
        observed=told.observed,
    )


def messages_in(
    row: Mapping[str, Any],
) -> tuple[tuple[ChatMessage, ...] | None, tuple[ChatMessage, ...] | None]:
    """Return the messages of one observation's input and output, None where none."""
    asked = messages_of(_unpacked(row.get("input")), role="user")
    replied = messages_of(_unpacked(row.get("output")), role="assistant")
    return asked, replied


def observation_of(row: Mapping[str, Any], index: int) -> Observation:
    """Return one row as an observation."""
    kind = _KINDS.get(str(row.get("type")), "step")
    name = _text(row.get("name")) or str(row.get("type") or "span").lower()
    metadata = _object(row.get("metadata"))
    attributes = _object(metadata.get("attributes"))
    given = _unpacked(row.get("input"))
    gave = _unpacked(row.get("output"))
    if kind == "step" and _is_tool(gave, attributes):
        kind = "tool"
    status: Status = "error" if row.get("level") == "ERROR" else "ok"
    extra: dict[str, Any] = {}
    for key, found in (
        ("model", _first(row, "model", "provided_model_name")),
        ("error", _first(row, "statusMessage", "status_message")),
    ):
        if isinstance(found, str) and found:
            extra[key] = found
    asked = replied = None
    tool_name = call_id = None
    if kind == "model":
        asked, replied = messages_in(row)
        if replied and not any(m.role == "assistant" for m in replied):
            replied = None
    elif kind == "tool":
        tool_name, call_id, given, gave, failed = _tool(name, given, gave, attributes)
        if failed:
            status = "error"
    return Observation(
        id=_text(row.get("id")) or f"observation-{index}",
        name=name,
        kind=kind,
        parent_id=_text(_first(row, "parentObservationId", "parent_observation_id")),
        start=iso_of(_first(row, "startTime", "start_time")),
        end=iso_of(_first(row, "endTime", "end_time")),
        status=status,
        asked=asked,
        replied=replied,
        input=given,
        output=None if kind == "model" and replied else gave,
        tool_name=tool_name,
        tool_call_id=call_id,
        tokens=_tokens(row),
        cost=_cost(row),
        extra=extra,
    )


def _is_tool(output: Any, attributes: Mapping[str, Any]) -> bool:
    """Whether a plain span is a tool's: LangChain's callback records them as spans."""
    if isinstance(output, dict) and output.get("type") == "tool":
        return isinstance(output.get("tool_call_id"), str)
    return attributes.get("gen_ai.operation.name") == "execute_tool"


def _tool(
    name: str, given: Any, gave: Any, attributes: Mapping[str, Any]
) -> tuple[str, str | None, Any, Any, bool]:
    tool, call, told_given, told_gave = tool_parts(attributes)
    given = told_given if _is_empty(given) and told_given is not None else given
    gave = told_gave if _is_empty(gave) and told_gave is not None else gave
    failed = False
    if isinstance(given, dict) and set(given) == {"input"}:
        given = data_of(given["input"])
    if isinstance(given, str):
        given = _literal(given)
    results = messages_of(gave, role="tool") if _is_enveloped(gave) else None
    if results and results[-1].results:
        result = results[-1].results[-1]
        call = call or result.id
        gave, failed = result.output, result.error
    elif isinstance(gave, dict) and set(gave) == {"content"}:
        inner = messages_of(gave["content"], role="tool")
        if inner and inner[-1].text is not None:
            gave = inner[-1].text
    return tool or name.removeprefix("execute_tool "), call, given, gave, failed


def _is_empty(value: Any) -> bool:
    return value is None or value == {} or value == "" or value == []


def _is_enveloped(gave: Any) -> bool:
    return isinstance(gave, dict) and (
        gave.get("type") in ("tool", "tool_result") or gave.get("role") == "tool"
    )


def _literal(text: str) -> Any:
    """Return what Python's own spelling of plain data means (`{'query': 'x'}`).

    LangChain's callback records a tool's input so. Only literals are read.
    """
    if text[:1] not in ("{", "[") or len(text) > 1_000_000:
        return text
    from ast import literal_eval

    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return value if _is_plain(value, 0) else text


def _is_plain(value: Any, depth: int) -> bool:
    if depth > 64:
        return False
    if isinstance(value, dict):
        return all(isinstance(k, str) for k in value) and all(
            _is_plain(inner, depth + 1) for inner in value.values()
        )
    if isinstance(value, list):
        return all(_is_plain(inner, depth + 1) for inner in value)
    return value is None or isinstance(value, (str, int, float, bool))


# -- measures ------------------------------------------------------------------------


def _tokens(row: Mapping[str, Any]) -> dict[str, Any] | None:
    usage = _object(_first(row, "usageDetails", "usage_details", "usage"))
    found = {
        ours: amount
        for ours, names in (
            ("input", ("input", "inputTokens", "promptTokens")),
            ("output", ("output", "outputTokens", "completionTokens")),
            ("total", ("total", "totalTokens")),
        )
        if (amount := as_count(_first(usage, *names))) is not None
    }
    for ours, theirs in (
        ("input", "inputUsage"),
        ("output", "outputUsage"),
        ("total", "totalUsage"),
    ):
        amount = as_count(row.get(theirs))
        if ours not in found and amount:
            found[ours] = amount
    cached = as_count(
        _first(
            usage,
            "input_cache_read",
            "input_cached_tokens",
            "prompt_details.cache_read",
        )
    )
    if cached:
        found["cachedInput"] = cached
    return found if any(found.values()) else None


def _cost(row: Mapping[str, Any]) -> float | None:
    details = _object(_first(row, "costDetails", "cost_details"))
    for value in (
        details.get("total"),
        row.get("calculatedTotalCost"),
        _first(row, "totalCost", "total_cost"),
    ):
        cost = _number(value)
        if cost is not None:
            return cost
    return None


def _scores(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    scores = trace.get("scores")
    for score in scores if isinstance(scores, list) else ():
        if not isinstance(score, dict) or not isinstance(score.get("name"), str):
            continue
        value = score.get("value")
        worded = _first(score, "stringValue", "string_value")
        kept = {"name": score["name"], "value": value if worded is None else worded}
        for key in ("comment", "source", "observationId"):
            if isinstance(score.get(key), str) and score[key]:
                kept[key] = score[key]
        yield kept


# -- what belongs to the trace ---------------------------------------------------------


def _ext(trace: Mapping[str, Any], rows: Sequence[Any]) -> dict[str, Any]:
    ext: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    blocks = [trace.get("metadata")]
    # Rows alone: the root's metadata is the trace's.
    blocks += [
        row.get("metadata")
        for row in rows
        if isinstance(row, dict)
        and not _first(row, "parentObservationId", "parent_observation_id")
    ]
    for block in blocks:
        metadata = _object(block)
        attributes = _object(metadata.get("attributes"))
        for source in (metadata, attributes):
            for key, value in source.items():
                if key in _NOT_METADATA:
                    continue
                short = key.removeprefix("langfuse.trace.metadata.")
                if not isinstance(value, str) or len(value) <= _SHORT:
                    merged.setdefault(short, value)
    if merged:
        ext["metadata"] = merged
    for key in ("userId", "release", "version", "environment", "datasetItemId"):
        value = trace.get(key)
        if isinstance(value, str) and value:
            ext[key] = value
    return ext


def _trace_id(trace: Mapping[str, Any], rows: Sequence[Any]) -> str:
    for source in (trace, *rows):
        if isinstance(source, Mapping):
            key = ("id",) if source is trace else ("traceId", "trace_id")
            found = _first(source, *key)
            if isinstance(found, str) and found:
                return found
    return "langfuse-" + fnv1a_64(repr(sorted(trace)).encode())


def _word(trace: Mapping[str, Any], rows: Sequence[Any], *keys: str) -> str | None:
    for source in (trace, *rows):
        if isinstance(source, Mapping):
            found = _text(_first(source, *keys))
            if found is not None:
                return found
    return None


def _tags(trace: Mapping[str, Any], rows: Sequence[Any]) -> tuple[str, ...]:
    for source in (trace, *rows):
        tags = source.get("tags") if isinstance(source, Mapping) else None
        tags = data_of(tags)
        if isinstance(tags, list) and tags:
            return tuple(tag for tag in tags if isinstance(tag, str))
    return ()


# -- small things ---------------------------------------------------------------------


def _unpacked(value: Any) -> Any:
    """Return data that is JSON in a text, at times twice, as the data it is."""
    for _ in range(3):
        if not isinstance(value, str) or value[:1] not in ('"', "{", "["):
            break
        import json

        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value


def _object(value: Any) -> Mapping[str, Any]:
    value = _unpacked(value)
    return value if isinstance(value, dict) else {}


def _first(source: Mapping[str, Any], *keys: str) -> Any:
    for key in keys:
        value = source.get(key)
        if value is not None:
            return value
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int) and abs(value) > 2**63:
        return None
    return float(value) if value - value == 0 and value >= 0 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
