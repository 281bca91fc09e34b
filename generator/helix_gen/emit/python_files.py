"""The suite's Python: the model's records as the expressions that make them again."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from helix_runtime.criterion import Aggregate

from .. import __version__
from ..suite.model import (
    Constant,
    Criterion,
    Judge,
    PrimitiveCall,
    Scope,
    Subject,
    Suite,
    Tool,
)
from .environment import fill
from .literal import (
    DOCSTRING_COLUMNS,
    Call,
    Code,
    assignment,
    docstring,
    import_from,
    name,
    quoted,
    statement,
)
from .names import Scope as NameScope
from .names import taken
from .plan import Standing
from .reach import reach_of

GENERATOR: Final = f"helix-gen {__version__}"


@dataclass(frozen=True, slots=True)
class CriterionNames:
    """What criteria are called in `checks.py` and in `judges.py`, by their ids.

    `skipped` are the criteria that nothing decides, each with the reason (empty:
    their owner deleted what decides them).
    """

    checks: Mapping[str, Code]
    judges: Mapping[str, Code]
    skipped: Mapping[str, str] = field(default_factory=dict)

    def standing(self, standing: Standing) -> "CriterionNames":
        """Return the names that stand in the files after a merge."""
        return CriterionNames(
            _standing(self.checks, standing.names.get("checks", {})),
            _standing(self.judges, standing.names.get("judges", {})),
            standing.skipped,
        )


def _standing(
    names: Mapping[str, Code], standing: Mapping[str, str]
) -> dict[str, Code]:
    """Return names as their owner may have changed them.

    Nothing but an identifier is taken: it can't be anything else in what is written.
    """
    return {
        spec_id: (
            Code.by_encoder(standing[spec_id])
            if standing.get(spec_id, "").isidentifier()
            else given
        )
        for spec_id, given in names.items()
    }


_CHECK_MODULES: Final = (
    "combine",
    "expect",
    "facts",
    "flow",
    "lists",
    "numbers",
    "output",
    "references",
    "tools",
    "ui",
    "workflow",
)
_IN_CHECKS: Final = (
    "case",
    "trace",
    "verdict",
    "check",
    "checks",
    "judges",
    "subject",
    "suite",
    "target",
    "passed",
    "failed",
    "uncertain",
    "unwritten",
    "not_applicable",
    "could_not_judge",
    "ref",
)
_IN_JUDGES: Final = ("judge", "judges", "example", "checks", "subject", "suite")


def criterion_names(suite: Suite) -> CriterionNames:
    """Return the names of every check and judge of the suite."""
    in_checks = taken(_CHECK_MODULES, _IN_CHECKS)
    return CriterionNames(
        NameScope("check", in_checks).allocate(
            criterion.id for criterion in suite.criteria if criterion.check is not None
        ),
        NameScope("judge", taken(_IN_JUDGES)).allocate(
            criterion.id for criterion in suite.criteria if criterion.judge is not None
        ),
    )


# -- checks.py ------------------------------------------------------------------------


def checks_py(suite: Suite, names: CriterionNames) -> bytes:
    """Return `checks.py`: a function for each criterion that code decides."""
    calls = [
        (criterion, criterion.check.call)
        for criterion in suite.criteria
        if criterion.check is not None
    ]
    helpers = ["check"]
    if any(call is None for _, call in calls):
        helpers.append("unwritten")
    modules: set[str] = set()
    constants: set[str] = set()
    for _, call in calls:
        if call is not None:
            _mentions(call, modules, constants)
    imports = [import_from("._runtime.case", ["Case"])]
    if modules:
        imports.append(import_from("._runtime.checks", sorted(modules)))
    imports.append(import_from("._runtime.criterion", helpers))
    imports.append(import_from("._runtime.trace", ["Trace"]))
    imports.append(import_from("._runtime.verdict", ["Verdict"]))
    if constants:
        imports.append(import_from(".subject", sorted(constants)))
    return fill(
        Code,
        "checks.py",
        imports=imports,
        checks=[
            {
                "name": names.checks[criterion.id],
                "decorator": _decorator(criterion),
                "docstring": _TO_BE_WRITTEN if call is None else _summary(call),
                "body": _body(call),
            }
            for criterion, call in calls
        ],
    )


_CASE: Final = name("case")
_TRACE: Final = name("trace")
_TO_BE_WRITTEN: Final = docstring(
    "Not written yet: replace this text, return passed(...) or failed(...)."
)


def _decorator(criterion: Criterion) -> Code:
    keywords: dict[str, Any] = {"goal": criterion.goal} if criterion.goal else {}
    return statement("@", _call("check", criterion.id, criterion.statement, **keywords))


def _body(call: PrimitiveCall | None) -> Code:
    if call is None:
        return statement("return ", _call("unwritten"), indent=4)
    return statement("return ", _primitive(call), indent=4)


def _primitive(call: PrimitiveCall) -> Call:
    module, _, function = call.primitive.partition(".")
    # Combinators take verdicts; everything else reads the case and the trace.
    arguments: list[Any] = [] if module == "combine" else [_CASE, _TRACE]
    keywords: list[tuple[Code, Any]] = []
    nested = 0
    for key, value in call.arguments.items():
        if isinstance(value, PrimitiveCall):
            nested += 1
        if isinstance(value, tuple) and _is_calls(value):
            arguments.extend(_primitive(each) for each in value)
        else:
            keywords.append((name(key), _argument(value)))
    if module == "combine" and nested == len(keywords) == 1:
        arguments.append(keywords.pop()[1])
    return Call(name(module, function), tuple(arguments), tuple(keywords))


def _argument(value: Any) -> Any:
    if isinstance(value, Constant):
        return name(value.name)
    if isinstance(value, PrimitiveCall):
        return _primitive(value)
    return value


def _is_calls(values: tuple[Any, ...]) -> bool:
    return bool(values) and all(isinstance(value, PrimitiveCall) for value in values)


def _mentions(call: PrimitiveCall, modules: set[str], constants: set[str]) -> None:
    modules.add(call.primitive.partition(".")[0])
    for value in call.arguments.values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, PrimitiveCall):
                _mentions(each, modules, constants)
            elif isinstance(each, Constant):
                constants.add(each.name)


def _summary(call: PrimitiveCall) -> Code:
    """The docstring of a bound check: the first line of its primitive's own."""
    module, _, function = call.primitive.partition(".")
    primitives = importlib.import_module(f"helix_runtime.checks.{module}")
    line = getattr(primitives, function).__doc__.partition("\n")[0].strip()
    if len(line) > DOCSTRING_COLUMNS:
        line = f"Decide by `{module}.{function}`."
    return docstring(line)


