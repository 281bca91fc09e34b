"""A trace: what the subject did in one run, as spans, and the views that checks read.

The record follows UniTF (see `unitf`). Its views carry the traps of real files: text
may stand in `input` or `output` whatever the role, a tool call and its result are two
spans, token blocks repeat, and a span without a role reads by its kind.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

from .canonical import content_key, dump_line
from .lazy import lazy
from .record import field, record

Status = Literal["ok", "error", "unknown"]
Kind = Literal["llm", "tool", "retrieval", "agent", "event", "span"]
Role = Literal["user", "assistant", "system", "tool", "toolResult"]

MAX_COUNT: Final = 1e15
"""No run has as many tokens, dollars or milliseconds: more says nothing."""

# Shared by all records that say nothing more, so nobody may write into it.
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_ROLE_OF_KIND: Final[Mapping[str, Role]] = {
    "llm": "assistant",
    "agent": "assistant",
    "tool": "tool",
}


@record(kw_only=True)
class Span:
    """One observation. `input` and `output` are free data; times are ISO 8601 texts.

    `extra` holds what a source says beyond these fields, so that nothing is lost on
    the way through.
    """

    id: str
    name: str
    kind: Kind = "span"
    role: Role | None = None
    status: Status = "ok"
    parent_id: str | None = None
    start: str | None = None
    end: str | None = None
    input: Any = None
    output: Any = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tokens: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @property
    def effective_role(self) -> Role | None:
        """The role, or what the kind of a role-less span implies."""
        return self.role or _ROLE_OF_KIND.get(self.kind)

    @property
    def text(self) -> str | None:
        """The text of a message: in `output` or `input`, whichever carries it."""
        order = (self.output, self.input)
        if self.effective_role in ("user", "system"):
            order = (self.input, self.output)
        for value in order:
            text = as_text(value)
            if text is not None and text.strip():
                return text
        return None


@record(kw_only=True)
class ToolCall:
    """A tool call joined with its result.

    `arguments` is the call's input (an object where the tool takes one), `result` the
    result's output, None while `answered` is false. `error` is true when the call or
    its result says so. `index` counts calls from 0 in trace order. `known` is false
    where only the result was recorded, and so not what it was called with.

    Both are as they were recorded: many sources hold JSON text. A check that looks into
    them reads `arguments_data` and `result_data`.
    """

    index: int
    name: str
    arguments: Any
    result: Any
    answered: bool
    error: bool
    span_id: str
    result_span_id: str | None
    call_id: str | None
    known: bool = True

    @lazy
    def arguments_data(self) -> Any:
        """The arguments as data: what they are the JSON text of, else as they stand."""
        given = self.arguments
        return read_answer(given) if isinstance(given, str) else given

    @lazy
    def result_data(self) -> Any:
        """The result as data: an object or a list where its text is one, else itself.

        Chat content (a message, a list of parts) reads as its text, as in an answer.
        """
        text = self.result if isinstance(self.result, str) else parts_text(self.result)
        return self.result if text is None else read_answer(text)


@record
class Message:
    """One turn of the transcript."""

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    span_id: str


@record(kw_only=True)
class Usage:
    """What the subject used; None where the trace does not say. Never zero for unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None


