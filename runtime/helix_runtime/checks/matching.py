"""Pair what is wanted with what is there, each at most once."""

from collections.abc import Callable, Sequence
from typing import TypeVar

W = TypeVar("W")
F = TypeVar("F")


def pair(
    wanted: Sequence[W], found: Sequence[F], fits: Callable[[W, F], bool]
) -> dict[int, int]:
    """Return a largest pairing, position in `wanted` → position in `found`.

    Augmenting paths (Kuhn 1955): a greedy choice could leave a wanted call without
    its partner and report a fault that is none.
    """
    options = [
        [i for i, item in enumerate(found) if fits(want, item)] for want in wanted
    ]
    taken: dict[int, int] = {}

    def place(want: int, tried: set[int]) -> bool:
        # A free one first: without it many equal ones would nest as deep as they are.
        free = next((one for one in options[want] if one not in taken), None)
        if free is not None:
            taken[free] = want
            return True
        for option in options[want]:
            if option in tried:
                continue
            tried.add(option)
            if place(taken[option], tried):
                taken[option] = want
                return True
        return False

    for want in range(len(wanted)):
        place(want, set())
    return {want: option for option, want in taken.items()}
