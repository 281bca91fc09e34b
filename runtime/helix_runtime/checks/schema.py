"""JSON Schema, draft 2020-12, on the standard library: a documented subset.

`SUPPORTED` is what is checked and `ANNOTATIONS` what means nothing to a check. Any
other keyword is a fault that `schema_fault` names: a schema is never half applied in
silence. `$ref` takes a pointer inside the schema (`#`, `#/$defs/name`). `format` is
checked, for the names in `SCHEMA_FORMATS`. `pattern` is Python's `re`, not ECMA-262.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .arguments import pattern_fault, search
from .formats import SCHEMA_FORMATS
from .paths import as_float, is_list, is_number, shown

MAX_DEPTH: Final = 200
MAX_FAULTS: Final = 5

ANNOTATIONS: Final = frozenset(
    (
        "$schema",
        "$id",
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    )
)
_IDLE: Final = ANNOTATIONS | {"$defs"}
_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_integer(value),
    "number": lambda value: is_number(value),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: is_list(value),
    "object": lambda value: isinstance(value, Mapping),
}


def _is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal as JSON Schema has it: 1 is 1.0, true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            equal(left[key], right[key]) for key in left
        )
    if is_list(left) and is_list(right):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, (Mapping, list, tuple)) or isinstance(
        right, (Mapping, list, tuple)
    ):
        return False
    return bool(left == right)


# -- the schema itself --------------------------------------------------------------


def schema_fault(schema: Any) -> str | None:
    """Return why `schema` can't be applied: the first fault and where, or None."""
    return _fault(schema, schema, "#", 0)


def telling_schema_fault(schema: Any) -> str | None:
    """Return why nothing can be held against `schema`: a fault, or it says nothing."""
    if schema is True or (isinstance(schema, Mapping) and not set(schema) - _IDLE):
        return "says nothing: everything fits it"
    return schema_fault(schema)


def _fault(root: Any, schema: Any, where: str, depth: int) -> str | None:
    if depth > MAX_DEPTH:
        return f"is nested too deeply at {where}"
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, Mapping):
        return f"must be an object or a bool at {where}"
    for keyword, value in schema.items():
        if keyword in ANNOTATIONS:
            continue
        place = f"{where}/{keyword}"
        if not isinstance(keyword, str) or keyword not in _FAULTS:
            hint = _INSTEAD.get(str(keyword), "it is not among the supported ones")
            return f"has the keyword {shown(keyword)} at {where}: {hint}"
        wrong = _FAULTS[keyword](root, value, place, depth)
        if wrong is not None:
            return wrong
    return None


_INSTEAD: Final[Mapping[str, str]] = {
    "definitions": "draft 2020-12 calls it `$defs`",
    "additionalItems": "draft 2020-12 has `prefixItems` and `items`",
    "dependencies": "draft 2020-12 has `dependentRequired` and `dependentSchemas`",
    "nullable": 'write `type: [..., "null"]`',
    "unevaluatedProperties": "write `additionalProperties`",
    "unevaluatedItems": "write `prefixItems` and `items: false`",
}
_KeywordFault = Callable[[Any, Any, str, int], str | None]


def _sub(root: Any, value: Any, place: str, depth: int) -> str | None:
    if is_list(value) and place.endswith("/items"):
        return f"has a list at {place}: draft 2020-12 calls it `prefixItems`"
    return _fault(root, value, place, depth + 1)


def _subs(root: Any, value: Any, place: str, depth: int) -> str | None:
    if not is_list(value) or not value:
        return f"must have a list of schemas at {place}"
    for index, item in enumerate(value):
        wrong = _fault(root, item, f"{place}/{index}", depth + 1)
        if wrong is not None:
            return wrong
    return None


def _named_subs(root: Any, value: Any, place: str, depth: int) -> str | None:
    if not isinstance(value, Mapping):
        return f"must have an object of schemas at {place}"
    for name, item in value.items():
        if place.endswith("/patternProperties"):
            wrong = pattern_fault(name)
            if wrong is not None:
                return f"has a pattern at {place} that {wrong}"
        wrong = _fault(root, item, f"{place}/{name}", depth + 1)
        if wrong is not None:
            return wrong
    return None


def _type(root: Any, value: Any, place: str, depth: int) -> str | None:
    names = value if is_list(value) else [value]
    for name in names or [None]:
        if not isinstance(name, str) or name not in _TYPES:
            return (
                f"has the type {shown(name)} at {place}; it knows {', '.join(_TYPES)}"
            )
    return None


