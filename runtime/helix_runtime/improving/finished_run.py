"""A run that came to its end, as its folder tells it: read, checked, of this subject.

A loop and an audit look back on runs that somebody may have edited, cut short or copied
from elsewhere. What they read of a scorecard is checked here; one whose digest is not
that of its content is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from ..canonical import canonical, content_key
from ..criterion import GATING, SEVERITIES
from ..decide import GateVerdict
from ..folder import SuiteFolder, read_run_record, run_order
from ..journal import UNITS
from ..record import field, record, replace
from ..refusal import Refusal
from ..scorecard import masked_digest, read_scorecard
from ..spread import Steadiness
from .change_requests import FILE_NAME as REQUESTS_FILE
from .loop import Swing

MAX_CARD: Final = 64 << 20
"""Bytes of the largest scorecard that is read."""

_CLASSES: Final = ("code", "judge", "hybrid")
_VERDICTS: Final = ("pass", "fail", "indeterminate")
_GATES: Final[tuple[str, ...]] = get_args(GateVerdict)
_STABILITIES: Final[tuple[str, ...]] = get_args(Steadiness)
_COUNTS: Final = ("pass", "fail", "uncertain", "na", "error", "missing")


@record(kw_only=True)
class CriterionOutcome:
    """What one criterion came to, as the scorecard has it.

    `traces` are ids of the runs that explain its verdict; `validation` is the block
    of the scorecard.
    """

    id: str
    criterion_class: str
    severity: str
    verdict: str
    threshold: str
    counts: Mapping[str, int]
    traces: tuple[str, ...] = ()
    validation: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gates(self) -> bool:
        """Whether a fail of it fails the gate."""
        return self.severity in GATING

    @property
    def decided(self) -> int:
        """How many units passed or failed."""
        return self.counts["pass"] + self.counts["fail"]

    @property
    def judged(self) -> int:
        """How many units it had to decide."""
        return sum(self.counts.values()) - self.counts["na"]


@record(kw_only=True)
class FinishedRun:
    """A finished run.

    `failing` and `open` are the gating criteria that fail, or are indeterminate, over
    the whole or in a part of the gate. `flapping` names (criterion, case) whose runs do
    not agree, `judge_flapping` those of one run of which the judge says now this, now
    that; `unrest` counts all such series: of the criteria that gate, where any does.
    `model` is the judge's, None where there was none; `target` is None where recorded
    traces were judged. `decision` is the content hash of what was decided, whatever is
    known of the judges by now. `state` is that of the subject and the suite, None where
    nobody can tell whether the subject was changed: it is reached by `command:` or `http:`,
    or was recorded.
    """

    name: str
    folder: Path
    started: str
    spec_sha256: str
    suite_sha256: str
    target: str | None
    repeats: int
    model: str | None
    gate: GateVerdict
    criteria: tuple[CriterionOutcome, ...]
    failing: tuple[str, ...]
    open: tuple[str, ...]
    stability: Steadiness
    unrest: int
    flapping: tuple[tuple[str, str], ...]
    judge_flapping: tuple[tuple[str, str], ...]
    decision: str
    state: str | None = None

    def covered(self, rows: Container[str]) -> int:
        """Return how many of the dataset's rows it went over; `rows` are their ids.

        Where the subject was called that are all it ran, and each criterion counts
        them; of recorded runs the journal tells. Raises OSError where it can't be read.
        """
        if self.target is not None:
            most = max((sum(c.counts.values()) for c in self.criteria), default=0)
            return most // self.repeats
        return sum(name in rows for name in set(_case_ids(self.folder / UNITS)))

    def to_swing(self) -> Swing:
        """Return what a loop has to know of it."""
        gating = [c for c in self.criteria if c.gates]
        return Swing(
            run=self.name,
            gate=self.gate,
            stability=self.stability,
            failing=len(self.failing),
            open=len(self.open),
            failed=sum(c.counts["fail"] for c in gating),
            judged=sum(c.judged for c in gating),
            flapping=self.unrest,
        )


# -- which runs -------------------------------------------------------------------------


@record(kw_only=True)
class RunList:
    """The runs of a suite that went over all of it, in the order of their start.

    `left_out` says of each other one why it does not count. `unfinished` are those of
    them that were to go over all of it, and began after every run that did.
    """

    runs: tuple[Path, ...]
    left_out: tuple[str, ...]
    unfinished: tuple[str, ...] = ()


def list_runs(folder: SuiteFolder, *, since: str | None = None) -> RunList:
    """Return the runs in `runs/` that a history is made of, from `since` on.

    Raises Refusal that names every folder whose `run.json` can't be read.
    """
    runs: list[Path] = []
    left_out: list[str] = []
    unfinished: list[str] = []
    faults: list[str] = []
    begin = None if since is None else order_of(folder.run_folder(since))
    for place in runs_by_start(folder, faults):
        if begin is not None and order_of(place) < begin:
            continue
        record = read_run_record(place) or {}
        why = why_partial(record)
        if why is None:
            runs.append(place)
            unfinished.clear()
            continue
        left_out.append(f"{place.name}: {why}")
        if why_partial({**record, "finished": True}) is None:
            unfinished.append(place.name)
    if faults:
        raise Refusal(*faults)
    return RunList(
        runs=tuple(runs), left_out=tuple(left_out), unfinished=tuple(unfinished)
    )


def runs_by_start(folder: SuiteFolder, faults: list[str]) -> list[Path]:
    """Return the folders of all runs; what can't be read goes to `faults`."""
    found: list[tuple[tuple[str, str, int], Path]] = []
    for place in folder.runs.iterdir() if folder.runs.is_dir() else ():
        if os.path.lexists(place / "run.json"):
            try:
                found.append((order_of(place), place))
            except Refusal as refusal:
                faults += refusal.lines
    faults.sort()
    return [place for _, place in sorted(found)]


