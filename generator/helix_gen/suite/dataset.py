"""Materialize cases: what a spec declares becomes the rows of the dataset.

Each item is a case. Each required combination, scenario, edge case, category and
value of a dimension that no item exercises gets a case of its own, and so does a
dataset that declares nothing else; their query is only the description of the
situation (`placeholder`). One pass over the items; an
id is the content of its row, so the same row is one case.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from helix_runtime.canonical import dump_line
from helix_runtime.case import Case, row_content
from helix_runtime.record import replace

from ..problems import quoted
from .identify import identify
from .report import Report, Where
from .texts import combination, within

NOT_JSON: Final = "HX505"
COLLISION: Final = "HX506"

MAX_NAMED: Final = 20
"""How many faults of one kind are named; the rest are counted."""

QUERY_KEYS: Final = ("query", "prompt", "question", "message", "ticket", "text")
"""Which field of an input is the query, the first that is there."""

_Values = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A situation that the subject must handle. `edge` marks an edge case."""

    id: str
    description: str
    expected_behavior: str
    category: str | None = None
    edge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A slice of a dataset, the combinations and the edge cases that it requires."""

    id: str
    description: str
    required: Sequence[Mapping[str, str]] = ()
    edge_cases: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A dimension along which the cases of a dataset vary."""

    name: str
    description: str
    values: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of a dataset: inline in the spec, or a row of a file.

    `query` is given only by a row that has a query of its own, `in_table` marks one in
    which every value was a text.
    """

    at: Where
    id: str | None = None
    category: str | None = None
    scenario: str | None = None
    dimensions: Mapping[str, str]
    query: str | None = None
    input: Any = None
    expected: Any = None
    in_table: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A dataset as the spec declares it; `id` is None for what stands in none."""

    id: str | None
    description: str
    at: Where
    categories: Sequence[Category] = ()
    scenarios: Sequence[str] = ()
    dimensions: Sequence[Dimension] = ()
    items: Sequence[Item] = ()


def materialize(
    datasets: Iterable[Declared],
    scenarios: Mapping[str, Scenario],
    report: Report,
    *,
    identify: Callable[[Sequence[bytes]], list[str]] = identify,
) -> tuple[Case, ...]:
    """Return the cases of a spec, ids unique, in the order of its datasets.

    `scenarios` are all scenarios by id; `identify` hashes the canonical JSON of
    each row's content. Two rows of one content are one case; two contents of one id are
    an error, as is a value that JSON can't hold.
    """
    cases = _Cases(report, identify)
    for declared in datasets:
        cases.add(
            (_item_case(item, declared, scenarios), item.at) for item in declared.items
        )
        before = len(cases.by_id)
        cases.add((case, declared.at) for case in _uncovered(declared, scenarios))
        if declared.id is not None and not declared.items:
            if len(cases.by_id) == before:
                cases.add([(_bare(declared), declared.at)])
    cases.conclude()
    return tuple(cases.by_id.values())


class _Cases:
    """The cases so far, by id."""

    def __init__(
        self, report: Report, identify: Callable[[Sequence[bytes]], list[str]]
    ) -> None:
        self.by_id: dict[str, Case] = {}
        self._report = report
        self._identify = identify
        self._repeated = 0
        self._unwritable = 0

    def add(self, cases: Iterable[tuple[Case, Where]]) -> None:
        """Add cases that have no id yet, each with its place in the spec."""
        rows: list[tuple[Case, Where, str]] = []
        for case, at in cases:
            try:
                rows.append((case, at, row_content(case)))
            except (ValueError, TypeError, RecursionError):
                self._unwritable += 1
                if self._unwritable <= MAX_NAMED:
                    self._report_unwritable(case, at)
        ids = self._identify([content.encode() for _, _, content in rows])
        for (case, at, content), case_id in zip(rows, ids, strict=True):
            self._add(case, at, content, case_id)

    def _add(self, case: Case, at: Where, content: str, case_id: str) -> None:
        known = self.by_id.get(case_id)
        if known is None:
            self.by_id[case_id] = replace(case, id=case_id)
        elif row_content(known) == content:
            self._repeated += 1
        else:
            self._report.error(
                COLLISION,
                f"two different cases have the content id {case_id}",
                at=at,
                hint=f"change a word of one; the other is {quoted(known.query)}",
            )

    def conclude(self) -> None:
        """Say how many rows were left out of the named problems, or were repeats."""
        more = self._unwritable - MAX_NAMED
        if more > 0:
            self._report.note(f"{more} more items hold a value that JSON can't hold.")
        if self._repeated == 1:
            self._report.note("1 item repeats another word for word: one case.")
        elif self._repeated:
            self._report.note(
                f"{self._repeated} items repeat others word for word: one case each."
            )

    def _report_unwritable(self, case: Case, at: Where) -> None:
        for name, value in (("input", case.input), ("expected", case.expected)):
            found = _unwritable(value, name)
            if found is not None:
                path, why = found
                self._report.error(
                    NOT_JSON,
                    f"{quoted(path)} {why}",
                    at=at,
                    hint="a row of the dataset is JSON: write the value as a text",
                )
                return
        self._report.error(NOT_JSON, "the item can't be written as JSON", at=at)


