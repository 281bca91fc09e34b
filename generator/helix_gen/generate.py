"""`helix-gen suite`: the whole street, from the spec to the suite on disk.

read → resolve → render → reconcile → write. What a run found out is an Outcome, plain
data that is printed as text or as JSON; `--check`, `--dry-run` and a real run make the
same one, and differ in whether it is carried out and how it is shown.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from helix_runtime.safe_text import printable

from . import __version__, console
from .cards import make_cards, render_cards
from .inputs import (
    EngineChoice,
    Inputs,
    fingerprint,
    gather,
    generator_identity,
    missing_traces,
    no_model,
)
from .problems import Position, Problem, has_errors, in_order, listed, quoted

if TYPE_CHECKING:
    from .reconcile.changes import ChangeSet
    from .spec.overlay import ReadOverlay
    from .spec.read import ReadSpec
    from .suite.resolve import Resolved

Mode = Literal["write", "check", "dry-run", "diff"]
ConflictStyle = Literal["yours", "markers"]

DONE: Final = 0
DRIFT: Final = 1
REFUSED: Final = 2
CONFLICTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asks for."""

    spec: str
    out: Path | None = None
    overlay: Path | None = None
    engine: EngineChoice = "auto"
    target: str | None = None
    items: Sequence[str] = ()
    traces: Sequence[Path] = ()
    model: str | None = None
    format: str | None = None
    mode: Mode = "write"
    conflict: ConflictStyle = "yours"
    rebuild: bool = False
    json: bool = False
    quiet: bool = False

    def command(self) -> str:
        """Return the command line that writes what this request only looks at."""
        import shlex

        words = ["helix-gen", "suite", self.spec]
        if self.out is not None:
            words += ["-o", str(self.out)]
        if self.overlay is not None:
            words += ["--overlay", str(self.overlay)]
        if self.engine != "auto":
            words += ["--engine", self.engine]
        if self.target is not None:
            words += ["--target", self.target]
        for item in self.items:
            words += ["--items", item]
        if self.conflict != "yours":
            words.append(f"--conflict={self.conflict}")
        if self.rebuild:
            words.append("--rebuild")
        return shlex.join(words)


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a run came to. `changes` is None where it got no further than problems,
    or where nothing had changed at all (`cards` are there then)."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cards: dict[str, Any] | None = None
    changes: "ChangeSet | None" = None
    folder: Path | None = None

    @property
    def failed(self) -> bool:
        """Whether nothing could be generated."""
        return self.cards is None


def execute(request: Request) -> int:
    """Carry out `helix-gen suite` and return its exit code."""
    outcome = generate(request)
    code = _exit_code(outcome, request)
    if request.json:
        _print_json(outcome, request)
    else:
        _print_text(outcome, request)
    if request.traces and request.mode == "write" and code in (DONE, CONFLICTS):
        packets = _write_packets(outcome, request)
        if packets == DONE:
            return code
        console.tell(f"{_shown(outcome)}: the suite stands, without new packets\n")
        return packets
    return code


def generate(request: Request) -> Outcome:
    """Do everything but printing: nothing is written where there is an error."""
    gathered = gather(
        spec=request.spec,
        overlay=request.overlay,
        items=request.items,
        engine=request.engine,
        target=request.target,
    )
    inputs = gathered.inputs
    faults = [*gathered.problems, *missing_traces(request.traces)]
    if inputs is None or faults:
        return Outcome(problems=with_those_of_the_spec(faults, inputs))
    generator = generator_identity()
    outcome = _fast(request, inputs, generator)
    return outcome or _slow(request, inputs, generator)


# -- nothing changed -------------------------------------------------------------------


def _fast(
    request: Request, inputs: Inputs, generator: dict[str, str]
) -> Outcome | None:
    """Return the last run's outcome where nothing has changed since, else None."""
    from .reconcile.unchanged import find_folder, unchanged

    root = request.out or find_folder(Path(), inputs)
    if root is None:
        return None
    summary = unchanged(root, inputs, generator)
    if summary is None:
        return None
    try:
        outcome = Outcome(
            problems=[_problem(record, inputs) for record in summary["problems"]],
            notes=[str(note) for note in summary["notes"]],
            cards=summary["cards"],
            folder=root,
        )
        # It comes from a folder of anyone's: what can't be shown is no summary.
        _cards_text(outcome)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None
    return outcome


