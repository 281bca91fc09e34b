"""What a generation tells its user: the dataset card, the evals card, what comes next.

A card is plain data first (`suite --json` prints it, `.helix/summary.json` keeps it
for the next run that finds nothing changed) and text second. The text is made from
the data alone, so both say the same; all of it goes through `printable`, for it may be
a stranger's.
"""

import ast
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from helix_runtime.safe_text import printable

from .reconcile.merge.split import with_lf

if TYPE_CHECKING:
    from helix_runtime.case import Case

    from .suite.model import Suite

Cards = dict[str, Any]

_SHOWN: Final = 12
"""Names of a list that the text shows; the data holds them all."""


def make_cards(
    suite: "Suite",
    *,
    after: Callable[[str], bytes | None],
    untouched: set[str],
    retired: Sequence[str] = (),
    skipped: Sequence[str] = (),
) -> Cards:
    """Return the cards of a suite.

    `after` gives a file's bytes as the run leaves them, so that a check which its
    owner wrote is not listed as missing, and a row of their own is counted;
    `untouched` are the seeded files that are still as they were generated, `retired`
    the ids of the rows that are not run, `skipped` the criteria whose check or judge
    their owner deleted.
    """
    return {
        "suite": {"package": suite.package, "subject": suite.subject.id},
        "dataset": _dataset_card(_cases(suite, after("dataset.jsonl"), retired))
        | {"retired": len(retired)},
        "evals": {
            **_evals_card(suite, after=after, untouched=untouched),
            "skipped": list(skipped),
        },
    }


def _cases(
    suite: "Suite", dataset: bytes | None, retired: Sequence[str]
) -> Sequence["Case"]:
    """Return the cases that a run is about: those of the file, the retired left out."""
    from .emit.render import dataset_jsonl

    if dataset is None or dataset == dataset_jsonl(suite):
        return suite.cases
    from helix_runtime.case import case_from_row

    left_out = set(retired)
    cases: dict[str, Case] = {}
    for line in dataset.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            case = case_from_row(json.loads(line))
        except (ValueError, RecursionError):
            continue  # blank, or no row: what a run says of it, it says at length
        if case.id not in left_out:
            cases.setdefault(case.id, case)
    return tuple(cases.values())


def _dataset_card(cases: Sequence["Case"]) -> Cards:
    return {
        "cases": len(cases),
        "datasets": _counts(case.dataset for case in cases),
        "sources": _counts(case.source for case in cases),
        "categories": _counts(case.category for case in cases),
        "scenarios": _counts(case.scenario for case in cases),
        "placeholders": sum(case.placeholder for case in cases),
    }


def _counts(names: Iterator[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(name for name in names if name is not None).items()))


def _evals_card(
    suite: "Suite", *, after: Callable[[str], bytes | None], untouched: set[str]
) -> Cards:
    criteria = suite.criteria
    judged = sum(criterion.judge is not None for criterion in criteria)
    return {
        "engine": suite.engine,
        "why": suite.target.why_native if suite.engine == "native-matrix" else "",
        "target": {
            "id": suite.target.id,
            "name": suite.target.name,
            "others": [t.id for t in suite.targets if t.id != suite.target.id],
        },
        "judge": {"provider": suite.pin.provider, "model": suite.pin.model},
        "needs": _needs(suite, judged),
        "criteria": len(criteria),
        "methods": _counts(criterion.method for criterion in criteria),
        "severities": {
            severity: count
            for severity in ("CRIT", "HIGH", "MED", "LOW")
            if (count := sum(c.severity == severity for c in criteria))
        },
        "derived": [c.id for c in criteria if c.source == "derived"],
        "toWrite": _to_write(suite, after=after, untouched=untouched),
    }


def _needs(suite: "Suite", judged: int) -> Cards:
    """Say what each engine depends on, before one is chosen for good."""
    judges = "no judge" if not judged else f"{judged} judge" + "s" * (judged > 1)
    needs = {}
    if suite.target.code:
        provider = suite.pin.provider or "your provider"
        key = f"needed for {judges} ({provider})"
        if not suite.pin.needs_key:
            key = "not needed: the judge's server is on this machine"
        needs["code-written"] = {
            "host with agents": "not needed",
            "trace sink": "not needed: each run records its traces",
            "provider key": key if judged else "not needed",
            "portability": "runs wherever Python 3.11 runs",
        }
    needs["native-matrix"] = {
        "host with agents": f"needed for {judges}" if judged else "not needed",
        "trace sink": "needed: recorded traces",
        "provider key": "not needed: the host's model judges",
        "portability": "judging needs the host; deciding runs anywhere",
    }
    return needs


