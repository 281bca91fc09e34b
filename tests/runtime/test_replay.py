"""Recorded verdicts as the judge: joined on ids, grounded again, never made up."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.judges.replay import ReplayJudge
from helix_runtime.matrix.packet_index import read_index, verdicts_beside
from helix_runtime.matrix.packets import write_packets
from helix_runtime.matrix.readiness import gaps
from helix_runtime.matrix.verdict_schema import verdict_file
from helix_runtime.suite import Suite
from helix_runtime.verdict import Ref, Result, Verdict
from support.runs import HYBRID, SUBJECT, case, judged, suite, trace

GOOD = Ref("output", "", "sent on Monday")


def verdict(result: Result = "pass", *refs: Ref) -> Verdict:
    return Verdict(
        result=result, critique="because", confidence=0.9, refs=refs or (GOOD,)
    )


def put(folder: Path, name: str, data: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(data), "utf-8")


def recorded(
    folder: Path,
    trajectory_id: str = "trace-1",
    model: str = "m-1",
    **verdicts: Verdict,
) -> None:
    data = verdict_file(
        trajectory_id=trajectory_id,
        model=model,
        verdicts={key.replace("_", "-"): v for key, v in verdicts.items()},
    )
    put(folder, f"{trajectory_id}.verdict.json", data)


def test_a_verdict_is_found_by_the_ids_and_comes_with_its_model(tmp_path: Path) -> None:
    recorded(tmp_path, cites_order=verdict())
    judge = ReplayJudge(tmp_path, subject=SUBJECT)
    judgement = judge.judge(judged(), case(), trace(), 0)
    assert judgement is not None
    assert judgement.verdict == verdict() and judgement.model == "m-1"
    assert judge.judge(judged(), case(), trace("another"), 0) is None
    assert judge.judge(HYBRID, case(), trace(), 0) is None


def test_verdicts_on_runs_that_are_not_here_are_told(tmp_path: Path) -> None:
    for name in ("trace-1", "decided-by-code", "gone", "g\x1b[31mone"):
        recorded(tmp_path / "v", trajectory_id=name, cites_order=verdict())
    judge = ReplayJudge(tmp_path / "v", subject=SUBJECT)
    judge.judge(judged(), case(), trace(), 0)
    traces = tmp_path / "traces.jsonl"
    traces.write_text('{"traceId": "decided-by-code"}\n[]\n{"traceId": "g', "utf-8")
    told = ["verdicts on runs that are not here: 'g\\x1b[31mone', 'gone'"]
    assert judge.left_over(traces) == told
    traces.write_text("\n".join(map(json.dumps, [{"traceId": "gone"}] * 2)), "utf-8")
    assert "'decided-by-code'" in judge.left_over(traces)[0]
    assert ReplayJudge(tmp_path, subject=SUBJECT).left_over(traces) == []


def test_refs_are_resolved_again_against_the_run_at_hand(tmp_path: Path) -> None:
    recorded(tmp_path, cites_order=verdict("fail"))
    judge = ReplayJudge(tmp_path, subject=SUBJECT)
    judgement = judge.judge(judged(), case(), trace(answer="Something else."), 0)
    assert judgement is not None and judgement.verdict.result == "uncertain"
    assert "downgraded from fail" in judgement.notes[0]


def test_the_pin_is_the_one_model_of_all_files(tmp_path: Path) -> None:
    recorded(tmp_path, cites_order=verdict())
    judge = ReplayJudge(tmp_path, subject=SUBJECT)
    assert judge.pin is not None
    assert (judge.pin.model, judge.pin.temperature) == ("m-1", 0)
    recorded(tmp_path, "trace-2", model="m-2", cites_order=verdict())
    mixed = ReplayJudge(tmp_path, subject=SUBJECT)
    assert mixed.pin is None
    assert any("several models: m-1, m-2" in line for line in mixed.lines())


def test_unknown_criteria_dialects_and_faults_are_told(tmp_path: Path) -> None:
    recorded(tmp_path, cites_order=verdict(), made_up=verdict())
    put(tmp_path, "odd.json", {"trace_id": "t", "criteria": {"x": {"result": "pass"}}})
    judge = ReplayJudge(tmp_path, subject=SUBJECT, criteria=["cites-order"])
    assert judge.unknown_criteria == ("made-up",)
    told = "\n".join(judge.lines())
    assert "'made-up'" in told and "no critique" in told
    assert "odd.json departs from the contract: `trace_id`" in told


def test_the_digest_changes_with_a_word_of_a_verdict(tmp_path: Path) -> None:
    recorded(tmp_path, cites_order=verdict())
    first = ReplayJudge(tmp_path, subject=SUBJECT).digest
    assert ReplayJudge(tmp_path, subject=SUBJECT).digest == first
    recorded(tmp_path, cites_order=verdict("fail"))
    assert ReplayJudge(tmp_path, subject=SUBJECT).digest != first


# -- the readiness gate ----------------------------------------------------------


class Folder:
    """Packets of two runs, and where their verdicts belong."""

    def __init__(self, root: Path, *, axis: Any = "trajectory") -> None:
        self.packets = root / "packets"
        self.verdicts = verdicts_beside(self.packets)
        runs = [
            (case(f"case-{n}"), trace(f"trace-{n}", answer=f"{n}: sent on Monday"))
            for n in (1, 2)
        ]
        write_packets(
            suite=suite(), traces=runs, model="m-1", out=self.packets, axis=axis
        )

    def gaps(self, now: Suite | None = None) -> list[str]:
        return gaps(
            index=read_index(self.packets),
            packets=self.packets,
            verdicts=self.verdicts,
            suite=now or suite(),
            judging=ReplayJudge(self.verdicts, subject=SUBJECT, packets=self.packets),
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    for number in (1, 2):
        recorded(
            made.verdicts, f"trace-{number}", cites_order=verdict(), polite=verdict()
        )
    return made


def test_with_every_verdict_there_is_no_gap(folder: Folder) -> None:
    assert folder.gaps() == []


def test_a_missing_file_is_listed_with_its_path(folder: Folder) -> None:
    (folder.verdicts / "trace-2.verdict.json").unlink()
    (line,) = folder.gaps()
    entry = read_index(folder.packets).entries[1]
    path = folder.verdicts / Path(entry.verdict_file).name
    assert line == f"missing: {path} (for {entry.file})"


def test_a_file_that_is_there_and_holds_nothing_fit_is_not_called_missing(
    folder: Folder,
) -> None:
    entry = read_index(folder.packets).entries[1]
    path = folder.verdicts / Path(entry.verdict_file).name
    (folder.verdicts / "trace-2.verdict.json").unlink()
    path.write_text("```json\n{}\n```", "utf-8")
    (line,) = folder.gaps()
    assert line.startswith(f"unfit: {path} (for {entry.file}): ")


def test_an_incomplete_file_is_listed_with_its_criteria(folder: Folder) -> None:
    recorded(folder.verdicts, "trace-2", polite=verdict())
    (line,) = folder.gaps()
    assert "incomplete" in line and "missing a verdict on 'cites-order'" in line


def test_a_packet_that_was_changed_is_not_what_was_judged(folder: Folder) -> None:
    path = folder.packets / read_index(folder.packets).entries[0].file
    path.write_text(path.read_text("utf-8") + " ", "utf-8")
    (line,) = folder.gaps()
    assert "changed" in line and path.name in line
    path.unlink()
    assert "missing packet" in folder.gaps()[0]


def test_another_model_than_the_pinned_one_is_no_verdict(folder: Folder) -> None:
    recorded(
        folder.verdicts, "trace-2", model="m-2", cites_order=verdict(), polite=verdict()
    )
    (line,) = folder.gaps()
    assert "judged by m-2, but the packets pin m-1" in line


def test_a_judge_that_was_edited_or_added_since_needs_new_packets(
    folder: Folder,
) -> None:
    now = suite(judged(inputs=["output"]), HYBRID, judged("brand-new"))
    lines = folder.gaps(now)
    assert any("'cites-order' was edited" in line for line in lines)
    assert any("'brand-new' is newer" in line for line in lines)
    assert len(lines) == 2


def test_answers_to_tasks_fill_the_criterion_axis(tmp_path: Path) -> None:
    folder = Folder(tmp_path, axis="criterion")
    answer = json.dumps(
        {
            "critique": "because",
            "refs": [{"obs": "output", "path": "", "value": "sent on Monday"}],
            "assumptions": [],
            "result": "pass",
            "confidence": 0.9,
            "blockedBy": None,
        }
    )
    assert len(folder.gaps()) == 4
    for entry in read_index(folder.packets).entries:
        (folder.packets / entry.verdict_file).write_text(answer, "utf-8")
    assert folder.gaps() == []
    judge = ReplayJudge(folder.verdicts, subject=SUBJECT, packets=folder.packets)
    run = trace("trace-2", answer="2: sent on Monday")
    judgement = judge.judge(judged(), case("case-2"), run, 0)
    assert judgement is not None and judgement.verdict.result == "pass"


# -- verdicts are bound to the packet that they judged ----------------------------


def write_again(folder: Folder, *answers: str) -> tuple[str, ...]:
    """Prepare the runs again, with other answers; return the files it warns of."""
    runs = [
        (case(f"case-{n}"), trace(f"trace-{n}", answer=answer))
        for n, answer in enumerate(answers, 1)
    ]
    report = write_packets(suite=suite(), traces=runs, model="m-1", out=folder.packets)
    return report.outdated


SAME = "1: sent on Monday"
OTHER = "2: sent on Monday, or so"


@pytest.mark.parametrize("layout", ["array", "other names"])
def test_a_verdict_on_an_earlier_packet_counts_no_more_whatever_its_file(
    folder: Folder, layout: str
) -> None:
    files = sorted(folder.verdicts.iterdir())
    if layout == "array":
        whole = [json.loads(file.read_text("utf-8")) for file in files]
        for file in files:
            file.unlink()
        put(folder.verdicts, "all.json", whole)
    assert folder.gaps() == []
    named = "all.json" if layout == "array" else "trace-2.verdict.json"
    assert write_again(folder, SAME, OTHER) == (named,)
    (line,) = folder.gaps()
    assert line.startswith("missing: ")
    judge = ReplayJudge(folder.verdicts, subject=SUBJECT, packets=folder.packets)
    assert judge.has("trace-1", "cites-order")
    assert not judge.has("trace-2", "cites-order")
    assert any("earlier packet" in problem for problem in judge.problems)
    # Neither another call nor another name of the file brings it back.
    assert write_again(folder, SAME, OTHER) == (named,)
    (folder.verdicts / named).rename(folder.verdicts / "renamed.json")
    assert len(folder.gaps()) == 1
    # A new verdict does, beside the old one.
    new = Verdict(result="fail", critique="anew", confidence=1, refs=(GOOD,))
    recorded(folder.verdicts, "trace-2", cites_order=new, polite=new)
    assert folder.gaps() == []
    judge = ReplayJudge(folder.verdicts, subject=SUBJECT, packets=folder.packets)
    judgement = judge.judge(judged(), case("case-2"), trace("trace-2", answer=OTHER), 0)
    assert judgement is not None and judgement.verdict.result == "fail"


def test_a_run_that_was_left_out_in_between_is_judged_again(folder: Folder) -> None:
    assert write_again(folder, SAME) == ()
    assert write_again(folder, SAME, OTHER) == ("trace-2.verdict.json",)
    assert len(folder.gaps()) == 1


def test_the_same_packets_again_leave_every_verdict_standing(folder: Folder) -> None:
    assert write_again(folder, SAME, "2: sent on Monday") == ()
    assert folder.gaps() == []


@pytest.mark.parametrize("name", ["traces.jsonl", "cases.jsonl"])
@pytest.mark.parametrize("damage", ["edited", "torn", "a line gone", "gone"])
def test_a_run_or_case_that_was_changed_after_prep_is_refused_by_name(
    folder: Folder, name: str, damage: str
) -> None:
    path = folder.packets / name
    lines = path.read_text("utf-8").splitlines(keepends=True)
    if damage == "edited":
        path.write_text("".join(lines).replace("4711", "4712"), "utf-8")
    elif damage == "torn":
        path.write_text("".join(lines)[:-20], "utf-8")
    elif damage == "a line gone":
        path.write_text(lines[0], "utf-8")
    else:
        path.unlink()
    (line,) = folder.gaps()
    assert name in line and ("changed" in line or "missing" in line)


@pytest.mark.parametrize("model", [None, ""])
def test_verdicts_of_no_model_are_not_rolled_up(
    folder: Folder, model: str | None
) -> None:
    for file in folder.verdicts.iterdir():
        data = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({**data, "judgeModel": model}), "utf-8")
    lines = folder.gaps()
    assert len(lines) == 2
    assert all("no model" in line and "pin m-1" in line for line in lines)
    judge = ReplayJudge(folder.verdicts, subject=SUBJECT)
    assert judge.pin is None
    (note,) = judge.notes
    assert "the pin is null" in note and "no model" in note
