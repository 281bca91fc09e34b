"""The suite."""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion, skipped
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(check=checks.a, severity="HIGH"),
    Criterion(check=skipped("b", "It holds."), severity="HIGH"),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="code-written",
)
