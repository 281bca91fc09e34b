"""Are the judges validated against people?"""

from __future__ import annotations

from collections.abc import Iterator

from ...criterion import Criterion
from .finding import Finding, Holdings, ids_of, named


def find_judges(held: Holdings) -> Iterator[Finding]:
    """Yield what is found in this area."""
    unvalidated: list[Criterion] = []
    tuned: list[Criterion] = []
    for criterion in held.judged:
        found = held.measured.get(criterion.id)
        if found is None or found.status == "unvalidated":
            unvalidated.append(criterion)
        elif found.status == "validated" and found.split == "dev":
            tuned.append(criterion)
        elif found.status != "validated":
            yield Finding(
                area="judges",
                kind="failed" if found.status == "failed" else "below-target",
                where=f"{held.package}/judges.py",
                found=f"the judge of `{criterion.id}` is {found.status} (TPR "
                f"{found.tpr:.2f}, TNR {found.tnr:.2f}; aim: both above 0.9)",
                do="read where it differs from people (`validate`), and sharpen "
                "`pass_when` and `fail_when`",
                items=(criterion.id,),
            )
    if unvalidated:
        yield Finding(
            area="judges",
            kind="unvalidated",
            where="validation.json",
            found=f"{named(unvalidated)}: judged by a judge that is not validated, so "
            "how often it errs is unknown",
            do="label runs of both classes, then `validate`",
            items=ids_of(unvalidated),
        )
    if tuned:
        yield Finding(
            area="judges",
            kind="dev-only",
            where="validation.json",
            found=f"{named(tuned)}: validated on dev alone, on which a judge is tuned",
            do="`validate --split test`, once",
            items=ids_of(tuned),
        )
