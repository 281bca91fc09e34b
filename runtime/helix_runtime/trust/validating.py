"""A judge's verdicts held against people's labels, run by run: what `validate` finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..labels.splits import Split, Splits
from ..record import field, record
from ..unit import Unit
from .correction import Observed
from .known import block, observed_in
from .validation import (
    DISSENTS,
    Dissent,
    Measurement,
    Measuring,
    People,
    Truth,
    compare,
)

_ERROR: Final = "error"


@record(kw_only=True)
class Disagreed:
    """A verdict that is not what people say. `note` is theirs, `critique` the judge's."""

    kind: Dissent
    case_id: str
    trace_id: str
    label: Truth
    result: str
    critique: str
    note: str

    def to_record(self) -> dict[str, str]:
        """Return it as plain data."""
        return {
            "kind": self.kind,
            "caseId": self.case_id,
            "traceId": self.trace_id,
            "label": self.label,
            "result": self.result,
            "critique": self.critique,
            "note": self.note,
        }


@record(kw_only=True)
class JudgeReport:
    """How the judge of one criterion did on the labelled runs of one split.

    `labels` are the runs of the split by what people say, also "disputed" and
    "deferred". `not_judged` are those without a verdict of the judge (its error is
    none), `ambiguous` those whose id other, different runs bear too. `observed` counts
    the cases of all that it judged by passes and decided verdicts.
    """

    criterion_id: str
    measurement: Measurement
    labels: Mapping[str, int]
    disagreements: tuple[Disagreed, ...]
    not_judged: tuple[str, ...]
    ambiguous: tuple[str, ...]
    observed: Mapping[Observed, int]

    @property
    def is_measured(self) -> bool:
        """Whether any verdict met a label."""
        found = self.measurement
        return bool(found.outcomes or found.agreed or found.over or found.under)

    @property
    def block(self) -> dict[str, Any]:
        """What the scorecard of the judged runs says of the judge."""
        return block(self.measurement, self.observed, seed=self.criterion_id)

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data."""
        found = self.measurement
        tp, fn, tn, fp = found.confusion
        return {
            "criterionId": self.criterion_id,
            **self.block,
            "labels": dict(self.labels),
            "cases": {"pass": found.good_cases, "fail": found.bad_cases},
            "counts": {
                "truePass": tp,
                "falseFail": fn,
                "trueFail": tn,
                "falsePass": fp,
                "agreedAbstain": found.agreed,
                "overAbstain": found.over,
                "underAbstain": found.under,
            },
            "disagreements": [one.to_record() for one in self.disagreements],
            "notJudged": list(self.not_judged),
            "ambiguous": list(self.ambiguous),
        }


@record(frozen=False)
class _Side:
    """One judge while its verdicts come in."""

    measuring: Measuring = field(default_factory=Measuring)
    labels: dict[str, int] = field(default_factory=dict)
    disagreements: list[Disagreed] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)


def validate(
    criteria: Iterable[str],
    units: Iterable[Unit],
    people: People,
    *,
    splits: Splits,
    split: Split,
    ambiguous: frozenset[str] = frozenset(),
) -> list[JudgeReport]:
    """Return how each criterion's judge did, in the order of `criteria`.

    `units` are what the judges decided. Several verdicts on one run say the same label
    twice: the first repeat counts. `ambiguous` are ids of traces that say too little of
    which run was labelled.
    """
    sides = {name: _Side() for name in criteria}
    wanted = {
        subject
        for subject in people.truths
        if subject[1] in sides and splits.of(subject[0]) == split
    }
    judged: dict[tuple[str, str], Unit] = {}

    def watched() -> Iterable[Unit]:
        for unit in units:
            subject = (unit.trace_id, unit.criterion_id)
            if subject in wanted:
                before = judged.get(subject)
                if before is None or unit.repeat < before.repeat:
                    judged[subject] = unit
            yield unit

    observed = observed_in(watched())
    for subject in people.truths:
        if subject in wanted:
            _hold_against(sides[subject[1]], subject, people, judged, splits, ambiguous)
    for word, those in (("disputed", people.disputed), ("deferred", people.deferred)):
        for trace_id, name in those:
            if name in sides and splits.of(trace_id) == split:
                counts = sides[name].labels
                counts[word] = counts.get(word, 0) + 1
    return [
        JudgeReport(
            criterion_id=name,
            measurement=side.measuring.measured(split),
            labels={word: side.labels.get(word, 0) for word in _WORDS},
            disagreements=tuple(
                sorted(side.disagreements, key=lambda one: DISSENTS.index(one.kind))
            ),
            not_judged=tuple(side.not_judged),
            ambiguous=tuple(side.ambiguous),
            observed=observed.get(name, {}),
        )
        for name, side in sides.items()
    ]


_WORDS: Final = ("pass", "fail", "underdetermined", "disputed", "deferred")


def _hold_against(
    side: _Side,
    subject: tuple[str, str],
    people: People,
    judged: Mapping[tuple[str, str], Unit],
    splits: Splits,
    ambiguous: frozenset[str],
) -> None:
    """Hold the verdict on one labelled run against what people say of it."""
    trace_id, _ = subject
    truth = people.truths[subject]
    side.labels[truth] = side.labels.get(truth, 0) + 1
    if trace_id in ambiguous:
        side.ambiguous.append(trace_id)
        return
    unit = judged.get(subject)
    if unit is None or unit.verdict.result == _ERROR:
        side.not_judged.append(trace_id)
        return
    kind = compare(truth, unit.verdict.result)
    side.measuring.add(splits.first_case(trace_id), kind)
    if kind in DISSENTS:
        side.disagreements.append(
            Disagreed(
                kind=kind,
                case_id=unit.case_id,
                trace_id=trace_id,
                label=truth,
                result=unit.verdict.result,
                critique=unit.verdict.critique,
                note=people.notes[subject],
            )
        )
