"""Showing changes: a diff that a patch tool would take, and no flood."""

import subprocess
from pathlib import Path

from helix_gen.reconcile.changes import Action, ChangeSet, FileChange
from helix_gen.reconcile.rows import RowChanges
from helix_gen.reconcile.show import change_record, change_text, diff_text
from hypothesis import given, settings
from hypothesis import strategies as st

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=40)


def update(before: str | None, after: str | None, path: str = "x.txt") -> ChangeSet:
    action = Action.UPDATE
    if before is None or after is None:
        action = Action.CREATE if before is None else Action.DELETE
    change = FileChange(
        path=path,
        action=action,
        before=None if before is None else before.encode(),
        after=None if after is None else after.encode(),
    )
    return ChangeSet(files=(change,), manifest_before=b"{}")


def diff(changes: ChangeSet) -> str:
    return diff_text(changes, good=str, bad=str)


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@settings(max_examples=60, deadline=None)
@given(head=LINES, before=LINES, after=LINES, tail=LINES)
def test_its_hunks_stand_where_they_say(
    head: list[str], before: list[str], after: list[str], tail: list[str]
) -> None:
    old, new = head + before + tail, head + after + tail
    lines = list(old)
    shift = 0
    for line in diff(update(text(old), text(new))).split("\n"):
        if line.startswith("@@"):
            place = int(line.split(" ")[1][1:].partition(",")[0])
            length = line.split(" ")[1].partition(",")[2]
            at = place - 1 + shift + (length == "0")
        elif line.startswith(("---", "+++")) or not line:
            continue
        elif line.startswith("+"):
            lines.insert(at, line[1:])
            at += 1
            shift += 1
        elif line.startswith("-"):
            assert lines.pop(at) == line[1:]
            shift -= 1
        else:
            assert lines[at] == line[1:]
            at += 1
    assert lines == new


def test_a_patch_tool_takes_it(tmp_path: Path) -> None:
    old = [str(number) for number in range(300)]
    new = [*old[:150], "new", *old[150:290], *old[295:]]
    (tmp_path / "x.txt").write_text(text(old))
    done = subprocess.run(
        ["git", "apply", "-"],
        input=diff(update(text(old), text(new))),
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.txt").read_text() == text(new)


def test_a_line_ending_alone_is_no_difference() -> None:
    assert diff(update("a\r\nb\r\n", "a\nb\n")) == ""


def test_a_whole_new_file_is_shown_and_one_of_the_runtime_only_named() -> None:
    assert "+two" in diff(update(None, "one\ntwo\n"))
    assert "-two" in diff(update("one\ntwo\n", None))
    runtime = diff(update(None, "one\ntwo\n", "p/_runtime/x.py"))
    assert "p/_runtime/x.py" in runtime
    assert "+two" not in runtime


def test_a_flood_is_cut() -> None:
    lines = [str(number) for number in range(100_000)]
    shown = diff(update(None, text(lines)))
    assert len(shown.splitlines()) < 1100
    assert "more lines" in shown


def test_controls_of_a_file_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in diff(update("a\n", "\x1b[2Ja\n"))


def test_the_vendored_runtime_is_one_line() -> None:
    files = tuple(
        FileChange(
            path=f"p/_runtime/{n}.py", action=Action.UPDATE, before=b"", after=b"x"
        )
        for n in range(70)
    )
    assert change_text(ChangeSet(files=files, manifest_before=b"{}")) == (
        "  update   p/_runtime/  (70 files)\n"
    )


def test_rows_are_counted_named_and_cut() -> None:
    rows = RowChanges(
        appended=tuple(f"c{n}" for n in range(12)), removed=("gone",), own=2
    )
    changes = ChangeSet(rows=rows, manifest_before=b"{}")
    shown = change_text(changes)
    assert "12 rows appended" in shown
    assert "and 2 more" in shown
    assert "1 row removed (by you; kept away): gone" in shown
    assert change_record(changes)["rows"]["appended"] == list(rows.appended)
