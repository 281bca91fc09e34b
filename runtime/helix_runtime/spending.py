"""What a run has used so far, and whether that is within its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .scorecard import UsageTally
from .trace import Trace, Usage
from .unit import FROM_CACHE, JudgeUsage, Unit

if TYPE_CHECKING:
    from .judges.verification import Agreement


class Spending:
    """Counts usage against a budget in dollars and one in tokens; None is no limit.

    What was answered from the cache, and runs that were recorded, were paid for before:
    they are usage, and spend nothing. `over` says which budget is used up, once one is.
    """

    def __init__(
        self, *, usd: float | None, tokens: int | None, recorded: bool = False
    ) -> None:
        self.usage = UsageTally()
        self.from_cache = 0
        self._recorded = recorded
        self._uncounted = 0
        self.over: str | None = None
        self._agreement: Agreement | None = None
        self._budget_usd = usd
        self._budget_tokens = tokens
        self._usd = 0.0
        self._tokens = 0

    def add_run(self, trace: Trace) -> None:
        """Count a run of the subject."""
        self.usage.add_trace(trace)
        if self._recorded:
            return
        if self._budget_usd is not None or self._budget_tokens is not None:
            used = trace.usage
            tokens = used.total_tokens or _both(used)
            no_cost = self._budget_usd is not None and used.cost_usd is None
            self._uncounted += no_cost or (
                self._budget_tokens is not None and not tokens
            )
            self._spend(used.cost_usd, tokens)

    def add_unit(self, unit: Unit) -> None:
        """Count what the judges of a unit used, and whether a second one agreed."""
        if unit.verification is not None:
            if self._agreement is None:
                from .judges.verification import Agreement

                self._agreement = Agreement()
            self._agreement.add(unit.verification)
        self.from_cache += FROM_CACHE in unit.notes
        self.add_judgement(unit)

    def add_judgement(self, unit: Unit) -> None:
        """Count what the judges used for a judgement that is no unit of the run."""
        self.usage.add_unit(unit)
        second = unit.verification
        if second is not None and second.usage is not None:
            self._spend(second.usage.cost_usd, _both(second.usage))
        if unit.usage is not None and FROM_CACHE not in unit.notes:
            self._spend(unit.usage.cost_usd, _both(unit.usage))

    def add_before(self, one: Unit | Trace) -> None:
        """Count what was paid for and stands no longer: a retry is no refund.

        What came from the cache was paid for by the answer that was kept there.
        """
        if isinstance(one, Trace):
            if not self._recorded:
                self.add_run(one)
        elif FROM_CACHE not in one.notes:
            self.add_judgement(one)

    def notes(self) -> list[str]:
        """Return what the scorecard says of the budget and of the second judge."""
        line = None if self._agreement is None else self._agreement.line()
        notes = [] if line is None else [line]
        if self._uncounted:
            runs = "1 run" if self._uncounted == 1 else f"{self._uncounted} runs"
            notes.append(
                f"the budget leaves out what {runs} of the subject used: it is not known"
            )
        return notes

    def _spend(self, cost: float | None, tokens: int) -> None:
        self._usd += cost or 0.0
        self._tokens += tokens
        if self.over is not None:
            return
        if self._budget_usd is not None and self._usd > self._budget_usd:
            self.over = f"the budget of {self._budget_usd:g} USD is used up"
        elif self._budget_tokens is not None and self._tokens > self._budget_tokens:
            self.over = f"the budget of {self._budget_tokens} tokens is used up"


def _both(used: JudgeUsage | Usage) -> int:
    """The tokens that are known, in and out."""
    return (used.input_tokens or 0) + (used.output_tokens or 0)
