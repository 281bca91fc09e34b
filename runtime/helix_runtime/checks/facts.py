"""Static facts of the spec: the same for every case, decided without the trace.

They read the suite's constants (WORKFLOW, ACTION_HOLDERS), so that an edit of the
spec shows at the next generation. Refs name paths in the constant (`spec`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..case import Case
from ..trace import Trace
from ..verdict import Ref, Verdict, failed, not_applicable, passed
from .arguments import names_fault, primitive
from .graph import Graph, Node, graph_fault, read_graph
from .nodes import arrows
from .paths import counted, fold, listed, ref, shown

_NO_WORKFLOW = "The spec has no workflow."

Finding = tuple[str, Ref]


def _spec_ref(path: str, value: str) -> Ref:
    return Ref("spec", f"workflow.{path}", value)


def _findings(found: Sequence[Finding], fine: str) -> Verdict:
    if not found:
        return passed(fine)
    words = "; ".join(text for text, _ in found[:5])
    rest = f"; and {len(found) - 5} more" if len(found) > 5 else ""
    return failed(
        f"{words[0].upper()}{words[1:]}{rest}.", *(cited for _, cited in found)
    )


@primitive(workflow=graph_fault)
def workflow_resolves(
    case: Case, trace: Trace, *, workflow: Mapping[str, Any]
) -> Verdict:
    """Pass where the workflow's graph is sound.

    Node ids are unique; the entry, all edges, contexts, and the actions and members
    of executors exist; every node can be reached, and so can an end; every returning
    edge has a loop bound. `na` where the spec has no workflow.
    """
    graph = read_graph(workflow)
    if not graph.nodes:
        return not_applicable(_NO_WORKFLOW)
    found = [
        *_dangling(graph),
        *_unreachable(graph),
        *_without_end(graph),
        *_unbounded(graph),
    ]
    return _findings(
        found, f"The workflow's {counted(len(graph.nodes), 'node')} all resolve."
    )


@primitive(workflow=graph_fault)
def nodes_reachable(
    case: Case, trace: Trace, *, workflow: Mapping[str, Any]
) -> Verdict:
    """Pass where every node can be reached from the entry.

    `na` where the spec has no workflow.
    """
    graph = read_graph(workflow)
    if not graph.nodes:
        return not_applicable(_NO_WORKFLOW)
    fine = f"Every node can be reached from {shown(graph.entry)}."
    return _findings(list(_unreachable(graph)), fine)


@primitive(workflow=graph_fault)
def loops_bounded(case: Case, trace: Trace, *, workflow: Mapping[str, Any]) -> Verdict:
    """Pass where every edge that returns to an earlier node has a loop bound.

    A bound is a `maxIterations` of at least 1 or an `exitWhen`. `na` where the spec
    has no workflow.
    """
    graph = read_graph(workflow)
    if not graph.nodes:
        return not_applicable(_NO_WORKFLOW)
    number = len(graph.returning_edges())
    return _findings(
        list(_unbounded(graph)), f"{counted(number, 'loop')}, none without a bound."
    )


def _dangling(graph: Graph) -> Iterator[Finding]:
    nodes = graph.by_id()
    if graph.entry not in nodes:
        words = f"the entry {shown(graph.entry)} is not a node"
        yield words, _spec_ref("entry", graph.entry)
    for node in graph.nodes:
        if nodes[node.id] is not node:
            words = f"two nodes have the id {shown(node.id)}"
            yield words, _spec_ref(f"{node.path}.id", node.id)
        for edge in node.edges:
            if edge.to not in nodes:
                words = (
                    f"{shown(node.id)} leads to {shown(edge.to)}, which is not a node"
                )
                yield words, _spec_ref(f"{edge.path}.to", edge.to)
        for index, context in enumerate(node.contexts):
            if context not in graph.contexts:
                words = f"{shown(node.id)} needs the unknown context {shown(context)}"
                yield words, _spec_ref(f"{node.path}.contextRefs.{index}", context)
        known = {"action": graph.approval, "member": graph.members}.get(node.kind)
        if known is not None and node.ref not in known:
            words = f"{shown(node.id)} is executed by the unknown {node.kind} "
            yield words + shown(node.ref), _spec_ref(
                f"{node.path}.executor.ref", node.ref
            )


def _unreachable(graph: Graph) -> Iterator[Finding]:
    reached = graph.reachable()
    for node in graph.nodes:
        if node.id not in reached:
            words = f"nothing leads from the entry to {shown(node.id)}"
            yield words, _spec_ref(f"{node.path}.id", node.id)


def _without_end(graph: Graph) -> Iterator[Finding]:
    reached = graph.reachable()
    if reached and not any(node.ends for node in graph.nodes if node.id in reached):
        yield "no terminal node can be reached", _spec_ref("entry", graph.entry)


def _unbounded(graph: Graph) -> Iterator[Finding]:
    for node, edge in graph.returning_edges():
        exit_when = edge.loop.get("exitWhen")
        if (edge.most or 0) >= 1 or (isinstance(exit_when, str) and exit_when.strip()):
            continue
        words = f"the loop from {shown(node.id)} back to {shown(edge.to)} has no bound"
        yield words, _spec_ref(f"{edge.path}.to", edge.to)


@primitive(workflow=graph_fault, gates=names_fault)
def approval_gated(
    case: Case,
    trace: Trace,
    *,
    workflow: Mapping[str, Any],
    actions: Sequence[str] = (),
    gates: Sequence[str] = (),
    holders: Mapping[str, Sequence[str]] | None = None,
) -> Verdict:
    """Pass where each node that carries out a gated action lies behind an approval.

    `actions` are the gated ones; without it, those whose approval is "required". A
    gate is a conditional edge, or, where `gates` is given, one whose condition
    contains one of these texts (without case). Every way from the entry to such a
    node must lead over a gate. `holders` maps an action to the members that hold it:
    a node that a holder executes carries the action out too. `na` where no node
    carries out a gated action.
    """
    graph = read_graph(workflow)
    if not graph.nodes:
        return not_applicable(_NO_WORKFLOW)
    gated = set(
        actions or (a for a, policy in graph.approval.items() if policy == "required")
    )
    holding = {
        member
        for action, names in (holders or {}).items()
        if action in gated
        for member in names
    }
    doing = [node for node in graph.nodes if _carries_out(node, gated, holding)]
    if not doing:
        return not_applicable("No node of the workflow carries out a gated action.")
    words = [fold(gate, ignore_case=True) for gate in gates]
    closed = [
        edge.path
        for node in graph.nodes
        for edge in node.edges
        if edge.condition.strip()
        and (
            not words
            or any(word in fold(edge.condition, ignore_case=True) for word in words)
        )
    ]
    open_to = graph.reachable(without=closed)
    found: list[Finding] = []
    for node in doing:
        if node.id in open_to:
            way = arrows(_way(node.id, open_to))
            said = f"{shown(node.id)} can be reached without a gate: {way}"
            found.append((said, _spec_ref(f"{node.path}.id", node.id)))
    names = listed([node.id for node in doing])
    return _findings(found, f"{names}: every way there leads over a gate.")


def _carries_out(node: Node, gated: set[str], holding: set[str]) -> bool:
    if node.kind == "member":
        return node.ref in holding
    return node.kind in ("action", "integration") and node.ref in gated


def _way(node_id: str, came_from: Mapping[str, str | None]) -> list[str]:
    way = []
    at: str | None = node_id
    while at is not None:
        way.append(at)
        at = came_from[at]
    return way[::-1]


# -- who may do what ------------------------------------------------------------------


@primitive()
def single_holders(
    case: Case, trace: Trace, *, holders: Mapping[str, Sequence[str]]
) -> Verdict:
    """Pass where no action is held by more than one member.

    `holders` maps an action to the members that reference it. `na` where no member
    holds any.
    """
    held = {action: list(dict.fromkeys(names)) for action, names in holders.items()}
    if not any(held.values()):
        return not_applicable("No member of the spec holds an action.")
    shared = {action: names for action, names in held.items() if len(names) > 1}
    if not shared:
        number = sum(len(names) == 1 for names in held.values())
        return passed(f"{counted(number, 'action')}, each with one holder.")
    said = [f"{shown(a)} is held by {listed(names)}" for a, names in shared.items()]
    return failed(
        f"{'; '.join(said[:5])}.",
        *(Ref("spec", f"holders.{action}", action) for action in shared),
    )


@primitive()
def held_only_by(
    case: Case,
    trace: Trace,
    *,
    action: str,
    members: Sequence[str],
    holders: Mapping[str, Sequence[str]],
) -> Verdict:
    """Pass where an action is held by one of `members` and by no other member."""
    names = list(dict.fromkeys(holders.get(action, ())))
    if not names:
        return failed(
            f"No member holds {shown(action)}.", ref("spec", "holders", holders)
        )
    others = [name for name in names if name not in members]
    if not others:
        return passed(f"{shown(action)} is held by {listed(names)} alone.")
    words = f"{shown(action)} is also held by {listed(others)}."
    return failed(words, *(Ref("spec", f"holders.{action}", name) for name in others))


@primitive(workflow=lambda value: None if value is None else graph_fault(value))
def observers_never_dispatch(
    case: Case,
    trace: Trace,
    *,
    observers: Sequence[str],
    dispatch: Mapping[str, Sequence[str]],
    workflow: Mapping[str, Any] | None = None,
) -> Verdict:
    """Pass where no observer dispatches, is dispatched, or executes a node.

    `dispatch` maps a member to those that it dispatches (the spec's `subagents`).
    `na` where there is no observer.
    """
    if not observers:
        return not_applicable("The spec has no observer.")
    watching = set(observers)
    found: list[Finding] = []
    for member, others in dispatch.items():
        cited = Ref("spec", f"dispatch.{member}", member)
        if member in watching and others:
            found.append(
                (f"the observer {shown(member)} dispatches {listed(others)}", cited)
            )
        for other in others:
            if other in watching:
                words = f"{shown(member)} dispatches the observer {shown(other)}"
                found.append((words, Ref("spec", f"dispatch.{member}", other)))
    for node in read_graph(workflow or {}).nodes:
        if node.kind == "member" and node.ref in watching:
            words = f"the observer {shown(node.ref)} executes the node {shown(node.id)}"
            found.append((words, _spec_ref(f"{node.path}.executor.ref", node.ref)))
    return _findings(found, f"{listed(list(observers))} observe and never dispatch.")
