"""What must hold in a workflow graph of AgentSpec 0.3.0."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..problems import Level, quoted
from .findings import Findings, Names
from .graph import reached, returning_edges
from .located import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the nodes of a workflow may refer to.

    `executors` maps the kind of an executor to the names that resolve it. The format
    says where actions and members are declared; for the other kinds it does not, so
    one that names nothing of the card is a warning.
    """

    context: Names
    executors: Mapping[str, Names]


_STRICT = ("action", "member")


def check_slot(findings: Findings, path: Path, around: Surroundings) -> None:
    """Check a workflow slot: a graph that stands here, or a reference to one."""
    slot = findings.source.get(path)
    if not isinstance(slot, dict):
        return
    if ("inline" in slot) == ("ref" in slot):
        both = "inline" in slot
        findings.warning(
            "HX212",
            path,
            f"the workflow has {'both' if both else 'neither'} `inline` "
            f"{'and' if both else 'nor'} `ref`",
            hint="keep one of them" if both else "write the graph under `inline:`",
            part="key",
        )
    if "inline" in slot:
        check_workflow(findings, (*path, "inline"), around)


def check_workflow(findings: Findings, path: Path, around: Surroundings) -> None:
    """Check a graph: references, reachability, bounded loops, ends."""
    nodes = findings.names((*path, "nodes"), "node", "nodes")
    if nodes.ids is None:
        return
    entry = findings.source.get((*path, "entry"))
    findings.resolve((*path, "entry"), entry, nodes)
    successors: dict[str, list[str]] = {}
    edge_paths: dict[str, list[Path]] = {}
    for node_path, node in findings.rows((*path, "nodes")):
        node_id = node.get("id")
        targets: list[str] = []
        paths: list[Path] = []
        for edge_path, edge in findings.rows((*node_path, "edges")):
            to = edge.get("to")
            found = findings.resolve((*edge_path, "to"), to, nodes)
            if not found and isinstance(to, str):
                # One slip of the pen is one problem: it leads where it was meant to.
                to = findings.close.closest(to, nodes.ids) or to
            if isinstance(to, str):
                targets.append(to)
                paths.append(edge_path)
        _check_node(findings, node_path, around, leads_on=bool(targets))
        if isinstance(node_id, str) and node_id not in successors:
            successors[node_id] = targets
            edge_paths[node_id] = paths
    starts = list(successors)
    if isinstance(entry, str) and entry in successors:
        _check_reached(findings, entry, successors, nodes)
        starts.insert(0, entry)
    for node_id, index, cycle in returning_edges(starts, successors):
        _check_bound(findings, edge_paths[node_id][index], cycle)


def _check_node(
    findings: Findings, path: Path, around: Surroundings, *, leads_on: bool
) -> None:
    node = findings.source.get(path)
    for ref_path, ref in findings.texts((*path, "contextRefs")):
        findings.resolve(ref_path, ref, around.context)
    executor = node.get("executor")
    if isinstance(executor, dict):
        kind = executor.get("kind")
        names = around.executors.get(kind) if isinstance(kind, str) else None
        if names is not None:
            level: Level = "error" if kind in _STRICT else "warning"
            named = executor.get("ref")
            findings.resolve((*path, "executor", "ref"), named, names, level=level)
    terminal = node.get("terminal")
    name = quoted(str(node.get("id")))
    if terminal is True and leads_on:
        findings.warning(
            "HX213",
            (*path, "terminal"),
            f"the node {name} is terminal and has edges",
            hint="remove one of the two",
            part="key",
        )
    elif terminal in (None, False) and not leads_on and "edges" not in node:
        findings.warning(
            "HX213",
            (*path, "id"),
            f"the workflow ends at the node {name}, which is not terminal",
            hint="add `terminal: true`, or an edge",
        )


def _check_reached(
    findings: Findings, entry: str, successors: Mapping[str, list[str]], nodes: Names
) -> None:
    assert nodes.ids is not None
    found = reached(entry, successors)
    for node_id in successors:
        if node_id not in found:
            findings.error(
                "HX205",
                nodes.ids[node_id],
                f"no way leads from the entry {quoted(entry)} to the node "
                f"{quoted(node_id)}",
                hint="add an edge to it, or remove it",
            )


def _check_bound(findings: Findings, path: Path, cycle: list[str]) -> None:
    loop = findings.source.get((*path, "loop"))
    if isinstance(loop, dict):
        if loop.get("maxIterations") is not None or loop.get("exitWhen") is not None:
            return
    elif loop is not None:
        return
    way = " → ".join(quoted(node, 30) for node in [*cycle, cycle[0]])
    findings.error(
        "HX206",
        (*path, "to"),
        f"this edge closes a loop without a bound: {way}",
        hint="add `loop: { maxIterations: 3 }` or `loop: { exitWhen: … }` to it",
    )
