"""A card and its overlay become one suite model, whatever version the card is of."""

from pathlib import Path
from typing import Any

import pytest
from helix_gen.spec.read import read_spec
from helix_gen.suite.derive import DERIVED
from helix_gen.suite.model import (
    Check,
    Constant,
    Criterion,
    Pin,
    PrimitiveCall,
    Scope,
    Suite,
)
from helix_gen.suite.resolve import resolve
from helix_runtime.criterion import every, mean, pass_k, rate
from support.suite_cards import (
    CODE_TARGET,
    HARNESS_TARGET,
    action,
    card,
    card_v02,
    criterion,
    dataset,
    read,
    resolved,
    scenario,
    suite_of,
)

PLATFORM_TARGET = {
    **HARNESS_TARGET,
    "id": "cloud",
    "type": "platform",
    "artifact": {"format": "platform-config", "path": "deploy.yaml"},
}
WORKFLOW = {
    "state": "S",
    "entry": "start",
    "nodes": [
        {
            "id": "start",
            "description": "Starts.",
            "contextRefs": ["files"],
            "edges": [
                {"to": "end", "condition": "found"},
                {"to": "start", "loop": {"maxIterations": 2}},
            ],
        },
        {
            "id": "end",
            "description": "Ends.",
            "executor": {"kind": "action", "ref": "send"},
            "terminal": True,
        },
    ],
}


def by_id(suite: Suite) -> dict[str, Criterion]:
    return {criterion.id: criterion for criterion in suite.criteria}


def only(suite: Suite) -> Criterion:
    (found,) = (c for c in suite.criteria if c.source == "spec")
    return found


def derived_ids(suite: Suite) -> list[str]:
    return [c.id for c in suite.criteria if c.source == "derived"]


# -- the subject -----------------------------------------------------------------------


def test_the_profile_says_who_is_judged() -> None:
    spec = card(
        context=[read("files", "files.get")],
        actions=[action("send", "mail.send")],
        capabilities={
            "code": [
                {"id": "sum", "description": "Sums.", "constraints": {"sandbox": True}},
                {"id": "fetch", "description": "Fetches."},
            ],
            "skills": ["brief"],
            "delegates": ["helper"],
        },
    )
    suite = suite_of(spec)
    subject = suite.subject
    assert (subject.id, subject.name, subject.version, subject.kind) == (
        "desk-clerk",
        "Desk Clerk",
        "1.0.0",
        "agent",
    )
    assert subject.purpose == "Answers at the desk."
    assert subject.scope == ("Answer visitors.", "Be brief.", "Not in scope: Sell")
    assert subject.harness == "pydantic-ai"
    assert subject.system_prompt == "Answer with care."
    assert [(t.name, t.reversibility, t.outbound) for t in subject.tools] == [
        ("files", "none", False),
        ("send", "unknown", True),
        ("sum", "none", False),
        ("fetch", "unknown", False),
        ("brief", "unknown", False),
        ("helper", "unknown", False),
    ]
    assert subject.tools[0].description == "What files says. Operations: files.get."
    assert (suite.slug, suite.package) == ("desk-clerk", "desk_clerk_evals")
    assert suite.spec_version == "0.3.0"


def test_the_profile_of_0_2_says_the_same_things() -> None:
    subject = suite_of(card_v02()).subject
    assert (subject.id, subject.name, subject.kind) == (
        "old-clerk",
        "Old Clerk",
        "agent",
    )
    assert subject.scope == ("Answer visitors.",)
    assert subject.harness == "langgraph"
    assert [(t.name, t.reversibility) for t in subject.tools] == [
        ("files", "none"),
        ("search", "unknown"),
        ("format", "none"),
    ]


def skill() -> dict[str, Any]:
    spec = card(targets=[HARNESS_TARGET])
    spec["kind"] = "Skill"
    del spec["spec"]["agent"]
    spec["spec"]["skill"] = {
        "purpose": "Use it to write letters.",
        "invocation": "On request.",
        "instructions": "Write the letter.",
        "inputs": [],
        "outputs": [],
        "resources": [],
        "hostRequirements": [],
        "failureBehavior": "Say so.",
        "progressiveDisclosure": True,
        "subagents": ["typist"],
    }
    return spec


