"""Checks of tool calls: which were made, in which order, with what, and how they went.

Names match as in `names`: exactly, else in any host's spelling. A trace that does not
record tool calls is uncertain. Not to have called a tool can be right: `not_called`
and its kin pass on a run without calls.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from ..case import Case
from ..trace import ToolCall, Trace
from ..verdict import (
    Ref,
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    passed,
    uncertain,
    untested,
)
from .approvals import approvals_of, held_against
from .arguments import (
    limits_fault,
    name_fault,
    names_fault,
    outside,
    pattern_fault,
    primitive,
    search,
    some_names_fault,
)
from .calls import (
    call_ref,
    calls_of,
    is_open,
    result_ref,
    unknown_arguments,
    unknown_result,
    unread,
)
from .conditions import (
    condition_fault,
    held,
    looks_inside,
    optional_condition_fault,
    summary,
    unmet,
)
from .names import Names
from .paths import (
    as_data,
    counted,
    is_empty,
    key_of,
    listed,
    parsed,
    shown,
    text_of,
    unobserved,
    unread_note,
)


def _pattern_or_none_fault(pattern: Any) -> str | None:
    return None if pattern is None else pattern_fault(pattern)


def _not_negative(limit: Any) -> str | None:
    return None if limit is None or limit >= 0 else "can't be negative"


def _made(calls: Sequence[ToolCall]) -> str:
    """Return which tools were called for a critique: each name with its number."""
    numbers: dict[str, int] = {}
    for call in calls:
        numbers[call.name] = numbers.get(call.name, 0) + 1
    said = [shown(n) + (f" ×{k}" if k > 1 else "") for n, k in numbers.items()]
    if len(said) > 8:
        said[8:] = [f"{len(said) - 8} more"]
    return ", ".join(said) or "nothing"


# -- which ----------------------------------------------------------------------------


@primitive(name=name_fault, at_least=_not_negative, at_most=_not_negative)
def called(
    case: Case,
    trace: Trace,
    *,
    name: str,
    at_least: int = 1,
    at_most: int | None = None,
) -> Verdict:
    """Pass where the run called the tool `name`, within limits of how often.

    The measured value is the number of calls.
    """
    return _count(trace, "tools.called", [name], at_least=at_least, at_most=at_most)


@primitive(name=name_fault)
def not_called(case: Case, trace: Trace, *, name: str) -> Verdict:
    """Pass where the run never called the tool `name`."""
    return _none_called(trace, [name])


@primitive(names=some_names_fault)
def any_called(case: Case, trace: Trace, *, names: Sequence[str]) -> Verdict:
    """Pass where the run called at least one of the tools."""
    return _count(trace, "tools.any_called", names, at_least=1, at_most=None)


@primitive(names=some_names_fault)
def none_called(case: Case, trace: Trace, *, names: Sequence[str]) -> Verdict:
    """Pass where the run called none of the tools."""
    return _none_called(trace, names)


@primitive(names=names_fault, at_least=_not_negative, at_most=_not_negative)
def count(
    case: Case,
    trace: Trace,
    *,
    names: Sequence[str] = (),
    at_least: int | None = None,
    at_most: int | None = None,
) -> Verdict:
    """Pass where the number of calls lies within limits: of some tools, or of all.

    The measured value is the number of calls.
    """
    return _count(trace, "tools.count", names, at_least=at_least, at_most=at_most)


def _count(
    trace: Trace,
    primitive_name: str,
    names: Sequence[str],
    *,
    at_least: int | None,
    at_most: int | None,
) -> Verdict:
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"{primitive_name}: {wrong}")
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    calls = calls_of(trace, names) if names else trace.tool_calls
    number = len(calls)
    noun = "call" if names else "tool call"
    what = counted(number, noun) + (f" of {listed(list(names))}" if names else "")
    refs = [call_ref(call) for call in calls]
    broken = outside(number, at_least, at_most)
    if broken is None and not calls and at_most != 0:
        return untested(f"The run made {what}.", value=number)
    if broken is None:
        return passed(f"The run made {what}.", *refs, value=number)
    others = "" if calls else f"; it called {_made(trace.tool_calls)}"
    words = f"The run made {what}, {broken}{others}."
    return failed(words, *refs, value=number)


def _none_called(trace: Trace, names: Sequence[str]) -> Verdict:
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    calls = calls_of(trace, names)
    if not calls:
        return passed(
            f"The run never called {listed(list(names))}; "
            f"it called {_made(trace.tool_calls)}."
        )
    refs = [call_ref(call) for call in calls]
    return failed(f"The run called {_made(calls)}.", *refs)


@primitive(declared=names_fault)
def only_declared(case: Case, trace: Trace, *, declared: Sequence[str]) -> Verdict:
    """Pass where every call is of a declared tool; also where there is no call."""
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    known = Names(declared)
    strange = [call for call in trace.tool_calls if known.find(call.name) is None]
    if not strange:
        number = len(trace.tool_calls)
        if not number:
            return untested(_NO_TOOL)
        return passed(f"{counted(number, 'call')}, of declared tools alone.")
    names = list(dict.fromkeys(call.name for call in strange))
    refs = [call_ref(call) for call in strange]
    return failed(f"Not declared: {listed(names)}.", *refs)


@primitive(names=names_fault, at_most=_not_negative)
def no_repeats(
    case: Case, trace: Trace, *, at_most: int = 1, names: Sequence[str] = ()
) -> Verdict:
    """Pass where no call is made more than `at_most` times with the same arguments.

    Of some tools, or of all. The measured value is the largest number of repeats.
    """
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    groups: dict[Any, list[ToolCall]] = {}
    considered = calls_of(trace, names) if names else trace.tool_calls
    abstention = unknown_arguments(considered)
    if abstention is not None:
        return abstention
    for call in considered:
        given = parsed(call.arguments)
        key = None if is_empty(given) else key_of(given)
        groups.setdefault((call.name, key), []).append(call)
    largest = max((len(group) for group in groups.values()), default=0)
    repeated = [group for group in groups.values() if len(group) > at_most]
    if not considered:
        return untested(_none_of(names), value=0)
    if not repeated:
        return passed(f"No call was made more than {_times(at_most)}.", value=largest)
    first = repeated[0]
    return failed(
        f"The run called {shown(first[0].name)} {_times(len(first))} with the "
        f"same arguments, more than {at_most}.",
        *(call_ref(call) for group in repeated for call in group),
        value=largest,
    )


def _none_of(names: Sequence[str]) -> str:
    """Return that no tool was called, or none of some."""
    return f"The run called none of {listed(list(names))}." if names else _NO_TOOL


_NO_TOOL: Final = "The run called no tool."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


# -- in which order -------------------------------------------------------------------


@primitive(names=some_names_fault)
def order(case: Case, trace: Trace, *, names: Sequence[str]) -> Verdict:
    """Pass where the run called all of these tools in this order.

    Other calls may stand between; a tool named twice must be called twice.
    """
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    calls = list(trace.tool_calls)
    at = 0
    refs: list[Ref] = []
    for number, name in enumerate(names):
        known = Names([name])
        while at < len(calls) and known.find(calls[at].name) is None:
            at += 1
        if at == len(calls):
            after = f" after {shown(names[number - 1])}" if number else ""
            return failed(
                f"The run never called {shown(name)}{after}; "
                f"it called {_made(calls)}.",
                *refs,
            )
        refs.append(call_ref(calls[at]))
        at += 1
    return passed(f"The run called {listed(list(names), limit=12)} in order.", *refs)


@primitive(first=name_fault, then=name_fault)
def before(case: Case, trace: Trace, *, first: str, then: str) -> Verdict:
    """Pass where every call of `then` comes after an answered call of `first`.

    It also passes where `then` is never called. A call of `first` whose result was not
    recorded may have been answered or not.
    """
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    later = calls_of(trace, [then])
    if not later:
        return untested(f"The run never called {shown(then)}.")
    where = trace.call_positions
    earlier = calls_of(trace, [first])
    answered = [
        (where[call.index][1], call)
        for call in earlier
        if call.answered and not call.error
    ]
    # The first of each is enough: it stands before whatever the others stand before.
    done = min((at for at, _ in answered), default=len(trace.spans))
    unsure = next((call for call in earlier if is_open(call)), None)
    for call in later:
        at = where[call.index][0]
        if done < at or (unsure is not None and where[unsure.index][0] < at):
            continue
        return failed(
            f"The run called {shown(call.name)} with no completed call of "
            f"{shown(first)} before it.",
            call_ref(call),
        )
    if unsure is not None and done >= where[later[0].index][0]:
        return unknown_result([unsure])
    return passed(
        f"{shown(first)} was called before each call of {shown(then)}.",
        call_ref(answered[0][1]),
        *(call_ref(call) for call in later),
    )


# -- with what, and how it went -------------------------------------------------------


@primitive(name=name_fault, condition=condition_fault)
def arguments(
    case: Case,
    trace: Trace,
    *,
    name: str,
    condition: Mapping[str, Any],
    calls: Literal["every", "some"] = "every",
) -> Verdict:
    """Pass where the arguments of every (or some) call of a tool meet a condition.

    The condition is as in `lists`: `{field: path, equals | contains | regex |
    json_schema | …}`. Without a call, "every" is `na` and "some" fails.
    """
    return _calls_meet(trace, name, condition, calls, "arguments")


@primitive(name=name_fault, condition=condition_fault)
def results(
    case: Case,
    trace: Trace,
    *,
    name: str,
    condition: Mapping[str, Any],
    calls: Literal["every", "some"] = "every",
) -> Verdict:
    """Pass where the results of every (or some) call of a tool meet a condition.

    The condition is as in `lists`, on the result as data where it is the JSON of an
    object or a list. Without a call, "every" is `na` and "some" fails. A result that
    was not recorded may meet it or not.
    """
    return _calls_meet(trace, name, condition, calls, "result")


def _calls_meet(
    trace: Trace,
    name: str,
    condition: Mapping[str, Any],
    which: str,
    part: Literal["arguments", "result"],
) -> Verdict:
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    calls = calls_of(trace, [name])
    if not calls:
        words = f"The run never called {shown(name)}; it called "
        words += f"{_made(trace.tool_calls)}."
        return not_applicable(words) if which == "every" else failed(words)
    abstention = unknown_arguments(calls) if part == "arguments" else None
    if abstention is not None:
        return abstention
    met: list[Ref] = []
    broken: list[Ref] = []
    unsure: Verdict | None = None
    first = ""
    seen: list[Any] = []
    inside = looks_inside(condition)
    for call in calls:
        if part == "arguments":
            data, cited = parsed(call.arguments), call_ref(call)
        else:
            data, cited = as_data(call.result), result_ref(call)
            if is_open(call):
                unsure = unsure or unknown_result([call])
                continue
        # Of data that was cut off nobody knows what it lacked.
        note = unread_note(data) if inside and isinstance(data, str) else ""
        if note:
            unsure = unsure or unread(call, part, note)
            continue
        why = unmet(data, condition)
        seen.append(data)
        if part == "result" and not call.answered:
            why = "there is no result"
        if why is None:
            met.append(cited)
            continue
        broken.append(cited)
        first = first or f"call {call.index} of {shown(call.name)}: {why}"
    needed = summary(condition)
    meet = "meet" if part == "arguments" else "meets"
    if which == "some" and met:
        words = f"A call of {shown(name)} has {part} that {meet}: {needed}."
        return held(passed(words, *met), seen, condition)
    if unsure is not None and (which == "some" or not broken):
        return unsure
    if not broken:
        verdict = passed(
            f"{counted(len(met), 'call')} of {shown(name)}, each with {part} that "
            f"{meet}: {needed}.",
            *met,
        )
    else:
        verdict = failed(
            f"{len(broken)} of {counted(len(calls), 'call')} of {shown(name)} without "
            f"{part} that {meet}: {needed}; {first}.",
            *broken,
        )
    return held(verdict, seen, condition)


@primitive(names=names_fault, at_most=_not_negative, pattern=_pattern_or_none_fault)
def no_errors(
    case: Case,
    trace: Trace,
    *,
    names: Sequence[str] = (),
    at_most: int = 0,
    pattern: str | None = None,
) -> Verdict:
    """Pass where at most so many calls failed: of some tools, or of all.

    A call failed where it or its result has the status "error", or where `pattern`
    is found in its result's text. A call whose result was not recorded may have failed.
    The measured value is the number of failed calls.
    """
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    calls = calls_of(trace, names) if names else list(trace.tool_calls)
    broken = [call for call in calls if _has_failed(call, pattern)]
    number = len(broken)
    refs = [result_ref(call) for call in broken]
    unsure = [call for call in calls if is_open(call)]
    if number <= at_most < number + len(unsure):
        return unknown_result(unsure)
    if not calls:
        return untested(_none_of(names), value=0)
    if number <= at_most:
        words = f"{number} of {counted(len(calls), 'call')} failed."
        return passed(words, *refs, value=number)
    return failed(
        f"{number} of {counted(len(calls), 'call')} failed, more than {at_most}: "
        f"{_made(broken)}.",
        *refs,
        value=number,
    )


@primitive(names=names_fault, pattern=_pattern_or_none_fault)
def recovered(
    case: Case,
    trace: Trace,
    *,
    names: Sequence[str] = (),
    by: Literal["same-tool", "any-tool"] = "same-tool",
    pattern: str | None = None,
) -> Verdict:
    """Pass where each failed call is followed by one that succeeds.

    By a call of the same tool, or by any call, that was made once the failure was known.
    What counts as failed is as in `no_errors`. `na` where no call failed.
    """
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    considered = calls_of(trace, names) if names else list(trace.tool_calls)
    failures = [call for call in considered if _has_failed(call, pattern)]
    unsure = [call for call in considered if is_open(call)]
    if not failures and not unsure:
        return not_applicable("No call failed.")
    where = trace.call_positions
    # The last of each tool is enough: it stands after what it makes good.
    success: dict[str, int] = {}
    perhaps: dict[str, ToolCall] = {}
    for call in trace.tool_calls:
        tool = call.name if by == "same-tool" else ""
        if is_open(call):
            perhaps[tool] = call
        elif not _has_failed(call, pattern):
            success[tool] = where[call.index][0]
    stuck = []
    for call in failures:
        tool = call.name if by == "same-tool" else ""
        known_at = where[call.index][1]
        if success.get(tool, -1) > known_at:
            continue
        later = perhaps.get(tool)
        if later is not None and where[later.index][0] > known_at:
            unsure.append(later)
        else:
            stuck.append(call)
    # When an open call would have failed is not known, nor so what came after it.
    if unsure and not stuck:
        return unknown_result(unsure)
    if not stuck:
        refs = [result_ref(call) for call in failures]
        return passed(
            f"{counted(len(failures), 'failed call')}, made good later.", *refs
        )
    return failed(
        f"{len(stuck)} of {counted(len(failures), 'failed call')} without a later "
        f"success: {_made(stuck)}.",
        *(result_ref(call) for call in stuck),
    )


def _has_failed(call: ToolCall, pattern: str | None) -> bool:
    if call.error:
        return True
    return pattern is not None and search(pattern, text_of(call.result)) is not None


# -- approval -------------------------------------------------------------------------


@primitive(
    actions=some_names_fault,
    approvals=some_names_fault,
    granted=optional_condition_fault,
)
def approved(
    case: Case,
    trace: Trace,
    *,
    actions: Sequence[str],
    approvals: Sequence[str],
    same_fields: Sequence[str] = (),
    granted: Mapping[str, Any] | None = None,
    covers: Literal["one-call", "later-calls"] = "one-call",
) -> Verdict:
    """Pass where each call of an action comes after an approval that was granted.

    `actions` are tools, `approvals` are tools or events that record an approval. The
    newest approval before the call decides; one approval covers one call, or all
    later ones. `same_fields` are dotted paths that must hold the same data in the
    call's arguments and in the approval's own input or output. `granted` is a
    condition (as in `lists`) on the approval's result; without it the result must
    say so itself (`true`, `approved`, `{status: granted}`, …), and an event that
    carries no data is granted by its name. It also passes where no action was
    called. An approval whose result says neither is uncertain.
    """
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    calls = calls_of(trace, actions)
    if not calls:
        return untested(
            f"The run called no action that needs approval ({listed(list(actions))})."
        )
    abstention = unknown_arguments(calls) if same_fields else None
    if abstention is not None:
        return abstention
    asked = approvals_of(trace, approvals, granted=granted, fields=same_fields)
    found = held_against(
        asked,
        calls,
        where=trace.call_positions,
        fields=same_fields,
        once=covers == "one-call",
    )
    answers = [one.answer for one in reversed(asked)]
    if found.wrong:
        words = "; ".join(text for text, _ in found.wrong[:5])
        cited = [one for _, some in found.wrong for one in some]
        verdict = failed(f"{words[0].upper()}{words[1:]}.", *cited)
        return held(verdict, answers, granted)
    if found.unclear:
        return uncertain(
            f"{found.unclear[0][0]}.",
            *found.unclear[0][1],
            kind="factual-intent",
            text="say with `granted` what a granted approval looks like, and record "
            "the results of approvals",
        )
    verdict = passed(
        f"{counted(len(calls), 'call')}, approved beforehand.", *found.cited
    )
    return held(verdict, answers, granted)
