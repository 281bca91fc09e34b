"""One case as a conversation: the user's turns, the deadline, what becomes of errors.

Whatever ends a conversation early is either the subject's (it stands on the trace,
with all that came before) or the run's (it is raised): never both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic

from ..case import Case
from ..trace import Trace
from . import MAX_ERROR_TEXT, TargetUnreachable
from .options import MAX_TURNS
from .recording import Recording
from .turns import SimulatorFailed, Turns, UserSimulator


class SubjectFailed(Exception):
    """The subject failed in a turn; the message says how."""


class SubjectLate(Exception):
    """The subject did not answer in time."""


Say = Callable[[str, Recording, float], None]
"""Lets the subject answer a message within some seconds, and notes what it does.

Raises SubjectFailed and SubjectLate; what was noted before is kept. Everything else
that it raises ends the run.
"""


def converse(
    case: Case,
    *,
    trace_id: str,
    timeout: float,
    observed: Iterable[str],
    simulator: UserSimulator | None,
    say: Say,
    max_turns: int = MAX_TURNS,
) -> Trace:
    """Return the trace of one conversation that takes `timeout` seconds at most.

    Raises TargetUnreachable where the user simulator fails, Refusal for a script that
    can't be read.
    """
    deadline = monotonic() + timeout
    recording = Recording(observed)
    turns = Turns(case, simulator=simulator, limit=max_turns)
    for role, text in turns.history:
        recording.past(role, text)
    error: str | None = None
    try:
        while (said := _next(turns, recording, case)) is not None:
            recording.user(said)
            left = deadline - monotonic()
            if left <= 0:
                raise SubjectLate
            say(said, recording, left)
    except SubjectLate:
        error = f"timed out after {timeout:g} s"
    except SubjectFailed as failed:
        error = str(failed)[:MAX_ERROR_TEXT]
        if failed.__cause__ is not None:
            from ..failures import traceback_of

            recording.notes["traceback"] = traceback_of(failed.__cause__)
    if turns.count > 1 or turns.cut:
        recording.notes["turns"] = turns.count
    if turns.cut:
        recording.notes["stopped"] = f"after {turns.count} turns (max_turns)"
    return recording.trace(trace_id, error=error)


def _next(turns: Turns, recording: Recording, case: Case) -> str | None:
    try:
        return turns.next(recording.messages)
    except SimulatorFailed as error:
        raise TargetUnreachable(
            f"the user simulator failed on the case {case.id!r}: {error}"
        ) from error
