"""docs/the-loop.md: its example is played through, and says what it shows."""

import json
import re
import subprocess
from pathlib import Path

from helix_runtime.command_line import build_parser
from helix_runtime.improving import audit
from helix_runtime.improving.audit.labels import MIN_LABELLED
from helix_runtime.improving.change_requests import MAX_CASES
from helix_runtime.improving.loop import MAX_ELAPSED, MAX_SWINGS, PATIENCE, STOPS
from support.command_line import EXAMPLES, helix_gen, python_beside_examples

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "the-loop.md").read_text("utf-8")
EXAMPLE = EXAMPLES / "returns_desk"


def shown(command: str) -> list[str]:
    """The lines that the guide shows below a command."""
    (found,) = (
        text
        for text in re.findall(r"```text\n(.*?)```", GUIDE, re.S)
        if text.startswith(f"$ {command}\n")
    )
    return [line for line in found.split("\n")[1:] if line and line != "…"]


def test_the_example_goes_as_the_guide_says(tmp_path: Path) -> None:
    spec = EXAMPLE / "agentspec.yaml"
    assert helix_gen("suite", spec, "-o", ".", "-q", cwd=tmp_path).returncode == 0

    def run(command: str) -> "subprocess.CompletedProcess[str]":
        assert command in GUIDE
        program, *words = command.replace("VERDICTS", str(EXAMPLE / "verdicts")).split()
        assert program == "python"
        return python_beside_examples(*words, cwd=tmp_path)

    suite = "python -m returns_desk_evals"
    assert run(f"{suite} run --replay VERDICTS --out runs/first").returncode == 1
    (answer,) = re.findall(r"```json\n(.*?)```", GUIDE, re.S)
    (tmp_path / "answers.jsonl").write_text(answer, "utf-8")
    for words, code in (
        ("loop --elapsed 300", 3),
        ("requests first", 0),
        ("requests first --responses answers.jsonl", 0),
        ("audit", 1),
    ):
        done = run(f"{suite} {words}")
        assert done.returncode == code, done.stderr
        said = done.stdout.split("\n")
        assert [line for line in shown(f"{suite} {words}") if line not in said] == []
    found = json.loads((tmp_path / "runs/first/requests.json").read_text("utf-8"))
    for key in (*found["requests"][0], *found["requests"][0]["failingCases"][0]):
        assert f"`{key}`" in GUIDE.replace("[]`", "`"), key


def test_both_paths_ask_for_the_same(tmp_path: Path) -> None:
    spec = EXAMPLE / "agentspec.yaml"
    assert helix_gen("suite", spec, "-o", ".", "-q", cwd=tmp_path).returncode == 0

    def run(*words: str, code: int) -> str:
        done = python_beside_examples("-m", "returns_desk_evals", *words, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stdout

    verdicts = EXAMPLE / "verdicts"
    run("run", "--replay", str(verdicts), "--out", "runs/calls", "-q", code=1)
    run("prep", "--run", "calls", "--model", "example-judge-1", "-q", code=0)
    run("aggregate", "--verdicts", str(verdicts), "--out", "runs/host", "-q", code=1)
    words = ("requests", "--swing", "1", "--json")
    calls, host = (json.loads(run(*words, name, code=0)) for name in ("calls", "host"))
    assert calls["requests"] and calls["requests"] == host["requests"]
    assert calls["findings"] == host["findings"]


def test_its_figures_and_words_are_those_of_the_code() -> None:
    assert re.findall(r"^\| `([\w-]+)` \| .* \|$", GUIDE, re.M)[:4] == list(STOPS)
    assert f"{MAX_SWINGS} swings are done" in GUIDE
    assert f"{MAX_ELAPSED:,.0f} seconds" in GUIDE
    assert f"{PATIENCE} swings in a row" in GUIDE
    given = build_parser("suite", only="loop").parse_args(["loop"])
    limits = (given.max_swings, given.max_elapsed, given.patience)
    assert limits == (MAX_SWINGS, MAX_ELAPSED, PATIENCE)
    assert f"at most {MAX_CASES} cases" in GUIDE
    assert f"fewer than {MIN_LABELLED} passing or {MIN_LABELLED} failing" in GUIDE


def test_every_finding_of_the_audit_is_in_its_table_and_no_other() -> None:
    assert audit.__file__ is not None
    sources = [p.read_text("utf-8") for p in Path(audit.__file__).parent.glob("*.py")]
    kinds = set(re.findall(r'kind="([\w-]+)"', "\n".join(sources)))
    # One line of it chooses between two.
    kinds |= {"failed", "below-target"}
    table = GUIDE.partition("| area | kind |")[2]
    rows = [line.split("|") for line in table.split("\n") if line.startswith("|")]
    assert {k for row in rows for k in re.findall(r"`([\w-]+)`", row[2])} == kinds
    areas = [a for row in rows for a in re.findall(r"`(\w+)`", row[1])]
    assert areas == list(audit.AREAS)