def _enum(root: Any, value: Any, place: str, depth: int) -> str | None:
    return None if is_list(value) and value else f"must have a list at {place}"


def _anything(root: Any, value: Any, place: str, depth: int) -> str | None:
    return None


def _size(root: Any, value: Any, place: str, depth: int) -> str | None:
    if _is_integer(value) and value >= 0:
        return None
    return f"must have a whole number of at least 0 at {place}"


def _limit(root: Any, value: Any, place: str, depth: int) -> str | None:
    return None if is_number(value) else f"must have a number at {place}"


def _divisor(root: Any, value: Any, place: str, depth: int) -> str | None:
    if as_float(value) is not None and value > 0:
        return None
    return f"must have a number above 0 at {place}"


def _yes_no(root: Any, value: Any, place: str, depth: int) -> str | None:
    return None if isinstance(value, bool) else f"must have a bool at {place}"


def _names(root: Any, value: Any, place: str, depth: int) -> str | None:
    if is_list(value) and all(isinstance(name, str) for name in value):
        return None
    return f"must have a list of texts at {place}"


def _named_names(root: Any, value: Any, place: str, depth: int) -> str | None:
    if not isinstance(value, Mapping):
        return f"must have an object at {place}"
    for name, names in value.items():
        wrong = _names(root, names, f"{place}/{name}", depth)
        if wrong is not None:
            return wrong
    return None


def _pattern(root: Any, value: Any, place: str, depth: int) -> str | None:
    wrong = pattern_fault(value)
    return None if wrong is None else f"has a pattern at {place} that {wrong}"


def _format(root: Any, value: Any, place: str, depth: int) -> str | None:
    if isinstance(value, str) and value in SCHEMA_FORMATS:
        return None
    known = ", ".join(SCHEMA_FORMATS)
    return f"has the format {shown(value)} at {place}; it knows {known}"


def _reference(root: Any, value: Any, place: str, depth: int) -> str | None:
    if not isinstance(value, str) or not (value == "#" or value.startswith("#/")):
        return (
            f"has a $ref at {place} that does not point into the schema (`#/$defs/…`)"
        )
    # A chain of references that comes back to itself says nothing.
    seen = set()
    while True:
        if value in seen:
            return f"has a $ref at {place} that only points back to itself"
        seen.add(value)
        target = _pointed(root, value)
        if not isinstance(target, (Mapping, bool)):
            return f"has a $ref at {place} to {value}, where no schema stands"
        if isinstance(target, bool) or not isinstance(target.get("$ref"), str):
            return None
        value = target["$ref"]


def _pointed(root: Any, pointer: str) -> Any:
    target = root
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and token in target:
            target = target[token]
        elif is_list(target) and token.isdecimal() and int(token[:9]) < len(target):
            target = target[int(token[:9])]
        else:
            return None
    return target


_FAULTS: Final[Mapping[str, _KeywordFault]] = {
    "type": _type,
    "enum": _enum,
    "const": _anything,
    "minimum": _limit,
    "maximum": _limit,
    "exclusiveMinimum": _limit,
    "exclusiveMaximum": _limit,
    "multipleOf": _divisor,
    "minLength": _size,
    "maxLength": _size,
    "pattern": _pattern,
    "format": _format,
    "items": _sub,
    "prefixItems": _subs,
    "contains": _sub,
    "minContains": _size,
    "maxContains": _size,
    "minItems": _size,
    "maxItems": _size,
    "uniqueItems": _yes_no,
    "properties": _named_subs,
    "patternProperties": _named_subs,
    "additionalProperties": _sub,
    "propertyNames": _sub,
    "required": _names,
    "minProperties": _size,
    "maxProperties": _size,
    "dependentRequired": _named_names,
    "dependentSchemas": _named_subs,
    "allOf": _subs,
    "anyOf": _subs,
    "oneOf": _subs,
    "not": _sub,
    "if": _sub,
    "then": _sub,
    "else": _sub,
    "$ref": _reference,
    "$defs": _named_subs,
}
SUPPORTED: Final = tuple(_FAULTS)


# -- data against a schema ----------------------------------------------------------


def breaches(schema: Any, value: Any) -> list[tuple[str, str]]:
    """Return (path, what) of the first MAX_FAULTS places where data breaks a schema.

    Give only a schema without a fault (`schema_fault`). Raises RecursionError where
    data or references nest too deeply.
    """
    found = []
    for breach in _breaches(schema, schema, value, "", 0):
        found.append(breach)
        if len(found) == MAX_FAULTS:
            break
    return found


