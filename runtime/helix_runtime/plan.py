"""What a run depends on, and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .decide import Decision
from .folder import SuiteFolder
from .names import CaseNames
from .pin import Pin
from .record import field, record
from .selection import Selection
from .spread import SpreadRule
from .suite import Engine, Suite
from .targets import Target
from .unit import Judging, NoJudge

if TYPE_CHECKING:
    from .baseline.baseline import Baseline
    from .baseline.changes import Changes


class Watcher(Protocol):
    """Is told how a run goes on (a progress line, or nothing)."""

    def update(
        self, *, done: int, total: int | None, failed: int, waiting: str | None = None
    ) -> None:
        """Take the state: cases done, of how many, units that fail, who is waited for."""
        ...

    def close(self) -> None:
        """Clear the line."""
        ...


@record(kw_only=True)
class RunPlan:
    """Everything a run depends on.

    With `traces` no target is called: each recorded trace is a run of the case that
    it names. `suite` is the whole suite, with thresholds; `selection` narrows it.
    `started` is the ISO 8601 text of the caller's clock. `record` is kept in
    `run.json` for `--resume`. `why_missing` is said of judged units without a verdict.
    `losses` say which runs lack in the traces, where that was found out before.
    `spread` says which repeats flap, and how often a run is judged. `baseline` is an
    earlier run to compare with.
    """

    folder: SuiteFolder
    suite: Suite
    out: Path
    run_id: str
    started: str
    mode: Engine
    target: Target | None = None
    traces: Sequence[Path] = ()
    dataset: Path | None = None
    judging: Judging = field(default_factory=NoJudge)
    pin: Pin | None = None
    verifier: Pin | None = None
    why_missing: str = "no judge was asked"
    allow_self_judging: bool = False
    selection: Selection = Selection()
    repeats: int = 1
    spread: SpreadRule = SpreadRule()
    concurrency: int = 8
    timeout: float = 600.0
    budget_usd: float | None = None
    budget_tokens: int | None = None
    fail_fast: bool = False
    resume: bool = False
    record: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    losses: Sequence[str] | None = None
    baseline: Baseline | None = None
    watcher: Watcher | None = None


@record(kw_only=True)
class RunResult:
    """What a run came to. `coverage` are lines on what was and was not covered.

    `changes` is what became other since the baseline, where there is one.
    """

    out: Path
    decision: Decision
    scorecard: Mapping[str, Any]
    exit_code: int
    coverage: Sequence[str]
    names: CaseNames
    changes: Changes | None = None
