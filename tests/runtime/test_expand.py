"""Tuples: the product without what rules exclude and what is there, or each pair once."""

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.growing.expand import (
    Covered,
    Dimension,
    Rule,
    Space,
    space_from,
    tuples_of,
)
from helix_runtime.growing.situations import case_of, dataset_of, space_of
from helix_runtime.growing.writing import Situation
from helix_runtime.refusal import Refusal
from hypothesis import given, settings
from hypothesis import strategies as st

TONES = {
    "dimensions": [
        {
            "name": "tone",
            "values": ["polite", "angry"],
            "description": "how they say it",
        },
        {"name": "channel", "values": ["mail", "phone", "chat"]},
        {"name": "copies", "values": ["none", "one"]},
    ]
}


def tuples(data: dict[str, Any], *there: dict[str, str], **how: Any) -> list[str]:
    space = space_from(data, "d.json")
    found = tuples_of(space, there=Covered(space, there), **how)
    return ["/".join(values.values()) for values in found.tuples]


def test_the_product_comes_in_the_order_of_the_values() -> None:
    assert tuples(TONES)[:4] == [
        "polite/mail/none",
        "polite/mail/one",
        "polite/phone/none",
        "polite/phone/one",
    ]
    assert len(tuples(TONES)) == 12


def test_what_is_there_is_not_made_again_and_a_part_of_a_tuple_is_none() -> None:
    there = {"copies": "none", "tone": "polite", "channel": "mail", "x": "y"}
    found = tuples(TONES, there, {"tone": "polite", "channel": "phone"})
    assert len(found) == 11 and "polite/mail/none" not in found


def test_exclusions_and_constraints_are_data() -> None:
    data = TONES | {
        "exclude": [{"tone": "angry", "channel": ["mail", "chat"]}],
        "constraints": [{"if": {"channel": "phone"}, "then": {"copies": "none"}}],
    }
    assert tuples(data) == [
        "polite/mail/none",
        "polite/mail/one",
        "polite/phone/none",
        "polite/chat/none",
        "polite/chat/one",
        "angry/phone/none",
    ]


def test_more_than_the_limit_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(Refusal) as refused:
        tuples(TONES, limit=11)
    (said,) = refused.value.lines
    assert "12 new tuples (tone 2 × channel 3 × copies 2), and 11 is the limit" in said
    assert "--pairwise" in said and "--max N" in said
    assert len(tuples(TONES, limit=12)) == 12


def test_a_product_beyond_all_measure_is_refused_before_it_is_walked() -> None:
    wide = [{"name": f"d{n}", "values": [*"abcdefghij"]} for n in range(12)]
    with pytest.raises(Refusal, match="1,000,000,000,000 new tuples"):
        tuples({"dimensions": wide}, limit=10**9)
    pairs = tuples({"dimensions": wide}, pairwise=True)
    assert 100 <= len(pairs) <= 200


def test_all_faults_of_a_file_are_told_at_once() -> None:
    data = {
        "dimensions": [
            {"name": "tone", "values": ["polite", "polite"]},
            {"name": "tone", "values": ["x"]},
            {"name": "empty", "values": []},
            {"values": ["x"]},
            {"name": "odd", "values": ["x"], "weight": 3},
        ],
        "dataset": 3,
        "exclude": [{"tune": "x"}, {"tone": "poilte"}, {}, "x"],
        "constraints": [{"if": {"tone": "polite"}}, {"if": {"tone": []}, "then": {}}],
        "exlude": [],
    }
    with pytest.raises(Refusal) as refused:
        space_from(data, "d.json")
    said = "\n".join(refused.value.lines)
    for words in (
        "`exlude` is no key of it (did you mean 'exclude'?)",
        "a value of 'tone' stands twice",
        "the dimension 'tone' stands twice",
        "`dimensions[2]`: `values` must be",
        "`dimensions[3]` must be an object",
        "`weight` is no key of a dimension",
        "`dataset` must be a text",
        "there is no dimension 'tune' (did you mean 'tone'?)",
        "'tone' has no value 'poilte' (did you mean 'polite'?)",
        "`exclude[2]` must be an object",
        "`exclude[3]` must be an object",
        "`constraints[0]` must be an object of `if` and `then`",
        "'tone' names no value",
        "`constraints[1]`.then must be an object",
    ):
        assert words in said, words
    assert all(line.startswith("d.json: ") for line in refused.value.lines)


