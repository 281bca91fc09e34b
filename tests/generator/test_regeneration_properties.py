"""Whole suites through any edits and any new spec: nothing is lost, and all still runs.

Each owner's edit leaves a word of its own (`mine7`); the words are what may not vanish.
"""

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from helix_gen.emit.plan import Rendered
from helix_gen.emit.render import render
from helix_gen.reconcile.changes import ChangeSet
from helix_gen.reconcile.decide import reconcile
from helix_gen.reconcile.paths import Folder
from helix_gen.reconcile.write import apply, suite_folder
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.suite_cards import action, card, criterion, scenario, suite_of

PACKAGE = "desk_clerk_evals"
CHECKS, JUDGES, SUITE = (f"{PACKAGE}/{n}.py" for n in ("checks", "judges", "suite"))
CRITERIA = (
    criterion("is-brief"),
    criterion("is-kind", "llm-judge"),
    criterion("is-true"),
    criterion("is-warm", "llm-judge"),
)

Edit = Callable[[str, int, str], str]
"""From a text, a number to choose a place by, and a word: the edited text."""


def units(text: str) -> list[tuple[int, int, ast.stmt]]:
    """Return the functions and assignments: first and last line (from 0), node."""
    found: list[tuple[int, int, ast.stmt]] = []
    for node in ast.parse(text.removeprefix("\ufeff")).body:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)]) - 1
        if isinstance(node, (ast.FunctionDef, ast.Assign)):
            found.append((first, node.end_lineno or node.lineno, node))
    return found


def on_unit(
    change: Callable[[list[str], ast.stmt, str], list[str]],
) -> Edit:
    """Return the edit that changes the lines of one unit."""

    def edit(text: str, number: int, word: str) -> str:
        places = units(text)
        if not places:
            return text
        first, last, node = places[number % len(places)]
        lines = text.split("\n")
        return "\n".join(
            lines[:first] + change(lines[first:last], node, word) + lines[last:]
        )

    return edit


