"""The suite."""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion, rate
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(check=checks.a, severity="HIGH", passes=rate(">= 0.9")),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="code-written",
)
