"""The suite looked at as a subject: can what it says be trusted, and is it alive?

Pure checks over what a suite holds; nothing is judged anew and nothing is changed. Six
questions, in the order in which one rests on the other: are criteria grounded in runs,
is each one question that code answers where it can, are judges validated, did people
label whole runs, are there enough labels of both classes, and does the suite still grow
and keep up with the subject, the spec and the judge's model?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Final, Literal, get_args

from ..case import Case
from ..criterion import Criterion
from ..growing.growth import words_of
from ..growing.near_duplicates import NearDuplicates
from ..labels.file import LabelSummary
from ..labels.splits import SHARES
from ..record import field, record
from ..report.words import plural
from ..suite import Suite, Tool
from ..targets.recorded import case_of
from ..trace import Trace
from ..trust.validation import MIN_CASES, Measurement
from .finished_run import FinishedRun
from .one_question import likert_in, second_claim_in

Area = Literal["grounding", "design", "judges", "people", "labels", "hygiene"]
AREAS: Final[tuple[Area, ...]] = get_args(Area)

MIN_LABELLED: Final = ceil(MIN_CASES / SHARES["test"])
"""Labelled cases of a class of which dev and test get as many as a validation needs."""


@record(kw_only=True)
class Finding:
    """One weakness of the suite: what was found, where, and what to do.

    `kind` names the check that found it; `items` are what it is about (criteria, cases,
    runs), all of them.
    """

    area: Area
    kind: str
    where: str
    found: str
    do: str
    items: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "area": self.area,
            "kind": self.kind,
            "where": self.where,
            "finding": self.found,
            "do": self.do,
            "items": list(self.items),
        }


@record(kw_only=True)
class Holdings:
    """What a suite holds.

    `package` is the name of its package. `runs` are its finished runs by start;
    `measured` is how the judge of each criterion did against labels, where it is known,
    and `outdated` says of which judges it is known no more. `labelled` are the labelled traces that
    are at hand. `cases` are those of the dataset that are not retired, `removed` the ids
    of rows that were taken out. `model` is the judge's of `evals.toml`.
    """

    package: str
    suite: Suite
    runs: Sequence[FinishedRun] = ()
    measured: Mapping[str, Measurement] = field(default_factory=dict)
    outdated: Sequence[str] = ()
    labels: LabelSummary
    labelled: Mapping[str, Sequence[Trace]] = field(default_factory=dict)
    cases: Sequence[Case] = ()
    removed: Sequence[str] = ()
    model: str | None = None

    @property
    def judged(self) -> list[Criterion]:
        """The criteria that a judge decides, or helps to decide."""
        return [c for c in self.suite.criteria if c.judge is not None]

    @property
    def live(self) -> list[Criterion]:
        """The criteria that somebody decides."""
        return [c for c in self.suite.criteria if not c.is_skipped]


def audit(held: Holdings) -> list[Finding]:
    """Return every finding, area by area."""
    return [
        *_grounding(held),
        *_design(held),
        *_judges(held),
        *_people(held),
        *_labels(held),
        *_hygiene(held),
    ]


# -- grounded in runs? --------------------------------------------------------------------


def _grounding(held: Holdings) -> Iterator[Finding]:
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
            found=f"{_criteria(never)}: decided on no run, so nothing shows what is measured",
            do="`report` says what is open; add cases in scope",
            items=_ids(never),
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
            found=f"{_criteria(unseen)}: failed in no run and by no label, so whether a "
            "failure would be seen is unknown",
            do="take in a run that fails (`derive`, or label one)",
            items=_ids(unseen),
        )


def _is_ready_made(criterion: Criterion) -> bool:
    """Whether no run has to show that it can fail.

    What the generator derived is decided by primitives as they come, and facts of the
    spec are the same for every run.
    """
    if criterion.judge is not None or criterion.check is None:
        return False
    return criterion.source == "derived" or "facts" in _names_in(
        criterion.check.function
    )


# -- one question each, code before judge? ------------------------------------------------

# What code decides alone: the form of an answer, and counts in it.
_BY_CODE: Final = re.compile(
    r"\b(?:valid|well-formed|parsable|parseable) (?:json|xml|yaml|csv|html|urls?)\b"
    r"|\b(?:json schema|regular expression|regex)\b"
    r"|\b(?:at most|at least|no more than|fewer than|less than|exactly|under) "
    r"(?:\d+|one|two|three|four|five|ten) (?:words?|characters?|lines?|sentences?|items?"
    r"|tokens?|seconds?|calls?|steps?)\b"
    r"|\b(?:upper|lower)case\b",
    re.I,
)
_CODE_NAME: Final = re.compile(r"[\w]+(?:[._:/-][\w]+)+|\w*_\w*")


def _design(held: Holdings) -> Iterator[Finding]:
    for criterion in held.live:
        judge = criterion.judge
        texts = [criterion.statement, criterion.goal]
        if judge is not None:
            texts += [judge.pass_when, judge.fail_when, judge.notes]
        score = next((s for text in texts if (s := likert_in(text)) is not None), None)
        where = _place(held, criterion)
        if score is not None:
            yield Finding(
                area="design",
                kind="score",
                where=where,
                found=f"`{criterion.id}` asks for a score ({score!r}); a verdict is pass "
                "or fail",
                do="say what must hold; express degrees by several criteria with a "
                "severity each",
                items=(criterion.id,),
            )
        second = second_claim_in(criterion.statement)
        if second is not None:
            yield Finding(
                area="design",
                kind="two-questions",
                where=where,
                found=f"`{criterion.id}` may ask two questions; the second: {second!r}",
                do="split it: one criterion, one way to fail",
                items=(criterion.id,),
            )
        check = criterion.check
        if check is not None and "unwritten" in _names_in(check.function):
            yield Finding(
                area="design",
                kind="no-check",
                where=where,
                found=f"the check of `{criterion.id}` is not written: it is always "
                "uncertain",
                do="write it, or bind a primitive in the overlay",
                items=(criterion.id,),
            )
        if judge is not None and check is None:
            words = by_code(criterion.statement, held.suite.subject.tools)
            if words is not None:
                yield Finding(
                    area="design",
                    kind="code-first",
                    where=where,
                    found=f"a judge alone decides `{criterion.id}`, and code may "
                    f"({words!r})",
                    do="write a check for that part, and let the judge decide the rest "
                    "(`method: hybrid`)",
                    items=(criterion.id,),
                )


def by_code(statement: str, tools: Iterable[Tool]) -> str | None:
    """Return the words of a statement that code can decide, or None.

    Those are the form of an answer, numbers of its parts, and calls of a tool that is
    named as in code (`create_return`, not `search`).
    """
    found = _BY_CODE.search(statement)
    if found is not None:
        return found[0]
    names = {tool.name for tool in tools}
    for word in _CODE_NAME.findall(statement):
        if word in names:
            return str(word)
    return None


def _names_in(function: Any) -> Sequence[str]:
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_names


def _place(held: Holdings, criterion: Criterion) -> str:
    if criterion.judge is not None:
        return f"{held.package}/judges.py"
    check = criterion.check
    assert check is not None  # one of the two decides
    if getattr(check.function, "__code__", None) is None:
        return f"{held.package}/checks.py"
    return f"{held.package}/{check.place}"


# -- judges validated? --------------------------------------------------------------------


def _judges(held: Holdings) -> Iterator[Finding]:
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
            found=f"{_criteria(unvalidated)}: judged by a judge that is not validated, so "
            "how often it errs is unknown",
            do="label runs of both classes, then `validate`",
            items=_ids(unvalidated),
        )
    if tuned:
        yield Finding(
            area="judges",
            kind="dev-only",
            where="validation.json",
            found=f"{_criteria(tuned)}: validated on dev alone, on which a judge is tuned",
            do="`validate --split test`, once",
            items=_ids(tuned),
        )


# -- people labelled whole runs? ----------------------------------------------------------


def _people(held: Holdings) -> Iterator[Finding]:
    labels = held.labels
    if not held.judged and not labels.current:
        return
    if not labels.current:
        yield Finding(
            area="people",
            kind="no-labels",
            where="labels.jsonl",
            found="nobody has labelled a run: no judge can be validated",
            do="let people who know the domain label whole runs (`sample` chooses some, "
            "`labels import` takes tables in)",
        )
        return
    said = {label.criterion_id for label in labels.current}
    silent = [c for c in held.judged if c.id not in said]
    if silent:
        yield Finding(
            area="people",
            kind="not-labelled",
            where="labels.jsonl",
            found=f"{_criteria(silent)}: judged, and no run is labelled",
            do="label runs under these criteria too",
            items=_ids(silent),
        )
    yield from _labelled_runs(held)
    unsigned = sum(label.annotator is None for label in labels.current)
    if unsigned:
        yield Finding(
            area="people",
            kind="unsigned",
            where="labels.jsonl",
            found=f"{_of(unsigned, len(labels.current), 'label')} signed by nobody: "
            "whether a person gave it is unknown",
            do="name the `annotator`",
        )
    if labels.disagreements:
        yield Finding(
            area="people",
            kind="disputed",
            where="labels.jsonl",
            found=f"people differ on {plural(len(labels.disagreements), 'verdict')}: nobody "
            "knows what is true there",
            do="let them settle it, and label again; sharpen the criterion where they "
            "can't",
            items=tuple(
                f"{one.trace_id} × {one.criterion_id}" for one in labels.disagreements
            ),
        )


def _labelled_runs(held: Holdings) -> Iterator[Finding]:
    """Yield which labelled runs are not at hand, and which were not recorded whole."""
    wanted = dict.fromkeys(label.trace_id for label in held.labels.current)
    absent = [name for name in wanted if name not in held.labelled]
    if absent:
        yield Finding(
            area="people",
            kind="run-not-at-hand",
            where="labels.jsonl",
            found=f"{_of(len(absent), len(wanted), 'labelled run')} not at hand: what people "
            "looked at can't be seen again",
            do="keep its traces in runs/, or name their file as `traces` in evals.toml",
            items=tuple(absent),
        )
    partial = [
        name
        for name in wanted
        if any(_is_partial(trace, held) for trace in held.labelled.get(name, ()))
    ]
    if partial:
        yield Finding(
            area="people",
            kind="not-whole",
            where="labels.jsonl",
            found=f"{_of(len(partial), len(wanted), 'labelled run')} not recorded whole: "
            "it broke off, or only its answer was seen",
            do="label runs with every step recorded, not answers",
            items=tuple(partial),
        )


def _is_partial(trace: Trace, held: Holdings) -> bool:
    if trace.incomplete is not None:
        return True
    return bool(held.suite.subject.tools) and "tools" not in trace.observed


# -- enough of both classes? --------------------------------------------------------------


def _labels(held: Holdings) -> Iterator[Finding]:
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


# -- still alive? -------------------------------------------------------------------------


def _hygiene(held: Holdings) -> Iterator[Finding]:
    yield from _dataset(held)
    now = {criterion.id for criterion in held.suite.criteria}
    before = dict.fromkeys(c.id for run in held.runs for c in run.criteria)
    gone = [name for name in before if name not in now]
    if gone:
        yield Finding(
            area="hygiene",
            kind="criterion-gone",
            where=f"{held.package}/suite.py",
            found=f"{_listed(gone)}: judged runs once, and not in the suite any more",
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


def _dataset(held: Holdings) -> Iterator[Finding]:
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
            found=f"{_of(len(ungated), len(cases), 'case')} in the scope of no CRIT or "
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
            found=f"{_of(len(described), len(cases), 'case')} only described: no user "
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


# -- words --------------------------------------------------------------------------------


def _ids(criteria: Iterable[Criterion]) -> tuple[str, ...]:
    return tuple(criterion.id for criterion in criteria)


def _criteria(criteria: Sequence[Criterion]) -> str:
    return _listed(_ids(criteria))


_SHOWN: Final = 5


def _listed(names: Sequence[str]) -> str:
    """Return names as a list in words, the first few."""
    shown = [f"`{name}`" for name in names[:_SHOWN]]
    more = len(names) - _SHOWN
    if more > 0:
        shown.append(f"{more} more")
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _of(number: int, total: int, noun: str) -> str:
    verb = "is" if number == 1 else "are"
    return f"{number:,} of {plural(total, noun)} {verb}"
