"""Claude Code: the session files of a project, and what `--output-format stream-json` prints.

One session is one trace: the turns of its main thread, its calls and their results. A
message of several blocks is several lines with one usage, counted once. Side chains
(sub-agents) are told by the call that started them; their own lines are steps inside
it, no turns of the session. What is no part of a run (summaries, file snapshots, queue
operations) is passed over and counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..trace import Span, Trace
from ..unitf import ReadCount
from .attributes import counts, money, text
from .chat import ChatMessage, messages_of
from .conversation import Conversation, Observation
from .group import Groups
from .source import read_records
from .times import millis_between, span_of_times

_TURNS: Final = frozenset(("user", "assistant"))
_LINES: Final = frozenset(
    (
        "user",
        "assistant",
        "system",
        "summary",
        "result",
        "attachment",
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "custom-title",
        "ai-title",
        "agent-name",
        "last-prompt",
        "permission-mode",
        "pr-link",
        "tag",
        "stream_event",
    )
)


def looks_like(record: Any) -> bool:
    """Whether one record of a file is a line of a session."""
    if not isinstance(record, dict) or str(record.get("type")) not in _LINES:
        return False
    if "sessionId" in record or "session_id" in record:
        return "message" in record or record["type"] not in _TURNS
    kind = record["type"]
    return (kind == "summary" and "leafUuid" in record) or (
        kind == "file-history-snapshot" and "snapshot" in record
    )


def read(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield the sessions of a file, in the order they start. Raises OSError."""
    with Groups() as groups:
        for value in read_records(path, count):
            record = value.data
            kind = record.get("type") if isinstance(record, dict) else None
            if not isinstance(record, dict) or not isinstance(kind, str):
                count.skip(value.place, "no line of a session: it has no `type`")
                continue
            session = record.get("sessionId") or record.get("session_id")
            if kind in _TURNS or kind == "result" or _is_init(record):
                if not isinstance(session, str) or not session:
                    count.skip(value.place, f"a line of type {kind} without a session")
                    continue
                try:
                    groups.add(session, record)
                except (ValueError, TypeError) as error:
                    count.skip(value.place, str(error))
            else:
                count.leave_out(kind)
        for session, lines in groups.each():
            trace = session_of(session, lines)
            if not trace.spans:
                count.leave_out("session without a turn")
                continue
            count.traces += 1
            yield trace


def _is_init(record: Mapping[str, Any]) -> bool:
    return record.get("type") == "system" and record.get("subtype") == "init"


def session_of(session: str, lines: Sequence[Mapping[str, Any]]) -> Trace:
    """Return the trace of one session's lines."""
    conversation = Conversation()
    usage = _usage(lines)
    seen_lines: set[str] = set()
    model = None
    result: Mapping[str, Any] = {}
    info: dict[str, Any] = {}
    times: list[str] = []
    for index, line in enumerate(lines):
        for key in ("cwd", "gitBranch", "version", "entrypoint"):
            if isinstance(line.get(key), str) and line[key]:
                info.setdefault(key, line[key])
        if line.get("type") == "result":
            result = line
            continue
        message = line.get("message")
        if not isinstance(message, Mapping):
            continue
        uuid = text(line.get("uuid"))
        if uuid is not None:
            if uuid in seen_lines:
                continue  # a resumed session repeats the lines it goes on from
            seen_lines.add(uuid)
        stamp = text(line.get("timestamp"))
        if stamp:
            times.append(stamp)
        side = line.get("isSidechain") is True or bool(line.get("parent_tool_use_id"))
        if line.get("type") == "assistant":
            model = text(message.get("model")) or model
            tokens = usage.pop(_usage_key(message, index), None)
            _assistant(conversation, line, message, index, tokens, side=side)
        elif side:
            _side_step(conversation, line, message, index)
        else:
            _user(conversation, line, message, index)
    start, end = span_of_times(times)
    failed = result.get("is_error") is True
    ext: dict[str, Any] = {"metadata": info} if info else {}
    if model and model != "<synthetic>":
        ext["agent"] = {"model": model}
    took = result.get("duration_ms")
    return Trace(
        id=session,
        spans=tuple(conversation.spans),
        status="error" if failed else "ok",
        session_id=session,
        source="claude-code",
        start=start,
        latency_ms=(
            float(took)
            if isinstance(took, (int, float))
            and not isinstance(took, bool)
            and 0 <= took < 1e15
            else millis_between(start, end)
        ),
        cost_usd=money(result.get("total_cost_usd")),
        ext=ext,
        observed=frozenset(("output", "tools")),
    )


