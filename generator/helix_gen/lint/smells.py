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
    """Return the smells of a spec and its overlay.

    Where one of the two has errors, those of each criterion that can be read: what
    no case covers would be guessed.
    """
    from ..spec.draft import draft_of
    from .coverage import coverage_smells
    from .criteria import criteria_smells
    from .design import design_of
    from .items import item_smells

    draft = draft_of(read)
    if draft is None:
        return []
    design = design_of(draft, overlay)
    found = [*criteria_smells(design)]
    if draft is read and (overlay is None or overlay.overlay is not None):
        found += coverage_smells(design)
        found += item_smells(design)
    return in_order(found)
