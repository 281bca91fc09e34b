"""The order in which a run called its tools, as one short text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..canonical import fnv1a_64
from ..trace import Trace

ARROW: Final = " → "
NO_CALL: Final = "(no tool call)"
NOT_RECORDED: Final = "(tool calls not recorded)"
MAX_TEXT: Final = 400


def tool_sequence(trace: Trace) -> str:
    """Return the tools that a run called, in order: `search → write ×2 → send`."""
    if "tools" not in trace.observed:
        return NOT_RECORDED
    return sequence_text(call.name for call in trace.tool_calls)


def sequence_text(names: Iterable[str]) -> str:
    """Return names in order, equal ones in a row as one with their number.

    Different sequences have different texts: a long one is cut and ends in its hash.
    """
    runs: list[tuple[str, int]] = []
    for name in names:
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    if not runs:
        return NO_CALL
    text = ARROW.join(n if count == 1 else f"{n} ×{count}" for n, count in runs)
    if len(text) <= MAX_TEXT:
        return text
    digest = fnv1a_64(text.encode("utf-8", "surrogatepass"))
    return f"{text[: MAX_TEXT - 40]}… ({len(runs)} steps, {digest})"
