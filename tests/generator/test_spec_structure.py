"""The structure of both formats: closed at every level, faults in plain words."""

import copy
import json
from typing import Any

import pytest
from helix_gen.problems import Problem
from helix_gen.spec import v02, v03
from helix_gen.spec.located import Path
from helix_gen.spec.read import ReadSpec, read_spec
from helix_gen.spec.yaml import read_yaml
from support.spec_texts import AGENT, MULTI_AGENT, V02, VALID, broken


def read(text: str, *, public: bool = False) -> ReadSpec:
    return read_spec(text.encode(), file="spec.yaml", public=public)


def only(text: str, *, public: bool = False) -> Problem:
    """The one problem of a text."""
    problems = read(text, public=public).problems
    assert len(problems) == 1, [p.message for p in problems]
    return problems[0]


@pytest.mark.parametrize("name", VALID)
def test_a_valid_spec_has_no_problem_at_all(name: str) -> None:
    result = read(VALID[name], public=True)
    assert result.problems == []
    model = v02.AgentSpec if name == "0.2" else v03.AgentSpec
    assert isinstance(result.card, model)
    assert len(result.sha256) == 64


def test_keys_in_camel_case_become_attributes() -> None:
    card = read(AGENT).card
    assert isinstance(card, v03.AgentSpec)
    assert card.spec.agent is not None
    assert card.spec.agent.system_prompt == "Answer."
    assert card.spec.evaluation.datasets[0].maps_to.criteria == ["polite", "cites"]
    assert card.spec.evaluation.datasets[0].items is not None


def test_members_are_cards_or_references() -> None:
    text = broken(
        MULTI_AGENT, "    relations:\n", "      - specRef: ./x.yaml\n    relations:\n"
    )
    card = read(text).card
    assert isinstance(card, v03.AgentSpec)
    assert card.spec.multi_agent is not None
    kinds = [type(member).__name__ for member in card.spec.multi_agent.members]
    assert kinds == ["MemberCard", "MemberCard", "MemberReference"]


def test_a_misspelt_key_is_one_problem_with_its_close_match() -> None:
    problem = only(broken(AGENT, "systemPrompt: Answer.", "sytemPrompt: Answer."))
    assert problem.code == "HX101"
    assert problem.message == "unknown key `sytemPrompt` in `spec.agent`"
    assert problem.hint == "did you mean `systemPrompt`?"
    assert problem.excerpt == "    sytemPrompt: Answer."
    assert problem.position.column == 5


def test_a_key_of_another_spelling_is_still_the_one_that_was_meant() -> None:
    problem = only(broken(AGENT, "nonGoals: []", "non_goals: []"))
    assert (problem.code, problem.hint) == ("HX101", "did you mean `nonGoals`?")


def test_an_unknown_key_says_which_there_are() -> None:
    problem = only(broken(AGENT, "source: shop", "source: shop\n      zoo: 1"))
    assert problem.message == "unknown key `zoo` in `spec.context[0]`"
    assert "`freshness`, `sensitivity`" in problem.hint


def test_an_unknown_key_of_a_member_is_compared_with_the_card_that_it_is() -> None:
    old = 'intentRef: "#spec/intent"\n          contextRefs'
    problem = only(broken(MULTI_AGENT, old, old.replace("contextRefs", "contextRef")))
    assert problem.hint == "did you mean `contextRefs`?"


def test_a_missing_key_stands_at_what_lacks_it() -> None:
    problem = only(broken(AGENT, "    problem: Returns take days.\n", ""))
    assert problem.code == "HX102"
    assert problem.message == "`spec.intent` lacks the key `problem`"
    assert (problem.position.line, problem.position.column) == (5, 3)


def test_a_missing_key_of_a_row_stands_at_the_row() -> None:
    problem = only(broken(AGENT, "expectedOutput: An answer.", "").replace(", }", " }"))
    assert problem.message == "`spec.intent.jobs[0]` lacks the key `expectedOutput`"
    assert problem.excerpt.lstrip().startswith("- { id: answer, description: Answer.")


