"""A unit: one criterion x one case x one repeat, and how it comes to its verdict."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Protocol, TypeVar

from .case import Case
from .criterion import NO_CHECK_YET, Criterion
from .record import record
from .trace import MAX_COUNT, Trace
from .verdict import (
    Assumption,
    BlockedBy,
    Ref,
    Verdict,
    could_not_judge,
    fault_of,
    not_applicable,
    uncertain,
)

DecidedBy = Literal["scope", "fidelity", "code", "judge"]
FROM_CACHE: Final = "from the cache of an earlier run"
UNROUTED: Final = "an unrouted abstention: blockedBy is missing"


@record(kw_only=True)
class JudgeUsage:
    """What one judged unit cost; None where the provider does not say.

    `cached_tokens` are those of the input that the provider had in its cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    calls: int = 0


VerificationResult = Literal["upheld", "refuted", "abstained", "error"]


@record(kw_only=True)
class Verification:
    """What a second judge said of a verdict, who it was, and what it cost."""

    result: VerificationResult
    model: str | None = None
    critique: str = ""
    usage: JudgeUsage | None = None


@record(kw_only=True)
class Judgement:
    """What a judge gives back: the verdict, the model that gave it, and its cost.

    `raw` is the text that could not be read, kept where the verdict is an error;
    `notes` says what was changed on the way (a downgrade, a dialect).
    """

    verdict: Verdict
    model: str | None = None
    usage: JudgeUsage | None = None
    raw: str | None = None
    notes: tuple[str, ...] = ()
    verification: Verification | None = None


@record(kw_only=True)
class Unit:
    """One decided unit. `key` is the content hash of case, trace, criterion and judge."""

    key: str
    case_id: str
    criterion_id: str
    repeat: int
    trace_id: str
    verdict: Verdict
    decided_by: DecidedBy
    model: str | None = None
    usage: JudgeUsage | None = None
    raw: str | None = None
    notes: tuple[str, ...] = ()
    verification: Verification | None = None


class Judging(Protocol):
    """Who decides what code could not: a model, recorded verdicts, or nobody."""

    @property
    def digest(self) -> str:
        """The content hash of what the answer depends on: model, sampling, source."""
        ...

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return the judgement of one unit, or None where it is missing.

        Never raises for what a provider or a file does: that is an `error` verdict.
        """
        ...


class NoJudge:
    """Nobody judges: every judged unit is missing."""

    digest: Final = "none"

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return None: the unit is missing."""
        return None


def decider_parts(
    criterion: Criterion, *, code_digest: str, judging: Judging
) -> tuple[str, ...]:
    """Return the parts of a unit's key that are the same for all cases.

    The key is a hash of the case's digest, the trace's digest, the criterion's id, the
    repeat and these parts, behind the marks of `journal.unit_key`. So it changes with
    what decides the criterion: the suite's own code for a check, the judge and who
    judges for a judge.
    """
    parts: tuple[str, ...] = ()
    if criterion.check is not None:
        parts += ("code", code_digest)
    if criterion.judge is not None:
        parts += ("judge", criterion.judge.digest, judging.digest)
    return parts


def decide_by_code(criterion: Criterion, case: Case, trace: Trace) -> tuple[
    Verdict | None,
    DecidedBy,
]:
    """Return the verdict that scope, fidelity and code come to; None asks the judge.

    In order: a case out of scope is `na` before anything is called; a trace that is
    incomplete is not judged; then the check. An exception of the check is an
    `error`. A hybrid criterion asks its judge only where its check is uncertain.
    """
    excluded = criterion.excludes(case)
    if excluded is not None:
        return not_applicable(excluded), "scope"
    incomplete = trace.incomplete
    if incomplete is not None:
        return uncertain(incomplete, text=f"incomplete trace: {incomplete}"), "fidelity"
    check = criterion.check
    if check is None:
        return None, "judge"
    try:
        verdict: object = check(case, trace)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and _in_main_thread():
            raise
        return could_not_judge(f"{check.place} raised {_raised(error)}"), "code"
    if not isinstance(verdict, Verdict):
        kind = type(verdict).__name__
        return could_not_judge(f"{check.place} returned {kind}, not a Verdict"), "code"
    wrong = fault_of(verdict)
    if wrong is not None:
        return could_not_judge(f"{check.place} returned a Verdict {wrong}"), "code"
    if verdict.result == "uncertain":
        if criterion.judge is not None:
            return None, "judge"
        if verdict.critique == NO_CHECK_YET:
            text = f"{NO_CHECK_YET}: write it in {check.place}"
            return uncertain(NO_CHECK_YET, text=text), "code"
    return verdict, "code"


def _in_main_thread() -> bool:
    """Whether somebody's Ctrl-C may arrive here: checks of a run are in workers."""
    import threading

    return threading.current_thread() is threading.main_thread()


def _raised(error: BaseException) -> str:
    """Return what a check raised, with the line of the suite that did."""
    from .folder import blame

    place, colon, what = blame(error).partition(": ")
    return f"{what} (at {place})" if ":" in place and colon else blame(error)


def trace_id_of(case_id: str, repeat: int) -> str:
    """Return the id of the trace of a run that the suite itself made."""
    return f"{case_id}-r{repeat}"


