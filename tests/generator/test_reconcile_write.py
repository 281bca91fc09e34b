"""Writing a suite: killed anywhere, alone in its folder, nothing lost to an error."""

import errno
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from helix_gen.emit.plan import Ownership, Rendered
from helix_gen.reconcile.changes import ChangeSet
from helix_gen.reconcile.decide import reconcile
from helix_gen.reconcile.manifest import MANIFEST, STAGING
from helix_gen.reconcile.paths import Folder
from helix_gen.reconcile.write import (
    BrokenJournal,
    ChangedMeanwhile,
    FolderInUse,
    apply,
    folder_problem,
    pending,
    recover,
    suite_folder,
)
from support.killing import killed_at

Tree = dict[str, bytes]


def files(version: str) -> tuple[Rendered, ...]:
    merged, owned = Ownership.MERGED, Ownership.OWNED
    made = [
        Rendered(
            path="p/checks.py", content=f"c{version}\n".encode(), ownership=merged
        ),
        Rendered(path="p/suite.py", content=f"s{version}\n".encode(), ownership=merged),
        Rendered(path="p/_runtime/a.py", content=b"same\n", ownership=owned),
        Rendered(
            path=f"p/_runtime/only{version}.py",
            content=version.encode() * 9000,
            ownership=owned,
        ),
        Rendered(
            path="dataset.jsonl",
            content="".join(
                f'{{"id":"{i}"}}\n' for i in range(int(version) * 3)
            ).encode(),
            ownership=Ownership.APPEND_ONLY,
        ),
    ]
    return tuple(sorted(made, key=lambda file: file.path))


def decide(root: Path, version: str) -> ChangeSet:
    changes = reconcile(
        files(version),
        Folder(root, pending=pending(root)),
        slug="s",
        generator={"version": version},
        inputs={"spec": version},
    )
    assert not changes.problems, changes.problems
    return changes


def run(root: Path, version: str) -> None:
    with suite_folder(root):
        recover(root)
        apply(decide(root, version), root)


def tree(root: Path) -> Tree:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and STAGING not in path.relative_to(root).as_posix()
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
class TestKilled:
    """A kill -9 at each single touch of the folder, one after the other."""

    def reference(self, tmp_path: Path, *versions: str) -> Tree:
        root = tmp_path / "reference"
        for version in versions:
            run(root, version)
        return tree(root)

    def test_an_update_ends_in_the_old_suite_or_the_new_one(
        self, tmp_path: Path
    ) -> None:
        old = self.reference(tmp_path / "old", "1")
        new = self.reference(tmp_path / "new", "1", "2")
        event, kills, finished = 0, 0, 0
        while True:
            event += 1
            root = tmp_path / f"kill{event}"
            run(root, "1")
            if not killed_at(event, root, partial(run, root, "2")):
                break
            kills += 1
            view = Folder(root, pending=pending(root))
            seen = {path: view.read(path) for path in {*old, *new}}
            decided = (root / STAGING / "journal.json").exists() or tree(root) == new
            assert seen == {path: (new if decided else old).get(path) for path in seen}
            with suite_folder(root):
                finished += recover(root)
            assert tree(root) == (new if decided else old)
            assert not (root / STAGING).exists()
            run(root, "2")
            assert tree(root) == new
        assert kills >= 30
        assert finished >= 10

    def test_a_first_run_ends_in_nothing_or_the_whole_suite(
        self, tmp_path: Path
    ) -> None:
        new = self.reference(tmp_path / "new", "2")
        event, kills = 0, 0
        while True:
            event += 1
            root = tmp_path / f"kill{event}" / "s"
            if not killed_at(event, root, partial(run, root, "2")):
                break
            kills += 1
            run(root, "2")
            assert tree(root) == new
        assert kills >= 30

    def test_a_recovery_that_is_killed_too_is_recovered(self, tmp_path: Path) -> None:
        new = self.reference(tmp_path / "new", "1", "2")
        decided = tmp_path / "decided"
        run(decided, "1")
        self.commit_only(decided, "2")
        for event in range(1, 200, 2):
            root = tmp_path / f"kill{event}"
            shutil.copytree(decided, root)
            if not killed_at(event, root, partial(run, root, "2")):
                break
            run(root, "2")
            assert tree(root) == new

    def test_what_its_owner_edits_before_the_next_run_is_not_overwritten(
        self, tmp_path: Path
    ) -> None:
        root = tmp_path / "s"
        run(root, "1")
        self.commit_only(root, "2")
        (root / "p/checks.py").write_text("mine\n")
        with suite_folder(root):
            assert recover(root)
        assert (root / "p/checks.py").read_text() == "mine\n"
        assert (root / "p/suite.py").read_text() == "s2\n"
        # Its base is still the text that the edit started from.
        assert (root / ".helix/base/p/checks.py.base").read_text() == "c1\n"
        merged = decide(root, "2").after("p/checks.py")
        assert merged is not None and set(merged.split()) == {b"mine", b"c2"}

    def commit_only(self, root: Path, version: str) -> None:
        """Leave the folder as a run does that dies right after its decision."""
        event = 0
        while not (root / STAGING / "journal.json").exists():
            event += 1
            assert killed_at(event, root, partial(run, root, version))
            if (root / STAGING / "journal.json").exists():
                return


