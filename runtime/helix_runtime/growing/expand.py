"""Tuples: the combinations of a subject's dimensions that no case has yet.

A space is dimensions with their values, and rules on which values go together, all of
it data. Its tuples are the cartesian product without what the rules exclude and
without what is there already; or, where that is too much, so few of them that each
pair of values that can occur together does (pairwise coverage, after IPO and AETG:
one tuple at a time, each value the one that covers most of what is left).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any, Final

from ..record import field, record
from ..refusal import Refusal, close_match

MAX_TUPLES: Final = 200
"""How many tuples are made where nobody says another number."""
MAX_PRODUCT: Final = 1_000_000
"""A product beyond this is not walked through, whatever the rules leave of it."""
MAX_STEPS: Final = 5_000
"""Steps of the search for one tuple that holds a pair under the rules."""
MAX_PAIRS: Final = 200_000
MAX_DIMENSIONS: Final = 50
MAX_TEXT: Final = 500

_KEYS: Final = ("dataset", "dimensions", "exclude", "constraints")
Values = Mapping[str, frozenset[str]]


@record(kw_only=True)
class Dimension:
    """A dimension along which the cases of a subject vary."""

    name: str
    values: Sequence[str]
    description: str = ""


@record(kw_only=True)
class Rule:
    """Where all of `when` hold, one of `then` does not: excluded.

    Both map a dimension to values. Without `then`, what `when` names never occurs.
    """

    when: Values
    then: Values | None = None

    def excludes(self, values: Mapping[str, str]) -> bool:
        """Whether it excludes a tuple, or a part of one: nothing can mend that then."""
        if not all(values.get(name) in some for name, some in self.when.items()):
            return False
        if self.then is None:
            return True
        return any(
            name in values and values[name] not in some
            for name, some in self.then.items()
        )


@record(kw_only=True)
class Space:
    """Dimensions and the rules on them; `dataset` is where its cases belong."""

    dimensions: Sequence[Dimension]
    rules: Sequence[Rule] = ()
    dataset: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def size(self) -> int:
        """How many tuples the whole product has, before any rule."""
        return prod(len(dimension.values) for dimension in self.dimensions)

    def allows(self, values: Mapping[str, str]) -> bool:
        """Whether no rule excludes a tuple, or a part of one."""
        return not any(rule.excludes(values) for rule in self.rules)


# -- reading one -----------------------------------------------------------------------


def space_from(data: Any, name: str) -> Space:
    """Return the space of plain data. Raises Refusal with every fault at once.

    `{"dimensions": [{"name", "description"?, "values": []}], "dataset"?,
    "exclude"?: [{dimension: value or values}],
    "constraints"?: [{"if": {…}, "then": {…}}]}`
    """
    faults: list[str] = []
    if not isinstance(data, dict):
        raise Refusal(f"{name}: must be a JSON object with `dimensions`")
    for key in data:
        if key not in _KEYS:
            faults.append(f"`{key}` is no key of it{close_match(key, list(_KEYS))}")
    dimensions = _dimensions(data.get("dimensions"), faults)
    dataset = data.get("dataset")
    if dataset is not None and not _is_text(dataset):
        faults.append("`dataset` must be a text")
    known = {dimension.name: dimension.values for dimension in dimensions}
    rules = []
    for index, rule in enumerate(_list(data, "exclude", faults)):
        when = _condition(rule, f"`exclude[{index}]`", known, faults)
        rules.append(Rule(when=when))
    for index, rule in enumerate(_list(data, "constraints", faults)):
        place = f"`constraints[{index}]`"
        if not isinstance(rule, dict) or sorted(rule) != ["if", "then"]:
            faults.append(f"{place} must be an object of `if` and `then`")
            continue
        when = _condition(rule["if"], f"{place}.if", known, faults)
        then = _condition(rule["then"], f"{place}.then", known, faults)
        rules.append(Rule(when=when, then=then))
    if faults:
        raise Refusal(*(f"{name}: {fault}" for fault in faults))
    return Space(dimensions=dimensions, rules=rules, dataset=dataset)


def _dimensions(data: Any, faults: list[str]) -> list[Dimension]:
    if not isinstance(data, list) or not data:
        faults.append("`dimensions` must be a list of at least one dimension")
        return []
    if len(data) > MAX_DIMENSIONS:
        faults.append(
            f"`dimensions`: {len(data)} of them; {MAX_DIMENSIONS} is the limit"
        )
        return []
    found: dict[str, Dimension] = {}
    for index, one in enumerate(data):
        place = f"`dimensions[{index}]`"
        if not isinstance(one, dict) or not _is_text(one.get("name")):
            faults.append(f"{place} must be an object with a `name` and `values`")
            continue
        name = one["name"]
        for key in one:
            if key not in ("name", "description", "values"):
                faults.append(f"{place}: `{key}` is no key of a dimension")
        if name in found:
            faults.append(f"{place}: the dimension {name!r} stands twice")
            continue
        values = one.get("values")
        if not isinstance(values, list) or not values or not all(map(_is_text, values)):
            faults.append(f"{place}: `values` must be a list of texts, at least one")
            continue
        if len(set(values)) < len(values):
            faults.append(f"{place}: a value of {name!r} stands twice")
        description = one.get("description", "")
        if not isinstance(description, str) or len(description) > MAX_TEXT:
            faults.append(
                f"{place}: `description` must be a text of at most {MAX_TEXT} characters"
            )
            description = ""
        found[name] = Dimension(
            name=name, values=tuple(dict.fromkeys(values)), description=description
        )
    return list(found.values())


def _list(data: Mapping[str, Any], key: str, faults: list[str]) -> list[Any]:
    value = data.get(key, [])
    if isinstance(value, list):
        return value
    faults.append(f"`{key}` must be a list")
    return []


def _condition(
    data: Any, place: str, known: Mapping[str, Sequence[str]], faults: list[str]
) -> Values:
    if not isinstance(data, dict) or not data:
        faults.append(f"{place} must be an object of dimensions and their values")
        return {}
    found = {}
    for name, value in data.items():
        if name not in known:
            faults.append(
                f"{place}: there is no dimension {name!r}{close_match(name, list(known))}"
            )
            continue
        values = value if isinstance(value, list) else [value]
        for one in values:
            if one not in known[name]:
                guess = close_match(one, list(known[name])) if _is_text(one) else ""
                faults.append(f"{place}: {name!r} has no value {one!r}{guess}")
        if not values:
            faults.append(f"{place}: {name!r} names no value")
        found[name] = frozenset(one for one in values if isinstance(one, str))
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_TEXT


# -- its tuples ------------------------------------------------------------------------


@record(kw_only=True)
class Tuples:
    """The tuples to write cases for, and what is not among them.

    `there` have a case, `removed` had one that its owner removed (the caller's to
    say), `excluded` are those that the rules take out, `impossible` the pairs that no
    tuple can hold (pairwise).
    """

    tuples: tuple[Mapping[str, str], ...]
    there: int = 0
    removed: int = 0
    excluded: int = 0
    impossible: int = 0


class Covered:
    """The tuples that cases have, as they look from the dimensions of a space."""

    def __init__(self, space: Space, tuples: Iterable[Mapping[str, str]]) -> None:
        self._names = space.names
        self._found: dict[tuple[str, ...], None] = {}
        for values in tuples:
            if all(name in values for name in self._names):
                self._found[tuple(values[name] for name in self._names)] = None

    def __contains__(self, values: Mapping[str, str]) -> bool:
        return tuple(values[name] for name in self._names) in self._found

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        for values in self._found:
            yield dict(zip(self._names, values, strict=True))


def tuples_of(
    space: Space,
    *,
    there: Covered,
    limit: int = MAX_TUPLES,
    pairwise: bool = False,
) -> Tuples:
    """Return the tuples of a space that have no case yet, in the order of its values.

    Raises Refusal where there are more than `limit`: nothing is cut silently.
    """
    found = _pairwise(space, there) if pairwise else _product(space, there, limit)
    if len(found.tuples) > limit:
        raise Refusal(_too_many(space, f"{len(found.tuples):,}", limit, pairwise))
    return found


def _product(space: Space, there: Covered, limit: int) -> Tuples:
    if space.size > MAX_PRODUCT:
        raise Refusal(_too_many(space, f"{space.size:,}", limit, False))
    kept: list[Mapping[str, str]] = []
    had = excluded = 0
    for row in product(*(dimension.values for dimension in space.dimensions)):
        values = dict(zip(space.names, row, strict=True))
        if not space.allows(values):
            excluded += 1
        elif values in there:
            had += 1
        else:
            kept.append(values)
    return Tuples(tuples=tuple(kept), there=had, excluded=excluded)


def _too_many(space: Space, number: str, limit: int, pairwise: bool) -> str:
    sizes = " × ".join(f"{d.name} {len(d.values)}" for d in space.dimensions[:12])
    what = "pairs of values need" if pairwise else "combinations give"
    ways = ["leave out dimensions or values", "exclude what can't occur"]
    if not pairwise:
        ways.insert(0, "take --pairwise (each pair of values in some case)")
    return (
        f"the {what} {number} new tuples ({sizes}), and {limit:,} is the limit: "
        f"{', '.join(ways)}, or allow more with --max N"
    )


# -- pairwise --------------------------------------------------------------------------

_Pair = tuple[tuple[int, str], tuple[int, str]]


@record(frozen=False)
class _Pairs:
    """The pairs of values that no tuple holds yet, in the order of the dimensions."""

    left: dict[_Pair, None] = field(default_factory=dict)

    def take(self, row: Sequence[str | None]) -> int:
        """Count the pairs of a tuple (or a part of one) off; return how many."""
        done = [pair for pair in _pairs_of(row) if pair in self.left]
        for pair in done:
            del self.left[pair]
        return len(done)

    def gain(self, row: Sequence[str | None], place: int, value: str) -> int:
        """Return how many pairs a value at a place adds to a part of a tuple."""
        gain = 0
        for other, known in enumerate(row):
            if known is not None and other != place:
                first, second = (other, known), (place, value)
                gain += (min(first, second), max(first, second)) in self.left
        return gain


def _pairs_of(row: Sequence[str | None]) -> Iterator[_Pair]:
    known = [(place, value) for place, value in enumerate(row) if value is not None]
    yield from combinations(known, 2)


def _pairwise(space: Space, there: Covered) -> Tuples:
    dimensions = space.dimensions
    if len(dimensions) < 2:
        return _product(space, there, MAX_PRODUCT)
    number = sum(len(a.values) * len(b.values) for a, b in combinations(dimensions, 2))
    if number > MAX_PAIRS:
        raise Refusal(
            f"the dimensions have {number:,} pairs of values, more than {MAX_PAIRS:,}: "
            "leave out dimensions or values"
        )
    pairs = _Pairs()
    for (i, first), (j, second) in combinations(enumerate(dimensions), 2):
        pairs.left.update(
            dict.fromkeys(((i, a), (j, b)) for a in first.values for b in second.values)
        )
    had = 0
    for values in there:
        had += 1
        pairs.take([values[name] for name in space.names])
    kept: list[Mapping[str, str]] = []
    impossible = 0
    while pairs.left:
        pair = next(iter(pairs.left))
        row = _complete(space, pairs, pair)
        if row is None:
            impossible += 1
            del pairs.left[pair]
            continue
        pairs.take(row)
        kept.append(dict(zip(space.names, row, strict=True)))
    return Tuples(tuples=tuple(kept), there=had, impossible=impossible)


def _complete(space: Space, pairs: _Pairs, pair: _Pair) -> list[str] | None:
    """Return a tuple that holds a pair and much of what is left, None where none can.

    Depth first: at each place the value that covers most, the next one where the rules
    leave no way on.
    """
    names = space.names
    row: list[str | None] = [None] * len(names)
    for place, value in pair:
        row[place] = value
    if not space.allows(_known(names, row)):
        return None
    steps = 0
    # What rules speak of first: the rest is free, and no wrong turn is found late.
    spoken = Counter(
        name for rule in space.rules for name in (*rule.when, *(rule.then or ()))
    )
    open_places = sorted(
        (place for place in range(len(row)) if row[place] is None),
        key=lambda place: (-spoken[names[place]], place),
    )

    def fill(turn: int) -> bool:
        nonlocal steps
        if turn == len(open_places):
            return True
        place = open_places[turn]
        values = space.dimensions[place].values
        order = sorted(
            range(len(values)), key=lambda n: (-pairs.gain(row, place, values[n]), n)
        )
        for number in order:
            steps += 1
            if steps > MAX_STEPS:
                raise Refusal(
                    "the exclusions and constraints leave so little room that no tuple "
                    f"with {_told(names, pair)} was found in {MAX_STEPS:,} steps: "
                    "exclude that pair itself, or loosen them"
                )
            row[place] = values[number]
            if space.allows(_known(names, row)) and fill(turn + 1):
                return True
            row[place] = None
        return False

    return [value or "" for value in row] if fill(0) else None


def _known(names: Sequence[str], row: Sequence[str | None]) -> dict[str, str]:
    return {
        name: value for name, value in zip(names, row, strict=True) if value is not None
    }


def _told(names: Sequence[str], pair: _Pair) -> str:
    return " and ".join(f"{names[place]}: {value}" for place, value in pair)
