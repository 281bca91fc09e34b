"""What must hold in the body of a MultiAgent card of AgentSpec 0.3.0."""

import re
from typing import Any

from ..problems import quoted
from .findings import Findings, Names
from .graph import returning_edges
from .located import Path
from .structure import dotted

MULTI: Path = ("spec", "multiAgent")


def member_names(findings: Findings) -> Names:
    """Return the members by id; that of a `{specRef}` is taken from the file's name.

    What stands in the file is not read, so other names stay possible.
    """
    members = findings.source.get((*MULTI, "members"))
    ids: dict[str, Path] | None = {} if isinstance(members, list) else None
    elsewhere = False
    for path, member in findings.rows((*MULTI, "members")):
        if "specRef" in member:
            elsewhere = True
            ref = member["specRef"]
            if ids is not None and isinstance(ref, str):
                for name in names_in(ref):
                    ids.setdefault(name, (*path, "specRef"))
            continue
        metadata = member.get("metadata")
        if isinstance(metadata, dict):
            id_path = (*path, "metadata", "id")
            findings.declare(ids, id_path, metadata.get("id"), "member")
    return Names(
        one="member",
        many="members",
        ids=ids,
        home=(*MULTI, "members"),
        open=elsewhere,
    )


def names_in(spec_ref: str) -> list[str]:
    """Return the ids that a reference to a member's file suggests, best first.

    `./writer.yaml` and `./writer.agent.yaml` suggest `writer`, and so does
    `./writer/agentspec.yaml`.
    """
    *folders, file = [part for part in re.split(r"[\\/]", spec_ref) if part] or [""]
    found = [file.partition(".")[0], *reversed(folders[-1:])]
    return [name for name in found if name.strip(".") and name != "agentspec"]


def check_relations(findings: Findings, members: Names) -> None:
    """Check the orchestrator and the relations: ids resolve, dispatch goes no round."""
    orchestrator = findings.source.get((*MULTI, "orchestrator"))
    findings.resolve((*MULTI, "orchestrator"), orchestrator, members)
    successors: dict[str, list[str]] = {}
    paths: dict[str, list[Path]] = {}
    for relation in ("subagents", "observes"):
        path = (*MULTI, "relations", relation)
        table = findings.source.get(path)
        if not isinstance(table, dict):
            continue
        for member in table:
            _resolve_key(findings, (*path, member), member, members)
            others = list(findings.texts((*path, member)))
            for other_path, other in others:
                findings.resolve(other_path, other, members)
            if relation == "subagents":
                successors[member] = [other for _, other in others]
                paths[member] = [other_path for other_path, _ in others]
    for member, index, cycle in returning_edges(list(successors), successors):
        way = " → ".join(quoted(each, 30) for each in [*cycle, cycle[0]])
        findings.error(
            "HX207",
            paths[member][index],
            f"the members dispatch each other in a circle: {way}",
            hint="remove one of these; `observes` is for watching without dispatch",
        )


def _resolve_key(findings: Findings, path: Path, member: str, members: Names) -> None:
    before = len(findings.problems)
    findings.resolve(path, member, members)
    if len(findings.problems) > before:
        # The key is what names nobody, not the list behind it.
        wrong = findings.problems.pop()
        findings.problems.append(
            findings.source.problem(
                wrong.code,
                path,
                wrong.message,
                hint=wrong.hint,
                level=wrong.level,
                part="key",
            )
        )


def check_references(
    findings: Findings, path: Path, *, context: Names, actions: Names
) -> None:
    """Check what the member at `path` takes over from its parent."""
    spec = (*path, "spec")
    for ref_path, ref in findings.texts((*spec, "contextRefs")):
        findings.resolve(ref_path, ref, context)
    for ref_path, ref in findings.texts((*spec, "actionRefs")):
        findings.resolve(ref_path, ref, actions)
    ref = findings.source.get((*spec, "intentRef"))
    if isinstance(ref, str):
        _check_intent(findings, (*spec, "intentRef"), ref)


def _check_intent(findings: Findings, path: Path, ref: str) -> None:
    steps = ref.removeprefix("#").removeprefix("/").split("/")
    if not ref.startswith("#") or steps[:2] != ["spec", "intent"]:
        findings.error(
            "HX204",
            path,
            f"{quoted(ref)} is no reference into the intent of this card",
            hint="write `#spec/intent`, or `#spec/intent/jobs/<id>` for one job",
        )
        return
    value: Any = findings.source.data
    at: Path = ()
    for step in steps:
        following, known = _follow(value, step)
        if following is None:
            there = dotted(at)
            hint = findings.close.hint(step, known, what=f"`{there}` has")
            findings.error(
                "HX204",
                path,
                f"there is no {quoted(step)} in `{there}`",
                hint=hint,
            )
            return
        value = following
        at = (*at, step)


def _follow(value: Any, step: str) -> tuple[Any, list[str]]:
    """Return what stands under a step, and the steps that there are."""
    if isinstance(value, dict):
        return value.get(step), list(value)
    if isinstance(value, list):
        rows = {r["id"]: r for r in value if isinstance(r, dict) and _has_id(r)}
        return rows.get(step), list(rows)
    return None, []


def _has_id(row: dict[str, Any]) -> bool:
    return isinstance(row.get("id"), str)
