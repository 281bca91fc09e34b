"""The overlay: what a suite needs beyond its agentspec, which is closed.

Read and checked as the spec is: unknown keys, ids that the spec does not have,
primitives and their arguments, aggregates, all at once and at their place.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from helix_runtime.criterion import (
    Aggregate,
    baseline,
    every,
    limit_fault,
    mean,
    pass_k,
    rate,
)
from helix_runtime.targets import FORMS
from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationError

from ..problems import Problem, has_errors, in_order, listed, quoted
from . import v02, v03
from .base import Closed, Maybe, Text, refusal
from .close import CloseMatches
from .located import Located
from .structure import structure_problems
from .yaml import read_yaml

Card = v02.AgentSpec | v03.AgentSpec

Input = Literal["case", "expected", "transcript", "trajectory", "output"]
# What the runtime has adapters for; a test holds the two together.
ProviderName = Literal[
    "openai", "openai-responses", "openai-http", "anthropic", "google"
]
DerivedName = Literal[
    "scenario-behavior",
    "declared-tools",
    "expected-actions",
    "expected-path",
    "expected-outputs",
    "workflow-facts",
    "action-holders",
]

# What a field of a row may be mapped to: one of these, or a path below one of those.
FIELDS: Final = ("query", "category", "scenario", "id")
FIELDS_WITH_PATH: Final = ("input", "expected", "tuple")
AGGREGATES: Final = (
    'all, {rate: ">= 0.95"}, {mean: "> 0.9"}, {pass^k: 3} or {baseline: ">= 0"}'
)
_CONDITIONS: Final[Mapping[str, Callable[[str], Aggregate]]] = {
    "rate": rate,
    "mean": mean,
    "baseline": baseline,
}
_MODULE_AND_NAME: Final = re.compile(
    r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.\w+)*"
)


def read_aggregate(value: Any) -> Aggregate:
    """Return the aggregate that an overlay says.

    Raises ValueError, in plain words, for anything that is none.
    """
    if value == "all":
        return every()
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("an aggregate is `all`, or one condition")
    ((kind, wanted),) = value.items()
    if kind == "pass^k":
        if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
            raise ValueError("`pass^k` is a whole number of repeats, at least 1")
        return pass_k(wanted)
    if kind not in _CONDITIONS:
        raise ValueError(f"{quoted(str(kind))} is no aggregate")
    if not isinstance(wanted, str):
        such = ">= 0" if kind == "baseline" else ">= 0.95"
        raise ValueError(f'`{kind}` is a condition in quotes, such as "{such}"')
    try:
        aggregate = _CONDITIONS[kind](wanted)
    except ValueError:
        advice = 'such as ">= 0"' if kind == "baseline" else 'such as ">= 0.95"'
        if "%" in wanted:
            share = "5% is 0.05" if kind == "baseline" else "95% is 0.95"
            advice = f"with a share in place of the percentage: {share}"
        raise ValueError(
            f"{quoted(wanted)} is no condition; `{kind}` needs one {advice}"
        ) from None
    wrong = limit_fault(aggregate)
    if wrong is not None:
        raise ValueError(wrong)
    return aggregate


def _aggregate(value: Any) -> Any:
    try:
        read_aggregate(value)
    except ValueError as error:
        hint = _as_share(value) or f"write {AGGREGATES}"
        raise refusal("HX301", str(error), hint) from None
    return value


_PERCENTAGE: Final = re.compile(r"\s*(>=|>)\s*(-?\d{1,3}(?:\.\d{1,4})?)\s*")


def _as_share(value: Any) -> str:
    """Return the hint for a rate, or a difference of two, that was given in percent."""
    for kind in ("rate", "baseline"):
        given = value.get(kind) if isinstance(value, dict) else None
        found = _PERCENTAGE.fullmatch(given) if isinstance(given, str) else None
        if found is not None and 1 < abs(float(found[2])) <= 100:
            share = f"{round(float(found[2]) / 100, 6):g}"
            return f'{found[2]} % is `{kind}: "{found[1]} {share}"`'
    return ""


def _field_of_ours(value: Any) -> Any:
    if isinstance(value, str) and not is_field_of_ours(value):
        head, dot, rest = value.partition(".")
        meant = CloseMatches().closest(head, FIELDS_WITH_PATH if dot else FIELDS)
        near = f"did you mean {quoted(f'{meant}{dot}{rest}')}? " if meant else ""
        raise refusal(
            "HX302",
            f"a case has no field {quoted(value)}",
            f"{near}fields: {listed(FIELDS)}, and a name below "
            + listed(f"{field}." for field in FIELDS_WITH_PATH),
        )
    return value


def is_field_of_ours(name: str) -> bool:
    """Whether a field of a row may be mapped to that name."""
    head, _, rest = name.partition(".")
    return name in FIELDS or (head in FIELDS_WITH_PATH and bool(rest.strip(".")))


def _target(value: Any) -> Any:
    if isinstance(value, str) and not is_target(value):
        raise refusal(
            "HX303",
            f"{quoted(value)} is no target",
            f"forms: {listed(FORMS.values())}",
        )
    return value


def is_target(reference: str) -> bool:
    """Whether a reference has one of the forms that the runtime can reach."""
    kind, _, rest = reference.partition(":")
    form = FORMS.get("http" if kind == "https" else kind, "")
    if form.startswith(f"{kind}:MODULE:"):
        return _MODULE_AND_NAME.fullmatch(rest) is not None
    return bool(form) and bool(rest.strip())


def _url(value: Any) -> Any:
    if isinstance(value, str) and not re.match(r"https?://[^\s/]", value):
        raise refusal(
            "HX304",
            f"{quoted(value)} is no address",
            "start it with https:// or http://",
        )
    return value


def _some(value: Any) -> Any:
    if value == []:
        raise refusal(
            "HX105",
            "an empty list selects nothing",
            "name what the criterion judges, or leave the key out: then it judges all",
        )
    return value


_Some = Annotated[list[Text], Field(min_length=1), BeforeValidator(_some)]


class AppliesTo(Closed):
    """Which cases a criterion judges; narrows what the spec maps."""

    datasets: Maybe[_Some] = None
    categories: Maybe[_Some] = None
    scenarios: Maybe[_Some] = None


class CriterionOverlay(Closed):
    """What the overlay says of one criterion.

    `check` is a mapping of one primitive to its arguments; `aggregate` is what
    `read_aggregate` takes.
    """

    severity: Maybe[Literal["CRIT", "HIGH", "MED", "LOW"]] = None
    check: Maybe[dict[str, Any]] = None
    method: Maybe[Literal["deterministic", "hybrid", "llm-judge"]] = None
    applies_to: Maybe[AppliesTo] = None
    aggregate: Maybe[Annotated[Any, BeforeValidator(_aggregate)]] = None
    pass_when: Maybe[Text] = None
    fail_when: Maybe[Text] = None
    judge_inputs: Maybe[list[Input]] = None
    renamed_from: Maybe[Text] = None


OurField = Annotated[str, BeforeValidator(_field_of_ours)]


class Mapped(Closed):
    """A field of theirs that becomes one of ours, its values translated."""

    to: OurField
    values: Maybe[dict[str, Any]] = None


_FIELD, _MAPPED = "(field)", "(mapped)"


def _form(value: Any) -> str:
    return _MAPPED if isinstance(value, dict) else _FIELD


FieldMap = Annotated[
    Annotated[OurField, Tag(_FIELD)] | Annotated[Mapped, Tag(_MAPPED)],
    Discriminator(_form),
]


class DatasetOverlay(Closed):
    """Where a dataset's rows are, and how their fields map to ours."""

    items: Maybe[Text] = None
    map: Maybe[dict[str, FieldMap]] = None


