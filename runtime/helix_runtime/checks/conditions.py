"""Conditions on one piece of data, as plain data: what lists and tools check with.

A condition is an object of tests, all of which must hold:
`{field: status, one_of: [open, held]}`. `field` is a dotted path inside the item (the
item itself where it is left out); the tests are

- `present: true | false`: something that is not empty stands there, or does not;
- `equals: DATA`, `one_of: [DATA, …]`: equality of JSON data (texts: NFC, white space);
- `contains: DATA`: a text, or an object's JSON, holds this text; a list holds this
  element;
- `regex: PATTERN`: the text matches somewhere (`re.search`);
- `at_least: NUMBER`, `at_most: NUMBER`: a finite number within the limits;
- `json_schema: SCHEMA`: the subset of `schema`;
- `not: CONDITION`: that condition does not hold of what stands at `field`; what is no
  number is within no limit and beyond none;
- `ignore_case: true`: texts compare without case.

A field that none of the data has may be misspelt: it makes no pass (`held`). Only a
condition that tests `present` there says itself what it means that nothing stands there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..nearly import nearly
from ..verdict import Verdict, nothing_there, uncertain
from .arguments import Unread, outside, search, telling_pattern_fault
from .paths import (
    MISSING,
    fold,
    holds_text,
    is_empty,
    is_list,
    is_number,
    lookup,
    parsed,
    same,
    shown,
    text_of,
    texts_of,
    unread_note,
)
from .schema import breaches, speaks_of, telling_schema_fault


def condition_fault(condition: Any) -> str | None:
    """Return why `condition` is not a condition, or None."""
    if not isinstance(condition, Mapping):
        return "must be an object of tests such as {field: status, equals: open}"
    tests = [name for name in condition if name not in ("field", "ignore_case")]
    if not tests:
        return f"has no test; give one of {', '.join(TESTS)}"
    for name, wanted in condition.items():
        if not isinstance(name, str) or name not in _FAULTS:
            return f"has the unknown test {shown(name)}; there are {', '.join(TESTS)}"
        wrong = _FAULTS[name](wanted)
        if wrong is not None:
            return f"has a `{name}` that {wrong}"
    return None


def optional_condition_fault(condition: Any) -> str | None:
    """Return why `condition` is neither left out nor a condition, or None."""
    return None if condition is None else condition_fault(condition)


def unmet(item: Any, condition: Mapping[str, Any]) -> str | None:
    """Return why `item` does not meet a condition, or None where it does.

    Give only a condition without a fault. Raises TooLong for a text that a pattern
    can't be matched against, and Unread where `field` leads into JSON that can't be read.
    """
    field = condition.get("field", "")
    ignore_case = condition.get("ignore_case", False)
    found = _at_field(item, field)
    what = f"`{field}`" if field else "it"
    for name, wanted in condition.items():
        test = _TESTS.get(name)
        why = None if test is None else test(found, wanted, ignore_case)
        if why is not None:
            return f"{what} {why}"
    return None


def _at_field(item: Any, field: str) -> Any:
    """Return what stands at a field, also where the way leads into a text of JSON."""
    found = lookup(item, field)
    if found is not MISSING:
        return found
    parts = field.split(".")
    for end in range(len(parts)):
        text = lookup(item, ".".join(parts[:end]))
        if isinstance(text, str):
            data = parsed(text)
            if data is not text:
                return _at_field(data, ".".join(parts[end:]))
            note = unread_note(text)
            if note:
                raise Unread(f"`{field}` can't be looked for{note}.")
    return MISSING


def looks_inside(condition: Mapping[str, Any]) -> bool:
    """Whether a condition is on the parts of data, and so can't be held against a text."""
    if condition.get("field") or "json_schema" in condition:
        return True
    return "not" in condition and looks_inside(condition["not"])


