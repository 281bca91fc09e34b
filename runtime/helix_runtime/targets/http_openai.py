"""The wire format of OpenAI-compatible chat: one completion a turn.

What such a server does inside is not seen: only the tool calls that it hands back are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ..case import Case
from ..trace import as_text
from .conversation import SubjectFailed
from .framework import tokens_of
from .http_format import Request, Turn
from .recording import OUTPUT, TOOLS, Recording
from .templating import Template, words_of

_PATH = "/chat/completions"


class OpenAIChat:
    """Sends the whole conversation with each turn: the server keeps nothing."""

    observed: Sequence[str] = (OUTPUT,)

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.model = table.get("model")
        self.more = Template(table.get("body") or {}, place="target.body")

    def url(self, url: str) -> str:
        """Return the URL, with the format's path where it lacks it."""
        parts = urlsplit(url)
        path = parts.path.rstrip("/")
        if not path.endswith(_PATH):
            path += _PATH
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))

    def headers(self) -> dict[str, str]:
        """Return none."""
        return {}

    def open(self, case: Case, *, conversation: str) -> _Chat:
        """Return a conversation."""
        return _Chat(self, case, conversation)


class _Chat:
    def __init__(self, protocol: OpenAIChat, case: Case, conversation: str) -> None:
        self._protocol = protocol
        self._case = case
        self._conversation = conversation

    def turn(self, text: str, recording: Recording) -> Turn:
        """Ask for one completion and note it."""
        messages = [dict(message) for message in recording.messages]
        more = self._protocol.more.fill(
            words_of(
                self._case,
                text=text,
                messages=messages,
                conversation=self._conversation,
            )
        )
        body = {"model": self._protocol.model, "messages": messages, **more}
        reply = yield Request(body)
        message = _message(reply)
        said = _text(message)
        recording.model(said, tokens=_tokens(reply), model=_name(reply.get("model")))
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping) and isinstance(function.get("name"), str):
                recording.observed.add(TOOLS)
                recording.call(
                    function["name"], function.get("arguments"), call_id=call.get("id")
                )
        if said:
            recording.answer(said)


def _message(reply: Any) -> Mapping[str, Any]:
    if isinstance(reply, Mapping):
        error = reply.get("error")
        if error:
            said = error.get("message") if isinstance(error, Mapping) else error
            raise SubjectFailed(f"the server answered with an error: {as_text(said)}")
        choices = reply.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            message = choices[0].get("message")
            if isinstance(message, Mapping):
                return message
    raise SubjectFailed(
        "the server's answer is no chat completion: it has no choices[0].message"
    )


def _text(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    if content is None:
        content = message.get("refusal")
    return as_text(content)


def _tokens(reply: Mapping[str, Any]) -> dict[str, int]:
    usage = reply.get("usage")
    tokens = tokens_of(usage, {"input": "prompt_tokens", "output": "completion_tokens"})
    details = usage.get("prompt_tokens_details") if isinstance(usage, Mapping) else None
    return tokens | tokens_of(details, {"cachedInput": "cached_tokens"})


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