def _assistant(
    conversation: Conversation,
    line: Mapping[str, Any],
    message: Mapping[str, Any],
    index: int,
    tokens: dict[str, Any] | None,
    *,
    side: bool,
) -> None:
    replies = messages_of([dict(message)], role="assistant") or ()
    spoken = [m for m in replies if m.role == "assistant"]
    seen = _observation(line, index, "assistant", tokens, message)
    if side:
        texts = [m.text for m in spoken if m.text]
        calls = [
            {"name": c.name, "input": c.arguments} for m in spoken for c in m.calls
        ]
        said: Any = "\n".join(texts) if texts and not calls else None
        if calls:
            said = {"text": "\n".join(texts), "calls": calls} if texts else calls
        _append_step(conversation, seen, output=said)
        return
    if not spoken:
        # Thinking alone: the turn took tokens, and says nothing.
        spoken = [ChatMessage("assistant")]
    for number, reply in enumerate(spoken):
        conversation.turn(reply, of=seen if number == 0 else None, parent=seen)


def _user(
    conversation: Conversation,
    line: Mapping[str, Any],
    message: Mapping[str, Any],
    index: int,
) -> None:
    told = messages_of([dict(message)], role="user") or ()
    seen = _observation(line, index, "user", None, message)
    for turn in told:
        if turn.role == "tool":
            for result in turn.results:
                conversation.result(
                    result, span_id=f"{seen.id}-result", start=seen.start
                )
        elif line.get("isMeta") is True or line.get("isCompactSummary") is True:
            # Written by the harness, not by the user: it must not read as the prompt.
            _append_step(conversation, seen, input=turn.text)
        else:
            conversation.turn(turn, span_id=seen.id, start=seen.start)


def _side_step(
    conversation: Conversation,
    line: Mapping[str, Any],
    message: Mapping[str, Any],
    index: int,
) -> None:
    seen = _observation(line, index, "sidechain", None, message)
    _append_step(conversation, seen, input=message.get("content"))


def _append_step(
    conversation: Conversation,
    seen: Observation,
    *,
    input: Any = None,
    output: Any = None,
) -> None:
    conversation.spans.append(
        Span(
            id=seen.id,
            parent_id=seen.parent_id,
            name="sidechain" if seen.name == "assistant" else seen.name,
            kind="span",
            start=seen.start,
            input=input,
            output=output,
            tokens=seen.tokens,
            extra=seen.extra,
        )
    )


def _observation(
    line: Mapping[str, Any],
    index: int,
    name: str,
    tokens: dict[str, Any] | None,
    message: Mapping[str, Any],
) -> Observation:
    extra: dict[str, Any] = {}
    message_id = text(message.get("id"))
    if message_id is not None:
        extra["messageId"] = message_id
    return Observation(
        id=text(line.get("uuid")) or f"line-{index + 1}",
        name=name,
        kind="model",
        parent_id=text(line.get("parentUuid")) or text(line.get("parent_tool_use_id")),
        start=text(line.get("timestamp")),
        status="error" if line.get("isApiErrorMessage") is True else "ok",
        tokens=tokens,
        extra=extra,
    )


def _usage(lines: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the usage of each message, as its last line has it (the first may be early)."""
    found: dict[str, dict[str, Any]] = {}
    for index, line in enumerate(lines):
        message = line.get("message")
        if line.get("type") != "assistant" or not isinstance(message, Mapping):
            continue
        usage = message.get("usage")
        tokens = counts(
            usage if isinstance(usage, Mapping) else {},
            input=("input_tokens",),
            output=("output_tokens",),
            cachedInput=("cache_read_input_tokens",),
            cacheCreation=("cache_creation_input_tokens",),
        )
        if tokens is not None:
            found[_usage_key(message, index)] = tokens
    return found


def _usage_key(message: Mapping[str, Any], index: int) -> str:
    return text(message.get("id")) or f"line-{index + 1}"
