"""pydantic's errors in our own words, each at its place in the file."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ..problems import Problem, listed, quoted
from .base import NULL_GIVEN, REFUSED
from .close import CloseMatches
from .located import Located, Path

Special = Callable[[Located, Path, Any], Problem | None]

_WANTED: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
}


_WORD: Final = re.compile(r"[^\s,\[\]{}]+")


def structure_problems(
    error: ValidationError,
    source: Located,
    model: type[BaseModel],
    *,
    close: CloseMatches,
    special: Special | None = None,
) -> list[Problem]:
    """Return the problems of a validation error.

    A missing key is reported at its parent's key, an unknown key at itself, all else
    at the value. A misspelt key is one problem, not two: the missing key that it
    closely matches is not reported again. `special` may say it better for one error
    (path and offending value given), or return None.
    """
    extra: dict[Path, list[str]] = {}
    missing: dict[Path, list[str]] = {}
    problems: list[Problem] = []
    for details in error.errors(include_url=False, include_input=False):
        path = real_path(source.data, details["loc"], details["type"])
        if special is not None:
            said = special(source, path, source.get(path))
            if said is not None:
                problems.append(said)
                continue
        if details["loc"][-1:] == ("[key]",):
            problems.append(_unknown_name(source, path, details, close))
        elif details["type"] == "extra_forbidden":
            extra.setdefault(path[:-1], []).append(str(path[-1]))
        elif details["type"] == "missing":
            missing.setdefault(path[:-1], []).append(str(path[-1]))
        else:
            problems.append(_value_problem(source, path, details, model, close))
    for path, keys in extra.items():
        lacking = missing.get(path, [])
        problems += _unknown_keys(source, path, keys, model, lacking, close)
    for path, keys in missing.items():
        problems += [_missing_key(source, path, key, model) for key in keys]
    return problems


def real_path(data: Any, loc: Iterable[int | str], kind: str = "") -> Path:
    """Return pydantic's `loc` without what names no part of the data (union tags)."""
    path: list[int | str] = []
    steps = list(loc)
    for number, step in enumerate(steps, 1):
        if isinstance(step, str) and not isinstance(data, dict):
            continue
        if isinstance(data, dict):
            if step == "[key]":
                continue
            if step in data:
                data = data[step]
            elif number == len(steps) and kind == "missing":
                data = None
            else:
                continue
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            continue
        path.append(step)
    return tuple(path)


