"""An agent of Pydantic AI: `pydantic-ai:MODULE:AGENT`.

The run's own messages are the record: they hold the calls of tools, their results and
outcomes, and what each response used. They are captured while the agent runs, so they
are there when it fails in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from ..case import Case
from . import Target
from .framework import (
    FrameworkTarget,
    Kept,
    Maker,
    causes,
    model_server_fault,
    tokens_of,
    value_of,
)
from .hooks import hook_of, simulator_of
from .importing import import_framework, import_object
from .options import TargetOptions
from .recording import OUTPUT, TOOLS, Recording

FORM: Final = "pydantic-ai:MODULE:AGENT"
_TOKENS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cachedInput": "cache_read_tokens",
}
# Classes of Pydantic AI's, by name: older releases have not all of them.
_CANT_REACH: Final = (
    "ModelConnectionError",
    "ModelAuthenticationError",
    "ModelNotFoundError",
)
_LATE: Final = ("ModelTimeoutError", "ModelRequestTimeout")
_REFUSED: Final = (401, 403, 404)


def open_pydantic_ai(rest: str, *, root: Path, options: TargetOptions) -> Target:
    """Return the target of `MODULE:AGENT`, an Agent or a function that makes one.

    Raises Refusal where it can't be imported, or Pydantic AI is not there.
    """
    name = f"pydantic-ai:{rest}"
    found = import_object(rest, name=name, form=FORM, root=root)
    library = import_framework(
        "pydantic_ai", package="pydantic-ai", name=name, subject=found
    )
    kinds = [library.Agent]
    abstract = getattr(
        import_framework("pydantic_ai.agent", package="pydantic-ai", name=name),
        "AbstractAgent",
        None,
    )
    if abstract is not None:
        kinds.append(abstract)
    maker = Maker(
        found, name=name, is_agent=lambda value: isinstance(value, tuple(kinds))
    )
    deps = hook_of(options.deps, key="deps", default="deps", hooks=None, root=root)
    adapter = _PydanticAI(maker, deps=deps, library=library)
    simulator = simulator_of(options, root=root)
    return FrameworkTarget(name, adapter, options=options, simulator=simulator)


class _PydanticAI:
    observed: Sequence[str] = (OUTPUT, TOOLS)

    def __init__(
        self, maker: Maker, *, deps: Callable[..., Any] | None, library: Any
    ) -> None:
        self._maker = maker
        self._deps = deps
        self._library = library
        self._kept: Kept | None = None

    async def start(self) -> None:
        """Enter the agent: its MCP servers and other toolsets start once, not a case."""
        agent = self._maker.shared
        if agent is not None and hasattr(agent, "__aenter__"):
            self._kept = Kept()
            await self._kept.enter(agent)

    async def stop(self) -> None:
        """Leave the agent."""
        if self._kept is not None:
            await self._kept.leave()

    async def open(
        self, case: Case, *, trace_id: str, history: tuple[tuple[str, str], ...]
    ) -> _Conversation:
        """Return a conversation; the dependencies are made for this case alone."""
        agent = await self._maker.make(case)
        keywords = {}
        if self._deps is not None:
            keywords["deps"] = await value_of(self._deps, case)
        past = list(_messages(history))
        return _Conversation(agent, past, keywords, library=self._library)

    def unreachable(self, error: BaseException) -> str | None:
        """Look for an error of the model's server, through wrappers of it."""
        for each in causes(error):
            kinds = {kind.__name__ for kind in type(each).__mro__}
            refused = "ModelHTTPError" in kinds and (
                getattr(each, "status_code", None) in _REFUSED
            )
            if not kinds.isdisjoint(_LATE):
                return None
            if refused or not kinds.isdisjoint(_CANT_REACH):
                return f"{type(each).__name__}: {each}"
        return model_server_fault(error)


class _Conversation:
    def __init__(
        self, agent: Any, past: list[Any], keywords: dict[str, Any], *, library: Any
    ) -> None:
        self._agent = agent
        self._messages = past
        self._keywords = keywords
        self._library = library
        self._system: set[str] = set()

    async def say(self, text: str, recording: Recording) -> None:
        """Run the agent on one message, after those that came before."""
        recording.agent(getattr(self._agent, "name", None))
        before = len(self._messages)
        with self._library.capture_run_messages() as captured:
            try:
                result = await self._agent.run(
                    text, message_history=self._messages or None, **self._keywords
                )
            except BaseException:
                self._note(captured[before:], recording)
                raise
        self._messages = result.all_messages()
        self._note(result.new_messages(), recording)
        recording.answer(result.output)

    def _note(self, messages: Iterable[Any], recording: Recording) -> None:
        outputs = _output_tools(self._agent)
        for message in messages:
            if message.kind == "request":
                self._note_request(message, recording, outputs)
            else:
                _note_response(message, recording, outputs)

    def _note_request(
        self, message: Any, recording: Recording, outputs: Callable[[str], bool]
    ) -> None:
        told = getattr(message, "instructions", None)
        if isinstance(told, str):
            self._note_system(told, recording)
        for part in message.parts:
            kind = part.part_kind
            if kind == "system-prompt":
                self._note_system(part.content, recording)
            elif kind == "tool-return":
                if outputs(part.tool_name):
                    continue
                outcome = getattr(part, "outcome", "success")
                recording.result(
                    part.tool_name,
                    part.content,
                    call_id=part.tool_call_id,
                    failed=outcome != "success",
                )
            elif kind == "retry-prompt" and part.tool_name is not None:
                # What a tool (or the check of its arguments) refused.
                if outputs(part.tool_name):
                    continue
                recording.result(
                    part.tool_name,
                    part.content,
                    call_id=part.tool_call_id,
                    failed=True,
                )

    def _note_system(self, text: str, recording: Recording) -> None:
        if text not in self._system:
            self._system.add(text)
            recording.system(text)


def _note_response(
    message: Any, recording: Recording, outputs: Callable[[str], bool]
) -> None:
    texts = [part.content for part in message.parts if part.part_kind == "text"]
    recording.model(
        "".join(texts),
        tokens=tokens_of(message.usage, _TOKENS),
        model=message.model_name,
    )
    for part in message.parts:
        kind = part.part_kind
        if kind in ("tool-call", "builtin-tool-call") and not outputs(part.tool_name):
            recording.call(part.tool_name, part.args, call_id=part.tool_call_id)
        elif kind == "builtin-tool-return":
            recording.result(part.tool_name, part.content, call_id=part.tool_call_id)


def _output_tools(agent: Any) -> Callable[[str], bool]:
    """Return whether a tool is how the agent gives its answer, and none that it has."""
    toolset = getattr(agent, "_output_toolset", None)
    names = getattr(toolset, "processors", None)
    if names is None:
        return lambda name: name == "final_result" or name.startswith("final_result_")
    known = set(names)
    return lambda name: name in known


def _messages(history: tuple[tuple[str, str], ...]) -> Iterable[Any]:
    """Yield what was said before as the framework's own messages."""
    from importlib import import_module

    kinds = import_module("pydantic_ai.messages")
    for role, text in history:
        if role == "assistant":
            yield kinds.ModelResponse(parts=[kinds.TextPart(content=text)])
        elif role == "system":
            yield kinds.ModelRequest(parts=[kinds.SystemPromptPart(content=text)])
        else:
            yield kinds.ModelRequest(parts=[kinds.UserPromptPart(content=text)])
