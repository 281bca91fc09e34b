"""What judging will take, before anybody is called: calls, tokens, dollars.

Prompts of recorded traces are built as they would be sent and counted by their size. A
run that is not recorded yet can't be measured: its size is that of the runs in the
latest run's folder, or an assumption that is said. Tokens are estimated as a quarter
of the UTF-8 bytes, which is right within a third or so for most texts and models.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ..case import Case
from ..criterion import Criterion
from ..record import record
from ..suite import Suite
from ..trace import Span, Trace
from ..unit import decide_by_code
from .prices import Price
from .prompt import system_prompt, user_prompt

BYTES_A_TOKEN: Final = 4
ANSWER_TOKENS: Final = 350
ASSUMED_RUN_TOKENS: Final = 2_000
MAX_MEASURED: Final = 50


@record(kw_only=True)
class Estimate:
    """What is expected; `dollars` is None where the price is not known.

    `hybrid` of the calls are made only where code can't decide; `source` says where
    the size of a run comes from.
    """

    calls: int
    hybrid: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    source: str

    def lines(self, model: str) -> list[str]:
        """Return the estimate as text."""
        cost = (
            f"the price of {model} is not known: set [prices] in evals.toml"
            if self.dollars is None
            else f"about {self.dollars:.2f} US dollars"
        )
        calls = f"{self.calls:,} calls of {model}"
        if self.hybrid:
            calls += f", {self.hybrid:,} of them only where code can't decide"
        return [
            calls,
            f"about {self.input_tokens:,} tokens in and {self.output_tokens:,} out "
            f"({ANSWER_TOKENS} an answer)",
            cost,
            self.source,
            "not counted: calls that are made again, a verifier, the subject's own "
            "tokens, and what the cache of earlier runs saves",
        ]


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)


def estimate_recorded(
    suite: Suite, runs: Iterable[tuple[Case, Trace]], price: Price | None
) -> Estimate:
    """Return the estimate for recorded traces: what code decides is not counted."""
    systems = _systems(suite)
    calls = tokens = 0
    for case, trace in runs:
        for criterion in suite.criteria:
            if decide_by_code(criterion, case, trace)[0] is None:
                calls += 1
                tokens += systems[criterion.id]
                tokens += tokens_of(user_prompt(criterion, case, trace))
    return _estimate(calls, 0, tokens, price, "measured on the recorded traces")


def estimate_live(
    suite: Suite,
    cases: Iterable[Case],
    *,
    repeats: int,
    measured: Sequence[Trace],
    price: Price | None,
) -> Estimate:
    """Return the estimate for runs that are still to come.

    `measured` are runs of the subject that are there already.
    """
    systems = _systems(suite)
    run_tokens, source = _size_of_a_run(suite, measured)
    calls = hybrid = tokens = 0
    empty = Trace(id="estimate", spans=(Span(id="s", name="assistant", output="-"),))
    for case in cases:
        for criterion in _judged(suite, case):
            calls += repeats
            hybrid += repeats if criterion.check is not None else 0
            prompt = tokens_of(user_prompt(criterion, case, empty))
            tokens += repeats * (systems[criterion.id] + prompt + run_tokens)
    return _estimate(calls, hybrid, tokens, price, source)


def _judged(suite: Suite, case: Case) -> Iterable[Criterion]:
    for criterion in suite.criteria:
        if criterion.judge is not None and criterion.excludes(case) is None:
            yield criterion


def _size_of_a_run(suite: Suite, measured: Sequence[Trace]) -> tuple[int, str]:
    judged = next((c for c in suite.criteria if c.judge is not None), None)
    if not measured or judged is None:
        return ASSUMED_RUN_TOKENS, (
            f"assumed: {ASSUMED_RUN_TOKENS:,} tokens a run of the subject (none is "
            "recorded yet)"
        )
    case = Case(id="estimate", query="-", dimensions={"origin": "estimate"})
    sizes = [tokens_of(user_prompt(judged, case, trace)) for trace in measured]
    mean = sum(sizes) // len(sizes)
    return (
        mean,
        f"measured on {len(sizes)} runs of the latest run: {mean:,} tokens each",
    )


def _systems(suite: Suite) -> dict[str, int]:
    return {
        criterion.id: tokens_of(system_prompt(criterion, suite.subject))
        for criterion in suite.criteria
        if criterion.judge is not None
    }


def _estimate(
    calls: int, hybrid: int, tokens: int, price: Price | None, source: str
) -> Estimate:
    from ..unit import JudgeUsage

    answers = calls * ANSWER_TOKENS
    used = JudgeUsage(input_tokens=tokens, output_tokens=answers)
    return Estimate(
        calls=calls,
        hybrid=hybrid,
        input_tokens=tokens,
        output_tokens=answers,
        dollars=None if price is None else price.cost(used),
        source=source,
    )
