"""Times as sources write them, as ISO 8601 texts in UTC and as milliseconds."""

from __future__ import annotations

from typing import Any, Final

_MOST: Final = 253402300799  # the last second of the year 9999


def iso_of_seconds(seconds: Any) -> str | None:
    """Return seconds since 1970 as ISO 8601 text, or None for what is no time."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return None
    if not 0 < seconds <= _MOST:
        return None
    return iso_of_nanos(int(seconds * 1_000_000) * 1000)


def iso_of_nanos(nanos: Any) -> str | None:
    """Return nanoseconds since 1970 (a number or its text) as ISO 8601 text."""
    if isinstance(nanos, str):
        if not nanos.isascii() or not nanos.isdigit() or len(nanos) > 24:
            return None
        nanos = int(nanos)
    if isinstance(nanos, bool) or not isinstance(nanos, (int, float)):
        return None
    if not 0 < nanos <= _MOST * 1_000_000_000:
        return None
    import time

    seconds, rest = divmod(int(nanos), 1_000_000_000)
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{day}.{rest // 1000:06d}Z"


def iso_of(value: Any) -> str | None:
    """Return a time as text: a text as it is, a number as seconds or milliseconds."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)) and abs(value) < 2**63:
        # After 1973 in milliseconds, before 5138 in seconds.
        return iso_of_seconds(value / 1000 if value > 100_000_000_000 else value)
    return None


def millis_between(start: str | None, end: str | None) -> float | None:
    """Return the milliseconds from one ISO 8601 text to another, or None."""
    first, last = _seconds(start), _seconds(end)
    if first is None or last is None or last < first:
        return None
    return round((last - first) * 1000, 3)


def _seconds(text: str | None) -> float | None:
    if not text:
        return None
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def span_of_times(times: list[str]) -> tuple[str | None, str | None]:
    """Return the earliest and the latest of ISO 8601 texts, as they stand."""
    read = [
        (seconds, text) for text in times if (seconds := _seconds(text)) is not None
    ]
    if not read:
        return None, None
    return min(read)[1], max(read)[1]
