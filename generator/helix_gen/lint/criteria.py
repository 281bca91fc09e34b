"""Smells of single criteria: wording, rates, checks that nothing decides."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from helix_runtime.improving.one_question import MAX_READ, likert_in, second_claim_in

from ..problems import Problem, quoted
from ..suite.declaration import DeclaredCriterion
from ..suite.settings import method_of
from .bindings import binding_for
from .budgets import budget_in
from .design import Design, yaml_text
from .rates import aggregate_in

_CAPITALS: Final = re.compile(r"(?<![\w^])[A-Z]{4,}\b")


def criteria_smells(design: Design) -> Iterator[Problem]:
    """Yield the smells of each criterion by itself, and of pairs that are alike."""
    statements: dict[str, DeclaredCriterion] = {}
    spellings: dict[str, DeclaredCriterion] = {}
    for criterion in design.declared.criteria:
        likert = likert_in(f"{criterion.statement}\n{criterion.goal}")
        if likert is not None:
            yield _likert(design, criterion, likert)
        else:
            yield from _rate(design, criterion)
        yield from _two_claims(design, criterion)
        yield from _unbound(design, criterion)
        yield from _opposite(design, criterion)
        yield from _condition(design, criterion)
        yield from _unasked(design, criterion)
        words = " ".join(criterion.statement.casefold().split()).rstrip(".")
        first = statements.setdefault(words, criterion)
        if first.id != criterion.id:
            yield design.warn(
                "HX407",
                design.statement_path(criterion),
                f"{quoted(criterion.id)} asks the same as {quoted(first.id)}",
                "keep one of them; two would count one failure twice",
            )
        spelling = "".join(c for c in criterion.id.casefold() if c.isalnum())
        alike = spellings.setdefault(spelling, criterion)
        if alike.id != criterion.id and spelling:
            yield design.warn(
                "HX409",
                (*criterion.at.path, "id"),
                f"{quoted(criterion.id)} and {quoted(alike.id)} differ in case or "
                "punctuation only",
                "give one of them another id; people and file systems confuse them",
            )


def _likert(design: Design, criterion: DeclaredCriterion, words: str) -> Problem:
    in_statement = likert_in(criterion.statement) is not None
    path = (
        design.statement_path(criterion)
        if in_statement
        else (*criterion.at.path, "goal")
    )
    return design.warn(
        "HX402",
        path,
        f"{quoted(criterion.id)} asks for a score ({quoted(words)}); a verdict is pass "
        "or fail",
        "say what must hold; express degrees by several criteria with a severity each",
    )


def _two_claims(design: Design, criterion: DeclaredCriterion) -> Iterator[Problem]:
    second = second_claim_in(criterion.statement)
    if second is not None:
        yield design.warn(
            "HX403",
            design.statement_path(criterion),
            f"{quoted(criterion.id)} may hold two failure modes; the second: "
            f"{quoted(second)}",
            "split it: one criterion, one way to fail, so that a fail says which",
        )


def _rate(design: Design, criterion: DeclaredCriterion) -> Iterator[Problem]:
    if "aggregate" in design.says_of(criterion):
        return
    aggregate = aggregate_in(criterion.goal)
    if aggregate is not None:
        yield design.warn(
            "HX404",
            (*criterion.at.path, "goal"),
            f"the goal of {quoted(criterion.id)} is about many runs, and no aggregate "
            "carries it: every run must pass",
            design.propose(
                "criteria:",
                f"  {yaml_text(criterion.id)}:",
                f"    aggregate: {aggregate}",
            ),
        )


def _unbound(design: Design, criterion: DeclaredCriterion) -> Iterator[Problem]:
    if criterion.judged or not design.decided_by_code_alone(criterion):
        return
    says = design.says_of(criterion)
    if "check" in says or says.get("method") == "deterministic":
        return  # that code decides it is said on purpose: by hand, where no check is bound
    words = f"{criterion.id} {criterion.statement}"
    budget = budget_in(criterion.goal)
    call = binding_for(words, design.declared.facts) if budget is None else budget.check
    example = _flow(call)
    to_fill = "\nreplace the words in capitals" if _CAPITALS.search(example) else ""
    yield design.warn(
        "HX405",
        (*criterion.at.path, "id"),
        f"the code check {quoted(criterion.id)} has no executable check: it stays "
        "uncertain until it has one",
        "fill in its function in `checks.py` of the suite and say so in the overlay "
        f"(`criteria: {{{yaml_text(criterion.id)}: {{method: deterministic}}}}`), or bind a "
        "primitive, for example "
        + design.propose(
            "criteria:",
            f"  {yaml_text(criterion.id)}:",
            f"    check: {example}",
        )
        + to_fill,
    )


_TELLS: Final = (
    r"(?:contain|hold|includ|mention|reveal|name|use|say|show|leak|expose|disclos|quot)"
)
# "holds no X", "never mentions X", "No X is revealed": of what is in a text, that it
# must not be there. Where more is said (without, unless), the words tell too little.
_DENIES: Final = re.compile(
    rf"\b{_TELLS}\w* (?:no|none|neither)\b"
    rf"|(?:\b(?:never|not|cannot)|n['’]t) {_TELLS}"
    rf"|^(?:no|none of)\b[^.;]*\b(?:appears?|occurs?|(?:is|are) {_TELLS}\w*)",
    re.I,
)
_QUALIFIED: Final = re.compile(
    r"\b(?:without|unless|except|until|only|but|if|when|where|before|omit\w*|lack\w*"
    r"|missing)\b",
    re.I,
)


def _opposite(design: Design, criterion: DeclaredCriterion) -> Iterator[Problem]:
    """A criterion that forbids a text, bound to a check that passes where it is."""
    call = design.says_of(criterion).get("check")
    if not isinstance(call, Mapping) or len(call) != 1:
        return
    text = criterion.statement[:MAX_READ]
    if not _DENIES.search(text) or _QUALIFIED.search(text):
        return
    (name,) = call
    if name == "output.contains":
        instead = "`output.contains_none` passes where they are not there"
    elif name == "output.regex" and "(?!" not in str(call[name]):
        instead = "`combine.negate` around it passes where it does not match"
    else:
        return
    yield design.warn(
        "HX410",
        design.statement_path(criterion),
        f"{quoted(criterion.id)} says that something must not be there, and its check "
        f"{quoted(name)} passes where it is",
        f"{instead}; leave it if that is not meant",
    )


_GIVEN: Final = re.compile(
    r"^(?:given|when(?:ever)?|if|in case of|as long as|once)\b[^.;]{2,120}?,\s", re.I
)
# What these look at is there in every case; others say `na` by themselves.
_ANYWHERE: Final = frozenset(
    f"output.{name}"
    for name in ("present", "equals", "contains", "contains_none", "regex", "one_of")
) | frozenset(
    f"tools.{name}" for name in ("called", "not_called", "none_called", "any_called")
)


def _condition(design: Design, criterion: DeclaredCriterion) -> Iterator[Problem]:
    """A criterion with a condition, bound to a check that asks in every case."""
    says = design.says_of(criterion)
    call = says.get("check")
    found = _GIVEN.match(criterion.statement[:MAX_READ])
    if found is None or not isinstance(call, Mapping) or "applies_to" in says:
        return
    name, *others = call
    if others or name not in _ANYWHERE:
        return
    yield design.warn(
        "HX411",
        design.statement_path(criterion),
        f"{quoted(criterion.id)} has a condition ({quoted(found[0].rstrip(' ,'))}), and "
        f"its check {quoted(name)} asks in every case",
        "name the cases with `applies_to: {scenarios: […]}`, or put `combine.when` "
        "around the check",
    )


_FORM: Final = (
    "output.present",
    "output.length",
    "output.format",
    "output.json_schema",
)


def _unasked(design: Design, criterion: DeclaredCriterion) -> Iterator[Problem]:
    """A judged criterion whose check passes nearly every run before a judge is asked."""
    says = design.says_of(criterion)
    call = says.get("check")
    if not criterion.judged or not isinstance(call, Mapping) or len(call) != 1:
        return
    (name,) = call
    is_form = name in _FORM or name.startswith("numbers.")
    if is_form and method_of(says, judged=True) == "hybrid":
        yield design.warn(
            "HX412",
            design.statement_path(criterion),
            f"no judge is asked {quoted(criterion.id)} where its check {quoted(name)} "
            "passes: code decides first",
            "make the check a criterion of its own, and leave `check` out here",
        )


def _flow(value: Any) -> str:
    """Return plain data as YAML in one line."""
    if isinstance(value, Mapping):
        entries = [f"{yaml_text(str(k))}: {_flow(v)}" for k, v in value.items()]
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, str):
        return yaml_text(value)
    if isinstance(value, Sequence):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return str(value)