# -- judges.py ------------------------------------------------------------------------


def judges_py(suite: Suite, names: CriterionNames) -> bytes:
    """Return `judges.py`: a judge for each criterion that is judged."""
    return fill(
        Code,
        "judges.py",
        judges=[
            assignment(names.judges[criterion.id], _judge(criterion, criterion.judge))
            for criterion in suite.criteria
            if criterion.judge is not None
        ],
    )


def _judge(criterion: Criterion, judge: Judge) -> Call:
    keywords: dict[str, Any] = {}
    if criterion.goal:
        keywords["goal"] = criterion.goal
    keywords["pass_when"] = judge.pass_when
    keywords["fail_when"] = judge.fail_when
    if judge.inputs:
        keywords["inputs"] = judge.inputs
    return _call("Judge", criterion.id, criterion.statement, exploded=True, **keywords)


# -- subject.py -----------------------------------------------------------------------


def subject_py(suite: Suite) -> bytes:
    """Return `subject.py`: who is judged, and the facts of the spec."""
    classes = ["Subject"] + (["Tool"] if suite.subject.tools else [])
    facts = [
        assignment(name(key), value, annotation=_annotation(value))
        for key, value in suite.constants.items()
    ]
    imports = []
    if any("Any" in _annotation(value) for value in suite.constants.values()):
        imports.append(import_from("typing", ["Any"]))
    return fill(
        Code,
        "subject.py",
        standard_imports=imports,
        imports=[import_from("._runtime.suite", classes)],
        subject=assignment(name("SUBJECT"), _subject(suite.subject)),
        facts=facts,
    )


def _subject(subject: Subject) -> Call:
    keywords: dict[str, Any] = {
        "id": subject.id,
        "name": subject.name,
        "version": subject.version,
        "kind": subject.kind,
        "purpose": subject.purpose,
    }
    if subject.scope:
        keywords["scope"] = subject.scope
    if subject.tools:
        keywords["tools"] = [_tool(tool) for tool in subject.tools]
    keywords["harness"] = subject.harness
    if subject.system_prompt:
        keywords["system_prompt"] = subject.system_prompt
    return _call("Subject", exploded=True, **keywords)


def _tool(tool: Tool) -> Call:
    keywords: dict[str, Any] = {}
    if tool.reversibility != "unknown":
        keywords["reversibility"] = tool.reversibility
    if tool.outbound:
        keywords["outbound"] = True
    return _call("Tool", tool.name, tool.description, **keywords)


def _annotation(value: Any) -> Code:
    """The type of a fact, as strict type checkers want it for an empty one too."""
    if _is_texts(value):
        return _TEXTS
    if isinstance(value, Mapping):
        return _MAP_OF_TEXTS if all(map(_is_texts, value.values())) else _MAP
    return _LIST if isinstance(value, (list, tuple)) else _ANY


def _is_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value)


_TEXTS: Final = Code.by_encoder("list[str]")
_LIST: Final = Code.by_encoder("list[Any]")
_MAP: Final = Code.by_encoder("dict[str, Any]")
_MAP_OF_TEXTS: Final = Code.by_encoder("dict[str, list[str]]")
_ANY: Final = name("Any")


# -- suite.py -------------------------------------------------------------------------


