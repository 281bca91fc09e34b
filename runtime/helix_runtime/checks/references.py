"""Reference integrity: what is cited must exist.

Cited ids come from the output: by `pattern`, a regular expression over the answer
(its first group where it has one, else the whole match), or by `cited`, a path to
data (`sources.*.id`; `*` stands for each element). Exactly one of the two is given.
Ids compare NFC-normalized, as whole words: `doc-1` does not occur in `doc-12`, `1` not in
`1.5`, and an address not in a longer one. What can't be an id where `cited` leads (an
object) leaves the check open: nobody looked for what it names.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..case import Case
from ..trace import Trace
from ..verdict import (
    Ref,
    Verdict,
    could_not_judge,
    failed,
    not_applicable,
    nothing_there,
    passed,
    uncertain,
)
from .arguments import (
    MAX_MATCHED,
    TooLong,
    compiled,
    names_fault,
    pattern_fault,
    primitive,
)
from .calls import calls_of, is_open, unknown_result
from .paths import (
    MISSING,
    as_data,
    counted,
    fold,
    gather,
    is_list,
    listed,
    output_at,
    output_ref,
    place,
    ref,
    shown,
    text_of,
    texts_of,
    unobserved,
    unread_note,
)

Cited = list[tuple[str, str]]


def _optional_pattern_fault(pattern: Any) -> str | None:
    return None if pattern is None else pattern_fault(pattern)


def _one_source_fault(pattern: str | None, cited: str | None) -> str | None:
    if (pattern is None) == (cited is None):
        return "give exactly one of `pattern` and `cited`."
    return None


@primitive(pattern=_optional_pattern_fault, tools=names_fault)
def retrieved(
    case: Case,
    trace: Trace,
    *,
    pattern: str | None = None,
    cited: str | None = None,
    at_least: int = 0,
    tools: Sequence[str] = (),
    known: str | None = None,
) -> Verdict:
    """Pass where every cited id occurs in what the run retrieved.

    That is the results of tool calls and the outputs of retrieval spans, or of the
    calls of `tools` alone. `known` is a path to the ids in each result
    (`hits.*.id`); without it an id may stand anywhere in a result's text. Fewer than
    `at_least` citations fail; none at all, where none is asked for, is `na`. The
    measured value is the share of cited ids that were retrieved.
    """
    wrong = _one_source_fault(pattern, cited)
    if wrong is not None:
        return could_not_judge(f"references.retrieved: {wrong}")
    abstention = unobserved(trace, "tools")
    if abstention is not None:
        return abstention
    ids = _cited(trace, pattern, cited)
    if isinstance(ids, Verdict):
        return ids
    few = _too_few(trace, ids, at_least, cited)
    if few is not None:
        return few
    sources = list(_retrieved(trace, tools))
    exact: set[str] = set()
    if known is not None:
        for _, data in sources:
            exact.update(_ids_at(data, known))
    lost: Cited = []
    refs: list[Ref] = []
    texts = [(obs, _folded(data)) for obs, data in sources]
    for at, name in ids:
        if known is not None:
            if name not in exact:
                lost.append((at, name))
            continue
        obs = next((obs for obs, text in texts if _occurs(name, text)), None)
        if obs is None:
            lost.append((at, name))
        else:
            refs.append(Ref(obs, "output", name))
    if lost:
        abstention = _unseen(trace, tools, sources, known)
        if abstention is not None:
            return abstention
    where = (
        f"{counted(len(sources), 'retrieved result')}"
        if sources
        else "nothing was retrieved"
    )
    nowhere = known is not None and bool(sources) and not exact
    return _verdict(ids, lost, refs=refs, where=where, nowhere=nowhere)


@primitive(pattern=_optional_pattern_fault)
def in_case(
    case: Case,
    trace: Trace,
    *,
    pattern: str | None = None,
    cited: str | None = None,
    at_least: int = 0,
) -> Verdict:
    """Pass where every cited id occurs in the case's query or input.

    For a subject that is given its sources. Otherwise as `retrieved`: none cited is
    `na`, fewer than `at_least` fail.
    """
    wrong = _one_source_fault(pattern, cited)
    if wrong is not None:
        return could_not_judge(f"references.in_case: {wrong}")
    ids = _cited(trace, pattern, cited)
    if isinstance(ids, Verdict):
        return ids
    few = _too_few(trace, ids, at_least, cited)
    if few is not None:
        return few
    given = {"query": fold(case.query), "input": _folded(case.input)}
    lost: Cited = []
    refs: list[Ref] = []
    for at, name in ids:
        path = next((p for p, text in given.items() if _occurs(name, text)), None)
        if path is None:
            lost.append((at, name))
        else:
            refs.append(Ref("case", path, name))
    return _verdict(ids, lost, refs=refs, where="the case's query and input")


@primitive()
def resolved(
    case: Case, trace: Trace, *, cited: str, known: str, at_least: int = 0
) -> Verdict:
    """Pass where every id at `cited` of the output stands at `known` of the output.

    For references inside one answer: `steps.*.needs.*` and `steps.*.id`. None cited
    is `na`, fewer than `at_least` fail.
    """
    ids = _cited(trace, None, cited)
    if isinstance(ids, Verdict):
        return ids
    few = _too_few(trace, ids, at_least, cited)
    if few is not None:
        return few
    there = set(_ids_at(trace.output, known))
    lost = [(at, name) for at, name in ids if name not in there]
    where = f"`{known}` of the output"
    return _verdict(ids, lost, refs=[], where=where, nowhere=not there)


def _cited(trace: Trace, pattern: str | None, cited: str | None) -> Any:
    """Return [(path, id)] of what the output cites, each id once, or an abstention."""
    output = output_at(trace, "")
    if isinstance(output, Verdict):
        return output
    if output is MISSING:
        return []
    found: dict[str, str] = {}
    if pattern is not None:
        for name in _matches(pattern, trace.answer or ""):
            found.setdefault(fold(name), "")
    else:
        for at, value in gather(output, cited or ""):
            if _holds_no_id(value):
                return uncertain(
                    f"{place(at)} is {shown(value)}, which is no id.",
                    output_ref(trace, at),
                    text="name the path of the ids themselves, such as `sources.*.id`",
                )
            for below, item in _scalars(at, value):
                found.setdefault(fold(item), below)
    return [(at, name) for name, at in found.items() if name]


def _matches(pattern: str, text: str) -> Iterator[str]:
    if len(text) > MAX_MATCHED:
        raise TooLong(f"the answer has {len(text)} characters, too long to match.")
    for match in compiled(pattern).finditer(text):
        yield (match.group(1) if match.re.groups else match.group()) or ""


def _scalars(at: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (path, id) of a text or a number, or of each of a list of them."""
    if is_list(value):
        for index, item in enumerate(value):
            if not is_list(item):
                yield from _scalars(f"{at}.{index}" if at else str(index), item)
    elif isinstance(value, str) or (
        isinstance(value, (int, float)) and not isinstance(value, bool)
    ):
        yield at, text_of(value)


