"""The information-flow graph of a trace: what each step gave, and where that went.

A node is a step of the run, in trace order: a turn (user or system), a model's text, a
tool call with its result, a dispatch of a sub-agent, another step that holds data, and
the answer. It *consumes* what it was given (arguments, an input, a model's own text,
which shows what the model used) and *produces* what it returned. An edge says that a
value which one node produced stands in what a later one consumes.

Values are those of `values`: scalars that hardly stand in two places by chance. A result
does not produce what its call was given in its arguments, nor what a user or system turn
had said before: an echo is no evidence. A model's turn produces nothing: what it says it
has from elsewhere, or made up. Who asks may name values by their path in a result
(`chosen`): those are evidence whatever they look like and wherever else they stand,
unless they are bools or null.

Everything is indexed by value, so the graph takes time and memory in proportion to the
text that is read; `values.MAX_TEXT` and MAX_RUN bound that, and what was not read is said.
What a run holds is read once, whoever asks for a graph of it and with which values: the
trace keeps it as long as it lives itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from .checks.names import Names
from .checks.paths import as_data, gather
from .lazy import lazy
from .record import field, record
from .trace import Span, ToolCall, Trace, as_text, is_conversation
from .values import MAX_PARTS, Finder, Slot, chosen_slots, marks, scalars, words_of

NodeKind = Literal["turn", "model", "tool", "dispatch", "step", "answer"]
EdgeKind = Literal["threaded", "handoff"]

MAX_RUN: Final = 4_000_000
"""So many characters of a whole run are read."""
MAX_SOURCES: Final = 8
"""An edge is drawn to a value from so many different sources of it at most."""
MAX_SLOTS: Final = 8
"""An edge names so many of its values."""

ANSWER: Final = "answer"
"""The name of the node of the answer."""
PROMPT: Final = "prompt"
"""The name of the nodes of what the run was given: user and system turns."""
MODEL: Final = "model"
"""The name of the nodes of a model's other texts."""


@record(kw_only=True)
class Node:
    """One step of the run.

    `name` is that of the tool, agent or step; turns, models' texts and the answer have
    the names PROMPT, MODEL and ANSWER. `at` and `until` order nodes: what is produced
    at `until` is known to nodes whose `at` is later. `span_id` is where it was called,
    `result_span_id` where it returned; `call` is the tool call, where it is one.
    `given` and `returned` are its data; `chosen` are the values at the paths that were
    asked for. `unread` says that its data was too large to be read whole.
    """

    index: int
    kind: NodeKind
    name: str
    span_id: str
    result_span_id: str
    at: int
    until: int
    consumes: tuple[Slot, ...] = ()
    produces: tuple[Slot, ...] = ()
    chosen: Mapping[str, tuple[Slot, ...]] = field(default_factory=dict)
    given: Any = None
    returned: Any = None
    error: bool = False
    unread: bool = False
    call: ToolCall | None = None


@record
class Edge:
    """Values that node `source` produced and node `target` consumes, both by index.

    `handoff` where the target is a dispatch of a sub-agent, else `threaded`. `slots`
    are the first values, as the source produced them.
    """

    source: int
    target: int
    kind: EdgeKind
    slots: tuple[Slot, ...]


@record(kw_only=True)
class FlowGraph:
    """The nodes of a run in trace order, its edges by (target, source), and what was lost.

    An edge comes from the newest node of each name that produced the value. `dropped`
    are the nodes (tools, dispatches, steps) that returned values, none of which a later
    node consumes; those that ended in an error are not among them.
    """

    trace_id: str
    nodes: tuple[Node, ...]

    @lazy
    def edges(self) -> tuple[Edge, ...]:
        """The edges, by (target, source)."""
        return self._drawn[0]

    @lazy
    def dropped(self) -> tuple[int, ...]:
        """The nodes whose values no later node consumes, by index."""
        reached = self._drawn[1]
        return tuple(
            node.index
            for node in self.nodes
            if node.kind in ("tool", "dispatch", "step")
            and node.produces
            and not node.error
            and node.index not in reached
        )

    @lazy
    def _drawn(self) -> tuple[tuple[Edge, ...], frozenset[int]]:
        edges, reached = _edges(self.nodes)
        return tuple(edges), frozenset(reached)

    @property
    def unread(self) -> bool:
        """Whether data was too large to be read, so that edges may be missing."""
        return any(node.unread for node in self.nodes)

    def named(self, name: str) -> list[Node]:
        """Return the nodes of a name, in any spelling (see `checks.names`)."""
        known = Names([name])
        spelled: dict[str, bool] = {}
        found = []
        for node in self.nodes:
            if node.name not in spelled:
                spelled[node.name] = known.find(node.name) is not None
            if spelled[node.name]:
                found.append(node)
        return found


