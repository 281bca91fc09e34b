"""A model as the judge: prompt, call, strict reading, grounding.

Every unit ends as a verdict or as an `error` that says why. An answer that was cut
off is asked for once more with a larger limit; one that can't be read is asked for
once more with the reason; what is transient is tried again (see `weather`). Nothing
else is tried: no other model, no other sampling.
"""

from collections.abc import Callable
from typing import Final

from ..canonical import KeyPrefix, canonical, content_key
from ..case import Case
from ..criterion import Criterion, Judge
from ..pin import Pin, reported_mismatch
from ..providers import JudgeReply, JudgeRequest, Provider, ProviderError
from ..record import field, like, made, record, replace
from ..suite import Subject
from ..trace import Trace
from ..unit import FROM_CACHE, UNROUTED, Judgement, JudgeUsage
from ..verdict import Verdict, could_not_judge
from .cache import CacheEntry, JudgeCache
from .evidence import evidence_of
from .grounding import Ground, ground
from .parse import ANSWER_SCHEMA, AnswerFault, parse_answer
from .prices import Price
from .prompt import PROMPT_DIGEST, repair_prompt, system_prompt, user_prompt
from .weather import DEADLINE, Attempts, Weather

MAX_TOKENS: Final = 4_000
LARGER: Final = 4
TIMEOUT: Final = 120.0
MAX_RAW: Final = 20_000


@record(kw_only=True)
class Limits:
    """What a judge is allowed: tokens of an answer, and seconds.

    `timeout` is that of one try, `deadline` that of one unit with all of its tries.
    """

    max_tokens: int = MAX_TOKENS
    timeout: float = TIMEOUT
    deadline: float = DEADLINE


