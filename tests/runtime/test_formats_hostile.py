"""Whatever stands in a file of traces: it reads or is counted, and never raises."""

import copy
import gzip
import json
import random
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from helix_runtime import formats
from helix_runtime.canonical import dump_line
from helix_runtime.commands import profile, sample, traces
from helix_runtime.formats.mapped import Mapped, mapping_of
from helix_runtime.formats.understood import understand
from helix_runtime.judges.evidence import evidence_of
from helix_runtime.refusal import Refusal
from helix_runtime.trace import Trace
from helix_runtime.unitf import ReadCount, trace_from_record, trace_to_record
from hypothesis import given, settings
from hypothesis import strategies as st
from support.suite_folder import make_suite_folder, parsed
from support.trace_samples import (
    EVERY,
    chat,
    genai_events,
    genai_messages,
    genai_numbered,
    inspect_log,
    inspect_sample,
    inspect_zip,
    langfuse_trace,
    openinference,
    otlp,
    session,
    write,
)

HUGE = 10**400
STRANGE: list[Any] = [
    None,
    True,
    -1,
    HUGE,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "\x1b[31m\u202e",
    "{",
    "[[[[",
    "{'a': b}",
    [],
    [[]],
    [None],
    [1, "a", {}],
    {},
    {"": {}},
    {"role": 1},
    {"role": "user", "content": {"role": "user", "content": []}},
    {"type": "text"},
    {"stringValue": {}},
    {"arrayValue": {"values": 1}},
    "attachment://x",
]


def mapping() -> Mapped:
    def fault(key: str, what: str) -> None:
        raise AssertionError((key, what))

    table = {
        "trace_id": "id",
        "prompt": ["messages.1.content", "{a}: {b.c}"],
        "messages": "messages",
        "output": "output",
        "metadata": "metadata",
        "tags": "tags",
        "scores": "scores",
        "error": "error",
        "input_tokens": "usage.prompt_tokens",
        "tool_calls": {"list": "messages.2.tool_calls", "name": "function.name"},
        "steps": {"list": "messages", "name": "role", "output": "content"},
        "retrieved": {"list": "messages"},
    }
    return mapping_of(table, fault)


def records() -> dict[str, Any]:
    return {
        "unitf": trace_to_record(first("openai-chat")),
        "langfuse": langfuse_trace(),
        "otel-m": otlp(genai_messages()),
        "otel-e": otlp(genai_events()),
        "otel-n": otlp(genai_numbered()),
        "openinference": otlp(openinference()),
        "openai-chat": chat(),
        "claude-code": session()[3],
        "inspect": inspect_log(inspect_sample()),
        "mapped": chat(),
    }


def first(name: str) -> Trace:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "traces", EVERY[name][1])
        return next(formats.read([path], count=ReadCount()))


RECORDS = records()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += places(inner, (*path, index))
    return found


def change(record: Any, chance: random.Random) -> Any:
    """Put something strange in some places, also inside of JSON in texts."""
    record = copy.deepcopy(record)
    for _ in range(chance.randint(1, 4)):
        place = chance.choice(places(record))
        inner = record
        for key in place[:-1]:
            inner = inner[key]
        if chance.random() < 0.2 and isinstance(inner, dict):
            del inner[place[-1]]
        elif isinstance(inner[place[-1]], str) and chance.random() < 0.5:
            try:
                nested = json.loads(inner[place[-1]])
            except ValueError:
                nested = None
            if isinstance(nested, (dict, list)) and places(nested):
                inner[place[-1]] = json.dumps(change(nested, chance))
            else:
                inner[place[-1]] = copy.deepcopy(chance.choice(STRANGE))
        else:
            inner[place[-1]] = copy.deepcopy(chance.choice(STRANGE))
        if not places(record):
            break
    return record


