"""The suite: which criteria decide, how severe each is, and which cases it judges.

CRIT and HIGH fail the gate; MED and LOW advise. A criterion passes when every case
passes, unless `passes` says otherwise.
"""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion, Scope
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(
        judge=judges.warnings_first,
        severity="HIGH",
        applies_to=Scope(datasets=["hikes"]),
    ),
    Criterion(
        judge=judges.only_logged_places,
        severity="HIGH",
        applies_to=Scope(datasets=["hikes"]),
    ),
    Criterion(
        check=checks.publishes_on_consent,
        severity="HIGH",
        applies_to=Scope(datasets=["hikes"]),
    ),
    Criterion(judge=judges.scenario_behavior, severity="MED", source="derived"),
    Criterion(check=checks.expected_actions, severity="MED", source="derived"),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="native-matrix",
    spec_sha256=SPEC_SHA256,
    generator=GENERATOR,
    jobs={"write-notes": ["hikes"]},
)
