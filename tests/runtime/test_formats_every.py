"""The same run reads the same, in whatever format it was recorded."""

import gzip
import json
from pathlib import Path

import pytest
from helix_runtime import formats
from helix_runtime.formats.detect import format_of
from helix_runtime.trace import Trace
from helix_runtime.unitf import ReadCount, trace_from_record, trace_to_record
from support.trace_samples import (
    ANSWER,
    ATLANTIS,
    EVERY,
    OSLO,
    PROMPT,
    RAIN,
    SYSTEM,
    UNKNOWN,
    write,
)

NAMES = sorted(EVERY)


def one(path: Path) -> Trace:
    count = ReadCount()
    traces = list(formats.read([path], count=count))
    assert not count.faults
    assert len(traces) == count.traces == 1
    return traces[0]


@pytest.fixture(params=NAMES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    return request.param, write(tmp_path / "traces", EVERY[request.param][1])


def test_the_format_is_found_by_the_content(sample: tuple[str, Path]) -> None:
    name, path = sample
    assert format_of(path, mapped=False) == EVERY[name][0]
    count = ReadCount()
    list(formats.read([path], count=count))
    assert count.formats == {EVERY[name][0]: 1}


def test_prompt_and_answer_are_what_a_person_would_say(
    sample: tuple[str, Path],
) -> None:
    trace = one(sample[1])
    assert trace.prompt == PROMPT
    assert trace.answer == ANSWER
    assert trace.incomplete is None


def test_each_turn_is_told_once_and_in_order(sample: tuple[str, Path]) -> None:
    name, path = sample
    spoken = [
        (m.role, m.content)
        for m in one(path).transcript
        if m.role in ("user", "system")
    ]
    wanted = [("system", SYSTEM), ("user", PROMPT)]
    if name == "claude-code":
        wanted = wanted[1:]
    assert sorted(spoken) == sorted(wanted)
    assert [m.content for m in one(path).transcript if m.role == "assistant"] == [
        ANSWER
    ]


def test_calls_are_joined_with_their_results_and_errors(
    sample: tuple[str, Path],
) -> None:
    calls = one(sample[1]).tool_calls
    assert [(c.name, c.arguments) for c in calls] == [
        ("forecast", OSLO),
        ("forecast", ATLANTIS),
    ]
    assert [c.result for c in calls] == [RAIN, UNKNOWN]
    assert [c.answered for c in calls] == [True, True]
    assert [c.error for c in calls] == [False, True]


def test_usage_is_counted_once(sample: tuple[str, Path]) -> None:
    usage = one(sample[1]).usage
    assert (usage.input_tokens, usage.output_tokens) == (20, 10)


def test_tools_are_observed_where_calls_were_recorded(
    sample: tuple[str, Path],
) -> None:
    assert {"output", "tools"} <= one(sample[1]).observed


def test_the_round_trip_through_unitf_loses_nothing(sample: tuple[str, Path]) -> None:
    trace = one(sample[1])
    again = trace_from_record(json.loads(json.dumps(trace_to_record(trace))))
    assert again == trace
    assert again.digest == trace.digest
    for view in ("prompt", "answer", "output", "transcript", "tool_calls", "usage"):
        assert getattr(again, view) == getattr(trace, view)


def test_gzip_reads_alike(sample: tuple[str, Path]) -> None:
    name, path = sample
    if name == "inspect-zip":
        return  # a zip is packed as it is
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert trace_to_record(one(packed)) == trace_to_record(one(path))


@pytest.mark.parametrize(
    "name", [n for n in NAMES if n not in ("claude-code", "langfuse-rows")]
)
def test_the_case_that_was_named_is_carried(name: str, tmp_path: Path) -> None:
    from helix_runtime.case import Case
    from helix_runtime.targets.recorded import index_cases, match_case

    case = Case(id="oslo", query="another wording", dimensions={"d": "1"})
    trace = one(write(tmp_path / "traces", EVERY[name][1]))
    assert match_case(trace, index_cases([case])).id == "oslo"


def test_a_given_format_is_taken_over_the_one_that_is_seen(tmp_path: Path) -> None:
    path = write(tmp_path / "traces", EVERY["langfuse"][1])
    count = ReadCount()
    assert list(formats.read([path], format="openai-chat", count=count)) == []
    assert count.skipped == 1
    assert count.formats == {"openai-chat": 1}
