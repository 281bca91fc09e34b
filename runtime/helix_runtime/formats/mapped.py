"""A team's own records, read by a mapping: our field, their path.

The mapping is `[trace_map]` of `evals.toml`. A path names keys and list positions
(`output.steps.0.tool`); a text with `{path}` in it is a template, filled with data,
never with code; of a list of paths the first that leads to something is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..canonical import fnv1a_64
from ..checks.paths import MISSING, is_empty, lookup
from ..record import record
from ..refusal import close_match
from ..trace import Span, Status, Trace, as_text
from ..unitf import ReadCount
from .attributes import counts, money, text
from .chat import ChatMessage, messages_of
from .chat_parts import Call, Result, data_of
from .conversation import Conversation, Observation
from .source import Value, read_records
from .times import iso_of, millis_between

FIELDS: Final = (
    "trace_id",
    "case",
    "prompt",
    "system",
    "messages",
    "output",
    "metadata",
    "tags",
    "session",
    "agent",
    "model",
    "status",
    "error",
    "start",
    "end",
    "latency_ms",
    "latency_s",
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "scores",
)
LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool_calls": ("list", "name", "arguments", "result", "error", "id"),
    "steps": ("list", "name", "input", "output", "error"),
    "retrieved": ("list", "name", "output"),
}
RECORDS: Final = "records"

_HOLE: Final = re.compile(r"\{([^{}]*)\}")
_OKAY: Final = frozenset(
    ("ok", "success", "succeeded", "completed", "complete", "done")
)
_FAILED: Final = frozenset(
    ("error", "errored", "failed", "failure", "exception", "timeout", "crashed")
)
_MAX_FIELD: Final = 1000

Path_ = str | tuple[str, ...]


@record(kw_only=True)
class Mapped:
    """A mapping that was read: our field to their path, and the lists of calls and steps.

    `records` is the key of the list of records in a document, where it has one.
    """

    fields: Mapping[str, Path_]
    lists: Mapping[str, Mapping[str, Path_]]
    records: str | None = None


def mapping_of(table: Mapping[str, Any], fault: Callable[[str, str], None]) -> Mapped:
    """Return the mapping of a table; `fault(key, what)` is told of everything wrong."""
    fields: dict[str, Path_] = {}
    lists: dict[str, Mapping[str, Path_]] = {}
    records = None
    known = (*FIELDS, *LISTS, RECORDS)
    for key, value in table.items():
        if key == RECORDS:
            if isinstance(value, str) and value:
                records = value
            else:
                fault(key, "must be the key of the list of records")
        elif key in LISTS:
            lists[key] = _list_of(key, value, fault)
        elif key not in FIELDS:
            fault(key, f"is no field of a trace{close_match(key, list(known))}")
        else:
            path = _path(value)
            if path is None:
                fault(key, "must be a path, a template or a list of them")
            else:
                fields[key] = path
    if not fields and not lists and not table:
        fault("", "is empty: name at least `trace_id`, `prompt` and `output`")
    return Mapped(fields=fields, lists=lists, records=records)


def _list_of(
    key: str, value: Any, fault: Callable[[str, str], None]
) -> dict[str, Path_]:
    parts: dict[str, Path_] = {}
    if not isinstance(value, Mapping):
        fault(key, f"must be a table with {', '.join(LISTS[key])}")
        return parts
    for name, inner in value.items():
        path = _path(inner)
        if name not in LISTS[key]:
            fault(f"{key}.{name}", f"is not read{close_match(name, list(LISTS[key]))}")
        elif path is None:
            fault(f"{key}.{name}", "must be a path, a template or a list of them")
        else:
            parts[name] = path
    if "list" not in parts:
        fault(f"{key}.list", "is missing: the path of the list")
    return parts


def _path(value: Any) -> Path_ | None:
    if isinstance(value, str):
        return value if len(value) <= _MAX_FIELD else None
    if isinstance(value, list) and value:
        if all(isinstance(item, str) and len(item) <= _MAX_FIELD for item in value):
            return tuple(value)
    return None


# -- reading ---------------------------------------------------------------------------


def read(path: Path, count: ReadCount, mapping: Mapped) -> Iterator[Trace]:
    """Yield a trace for each record of a file. Raises OSError."""
    lists = frozenset((mapping.records,)) if mapping.records else frozenset(("data",))
    for value in read_records(path, count, lists=lists):
        if not isinstance(value.data, dict):
            count.skip(value.place, "a record is a JSON object")
            continue
        trace = trace_of(value, mapping)
        if trace is None:
            count.skip(value.place, "the mapping finds nothing in it")
            continue
        count.traces += 1
        yield trace


def trace_of(value: Value, mapping: Mapped) -> Trace | None:
    """Return the trace of one record, or None where the mapping finds nothing in it."""
    found = _Reader(value.data, mapping)
    conversation = Conversation()
    system = found.words("system")
    prompt = found.words("prompt")
    messages = messages_of(data_of(found.data("messages")), role="user")
    output = found.data("output")
    if not any((system, prompt, messages)) and is_empty(output):
        if not found.lists_anything():
            return None
    if system:
        conversation.turn(ChatMessage("system", system), span_id="system")
    if prompt:
        conversation.turn(ChatMessage("user", prompt), span_id="user")
    usage = found.tokens()
    _told(conversation, messages or (), usage if is_empty(output) else None)
    steps = _steps(conversation, found)
    called = _called(conversation, found)
    _retrieved(conversation, found)
    status, why = found.failure()
    if not is_empty(output):
        conversation.spans.append(
            Span(
                id="answer",
                name="assistant",
                kind="agent",
                role="assistant",
                output=output,
                tokens=usage,
            )
        )
    elif usage and not messages:
        conversation.spans.append(
            Span(id="model", name="model", kind="llm", tokens=usage)
        )
    observed = {"output"} if "output" in mapping.fields or messages else set()
    if called or any(m.calls or m.results for m in messages or ()):
        observed.add("tools")
    if steps:
        observed.add("path")
    ext = found.ext()
    if why:
        ext["helix"] = {"error": why[:2000]}
    start, end = iso_of(found.data("start")), iso_of(found.data("end"))
    own = found.words("trace_id")
    return Trace(
        id=own or "trace-" + fnv1a_64(value.place.encode("utf-8", "surrogatepass")),
        spans=tuple(conversation.spans),
        status=status,
        session_id=found.words("session"),
        agent_name=found.words("agent"),
        source="mapped",
        start=start,
        latency_ms=found.latency() or millis_between(start, end),
        cost_usd=money(found.data("cost_usd")),
        tags=found.tags(),
        scores=found.scores(),
        ext=ext,
        observed=frozenset(observed),
    )


def _told(
    conversation: Conversation,
    messages: Sequence[ChatMessage],
    usage: Mapping[str, Any] | None,
) -> None:
    last = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=-1)
    for index, message in enumerate(messages):
        if message.role != "assistant":
            conversation.history([message])
            continue
        seen = Observation(
            id=f"message-{index + 1}",
            name="assistant",
            kind="model",
            tokens=usage if index == last else None,
        )
        conversation.turn(message, of=seen)


def _called(conversation: Conversation, found: _Reader) -> bool:
    """Add the tool calls of a list of their own; whether the record has that list."""
    items = found.items("tool_calls")
    for index, item in enumerate(items or ()):
        name = item.words("name") or "tool"
        call_id = item.words("id") or f"call-{index + 1}"
        conversation.call(Call(call_id, name, data_of(item.data("arguments"))))
        result = data_of(item.data("result"))
        error = item.data("error")
        if not is_empty(error) and error is not False:
            result = error if is_empty(result) else result
            conversation.result(Result(call_id, name, result, True))
        elif item.holds("result"):
            conversation.result(Result(call_id, name, result))
    return items is not None


def _steps(conversation: Conversation, found: _Reader) -> bool:
    items = found.items("steps")
    for index, item in enumerate(items or ()):
        error = item.data("error")
        conversation.step(
            Observation(
                id=f"step-{index + 1}",
                name=item.words("name") or "step",
                kind="step",
                status="ok" if is_empty(error) or error is False else "error",
                input=item.data("input"),
                output=item.data("output"),
            )
        )
    return items is not None


def _retrieved(conversation: Conversation, found: _Reader) -> None:
    for index, item in enumerate(found.items("retrieved") or ()):
        given = item.data("output") if item.maps("output") else item.source
        conversation.step(
            Observation(
                id=f"retrieved-{index + 1}",
                name=item.words("name") or "retrieved",
                kind="retrieval",
                output=given,
            ),
            kind="retrieval",
        )


class _Reader:
    """One record under a mapping; a field that is not there is None."""

    def __init__(
        self, source: Any, mapping: Mapped, fields: Mapping[str, Path_] | None = None
    ) -> None:
        self.source = source
        self._mapping = mapping
        self._fields = mapping.fields if fields is None else fields

    def maps(self, field: str) -> bool:
        return field in self._fields

    def holds(self, field: str) -> bool:
        """Whether anything stands there, be it null."""
        return field in self._fields and any(
            lookup(self.source, path) is not MISSING
            for path in self._paths(field)
            if "{" not in path
        )

    def data(self, field: str) -> Any:
        """Return what a field's path leads to, or its template filled in."""
        for path in self._paths(field):
            if "{" in path:
                filled = self._filled(path)
                if filled is not None:
                    return filled
                continue
            value = lookup(self.source, path)
            if value is not MISSING and value is not None:
                return value
        return None

    def words(self, field: str) -> str | None:
        """Return a field as text: data as JSON."""
        value = self.data(field)
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int) and abs(value) > 2**63:
            return None
        found = value if isinstance(value, str) else as_text(value)
        return found if found and found.strip() else None

    def _paths(self, field: str) -> tuple[str, ...]:
        path = self._fields.get(field)
        if path is None:
            return ()
        return (path,) if isinstance(path, str) else path

    def _filled(self, template: str) -> str | None:
        """Fill a template; None where nothing of what it names is there."""
        found = False

        def fill(hole: re.Match[str]) -> str:
            nonlocal found
            value = lookup(self.source, hole.group(1).strip())
            if value is MISSING or value is None:
                return ""
            found = True
            return value if isinstance(value, str) else as_text(value) or ""

        filled = _HOLE.sub(fill, template)
        return filled if found else None

    def items(self, name: str) -> list[_Reader] | None:
        """Return the elements of a list, or None where the record has no such list."""
        parts = self._mapping.lists.get(name)
        if parts is None:
            return None
        place = _Reader(self.source, self._mapping, parts)
        found = data_of(place.data("list"))
        if isinstance(found, Mapping):
            found = [found]
        if not isinstance(found, list):
            # Null is a list of nothing: the record says that there were none.
            return [] if place.holds("list") else None
        return [_Reader(data_of(item), self._mapping, parts) for item in found]

    def lists_anything(self) -> bool:
        return any(self.items(name) for name in self._mapping.lists)

    def failure(self) -> tuple[Status, str | None]:
        """Return the status of the run, and the error where one is told."""
        error = self.data("error")
        if not is_empty(error) and error is not False:
            return "error", as_text(error)
        status = self.data("status")
        if isinstance(status, bool):
            return ("ok" if status else "error"), None
        if isinstance(status, str) and status.strip():
            word = status.strip().lower()
            if word in _FAILED:
                return "error", None
            return ("ok" if word in _OKAY else "unknown"), None
        return "ok", None

    def latency(self) -> float | None:
        for field, scale in (("latency_ms", 1.0), ("latency_s", 1000.0)):
            value = money(self.data(field))
            if value is not None:
                return round(value * scale, 3)
        return None

    def tokens(self) -> dict[str, Any] | None:
        names = {
            "input": "input_tokens",
            "output": "output_tokens",
            "total": "total_tokens",
        }
        found = {ours: self.data(theirs) for ours, theirs in names.items()}
        return counts(found, input=("input",), output=("output",), total=("total",))

    def tags(self) -> tuple[str, ...]:
        tags = data_of(self.data("tags"))
        if isinstance(tags, str):
            return (tags,) if tags else ()
        if not isinstance(tags, list):
            return ()
        return tuple(tag for tag in tags if isinstance(tag, str) and tag)

    def scores(self) -> tuple[dict[str, Any], ...]:
        scores = data_of(self.data("scores"))
        if isinstance(scores, Mapping):
            return tuple({"name": str(k), "value": v} for k, v in scores.items())
        if not isinstance(scores, list):
            return ()
        return tuple(
            dict(score)
            for score in scores
            if isinstance(score, Mapping) and isinstance(score.get("name"), str)
        )

    def ext(self) -> dict[str, Any]:
        ext: dict[str, Any] = {}
        case = self.words("case")
        if case:
            ext["caseId"] = case
        metadata = data_of(self.data("metadata"))
        if isinstance(metadata, Mapping) and metadata:
            ext["metadata"] = dict(metadata)
        model = text(self.data("model"))
        if model:
            ext["agent"] = {"model": model}
        return ext