def _unwritable(value: Any, name: str) -> tuple[str, str] | None:
    """Return the path of the first value that JSON can't hold, and why it can't."""
    stack: list[tuple[Any, str, int]] = [(value, name, 0)]
    while stack:
        each, path, depth = stack.pop()
        if isinstance(each, float) and not -float("inf") < each < float("inf"):
            return path, "is no number that JSON can hold (infinite, or not a number)"
        if isinstance(each, int) and each.bit_length() > 14_000:
            return path, "is a number of more than 4,000 digits"
        if depth > 500:
            return name, "is nested too deeply"
        if isinstance(each, dict):
            stack += ((v, f"{path}.{k}", depth + 1) for k, v in each.items())
        elif isinstance(each, (list, tuple)):
            stack += ((v, f"{path}.{i}", depth + 1) for i, v in enumerate(each))
        elif each is not None and not isinstance(each, (str, int, float)):
            return path, f"is of a kind that JSON does not have ({type(each).__name__})"
    return None


# -- items -----------------------------------------------------------------------------


def _item_case(
    item: Item, declared: Declared, scenarios: Mapping[str, Scenario]
) -> Case:
    scenario = scenarios.get(item.scenario or "")
    category = item.category or (scenario.category if scenario else None)
    query = item.query if item.query is not None else query_of(item.input)
    placeholder = query is None
    if query is None:
        description = scenario.description if scenario else ""
        if not description.strip() and category is not None:
            description = next(
                (c.description for c in declared.categories if c.id == category), ""
            )
        query = _situation(description, declared.description, item.id or category)
    return _case(
        declared,
        query=query,
        category=category,
        scenario=scenario,
        dimensions=item.dimensions,
        placeholder=placeholder,
        item=item.id,
        input=item.input,
        expected=item.expected,
    )


