"""Agents that live in this process and are awaited: what all frameworks share.

An adapter knows one framework: how a conversation with its agent begins, what one turn
of it is, and which of its exceptions mean that the model behind the agent could not be
reached. Here are the turns, the deadline, and what becomes of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, Final, Protocol

from ..case import Case
from ..folder import blame
from ..refusal import CANT_CARRY_OUT, Refusal
from ..trace import Trace
from . import MAX_ERROR_TEXT, TargetNotWritten, TargetUnreachable
from .conversation import SubjectFailed, SubjectLate, converse
from .loop import BackgroundLoop, Blocked, Late
from .options import TargetOptions
from .recording import Recording
from .turns import UserSimulator


class Session(Protocol):
    """One conversation with the subject: all state of one case."""

    async def say(self, text: str, recording: Recording) -> None:
        """Let the subject answer one message of the user and note what it does.

        What it did before an exception must be noted too.
        """
        ...


class Adapter(Protocol):
    """What is particular about a framework."""

    observed: Sequence[str]

    async def open(
        self, case: Case, *, trace_id: str, history: tuple[tuple[str, str], ...]
    ) -> Session:
        """Return a fresh conversation, with nothing of another case in it."""
        ...

    def unreachable(self, error: BaseException) -> str | None:
        """Return why an error means that the agent's model can't be reached, or None."""
        ...

    async def start(self) -> None:
        """Make ready what all cases share (connections, servers of tools)."""
        ...

    async def stop(self) -> None:
        """Let go of it."""
        ...


class FrameworkTarget:
    """Converses with an agent, all calls on one loop in one background thread."""

    kills: Final = True

    def __init__(
        self,
        name: str,
        adapter: Adapter,
        *,
        options: TargetOptions,
        simulator: UserSimulator | None,
    ) -> None:
        self.name: Final = name
        self._adapter = adapter
        self._options = options
        self._simulator = simulator
        self._loop = BackgroundLoop()

    def warm_up(self, timeout: float) -> None:
        """Make ready what all cases share. Raises Refusal (exit 4) where it can't be."""
        try:
            self._loop.run(self._adapter.start, timeout=timeout)
        except Late:
            why = f"it was not ready after {timeout:g} s"
        except (TargetNotWritten, Refusal):
            raise
        except Exception as error:
            why = blame(error)[:MAX_ERROR_TEXT]
        else:
            return
        self.close()
        raise Refusal(
            f"the target {self.name!r} can't be reached: {why}",
            exit_code=CANT_CARRY_OUT,
        )

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one conversation, cancelled after `timeout` seconds."""
        talk: Session | None = None

        def say(text: str, recording: Recording, left: float) -> None:
            nonlocal talk
            deadline = monotonic() + left
            if talk is None:
                history = tuple(recording.history)
                talk = self._run(
                    lambda: self._adapter.open(
                        case, trace_id=trace_id, history=history
                    ),
                    deadline,
                )
            session = talk
            self._run(lambda: session.say(text, recording), deadline)

        return converse(
            case,
            trace_id=trace_id,
            timeout=timeout,
            observed=self._options.observes or self._adapter.observed,
            simulator=self._simulator,
            say=say,
            max_turns=self._options.max_turns,
        )

    def close(self) -> None:
        """Let go of what is shared, cancel what still runs and stop the loop."""
        try:
            self._loop.run(self._adapter.stop, timeout=2)
        except Exception:
            pass  # it is over anyway
        self._loop.close()

    def _run(self, make: Callable[..., Any], deadline: float) -> Any:
        left = deadline - monotonic()
        if left <= 0:
            raise SubjectLate
        try:
            return self._loop.run(make, timeout=left)
        except Late:
            raise SubjectLate from None
        except (Refusal, TargetNotWritten, TargetUnreachable):
            raise
        except Blocked:
            raise TargetUnreachable(
                f"the target {self.name!r} blocks its event loop again and again: "
                "an `async` function of it waits without `await`"
            ) from None
        except BaseException as error:
            why = self._adapter.unreachable(error)
            if why is not None:
                raise TargetUnreachable(
                    f"the target {self.name!r} can't be reached: {why}"
                ) from error
            raise SubjectFailed(blame(error)) from error


class Kept:
    """An asynchronous context that is open for the whole run.

    One task enters and leaves it: what is inside may not be left by another.
    """

    async def enter(self, context: Any) -> None:
        """Enter the context, or raise what that raises."""
        import asyncio

        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        self._over = asyncio.Event()
        self._task = loop.create_task(self._keep(context, ready))
        try:
            await ready
        except BaseException:
            self._task.cancel()
            raise

    async def leave(self) -> None:
        """Leave the context."""
        self._over.set()
        await self._task

    async def _keep(self, context: Any, ready: Any) -> None:
        try:
            async with context:
                ready.set_result(None)
                await self._over.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            elif not isinstance(error, Exception):
                raise


async def value_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user's; await what a coroutine function gives back."""
    value = function(*arguments)
    if hasattr(value, "__await__"):
        value = await value
    return value