def _holds_no_id(value: Any) -> bool:
    """Whether what is cited is, or holds, something that is neither id nor nothing."""
    if is_list(value):
        return any(is_list(item) or _holds_no_id(item) for item in value)
    return isinstance(value, (Mapping, bool))


def _folded(data: Any) -> str:
    """Return all texts of data as one, in which none runs into the next."""
    return "\0".join(fold(text) for text in texts_of(data))


def _unseen(
    trace: Trace,
    tools: Sequence[str],
    sources: Sequence[tuple[str, Any]],
    known: str | None,
) -> Verdict | None:
    """Return the abstention where an id may stand in what was not recorded, or read."""
    calls = calls_of(trace, tools) if tools else trace.tool_calls
    hidden = [call for call in calls if is_open(call)]
    if hidden:
        return unknown_result(hidden)
    for obs, data in sources if known is not None else ():
        note = unread_note(data) if isinstance(data, str) else ""
        if note:
            return uncertain(
                f"A retrieved result can't be read{note}.",
                ref(obs, "output", data),
                text="record whole results in the trace",
            )
    return None


def _ids_at(data: Any, path: str) -> Iterator[str]:
    for at, value in gather(data, path):
        for _, name in _scalars(at, value):
            yield fold(name)


def _retrieved(trace: Trace, tools: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield (span id, data) of what the run retrieved."""
    for call in calls_of(trace, tools) if tools else trace.tool_calls:
        if call.result is not None and not call.error:
            yield call.result_span_id or call.span_id, as_data(call.result)
    if not tools:
        for span in trace.spans:
            if span.kind == "retrieval" and span.output is not None:
                yield span.id, as_data(span.output)


def _occurs(name: str, text: str) -> bool:
    """Whether an id stands in a text as a whole word; both are folded."""
    address = "://" in name
    at = text.find(name)
    while at >= 0:
        before, after = text[max(at - 2, 0) : at], text[at + len(name) :][:2]
        if not (
            _continues(before[::-1], name[:1])
            or _continues(after, name[-1:])
            or (address and _goes_on(after))
        ):
            return True
        at = text.find(name, at + 1)
    return False


def _continues(beside: str, edge: str) -> bool:
    """Whether a word goes on beside an id, whose last character there is `edge`."""
    first, second = beside[:1], beside[1:]
    if first.isalnum() or first in ("-", "_"):
        return first != ""
    return first in (".", ",") and edge.isdecimal() and second.isdecimal()


def _goes_on(after: str) -> bool:
    return after[:1] in ("/", "?", "#", "&", "=", ".", ":") and after[1:].isalnum()


def _too_few(
    trace: Trace, ids: Cited, at_least: int, path: str | None
) -> Verdict | None:
    cited = [output_ref(trace, "")] if trace.answer is not None else []
    if len(ids) < at_least:
        words = f"The answer cites {counted(len(ids), 'id')}, fewer than {at_least}."
        nowhere = bool(cited) and path is not None and not gather(trace.output, path)
        if nowhere:
            return nothing_there(f"{words} Nothing stands at `{path}`.", *cited)
        return failed(words, *cited)
    return None if ids else not_applicable("The answer cites no id.")


def _verdict(
    ids: Cited,
    lost: Cited,
    *,
    refs: Sequence[Ref],
    where: str,
    nowhere: bool = False,
) -> Verdict:
    """Return what is lost of what is cited.

    `nowhere` says that no id at all stands where they are looked for: that place may be
    misspelt.
    """
    share = (len(ids) - len(lost)) / len(ids)
    if not lost:
        return passed(
            f"{counted(len(ids), 'cited id')}, each found ({where}).",
            *refs,
            value=share,
        )
    names = listed([name for _, name in lost])
    said = (
        f"{len(lost)} of {counted(len(ids), 'cited id')} not found ({where}): {names}."
    )
    fail = nothing_there if nowhere else failed
    return fail(said, *(ref("output", at, name) for at, name in lost), value=share)
