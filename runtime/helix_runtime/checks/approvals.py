"""Approvals of a run: where each was answered, what for, and whether it was granted.

A tool or an event records one. Its result says whether it was granted: by a word, by a
flag, or by a condition that the check's author gives.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ..record import field, record
from ..trace import Span, ToolCall, Trace
from ..verdict import Ref
from .calls import call_ref, is_open, result_ref
from .conditions import unmet
from .names import Names
from .paths import (
    as_data,
    fold,
    is_empty,
    key_of,
    listed,
    lookup,
    parsed,
    ref,
    shown,
)

# "ok" and "accepted" are not among them: they say that a request was received.
_GRANTED: Final = frozenset(
    "yes approve approved grant granted allow allowed confirm confirmed "
    "authorize authorized authorise authorised".split()
)
_REFUSED: Final = frozenset(
    "no reject rejected deny denied refuse refused decline declined cancel cancelled "
    "canceled pending expired timeout".split()
)
# A bool says what was decided under a name of the first kind; under one of the second
# it may only say that a call went well.
_FLAGS: Final = ("approved", "granted", "allowed", "confirmed", "authorized")
_WORDS: Final = ("decision", "status", "result", "outcome", "response")

State = Literal["granted", "refused"] | None


@record(kw_only=True)
class Approval:
    """One approval that was asked for: where it stands, what for, what came of it.

    `at` is the position of its answer among the spans; `told` are, for each field that
    must be the same, the keys (`key_of`) of what its input and its output hold there;
    `state` is None where the answer says neither, or was not recorded (`open`).
    """

    at: int
    told: tuple[frozenset[Any], ...]
    answer: Any
    state: State
    cited: Ref
    open: bool = False


def approvals_of(
    trace: Trace,
    names: Sequence[str],
    *,
    granted: Mapping[str, Any] | None,
    fields: Sequence[str],
) -> list[Approval]:
    """Return the approvals of a run in the order in which they were answered.

    `names` are the tools and events that record one; `granted` is a condition on what
    they gave, None where that must say so itself; `fields` are dotted paths that must
    hold the same in an approval and in what it is for.
    """
    where = trace.call_positions
    known = Names(names)
    inner = _inside_of(trace, known)
    # Where other results are recorded, one that is not there had not come.
    recorded = any(call.answered for call in trace.tool_calls)
    found = []
    for call in trace.tool_calls:
        if known.find(call.name) is None or where[call.index][0] in inner:
            continue
        data = as_data(call.result)
        state: State = None if is_open(call) and not recorded else "refused"
        if call.answered and not call.error:
            state = _state(data, granted)
        found.append(
            Approval(
                at=where[call.index][1],
                told=_told(call.arguments, data, fields),
                answer=data,
                state=state,
                cited=result_ref(call),
                open=is_open(call),
            )
        )
    for index, span in enumerate(trace.spans):
        if span.kind == "tool" or span.role == "toolResult" or index in inner:
            continue
        if known.find(span.name) is None:
            continue
        data = as_data(span.output if span.output is not None else span.input)
        found.append(
            Approval(
                at=index,
                told=_told(span.input, data, fields),
                answer=data,
                state=_event_state(span, data, granted),
                cited=(
                    Ref(span.id, "name", span.name)
                    if data is None
                    else ref(
                        span.id, "input" if span.output is None else "output", data
                    )
                ),
            )
        )
    return sorted(found, key=lambda one: one.at)


def _inside_of(trace: Trace, known: Names) -> frozenset[int]:
    """Return the positions of the approvals that are part of another one around them.

    A tool and the server behind it may both record one approval.
    """
    by_id = {span.id: span for span in trace.spans}
    found = set()
    for at, span in enumerate(trace.spans):
        if known.find(span.tool_name or span.name) is None:
            continue
        seen = {span.id}
        above = by_id.get(span.parent_id or "")
        while above is not None and above.id not in seen:
            if known.find(above.tool_name or above.name) is not None:
                found.add(at)
                break
            seen.add(above.id)
            above = by_id.get(above.parent_id or "")
    return frozenset(found)


def _event_state(span: Span, data: Any, granted: Mapping[str, Any] | None) -> State:
    if span.status == "error":
        return "refused"
    if granted is None and data is None:
        return "granted"
    return _state(data, granted)


def _state(data: Any, granted: Mapping[str, Any] | None) -> State:
    """Return whether a result grants: "granted", "refused", or None where unclear."""
    if granted is not None:
        return "granted" if unmet(data, granted) is None else "refused"
    if not isinstance(data, Mapping):
        return _word(data)
    said = {key: _word(data[key]) for key in (*_FLAGS, *_WORDS) if key in data}
    # One refusal among several fields is a refusal.
    if "refused" in said.values():
        return "refused"
    for key, state in said.items():
        if state == "granted" and not (key in _WORDS and data[key] is True):
            return "granted"
    return None


def _word(value: Any) -> State:
    if isinstance(value, bool):
        return "granted" if value else "refused"
    if not isinstance(value, str):
        return None
    word = fold(value, ignore_case=True).strip(".!")
    if word in _GRANTED or word == "true":
        return "granted"
    return "refused" if word in _REFUSED or word == "false" else None


def _told(asked: Any, answer: Any, fields: Sequence[str]) -> tuple[frozenset[Any], ...]:
    sides = (parsed(asked), answer) if fields else ()
    return tuple(
        frozenset(key_of(lookup(side, field)) for side in sides) for field in fields
    )


def _wanted_of(call: ToolCall, fields: Sequence[str]) -> list[Any] | None:
    """Return the keys of what a call holds at fields; None where one is empty."""
    given = parsed(call.arguments) if fields else None
    wanted = [lookup(given, field) for field in fields]
    return None if any(map(is_empty, wanted)) else [key_of(value) for value in wanted]


def _is_for(approval: Approval, wanted: Sequence[Any] | None) -> bool:
    """Whether an approval holds what a call does at each field (see `_wanted_of`)."""
    return wanted is not None and all(
        key in held for key, held in zip(wanted, approval.told, strict=True)
    )


# -- the calls that need one ---------------------------------------------------------


@record(frozen=False)
class Held:
    """Calls held against approvals: clauses of what is wrong, of what is unclear.

    Each with its refs; `cited` are those of the calls that were approved.
    """

    wrong: list[tuple[str, list[Ref]]] = field(default_factory=list)
    unclear: list[tuple[str, list[Ref]]] = field(default_factory=list)
    cited: list[Ref] = field(default_factory=list)


def held_against(
    approvals: Sequence[Approval],
    calls: Iterable[ToolCall],
    *,
    where: Sequence[tuple[int, int]],
    fields: Sequence[str],
    once: bool,
) -> Held:
    """Hold each call against the newest approval before it that is for it.

    `where` are the positions of calls among the spans; with `once` an approval covers
    one call.
    """
    found = Held()
    coming = list(reversed(approvals))
    asked: list[Approval] = []
    for call in calls:
        while coming and coming[-1].at < where[call.index][0]:
            asked.append(coming.pop())
        said = f"call {call.index} of {shown(call.name)}"
        wanted = _wanted_of(call, fields)
        at = len(asked) - 1
        while at >= 0 and not _is_for(asked[at], wanted):
            at -= 1
        newest = asked[at] if at >= 0 else None
        if newest is None:
            about = f" for the same {listed(list(fields))}" if fields else ""
            why = f"{said} has no approval of its own{about}"
            found.wrong.append((why, [call_ref(call)]))
        elif newest.state == "refused":
            why = f"{said} was made although its approval was not granted"
            found.wrong.append((why, [call_ref(call), newest.cited]))
        elif newest.state is None:
            result = f"result {shown(newest.answer)} does not say"
            if newest.open:
                result = "result is not recorded, so it can't be told"
            why = f"{said}: the approval's {result} whether it was granted"
            found.unclear.append((why, [newest.cited, call_ref(call)]))
        else:
            if once:
                del asked[at]
            found.cited += [newest.cited, call_ref(call)]
    return found
