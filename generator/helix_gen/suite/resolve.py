"""Resolve a spec and its overlay into the suite model, which knows no spec version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ..problems import Problem, quoted
from ..spec.read import ReadSpec
from ..spec.yaml import collector_paused
from .criteria import CriteriaResolver
from .dataset import materialize
from .declaration import Declaration
from .derive import derive, same_question
from .item_sources import item_files_of, item_sources, with_items
from .model import Criterion, Suite
from .report import InSpec, Report
from .settings import part, pin_of
from .slips import report_slips
from .slug import slug
from .target import EngineChoice, choose_engine, choose_target

if TYPE_CHECKING:
    from ..spec import v02, v03
    from ..spec.overlay import ReadOverlay

UNJUDGED: Final = "HX513"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A suite, or why there is none.

    `item_files` are the files of items that were looked for: (dataset, file relative
    to the spec's folder), the file None where `--items` names it. `items_named` maps
    each dataset with such a file to how it is called, `items_empty` are those of them
    from which no item came.
    """

    suite: Suite | None
    problems: list[Problem]
    notes: tuple[str, ...]
    item_files: tuple[tuple[str, str | None], ...] = ()
    items_named: Mapping[str, str] = field(default_factory=dict)
    items_empty: tuple[str, ...] = ()


def resolve(
    read: ReadSpec,
    overlay: "ReadOverlay | None",
    *,
    engine: EngineChoice,
    target: str | None,
    folder: Path | None,
    items: Mapping[str, Path],
) -> Resolved:
    """Return the suite of a spec and its overlay, both read without an error.

    `folder` is the spec's own (None: it came from standard input), `items` the files
    that the user names for a dataset. All that is wrong is reported at once. Where
    reading found an error there is no suite, and nothing more is said.
    """
    if read.card is None or overlay is not None and overlay.overlay is None:
        return Resolved(suite=None, problems=[], notes=())
    with collector_paused():
        return _resolve(
            read,
            read.card,
            overlay,
            engine=engine,
            target=target,
            folder=folder,
            items=items,
        )


def _resolve(
    read: ReadSpec,
    card: "v02.AgentSpec | v03.AgentSpec",
    overlay: "ReadOverlay | None",
    *,
    engine: EngineChoice,
    target: str | None,
    folder: Path | None,
    items: Mapping[str, Path],
) -> Resolved:
    report = Report(
        spec=read.source, overlay=None if overlay is None else overlay.source
    )
    says = {} if overlay is None else overlay.source.data or {}
    declared = _declaration(card)
    at_target = InSpec(
        ("spec", "targets")
        if declared.spec_version == "0.3.0"
        else ("build", "target_framework")
    )
    chosen = choose_target(declared, target, at_target, report)
    built = choose_engine(declared, chosen, engine, at_target, report)
    sources = list(item_sources(declared, says, items, report))
    datasets, empty = with_items(declared, sources, folder, report)
    report_slips(datasets, declared.facts, says, report)
    cases = materialize(datasets, declared.scenarios, report)
    resolver = CriteriaResolver(declared, says, report)
    criteria = [resolver.of_spec(criterion) for criterion in declared.criteria]
    switches = part(says, "derive")
    of_spec = tuple(criteria)
    judged = {case.dataset for case in cases if case.dataset is not None}
    for derived in derive(
        facts=declared.facts,
        cases=cases,
        engine=built,
        off=lambda name: switches.get(name) == "off",
    ):
        twin = same_question(derived, of_spec, judged)
        if twin is None or resolver.is_wanted(derived, switches):
            criteria.append(resolver.derived(derived))
        else:
            report.note(
                f"{quoted(derived.name)} is not derived: {quoted(twin.id)} asks the "
                "same, and one failure would count twice."
            )
    _say_what_is_unjudged(declared, criteria, report)
    item_files = tuple(item_files_of(sources))
    if report.failed:
        return Resolved(
            suite=None,
            problems=report.problems,
            notes=tuple(report.notes),
            item_files=item_files,
        )
    suite = Suite(
        slug=slug(declared.subject.id),
        subject=replace(declared.subject, harness=chosen.name),
        engine=built,
        targets=declared.targets or (chosen,),
        target=chosen,
        criteria=tuple(criteria),
        cases=cases,
        jobs=declared.jobs,
        datasets=tuple(d.id for d in declared.datasets if d.id is not None),
        constants=resolver.constants(criteria),
        pin=pin_of(says),
        target_ref=says.get("target"),
        spec_version=declared.spec_version,
        spec_sha256=read.sha256,
    )
    return Resolved(
        suite=suite,
        problems=report.problems,
        notes=tuple(report.notes),
        item_files=item_files,
        items_named={wanted.name: wanted.source.reference for wanted in sources},
        items_empty=tuple(empty),
    )


def _declaration(card: "v02.AgentSpec | v03.AgentSpec") -> Declaration:
    # The models of a format take time to import, and one run needs one format's.
    if hasattr(card, "api_version"):
        from .from_v03 import declaration as declaration_v03

        return declaration_v03(cast("v03.AgentSpec", card))
    from .from_v02 import declaration as declaration_v02

    return declaration_v02(card)


def _say_what_is_unjudged(
    declared: Declaration, criteria: Sequence[Criterion], report: Report
) -> None:
    """Warn of each dataset whose cases no criterion of the spec judges."""
    of_spec = [criterion.scope for criterion in criteria if criterion.source == "spec"]
    if not of_spec or any(not scope.datasets for scope in of_spec):
        return
    judged = {name for scope in of_spec for name in scope.datasets}
    for dataset in declared.datasets:
        if dataset.id is not None and dataset.id not in judged:
            report.warning(
                UNJUDGED,
                f"no criterion of the spec judges the cases of {quoted(dataset.id)}",
                at=dataset.at,
                hint="name criteria under its `mapsTo.criteria`",
            )