def test_a_skill_is_told_its_instructions() -> None:
    subject = suite_of(skill()).subject
    assert (subject.kind, subject.purpose) == ("skill", "Use it to write letters.")
    assert subject.system_prompt == "Write the letter."
    assert [tool.name for tool in subject.tools] == ["typist"]


def member(name: str, *actions: str) -> dict[str, Any]:
    return {
        "apiVersion": "agentspec.mutagent.io/v0.3.0",
        "kind": "Agent",
        "metadata": {
            "id": name,
            "name": name.title(),
            "version": "1",
            "description": f"Is {name}.",
        },
        "spec": {
            "intentRef": "#spec/intent",
            "contextRefs": [],
            "actionRefs": list(actions),
            "agent": {
                "persona": {"role": name, "description": "Careful."},
                "systemPrompt": f"You are {name}.",
                "operatingType": "automation",
            },
        },
    }


def team(**evaluation: Any) -> dict[str, Any]:
    spec = card(actions=[action("send", "mail.send")], **evaluation)
    spec["kind"] = "MultiAgent"
    del spec["spec"]["agent"]
    spec["spec"]["capabilities"]["delegates"] = ["writer"]
    spec["spec"]["multiAgent"] = {
        "orchestrator": "chief",
        "members": [member("chief"), member("writer", "send"), member("guard")],
        "relations": {
            "subagents": {"chief": ["writer"]},
            "observes": {"guard": ["chief"]},
        },
        "workflow": {
            "inline": {
                "state": "S",
                "entry": "write",
                "nodes": [
                    {
                        "id": "write",
                        "description": "Writes.",
                        "executor": {"kind": "member", "ref": "writer"},
                        "terminal": True,
                    }
                ],
            }
        },
    }
    return spec


def test_a_multi_agent_is_its_members() -> None:
    suite = suite_of(team())
    assert suite.subject.kind == "multi-agent"
    assert suite.subject.system_prompt == (
        "chief (orchestrator): You are chief.\n\n"
        "writer: You are writer.\n\n"
        "guard: You are guard."
    )
    assert [(t.name, t.description) for t in suite.subject.tools] == [
        ("send", "Does send. Operations: mail.send."),
        ("chief", "Is chief."),
        ("writer", "Is writer."),
        ("guard", "Is guard."),
    ]
    assert suite.constants["ACTION_HOLDERS"] == {"send": ["writer"]}
    assert suite.constants["DECLARED_TOOLS"] == [
        "send",
        "mail.send",
        "writer",
        "chief",
        "guard",
    ]
    assert derived_ids(suite) == ["declared-tools", "workflow-facts", "action-holders"]


def test_a_team_with_a_card_elsewhere_leaves_open_who_holds_what() -> None:
    spec = team(criteria=[criterion("one-holder")])
    spec["spec"]["capabilities"]["delegates"] = []
    spec["spec"]["multiAgent"]["members"][1] = {"specRef": "./writer.yaml"}
    suite = suite_of(spec)
    assert derived_ids(suite) == ["declared-tools", "workflow-facts"]
    assert suite.constants["DECLARED_TOOLS"] == [
        "send",
        "mail.send",
        "chief",
        "guard",
        "writer",
    ]
    # The node that it executes resolves: the card is not here, the member is.
    assert "writer" in suite.constants["WORKFLOW"]["members"]
    overlay: dict[str, Any] = {
        "criteria": {"one-holder": {"check": {"facts.single_holders": {}}}}
    }
    found = [p for p in resolved(spec, overlay).problems if p.level == "error"]
    assert [problem.code for problem in found] == ["HX512"]


def test_checks_of_a_team_get_who_observes_and_who_dispatches() -> None:
    suite = suite_of(
        team(criteria=[criterion("watch")]),
        {"criteria": {"watch": {"check": {"facts.observers_never_dispatch": {}}}}},
    )
    assert suite.constants["OBSERVERS"] == ["guard"]
    assert suite.constants["DISPATCH"] == {"chief": ["writer"]}


def test_a_workflow_is_a_subject_without_a_prompt() -> None:
    spec = card(context=[read("files")], actions=[action("send")], workflow=None)
    spec["kind"] = "Workflow"
    del spec["spec"]["agent"]
    spec["spec"]["workflow"] = WORKFLOW
    suite = suite_of(spec)
    assert (suite.subject.kind, suite.subject.system_prompt) == ("workflow", "")
    assert suite.constants["WORKFLOW"]["entry"] == "start"


