"""How far a judge can be trusted: its verdicts held against people's labels.

Two rates, over what it decided: TPR, the share of good runs that it passes, and TNR,
the share of bad runs that it fails. Never accuracy, which a judge that passes all gets
for free where most runs are good; never kappa, which is for two people of equal rank.
An abstention is no wrong answer: abstentions are counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from ..labels.file import Label
from ..labels.splits import Split
from ..record import field, record
from .correction import Outcome, rates

Status = Literal["validated", "usable", "failed", "unvalidated"]

MIN_CASES: Final = 20
"""How many cases of each class must be labelled and decided for a judge to be judged."""

# -- what people say -------------------------------------------------------------------

Truth = Literal["pass", "fail", "underdetermined"]


@record(kw_only=True)
class People:
    """What people say of the runs, criterion by criterion.

    `truths` is (trace, criterion) → what all who answered say. Somebody who defers has
    not answered. `disputed` are the labels of those on which people differ, `deferred`
    those that nobody answered: neither says what is true.
    """

    truths: Mapping[tuple[str, str], Truth]
    notes: Mapping[tuple[str, str], str]
    disputed: tuple[tuple[str, str], ...]
    deferred: tuple[tuple[str, str], ...]


def people_of(labels: Iterable[Label]) -> People:
    """Return what the labels that stand say (see `labels.summarize`)."""
    said: dict[tuple[str, str], list[Label]] = {}
    for label in labels:
        said.setdefault(label.subject, []).append(label)
    truths: dict[tuple[str, str], Truth] = {}
    notes: dict[tuple[str, str], str] = {}
    disputed, deferred = [], []
    for subject, those in said.items():
        words = {label.label for label in those} - {"defer"}
        if not words:
            deferred.append(subject)
        elif len(words) > 1:
            disputed.append(subject)
        else:
            truths[subject] = _truth(words.pop())
            given = dict.fromkeys(label.note or "" for label in those)
            notes[subject] = " ".join(" ".join(given).split())
    return People(
        truths=truths,
        notes=notes,
        disputed=tuple(disputed),
        deferred=tuple(deferred),
    )


def _truth(word: str) -> Truth:
    if word == "pass":
        return "pass"
    return "fail" if word == "fail" else "underdetermined"


# -- what a judge said to that ---------------------------------------------------------

Agreement = Literal["true-pass", "true-fail", "agreed-abstain"]
Dissent = Literal["false-pass", "false-fail", "over-abstain", "under-abstain"]
DISSENTS: Final[tuple[Dissent, ...]] = (
    "false-pass",
    "false-fail",
    "over-abstain",
    "under-abstain",
)


def compare(truth: Truth, result: str) -> Agreement | Dissent:
    """Return what a judge's result is against what people say.

    A judge that says `na` takes the run out of the count: it abstains too.
    """
    if result not in ("pass", "fail"):
        return "agreed-abstain" if truth == "underdetermined" else "over-abstain"
    if truth == "underdetermined":
        return "under-abstain"
    if truth == "pass":
        return "true-pass" if result == "pass" else "false-fail"
    return "true-fail" if result == "fail" else "false-pass"


@record(kw_only=True)
class Measurement:
    """How a judge's verdicts on labelled runs of one split compare with the labels.

    `outcomes` counts cases by (true passes, false fails, true fails, false passes) of
    their runs; `agreed`, `over` and `under` count runs on which the judge abstained as
    people do, abstained where they don't, and decided where they don't.
    """

    split: Split
    outcomes: Mapping[Outcome, int]
    agreed: int = 0
    over: int = 0
    under: int = 0

    @property
    def confusion(self) -> Outcome:
        """True passes, false fails, true fails and false passes, in runs."""
        tp, fn, tn, fp = (
            sum(outcome[place] * count for outcome, count in self.outcomes.items())
            for place in range(4)
        )
        return tp, fn, tn, fp

    @property
    def tpr(self) -> float | None:
        """The share of good runs that it passes; None where none was decided."""
        return rates(self.outcomes)[0]

    @property
    def tnr(self) -> float | None:
        """The share of bad runs that it fails; None where none was decided."""
        return rates(self.outcomes)[1]

    @property
    def good_cases(self) -> int:
        """Cases with a run that people pass and the judge decided."""
        return sum(n for (tp, fn, _, _), n in self.outcomes.items() if tp + fn)

    @property
    def bad_cases(self) -> int:
        """Cases with a run that people fail and the judge decided."""
        return sum(n for (_, _, tn, fp), n in self.outcomes.items() if tn + fp)

    @property
    def enough(self) -> bool:
        """Whether there are enough cases of both classes to say anything."""
        return min(self.good_cases, self.bad_cases) >= MIN_CASES

    @property
    def status(self) -> Status:
        """`validated` where TPR and TNR are above 90 %, `usable` from 80 % on.

        `failed` below that, `unvalidated` while there are fewer than MIN_CASES cases of
        a class.
        """
        if not self.enough:
            return "unvalidated"
        tp, fn, tn, fp = self.confusion
        # In whole numbers: 9 of 10 are not above 90 %.
        if tp * 10 > (tp + fn) * 9 and tn * 10 > (tn + fp) * 9:
            return "validated"
        if tp * 10 >= (tp + fn) * 8 and tn * 10 >= (tn + fp) * 8:
            return "usable"
        return "failed"


@record(kw_only=True, frozen=False)
class Measuring:
    """Takes in verdicts on labelled runs one by one; `cases` are their outcomes so far."""

    cases: dict[str, list[int]] = field(default_factory=dict)
    agreed: int = 0
    over: int = 0
    under: int = 0

    def add(self, case_id: str, kind: Agreement | Dissent) -> None:
        """Count a verdict on a run of a case."""
        if kind == "agreed-abstain":
            self.agreed += 1
        elif kind == "over-abstain":
            self.over += 1
        elif kind == "under-abstain":
            self.under += 1
        else:
            self.cases.setdefault(case_id, [0, 0, 0, 0])[_PLACES.index(kind)] += 1

    def measured(self, split: Split) -> Measurement:
        """Return what has come in."""
        outcomes: dict[Outcome, int] = {}
        for tp, fn, tn, fp in self.cases.values():
            outcomes[tp, fn, tn, fp] = outcomes.get((tp, fn, tn, fp), 0) + 1
        return Measurement(
            split=split,
            outcomes=dict(sorted(outcomes.items())),
            agreed=self.agreed,
            over=self.over,
            under=self.under,
        )


_PLACES: Final = ("true-pass", "false-fail", "true-fail", "false-pass")
