"""The suite."""

from . import GENERATOR, SPEC_SHA256, checks, judges, mine
from ._runtime.criterion import Criterion
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(check=checks.a, severity="HIGH"),
    Criterion(check=mine.better, severity="LOW"),
    Criterion(check=checks.b, severity="HIGH"),
    Criterion(check=checks.c, severity="HIGH"),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="code-written",
)