# -- targets and engine ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "engine", "target", "expected"),
    [
        ([CODE_TARGET], "auto", None, ("py", "code-written")),
        ([HARNESS_TARGET, CODE_TARGET], "auto", None, ("py", "code-written")),
        ([HARNESS_TARGET, CODE_TARGET], "auto", "host", ("host", "native-matrix")),
        ([PLATFORM_TARGET, HARNESS_TARGET], "auto", None, ("cloud", "native-matrix")),
        ([HARNESS_TARGET, CODE_TARGET], "native-matrix", None, ("py", "native-matrix")),
        ([HARNESS_TARGET, CODE_TARGET], "code-written", None, ("py", "code-written")),
        ([], "auto", None, ("unknown", "code-written")),
    ],
)
def test_the_engine_follows_the_target(
    targets: list[Any], engine: Any, target: str | None, expected: tuple[str, str]
) -> None:
    suite = suite_of(card(targets=targets), engine=engine, target=target)
    assert (suite.target.id, suite.engine) == expected
    assert suite.subject.harness == suite.target.name


@pytest.mark.parametrize(
    ("target", "why"),
    [(HARNESS_TARGET, "is a harness"), (PLATFORM_TARGET, "platform-config, not code")],
)
def test_code_written_for_a_native_target_is_an_error_that_says_why(
    target: dict[str, Any], why: str
) -> None:
    spec = card(targets=[target, CODE_TARGET])
    result = resolved(spec, engine="code-written", target=target["id"])
    (problem,) = result.problems
    assert (problem.code, problem.level) == ("HX509", "error")
    assert why in problem.message
    assert "--engine native-matrix" in problem.hint and "`py`" in problem.hint
    assert problem.excerpt.strip().startswith('"targets"')
    assert result.suite is None


def test_a_target_that_is_not_there_is_an_error_with_those_that_are() -> None:
    (problem,) = resolved(card(), target="pi").problems
    assert (problem.code, problem.hint) == ("HX508", "its targets are `py`")


@pytest.mark.parametrize(
    ("framework", "engine", "harness"),
    [
        ("langgraph", "code-written", "langgraph"),
        ("harness:codex", "native-matrix", "codex"),
    ],
)
def test_the_target_of_0_2_is_its_framework(
    framework: str, engine: str, harness: str
) -> None:
    suite = suite_of(card_v02(framework=framework))
    assert (suite.engine, suite.subject.harness) == (engine, harness)
    result = resolved(card_v02(framework=framework), engine="code-written")
    assert [p.code for p in result.problems] == (
        ["HX509"] if harness == "codex" else []
    )


# -- criteria --------------------------------------------------------------------------


def test_a_code_check_without_a_binding_is_a_function_to_fill_in() -> None:
    found = only(suite_of(card(criteria=[criterion("c")])))
    assert (found.method, found.check, found.judge) == (
        "deterministic",
        Check(call=None),
        None,
    )
    assert (found.severity, found.aggregate) == ("HIGH", every())
    assert (found.statement, found.goal) == ("c holds.", "No breach")


def test_a_judged_criterion_has_two_definitions_of_its_own_words() -> None:
    found = only(suite_of(card(criteria=[criterion("c", "llm-judge")])))
    assert (found.method, found.check) == ("llm-judge", None)
    assert found.judge is not None
    assert found.judge.pass_when == "c holds. That means: no breach."
    assert found.judge.fail_when.endswith("One place is enough, and it can be cited.")


@pytest.mark.parametrize(
    "goal",
    ["At least 95% of golden cases", "> 0.9 mean", "Pass on all three runs", "9/10 ok"],
)
def test_a_goal_over_many_runs_is_not_put_to_a_judge_of_one(goal: str) -> None:
    spec = card(criteria=[criterion("c", "llm-judge", goal=goal)])
    judge = only(suite_of(spec)).judge
    assert judge is not None and goal not in judge.pass_when + judge.fail_when