def order_of(run: Path) -> tuple[str, str, int]:
    """Return what runs are ordered by (`run_order`).

    Raises Refusal where the folder's `run.json` can't be read.
    """
    path = run / "run.json"
    record = read_run_record(run)
    if record is None:
        raise Refusal(f"{path}: can't be read as a run's record")
    order = run_order(run, record)
    if not order[0]:
        raise Refusal(f"{path}: `started` must be a time such as 2026-01-31T12:00:00Z")
    return order


def why_partial(record: Mapping[str, Any]) -> str | None:
    """Return why a run, by its `run.json`, is no evaluation of all, or None."""
    if record.get("finished") is not True:
        return "it was not finished"
    selection = record.get("selection")
    if isinstance(selection, Mapping) and any(selection.values()):
        return "it was narrowed to a part of the suite"
    return None


def _case_ids(units: Path) -> Iterator[str]:
    with units.open("rb") as lines:
        for line in lines:
            try:
                yield str(json.loads(line)["caseId"])
            except (ValueError, LookupError, TypeError, RecursionError):
                continue


# -- what it says -----------------------------------------------------------------------


def read_finished_runs(folders: Iterable[Path], *, subject: str) -> list[FinishedRun]:
    """Return the runs of those folders. Raises Refusal with every fault of them."""
    runs: list[FinishedRun] = []
    faults: list[str] = []
    for folder in folders:
        try:
            runs.append(read_finished_run(folder, subject=subject))
        except Refusal as refusal:
            faults += refusal.lines
    if faults:
        raise Refusal(*faults)
    return runs


