"""The scorecard: what a run comes to, as the plain data of `scorecard.json`.

The order of its keys is part of the contract. Numbers are rounded to six decimals;
the digest is taken over the masked form, so that the same inputs and the same
verdicts give the same digest whenever, wherever and on whatever machine they ran.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

from .canonical import canonical, escape_surrogates, sha256_hex
from .decide import (
    CriterionDecision,
    CriterionVariance,
    Decision,
    GateVerdict,
    Sample,
)
from .pin import Pin
from .record import record
from .rollup import Counts
from .spread import Flapping, JudgeFlapping, Spread, Steadiness, steadiness
from .suite import Engine, Suite
from .trace import MAX_COUNT, Trace
from .unit import JudgeUsage, Unit
from .verdict import BlockedBy, Ref

SCHEMA: Final = "helix-scorecard/1"
DECIMALS: Final = 6
MASK: Final = "<masked>"

_TOKENS: Final = attrgetter("tokens")
EXIT_CODE: Final[Mapping[GateVerdict, int]] = {"pass": 0, "fail": 1, "incomplete": 3}


@record(kw_only=True)
class RunInfo:
    """The run that a scorecard is of.

    `started` is an ISO 8601 text that the caller read from its clock; `target` is
    how the subject was reached, None where nothing was called; `notes` are sentences
    that a reader of the numbers must know (a judge that is the subject's own model,
    traces that matched no case, an interrupted run); `failures` says how often and
    why the subject failed, where it did.
    """

    id: str
    mode: Engine
    started: str | None
    target: str | None
    repeats: int
    notes: Sequence[str] = ()
    failures: Mapping[str, Any] | None = None


class UsageTally:
    """What a run used, by role; the same for every order of arrival.

    A figure is the sum of what is known, None where nothing is: unknown is never zero.
    `unknown` counts the calls that did not say their tokens, `unpriced` those without a
    cost, where others have one: the sum is then a part of the whole.
    """

    def __init__(self) -> None:
        self._roles: dict[Role, dict[str, int | None]] = {
            role: dict.fromkeys(("input", "output", "cost")) for role in ROLES
        }
        self._calls: dict[Role, int] = dict.fromkeys(ROLES, 0)
        self._unknown: dict[Role, int] = dict.fromkeys(ROLES, 0)
        self._unpriced: dict[Role, int] = dict.fromkeys(ROLES, 0)
        self._silent = 0  # runs that say nothing, of a subject that may never do

    def add_trace(self, trace: Trace) -> None:
        """Count one run of the subject."""
        if trace.cost_usd is None and not trace.tokens:
            if not any(map(_TOKENS, trace.spans)):
                self._silent += 1
                return
        used = trace.usage
        self._add("subject", 1, used.input_tokens, used.output_tokens, used.cost_usd)

    def add_unit(self, unit: Unit) -> None:
        """Count what judging a unit cost; units decided by code cost nothing."""
        second = unit.verification
        roles: tuple[tuple[Role, JudgeUsage | None], ...] = (
            ("judge", unit.usage),
            ("verifier", None if second is None else second.usage),
        )
        for role, used in roles:
            if used is not None:
                self._add(
                    role,
                    used.calls,
                    used.input_tokens,
                    used.output_tokens,
                    used.cost_usd,
                )

    def _add(
        self,
        role: "Role",
        calls: int,
        tokens_in: int | None,
        tokens_out: int | None,
        cost: float | None,
    ) -> None:
        self._calls[role] += calls
        if tokens_in is None or tokens_out is None:
            self._unknown[role] += calls
        # Whole nano-dollars: sums of fractions would depend on the order.
        nano = None
        if cost is not None and 0 <= cost < MAX_COUNT:
            nano = round(cost * 1e9)
        else:
            self._unpriced[role] += calls
        if tokens_in is tokens_out is nano is None:
            return
        figures = self._roles[role]
        for name, value in (
            ("input", tokens_in),
            ("output", tokens_out),
            ("cost", nano),
        ):
            if value is not None:
                figures[name] = (figures[name] or 0) + value

    def to_record(self) -> dict[str, Any]:
        """Return the `usage` block: one entry a role."""
        self._add("subject", self._silent, None, None, None)
        self._silent = 0
        record: dict[str, Any] = {}
        for role in ROLES:
            figures = self._roles[role]
            cost = figures["cost"]
            record[role] = {
                "calls": self._calls[role],
                "inputTokens": figures["input"],
                "outputTokens": figures["output"],
                "costUsd": None if cost is None else _number(cost / 1e9),
                "unknown": self._unknown[role],
            }
            if cost is not None and self._unpriced[role]:
                record[role]["unpriced"] = self._unpriced[role]
        return record


Role = Literal["subject", "judge", "verifier"]
ROLES: Final[tuple[Role, ...]] = ("subject", "judge", "verifier")


def build_scorecard(
    *,
    suite: Suite,
    suite_sha256: str,
    decision: Decision,
    run: RunInfo,
    pin: Pin | None,
    usage: UsageTally,
) -> dict[str, Any]:
    """Return the scorecard of a decided run, digest included."""
    subject = suite.subject
    notes = [*run.notes, *decision.notes]
    if pin is not None:
        notes += pin.warnings
    scorecard: dict[str, Any] = {
        "schema": SCHEMA,
        "subject": {
            "id": subject.id,
            "name": subject.name,
            "version": subject.version,
            "spec_sha256": suite.spec_sha256,
        },
        "suite": {"generator": suite.generator, "sha256": suite_sha256},
        "run": {
            "id": run.id,
            "mode": run.mode,
            "started": run.started,
            "target": run.target,
            "repeats": run.repeats,
        },
        "pin": None if pin is None else pin.to_record(),
        "gate": {
            "verdict": decision.gate,
            "components": [
                {"id": c.id, "verdict": c.verdict, "because": list(c.because)}
                for c in decision.components
            ],
        },
        "criteria": [_criterion(criterion) for criterion in decision.criteria],
        "variance": variance_record(decision, repeats=run.repeats),
        "usage": usage.to_record(),
        "handoff": [_handoff(c) for c in decision.criteria if c.verdict == "fail"],
        "calibration": [
            _calibration(c) for c in decision.criteria if c.verdict == "indeterminate"
        ],
    }
    if notes:
        scorecard["run"]["notes"] = notes
    if run.failures is not None:
        scorecard["run"]["failures"] = dict(run.failures)
    scorecard["digest"] = masked_digest(scorecard)
    return scorecard


def _criterion(criterion: CriterionDecision) -> dict[str, Any]:
    shown = _number if criterion.threshold.startswith("mean ") else _share
    return {
        "criterionId": criterion.id,
        "class": criterion.criterion_class,
        "severity": criterion.severity,
        "source": criterion.source,
        "verdict": criterion.verdict,
        "threshold": criterion.threshold,
        "counts": _counts(criterion.counts),
        "rate": None if criterion.rate is None else shown(criterion.rate),
        "interval": rounded_range(criterion.interval),
        "bounds": criterion.bounds and [shown(end) for end in criterion.bounds],
        "critique": criterion.critique,
        "refs": _refs(criterion.refs),
        "assumptions": [
            {"text": a.text, "status": a.status, "kind": a.kind}
            for a in criterion.assumptions
        ],
        "blockedBy": _blocked_by(criterion.blocked_by),
        "sourceTraceIds": list(criterion.source_trace_ids),
        "validation": {
            # Code needs no labels to be believed; a judge without any is unproven.
            "status": (
                "not-applicable"
                if criterion.criterion_class == "code"
                else "unvalidated"
            ),
            "tpr": None,
            "tnr": None,
            "corrected": None,
            "interval": None,
        },
    }


def _counts(counts: Counts) -> dict[str, int]:
    return {
        "pass": counts.passed,
        "fail": counts.failed,
        "uncertain": counts.uncertain,
        "na": counts.na,
        "error": counts.error,
        "missing": counts.missing,
    }


def _handoff(criterion: CriterionDecision) -> dict[str, Any]:
    """A failing criterion, with what whoever mends it needs: cases and their refs."""
    return {
        "criterionId": criterion.id,
        "severity": criterion.severity,
        "statement": criterion.statement,
        "reason": criterion.reason,
        "critique": criterion.critique,
        "refs": _refs(criterion.refs),
        "failing": criterion.counts.failed,
        "failingCases": [_sample(sample) for sample in criterion.failing],
    }


def _calibration(criterion: CriterionDecision) -> dict[str, Any]:
    """An indeterminate criterion, with what keeps it from an answer."""
    return {
        "criterionId": criterion.id,
        "severity": criterion.severity,
        "statement": criterion.statement,
        "reason": criterion.reason,
        "blockedBy": _blocked_by(criterion.blocked_by),
        "open": criterion.counts.open,
        "openCases": [
            {
                **_sample(sample),
                "result": sample.result,
                "blockedBy": _blocked_by(sample.blocked_by),
            }
            for sample in criterion.open
        ],
    }


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "caseId": sample.case_id,
        **({} if sample.name is None else {"name": sample.name}),
        "query": sample.query,
        "traceId": sample.trace_id,
        "repeat": sample.repeat,
        "critique": sample.critique,
        "refs": _refs(sample.refs),
    }


def variance_verdict(found: Sequence[CriterionVariance]) -> Steadiness:
    """Return whether repeats agree: under the criteria that gate, if any does."""
    gating = [c for c in found if c.gates] or found
    return steadiness(c.subject + c.judge for c in gating)


def variance_record(decision: Decision, *, repeats: int) -> dict[str, Any]:
    """Return the spread over repeats: of the subject (it ran again) and of the judge.

    What a run is not about is left out: a ceiling of 0, judgements that nobody repeated.
    """
    found, rule = decision.variance, decision.rule
    held: dict[str, Any] = {}
    if rule.ceiling:
        held["ceiling"] = _number(rule.ceiling)
    if rule.runs:
        held["recordedRuns"] = rule.runs
    if rule.judgements > 1:
        held["judgements"] = rule.judgements
    return {
        "repeats": repeats,
        **held,
        "verdict": variance_verdict(found),
        "subject": _spread(sum((c.subject for c in found), Spread())),
        "judge": _spread(sum((c.judge for c in found), Spread())),
        "criteria": [_spread_of(c) for c in found if (c.subject + c.judge).measured],
    }


def _spread_of(found: CriterionVariance) -> dict[str, Any]:
    record: dict[str, Any] = {
        "criterionId": found.id,
        "subject": _spread(found.subject),
        "judge": _spread(found.judge),
        "passHatK": rounded(found.pass_hat_k),
        "passAtK": rounded(found.pass_at_k),
        "flapping": [
            {**_named(f), "passes": f.passes, "decided": f.decided}
            for f in found.flapping
        ],
    }
    if found.judge_flapping:
        record["judgeFlapping"] = [
            {**_named(f), "traceId": f.trace_id, "results": dict(f.results)}
            for f in found.judge_flapping
        ]
    return record


def _named(found: Flapping | JudgeFlapping) -> dict[str, Any]:
    name = {} if found.name is None else {"name": found.name}
    return {"caseId": found.case_id, **name}


def _spread(spread: Spread) -> dict[str, int]:
    return {
        "stable": spread.stable,
        "flapping": spread.flapping,
        "underSampled": spread.under_sampled,
    }


def _refs(refs: Iterable[Ref]) -> list[dict[str, str]]:
    return [{"obs": r.obs, "path": r.path, "value": r.value} for r in refs]


def _blocked_by(blocked: BlockedBy | None) -> dict[str, str] | None:
    return None if blocked is None else {"kind": blocked.kind, "text": blocked.text}


def rounded_range(bounds: tuple[float, float] | None) -> list[float | int] | None:
    """Return an interval as the scorecard has it, None where there is none."""
    return None if bounds is None else [_number(bounds[0]), _number(bounds[1])]


def rounded(number: float | None) -> float | int | None:
    """Return a number as the scorecard has it, with at most DECIMALS decimals."""
    return None if number is None else _number(number)


def _share(number: float) -> float | int:
    """Round; one fail in three million units is no rate of 1, one pass none of 0."""
    shown = _number(number)
    if shown == 1 and number < 1:
        return 1 - 10**-DECIMALS
    if shown == 0 and number > 0:
        return 10**-DECIMALS
    return shown


def _number(number: float) -> float | int:
    """Round; a whole number loses its `.0` and a zero its sign, in every language."""
    rounded = round(number, DECIMALS)
    return int(rounded) if rounded == int(rounded) else rounded


# -- digest ---------------------------------------------------------------------

# A path that starts at a root: of POSIX, of a Windows drive or share, of a home. What
# stands before it must not be part of a URL, a relative path or a word. Where a quote
# opens it, its folders may have blanks in their names: `'/Users/Ann Lee/desk.json'`.
_ROOT: Final = r"(?:file:///|/(?=[^\s/])|~/|[A-Za-z]:[\\/]+|\\\\+)"
_ABSOLUTE: Final = re.compile(
    rf"""(?<=')(?<!\w'){_ROOT}(?:[^/\\'"<>|*?:\n]+[\\/]+)*"""
    rf"""|(?<=")(?<!\w"){_ROOT}(?:[^/\\"<>|*?:\n]+[\\/]+)*"""
    rf"""|(?<![\w./\\~<-]){_ROOT}(?:[^\s/\\"'<>|*?:]+[\\/]+)*"""
)


def masked_digest(scorecard: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the scorecard's masked canonical form.

    Masked are the run's id and start, and the folders of every absolute path in any
    text (a file's own name stays). `digest` itself does not count.
    """
    masked = {key: value for key, value in scorecard.items() if key != "digest"}
    masked["run"] = {**scorecard["run"], "id": MASK, "started": MASK}
    return sha256_hex(canonical(_without_paths(masked)).encode())


def _without_paths(value: Any) -> Any:
    if isinstance(value, str):
        return (
            _ABSOLUTE.sub("<path>/", value) if "/" in value or "\\" in value else value
        )
    if isinstance(value, dict):
        return {key: _without_paths(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_paths(item) for item in value]
    return value


# -- on disk --------------------------------------------------------------------


def dump_scorecard(scorecard: Mapping[str, Any]) -> str:
    """Return the text of `scorecard.json`: indented, keys in the contract's order."""
    text = json.dumps(scorecard, ensure_ascii=False, allow_nan=False, indent=2)
    return escape_surrogates(text) + "\n"


def write_scorecard(path: Path, scorecard: Mapping[str, Any]) -> None:
    """Write `scorecard.json`: UTF-8, LF, whole or not at all."""
    from .whole_file import whole_file

    with whole_file(path) as part:
        part.write_bytes(dump_scorecard(scorecard).encode())


def read_scorecard(path: Path) -> dict[str, Any]:
    """Return the scorecard of a file.

    Raises OSError where it can't be read, ValueError where it is none of this schema, or
    lacks what every scorecard has.
    """
    try:
        scorecard = json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError(f"{path.name}: nested too deeply") from error
    if not isinstance(scorecard, dict) or scorecard.get("schema") != SCHEMA:
        raise ValueError(f"{path.name}: not a scorecard of the schema {SCHEMA}")
    from .scorecard_shape import shape_fault

    wrong = shape_fault(scorecard)
    if wrong is not None:
        raise ValueError(f"{path.name}: edited since it was written: {wrong}")
    return scorecard
