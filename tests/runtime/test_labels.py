"""What people labelled: read with every fault, added to, imported and exported."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.canonical import dump_line
from helix_runtime.commands import labels as command
from helix_runtime.folder import SuiteFolder
from helix_runtime.labels.file import (
    Label,
    add_labels,
    label_of,
    read_labels,
    summarize,
    write_labels,
)
from helix_runtime.labels.sources import Naming, import_labels, kind_of, word_of
from helix_runtime.refusal import Refusal
from helix_runtime.unitf import trace_to_record
from hypothesis import given
from hypothesis import strategies as st
from support.runs import case, trace
from support.suite_folder import make_suite_folder, parsed, write_traces
from support.trace_samples import langfuse_trace, write

NAMING = Naming(criteria={"polite", "true"}, given={"Courtesy": "polite"})


def label(
    trace: str = "t-1",
    criterion: str = "polite",
    word: Any = "pass",
    *,
    note: str | None = None,
    annotator: str | None = None,
) -> Label:
    return Label(
        trace_id=trace,
        criterion_id=criterion,
        label=word,
        note=note,
        annotator=annotator,
    )


# -- the file --------------------------------------------------------------------------


def test_a_label_that_says_two_things_is_none(tmp_path: Path) -> None:
    line = '{"traceId": "t", "criterionId": "polite", "label": "fail", "label": "pass"}'
    found = read_labels(write(tmp_path / "labels.jsonl", line))
    assert found.labels == ()
    assert found.problems == (
        "labels.jsonl:1: the key 'label' stands twice in one object",
    )


def test_every_fault_is_told_at_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    good = {"traceId": "t", "criterionId": "polite", "label": "defer", "note": "?"}
    path = write(
        tmp_path / "labels.jsonl",
        "\n".join(
            [
                json.dumps(good),
                "",
                "{torn",
                json.dumps({"traceID": "t", "criterionId": "", "label": "passs"}),
                json.dumps([1]),
                json.dumps({**good, "note": 3, "annotator": ["a"]}),
            ]
        ),
    )
    found = read_labels(path)
    assert found.labels == (label("t", "polite", "defer", note="?"),)
    told = "\n".join(found.problems)
    assert "labels.jsonl:3: " in told
    assert "labels.jsonl:4: `traceID` is no field" in told
    assert "(did you mean 'traceId'?)" in told
    assert "labels.jsonl:4: `criterionId` must be a text that is not empty" in told
    assert "labels.jsonl:4: `label` must be one of pass, fail, defer" in told
    assert "(did you mean 'pass'?)" in told
    assert "labels.jsonl:5: a label is a JSON object" in told
    assert "labels.jsonl:6: `note` must be a text" in told
    assert "labels.jsonl:6: `annotator` must be a text" in told


def test_a_missing_file_has_no_labels(tmp_path: Path) -> None:
    assert read_labels(tmp_path / "labels.jsonl").labels == ()


TEXTS = st.text(min_size=1, max_size=8).filter(lambda t: t.strip())
LABELS = st.builds(
    label,
    TEXTS,
    TEXTS,
    st.sampled_from(["pass", "fail", "defer", "underdetermined"]),
    note=st.none() | TEXTS,
    annotator=st.none() | TEXTS,
)


@given(found=st.lists(LABELS, max_size=6))
def test_what_is_written_reads_back(
    found: list[Label], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    write_labels(path, found)
    assert read_labels(path).labels == tuple(found)
    assert not read_labels(path).problems


@given(
    data=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_data_makes_the_reader_raise(data: Any) -> None:
    one, faults = label_of(data)
    assert (one is None) == bool(faults)
    word_of(data)


def test_adding_keeps_what_stands_and_says_what_was_new(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    first = [label(annotator="ada"), label(annotator="bob")]
    done = add_labels(path, first)
    assert (done.added, done.duplicates, done.changed) == (2, 0, 0)
    before = path.read_bytes()
    again = add_labels(path, [*first, label(word="fail", annotator="bob")])
    assert (again.added, again.duplicates, again.changed) == (0, 2, 1)
    assert path.read_bytes().startswith(before)


def test_a_torn_last_line_does_not_swallow_a_new_label(tmp_path: Path) -> None:
    path = write(tmp_path / "labels.jsonl", '{"traceId": "t-0", "crit')
    add_labels(path, [label()])
    found = read_labels(path)
    assert found.labels == (label(),)
    assert len(found.problems) == 1


def test_repeats_changes_and_disagreements_are_told_apart() -> None:
    total = summarize(
        [
            label(annotator="ada"),
            label(annotator="ada"),
            label(annotator="bob", word="fail"),
            label("t-2", annotator="ada", word="fail"),
            label("t-2", annotator="ada", word="pass"),
            label("t-3", "true", "underdetermined"),
        ]
    )
    assert (total.duplicates, total.changed) == (1, 1)
    assert len(total.current) == 4
    (one,) = total.disagreements
    assert str(one) == "t-1 × polite: ada: pass, bob: fail"
    assert total.counts["polite"]["pass"] == 2
    assert total.counts["true"]["underdetermined"] == 1


# -- tables ----------------------------------------------------------------------------


def table(tmp_path: Path, text: str, naming: Naming = NAMING) -> Any:
    return import_labels(write(tmp_path / "l.csv", text), "csv", naming)


def test_a_table_has_a_row_for_each_label(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        "\ufeffTrace ID;Criterion;Verdict;Comment;Reviewer\n"
        't-1;polite;Yes;"two\nlines";ada\n'
        "t-2;Courtesy;0;;\n"
        ";;;;\n",
    )
    assert found.problems == []
    assert found.labels == [
        label(note="two\nlines", annotator="ada"),
        label("t-2", word="fail"),
    ]


def test_a_table_may_have_a_column_for_each_criterion(tmp_path: Path) -> None:
    naming = Naming(criteria={"polite", "true"}, annotator="ada")
    found = table(tmp_path, "id,polite,true,age\nt-1,pass,,7\nt-2,unsure,f,8\n", naming)
    assert found.labels == [
        label(annotator="ada"),
        label("t-2", word="underdetermined", annotator="ada"),
        label("t-2", "true", "fail", annotator="ada"),
    ]
    assert found.left_out == {
        "column 'age', which is no criterion (--map maps it)": 1,
        "cells without a label": 1,
    }


def test_a_misspelt_column_of_a_table_is_named(tmp_path: Path) -> None:
    naming = Naming(criteria={"polite", "true"}, annotator="ada")
    found = table(tmp_path, "id,polit,true,note\nt-1,fail,pass,x\n", naming)
    (why,) = found.left_out
    assert "'polit'" in why and "did you mean 'polite'?" in why
    # In a table with a row for each label other columns can hold none.
    found = table(tmp_path, "id,criterion,label,age\nt-1,polite,fail,7\n", naming)
    assert found.left_out == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "an empty table"),
        ("who,polite\nx,pass\n", "l.csv:1: no column says the trace (who, polite)"),
        ("id,criterion\nx,polite\n", "l.csv:1: no column says the label"),
        ("id,colour\nx,red\n", "l.csv:1: no column says the criterion"),
        (
            "id,criterion,label\nx,polit,pass\n",
            "l.csv:2: 'polit' is no criterion of the suite (did you mean 'polite'?)",
        ),
        (
            "id,criterion,label\nx,polite,maybe so\n",
            "l.csv:2: 'maybe so' is no label: it must be one of pass, fail",
        ),
        ("id,criterion,label\n,polite,pass\n", "l.csv:2: the row names no trace"),
    ],
)
def test_the_faults_of_a_table_are_told_at_their_line(
    text: str, told: str, tmp_path: Path
) -> None:
    found = table(tmp_path, text)
    assert found.labels == []
    assert any(told in problem for problem in found.problems)


@given(found=st.lists(LABELS, max_size=5))
def test_what_is_exported_as_a_table_is_imported_again(
    found: list[Label], tmp_path_factory: pytest.TempPathFactory
) -> None:
    from helix_runtime.labels.sources import write_csv

    found = [
        label(
            f"t-{n}",
            "polite",
            one.label,
            note=(one.note or "").replace("\r", "").replace("\0", "") or None,
        )
        for n, one in enumerate(found)
    ]
    path = tmp_path_factory.mktemp("csv") / "l.csv"
    write_csv(path, found)
    assert import_labels(path, "csv", NAMING).labels == found


def test_no_cell_of_an_exported_table_is_a_formula(tmp_path: Path) -> None:
    from helix_runtime.labels.sources import write_csv

    path = tmp_path / "l.csv"
    write_csv(path, [label(note='=HYPERLINK("http://x")', annotator="@sum")])
    cells = path.read_text("utf-8").splitlines()[1].split(",")
    assert not any(cell.strip('"').startswith(("=", "@", "+")) for cell in cells)


# -- Langfuse --------------------------------------------------------------------------


def score(name: str, value: Any, source: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "source": source, "traceId": "t-1", **more}


SCORES = [
    score("polite", 1, "ANNOTATION", comment="kind", authorUserId="ada"),
    score("Courtesy", None, "ANNOTATION", stringValue="fail", traceId="t-2"),
    score("true", 1, "EVAL"),
    score("true", 0, "API"),
    score("toxicity", 0.3, "ANNOTATION"),
]


def test_only_what_people_annotated_is_a_label(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", json.dumps({"data": SCORES}, indent=1))
    assert kind_of(path) == "langfuse"
    found = import_labels(path, "langfuse", NAMING)
    assert found.problems == []
    assert found.labels == [
        label(note="kind", annotator="ada"),
        label("t-2", word="fail"),
    ]
    assert sum(found.left_out.values()) == 3


def test_who_vouches_for_a_programs_scores_is_who_labelled(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SCORES)
    naming = Naming(criteria={"true"}, annotator="the shop")
    found = import_labels(path, "langfuse", naming)
    assert found.labels == [label(criterion="true", word="fail", annotator="the shop")]


def test_the_scores_of_a_trace_are_labels_of_it(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", json.dumps(langfuse_trace(), indent=1))
    naming = Naming(criteria={"polite"}, given={"right": "polite"})
    found = import_labels(path, "langfuse", naming)
    assert found.labels == [label("lf-1", note="yes")]


def test_a_grade_is_neither_a_pass_nor_a_fail(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [score("polite", 0.7, "ANNOTATION")])
    found = import_labels(path, "langfuse", NAMING)
    assert found.labels == []
    assert "0.7" in found.problems[0]


# -- the command -----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return make_suite_folder(tmp_path / "suite", cases=[case()])


def first_criterion(folder: SuiteFolder) -> str:
    return folder.load_suite().criteria[0].id


def test_labels_come_in_and_go_out(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = first_criterion(folder)
    path = write(tmp_path / "l.csv", f"trace,{name}\nt-1,pass\nt-2,fail\n")
    assert command.execute(parsed("labels", "import", path), folder) == 0
    assert "2 labels added" in capsys.readouterr().out
    assert command.execute(parsed("labels", "import", path), folder) == 0
    assert "2 were there already" in capsys.readouterr().out
    out = tmp_path / "out.csv"
    assert command.execute(parsed("labels", "export", out), folder) == 0
    assert out.read_text("utf-8").splitlines()[1] == f"t-1,{name},pass,,,,"
    capsys.readouterr()
    assert command.execute(parsed("labels", "--json"), folder) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["labels"] == 2 and shown["criteria"][name]["fail"] == 1


def test_the_suites_labels_are_named_as_they_would_be_typed(
    folder: SuiteFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder.root)
    for words in (("labels",), ("labels", "splits")):
        assert command.execute(parsed(*words), folder) == 0
        said = capsys.readouterr().out
        assert said.startswith("no labels in labels.jsonl\n")
        # It shows what a label looks like: one that the reader of labels takes.
        shown = said[said.index("{") : said.index("}") + 1]
        assert label_of(json.loads(shown))[1] == []


def journal(path: Path, *names: str) -> None:
    """Write the traces of a run as a run writes them."""
    lines = [dump_line(trace_to_record(trace(name))) for name in names]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def test_labels_on_runs_that_are_not_at_hand_are_told_all_at_once_and_taken(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = first_criterion(folder)
    run = folder.runs / "one"
    run.mkdir(parents=True)
    journal(run / "traces.jsonl", "desk-refund-r0", "other-9")
    packets = folder.root / "matrix" / "packets"
    packets.mkdir(parents=True)
    journal(packets / "traces.jsonl", "of-a-host")
    brought = write_traces(tmp_path / "more.jsonl", [trace("brought")])
    rows = "desk-refund-r0 desk-refnd-r0 of-a-host other-9 brought nobody".split()
    table = "".join(f"{row},pass\n" for row in rows)
    path = write(tmp_path / "l.csv", f"trace,{name}\n{table}")
    assert command.execute(parsed("labels", "import", path), folder) == 0
    done = capsys.readouterr()
    assert "6 labels added" in done.out
    assert [line for line in done.err.splitlines() if "trace id '" in line] == [
        "warning: no run at hand has the trace id 'brought'",
        "warning: no run at hand has the trace id 'desk-refnd-r0' "
        "(did you mean 'desk-refund-r0'?)",
        "warning: no run at hand has the trace id 'nobody'",
    ]
    words = ("labels", "import", path, "--traces", brought, "--json")
    assert command.execute(parsed(*words), folder) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["unknownRuns"] == ["desk-refnd-r0", "nobody"]


def test_labels_on_runs_at_hand_say_no_word(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder.runs / "one"
    run.mkdir(parents=True)
    journal(run / "traces.jsonl", "a", "b")
    path = write(tmp_path / "l.csv", f"trace,{first_criterion(folder)}\na,pass\n")
    assert command.execute(parsed("labels", "import", path), folder) == 0
    assert capsys.readouterr().err == ""


def test_with_a_fault_nothing_is_imported(
    folder: SuiteFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = first_criterion(folder)
    path = write(tmp_path / "l.csv", f"trace,{name}\nt-1,pass\nt-2,perhaps\n")
    assert command.execute(parsed("labels", "import", path), folder) == 2
    assert "l.csv:3: 'perhaps' is no label" in capsys.readouterr().err
    assert not (folder.root / "labels.jsonl").exists()


def test_disagreements_are_listed_and_hostile_names_are_shown_safely(
    folder: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    name = first_criterion(folder)
    write_labels(
        folder.root / "labels.jsonl",
        [
            label("t\x1b[2J", name, "pass", annotator="ada"),
            label("t\x1b[2J", name, "fail", annotator="bob"),
        ],
    )
    assert command.execute(parsed("labels"), folder) == 0
    shown = capsys.readouterr().out
    assert "1 disagreement:" in shown and "ada: pass, bob: fail" in shown
    assert "\x1b" not in shown and "\\x1b" in shown


@pytest.mark.parametrize(
    "words",
    [
        ("labels", "import"),
        ("labels", "import", "nowhere.csv"),
        ("labels", "export"),
        ("labels", "export", "out.txt"),
        ("labels", "show", "x.jsonl"),
        ("labels", "import", "x.csv", "--map", "no-equals"),
    ],
)
def test_what_cannot_be_done_is_refused(
    words: tuple[str, ...], folder: SuiteFolder
) -> None:
    with pytest.raises(Refusal):
        command.execute(parsed(*words), folder)
