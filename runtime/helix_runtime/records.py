"""Frozen records, copied with other values at the price of a dictionary."""

from typing import Any, TypeVar

_R = TypeVar("_R")


def like(template: _R, **values: Any) -> _R:
    """Return a copy of a frozen dataclass without slots, some fields set anew.

    The constructor of a frozen dataclass sets each field through
    `object.__setattr__`, and `dataclasses.replace` walks the fields in Python; where a
    record is made for each case of a run this shows. Nothing is checked: it is for
    classes without a `__post_init__`.
    """
    copy = object.__new__(type(template))
    own = copy.__dict__
    fields = template.__dict__
    own.update(fields)
    own.update(values)
    return copy
