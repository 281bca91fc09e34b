"""Choose a few of many traces: at random, outliers, failures, doubts, or by strata.

A trace's place in the draw is a hash of the seed and of its content: no clock, no
random source, and the order of files and lines leaves no trace. One pass; what is kept
are the best `n` so far and the counts that medians are read from, so the memory does
not grow with the traces. A trace that says word for word what another one says is
drawn once.

Outliers by the modified z-score of each measure, 0.6745 (x - median) / MAD, the largest
of which is the trace's score (B. Iglewicz, D. C. Hoaglin, How to Detect and Handle
Outliers, 1993, who call what is beyond 3.5 an outlier). Where more than half of the
values are equal, MAD is zero and (x - median) / (1.2533 mean absolute deviation) stands
in for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from heapq import heappush, heappushpop
from typing import Any, Final, Literal, Protocol, get_args

from ..criterion import SEVERITIES
from ..record import field, record
from ..trace import Trace
from .distribution import Distribution, Scale

Strategy = Literal["random", "outlier", "failure", "uncertainty", "stratified"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)

OUTLIER: Final = 3.5
"""A score at and beyond which a trace is called an outlier."""
MEASURES: Final = ("steps", "tokens", "latency", "errors")
"""What a trace's score is taken of: steps, tokens, milliseconds, failures."""

Outcome = Literal["fail", "pass", "open"]
_OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_OF: Final[Mapping[Outcome, str]] = {
    "fail": "it fails",
    "pass": "it passes",
    "open": "it is undecided",
}


@record
class Standing:
    """What a run decided of one trace.

    `failing` units fail, `worst` is the highest severity of their criteria (1 LOW to
    4 CRIT; 0 for none); `open` units came to no pass or fail, though code or a judge
    looked at them; `passing` says whether any passes; `doubt` is how much the least
    certain judge of it lacked to certainty (0 to 1).
    """

    failing: int = 0
    worst: int = 0
    open: int = 0
    passing: bool = False
    doubt: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """`fail` where any unit fails, `pass` where one passes and none fails."""
        return "fail" if self.failing else "pass" if self.passing else "open"


NO_STANDING: Final = Standing()


@record
class Candidate:
    """A trace as samplers see it: its content's hash, measures, stratum, standing.

    `error` says whether the run ended in an error, `failed_calls` counts tool calls
    that failed. `standing` is None where no run judged it.
    """

    key: bytes
    measures: Mapping[str, float] = field(default_factory=dict)
    stratum: str | None = None
    error: bool = False
    failed_calls: int = 0
    standing: Standing | None = None

    @property
    def outcome(self) -> Outcome:
        """Whether it passes, fails, or is undecided; a run that broke has failed."""
        if self.error:
            return "fail"
        return "open" if self.standing is None else self.standing.outcome


@record
class Chosen:
    """A trace that was drawn, and why; `score` is an outlier's."""

    key: bytes
    why: str
    score: float | None = None


class Sampler(Protocol):
    """Sees candidates in any order, and gives the best of them."""

    def add(self, candidate: Candidate) -> None:
        """Look at a trace."""
        ...

    def take(self, number: int) -> list[Chosen]:
        """Return the best `number`, or as many as there are, best first."""
        ...


def sampler(
    strategy: Strategy,
    *,
    number: int,
    seed: str,
    measures: Measures,
    balance: bool = False,
) -> Sampler:
    """Return the sampler of a strategy that gives at most `number` traces.

    `measures` takes in every trace, also those that the sampler is not shown.
    """

    def one() -> Sampler:
        if strategy == "outlier":
            return _Outliers(number, seed, measures)
        if strategy == "stratified":
            return _Strata(number, seed)
        return _Ranked(number, seed, _RANKS[strategy])

    return _Balanced(one) if balance else one()


# -- measures --------------------------------------------------------------------------


def measures_of(trace: Trace) -> dict[str, float]:
    """Return the measures of a trace; what it does not tell is left out."""
    usage = trace.usage
    found: dict[str, float] = {}
    if "tools" in trace.observed or "path" in trace.observed:
        found["steps"] = trace.steps
    if usage.total_tokens is not None:
        found["tokens"] = usage.total_tokens
    if usage.latency_ms is not None:
        found["latency"] = usage.latency_ms
    if "tools" in trace.observed:
        found["errors"] = failed_calls(trace) + (trace.status == "error")
    return found


def failed_calls(trace: Trace) -> int:
    """Return how many tool calls of a trace failed."""
    return sum(1 for call in trace.tool_calls if call.error)


@record
class Outlying:
    """How far out a trace is: the measure that says most, its value, the median."""

    score: float
    measure: str
    value: float
    median: float

    def __str__(self) -> str:
        return (
            f"{self.measure} {_number(self.value)} where the median is "
            f"{_number(self.median)} (score {self.score:.1f})"
        )


