"""What a spec declares, in the words of the suite, whatever version it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .dataset import Declared, Scenario
from .model import Subject, Target
from .report import InSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredCriterion:
    """A criterion of the spec; `datasets` are those that map it."""

    id: str
    statement: str
    goal: str
    judged: bool
    datasets: tuple[str, ...]
    at: InSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What checks can know of the spec; None where the spec has no such thing.

    `outbound` names the actions with effects outside and their operations,
    `operations` those of each action, `declared` every name under which a tool may be
    called, `nodes` the nodes of the workflow, `holders` the members that hold each
    action, `observers` the members that watch, `dispatch` whom each member sends.
    `shared` are operations that both an action and a context allow.
    """

    outbound: Sequence[str] | None = None
    operations: Mapping[str, Sequence[str]] | None = None
    declared: Sequence[str] | None = None
    workflow: Mapping[str, Any] | None = None
    nodes: Sequence[str] | None = None
    holders: Mapping[str, Sequence[str]] | None = None
    observers: Sequence[str] | None = None
    dispatch: Mapping[str, Sequence[str]] | None = None
    shared: Sequence[str] = ()

    def constants(self) -> dict[str, Any]:
        """Return the facts under the names that they have in `subject.py`."""
        every = {
            "OUTBOUND_ACTIONS": self.outbound,
            "ACTION_OPERATIONS": self.operations,
            "DECLARED_TOOLS": self.declared,
            "WORKFLOW": self.workflow,
            "WORKFLOW_NODES": self.nodes,
            "ACTION_HOLDERS": self.holders,
            "OBSERVERS": self.observers,
            "DISPATCH": self.dispatch,
        }
        return {name: value for name, value in every.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A dataset's reference to a file of items."""

    text: str
    at: InSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Everything that resolving needs of a spec.

    `datasets` are in the order of the spec; the last one has no id and holds what
    stands in no dataset. `references` are by dataset id.
    """

    subject: Subject
    targets: tuple[Target, ...]
    criteria: tuple[DeclaredCriterion, ...]
    scenarios: Mapping[str, Scenario]
    datasets: tuple[Declared, ...]
    references: Mapping[str, Reference]
    jobs: Mapping[str, tuple[str, ...]]
    facts: Facts
    spec_version: str


def unique(names: Sequence[str]) -> list[str]:
    """Return the names in their order, each once."""
    return list(dict.fromkeys(names))
