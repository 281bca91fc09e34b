"""Smells of coverage: what no case exercises, and cases that say too little."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..problems import Problem, listed, quoted
from ..spec.located import Path
from ..suite.dataset import Declared, query_of
from ..suite.declaration import DeclaredCriterion
from ..suite.report import InSpec
from .design import Design, yaml_text

MAX_EACH: Final = 20
"""How many items with an expectation that can't hold are named in one dataset."""


def coverage_smells(design: Design) -> Iterator[Problem]:
    """Yield the smells of criteria without cases, and of datasets."""
    datasets = {d.id: d for d in design.declared.datasets if d.id is not None}
    anything = any(_has_cases(design, d) for d in design.declared.datasets)
    for criterion in design.declared.criteria:
        yield from _unexercised(design, criterion, datasets, anything=anything)
    for dataset in datasets.values():
        yield from _without_query(design, dataset)
        yield from _impossible(design, dataset)
    if not datasets:
        yield from _without_datasets(design)


def _has_cases(design: Design, dataset: Declared) -> bool:
    """Whether a dataset comes to a case, as far as the spec itself says."""
    if dataset.items or dataset.categories or dataset.scenarios or dataset.dimensions:
        return True
    return dataset.id is not None and design.has_rows_elsewhere(dataset.id)


def _path(dataset: Declared) -> Path:
    assert isinstance(dataset.at, InSpec), "a declared dataset stands in the spec"
    return dataset.at.path


def _unexercised(
    design: Design,
    criterion: DeclaredCriterion,
    datasets: Mapping[str, Declared],
    *,
    anything: bool,
) -> Iterator[Problem]:
    path = (*criterion.at.path, "id")
    if not criterion.datasets:
        if not anything:
            yield design.warn(
                "HX401",
                path,
                f"nothing exercises {quoted(criterion.id)}: there is no scenario and "
                "no dataset",
                "add a scenario: its id, what happens, and the expected behaviour",
            )
        return
    mapped = [datasets[name] for name in criterion.datasets if name in datasets]
    if any(_has_cases(design, dataset) for dataset in mapped):
        return
    names = [dataset.id or "" for dataset in mapped]
    yield design.warn(
        "HX401",
        path,
        f"nothing exercises {quoted(criterion.id)}: {listed(names)} "
        f"{'has' if len(names) == 1 else 'have'} no items, categories or scenarios",
        "add some, or name a file of rows "
        + design.propose(
            "datasets:", f"  {yaml_text(names[0])}:", "    items: rows.jsonl"
        ),
    )


def _without_query(design: Design, dataset: Declared) -> Iterator[Problem]:
    assert dataset.id is not None
    if design.has_rows_elsewhere(dataset.id):
        return
    if any(i.query is not None or query_of(i.input) is not None for i in dataset.items):
        return
    if not _has_cases(design, dataset):
        return
    what = "none of its items has an `input`" if dataset.items else "it has no items"
    yield design.warn(
        "HX406",
        (*_path(dataset), "id") if not design.is_v02 else _path(dataset),
        f"no case of {quoted(dataset.id)} has a realistic query: {what}",
        "write items with an `input`, or name a file of rows "
        + design.propose(
            "datasets:", f"  {yaml_text(dataset.id)}:", "    items: rows.jsonl"
        ),
    )


def _without_datasets(design: Design) -> Iterator[Problem]:
    rest = design.declared.datasets[-1]
    if not _has_cases(design, rest):
        return
    if any(design.has_rows_elsewhere(category.id) for category in rest.categories):
        return
    if design.is_v02:
        path: Path = (*_path(rest), "dataset_categories")
        home = rest.categories[0].id if rest.categories else None
    else:
        path, home = (*_path(rest)[:-1], "datasets"), None
    hint = "write a dataset with items, each with an `input` as a user would give it"
    if home is not None:
        hint = "name a file of rows for a category " + design.propose(
            "datasets:", f"  {yaml_text(home)}:", "    items: rows.jsonl"
        )
    yield design.source.problem(
        "HX406",
        path,
        "no case has a realistic query: each is only the description of a situation",
        hint=hint,
        level="warning",
        part="key",
    )


def _impossible(design: Design, dataset: Declared) -> Iterator[Problem]:
    """Yield the expectations that name a node or a member that is not there."""
    nodes = design.declared.facts.nodes
    members = _members(design)
    named = 0
    for number, item in enumerate(dataset.items):
        if not isinstance(item.expected, Mapping):
            continue
        for where, name, known, what in _names(item.expected, nodes, members):
            if name in known:
                continue
            named += 1
            if named > MAX_EACH:
                return
            yield design.warn(
                "HX408",
                (*_path(dataset), "items", number, "expected", *where),
                f"the expectation names the {what} {quoted(name)}, which the spec does "
                "not have: no run can meet it",
                f"{what}s: {listed(known)}",
            )


def _members(design: Design) -> list[str] | None:
    # The card of a `{specRef}` is elsewhere: then nobody here knows all members.
    members = design.source.get(("spec", "multiAgent", "members"))
    if not isinstance(members, list) or any("specRef" in m for m in members):
        return None
    return [member["metadata"]["id"] for member in members]


def _names(
    expected: Mapping[str, Any], nodes: Any, members: list[str] | None
) -> Iterator[tuple[tuple[str | int, ...], str, Any, str]]:
    """Yield each name in an expectation: where, the name, what there is, of what."""
    path = expected.get("path")
    if nodes and isinstance(path, list):
        for index, node in enumerate(path):
            if isinstance(node, str):
                yield ("path", index), node, nodes, "node"
    for field, key, known, what in (
        ("nodeOutputs", "nodeRef", nodes, "node"),
        ("workflowNodeOutputs", "nodeRef", nodes, "node"),
        ("memberOutputs", "memberRef", members, "member"),
    ):
        outputs = expected.get(field)
        if not known or not isinstance(outputs, list):
            continue
        for index, output in enumerate(outputs):
            name = output.get(key) if isinstance(output, Mapping) else None
            if isinstance(name, str):
                yield (field, index, key), name, known, what
