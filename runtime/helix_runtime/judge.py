"""A model as the judge: prompt, call, strict reading, grounding.

Every unit ends as a verdict or as an `error` that says why. An answer that was cut
off is asked for once more with a larger limit; one that can't be read is asked for
once more with the reason; what is transient is retried a bounded number of times,
after waits that are derived from the prompt. Nothing else is tried: no other model,
no other sampling.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from .canonical import canonical, content_key
from .case import Case
from .criterion import Criterion
from .evidence import evidence_of
from .grounding import Ground, ground
from .parse import ANSWER_SCHEMA, AnswerFault, parse_answer
from .pin import Pin, reported_mismatch
from .prompt import PROMPT_DIGEST, repair_prompt, system_prompt, user_prompt
from .providers import (
    FATAL,
    TRANSIENT,
    JudgeReply,
    JudgeRequest,
    Provider,
    ProviderError,
)
from .record import replace as replaced
from .suite import Subject
from .trace import Trace
from .unit import Judgement, JudgeUsage
from .verdict import Verdict, could_not_judge

MAX_TOKENS: Final = 4_000
LARGER: Final = 4
TIMEOUT: Final = 120.0
MAX_TRIES: Final = 4
MAX_WAIT: Final = 60.0
MAX_RAW: Final = 20_000


class ModelJudge:
    """Judges with one pinned model. Safe to call from many threads.

    `timeout` is that of one request, in seconds; `sleep` waits between tries. After
    a refusal of the credentials, or where no try ever reached a server, `fatal` says
    so, and no further call is made.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        pin: Pin,
        subject: Subject,
        max_tokens: int = MAX_TOKENS,
        timeout: float = TIMEOUT,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        if provider.name != pin.provider:
            raise ValueError(
                f"the pin names the provider {pin.provider!r}, not {provider.name!r}"
            )
        self.pin = pin
        self.fatal: ProviderError | None = None
        self._provider = provider
        self._subject = subject
        self._max_tokens = max_tokens
        self._timeout = timeout
        self._sleep = sleep
        self._reached = False
        self._systems: dict[str, str] = {}
        self.digest = content_key(
            "model",
            provider.identity,
            canonical(pin.to_record()),
            PROMPT_DIGEST,
            canonical(subject.profile()),
            canonical(ANSWER_SCHEMA),
            str(max_tokens),
        )

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return the judgement of one unit; `error` where there is none to be had."""
        evidence = evidence_of(trace)
        system = self._systems.get(criterion.id)
        if system is None:
            system = system_prompt(criterion, self._subject)
            self._systems[criterion.id] = system
        asked = _Asked(system, user_prompt(criterion, case, trace, evidence), repeat)
        try:
            verdict = self._ask(asked)
        except ProviderError as error:
            verdict = could_not_judge(f"{error.kind}: {error.message}")
        place = Ground(
            criterion=criterion,
            case=case,
            trace=trace,
            evidence=evidence,
            subject=self._subject,
        )
        verdict, downgrades = ground(verdict, place)
        if verdict.result == "uncertain" and verdict.blocked_by is None:
            asked.notes.append("an unrouted abstention: blockedBy is missing")
        mismatch = reported_mismatch(self.pin, asked.model)
        if mismatch is not None:
            asked.notes.append(mismatch)
        return Judgement(
            verdict=verdict,
            model=asked.model or self.pin.model,
            usage=asked.usage,
            raw=asked.raw[:MAX_RAW] if verdict.result == "error" else None,
            notes=(*asked.notes, *downgrades),
        )

    def _ask(self, asked: "_Asked") -> Verdict:
        request = JudgeRequest(
            system=asked.system,
            user=asked.user,
            schema=ANSWER_SCHEMA,
            model=self.pin.model,
            temperature=self.pin.temperature,
            max_tokens=self._max_tokens,
            timeout=self._timeout,
        )
        enlarged = repaired = False
        while True:
            reply = self._complete(request, asked)
            if reply.finish_reason == "length":
                if enlarged:
                    return could_not_judge(
                        f"the answer was cut off at {request.max_tokens} tokens"
                    )
                enlarged = True
                request = replace(request, max_tokens=request.max_tokens * LARGER)
                asked.notes.append("asked again: the answer was cut off")
                continue
            if reply.finish_reason == "refusal":
                return could_not_judge("the judge's model refused to answer")
            if reply.finish_reason == "content-filter":
                return could_not_judge("the provider's content filter cut the answer")
            verdict = parse_answer(reply.text)
            if not isinstance(verdict, AnswerFault):
                return verdict
            if repaired:
                return could_not_judge(f"the answer can't be read: {verdict.why}")
            repaired = True
            request = replace(
                request, user=repair_prompt(asked.user, reply.text, verdict.why)
            )
            asked.notes.append(f"asked again: {verdict.why}")

    def _complete(self, request: JudgeRequest, asked: "_Asked") -> JudgeReply:
        tries = 0
        while True:
            fatal = self.fatal
            if fatal is not None:
                raise ProviderError(fatal.kind, fatal.message)
            try:
                reply = self._provider.complete(request)
            except ProviderError as error:
                tries += 1
                asked.tried()
                wait = error.retry_after or 0.0
                last = (
                    error.kind not in TRANSIENT or tries >= MAX_TRIES or wait > MAX_WAIT
                )
                self._consider(error, last=last)
                if last:
                    raise
                asked.notes.append(f"tried again: {error.kind}")
                self._wait(max(wait, _backoff(asked, tries)))
                continue
            self._reached = True
            asked.add(reply)
            return reply

    def _consider(self, error: ProviderError, *, last: bool) -> None:
        """Remember what no later unit can get past."""
        if error.kind in FATAL:
            self.fatal = error
        elif error.kind != "unreachable":
            self._reached = True
        elif last and not self._reached:
            # Nobody was ever there: it is the address, not the weather.
            self.fatal = error

    def _wait(self, seconds: float) -> None:
        if self._sleep is None:
            from time import sleep

            self._sleep = sleep
        self._sleep(seconds)


def _backoff(asked: "_Asked", tries: int) -> float:
    """0.5, 1, 2 … seconds, each times 0.75 to 1.25 by the prompt: no two in step."""
    seed = content_key(asked.user, str(asked.repeat), str(tries))
    return 0.5 * 2.0 ** (tries - 1) * (0.75 + int(seed[:8], 16) / 0x1FFFFFFFE)


@dataclass(slots=True)
class _Asked:
    """One unit while it is being asked."""

    system: str
    user: str
    repeat: int
    raw: str = ""
    model: str | None = None
    replies: int = 0
    usage: JudgeUsage = JudgeUsage()
    notes: list[str] = field(default_factory=list)

    def tried(self) -> None:
        """Count a call that brought no reply."""
        self.usage = replaced(self.usage, calls=self.usage.calls + 1)

    def add(self, reply: JudgeReply) -> None:
        """Take in a reply: sums of tokens are unknown once one part of them is."""
        first = self.replies == 0
        self.replies += 1
        self.raw = reply.text
        self.model = reply.model or self.model
        known = JudgeUsage(input_tokens=0, output_tokens=0) if first else self.usage
        self.usage = replaced(
            self.usage,
            input_tokens=_sum(known.input_tokens, reply.usage.input_tokens),
            output_tokens=_sum(known.output_tokens, reply.usage.output_tokens),
            cost_usd=None,
            calls=self.usage.calls + 1,
        )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