def _to_write(
    suite: "Suite", *, after: Callable[[str], bytes | None], untouched: set[str]
) -> list[Cards]:
    """List what its owner has still to write, each with its place."""
    path = f"{suite.package}/checks.py"
    listed = [
        {"file": path, "line": line, "what": f"the check of {criterion_id}"}
        for criterion_id, line in unwritten_checks(after(path) or b"")
    ]
    target = f"{suite.package}/target.py"
    settings = after("evals.toml")
    if suite.engine == "code-written" and target in untouched:
        reached = _unreached(suite, settings, untouched)
        if reached is not None:
            file, words, what = reached
            line = _line_of(after(file), words)
            listed.append({"file": file, "line": line, "what": what})
    judged = any(criterion.judge is not None for criterion in suite.criteria)
    if suite.engine == "code-written" and judged and not _names_judge(settings):
        line = _line_of(settings, b"[judge]")
        what = "which model judges, under [judge]"
        listed.append({"file": "evals.toml", "line": line, "what": what})
    return listed


def _unreached(
    suite: "Suite", settings: bytes | None, untouched: set[str]
) -> tuple[str, bytes, str] | None:
    """Return where it is to be said how the subject is reached, or None if it is said.

    That is (file, words of its line, what).
    """
    import tomllib

    try:
        target = tomllib.loads((settings or b"").decode()).get("target")
    except ValueError:
        return None
    if isinstance(target, dict):
        if "evals.toml" not in untouched:
            return None
        return "evals.toml", b"[target]", "where the subject listens, under [target]"
    if isinstance(target, str) and f":{suite.package}.target:" not in target:
        return None
    file = f"{suite.package}/target.py"
    return file, b"raise TargetNotWritten", "how the subject is called"


def _names_judge(settings: bytes | None) -> bool:
    """Whether the suite's settings name a judge. What does not parse may do so."""
    import tomllib

    try:
        judge = tomllib.loads((settings or b"").decode()).get("judge")
    except ValueError:
        return True
    return isinstance(judge, dict) and "model" in judge and "provider" in judge


def _line_of(text: bytes | None, words: bytes) -> int:
    """Return the first line, from 1, that holds some words; 1 where none does."""
    before, found, _ = (text or b"").partition(words)
    return before.count(b"\n") + 1 if found else 1


def unwritten_checks(source: bytes) -> list[tuple[str, int]]:
    """Return the criteria whose check says `unwritten()`, each with its line.

    Source that does not parse has none: its owner hears of that from Python.
    """
    if b"unwritten()" not in source:
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    lines = with_lf(source.decode("utf-8-sig", "replace")).split("\n")
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = lines[node.lineno - 1 : node.end_lineno]
            if not any("unwritten" in line for line in own):
                continue  # most are written: their trees need not be searched
            criterion_id = _checked(node)
            if criterion_id is not None and any(map(_is_unwritten, ast.walk(node))):
                # The decorator's line: the runtime names a check by it too.
                found.append((criterion_id, node.decorator_list[0].lineno))
    return found


def _checked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return the criterion that a function is the check of, or None."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id="check"), args=[ast.Constant(value=str(name)), *_]
            ):
                return name
    return None


def _is_unwritten(node: ast.AST) -> bool:
    match node:
        case ast.Return(value=ast.Call(func=ast.Name(id="unwritten"))):
            return True
    return False


# -- text ------------------------------------------------------------------------------


def render_cards(
    cards: Mapping[str, Any], *, heading: Callable[[str], str], folder: str
) -> str:
    """Return the cards for people. `folder` is where the suite is, as they named it."""
    lines: list[str] = []
    dataset, evals = cards["dataset"], cards["evals"]
    lines += ["", heading("Dataset card")]
    lines += _dataset_lines(dataset)
    lines += ["", heading("Evals card")]
    lines += _evals_lines(evals)
    if evals["toWrite"]:
        lines += ["", heading("Still to write")]
        lines += _to_write_lines(evals["toWrite"])
    lines += ["", heading("Next")]
    lines += [
        f"  {number}. {step}"
        for number, step in enumerate(next_steps(cards, folder=folder), 1)
    ]
    return "".join(f"{line}\n" for line in lines)


