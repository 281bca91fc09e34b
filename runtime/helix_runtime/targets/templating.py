"""Templates over data: what of a case goes where in a request.

A template is JSON data. A text in it that is one placeholder, `"{query}"`, becomes the
value that it names, whatever its type; placeholders inside a longer text become text.
`{{` and `}}` stand for braces. Only data is looked up, by dotted paths; nothing is
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..case import Case
from ..checks.paths import MISSING, lookup
from ..refusal import Refusal, close_match
from ..trace import as_text

WORDS: Final = (
    "query",
    "messages",
    "conversation",
    "input",
    "case",
    "session",
)
"""The first words of placeholders: the message of this turn, the conversation so far
with it, an id of this run alone, the case's input and its row, and what the subject's
last response gave as its session."""

_PART: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_WHOLE: Final = re.compile(r"\{([^{}]+)\}")
_DEEPEST: Final = 64


def words_of(
    case: Case,
    *,
    text: str,
    messages: Sequence[Mapping[str, str]],
    conversation: str,
    session: Any = None,
) -> dict[str, Any]:
    """Return what the placeholders of a template can name."""
    row = case.to_row()
    for key in ("expected", "expectedBehavior", "placeholder", "source"):
        row.pop(key, None)
    return {
        "query": text,
        "messages": [dict(message) for message in messages],
        "conversation": conversation,
        "input": case.input,
        "case": row,
        "session": session,
    }


class Template:
    """A template that was checked once. Raises Refusal that names each fault."""

    def __init__(self, data: Any, *, place: str) -> None:
        faults = list(_faults(data, place, 0))
        if faults:
            raise Refusal(*faults)
        self._data = data

    def fill(self, words: Mapping[str, Any]) -> Any:
        """Return the data with every placeholder filled in; what is not there is null."""
        return _fill(self._data, words)


def _faults(data: Any, place: str, depth: int) -> Any:
    if depth > _DEEPEST:
        yield f"evals.toml: `{place}` is nested too deeply"
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from _faults(value, f"{place}.{key}", depth + 1)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _faults(value, f"{place}[{index}]", depth + 1)
    elif isinstance(data, str):
        for match in _PART.finditer(data):
            fault = _fault_of(match)
            if fault is not None:
                yield f"evals.toml: `{place}`: {fault}"
    elif not isinstance(data, (bool, int, float)):
        yield f"evals.toml: `{place}` is a {type(data).__name__}, which JSON has not"


def _fault_of(match: re.Match[str]) -> str | None:
    whole, path = match[0], match[1]
    if whole in ("{{", "}}"):
        return None
    if path is None:
        return f"a single {whole!r}: write it twice where a brace is meant"
    word = path.partition(".")[0]
    if word in WORDS:
        return None
    known = ", ".join(WORDS)
    return f"{whole!r} names nothing{close_match(word, list(WORDS))}; there are {known}"


def _fill(data: Any, words: Mapping[str, Any]) -> Any:
    if isinstance(data, Mapping):
        return {key: _fill(value, words) for key, value in data.items()}
    if isinstance(data, list):
        return [_fill(value, words) for value in data]
    if not isinstance(data, str):
        return data
    whole = _WHOLE.fullmatch(data)
    if whole is not None:
        return _found(whole[1], words)
    return _PART.sub(lambda match: _as_text(match, words), data)


def _as_text(match: re.Match[str], words: Mapping[str, Any]) -> str:
    if match[0] in ("{{", "}}"):
        return match[0][0]
    return as_text(_found(match[1], words)) or ""


def _found(path: str, words: Mapping[str, Any]) -> Any:
    word, _, rest = path.partition(".")
    found = lookup(words[word], rest)
    return None if found is MISSING else found
