"""The nodes of a run that a check of its flow names, what they tell, and their refs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..flow import ANSWER, PROMPT, Edge, FlowGraph, Node
from ..trace import Trace, parse_json
from ..values import Slot
from ..verdict import Ref, Verdict
from .paths import MISSING, excerpt, is_list, listed, lookup, ref, shown, unobserved

RESULTS: Final = ("tool", "dispatch", "step")


def giving_nodes(graph: FlowGraph, name: str) -> list[Node]:
    """Return the nodes of a name that may hand something on.

    `prompt` means what the run was given, also where a tool has that name.
    """
    kinds = ("turn",) if name == PROMPT else RESULTS
    return [n for n in graph.named(name) if n.kind in kinds]


def taking_nodes(graph: FlowGraph, name: str) -> list[Node]:
    """Return the nodes of a name that may take something up.

    `answer` means the run's answer, also where a tool has that name.
    """
    kinds = ("answer",) if name == ANSWER else RESULTS
    return [n for n in graph.named(name) if n.kind in kinds]


def unseen_step(trace: Trace, name: str, nodes: Sequence[Node]) -> Verdict | None:
    """Return the abstention where a step of that name could not have been seen."""
    if name == ANSWER:
        return unobserved(trace, "output")
    if name == PROMPT or any(node.kind in ("step", "dispatch") for node in nodes):
        return None
    return unobserved(trace, "tools")


def gave(node: Node) -> bool:
    """Whether a node returned something and did not end in an error."""
    return node.returned is not None and not node.error


def is_hidden(node: Node) -> bool:
    """Whether a step's result was not recorded, and may hold anything."""
    if node.call is not None:
        return not node.call.answered and not node.error
    return node.kind in ("dispatch", "step") and node.returned is None


def values_at(node: Node, path: str | None) -> Sequence[Slot]:
    """Return the values at a path of what a node returned, or all that it produced."""
    return node.produces if path is None else node.chosen.get(path, ())


def nothing_to_find(source: str, path: str | None) -> str:
    """Return the words for a result in which nothing can be looked for."""
    if path is not None:
        return (
            f"nothing to look for stands at `{path}` of the result of {shown(source)}"
        )
    return f"the result of {shown(source)} holds no value that could be recognized"


def remedy(why: str, source: str) -> str:
    """Return what to do about why an edge can't be told."""
    if "recognized" in why:
        return f"name the path of what must be taken up from {source}"
    if "nothing to look for" in why:
        return "look whether the path is right"
    if "too large" in why:
        return "record smaller data in the trace, or decide this by hand"
    return "record the results of calls in the trace"


def called(node: Node) -> str:
    """Return what a node is called in a critique, to begin a sentence with."""
    if node.kind == "answer":
        return "The answer"
    if node.call is not None:
        return f"Call {node.call.index} of {shown(node.name)}"
    return f"The step {shown(node.name)}"


def slots_text(edge: Edge) -> str:
    """Return the first values of an edge for a critique."""
    return listed([slot.value for slot in edge.slots], limit=2)


def at_text(argument: str) -> str:
    """Return the words for the argument that should hold a value; empty for any."""
    return f" at `{argument}`" if argument else ""


def edge_refs(graph: FlowGraph, edge: Edge) -> list[Ref]:
    """Return the citation of an edge: its first value, where it was returned."""
    source = graph.nodes[edge.source]
    slot = edge.slots[0]
    if source.kind == "turn":
        return [Ref(source.span_id, "content", excerpt(slot.value))]
    path = _path_to(source.returned, slot.path, "output")
    return [Ref(source.result_span_id, path, excerpt(slot.value))]


def slot_ref(node: Node, slot: Slot) -> Ref:
    """Return the citation of a value in what a node was given."""
    return Ref(
        node.span_id, _path_to(node.given, slot.path, "input"), excerpt(slot.value)
    )


def _path_to(data: Any, path: str, side: str) -> str:
    """Return the path of a value in a span; the whole side where it has none there."""
    read = parse_json(data) if isinstance(data, str) else data
    if not path or not (isinstance(read, Mapping) or is_list(read)):
        return side
    return side if lookup(read, path) is MISSING else f"{side}.{path}"


def given_ref(trace: Trace, node: Node) -> Ref:
    """Return the citation of what a node was given."""
    if node.kind == "answer":
        return ref("output", "", trace.output)
    if node.given is None:
        return Ref(node.span_id, "name", node.name)
    return ref(node.span_id, "input", node.given)


def returned_ref(node: Node) -> Ref:
    """Return the citation of what a node returned."""
    if node.kind == "turn":
        return ref(node.span_id, "content", node.returned)
    if node.returned is None:
        return Ref(node.span_id, "name", node.name)
    return ref(node.result_span_id, "output", node.returned)
