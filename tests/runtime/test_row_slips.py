"""Keys with a slip in a dataset's rows are told with their line; the user's own are not."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import ROW_KEYS
from helix_runtime.commands import cases, run
from helix_runtime.nearly import meant_by, nearly
from helix_runtime.row_slips import EXPECTED, dataset_slips
from hypothesis import given
from hypothesis import strategies as st
from support.runs import case
from support.suite_folder import make_suite_folder, parsed

ROW = case().to_row()


def written(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_each_slip_is_told_once_with_its_first_line(tmp_path: Path) -> None:
    path = written(
        tmp_path / "dataset.jsonl",
        ROW,
        "",
        {**ROW, "expected": {"actionCals": []}, "orginTraceId": "t"},
        "{torn",
        {**ROW, "expected": {"actionCals": [], "hostactions": []}},
        {**ROW, "expectd": {"path": []}, "expected_behaviour": "It answers."},
    )
    assert dataset_slips(path, tmp_path) == [
        "dataset.jsonl:3: nothing reads `orginTraceId`: did you mean `originTraceId`?",
        "dataset.jsonl:3: nothing reads `expected.actionCals` (2 rows): did you mean "
        "`actionCalls`?",
        "dataset.jsonl:5: nothing reads `expected.hostactions`: did you mean "
        "`hostActions`?",
        "dataset.jsonl:6: nothing reads `expectd`: did you mean `expected`?",
        "dataset.jsonl:6: nothing reads `expected_behaviour`: did you mean "
        "`expectedBehavior`?",
    ]


def test_what_resembles_nothing_is_the_users_own(tmp_path: Path) -> None:
    row = {
        **ROW,
        "owner": "ada",
        "items": [],
        "input": {"actionCals": []},
        "expected": {"keywords": [], "paths": [], "tone": "kind", "actionCalls": []},
    }
    assert (
        dataset_slips(written(tmp_path / "dataset.jsonl", row, [1], 2), tmp_path) == []
    )


def test_what_stands_beside_the_right_key_is_a_name_of_its_own(tmp_path: Path) -> None:
    row = {**ROW, "inputs": {}, "input": {}}
    row["expected"] = {"actionCalls": [], "action_calls": []}
    assert dataset_slips(written(tmp_path / "dataset.jsonl", row), tmp_path) == []


@pytest.mark.parametrize(
    ("code", "is_read"),
    [
        ('expected="actionCals"', True),
        ("expected='actionCals.0.name'", True),
        ('case.expected["actionCals"]', True),
        ('"""The actionCals of a case."""', False),
        ("actionCals = 1", False),
        ('expected="actionCalsOfMine"', False),
    ],
)
def test_a_key_that_a_check_names_is_read(
    tmp_path: Path, code: str, is_read: bool
) -> None:
    row = {**ROW, "expected": {"actionCals": []}}
    path = written(tmp_path / "dataset.jsonl", row)
    (tmp_path / "checks.py").write_text(code, "utf-8")
    assert (dataset_slips(path, tmp_path) == []) is is_read


def test_cases_and_run_warn_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_suite_folder(tmp_path / "suite", cases=[case()])
    written(folder.dataset, {**ROW, "expected": {"actionCals": []}})
    said = (
        "warning: dataset.jsonl:1: nothing reads `expected.actionCals`: did you mean "
        "`actionCalls`?\n"
    )
    assert cases.execute(parsed("cases"), folder) == 0
    assert capsys.readouterr().err == said
    words = ("run", "--target", "python:os:getcwd", "--no-judge", "-q")
    run.execute(parsed(*words), folder)
    assert said in capsys.readouterr().err


@given(st.sampled_from([*ROW_KEYS, *EXPECTED]), st.data())
def test_one_letter_out_of_place_is_a_slip_of_a_long_name(
    name: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("aeiou"))
    slips = {
        "left out": name[:at] + name[at + 1 :],
        "too many": name[:at] + letter + name[at:],
        "another": name[:at] + letter + name[at + 1 :],
        "swapped": name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
    }
    assert nearly(name, name) and meant_by(name, [name]) is None
    for slip in slips.values():
        assert nearly(slip, name) == nearly(name, slip)
        if len(name) > 5 or slip.casefold() == name.casefold():
            assert nearly(slip, name), slip
