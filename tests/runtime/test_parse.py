"""The one strict parser of a judge's answer."""

import json
from typing import Any

import jsonschema
import pytest
from helix_runtime.judges.parse import ANSWER_SCHEMA, AnswerFault, parse_answer
from helix_runtime.verdict import BlockedBy, Ref, Verdict
from hypothesis import given
from hypothesis import strategies as st


def answer(**changes: Any) -> str:
    base: dict[str, Any] = {
        "critique": "It cites the order.",
        "refs": [{"obs": "output", "path": "", "value": "4711"}],
        "assumptions": [],
        "result": "pass",
        "confidence": 0.9,
        "blockedBy": None,
    }
    base.update(changes)
    return json.dumps({k: v for k, v in base.items() if v is not ...})


def fault(text: str) -> str:
    found = parse_answer(text)
    assert isinstance(found, AnswerFault), found
    return found.why


def test_a_whole_answer_is_read() -> None:
    text = answer(
        result="uncertain",
        blockedBy={"kind": "normative", "text": "ask the owner"},
        assumptions=[{"text": "p", "status": "hypothesis", "kind": "scope"}],
    )
    verdict = parse_answer(text)
    assert isinstance(verdict, Verdict)
    assert verdict.result == "uncertain"
    assert verdict.refs == (Ref("output", "", "4711"),)
    assert verdict.blocked_by == BlockedBy("normative", "ask the owner")
    assert verdict.confidence == 0.9
    assert verdict.assumptions[0].kind == "scope"


def test_one_code_fence_around_the_answer_changes_nothing() -> None:
    assert parse_answer(f"```json\n{answer()}\n```") == parse_answer(answer())


def test_a_model_without_structured_output_may_leave_the_lists_out() -> None:
    verdict = parse_answer(answer(refs=..., assumptions=..., blockedBy=...))
    assert isinstance(verdict, Verdict) and verdict.refs == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"result": "pass", "critique": "c", "confidence": 1}',
            "critique comes first",
        ),
        (answer(critique="  "), "`critique` is empty"),
        (answer(critique=...), "`critique` is missing"),
        (answer(confidence=...), "`confidence` is missing"),
        (answer(result="PASS"), "must be one of pass, fail, uncertain"),
        (answer(result="na"), "must be one of"),
        (answer(result=True), "must be one of"),
        (answer(score=3), "unknown key 'score'"),
        (answer(confidence=7), "from 0 to 1"),
        (answer(confidence=True), "must be a number"),
        (answer(confidence="high"), "must be a number"),
        (answer(refs=["output"]), r"refs\[0\] must be one JSON object"),
        (answer(refs=[{"obs": "o", "path": "", "value": 3}]), r"refs\[0\].value"),
        (answer(refs={}), "`refs` must be a list"),
        (answer(blockedBy={"kind": "later", "text": "t"}), "blockedBy.kind"),
        (answer(blockedBy={"kind": "scope", "text": "t"}), "belongs to `uncertain`"),
        (answer() + answer(), "not JSON: extra data"),
        ("Sure! " + answer(), "not JSON: expecting value"),
        (f"```\n{answer()}\n``` and ```\n{answer()}\n```", "not JSON: expecting value"),
        ('{"critique": "c", "critique": "d", "result": "pass"}', "stands twice"),
        (answer(confidence=float("nan")), "NaN"),
        ("[1]", "must be one JSON object"),
        ("null", "must be one JSON object"),
        ("", "empty"),
        ("[" * 5000, "nested deeper"),
        ("x" * 500_000, "longer than"),
    ],
)
def test_what_is_not_an_answer_is_refused_with_a_reason(text: str, why: str) -> None:
    import re

    assert re.search(why, fault(text))


@given(st.text())
def test_no_text_makes_the_parser_raise(text: str) -> None:
    parse_answer(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["critique", "result", "refs", "obs", "kind", "text"]),
        inner,
        max_size=3,
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {
            "critique": JSON | st.just("c"),
            "result": JSON | st.just("pass"),
            "confidence": JSON | st.just(0.5),
        },
        optional={"refs": JSON, "assumptions": JSON, "blockedBy": JSON},
    )
)
def test_what_the_parser_takes_the_schema_takes_too(data: dict[str, Any]) -> None:
    found = parse_answer(json.dumps(data))
    if isinstance(found, Verdict):
        complete: dict[str, Any] = {"refs": [], "assumptions": [], "blockedBy": None}
        complete.update({k: v for k, v in data.items() if v is not None})
        for item in complete["assumptions"]:
            item.setdefault("kind", None)
        jsonschema.validate(complete, ANSWER_SCHEMA)


def test_the_schema_asks_for_the_critique_before_the_result() -> None:
    order = list(ANSWER_SCHEMA["properties"])
    assert order[0] == "critique" and ANSWER_SCHEMA["required"] == order


def test_the_schema_is_closed_at_every_level() -> None:
    def closed(schema: Any) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert sorted(schema["required"]) == sorted(schema["properties"])
            for value in schema.values():
                closed(value)
        elif isinstance(schema, list):
            for value in schema:
                closed(value)

    closed(ANSWER_SCHEMA)
