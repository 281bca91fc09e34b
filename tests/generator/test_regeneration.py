"""A suite that was edited, a spec that changed: what its owner finds afterwards."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.regenerated import PACKAGE, Desk, actions, notes
from support.suite_cards import HARNESS_TARGET, action, card, criterion, scenario

MINE = '    """Mine."""\n    return _passes("mine")\n'
HELPER = (
    "\n\ndef _passes(why: str) -> Verdict:\n"
    '    """Pass."""\n'
    "    return passed(why)\n"
)
IMPORTS = ("import Verdict\n", "import Verdict, passed\n")


def spec(*criteria: dict[str, Any], **parts: Any) -> dict[str, Any]:
    parts.setdefault("scenarios", [scenario("rush-hour"), scenario("night")])
    return card(criteria=criteria, **parts)


BRIEF, KIND, TRUE = (
    criterion("is-brief"),
    criterion("is-kind", "llm-judge"),
    criterion("is-true"),
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Two checks and a judge; the first check is filled in, with a helper."""
    made = Desk(tmp_path, spec(BRIEF, KIND, TRUE))
    fill(made)
    yield made


def fill(desk: Desk, place: str = "is-brief") -> None:
    text = desk.text("checks.py")
    head, found, rest = text.partition(f'@check("{place}"')
    assert found
    rest = rest.replace(unwritten_body(rest), MINE, 1)
    text = head.rstrip("\n") + HELPER + "\n\n" + found + rest
    desk.path("checks.py").write_text(text.replace(*IMPORTS), "utf-8")


def unwritten_body(text: str) -> str:
    start = text.index('    """')
    return text[start : text.index("return unwritten()\n", start)] + (
        "return unwritten()\n"
    )


def test_what_its_owner_wrote_stays_and_what_is_new_arrives(desk: Desk) -> None:
    reworded = {**BRIEF, "description": "Every answer is brief."}
    done = desk.again(spec(reworded, KIND, criterion("is-safe"), TRUE))
    assert actions(done)["checks.py"] == "merge"
    text = desk.text("checks.py")
    assert "Every answer is brief." in text
    assert MINE in text and HELPER in text
    assert text.index("is_safe") < text.index("is_true")
    found = desk.results()
    assert found["is-brief"] == "pass"
    assert found["is-safe"] == "indeterminate"


def test_only_what_its_owner_touched_is_looked_at(desk: Desk) -> None:
    done = desk.again(spec(BRIEF, KIND, TRUE))
    assert "keep" == actions(done)["checks.py"]
    assert done.changes is not None and not done.changes.drift


class TestRenamed:
    def test_the_body_moves_along(self, desk: Desk) -> None:
        overlay = {"criteria": {"is-short": {"renamed_from": "is-brief"}}}
        short = {**BRIEF, "id": "is-short"}
        done = desk.again(spec(short, KIND, TRUE), overlay)
        text = desk.text("checks.py")
        assert "def is_short(" in text and MINE in text and "is_brief" not in text
        assert "checks.is_short" in desk.text("suite.py")
        assert done.changes is not None and not done.changes.conflicts
        assert desk.results()["is-short"] == "pass"

    def test_a_row_keeps_its_severity_and_others_follow(self, desk: Desk) -> None:
        desk.edit(
            "suite.py",
            ('checks.is_brief, severity="HIGH"', 'checks.is_brief, severity="CRIT"'),
        )
        desk.edit("checks.py", ('    return _passes("mine")', HELPER_CALL))
        overlay = {
            "criteria": {
                "is-short": {"renamed_from": "is-brief"},
                "is-warm": {"renamed_from": "is-kind"},
            }
        }
        short, warm = {**BRIEF, "id": "is-short"}, {**KIND, "id": "is-warm"}
        desk.again(spec(short, warm, TRUE), overlay)
        suite = desk.text("suite.py")
        assert 'checks.is_short, severity="CRIT"' in suite
        assert "judges.is_warm" in suite
        assert desk.results()["is-short"] == "pass"

    def test_a_name_of_another_length_moves_no_word(self, desk: Desk) -> None:
        desk.edit("judges.py", ('"is-kind holds."', '"is-kind holds, always."'))
        overlay = {"criteria": {"is-of-good-will": {"renamed_from": "is-kind"}}}
        done = desk.again(spec(BRIEF, {**KIND, "id": "is-of-good-will"}, TRUE), overlay)
        assert done.changes is not None and not done.changes.conflicts
        text = desk.text("judges.py")
        assert 'is_of_good_will = Judge(\n    "is-of-good-will",' in text
        assert '"is-kind holds, always."' in text
        assert "is-of-good-will" in desk.results()

    def test_both_changed_it_besides(self, desk: Desk) -> None:
        desk.edit("judges.py", ('"is-kind holds."', '"is-kind holds, always."'))
        overlay = {"criteria": {"is-of-good-will": {"renamed_from": "is-kind"}}}
        good = {**KIND, "id": "is-of-good-will", "description": "It is of good will."}
        done = desk.again(spec(BRIEF, good, TRUE), overlay)
        assert done.changes is not None
        (conflict,) = done.changes.conflicts
        assert conflict.conflicts == ("is_of_good_will[1]",)
        assert '"is-kind holds, always."' in desk.text("judges.py")
        assert "is-of-good-will" in desk.results()

    def test_a_copy_under_the_earlier_id_is_another_check(self, desk: Desk) -> None:
        text = desk.text("checks.py")
        copy = text[text.index('@check("is-true"') :].replace("is_true", "is_true_too")
        desk.path("checks.py").write_text(f"{text}\n\n{copy}", "utf-8")
        overlay = {"criteria": {"is-right": {"renamed_from": "is-true"}}}
        right = {**TRUE, "id": "is-right"}
        desk.again(spec(BRIEF, KIND, right), overlay)
        # The overlay still says it; the base has the new id by now.
        desk.again(spec(BRIEF, KIND, {**right, "goal": "No error"}), overlay)
        assert "def is_right(" in desk.text("checks.py")
        assert "def is_true_too(" in desk.text("checks.py")
        assert "checks.is_right" in desk.text("suite.py")
        desk.results()

    def test_its_owner_renamed_the_function_too(self, desk: Desk) -> None:
        desk.edit("checks.py", ("def is_brief(", "def short_enough("))
        desk.edit("suite.py", ("checks.is_brief", "checks.short_enough"))
        overlay = {"criteria": {"is-short": {"renamed_from": "is-brief"}}}
        desk.again(spec({**BRIEF, "id": "is-short"}, KIND, TRUE), overlay)
        assert "checks.short_enough" in desk.text("suite.py")
        assert desk.results()["is-short"] == "pass"

    def test_its_owner_renamed_the_function_and_forgot_the_row(
        self, desk: Desk
    ) -> None:
        desk.edit("checks.py", ("def is_brief(", "def short_enough("))
        desk.again(spec(BRIEF, KIND, TRUE))
        assert "checks.short_enough" in desk.text("suite.py")
        assert desk.results()["is-brief"] == "pass"


