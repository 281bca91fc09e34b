"""The suite."""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(check=checks.a, severity="HIGH"),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="native-matrix",
    jobs={"mine": ["d"]},
)