def unit_to_record(unit: Unit) -> dict[str, Any]:
    """Return the journal record of a unit.

    Left out is what is empty and what most units have in common: `repeat` 0, `traceId`
    CASE-rREPEAT, `by` code and the `path` of a ref to a whole observation.
    `with_defaults` puts it back.
    """
    verdict = unit.verdict
    record: dict[str, Any] = {
        "key": unit.key,
        "caseId": unit.case_id,
        "criterionId": unit.criterion_id,
    }
    if unit.repeat:
        record["repeat"] = unit.repeat
    if unit.trace_id != trace_id_of(unit.case_id, unit.repeat):
        record["traceId"] = unit.trace_id
    if unit.decided_by != "code":
        record["by"] = unit.decided_by
    record["critique"] = verdict.critique
    record["result"] = verdict.result
    if verdict.refs:
        record["refs"] = [_ref_record(ref) for ref in verdict.refs]
    if verdict.blocked_by is not None:
        blocked = verdict.blocked_by
        record["blockedBy"] = {"kind": blocked.kind, "text": blocked.text}
    if verdict.assumptions:
        record["assumptions"] = [
            {"text": a.text, "status": a.status, "kind": a.kind}
            for a in verdict.assumptions
        ]
    if unit.usage is not None:
        record["usage"] = _usage_record(unit.usage)
    second = unit.verification
    if second is not None:
        record["verifier"] = {
            "result": second.result,
            "model": second.model,
            "critique": second.critique,
            "usage": None if second.usage is None else _usage_record(second.usage),
        }
    optional: Mapping[str, Any] = {
        "value": verdict.value,
        "confidence": verdict.confidence,
        "model": unit.model,
        "raw": unit.raw,
        "notes": list(unit.notes) or None,
    }
    record.update((k, v) for k, v in optional.items() if v is not None)
    return record


def with_defaults(record: Any) -> dict[str, Any]:
    """Put into a journal record what `unit_to_record` leaves out, and return it.

    For readers of single fields; `unit_from_record` needs no help. Raises KeyError or
    TypeError where the record is none of a unit.
    """
    if not isinstance(record, dict):
        raise TypeError("a unit's record is a JSON object")
    repeat = record.setdefault("repeat", 0)
    record.setdefault("traceId", trace_id_of(record["caseId"], repeat))
    record.setdefault("by", "code")
    for ref in record.get("refs") or ():
        if isinstance(ref, dict):
            ref.setdefault("path", "")
    return record


def _ref_record(ref: Ref) -> dict[str, str]:
    if ref.path == "":
        return {"obs": ref.obs, "value": ref.value}
    return {"obs": ref.obs, "path": ref.path, "value": ref.value}


def _usage_record(usage: JudgeUsage) -> dict[str, Any]:
    record: dict[str, Any] = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "costUsd": usage.cost_usd,
        "calls": usage.calls,
    }
    if usage.cached_tokens:
        record["cachedTokens"] = usage.cached_tokens
    return record


def _usage_from(record: Any) -> JudgeUsage | None:
    if record is None:
        return None
    return JudgeUsage(
        input_tokens=_count(record.get("inputTokens")),
        output_tokens=_count(record.get("outputTokens")),
        cached_tokens=_count(record.get("cachedTokens")),
        cost_usd=_figure(record.get("costUsd")),
        calls=_whole(record.get("calls", 0)),
    )


def _count(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _verification_from(record: Any) -> Verification | None:
    if record is None:
        return None
    return Verification(
        result=record["result"],
        model=_text_or_none(record.get("model")),
        critique=_text(record.get("critique") or ""),
        usage=_usage_from(record.get("usage")),
    )


def unit_from_record(record: Any) -> Unit:
    """Return the unit of a journal record. Raises ValueError where it is none."""
    try:
        unit = _unit_from(record)
        wrong = fault_of(unit.verdict)
        if wrong is None and unit.decided_by not in _DECIDERS:
            wrong = "of an unknown decider"
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a unit record: {error!r}") from error
    if wrong is not None:
        raise ValueError(f"not a unit record: a verdict {wrong}")
    return unit


_DECIDERS: Final = ("scope", "fidelity", "code", "judge")


def _unit_from(record: Any) -> Unit:
    blocked = record.get("blockedBy")
    case_id = _text(record["caseId"])
    repeat = _whole(record.get("repeat", 0))
    trace_id = record.get("traceId")
    return Unit(
        key=_text(record["key"]),
        case_id=case_id,
        criterion_id=_text(record["criterionId"]),
        repeat=repeat,
        trace_id=trace_id_of(case_id, repeat) if trace_id is None else _text(trace_id),
        decided_by=record.get("by", "code"),
        verdict=Verdict(
            result=record["result"],
            critique=record["critique"],
            refs=_each(
                record.get("refs"),
                lambda r: Ref(r["obs"], r.get("path", ""), r["value"]),
            ),
            blocked_by=(
                None if blocked is None else BlockedBy(blocked["kind"], blocked["text"])
            ),
            value=record.get("value"),
            confidence=record.get("confidence"),
            assumptions=_each(
                record.get("assumptions"),
                lambda a: Assumption(a["text"], a["status"], a.get("kind")),
            ),
        ),
        model=_text_or_none(record.get("model")),
        usage=_usage_from(record.get("usage")),
        verification=_verification_from(record.get("verifier")),
        raw=_text_or_none(record.get("raw")),
        notes=_each(record.get("notes"), _text),
    )


_T = TypeVar("_T")


def _each(items: Any, build: Callable[[Any], _T]) -> tuple[_T, ...]:
    return tuple([build(item) for item in items]) if items else ()


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _whole(value: Any) -> int:
    if value.__class__ is not int or not 0 <= value < MAX_COUNT:
        raise TypeError(f"expected a whole number, got {value!r}")
    return int(value)


def _figure(value: Any) -> float | None:
    if value is None:
        return None
    if value.__class__ not in (int, float) or not 0 <= value < MAX_COUNT:
        raise TypeError(f"expected a number, got {value!r}")
    return float(value) if value.__class__ is float else value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value
