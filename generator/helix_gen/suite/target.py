"""Which target a suite is for, and the engine that it can have."""

from typing import Final, Literal

from ..problems import listed, quoted
from .declaration import Declaration
from .model import Engine, Target
from .report import InSpec, Report

NO_SUCH_TARGET: Final = "HX508"
NATIVE_ONLY: Final = "HX509"

EngineChoice = Literal["auto", "code-written", "native-matrix"]

_NO_TARGET: Final = Target(id="unknown", type="custom", name="unknown", code=True)


def choose_target(
    declared: Declaration, wanted: str | None, at: InSpec, report: Report
) -> Target:
    """Return the target that is wanted; else the first code target, or the first."""
    targets = declared.targets or (_NO_TARGET,)
    if wanted is not None:
        for target in targets:
            if target.id == wanted:
                return target
        report.error(
            NO_SUCH_TARGET,
            f"the spec has no target {quoted(wanted)}",
            at=at,
            hint=f"its targets are {listed(t.id for t in targets)}",
        )
    return next((target for target in targets if target.code), targets[0])


def choose_engine(
    declared: Declaration,
    target: Target,
    wanted: EngineChoice,
    at: InSpec,
    report: Report,
) -> Engine:
    if wanted == "native-matrix" or wanted == "auto" and not target.code:
        return "native-matrix"
    if not target.code:
        others = [other.id for other in declared.targets if other.code]
        hint = "use `--engine native-matrix`: agents of a host judge recorded runs"
        if others:
            hint += f"; or choose a target that is code: {listed(others)}"
        report.error(
            NATIVE_ONLY,
            f"a code-written suite calls its subject from Python, but {target.why_native}",
            at=at,
            hint=hint,
        )
    return "code-written"