LOW = 'checks.is_brief, severity="LOW"'
HELPER_CALL = '    return _passes("mine") if is_brief else _passes("never")'


class TestDeleted:
    def test_a_function_stays_deleted_and_its_criterion_is_uncertain(
        self, desk: Desk
    ) -> None:
        text = desk.text("checks.py")
        start = text.index('@check("is-true"')
        desk.path("checks.py").write_text(text[:start].rstrip() + "\n", "utf-8")
        done = desk.again(spec(BRIEF, KIND, TRUE))
        assert done.changes is not None and done.changes.skipped == ("is-true",)
        assert "deleted by you, stays away: is-true" in notes(done)
        assert "is_true" not in desk.text("checks.py")
        found = desk.results()
        assert found["is-true"] == "indeterminate"
        assert "skipped by the suite's owner" in desk.blocked["is-true"]
        # It comes back when its owner writes it again.
        desk.path("checks.py").write_text(text, "utf-8")
        desk.again(spec(BRIEF, KIND, TRUE))
        assert "skipped" not in desk.text("suite.py")
        assert "checks.is_true" in desk.text("suite.py")

    def test_a_judge_that_its_owner_deleted(self, desk: Desk) -> None:
        text = desk.text("judges.py")
        start = text.index("is_kind = Judge(")
        end = text.index("\n)\n", start) + 3
        desk.path("judges.py").write_text(text[:start] + text[end:], "utf-8")
        done = desk.again(spec({**BRIEF, "description": "Brief!"}, KIND, TRUE))
        assert done.cards is not None
        assert done.cards["evals"]["skipped"] == ["is-kind"]
        assert desk.results()["is-kind"] == "indeterminate"
        assert "skipped" in desk.blocked["is-kind"]

    def test_a_row_that_its_owner_deleted_is_never_silently_absent(
        self, desk: Desk
    ) -> None:
        suite = desk.text("suite.py")
        row = next(r for r in suite.split("\n") if "checks.is_true" in r)
        desk.edit("suite.py", (row + "\n", ""))
        text = desk.text("checks.py")
        start = text.index('@check("is-true"')
        desk.path("checks.py").write_text(text[:start].rstrip() + "\n", "utf-8")
        desk.again(spec(BRIEF, KIND, TRUE))
        assert desk.results()["is-true"] == "indeterminate"

    def test_a_row_alone(self, desk: Desk) -> None:
        suite = desk.text("suite.py")
        row = next(r for r in suite.split("\n") if "checks.is_true" in r)
        desk.edit("suite.py", (row + "\n", ""))
        done = desk.again(spec(BRIEF, KIND, TRUE))
        assert done.changes is not None and done.changes.skipped == ("is-true",)
        assert desk.results()["is-true"] == "indeterminate"
        assert "its row in suite.py was deleted" in desk.blocked["is-true"]
        suite = desk.text("suite.py")
        start = suite.index("skipped(", suite.index("import Suite"))
        end = suite.index(")", suite.index("why=")) + 1
        desk.path("suite.py").write_text(
            suite[:start] + "checks.is_true" + suite[end:], "utf-8"
        )
        desk.again(spec(BRIEF, KIND, TRUE))
        assert "skipped" not in desk.text("suite.py").partition("SUITE")[0].replace(
            "import Criterion, skipped", ""
        )
        desk.results()

    def test_a_row_that_says_it_is_skipped_comes_again(self, desk: Desk) -> None:
        text = desk.text("checks.py")
        start = text.index('@check("is-true"')
        desk.path("checks.py").write_text(text[:start].rstrip() + "\n", "utf-8")
        desk.again(spec(BRIEF, KIND, TRUE))
        row = next(r for r in desk.text("suite.py").split("\n") if "skipped(" in r)
        desk.edit(
            "suite.py", (row + "\n", ""), ('checks.is_brief, severity="HIGH"', LOW)
        )
        desk.again(spec(BRIEF, KIND, TRUE))
        assert LOW in desk.text("suite.py")
        assert desk.results()["is-true"] == "indeterminate"

    def test_the_only_row_of_a_judge(self, desk: Desk) -> None:
        judged = [r for r in desk.text("suite.py").split("\n") if "judges." in r]
        for row in judged[1:]:
            desk.edit("suite.py", (row + "\n", ""))
        desk.again(spec(BRIEF, KIND, TRUE))
        assert "its row" in desk.text("suite.py")
        desk.again(spec(BRIEF, TRUE, criterion("new")))
        assert "scenario-behavior" in desk.results()

    @pytest.mark.parametrize(
        ("name", "start"),
        [
            ("suite.py", "CRITERIA: list"),
            ("suite.py", "SUITE = "),
            ("subject.py", "SUBJECT = "),
        ],
    )
    def test_what_the_suite_cannot_do_without_comes_back(
        self, desk: Desk, name: str, start: str
    ) -> None:
        text = desk.text(name)
        at = text.index(f"\n{start}") + 1
        end = text.index("\n]\n" if "list" in start else "\n)\n", at) + 3
        desk.path(name).write_text(text[:at] + text[end:], "utf-8")
        desk.again(spec(BRIEF, KIND, TRUE))
        assert desk.results()["is-brief"] == "pass"
        assert "skipped" not in desk.text("suite.py")

    @pytest.mark.parametrize(
        "name", ["checks.py", "judges.py", "suite.py", "subject.py"]
    )
    def test_a_module_that_the_suite_needs_comes_back(
        self, desk: Desk, name: str
    ) -> None:
        desk.path(name).unlink()
        done = desk.again(spec(BRIEF, KIND, TRUE, criterion("new")))
        assert actions(done)[name] == "create"
        desk.results()

    def test_a_page_that_nobody_needs_stays_away_until_it_is_asked_for(
        self, desk: Desk
    ) -> None:
        from helix_gen.resolving import execute

        desk.path("README.md").unlink()
        done = desk.again(spec(BRIEF, KIND, criterion("new")))
        assert actions(done)["README.md"] == "skip"
        desk.path("target.py").unlink()
        words: dict[str, Any] = {"json_format": False, "quiet": True}
        readme, target = desk.path("README.md"), desk.path("target.py")
        assert execute(paths=[readme, target], decision="theirs", **words) == 0
        assert readme.exists()
        done = desk.again(spec(BRIEF, KIND, criterion("new")))
        assert "new" in readme.read_text() and target.exists()


