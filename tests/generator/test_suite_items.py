"""Items come from the file a dataset names, never from elsewhere, and never guessed."""

import csv
import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from helix_gen.problems import Problem
from support.suite_cards import card, card_v02, dataset, resolved, scenario, suite_of

ROWS = [
    {
        "id": "r1",
        "category": "calls",
        "scenarioRef": "busy",
        "case": {"mood": "calm"},
        "input": {"prompt": "Is anyone there?"},
        "expected": {"response": "A greeting."},
    },
    {"id": "r2", "query": "Hello?", "scenario": "quiet"},
]


def spec(reference: str | None = "rows.json", **more: Any) -> dict[str, Any]:
    about: dict[str, Any] = {
        "categories": [{"id": "calls", "description": "Calls at the desk."}],
        "caseDimensions": {
            "mood": {"description": "Mood.", "values": ["calm", "angry", "3"]}
        },
        **more,
    }
    if reference is not None:
        about["itemsRef"] = reference
    return card(
        scenarios=[scenario("busy"), scenario("quiet")],
        datasets=[dataset("d", **about)],
    )


def write(folder: Path, name: str, rows: Any = ROWS) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def items(suite: Any) -> list[Any]:
    return [case for case in suite.cases if not case.placeholder]


def only(problems: list[Problem]) -> Problem:
    (problem,) = problems
    return problem


def test_two_rows_of_one_id_are_told(tmp_path: Path) -> None:
    once, other = {"id": "r1", "query": "Hello?"}, {"id": "r1", "query": "Bye."}
    write(tmp_path, "rows.json", [once, once, {"id": "r2", "query": "Hm."}, other])
    result = resolved(spec(), folder=tmp_path)
    problem = only([p for p in result.problems if p.code == "HX201"])
    assert problem.level == "warning"
    assert problem.message == "rows that differ have one id: `r1`"
    assert (problem.file, problem.position.line) == ("rows.json", 1)
    # Nothing is merged: the row that stands twice is one case, the other one is its own.
    assert [case.query for case in items(suite_of(spec(), folder=tmp_path))] == [
        "Hello?",
        "Hm.",
        "Bye.",
    ]


# -- our own rows ----------------------------------------------------------------------


def test_rows_of_our_own_shape_are_read_as_inline_items_are(tmp_path: Path) -> None:
    write(tmp_path, "rows.json")
    suite = suite_of(spec(), folder=tmp_path)
    first, second = items(suite)
    assert first.query == "Is anyone there?"
    assert (first.item, first.category, first.scenario) == ("r1", "calls", "busy")
    assert first.dataset == "d"
    assert first.expected_behavior == "Does right in busy."
    assert first.dimensions == {"scenario": "busy", "category": "calls", "mood": "calm"}
    assert first.expected == {"response": "A greeting."}
    assert (second.query, second.scenario) == ("Hello?", "quiet")

    inline = spec(None, items=[ROWS[0]])
    assert items(suite_of(inline))[0] == first


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.jsonl", '{"id": "x", "query": "Hi"}\n'),
        ("rows.csv", "id,query\nx,Hi\n"),
        ("rows.yaml", "- {id: x, query: Hi}\n"),
        ("sub/rows.JSON", '[{"id": "x", "query": "Hi"}]'),
    ],
)
def test_every_format_gives_the_same_case(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = resolved(spec(name), folder=tmp_path)
    assert result.suite is not None and not result.problems
    (case,) = items(result.suite)
    assert (case.query, case.item, case.dimensions) == ("Hi", "x", {"dataset": "d"})
    assert result.item_files == (("d", name),)


def test_inline_items_and_those_of_the_file_stand_together(tmp_path: Path) -> None:
    write(tmp_path, "rows.json")
    inline = {"id": "i1", "scenarioRef": "busy", "input": "Ring."}
    suite = suite_of(spec(items=[inline]), folder=tmp_path)
    assert [case.item for case in items(suite)] == ["i1", "r1", "r2"]


def test_a_scenario_outside_of_all_datasets_is_covered_by_a_row(tmp_path: Path) -> None:
    write(tmp_path, "rows.json")
    suite = suite_of(spec(), folder=tmp_path)
    assert [c.scenario for c in suite.cases if c.dataset is None] == []
    write(tmp_path, "rows.json", ROWS[:1])
    suite = suite_of(spec(), folder=tmp_path)
    assert [c.scenario for c in suite.cases if c.dataset is None] == ["quiet"]


# -- where items may come from ---------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("hf://datasets/x/y (train split: {a,b}.jsonl)", "a URL"),
        ("https://x.example/rows.json", "a URL"),
        ("C:\\rows.json", "a URL or a drive"),
        ("datasets/*/rows.yaml", "not the name of one file"),
        ("rows{a,b}.json", "not the name of one file"),
        ("x\u0000.json", "not the name of one file"),
        ("y" * 300 + ".json", "not the name of one file"),
        ("../rows.json", "leads out of the spec's folder"),
        ("/etc/hostname", "leads out of the spec's folder"),
        ("sub/../../rows.json", "leads out of the spec's folder"),
        ("sub", "a folder"),
        ("none.json", "no such file"),
        ("rows.json/x", "no such file"),
        ("words.txt", "none of .csv, .json"),
        ("All of the rows that we have", "no such file"),
        (".", "a folder"),
    ],
)
def test_any_other_reference_is_a_warning_that_says_how_to_supply_the_rows(
    tmp_path: Path, reference: str, why: str
) -> None:
    folder = tmp_path / "spec"
    (folder / "sub").mkdir(parents=True)
    write(tmp_path, "rows.json")
    write(folder, "rows.json")
    (folder / "words.txt").write_text("a\n")
    result = resolved(spec(reference), folder=folder)
    assert result.suite is not None
    problem = only(result.problems)
    assert (problem.code, problem.level) == ("HX501", "warning")
    assert why in problem.message
    assert "--items d=FILE" in problem.hint
    assert problem.excerpt.strip().startswith('"itemsRef"')
    assert not items(result.suite)


