"""Which format a file is of, by its content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from . import claude_code, inspect_log, langfuse, openai_chat, span_files, unitf
from .source import is_lines, opening, read_head

UNKNOWN: Final = (
    "not a format that is known by its content: name it with --format, or map your own "
    "records in [trace_map] of evals.toml"
)
_LOOKED_AT: Final = 50
# For a document whose first record is longer than the head: keys that only one has.
_SIGNS: Final = (
    (b'"unitf_version"', "unitf"),
    (b'"resourceSpans"', "otel"),
    (b'"resource_spans"', "otel"),
    (b'"parentObservationId"', "langfuse"),
    (b'"observations"', "langfuse"),
    (b'"parentUuid"', "claude-code"),
    (b'"openinference.span.kind"', "openinference"),
    (b'"spanId"', "unitf"),
    (b'"messages"', "openai-chat"),
    (b'"samples"', "inspect"),
)


def format_of(path: Path, *, mapped: bool) -> str | None:
    """Return the name of a file's format, or None. Raises OSError.

    With a mapping at hand (`mapped`), what is no known format is read by it.
    """
    head = read_head(path)
    if head.startswith(inspect_log.ZIP):
        return "inspect"
    seen = 0
    for record in _first_records(path, head):
        seen += 1
        found = format_of_record(record)
        if found is not None:
            return found
        if seen >= _LOOKED_AT:
            break
    if seen == 0 and head.strip():
        found = format_of_record(opening(head)) or next(
            (name for sign, name in _SIGNS if sign in head), None
        )
        if found is not None:
            return found
    if mapped:
        return "mapped"
    # Nothing in it, or nothing that can be read: UniTF's reader names each line.
    return None if seen else "unitf"


def format_of_record(record: Any) -> str | None:
    """Return the name of the format that one record is of, or None."""
    if unitf.looks_like(record):
        return "unitf"
    if langfuse.looks_like(record):
        return "langfuse"
    if inspect_log.looks_like(record):
        return "inspect"
    if span_files.looks_like(record):
        return "openinference" if _is_openinference(record) else "otel"
    if claude_code.looks_like(record):
        return "claude-code"
    if openai_chat.looks_like(record) or openai_chat.is_message(record):
        return "openai-chat"
    return None


def _is_openinference(record: Any) -> bool:
    try:
        text = json.dumps(record)
    except (ValueError, RecursionError):
        return False
    return "openinference.span.kind" in text or '"span_kind"' in text


def _first_records(path: Path, head: bytes) -> Iterator[Any]:
    """Yield the first records, as far as they can be read from the head alone."""
    text = head.decode("utf-8", "ignore")
    if not is_lines(path, head):
        yield from _document(text, json.JSONDecoder())
        return
    for line in text.split("\n")[:_LOOKED_AT]:
        if line.lstrip()[:1] not in ("{", "["):
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        inner = data.get("data") if isinstance(data, dict) else None
        yield from inner[:_LOOKED_AT] if isinstance(inner, list) and inner else [data]


def _document(text: str, decoder: json.JSONDecoder) -> Iterator[Any]:
    """Yield the first elements of an indented list, or the document, where it fits."""
    at = len(text) - len(text.lstrip())
    try:
        data, _ = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        inner = data.get("data")
        yield from inner[:_LOOKED_AT] if isinstance(inner, list) and inner else [data]
        return
    if isinstance(data, list):
        if openai_chat.looks_like(data):
            yield data
        else:
            yield from data[:_LOOKED_AT]
        return
    if text[at : at + 1] != "[":
        return
    at += 1
    for _ in range(_LOOKED_AT):
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            data, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield data