class TestGone:
    def test_untouched_goes_and_edited_stays_unregistered(self, desk: Desk) -> None:
        done = desk.again(spec(KIND))
        text = desk.text("checks.py")
        assert "is_true" not in text and MINE in text
        assert "is_brief" not in desk.text("suite.py")
        assert "no longer generated, kept for your edits: is_brief" in notes(done)
        assert set(desk.results()) >= {"is-kind"}

    def test_an_edited_row_is_put_aside(self, desk: Desk) -> None:
        desk.edit(
            "suite.py",
            ('checks.is_true, severity="HIGH"', 'checks.is_true, severity="LOW"'),
        )
        done = desk.again(spec(BRIEF, KIND))
        assert "is_true" not in desk.text("suite.py")
        assert f".helix/kept/{PACKAGE}/suite.py.kept" in notes(done)
        kept = desk.root / f".helix/kept/{PACKAGE}/suite.py.kept"
        assert 'checks.is_true, severity="LOW"' in kept.read_text()
        desk.results()

    def test_what_other_code_of_its_owner_uses_stays(self, desk: Desk) -> None:
        desk.path("mine.py").write_text(
            "from .checks import is_true\n\nBOTH = [is_true]\n", "utf-8"
        )
        desk.edit(
            "target.py", ("import Case\n", "import Case\nfrom .mine import BOTH\n")
        )
        desk.again(spec(BRIEF, KIND))
        assert "def is_true(" in desk.text("checks.py")
        assert "is_true" not in desk.text("suite.py")
        desk.results()

    def test_every_check_is_gone(self, desk: Desk) -> None:
        desk.again(spec(KIND))
        desk.results()
        desk.again(spec(BRIEF))
        assert MINE in desk.text("checks.py")
        desk.results()

    def test_facts_that_its_owner_still_uses_stay(self, tmp_path: Path) -> None:
        acting = spec(BRIEF, actions=[action("send", "send.mail")])
        desk = Desk(tmp_path, acting)
        fill(desk)
        desk.edit("checks.py", ('_passes("mine")', "_passes(DECLARED_TOOLS[0])"))
        assert "DECLARED_TOOLS" in desk.text("subject.py")
        desk.again(spec(BRIEF))
        assert "DECLARED_TOOLS" in desk.text("subject.py")
        assert desk.results()["is-brief"] == "pass"


class TestRetyped:
    def test_a_check_becomes_a_judge(self, desk: Desk) -> None:
        judged = {**BRIEF, "type": "llm-judge"}
        done = desk.again(spec(judged, KIND, {**TRUE, "type": "llm-judge"}))
        text = desk.text("checks.py")
        assert MINE in text and "is_true" not in text
        assert "kept for your edits: is_brief" in notes(done)
        suite = desk.text("suite.py")
        assert "judge=judges.is_brief" in suite and "checks.is_brief" not in suite
        desk.results()

    def test_a_judge_becomes_a_check(self, desk: Desk) -> None:
        desk.edit("judges.py", ("is_kind = Judge(", "# Mine.\nis_kind = Judge("))
        desk.again(spec(BRIEF, {**KIND, "type": "code-check"}, TRUE))
        assert "# Mine." in desk.text("judges.py")
        assert "check=checks.is_kind" in desk.text("suite.py")
        desk.results()

    def test_a_hybrid_whose_check_its_owner_deleted(self, desk: Desk) -> None:
        overlay = {"criteria": {"is-true": {"method": "hybrid"}}}
        desk.again(spec(BRIEF, KIND, TRUE), overlay)
        text = desk.text("checks.py")
        start = text.index('@check("is-true"')
        desk.path("checks.py").write_text(text[:start].rstrip() + "\n", "utf-8")
        desk.again(spec(BRIEF, KIND, TRUE), overlay)
        assert desk.results()["is-true"] == "indeterminate"


class TestBound:
    """The overlay binds a check that its owner had filled in: both changed it."""

    OVERLAY: ClassVar[dict[str, Any]] = {
        "criteria": {"is-brief": {"check": {"output.present": {}}}}
    }

    @pytest.fixture
    def conflict(self, desk: Desk) -> Desk:
        done = desk.again(spec(BRIEF, KIND, TRUE, criterion("new")), self.OVERLAY)
        assert actions(done)["checks.py"] == "conflict"
        assert MINE in desk.text("checks.py")
        assert "def new(" in desk.text("checks.py")
        assert desk.results()["is-brief"] == "pass"
        return desk

    def resolve(self, desk: Desk, decision: Any) -> int:
        from helix_gen.resolving import execute

        return execute(
            paths=[desk.path("checks.py")],
            decision=decision,
            json_format=False,
            quiet=True,
        )

    def after(self, desk: Desk) -> None:
        done = desk.again(spec(BRIEF, KIND, TRUE, criterion("new")), self.OVERLAY)
        assert done.changes is not None and not done.changes.conflicts
        assert not (desk.root / ".helix/conflicts").exists()
        assert not list(desk.root.rglob("*.pending"))
        desk.results()

    def test_ours(self, conflict: Desk) -> None:
        assert self.resolve(conflict, "ours") == 0
        assert MINE in conflict.text("checks.py")
        self.after(conflict)

    def test_theirs(self, conflict: Desk) -> None:
        assert self.resolve(conflict, "theirs") == 0
        text = conflict.text("checks.py")
        assert MINE not in text and HELPER in text
        assert "output.present(case, trace)" in text
        self.after(conflict)

    def test_edited(self, conflict: Desk) -> None:
        conflict.edit("checks.py", ('_passes("mine")', "output.present(case, trace)"))
        assert self.resolve(conflict, "edited") == 0
        self.after(conflict)

    def test_a_file_that_is_no_python_is_not_taken_as_resolved(
        self, conflict: Desk
    ) -> None:
        conflict.edit("checks.py", ("def new(", "def new(("))
        for decision in ("ours", "edited"):
            assert self.resolve(conflict, decision) == 2
        assert (conflict.root / ".helix/conflicts/README.md").exists()

    def test_markers_for_those_who_like_them(self, desk: Desk) -> None:
        again = spec(BRIEF, KIND, TRUE)
        desk.again(again, self.OVERLAY, conflict="markers")
        text = desk.text("checks.py")
        assert text.count("<<<<<<< yours") == text.count(">>>>>>> helix-gen") == 1
        assert self.resolve(desk, "edited") == 2
        assert self.resolve(desk, "theirs") == 0
        text = desk.text("checks.py")
        assert "<<<<<<<" not in text and HELPER in text
        assert "output.present(case, trace)" in text
        done = desk.again(again, self.OVERLAY)
        assert done.changes is not None and not done.changes.conflicts
        desk.results()

    def test_markers_and_then_ours(self, desk: Desk) -> None:
        again = spec(BRIEF, KIND, TRUE)
        desk.again(again, self.OVERLAY, conflict="markers")
        assert self.resolve(desk, "ours") == 0
        assert MINE in desk.text("checks.py")
        done = desk.again(again, self.OVERLAY)
        assert done.changes is not None and not done.changes.conflicts
        assert desk.results()["is-brief"] == "pass"


