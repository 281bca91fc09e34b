"""Small valid specs of every kind and both versions, as texts to break in one place."""

from typing import Final

AGENT: Final = """\
apiVersion: agentspec.mutagent.io/v0.3.0
kind: Agent
metadata: { id: desk, name: Desk, version: "1.0.0", description: Answers returns. }
spec:
  intent:
    problem: Returns take days.
    outcomes: [Answer within a minute.]
    sop:
      - { id: answer, when: A customer asks., description: Look up and answer. }
    jobs:
      - { id: answer, description: Answer., expectedOutput: An answer. }
    constraints: []
    nonGoals: []
    assumptions: []
    unknowns: []
  context:
    - id: orders
      description: Orders of the customer.
      modalities: [record]
      source: shop
      access: { kind: mcp, ref: "mcp://shop", allowedOperations: [order.get] }
  actions:
    - id: refund
      description: Pay back.
      binding: { kind: sdk, ref: pay }
      allowedOperations: [pay.back]
      approval: { policy: required, when: Always. }
      evidence: Receipt.
      onFailure: Stop.
  capabilities: { code: [], skills: [], delegates: [] }
  agent:
    persona: { role: Clerk, description: Calm. }
    systemPrompt: Answer.
    operatingType: conversational
    workflow:
      inline:
        state: S
        entry: look
        nodes:
          - { id: look, description: Look., contextRefs: [orders], edges: [{ to: pay }] }
          - id: pay
            description: Pay.
            executor: { kind: action, ref: refund }
            edges:
              - { to: look, loop: { maxIterations: 2 } }
              - { to: done }
          - { id: done, description: Done., terminal: true }
  targets:
    - id: code
      type: framework
      name: langgraph
      artifact: { format: code, path: a.py }
      capabilityFit: Fits.
      documentation: []
  evaluation:
    criteria:
      - { id: polite, description: The answer is polite., type: llm-judge, goal: Always }
      - { id: cites, description: It cites the order., type: code-check, goal: Always }
    scenarios:
      - { id: late, description: A parcel is late., expectedBehavior: Says when. }
      - { id: lost, description: A parcel is lost., expectedBehavior: Refunds. }
    datasets:
      - id: golden
        description: Real questions.
        mapsTo: { jobs: [answer], scenarios: [late, lost], criteria: [polite, cites] }
        categories:
          - id: parcels
            description: Parcels.
            requiredCases: [{ mood: angry }]
        caseDimensions:
          mood: { description: The mood., values: [calm, angry] }
        items:
          - id: one
            category: parcels
            scenarioRef: late
            case: { mood: calm }
            input: { message: "Where is it?" }
            expected: { actionCalls: [], path: [look, pay, done] }
  decisionsRef: ./decisions.md
"""

SKILL: Final = """\
apiVersion: agentspec.mutagent.io/v0.3.0
kind: Skill
metadata: { id: brief, name: Brief, version: "1", description: Writes briefs. }
spec:
  intent:
    { problem: P, outcomes: [], sop: [], jobs: [], constraints: [], nonGoals: [],
      assumptions: [], unknowns: [] }
  context: []
  actions: []
  capabilities: { code: [], skills: [], delegates: [] }
  skill:
    purpose: Brief.
    invocation: On request.
    instructions: Write it.
    inputs: [{ name: range, description: What., required: true }]
    outputs: [{ name: brief, description: The brief. }]
    resources: []
    hostRequirements: []
    failureBehavior: Say so.
    progressiveDisclosure: true
  targets: []
  evaluation:
    criteria: [{ id: cited, description: It cites., type: llm-judge, goal: All }]
    scenarios: [{ id: plain, description: Plain., expectedBehavior: A brief. }]
    datasets: []
"""

WORKFLOW: Final = """\
apiVersion: agentspec.mutagent.io/v0.3.0
kind: Workflow
metadata: { id: flow, name: Flow, version: "1", description: Routes. }
spec:
  intent:
    { problem: P, outcomes: [], sop: [], jobs: [], constraints: [], nonGoals: [],
      assumptions: [], unknowns: [] }
  context: []
  actions: []
  capabilities: { code: [{ id: sort, description: Sorts. }], skills: [], delegates: [] }
  workflow:
    state: S
    entry: a
    nodes:
      - { id: a, description: A., executor: { kind: code, ref: sort }, edges: [{ to: b }] }
      - { id: b, description: B., terminal: true }
  targets: []
  evaluation:
    criteria: [{ id: routed, description: It routes., type: code-check, goal: All }]
    scenarios: [{ id: plain, description: Plain., expectedBehavior: Reaches b. }]
    datasets: []
"""

