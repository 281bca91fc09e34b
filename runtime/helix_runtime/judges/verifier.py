"""A second, independent model that tries to refute what the first one said.

It is asked about verdicts that gate, and can only take away: a verdict that it refutes
on evidence becomes `uncertain`. It never turns a fail into a pass or a pass into a
fail, and where it abstains or fails to answer, the first verdict stands.
"""

from ..canonical import content_key
from ..case import Case
from ..criterion import Criterion
from ..providers import ProviderError
from ..suite import Subject
from ..trace import Trace
from ..unit import Judgement
from .evidence import evidence_of
from .grounding import Ground
from .judge import ModelJudge
from .prompt import refute_prompt, system_prompt, user_prompt
from .verification import results_to_verify, to_verify, verified


class VerifiedJudge:
    """The first judge, and behind it the verifier. Safe to call from many threads.

    `passes` says that passes that gate are to be refuted too, not only fails: `verifies`
    are the results that the verifier is asked about.
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
        self.verifies = results_to_verify(passes=passes)
        self.digest = content_key(
            "verified", judge.digest, verifier.digest, *self.verifies
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
        if first is None or not to_verify(criterion, first.verdict, self.verifies):
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
        return verified(first, second)
