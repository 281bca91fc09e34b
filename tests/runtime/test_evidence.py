"""The one view of a run that packets, prompts and refs share."""

from helix_runtime.judges.evidence import evidence_of
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import trace_of_answer
from support.runs import trace


def test_a_call_and_its_result_are_one_entry_and_its_place_in_the_talk_is_kept() -> (
    None
):
    evidence = evidence_of(trace())
    assert evidence.trajectory == [
        {
            "name": "orders.find",
            "input": {"number": 4711},
            "output": {"orders": [{"id": "4711", "state": "sent\non Monday"}]},
        }
    ]
    assert [turn["role"] for turn in evidence.transcript] == [
        "user",
        "tool",
        "assistant",
    ]
    assert "trajectory[0]" in evidence.transcript[1]["content"]


def test_a_failed_call_shows_that_it_failed() -> None:
    run = trace(
        spans=(
            Span(id="a", name="t", kind="tool", role="tool", tool_call_id="1"),
            Span(
                id="b",
                name="t",
                kind="tool",
                role="toolResult",
                status="error",
                output="boom",
                tool_call_id="1",
            ),
        )
    )
    assert evidence_of(run).trajectory[0]["output"] == {
        "status": "error",
        "result": "boom",
    }


def test_an_answer_alone_is_a_turn_and_no_deed() -> None:
    evidence = evidence_of(trace_of_answer(trace_id="t", query="q", output="a"))
    assert evidence.trajectory == []
    assert [turn["content"] for turn in evidence.transcript] == ["q", "a"]


def test_a_named_step_of_a_workflow_shows_its_name() -> None:
    run = Trace(
        id="t",
        spans=(
            Span(id="1", name="triage", kind="agent", output={"route": "billing"}),
            Span(id="2", name="docs", kind="retrieval", output=["page"]),
        ),
    )
    assert [entry["name"] for entry in evidence_of(run).trajectory] == [
        "triage",
        "docs",
    ]


def test_repeated_span_ids_lose_no_call() -> None:
    spans = tuple(
        Span(id="same", name=f"t{n}", kind="tool", role="tool", output=n)
        for n in range(3)
    )
    names = [
        entry["name"] for entry in evidence_of(Trace(id="t", spans=spans)).trajectory
    ]
    assert names == ["t0", "t1", "t2"]