class Measures:
    """The distributions of the measures of many traces."""

    def __init__(self) -> None:
        self._of = {name: Distribution() for name in MEASURES}
        self._scales: dict[str, Scale | None] | None = None

    def add(self, values: Mapping[str, float]) -> None:
        """Take in the measures of one trace."""
        self._scales = None
        for name, value in values.items():
            self._of[name].add(value)

    def outlying(self, values: Mapping[str, float]) -> Outlying | None:
        """Return how far out a trace is; None where nothing tells it from others."""
        if self._scales is None:
            self._scales = {name: one.scale() for name, one in self._of.items()}
        best: Outlying | None = None
        for name in MEASURES:
            scale = self._scales[name]
            if scale is None or name not in values:
                continue
            score = robust_score(values[name], scale)
            if score > (0.0 if best is None else best.score):
                best = Outlying(score, name, values[name], scale.median)
        return best


def robust_score(value: float, scale: Scale) -> float:
    """Return the absolute modified z-score of a value; 0 where all values are equal."""
    away = abs(value - scale.median)
    if scale.mad > 0:
        return 0.6745 * away / scale.mad
    if scale.mean_deviation > 0:
        return away / (1.253314 * scale.mean_deviation)
    return 0.0


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


# -- samplers --------------------------------------------------------------------------


def priority(seed: str, what: bytes) -> int:
    """Return the place of something in the draw of a seed: 64 even bits."""
    key = blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    return int.from_bytes(blake2b(what, key=key, digest_size=8).digest(), "big")


Rank = tuple[float, ...]