def summary(condition: Mapping[str, Any]) -> str:
    """Return a condition in words, for a critique."""
    field = condition.get("field", "")
    tests = []
    for name, wanted in condition.items():
        if name in ("field", "ignore_case"):
            continue
        if name == "not":
            tests.append(f"not ({summary(wanted)})")
        elif name == "present":
            tests.append("present" if wanted else "absent")
        else:
            tests.append(f"{name.replace('_', ' ')} {shown(wanted, limit=60)}")
    return f"{f'`{field}` ' if field else ''}{' and '.join(tests)}"


# -- fields that stand nowhere --------------------------------------------------------


def held(
    verdict: Verdict, data: Sequence[Any], *conditions: Mapping[str, Any] | None
) -> Verdict:
    """Return the verdict of some conditions on data, by what the data can show.

    Where a condition names a field that none of the data has, a pass is uncertain, and a
    fail stays one when it is negated. On no data at all nothing is misspelt.
    """
    if verdict.result not in ("pass", "fail"):
        return verdict
    nowhere = unseen(data, *conditions)
    if nowhere is None:
        return verdict
    if verdict.result == "fail":
        words = f"{verdict.critique} {nowhere}"
        return nothing_there(words, *verdict.refs, value=verdict.value)
    return uncertain(f"{nowhere} {verdict.critique}", *verdict.refs, text=HOW_TO_NAME)


HOW_TO_NAME: Final = (
    "name a field that the data has, or say with `present` in the same condition what "
    "it means that nothing stands there"
)


def unseen(data: Sequence[Any], *conditions: Mapping[str, Any] | None) -> str | None:
    """Return which field of some conditions none of the data has, in words, or None.

    A field whose absence the conditions speak of counts only where one of nearly the
    same name stands in its place.
    """
    if not data:
        return None
    fields: dict[str, bool] = {}
    for condition in conditions:
        for field, speaks in _fields(condition, ""):
            fields[field] = fields.get(field, False) or speaks
    for field, speaks in fields.items():
        if any(_stands(item, field) for item in data):
            continue
        beside = _beside(data, field)
        last = field.rpartition(".")[2]
        if speaks:
            near = next((name for name in beside if nearly(last, name)), None)
        else:
            near = _nearest(last, beside)
        if near is None and speaks:
            continue
        meant = "" if near is None else f"; {shown(near)} stands in its place"
        return f"Nothing stands at `{field}` in any of the data{meant}."
    return None


def _fields(
    condition: Mapping[str, Any] | None, above: str
) -> Iterator[tuple[str, bool]]:
    """Yield each field that a condition tests, and whether it speaks of its absence."""
    if condition is None:
        return
    field = ".".join(part for part in (above, condition.get("field", "")) if part)
    tests = condition.keys() - {"field", "ignore_case", "not"}
    if field and tests:
        yield field, "present" in tests
    yield from _fields(condition.get("not"), field)
    schema = condition.get("json_schema")
    if isinstance(schema, Mapping):
        # `required` alone asks whether it is there, as `present` does.
        inner = schema.get("properties", {})
        for name in schema.get("required", ()):
            yield f"{field}.{name}" if field else name, name not in inner


def _stands(item: Any, field: str) -> bool:
    try:
        return _at_field(item, field) is not MISSING
    except Unread:
        return True  # nobody knows


def _beside(data: Sequence[Any], field: str) -> list[str]:
    """Return the names that stand where a field's last part is looked for."""
    above, dot, _ = field.rpartition(".")
    names: dict[str, None] = {}
    for item in data[:_LOOKED_AT]:
        try:
            found = parsed(_at_field(item, above) if dot else item)
        except Unread:
            continue
        if isinstance(found, Mapping):
            names.update(dict.fromkeys(name for name in found if isinstance(name, str)))
    return list(names)[:_LOOKED_AT]


_LOOKED_AT: Final = 100


def _nearest(word: str, names: Sequence[str]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, names, n=1)), None)


# -- the tests ----------------------------------------------------------------------