class TestBroken:
    """Its owner left a file that Python can't read."""

    @pytest.mark.parametrize("name", ["checks.py", "judges.py", "subject.py"])
    def test_the_rest_goes_on_and_imports_once_it_is_mended(
        self, desk: Desk, name: str
    ) -> None:
        good = desk.text(name)
        desk.path(name).write_text(good + "\n\nX = (\n", "utf-8")
        late = {**KIND, "id": "is-late"}
        renamed = {"criteria": {"is-right": {"renamed_from": "is-true"}}}
        changed = spec(
            {**BRIEF, "description": "Brief!"},
            KIND,
            {**TRUE, "id": "is-right"},
            criterion("new"),
            late,
            actions=[action("send", "send.mail")],
        )
        done = desk.again(changed, renamed)
        assert actions(done)[name] == "conflict"
        assert "Python can't read it" in notes(done)
        assert desk.text(name) == good + "\n\nX = (\n"
        assert desk.command("run", "--no-judge").returncode == 2
        desk.path(name).write_text(good, "utf-8")
        now = desk.criteria
        if name == "subject.py":  # what needs it waits, so the suite is the old one
            assert actions(done)["suite.py"] == "wait"
            desk.criteria = ["is-brief", "is-kind", "is-true"]
        found = desk.results()  # before the next generation
        assert found["is-brief"] == "pass"
        desk.criteria = now
        desk.again(changed, renamed)
        assert desk.results()["is-brief"] == "pass"
        assert not (desk.root / ".helix/conflicts").exists()
        assert "skipped" not in desk.text("suite.py")

    def test_the_table_itself(self, desk: Desk) -> None:
        good = desk.text("suite.py")
        desk.path("suite.py").write_text(good + "\n\nX = (\n", "utf-8")
        desk.again(spec(BRIEF, criterion("new")))
        # What the broken table registers is still there.
        assert "def is_true(" in desk.text("checks.py")
        assert "is_kind = Judge(" in desk.text("judges.py")
        desk.path("suite.py").write_text(good, "utf-8")
        desk.criteria = ["is-brief"]
        desk.results()
        desk.again(spec(BRIEF, criterion("new")))
        desk.results()


def wrapped(text: str, criterion_id: str, head: str, tail: str) -> str:
    """Put the check of a criterion below a header, indented, and a tail behind it."""
    start = text.index(f'@check("{criterion_id}"')
    end = text.index("return unwritten()", start)
    end = text.index("\n", end) + 1
    lines = text[start:end].split("\n")
    body = "\n".join(f"    {line}" if line else line for line in lines)
    return text[:start] + f"{head}\n{body}{tail}" + text[end:]


class TestInAWayOfTheirOwn:
    """A check that its owner wrote otherwise still decides its criterion."""

    WAYS: ClassVar[dict[str, tuple[str, str]]] = {
        "under a condition": ("if True:  # mine", ""),
        "in a try": ("try:  # mine", "except ImportError:\n    raise\n"),
        "in a class": (
            "class Mine:\n    '''Mine.'''\n",
            "\n\nis_true = Mine.is_true\n",
        ),
        "in a class of two names": (
            "class Mine:\n    '''Mine.'''\n",
            "\n\nis_really_true = Mine.is_true\n",
        ),
    }

    @pytest.fixture(params=[*WAYS, "by a call"])
    def own(self, desk: Desk, request: pytest.FixtureRequest) -> Desk:
        text = desk.text("checks.py")
        if request.param in self.WAYS:
            text = wrapped(text, "is-true", *self.WAYS[request.param])
        else:
            start = text.index('@check("is-true"')
            name = text.index("def is_true", start)
            made = "is_true = " + text[start + 1 : name].strip() + "(mine)\n"
            text = text[:start] + text[name:].replace("is_true", "mine", 1)
            text += f"\n\n{made}"
        text = text.replace("return unwritten()", 'return passed("mine")')
        desk.path("checks.py").write_text(text, "utf-8")
        if "is_really_true" in text:
            desk.edit("suite.py", ("checks.is_true", "checks.is_really_true"))
        return desk

    def test_it_stays_registered(self, own: Desk) -> None:
        text = own.text("checks.py")
        own.again(spec({**BRIEF, "goal": "No word too many"}, KIND, TRUE))
        assert 'passed("mine")' in own.text("checks.py")
        assert own.results()["is-true"] == "pass"
        assert own.text("checks.py").count("is-true") == text.count("is-true")
        assert "skipped" not in own.text("suite.py")

    def test_a_new_statement_for_it_is_a_conflict_and_it_decides_on(
        self, own: Desk
    ) -> None:
        own.again(spec(BRIEF, KIND, {**TRUE, "description": "So it is!"}))
        assert own.results()["is-true"] == "pass"
        assert (own.root / f".helix/conflicts/{PACKAGE}/checks.py.md").exists()

    def test_a_new_id_is_never_silently_absent(self, own: Desk) -> None:
        overlay = {"criteria": {"is-right": {"renamed_from": "is-true"}}}
        own.again(spec(BRIEF, KIND, {**TRUE, "id": "is-right"}), overlay)
        assert own.results()["is-right"] == "indeterminate"
        assert "is in conflict" in own.blocked["is-right"]

    def test_its_criterion_is_gone(self, own: Desk) -> None:
        own.again(spec(BRIEF, KIND))
        assert 'passed("mine")' in own.text("checks.py")
        assert "is-true" not in own.results()