@record(kw_only=True)
class Trace:
    """One run of the subject.

    `observed` says what the source was able to record: "output" alone for a target
    that returns only its answer; with "tools" and "path" where spans were recorded.
    What was not observed can't be decided: a check on it is uncertain, never a pass.
    `skipped` counts lines of the source that could not be read.
    """

    id: str
    spans: Sequence[Span] = ()
    status: Status = "ok"
    session_id: str | None = None
    agent_name: str | None = None
    source: str = "helix"
    start: str | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    tags: Sequence[str] = ()
    scores: Sequence[Mapping[str, Any]] = ()
    tokens: Mapping[str, Any] | None = None
    computed: Mapping[str, Any] | None = None
    ext: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    observed: frozenset[str] = frozenset(("output", "tools", "path"))

    # -- messages ---------------------------------------------------------------

    @lazy
    def transcript(self) -> tuple[Message, ...]:
        """The messages in order; tool results are turns of the role `tool`."""
        turns = []
        for span in self.spans:
            role = span.effective_role
            if role is None or role == "tool":
                continue
            text = span.text
            if text is None:
                continue
            turns.append(
                Message("tool" if role == "toolResult" else role, text, span.id)
            )
        return tuple(turns)

    @lazy
    def answer(self) -> str | None:
        """The last assistant text, or None where the subject gave none.

        What an agent around the last one that spoke says of itself comes after it.
        """
        for span in reversed(self.spans):
            text = _said(span)
            if text is not None:
                return text if span.parent_id is None else _around(self, span) or text
        return None

    @lazy
    def output(self) -> Any:
        """The answer as data: an object or a list where it is one, else its text."""
        for span in reversed(self.spans):
            if span.effective_role == "assistant" and isinstance(
                span.output, (dict, list)
            ):
                if as_text(span.output) == self.answer:
                    text = parts_text(span.output)
                    return span.output if text is None else read_answer(text)
        return None if self.answer is None else read_answer(self.answer)

    @lazy
    def prompt(self) -> str | None:
        """The first user text; with no user turn, the first model span's own input."""
        for span in self.spans:
            if span.effective_role == "user" and span.text is not None:
                return span.text
        for span in self.spans:
            if span.kind in ("llm", "agent"):
                text = as_text(span.input)
                if text is not None and text.strip():
                    return text
        return None

    # -- tools ------------------------------------------------------------------

    @lazy
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in order, each joined with its result by the tool call id.

        How they join is said at `_joined`. A result that stands for a call that was not
        recorded is a call of which it is not known what it was called with.
        """
        spans = self.spans
        calls: list[ToolCall] = []
        # Where no result has a span of its own, a span that ended is the whole call.
        whole = not any(span.role == "toolResult" for span in spans)
        for at, back in self.call_positions:
            span = spans[at]
            name = span.tool_name or span.name
            if span.role == "toolResult":
                calls.append(
                    ToolCall(
                        index=len(calls),
                        name=name,
                        arguments=None,
                        result=span.output,
                        answered=True,
                        error=span.status == "error",
                        span_id=span.id,
                        result_span_id=span.id,
                        call_id=span.tool_call_id,
                        known=False,
                    )
                )
                continue
            joined = spans[back] if back != at else None
            calls.append(
                ToolCall(
                    index=len(calls),
                    name=name,
                    arguments=span.input,
                    result=joined.output if joined is not None else span.output,
                    answered=joined is not None
                    or span.output is not None
                    or (whole and span.end is not None),
                    error=span.status == "error"
                    or (joined is not None and joined.status == "error"),
                    span_id=span.id,
                    result_span_id=joined.id if joined is not None else None,
                    call_id=span.tool_call_id,
                )
            )
        return tuple(calls)

    @lazy
    def call_positions(self) -> tuple[tuple[int, int], ...]:
        """For each call in order, the positions of its span and of its result's.

        Positions count spans. Both are one where the result has no span of its own, is
        not recorded, or stands for a call that was not.
        """
        return _joined(self.spans)

    # -- measures ---------------------------------------------------------------

    @lazy
    def steps(self) -> int:
        """How many model turns and tool calls there were (results do not count)."""
        turns = sum(1 for s in self.spans if s.effective_role == "assistant")
        return turns + len(self.tool_calls)

    @lazy
    def usage(self) -> Usage:
        """Tokens, cost and latency, each block of tokens counted once.

        Spans of one message repeat its block, and a source's total may sum the
        repeats: equal blocks in a row (no tool result or user turn between them)
        count once; spans that name their message (`messageId`) count once for each
        message. A block that can't be read leaves the sum unknown. Without blocks on
        spans, the trace's own figures are taken.
        """
        seen_input = seen_output = 0
        total: int | None = 0
        known = any(span.tokens for span in self.spans)
        last: tuple[Any, ...] | None = None
        told: set[str] = set()
        readable = True
        for span in self.spans if known else ():
            if span.effective_role in ("user", "toolResult"):
                last = None
            if not span.tokens:
                continue
            message = span.extra.get("messageId")
            if isinstance(message, str):
                if message in told:
                    continue
                told.add(message)
                last = None
            block = tuple(sorted((k, v) for k, v in span.tokens.items()))
            if block == last:
                continue
            last = block
            first, second, both = _counts(span.tokens)
            readable = readable and first is not None and second is not None
            seen_input += first or 0
            seen_output += second or 0
            total = None if total is None or both is None else total + both
        if known:
            return Usage(
                input_tokens=seen_input if readable else None,
                output_tokens=seen_output if readable else None,
                total_tokens=total,
                cost_usd=self.cost_usd,
                latency_ms=self._latency,
            )
        tokens = self.tokens
        if not tokens:
            return Usage(cost_usd=self.cost_usd, latency_ms=self._latency)
        first, second, both = _counts(tokens)
        total = as_count(tokens.get("total"))
        total = both if total is None else total
        return Usage(
            input_tokens=first,
            output_tokens=second,
            total_tokens=total,
            cost_usd=self.cost_usd,
            latency_ms=self._latency,
        )

    @property
    def _latency(self) -> float | None:
        if self.latency_ms is not None:
            return self.latency_ms
        duration = (self.computed or {}).get("durationMs")
        if isinstance(duration, bool) or not isinstance(duration, (int, float)):
            return None
        return float(duration) if 0 <= duration < MAX_COUNT else None

    @lazy
    def models(self) -> tuple[str, ...]:
        """The models that the trace says the subject ran on, sorted."""
        found = set()
        blocks = [self.ext, self.extra, *(span.extra for span in self.spans)]
        agent = self.ext.get("agent")
        if isinstance(agent, Mapping):
            blocks.append(agent)
        for block in blocks:
            if block:
                model = block.get("model")
                if isinstance(model, str):
                    found.add(model)
        return tuple(sorted(found))

    # -- fidelity ---------------------------------------------------------------

    @lazy
    def incomplete(self) -> str | None:
        """Why the trace can't be judged, or None.

        A trace is incomplete when it is empty, when it stops in the middle of a
        call (of a tool or of the model), or when the subject failed or ended before
        anything came of it. A producer's own `incomplete` flag on a trace that ends
        with an answer is only a warning (`flagged_incomplete`).
        """
        if not self.spans:
            return "the trace is empty"
        last = self.spans[-1]
        if _said(last) is not None:
            return None
        if self.status == "error":
            return "the subject failed before it answered" + self._error
        calls = self.tool_calls
        if calls and not calls[-1].answered and last.id == calls[-1].span_id:
            return f"the trace stops in a call of {calls[-1].name}"
        if self.answer is None and not calls and not any(map(_gave, self.spans)):
            return "the trace ends before the subject answered"
        return self._stops_in

    @property
    def _stops_in(self) -> str | None:
        """Which call nothing came of, where no answer followed it; or None.

        What a span above the last one said was said after it: it closes the span.
        """
        above = _above(self.spans)
        tail: list[Span] = []
        for span in reversed(self.spans):
            if _said(span) is not None:
                if id(span) in above:
                    return None
                break
            tail.append(span)
        unanswered = {
            call.span_id: call for call in self.tool_calls if not call.answered
        }
        ended = False  # whether the last thing that the subject did came to an end
        for span in tail:
            if span.id in unanswered:
                return f"the trace stops in a call of {unanswered[span.id].name}"
            if ended or id(span) in above:
                continue
            if span.effective_role == "assistant" and not _gave(span):
                if span.status == "error" or span.input is not None:
                    return (
                        f"the trace stops in a call of {span.name}, which gave nothing"
                    )
            elif span.effective_role in ("assistant", "tool", "toolResult"):
                ended = True
        return None

    @property
    def _error(self) -> str:
        """Why the subject failed, as `: TEXT`, or nothing."""
        from .failures import cause_of, error_of

        error = error_of(self)
        return "" if error is None else f": {cause_of(error)}"

    @property
    def flagged_incomplete(self) -> str | None:
        """The producer's own reason for calling the trace incomplete, or None."""
        block = self.ext.get("eval")
        if isinstance(block, Mapping) and block.get("incomplete"):
            return str(block.get("incompleteReason") or "flagged by its producer")
        return None

    @lazy
    def digest(self) -> str:
        """The content hash of what checks and judges can read of the trace."""
        from .unitf import trace_to_record

        return content_key(dump_line(trace_to_record(self)))


