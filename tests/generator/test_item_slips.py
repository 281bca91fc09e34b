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


def told(folder: Path, file: str, command: str = "suite") -> list[str]:
    """Return each warning of a slip with its hint, of items in a file."""
    overlay = f"datasets: {{ golden: {{ items: {file} }} }}\n"
    write_spec(folder, "actionCalls: []", overlay)
    return slips_told(folder, command)


def slips_told(folder: Path, command: str) -> list[str]:
    """Return each warning of a slip, the excerpt and the hint below it in one line."""
    done = helix_gen(command, "shop.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = (done.stdout if command == "lint" else done.stderr).splitlines()
    problems: list[str] = []
    for line in lines:
        if line.startswith(" ") and problems:
            problems[-1] += line
        else:
            problems.append(line)
    return [problem for problem in problems if "HX413" in problem]


@pytest.mark.parametrize(
    ("expected", "says", "hint"),
    [
        ("actionCalls: refund", "`actionCalls` is a text", "`[refund]`"),
        ("actionCalls: [refnud]", "names the action `refnud`", "`refund`"),
    ],
)
def test_what_an_item_expects_in_vain_is_told(
    tmp_path: Path, expected: str, says: str, hint: str
) -> None:
    write_spec(tmp_path, expected)
    (line,) = slips_told(tmp_path, "lint")
    assert line.startswith("shop.yaml:") and says in line and hint in line
    assert slips_told(tmp_path, "suite") == [line]


@pytest.mark.parametrize(
    "expected",
    [
        "actionCalls: [refund, pay.back, order.get, Refund]",
        "actionCalls: [{ action: refnud }]",
        "hostActions: [ask_the_owner_first]",
        "actionCalls: The money is paid back.",
        'actionCalls: ["refunds it, once asked"]',
        "actionCalls: [], actions: [refnud]",
        "answer: refund",
    ],
)
def test_other_expectations_are_let_be(tmp_path: Path, expected: str) -> None:
    write_spec(tmp_path, expected)
    assert slips_told(tmp_path, "lint") == []


@pytest.mark.parametrize("command", ["lint", "suite"])
def test_a_file_of_items_is_told_what_the_spec_is_told(
    tmp_path: Path, command: str
) -> None:
    rows = [
        {"query": "Where is it?", "expected": {"actionCalls": ["refund"]}},
        {"query": "Where is my order?", "expected": {"actionCalls": "refund"}},
        {"query": "Is it there?", "expected": {"actionCalls": ["refnud"]}},
        {"query": "And now?", "expected": {"hostActions": ["refnud", "quite other"]}},
        {"query": "Well?", "expected": {"actionCalls": "The money is paid back."}},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "rows.jsonl").write_text(text, "utf-8")
    first, second = told(tmp_path, "rows.jsonl", command)
    assert first.startswith("rows.jsonl:2:") and "`[refund]`" in first
    assert second.startswith("rows.jsonl:3:") and "(2 rows)" in second
    assert "names the action `refnud`" in second and "mean `refund`" in second


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("refund", "the action is not asked for"),
        ('"refund, refnud"', "the actions are not asked for"),
        ("refnud", "the action is not asked for"),
        ("none", "nothing is asked for"),
        ("The money is paid back.", "nothing is asked for"),
        ('"[refund]"', "the action is not asked for"),
    ],
)
def test_a_text_in_a_column_of_actions_is_never_taken_for_prose_in_silence(
    tmp_path: Path, cell: str, says: str
) -> None:
    text = f"query,expected.actionCalls\nWhere is it?,{cell}\nNow?,{cell}\n"
    (tmp_path / "rows.csv").write_text(text, "utf-8")
    (line,) = told(tmp_path, "rows.csv")
    assert line.startswith("rows.csv:2:")
    assert says in line and "(2 rows)" in line and '["NAME"]' in line


@pytest.mark.parametrize("cell", ["[]", '"[""refund""]"', ""])
def test_a_list_in_a_column_and_an_empty_cell_are_let_be(
    tmp_path: Path, cell: str
) -> None:
    text = f"query,expected.actionCalls\nWhere is it?,{cell}\n"
    (tmp_path / "rows.csv").write_text(text, "utf-8")
    assert told(tmp_path, "rows.csv") == []
