"""Checks of the flow of information: what a step gave, and where it went.

The graph is that of `flow` in the runtime, and `values` beside it says what counts as
evidence. Steps are tools, sub-agents and other spans, by name; `answer` is
the run's answer, `prompt` what the run was given. A value that is no evidence by itself
(a small number, a plain word) is looked for where its path is named. A result that holds
nothing to look for can't be traced, and is never taken for a lost one.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ..case import Case
from ..flow import (
    ANSWER,
    Edge,
    FlowGraph,
    Node,
    edge_to,
    first_producers,
    graph_of,
    links,
)
from ..record import field, record
from ..trace import Trace
from ..values import Finder, Slot, chosen_slots
from ..verdict import Ref, Verdict, failed, not_applicable, passed, uncertain
from .arguments import name_fault, names_fault, primitive
from .calls import unknown_arguments, unknown_result
from .flow_edges import (
    Expected,
    edges_fault,
    hidden_data,
    other_edges,
    path_fault,
    source_fault,
    target_fault,
    why_missing,
)
from .flow_nodes import (
    RESULTS,
    at_text,
    called,
    edge_refs,
    gave,
    given_ref,
    giving_nodes,
    is_hidden,
    nothing_to_find,
    remedy,
    returned_ref,
    slot_ref,
    slots_text,
    taking_nodes,
    unseen_step,
    values_at,
)
from .names import Names
from .paths import (
    as_data,
    counted,
    gather,
    is_empty,
    listed,
    parsed,
    shown,
    unobserved,
)

_CASE: Final = "case"


def _path_or_none_fault(path: Any) -> str | None:
    return None if path is None else path_fault(path)


def _paths_fault(paths: Any) -> str | None:
    return next(
        (f"item {at} {path_fault(p)}" for at, p in enumerate(paths) if path_fault(p)),
        None,
    )


def _some_paths_fault(paths: Any) -> str | None:
    return _paths_fault(paths) if paths else "must name at least one path"


# -- from one step to another -----------------------------------------------------------


@primitive(source=source_fault, target=target_fault, value=_path_or_none_fault)
def threaded(
    case: Case,
    trace: Trace,
    *,
    source: str,
    target: str = "answer",
    value: str | None = None,
    argument: str = "",
    calls: Literal["every", "some"] = "every",
) -> Verdict:
    """Pass where every (or some) call of `target` takes up what `source` returned.

    `value` is the path in the result of `source` of what must be taken up, and
    `argument` the path in the arguments of `target`, or in the answer's data, where it
    must stand; without them any value counts, anywhere. Only results that had come
    back by then do. `na` where `target` was never called, or where the answer is asked
    for and `source` gave no result. The measured value is the share of calls.
    """
    graph = graph_of(trace, values=[] if value is None else [(source, value)])
    sources, targets = giving_nodes(graph, source), taking_nodes(graph, target)
    abstention = unseen_step(trace, source, sources) or unseen_step(
        trace, target, targets
    )
    if abstention is not None:
        return abstention
    if not targets:
        if target == ANSWER:
            return failed("The run gave no answer.")
        return not_applicable(f"The run never called {shown(target)}.")
    done = [node for node in sources if gave(node)]
    if target == ANSWER and not done and not any(map(is_hidden, sources)):
        return not_applicable(f"{shown(source)} gave no result in this run.")
    abstention = unknown_arguments([node.call for node in targets if node.call])
    if abstention is not None:
        return abstention
    taken = _taken_up(
        targets, sources, done, source=source, value=value, argument=argument
    )
    return _threaded_verdict(trace, graph, taken, source=source, calls=calls)


@record(frozen=False)
class _TakenUp:
    """What became of each call: the edge to it, or why there may be, or is, none."""

    linked: list[Edge] = field(default_factory=list)
    unsure: list[tuple[Node, str]] = field(default_factory=list)
    broken: list[tuple[Node, str]] = field(default_factory=list)
    done: Sequence[Node] = ()


def _taken_up(
    targets: Sequence[Node],
    sources: Sequence[Node],
    done: Sequence[Node],
    *,
    source: str,
    value: str | None,
    argument: str,
) -> _TakenUp:
    """Look in each target for what `done`, the sources with a result, returned."""
    found = _TakenUp(done=done)
    first = first_producers(done, path=value)
    asked = _first(node.at for node in sources if is_hidden(node))
    given = _first(node.until for node in done)
    telling = _first(node.until for node in done if values_at(node, value))
    unread = any(node.unread for node in done)
    finder = Finder(first)
    for node in targets:
        held: Iterable[Slot] = node.consumes
        if argument:
            data = parsed(node.given) if node.call else as_data(node.given)
            there = [at for _, at in gather(data, argument)]
            held = finder.find(there).values()
        edge = edge_to(node, held, first)
        if edge is not None:
            found.linked.append(edge)
        elif asked < node.at:
            found.unsure.append((node, f"no result of {shown(source)} is recorded"))
        elif given > node.at:
            why = f"{shown(source)} had given no result by then"
            found.broken.append((node, why))
        elif telling > node.at:
            found.unsure.append((node, nothing_to_find(source, value)))
        elif node.unread or unread:
            found.unsure.append((node, "the data is too large to be read whole"))
        else:
            why = f"it holds nothing of it{at_text(argument)}"
            found.broken.append((node, why))
    return found


def _threaded_verdict(
    trace: Trace, graph: FlowGraph, found: _TakenUp, *, source: str, calls: str
) -> Verdict:
    linked, unsure, broken = found.linked, found.unsure, found.broken
    share = len(linked) / (len(linked) + len(unsure) + len(broken))
    if not (unsure or broken) or (calls == "some" and linked):
        words = called(graph.nodes[linked[0].target])
        more = f", and {len(linked) - 1} more" if len(linked) > 1 else ""
        return passed(
            f"{words} takes up {slots_text(linked[0])} from {shown(source)}{more}.",
            *(one for edge in linked for one in edge_refs(graph, edge)),
            value=share,
        )
    if broken and (calls == "every" or not unsure):
        node, why = broken[0]
        return failed(
            f"{called(node)} does not take up what {shown(source)} returned: {why}.",
            *(given_ref(trace, one) for one, _ in broken),
            *(returned_ref(one) for one in found.done[:2]),
            value=share,
        )
    node, why = unsure[0]
    return uncertain(
        f"{called(node)} may take up what {shown(source)} returned or not: {why}.",
        given_ref(trace, node),
        text=remedy(why, source),
    )


_NEVER: Final = 1 << 62


def _first(times: Iterable[int]) -> int:
    return min(times, default=_NEVER)


# -- what was lost ----------------------------------------------------------------------


@primitive(names=names_fault, values=_paths_fault)
def no_dropped(
    case: Case,
    trace: Trace,
    *,
    names: Sequence[str] = (),
    values: Sequence[str] = (),
) -> Verdict:
    """Pass where every result is taken up by a later step or by the answer.

    Of the calls of some tools, sub-agents or steps, or of all tools and sub-agents.
    One value of a result is enough; with `values`, paths in the result, one of each
    path that stands in it. Results that hold no value that could be recognized, and
    errors, do not count. `na` where there is no result. The measured value is the
    share of results that are taken up.
    """
    graph = graph_of(
        trace, values=[(name, path) for name in names or (None,) for path in values]
    )
    found = _giving(graph, names)
    if not any(node.kind == "step" for node in found):
        abstention = unobserved(trace, "tools")
        if abstention is not None:
            return abstention
    done = [node for node in found if gave(node)]
    # Of steps and sub-agents, to give nothing may be all that there is to record.
    hidden = [node.call for node in found if node.call is not None and is_hidden(node)]
    if not done and not hidden:
        what = f" of {listed(list(names))}" if names else ""
        return not_applicable(f"The run has no result{what}.")
    used, lost = _used_and_lost(done, values, graph)
    number = len(used) + len(lost)
    if hidden and not lost:
        return unknown_result(hidden)
    if not number:
        return uncertain(
            f"None of {counted(len(done), 'result')} holds a value that could be "
            "recognized later.",
            *(returned_ref(node) for node in done),
            text="name with `values` the paths of what must be taken up",
        )
    share = len(used) / number
    if not lost:
        skipped = counted(len(done) - number, "result")
        rest = "" if len(done) == number else f"; {skipped} with nothing to look for"
        return passed(
            f"{counted(number, 'result')}, each taken up later{rest}.",
            *(returned_ref(node) for node in used),
            value=share,
        )
    return _dropped(trace, graph, lost, share, of=number)


def _giving(graph: FlowGraph, names: Sequence[str]) -> list[Node]:
    """Return the nodes of some names that may give a result; of tools without names."""
    if not names:
        return [node for node in graph.nodes if node.kind in ("tool", "dispatch")]
    known = Names(names)
    return [
        node
        for node in graph.nodes
        if node.kind in RESULTS and known.find(node.name) is not None
    ]


def _used_and_lost(
    done: Iterable[Node], paths: Sequence[str], graph: FlowGraph
) -> tuple[list[Node], list[tuple[Node, str]]]:
    """Return the results that are taken up, and those that are not, with what of them.

    Results with nothing to look for are in neither.
    """
    taken = _taken(graph)
    used: list[Node] = []
    lost: list[tuple[Node, str]] = []
    for node in done:
        missing, looked = _not_taken(node, paths, taken)
        if missing is not None:
            lost.append((node, missing))
        elif looked:
            used.append(node)
    return used, lost


def _dropped(
    trace: Trace,
    graph: FlowGraph,
    lost: Sequence[tuple[Node, str]],
    share: float,
    *,
    of: int,
) -> Verdict:
    """Return the verdict on results that nothing seen takes up; uncertain where not all is.

    `of` is how many results could be looked for.
    """
    refs = [returned_ref(node) for node, _ in lost]
    node, what = lost[0]
    if not unobserved(trace, "output") and not graph.unread:
        return failed(
            f"{len(lost)} of {counted(of, 'result')} taken up by nothing: "
            f"{what} of {shown(node.name)}.",
            *refs,
            value=share,
        )
    return uncertain(
        f"{len(lost)} of {counted(of, 'result')} may be taken up by nothing: not "
        "all of the run's data can be seen.",
        *refs,
        text=(
            "record smaller data in the trace, or decide this by hand"
            if graph.unread
            else "record output in the trace"
        ),
    )


def _taken(graph: FlowGraph) -> dict[str, int]:
    """Return when each value was taken up last."""
    taken: dict[str, int] = {}
    for node in graph.nodes:
        for slot in node.consumes:
            taken[slot.key] = max(taken.get(slot.key, -1), node.at)
    return taken


def _not_taken(
    node: Node, paths: Sequence[str], taken: Mapping[str, int]
) -> tuple[str | None, bool]:
    """Return what of a result is not taken up, if anything, and whether one could look."""
    groups = [(path, node.chosen.get(path, ())) for path in paths]
    if not paths:
        groups = [("", node.produces)]
    looked = False
    for path, slots in groups:
        if not slots:
            continue
        looked = True
        if not any(taken.get(slot.key, -1) > node.until for slot in slots):
            first = shown(slots[0].value)
            return (f"`{path}` ({first})" if path else f"{first}, or more,"), True
    return None, looked


# -- what a sub-agent is told -----------------------------------------------------------


@primitive(
    to=name_fault, source=name_fault, through=names_fault, values=_some_paths_fault
)
def handoff(
    case: Case,
    trace: Trace,
    *,
    to: str,
    values: Sequence[str],
    source: str = "case",
    through: Sequence[str] = (),
) -> Verdict:
    """Pass where every dispatch of a sub-agent is told the values that it needs.

    `to` is the sub-agent: a span of the kind `agent`, or the tool that calls it;
    `through` are tools that dispatch whichever sub-agent their arguments name. `values`
    are paths in the case's `input`, or in the newest result of `source` before the
    dispatch; each that stands there must stand whole in what the sub-agent is given.
    `na` where it is never dispatched, or there is nothing to tell. The measured value
    is the share of values that are told.
    """
    graph = graph_of(trace, dispatches=[to, *through])
    sent = _dispatches(graph, to, through)
    if not any(node.kind == "dispatch" and node.call is None for node in sent):
        abstention = unobserved(trace, "tools")
        if abstention is not None:
            return abstention
    if not sent:
        return not_applicable(f"The run never dispatched {shown(to)}.")
    abstention = unknown_arguments([node.call for node in sent if node.call])
    if abstention is not None:
        return abstention
    sources = [] if source == _CASE else giving_nodes(graph, source)
    if source != _CASE:
        abstention = unseen_step(trace, source, sources)
        if abstention is not None:
            return abstention
    handed = _handed(trace, sent, values, _wanted_of(case, source, sources))
    return _handoff_verdict(trace, handed, to=to, source=source, values=values)


# What a dispatch should be told; `_UNRECORDED` where nobody knows.
_Wanted = Callable[[Node], Any]
_UNRECORDED: Final = object()


def _wanted_of(case: Case, source: str, sources: Sequence[Node]) -> _Wanted:
    """Return what says of a dispatch where its values stand: the newest result."""
    if source == _CASE:
        return lambda node: case.input
    asked = _first(node.at for node in sources if is_hidden(node))
    done = sorted((n for n in sources if gave(n)), key=lambda node: node.until)
    times = [node.until for node in done]

    def newest(node: Node) -> Any:
        if asked < node.at:
            return _UNRECORDED
        at = bisect_left(times, node.at) - 1
        return done[at].returned if at >= 0 else None

    return newest


@record(frozen=False)
class _Handed:
    """Of what dispatches should be told: what they are, are not, and may be."""

    told: list[Ref] = field(default_factory=list)
    untold: list[tuple[Node, str, Any]] = field(default_factory=list)
    unseen: list[tuple[Node, str, Any]] = field(default_factory=list)
    unclear: Node | None = None


def _handed(
    trace: Trace, sent: Iterable[Node], values: Sequence[str], wanted: _Wanted
) -> _Handed:
    found = _Handed()
    for node in sent:
        data = wanted(node)
        if data is _UNRECORDED:
            found.unclear = found.unclear or node
            continue
        data = as_data(data)
        for at, value in (pair for path in values for pair in gather(data, path)):
            slots = chosen_slots(value, at)
            if not slots:
                # A bool, or signs alone: nobody could tell it in what is told.
                if not is_empty(value):
                    found.unseen.append((node, at, value))
                continue
            keys = [slot.key for slot in slots]
            held = Finder(keys).find(node.given)
            if all(key in held for key in keys):
                found.told.append(slot_ref(node, held[keys[0]]))
            elif node.unread:
                found.unclear = found.unclear or node
            else:
                found.untold.append((node, at, value))
    return found


def _handoff_verdict(
    trace: Trace, found: _Handed, *, to: str, source: str, values: Sequence[str]
) -> Verdict:
    told, untold, unclear = found.told, found.untold, found.unclear
    number = len(told) + len(untold)
    share = len(told) / number if number else None
    origin = "the case" if source == _CASE else shown(source)
    if untold:
        node, at, value = untold[0]
        more = f", and {len(untold) - 1} more" if len(untold) > 1 else ""
        return failed(
            f"{called(node)} is not told `{at}` of {origin} ({shown(value)}){more}.",
            *(given_ref(trace, one) for one, _, _ in untold),
            value=share,
        )
    if found.unseen:
        node, at, value = found.unseen[0]
        return uncertain(
            f"{called(node)} may be told `{at}` ({shown(value)}) or not: nothing in it "
            "can be looked for.",
            given_ref(trace, node),
            text=f"leave `{at}` out of `values` and decide it by tools.arguments",
        )
    if unclear is not None:
        return uncertain(
            f"{called(unclear)} can't be compared: not all of what it should be told, "
            "or is told, is recorded.",
            given_ref(trace, unclear),
            text="record the results of calls, and smaller data, in the trace",
        )
    if not told:
        return not_applicable(f"Nothing stands at {listed(list(values))} of {origin}.")
    return passed(
        f"{shown(to)} is told {counted(len(told), 'value')} that it needs.",
        *told,
        value=share,
    )


def _dispatches(graph: FlowGraph, to: str, through: Sequence[str]) -> list[Node]:
    """Return the dispatches of a sub-agent: by its name, or by an argument that names it."""
    one, carriers = Names([to]), Names(through)
    found = []
    for node in graph.nodes:
        if node.kind != "dispatch":
            continue
        if one.find(node.name) is not None:
            found.append(node)
        elif carriers.find(node.name) is not None:
            given = parsed(node.given)
            named = given.values() if isinstance(given, Mapping) else (given,)
            if any(isinstance(text, str) and one.find(text) for text in named):
                found.append(node)
    return found


# -- the whole flow ---------------------------------------------------------------------


@primitive(edges=edges_fault, dispatches=names_fault)
def matches(
    case: Case,
    trace: Trace,
    *,
    edges: Sequence[Mapping[str, Any]],
    dispatches: Sequence[str] = (),
    extra: Literal["allowed", "refused"] = "allowed",
) -> Verdict:
    """Pass where information flows as expected: each of `edges` is there.

    An edge is `{from: name, to: name}`: a value that `from` returned stands in what
    `to` is given; with `value` one at that path, with `kind` only a `threaded` one or a
    `handoff` (to a sub-agent; `dispatches` are tools that send one). With `extra:
    refused` there is no other edge between tools, sub-agents, steps and the answer.
    `na` where the run has none of the sources. The measured value is the share of
    edges that are there.
    """
    wanted = [
        Expected(
            source=edge["from"],
            target=edge["to"],
            value=edge.get("value"),
            kind=edge.get("kind"),
        )
        for edge in edges
    ]
    graph = graph_of(
        trace,
        dispatches=dispatches,
        values=[(one.source, one.value) for one in wanted if one.value is not None],
    )
    giving = {one.source: giving_nodes(graph, one.source) for one in wanted}
    taking = {one.target: taking_nodes(graph, one.target) for one in wanted}
    for name, nodes in (*giving.items(), *taking.items()):
        abstention = unseen_step(trace, name, nodes)
        if abstention is not None:
            return abstention
    givers = [node for nodes in giving.values() for node in nodes]
    if not any(map(gave, givers)):
        if any(map(is_hidden, givers)):
            return uncertain(
                "It can't be told whether information flows as expected: no result of "
                f"{listed(list(giving))} is recorded.",
                text="record the results of calls in the trace",
            )
        return not_applicable(f"The run has no result of {listed(list(giving))}.")
    found = _edges_found(wanted, giving, taking)
    others = other_edges(graph, wanted) if extra == "refused" else []
    if found.missing or others:
        return _other_flow(graph, found, others, giving)
    refs = [one for edge in found.there for one in edge_refs(graph, edge)]
    hidden = hidden_data(graph) if extra == "refused" else None
    if hidden is not None:
        return uncertain(
            "The run may hold an edge that is not expected: not all of its data can be "
            f"seen ({hidden}).",
            *refs,
            text="record calls with their results, and smaller data, in the trace",
        )
    if found.unsure:
        one, why = found.unsure[0]
        return uncertain(
            f"It can't be told whether information flows {one}: {why}.",
            *refs,
            text=remedy(why, one.source),
        )
    return passed(
        f"Information flows as expected: {', '.join(str(one) for one in wanted[:5])}.",
        *refs,
        value=found.share,
    )


@record(frozen=False)
class _EdgesFound:
    """Of the expected edges: what is there, what is missing, and what may be either."""

    there: list[Edge] = field(default_factory=list)
    missing: list[tuple[Expected, str]] = field(default_factory=list)
    unsure: list[tuple[Expected, str]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of edges that are there."""
        there = len(self.there)
        return there / (there + len(self.missing) + len(self.unsure))


