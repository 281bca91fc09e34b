"""Rows that the spec no longer has: they stay as they are, and are not run."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.command_line import helix_gen, write_json
from support.suite_cards import card, criterion, dataset, scenario

PACKAGE = "desk_clerk_evals"


def spec(*questions: str) -> dict[str, Any]:
    items = [
        {
            "id": question[:5],
            "scenarioRef": "rush-hour",
            "input": {"question": question},
        }
        for question in questions
    ]
    return card(
        criteria=[criterion("is-brief")],
        scenarios=[scenario("rush-hour")],
        datasets=[
            dataset(
                "visits",
                items=items,
                mapsTo={"criteria": ["is-brief"], "scenarios": ["rush-hour"]},
            )
        ],
    )


ROOM, LIFT, DOOR = "Where is room 4?", "Is the lift out?", "Which door is open?"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a spec and its suite, whose target answers."""
    write_json(tmp_path / "clerk.yaml", spec(ROOM, LIFT))
    reach = {"target": f"python:{PACKAGE}.target:target"}
    write_json(tmp_path / "clerk.evals.yaml", reach)
    generate(tmp_path)
    target = tmp_path / "desk-clerk-evals" / PACKAGE / "target.py"
    target.write_text("def target(case):\n    return 'On the left.'\n", "utf-8")
    return tmp_path


