"""The profile of a subject: what its spec says, what its traces show, and what neither
does.

Each fact says where it is from: `given` by the spec, `observed` in traces (with how
often), `inferred` from what was observed, or `unknown`. Nothing is guessed from a name:
a tool `get_order` may well have effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..checks.names import Names
from ..flow import MODEL, PROMPT
from ..record import record
from ..suite import Subject, Tool
from .bounded import Counts
from .observed import (
    MAX_EDGES,
    MAX_GRAPHS,
    MAX_KEYS,
    MAX_NAMES,
    MAX_SEQUENCES,
    MAX_TOOLS,
    REVERSIBILITIES,
    Edges,
    Observed,
)

SCHEMA: Final = "helix-profile/1"
USUAL: Final = 0.5
"""An edge is expected where at least this share of the traces have it."""
LISTED: Final = 50
"""How many sequences and edges a profile lists, the most frequent first."""

GIVEN: Final = "given"
OBSERVED: Final = "observed"
INFERRED: Final = "inferred"
UNKNOWN: Final = "unknown"


@record(kw_only=True)
class Input:
    """What was read: the traces' formats, how many lines could not be, how many belong
    to a case."""

    formats: Mapping[str, int]
    skipped: int = 0
    matched: int = 0


def fact(value: Any, source: str, **more: Any) -> dict[str, Any]:
    """Return a fact as plain data, with where it is from."""
    return {"value": value, "from": source, **more}


def profile_record(
    subject: Subject, declared: Sequence[str], observed: Observed, read: Input
) -> dict[str, Any]:
    """Return the profile as plain data.

    `declared` are the names that the spec knows tools by: each tool's, and behind it
    those of its operations.
    """
    edges = observed.edges()
    matched = _Matched(subject.tools, declared, observed)
    tools = list(matched.tools())
    return {
        "schema": SCHEMA,
        "subject": _subject(subject, observed),
        "traces": _traces(observed, read),
        "tools": tools,
        "kinds": _counts(observed.kinds),
        "steps": _counts(observed.steps),
        "models": _counts(observed.models),
        "agents": _counts(observed.agents),
        "subAgents": _counts(observed.sub_agents),
        "figures": {
            name: {**one.to_record(), "from": OBSERVED if one.count else UNKNOWN}
            for name, one in observed.of.items()
        },
        "scripts": _counts(observed.scripts, source=INFERRED),
        "flow": _flow(observed, edges),
        "expectedFlow": expected_flow(edges),
        "contradictions": matched.contradictions(),
        "unknown": _unknown(observed, tools),
        "cut": _cut(observed, edges),
    }


# -- parts -----------------------------------------------------------------------------


def _subject(subject: Subject, observed: Observed) -> dict[str, Any]:
    profile = subject.profile()
    told: dict[str, Any] = {"id": fact(subject.id, GIVEN)}
    for key in (
        "identity",
        "entityType",
        "purpose",
        "scope",
        "harness",
        "systemPrompt",
        "version",
    ):
        value = profile[key]
        told[key] = fact(value, UNKNOWN if value in ("", UNKNOWN) else GIVEN)
    sources = observed.sources.ranked()
    if told["harness"]["from"] == UNKNOWN and len(sources) == 1:
        # The platform that recorded all traces; it need not be what ran the subject.
        name, number = sources[0]
        told["harness"] = fact(name, INFERRED, traces=number)
    return told


def _traces(observed: Observed, read: Input) -> dict[str, Any]:
    return {
        "from": OBSERVED,
        "read": observed.traces,
        "formats": dict(read.formats),
        "sources": dict(observed.sources.ranked()),
        "statuses": dict(observed.statuses.ranked()),
        "ofCases": read.matched,
        "incomplete": observed.incomplete,
        "flagged": observed.flagged,
        "withPrompt": observed.with_prompt,
        "withAnswer": observed.with_answer,
        "withToolCallsRecorded": observed.with_tools,
        "withStepsRecorded": observed.with_path,
        "skippedLines": read.skipped,
    }


def _counts(counts: Counts, *, source: str = OBSERVED) -> list[dict[str, Any]]:
    return [
        {"name": name, "count": number, "from": source}
        for name, number in counts.ranked()
    ]


class _Matched:
    """The tools of the spec and those of the traces, brought together by their names."""

    def __init__(
        self, given: Sequence[Tool], declared: Sequence[str], observed: Observed
    ) -> None:
        self._given = given
        self._observed = observed
        self._owner = _owners(given, declared)
        known = Names(self._owner)
        self._of: dict[str, list[str]] = {tool.name: [] for tool in given}
        self._strange: list[str] = []
        for name in sorted(observed.tools):
            found = known.find(name)
            if found is None:
                self._strange.append(name)
            else:
                self._of.setdefault(self._owner[found], []).append(name)

    def tools(self) -> Iterator[dict[str, Any]]:
        """Yield the spec's tools in its order, then the others by their calls."""
        for tool in self._given:
            names = self._of[tool.name]
            yield {
                "name": tool.name,
                "from": GIVEN,
                "declared": True,
                "description": tool.description,
                "outbound": tool.outbound,
                "reversibility": self._reversibility(tool.reversibility, names),
                "observed": [self._calls(name) for name in names],
            }
        others = [n for names in self._of.values() for n in names]
        own = {n for tool in self._given for n in self._of[tool.name]}
        for name in self._ranked([n for n in others if n not in own]):
            yield self._other(name, declared=True)
        for name in self._ranked(self._strange):
            yield self._other(name, declared=False)

    def _other(self, name: str, *, declared: bool) -> dict[str, Any]:
        return {
            "name": name,
            "from": OBSERVED,
            "declared": declared,
            "reversibility": self._reversibility(UNKNOWN, [name]),
            "observed": [self._calls(name)],
        }

    def _ranked(self, names: Sequence[str]) -> list[str]:
        tools = self._observed.tools
        return sorted(names, key=lambda name: (-tools[name].calls, name))

    def _calls(self, name: str) -> dict[str, Any]:
        tool = self._observed.tools[name]
        keys = tool.keys.ranked()
        return {
            "name": name,
            "calls": tool.calls,
            "traces": tool.traces,
            "errors": tool.errors,
            "errorRate": round(tool.errors / tool.calls, 6),
            "unanswered": tool.unanswered,
            "argumentsNotRecorded": tool.unrecorded,
            "arguments": [{"key": key, "calls": number} for key, number in keys],
        }

    def _reversibility(self, given: str, names: Sequence[str]) -> dict[str, Any]:
        said: dict[str, int] = {}
        for name in names:
            for word, number in self._observed.tools[name].said.items():
                said[word] = said.get(word, 0) + number
        if given != UNKNOWN:
            return fact(given, GIVEN)
        if len(said) == 1:
            ((word, number),) = said.items()
            return fact(word, OBSERVED, calls=number)
        if said:
            counts = {word: said[word] for word in REVERSIBILITIES if word in said}
            return fact(UNKNOWN, UNKNOWN, annotations=counts)
        return fact(UNKNOWN, UNKNOWN)

    def contradictions(self) -> list[dict[str, Any]]:
        """Return what the spec says and the traces do not show, and the other way."""
        found: list[dict[str, Any]] = []
        tools = self._observed.tools
        for name in self._ranked(self._strange):
            found.append(
                {
                    "kind": "called-not-declared",
                    "tool": name,
                    "calls": tools[name].calls,
                    "traces": tools[name].traces,
                }
            )
        for tool in self._given:
            names = self._of[tool.name]
            if not names and self._observed.with_tools:
                found.append(
                    {
                        "kind": "declared-never-called",
                        "tool": tool.name,
                        "ofTraces": self._observed.with_tools,
                    }
                )
            said = {word for name in names for word in tools[name].said}
            if tool.reversibility != UNKNOWN and said - {tool.reversibility}:
                found.append(
                    {
                        "kind": "reversibility-differs",
                        "tool": tool.name,
                        "given": tool.reversibility,
                        "observed": sorted(said),
                    }
                )
        return found