def _joined(spans: Sequence[Span]) -> tuple[tuple[int, int], ...]:
    """Return the positions of each call and of its result; of none, its own.

    Results join by the id of their call: ids may start anew at each turn, so the first
    result of an id is that of its first call. A result without the id of a call is that
    of the first open call of its name, or, without a name, of the only open call. What
    names its tool and belongs to no call stands for one that was not recorded. Where a
    source gives both spans the role of a call, the second one of an id that has an
    output alone is the result.
    """
    made: dict[int, int] = {}
    by_id: dict[str, list[int]] = {}
    results: list[int] = []
    for at, span in enumerate(spans):
        if span.role == "toolResult":
            results.append(at)
        elif span.kind == "tool" and span.effective_role == "tool":
            if span.tool_call_id is not None:
                calls = by_id.setdefault(span.tool_call_id, [])
                if calls and _answers(span, spans[calls[-1]]):
                    results.append(at)
                    continue
                calls.append(at)
            made[at] = at
    if not results:
        return tuple(made.items())
    rest = []
    turn: dict[str, int] = {}
    for at in results:
        key = spans[at].tool_call_id
        calls = [] if key is None else by_id.get(key, [])
        if not calls:
            rest.append(at)
            continue
        number = turn[str(key)] = turn.get(str(key), -1) + 1
        if number < len(calls):
            made[calls[number]] = at
    if rest:
        _join_by_name(spans, rest, made)
    return tuple(sorted(made.items()))


