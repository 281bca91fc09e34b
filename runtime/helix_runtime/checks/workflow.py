"""Checks of the path that a run took through its workflow, and of its nodes' outputs.

`nodes` are the ids of all nodes of the workflow: a path is only seen whole when every
node is known. A visit is a span that bears a node's name (see `nodes`); repeats in a
row count once. A trace without the path, or without any known node, is uncertain.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..case import Case
from ..trace import Trace
from ..verdict import (
    Ref,
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    passed,
    uncertain,
    untested,
)
from .arguments import (
    limits_fault,
    name_fault,
    outside,
    primitive,
    some_names_fault,
)
from .conditions import condition_fault, held, summary, unmet
from .graph import Graph, graph_fault, read_graph
from .names import Names
from .nodes import all_visits, arrows, no_node, observed_path, one_by_one
from .paths import as_data, counted, ref, shown, unobserved


@primitive(path=some_names_fault)
def equals(
    case: Case, trace: Trace, *, path: Sequence[str], nodes: Sequence[str]
) -> Verdict:
    """Pass where the run visits exactly these nodes in this order."""
    found = observed_path(trace, [*nodes, *path])
    if isinstance(found, Verdict):
        return found
    names = Names([*nodes, *path])
    goal = one_by_one(names.find(node) or node for node in path)
    seen = [visit.node for visit in found]
    refs = [visit.ref() for visit in found]
    if seen == goal:
        return passed(f"The run took {arrows(goal)}.", *refs)
    return failed(f"The run took {arrows(seen)}, not {arrows(goal)}.", *refs)


@primitive(path=some_names_fault)
def visits(
    case: Case, trace: Trace, *, path: Sequence[str], nodes: Sequence[str]
) -> Verdict:
    """Pass where the run visits these nodes in this order; others may lie between."""
    found = observed_path(trace, [*nodes, *path])
    if isinstance(found, Verdict):
        return found
    names = Names([*nodes, *path])
    at = 0
    refs: list[Ref] = []
    for node in one_by_one(names.find(node) or node for node in path):
        while at < len(found) and found[at].node != node:
            at += 1
        if at == len(found):
            after = f" after {shown(refs[-1].value)}" if refs else ""
            return failed(
                f"The run never came to {shown(node)}{after}: it took "
                f"{arrows(visit.node for visit in found)}.",
                *refs,
            )
        refs.append(found[at].ref())
        at += 1
    return passed(f"The run came by {arrows(path)}.", *refs)


@primitive(ends=some_names_fault)
def ends_at(
    case: Case, trace: Trace, *, ends: Sequence[str], nodes: Sequence[str]
) -> Verdict:
    """Pass where the last node that the run visits is one of `ends`."""
    found = observed_path(trace, [*nodes, *ends])
    if isinstance(found, Verdict):
        return found
    last = found[-1]
    if Names(ends).find(last.node) is not None:
        return passed(f"The run ended at {shown(last.node)}.", last.ref())
    wanted = " or ".join(shown(node) for node in ends)
    return failed(f"The run ended at {shown(last.node)}, not {wanted}.", last.ref())


@primitive(avoided=some_names_fault)
def never_visits(
    case: Case, trace: Trace, *, avoided: Sequence[str], nodes: Sequence[str]
) -> Verdict:
    """Pass where the run's path is seen and none of `avoided` is on it."""
    found = observed_path(trace, [*nodes, *avoided])
    if isinstance(found, Verdict):
        return found
    names = Names(avoided)
    wrong = [visit for visit in found if names.find(visit.node) is not None]
    said = f"the run took {arrows(visit.node for visit in found)}"
    if not wrong:
        words = " or ".join(shown(node) for node in avoided)
        return passed(f"No visit of {words}: {said}.")
    refs = [visit.ref() for visit in wrong]
    return failed(f"The run visited {shown(wrong[0].node)}: {said}.", *refs)


@primitive(node=name_fault)
def visit_count(
    case: Case,
    trace: Trace,
    *,
    node: str,
    nodes: Sequence[str],
    at_least: int | None = None,
    at_most: int | None = None,
) -> Verdict:
    """Pass where the run visits a node at least and at most so many times.

    Here each span of the node that is not inside another counts, also in a row. The
    measured value is the number of visits.
    """
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"workflow.visit_count: {wrong}")
    abstention = unobserved(trace, "path")
    if abstention is not None:
        return abstention
    found = all_visits(trace, [*nodes, node])
    if not found:
        return no_node(nodes)
    names = Names([node])
    refs = [visit.ref() for visit in found if names.find(visit.node) is not None]
    number = len(refs)
    broken = outside(number, at_least, at_most)
    said = f"{counted(number, 'visit')} of {shown(node)}"
    if broken is None and not refs and at_most != 0:
        return untested(f"{said}.", value=number)
    if broken is None:
        return passed(f"{said}.", *refs, value=number)
    return failed(f"{said}, {broken}.", *refs, value=number)