class _Least:
    """The `number` entries of the least rank, each key once."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._heap: list[tuple[Rank, bytes, Any]] = []
        self._keys: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, rank: Rank, key: bytes, note: Any = None) -> None:
        if key in self._keys or self._number < 1:
            return
        # The heap's first is its smallest: of negated ranks that is the worst one.
        entry = (tuple(-part for part in rank), key, note)
        if len(self._heap) < self._number:
            heappush(self._heap, entry)
        elif self._heap[0][0] >= entry[0]:
            return
        else:
            self._keys.discard(heappushpop(self._heap, entry)[1])
        self._keys.add(key)

    def shrink(self, number: int) -> None:
        """Keep no more than `number` from now on."""
        from heapq import heappop

        self._number = min(self._number, number)
        while len(self._heap) > self._number:
            self._keys.discard(heappop(self._heap)[1])

    def entries(self) -> list[tuple[Rank, bytes, Any]]:
        """Return the entries, best first."""
        found = [(tuple(-p for p in rank), key, note) for rank, key, note in self._heap]
        return sorted(found, key=lambda entry: entry[:2])


def _random(candidate: Candidate) -> tuple[Rank, str] | None:
    return (), "drawn at random"


def _failure(candidate: Candidate) -> tuple[Rank, str] | None:
    standing = candidate.standing or NO_STANDING
    if standing.failing:
        worst = SEVERITIES[-max(standing.worst, 1)]
        units = "1 unit" if standing.failing == 1 else f"{standing.failing} units"
        return (-standing.worst, -standing.failing), f"{units} failed, worst {worst}"
    if candidate.error:
        return (0, 0), "the run ended in an error"
    if candidate.failed_calls and candidate.standing is None:
        calls = candidate.failed_calls
        told = "1 tool call" if calls == 1 else f"{calls} tool calls"
        return (1, -calls), f"{told} failed"
    return None


def _uncertainty(candidate: Candidate) -> tuple[Rank, str] | None:
    standing = candidate.standing
    if standing is None or not (standing.open or standing.doubt > 0):
        return None
    rank = (-standing.open, -standing.doubt)
    if standing.open:
        units = "1 unit is" if standing.open == 1 else f"{standing.open} units are"
        return rank, f"{units} undecided"
    from ..report.words import percent

    return rank, f"a judge was {percent(round(1 - standing.doubt, 6))} sure"


_RANKS: Final = {"random": _random, "failure": _failure, "uncertainty": _uncertainty}


class _Ranked:
    """The best by a rank of their own, then by the draw."""

    def __init__(self, number: int, seed: str, rank: Any) -> None:
        self._seed = seed
        self._rank = rank
        self._kept = _Least(number)

    def add(self, candidate: Candidate) -> None:
        found = self._rank(candidate)
        if found is not None:
            rank, why = found
            place = priority(self._seed, candidate.key)
            self._kept.add((*rank, place), candidate.key, why)

    def take(self, number: int) -> list[Chosen]:
        return [Chosen(key, why) for _, key, why in self._kept.entries()[:number]]


class _Outliers:
    """The traces that lie farthest out.

    A score is known only when all were seen. But it grows with the distance from the
    median, so whoever is among the first `number` is among as many highest or lowest
    values of some measure; those are kept.
    """

    def __init__(self, number: int, seed: str, measures: Measures) -> None:
        self._seed = seed
        self._measures = measures
        self._ends = [
            (name, sign, _Least(number)) for name in MEASURES for sign in (-1, 1)
        ]

    def add(self, candidate: Candidate) -> None:
        place = priority(self._seed, candidate.key)
        for name, sign, kept in self._ends:
            value = candidate.measures.get(name)
            if value is not None:
                kept.add((sign * value, place), candidate.key, candidate.measures)

    def take(self, number: int) -> list[Chosen]:
        found: dict[bytes, tuple[Rank, Outlying]] = {}
        for _, _, kept in self._ends:
            for rank, key, values in kept.entries():
                outlying = self._measures.outlying(values)
                if outlying is not None:
                    found[key] = ((-outlying.score, rank[-1]), outlying)
        best = sorted(found.items(), key=lambda entry: (entry[1][0], entry[0]))
        return [Chosen(key, str(o), o.score) for key, (_, o) in best[:number]]


class _Strata:
    """As many of each stratum as of any other, as far as it has as many.

    With more strata than traces to draw, one of each of so many, drawn too. A stratum
    can never need more than the level that evens out those seen so far, and that level
    only sinks: so about `number` traces are kept, however many strata there are.
    """

    def __init__(self, number: int, seed: str) -> None:
        self._number = number
        self._seed = seed
        self._strata: dict[str, _Least] = {}
        self._order: dict[str, int] = {}
        self._last: tuple[int, str] | None = None
        self._held = 0

    def add(self, candidate: Candidate) -> None:
        name = candidate.stratum
        if name is None or self._number < 1:
            return
        stratum = self._strata.get(name) or self._new(name)
        if stratum is None:
            return
        before = len(stratum)
        stratum.add((priority(self._seed, candidate.key),), candidate.key)
        self._held += len(stratum) - before
        if self._held > 2 * self._number + 16:
            level = max(_shares([len(s) for s in self._strata.values()], self._number))
            for stratum in self._strata.values():
                stratum.shrink(level)
            self._held = sum(map(len, self._strata.values()))

    def _new(self, name: str) -> _Least | None:
        place = priority(self._seed, name.encode("utf-8", "surrogatepass"))
        if len(self._strata) >= self._number:
            if self._last is None:
                self._last = max((p, known) for known, p in self._order.items())
            if (place, name) > self._last:
                return None
            _, dropped = self._last
            self._last = None
            self._held -= len(self._strata.pop(dropped))
            del self._order[dropped]
        self._order[name] = place
        self._strata[name] = _Least(self._number)
        return self._strata[name]

    def take(self, number: int) -> list[Chosen]:
        names = sorted(self._strata, key=lambda name: (self._order[name], name))
        shares = _shares([len(self._strata[name]) for name in names], number)
        found = []
        for name, share in zip(names, shares, strict=True):
            for rank, key, _ in self._strata[name].entries()[:share]:
                found.append((rank, Chosen(key, name)))
        return [chosen for _, chosen in sorted(found, key=lambda e: (e[0], e[1].key))]


class _Balanced:
    """Half of those that fail and half of those that pass.

    Where one side has too few the other fills up, and then what is undecided.
    """

    def __init__(self, one: Any) -> None:
        self._of: dict[Outcome, Sampler] = {outcome: one() for outcome in _OUTCOMES}

    def add(self, candidate: Candidate) -> None:
        self._of[candidate.outcome].add(candidate)

    def take(self, number: int) -> list[Chosen]:
        all_of = {outcome: one.take(number) for outcome, one in self._of.items()}
        fail, passed = _shares([len(all_of["fail"]), len(all_of["pass"])], number)
        shares: dict[Outcome, int] = {"fail": fail, "pass": passed}
        shares["open"] = number - fail - passed
        return [
            Chosen(chosen.key, f"{_OF[outcome]}: {chosen.why}", chosen.score)
            for outcome, one in self._of.items()
            for chosen in one.take(shares[outcome])
        ]


def _shares(sizes: Sequence[int], number: int) -> list[int]:
    """Return how many to take of each: as even as their sizes allow.

    What is left over when the level is even goes to the first ones that have more.
    """
    shares = [0] * len(sizes)
    left = min(number, sum(sizes))
    while left > 0:
        hungry = [i for i, size in enumerate(sizes) if shares[i] < size]
        each = left // len(hungry)
        for index in hungry if each else hungry[:left]:
            more = min(sizes[index] - shares[index], max(each, 1))
            shares[index] += more
            left -= more
    return shares
