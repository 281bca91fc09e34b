"""Checks of the output: what the subject answered, or one field of it.

`path` names a field of the output where that is data (`route.queue`, `steps.0.id`);
without it a check reads the whole answer. Where nothing stands at a path the check
fails; only `contains_none` passes on a run that gave no answer at all.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..case import Case
from ..trace import Trace
from ..verdict import Verdict, could_not_judge, failed, passed, untested
from .arguments import limits_fault, outside, primitive, search, telling_pattern_fault
from .formats import FORMATS
from .paths import (
    MISSING,
    excerpt,
    fold,
    holds_text,
    is_answer,
    is_empty,
    is_list,
    listed,
    nothing_at,
    output_at,
    output_ref,
    place,
    ref,
    searched_at,
    shown,
    text_at,
    text_note,
    text_of,
)
from .schema import breaches, speaks_of, telling_schema_fault


def _texts_fault(texts: Any) -> str | None:
    if not texts:
        return "must name at least one text"
    return None if all(fold(text) for text in texts) else "has an empty text"


def _values_fault(values: Any) -> str | None:
    return None if values else "must name at least one value"


@primitive()
def present(case: Case, trace: Trace, *, path: str = "") -> Verdict:
    """Pass where something stands at `path`: not null, blank, or an empty list.

    0 and false are something.
    """
    value = output_at(trace, path)
    if isinstance(value, Verdict):
        return value
    if value is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    if is_empty(value):
        return failed(f"{place(path)} is empty: {shown(value)}.", cited)
    return passed(f"{place(path)} holds {shown(value)}.", cited)


@primitive()
def equals(
    case: Case, trace: Trace, *, value: Any, path: str = "", ignore_case: bool = False
) -> Verdict:
    """Pass where the output equals `value` as JSON data.

    Texts compare NFC-normalized, with runs of white space as one space. A bool is
    not a number. An answer that spells a number or a bool counts as one where
    `value` is one.
    """
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    if is_answer(trace, path, found, value, ignore_case=ignore_case):
        return passed(f"{place(path)} is {shown(value)}.", cited)
    return failed(f"{place(path)} is {shown(found)}, not {shown(value)}.", cited)


@primitive(texts=_texts_fault)
def contains(
    case: Case,
    trace: Trace,
    *,
    texts: Sequence[str],
    match: Literal["all", "any"] = "all",
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the output contains all (or any) of `texts`.

    Both sides are NFC-normalized, with runs of white space as one space. Data is
    searched as its JSON text, and in each text of it. The measured value is the share
    of texts found.
    """
    text = text_at(trace, path)
    if isinstance(text, Verdict):
        return text
    if text is MISSING:
        return nothing_at(path, trace)
    forms = searched_at(trace, path, ignore_case=ignore_case)
    missing = [
        one for one in texts if not holds_text(forms, one, ignore_case=ignore_case)
    ]
    hits = [one for one in texts if one not in missing]
    share = len(hits) / len(texts)
    cited = ref("output", path, excerpt(text, start=_start(text, hits)))
    where = place(path)
    if not missing or (match == "any" and hits):
        return passed(f"{where} contains {listed(hits)}.", cited, value=share)
    lacks = "contains none of" if match == "any" else "lacks"
    return failed(f"{where} {lacks} {listed(missing)}.", cited, value=share)


