"""Inspect logs: `.eval` (a zip with a file for each sample) and `.json`.

One sample of one epoch is one trace: its messages, its calls with their results and
errors, the usage of its models, its scores. Long texts that Inspect keeps once, as
attachments, are put back in their places.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..canonical import fnv1a_64
from ..refusal import Refusal
from ..strict_json import why_unreadable
from ..trace import Trace
from ..unitf import ReadCount
from .attributes import counts, first, text
from .chat import ChatMessage, messages_of
from .conversation import Conversation, Observation
from .source import ELEMENT, END, MAX_VALUE, Keys, read_values
from .times import iso_of

ZIP: Final = b"PK\x03\x04"
_ZSTD: Final = 93
_NO_ZSTD: Final = (
    "the log is packed with Zstandard, which this Python can't unpack: run it with "
    "Python 3.14 or newer, or write the log as JSON first with "
    "`inspect log convert FILE --to json --output-dir DIR`"
)
_ATTACHMENT: Final = "attachment://"
_DEPTH: Final = 64


def looks_like(record: Any) -> bool:
    """Whether one record of a file is an Inspect log."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("eval"), dict)
        and any(key in record for key in ("samples", "plan", "stats", "status"))
    )


def read(path: Path, count: ReadCount) -> Iterator[Trace]:
    """Yield a trace for each sample. Raises OSError, and Refusal where Python can't
    unpack it."""
    with path.open("rb") as file:
        zipped = file.read(4) == ZIP
    yield from _read_zip(path, count) if zipped else _read_json(path, count)


def _read_json(path: Path, count: ReadCount) -> Iterator[Trace]:
    def descend(keys: Keys) -> bool:
        return keys in ((), ("samples",))

    header: dict[str, Any] = {}
    for value in read_values(path, count, descend):
        keys, data = value.keys, value.data
        if data is END:
            header = {}
        elif keys == ("samples", ELEMENT):
            yield from _one(data, header, value.place, count)
        elif len(keys) == 1 and keys[0] not in (ELEMENT, "samples"):
            # `eval` comes before `samples` in every log that Inspect writes.
            header[keys[0]] = data
        elif isinstance(data, dict) and isinstance(data.get("samples"), list):
            for sample in data["samples"]:
                yield from _one(sample, data, value.place, count)
        else:
            count.skip(value.place, "no Inspect log")


def _read_zip(path: Path, count: ReadCount) -> Iterator[Trace]:
    import zipfile

    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError) as error:
        count.skip(path.name, f"damaged zip: {error}")
        return
    with archive:
        if not _unpacks_zstd() and any(
            info.compress_type == _ZSTD for info in archive.infolist()
        ):
            raise Refusal(f"{path}: {_NO_ZSTD}")
        header: Any = None
        names = archive.namelist()
        for name in ("header.json", "_journal/start.json"):
            if header is None and name in names:
                header = _member(archive, name, path, count)
        header = header if isinstance(header, dict) else {}
        samples = [n for n in names if n.startswith("samples/") and n.endswith(".json")]
        for name in samples:
            sample = _member(archive, name, path, count)
            if sample is not None:
                yield from _one(sample, header, f"{path.name}/{name}", count)
        if not samples:
            count.skip(path.name, "a zip without the samples of an Inspect log")


def _unpacks_zstd() -> bool:
    """Whether this Python's zip files unpack Zstandard: from 3.14 on they do."""
    from importlib import import_module

    try:
        import_module("compression.zstd")
    except ImportError:
        return False
    return True


def _member(archive: Any, name: str, path: Path, count: ReadCount) -> Any:
    """Return one file of the zip as data; None, counted, where it can't be read."""
    place = f"{path.name}/{name}"
    try:
        with archive.open(name) as file:
            data = file.read(MAX_VALUE + 1)
    except Exception as error:
        # Each method of packing has errors of its own for what is damaged.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        count.skip(place, f"can't be unpacked: {error}")
        return None
    if len(data) > MAX_VALUE:
        count.skip(place, "a sample of more than 512 MiB")
        return None
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        count.skip(place, why_unreadable(error))
        return None


def _one(
    sample: Any, header: Mapping[str, Any], place: str, count: ReadCount
) -> Iterator[Trace]:
    if not isinstance(sample, dict) or "id" not in sample:
        count.skip(place, "no sample of an Inspect log")
        return
    count.traces += 1
    yield trace_of(sample, header)