def _summary(outcome: Outcome, inputs: Inputs) -> bytes:
    """Return what `.helix/summary.json` keeps, free of the names of this machine."""
    problems = [_problem_record(p, inputs) for p in dict.fromkeys(outcome.problems)]
    # In the order of these names: that of the files' own would tell where the spec is.
    problems.sort(key=lambda p: (p["file"], p["line"], p["column"], p["code"]))
    record = {"cards": outcome.cards, "notes": outcome.notes, "problems": problems}
    # Not sorted: the cards read the same from here as they do when they are made.
    text = json.dumps(record, indent=1)
    if any(json.dumps(str(path))[1:-1] in text for path in inputs.items.values()):
        # A file that `--items` names stands in a message. The next run says it anew.
        record = {}
        text = json.dumps(record)
    return (text + "\n").encode()


_SPEC, _OVERLAY = "<spec>", "<overlay>"


def _problem_record(problem: Problem, inputs: Inputs) -> dict[str, Any]:
    name = problem.file
    if name == inputs.spec.name:
        name = _SPEC
    elif inputs.overlay is not None and name == inputs.overlay.name:
        name = _OVERLAY
    return {
        "code": problem.code,
        "level": problem.level,
        "message": problem.message,
        "file": name,
        "line": problem.position.line,
        "column": problem.position.column,
        "excerpt": problem.excerpt,
        "hint": problem.hint,
    }


def _problem(record: dict[str, Any], inputs: Inputs) -> Problem:
    """Return the problem of a record. Raises ValueError and what comes with it."""
    texts = ("code", "message", "file", "excerpt", "hint")
    if any(not isinstance(record[key], str) for key in texts):
        raise ValueError("not a problem")
    name = record["file"]
    if name == _SPEC:
        name = inputs.spec.name
    elif name == _OVERLAY and inputs.overlay is not None:
        name = inputs.overlay.name
    return Problem(
        code=record["code"],
        level="error" if record["level"] == "error" else "warning",
        message=record["message"],
        file=name,
        position=Position(int(record["line"]), int(record["column"])),
        excerpt=record["excerpt"],
        hint=record["hint"],
    )


# -- the whole way ---------------------------------------------------------------------


def read_inputs(
    inputs: Inputs, *, public: bool = False
) -> "tuple[ReadSpec, ReadOverlay | None, list[Problem]]":
    """Read the spec and its overlay; the problems are those of both."""
    from .spec.read import read_spec

    read = read_spec(inputs.spec.data, file=inputs.spec.name, public=public)
    if inputs.overlay is None:
        return read, None, list(read.problems)
    from .spec.overlay import read_overlay

    overlay = read_overlay(
        inputs.overlay.data,
        file=inputs.overlay.name,
        card=read.card,
        spec=read.source,
    )
    return read, overlay, [*read.problems, *overlay.problems]


def with_those_of_the_spec(
    faults: Sequence[Problem], inputs: Inputs | None
) -> list[Problem]:
    """Return faults of the command line with those of the spec and its overlay."""
    if inputs is None:
        return list(faults)
    return [*faults, *(p for p in read_inputs(inputs)[2] if p.level == "error")]


def resolve_inputs(inputs: Inputs) -> "Resolved":
    """Read the spec and its overlay and resolve them; every problem is in the result."""
    from .suite.resolve import Resolved

    read, overlay, problems = read_inputs(inputs)
    if has_errors(problems):
        return Resolved(suite=None, problems=problems, notes=())
    resolved = resolve_read(read, overlay, inputs)
    return replace(resolved, problems=in_order([*problems, *resolved.problems]))


def resolve_read(
    read: "ReadSpec", overlay: "ReadOverlay | None", inputs: Inputs
) -> "Resolved":
    """Resolve what was read without an error, as the inputs say."""
    from .suite.resolve import resolve

    return resolve(
        read,
        overlay,
        engine=inputs.engine,
        target=inputs.target,
        folder=inputs.folder,
        items=inputs.items,
    )


