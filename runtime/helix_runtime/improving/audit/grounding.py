"""Are criteria grounded in runs: did each decide, and can each fail?"""

from __future__ import annotations

from collections.abc import Iterator

from ...criterion import Criterion
from .finding import Finding, Holdings, ids_of, named, names_in


def find_grounding(held: Holdings) -> Iterator[Finding]:
    """Yield what is found in this area."""
    if not held.runs:
        yield Finding(
            area="grounding",
            kind="no-run",
            where="runs/",
            found="there is no finished run: no criterion was ever seen to decide",
            do="run the suite, and read some of its traces",
        )
        return
    decided: set[str] = set()
    failed = {
        label.criterion_id for label in held.labels.current if label.label == "fail"
    }
    for run in held.runs:
        decided |= {c.id for c in run.criteria if c.decided}
        failed |= {
            c.id for c in run.criteria if c.counts["fail"] or c.verdict == "fail"
        }
    never = [c for c in held.live if c.id not in decided]
    if never:
        yield Finding(
            area="grounding",
            kind="never-decided",
            where="runs/",
            found=f"{named(never)}: decided on no run, so nothing shows what is measured",
            do="`report` says what is open; add cases in scope",
            items=ids_of(never),
        )
    unseen = [
        c
        for c in held.live
        if c.id in decided and c.id not in failed and not _is_ready_made(c)
    ]
    if unseen:
        yield Finding(
            area="grounding",
            kind="never-failed",
            where="runs/ and labels.jsonl",
            found=f"{named(unseen)}: failed in no run and by no label, so whether a "
            "failure would be seen is unknown",
            do="take in a run that fails (`derive`, or label one)",
            items=ids_of(unseen),
        )


def _is_ready_made(criterion: Criterion) -> bool:
    """Whether no run has to show that it can fail.

    What the generator derived is decided by primitives as they come, and facts of the
    spec are the same for every run.
    """
    if criterion.judge is not None or criterion.check is None:
        return False
    return criterion.source == "derived" or "facts" in names_in(
        criterion.check.function
    )
