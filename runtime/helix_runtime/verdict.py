"""What a check or a judge says about one unit: a result with its critique and refs."""

from typing import Final, Literal

from .record import record

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


def passed(critique: str, *refs: Ref, value: float | None = None) -> Verdict:
    """Return a pass: what was seen that satisfies the criterion."""
    return Verdict(result="pass", critique=critique, refs=refs, value=value)


def failed(critique: str, *refs: Ref, value: float | None = None) -> Verdict:
    """Return a fail: what was seen that breaks the criterion."""
    return Verdict(result="fail", critique=critique, refs=refs, value=value)


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
