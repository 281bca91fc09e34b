"""Which format a file is in: AgentSpec 0.2.0, 0.3.0, or something else, and what.

Files named agentspec.yaml are often of another make. They are refused with a message
that says what they look like and what would make an agentspec of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..problems import Problem, listed, quoted
from .located import Located, Path

Version = Literal["0.2.0", "0.3.0"]

API_PREFIX: Final = "agentspec.mutagent.io/"
API_VERSION: Final = "agentspec.mutagent.io/v0.3.0"
KINDS: Final = ("Agent", "Skill", "MultiAgent", "Workflow")
_OF_0_3: Final = re.compile(r"\b[vV]?\.?0\.3(?:\.0)?\s*$")
_OF_0_2: Final = re.compile(r"(?:^|[\s/@-])[vV]?\.?0\.2(?:\.0)?\s*$")
READ: Final = "helix-gen reads AgentSpec 0.2.0 and 0.3.0"
_HOW: Final = (
    "a 0.3.0 card starts with `apiVersion: agentspec.mutagent.io/v0.3.0`, "
    "`kind: Agent|Skill|MultiAgent|Workflow`, `metadata:` and `spec:`\n"
    'a 0.2.0 spec starts with `schema_version: "0.2.0"`, `meta:`, `definition:` and '
    "`build:`"
)

# What people write at the top of other formats, and where it stands in ours.
_WHERE_IT_GOES: Final[Mapping[str, str]] = {
    "agent": "`metadata` (its identity) and `spec.agent` (its persona and prompt)",
    "agents": "`spec.multiAgent.members`, a card each, under `kind: MultiAgent`",
    "name": "`metadata.name`",
    "description": "`metadata.description`",
    "version": "`metadata.version`",
    "purpose": "`spec.intent.problem`",
    "goal": "`spec.intent.problem`",
    "system_goal": "`spec.intent.problem` and `spec.intent.outcomes`",
    "responsibilities": "`spec.intent.jobs`",
    "capabilities": "`spec.intent.jobs`, what they need in `spec.capabilities`",
    "tools": "`spec.context` (reads) and `spec.actions` (effects)",
    "workflow": "`spec.workflow`, or `spec.agent.workflow.inline`",
    "evaluation": "`spec.evaluation`",
    "evaluations": "`spec.evaluation`",
    "evaluation_criteria": "`spec.evaluation.criteria`, each with `id`, "
    "`description`, `type` and `goal`",
    "evals": "`spec.evaluation`",
    "success_criteria": "`spec.evaluation.criteria`",
    "scenarios": "`spec.evaluation.scenarios`",
    "datasets": "`spec.evaluation.datasets`",
    "constraints": "`spec.intent.constraints`",
    "runtime": "`spec.targets`",
}
_OVERLAY_KEYS: Final = frozenset(("criteria", "datasets", "judge", "target", "derive"))


@dataclass(frozen=True, slots=True)
class Recognized:
    """The version of a file's format, or the problem that refuses it; both where the
    version is misspelt and the rest can be read all the same."""

    version: Version | None
    problem: Problem | None = None


def recognize(source: Located) -> Recognized:
    """Return which format the data is in."""
    data = source.data
    if data is None:
        return _refused(
            source, "HX005", (), "the file is empty", hint=f"{READ}\n{_HOW}"
        )
    if not isinstance(data, dict):
        what = "a list" if isinstance(data, list) else "a single value"
        return _refused(
            source,
            "HX020",
            (),
            f"this is not an agentspec: it holds {what}, not a mapping. {READ}",
            hint=_HOW,
        )
    if "apiVersion" in data:
        return _by_api_version(source, data)
    if "schema_version" in data:
        return _by_schema_version(source, data)
    if isinstance(data.get("spec"), dict) and "metadata" in data:
        # A card that lacks its first line: its structure says so, with all the rest.
        return Recognized("0.3.0")
    if isinstance(data.get("definition"), dict) and "meta" in data:
        return Recognized("0.2.0")
    return _foreign(source, data)


def _is_body_of_v02(data: Mapping[str, Any]) -> bool:
    return "definition" in data and "meta" in data and "spec" not in data


def _is_body_of_v03(data: Mapping[str, Any]) -> bool:
    return "spec" in data and "metadata" in data and "definition" not in data


def _names_no_other(version: Any, ours: "re.Pattern[str]") -> bool:
    """Whether a version is a slip of ours: so written, or no version at all."""
    if isinstance(version, (str, int, float)) and not isinstance(version, bool):
        text = str(version)
        return not text.strip() or ours.search(text) is not None
    return True


def _by_api_version(source: Located, data: Mapping[str, Any]) -> Recognized:
    version = data["apiVersion"]
    if version == API_VERSION:
        if _is_body_of_v02(data):
            return _refused(
                source,
                "HX021",
                ("apiVersion",),
                f"the version of AgentSpec 0.3.0 stands on a body of 0.2.0. {READ}",
                hint='write `schema_version: "0.2.0"` in its place, or move the body to '
                "the form of 0.3.0",
            )
        return Recognized("0.3.0")
    if isinstance(version, str) and "agentspec" in version.casefold():
        refused = _refused(
            source,
            "HX021",
            ("apiVersion",),
            f"AgentSpec {quoted(version)} is not read. {READ}",
            hint=f"write `apiVersion: {API_VERSION}`",
        )
    elif isinstance(data.get("spec"), dict) and data.get("kind") in KINDS:
        refused = _refused(
            source,
            "HX021",
            ("apiVersion",),
            f"this `apiVersion` is not an AgentSpec's. {READ}",
            hint=f"write `apiVersion: {API_VERSION}`",
        )
    else:
        return _foreign(source, data)
    if _names_no_other(version, _OF_0_3) and _is_body_of_v03(data):
        return Recognized("0.3.0", refused.problem)
    return refused


def _by_schema_version(source: Located, data: Mapping[str, Any]) -> Recognized:
    version = data["schema_version"]
    if version == "0.2.0":
        if _is_body_of_v03(data):
            return _refused(
                source,
                "HX021",
                ("schema_version",),
                f"the version of AgentSpec 0.2.0 stands on a body of 0.3.0. {READ}",
                hint=f"write `apiVersion: {API_VERSION}` in its place",
            )
        return Recognized("0.2.0")
    path: Path = ("schema_version",)
    if isinstance(version, str) and version.startswith(API_PREFIX):
        lacks = [k for k in ("kind", "metadata", "spec") if k not in data]
        hint = f"write `apiVersion: {API_VERSION}`"
        if lacks:
            hint += f"; the file also lacks {listed(lacks)}"
        return _refused(
            source,
            "HX021",
            path,
            f"AgentSpec 0.3.0 has its version under `apiVersion`, not here. {READ}",
            hint=f"{hint}\n{_HOW}",
        )
    if "definition" in data or "meta" in data:
        shown = quoted(str(version), 40)
        refused = _refused(
            source,
            "HX021",
            path,
            f"AgentSpec {shown} is not read. {READ}",
            hint='write `schema_version: "0.2.0"`, in quotes',
        )
        if _names_no_other(version, _OF_0_2) and _is_body_of_v02(data):
            return Recognized("0.2.0", refused.problem)
        return refused
    return _foreign(source, data)


def _foreign(source: Located, data: Mapping[str, Any]) -> Recognized:
    keys = list(data)
    if keys and set(keys) <= _OVERLAY_KEYS:
        return _refused(
            source,
            "HX020",
            (),
            f"this is an overlay, not an agentspec. {READ}",
            hint="name the agentspec; the overlay is found beside it, or named with "
            "--overlay",
        )
    looks = _looks_like(data)
    hint = _HOW
    moves = [f"{quoted(k)} → {_WHERE_IT_GOES[k]}" for k in keys if k in _WHERE_IT_GOES]
    if data.get("kind") in KINDS:
        hint = f"add `apiVersion: {API_VERSION}`, `metadata:` and `spec:`\n{hint}"
    if moves:
        hint += "\nwhat stands here goes, in 0.3.0, to:\n" + "\n".join(
            f"  {move}" for move in moves[:10]
        )
    first = (keys[0],) if keys else ()
    at: Path = (
        ("kind",) if "kind" in data else ("version",) if "version" in data else first
    )
    problem = source.problem(
        "HX020", at, f"this is not an agentspec: {looks}. {READ}", hint=hint, part="key"
    )
    return Recognized(None, problem)


def _looks_like(data: Mapping[str, Any]) -> str:
    if "openapi" in data or "swagger" in data:
        return "it looks like an OpenAPI description"
    if "services" in data and ("networks" in data or "volumes" in data):
        return "it looks like a compose file"
    if "prompts" in data and "providers" in data:
        return "it looks like a promptfoo configuration"
    if "jobs" in data and "on" in data:
        return "it looks like a workflow of GitHub Actions"
    if "apiVersion" in data:
        return f"its `apiVersion` is {quoted(str(data['apiVersion']), 40)}"
    if "schema_version" in data:
        version = quoted(str(data["schema_version"]), 40)
        return f"its `schema_version` is {version}, and it has no `definition`"
    if data.get("kind") in KINDS:
        return f"it has `kind: {data['kind']}` but no `apiVersion`"
    if not data:
        return "it is an empty mapping"
    top = listed(list(data), limit=8)
    if isinstance(data.get("version"), str):
        version = quoted(data["version"], 20)
        return f"it has a `version` {version} and a form of its own ({top})"
    return f"it has neither `apiVersion` nor `schema_version`, but {top}"


def _refused(
    source: Located, code: str, path: Path, message: str, *, hint: str
) -> Recognized:
    return Recognized(None, source.problem(code, path, message, hint=hint))