def name_of(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    assert isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    return node.targets[0].id


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def in_class(lines: list[str], node: ast.stmt, word: str) -> list[str]:
    name = name_of(node)
    inside = [f"class In{word}:", f'    """{word}."""', "", *indented(lines)]
    return [*inside, "", "", f"{name} = In{word}.{name}"]


def copied(lines: list[str], node: ast.stmt, word: str) -> list[str]:
    copy = "\n".join(lines).replace(name_of(node), f"copy_{word}")
    return [*lines, "", "", *copy.split("\n")]


def moved(text: str, number: int, word: str) -> str:
    places = units(text)
    if len(places) < 2:
        return text
    first, last, _ = places[number % len(places)]
    lines = text.split("\n")
    rest = lines[:first] + lines[last:]
    return "\n".join([*rest, "", f"# {word}", *lines[first:last], ""])


def filled(text: str, number: int, word: str) -> str:
    return text.replace(
        "return unwritten()", f'"{word}".strip()\n    return unwritten()', 1
    )


def tuned(text: str, number: int, word: str) -> str:
    return text.replace("\n    fail_when=", f'\n    notes="{word}",\n    fail_when=', 1)


def row_lines(text: str) -> list[int]:
    lines = text.split("\n")
    return [n for n, line in enumerate(lines) if line.startswith("    Criterion(c")]


def on_row(change: Callable[[str, str], list[str]]) -> Edit:
    """Return the edit that changes one row of the table that stands on one line."""

    def edit(text: str, number: int, word: str) -> str:
        places = [n for n in row_lines(text) if text.split("\n")[n].endswith("),")]
        if not places:
            return text
        at = places[number % len(places)]
        lines = text.split("\n")
        return "\n".join(lines[:at] + change(lines[at], word) + lines[at + 1 :])

    return edit


def row_in_a_variable(text: str, number: int, word: str) -> str:
    """Take a row out of the table into a name of its own."""
    rows = [n for n in row_lines(text) if text.split("\n")[n].endswith("),")]
    if not rows or "CRITERIA: list[Criterion] = [" not in text:
        return text
    lines = text.split("\n")
    at = rows[number % len(rows)]
    row = lines[at].strip().removesuffix(",")
    lines[at] = f"    {word.upper()},"
    table = lines.index("CRITERIA: list[Criterion] = [")
    return "\n".join(
        [*lines[:table], f"{word.upper()} = {row}  # {word}", *lines[table:]]
    )


def aliased(text: str, number: int, word: str) -> str:
    """Import `check` or `Judge` under another name."""
    name = "check" if "@check(" in text else "Judge"
    head, found, rest = text.partition(f"import {name}")
    if f" {name} as " in text or not found:
        return text
    called = re.sub(rf"(@| = ){name}\(", rf"\g<1>{word}(", rest)
    return f"{head}{found} as {word}{called}"


def wrapped(lines: list[str], node: ast.stmt, word: str) -> list[str]:
    """Make a function of the owner's that asks a check of the file."""
    if not isinstance(node, ast.FunctionDef):
        return lines
    helper = f"def {word}(case: Case, trace: Trace) -> Verdict:"
    body = [f'    """Ask {node.name}."""', f"    return {node.name}(case, trace)"]
    return [*lines, "", "", helper, *body, "", "", f"{word.upper()} = {node.name}"]


def other_name(lines: list[str], node: ast.stmt, word: str) -> list[str]:
    # The table follows the name, so it vanishes with the function: no word of its own.
    other = word.replace("mine", "named_")
    return "\n".join(lines).replace(name_of(node), other).split("\n")


EDITS: dict[str, tuple[tuple[str, ...], Edit]] = {
    "fill in": ((CHECKS,), filled),
    "tune": ((JUDGES,), tuned),
    "move": ((CHECKS, JUDGES), moved),
    "delete": ((CHECKS, JUDGES), on_unit(lambda lines, node, word: [])),
    "copy": ((CHECKS, JUDGES), on_unit(copied)),
    "comment": (
        (CHECKS, JUDGES),
        on_unit(lambda lines, node, word: [f"# {word}", *lines]),
    ),
    "condition": (
        (CHECKS, JUDGES),
        on_unit(lambda lines, node, word: [f"if True:  # {word}", *indented(lines)]),
    ),
    "class": ((CHECKS,), on_unit(in_class)),
    "helper": (
        (CHECKS,),
        on_unit(lambda lines, n, word: [f"def {word}() -> None: ...", "", "", *lines]),
    ),
    "form feed": ((CHECKS, SUITE), lambda text, n, word: f"{text}\n\f\n# {word}\n"),
    "windows": ((CHECKS, SUITE), lambda text, n, word: text.replace("\n", "\r\n")),
    "mark": ((CHECKS, JUDGES), lambda text, n, word: f"\ufeff{text}"),
    "severity": (
        (SUITE,),
        on_row(lambda row, word: [row.replace("HIGH", "LOW"), f"    # {word}"]),
    ),
    "no row": ((SUITE,), on_row(lambda row, word: [])),
    "variable": ((SUITE,), row_in_a_variable),
    "alias": ((CHECKS, JUDGES), aliased),
    "wrap": ((CHECKS, JUDGES), on_unit(wrapped)),
    "other name": ((CHECKS, JUDGES), on_unit(other_name)),
    "broken": ((CHECKS, JUDGES), lambda text, n, word: f"{text}\nx = (  # {word}\n"),
    "empty": ((CHECKS, JUDGES), lambda text, n, word: f"# {word}\n"),
}

SPEC_CHANGES = (
    "reword",
    "rename",
    "rename anew",
    "take over",
    "retype",
    "add",
    "remove",
    "reorder",
    "bind",
    "action",
)


class Spec:
    """A spec and its overlay, that change."""

    def __init__(self) -> None:
        self.criteria = deepcopy(list(CRITERIA))
        self.overlay: dict[str, dict[str, Any]] = {}
        self.actions: list[dict[str, Any]] = []
        self.count = 0

    def change(self, what: str, number: int) -> None:
        self.count += 1
        new = f"new-{self.count}"
        if what == "add":
            place = number % (len(self.criteria) + 1)
            kind = ("code-check", "llm-judge")[number % 2]
            self.criteria.insert(place, criterion(new, kind))
        if what == "action":
            self.actions = [] if self.actions else [action("send", "send.mail")]
        if what == "reorder":
            self.criteria.reverse()
        if not self.criteria:
            return
        chosen = self.criteria[number % len(self.criteria)]
        if what == "reword":
            chosen["description"] = f"In other words: {new}."
        elif what == "remove":
            self.criteria.remove(chosen)
        elif what == "bind" and chosen["type"] == "code-check":
            self.overlay[chosen["id"]] = {"check": {"output.present": {}}}
        elif what == "retype":
            is_code = chosen["type"] == "code-check"
            chosen["type"] = "llm-judge" if is_code else "code-check"
            self.overlay.pop(chosen["id"], None)
        elif what == "take over":
            # It gets the id that another had until now, and that one is gone.
            other = self.criteria[(number + 1) % len(self.criteria)]
            if other is not chosen:
                self.criteria.remove(other)
                self.overlay.pop(other["id"], None)
                said = self.overlay.pop(chosen["id"], {})
                self.overlay[other["id"]] = {**said, "renamed_from": chosen["id"]}
                chosen["id"] = other["id"]
        elif what.startswith("rename"):
            said = self.overlay.pop(chosen["id"], {})
            if what == "rename":
                said["renamed_from"] = chosen["id"]
            self.overlay[new] = {**said}
            chosen["id"] = new

    def files(self) -> tuple[Rendered, ...]:
        there = {c["id"] for c in self.criteria}
        said = {i: keys for i, keys in self.overlay.items() if i in there and keys}
        made = card(
            criteria=self.criteria, scenarios=[scenario("rush")], actions=self.actions
        )
        suite = suite_of(made, {"criteria": said} if said else None)
        return render(suite)


@contextmanager
def folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp())
    try:
        yield place / "suite"
    finally:
        shutil.rmtree(place)