class TestByAnotherName:
    """`check` and `Judge` are known by whatever name they are imported."""

    @pytest.fixture
    def other(self, desk: Desk) -> Desk:
        desk.edit("checks.py", ("import check,", "import check as ask,"))
        desk.edit("checks.py", ("@check(", "@ask("))
        desk.edit("checks.py", ("return unwritten()", 'return passed("mine")'))
        desk.edit("judges.py", ("import Judge", "import Judge as Reader"))
        desk.edit("judges.py", ("= Judge(", "= Reader("))
        return desk

    def test_a_new_statement_arrives(self, other: Desk) -> None:
        kind = {**KIND, "description": "It is of good will."}
        done = other.again(spec(BRIEF, kind, {**TRUE, "description": "So it is!"}))
        assert done.changes is not None and not done.changes.conflicts
        assert '@ask("is-true", "So it is!"' in other.text("checks.py")
        assert '"is-kind",\n    "It is of good will.",' in other.text("judges.py")
        assert other.results()["is-true"] == "pass"

    def test_so_does_a_new_id(self, other: Desk) -> None:
        overlay = {"criteria": {"is-right": {"renamed_from": "is-true"}}}
        other.again(spec(BRIEF, KIND, {**TRUE, "id": "is-right"}), overlay)
        assert other.results()["is-right"] == "pass"

    def test_a_judge_that_both_changed_is_still_a_conflict(self, other: Desk) -> None:
        other.edit("judges.py", ('"is-kind holds."', '"is-kind holds, always."'))
        done = other.again(spec(BRIEF, {**KIND, "description": "Of good will."}, TRUE))
        assert done.changes is not None
        assert [c.conflicts for c in done.changes.conflicts] == [("is_kind[1]",)]
        other.results()


class TestImportsThatNothingUses:
    def test_ours_go_with_the_check_that_used_them(self, desk: Desk) -> None:
        desk.edit("checks.py", ("import Verdict", "import not_applicable, Verdict"))
        text = desk.text("checks.py")
        desk.path("checks.py").write_text(text[: text.index('@check("is-true"')])
        desk.again(spec(BRIEF, KIND, TRUE))
        text = desk.text("checks.py")
        assert "unwritten" not in text
        assert "import not_applicable, Verdict, passed" in text  # its owner's stays
        assert desk.results()["is-true"] == "indeterminate"

    def test_they_come_back_when_something_needs_them(self, desk: Desk) -> None:
        text = desk.text("checks.py")
        desk.path("checks.py").write_text(text[: text.index('@check("is-true"')])
        desk.again(spec(BRIEF, KIND, TRUE))
        desk.again(spec(BRIEF, KIND, TRUE, criterion("is-safe")))
        assert "import check, unwritten" in desk.text("checks.py")
        assert desk.results()["is-safe"] == "indeterminate"

    def test_what_another_file_takes_from_there_stays(self, desk: Desk) -> None:
        text = desk.text("checks.py")
        desk.path("checks.py").write_text(text[: text.index('@check("is-true"')])
        desk.path("mine.py").write_text("from .checks import unwritten as later\n")
        desk.edit("target.py", ("from ._runtime", "from . import mine\nfrom ._runtime"))
        desk.again(spec(BRIEF, KIND, TRUE))
        assert "import check, unwritten" in desk.text("checks.py")
        desk.results()

    def test_nobody_is_told_of_one_that_its_owner_left(self, desk: Desk) -> None:
        desk.edit("checks.py", ("return unwritten()", 'return passed("mine")'))
        done = desk.again(spec(BRIEF, KIND, TRUE))
        assert "unwritten" in desk.text("checks.py")
        assert done.changes is not None and not done.changes.drift


NAMED_ROW = "CRITERIA: list[Criterion] = ["


def name_row(desk: Desk, place: str) -> None:
    """Let the owner take a row out of the table, into a name of its own."""
    row = f'Criterion({place}, severity="HIGH")'
    name = place.rpartition(".")[2].upper()
    desk.edit(
        "suite.py",
        (f"    {row},\n", f"    {name},\n"),
        (NAMED_ROW, f"{name} = {row.replace('HIGH', 'CRIT')}\n\n{NAMED_ROW}"),
    )


def resolved(desk: Desk, decision: str) -> "subprocess.CompletedProcess[str]":
    """End the conflicts of a suite by the command that its owner would use."""
    return subprocess.run(
        [sys.executable, "-m", "helix_gen", "resolve", str(desk.root), f"--{decision}"],
        capture_output=True,
        text=True,
        check=False,
    )


