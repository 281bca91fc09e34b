"""What must hold between an overlay and its spec: ids, primitives, methods, maps."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..problems import Problem, listed, quoted
from . import v02, v03
from .close import CloseMatches
from .located import Located, Path
from .structure import described

Card = v02.AgentSpec | v03.AgentSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The ids of a spec that an overlay may name.

    `criteria` maps an id to its type; `datasets` an id to its categories. A spec of
    0.2.0 has no datasets: its rows come by category, and each category stands for
    one. `dimensions` maps a dataset to its dimensions and their values.
    """

    criteria: Mapping[str, str]
    derived: Collection[str]
    datasets: Mapping[str, Collection[str]]
    categories: Collection[str]
    scenarios: Collection[str]
    dimensions: Mapping[str, Mapping[str, Collection[str]]]


def known_of(card: Card) -> Known:
    """Return the ids of a spec."""
    dimensions: dict[str, Mapping[str, Collection[str]]] = {}
    if isinstance(card, v02.AgentSpec):
        evals = card.definition.evals
        criteria = {c.id: c.type for c in evals.success_criteria}
        scenarios = [s.id for s in evals.scenarios]
        datasets = {c.id: [c.id] for c in evals.dataset_categories}
    else:
        evaluation = card.spec.evaluation
        criteria = {c.id: c.type for c in evaluation.criteria}
        scenarios = [s.id for s in evaluation.scenarios]
        datasets = {d.id: [c.id for c in d.categories] for d in evaluation.datasets}
        dimensions = {
            d.id: {n: dim.values for n, dim in (d.case_dimensions or {}).items()}
            for d in evaluation.datasets
        }
    return Known(
        criteria=criteria,
        derived=_derived(criteria),
        datasets=datasets,
        categories=list(dict.fromkeys(c for each in datasets.values() for c in each)),
        scenarios=scenarios,
        dimensions=dimensions,
    )


def known_in(spec: Located) -> Known | None:
    """Return the ids in the data of a spec with errors; None where they can't be read."""
    is_v02 = spec.get(("definition",)) is not None
    root: Path = ("definition", "evals") if is_v02 else ("spec", "evaluation")
    criteria = _rows(spec, (*root, "success_criteria" if is_v02 else "criteria"))
    scenarios = _rows(spec, (*root, "scenarios"))
    datasets = _rows(spec, (*root, "dataset_categories" if is_v02 else "datasets"))
    if criteria is None or scenarios is None or datasets is None:
        return None
    categories: dict[str, list[str]] = {}
    for name, dataset in datasets.items():
        rows = {name: dataset} if is_v02 else _by_id(dataset.get("categories", []))
        if rows is None:
            return None
        categories[name] = list(rows)
    return Known(
        criteria={name: str(row.get("type")) for name, row in criteria.items()},
        derived=_derived(criteria),
        datasets=categories,
        categories=list(dict.fromkeys(c for each in categories.values() for c in each)),
        scenarios=list(scenarios),
        dimensions={},
    )


def _rows(spec: Located, path: Path) -> dict[str, Mapping[str, Any]] | None:
    return _by_id(spec.get(path))


def _by_id(rows: Any) -> dict[str, Mapping[str, Any]] | None:
    """Return the rows of a list by their ids, None where one has none."""
    if not isinstance(rows, list):
        return None
    found: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            return None
        found[row["id"]] = row
    return found


def _derived(criteria: Collection[str]) -> list[str]:
    from ..suite.derive import DERIVED

    derived = []
    for name in DERIVED:
        while name in criteria:
            name += "-derived"
        derived.append(name)
    return derived


def meaning_problems(
    source: Located, close: CloseMatches, card: Card | None, spec: Located | None
) -> list[Problem]:
    """Return the problems of an overlay's meaning.

    `card` is None where the spec has errors, `spec` None where nothing is known of it.
    """
    known = None
    if card is not None:
        known = known_of(card)
    elif spec is not None:
        known = known_in(spec)
    checks = _Checks(source, close, known)
    checks.check()
    return checks.problems


