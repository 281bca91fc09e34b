"""A model as the writer of messages: the prompt of a task, a call, a strict reading.

The weather, the limits and the pin are those of a judge; its cache is not: nothing that
a writer says is taken from a judge's answers, or the other way. An answer that is no
message is asked for once more, with the reason.
"""

from collections.abc import Callable, Sequence
from typing import Final

from ..canonical import content_key, escape_surrogates
from ..judges.fence import Fence
from ..judges.judge import LARGER
from ..judges.prices import Price
from ..judges.prompt import cut_middle
from ..judges.weather import DEADLINE, Weather
from ..pin import Pin
from ..providers import JudgeRequest, Provider, ProviderError
from ..record import record, replace
from ..strict_json import strict_loads
from ..unit import JudgeUsage
from .writing import ASKED_SCHEMA, FENCED

MAX_TOKENS: Final = 2_000
TIMEOUT: Final = 120.0
_SHOWN: Final = 2_000


@record(kw_only=True)
class Written:
    """What the writer gave for one prompt: a message, or why there is none."""

    query: str | None
    why: str = ""
    usage: JudgeUsage = JudgeUsage()


class ModelWriter:
    """Writes with one pinned model. Safe to call from many threads."""

    def __init__(
        self,
        *,
        provider: Provider,
        pin: Pin,
        price: Price | None = None,
        max_tokens: int = MAX_TOKENS,
        timeout: float = TIMEOUT,
        deadline: float = DEADLINE,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.pin = pin
        self._provider = provider
        self._price = price
        self._max_tokens = max_tokens
        self._timeout = timeout
        self._weather = Weather(provider, deadline=deadline, sleep=sleep)

    @property
    def fatal(self) -> ProviderError | None:
        """Why no message can be had any more, or None."""
        return self._weather.fatal

    def write(
        self, system: str, user: str, faults_of: Callable[[str], Sequence[str]]
    ) -> Written:
        """Return the message for a prompt; `faults_of` says what is wrong with one."""
        request = JudgeRequest(
            system=system,
            user=user,
            schema=ASKED_SCHEMA,
            model=self.pin.model,
            temperature=self.pin.temperature,
            max_tokens=self._max_tokens,
            timeout=self._timeout,
        )
        unit = self._weather.unit(content_key("writer", system, user))
        used: list[JudgeUsage] = []
        query: str | None = None
        why = ""
        enlarged = repaired = False
        while True:
            try:
                reply = self._weather.complete(request, unit)
            except ProviderError as error:
                query, why = None, f"{error.kind}: {error.message}"
                break
            used.append(reply.usage)
            if reply.finish_reason == "length" and not enlarged:
                enlarged = True
                request = replace(request, max_tokens=request.max_tokens * LARGER)
                continue
            if reply.finish_reason in ("refusal", "content-filter"):
                query, why = None, f"the model gave no answer: {reply.finish_reason}"
                break
            query, why = _read(reply.text)
            faults = [why] if query is None else list(faults_of(query))
            if not faults:
                break
            why = "; ".join(faults)
            if repaired:
                query = None
                break
            repaired = True
            request = replace(request, user=_again(user, reply.text, why))
        return Written(query=query, why=why, usage=self._sum(used, unit.calls))

    def _sum(self, used: Sequence[JudgeUsage], calls: int) -> JudgeUsage:
        """Return the usage of all calls of a prompt: unknown once a part of it is."""

        def total(values: Sequence[int | None]) -> int | None:
            known = [value for value in values if value is not None]
            return sum(known) if len(known) == len(values) else None

        usage = JudgeUsage(
            input_tokens=total([one.input_tokens for one in used]),
            output_tokens=total([one.output_tokens for one in used]),
            cached_tokens=sum(one.cached_tokens or 0 for one in used) or None,
            calls=calls,
        )
        cost = None if self._price is None else self._price.cost(usage)
        return replace(usage, cost_usd=cost)


def _read(text: str) -> tuple[str | None, str]:
    """Return the message of a reply, or None and why it has none."""
    from ..judges.parse import unfenced

    try:
        data = strict_loads(unfenced(text))
    except ValueError as error:
        return None, f"the answer is no JSON: {error}"
    if not isinstance(data, dict) or list(data) != ["query"]:
        return None, 'the answer must be one JSON object of the form {"query": text}'
    if not isinstance(data["query"], str):
        return None, "`query` must be a text"
    return data["query"].strip(), ""


def _again(user: str, answer: str, why: str) -> str:
    short, _ = cut_middle(escape_surrogates(answer), _SHOWN)
    fence = Fence([short])
    return (
        f"{user}\n\nYour previous answer was refused: {why}.\n"
        f"{fence.announce(what=FENCED, to='write')}\n"
        f"{fence.block('previous answer', short)}\n\n"
        "Write another message, and give it in the prescribed form alone."
    )
