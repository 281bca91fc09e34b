"""Checks of what a run shows: that what it computed stands in the page that it made.

The **computed** values stand at paths of the result of a tool (`source`), or of the
answer's data. The **artifact** is HTML, Markdown or plain text: the answer or a field
of it (`path`), or what the run handed to a tool (`artifact`, and `path` in its
arguments) or got from it (`part: result`); of several the last one. Computed are the
last results of `source` before it. The module `artifact` finds both.

Values compare by what they read as (see `readings` and `shown_values`): white space, the
spelling of numbers and the escapes of HTML make no difference. Bools, nulls and blanks
show in too many ways and are left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from ..case import Case
from ..record import field, record
from ..trace import Trace
from ..verdict import (
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    passed,
    uncertain,
)
from .arguments import primitive
from .artifact import Found, computed_at, look_for, nothing_computed, too_large
from .conditions import optional_condition_fault
from .page import Format, place_fault
from .paths import counted, listed, shown
from .shown_values import Known, Shown, Value, compared

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
    found = _found(
        "rendered",
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
    values, cut = computed_at(found, slots, decimals=decimals, ignore_case=ignore_case)
    if not values:
        return too_large(found) if cut else nothing_computed(slots)
    look = Shown(found.page, ignore_case=ignore_case)
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
        return too_large(found)
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
    found = _found(
        "faithful",
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
    seen = _compare(found, slots, decimals=decimals, ignore_case=ignore_case)
    if not seen.number:
        return too_large(found) if seen.cut else nothing_computed(list(slots))
    if seen.altered and not found.page.unread:
        said = [f"for `{one.path}` {words}" for one, words in seen.altered[:3]]
        return failed(
            f"{found.what} shows {'; '.join(said)}.",
            *(found.computed_ref(one.path, one.value) for one, _ in seen.altered),
            found.cited,
            value=seen.share,
        )
    if seen.unclear:
        one, words = seen.unclear[0]
        return uncertain(
            f"{found.what} shows several numbers for `{one.path}`, {words}, of which "
            f"one is {shown(one.value)}.",
            found.computed_ref(one.path, one.value),
            text="name a place that holds the value alone",
        )
    if seen.cut:
        return too_large(found)
    return passed(
        f"{found.what} shows {counted(seen.number, 'computed value')} as computed.",
        *(found.computed_ref(one.path, one.value) for one in seen.same),
        value=seen.share,
    )


@record(frozen=False)
class _Compared:
    """What stands at the places of computed values: the same, altered, or unclear.

    `number` counts the values, each at its places; `cut` says that not all of the data,
    or of the page, was looked at.
    """

    cut: bool
    number: int = 0
    same: list[Value] = field(default_factory=list)
    altered: list[tuple[Value, str]] = field(default_factory=list)
    unclear: list[tuple[Value, str]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of values that are shown as they are."""
        return len(self.same) / self.number


def _compare(
    found: Found,
    slots: Mapping[str, str],
    *,
    decimals: int | None,
    ignore_case: bool,
) -> _Compared:
    """Compare each computed value with what the page shows at its place."""
    seen = _Compared(cut=found.page.unread)
    for slot, place in slots.items():
        values, more = computed_at(
            found, [slot], decimals=decimals, ignore_case=ignore_case
        )
        seen.cut = seen.cut or more
        texts = found.page.at(place, ignore_case=ignore_case)
        seen.number += len(values)
        for one, text, state in compared(values, texts, ignore_case=ignore_case):
            if state == "same":
                seen.same.append(one)
            elif state == "unclear":
                seen.unclear.append((one, f"{shown(text)} at {place!r}"))
            else:
                what = (
                    f"not {shown(one.value)} but {shown(text)}" if text else "nothing"
                )
                seen.altered.append((one, f"{what} at {place!r}"))
    return seen


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
    found = _found(
        "no_orphan",
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
    known = Known(
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
        return too_large(found)
    said = [f"{shown(text)} at {place!r}" for place, text in orphans[:3]]
    return failed(
        f"{found.what} shows what nothing computed: {', '.join(said)}.",
        found.cited,
        value=share,
    )


def _found(
    name: str,
    trace: Trace,
    *,
    source: str,
    artifact: str,
    path: str,
    part: Literal["arguments", "result"],
    where: Mapping[str, Any] | None,
    format: Format,
    any_source: bool = False,
) -> Found | Verdict:
    """Return the page and what was computed before it, or the verdict without them.

    `name` is the check's; the others are its arguments.
    """
    wrong = _fault(
        source=source, artifact=artifact, path=path, part=part, any_source=any_source
    )
    if wrong is not None:
        return could_not_judge(f"ui.{name}: {wrong}")
    return look_for(
        trace,
        source=source,
        artifact=artifact,
        path=path,
        part=part,
        where=where,
        format=format,
        any_source=any_source,
    )


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