def _slow(request: Request, inputs: Inputs, generator: dict[str, str]) -> Outcome:
    resolved = resolve_inputs(inputs)
    outcome = Outcome(problems=resolved.problems, notes=list(resolved.notes))
    if resolved.suite is None or has_errors(resolved.problems):
        return outcome
    if request.traces and (request.model or resolved.suite.pin.model) is None:
        outcome.problems.append(no_model("--traces"))
        return outcome
    from .reconcile.write import (
        BrokenJournal,
        ChangedMeanwhile,
        FolderInUse,
        folder_problem,
        suite_folder,
    )

    root = request.out or Path(f"{resolved.suite.slug}-evals")
    outcome.folder = root
    try:
        if request.mode != "write":
            _decide(outcome, resolved, inputs, generator, root, request)
            return outcome
        with suite_folder(root):
            from .reconcile.write import apply, recover

            recovered = recover(root)
            _decide(outcome, resolved, inputs, generator, root, request)
            if outcome.changes is not None:
                for path in apply(outcome.changes, root):
                    outcome.notes.append(
                        f"{path} changed in this very moment and stays: run again."
                    )
            if recovered:
                outcome.notes.append("An interrupted run was completed first.")
    except (FolderInUse, ChangedMeanwhile, BrokenJournal, OSError) as error:
        outcome.cards = outcome.changes = None
        outcome.problems = [*outcome.problems, folder_problem(root, error)]
    return outcome


def _decide(
    outcome: Outcome,
    resolved: "Resolved",
    inputs: Inputs,
    generator: dict[str, str],
    root: Path,
    request: Request,
) -> None:
    """Fill in the outcome: the changes and the cards, or the folder's problems."""
    from .emit.render import render
    from .reconcile.decide import reconcile
    from .reconcile.lost_items import lost_items
    from .reconcile.manifest import SUMMARY
    from .reconcile.paths import Folder
    from .reconcile.texts import checksum
    from .reconcile.write import pending

    suite = resolved.suite
    assert suite is not None
    folder = Folder(root, pending=pending(root))
    changes = reconcile(
        render(suite),
        folder,
        slug=suite.slug,
        generator=generator,
        inputs=fingerprint(inputs, resolved.item_files),
        choice=request.conflict,
        rebuild=request.rebuild,
    )
    faults = changes.problems or lost_items(
        changes,
        folder,
        inputs,
        named=resolved.items_named,
        empty=resolved.items_empty,
    )
    if faults:
        outcome.problems = [*outcome.problems, *faults]
        return
    assert changes.manifest is not None
    outcome.notes += _strange_datasets(changes.rows.own_datasets, suite.datasets)
    untouched = {
        path
        for path, entry in changes.manifest.files.items()
        if entry.ownership == "seeded" and entry.left == entry.generated
    }
    outcome.cards = make_cards(
        suite,
        after=changes.after,
        untouched=untouched,
        retired=changes.rows.retired,
        skipped=changes.skipped,
    )
    summary = _summary(outcome, inputs)
    before = folder.read(SUMMARY)
    if before is not None and checksum(before) == checksum(summary):
        before = summary  # a checkout with other line endings
    outcome.changes = changes.with_summary(summary, before)


def _strange_datasets(own: Mapping[str, int], known: Sequence[str]) -> list[str]:
    """Return what is said of its owner's rows whose dataset the spec does not have."""
    return [
        f"{'1 row' if count == 1 else f'{count} rows'} of your own in dataset.jsonl "
        f"{'names' if count == 1 else 'name'} the dataset {quoted(name)}, which the spec "
        "does not have: no criterion that is mapped to datasets judges "
        f"{'it' if count == 1 else 'them'}. Its datasets are {listed(known)}; was one "
        "renamed?"
        for name, count in sorted(own.items())
        if known and name not in known
    ]


# -- printing --------------------------------------------------------------------------


def _exit_code(outcome: Outcome, request: Request) -> int:
    if outcome.failed:
        return REFUSED
    changes = outcome.changes
    if request.mode == "check":
        drift = changes is not None and (changes.drift or changes.recovered)
        return DRIFT if drift else DONE
    if changes is not None and changes.conflicts:
        return CONFLICTS
    return DONE


def _print_json(outcome: Outcome, request: Request) -> None:
    from .problems import render_json
    from .reconcile.show import change_record, diff_text

    record: dict[str, Any] = {
        "generator": f"helix-gen {__version__}",
        "folder": None if outcome.folder is None else outcome.folder.as_posix(),
        "cards": outcome.cards,
        "changes": None,
        "notes": outcome.notes,
        "problems": json.loads(render_json(outcome.problems)),
    }
    if outcome.cards is not None:
        changes = outcome.changes
        record["changes"] = (
            change_record(changes)
            if changes is not None
            else {"drift": False, "recovered": False, "files": [], "rows": {}}
        )
        if request.mode in ("check", "diff") and changes is not None:
            record["changes"]["diff"] = diff_text(changes, good=str, bad=str)
    console.say(json.dumps(record, indent=2) + "\n")


