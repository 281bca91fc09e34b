"""A case: one situation that the subject is put into, a row of `dataset.jsonl`."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from .canonical import canonical, content_key, dump_line, fnv1a_64
from .record import field, made, record

Source = Literal["seed", "synthetic", "derived"]
SOURCES: Final[tuple[Source, ...]] = ("seed", "synthetic", "derived")

# Shared by all records that say nothing more, so nobody may write into it.
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@record(kw_only=True)
class Case:
    """One case.

    `input` and `expected` are free data of the dataset's item, or None; `dimensions`
    is the row's `tuple` (at least one dimension); `placeholder` marks a query that is
    only the description of a situation, not what a user would write; `recorded`
    marks a case that a recorded trace without a row of its own stands for.
    """

    id: str
    query: str
    dimensions: Mapping[str, str]
    source: Source = "seed"
    dataset: str | None = None
    category: str | None = None
    scenario: str | None = None
    expected_behavior: str | None = None
    item: str | None = None
    input: Any = None
    expected: Any = None
    placeholder: bool = False
    origin_trace_id: str | None = None
    recorded: bool = False
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def to_row(self) -> dict[str, Any]:
        """Return the row of `dataset.jsonl`, keys in their written order."""
        row: dict[str, Any] = {"id": self.id, "query": self.query}
        row["tuple"] = dict(self.dimensions)
        row["source"] = self.source
        optional = (
            ("dataset", self.dataset),
            ("category", self.category),
            ("scenario", self.scenario),
            ("expectedBehavior", self.expected_behavior),
            ("item", self.item),
            ("input", self.input),
            ("expected", self.expected),
            ("originTraceId", self.origin_trace_id),
        )
        row.update((key, value) for key, value in optional if value is not None)
        if self.placeholder:
            row["placeholder"] = True
        row.update(self.extra)
        return row

    @property
    def is_of_no_dataset(self) -> bool:
        """Whether it stands for a trace, recorded or derived, that names no dataset."""
        return self.recorded or (self.source == "derived" and self.dataset is None)

    @property
    def digest(self) -> str:
        """The content hash of the row: it changes with any word of the case."""
        return content_key(dump_line(self.to_row()))


def row_content(case: Case) -> str:
    """Return the canonical JSON of a case's row but for its id.

    Raises ValueError, TypeError or RecursionError for what JSON can't hold.
    """
    row = case.to_row()
    del row["id"]
    return canonical(row)


def content_id(case: Case) -> str:
    """Return the id that the content of a case gives it: FNV-1a, 64 bit, in hex."""
    return fnv1a_64(row_content(case).encode())


ROW_KEYS: Final = (
    "id",
    "query",
    "tuple",
    "source",
    "dataset",
    "category",
    "scenario",
    "expectedBehavior",
    "item",
    "input",
    "expected",
    "originTraceId",
    "placeholder",
)
"""The keys of a row that mean something; others are the user's own."""
_KNOWN: Final = frozenset(ROW_KEYS)
_TEXTS: Final = (
    "dataset",
    "category",
    "scenario",
    "expectedBehavior",
    "item",
    "originTraceId",
)


def case_from_row(row: Any) -> Case:
    """Return the case of one row; unknown keys are kept in `extra`.

    Raises ValueError that names every fault of the row.
    """
    if not isinstance(row, dict):
        raise ValueError("a row is a JSON object")
    faults = []
    get = row.get
    case_id, query, dimensions = get("id"), get("query"), get("tuple")
    if not isinstance(case_id, str) or not case_id:
        faults.append("`id` must be a text that is not empty")
    if not isinstance(query, str) or not query:
        faults.append("`query` must be a text that is not empty")
    if not isinstance(dimensions, dict) or not dimensions:
        faults.append("`tuple` must name at least one dimension and its value")
        dimensions = {}
    source = get("source", "seed")
    if source not in SOURCES:
        faults.append(f"`source` must be one of {', '.join(SOURCES)}")
    # One by one, not in a loop: this is done for each row of a run.
    texts = (
        get("dataset"),
        get("category"),
        get("scenario"),
        get("expectedBehavior"),
        get("item"),
        get("originTraceId"),
    )
    for value in texts:
        if value is not None and value.__class__ is not str:
            faults += [
                f"`{key}` must be a text"
                for key, value in zip(_TEXTS, texts, strict=True)
                if value is not None and value.__class__ is not str
            ]
            break
    if faults:
        raise ValueError("; ".join(faults))
    dataset, category, scenario, expected_behavior, item, origin_trace_id = texts
    values = {
        "id": case_id,
        "query": query,
        "dimensions": _texts_of(dimensions),
        "source": source,
        "dataset": dataset,
        "category": category,
        "scenario": scenario,
        "expected_behavior": expected_behavior,
        "item": item,
        "input": get("input"),
        "expected": get("expected"),
        "placeholder": get("placeholder") is True,
        "origin_trace_id": origin_trace_id,
        "recorded": False,
        "extra": _NOTHING,
    }
    if not row.keys() <= _KNOWN:
        values["extra"] = {k: v for k, v in row.items() if k not in _KNOWN}
    return made(Case, values)


def is_well_formed(row: dict[str, Any]) -> bool:
    """Whether a row is plainly that of a case, without making one. Raises KeyError."""
    query, dimensions = row["query"], row["tuple"]
    if not (query.__class__ is str and query and row["id"]):
        return False
    if not (dimensions.__class__ is dict and dimensions):
        return False
    if row.get("source", "seed") not in SOURCES:
        return False
    for key in _TEXTS:
        value = row.get(key)
        if value is not None and value.__class__ is not str:
            return False
    return True


def _texts_of(dimensions: dict[Any, Any]) -> dict[str, str]:
    for value in dimensions.values():
        if value.__class__ is not str:
            return {str(k): str(v) for k, v in dimensions.items()}
    return dimensions.copy()


def check_dataset(path: Path) -> list[str]:
    """Return every problem of a dataset file, a line each: `FILE:LINE: what`."""
    from .row_json import row_data

    problems = []
    first: dict[str, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                case = case_from_row(row_data(line.decode("utf-8").strip()))
            except (ValueError, RecursionError) as error:
                from .strict_json import why_unreadable

                problems.append(f"{path.name}:{number}: {why_unreadable(error)}")
                continue
            earlier = first.setdefault(case.id, number)
            if earlier != number:
                problems.append(
                    f"{path.name}:{number}: the id {case.id!r} stands in line "
                    f"{earlier} already"
                )
    return problems
