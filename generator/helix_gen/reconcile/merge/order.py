"""The order of a merge: the user's, with new things after their neighbour."""

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import TypeVar

_K = TypeVar("_K", bound=Hashable)


def weave(order: Iterable[_K], other: Iterable[_K], present: Container[_K]) -> list[_K]:
    """Return the keys of `order`, and those of `other` after what precedes them there.

    Only keys that are `present` come in. What nothing precedes goes before what
    follows it, and to the end where nothing does.
    """
    known = [key for key in order if key in present]
    mine = set(known)
    after: dict[_K, list[_K]] = {}
    before: dict[_K, list[_K]] = {}
    waiting: list[_K] = []
    previous: _K | None = None
    for key in other:
        if key in mine:
            if waiting:
                before[key] = waiting
                waiting = []
            previous = key
        elif key in present:
            if previous is None:
                waiting.append(key)
            else:
                after.setdefault(previous, []).append(key)
    woven: list[_K] = []
    for key in known:
        woven += before.get(key, ())
        woven.append(key)
        woven += after.get(key, ())
    return woven + waiting


def is_reordered(one: Sequence[_K], other: Sequence[_K]) -> bool:
    """Whether what two sequences share stands in another order."""
    shared = set(one) & set(other)
    return [k for k in one if k in shared] != [k for k in other if k in shared]
