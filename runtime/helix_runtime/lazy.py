"""A property that is computed once and then is a plain attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class lazy(Generic[_T]):
    """Computes on first use and keeps the value in the instance.

    `functools.cached_property` does the same, but before Python 3.12 it holds one lock
    for all instances while it computes: worker threads would queue for it. Here two
    threads may compute the same value twice, which is harmless for what is pure.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[_T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[_T] | _T:
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value
