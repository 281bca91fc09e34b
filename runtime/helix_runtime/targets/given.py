"""The case as its subject may see it: without what it should answer, and a copy."""

from __future__ import annotations

import json
from typing import Any

from ..canonical import dump_line
from ..case import Case
from ..record import made


def given(case: Case) -> Case:
    """Return a case for a subject that runs in this process.

    It lacks `expected` and `expected_behavior`, as what a program gets on stdin does.
    The rest is its own: a subject that writes into its input, or clears it, changes
    nothing that a check or a judge reads afterwards.
    """
    seen = made(Case, vars(case))
    fields = vars(seen)
    fields["expected"] = fields["expected_behavior"] = None
    fields["dimensions"] = dict(case.dimensions)
    fields["input"] = own(case.input)
    fields["extra"] = own(dict(case.extra)) if case.extra else {}
    return seen


def own(value: Any) -> Any:
    """Return a deep copy of JSON data; of a text, a number or nothing the same."""
    kind = value.__class__
    if kind is not dict and kind is not list:
        return value
    try:
        return _copied(value)
    except RecursionError:
        return json.loads(dump_line(value))


def _copied(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _copied(inner) for key, inner in value.items()}
    if value.__class__ is list:
        return [_copied(inner) for inner in value]
    return value
