"""Regression cases out of recorded runs: which runs, and the row that each becomes.

A row holds what the user really said and where it comes from, and never an
expectation: what was said is known, what would have been right is not. Nothing is
decided here; a run is chosen by what units, labels, its own status and its measures
say of it already.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..case import Case, content_id
from ..checks.paths import UNREAD, UNRECORDED
from ..criterion import NO_CHECK_YET, NOBODY
from ..journal import read_unit
from ..labels.file import Label
from ..record import field, record, replace
from ..redact import Redactor, holds_credential
from ..targets.recorded import (
    CaseIndex,
    index_cases,
    match_case,
    names_of,
    normal,
    said_to,
)
from ..targets.turns import TURNS, said_in
from ..trace import Trace
from .growth import Dataset, words_key
from .near_duplicates import THRESHOLD, NearDuplicates, Share, Tokens, tokens_of

Why = Literal["failed", "uncertain", "labelled", "outlying"]
WHYS: Final[tuple[Why, ...]] = get_args(Why)
"""Why a run may become a case, in the order in which they are taken."""

MAX_SAID: Final = 20_000
"""Characters that the user may have said; more is a document and no query."""

NOTHING_KNOWN: Final[Mapping[str, str]] = {"origin": "trace"}
"""The tuple of a row of which nothing else is known."""

EDGE: Final = "edge-case"
_EDGE_WORDS: Final = frozenset(("edge-case", "edge_case", "edgecase", "edge case"))
# Names of a tuple that stand for something else than a dimension of the subject.
STRUCTURAL: Final = frozenset(("origin", "dataset", "category", "scenario", EDGE))
MAX_VALUE: Final = 200


@record
class Reason:
    """Why a run is chosen: the kind, and what it was (a criterion, a label …)."""

    why: Why
    text: str = ""

    def __str__(self) -> str:
        return f"{self.why}: {self.text}" if self.text else self.why


# -- what is said of runs already ------------------------------------------------------


def reasons_of_run(units: Path) -> tuple[dict[str, list[Reason]], int]:
    """Return what a run's units say of its traces, and how many lines can't be read.

    A unit that nobody could decide for another reason than its run (a check that is
    not written, a trace that is not complete or lacks what is looked at) says nothing
    of it. Raises OSError.
    """
    found: dict[str, list[Reason]] = {}
    damaged = 0
    with units.open("rb") as lines:
        for line in lines:
            if b'"result":"pass"' in line or not line.strip():
                continue
            try:
                unit = read_unit(line)
            except (ValueError, RecursionError):
                damaged += 1
                continue
            result = unit.verdict.result
            if unit.decided_by in ("scope", "fidelity"):
                continue
            if result == "fail":
                failed = Reason("failed", unit.criterion_id)
                _add(found.setdefault(unit.trace_id, []), failed)
            elif result == "uncertain" and not _says_nothing(unit.verdict.critique):
                in_doubt = Reason("uncertain", unit.criterion_id)
                _add(found.setdefault(unit.trace_id, []), in_doubt)
    return found, damaged


def _says_nothing(critique: str) -> bool:
    return critique == NO_CHECK_YET or critique.startswith((NOBODY, UNRECORDED, UNREAD))


def add_label(reasons: list[Reason], label: Label) -> None:
    """Add what people said of a run. What they labelled they looked at; a fail is one."""
    if label.label == "fail":
        _add(reasons, Reason("failed", label.criterion_id))
    _add(reasons, Reason("labelled", f"{label.criterion_id} {label.label}"))


def _add(reasons: list[Reason], reason: Reason) -> None:
    if reason not in reasons:
        reasons.append(reason)


# -- from a trace to a row -------------------------------------------------------------

KNOWN: Final = "their case is in the dataset"
GONE: Final = "their case was removed from the dataset"
SILENT: Final = "no word of the user is recorded"
LONG: Final = f"the user said more than {MAX_SAID:,} characters"
SECRET: Final = "they hold what looks like a secret"


@record(kw_only=True)
class Candidate:
    """A row that a run could become. `tokens` are those of what the user said."""

    case: Case
    trace_id: str
    reasons: tuple[Reason, ...]
    tokens: Tokens
    edge: bool = False


class Distiller:
    """Turns runs into rows, by what the dataset knows.

    `dimensions` are names in the traces' tags and metadata that are dimensions, beside
    those that the dataset has.
    """

    def __init__(
        self, dataset: Dataset, *, redactor: Redactor, dimensions: Iterable[str] = ()
    ) -> None:
        cases = dataset.cases.values()
        self._removed = dataset.removed.ids
        self._redactor = redactor
        self._index: CaseIndex = index_cases(cases)
        self._datasets = {case.dataset for case in cases if case.dataset is not None}
        # Of one dataset every case is: then its criteria judge the new ones too.
        self._only = next(iter(self._datasets)) if len(self._datasets) == 1 else None
        names = {name for case in cases for name in case.dimensions}
        self._dimensions = (names - STRUCTURAL).union(dimensions)

    def distil(self, trace: Trace, reasons: Sequence[Reason]) -> Candidate | str:
        """Return the row that a run could become, or why it becomes none."""
        said = said_to(trace)
        match = match_case(trace, self._index)
        named = any(self._index.by_id.get(n) is match for n in names_of(trace))
        if not match.recorded:
            if normal(*said) == normal(*said_in(match)):
                return KNOWN
            if named and said and normal(said[0]) == normal(match.query):
                return KNOWN  # the user went on: simulated, or a person
        elif any(name in self._removed for name in names_of(trace)):
            return GONE
        if not any(text.strip() for text in said):
            return SILENT
        if sum(map(len, said)) > MAX_SAID:
            return LONG
        said = [text for text in said if text.strip()]
        case = self._case(trace, said, match if named else None)
        line = json.dumps(case.to_row(), ensure_ascii=False)
        if self._redactor.clean(line) is not line or holds_credential(line):
            return SECRET
        return Candidate(
            case=replace(case, id=content_id(case)),
            trace_id=trace.id,
            reasons=tuple(reasons),
            tokens=tokens_of(" ".join(said)),
            edge=EDGE in case.dimensions,
        )

    def _case(self, trace: Trace, said: Sequence[str], base: Case | None) -> Case:
        told = self._told(trace)
        edge = _is_edge(trace)
        if base is None:
            dimensions = {k: v for k, v in told.items() if k != "dataset"}
            if edge:
                dimensions[EDGE] = "yes"
            return Case(
                id="",
                query=said[0],
                dimensions=dimensions or NOTHING_KNOWN,
                source="derived",
                dataset=told.get("dataset", self._only),
                category=told.get("category"),
                scenario=told.get("scenario"),
                input={"turns": list(said)} if len(said) > 1 else None,
                origin_trace_id=trace.id,
            )
        dimensions = dict(base.dimensions)
        if edge:
            dimensions.setdefault(EDGE, "yes")
        return Case(
            id="",
            query=said[0],
            dimensions=dimensions,
            source="derived",
            dataset=base.dataset,
            category=base.category,
            scenario=base.scenario,
            expected_behavior=base.expected_behavior,
            input=_input(base, said),
            origin_trace_id=trace.id,
        )

    def _told(self, trace: Trace) -> dict[str, str]:
        """Return what a trace says of its own place: tags first, then metadata."""
        found: dict[str, str] = {}
        wanted = self._dimensions | {"dataset", "category", "scenario"}

        def take(name: Any, value: Any) -> None:
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                return
            text = str(value).strip()
            if not text or len(text) > MAX_VALUE or name in found:
                return
            if name == "dataset" and text not in self._datasets:
                return
            found[str(name)] = text

        for tag in trace.tags:
            for separator in (":", "="):
                name, between, value = tag.partition(separator)
                if between and name.strip() in wanted:
                    take(name.strip(), value)
        for block in _blocks(trace):
            for name in sorted(wanted & block.keys()):
                take(name, block[name])
            for key in ("tuple", "dimensions"):
                inner = block.get(key)
                if isinstance(inner, Mapping):
                    for name in inner:
                        if name not in STRUCTURAL:
                            take(name, inner[name])
        return {name: found[name] for name in sorted(found, key=_structure_first)}


def _structure_first(name: str) -> tuple[bool, str]:
    """Order the names of a tuple as the generator does: its place, then the rest."""
    return name not in STRUCTURAL, "" if name == "scenario" else name


def _blocks(trace: Trace) -> Iterable[Mapping[str, Any]]:
    for data in (trace.ext, trace.extra):
        yield from (v for v in data.values() if isinstance(v, Mapping))
        yield data


def _is_edge(trace: Trace) -> bool:
    """Whether a trace's own classification calls it an edge case."""

    def says(value: Any) -> bool:
        if isinstance(value, str):
            return value.strip().casefold() in _EDGE_WORDS
        if isinstance(value, list):
            return any(says(one) for one in value if not isinstance(one, list))
        return False

    if says(list(trace.tags)):
        return True
    for block in _blocks(trace):
        for name, value in block.items():
            if str(name).casefold() in ("edge_case", "edgecase", EDGE):
                if value is True or (
                    isinstance(value, str)
                    and value.strip().casefold() in ("yes", "true")
                ):
                    return True
            elif name in ("classification", "category", "kind", "type", "label"):
                if says(value):
                    return True
    return False