@pytest.mark.parametrize(
    ("kind", "says", "method", "has_check", "has_judge"),
    [
        ("code-check", {}, "deterministic", True, False),
        ("code-check", {"method": "hybrid"}, "hybrid", True, True),
        ("code-check", {"method": "llm-judge"}, "llm-judge", False, True),
        ("llm-judge", {}, "llm-judge", False, True),
        ("llm-judge", {"method": "hybrid"}, "hybrid", True, True),
        ("llm-judge", {"method": "deterministic"}, "deterministic", True, False),
        ("llm-judge", {"check": {"output.present": {}}}, "hybrid", True, True),
    ],
)
def test_the_overlay_says_how_a_criterion_is_decided(
    kind: str, says: dict[str, Any], method: str, has_check: bool, has_judge: bool
) -> None:
    spec = card(criteria=[criterion("c", kind)])
    found = only(suite_of(spec, {"criteria": {"c": says}}))
    assert found.method == method
    assert (found.check is not None, found.judge is not None) == (has_check, has_judge)


def test_everything_the_overlay_says_of_a_criterion_is_taken() -> None:
    says = {
        "severity": "CRIT",
        "method": "hybrid",
        "check": {"tools.called": {"name": "send"}},
        "aggregate": {"pass^k": 3},
        "pass_when": "It does.",
        "fail_when": "It does not.",
        "judge_inputs": ["output", "expected"],
        "renamed_from": "old",
    }
    found = only(suite_of(card(criteria=[criterion("c")]), {"criteria": {"c": says}}))
    assert found.severity == "CRIT"
    assert found.check == Check(
        call=PrimitiveCall(primitive="tools.called", arguments={"name": "send"})
    )
    assert found.judge is not None
    assert (found.judge.pass_when, found.judge.fail_when) == (
        "It does.",
        "It does not.",
    )
    assert found.judge.inputs == ("output", "expected")
    assert found.aggregate == pass_k(3)
    assert found.renamed_from == "old"


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("all", every()),
        ({"rate": ">= 0.95"}, rate(">= 0.95")),
        ({"mean": "> 0.9"}, mean("> 0.9")),
    ],
)
def test_an_aggregate_is_that_of_the_runtime(says: Any, expected: Any) -> None:
    spec = card(criteria=[criterion("c")])
    found = only(suite_of(spec, {"criteria": {"c": {"aggregate": says}}}))
    assert found.aggregate == expected


def test_what_has_no_effect_is_said() -> None:
    overlay = {"criteria": {"c": {"pass_when": "x", "judge_inputs": ["output"]}}}
    problems = resolved(card(criteria=[criterion("c")]), overlay).problems
    assert [(p.code, p.level, p.file) for p in problems] == [
        ("HX511", "warning", "clerk.evals.yaml")
    ] * 2


# -- scope -----------------------------------------------------------------------------


def mapped() -> dict[str, Any]:
    return card(
        criteria=[criterion("one"), criterion("both"), criterion("free")],
        scenarios=[scenario("busy")],
        datasets=[
            dataset("d1", mapsTo={"criteria": ["one", "both"], "jobs": ["answer"]}),
            dataset("d2", mapsTo={"criteria": ["both"], "jobs": ["answer"]}),
        ],
    )


def test_a_criterion_judges_the_datasets_that_map_it_or_every_case() -> None:
    suite = suite_of(mapped())
    scopes = {c.id: c.scope for c in suite.criteria if c.source == "spec"}
    assert scopes == {
        "one": Scope(datasets=("d1",)),
        "both": Scope(datasets=("d1", "d2")),
        "free": Scope(),
    }
    assert suite.jobs == {"answer": ("d1", "d2")}
    assert suite.datasets == ("d1", "d2")


def test_applies_to_narrows_and_never_widens() -> None:
    overlay = {
        "criteria": {
            "both": {"applies_to": {"datasets": ["d2"], "scenarios": ["busy"]}},
            "free": {"applies_to": {"datasets": ["d2"]}},
        }
    }
    criteria = by_id(suite_of(mapped(), overlay))
    assert criteria["both"].scope == Scope(
        datasets=("d2",), scenarios=("busy",), narrowed=True
    )
    assert criteria["free"].scope == Scope(datasets=("d2",), narrowed=True)

    result = resolved(
        mapped(), {"criteria": {"one": {"applies_to": {"datasets": ["d2"]}}}}
    )
    (problem,) = result.problems
    assert (problem.code, problem.level) == ("HX510", "error")
    assert "`d1`" in problem.hint