def decide(root: Path, files: tuple[Rendered, ...]) -> ChangeSet:
    changes = reconcile(
        files,
        Folder(root, pending={}),
        slug="desk-clerk",
        generator={"version": "1"},
        inputs={},
    )
    assert not changes.problems, changes.problems
    return changes


def run(root: Path, files: tuple[Rendered, ...]) -> None:
    with suite_folder(root):
        apply(decide(root, files), root)


def words(root: Path) -> set[str]:
    # (The pages of conflicts only show what stands in the files.)
    texts = (
        path.read_text("utf-8")
        for path in root.rglob("*")
        if "conflicts" not in path.parts
        and path.is_file()
        and (path.suffix in (".py", ".md") or "kept" in path.suffix)
    )
    return {word for text in texts for word in re.findall(r"mine\d+", text)}


def registered(root: Path) -> tuple[list[str], str]:
    """Return the ids that the suite registers, and why it can't be imported."""
    program = f"from {PACKAGE}.suite import SUITE\nfor c in SUITE.criteria: print(c.id)"
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-c", program],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split(), done.stderr


def readable(root: Path) -> bool:
    for path in (CHECKS, JUDGES, SUITE):
        try:
            ast.parse((root / path).read_text("utf-8-sig"))
        except SyntaxError:
            return False
    return True


def edit(root: Path, what: str, number: int, word: str) -> None:
    paths, change = EDITS[what]
    place = root / paths[number % len(paths)]
    text = place.read_bytes().decode("utf-8")
    try:
        units(text)
    except SyntaxError:
        return  # it is broken already
    if "\r" in text or text.startswith("\ufeff"):
        return
    place.write_bytes(change(text, number, word).encode("utf-8"))


STEPS = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from(sorted(EDITS)), st.integers(0, 9)), max_size=4
        ),
        st.lists(
            st.tuples(st.sampled_from(SPEC_CHANGES), st.integers(0, 9)), max_size=3
        ),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=40)
@example([([("class", 1), ("class", 1)], [("rename", 2)])])
@given(STEPS)
def test_whatever_both_do_nothing_is_lost_and_all_still_runs(steps: Any) -> None:
    spec, count = Spec(), 0
    with folder() as root:
        run(root, spec.files())
        for edits, changes in steps:
            for what, number in edits:
                count += 1
                edit(root, what, number, f"mine{count}")
            for what, number in changes:
                spec.change(what, number)
            said, could = words(root), readable(root)
            fault = registered(root)[1] if could else "it is no Python"
            files = spec.files()
            run(root, files)
            assert words(root) >= said
            assert decide(root, files).writes() == ()
            assert readable(root) or not could
            if not fault:
                ids, why = registered(root)
                assert why == ""
                assert {c["id"] for c in spec.criteria} <= set(ids)
