"""The page that a run made, and what the run had computed before it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..record import record
from ..trace import ToolCall, Trace
from ..verdict import (
    Ref,
    Verdict,
    failed,
    not_applicable,
    nothing_there,
    uncertain,
)
from .calls import call_ref, calls_of, result_ref, unknown_arguments
from .conditions import HOW_TO_NAME, unmet, unseen
from .page import Format, Page, read_page
from .paths import (
    MISSING,
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
    holder = _holder(trace, artifact, path=path, part=part, where=where)
    if isinstance(holder, Verdict):
        return holder
    text = holder.page_at(path)
    if isinstance(text, Verdict):
        return text
    made = holder.made
    computed = _sources(trace, source, before=made, any_source=any_source)
    if isinstance(computed, Verdict):
        return computed
    if made is None and path:
        computed = [
            Data(data=_without(one.data, path), call=None) if one.call is None else one
            for one in computed
        ]
    elif made is None:
        computed = [one for one in computed if one.call is not None]
    return Found(
        page=read_page(text, format=format),
        cited=holder.ref_to(path, text, trace),
        what=holder.what,
        computed=computed,
        trace=trace,
    )


@record(kw_only=True)
class _Holder:
    """What holds the page: a side of a call (`made`), or the answer.

    `name` is what it is called, `what` the page in it, to begin a sentence with.
    """

    made: ToolCall | None
    data: Any
    side: str
    cited: Ref
    name: str
    what: str

    def page_at(self, path: str) -> str | Verdict:
        """Return the text of the page, or the verdict where there is none."""
        page = lookup(self.data, path) if path else _whole(self.data)
        is_text = self.made is not None and path and isinstance(self.data, str)
        note = unread_note(self.data) if is_text else ""
        if note:
            return uncertain(
                f"{self.what} can't be looked for{note}.",
                self.cited,
                text="record the whole data in the trace",
            )
        if page is MISSING or not text_of(page).strip():
            place = f"`{path}` of {self.name}" if path else f"the page of {self.name}"
            return nothing_there(f"Nothing stands at {place}.", self.cited)
        if path and (is_list(page) or isinstance(page, Mapping)):
            return failed(f"{self.what} is no text but {shown(page)}.", self.cited)
        return text_of(page)

    def ref_to(self, path: str, text: str, trace: Trace) -> Ref:
        """Return the citation of the page."""
        if self.made is None:
            return output_ref(trace, path) if path else self.cited
        if not isinstance(self.data, Mapping):
            return self.cited
        span = self.made.span_id if self.side == "input" else self.cited.obs
        return ref(span, f"{self.side}.{path}" if path else self.side, text)


def _holder(
    trace: Trace,
    artifact: str,
    *,
    path: str,
    part: str,
    where: Mapping[str, Any] | None,
) -> _Holder | Verdict:
    if not artifact:
        if trace.answer is None:
            return failed("The run gave no answer.")
        return _Holder(
            made=None,
            data=trace.output if path else trace.answer,
            side="",
            cited=output_ref(trace, ""),
            name="the answer",
            what=f"`{path}` of the answer" if path else "The answer",
        )
    made = _made(trace, artifact, part=part, where=where)
    if not isinstance(made, ToolCall):
        return made
    given = part == "arguments"
    name = shown(made.name)
    return _Holder(
        made=made,
        data=parsed(made.arguments) if given else as_data(made.result),
        side="input" if given else "output",
        cited=call_ref(made) if given else result_ref(made),
        name=name,
        what=f"The `{path}` of {name}" if path else f"The page of {name}",
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
        given = [parsed(call.arguments) for call in calls]
        calls = [c for c in calls if unmet(parsed(c.arguments), where) is None]
        nowhere = unseen(given, where) if calls else None
        if nowhere is not None:
            words = f"{nowhere} So it is not known which call made the artifact."
            return uncertain(words, call_ref(calls[-1]), text=HOW_TO_NAME)
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
