"""Whether a wording is what a user would send, as far as code can tell.

What a model or an agent was asked to write comes back as data from a stranger. A text
about the message (“Here is a query …”), a form to fill in, or the situation told over
again is no message, and a case with it would test nothing. Whether a message sounds
real is for people to say.
"""

import re
from collections.abc import Mapping
from typing import Final

from ..redact import holds_credential
from .near_duplicates import Tokens, tokens_of

MAX_WORDING: Final = 4_000
"""Characters of a message."""

# Words that carry nothing of a situation: a text that adds only these adds nothing.
_CONNECTING: Final = frozenset(
    "a an and are as at be by for from in is it its of on or that the their there this "
    "to was were when where which who with user customer person someone asks asking "
    "wants says der die das ein eine und ist für mit von zu le la les un une et est "
    "pour de el los una y es para con".split()
)
_KIND: Final = r"(?:query|quer(?:y|ies)|message|prompt|request|question|example|text)"
_META: Final = (
    (
        re.compile(
            r"^\W*(?:sure|certainly|of course|absolutely)\b[^\n]{0,40}?\b"
            r"(?:here(?:['’]s| is| are)|below)\b"
            r"|^\W*(?:here(?:['’]s| is| are)|below is)\s+"
            rf"(?:(?:an?|one|your|another|some)\b[^.!?\n]{{0,60}}\b{_KIND}\b"
            r"|the (?:query|prompt)\b)",
            re.IGNORECASE,
        ),
        "talks about the message: give the message alone",
    ),
    (
        re.compile(
            rf"^\W*(?:user|customer|realistic|sample|example)?\s*{_KIND}\s*[:：]"
            r"|^\W*(?:user|customer|human)\s*[:：]",
            re.IGNORECASE,
        ),
        "begins with a label: give the message alone",
    ),
    (
        re.compile(
            r"\bas an? (?:ai|language model|assistant)\b|\bI (?:can't|cannot|can’t) "
            r"(?:write|create|generate|help with)\b|\bthis (?:query|message|prompt) "
            r"(?:tests|covers|reflects|represents|exercises)\b"
            r"|\b(?:the|this) (?:tuple|test case|dimension)s?\b",
            re.IGNORECASE,
        ),
        "speaks as the writer, not as the user",
    ),
    (
        re.compile(
            r"\[(?:insert|your|the|enter|add|name|date|number|order|product|x+)\b"
            r"[^\]\n]{0,60}\]|<(?:insert|your|enter)\b[^>\n]{0,60}>|\{\{[^}\n]{0,60}\}\}"
            r"|\bREPLACE_WITH|\bXX+\b|\blorem ipsum\b",
            re.IGNORECASE,
        ),
        "holds a blank to be filled in: give it the user's own details",
    ),
    (
        re.compile(r"^\s*```|^\s*\{\s*\"(?:query|message|answer)\"\s*:"),
        "is wrapped in code: give the message alone",
    ),
    (
        re.compile(r"<<<\s*(?:BEGIN|END)\b", re.IGNORECASE),
        "repeats the marks around the task's data",
    ),
)
_QUOTED: Final = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"))


def faults_of(query: str, *, situation: Mapping[str, str], told: str = "") -> list[str]:
    """Return what is wrong with a message that was written for a situation.

    `situation` is the tuple, `told` the description that the writer was given.
    """
    text = query.strip()
    if not any(character.isalnum() for character in text):
        return ["has no word in it"]
    faults = []
    if len(text) > MAX_WORDING:
        faults.append(
            f"is {len(text):,} characters long; a message has at most {MAX_WORDING:,}"
        )
        text = text[:MAX_WORDING]
    if not all(c.isprintable() or c in "\n\t" or _is_joiner(c) for c in text):
        faults.append("holds control characters")
    faults += [what for pattern, what in _META if pattern.search(text)]
    if any(text[0] == a and text[-1] == b and len(text) > 1 for a, b in _QUOTED):
        inner = text[1:-1]
        if not any(a in inner or b in inner for a, b in _QUOTED):
            faults.append("is in quotation marks: give the message alone")
    if restates(text, situation, told):
        faults.append(
            "only tells the situation again: say what a user in it would write"
        )
    if holds_credential(text):
        faults.append("holds what looks like a secret")
    return faults


def restates(query: str, situation: Mapping[str, str], told: str = "") -> bool:
    """Whether a message has next to no word of its own: at most a fifth of them.

    Words of the tuple (its names and values) and of its description are not its own,
    nor are those that only connect others.
    """
    given: set[str] = set(tokens_of(told))
    for name, value in situation.items():
        given |= tokens_of(_spaced(f"{name} {value}"))
    words = tokens_of(_spaced(query))
    carrying: Tokens = words - _CONNECTING
    return bool(carrying) and 5 * len(carrying - given) <= len(carrying)


def _spaced(text: str) -> str:
    """Part the words of a name: `no-copy`, `no_copy`."""
    return text.replace("_", " ").replace("-", " ")


def _is_joiner(character: str) -> bool:
    """Whether it joins letters or emoji of a user's own language: it says no more."""
    return character in "\u200c\u200d\ufe0f\u200e\u200f\u00a0\u202f\u3000"