def test_a_value_outside_a_vocabulary_shows_the_vocabulary() -> None:
    problem = only(broken(AGENT, "access: { kind: mcp", "access: { kind: mpc"))
    assert problem.code == "HX104"
    assert problem.message == "`mpc` is not allowed for `spec.context[0].access.kind`"
    assert problem.hint == (
        "did you mean `mcp`? one of: `cli`, `saas`, `mcp`, `sdk`, `host-tool`"
    )


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            'version: "1.0.0"',
            "version: 1.50",
            "`metadata.version` is the number `1.5`; it must be a text",
            'put it in quotes: "1.50"',
        ),
        (
            "values: [calm, angry]",
            "values: [calm, angry, true]",
            "`spec.evaluation.datasets[0].caseDimensions.mood.values[2]` is `true`; it "
            "must be a text",
            'put it in quotes: "true"',
        ),
        (
            "outcomes: [Answer within a minute.]",
            "outcomes: soon",
            "`spec.intent.outcomes` is `soon`; it must be a list",
            "write each entry in a line of its own behind `- `, or in [ ]",
        ),
        (
            "description: Done., terminal: true",
            'description: Done., terminal: "yes"',
            "`spec.agent.workflow.inline.nodes[2].terminal` is `yes`; it must be true "
            "or false",
            "write true or false, without quotes",
        ),
        (
            "    systemPrompt: Answer.",
            "    systemPrompt:",
            "`spec.agent.systemPrompt` has no value; it must be a text",
            "give it a value",
        ),
        (
            "      source: shop",
            "      source: shop\n      freshness:",
            "`spec.context[0].freshness` has no value",
            "give it a value, or leave the key out",
        ),
    ],
)
def test_wrong_types_are_named_and_mended_in_plain_words(
    old: str, new: str, message: str, hint: str
) -> None:
    problem = only(broken(AGENT, old, new))
    assert (problem.code, problem.message, problem.hint) == ("HX103", message, hint)


def test_an_empty_text_and_a_bound_below_one_are_refused() -> None:
    assert only(broken(AGENT, "evidence: Receipt.", 'evidence: ""')).code == "HX105"
    problem = only(broken(AGENT, "maxIterations: 2", "maxIterations: 0"))
    assert problem.code == "HX106"
    assert problem.message.endswith("is the number `0`; it must be at least 1")


def test_a_bool_is_no_number_and_a_number_no_bool() -> None:
    assert only(broken(AGENT, "maxIterations: 2", "maxIterations: true")).code == (
        "HX103"
    )
    assert only(broken(AGENT, "Done., terminal: true", "Done., terminal: 1")).code == (
        "HX103"
    )


@pytest.mark.parametrize("form", ["actionRef", "memberRef"])
def test_an_executor_of_an_earlier_draft_is_one_problem(form: str) -> None:
    text = broken(
        AGENT, "executor: { kind: action, ref: refund }", f"executor: {{ {form}: x }}"
    )
    problem = only(text)
    kind = form.removesuffix("Ref")
    assert problem.hint == f"write `executor: {{ kind: {kind}, ref: x }}`"


def test_status_is_for_internal_cards() -> None:
    text = broken(
        AGENT,
        "spec:\n  intent:",
        'status: { adl_stage: build, updated_at: "2026-01-01T00:00:00Z", '
        "last_verdict: x }\nspec:\n  intent:",
    )
    warning = only(text)
    assert (warning.code, warning.level) == ("HX110", "warning")
    assert read(text).card is not None
    error = only(text, public=True)
    assert (error.code, error.level) == ("HX110", "error")
    assert read(text, public=True).card is None


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    text = broken(AGENT, "kind: Agent\n", "kind: Agnt\n")
    text = broken(text, "    problem: Returns take days.\n", "")
    text = broken(text, "executor: { kind: action, ref: refund }", "executer: 3")
    text = broken(text, "scenarioRef: late", "scenarioRef: lat")
    problems = read(text).problems
    assert [p.code for p in problems] == ["HX104", "HX102", "HX101", "HX204"]
    lines = [p.position.line for p in problems]
    assert lines == sorted(lines)


def test_faults_of_yaml_and_of_structure_come_together() -> None:
    text = broken(AGENT, "    constraints: []\n", "    constraints: []\n" * 2)
    text = broken(text, "kind: Agent\n", "kind: Agnt\n")
    assert [p.code for p in read(text).problems] == ["HX104", "HX006"]


def test_a_flood_of_unknown_keys_stays_linear_and_whole() -> None:
    flood = "".join(f"  zz{i}: 1\n" for i in range(20_000))
    problems = read(V02 + flood.replace("  ", "")).problems
    assert len(problems) == 20_000


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('version: "2.0.0"\nevaluation_criteria: []\n', 1, "`version` `2.0.0`"),
        ("kind: MultiAgent\nagents: []\n", 1, "no `apiVersion`"),
        (
            'name: x\nschema_version: "agentspec.mutagent.io/v0.3.0"\n',
            2,
            "under `apiVersion`",
        ),
        ("apiVersion: agentspec.mutagent.io/v0.4.0\n", 1, "is not read"),
        ("apiVersion: apps/v1\nkind: Deployment\nspec: {}\n", 2, "`apps/v1`"),
        ('schema_version: "0.1.0"\nmeta: {}\n', 1, "AgentSpec `0.1.0` is not read"),
        ("schema_version: 0.2\ndefinition: {}\n", 1, "AgentSpec `0.2` is not read"),
        (
            "apiVersion: agentspec.mutagent.io/v0.3.0\nmeta: {}\ndefinition: {}\n",
            1,
            "stands on a body of 0.2.0",
        ),
        (
            "schema_version: 0.2.0\nmetadata: {}\nspec: {}\n",
            1,
            "stands on a body of 0.3.0",
        ),
        ('schema_version: "7"\nsubject: {}\n', 1, "its `schema_version` is `7`"),
        ("openapi: 3.0.3\npaths: {}\n", 1, "OpenAPI"),
        ("services: {}\nvolumes: {}\n", 1, "compose file"),
        ("criteria: {}\njudge: {}\n", 1, "this is an overlay"),
        ("- a\n- b\n", 1, "a list"),
        ("just text", 1, "a single value"),
        ("{}", 1, "an empty mapping"),
        ("", 1, "empty"),
    ],
)
def test_foreign_files_are_refused_with_what_we_read_and_what_they_are(
    text: str, line: int, words: str
) -> None:
    problem = only(text)
    assert problem.position.line == line
    assert words in problem.message
    said = problem.message + problem.hint
    assert "AgentSpec 0.2.0 and 0.3.0" in said
    if problem.code != "HX020" or "overlay" not in problem.message:
        assert "apiVersion: agentspec.mutagent.io/v0.3.0" in said or (
            'schema_version: "0.2.0"' in said
        )