def test_a_dataset_that_no_criterion_judges_is_a_warning() -> None:
    spec = card(
        criteria=[criterion("one")],
        datasets=[dataset("d1", mapsTo={"criteria": ["one"]}), dataset("d2")],
    )
    (problem,) = resolved(spec).problems
    assert (problem.code, problem.level) == ("HX513", "warning")
    assert "`d2`" in problem.message


def test_in_0_2_every_criterion_judges_every_case() -> None:
    old = card_v02(
        success_criteria=[
            {"id": "c", "criterion": "Holds.", "type": "code-check", "goal": "Always"}
        ]
    )
    assert only(suite_of(old)).scope == Scope()


# -- derived criteria ------------------------------------------------------------------


def full(**expected: Any) -> dict[str, Any]:
    return card(
        context=[read("files", "files.get")],
        actions=[action("send", "mail.send")],
        workflow=WORKFLOW,
        scenarios=[scenario("busy"), scenario("quiet")],
        datasets=[
            dataset(
                "d",
                items=[
                    {
                        "id": "i",
                        "scenarioRef": "busy",
                        "input": "Hi",
                        "expected": expected,
                    }
                ],
            )
        ],
    )


EXPECTS_ALL: dict[str, Any] = {
    "actionCalls": [],
    "path": ["start", "end"],
    "nodeOutputs": [{"nodeRef": "end", "output": {"ok": True}}],
}


def test_everything_that_can_be_derived_is() -> None:
    suite = suite_of(full(**EXPECTS_ALL))
    assert derived_ids(suite) == [name for name in DERIVED if name != "action-holders"]
    for found in suite.criteria:
        assert (found.severity, found.goal) == ("MED", "")
    calls = {c.id: c.check.call for c in suite.criteria if c.check}
    assert calls["expected-actions"] == PrimitiveCall(
        primitive="expect.actions",
        arguments={
            "outbound": Constant("OUTBOUND_ACTIONS"),
            "operations": Constant("ACTION_OPERATIONS"),
        },
    )
    assert suite.constants["OUTBOUND_ACTIONS"] == ["send", "mail.send"]
    assert suite.constants["ACTION_OPERATIONS"] == {"send": ["mail.send"]}
    assert suite.constants["DECLARED_TOOLS"] == [
        "files",
        "files.get",
        "send",
        "mail.send",
    ]
    assert suite.constants["WORKFLOW_NODES"] == ["start", "end"]
    assert suite.constants["WORKFLOW"] == {
        "entry": "start",
        "nodes": [
            {
                "id": "start",
                "executor": None,
                "contextRefs": ["files"],
                "edges": [
                    {"to": "end", "condition": "found", "loop": None},
                    {"to": "start", "condition": None, "loop": {"maxIterations": 2}},
                ],
                "terminal": False,
            },
            {
                "id": "end",
                "executor": {"kind": "action", "ref": "send"},
                "contextRefs": [],
                "edges": [],
                "terminal": True,
            },
        ],
        "actions": [{"id": "send", "approval": "required"}],
        "contexts": ["files"],
        "members": [],
    }


def test_the_derived_judge_leaves_its_scope_to_what_a_case_expects() -> None:
    found = by_id(suite_of(full()))["scenario-behavior"]
    assert found.method == "llm-judge"
    assert found.scope == Scope()


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        ({"response": "prose"}, set()),
        ({"actionCalls": "none are made"}, set()),
        ({"hostActions": ["send"]}, {"expected-actions"}),
        ({"path": []}, {"expected-path"}),
        ({"memberOutputs": [{"memberRef": "m", "output": "Some prose."}]}, set()),
        (
            {"memberOutputs": [{"memberRef": "m", "output": "blocked"}]},
            {"expected-outputs"},
        ),
        ({"nodeOutputs": [{"nodeRef": "n", "output": 0}]}, {"expected-outputs"}),
    ],
)
def test_an_expectation_is_checked_only_where_it_is_data(
    expected: dict[str, Any], names: set[str]
) -> None:
    found = {i for i in derived_ids(suite_of(full(**expected))) if "expected" in i}
    assert found == names


