"""Rows of a dataset and their identity."""

import json
from pathlib import Path

import pytest
from helix_runtime.canonical import canonical, content_key, fnv1a_32, fnv1a_64
from helix_runtime.case import (
    Case,
    case_from_row,
    check_dataset,
)
from helix_runtime.folder import SuiteFolder
from helix_runtime.refusal import Refusal

ROW = {"id": "c1", "query": "Hello?", "tuple": {"mood": "calm"}, "source": "seed"}


def test_hashes_are_the_published_fnv1a_values() -> None:
    assert fnv1a_64(b"") == "cbf29ce484222325"
    assert fnv1a_64(b"a") == "af63dc4c8601ec8c"
    assert fnv1a_64(b"foobar") == "85944171f73967e8"
    assert fnv1a_32(b"") == "811c9dc5"
    assert fnv1a_32(b"foobar") == "bf9cf968"


def test_a_content_key_keeps_its_parts_apart() -> None:
    assert content_key("ab", "c") != content_key("a", "bc")


def test_canonical_json_is_one_text_and_always_utf8() -> None:
    assert canonical({"b": 1, "a": ["é"]}) == '{"a":["é"],"b":1}'
    assert canonical("\ud800").encode() == b'"\\ud800"'
    with pytest.raises(ValueError):
        canonical(float("nan"))


def test_a_row_keeps_what_the_user_added() -> None:
    row = ROW | {"dataset": "d", "input": {"x": None}, "owner": "me"}
    case = case_from_row(row)
    assert case.extra == {"owner": "me"}
    assert case.to_row() == row


def test_the_case_of_a_row_is_what_its_constructor_makes() -> None:
    assert vars(case_from_row(ROW)) == vars(
        Case(id="c1", query="Hello?", dimensions={"mood": "calm"})
    )
    more = ROW | {"tuple": {"mood": 3}, "item": "i", "placeholder": True, "owner": "me"}
    assert vars(case_from_row(more)) == vars(
        Case(
            id="c1",
            query="Hello?",
            dimensions={"mood": "3"},
            item="i",
            placeholder=True,
            extra={"owner": "me"},
        )
    )


def test_the_digest_changes_with_any_word_of_the_case() -> None:
    case = case_from_row(ROW)
    assert case.digest == case_from_row(dict(ROW)).digest
    assert case.digest != case_from_row(ROW | {"query": "Hello!"}).digest


def test_every_fault_of_a_row_is_named_at_once() -> None:
    with pytest.raises(ValueError) as caught:
        case_from_row({"id": "", "tuple": {}, "source": "x", "category": 3})
    for word in ("`id`", "`query`", "`tuple`", "`source`", "`category`"):
        assert word in str(caught.value)


def test_a_dataset_is_checked_whole_duplicates_included(tmp_path: Path) -> None:
    path = tmp_path / "dataset.jsonl"
    line = json.dumps(ROW)
    path.write_text(f"{line}\nnot json\n{line}\n", "utf-8")
    problems = check_dataset(path)
    assert [p.split(": ")[0] for p in problems] == [
        "dataset.jsonl:2",
        "dataset.jsonl:3",
    ]
    assert "stands in line 1 already" in problems[1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('"expected": 1, "expected": 2', "the key 'expected' stands twice"),
        ('"input": [{"a": {"b": 1, "b": 1}}]', "the key 'b' stands twice"),
        ('"input": NaN', "NaN is not JSON"),
        ('"input": 1e999', "1e999 is too large a number"),
    ],
)
def test_a_row_that_reads_in_two_ways_is_refused(
    tmp_path: Path, more: str, said: str
) -> None:
    path = tmp_path / "dataset.jsonl"
    path.write_text(f"{json.dumps(ROW)[:-1]}, {more}}}\n", "utf-8")
    assert said in check_dataset(path)[0]
    folder = SuiteFolder(root=tmp_path, package="x_evals")
    with pytest.raises(Refusal, match=r"dataset\.jsonl:1: ") as refused:
        folder.scan_dataset(lambda row: True)
    assert said in str(refused.value)
    with pytest.raises(Refusal, match=r"dataset\.jsonl:1: "):
        list(folder.rows())
