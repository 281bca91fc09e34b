"""The wire format of Mastra's agents: `POST /api/agents/ID/generate`.

The messages of the response are the record, in order and with the errors of tools;
older servers give only the steps with their calls and results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ..case import Case
from ..trace import as_text
from .conversation import SubjectFailed
from .framework import tokens_of
from .http_format import Request, Turn
from .recording import OUTPUT, TOOLS, Recording
from .templating import Template, words_of

_TOKENS = {"input": "inputTokens", "output": "outputTokens"}
_OLD_TOKENS = {"input": "promptTokens", "output": "completionTokens"}
_ERRORS = ("error-text", "error-json", "execution-denied")


class Mastra:
    """Sends the whole conversation with each turn; the server needs no memory."""

    observed: Sequence[str] = (OUTPUT, TOOLS)

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.more = Template(table.get("body") or {}, place="target.body")

    def url(self, url: str) -> str:
        """Return the URL, with the format's last word where it lacks it."""
        parts = urlsplit(url)
        path = parts.path.rstrip("/")
        if not path.rpartition("/")[2].startswith("generate"):
            path += "/generate"
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))

    def headers(self) -> dict[str, str]:
        """Return none."""
        return {}

    def open(self, case: Case, *, conversation: str) -> _Talk:
        """Return a conversation."""
        return _Talk(self, case, conversation)


class _Talk:
    def __init__(self, protocol: Mastra, case: Case, conversation: str) -> None:
        self._protocol = protocol
        self._case = case
        self._conversation = conversation

    def turn(self, text: str, recording: Recording) -> Turn:
        """Let the agent generate once and note every step of it."""
        messages = [dict(message) for message in recording.messages]
        more = self._protocol.more.fill(
            words_of(
                self._case,
                text=text,
                messages=messages,
                conversation=self._conversation,
            )
        )
        reply = yield Request({"messages": messages, **more})
        if not isinstance(reply, Mapping) or "text" not in reply:
            raise SubjectFailed("the server's answer is no result of a Mastra agent")
        _note(reply, recording)
        if reply.get("finishReason") == "error" or reply.get("error"):
            said = as_text(reply.get("error")) or "no reason is given"
            raise SubjectFailed(f"the agent ended with an error: {said}")


def _note(reply: Mapping[str, Any], recording: Recording) -> None:
    steps = [step for step in reply.get("steps") or () if isinstance(step, Mapping)]
    said: str | None = None
    messages = _messages(reply, steps)
    if messages:
        used = iter(steps)
        for message in messages:
            said = _note_message(message, used, recording) or said
    else:
        for step in steps:
            said = _note_step(step, recording) or said
    if not any("usage" in step for step in steps):
        usage = reply.get("totalUsage") or reply.get("usage")
        recording.usage(tokens_of(usage, _TOKENS) or tokens_of(usage, _OLD_TOKENS))
    answer = reply.get("object")
    if answer is None:
        # `text` is that of all steps in one; the answer is that of the last.
        answer = said if steps or messages else reply.get("text")
    tripwire = reply.get("tripwire")
    if not answer and tripwire:
        reason = tripwire.get("reason") if isinstance(tripwire, Mapping) else None
        answer = as_text(reason or reply.get("tripwireReason")) or None
        recording.notes["tripwire"] = True
    if answer:
        recording.answer(answer)


def _messages(
    reply: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the response's messages: those of its last step are those of all."""
    for place in ([steps[-1]] if steps else []) + [reply]:
        response = place.get("response")
        found = response.get("messages") if isinstance(response, Mapping) else None
        if isinstance(found, list) and found:
            return [message for message in found if isinstance(message, Mapping)]
    return []


def _note_message(
    message: Mapping[str, Any], steps: Iterator[Mapping[str, Any]], recording: Recording
) -> str | None:
    parts = list(_parts(message.get("content")))
    if message.get("role") == "assistant":
        step = next(steps, {})
        text = "".join(
            str(part.get("text", "")) for part in parts if part.get("type") == "text"
        )
        recording.model(text, tokens=_tokens(step), model=_model(step))
        for part in parts:
            if part.get("type") == "tool-call":
                arguments = part["input"] if "input" in part else part.get("args")
                recording.call(
                    str(part.get("toolName")),
                    arguments,
                    call_id=_id(part),
                )
            elif part.get("type") == "tool-result":
                _note_result(part, recording)  # of a tool that the provider runs
        return text
    for part in parts:
        if part.get("type") == "tool-result":
            _note_result(part, recording)
    return None


def _note_result(part: Mapping[str, Any], recording: Recording) -> None:
    output = part.get("output")
    value, failed = part.get("result"), bool(part.get("isError"))
    if isinstance(output, Mapping) and "type" in output:
        failed = failed or output["type"] in _ERRORS
        value = output.get("value", output.get("reason"))
    elif "output" in part:
        value = output
    recording.result(str(part.get("toolName")), value, call_id=_id(part), failed=failed)


def _note_step(step: Mapping[str, Any], recording: Recording) -> str | None:
    text = as_text(step.get("text"))
    recording.model(text, tokens=_tokens(step), model=_model(step))
    for call in _payloads(step.get("toolCalls")):
        arguments = call["args"] if "args" in call else call.get("input")
        recording.call(str(call.get("toolName")), arguments, call_id=_id(call))
    for result in _payloads(step.get("toolResults")):
        _note_result(result, recording)
    return text


def _payloads(calls: Any) -> Iterator[Mapping[str, Any]]:
    """Yield calls or results, out of the envelope that newer servers put them into."""
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            payload = call.get("payload")
            yield payload if isinstance(payload, Mapping) else call


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (part for part in content if isinstance(part, Mapping))


def _tokens(step: Mapping[str, Any]) -> dict[str, int]:
    usage = step.get("usage")
    tokens = tokens_of(usage, _TOKENS) or tokens_of(usage, _OLD_TOKENS)
    return tokens | tokens_of(usage, {"cachedInput": "cachedInputTokens"})


def _model(step: Mapping[str, Any]) -> str | None:
    response = step.get("response")
    model = response.get("modelId") if isinstance(response, Mapping) else None
    return model if isinstance(model, str) else None


def _id(part: Mapping[str, Any]) -> str | None:
    found = part.get("toolCallId")
    return found if isinstance(found, str) else None