def graph_of(
    trace: Trace,
    *,
    dispatches: Iterable[str] = (),
    values: Iterable[tuple[str | None, str]] = (),
) -> FlowGraph:
    """Return the graph of a trace.

    `values` are (name of a node, or None for all, path in what it returned) of values
    to look for, whether or not they are evidence by themselves; `*` in a path stands
    for each element.
    `dispatches` names tools that send a sub-agent; spans of the kind `agent` inside the
    run are dispatches anyway. Takes any trace, however damaged.
    """
    kept = vars(trace)
    reading: _Reading | None = kept.get(_KEPT)
    if reading is None:
        # As `lazy` does; two threads may read twice, which is harmless for what is pure.
        reading = kept[_KEPT] = _read(list(_drafts(trace)))
    nodes = _nodes(reading, Names(dispatches), list(values))
    return FlowGraph(trace_id=trace.id, nodes=tuple(nodes))


def links(
    sources: Sequence[Node], targets: Sequence[Node], *, path: str | None = None
) -> list[Edge]:
    """Return, for each target that consumes a value of a source, one edge to it.

    It comes from the source that produced the first of these values first; with `path`
    only the values chosen there count. Unlike the edges of a graph these leave no
    source out.
    """
    first = first_producers(sources, path=path)
    found = []
    for node in targets:
        edge = edge_to(node, node.consumes, first)
        if edge is not None:
            found.append(edge)
    return found


Producers = dict[str, tuple[int, int, Slot]]


def first_producers(sources: Sequence[Node], *, path: str | None = None) -> Producers:
    """Return (until, index, slot) of who produced each value first, by the value's key."""
    first: Producers = {}
    for node in sources:
        for slot in node.produces if path is None else node.chosen.get(path, ()):
            known = first.get(slot.key)
            if known is None or node.until < known[0]:
                first[slot.key] = (node.until, node.index, slot)
    return first


def edge_to(node: Node, held: Iterable[Slot], first: Producers) -> Edge | None:
    """Return the edge to a node that holds some values, or None where none is older."""
    found = [
        first[slot.key]
        for slot in held
        if slot.key in first and first[slot.key][0] < node.at
    ]
    if not found:
        return None
    source = found[0][1]
    slots = tuple(one[2] for one in found if one[1] == source)[:MAX_SLOTS]
    return Edge(source, node.index, _edge_kind(node), slots)


# -- the nodes ------------------------------------------------------------------------


@record(kw_only=True)
class _Draft:
    """A node before its values are known: what it is given and what it returns."""

    kind: NodeKind
    name: str
    span: Span
    back: str
    at: int
    until: int
    given: Any = None
    returned: Any = None
    error: bool = False
    call: ToolCall | None = None


def _drafts(trace: Trace) -> Iterator[_Draft]:
    """Yield the nodes in trace order.

    Span i starts at 2i and is over at 2i + 1; a span with others inside is over with
    the last of them.
    """
    spans = trace.spans
    last = _ends(spans)
    answer = _answer_at(trace)
    outer = _ancestors(spans, answer)
    where = trace.call_positions
    call_at = {at: index for index, (at, _) in enumerate(where)}
    for i, span in enumerate(spans):
        over = 2 * last[i] + 1
        index = call_at.get(i)
        role = span.effective_role
        if index is not None:
            call = trace.tool_calls[index]
            yield _Draft(
                kind="tool",
                name=call.name,
                span=span,
                back=call.result_span_id or call.span_id,
                at=2 * i,
                until=max(2 * where[index][1] + 1, over),
                given=call.arguments,
                returned=call.result if call.answered else None,
                error=call.error,
                call=call,
            )
        elif role == "toolResult" or role == "tool":
            continue
        elif role == "user" or role == "system":
            yield _Draft(
                kind="turn",
                name=PROMPT,
                span=span,
                back=span.id,
                at=2 * i,
                until=2 * i + 1,
                returned=span.text,
            )
        elif i == answer:
            # What is the run itself answers when all of it is over.
            if span.kind == "agent" and span.parent_id is None:
                over = 2 * len(spans)
            yield _Draft(
                kind="answer",
                name=ANSWER,
                span=span,
                back=span.id,
                at=2 * i if over == 2 * i + 1 else over + 1,
                until=over + 1,
                given=trace.output,
            )
        elif role == "assistant" and not _is_agent(span, last[i] > i):
            yield _Draft(
                kind="model",
                name=MODEL,
                span=span,
                back=span.id,
                at=over + 1 if last[i] > i else 2 * i,
                until=over + 1,
                given=span.text,
            )
        elif not (last[i] > i and span.parent_id is None):
            yield _Draft(
                kind="dispatch" if span.kind == "agent" else "step",
                name=span.name,
                span=span,
                back=span.id,
                at=2 * i,
                until=over,
                given=_handed(span.input),
                # What encloses the answer gives the answer: it is not told twice.
                returned=None if i in outer else _handed(span.output),
                error=span.status == "error",
            )