MULTI_AGENT: Final = """\
apiVersion: agentspec.mutagent.io/v0.3.0
kind: MultiAgent
metadata: { id: team, name: Team, version: "1", description: Works. }
spec:
  intent:
    problem: P
    outcomes: []
    sop: []
    jobs: [{ id: write, description: Write., expectedOutput: A text. }]
    constraints: []
    nonGoals: []
    assumptions: []
    unknowns: []
  context:
    - id: notes
      description: Notes.
      modalities: [text]
      source: s
      access: { kind: cli, ref: cat, allowedOperations: [read] }
  actions:
    - id: publish
      description: Publish.
      binding: { kind: cli, ref: git }
      allowedOperations: [push]
      approval: { policy: required, when: Always. }
      evidence: E
      onFailure: Stop.
  capabilities: { code: [], skills: [], delegates: [writer] }
  multiAgent:
    orchestrator: lead
    members:
      - apiVersion: agentspec.mutagent.io/v0.3.0
        kind: Agent
        metadata: { id: lead, name: Lead, version: "1", description: Leads. }
        spec:
          intentRef: "#spec/intent"
          contextRefs: [notes]
          actionRefs: [publish]
          agent:
            persona: { role: R, description: D }
            systemPrompt: Lead.
            operatingType: orchestrator
            workflow:
              inline:
                state: S
                entry: x
                nodes: [{ id: x, description: X., terminal: true }]
      - apiVersion: agentspec.mutagent.io/v0.3.0
        kind: Agent
        metadata: { id: writer, name: Writer, version: "1", description: Writes. }
        spec:
          intentRef: "#spec/intent/jobs/write"
          agent:
            persona: { role: R, description: D }
            systemPrompt: Write.
            operatingType: automation
    relations:
      subagents: { lead: [writer] }
      observes: {}
    workflow:
      inline:
        state: S
        entry: draft
        nodes:
          - id: draft
            description: Draft.
            executor: { kind: member, ref: writer }
            edges: [{ to: end }]
          - { id: end, description: End., terminal: true }
  targets: []
  evaluation:
    criteria: [{ id: good, description: It is good., type: llm-judge, goal: All }]
    scenarios: [{ id: plain, description: Plain., expectedBehavior: A text. }]
    datasets: []
"""

V02: Final = """\
schema_version: "0.2.0"
meta:
  spec_id: atlas
  spec_version: "1"
  loop_state: { stage: spec, updated_at: "2026-01-01T00:00:00Z" }
definition:
  identity: { name: Atlas, version: "1", description: Reads., kind: agent }
  persona: { role: Reader, persona: Careful. }
  system_prompt: Read.
  jobs_to_be_done:
    - { id: read, description: Read., expected_output: Facts., backed_by: [format] }
  context_sources:
    - { id: docs, kind: api, description: Documents., where_from: "https://d.test" }
  tools:
    integration: [{ id: search, kind: mcp, ref: "mcp://s", description: Searches. }]
    code: [{ id: format, lang: python, sandbox: true, description: Formats. }]
    skills: []
    subagents: [{ name: helper, description: Helps., instructions: Help. }]
  agent_type: conversational
  triggers: []
  modeling:
    decision_graph:
      state: S
      nodes: [start, end]
      edges: [{ from: start, to: end }]
    workflows: []
  sop: []
  evals:
    success_criteria:
      - { id: cited, criterion: Each claim is cited., type: code-check, goal: All }
    scenarios:
      - id: plain
        description: A plain question.
        expected_behavior: An answer.
        category: facts
    dataset_categories:
      - { id: facts, description: Facts., edge_cases: [nothing found] }
build: { target_framework: langgraph, runtime: python, target_eval_framework: x }
"""

OVERLAY: Final = """\
criteria:
  polite:
    severity: CRIT
    method: hybrid
    check: { output.contains: { texts: [please] } }
    applies_to: { datasets: [golden], categories: [parcels], scenarios: [late] }
    aggregate: { rate: ">= 0.95" }
    pass_when: It greets.
    fail_when: It does not.
    judge_inputs: [case, output]
    renamed_from: friendly
  cites:
    check:
      combine.when:
        condition: { output.present: { path: order } }
        then: { combine.all_of: { verdicts: [{ output.present: {} }] } }
    aggregate: { "pass^k": 3 }
  scenario-behavior: { severity: LOW }
datasets:
  golden:
    items: rows.jsonl
    map:
      prompt: query
      label: { to: category, values: { Parcels and mail: parcels } }
      how: { to: tuple.mood, values: { 1: calm } }
      answer: expected.text
judge: { provider: openai, model: m-1, base_url: "https://llm.test/v1" }
target: python:shop.agent:answer
derive: { expected-path: off, declared-tools: on }
"""
"""For AGENT; says something about everything."""

VALID: Final = {
    "agent": AGENT,
    "skill": SKILL,
    "workflow": WORKFLOW,
    "multi-agent": MULTI_AGENT,
    "0.2": V02,
}


def broken(text: str, old: str, new: str) -> str:
    """Return a text with its one occurrence of `old` replaced."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)
