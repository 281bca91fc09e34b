"""Each item is a case, and whatever a spec declares has at least one."""

import json
from typing import Any

import pytest
from helix_gen.spec.read import read_spec
from helix_gen.spec.yaml import read_yaml
from helix_gen.suite.dataset import (
    Category,
    Declared,
    Dimension,
    Item,
    Scenario,
    materialize,
    query_of,
)
from helix_gen.suite.report import InSpec, Report
from helix_runtime.canonical import canonical, dump_line, fnv1a_64
from helix_runtime.case import Case, case_from_row
from hypothesis import given, settings
from hypothesis import strategies as st
from support.suite_cards import card, card_v02, dataset, resolved, scenario, suite_of

HERE = InSpec(())


def report() -> Report:
    located, _ = read_yaml(b"a: 1", file="spec.yaml")
    assert located is not None
    return Report(spec=located, overlay=None)


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "scenarioRef": "busy", "input": f"Query of {name}", **more}


def one_dataset(**more: Any) -> dict[str, Any]:
    return card(scenarios=[scenario("busy")], datasets=[dataset("d", **more)])


def rest(cases: tuple[Case, ...]) -> list[tuple[str, dict[str, str]]]:
    """Return the queries and dimensions of the cases that stand in for a situation."""
    return [(c.query, dict(c.dimensions)) for c in cases if c.placeholder]


# -- items -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_input", "query"),
    [
        ("Hi", "Hi"),
        ({"ticket": "Broken", "evidence": "Log"}, "Broken"),
        ({"text": "b", "query": "a"}, "a"),
        ({"prompt": "  ", "message": "m"}, "m"),
        ({"subject": "One text alone"}, "One text alone"),
        ({"turns": ["A table, please", "At 19:00"], "room": 7}, "A table, please"),
        ({"turns": [{"role": "user", "content": "Hi"}], "room": 7}, "Hi"),
        ({"turns": [], "room": 7}, '{"turns":[],"room":7}'),
        ({"turns": ["first"], "message": "m"}, "m"),
        ({"candidate": "v2", "checks": [1]}, '{"candidate":"v2","checks":[1]}'),
        ({"a": "x", "b": "y"}, '{"a":"x","b":"y"}'),
        ({"n": None}, '{"n":null}'),
        (7, "7"),
        (False, "false"),
        ([1, "ü"], '[1,"ü"]'),
        (
            {
                "messages": [
                    {"role": "user", "content": "first"},
                    {"role": "user", "content": "last"},
                    {"role": "assistant", "content": "no"},
                ]
            },
            "last",
        ),
        ([{"role": "user", "content": "Hi"}], "Hi"),
    ],
)
def test_the_query_is_what_the_input_carries(given_input: Any, query: str) -> None:
    assert query_of(given_input) == query


@pytest.mark.parametrize("nothing", [None, "", " \n", {}, [], {"only": " "}])
def test_an_input_that_says_nothing_leaves_the_situation(nothing: Any) -> None:
    assert query_of(nothing) is None
    spec = one_dataset(items=[item("i", input=nothing)])
    case = suite_of(spec).cases[0]
    assert (case.query, case.placeholder) == ("The situation busy.", True)
    assert case.item == "i"


def test_an_item_becomes_a_case_with_all_that_it_says() -> None:
    spec = one_dataset(
        categories=[{"id": "c", "description": "C."}],
        caseDimensions={"mood": {"description": "M.", "values": ["calm"]}},
        items=[
            item("i", category="c", case={"mood": "calm"}, expected={"actionCalls": []})
        ],
    )
    (case,) = suite_of(spec).cases
    assert case.to_row() == {
        "id": case.id,
        "query": "Query of i",
        "tuple": {"scenario": "busy", "category": "c", "mood": "calm"},
        "source": "seed",
        "dataset": "d",
        "category": "c",
        "scenario": "busy",
        "expectedBehavior": "Does right in busy.",
        "item": "i",
        "input": "Query of i",
        "expected": {"actionCalls": []},
    }


def test_an_id_is_the_hash_of_the_row_without_it() -> None:
    (case,) = suite_of(one_dataset(items=[item("i")])).cases
    row = case.to_row()
    del row["id"]
    assert case.id == fnv1a_64(canonical(row).encode())


def test_an_id_does_not_depend_on_where_the_item_stands_in_its_dataset() -> None:
    def ids(*items: dict[str, Any]) -> dict[str | None, str]:
        return {c.item: c.id for c in suite_of(one_dataset(items=list(items))).cases}

    assert ids(item("a"), item("b")) == ids(item("b"), item("a"))


