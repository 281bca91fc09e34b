"""The suite: which criteria decide, how severe each is, and which cases it judges.

CRIT and HIGH fail the gate; MED and LOW advise. A criterion passes when every case
passes, unless `passes` says otherwise.
"""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion, Scope, baseline, mean, pass_k, rate
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(
        check=checks.names_the_shelf,
        severity="HIGH",
        applies_to=Scope(
            datasets=["desk-questions"],
            categories=["find"],
            scenarios=["known-book"],
            narrowed=True,
        ),
        passes=rate(">= 0.95"),
    ),
    Criterion(
        check=checks.reserves_only_when_asked,
        severity="CRIT",
        applies_to=Scope(datasets=["desk-questions"]),
    ),
    Criterion(
        check=checks.looks_up_first,
        judge=judges.looks_up_first,
        severity="MED",
        applies_to=Scope(datasets=["desk-questions"]),
        passes=baseline(">= -0.05"),
    ),
    Criterion(check=checks.short_answers, severity="LOW", passes=mean("> 0.9")),
    Criterion(
        judge=judges.grounded_shelf,
        severity="HIGH",
        applies_to=Scope(datasets=["desk-questions"]),
    ),
    Criterion(
        judge=judges.admits_no_copy,
        severity="HIGH",
        applies_to=Scope(datasets=["desk-questions"]),
        passes=pass_k(3),
    ),
    Criterion(judge=judges.scenario_behavior, severity="MED", source="derived"),
    Criterion(check=checks.expected_actions, severity="MED", source="derived"),
    Criterion(check=checks.workflow_facts, severity="MED", source="derived"),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="code-written",
    spec_sha256=SPEC_SHA256,
    generator=GENERATOR,
    jobs={"find-a-book": ["desk-questions"], "reserve-a-book": ["desk-questions"]},
)
