"""Find data by a dotted path, compare it, and cite it; what all primitives share.

A path names keys and list positions: `items.0.id`; a negative position counts from
the end. A key may hold dots itself: the shortest key that leads somewhere wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..record import like
from ..trace import Trace, as_text, parse_json, parts_text
from ..unitf import unread_of
from ..verdict import Ref, Verdict, failed, nothing_there, uncertain

MAX_EXCERPT: Final = 160
MAX_SHOWN: Final = 80


class _Missing:
    """The type of MISSING: nothing stands at a path (null is something)."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing()


def lookup(data: Any, path: str) -> Any:
    """Return what stands at `path` in `data`, or MISSING; an empty path is `data`."""
    if not path:
        return data
    if data.__class__ is dict and "." not in path:
        return data.get(path, MISSING)
    return _descend(data, path.split("."))


def _descend(data: Any, keys: Sequence[str]) -> Any:
    if not keys:
        return data
    if isinstance(data, Mapping):
        for end in range(1, len(keys) + 1):
            key = ".".join(keys[:end])
            if key in data:
                found = _descend(data[key], keys[end:])
                if found is not MISSING:
                    return found
        return MISSING
    if is_list(data):
        position = _position(keys[0], len(data))
        return MISSING if position is None else _descend(data[position], keys[1:])
    return MISSING


def _position(key: str, length: int) -> int | None:
    digits = key.removeprefix("-")
    # isdecimal alone takes any script's digits; nine of them are enough for a list.
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
        return None
    position = int(key)
    if position < 0:
        position += length
    return position if 0 <= position < length else None


def gather(data: Any, path: str) -> list[tuple[str, Any]]:
    """Return every (path, value) that `path` names; `*` stands for each element.

    The paths that come back have no `*` in them. A path without `*` gives at most one.
    """
    places: list[tuple[str, Any]] = [("", data)]
    for part in _parts(path):
        grown: list[tuple[str, Any]] = []
        for prefix, value in places:
            if part == "*":
                grown += ((_join(prefix, key), item) for key, item in _children(value))
                continue
            found = lookup(value, part)
            if found is not MISSING:
                grown.append((_join(prefix, part), found))
        places = grown
    return places


def _parts(path: str) -> Iterator[str]:
    plain: list[str] = []
    for key in path.split(".") if path else ():
        if key != "*":
            plain.append(key)
            continue
        if plain:
            yield ".".join(plain)
        yield key
        plain = []
    if plain:
        yield ".".join(plain)


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif is_list(value):
        yield from ((str(index), item) for index, item in enumerate(value))


def _join(prefix: str, key: str) -> str:
    return f"{prefix}.{key}" if prefix else key


def is_list(value: Any) -> bool:
    """Whether `value` is a list of data; a text is not."""
    return isinstance(value, (list, tuple))


def is_number(value: Any) -> bool:
    """Whether `value` is a finite number; a bool, NaN and infinities are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) or value - value == 0


def is_empty(value: Any) -> bool:
    """Whether `value` says nothing: null, blank text, an empty list or object.

    A text of signs that nobody sees (a zero-width space, a filler) is blank too.
    """
    if value is MISSING or value is None:
        return True
    if isinstance(value, str):
        return not value.strip() or (not value.isascii() and not _is_visible(value))
    return isinstance(value, (Mapping, list, tuple)) and not value


def _is_visible(text: str) -> bool:
    from unicodedata import category

    return any(
        not (sign.isspace() or category(sign) in ("Cc", "Cf") or sign in _FILLERS)
        for sign in text
    )


_FILLERS: Final = "\u115f\u1160\u2800\u3164\uffa0"


def as_float(number: Any) -> float | None:
    """Return a finite number as a float, or None where a float can't hold it."""
    if not is_number(number):
        return None
    try:
        return float(number)
    except OverflowError:
        return None


