"""What a new generation leaves behind: judgements of questions that have changed.

A judge's prompt is its definitions and who the subject is; where one changes, what was
judged before answers another question. So do labels where the statement changed, and
a run that was kept to compare with where any criterion or case did. Nothing is deleted:
it is said, with how many there are.
"""

import ast
import copy
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .merge.units import criterion_of, parse
from .texts import with_lf

LABELS: Final = "labels.jsonl"
VERDICTS: Final = "matrix/verdicts"
RUNS: Final = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """What no longer matches, each a sorted sequence of ids; and how much is on disk.

    `judges` have another prompt, `statements` ask something else, `checks` are decided
    by other code, `gone` are no longer criteria, `cases` have another row. `renamed`
    maps the ids that are another one now: a label of such a criterion still holds, once
    it has the new id. `labels`, `verdicts` and `runs` count what refers to all these.
    `deciders` says of those that something else decides now what does. `retired` are the
    cases that are retired only now, `retired_labels` counts the labels of runs of them.
    """

    judges: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    deciders: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[str, ...] = ()
    labels: int = 0
    verdicts: int = 0
    runs: int = 0
    retired: tuple[str, ...] = ()
    retired_labels: int = 0

    def to_record(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "judges": list(self.judges),
            "statements": list(self.statements),
            "checks": list(self.checks),
            "gone": list(self.gone),
            "renamed": dict(self.renamed),
            "deciders": dict(self.deciders),
            "cases": list(self.cases),
            "labels": self.labels,
            "verdicts": self.verdicts,
            "runs": self.runs,
            "retired": list(self.retired),
            "retiredLabels": self.retired_labels,
        }


Deciders = tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]
"""Which of `checks` and `judges` decide each criterion, before a run and after it."""

Sides = tuple[bytes | None, bytes | None]
"""A file before a run and after it; None where there is none."""


def find_stale(
    root: Path,
    files: Mapping[str, Sides],
    *,
    gone: Collection[str],
    renamed: Mapping[str, str],
    cases: Collection[str],
    retired: Collection[str],
    deciders: Deciders,
) -> Stale:
    """Return what a run makes stale.

    `files` are the modules of the package by their stem; `gone` are the criteria that
    the spec no longer has, `renamed` those whose id is another now, `cases` those
    whose row changes, `retired` those that are retired now; `deciders` is what was
    generated, whatever of it still stands there. Criteria of the result have the ids
    of before.
    """
    units = {
        stem: (_units(files.get(stem)), _units(files.get(stem), after=True))
        for stem in ("judges", "checks")
    }
    judges, asked_anew = _changed(*units["judges"], renamed)
    checks, checked_anew = _changed(*units["checks"], renamed)
    moved = _moved(deciders, renamed)
    statements = asked_anew | checked_anew | _reworded(moved, units, renamed)
    if _subject(files.get("subject")) != _subject(files.get("subject"), after=True):
        before, after = units["judges"]
        judges |= {i for i in before if renamed.get(i, i) in after}
    were, _ = deciders
    now_judged = {i for i, by in moved.items() if "judges" in by - were[i]}
    unjudged = {i for i, by in moved.items() if "judges" in were[i] - by}
    judges |= now_judged
    checks |= moved.keys() - now_judged
    for changed in (judges, checks, statements):
        changed -= set(gone)
    asked = {*statements, *gone, *renamed}
    judged = {*judges, *unjudged, *gone, *renamed}
    compared = {*judges, *checks, *gone, *renamed}
    return Stale(
        judges=tuple(sorted(judges)),
        statements=tuple(sorted(statements)),
        checks=tuple(sorted(checks)),
        gone=tuple(sorted(gone)),
        renamed=dict(sorted(renamed.items())),
        deciders={i: _BY[moved[i]] for i in sorted(moved)},
        cases=tuple(sorted(cases)),
        labels=_count(_lines(root / LABELS), _naming(asked)) if asked else 0,
        verdicts=_count(_texts(root / VERDICTS, "*.json"), _naming(judged)),
        runs=_count(
            _texts(root / RUNS, "*/scorecard.json"),
            (lambda text: True) if cases else _naming(compared),
        ),
        retired=tuple(sorted(retired)),
        retired_labels=(
            _count(_lines(root / LABELS), _of_runs(retired)) if retired else 0
        ),
    )


def _changed(
    before: Mapping[str, str], after: Mapping[str, str], renamed: Mapping[str, str]
) -> tuple[set[str], set[str]]:
    """Return the criteria of a module that another program decides, or other words."""
    programs, statements = set(), set()
    for spec_id, one in before.items():
        now = renamed.get(spec_id, spec_id)
        other = after.get(now)
        if other is None or one == other:
            continue
        if _program(one, spec_id) != _program(other, now):
            programs.add(spec_id)
        if _statement(one) != _statement(other):
            statements.add(spec_id)
    return programs, statements


