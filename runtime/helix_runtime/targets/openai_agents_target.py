"""An agent of the OpenAI Agents SDK: `openai-agents:MODULE:AGENT`.

The SDK's run hooks tell each response of a model and each result of a tool as they
come, so they are there when the run fails in the middle. Which results are errors only
its tracing says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ..case import Case
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
from .recording import OUTPUT, TOOLS, Recording, arguments_of

FORM: Final = "openai-agents:MODULE:AGENT"
_TOKENS: Final = {"input": "input_tokens", "output": "output_tokens"}


def open_openai_agents(rest: str, *, root: Path, options: TargetOptions) -> Target:
    """Return the target of `MODULE:AGENT`, an Agent or a function that makes one.

    Raises Refusal where it can't be imported, or the SDK is not there.
    """
    name = f"openai-agents:{rest}"
    found = import_object(rest, name=name, form=FORM, root=root)
    library = import_framework(
        "agents", package="openai-agents", name=name, subject=found
    )
    maker = Maker(
        found, name=name, is_agent=lambda value: isinstance(value, library.Agent)
    )
    deps = hook_of(options.deps, key="deps", default="deps", hooks=None, root=root)
    adapter = _OpenAIAgents(maker, deps=deps, library=library)
    simulator = simulator_of(options, root=root)
    return FrameworkTarget(name, adapter, options=options, simulator=simulator)


class _OpenAIAgents:
    observed: Sequence[str] = (OUTPUT, TOOLS)

    def __init__(
        self, maker: Maker, *, deps: Callable[..., Any] | None, library: Any
    ) -> None:
        self._maker = maker
        self._deps = deps
        self._library = library
        self._failed = _failed_tools(library)

    async def start(self) -> None:
        """Nothing is shared but the agent itself."""

    async def stop(self) -> None:
        """Nothing is shared but the agent itself."""

    async def open(
        self, case: Case, *, trace_id: str, history: tuple[tuple[str, str], ...]
    ) -> _Conversation:
        """Return a conversation; its context is made for this case alone."""
        agent = await self._maker.make(case)
        context = None if self._deps is None else await value_of(self._deps, case)
        past = [{"role": role, "content": text} for role, text in history]
        return _Conversation(self._library, agent, past, context, self._failed)

    def unreachable(self, error: BaseException) -> str | None:
        """Look for an error of the model's SDK."""
        return model_server_fault(error)


class _Conversation:
    def __init__(
        self,
        library: Any,
        agent: Any,
        past: list[Any],
        context: Any,
        failed: dict[str, list[tuple[str, Any]]],
    ) -> None:
        self._library = library
        self._agent = agent
        self._items = past
        self._context = context
        self._failed = failed

    async def say(self, text: str, recording: Recording) -> None:
        """Run the agent on one message, after those that came before."""
        library = self._library
        recording.agent(getattr(self._agent, "name", None))
        trace_id = library.gen_trace_id()
        self._failed[trace_id] = []
        note = _Note(library, recording)
        try:
            result = await library.Runner.run(
                self._agent,
                [*self._items, {"role": "user", "content": text}],
                context=self._context,
                hooks=note.hooks(),
                run_config=library.RunConfig(trace_id=trace_id),
            )
        finally:
            note.mark(self._failed.pop(trace_id))
        self._items = result.to_input_list()
        self._agent = result.last_agent
        if result.interruptions:
            names = [getattr(each, "name", None) for each in result.interruptions]
            recording.notes["approvals"] = [str(name) for name in names]
            return
        recording.answer(result.final_output)


