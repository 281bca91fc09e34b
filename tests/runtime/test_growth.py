"""A dataset grows whole or not at all, and nothing that its owner did is undone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import Case, content_id
from helix_runtime.folder import SuiteFolder
from helix_runtime.growing.growth import GROWN, growing, read_dataset
from helix_runtime.record import replace
from helix_runtime.refusal import Refusal
from support.killing import killed_at


def grown(query: str, **more: Any) -> Case:
    values = {"dimensions": {"tone": "angry"}, "source": "derived"} | more
    case = Case(id="", query=query, **values)
    return replace(case, id=content_id(case))


def row(case_id: str, query: str, **more: Any) -> str:
    return json.dumps({"id": case_id, "query": query, "tuple": {"d": "v"}} | more)


TEXT = "\n".join(
    [
        row("a", "Where is it?", mine={"x": [1.50, None]}),
        "",
        row("b", "A customer asks.", placeholder=True, expected={"y": "é"}),
        "",
    ]
)


def suite(root: Path, text: str | bytes = TEXT) -> SuiteFolder:
    data = text if isinstance(text, bytes) else text.encode()
    (root / "dataset.jsonl").write_bytes(data)
    return SuiteFolder(root=root, package="desk_evals")


def text_of(folder: SuiteFolder) -> bytes:
    return folder.dataset.read_bytes()


def change(folder: SuiteFolder, **changes: Any) -> None:
    with growing(folder) as dataset:
        dataset.change(**changes)


def test_new_rows_stand_behind_the_others_which_stay_byte_for_byte(
    tmp_path: Path,
) -> None:
    folder = suite(tmp_path)
    new = grown("I'm angry")
    change(folder, added=[new])
    text = text_of(folder).decode()
    assert text.startswith(TEXT)
    assert json.loads(text.removeprefix(TEXT)) == new.to_row()
    assert text.endswith("\n")


def test_a_reworded_row_keeps_its_id_and_all_else(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    change(folder, reworded={"b": "Where's my refund?"})
    before, after = TEXT.split("\n"), text_of(folder).decode().split("\n")
    assert before[:2] == after[:2] and len(before) == len(after)
    assert json.loads(after[2]) == {
        "id": "b",
        "query": "Where's my refund?",
        "tuple": {"d": "v"},
        "expected": {"y": "é"},
    }


@pytest.mark.parametrize("end", ["\r\n", ""])
def test_line_ends_a_mark_and_an_open_last_line_are_lived_with(
    tmp_path: Path, end: str
) -> None:
    rows = "\r\n".join([row("a", "Hm", placeholder=True), row("b", "Ha")])
    folder = suite(tmp_path, b"\xef\xbb\xbf" + (rows + end).encode())
    new = grown("New")
    change(folder, added=[new], reworded={"a": "Hello"})
    data = text_of(folder)
    assert data.startswith(b'\xef\xbb\xbf{"id":"a","query":"Hello"')
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert all(line.endswith(b"\r") for line in lines if line)
    assert list(read_dataset(folder).cases) == ["a", "b", new.id]


def test_nothing_to_change_writes_nothing(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    change(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["dataset.jsonl"]


def test_a_torn_row_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = suite(tmp_path, TEXT + '{"id": "c", "que')
    with pytest.raises(Refusal, match="dataset.jsonl:4"), growing(folder):
        pass


def test_what_is_edited_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    with growing(folder) as dataset:
        suite(tmp_path, TEXT + row("mine", "Mine") + "\n")
        with pytest.raises(Refusal, match="changed meanwhile"):
            dataset.change(added=[grown("New")])
    assert list(read_dataset(folder).cases) == ["a", "b", "mine"]


def test_a_link_stays_a_link_and_the_mode_stays(tmp_path: Path) -> None:
    home = tmp_path / "suite"
    home.mkdir()
    real = tmp_path / "shared.jsonl"
    real.write_text(TEXT, "utf-8")
    real.chmod(0o640)
    (home / "dataset.jsonl").symlink_to(real)
    folder = SuiteFolder(root=home, package="desk_evals")
    change(folder, added=[grown("New")])
    assert folder.dataset.is_symlink() and real.read_text("utf-8") != TEXT
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cant_be_written_is_said_and_nothing_has_changed(
    tmp_path: Path,
) -> None:
    folder = suite(tmp_path)
    (tmp_path / ".dataset.jsonl.part").mkdir()
    with pytest.raises(Refusal, match="can't be written"):
        change(folder, added=[grown("New")])
    assert text_of(folder) == TEXT.encode()


# -- two at once -----------------------------------------------------------------------

_HOLD = """\
import sys
from pathlib import Path
from helix_runtime.folder import SuiteFolder
from helix_runtime.growing.growth import growing

