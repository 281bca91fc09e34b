"""What a judge is shown of a run, the same on both paths.

`trajectory` holds what the subject did: each tool call joined with its result, and
every other observation. `transcript` holds what was said, in order; where a call was
made, a turn of the role `tool` points into the trajectory, so that the order of words
and deeds can be seen (was it approved before it was done?). Packets, prompts and the
resolving of refs all read this one view, so `trajectory[3]` is one thing everywhere.
"""

from collections.abc import Sequence
from typing import Any

from ..canonical import content_key, dump_line
from ..record import record
from ..trace import Span, Trace

_MESSAGE_ROLES = ("user", "assistant", "system")


@record
class Evidence:
    """The two lists of a packet: `{name, input?, output?}` and `{role, content}`.

    `trajectory_at` and `transcript_at` give, for each entry, the position of its span
    in the trace.
    """

    trajectory: Sequence[dict[str, Any]]
    transcript: Sequence[dict[str, str]]
    trajectory_at: Sequence[int]
    transcript_at: Sequence[int]


def evidence_of(trace: Trace) -> Evidence:
    """Return what a judge is shown of the trace; nothing is cut."""
    # By position: ids are not relied on, as they may repeat.
    calls = {
        at: call
        for (at, _), call in zip(trace.call_positions, trace.tool_calls, strict=True)
        if call.known
    }
    joined = {back for at, back in trace.call_positions if back != at}
    trajectory: list[dict[str, Any]] = []
    transcript: list[dict[str, str]] = []
    trajectory_at: list[int] = []
    transcript_at: list[int] = []
    for at, span in enumerate(trace.spans):
        role = span.effective_role
        if at in calls:
            call = calls[at]
            pointer = f"(called {call.name}: see trajectory[{len(trajectory)}])"
            transcript.append({"role": "tool", "content": pointer})
            transcript_at.append(at)
            result = call.result
            if call.error:
                result = {"status": "error", "result": result}
            trajectory.append(_entry(call.name, call.arguments, result))
            trajectory_at.append(at)
            continue
        if at in joined:
            continue
        text = span.text if role in _MESSAGE_ROLES else None
        if role is not None and text is not None:
            transcript.append({"role": role, "content": text})
            transcript_at.append(at)
        if not _only_message(span):
            trajectory.append(
                _entry(span.tool_name or span.name, span.input, span.output)
            )
            trajectory_at.append(at)
    return Evidence(trajectory, transcript, trajectory_at, transcript_at)


def view_digest(trace: Trace, evidence: Evidence) -> str:
    """Return the content hash of what a judge is shown of the trace.

    A run that is made again, and takes another time, has the same one.
    """
    observed = sorted(trace.observed)
    return content_key(dump_line([evidence.trajectory, evidence.transcript, observed]))


def _only_message(span: Span) -> bool:
    """Whether the span says nothing beyond its turn in the transcript.

    A span of kind `agent` with a name of its own is a step of a workflow: its name
    is evidence of the path, so it stands in the trajectory too.
    """
    if span.role not in _MESSAGE_ROLES:
        return False
    return span.kind != "agent" or span.name == span.role


def _entry(name: str, given: Any, result: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name}
    if given is not None:
        entry["input"] = given
    if result is not None:
        entry["output"] = result
    return entry
