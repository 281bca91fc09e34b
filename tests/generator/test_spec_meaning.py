"""What must hold between the parts of a spec, each rule with its place and its hint."""

import random
from typing import Any

import pytest
from helix_gen.problems import Problem
from helix_gen.spec.graph import reached, returning_edges
from helix_gen.spec.read import read_spec
from hypothesis import given
from hypothesis import strategies as st
from support.spec_texts import AGENT, MULTI_AGENT, SKILL, V02, VALID, WORKFLOW, broken

GRAPH = "nodes:\n      - { id: a"


def problems(text: str) -> list[Problem]:
    return read_spec(text.encode(), file="spec.yaml").problems


def only(text: str) -> Problem:
    found = problems(text)
    assert len(found) == 1, [p.message for p in found]
    return found[0]


def workflow(nodes: str) -> str:
    """The workflow card with other nodes."""
    start = WORKFLOW.index("    nodes:\n")
    end = WORKFLOW.index("  targets:")
    return f"{WORKFLOW[:start]}    nodes:\n{nodes}{WORKFLOW[end:]}"


# -- the body that fits the kind -------------------------------------------------------


def test_a_leaked_body_and_the_missing_one_are_two_faults() -> None:
    text = broken(SKILL, "kind: Skill", "kind: Workflow")
    found = problems(text)
    assert [p.code for p in found] == ["HX203", "HX202"]
    assert found[0].message == "a card of the kind Workflow needs `spec.workflow`"
    assert found[0].excerpt == "spec:"
    assert found[1].excerpt == "  skill:"
    assert "make the kind `Skill`" in found[1].hint


def test_members_have_the_body_of_their_kind_too() -> None:
    old = "        kind: Agent\n        metadata: { id: writer"
    text = broken(MULTI_AGENT, old, old.replace("Agent", "Skill"))
    assert [p.code for p in problems(text)] == ["HX203", "HX202"]


# -- workflows -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code", "message", "hint"),
    [
        (
            "entry: look",
            "entry: lok",
            "HX204",
            "there is no node `lok`",
            "did you mean `look`",
        ),
        (
            "edges: [{ to: pay }]",
            "edges: [{ to: pai }, { to: pay }]",
            "HX204",
            "there is no node `pai`",
            "did you mean `pay`",
        ),
        (
            "ref: refund",
            "ref: send",
            "HX204",
            "there is no action `send`",
            "actions in `spec.actions` (line 22): `refund`",
        ),
        (
            "contextRefs: [orders]",
            "contextRefs: [mail]",
            "HX204",
            "there is no context `mail`",
            "context entries in `spec.context` (line 16): `orders`",
        ),
        (
            "{ kind: action, ref: refund }",
            "{ kind: member, ref: refund }",
            "HX204",
            "there is no member `refund`",
            "only a card of the kind MultiAgent has members; `kind: agent`",
        ),
        (
            "{ id: done, description: Done., terminal: true }",
            "{ id: done, description: Done., terminal: true }\n"
            "          - { id: lonely, description: L., terminal: true }",
            "HX205",
            "no way leads from the entry `look` to the node `lonely`",
            "add an edge to it",
        ),
        (
            "{ to: look, loop: { maxIterations: 2 } }",
            "{ to: look }",
            "HX206",
            "this edge closes a loop without a bound: `look` → `pay` → `look`",
            "maxIterations",
        ),
        (
            "{ to: look, loop: { maxIterations: 2 } }",
            "{ to: look, loop: {} }",
            "HX206",
            "this edge closes a loop without a bound: `look` → `pay` → `look`",
            "exitWhen",
        ),
    ],
)
def test_a_workflow_resolves_is_reached_and_is_bounded(
    old: str, new: str, code: str, message: str, hint: str
) -> None:
    problem = only(broken(AGENT, old, new))
    assert (problem.code, problem.level) == (code, "error")
    assert problem.message == message
    assert hint in problem.hint


def test_a_misspelt_edge_is_one_problem_and_makes_no_node_unreached() -> None:
    problem = only(broken(AGENT, "edges: [{ to: pay }]", "edges: [{ to: pya }]"))
    assert problem.code == "HX204"
    assert "did you mean `pay`" in problem.hint


