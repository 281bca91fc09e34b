"""`prep` and `aggregate` as a user calls them, against `run --replay`."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.commands import aggregate, prep, run
from helix_runtime.folder import SuiteFolder
from helix_runtime.matrix.packet_index import read_index, verdicts_beside
from helix_runtime.record import replace
from helix_runtime.refusal import Refusal
from helix_runtime.report.words import other_notes, reservations
from helix_runtime.scorecard import masked_digest
from helix_runtime.trace import Trace
from support.runs import case, trace
from support.suite_folder import make_suite_folder, parsed, write_traces

RUNS = [
    trace("case-1-r0"),
    trace("case-2-r0", answer="It is on its way, I think."),
    trace("stranger", answer="Order 4711 was sent on Monday."),
    Trace(id="stops-at-once"),
]


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    made = make_suite_folder(
        tmp_path / "suite", cases=[case(), case("case-2", query="Is it sent?")]
    )
    write_traces(tmp_path / "traces.jsonl", RUNS)
    return made


def prepared(folder: SuiteFolder, *words: Any) -> Path:
    traces = folder.root.parent / "traces.jsonl"
    args = parsed("prep", "--traces", traces, "--model", "m-2026-01-01", *words)
    assert prep.execute(args, folder) == 0
    return folder.root / "matrix" / "packets"


def judge_all(packets: Path) -> None:
    """Write the verdict file of each packet: one ungrounded, one a fail, one open."""
    for entry in read_index(packets).entries:
        packet = json.loads((packets / entry.file).read_text("utf-8"))
        answer = packet["transcript"][-1]["content"]
        verdicts = []
        for criterion in packet["criteria"]:
            verdict: dict[str, Any] = {
                "criterionId": criterion["criterionId"],
                "critique": "What the answer says.",
                "result": "pass" if "4711" in answer else "fail",
                "confidence": 0.8,
                "refs": [{"obs": "output", "path": "", "value": answer}],
            }
            if criterion["criterionId"] == "polite":
                verdict["refs"][0]["value"] = "never said"
            verdicts.append(verdict)
        record = {
            "trajectoryId": packet["trajectoryId"],
            "judgeModel": packet["pin"]["model"],
            "temperature": 0,
            "verdicts": verdicts,
        }
        (packets / entry.verdict_file).write_text(json.dumps(record), "utf-8")


def scorecard(run_folder: Path) -> dict[str, Any]:
    data = json.loads((run_folder / "scorecard.json").read_text("utf-8"))
    assert isinstance(data, dict)
    return data


def test_the_same_verdicts_give_the_same_scorecard_on_both_paths_but_for_the_mode(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    one, two = tmp_path / "one", tmp_path / "two"
    code = aggregate.execute(parsed("aggregate", "--out", one), folder)
    args = parsed(
        "run",
        "--traces",
        tmp_path / "traces.jsonl",
        "--replay",
        verdicts_beside(packets),
        "--out",
        two,
    )
    assert run.execute(args, folder) == code == 1
    aggregated, replayed = scorecard(one), scorecard(two)
    assert aggregated["run"]["mode"] == "native-matrix"
    assert replayed["run"]["mode"] == "code-written"
    aggregated["run"]["mode"] = replayed["run"]["mode"]
    assert masked_digest(aggregated) == masked_digest(replayed)
    # And the comparison is of something: passes, fails, downgrades, an incomplete run.
    counts = {c["criterionId"]: c["counts"] for c in aggregated["criteria"]}
    assert counts["cites-order"]["pass"] == 2 and counts["cites-order"]["fail"] == 1
    assert counts["polite"]["uncertain"] == 4
    assert counts["has-answer"]["pass"] == 3 and counts["has-answer"]["uncertain"] == 1


def test_verdicts_on_no_run_are_told_on_both_paths(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    verdicts = packets.parent / "verdicts"
    text = next(verdicts.glob("*.json")).read_text("utf-8")
    record = {**json.loads(text), "trajectoryId": "nobody-ran-this"}
    (verdicts / "stray.verdict.json").write_text(json.dumps(record), "utf-8")
    capsys.readouterr()
    aggregate.execute(parsed("aggregate", "--out", tmp_path / "a", "-q"), folder)
    told = "warning: verdicts on runs that are not here: 'nobody-ran-this'\n"
    assert capsys.readouterr().err.endswith(told)
    words = ["--traces", packets / "traces.jsonl", "--replay", verdicts, "-q"]
    run.execute(parsed("run", *words, "--out", tmp_path / "b"), folder)
    assert capsys.readouterr().err.endswith(told)
    # Of a part of the runs, most verdicts are on others.
    run.execute(
        parsed("run", *words, "--cases", "case*", "--out", tmp_path / "c"), folder
    )
    assert told not in capsys.readouterr().err


def test_runs_that_were_lost_before_the_packets_are_told_on_both_paths(
    tmp_path: Path,
) -> None:
    same = {"query": "Is it sent?"}
    rows = [
        case(),
        case("case-2", **same, expected={"a": 1}),
        case("case-3", **same, expected={"a": 2}),
        case("case-4", query="Nobody asked this."),
    ]
    folder = make_suite_folder(tmp_path / "suite", cases=rows)
    first = trace("whose")
    asks = replace(first.spans[0], input="Is it sent?")
    runs = [
        trace("case-1-r0"),
        trace("case-1-r0", answer="Order 4711 is lost."),
        trace("case-2-r0"),
        replace(first, spans=(asks, *first.spans[1:])),
    ]
    path = write_traces(tmp_path / "traces.jsonl", runs)
    with path.open("a", encoding="utf-8") as file:
        file.write("{torn\n")
    packets = prepared(folder)
    judge_all(packets)
    one, two = tmp_path / "one", tmp_path / "two"
    aggregate.execute(parsed("aggregate", "--out", one), folder)
    replay = ["--replay", verdicts_beside(packets), "--out", two]
    run.execute(parsed("run", "--traces", path, *replay), folder)
    aggregated, replayed = scorecard(one), scorecard(two)
    aggregated["run"]["mode"] = replayed["run"]["mode"]
    assert masked_digest(aggregated) == masked_digest(replayed)
    said = aggregated["run"]["notes"]
    assert said == replayed["run"]["notes"]
    assert [line.split(" ")[0] for line in said] == ["2", "1", "1", "1"]
    for words in ("have no recorded run", "several cases", "not be read", "the id of"):
        assert any(words in line for line in said), words


def test_packets_of_a_run_that_is_not_whole_say_so(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    traces = tmp_path / "traces.jsonl"
    part = folder.runs / "part"
    words = ["--traces", traces, "--no-judge", "--cases", "case-1", "--out", part]
    run.execute(parsed("run", *words), folder)
    from_run = parsed("prep", "--run", "part", "--model", "m-2026-01-01", "-q")
    assert prep.execute(from_run, folder) == 0
    packets = folder.root / "matrix" / "packets"
    losses = read_index(packets).losses
    assert "narrowed: 1 of 4 recorded runs" in losses
    assert "1 of 2 cases has no recorded run" in losses
    record = json.loads((part / "run.json").read_text("utf-8"))
    (part / "run.json").write_text(json.dumps({**record, "finished": False}), "utf-8")
    assert prep.execute(from_run, folder) == 0
    assert any("part, which the runs" in line for line in read_index(packets).losses)
    judge_all(packets)
    aggregate.execute(parsed("aggregate", "--out", tmp_path / "out"), folder)
    notes = scorecard(tmp_path / "out")["run"]["notes"]
    assert any("the run is not complete" in line for line in notes)


def test_what_a_judge_takes_out_of_the_count_is_told_beside_the_gate(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    first = packets / read_index(packets).entries[0].verdict_file
    record = json.loads(first.read_text("utf-8"))
    taken = record["verdicts"].pop(0)["criterionId"]
    record |= {"denseMap": {taken: "na"}, "naRationale": "No order is asked about."}
    first.write_text(json.dumps(record), "utf-8")
    one, two = tmp_path / "one", tmp_path / "two"
    aggregate.execute(parsed("aggregate", "--out", one), folder)
    words = ["--traces", tmp_path / "traces.jsonl", "--replay", first.parent]
    run.execute(parsed("run", *words, "--out", two), folder)
    for out in (one, two):
        (said,) = reservations(scorecard(out))
        assert said.startswith("1 judgement says that its criterion does not apply")


def test_verdicts_on_a_case_that_was_edited_since_are_not_rolled_up(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    rows = [case(expected={"answer": "another"}), case("case-2", query="Is it sent?")]
    lines = "".join(json.dumps(row.to_row()) + "\n" for row in rows)
    folder.dataset.write_text(lines, "utf-8")
    out = tmp_path / "out"
    assert aggregate.execute(parsed("aggregate", "--out", out), folder) == 3
    said = capsys.readouterr().err
    assert "the case 'case-1' was edited after the packets" in said
    assert "case-2" not in said and not out.exists()
    prepared(folder)
    assert "case-1" not in " ".join(read_index(packets).losses)


@pytest.mark.parametrize("damage", [None, b"", b"{", b"\xff\n[]"])
def test_cases_that_prep_saw_and_are_gone_are_listed_with_all_that_lacks(
    folder: SuiteFolder, capsys: pytest.CaptureFixture[str], damage: bytes | None
) -> None:
    packets = prepared(folder)
    cases = packets / "cases.jsonl"
    if damage is None:
        cases.unlink()
    else:
        cases.write_bytes(damage)
    assert aggregate.execute(parsed("aggregate"), folder) == 3
    said = capsys.readouterr().err
    assert "cases.jsonl" in said and ".verdict.json" in said


def test_verdicts_on_what_was_edited_since_make_no_gate_green_on_either_path(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_traces(tmp_path / "traces.jsonl", RUNS[:1])
    packets = prepared(folder)
    judge_all(packets)
    edits = {
        "the judge of 'cites-order' was edited after the packets": _another_judge,
        "the case 'case-1' was edited after the packets": _another_case,
        "changed after it was written, so not what was judged": _another_packet,
    }
    for number, (words, edit) in enumerate(edits.items()):
        copy = tmp_path / str(number)
        shutil.copytree(folder.root, copy)
        edited = replace(folder, root=copy)
        beside = copy / "matrix" / "packets"
        edit(edited, beside)
        capsys.readouterr()
        args = parsed(
            "aggregate", "--packets", beside, "--out", tmp_path / f"a{number}"
        )
        assert aggregate.execute(args, edited) == 3
        told = capsys.readouterr().err
        assert words in told
        # Or they never were this suite's: helix-gen packets knows no edited judge.
        assert ("not made by this suite's prep" in told) == (edit is _another_judge)
        out = tmp_path / f"r{number}"
        args = parsed(
            *("run", "--traces", tmp_path / "traces.jsonl", "--out", out),
            *("--replay", verdicts_beside(beside)),
        )
        assert run.execute(args, edited) == 3
        assert words in capsys.readouterr().err
        counts = {c["criterionId"]: c["counts"] for c in scorecard(out)["criteria"]}
        assert counts["cites-order"]["missing"] == 1


def _another_judge(folder: SuiteFolder, packets: Path) -> None:
    index = json.loads((packets / "index.json").read_text("utf-8"))
    index["judges"]["cites-order"] = "0" * 64
    (packets / "index.json").write_text(json.dumps(index), "utf-8")


def _another_case(folder: SuiteFolder, packets: Path) -> None:
    rows = [case(expected={"answer": "another"}), case("case-2", query="Is it sent?")]
    lines = "".join(json.dumps(row.to_row()) + "\n" for row in rows)
    folder.dataset.write_text(lines, "utf-8")


def _another_packet(folder: SuiteFolder, packets: Path) -> None:
    (entry,) = read_index(packets).entries
    text = (packets / entry.file).read_text("utf-8")
    (packets / entry.file).write_text(text + "\n", "utf-8")


def test_an_edited_judge_leaves_the_verdicts_on_others_standing(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    _another_judge(folder, packets)
    words = ["--traces", tmp_path / "traces.jsonl", "--out", tmp_path / "out"]
    args = parsed("run", *words, "--replay", verdicts_beside(packets))
    run.execute(args, folder)
    counts = {
        c["criterionId"]: c["counts"] for c in scorecard(tmp_path / "out")["criteria"]
    }
    assert counts["cites-order"]["missing"] == 3
    assert counts["polite"]["uncertain"] == 4


def test_verdicts_count_for_no_run_that_says_something_else_than_the_one_judged(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_traces(tmp_path / "traces.jsonl", RUNS[:2])
    packets = prepared(folder)
    judge_all(packets)
    # All that the judge quoted still stands in it, so the refs resolve.
    now = tmp_path / "now.jsonl"
    answer = f"{RUNS[0].answer} I deleted your account."
    write_traces(now, [trace("case-1-r0", answer=answer), RUNS[1]])
    out = tmp_path / "out"
    words = ["--replay", verdicts_beside(packets), "--out", out]
    capsys.readouterr()
    assert run.execute(parsed("run", "--traces", now, *words), folder) != 0
    assert re.search(
        r"verdicts on runs that say something else .*: 'case-1-r0'\n",
        capsys.readouterr().err,
    )
    counts = {c["criterionId"]: c["counts"] for c in scorecard(out)["criteria"]}
    assert counts["cites-order"]["missing"] == 1
    assert counts["cites-order"]["pass"] == 0
    assert counts["cites-order"]["fail"] == 1


def test_a_run_made_again_with_the_same_words_has_its_verdicts(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    again = tmp_path / "again.jsonl"
    write_traces(again, [replace(one, latency_ms=7.5) for one in RUNS])
    out = tmp_path / "out"
    words = ["--replay", verdicts_beside(packets), "--out", out]
    run.execute(parsed("run", "--traces", again, *words), folder)
    assert "something else" not in capsys.readouterr().err
    counts = {c["criterionId"]: c["counts"] for c in scorecard(out)["criteria"]}
    assert counts["cites-order"]["missing"] == 0
    assert counts["cites-order"]["pass"] == 2


def test_where_the_runs_that_were_judged_are_gone_that_is_said_beside_the_gate(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    (packets / "traces.jsonl").unlink()
    out = tmp_path / "out"
    words = ["--replay", verdicts_beside(packets), "--out", out]
    traces = tmp_path / "traces.jsonl"
    run.execute(parsed("run", "--traces", traces, *words), folder)
    (said,) = other_notes(scorecard(out))
    assert "the runs that were judged do not lie beside the packets" in said


def test_verdicts_beside_no_packets_are_taken_and_that_is_said_beside_the_gate(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    shutil.copytree(verdicts_beside(packets), tmp_path / "alone")
    words = ["--traces", tmp_path / "traces.jsonl", "--out", tmp_path / "out"]
    assert (
        run.execute(parsed("run", *words, "--replay", tmp_path / "alone"), folder) == 1
    )
    (said,) = other_notes(scorecard(tmp_path / "out"))
    assert "no packets lie beside the verdicts" in said


def test_verdicts_of_another_state_of_the_suite_say_so_beside_the_gate(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    one, two = tmp_path / "one", tmp_path / "two"
    aggregate.execute(parsed("aggregate", "--out", one), folder)
    assert reservations(scorecard(one)) == []
    with folder.dataset.open("a", encoding="utf-8") as file:
        file.write(json.dumps(case("case-3", query="And now?").to_row()) + "\n")
    index = json.loads((packets / "index.json").read_text("utf-8"))
    index["suite"]["specSha256"] = "1" * 64
    (packets / "index.json").write_text(json.dumps(index), "utf-8")
    aggregate.execute(parsed("aggregate", "--out", two), folder)
    three = tmp_path / "three"
    words = ["--traces", tmp_path / "traces.jsonl", "--out", three]
    run.execute(parsed("run", *words, "--replay", verdicts_beside(packets)), folder)
    for out in (two, three):
        found = [note.split(" ")[3] for note in reservations(scorecard(out))]
        assert found[:2] == ["dataset", "spec"]


def test_a_roll_up_is_not_gone_on_with(folder: SuiteFolder, tmp_path: Path) -> None:
    judge_all(prepared(folder))
    out = tmp_path / "out"
    aggregate.execute(parsed("aggregate", "--out", out), folder)
    before = (out / "run.json").read_bytes()
    with pytest.raises(Refusal, match="roll-up of verdict files"):
        run.execute(parsed("run", "--resume", out), folder)
    with pytest.raises(Refusal, match="choose another --out$"):
        aggregate.execute(parsed("aggregate", "--out", out), folder)
    assert (out / "run.json").read_bytes() == before


def test_missing_verdicts_stop_the_roll_up_with_the_list(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    gone = [entry.verdict_file for entry in read_index(packets).entries[:2]]
    for file in gone:
        (packets / file).unlink()
    out = tmp_path / "out"
    assert aggregate.execute(parsed("aggregate", "--out", out), folder) == 3
    said = capsys.readouterr().err
    for file in gone:
        assert re.search(rf"missing: .*{re.escape(Path(file).name)}", said)
    assert "nothing was rolled up" in said
    assert not out.exists()


def test_an_empty_folder_of_verdicts_is_all_missing(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    (tmp_path / "none").mkdir()
    args = parsed("aggregate", "--packets", packets, "--verdicts", tmp_path / "none")
    assert aggregate.execute(args, folder) == 3
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_without_the_default_folder_every_verdict_is_missing(
    folder: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    verdicts_beside(packets).rmdir()
    assert aggregate.execute(parsed("aggregate"), folder) == 3
    assert "missing: " in capsys.readouterr().err


def test_a_named_folder_that_is_not_there_is_refused(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    prepared(folder)
    with pytest.raises(Refusal, match="nowhere"):
        aggregate.execute(
            parsed("aggregate", "--verdicts", tmp_path / "nowhere"), folder
        )


def test_aggregate_judges_the_cases_that_prep_saw(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    folder.dataset.write_text("", "utf-8")
    aggregate.execute(parsed("aggregate", "--out", tmp_path / "out"), folder)
    units = (tmp_path / "out" / "units.jsonl").read_text("utf-8")
    assert '"caseId":"case-1"' in units


def test_prep_says_what_it_did_and_what_it_skipped(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "traces.jsonl").open("a", encoding="utf-8") as file:
        file.write("{torn\n")
    prepared(folder)
    out, err = capsys.readouterr()
    assert "4 traces: 2 belong to a case of the dataset, 2 stand for themselves" in out
    assert "1 needs no judge: 1 incomplete\n" in out
    assert "3 packets with 6 judgements" in out
    assert "1 lines are no traces and were skipped" in err


def test_prep_from_a_run_takes_its_traces(folder: SuiteFolder, tmp_path: Path) -> None:
    traces = tmp_path / "traces.jsonl"
    out = folder.runs / "first"
    run.execute(parsed("run", "--traces", traces, "--no-judge", "--out", out), folder)
    args = parsed("prep", "--run", "first", "--model", "m-2026-01-01", "-q")
    assert prep.execute(args, folder) == 0
    assert len(read_index(folder.root / "matrix" / "packets").entries) == 3


def test_prep_writes_tasks_on_the_criterion_axis(folder: SuiteFolder) -> None:
    packets = prepared(folder, "--axis", "criterion")
    assert list(packets.glob("*.task.json")) and not list(packets.glob("*.packet.json"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--traces", "TRACES"], "--model"),
        (["--traces", "TRACES", "--model", " "], "--model"),
        (["--model", "m"], "--traces FILE"),
        (["--traces", "TRACES", "--run", "x", "--model", "m"], "one of the two"),
        (["--traces", "nowhere.jsonl", "--model", "m"], "nowhere.jsonl"),
        (["--run", "nowhere", "--model", "m"], "nowhere"),
    ],
)
def test_prep_refuses_what_it_cannot_do_and_says_why(
    folder: SuiteFolder, tmp_path: Path, words: list[str], why: str
) -> None:
    words = [str(tmp_path / "traces.jsonl") if w == "TRACES" else w for w in words]
    with pytest.raises(Refusal, match=why) as caught:
        prep.execute(parsed("prep", *words), folder)
    assert caught.value.exit_code == 2
    assert not (folder.root / "matrix").exists()


def test_a_floating_alias_is_a_warning(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = tmp_path / "traces.jsonl"
    prep.execute(parsed("prep", "--traces", traces, "--model", "gpt-latest"), folder)
    assert "floating alias" in capsys.readouterr().err


@pytest.mark.parametrize("index", [None, "{}", "[1", "\x00"])
def test_aggregate_without_an_index_says_what_writes_it(
    folder: SuiteFolder, tmp_path: Path, index: str | None
) -> None:
    (tmp_path / "p").mkdir()
    if index is not None:
        (tmp_path / "p" / "index.json").write_text(index, "utf-8")
    with pytest.raises(Refusal, match="prep|index.json"):
        aggregate.execute(parsed("aggregate", "--packets", tmp_path / "p"), folder)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"garbage", "not JSON: expecting value (column 1)"),
        (b"\xff", "not UTF-8: the byte 0xff"),
        (b"{}", "it is no index of packets: it lacks 'schema'"),
        (b"[]", "it is no index of packets, or was edited"),
    ],
)
def test_an_index_that_can_not_be_read_says_why(
    folder: SuiteFolder, text: bytes, why: str
) -> None:
    (prepared(folder) / "index.json").write_bytes(text)
    with pytest.raises(Refusal) as caught:
        aggregate.execute(parsed("aggregate"), folder)
    assert f"index.json can't be read: {why}: run prep again" in str(caught.value)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800", 3, None])
@pytest.mark.parametrize("key", ["packet", "verdictFile"])
def test_a_name_that_no_file_can_have_is_an_edited_index(
    folder: SuiteFolder, key: str, name: object
) -> None:
    path = prepared(folder) / "index.json"
    index = json.loads(path.read_text("utf-8"))
    index["packets"][0][key] = name
    path.write_text(json.dumps(index), "utf-8")
    with pytest.raises(Refusal, match="no index of packets, or was edited"):
        aggregate.execute(parsed("aggregate"), folder)


def test_an_index_cannot_lead_out_of_its_folder(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    path = packets / "index.json"
    data = json.loads(path.read_text("utf-8"))
    data["packets"][0]["packet"] = "../../../traces.jsonl"
    path.write_text(json.dumps(data), "utf-8")
    assert aggregate.execute(parsed("aggregate"), folder) == 3
    said = capsys.readouterr().err
    assert f"missing packet: {packets / 'traces.jsonl'}" not in said
    assert "changed after it was written" in said


def test_escape_sequences_in_a_verdict_file_reach_no_terminal(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    judge_all(packets)
    evil = verdicts_beside(packets) / "evil\x1b[2J.json"
    evil.write_text('{"trajectoryId": "\\u001b[31m", "verdicts": []}', "utf-8")
    aggregate.execute(parsed("aggregate", "--out", tmp_path / "out"), folder)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err and "\\x1b" in err


def test_secrets_of_the_environment_reach_no_packet(
    folder: SuiteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_API_KEY", "hush-hush-42")
    run_with_secret = trace("case-1-r0", answer="Order 4711, key hush-hush-42.")
    write_traces(tmp_path / "traces.jsonl", [run_with_secret])
    packets = prepared(folder)
    written = [p.read_text("utf-8") for p in packets.iterdir() if p.is_file()]
    assert not any("hush-hush-42" in text for text in written)
    assert any("DESK_API_KEY redacted" in text for text in written)


# -- as agents of a host do it: with nothing but the prompt, to read and to write ------


def dispatched(prompt: str, working: Path) -> Path:
    """Do what a prompt says from a working folder, by its words; return the verdict."""
    named = re.findall(r"[\w./-]+\.(?:md|json)\b", prompt)
    (suite,) = re.findall(r"folder of the suite `([^`]+)`", prompt) or [""]
    (sha256,) = re.findall(r'"packetSha256": "([0-9a-f]{64})"', prompt)
    instructions, _, packet_file, verdict_file, schema = named
    if not (working / instructions).is_file():
        working = Path(working, suite)
    told = (working / instructions).read_text("utf-8")
    assert '"packetSha256"' in told and "verdict.schema.json" in told
    assert json.loads((working / schema).read_text("utf-8"))["type"] == "object"
    packet = json.loads((working / packet_file).read_text("utf-8"))
    answer = packet["transcript"][-1]["content"]
    record = {
        "trajectoryId": packet["trajectoryId"],
        "judgeModel": packet["pin"]["model"],
        "temperature": 0,
        "verdicts": [
            {
                "criterionId": criterion["criterionId"],
                "critique": "What the answer says.",
                "result": "pass",
                "confidence": 0.8,
                "refs": [{"obs": "output", "path": "", "value": answer}],
            }
            for criterion in packet["criteria"]
        ],
        "context": {"packetSha256": sha256},
    }
    (working / verdict_file).write_text(json.dumps(record), "utf-8")
    return Path(working, verdict_file)


def prompts_of(packets: Path) -> list[str]:
    lines = (packets / "dispatches.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["prompt"] for line in lines]


@pytest.mark.parametrize("working", [".", ".."], ids=["suite", "repository"])
def test_an_agent_finds_its_files_by_the_prompt_alone(
    folder: SuiteFolder, working: str, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    prompts = prompts_of(packets)
    assert len(prompts) == 3
    before = {path for path in folder.root.parent.rglob("*") if path.is_file()}
    written = {dispatched(one, (folder.root / working).resolve()) for one in prompts}
    after = {path for path in folder.root.parent.rglob("*") if path.is_file()}
    assert after - before == written
    assert {path.parent for path in written} == {folder.root / "matrix" / "verdicts"}
    assert not any(str(folder.root.parent) in prompt for prompt in prompts)
    capsys.readouterr()
    out = folder.root.parent / "out"
    aggregate.execute(parsed("aggregate", "--out", out), folder)
    assert capsys.readouterr().err == ""
    counts = {c["criterionId"]: c["counts"] for c in scorecard(out)["criteria"]}
    assert counts["cites-order"]["pass"] == 3


def test_packets_that_lie_elsewhere_are_found_from_the_folder_that_holds_them(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    prepared(folder, "--out", tmp_path / "pk")
    for prompt in prompts_of(tmp_path / "pk"):
        assert str(tmp_path) not in prompt
        verdict = dispatched(prompt, tmp_path)
        assert verdict.parent == tmp_path / "pk-verdicts"


def test_a_verdict_on_another_packet_does_not_count(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = prepared(folder)
    first, *others = prompts_of(packets)
    for prompt in others:
        dispatched(prompt, folder.root)
    sha256 = re.findall(r"[0-9a-f]{64}", first)[0]
    verdict = dispatched(first.replace(sha256, 64 * "0"), folder.root)
    capsys.readouterr()
    args = parsed("aggregate", "--out", tmp_path / "out")
    assert aggregate.execute(args, folder) == 3
    told = capsys.readouterr().err
    assert f"{verdict.name}: 'case-1-r0'" in told
    assert "judged another packet" in told
    assert not (tmp_path / "out").exists()
    dispatched(first, folder.root)
    aggregate.execute(parsed("aggregate", "--out", tmp_path / "out"), folder)
    assert (tmp_path / "out" / "scorecard.json").is_file()
