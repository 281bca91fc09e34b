"""Suite models built by hand, for the tests of rendering."""

from dataclasses import replace
from typing import Any

from helix_gen.suite.model import (
    Check,
    Constant,
    Criterion,
    Judge,
    Pin,
    PrimitiveCall,
    Scope,
    Subject,
    Suite,
    Target,
    Tool,
)
from helix_runtime.case import Case
from helix_runtime.criterion import every, mean, pass_k, rate


def criterion(criterion_id: str, **changes: Any) -> Criterion:
    """A criterion of the spec that nothing decides yet, with changes."""
    values: dict[str, Any] = {
        "id": criterion_id,
        "statement": "The answer names the shelf that the book stands on.",
        "goal": "",
        "severity": "HIGH",
        "source": "spec",
        "method": "deterministic",
        "check": Check(call=None),
        "judge": None,
        "scope": Scope(),
        "aggregate": every(),
    }
    return Criterion(**(values | changes))


def judged(criterion_id: str, **changes: Any) -> Criterion:
    """A criterion that a judge decides, with changes."""
    judge = Judge(
        pass_when="Every shelf in the answer stands in the catalogue's reply.",
        fail_when="The answer names a shelf that the catalogue did not give.",
        inputs=(),
    )
    return criterion(
        criterion_id,
        **({"method": "llm-judge", "check": None, "judge": judge} | changes),
    )


def bound(primitive: str, **arguments: Any) -> Check:
    """A check that a primitive of the runtime decides."""
    return Check(call=PrimitiveCall(primitive=primitive, arguments=arguments))


def case(case_id: str, **changes: Any) -> Case:
    """A case, with changes."""
    values: dict[str, Any] = {
        "id": case_id,
        "query": "Where do I find the atlas of the moon?",
        "dimensions": {"scenario": "known-book"},
        "dataset": "desk",
        "scenario": "known-book",
    }
    return Case(**(values | changes))


def suite(**changes: Any) -> Suite:
    """A suite of both engines that uses most of what a suite can have."""
    code = Target(id="py", type="framework", name="plain-python", code=True)
    values: dict[str, Any] = {
        "slug": "library-desk",
        "subject": Subject(
            id="library-desk",
            name="Library desk",
            version="1.0.0",
            kind="agent",
            purpose="Tell readers where a book stands and reserve it on request.",
            scope=("No loans", "No fines"),
            tools=(
                Tool(
                    name="catalogue.find",
                    description="Look a book up.",
                    reversibility="none",
                    outbound=False,
                ),
                Tool(
                    name="reservation.create",
                    description="Reserve a book for a reader; it can be taken back.",
                    reversibility="reversible",
                    outbound=True,
                ),
            ),
            harness="plain-python",
            system_prompt="Look the book up first.\nNever reserve without being asked.\n",
        ),
        "engine": "code-written",
        "targets": (code,),
        "target": code,
        "criteria": (
            criterion("names-the-shelf", goal="Always"),
            judged(
                "grounded-shelf",
                scope=Scope(datasets=("desk",)),
                aggregate=rate(">= 0.95"),
            ),
            criterion(
                "asks-before-reserving",
                severity="CRIT",
                method="hybrid",
                check=bound("output.contains", texts=["shall I reserve"]),
                judge=judged("x").judge,
                aggregate=pass_k(3),
                scope=Scope(categories=("reserve",), narrowed=True),
            ),
            criterion(
                "quick",
                severity="LOW",
                check=bound("output.present"),
                aggregate=mean("> 0.9"),
            ),
            criterion(
                "expected-actions",
                statement="The run calls the outbound actions of its case, no other.",
                severity="MED",
                source="derived",
                check=bound("expect.actions", outbound=Constant("OUTBOUND_ACTIONS")),
            ),
        ),
        "cases": (
            case("aa01"),
            case("aa02", query="A reader wants two books.", placeholder=True),
        ),
        "jobs": {"find-a-book": ("desk",)},
        "datasets": ("desk",),
        "constants": {"OUTBOUND_ACTIONS": ["reservation.create"]},
        "pin": Pin(),
        "target_ref": None,
        "spec_version": "0.3.0",
        "spec_sha256": "0" * 64,
    }
    return Suite(**(values | changes))


def native_suite(**changes: Any) -> Suite:
    """The same suite for a harness: the subject can't be called."""
    harness = Target(
        id="host",
        type="harness",
        name="some-host",
        code=False,
        why_native="some-host is a harness",
    )
    base = suite(engine="native-matrix", target=harness, targets=(harness,))
    return replace(base, **changes)