@primitive(texts=_texts_fault)
def contains_none(
    case: Case,
    trace: Trace,
    *,
    texts: Sequence[str],
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the output contains none of `texts`; also where there is no answer.

    Texts compare as in `contains`. A `path` at which nothing stands fails, so that a
    misspelt path never passes.
    """
    text = text_at(trace, path)
    if isinstance(text, Verdict):
        return text
    if text is MISSING:
        if trace.answer is None:
            words = "The run gave no answer, so it contains none of the texts."
            return untested(words)
        return nothing_at(path, trace)
    forms = searched_at(trace, path, ignore_case=ignore_case)
    hits = [one for one in texts if holds_text(forms, one, ignore_case=ignore_case)]
    cited = ref("output", path, excerpt(text, start=_start(text, hits)))
    where = place(path)
    if hits:
        return failed(f"{where} contains {listed(hits)}.", cited)
    return passed(f"{where} contains none of {listed(texts)}.", cited)


def _start(text: str, hits: Sequence[str]) -> int:
    """Return where a ref should begin so that its excerpt shows the first hit."""
    found = [position for hit in hits if (position := text.find(hit)) >= 0]
    return max(0, min(found, default=0) - 20)


@primitive(pattern=telling_pattern_fault)
def regex(
    case: Case,
    trace: Trace,
    *,
    pattern: str,
    match: Literal["search", "full"] = "search",
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the text matches a regular expression of Python's `re`.

    `match` says whether it may match anywhere ("search") or must match the whole
    text without outer white space ("full"). The text is matched as it stands. A text
    of more than 100,000 characters is uncertain: avoid nested repeats such as
    `(a+)+`, whose time explodes on texts that almost match.
    """
    text = text_at(trace, path)
    if isinstance(text, Verdict):
        return text
    if text is MISSING:
        return nothing_at(path, trace)
    where = place(path)
    read = text.strip() if match == "full" else text
    found = search(pattern, read, match=match, ignore_case=ignore_case)
    if found is None:
        return failed(
            f"{where} does not match {shown(pattern)}: {shown(text)}.",
            ref("output", path, text),
        )
    start, matched = found
    cited = ref("output", path, matched if matched.strip() else read[start:])
    return passed(f"{where} matches {shown(pattern)}: {shown(matched)}.", cited)


@primitive(values=_values_fault)
def one_of(
    case: Case,
    trace: Trace,
    *,
    values: Sequence[Any],
    path: str = "",
    ignore_case: bool = False,
) -> Verdict:
    """Pass where the output equals one of `values`, compared as in `equals`."""
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    where = place(path)
    for value in values:
        if is_answer(trace, path, found, value, ignore_case=ignore_case):
            return passed(f"{where} is {shown(value)}, one of those allowed.", cited)
    return failed(f"{where} is {shown(found)}, not one of {listed(values)}.", cited)


@primitive(schema=telling_schema_fault)
def json_schema(
    case: Case, trace: Trace, *, schema: Mapping[str, Any], path: str = ""
) -> Verdict:
    """Pass where the output is valid under a JSON Schema (draft 2020-12, a subset).

    A keyword outside the subset is an error of the check, never ignored; `format` is
    checked. An answer must be JSON alone, without prose or a code fence around it.
    """
    found = output_at(trace, path)
    if isinstance(found, Verdict):
        return found
    if found is MISSING:
        return nothing_at(path, trace)
    where = place(path)
    faults = breaches(schema, found)
    if not faults and not speaks_of(schema, found):
        return failed(
            f"{where} is {shown(found)}, of which the schema says nothing"
            f"{text_note(trace)}.",
            output_ref(trace, path),
        )
    if not faults:
        return passed(f"{where} fits the schema.", output_ref(trace, path))
    said = []
    refs = []
    for below, what in faults:
        full = ".".join(part for part in (path, below) if part)
        said.append(f"`{full}` {what}" if full else f"the answer {what}")
        refs.append(output_ref(trace, full))
    note = text_note(trace)
    return failed(f"{where} breaks the schema{note}: {'; '.join(said)}.", *refs)


def _format_fault(name: Any) -> str | None:
    if name in FORMATS:
        return None
    return f"is not a known format; there are {', '.join(FORMATS)}"


@primitive(name=_format_fault)
def format(case: Case, trace: Trace, *, name: str, path: str = "") -> Verdict:
    """Pass where the output's text, without outer white space, has a format.

    Formats: json, json-object, json-list, integer, number, boolean, date, time,
    date-time, email, url, uuid, ipv4, ipv6, markdown-free, one-line.
    """
    text = text_at(trace, path)
    if isinstance(text, Verdict):
        return text
    if text is MISSING:
        return nothing_at(path, trace)
    cited = ref("output", path, text)
    where = place(path)
    wrong = FORMATS[name](text.strip())
    if wrong is None:
        return passed(f"{where} has the format {name}.", cited)
    return failed(f"{where} is not {name}: {wrong}.", cited)


@primitive()
def length(
    case: Case,
    trace: Trace,
    *,
    unit: Literal["characters", "words", "lines", "items"] = "characters",
    at_least: int | None = None,
    at_most: int | None = None,
    path: str = "",
) -> Verdict:
    """Pass where the output is neither too short nor too long.

    `unit` says what is counted; "items" counts the elements of a list or the keys of
    an object. The measured value is the count.
    """
    wrong = limits_fault(at_least, at_most)
    if wrong is not None:
        return could_not_judge(f"output.length: {wrong}")
    value = output_at(trace, path)
    if isinstance(value, Verdict):
        return value
    if value is MISSING:
        return nothing_at(path, trace)
    cited = output_ref(trace, path)
    where = place(path)
    if unit == "items":
        if not (is_list(value) or isinstance(value, Mapping)):
            return failed(f"{where} is {shown(value)}, not a list or object.", cited)
        count = len(value)
    else:
        text = (trace.answer or "") if not path else text_of(value)
        count = {
            "characters": len(text.strip()),
            "words": len(text.split()),
            "lines": len(text.strip().splitlines()),
        }[unit]
    broken = outside(count, at_least, at_most)
    if broken is None:
        return passed(f"{where} has {count} {unit}.", cited, value=count)
    return failed(f"{where} has {count} {unit}, {broken}.", cited, value=count)