class TestAnIdThatAnotherHad:
    """One criterion takes the id of another, which is gone: the suite runs on."""

    ROWS: ClassVar[dict[str, str]] = {
        "is-brief": "check=checks.is_brief",
        "is-kind": "judge=judges.is_kind",
        "is-true": "check=checks.is_true",
    }

    @pytest.mark.parametrize("named", [(), ("is-true",), ("is-brief", "is-kind")])
    @pytest.mark.parametrize("filled", ["", "is-brief", "is-true"])
    @pytest.mark.parametrize(
        ("taker", "taken"),
        [
            ("is-brief", "is-true"),
            ("is-true", "is-brief"),
            ("is-kind", "is-true"),
            ("is-true", "is-kind"),
        ],
    )
    def test_whatever_its_owner_had_made_of_both(
        self,
        tmp_path: Path,
        named: tuple[str, ...],
        filled: str,
        taker: str,
        taken: str,
    ) -> None:
        desk = Desk(tmp_path, spec(BRIEF, KIND, TRUE))
        for each in named:
            name_row(desk, self.ROWS[each])
        if filled:
            fill(desk, filled)
        left = [c for c in (BRIEF, KIND, TRUE) if c["id"] != taken]
        criteria = [{**c, "id": taken} if c["id"] == taker else c for c in left]
        overlay = {"criteria": {taken: {"renamed_from": taker}}}
        done = desk.again(spec(*criteria), overlay)
        assert set(desk.results()) >= {c["id"] for c in criteria}
        if not filled and (taken != "is-kind" or taken not in named):
            # (A named row of a judge does not register the check that takes its id.)
            assert done.changes is not None and not done.changes.conflicts
            assert "skipped" not in desk.text("suite.py")
        elif filled == taken and "is-kind" not in (taker, taken):
            # Two functions of one name: its owner says which of them it is to be.
            assert done.changes is not None and done.changes.conflicts

    def test_the_new_version_takes_the_place_of_a_table_that_would_clash(
        self, tmp_path: Path
    ) -> None:
        desk = Desk(tmp_path, spec(BRIEF, KIND, TRUE))
        name_row(desk, self.ROWS["is-kind"])
        overlay = {"criteria": {"is-kind": {"renamed_from": "is-true"}}}
        criteria = BRIEF, {**TRUE, "id": "is-kind"}
        desk.again(spec(*criteria), overlay)
        done = resolved(desk, "theirs")
        assert done.returncode == 0, done.stderr
        assert "IS_KIND" not in desk.text("suite.py")
        kept = desk.root / f".helix/kept/{PACKAGE}/suite.py.kept"
        assert "IS_KIND" in kept.read_text("utf-8")
        assert desk.results()["is-kind"] == "indeterminate"

    def test_what_would_not_import_is_refused_with_what_it_lacks(
        self, tmp_path: Path
    ) -> None:
        desk = Desk(tmp_path, spec(BRIEF, KIND, TRUE))
        name_row(desk, self.ROWS["is-brief"])
        fill(desk, "is-true")
        overlay = {"criteria": {"is-true": {"renamed_from": "is-brief"}}}
        desk.again(spec({**BRIEF, "id": "is-true"}, KIND), overlay)
        text = desk.text("checks.py")
        done = resolved(desk, "theirs")
        assert done.returncode == 2
        assert "would lack `checks.is_brief`, which suite.py uses" in done.stderr
        assert desk.text("checks.py") == text
        desk.results()

    def test_a_named_row_follows_its_criterion(self, desk: Desk) -> None:
        name_row(desk, self.ROWS["is-brief"])
        overlay = {"criteria": {"is-true": {"renamed_from": "is-brief"}}}
        desk.again(spec({**BRIEF, "id": "is-true"}, KIND), overlay)
        assert "    IS_BRIEF,\n" in desk.text("suite.py")
        assert desk.results()["is-true"] == "pass"

    def test_a_named_row_of_which_the_spec_says_something_new(self, desk: Desk) -> None:
        name_row(desk, self.ROWS["is-brief"])
        overlay = {"criteria": {"is-brief": {"severity": "LOW"}}}
        done = desk.again(spec(BRIEF, KIND, TRUE), overlay)
        assert done.changes is not None
        assert [c.path for c in done.changes.conflicts] == [f"{PACKAGE}/suite.py"]
        assert 'IS_BRIEF = Criterion(check=checks.is_brief, severity="CRIT")' in (
            desk.text("suite.py")
        )
        desk.results()

    def test_a_named_row_whose_criterion_is_gone(self, desk: Desk) -> None:
        name_row(desk, self.ROWS["is-brief"])
        desk.again(spec(KIND, TRUE))
        assert "    IS_BRIEF,\n" not in desk.text("suite.py")
        assert "is-brief" not in desk.results()


class TestOtherFiles:
    def test_pages_tests_and_settings_merge_by_their_lines(self, desk: Desk) -> None:
        desk.edit("README.md", ("## Run it\n", "Ask Dana first.\n\n## Run it\n"))
        desk.edit("pyproject.toml", ('version = "0"', 'version = "3"'))
        desk.edit("tests/test_evals.py", ("def test_gate()", "def test_the_gate()"))
        done = desk.again(spec(BRIEF, KIND, TRUE, criterion("new")))
        assert "Ask Dana first." in desk.text("README.md")
        assert "`new`" in desk.text("README.md")
        assert 'version = "3"' in desk.text("pyproject.toml")
        assert "def test_the_gate()" in desk.text("tests/test_evals.py")
        assert done.changes is not None and not done.changes.conflicts

    def test_a_severity_and_a_scope_stand_beside_new_criteria(self, desk: Desk) -> None:
        desk.edit(
            "suite.py",
            (
                'checks.is_true, severity="HIGH"',
                'checks.is_true, severity="CRIT", passes=rate(">= 0.5")',
            ),
            ("import Criterion", "import Criterion, rate"),
        )
        more = [criterion(f"is-more-{n}") for n in range(3)]
        overlay = {"criteria": {"is-true": {"applies_to": {"scenarios": ["night"]}}}}
        desk.again(spec(BRIEF, KIND, *more[:2], TRUE, more[2]), overlay)
        suite = desk.text("suite.py")
        for words in ('severity="CRIT"', 'rate(">= 0.5")', 'scenarios=["night"]'):
            assert words in suite
        desk.results()

    def test_a_table_that_its_owner_wrote_in_another_way(self, desk: Desk) -> None:
        text = desk.text("suite.py")
        desk.path("suite.py").write_text(
            text.replace("SUITE = Suite(", "CRITERIA += []\n\nSUITE = Suite("), "utf-8"
        )
        desk.again(spec(BRIEF, KIND, criterion("new"), TRUE))
        assert "CRITERIA += []" in desk.text("suite.py")
        assert "new" in desk.results()

    def test_a_criterion_of_ones_own(self, desk: Desk) -> None:
        desk.path("mine.py").write_text(
            desk.text("checks.py").replace('@check("is-brief"', '@check("is-mine"'),
            "utf-8",
        )
        desk.edit(
            "suite.py",
            ("import GENERATOR, SPEC_SHA256, checks, judges", OWN_IMPORT),
            (
                "CRITERIA: list[Criterion] = [\n",
                "CRITERIA: list[Criterion] = [\n    Criterion(check=mine.is_brief),\n",
            ),
        )
        desk.again(spec(BRIEF, KIND, criterion("new"), TRUE))
        found = desk.results()
        assert found["is-mine"] == "pass"
        # The spec takes it up: its owner's stays, and there are no two of one id.
        done = desk.again(spec(BRIEF, KIND, criterion("is-mine"), TRUE))
        assert done.changes is not None
        assert desk.results()["is-mine"] in ("pass", "indeterminate")

    def test_an_engine_that_changes(self, desk: Desk) -> None:
        desk.again(spec(BRIEF, KIND, TRUE, targets=[HARNESS_TARGET]))
        assert desk.command("cases").returncode == 0
        assert '"native-matrix"' in desk.text("suite.py")
        assert MINE in desk.text("checks.py")

    def test_windows_endings_everywhere(self, desk: Desk) -> None:
        for path in desk.root.rglob("*"):
            if path.is_file() and ".helix" not in path.parts:
                path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        desk.again(spec({**BRIEF, "description": "Brief!"}, KIND, criterion("new")))
        for name in ("checks.py", "suite.py", "README.md"):
            data = desk.path(name).read_bytes()
            assert data.count(b"\n") == data.count(b"\r\n")
        desk.results()


