"""Specs, datasets and suites of any size for the benchmarks."""

import json
from pathlib import Path


def write_spec(path: Path, *, criteria: int, items: int, judged: bool = False) -> None:
    """Write an agentspec of that many criteria and inline items."""
    kinds = ("llm-judge",) if judged else ("code-check", "llm-judge")
    lines = [
        "apiVersion: agentspec.mutagent.io/v0.3.0",
        "kind: Agent",
        "metadata: { id: bench, name: Bench, version: '1.0.0', description: A subject. }",
        "spec:",
        "  intent:",
        "    problem: Orders take long.",
        "    outcomes: [A customer knows within a minute.]",
        "    sop: []",
        "    jobs: [{ id: answer, description: Answers., expectedOutput: An answer. }]",
        "    constraints: []",
        "    nonGoals: []",
        "    assumptions: []",
        "    unknowns: []",
        "  context: []",
        "  actions: []",
        "  capabilities: { code: [], skills: [], delegates: [] }",
        "  agent:",
        "    persona: { role: Clerk, description: Exact. }",
        "    systemPrompt: Answer the customer.",
        "    operatingType: conversational",
        "  targets:",
        "    - id: python",
        "      type: framework",
        "      name: plain-python",
        "      artifact: { format: code, path: agent.py }",
        "      implementation: { language: python, toolchain: pip }",
        "      capabilityFit: A function.",
        "      documentation: []",
        "  evaluation:",
        "    criteria:",
    ]
    for number in range(criteria):
        lines += [
            f"      - id: criterion-{number}",
            f"        description: The answer to a ticket of class {number} names policy {number}.",
            f"        type: {kinds[number % len(kinds)]}",
            f"        goal: Every answer of class {number}.",
        ]
    lines += [
        "    scenarios:",
        "      - id: refund",
        "        description: A customer asks for a refund.",
        "        expectedBehavior: Answers the question.",
        "    datasets:",
        "      - id: tickets",
        "        description: Tickets as customers write them.",
        "        mapsTo: { jobs: [answer] }",
        "        categories: [{ id: refund, description: Refund questions. }]",
        "        items:",
    ]
    for number in range(items):
        query = f"Ticket {number}: can order {100000 + number} still be refunded?"
        lines += [
            f"          - id: item-{number}",
            "            category: refund",
            "            scenarioRef: refund",
            f"            input: {{ message: {json.dumps(query)} }}",
            f"            expected: {{ output: {json.dumps(query)} }}",
        ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def write_overlay(path: Path, *, criteria: int) -> None:
    """Bind each code check of such a spec to one exact comparison."""
    lines = ["criteria:" if criteria else "criteria: {}"]
    for number in range(0, criteria, 2):
        lines += [
            f"  criterion-{number}:",
            "    check: { expect.equals: { expected: output } }",
        ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def write_target(suite: Path, package: str) -> None:
    """Make the suite's target an echo of the case's query."""
    (suite / package / "target.py").write_text(
        '"""An echo."""\n\nfrom ._runtime.case import Case\n\n\n'
        'def target(case: Case) -> str:\n    """Echo the query."""\n'
        "    return case.query\n",
        "utf-8",
    )


def edit_checks(suite: Path, package: str, *, count: int) -> None:
    """Fill in that many checks by hand, spread over the file."""
    place = suite / package / "checks.py"
    head, *parts = place.read_text("utf-8").split("    return unwritten()\n")
    every = max(1, len(parts) // count)
    body = (
        "    if not trace.answer:\n"
        '        return failed("There is no answer.")\n'
        '    return passed("There is one.")\n'
    )
    pieces = [head]
    for number, part in enumerate(parts):
        filled = number % every == 0 and number // every < count
        pieces += [body if filled else "    return unwritten()\n", part]
    text = "".join(pieces)
    line = "import Verdict\n"
    place.write_text(text.replace(line, "import Verdict, failed, passed\n", 1), "utf-8")


def reword_criterion(path: Path, number: int) -> None:
    """Let a spec of `write_spec` say one of its criteria in other words."""
    old = f"names policy {number}.\n"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, f"names its policy {number}.\n"), "utf-8")