def _answers(span: Span, call: Span) -> bool:
    return span.input is None and span.output is not None and call.output is None


def _join_by_name(
    spans: Sequence[Span], results: Sequence[int], made: dict[int, int]
) -> None:
    """Add to `made` the results that have no id of a call."""
    waiting = [at for at, back in made.items() if back == at]
    opened = 0
    open_calls: dict[str, deque[int]] = {}
    for at in results:
        while opened < len(waiting) and waiting[opened] < at:
            span = spans[waiting[opened]]
            if span.output is None:
                name = span.tool_name or span.name
                open_calls.setdefault(name, deque()).append(waiting[opened])
            opened += 1
        span = spans[at]
        name = span.tool_name or span.name
        queue = open_calls.get(name)
        named = span.tool_name is not None or (
            span.kind == "tool" and span.name not in _NAMELESS
        )
        if queue is None and not named and len(open_calls) == 1:
            ((name, queue),) = open_calls.items()
            queue = queue if len(queue) == 1 else None
        if queue:
            made[queue.popleft()] = at
            if not queue:
                del open_calls[name]
        elif named:
            made[at] = at


_NAMELESS: Final = frozenset(("tool", "tool_result", "toolResult", "tool-result"))


def _said(span: Span) -> str | None:
    """What a span has the subject say, or None. A model's input is what it was asked."""
    if span.effective_role != "assistant":
        return None
    text = as_text(span.output)
    if text is None and span.role == "assistant":
        text = as_text(span.input)
    return text if text is not None and text.strip() else None


def _around(trace: Trace, span: Span) -> str | None:
    """Return what the outermost agent around a span says at its end, or None.

    Data is taken for it only around a tool's call, where what was said inside is not
    the run's own: elsewhere it may be the state of a workflow. The conversation that a
    framework repeats is no saying.
    """
    by_id = {one.id: one for one in trace.spans}
    seen = {span.id}
    found: str | None = None
    in_tool = False
    above = by_id.get(span.parent_id or "")
    while above is not None and above.id not in seen:
        seen.add(above.id)
        in_tool = in_tool or above.kind == "tool"
        if above.kind == "agent" and not is_conversation(above.output):
            text = _said(above) if above.output is not None else None
            if in_tool or isinstance(above.output, str) or parts_text(above.output):
                found = text or found
        above = by_id.get(above.parent_id or "")
    return found


def is_conversation(data: Any) -> bool:
    """Whether data is the whole conversation so far: messages, or what holds them.

    Frameworks record that at every step; it does not show what the step was for.
    """
    value = parse_json(data) if isinstance(data, str) else data
    messages = value.get("messages") if isinstance(value, Mapping) else value
    if isinstance(messages, list) and messages:
        first = messages[0]
        if isinstance(first, Mapping) and "content" in first:
            return "role" in first or "type" in first
    return False


