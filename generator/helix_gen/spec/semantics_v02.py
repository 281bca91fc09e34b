"""What should hold between the parts of an AgentSpec 0.2.0.

The format says little about it: a repeated id is an error, a reference that leads
nowhere a warning.
"""

from typing import Final

from ..problems import Problem, quoted
from .close import CloseMatches
from .evaluation import check_not_empty
from .findings import Findings, Names
from .located import Located, Path

DEFINITION: Final[Path] = ("definition",)
EVALS: Final[Path] = ("definition", "evals")

_LISTS: Final = (
    (("context_sources",), "context source", "context sources", "id"),
    (("tools", "integration"), "integration tool", "integration tools", "id"),
    (("tools", "skills"), "skill", "skills", "id"),
    (("tools", "subagents"), "subagent", "subagents", "name"),
    (("jobs_to_be_done",), "job", "jobs", "id"),
    (("triggers",), "trigger", "triggers", "id"),
    (("sop",), "procedure", "procedures", "id"),
)


def meaning_problems(source: Located, close: CloseMatches) -> list[Problem]:
    """Return the problems of meaning of an AgentSpec 0.2.0."""
    findings = Findings(source, close)
    if not isinstance(source.data, dict):
        return []
    listed = [
        findings.names((*DEFINITION, *place), one, many, key=key)
        for place, one, many, key in _LISTS
    ]
    code = findings.names((*DEFINITION, "tools", "code"), "code tool", "code tools")
    for path, _ in findings.rows((*DEFINITION, "jobs_to_be_done")):
        for ref_path, ref in findings.texts((*path, "backed_by")):
            findings.resolve(ref_path, ref, code, level="warning")
    _check_tools(findings, [*listed[:4], code])
    _check_graph(findings)
    _check_evals(findings)
    return findings.problems


def _check_tools(findings: Findings, declared: list[Names]) -> None:
    """Check the tools of sub-agents; one that is like none may be its host's own."""
    known = [name for names in declared for name in names.ids or ()]
    for path, _ in findings.rows((*DEFINITION, "tools", "subagents")):
        for ref_path, ref in findings.texts((*path, "tools")):
            meant = None if ref in known else findings.close.closest(ref, known)
            if meant is not None:
                findings.warning(
                    "HX204",
                    ref_path,
                    f"there is no tool {quoted(ref)}",
                    hint=f"did you mean {quoted(meant)}?",
                )


def _check_graph(findings: Findings) -> None:
    graph = (*DEFINITION, "modeling", "decision_graph")
    listed = findings.source.get((*graph, "nodes"))
    ids: dict[str, Path] | None = {} if isinstance(listed, list) else None
    for path, node in findings.texts((*graph, "nodes")):
        findings.declare(ids, path, node, "node")
    nodes = Names(one="node", many="nodes", ids=ids, home=(*graph, "nodes"))
    for path, edge in findings.rows((*graph, "edges")):
        for end in ("from", "to"):
            findings.resolve((*path, end), edge.get(end), nodes, level="warning")


def _check_evals(findings: Findings) -> None:
    criteria = findings.names((*EVALS, "success_criteria"), "criterion", "criteria")
    scenarios = findings.names((*EVALS, "scenarios"), "scenario", "scenarios")
    categories = findings.names(
        (*EVALS, "dataset_categories"), "category", "categories"
    )
    if isinstance(findings.source.get(EVALS), dict):
        check_not_empty(
            findings, EVALS, criteria=criteria, others=(scenarios, categories)
        )
    for path, scenario in findings.rows((*EVALS, "scenarios")):
        category = scenario.get("category")
        if isinstance(category, str) and categories.ids is not None:
            if category not in categories.ids:
                findings.warning(
                    "HX223",
                    (*path, "category"),
                    f"no dataset category is called {quoted(category)}",
                    hint=findings.close.hint(
                        category, categories.ids, what="dataset categories"
                    ),
                )
