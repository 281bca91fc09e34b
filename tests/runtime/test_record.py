"""Records behave as frozen dataclasses do, for a fraction of their start-up."""

from functools import cached_property

import pytest
from helix_runtime.record import field, fields, record, replace


@record
class Point:
    """Two numbers."""

    x: int
    y: int = 0

    @cached_property
    def total(self) -> int:
        return self.x + self.y


@record(kw_only=True)
class Named:
    """Keyword-only, with a default that is made anew and a check."""

    name: str
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a name")


@record(frozen=False)
class Counter:
    """Mutable."""

    count: int = 0


def test_fields_are_given_by_place_or_name_and_default() -> None:
    assert Point(1) == Point(x=1, y=0) == Point(1, 0)
    assert fields(Point(1)) == ("x", "y")
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"


def test_records_compare_and_hash_by_their_fields_alone() -> None:
    one, other = Point(1, 2), Point(1, 2)
    assert one.total == 3  # a cached view is no field
    assert one == other and hash(one) == hash(other)
    assert Point(1, 2) != Point(2, 1)
    other_kind: object = Named(name="x")
    assert Point(1) != other_kind


@pytest.mark.parametrize(
    ("arguments", "keywords", "why"),
    [
        ((), {}, "lacks 'x'"),
        ((1, 2, 3), {}, "3 positional"),
        ((1,), {"x": 1}, "two values for 'x'"),
        ((1,), {"z": 1}, "has no 'z'"),
        ((), {"y": 1, "z": 1}, "lacks 'x' and has no 'z'"),
    ],
)
def test_what_a_record_does_not_have_is_named(
    arguments: tuple[int, ...], keywords: dict[str, int], why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        Point(*arguments, **keywords)


def test_keyword_only_means_keyword_only() -> None:
    with pytest.raises(TypeError):
        Named("x")  # type: ignore[call-arg]


def test_a_frozen_record_cant_change() -> None:
    with pytest.raises(AttributeError, match="frozen"):
        Point(1).x = 2  # type: ignore[misc]
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)


def test_defaults_are_made_anew_and_checks_run() -> None:
    first, second = Named(name="a"), Named(name="b")
    first.tags.append("x")
    assert second.tags == []
    with pytest.raises(ValueError):
        Named(name="")


def test_replace_copies_and_checks_again() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    with pytest.raises(TypeError):
        replace(Point(1), z=1)
    with pytest.raises(ValueError):
        replace(Named(name="a"), name="")


def test_a_record_matches_by_place() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
