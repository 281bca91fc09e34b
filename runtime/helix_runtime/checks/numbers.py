"""Measures of the run against limits: steps, tokens, cost, latency, scores, numbers.

Each verdict carries what it measured as its value, for a criterion that aggregates a
mean. What the trace does not say is uncertain, never zero. NaN and infinities never
pass; a bool is not a number. Without limits a measure passes as soon as it is known.
"""

from collections.abc import Mapping
from typing import Any

from ..case import Case
from ..trace import Trace
from ..verdict import Ref, Verdict, could_not_judge, failed, passed, uncertain
from .arguments import limits_fault, name_fault, outside, primitive, range_fault
from .paths import (
    MISSING,
    as_float,
    is_list,
    lookup,
    nothing_at,
    output_at,
    output_ref,
    place,
    read_as,
    shown,
    unobserved,
)


def _measured(
    what: str,
    number: Any,
    at_least: float | None,
    at_most: float | None,
    *refs: Ref,
    unit: str = "",
) -> Verdict:
    """Return the verdict on a number that is known or None."""
    value = as_float(number)
    if value is None:
        return uncertain(
            f"The trace does not say {what}.", text=f"record {what} in the trace"
        )
    said = f"{what.capitalize()}: {_plain(number)}{unit}"
    broken = outside(number, at_least, at_most)
    if broken is None:
        return passed(f"{said}.", *refs, value=value)
    return failed(f"{said}, {broken}.", *refs, value=value)


def _plain(number: Any) -> str:
    return f"{number:.12g}" if isinstance(number, float) else str(number)


@primitive()
def steps(
    case: Case,
    trace: Trace,
    *,
    at_most: int | None = None,
    at_least: int | None = None,
) -> Verdict:
    """Pass where the number of model turns and tool calls lies within limits."""
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"numbers.steps: {wrong}")
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    return _measured("steps", trace.steps, at_least, at_most)


@primitive()
def tokens(
    case: Case,
    trace: Trace,
    *,
    at_most: int | None = None,
    at_least: int | None = None,
) -> Verdict:
    """Pass where the tokens that the subject used, in and out, lie within limits."""
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"numbers.tokens: {wrong}")
    return _measured("tokens", trace.usage.total_tokens, at_least, at_most)


@primitive()
def cost(
    case: Case,
    trace: Trace,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Verdict:
    """Pass where the run's cost in US dollars lies within limits."""
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"numbers.cost: {wrong}")
    return _measured("cost", trace.usage.cost_usd, at_least, at_most, unit=" USD")


@primitive()
def latency(
    case: Case,
    trace: Trace,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Verdict:
    """Pass where the run's duration in milliseconds lies within limits."""
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"numbers.latency: {wrong}")
    return _measured("latency", trace.usage.latency_ms, at_least, at_most, unit=" ms")


@primitive(name=name_fault)
def score(
    case: Case,
    trace: Trace,
    *,
    name: str,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Verdict:
    """Pass where an external score of the trace lies within limits.

    Looks in the trace's `scores` and in `ext.eval.results[].verifier` (a dotted name
    goes deeper). Several different values under one name are uncertain, and so is a
    value that is not a finite number.
    """
    wrong = range_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"numbers.score: {wrong}")
    found = _scores(trace, name)
    if not found:
        return uncertain(
            f"The trace carries no score {shown(name)}.",
            text=f"record the score {shown(name)} in the trace",
        )
    numbers = {as_float(value) for value in found}
    if None in numbers or len(numbers) > 1:
        values = ", ".join(shown(value) for value in found[:5])
        return uncertain(
            f"The score {shown(name)} is not one finite number: {values}.",
            kind="factual-intent",
            text=f"record one value for the score {shown(name)}",
        )
    (value,) = numbers
    said = f"The score {shown(name)} is {_plain(found[0])}"
    broken = outside(value or 0.0, at_least, at_most)
    if broken is None:
        return passed(f"{said}.", value=value)
    return failed(f"{said}, {broken}.", value=value)


def _scores(trace: Trace, name: str) -> list[Any]:
    found = [s.get("value") for s in trace.scores if s.get("name") == name]
    block = trace.ext.get("eval")
    results: Any = block.get("results") if isinstance(block, Mapping) else None
    for result in results if is_list(results) else ():
        if isinstance(result, Mapping):
            value = lookup(result.get("verifier"), name)
            if value is not MISSING and name:
                found.append(value)
    return found


@primitive()
def in_range(
    case: Case,
    trace: Trace,
    *,
    path: str = "",
    at_least: float | None = None,
    at_most: float | None = None,
) -> Verdict:
    """Pass where a number of the output lies within limits.

    An answer that is nothing but a number counts as one; a text in data does not.
    """
    wrong = range_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"numbers.in_range: {wrong}")
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    number = found if path else read_as(found, 0)
    value = as_float(number)
    if value is None:
        return failed(f"{place(path)} is {shown(found)}, not a finite number.", cited)
    broken = outside(number, at_least, at_most)
    if broken is None:
        return passed(f"{place(path)} is {shown(found)}.", cited, value=value)
    return failed(f"{place(path)} is {shown(found)}, {broken}.", cited, value=value)
