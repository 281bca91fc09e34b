"""Where the items of datasets come from, and the datasets with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ..problems import listed, quoted
from .dataset import Declared, Item
from .declaration import Declaration, Reference
from .items import read_items
from .report import NO_EFFECT, InOverlay, Place, Report, Where
from .settings import part
from .source import Source

NO_SUCH_DATASET: Final = "HX507"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedItems:
    """A file of items that belongs to a dataset or, in 0.2, to a category."""

    name: str
    index: int
    category: str | None
    source: Source


def item_sources(
    declared: Declaration,
    says: Mapping[str, Any],
    items: Mapping[str, Path],
    report: Report,
) -> Iterator[WantedItems]:
    """Yield the files of items: what `--items` names, else the overlay, else the spec.

    A spec without datasets (0.2) takes items by category.
    """
    homes: dict[str, tuple[int, str | None]] = {}
    for index, dataset in enumerate(declared.datasets):
        if dataset.id is not None:
            homes[dataset.id] = (index, None)
    if not homes:
        for category in declared.datasets[0].categories:
            homes[category.id] = (0, category.id)
    for name in items:
        if name not in homes:
            report.error(
                NO_SUCH_DATASET,
                f"the spec has no dataset {quoted(name)}",
                at=Place("--items"),
                hint=f"its datasets are {listed(homes)}" if homes else "it has none",
            )
    for name, (index, default) in homes.items():
        about = part(says, "datasets", name)
        source = _source(name, about, items.get(name), declared.references.get(name))
        if source is not None:
            yield WantedItems(name=name, index=index, category=default, source=source)
        elif "map" in about:
            report.warning(
                NO_EFFECT,
                f"the map of {quoted(name)} has no file of items to map",
                at=InOverlay(("datasets", name, "map")),
                hint="name one: `items: FILE` beside the map, or `--items`",
            )


def _source(
    name: str,
    about: Mapping[str, Any],
    given: Path | None,
    reference: Reference | None,
) -> Source | None:
    at: Where
    if given is not None:
        text, at = str(given), Place(str(given))
    elif "items" in about:
        text, at = about["items"], InOverlay(("datasets", name, "items"))
    elif reference is not None:
        text, at = reference.text, reference.at
    else:
        return None
    return Source(
        reference=text,
        at=at,
        named=given is not None or "items" in about,
        anywhere=given is not None,
        map=about.get("map"),
        map_at=InOverlay(("datasets", name, "map")),
    )


def with_items(
    declared: Declaration,
    sources: Sequence[WantedItems],
    folder: Path | None,
    report: Report,
) -> tuple[list[Declared], list[str]]:
    """Return the datasets with the items of their files, and which files gave none.

    The second are names of datasets (in 0.2, of categories). A scenario that stands in no dataset stays in none only until an item has it.
    """
    datasets = list(declared.datasets)
    more: dict[int, list[Item]] = {}
    empty: list[str] = []
    for wanted in sources:
        found = read_items(
            wanted.source,
            datasets[wanted.index],
            name=wanted.name,
            category=wanted.category,
            scenarios=declared.scenarios,
            folder=folder,
            report=report,
        )
        more.setdefault(wanted.index, []).extend(found)
        if not found:
            empty.append(wanted.name)
    for index, found in more.items():
        dataset = datasets[index]
        datasets[index] = replace(dataset, items=[*dataset.items, *found])
    rest = datasets[-1]
    exercised = {i.scenario for dataset in datasets[:-1] for i in dataset.items}
    left = [name for name in rest.scenarios if name not in exercised]
    datasets[-1] = replace(rest, scenarios=left)
    return datasets, empty


def item_files_of(sources: Iterable[WantedItems]) -> Iterator[tuple[str, str | None]]:
    for wanted in sources:
        source = wanted.source
        if source.anywhere:
            yield wanted.name, None
        elif source.is_name:
            yield wanted.name, source.reference