def text_of(value: Any) -> str:
    """Return data as the text that critiques and refs show; nothing is empty."""
    if value is MISSING:
        return ""
    return as_text(value) or ""


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in which data is searched: its JSON, and each text in it.

    JSON writes quotes, backslashes, line ends and often letters in another way.
    """
    yield text_of(value)
    waiting = [value] if isinstance(value, (Mapping, list, tuple)) else []
    seen: set[int] = set()  # a target's own data may hold itself
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, (Mapping, list, tuple)) and id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, Mapping):
                waiting += one.keys()
                waiting += one.values()
            else:
                waiting += one


def holds_text(forms: Sequence[str], wanted: str, *, ignore_case: bool = False) -> bool:
    """Whether one of some folded texts holds a text."""
    folded = fold(wanted, ignore_case=ignore_case)
    for form in forms:  # a generator would cost as much as the search
        if folded in form:
            return True
    return False


def fold(text: str, *, ignore_case: bool = False) -> str:
    """Return the form in which texts compare: NFC, runs of white space as one space."""
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)
    if ignore_case:
        text = text.casefold()
    return " ".join(text.split())


def same(left: Any, right: Any, *, ignore_case: bool = False) -> bool:
    """Whether two pieces of JSON data are equal.

    Texts compare in their folded form (`fold`), numbers by value; a bool is not a
    number; the order of an object's keys does not matter, that of a list does.
    """
    if isinstance(left, str) and isinstance(right, str):
        return left == right or fold(left, ignore_case=ignore_case) == fold(
            right, ignore_case=ignore_case
        )
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            same(left[key], right[key], ignore_case=ignore_case) for key in left
        )
    if is_list(left) and is_list(right):
        return len(left) == len(right) and all(
            same(one, other, ignore_case=ignore_case)
            for one, other in zip(left, right, strict=True)
        )
    return left is None and right is None


def key_of(value: Any, *, ignore_case: bool = False) -> Any:
    """Return a hashable form of data: two are equal where `same` says so.

    It finds repeats in one pass, where comparing each with each would be quadratic.
    """
    if isinstance(value, str):
        return fold(value, ignore_case=ignore_case)
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, (int, float)):
        return ("number", value)
    if isinstance(value, Mapping):
        return frozenset(
            (key, key_of(item, ignore_case=ignore_case)) for key, item in value.items()
        )
    if is_list(value):
        return tuple(("item", key_of(item, ignore_case=ignore_case)) for item in value)
    return ("other", id(value))


def covers(found: Any, wanted: Any, *, ignore_case: bool = False) -> bool:
    """Whether `found` holds all that `wanted` says; it may hold more.

    Objects cover key by key; a list covers a list when each wanted element is
    covered by one of its elements (order and repeats do not matter); else `same`. Where
    nothing is wanted, an empty object or list, only nothing covers it.
    """
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return (bool(wanted) or not found) and all(
            key in found and covers(found[key], value, ignore_case=ignore_case)
            for key, value in wanted.items()
        )
    if is_list(found) and is_list(wanted):
        return (bool(wanted) or not found) and all(
            any(covers(item, value, ignore_case=ignore_case) for item in found)
            for value in wanted
        )
    return same(found, wanted, ignore_case=ignore_case)


def read_as(text: Any, wanted: Any) -> Any:
    """Return a text as the JSON scalar it spells where `wanted` is not a text.

    An answer is text; `42` and `true` in it are the number and the bool when those
    are what it is compared with. Anything else comes back as it is.
    """
    if not isinstance(text, str) or isinstance(wanted, str):
        return text
    if isinstance(wanted, (Mapping, list, tuple)):
        return parse_json(text)
    stripped = text.strip()
    # Short texts only: int() of a long digit string is quadratic.
    if not 0 < len(stripped) <= 40:
        return text
    import json

    try:
        return json.loads(stripped)
    except ValueError:
        return text


def parsed(value: Any) -> Any:
    """Return the object or list that a text is JSON of, else the value itself.

    What a tool is called with is read so: its arguments are no chat content, even where
    they have a `role` and a `content`.
    """
    return _read_json(value) if isinstance(value, str) else value


def as_data(value: Any) -> Any:
    """Return what a span holds as data: the object or list that a text is JSON of.

    Chat content (a message, a list of parts) reads as its text.
    """
    text = value if isinstance(value, str) else parts_text(value)
    return value if text is None else _read_json(text)


def _read_json(text: str) -> Any:
    """Return the object or list that a text is JSON of, else the text.

    Where a key stands twice, nobody knows which of the two was meant: it stays a text.
    """
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return text
    from ..strict_json import one_reading

    try:
        return one_reading(stripped)
    except (ValueError, RecursionError):
        return text


# -- critiques and refs -------------------------------------------------------------


def shown(value: Any, *, limit: int = MAX_SHOWN) -> str:
    """Return data for a critique: texts in quotes, everything shortened to `limit`."""
    if value is MISSING:
        return "nothing"
    text = fold(text_of(value)) if isinstance(value, str) else text_of(value)
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    if isinstance(value, str):
        return f'"{text}"'
    return text or "null"


def listed(values: Sequence[Any], *, limit: int = 5) -> str:
    """Return several values for a critique: the first `limit`, then how many more."""
    first = ", ".join(shown(value) for value in values[:limit])
    rest = len(values) - limit
    return f"{first} and {rest} more" if rest > 0 else first


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def excerpt(text: str, *, start: int = 0) -> str:
    """Return the piece of `text` from `start` that a ref holds, word for word."""
    return text[start : start + MAX_EXCERPT].strip()


def ref(obs: str, path: str, value: Any) -> Ref:
    """Return the citation of a value: its text as it stands there, or its beginning."""
    return like(_REF, obs=obs, path=path, value=excerpt(text_of(value)))


_REF: Final = Ref("", "", "")


# -- what the trace says ------------------------------------------------------------


UNRECORDED: Final = "The trace does not record "
UNREAD: Final = "The trace may hold tool calls that can't be read"
"""How an abstention begins that is about the recording, and says nothing of the run."""


def unobserved(trace: Trace, what: str) -> Verdict | None:
    """Return the abstention where the trace could not record `what`, else None."""
    if what in trace.observed:
        return None
    nouns = {"tools": "tool calls", "path": "workflow steps", "output": "output"}
    noun = nouns.get(what, what)
    how = f"record {noun} in the trace"
    if what == "tools":
        how += (
            ": a target that returns only a text shows none; let it return a dict "
            "with `output` and `tool_calls`"
        )
    unread = unread_of(trace) if what == "tools" else []
    if unread:
        return uncertain(
            f"{UNREAD} ({unread[0]}), so this can't be decided.",
            text=f"mend how the trace is recorded: {'; '.join(unread)}",
        )
    return uncertain(f"{UNRECORDED}{noun}, so this can't be decided.", text=how)


def output_at(trace: Trace, path: str) -> Any:
    """Return what stands at `path` in the output, MISSING, or an abstention.

    A Verdict comes back where the output was not observed.
    """
    abstention = unobserved(trace, "output")
    if abstention is not None:
        return abstention
    if trace.answer is None:
        return MISSING
    return lookup(trace.output, path)


def text_at(trace: Trace, path: str) -> Any:
    """Return the text at `path` in the output, MISSING, or an abstention.

    An empty path is the whole answer, word for word; data reads as its JSON text.
    """
    value = output_at(trace, path)
    if isinstance(value, Verdict) or value is MISSING:
        return value
    if not path:
        return trace.answer or ""
    return MISSING if value is None else text_of(value)


def searched_at(trace: Trace, path: str, *, ignore_case: bool) -> list[str]:
    """Return the folded texts in which the output at `path` is searched.

    An answer that is JSON is searched as it stands and as what it says. Only where
    `text_at` finds a text.
    """
    value = lookup(trace.output, path)
    if isinstance(value, str):
        # Most answers are: an answer that is no JSON says what it is.
        return [fold(value, ignore_case=ignore_case)]
    texts = [] if path else [trace.answer or ""]
    texts += texts_of(value)
    return [fold(text, ignore_case=ignore_case) for text in dict.fromkeys(texts)]


def is_answer(
    trace: Trace, path: str, found: Any, wanted: Any, *, ignore_case: bool = False
) -> bool:
    """Whether what stands at `path` of the output equals some data (`same`).

    The whole answer is a text: it counts as the number or bool that it spells, and as
    JSON where the data is a text of JSON.
    """
    read = found if path else read_as(found, wanted)
    if same(read, wanted, ignore_case=ignore_case):
        return True
    if path or not isinstance(wanted, str) or isinstance(found, str):
        return False
    return same(trace.answer, wanted, ignore_case=ignore_case) or same(
        found, parsed(wanted), ignore_case=ignore_case
    )


def nothing_at(path: str, trace: Trace) -> Verdict:
    """Return the fail for a path at which nothing stands, with what to look at."""
    if trace.answer is None:
        return failed("The run gave no answer.")
    if not path:
        return failed("The answer is empty.")
    return nothing_there(
        f"Nothing stands at `{path}` of the output{text_note(trace)}.",
        output_ref(trace, ""),
    )


def text_note(trace: Trace) -> str:
    """Return why an answer has no fields, as a clause; empty where it has some."""
    answer = trace.answer
    if answer is None or not isinstance(trace.output, str):
        return ""
    if "```" in answer:
        return ": the answer is text with a code fence, not JSON alone"
    return unread_note(answer) or ": the answer is text, not JSON"


def unread_note(text: str) -> str:
    """Return why what begins like JSON can't be read as such, as a clause, or nothing."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return ""
    from ..strict_json import strict_loads, why_unreadable

    try:
        strict_loads(stripped)
    except ValueError as error:
        return f": it is not JSON ({why_unreadable(error)})"
    return ""


def place(path: str) -> str:
    """Return the words for a path of the output, to begin a sentence with."""
    return f"`{path}` of the output" if path else "The answer"


def output_ref(trace: Trace, path: str) -> Ref:
    """Return the citation of a path of the output; an empty path is the answer."""
    return ref("output", path, lookup(trace.output, path))
