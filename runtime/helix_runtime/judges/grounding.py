"""Refs resolved again: a verdict stands only on evidence that is there.

A judge cites `{obs, path, value}`. Code looks each ref up in the run, the case and
what the suite knows of the spec. A pass or a fail with a ref that does not resolve,
with none at all, or with none into what the run itself holds, becomes `uncertain`,
blocked by `factual-intent`: it is never flipped, and an `uncertain` is left as it is.

A ref that resolves is worth one of two things. It is **evidence** where it quotes what
the run holds. It only **supports** where it would be true of any run, or is not of the
run at all: the spec, the case and its expectation; what the user or the system said
to the subject; a status or a role; a length; a field that is empty or absent. What stands everywhere by chance (two letters, JSON
punctuation, `null`) resolves only as the whole of what stands at the path.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from ..canonical import dump_line
from ..case import Case
from ..criterion import Criterion
from ..record import record, replace
from ..suite import Subject
from ..trace import Span, Trace, parse_json
from ..verdict import BlockedBy, Ref, Verdict
from .evidence import Evidence


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
        worth = [weigh(ref, place) for ref in verdict.refs]
        dead = [
            ref
            for ref, is_worth in zip(verdict.refs, worth, strict=True)
            if is_worth == "dead"
        ]
        if not dead and "evidence" in worth:
            return verdict, ()
    if verdict.refs and not dead:
        why = (
            "no evidence from the run is cited, only the case, the spec, what was said "
            "to the subject, or what is absent, empty, a status or a length: "
        ) + "; ".join(map(_spell, verdict.refs[:3]))
    elif verdict.refs:
        why = (
            "the judge quoted text that is not in the run, so the verdict was set to "
            "uncertain: "
        ) + "; ".join(map(_spell, dead[:3]))
        if len(dead) > 3:
            why += f" (and {len(dead) - 3} more)"
    return (
        replace(
            verdict, result="uncertain", blocked_by=BlockedBy("factual-intent", why)
        ),
        (f"downgraded from {verdict.result}: {why}",),
    )


Worth = Literal["dead", "supporting", "evidence"]


def resolves(ref: Ref, place: Ground) -> bool:
    """Return whether the ref's value stands where the ref says."""
    return weigh(ref, place) != "dead"


def weigh(ref: Ref, place: Ground) -> Worth:
    """Return what the ref is worth: nothing, support, or evidence from the run.

    `obs` names a span by id or name, `trajectory[i]`, `transcript[i]`, `output`,
    `case`, `spec` (or `agentspec…`), or the trace by its id; an empty one means
    anywhere in the run. `path` is dotted, with list indexes and a last `length`.
    """
    try:
        return _weigh(ref, place)
    except RecursionError:
        # Data of a run that is nested as deep as Python reads: nothing in it is found.
        return "dead"


def _weigh(ref: Ref, place: Ground) -> Worth:
    worth: Worth = "dead"
    for root, is_run in _roots(ref, place):
        for found, is_content in _walk(root, _steps(ref.path)):
            if is_run and is_content and _is_evidence(ref.value, found):
                return "evidence"
            if _matches(ref.value, found):
                worth = "supporting"
    # The suite holds what the judge is told of the spec, not the whole file: the
    # judge's path into the file can't be followed, its words can be found.
    if _is_spec(ref.obs) and _matches(ref.value, _spec_view(place)):
        worth = "supporting"
    return worth


def _is_evidence(value: str, found: Any) -> bool:
    """Whether the value quotes something that a run need not hold."""
    if found is None or found is _ABSENT or found in ("", [], {}):
        return False
    if _PUNCTUATION.issuperset(_squash(value)):
        return False
    return _matches(value, _content(found))


# -- where a ref points ----------------------------------------------------------


class _View(dict[str, Any]):
    """A record of ours, not data of the run: a name that it lacks is made up."""


# What every run has, whatever its subject did.
_STATUS: Final = frozenset(("status", "role", "kind", "prompt"))
# Whose words are said to the subject, and are none of its own.
_OTHERS: Final = ("user", "system")


def _roots(ref: Ref, place: Ground) -> Iterator[tuple[Any, bool]]:
    """Yield where to look, and whether that is the run's own content."""
    obs = ref.obs.strip()
    trace = place.trace
    for span in trace.spans:
        if obs in (span.id, span.name, span.tool_name):
            yield _span_view(span), True
    if obs == trace.id or obs in ("", "trace"):
        yield _trace_view(place), True
    if _is_spec(obs):
        yield _spec_view(place), False
    if obs:
        steps = _steps(obs)
        yield from _walk(_of_run(place, steps[:1]), steps)
        # Made only where the run itself did not do: most refs are into the run.
        for found, _ in _walk(_around(place), steps):
            yield found, False


def _of_run(
    place: Ground, names: Sequence[str] = ("output", "trajectory", "transcript")
) -> _View:
    """Return of the run what `names` name: a long one has many turns."""
    view = _View()
    if "output" in names:
        view["output"] = place.trace.output
    if "trajectory" in names:
        view["trajectory"] = place.evidence.trajectory
    if "transcript" in names:
        view["transcript"] = [_View(turn) for turn in place.evidence.transcript]
    return view


