"""What a second judge's verdict does to the first one's: it can only take away.

The same rule for both paths: models that are called, and verdict files.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..canonical import content_key
from ..case import Case
from ..criterion import Criterion
from ..record import replace
from ..trace import Trace
from ..unit import Judgement, Verification, VerificationResult
from ..verdict import BlockedBy, Verdict

if TYPE_CHECKING:
    from .replay import ReplayJudge

MAX_CRITIQUE: Final = 2_000


def to_verify(criterion: Criterion, verdict: Verdict, results: Sequence[str]) -> bool:
    """Whether a verdict is one that the second judge is asked about."""
    return criterion.gates and verdict.result in results


def results_to_verify(*, passes: bool) -> tuple[str, ...]:
    """Return which results the second judge is asked about."""
    return ("fail", "pass") if passes else ("fail",)


def verified(first: Judgement, second: Judgement) -> Judgement:
    """Return the first judgement, `uncertain` where the second refutes it.

    Both are grounded already: a second verdict whose refs are dead is an abstention.
    """
    verification = Verification(
        result=compare(first.verdict, second.verdict),
        model=second.model,
        critique=second.verdict.critique[:MAX_CRITIQUE],
        usage=second.usage,
    )
    return replace(
        first,
        verdict=downgraded(first.verdict, verification),
        verification=verification,
    )


def compare(first: Verdict, second: Verdict) -> VerificationResult:
    """Return what the second verdict, already grounded, says of the first."""
    if second.result == first.result:
        return "upheld"
    if second.result in ("pass", "fail"):
        return "refuted"
    return "error" if second.result == "error" else "abstained"


def downgraded(verdict: Verdict, verification: Verification) -> Verdict:
    """Return the verdict, `uncertain` where it was refuted."""
    if verification.result != "refuted":
        return verdict
    why = (
        f"two judges differ: {verification.model or 'the verifier'} refutes this "
        f"{verdict.result}: {verification.critique}"
    )
    return replace(
        verdict, result="uncertain", blocked_by=BlockedBy("factual-intent", why)
    )


class VerifiedReplay:
    """Recorded verdicts, and behind them the recorded verdicts of a second judge.

    `verifies` are the results that the second judge is asked about.
    """

    def __init__(
        self, first: "ReplayJudge", second: "ReplayJudge", *, passes: bool
    ) -> None:
        self._first = first
        self._second = second
        self.verifies = results_to_verify(passes=passes)
        self.digest = content_key(
            "verified", first.digest, second.digest, *self.verifies
        )

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return the first judge's judgement, downgraded where it is refuted."""
        first = self._first.judge(criterion, case, trace, repeat)
        if first is None or not to_verify(criterion, first.verdict, self.verifies):
            return first
        second = self._second.judge(criterion, case, trace, repeat)
        return first if second is None else verified(first, second)


class Agreement:
    """Counts what the verifier said, for the scorecard's notes."""

    def __init__(self) -> None:
        self._counts: dict[VerificationResult, int] = {}
        self._models: set[str] = set()

    def add(self, verification: Verification) -> None:
        """Count one."""
        counts = self._counts
        counts[verification.result] = counts.get(verification.result, 0) + 1
        if verification.model:
            self._models.add(verification.model)

    def line(self) -> str | None:
        """Return one sentence, or None where nothing was verified."""
        if not self._counts:
            return None
        count = self._counts.get
        names = ", ".join(sorted(self._models)) or "unnamed"
        asked = sum(self._counts.values())
        answered = count("upheld", 0) + count("refuted", 0)
        share = f" ({count('upheld', 0)} of {answered} agree)" if answered else ""
        return (
            f"verifier {names}: asked about {asked} verdicts that gate: "
            f"{count('upheld', 0)} upheld, {count('refuted', 0)} refuted and now "
            f"uncertain{share}, {count('abstained', 0)} left open, "
            f"{count('error', 0)} could not be verified"
        )