class _Checks:
    def __init__(
        self, source: Located, close: CloseMatches, known: Known | None
    ) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._close = close
        self._known = known

    def check(self) -> None:
        """Check the whole overlay, as far as its parts have the right shape."""
        renamed: dict[str, Path] = {}
        for criterion, says in self._entries("criteria"):
            path: Path = ("criteria", criterion)
            if self._known is not None:
                ids = [*self._known.criteria, *self._known.derived]
                self._resolve(path, criterion, ids, "criterion", "criteria", key=True)
                self._check_scope((*path, "applies_to"))
                self._check_method(path, criterion, says)
            self._check_call((*path, "check"))
            self._check_measure(path, says)
            self._check_renamed((*path, "renamed_from"), renamed)
        for dataset, _ in self._entries("datasets"):
            if self._known is not None:
                self._resolve(
                    ("datasets", dataset),
                    dataset,
                    self._known.datasets,
                    "dataset",
                    "datasets",
                    key=True,
                )
            self._check_map(("datasets", dataset, "map"), dataset)

    def _entries(self, key: str) -> list[tuple[str, Mapping[str, Any]]]:
        table = self._source.get((key,))
        if not isinstance(table, dict):
            return []
        return [(k, v if isinstance(v, dict) else {}) for k, v in table.items()]

    def _error(
        self, code: str, path: Path, message: str, hint: str = "", *, key: bool = False
    ) -> None:
        self.problems.append(
            self._source.problem(
                code, path, message, hint=hint, part="key" if key else "value"
            )
        )

    def _resolve(
        self,
        path: Path,
        name: Any,
        ids: Collection[str],
        one: str,
        many: str,
        *,
        key: bool = False,
    ) -> None:
        if not isinstance(name, str) or name in ids:
            return
        meant = self._close.closest(name, ids)
        if meant is not None:
            hint = f"did you mean {quoted(meant)}?"
        elif ids:
            hint = f"{many} of the spec: {listed(ids)}"
        else:
            hint = f"the spec has no {many}"
        self._error(
            "HX305", path, f"the spec has no {one} {quoted(name)}", hint, key=key
        )

    def _check_scope(self, path: Path) -> None:
        assert self._known is not None
        for field, one in (
            ("datasets", "dataset"),
            ("categories", "category"),
            ("scenarios", "scenario"),
        ):
            names = self._source.get((*path, field))
            for number, name in enumerate(names if isinstance(names, list) else ()):
                ids = getattr(self._known, field)
                self._resolve((*path, field, number), name, ids, one, field)

    def _check_method(
        self, path: Path, criterion: str, says: Mapping[str, Any]
    ) -> None:
        assert self._known is not None
        kind = self._known.criteria.get(criterion)
        method = says.get("method")
        if criterion in self._known.derived:
            if "method" in says:
                self._error(
                    "HX308",
                    (*path, "method"),
                    f"how the derived criterion {quoted(criterion)} is decided is fixed",
                    "leave `method` out; `derive` turns the criterion off",
                    key=True,
                )
            return
        if method == "llm-judge" and "check" in says:
            self._error(
                "HX308",
                (*path, "check"),
                "a check that is never asked: the method is `llm-judge`",
                "write `method: hybrid`: code first, the judge where it can't decide",
                key=True,
            )
        judged = method == "llm-judge" or (
            method is None and kind == "llm-judge" and "check" not in says
        )
        aggregate = says.get("aggregate")
        if judged and isinstance(aggregate, dict) and "mean" in aggregate:
            self._error(
                "HX309",
                (*path, "aggregate"),
                "a mean needs numbers, and a judge only passes or fails",
                'use `{rate: ">= 0.9"}`, or bind a check that measures a number',
            )
        if kind == "llm-judge" and method == "deterministic" and "check" not in says:
            self.problems.append(
                self._source.problem(
                    "HX310",
                    (*path, "method"),
                    f"the spec has {quoted(criterion)} judged; here code alone decides "
                    "it, and no check is bound",
                    hint="bind a `check`, or fill in the function that is generated: it "
                    "is uncertain until then",
                    level="warning",
                )
            )
        if kind == "code-check" and method == "llm-judge":
            self.problems.append(
                self._source.problem(
                    "HX310",
                    (*path, "method"),
                    f"the spec calls {quoted(criterion)} a code-check; here a judge "
                    "decides it",
                    hint="a `check` decides the same on every run; `method: hybrid` "
                    "asks the judge only where it can't",
                    level="warning",
                )
            )

    def _check_measure(self, path: Path, says: Mapping[str, Any]) -> None:
        """A score without limits is measured, not judged: only a mean can use it."""
        check, aggregate = says.get("check"), says.get("aggregate")
        score = check.get("numbers.score") if isinstance(check, dict) else None
        if not isinstance(score, dict) or score.keys() & {"at_least", "at_most"}:
            return
        if not isinstance(aggregate, dict) or "mean" not in aggregate:
            self._error(
                "HX306",
                (*path, "check", "numbers.score"),
                "without a limit every score passes",
                'give `at_least` or `at_most`, or `aggregate: {mean: ">= 0.9"}`',
                key=True,
            )

    def _check_call(self, path: Path) -> None:
        call = self._source.get(path)
        if not isinstance(call, dict):
            return
        from ..suite.primitives import argument_faults

        for fault in argument_faults(call):
            self._error(
                "HX306",
                (*path, *fault.path),
                fault.message,
                fault.hint,
                key=self._names_a_key(fault.path),
            )

    def _names_a_key(self, path: tuple[str | int, ...]) -> bool:
        """Whether a fault is of a primitive or argument name, not of a value."""
        from ..suite.primitives import catalog

        if not path or not isinstance(path[-1], str):
            return False
        primitive = catalog().get(str(path[-2])) if len(path) > 1 else None
        return primitive is None or primitive.parameter(path[-1]) is None

    def _check_renamed(self, path: Path, renamed: dict[str, Path]) -> None:
        earlier = self._source.get(path)
        if not isinstance(earlier, str):
            return
        if self._known is not None and earlier in self._known.criteria:
            self._error(
                "HX307",
                path,
                f"the spec still has the criterion {quoted(earlier)}",
                "`renamed_from` names an id that the spec no longer has",
            )
        first = renamed.setdefault(earlier, path)
        if first is not path:
            line = self._source.position(first).line
            self._error(
                "HX307",
                path,
                f"two criteria can't both have been {quoted(earlier)}",
                f"the other is in line {line}",
            )

    def _check_map(self, path: Path, dataset: str) -> None:
        table = self._source.get(path)
        if not isinstance(table, dict):
            return
        ours: dict[str, str] = {}
        for theirs, target in table.items():
            at: Path = (*path, theirs)
            values = None
            if isinstance(target, dict):
                at, values, target = (*at, "to"), target.get("values"), target.get("to")
            if not isinstance(target, str):
                continue
            first = ours.setdefault(target, theirs)
            if first != theirs:
                self._error(
                    "HX311",
                    at,
                    f"{quoted(target)} is filled twice, from {quoted(first)} and from "
                    f"{quoted(theirs)}",
                    "keep one of the two",
                )
            self._check_values(at, dataset, target, values)

    def _check_values(self, at: Path, dataset: str, target: str, values: Any) -> None:
        """Check that what is mapped to an id of the spec is one."""
        if self._known is None or dataset not in self._known.datasets:
            return
        head, _, name = target.partition(".")
        ids: Collection[str]
        one, many = target, "values"
        if target == "category":
            ids, one, many = self._known.datasets[dataset], "category", "categories"
        elif target == "scenario":
            ids, one, many = self._known.scenarios, "scenario", "scenarios"
        elif head == "tuple" and self._known.dimensions.get(dataset):
            dimensions = self._known.dimensions[dataset]
            self._resolve(at, name, dimensions, "dimension", "dimensions")
            if name not in dimensions:
                return
            ids, one = dimensions[name], f"value of {quoted(name)}"
        else:
            return
        for theirs, value in values.items() if isinstance(values, dict) else ():
            place = (*at[:-1], "values", theirs)
            if isinstance(value, str):
                self._resolve(place, value, ids, one, many)
            else:
                self._error(
                    "HX305",
                    place,
                    f"{described(value)} is no {one}",
                    f"{many} of the spec: {listed(ids)}",
                )
