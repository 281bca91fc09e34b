"""Does the suite still grow, and keep up with the subject, the spec and the judge's model?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...case import Case
from ...growing.growth import words_of
from ...growing.near_duplicates import NearDuplicates
from ...report.words import plural
from .finding import Finding, Holdings, listed, share_of


def find_hygiene(held: Holdings) -> Iterator[Finding]:
    """Yield what is found in this area."""
    yield from _of_the_dataset(held)
    now = {criterion.id for criterion in held.suite.criteria}
    before = dict.fromkeys(c.id for run in held.runs for c in run.criteria)
    gone = [name for name in before if name not in now]
    if gone:
        yield Finding(
            area="hygiene",
            kind="criterion-gone",
            where=f"{held.package}/suite.py",
            found=f"{listed(gone)}: judged runs once, and not in the suite any more",
            do="put back what was not meant to go; runs of before measured more",
            items=tuple(gone),
        )
    last = held.runs[-1] if held.runs else None
    if last is None:
        return
    for why in held.outdated:
        yield Finding(
            area="hygiene",
            kind="validation-outlived",
            where="validation.json",
            found=why,
            do="`validate` again",
        )
    judged = next((run for run in reversed(held.runs) if run.model is not None), None)
    if judged is not None and held.model not in (None, judged.model):
        yield Finding(
            area="hygiene",
            kind="model-changed",
            where="evals.toml",
            found=f"the judge is {held.model} by now, and {judged.model} judged the last "
            f"run that was judged, {judged.name}",
            do="run again, and `validate` the new judge before you believe it",
            items=(str(held.model), str(judged.model)),
        )
    if last.spec_sha256 != held.suite.spec_sha256:
        yield Finding(
            area="hygiene",
            kind="spec-changed",
            where="runs/",
            found=f"the spec has changed since the last run, {last.name}",
            do="run again, and look at what fails anew",
        )


def _of_the_dataset(held: Holdings) -> Iterator[Finding]:
    cases = held.cases
    if held.removed:
        yield Finding(
            area="hygiene",
            kind="shrunk",
            where="dataset.jsonl",
            found=f"{plural(len(held.removed), 'row')} of before gone: the suite measures "
            "less than it did",
            do="take the rows back from version control, or let the spec retire them",
            items=tuple(held.removed),
        )
    if cases and all(case.source == "seed" for case in cases):
        yield Finding(
            area="hygiene",
            kind="not-growing",
            where="dataset.jsonl",
            found=f"all {plural(len(cases), 'case')} come from the spec: none is of a "
            "run that happened",
            do="`derive` makes cases of runs that failed, are in doubt or stand out",
        )
    gating = [criterion for criterion in held.live if criterion.gates]
    ungated = [c.id for c in cases if all(g.excludes(c) is not None for g in gating)]
    if gating and ungated:
        yield Finding(
            area="hygiene",
            kind="not-gated",
            where="dataset.jsonl",
            found=f"{share_of(len(ungated), len(cases), 'case')} in the scope of no CRIT or "
            "HIGH criterion: no gate looks at them",
            do="name in their rows a dataset, a category and a scenario that the suite "
            "has; or widen `applies_to`",
            items=tuple(ungated),
        )
    described = [case.id for case in cases if case.placeholder]
    if described:
        yield Finding(
            area="hygiene",
            kind="placeholders",
            where="dataset.jsonl",
            found=f"{share_of(len(described), len(cases), 'case')} only described: no user "
            "would say that",
            do="`expand --placeholders` has them worded",
            items=tuple(described),
        )
    twins = tuple(_near_duplicates(cases))
    if twins:
        yield Finding(
            area="hygiene",
            kind="near-duplicates",
            where="dataset.jsonl",
            found=f"{plural(len(twins), 'case')} near to another: one thing counts twice",
            do="reword or remove one of each two",
            items=twins,
        )


def _near_duplicates(cases: Sequence[Case]) -> Iterator[str]:
    """Yield `id = id` for each case that says what an earlier one says.

    Cases with another input or expectation ask another thing in the same words.
    """
    groups: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for case in cases:
        if not case.placeholder:
            given = case.input
            if isinstance(given, Mapping):
                given = {k: v for k, v in given.items() if v != case.query}
            asked = repr((case.dataset, case.scenario, given, case.expected))
            groups.setdefault(asked, []).append((case.id, words_of(case)))
    for group in groups.values():
        index: NearDuplicates[str] = NearDuplicates(tokens for _, tokens in group)
        for case_id, tokens in group:
            first = index.find(tokens)
            if first is None:
                index.add(tokens, case_id)
            else:
                yield f"{case_id} = {first}"
