"""A label knows which run was labelled, and under which words of the criterion."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.canonical import dump_line
from helix_runtime.commands import derive
from helix_runtime.commands import labels as command
from helix_runtime.criterion import Criterion, Judge
from helix_runtime.folder import SuiteFolder
from helix_runtime.labels.file import (
    Label,
    add_labels,
    read_labels,
    summarize,
)
from helix_runtime.labels.marks import digest_of_trace, digest_of_words, sort_labels
from helix_runtime.record import replace
from helix_runtime.trace import Span
from helix_runtime.unitf import trace_to_record
from support.runs import case, trace
from support.suite_folder import make_suite_folder, parsed, write_traces
from support.trace_samples import write


def label(word: Any = "pass", **more: Any) -> Label:
    return Label(
        **{"trace_id": "t-r0", "criterion_id": "polite", "label": word, **more}
    )


def test_the_mark_of_a_run_is_of_what_a_judge_sees_alone() -> None:
    run = trace()
    later = replace(run, id="other", start="2031-01-01T00:00:00Z", latency_ms=9.0)
    assert digest_of_trace(later) == digest_of_trace(run)
    said = replace(run, spans=[*run.spans, Span(id="z", name="x", output="more")])
    assert digest_of_trace(said) != digest_of_trace(run)


def test_the_mark_of_the_words_is_of_what_is_asked_and_not_of_how_a_judge_is_tuned() -> (
    None
):
    def asked(statement: str, tuned: str) -> str:
        return digest_of_words(
            Criterion(judge=Judge("polite", statement, tuned, "No."))
        )

    assert asked("It is polite.", "a") == asked("It  is\npolite.", "b")
    assert asked("It is polite.", "a") != asked("It is kind.", "a")


# -- lines -----------------------------------------------------------------------------


def test_labels_on_two_runs_under_one_id_both_stand_and_are_no_disagreement() -> None:
    found = summarize(
        [label("fail", trace_digest="1"), label("pass", trace_digest="2")]
    )
    assert [one.label for one in found.current] == ["fail", "pass"]
    assert (found.changed, found.duplicates, found.disagreements) == (0, 0, ())
    ada = label("fail", trace_digest="1", annotator="ada")
    bob = label("pass", trace_digest="1", annotator="bob")
    assert len(summarize([ada, bob]).disagreements) == 1


def test_a_line_by_hand_replaces_all_and_loses_no_mark_where_it_says_the_same() -> None:
    two = [label("fail", trace_digest="1"), label("pass", trace_digest="2")]
    assert summarize([*two, label("defer")]).current == (label("defer"),)
    one = label("fail", trace_digest="1", criterion_digest="w")
    same = summarize([one, label("fail")])
    assert same.current == (one,) and same.duplicates == 1


def test_marks_are_added_as_lines_and_once(tmp_path: Path) -> None:
    path = write(tmp_path / "labels.jsonl", "")
    add_labels(path, [label("fail", note="rude")])
    before = path.read_bytes()
    one = label("fail", note="rude", trace_digest="1", criterion_digest="w")
    done = add_labels(path, [one])
    assert (done.added, done.changed, done.marked) == (0, 0, 1)
    assert path.read_bytes().startswith(before)
    assert summarize(read_labels(path).labels).current == (one,)
    again = add_labels(path, [one, label("fail", note="rude")])
    assert (again.marked, again.duplicates) == (0, 2)


def test_which_labels_count() -> None:
    of_it = label(trace_digest="1", criterion_digest="w")
    other = label(trace_digest="2", criterion_digest="w")
    old = label(trace_digest="1", criterion_digest="v")
    bare = label()
    away = label(trace_id="away", trace_digest="2")
    found = sort_labels(
        [of_it, other, old, bare, away],
        contents={"t-r0": {"1"}},
        words={"polite": "w"},
    )
    assert found.counting == (of_it, bare, away)
    assert found.other_run == (other,) and found.other_words == (old,)
    assert found.unmarked == (bare,)
    told = "\n".join(found.lines())
    assert "1 label is left out: the runs at hand under their ids" in told
    assert "'polite' was reworded" in told and "1 label has no word" in told


# -- commands ----------------------------------------------------------------------------

OLD = trace("case-1-r0")
NEW = replace(OLD, spans=[*OLD.spans, Span(id="z", name="x", output="other")])


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    found = make_suite_folder(tmp_path / "desk", criteria="HYBRID", cases=[case()])
    run_of(found, "one", OLD)
    return found


def run_of(folder: SuiteFolder, name: str, *traces: Any) -> Path:
    (folder.runs / name).mkdir(parents=True)
    write(folder.runs / name / "run.json", "{}")
    lines = [dump_line(trace_to_record(one)) + "\n" for one in traces]
    return write(folder.runs / name / "traces.jsonl", "".join(lines))


def kept(folder: SuiteFolder) -> list[dict[str, Any]]:
    lines = (folder.root / "labels.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def imported(folder: SuiteFolder, path: Path, *words: str) -> None:
    assert command.execute(parsed("labels", "import", path, *words), folder) == 0


def test_an_import_marks_labels_on_runs_at_hand_and_no_others(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "l.csv", "trace,polite\ncase-1-r0,fail\nfar-away,pass\n")
    imported(folder, path)
    near, far = kept(folder)
    assert near["traceDigest"] == digest_of_trace(OLD)
    words = digest_of_words(folder.load_suite().criteria[0])
    assert near["criterionDigest"] == words
    assert set(far) == {"traceId", "criterionId", "label"}


def test_a_table_that_is_imported_again_is_not_taken_for_one_of_the_new_run(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    path = write(tmp_path / "l.csv", "trace,polite\ncase-1-r0,fail\n")
    imported(folder, path)
    (folder.runs / "one" / "traces.jsonl").unlink()
    run_of(folder, "two", NEW)
    imported(folder, path)
    assert len(kept(folder)) == 1
    # The person names the run that she looked at.
    imported(folder, path, "--run", "two")
    assert kept(folder)[1]["traceDigest"] == digest_of_trace(NEW)


def test_where_several_runs_bear_an_id_the_label_gets_a_mark_by_the_run_that_is_named(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_of(folder, "two", NEW)
    path = write(tmp_path / "l.csv", "trace,polite\ncase-1-r0,fail\n")
    imported(folder, path)
    assert "several runs bear one id and differ" in capsys.readouterr().err
    assert "traceDigest" not in kept(folder)[0]
    own = folder.root / "labels.jsonl"
    imported(folder, own, "--run", "one")
    assert "1 of them says again what stood" in capsys.readouterr().out
    assert kept(folder)[1]["traceDigest"] == digest_of_trace(OLD)


def test_labels_hold_for_new_words_where_somebody_says_so(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    path = folder.root / "labels.jsonl"
    old = label(
        trace_id="case-1-r0",
        trace_digest=digest_of_trace(OLD),
        criterion_digest="of-before",
    )
    add_labels(path, [old])
    imported(folder, path)
    assert len(kept(folder)) == 1
    imported(folder, path, "--again")
    words = digest_of_words(folder.load_suite().criteria[0])
    assert kept(folder)[1]["criterionDigest"] == words
    current = summarize(read_labels(path).labels).current
    assert [one.criterion_digest for one in current] == [words]


def test_marks_go_out_and_in_with_a_table(folder: SuiteFolder, tmp_path: Path) -> None:
    path = write(tmp_path / "l.csv", "trace,polite\ncase-1-r0,fail\n")
    imported(folder, path)
    out = tmp_path / "out.csv"
    assert command.execute(parsed("labels", "export", out), folder) == 0
    before = kept(folder)
    (folder.root / "labels.jsonl").unlink()
    (folder.runs / "one" / "traces.jsonl").unlink()
    imported(folder, out)
    assert kept(folder) == before


def test_no_case_is_derived_of_what_people_said_of_another_run(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on_old = label("fail", trace_id="t-1", trace_digest=digest_of_trace(OLD))
    add_labels(folder.root / "labels.jsonl", [on_old])
    told = {}
    for name, run in (("old", OLD), ("new", NEW)):
        file = write_traces(tmp_path / f"{name}.jsonl", [replace(run, id="t-1")])
        words = ("derive", file, "--dry-run", "--json", "--why", "labelled")
        assert derive.execute(parsed(*words), folder) == 0
        shown = capsys.readouterr()
        told[name] = (json.loads(shown.out)["chosen"], shown.err)
    assert told["old"] == (1, "")
    assert told["new"][0] == 0 and "1 label is left out" in told["new"][1]
