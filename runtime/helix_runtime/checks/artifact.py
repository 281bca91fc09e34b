"""The page that a run made, and what the run had computed before it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..record import record
from ..trace import ToolCall, Trace
from ..verdict import Ref, Verdict, failed, not_applicable, uncertain
from .calls import call_ref, calls_of, result_ref, unknown_arguments
from .conditions import unmet
from .page import Format, Page, read_page
from .paths import (
    MISSING,
    NOTHING_STANDS,
    as_data,
    gather,
    is_list,
    listed,
    lookup,
    output_ref,
    parsed,
    ref,
    shown,
    text_of,
    unobserved,
    unread_note,
)
from .readings import readings_of
from .shown_values import Value, scalars_of

MAX_VALUES: Final = 1_000
"""So many computed values are compared."""


@record(kw_only=True)
class Data:
    """Data that was computed; `call` is the call of the tool, None for the answer."""

    data: Any
    call: ToolCall | None


@record(kw_only=True)
class Found:
    """The page, where it is cited and named, and the data that it should show."""

    page: Page
    cited: Ref
    what: str
    computed: Sequence[Data]
    trace: Trace

    def computed_ref(self, path: str, value: Any) -> Ref:
        """Return the citation of a computed value."""
        call = next(
            (
                one.call
                for one in self.computed
                if one.call is not None and lookup(one.data, path) is value
            ),
            None,
        )
        if call is None:
            return output_ref(self.trace, path)
        span = call.result_span_id or call.span_id
        if isinstance(call.result, str) or call.result is not as_data(call.result):
            return ref(span, "output", text_of(value))
        return ref(span, f"output.{path}", value)


def look_for(
    trace: Trace,
    *,
    source: str,
    artifact: str,
    path: str,
    part: str,
    where: Mapping[str, Any] | None,
    format: Format,
    any_source: bool = False,
) -> Found | Verdict:
    """Return the page and the data, or the verdict where there is none to compare."""
    if source or artifact or any_source:
        abstention = unobserved(trace, "tools")
        if abstention is not None:
            return abstention
    if not artifact or not (source or any_source):
        abstention = unobserved(trace, "output")
        if abstention is not None:
            return abstention
    if artifact:
        made = _made(trace, artifact, part=part, where=where)
        if not isinstance(made, ToolCall):
            return made
        given = part == "arguments"
        data = parsed(made.arguments) if given else as_data(made.result)
        side = "input" if part == "arguments" else "output"
        cited = call_ref(made) if part == "arguments" else result_ref(made)
        what = f"The {'page' if not path else f'`{path}`'} of {shown(made.name)}"
    else:
        if trace.answer is None:
            return failed("The run gave no answer.")
        made = None
        data, side, what = trace.output, "", f"`{path}` of the answer"
        cited = output_ref(trace, "")
        if not path:
            data, what = trace.answer, "The answer"
    page = lookup(data, path) if path else _whole(data)
    note = unread_note(data) if made and path and isinstance(data, str) else ""
    if note:
        return uncertain(
            f"{what} can't be looked for{note}.",
            cited,
            text="record the whole data in the trace",
        )
    if page is MISSING or not text_of(page).strip():
        return failed(
            f"{NOTHING_STANDS}`{path}` of {what.partition(' of ')[2]}.", cited
        )
    text = text_of(page)
    if path and (is_list(page) or isinstance(page, Mapping)):
        return failed(f"{what} is no text but {shown(page)}.", cited)
    if side and isinstance(data, Mapping):
        span = made.span_id if made and side == "input" else cited.obs
        cited = ref(span, f"{side}.{path}" if path else side, text)
    elif path and not made:
        cited = output_ref(trace, path)
    computed = _sources(trace, source, before=made, any_source=any_source)
    if isinstance(computed, Verdict):
        return computed
    if not made and path:
        computed = [
            Data(data=_without(one.data, path), call=None) if one.call is None else one
            for one in computed
        ]
    elif not made:
        computed = [one for one in computed if one.call is not None]
    return Found(
        page=read_page(text, format=format),
        cited=cited,
        what=what,
        computed=computed,
        trace=trace,
    )


def _whole(data: Any) -> Any:
    return data if isinstance(data, str) else text_of(data)


def _made(
    trace: Trace, artifact: str, *, part: str, where: Mapping[str, Any] | None
) -> ToolCall | Verdict:
    """Return the last call that made an artifact."""
    calls = calls_of(trace, [artifact])
    if part == "arguments" or where is not None:
        abstention = unknown_arguments(calls)
        if abstention is not None:
            return abstention
    if where is not None:
        calls = [c for c in calls if unmet(parsed(c.arguments), where) is None]
    calls = [call for call in calls if not call.error]
    if not calls:
        return not_applicable(f"The run made no artifact with {shown(artifact)}.")
    last = calls[-1]
    if part == "result" and not last.answered:
        return uncertain(
            f"What {shown(last.name)} returned is not recorded.",
            call_ref(last),
            text="record the results of calls in the trace",
        )
    return last


def _sources(
    trace: Trace, source: str, *, before: ToolCall | None, any_source: bool
) -> list[Data] | Verdict:
    """Return the data that was computed before an artifact was made."""
    answer = [Data(data=trace.output, call=None)]
    if trace.answer is None or (any_source and before is not None):
        answer = []
    if not source and not any_source:
        return answer
    where = trace.call_positions
    end = where[before.index][0] if before is not None else 2 * len(trace.spans)
    calls = calls_of(trace, [source]) if source else list(trace.tool_calls)
    calls = [
        call
        for call in calls
        if (before is None or call.index != before.index) and where[call.index][0] < end
    ]
    done = [
        call
        for call in calls
        if call.answered and not call.error and where[call.index][1] < end
    ]
    if not source:
        return [
            *(Data(data=as_data(call.result), call=call) for call in done),
            *answer,
        ]
    if any(not call.answered and not call.error for call in calls[-1:]):
        return uncertain(
            f"What {shown(source)} computed is not recorded.",
            call_ref(calls[-1]),
            text="record the results of calls in the trace",
        )
    if not done:
        return not_applicable(f"{shown(source)} computed nothing before that.")
    kept = done if any_source else done[-1:]
    return [Data(data=as_data(call.result), call=call) for call in kept]


def _without(data: Any, path: str) -> Any:
    """Return the answer's data without the page in it: that computes nothing."""
    head, _, rest = path.partition(".")
    if not isinstance(data, Mapping):
        return data
    if path in data:
        return {key: value for key, value in data.items() if key != path}
    if head in data and rest:
        return {**data, head: _without(data[head], rest)}
    return data


def computed_at(
    found: Found, paths: Sequence[str], *, decimals: int | None, ignore_case: bool
) -> tuple[list[Value], bool]:
    """Return the values at paths, each scalar below them, and whether some are left out."""
    values: list[Value] = []
    for one in found.computed:
        for path in paths:
            for at, value in gather(one.data, path):
                for below, scalar in scalars_of(value, at):
                    if scalar is MISSING or len(values) >= MAX_VALUES:
                        return values, True
                    read = readings_of(
                        scalar, decimals=decimals, ignore_case=ignore_case
                    )
                    if read:
                        values.append(Value(below, scalar, read))
    return values, False


def nothing_computed(paths: Sequence[str]) -> Verdict:
    """Return the `na` where no value stands at the paths."""
    return not_applicable(f"Nothing to show was computed at {listed(list(paths))}.")


def too_large(found: Found) -> Verdict:
    """Return the abstention where the page or the data was not read whole."""
    return uncertain(
        f"{found.what}, or what it should show, is too large to be read whole.",
        found.cited,
        text="record a smaller page in the trace, or decide this by hand",
    )
