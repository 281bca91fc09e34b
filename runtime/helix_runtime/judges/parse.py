"""The one strict parser of a judge's answer."""

from typing import Any, Final, cast

from ..record import record
from ..strict_json import strict_loads, why_unreadable
from ..verdict import BLOCKED_KINDS, Assumption, BlockedBy, Ref, Result, Verdict

MAX_ANSWER: Final = 400_000
JUDGED_RESULTS: Final[tuple[Result, ...]] = ("pass", "fail", "uncertain")
ASSUMPTION_STATUSES: Final = ("verified", "unverified", "hypothesis", "eliminated")

# The order of the properties is the order in which a model writes them: the critique
# and its evidence come before the result that they must carry.
ANSWER_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "critique": {"type": "string"},
        "refs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "obs": {"type": "string"},
                    "path": {"type": "string"},
                    "value": {"type": "string"},
                },
                "required": ["obs", "path", "value"],
                "additionalProperties": False,
            },
        },
        "assumptions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "status": {"type": "string", "enum": list(ASSUMPTION_STATUSES)},
                    "kind": {
                        "anyOf": [
                            {"type": "string", "enum": list(BLOCKED_KINDS)},
                            {"type": "null"},
                        ]
                    },
                },
                "required": ["text", "status", "kind"],
                "additionalProperties": False,
            },
        },
        "result": {"type": "string", "enum": list(JUDGED_RESULTS)},
        "confidence": {"type": "number"},
        "blockedBy": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "kind": {"type": "string", "enum": list(BLOCKED_KINDS)},
                        "text": {"type": "string"},
                    },
                    "required": ["kind", "text"],
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        },
    },
    "required": [
        "critique",
        "refs",
        "assumptions",
        "result",
        "confidence",
        "blockedBy",
    ],
    "additionalProperties": False,
}


@record
class AnswerFault:
    """Why an answer could not be read; said to the judge in the repair request."""

    why: str


def parse_answer(text: str) -> Verdict | AnswerFault:
    """Return the verdict of a judge's answer, or why it is none.

    The answer is one JSON object and nothing around it but one code fence; the
    critique stands before the result; no key is unknown. `refs`, `assumptions` and
    `blockedBy` may be left out by a model without structured output.
    """
    if len(text) > MAX_ANSWER:
        return AnswerFault(f"the answer is longer than {MAX_ANSWER} characters")
    try:
        data = strict_loads(unfenced(text))
        return _verdict(data)
    except ValueError as error:
        return AnswerFault(why_unreadable(error))


def unfenced(text: str) -> str:
    """Return the inside of one code fence that spans a whole answer, or the answer."""
    text = text.removeprefix("\ufeff").strip()
    if text.startswith("```") and text.endswith("```") and text.count("```") == 2:
        first, _, rest = text.partition("\n")
        if first.removeprefix("```").strip().lower() in ("", "json"):
            return rest.removesuffix("```")
    return text


def _verdict(data: Any) -> Verdict:
    answer = _object(data, "the answer", ANSWER_SCHEMA)
    for key in ("critique", "result", "confidence"):
        if key not in answer:
            raise ValueError(f"`{key}` is missing")
    for key in answer:
        if key == "critique":
            break
        if key == "result":
            raise ValueError(
                "`result` stands before `critique`: the critique comes first"
            )
    critique = _text(answer["critique"], "critique")
    if not critique.strip():
        raise ValueError("`critique` is empty")
    result = _one_of(answer["result"], "result", JUDGED_RESULTS)
    confidence = answer["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ValueError("`confidence` must be a number")
    if not 0 <= confidence <= 1:
        raise ValueError("`confidence` must be from 0 to 1")
    blocked_by = _blocked_by(answer.get("blockedBy"))
    if blocked_by is not None and result != "uncertain":
        raise ValueError(
            f"`blockedBy` belongs to `uncertain`, the result is `{result}`"
        )
    return Verdict(
        result=cast(Result, result),
        critique=critique,
        refs=tuple(_ref(item, i) for i, item in enumerate(_list(answer, "refs"))),
        blocked_by=blocked_by,
        confidence=float(confidence),
        assumptions=tuple(
            _assumption(item, i) for i, item in enumerate(_list(answer, "assumptions"))
        ),
    )


def _ref(data: Any, index: int) -> Ref:
    place = f"refs[{index}]"
    ref = _object(data, place, ANSWER_SCHEMA["properties"]["refs"]["items"])
    return Ref(
        _text(ref.get("obs"), place, "obs"),
        _text(ref.get("path"), place, "path"),
        _text(ref.get("value"), place, "value"),
    )


def _assumption(data: Any, index: int) -> Assumption:
    place = f"assumptions[{index}]"
    schema = ANSWER_SCHEMA["properties"]["assumptions"]["items"]
    assumption = _object(data, place, schema)
    kind = assumption.get("kind")
    return Assumption(
        _text(assumption.get("text"), place, "text"),
        cast(
            Any,
            _one_of(assumption.get("status"), f"{place}.status", ASSUMPTION_STATUSES),
        ),
        (
            None
            if kind is None
            else cast(Any, _one_of(kind, f"{place}.kind", BLOCKED_KINDS))
        ),
    )


def _blocked_by(data: Any) -> BlockedBy | None:
    if data is None:
        return None
    schema = ANSWER_SCHEMA["properties"]["blockedBy"]["anyOf"][0]
    blocked = _object(data, "blockedBy", schema)
    kind = _one_of(blocked.get("kind"), "blockedBy.kind", BLOCKED_KINDS)
    text = _text(blocked.get("text"), "blockedBy", "text")
    return BlockedBy(cast(Any, kind), text)


def _object(data: Any, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{place} must be one JSON object")
    known = schema["properties"]
    for key in data:
        if key not in known:
            raise ValueError(f"{place} has the unknown key {key[:80]!r}")
    return data


def _list(answer: dict[str, Any], key: str) -> list[Any]:
    items = answer.get(key)
    if items is None:
        return []
    if not isinstance(items, list):
        raise ValueError(f"`{key}` must be a list")
    return items


def _text(value: Any, *place: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"`{'.'.join(place)}` must be a text")
    return value


def _one_of(value: Any, place: str, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"`{place}` must be one of {', '.join(allowed)}")
    return value