def test_a_foreign_file_is_told_where_its_parts_would_go() -> None:
    hint = only('version: "1"\nagent: {}\nevaluation_criteria: []\n').hint
    assert "`evaluation_criteria` → `spec.evaluation.criteria`" in hint


def test_a_card_without_its_first_line_is_read_as_what_it_is() -> None:
    text = broken(AGENT, "apiVersion: agentspec.mutagent.io/v0.3.0\n", "")
    problem = only(text)
    assert problem.message == "the top level lacks the key `apiVersion`"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "- id: code",
            "- id: code2\n      type: platform\n      name: n\n      artifact: "
            "{ format: platform-config, path: p }\n      capabilityFit: f\n      "
            "documentation: [{ purpose: p, url: 'file:///C:/Users/x/a.md' }]\n    - id: code",
        ),
        (
            "artifact: { format: code, path: a.py }",
            "artifact: { format: code, path: a.py }"
            "\n      implementation: { language: Python, toolchain: pip }",
        ),
        (
            "    datasets:\n",
            "    datasets:\n      - id: later\n        description: L.\n"
            '        mapsTo: {}\n        categories: []\n        itemsRef: "hf://datasets/x '
            '(train split: tasks/{a,b,c}_train.jsonl)"\n',
        ),
        (
            'input: { message: "Where is it?" }',
            "input: { order: null, list: [1, [2]] }",
        ),
    ],
)
def test_what_real_specs_hold_is_no_error(old: str, new: str) -> None:
    result = read(broken(AGENT, old, new))
    assert result.card is not None
    assert [p for p in result.problems if p.level == "error"] == []


def _places(data: object, path: tuple[str | int, ...] = ()) -> list[Path]:
    steps = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data) if isinstance(data, list) else ()
    )
    return [path, *(p for key, each in steps for p in _places(each, (*path, key)))]


@pytest.mark.parametrize("name", VALID)
def test_a_wrong_value_anywhere_is_shown_and_told_what_to_write(name: str) -> None:
    source, _ = read_yaml(VALID[name].encode(), file="spec.yaml")
    assert source is not None
    wrong: tuple[Any, ...] = (None, 7, [], {}, [{}], "", True)
    for number, path in enumerate(_places(source.data)[1:]):
        data = copy.deepcopy(source.data)
        parent = data
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = wrong[number % len(wrong)]
        for problem in read(json.dumps(data, indent=1)).problems:
            shown = problem.excerpt.strip() and problem.hint
            assert shown or problem.level == "warning", (path, problem)


@pytest.mark.parametrize(
    ("name", "line", "written", "is_read"),
    [
        ("0.2", 'schema_version: "0.2.0"', "schema_version: 0.2", True),
        ("0.2", 'schema_version: "0.2.0"', "schema_version: v0.2.0", True),
        ("0.2", 'schema_version: "0.2.0"', "schema_version:", True),
        ("0.2", 'schema_version: "0.2.0"', "schema_version: 0.1.0", False),
        ("0.2", 'schema_version: "0.2.0"', "schema_version: 10.2", False),
        ("agent", "apiVersion: agentspec.mutagent.io/v0.3.0", "apiVersion:", True),
        ("agent", "apiVersion: agentspec.mutagent.io/v0.3.0", "apiVersion: 0.3", True),
        (
            "agent",
            "apiVersion: agentspec.mutagent.io/v0.3.0",
            "apiVersion: agentspce.mutagent.io/v0.3",
            True,
        ),
        (
            "agent",
            "apiVersion: agentspec.mutagent.io/v0.3.0",
            "apiVersion: kagent.dev/v1",
            False,
        ),
    ],
)
def test_a_slip_in_the_version_hides_no_other_fault(
    name: str, line: str, written: str, is_read: bool
) -> None:
    text = broken(V02 if name == "0.2" else AGENT, line, written) + "zzz: 1\n"
    codes = [problem.code for problem in read(text).problems]
    assert codes == (["HX021", "HX101"] if is_read else ["HX021"])