class ModelJudge:
    """Judges with one pinned model. Safe to call from many threads.

    `price` gives the cost of each unit; without one it is unknown. `cache` gives back
    answers to prompts that were asked before. `fatal` says what no later unit can get
    past: no further call is made. `form` is how the answer is given its form, where
    it is not the provider's default.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        pin: Pin,
        subject: Subject,
        limits: Limits | None = None,
        price: Price | None = None,
        cache: JudgeCache | None = None,
        form: str = "",
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        if provider.name != pin.provider:
            raise ValueError(
                f"the pin names the provider {pin.provider!r}, not {provider.name!r}"
            )
        self.pin = pin
        self.price = price
        self._provider = provider
        self._subject = subject
        self._limits = limits or Limits()
        self._cache = cache
        self._weather = Weather(
            provider, deadline=self._limits.deadline, sleep=sleep, clock=clock
        )
        # Each request is this one, with its prompts.
        self._request = JudgeRequest(
            system="",
            user="",
            schema=ANSWER_SCHEMA,
            model=pin.model,
            temperature=pin.temperature,
            max_tokens=self._limits.max_tokens,
            timeout=self._limits.timeout,
        )
        self._systems: dict[str, tuple[Judge | None, str]] = {}
        self._prefixes: dict[str, KeyPrefix] = {}
        # What an answer depends on beside its prompt.
        self._source = content_key(
            "model",
            provider.identity,
            canonical(pin.to_record()),
            canonical(ANSWER_SCHEMA),
            str(self._limits.max_tokens),
            form,
        )
        self.digest = content_key(
            self._source, PROMPT_DIGEST, canonical(subject.profile())
        )

    @property
    def fatal(self) -> ProviderError | None:
        """Why no unit can be judged any more, or None."""
        return self._weather.fatal

    def waiting(self) -> str | None:
        """Return what is being waited for, or None."""
        return self._weather.waiting()

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return the judgement of one unit; `error` where there is none to be had."""
        evidence = evidence_of(trace)
        system = self._system(criterion)
        place = Ground(
            criterion=criterion,
            case=case,
            trace=trace,
            evidence=evidence,
            subject=self._subject,
        )
        user = user_prompt(criterion, case, trace, evidence)
        return self.judge_prompt(system, user, repeat, place)

    def _system(self, criterion: Criterion) -> str:
        """The criterion's system prompt, made once for each judge."""
        judge, system = self._systems.get(criterion.id, (None, ""))
        if judge is None or judge is not criterion.judge:
            system = system_prompt(criterion, self._subject)
            self._systems[criterion.id] = (criterion.judge, system)
        return system

    def judge_prompt(
        self, system: str, user: str, repeat: int, place: Ground
    ) -> Judgement:
        """Return the judgement that the model gives on a prompt, grounded."""
        prefix = self._prefixes.get(system)
        if prefix is None:
            prefix = self._prefixes[system] = KeyPrefix(self._source, system)
        key = prefix.key(user, str(repeat))
        entry = None if self._cache is None else self._cache.get(key)
        asked = _Asked(system, user, self._weather.unit(key))
        if entry is not None:
            verdict = asked.take(entry)
        else:
            try:
                verdict = self._ask(asked)
            except ProviderError as error:
                verdict = could_not_judge(f"{error.kind}: {error.message}")
            if self._cache is not None and verdict.result != "error":
                self._cache.put(key, asked.entry())
        return self._judgement(asked, verdict, place)

    def _judgement(self, asked: "_Asked", verdict: Verdict, place: Ground) -> Judgement:
        verdict, downgrades = ground(verdict, place)
        notes = [*asked.unit.notes, *asked.notes]
        if verdict.result == "uncertain" and verdict.blocked_by is None:
            notes.append(UNROUTED)
        mismatch = reported_mismatch(self.pin, asked.model)
        if mismatch is not None:
            notes.append(mismatch)
        used = asked.usage
        cost = None if self.price is None else self.price.cost(used)
        calls = asked.unit.calls or used.calls
        return made(
            Judgement,
            {
                "verdict": verdict,
                "model": asked.model or self.pin.model,
                "usage": like(used, cost_usd=cost, calls=calls),
                "raw": asked.raw[:MAX_RAW] if verdict.result == "error" else None,
                "notes": (*notes, *downgrades),
                "verification": None,
            },
        )

    def _ask(self, asked: "_Asked") -> Verdict:
        request = like(self._request, system=asked.system, user=asked.user)
        enlarged = repaired = False
        while True:
            reply = self._weather.complete(request, asked.unit)
            asked.add(reply)
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


@record(frozen=False)
class _Asked:
    """One unit while it is being asked."""

    system: str
    user: str
    unit: Attempts
    raw: str = ""
    model: str | None = None
    replies: int = 0
    usage: JudgeUsage = JudgeUsage()
    notes: list[str] = field(default_factory=list)

    def add(self, reply: JudgeReply) -> None:
        """Take in a reply: sums of tokens are unknown once one part of them is."""
        self.replies += 1
        self.raw = reply.text
        self.model = reply.model or self.model
        if self.replies == 1:
            self.usage = reply.usage
            return
        known, new = self.usage, reply.usage
        cached = [c for c in (known.cached_tokens, new.cached_tokens) if c is not None]
        self.usage = JudgeUsage(
            input_tokens=_sum(known.input_tokens, new.input_tokens),
            output_tokens=_sum(known.output_tokens, new.output_tokens),
            cached_tokens=sum(cached) if cached else None,
        )

    def entry(self) -> CacheEntry:
        """Return what a later run may take in place of asking."""
        used = self.usage
        usage = JudgeUsage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_tokens=used.cached_tokens,
            calls=self.unit.calls,
        )
        return CacheEntry(text=self.raw, model=self.model, usage=usage)

    def take(self, entry: CacheEntry) -> Verdict:
        """Take in an answer of an earlier run, with what it took to get it."""
        self.raw, self.model, self.usage = entry.text, entry.model, entry.usage
        self.notes.append(FROM_CACHE)
        verdict = parse_answer(entry.text)
        if isinstance(verdict, AnswerFault):  # an edited file of the cache
            return could_not_judge(f"the cached answer can't be read: {verdict.why}")
        return verdict


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
