"""Checks of what a run shows: that what it computed stands in the page that it made.

The **computed** values stand at paths of the result of a tool (`source`), or of the
answer's data. The **artifact** is HTML, Markdown or plain text: the answer or a field
of it (`path`), or what the run handed to a tool (`artifact`, and `path` in its
arguments) or got from it (`part: result`); of several the last one. Computed are the
last results of `source` before it.

Values compare by what they read as (see `readings`): white space, the spelling of
numbers and the escapes of HTML make no difference. Bools, nulls and blanks show in too
many ways and are left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from ..case import Case
from ..record import record
from ..trace import ToolCall, Trace
from ..verdict import (
    Ref,
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    passed,
    uncertain,
)
from .arguments import primitive
from .calls import call_ref, calls_of, result_ref, unknown_arguments
from .conditions import optional_condition_fault, unmet
from .matching import pair
from .page import Format, Page, place_fault, plain_text, read_page
from .paths import (
    MISSING,
    as_data,
    counted,
    fold,
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
from .readings import Reading, numbers_in, readings_of, readings_of_text

MAX_VALUES: Final = 1_000
"""So many computed values are compared."""
MAX_KNOWN: Final = 50_000
"""So many values are known to have been computed."""
_MAX_DEPTH: Final = 100
_MAX_DECIMALS: Final = 20


def _paths_fault(slots: Any) -> str | None:
    if not slots:
        return "must name at least one path"
    return next((f"has {_bad(path)}" for path in slots if _bad(path)), None)


def _bad(path: Any) -> str | None:
    if path and all(path.split(".")):
        return None
    return f"the path {path!r}; a path is such as `total` or `items.*.price`"


def _slots_fault(slots: Any) -> str | None:
    wrong = _paths_fault(slots)
    if wrong is not None:
        return wrong
    return next(
        (
            f"at {path!r} {place_fault(place)}"
            for path, place in slots.items()
            if place_fault(place)
        ),
        None,
    )


def _places_fault(places: Any) -> str | None:
    if not places:
        return "must name at least one place"
    return next(
        (
            f"item {at} {place_fault(p)}"
            for at, p in enumerate(places)
            if place_fault(p)
        ),
        None,
    )


def _decimals_fault(decimals: Any) -> str | None:
    if decimals is None or 0 <= decimals <= _MAX_DECIMALS:
        return None
    return f"must be from 0 to {_MAX_DECIMALS}"


# -- the checks -------------------------------------------------------------------------


@primitive(slots=_paths_fault, where=optional_condition_fault, decimals=_decimals_fault)
def rendered(
    case: Case,
    trace: Trace,
    *,
    slots: Sequence[str],
    source: str = "",
    artifact: str = "",
    path: str = "",
    part: Literal["arguments", "result"] = "arguments",
    where: Mapping[str, Any] | None = None,
    format: Format = "auto",
    decimals: int | None = None,
    ignore_case: bool = False,
) -> Verdict:
    """Pass where each computed value is shown somewhere in the artifact.

    `slots` are paths of the computed values; each value there must stand in what the
    page shows, as whole words. `where` is a condition on the arguments of `artifact`,
    where not every call of it makes a page. With `decimals` the page may round numbers
    to so many. `na` where nothing was computed, or no artifact was made. The measured
    value is the share of values that are shown.
    """
    wrong = _fault(source=source, artifact=artifact, path=path, part=part)
    if wrong is not None:
        return could_not_judge(f"ui.rendered: {wrong}")
    found = _look(
        trace,
        source=source,
        artifact=artifact,
        path=path,
        part=part,
        where=where,
        format=format,
    )
    if isinstance(found, Verdict):
        return found
    values, cut = _computed(found, slots, decimals=decimals, ignore_case=ignore_case)
    if not values:
        return _too_large(found) if cut else _nothing_computed(slots)
    look = _Shown(found.page, ignore_case=ignore_case)
    absent = [one for one in values if not look.shows(one)]
    share = (len(values) - len(absent)) / len(values)
    if not absent and not cut:
        return passed(
            f"{found.what} shows {counted(len(values), 'computed value')}: "
            f"{listed([one.value for one in values], limit=3)}.",
            *(found.computed_ref(one.path, one.value) for one in values),
            value=share,
        )
    if found.page.unread or not absent:
        return _too_large(found)
    note = look.note(absent[0])
    return failed(
        f"{found.what} does not show {len(absent)} of "
        f"{counted(len(values), 'computed value')}: "
        f"{', '.join(f'`{one.path}` ({shown(one.value)})' for one in absent[:3])}{note}.",
        *(found.computed_ref(one.path, one.value) for one in absent),
        found.cited,
        value=share,
    )


@primitive(slots=_slots_fault, where=optional_condition_fault, decimals=_decimals_fault)
def faithful(
    case: Case,
    trace: Trace,
    *,
    slots: Mapping[str, str],
    source: str = "",
    artifact: str = "",
    path: str = "",
    part: Literal["arguments", "result"] = "arguments",
    where: Mapping[str, Any] | None = None,
    format: Format = "auto",
    decimals: int | None = None,
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the artifact shows each computed value at its place, unaltered.

    `slots` maps paths of computed values to places: an element (`#total`, `.price`,
    `[data-slot=total]`) or a label (`Total:`). What stands there must be the value; of
    several values each must stand at one of the places, and of one value all places
    must hold it. The other arguments are as in `rendered`. `na` where nothing was
    computed, or no artifact was made. The measured value is the share of values that
    are shown as they are.
    """
    wrong = _fault(source=source, artifact=artifact, path=path, part=part)
    if wrong is not None:
        return could_not_judge(f"ui.faithful: {wrong}")
    found = _look(
        trace,
        source=source,
        artifact=artifact,
        path=path,
        part=part,
        where=where,
        format=format,
    )
    if isinstance(found, Verdict):
        return found
    number = right = 0
    cut = found.page.unread
    altered: list[tuple[_Value, str]] = []
    unclear: list[tuple[_Value, str]] = []
    cited: list[Ref] = []
    for slot, place in slots.items():
        values, more = _computed(
            found, [slot], decimals=decimals, ignore_case=ignore_case
        )
        cut = cut or more
        texts = found.page.at(place, ignore_case=ignore_case)
        number += len(values)
        for one, text, state in _compared(values, texts, ignore_case=ignore_case):
            if state == "same":
                right += 1
                cited.append(found.computed_ref(one.path, one.value))
            elif state == "unclear":
                unclear.append((one, f"{shown(text)} at {place!r}"))
            else:
                what = (
                    f"not {shown(one.value)} but {shown(text)}" if text else "nothing"
                )
                altered.append((one, f"{what} at {place!r}"))
    if not number:
        return _too_large(found) if cut else _nothing_computed(list(slots))
    share = right / number
    if altered and not found.page.unread:
        said = [f"for `{one.path}` {words}" for one, words in altered[:3]]
        return failed(
            f"{found.what} shows {'; '.join(said)}.",
            *(found.computed_ref(one.path, one.value) for one, _ in altered),
            found.cited,
            value=share,
        )
    if unclear:
        one, words = unclear[0]
        return uncertain(
            f"{found.what} shows several numbers for `{one.path}`, {words}, of which "
            f"one is {shown(one.value)}.",
            found.computed_ref(one.path, one.value),
            text="name a place that holds the value alone",
        )
    if cut:
        return _too_large(found)
    return passed(
        f"{found.what} shows {counted(number, 'computed value')} as computed.",
        *cited,
        value=share,
    )


