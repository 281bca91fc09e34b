"""What a run of the subject did, noted span by span as it happens.

A target notes here what its framework or its wire format says; whatever ends the run
early, what came before is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..record import like
from ..trace import Span, Trace, as_text
from .plain import plain

OUTPUT: Final = "output"
TOOLS: Final = "tools"
PATH: Final = "path"


class Recording:
    """The spans of one run, in order. `messages` is the conversation as chat messages,
    `history` what of it was said before the run.

    `observed` is what the source can show at all; `note` keeps facts for the trace.
    """

    def __init__(self, observed: Iterable[str] = (OUTPUT, TOOLS)) -> None:
        self.observed: set[str] = set(observed)
        self.messages: list[dict[str, str]] = []
        self.history: list[tuple[str, str]] = []
        self.notes: dict[str, Any] = {}
        self._spans: list[Span] = []
        self._added = 0
        self._agent: str | None = None
        self._tokens: dict[str, int] | None = None
        self._cost: float | None = None

    # -- messages ---------------------------------------------------------------------

    def system(self, text: str) -> None:
        """Note the instructions that the model was given, before what it answers."""
        self._add(name="system", kind="event", role="system", input=text)
        spans = self._spans
        if len(spans) > 1 and spans[-2].role == "user":
            spans[-2], spans[-1] = spans[-1], spans[-2]

    def user(self, text: str) -> None:
        """Note what the user says; it opens a turn."""
        self.messages.append({"role": "user", "content": text})
        self._add(name="user", kind="event", role="user", input=text)

    def past(self, role: str, text: str) -> None:
        """Note a message that was said before the run began."""
        self.history.append((role, text))
        self.messages.append({"role": role, "content": text})
        if role == "user":
            self._add(name="user", kind="event", role="user", input=text)
        elif role == "system":
            self._add(name="system", kind="event", role="system", input=text)
        else:
            self._add(name="assistant", kind="agent", role="assistant", output=text)

    def model(
        self,
        text: str | None,
        *,
        tokens: Mapping[str, int] | None = None,
        model: str | None = None,
        name: str = "assistant",
    ) -> None:
        """Note one response of a model: its text, if any, and what it used."""
        extra = {} if model is None else {"model": model}
        output = text if text else None
        tokens = dict(tokens) if tokens else None
        self._add(
            name=name,
            kind="llm",
            role="assistant",
            output=output,
            tokens=tokens,
            extra=extra,
        )

    def answer(self, value: Any, *, name: str = "assistant") -> None:
        """Note the answer of a turn, unless the last span says just that."""
        output = plain(value)
        text = as_text(output)
        if text is not None:
            self.messages.append({"role": "assistant", "content": text})
        last = self._spans[-1] if self._spans else None
        if output is None or (last is not None and _says(last, output)):
            return
        if last is not None and last.kind == "llm" and last.output is None:
            # The answer is this response: it is data, and no text.
            self._spans[-1] = like(last, output=output)
            return
        self._add(name=name, kind="agent", role="assistant", output=output)

    # -- tools and steps --------------------------------------------------------------

    def call(self, name: str, arguments: Any, *, call_id: str | None = None) -> None:
        """Note a tool call. Arguments in JSON text are read."""
        self._add(
            name=name,
            kind="tool",
            role="tool",
            input=arguments_of(arguments),
            tool_name=name,
            tool_call_id=call_id,
        )

    def result(
        self, name: str, value: Any, *, call_id: str | None = None, failed: bool = False
    ) -> None:
        """Note the result of a tool call, or with `failed` its error."""
        self._add(
            name=name,
            kind="tool",
            role="toolResult",
            status="error" if failed else "ok",
            output=plain(value),
            tool_name=name,
            tool_call_id=call_id,
        )

    def step(self, name: str, value: Any = None) -> None:
        """Note that a node of a workflow was visited, with what it gave."""
        self._add(name=name, kind="span", output=plain(value))

    def handoff(self, from_agent: str, to_agent: str) -> None:
        """Note that one agent handed the conversation over to another."""
        self._add(name=to_agent, kind="event", input={"from": from_agent})

    # -- the whole --------------------------------------------------------------------

    def agent(self, name: str | None) -> None:
        """Note the subject's own name."""
        self._agent = name or self._agent

    def mark_failed(self, call_id: str) -> None:
        """Mark the result of a call as an error that was seen only later."""
        for index, span in enumerate(self._spans):
            if span.role == "toolResult" and span.tool_call_id == call_id:
                self._spans[index] = like(span, status="error")

    def usage(self, tokens: Mapping[str, Any], cost_usd: float | None = None) -> None:
        """Add tokens (and cost) that only the run as a whole is said to have used."""
        for key, value in tokens.items():
            if isinstance(value, int) and not isinstance(value, bool):
                self._tokens = self._tokens or {}
                self._tokens[key] = self._tokens.get(key, 0) + value
        if cost_usd is not None:
            self._cost = (self._cost or 0.0) + cost_usd

    @property
    def spans(self) -> tuple[Span, ...]:
        """What was noted until now."""
        return tuple(self._spans)

    def take(self, value: Any) -> str | None:
        """Note what a target returned for a turn; return what is wrong with it.

        It is a text, JSON data, an answer with its calls, or a trace.
        """
        from .answer import checked, fault_of_calls, not_data

        if isinstance(value, Trace):
            taken = checked(value)
            if isinstance(taken, str):
                return taken
            self.extend(taken)
            return None
        if value is None:
            return "nothing"
        if isinstance(value, Mapping) and "tool_calls" in value and "output" in value:
            fault = not_data(dict(value)) or fault_of_calls(value["tool_calls"])
            if fault is not None:
                return fault
            self.calls(value["tool_calls"])
            value = value["output"]
            if value is not None:
                self.answer(value)
            return None
        fault = not_data(value)
        if fault is None:
            self.observed.discard(TOOLS)
            self.answer(value)
        return fault

    def calls(self, calls: Iterable[Mapping[str, Any]]) -> None:
        """Note tool calls in the form of a target: name, arguments, result or error."""
        for call in calls:
            call_id = str(call.get("id") or f"call-{self._added + 1}")
            self.call(call["name"], call.get("arguments"), call_id=call_id)
            error, result = call.get("error"), call.get("result")
            if error or "result" in call:
                self.result(
                    call["name"],
                    result if result is not None else error,
                    call_id=call_id,
                    failed=bool(error),
                )

    def extend(self, trace: Trace) -> None:
        """Add the spans of a trace that the subject made itself of this turn.

        Their ids are made anew; a user's message that only repeats the turn's is left
        out.
        """
        names: dict[str, str] = {}
        for index, span in enumerate(trace.spans):
            if index == 0 and span.role == "user" and span.text == self._last_said():
                continue
            self._added += 1
            names.setdefault(span.id, f"s{self._added}")
            parent = names.get(span.parent_id) if span.parent_id is not None else None
            self._spans.append(like(span, id=f"s{self._added}", parent_id=parent))
        if trace.answer is not None:
            self.messages.append({"role": "assistant", "content": trace.answer})
        self.observed &= trace.observed

    def _last_said(self) -> str | None:
        last = self._spans[-1] if self._spans else None
        return last.text if last is not None and last.role == "user" else None

    def trace(self, trace_id: str, *, error: str | None = None) -> Trace:
        """Return the trace; `error` is why the subject failed."""
        helix = dict(self.notes)
        if error is not None:
            helix["error"] = error
        return Trace(
            id=trace_id,
            spans=self.spans,
            status="ok" if error is None else "error",
            agent_name=self._agent,
            tokens=self._tokens,
            cost_usd=self._cost,
            ext={"helix": helix} if helix else {},
            observed=frozenset(self.observed),
        )

    def _add(self, **values: Any) -> None:
        self._added += 1
        self._spans.append(Span(id=f"s{self._added}", **values))


def _says(span: Span, output: Any) -> bool:
    return span.role == "assistant" and span.output == output


def arguments_of(value: Any) -> Any:
    """Return a call's arguments as data: frameworks often hold their JSON text."""
    if isinstance(value, (str, bytes)):
        import json

        try:
            return json.loads(value or "{}")
        except (ValueError, RecursionError):
            return plain(value)
    return plain(value)
