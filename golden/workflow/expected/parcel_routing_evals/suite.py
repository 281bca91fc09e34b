"""The suite: which criteria decide, how severe each is, and which cases it judges.

CRIT and HIGH fail the gate; MED and LOW advise. A criterion passes when every case
passes, unless `passes` says otherwise.
"""

from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion
from ._runtime.suite import Suite
from .subject import SUBJECT

CRITERIA: list[Criterion] = [
    Criterion(check=checks.heavy_is_held, severity="HIGH"),
    Criterion(check=checks.graph_is_sound, severity="HIGH"),
    Criterion(judge=judges.scenario_behavior, severity="MED", source="derived"),
    Criterion(check=checks.expected_path, severity="MED", source="derived"),
    Criterion(check=checks.expected_outputs, severity="MED", source="derived"),
    Criterion(check=checks.declared_tools, severity="MED", source="derived"),
]

SUITE = Suite(
    subject=SUBJECT,
    criteria=CRITERIA,
    engine="code-written",
    spec_sha256=SPEC_SHA256,
    generator=GENERATOR,
    jobs={"route-parcel": ["parcels"]},
)