def test_two_runs_at_once_refuse_each_other(tmp_path: Path) -> None:
    root = tmp_path / "s"
    with suite_folder(root), pytest.raises(FolderInUse):
        with suite_folder(root):
            pass
    assert not root.exists()
    run(root, "1")


def test_a_folder_that_was_made_for_nothing_is_removed(tmp_path: Path) -> None:
    root = tmp_path / "a/b/s"
    with suite_folder(root):
        pass
    assert not (tmp_path / "a").exists()


def test_a_file_saved_while_the_changes_were_decided_stops_the_run(
    tmp_path: Path,
) -> None:
    root = tmp_path / "s"
    run(root, "1")
    changes = decide(root, "2")
    (root / "p/suite.py").write_text("saved in between\n")
    before = tree(root)
    with pytest.raises(ChangedMeanwhile) as error:
        apply(changes, root)
    assert tree(root) == before
    assert not (root / STAGING).exists()
    assert "p/suite.py" in folder_problem(root, error.value).file


def test_a_disk_that_refuses_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "s"
    run(root, "1")
    before = tree(root)
    changes = decide(root, "2")
    real, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 3:
            raise OSError(28, "No space left on device", str(root))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as error:
        apply(changes, root)
    assert tree(root) == before
    assert not (root / STAGING).exists()
    problem = folder_problem(root, error.value)
    assert "No space left" in problem.message
    assert problem.hint == "make room, then run again"


def test_a_first_run_that_the_disk_refuses_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    program = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "sys.argv = ['helix-gen', 'suite', *sys.argv[1:]]\n"
        "runpy.run_module('helix_gen', run_name='__main__')\n"
    )
    spec = Path(__file__).parents[2] / "examples/returns_desk/agentspec.yaml"
    words = [sys.executable, "-c", program, str(spec), "-o", str(tmp_path / "s")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "File too large" in done.stderr and "make room" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "said"),
    [("file", "it is a file"), ("file/s", "it is a file"), ("link", "leads nowhere")],
)
def test_what_is_in_the_way_of_the_folder_is_named(
    tmp_path: Path, out: str, said: str
) -> None:
    (tmp_path / "file").write_text("mine", "utf-8")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(OSError) as error, suite_folder(tmp_path / out):
        pass
    problem = folder_problem(tmp_path / out, error.value)
    assert problem.file == str(tmp_path / out.partition("/")[0])
    assert said in problem.message and "-o" in problem.hint
    assert (tmp_path / "file").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    "journal",
    [
        "not json",
        '{"steps": []}',
        '{"steps": [{"path": "../x", "group": "", "before": null, "after": null}]}',
        '{"steps": [{"path": "a", "group": "", "staged": "../../x"}]}',
        '{"steps": [{"path": "a", "group": "", "before": null, "after": null}]}',
    ],
)
def test_a_journal_from_a_stranger_is_not_carried_out(
    tmp_path: Path, journal: str
) -> None:
    run(tmp_path, "1")
    (tmp_path / STAGING).mkdir()
    (tmp_path / STAGING / "journal.json").write_text(journal)
    before = tree(tmp_path)
    with pytest.raises(BrokenJournal):
        recover(tmp_path)
    assert tree(tmp_path) == before


