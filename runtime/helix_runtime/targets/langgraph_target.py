"""A compiled graph of LangGraph: `langgraph:MODULE:GRAPH`.

The graph is streamed: each node's update is a step of the path, and the messages in it
are the record of models and tools. What came before a node that breaks is kept.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from ..case import Case
from ..checks.paths import MISSING, lookup
from ..refusal import Refusal
from . import Target
from .framework import (
    FrameworkTarget,
    Maker,
    model_server_fault,
    tokens_of,
    value_of,
)
from .hooks import hook_of, simulator_of
from .importing import import_framework, import_object
from .options import TargetOptions
from .recording import OUTPUT, PATH, TOOLS, Recording
from .templating import Template, words_of

FORM: Final = "langgraph:MODULE:GRAPH"
_TOKENS: Final = {"input": "input_tokens", "output": "output_tokens"}
_MODES: Final = ["updates", "values"]
_ASK: Final = "__interrupt__"


def open_langgraph(rest: str, *, root: Path, options: TargetOptions) -> Target:
    """Return the target of `MODULE:GRAPH`, a compiled graph or a function that makes one.

    Raises Refusal where it can't be imported, LangGraph is not there, or nothing says
    what goes into a graph without `messages`.
    """
    name = f"langgraph:{rest}"
    found = import_object(rest, name=name, form=FORM, root=root)
    protocol = import_framework(
        "langgraph.pregel.protocol", package="langgraph", name=name, subject=found
    )
    if hasattr(found, "compile") and not hasattr(found, "astream"):
        raise Refusal(
            f"the target {name!r} is a graph that is not compiled: name what "
            "`.compile()` returns"
        )
    maker = Maker(
        found,
        name=name,
        is_agent=lambda value: isinstance(value, protocol.PregelProtocol),
    )
    deps = hook_of(options.deps, key="deps", default="deps", hooks=None, root=root)
    template = None
    if "input" in options.table:
        template = Template(options.table["input"], place="target.input")
    adapter = _LangGraph(
        maker,
        name=name,
        deps=deps,
        template=template,
        output=options.table.get("output"),
    )
    if maker.shared is not None:
        adapter.check(maker.shared)
    simulator = simulator_of(options, root=root)
    return FrameworkTarget(name, adapter, options=options, simulator=simulator)


class _LangGraph:
    observed: Sequence[str] = (OUTPUT, TOOLS, PATH)

    def __init__(
        self,
        maker: Maker,
        *,
        name: str,
        deps: Callable[..., Any] | None,
        template: Template | None,
        output: str | None,
    ) -> None:
        self._maker = maker
        self._name = name
        self._deps = deps
        self.template = template
        self.output = output

    async def start(self) -> None:
        """Nothing is shared but the graph itself."""

    async def stop(self) -> None:
        """Nothing is shared but the graph itself."""

    def check(self, graph: Any) -> None:
        """Raise Refusal where nothing says what goes into the graph."""
        if self.template is None and not _has_messages(graph):
            raise Refusal(
                f"the target {self._name!r} has no `messages` in its state: say under "
                '[target] what goes in (input = { question = "{query}" }) and what of '
                'its state is the answer (output = "answer")'
            )

    async def open(
        self, case: Case, *, trace_id: str, history: tuple[tuple[str, str], ...]
    ) -> _Thread:
        """Return a thread of its own: a checkpointer keeps nothing of another case."""
        graph = await self._maker.make(case)
        self.check(graph)
        keywords = {}
        if self._deps is not None:
            keywords["context"] = await value_of(self._deps, case)
        thread = f"{trace_id}-{uuid4().hex}"
        return _Thread(self, graph, case, thread, list(history), keywords)

    def unreachable(self, error: BaseException) -> str | None:
        """Look for an error of a model's SDK."""
        return model_server_fault(error)


