"""`sample`: what it writes is what was read, and it says why."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.commands import run, sample
from helix_runtime.folder import SuiteFolder
from helix_runtime.formats.unitf import read_traces
from helix_runtime.refusal import Refusal
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import ReadCount
from support.runs import case, trace
from support.suite_folder import make_suite_folder, parsed, write_traces
from support.trace_samples import EVERY, write

SUITE = """\
from helix_runtime.case import Case
from helix_runtime.criterion import Criterion, check
from helix_runtime.trace import Trace
from helix_runtime.verdict import Verdict, failed, passed, uncertain
from support.runs import suite


@check("exact", "The answer is even.")
def exact(case: Case, trace: Trace) -> Verdict:
    number = int(trace.answer or "0")
    if number % 5 == 0:
        return uncertain("nobody knows")
    return failed("it is odd") if number % 4 == 1 else passed("it is even")


SUITE = suite(Criterion(check=exact, severity="CRIT"))
"""


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return make_suite_folder(
        tmp_path / "suite",
        cases=[
            case("a", query="A?", category="orders", dimensions={"mood": "cross"}),
            case("b", query="B?", category="refunds", dimensions={"mood": "calm"}),
        ],
    )


def traces(number: int) -> list[Trace]:
    return [
        trace(
            f"t-{n}",
            answer=f"answer {n}",
            tags=("a",) if n % 3 else ("b",),
            ext={"metadata": {"plan": f"p{n % 4}", "user": {"id": n % 2}}},
        )
        for n in range(number)
    ]


def drawn(path: Path) -> list[Trace]:
    return list(read_traces(path, ReadCount()))


def test_what_is_drawn_is_what_was_read_and_why_is_said(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_traces(tmp_path / "t.jsonl", traces(30))
    out = tmp_path / "out.jsonl"
    args = parsed("sample", path, "--n", 4, "--seed", "x", "--out", out)
    assert sample.execute(args, folder) == 0
    shown = capsys.readouterr()
    found = drawn(out)
    read = {one.id: one for one in traces(30)}
    assert len(found) == 4 and all(one == read[one.id] for one in found)
    assert shown.out.splitlines() == [f"{one.id}: drawn at random" for one in found]
    assert shown.err.splitlines() == [
        "4 of 30 traces: random, seed x",
        f"written as UniTF: {out}",
    ]


def test_the_same_traces_in_other_files_and_another_order_give_the_same_bytes(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    every = traces(40)
    one = write_traces(tmp_path / "one.jsonl", every)
    first = write_traces(tmp_path / "first.jsonl", every[25:][::-1])
    second = write_traces(tmp_path / "second.jsonl", [*every[:25], *every[3:9]])
    for strategy in ("random", "stratified --by plan"):
        for number, files in enumerate(([one], [first, second], [second, first])):
            out = tmp_path / f"{number}.jsonl"
            words = ["--strategy", *strategy.split(), "--n", "7", "--out", out]
            assert sample.execute(parsed("sample", *files, *words), folder) == 0
        told = {(tmp_path / f"{n}.jsonl").read_bytes() for n in range(3)}
        assert len(told) == 1


def test_more_than_there_are_gives_all(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_traces(tmp_path / "t.jsonl", traces(3))
    out = tmp_path / "o.jsonl.gz"
    assert sample.execute(parsed("sample", path, "--out", out), folder) == 0
    assert sorted(t.id for t in drawn(out)) == ["t-0", "t-1", "t-2"]
    assert "3 of 3 traces" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("field", "strata"),
    [
        ("category", {"orders", "refunds"}),
        ("mood", {"cross", "calm"}),
        ("plan", {"p0", "p1", "p2", "p3"}),
        ("user.id", {"0", "1"}),
        ("tag", {"a", "b"}),
        ("tools", {"orders.find"}),
        ("status", {"ok"}),
    ],
)
def test_strata_are_of_the_case_the_trace_or_its_metadata(
    field: str,
    strata: set[str],
    folder: SuiteFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write_traces(tmp_path / "t.jsonl", traces(40))
    words = ["--strategy", "stratified", "--by", field, "--n", "4", "--json"]
    assert sample.execute(parsed("sample", path, *words), folder) == 0
    *chosen, total = map(json.loads, capsys.readouterr().out.splitlines())
    assert {one["why"] for one in chosen} == strata
    assert total["by"] == field and total["withoutStratum"] == 0
    assert total["chosen"] == 4 and total["traces"] == 40


def test_failures_without_a_run_are_what_the_traces_say(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = [trace("broken", status="error"), *traces(5)]
    path = write_traces(tmp_path / "t.jsonl", broken)
    args = parsed("sample", path, "--strategy", "failure")
    assert sample.execute(args, folder) == 0
    assert capsys.readouterr().out == "broken: the run ended in an error\n"


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_format_is_drawn_from(
    name: str, folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "recorded", EVERY[name][1])
    out = tmp_path / "out.jsonl"
    assert sample.execute(parsed("sample", path, "--out", out), folder) == 0
    (found,) = drawn(out)
    assert len(found.tool_calls) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "needs recorded traces: give files, or --run"),
        (["FILE", "--run", "r"], "give files, or --run"),
        (["nowhere.jsonl"], "there is no trace file nowhere.jsonl"),
        (["FILE", "--strategy", "uncertainty"], "give --run RUN"),
        (["FILE", "--strategy", "stratified"], "needs --by FIELD"),
        (["FILE", "--by", "category"], "no other takes it"),
        (["FILE", "--balance"], "--balance goes by what a run decided"),
        (["--run", "nope"], "no run 'nope'"),
        (["FILE", "--out", "FILE"], "that is a file that is read"),
        (["FILE", "--strategy", "stratified", "--by", "zzz"], "no trace has it"),
        (["FILE", "--strategy", "failure"], "none of them fails: nothing is chosen"),
        (["EMPTY"], "there is no trace to choose from"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    words: list[str], told: str, folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write_traces(tmp_path / "t.jsonl", traces(3))
    empty = write(tmp_path / "empty.jsonl", "\n")
    names = {"FILE": str(path), "EMPTY": str(empty)}
    words = [names.get(word, word) for word in words]
    if "--out" not in words:
        words += ["--out", str(tmp_path / "out.jsonl")]
    before = path.read_bytes()
    with pytest.raises(Refusal, match=told):
        sample.execute(parsed("sample", *words), folder)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.glob("*.jsonl*")) == [
        "empty.jsonl",
        "t.jsonl",
    ]


def test_hostile_traces_are_drawn_and_shown_safely(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = Trace(
        id="\x1b[2J\u202e",
        spans=(
            Span(
                id="\ud800", name="\x1b]0;x\x07", kind="tool", input={"\x00": "\ud800"}
            ),
            Span(id="a", name="a", kind="llm", output=float("nan")),
        ),
        ext={"metadata": {"plan": ["\x1b", {"x": None}]}},
    )
    path = write_traces(tmp_path / "t.jsonl", [strange])
    deep = '{"traceId":"deep","spans":[{"input":' + "[" * 900 + "]" * 900 + "}]}"
    with path.open("a", encoding="utf-8") as file:
        file.write(f'{deep}\n{{"traceId":"torn"\n[1]\n')
    out = tmp_path / "o.jsonl"
    words = ["--strategy", "stratified", "--by", "plan", "--out", out]
    assert sample.execute(parsed("sample", path, *words), folder) == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\u202e" not in shown.out
    assert "2 lines or records could not be read" in shown.err
    assert [one.id for one in drawn(out)] == [strange.id]


def test_secrets_of_the_environment_are_not_written(
    folder: SuiteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key-4711")
    path = write_traces(tmp_path / "t.jsonl", [trace(answer="sk-very-secret-key-4711")])
    out = tmp_path / "o.jsonl"
    assert sample.execute(parsed("sample", path, "--out", out), folder) == 0
    assert b"very-secret" not in out.read_bytes()


def test_a_file_that_changes_meanwhile_is_refused(
    folder: SuiteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_traces(tmp_path / "t.jsonl", traces(5))
    out = tmp_path / "o.jsonl"
    chosen = sample._choose

    def meddle(*args: Any) -> Any:
        found = chosen(*args)
        write_traces(path, traces(2))
        return found

    monkeypatch.setattr(sample, "_choose", meddle)
    with pytest.raises(Refusal, match="changed while they were read"):
        sample.execute(parsed("sample", path, "--out", out), folder)
    assert not out.exists() and not list(tmp_path.glob("*.part"))


# -- of a run --------------------------------------------------------------------------


def answered(number: int) -> Trace:
    return trace(f"t-{number}", answer=str(number))


@pytest.fixture
def judged(tmp_path: Path) -> SuiteFolder:
    """A suite with a run of 40 traces: 8 fail, 8 are undecided, the others pass."""
    folder = make_suite_folder(tmp_path / "s", cases=[case("a")])
    (folder.package_folder / "suite.py").write_text(SUITE, "utf-8")
    path = write_traces(tmp_path / "t.jsonl", map(answered, range(40)))
    out = folder.runs / "r"
    run.run_suite(parsed("run", "--traces", path, "--out", out, "-q"), folder)
    return folder


def sampled(
    folder: SuiteFolder, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    args = parsed("sample", "--run", "r", "--json", *words)
    assert sample.execute(args, folder) == 0
    *chosen, total = map(json.loads, capsys.readouterr().out.splitlines())
    return chosen, total


def number_of(one: dict[str, Any]) -> int:
    return int(one["traceId"].partition("-")[2])


def test_a_sample_of_a_run_is_half_failures_and_half_passes(
    judged: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen, total = sampled(judged, capsys, "--n", "12")
    fails = [one for one in chosen if one["why"].startswith("it fails: ")]
    passes = [one for one in chosen if one["why"].startswith("it passes: ")]
    assert (len(fails), len(passes)) == (6, 6)
    assert all(number_of(o) % 4 == 1 and number_of(o) % 5 for o in fails)
    assert total["outcomes"] == {"open": 8, "fail": 8, "pass": 24}
    plain, _ = sampled(judged, capsys, "--n", "12", "--no-balance")
    assert {one["why"] for one in plain} == {"drawn at random"}


def test_failures_and_doubts_of_a_run(
    judged: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen, _ = sampled(judged, capsys, "--strategy", "failure", "--n", "30")
    assert {one["why"] for one in chosen} == {"1 unit failed, worst CRIT"}
    assert sorted(map(number_of, chosen)) == [1, 9, 13, 17, 21, 29, 33, 37]
    chosen, _ = sampled(judged, capsys, "--strategy", "uncertainty", "--n", "30")
    assert sorted(map(number_of, chosen)) == list(range(0, 40, 5))
    words = ("--strategy", "stratified", "--by", "outcome", "--n", "9")
    chosen, _ = sampled(judged, capsys, *words, "--no-balance")
    assert sorted(one["why"] for one in chosen) == 3 * ["fail"] + 3 * ["open"] + 3 * [
        "pass"
    ]


def test_what_is_drawn_can_be_run_again(
    judged: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "failed.jsonl"
    sampled(judged, capsys, "--strategy", "failure", "--out", str(out))
    args = parsed(
        "run", "--traces", out, "--no-judge", "--out", tmp_path / "again", "-q"
    )
    result = run.run_suite(args, judged)
    (criterion,) = result.scorecard["criteria"]
    assert criterion["counts"]["fail"] == 8 and criterion["counts"]["pass"] == 0


def test_a_damaged_journal_of_a_run_is_told(
    judged: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    units = judged.runs / "r" / "units.jsonl"
    with units.open("ab") as file:
        file.write(b'{"key":"x"}\n{"torn')
    assert sample.execute(parsed("sample", "--run", "r"), judged) == 0
    assert "2 lines of units.jsonl could not be read" in capsys.readouterr().err