@pytest.mark.parametrize("data", [[], {}, {"dimensions": []}, {"dimensions": {}}, None])
def test_what_is_no_space_is_refused(data: Any) -> None:
    with pytest.raises(Refusal, match="dimensions"):
        space_from(data, "d.json")


# -- pairwise, against all that there is -----------------------------------------------

NAMES = ("a", "b", "c", "d")


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    names = NAMES[: draw(st.integers(2, 4))]
    dimensions = [
        Dimension(
            name=name, values=[f"{name}{n}" for n in range(draw(st.integers(1, 4)))]
        )
        for name in names
    ]
    values = {d.name: d.values for d in dimensions}

    def condition(some: list[str]) -> dict[str, frozenset[str]]:
        return {
            name: draw(st.frozensets(st.sampled_from(values[name]), min_size=1))
            for name in some
        }

    rules = []
    for _ in range(draw(st.integers(0, 4))):
        some = draw(
            st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
        )
        cut = draw(st.integers(1, len(some)))
        then = condition(some[cut:])
        rules.append(Rule(when=condition(some[:cut]), then=then or None))
    return Space(dimensions=dimensions, rules=rules)


def everything(space: Space) -> list[dict[str, str]]:
    """Every tuple that the rules allow, by their meaning, tuple by tuple."""

    def excluded(rule: Rule, values: dict[str, str]) -> bool:
        if any(values[name] not in some for name, some in rule.when.items()):
            return False
        then = rule.then
        return then is None or any(values[n] not in some for n, some in then.items())

    rows = product(*(dimension.values for dimension in space.dimensions))
    found = [dict(zip(space.names, row, strict=True)) for row in rows]
    return [v for v in found if not any(excluded(rule, v) for rule in space.rules)]


def pairs(rows: list[dict[str, str]]) -> set[Any]:
    return {pair for values in rows for pair in combinations(sorted(values.items()), 2)}


@settings(max_examples=200, deadline=None)
@given(spaces(), st.data())
def test_the_product_is_what_the_rules_allow_and_pairs_are_all_covered(
    space: Space, data: st.DataObject
) -> None:
    allowed = everything(space)
    there = data.draw(st.lists(st.sampled_from(allowed), max_size=3)) if allowed else []
    covered = Covered(space, there)
    whole = tuples_of(space, there=covered, limit=10_000)
    assert list(whole.tuples) == [v for v in allowed if v not in there]
    assert len(whole.tuples) + whole.there + whole.excluded == space.size

    few = tuples_of(space, there=covered, limit=10_000, pairwise=True)
    rows = [dict(values) for values in few.tuples]
    assert all(values in allowed and values not in there for values in rows)
    assert pairs(rows) | pairs(there) == pairs(allowed)
    possible = {
        pair
        for a, b in combinations(space.dimensions, 2)
        for pair in combinations(
            sorted([(a.name, x) for x in a.values] + [(b.name, y) for y in b.values]), 2
        )
        if pair[0][0] != pair[1][0]
    }
    assert few.impossible == len(possible - pairs(allowed))
    # Each tuple earns its place: it holds a pair that none before it held.
    seen = pairs(there)
    for values in rows:
        assert not pairs([values]) <= seen
        seen |= pairs([values])


def test_pairwise_needs_few_tuples() -> None:
    space = Space(
        dimensions=[Dimension(name=n, values=["x", "y", "z"]) for n in "abcd"]
    )
    found = tuples_of(space, there=Covered(space, ()), pairwise=True)
    assert 9 <= len(found.tuples) <= 12


