"""`report`: shows any run again, also one that was cut short."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.canonical import dump_line
from helix_runtime.cli import main
from helix_runtime.journal import seal
from helix_runtime.trace import Span, Trace
from helix_runtime.unitf import trace_to_record

SUITE = """
from helix_runtime.criterion import Criterion, Judge, Scope, check
from helix_runtime.suite import Subject, Suite
from helix_runtime.verdict import failed, passed


@check("names-shelf", "The answer names the shelf.")
def names_shelf(case, trace):
    if "shelf" in (trace.answer or ""):
        return passed("It names the shelf.")
    return failed("It names no shelf.")


SUITE = Suite(
    subject=Subject(
        id="library", name="Library desk", version="1", kind="agent", purpose="Books."
    ),
    criteria=[
        Criterion(check=names_shelf),
        Criterion(
            judge=Judge("is-kind", "The answer is kind.", "It is.", "It is not."),
            severity="MED",
            applies_to=Scope(datasets=["books"]),
        ),
    ],
    engine="code-written",
    spec_sha256="0" * 64,
    generator="tests",
)
"""
TARGET = """
def target(case):
    print("thinking")
    return f"{case.query} It is on shelf 9."
"""

Command = Callable[..., int]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Path]:
    """A suite's folder; what importing it leaves behind is taken away again."""
    package = tmp_path / "library_evals"
    package.mkdir()
    files = {"__init__": "", "__main__": "", "suite": SUITE, "target": TARGET}
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    rows = [
        {
            "id": f"case-{n}",
            "query": f"Where is book {n}?",
            "tuple": {"d": "v"},
            "dataset": "books" if n < 4 else "maps",
        }
        for n in range(6)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "dataset.jsonl").write_text(text)
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("library_evals"):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def in_the_suite(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk)
    monkeypatch.setenv("CI", "1")


def command(desk: Path, *words: str) -> int:
    return main(str(desk / "library_evals" / "__main__.py"), words)


def cut_short(run: Path, *, units: int, torn: bool = True) -> None:
    """Leave a run as a kill would: so many units, a torn line, no scorecard."""
    for name in ("scorecard.json", "report.html"):
        (run / name).unlink()
    record = json.loads((run / "run.json").read_text())
    record["finished"] = False
    (run / "run.json").write_text(json.dumps(record))
    lines = (run / "units.jsonl").read_bytes().splitlines(keepends=True)
    data = b"".join(lines[:units]) + (lines[units][:40] if torn else b"")
    (run / "units.jsonl").write_bytes(data)


