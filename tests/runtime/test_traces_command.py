"""`traces`: what is understood is said; and every command reads every format."""

import gzip
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.commands import prep, run, traces
from helix_runtime.commands.unitf_file import open_unitf
from helix_runtime.folder import SuiteFolder
from helix_runtime.formats.unitf import read_traces
from helix_runtime.refusal import Refusal
from helix_runtime.unitf import ReadCount
from support.runs import case
from support.suite_folder import make_suite_folder, parsed
from support.trace_samples import EVERY, PROMPT, chat, langfuse_trace, session, write

MAP = '[trace_map]\ntrace_id = "name"\nprompt = "asked"\noutput = "said"\n'


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return make_suite_folder(
        tmp_path / "suite",
        cases=[case("oslo", query="another wording"), case("other", query=PROMPT)],
        settings=MAP,
    )


def test_what_was_understood_is_said(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "export.json", json.dumps(langfuse_trace(), indent=1))
    assert traces.execute(parsed("traces", path), folder) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "export.json: langfuse"
    assert "2 tool calls (2 with a result, 1 failed)" in said
    assert "20 + 10 tokens" in said
    assert "case oslo" in said
    assert f"asked: {PROMPT}" in said
    assert "1 belong to a case of the dataset, 0 stand for themselves" in said


def test_json_has_a_line_for_every_trace_and_then_the_sum(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        write(tmp_path / "chat.jsonl", [chat()]),
        write(tmp_path / "session.jsonl", [*session(), "no line"]),
    ]
    assert traces.execute(parsed("traces", *files, "--json"), folder) == 0
    shown = capsys.readouterr()
    first, second, total = map(json.loads, shown.out.splitlines())
    assert first["case"] == "oslo" and second["case"] == "other"
    assert first["missing"] == ["steps not recorded", "duration"]
    assert first["toolCalls"] == {"total": 2, "answered": 2, "failed": 1}
    assert total["record"] == "sum" and total["traces"] == 2
    assert total["formats"] == {"openai-chat": 1, "claude-code": 1}
    assert total["skipped"] == 1 and "session.jsonl:10" in total["faults"][0]
    assert total["leftOut"] == {"summary": 1}
    assert "session.jsonl:10" in shown.err


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_is_written_as_unitf_is_what_was_read(
    name: str, folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "export", EVERY["langfuse"][1])
    out = tmp_path / name
    args = parsed("traces", path, "--to", "unitf", out)
    assert traces.execute(args, folder) == 0
    (trace,) = read_traces(out, ReadCount())
    assert trace.prompt == PROMPT and len(trace.tool_calls) == 2
    again = tmp_path / f"again-{name}"
    traces.execute(parsed("traces", path, "--to", "unitf", again), folder)
    assert again.read_bytes() == out.read_bytes()
    if name.endswith(".gz"):
        assert gzip.decompress(out.read_bytes()).count(b"\n") == 1
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.jsonl"], "there is no trace file nowhere.jsonl"),
        (["FILE", "--format", "langfus"], "did you mean 'langfuse'"),
        (["FILE", "--to", "parquet", "x"], "written as unitf alone"),
        (["FILE", "--to", "unitf", "FILE"], "that is a file that is read"),
    ],
)
def test_what_cannot_be_done_is_refused(
    words: list[str], told: str, folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "chat.jsonl", [chat()])
    words = [str(path) if word == "FILE" else word for word in words]
    with pytest.raises(Refusal, match=told):
        traces.execute(parsed("traces", *words), folder)


def test_hostile_traces_are_shown_safely(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = chat(id="\x1b[2Jx\u202e", tags=["\x1b"])
    record["messages"][1]["content"] = "\x1b]0;owned\x07"
    path = write(tmp_path / "chat\x1b.jsonl", [record])
    traces.execute(parsed("traces", path), folder)
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\u202e" not in shown.out


def test_a_file_without_a_trace_is_said_by_the_exit_code(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "empty.jsonl", "\n")
    assert traces.execute(parsed("traces", path), folder) == 2
    assert "no trace" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_run_judges_every_format_and_says_which(
    name: str, folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "recorded", EVERY[name][1])
    out = tmp_path / "run"
    args = parsed("run", "--traces", path, "--no-judge", "--out", out, "-q")
    result = run.run_suite(args, folder)
    assert any(
        f"1 traces read ({EVERY[name][0]}): 1 belong" in line
        for line in result.coverage
    )
    (kept,) = read_traces(out / "traces.jsonl", ReadCount())
    assert len(kept.tool_calls) == 2


def own(tmp_path: Path) -> Path:
    record: dict[str, Any] = {"name": "o-1", "asked": PROMPT, "said": "rain"}
    return write(tmp_path / "own.jsonl", [record])


def test_a_mapping_of_the_settings_is_what_a_run_reads_by(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    args = parsed(
        "run", "--traces", own(tmp_path), "--no-judge", "--out", tmp_path / "r", "-q"
    )
    assert any(
        "(mapped): 1 belong" in line for line in run.run_suite(args, folder).coverage
    )


def test_prep_writes_packets_from_every_format(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "spans.jsonl", EVERY["otel-events"][1])
    out = tmp_path / "packets"
    args = parsed(
        "prep", "--traces", path, own(tmp_path), "--model", "m-1", "--out", out
    )
    assert prep.execute(args, folder) == 0
    assert "2 traces (otel, mapped): 2 belong" in capsys.readouterr().out
    kept = [trace.id for trace in read_traces(out / "traces.jsonl", ReadCount())]
    assert kept == ["ab" * 16, "o-1"]


def test_a_format_that_was_told_wins_over_the_content(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "chat.jsonl", [chat()])
    args = parsed("prep", "--traces", path, "--format", "nope", "--model", "m")
    with pytest.raises(Refusal, match="--format nope: there is no such format"):
        prep.execute(args, folder)


def test_a_link_that_lies_where_traces_are_written_is_not_followed(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("mine", "utf-8")
    (tmp_path / "out.jsonl.part").symlink_to(kept)
    with ExitStack() as stack:
        out = open_unitf(str(tmp_path / "out.jsonl"), (), stack, option="--out")
        out.write(b"{}\n")
    assert kept.read_text("utf-8") == "mine"
    assert (tmp_path / "out.jsonl").read_bytes() == b"{}\n"
    assert not (tmp_path / "out.jsonl").is_symlink()