def speaks_of(schema: Any, value: Any) -> bool:
    """Whether a schema says anything of data of that kind.

    By the standard `required` and `properties` are met by all that is no object, and so
    by any prose: what fits in that way alone is no evidence.
    """
    return _speaks(schema, schema, value, 0)


def _speaks(root: Any, schema: Any, value: Any, depth: int) -> bool:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(schema, bool):
        return not schema
    about = _ABOUT_ALL | next(
        (words for kind, words in _ABOUT.items() if _TYPES[kind](value)), frozenset()
    )
    if not about.isdisjoint(schema):
        return True
    parts = [
        schema[key] for key in ("then", "else") if "if" in schema and key in schema
    ]
    for key in ("allOf", "anyOf", "oneOf"):
        parts += schema.get(key, ())
    if "$ref" in schema:
        parts.append(_pointed(root, schema["$ref"]))
    return any(_speaks(root, part, value, depth + 1) for part in parts)


_ABOUT_ALL: Final = frozenset(("type", "enum", "const", "not"))
_ABOUT: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset(("minLength", "maxLength", "pattern", "format")),
    "number": frozenset(
        (
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        )
    ),
    "array": frozenset(
        ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems")
    ),
    "object": frozenset(
        (
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
        )
    ),
}


def _fits(root: Any, schema: Any, value: Any, depth: int) -> bool:
    return next(_breaches(root, schema, value, "", depth), None) is None


def _breaches(
    root: Any, schema: Any, value: Any, path: str, depth: int
) -> Iterator[tuple[str, str]]:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(schema, bool):
        if not schema:
            yield path, "nothing is allowed here"
        return
    deeper = depth + 1
    if "$ref" in schema:
        target = _pointed(root, schema["$ref"])
        yield from _breaches(root, target, value, path, deeper)
    yield from _any_value(schema, value, path)
    yield from _composed(root, schema, value, path, deeper)
    if isinstance(value, str):
        yield from _string(schema, value, path)
    elif is_number(value):
        yield from _numeric(schema, value, path)
    elif isinstance(value, float):
        yield path, "is not a finite number, and so no JSON"
    elif is_list(value):
        yield from _array(root, schema, value, path, deeper)
    elif isinstance(value, Mapping):
        yield from _object(root, schema, value, path, deeper)


def _any_value(schema: Any, value: Any, path: str) -> Iterator[tuple[str, str]]:
    if "type" in schema:
        names = schema["type"] if is_list(schema["type"]) else [schema["type"]]
        if not any(_TYPES[name](value) for name in names):
            yield path, f"is {shown(value)}, not of type {' or '.join(names)}"
    if "enum" in schema and not any(equal(value, one) for one in schema["enum"]):
        allowed = ", ".join(shown(one, limit=30) for one in schema["enum"][:8])
        yield path, f"is {shown(value)}, not one of {allowed}"
    if "const" in schema and not equal(value, schema["const"]):
        yield path, f"is {shown(value)}, not {shown(schema['const'])}"


def _composed(
    root: Any, schema: Any, value: Any, path: str, depth: int
) -> Iterator[tuple[str, str]]:
    for part in schema.get("allOf", ()):
        yield from _breaches(root, part, value, path, depth)
    if "anyOf" in schema:
        if not any(_fits(root, part, value, depth) for part in schema["anyOf"]):
            yield path, f"is {shown(value)}, which fits none of `anyOf`"
    if "oneOf" in schema:
        fitting = sum(_fits(root, part, value, depth) for part in schema["oneOf"])
        if fitting != 1:
            yield path, f"is {shown(value)}, which fits {fitting} of `oneOf`, not one"
    if "not" in schema and _fits(root, schema["not"], value, depth):
        yield path, f"is {shown(value)}, which `not` forbids"
    if "if" in schema:
        branch = "then" if _fits(root, schema["if"], value, depth) else "else"
        if branch in schema:
            yield from _breaches(root, schema[branch], value, path, depth)


def _string(schema: Any, value: str, path: str) -> Iterator[tuple[str, str]]:
    if len(value) < schema.get("minLength", 0):
        yield path, f"is shorter than {schema['minLength']} characters"
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        yield path, f"is longer than {schema['maxLength']} characters"
    if "pattern" in schema and search(schema["pattern"], value) is None:
        yield path, f"is {shown(value)}, which does not match {schema['pattern']!r}"
    if "format" in schema and SCHEMA_FORMATS[schema["format"]](value) is not None:
        yield path, f"is {shown(value)}, not a {schema['format']}"


