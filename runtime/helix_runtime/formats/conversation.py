"""Build a trace's spans from what a source recorded: messages, calls, results, steps.

Each model call of a recorded run repeats the whole conversation so far. Here every turn
becomes one span, at its first mention; a tool call is the span of the call, joined by
its id with the span of its result, whoever told of it: the tool's own observation, or
the message that gave the result back to the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ..canonical import dump_line
from ..record import field, record
from ..trace import Span, Status, parse_json
from .chat import ChatMessage, last_text, messages_of
from .chat_parts import Call, Result

Kind = Literal["model", "tool", "step", "retrieval", "event"]

_NOTHING: Final[Mapping[str, Any]] = {}
_MAX_NESTING: Final = 64


@record(kw_only=True)
class Observation:
    """One thing that a source recorded, before it becomes spans.

    `asked` and `replied` are the messages of a model call (None where they were not
    recorded); `input` and `output` the free data of anything else. `tokens` are those
    of this observation alone.
    """

    id: str
    name: str
    kind: Kind
    parent_id: str | None = None
    start: str | None = None
    end: str | None = None
    status: Status = "ok"
    asked: Sequence[ChatMessage] | None = None
    replied: Sequence[ChatMessage] | None = None
    input: Any = None
    output: Any = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tokens: Mapping[str, Any] | None = None
    cost: float | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


class Conversation:
    """The spans of one run, growing in order."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.models = 0
        self.tools = 0
        self.unjoined = 0
        self._known: Counter[str] = Counter()
        self._open: dict[str, Call] = {}
        self._calls: dict[str, Call] = {}
        self._answered: set[str] = set()
        self._ids: Counter[str] = Counter()

    # -- messages ---------------------------------------------------------------------

    def history(
        self, messages: Iterable[ChatMessage], *, parent: Observation | None = None
    ) -> None:
        """Add those messages of a model call's input that were not told of yet."""
        inside: Counter[str] = Counter()
        for message in messages:
            if message.role == "tool":
                for result in message.results:
                    self.result(result, parent=parent)
                continue
            key = _key(message)
            inside[key] += 1
            if inside[key] > self._known[key]:
                self.turn(message, parent=parent)

    def turn(
        self,
        message: ChatMessage,
        *,
        parent: Observation | None = None,
        of: Observation | None = None,
        span_id: str | None = None,
        start: str | None = None,
        tokens: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Add a message as it stands, with its calls and results.

        `of` is the observation that the message is the output of: its span.
        """
        if message.role == "tool":
            for result in message.results:
                self.result(result, parent=parent, span_id=span_id, start=start)
            return
        self._known[_key(message)] += 1
        source = of or parent
        assistant = message.role == "assistant"
        span_id = self._unique(span_id or (of.id if of else None) or message.role)
        text = message.text
        name = message.name or message.role
        self.spans.append(
            Span(
                id=span_id,
                parent_id=of.parent_id if of else (parent.id if parent else None),
                name=of.name if of else name,
                kind="llm" if assistant else "event",
                role=message.role,
                status=of.status if of else "ok",
                start=start or (source.start if source else None),
                end=of.end if of else None,
                input=None if assistant else text,
                output=text if assistant else None,
                tokens=tokens if of is None else of.tokens,
                extra=extra if of is None else {**extra, **_extra(of)},
            )
        )
        for call in message.calls:
            self.call(call, parent_id=span_id, start=start or (of.end if of else None))

    def call(
        self, call: Call, *, parent_id: str | None = None, start: str | None = None
    ) -> None:
        """Add a tool call, which waits for its result from here on."""
        span_id = self._unique(call.id or f"{parent_id or 'model'}-call")
        # A call without an id gets its span's: its result is joined by it all the same.
        call_id = call.id or span_id
        if call_id in self._calls:
            call_id = span_id  # an id that was used before joins nothing
        self._calls[call_id] = call
        self._open[call_id] = call
        self.tools += 1
        self.spans.append(
            Span(
                id=span_id,
                parent_id=parent_id,
                name=call.name,
                kind="tool",
                role="tool",
                tool_name=call.name,
                tool_call_id=call_id,
                start=start,
                input=call.arguments,
            )
        )

    def result(
        self,
        result: Result,
        *,
        parent: Observation | None = None,
        span_id: str | None = None,
        start: str | None = None,
        end: str | None = None,
        extra: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Add what a tool gave back, joined with its call; once for each call."""
        call_id = result.id
        if call_id is not None and call_id in self._answered:
            return
        if call_id is None or call_id not in self._calls:
            found = None if call_id else self._waiting(result.name, None)
            if found is None and call_id is None and self._repeats(result):
                return
            call_id = found or call_id
        if call_id is not None:
            self._answered.add(call_id)
            self._open.pop(call_id, None)
        if call_id is None or call_id not in self._calls:
            self.unjoined += 1
        self._known[_result_key(result)] += 1
        self.spans.append(
            Span(
                id=self._unique(span_id or f"{call_id or 'tool'}-result"),
                parent_id=parent.id if parent else None,
                name=result.name or "tool_result",
                kind="tool",
                role="toolResult",
                status="error" if result.error else "ok",
                tool_call_id=call_id,
                start=start or (parent.start if parent else None),
                end=end,
                # A result of nothing is a result: the call was answered.
                output="" if result.output is None else result.output,
                extra=extra,
            )
        )

    def _repeats(self, result: Result) -> bool:
        """Whether a result without an id only tells again what is known."""
        return self._known[_result_key(result)] > 0

    def _waiting(self, name: str | None, arguments: Any) -> str | None:
        """Return the first call that waits for a result: by arguments, then by name."""
        same = [
            call_id
            for call_id, call in self._open.items()
            if name is None or call.name == name
        ]
        if arguments is not None:
            for call_id in same:
                if _data(self._open[call_id].arguments) == _data(arguments):
                    return call_id
        return same[0] if same else None

    # -- observations -----------------------------------------------------------------

    def model(self, seen: Observation) -> None:
        """Add a call of a model: the turns that are new, then what it replied."""
        self.models += 1
        self.history(seen.asked or (), parent=seen)
        replies = [m for m in seen.replied or () if m.role == "assistant"]
        for message in seen.replied or ():
            if message.role == "tool":
                self.turn(message, parent=seen)
        if not replies:
            self._wordless(seen)
            return
        for index, message in enumerate(replies):
            first = index == 0
            self.turn(message, of=seen if first else None, parent=seen)

    def tool(self, seen: Observation) -> None:
        """Add a tool's own observation: the result of the call that it answers.

        Where no model call told of it, the observation is the call and its result.
        """
        name = seen.tool_name or seen.name
        call_id = seen.tool_call_id
        if call_id is None or call_id not in self._calls:
            # A framework may give the call an id of its own: the model's had none.
            call_id = self._waiting(name, seen.input) or call_id
        failed = seen.status == "error"
        if call_id is not None and call_id in self._calls:
            if call_id in self._answered:
                return
            self.result(
                Result(call_id, name, seen.output, failed),
                span_id=seen.id,
                start=seen.start,
                end=seen.end,
                extra=seen.extra,
            )
            return
        self.tools += 1
        self._known[_result_key(Result(None, name, seen.output))] += 1
        key = call_id or seen.id
        self._calls[key] = Call(call_id, name, seen.input)
        self._answered.add(key)
        output = seen.output
        if output is None and seen.status == "ok" and seen.end is not None:
            output = ""
        self.spans.append(
            Span(
                id=self._unique(seen.id),
                parent_id=seen.parent_id,
                name=seen.name,
                kind="tool",
                role="tool",
                status=seen.status,
                tool_name=name,
                tool_call_id=key,
                start=seen.start,
                end=seen.end,
                input=seen.input,
                output=output,
                extra=seen.extra,
            )
        )

    def _wordless(self, seen: Observation) -> None:
        """Add a model call whose reply is data, failed or was not recorded."""
        self.spans.append(
            Span(
                id=self._unique(seen.id),
                parent_id=seen.parent_id,
                name=seen.name,
                kind="llm",
                role="assistant",
                status=seen.status,
                start=seen.start,
                end=seen.end,
                # Its input, the conversation so far, would read as what it said.
                output=seen.output,
                tokens=seen.tokens,
                extra=_extra(seen),
            )
        )

    def step(
        self, seen: Observation, *, kind: Literal["span", "retrieval"] = "span"
    ) -> None:
        """Add a step of the run that is no turn of the conversation."""
        self.spans.append(
            Span(
                id=self._unique(seen.id),
                parent_id=seen.parent_id,
                name=seen.name,
                kind=kind,
                status=seen.status,
                start=seen.start,
                end=seen.end,
                input=seen.input,
                output=seen.output,
                extra=seen.extra,
            )
        )

    def _unique(self, wanted: str) -> str:
        self._ids[wanted] += 1
        number = self._ids[wanted]
        if number == 1:
            return wanted
        return self._unique(f"{wanted}-{number}")


# -- a tree of observations ----------------------------------------------------------


@record(kw_only=True)
class Told:
    """What came of a tree: the spans, and what the source was able to tell.

    `tokens` are those of the run as a whole, where no model call tells its own.
    """

    spans: tuple[Span, ...]
    observed: frozenset[str]
    tokens: Mapping[str, Any] | None
    cost: float | None
    status: Status


def tell(
    observations: Sequence[Observation], *, input: Any = None, output: Any = None
) -> Told:
    """Return the spans of a run from its observations, in the order of their start.

    `input` and `output` are those that the source gives for the run as a whole; the
    one observation without a parent stands in for what is missing. A model call that
    holds others is the frame of them: its usage would count theirs again.
    """
    known = {o.id for o in observations}
    roots = [o for o in observations if o.parent_id not in known]
    root = roots[0] if len(roots) == 1 else None
    ordered = _in_order(observations, root)
    frames = {o.id for o in ordered if o.kind == "model"} & _holding_models(ordered)
    conversation = Conversation()
    asked: Sequence[ChatMessage] | None = messages_of(input, role="user")
    if asked is None and root is not None:
        asked = root.asked or messages_of(root.input, role="user")
    first = next((o.asked for o in ordered if o.asked and o.id not in frames), None)
    if asked and not _opens_with(first, asked):
        conversation.history(asked)
    for seen in ordered:
        if seen.kind == "model" and seen.id not in frames:
            conversation.model(seen)
        elif seen.kind == "tool":
            conversation.tool(seen)
        elif seen.kind == "retrieval":
            conversation.step(seen, kind="retrieval")
        else:
            conversation.step(_framed(seen) if seen.id in frames else seen)
    _conclude(conversation, root, output)
    counted = [o for o in ordered if o.id not in frames]
    costs = [o.cost for o in counted if o.cost is not None]
    # Where only a frame, or the root, tells what the run took, it tells of all of it.
    whole = [o for o in ordered if o.id in frames or o is root]
    if not costs:
        costs = [o.cost for o in whole if o.cost is not None][:1]
    tokens = None
    if not any(span.tokens for span in conversation.spans):
        tokens = next((o.tokens for o in whole if o.tokens), None)
    return Told(
        spans=tuple(conversation.spans),
        observed=_observed(conversation, counted, root),
        tokens=tokens,
        cost=sum(costs) if costs else None,
        status="error" if root is not None and root.status == "error" else "ok",
    )


def _in_order(
    observations: Sequence[Observation], root: Observation | None
) -> list[Observation]:
    """Order by start; what starts together, the outer first, then as recorded."""
    parent = {o.id: o.parent_id for o in observations}

    def depth(span_id: str) -> int:
        steps = 0
        above = parent.get(span_id)
        while above is not None and steps < _MAX_NESTING:
            steps += 1
            above = parent.get(above)
        return steps

    # The root comes first even where its clock says otherwise.
    return sorted(
        observations,
        key=lambda o: (o is not root, o.start or "", depth(o.id)),
    )


def _holding_models(observations: Sequence[Observation]) -> set[str]:
    """Return the ids of those that have a model call somewhere inside."""
    parent = {o.id: o.parent_id for o in observations}
    holding: set[str] = set()
    for seen in observations:
        if seen.kind != "model":
            continue
        above = seen.parent_id
        steps = 0
        while above is not None and above not in holding and steps < _MAX_NESTING:
            holding.add(above)
            above = parent.get(above)
            steps += 1
    return holding


def _framed(seen: Observation) -> Observation:
    return Observation(
        id=seen.id,
        name=seen.name,
        kind="step",
        parent_id=seen.parent_id,
        start=seen.start,
        end=seen.end,
        status=seen.status,
        input=seen.input,
        output=seen.output,
        extra=seen.extra,
    )


def _opens_with(
    first: Sequence[ChatMessage] | None, asked: Sequence[ChatMessage]
) -> bool:
    """Whether the first model call's own order already starts with what was asked."""
    if not first:
        return False
    spoken = [m for m in first if m.role == "user"]
    wanted = [m for m in asked if m.role == "user"]
    return bool(spoken and wanted) and _key(spoken[0]) == _key(wanted[0])


def _conclude(
    conversation: Conversation, root: Observation | None, output: Any
) -> None:
    """Add the run's own answer where it is not the last thing that a model said."""
    last = next(
        (
            s.output
            for s in reversed(conversation.spans)
            if s.role == "assistant" and s.output
        ),
        None,
    )
    places: list[tuple[Any, Sequence[ChatMessage] | None]] = [(output, None)]
    if root is not None:
        places.append((root.output, root.replied))
    for value, replied in places:
        messages = replied or messages_of(value, role="assistant")
        text = last_text(messages)
        if messages is not None and any(m.role == "assistant" for m in messages):
            if text is not None and not _same(text, last):
                conversation.turn(ChatMessage("assistant", text), parent=root)
            return
        data = parse_json(value) if isinstance(value, str) else value
        if data is None or data == "" or data == {} or data == []:
            continue
        if not _holds(data, last):
            conversation.spans.append(
                Span(
                    id="answer",
                    parent_id=root.id if root else None,
                    name="assistant",
                    kind="agent",
                    role="assistant",
                    output=data,
                    end=root.end if root else None,
                )
            )
        return


def _observed(
    conversation: Conversation, counted: Sequence[Observation], root: Observation | None
) -> frozenset[str]:
    models = [o for o in counted if o.kind == "model"]
    spoke = [o for o in models if o.replied is not None]
    observed = set()
    said = any(
        s.role == "assistant" and s.output is not None for s in conversation.spans
    )
    if said or spoke:
        observed.add("output")
    # A model call without its messages might have asked for any tool; a tool's own
    # observation shows that tools are recorded.
    if conversation.tools or (spoke and len(spoke) == len(models)):
        observed.add("tools")
    if any(o is not root for o in counted):
        observed.add("path")
    return frozenset(observed)


def _extra(seen: Observation) -> Mapping[str, Any]:
    """Return what is kept of a model call: its usage is that of its own message."""
    if not seen.tokens or "messageId" in seen.extra:
        return seen.extra
    return {**seen.extra, "messageId": seen.id}


def _key(message: ChatMessage) -> str:
    text = " ".join((message.text or "").split())
    calls = [f"{call.name}\0{_data(call.arguments)}" for call in message.calls]
    return "\0\0".join((message.role, text, *calls))


def _result_key(result: Result) -> str:
    return f"result\0{result.name or ''}\0{_data(result.output)}"


def _data(value: Any) -> str:
    """Return free data as comparable text: JSON without the order of its keys."""
    value = parse_json(value) if isinstance(value, str) else value
    if isinstance(value, str):
        return " ".join(value.split())
    try:
        return dump_line(_sorted(value, 0))
    except (ValueError, TypeError):
        return repr(type(value))


def _sorted(value: Any, depth: int) -> Any:
    if depth > _MAX_NESTING:
        return None
    if isinstance(value, Mapping):
        return {str(k): _sorted(value[k], depth + 1) for k in sorted(value, key=str)}
    if isinstance(value, list):
        return [_sorted(item, depth + 1) for item in value]
    return value


def _same(text: str, last: Any) -> bool:
    return isinstance(last, str) and _data(text) == _data(last)


def _holds(data: Any, last: Any) -> bool:
    """Whether the run's output is the last words, or an object of nothing but them."""
    if last is None:
        return False
    if _data(data) == _data(last):
        return True
    if isinstance(data, Mapping) and len(data) == 1:
        return _data(next(iter(data.values()))) == _data(last)
    return False
