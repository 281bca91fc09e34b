"""What must hold between the parts of a spec, beyond its structure.

Works on plain data (see `findings`), so that all problems of a file come at once.
"""

import re
from typing import Final

from ..problems import Problem, quoted
from .close import CloseMatches
from .evaluation import check_evaluation
from .findings import Findings, Names
from .located import Located, Path
from .members import MULTI, check_references, check_relations, member_names
from .workflow import Surroundings, check_slot, check_workflow

BODIES: Final = {
    "Agent": "agent",
    "Skill": "skill",
    "MultiAgent": "multiAgent",
    "Workflow": "workflow",
}
_SIBLING: Final = re.compile(r"\./[^/\\]+\.md")


def meaning_problems(source: Located, close: CloseMatches) -> list[Problem]:
    """Return the problems of meaning of an AgentSpec 0.3.0."""
    findings = Findings(source, close)
    if isinstance(source.data, dict):
        _check_card(findings)
    return findings.problems


def _check_card(findings: Findings) -> None:
    _check_body(findings, (), tuple(BODIES.values()))
    findings.names(("spec", "intent", "sop"), "procedure", "procedures")
    context = findings.names(("spec", "context"), "context", "context entries")
    actions = findings.names(("spec", "actions"), "action", "actions")
    for path, _ in findings.rows(("spec", "actions")):
        _check_policy(findings, path)
    members = member_names(findings)
    if findings.source.get(MULTI) is None:
        members = Names(
            one="member",
            many="members",
            ids={},
            home=(),
            nowhere="only a card of the kind MultiAgent has members; `kind: agent` "
            "names one of `spec.capabilities.delegates`",
        )
    around = _surroundings(findings, (), context, actions, members)
    _check_own_body(findings, ("spec",), around)
    if findings.source.get(MULTI) is not None:
        check_relations(findings, members)
        check_slot(findings, (*MULTI, "workflow"), around)
        for path, member in findings.rows((*MULTI, "members")):
            if "specRef" not in member:
                _check_member(findings, path, context, actions, members)
    check_workflow(findings, ("spec", "workflow"), around)
    _check_targets(findings)
    check_evaluation(findings)
    _check_decisions(findings)


def _check_member(
    findings: Findings, path: Path, context: Names, actions: Names, members: Names
) -> None:
    _check_body(findings, path, ("agent", "skill"))
    spec = (*path, "spec")
    findings.names((*spec, "intent", "sop"), "procedure", "procedures")
    findings.names((*spec, "intent", "jobs"), "job", "jobs")
    # What a member refers to is its parent's, or its own.
    own_context = findings.names((*spec, "context"), "context", "context entries")
    own_actions = findings.names((*spec, "actions"), "action", "actions")
    for action_path, _ in findings.rows((*spec, "actions")):
        _check_policy(findings, action_path)
    context, actions = _joined(context, own_context), _joined(actions, own_actions)
    check_references(findings, path, context=context, actions=actions)
    around = _surroundings(findings, path, context, actions, members)
    _check_own_body(findings, spec, around)


_REQUIRED = "required"


def _check_policy(findings: Findings, action: Path) -> None:
    """Tell of a policy that was meant to be `required`: any other gates nothing."""
    path = (*action, "approval", "policy")
    policy = findings.source.get(path)
    if not isinstance(policy, str) or policy == _REQUIRED:
        return
    like = findings.close.closest(policy, [_REQUIRED]) is not None
    if like and abs(len(policy) - len(_REQUIRED)) <= 1:
        findings.warning(
            "HX214",
            path,
            f"the approval policy {quoted(policy)} is not `required`: checks take the "
            "action for one that needs no approval",
            hint="write `required`, if that is meant",
        )


def _joined(parent: Names, own: Names) -> Names:
    ids = None if parent.ids is None else {**parent.ids, **(own.ids or {})}
    return Names(one=parent.one, many=parent.many, ids=ids, home=parent.home)


def _surroundings(
    findings: Findings, path: Path, context: Names, actions: Names, members: Names
) -> Surroundings:
    home = (*path, "spec", "capabilities")
    code = findings.names((*home, "code"), "code capability", "code capabilities")
    skills = dict(_flipped(findings, (*home, "skills")))
    delegates = dict(_flipped(findings, (*home, "delegates")))
    agents = {**(members.ids or {}), **delegates}
    outside = {**(context.ids or {}), **(actions.ids or {})}
    return Surroundings(
        context=context,
        executors={
            "action": actions,
            "member": members,
            "code": code,
            "skill": Names(
                one="skill", many="skills", ids=skills, home=(*home, "skills")
            ),
            "agent": Names(
                one="agent", many="delegates", ids=agents, home=(*home, "delegates")
            ),
            "integration": Names(
                one="context or action",
                many="context entries or actions",
                ids=outside,
                home=context.home,
            ),
        },
    )


def _flipped(findings: Findings, path: Path) -> list[tuple[str, Path]]:
    return [(text, text_path) for text_path, text in findings.texts(path)]


def _check_own_body(findings: Findings, spec: Path, around: Surroundings) -> None:
    findings.names((*spec, "agent", "triggers"), "trigger", "triggers")
    check_slot(findings, (*spec, "agent", "workflow"), around)
    skill = (*spec, "skill")
    findings.names((*skill, "inputs"), "input", "inputs", key="name")
    findings.names((*skill, "outputs"), "output", "outputs", key="name")
    findings.names((*skill, "resources"), "resource", "resources")


def _check_body(findings: Findings, path: Path, possible: tuple[str, ...]) -> None:
    """Check that exactly the body that the kind names is there."""
    kind = findings.source.get((*path, "kind"))
    spec = findings.source.get((*path, "spec"))
    body = BODIES.get(kind) if isinstance(kind, str) else None
    if body not in possible or not isinstance(spec, dict):
        return
    for other in possible:
        if other != body and other in spec:
            belongs = next(k for k, v in BODIES.items() if v == other)
            findings.error(
                "HX202",
                (*path, "spec", other),
                f"a card of the kind {kind} has no `{other}`",
                hint=f"remove it, or make the kind `{belongs}`",
                part="key",
            )
    if body not in spec:
        findings.error(
            "HX203",
            (*path, "spec"),
            f"a card of the kind {kind} needs `spec.{body}`",
            hint=f"add `{body}:` to its spec",
            part="key",
        )


def _check_targets(findings: Findings) -> None:
    findings.names(("spec", "targets"), "target", "targets")
    for path, target in findings.rows(("spec", "targets")):
        artifact = target.get("artifact")
        form = artifact.get("format") if isinstance(artifact, dict) else None
        if "implementation" in target and form in ("markdown", "platform-config"):
            findings.error(
                "HX208",
                (*path, "implementation"),
                f"a target of the format {quoted(form)} has no `implementation`",
                hint="remove it, or make `artifact.format: code`",
                part="key",
            )


def _check_decisions(findings: Findings) -> None:
    path: Path = ("spec", "decisionsRef")
    ref = findings.text(path)
    if ref is not None and not _SIBLING.fullmatch(ref):
        findings.error(
            "HX209",
            path,
            f"{quoted(ref)} is no file beside this one",
            hint="write `./name.md`: a file in the same folder",
        )