def _moved(deciders: Deciders, renamed: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the criteria that something else decides now, and the modules that do."""
    before, after = deciders
    moved = {}
    for spec_id, was in before.items():
        now = after.get(renamed.get(spec_id, spec_id))
        if now is not None and now != was:
            moved[spec_id] = now
    return moved


def _reworded(
    moved: Collection[str],
    units: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]],
    renamed: Mapping[str, str],
) -> set[str]:
    """Return those of the criteria that moved which ask something else there."""
    found = set()
    for spec_id in moved:
        now = renamed.get(spec_id, spec_id)
        asked = [
            _statement(old[spec_id]) for old, _ in units.values() if spec_id in old
        ]
        # What its owner left where it was still asks what it asked.
        asks = [_statement(new[now]) for _, new in units.values() if now in new]
        if asked and any(one not in asked for one in asks):
            found.add(spec_id)
    return found


_BY: Final = {
    frozenset(("checks",)): "code",
    frozenset(("judges",)): "a judge",
    frozenset(("checks", "judges")): "code first, then a judge",
}


_START: Final = re.compile(r"^(?=[^\s#)\]}])", re.M)


def _units(sides: Sides | None, *, after: bool = False) -> dict[str, str]:
    """Return the source of each check or judge of a module, by its criterion.

    The text is cut where a statement starts; only what can hold one is looked into.
    """
    data = None if sides is None else sides[1 if after else 0]
    if data is None:
        return {}
    found: dict[str, str] = {}
    chunks = _START.split(with_lf(data).decode("utf-8", "surrogateescape"))
    decorators = ""
    for chunk in chunks:
        if chunk.startswith("@"):
            decorators += chunk
            continue
        text, decorators = decorators + chunk, ""
        match = _ID.search(text)
        if match is not None:
            try:
                found[str(json.loads(match[1]))] = text.rstrip()
            except ValueError:
                continue  # a text that is written in Python's own way
    return found


_ID: Final = re.compile(r'\b(?:check|Judge)\(\s*("(?:[^"\\\n]|\\.)*")')


def _program(text: str, spec_id: str = "") -> str:
    """Return what decides, however it is written: of a check, what it is asked aside.

    What it is called, and the id that it has, are no part of that.
    """
    try:
        tree = copy.deepcopy(parse(text))
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == spec_id:
            node.value = ""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.decorator_list = []
            node.name = ""
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            node.targets[0].id = ""
    return ast.dump(tree)


def _statement(text: str) -> tuple[str, ...]:
    """Return what a check or a judge asks: its statement and its goal."""
    try:
        body = parse(text).body
    except SyntaxError:
        return (text,)
    for node in body:
        if criterion_of(node) is None:
            continue
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and len(call.args) >= 2:
                goal = [ast.dump(k.value) for k in call.keywords if k.arg == "goal"]
                return (ast.dump(call.args[1]), *goal)
    return (text,)


def _subject(sides: Sides | None, *, after: bool = False) -> str:
    """Return the program that makes the subject: who is judged, in every prompt."""
    data = None if sides is None else sides[1 if after else 0]
    text = "" if data is None else with_lf(data).decode("utf-8", "surrogateescape")
    for chunk in _START.split(text):
        if re.match(r"SUBJECT\b", chunk):
            return _program(chunk)
    return ""


def _naming(ids: Collection[str]) -> Callable[[str], bool]:
    """Return whether a text of JSON names one of some criteria."""
    if not ids:
        return lambda text: False
    names = "|".join(re.escape(json.dumps(i)) for i in sorted(ids))
    pattern = re.compile(rf'"criterionId"\s*:\s*(?:{names})')
    return lambda text: pattern.search(text) is not None


def _of_runs(cases: Collection[str]) -> Callable[[str], bool]:
    """Return whether a line of labels is about a run that the suite made of a case."""
    pattern = re.compile(r'"traceId"\s*:\s*"((?:[^"\\]|\\.)*)-r\d+"')

    def matches(text: str) -> bool:
        found = pattern.search(text)
        return found is not None and found[1] in cases

    return matches


def _count(texts: Iterator[str], matches: Callable[[str], bool]) -> int:
    return sum(matches(text) for text in texts)


def _lines(path: Path) -> Iterator[str]:
    try:
        if not path.is_file():  # a pipe would never end
            return
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError:
        return


def _texts(folder: Path, pattern: str) -> Iterator[str]:
    for path in sorted(folder.glob(pattern)):
        try:
            if path.is_file() and not path.is_symlink():
                yield path.read_text("utf-8", errors="replace")
        except OSError:
            continue
