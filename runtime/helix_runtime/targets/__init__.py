"""How the subject is reached: each target takes a case and gives back its trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ..refusal import CANT_CARRY_OUT, Refusal

if TYPE_CHECKING:
    from ..case import Case
    from ..trace import Trace

MAX_OUTPUT: Final = 16 * 1024 * 1024
MAX_ERROR_TEXT: Final = 4000

_LATER: Final = ("http", "pydantic-ai", "langgraph")
_SUPPORTED: Final = "python:MODULE:CALLABLE and command:PROGRAM ARGS"


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


def open_target(ref: str, *, root: Path) -> Target:
    """Return the target of a REF. `root` is the suite's folder.

    Raises Refusal: exit 2 for a REF that can't be read, that names what can't be
    imported, or that belongs to a later release; exit 4 for a program that is not
    there.
    """
    kind, colon, rest = ref.partition(":")
    if kind == "python" and colon:
        from .python_target import open_python

        return open_python(rest, root=root)
    if kind == "command" and colon:
        from .command_target import open_command

        return open_command(rest, root=root)
    if kind in _LATER and colon:
        raise Refusal(
            f"the target {ref!r} needs a later release: this one reaches "
            f"{_SUPPORTED}. A python: target can call what {kind}: would"
        )
    raise Refusal(f"the target {ref!r} is none that can be reached: use {_SUPPORTED}")


def unreachable(message: str) -> Refusal:
    """Return the refusal of a target that can't be reached."""
    return Refusal(message, exit_code=CANT_CARRY_OUT)