def _dataset_lines(card: Mapping[str, Any]) -> Iterator[str]:
    datasets = _listed(card["datasets"])
    loose = card["cases"] - sum(card["datasets"].values())
    if datasets and loose:
        datasets += f", of no dataset {loose}"
    yield _row("cases", str(card["cases"]), datasets)
    if card["sources"]:
        yield _row("sources", "", _listed(card["sources"]))
    if card["categories"]:
        yield _row(
            "categories", str(len(card["categories"])), _names(card, "categories")
        )
    if card["scenarios"]:
        yield _row("scenarios", str(len(card["scenarios"])), _names(card, "scenarios"))
    if card["placeholders"]:
        have = "case has" if card["placeholders"] == 1 else "cases have"
        what = f"{have} the description of a situation in place of a realistic query"
        yield _row("to reword", str(card["placeholders"]), what)
    if card["retired"]:
        what = "no longer in the spec: they stay in dataset.jsonl and are not run"
        yield _row("retired", str(card["retired"]), what)


def _evals_lines(card: Mapping[str, Any]) -> Iterator[str]:
    target = card["target"]
    # A spec without a build target has one of this name.
    built_for = "" if target["id"] == "unknown" else f"for {target['name']}"
    yield _row("engine", card["engine"], printable(built_for, 64))
    if card["why"]:
        yield _row("", "", printable(card["why"], 200))
    if target["others"]:
        others = ", ".join(f"`{other}`" for other in target["others"])
        said = f"of several targets: `{target['id']}`; --target takes another: {others}"
        yield _row("", "", printable(said, 200))
    for engine, needs in card["needs"].items():
        chosen = "(chosen)" if engine == card["engine"] else "(also possible)"
        yield f"  {engine} {chosen}"
        for what, answer in needs.items():
            yield f"    {what:<18}{printable(answer, 100)}"
    yield _row("criteria", str(card["criteria"]), _listed(card["methods"]))
    # A severity that its owner set in the table is theirs, and can't be counted here.
    said = (
        f"{_listed(card['severities'])} (by the spec and the overlay; suite.py decides)"
    )
    yield _row("severity", "", said)
    if card["skipped"]:
        what = "deleted by you, read as uncertain: " + _joined(card["skipped"])
        yield _row("skipped", str(len(card["skipped"])), what)
    if card["derived"]:
        yield _row("derived", str(len(card["derived"])), _joined(card["derived"]))


def _to_write_lines(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    places = [f"{item['file']}:{item['line']}" for item in listed[:_SHOWN]]
    width = max(map(len, places))
    for place, item in zip(places, listed, strict=False):
        yield f"  {printable(place):<{width}}  {printable(item['what'], 100)}"
    if len(listed) > _SHOWN:
        yield f"  and {len(listed) - _SHOWN} more"


def next_steps(cards: Mapping[str, Any], *, folder: str) -> list[str]:
    """Return what to do next, in order, as commands where it is one."""
    package = cards["suite"]["package"]
    evals, dataset = cards["evals"], cards["dataset"]
    steps = [f"cd {_shell(folder)}"]
    if dataset["placeholders"]:
        steps.append(f"python -m {package} cases --placeholders   # what to reword")
        steps.append(f"python -m {package} expand --placeholders  # have it worded")
    if evals["toWrite"]:
        steps.append("write what is listed above, one thing at a time if you like")
    if evals["engine"] == "code-written":
        steps.append(f"python -m {package} run")
    else:
        steps += [
            f"python -m {package} prep --traces TRACES.jsonl --model MODEL",
            "let a host's agents judge the packets as matrix/README.md says",
            f"python -m {package} aggregate",
        ]
    return steps


def _shell(text: str) -> str:
    import shlex

    return printable(shlex.quote(text))


def _row(name: str, number: str, what: str) -> str:
    return f"  {name:<12}{number + '  ' if number else ''}{what}".rstrip()


def _listed(counts: Mapping[str, int]) -> str:
    shown = list(counts.items())[:_SHOWN]
    text = ", ".join(f"{printable(name, 40)} {count}" for name, count in shown)
    rest = len(counts) - len(shown)
    return f"{text} and {rest} more" if rest else text


def _names(card: Mapping[str, Any], key: str) -> str:
    return _joined(list(card[key]))


def _joined(names: Sequence[str]) -> str:
    text = ", ".join(printable(name, 40) for name in names[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{text} and {rest} more" if rest > 0 else text