def look_at(trace: Trace) -> None:
    """Use every view that checks, judges and the commands use."""
    dump_line(understand(trace).to_record(case_id=None))
    evidence_of(trace)
    again = trace_from_record(json.loads(dump_line(trace_to_record(trace))))
    assert again.digest == trace.digest
    # A bare NaN is no JSON: it is written as its name, a text.
    assert _bare(again.prompt) == _bare(trace.prompt)
    assert _bare(again.answer) == _bare(trace.answer)
    assert [c.name for c in again.tool_calls] == [c.name for c in trace.tool_calls]
    assert again.usage == trace.usage


def _bare(text: str | None) -> str | None:
    return text.strip('"') if text in ('"NaN"', '"Infinity"') else text


@pytest.mark.parametrize("name", sorted(RECORDS))
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_a_record_with_anything_in_it_never_raises(
    name: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = random.Random(seed)
    path = tmp_path_factory.mktemp("hostile") / "traces.jsonl"
    lines = [change(RECORDS[name], chance) for _ in range(2)]
    path.write_text("".join(_line(item) + "\n" for item in lines), "utf-8")
    known = {"otel-m": "otel", "otel-e": "otel", "otel-n": "otel"}
    for format in (known.get(name, name), None):
        if name == "mapped" and format is None:
            continue
        count = ReadCount()
        try:
            traces = list(
                formats.read([path], format=format, mapping=mapping(), count=count)
            )
        except formats.Refusal:
            assert format is None
            continue
        assert len(traces) == count.traces
        for trace in traces:
            look_at(trace)


def _line(item: Any) -> str:
    try:
        return json.dumps(item)
    except ValueError:  # more digits than Python writes
        return dump_line(_without_huge(item))


def _without_huge(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _without_huge(inner) for key, inner in item.items()}
    if isinstance(item, list):
        return [_without_huge(inner) for inner in item]
    return 10**18 if item is HUGE else item


@settings(max_examples=40)
@given(data=st.data())
def test_bytes_cut_and_changed_anywhere_never_raise(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = data.draw(st.sampled_from(sorted(EVERY)))
    path = write(tmp_path_factory.mktemp("bytes") / "traces", EVERY[name][1])
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content = bytearray(gzip.compress(bytes(content), 1, mtime=0))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    for format in (EVERY[name][0], None):
        count = ReadCount()
        try:
            for trace in formats.read([path], format=format, count=count):
                look_at(trace)
        except formats.Refusal:
            assert format is None


@pytest.mark.parametrize("format", [f for f in formats.FORMATS if f != "mapped"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\x00\x00",
        b"\xff\xfe{\x00}\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'[{"a": 1},',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{}, 1, ',
        b'{"data": [1, {"x": ' + b"9" * 5000 + b"}]}",
        b'[{"a": "\xc3\x28"}]',
        b"PK\x03\x04 no zip at all",
        b"\x1f\x8b no gzip at all",
        b"nothing of the kind\n{}\n[]\nnull\n",
    ],
    ids=lambda content: content[:12],
)
def test_what_is_no_trace_is_counted_and_named(
    format: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "traces"
    path.write_bytes(content)
    count = ReadCount()
    assert list(formats.read([path], format=format, count=count)) == []
    if content.strip():
        assert count.skipped or count.left_out
        assert all("traces" in fault for fault in count.faults)


def test_a_bad_line_costs_that_line_alone(tmp_path: Path) -> None:
    lines = [json.dumps(langfuse_trace(f"lf-{n}")) for n in range(3)]
    lines[1] = lines[1][: len(lines[1]) // 2]
    path = write(tmp_path / "traces.jsonl", "\n".join(lines))
    count = ReadCount()
    found = [trace.id for trace in formats.read([path], count=count)]
    assert found == ["lf-0", "lf-2"]
    assert count.skipped == 1
    assert count.faults[0].startswith("traces.jsonl:2: ")


def test_a_torn_document_gives_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([langfuse_trace(f"lf-{n}") for n in range(3)], indent=1)
    path = write(tmp_path / "traces.json", whole[: int(len(whole) * 0.8)])
    count = ReadCount()
    assert [t.id for t in formats.read([path], count=count)] == ["lf-0", "lf-1"]
    assert count.skipped == 1
    assert "the rest can't be read" in count.faults[0]


def test_a_file_of_an_unknown_format_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", [{"question": "?", "answer": "!"}])
    with pytest.raises(formats.Refusal, match=r"own\.jsonl.*--format.*\[trace_map\]"):
        list(formats.read([path], count=ReadCount()))


def test_an_unknown_name_of_a_format_is_refused_with_the_close_one() -> None:
    with pytest.raises(formats.Refusal, match="langfus.*did you mean 'langfuse'"):
        list(formats.read([], format="langfus", count=ReadCount()))


def test_mapped_without_a_mapping_is_refused() -> None:
    with pytest.raises(formats.Refusal, match=r"\[trace_map\]"):
        list(formats.read([], format="mapped", count=ReadCount()))


def test_inspect_logs_that_are_damaged_inside_lose_that_sample(tmp_path: Path) -> None:
    packed = bytearray(inspect_zip(inspect_sample("a"), inspect_sample("b")))
    packed[60:70] = b"\0" * 10
    path = write(tmp_path / "log.eval", bytes(packed))
    count = ReadCount()
    found = list(formats.read([path], count=count))
    assert len(found) == 1
    assert count.skipped == 1


def packed_with_zstandard(name: str, content: bytes) -> bytes:
    """A zip of one file in a Zstandard frame of one block that is not compressed."""
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(content))
    frame += struct.pack("<I", len(content) << 3 | 1)[:3] + content
    sizes = struct.pack("<III", zlib.crc32(content), len(frame), len(content))
    named = name.encode()
    fixed = struct.pack("<HHHHH", 63, 0, 93, 0, 0x21) + sizes
    fixed += struct.pack("<HH", len(named), 0)
    local = b"PK\x03\x04" + fixed + named + frame
    central = b"PK\x01\x02" + struct.pack("<H", 63) + fixed
    central += struct.pack("<HHHII", 0, 0, 0, 0, 0) + named
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


@pytest.mark.parametrize("command", [traces, profile, sample])
def test_a_log_packed_with_zstandard_is_read_or_refused_with_what_to_do(
    command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.dumps(inspect_sample("a")).encode()
    packed = packed_with_zstandard("samples/a_epoch_1.json", content)
    path = write(tmp_path / "new.eval", packed)
    folder = make_suite_folder(tmp_path / "suite")
    args = parsed(command.__name__.rpartition(".")[2], path)
    if sys.version_info >= (3, 14):
        assert command.execute(args, folder) == 0
        assert "could not be read" not in capsys.readouterr().err
        return
    with pytest.raises(Refusal) as refused:
        command.execute(args, folder)
    (line,) = refused.value.lines
    assert line.startswith(f"{path}: the log is packed with Zstandard")
    assert "Python 3.14 or newer" in line and "inspect log convert" in line


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_what_is_damaged_in_any_packing_loses_that_sample_alone(
    method: int, tmp_path: Path
) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name in "ab":
            sample_text = json.dumps(inspect_sample(name))
            archive.writestr(f"samples/{name}_epoch_1.json", sample_text)
    data = bytearray(path.read_bytes())
    start = data.index(b"samples/a_epoch_1.json") + len(b"samples/a_epoch_1.json")
    data[start + 12 : start + 60] = b"\xff" * 48
    path.write_bytes(data)
    count = ReadCount()
    assert len(list(formats.read([path], count=count))) == 1
    assert count.skipped == 1 and "can't be unpacked" in count.faults[0]


@pytest.mark.parametrize("helix", ["no object", 7, {"observed": "no list", "a": 1}])
def test_a_strange_block_of_ours_goes_through_unitf_and_back(helix: Any) -> None:
    found = trace_from_record({"traceId": "t", "spans": [7], "ext": {"helix": helix}})
    assert "tools" not in found.observed
    look_at(found)
