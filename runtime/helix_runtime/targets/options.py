"""What `[target]` in evals.toml says beside the REF, for every kind of target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_TURNS: Final = 10
"""How many messages a simulated user sends at most, where nothing else is said."""

NOTHING: Final[Mapping[str, Any]] = {}


class TargetOptions:
    """How the subject is reached, beside its REF.

    `user` names the user simulator and `warm_up` what runs once before the first case,
    each as MODULE:CALLABLE; `deps` names what makes the dependencies of a case.
    `hooks` is the module whose functions `user_simulator` and `warm_up` are taken where
    nothing else is named (the suite's own target.py). `concurrency` is how many calls
    there may be at once. `table` is the whole table.
    """

    __slots__ = (
        "concurrency",
        "deps",
        "hooks",
        "max_turns",
        "observes",
        "table",
        "user",
        "warm_up",
    )

    def __init__(
        self, table: Mapping[str, Any] = NOTHING, *, hooks: str | None = None
    ) -> None:
        self.table = table
        self.hooks = hooks
        self.concurrency: int | None = table.get("concurrency")
        self.user: str | None = table.get("user")
        self.warm_up: str | None = table.get("warm_up")
        self.deps: str | None = table.get("deps")
        self.max_turns: int = table.get("max_turns", MAX_TURNS)
        self.observes: tuple[str, ...] | None = table.get("observes")


def options_of(
    ref: str, table: Mapping[str, Any], *, hooks: str | None = None
) -> TargetOptions:
    """Return the options of a REF: what the table says, where it is for such a REF.

    A REF on the command line may be of another kind than that of the table, which
    then keeps only what holds for every kind.
    """
    if table and table.get("ref") != ref:
        from .table import for_kind, kind_of

        table = for_kind(table, kind_of(ref))
    return TargetOptions(table, hooks=hooks)