MANIFEST_STEP = (
    '{"path": ".helix/manifest.json", "group": "m", "before": null, "after": null, '
    '"staged": "000000"}'
)


@pytest.mark.parametrize(
    "steps",
    [
        "[" * 100_000,
        '[{"path": "a", "group": "a"}, LAST]',
        '[{"path": "a", "group": "a", "before": 1, "after": []}, LAST]',
        '[{"path": ".helix/manifest.json", "group": "m", "before": null, "after": null}]',
        "[LAST, LAST]",
        "{}",
        "[]",
    ],
)
def test_a_journal_that_no_run_wrote_is_refused_and_nothing_is_done(
    tmp_path: Path, steps: str
) -> None:
    run(tmp_path, "1")
    (tmp_path / STAGING).mkdir()
    (tmp_path / STAGING / "000000").write_text("evil")
    steps = steps.replace("LAST", MANIFEST_STEP)
    (tmp_path / STAGING / "journal.json").write_text(f'{{"steps": {steps}}}')
    before = tree(tmp_path)
    for read in (pending, recover):
        with pytest.raises(BrokenJournal):
            read(tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("name", ["journal.json", "000000"])
def test_a_pipe_among_what_is_staged_is_not_waited_for(
    tmp_path: Path, name: str
) -> None:
    run(tmp_path, "1")
    (tmp_path / STAGING).mkdir()
    if name != "journal.json":
        journal = f'{{"steps": [{MANIFEST_STEP}]}}'
        (tmp_path / STAGING / "journal.json").write_text(journal)
    os.mkfifo(tmp_path / STAGING / name)
    with pytest.raises(BrokenJournal):
        pending(tmp_path)


def test_staging_through_a_link_deletes_nobodys_files(tmp_path: Path) -> None:
    root, precious = tmp_path / "s", tmp_path / "precious"
    run(root, "1")
    precious.mkdir()
    (precious / "000001").write_text("mine")
    (root / STAGING).symlink_to(precious, target_is_directory=True)
    with pytest.raises(BrokenJournal):
        recover(root)
    assert (precious / "000001").read_text() == "mine"


def test_the_manifest_is_the_last_file_to_come(tmp_path: Path) -> None:
    run(tmp_path, "1")
    writes = decide(tmp_path, "2").writes()
    assert writes[-1].path == MANIFEST
    assert len(writes) > 4


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    run(tmp_path, "1")
    (tmp_path / "p/suite.py").chmod(0o755)
    run(tmp_path, "2")
    assert (tmp_path / "p/suite.py").stat().st_mode & 0o777 == 0o755


def test_a_folder_of_the_suite_may_be_a_device_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, plain = tmp_path / "s", tmp_path / "plain"
    for place in (root, plain):
        run(place, "1")
        (place / "p/suite.py").chmod(0o600)
    run(plain, "2")
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    (root / "p/.helix-part").symlink_to(outside)
    replace, refused = os.replace, []

    def across(source: str | Path, target: str | Path) -> None:
        if STAGING in str(source) and STAGING not in str(target):
            refused.append(target)
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", across)
    run(root, "2")
    assert refused
    assert tree(root) == tree(plain)
    assert outside.read_text() == "theirs"
    assert (root / "p/suite.py").stat().st_mode == (plain / "p/suite.py").stat().st_mode
    assert not (root / STAGING).exists()


def test_what_its_owner_saves_in_the_last_moment_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, plain = tmp_path / "s", tmp_path / "plain"
    for place in (root, plain):
        run(place, "1")
    run(plain, "2")
    replace = os.replace

    def late(source: str | Path, target: str | Path) -> None:
        replace(source, target)
        if Path(target).name == "journal.json":  # decided, and nothing is moved yet
            (root / "p/suite.py").write_text("mine\n")

    monkeypatch.setattr(os, "replace", late)
    with suite_folder(root):
        assert apply(decide(root, "2"), root) == ("p/suite.py",)
    assert (root / "p/suite.py").read_text() == "mine\n"
    assert tree(root)["p/checks.py"] == tree(plain)["p/checks.py"]
    monkeypatch.undo()
    again = decide(root, "2")
    change = next(c for c in again.files if c.path == "p/suite.py")
    assert change.after is not None and b"mine" in change.after
