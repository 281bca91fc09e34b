"""Are there enough labels of both classes?"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Final

from ...labels.splits import SHARES
from ...targets.recorded import case_of
from ...trust.validation import MIN_CASES
from .finding import Finding, Holdings

MIN_LABELLED: Final = ceil(MIN_CASES / SHARES["test"])
"""Labelled cases of a class of which dev and test get as many as a validation needs."""


def find_labels(held: Holdings) -> Iterator[Finding]:
    """Yield what is found in this area."""
    cases: dict[str, dict[str, set[str]]] = {}
    for label in held.labels.current:
        words = cases.setdefault(label.criterion_id, {"pass": set(), "fail": set()})
        if label.label in words:
            words[label.label].add(case_of(label.trace_id))
    for criterion in held.judged:
        words = cases.get(criterion.id, {})
        if not words:
            continue  # nobody has labelled it: said above
        number = {word: len(found) for word, found in words.items()}
        if min(number.values()) < MIN_LABELLED:
            yield Finding(
                area="labels",
                kind="too-few",
                where="labels.jsonl",
                found=f"`{criterion.id}` has {number['pass']} passing and "
                f"{number['fail']} failing cases labelled",
                do=f"label about {MIN_LABELLED} of each, so that dev and test get "
                f"{MIN_CASES}; `sample --strategy failure` finds failures",
                items=(criterion.id,),
            )
