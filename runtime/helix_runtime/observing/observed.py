"""What many traces tell of their subject: tools, steps, models, usage, flow.

One pass; of everything a stranger names only so many names are kept, and what is beyond
is counted and said. A trace that did not record tool calls says nothing of tools.

The information flow (see `flow`) is looked at in MAX_GRAPHS traces at most: those whose
id has a hash that ends in enough zero bits, so the choice is even and does not depend
on the order of the traces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import fnv1a_64
from ..flow import graph_of
from ..record import field, record
from ..trace import Span, ToolCall, Trace
from .bounded import Counts, short_name
from .distribution import Distribution
from .sequences import tool_sequence

MAX_TOOLS: Final = 500
MAX_KEYS: Final = 50
MAX_SEQUENCES: Final = 5_000
MAX_NAMES: Final = 500
MAX_EDGES: Final = 5_000
MAX_GRAPHS: Final = 200

REVERSIBILITIES: Final = ("none", "reversible", "irreversible-external")
_SAMPLE_TEXT: Final = 400

# The scripts of letters, each up to a code point; what lies between is "other".
_SCRIPTS: Final = (
    (0x0250, "Latin"),
    (0x0370, "other"),
    (0x0400, "Greek"),
    (0x0530, "Cyrillic"),
    (0x0590, "Armenian"),
    (0x0600, "Hebrew"),
    (0x0780, "Arabic"),
    (0x0900, "other"),
    (0x0980, "Devanagari"),
    (0x0E00, "other"),
    (0x0E80, "Thai"),
    (0x10A0, "other"),
    (0x1100, "Georgian"),
    (0x1200, "Hangul"),
    (0x1E00, "other"),
    (0x1F00, "Latin"),
    (0x2000, "Greek"),
    (0x3040, "other"),
    (0x3100, "Kana"),
    (0x3400, "other"),
    (0xA000, "Han"),
    (0xAC00, "other"),
    (0xD7B0, "Hangul"),
    (0xF900, "other"),
    (0xFB00, "Han"),
)


@record(frozen=False, kw_only=True)
class ObservedTool:
    """What calls of one tool tell.

    `traces` are those that call it, `unrecorded` calls of which only the result was
    recorded. `keys` counts the arguments' keys. `said` are the words on reversibility
    that annotations of the trace give, with how often.
    """

    calls: int = 0
    traces: int = 0
    errors: int = 0
    unanswered: int = 0
    unrecorded: int = 0
    keys: Counts = field(default_factory=lambda: Counts(MAX_KEYS))
    said: dict[str, int] = field(default_factory=dict)


@record(frozen=False)
class Edges:
    """Where values went in some traces, `graphs` of them.

    `edges` counts traces with an edge (source, target, kind), `nodes` those with a node
    of a name, `unread` those with data too large to be read; `cut` edges found no room.
    """

    graphs: int = 0
    edges: dict[tuple[str, str, str], int] = field(default_factory=dict)
    nodes: Counts = field(default_factory=lambda: Counts(MAX_NAMES))
    unread: int = 0
    cut: int = 0

    def add(self, trace: Trace) -> None:
        """Take in the graph of a trace."""
        graph = graph_of(trace)
        self.graphs += 1
        self.unread += graph.unread
        names = [short_name(node.name) for node in graph.nodes]
        for name in sorted(set(names)):
            self.nodes.add(name)
        found = {(names[e.source], names[e.target], e.kind) for e in graph.edges}
        for edge in sorted(found):
            if edge in self.edges or len(self.edges) < MAX_EDGES:
                self.edges[edge] = self.edges.get(edge, 0) + 1
            else:
                self.cut += 1

    def join(self, other: Edges) -> None:
        """Add what another one counted."""
        self.graphs += other.graphs
        self.unread += other.unread
        self.cut += other.cut
        for edge, number in other.edges.items():
            self.edges[edge] = self.edges.get(edge, 0) + number
        for name, number in other.nodes.ranked():
            self.nodes.add(name, number)


class Observed:
    """Takes in traces one by one."""

    def __init__(self) -> None:
        self.traces = self.incomplete = self.flagged = 0
        self.with_tools = self.with_path = self.with_prompt = self.with_answer = 0
        self.tools: dict[str, ObservedTool] = {}
        self.tools_cut = 0
        self.sequences = Counts(MAX_SEQUENCES)
        self.transitions: dict[tuple[str, str], int] = {}
        self.transitions_cut = 0
        self.statuses = Counts(10)
        self.sources = Counts(MAX_NAMES)
        self.agents = Counts(MAX_NAMES)
        self.sub_agents = Counts(MAX_NAMES)
        self.models = Counts(MAX_NAMES)
        self.kinds = Counts(100)
        self.steps = Counts(MAX_NAMES)
        self.scripts = Counts(50)
        self.of = {name: Distribution() for name in FIGURES}
        self._level = 0
        self._edges: dict[int, Edges] = {}

    def add(self, trace: Trace) -> None:
        """Take in one trace."""
        self.traces += 1
        self.incomplete += trace.incomplete is not None
        self.flagged += trace.flagged_incomplete is not None
        self.with_path += "path" in trace.observed
        self.statuses.add(trace.status)
        self.sources.add(trace.source)
        if trace.agent_name is not None:
            self.agents.add(trace.agent_name)
        for model in trace.models:
            self.models.add(model)
        self._add_spans(trace)
        self._add_texts(trace)
        self._add_usage(trace)
        if "tools" in trace.observed:
            self._add_tools(trace)
            self._add_graph(trace)

    def edges(self) -> Edges:
        """Return where values went, over all traces that were looked at."""
        whole = Edges()
        for edges in self._edges.values():
            whole.join(edges)
        return whole

    def _add_spans(self, trace: Trace) -> None:
        kinds: dict[tuple[str, str], int] = {}
        agents = set()
        inside = _inside(trace.spans)
        for span in trace.spans:
            kind = (span.kind, span.role or "")
            kinds[kind] = kinds.get(kind, 0) + 1
            if span.kind == "agent" and span.id in inside:
                agents.add(span.name)
            if span.kind in ("span", "event", "retrieval") and span.role is None:
                self.steps.add(span.name)
        for (name, role), number in kinds.items():
            self.kinds.add(f"{name} ({role})" if role else name, number)
        for agent in sorted(agents):
            self.sub_agents.add(agent)

    def _add_texts(self, trace: Trace) -> None:
        turns = {"user": 0, "assistant": 0}
        for message in trace.transcript:
            if message.role in turns:
                turns[message.role] += 1
        self.of["userTurns"].add(turns["user"])
        self.of["assistantTurns"].add(turns["assistant"])
        prompt, answer = trace.prompt, trace.answer
        if prompt is not None:
            self.with_prompt += 1
            self.of["promptCharacters"].add(len(prompt))
            self.scripts.add(script_of(prompt))
        if answer is not None:
            self.with_answer += 1
            self.of["answerCharacters"].add(len(answer))

    def _add_usage(self, trace: Trace) -> None:
        usage = trace.usage
        self.of["inputTokens"].add(usage.input_tokens)
        self.of["outputTokens"].add(usage.output_tokens)
        self.of["totalTokens"].add(usage.total_tokens)
        self.of["costUsd"].add(usage.cost_usd)
        self.of["latencyMs"].add(usage.latency_ms)

    # -- tools and flow ----------------------------------------------------------------

    def _add_tools(self, trace: Trace) -> None:
        self.with_tools += 1
        self.of["toolCalls"].add(len(trace.tool_calls))
        self.sequences.add(tool_sequence(trace))
        spans = {span.id: span for span in trace.spans}
        met = set()
        for call in trace.tool_calls:
            name = short_name(call.name)
            tool = self.tools.get(name)
            if tool is None:
                if len(self.tools) >= MAX_TOOLS:
                    self.tools_cut += 1
                    continue
                tool = self.tools[name] = ObservedTool()
            if name not in met:
                met.add(name)
                tool.traces += 1
            _add_call(tool, call, spans)
        self._add_transitions([short_name(call.name) for call in trace.tool_calls])

    def _add_transitions(self, names: Sequence[str]) -> None:
        pairs = {(a, b) for a, b in zip(names, names[1:], strict=False) if a != b}
        for pair in sorted(pairs):
            if pair in self.transitions or len(self.transitions) < MAX_EDGES:
                self.transitions[pair] = self.transitions.get(pair, 0) + 1
            else:
                self.transitions_cut += 1

    def _add_graph(self, trace: Trace) -> None:
        level = _zeros(trace.id)
        if level < self._level:
            return
        edges = self._edges.setdefault(level, Edges())
        if edges.graphs >= MAX_GRAPHS:
            return  # thousands of traces of one id
        edges.add(trace)
        while (
            sum(one.graphs for one in self._edges.values()) > MAX_GRAPHS
            and len(self._edges) > 1
        ):
            self._edges.pop(self._level, None)
            self._level += 1


FIGURES: Final = (
    "userTurns",
    "assistantTurns",
    "toolCalls",
    "promptCharacters",
    "answerCharacters",
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "costUsd",
    "latencyMs",
)
"""What is counted of each trace, and how its numbers lie."""


def _zeros(trace_id: str) -> int:
    """Return in how many zero bits the hash of an id ends."""
    number = int(fnv1a_64(trace_id.encode("utf-8", "surrogatepass")), 16)
    return (number & -number).bit_length() - 1 if number else 64


def _inside(spans: Sequence[Span]) -> set[str]:
    """Return the ids of the spans that lie inside an agent's or a tool's.

    Each span is looked at once, however deep they lie; a circle of parents is outside.
    """
    by_id = {span.id: span for span in spans}
    holds: dict[str, bool] = {}
    for span in spans:
        path = []
        at: str | None = span.id
        found = False
        while at is not None and at in by_id:
            if at in holds:
                found = holds[at]
                break
            holds[at] = False
            path.append(at)
            at = by_id[at].parent_id
        for name in reversed(path):
            # Whether it is one of the two, or inside one.
            found = found or by_id[name].kind in ("agent", "tool")
            holds[name] = found
    return {
        span.id
        for span in spans
        if span.parent_id is not None
        and span.parent_id != span.id
        and holds.get(span.parent_id, False)
    }


def _add_call(tool: ObservedTool, call: ToolCall, spans: Mapping[str, Span]) -> None:
    tool.calls += 1
    tool.errors += call.error
    tool.unanswered += not call.answered
    tool.unrecorded += not call.known
    if isinstance(call.arguments, Mapping):
        for key in call.arguments:
            tool.keys.add(str(key))
    for span_id in (call.span_id, call.result_span_id or call.span_id):
        span = spans.get(span_id)
        word = None if span is None else annotated(span.extra)
        if word is not None:
            tool.said[word] = tool.said.get(word, 0) + 1
            return


def annotated(data: Any) -> str | None:
    """Return the word on reversibility that annotations of a call give, or None.

    It is `reversibility` (one of REVERSIBILITIES), or MCP's `readOnlyHint: true`, which
    is `none`: such a tool changes nothing. MCP's other hints (`destructiveHint`) do not
    say whether an effect can be taken back. They are looked for in the data itself, in
    `annotations`, `metadata` and `metadata.annotations`.
    """
    if not isinstance(data, Mapping):
        return None
    metadata = data.get("metadata")
    inner = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    for block in (data, data.get("annotations"), metadata, inner):
        if isinstance(block, Mapping):
            word = block.get("reversibility")
            if isinstance(word, str) and word in REVERSIBILITIES:
                return word
            if block.get("readOnlyHint") is True:
                return "none"
    return None


def script_of(text: str) -> str:
    """Return the script that most letters at the beginning of a text are of."""
    found: dict[str, int] = {}
    for character in text[:_SAMPLE_TEXT]:
        if character.isalpha():
            script = _script(ord(character))
            found[script] = found.get(script, 0) + 1
    return max(found, key=lambda name: (found[name], name)) if found else "no letters"


def _script(code: int) -> str:
    return next((name for end, name in _SCRIPTS if code < end), "other")
