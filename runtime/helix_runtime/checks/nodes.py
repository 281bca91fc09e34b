"""The path through a workflow that a trace shows.

A visit is a span that bears a node's name (matched as in `names`), in trace order. A
span inside a span of the same node is that same visit, and so are spans of one node
in a row. Messages and tool results are never visits.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..record import record
from ..trace import Span, Trace
from ..verdict import Ref, Verdict, uncertain
from .names import Names
from .paths import unobserved

_NOT_A_STEP: Final = frozenset(("user", "system", "toolResult"))
_MAX_NESTING: Final = 64


@record
class Visit:
    """One visit of a node and the span that shows it."""

    node: str
    span: Span

    def ref(self) -> Ref:
        """Return the citation of the visit: the span's name."""
        return Ref(self.span.id, "name", self.span.name)


def all_visits(trace: Trace, known: Iterable[str]) -> list[Visit]:
    """Return every visit of a known node, in trace order, repeats in a row included."""
    names = Names(known)
    node_of: dict[str, str] = {}
    parent_of: dict[str, str | None] = {}
    steps: list[Visit] = []
    results = {back for at, back in trace.call_positions if back != at}
    for at, span in enumerate(trace.spans):
        parent_of.setdefault(span.id, span.parent_id)
        if span.role in _NOT_A_STEP or at in results:
            continue
        node = names.find(span.name)
        if node is not None:
            node_of.setdefault(span.id, node)
            steps.append(Visit(node, span))
    return [step for step in steps if not _within_itself(step, node_of, parent_of)]


def _within_itself(
    step: Visit, node_of: Mapping[str, str], parent_of: Mapping[str, str | None]
) -> bool:
    parent = step.span.parent_id
    # The limit also ends a circle of parents, which a damaged trace may have.
    for _ in range(_MAX_NESTING):
        if parent is None or parent == step.span.id:
            return False
        if node_of.get(parent) == step.node:
            return True
        parent = parent_of.get(parent)
    return False


def visits(trace: Trace, known: Iterable[str]) -> list[Visit]:
    """Return the visits of known nodes in trace order, those in a row as one."""
    path: list[Visit] = []
    for visit in all_visits(trace, known):
        if not path or path[-1].node != visit.node:
            path.append(visit)
    return path


def observed_path(trace: Trace, known: Sequence[str]) -> Any:
    """Return the visits, or the abstention where the trace shows no path at all."""
    abstention = unobserved(trace, "path")
    if abstention is not None:
        return abstention
    path = visits(trace, known)
    return path if path else no_node(known)


def no_node(known: Sequence[str]) -> Verdict:
    """Return the abstention for a trace in which no known node appears."""
    return uncertain(
        f"No span of the trace bears the name of one of the {len(known)} nodes.",
        text="record a span for each node of the workflow, under the node's id",
    )


def one_by_one(nodes: Iterable[str]) -> list[str]:
    """Return node ids with repeats in a row as one."""
    path: list[str] = []
    for node in nodes:
        if not path or path[-1] != node:
            path.append(node)
    return path


def arrows(nodes: Iterable[str]) -> str:
    """Return a path for a critique: `a → b → c`."""
    return " → ".join(nodes)
