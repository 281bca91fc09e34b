"""The packets and tasks themselves: their files, and their lines in the index."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from ..canonical import dump_line, escape_surrogates, sha256_hex
from ..case import Case
from ..criterion import Criterion
from ..judges.evidence import evidence_of
from ..judges.prompt import system_prompt, user_prompt
from ..record import field, record
from ..suite import Suite
from ..trace import Trace
from ..whole_file import whole_file
from .dispatch import Batches, Place, packet_dispatch, task_dispatch
from .packet import FirstVerdict, packet_record, task_key, trajectory_key


@record(kw_only=True, frozen=False)
class _Task:
    file: str
    verdict_file: str
    sha256: str
    answers: list[dict[str, str]]


@record(kw_only=True, frozen=False)
class PacketWriter:
    """It writes packets or tasks, and collects what the index says of them.

    `verdicts` is the folder of the verdict files, from the packets' own; `entries` are
    those of the index, `units` how many judgements are asked for, `files` the names of
    what was written.
    """

    suite: Suite
    model: str
    out: Path
    verdicts: str
    dispatches: IO[str]
    batches: Batches
    place: Place
    first: FirstVerdict | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)
    units: int = 0
    files: set[str] = field(default_factory=set)
    _names: set[str] = field(default_factory=set)
    _tasks: dict[str, _Task] = field(default_factory=dict)

    def packet(self, case: Case, trace: Trace, criteria: Sequence[Criterion]) -> None:
        """Write the packet of a run."""
        name = self._free_name(trajectory_key(trace.id))
        file = f"{name}.packet.json"
        self.files.add(file)
        verdict_file = f"{self.verdicts}/{name}.verdict.json"
        record = packet_record(
            suite=self.suite,
            case=case,
            trace=trace,
            criteria=criteria,
            model=self.model,
            first=self.first,
        )
        text = pretty(record)
        sha256 = write_file(self.out / file, text)
        self.batches.add(file, len(text.encode()))
        ids = [criterion.id for criterion in criteria]
        self.units += len(ids)
        self.entries.append(
            {
                "trajectoryId": trace.id,
                "caseId": case.id,
                "packet": file,
                "sha256": sha256,
                "verdictFile": verdict_file,
                "criteria": ids,
            }
        )
        dispatch = packet_dispatch(
            file=file,
            sha256=sha256,
            verdict_file=verdict_file,
            model=self.model,
            criteria=ids,
            place=self.place,
        )
        self.dispatches.write(dump_line(dispatch) + "\n")

    def tasks(self, case: Case, trace: Trace, criteria: Sequence[Criterion]) -> None:
        """Write the task of each criterion of a run, one for all that ask the same."""
        evidence = evidence_of(trace)
        for criterion in criteria:
            system = system_prompt(criterion, self.suite.subject)
            user = user_prompt(criterion, case, trace, evidence)
            # A key match is not proof of one prompt: the whole prompt is the key here.
            prompt = sha256_hex(f"{system}\0{user}".encode())
            task = self._tasks.get(prompt)
            if task is None:
                task = self._new_task(system, user)
                self._tasks[prompt] = task
            self.units += 1
            task.answers.append(
                {
                    "trajectoryId": trace.id,
                    "caseId": case.id,
                    "criterionId": criterion.id,
                }
            )

    def _new_task(self, system: str, user: str) -> _Task:
        name = self._free_name(task_key(system, user))
        file = f"{name}.task.json"
        self.files.add(file)
        verdict_file = f"{self.verdicts}/{name}.verdict.json"
        record = {
            "system": system,
            "user": user,
            "verdictFile": verdict_file,
            "pin": {"model": self.model, "temperature": 0},
        }
        text = pretty(record)
        sha256 = write_file(self.out / file, text)
        self.batches.add(file, len(text.encode()))
        dispatch = task_dispatch(
            file=file,
            sha256=sha256,
            verdict_file=verdict_file,
            model=self.model,
            place=self.place,
        )
        self.dispatches.write(dump_line(dispatch) + "\n")
        return _Task(file=file, verdict_file=verdict_file, sha256=sha256, answers=[])

    def finish_tasks(self) -> None:
        """Add the entries of the tasks, when all runs are read."""
        for task in self._tasks.values():
            self.entries.append(
                {
                    "task": task.file,
                    "sha256": task.sha256,
                    "verdictFile": task.verdict_file,
                    "answers": task.answers,
                }
            )

    def _free_name(self, key: str) -> str:
        """The key, with a suffix where another run of this folder has it already."""
        name, number = key, 1
        while name in self._names:
            number += 1
            name = f"{key}-{number}"
        self._names.add(name)
        return name


def open_lines(files: ExitStack, path: Path) -> IO[str]:
    """Open a file for lines; it appears when `files` ends without an error."""
    part = files.enter_context(whole_file(path))
    return files.enter_context(part.open("w", encoding="utf-8", newline="\n"))


def write_file(path: Path, text: str) -> str:
    """Write a file whole, by way of a temporary name; return its SHA-256."""
    data = text.encode("utf-8")
    with whole_file(path) as part:
        part.write_bytes(data)
    return sha256_hex(data)


def pretty(record: Mapping[str, Any]) -> str:
    """Return readable JSON, in key order as given, that always encodes to UTF-8."""
    # By way of the line form, which spells what JSON does not have.
    plain = json.loads(dump_line(record))
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return escape_surrogates(text) + "\n"
