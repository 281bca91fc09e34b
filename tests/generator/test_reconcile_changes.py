"""A second run: what arrives, what stays, what is put aside, what is refused."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from helix_gen.emit.plan import Ownership, Rendered
from helix_gen.reconcile.changes import Action, ChangeSet
from helix_gen.reconcile.decide import reconcile
from helix_gen.reconcile.manifest import MANIFEST, ROWS, conflict_path
from helix_gen.reconcile.paths import Folder
from helix_gen.reconcile.texts import checksum
from helix_gen.reconcile.write import apply, pending, recover, suite_folder

OWNED, MERGED = Ownership.OWNED, Ownership.MERGED
SEEDED, ROWS_FILE = Ownership.SEEDED, Ownership.APPEND_ONLY
CHECKS, SUITE, RUNTIME = "p/checks.py", "p/suite.py", "p/_runtime/case.py"
README, TARGET, DATASET, MATRIX = "README.md", "p/target.py", "dataset.jsonl", "m.json"

FIRST: Mapping[str, tuple[str, Ownership]] = {
    CHECKS: ("def a():\n    return unwritten()\n", MERGED),
    SUITE: ("from . import checks\n", MERGED),
    RUNTIME: ("CASE = 1\n", OWNED),
    README: ("# Suite\n", MERGED),
    TARGET: ("def target(): ...\n", SEEDED),
    DATASET: ('{"id":"c1","query":"one"}\n{"id":"c2","query":"two"}\n', ROWS_FILE),
    "tests/test_evals.py": ("def test(): ...\n", MERGED),
}


def rendered(
    changed: Mapping[str, str | None] | None = None,
) -> tuple[Rendered, ...]:
    files = {path: text for path, (text, _) in FIRST.items()}
    for path, text in (changed or {}).items():
        if text is None:
            del files[path]
        else:
            files[path] = text
    return tuple(
        Rendered(
            path=path,
            content=text.encode(),
            ownership=FIRST[path][1] if path in FIRST else MERGED,
        )
        for path, text in sorted(files.items())
    )


def decide(root: Path, files: tuple[Rendered, ...], slug: str = "s") -> ChangeSet:
    return reconcile(
        files,
        Folder(root, pending=pending(root)),
        slug=slug,
        generator={"version": "1", "sha256": "0"},
        inputs={"spec": "x"},
    )


def run(root: Path, files: tuple[Rendered, ...]) -> ChangeSet:
    with suite_folder(root):
        recover(root)
        changes = decide(root, files)
        assert not changes.problems, changes.problems
        apply(changes, root)
    return changes


def action(changes: ChangeSet, path: str) -> Action:
    return next(change.action for change in changes.files if change.path == path)


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "s-evals"
    run(root, rendered())
    yield root


def test_a_first_run_writes_every_file_and_its_memory(suite: Path) -> None:
    assert {path for path in tree(suite) if not path.startswith(".helix/")} == set(
        FIRST
    )
    bases = {path for path in tree(suite) if path.startswith(".helix/base/")}
    merged = {path for path, (_, ownership) in FIRST.items() if ownership is MERGED}
    assert bases == {f".helix/base/{path}.base" for path in merged}
    assert not (suite / ".helix/staging").exists()


def test_a_second_run_with_the_same_files_changes_nothing(suite: Path) -> None:
    before = tree(suite)
    changes = run(suite, rendered())
    assert not changes.drift
    assert changes.writes() == ()
    assert tree(suite) == before


def test_a_file_that_nobody_edited_follows_the_spec(suite: Path) -> None:
    changes = run(suite, rendered({CHECKS: "new = 1\n"}))
    assert action(changes, CHECKS) is Action.UPDATE
    assert (suite / CHECKS).read_text() == "new = 1\n"
    assert (suite / f".helix/base/{CHECKS}.base").read_text() == "new = 1\n"


def test_an_edit_stays_where_the_generator_has_nothing_new(suite: Path) -> None:
    (suite / CHECKS).write_text("mine = 1\n")
    changes = run(suite, rendered())
    assert action(changes, CHECKS) is Action.KEEP
    assert not changes.drift
    assert (suite / CHECKS).read_text() == "mine = 1\n"
    again = run(suite, rendered())
    assert again.writes() == ()


MINE, NEW = "def a():\n    return mine()\n", "def a():\n    return new()\n"


class TestBothChanged:
    """The owner edited a function and the generator has a new version of it."""

    @pytest.fixture
    def conflict(self, suite: Path) -> ChangeSet:
        (suite / CHECKS).write_text(MINE)
        return run(suite, rendered({CHECKS: NEW, SUITE: "checks.new\n"}))

    def test_the_owners_stays_and_a_page_shows_the_three_versions(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        assert action(conflict, CHECKS) is Action.CONFLICT
        assert (suite / CHECKS).read_text() == MINE
        page = (suite / conflict_path(CHECKS)).read_text()
        for words in ("unwritten()", "mine()", "new()", "(lines 1-2)", "resolve"):
            assert words in page
        note = (suite / ".helix/conflicts/README.md").read_text()
        assert f"{CHECKS}.md" in note

    def test_everything_else_goes_on(self, suite: Path, conflict: ChangeSet) -> None:
        assert action(conflict, SUITE) is Action.UPDATE
        assert (suite / SUITE).read_text() == "checks.new\n"

    def test_it_comes_again_until_it_is_resolved(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        before = tree(suite)
        again = run(suite, rendered({CHECKS: NEW, SUITE: "checks.new\n"}))
        assert action(again, CHECKS) is Action.CONFLICT
        assert again.writes() == ()
        assert tree(suite) == before

    def test_taking_the_new_version_by_hand_resolves_it(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        (suite / CHECKS).write_text(NEW)
        changes = run(suite, rendered({CHECKS: NEW, SUITE: "checks.new\n"}))
        assert action(changes, CHECKS) is Action.SAME
        assert not (suite / ".helix/conflicts").exists()
        assert not list(suite.rglob("*.pending"))

    def test_a_third_version_takes_the_place_of_the_second(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        newer = NEW.replace("new()", "newer()")
        changes = run(suite, rendered({CHECKS: newer}))
        assert action(changes, CHECKS) is Action.CONFLICT
        page = (suite / conflict_path(CHECKS)).read_text()
        assert "newer()" in page and "new()" not in page.replace("newer()", "")

    def test_what_its_owner_wrote_on_the_page_is_not_lost(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        (suite / conflict_path(CHECKS)).write_text("notes of mine\n")
        run(suite, rendered({CHECKS: NEW.replace("new()", "newer()")}))
        kept = suite / f".helix/kept/{CHECKS}.md.kept"
        assert kept.read_text() == "notes of mine\n"

    def test_a_base_that_was_edited_is_lost_but_nothing_of_anybody_is(
        self, suite: Path
    ) -> None:
        (suite / CHECKS).write_text(MINE)
        (suite / f".helix/base/{CHECKS}.base").write_text("edited = 1\n")
        files = rendered({CHECKS: NEW + "\n\ndef b():\n    return 1\n"})
        changes = run(suite, files)
        assert action(changes, CHECKS) is Action.CONFLICT
        text = (suite / CHECKS).read_text()
        assert "mine()" in text and "def b()" in text
        assert (suite / f".helix/kept/{CHECKS}.base.kept").read_text() == "edited = 1\n"
        assert run(suite, files).writes() == ()

    def test_going_back_to_the_old_spec_ends_it(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        changes = run(suite, rendered())
        assert action(changes, CHECKS) is Action.KEEP
        assert (suite / CHECKS).read_text() == MINE
        assert not (suite / ".helix/conflicts").exists()

    def test_a_conflict_of_a_file_that_is_generated_no_more_is_none(
        self, suite: Path, conflict: ChangeSet
    ) -> None:
        changes = run(suite, rendered({CHECKS: None}))
        assert action(changes, CHECKS) is Action.RETIRE
        assert not (suite / ".helix/conflicts").exists()
        assert run(suite, rendered({CHECKS: None})).writes() == ()


def test_edits_in_different_places_of_a_text_merge(suite: Path) -> None:
    lines = [f"line {number}" for number in range(9)]
    run(suite, rendered({README: "\n".join(lines) + "\n"}))
    mine, new = list(lines), list(lines)
    mine[1], new[7] = "mine", "new"
    (suite / README).write_text("\n".join(mine) + "\n")
    changes = run(suite, rendered({README: "\n".join(new) + "\n"}))
    assert action(changes, README) is Action.MERGE
    mine[7] = "new"
    assert (suite / README).read_text() == "\n".join(mine) + "\n"
    assert changes.writes()
    assert run(suite, rendered({README: "\n".join(new) + "\n"})).writes() == ()


def test_a_mark_that_an_editor_put_before_a_text_is_no_edit(suite: Path) -> None:
    (suite / README).write_text("\ufeff# Suite\n", "utf-8")
    changes = run(suite, rendered({README: "# Another\n"}))
    assert action(changes, README) is Action.MERGE
    assert (suite / README).read_text("utf-8") == "\ufeff# Another\n"


def test_a_file_that_python_cannot_read_is_left_alone_and_the_rest_goes_on(
    suite: Path,
) -> None:
    broken = "def a(:\n"
    (suite / CHECKS).write_text(broken)
    files = rendered({CHECKS: NEW, SUITE: "checks.new\n"})
    changes = run(suite, files)
    assert action(changes, CHECKS) is Action.CONFLICT
    assert "Python can't read it (line 1" in changes.conflicts[0].note
    assert (suite / CHECKS).read_text() == broken
    assert action(changes, SUITE) is Action.UPDATE
    assert run(suite, files).writes() == ()
    (suite / CHECKS).write_text("def mine():\n    return 2\n\n\n" + FIRST[CHECKS][0])
    changes = run(suite, files)
    assert action(changes, CHECKS) is Action.MERGE
    assert "mine" in (suite / CHECKS).read_text()
    assert "new()" in (suite / CHECKS).read_text()


def test_an_edit_of_an_owned_file_is_put_aside_before_it_is_renewed(
    suite: Path,
) -> None:
    for edit in ("first edit\n", "second edit\n", "first edit\n"):
        (suite / RUNTIME).write_text(edit)
        changes = run(suite, rendered())
        assert action(changes, RUNTIME) is Action.REPLACE
        assert (suite / RUNTIME).read_text() == FIRST[RUNTIME][0]
    kept = sorted((suite / ".helix/kept/p/_runtime").iterdir())
    assert [path.read_text() for path in kept] == ["first edit\n", "second edit\n"]


def test_a_seeded_file_is_written_once(suite: Path) -> None:
    changes = run(suite, rendered({TARGET: "another template\n"}))
    assert action(changes, TARGET) is Action.KEEP
    assert not changes.drift
    assert (suite / TARGET).read_text() == FIRST[TARGET][0]
    (suite / TARGET).unlink()
    changes = run(suite, rendered())
    assert action(changes, TARGET) is Action.SKIP
    assert not (suite / TARGET).exists()


def test_a_deleted_file_stays_away_unless_the_suite_needs_it(suite: Path) -> None:
    (suite / README).unlink()
    (suite / SUITE).unlink()
    changes = run(suite, rendered({README: "# New\n"}))
    assert action(changes, README) is Action.SKIP
    assert not (suite / README).exists()
    assert action(changes, SUITE) is Action.CREATE
    assert (suite / SUITE).read_text() == FIRST[SUITE][0]


def test_a_file_that_is_generated_no_more_goes_unless_it_was_edited(
    suite: Path,
) -> None:
    (suite / CHECKS).write_text("mine = 1\n")
    changes = run(suite, rendered({CHECKS: None, SUITE: None}))
    assert action(changes, CHECKS) is Action.RETIRE
    assert action(changes, SUITE) is Action.DELETE
    assert (suite / CHECKS).read_text() == "mine = 1\n"
    assert not (suite / SUITE).exists()
    assert not (suite / f".helix/base/{SUITE}.base").exists()
    again = run(suite, rendered({CHECKS: None, SUITE: None}))
    assert action(again, CHECKS) is Action.RETIRE
    assert again.writes() == ()
    back = run(suite, rendered())
    assert action(back, CHECKS) is Action.KEEP


def test_a_checkout_with_crlf_is_no_edit_and_stays_crlf(suite: Path) -> None:
    for path in suite.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = tree(suite)
    assert run(suite, rendered()).writes() == ()
    assert tree(suite) == before
    rows = FIRST[DATASET][0] + '{"id":"c3","query":"three"}\n'
    changes = run(suite, rendered({CHECKS: "new = 1\n", DATASET: rows}))
    assert action(changes, CHECKS) is Action.UPDATE
    assert (suite / CHECKS).read_bytes() == b"new = 1\r\n"
    assert (suite / DATASET).read_bytes() == rows.replace("\n", "\r\n").encode()


class TestStrangers:
    """A folder or a file that is not ours is never touched."""

    def refused(self, root: Path, files: tuple[Rendered, ...]) -> str:
        before = tree(root) if root.is_dir() else {}
        changes = decide(root, files)
        assert changes.problems
        assert changes.writes() == ()
        assert (tree(root) if root.is_dir() else {}) == before
        return "\n".join(f"{p.file}: {p.message}" for p in changes.problems)

    def test_a_folder_with_other_things_in_it(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        assert "not empty" in self.refused(tmp_path, rendered())

    def test_a_repository_that_was_just_made_is_empty_enough(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / ".git").mkdir()
        assert not decide(tmp_path, rendered()).problems

    def test_a_file_where_the_folder_should_be(self, tmp_path: Path) -> None:
        (tmp_path / "s").write_text("mine")
        assert "in the way" in self.refused(tmp_path / "s", rendered())

    def test_a_new_file_of_the_plan_that_its_owner_made_first(
        self, suite: Path
    ) -> None:
        (suite / "p/extra.py").write_text("mine = 1\n")
        said = self.refused(suite, rendered({"p/extra.py": "new = 1\n"}))
        assert "p/extra.py" in said

    def test_a_folder_where_a_file_should_be(self, suite: Path) -> None:
        (suite / README).unlink()
        (suite / README).mkdir()
        assert README in self.refused(suite, rendered({README: "# New\n"}))

    def test_a_file_where_a_folder_should_be(self, suite: Path) -> None:
        (suite / "q").write_text("mine")
        said = self.refused(suite, rendered({"q/new.py": "new = 1\n"}))
        assert "it is not a folder" in said

    def test_a_link_that_leads_out_is_not_written_through(
        self, suite: Path, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside.py"
        outside.write_text("precious\n")
        (suite / CHECKS).unlink()
        (suite / CHECKS).symlink_to(outside)
        said = self.refused(suite, rendered({CHECKS: "new = 1\n"}))
        assert "link" in said
        assert outside.read_text() == "precious\n"

    def test_a_linked_folder_that_leads_out_is_not_written_through(
        self, suite: Path, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        (suite / "p").rename(outside)
        (suite / "p").symlink_to(outside, target_is_directory=True)
        assert "link" in self.refused(suite, rendered({CHECKS: "new = 1\n"}))

    def test_a_link_that_leads_in_a_circle(self, suite: Path) -> None:
        (suite / CHECKS).unlink()
        (suite / CHECKS).symlink_to("checks.py")
        assert "circle" in self.refused(suite, rendered({CHECKS: "new = 1\n"}))

    def test_the_suite_of_another_subject(self, suite: Path) -> None:
        before = tree(suite)
        changes = decide(suite, rendered(), slug="t")
        (problem,) = changes.problems
        assert "the suite of `s`, not of `t`" in problem.message
        assert changes.writes() == ()
        assert tree(suite) == before

    def test_a_package_of_another_name(self, suite: Path) -> None:
        (suite / "p/_runtime/__init__.py").write_text("", "utf-8")
        (suite / "p").rename(suite / "q")
        before = tree(suite)
        (problem,) = decide(suite, rendered()).problems
        assert problem.code == "HX711"
        assert "`p`" in problem.message and "`q`" in problem.message
        assert tree(suite) == before

    def test_a_package_that_is_gone_is_made_anew(self, suite: Path) -> None:
        shutil.rmtree(suite / "p")
        assert action(run(suite, rendered()), CHECKS) is Action.CREATE

    def test_a_link_inside_the_folder_is_followed(self, suite: Path) -> None:
        (suite / "shared.py").write_bytes((suite / CHECKS).read_bytes())
        (suite / CHECKS).unlink()
        (suite / CHECKS).symlink_to("../shared.py")
        run(suite, rendered({CHECKS: "new = 1\n"}))
        assert (suite / CHECKS).is_symlink()
        assert (suite / "shared.py").read_text() == "new = 1\n"

    def test_a_suite_without_its_manifest_is_explained(self, suite: Path) -> None:
        (suite / MANIFEST).unlink()
        assert "its manifest is missing" in self.refused(suite, rendered())

    def test_a_suite_without_the_memory_of_its_rows_is_explained(
        self, suite: Path
    ) -> None:
        (suite / ROWS).unlink()
        assert "rows" in self.refused(suite, rendered())

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("/etc/passwd", "absolute"),
            ("a/" * 3000 + "b", "too long"),
            ("a" * 5000, "too long"),
            ("../outside.py", "leads out"),
            ("p/../../outside.py", "leads out"),
            ("C:\\outside.py", "backslash"),
            ("p//checks.py", "empty part"),
            ("p/\x1b[2J.py", "control"),
            (".helix/manifest.json", "own memory"),
            (".git/config", "hidden"),
            ("p/.env", "hidden"),
            ("P/Checks.py", "duplicates"),
        ],
    )
    def test_a_manifest_that_names_a_dangerous_path(
        self, suite: Path, path: str, why: str
    ) -> None:
        record = json.loads((suite / MANIFEST).read_bytes())
        record["files"][path] = record["files"][CHECKS]
        (suite / MANIFEST).write_text(json.dumps(record))
        said = self.refused(suite, rendered())
        assert "manifest is broken" in said
        assert why in said

    @pytest.mark.parametrize("ownership", ["owned", "merged"])
    @pytest.mark.parametrize(
        "path",
        ["notes.md", "labels.jsonl", "runs/a/run.json", "matrix/verdicts/a.json"],
    )
    def test_a_manifest_that_names_a_file_of_its_owners(
        self, suite: Path, path: str, ownership: str
    ) -> None:
        place = suite / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("mine\n")
        record = json.loads((suite / MANIFEST).read_bytes())
        digest = checksum(place.read_bytes())
        record["files"][path] = {
            "ownership": ownership,
            "generated": digest,
            "left": digest,
        }
        (suite / MANIFEST).write_text(json.dumps(record))
        run(suite, rendered())
        assert place.read_text() == "mine\n"
        assert path not in json.loads((suite / MANIFEST).read_bytes())["files"]

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "not valid JSON"),
            ("<<<<<<< ours\n", "not valid JSON"),
            ("[]", "not a JSON object"),
            ('{"format": 1, "format": 1}', "stands twice"),
            ('{"format": "1"}', "format"),
            ('{"format": 99}', "newer helix-gen"),
            ("[" * 100_000, "not valid JSON"),
            ('{"format": 1, "generator": {}, "inputs": {}}', "slug"),
        ],
    )
    def test_a_manifest_that_cannot_be_read(
        self, suite: Path, text: str, why: str
    ) -> None:
        (suite / MANIFEST).write_text(text)
        assert why in self.refused(suite, rendered())


def test_an_interrupted_first_run_left_a_folder_that_counts_as_empty(
    tmp_path: Path,
) -> None:
    staging = tmp_path / ".helix/staging"
    staging.mkdir(parents=True)
    (staging / "000000").write_text("staged")
    run(tmp_path, rendered())
    assert not staging.exists()
    assert (tmp_path / CHECKS).read_text() == FIRST[CHECKS][0]
