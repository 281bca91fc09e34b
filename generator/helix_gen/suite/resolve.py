"""Resolve a spec and its overlay into the suite model, which knows no spec version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from helix_runtime.checks.names import Names

from ..problems import Problem, listed, quoted
from ..spec.close import CloseMatches
from ..spec.read import ReadSpec
from ..spec.yaml import collector_paused
from . import wording
from .dataset import Declared, Item, materialize
from .declaration import Declaration, DeclaredCriterion, Reference, unique
from .derive import Derived, derive, same_question
from .items import read_items
from .model import (
    Check,
    Constant,
    Criterion,
    Engine,
    Judge,
    PrimitiveCall,
    Scope,
    Suite,
    Target,
)
from .primitives import approval_names, bind, constants_of, node_names, tool_names
from .report import InOverlay, InSpec, Place, Report, Where
from .settings import aggregate_of, method_of, narrowed, part, pin_of
from .slug import slug
from .source import Source

if TYPE_CHECKING:
    from ..spec import v02, v03
    from ..spec.overlay import ReadOverlay

NO_SUCH_DATASET: Final = "HX507"
NO_SUCH_TARGET: Final = "HX508"
NATIVE_ONLY: Final = "HX509"
NOWHERE: Final = "HX510"
NO_EFFECT: Final = "HX511"
NO_SUCH_FACT: Final = "HX512"
UNJUDGED: Final = "HX513"
NO_SUCH_TOOL: Final = "HX514"
NO_SUCH_NODE: Final = "HX515"

EngineChoice = Literal["auto", "code-written", "native-matrix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A suite, or why there is none.

    `item_files` are the files of items that were looked for: (dataset, file relative
    to the spec's folder), the file None where `--items` names it.
    """

    suite: Suite | None
    problems: list[Problem]
    notes: tuple[str, ...]
    item_files: tuple[tuple[str, str | None], ...] = ()


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
    chosen = _choose_target(declared, target, at_target, report)
    built = _choose_engine(declared, chosen, engine, at_target, report)
    sources = list(_sources(declared, says, items, report))
    datasets = _with_items(declared, sources, folder, report)
    cases = materialize(datasets, declared.scenarios, report)
    resolver = _Criteria(declared, says, report)
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
    item_files = tuple(_item_files(sources))
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
    )


def _declaration(card: "v02.AgentSpec | v03.AgentSpec") -> Declaration:
    # The models of a format take time to import, and one run needs one format's.
    if hasattr(card, "api_version"):
        from .from_v03 import declaration as declaration_v03

        return declaration_v03(cast("v03.AgentSpec", card))
    from .from_v02 import declaration as declaration_v02

    return declaration_v02(card)


# -- target and engine -----------------------------------------------------------------

_NO_TARGET: Final = Target(id="unknown", type="custom", name="unknown", code=True)
"""A spec without a target says nothing against code."""


def _choose_target(
    declared: Declaration, wanted: str | None, at: InSpec, report: Report
) -> Target:
    """Return the target that is wanted; else the first code target, or the first."""
    targets = declared.targets or (_NO_TARGET,)
    if wanted is not None:
        for target in targets:
            if target.id == wanted:
                return target
        report.error(
            NO_SUCH_TARGET,
            f"the spec has no target {quoted(wanted)}",
            at=at,
            hint=f"its targets are {listed(t.id for t in targets)}",
        )
    return next((target for target in targets if target.code), targets[0])


def _choose_engine(
    declared: Declaration,
    target: Target,
    wanted: EngineChoice,
    at: InSpec,
    report: Report,
) -> Engine:
    if wanted == "native-matrix" or wanted == "auto" and not target.code:
        return "native-matrix"
    if not target.code:
        others = [other.id for other in declared.targets if other.code]
        hint = "use `--engine native-matrix`: agents of a host judge recorded runs"
        if others:
            hint += f"; or choose a target that is code: {listed(others)}"
        report.error(
            NATIVE_ONLY,
            f"a code-written suite calls its subject from Python, but {target.why_native}",
            at=at,
            hint=hint,
        )
    return "code-written"


# -- datasets and items ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A file of items that belongs to a dataset or, in 0.2, to a category."""

    name: str
    index: int
    category: str | None
    source: Source


def _sources(
    declared: Declaration,
    says: Mapping[str, Any],
    items: Mapping[str, Path],
    report: Report,
) -> Iterator[_Wanted]:
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
            yield _Wanted(name=name, index=index, category=default, source=source)
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


