"""Checks of the output and the run against what the case expects.

`expected` names a field of the case's `expected`; where the case expects nothing of
the kind, the criterion does not apply (`na`). Data compares as in `output.equals`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..case import Case
from ..trace import Span, Trace, parts_text
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
from .arguments import primitive
from .calls import call_ref, unknown_arguments
from .expected_actions import argument_note, expected_calls, fits
from .matching import pair
from .names import Names
from .nodes import all_visits, arrows, no_node, observed_path, one_by_one
from .paths import (
    MISSING,
    as_float,
    counted,
    covers,
    fold,
    holds_text,
    is_answer,
    is_list,
    key_of,
    listed,
    lookup,
    nothing_at,
    output_at,
    output_ref,
    place,
    read_as,
    ref,
    searched_at,
    shown,
    text_at,
    text_of,
    unobserved,
)

_ACTION_FIELDS: Final = ("actionCalls", "hostActions")
_OUTPUT_FIELDS: Final = ("nodeOutputs", "workflowNodeOutputs", "memberOutputs")


def _wanted(case: Case, expected: str) -> Any:
    """Return what the case expects at a path, or MISSING; null is no expectation."""
    found = lookup(case.expected, expected)
    return MISSING if found is None else found


def _nothing_expected(expected: str) -> Verdict:
    what = f"`{expected}`" if expected else "anything"
    return not_applicable(f"The case does not expect {what}.")


def _elements(value: Any) -> list[Any] | None:
    """Return a list's elements; a text or number is a list of one; else None."""
    if is_list(value):
        return list(value)
    return None if isinstance(value, Mapping) else [value]


