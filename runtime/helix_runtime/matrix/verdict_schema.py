"""The contract of a verdict file: its JSON Schema, and the strict writer."""

from collections.abc import Mapping
from typing import Any, Final

from ..judges.parse import ANSWER_SCHEMA, JUDGED_RESULTS
from ..verdict import Verdict

_ITEM: Final = ANSWER_SCHEMA["properties"]
VERDICT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "criterionId": {"type": "string", "minLength": 1},
        "critique": {"type": "string", "minLength": 1},
        "result": {"enum": list(JUDGED_RESULTS)},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "confidenceBand": {"enum": ["high", "med", "low"]},
        "refs": _ITEM["refs"],
        "assumptions": {
            "type": "array",
            "items": {**_ITEM["assumptions"]["items"], "required": ["text", "status"]},
        },
        "blockedBy": _ITEM["blockedBy"]["anyOf"][0],
    },
    "required": ["criterionId", "critique", "result", "confidence"],
    "additionalProperties": False,
    "if": {"properties": {"result": {"const": "uncertain"}}},
    "then": {"required": ["blockedBy"]},
    "else": {"properties": {"blockedBy": False}},
}
# What a judge may add beyond its verdicts; read by nobody here.
_FREE: Final = (
    "route",
    "timestamp",
    "subjectProfile",
    "understanding",
    "expectedTrajectory",
    "context",
    "agentSteps",
    "judgeSteps",
    "localize",
    "candidates",
    "layerVerdicts",
    "earlyExit",
    "layersEngaged",
    "codeEvalHits",
    "emissions",
    "health",
)
VERDICT_FILE_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Verdict file: one trajectory, judged",
    "type": "object",
    "properties": {
        "trajectoryId": {"type": "string", "minLength": 1},
        "judgeModel": {"type": "string", "minLength": 1},
        "temperature": {"const": 0},
        "verdicts": {"type": "array", "items": VERDICT_SCHEMA},
        "denseMap": {
            "type": "object",
            "additionalProperties": {"enum": ["pass", "fail", "uncertain", "na"]},
        },
        "naRationale": {"type": "object", "additionalProperties": {"type": "string"}},
        "fidelity": {
            "type": "object",
            "properties": {
                "complete": {"type": "boolean"},
                "reason": {"type": "string"},
            },
            "required": ["complete"],
            "additionalProperties": False,
        },
        **dict.fromkeys(_FREE, True),
    },
    "required": ["trajectoryId", "judgeModel", "temperature", "verdicts"],
    "additionalProperties": False,
}


def verdict_file(
    *, trajectory_id: str, model: str, verdicts: Mapping[str, Verdict]
) -> dict[str, Any]:
    """Return the verdict file of one trajectory, by criterion id, keys in order.

    `na` stands in the dense map with its rationale. Raises ValueError for what a
    verdict file can't say: an error, an abstention without a route, no confidence,
    no trajectory or model.
    """
    if not trajectory_id or not model:
        raise ValueError("a verdict file names its trajectory and its judge's model")
    items = []
    rationale = {}
    for criterion_id, verdict in verdicts.items():
        if verdict.result == "na":
            rationale[criterion_id] = verdict.critique
        else:
            items.append(_item(criterion_id, verdict))
    record: dict[str, Any] = {
        "trajectoryId": trajectory_id,
        "judgeModel": model,
        "temperature": 0,
        "verdicts": items,
        "denseMap": {key: verdict.result for key, verdict in verdicts.items()},
    }
    if rationale:
        record["naRationale"] = rationale
    return record


def _item(criterion_id: str, verdict: Verdict) -> dict[str, Any]:
    if verdict.result not in JUDGED_RESULTS:
        raise ValueError(f"{criterion_id}: `{verdict.result}` is no judge's result")
    if verdict.confidence is None:
        raise ValueError(f"{criterion_id}: a judge's verdict needs a confidence")
    item: dict[str, Any] = {
        "criterionId": criterion_id,
        "critique": verdict.critique,
        "result": verdict.result,
        "confidence": verdict.confidence,
    }
    if verdict.refs:
        item["refs"] = [
            {"obs": ref.obs, "path": ref.path, "value": ref.value}
            for ref in verdict.refs
        ]
    if verdict.assumptions:
        item["assumptions"] = [
            {"text": a.text, "status": a.status, "kind": a.kind}
            for a in verdict.assumptions
        ]
    blocked_by = verdict.blocked_by
    if (verdict.result == "uncertain") != (blocked_by is not None):
        raise ValueError(
            f"{criterion_id}: `blockedBy` belongs to every `uncertain`, and only there"
        )
    if blocked_by is not None:
        item["blockedBy"] = {"kind": blocked_by.kind, "text": blocked_by.text}
    return item