def test_a_pair_that_rules_leave_no_room_for_is_found_at_once() -> None:
    names = [f"d{n:02}" for n in range(30)]
    dimensions = [Dimension(name=n, values=[*"abc"]) for n in names]
    never = Rule(when={"d28": frozenset("abc"), "d29": frozenset("abc")})
    space = Space(dimensions=dimensions, rules=[never])
    found = tuples_of(space, there=Covered(space, ()), pairwise=True)
    assert found.tuples == () and found.impossible == 9 * 30 * 29 // 2


def test_rules_in_which_no_way_through_is_found_are_said() -> None:
    # Twelve dimensions that all differ, with eleven values: there is none, and to see
    # that takes a look at all of them.
    names, values = [f"d{n:02}" for n in range(12)], [*"abcdefghijk"]
    dimensions = [Dimension(name=n, values=values) for n in names]
    rules = [
        Rule(when={a: frozenset(v), b: frozenset(v)})
        for a, b in combinations(names, 2)
        for v in values
    ]
    space = Space(dimensions=dimensions, rules=rules)
    with pytest.raises(Refusal, match="leave so little room"):
        tuples_of(space, there=Covered(space, ()), pairwise=True)


# -- the suite's own dimensions --------------------------------------------------------


def case(case_id: str, dataset: str | None = "desk", **values: str) -> Case:
    return Case(
        id=case_id,
        query=f"query {case_id}",
        dimensions=values,
        dataset=dataset,
        category=values.get("category"),
        scenario=values.get("scenario"),
        expected_behavior=(
            f"behaves {values['scenario']}" if "scenario" in values else None
        ),
    )


ROWS = [
    case("1", scenario="known", category="find", copies="one", tone="polite"),
    case(
        "2", scenario="missing", category="find", **{"edge-case": "yes"}, tone="hurried"
    ),
    case("3", category="find", copies="several"),
    case("4", dataset="letters", category="letter"),
]


def test_the_dimensions_of_a_suite_are_those_of_its_rows() -> None:
    space = space_of(ROWS, "desk")
    assert {d.name: tuple(d.values) for d in space.dimensions} == {
        "scenario": ("known", "missing"),
        "copies": ("one", "several"),
        "tone": ("polite", "hurried"),
    }
    some = space_of(ROWS, "desk", ["tone", "category"])
    assert some.names == ("tone", "category")


def test_a_dataset_without_dimensions_says_what_to_give() -> None:
    with pytest.raises(Refusal, match="give --dimensions FILE"):
        space_of(ROWS, "letters")
    with pytest.raises(Refusal, match="did you mean 'tone'"):
        space_of(ROWS, "desk", ["tune"])


def test_of_several_datasets_one_has_to_be_named() -> None:
    with pytest.raises(Refusal, match="desk, letters"):
        dataset_of(ROWS, None, whose="--dataset")
    with pytest.raises(Refusal, match="did you mean 'letters'"):
        dataset_of(ROWS, "leters", whose="--dataset")
    assert dataset_of(ROWS, "letters", whose="--dataset") == "letters"
    assert dataset_of(ROWS[:3], None, whose="--dataset") == "desk"
    assert dataset_of([], None, whose="--dataset") is None


def test_a_new_row_takes_from_its_scenarios_rows_what_belongs_to_the_scenario() -> None:
    situation = Situation(
        tuple={"scenario": "missing", "copies": "one", "tone": "polite"}, dataset="desk"
    )
    made = case_of(situation, "Is the atlas there?", ROWS)
    row = json.loads(json.dumps(made.to_row()))
    del row["id"]
    assert row == {
        "query": "Is the atlas there?",
        "tuple": {
            "scenario": "missing",
            "category": "find",
            "edge-case": "yes",
            "copies": "one",
            "tone": "polite",
        },
        "source": "synthetic",
        "dataset": "desk",
        "category": "find",
        "scenario": "missing",
        "expectedBehavior": "behaves missing",
    }


def test_a_file_of_dimensions_is_read_as_json(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text(json.dumps(TONES), "utf-8")
    space = space_from(json.loads(path.read_text("utf-8")), path.name)
    assert space.names == ("tone", "channel", "copies") and space.size == 12