@pytest.mark.parametrize("policy", ["requried", "Required", "require"])
def test_a_policy_that_is_nearly_required_gates_nothing_and_is_told(
    policy: str,
) -> None:
    problem = only(broken(AGENT, "policy: required", f"policy: {policy}"))
    assert (problem.code, problem.level) == ("HX214", "warning")
    assert problem.excerpt[problem.position.column - 1 :].startswith(policy)


@pytest.mark.parametrize("policy", ["none", "not required", "by amount"])
def test_another_policy_is_left_alone(policy: str) -> None:
    assert problems(broken(AGENT, "policy: required", f"policy: {policy}")) == []


def test_a_version_that_lost_its_end_hides_no_other_fault() -> None:
    text = broken(AGENT, "agentspec.mutagent.io/v0.3.0", "agentspec.mutagent.io/v0.3")
    assert [problem.code for problem in problems(text)] == ["HX021"]
    text = broken(text, "type: code-check", "type: codecheck")
    assert [problem.code for problem in problems(text)] == ["HX021", "HX104"]


def test_a_subagent_of_0_2_may_have_its_hosts_tools_but_no_misspelt_one() -> None:
    helper = "instructions: Help. }"
    hosts = "instructions: Help., tools: [Bash, search, format] }"
    assert problems(broken(V02, helper, hosts)) == []
    problem = only(broken(V02, helper, "instructions: Help., tools: [serach] }"))
    assert (problem.code, problem.level) == ("HX204", "warning")
    assert problem.hint == "did you mean `search`?"


def test_a_loop_bounded_by_a_condition_is_bounded() -> None:
    text = broken(AGENT, "loop: { maxIterations: 2 }", "loop: { exitWhen: paid }")
    assert problems(text) == []


def test_an_edge_to_its_own_node_returns() -> None:
    nodes = "      - { id: a, description: A., edges: [{ to: a }, { to: b }] }\n"
    nodes += "      - { id: b, description: B., terminal: true }\n"
    problem = only(workflow(nodes))
    assert problem.message.endswith("`a` → `a`")


def test_only_the_edge_that_returns_needs_the_bound() -> None:
    nodes = "      - { id: a, description: A., edges: [{ to: b }, { to: c }] }\n"
    nodes += "      - { id: b, description: B., edges: [{ to: c }] }\n"
    nodes += "      - { id: c, description: C., terminal: true }\n"
    assert problems(workflow(nodes)) == []


def test_a_loop_that_nothing_reaches_is_still_unbounded() -> None:
    nodes = "      - { id: a, description: A., terminal: true }\n"
    nodes += "      - { id: b, description: B., edges: [{ to: c }] }\n"
    nodes += "      - { id: c, description: C., edges: [{ to: b }] }\n"
    assert [p.code for p in problems(workflow(nodes))] == ["HX205", "HX205", "HX206"]


def test_a_chain_of_many_nodes_is_walked_without_recursion() -> None:
    count = 5000
    nodes = "".join(
        f"      - {{ id: n{i}, description: N., edges: [{{ to: n{i + 1} }}] }}\n"
        for i in range(count)
    ).replace(" id: n0,", " id: a,")
    nodes += f"      - {{ id: n{count}, description: End., terminal: true }}\n"
    assert problems(workflow(nodes)) == []


def test_ends_that_do_not_agree_are_warnings() -> None:
    text = broken(WORKFLOW, "terminal: true", "terminal: true, edges: [{ to: b }]")
    found = problems(text)
    assert [(p.code, p.level) for p in found] == [
        ("HX213", "warning"),
        ("HX206", "error"),
    ]
    text = broken(WORKFLOW, ", terminal: true", "")
    assert [(p.code, p.level) for p in problems(text)] == [("HX213", "warning")]


def test_executors_that_the_format_does_not_place_are_warnings() -> None:
    problem = only(broken(WORKFLOW, "ref: sort", "ref: sord"))
    assert (problem.code, problem.level) == ("HX204", "warning")
    assert "did you mean `sort`" in problem.hint


def test_a_workflow_slot_has_one_of_its_two_forms() -> None:
    text = broken(
        MULTI_AGENT,
        "    workflow:\n      inline:",
        "    workflow:\n      ref: ./x\n      inline:",
    )
    assert [(p.code, p.level) for p in problems(text)] == [("HX212", "warning")]


def test_a_broken_list_starts_no_cascade() -> None:
    text = broken(
        AGENT,
        "  actions:\n    - id: refund\n",
        "  actions: none\n  x:\n    - id: refund\n",
    )
    assert [p.code for p in problems(text)] == ["HX103", "HX101"]