def _owners(given: Sequence[Tool], declared: Sequence[str]) -> dict[str, str]:
    """Return, for each declared name, the tool that it belongs to.

    An operation stands behind its tool; one that stands before any is its own.
    """
    names = {tool.name for tool in given}
    owners = {name: name for name in names}
    owner: str | None = None
    for name in declared:
        if name in names:
            owner = name
        owners.setdefault(name, owner or name)
    return owners


# -- flow ------------------------------------------------------------------------------


def _flow(observed: Observed, edges: Edges) -> dict[str, Any]:
    ranked = observed.sequences.ranked()
    total = observed.with_tools
    sequences = [
        {"sequence": text, "traces": number, "share": round(number / total, 6)}
        for text, number in ranked[:LISTED]
    ]
    followed = sorted(observed.transitions.items(), key=lambda e: (-e[1], e[0]))
    return {
        "from": OBSERVED if total else UNKNOWN,
        "traces": total,
        "modal": sequences[0] if sequences else None,
        "asFrequent": sum(1 for _, number in ranked if number == ranked[0][1]),
        "sequences": sequences,
        "differentSequences": len(ranked),
        "transitions": [
            {
                "from": before,
                "to": after,
                "traces": number,
                "share": round(number / observed.tools[after].traces, 6),
            }
            for (before, after), number in followed[:LISTED]
            if after in observed.tools
        ],
        "edgesReadIn": edges.graphs,
        "edges": [
            {
                "from": source,
                "to": target,
                "kind": kind,
                "traces": number,
                "share": round(_share(edges, source, target, number), 6),
            }
            for (source, target, kind), number in _ranked_edges(edges)[:LISTED]
        ],
    }


