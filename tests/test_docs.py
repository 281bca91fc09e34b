"""The documentation keeps in step with the code, and its links lead somewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helix_gen.spec.schema import json_schema
from helix_runtime.case import case_from_row

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")


def options(help_text: str) -> set[str]:
    return set(OPTION.findall(help_text)) - {"--help", "--version"}


def section(page: str, start: str, end: str) -> str:
    return page.partition(start)[2].partition(end)[0]


COMMANDS = (DOCS / "commands.md").read_text("utf-8")
GENERATOR = section(COMMANDS, "## `helix-gen`", "## The suite's own command")
SUITE = COMMANDS.partition("## The suite's own command")[2]


def help_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("name", ["suite", "resolve", "lint", "packets", "schema"])
def test_each_option_of_helix_gen_is_documented(name: str) -> None:
    said = help_of("helix_gen", name)
    assert f"helix-gen {name}" in GENERATOR
    missing = options(said.partition("Options:")[2]) - options(GENERATOR)
    assert not missing


def test_no_option_of_helix_gen_is_made_up() -> None:
    known = options(
        "".join(
            help_of("helix_gen", n)
            for n in ("suite", "resolve", "lint", "packets", "schema")
        )
    )
    assert options(GENERATOR) <= known


def suite_helps() -> str:
    from helix_runtime.command_line import build_parser

    parser = build_parser("helix_evals")
    action = next(a for a in parser._actions if a.choices)  # its subcommands
    assert isinstance(action.choices, dict)
    return "".join(sub.format_help() for sub in action.choices.values())


def test_the_options_of_the_suites_command_are_documented_and_no_others() -> None:
    assert options(suite_helps()) == options(SUITE)


def test_every_key_of_the_overlay_is_documented() -> None:
    page = (DOCS / "overlay.md").read_text("utf-8")
    schema = json_schema("overlay")
    definitions = [schema, *schema.get("$defs", {}).values()]
    keys = {key for d in definitions for key in d.get("properties", {})}
    undocumented = {key for key in keys if key not in page}
    assert not undocumented


def test_every_key_of_a_scorecard_is_documented() -> None:
    page = (DOCS / "scorecard.md").read_text("utf-8")
    golden = sorted((ROOT / "tests" / "data").glob("scorecard*.json"))
    assert golden, "a scorecard to compare with"
    card = json.loads(golden[0].read_text("utf-8"))
    keys = set(card) | {key for c in card["criteria"] for key in c}
    assert not {key for key in keys if f"`{key}`" not in page.replace("[]`", "`")}


@pytest.mark.parametrize(
    "page", sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")]), ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_row_by_hand_is_a_case_of_the_example() -> None:
    page = (DOCS / "growing.md").read_text("utf-8")
    text = section(section(page, "## A row by hand", "## "), "```json\n", "```")
    case = case_from_row(json.loads(text))
    spec = (ROOT / "examples/returns_desk/agentspec.yaml").read_text("utf-8")
    for name in (case.dataset, case.category, case.scenario):
        assert re.search(rf"\bid: {name}\b", spec), name
