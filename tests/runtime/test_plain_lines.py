"""The short way to a journal's line gives what the general way gives."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from helix_runtime import plain_lines
from helix_runtime.canonical import dump_line
from helix_runtime.plain_lines import read_trace, trace_line, unit_line
from helix_runtime.record import replace
from helix_runtime.trace import Trace
from helix_runtime.unit import JudgeUsage, Unit, unit_to_record
from helix_runtime.unitf import trace_from_record, trace_of_answer, trace_to_record
from helix_runtime.verdict import (
    Assumption,
    Ref,
    Verdict,
    failed,
    not_applicable,
    passed,
    uncertain,
)
from hypothesis import assume, given
from hypothesis import strategies as st

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def stamped(trace: Trace, **changes: Any) -> Trace:
    helix = {"case": "0123456789abcdef", **(trace.ext.get("helix") or {})}
    values: dict[str, Any] = {"ext": {"helix": helix}, "latency_ms": 1.5}
    return replace(trace, **(values | changes))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.floats(0, 1e12))
def test_a_question_and_its_answer(
    trace_id: str, query: str, output: str, latency: float
) -> None:
    trace = stamped(
        trace_of_answer(trace_id=trace_id, query=query, output=output),
        latency_ms=latency,
    )
    line = trace_line(trace)
    assert line == dump_line(trace_to_record(trace))
    line.encode("utf-8")
    json.loads(line)
    assume(trace_id)  # no trace has an empty one
    assert read_trace(line.encode() + b"\n") == trace_from_record(json.loads(line))


LINE = trace_line(
    replace(
        trace_of_answer(trace_id="t", query="q é \n", output="a \ud800 \\"),
        ext={"helix": {"case": "0123456789abcdef"}},
        latency_ms=1.5,
    )
).encode()


def read_or_refused(line: bytes, read: Callable[[bytes], Trace]) -> Trace | None:
    try:
        return read(line)
    except (ValueError, RecursionError):
        return None


@given(
    st.integers(0, len(LINE)),
    st.integers(0, 6),
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from(
            [b"\\", b"\\u", b'"', b"0", b"00", b"\n", b"\xed\xa0\x80", b"-"]
        ),
    ),
)
def test_a_line_that_was_changed_reads_as_the_general_way_reads_it(
    place: int, cut: int, put: bytes
) -> None:
    line = LINE[:place] + put + LINE[place + cut :]
    general = read_or_refused(line, lambda one: trace_from_record(json.loads(one)))
    assert read_or_refused(line, read_trace) == general


def test_a_plain_line_is_read_without_its_parts(monkeypatch: Any) -> None:
    monkeypatch.setattr(plain_lines, "trace_from_record", None)
    trace = read_trace(LINE)
    assert (trace.latency_ms, trace.answer) == (1.5, "a \ud800 \\")
    assert trace_line(trace).encode() == LINE


PLAIN = trace_of_answer(trace_id="t", query="q", output="a")


@pytest.mark.parametrize(
    "trace",
    [
        PLAIN,
        stamped(PLAIN, latency_ms=None),
        stamped(PLAIN, latency_ms=3),
        stamped(PLAIN, latency_ms=float("nan")),
        stamped(PLAIN, latency_ms=float("inf")),
        stamped(PLAIN, cost_usd=0.5),
        stamped(PLAIN, tags=("x",)),
        stamped(PLAIN, status="error"),
        stamped(PLAIN, extra={"more": 1}),
        stamped(PLAIN, observed=frozenset(("output", "tools"))),
        stamped(PLAIN, ext={"helix": {"case": 3}}),
        stamped(PLAIN, ext={"helix": {"case": "x", "error": "y"}}),
        stamped(PLAIN, ext={"agent": {"case": "x"}}),
        stamped(PLAIN, ext={}),
        stamped(PLAIN, spans=()),
        stamped(PLAIN, spans=(PLAIN.spans[1], PLAIN.spans[0])),
        stamped(PLAIN, spans=(PLAIN.spans[0], replace(PLAIN.spans[1], extra={"a": 1}))),
        stamped(PLAIN, spans=(replace(PLAIN.spans[0], id="x"), PLAIN.spans[1])),
        stamped(trace_of_answer(trace_id="t", query="q", output={"a": 1})),
        stamped(trace_of_answer(trace_id="t", query="q", output=None)),
        stamped(trace_of_answer(trace_id="t", query="q", output=None, error="no")),
    ],
)
def test_a_trace_that_is_not_that_plain(trace: Trace) -> None:
    assert trace_line(trace) == dump_line(trace_to_record(trace))


def unit(verdict: Verdict, **changes: Any) -> Unit:
    values: dict[str, Any] = {
        "key": "0" * 32,
        "case_id": "c",
        "criterion_id": "x",
        "repeat": 2,
        "trace_id": "t",
        "verdict": verdict,
        "decided_by": "code",
    }
    return Unit(**(values | changes))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT.filter(str.strip))
def test_a_unit_with_a_critique(
    case_id: str, criterion_id: str, trace_id: str, critique: str
) -> None:
    for verdict in (passed(critique), failed(critique), not_applicable(critique)):
        one = unit(
            verdict, case_id=case_id, criterion_id=criterion_id, trace_id=trace_id
        )
        assert unit_line(one) == dump_line(unit_to_record(one))


@pytest.mark.parametrize(
    "one",
    [
        unit(passed("x"), repeat=0),
        unit(passed("x"), trace_id="c-r2"),
        unit(passed("x"), trace_id="c-r0"),
        unit(passed("x"), repeat=0, trace_id="c-r0"),
        unit(not_applicable("x"), decided_by="scope"),
        unit(passed("x", Ref("output", "a.b", "y"), Ref("tools", "", "z"))),
        unit(passed("x", Ref("output", "", "y"))),
        unit(passed("x", value=0.5)),
        unit(passed("x", value=float("nan"))),
        unit(uncertain("x")),
        unit(Verdict(result="pass", critique="x", confidence=0.0)),
        unit(
            Verdict(
                result="fail", critique="x", assumptions=(Assumption("a", "verified"),)
            )
        ),
        unit(passed("x"), usage=JudgeUsage(calls=1)),
        unit(passed("x"), model="m"),
        unit(passed("x"), raw="r"),
        unit(passed("x"), notes=("n",)),
    ],
)
def test_a_unit_that_is_not_that_plain(one: Unit) -> None:
    assert unit_line(one) == dump_line(unit_to_record(one))