@primitive(
    places=_places_fault, where=optional_condition_fault, decimals=_decimals_fault
)
def no_orphan(
    case: Case,
    trace: Trace,
    *,
    places: Sequence[str],
    source: str = "",
    artifact: str = "",
    path: str = "",
    part: Literal["arguments", "result"] = "arguments",
    where: Mapping[str, Any] | None = None,
    format: Format = "auto",
    decimals: int | None = None,
    ignore_case: bool = False,
) -> Verdict:
    """Pass where nothing stands at the places of the artifact that was not computed.

    What stands at each of `places` (as in `faithful`) must be a value of the results of
    `source`; without it of any tool's result before the artifact, of what the run was
    given, or of the answer's other fields where the page is one of them. Of a computed
    text it may also be a part, word for word. The other
    arguments are as in `rendered`. `na` where nothing stands at the places, or no
    artifact was made. The measured value is the share of what is shown that was
    computed.
    """
    wrong = _fault(
        source=source, artifact=artifact, path=path, part=part, any_source=True
    )
    if wrong is not None:
        return could_not_judge(f"ui.no_orphan: {wrong}")
    found = _look(
        trace,
        source=source,
        artifact=artifact,
        path=path,
        part=part,
        where=where,
        format=format,
        any_source=True,
    )
    if isinstance(found, Verdict):
        return found
    texts = [
        (place, text)
        for place in places
        for text in found.page.at(place, ignore_case=ignore_case)
    ]
    if not texts:
        return not_applicable(f"{found.what} shows nothing at {listed(list(places))}.")
    given = [] if source else [case.input, trace.prompt, case.query]
    known = _Known(
        [*(one.data for one in found.computed), *given],
        decimals=decimals,
        ignore_case=ignore_case,
    )
    orphans = [(place, text) for place, text in texts if not known.holds(text)]
    share = (len(texts) - len(orphans)) / len(texts)
    if not orphans:
        return passed(
            f"{found.what} shows {counted(len(texts), 'value')} at the places, "
            "each of them computed.",
            found.cited,
            value=share,
        )
    if known.unread or found.page.unread:
        return _too_large(found)
    said = [f"{shown(text)} at {place!r}" for place, text in orphans[:3]]
    return failed(
        f"{found.what} shows what nothing computed: {', '.join(said)}.",
        found.cited,
        value=share,
    )


