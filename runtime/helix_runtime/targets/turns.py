"""What the user says in the turns of one case.

`input.turns` of a case is the user's messages, in order; `input.messages` is the same
as chat messages, and what stands in it up to the last message of another role is the
conversation so far. Without either, `query` is the only message. When the script is
used up, a user simulator may go on: a function of the case and the conversation that
returns the next message, or None where the user has nothing more to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..case import Case
from ..refusal import Refusal
from .options import MAX_TURNS

UserSimulator = Callable[[Case, Sequence[Mapping[str, str]]], Any]
ROLES: Final = ("user", "assistant", "system")
TURNS: Final = frozenset(("turns", "messages"))


class Script:
    """The messages of one case: `history` was said before, `script` is to be said."""

    __slots__ = ("history", "script", "simulated")

    def __init__(
        self,
        history: Sequence[tuple[str, str]],
        script: Sequence[str],
        *,
        simulated: bool,
    ) -> None:
        self.history = history
        self.script = script
        self.simulated = simulated

    @property
    def single(self) -> bool:
        """Whether the user says one thing, and nothing was said before."""
        return not self.history and len(self.script) == 1 and not self.simulated


def script_of(case: Case, *, simulated: bool = False) -> Script:
    """Return what the user says in a case. Raises Refusal where that can't be read."""
    given = case.input if isinstance(case.input, Mapping) else {}
    turns, messages = given.get("turns"), given.get("messages")
    if isinstance(turns, list) and turns:
        texts = [
            _text(turn, f"`input.turns[{index}]`", case, roles=("user",))[1]
            for index, turn in enumerate(turns)
        ]
        return Script((), texts, simulated=simulated)
    if isinstance(messages, list) and messages:
        read = [
            _text(message, f"`input.messages[{index}]`", case, roles=ROLES)
            for index, message in enumerate(messages)
        ]
        last = max(
            (i for i, (role, _) in enumerate(read) if role != "user"), default=-1
        )
        script = [text for _, text in read[last + 1 :]]
        if not script:
            if not simulated:
                script = [case.query]
        return Script(read[: last + 1], script, simulated=simulated)
    return Script((), [case.query], simulated=simulated)


def said_in(case: Case) -> list[str]:
    """Return all that the user says in a case, in order; its query where it has no
    turns, or none that can be read."""
    if not isinstance(case.input, Mapping) or not case.input.keys() & TURNS:
        return [case.query]
    try:
        script = script_of(case)
    except Refusal:
        return [case.query]
    before = [text for role, text in script.history if role == "user"]
    return [*before, *script.script]


def _text(
    value: Any, place: str, case: Case, *, roles: Sequence[str]
) -> tuple[str, str]:
    role = "user"
    if isinstance(value, Mapping):
        role, value = value.get("role", "user"), value.get("content")
    if role not in roles or not isinstance(value, str) or not value:
        raise Refusal(
            f"the case {case.id!r}: {place} must be a text, or a message with a "
            f"`role` ({', '.join(roles)}) and a text as `content`"
        )
    return role, value


class Turns:
    """Gives the next message of the user, until there is none.

    `limit` is how many messages the user sends at most where they are simulated.
    """

    def __init__(
        self,
        case: Case,
        *,
        simulator: UserSimulator | None,
        limit: int = MAX_TURNS,
    ) -> None:
        self._case = case
        self._simulator = simulator
        self._limit = limit
        self._script = script_of(case, simulated=simulator is not None)
        self._said = 0
        self.cut = False

    @property
    def history(self) -> Sequence[tuple[str, str]]:
        """What was said before the first turn: (role, text)."""
        return self._script.history

    @property
    def single(self) -> bool:
        """Whether the case is one message and one answer."""
        return self._script.single

    @property
    def count(self) -> int:
        """How many messages the user has sent."""
        return self._said

    def next(self, messages: Sequence[Mapping[str, str]]) -> str | None:
        """Return the next message, given the conversation so far; None at its end.

        Raises SimulatorFailed where the user simulator does.
        """
        script = self._script.script
        if self._said < len(script):
            self._said += 1
            return script[self._said - 1]
        if self._simulator is None:
            return None
        if self._said >= max(self._limit, len(script)):
            self.cut = True
            return None
        said = self._ask(self._simulator, messages)
        if said is not None:
            self._said += 1
        return said

    def _ask(
        self, simulator: UserSimulator, messages: Sequence[Mapping[str, str]]
    ) -> str | None:
        from ..folder import blame

        try:
            said = simulator(self._case, [dict(message) for message in messages])
            if hasattr(said, "__await__"):
                said = awaited(said)
        except Exception as error:
            raise SimulatorFailed(blame(error)) from error
        if said is None or isinstance(said, str):
            return said or None
        kind = type(said).__name__
        raise SimulatorFailed(f"it returned a {kind}, and neither a text nor None")


def awaited(value: Any) -> Any:
    """Return what an awaitable gives, in an event loop of its own."""
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


class SimulatorFailed(Exception):
    """The user simulator broke: that is nobody's answer, and no case is to blame."""
