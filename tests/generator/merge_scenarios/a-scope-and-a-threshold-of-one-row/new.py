"""The suite."""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion, Scope
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(
        check=checks.a,
        severity="HIGH",
        applies_to=Scope(datasets=["a-dataset-of-a-long-name"]),
    ),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="code-written",
)
