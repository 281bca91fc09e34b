"""The suite model: what a suite is, whatever version of a spec it came from.

All records are frozen. Texts are data from a stranger: they stand here as they were
in the spec, and only `emit.literal` turns them into source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from helix_runtime.case import Case
from helix_runtime.criterion import Aggregate, Method, Severity

Engine = Literal["code-written", "native-matrix"]
Reversibility = Literal["none", "reversible", "irreversible-external", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that the subject may call: an action, a context read, a code tool."""

    name: str
    description: str
    reversibility: Reversibility
    outbound: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who is judged."""

    id: str
    name: str
    version: str
    kind: Literal["agent", "skill", "multi-agent", "workflow", "composite"]
    purpose: str
    scope: tuple[str, ...]
    tools: tuple[Tool, ...]
    harness: str
    system_prompt: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A reference to one of the suite's constants, by its name in `subject.py`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimitiveCall:
    """A check bound to a primitive of the runtime.

    `primitive` is `module.function` of `helix_runtime.checks` (`tools.called`). Each
    argument is plain data, a Constant, a PrimitiveCall, or a tuple of PrimitiveCalls:
    what an overlay's nested `check` says (`combine.when`, `combine.all_of`).
    """

    primitive: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A code check; without a call it is a function to fill in."""

    call: PrimitiveCall | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A judge's two definitions and what it is shown (everything when empty)."""

    pass_when: str
    fail_when: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which cases a criterion judges; `narrowed` marks a scope that the overlay set."""

    datasets: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    narrowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One criterion. `renamed_from` is its earlier id, where the overlay names one."""

    id: str
    statement: str
    goal: str
    severity: Severity
    source: Literal["spec", "derived"]
    method: Method
    check: Check | None
    judge: Judge | None
    scope: Scope
    aggregate: Aggregate
    renamed_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The judge that the overlay names; written into `evals.toml` once."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None

    @property
    def needs_key(self) -> bool:
        """Whether a key must be set: OpenAI's format on this machine needs none."""
        from helix_runtime.providers.server import on_this_machine

        if self.base_url is None or not (self.provider or "").startswith("openai"):
            return True
        return not on_this_machine(self.base_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A build target of the spec: what the subject is built for.

    `code` says whether the subject can be called from Python at all; `why_native`
    says why not. `language` is what it is written in, where the spec says so.
    """

    id: str
    type: str
    name: str
    code: bool
    why_native: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Everything that rendering needs.

    `cases` are in dataset order, ids unique. `jobs` maps a job to the datasets that
    exercise it. `constants` are the facts of the spec that checks share, upper-case
    names to plain data (`OUTBOUND_ACTIONS`, `WORKFLOW`). `target_ref` is what the
    overlay's `target` says, or None.
    """

    slug: str
    subject: Subject
    engine: Engine
    targets: tuple[Target, ...]
    target: Target
    criteria: tuple[Criterion, ...]
    cases: tuple[Case, ...]
    jobs: Mapping[str, tuple[str, ...]]
    datasets: tuple[str, ...]
    constants: Mapping[str, Any]
    pin: Pin
    target_ref: str | None
    spec_version: str
    spec_sha256: str

    @property
    def package(self) -> str:
        """The import name of the generated package."""
        name = self.slug.replace("-", "_") + "_evals"
        return "s_" + name if name[0].isdigit() else name