# -- what was computed, and what was made of it -------------------------------------------


@record(kw_only=True)
class _Data:
    """Data that was computed; `call` is the call of the tool, None for the answer."""

    data: Any
    call: ToolCall | None


@record(kw_only=True)
class _Found:
    """The page, where it is cited and named, and the data that it should show."""

    page: Page
    cited: Ref
    what: str
    computed: Sequence[_Data]
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


@record
class _Value:
    """A computed value: its path, itself, and what it reads as."""

    path: str
    value: Any
    readings: frozenset[Reading]


def _fault(
    *, source: str, artifact: str, path: str, part: str, any_source: bool = False
) -> str | None:
    """Return why the arguments say too little to know the page from the data."""
    if artifact and part == "arguments" and not path:
        return (
            f"`path` must say where in the arguments of {shown(artifact)} the page "
            "stands, such as `content`."
        )
    if not artifact and part != "arguments":
        return "`part` is of the tool that `artifact` names: name it."
    if not artifact and not path and not source and not any_source:
        return (
            "the answer can't be compared with itself: name the tool that computes the "
            "values with `source`, or the page's place with `artifact` or `path`."
        )
    return None


def _look(
    trace: Trace,
    *,
    source: str,
    artifact: str,
    path: str,
    part: str,
    where: Mapping[str, Any] | None,
    format: Format,
    any_source: bool = False,
) -> _Found | Verdict:
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
            f"Nothing stands at `{path}` of {what.partition(' of ')[2]}.", cited
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
            _Data(data=_without(one.data, path), call=None) if one.call is None else one
            for one in computed
        ]
    elif not made:
        computed = [one for one in computed if one.call is not None]
    return _Found(
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
) -> list[_Data] | Verdict:
    """Return the data that was computed before an artifact was made."""
    answer = [_Data(data=trace.output, call=None)]
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
            *(_Data(data=as_data(call.result), call=call) for call in done),
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
    return [_Data(data=as_data(call.result), call=call) for call in kept]


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


def _computed(
    found: _Found, paths: Sequence[str], *, decimals: int | None, ignore_case: bool
) -> tuple[list[_Value], bool]:
    """Return the values at paths, each scalar below them, and whether some are left out."""
    values: list[_Value] = []
    for one in found.computed:
        for path in paths:
            for at, value in gather(one.data, path):
                for below, scalar in _scalars(value, at):
                    if scalar is MISSING or len(values) >= MAX_VALUES:
                        return values, True
                    read = readings_of(
                        scalar, decimals=decimals, ignore_case=ignore_case
                    )
                    if read:
                        values.append(_Value(below, scalar, read))
    return values, False