def _around(place: Ground) -> _View:
    case = place.case
    spec = _spec_view(place)
    names = _View(
        case=_case_view(case),
        query=case.query,
        input=case.input,
        expected=case.expected,
        expectedBehavior=case.expected_behavior,
        subject=spec,
        subjectProfile=spec,
    )
    names.setdefault(case.id, _case_view(case))
    return names


def _case_view(case: Case) -> _View:
    empty = dict.fromkeys(("input", "expected", "expectedBehavior"))
    return _View({**empty, **case.to_row()})


def _trace_view(place: Ground) -> _View:
    trace = place.trace
    return _View(
        **_of_run(place),
        input=_View(prompt=trace.prompt),
        prompt=trace.prompt,
        status=trace.status,
        spans=[_span_view(span) for span in trace.spans],
    )


def _span_view(span: Span) -> _View:
    return _View(
        name=span.name,
        kind=span.kind,
        role=span.effective_role,
        status=span.status,
        input=span.input,
        output=span.output,
        content=span.text,
    )


def _spec_view(place: Ground) -> _View:
    criterion = place.criterion
    view = _View(place.subject.profile())
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


def _content(data: Any) -> Any:
    """Return data of a run without what every run has."""
    if isinstance(data, _View):
        if data.get("role") in _OTHERS:
            return {}
        return {key: _content(data[key]) for key in data if key not in _STATUS}
    if isinstance(data, list) and data and isinstance(data[0], _View):
        return [_content(item) for item in data]
    return data


_SPEC: Final = re.compile(r"\s*(agent)?spec\b", re.IGNORECASE)


def _is_spec(obs: str) -> bool:
    return _SPEC.match(obs) is not None


# -- the path --------------------------------------------------------------------

_ABSENT: Final = object()
_MISSING: Final = object()


_INDEX: Final = re.compile(r"\[([^\[\]]*)\]")
_MAX_STEPS: Final = 200


def _steps(path: str) -> list[str]:
    """`$.a[0]["b"].c` → a, 0, b, c."""
    path = path.strip().removeprefix("$")
    if "[" in path:
        path = _INDEX.sub(lambda index: "." + index[1].strip().strip("\"'"), path)
    return [step for step in path.split(".") if step][:_MAX_STEPS]


def _walk(data: Any, steps: Sequence[str]) -> Iterator[tuple[Any, bool]]:
    """Yield what stands at the path, if anything, and whether it is content.

    The absent last step inside data that is there reads as _ABSENT, so that the
    absence of a field or an item can be cited, as `null`. It is no content, nor is a
    length, a status, or what others said to the subject.
    """
    at = 0
    is_content = True
    by_others = False
    while True:
        by_others = by_others or (
            isinstance(data, _View) and data.get("role") in _OTHERS
        )
        if at == len(steps):
            break
        if isinstance(data, str):
            data = parse_json(data)
        step = steps[at]
        last = at == len(steps) - 1
        if isinstance(data, Mapping):
            key, used = _key(data, steps, at)
            if key is None:
                if isinstance(data, _View):
                    return
                if last and step == "length":
                    yield len(data), False
                elif last:
                    yield _ABSENT, False
                return
            is_content = not (isinstance(data, _View) and key in _STATUS)
            data, at = data[key], at + used
            continue
        if isinstance(data, Sequence) and not isinstance(data, str):
            if last and step == "length":
                yield len(data), False
                return
            if not step.lstrip("-").isdecimal() or len(step) > 9:
                return
            index = int(step)
            if not -len(data) <= index < len(data):
                if last:
                    yield _ABSENT, False
                return
            data = data[index]
        elif isinstance(data, str) and last and step == "length":
            yield len(data), False
            return
        else:
            return
        at += 1
    yield data, is_content and not by_others


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
_CONSTANTS: Final = frozenset((*_NOTHING, "true", "false"))


def _matches(value: str, found: Any) -> bool:
    """Whether `value` is what was found, or an exact quotation from it.

    White space is normalized; data may be cited in any spelling of its JSON. What
    stands in any text by chance counts only as the whole of what was found.
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
    if _is_trivial(cited):
        return isinstance(found, str) and cited == _squash(found)
    return any(_quoted(reading, found) for reading in readings)


_PUNCTUATION: Final = frozenset("{}[]()\"',:;. ")
_WIDE: Final = 0x2E80
"""From here on a character of a script is a syllable or a word of its own."""


def _is_trivial(cited: str) -> bool:
    if cited.lower() in _CONSTANTS:
        return True
    weight = 0
    for letter in cited:
        if letter.isalnum():
            weight += 2 if ord(letter) >= _WIDE else 1
            if weight >= 3:
                return False
    return True


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
    # Three letters stand by chance in any text: they count as whole words.
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
    if isinstance(found, str):
        found = parse_json(found)
        if isinstance(found, str):
            return False
    data = _load(text)
    if data is _MISSING:
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
