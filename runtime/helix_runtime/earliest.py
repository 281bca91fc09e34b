"""The first few of a stream, whatever the order in which it arrives, in flat memory."""

from collections.abc import Hashable
from typing import Generic, TypeVar

Order = tuple[int, str, int, int]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Earliest(Generic[K, V]):
    """At most `limit` distinct keys, each with the value of its smallest order.

    An order is (sequence, case id, repeat, place within the unit) and is the same for
    no two items of different keys. Those kept are the keys whose own
    smallest orders are smallest: the same ones for every order of arrival, because a
    key that belongs in is only ever pushed out by `limit` earlier ones.
    """

    __slots__ = ("_entries", "_horizon", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: dict[K, tuple[Order, V]] = {}
        self._horizon: int | None = None

    def wants(self, sequence: int) -> bool:
        """Whether an item of that sequence could still come in; cheap."""
        return self._horizon is None or sequence <= self._horizon

    def add(self, order: Order, key: K, value: V) -> None:
        """Take the item in if it is among the earliest."""
        entries = self._entries
        known = entries.get(key)
        if known is not None and known[0] <= order:
            return
        entries[key] = (order, value)
        if len(entries) > self.limit:
            del entries[max(entries, key=lambda k: entries[k][0])]
        if len(entries) == self.limit:
            self._horizon = max(order for order, _ in entries.values())[0]

    def values(self) -> tuple[V, ...]:
        """Return the values, earliest first."""
        return tuple(value for _, value in sorted(self._entries.values(), key=_order))

    def keys(self) -> tuple[K, ...]:
        """Return the keys, earliest first."""
        return tuple(sorted(self._entries, key=lambda k: self._entries[k][0]))


def _order(entry: tuple[Order, V]) -> Order:
    return entry[0]
