"""A key of an expectation with a slip in it is told: in the spec, and in a file of items."""

import json
from pathlib import Path

import pytest
from support.command_line import helix_gen
from support.spec_texts import AGENT, broken


def write_spec(desk: Path, expected: str, overlay: str = "") -> None:
    (desk / "decisions.md").write_text("None.\n", "utf-8")
    text = broken(AGENT, "actionCalls: []", expected)
    (desk / "shop.yaml").write_text(text, "utf-8")
    (desk / "shop.evals.yaml").write_text(overlay, "utf-8")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("actioncalls", "actionCalls"),
        ("action_call", "actionCalls"),
        ("actionCals", "actionCalls"),
        ("actoinCalls", "actionCalls"),
        ("node-outputs", "nodeOutputs"),
        ("hostAction", "hostActions"),
    ],
)
@pytest.mark.parametrize("command", ["lint", "suite"])
def test_a_slip_in_the_spec_is_told_at_its_place_by_both_commands(
    tmp_path: Path, command: str, key: str, meant: str
) -> None:
    write_spec(tmp_path, f"{key}: []")
    done = helix_gen(command, "shop.yaml", cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    (line,) = (line for line in said.splitlines() if "HX413" in line)
    number = (tmp_path / "shop.yaml").read_text().split(f"{key}: []")[0].count("\n") + 1
    assert line.startswith(f"shop.yaml:{number}:")
    assert f"no check reads `{key}`" in line and f"`{meant}`" in said


def test_slips_in_a_file_of_items_are_told_once_with_the_first_line(
    tmp_path: Path,
) -> None:
    write_spec(tmp_path, "actionCalls: []")
    rows = [
        {"query": "Where is it?", "expected": {"actionCalls": []}},
        {"query": "Where is my order?", "expected": {"actionCals": ["refund"]}},
        {"query": "Is it there?", "expected": {"actionCals": [], "tone": "kind"}},
        {"query": "And now?", "expected": {"pathway": [], "nodeOutputz": []}},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "rows.jsonl").write_text(text, "utf-8")
    name = AGENT.split("datasets:")[1].split("id: ")[1].split("\n")[0].split(",")[0]
    words = ("--items", f"{name.strip()}=rows.jsonl")
    done = helix_gen("suite", "shop.yaml", *words, cwd=tmp_path)
    said = [line for line in done.stderr.splitlines() if "HX413" in line]
    assert [line.partition(": warning")[0] for line in said] == [
        "rows.jsonl:2:1",
        "rows.jsonl:4:1",
    ]
    assert "`actionCals`" in said[0] and "(2 rows)" in said[0]
    assert "`nodeOutputz`" in said[1] and "rows)" not in said[1]


def test_a_name_that_a_check_of_the_overlay_reads_is_none(tmp_path: Path) -> None:
    check = "{ cites: { check: { expect.equals: { expected: node_outputs } } } }"
    write_spec(tmp_path, "node_outputs: []", f"criteria: {check}\n")
    done = helix_gen("lint", "shop.yaml", cwd=tmp_path)
    assert "HX413" not in done.stdout