@primitive(workflow=graph_fault)
def follows_edges(case: Case, trace: Trace, *, workflow: Mapping[str, Any]) -> Verdict:
    """Pass where the run keeps to the graph.

    It starts at the entry, goes from node to node by an edge that the workflow has,
    takes no loop more often than its `maxIterations`, and ends at a terminal node.
    For workflows whose nodes run one after another. `na` where the spec has no
    workflow.
    """
    graph = read_graph(workflow)
    nodes = graph.by_id()
    if not nodes:
        return not_applicable("The spec has no workflow.")
    found = observed_path(trace, list(nodes))
    if isinstance(found, Verdict):
        return found
    path = [visit.node for visit in found]
    said = f"the run took {arrows(path)}"
    unsure = _turns_on_the_spot(trace, graph)
    if path[0] != graph.entry:
        words = f"The run began at {shown(path[0])}, not at {shown(graph.entry)}"
        return failed(f"{words}: {said}.", found[0].ref())
    taken: dict[str, int] = {}
    for here, there in zip(found, found[1:], strict=False):
        edges = [edge for edge in nodes[here.node].edges if edge.to == there.node]
        if not edges:
            words = f"No edge leads from {shown(here.node)} to {shown(there.node)}"
            return failed(f"{words}: {said}.", here.ref(), there.ref())
        edge = edges[0]
        taken[edge.path] = taken.get(edge.path, 0) + 1
        limits = [edge.most for edge in edges]
        most = None if None in limits else sum(n for n in limits if n is not None)
        if most is not None and taken[edge.path] > most:
            words = f"The loop from {shown(here.node)} to {shown(there.node)} was taken"
            return failed(
                f"{words} more than {counted(most, 'time')}: {said}.",
                here.ref(),
                there.ref(),
            )
    last = found[-1]
    if not nodes[last.node].ends:
        words = f"The run ended at {shown(last.node)}, which is not terminal"
        return failed(f"{words}: {said}.", last.ref())
    if unsure is not None:
        return unsure
    return passed(f"The run kept to the graph: {arrows(path)}.", last.ref())


def _turns_on_the_spot(trace: Trace, graph: Graph) -> Verdict | None:
    """Return the abstention where a node may have gone to itself too often.

    Spans of one node in a row are one visit, or a visit each: a trace does not say.
    """
    most: dict[str, int] = {}
    for node in graph.nodes:
        limits = [edge.most for edge in node.edges if edge.to == node.id]
        known = [limit for limit in limits if limit is not None]
        if limits and len(known) == len(limits):
            most[node.id] = sum(known)
    before, times = "", 0
    for visit in all_visits(trace, list(graph.by_id())) if most else ():
        times = times + 1 if visit.node == before else 0
        before = visit.node
        if times > most.get(before, times):
            return uncertain(
                f"{counted(times + 1, 'span')} of {shown(before)} stand in a row; its "
                f"loop may be taken {counted(most[before], 'time')}.",
                visit.ref(),
                text=f"record one span for each visit of {shown(before)}, or decide "
                "with workflow.visit_count",
            )
    return None


@primitive(node=name_fault, condition=condition_fault)
def node_output(
    case: Case,
    trace: Trace,
    *,
    node: str,
    condition: Mapping[str, Any],
    nodes: Sequence[str],
    visits: Literal["last", "every"] = "last",
) -> Verdict:
    """Pass where the output of a node's last (or every) visit meets a condition.

    The condition is as in `lists`. `na` where the run does not visit the node; a
    visit whose output was not recorded is uncertain.
    """
    abstention = unobserved(trace, "path")
    if abstention is not None:
        return abstention
    found = all_visits(trace, [*nodes, node])
    if not found:
        return no_node(nodes)
    names = Names([node])
    spans = [visit.span for visit in found if names.find(visit.node) is not None]
    if not spans:
        return not_applicable(f"The run does not visit {shown(node)}.")
    refs: list[Ref] = []
    unseen = False
    gave = [as_data(span.output) for span in spans if span.output is not None]
    for span in spans if visits == "every" else spans[-1:]:
        if span.output is None:
            unseen = True
            continue
        why = unmet(as_data(span.output), condition)
        cited = ref(span.id, "output", span.output)
        if why is not None:
            verdict = failed(f"The output of {shown(node)}: {why}.", cited)
            return held(verdict, gave, condition)
        refs.append(cited)
    if unseen:
        return uncertain(
            f"The trace does not record the output of {shown(node)}.",
            text=f"record the output of the node {shown(node)}",
        )
    words = f"The output of {shown(node)} has {summary(condition)}."
    return held(passed(words, *refs), gave, condition)
