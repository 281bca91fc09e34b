"""Numbers, counted in buckets: medians and spreads of any many of them in flat memory.

A bucket is as wide as 1/512 of the power of two above it: whole numbers below 512 have
one each, so what is said of counts is exact; of other numbers it is at most 0.4 % too
low. Only the binary form of a number is looked at: every machine finds the same bucket,
and the order in which numbers come leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import frexp, fsum, isfinite, ldexp
from typing import Any, Final

from ..record import record

_FINE: Final = 512
_SCALE: Final = 10**6
"""Sums are kept in whole millionths: exact in any order."""


@record(kw_only=True)
class Scale:
    """Where the middle of a distribution lies and how far its numbers are from it.

    `mad` is the median absolute deviation from the median, `mean_deviation` the mean
    one.
    """

    median: float
    mad: float
    mean_deviation: float


class Distribution:
    """Numbers of at least 0; others, and what is not finite, are not taken in."""

    __slots__ = ("_buckets", "_sum", "count", "highest", "lowest")

    def __init__(self) -> None:
        self._buckets: dict[int, int] = {}
        self._sum = 0
        self.count = 0
        self.lowest = 0.0
        self.highest = 0.0

    def add(self, value: float | None) -> None:
        """Take a number in; None is no number."""
        if value is None or not isfinite(value) or value < 0:
            return
        mantissa, exponent = frexp(value)
        bucket = (exponent << 10) | int(mantissa * _FINE) if value else _ZERO
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self._sum += round(value * _SCALE)
        if not self.count or value < self.lowest:
            self.lowest = value
        if not self.count or value > self.highest:
            self.highest = value
        self.count += 1

    @property
    def total(self) -> float:
        """The sum of all numbers, to a millionth each."""
        whole, rest = divmod(self._sum, _SCALE)
        return whole + rest / _SCALE if rest else whole

    def quantile(self, share: float) -> float | None:
        """Return the number that at least `share` (0 to 1) of all do not exceed."""
        if not self.count:
            return None
        rank = max(0, min(self.count - 1, -int(-share * self.count // 1) - 1))
        return self._within(_at(self._sorted(), rank))

    def scale(self) -> Scale | None:
        """Return median and deviations, None without a number."""
        if not self.count:
            return None
        values = self._sorted()
        median = _median(values, self.count)
        away = sorted((abs(value - median), number) for value, number in values)
        return Scale(
            median=median,
            mad=_median(away, self.count),
            mean_deviation=fsum(d * number for d, number in away) / self.count,
        )

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data; only the count where there is no number."""
        scale = self.scale()
        if scale is None:
            return {"count": 0}
        found = {
            "count": self.count,
            "lowest": self.lowest,
            "median": self._within(scale.median),
            "p95": self.quantile(0.95),
            "highest": self.highest,
        }
        return {key: _short(value) for key, value in found.items()}

    def _within(self, value: float) -> float:
        """A bucket's lowest number may lie below all numbers that there are."""
        return min(max(value, self.lowest), self.highest)

    def _sorted(self) -> list[tuple[float, int]]:
        values = [(_value(bucket), number) for bucket, number in self._buckets.items()]
        return sorted(values)


_ZERO: Final = -(1 << 30)


def _value(bucket: int) -> float:
    """Return the lowest number of a bucket."""
    if bucket == _ZERO:
        return 0.0
    return ldexp((bucket & 1023) / _FINE, bucket >> 10)


def _median(values: Iterable[tuple[float, int]], count: int) -> float:
    values = list(values)
    return (_at(values, (count - 1) // 2) + _at(values, count // 2)) / 2


def _at(values: Iterable[tuple[float, int]], rank: int) -> float:
    """Return the number at a rank, from 0, of sorted numbers with their counts."""
    found = 0.0
    for value, number in values:
        found = value
        if rank < number:
            break
        rank -= number
    return found


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 6)
    return value