# -- members ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("orchestrator: lead", "orchestrator: boss", "HX204", "no member `boss`"),
        ("{ lead: [writer] }", "{ leed: [writer] }", "HX204", "no member `leed`"),
        ("{ lead: [writer] }", "{ lead: [writr] }", "HX204", "no member `writr`"),
        ("observes: {}", "observes: { lead: [nobody] }", "HX204", "no member `nobody`"),
        (
            "{ lead: [writer] }",
            "{ lead: [writer], writer: [lead] }",
            "HX207",
            "in a circle: `lead` → `writer` → `lead`",
        ),
        ("{ lead: [writer] }", "{ lead: [lead] }", "HX207", "`lead` → `lead`"),
        ("contextRefs: [notes]", "contextRefs: [mail]", "HX204", "no context `mail`"),
        ("actionRefs: [publish]", "actionRefs: [send]", "HX204", "no action `send`"),
        (
            "#spec/intent/jobs/write",
            "#spec/intent/jobs/read",
            "HX204",
            "no `read` in `spec.intent.jobs`",
        ),
        ("#spec/intent/jobs/write", "intent", "HX204", "no reference into the intent"),
        ("{ id: writer,", "{ id: lead,", "HX201", "the member `lead` stands here a"),
        (
            "entry: x\n",
            "entry: y\n",
            "HX204",
            "there is no node `y`",
        ),
        (
            "nodes: [{ id: x, description: X., terminal: true }]",
            "nodes: [{ id: x, description: X., terminal: true, "
            "executor: { kind: action, ref: nope } }]",
            "HX204",
            "no action `nope`",
        ),
        (
            "executor: { kind: member, ref: writer }",
            "executor: { kind: member, ref: w }",
            "HX204",
            "no member `w`",
        ),
    ],
)
def test_members_and_their_relations_resolve(
    old: str, new: str, code: str, message: str
) -> None:
    found = problems(broken(MULTI_AGENT, old, new))
    assert (code, "error") in {(p.code, p.level) for p in found}
    assert any(message in p.message for p in found), [p.message for p in found]


def test_an_unknown_member_in_a_key_stands_at_the_key() -> None:
    text = broken(MULTI_AGENT, "{ lead: [writer] }", "{ lead: [writer], leed: [] }")
    problem = only(text)
    line = text.split("\n")[problem.position.line - 1]
    assert line[problem.position.column - 1 :].startswith("leed")


def test_a_member_may_have_context_and_actions_of_its_own() -> None:
    own = """\
          context:
            - id: own
              description: O.
              modalities: [text]
              source: s
              access: { kind: cli, ref: cat, allowedOperations: [read] }
          contextRefs: [own, notes]
"""
    text = broken(MULTI_AGENT, "          contextRefs: [notes]\n", own)
    assert problems(text) == []


def test_what_a_member_in_another_file_may_be_is_only_a_warning() -> None:
    text = broken(
        MULTI_AGENT, "    relations:\n", "      - specRef: ./x.yaml\n    relations:\n"
    )
    text = broken(text, "{ lead: [writer] }", "{ lead: [writer, other] }")
    problem = only(text)
    assert (problem.code, problem.level) == ("HX204", "warning")
    assert problem.hint.endswith("; cards in files of their own are not read")


@pytest.mark.parametrize(
    "file", ["./other.yaml", "cards/other.agent.yaml", "./other/agentspec.yaml"]
)
def test_a_member_in_another_file_goes_by_the_name_of_the_file(file: str) -> None:
    text = broken(
        MULTI_AGENT, "    relations:\n", f"      - specRef: {file}\n    relations:\n"
    )
    text = broken(text, "{ lead: [writer] }", "{ lead: [writer, other] }")
    assert problems(text) == []


# -- ids, targets, decisions -----------------------------------------------------------