def trace_of(sample: Mapping[str, Any], header: Mapping[str, Any]) -> Trace:
    """Return the trace of one sample."""
    info = _object(header.get("eval"))
    attachments = _object(sample.get("attachments"))
    conversation = Conversation()
    raw = sample.get("messages")
    messages = list(_restored(raw, attachments)) if isinstance(raw, list) else []
    usage = _usage(sample.get("model_usage"))
    turns = [(item, _turns(item)) for item in messages]
    if not any(found for _, found in turns):
        asked = messages_of(_restore(sample.get("input"), attachments, 0), role="user")
        turns = [({}, asked or ())]
    output = _object(sample.get("output"))
    last = _last_assistant(turns)
    for index, (item, found) in enumerate(turns):
        for message in found:
            spoke = message.role == "assistant"
            if message.role == "tool":
                for result in message.results:
                    conversation.result(result, span_id=_id(item, index))
                continue
            seen = Observation(
                id=_id(item, index),
                name=message.role,
                kind="model",
                tokens=usage if index == last else None,
                extra={"model": item["model"]} if text(item.get("model")) else {},
            )
            conversation.turn(
                message, of=seen if spoke else None, span_id=None if spoke else seen.id
            )
    if last is None:
        # The sample keeps what the model gave apart from the messages.
        _answer(conversation, output, usage, attachments)
    sample_id, epoch = sample.get("id"), sample.get("epoch", 1)
    failed = sample.get("error")
    ext: dict[str, Any] = {"caseId": str(sample_id)}
    metadata = _restore(sample.get("metadata"), attachments, 0)
    if isinstance(metadata, dict) and metadata:
        ext["metadata"] = metadata
    model = text(info.get("model"))
    if model:
        ext["agent"] = {"model": model}
    why = _object(failed).get("message") if isinstance(failed, dict) else failed
    if isinstance(why, str) and why:
        ext["helix"] = {"error": why[:2000]}
    if sample.get("target") is not None:
        ext["target"] = sample["target"]
    return Trace(
        id=_trace_id(sample, info, sample_id, epoch),
        spans=tuple(conversation.spans),
        status="error" if failed else "ok",
        session_id=text(info.get("run_id")),
        agent_name=text(info.get("task")),
        source="inspect",
        start=iso_of(first(sample, "started_at") or info.get("created")),
        latency_ms=_millis(first(sample, "total_time", "working_time")),
        tags=_tags(info),
        scores=tuple(_scores(sample)),
        ext=ext,
        observed=frozenset(("output", "tools")),
    )


def _turns(item: Any) -> tuple[ChatMessage, ...]:
    if not isinstance(item, dict):
        return ()
    found = messages_of([_as_openai(item)], role="user")
    return found or ()


def _as_openai(item: Mapping[str, Any]) -> dict[str, Any]:
    """Inspect's messages are OpenAI's, but for the errors of tools."""
    message = {"content": None, **item}
    if message.get("role") == "tool":
        error = message.get("error")
        if error:
            message["status"] = "error"
            if not message.get("content"):
                told = error.get("message") if isinstance(error, dict) else error
                message["content"] = told if isinstance(told, str) else "error"
        message.pop("id", None)
        if isinstance(message.get("function"), str):
            message["name"] = message["function"]
    return message


def _last_assistant(turns: list[Any]) -> int | None:
    found = None
    for index, (_, messages) in enumerate(turns):
        if any(m.role == "assistant" for m in messages):
            found = index
    return found


def _answer(
    conversation: Conversation,
    output: Mapping[str, Any],
    usage: Mapping[str, Any] | None,
    attachments: Mapping[str, Any],
) -> None:
    for message in (
        messages_of(_restore(output, attachments, 0), role="assistant") or ()
    ):
        if message.role == "assistant":
            seen = Observation(
                id="output", name="assistant", kind="model", tokens=usage
            )
            conversation.turn(message, of=seen)


def _id(item: Mapping[str, Any], index: int) -> str:
    return text(item.get("id")) or f"message-{index + 1}"


def _trace_id(
    sample: Mapping[str, Any], info: Mapping[str, Any], sample_id: Any, epoch: Any
) -> str:
    own = text(sample.get("uuid"))
    if own is not None:
        return own
    run = text(first(info, "eval_id", "run_id", "task_id")) or "inspect"
    return f"{run}-{fnv1a_64(f'{sample_id!r} {epoch!r}'.encode('utf-8', 'replace'))}"


def _usage(models: Any) -> dict[str, Any] | None:
    """Return the tokens of all models of a sample together."""
    total: dict[str, int] = {}
    for usage in models.values() if isinstance(models, dict) else ():
        found = counts(
            _object(usage),
            input=("input_tokens",),
            output=("output_tokens",),
            total=("total_tokens",),
            cachedInput=("input_tokens_cache_read",),
            cacheCreation=("input_tokens_cache_write",),
        )
        for key, amount in (found or {}).items():
            total[key] = total.get(key, 0) + amount
    return total or None


def _scores(sample: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    scores = sample.get("scores")
    if scores is None and isinstance(sample.get("score"), dict):
        scores = {"score": sample["score"]}
    for name, score in scores.items() if isinstance(scores, dict) else ():
        if not isinstance(score, dict):
            continue
        kept: dict[str, Any] = {"name": name, "value": _value(score.get("value"))}
        comment = text(score.get("explanation")) or text(score.get("answer"))
        if comment:
            kept["comment"] = comment
        yield kept


def _value(value: Any) -> Any:
    """Return a score's value: Inspect's letters are the numbers that it counts."""
    return (
        {"C": 1, "I": 0, "P": 0.5, "N": 0}.get(value, value)
        if (isinstance(value, str))
        else value
    )


def _restored(raw: list[Any], attachments: Mapping[str, Any]) -> Iterator[Any]:
    for item in raw:
        yield _restore(item, attachments, 0) if attachments else item


def _restore(value: Any, attachments: Mapping[str, Any], depth: int) -> Any:
    if depth > _DEPTH or not attachments:
        return value
    if isinstance(value, str):
        if value.startswith(_ATTACHMENT):
            found = attachments.get(value.removeprefix(_ATTACHMENT))
            return found if isinstance(found, str) else value
        return value
    if isinstance(value, list):
        return [_restore(item, attachments, depth + 1) for item in value]
    if isinstance(value, dict):
        return {k: _restore(item, attachments, depth + 1) for k, item in value.items()}
    return value


def _tags(info: Mapping[str, Any]) -> tuple[str, ...]:
    tags = info.get("tags")
    return (
        tuple(t for t in tags if isinstance(t, str)) if isinstance(tags, list) else ()
    )


def _millis(seconds: Any) -> float | None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return None
    return round(seconds * 1000, 3) if 0 <= seconds < 1e12 else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
