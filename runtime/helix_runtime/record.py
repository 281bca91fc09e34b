"""Frozen records at a fraction of what `dataclasses` costs to import and to define.

`@record` reads a class's annotations as fields, as `@dataclass` does, and type checkers
treat it alike. It compiles nothing: one generic `__init__` serves every class. A suite
defines some sixty records, and `dataclasses` would take a third of the start of a run
for them.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")


class _Factory:
    """The default of a field that is made anew for each record."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], _T]) -> _T:
    """Return the default of a field that `default_factory` makes for each record."""
    made: Any = _Factory(default_factory)
    result: _T = made
    return result


@overload
def record(cls: type[_T], /) -> type[_T]: ...
@overload
def record(
    *, kw_only: bool = ..., frozen: bool = ...
) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type[Any] | None = None, /, *, kw_only: bool = False, frozen: bool = True
) -> Any:
    """Make a class a record of its annotated fields.

    Records compare and hash by their fields, print as calls, and are frozen unless
    said otherwise; `__post_init__` is called where it is defined. A record has a
    `__dict__`, so `functools.cached_property` works.
    """

    def make(cls: type[_T]) -> type[_T]:
        names = tuple(
            name
            for name, kind in cls.__dict__.get("__annotations__", {}).items()
            if not str(kind).startswith(("ClassVar", "typing.ClassVar"))
        )
        defaults: dict[str, Any] = {}
        factories: dict[str, Callable[[], Any]] = {}
        for name in names:
            value = cls.__dict__.get(name, _Factory)
            if isinstance(value, _Factory):
                factories[name] = value.make
                delattr(cls, name)
            elif value is not _Factory:
                defaults[name] = value
        added: dict[str, Any] = {
            "__record_fields__": names,
            "__match_args__": () if kw_only else names,
            "__init__": _init_of(
                names,
                defaults,
                factories,
                by_place=() if kw_only else names,
                checks="__post_init__" in cls.__dict__,
            ),
            "__repr__": _repr,
            "__eq__": _eq,
        }
        if frozen:
            added |= {"__hash__": _hash, "__setattr__": _refuse, "__delattr__": _refuse}
        else:
            added["__hash__"] = None
        for name, value in added.items():
            if name not in cls.__dict__ or name in ("__hash__", "__match_args__"):
                setattr(cls, name, value)
        return cls

    return make if cls is None else make(cls)


def _init_of(
    names: tuple[str, ...],
    defaults: Mapping[str, Any],
    factories: Mapping[str, Callable[[], Any]],
    *,
    by_place: tuple[str, ...],
    checks: bool,
) -> Callable[..., None]:
    known = frozenset(names)
    makers = tuple(factories.items())

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        own: dict[str, Any] = self.__dict__
        if defaults:
            own.update(defaults)
        if args:
            taken = by_place[: len(args)]
            if len(args) > len(taken):
                raise TypeError(
                    f"{type(self).__name__}: {len(args)} positional arguments"
                )
            for name in taken:
                if name in values:
                    raise TypeError(f"{type(self).__name__}: two values for {name!r}")
            own.update(zip(taken, args, strict=True))
        own.update(values)
        for name, make in makers:
            if name not in own:
                own[name] = make()
        if own.keys() != known:
            _fault(type(self), own)
        if checks:
            self.__post_init__()

    return __init__


def _fault(cls: Any, own: Mapping[str, Any]) -> None:
    names = cls.__record_fields__
    missing = [name for name in names if name not in own]
    unknown = [name for name in own if name not in names]
    what = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
    what += [f"has no {', '.join(map(repr, unknown))}"] if unknown else []
    raise TypeError(f"{cls.__name__} {' and '.join(what)}")


def _repr(self: Any) -> str:
    inside = ", ".join(f"{n}={getattr(self, n)!r}" for n in self.__record_fields__)
    return f"{type(self).__qualname__}({inside})"


def _eq(self: Any, other: Any) -> Any:
    kind: Any = type(self)
    if type(other) is not kind:
        return NotImplemented
    mine, theirs = self.__dict__, other.__dict__
    return all(mine[name] == theirs[name] for name in kind.__record_fields__)


def _hash(self: Any) -> int:
    return hash(tuple(self.__dict__[name] for name in self.__record_fields__))


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise AttributeError(f"a {type(self).__name__} is frozen: {name!r} can't change")


def fields(record: object) -> tuple[str, ...]:
    """Return the names of a record's fields, in order."""
    kind: Any = type(record)
    names: tuple[str, ...] = kind.__record_fields__
    return names


def replace(record: _T, **changes: Any) -> _T:
    """Return a copy of a record with some fields changed."""
    kept: dict[str, Any] = {name: record.__dict__[name] for name in fields(record)}
    kept.update(changes)
    return type(record)(**kept)


def like(template: _T, **values: Any) -> _T:
    """Return a copy of a record, some fields set anew, at the price of a dictionary.

    It is `replace` without its checks, for where a record is made for each case of a
    run: the names must be fields, and `__post_init__` is not called.
    """
    copy = object.__new__(type(template))
    own = copy.__dict__
    own |= template.__dict__
    own |= values
    return copy


def made(kind: type[_T], values: Mapping[str, Any]) -> _T:
    """Return a record of exactly these values, at the price of a dictionary.

    It is the constructor without its checks, for where a record is made for each case
    of a run: every field must be there, and `__post_init__` is not called.
    """
    new = object.__new__(kind)
    new.__dict__.update(values)
    return new
