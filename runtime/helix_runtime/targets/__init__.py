"""How the subject is reached: each target takes a case and gives back its trace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ..refusal import CANT_CARRY_OUT, Refusal

if TYPE_CHECKING:
    from ..case import Case
    from ..trace import Trace
    from .options import TargetOptions

MAX_OUTPUT: Final = 16 * 1024 * 1024
MAX_ERROR_TEXT: Final = 4000

FORMS: Final[Mapping[str, str]] = {
    "python": "python:MODULE:CALLABLE",
    "command": "command:PROGRAM ARGS",
    "http": "http:URL",
    "pydantic-ai": "pydantic-ai:MODULE:AGENT",
    "langgraph": "langgraph:MODULE:GRAPH",
    "openai-agents": "openai-agents:MODULE:AGENT",
}
"""The kinds of targets, each with the form of its REF."""

_WARM_UP: Final = 120.0  # seconds


class TargetNotWritten(Exception):
    """The suite's `target.py` is still as it was generated."""


class TargetUnreachable(Exception):
    """The target can't be reached at all: the run stops, no case is to blame."""


class Target(Protocol):
    """A way to reach the subject. `call` may be used by many threads at once."""

    @property
    def name(self) -> str:
        """The REF, as it goes into the scorecard."""
        ...

    @property
    def kills(self) -> bool:
        """Whether `call` itself ends a subject that takes too long."""
        ...

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one run of the subject; `timeout` is in seconds.

        A subject that fails, takes too long or answers what can't be read gives a
        trace with status error. Raises TargetUnreachable, TargetNotWritten.
        """
        ...

    def close(self) -> None:
        """Let go of what the target holds."""
        ...


def open_target(
    ref: str, *, root: Path, options: TargetOptions | None = None
) -> Target:
    """Return the target of a REF, ready for the first case.

    `root` is the suite's folder, `options` what evals.toml says beside the REF.
    Raises Refusal: exit 2 for a REF that can't be read or that names what can't be
    imported; exit 4 for what is not there or can't be reached.
    """
    if options is None:
        from .options import TargetOptions

        options = TargetOptions()
    target = _open(ref, root=root, options=options)
    try:
        if options.warm_up is not None or options.hooks is not None:
            _run_hook(options, root=root)
        warm_up = getattr(target, "warm_up", None)
        if warm_up is not None:
            warm_up(_WARM_UP)
    except BaseException:
        target.close()
        raise
    if options.concurrency is not None:
        from .limit import Limited

        return Limited(target, options.concurrency)
    return target


def _open(ref: str, *, root: Path, options: TargetOptions) -> Target:
    kind, colon, rest = ref.partition(":")
    if colon and kind == "python":
        from .python_target import open_python

        return open_python(rest, root=root, options=options)
    if colon and kind == "command":
        from .command_target import open_command

        return open_command(rest, root=root, options=options)
    if colon and kind in ("http", "https"):
        from .http_target import open_http

        return open_http(ref, options=options, root=root)
    if colon and kind == "pydantic-ai":
        from .pydantic_ai_target import open_pydantic_ai

        return open_pydantic_ai(rest, root=root, options=options)
    if colon and kind == "langgraph":
        from .langgraph_target import open_langgraph

        return open_langgraph(rest, root=root, options=options)
    if colon and kind == "openai-agents":
        from .openai_agents_target import open_openai_agents

        return open_openai_agents(rest, root=root, options=options)
    forms = ", ".join(FORMS.values())
    raise Refusal(f"the target {ref!r} is none that can be reached: use {forms}")


def _run_hook(options: TargetOptions, *, root: Path) -> None:
    """Call what the user wants called once before the first case."""
    from ..folder import blame
    from .hooks import hook_of
    from .turns import awaited

    hook = hook_of(
        options.warm_up,
        key="warm_up",
        default="warm_up",
        hooks=options.hooks,
        root=root,
    )
    if hook is None:
        return
    try:
        value = hook()
        if hasattr(value, "__await__"):
            awaited(value)
    except (TargetNotWritten, Refusal, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise unreachable(f"the target's warm_up failed: {blame(error)}") from error


def unreachable(message: str) -> Refusal:
    """Return the refusal of a target that can't be reached."""
    return Refusal(message, exit_code=CANT_CARRY_OUT)