def _is_agent(span: Span, encloses: bool) -> bool:
    return span.kind == "agent" and (encloses or span.input is not None)


def _ends(spans: Sequence[Span]) -> list[int]:
    """Return, for each span, the position of the last span inside it, or its own."""
    first: dict[str, int] = {}
    for i, span in enumerate(spans):
        first.setdefault(span.id, i)
    ends = list(range(len(spans)))
    for i in range(len(spans) - 1, -1, -1):
        parent = spans[i].parent_id
        above = None if parent is None else first.get(parent)
        # Only forward: a circle of parents, which a damaged trace may have, is none.
        if above is not None and above < i:
            ends[above] = max(ends[above], ends[i])
    return ends


def _answer_at(trace: Trace) -> int | None:
    if trace.answer is None:
        return None
    for i in range(len(trace.spans) - 1, -1, -1):
        span = trace.spans[i]
        if span.effective_role != "assistant":
            continue
        if trace.answer in (as_text(span.output), as_text(span.input)):
            return i
    return None


def _ancestors(spans: Sequence[Span], at: int | None) -> frozenset[int]:
    """Return the positions of the spans around a span."""
    if at is None:
        return frozenset()
    first: dict[str, int] = {}
    for i, span in enumerate(spans):
        first.setdefault(span.id, i)
    found: set[int] = set()
    parent = spans[at].parent_id
    while parent is not None and parent in first and first[parent] not in found:
        found.add(first[parent])
        parent = spans[first[parent]].parent_id
    return frozenset(found)


def _handed(data: Any) -> Any:
    """Return the data of a step, or None where it is the whole conversation so far."""
    return None if is_conversation(data) else data


# -- their values ---------------------------------------------------------------------


Held = Mapping[str, Slot]


@record(kw_only=True)
class _Reading:
    """What the nodes of a run are given and return, and the evidence in it.

    `sides` are (index of a node, whether it is what that returned, data); `held` are the
    values in each, `unread` the nodes whose data was too large.
    """

    drafts: Sequence[_Draft]
    sides: Sequence[tuple[int, bool, Any]]
    held: Mapping[tuple[int, bool], Held]
    unread: frozenset[int]


_KEPT: Final = "(flow)"  # No attribute of a trace can have that name.


def _read(drafts: Sequence[_Draft]) -> _Reading:
    """Read a run: first what is evidence, then who holds it."""
    known: set[str] = set()
    room = MAX_RUN
    unread: set[int] = set()
    sides: list[tuple[int, bool, Any]] = []
    for index, draft in enumerate(drafts):
        for returns, data in ((False, draft.given), (True, draft.returned)):
            if data is None:
                continue
            if room <= 0:
                unread.add(index)
                continue
            sides.append((index, returns, data))
            for _, text in scalars(data):
                if text is None:
                    unread.add(index)
                    continue
                room -= len(text)
                if draft.kind != "model":
                    known.update(marks(text, words_of(text), runs=returns))
    return _Reading(
        drafts=drafts,
        sides=sides,
        held=_who_holds(known, sides),
        unread=frozenset(unread),
    )


def _who_holds(
    known: Iterable[str], sides: Sequence[tuple[int, bool, Any]]
) -> dict[tuple[int, bool], Held]:
    finder = Finder(known)
    return {(index, returns): finder.find(data) for index, returns, data in sides}


