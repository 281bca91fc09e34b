"""What tokens cost. An unknown price is an unknown cost, never zero.

The table holds only ids that name a dated version, with the list prices that their
providers gave for them: what an alias costs changes with what it stands for. Anything
else, and any price of the owner's own, stands in `evals.toml` under [prices].
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..record import record

if TYPE_CHECKING:
    from ..unit import JudgeUsage


@record(kw_only=True)
class Price:
    """US dollars for a million tokens; `cached_input` is as `input` where None."""

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, usage: "JudgeUsage") -> float | None:
        """Return what the tokens cost in US dollars, None where they are not known."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        cheap = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input_tokens - cached
        return (
            fresh * self.input + cached * cheap + usage.output_tokens * self.output
        ) / 1e6


def _price(given: float, answer: float, cached: float | None = None) -> Price:
    return Price(input=given, output=answer, cached_input=cached)


# List prices of the providers' own pages, standard tier, in 2025.
LISTED: Final[Mapping[str, Price]] = {
    "gpt-4.1-2025-04-14": _price(2.0, 8.0, 0.5),
    "gpt-4.1-mini-2025-04-14": _price(0.4, 1.6, 0.1),
    "gpt-4.1-nano-2025-04-14": _price(0.1, 0.4, 0.025),
    "gpt-4o-2024-08-06": _price(2.5, 10.0, 1.25),
    "gpt-4o-2024-11-20": _price(2.5, 10.0, 1.25),
    "gpt-4o-mini-2024-07-18": _price(0.15, 0.6, 0.075),
    "gpt-5-2025-08-07": _price(1.25, 10.0, 0.125),
    "gpt-5-mini-2025-08-07": _price(0.25, 2.0, 0.025),
    "gpt-5-nano-2025-08-07": _price(0.05, 0.4, 0.005),
    "o3-2025-04-16": _price(2.0, 8.0, 0.5),
    "o4-mini-2025-04-16": _price(1.1, 4.4, 0.275),
    "claude-3-5-haiku-20241022": _price(0.8, 4.0, 0.08),
    "claude-3-5-sonnet-20241022": _price(3.0, 15.0, 0.3),
    "claude-3-7-sonnet-20250219": _price(3.0, 15.0, 0.3),
    "claude-sonnet-4-20250514": _price(3.0, 15.0, 0.3),
    "claude-opus-4-20250514": _price(15.0, 75.0, 1.5),
    "claude-opus-4-1-20250805": _price(15.0, 75.0, 1.5),
    "claude-sonnet-4-5-20250929": _price(3.0, 15.0, 0.3),
    "claude-haiku-4-5-20251001": _price(1.0, 5.0, 0.1),
    "gemini-2.0-flash-001": _price(0.1, 0.4, 0.025),
}


def price_of(model: str, own: Mapping[str, Price]) -> Price | None:
    """Return the price of a model: the owner's, else the listed one, else None.

    Of two servers that sell a model of one name the owner says what it costs.
    """
    return own.get(model) or LISTED.get(model)
