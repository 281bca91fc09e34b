"""The readiness gate of Path A: nothing is rolled up while a verdict is missing."""

import json
from collections.abc import Iterable
from pathlib import Path

from ..case import Case
from ..judges.evidence import evidence_of, view_digest
from ..judges.prompt import first_verdict_text
from ..judges.replay import ReplayJudge
from ..plain_lines import read_trace
from ..refusal import Refusal
from ..selection import OUTLIVED
from ..suite import Suite
from ..targets.recorded import CaseIndex
from .packet_index import (
    TRACES_FILE,
    PacketEntry,
    PacketIndex,
    cases_digest,
    file_name,
    file_sha256,
    judge_digests,
)


def gaps(
    *,
    index: PacketIndex,
    packets: Path,
    verdicts: Path,
    suite: Suite,
    judging: ReplayJudge,
) -> list[str]:
    """Return a line for everything that keeps the verdicts from being rolled up.

    A verdict file that is not there, or that leaves a criterion out; a packet, a trace
    or a case that is not the one that was judged; a judge that was edited since;
    another model than the one that the packets pin, or none named.
    """
    lines = [
        line
        for name, sha256 in index.sha256.items()
        for line in _unchanged(packets / name, sha256, "")
    ]
    for entry in index.entries:
        lines += _packet(entry, packets)
        lines += _verdicts(entry, verdicts, judging)
        lines += _models(entry, index, judging)
    for criterion_id, digest in judge_digests(suite).items():
        before = index.judges.get(criterion_id)
        if before is None:
            lines.append(f"the criterion {criterion_id!r} is newer than the packets")
        elif before != digest:
            lines.append(
                f"the judge of {criterion_id!r} was edited after the packets, or they "
                "were not made by this suite's prep (helix-gen packets knows the spec "
                "alone, not judges.py)"
            )
    return lines


def leave_out_stale(
    *, index: PacketIndex, packets: Path, suite: Suite, judging: ReplayJudge
) -> None:
    """Leave out the verdicts that were given on something else than what is there now.

    Those on a judge that was edited since, and on a packet that is gone or is not the
    one that was written. `judging.problems` says so.
    """
    now = judge_digests(suite)
    for criterion_id, before in index.judges.items():
        if now.get(criterion_id, before) != before:
            judging.leave_out(
                f"the judge of {criterion_id!r} was edited after the packets, or they "
                "were not made by this suite's prep: run prep again, and judge anew",
                criterion_id=criterion_id,
            )
    for entry in index.entries:
        if any(judging.has(*pair) for pair in entry.pairs):
            for line in _packet(entry, packets):
                judging.leave_out(line, pairs=entry.pairs)


def judged_runs(index: PacketIndex, packets: Path) -> dict[str, str] | None:
    """Return the digest of what the judge was shown of each run, by the run's id.

    None where the runs beside the packets are gone, or not as they were written.
    """
    path = packets / TRACES_FILE
    if _unchanged(path, index.sha256[TRACES_FILE], ""):
        return None
    runs = {}
    try:
        with path.open("rb") as lines:
            for line in lines:
                trace = read_trace(line)
                runs[trace.id] = view_digest(trace, evidence_of(trace))
    except (ValueError, RecursionError):
        return None
    return runs


def edited_cases(judged: Iterable[Case], now: CaseIndex) -> list[str]:
    """Return a line for each case that says or expects something else by now.

    Where the cases that were judged can't be read, `gaps` says so.
    """
    lines = []
    try:
        for case in judged:
            if case.id in now.by_id and now.by_id[case.id].digest != case.digest:
                lines.append(
                    f"the case {case.id!r} was edited after the packets: run prep again"
                )
    except (OSError, Refusal):
        pass
    return lines


def outlived(index: PacketIndex, suite: Suite, now: CaseIndex) -> list[str]:
    """Return what the verdicts were given before: notes that stand beside the gate."""
    lines = []
    if index.dataset and index.dataset != cases_digest(now.by_id.values()):
        lines.append(f"{OUTLIVED}the dataset has got or lost cases since the packets")
    if index.spec != suite.spec_sha256:
        lines.append(f"{OUTLIVED}the spec was changed after the packets were written")
    return lines


def changed_firsts(
    *, index: PacketIndex, packets: Path, first: ReplayJudge
) -> list[str]:
    """Return a line for each first verdict that is not the one that was to be refuted.

    `packets` are a second judge's; each criterion in them ends with the first verdict.
    """
    lines = []
    for entry in index.entries:
        try:
            data = json.loads((packets / file_name(entry.file)).read_bytes())
            shown = {c["criterionId"]: c["passCondition"] for c in data["criteria"]}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # `gaps` says that it is not as it was written
        for trajectory_id, criterion_id in entry.pairs:
            verdict = first.verdict_of(trajectory_id, criterion_id)
            if verdict is None:
                continue  # the first judge's own gap
            if not str(shown.get(criterion_id)).endswith(first_verdict_text(verdict)):
                lines.append(
                    f"the first verdict on {criterion_id!r} of {trajectory_id} is not "
                    "the one that was to be refuted: run verify again"
                )
    return lines


def _packet(entry: PacketEntry, packets: Path) -> list[str]:
    # The index may have been edited: it names files of its own folder, nothing else.
    path = packets / file_name(entry.file)
    return _unchanged(path, entry.sha256, " packet")


def _unchanged(path: Path, sha256: str, what: str) -> list[str]:
    try:
        found = file_sha256(path)
    except OSError:
        return [f"missing{what}: {path}: run prep again"]
    if found != sha256:
        return [f"changed after it was written, so not what was judged: {path}"]
    return []


def _verdicts(entry: PacketEntry, verdicts: Path, judging: ReplayJudge) -> list[str]:
    absent = [pair for pair in entry.pairs if not judging.has(*pair)]
    if not absent:
        return []
    if len(absent) == len(entry.pairs):
        path = verdicts / file_name(entry.verdict_file)
        packet = file_name(entry.file)
        if path.exists():
            return [f"unfit: {path} (for {packet}): no verdict in it can be taken in"]
        return [f"missing: {path} (for {packet})"]
    names = ", ".join(repr(criterion_id) for _, criterion_id in absent)
    return [
        f"incomplete: {verdicts / file_name(entry.verdict_file)} is missing a verdict "
        f"on {names}"
    ]


def _models(entry: PacketEntry, index: PacketIndex, judging: ReplayJudge) -> list[str]:
    file = file_name(entry.verdict_file)
    models = {judging.model_of(*pair) for pair in entry.pairs if judging.has(*pair)} - {
        index.model
    }
    # The answer to a task has no place for a model: its task pins it.
    unnamed = None in models and index.axis == "trajectory"
    lines = [
        f"judged by no model that it names, but the packets pin {index.model}: "
        f"`judgeModel` is missing in {file} (or in the file in its place)"
    ]
    return lines * unnamed + [
        f"judged by {model}, but the packets pin {index.model}: {file}"
        for model in sorted(str(model) for model in models - {None})
    ]