class _Thread:
    """One conversation: a thread of the graph, or the messages carried along."""

    def __init__(
        self,
        adapter: _LangGraph,
        graph: Any,
        case: Case,
        thread: str,
        history: list[tuple[str, str]],
        keywords: dict[str, Any],
    ) -> None:
        self._adapter = adapter
        self._graph = graph
        self._case = case
        self._thread = thread
        self._carried: list[Any] = [
            {"role": role, "content": text} for role, text in history
        ]
        self._keywords = keywords
        self._keeps = getattr(graph, "checkpointer", None) not in (None, False)
        self._asked = False
        self._seen: set[Any] = set()

    async def say(self, text: str, recording: Recording) -> None:
        """Stream the graph on one message and note each update."""
        name = getattr(self._graph, "name", None)
        recording.agent(None if name == "LangGraph" else name)
        state: Any = None
        asked: Any = None
        async for namespace, mode, chunk in self._stream(self._input(text, recording)):
            if mode == "updates":
                for node, update in chunk.items():
                    if node == _ASK:
                        asked = update
                    else:
                        self._note(node, update, recording)
            elif not namespace:
                state = chunk
        self._asked = asked is not None
        if asked is not None:
            recording.answer([getattr(each, "value", each) for each in asked][-1])
            return
        messages = _messages_of(state)
        if messages and not self._keeps:
            self._carried = list(messages)
        answer = self._answer(state, messages)
        if answer is not None:
            recording.answer(answer)

    def _input(self, text: str, recording: Recording) -> Any:
        if self._asked:
            from importlib import import_module

            return import_module("langgraph.types").Command(resume=text)
        template = self._adapter.template
        if template is not None:
            return template.fill(
                words_of(
                    self._case,
                    text=text,
                    messages=recording.messages,
                    conversation=self._thread,
                )
            )
        message = {"role": "user", "content": text}
        before, self._carried = self._carried, []
        return {"messages": [*before, message]}

    async def _stream(self, given: Any) -> AsyncIterator[tuple[Any, str, Any]]:
        config = {"configurable": {"thread_id": self._thread}}
        keywords = {"stream_mode": _MODES, "subgraphs": True, **self._keywords}
        if not _is_sync_only(getattr(self._graph, "checkpointer", None)):
            async for part in self._graph.astream(given, config, **keywords):
                yield part
            return
        import asyncio

        # Its checkpointer has no asynchronous side: each step is waited for elsewhere.
        parts = iter(self._graph.stream(given, config, **keywords))
        over = object()
        while (part := await asyncio.to_thread(next, parts, over)) is not over:
            yield part

    def _note(self, node: str, update: Any, recording: Recording) -> None:
        recording.step(node, _without_messages(update))
        for message in _messages_of(update):
            # A graph inside a graph shows its messages, and then its parent does.
            key = getattr(message, "id", None) or id(message)
            if key not in self._seen:
                self._seen.add(key)
                _note_message(message, recording)

    def _answer(self, state: Any, messages: Sequence[Any]) -> Any:
        path = self._adapter.output
        if path is not None:
            found = lookup(state, path)
            return None if found is MISSING else found
        if not messages:
            return state
        last = messages[-1]
        return _text(last) if _kind(last) == "ai" else None


def _note_message(message: Any, recording: Recording) -> None:
    kind = _kind(message)
    if kind == "ai":
        used = getattr(message, "usage_metadata", None) or {}
        tokens = tokens_of(used, _TOKENS)
        details = used.get("input_token_details") or {}
        tokens |= tokens_of(details, {"cachedInput": "cache_read"})
        about = getattr(message, "response_metadata", None) or {}
        model = about.get("model_name") or about.get("model")
        recording.model(_text(message), tokens=tokens, model=model)
        for call in getattr(message, "tool_calls", None) or ():
            recording.call(call["name"], call["args"], call_id=call.get("id"))
        for call in getattr(message, "invalid_tool_calls", None) or ():
            recording.call(
                call.get("name") or "unknown", call.get("args"), call_id=call.get("id")
            )
    elif kind == "tool":
        recording.result(
            getattr(message, "name", None) or "tool",
            _content(message),
            call_id=message.tool_call_id,
            failed=getattr(message, "status", "success") == "error",
        )
    elif kind == "system":
        recording.system(_text(message) or "")


def _kind(message: Any) -> str | None:
    kind = getattr(message, "type", None)
    return kind if isinstance(kind, str) else None


def _messages_of(update: Any) -> list[Any]:
    """Return the messages of a state or an update; an update may hold a single one."""
    updates: Iterable[Any] = update if isinstance(update, (list, tuple)) else (update,)
    found: list[Any] = []
    for each in updates:
        if hasattr(each, "update") and not isinstance(each, Mapping):
            each = each.update  # a Command: goto and an update in one
        value = (
            each.get("messages")
            if isinstance(each, Mapping)
            else getattr(each, "messages", None)
        )
        if isinstance(value, (list, tuple)):
            found += [message for message in value if _kind(message) is not None]
        elif value is not None and _kind(value) is not None:
            found.append(value)
    return found


def _without_messages(update: Any) -> Any:
    if isinstance(update, Mapping):
        rest = {key: value for key, value in update.items() if key != "messages"}
        return rest or None
    return None if update is None or isinstance(update, (list, tuple)) else update


def _text(message: Any) -> str | None:
    content = getattr(message, "content", None)
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [
        part if isinstance(part, str) else part.get("text", "")
        for part in content
        if isinstance(part, str)
        or (isinstance(part, Mapping) and part.get("type") == "text")
    ]
    return "".join(texts)


def _content(message: Any) -> Any:
    content = message.content
    return content if not isinstance(content, list) else _text(message) or content


def _has_messages(graph: Any) -> bool:
    channels = getattr(graph, "channels", None)
    # A graph on a server does not tell its channels.
    return channels is None or "messages" in channels


def _is_sync_only(checkpointer: Any) -> bool:
    """Whether a checkpointer has only the synchronous half of its interface."""
    if checkpointer is None or isinstance(checkpointer, bool):
        return False
    method = getattr(type(checkpointer), "aget_tuple", None)
    return getattr(method, "__module__", "").startswith("langgraph.checkpoint.base")