OWN_IMPORT = "import GENERATOR, SPEC_SHA256, checks, judges, mine"


class TestSettings:
    """`evals.toml` is written once; what the overlay says later is said with its lines."""

    ONE: ClassVar[dict[str, Any]] = {"judge": {"provider": "openai", "model": "m-1"}}
    TWO: ClassVar[dict[str, Any]] = {"judge": {"provider": "openai", "model": "m-2"}}

    @pytest.fixture
    def judged(self, tmp_path: Path) -> Desk:
        return Desk(tmp_path, spec(BRIEF, KIND), self.ONE)

    def said(self, desk: Desk, overlay: dict[str, Any] | None, *more: Any) -> str:
        done = desk.again(spec(BRIEF, KIND, *more), overlay)
        assert done.changes is not None
        return next(c.note for c in done.changes.files if c.path == "evals.toml")

    def test_nothing_is_said_where_nothing_changed(self, judged: Desk) -> None:
        assert self.said(judged, self.ONE, criterion("a-new-one")) == ""
        judged.edit("evals.toml", ('"m-1"', '"mine"'))
        assert self.said(judged, self.ONE) == "yours"

    def test_another_judge_is_said_until_the_file_follows(self, judged: Desk) -> None:
        wanted = 'to follow it, write `model = "m-2"` under [judge]'
        assert self.said(judged, self.TWO).endswith(wanted)
        assert self.said(judged, self.TWO, criterion("new")).endswith(wanted)
        judged.edit("evals.toml", ('"m-1"', '"m-2"'))
        assert self.said(judged, self.TWO) == "yours"
        judged.edit("evals.toml", ('"m-2"', '"mine"'))
        assert self.said(judged, self.TWO) == "yours"

    def test_or_until_the_overlay_goes_back(self, judged: Desk) -> None:
        assert "m-2" in self.said(judged, self.TWO)
        assert self.said(judged, self.ONE) == ""

    def test_a_target_and_no_judge(self, judged: Desk) -> None:
        said = self.said(judged, {"target": "python:agent:run"})
        assert '`target = "python:agent:run"`' in said
        assert "no `model` under [judge]" in said

    def test_a_file_that_is_no_toml_is_its_owners(self, judged: Desk) -> None:
        judged.edit("evals.toml", ("[judge]", "[judge"))
        assert "write" in self.said(judged, self.TWO)


class TestRebuilt:
    @pytest.mark.parametrize("bases", [True, False])
    @pytest.mark.parametrize("how", ["missing", "broken", "all-memory"])
    def test_a_lost_manifest_is_made_anew_and_no_edit_is_lost(
        self, desk: Desk, how: str, bases: bool
    ) -> None:
        import shutil

        memory = desk.root / ".helix"
        if how == "missing":
            (memory / "manifest.json").unlink()
        elif how == "broken":
            (memory / "manifest.json").write_text("<<<<<<< HEAD\n")
        else:
            (memory / "manifest.json").unlink()
            (memory / "rows.txt").unlink()
        if not bases:
            shutil.rmtree(memory / "base")
        rows = desk.text("dataset.jsonl")
        again = spec({**BRIEF, "description": "Brief!"}, KIND, TRUE, criterion("new"))
        done = desk.again(again, rebuild=True)
        text = desk.text("checks.py")
        assert MINE in text and HELPER in text and "def new(" in text
        assert desk.text("dataset.jsonl").startswith(rows)
        assert desk.results()["is-brief"] == "pass"
        assert done.changes is not None
        assert bool(done.changes.conflicts) == (not bases)
        if how == "broken":
            kept = memory / "kept/manifest.json.kept"
            assert kept.read_text() == "<<<<<<< HEAD\n"

    def test_without_being_asked_nothing_is_touched_and_the_way_is_said(
        self, desk: Desk
    ) -> None:
        from helix_gen.generate import Request, generate

        (desk.root / ".helix/manifest.json").unlink()
        request = Request(spec=str(desk.folder / "clerk.yaml"), out=desk.root)
        outcome = generate(request)
        assert outcome.failed
        assert "--rebuild" in outcome.problems[-1].hint

    def test_another_suite_is_not_adopted(self, desk: Desk) -> None:
        from helix_gen.generate import Request, generate

        (desk.root / ".helix/manifest.json").unlink()
        (desk.root / PACKAGE).rename(desk.root / "other_evals")
        request = Request(
            spec=str(desk.folder / "clerk.yaml"), out=desk.root, rebuild=True
        )
        assert generate(request).failed


def test_json_tells_what_clashes_and_what_is_skipped(desk: Desk) -> None:
    from helix_gen.reconcile.show import change_record

    text = desk.text("checks.py")
    start = text.index('@check("is-true"')
    desk.path("checks.py").write_text(text[:start].rstrip() + "\n", "utf-8")
    done = desk.again(spec(BRIEF, KIND, TRUE), TestBound.OVERLAY)
    assert done.changes is not None
    record = change_record(done.changes)
    (checks,) = (f for f in record["files"] if f["path"].endswith("checks.py"))
    assert checks["conflicts"] == ["is_brief"]
    assert checks["skipped"] == ["is-true"]
    assert record["skipped"] == ["is-true"]
    json.dumps(record)


