"""Big files are read in flat memory: three times the file, the same peak."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import formats
from helix_runtime.formats import group
from helix_runtime.unitf import ReadCount, trace_to_record
from support.trace_samples import (
    chat,
    genai_messages,
    inspect_sample,
    langfuse_trace,
    otlp,
    session,
)

PADDING = "x" * 2000


def lines(make: Callable[[int], Any]) -> Callable[[int], Iterable[str]]:
    return lambda number: (json.dumps(make(n)) + "\n" for n in range(number))


def many_langfuse(number: int) -> Iterable[str]:
    yield "[\n"
    for n in range(number):
        record = langfuse_trace(f"lf-{n}", release=PADDING)
        yield ("," if n else "") + json.dumps(record, indent=1)
    yield "]\n"


def many_spans(number: int) -> Iterable[str]:
    """One document, on one line, of one resource with all of the spans."""
    yield '{"resourceSpans":[{"scopeSpans":[{"spans":['
    for n in range(number):
        for m, span in enumerate(genai_messages()):
            yield "," if n or m else ""
            yield json.dumps({**span, "traceId": f"{n + 1:032x}", "pad": PADDING})
    yield "]}]}]}"


def many_samples(number: int) -> Iterable[str]:
    yield '{"version": 2, "eval": {"run_id": "r"},\n "samples": [\n'
    for n in range(number):
        sample = {**inspect_sample(n), "pad": PADDING}
        yield ("," if n else "") + json.dumps(sample)
    yield "]}"


def many_sessions(number: int) -> Iterable[str]:
    for n in range(number):
        for line in session(f"s-{n}"):
            yield json.dumps({**line, "pad": PADDING}) + "\n"


def unitf(number: int) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.jsonl"
        path.write_text(json.dumps(chat(id=f"c-{number}", pad=PADDING)) + "\n", "utf-8")
        (trace,) = formats.read([path], count=ReadCount())
    return trace_to_record(trace)


WAYS: dict[str, Callable[[int], Iterable[str]]] = {
    "unitf lines": lines(unitf),
    "chat lines": lines(lambda n: chat(id=f"c-{n}", note=PADDING)),
    "langfuse document": many_langfuse,
    "otlp document": many_spans,
    "otlp lines": lines(
        lambda n: otlp(
            [
                {**s, "traceId": f"{n + 1:032x}", "pad": PADDING}
                for s in genai_messages()
            ]
        )
    ),
    "inspect document": many_samples,
    "sessions": many_sessions,
}


def peak(path: Path, expected: int) -> int:
    tracemalloc.start()
    try:
        count = ReadCount()
        for _ in formats.read([path], count=count):
            pass
        assert count.traces == expected and not count.faults
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("way", sorted(WAYS))
def test_three_times_the_file_takes_the_same_memory(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "IN_MEMORY", 100_000)
    peaks = []
    for number in (120, 360):
        path = tmp_path / f"{number}.json"
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
            file.writelines(WAYS[way](number))
        peaks.append(peak(path, number))
    assert peaks[1] < peaks[0] + 300_000, peaks