def _ranked_edges(edges: Edges) -> list[tuple[tuple[str, str, str], int]]:
    return sorted(edges.edges.items(), key=lambda entry: (-entry[1], entry[0]))


def _share(edges: Edges, source: str, target: str, number: int) -> float:
    """Return in which part of the traces with one of its ends an edge is there.

    Of the two ends the one that more traces have counts.
    """
    return number / max(edges.nodes[source], edges.nodes[target], number)


def expected_flow(edges: Edges) -> dict[str, Any]:
    """Return the usual edges from tools and steps, as `flow.matches` takes them.

    Usual is an edge that at least USUAL of the traces with its ends have, and two of
    them, where so many were read.
    """
    needed = min(2, edges.graphs)
    usual = {
        (source, target): None
        for (source, target, _), number in _ranked_edges(edges)
        if source != PROMPT
        and target != MODEL
        and number >= needed
        and _share(edges, source, target, number) >= USUAL
    }
    found = [{"from": source, "to": target} for source, target in usual]
    return {"edges": found[:LISTED]}


# -- what is not known -----------------------------------------------------------------


def _unknown(observed: Observed, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    total = observed.traces
    for lacks, what in (
        (total - observed.with_tools, "tool calls"),
        (total - observed.with_path, "steps"),
        (total - observed.with_prompt, "the prompt"),
        (total - observed.with_answer, "an answer"),
        (total - observed.of["totalTokens"].count, "usage"),
        (total - observed.of["costUsd"].count, "cost"),
        (total - observed.of["latencyMs"].count, "duration"),
    ):
        if lacks:
            lines.append(f"{what}: not in {lacks:,} of {total:,} traces")
    if total and not len(observed.models):
        lines.append("the subject's model: no trace names one")
    names = [tool["name"] for tool in tools if tool["reversibility"]["from"] == UNKNOWN]
    if names:
        told = ", ".join(names[:10]) + (
            f" and {len(names) - 10} more" if len(names) > 10 else ""
        )
        lines.append(f"whether effects can be taken back: {told}")
    return lines


def _cut(observed: Observed, edges: Edges) -> list[str]:
    """Return what was left out because there was too much of it."""
    lines = []
    if observed.tools_cut:
        lines.append(
            f"{observed.tools_cut:,} calls of tools beyond the first {MAX_TOOLS}"
        )
    if observed.sequences.others:
        lines.append(
            f"{observed.sequences.others:,} traces with sequences of tools beyond the "
            f"first {MAX_SEQUENCES:,} different ones"
        )
    for counts, what in (
        (observed.sources, "sources"),
        (observed.agents, "agents"),
        (observed.sub_agents, "sub-agents"),
        (observed.models, "models"),
        (observed.steps, "steps"),
    ):
        if counts.others:
            lines.append(f"{counts.others:,} {what} beyond the first {MAX_NAMES} names")
    keyed = sum(1 for tool in observed.tools.values() if tool.keys.others)
    if keyed:
        lines.append(f"arguments of {keyed} tools beyond the first {MAX_KEYS} keys")
    if edges.graphs < observed.with_tools:
        lines.append(
            f"the information flow was read in {edges.graphs:,} of "
            f"{observed.with_tools:,} traces (at most {MAX_GRAPHS:,}, evenly chosen)"
        )
    if observed.transitions_cut:
        lines.append(
            f"{observed.transitions_cut:,} tools that follow another one, beyond the "
            f"first {MAX_EDGES:,} pairs"
        )
    if edges.cut:
        lines.append(f"{edges.cut:,} edges beyond the first {MAX_EDGES:,}")
    if edges.unread:
        lines.append(f"{edges.unread:,} traces held data too large for their flow")
    return lines
