"""Refs resolved again: a verdict stands only on evidence that is there.

A judge cites `{obs, path, value}`. Code looks each ref up in the run, the case and
what the suite knows of the spec. A pass or a fail with a ref that does not resolve,
or with none at all, becomes `uncertain`, blocked by `factual-intent`: it is never
flipped, and an `uncertain` is left as it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from .canonical import dump_line
from .case import Case
from .criterion import Criterion
from .evidence import Evidence
from .record import record, replace
from .suite import Subject
from .trace import Span, Trace, parse_json
from .verdict import BlockedBy, Ref, Verdict


@record(kw_only=True)
class Ground:
    """Everything that a ref may point into."""

    criterion: Criterion
    case: Case
    trace: Trace
    evidence: Evidence
    subject: Subject


def ground(verdict: Verdict, place: Ground) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict, downgraded where its refs do not hold, and what was done."""
    if verdict.result not in ("pass", "fail"):
        return verdict, ()
    if not verdict.refs:
        why = "no evidence is cited; a pass or a fail needs at least one ref"
    else:
        dead = [ref for ref in verdict.refs if not resolves(ref, place)]
        if not dead:
            return verdict, ()
        why = "does not resolve: " + "; ".join(map(_spell, dead[:3]))
        if len(dead) > 3:
            why += f" (and {len(dead) - 3} more)"
    return (
        replace(
            verdict, result="uncertain", blocked_by=BlockedBy("factual-intent", why)
        ),
        (f"downgraded from {verdict.result}: {why}",),
    )


def resolves(ref: Ref, place: Ground) -> bool:
    """Return whether the ref's value stands where the ref says.

    `obs` names a span by id or name, `trajectory[i]`, `transcript[i]`, `output`,
    `case`, `spec` (or `agentspec…`), or the trace by its id; an empty one means
    anywhere in the run. `path` is dotted, with list indexes and a last `length`.
    """
    try:
        return _resolves(ref, place)
    except RecursionError:
        # Data of a run that is nested as deep as Python reads: nothing in it is found.
        return False


def _resolves(ref: Ref, place: Ground) -> bool:
    for root in _roots(ref, place):
        for found in _walk(root, _steps(ref.path)):
            if _matches(ref.value, found):
                return True
    if _is_spec(ref.obs):
        # The suite holds what the judge is told of the spec, not the whole file: the
        # judge's path into the file can't be followed, its words can be found.
        return _matches(ref.value, _spec_view(place))
    return False


# -- where a ref points ----------------------------------------------------------


def _roots(ref: Ref, place: Ground) -> Iterator[Any]:
    obs = ref.obs.strip()
    trace = place.trace
    for span in trace.spans:
        if obs in (span.id, span.name, span.tool_name):
            yield _span_view(span)
    if obs == trace.id or obs in ("", "trace"):
        yield _trace_view(place)
    if _is_spec(obs):
        yield _spec_view(place)
    if obs:
        yield from _walk(_named(place), _steps(obs))


def _named(place: Ground) -> dict[str, Any]:
    case = place.case
    return {
        "output": place.trace.output,
        "trajectory": place.evidence.trajectory,
        "transcript": place.evidence.transcript,
        "case": _case_view(case),
        case.id: _case_view(case),
        "query": case.query,
        "input": case.input,
        "expected": case.expected,
        "expectedBehavior": case.expected_behavior,
        "subject": _spec_view(place),
        "subjectProfile": _spec_view(place),
    }


def _case_view(case: Case) -> dict[str, Any]:
    row = case.to_row()
    row.setdefault("expectedBehavior", None)
    return row


def _trace_view(place: Ground) -> dict[str, Any]:
    trace = place.trace
    return {
        "output": trace.output,
        "input": {"prompt": trace.prompt},
        "prompt": trace.prompt,
        "status": trace.status,
        "trajectory": place.evidence.trajectory,
        "transcript": place.evidence.transcript,
        "spans": [_span_view(span) for span in trace.spans],
    }


def _span_view(span: Span) -> dict[str, Any]:
    return {
        "name": span.name,
        "kind": span.kind,
        "role": span.effective_role,
        "status": span.status,
        "input": span.input,
        "output": span.output,
        "content": span.text,
    }


def _spec_view(place: Ground) -> dict[str, Any]:
    criterion = place.criterion
    view: dict[str, Any] = dict(place.subject.profile())
    view["criterion"] = {
        "id": criterion.id,
        "statement": criterion.statement,
        "goal": criterion.goal,
    }
    view["actions"] = [[tool.name, tool.description] for tool in place.subject.tools]
    judge = criterion.judge
    if judge is not None:
        view["criterion"].update(
            passWhen=judge.pass_when, failWhen=judge.fail_when, notes=judge.notes
        )
    return view


def _is_spec(obs: str) -> bool:
    return re.match(r"\s*(agent)?spec\b", obs, re.IGNORECASE) is not None


# -- the path --------------------------------------------------------------------

_ABSENT: Final = object()
_MISSING: Final = object()


_INDEX: Final = re.compile(r"\[([^\[\]]*)\]")
_MAX_STEPS: Final = 200