def read_finished_run(folder: Path, *, subject: str) -> FinishedRun:
    """Return what a finished run came to.

    `subject` is the id of the suite's subject. Raises Refusal where the run was not
    finished, its scorecard is torn or edited, or is another subject's.
    """
    path = folder / "scorecard.json"
    started, _, _ = order_of(folder)
    run_record = read_run_record(folder) or {}
    if run_record.get("finished") is not True:
        raise Refusal(
            f"{folder}: the run was not finished: `run --resume {folder.name}` goes on "
            "with it"
        )
    if path.exists() and not path.is_file():
        raise Refusal(f"{path}: is no file")
    try:
        if path.stat().st_size > MAX_CARD:
            raise Refusal(f"{path}: is larger than {MAX_CARD >> 20} MiB")
        card = read_scorecard(path)
        found = _finished(card, folder, started)
    except FileNotFoundError:
        raise Refusal(f"{path}: is missing, although the run was finished") from None
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        raise Refusal(
            f"{path}:{error.lineno}: is not JSON ({error.msg}): torn, or edited; run "
            "again"
        ) from error
    except (ValueError, RecursionError) as error:
        said = str(error)
        if said.startswith(f"{path.name}: "):  # it is no scorecard at all
            said = f"{said.removeprefix(f'{path.name}: ')}; run again"
        raise Refusal(f"{path}: {said}") from error
    whose = card["subject"].get("id")
    if whose != subject:
        raise Refusal(
            f"{path}: is a run of another subject, {str(whose)[:80]!r}, not of {subject!r}"
        )
    if card["run"].get("id") != run_record.get("id"):
        raise Refusal(
            f"{path}: is the scorecard of another run, "
            f"{str(card['run'].get('id'))[:80]!r}"
        )
    return replace(found, state=_state(found, run_record))


_IN_PROCESS: Final = ("python:", "pydantic-ai:", "langgraph:", "openai-agents:")


def _state(run: FinishedRun, record: Mapping[str, Any]) -> str | None:
    """The content hash of all that is known of what was evaluated, and by what."""
    given = record.get("arguments")
    given = given if isinstance(given, Mapping) else {}
    code = given.get("target_code")
    if run.target is None or not run.target.startswith(_IN_PROCESS) or not code:
        return None
    told = [run.spec_sha256, run.suite_sha256, run.model, run.target, code]
    return content_key(canonical([*told, given.get("subject_digest")]))


def in_swings(runs: Iterable[FinishedRun]) -> list[list[FinishedRun]]:
    """Return runs, in the order of their start, by the swing that each belongs to.

    A run is of the swing before it where nothing was changed since: the agent's files
    and the suite are the same, no change was asked for, and it came to the same, or
    was repeated another number of times.
    """
    swings: list[list[FinishedRun]] = []
    for run in runs:
        if swings and _is_unchanged(swings[-1][-1], run):
            swings[-1].append(run)
        else:
            swings.append([run])
    return swings


def _is_unchanged(before: FinishedRun, after: FinishedRun) -> bool:
    if before.state is None or before.state != after.state:
        return False
    if (before.folder / REQUESTS_FILE).exists():
        return False
    return before.repeats != after.repeats or before.decision == after.decision


def teller_of(swing: Sequence[FinishedRun]) -> FinishedRun:
    """Return the run that tells of a swing: the last of those with the most repeats."""
    most = max(run.repeats for run in swing)
    return [run for run in swing if run.repeats == most][-1]


