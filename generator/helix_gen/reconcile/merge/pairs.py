"""Which unit of the user's comes from which of those that were generated."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from .units import Body, Key, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The user's units, in their order, under the keys of those that they come from.

    `opaque` are the criteria whose unit may still decide them, though their id can't
    be seen in it; each with the unit's name.
    """

    units: Mapping[Key, Unit]
    opaque: Mapping[str, str]


def old_key(unit: Unit, renames: Mapping[str, str]) -> Key:
    """Return the unit's key, a renamed criterion's under its new id."""
    kind, name, number = unit.key
    if kind == "criterion":
        name = renames.get(name, name)
    return (kind, name, number)


def matched(
    yours: Body,
    old: Mapping[Key, Unit],
    fresh: Mapping[Key, Unit],
    renames: Mapping[str, str],
) -> Matched:
    """Return the user's units under the keys of those that they come from.

    By what they are first; what its owner rewrote beyond that, by its name; of
    several of one name, those that are alike first.
    """
    found: dict[Key, Unit] = {}
    opaque: dict[str, str] = {}
    others: list[Unit] = []
    for unit in yours.units:
        key = old_key(unit, renames)
        if unit.criterion is None or key in old or key in fresh:
            found[key] = unit
        else:
            others.append(unit)
    by_name: dict[str, Key] = {}
    for side in (fresh, old):
        for key, unit in side.items():
            if unit.name and key[2] == 0:
                by_name[unit.name] = key
    strangers = [k for k, u in found.items() if k not in old and k not in fresh]
    for unit in [*others, *(found[key] for key in strangers)]:
        known = by_name.get(unit.name) if unit.name else None
        own = old_key(unit, renames)
        key = own if known is None or known in found else known
        found[key] = unit
        if key[0] == "criterion" and key in old and _may_decide(unit):
            opaque[key[1]] = unit.name
    _align(found, old)
    place = {id(unit): index for index, unit in enumerate(yours.units)}
    seen: set[int] = set()
    ordered: dict[Key, Unit] = {}
    for key in sorted(
        found, key=lambda k: (place[id(found[k])], k not in old, k not in fresh)
    ):
        unit = found[key]
        if id(unit) not in seen:
            seen.add(id(unit))
            ordered[key] = unit
    return Matched(units=ordered, opaque=opaque)


def _align(found: dict[Key, Unit], old: Mapping[Key, Unit]) -> None:
    """Number several units of one ident so that those that are alike meet."""
    groups: dict[tuple[str, str], list[Key]] = {}
    for key in found:
        groups.setdefault(key[:2], []).append(key)
    for name, keys in groups.items():
        if len(keys) < 2:
            continue
        keys.sort(key=lambda key: key[2])
        units = [found[key] for key in keys]
        before = {k: u for k, u in old.items() if k[:2] == name}
        taken: dict[Key, Unit] = {}
        for unit in units:
            for key, other in before.items():
                if key not in taken and other.text == unit.text:
                    taken[key] = unit
                    break
        rest = [u for u in units if all(u is not t for t in taken.values())]
        free = [key for key in keys if key not in taken]
        number = max([key[2] for key in (*keys, *before)], default=0)
        for unit in rest:
            if free:
                key = free.pop(0)
            else:
                number += 1
                key = (*name, number)
            taken[key] = unit
        for key in keys:
            del found[key]
        found.update(taken)


def _may_decide(unit: Unit) -> bool:
    """Whether a unit may be a check or a judge, though its criterion can't be seen."""
    match unit.node:
        case ast.FunctionDef(decorator_list=[_, *_]):
            return unit.criterion is None
        case ast.AsyncFunctionDef(decorator_list=[_, *_]):
            return unit.criterion is None
        case ast.Assign(value=ast.Call() | ast.Name() | ast.Attribute()):
            return unit.criterion is None
        case ast.AnnAssign(value=ast.Call() | ast.Name() | ast.Attribute()):
            return unit.criterion is None
    return False
