"""What a code check in prose could be bound to: a primitive that its words point to."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from helix_runtime.improving.one_question import MAX_READ

from ..suite.declaration import Facts
from .budgets import budget_in

# The first whose words occur. Longer stories stand before the single words in them.
_BY_WORDS: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    (r"\bpath\b.*\bexpect|\bexpected path\b", {"expect.path": {}}),
    (
        r"\b(?:nodes?|members?)\b.*\boutputs?\b.*\bexpect|\bexpected (?:node|member) outputs?",
        {"expect.outputs": {}},
    ),
    (
        r"\bexpected (?:outbound )?(?:actions?|action calls?)\b"
        r"|\bactions?\b.*\bthe case expects\b",
        {"expect.actions": {}},
    ),
    (
        r"\bexpected (?:key)?(?:words?|terms?|phrases?)\b|\bkeywords?\b.*\bexpect",
        {"expect.keyword_recall": {"expected": "FIELD"}},
    ),
    (
        r"\bunreachable\b|\bbypass|behind (?:an |the )?approval",
        {"facts.approval_gated": {}},
    ),
    (
        r"\b(?:graph|edges?|entry|dangling|executors?)\b.*\bresolv|\bdangling\b",
        {"facts.workflow_resolves": {}},
    ),
    (r"\bsingle\b.*\bholder|\bonly\b.*\breferences?\b", {"facts.single_holders": {}}),
    (
        r"\bapprov|\bauthori[sz]ation|\bconsent\b",
        {"tools.approved": {"actions": ["ACTION"], "approvals": ["APPROVAL"]}},
    ),
    (
        r"\b(?:schema|parameter|argument)[- ]?(?:invalid|error)|\binvalid (?:tool|calls?)"
        r"|\btool errors?\b|\brejected\b",
        {"tools.no_errors": {}},
    ),
    (
        r"\bcit(?:e|es|ed|ation|ations)\b|\bfabricated\b|\bgrounded\b",
        {"references.retrieved": {"pattern": r"\[([\w-]+)\]"}},
    ),
    (
        r"\b(?:score|scorer|reward|similarity)\b",
        {"numbers.score": {"name": "SCORE", "at_least": 0.9}},
    ),
    (r"\bbefore\b", {"tools.before": {"first": "FIRST", "then": "THEN"}}),
    (
        r"\b(?:at most|(?:no|not) more than|up to|max(?:imum)?(?: of)?)"
        r" \d{1,4} (?:\w+ )?calls?\b",
        {"tools.count": {"at_most": 3}},
    ),
    (
        r"\b(?:never|not|no|without)\b.*\b(?:call|invok|dispatch|execut)\w*",
        {"tools.not_called": {"name": "TOOL"}},
    ),
    (
        r"\b(?:call|invok|dispatch|execut)\w*|\btools?\b",
        {"tools.called": {"name": "TOOL"}},
    ),
    (r"\b(?:cost|price|dollars?|usd)\b", {"numbers.cost": {"at_most": 0.05}}),
    (
        r"\b(?:latency|seconds?|milliseconds?|ms)\b",
        {"numbers.latency": {"at_most": 5000}},
    ),
    (
        r"\b(?:words?|characters?|lines?) long\b|\blength\b|\b(?:longer|shorter) than\b"
        r"|\b(?:brief|concise)\b|\b\d+ (?:words?|characters?|lines)\b",
        {"output.length": {"unit": "words", "at_most": 100}},
    ),
    (r"\btokens?\b", {"numbers.tokens": {"at_most": 10000}}),
    (r"\bsteps?\b|\bturns?\b", {"numbers.steps": {"at_most": 20}}),
    (
        r"\bjson\b|\bschema\b|\bstructured\b|\bpars(?:e|es|ed)\b",
        {"output.json_schema": {"schema": {"type": "object", "required": ["FIELD"]}}},
    ),
    (
        r"\bone of\b|\benum\b|\ballowed values?\b|\bvalid (?:label|category|class)",
        {"output.one_of": {"values": ["A", "B"]}},
    ),
    (
        r"\b(?:equals?|same as|match(?:es)?|agrees? with|identical to)\b.*\bexpected\b",
        {"expect.equals": {"expected": "FIELD"}},
    ),
    (
        r"\b(?:never|not|no|without|free of)\b.*"
        r"\b(?:contain|hold|mention|say|includ|reveal|occur|appear|use)\w*"
        r"|\b(?:contain|hold|mention|includ|reveal)\w*\s+(?:no|none|neither)\b",
        {"output.contains_none": {"texts": ["WORDS"]}},
    ),
    (
        r"\b(?:format|pattern|matches)\b",
        {"output.regex": {"pattern": "^[A-Z]+-[0-9]+$"}},
    ),
)
_OTHERWISE: Final = {"output.contains": {"texts": ["WORDS"]}}
_COMPILED: Final = [(re.compile(words, re.I), call) for words, call in _BY_WORDS]


def binding_for(statement: str, facts: Facts) -> Mapping[str, Any]:
    """Return an example of a check for a statement; words in capitals are to fill in.

    What needs a fact that the spec does not have (a workflow, members) is passed over.
    """
    text = " ".join(statement[:MAX_READ].split())
    for words, call in _COMPILED:
        if words.search(text) and _possible(call, facts):
            return _filled(call, facts, text)
    return _OTHERWISE


def examples() -> Sequence[Mapping[str, Any]]:
    """Return every example that may be proposed, for the test that all can be bound."""
    return [*(call for _, call in _BY_WORDS), _OTHERWISE]


def _possible(call: Mapping[str, Any], facts: Facts) -> bool:
    name = next(iter(call))
    if name == "facts.single_holders":
        return bool(facts.holders)
    if name == "expect.actions":
        return bool(facts.outbound)
    if name in ("expect.path", "expect.outputs"):
        return facts.nodes is not None
    return not name.startswith("facts.") or facts.workflow is not None


_BUDGETS: Final = ("numbers.cost", "numbers.latency", "numbers.tokens", "numbers.steps")
_CALLS: Final = re.compile(r"\b(\d{1,4}) (?:\w+ )?calls?\b", re.I)
_LENGTH: Final = re.compile(r"\b(\d{1,6}) (word|character|line)s?\b", re.I)


def _filled(call: Mapping[str, Any], facts: Facts, text: str) -> Mapping[str, Any]:
    length = _LENGTH.search(text)
    if "output.length" in call and length is not None:
        unit = f"{length[2].lower()}s"
        return {"output.length": {"unit": unit, "at_most": int(length[1])}}
    calls = _CALLS.search(text)
    if "tools.count" in call and calls is not None:
        return {"tools.count": {"at_most": int(calls[1])}}
    if any(name in call for name in _BUDGETS):
        budget = budget_in(text)
        return call if budget is None else budget.check
    if "tools.called" in call or "tools.not_called" in call:
        return _with_tool(call, facts, text)
    actions = list(facts.operations or facts.outbound or ())
    if "tools.approved" in call and actions:
        return {"tools.approved": {**call["tools.approved"], "actions": actions[:4]}}
    return call


def _with_tool(call: Mapping[str, Any], facts: Facts, text: str) -> Mapping[str, Any]:
    """Return the call with the one tool of the spec that a statement names."""
    words = f" {_plain_words(text)} "
    named = {_plain_words(tool): tool for tool in facts.declared or ()}
    found = [tool for name, tool in named.items() if name and f" {name} " in words]
    if len(found) != 1:
        return call
    ((primitive, _),) = call.items()
    return {primitive: {"name": found[0]}}


def _plain_words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
