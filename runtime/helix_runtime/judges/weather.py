"""Bad weather between a judge and its provider: what is tried again, and how long.

What may be over in a moment is tried again, after waits that double and differ from
unit to unit. A unit has one deadline for all of its tries, a rate limit is waited out
within it, and after each one fewer requests are under way. What can't get better is
not tried again: an account that is used up, credentials, a parameter that is refused.
"""

from collections.abc import Callable
from typing import Final

from ..canonical import content_key
from ..providers import (
    FATAL,
    TRANSIENT,
    JudgeReply,
    JudgeRequest,
    Provider,
    ProviderError,
)
from ..record import field, record, replace
from .throttle import Throttle

MAX_TRIES: Final = 5
DEADLINE: Final = 600.0
MAX_BACKOFF: Final = 30.0
# A try with less time than this would only turn the real cause into a timeout.
SHORTEST_TRY: Final = 1.0
# Right for one request, wrong for another: a limit that only the larger one exceeds.
_OF_REQUEST: Final = ("parameter", "no-model")


@record(kw_only=True, frozen=False)
class Attempts:
    """The tries of one unit. `seed` makes its waits its own, and the same next time."""

    seed: str
    deadline: float
    calls: int = 0
    notes: list[str] = field(default_factory=list)


class Weather:
    """Carries requests to a provider. Safe to use from many threads.

    `sleep` and `clock` are those of `time`. `fatal` is what no later unit can get past
    either: the run is to stop. Once an account is used up no more calls are made.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        deadline: float = DEADLINE,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        import time

        self.fatal: ProviderError | None = None
        self.throttle = Throttle()
        self._exhausted: ProviderError | None = None
        self._provider = provider
        self._deadline = deadline
        self._sleep = sleep or time.sleep
        self._clock = clock or time.monotonic
        self._reached = self._answered = False
        self._calm_at = 0.0
        self._waits: dict[int, tuple[str, float]] = {}

    def unit(self, seed: str) -> Attempts:
        """Begin a unit: its deadline runs from now."""
        return Attempts(seed=seed, deadline=self._clock() + self._deadline)

    def complete(self, request: JudgeRequest, unit: Attempts) -> JudgeReply:
        """Return the reply. Raises ProviderError where there is none to be had."""
        tries = 0
        while True:
            self._check()
            hold = self._calm_at - self._clock()
            if hold > 0:
                self._wait(hold, "rate-limit", unit)
                continue
            try:
                reply = self._once(request, unit)
            except ProviderError as error:
                unit.calls += 1
                tries += 1
                self._consider(error)
                self._wait_after(error, tries, unit)
                continue
            unit.calls += 1
            self._reached = self._answered = True
            return reply

    def waiting(self) -> str | None:
        """Return what is being waited for, or None: for whoever looks on."""
        waits = list(self._waits.values())
        held = self.throttle.held
        parts = []
        if waits:
            kind, until = max(waits, key=lambda wait: wait[1])
            left = max(until - self._clock(), 0.0)
            parts.append(f"{len(waits)} wait for the judge ({kind}, {left:.0f} s)")
        if held:
            parts.append(f"{held} held back, {self.throttle.limit:.0f} at a time")
        return "; ".join(parts) or None

    # -- one try ----------------------------------------------------------------------

    def _check(self) -> None:
        known = self.fatal or self._exhausted
        if known is not None:
            raise ProviderError(known.kind, known.message)

    def _once(self, request: JudgeRequest, unit: Attempts) -> JudgeReply:
        ticket = self.throttle.enter(max(unit.deadline - self._clock(), 0.0))
        left = unit.deadline - self._clock()
        limited = False
        try:
            if ticket is None or left <= 0:
                raise ProviderError(
                    "deadline", f"no answer within the {self._deadline:g} s of a unit"
                )
            if left < request.timeout:
                request = replace(request, timeout=left)
            return self._provider.complete(request)
        except ProviderError as error:
            limited = error.kind == "rate-limit"
            raise
        finally:
            if ticket is not None:
                self.throttle.leave(ticket, limited=limited)

    def _consider(self, error: ProviderError) -> None:
        """Remember what no later unit can get past."""
        kind = error.kind
        if kind == "quota":
            self._exhausted = error
        elif kind in FATAL and not (kind in _OF_REQUEST and self._answered):
            self.fatal = error
        if kind not in ("unreachable", "untrusted"):
            self._reached = True

    def _wait_after(self, error: ProviderError, tries: int, unit: Attempts) -> None:
        """Wait before the next try. Raises the error where there is to be none."""
        if error.kind not in TRANSIENT:
            raise error
        asked = error.retry_after
        if error.kind != "rate-limit" and tries >= MAX_TRIES:
            if error.kind == "unreachable" and not self._reached:
                # Nobody was ever there: it is the address, not the weather.
                self.fatal = error
            raise error
        wait = max(asked or 0.0, backoff(unit.seed, tries))
        if asked and error.kind == "rate-limit":
            # As long as it says; longer where that turned out to be too short.
            wait = max(asked, min(asked * 2.0 ** min(tries - 1, 3), MAX_BACKOFF))
        if wait + SHORTEST_TRY >= unit.deadline - self._clock():
            raise ProviderError(
                error.kind,
                f"{error.message}; given up: the next try would come after the "
                f"{self._deadline:g} s of a unit",
            )
        if asked and error.kind == "rate-limit":
            # What one was told holds for all: nobody asks before that.
            self._calm_at = max(self._calm_at, self._clock() + asked)
        unit.notes.append(f"tried again: {error.kind}")
        self._wait(wait, error.kind, unit)

    def _wait(self, seconds: float, kind: str, unit: Attempts) -> None:
        if seconds >= unit.deadline - self._clock():
            raise ProviderError(
                "rate-limit",
                f"the provider asked to wait longer than the {self._deadline:g} s of "
                "a unit",
            )
        self._waits[id(unit)] = (kind, self._clock() + seconds)
        try:
            self._sleep(seconds)
        finally:
            self._waits.pop(id(unit), None)


def backoff(seed: str, tries: int) -> float:
    """Return 0.5, 1, 2 … 30 seconds, times 0.75 to 1.25 by the seed: no two in step."""
    jitter = int(content_key(seed, str(tries))[:8], 16) / 0x1FFFFFFFE
    return min(0.5 * 2.0 ** (tries - 1), MAX_BACKOFF) * (0.75 + jitter)
