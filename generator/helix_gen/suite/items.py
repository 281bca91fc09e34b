"""Read the items of a dataset from a file, and turn its rows into ours.

Pattern: find the file (never outside the spec's folder unless the user names it),
read its rows (`rows`), read each row by the overlay's map and by our own field names.
What a row says beyond that is left out and named: it might be an expectation, and an
expectation must not reach the subject.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from helix_runtime.strict_json import strict_loads

from ..problems import listed, quoted
from .dataset import QUERY_KEYS, Declared, Item, query_of
from .mapping import ABSENT, Rule, field_of, label_of, put, rules_of
from .report import Place, Report
from .rows import Row, Rows, read_rows
from .source import Source, find

NOT_READ: Final = "HX501"
BAD_ROW: Final = "HX502"
UNKNOWN_LABEL: Final = "HX503"
LEFT_OUT: Final = "HX504"
TWICE: Final = "HX201"

MAX_NAMED: Final = 20

_OURS: Final = ("id", "category", "input", "expected", "query")
_SCENARIO_KEYS: Final = ("scenarioRef", "scenario")
_TUPLE_KEYS: Final = ("case", "tuple")
_EXPECTATION: Final = re.compile(
    r"expect|answer|criteri|reference|gold|truth|label|target|output|must|should", re.I
)


def read_items(
    source: Source,
    declared: Declared,
    *,
    name: str,
    category: str | None,
    scenarios: Collection[str],
    folder: Path | None,
    report: Report,
) -> list[Item]:
    """Return the items of a dataset's file; what is wrong goes into `report`.

    `name` is the dataset as the user may name it, `category` what a row is in that
    does not say, `scenarios` are all that the spec declares.
    """
    path = find(source, folder)
    if isinstance(path, str):
        _refuse(source, name, path, report)
        return []
    file = source.reference
    try:
        rows = read_rows(path, name=file)
    except OSError as error:
        _refuse(source, name, error.strerror or "it can't be read", report)
        return []
    if rows.shapeless is not None:
        _refuse(source, name, rows.shapeless, report)
        return []
    for fault in rows.faults[:MAX_NAMED]:
        at = Place(file, fault.at, rows.excerpt(fault.at))
        report.error(BAD_ROW, fault.message, at=at, hint=fault.hint)
    more = len(rows.faults) - MAX_NAMED
    if more > 0:
        report.note(f"{more} more rows of {quoted(file)} can't be read.")
    reader = _RowReader(
        source,
        rows,
        report=report,
        name=name,
        default=category,
        labels=_Labels(
            categories={c.id: c.description for c in declared.categories},
            scenarios=scenarios,
            values={d.name: frozenset(d.values) for d in declared.dimensions},
        ),
    )
    items = [item for row in rows.rows if (item := reader.item(row)) is not None]
    reader.conclude(len(items))
    return items


def _refuse(source: Source, name: str, why: str, report: Report) -> None:
    message = f"the items in {quoted(source.reference)} are not read: {why}"
    hint = (
        f"supply them with `--items {_shell(name)}=FILE` "
        "(JSON, JSON Lines, CSV or YAML)"
    )
    if source.named:
        report.error(NOT_READ, message, at=source.at, hint=f"mend the file, or {hint}")
    else:
        report.warning(NOT_READ, message, at=source.at, hint=hint)


def _shell(text: str) -> str:
    return text if re.fullmatch(r"[\w.@%+:,/-]+", text, re.A) else f"'{text}'"


# -- rows ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Draft:
    """An item while its fields come together."""

    texts: dict[str, str] = field(default_factory=dict)
    dimensions: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    """The labels that a dataset declares; categories with their descriptions."""

    categories: Mapping[str, str]
    scenarios: Collection[str]
    values: Mapping[str, frozenset[str]]

    def like(self, label: str) -> str | None:
        """Return the category that shares most words with a label, or None."""
        words = _words(label)
        shared = {
            category: len(words & _words(f"{category} {description}"))
            for category, description in self.categories.items()
        }
        best = max(shared, key=lambda category: shared[category], default=None)
        return best if best is not None and shared[best] else None


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _data_in(cells: Any) -> Any:
    """Return the cells of a table with each that holds a list or an object as that.

    A number or a bool stays a text: it may be an id, such as 007.
    """
    if isinstance(cells, dict):
        return {name: _data_in(value) for name, value in cells.items()}
    if isinstance(cells, str) and cells.strip()[:1] in ("[", "{"):
        try:
            return strict_loads(cells)
        except ValueError:
            return cells
    return cells


class _RowReader:
    """Reads rows by a map and by our own names, and counts what they leave unsaid."""

    def __init__(
        self,
        source: Source,
        rows: Rows,
        *,
        report: Report,
        name: str,
        default: str | None,
        labels: _Labels,
    ) -> None:
        self._source = source
        self._rows = rows
        self._report = report
        self._name = name
        self._default = default
        self._labels = labels
        self._rules = rules_of(source.map)
        self._mapped = {rule.theirs for rule in self._rules}
        self._touched = {rule.theirs.partition(".")[0] for rule in self._rules}
        self._finds_query = not any(rule.ours[0] == "query" for rule in self._rules)
        self._met: set[str] = set()
        self._left_out: dict[str, None] = {}
        self._unknown: dict[tuple[str, str], tuple[Row, int]] = {}
        self._by_id: dict[str, Row] = {}
        self._twice: dict[str, Row] = {}
        self._silent = 0
        self._faults = 0

    def item(self, row: Row) -> Item | None:
        """Return the item of a row, or None where it says nothing that we read."""
        draft = _Draft()
        self._by_name(row, draft)
        for rule in self._rules:
            value = field_of(row.data, rule.theirs)
            if value is not ABSENT:
                self._met.add(rule.theirs)
                self._by_rule(row, rule, value, draft)
        texts, data = draft.texts, draft.data
        category = self._known(row, "category", texts.get("category"), draft)
        category = category or self._default
        scenario = self._known(row, "scenario", texts.get("scenario"), draft)
        for dimension, value in draft.dimensions.items():
            if value not in self._labels.values.get(dimension, (value,)):
                self._note_unknown(row, f"value of `{dimension}`", value)
        query = texts.get("query")
        if query is None and query_of(data.get("input")) is None:
            if not (data or scenario or category):
                self._silent += 1
                return None
        if "id" in texts:
            first = self._by_id.setdefault(texts["id"], row)
            if first.data != row.data:
                self._twice.setdefault(texts["id"], row)
        if self._rows.cells:
            data = {name: _data_in(value) for name, value in data.items()}
        return Item(
            at=Place(self._source.reference, row.at),
            id=texts.get("id"),
            category=category,
            scenario=scenario,
            dimensions=draft.dimensions,
            query=query,
            input=data.get("input"),
            expected=data.get("expected"),
            in_table=self._rows.cells,
        )

    def _by_name(self, row: Row, draft: _Draft) -> None:
        """Read the fields that carry our own names, where the map leaves them."""
        for name, value in row.data.items():
            if name in self._mapped or value is None:
                continue
            if name in ("input", "expected"):
                draft.data[name] = value
            elif name in _OURS:
                self._text(row, name, name, value, draft)
            elif name in _SCENARIO_KEYS:
                self._text(row, name, "scenario", value, draft)
            elif name in _TUPLE_KEYS:
                self._dimensions(row, name, value, draft)
            elif name not in self._touched:
                self._left_out[name] = None
        if self._finds_query and not (draft.texts.get("query") or draft.data):
            for name in QUERY_KEYS:
                value = row.data.get(name)
                if name not in self._touched and isinstance(value, str):
                    if value.strip():
                        draft.texts["query"] = value
                        self._left_out.pop(name, None)
                        break

    def _by_rule(self, row: Row, rule: Rule, value: Any, draft: _Draft) -> None:
        head, *rest = rule.ours
        if rule.values is not None:
            label = label_of(value)
            if label is not None:
                value = rule.values.get(label, value)
        if head in ("input", "expected"):
            draft.data[head] = put(draft.data.get(head), tuple(rest), value)
        elif head == "tuple":
            label = label_of(value)
            if label is None and value is not None:
                self._fault(row, f"{quoted(rule.theirs)} is no label: a text is")
            elif label is not None:
                draft.dimensions[rest[0]] = label
        elif value is not None:
            self._text(row, rule.theirs, head, value, draft)

    def _text(
        self, row: Row, theirs: str, ours: str, value: Any, draft: _Draft
    ) -> None:
        text = query_of(value) if ours == "query" else label_of(value)
        if text is not None:
            draft.texts[ours] = text
        elif value not in ("", [], {}):
            self._fault(row, f"{quoted(theirs)} must be a text")

    def _dimensions(self, row: Row, name: str, value: Any, draft: _Draft) -> None:
        if not isinstance(value, Mapping):
            self._fault(row, f"{quoted(name)} must be an object of dimensions")
            return
        for dimension, each in value.items():
            label = label_of(each)
            if label is None:
                self._fault(row, f"{quoted(f'{name}.{dimension}')} must be a text")
            else:
                draft.dimensions[dimension] = label

    def _known(
        self, row: Row, kind: str, label: str | None, draft: _Draft
    ) -> str | None:
        """Return a label that the dataset declares; another is kept as a dimension."""
        if label is None:
            return None
        labels = self._labels
        if label in (labels.categories if kind == "category" else labels.scenarios):
            return label
        draft.dimensions.setdefault(kind, label)
        self._note_unknown(row, kind, label)
        return None

    # -- what was met ------------------------------------------------------------------

    def _place(self, row: Row) -> Place:
        return Place(self._source.reference, row.at, self._rows.excerpt(row.at))

    def _fault(self, row: Row, message: str) -> None:
        self._faults += 1
        if self._faults <= MAX_NAMED:
            self._report.error(
                BAD_ROW,
                message,
                at=self._place(row),
                hint="mend the row or take it out",
            )

    def _note_unknown(self, row: Row, kind: str, label: str) -> None:
        first, count = self._unknown.get((kind, label), (row, 0))
        self._unknown[kind, label] = (first, count + 1)

    def conclude(self, items: int) -> None:
        """Report, once each, what the rows say that is not read as they mean it."""
        for kind in dict.fromkeys(kind for kind, _ in self._unknown):
            self._say_unknown(kind)
        if self._twice:
            self._report.warning(
                TWICE,
                f"rows that differ have one id: {listed(self._twice)}",
                at=self._place(next(iter(self._twice.values()))),
                hint="give each row an id of its own: traces and `--cases` name it",
            )
        if self._faults > MAX_NAMED:
            more = self._faults - MAX_NAMED
            self._report.note(
                f"{more} more rows of {quoted(self._source.reference)} have a fault."
            )
        unmet = [rule.theirs for rule in self._rules if rule.theirs not in self._met]
        if unmet and self._rows.rows:
            has = listed(self._rows.rows[0].data)
            self._report.warning(
                LEFT_OUT,
                f"no row of {quoted(self._source.reference)} has the mapped {listed(unmet)}",
                at=self._source.map_at,
                hint=f"the first row has {has}",
            )
        if self._left_out:
            self._say_left_out()
        if self._silent:
            self._report.warning(
                LEFT_OUT,
                f"{self._silent} of {self._silent + items} rows of "
                f"{quoted(self._source.reference)} say nothing that is read: they are no cases",
                at=self._source.at,
                hint="map one of their fields to `query` or to `input.NAME`",
            )

    def _say_left_out(self) -> None:
        names = list(self._left_out)
        message = (
            f"fields of {quoted(self._source.reference)} are not read: {listed(names)}"
        )
        if self._rules:
            self._report.note(message[0].upper() + message[1:] + ".")
            return
        lines = ", ".join(f"{yaml_key(n)}: {_proposal(n)}" for n in names[:MAX_NAMED])
        self._report.warning(
            LEFT_OUT,
            message,
            at=self._source.at,
            hint="map those that matter in the overlay, such as "
            f"`datasets: {{{yaml_key(self._name)}: {{map: {{{lines}}}}}}}`",
        )

    def _say_unknown(self, kind: str) -> None:
        """Warn once of the labels of one kind that the dataset does not declare."""
        met = [(label, *at) for (k, label), at in self._unknown.items() if k == kind]
        count = sum(rows for _, _, rows in met)
        labels = [label for label, _, _ in met]
        hint = ""
        if kind == "category" and self._labels.categories:
            pairs = ", ".join(
                f"{yaml_key(label)}: {yaml_key(self._labels.like(label) or 'CATEGORY')}"
                for label in labels[:MAX_NAMED]
            )
            hint = (
                f"its categories are {listed(self._labels.categories)}; map the labels "
                f"in the overlay, such as `datasets: {{{yaml_key(self._name)}: {{map: "
                f"{{category: {{to: category, values: {{{pairs}}}}}}}}}}}`"
            )
        elif kind == "scenario" and self._labels.scenarios:
            hint = f"the scenarios are {listed(self._labels.scenarios)}"
        elif kind not in ("category", "scenario"):
            hint = "add it to the dimension's values in the spec"
        many = "1 row" if count == 1 else f"{count} rows"
        self._report.warning(
            UNKNOWN_LABEL,
            f"{quoted(self._name)} declares no {kind} {listed(labels)} ({many})",
            at=self._place(met[0][1]),
            hint=hint,
        )


def yaml_key(text: str) -> str:
    """Return a text as a key or value of YAML's flow style."""
    plain = re.fullmatch(r"[A-Za-z_][\w -]*", text, re.A) and text == text.strip()
    return text if plain else "'" + text.replace("'", "''") + "'"


def _proposal(name: str) -> str:
    side = "expected" if _EXPECTATION.search(name) else "input"
    name = re.sub(r"^expected[_.-]?(?=.)", "", name)
    return f"{side}.{yaml_key(name)}" if yaml_key(name) == name else f"'{side}.{name}'"
