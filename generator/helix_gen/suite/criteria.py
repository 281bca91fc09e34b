"""The criteria of a suite: what the spec declares, what is derived, what the overlay says."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from helix_runtime.checks.names import Names

from ..problems import listed, quoted
from ..spec.close import CloseMatches
from . import wording
from .declaration import Declaration, DeclaredCriterion, unique
from .derive import Derived
from .model import Check, Constant, Criterion, Judge, PrimitiveCall, Scope
from .primitives import approval_names, bind, constants_of, node_names, tool_names
from .report import NO_EFFECT, InOverlay, Report
from .settings import aggregate_of, method_of, narrowed, part

NOWHERE: Final = "HX510"
NO_SUCH_FACT: Final = "HX512"
NO_SUCH_TOOL: Final = "HX514"
NO_SUCH_NODE: Final = "HX515"


class CriteriaResolver:
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