def _above(spans: Sequence[Span]) -> set[int]:
    """Return the `id()` of the spans that the last one is a part of."""
    by_id = {span.id: span for span in spans}
    found: set[int] = set()
    span: Span | None = spans[-1]
    while span is not None and span.parent_id is not None:
        span = by_id.get(span.parent_id)
        if span is None or id(span) in found:
            break
        found.add(id(span))
    return found


def _gave(span: Span) -> bool:
    """Whether a span holds something that came of the run; a blank text is nothing,
    nor are a message without words and a model's thoughts."""
    if span.effective_role in ("user", "system"):
        return False
    output = span.output
    if isinstance(output, Mapping) and "role" in output and "content" in output:
        if output.keys() <= _SAYS:
            output = output["content"]
    if isinstance(output, list) and output and parts_text(output) is not None:
        return any(map(_gives, output))
    return not (output is None or (isinstance(output, str) and not output.strip()))


_SAYS: Final = frozenset(("role", "content", "id", "type", "name"))
_THOUGHTS: Final = frozenset(("thinking", "redacted_thinking", "reasoning"))


def _gives(part: Mapping[str, Any]) -> bool:
    """Whether a part of a message is more than a thought or a blank text."""
    if part["type"] == "text":
        text = part.get("text")
        return not isinstance(text, str) or bool(text.strip())
    return part["type"] not in _THOUGHTS


def as_text(value: Any) -> str | None:
    """Return free data as text: a text as it is, chat parts joined, data as JSON."""
    if value is None:
        return None
    if isinstance(value, str):
        return value
    text = parts_text(value)
    if text is not None:
        return text
    try:
        return dump_line(value)
    except (ValueError, TypeError):
        # A target's own data may hold what JSON can't: NaN, an object, a circle.
        return f"<{type(value).__name__} that is not JSON>"


def parts_text(value: Any) -> str | None:
    """Return the text of chat content, or None where `value` is not chat content.

    Chat content is a message `{role, content}` or a list of parts `{type: text, text}`,
    thoughts, calls and results. Other data may have a `role` or `type` of its own.
    """
    if isinstance(value, Mapping) and "content" in value and "role" in value:
        if value["role"] not in _ROLES:
            return None
        content = value["content"]
        return content if isinstance(content, str) else parts_text(content)
    if isinstance(value, list) and value:
        texts = []
        told = True
        for part in value:
            if not isinstance(part, Mapping) or "type" not in part:
                return None
            kind = part["type"]
            key = _TEXT_PARTS.get(kind) if isinstance(kind, str) else None
            if key is not None and isinstance(part.get(key), str):
                texts.append(part[key])
            elif kind not in _SILENT_PARTS:
                told = False
        return "\n".join(texts) if told or texts else None
    return None


_ROLES: Final = (
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "function",
    "model",
    "human",
    "ai",
)
_TEXT_PARTS: Final[Mapping[str, str]] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
}
_SILENT_PARTS: Final = (
    "thinking",
    "redacted_thinking",
    "reasoning",
    "tool_use",
    "tool_call",
    "tool-call",
    "function_call",
    "tool_result",
    "tool-result",
    "function_call_output",
)


def parse_json(text: str) -> Any:
    """Return the object or list that `text` is the JSON of, else `text` itself."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return text
    import json

    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return text


def read_answer(text: str) -> Any:
    """Return the object or list that an answer is the JSON of, else its text.

    JSON that readers take in more than one way (a key that stands twice, NaN) is text:
    what is decided must be what everybody reads.
    """
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return text
    from .strict_json import unambiguous

    try:
        return unambiguous(stripped)
    except (ValueError, RecursionError):
        return text


def _counts(tokens: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    """Return the tokens in, out and both of a block; None for what it does not say."""
    first, second = as_count(tokens.get("input")), as_count(tokens.get("output"))
    if first is None or second is None:
        return first, second, as_count(tokens.get("total"))
    return first, second, first + second


def as_count(value: Any) -> int | None:
    """Return a token count, or None for what is not one (a bool is not a count)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # NaN and infinities, which lenient JSON lets through, are no counts either.
    return int(value) if 0 <= value < MAX_COUNT else None
