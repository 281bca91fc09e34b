"""Which cases and criteria of a suite a command is about: globs on ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .record import record, replace
from .refusal import Refusal, close_match

if TYPE_CHECKING:
    from .suite import Suite


@record(kw_only=True)
class Selection:
    """Globs; an empty list selects everything. Case matters, on every system."""

    cases: Sequence[str] = ()
    category: Sequence[str] = ()
    criteria: Sequence[str] = ()

    def keeps_case(self, case_id: str, category: str | None) -> bool:
        """Whether the case is selected."""
        if self.cases and not _matches(case_id, self.cases):
            return False
        return not self.category or (
            category is not None and _matches(category, self.category)
        )

    def narrow(self, suite: Suite) -> Suite:
        """Return the suite with the selected criteria alone.

        Raises Refusal for a glob that no criterion matches: a misspelt one must not
        look like a pass.
        """
        if not self.criteria:
            return suite
        known = [criterion.id for criterion in suite.criteria]
        idle = [
            glob
            for glob in self.criteria
            if not any(_matches(k, [glob]) for k in known)
        ]
        if idle:
            raise Refusal(
                *(
                    f"--criteria {glob!r} matches no criterion{close_match(glob, known)}"
                    for glob in idle
                )
            )
        kept = [c for c in suite.criteria if _matches(c.id, self.criteria)]
        return replace(suite, criteria=kept)

    def to_record(self) -> dict[str, Any]:
        """Return the selection as `run.json` keeps it."""
        return {
            "cases": list(self.cases),
            "category": list(self.category),
            "criteria": list(self.criteria),
        }


def _matches(text: str, globs: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(text, glob) for glob in globs)