def generate(folder: Path, *words: str) -> dict[str, Any]:
    """Generate, and return what `--json` says."""
    done = helix_gen("suite", "clerk.yaml", "--json", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def own(suite: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the suite's own command with the standard library alone."""
    return subprocess.run(
        [sys.executable, "-S", "-B", "-m", PACKAGE, *words],
        cwd=suite,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def listed(suite: Path, *words: str) -> list[str]:
    done = own(suite, "cases", "--json", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["query"] for line in done.stdout.splitlines()]


def judged(suite: Path, *words: str) -> set[str]:
    """Return the queries of the cases that a run decided."""
    out = suite / "runs" / f"r{len(list(suite.glob('runs/*')))}"
    done = own(suite, "run", "--no-judge", "--out", str(out), *words)
    assert done.returncode == 3, done.stderr  # its check is not written
    lines = (out / "units.jsonl").read_text("utf-8").splitlines()
    ids = [json.loads(line)["caseId"] for line in lines]
    rows = map(json.loads, (suite / "dataset.jsonl").read_text("utf-8").splitlines())
    return {row["query"] for row in rows if row["id"] in ids}


def reworded(desk: Path, queries: Sequence[str] = (ROOM, DOOR)) -> Path:
    """Generate from a spec of other questions; return the suite's folder."""
    write_json(desk / "clerk.yaml", spec(*queries))
    generate(desk)
    return desk / "desk-clerk-evals"


def test_a_reworded_item_retires_its_row_byte_for_byte(desk: Path) -> None:
    suite = desk / "desk-clerk-evals"
    before = (suite / "dataset.jsonl").read_bytes()
    reworded(desk)
    after = (suite / "dataset.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == before.count(b"\n") + 1


def test_a_retired_row_is_listed_and_run_only_when_it_is_asked_for(desk: Path) -> None:
    suite = reworded(desk)
    assert listed(suite) == [ROOM, DOOR]
    assert listed(suite, "--retired") == [LIFT]
    assert judged(suite) == {ROOM, DOOR}
    assert judged(suite, "--retired") == {ROOM, LIFT, DOOR}


def test_a_run_and_the_list_say_how_many_are_retired(desk: Path) -> None:
    suite = reworded(desk)
    assert "2 of 2 cases; 1 more retired" in own(suite, "cases").stdout
    assert "1 case is retired and left out" in own(suite, "run", "--no-judge").stdout
    assert "retired" not in own(suite, "run", "--no-judge", "--retired").stdout


def test_the_card_counts_what_the_suite_counts(desk: Path) -> None:
    suite = reworded(desk)
    path = suite / "dataset.jsonl"
    mine = '{"id": "mine", "query": "Who are you?", "tuple": {"a": "b"}}\n'
    path.write_text(path.read_text("utf-8") + mine, "utf-8")
    told = generate(desk)["cards"]["dataset"]
    assert (told["cases"], told["retired"]) == (len(listed(suite)), 1) == (3, 1)
    again = generate(desk)
    assert not again["changes"]["drift"] and again["cards"]["dataset"] == told


def test_what_comes_back_into_the_spec_is_run_again(desk: Path) -> None:
    suite = reworded(desk)
    before = (suite / "dataset.jsonl").read_bytes()
    reworded(desk, [ROOM, LIFT, DOOR])
    assert (suite / "dataset.jsonl").read_bytes() == before
    assert listed(suite) == [ROOM, LIFT, DOOR]
    assert not (suite / "retired.txt").exists()


def test_a_retired_row_of_the_owners_wording_is_pointed_out(desk: Path) -> None:
    suite = desk / "desk-clerk-evals"
    path = suite / "dataset.jsonl"
    path.write_text(path.read_text("utf-8").replace(LIFT, "Lift?"), "utf-8")
    write_json(desk / "clerk.yaml", spec(ROOM, DOOR))
    done = helix_gen("suite", "clerk.yaml", cwd=desk)
    assert "1 row of these in your wording (give such a row an id" in done.stdout
    assert listed(suite, "--retired") == ["Lift?"]


def test_a_row_with_an_id_of_its_own_is_its_owners_again(desk: Path) -> None:
    suite = reworded(desk)
    path = suite / "dataset.jsonl"
    (retired,) = (
        json.loads(line)
        for line in own(suite, "cases", "--json", "--retired").stdout.splitlines()
    )
    text = path.read_text("utf-8").replace(retired["id"], "kept-by-me")
    path.write_text(text, "utf-8")
    assert listed(suite) == [ROOM, LIFT, DOOR]
    generate(desk)
    assert listed(suite) == [ROOM, LIFT, DOOR]
    assert not (suite / "retired.txt").exists()


def test_a_moved_suite_without_the_generators_memory_still_leaves_them_out(
    desk: Path, tmp_path: Path
) -> None:
    suite = reworded(desk)
    moved = tmp_path / "moved dir" / "s"
    shutil.copytree(suite, moved)
    shutil.rmtree(moved / ".helix")
    assert listed(moved) == [ROOM, DOOR]


def test_labels_of_what_is_retired_are_counted_once(desk: Path) -> None:
    suite = desk / "desk-clerk-evals"
    rows = (suite / "dataset.jsonl").read_text("utf-8").splitlines()
    (gone,) = (row["id"] for row in map(json.loads, rows) if row["query"] == LIFT)
    labels = "".join(
        f'{{"traceId": "{case}-r0", "criterionId": "is-brief", "label": "pass"}}\n'
        for case in (gone, gone, "another")
    )
    (suite / "labels.jsonl").write_text(labels, "utf-8")
    write_json(desk / "clerk.yaml", spec(ROOM, DOOR))
    said = helix_gen("suite", "clerk.yaml", "--dry-run", cwd=desk).stdout
    assert "1 row retired now" in said and "labels.jsonl: 2\n" in said
    stale = generate(desk)["changes"]["stale"]
    assert (stale["retired"], stale["retiredLabels"]) == ([gone], 2)
    write_json(desk / "clerk.yaml", spec(ROOM, DOOR, "What is this?"))
    assert generate(desk)["changes"]["stale"]["retired"] == []


def test_a_row_of_ones_own_keeps_naming_a_dataset_that_was_renamed(
    desk: Path,
) -> None:
    suite = desk / "desk-clerk-evals"
    mine = {"id": "mine", "query": "Hm?", "tuple": {"a": "b"}, "dataset": "visits"}
    with (suite / "dataset.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(mine) + "\n")
    assert generate(desk)["notes"] == []
    renamed = spec(ROOM, LIFT)
    renamed["spec"]["evaluation"]["datasets"][0]["id"] = "calls"
    write_json(desk / "clerk.yaml", renamed)
    (note,) = generate(desk)["notes"]
    assert "1 row of your own" in note and "`visits`" in note and "`calls`" in note
    assert generate(desk)["notes"] == [note]  # as long as it is so
    assert "of the dataset 'visits', which no criterion" in own(suite, "cases").stderr
    done = own(suite, "run", "--no-judge")
    assert "cases of the dataset 'visits' are judged by no" in done.stdout + done.stderr
    path = suite / "dataset.jsonl"
    path.write_text(
        path.read_text("utf-8").replace('": "visits"', '": "calls"'), "utf-8"
    )
    assert generate(desk)["notes"] == []
    assert "warning" not in own(suite, "cases").stderr
    assert "nothing of this run names" not in own(suite, "run", "--no-judge").stdout


def test_check_sees_that_rows_are_to_be_retired(desk: Path) -> None:
    write_json(desk / "clerk.yaml", spec(ROOM, DOOR))
    done = helix_gen("suite", "clerk.yaml", "--check", cwd=desk)
    assert done.returncode == 1
    assert "retired.txt" in done.stdout
    generate(desk)
    done = helix_gen("suite", "clerk.yaml", "--check", cwd=desk)
    assert done.returncode == 0


def test_packets_of_a_run_with_retired_cases_know_their_rows(desk: Path) -> None:
    suite = reworded(desk)
    assert judged(suite, "--retired") == {ROOM, LIFT, DOOR}
    done = own(suite, "prep", "--run", "r0", "--model", "m-1")
    assert "3 belong to a case of the dataset" in done.stdout, done.stderr


def test_a_resumed_run_is_about_the_same_cases(desk: Path) -> None:
    suite = reworded(desk)
    assert judged(suite) == {ROOM, DOOR}
    done = own(suite, "run", "--resume", "r0", "--retired")
    assert done.returncode == 2
    assert "--retired differs from the run that is resumed" in done.stderr