_TWICE = {
    "context": "    - id: orders\n",
    "action": "    - id: refund\n",
    "target": "    - id: code\n",
    "dataset": "      - id: golden\n",
}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("{ id: cites,", "{ id: polite,", "criterion `polite`"),
        ("{ id: lost,", "{ id: late,", "scenario `late`"),
        ("{ id: done,", "{ id: look,", "node `look`"),
        (
            "      - { id: answer, description: Answer., expectedOutput: An answer. }",
            "      - { id: answer, description: Answer., expectedOutput: An answer. }\n"
            "      - { id: answer, description: Again., expectedOutput: An answer. }",
            "job `answer`",
        ),
        (
            "      - { id: answer, when: A customer asks., description: Look up and "
            "answer. }",
            "      - { id: answer, when: A., description: L. }\n"
            "      - { id: answer, when: B., description: L. }",
            "procedure `answer`",
        ),
        (
            "          - id: one\n",
            "          - { id: one, scenarioRef: late }\n          - id: one\n",
            "item `one`",
        ),
        (
            "          - id: parcels\n",
            "          - { id: parcels, description: P. }\n          - id: parcels\n",
            "category `parcels`",
        ),
    ],
)
def test_an_id_stands_once_in_its_list(old: str, new: str, what: str) -> None:
    found = [p for p in problems(broken(AGENT, old, new)) if p.code == "HX201"]
    assert [p.message for p in found] == [f"the {what} stands here a second time"]
    assert "the first is in line" in found[0].hint


def test_ids_of_two_kinds_may_be_the_same() -> None:
    text = AGENT.replace("id: answer", "id: late")
    text = broken(text, "jobs: [answer]", "jobs: [late]")
    assert problems(text) == []


def test_skill_inputs_and_outputs_have_names_of_their_own() -> None:
    text = broken(
        SKILL,
        "outputs: [{ name: brief, description: The brief. }]",
        "outputs: [{ name: brief, description: A. }, { name: brief, description: B. }]",
    )
    assert only(text).message == "the output `brief` stands here a second time"


@pytest.mark.parametrize("form", ["markdown", "platform-config"])
def test_an_implementation_is_for_code(form: str) -> None:
    implementation = "\n      implementation: { language: python, toolchain: uv }"
    old = "artifact: { format: code, path: a.py }"
    assert problems(broken(AGENT, old, old + implementation)) == []
    problem = only(broken(AGENT, old, old.replace("code", form) + implementation))
    assert problem.code == "HX208"
    assert problem.excerpt.strip().startswith("implementation")


@pytest.mark.parametrize(
    ("ref", "fine"),
    [
        ("./x.md", True),
        ("./a b.md", True),
        ("x.md", False),
        ("../x.md", False),
        ("./a/x.md", False),
        ("./../x.md", False),
        ("/etc/x.md", False),
        ('".\\\\x.md"', False),
        ("./x.txt", False),
        ("https://x.test/x.md", False),
    ],
)
def test_decisions_are_in_a_file_beside_the_spec(ref: str, fine: bool) -> None:
    found = problems(broken(AGENT, "./decisions.md", ref))
    assert [p.code for p in found] == ([] if fine else ["HX209"])


# -- evaluation ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code", "message", "hint"),
    [
        ("jobs: [answer]", "jobs: [anser]", "HX204", "job `anser`", "`answer`"),
        ("[late, lost]", "[late, lost, x]", "HX204", "scenario `x`", "`late`, `lost`"),
        ("[polite, cites]", "[polite, cites, y]", "HX204", "criterion `y`", "`cites`"),
        ("category: parcels", "category: parcel", "HX204", "category", "`parcels`"),
        ("scenarioRef: late", "scenarioRef: latte", "HX204", "`latte`", "`late`"),
        ("{ mood: calm }", "{ mod: calm }", "HX211", "dimension `mod`", "`mood`"),
        ("{ mood: calm }", "{ mood: clam }", "HX210", "`clam`", "`calm`"),
        ("{ mood: angry }", "{ mode: angry }", "HX211", "dimension `mode`", "`mood`"),
        ("{ mood: angry }", "{ mood: hungry }", "HX210", "`hungry`", "`angry`"),
    ],
)
def test_datasets_and_items_resolve(
    old: str, new: str, code: str, message: str, hint: str
) -> None:
    problem = only(broken(AGENT, old, new))
    assert (problem.code, problem.level) == (code, "error")
    assert message in problem.message
    assert hint in problem.hint


def test_a_value_that_lost_its_quotes_is_told_so() -> None:
    text = broken(AGENT, "values: [calm, angry]", 'values: [calm, angry, "true"]')
    problem = only(broken(text, "{ mood: calm }", "{ mood: true }"))
    assert (problem.code, problem.hint) == ("HX210", 'put it in quotes: "true"')


