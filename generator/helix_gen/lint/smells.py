"""Smells of an eval design: what is valid and will still disappoint.

All are warnings. Each says what will happen, and the lines for the overlay where they
would help.
"""

from typing import TYPE_CHECKING

from ..problems import Problem, in_order

if TYPE_CHECKING:
    from ..spec.overlay import ReadOverlay
    from ..spec.read import ReadSpec


def smells(read: "ReadSpec", overlay: "ReadOverlay | None") -> list[Problem]:
    """Return the smells of a spec and its overlay; none where the spec has errors."""
    if read.card is None:
        return []
    from .coverage import coverage_smells
    from .criteria import criteria_smells
    from .design import design_of

    design = design_of(read, overlay)
    return in_order([*criteria_smells(design), *coverage_smells(design)])
