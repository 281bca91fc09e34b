"""Files of spans: OTLP JSON, what Python's console exporter prints, rows of Phoenix.

Each span becomes one plain record `{traceId, spanId, parentSpanId, name, start, end,
status, message, attributes, events, service}`; log records that belong to a span
become events of it. Spans of many traces lie mixed in a file, so they are gathered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..unitf import ReadCount
from .attributes import attributes_of, first, text
from .group import Groups
from .source import ELEMENT, END, Keys, read_values
from .times import iso_of, iso_of_nanos

_LEAVES: Final = frozenset(("spans", "logRecords", "log_records", "data"))
_HOLDERS: Final = frozenset(
    (
        "resourceSpans",
        "resource_spans",
        "scopeSpans",
        "scope_spans",
        "instrumentationLibrarySpans",
        "resourceLogs",
        "resource_logs",
        "scopeLogs",
        "scope_logs",
    )
)
_MOST_KEYS: Final = 10


def looks_like(record: Any) -> bool:
    """Whether one record of a file holds spans."""
    if not isinstance(record, dict):
        return False
    if any(
        isinstance(record.get(key), list)
        for key in ("resourceSpans", "resource_spans", "resourceLogs", "scopeSpans")
    ):
        return True
    return is_span(record)


def is_span(record: Mapping[str, Any]) -> bool:
    """Whether a record is one span: OTLP's, the console's or Phoenix's."""
    if "attributes" not in record and not any(
        isinstance(key, str) and key.startswith("attributes.") for key in record
    ):
        return False
    context = record.get("context")
    if isinstance(context, Mapping) and ("trace_id" in context or "span_id" in context):
        return True
    if "context.trace_id" in record or "context.span_id" in record:
        return True
    return isinstance(record.get("traceId"), str) and "spanId" in record


def read_groups(path: Path, count: ReadCount) -> Iterator[tuple[str, list[Any]]]:
    """Yield the spans of each trace of a file. Raises OSError."""
    # What stands beside the lists of a document that is walked into, by its keys.
    beside: dict[Keys, dict[str, Any]] = {}
    with Groups() as groups:
        for value in read_values(path, count, _descend):
            keys, data = value.keys, value.data
            if data is END:
                own = beside.pop(keys, {})
                if not keys and is_span(own):
                    _add(own, value.place, groups, count, {})
            elif not keys or keys == (ELEMENT,) or keys[-2:] == ("data", ELEMENT):
                if looks_like(data):
                    _take(data, value.place, groups, count, {})
                else:
                    count.skip(value.place, "no span, and nothing that holds spans")
            elif keys[-1] != ELEMENT:
                beside.setdefault(keys[:-1], {})[keys[-1]] = data
            elif isinstance(data, dict):
                service = None
                for size in range(len(keys)):
                    around = beside.get(keys[:size], {})
                    service = _service(around.get("resource")) or service
                _add(data, value.place, groups, count, {"service": service})
            else:
                count.skip(value.place, f"an element of `{keys[-2]}` is no object")
        yield from groups.each()


def _descend(keys: Keys) -> bool:
    """Whether to walk into it: the document, OTLP's lists and what holds them."""
    if not keys:
        return True
    if keys[-1] == ELEMENT:
        return len(keys) > 1 and keys[-2] in _HOLDERS
    return len(keys) < _MOST_KEYS and (keys[-1] in _HOLDERS or keys[-1] in _LEAVES)


def _take(
    record: Mapping[str, Any],
    place: str,
    groups: Groups,
    count: ReadCount,
    around: Mapping[str, Any],
    *,
    depth: int = 0,
) -> None:
    """Add the spans of a whole record, through the levels of OTLP."""
    if depth > _MOST_KEYS:
        return
    if is_span(record):
        _add(record, place, groups, count, around)
        return
    resource = record.get("resource")
    if isinstance(resource, Mapping):
        around = {**around, "service": _service(resource)}
    for key in (*sorted(_HOLDERS), *sorted(_LEAVES)):
        inner = record.get(key)
        for item in inner if isinstance(inner, list) else ():
            if not isinstance(item, Mapping):
                count.skip(place, f"an element of `{key}` is no object")
            elif key in _HOLDERS:
                _take(item, place, groups, count, around, depth=depth + 1)
            elif key != "data":
                _add(item, place, groups, count, around)


