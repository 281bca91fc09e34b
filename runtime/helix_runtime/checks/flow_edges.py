"""The edges that a flow is expected to have, and why one is missing."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..flow import ANSWER, MODEL, PROMPT, Edge, FlowGraph, Node
from ..record import record
from .arguments import name_fault
from .flow_nodes import called, gave, is_hidden, nothing_to_find, values_at
from .names import Names
from .paths import shown

_EDGE_KEYS: Final = ("from", "to", "value", "kind")


def source_fault(name: Any) -> str | None:
    """Return why nothing can come from a step of that name, or None."""
    if name in (ANSWER, MODEL):
        return f"can't be `{name}`, which hands nothing on"
    return name_fault(name)


def target_fault(name: Any) -> str | None:
    """Return why nothing can go to a step of that name, or None."""
    if name in (PROMPT, MODEL):
        return f"can't be `{name}`, which takes nothing in"
    return name_fault(name)


def path_fault(path: Any) -> str | None:
    """Return why a text is no path of a value, or None."""
    if path and all(path.split(".")):
        return None
    return "must be a path such as `order.id` or `hits.*.id`"


@record(kw_only=True)
class Expected:
    """An edge of the expected flow."""

    source: str
    target: str
    value: str | None
    kind: str | None

    def __str__(self) -> str:
        path = f" (`{self.value}`)" if self.value else ""
        return f"{self.source} → {self.target}{path}"


def edges_fault(edges: Any) -> str | None:
    """Return which of the expected edges is none, or None."""
    if not edges:
        return "must hold at least one edge"
    for at, edge in enumerate(edges):
        wrong = _edge_fault(edge)
        if wrong is not None:
            return f"item {at} {wrong}"
    return None


def _edge_fault(edge: Mapping[str, Any]) -> str | None:
    unknown = [key for key in edge if key not in _EDGE_KEYS]
    if unknown:
        return (
            f"has the unknown key {shown(unknown[0])}; there are from, to, value, kind"
        )
    for key, find in (("from", source_fault), ("to", target_fault)):
        name = edge.get(key)
        if not isinstance(name, str):
            return f"needs a name at `{key}`"
        wrong = find(name)
        if wrong is not None:
            return f"has a `{key}` that {wrong}"
    value, kind = edge.get("value"), edge.get("kind")
    if value is not None and (not isinstance(value, str) or path_fault(value)):
        return "has a `value` that is no path such as `order.id` or `hits.*.id`"
    if kind not in (None, "threaded", "handoff"):
        return "has a `kind` that is neither threaded nor handoff"
    return None


def why_missing(
    one: Expected, sources: Sequence[Node], targets: Sequence[Node]
) -> tuple[bool, str]:
    """Return whether an edge is surely missing, and why."""
    if not targets:
        return True, f"there is no {shown(one.target)}{_of_kind(one)}"
    if not sources:
        return True, f"there is no {shown(one.source)}"
    last = max(node.at for node in targets)
    if any(is_hidden(node) and node.at < last for node in sources):
        return False, f"no result of {shown(one.source)} is recorded"
    done = [node for node in sources if gave(node)]
    if not done:
        return True, f"{shown(one.source)} gave no result"
    earlier = [node for node in done if node.until < last]
    if not earlier:
        return True, f"{shown(one.target)} came before {shown(one.source)}"
    if any(node.call and not node.call.known for node in targets):
        return False, f"what {shown(one.target)} was called with is not recorded"
    if not any(values_at(node, one.value) for node in earlier):
        return False, nothing_to_find(one.source, one.value)
    if any(node.unread for node in (*earlier, *targets)):
        return False, "the data is too large to be read whole"
    return True, f"{shown(one.target)} holds nothing of it"


def _of_kind(one: Expected) -> str:
    return f" that is a {one.kind}" if one.kind == "handoff" else ""


def hidden_data(graph: FlowGraph) -> str | None:
    """Return which data of a run may hide an edge, or None where all is seen."""
    for node in graph.nodes:
        if node.unread:
            return f"{called(node)} is too large to be read whole"
        if node.call is not None and is_hidden(node):
            return f"{called(node)} has no recorded result"
        if node.call is not None and not node.call.known:
            return f"what {shown(node.name)} was called with is not recorded"
    return None


def other_edges(graph: FlowGraph, wanted: Sequence[Expected]) -> list[Edge]:
    """Return the edges between steps, and to the answer, that are not expected."""
    names = Names(name for one in wanted for name in (one.source, one.target))
    pairs = {(names.find(one.source), names.find(one.target)) for one in wanted}
    found = []
    for edge in graph.edges:
        source, target = graph.nodes[edge.source], graph.nodes[edge.target]
        if source.kind == "turn" or target.kind == "model":
            continue
        if (names.find(source.name), names.find(target.name)) not in pairs:
            found.append(edge)
    return found