def _edges_found(
    wanted: Iterable[Expected],
    giving: Mapping[str, Sequence[Node]],
    taking: Mapping[str, Sequence[Node]],
) -> _EdgesFound:
    found = _EdgesFound()
    for one in wanted:
        targets = taking[one.target]
        if one.kind is not None:
            hands = one.kind == "handoff"
            targets = [n for n in targets if (n.kind == "dispatch") == hands]
        done = [node for node in giving[one.source] if gave(node)]
        edges = links(done, targets, path=one.value)
        if edges:
            found.there.append(edges[0])
            continue
        sure, why = why_missing(one, giving[one.source], targets)
        (found.missing if sure else found.unsure).append((one, why))
    return found


def _other_flow(
    graph: FlowGraph,
    found: _EdgesFound,
    others: Sequence[Edge],
    giving: Mapping[str, Sequence[Node]],
) -> Verdict:
    """Return the fail that says which edges are missing, or are there and should not."""
    missing = found.missing
    said = [f"{one}: {why}" for one, why in missing[:3]]
    if len(missing) > 3:
        said.append(f"{len(missing) - 3} more missing")
    cited = [
        returned_ref(node) for one, _ in missing for node in giving[one.source][-1:]
    ]
    for edge in others:
        cited += edge_refs(graph, edge)
    if others:
        names = [
            f"{graph.nodes[e.source].name} → {graph.nodes[e.target].name}"
            for e in others
        ]
        said.append(f"not expected: {', '.join(list(dict.fromkeys(names))[:3])}")
    return failed(
        f"Information does not flow as expected: {'; '.join(said)}.",
        *cited,
        value=found.share,
    )