class _Note:
    """Notes what the hooks of one run tell."""

    def __init__(self, library: Any, recording: Recording) -> None:
        self._library = library
        self._recording = recording
        self._calls: dict[str, tuple[str, Any]] = {}

    def hooks(self) -> Any:
        """Return the run's hooks, as the SDK wants them."""
        note = self

        class Hooks(self._library.RunHooks):  # type: ignore[misc, name-defined]
            async def on_llm_start(
                self, context: Any, agent: Any, system_prompt: Any, input_items: Any
            ) -> None:
                note.prompt(system_prompt)

            async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
                note.response(agent, response)

            async def on_tool_end(
                self, context: Any, agent: Any, tool: Any, result: Any
            ) -> None:
                note.result(context, tool, result)

            async def on_handoff(
                self, context: Any, from_agent: Any, to_agent: Any
            ) -> None:
                note.handoff(from_agent, to_agent)

        return Hooks()

    def prompt(self, text: Any) -> None:
        """Note the instructions, once."""
        told = {s.input for s in self._recording.spans if s.role == "system"}
        if isinstance(text, str) and text and text not in told:
            self._recording.system(text)

    def response(self, agent: Any, response: Any) -> None:
        """Note a model's response: its text, then its calls."""
        handoffs = self._handoffs(agent)
        texts: list[str] = []
        calls: list[tuple[str, Any, str | None, Any]] = []
        for item in response.output:
            kind = _get(item, "type")
            if kind == "message":
                texts += _texts(item)
            elif kind == "function_call":
                name = _get(item, "name")
                if name not in handoffs:
                    arguments = _get(item, "arguments")
                    calls.append((name, arguments, _get(item, "call_id"), None))
            elif isinstance(kind, str) and kind.endswith("_call"):
                calls.append(_hosted(kind, item))
        tokens = tokens_of(response.usage, _TOKENS)
        details = getattr(response.usage, "input_tokens_details", None)
        tokens |= tokens_of(details, {"cachedInput": "cached_tokens"})
        model = getattr(agent, "model", None)
        self._recording.model(
            "".join(texts),
            tokens=tokens,
            model=model if isinstance(model, str) else None,
        )
        for name, arguments, call_id, output in calls:
            self._recording.call(name, arguments, call_id=call_id)
            if call_id is not None:
                self._calls[call_id] = (name, arguments_of(arguments))
            if output is not None:
                self._recording.result(name, output, call_id=call_id)

    def result(self, context: Any, tool: Any, result: Any) -> None:
        """Note what a tool gave back."""
        call_id = getattr(context, "tool_call_id", None)
        self._recording.result(tool.name, result, call_id=call_id)

    def handoff(self, from_agent: Any, to_agent: Any) -> None:
        """Note a handoff. It is no tool of the subject's, though models call it so."""
        self._recording.handoff(str(from_agent.name), str(to_agent.name))

    def mark(self, failed: list[tuple[str, Any]]) -> None:
        """Mark the results of calls whose tools failed, by name and arguments."""
        for name, arguments in failed:
            for call_id, call in list(self._calls.items()):
                if call == (name, arguments_of(arguments)):
                    self._recording.mark_failed(call_id)
                    del self._calls[call_id]
                    break

    def _handoffs(self, agent: Any) -> set[str]:
        default = self._library.Handoff.default_tool_name
        return {
            str(getattr(each, "tool_name", None) or default(each))
            for each in getattr(agent, "handoffs", ())
        }


def _hosted(kind: str, item: Any) -> tuple[str, Any, str | None, Any]:
    """Return the call of a tool that the provider runs itself, with what it gave."""
    name = _get(item, "name") or kind.removesuffix("_call")
    arguments = _get(item, "arguments") or _get(item, "action") or _get(item, "queries")
    output = _get(item, "output") or _get(item, "results") or _get(item, "status")
    return name, arguments, _get(item, "id"), output


def _texts(item: Any) -> list[str]:
    found = []
    for part in _get(item, "content") or ():
        text = _get(part, "text") or _get(part, "refusal")
        if isinstance(text, str):
            found.append(text)
    return found


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _failed_tools(library: Any) -> dict[str, list[tuple[str, Any]]]:
    """Return the map of a trace's id to the tools that failed in it, kept by tracing.

    Only traces whose id stands in the map are listened to.
    """
    from importlib import import_module

    tracing = import_module("agents.tracing")

    class Listener(tracing.TracingProcessor):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.failed: dict[str, list[tuple[str, Any]]] = {}

        def on_trace_start(self, trace: Any) -> None:
            return

        def on_trace_end(self, trace: Any) -> None:
            return

        def on_span_start(self, span: Any) -> None:
            return

        def on_span_end(self, span: Any) -> None:
            failed = self.failed.get(span.trace_id)
            data = span.span_data
            if failed is not None and span.error and data.type == "function":
                failed.append((data.name, data.input))

        def shutdown(self) -> None:
            return

        def force_flush(self) -> None:
            return

    listener = Listener()
    library.add_trace_processor(listener)
    return listener.failed
