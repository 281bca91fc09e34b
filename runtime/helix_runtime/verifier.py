"""A second, independent judge that tries to refute what the first one said.

It is asked about verdicts that gate, and can only take away: a verdict that it refutes
on evidence becomes `uncertain`. It never turns a fail into a pass or a pass into a
fail, and where it abstains or fails to answer, the first verdict stands.
"""

from collections.abc import Sequence
from typing import Final

from .canonical import content_key
from .case import Case
from .criterion import Criterion
from .evidence import evidence_of
from .grounding import Ground
from .judge import ModelJudge
from .prompt import refute_prompt, system_prompt, user_prompt
from .providers import ProviderError
from .record import replace
from .suite import Subject
from .trace import Trace
from .unit import Judgement, Verification, VerificationResult
from .verdict import BlockedBy, Verdict

MAX_CRITIQUE: Final = 2_000


class VerifiedJudge:
    """The first judge, and behind it the verifier. Safe to call from many threads.

    `passes` says that passes that gate are to be refuted too, not only fails.
    """

    def __init__(
        self,
        judge: ModelJudge,
        verifier: ModelJudge,
        subject: Subject,
        *,
        passes: bool = False,
    ) -> None:
        self._judge = judge
        self._verifier = verifier
        self._subject = subject
        self._results: Sequence[str] = ("fail", "pass") if passes else ("fail",)
        self.digest = content_key(
            "verified", judge.digest, verifier.digest, *self._results
        )

    @property
    def fatal(self) -> ProviderError | None:
        """Why no unit can be judged any more, or None."""
        return self._judge.fatal or self._verifier.fatal

    def waiting(self) -> str | None:
        """Return what is being waited for, or None."""
        return self._judge.waiting() or self._verifier.waiting()

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return the first judge's judgement, downgraded where it is refuted."""
        first = self._judge.judge(criterion, case, trace, repeat)
        if first is None or not criterion.gates:
            return first
        if first.verdict.result not in self._results:
            return first
        evidence = evidence_of(trace)
        user = user_prompt(criterion, case, trace, evidence)
        second = self._verifier.judge_prompt(
            system_prompt(criterion, self._subject),
            refute_prompt(user, first.verdict),
            repeat,
            Ground(
                criterion=criterion,
                case=case,
                trace=trace,
                evidence=evidence,
                subject=self._subject,
            ),
        )
        result = compare(first.verdict, second.verdict)
        verification = Verification(
            result=result,
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
        names = ", ".join(sorted(self._models)) or "the verifier"
        asked = sum(self._counts.values())
        answered = count("upheld", 0) + count("refuted", 0)
        share = f" ({count('upheld', 0)} of {answered} agree)" if answered else ""
        return (
            f"verifier {names}: asked about {asked} verdicts that gate: "
            f"{count('upheld', 0)} upheld, {count('refuted', 0)} refuted and now "
            f"uncertain{share}, {count('abstained', 0)} left open, "
            f"{count('error', 0)} could not be verified"
        )
