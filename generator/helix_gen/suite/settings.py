"""What an overlay says about a suite, beside its datasets: typed views of plain data.

The overlay was read and found faultless (`spec.overlay`), so its shape is certain
here: these functions only choose between what it says and what holds without it.
"""

from collections.abc import Mapping
from typing import Any

from helix_runtime.criterion import Aggregate, Method, every

from .model import Pin, Scope


def part(data: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return the mapping at a path of the overlay; empty where there is none."""
    for step in path:
        found = data.get(step)
        if not isinstance(found, Mapping):
            return {}
        data = found
    return data


def method_of(says: Mapping[str, Any], *, judged: bool) -> Method:
    """Return how a criterion is decided: as the overlay says, else by its type.

    A judged criterion that is given a check is decided by code first.
    """
    given: Method | None = says.get("method")
    if given is not None:
        return given
    if not judged:
        return "deterministic"
    return "hybrid" if "check" in says else "llm-judge"


def aggregate_of(says: Mapping[str, Any]) -> Aggregate:
    """Return the aggregate of a criterion: every decided unit passes, if not said."""
    if "aggregate" not in says:
        return every()
    from ..spec.overlay import read_aggregate

    return read_aggregate(says["aggregate"])


def narrowed(scope: Scope, says: Mapping[str, Any]) -> Scope:
    """Return a scope as `applies_to` narrows it: what both hold."""
    if not says:
        return scope

    def both(ours: tuple[str, ...], name: str) -> tuple[str, ...]:
        given = says.get(name)
        if given is None:
            return ours
        return tuple(x for x in given if x in ours) if ours else tuple(given)

    return Scope(
        datasets=both(scope.datasets, "datasets"),
        categories=both(scope.categories, "categories"),
        scenarios=both(scope.scenarios, "scenarios"),
        narrowed=True,
    )


def pin_of(data: Mapping[str, Any]) -> Pin:
    """Return the judge that the overlay names."""
    judge = part(data, "judge")
    return Pin(
        provider=judge.get("provider"),
        model=judge.get("model"),
        base_url=judge.get("base_url"),
    )
