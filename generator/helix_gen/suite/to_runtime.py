"""The suite model as the runtime's own suite, in memory: what `packets` decides by.

A check that is bound to a primitive decides here as it does in a generated suite; one
that is still to be written is uncertain here too.
"""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from helix_runtime import criterion as runtime
from helix_runtime.case import Case
from helix_runtime.suite import Subject, Suite, Tool
from helix_runtime.trace import Trace
from helix_runtime.verdict import Verdict

from .. import __version__
from . import model


def to_runtime(suite: model.Suite, *, check_names: Mapping[str, str]) -> Suite:
    """Return the runtime's suite of a model.

    `check_names` are the names of the checks' functions by criterion: a packet says
    which function left a criterion to the judge, as that of a generated suite does.
    """
    module = f"{suite.package}.checks"
    criteria = []
    for criterion in suite.criteria:
        decide = None
        if criterion.check is not None:
            decide = _function(criterion.check, suite.constants)
            decide.__module__ = module
            decide.__name__ = check_names[criterion.id]
        criteria.append(_criterion(criterion, decide))
    return Suite(
        subject=_subject(suite.subject),
        criteria=criteria,
        engine=suite.engine,
        spec_sha256=suite.spec_sha256,
        generator=f"helix-gen {__version__}",
        jobs=suite.jobs,
    )


def _subject(subject: model.Subject) -> Subject:
    return Subject(
        id=subject.id,
        name=subject.name,
        version=subject.version,
        kind=subject.kind,
        purpose=subject.purpose,
        scope=subject.scope,
        tools=[
            Tool(
                name=tool.name,
                description=tool.description,
                reversibility=tool.reversibility,
                outbound=tool.outbound,
            )
            for tool in subject.tools
        ],
        harness=subject.harness,
        system_prompt=subject.system_prompt,
    )


def _criterion(
    criterion: model.Criterion, decide: runtime.CheckFunction | None
) -> runtime.Criterion:
    check = judge = None
    if decide is not None:
        check = runtime.Check(criterion.id, criterion.statement, criterion.goal, decide)
    if criterion.judge is not None:
        judge = runtime.Judge(
            criterion.id,
            criterion.statement,
            criterion.judge.pass_when,
            criterion.judge.fail_when,
            goal=criterion.goal,
            inputs=criterion.judge.inputs,
        )
    scope = criterion.scope
    return runtime.Criterion(
        check=check,
        judge=judge,
        severity=criterion.severity,
        source=criterion.source,
        applies_to=runtime.Scope(
            datasets=scope.datasets,
            categories=scope.categories,
            scenarios=scope.scenarios,
            narrowed=scope.narrowed,
        ),
        passes=criterion.aggregate,
    )


def _function(
    check: model.Check, constants: Mapping[str, Any]
) -> Callable[[Case, Trace], Verdict]:
    call = check.call

    def decide(case: Case, trace: Trace) -> Verdict:
        if call is None:
            return runtime.unwritten()
        return _verdict(call, constants, case, trace)

    return decide


def _verdict(
    call: model.PrimitiveCall, constants: Mapping[str, Any], case: Case, trace: Trace
) -> Verdict:
    module, _, name = call.primitive.partition(".")
    primitive = getattr(importlib.import_module(f"helix_runtime.checks.{module}"), name)
    nested = partial(_verdict, constants=constants, case=case, trace=trace)
    # As in generated source: combinators take verdicts, all else case and trace.
    positional: list[Any] = [] if module == "combine" else [case, trace]
    keywords: dict[str, Any] = {}
    for argument, value in call.arguments.items():
        if isinstance(value, model.Constant):
            keywords[argument] = constants[value.name]
        elif isinstance(value, model.PrimitiveCall):
            keywords[argument] = nested(value)
        elif _is_calls(value):
            positional += [nested(each) for each in value]
        else:
            keywords[argument] = value
    verdict: Verdict = primitive(*positional, **keywords)
    return verdict


def _is_calls(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(isinstance(each, model.PrimitiveCall) for each in value)
    )