def _input(base: Case, said: Sequence[str]) -> Any:
    """Return the input of a case with other words: its data, without the old ones."""
    given = base.input if isinstance(base.input, Mapping) else {}
    data = {
        key: said[0] if value == base.query else value
        for key, value in given.items()
        if key not in TURNS
    }
    if len(said) > 1:
        data["turns"] = list(said)
    return data or None


# -- which of them are added -----------------------------------------------------------


@record(kw_only=True)
class NearDuplicate:
    """A row that is not added, and the row of the dataset, or new, that says the same."""

    candidate: Candidate
    of: str


@record(kw_only=True)
class Derived:
    """What comes of the candidates. `left_over` are those that a limit left for later."""

    added: tuple[Candidate, ...]
    near: tuple[NearDuplicate, ...] = ()
    known: tuple[Candidate, ...] = ()
    gone: tuple[Candidate, ...] = ()
    left_over: tuple[Candidate, ...] = ()


@record(frozen=False)
class _Sorted:
    added: list[Candidate] = field(default_factory=list)
    near: list[NearDuplicate] = field(default_factory=list)
    known: list[Candidate] = field(default_factory=list)
    gone: list[Candidate] = field(default_factory=list)
    left_over: list[Candidate] = field(default_factory=list)


def derive(
    candidates: Iterable[Candidate],
    dataset: Dataset,
    words: Mapping[str, Tokens],
    *,
    whys: Sequence[Why] = WHYS,
    limit: int | None = None,
    threshold: Share = THRESHOLD,
) -> Derived:
    """Return which candidates are added to a dataset, in the order of their rank.

    `words` are the tokens of the dataset's rows by id, as near-duplicates are looked
    for among them. Edge cases come first, then the kinds of `whys` in their order, then
    the order in which the candidates come. At most `limit` are added. `threshold` is
    the share of tokens from which on two rows are near-duplicates.
    """

    def rank(candidate: Candidate) -> tuple[bool, int]:
        kinds = [whys.index(reason.why) for reason in candidate.reasons]
        return not candidate.edge, min(kinds)

    ordered = sorted(candidates, key=rank)
    index: NearDuplicates[str] = NearDuplicates(
        [*words.values(), *(candidate.tokens for candidate in ordered)],
        threshold=threshold,
    )
    for row_id, tokens in words.items():
        index.add(tokens, row_id)
    done = _Sorted()
    met: set[str] = set()
    for candidate in ordered:
        row_id = candidate.case.id
        if row_id in dataset.cases or row_id in met:
            done.known.append(candidate)
            continue
        if (
            row_id in dataset.removed.ids
            or words_key(candidate.tokens) in dataset.removed.words
        ):
            done.gone.append(candidate)
            continue
        same = index.find(candidate.tokens)
        if same is not None:
            done.near.append(NearDuplicate(candidate=candidate, of=same))
        elif limit is not None and len(done.added) >= limit:
            done.left_over.append(candidate)
        else:
            met.add(row_id)
            done.added.append(candidate)
            index.add(candidate.tokens, row_id)
    return Derived(
        added=tuple(done.added),
        near=tuple(done.near),
        known=tuple(done.known),
        gone=tuple(done.gone),
        left_over=tuple(done.left_over),
    )