def _scalars(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the scalars of data with their paths; MISSING for what is left out."""
    stack = [(path, value, 0)]
    seen = 0
    while stack:
        at, one, depth = stack.pop()
        seen += 1
        if isinstance(one, Mapping) or is_list(one):
            if depth >= _MAX_DEPTH or seen + len(one) > MAX_KNOWN:
                yield at, MISSING
                continue
            items = one.items() if isinstance(one, Mapping) else enumerate(one)
            prefix = f"{at}." if at else ""
            below = [(f"{prefix}{key}", item, depth + 1) for key, item in items]
            stack += reversed(below)
        elif seen > MAX_KNOWN:
            yield at, MISSING
            return
        else:
            yield at, one


def _nothing_computed(paths: Sequence[str]) -> Verdict:
    return not_applicable(f"Nothing to show was computed at {listed(list(paths))}.")


def _too_large(found: _Found) -> Verdict:
    return uncertain(
        f"{found.what}, or what it should show, is too large to be read whole.",
        found.cited,
        text="record a smaller page in the trace, or decide this by hand",
    )


# -- comparing --------------------------------------------------------------------------


class _Shown:
    """What a page shows, to look values up in."""

    def __init__(self, page: Page, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._plain = not page.is_html
        self._targets = page.targets
        texts = dict.fromkeys((page.text, page.spaced))
        self._texts = [_marked(fold(text, ignore_case=ignore_case)) for text in texts]
        self._numbers: set[Reading] = set()
        for text in texts:
            for read in numbers_in(text):
                self._numbers |= read

    def shows(self, one: _Value) -> bool:
        """Whether a value stands on the page, as whole words, or a link leads there."""
        if any(read[0] == "number" and read in self._numbers for read in one.readings):
            return True
        if not isinstance(one.value, str):
            return False
        if one.value.strip() in self._targets:
            return True
        wanted = _marked(self._spelled(one.value))
        return bool(wanted) and any(wanted in text for text in self._texts)

    def note(self, one: _Value) -> str:
        """Return what stands there of a long text instead, as a clause."""
        if not isinstance(one.value, str):
            return ""
        text = self._spelled(one.value)
        half = _marked(text[: len(text) // 2]).rstrip(_MARK)
        if len(half) >= 12 and any(half in page for page in self._texts):
            return "; only the beginning of it"
        return ""

    def _spelled(self, value: str) -> str:
        text = plain_text(value) if self._plain else value
        return fold(text, ignore_case=self._ignore_case)


_MARK: Final = "\x1f"
_WORD: Final = re.compile(r"[^\W_]+")


def _marked(text: str) -> str:
    """Return a text with its words marked off: so it is found as whole words alone."""
    return _WORD.sub(rf"{_MARK}\g<0>{_MARK}", text)


State = Literal["same", "other", "unclear"]


def _compared(
    values: Sequence[_Value], texts: Sequence[str], *, ignore_case: bool
) -> Iterator[tuple[_Value, str, State]]:
    """Yield each value with the text that shows it, or the one that stands in its place."""
    read = [readings_of_text(text, ignore_case=ignore_case) for text in texts]
    if len(values) == 1:
        one = values[0]
        states = [
            (text, _state(one, reading, text))
            for text, reading in zip(texts, read, strict=True)
        ]
        worst = {"other": 0, "unclear": 1, "same": 2}
        states.sort(key=lambda pair: worst[pair[1]])
        text, state = states[0] if states else ("", "other")
        yield one, text, state
        return
    if len(values) == len(texts):
        yield from _one_each(values, texts, read)
        return
    index: dict[Reading, int] = {}
    for at, reading in enumerate(read):
        for key in reading:
            index.setdefault(key, at)
    for number, one in enumerate(values):
        hit = next((index[key] for key in sorted(one.readings) if key in index), None)
        if hit is not None:
            yield one, texts[hit], "same"
        else:
            text = texts[number] if number < len(texts) else ""
            yield one, text, _state(one, frozenset(), text)


def _one_each(
    values: Sequence[_Value], texts: Sequence[str], read: Sequence[frozenset[Reading]]
) -> Iterator[tuple[_Value, str, State]]:
    """Yield each value with a text of its own: as many places show one each.

    A page may show them in another order; one place is not there for two values.
    """
    states = [
        _state(one, reading, text)
        for one, reading, text in zip(values, read, texts, strict=True)
    ]
    if any(state != "same" for state in states):
        numbers = [list(numbers_in(text)) for text in texts]

        def fits(one: _Value, at: int) -> bool:
            if one.readings & read[at]:
                return True
            alone = len(numbers[at]) == 1 and not isinstance(one.value, str)
            return alone and bool(numbers[at][0] & one.readings)

        pairs = pair(values, range(len(texts)), fits)
        for number, one in enumerate(values):
            if number in pairs:
                yield one, texts[pairs[number]], "same"
            else:
                state = "other" if states[number] == "same" else states[number]
                yield one, texts[number], state
        return
    for one, text in zip(values, texts, strict=True):
        yield one, text, "same"


def _state(one: _Value, read: frozenset[Reading], text: str) -> State:
    if one.readings & read:
        return "same"
    numbers = list(numbers_in(text))
    hits = [each for each in numbers if each & one.readings]
    if not hits:
        return "other"
    if isinstance(one.value, str):
        return "other"
    # Words around a number (a unit, a currency) are the page's own.
    return "same" if len(numbers) == 1 else "unclear"


class _Known:
    """All values of some data, to look up what a page shows."""

    def __init__(
        self, sources: Sequence[Any], *, decimals: int | None, ignore_case: bool
    ) -> None:
        self._ignore_case = ignore_case
        self._read: set[Reading] = set()
        self.unread = False
        texts: list[str] = []
        for data in sources:
            for _, value in _scalars(data, ""):
                if value is MISSING:
                    self.unread = True
                    continue
                self._read |= readings_of(
                    value, decimals=decimals, ignore_case=ignore_case
                )
                if isinstance(value, str):
                    texts.append(fold(value, ignore_case=ignore_case))
                    for read in numbers_in(value):
                        self._read |= read
        self._text = _marked("\n".join(texts))

    def holds(self, text: str) -> bool:
        """Whether what a page shows is one of the values, or stands in a text of them."""
        if readings_of_text(text, ignore_case=self._ignore_case) & self._read:
            return True
        numbers = list(numbers_in(text))
        if len(numbers) == 1 and numbers[0] & self._read:
            return True
        wanted = _marked(fold(text, ignore_case=self._ignore_case))
        return bool(wanted) and wanted in self._text
