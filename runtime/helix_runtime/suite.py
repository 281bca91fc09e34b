"""A suite: its subject and its criteria; the table that everything else reads."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from .criterion import Criterion
from .record import field, record

Engine = Literal["code-written", "native-matrix"]
Reversibility = Literal["none", "reversible", "irreversible-external", "unknown"]

_NOTHING: Final[Mapping[str, Sequence[str]]] = {}


@record
class Tool:
    """A tool of the subject. `outbound` marks an action with effects outside."""

    name: str
    description: str
    reversibility: Reversibility = "unknown"
    outbound: bool = False


@record(kw_only=True)
class Subject:
    """Who is judged. Every packet and every judge prompt carries it."""

    id: str
    name: str
    version: str
    kind: str
    purpose: str
    scope: Sequence[str] = ()
    tools: Sequence[Tool] = ()
    harness: str = "unknown"
    system_prompt: str = ""

    def profile(self) -> dict[str, Any]:
        """Return the `subjectProfile` of packets: given by the spec, not inferred."""
        return {
            "identity": self.name,
            "entityType": self.kind,
            "purpose": self.purpose,
            "tools": [tool.name for tool in self.tools],
            "toolReversibility": [
                {"name": tool.name, "reversibility": tool.reversibility}
                for tool in self.tools
            ],
            "scope": "; ".join(self.scope) or "unknown",
            "systemPrompt": self.system_prompt or "unknown",
            "harness": self.harness,
            "provenance": "given",
            "version": self.version,
        }


@record(kw_only=True)
class Suite:
    """The suite as the runtime runs it.

    `jobs` maps a job's id to the datasets that exercise it: the components of the
    gate are the whole subject, each dataset and each job. `engine` is
    "native-matrix" where the subject can't be called from Python. A skipped criterion
    gives way to another of its id. Raises ValueError for two criteria of one id.
    """

    subject: Subject
    criteria: Sequence[Criterion]
    engine: Engine
    spec_sha256: str
    generator: str
    jobs: Mapping[str, Sequence[str]] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        seen: dict[str, Criterion] = {}
        given_way: list[Criterion] = []
        for criterion in self.criteria:
            if not isinstance(criterion, Criterion):
                found = type(criterion).__name__
                raise ValueError(f"a criterion must be a Criterion(…), not a {found}")
            other = seen.setdefault(criterion.id, criterion)
            if other is criterion:
                continue
            if criterion.is_skipped:
                given_way.append(criterion)
            elif other.is_skipped:
                given_way.append(other)
                seen[criterion.id] = criterion
            else:
                raise ValueError(f"two criteria have the id {criterion.id!r}")
        if given_way:
            left = [c for c in self.criteria if all(c is not g for g in given_way)]
            object.__setattr__(self, "criteria", left)

    def datasets(self) -> frozenset[str]:
        """Return the datasets that a job or the scope of a criterion names."""
        named = {d for used in self.jobs.values() for d in used}
        named.update(d for c in self.criteria for d in c.applies_to.datasets)
        return frozenset(named)

    def criterion(self, criterion_id: str) -> Criterion | None:
        """Return the criterion of that id, or None."""
        for criterion in self.criteria:
            if criterion.id == criterion_id:
                return criterion
        return None
