"""Any JSON over HTTP: a request template and response paths, or the case itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..case import Case
from ..checks.paths import MISSING, is_list, lookup
from ..trace import as_text
from ..unitf import trace_from_record
from .conversation import SubjectFailed
from .http_format import Request, Turn
from .recording import OUTPUT, TOOLS, Recording
from .templating import Template, words_of


class Plain:
    """The case as one JSON object; back comes what a program may print."""

    observed: Sequence[str] = (OUTPUT, TOOLS)

    def url(self, url: str) -> str:
        """Return the URL as it is."""
        return url

    def headers(self) -> dict[str, str]:
        """Return none."""
        return {}

    def open(self, case: Case, *, conversation: str) -> _PlainTalk:
        """Return a conversation."""
        return _PlainTalk(case, conversation)


class _PlainTalk:
    def __init__(self, case: Case, conversation: str) -> None:
        self._case = case
        self._conversation = conversation

    def turn(self, text: str, recording: Recording) -> Turn:
        """Post the case with this turn's message and note the answer."""
        row = words_of(
            self._case, text=text, messages=(), conversation=self._conversation
        )["case"]
        body = {
            **row,
            "query": text,
            "messages": [dict(message) for message in recording.messages],
            "conversation": self._conversation,
        }
        reply = yield Request(body)
        value: Any = reply
        if isinstance(reply, Mapping) and "traceId" in reply and "spans" in reply:
            try:
                value = trace_from_record(dict(reply))
            except ValueError as error:
                raise SubjectFailed(
                    f"the server answered a trace that can't be read: {error}"
                ) from None
        fault = recording.take(value)
        if fault is not None:
            raise SubjectFailed(f"the server answered {fault}")


class Mapped:
    """What `[target.request]` and `[target.response]` say."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        request = table.get("request") or {}
        self.method: str = request.get("method", "POST")
        body = request.get("body", {"query": "{query}"})
        self.body = Template(body, place="target.request.body")
        self.query = Template(request.get("query") or {}, place="target.request.query")
        self.paths: Mapping[str, Any] = table.get("response") or {}
        calls = (TOOLS,) if "tool_calls" in self.paths else ()
        self.observed: Sequence[str] = (OUTPUT, *calls)

    def url(self, url: str) -> str:
        """Return the URL as it is."""
        return url

    def headers(self) -> dict[str, str]:
        """Return none."""
        return {}

    def open(self, case: Case, *, conversation: str) -> _MappedTalk:
        """Return a conversation."""
        return _MappedTalk(self, case, conversation)


class _MappedTalk:
    def __init__(self, protocol: Mapped, case: Case, conversation: str) -> None:
        self._protocol = protocol
        self._case = case
        self._conversation = conversation
        self._session: Any = None

    def turn(self, text: str, recording: Recording) -> Turn:
        """Fill the request in, send it, and note what stands at the paths."""
        protocol = self._protocol
        words = words_of(
            self._case,
            text=text,
            messages=recording.messages,
            conversation=self._conversation,
            session=self._session,
        )
        reply = yield Request(
            protocol.body.fill(words),
            method=protocol.method,
            query=protocol.query.fill(words),
        )
        session = self._at(reply, "session")
        if session is not None:
            self._session = session
        self._note(reply, recording)

    def _note(self, reply: Any, recording: Recording) -> None:
        error = self._at(reply, "error")
        if error:
            raise SubjectFailed(f"the server answered with an error: {as_text(error)}")
        self._note_calls(reply, recording)
        tokens = {}
        for ours in ("input", "output"):
            count = self._at(reply, f"{ours}_tokens")
            if isinstance(count, int) and not isinstance(count, bool):
                tokens[ours] = count
        cost = self._at(reply, "cost_usd")
        known = isinstance(cost, (int, float)) and not isinstance(cost, bool)
        recording.usage({}, float(cost) if known else None)
        model = self._at(reply, "model")
        recording.model(
            None, tokens=tokens, model=model if isinstance(model, str) else None
        )
        path = self._protocol.paths.get("output", "")
        answer = lookup(reply, path)
        if answer is MISSING or answer is None:
            raise SubjectFailed(f"nothing stands at `{path}` in the server's answer")
        recording.answer(answer)

    def _note_calls(self, reply: Any, recording: Recording) -> None:
        calls = self._at(reply, "tool_calls")
        if not is_list(calls):
            return
        names = self._protocol.paths["call"]

        def part(call: Any, key: str) -> Any:
            return lookup(call, names[key]) if key in names else MISSING

        for number, call in enumerate(calls):
            name = part(call, "name")
            if not isinstance(name, str):
                raise SubjectFailed(
                    f"no name stands at `{names['name']}` of tool call {number}"
                )
            call_id = part(call, "id")
            key = call_id if isinstance(call_id, str) else f"call-{number}"
            arguments = part(call, "arguments")
            recording.call(
                name, None if arguments is MISSING else arguments, call_id=key
            )
            failed, result = part(call, "error"), part(call, "result")
            is_error = failed is not MISSING and bool(failed)
            if is_error or result is not MISSING:
                shown = failed if result is MISSING or result is None else result
                recording.result(name, shown, call_id=key, failed=is_error)

    def _at(self, reply: Any, key: str) -> Any:
        path = self._protocol.paths.get(key)
        found = MISSING if path is None else lookup(reply, path)
        return None if found is MISSING else found
