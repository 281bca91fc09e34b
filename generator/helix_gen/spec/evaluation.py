"""What must hold in `spec.evaluation` of AgentSpec 0.3.0: its ids and references."""

from collections.abc import Collection, Mapping
from typing import Any

from ..problems import listed, quoted
from .findings import Findings, Names
from .located import Path

EVALUATION: Path = ("spec", "evaluation")


def check_evaluation(findings: Findings) -> None:
    """Check criteria, scenarios and datasets."""
    evaluation = findings.source.get(EVALUATION)
    if not isinstance(evaluation, dict):
        return
    jobs = findings.names(("spec", "intent", "jobs"), "job", "jobs")
    criteria = findings.names((*EVALUATION, "criteria"), "criterion", "criteria")
    scenarios = findings.names((*EVALUATION, "scenarios"), "scenario", "scenarios")
    datasets = findings.names((*EVALUATION, "datasets"), "dataset", "datasets")
    check_not_empty(
        findings, EVALUATION, criteria=criteria, others=(scenarios, datasets)
    )
    mapped: dict[str, set[str]] = {"criteria": set(), "scenarios": set()}
    for path, dataset in findings.rows((*EVALUATION, "datasets")):
        targets = {"jobs": jobs, "scenarios": scenarios, "criteria": criteria}
        for key, names in targets.items():
            for ref_path, ref in findings.texts((*path, "mapsTo", key)):
                findings.resolve(ref_path, ref, names)
                mapped.setdefault(key, set()).add(ref)
        _Dataset(findings, path, scenarios).check(dataset, mapped["scenarios"])
    if datasets.ids:
        if len(criteria.ids or ()) > 1 and not mapped["criteria"]:
            findings.warning(
                "HX221",
                (*EVALUATION, "criteria"),
                "no dataset maps to a criterion: each of them judges every case",
                hint="add `mapsTo.criteria` to the datasets if that is not meant",
                part="key",
            )
        else:
            _check_mapped(findings, criteria, mapped["criteria"])
        _check_mapped(findings, scenarios, mapped["scenarios"])


def check_not_empty(
    findings: Findings, path: Path, *, criteria: Names, others: Collection[Names]
) -> None:
    """Warn where there is nothing to judge by: a draft, from which no suite comes."""
    if criteria.ids is None or criteria.ids:
        return
    if all(names.ids is not None and not names.ids for names in others):
        message = "the evaluation is empty: there is nothing to judge by"
    else:
        message = "the evaluation has no criteria"
    findings.warning(
        "HX220",
        path,
        message,
        hint="add a criterion: its id, what must hold, its type and its goal",
        part="key",
    )


def _check_mapped(findings: Findings, names: Names, mapped: set[str]) -> None:
    for name, path in (names.ids or {}).items():
        if name in mapped:
            continue
        if names.one == "criterion":
            code, follows = "HX221", "it judges every case"
        else:
            code, follows = "HX222", "it gets a case outside of them"
        findings.warning(
            code,
            path,
            f"no dataset maps to the {names.one} {quoted(name)}: {follows}",
            hint=f"add it to `mapsTo.{names.many}` of a dataset if that is not meant",
        )


class _Dataset:
    """The checks of one dataset: its categories, dimensions and items."""

    def __init__(self, findings: Findings, path: Path, scenarios: Names) -> None:
        self._findings = findings
        self._path = path
        self._scenarios = scenarios
        self._categories = findings.names(
            (*path, "categories"), "category", "categories"
        )
        table = findings.source.get((*path, "caseDimensions"))
        # Without `caseDimensions` there are none: any that is used is unknown.
        self._dimensions: Mapping[str, Any] | None = {} if table is None else None
        if isinstance(table, dict):
            self._dimensions = table

    def check(self, dataset: Mapping[str, Any], exercised: set[str]) -> None:
        """Check the dataset; scenarios that its items name are added to `exercised`."""
        for path, category in self._findings.rows((*self._path, "categories")):
            required = category.get("requiredCases")
            for number, _ in enumerate(required if isinstance(required, list) else ()):
                self._check_values((*path, "requiredCases", number))
        items = dataset.get("items")
        if isinstance(items, list):
            self._check_items(items, exercised)

    def _check_items(self, items: list[Any], exercised: set[str]) -> None:
        # Runs once for each row of what may be 100,000: a path is built only for a
        # problem, and an id that repeats is looked up, never searched.
        findings, path = self._findings, self._path
        categories, scenarios = self._categories.ids, self._scenarios.ids
        ids: dict[str, int] = {}
        for number, item in enumerate(items):
            if not isinstance(item, dict):
                continue
            item_id = item.get("id")
            if isinstance(item_id, str) and ids.setdefault(item_id, number) != number:
                first = (*path, "items", ids[item_id], "id")
                line = findings.source.position(first).line
                findings.error(
                    "HX201",
                    (*path, "items", number, "id"),
                    f"the item {quoted(item_id)} stands here a second time",
                    hint=f"the first is in line {line}; give one of them another id",
                )
            category, scenario = item.get("category"), item.get("scenarioRef")
            if isinstance(category, str):
                if categories is not None and category not in categories:
                    at = (*path, "items", number, "category")
                    findings.resolve(at, category, self._categories)
            if isinstance(scenario, str):
                exercised.add(scenario)
                if scenarios is not None and scenario not in scenarios:
                    at = (*path, "items", number, "scenarioRef")
                    findings.resolve(at, scenario, self._scenarios)
            case = item.get("case")
            if isinstance(case, dict) and not self._fits(case):
                self._check_values((*path, "items", number, "case"))

    def _fits(self, case: Mapping[str, Any]) -> bool:
        if self._dimensions is None:
            return True
        for name, value in case.items():
            dimension = self._dimensions.get(name)
            if not isinstance(dimension, dict):
                return False
            values = dimension.get("values")
            if not isinstance(values, list) or value not in values:
                return False
        return True

    def _check_values(self, path: Path) -> None:
        case = self._findings.source.get(path)
        if self._dimensions is None or not isinstance(case, dict):
            return
        for name, value in case.items():
            dimension = self._dimensions.get(name)
            if name not in self._dimensions:
                self._unknown_dimension((*path, name), name)
            elif isinstance(dimension, dict):
                values = dimension.get("values")
                if isinstance(values, list) and not _among(value, values):
                    self._unknown_value((*path, name), name, value, values)

    def _unknown_dimension(self, path: Path, name: str) -> None:
        assert self._dimensions is not None
        where = "`caseDimensions` of this dataset"
        self._findings.error(
            "HX211",
            path,
            f"there is no dimension {quoted(name)}",
            hint=self._findings.close.hint(
                name, self._dimensions, what=f"dimensions in {where}"
            ),
            part="key",
        )

    def _unknown_value(
        self, path: Path, name: str, value: Any, values: list[Any]
    ) -> None:
        from .structure import described

        texts = [each for each in values if isinstance(each, str)]
        hint = f"values of {quoted(name)}: {listed(texts)}"
        if isinstance(value, str):
            meant = self._findings.close.closest(value, texts)
            if meant is not None:
                hint = f"did you mean {quoted(meant)}? {hint}"
        elif str(value).lower() in texts:
            hint = f'put it in quotes: "{str(value).lower()}"'
        self._findings.error(
            "HX210",
            path,
            f"{described(value)} is no value of the dimension {quoted(name)}",
            hint=hint,
        )


def _among(value: Any, values: list[Any]) -> bool:
    # 1 == True in Python; in a spec the two are two values.
    return any(value == each and type(value) is type(each) for each in values)