# -- coverage --------------------------------------------------------------------------


def test_every_scenario_and_category_that_no_item_has_gets_a_case() -> None:
    spec = card(
        scenarios=[
            scenario("busy"),
            scenario("quiet", edgeCase=True),
            scenario("alone"),
        ],
        datasets=[
            dataset(
                "d",
                mapsTo={"scenarios": ["busy", "quiet", "quiet"]},
                categories=[
                    {"id": "used", "description": "Used."},
                    {"id": "unused", "description": "Unused."},
                ],
                items=[item("i", category="used")],
            )
        ],
    )
    cases = suite_of(spec).cases
    assert rest(cases) == [
        ("The situation quiet.", {"scenario": "quiet", "edge-case": "yes"}),
        ("Unused.", {"category": "unused"}),
        ("The situation alone.", {"scenario": "alone"}),
    ]
    assert [c.dataset for c in cases] == ["d", "d", "d", None]
    assert cases[1].expected_behavior == "Does right in quiet."


def test_a_scenario_is_covered_in_each_dataset_that_maps_it() -> None:
    maps = {"scenarios": ["busy"]}
    spec = card(
        scenarios=[scenario("busy")],
        datasets=[
            dataset("one", mapsTo=maps, items=[item("i")]),
            dataset("two", mapsTo=maps),
        ],
    )
    assert [(c.dataset, c.scenario) for c in suite_of(spec).cases] == [
        ("one", "busy"),
        ("two", "busy"),
    ]


def test_a_required_combination_is_covered_only_by_an_item_of_its_category() -> None:
    dimensions = {
        "a": {"description": "A.", "values": ["1", "2"]},
        "b": {"description": "B.", "values": ["1", "2"]},
    }
    spec = one_dataset(
        categories=[
            {
                "id": "c",
                "description": "C.",
                "requiredCases": [
                    {"a": "1", "b": "1"},
                    {"a": "1"},
                    {"a": "2", "b": "1"},
                    {"a": "2", "b": "1"},
                ],
            },
            {"id": "other", "description": "O.", "requiredCases": [{"a": "1"}]},
        ],
        caseDimensions=dimensions,
        items=[item("i", category="c", case={"a": "1", "b": "1"})],
    )
    assert rest(suite_of(spec).cases) == [
        ("a: 2, b: 1 — C.", {"category": "c", "a": "2", "b": "1"}),
        ("a: 1 — O.", {"category": "other", "a": "1"}),
        ("b: 2 (B) — Cases of d.", {"b": "2"}),
    ]


def test_a_dataset_that_declares_nothing_else_has_a_case_of_its_own() -> None:
    spec = card(datasets=[dataset("one"), dataset("two")])
    assert [(c.dataset, c.query, c.dimensions) for c in suite_of(spec).cases] == [
        ("one", "Cases of one.", {"dataset": "one"}),
        ("two", "Cases of two.", {"dataset": "two"}),
    ]


def test_the_edge_cases_of_a_category_each_have_a_case() -> None:
    old = card_v02(
        scenarios=[
            {
                "id": "s",
                "description": "S.",
                "expected_behavior": "B.",
                "category": "c",
                "edge_case": True,
            },
            {"id": "t", "description": "T.", "expected_behavior": "B."},
        ],
        dataset_categories=[
            {"id": "c", "description": "C.", "edge_cases": []},
            {"id": "e", "description": "E.", "edge_cases": ["x (must)", "y"]},
            {"id": "n", "description": "N.", "edge_cases": []},
        ],
    )
    cases = suite_of(old).cases
    assert rest(cases) == [
        ("S.", {"scenario": "s", "category": "c", "edge-case": "yes"}),
        ("T.", {"scenario": "t"}),
        ("x (must) — E.", {"category": "e", "edge-case": "x (must)"}),
        ("y — E.", {"category": "e", "edge-case": "y"}),
        ("N.", {"category": "n"}),
    ]
    assert {c.dataset for c in cases} == {None}


def test_a_spec_that_declares_nothing_has_no_cases() -> None:
    assert suite_of(card()).cases == ()
    assert suite_of(card_v02()).cases == ()


def test_a_dimension_of_the_spec_may_have_a_name_of_ours() -> None:
    spec = one_dataset(
        caseDimensions={"scenario": {"description": "S.", "values": ["mine"]}},
        items=[item("i", case={"scenario": "mine"})],
    )
    (case,) = suite_of(spec).cases
    assert (case.scenario, case.dimensions) == ("busy", {"scenario": "mine"})


# -- ids -------------------------------------------------------------------------------