def query_of(value: Any) -> str | None:
    """Return the realistic query that an item's input carries, or None.

    A text is the query itself; of an object, the field of QUERY_KEYS, the last user
    turn of `messages`, the first of `turns`, or the only field where it is a text.
    Other data is the query as compact JSON. None for what says nothing: null, blanks,
    empty data.
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, dict):
        for key in QUERY_KEYS:
            text = value.get(key)
            if isinstance(text, str) and text.strip():
                return text
        turn = _last_user_turn(value.get("messages"))
        turn = turn or _first_turn(value.get("turns"))
        if turn is not None:
            return turn
        if len(value) == 1:
            (only,) = value.values()
            if isinstance(only, str):
                return only if only.strip() else None
    elif isinstance(value, list):
        turn = _last_user_turn(value)
        if turn is not None:
            return turn
    if value is None or value == {} or value == []:
        return None
    try:
        return dump_line(value)
    except (ValueError, TypeError, RecursionError):
        # The row's own canonical form fails on it too, and says where.
        return None


def _last_user_turn(messages: Any) -> str | None:
    if not isinstance(messages, list):
        return None
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str) and content.strip():
                return content
    return None


def _first_turn(turns: Any) -> str | None:
    first = turns[0] if isinstance(turns, list) and turns else None
    said = first.get("content") if isinstance(first, dict) else first
    return said if isinstance(said, str) and said.strip() else None


# -- coverage --------------------------------------------------------------------------


def _uncovered(declared: Declared, scenarios: Mapping[str, Scenario]) -> Iterator[Case]:
    """Yield a case for each declared situation that no item exercises.

    In order: required combinations, scenarios, edge cases, categories, values of
    dimensions; each also covers what it carries of the later ones.
    """
    seen_scenarios = {item.scenario for item in declared.items}
    seen_categories = {item.category for item in declared.items}
    seen_values = {pair for item in declared.items for pair in item.dimensions.items()}
    for category, values in _missing_combinations(declared):
        seen_categories.add(category.id)
        seen_values.update(values.items())
        yield _case(
            declared,
            query=within(combination(values), category.description),
            category=category.id,
            dimensions=values,
            placeholder=True,
        )
    for scenario_id in dict.fromkeys(declared.scenarios):
        scenario = scenarios.get(scenario_id)
        if scenario is None or scenario_id in seen_scenarios:
            continue
        seen_categories.add(scenario.category)
        yield _case(
            declared,
            query=_situation(scenario.description, declared.description, scenario.id),
            category=scenario.category,
            scenario=scenario,
            placeholder=True,
        )
    for category in declared.categories:
        for text in category.edge_cases:
            seen_categories.add(category.id)
            yield _case(
                declared,
                query=_situation(
                    within(text.strip(), category.description),
                    declared.description,
                    category.id,
                ),
                category=category.id,
                edge=text,
                placeholder=True,
            )
    for category in declared.categories:
        if category.id not in seen_categories:
            yield _case(
                declared,
                query=_situation(
                    category.description, declared.description, category.id
                ),
                category=category.id,
                placeholder=True,
            )
    for dimension in declared.dimensions:
        for value in dimension.values:
            if (dimension.name, value) not in seen_values:
                values = {dimension.name: value}
                about = combination(values, dimension.description)
                yield _case(
                    declared,
                    query=within(about, declared.description),
                    dimensions=values,
                    placeholder=True,
                )


def _bare(declared: Declared) -> Case:
    """Return the case of a dataset that declares nothing but itself."""
    return _case(
        declared,
        query=_situation(declared.description, "", declared.id),
        placeholder=True,
    )


def _missing_combinations(
    declared: Declared,
) -> Iterator[tuple[Category, Mapping[str, str]]]:
    """Yield the required combinations that no item of their category has.

    Linear: each item is projected once on each set of dimensions that a combination
    of its category names.
    """
    wanted = {c.id: {frozenset(r) for r in c.required} for c in declared.categories}
    present: set[tuple[str, _Values]] = set()
    for item in declared.items:
        for names in wanted.get(item.category or "", ()):
            if all(name in item.dimensions for name in names):
                values = frozenset((n, item.dimensions[n]) for n in names)
                present.add((item.category or "", values))
    for category in declared.categories:
        for required in category.required:
            key = (category.id, frozenset(required.items()))
            if required and key not in present:
                present.add(key)
                yield category, required


def _case(
    declared: Declared,
    *,
    query: str,
    placeholder: bool,
    category: str | None = None,
    scenario: Scenario | None = None,
    edge: str | None = None,
    dimensions: Mapping[str, str] | None = None,
    item: str | None = None,
    input: Any = None,
    expected: Any = None,
) -> Case:
    """Return a case without its id. Its dimensions are never empty."""
    values: dict[str, str] = {}
    if scenario is not None:
        values["scenario"] = scenario.id
        if scenario.edge and edge is None:
            edge = "yes"
    if category is not None:
        values["category"] = category
    if edge is not None:
        values["edge-case"] = edge
    values.update(dimensions or {})
    if not values:
        values["dataset"] = declared.id or "none"
    return Case(
        id="",
        query=query,
        dimensions=values,
        dataset=declared.id,
        category=category,
        scenario=None if scenario is None else scenario.id,
        expected_behavior=None if scenario is None else scenario.expected_behavior,
        item=item,
        input=input,
        expected=expected,
        placeholder=placeholder,
    )


def _situation(description: str, otherwise: str, name: str | None) -> str:
    """Return the words that stand in for a query; never empty."""
    for text in (description, otherwise, name or ""):
        if text.strip():
            return text.strip()
    return "(no description)"