def test_a_harness_may_have_tools_of_its_own() -> None:
    assert "declared-tools" not in derived_ids(suite_of(full(), engine="native-matrix"))


def test_derive_turns_off_by_name() -> None:
    overlay = {"derive": {"scenario-behavior": "off", "declared-tools": "on"}}
    assert derived_ids(suite_of(full(), overlay)) == [
        "declared-tools",
        "workflow-facts",
    ]


def test_a_derived_id_that_the_spec_has_gets_a_suffix() -> None:
    spec = full()
    spec["spec"]["evaluation"]["criteria"] = [
        criterion("workflow-facts"),
        criterion("workflow-facts-derived"),
    ]
    ids = [c.id for c in suite_of(spec).criteria]
    assert len(set(ids)) == len(ids)
    assert "workflow-facts-derived-derived" in ids


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("workflow-facts", {"facts.workflow_resolves": {}}),
        ("expected-path", {"expect.path": {}}),
        ("expected-actions", {"expect.actions": {}}),
        ("expected-outputs", {"expect.outputs": {}}),
        ("declared-tools", {"tools.only_declared": {}}),
        # The owner knows better which tools there are.
        ("declared-tools", {"tools.only_declared": {"declared": ["send", "wait"]}}),
    ],
)
def test_what_a_criterion_of_the_spec_asks_is_not_derived_again(
    name: str, check: dict[str, Any]
) -> None:
    spec = full(**EXPECTS_ALL)
    spec["spec"]["evaluation"]["criteria"] = [criterion("mine")]
    before = derived_ids(suite_of(spec))
    assert name in before
    found = resolved(spec, {"criteria": {"mine": {"check": check}}})
    assert found.suite is not None
    assert derived_ids(found.suite) == [each for each in before if each != name]
    assert [note for note in found.notes if "asks the same" in note] == [
        f"`{name}` is not derived: `mine` asks the same, and one failure would count "
        "twice."
    ]


@pytest.mark.parametrize(
    "overlay",
    [
        {"derive": {"expected-path": "on"}},
        {"criteria": {"expected-path": {"severity": "HIGH"}}},
    ],
)
def test_what_the_overlay_names_is_derived_all_the_same(
    overlay: dict[str, Any],
) -> None:
    spec = full(**EXPECTS_ALL)
    spec["spec"]["evaluation"]["criteria"] = [criterion("mine")]
    mine: dict[str, Any] = {"mine": {"check": {"expect.path": {}}}}
    says = {**overlay, "criteria": {**mine, **overlay.get("criteria", {})}}
    assert "expected-path" in derived_ids(suite_of(spec, says))


@pytest.mark.parametrize(
    ("check", "applies_to"),
    [
        ({"expect.path": {"nodes": ["start"]}}, None),  # other nodes: another question
        ({"workflow.equals": {"path": ["start"]}}, None),
        ({"expect.path": {}}, {"scenarios": ["busy"]}),  # not of every case
    ],
)
def test_another_question_or_fewer_cases_leave_a_derived_criterion(
    check: dict[str, Any], applies_to: Any
) -> None:
    spec = full(**EXPECTS_ALL)
    spec["spec"]["evaluation"]["criteria"] = [criterion("mine")]
    says: dict[str, Any] = {"check": check}
    if applies_to is not None:
        says["applies_to"] = applies_to
    assert "expected-path" in derived_ids(suite_of(spec, {"criteria": {"mine": says}}))


def test_a_criterion_of_one_dataset_leaves_the_derived_one_to_the_others() -> None:
    spec = full(**EXPECTS_ALL)
    evaluation = spec["spec"]["evaluation"]
    evaluation["criteria"] = [criterion("mine")]
    (first,) = evaluation["datasets"]
    second = {**first, "id": "more", "mapsTo": {}}
    first["mapsTo"] = {**first["mapsTo"], "criteria": ["mine"]}
    overlay: dict[str, Any] = {"criteria": {"mine": {"check": {"expect.path": {}}}}}
    assert "expected-path" not in derived_ids(suite_of(spec, overlay))
    evaluation["datasets"] = [first, second]
    assert "expected-path" in derived_ids(suite_of(spec, overlay))
    # A fact of the spec is the same in every case.
    overlay = {"criteria": {"mine": {"check": {"facts.workflow_resolves": {}}}}}
    assert "workflow-facts" not in derived_ids(suite_of(spec, overlay))