with growing(SuiteFolder(root=Path(sys.argv[1]), package="x")):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(root: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield
    finally:
        process.communicate("")


def test_two_processes_refuse_each_other(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    with held(tmp_path):
        with pytest.raises(Refusal, match="another process"), growing(folder):
            pass
        with growing(folder, dry=True) as dataset:  # looking on is free
            assert list(dataset.cases) == ["a", "b"]
    change(folder, added=[grown("New")])


def test_generating_and_growing_refuse_each_other(tmp_path: Path) -> None:
    from helix_gen.reconcile.write import FolderInUse, suite_folder

    folder = suite(tmp_path)
    with held(tmp_path):
        with pytest.raises(FolderInUse), suite_folder(tmp_path):
            pass
    with suite_folder(tmp_path):
        with pytest.raises(Refusal, match="another process"), growing(folder):
            pass


def test_a_kill_at_any_touch_leaves_the_old_file_or_the_new_one(
    tmp_path: Path,
) -> None:
    new = [grown("One"), grown("Two")]
    states = set()
    for event in range(1, 60):
        root = tmp_path / str(event)
        root.mkdir()
        folder = suite(root)

        def work(folder: SuiteFolder = folder) -> None:
            change(folder, added=new, reworded={"b": "Real words"})

        killed = killed_at(event, root, work)
        after = read_dataset(folder)
        ids = list(after.cases)
        assert ids in (["a", "b"], ["a", "b", new[0].id, new[1].id])
        assert after.cases["b"].placeholder == (len(ids) == 2)
        assert not after.removed.ids  # a row that never came was not taken away
        states.add(len(ids))
        if len(ids) == 2:
            work()
        assert len(read_dataset(folder).cases) == 4
        if not killed:
            break
    else:
        raise AssertionError("it was never done")
    assert states == {2, 4}


# -- what its owner takes out ----------------------------------------------------------


def test_a_grown_row_that_is_removed_is_known_by_id_words_and_tuple(
    tmp_path: Path,
) -> None:
    folder = suite(tmp_path)
    new = grown("Book it, now!")
    change(folder, added=[new])
    before = read_dataset(folder)
    assert not before.removed.ids
    suite(tmp_path)  # its owner takes it out
    gone = read_dataset(folder).removed
    assert gone.ids == {new.id} and len(gone.words) == len(gone.tuples) == 1


def test_rows_that_others_brought_in_are_remembered_once_the_dataset_grows(
    tmp_path: Path,
) -> None:
    theirs = grown("Brought in by hand")
    line = json.dumps(theirs.to_row()) + "\n"
    folder = suite(tmp_path, TEXT + line)
    change(folder, added=[grown("New")])
    text = text_of(folder).decode().replace(line, "")
    folder.dataset.write_text(text, "utf-8")
    removed = read_dataset(folder).removed.ids
    assert len(removed) == 1


def test_a_generated_row_that_is_removed_is_known_by_its_id(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    (tmp_path / ".helix").mkdir()
    (tmp_path / ".helix" / "rows.txt").write_text(
        '0123456789abcdef "a"\n0123456789abcdef "gone"\nrubbish\n', "utf-8"
    )
    assert read_dataset(folder).removed.ids == {"gone"}


def test_a_memory_that_cant_be_read_is_said_with_its_lines(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    (tmp_path / ".helix").mkdir()
    (tmp_path / GROWN).write_text('{"id": "x"}\n\n[]\n', "utf-8")
    with pytest.raises(Refusal) as refused:
        read_dataset(folder)
    assert [line.split(": ")[0] for line in refused.value.lines] == [
        f"{GROWN}:1",
        f"{GROWN}:3",
    ]