def _steps(path: str) -> list[str]:
    """`$.a[0]["b"].c` → a, 0, b, c."""
    path = _INDEX.sub(
        lambda index: "." + index[1].strip().strip("\"'"),
        path.strip().removeprefix("$"),
    )
    return [step for step in path.split(".") if step][:_MAX_STEPS]


def _walk(data: Any, steps: Sequence[str]) -> Iterator[Any]:
    """Yield what stands at the path: nothing, or one value.

    The absent last key of an object reads as _ABSENT, so that the absence of a field
    can be cited, as `null`.
    """
    at = 0
    while at < len(steps):
        if isinstance(data, str):
            data = parse_json(data)
        step = steps[at]
        last = at == len(steps) - 1
        if isinstance(data, Mapping):
            key, used = _key(data, steps, at)
            if key is None:
                if last and step == "length":
                    yield len(data)
                elif last:
                    yield _ABSENT
                return
            data, at = data[key], at + used
            continue
        if isinstance(data, Sequence) and not isinstance(data, str):
            if last and step == "length":
                yield len(data)
                return
            if not step.lstrip("-").isdecimal() or len(step) > 9:
                return
            index = int(step)
            if not -len(data) <= index < len(data):
                return
            data = data[index]
        elif isinstance(data, str) and last and step == "length":
            yield len(data)
            return
        else:
            return
        at += 1
    yield data


def _key(
    data: Mapping[str, Any], steps: Sequence[str], at: int
) -> tuple[str | None, int]:
    """The key at `at`; a key may itself hold dots (`ticket.route`)."""
    for used in range(1, min(len(steps) - at, 8) + 1):
        key = ".".join(steps[at : at + used])
        if key in data:
            return key, used
    return None, 0


# -- the value -------------------------------------------------------------------

_NOTHING: Final = ("null", "none", "absent", "undefined")


def _matches(value: str, found: Any) -> bool:
    """Whether `value` is what was found, or an exact quotation from it.

    White space is normalized; data may be cited in any spelling of its JSON.
    """
    cited = _squash(value)
    if found is _ABSENT:
        return cited.lower() in _NOTHING
    if not cited:
        return found is None or found in ("", [], {})
    readings = {cited}
    unescaped = _unescaped(value)
    if unescaped is not None:
        readings.add(_squash(unescaped))
    if _data_equal(value, found):
        return True
    return any(_quoted(reading, found) for reading in readings)


def _quoted(cited: str, found: Any) -> bool:
    if isinstance(found, str):
        return _within(cited, _squash(found))
    if isinstance(found, Mapping | list | tuple):
        leaves = list(_leaves(found))
        if any(_within(cited, _squash(leaf)) for leaf in leaves):
            return True
        # A quotation across several fields, in whichever layout of the JSON.
        packed = _packed(cited)
        return len(packed) > 2 and packed in _packed(dump_line(found))
    return cited == _squash(dump_line(found))


def _within(cited: str, text: str) -> bool:
    if cited == text:
        return True
    if len(cited) >= 4 or not cited.isascii():
        return cited in text
    # Two or three letters stand by chance in any text: they count as whole words.
    return re.search(rf"(?<!\w){re.escape(cited)}(?!\w)", text) is not None


def _data_equal(value: str, found: Any) -> bool:
    text = value.strip()
    if found is None:
        return text.lower() in _NOTHING
    if isinstance(found, bool):
        return text.lower() == ("true" if found else "false")
    if isinstance(found, str) and text[:1] == '"' and text[-1:] == '"':
        inside = text[1:-1]
        return _squash(_unescaped(inside) or inside) == _squash(found)
    data = _load(text)
    if data is _MISSING:
        return False
    if isinstance(found, str):
        found = parse_json(found)
        if isinstance(found, str):
            return False
    if isinstance(data, bool) or data is None:
        return False
    return bool(data == found)


def _load(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _MISSING


_ESCAPE: Final = re.compile(r'\\(?:(["\\/])|([bfnrt])|u([0-9a-fA-F]{4}))')


def _unescaped(value: str) -> str | None:
    r"""The text that `value` spells as the inside of a JSON string (`\n`, `\"`)."""
    if "\\" not in value:
        return None

    def plain(match: re.Match[str]) -> str:
        character, white_space, code = match.groups()
        if white_space:
            return "\b" if white_space == "b" else " "
        return character or chr(int(code, 16))

    text = _ESCAPE.sub(plain, value)
    # JSON spells a character beyond the first plane as two surrogates.
    return text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "surrogatepass"
    )


def _leaves(data: Any) -> Iterator[str]:
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(value)
        elif isinstance(value, str):
            yield value
        else:
            yield dump_line(value)


def _squash(text: str) -> str:
    return " ".join(text.split())


def _packed(text: str) -> str:
    return "".join(text.split())


def _spell(ref: Ref) -> str:
    where = f"{ref.obs}.{ref.path}" if ref.path else ref.obs
    value = ref.value if len(ref.value) <= 80 else ref.value[:79] + "…"
    return f"{where or '(nowhere)'} = {value!r}"
