"""What `[target]` in evals.toml says beside the REF, for every kind of target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .turns import MAX_TURNS

NOTHING: Final[Mapping[str, Any]] = {}


class TargetOptions:
    """How the subject is reached, beside its REF.

    `user` names the user simulator and `warm_up` what runs once before the first case,
    each as MODULE:CALLABLE; `deps` names what makes the dependencies of a case.
    `hooks` is the module whose functions `user_simulator` and `warm_up` are taken where
    nothing else is named (the suite's own target.py). `table` is the whole table.
    """

    __slots__ = ("deps", "hooks", "max_turns", "observes", "table", "user", "warm_up")

    def __init__(
        self, table: Mapping[str, Any] = NOTHING, *, hooks: str | None = None
    ) -> None:
        self.table = table
        self.hooks = hooks
        self.user: str | None = table.get("user")
        self.warm_up: str | None = table.get("warm_up")
        self.deps: str | None = table.get("deps")
        self.max_turns: int = table.get("max_turns", MAX_TURNS)
        self.observes: tuple[str, ...] | None = table.get("observes")