def _finished(card: Mapping[str, Any], folder: Path, started: str) -> FinishedRun:
    """Read a scorecard. Raises ValueError that says what is wrong with it."""
    try:
        digest = masked_digest(card)
    except (KeyError, TypeError, ValueError, RecursionError):
        digest = None
    if digest is None or digest != card.get("digest"):
        raise ValueError(
            "its digest is not that of its content: it was edited after the run; "
            "run again"
        )
    run = _part(card, "run")
    gate = _part(card, "gate")
    variance = _part(card, "variance")
    subject = _part(card, "subject")
    pin = card.get("pin")
    criteria = tuple(_criterion(one) for one in _list(card, "criteria"))
    because = [line for c in _list(gate, "components") for line in _texts(c, "because")]
    failing = _gating(criteria, because, "fail")
    # The verdict of the variance hangs on these too.
    gating = {c.id for c in criteria if c.gates} or {c.id for c in criteria}
    repeated = [
        one
        for one in _list(variance, "criteria")
        if _text(one, "criterionId") in gating
    ]
    return FinishedRun(
        name=folder.name,
        folder=folder,
        started=started,
        spec_sha256=_text(subject, "spec_sha256"),
        suite_sha256=_text(_part(card, "suite"), "sha256"),
        target=None if run.get("target") is None else _text(run, "target"),
        repeats=max(_count(run, "repeats"), 1),
        model=None if pin is None else _text(_part(card, "pin"), "model"),
        gate=_word(gate, "verdict", _GATES),
        criteria=criteria,
        failing=failing,
        open=tuple(
            name
            for name in _gating(criteria, because, "indeterminate")
            if name not in failing
        ),
        stability=_word(variance, "verdict", _STABILITIES),
        unrest=sum(
            _count(_part(one, role), "flapping")
            for one in repeated
            for role in ("subject", "judge")
        ),
        flapping=_pairs(repeated, "flapping"),
        judge_flapping=_pairs(repeated, "judgeFlapping"),
        decision=_decision(card),
    )


def _pairs(
    repeated: Iterable[Mapping[str, Any]], key: str
) -> tuple[tuple[str, str], ...]:
    """Return (criterion, case) of each series at a key; nothing where it has no such."""
    return tuple(
        (_text(one, "criterionId"), _text(series, "caseId"))
        for one in repeated
        if key in one
        for series in _list(one, key)
    )


def _decision(card: Mapping[str, Any]) -> str:
    criteria = [
        {key: value for key, value in one.items() if key != "validation"}
        for one in _list(card, "criteria")
    ]
    return content_key(canonical([card["gate"], criteria, card.get("handoff")]))


_SAYS: Final = {"fail": "fails", "indeterminate": "is indeterminate"}


def _gating(
    criteria: Iterable[CriterionOutcome], because: Sequence[str], verdict: str
) -> tuple[str, ...]:
    """Return the gating criteria of that verdict, over the whole or in a component."""
    return tuple(
        c.id
        for c in criteria
        if c.gates
        and (
            c.verdict == verdict
            or any(line.startswith(f"`{c.id}` {_SAYS[verdict]}: ") for line in because)
        )
    )


def _criterion(one: Mapping[str, Any]) -> CriterionOutcome:
    counts = _part(one, "counts")
    return CriterionOutcome(
        id=_text(one, "criterionId"),
        criterion_class=_word(one, "class", _CLASSES),
        severity=_word(one, "severity", SEVERITIES),
        verdict=_word(one, "verdict", _VERDICTS),
        threshold=_text(one, "threshold"),
        counts={name: _count(counts, name) for name in _COUNTS},
        traces=tuple(_texts(one, "sourceTraceIds")),
        validation=_part(one, "validation"),
    )


def _part(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    if not isinstance(value, Mapping):
        raise ValueError(f"`{key}` must be an object")
    return value


def _list(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = data.get(key)
    if not isinstance(value, list) or not all(isinstance(v, Mapping) for v in value):
        raise ValueError(f"`{key}` must be a list of objects")
    return value


def _texts(data: Mapping[str, Any], key: str) -> list[str]:
    value = data.get(key)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"`{key}` must be a list of texts")
    return value


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise ValueError(f"`{key}` must be a text")
    return value


def _word(data: Mapping[str, Any], key: str, words: tuple[str, ...]) -> Any:
    value = data.get(key)
    if value not in words:
        raise ValueError(f"`{key}` must be one of {', '.join(words)}")
    return value


def _count(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    if value.__class__ is not int or value < 0:
        raise ValueError(f"`{key}` must be a whole number of at least 0")
    return int(value)