def _with_items(
    declared: Declaration,
    sources: Sequence[_Wanted],
    folder: Path | None,
    report: Report,
) -> list[Declared]:
    """Return the datasets with the items of their files.

    A scenario that stands in no dataset stays in none only until an item has it.
    """
    datasets = list(declared.datasets)
    more: dict[int, list[Item]] = {}
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
    for index, found in more.items():
        dataset = datasets[index]
        datasets[index] = replace(dataset, items=[*dataset.items, *found])
    rest = datasets[-1]
    exercised = {i.scenario for dataset in datasets[:-1] for i in dataset.items}
    left = [name for name in rest.scenarios if name not in exercised]
    datasets[-1] = replace(rest, scenarios=left)
    return datasets


def _item_files(sources: Iterable[_Wanted]) -> Iterator[tuple[str, str | None]]:
    for wanted in sources:
        source = wanted.source
        if source.anywhere:
            yield wanted.name, None
        elif source.is_name:
            yield wanted.name, source.reference


# -- criteria --------------------------------------------------------------------------


class _Criteria:
    """Turns declared and derived criteria into the suite's, as the overlay says."""

    def __init__(
        self, declared: Declaration, says: Mapping[str, Any], report: Report
    ) -> None:
        self._facts = declared.facts.constants()
        self._says = part(says, "criteria")
        self._report = report
        self._spec_ids = {criterion.id for criterion in declared.criteria}
        self._shared = declared.facts.shared
        self._declared = declared.facts.declared or ()
        # A harness has tools of its own: there only what looks misspelt is told.
        self._only_declared = any(target.code for target in declared.targets)
        self._approvals: list[str] = []

    def of_spec(self, declared: DeclaredCriterion) -> Criterion:
        """Return the criterion of a declared one; HIGH if the overlay does not say."""
        says = part(self._says, declared.id)
        method = method_of(says, judged=declared.judged)
        check, judge = None, None
        if method != "llm-judge":
            check = Check(call=self._call(declared.id, says))
        if method != "deterministic":
            judge = Judge(
                pass_when=says.get("pass_when")
                or wording.pass_when(declared.statement, declared.goal),
                fail_when=says.get("fail_when")
                or wording.fail_when(declared.statement, declared.goal),
                inputs=tuple(says.get("judge_inputs", ())),
            )
        self._say_what_has_no_effect(declared.id, says, check=check, judge=judge)
        return Criterion(
            id=declared.id,
            statement=declared.statement,
            goal=declared.goal,
            severity=says.get("severity", "HIGH"),
            source="spec",
            method=method,
            check=check,
            judge=judge,
            scope=self._scope(declared.id, Scope(datasets=declared.datasets), says),
            aggregate=aggregate_of(says),
            renamed_from=says.get("renamed_from"),
        )

    def derived(self, derived: Derived) -> Criterion:
        """Return the criterion of a derived one; MED if the overlay does not say."""
        criterion_id = self._derived_id(derived)
        says = part(self._says, criterion_id)
        check, judge = None, None
        if derived.call is not None:
            check = Check(call=self._call(criterion_id, says) or derived.call)
        else:
            judge = Judge(
                pass_when=says.get("pass_when", derived.pass_when),
                fail_when=says.get("fail_when", derived.fail_when),
                inputs=tuple(says.get("judge_inputs", ())),
            )
        self._say_what_has_no_effect(criterion_id, says, check=check, judge=judge)
        return Criterion(
            id=criterion_id,
            statement=derived.statement,
            goal="",
            severity=says.get("severity", "MED"),
            source="derived",
            method="deterministic" if judge is None else "llm-judge",
            check=check,
            judge=judge,
            scope=self._scope(criterion_id, derived.scope, says),
            aggregate=aggregate_of(says),
            renamed_from=says.get("renamed_from"),
        )

    def _derived_id(self, derived: Derived) -> str:
        criterion_id = derived.name
        while criterion_id in self._spec_ids:
            criterion_id += "-derived"
        return criterion_id

    def is_wanted(self, derived: Derived, switches: Mapping[str, Any]) -> bool:
        """Whether the overlay asks for a derived criterion by its name or its id."""
        return derived.name in switches or self._derived_id(derived) in self._says

    def constants(self, criteria: Iterable[Criterion]) -> dict[str, Any]:
        """Return the facts that the checks refer to, in a fixed order.

        What records an approval is declared by the check that waits for it: a spec
        has no place for it, and a run that is approved as it must be calls it.
        """
        used: set[str] = set()
        for criterion in criteria:
            if criterion.check is not None and criterion.check.call is not None:
                used |= constants_of(criterion.check.call)
        if "OUTBOUND_ACTIONS" in used and self._shared:
            self._report.note(
                f"Both a context and an action allow {listed(self._shared)}: a call of "
                "that name counts as outbound."
            )
        facts = {name: fact for name, fact in self._facts.items() if name in used}
        if self._approvals and "DECLARED_TOOLS" in facts:
            known = Names(self._declared)
            more = [name for name in self._approvals if known.find(name) is None]
            facts["DECLARED_TOOLS"] = unique([*facts["DECLARED_TOOLS"], *more])
        return facts

    def _call(self, criterion_id: str, says: Mapping[str, Any]) -> PrimitiveCall | None:
        if "check" not in says:
            return None
        call = bind(says["check"], facts=self._facts)
        for name in sorted(constants_of(call) - self._facts.keys()):
            self._report.error(
                NO_SUCH_FACT,
                f"the check needs {_FACT_WORDS[name]}, and the spec has none",
                at=InOverlay(("criteria", criterion_id, "check")),
                hint="give the argument in the overlay",
            )
        approvals = set(approval_names(call))
        self._approvals += sorted(approvals)
        for name in dict.fromkeys(tool_names(call)):
            self._check_tool(criterion_id, name, is_approval=name in approvals)
        self._check_nodes(criterion_id, call)
        return call

    def _check_nodes(self, criterion_id: str, call: PrimitiveCall) -> None:
        """Warn of a node that there is not: a check that it is never visited passes."""
        told: set[str] = set()
        for name, nodes in node_names(call):
            if isinstance(nodes, Constant):
                nodes = self._facts.get(nodes.name)
            if not nodes or name in told or Names(nodes).find(name) is not None:
                continue
            told.add(name)
            meant = CloseMatches().closest(name, nodes)
            self._report.warning(
                NO_SUCH_NODE,
                f"the workflow has no node {quoted(name)}: where no node is called so, "
                "the check sees no visit of it",
                at=InOverlay(("criteria", criterion_id, "check")),
                hint=(
                    f"did you mean {quoted(meant)}?"
                    if meant is not None
                    else f"nodes of the workflow: {listed(nodes)}"
                ),
            )

    def _check_tool(self, criterion_id: str, name: str, *, is_approval: bool) -> None:
        """Warn of a tool that nobody declares: a check that it is never called passes.

        An approval is no tool of the spec, and without it no call passes: of one only
        what looks misspelt, or like no name at all, is told.
        """
        if not self._declared or Names(self._declared).find(name) is not None:
            return
        meant = CloseMatches().closest(name, self._declared)
        is_approval = is_approval and any(c.isalnum() for c in name)
        if meant is None and (is_approval or not self._only_declared):
            return
        self._report.warning(
            NO_SUCH_TOOL,
            f"the spec declares no tool {quoted(name)}: where no tool is called so, the "
            "check sees no call of it",
            at=InOverlay(("criteria", criterion_id, "check")),
            hint=(
                f"did you mean {quoted(meant)}?"
                if meant is not None
                else f"tools of the spec: {listed(self._declared)}"
            ),
        )

    def _scope(self, criterion_id: str, scope: Scope, says: Mapping[str, Any]) -> Scope:
        given = part(says, "applies_to")
        result = narrowed(scope, given)
        for name in given:
            before, after = getattr(scope, name), getattr(result, name)
            if before and not after:
                self._report.error(
                    NOWHERE,
                    f"{quoted(criterion_id)} would apply to no case: `applies_to` only "
                    "narrows what the spec says",
                    at=InOverlay(("criteria", criterion_id, "applies_to", name)),
                    hint=f"the spec applies it to the {name} {listed(before)}",
                )
        return result

    def _say_what_has_no_effect(
        self,
        criterion_id: str,
        says: Mapping[str, Any],
        *,
        check: Check | None,
        judge: Judge | None,
    ) -> None:
        who = "code" if judge is None else "a judge"
        idle = ("pass_when", "fail_when", "judge_inputs") if judge is None else ()
        for name in idle if check is not None else ("check",):
            if name in says:
                self._report.warning(
                    NO_EFFECT,
                    f"`{name}` has no effect: {who} alone decides "
                    f"{quoted(criterion_id)}",
                    at=InOverlay(("criteria", criterion_id, name)),
                    hint="`method: hybrid` has both: code first, then the judge",
                )


_FACT_WORDS: Final[Mapping[str, str]] = {
    "OUTBOUND_ACTIONS": "the outbound actions",
    "ACTION_OPERATIONS": "the operations of actions",
    "DECLARED_TOOLS": "declared tools",
    "WORKFLOW": "a workflow that stands in the spec itself",
    "WORKFLOW_NODES": "the nodes of a workflow",
    "ACTION_HOLDERS": "the members that hold actions, each with its card in the spec itself",
    "OBSERVERS": "the members that observe",
    "DISPATCH": "who dispatches whom",
}


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