def test_actions_are_not_compared_where_the_spec_has_none() -> None:
    spec = full(**EXPECTS_ALL)
    del spec["spec"]["agent"]["workflow"]
    spec["spec"]["actions"] = []
    spec["spec"]["evaluation"]["criteria"] = [criterion("mine")]
    overlay: dict[str, Any] = {"criteria": {"mine": {"check": {"expect.actions": {}}}}}
    (problem,) = resolved(spec, overlay).problems
    assert (problem.code, problem.level) == ("HX512", "error")
    assert "expected-actions" not in derived_ids(suite_of(spec))


def test_the_overlay_changes_a_derived_criterion_by_its_id() -> None:
    overlay = {
        "criteria": {
            "scenario-behavior": {
                "severity": "HIGH",
                "pass_when": "It does.",
                "aggregate": {"rate": ">= 0.8"},
                "applies_to": {"scenarios": ["quiet"]},
            }
        }
    }
    found = by_id(suite_of(full(), overlay))["scenario-behavior"]
    assert found.severity == "HIGH" and found.judge is not None
    assert found.judge.pass_when == "It does."
    assert found.aggregate == rate(">= 0.8")
    assert found.scope == Scope(scenarios=("quiet",), narrowed=True)


def test_only_the_facts_that_checks_refer_to_are_kept() -> None:
    spec = full()
    spec["spec"]["evaluation"]["criteria"] = [criterion("c")]
    overlay = {
        "criteria": {"c": {"check": {"tools.only_declared": {}}}},
        "derive": {"declared-tools": "off", "workflow-facts": "off"},
    }
    assert list(suite_of(spec, overlay).constants) == ["DECLARED_TOOLS"]


def test_a_check_on_a_fact_that_the_spec_lacks_is_an_error() -> None:
    spec = card(criteria=[criterion("c")])
    overlay: dict[str, Any] = {"criteria": {"c": {"check": {"expect.path": {}}}}}
    (problem,) = resolved(spec, overlay).problems
    assert (problem.code, problem.file) == ("HX512", "clerk.evals.yaml")
    overlay = {"criteria": {"c": {"check": {"expect.path": {"nodes": ["a"]}}}}}
    assert not resolved(spec, overlay).problems


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"tools.not_called": {"name": "sned"}}, "did you mean `send`?"),
        ({"tools.none_called": {"names": ["send", "xyz"]}}, "tools of the spec:"),
        (
            {"combine.negate": {"verdict": {"tools.called": {"name": "sned"}}}},
            "did you mean `send`?",
        ),
        (
            {"tools.approved": {"actions": ["send"], "approvals": ["*"]}},
            "tools of the spec:",
        ),
        ({"tools.before": {"first": "run", "then": "sned"}}, "did you mean `send`?"),
    ],
)
def test_a_check_that_looks_for_no_tool_of_the_spec_is_a_warning(
    call: dict[str, Any], said: str
) -> None:
    spec = full(actionCalls=[])
    spec["spec"]["evaluation"]["criteria"] = [criterion("c")]
    spec["spec"]["actions"] = [action("send", "run")]
    overlay: dict[str, Any] = {"criteria": {"c": {"check": call}}}
    (problem,) = resolved(spec, overlay).problems
    assert (problem.code, problem.level) == ("HX514", "warning")
    assert said in problem.hint
    # Any spelling that a host uses is the tool.
    overlay = {
        "criteria": {"c": {"check": {"tools.not_called": {"name": "mcp__a__RUN"}}}}
    }
    assert not resolved(spec, overlay).problems


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"workflow.never_visits": {"avoided": ["ned"]}}, "did you mean `end`?"),
        ({"workflow.visits": {"path": ["start", "xyz"]}}, "nodes of the workflow:"),
        (
            {"combine.negate": {"verdict": {"workflow.ends_at": {"ends": ["ende"]}}}},
            "did you mean `end`?",
        ),
        (
            {"workflow.visit_count": {"node": "end", "nodes": ["begin"], "at_most": 1}},
            "nodes of the workflow: `begin`",
        ),
    ],
)
def test_a_check_that_looks_for_no_node_of_the_workflow_is_a_warning(
    call: dict[str, Any], said: str
) -> None:
    spec = full()
    spec["spec"]["evaluation"]["criteria"] = [criterion("c")]
    overlay: dict[str, Any] = {"criteria": {"c": {"check": call}}}
    found = [p for p in resolved(spec, overlay).problems if p.code == "HX515"]
    assert [problem.level for problem in found] == ["warning"]
    assert said in found[0].hint
    known = {"workflow.never_visits": {"avoided": ["END", "start"]}}
    overlay = {"criteria": {"c": {"check": known}}}
    assert "HX515" not in [p.code for p in resolved(spec, overlay).problems]


