"""Quantifiers over a list of the output: every item, some, none, how many, unique.

`path` names a list of the output; `*` stands for each element on the way
(`orders.*.lines`), and then all the lists that it names count as one. A condition is
an object of tests on one item, all of which must hold:

    {field: parameters.headers, present: true}

`field` is a path inside the item. The tests are `present`, `equals`, `one_of`,
`contains`, `regex`, `at_least`, `at_most`, `json_schema` and `not` (a condition
inside); `ignore_case: true` holds for their texts. `where` narrows a check to the
items that meet a condition of their own. Where no list stands at `path`, each check
fails: a misspelt path never passes. So it does where one of several is no list. A field
that no item has makes no pass either (see `conditions`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..case import Case
from ..record import record
from ..trace import Trace
from ..verdict import (
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    passed,
    uncertain,
    untested,
)
from .arguments import limits_fault, outside, primitive
from .conditions import (
    HOW_TO_NAME,
    condition_fault,
    held,
    optional_condition_fault,
    summary,
    unmet,
    unseen,
)
from .paths import (
    MISSING,
    as_float,
    counted,
    gather,
    is_list,
    key_of,
    lookup,
    nothing_at,
    output_at,
    output_ref,
    place,
    shown,
)

Item = tuple[str, Any]


@record
class _Items:
    """The items that a check looks at, with their paths, and all that the list has."""

    chosen: list[Item]
    all: list[Any]


def _items(
    trace: Trace, path: str, where: Mapping[str, Any] | None
) -> _Items | Verdict:
    """Return the items of the list at `path`, or the verdict that ends it.

    Which items are meant is not known where `where` chooses them by what none has.
    """
    output = output_at(trace, "")
    if isinstance(output, Verdict):
        return output
    found = [] if output is MISSING else gather(output, path)
    if not found:
        return nothing_at(path, trace)
    # One that is no list could hide what the others are held to.
    other = next(((at, value) for at, value in found if not is_list(value)), None)
    if other is not None:
        at, value = other
        words = f"{place(at)} is {shown(value)}, not a list."
        return failed(words, output_ref(trace, at))
    items = [
        (f"{at}.{index}" if at else str(index), item)
        for at, value in found
        for index, item in enumerate(value)
    ]
    every = [item for _, item in items]
    if where is None:
        return _Items(items, every)
    chosen = [(at, item) for at, item in items if unmet(item, where) is None]
    nowhere = unseen(every, where) if chosen else None
    if nowhere is not None:
        words = f"{nowhere} So it is not known which items are meant."
        return uncertain(words, output_ref(trace, chosen[0][0]), text=HOW_TO_NAME)
    return _Items(chosen, every)


def _no_item(path: str, where: Mapping[str, Any] | None) -> str:
    which = f" with {summary(where)}" if where else ""
    return f"The list at {_at(path)} has no item{which}."


def _at(path: str) -> str:
    return f"`{path}`" if path else "the top of the output"


@primitive(condition=condition_fault, where=optional_condition_fault)
def every(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    condition: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
) -> Verdict:
    """Pass where every item meets a condition; `na` where there is no item.

    The measured value is the share of items that meet it.
    """
    found = _items(trace, path, where)
    if isinstance(found, Verdict):
        return found
    items = found.chosen
    if not items:
        return not_applicable(_no_item(path, where))
    broken = [(at, why) for at, item in items if (why := unmet(item, condition))]
    share = (len(items) - len(broken)) / len(items)
    if not broken:
        number = counted(len(items), "item")
        words = f"{number} at {_at(path)}, each with {summary(condition)}."
        verdict = passed(words, output_ref(trace, items[0][0]), value=share)
        return held(verdict, found.all, condition)
    at, why = broken[0]
    verdict = failed(
        f"{len(broken)} of {counted(len(items), 'item')} at {_at(path)} without "
        f"{summary(condition)}; `{at}`: {why}.",
        *(output_ref(trace, at) for at, _ in broken[:8]),
        value=share,
    )
    return held(verdict, found.all, condition)


@primitive(condition=condition_fault, where=optional_condition_fault)
def some(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    condition: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
) -> Verdict:
    """Pass where at least one item meets a condition.

    The measured value is the share of items that meet it.
    """
    found = _items(trace, path, where)
    if isinstance(found, Verdict):
        return found
    items = found.chosen
    if not items:
        verdict = failed(_no_item(path, where), output_ref(trace, ""))
        return held(verdict, found.all, where, condition)
    met = [at for at, item in items if unmet(item, condition) is None]
    share = len(met) / len(items)
    if met:
        words = f"`{met[0]}` of the output has {summary(condition)}."
        verdict = passed(words, output_ref(trace, met[0]), value=share)
        return held(verdict, found.all, condition)
    at, item = items[0]
    verdict = failed(
        f"None of {counted(len(items), 'item')} at {_at(path)} has "
        f"{summary(condition)}; `{at}`: {unmet(item, condition)}.",
        output_ref(trace, at),
        value=share,
    )
    return held(verdict, found.all, condition)


@primitive(condition=condition_fault, where=optional_condition_fault)
def none(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    condition: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
) -> Verdict:
    """Pass where no item meets a condition; also where the list is empty.

    `na` where the list has items and none is as `where` says. The measured value is the
    share of items that do not meet it.
    """
    found = _items(trace, path, where)
    if isinstance(found, Verdict):
        return found
    items = found.chosen
    if where is not None and not items and found.all:
        return not_applicable(_no_item(path, where))
    if not items:
        return untested(_no_item(path, where), value=1.0)
    met = [at for at, item in items if unmet(item, condition) is None]
    share = (len(items) - len(met)) / len(items)
    if met:
        verdict = failed(
            f"{len(met)} of {counted(len(items), 'item')} at {_at(path)} with "
            f"{summary(condition)}, such as `{met[0]}`.",
            *(output_ref(trace, at) for at in met[:8]),
            value=share,
        )
        return held(verdict, found.all, condition)
    number = counted(len(items), "item")
    words = f"None of {number} at {_at(path)} has {summary(condition)}."
    return held(passed(words, value=share), found.all, condition)


@primitive(condition=optional_condition_fault)
def count(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    at_least: int | None = None,
    at_most: int | None = None,
    condition: Mapping[str, Any] | None = None,
) -> Verdict:
    """Pass where the number of items (that meet a condition) lies within limits.

    The measured value is the number.
    """
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"lists.count: {wrong}")
    found = _items(trace, path, condition)
    if isinstance(found, Verdict):
        return found
    items = found.chosen
    number = len(items)
    which = f" with {summary(condition)}" if condition else ""
    said = f"The list at {_at(path)} has {counted(number, 'item')}{which}"
    refs = [output_ref(trace, at) for at, _ in items[:8]]
    broken = outside(number, at_least, at_most)
    if broken is None and not found.all and at_most != 0:
        return untested(f"{said}.", value=number)
    if broken is None:
        verdict = passed(f"{said}.", *refs, value=number)
    else:
        verdict = failed(f"{said}, {broken}.", *refs, value=number)
    return held(verdict, found.all, condition)


@primitive(where=optional_condition_fault)
def unique(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    field: str = "",
    where: Mapping[str, Any] | None = None,
    ignore_case: bool = False,
) -> Verdict:
    """Pass where no two items are equal, as a whole or in one `field`.

    Items without the field do not count. `na` where there is no item.
    """
    found = _items(trace, path, where)
    if isinstance(found, Verdict):
        return found
    items = found.chosen
    values = _values(items, field)
    if not values:
        return not_applicable(_no_item(path, where))
    first: dict[Any, str] = {}
    for at, value in values:
        earlier = first.setdefault(key_of(value, ignore_case=ignore_case), at)
        if earlier != at:
            return failed(
                f"{shown(value)} stands at `{earlier}` and again at `{at}`.",
                output_ref(trace, earlier),
                output_ref(trace, at),
            )
    words = f"No two of {counted(len(values), 'item')} at {_at(path)} are equal."
    return passed(words, output_ref(trace, values[0][0]))


@primitive(where=optional_condition_fault)
def ordered(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    field: str = "",
    direction: Literal["ascending", "descending"] = "ascending",
    where: Mapping[str, Any] | None = None,
) -> Verdict:
    """Pass where the items stand in order, by themselves or by one `field`.

    Numbers order by value, texts by code point (ISO dates so by time); equal
    neighbours are in order. Mixed or other data fails. `na` where there is no item.
    """
    found = _items(trace, path, where)
    if isinstance(found, Verdict):
        return found
    items = found.chosen
    values = _values(items, field)
    if not values:
        return not_applicable(_no_item(path, where))
    numbers = [as_float(value) for _, value in values]
    texts = all(isinstance(value, str) for _, value in values)
    if not texts and any(number is None for number in numbers):
        at, value = values[[n is None for n in numbers].index(True)]
        words = (
            f"{place(at)} is {shown(value)}: only numbers, or only texts, have order."
        )
        return failed(words, output_ref(trace, at))
    for (at, value), (next_at, following) in zip(values, values[1:], strict=False):
        low, high = (value, following)
        if direction == "descending":
            low, high = high, low
        if low > high:
            return failed(
                f"{shown(value)} at `{at}` stands before {shown(following)}, "
                f"not {direction}.",
                output_ref(trace, at),
                output_ref(trace, next_at),
            )
    words = f"{counted(len(values), 'item')} at {_at(path)}, {direction}."
    return passed(words, output_ref(trace, values[0][0]))


def _values(items: Sequence[Item], field: str) -> list[Item]:
    """Return the items, or what stands at their field, with their paths."""
    if not field:
        return list(items)
    return [
        (f"{at}.{field}", value)
        for at, item in items
        if (value := lookup(item, field)) is not MISSING
    ]