@primitive()
def equals(
    case: Case,
    trace: Trace,
    *,
    expected: str = "",
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the output at `path` equals what the case expects at `expected`.

    `na` where the case expects nothing there.
    """
    wanted = _wanted(case, expected)
    if wanted is MISSING:
        return _nothing_expected(expected)
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    if is_answer(trace, path, found, wanted, ignore_case=ignore_case):
        # What it is stands in the ref; a second copy of it would be all of a journal.
        return passed(f"{place(path)} is as expected.", cited)
    return failed(
        f"{place(path)} is {shown(found)}; the case expects {shown(wanted)}.",
        cited,
        _expected_ref(expected, wanted),
    )


@primitive()
def superset(
    case: Case,
    trace: Trace,
    *,
    expected: str = "",
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the output at `path` holds all that the case expects; more is fine.

    Lists: each expected element is there, order and repeats do not matter. Objects:
    each expected key is there with (at least) its value. The measured value is the
    share of what is expected that was found. `na` where an empty list is expected.
    """
    wanted = _wanted(case, expected)
    if wanted is MISSING:
        return _nothing_expected(expected)
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    parts = _parts(wanted)
    if not parts:
        return not_applicable(f"The case expects nothing in {_field(expected)}.")
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    whole = found
    if not isinstance(wanted, Mapping):
        whole = _elements(found)
        if whole is None:
            return failed(f"{place(path)} is an object, not a list.", cited)
    lacking = [
        part for part in parts if not covers(whole, part, ignore_case=ignore_case)
    ]
    share = (len(parts) - len(lacking)) / len(parts)
    if not lacking:
        words = f"{place(path)} holds all that is expected: {shown(wanted)}."
        return passed(words, cited, value=share)
    shown_parts = [part[0] if is_list(part) else part for part in lacking]
    return failed(
        f"{place(path)} lacks {listed(shown_parts)} of what the case expects.",
        cited,
        _expected_ref(expected, wanted),
        value=share,
    )


def _parts(wanted: Any) -> list[Any]:
    """Return what is expected in parts that `covers` can look for one by one."""
    if isinstance(wanted, Mapping):
        return [{key: value} for key, value in wanted.items()]
    return [[element] for element in _elements(wanted) or ()]


@primitive()
def subset(
    case: Case,
    trace: Trace,
    *,
    expected: str = "",
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where each element of the output's list at `path` is among those expected.

    An empty output list passes. A single text or number is a list of one. The
    measured value is the share of elements that are expected. `na` where the case
    expects nothing there.
    """
    wanted = _wanted(case, expected)
    if wanted is MISSING:
        return _nothing_expected(expected)
    allowed = _elements(wanted)
    if allowed is None:
        return could_not_judge(
            f"expect.subset: the case expects an object in {_field(expected)}, "
            "not a list."
        )
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    elements = _elements(found)
    if elements is None:
        return failed(f"{place(path)} is an object, not a list.", cited)
    keys = {key_of(one, ignore_case=ignore_case) for one in allowed}
    extra = [x for x in elements if key_of(x, ignore_case=ignore_case) not in keys]
    share = (len(elements) - len(extra)) / len(elements) if elements else 1.0
    if not elements:
        return untested(f"{place(path)} holds nothing.", value=share)
    if not extra:
        return passed(f"{place(path)} holds only what is expected.", cited, value=share)
    return failed(
        f"{place(path)} holds {listed(extra)}, which the case does not expect.",
        cited,
        _expected_ref(expected, wanted),
        value=share,
    )


@primitive()
def keyword_recall(
    case: Case,
    trace: Trace,
    *,
    expected: str = "keywords",
    at_least: float = 1.0,
    path: str = "",
    ignore_case: bool = True,
) -> Verdict:
    """Pass where enough of the expected keywords occur in the output's text.

    `at_least` is the share from 0 to 1, which is also the measured value. Texts
    compare as in `output.contains`. `na` where the case expects no keyword.
    """
    if not 0 < at_least <= 1:
        return could_not_judge(
            f"expect.keyword_recall: `at_least` is a share above 0 and up to 1, "
            f"not {at_least}."
        )
    wanted = _wanted(case, expected)
    keywords = [] if wanted is MISSING else _elements(wanted)
    if keywords is None:
        return could_not_judge(
            f"expect.keyword_recall: the case expects an object in {_field(expected)}, "
            "not a list of keywords."
        )
    keywords = [word for word in keywords if fold(text_of(word))]
    if not keywords:
        return _nothing_expected(expected)
    text = text_at(trace, path)
    if isinstance(text, Verdict):
        return text
    if text is MISSING:
        return nothing_at(path, trace)
    forms = searched_at(trace, path, ignore_case=ignore_case)
    lacking = [
        word
        for word in keywords
        if not holds_text(forms, text_of(word), ignore_case=ignore_case)
    ]
    # One division: 1 - 9/10 is less than 0.1.
    recall = (len(keywords) - len(lacking)) / len(keywords)
    cited = output_ref(trace, path)
    said = f"{len(keywords) - len(lacking)} of {len(keywords)} expected keywords occur"
    if recall >= at_least:
        return passed(f"{said}.", cited, value=recall)
    return failed(
        f"{said}; missing: {listed(lacking)}.",
        cited,
        _expected_ref(expected, wanted),
        value=recall,
    )


@primitive()
def near(
    case: Case,
    trace: Trace,
    *,
    expected: str = "",
    path: str = "",
    absolute: float = 0.0,
    relative: float = 0.0,
) -> Verdict:
    """Pass where the output's number lies close enough to the expected one.

    The distance allowed is the larger of `absolute` and `relative` times the
    expected number. The measured value is the distance. `na` where the case expects
    nothing there.
    """
    if absolute < 0 or relative < 0:
        return could_not_judge("expect.near: a tolerance can't be negative.")
    wanted = _wanted(case, expected)
    if wanted is MISSING:
        return _nothing_expected(expected)
    # A table (CSV) has texts alone: a number is what one spells.
    wanted = read_as(wanted, 0)
    if as_float(wanted) is None:
        return could_not_judge(
            f"expect.near: the case expects {shown(wanted)} in {_field(expected)}, "
            "not a finite number."
        )
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    number = as_float(found if path else read_as(found, 0))
    if number is None:
        return failed(f"{place(path)} is {shown(found)}, not a finite number.", cited)
    away, most = _distance(number, wanted, absolute=absolute, relative=relative)
    distance, allowed = _float(away), _float(most)
    said = f"{place(path)} is {shown(found)}; the case expects {shown(wanted)}"
    if away <= most:
        return passed(f"{said}, within {allowed:g}.", cited, value=as_float(distance))
    return failed(
        f"{said}, within {allowed:g}.",
        cited,
        _expected_ref(expected, wanted),
        value=as_float(distance),
    )


def _distance(
    number: Any, goal: Any, *, absolute: float, relative: float
) -> tuple[Any, Any]:
    """Return how far a number is from the expected one, and how far it may be.

    By their decimal text, as a person reads them: 0.4 is within 0.1 of 0.3.
    """
    from fractions import Fraction

    one, other, fixed, share = (
        Fraction(n if isinstance(n, int) else repr(n))
        for n in (number, goal, absolute, relative)
    )
    return abs(one - other), max(fixed, share * abs(other))


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


# -- the run as the case expects it -------------------------------------------------


@primitive()
def actions(
    case: Case,
    trace: Trace,
    *,
    outbound: Sequence[str],
    operations: Mapping[str, Sequence[str]] | None = None,
) -> Verdict:
    """Pass where the run calls the outbound actions its case expects, and no other.

    Reads `expected.actionCalls` and `expected.hostActions`: names, or objects with a
    name (`action`, `operation`, `tool`, `name`, …) and `arguments`, which a call must
    cover. An empty list means that no outbound action may be called. Order does not
    matter, the number of calls does. `operations` names the operations that carry
    out an action: a call of one is a call of the action. `na` where the case says
    nothing of actions, or says it in prose.
    """
    fields = [f for f in _ACTION_FIELDS if is_list(_wanted(case, f))]
    if not fields:
        given = [f for f in _ACTION_FIELDS if _wanted(case, f) is not MISSING]
        if given:
            return not_applicable(f"`expected.{given[0]}` is prose, not a list.")
        return not_applicable("The case does not say which actions it expects.")
    held = {name: tuple(others) for name, others in (operations or {}).items()}
    known = [*outbound, *held, *(name for names in held.values() for name in names)]
    if not known:
        return not_applicable("The suite knows no outbound action.")
    wanted = expected_calls(
        (
            (f"{field}.{index}", entry)
            for field in fields
            for index, entry in enumerate(_wanted(case, field))
        ),
        known,
    )
    if isinstance(wanted, Verdict):
        return wanted
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    names = Names([*known, *(one.name for one in wanted)])
    made = [call for call in trace.tool_calls if names.find(call.name) is not None]
    if any(one.arguments is not None for one in wanted):
        abstention = unknown_arguments(made)
        if abstention is not None:
            return abstention
    pairs = pair(wanted, made, lambda one, call: fits(one, call, held))
    partners = set(pairs.values())
    lacking = [one for index, one in enumerate(wanted) if index not in pairs]
    extra = [call for index, call in enumerate(made) if index not in partners]
    refs = [call_ref(call) for call in (extra or made)]
    if not lacking and not extra:
        if not wanted:
            return passed("No outbound action was called, as expected.")
        return passed(f"{counted(len(wanted), 'action call')}, all expected.", *refs)
    said = []
    if extra:
        said.append(f"unexpected calls: {listed([call.name for call in extra])}")
    if lacking:
        said.append(
            f"expected and not made: {listed([one.name for one in lacking])}"
            + argument_note(lacking, made)
        )
    refs += [
        ref("case", f"expected.{one.path}", lookup(case.expected, one.path))
        for one in lacking
    ]
    refs += [
        ref("case", f"expected.{field}", _wanted(case, field))
        for field in fields
        if not lacking
    ]
    return failed(f"The action calls differ: {'; '.join(said)}.", *refs)


@primitive()
def path(case: Case, trace: Trace, *, nodes: Sequence[str]) -> Verdict:
    """Pass where the run visits exactly the nodes of `expected.path`, in order.

    `nodes` are the ids of the workflow's nodes; spans show the visits, by name.
    Repeats in a row count once, on both sides. `na` where the case expects no path.
    """
    wanted = _wanted(case, "path")
    if not is_list(wanted) or not all(isinstance(node, str) for node in wanted):
        return _nothing_expected("path")
    if not wanted:
        return not_applicable("The case expects an empty path.")
    found = observed_path(trace, [*nodes, *wanted])
    if isinstance(found, Verdict):
        return found
    names = Names([*nodes, *wanted])
    # Both sides by one spelling: the case may write a node's id its own way.
    goal = one_by_one(names.find(node) or node for node in wanted)
    seen = [visit.node for visit in found]
    if seen == goal:
        refs = [visit.ref() for visit in found]
        return passed(f"The run took the expected path {arrows(goal)}.", *refs)
    at = next(
        (
            i
            for i, (one, other) in enumerate(zip(seen, goal, strict=False))
            if one != other
        ),
        min(len(seen), len(goal)),
    )
    refs = [visit.ref() for visit in found[at : at + 1] or found[-1:]]
    return failed(
        f"The run took {arrows(seen)}; the case expects {arrows(goal)}.",
        *refs,
        ref("case", "expected.path", wanted),
    )


@primitive()
def outputs(case: Case, trace: Trace, *, nodes: Sequence[str]) -> Verdict:
    """Pass where each node and member gives the output that its case expects.

    Reads `expected.nodeOutputs`, `workflowNodeOutputs` (by `nodeRef`) and
    `memberOutputs` (by `memberRef`), those entries alone that are data: an object, a
    list, a number, a bool, or a text without white space. A node's output is that of
    its last span that has one, and must hold what is expected; it may hold more. A
    last visit that ended in an error without one gave none.
    `na` where all is prose. A member that no span shows is uncertain; so is a node
    whose output was not recorded.
    """
    rows = list(_output_rows(case))
    if not rows:
        return not_applicable("The case expects no node's output as data.")
    abstention = unobserved(trace, "path")
    if abstention is not None:
        return abstention
    known = [*nodes, *(name for _, name, _, _ in rows)]
    shown_spans: dict[str, list[Span]] = {}
    for visit in all_visits(trace, known):
        shown_spans.setdefault(visit.node, []).append(visit.span)
    if not shown_spans:
        return no_node(known)
    names = Names(known)
    wrong, unseen, right = [], [], []
    refs: list[Ref] = []
    for field, name, wanted, at in rows:
        spans = shown_spans.get(names.find(name) or name, [])
        span = next((s for s in reversed(spans) if s.output is not None), None)
        if spans and spans[-1].status == "error" and spans[-1].output is None:
            # What an earlier visit gave is not what came of it.
            wrong.append(f"`{name}` ended in an error")
            refs.insert(0, Ref(spans[-1].id, "status", "error"))
        elif span is None and not spans and field != "memberOutputs":
            wrong.append(f"`{name}` never ran")
            refs.append(ref("case", f"expected.{at}", lookup(case.expected, at)))
        elif span is None:
            unseen.append(name)
        elif covers(_as_data(span.output, wanted), wanted):
            right.append(name)
            refs.append(ref(span.id, "output", span.output))
        else:
            wrong.append(f"`{name}` gave {shown(span.output)}, not {shown(wanted)}")
            refs.insert(0, ref(span.id, "output", span.output))
    if wrong:
        return failed(f"Outputs differ: {'; '.join(wrong[:5])}.", *refs)
    if unseen:
        return uncertain(
            f"The trace does not show the output of {listed(unseen)}.",
            text="record a span with an output for each node and member",
        )
    return passed(f"{listed(right)} gave the expected output.", *refs)


def _output_rows(case: Case) -> Iterator[tuple[str, str, Any, str]]:
    """Yield (field, node or member, expected output, path) of each entry of data."""
    for field in _OUTPUT_FIELDS:
        entries = _wanted(case, field)
        for index, entry in enumerate(entries if is_list(entries) else ()):
            if not isinstance(entry, Mapping):
                continue
            name = entry.get("memberRef" if field == "memberOutputs" else "nodeRef")
            wanted = entry.get("output")
            if not isinstance(name, str) or not name or wanted is None:
                continue
            if isinstance(wanted, str) and len(wanted.split()) != 1:
                continue
            yield field, name, wanted, f"{field}.{index}"


def _as_data(output: Any, wanted: Any) -> Any:
    """Return a span's output as data of the kind that is wanted."""
    text = parts_text(output)
    return read_as(output if text is None else text, wanted)


def _field(expected: str) -> str:
    return f"`expected.{expected}`" if expected else "`expected`"


def _expected_ref(expected: str, wanted: Any) -> Ref:
    path = f"expected.{expected}" if expected else "expected"
    return ref("case", path, wanted)
