"""Runs have one order, whoever asks for the latest one."""

import json
import random
from pathlib import Path

import pytest
from helix_runtime.folder import SuiteFolder, read_run_record, run_order
from helix_runtime.improving.finished_run import order_of
from helix_runtime.refusal import Refusal

SECOND = "2026-01-31T12:00:00Z"
NAME = "20260131T120000Z"


def begun(runs: Path, name: str, started: object) -> Path:
    folder = runs / name
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"started": started}), "utf-8")
    return folder


@pytest.mark.parametrize("seed", range(5))
def test_the_latest_run_of_one_second_is_the_one_with_the_highest_number(
    tmp_path: Path, seed: int
) -> None:
    folder = SuiteFolder(root=tmp_path, package="desk_evals")
    names = [NAME, *(f"{NAME}-{number}" for number in range(2, 13))]
    shuffled = random.Random(seed).sample(names, len(names))
    made = {name: begun(folder.runs, name, SECOND) for name in shuffled}
    assert folder.latest_run() == made[f"{NAME}-12"]
    assert sorted(made.values(), key=order_of) == [made[name] for name in names]


def test_a_later_start_comes_before_any_name(tmp_path: Path) -> None:
    folder = SuiteFolder(root=tmp_path, package="desk_evals")
    begun(folder.runs, "zebra-9", SECOND)
    later = begun(folder.runs, "aardvark", "2026-01-31T12:00:01Z")
    assert folder.latest_run() == later


@pytest.mark.parametrize("started", [None, "yesterday", 9, "None", {}])
def test_a_run_without_a_start_is_never_the_latest(
    tmp_path: Path, started: object
) -> None:
    folder = SuiteFolder(root=tmp_path, package="desk_evals")
    odd = begun(folder.runs, "zebra", started)
    first = begun(folder.runs, "first", SECOND)
    assert folder.latest_run() == first
    record = read_run_record(odd)
    assert record is not None
    assert run_order(odd, record) < order_of(first)
    with pytest.raises(Refusal, match="`started` must be a time"):
        order_of(odd)