def declared(*items: Item) -> list[Declared]:
    return [Declared(id="d", description="D.", at=HERE, items=items)]


def plain(query: str, name: str | None = None, **more: Any) -> Item:
    return Item(at=HERE, id=name, query=query, dimensions={}, **more)


def test_one_content_is_one_case_and_it_is_said() -> None:
    said = report()
    cases = materialize(declared(plain("a"), plain("b"), plain("a")), {}, said)
    assert [case.query for case in cases] == ["a", "b"]
    assert said.notes == ["1 item repeats another word for word: one case."]
    assert not said.problems


def test_two_contents_of_one_id_are_an_error_and_never_merged() -> None:
    said = report()
    materialize(
        declared(plain("a"), plain("b")),
        {},
        said,
        identify=lambda rows: ["same"] * len(rows),
    )
    (problem,) = said.problems
    assert (problem.code, problem.level) == ("HX506", "error")
    assert "`a`" in problem.hint


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (float("inf"), "input"),
        (float("nan"), "input"),
        ({"a": [1, {"b": float("-inf")}]}, "input.a.1.b"),
        pytest.param(10**5000, "input", id="long"),
        ([0, -(10**5000)], "input.1"),
        ({"a": {1, 2}}, "input.a"),
    ],
)
def test_what_json_can_t_hold_is_an_error_that_names_its_path(
    value: Any, path: str
) -> None:
    said = report()
    cases = materialize(declared(plain("a", input=value), plain("b")), {}, said)
    assert [case.query for case in cases] == ["b"]
    (problem,) = said.problems
    assert problem.code == "HX505"
    assert problem.message.startswith(f"`{path}` ")


def test_inline_numbers_that_json_can_t_hold_are_errors_where_they_stand() -> None:
    text = json.dumps(one_dataset(items=[item("i", input={"n": 1})]))
    for number in ("1e400", ".nan"):
        read = read_spec(text.replace('"n": 1', f'"n": {number}').encode(), file="s")
        assert read.card is None
        assert "error" in [p.level for p in read.problems]


def test_odd_values_that_json_holds_are_kept() -> None:
    odd = {"zero": -0.0, "surrogate": "\ud800", "big": 10**300, "none": None}
    said = report()
    (case,) = materialize(declared(plain("a", input=odd, expected=odd)), {}, said)
    assert case.input is odd
    back = case_from_row(json.loads(dump_line(case.to_row())))
    assert back == case
    assert str(back.input["zero"]) == "-0.0"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["a", "b", "c"])
ITEMS = st.lists(
    st.builds(
        Item,
        at=st.just(HERE),
        id=st.none() | NAMES,
        category=st.none() | NAMES,
        scenario=st.none() | NAMES,
        dimensions=st.dictionaries(NAMES, NAMES, max_size=2),
        input=VALUES,
        expected=VALUES,
    ),
    max_size=6,
)


@settings(max_examples=50, deadline=None)
@given(ITEMS, st.lists(st.dictionaries(NAMES, NAMES, max_size=2), max_size=3))
def test_whatever_is_declared_each_part_of_it_has_a_case(
    items: list[Item], required: list[dict[str, str]]
) -> None:
    scenarios = {
        name: Scenario(
            id=name, description=name, expected_behavior="B", edge=name == "c"
        )
        for name in ("a", "b", "c")
    }
    whole = Declared(
        id="d",
        description="",
        at=HERE,
        categories=[
            Category(id="a", description="", required=required, edge_cases=["e"]),
            Category(id="b", description="B."),
        ],
        scenarios=["a", "b", "a"],
        dimensions=[Dimension(name="a", description="", values=["a", "z"])],
        items=items,
    )
    said = report()
    cases = materialize([whole], scenarios, said)
    assert len({case.id for case in cases}) == len(cases)
    for case in cases:
        assert case.query.strip() and case.dimensions
        assert case_from_row(json.loads(canonical(case.to_row()))).query == case.query
    if not said.problems:
        assert {"a", "b"} <= {case.scenario for case in cases}
        assert {"a", "b"} <= {case.category for case in cases}
        values = {pair for case in cases for pair in case.dimensions.items()}
        assert {("a", "a"), ("a", "z"), ("edge-case", "e")} <= values
        for combination in required:
            assert any(
                case.category == "a" and combination.items() <= case.dimensions.items()
                for case in cases
            )


def test_the_same_spec_gives_the_same_cases() -> None:
    spec = one_dataset(items=[item(f"i{n}") for n in range(20)])
    assert resolved(spec).suite == resolved(spec).suite