class TestStale:
    """A spec change says what was judged before and no longer matches."""

    @pytest.fixture
    def judged(self, desk: Desk) -> Desk:
        for path, text in (
            ("labels.jsonl", label("is-kind") + label("is-true") + label("is-brief")),
            (
                "matrix/verdicts/a.verdict.json",
                '{"verdicts": [' + label("is-kind") + "]}",
            ),
            (
                "matrix/verdicts/b.verdict.json",
                '{"verdicts": [' + label("is-none") + "]}",
            ),
            ("runs/one/scorecard.json", '{"criteria": [' + label("is-true") + "]}"),
        ):
            place = desk.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        return desk

    def stale(self, desk: Desk, *criteria: dict[str, Any], **parts: Any) -> Any:
        done = desk.again(spec(*criteria, **parts))
        assert done.changes is not None
        record = done.changes.stale.to_record()
        return {key: value for key, value in record.items() if value}

    def test_nothing_is_where_only_something_new_came(self, judged: Desk) -> None:
        assert self.stale(judged, BRIEF, KIND, TRUE, criterion("new")) == {}

    def test_a_judge_that_asks_something_else(self, judged: Desk) -> None:
        kinder = {**KIND, "description": "It is kind to all."}
        assert self.stale(judged, BRIEF, kinder, TRUE) == {
            "judges": ["is-kind"],
            "statements": ["is-kind"],
            "labels": 1,
            "verdicts": 1,
        }

    def test_a_criterion_that_is_gone_and_one_that_is_reworded(
        self, judged: Desk
    ) -> None:
        reworded = {**BRIEF, "description": "Brief!"}
        assert self.stale(judged, reworded, KIND) == {
            "statements": ["is-brief"],
            "gone": ["is-true"],
            "labels": 2,
            "runs": 1,
        }

    def test_a_new_id_is_no_new_question(self, judged: Desk) -> None:
        from helix_gen.reconcile.show import change_text

        overlay = {"criteria": {"is-gentle": {"renamed_from": "is-kind"}}}
        gentle = {**KIND, "id": "is-gentle"}
        done = judged.again(spec(BRIEF, gentle, TRUE), overlay)
        assert done.changes is not None
        record = done.changes.stale.to_record()
        assert {key: value for key, value in record.items() if value} == {
            "renamed": {"is-kind": "is-gentle"},
            "labels": 1,
            "verdicts": 1,
        }
        assert "hold: is-kind -> is-gentle" in change_text(done.changes)
        # It is said once, though the overlay says it on.
        done = judged.again(spec(BRIEF, gentle, TRUE, criterion("new")), overlay)
        assert done.changes is not None
        assert not any(done.changes.stale.to_record().values())

    def test_a_new_id_and_new_words(self, judged: Desk) -> None:
        overlay = {"criteria": {"is-gentle": {"renamed_from": "is-kind"}}}
        gentle = {**KIND, "id": "is-gentle", "description": "Gentle!"}
        done = judged.again(spec(BRIEF, gentle, TRUE), overlay)
        assert done.changes is not None
        stale = done.changes.stale
        assert stale.renamed == {"is-kind": "is-gentle"}
        assert stale.judges == stale.statements == ("is-kind",)
        assert not stale.gone

    def test_a_judge_that_becomes_a_check_and_the_other_way(self, judged: Desk) -> None:
        found = self.stale(
            judged, BRIEF, {**KIND, "type": "code-check"}, {**TRUE, "type": "llm-judge"}
        )
        assert found == {
            "judges": ["is-true"],
            "checks": ["is-kind"],
            "deciders": {"is-kind": "code", "is-true": "a judge"},
            "verdicts": 1,
            "runs": 1,
        }

    def test_a_check_or_judge_of_mine_that_is_registered_no_more_decides_nothing(
        self, judged: Desk
    ) -> None:
        from helix_gen.reconcile.show import change_text

        judged.edit("judges.py", ("pass_when=", "notes='Mine.', pass_when="))
        done = judged.again(
            spec({**BRIEF, "type": "llm-judge"}, {**KIND, "type": "code-check"}, TRUE)
        )
        assert done.changes is not None
        stale = done.changes.stale
        assert stale.deciders == {"is-brief": "a judge", "is-kind": "code"}
        assert (stale.judges, stale.checks) == (("is-brief",), ("is-kind",))
        assert stale.verdicts == 1
        text = change_text(done.changes)
        assert "judge their cases again: is-brief (a judge), is-kind (code)" in text
        assert "in other words" not in text

    def test_one_that_asks_something_else_there_is_said_of_its_labels(
        self, judged: Desk
    ) -> None:
        kinder = {**KIND, "type": "code-check", "description": "Kind to all."}
        found = self.stale(judged, BRIEF, kinder, TRUE)
        assert found["statements"] == ["is-kind"] and found["labels"] == 1

    def test_a_judge_behind_a_check_is_asked_for_the_first_time(
        self, judged: Desk
    ) -> None:
        hybrid = {"criteria": {"is-true": {"method": "hybrid"}}}
        done = judged.again(spec(BRIEF, KIND, TRUE), hybrid)
        assert done.changes is not None
        stale = done.changes.stale
        assert stale.deciders == {"is-true": "code first, then a judge"}
        assert (stale.judges, stale.checks, stale.runs) == (("is-true",), (), 1)

    def test_an_edited_judge_that_is_gone_is_gone_and_no_more(
        self, judged: Desk
    ) -> None:
        judged.edit("judges.py", ("is_kind = Judge(", "# Mine.\nis_kind = Judge("))
        found = self.stale(judged, BRIEF, TRUE, actions=[action("send", "send.mail")])
        assert found["gone"] == ["is-kind"]
        assert found["judges"] == ["scenario-behavior"]

    def test_a_pipe_is_not_waited_for(self, judged: Desk) -> None:
        import os

        if not hasattr(os, "mkfifo"):
            pytest.skip("there are no pipes here")
        (judged.root / "labels.jsonl").unlink()
        os.mkfifo(judged.root / "labels.jsonl")
        kinder = {**KIND, "description": "It is kind to all."}
        assert "labels" not in self.stale(judged, BRIEF, kinder, TRUE)

    def test_a_check_that_is_decided_by_other_code(self, judged: Desk) -> None:
        overlay: dict[str, Any] = {
            "criteria": {"is-true": {"check": {"output.present": {}}}}
        }
        done = judged.again(spec(BRIEF, KIND, TRUE), overlay)
        assert done.changes is not None
        assert done.changes.stale.checks == ("is-true",)
        assert done.changes.stale.statements == ()
        assert done.changes.stale.runs == 1

    def test_every_judge_where_the_subject_is_another(self, judged: Desk) -> None:
        acting = {"actions": [action("send", "send.mail")]}
        found = self.stale(judged, BRIEF, KIND, TRUE, **acting)
        assert found["judges"] == ["is-kind", "scenario-behavior"]
        assert "statements" not in found

    def test_a_row_that_the_spec_reworded(self, judged: Desk) -> None:
        dawn = {**scenario("night"), "expectedBehavior": "Sleeps."}
        found = self.stale(judged, BRIEF, KIND, TRUE, scenarios=[dawn])
        assert found.get("runs", 0) == bool(found.get("cases"))

    def test_it_is_said(self, judged: Desk) -> None:
        from helix_gen.reconcile.show import change_text

        done = judged.again(spec(BRIEF, {**KIND, "description": "Kind!"}, TRUE))
        assert done.changes is not None
        text = change_text(done.changes)
        assert "judge their cases again: is-kind" in text
        assert "labels.jsonl: lines about one of these criteria: 1" in text


def label(criterion_id: str) -> str:
    return json.dumps({"traceId": "t", "criterionId": criterion_id}) + "\n"