def _nodes(
    reading: _Reading, dispatches: Names, asked: Sequence[tuple[str | None, str]]
) -> list[Node]:
    """Return the nodes with their values, those that were asked for among them."""
    drafts, held = reading.drafts, reading.held
    chosen = _chosen(drafts, asked)
    keys = {
        slot.key
        for by_path in chosen.values()
        for slots in by_path.values()
        for slot in slots
    }
    if keys:
        more = _who_holds(keys, reading.sides)
        held = {side: {**found, **held[side]} for side, found in more.items()}
    given_at = _given(drafts, held)
    nodes = []
    for index, draft in enumerate(drafts):
        consumes = held.get((index, False), {})
        produces = held.get((index, True), {})
        if draft.kind != "turn":
            produces = {
                key: slot
                for key, slot in produces.items()
                if key not in consumes and given_at.get(key, draft.at) >= draft.at
            }
        sends = draft.call is not None and dispatches.find(draft.name) is not None
        nodes.append(
            Node(
                index=index,
                kind="dispatch" if sends else draft.kind,
                name=draft.name,
                span_id=draft.span.id,
                result_span_id=draft.back,
                at=draft.at,
                until=draft.until,
                consumes=tuple(consumes.values()),
                produces=tuple(produces.values()),
                error=draft.error,
                chosen=chosen.get(index, {}),
                given=draft.given,
                returned=draft.returned,
                unread=index in reading.unread,
                call=draft.call,
            )
        )
    return nodes


def _chosen(
    drafts: Sequence[_Draft], asked: Sequence[tuple[str | None, str]]
) -> dict[int, dict[str, tuple[Slot, ...]]]:
    """Return the values at the paths that were asked for, by node and path."""
    names = Names([name for name, _ in asked if name is not None])
    paths: dict[str | None, dict[str, None]] = {}
    for name, path in asked:
        known = None if name is None else names.find(name)
        paths.setdefault(known, {})[path] = None
    found: dict[int, dict[str, tuple[Slot, ...]]] = {}
    for index, draft in enumerate(drafts if paths else ()):
        if draft.returned is None:
            continue
        known = names.find(draft.name)
        of_node = paths.get(None, {}) | ({} if known is None else paths[known])
        for path in of_node:
            slots = []
            for at, value in gather(as_data(draft.returned), path)[:MAX_PARTS]:
                slots += chosen_slots(value, at)
            found.setdefault(index, {})[path] = tuple(slots)
    return found


def _given(
    drafts: Sequence[_Draft], held: Mapping[tuple[int, bool], Held]
) -> dict[str, int]:
    """Return when each value was first said by a turn."""
    first: dict[str, int] = {}
    for index, draft in enumerate(drafts):
        if draft.kind == "turn":
            for key in held.get((index, True), ()):
                first.setdefault(key, draft.until)
    return first


# -- the edges ------------------------------------------------------------------------


def _edge_kind(target: Node) -> EdgeKind:
    return "handoff" if target.kind == "dispatch" else "threaded"


def _edges(nodes: Sequence[Node]) -> tuple[list[Edge], set[int]]:
    """Return the edges by (target, source), and the nodes of which something came."""
    events = [(node.at, 0, node.index) for node in nodes if node.consumes]
    events += [(node.until, 1, node.index) for node in nodes if node.produces]
    sources: dict[str, dict[str, tuple[int, Slot]]] = {}
    taken: dict[str, int] = {}
    drawn: dict[tuple[int, int], list[Slot]] = {}
    for at, produced, index in sorted(events):
        node = nodes[index]
        if produced:
            for slot in node.produces:
                of_value = sources.setdefault(slot.key, {})
                if node.name in of_value or len(of_value) < MAX_SOURCES:
                    of_value[node.name] = (index, slot)
            continue
        for slot in node.consumes:
            taken[slot.key] = at
            for source, given in sources.get(slot.key, {}).values():
                slots = drawn.setdefault((index, source), [])
                if len(slots) < MAX_SLOTS:
                    slots.append(given)
    edges = [
        Edge(source, target, _edge_kind(nodes[target]), tuple(slots))
        for (target, source), slots in sorted(drawn.items(), key=lambda one: one[0])
    ]
    reached = {
        node.index
        for node in nodes
        if any(taken.get(slot.key, -1) > node.until for slot in node.produces)
    }
    return edges, reached