def _numeric(schema: Any, value: Any, path: str) -> Iterator[tuple[str, str]]:
    limits: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
        ("minimum", lambda n, limit: n >= limit, "less than"),
        ("maximum", lambda n, limit: n <= limit, "more than"),
        ("exclusiveMinimum", lambda n, limit: n > limit, "not more than"),
        ("exclusiveMaximum", lambda n, limit: n < limit, "not less than"),
    )
    for keyword, holds, words in limits:
        if keyword in schema and not holds(value, schema[keyword]):
            yield path, f"is {shown(value)}, {words} {schema[keyword]}"
    if "multipleOf" in schema and not _is_multiple(value, schema["multipleOf"]):
        yield path, f"is {shown(value)}, not a multiple of {schema['multipleOf']}"


def _is_multiple(value: Any, divisor: Any) -> bool:
    if isinstance(value, int) and isinstance(divisor, int):
        return value % divisor == 0
    # By their decimal text, as a person reads them: 0.3 is a multiple of 0.1.
    from fractions import Fraction

    parts = [Fraction(n if isinstance(n, int) else repr(n)) for n in (value, divisor)]
    return parts[0] % parts[1] == 0


def _array(
    root: Any, schema: Any, value: Any, path: str, depth: int
) -> Iterator[tuple[str, str]]:
    if len(value) < schema.get("minItems", 0):
        yield path, f"has {len(value)} items, fewer than {schema['minItems']}"
    if "maxItems" in schema and len(value) > schema["maxItems"]:
        yield path, f"has {len(value)} items, more than {schema['maxItems']}"
    if schema.get("uniqueItems") is True:
        seen: set[Any] = set()
        for index, item in enumerate(value):
            key = _key(item)
            if key in seen:
                yield _below(path, index), f"is {shown(item)} again"
                break
            seen.add(key)
    first = schema.get("prefixItems", ())
    for index, item in enumerate(value):
        if index < len(first):
            part = first[index]
        elif "items" in schema:
            part = schema["items"]
        else:
            break
        yield from _breaches(root, part, item, _below(path, index), depth)
    if "contains" in schema:
        fitting = sum(_fits(root, schema["contains"], item, depth) for item in value)
        if fitting < schema.get("minContains", 1):
            yield path, f"has {fitting} items that fit `contains`, too few"
        if "maxContains" in schema and fitting > schema["maxContains"]:
            yield path, f"has {fitting} items that fit `contains`, too many"


def _key(value: Any) -> Any:
    """Return a hashable form of data: two are equal where `equal` says so."""
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, Mapping):
        return frozenset((key, _key(item)) for key, item in value.items())
    if is_list(value):
        return tuple(("item", _key(item)) for item in value)
    return value


def _object(
    root: Any, schema: Any, value: Any, path: str, depth: int
) -> Iterator[tuple[str, str]]:
    for name in schema.get("required", ()):
        if name not in value:
            yield path, f"lacks `{name}`"
    if len(value) < schema.get("minProperties", 0):
        yield path, f"has {len(value)} keys, fewer than {schema['minProperties']}"
    if "maxProperties" in schema and len(value) > schema["maxProperties"]:
        yield path, f"has {len(value)} keys, more than {schema['maxProperties']}"
    for name, needed in schema.get("dependentRequired", {}).items():
        for other in needed if name in value else ():
            if other not in value:
                yield path, f"has `{name}` and lacks `{other}`"
    for name, part in schema.get("dependentSchemas", {}).items():
        if name in value:
            yield from _breaches(root, part, value, path, depth)
    named = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for key, item in value.items():
        key_text = str(key)
        below = _below(path, key_text)
        if "propertyNames" in schema:
            if not _fits(root, schema["propertyNames"], key_text, depth):
                yield below, "has a name that `propertyNames` forbids"
        known = key in named
        if known:
            yield from _breaches(root, named[key], item, below, depth)
        for pattern, part in patterns.items():
            if search(pattern, key_text) is not None:
                known = True
                yield from _breaches(root, part, item, below, depth)
        if not known and "additionalProperties" in schema:
            extra = schema["additionalProperties"]
            if extra is False:
                yield below, "is not allowed"
            else:
                yield from _breaches(root, extra, item, below, depth)


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