def suite_py(suite: Suite, names: CriterionNames) -> bytes:
    """Return `suite.py`: the table of criteria, and the suite that it makes."""
    siblings = ["GENERATOR", "SPEC_SHA256"]
    left = {criterion.id for criterion in suite.criteria} - names.skipped.keys()
    siblings += ["checks"] if left & names.checks.keys() else []
    siblings += ["judges"] if left & names.judges.keys() else []
    helpers = ["Criterion"]
    if any(criterion.scope != Scope() for criterion in suite.criteria):
        helpers.append("Scope")
    passes = [_passes(criterion.aggregate) for criterion in suite.criteria]
    functions = {str(call.function) for call in passes if call is not None}
    if len(left) < len(suite.criteria):
        functions.add("skipped")
    helpers += sorted(functions)
    rows = [
        _criterion(criterion, names, call)
        for criterion, call in zip(suite.criteria, passes, strict=True)
    ]
    keywords: dict[str, Any] = {
        "subject": name("SUBJECT"),
        "criteria": name("CRITERIA"),
        "engine": suite.engine,
        "spec_sha256": name("SPEC_SHA256"),
        "generator": name("GENERATOR"),
    }
    if suite.jobs:
        keywords["jobs"] = suite.jobs
    return fill(
        Code,
        "suite.py",
        imports=[
            import_from(".", siblings),
            import_from("._runtime.criterion", helpers),
            import_from("._runtime.suite", ["Suite"]),
            import_from(".subject", ["SUBJECT"]),
        ],
        criteria=assignment(name("CRITERIA"), rows, annotation=_CRITERIA),
        suite=assignment(name("SUITE"), _call("Suite", exploded=True, **keywords)),
    )


_CRITERIA: Final = Code.by_encoder("list[Criterion]")


def _criterion(
    criterion: Criterion, names: CriterionNames, passes: Call | None
) -> Call:
    keywords: dict[str, Any] = {}
    if criterion.id in names.skipped:
        why = names.skipped[criterion.id]
        reason: dict[str, Any] = {"why": why} if why else {}
        keywords["check"] = _call(
            "skipped", criterion.id, criterion.statement, **reason
        )
    elif criterion.check is not None:
        keywords["check"] = _member("checks", names.checks[criterion.id])
    if criterion.judge is not None and criterion.id not in names.skipped:
        keywords["judge"] = _member("judges", names.judges[criterion.id])
    keywords["severity"] = criterion.severity
    if criterion.source != "spec":
        keywords["source"] = criterion.source
    if criterion.scope != Scope():
        keywords["applies_to"] = _scope(criterion.scope)
    if passes is not None:
        keywords["passes"] = passes
    return _call("Criterion", **keywords)


def _member(module: str, unit: Code) -> Code:
    return Code.by_encoder(f"{module}.{unit}")


def _scope(scope: Scope) -> Call:
    keywords: dict[str, Any] = {
        "datasets": scope.datasets,
        "categories": scope.categories,
        "scenarios": scope.scenarios,
    }
    given = {key: value for key, value in keywords.items() if value}
    if scope.narrowed:
        given["narrowed"] = True
    return _call("Scope", **given)


def _passes(aggregate: Aggregate) -> Call | None:
    """The call that makes an aggregate again; None where it is the default."""
    condition = f"{aggregate.operator} {_plain_number(aggregate.limit)}"
    at_least_all = aggregate.operator == ">=" and aggregate.limit == 1
    if aggregate.kind == "rate":
        return None if at_least_all else _call("rate", condition)
    if aggregate.kind in ("mean", "baseline"):
        return _call(aggregate.kind, condition)
    if at_least_all:
        return _call("pass_k", aggregate.k)
    return _call(
        "Aggregate",
        kind=aggregate.kind,
        operator=aggregate.operator,
        limit=aggregate.limit,
        k=aggregate.k,
    )


def _plain_number(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


# -- the rest -------------------------------------------------------------------------


def init_py(suite: Suite) -> bytes:
    """Return the package's `__init__.py`: what made it, and from what."""
    return fill(
        Code,
        "__init__.py",
        generator=quoted(GENERATOR),
        spec_sha256=quoted(suite.spec_sha256),
    )


def main_py(suite: Suite) -> bytes:
    """Return the package's `__main__.py`: the suite's own command."""
    cli = import_from(f"{suite.package}._runtime.cli", ["main as run"], indent=4)
    return fill(Code, "__main__.py", imports=[cli])


def root_main_py(suite: Suite) -> bytes:
    """Return the folder's `__main__.py`, for `python FOLDER run`."""
    main = import_from(f"{suite.package}.__main__", ["main"])
    return fill(Code, "root_main.py", imports=[main])


def target_py(suite: Suite) -> bytes:
    """Return `target.py`: what reaches the subject, to be filled in."""
    return fill(Code, reach_of(suite).template)


def test_py(suite: Suite) -> bytes:
    """Return `tests/test_evals.py`: the same suite under pytest."""
    testing = import_from(f"{suite.package}._runtime.testing", ["Evals"])
    return fill(Code, "test_evals.py", imports=[testing])


def _call(
    function: str, /, *arguments: Any, exploded: bool = False, **keywords: Any
) -> Call:
    named = tuple((name(key), value) for key, value in keywords.items())
    return Call(name(function), arguments, named, exploded)
