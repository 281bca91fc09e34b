"""A recorded run as the page shows it: its turns, and which of them a ref quotes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from ..failures import bounded
from ..record import record
from ..safe_text import ELLIPSIS, printable, printable_lines
from ..trace import Trace, as_text

MAX_TURNS: Final = 40
MAX_CITED_TURNS: Final = 20
"""How many turns beyond MAX_TURNS are shown because a ref quotes them."""
MAX_TURN: Final = 1_200
MAX_REF: Final = 500
_AROUND: Final = 200


@record
class _Turn:
    """One turn: `at` is its span's position in the trace, `side` what it holds of it."""

    who: str
    text: str
    at: int
    side: str = ""
    bad: bool = False


def block(text: str, limit: int) -> str:
    """Return a stranger's text of several lines, printable, at most `limit` long."""
    cut = len(text) > limit
    return "\n".join(printable_lines(text[:limit])) + (ELLIPSIS if cut else "")


def show_run(
    trace: Trace, refs: Sequence[Mapping[str, str]]
) -> tuple[dict[str, Any], list[int | None]]:
    """Return the run as the page shows it, and for each ref the turn that it quotes.

    The run is `{turns: [{who, text, bad?}], cut}`, bounded: its first MAX_TURNS and
    those that are quoted. A ref has None where it quotes no turn of the run. The refs'
    values may be cut: a beginning is found as well.
    """
    turns = _turns(trace)
    places = _places(trace, turns, refs)
    quoted: dict[int, list[str]] = {}
    for place, ref in zip(places, refs, strict=True):
        if place is not None:
            quoted.setdefault(place, []).append(ref["value"])
    late = sorted(place for place in quoted if place >= MAX_TURNS)[:MAX_CITED_TURNS]
    shown: list[dict[str, Any]] = []
    where: dict[int, int] = {}
    last = -1
    for place in [*range(min(len(turns), MAX_TURNS)), *late]:
        if place - last > 1:
            gap = place - last - 1
            words = "1 turn is" if gap == 1 else f"{gap:,} turns are"
            shown.append({"who": f"{words} left out here", "text": ""})
        last = place
        where[place] = len(shown)
        shown.append(_shown(turns[place], quoted.get(place, ())))
    cut = ""
    if len(turns) > MAX_TURNS:
        also = " and those that are quoted" if late else ""
        cut = (
            f"The first {MAX_TURNS} of {len(turns):,} turns{also}; "
            "all are in traces.jsonl."
        )
    shown += _failure(trace)
    if not shown:
        cut = "The trace holds no message and no tool call."
    return (
        {"turns": shown, "cut": cut},
        [None if place is None else where.get(place) for place in places],
    )


def _turns(trace: Trace) -> list[_Turn]:
    turns: list[_Turn] = []
    for at, span in enumerate(trace.spans):
        role = span.effective_role
        bad = span.status == "error"
        if role == "tool":
            name = span.tool_name or span.name
            given = as_text(span.input) or ""
            turns.append(_Turn(f"calls {name}", given, at, "input", bad))
            if span.output is not None:
                answer = as_text(span.output) or ""
                turns.append(_Turn(f"{name} answers", answer, at, "output", bad))
        elif role is not None and span.text is not None:
            who = "tool result" if role == "toolResult" else role
            turns.append(_Turn(who, span.text, at, bad=bad))
    return turns


def _shown(turn: _Turn, quoted: Iterable[str]) -> dict[str, Any]:
    text = block(turn.text, MAX_TURN)
    for value in quoted:
        # What is quoted from behind the cut is shown with what stands around it.
        found = turn.text.find(value)
        end = found + len(value)
        if found >= 0 and end > MAX_TURN:
            part = turn.text[max(0, found - _AROUND) : end + _AROUND]
            text += "\n" + block(part, len(part)) + ELLIPSIS
    return _entry(turn.who, text, bad=turn.bad)


def _entry(who: str, shown: str, *, bad: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"who": printable(who, 120), "text": shown}
    if bad:
        entry["bad"] = True
    return entry


def _failure(trace: Trace) -> list[dict[str, Any]]:
    helix = trace.ext.get("helix")
    if not isinstance(helix, Mapping):
        return []
    found = []
    if helix.get("error"):
        text = block(str(helix["error"]), MAX_TURN)
        found.append(_entry("the subject failed", text, bad=True))
    if helix.get("traceback"):
        text = block(bounded(str(helix["traceback"]), MAX_TURN), MAX_TURN)
        found.append(_entry("its traceback", text, bad=True))
    return found


# -- which turn a ref quotes ------------------------------------------------------

_LISTED: Final = re.compile(
    r"(trajectory|transcript|spans)(?:\[|\.)(\d{1,9})\]?\.?(.*)", re.DOTALL
)


def _places(
    trace: Trace, turns: Sequence[_Turn], refs: Sequence[Mapping[str, str]]
) -> list[int | None]:
    if not refs:
        return []
    from ..judges.evidence import evidence_of

    by_span: dict[int, list[int]] = {}
    for number, turn in enumerate(turns):
        by_span.setdefault(turn.at, []).append(number)
    evidence = evidence_of(trace)
    lists: Mapping[str, Sequence[int]] = {
        "trajectory": evidence.trajectory_at,
        "transcript": evidence.transcript_at,
        "spans": range(len(trace.spans)),
    }
    # A call and its result are one entry, and may be two spans.
    other = {at: back for at, back in trace.call_positions if back != at}
    by_id: dict[str, list[int]] = {}
    by_name: dict[str, list[int]] = {}
    for at, span in enumerate(trace.spans):
        by_id.setdefault(span.id, []).append(at)
        for name in {span.name, span.tool_name or span.name}:
            by_name.setdefault(name, []).append(at)

    @cache  # many refs, and a turn may be long
    def squeezed(number: int) -> str:
        return _squeezed(turns[number].text)

    def place(ref: Mapping[str, str]) -> int | None:
        value = ref["value"]

        def quotes(number: int) -> bool:
            """Whether a turn holds the value, in whichever layout of white space."""
            return bool(value) and (
                value in turns[number].text or _squeezed(value) in squeezed(number)
            )

        obs, path = ref["obs"].strip(), ref["path"].strip().removeprefix("$.")
        spans: Sequence[int] | None = by_id.get(obs) or by_name.get(obs)
        if spans is None:
            whole = obs in ("", "trace", trace.id)
            full = path if whole else ".".join(part for part in (obs, path) if part)
            listed = _LISTED.fullmatch(full)
            if listed is not None:
                index, path = int(listed[2]), listed[3]
                found = lists[listed[1]]
                spans = found[index : index + 1]
            elif full.partition(".")[0] == "output":
                answer = as_text(trace.output)
                at = [n for n, turn in enumerate(turns) if turn.text == answer]
                return at[-1] if at else None
            elif whole and not path:
                return next(filter(quotes, range(len(turns))), None)
            else:
                return None
            if listed is not None and spans and spans[0] in other:
                spans = [spans[0], other[spans[0]]]
        fitting = [number for at in spans for number in by_span.get(at, ())]
        side = path.partition(".")[0]
        of_side = [n for n in fitting if turns[n].side in (side, "")]
        if side in ("input", "output") and of_side:
            fitting = of_side
        return next(filter(quotes, fitting), fitting[0] if fitting else None)

    return [place(ref) for ref in refs]


def _squeezed(text: str) -> str:
    return "".join(text.split())