class Maker:
    """The subject of a REF: the agent itself, or a function that makes it.

    A function is called for each case, so that no state of one agent is shared.
    """

    def __init__(
        self, found: Any, *, name: str, is_agent: Callable[[Any], bool]
    ) -> None:
        self._found = found
        self._name = name
        self._is_agent = is_agent
        self._makes = not is_agent(found)
        if self._makes and not callable(found):
            raise Refusal(
                f"the target {name!r} is a {type(found).__name__}, neither an agent "
                "nor a function that makes one"
            )

    async def make(self, case: Case) -> Any:
        """Return the agent for a case. Raises Refusal where it is none."""
        if not self._makes:
            return self._found
        made = await value_of(self._found, *_case_if_wanted(self._found, case))
        if not self._is_agent(made):
            raise Refusal(
                f"the target {self._name!r} made a {type(made).__name__}, and no agent"
            )
        return made

    @property
    def shared(self) -> Any:
        """The one agent of all cases, or None where each case gets its own."""
        return None if self._makes else self._found


def _case_if_wanted(function: Any, case: Case) -> tuple[Case, ...]:
    """Return the arguments of a maker: the case where it takes one."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    positional = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
    wants = any(
        parameter.kind.name in positional and parameter.default is parameter.empty
        for parameter in parameters
    )
    return (case,) if wants else ()


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, those inside it, and those that it was raised from."""
    met: set[int] = set()
    todo = [error]
    while todo:
        each = todo.pop()
        if each is None or id(each) in met:
            continue
        met.add(id(each))
        yield each
        todo += [each.__cause__, *getattr(each, "exceptions", ())]


# What the SDKs of model providers raise, by package and class. Errors of the subject's
# own tools have other packages: a database that is down is the subject's affair.
_SDKS: Final = ("openai", "anthropic", "groq", "mistralai", "cohere")
_CANT_REACH: Final = (
    "APIConnectionError",
    "AuthenticationError",
    "PermissionDeniedError",
    "NotFoundError",
)


def model_server_fault(error: BaseException) -> str | None:
    """Return why a provider's SDK could not reach its model, or None.

    A timeout and an overloaded server are no such thing: another case may be answered.
    """
    for each in causes(error):
        for kind in type(each).__mro__:
            package = (kind.__module__ or "").partition(".")[0]
            if package not in _SDKS:
                continue
            if kind.__name__ == "APITimeoutError":
                return None
            if kind.__name__ in _CANT_REACH:
                return f"{type(each).__name__}: {each}"
    return None


def tokens_of(usage: Any, names: Mapping[str, str]) -> dict[str, int]:
    """Return the token counts of a framework's usage record under UniTF's names."""
    found = {}
    for ours, theirs in names.items():
        value = usage.get(theirs) if isinstance(usage, Mapping) else None
        if not isinstance(usage, Mapping):
            value = getattr(usage, theirs, None)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            found[ours] = value
    return found
