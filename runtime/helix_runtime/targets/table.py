"""The `[target]` table of evals.toml: which keys there are, for which kind of target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..refusal import close_match
from . import FORMS

_FRAMEWORKS: Final = ("pydantic-ai", "langgraph", "openai-agents")
_EVERY: Final = tuple(FORMS)
PRESETS: Final = ("openai-chat", "mastra", "a2a")
_OBSERVES: Final = ("output", "tools", "path")


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _table(value: Any) -> bool:
    return isinstance(value, dict)


def _observes(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(item in _OBSERVES for item in value)
    )


def _one_of(*words: str) -> tuple[Callable[[Any], bool], str]:
    return (lambda value: value in words), "one of " + ", ".join(words)


_A_TEXT: Final = (_text, "a text that is not empty")
_A_TABLE: Final = (_table, "a table")
_KEYS: Final[
    Mapping[str, tuple[tuple[Callable[[Any], bool], str], tuple[str, ...]]]
] = {
    "ref": (_A_TEXT, _EVERY),
    "user": (_A_TEXT, _EVERY),
    "warm_up": (_A_TEXT, _EVERY),
    "max_turns": ((_count, "a whole number of at least 1"), _EVERY),
    "concurrency": ((_count, "a whole number of at least 1"), _EVERY),
    "observes": (
        (_observes, 'a list of "output", "tools" and "path"'),
        ("python", "command", "http", *_FRAMEWORKS),
    ),
    "deps": (_A_TEXT, _FRAMEWORKS),
    "input": (_A_TABLE, ("langgraph",)),
    "output": (_A_TEXT, ("langgraph",)),
    "preset": (_one_of(*PRESETS), ("http",)),
    "model": (_A_TEXT, ("http",)),
    "version": (_one_of("0.3", "1.0"), ("http",)),
    "headers": (_A_TABLE, ("http",)),
    "body": (_A_TABLE, ("http",)),
    "request": (_A_TABLE, ("http",)),
    "response": (_A_TABLE, ("http",)),
}
_REQUEST: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "method": _one_of("GET", "POST", "PUT"),
    "query": _A_TABLE,
    "body": (lambda value: isinstance(value, (dict, list)), "a table or a list"),
}
_RESPONSE: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "output": _A_TEXT,
    "error": _A_TEXT,
    "session": _A_TEXT,
    "model": _A_TEXT,
    "input_tokens": _A_TEXT,
    "output_tokens": _A_TEXT,
    "cost_usd": _A_TEXT,
    "tool_calls": _A_TEXT,
    "call": _A_TABLE,
}
_CALL: Final = dict.fromkeys(("name", "arguments", "result", "error", "id"), _A_TEXT)
_HEADER: Final = {"env": _A_TEXT, "prefix": (lambda v: isinstance(v, str), "a text")}
_SECRET_HEADERS: Final = ("auth", "cookie", "key", "token", "secret", "password")


def faults_of(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, what is wrong) for every fault of the table."""
    kind = kind_of(table.get("ref"))
    for key, value in table.items():
        if key not in _KEYS:
            yield f"target.{key}", f"is no setting{_known(key, _KEYS)}"
            continue
        (holds, words), kinds = _KEYS[key]
        if not holds(value):
            yield f"target.{key}", f"must be {words}"
        elif kind is not None and kind not in kinds:
            yield f"target.{key}", f"is not for {kind}: targets, only for " + ", ".join(
                f"{each}:" for each in kinds
            )
        else:
            yield from _inside(key, value)
    if "ref" not in table:
        yield "target.ref", "is missing: it says how the subject is reached"
    if kind == "http":
        yield from _http_faults(table)


def kind_of(ref: Any) -> str | None:
    """Return the kind of target that a REF names, or None where it names none."""
    kind = ref.partition(":")[0] if isinstance(ref, str) else None
    if kind == "https":
        return "http"
    return kind if kind in FORMS else None


def for_kind(table: Mapping[str, Any], kind: str | None) -> dict[str, Any]:
    """Return what of the table holds for another kind of target than its own."""
    return {
        key: value
        for key, value in table.items()
        if key in _KEYS and kind in _KEYS[key][1] and key != "ref"
    }


def _http_faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    preset = table.get("preset")
    if preset is not None:
        for key in ("request", "response"):
            if key in table:
                yield f"target.{key}", "stands beside `preset`: give one of the two"
    elif "body" in table:
        yield "target.body", "adds to a preset: without one, write target.request.body"
    if preset == "openai-chat" and "model" not in table:
        yield "target.model", 'is missing: preset "openai-chat" sends a model'
    if "model" in table and preset != "openai-chat":
        yield "target.model", 'belongs to preset "openai-chat"'
    if "version" in table and preset != "a2a":
        yield "target.version", 'belongs to preset "a2a"'


def _inside(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if key == "request":
        yield from _each(value, _REQUEST, "target.request")
    elif key == "response":
        yield from _each(value, _RESPONSE, "target.response")
        call = value.get("call")
        if isinstance(call, dict):
            yield from _each(call, _CALL, "target.response.call")
            if "name" not in call:
                yield "target.response.call.name", "is missing"
        if ("tool_calls" in value) != ("call" in value):
            yield "target.response", "needs `tool_calls` and `call`, or neither"
    elif key == "headers":
        for name, header in value.items():
            yield from _header(name, header)


def _header(name: str, header: Any) -> Iterator[tuple[str, str]]:
    place = f"target.headers.{name}"
    if isinstance(header, dict):
        yield from _each(header, _HEADER, place)
        if "env" not in header:
            yield place, 'must name a variable of the environment: { env = "NAME" }'
    elif not isinstance(header, str):
        yield place, 'must be a text or { env = "NAME", prefix = "Bearer " }'
    elif any(word in name.lower() for word in _SECRET_HEADERS):
        yield place, (
            'can hold a secret, which comes from the environment: write { env = "NAME", '
            'prefix = "Bearer " }'
        )
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        yield place, "is no name of a header"


def _each(
    table: Mapping[str, Any],
    known: Mapping[str, tuple[Callable[[Any], bool], str]],
    place: str,
) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if key not in known:
            yield f"{place}.{key}", f"is no setting{_known(key, known)}"
        elif not known[key][0](value):
            yield f"{place}.{key}", f"must be {known[key][1]}"


def _known(key: str, known: Mapping[str, Any]) -> str:
    return f"{close_match(key, list(known))}; there are {', '.join(known)}"
