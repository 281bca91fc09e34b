"""Big files are read in flat memory: three times the file, the same peak."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import disk_table, formats
from helix_runtime.commands import profile, sample, traces
from helix_runtime.folder import SuiteFolder
from helix_runtime.formats import group
from helix_runtime.observing import observed
from helix_runtime.targets.recorded import RecordedCount, index_cases, read_recorded
from helix_runtime.unitf import ReadCount, trace_to_record
from support.suite_folder import make_suite_folder, parsed
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


def command_peak(name: str, path: Path, folder: SuiteFolder) -> int:
    words = ["--json"] if name != "traces" else ["--limit", "1"]
    command = {"traces": traces, "profile": profile, "sample": sample}[name]
    tracemalloc.start()
    try:
        assert command.execute(parsed(name, path, *words), folder) == 0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["traces", "profile", "sample"])
def test_a_command_over_three_times_the_file_takes_the_same_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_table, "IN_MEMORY", 50)
    monkeypatch.setattr(observed, "MAX_GRAPHS", 10)
    folder = make_suite_folder(tmp_path / "suite")
    record = unitf(0)
    peaks = []
    for number in (450, 450, 1350):
        path = tmp_path / f"{number}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for n in range(number):
                file.write(json.dumps({**record, "traceId": f"t-{n}"}) + "\n")
        peaks.append(command_peak(name, path, folder))
    # The first of them also imports.
    assert peaks[2] < peaks[1] + 80_000, peaks


@pytest.mark.parametrize("in_memory", [0, 3, 1 << 16])
def test_repeated_and_renamed_runs_are_known_again_in_memory_and_in_the_file(
    in_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_table, "IN_MEMORY", in_memory)
    record = unitf(0)
    path = tmp_path / "t.jsonl"
    said = [("a", 1), ("b", 1), ("a", 2), ("a", 1), ("a#3", 9), ("a", 2), ("a", 3)]
    with path.open("w", encoding="utf-8") as file:
        for trace_id, cost in said:
            file.write(json.dumps({**record, "traceId": trace_id, "costUsd": cost}))
            file.write("\n")
    count = RecordedCount()
    runs = read_recorded([path], index_cases([]), count)
    assert [(t.id, t.cost_usd) for _, t in runs] == [
        ("a", 1),
        ("b", 1),
        ("a#2", 2),
        ("a#3", 9),
        ("a#4", 3),
    ]
    assert (count.repeats, count.renamed) == (2, 2)


def test_twenty_thousand_runs_of_one_id_are_numbered_at_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n in range(20_000):
            file.write(f'{{"traceId":"a","costUsd":{n},"spans":[]}}\n')
    count = RecordedCount()
    last = ""
    for _, trace in read_recorded([path], index_cases([]), count):
        last = trace.id
    assert last == "a#20000" and count.renamed == 19_999