def test_of_a_harness_only_a_tool_that_looks_misspelt_is_told() -> None:
    spec = full(actionCalls=[])
    spec["spec"]["evaluation"]["criteria"] = [criterion("c")]
    spec["spec"]["actions"] = [action("send", "run")]
    spec["spec"]["targets"] = [HARNESS_TARGET]
    for name, codes in (("Bash", []), ("sned", ["HX514"])):
        overlay = {"criteria": {"c": {"check": {"tools.not_called": {"name": name}}}}}
        assert [p.code for p in resolved(spec, overlay).problems] == codes


def test_what_records_an_approval_is_declared_by_the_check_that_waits_for_it() -> None:
    spec = full(actionCalls=[])
    spec["spec"]["evaluation"]["criteria"] = [criterion("c")]
    check = {"tools.approved": {"actions": ["send"], "approvals": ["ask_customer"]}}
    found = resolved(spec, {"criteria": {"c": {"check": check}}})
    assert found.problems == []
    assert found.suite is not None
    declared = found.suite.constants["DECLARED_TOOLS"]
    assert declared[-1] == "ask_customer"
    assert declared.count("ask_customer") == 1


@pytest.mark.parametrize("name", ["send", "SEND"])
def test_an_approval_that_is_a_tool_of_the_spec_stands_once(name: str) -> None:
    spec = full(actionCalls=[])
    spec["spec"]["evaluation"]["criteria"] = [criterion("c")]
    check = {"tools.approved": {"actions": ["run"], "approvals": [name]}}
    suite = suite_of(spec, {"criteria": {"c": {"check": check}}})
    folded = [each.casefold() for each in suite.constants["DECLARED_TOOLS"]]
    assert folded.count("send") == 1


def test_an_operation_of_both_a_read_and_an_action_is_said_to_count() -> None:
    spec = full(actionCalls=[])
    spec["spec"]["context"] = [read("files", "run")]
    spec["spec"]["actions"] = [action("send", "run")]
    (note,) = resolved(spec).notes
    assert "`run`" in note


# -- the rest --------------------------------------------------------------------------


def test_the_judge_and_the_target_of_the_overlay_are_kept() -> None:
    overlay = {
        "judge": {"provider": "openai", "model": "m-1"},
        "target": "python:app.agent:run",
    }
    suite = suite_of(card(), overlay)
    assert suite.pin == Pin(provider="openai", model="m-1", base_url=None)
    assert suite.target_ref == "python:app.agent:run"
    assert suite_of(card()).pin == Pin()


def test_an_empty_overlay_changes_nothing() -> None:
    assert suite_of(full(), {}) == suite_of(full())


def test_a_spec_with_errors_has_no_suite_and_no_further_problems(
    tmp_path: Path,
) -> None:
    broken = read_spec(b"schema_version: '0.2.0'\n", file="a.yaml")
    result = resolve(
        broken, None, engine="auto", target=None, folder=tmp_path, items={}
    )
    assert (result.suite, result.problems) == (None, [])


def test_nothing_to_judge_is_a_suite_all_the_same() -> None:
    suite = suite_of(card())
    assert suite.criteria == () and suite.cases == () and suite.datasets == ()


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    spec = mapped()
    spec["spec"]["targets"] = [HARNESS_TARGET]
    overlay = {"criteria": {"one": {"applies_to": {"datasets": ["d2"]}}}}
    rows = tmp_path / "x.jsonl"
    rows.write_text("{\n")
    result = resolved(
        spec, overlay, engine="code-written", items={"d1": rows, "d9": rows}
    )
    assert {p.code for p in result.problems} == {"HX502", "HX507", "HX509", "HX510"}