def _print_text(outcome: Outcome, request: Request) -> None:
    console.tell_problems(outcome.problems)
    if outcome.failed:
        return
    for note in outcome.notes:
        console.tell(f"note: {printable(note)}\n")
    changes = outcome.changes
    if request.mode == "check":
        _print_check(outcome, request)
    elif request.mode == "diff":
        _print_diff(outcome, request)
    elif not request.quiet:
        console.say(_headline(outcome, request))
        if changes is not None:
            from .reconcile.show import change_text

            console.say(change_text(changes))
        console.say(_cards_text(outcome))
    if changes is not None and changes.conflicts:
        _tell_conflicts(changes, outcome)


def _tell_conflicts(changes: "ChangeSet", outcome: Outcome) -> None:
    """Say what clashes, and the command that ends it."""
    folder = _shown(outcome)
    for change in changes.conflicts:
        path = printable(change.path)
        console.tell(f"conflict: {folder}/{path}: {printable(change.note, 400)}\n")
    console.tell(
        f"Yours stays until you resolve it: {folder}/.helix/conflicts/README.md\n"
    )
    for change in changes.conflicts:
        path = printable(_quoted(f"{folder}/{change.path}"), 400)
        console.tell(
            f"to resolve: helix-gen resolve {path} --ours | --theirs | --edited\n"
        )


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


def _print_diff(outcome: Outcome, request: Request) -> None:
    """Show what a run would change, line by line; nothing where it changes nothing."""
    from .reconcile.show import change_text, diff_text

    changes = outcome.changes
    if changes is None:
        return
    if not request.quiet:
        console.tell(change_text(changes))
    console.say(diff_text(changes, good=console.good, bad=console.bad))


def _print_check(outcome: Outcome, request: Request) -> None:
    from .reconcile.show import change_text, diff_text

    changes, name = outcome.changes, _shown(outcome)
    if changes is None or not (changes.drift or changes.recovered):
        if not request.quiet:
            console.say(f"{name}: up to date\n")
        return
    if not request.quiet:
        console.say(change_text(changes))
        console.say(diff_text(changes, good=console.good, bad=console.bad))
    if changes.recovered:
        console.tell(f"{name}: an interrupted run has to be completed\n")
    if changes.drift:
        count = len(changes.drift)
        files = "1 file differs" if count == 1 else f"{count} files differ"
        console.tell(f"{name}: {files} from what would be generated\n")
    if changes.recovered or changes.writes():
        console.tell(f"to mend it: {printable(request.command())}\n")


def _headline(outcome: Outcome, request: Request) -> str:
    from .emit.plan import VENDORED

    changes, name = outcome.changes, _shown(outcome)
    would = "would be " if request.mode == "dry-run" else ""
    if changes is None or not (changes.drift or changes.recovered):
        return f"{name}: nothing changed\n"
    if not changes.writes():
        return f"{name}: nothing changed; conflicts wait to be resolved\n"
    if changes.is_new:
        count = sum(f"/{VENDORED}/" not in change.path for change in changes.files)
        return f"{name}: {would}generated, {count} files and the runtime\n"
    return f"{name}: {would}updated\n"


def _cards_text(outcome: Outcome) -> str:
    assert outcome.cards is not None and outcome.folder is not None
    return render_cards(
        outcome.cards, heading=console.heading, folder=str(outcome.folder)
    )


def _shown(outcome: Outcome) -> str:
    return printable(str(outcome.folder))


# -- packets ---------------------------------------------------------------------------


def _write_packets(outcome: Outcome, request: Request) -> int:
    """Let the suite itself write packets, so that its owner's own checks count."""
    import subprocess

    assert outcome.cards is not None and outcome.folder is not None
    model = request.model or outcome.cards["evals"]["judge"]["model"]
    if model is None:
        console.tell_problems([no_model("--traces")])
        return REFUSED
    words = [sys.executable, "-m", outcome.cards["suite"]["package"], "prep"]
    words += ["--model", model, "--traces"]
    words += [str(path.resolve()) for path in request.traces]
    if request.format is not None:
        words += ["--format", request.format]
    if request.quiet:
        words.append("--quiet")
    sys.stdout.flush()
    # Its results are results only where no JSON of ours stands on stdout.
    stdout = sys.stderr if request.json else None
    done = subprocess.run(words, cwd=outcome.folder, stdout=stdout, check=False)
    return DONE if done.returncode == 0 else REFUSED
