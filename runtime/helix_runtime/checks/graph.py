"""The workflow of a spec as a graph, read from the suite's WORKFLOW constant.

`{"entry": id, "nodes": [{"id", "executor": {"kind", "ref"} | None, "contextRefs",
"edges": [{"to", "condition", "loop"}], "terminal"}], "actions": [{"id", "approval"}],
"contexts": [ids], "members": [ids]}`. Only `entry` and `nodes` are needed; an empty
object says that the spec has no workflow.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..record import record
from .paths import is_list


@record(kw_only=True)
class Edge:
    """An edge; `path` is where it stands in the constant, `loop` its bound."""

    to: str
    condition: str
    loop: Mapping[str, Any]
    path: str

    @property
    def most(self) -> int | None:
        """How often the edge may be taken, where its loop says so in a number."""
        limit = self.loop.get("maxIterations")
        if isinstance(limit, bool) or not isinstance(limit, int):
            return None
        return limit


@record(kw_only=True)
class Node:
    """A node; `kind` and `ref` name its executor, both empty where it has none."""

    id: str
    kind: str
    ref: str
    contexts: Sequence[str]
    edges: Sequence[Edge]
    terminal: bool
    path: str

    @property
    def ends(self) -> bool:
        """Whether a run may end here: a terminal node, or one that leads nowhere."""
        return self.terminal or not self.edges


@record(kw_only=True)
class Graph:
    """A workflow. `approval` maps an action to its approval policy."""

    entry: str
    nodes: Sequence[Node]
    approval: Mapping[str, str]
    contexts: frozenset[str]
    members: frozenset[str]

    def by_id(self) -> dict[str, Node]:
        """Return the nodes by id; of two with one id, the first."""
        found: dict[str, Node] = {}
        for node in self.nodes:
            found.setdefault(node.id, node)
        return found

    def reachable(self, *, without: Iterable[str] = ()) -> dict[str, str | None]:
        """Return each node that the entry leads to, with the node before it.

        `without` names edges, by their path, that may not be taken.
        """
        nodes = self.by_id()
        closed = frozenset(without)
        if self.entry not in nodes:
            return {}
        came_from: dict[str, str | None] = {self.entry: None}
        waiting = [self.entry]
        for node_id in waiting:
            for edge in nodes[node_id].edges:
                if edge.path in closed or edge.to in came_from:
                    continue
                if edge.to in nodes:
                    came_from[edge.to] = node_id
                    waiting.append(edge.to)
        return came_from

    def returning_edges(self) -> list[tuple[Node, Edge]]:
        """Return the edges that close a circle: back edges of a depth-first walk."""
        nodes = self.by_id()
        state: dict[str, str] = {}
        found: list[tuple[Node, Edge]] = []
        for start in (self.entry, *nodes):
            if start not in nodes or start in state:
                continue
            state[start] = "open"
            stack = [(nodes[start], iter(nodes[start].edges))]
            while stack:
                node, edges = stack[-1]
                edge = next(edges, None)
                if edge is None:
                    state[node.id] = "done"
                    stack.pop()
                elif state.get(edge.to) == "open":
                    found.append((node, edge))
                elif edge.to in nodes and edge.to not in state:
                    state[edge.to] = "open"
                    stack.append((nodes[edge.to], iter(nodes[edge.to].edges)))
        return found


def graph_fault(workflow: Any) -> str | None:
    """Return why a WORKFLOW constant can't be read, or None."""
    if not isinstance(workflow, Mapping):
        return "must be an object"
    if not workflow:
        return None
    if not isinstance(workflow.get("entry"), str):
        return "needs an `entry`, the id of a node"
    if not is_list(workflow.get("nodes")):
        return "needs `nodes`, a list"
    for index, node in enumerate(workflow["nodes"]):
        place = f"nodes.{index}"
        if not isinstance(node, Mapping) or not isinstance(node.get("id"), str):
            return f"needs an `id` at {place}"
        if not _is_optional(node.get("executor"), Mapping):
            return f"needs an object `executor` at {place}"
        for key in ("edges", "contextRefs"):
            if node.get(key) is not None and not is_list(node[key]):
                return f"needs a list `{key}` at {place}"
        for number, edge in enumerate(node.get("edges") or ()):
            if not isinstance(edge, Mapping) or not isinstance(edge.get("to"), str):
                return f"needs a `to` at {place}.edges.{number}"
    for key in ("actions", "contexts", "members"):
        if workflow.get(key) is not None and not is_list(workflow[key]):
            return f"needs a list `{key}`"
    return None


def _is_optional(value: Any, kind: type) -> bool:
    return value is None or isinstance(value, kind)


def read_graph(workflow: Mapping[str, Any]) -> Graph:
    """Return the graph of a WORKFLOW constant without a fault (`graph_fault`)."""
    nodes = []
    for index, node in enumerate(workflow.get("nodes") or ()):
        place = f"nodes.{index}"
        executor = node.get("executor") or {}
        edges = []
        for number, edge in enumerate(node.get("edges") or ()):
            loop = edge.get("loop")
            edges.append(
                Edge(
                    to=edge["to"],
                    condition=_text(edge.get("condition")),
                    loop=loop if isinstance(loop, Mapping) else {},
                    path=f"{place}.edges.{number}",
                )
            )
        nodes.append(
            Node(
                id=node["id"],
                kind=_text(executor.get("kind")),
                ref=_text(executor.get("ref")),
                contexts=_texts(node.get("contextRefs")),
                edges=tuple(edges),
                terminal=node.get("terminal") is True,
                path=place,
            )
        )
    approval = {
        action["id"]: _text(action.get("approval"))
        for action in workflow.get("actions") or ()
        if isinstance(action, Mapping) and isinstance(action.get("id"), str)
    }
    return Graph(
        entry=_text(workflow.get("entry")),
        nodes=tuple(nodes),
        approval=approval,
        contexts=frozenset(_texts(workflow.get("contexts"))),
        members=frozenset(_texts(workflow.get("members"))),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value or () if isinstance(item, str))