def test_it_shows_the_latest_run_again(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(desk, "run", "--no-judge", "--out", "runs/one") == 0
    run = desk / "runs" / "one"
    (run / "report.html").unlink()
    capsys.readouterr()
    assert command(desk, "report") == 0
    shown = capsys.readouterr().out
    assert "✓ GATE PASS" in shown
    assert "is-kind" in shown and "no judge was asked" in shown
    assert "report: runs/one/report.html" in shown
    page = (run / "report.html").read_text("utf-8")
    # A passing criterion shows its question too.
    assert "The answer names the shelf." in page
    assert "thinking" not in shown


def test_quiet_says_only_where_the_page_is(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    capsys.readouterr()
    assert command(desk, "report", "one", "-q") == 0
    assert capsys.readouterr().out == "report: runs/one/report.html\n"


def test_it_reports_a_failing_run_with_exit_0(desk: Path) -> None:
    target = desk / "library_evals" / "target.py"
    target.write_text("def target(case):\n    return 'No idea.'\n")
    assert command(desk, "run", "--no-judge", "--out", "runs/one") == 1
    assert command(desk, "report", "one") == 0


def test_a_run_that_was_cut_short_is_decided_from_its_journal(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    run = desk / "runs" / "one"
    cut_short(run, units=3)
    before = sorted(path.name for path in run.iterdir())
    capsys.readouterr()
    assert command(desk, "report", "one") == 0
    shown = capsys.readouterr().out
    assert "? GATE INCOMPLETE" in shown
    assert "the run was interrupted" in shown
    assert "Go on with the run: `run --resume`." in shown
    # The run itself is left as it is: only the page is new.
    after = sorted(path.name for path in run.iterdir())
    assert after == sorted({*before, "report.html"})


def test_an_old_scorecard_of_a_resumed_run_is_not_believed(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    run = desk / "runs" / "one"
    card = (run / "scorecard.json").read_bytes()
    cut_short(run, units=1)
    (run / "scorecard.json").write_bytes(card)
    capsys.readouterr()
    command(desk, "report", "one")
    assert "? GATE INCOMPLETE" in capsys.readouterr().out


def decided_anew(desk: Path, run: Path) -> dict[str, Any]:
    from helix_runtime.folder import SuiteFolder, read_run_record
    from helix_runtime.report.interrupted import decide_interrupted

    folder = SuiteFolder(root=desk, package="library_evals")
    record = read_run_record(run)
    assert record is not None
    return decide_interrupted(folder, run, record)


def test_a_whole_journal_gives_the_scorecard_that_the_run_would_have_given(
    desk: Path,
) -> None:
    command(desk, "run", "--no-judge", "--repeats", "2", "--out", "runs/one")
    run = desk / "runs" / "one"
    whole = json.loads((run / "scorecard.json").read_text("utf-8"))
    found = decided_anew(desk, run)
    assert found["run"].pop("notes") == [
        "the run was interrupted: 16 of 24 units are decided"
    ]
    for card in (whole, found):
        del card["digest"]
        # Why the judge is missing is all that the journal does not know.
        for entry in card["criteria"]:
            if entry["criterionId"] == "is-kind":
                del entry["critique"], entry["blockedBy"]
        del card["calibration"]
    assert found == whole


def test_recorded_traces_are_counted_as_far_as_they_were_read(desk: Path) -> None:
    lines = []
    for n, name in enumerate(["case-1", "case-1", "nobody"]):
        spans = (
            Span(id="q", name="user", kind="event", role="user", input=f"Hello {n}"),
            Span(id="a", name="assistant", kind="llm", output="It is on shelf 9."),
        )
        trace = Trace(id=f"t{n}", spans=spans, tags=(name,))
        lines.append(dump_line(trace_to_record(trace)))
    (desk / "traces.jsonl").write_text("\n".join(lines) + "\n")
    command(desk, "run", "--no-judge", "--traces", "traces.jsonl", "--out", "runs/one")
    run = desk / "runs" / "one"
    whole = json.loads((run / "scorecard.json").read_text("utf-8"))
    found = decided_anew(desk, run)
    counts = [entry["counts"] for entry in found["criteria"]]
    assert counts == [entry["counts"] for entry in whole["criteria"]]
    assert [entry["interval"] for entry in found["criteria"]] == [
        entry["interval"] for entry in whole["criteria"]
    ]


def test_an_edited_units_earlier_line_is_not_counted_twice(desk: Path) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    run = desk / "runs" / "one"
    first, *rest = (run / "units.jsonl").read_text("utf-8").splitlines()
    stale = json.loads(first) | {"key": "f" * 12, "result": "fail"}
    del stale["sum"]
    text = "\n".join([seal(dump_line(stale)), first, *rest]) + "\n"
    (run / "units.jsonl").write_text(text, "utf-8")
    assert decided_anew(desk, run)["criteria"][0]["counts"]["fail"] == 0


def test_a_run_of_another_selection_stays_within_it(desk: Path) -> None:
    words = ("--cases", "case-[01]", "--criteria", "names-*")
    command(desk, "run", "--no-judge", *words, "--out", "runs/one")
    found = decided_anew(desk, desk / "runs" / "one")
    assert [entry["criterionId"] for entry in found["criteria"]] == ["names-shelf"]
    assert found["criteria"][0]["counts"]["pass"] == 2


def test_a_finished_run_is_shown_although_the_suite_is_broken_now(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    for name in [name for name in sys.modules if name.startswith("library_evals")]:
        del sys.modules[name]
    (desk / "library_evals" / "suite.py").write_text("import nothing_of_that_name\n")
    capsys.readouterr()
    assert command(desk, "report", "one") == 0
    assert "✓ GATE PASS" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nowhere", "../x", "\x1b[31m"])
def test_a_run_that_is_not_there_is_said_in_one_line(
    desk: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert command(desk, "report", name) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: no run ") and "\x1b" not in said.err


def test_no_run_yet_says_how_to_start_one(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(desk, "report") == 2
    assert "start one with `run`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "not a scorecard of the schema"),
        ("garbage", "not JSON: expecting value (column 1)"),
        ("\xff", "not UTF-8: the byte 0xff"),
        ('{"schema": "helix-scorecard/1"}', "edited since it was written"),
    ],
)
def test_a_scorecard_that_is_none_is_refused_with_the_way_out(
    desk: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    card = desk / "runs" / "one" / "scorecard.json"
    whole = json.loads(card.read_text("utf-8"))
    card.write_bytes(text.encode("latin-1"))
    capsys.readouterr()
    assert command(desk, "report", "one") == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: runs/one/scorecard.json: {said}")
    assert "remove it" in told
    for key, value in (("criteria", 3), ("gate", []), ("usage", None), ("run", {})):
        card.write_text(json.dumps({**whole, key: value}), "utf-8")
        assert command(desk, "report", "one") in (0, 2), key
    assert "bug" not in capsys.readouterr().err
    card.unlink()
    assert command(desk, "report", "one") == 0


def test_a_run_whose_record_cannot_be_read_is_called_so(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    (desk / "runs" / "one" / "run.json").write_text("garbage")
    capsys.readouterr()
    for words in (("report", "one"), ("run", "--resume", "one")):
        assert command(desk, *words) == 2
        assert "one/run.json can't be read" in capsys.readouterr().err


@pytest.mark.parametrize("globs", [3, 0.5, True, "*", {"a": 1}, [None]])
def test_a_selection_that_somebody_edited_does_not_keep_a_run_from_being_shown(
    desk: Path, globs: object
) -> None:
    command(desk, "run", "--no-judge", "--out", "runs/one")
    path = desk / "runs" / "one" / "run.json"
    record = json.loads(path.read_text("utf-8"))
    record["selection"] = dict.fromkeys(record["selection"], globs)
    path.write_text(json.dumps(record), "utf-8")
    assert command(desk, "report", "one") == 0
    path.write_text(json.dumps({**record, "finished": False}), "utf-8")
    assert command(desk, "report", "one") in (0, 2)
