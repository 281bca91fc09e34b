"""Recorded verdicts as the judge: verdict files in place of calls."""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from ..canonical import content_key
from ..case import Case
from ..criterion import Criterion
from ..matrix.packet_index import INDEX_FILE, PacketIndex, read_index
from ..matrix.verdict_files import CONTRACT, TASK_ANSWER
from ..matrix.verdict_folder import read_verdict_folder
from ..pin import Pin
from ..suite import Subject
from ..trace import Trace
from ..unit import Judgement
from ..verdict import Verdict
from .evidence import evidence_of, view_digest
from .grounding import Ground, ground

RECORDED: Final = "recorded"

_NAMED: Final = 5


class ReplayJudge:
    """Judges by the verdict files of a folder, joined on the ids inside them.

    The refs of each verdict are resolved again against the trace at hand. A unit
    without a verdict is missing. `dialects` says what each file was written in,
    `problems` what could not be taken in; `pin` is the one model that all files name,
    or None. Raises OSError where the folder can't be read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        subject: Subject,
        criteria: Iterable[str] = (),
        packets: Path | None = None,
    ) -> None:
        """Read the files. `criteria` are the ids that the suite knows, where given.

        The answers to tasks are joined by the index of `packets`; without it, by one
        in the folder itself.
        """
        index = _index_of(packets or folder)
        found = read_verdict_folder(
            folder,
            tasks=index.tasks if index else None,
            outdated=index.outdated if index else (),
            packets=index.packets if index else None,
        )
        known = set(criteria)
        self.dialects = found.dialects
        self.problems: list[str] = list(found.problems)
        self.unknown_criteria: tuple[str, ...] = ()
        if known:
            ids = {criterion_id for _, criterion_id in found.entries}
            self.unknown_criteria = tuple(sorted(ids - known))
        self.pin: Pin | None = None
        if len(found.models) == 1 and found.models[0]:
            self.pin = Pin(provider=RECORDED, model=found.models[0])
        elif any(found.models):
            names = ", ".join(model or "none named" for model in found.models)
            self.problems.append(f"the files name several models: {names}")
        self._models = tuple(found.models)
        self._subject = subject
        self._entries = found.entries
        self.empty = not found.entries
        self._unasked = {trajectory_id for trajectory_id, _ in found.entries}
        self._judged_cases: Mapping[str, str] = {}
        self._judged_runs: Mapping[str, str] = {}
        self._other_runs: set[str] = set()
        self._digest: str | None = None

    @property
    def digest(self) -> str:
        """The content hash of the verdicts that count."""
        if self._digest is None:
            self._digest = content_key(
                "replay",
                *(
                    repr((key, entry.verdict, entry.model))
                    for key, entry in sorted(self._entries.items())
                ),
            )
        return self._digest

    def leave_out(
        self,
        why: str,
        *,
        criterion_id: str | None = None,
        pairs: Collection[tuple[str, str]] = (),
    ) -> None:
        """Take verdicts out of the count: all on a criterion, or on some pairs.

        `problems` says why, and how many they were.
        """
        gone = [pair for pair in dict.fromkeys(pairs) if pair in self._entries]
        if criterion_id is not None:
            gone = [pair for pair in self._entries if pair[1] == criterion_id]
        for key in gone:
            del self._entries[key]
        if gone:
            number = f"{len(gone)} verdict" + ("s" if len(gone) > 1 else "")
            counts = "count" if len(gone) > 1 else "counts"
            self.problems.append(f"{why}; {number} no longer {counts}")
            self._digest = None

    def judged_on(self, *, cases: Mapping[str, str], runs: Mapping[str, str]) -> None:
        """Take no verdict on a case or a run that is another than the one given here.

        `cases` are the digests of cases, `runs` those of what a judge is shown of each
        run (`view_digest`), by their ids.
        """
        self._judged_cases = cases
        self._judged_runs = runs

    def has(self, trajectory_id: str, criterion_id: str) -> bool:
        """Whether there is a verdict for this criterion of this run."""
        return (trajectory_id, criterion_id) in self._entries

    def verdict_of(self, trajectory_id: str, criterion_id: str) -> Verdict | None:
        """Return the verdict as its file has it, if any; its refs are not looked up."""
        entry = self._entries.get((trajectory_id, criterion_id))
        return None if entry is None else entry.verdict

    def model_of(self, trajectory_id: str, criterion_id: str) -> str | None:
        """Return the model that its file names for this verdict, if any."""
        entry = self._entries.get((trajectory_id, criterion_id))
        return None if entry is None else entry.model

    def lines(self) -> list[str]:
        """Return what to tell the user of the files: faults, then dialects."""
        found = list(self.problems)
        if self.unknown_criteria:
            names = ", ".join(map(repr, self.unknown_criteria))
            found.append(f"verdicts on criteria that the suite does not have: {names}")
        found += [
            f"{file} departs from the contract: {dialect}"
            for file, dialect in self.dialects.items()
            if dialect not in (CONTRACT, TASK_ANSWER)
        ]
        return [*found, *self.notes]

    def left_over(self, traces: Path) -> list[str]:
        """Return what to tell of verdicts that were on none of a run's `traces`.

        On runs that are not among them, and on runs that say something else there.
        """
        missing = set(self._unasked)
        if missing and traces.is_file():
            with traces.open("rb") as lines:
                for line in lines:
                    missing.discard(_trace_id(line))
        absent = f"verdicts on runs that are not here: {_names(missing)}"
        return [*([absent] if missing else []), *self.on_other_runs()]

    def on_other_runs(self) -> list[str]:
        """Return what to tell of verdicts on runs that say something else by now."""
        if not self._other_runs:
            return []
        return [
            "verdicts on runs that say something else than those that were judged, so "
            "they do not count (run prep again, and judge anew): "
            + _names(self._other_runs)
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the scorecard says of the verdicts, beside the gate."""
        if self.pin is not None or not self._entries:
            return ()
        return (
            "no single model stands behind the verdicts, so the pin is null: their "
            "files name "
            + (
                "several models"
                if any(self._models)
                else "no model, so nobody can tell who judged"
            ),
        )

    def judge(
        self, criterion: Criterion, case: Case, trace: Trace, repeat: int
    ) -> Judgement | None:
        """Return the recorded judgement of one unit, or None where there is none."""
        self._unasked.discard(trace.id)
        entry = self._entries.get((trace.id, criterion.id))
        if entry is None:
            return None
        if self._judged_cases.get(case.id, case.digest) != case.digest:
            return None
        evidence = evidence_of(trace)
        judged = self._judged_runs.get(trace.id)
        if judged is not None and judged != view_digest(trace, evidence):
            self._other_runs.add(trace.id)
            return None
        place = Ground(
            criterion=criterion,
            case=case,
            trace=trace,
            evidence=evidence,
            subject=self._subject,
        )
        verdict, downgrades = ground(entry.verdict, place)
        return Judgement(
            verdict=verdict, model=entry.model, notes=(*entry.notes, *downgrades)
        )


def _names(ids: set[str]) -> str:
    names = ", ".join(repr(name[:80]) for name in sorted(ids)[:_NAMED])
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return names + more


def _trace_id(line: bytes) -> str:
    """Return the id of the trace in a line; empty where nobody can read it."""
    try:
        return str(json.loads(line)["traceId"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def _index_of(folder: Path) -> PacketIndex | None:
    if not (folder / INDEX_FILE).is_file():
        return None
    try:
        return read_index(folder)
    except (OSError, ValueError):
        return None
