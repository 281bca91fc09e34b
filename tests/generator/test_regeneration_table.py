"""The table of docs/regeneration.md, row by row, as its reader would try it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from helix_gen.generate import Outcome
from support.command_line import helix_gen, write_json
from support.regenerated import PACKAGE, Desk, actions, notes
from support.suite_cards import card, criterion, scenario

PAGE: Final = Path(__file__).parents[2] / "docs" / "regeneration.md"
BRIEF, KIND, TRUE = (
    criterion("is-brief"),
    criterion("is-kind", "llm-judge"),
    criterion("is-true"),
)
NEW = criterion("is-new")

Play = Callable[[Desk], None]
_PLAYS: dict[tuple[str, str], Play] = {}


def row(yours: str, theirs: str) -> Callable[[Play], Play]:
    """Say which row of the table a function plays."""

    def keep(play: Play) -> Play:
        _PLAYS[yours, theirs] = play
        return play

    return keep


def spec(*criteria: dict[str, Any], **parts: Any) -> dict[str, Any]:
    parts.setdefault("scenarios", [scenario("rush-hour"), scenario("night")])
    return card(criteria=criteria, **parts)


def says(spec_id: str, **about: Any) -> dict[str, Any]:
    return {"criteria": {spec_id: about}}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, spec(BRIEF, KIND, TRUE))


def fill(desk: Desk, name: str = "is_brief", why: str = "mine") -> None:
    """Fill in a check."""
    text = desk.text("checks.py")
    head, found, rest = text.partition(f"def {name}(")
    assert found
    rest = rest.replace("return unwritten()", f'return passed("{why}")', 1)
    text = (head + found + rest).replace("import Verdict\n", "import Verdict, passed\n")
    desk.path("checks.py").write_text(text, "utf-8")


def tune(desk: Desk, old: str, new: str) -> None:
    """Change the judge of the second criterion."""
    judge = block(desk.text("judges.py"), "is_kind = Judge(")
    assert old in judge
    desk.edit("judges.py", (judge, judge.replace(old, new)))


def block(text: str, start: str) -> str:
    """Return a statement of a module: from where it starts to the next blank line."""
    found = re.search(rf"^{re.escape(start)}.*?(?=\n\n|\Z)", text, re.M | re.S)
    assert found is not None, text
    return found[0]


def has_conflict(done: Outcome, module: str) -> bool:
    assert done.changes is not None
    clashing = {change.path.rpartition("/")[2] for change in done.changes.conflicts}
    assert clashing <= {module}
    return bool(clashing)


def test_every_row_is_played_and_no_other() -> None:
    text = PAGE.read_text("utf-8").partition("| what you did | what the spec did |")[2]
    table = text.partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    assert [(line[0], line[1]) for line in cells] == list(_PLAYS)


@row("filled in a check", "other words, a goal, a scope, a severity")
def _(desk: Desk) -> None:
    fill(desk)
    reworded = {**BRIEF, "description": "Every answer is brief.", "goal": "At night."}
    overlay = says("is-brief", severity="LOW", applies_to={"scenarios": ["night"]})
    done = desk.again(spec(reworded, KIND, TRUE), overlay)
    assert not has_conflict(done, "")
    text = desk.text("checks.py")
    assert "Every answer is brief." in text and "At night." in text
    assert 'return passed("mine")' in text
    table = (
        desk.text("suite.py").partition("checks.is_brief")[2].partition("checks.")[0]
    )
    assert '"LOW"' in table and "night" in table
    assert desk.results()["is-brief"] == "pass"


@row("tuned a judge", "a scope, a severity, a threshold")
def _(desk: Desk) -> None:
    tune(desk, "    pass_when=", "    notes='Mine.',\n    pass_when='Mine. ' ")
    mine = desk.text("judges.py")
    overlay = says(
        "is-kind",
        severity="LOW",
        applies_to={"scenarios": ["night"]},
        aggregate={"rate": ">= 0.5"},
    )
    assert not has_conflict(desk.again(spec(BRIEF, KIND, TRUE), overlay), "")
    assert desk.text("judges.py") == mine
    table = desk.text("suite.py").partition("judges.is_kind")[2].partition("hecks.")[0]
    assert '"LOW"' in table and "night" in table and "0.5" in table


@row("gave a judge `notes` or `examples`", "other words, a goal")
def _(desk: Desk) -> None:
    tune(desk, "    pass_when=", "    notes='Mine.',\n    pass_when=")
    kinder = {**KIND, "description": "Every word is kind.", "goal": "At night."}
    assert not has_conflict(desk.again(spec(BRIEF, kinder, TRUE)), "")
    text = block(desk.text("judges.py"), "is_kind = Judge(")
    assert "notes='Mine.'" in text and text.count("Every word is kind.") > 1
    assert "At night." in text


@row("tuned `pass_when` or `fail_when` of a judge", "other words, a goal")
def _(desk: Desk) -> None:
    tune(desk, "    pass_when=", "    pass_when='Mine. ' ")
    kinder = {**KIND, "description": "Every word is kind.", "goal": "At night."}
    done = desk.again(spec(BRIEF, kinder, TRUE))
    assert has_conflict(done, "judges.py")
    text = block(desk.text("judges.py"), "is_kind = Judge(")
    assert "pass_when='Mine. ' " in text
    assert '"Every word is kind."' in text and 'goal="At night."' in text
    desk.results()


@row("anything", "added a criterion")
def _(desk: Desk) -> None:
    fill(desk)
    desk.again(spec(BRIEF, NEW, KIND, TRUE))
    text = desk.text("checks.py")
    assert text.index("is_brief") < text.index("is_new") < text.index("is_true")
    assert desk.results()["is-brief"] == "pass"


@row("nothing", "removed a criterion")
def _(desk: Desk) -> None:
    desk.again(spec(BRIEF, KIND))
    assert not any("is_true" in desk.text(name) for name in ("checks.py", "suite.py"))


@row("edited a check", "removed its criterion")
def _(desk: Desk) -> None:
    fill(desk)
    done = desk.again(spec(KIND, TRUE))
    assert "def is_brief(" in desk.text("checks.py")
    assert "is_brief" not in desk.text("suite.py")
    assert "no longer generated, kept for your edits: is_brief" in notes(done)


@row("edited its row in `suite.py`", "removed its criterion")
def _(desk: Desk) -> None:
    table = desk.text("suite.py")
    head, found, rest = table.partition("checks.is_brief")
    desk.path("suite.py").write_text(head + found + rest.replace("HIGH", "CRIT", 1))
    desk.again(spec(KIND, TRUE))
    assert "is_brief" not in desk.text("suite.py")
    kept = list((desk.root / ".helix" / "kept").rglob("suite.py.kept*"))
    assert len(kept) == 1 and "CRIT" in kept[0].read_text("utf-8")
    done = desk.again(spec(BRIEF, KIND, TRUE))
    (note,) = (n for n in notes(done).splitlines() if n.startswith(f"{PACKAGE}/suite"))
    place = kept[0].relative_to(desk.root).as_posix()
    assert f"an earlier row of yours for is-brief lies in {place}" in note
    assert "earlier row" not in notes(desk.again(spec(BRIEF, KIND, TRUE, NEW)))


@row(
    "edited a check",
    "renamed its criterion, with `renamed_from` in the [overlay](overlay.md)",
)
def _(desk: Desk) -> None:
    fill(desk)
    overlay = says("is-short", renamed_from="is-brief")
    desk.again(spec(criterion("is-short"), KIND, TRUE), overlay)
    text = block(desk.text("checks.py"), '@check("is-short"')
    assert "def is_short(" in text and 'passed("mine")' in text
    assert desk.results()["is-short"] == "pass"


@row("edited a check", "made it a judge, or the other way")
def _(desk: Desk) -> None:
    fill(desk)
    tune(desk, "    pass_when=", "    pass_when='Mine. ' ")
    desk.again(
        spec({**BRIEF, "type": "llm-judge"}, {**KIND, "type": "code-check"}, TRUE)
    )
    assert "def is_brief(" in desk.text("checks.py")
    assert "is_kind = Judge(" in desk.text("judges.py")
    table = desk.text("suite.py")
    assert "judges.is_brief" in table and "checks.is_kind" in table
    assert "checks.is_brief" not in table and "judges.is_kind" not in table
    desk.results()


@row("renamed the function", "anything")
def _(desk: Desk) -> None:
    fill(desk)
    desk.edit("checks.py", ("def is_brief(", "def short_enough("))
    desk.edit("suite.py", ("checks.is_brief", "checks.short_enough"))
    desk.again(spec({**BRIEF, "description": "Brief!"}, KIND, TRUE))
    assert "def short_enough(" in desk.text("checks.py")
    assert "Brief!" in desk.text("checks.py")
    assert "checks.short_enough" in desk.text("suite.py")
    assert desk.results()["is-brief"] == "pass"


@row(
    "edited a check whose criterion is gone",
    "gave its id to another criterion, with `renamed_from`",
)
def _(desk: Desk) -> None:
    fill(desk)
    fill(desk, "is_true", "another of mine")
    desk.again(spec(KIND, TRUE))
    overlay = says("is-brief", renamed_from="is-true")
    done = desk.again(spec(BRIEF, KIND), overlay)
    assert has_conflict(done, "checks.py")
    text = desk.text("checks.py")
    assert 'passed("mine")' in text and 'passed("another of mine")' in text


@row(
    "gave a row of `suite.py` a name (`BRIEF = Criterion(…)`)", "removed its criterion"
)
def _(desk: Desk) -> None:
    named(desk)
    desk.again(spec(KIND, TRUE))
    table = desk.text("suite.py")
    assert "BRIEF = Criterion(" in table and table.count("BRIEF") == 1


@row("the same", "another severity, scope or threshold for it")
def _(desk: Desk) -> None:
    named(desk)
    mine = block(desk.text("suite.py"), "BRIEF = Criterion(")
    overlay = says("is-brief", severity="LOW")
    assert has_conflict(desk.again(spec(BRIEF, KIND, TRUE), overlay), "suite.py")
    assert mine in desk.text("suite.py")


def named(desk: Desk) -> None:
    """Give the row of the first criterion a name."""
    table = desk.text("suite.py")
    (line,) = (each for each in table.splitlines() if "checks.is_brief" in each)
    mine = f"BRIEF = {line.strip().removesuffix(',')}"
    table = table.replace(line, "    BRIEF,").replace(
        "CRITERIA:", f"{mine}\n\nCRITERIA:"
    )
    desk.path("suite.py").write_text(table, "utf-8")
    assert set(desk.results()) >= {"is-brief"}


@row("imported `check` or `Judge` under another name", "anything")
def _(desk: Desk) -> None:
    fill(desk)
    text = desk.text("checks.py").replace("@check(", "@rule(")
    text = text.replace("import check,", "import check as rule,")
    assert "check as rule" in text
    desk.path("checks.py").write_text(text, "utf-8")
    desk.again(spec({**BRIEF, "description": "Brief!"}, KIND, TRUE))
    assert '@rule("is-brief", "Brief!"' in desk.text("checks.py")
    assert desk.results()["is-brief"] == "pass"


@row(
    "put a check under an `if`, in a class, or made it by a call", "nothing new for it"
)
def _(desk: Desk) -> None:
    under_an_if(desk)
    mine = desk.text("checks.py")
    desk.again(spec(BRIEF, KIND, TRUE, NEW))
    assert mine[mine.index("if True:") :].split("\n\n")[0] in desk.text("checks.py")
    assert desk.results()["is-brief"] == "pass"


@row("the same", "other words for it")
def _(desk: Desk) -> None:
    under_an_if(desk)
    done = desk.again(spec({**BRIEF, "description": "Brief!"}, KIND, TRUE))
    assert has_conflict(done, "checks.py")
    assert "Brief!" not in desk.text("checks.py")
    assert desk.results()["is-brief"] == "pass"


def under_an_if(desk: Desk) -> None:
    fill(desk)
    text = desk.text("checks.py")
    mine = block(text, '@check("is-brief"')
    nested = "if True:\n" + "\n".join(f"    {line}" for line in mine.splitlines())
    desk.path("checks.py").write_text(text.replace(mine, nested), "utf-8")


@row("deleted a check, a judge or a row", "still has the criterion")
def _(desk: Desk) -> None:
    text = desk.text("checks.py")
    gone = block(text, '@check("is-brief"')
    desk.path("checks.py").write_text(text.replace(gone, ""), "utf-8")
    desk.again(spec(BRIEF, KIND, TRUE))
    assert "def is_brief(" not in desk.text("checks.py")
    assert desk.results()["is-brief"] == "indeterminate"
    assert "skipped by the suite's owner" in desk.blocked["is-brief"]


@row("deleted a file", "still has it")
def _(desk: Desk) -> None:
    for name in ("README.md", "judges.py"):
        desk.path(name).unlink()
    desk.again(spec(BRIEF, KIND, TRUE))
    assert not desk.path("README.md").exists() and desk.path("judges.py").exists()


@row("a syntax error", "anything")
def _(desk: Desk) -> None:
    fill(desk)
    good = desk.text("checks.py")
    desk.path("checks.py").write_text(good + "\n\nX = (\n", "utf-8")
    kinder = {**KIND, "description": "Every word is kind."}
    done = desk.again(spec(BRIEF, kinder, TRUE))
    assert actions(done)["checks.py"] == "conflict"
    assert "Python can't read it" in notes(done)
    assert desk.text("checks.py") == good + "\n\nX = (\n"
    assert "Every word is kind." in desk.text("judges.py")


@row("changed a body", "bound it to a primitive")
def _(desk: Desk) -> None:
    fill(desk)
    overlay = says("is-brief", check={"output.present": {}})
    assert has_conflict(desk.again(spec(BRIEF, KIND, TRUE), overlay), "checks.py")
    assert 'return passed("mine")' in desk.text("checks.py")
    assert desk.results()["is-brief"] == "pass"


@pytest.mark.parametrize("play", _PLAYS.values(), ids=[" | ".join(k) for k in _PLAYS])
def test_a_row(desk: Desk, play: Play) -> None:
    play(desk)


def test_each_file_with_a_conflict_is_named_with_what_ends_it(desk: Desk) -> None:
    fill(desk)
    named(desk)
    overlay = says("is-brief", severity="LOW", check={"output.present": {}})
    write_json(desk.folder / "clerk.evals.yaml", overlay)
    done = helix_gen("suite", "clerk.yaml", "-o", "suite", cwd=desk.folder)
    assert done.returncode == 3
    told = [line for line in done.stderr.splitlines() if line.startswith("to resolve")]
    assert told == [
        f"to resolve: helix-gen resolve suite/{PACKAGE}/{name} "
        "--ours | --theirs | --edited"
        for name in ("checks.py", "suite.py")
    ]
