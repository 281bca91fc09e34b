"""Change requests: what an evaluation asks of whoever changes the subject, as data.

A request names the failing cases with evidence that resolves, and what must hold; it
never says how to change the subject, and nothing here changes it. Failing criteria with
one root are one request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..canonical import canonical, content_key
from ..earliest import Earliest, Order
from ..record import field, record
from ..strict_json import strict_loads
from ..verdict import Ref
from .roots import Grounded, Roots

SCHEMA: Final = "helix-requests/1"
FILE_NAME: Final = "requests.json"
MAX_CASES: Final = 20
"""How many failing cases of a criterion a request names, the earliest first."""

RemedyTarget = Literal["agentspec", "impl"]
REMEDY_TARGETS: Final[tuple[RemedyTarget, ...]] = get_args(RemedyTarget)


@record(kw_only=True)
class FailingCase:
    """A case that a criterion fails, with at least one ref that resolves."""

    case_id: str
    criterion_id: str
    critique: str
    refs: tuple[Ref, ...]

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "caseId": self.case_id,
            "criterionId": self.criterion_id,
            "critique": self.critique,
            "refs": [
                {"obs": ref.obs, "path": ref.path, "value": ref.value}
                for ref in self.refs
            ],
        }


@record(kw_only=True)
class ChangeRequest:
    """One request of one swing (from 1). `proposed_remedy` says what must hold."""

    swing: int
    subject: str
    remedy_target: RemedyTarget
    failing_cases: tuple[FailingCase, ...]
    proposed_remedy: str

    @property
    def id(self) -> str:
        """The content hash of what fails: subject, swing, cases and their evidence."""
        cases = [
            [case.case_id, case.criterion_id, case.critique]
            + [[ref.obs, ref.path, ref.value] for ref in case.refs]
            for case in self.failing_cases
        ]
        return content_key(self.subject, str(self.swing), canonical(cases))

    def to_record(self) -> dict[str, Any]:
        """Return the request as plain data."""
        return {
            "requestId": self.id,
            "swing": self.swing,
            "subject": self.subject,
            "remedyTarget": self.remedy_target,
            "failingCases": [case.to_record() for case in self.failing_cases],
            "proposedRemedy": self.proposed_remedy,
            "status": "requested",
        }


@record(kw_only=True)
class Asked:
    """A criterion of the suite as a request tells of it."""

    id: str
    severity: str
    statement: str
    goal: str = ""


@record(kw_only=True)
class Symptom:
    """A failing criterion of a finding, and how many grounded runs fail it."""

    criterion: Asked
    runs: int


@record(kw_only=True)
class Finding:
    """One root: its request, the criteria that show it, and where it is seen."""

    request: ChangeRequest
    symptoms: tuple[Symptom, ...]
    places: tuple[str, ...]

    def to_record(self) -> dict[str, Any]:
        """Return what a request itself has no place for, as plain data."""
        return {
            "requestId": self.request.id,
            "places": list(self.places),
            "symptoms": [
                {
                    "criterionId": one.criterion.id,
                    "severity": one.criterion.severity,
                    "statement": one.criterion.statement,
                    "failingRuns": one.runs,
                }
                for one in self.symptoms
            ],
        }


@record
class NotGrounded:
    """A failing unit without a ref that resolves: it makes no request."""

    criterion_id: str
    case_id: str
    trace_id: str
    why: str

    def to_record(self) -> dict[str, str]:
        """Return it as plain data."""
        return {
            "criterionId": self.criterion_id,
            "caseId": self.case_id,
            "traceId": self.trace_id,
            "why": self.why,
        }


@record(kw_only=True, frozen=False)
class _Failures:
    cases: Earliest[str, FailingCase]
    runs: int = 0
    spec_only: bool = True


class Requesting:
    """Takes in failing runs one by one and makes the requests of them."""

    def __init__(self, *, subject: str, swing: int, criteria: Sequence[Asked]) -> None:
        self._subject = subject
        self._swing = swing
        self._criteria = {criterion.id: criterion for criterion in criteria}
        self._failures: dict[str, _Failures] = {}
        self._roots = Roots()

    def add_run(
        self, case_id: str, order: Order, units: Mapping[str, tuple[str, Grounded]]
    ) -> None:
        """Take in the units of one run that fail: by criterion, critique and evidence.

        Each must have a ref that resolves, and its criterion be one of those given.
        """
        for criterion_id, (critique, grounded) in units.items():
            found = self._failures.get(criterion_id)
            if found is None:
                found = _Failures(cases=Earliest(MAX_CASES))
                self._failures[criterion_id] = found
            found.runs += 1
            found.spec_only &= all(mark.is_of_spec for mark in grounded.marks)
            found.spec_only &= bool(grounded.marks)
            found.cases.add(
                order,
                case_id,
                FailingCase(
                    case_id=case_id,
                    criterion_id=criterion_id,
                    critique=critique,
                    refs=grounded.refs,
                ),
            )
        self._roots.add_run({name: unit[1].marks for name, unit in units.items()})

    def findings(self, remedy: RemedyTarget | None = None) -> list[Finding]:
        """Return the findings in the order of the criteria.

        `remedy` says where all of them belong; otherwise one belongs to the agentspec
        where all of its evidence is of the spec itself, else to the implementation,
        which departs from what the spec asks.
        """
        groups = self._roots.findings(list(self._criteria))
        return [self._finding(group, remedy) for group in groups]

    def _finding(self, group: Sequence[str], remedy: RemedyTarget | None) -> Finding:
        failures = {name: self._failures[name] for name in group}
        symptoms = tuple(
            Symptom(criterion=self._criteria[name], runs=found.runs)
            for name, found in failures.items()
        )
        places = tuple(self._roots.places(group))
        of_spec = all(found.spec_only for found in failures.values())
        cases = [case for one in failures.values() for case in one.cases.values()]
        request = ChangeRequest(
            swing=self._swing,
            subject=self._subject,
            remedy_target=remedy or ("agentspec" if of_spec else "impl"),
            failing_cases=tuple(cases),
            proposed_remedy=_remedy(symptoms, places, cases),
        )
        return Finding(request=request, symptoms=symptoms, places=places)


def _remedy(
    symptoms: Sequence[Symptom], places: Sequence[str], cases: Sequence[FailingCase]
) -> str:
    """Say what must hold, where it does not, and when it is mended; never how."""
    lines = []
    for one in symptoms:
        criterion = one.criterion
        runs = "1 run" if one.runs == 1 else f"{one.runs} runs"
        lines.append(f"{criterion.id} must hold, and fails {runs}:")
        lines += [_sentence(text) for text in (criterion.statement, criterion.goal)]
    if places:
        lines.append(f"Seen at: {', '.join(places)}.")
    if len(symptoms) > 1:
        lines.append(
            "These criteria fail the same runs at the same place, so one cause may be "
            "behind them."
        )
    named = len({case.case_id for case in cases})
    these = "the case named here passes" if named == 1 else "the cases named here pass"
    lines.append(
        f"How to mend it is left to the engineer; it is mended when {these} in the next "
        "evaluation, and no other case fails for it."
    )
    return " ".join(line for line in lines if line)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?…" else f"{text}."


# -- on disk ------------------------------------------------------------------------------


@record(kw_only=True)
class Issued:
    """The requests of a run as they were written.

    `decision` is that of the run that they were made of; `targets` says of each
    request's id where its remedy was sought.
    """

    decision: str
    swing: int
    targets: Mapping[str, RemedyTarget] = field(default_factory=dict)


def issued_record(
    *,
    run: str,
    decision: str,
    swing: int,
    subject: str,
    findings: Iterable[Finding],
    not_grounded: Iterable[NotGrounded],
) -> dict[str, Any]:
    """Return what `requests.json` holds: the requests, and what is around them."""
    findings = list(findings)
    return {
        "schema": SCHEMA,
        "run": {"id": run, "decision": decision},
        "subject": subject,
        "swing": swing,
        "requests": [one.request.to_record() for one in findings],
        "findings": [one.to_record() for one in findings],
        "notGrounded": [one.to_record() for one in not_grounded],
    }


def read_issued(path: Path) -> Issued:
    """Return the requests that a file holds.

    Raises OSError where it can't be read, ValueError where it holds none.
    """
    data = strict_loads(path.read_bytes().decode("utf-8-sig"))
    try:
        if data["schema"] != SCHEMA:
            raise ValueError(f"its schema is {str(data['schema'])[:40]!r}")
        targets: dict[str, RemedyTarget] = {}
        for one in data["requests"]:
            if one["remedyTarget"] not in REMEDY_TARGETS:
                raise TypeError("an unknown remedyTarget")
            targets[str(one["requestId"])] = one["remedyTarget"]
        swing = data["swing"]
        if swing.__class__ is not int:
            raise TypeError("a swing that is no number")
        return Issued(
            decision=str(data["run"]["decision"]), swing=swing, targets=targets
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it holds no requests of a run: {error!r}") from error