def dotted(path: Path) -> str:
    """Return a path as people write it: `spec.context[0].access`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def place(path: Path) -> str:
    """Return a path for a message: quoted, or `the file` for the top."""
    return quoted(dotted(path), 120) if path else "the top level"


def _inside(path: Path) -> str:
    return f"in {place(path)}" if path else "at the top level"


def keys_of(
    model: type[BaseModel], path: Path, present: Collection[str] = ()
) -> list[str]:
    """Return the keys that the object at `path` may have; none where it is free data.

    Where it may be one of several objects, the one that shares most keys with
    `present`.
    """
    annotations: list[Any] = [model]
    for step in path:
        annotations = [a for each in annotations for a in _step(each, step)]
    choices = [
        [field.alias or name for name, field in found.model_fields.items()]
        for each in annotations
        for found in _models(each)
    ]
    return max(choices, key=lambda keys: sum(k in present for k in keys), default=[])


def _unknown_keys(
    source: Located,
    parent: Path,
    keys: list[str],
    model: type[BaseModel],
    lacking: list[str],
    close: CloseMatches,
) -> Iterator[Problem]:
    """Yield a problem for each unknown key; what it was meant to be is not lacking."""
    present = source.get(parent) or {}
    free = [k for k in keys_of(model, parent, present) if k not in present]
    for key in keys:
        meant = close.closest(key, free)
        if meant is not None:
            if meant in lacking:
                lacking.remove(meant)
            hint = f"did you mean {quoted(meant)}?"
        elif free and parent != ("spec",):
            # Not of a spec: what is free there are the bodies of the other kinds.
            hint = f"remove it; {place(parent)} may also have {listed(free)}"
        else:
            hint = "remove it"
        yield source.problem(
            "HX101",
            (*parent, key),
            f"unknown key {quoted(key)} {_inside(parent)}",
            hint=hint,
            part="key",
        )


def _unknown_name(
    source: Located, path: Path, details: ErrorDetails, close: CloseMatches
) -> Problem:
    """Return the problem of a mapping whose keys are a closed vocabulary."""
    key, allowed = str(path[-1]), _expected_words(details.get("ctx", {}))
    meant = close.closest(key, allowed)
    hint = f"one of: {listed(allowed)}"
    if meant is not None:
        hint = f"did you mean {quoted(meant)}?"
    return source.problem(
        "HX101",
        path,
        f"unknown key {quoted(key)} {_inside(path[:-1])}",
        hint=hint,
        part="key",
    )


def _missing_key(
    source: Located, parent: Path, key: str, model: type[BaseModel]
) -> Problem:
    return source.problem(
        "HX102",
        parent,
        f"{place(parent)} lacks the key {quoted(key)}",
        hint=f"add `{key}:` to it{_what_it_is(model, (*parent, key))}",
        part="key",
    )


def _what_it_is(model: type[BaseModel], path: Path) -> str:
    """Return what stands at a path, for a hint; nothing where that is free."""
    annotations: list[Any] = [model]
    for step in path:
        annotations = [a for each in annotations for a in _step(each, step)]
    for part in (part for each in annotations for part in _unwrapped(each)):
        origin = getattr(part, "__origin__", None)
        if origin is list:
            return ", a list; `[]` where there is none"
        if origin is dict:
            return ", a mapping; `{}` where there is none"
        if origin is Literal:
            return f", one of {listed(map(str, get_args(part)))}"
        if part is bool:
            return ", true or false"
        if part is str:
            return ", a text"
        if isinstance(part, type) and issubclass(part, BaseModel):
            needs = [
                field.alias or name
                for name, field in part.model_fields.items()
                if field.is_required()
            ]
            return f", a mapping with {listed(needs)}" if needs else ", a mapping"
    return ""


def _value_problem(
    source: Located,
    path: Path,
    details: ErrorDetails,
    model: type[BaseModel],
    close: CloseMatches,
) -> Problem:
    kind = details["type"]
    value = source.get(path)
    context = details.get("ctx", {})
    name = place(path)
    if kind == REFUSED:
        return source.problem(
            context["code"], path, context["why"], hint=context["hint"]
        )
    if kind == "literal_error":
        return _not_allowed(source, path, value, context, close)
    if kind == "string_too_short":
        return source.problem("HX105", path, f"{name} is empty", hint="say it in words")
    if kind == "greater_than_equal":
        return source.problem(
            "HX106",
            path,
            f"{name} is {described(value)}; it must be at least {context.get('ge')}",
            hint="write a larger number, or leave the key out where it is optional",
        )
    wanted = _WANTED.get(kind)
    if kind == NULL_GIVEN or (wanted is not None and value is None):
        return source.problem(
            "HX103",
            path,
            f"{name} has no value" + (f"; it must be {wanted}" if wanted else ""),
            hint="give it a value"
            + (", or leave the key out" if kind == NULL_GIVEN else ""),
        )
    if wanted is not None:
        return source.problem(
            "HX103",
            path,
            f"{name} is {described(value)}; it must be {wanted}",
            hint=_type_hint(source, path, value, kind)
            or f"write {_what_it_is(model, path).removeprefix(', ') or wanted}",
        )
    # An error that no model here is known to raise: still a plain sentence.
    return source.problem(
        "HX103",
        path,
        f"{name} is not valid: {details['msg']}",
        hint="correct the value",
    )


def _not_allowed(
    source: Located,
    path: Path,
    value: Any,
    context: Mapping[str, Any],
    close: CloseMatches,
) -> Problem:
    allowed = _expected_words(context)
    hint = (
        f"one of: {listed(allowed)}" if len(allowed) > 1 else f"write {listed(allowed)}"
    )
    if isinstance(value, str):
        meant = close.closest(value, allowed)
        if meant is not None:
            hint = f"did you mean {quoted(meant)}? {hint}"
    return source.problem(
        "HX104",
        path,
        f"{described(value)} is not allowed for {place(path)}",
        hint=hint,
    )


def _expected_words(context: Mapping[str, Any]) -> list[str]:
    # pydantic gives the values as a text: 'a', 'b' or 'c'.
    return re.findall(r"'((?:[^'\\]|\\.)*)'", str(context.get("expected", "")))


def described(value: Any) -> str:
    """Return a value for a message: what it is, and the value where it is short."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return quoted(value, 40)
    if isinstance(value, (int, float)):
        return f"the number {quoted(repr(value), 40)}"
    return "a list" if isinstance(value, list) else "a mapping"


def _type_hint(source: Located, path: Path, value: Any, kind: str) -> str:
    if kind == "string_type" and isinstance(value, (bool, int, float)):
        position = source.position(path)
        line = source.line(position.line)
        word = _WORD.match(line, position.column - 1)
        return f'put it in quotes: "{word[0][:40] if word else value}"'
    if kind == "string_type" and isinstance(value, dict):
        return "a text that holds `: ` needs quotes"
    if kind == "list_type" and isinstance(value, str):
        return "write each entry in a line of its own behind `- `, or in [ ]"
    if kind == "bool_type" and isinstance(value, str):
        return "write true or false, without quotes"
    return ""


def _step(annotation: Any, step: str | int) -> Iterator[Any]:
    """Yield the annotations of what stands under `step` in such a value."""
    for found in _models(annotation):
        for name, field in found.model_fields.items():
            if (field.alias or name) == step:
                yield field.annotation
    for part in _unwrapped(annotation):
        origin = getattr(part, "__origin__", None)
        if origin is list and isinstance(step, int):
            yield get_args(part)[0]
        elif origin is dict and isinstance(step, str):
            yield get_args(part)[1]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for part in _unwrapped(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _unwrapped(annotation: Any) -> Iterator[Any]:
    """Yield the parts of unions and annotated types, lists and mappings as they are."""
    import types
    from typing import Annotated, Union, get_origin

    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _unwrapped(get_args(annotation)[0])
    elif origin is Union or origin is types.UnionType:
        for part in get_args(annotation):
            yield from _unwrapped(part)
    else:
        yield annotation