def _present(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    if wanted:
        return "is missing or empty" if is_empty(found) else None
    return None if is_empty(found) else f"is {shown(found)}, not absent"


def _equals(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    if found is not MISSING and same(found, wanted, ignore_case=ignore_case):
        return None
    return f"is {shown(found)}, not {shown(wanted)}"


def _one_of(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    if found is not MISSING and any(
        same(found, one, ignore_case=ignore_case) for one in wanted
    ):
        return None
    return f"is {shown(found)}, not one of {shown(list(wanted))}"


def _contains(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    if is_list(found):
        if any(same(item, wanted, ignore_case=ignore_case) for item in found):
            return None
        return f"does not hold {shown(wanted)}"
    if not isinstance(found, (str, Mapping)):
        return f"is {shown(found)} and can't contain {shown(wanted)}"
    forms = [fold(text, ignore_case=ignore_case) for text in texts_of(found)]
    if holds_text(forms, text_of(wanted), ignore_case=ignore_case):
        return None
    return f"does not contain {shown(wanted)}"


def _regex(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    if found is MISSING or found is None:
        return f"is {shown(found)} and can't match {shown(wanted)}"
    if search(wanted, text_of(found), ignore_case=ignore_case) is not None:
        return None
    return f"is {shown(found)}, which does not match {shown(wanted)}"


def _limit(found: Any, at_least: float | None, at_most: float | None) -> str | None:
    if not is_number(found):
        return f"is {shown(found)}, not a finite number"
    why = outside(found, at_least, at_most)
    return None if why is None else f"is {shown(found)}, {why}"


def _at_least(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    return _limit(found, wanted, None)


def _at_most(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    return _limit(found, None, wanted)


def _json_schema(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    if found is MISSING:
        return "is missing"
    for path, what in breaches(wanted, found):
        return f"breaks the schema: {f'`{path}` ' if path else ''}{what}"
    if not speaks_of(wanted, found):
        return f"is {shown(found)}, of which the schema says nothing"
    return None


def _not(found: Any, wanted: Any, ignore_case: bool) -> str | None:
    item = None if found is MISSING else found
    if unmet(item, wanted) is None:
        return f"meets what it must not: {summary(wanted)}"
    # No number is beyond no limit: "150" is not below 100 because it is a text.
    if "at_least" in wanted or "at_most" in wanted:
        number = _at_field(item, wanted.get("field", ""))
        if not (number is MISSING or number is None or is_number(number)):
            return f"is {shown(number)}, not a finite number"
    return None


_TESTS: Final[Mapping[str, Callable[[Any, Any, bool], str | None]]] = {
    "present": _present,
    "equals": _equals,
    "one_of": _one_of,
    "contains": _contains,
    "regex": _regex,
    "at_least": _at_least,
    "at_most": _at_most,
    "json_schema": _json_schema,
    "not": _not,
}
TESTS: Final = tuple(_TESTS)


def _flag_fault(wanted: Any) -> str | None:
    return None if isinstance(wanted, bool) else "must be true or false"


def _field_fault(wanted: Any) -> str | None:
    if not isinstance(wanted, str):
        return "must be a text"
    if "*" in wanted.split("."):
        return "can't stand for each element: a field is one place, without `*`"
    return None


def _list_fault(wanted: Any) -> str | None:
    return None if is_list(wanted) and wanted else "must be a list that is not empty"


def _number_fault(wanted: Any) -> str | None:
    return None if is_number(wanted) else "must be a finite number"


def _free(wanted: Any) -> str | None:
    return None


def _part_fault(wanted: Any) -> str | None:
    if isinstance(wanted, str | list | tuple) and not wanted:
        return "is empty: everything contains it"
    return None


_FAULTS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "field": _field_fault,
    "ignore_case": _flag_fault,
    "present": _flag_fault,
    "equals": _free,
    "one_of": _list_fault,
    "contains": _part_fault,
    "regex": telling_pattern_fault,
    "at_least": _number_fault,
    "at_most": _number_fault,
    "json_schema": telling_schema_fault,
    "not": condition_fault,
}
