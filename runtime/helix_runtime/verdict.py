"""What a check or a judge says about one unit: a result with its critique and refs."""

from typing import Final, Literal, TypeVar

from .record import like, record

Result = Literal["pass", "fail", "uncertain", "na", "error"]
RESULTS: Final[tuple[Result, ...]] = ("pass", "fail", "uncertain", "na", "error")

BlockedKind = Literal["factual-intent", "normative", "scope"]
BLOCKED_KINDS: Final[tuple[BlockedKind, ...]] = (
    "factual-intent",
    "normative",
    "scope",
)


@record
class Ref:
    """A citation: the observation, the path inside it, and the text that stands there.

    `obs` names a span (its id, its name or `trajectory[i]`), `transcript[i]`,
    `output`, `case` or `spec`; `path` is dotted (`input.command`, `items.0.id`) and
    may be empty; `value` is the text found there.
    """

    obs: str
    path: str
    value: str

    def __init__(self, obs: str, path: str, value: str) -> None:
        # Nearly each unit has one: written out, at a fifth of what `record` takes.
        own = vars(self)
        own["obs"], own["path"], own["value"] = obs, path, value


@record
class BlockedBy:
    """Why a verdict is uncertain, and so to whom it goes next."""

    kind: BlockedKind
    text: str


@record
class Assumption:
    """A premise that a judge had to make."""

    text: str
    status: Literal["verified", "unverified", "hypothesis", "eliminated"]
    kind: BlockedKind | None = None


@record(kw_only=True)
class Verdict:
    """One binary decision with its critique.

    `value` is a measured number, only for criteria that aggregate a mean;
    `confidence` is the judge's own, from 0 to 1. Raises ValueError for an empty
    critique or an unknown result: a verdict without a critique is refused.
    """

    result: Result
    critique: str
    refs: tuple[Ref, ...] = ()
    blocked_by: BlockedBy | None = None
    value: float | None = None
    confidence: float | None = None
    assumptions: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        if self.result not in RESULTS:
            raise ValueError(f"unknown result {self.result!r}")
        if not self.critique.strip():
            raise ValueError("a verdict needs a critique")


class NothingThere(Verdict):
    """A fail that is about the check's path as much as about the run.

    Nothing stands at the path, which may be misspelt: no negation makes a pass of it.
    A journal keeps it as the fail that it is.
    """


MAX_VALUE: Final = 1e290
"""Beyond this a sum of measured values could overflow."""


def fault_of(verdict: Verdict) -> str | None:
    """Return what is wrong with a verdict that somebody built by hand, or None.

    Python holds nobody to the types of fields, and a journal may be edited.
    """
    if verdict.critique.__class__ is not str:
        return "whose critique is no text"
    value = verdict.value
    if value is not None:
        if value.__class__ is not int and value.__class__ is not float:
            return f"whose value is no number ({type(value).__name__})"
        if not -MAX_VALUE <= value <= MAX_VALUE:
            return "whose value is not finite, or too large to count"
    confidence = verdict.confidence
    if confidence is not None:
        if confidence.__class__ is not int and confidence.__class__ is not float:
            return f"whose confidence is no number ({type(confidence).__name__})"
        if not 0 <= confidence <= 1:
            return "whose confidence is not from 0 to 1"
    blocked = verdict.blocked_by
    if blocked is not None:
        if not isinstance(blocked, BlockedBy) or blocked.kind not in BLOCKED_KINDS:
            return f"whose `kind` is none of {', '.join(BLOCKED_KINDS)}"
        if not isinstance(blocked.text, str):
            return "whose blocked_by is no text"
    for ref in verdict.refs:
        if not isinstance(ref, Ref) or not (
            isinstance(ref.obs, str)
            and isinstance(ref.path, str)
            and isinstance(ref.value, str)
        ):
            return "with a ref that is none"
    for assumption in verdict.assumptions:
        if not isinstance(assumption, Assumption):
            return "with an assumption that is none"
    return None


def passed(critique: str, *refs: Ref, value: float | None = None) -> Verdict:
    """Return a pass: what was seen that satisfies the criterion."""
    return _copy(_PASSED, critique, refs, value)


UNTESTED: Final = "Not put to the test: "
"""How the critique of a pass begins where nothing of what the check looks at happened."""


def untested(critique: str, *, value: float | None = None) -> Verdict:
    """Return a pass of a run in which nothing happened that could have been wrong.

    A criterion that passes so in all of its runs says that none of them exercised it.
    """
    return passed(f"{UNTESTED}{critique[:1].lower()}{critique[1:]}", value=value)


def failed(critique: str, *refs: Ref, value: float | None = None) -> Verdict:
    """Return a fail: what was seen that breaks the criterion."""
    return _copy(_FAILED, critique, refs, value)


def nothing_there(
    critique: str, *refs: Ref, value: float | None = None
) -> NothingThere:
    """Return a fail that stays one when it is negated: nothing stands at the path."""
    return _copy(_NOTHING_THERE, critique, refs, value)


_V = TypeVar("_V", bound=Verdict)


def _copy(blank: _V, critique: str, refs: tuple[Ref, ...], value: float | None) -> _V:
    verdict = like(blank, critique=critique, refs=refs, value=value)
    verdict.__post_init__()
    return verdict


_PASSED: Final = Verdict(result="pass", critique="-")
_FAILED: Final = Verdict(result="fail", critique="-")
_NOTHING_THERE: Final = NothingThere(result="fail", critique="-")


def uncertain(
    critique: str, *refs: Ref, kind: BlockedKind = "scope", text: str | None = None
) -> Verdict:
    """Return an abstention, routed: `kind` says who can resolve it, `text` says how."""
    blocked_by = BlockedBy(kind, text or critique)
    return Verdict(
        result="uncertain", critique=critique, refs=refs, blocked_by=blocked_by
    )


def not_applicable(critique: str) -> Verdict:
    """Return `na`: the criterion's scope is positively not met by this case."""
    return Verdict(result="na", critique=critique)


def could_not_judge(critique: str) -> Verdict:
    """Return `error`: the unit could not be judged; neither a pass nor a fail."""
    return Verdict(result="error", critique=critique)