def test_what_nothing_maps_to_is_a_warning() -> None:
    text = broken(AGENT, "criteria: [polite, cites]", "criteria: [polite]")
    text = broken(text, "scenarios: [late, lost]", "scenarios: [late]")
    found = problems(text)
    assert [(p.code, p.level) for p in found] == [
        ("HX221", "warning"),
        ("HX222", "warning"),
    ]
    assert "it judges every case" in found[0].message


def test_an_item_maps_its_scenario() -> None:
    text = broken(AGENT, "scenarios: [late, lost]", "scenarios: [lost]")
    assert problems(text) == []


@pytest.mark.parametrize("name", ["skill", "workflow", "multi-agent", "0.2"])
def test_an_empty_evaluation_is_a_draft(name: str) -> None:
    text = VALID[name]
    if name == "0.2":
        start = text.index("    success_criteria:")
        end = text.index("build:")
        empty = (
            "    success_criteria: []\n    scenarios: []\n    dataset_categories: []\n"
        )
        text = text[:start] + empty + text[end:]
    else:
        start = text.index("    criteria:")
        text = text[:start] + "    criteria: []\n    scenarios: []\n    datasets: []\n"
    problem = only(text)
    assert (problem.code, problem.level) == ("HX220", "warning")
    assert problem.message == "the evaluation is empty: there is nothing to judge by"


# -- 0.2 -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code", "level"),
    [
        ("backed_by: [format]", "backed_by: [forma]", "HX204", "warning"),
        ("{ from: start, to: end }", "{ from: start, to: ent }", "HX204", "warning"),
        ("category: facts", "category: fact", "HX223", "warning"),
        ("nodes: [start, end]", "nodes: [start, end, end]", "HX201", "error"),
        (
            "- { id: cited, criterion: Each claim is cited., type: code-check, goal: All }",
            "- { id: cited, criterion: A., type: code-check, goal: All }\n"
            "      - { id: cited, criterion: B., type: code-check, goal: All }",
            "HX201",
            "error",
        ),
    ],
)
def test_the_older_format_says_little(
    old: str, new: str, code: str, level: str
) -> None:
    problem = only(broken(V02, old, new))
    assert (problem.code, problem.level) == (code, level)


# -- properties ------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(st.sampled_from("abcdef"), max_size=4),
        min_size=1,
    )
)
def test_without_its_returning_edges_a_graph_has_no_cycle(
    successors: dict[str, list[str]],
) -> None:
    returning = {(n, i) for n, i, _ in returning_edges(list(successors), successors)}
    rest = {
        node: [to for i, to in enumerate(edges) if (node, i) not in returning]
        for node, edges in successors.items()
    }
    for node in rest:
        for following in rest[node]:
            if following in rest:
                assert node not in reached(following, rest)


def _mutated(data: Any, choose: random.Random) -> Any:
    """Plain data with a few of its parts replaced, moved or removed."""
    strange: list[Any] = [
        None,
        True,
        0,
        -1,
        1.5,
        "",
        "x",
        [],
        {},
        [[]],
        {"id": 3},
        ["a", 1],
    ]
    if choose.random() < 0.06:
        return choose.choice(strange)
    if isinstance(data, dict):
        return {
            (
                key if choose.random() > 0.03 else choose.choice(["id", "x", key + "s"])
            ): (_mutated(value, choose))
            for key, value in data.items()
            if choose.random() > 0.03
        }
    if isinstance(data, list):
        rows = [_mutated(value, choose) for value in data if choose.random() > 0.03]
        return rows + rows[:1] if choose.random() < 0.1 else rows
    return data


@given(st.sampled_from(sorted(VALID)), st.integers(0, 2**32))
def test_no_mutation_of_a_spec_raises_and_none_is_placed_outside(
    name: str, seed: int
) -> None:
    import json

    import yaml

    data = _mutated(yaml.safe_load(VALID[name]), random.Random(seed))
    text = json.dumps(data)
    result = read_spec(text.encode(), file="f")
    assert result.card is not None or any(p.level == "error" for p in result.problems)
    for problem in result.problems:
        assert problem.position.line == 1
        assert 1 <= problem.position.column <= len(text) + 1
        assert problem.message


@given(st.sampled_from(sorted(VALID)), st.integers(0), st.binary(max_size=6))
def test_no_splice_of_bytes_raises(name: str, at: int, splice: bytes) -> None:
    data = VALID[name].encode()
    at %= len(data)
    result = read_spec(data[:at] + splice + data[at + len(splice) :], file="f")
    assert result.card is not None or result.problems
