"""The wording of a criterion: a score instead of a question, two questions in one."""

import re
from typing import Final

_LIKERT: Final = re.compile(
    r"\b(?:on|using|with) an? (?:\w+[- ])?(?:scale|rubric) (?:of|from) \S+"
    r"|\blikert\b"
    r"|\b(?:scale|rating|score|grade)s? (?:of|from) \d+ ?(?:to|-|–|—) ?\d+\b"
    r"|\b(?:rate|rated|rating|score|scored|grade|graded)\b[^.]{0,40}"
    r"\b(?:1|0|one) ?(?:to|-|–|—) ?(?:5|10|7|100|five|ten|seven)\b"
    r"|\b(?:1|0) ?(?:-|–|—|to) ?(?:5|10) (?:scale|rating|score|points?|stars?)\b"
    r"|\b\d+(?:\.\d+)? ?(?:/|out of) ?(?:5|10)\b(?! (?:cases|runs|tasks|trials))"
    r"|\b(?:[1-5]|one|two|three|four|five) stars?\b"
    r"|\b(?:partial|half) (?:credit|points?|marks?)\b"
    r"|\b(?:excellent|very good)\b[^.]{0,30}\b(?:fair|poor|bad)\b"
    r"|\bscor(?:e|es|ed|ing)(?: of)?(?: at least| above| over| >=?| ≥)? [2-9]\b(?![%\d]|\.\d)",
    re.I,
)

MAX_READ: Final = 2000
"""How much of a text is read: no criterion is longer, and a hostile one may be."""

_ASIDE: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|“[^”]*”")
_BOUND: Final = (
    "never|always|must|should|shall|may|will|can|cannot|does|doesn't|do|don't|is|isn't"
    "|are|aren't|has|have|no|not|none|every|all|each|any|nothing|only|exactly"
)
_OBJECT: Final = "the|a|an|its|their|every|each|all|no|exactly|only|any|at"
_JOINT: Final = r"(?:;|,? and also|,? as well as|,? and) (?:then |also )?"
# "… and never mentions …", "…; none is …"
_SECOND_RULE: Final = re.compile(
    rf"{_JOINT}(?:it |they |that )?(?:{_BOUND})\b[^,;.]*\w", re.I
)
# "… and passes the …"
_SECOND_VERB: Final = re.compile(rf"{_JOINT}[a-z]+(?:es|[^s\W]s) (?:{_OBJECT})\b")
_SENTENCE: Final = re.compile(r"[.!?]\s+(?=[A-Z0-9])|;\s+")
_SUBJECT: Final = re.compile(
    r"(?:the|a|an|it|they|its|every|each|all|any|no|none|nothing|this|that|there)\b",
    re.I,
)
_CLAIM: Final = re.compile(
    rf"\b(?:{_BOUND}|zero|without)\b|\b[a-z]{{3,}}(?:es|[^s\W]s)\b", re.I
)


def likert_in(text: str) -> str | None:
    """Return the words that ask for a score instead of pass or fail, or None."""
    found = _LIKERT.search(text[:MAX_READ])
    return None if found is None else found[0].strip()


def second_claim_in(statement: str) -> str | None:
    """Return where a second claim of a statement begins, or None where it has one.

    A reading of English by its joints, not a parser: it looks for a second clause
    that says of itself what must or must not be.
    """
    text = _ASIDE.sub("", statement[:MAX_READ])
    text = re.sub(r" (?=[.,;])", "", " ".join(text.split()))
    sentences = [s for s in _SENTENCE.split(text) if len(s.split()) >= 3]
    if len(sentences) > 1 and _CLAIM.search(sentences[0]):
        second = sentences[1]
        if _SUBJECT.match(second) and _CLAIM.search(second):
            return _start(second)
    for pattern in (_SECOND_VERB, _SECOND_RULE):
        for found in pattern.finditer(text):
            before = text[: found.start()]
            after = text[found.start() :].lstrip(" ,;")
            if len(before.split()) < 3 or len(after.split()) < 4:
                continue
            if _CLAIM.search(before):
                return _start(after)
    return None


def _start(text: str) -> str:
    words = text.rstrip(".").split()
    return " ".join(words[:6]) + (" …" if len(words) > 6 else "")