@pytest.mark.parametrize("through", ["link.json", "folder/rows.json"])
def test_a_link_out_of_the_spec_s_folder_is_not_followed(
    tmp_path: Path, through: str
) -> None:
    folder = tmp_path / "spec"
    folder.mkdir()
    secret = write(tmp_path / "out", "rows.json")
    (folder / "link.json").symlink_to(secret)
    (folder / "folder").symlink_to(secret.parent)
    result = resolved(spec(through), folder=folder)
    assert "leads out" in only(result.problems).message
    assert result.suite is not None and not items(result.suite)


def test_a_link_within_the_spec_s_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(write(tmp_path, "rows.json"))
    assert len(items(suite_of(spec("link.json"), folder=tmp_path))) == 2


def test_a_circle_of_links_and_a_pipe_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "b.json")
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("a.json", "pipe.json"):
        result = resolved(spec(name), folder=tmp_path)
        assert only(result.problems).code == "HX501"


def test_a_spec_from_standard_input_reads_no_files() -> None:
    problem = only(resolved(spec(), folder=None).problems)
    assert "standard input" in problem.message


def test_a_file_the_user_names_may_lie_anywhere(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere", "rows.json")
    result = resolved(spec("hf://x"), folder=tmp_path / "spec", items={"d": path})
    assert not result.problems
    assert result.suite is not None and len(items(result.suite)) == 2
    assert result.item_files == (("d", None),)


def test_what_the_user_names_and_can_t_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("x")
    result = resolved(spec(), folder=tmp_path, items={"d": path})
    assert result.suite is None
    assert (only(result.problems).level, only(result.problems).file) == (
        "error",
        str(path),
    )


def test_a_dataset_that_is_not_there_is_an_error_with_those_that_are(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, "rows.json")
    result = resolved(spec(None), folder=tmp_path, items={"e": path})
    problem = only(result.problems)
    assert (problem.code, problem.file) == ("HX507", "--items")
    assert problem.hint == "its datasets are `d`"


def test_the_overlay_s_file_comes_before_the_spec_s_and_stays_beside_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "spec"
    write(folder, "rows.json")
    write(folder, "mine.json", [{"query": "Mine"}])
    write(tmp_path, "out.json")
    overlay = {"datasets": {"d": {"items": "mine.json"}}}
    suite = suite_of(spec(), overlay, folder=folder)
    assert [case.query for case in items(suite)] == ["Mine"]
    for name in ("../out.json", "none.json"):
        result = resolved(spec(), {"datasets": {"d": {"items": name}}}, folder=folder)
        problem = only(result.problems)
        assert (problem.level, problem.file) == ("error", "clerk.evals.yaml")


def test_a_spec_without_datasets_takes_items_by_category(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.json", [{"id": 7, "prompt": "Hi"}])
    old = card_v02(
        dataset_categories=[
            {"id": "calls", "description": "Calls.", "edge_cases": ["a busy line"]}
        ]
    )
    suite = suite_of(old, items={"calls": path})
    (case,) = items(suite)
    assert (case.query, case.item, case.category) == ("Hi", "7", "calls")
    assert case.dataset is None
    assert [c.dimensions.get("edge-case") for c in suite.cases] == [None, "a busy line"]


# -- foreign rows ----------------------------------------------------------------------

FOREIGN = [
    {
        "id": "T1",
        "category": "Calls and such",
        "prompt": "Ring ring",
        "context": {"line": 3},
        "expected_keywords": ["hello"],
    },
    {
        "id": "T2",
        "category": "Calls and such",
        "prompt": "Ring",
        "context": None,
        "expected_keywords": [],
    },
]
MAP = {
    "category": {"to": "category", "values": {"Calls and such": "calls"}},
    "context": "input.context",
    "context.line": "tuple.mood",
    "expected_keywords": "expected.keywords",
    "prompt": "query",
}


def test_foreign_rows_give_their_query_and_nothing_that_might_be_the_answer(
    tmp_path: Path,
) -> None:
    write(tmp_path, "rows.json", FOREIGN)
    result = resolved(spec(), folder=tmp_path)
    assert result.suite is not None
    first, _ = items(result.suite)
    assert (first.query, first.item, first.category) == ("Ring ring", "T1", None)
    assert first.dimensions == {"category": "Calls and such"}
    assert first.input is None and first.expected is None
    labels, left_out = result.problems
    assert (labels.code, labels.file, labels.position.line) == ("HX503", "rows.json", 1)
    assert "(2 rows)" in labels.message
    assert "values: {Calls and such: calls}" in labels.hint
    assert (left_out.code, left_out.file) == ("HX504", "clerk.yaml")
    assert (
        "datasets: {d: {map: {context: input.context, "
        "expected_keywords: expected.keywords}}}" in left_out.hint
    )


def test_a_map_reads_foreign_rows_whole(tmp_path: Path) -> None:
    write(tmp_path, "rows.json", FOREIGN)
    result = resolved(spec(), {"datasets": {"d": {"map": MAP}}}, folder=tmp_path)
    assert result.suite is not None
    first, second = items(result.suite)
    assert (first.query, first.item, first.category) == ("Ring ring", "T1", "calls")
    assert first.dimensions == {"category": "calls", "mood": "3"}
    assert first.input == {"context": {"line": 3}}
    assert first.expected == {"keywords": ["hello"]}
    assert second.input == {"context": None}
    assert second.dimensions == {"category": "calls"}
    assert not [p for p in result.problems if p.code == "HX503"]


def test_a_map_that_no_row_answers_is_a_warning_at_the_map(tmp_path: Path) -> None:
    write(tmp_path, "rows.json", FOREIGN)
    overlay = {"datasets": {"d": {"map": {"promt": "query"}}}}
    problems = resolved(spec(), overlay, folder=tmp_path).problems
    problem = next(p for p in problems if p.file == "clerk.evals.yaml")
    assert (problem.code, problem.level) == ("HX504", "warning")
    assert "`promt`" in problem.message
    assert "`prompt`" in problem.hint


def test_a_map_without_a_file_is_a_warning() -> None:
    overlay = {"datasets": {"d": {"map": {"prompt": "query"}}}}
    problem = only(resolved(spec(None), overlay).problems)
    assert (problem.code, problem.file) == ("HX511", "clerk.evals.yaml")


def test_our_names_keep_their_meaning_beside_a_map(tmp_path: Path) -> None:
    row = {"input": {"prompt": "Hi", "mood": "calm"}, "expected": {"a": 1}, "x": "y"}
    write(tmp_path, "rows.json", [row])
    overlay = {
        "datasets": {"d": {"map": {"input.mood": "tuple.mood", "x": "expected.b.c"}}}
    }
    (case,) = items(suite_of(spec(), overlay, folder=tmp_path))
    assert case.query == "Hi"
    assert case.input == row["input"]
    assert case.expected == {"a": 1, "b": {"c": "y"}}
    assert case.dimensions == {"mood": "calm"}


def test_values_of_a_map_may_be_data(tmp_path: Path) -> None:
    write(tmp_path, "rows.json", [{"query": "x", "ok": "yes", "mood": 3}])
    overlay = {
        "datasets": {
            "d": {
                "map": {
                    "ok": {"to": "expected.ok", "values": {"yes": True}},
                    "mood": {"to": "tuple.mood", "values": {"3": "calm"}},
                }
            }
        }
    }
    (case,) = items(suite_of(spec(), overlay, folder=tmp_path))
    assert case.expected == {"ok": True}
    assert case.dimensions == {"mood": "calm"}


def test_rows_that_say_nothing_are_no_cases_and_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "rows.json", [{"id": 1, "volume": 3.5}, {"id": 2, "query": "Hi"}])
    result = resolved(spec(), folder=tmp_path)
    assert result.suite is not None and len(items(result.suite)) == 1
    silent = next(p for p in result.problems if "say nothing" in p.message)
    assert silent.message.startswith("1 of 2 rows")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"query": "x", "category": ["a"]}, "`category` must be a text"),
        ({"query": "x", "case": "calm"}, "`case` must be an object"),
        ({"query": "x", "case": {"mood": {}}}, "`case.mood` must be a text"),
        ({"query": "x", "id": {"a": 1}}, "`id` must be a text"),
        ("x", "a row is an object"),
    ],
)
def test_a_row_of_the_wrong_shape_is_an_error_at_its_line(
    tmp_path: Path, row: Any, words: str
) -> None:
    lines = [json.dumps({"query": "fine"}), json.dumps(row)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    problem = only(resolved(spec("rows.jsonl"), folder=tmp_path).problems)
    assert (problem.code, problem.level) == ("HX502", "error")
    assert (problem.file, problem.position.line) == ("rows.jsonl", 2)
    assert words in problem.message
    assert problem.excerpt == lines[1]


def test_labels_that_are_not_texts_are_written_as_json_writes_them(
    tmp_path: Path,
) -> None:
    row = {"query": "x", "case": {"a": True, "b": 3, "c": 1.5, "d": "e"}}
    write(tmp_path, "rows.json", [row])
    (case,) = items(suite_of(spec(), folder=tmp_path))
    assert case.dimensions == {"a": "true", "b": "3", "c": "1.5", "d": "e"}


def test_a_value_that_its_dimension_does_not_have_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "rows.json", [{"query": "x", "case": {"mood": "glad"}}])
    problem = only(resolved(spec(), folder=tmp_path).problems)
    assert (problem.code, problem.level) == ("HX503", "warning")
    assert "value of `mood` `glad`" in problem.message