def _add(
    item: Mapping[str, Any],
    place: str,
    groups: Groups,
    count: ReadCount,
    around: Mapping[str, Any],
) -> None:
    span = span_of(item, around)
    if span is None:
        # A log record that belongs to no span is no part of a trace, and no fault.
        if "body" not in item:
            count.skip(place, "a span without a trace id")
        return
    try:
        groups.add(span["traceId"], span)
    except (ValueError, TypeError) as error:
        count.skip(place, str(error))


def span_of(
    item: Mapping[str, Any], around: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return one span as a plain record, or None where it names no trace."""
    context = item.get("context")
    context = context if isinstance(context, Mapping) else {}
    trace_id = _hex(
        first(item, "traceId", "trace_id", "context.trace_id")
        or context.get("trace_id")
    )
    if trace_id is None:
        return None
    span_id = _hex(
        first(item, "spanId", "span_id", "context.span_id") or context.get("span_id")
    )
    attributes = attributes_of(item.get("attributes"))
    for key, value in item.items():
        # Phoenix's data frames have a column for each attribute.
        if isinstance(key, str) and key.startswith("attributes."):
            if value is not None:
                attributes.setdefault(key.removeprefix("attributes."), value)
    if "body" in item and "name" not in item:
        return {
            "traceId": trace_id,
            "spanId": span_id,
            "event": {
                "name": _event_name(item, attributes),
                "attributes": {**attributes, **_body(item.get("body"))},
            },
        }
    kind = item.get("span_kind")
    if isinstance(kind, str):
        attributes.setdefault("openinference.span.kind", kind)
    status, message = _status(item)
    events = item.get("events")
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": _hex(
            first(item, "parentSpanId", "parent_id", "parent_span_id")
        ),
        "name": text(item.get("name")) or "span",
        "start": _time(item, "startTimeUnixNano", "start_time_unix_nano", "start_time"),
        "end": _time(item, "endTimeUnixNano", "end_time_unix_nano", "end_time"),
        "status": status,
        "message": message,
        "attributes": attributes,
        "events": [
            {
                "name": text(event.get("name")) or "event",
                "attributes": attributes_of(event.get("attributes")),
            }
            for event in (events if isinstance(events, list) else ())
            if isinstance(event, Mapping)
        ],
        "service": around.get("service") or _service(item.get("resource")),
    }


def _event_name(item: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
    name = first(item, "eventName", "event_name") or attributes.get("event.name")
    return text(name) or "event"


def _body(body: Any) -> dict[str, Any]:
    from .attributes import plain

    value = plain(body)
    return value if isinstance(value, dict) else {"content": value}


def _status(item: Mapping[str, Any]) -> tuple[str, str | None]:
    status = item.get("status")
    message = text(item.get("status_message"))
    code: Any = item.get("status_code")
    if isinstance(status, Mapping):
        code = first(status, "code", "status_code")
        message = text(first(status, "message", "description")) or message
    failed = code in (2, "2") or (
        isinstance(code, str) and code.upper().endswith("ERROR")
    )
    return ("error" if failed else "ok"), message


def _service(resource: Any) -> str | None:
    if not isinstance(resource, Mapping):
        return None
    return text(attributes_of(resource.get("attributes")).get("service.name"))


def _time(item: Mapping[str, Any], nanos: str, snake: str, iso: str) -> str | None:
    return iso_of_nanos(first(item, nanos, snake)) or iso_of(item.get(iso))


def _hex(value: Any) -> str | None:
    """Return an id as lower case hex digits: `0x` in front is the console's."""
    if not isinstance(value, str) or not value.strip("0"):
        return None
    return value.lower().removeprefix("0x") or None
