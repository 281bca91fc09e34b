"""The wire format of A2A (Agent2Agent), JSON-RPC over HTTP, releases 0.3 and 1.0.

A message is sent; what comes back is a message or a task. A task that is not over is
asked for again until it is. What the agent does inside is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from ..case import Case
from ..trace import as_text
from . import TargetUnreachable
from .conversation import SubjectFailed
from .http_format import Request, Turn
from .recording import OUTPUT, Recording
from .templating import Template, words_of

_OVER = ("completed", "failed", "canceled", "cancelled", "rejected")
_WAITS = ("input-required", "auth-required")
# Codes of JSON-RPC that say the request itself is not understood.
_NOT_UNDERSTOOD = (-32700, -32600, -32601, -32602, -32009)
_FIRST_LOOK = 0.2  # seconds
_LONGEST_LOOK = 5.0


class A2A:
    """Speaks one release of the protocol; reads what either sends."""

    observed: Sequence[str] = (OUTPUT,)

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.new = table.get("version") == "1.0"
        self.more = Template(table.get("body") or {}, place="target.body")

    def url(self, url: str) -> str:
        """Return the URL as it is: an agent says itself where it listens."""
        return url

    def headers(self) -> dict[str, str]:
        """Return the release that is spoken."""
        return {"A2A-Version": "1.0" if self.new else "0.3"}

    def open(self, case: Case, *, conversation: str) -> _Talk:
        """Return a conversation; the agent gives it its context."""
        return _Talk(self, case, conversation)


class _Talk:
    def __init__(self, protocol: A2A, case: Case, conversation: str) -> None:
        self._protocol = protocol
        self._case = case
        self._conversation = conversation
        self._context: str | None = None
        self._task: str | None = None
        self._first = True

    def turn(self, text: str, recording: Recording) -> Turn:
        """Send one message, wait for the task to be over, note its answer."""
        said = text
        if self._first and recording.history:
            # The protocol has no place for what was said before.
            said = _told(recording.history) + text
        self._first = False
        result = _result((yield self._send(said, recording)))
        pause = _FIRST_LOOK
        while _is_task(result) and _state(result) not in (*_OVER, *_WAITS):
            task = _text_at(result, "id")
            if task is None:
                raise SubjectFailed("the agent's task has no id")
            result = _result((yield self._look(task, pause)))
            pause = min(pause * 1.5, _LONGEST_LOOK)
        self._context = _text_at(result, "contextId") or self._context
        state = _state(result) if _is_task(result) else "completed"
        waits = state == "input-required"
        self._task = _text_at(result, "id") if waits else None
        _note(result, state, recording)

    def _send(self, text: str, recording: Recording) -> Request:
        message: dict[str, Any] = {"messageId": uuid4().hex}
        if self._protocol.new:
            message |= {"role": "ROLE_USER", "parts": [{"text": text}]}
        else:
            message |= {"role": "user", "kind": "message"}
            message["parts"] = [{"kind": "text", "text": text}]
        if self._context is not None:
            message["contextId"] = self._context
        if self._task is not None:
            message["taskId"] = self._task
        more = self._protocol.more.fill(
            words_of(
                self._case,
                text=text,
                messages=recording.messages,
                conversation=self._conversation,
            )
        )
        waits = {} if self._protocol.new else {"configuration": {"blocking": True}}
        params = {"message": message, **waits, **more}
        method = "SendMessage" if self._protocol.new else "message/send"
        return Request(_rpc(method, params))

    def _look(self, task: str, after: float) -> Request:
        method = "GetTask" if self._protocol.new else "tasks/get"
        return Request(_rpc(method, {"id": task}), after=after)


def _rpc(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": uuid4().hex, "method": method, "params": params}


def _result(reply: Any) -> Mapping[str, Any]:
    if not isinstance(reply, Mapping):
        raise SubjectFailed("the agent's answer is no JSON-RPC response")
    error = reply.get("error")
    if isinstance(error, Mapping):
        said = f"{as_text(error.get('message'))} ({error.get('code')})"
        if error.get("code") in _NOT_UNDERSTOOD:
            raise TargetUnreachable(
                f"the agent does not understand the request: {said}. Is it A2A, and "
                "the release that `version` under [target] names?"
            )
        raise SubjectFailed(f"the agent answered with an error: {said}")
    result = reply.get("result")
    if not isinstance(result, Mapping):
        raise SubjectFailed("the agent's answer has no result")
    for name in ("task", "message"):  # release 1.0 puts either into an envelope
        inside = result.get(name)
        if isinstance(inside, Mapping):
            return inside
    return result


def _is_task(result: Mapping[str, Any]) -> bool:
    return "status" in result


def _state(task: Mapping[str, Any]) -> str:
    status = task.get("status")
    state = status.get("state") if isinstance(status, Mapping) else None
    if not isinstance(state, str):
        raise SubjectFailed("the agent's task has no state")
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def _note(result: Mapping[str, Any], state: str, recording: Recording) -> None:
    answer = _answer(result)
    if state == "auth-required":
        raise TargetUnreachable(
            f"the agent asks for credentials: {as_text(answer) or 'it does not say which'}"
        )
    if state in ("failed", "canceled", "cancelled"):
        raise SubjectFailed(
            f"the agent's task {state}: {as_text(answer) or 'no reason'}"
        )
    recording.notes.pop("state", None)
    if state in ("rejected", "input-required"):
        recording.notes["state"] = state
    if answer is not None:
        recording.answer(answer)


def _answer(result: Mapping[str, Any]) -> Any:
    """Return what a task or a message says: its artifacts, or else its message."""
    if not _is_task(result):
        return _said(result.get("parts"))
    parts: list[Any] = []
    for artifact in result.get("artifacts") or ():
        if isinstance(artifact, Mapping):
            parts += artifact.get("parts") or ()
    if parts:
        return _said(parts)
    status = result.get("status")
    message = status.get("message") if isinstance(status, Mapping) else None
    if isinstance(message, Mapping):
        return _said(message.get("parts"))
    for message in reversed(result.get("history") or ()):
        if isinstance(message, Mapping) and _is_agents(message):
            return _said(message.get("parts"))
    return None


def _is_agents(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("agent", "ROLE_AGENT")


def _said(parts: Any) -> Any:
    """Return parts as the text of all of them, or as data where they are one object."""
    texts: list[str] = []
    data: list[Any] = []
    for part in parts or ():
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif "data" in part:
            data.append(part["data"])
    if data and not texts:
        return data[0] if len(data) == 1 else data
    texts += [as_text(each) or "" for each in data]
    return "\n".join(texts) or None


def _told(history: Sequence[tuple[str, str]]) -> str:
    lines = [f"{role}: {text}" for role, text in history]
    return "The conversation so far:\n" + "\n".join(lines) + "\n\n"


def _text_at(result: Mapping[str, Any], key: str) -> str | None:
    value = result.get(key)
    return value if isinstance(value, str) and value else None