@pytest.mark.parametrize("number", ["1e400", "NaN", "-Infinity", "1" + "0" * 5000])
def test_a_number_that_json_can_t_hold_is_an_error_at_its_row(
    tmp_path: Path, number: str
) -> None:
    text = f'{{"query": "a"}}\n{{"query": "b", "input": {{"n": [0, {number}]}}}}\n'
    (tmp_path / "rows.jsonl").write_text(text)
    result = resolved(spec("rows.jsonl"), folder=tmp_path)
    problem = only(result.problems)
    assert result.suite is None
    assert (problem.code, problem.file, problem.position.line) == (
        "HX505",
        "rows.jsonl",
        2,
    )
    assert "`input.n.1`" in problem.message


def test_a_thousand_faults_are_named_by_twenty_and_a_count(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{[\n" * 1000 + '{"query": "x"}\n')
    result = resolved(spec("rows.jsonl"), folder=tmp_path)
    assert len(result.problems) == 20
    assert "980 more rows of `rows.jsonl` can't be read." in result.notes


def test_a_cell_of_a_table_with_a_list_is_the_list_that_is_expected(
    tmp_path: Path,
) -> None:
    cells = {
        "query": '["as it is"]',
        "calls": " []",
        "expected.path": '["start", "end"]',
        "expected.out": '{"a": {"b": 1}}',
        "expected.number": "007",
        "expected.said": "[sic] as it is",
        "expected.twice": '{"a": 1, "a": 2}',
        "expected.bad": "[NaN]",
    }
    text = StringIO()
    writer = csv.DictWriter(text, cells)
    writer.writeheader()
    writer.writerow(cells)
    (tmp_path / "rows.csv").write_text(text.getvalue(), encoding="utf-8")
    says = {"d": {"items": "rows.csv", "map": {"calls": "expected.actionCalls"}}}
    suite = suite_of(spec(), {"datasets": says}, folder=tmp_path)
    (found,) = items(suite)
    assert found.query == '["as it is"]'
    assert found.expected == {
        "actionCalls": [],
        "path": ["start", "end"],
        "out": {"a": {"b": 1}},
        "number": "007",
        "said": "[sic] as it is",
        "twice": '{"a": 1, "a": 2}',
        "bad": "[NaN]",
    }