class JudgeOverlay(Closed):
    """The model that judges."""

    provider: Maybe[ProviderName] = None
    model: Maybe[Text] = None
    base_url: Maybe[Annotated[Text, BeforeValidator(_url)]] = None


class Overlay(Closed):
    """An overlay; each part may be left out."""

    criteria: Maybe[dict[str, CriterionOverlay]] = None
    datasets: Maybe[dict[str, DatasetOverlay]] = None
    judge: Maybe[JudgeOverlay] = None
    target: Maybe[Annotated[Text, BeforeValidator(_target)]] = None
    derive: Maybe[dict[DerivedName, Literal["on", "off"]]] = None


@dataclass(frozen=True, kw_only=True)
class ReadOverlay:
    """What reading came to; `overlay` is None where there is an error."""

    overlay: Overlay | None
    problems: list[Problem]
    source: Located


def read_overlay(
    data: bytes, *, file: str, card: Card | None, spec: Located | None = None
) -> ReadOverlay:
    """Read an overlay. Never raises for what stands in the file.

    Ids are compared with those of `card`; where the spec has errors of its own, with
    those that stand in its data, `spec`, as far as they can be read.
    """
    from .overlay_checks import meaning_problems

    source, problems = read_yaml(data, file=file)
    if source is None:
        return ReadOverlay(
            overlay=None, problems=problems, source=Located(file, "", None, {})
        )
    close = CloseMatches()
    overlay = None
    try:
        overlay = Overlay.model_validate({} if source.data is None else source.data)
    except ValidationError as error:
        problems += structure_problems(error, source, Overlay, close=close)
    problems += meaning_problems(source, close, card, spec)
    return ReadOverlay(
        overlay=None if has_errors(problems) else overlay,
        problems=in_order(problems),
        source=source,
    )
