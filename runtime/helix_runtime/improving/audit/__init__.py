"""The suite looked at as a subject: can what it says be trusted, and is it alive?

Pure checks over what a suite holds; nothing is judged anew and nothing is changed. Six
questions, in the order in which one rests on the other: are criteria grounded in runs,
is each one question that code answers where it can, are judges validated, did people
label whole runs, are there enough labels of both classes, and does the suite still grow
and keep up with the subject, the spec and the judge's model?
"""

from __future__ import annotations

from typing import Final, get_args

from .design import find_design
from .finding import Area, Finding, Holdings
from .grounding import find_grounding
from .hygiene import find_hygiene
from .judges import find_judges
from .labels import find_labels
from .people import find_people

AREAS: Final[tuple[Area, ...]] = get_args(Area)


def audit(held: Holdings) -> list[Finding]:
    """Return every finding, area by area."""
    return [
        *find_grounding(held),
        *find_design(held),
        *find_judges(held),
        *find_people(held),
        *find_labels(held),
        *find_hygiene(held),
    ]
